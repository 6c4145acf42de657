"""The command line: ``autograder --help``."""

from typing import Annotated

import typer

from autograder.commands import authors, instructors, learners, terminal
from autograder.course import CourseError
from autograder.messages.stopped import OF_TORCH

# What Windows lacks, and what the first layer of dependencies leaves out.
OF_POSIX = {"fcntl", "grp", "pwd", "resource", "termios"}
OF_GRADING = {"jinja2", "jupytext", "markupsafe", "msgpack", "nbclient", "nbconvert"}
OF_GRADING |= {"nbgrader", "sqlalchemy"}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build the lessons, check the exercises, grade a class.",
)


def say_version(wanted: bool) -> None:
    """Print which version is installed, and stop."""
    if wanted:
        from autograder.workspace.installed import PROJECT, version

        terminal.say(f"{PROJECT} {version()}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", help="Print the version", callback=say_version, is_eager=True
    ),
]


@app.callback()
def _options(version: Version = False) -> None:
    """Build the lessons, check the exercises, grade a class."""


for part in (learners, instructors, authors):
    app.add_typer(part.commands)


def run() -> None:
    """Run the command line; a fault that its user can mend is one line, exit code 1."""
    terminal.print_any_text()
    try:
        app()
    except CourseError as error:
        terminal.warn(str(error))
        raise SystemExit(1) from None
    except ModuleNotFoundError as error:
        if not (sentence := not_here(error.name or "")):
            raise
        terminal.warn(sentence)
        raise SystemExit(1) from None


def not_here(module: str) -> str:
    """Return why a command cannot run where a module is missing, "" if that is a bug.

    >>> not_here("numpy")
    ''
    """
    package = module.partition(".")[0]
    if package in OF_POSIX:
        return (
            "Grading needs Linux: it shuts each submission in with what Windows lacks. "
            "Call this on a Linux machine, in WSL 2, or in the course's container "
            "(.devcontainer/Dockerfile). What learners call works here."
        )
    if package in OF_GRADING:
        return (
            f"{package} is not installed, which instructors' and authors' commands "
            "need: `pip install 'attention-course[grade]'` in this environment, then "
            "call again."
        )
    if package in OF_TORCH:
        return (
            f"{package} is not installed: `attention-course torch` brings it. Then "
            "call again."
        )
    return ""
