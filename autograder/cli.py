"""The command line of the course's authors and instructors: ``autograder --help``."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.course import Course, CourseError
from autograder.matrix import as_data, matrix
from autograder.matrix_table import print_matrix
from autograder.registry import exercises_of
from autograder.startup import skip_address_parser

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
        print_matrix(rows)
    faults = [fault for row in rows for fault in row.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    raise typer.Exit(1 if faults or not rows else 0)


@app.command("build")
def build_command(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons, or all")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 on any difference")
    ] = False,
) -> None:
    """Build the notebooks of the lessons from their text sources."""
    course = Course.here()
    chosen = [course.require(lesson) for lesson in lessons or course.lessons]
    if not chosen:
        raise CourseError("there is no lesson yet: solutions/NN_name/NN_name.py")
    skip_address_parser()
    from autograder import build  # nbgrader and nbclient: a second of imports

    found = build.strays(course) if check and not lessons else []
    for lesson in chosen:
        if check:
            found += build.differences(course, lesson)
        else:
            print(f"{lesson}: executing the teacher's notebook …", flush=True)
            build.build(course, lesson)
    for difference in found:
        print(difference, file=sys.stderr)
    if found:
        print("Run `autograder build` and commit what it makes.", file=sys.stderr)
        raise typer.Exit(1)
    print(f"{', '.join(chosen)}: {'as its source says' if check else 'built'}")


@app.command("lab")
def lab_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's name or number")] = "",
    port: Annotated[int, typer.Option(help="Port to listen on")] = 8888,
    browser: Annotated[bool, typer.Option(help="Open the browser")] = True,
) -> None:
    """Open your own copies of the lessons in JupyterLab."""
    from autograder.lab import open_lab

    open_lab(Course.here().root, lesson, port, browser)


@app.command("update")
def update_command() -> None:
    """Bring newer lessons into your copies; your answers stay."""
    from autograder.update import update  # nbformat: half a second of imports

    done = update(Course.here().root)
    for row in done:
        print(row, file=sys.stderr if row.failed else sys.stdout)
    if not done:
        raise CourseError("there is no lesson in notebooks/ yet: run `make build`")
    raise typer.Exit(1 if any(row.failed for row in done) else 0)


@app.command("demo")
def demo_command() -> None:
    """Grade a sample class, from release to feedback, in build/demo."""
    from autograder.demo.run import demo  # nbformat: half a second of imports

    raise typer.Exit(demo(Course.here()))


@app.command("grade")
def grade_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's name or number")],
    jobs: Annotated[
        int, typer.Option(min=0, help="Submissions at a time; 0: as many as fit")
    ] = 0,
    student: Annotated[str, typer.Option(help="Grade this one only")] = "",
    sandbox: Annotated[
        bool,
        typer.Option(
            "--sandbox/--no-sandbox",
            help="--no-sandbox lets submissions do whatever you can: only for "
            "notebooks that you would run yourself",
        ),
    ] = True,
    output: Annotated[
        str, typer.Option(help="File for the results; build/grading/LESSON.jsonl")
    ] = "",
) -> None:
    """Grade what students have submitted, each in a sandbox of its own.

    Exit code 1 if the grader itself failed, 130 after Ctrl-C; a bad submission gets
    its verdict and stops nothing.
    """
    from autograder.grading import classroom, commands  # rich and numpy: half a second

    code = commands.grade(
        Course.here(),
        lesson,
        jobs=jobs or classroom.default_jobs(),
        student=student,
        isolated=sandbox,
        output=output,
    )
    raise typer.Exit(code)


@app.command("judge")
def judge_command(
    file: Annotated[Path, typer.Argument(help="A submitted notebook")],
    lesson: Annotated[
        str, typer.Option(help="Its lesson, if its name does not say")
    ] = "",
    sandbox: Annotated[
        bool, typer.Option("--sandbox/--no-sandbox", help="As for grade")
    ] = True,
) -> None:
    """Grade one notebook and say in words why it gets its points."""
    from autograder.grading import commands

    raise typer.Exit(commands.judge(Course.here(), file, lesson, sandbox))


def run() -> None:
    """Run the command line; a fault that its user can mend is one line, exit code 1."""
    try:
        app()
    except CourseError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
