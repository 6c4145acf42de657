"""What a learner calls: ``lab``, ``progress``, ``reset`` and ``update``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from autograder.checking.points import format_number_of
from autograder.course import NO_NOTEBOOK, Course, CourseError
from autograder.workspace.fetched import FetchedLessons, learners_course
from autograder.workspace.installed import MARK

PANEL = "For learners"
commands = typer.Typer()


@commands.command("lab", rich_help_panel=PANEL)
def lab_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's number or name")] = "",
    port: Annotated[int, typer.Option(help="Port to listen on")] = 8888,
    browser: Annotated[bool, typer.Option(help="Open the browser")] = True,
) -> None:
    """Open your own copies of the lessons in JupyterLab: your home, or one lesson."""
    from autograder.workspace.lab import open_lab

    course = Course.here()
    if not course.built_lessons:
        raise CourseError(NO_NOTEBOOK)
    name = course.find_lesson(lesson, built=True) if lesson else ""
    open_lab(course, name, port, browser)


@commands.command("update", rich_help_panel=PANEL)
def update_command() -> None:
    """Bring newer lessons into your copies; your answers stay."""
    from autograder.commands import terminal
    from autograder.workspace.former import bring_former
    from autograder.workspace.update import update  # nbformat: half a second of imports

    course = learners_course()
    brought = bring_former(course)
    updates = [*brought, *update(course, done=[row.lesson for row in brought])]
    if not updates:
        raise CourseError(NO_NOTEBOOK)
    _write_home(course)
    for row in updates:
        (terminal.warn if row.failed else terminal.say)(str(row))
    raise typer.Exit(1 if any(row.failed for row in updates) else 0)


@commands.command("progress", rich_help_panel=PANEL)
def progress_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Print what you have solved, and where to go on."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from autograder.commands.terminal import harmless
    from autograder.workspace.home import Home

    course = learners_course()
    home = Home.of(course)
    if not home.lessons:
        raise CourseError(NO_NOTEBOOK)
    if as_json:
        print(json.dumps(home.data(), indent=1))
        return
    points = ["points so far"] if home.in_class else []
    further = ["going further"] if any(map(home.further, home.lessons)) else []
    columns = ["lesson", "solved", *points, "left", *further]
    table = Table(*columns, box=box.SIMPLE)
    for column in table.columns[1:]:
        column.justify = "right"
    for lesson in home.lessons:
        earned = format_number_of(home.points(lesson), lesson.points)
        table.add_row(
            Text(harmless(lesson.heading)),
            f"{home.solved(lesson)} of {len(lesson.required)}",
            *([earned] if home.in_class else []),
            home.rest(lesson),
            *([home.further(lesson)] if further else []),
        )
    console = Console(highlight=False)
    console.print(table)
    console.print(Text(harmless("\n".join(home.continue_lines(_way_to(course))))))


@commands.command("record", rich_help_panel=PANEL)
def record_command(
    folder: Annotated[
        Path | None, typer.Option(help="Where to; work/record beside your lessons")
    ] = None,
    name: Annotated[str, typer.Option(help="Whose it is, as you want it said")] = "",
) -> None:
    """Write what you have solved as a page to show, which others can check again.

    Beside the page is record.json, with your answers: `autograder verify` judges them.
    """
    from autograder.commands import terminal
    from autograder.workspace.record import (
        JSON_FILE,
        PAGE_FILE,
        record_of,
        write_record,
    )

    course = learners_course()
    record = record_of(course, name)
    folder = folder or course.records / "record"
    write_record(folder, record)
    n_solved = sum(len(each.solved) for each in record.lessons)
    exercises = terminal.counted(n_solved, "solved exercise")
    terminal.say(
        f"{exercises}: {folder / PAGE_FILE} to show, and {folder / JSON_FILE}, which "
        "`autograder verify` judges again."
    )


@commands.command("reset", rich_help_panel=PANEL)
def reset_command(
    exercise: Annotated[str, typer.Argument(help="The exercise's name")],
    back: Annotated[bool, typer.Option("--back", help="Restore the answer")] = False,
) -> None:
    """Start an exercise over; your answer is kept, and --back restores it."""
    from autograder.commands import terminal
    from autograder.workspace.reset import reset

    course = learners_course()
    terminal.say(reset(course, exercise, back=back))
    _write_home(course)


def _way_to(course: Course) -> str:
    """Return how a lesson is opened, with ``{number}`` or ``{lesson}`` in it."""
    if isinstance(course, FetchedLessons):
        return "open {lesson}/{lesson}.ipynb"
    is_clone = not (course.root / MARK).exists()
    return "make lab LESSON={number}" if is_clone else "attention-course open {number}"


def _write_home(course: Course) -> None:
    """Write the learner's home; that it cannot be written stops nothing."""
    from autograder.commands import terminal
    from autograder.workspace.home import write_home
    from autograder.workspace.page_progress import take_page_progress

    try:
        take_page_progress(course)
        write_home(course)
    except OSError as error:
        terminal.warn(f"Home could not be written ({error.strerror})")
