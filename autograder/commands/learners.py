"""What a learner calls: ``lab`` and ``update``."""

from typing import Annotated

import typer

from autograder.course import NO_NOTEBOOK, Course, CourseError

PANEL = "For learners"
commands = typer.Typer()


@commands.command("lab", rich_help_panel=PANEL)
def lab_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's number or name")] = "",
    port: Annotated[int, typer.Option(help="Port to listen on")] = 8888,
    browser: Annotated[bool, typer.Option(help="Open the browser")] = True,
) -> None:
    """Open your own copies of the lessons in JupyterLab."""
    from autograder.workspace.lab import open_lab

    course = Course.here()
    first = next(iter(course.built_lessons), "")
    open_lab(course, course.find_lesson(lesson or first, built=True), port, browser)


@commands.command("update", rich_help_panel=PANEL)
def update_command() -> None:
    """Bring newer lessons into your copies; your answers stay."""
    from autograder.commands import terminal
    from autograder.workspace.update import update  # nbformat: half a second of imports

    updates = update(Course.here())
    for row in updates:
        (terminal.warn if row.failed else terminal.say)(str(row))
    if not updates:
        raise CourseError(NO_NOTEBOOK)
    raise typer.Exit(1 if any(row.failed for row in updates) else 0)
