"""How alternative texts leave the notebooks, and reach the pages all the same."""

import pytest

from autograder.course import Course
from autograder.notebooks.cells import SourceError
from autograder.notebooks.pictures import name_of
from autograder.notebooks.source import LessonSource
from course_lib import figures
from course_lib.figures.alternatives import alternative_text
from tests.synthetic import LESSON, TOP, write_lesson

COURSE = Course.here()
TEXT = "Two bars, the left one is longer."
NAME = name_of(LESSON, TEXT)


def read(folder, *rows):
    cell = "\n".join(rows)
    return LessonSource(write_lesson(folder, f"{TOP}\n# %%\n{cell}\n"))


def test_cell_names_the_text_that_stands_above_its_picture(tmp_path):
    source = read(
        tmp_path, f'alt = "{TEXT}"', "bars = {}", "figures.bars(bars, alt=alt)"
    )
    assert source.cells[-1].text == f'bars = {{}}\nfigures.bars(bars, alt="{NAME}")'
    assert source.texts == {NAME: TEXT}


def test_call_that_is_too_long_with_a_name_has_rows(tmp_path):
    arguments = ", ".join(["bars"] * 11)
    call = f"figures.bars({arguments}, alt=alt)"
    assert len(call) <= 88
    (text,) = [read(tmp_path, f'alt = "{TEXT}"', call).cells[-1].text]
    assert text == f'figures.bars(\n    {arguments}, alt="{NAME}"\n)'


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


def test_loop_of_assertions_only_is_refused(tmp_path):
    with pytest.raises(SourceError, match="write assert all"):
        read(tmp_path, "for i in range(3):", "    assert i < 3")


@pytest.mark.parametrize("lesson", COURSE.lessons)
def test_figures_find_the_texts_of_every_lesson(lesson):
    texts = LessonSource(COURSE.source(lesson)).texts
    assert {name: alternative_text(name) for name in texts} == texts


def test_picture_has_the_text_and_not_its_name():
    (name, *_), (text, *_) = zip(
        *LessonSource(COURSE.source(COURSE.lessons[1])).texts.items(), strict=True
    )
    figure = figures.bars(["a"], {"b": [2.0]}, xlabel="c", alt=name)
    assert figure.alt == text and name not in figure.html()


def test_name_that_the_course_has_no_longer_says_so():
    figure = figures.bars(["a"], {"b": [2.0]}, xlabel="c", alt="01-0000")
    assert figure.alt.startswith("A picture of an older copy of lesson 01")


@pytest.mark.parametrize("alt", ["", "Bars", "01-xyz", "1-3f2a"])
def test_alternative_text_is_still_required(alt):
    with pytest.raises(ValueError, match="must say in words"):
        figures.bars(["a"], {"b": [2.0]}, xlabel="c", alt=alt)
