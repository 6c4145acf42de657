"""The command line of the course's authors and instructors: ``autograder --help``."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.checking.matrix import as_data, matrix, print_matrix
from autograder.checking.registry import exercises_of
from autograder.course import Course, CourseError
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
    lesson: Annotated[str, typer.Argument(help="A lesson's name or number")] = "",
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


@app.command("build")
def build_command(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons, or all")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 on any difference")
    ] = False,
) -> None:
    """Build the notebooks of the lessons from their text sources."""
    course = Course.here()
    chosen = [course.find_lesson(name) for name in lessons or course.lessons or [""]]
    skip_address_parser()
    from autograder.notebooks import build  # nbgrader and nbclient: a second of imports

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
    from autograder.workspace.lab import open_lab

    course = Course.here()
    first = next(iter(course.built_lessons), "")
    open_lab(course, course.find_lesson(lesson or first, built=True), port, browser)


@app.command("update")
def update_command() -> None:
    """Bring newer lessons into your copies; your answers stay."""
    from autograder.workspace.update import update  # nbformat: half a second of imports

    done = update(Course.here())
    for row in done:
        print(row, file=sys.stderr if row.failed else sys.stdout)
    if not done:
        raise CourseError("there is no lesson in notebooks/ yet: run `make build`")
    raise typer.Exit(1 if any(row.failed for row in done) else 0)


@app.command("demo")
def demo_command() -> None:
    """Take a sample class from release to feedback and LMS files, in build/demo."""
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
    anew: Annotated[
        bool, typer.Option("--anew", help="Judge again what is known already")
    ] = False,
    gradebook: Annotated[
        bool,
        typer.Option("--gradebook/--no-gradebook", help="Write nbgrader's gradebook"),
    ] = True,
    dask: Annotated[
        str, typer.Option(help="Address of a Dask scheduler that is to do the work")
    ] = "",
    output: Annotated[
        str, typer.Option(help="File for the results; build/grading/LESSON.jsonl")
    ] = "",
) -> None:
    """Grade what students have submitted, each in a sandbox of its own.

    What is known is not graded twice, and a run that was stopped goes on. Exit code 1
    if something could not be graded or written, 130 after Ctrl-C; a bad submission gets
    its verdict and stops nothing.
    """
    from autograder.commands import grade as run  # rich and numpy: half a second
    from autograder.grading import classroom

    wishes = run.GradeOptions(
        jobs=jobs or classroom.default_jobs(),
        student=student,
        isolated=sandbox,
        anew=anew,
        gradebook=gradebook,
        cluster=dask,
        output=output,
    )
    raise typer.Exit(run.grade(Course.here(), lesson, wishes))


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
    from autograder.commands import grade as commands

    raise typer.Exit(commands.judge(Course.here(), file, lesson, sandbox))


Lesson = Annotated[str, typer.Argument(help="A lesson's name or number")]


@app.command("open")
def open_command(lesson: Lesson) -> None:
    """Enter a lesson into nbgrader's gradebook; grade does that by itself."""
    from autograder.commands import gradebook as commands

    raise typer.Exit(commands.open_lesson(Course.here(), lesson))


@app.command("feedback")
def feedback_command(
    lesson: Lesson,
    student: Annotated[str, typer.Option(help="Of this one only")] = "",
) -> None:
    """Write a page for each student: verdicts, hints, grades and comments."""
    from autograder.commands import gradebook as commands

    raise typer.Exit(commands.feedback(Course.here(), lesson, student))


@app.command("report")
def report_command(
    lesson: Lesson,
    output: Annotated[
        str, typer.Option(help="File for the page; build/report/LESSON.html")
    ] = "",
) -> None:
    """Write the instructor's page: how the class did, and which mistakes it made."""
    from autograder.commands import gradebook as commands

    raise typer.Exit(commands.report(Course.here(), lesson, output))


@app.command("export")
def export_command(
    lessons: Annotated[
        list[str] | None, typer.Argument(help="Lessons; all that are graded")
    ] = None,
    to: Annotated[str, typer.Option(help="csv, canvas or moodle")] = "csv",
    missing_as_zero: Annotated[
        bool, typer.Option(help="0 points for what was not handed in, not no grade")
    ] = False,
    output: Annotated[str, typer.Option(help="File; build/export/KIND.csv")] = "",
) -> None:
    """Write the grades as a spreadsheet or a learning management system reads them."""
    from autograder.commands import gradebook as commands
    from autograder.gradebook.sheets import MissingAs

    missing: MissingAs = "zero" if missing_as_zero else "empty"
    code = commands.export(Course.here(), lessons or [], to, missing, output)
    raise typer.Exit(code)


def run() -> None:
    """Run the command line; a fault that its user can mend is one line, exit code 1."""
    try:
        app()
    except CourseError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
