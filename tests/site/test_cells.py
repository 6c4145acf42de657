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
from nbformat.v4 import new_code_cell, new_notebook

import autograder
from autograder.book.cells import (
    LAST,
    add_cells,
    cells_of,
    needed_by,
    write_cells,
)
from autograder.book.in_page import cells as page_cells
from autograder.book.in_page.cells import PageCells
from autograder.book.lessons import lesson_page
from autograder.book.wheel import MAX_BYTES, wheel
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
    "00": (15, 1),
    "01": (27, 2),
    "02": (24, 16),
    "03": (25, 8),
    "04": (25, 14),
    "05": (30, 10),
    "06": (18, 38),
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
    results, stored = json.loads(done.stdout), stored_text(lesson)
    assert len(results) == COUNTS[lesson[:2]][0]
    for name, result in results.items():
        outputs = result["outputs"]
        texts = [each.get("text", "") for each in outputs if "svg" not in each]
        assert "".join(texts) == stored[name], name
        assert not result["stopped"]
        pictures = [each for each in outputs if "svg" in each]
        assert all(each["alt"] and "<svg" in each["svg"] for each in pictures)


def test_archive_for_cells_is_small_and_apart_from_the_wheel(archive):
    folder, data = archive
    assert len(data) < MAX_BYTES / 5
    with (
        zipfile.ZipFile(io.BytesIO(data)) as file,
        zipfile.ZipFile(io.BytesIO(wheel())) as other,
    ):
        assert not {*file.namelist()} & {*other.namelist()}
        assert "course_lib/experiments/recall.json" in file.namelist()
    assert not [*folder.rglob("recall.py")]  # needs PyTorch


def test_name_of_a_cell_that_does_not_run_is_absent_below():
    def code(name, text):
        return new_code_cell(text, id=name)

    notebook = new_notebook(
        cells=[
            code("a", "import torch\nx = y = 1"),
            code("b", "x"),
            code("c", "x = 2\ndef f(): return x"),
            code("d", "def g(): return y"),
            code("e", "g()\nassert f"),
            code("f", "[y for y in 'ab']"),
            code("g", "f() + x\nfrom course_lib import figures"),
            code("h", "from course_lib.corpora import translations"),
        ]
    )
    needs = {each.name: each.needs for each in cells_of(notebook)}
    torch = dict.fromkeys("abde", "PyTorch")
    assert needs == torch | dict.fromkeys("cfg", "") | {"h": "the course's data"}
    assert [each.name for each in cells_of(notebook) if each.draws] == ["g"]


def test_page_marks_its_cells_and_tells_of_them(notebooks):
    name = LESSONS[2]
    page = block_of(notebooks[name], name)
    cells = [each for each in page.cells if each.cell_type == "code"]
    block = page.cells[-1].source
    steps = json.loads(block[block.index("{") : block.rindex("}") + 1])["cells"]
    marks = [tag for each in cells for tag in each.metadata.get("tags", ())]
    for index, step in enumerate(steps):
        assert (f"live-{index}" in marks) == ("id" in step)
    later = block_of(notebooks[name], "07_from_numpy_to_pytorch")
    assert later.cells[-1].id != "live-cells"


def outputs_of(page, text, **answers):
    """Run a text as a cell; return its outputs as pairs of kind and text."""
    outputs = page.run("cell", text, answers)["outputs"]
    return [(each["kind"], each.get("text", "")) for each in outputs]


def test_cells_share_names_and_show_the_last_value():
    page = PageCells()
    assert outputs_of(page, "a = 3\nprint('one')\na + 1") == [
        ("text", "one\n"),
        ("text", "4\n"),
    ]
    assert outputs_of(page, "a;") == [] == outputs_of(page, "None")
    in_order = [("text", "x\n"), ("text", "3\n"), ("text", "y\n")]
    assert outputs_of(page, "print('x'); display(a); print('y')") == in_order


def test_error_of_a_cell_begins_with_its_own_line():
    page = PageCells()
    ((kind, text),) = outputs_of(page, "b = 1\nb / 0")
    assert kind == "error" and "line 2" in text and "ZeroDivisionError" in text
    assert "cells_in_page" not in text
    assert page.run("cell", "unheard")["unknown"] == "unheard"
    assert "SyntaxError" in outputs_of(page, "a b")[0][1]
    assert "more characters" in outputs_of(page, "print('x' * 10**6)")[0][1]
    assert "more characters" in outputs_of(page, "'x' * 10**6")[0][1]


