"""Build the notebooks of a lesson from its text source, or check that they are built.

source → teacher's notebook, run by ``execute`` → learner's notebook, made by nbgrader's
``generate_assignment`` in a temporary folder: nbgrader sees neither the course's files
nor its gradebook. Both are moved into place whole, or neither is, and with them the
alternative texts of the lesson's pictures.
"""

import ast
import importlib
import json
import logging
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from autograder.checking.registry import bank_file
from autograder.course import Course, CourseError, write_atomically, write_together
from autograder.course.releases import (
    ANSWER_KEY,
    cell_digest,
    how_to_drop,
    kept_cells,
    kept_releases,
    last_points,
    release_name,
    releases_file,
    with_release,
)
from autograder.course.shown_code import without_assertions
from autograder.notebooks.assemble import points_of, teacher_notebook
from autograder.notebooks.cells import SourceCell
from autograder.notebooks.execute import execute
from autograder.notebooks.pictures import as_json, texts_path
from autograder.notebooks.source import LessonSource
from course_lib.corpora.datasets import Dataset
from course_lib.corpora.download import COMMAND, is_cached

CORPORA = "course_lib.corpora"


def as_text(notebook: NotebookNode) -> str:
    """Return a notebook's text, the same for the same notebook."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def learner_text(root: Path, lesson: str, teacher: NotebookNode) -> str:
    """Return the learner's notebook as nbgrader makes it of a teacher's.

    root : the course's folder, for its ``nbgrader_config.py``
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "solutions", lesson, f"{lesson}.ipynb")
        write_atomically(source, as_text(teacher))
        config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
        config.CourseDirectory.root = folder
        config.CourseDirectory.assignment_id = lesson
        config.GenerateAssignment.no_database = True  # these two lines are --no-db
        config.SaveCells.enabled = False
        coursedir = CourseDirectory(config=config)
        converter = GenerateAssignment(coursedir=coursedir, config=config)
        with _errors(converter.log) as errors:
            try:
                converter.start()
            except (NbGraderException, SystemExit):
                why = _reason(errors)
                raise CourseError(f"{lesson}: nbgrader refuses it: {why}") from None
        released = Path(folder, "notebooks", lesson, f"{lesson}.ipynb")
        return as_text(_for_learners(nbformat.read(released, as_version=4)))


def _for_learners(learner: NotebookNode) -> NotebookNode:
    """Leave assertions out, and keep each stub: what an answer starts over from.

    Beside it stands the line that gets the course's version instead. Of a function to
    be mended, the learner has the broken version, and a mark.
    """
    for cell in learner.cells:
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata:
            cell.source = without_assertions(cell.source)
        if broken := cell.metadata.get(ANSWER_KEY, {}).get("mend"):
            cell.source = broken
            cell.metadata[ANSWER_KEY]["mend"] = True
        if cell.metadata.get("nbgrader", {}).get("solution"):
            ours = cell.metadata.get(ANSWER_KEY, {})
            cell.metadata[ANSWER_KEY] = {**ours, "stub": cell.source}
    learner.cells = [cell for cell in learner.cells if cell.source]
    return learner


@contextmanager
def _errors(log: logging.Logger) -> Iterator[list[str]]:
    """Yield the list of errors that are logged meanwhile, and print none of them."""
    errors: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: errors.append(record.getMessage())  # type: ignore[method-assign]
    before = log.propagate, log.level
    log.propagate = False
    log.setLevel(logging.ERROR)
    log.addHandler(handler)
    try:
        yield errors
    finally:
        log.removeHandler(handler)
        log.propagate, log.level = before


def _reason(errors: list[str]) -> str:
    """Return the sentence that names the fault among what nbgrader logs about it."""
    for text in errors:
        # The exception under a traceback begins on the first line that is not indented.
        if match := re.match(r"Traceback .*?\n(?=\S)(.+)", text, re.DOTALL):
            return " ".join(match[1].split())
    return errors[0] if errors else "it does not say why"


def require_data(course: Course, lessons: Sequence[str]) -> None:
    """Raise ``CourseError`` if cells of the lessons load data that is not there.

    A cell that imports a module of ``course_lib.corpora`` loads the data sets that the
    module itself imports.
    """
    missing: dict[str, list[str]] = {}
    for lesson in lessons:
        cells = LessonSource(course.source(lesson)).cells
        for module in sorted({name for cell in cells for name in _corpora(cell)}):
            for value in vars(importlib.import_module(module)).values():
                if isinstance(value, Dataset) and not is_cached(value):
                    missing.setdefault(lesson, []).append(value.name)
    if missing:
        needs = "; ".join(f"{each}: {', '.join(missing[each])}" for each in missing)
        raise CourseError(
            f"nothing is built, since real data is not there yet ({needs}): run "
            f"`{COMMAND}` once, with a network, or name the lessons to build"
        )


