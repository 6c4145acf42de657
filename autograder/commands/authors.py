"""What an author calls: from a text source to notebooks, and what a bank catches."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from autograder.checking.matrix import as_data, matrix, print_matrix
from autograder.checking.registry import exercises_of
from autograder.course import Course, CourseError, private
from autograder.in_notebook.startup import use_one_thread

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
            for sentence in build.removed(course, lesson):
                print(sentence, file=sys.stderr)
    print(f"{', '.join(chosen)}: {'as its source says' if check else 'built'}")


@commands.command("site", rich_help_panel=PANEL)
def site_command(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(help="Numbers or names of lessons; all if none is named"),
    ] = None,
    pyodide: Annotated[
        Path | None,
        typer.Option(help="Folder of Pyodide, to be part of the book", metavar="DIR"),
    ] = None,
    serve: Annotated[bool, typer.Option(help="Serve it on this machine")] = False,
    port: Annotated[int, typer.Option(help="Where to serve it")] = 8000,
) -> None:
    """Build the reading edition of the lessons into build/site, a book to browse.

    What is not built as its source says is executed first. Served, its pages check
    answers, with Pyodide from its own network or from a folder.
    """
    course = Course.here()
    public = course.public_lessons
    chosen = [course.find_lesson(name) for name in lessons or public or [""]]
    if hidden := [each for each in chosen if course.is_private(each)]:
        raise CourseError(f"{', '.join(hidden)}: a private lesson is in no book")
    from autograder.book.build import build_book  # nbgrader: a second of imports

    build = course.root / "build"
    names, site = list(dict.fromkeys(chosen)), build / "site"
    build_book(course, names, site, build / "book", pyodide)
    if serve:
        from autograder.book.serve import serve as serve_book

        serve_book(site, port)
    else:
        print(f"Open {site / 'index.html'}")


@commands.command("matrix", rich_help_panel=PANEL)
def matrix_command(
    lesson: Annotated[str, typer.Argument(help="A lesson's number or name")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print data")] = False,
) -> None:
    """Show which case catches which misconception. Exit code 1 if one is missed."""
    name = Course.here().find_lesson(lesson) if lesson else None
    exercises = exercises_of(name)
    use_one_thread()
    rows = [matrix(exercise) for exercise in exercises]
    if as_json:
        print(json.dumps(as_data(rows), indent=1))
    else:
        print_matrix(rows)
    faults = [fault for row in rows for fault in row.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    raise typer.Exit(1 if faults or not rows else 0)


@commands.command("new", rich_help_panel=PANEL)
def new_command(
    name: Annotated[str, typer.Argument(help="The exercise's, and its function's")],
    lesson: Annotated[
        str,
        typer.Option(
            help="A lesson's number or name; 90_exam, or another from 90 on, is a "
            "private lesson, made if it is not there"
        ),
    ],
    module: Annotated[
        str,
        typer.Option(
            help="For the reference: attention, nn.functional, or a new one; the "
            "lesson's main module"
        ),
    ] = "",
    parameters: Annotated[
        str, typer.Option(help="Names of the function's arguments")
    ] = "x",
    section: Annotated[
        str,
        typer.Option(
            help="A heading of the lesson, of its core or below Going further: the "
            "cells come last there; otherwise before the closing section"
        ),
    ] = "",
) -> None:
    """Begin an exercise: reference, bank, answers and cells, to be filled in."""
    # jupytext: half a second
    from autograder.commands.new_exercise import begin_lesson, new_exercise

    course = Course.here()
    begun = None
    if lesson not in course.lessons and private.NAME.fullmatch(lesson):
        begun = begin_lesson(course, lesson)
    folder = course.find_lesson(lesson)
    arguments = parameters.replace(",", " ").split()
    try:
        paths = new_exercise(course, name, folder, module, arguments, section)
    except BaseException:
        if begun:
            shutil.rmtree(begun.parent)
        raise
    _say_begun(course, paths, name, folder, section)


def _say_begun(
    course: Course, paths: Sequence[Path], name: str, folder: str, section: str
) -> None:
    for path in paths:
        print(f"Written: {course.relative(path)}")
    tests = "" if course.is_private(folder) else " and `make test`"
    where = f"at the end of {section!r}" if section else "before the closing section"
    print(
        f"The lesson's cells stand {where}. What is marked TODO is to be filled in: "
        f"`autograder check-bank {name}` lists it, and says when it is right; then "
        f"`autograder build {folder[:2]}`{tests}."
    )


@commands.command("check-bank", rich_help_panel=PANEL)
def check_bank_command(
    name: Annotated[str, typer.Argument(help="An exercise's name")],
    whole_matrix: Annotated[
        bool, typer.Option("--matrix", help="Print which case catches what, too")
    ] = False,
    all_seeds: Annotated[
        bool, typer.Option(help="Judge each answer with three seeds, not with one")
    ] = False,
    wrong: Annotated[
        str | None,
        typer.Option(
            "--code",
            metavar="MISCONCEPTION",
            help="Print its code alone; `right` is what is edited",
        ),
    ] = None,
) -> None:
    """Check one exercise: what is left to write, and whether its bank holds.

    Reference and spec pass all cases, every misconception is caught and named, every
    case catches one, and the answers of tests/answers are judged as they should be.
    Exit code 1 on a fault.
    """
    # jupytext: half a second
    from autograder.commands.check_bank import check_bank, print_code

    if wrong is not None:
        print_code(name, wrong)
        return
    code = check_bank(
        Course.here(), name, whole_matrix=whole_matrix, all_seeds=all_seeds
    )
    raise typer.Exit(code)
