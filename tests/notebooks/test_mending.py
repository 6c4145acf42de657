"""Cells to be mended, and the table of all functions: what builder and reader get."""

import inspect

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.checking.registry import exercise_names, load
from autograder.course import Course
from autograder.course.releases import ANSWER_KEY
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.build import _for_learners
from autograder.notebooks.cells import SourceError
from autograder.notebooks.functions_table import MARK, with_functions
from autograder.notebooks.source import LessonSource
from course_lib.lessons.patients import broken, parts
from tests.synthetic import TOP, write_lesson

COURSE = Course.here()
CELL = "# %%\nfrom course_lib.lessons.patients.parts import {}  # mend\n"


def code_of(function: object) -> str:
    return inspect.getsource(function).rstrip()


def mended_cell(tmp_path, name: str) -> NotebookNode:
    source = LessonSource(write_lesson(tmp_path, f"{TOP}\n\n{CELL.format(name)}"))
    return teacher_notebook(source).cells[-1]


def test_teacher_has_the_healthy_and_learner_the_broken_function(tmp_path):
    cell = mended_cell(tmp_path, "causal_mask")
    assert cell.source == code_of(parts.causal_mask)
    learner = _for_learners(new_notebook(cells=[cell])).cells[0]
    assert learner.source == code_of(broken.causal_mask)
    assert learner.metadata[ANSWER_KEY] == {"mend": True}


def test_other_cells_stay_as_they_are():
    cell = new_code_cell("x = 1", metadata={ANSWER_KEY: {"earlier": []}})
    assert _for_learners(new_notebook(cells=[cell])).cells[0].source == "x = 1"


@pytest.mark.parametrize("name", ["feed_forward", "Parts_"])
def test_function_that_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(SourceError, match=f"has no function '{name}'"):
        mended_cell(tmp_path, name)


def test_table_has_each_function_once():
    text = with_functions(f"before\n\n{MARK}", COURSE, lambda lesson: f"[{lesson}]()")
    assert MARK not in text
    rows = [row for row in text.splitlines() if row.startswith("| [")]
    for name in exercise_names():
        (row,) = [row for row in rows if f"`{name}`" in row]
        assert load(name).lesson in row
        assert load(name).reference.__module__.rpartition(".")[2] in row
    assert f"{len(exercise_names())} functions" in text


def test_text_without_the_mark_stays():
    assert with_functions("as it is", COURSE, str) == "as it is"
