"""What can be skipped, and what is optional, on the pages of the book."""

import json
import re

import jinja2
import nbformat
import pytest

from autograder.book.build import book_pages
from autograder.book.front import front_page, sidebar
from autograder.book.lessons import read_lesson
from autograder.checking.registry import exercises_of
from autograder.course import Course
from autograder.workspace.outline import HEADING, MINUTES
from tests.browser import REPOSITORY

LESSON = "01_dot_product_attention"
TEMPLATES = REPOSITORY / "autograder" / "book" / "templates"


@pytest.fixture(scope="module")
def notebook():
    """Return the lesson's notebook; the last two of its exercises are optional."""
    notebook = nbformat.read(Course.here().teacher(LESSON), as_version=4)
    first = notebook.cells[0]
    more = "**About 70 minutes, and 45 more in *Going further*.**"
    first.source = re.sub(rf"{MINUTES.pattern}.*?\*\*", more, first.source)
    headings = [c for c in notebook.cells if HEADING.search(c.source)]
    for number, cell in enumerate(headings, 2 - len(headings)):
        cell.source = cell.source.replace(" · optional", "")
        if number >= 0:
            cell.source = HEADING.sub(r"\g<0> · optional", cell.source)
    return notebook


@pytest.fixture(scope="module")
def lesson(notebook):
    exercises = {each.name: each for each in exercises_of(LESSON)}
    return read_lesson(LESSON, notebook, exercises)


@pytest.fixture(scope="module")
def texts(notebook):
    return book_pages(Course.here(), {LESSON: notebook})


def test_lesson_has_minutes_and_exercises_of_both_parts(lesson):
    assert (lesson.minutes, lesson.further) == (70, 45)
    names = [each.name for each in lesson.exercises]
    assert lesson.optional == {*names[-2:]}
    assert [each.name for each in lesson.required] == names[:-2]
    assert lesson.points == sum(each.points for each in lesson.exercises[:-2])


def test_card_counts_the_core_and_what_goes_further(lesson, texts):
    index = texts["index.md"]
    n_required = len(lesson.required)
    assert f"1 lesson, {n_required} exercises" in index
    assert "take about 1 hour. What goes further, 2 optional exercises" in index
    assert f"70 minutes · {n_required} exercises" in index
    assert "<br>Going further: 45 minutes · 2 exercises <span" in index
    required, optional = re.findall(r'data-exercises="([^"]*)"', index)
    assert required.split() == [each.name for each in lesson.required]
    assert {*optional.split()} == lesson.optional


def test_lesson_without_such_a_part_has_a_card_of_one_line(lesson):
    values = front_page([], {})
    assert values["optional"] == 0 and values["further_hours"] == "0 hours"
    plain = nbformat.from_dict({"cells": [{"cell_type": "markdown", "id": "a"}]})
    plain.cells[0] |= {"source": "# Title\n\n**About 35 minutes.**", "metadata": {}}
    assert "Going further" not in book_pages(Course.here(), {"07_x": plain})["index.md"]


def test_lists_and_pages_mark_optional_exercises(lesson, texts):
    for exercise in lesson.exercises:
        name, is_optional = exercise.name, exercise.name in lesson.optional
        row = f"[{name}]({name}.md){' (optional)' * is_optional} |"
        assert row in texts["exercises/index.md"]
        assert (" · optional" in texts[f"exercises/{name}.md"]) == is_optional
    block = re.search(r'json">(.*?)</script>', texts["home.md"])[1]
    (data,) = json.loads(block)["lessons"]
    marked = {each["name"] for each in data["exercises"] if each["optional"]}
    assert data["further"] == 45 and marked == lesson.optional


def test_sidebar_parts_optional_exercises_from_the_others(lesson):
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES))
    template = environment.get_template("book-sidebar.html")
    about = {"pagename": lesson.page, "root_doc": "index", "pathto": str}
    html = template.render(**about, book_parts=sidebar([lesson]))
    parts = re.findall(r'<li class="book-further">(.+?)</li>|exercises/(\w+)"', html)
    names = [each.name for each in lesson.exercises]
    expected = [*names[:-2], "Going further", *names[-2:]]
    assert [title or name for title, name in parts][1:] == expected