@pytest.mark.parametrize("alarms", [True, False])
def test_endless_cell_is_stopped_and_names_stay(monkeypatch, alarms):
    if not alarms and sys.version_info < (3, 12):
        pytest.skip("Python's clock at jumps is there from 3.12 on, as in the page")
    monkeypatch.setattr(page_cells, "CELL_SECONDS", 0.2)
    monkeypatch.setattr(page_cells, "has_alarms", lambda: alarms)
    page = PageCells()
    page.run("cell", "def forever():\n    while True:\n        pass\na = 1")
    assert outputs_of(page, "forever()")[-1] == (
        "error",
        "It was stopped after 0.2 seconds.",
    )
    assert outputs_of(page, "a") == [("text", "1\n")]


def test_cell_calls_the_own_answer_if_it_runs():
    page = PageCells()

    def run(answer):
        result = page.run("cell", "print(softmax(np.zeros(2)))", {"softmax": answer})
        return result["outputs"][0]["text"], result["uses"]

    course = "[0.5 0.5]\n", "Run with the course's `softmax`."
    assert run("") == course
    assert run(SOFTMAX) == ("[7. 7.]\n", "Run with your own `softmax`.")
    assert run("def softmax(x:") == course
    assert run(f"def softmax(x):\n{NO_ANSWER}\n") == course
    assert run("softmax = 3") == course
    # A cell may bind it to something else, which stays.
    page.run("cell", "softmax = len", {"softmax": ""})
    assert run("")[0] == "2\n"
    assert page.run("cell", "1", {"softmax": ""})["uses"] == ""


def test_check_in_a_cell_reports_to_the_page():
    page = PageCells()
    page.run("cell", "from autograder import check", {"softmax": SOFTMAX})
    (output,) = page.run("cell", "check(softmax)", {"softmax": SOFTMAX})["outputs"]
    assert output["kind"] == "html" and "softmax" in output["html"]
    assert autograder.check is not page._check


def test_plots_and_tables_are_data():
    page = PageCells()
    plot = "import matplotlib.pyplot as plt\nline = plt.plot([1, 2])"
    (output,) = page.run("cell", plot)["outputs"]
    assert output["kind"] == "png" and output["png"].startswith("iVBOR")
    table = (
        "class T:\n    def _repr_html_(self):\n        return '<table></table>'\nT()"
    )
    assert page.run("cell", table)["outputs"] == [
        {"kind": "html", "html": "<table></table>"}
    ]


def test_living_picture_comes_as_numbers_without_a_script():
    page = PageCells()
    words = "['a', 'b'], ['c', 'd'], alt='A </script> in words.'"
    text = (
        f"from course_lib import figures\nfigures.attention_lines(np.eye(2), {words})"
    )
    (output,) = page.run("cell", text)["outputs"]
    assert output["kind"] == "living" and output["alt"] == "A </script> in words."
    assert output["view"] in dict(page_scripts())
    assert "html" not in output and "mount(" not in json.dumps(output)


def test_list_of_fonts_gets_the_number_of_matplotlib(tmp_path, monkeypatch):
    folder = tmp_path / "matplotlib"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "font_manager.py").write_text("class A:\n    __version__ = 330\n")
    fonts = folder / "fontlist.json"
    fonts.write_text('{"_version": 390, "size": 390}')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page_cells.use_list_of_fonts()  # it has been read by then
    assert "390," in fonts.read_text()
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    page_cells.use_list_of_fonts()
    assert fonts.read_text() == '{"_version": 330, "size": 390}'
    fonts.unlink()
    page_cells.use_list_of_fonts()
    assert not fonts.exists()


@pytest.mark.parametrize("module", ["torch", "course_lib.nn", "tokenizers", "pandas"])
def test_what_a_page_lacks_is_said_in_words(module):
    words = {"torch": "PyTorch", "course_lib.nn": "PyTorch"}
    assert needed_by(module) == words.get(module, f"the package {module}")
    assert needed_by("course_lib.figures") == needed_by("json") == ""
