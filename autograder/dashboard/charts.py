"""The page's pictures: how long each bar is, and what the picture says in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.dashboard.scores import (
    ClassSummary,
    ExerciseRow,
    HistogramColumn,
    percent,
)
from autograder.dashboard.wording import format_count, format_number, format_share


@dataclass(frozen=True)
class HistogramBar:
    """A column of the histogram as it is drawn.

    height : from 0 to 1, of the highest
    has_median : whether the median lies in it
    """

    first: int
    last: int
    count: int
    height: float
    has_median: bool


@dataclass(frozen=True)
class BarPart:
    """A part of an exercise's bar; its kind gives it colour and pattern.

    width : in per cent of the bar
    """

    kind: str
    count: int
    width: float


KINDS = {  # fields of ``ExerciseRow``, in the order in which they are drawn
    "full": "all points",
    "part": "some points",
    "none": "no points",
    "unwritten": "not attempted",
}


def histogram_bars(
    columns: Sequence[HistogramColumn], summary: ClassSummary
) -> list[HistogramBar]:
    """Return the columns of the histogram, from no points to all."""
    highest = max([column.count for column in columns], default=0) or 1
    median = -1
    if summary.median is not None:
        median = percent(summary.median, summary.max_points)
    return [
        HistogramBar(
            column.first,
            column.last,
            column.count,
            height=round(column.count / highest, 4),
            has_median=column.first <= median <= column.last,
        )
        for column in columns
    ]


def histogram_in_words(
    columns: Sequence[HistogramColumn], summary: ClassSummary
) -> str:
    """Return a sentence on what the histogram shows."""
    if not summary.counted or summary.median is None:
        return "No submission could be graded, so there are no points to show."
    highest = max(columns, key=lambda column: column.count)
    first, last = highest.first, highest.last
    where = f"{first} to {last}" if first < last else "100"
    many = "all" if highest.count == summary.counted else f"{highest.count:,}"
    return (
        f"Histogram of the points of {format_count(summary.counted, 'submission')}. "
        f"The highest column, {many} of them, stands at {where} per cent of all "
        f"points; the median is {format_number(summary.median)} of "
        f"{format_number(summary.max_points)} points."
    )


def bar_parts(row: ExerciseRow) -> list[BarPart]:
    """Return the parts of an exercise's bar; none if nobody counts."""
    counts = {kind: getattr(row, kind) for kind in KINDS}
    return [
        BarPart(kind, count, round(100 * count / row.counted, 3))
        for kind, count in counts.items()
        if count
    ]


def exercises_in_words(rows: Sequence[ExerciseRow]) -> str:
    """Return a sentence on what the bars of the exercises show."""
    if not rows or not rows[0].counted:
        return "No submission could be graded, so there are no exercises to compare."
    best = max(rows, key=lambda row: row.full)
    worst = min(rows, key=lambda row: row.full)
    best_share = format_share(best.full, best.counted)
    if best.full == worst.full:
        each = "the exercise" if len(rows) == 1 else "each exercise"
        return f"Bars: in {each}, {best_share} of the submissions have all points."
    return (
        f"Bars, one for each exercise. All points are most frequent in "
        f"{best.exercise}, with {best_share} of the submissions, and rarest in "
        f"{worst.exercise}, with {format_share(worst.full, worst.counted)}."
    )
