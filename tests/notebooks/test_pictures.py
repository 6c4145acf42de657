"""How alternative texts leave the notebooks, and reach the pages all the same."""

import json

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.book.in_page.cells import PageCells
from autograder.course import Course
from autograder.notebooks.cells import SourceError
from autograder.notebooks.source import LessonSource
from course_lib import figures
from course_lib.figures.alternatives import (
    VARIABLE,
    alternative_text,
    digest,
    name_of,
)
from tests.synthetic import LESSON, TOP, write_lesson

COURSE = Course.here()
TEXT = "Two bars, the left one is longer."
NAME = name_of(LESSON, TEXT)


def read(folder, *rows):
    cell = "\n".join(rows)
    return LessonSource(write_lesson(folder, f"{TOP}\n# %%\n{cell}\n"))


def test_text_above_its_picture_leaves_the_cell(tmp_path):
    source = read(
        tmp_path, f'alt = "{TEXT}"', "bars = {}", "figures.bars(bars, alt=alt)"
    )
    code = "bars = {}\nfigures.bars(bars)"
    assert source.cells[-1].text == code
    assert source.texts == {digest(code): TEXT}


def test_cell_is_known_with_its_assertions_and_without(tmp_path):
    rows = [f'alt = "{TEXT}"', "assert 1 < 2", "figures.bars(alt=alt)"]
    source = read(tmp_path, *rows)
    codes = ("assert 1 < 2\nfigures.bars()", "figures.bars()")
    assert source.texts == {digest(code): TEXT for code in codes}


def test_call_that_is_short_without_its_text_has_one_row(tmp_path):
    long = ["figures.bars(", f"    {'b' * 70}, alt=alt", ")"]
    assert read(tmp_path, f'alt = "{TEXT}"', *long).cells[-1].text == (
        f"figures.bars({'b' * 70})"
    )
    rows = ["figures.bars(", "    a,", "    alt=alt,", ")"]
    assert read(tmp_path, f'alt = "{TEXT}"', *rows).cells[-1].text == (
        "figures.bars(\n    a,\n)"
    )


def test_second_picture_with_the_same_code_names_its_text(tmp_path):
    rows = [f'alt = "{TEXT}"', "figures.bars(a, alt=alt)", "", "# %% [markdown]"]
    rows += ["# Again.", "", "# %%", 'alt = "Now three bars."']
    source = read(tmp_path, *rows, "figures.bars(a, alt=alt)")
    name = name_of(LESSON, "Now three bars.")
    second = f'figures.bars(a, alt="{name}")'
    assert source.cells[-1].text == second
    assert source.texts == {
        digest("figures.bars(a)"): TEXT,
        digest(second): "Now three bars.",
    }


@pytest.mark.parametrize(
    "rows",
    [
        ('alt = f"{2} bars and one more."', "figures.bars(alt=alt)"),
        (f'alt = "{TEXT}"', "figures.bars(1)"),
        (f'alt = "{TEXT}"', f'alt = "{TEXT}"', "figures.bars(alt=alt)"),
        (f'alt = "{TEXT}"', 'figures.bars(alt=alt + "!")'),
        ("figures.bars(alt=alt)",),
    ],
)
def test_text_that_is_no_literal_above_one_picture_is_refused(tmp_path, rows):
    with pytest.raises(SourceError, match="an alternative text is a literal"):
        read(tmp_path, *rows)


def test_second_text_of_the_same_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("course_lib.figures.alternatives.name_of", lambda *_: "01-0")
    rows = [f'alt = "{TEXT}"', "figures.bars(a, alt=alt)", "", "# %% [markdown]"]
    rows += ["# Again.", "", "# %%", 'alt = "Now three bars."', "figures.bars(alt=alt)"]
    with pytest.raises(SourceError, match=r"same name: change a word in 'Now three"):
        read(tmp_path, *rows)


def test_loop_of_assertions_only_is_refused(tmp_path):
    with pytest.raises(SourceError, match="write assert all"):
        read(tmp_path, "for i in range(3):", "    assert i < 3")


def test_figures_find_the_texts_of_every_lesson():
    texts = {}
    for lesson in COURSE.lessons:
        for key, text in LessonSource(COURSE.source(lesson)).texts.items():
            # Two lessons with the same code for a picture could not be told apart.
            assert texts.setdefault(key, text) == text
            assert alternative_text(name_of(lesson, text)) == text


CODE = "figures.bars(['a'], {'b': [2.0]}, xlabel='c')"


def drawn(code):
    """Run a cell as a page does; return the alternative text of what it draws."""
    page = PageCells()
    page.run("first", "from course_lib import figures")
    (output,) = page.run("second", code)["outputs"]
    return output["alt"]


@pytest.fixture
def text_of_code(tmp_path, monkeypatch):
    path = tmp_path / "texts.json"
    path.write_text(json.dumps({digest(CODE): TEXT}))
    monkeypatch.setenv(VARIABLE, str(path))


@pytest.mark.usefixtures("text_of_code")
def test_text_is_that_of_the_cell_that_runs():
    assert drawn(CODE) == drawn(f"\n{CODE}  \n") == TEXT


@pytest.mark.usefixtures("text_of_code")
def test_changed_cell_has_no_text_and_says_so():
    changed = drawn(CODE.replace("2.0", "3.0"))
    assert changed == (
        "A picture by figures.bars, drawn by code that the course does not describe"
    )


@pytest.mark.usefixtures("text_of_code")
def test_kernel_finds_the_text_of_the_cell_that_runs():
    cells = ["from course_lib import figures", CODE, CODE.replace("2.0", "3.0")]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    _, described, changed = notebook.cells
    assert f'alt="{TEXT}"' in described.outputs[0].data["text/html"]
    assert "does not describe" in changed.outputs[0].data["text/html"]


def test_name_that_the_course_has_no_longer_says_so():
    figure = figures.bars(["a"], {"b": [2.0]}, xlabel="c", alt="01-0000")
    assert figure.alt.startswith("A picture of an older copy of lesson 01")


@pytest.mark.parametrize("alt", ["", "Bars", "01-xyz", "1-3f2a"])
def test_alternative_text_is_still_required(alt):
    with pytest.raises(ValueError, match="must say in words"):
        figures.bars(["a"], {"b": [2.0]}, xlabel="c", alt=alt)
