"""``attention-course``: the course from one command, without its repository."""

import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.app import Version
from autograder.course import Course, CourseError
from autograder.messages import pytorch

FOLDER = "attention-course"
PORT, ADDRESS = 8888, "127.0.0.1"
Folder = Annotated[
    Path | None,
    typer.Option(help=f"The course's folder; ./{FOLDER} unless you are in one"),
]
Port = Annotated[int, typer.Option(help="Port to listen on")]
Browser = Annotated[bool, typer.Option(help="Open the browser")]
Address = Annotated[str, typer.Option(help="Address to listen on, for containers")]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A course on attention and Transformers: opens your Home in JupyterLab.",
)


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    folder: Folder = None,
    port: Port = PORT,
    browser: Browser = True,
    address: Address = ADDRESS,
    version: Version = False,
) -> None:
    """Make the course's folder, if it is not there yet, and open Home in JupyterLab."""
    if context.invoked_subcommand is None:
        _open("", folder, port, browser, address)


@app.command("open")
def open_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's number or name")],
    folder: Folder = None,
    port: Port = PORT,
    browser: Browser = True,
    address: Address = ADDRESS,
) -> None:
    """Open a lesson in JupyterLab."""
    _open(lesson, folder, port, browser, address)


@app.command("new-course")
def new_course(
    folder: Annotated[Path, typer.Argument(help="A folder that is not there yet")],
) -> None:
    """Make the folder of a class, for instructors: an nbgrader course.

    What grades in it is installed with `pip install 'attention-course[grade]'`.
    """
    from autograder.workspace.installed import open_folder

    if folder.exists():
        raise CourseError(f"{folder} is there already: name a new folder")
    course = open_folder(folder).course
    print(
        f"{course.root} is a course of {len(course.built_lessons)} lessons. In it, "
        "`autograder --help` says how to grade, `autograder doctor` what is missing."
    )


@app.command("data")
def data_command(folder: Folder = None) -> None:
    """Get the texts that lessons from 06 on read, once: 150 MB."""
    from course_lib.corpora.__main__ import main

    root = (folder or _usual_folder()).expanduser().resolve()
    if not (root / "nbgrader_config.py").is_file():
        raise CourseError(
            f"{root} is no course folder yet: call `attention-course` first, which "
            "makes one, or name yours with --folder"
        )
    os.chdir(root)
    main([])


@app.command("torch")
def torch_command() -> None:
    """Install PyTorch, which lessons 07 to 15 need, as it fits this machine."""
    raise typer.Exit(pytorch.install())


@app.command("class-edition")
def class_edition(
    folder: Annotated[Path, typer.Argument(help="A folder that is not there yet")],
    form: Annotated[
        str, typer.Option("--as", help="wheel, folder or container")
    ] = "wheel",
    lessons: Annotated[
        str, typer.Option(help="Lessons in it, such as 00-03,05; all")
    ] = "",
    closed: Annotated[
        str,
        typer.Option(
            help="Lessons whose answers may be read, such as 00,01: their due date "
            "has passed; none"
        ),
    ] = "",
    label: Annotated[
        str,
        typer.Option(help="Of its version, such as week03; date and minute"),
    ] = "",
    torch: Annotated[
        bool, typer.Option(help="For a container: PyTorch, for lessons from 07 on")
    ] = True,
) -> None:
    """Make an edition for a class's learners, without answers; for instructors.

    In it are the lessons of the course folder that you call it in, and what checks
    them. Solutions, tests and what instructors call are not. References and banks of
    lessons that are not closed are packed: checks, later lessons and "Use the course's
    version" work as ever, and no file shows an answer. Packed is not secret: who
    unpacks a file on purpose reads it. Grades come from your machine, on inputs drawn
    for your class.
    """
    from autograder.commands.class_edition import edition_of, make_edition

    edition = edition_of(Course.here(), lessons, closed, label)
    print(make_edition(folder, edition, form, torch=torch))


def _open(
    lesson: str, folder: Path | None, port: int, browser: bool, address: str
) -> None:
    from autograder.workspace.installed import open_folder
    from autograder.workspace.lab import open_lab

    made = open_folder(folder or _usual_folder())
    if made.news:
        print(made.news, flush=True)
    course = made.course
    if not course.built_lessons:
        raise CourseError(f"{course.root} has no lesson in notebooks/")
    name = course.find_lesson(lesson, built=True) if lesson else ""
    if course.built_lessons[-1] >= "07" and (missing := pytorch.advice()):
        print(f"{missing.sentence} {missing.command}".strip(), flush=True)
    open_lab(course, name, port, browser, address)


def _usual_folder() -> Path:
    """Return the course folder that the current folder lies in, or the one to make."""
    with contextlib.suppress(CourseError):
        return Course.here().root
    return Path.cwd() / FOLDER


def run() -> None:
    """Run the command; a fault that its user can mend is one line, exit code 1."""
    from autograder.commands import terminal

    terminal.run(app)


if __name__ == "__main__":  # from a folder that is not installed
    run()
