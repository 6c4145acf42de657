"""Scores and times of a class, counted: all together, in columns, by exercise.

Which mistakes were made is ``mistakes``' work, what is to be looked at ``notices``'.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.dashboard.class_results import Entry, Roster

FULL = 1 - 1e-9  # of all points; sums of tenths are not exact


@dataclass(frozen=True)
class Summary:
    """The class in a few numbers.

    counted : whose points the median and the mean are of
    """

    submissions: int
    counted: int
    invalid: int
    review: int
    by_hand: int
    late: int
    absent: int
    max_points: float
    median: float | None
    mean: float | None


@dataclass(frozen=True)
class Column:
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
    median, slow : seconds; nine tenths of the class took at most ``slow``
    """

    exercise: str
    max_points: float
    full: int
    part: int
    none: int
    unwritten: int
    mean_share: float | None
    median: float | None
    slow: float | None

    @property
    def counted(self) -> int:
        """All students who are counted."""
        return self.full + self.part + self.none + self.unwritten


def summary(roster: Roster) -> Summary:
    """Count the class."""
    points = [entry.points for entry in roster.counted]
    return Summary(
        len(roster.entries),
        len(points),
        len(roster.entries) - len(roster.readable),
        sum(bool(entry.result.flags) for entry in roster.entries),
        sum(entry.by_hand for entry in roster.entries),
        sum(entry.penalty > 0 for entry in roster.entries),
        len(roster.absent),
        float(sum(roster.max_points.values())),
        statistics.median(points) if points else None,
        statistics.fmean(points) if points else None,
    )


def percent(points: float, max_points: float) -> int:
    """Give points in whole per cent, rounded down: only all points are 100.

    >>> percent(59.9, 60), percent(60, 60), percent(63, 60), percent(0.3 - 0.2, 0.1)
    (99, 100, 100, 100)
    """
    if max_points <= 0:
        return 100
    return min(100, math.floor(100 * points / max_points + 1e-9))


def histogram(roster: Roster) -> list[Column]:
    """Count points in columns of ten per cent; full marks have one of their own."""
    whole = sum(roster.max_points.values())
    tens = [percent(entry.points, whole) // 10 for entry in roster.counted]
    columns = [Column(10 * ten, 10 * ten + 9, tens.count(ten)) for ten in range(10)]
    return [*columns, Column(100, 100, tens.count(10))]


def exercise_rows(roster: Roster) -> list[ExerciseRow]:
    """Count each exercise."""
    return [_row(roster.counted, *each) for each in roster.max_points.items()]


def _row(entries: Sequence[Entry], exercise: str, whole: float) -> ExerciseRow:
    ends = [_end(entry, exercise, whole) for entry in entries]
    points = [entry.by_exercise.get(exercise, 0.0) for entry in entries]
    timed = (entry.seconds for entry in entries)
    seconds = sorted(spent[exercise] for spent in timed if exercise in spent)
    return ExerciseRow(
        exercise,
        whole,
        ends.count("full"),
        ends.count("part"),
        ends.count("none"),
        ends.count("unwritten"),
        statistics.fmean(points) / whole if points and whole else None,
        statistics.median(seconds) if seconds else None,
        nine_tenths(seconds),
    )


def _end(entry: Entry, exercise: str, whole: float) -> str:
    points = entry.by_exercise.get(exercise, 0.0)
    if points >= whole * FULL:
        return "full"
    if points > 0:
        return "part"
    return "unwritten" if exercise in entry.unwritten else "none"


def nine_tenths(ordered: Sequence[float]) -> float | None:
    """Give the smallest value that nine tenths of the values do not exceed.

    >>> nine_tenths(range(1, 11)), nine_tenths([5.0]), nine_tenths([])
    (9, 5.0, None)
    """
    if not ordered:
        return None
    return ordered[-(-9 * len(ordered) // 10) - 1]
