"""``autograder check-bank``: one exercise's bank, in seconds.

What must hold is in ``autograder.checking.bank``. What is not written yet is listed
with file and line, and what needs it is not judged.
"""

import importlib
import inspect
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from autograder.checking import bank
from autograder.checking.bank import SEEDS, TODO, AnswersToTry
from autograder.checking.call import plain_function
from autograder.checking.exercise import Exercise, Function
from autograder.checking.matrix import matrix, print_matrix
from autograder.checking.points import format_number
from autograder.checking.registry import (
    UnknownExercise,
    bank_file,
    import_fault,
    is_private,
    load,
)
from autograder.checking.trivial_answers import TRIVIAL
from autograder.checking.way_on import SENTENCES
from autograder.course import Course, CourseError, private
from autograder.in_notebook.startup import use_one_thread
from autograder.notebooks.source import LessonSource


class Part(NamedTuple):
    """What was checked of one part of an exercise, in a few words, and its faults."""

    checked: str
    faults: list[str]


RIGHT = "right"
NOT_YET = Part("nothing yet: it has TODOs", [])


def check_bank(
    course: Course, name: str, *, whole_matrix: bool = False, all_seeds: bool = False
) -> int:
    """Print what is wrong with an exercise's bank; return the exit code, 1 for faults.

    whole_matrix : print, too, which case catches which misconception
    all_seeds : judge each answer with three seeds, not with one of them by turns

    Raises ``CourseError`` if there is no such exercise, or a file cannot be imported.
    """
    start = time.monotonic()
    exercise = _load_exercise(name)
    answers = _load_answers(course, name)
    use_one_thread()
    parts = {
        "to fill in": _todos(course, exercise),
        "docstring": _docstring(exercise),
        "wording": _wording(exercise),
        "reference, spec": _reference(exercise),
        "points": _points(exercise),
        "misconceptions": _misconceptions(exercise, whole_matrix),
        "answers": _answers(exercise, answers, all_seeds),
        "lesson": _lesson(course, exercise),
    }
    table = Table(
        title=f"{name} · {exercise.lesson} · {format_number(exercise.points)} points"
    )
    for header in ("part", "checked", "faults"):
        table.add_column(header, justify="right" if header == "faults" else "left")
    for name_of_part, part in parts.items():
        table.add_row(name_of_part, part.checked, str(len(part.faults) or "·"))
    console = Console(soft_wrap=True, highlight=False, markup=False)
    console.print(table)
    faults = [fault for part in parts.values() for fault in part.faults]
    for fault in faults:
        console.print(fault)
    console.print(f"Checked in {time.monotonic() - start:.1f} s.")
    return int(bool(faults))


def print_code(name: str, misconception: str) -> None:
    """Print what an edit makes of a right answer, or with "right" what is edited.

    Raises ``CourseError`` if there is no such exercise or edit.
    """
    exercise = _load_exercise(name)
    edits = {each.name: each for each in exercise.misconceptions if each.code}
    console = Console(soft_wrap=True, highlight=False, markup=False)
    if misconception == RIGHT:
        console.print(exercise.code.code)
    elif (each := edits.get(misconception)) and each.code:
        console.print(each.code.source(each.edits))
    else:
        names = ", ".join([RIGHT, *edits])
        raise CourseError(f"{name} has no edit {misconception!r}: name one of {names}")


# The parts of an exercise


def _todos(course: Course, exercise: Exercise) -> Part:
    paths = [
        Path(inspect.getfile(exercise.reference)),
        course.root / bank_file(exercise.name),
        _answers_file(course, exercise.name),
    ]
    lines = [todo for path in paths if path.exists() for todo in bank.todos(path)]
    sentences = paths[1].with_name(SENTENCES)
    if sentences.is_file():
        todos, own = bank.todos(sentences), f"{exercise.name} = "
        lines += [each for each in todos if each.text.startswith(own)]
    lesson = course.source(exercise.lesson)
    rows = lesson.read_text(encoding="utf-8").splitlines() if lesson.exists() else []
    heading, check = f"# ### Exercise: {exercise.name}", f"check({exercise.name})"
    if is_private(exercise.name) and rows:
        lines += bank.todos(lesson)
    elif heading in rows and check in rows:
        first, last = rows.index(heading) + 1, rows.index(check) + 1
        lines += bank.todos(lesson, first, last)
    return Part(
        "lines that hold TODO",
        [f"{os.path.relpath(each.path)}:{each.line}: {each.text}" for each in lines],
    )


def _docstring(exercise: Exercise) -> Part:
    if not _is_written(exercise.reference):
        return NOT_YET
    checked = "first line, arguments, result, source, example"
    return Part(checked, bank.docstring_faults(exercise.reference))


