"""The page's pictures: how long each bar is, and what the picture says in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.dashboard.scores import Column, ExerciseRow, Summary, percent
from autograder.dashboard.wording import counted, number, share


@dataclass(frozen=True)
class Bar:
    """A column of the histogram.

    height : from 0 to 1, of the highest
    has_median : whether the median lies in it
    """

    first: int
    last: int
    count: int
    height: float
    has_median: bool


@dataclass(frozen=True)
class Part:
    """A part of an exercise's bar; its kind gives it colour and pattern."""

    kind: str
    count: int
    width: float


KINDS = {
    "full": "all points",
    "part": "some points",
    "none": "no points",
    "unwritten": "not attempted",
}


def bars(columns: Sequence[Column], summary: Summary) -> list[Bar]:
    """Give the columns of the histogram, from no points to all."""
    highest = max([column.count for column in columns], default=0) or 1
    middle = -1
    if summary.median is not None:
        middle = percent(summary.median, summary.max_points)
    return [
        Bar(
            column.first,
            column.last,
            column.count,
            round(column.count / highest, 4),
            column.first <= middle <= column.last,
        )
        for column in columns
    ]


def histogram_in_words(columns: Sequence[Column], summary: Summary) -> str:
    """Say what the histogram shows."""
    if not summary.counted or summary.median is None:
        return "No submission could be graded, so there are no points to show."
    most = max(columns, key=lambda column: column.count)
    where = f"{most.first} to {most.last}" if most.first < most.last else "100"
    whole = number(summary.max_points)
    many = "all" if most.count == summary.counted else f"{most.count:,}"
    return (
        f"Histogram of the points of {counted(summary.counted, 'submission')}. The "
        f"highest column, {many} of them, stands at {where} per cent of all points; "
        f"the median is {number(summary.median)} of {whole} points."
    )


def parts(row: ExerciseRow) -> list[Part]:
    """Give the parts of an exercise's bar, together 100 wide; none if nobody counts."""
    found = [(kind, getattr(row, kind)) for kind in KINDS]
    return [
        Part(kind, count, round(100 * count / row.counted, 3))
        for kind, count in found
        if count
    ]


def exercises_in_words(rows: Sequence[ExerciseRow]) -> str:
    """Say what the bars of the exercises show."""
    if not rows or not rows[0].counted:
        return "No submission could be graded, so there are no exercises to compare."
    best = max(rows, key=lambda row: row.full)
    worst = min(rows, key=lambda row: row.full)
    if best.full == worst.full:
        same = share(best.full, best.counted)
        each = "the exercise" if len(rows) == 1 else "each exercise"
        return f"Bars: in {each}, {same} of the submissions have all points."
    return (
        f"Bars, one for each exercise. All points are most frequent in "
        f"{best.exercise}, with {share(best.full, best.counted)} of the submissions, "
        f"and rarest in {worst.exercise}, with {share(worst.full, worst.counted)}."
    )
