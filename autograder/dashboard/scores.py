"""Scores and times of a class, counted: all together, in columns, by exercise.

``misconceptions`` counts misconceptions, ``notices`` lists what needs a look.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.dashboard.class_results import Roster, StudentRow

FULL = 1 - 1e-9  # of all points; sums of tenths are not exact


@dataclass(frozen=True)
class ClassSummary:
    """The class in a few numbers.

    counted : whose points the median and the mean are of
    """

    submissions: int
    counted: int
    invalid: int
    review: int
    as_in_solutions: int
    by_hand: int
    needs_manual_grade: int
    late: int
    absent: int
    max_points: float
    median: float | None
    mean: float | None


@dataclass(frozen=True)
class HistogramColumn:
    """A column of the histogram: points in per cent of all points, rounded down."""

    first: int
    last: int
    count: int


@dataclass(frozen=True)
class ExerciseRow:
    """One exercise.

    full, part, none, unwritten : students with all its points, with some, with none
        for what they wrote, and those who wrote nothing; together all who are counted
    mean_share : of the points, from 0 to 1
    lost : points that all students together have not got
    median, percentile_90 : seconds
    optional : whether its points are on top of the lesson's; then none are lost
    """

    exercise: str
    max_points: float
    full: int
    part: int
    none: int
    unwritten: int
    mean_share: float | None
    lost: float
    median: float | None
    percentile_90: float | None
    optional: bool = False

    @property
    def counted(self) -> int:
        """All students who are counted."""
        return self.full + self.part + self.none + self.unwritten


@dataclass(frozen=True)
class SectionRow:
    """One section of the class, "" for those without one.

    submissions, absent : students who have handed in, and who have not
    median : of the points of those who count, in per cent of their maximum
    """

    section: str
    submissions: int
    absent: int
    median: float | None


def section_rows(roster: Roster) -> list[SectionRow]:
    """Count each section; none if the class has one at most."""
    names = {roster.sections.get(student, "") for student in roster.students}
    if len(names) < 2:
        return []
    return [_section_row(roster, name) for name in sorted(names, key=section_order)]


def section_order(section: str) -> tuple[bool, str]:
    """Return what to sort sections by: who has none comes last."""
    return not section, section


def _section_row(roster: Roster, section: str) -> SectionRow:
    def belongs(student: str) -> bool:
        return roster.sections.get(student, "") == section

    shares = [
        100 * row.points / row.max_points
        for row in roster.counted
        if belongs(row.student) and row.max_points
    ]
    return SectionRow(
        section,
        sum(belongs(row.student) for row in roster.rows),
        sum(map(belongs, roster.absent)),
        statistics.median(shares) if shares else None,
    )


def summary(roster: Roster) -> ClassSummary:
    """Count the class."""
    points = [row.points for row in roster.counted]
    return ClassSummary(
        submissions=len(roster.rows),
        counted=len(points),
        invalid=len(roster.rows) - len(roster.readable),
        review=sum(bool(row.result.flags) for row in roster.rows),
        as_in_solutions=sum(bool(row.result.as_in_solutions) for row in roster.rows),
        by_hand=sum(row.by_hand for row in roster.rows),
        needs_manual_grade=sum(row.needs_manual_grade for row in roster.rows),
        late=sum(row.penalty > 0 for row in roster.rows),
        absent=len(roster.absent),
        max_points=roster.required_points,
        median=statistics.median(points) if points else None,
        mean=statistics.fmean(points) if points else None,
    )


def percent(points: float, max_points: float) -> int:
    """Return points in whole per cent, rounded down: only all points are 100.

    >>> percent(59.9, 60), percent(60, 60), percent(63, 60), percent(0.3 - 0.2, 0.1)
    (99, 100, 100, 100)
    """
    if max_points <= 0:
        return 100
    return min(100, math.floor(100 * points / max_points + 1e-9))


def histogram(roster: Roster) -> list[HistogramColumn]:
    """Count points in columns of ten per cent; full marks have one of their own."""
    tens = [percent(row.points, row.max_points) // 10 for row in roster.counted]
    columns = [
        HistogramColumn(10 * ten, 10 * ten + 9, tens.count(ten)) for ten in range(10)
    ]
    return [*columns, HistogramColumn(100, 100, tens.count(10))]


def exercise_rows(roster: Roster) -> list[ExerciseRow]:
    """Count each exercise."""
    return [
        _exercise_row(roster.counted, name, worth, optional=name in roster.optional)
        for name, worth in roster.max_points.items()
    ]


def _exercise_row(
    students: Sequence[StudentRow], exercise: str, max_points: float, *, optional: bool
) -> ExerciseRow:
    students = [each for each in students if exercise in each.by_exercise]
    kinds = [_kind(student, exercise, max_points) for student in students]
    points = [student.by_exercise.get(exercise, 0.0) for student in students]
    timed = (student.seconds for student in students)
    seconds = sorted(spent[exercise] for spent in timed if exercise in spent)
    has_share = points and max_points
    return ExerciseRow(
        exercise,
        max_points,
        full=kinds.count("full"),
        part=kinds.count("part"),
        none=kinds.count("none"),
        unwritten=kinds.count("unwritten"),
        mean_share=statistics.fmean(points) / max_points if has_share else None,
        lost=0.0 if optional else sum(max(0.0, max_points - each) for each in points),
        median=statistics.median(seconds) if seconds else None,
        percentile_90=percentile_90(seconds),
        optional=optional,
    )


def _kind(student: StudentRow, exercise: str, max_points: float) -> str:
    """Return the field of ``ExerciseRow`` in which a student is counted."""
    points = student.by_exercise.get(exercise, 0.0)
    if points >= max_points * FULL:
        return "full"
    if points > 0:
        return "part"
    return "unwritten" if exercise in student.unwritten else "none"


def percentile_90(ordered: Sequence[float]) -> float | None:
    """Return the smallest value that nine tenths of the values do not exceed.

    >>> percentile_90(range(1, 11)), percentile_90([5.0]), percentile_90([])
    (9, 5.0, None)
    """
    if not ordered:
        return None
    return ordered[-(-9 * len(ordered) // 10) - 1]