def _corpora(cell: SourceCell) -> Iterator[str]:
    """Yield the modules of ``course_lib.corpora`` that a cell imports."""
    for node in ast.walk(ast.parse(cell.text if cell.kind == "code" else "")):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == CORPORA:
            names = [f"{CORPORA}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        yield from (name for name in names if name.startswith(f"{CORPORA}."))


def build(course: Course, lesson: str) -> None:
    """Build and execute a lesson's notebooks and put both into place.

    What the release contains is kept in ``releases.json``.

    Raises ``CourseError`` if that cannot be done; then both are as they were.
    """
    source = LessonSource(course.source(lesson))
    teacher = teacher_notebook(source)
    try:
        learner = learner_text(course.root, lesson, teacher)
        execute(teacher, source, course.root)
        write_together(
            {
                course.teacher(lesson): as_text(teacher),
                course.learner(lesson): learner,
                releases_file(course, lesson): with_release(
                    course, lesson, points_of(source), ungraded_texts(learner)
                ),
            }
            | _texts(course, source)
        )
    except OSError as error:
        raise CourseError(
            f"{lesson}: {error}. Its notebooks are as they were"
        ) from None


def ungraded_texts(learner: str) -> Iterator[str]:
    """Yield the texts of cells that are no answer and no check."""
    for cell in json.loads(learner)["cells"]:
        if "nbgrader" not in cell["metadata"]:
            yield "".join(cell["source"])


def _texts(course: Course, source: LessonSource) -> dict[Path, str]:
    """Return what the file of a lesson's alternative texts must hold, if any."""
    path = texts_path(course, source.lesson)
    return {path: as_json(source.texts)} if source.texts or path.exists() else {}


def differences(course: Course, lesson: str) -> list[str]:
    """Return a sentence for each generated file of a lesson that is not as it would be.

    Outputs of the teacher's are left aside: whether they hold is nbval's question.
    """
    source = LessonSource(course.source(lesson))
    teacher = teacher_notebook(source)
    expected = {
        course.teacher(lesson): as_text(teacher),
        course.learner(lesson): learner_text(course.root, lesson, teacher),
    }
    sentences = []
    for path, text in expected.items():
        name = course.relative(path)
        if not path.is_file():
            sentences.append(f"{name} is missing")
            continue
        try:
            committed = path.read_text(encoding="utf-8")
            if path == course.teacher(lesson):
                committed = without_outputs(committed)
            if committed != text:
                where = _first_difference(committed, text)
                sentences.append(f"{name} differs from its source, first {where}")
        except Exception as error:
            # nbformat raises whatever the broken file makes it stumble over.
            sentences.append(f"{name} cannot be read: {type(error).__name__}: {error}")
    for path, text in _texts(course, source).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            name = course.relative(path)
            sentences.append(f"{name} does not have the alternative texts of {lesson}")
    texts = ungraded_texts(expected[course.learner(lesson)])
    if not kept_cells(course).issuperset(map(cell_digest, texts)) or (
        release_name(points_of(source)) not in kept_releases(course).get(lesson, {})
    ):
        name = course.relative(releases_file(course, lesson))
        sentences.append(f"{name} does not have the release of {lesson}")
    return sentences


def removed(course: Course, lesson: str) -> list[str]:
    """Return a sentence on exercises that only earlier releases of a lesson had."""
    last = last_points(kept_releases(course).get(lesson, {}))
    gone = sorted(last.keys() - points_of(LessonSource(course.source(lesson))).keys())
    if not gone:
        return []
    banks = " and ".join(map(bank_file, gone))
    return [
        f"{lesson} no longer has {', '.join(gone)}. Who hands in an earlier release is "
        f"still judged on it: keep {banks} with the reference. In a class, "
        f"{how_to_drop(gone)}"
    ]


def strays(course: Course) -> list[str]:
    """Return a sentence for each lesson that has a notebook but no text source."""
    folders = {
        path.parent
        for top in ("solutions", "private/solutions", "notebooks")
        for path in course.root.glob(f"{top}/[0-9]*/*.ipynb")
    }
    return [
        f"{course.relative(folder)} holds a notebook, but there is no source "
        f"{course.relative(course.source(folder.name))}: remove it"
        for folder in sorted(folders)
        if folder.name not in course.lessons
    ]


def without_outputs(text: str) -> str:
    """Return a notebook's text without outputs, and the rest as it is."""
    notebook = nbformat.reads(text, as_version=4)
    if as_text(notebook) != text:
        return text  # not as the builder writes it
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return as_text(notebook)


def _first_difference(committed: str, expected: str) -> str:
    one = nbformat.reads(committed, as_version=4)
    other = nbformat.reads(expected, as_version=4)
    for cell, expected_cell in zip(one.cells, other.cells, strict=False):
        if cell != expected_cell:
            return f"in cell {expected_cell.id}"
    if len(one.cells) != len(other.cells):
        return f"in length: {len(one.cells)}, not {len(other.cells)} cells"
    return "in how it is written" if one == other else "in its metadata"
