"""The class as the page counts it: what is known of each student, and who counts.

Points that a person has given, in the gradebook, count instead of the engine's.
"""

import functools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from autograder.gradebook.grades import StudentGrades
from autograder.gradebook.owners import simplified
from autograder.grading.reading import spelled_out
from autograder.grading.result import SubmissionResult

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class StudentRow:
    """One student: result, times and grades together.

    times : seconds of the run that judged the submission, by stage and case
    grades : what the gradebook has of the student, if anything
    """

    result: SubmissionResult
    times: Mapping[str, float] = field(default_factory=dict)
    grades: StudentGrades | None = None

    @property
    def student(self) -> str:
        """The student's id."""
        return self.result.student

    @property
    def readable(self) -> bool:
        """Whether the submission could be graded."""
        return self.result.status == "graded"

    @property
    def by_hand(self) -> bool:
        """Whether a person has given points."""
        return bool(self.grades and self.grades.by_hand)

    @property
    def needs_manual_grade(self) -> bool:
        """Whether formgrader says so."""
        return bool(self.grades and self.grades.needs_manual_grade)

    @property
    def penalty(self) -> float:
        """Points taken off for being late."""
        return self.grades.late_penalty if self.grades else 0.0

    @functools.cached_property
    def by_exercise(self) -> dict[str, float]:
        """Points that count, by exercise."""
        points = {each.exercise: each.points for each in self.result.counted}
        result = self.result
        uncounted = (*result.excused, *result.dropped, *result.left_out)
        for grade in self.grades.exercises if self.grades else ():
            if grade.exercise in uncounted:
                continue  # the gradebook does not say so yet
            # The journal is newer than the gradebook: there, only a person's count.
            auto = points.get(grade.exercise, 0.0)
            points[grade.exercise] = replace(grade, auto=auto).points
        return points

    @functools.cached_property
    def points(self) -> float:
        """Points that count, after the penalty, never below zero."""
        return max(0.0, sum(self.by_exercise.values()) - self.penalty)

    @functools.cached_property
    def max_points(self) -> float:
        """Points that count at most; those of optional exercises are on top."""
        optional = self.result.optional
        worth = {
            each.exercise: each.max_points
            for each in self.result.counted
            if each.exercise not in optional
        }
        for grade in self.grades.exercises if self.grades else ():
            if grade.exercise in self.by_exercise and grade.exercise not in optional:
                worth.setdefault(grade.exercise, grade.max_points)
        return float(sum(worth.values()))

    @functools.cached_property
    def unwritten(self) -> frozenset[str]:
        """Exercises whose answer was left as the lesson gives it."""
        return frozenset(
            each.exercise
            for each in self.result.exercises
            if all(case.status == "missing" for case in each.cases)
        )

    @functools.cached_property
    def seconds(self) -> dict[str, float]:
        """Seconds that the cases of each exercise have taken, as far as is known."""
        seconds: dict[str, float] = {}
        for name, spent in self.times.items():
            exercise, _, case = name.partition(".")
            if case:
                seconds[exercise] = seconds.get(exercise, 0.0) + spent
        return seconds


@dataclass(frozen=True)
class ExerciseCell:
    """The cell in which the lesson asks for an exercise.

    number : of the cell in the notebook, from 1
    id : of the cell
    """

    number: int
    id: str


