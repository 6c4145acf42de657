"""A term as the page counts it: every student in every lesson, and what that says.

Points are the gradebook's: a person's grades, penalties, dropped and excused exercises
as they are there, and so as exports have them. Misconceptions are the engine's.
"""

import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.dashboard.class_results import label_students
from autograder.dashboard.misconceptions import MisconceptionCount
from autograder.dashboard.overview import (
    CostlyExercise,
    Examples,
    Topic,
    topics,
)
from autograder.dashboard.scores import section_order
from autograder.gradebook.grades import StudentGrades

N_LESSONS = 2  # in a row, for somebody to fall behind
SHARE_OF_MEDIAN = 0.5
ROUNDING = 1e-9

CellState = Literal["graded", "waiting", "missing", "open", "excused"]
LessonGrades = Mapping[str, StudentGrades]  # by student
LessonMisconceptions = Sequence[MisconceptionCount]


@dataclass(frozen=True)
class TermCell:
    """A student in a lesson.

    state : "waiting" for a grade; "missing" if nothing was handed in; "open" if the
        student still has time; "excused" if nothing counts
    max_points : that this student could earn
    late : points taken off
    """

    state: CellState
    points: float
    max_points: float
    late: float = 0.0
    by_hand: bool = False
    extension_hours: float = 0.0

    @property
    def share(self) -> float | None:
        """Of this student's maximum; None without a grade."""
        if self.state != "graded" or not self.max_points:
            return None
        return self.points / self.max_points


@dataclass(frozen=True)
class TermStudent:
    """A student over the term.

    label : what to call the student
    cells : in the order of the lessons
    points, max_points : of all lessons; what was not handed in has 0 points
    trend : how the last graded lesson compares with the earlier ones, in percentage
        points against the class's medians; None with fewer than two
    is_behind : whether the last lessons are all missing or low
    was_there : whether anything was handed in at all
    """

    student: str
    label: str
    section: str
    cells: tuple[TermCell, ...]
    points: float
    max_points: float
    trend: float | None
    is_behind: bool
    was_there: bool


@dataclass(frozen=True)
class TermLesson:
    """A lesson over the class; the shares are of each student's own maximum.

    handed_in, missing, late, waiting : students
    """

    lesson: str
    title: str
    max_points: float
    handed_in: int
    missing: int
    late: int
    waiting: int
    median: float | None
    mean: float | None


@dataclass(frozen=True)
class TermExercise:
    """What an exercise has cost.

    lost : points of all students together
    """

    lesson: str
    exercise: str
    max_points: float
    students: int
    lost: float

    @property
    def mean_share(self) -> float:
        """The share of its points that students have, on average."""
        return 1 - self.lost / (self.students * self.max_points)


@dataclass(frozen=True)
class RecurringMisconception:
    """A misconception's name that came up in several lessons.

    repeated : students who have shown it in more than one of them
    counts : the lesson with its exercise, in order
    """

    name: str
    repeated: tuple[str, ...]
    counts: tuple[tuple[str, MisconceptionCount], ...]


@dataclass(frozen=True)
class TermSection:
    """A section of the class, "" for those without one.

    behind : students who have handed in something before
    medians : of the shares of points, by lesson
    handed_in : students, by lesson
    """

    section: str
    students: int
    behind: int
    handed_in: tuple[int, ...]
    medians: tuple[float | None, ...]


@dataclass(frozen=True)
class Term:
    """All that the page says; the most important first in each list."""

    lessons: tuple[TermLesson, ...]
    students: tuple[TermStudent, ...]
    exercises: tuple[TermExercise, ...]
    recurring: tuple[RecurringMisconception, ...]
    sections: tuple[TermSection, ...]
    topics: tuple[Topic, ...] = ()

    @property
    def behind(self) -> tuple[TermStudent, ...]:
        """Those who fall behind, having been there."""
        return tuple(
            each for each in self.students if each.is_behind and each.was_there
        )

    @property
    def never(self) -> tuple[TermStudent, ...]:
        """Those who have handed in nothing at all."""
        return tuple(each for each in self.students if not each.was_there)

    @property
    def costly(self) -> tuple[CostlyExercise, ...]:
        """The exercises with the rows of a list: those that cost most."""
        most = max((each.lost for each in self.exercises), default=0.0)
        return tuple(
            CostlyExercise(
                each.exercise,
                each.lost,
                each.lost / each.students,
                each.max_points,
                round(100 * each.lost / most, 2),
                each.lesson,
            )
            for each in self.exercises
            if each.lost > 0
        )


