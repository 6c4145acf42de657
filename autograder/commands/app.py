"""The command line: ``autograder --help``."""

from typing import Annotated

import typer

from autograder.commands import authors, instructors, learners, terminal

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
    terminal.run(app)
