"""``autograder build --check``: each file that is not as a build would make it."""

import json
import os
import shutil
import subprocess
import sys

import nbformat
import pytest

from autograder.course import Course, write_together
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.build import as_text, differences, learner_text, strays
from autograder.notebooks.source import LessonSource
from tests.notebooks.one_lesson import HERE, cell, files, notebooks
from tests.synthetic import (
    LESSON,
)


def test_fresh_build_has_no_differences(built):
    assert differences(built, LESSON) == []


def test_outputs_of_the_teacher_are_left_to_nbval(built):
    teacher = notebooks(built)[0]
    code = cell(teacher, "a-lesson-2")
    code.execution_count = 9
    code.outputs = [nbformat.v4.new_output("stream", text="7\n")]
    built.teacher(LESSON).write_text(as_text(teacher))
    assert differences(built, LESSON) == []


def _edit(path, change):
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    path.write_text(as_text(notebook))


CHANGES = {
    "in cell a-lesson-1": lambda n: n.cells[0].update(source="changed"),
    "in cell check-double": lambda n: n.cells[4].metadata.nbgrader.update(points=99),
    "in cell a-lesson-2": lambda n: n.cells[1].metadata.update(tags=["new"]),
    "in length: 4, not 5 cells": lambda n: n.cells.pop(),
    "in length: 6, not 5 cells": lambda n: n.cells.append(
        nbformat.v4.new_raw_cell("x", id="extra")
    ),
    "in its metadata": lambda n: n.metadata.kernelspec.update(name="other"),
}


@pytest.mark.parametrize("where", CHANGES)
@pytest.mark.parametrize("whose", ["teacher", "learner"])
def test_check_finds_the_cell_changed_by_hand(built, whose, where):
    path = getattr(built, whose)(LESSON)
    _edit(path, CHANGES[where])
    before = files(built.root)
    name = built.relative(path)
    assert differences(built, LESSON) == [
        f"{name} differs from its source, first {where}"
    ]
    assert files(built.root) == before


def test_check_finds_an_output_in_the_learners_notebook(built):
    def run(notebook):
        notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="7\n")]

    _edit(built.learner(LESSON), run)
    (sentence,) = differences(built, LESSON)
    assert sentence.endswith("first in cell a-lesson-2")


@pytest.mark.parametrize("whose", ["teacher", "learner"])
def test_check_finds_another_formatting(built, whose):
    path = getattr(built, whose)(LESSON)
    path.write_text(json.dumps(json.loads(path.read_text())))
    (sentence,) = differences(built, LESSON)
    assert sentence.endswith("first in how it is written")


@pytest.mark.parametrize("whose", ["teacher", "learner"])
def test_missing_notebook_is_named(built, whose):
    path = getattr(built, whose)(LESSON)
    path.unlink()
    assert differences(built, LESSON) == [f"{built.relative(path)} is missing"]


@pytest.mark.parametrize("whose", ["teacher", "learner"])
@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"null", b'{"cells": [', b"\xff\xfe", b"<<<<<<< HEAD\n"],
    ids=repr,
)
def test_broken_notebook_is_named(built, whose, content):
    path = getattr(built, whose)(LESSON)
    path.write_bytes(content)
    (sentence,) = differences(built, LESSON)
    assert sentence.startswith(f"{built.relative(path)} cannot be read: ")


def test_notebook_without_its_source_is_named(built):
    for top in ("solutions", "notebooks"):
        stray = built.root / top / "91_gone" / "91_gone.ipynb"
        stray.parent.mkdir()
        stray.write_text("{}")
    assert strays(built) == [
        f"{top}/91_gone holds a notebook, but there is no source "
        "solutions/91_gone/91_gone.py: remove it"
        for top in ("notebooks", "solutions")
    ]


def test_course_has_no_strays():
    assert strays(HERE) == []


@pytest.mark.thorough
def test_check_finds_a_changed_word_of_a_docstring(tmp_path):
    root = tmp_path / "copy"
    for name in ("autograder", "course_lib", "solutions"):
        shutil.copytree(
            HERE.root / name, root / name, ignore=shutil.ignore_patterns("*.ipynb")
        )
    for name in ("nbgrader_config.py", "releases.json"):
        shutil.copy(HERE.root / name, root)
    copy = Course(root)
    for lesson in copy.lessons:
        teacher = teacher_notebook(LessonSource(copy.source(lesson)))
        learner = learner_text(root, lesson, teacher)
        write_together(
            {copy.teacher(lesson): as_text(teacher), copy.learner(lesson): learner}
        )
        assert differences(copy, lesson) == []
    library = root / "course_lib" / "attention.py"
    text = library.read_text()
    assert text.count("Score how well each query") == 1
    library.write_text(text.replace("Score how well each", "Score how badly each"))
    before = _without_caches(root)
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "build", "--check"],
        cwd=root / "solutions",
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    lesson = "01_dot_product_attention"
    assert done.stderr.splitlines() == [
        f"{top}/{lesson}/{lesson}.ipynb differs from its source, first in cell "
        "scaled_scores"
        for top in ("solutions", "notebooks")
    ] + ["Run `autograder build` and commit what it makes."]
    assert (done.returncode, done.stdout) == (1, "")
    assert _without_caches(root) == before


def _without_caches(root):
    return {p: b for p, b in files(root).items() if "__pycache__" not in p.parts}
