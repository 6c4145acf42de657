"""Print a graded class: a line per student, then one per answer that was not right."""

from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table

from autograder.demo.results import Result

WIDEST = 100  # columns


def print_class(console: Console, title: str, results: Sequence[Result]) -> None:
    """Print the class as a table."""
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("student", no_wrap=True)
    table.add_column("total", justify="right", no_wrap=True)
    table.add_column("exercise", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what was diagnosed", overflow="fold")
    for student, rows in groupby(results, key=lambda result: result.student):
        for place, row in enumerate(rows_of(list(rows))):
            table.add_row("" if place else student, *row)
    console.print(table, width=min(console.width, WIDEST))


def rows_of(results: Sequence[Result]) -> list[tuple[str, str, str, str]]:
    """Give a student's rows: total, exercise, points and diagnosis.

    Exercises next to each other with the same diagnosis share a row; right ones have
    none, unless all are right.
    """
    total = _points(results)
    shown = []
    for words, group in groupby(results, key=lambda result: result.diagnosis):
        same = list(group)
        if words is not None:
            shown.append((_names(same, len(results)), _points(same), words))
    if not shown:
        shown = [("all", total, "right")]
    return [(total if place == 0 else "", *row) for place, row in enumerate(shown)]


def _names(results: Sequence[Result], of: int) -> str:
    if len(results) == 1:
        return results[0].exercise
    return "all" if len(results) == of else f"{len(results)} exercises"


def _points(results: Sequence[Result]) -> str:
    points = sum(result.points for result in results)
    return f"{points:g}/{sum(result.max_points for result in results):g}"
