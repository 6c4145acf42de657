"""What grading found out about each answer, in the few words that a table has room for.

The whole explanation is in the feedback pages.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.grading.result import ExerciseResult, Result

REASON = "broken file: {}"
ENDS = {  # of a call that gave nothing
    "timeout": "takes too long",
    "memory": "needs too much memory",
    "output": "returns too much",
    "crashed": "ends the whole process",
}


@dataclass(frozen=True)
class Finding:
    """What one student got for one exercise.

    diagnosis : a misconception's name, or words on what happened; None if all is right
    """

    student: str
    exercise: str
    points: float
    max_points: float
    diagnosis: str | None


def findings(result: Result) -> Iterator[Finding]:
    """Give what was found about each answer of a submission."""
    reason = ""
    if result.status == "invalid":
        reason = REASON.format(_without_name(result).rstrip("."))
    for each in result.exercises:
        words = reason or in_words(each) or None
        points = each.points, each.max_points
        yield Finding(result.student, each.exercise, *points, words)


def in_words(exercise: ExerciseResult) -> str:
    """Say what was found about one exercise; nothing if the answer is right."""
    calls = dict.fromkeys(f"calls {flag.what}" for flag in exercise.flags)
    review = [f"for review: it {' and '.join(calls)}"] if calls else []
    return "; ".join(filter(None, [_mistake(exercise), *review]))


def as_data(finding: Finding) -> dict[str, Any]:
    """Give a finding as it stands in ``class.json``."""
    return dict(vars(finding))


def _mistake(exercise: ExerciseResult) -> str:
    """Name the mistake, or say what happened to an answer whose mistake has no name."""
    statuses = [case.status for case in exercise.cases if case.status != "ok"]
    if exercise.diagnosis:
        return exercise.diagnosis
    if exercise.blamed:
        return _blamed(exercise.blamed, whole=not statuses)
    if not statuses:
        return ""
    if {*statuses} == {"missing"}:
        return "not written yet"
    if exercise.flags and {*statuses} == {"error"}:  # the call was refused: no mistake
        return ""
    stopped = re.search(r"stopped with \w+", exercise.report)
    if "error" in statuses and stopped:
        return stopped[0]
    return next((ENDS[s] for s in statuses if s in ENDS), "no known mistake")


def _blamed(names: tuple[str, ...], *, whole: bool) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} to blame{'' if whole else ' in part'}"


def _without_name(result: Result) -> str:
    """Give the reason without the file's name, which is the same for everybody."""
    return result.reason.removeprefix(f"{result.lesson}.ipynb ")


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


# MERGED autograder.demo.table: Print a graded class: a line per student, then one per answer that was not right.