def _wording(exercise: Exercise) -> Part:
    phrases = importlib.import_module(
        "tests.phrases"
    )  # as tests.answers, of a checkout
    checked = "claims, diagnoses, questions, reasons; their phrases"
    faults = bank.wording_faults(exercise) + phrases.remarks_on_bank(exercise)
    return Part(checked, faults)


def _reference(exercise: Exercise) -> Part:
    written = [case for case in exercise.cases if _is_written(case.run)]
    functions = exercise.reference, exercise.expected_function
    if not written or not _is_written(*functions):
        return NOT_YET
    seeds = ", ".join(map(str, SEEDS))
    checked = f"{len(written)} of {len(exercise.cases)} cases with seeds {seeds}"
    return Part(checked, bank.reference_faults(exercise, written))


def _points(exercise: Exercise) -> Part:
    if not _is_written(exercise.reference, *(case.run for case in exercise.cases)):
        return NOT_YET
    checked = f"{len(TRIVIAL)} answers that compute nothing"
    return Part(checked, bank.points_faults(exercise, exercise.cases))


def _misconceptions(exercise: Exercise, whole_matrix: bool) -> Part:
    if not _is_written(*_functions(exercise)):
        return NOT_YET
    result = matrix(exercise)
    if whole_matrix:
        print_matrix([result])
    rows = result.misconceptions
    checked = (
        f"{sum(bool(row.caught_by) for row in rows)} of {len(rows)} caught, "
        f"{sum(row.diagnosed for row in rows)} named, "
        f"{sum(row.diagnosed_visible for row in rows)} from the visible cases alone"
    )
    return Part(checked, bank.matrix_faults(exercise, result))


def _answers(exercise: Exercise, answers: AnswersToTry, all_seeds: bool) -> Part:
    groups = answers.right, answers.spellings, answers.others
    functions = [answer for group in groups for answer in group.values()]
    if not _is_written(*_functions(exercise), *functions):
        return NOT_YET
    right, spellings, others = map(len, groups)
    checked = f"{right} right, {spellings} spellings of misconceptions, {others} others"
    return Part(checked, bank.answer_faults(exercise, answers, all_seeds))


def _lesson(course: Course, exercise: Exercise) -> Part:
    path = course.source(exercise.lesson)
    try:
        names = [each.name for each in LessonSource(path).exercises]
    except CourseError as error:
        return Part(course.relative(path), [str(error)])
    if exercise.name not in names:
        fault = f"{course.relative(path)} has no cells for {exercise.name}"
        return Part(course.relative(path), [fault])
    return Part(f"exercise {names.index(exercise.name) + 1} of {len(names)}", [])


def _functions(exercise: Exercise) -> list[Function]:
    """Return all functions of a bank, with the reference."""
    return [
        exercise.reference,
        exercise.expected_function,
        *(case.run for case in exercise.cases),
        *(each.function for each in exercise.misconceptions),
    ]


def _is_written(*functions: Function) -> bool:
    """Return whether no TODO is left in any of the functions."""
    for function in functions:
        try:
            source = inspect.getsource(plain_function(function))
        except (TypeError, OSError):  # a partial, an object: no skeleton
            continue
        if TODO in source:
            return False
    return True


# Its files


def _load_exercise(name: str) -> Exercise:
    if not name.isidentifier():
        raise CourseError(f"{name!r} is no exercise's name")
    try:
        return load(name)
    except CourseError:
        raise
    except UnknownExercise as error:
        raise CourseError(f"{error}; `autograder new` begins one") from None
    except Exception as error:
        raise import_fault(bank_file(name), error) from None


def _load_answers(course: Course, name: str) -> AnswersToTry:
    path = _answers_file(course, name)
    if not (course.root / "tests" / "answers" / "__init__.py").is_file():
        raise CourseError(
            "the answers that test a bank are in tests/answers, which only a checkout "
            "of the course has: call this in one"
        )
    if not path.is_file():
        raise CourseError(
            f"{course.relative(path)} is missing: write answers that test the bank, as "
            "in the files beside it"
        )
    sys.path.insert(0, str(course.root))
    if is_private(name):
        importlib.import_module("tests.answers").__path__.append(str(path.parent))
    try:
        return importlib.import_module(f"tests.answers.{name}").answers
    except Exception as error:
        raise import_fault(course.relative(path), error) from None


def _answers_file(course: Course, name: str) -> Path:
    """Return the file with the answers that test a bank."""
    folder = course.root / "tests" / "answers"
    if is_private(name):
        folder = course.private / private.ANSWERS
    return folder / f"{name}.py"
