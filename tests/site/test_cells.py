"""Cells of lessons in their pages: which run there, and what they show."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import numpy as np
import pytest

from autograder.book.cells import (
    LAST,
    add_cells,
    cells_of,
    files_of_cells,
    needed_by,
    write_cells,
)
from autograder.book.lessons import lesson_page
from autograder.book.wheel import MAX_BYTES, ROOT, wheel
from autograder.cells_in_page import PageCells
from autograder.checking.own_answer import NO_ANSWER
from autograder.course import Course
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.source import LessonSource
from course_lib.figures.living import page_scripts
from tests.browser import REPOSITORY

COURSE = Course.here()
LESSONS = [name for name in COURSE.built_lessons if name[:2] <= LAST]
# Code cells that run and that do not, but those of exercises.
COUNTS = {
    "00": (13, 1),
    "01": (28, 2),
    "02": (26, 14),
    "03": (25, 8),
    "04": (29, 15),
    "05": (29, 9),
    "06": (23, 36),
}
EXERCISES_THAT_DO_NOT = {"load_torch_parameters", "encode_bytes", "decode_bytes"}
SOFTMAX = "def softmax(x, axis=-1):\n    return x * 0 + 7\n"


@pytest.fixture(scope="module")
def notebooks():
    """Return the teacher's notebooks of the first lessons, without outputs."""
    sources = {name: LessonSource(COURSE.source(name)) for name in LESSONS}
    return {name: teacher_notebook(source) for name, source in sources.items()}


def block_of(notebook, lesson):
    """Return the page's cell that tells its script of the lesson's cells."""
    page = lesson_page(notebook, [])
    add_cells(page, lesson, notebook)
    return page


@pytest.fixture(scope="module")
def archive(notebooks, tmp_path_factory):
    """Return a folder with the modules that pages have, and the archive for cells."""
    folder, site = tmp_path_factory.mktemp("page"), tmp_path_factory.mktemp("live")
    pages = [block_of(each, name).cells[-1].source for name, each in notebooks.items()]
    data = write_cells(site, pages)
    for each in (wheel(), data):
        with zipfile.ZipFile(io.BytesIO(each)) as file:
            file.extractall(folder)
    return folder, data


def stored_text(lesson):
    """Return what the cells of an executed notebook have printed, by id."""
    notebook = nbformat.read(COURSE.teacher(lesson), as_version=4)
    return {
        cell.id: "".join(
            output.text for output in cell.outputs if output.output_type == "stream"
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


@pytest.mark.parametrize("lesson", LESSONS)
def test_so_many_cells_of_a_lesson_run(notebooks, lesson):
    cells = [each for each in cells_of(notebooks[lesson]) if not each.exercise]
    lacking = [each for each in cells if each.needs]
    assert (len(cells) - len(lacking), len(lacking)) == COUNTS[lesson[:2]]
    assert not cells[0].needs  # the set-up cell


def test_exercises_that_do_not_run_are_three(notebooks):
    cells = [each for notebook in notebooks.values() for each in cells_of(notebook)]
    exercises = {each.name: each.needs for each in cells if each.exercise}
    assert {name for name, needs in exercises.items() if needs} == EXERCISES_THAT_DO_NOT
    assert exercises["load_torch_parameters"] == "PyTorch"
    assert exercises["encode_bytes"] == "the package regex"


@pytest.mark.parametrize("lesson", LESSONS)
def test_cells_show_what_the_notebook_has_stored(notebooks, archive, lesson):
    block = block_of(notebooks[lesson], lesson).cells[-1].source
    steps = json.loads(block[block.index("{") : block.rindex("}") + 1])["cells"]
    script = REPOSITORY / "tests" / "site" / "bare_cells.py"
    packages = Path(np.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(archive[0]), str(packages)],
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown, stored = json.loads(done.stdout)["shown"], stored_text(lesson)
    assert len(shown) == COUNTS[lesson[:2]][0]
    for name, result in shown.items():
        outputs = result["outputs"]
        texts = [
            each["text"]
            for each in outputs
            if each["kind"] != "living" and each["kind"] != "drawing"
        ]
        assert "".join(texts) == stored[name], name
        assert not result["stopped"]
        pictures = [each for each in outputs if "svg" in each]
        assert all(each["alt"] and "<svg" in each["svg"] for each in pictures)