@dataclass(frozen=True)
class Roster:
    """The class.

    title : the lesson's heading
    cells : of the lesson's exercises, in its order
    absent : students in the gradebook who have handed in nothing
    people : what the gradebook has of everybody, by student
    """

    lesson: str
    title: str
    rows: tuple[StudentRow, ...]
    cells: Mapping[str, ExerciseCell] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    people: Mapping[str, StudentGrades] = field(default_factory=dict)

    @functools.cached_property
    def students(self) -> tuple[str, ...]:
        """The whole class: those who have handed in, and then the others."""
        return (*(row.student for row in self.rows), *self.absent)

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """What each student is called."""
        return label_students({each: self.people.get(each) for each in self.students})

    @functools.cached_property
    def sections(self) -> dict[str, str]:
        """The sections of those who have one, by student."""
        return {
            student: self.people[student].section
            for student in self.students
            if student in self.people and self.people[student].section
        }

    @functools.cached_property
    def max_points(self) -> dict[str, float]:
        """Points that each exercise can earn, in the order of the lesson."""
        max_points = {
            each.exercise: each.max_points
            for row in self.rows
            for each in row.result.counted
        }
        in_lesson = [name for name in self.cells if name in max_points]
        return {name: max_points[name] for name in (*in_lesson, *max_points)}

    @functools.cached_property
    def optional(self) -> frozenset[str]:
        """Exercises whose points are on top, for all whom they count for."""
        required = {
            each.exercise
            for row in self.rows
            for each in row.result.counted
            if each.exercise not in row.result.optional
        }
        return frozenset(self.max_points.keys() - required)

    @property
    def required_points(self) -> float:
        """Points that the required exercises can earn together."""
        each = self.max_points.items()
        return float(sum(worth for name, worth in each if name not in self.optional))

    @functools.cached_property
    def readable(self) -> tuple[StudentRow, ...]:
        """Those whose submission could be graded."""
        return tuple(row for row in self.rows if row.readable)

    @functools.cached_property
    def counted(self) -> tuple[StudentRow, ...]:
        """Those whose points say something: graded by the engine, or by a person."""
        return tuple(row for row in self.rows if row.readable or row.by_hand)

    def order(self, exercise: str) -> int:
        """Return the index of an exercise among all, to sort by."""
        return [*self.max_points, exercise].index(exercise)


def make_roster(
    lesson: str,
    title: str,
    results: Sequence[SubmissionResult],
    times: Mapping[str, Mapping[str, float]],
    grades: Mapping[str, StudentGrades],
    cells: Mapping[str, ExerciseCell],
) -> Roster:
    """Return the class, with what is known of each student.

    times, grades : by student; whoever is missing there has none
    """
    rows = [
        StudentRow(result, times.get(result.student, {}), grades.get(result.student))
        for result in results
    ]
    present = {row.student for row in rows}
    absent = [
        student
        for student, own in grades.items()
        if not own.submitted and student not in present
    ]
    return Roster(lesson, title, tuple(rows), cells, tuple(sorted(absent)), grades)


def label_students(people: Mapping[str, StudentGrades | None]) -> dict[str, str]:
    """Return what to call each student: the name, with the id if it is not enough.

    >>> amara = StudentGrades("s1", (), first_name="Amara", last_name="Okafor")
    >>> label_students({"s1": amara, "s2": None})
    {'s1': 'Amara Okafor', 's2': 's2'}
    >>> label_students({"s1": amara, "s2": replace(amara, student="s2")})
    {'s1': 'Amara Okafor (s1)', 's2': 'Amara Okafor (s2)'}
    """
    names = {student: full_name(own) for student, own in people.items()}
    counts = Counter(map(simplified, names.values()))
    ids = {student: spelled_out(student) for student in people}
    return {
        student: f"{name} ({ids[student]})"
        if name and counts[simplified(name)] > 1
        else name or ids[student]
        for student, name in names.items()
    }


def full_name(person: StudentGrades | None) -> str:
    """Return first and last name, "" if neither is known; one blank between words."""
    if person is None:
        return ""
    return " ".join(f"{person.first_name} {person.last_name}".split())


def rank_by_count(
    pairs: Iterable[tuple[Key, str]], order: Callable[[Key], Any]
) -> list[tuple[Key, tuple[str, ...]]]:
    """Return each key with the students who share it, the most frequent key first.

    pairs : a key and a student; the same pair counts once
    order : of keys that are equally frequent

    >>> pairs = [("b", "amara"), ("a", "ben"), ("b", "ben"), ("b", "ben")]
    >>> rank_by_count(pairs, str)
    [('b', ('amara', 'ben')), ('a', ('ben',))]
    """
    students: dict[Key, dict[str, None]] = {}  # as a set that remembers the order
    for key, student in pairs:
        students.setdefault(key, {})[student] = None
    ranked = [(key, tuple(names)) for key, names in students.items()]
    return sorted(ranked, key=lambda each: (-len(each[1]), order(each[0])))
