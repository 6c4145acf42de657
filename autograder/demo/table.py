"""Print a graded class: a line per student, then one per answer that was not right."""

from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.demo.findings import Finding

WIDEST = 100  # columns


def print_class(console: Console, title: str, findings: Sequence[Finding]) -> None:
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
    for student, found in groupby(findings, key=lambda finding: finding.student):
        for place, row in enumerate(rows_of([*found])):
            table.add_row("" if place else student, *map(escape, row))
    console.print(table, width=min(console.width, WIDEST))


def rows_of(findings: Sequence[Finding]) -> list[tuple[str, str, str, str]]:
    """Give a student's rows: total, exercise, points and diagnosis.

    Exercises next to each other with the same diagnosis share a row; right ones have
    none, unless all are right.
    """
    total = _points(findings)
    shown = []
    for words, group in groupby(findings, key=lambda finding: finding.diagnosis):
        same = list(group)
        if words is not None:
            shown.append((_names(same, len(findings)), _points(same), words))
    if not shown:
        shown = [("all", total, "right")]
    return [(total if place == 0 else "", *row) for place, row in enumerate(shown)]


def _names(findings: Sequence[Finding], of: int) -> str:
    if len(findings) == 1:
        return findings[0].exercise
    return "all" if len(findings) == of else f"{len(findings)} exercises"


def _points(findings: Sequence[Finding]) -> str:
    points = sum(each.points for each in findings)
    return f"{points:g}/{sum(each.max_points for each in findings):g}"