def count_term(
    grades: Mapping[str, LessonGrades],
    misconceptions: Mapping[str, LessonMisconceptions],
    *,
    titles: Mapping[str, str] | None = None,
    not_yet_due: Mapping[str, Collection[str]] | None = None,
    examples: Examples | None = None,
) -> Term:
    """Return the term's numbers.

    grades : the gradebook's, by lesson, in order
    misconceptions : the engine's, by lesson, the most frequent first
    titles : of the lessons, where they are known
    not_yet_due : students who may still hand in, by lesson
    examples : answers that show a misconception of the last lesson
    """
    people = {student: own for each in grades.values() for student, own in each.items()}
    open_for = not_yet_due or {}
    cells = {
        student: tuple(
            term_cell(lesson_grades.get(student), student in open_for.get(lesson, ()))
            for lesson, lesson_grades in grades.items()
        )
        for student in people
    }
    by_lesson = [[own[i] for own in cells.values()] for i in range(len(grades))]
    medians = [_median(column) for column in by_lesson]
    labels = label_students(people)
    students = tuple(
        _term_student(people[student], labels[student], cells[student], medians)
        for student in sorted(people, key=lambda each: labels[each].casefold())
    )
    lessons = tuple(
        _term_lesson(lesson, (titles or {}).get(lesson, lesson), column, median)
        for lesson, column, median in zip(grades, by_lesson, medians, strict=True)
    )
    return Term(
        lessons,
        students,
        tuple(_exercises(grades)),
        tuple(recurring_misconceptions(misconceptions)),
        tuple(_sections(students)),
        tuple(_topics(misconceptions, examples or {})),
    )


def term_cell(grades: StudentGrades | None, not_yet_due: bool) -> TermCell:
    """Return what is known of a student in a lesson."""
    if grades is None:
        return TermCell("open" if not_yet_due else "missing", 0.0, 0.0)
    state: CellState = "graded"
    if not grades.submitted:
        state = "open" if not_yet_due else "missing"
    elif not grades.exercises:
        state = "excused"
    elif not grades.is_graded:
        state = "waiting"
    return TermCell(
        state,
        grades.points if grades.submitted else 0.0,
        grades.max_points,
        grades.late_penalty,
        grades.by_hand,
        grades.extension_hours,
    )


# --- who falls behind -----------------------------------------------------------------


def is_low(cell: TermCell, median: float | None) -> bool | None:
    """Return whether a lesson is missing, or below half of the median; None: unknown.

    median : of the class's shares of points in this lesson

    >>> half = TermCell("graded", 4.0, 10.0)
    >>> is_low(half, 0.8), is_low(half, 0.81), is_low(TermCell("missing", 0, 10), 0.8)
    (False, True, True)
    """
    if cell.state == "missing":
        return True
    if cell.share is None or median is None:
        return None
    return cell.share < SHARE_OF_MEDIAN * median - ROUNDING


def is_behind(cells: Sequence[TermCell], medians: Sequence[float | None]) -> bool:
    """Return whether a student's last two lessons are both missing or low.

    Lessons that say nothing yet are left out: still open, not graded, excused.
    """
    known = [
        low
        for cell, median in zip(cells, medians, strict=True)
        if (low := is_low(cell, median)) is not None
    ]
    return len(known) >= N_LESSONS and all(known[-N_LESSONS:])


def trend(cells: Sequence[TermCell], medians: Sequence[float | None]) -> float | None:
    """Return how much better than before a student was in the last graded lesson.

    In percentage points; what is compared is the distance to the class's median, since
    some lessons are harder than others.
    """
    distances = [
        100 * (cell.share - median)
        for cell, median in zip(cells, medians, strict=True)
        if cell.share is not None and median is not None
    ]
    if len(distances) < 2:
        return None
    return distances[-1] - statistics.fmean(distances[:-1])


# --- the parts of the term ------------------------------------------------------------


def _term_student(
    person: StudentGrades,
    label: str,
    cells: tuple[TermCell, ...],
    medians: Sequence[float | None],
) -> TermStudent:
    return TermStudent(
        person.student,
        label,
        person.section,
        cells,
        points=sum(cell.points for cell in cells),
        max_points=sum(cell.max_points for cell in cells),
        trend=trend(cells, medians),
        is_behind=is_behind(cells, medians),
        was_there=any(cell.state not in ("missing", "open") for cell in cells),
    )


