"""The command line of the course's authors and instructors: ``autograder --help``."""

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.matrix import ExerciseMatrix, as_data, matrix
from autograder.registry import exercises_of

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build the lessons, check the exercises, grade a class.",
)


@app.callback()
def main() -> None:
    """Build the lessons, check the exercises, grade a class."""


@app.command("matrix")
def matrix_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's folder name")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print data")] = False,
) -> None:
    """Show which case catches which misconception. Exit code 1 if one is missed."""
    rows = [matrix(exercise) for exercise in exercises_of(lesson or None)]
    if as_json:
        print(json.dumps(as_data(rows), indent=1))
    else:
        _print_matrix(rows)
    faults = [fault for row in rows for fault in row.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    raise typer.Exit(1 if faults or not rows else 0)


def _print_matrix(rows: list[ExerciseMatrix]) -> None:
    console = Console()
    for row in rows:
        table = Table(title=f"{row.name} · {row.lesson} · {row.points:g} points")
        table.add_column("misconception")
        for place, case in enumerate(row.cases, 1):
            table.add_column(f"{place}{'' if case.visible else '*'}", justify="center")
        table.add_column("named")
        for kept in row.misconceptions:
            marks = ["✗" if c.name in kept.caught_by else "·" for c in row.cases]
            named = "visible" if kept.diagnosed_visible else "hidden only"
            table.add_row(kept.name, *marks, named if kept.diagnosed else "no")
        console.print(table)
        for place, case in enumerate(row.cases, 1):
            console.print(f"  {place}{'' if case.visible else '*'} {case.name}")
        console.print()
    wrong = [kept for row in rows for kept in row.misconceptions]
    console.print(
        f"{len(rows)} exercises, {sum(len(row.cases) for row in rows)} cases (* hidden)"
        f", {len(wrong)} misconceptions: {sum(bool(k.caught_by) for k in wrong)} caught"
        f", {sum(k.diagnosed_visible for k in wrong)} named from the visible cases, "
        f"{sum(k.diagnosed for k in wrong)} from all, "
        f"{sum(k.usual_form for k in wrong)} of the usual form"
    )
