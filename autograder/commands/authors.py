"""What an author calls: from a text source to notebooks, and what a bank catches."""

import json
import sys
from typing import Annotated

import typer

from autograder.checking.matrix import as_data, matrix, print_matrix
from autograder.checking.registry import exercises_of
from autograder.course import Course
from autograder.startup import skip_address_parser

PANEL = "For authors"
commands = typer.Typer()


@commands.command("build", rich_help_panel=PANEL)
def build_command(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(help="Numbers or names of lessons; all if none is named"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 on any difference")
    ] = False,
) -> None:
    """Build the notebooks of the lessons from their text sources, and leave all others.

    Both notebooks of a lesson change, or neither. What loads real data needs
    `make data` first.
    """
    course = Course.here()
    chosen = [course.find_lesson(name) for name in lessons or course.lessons or [""]]
    skip_address_parser()
    from autograder.notebooks import build  # nbgrader and nbclient: a second of imports

    if check:
        differences = [] if lessons else build.strays(course)
        for lesson in chosen:
            differences += build.differences(course, lesson)
        if differences:
            print(*differences, sep="\n", file=sys.stderr)
            print("Run `autograder build` and commit what it makes.", file=sys.stderr)
            raise typer.Exit(1)
    else:
        build.require_data(course, chosen)
        for lesson in chosen:
            print(f"{lesson}: executing the teacher's notebook …", flush=True)
            build.build(course, lesson)
    print(f"{', '.join(chosen)}: {'as its source says' if check else 'built'}")


@commands.command("matrix", rich_help_panel=PANEL)
def matrix_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's number or name")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print data")] = False,
) -> None:
    """Show which case catches which misconception. Exit code 1 if one is missed."""
    name = Course.here().find_lesson(lesson) if lesson else None
    rows = [matrix(exercise) for exercise in exercises_of(name)]
    if as_json:
        print(json.dumps(as_data(rows), indent=1))
    else:
        print_matrix(rows)
    faults = [fault for row in rows for fault in row.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    raise typer.Exit(1 if faults or not rows else 0)