def _term_lesson(
    lesson: str, title: str, cells: Sequence[TermCell], median: float | None
) -> TermLesson:
    states = Counter(cell.state for cell in cells)
    shares = _shares(cells)
    return TermLesson(
        lesson,
        title,
        max((cell.max_points for cell in cells), default=0.0),
        handed_in=states["graded"] + states["waiting"] + states["excused"],
        missing=states["missing"],
        late=sum(cell.late > 0 for cell in cells),
        waiting=states["waiting"],
        median=median,
        mean=statistics.fmean(shares) if shares else None,
    )


def _shares(cells: Sequence[TermCell]) -> list[float]:
    return [share for cell in cells if (share := cell.share) is not None]


def _median(cells: Sequence[TermCell]) -> float | None:
    shares = _shares(cells)
    return statistics.median(shares) if shares else None


def _exercises(grades: Mapping[str, LessonGrades]) -> list[TermExercise]:
    """Return all exercises, the costliest first."""
    rows = []
    for lesson, lesson_grades in grades.items():
        lost: dict[str, list[float]] = {}
        max_points: dict[str, float] = {}
        for student in lesson_grades.values():
            for grade in student.exercises if student.submitted else ():
                if grade.is_graded and grade.max_points:
                    missed = max(0.0, grade.max_points - grade.points)
                    lost.setdefault(grade.exercise, []).append(missed)
                    max_points[grade.exercise] = grade.max_points
        rows += [
            TermExercise(lesson, name, max_points[name], len(each), sum(each))
            for name, each in lost.items()
        ]
    return sorted(rows, key=lambda row: -row.lost)


def recurring_misconceptions(
    misconceptions: Mapping[str, LessonMisconceptions],
) -> list[RecurringMisconception]:
    """Return misconceptions whose name came up in several lessons.

    First those that most students have shown repeatedly. One name stands for one wrong
    idea in all exercises; what it is in each, the exercise's own sentence says.
    """
    by_name: dict[str, list[tuple[str, MisconceptionCount]]] = {}
    for lesson, counts in misconceptions.items():
        for each in counts:
            by_name.setdefault(each.name, []).append((lesson, each))
    rows = []
    for name, counts_of in by_name.items():
        lessons: dict[str, set[str]] = {}  # of each student
        for lesson, count in counts_of:
            for student in count.students:
                lessons.setdefault(student, set()).add(lesson)
        if len({lesson for lesson, _ in counts_of}) > 1:
            repeated = sorted(who for who, where in lessons.items() if len(where) > 1)
            rows.append(RecurringMisconception(name, tuple(repeated), tuple(counts_of)))
    total = {row.name: sum(len(c.students) for _, c in row.counts) for row in rows}
    return sorted(
        rows, key=lambda row: (-len(row.repeated), -total[row.name], row.name)
    )


def _topics(
    misconceptions: Mapping[str, LessonMisconceptions], examples: Examples
) -> list[Topic]:
    """Return what to explain after the last lesson, with what came up before it."""
    *before, last = list(misconceptions) or [""]
    after_last = []
    for topic in topics(misconceptions.get(last, ()), examples):
        earlier = {}
        for lesson in before:
            names = (
                each for each in misconceptions[lesson] if each.name == topic.count.name
            )
            if students := {who for each in names for who in each.students}:
                earlier[lesson] = len(students)
        after_last.append(Topic(topic.count, topic.example, earlier))
    return after_last


def _sections(students: Sequence[TermStudent]) -> list[TermSection]:
    """Return the sections; none if there is one at most."""
    names = sorted({each.section for each in students}, key=section_order)
    if len(names) < 2:
        return []
    rows = []
    for name in names:
        own = [each for each in students if each.section == name]
        columns = list(zip(*(each.cells for each in own), strict=True))
        present = ("graded", "waiting", "excused")
        rows.append(
            TermSection(
                name,
                len(own),
                sum(each.is_behind and each.was_there for each in own),
                tuple(sum(cell.state in present for cell in each) for each in columns),
                tuple(map(_median, columns)),
            )
        )
    return rows


def rule_in_words() -> str:
    """Return the rule by which somebody falls behind."""
    return (
        "In both of the last two lessons that are graded for them, these students "
        "handed in nothing, or have less than half of the class's median. Lessons "
        "that are still open for somebody, not graded yet or excused are left out. "
        "It is a reason to ask how they are, and no judgement: why is not known here."
    )
