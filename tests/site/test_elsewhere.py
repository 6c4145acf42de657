"""A lesson in Colab and Kaggle: links, and the first cell."""

import pytest

from autograder.book.elsewhere import REPOSITORY, elsewhere, first_cell, repository
from autograder.book.lessons import Lesson

LESSON = Lesson("06_byte_pair_encoding", "Byte-pair encoding", "", 70, ())


def test_page_leads_to_colab_and_kaggle():
    text = elsewhere(LESSON, "owner/name").source
    file = "owner/name/blob/main/notebooks/06_byte_pair_encoding/06_byte_pair_encoding"
    assert f"(https://colab.research.google.com/github/{file}.ipynb)" in text
    assert f"?src=https://github.com/{file}.ipynb)" in text
    assert first_cell(LESSON.name, "owner/name") in text


@pytest.mark.parametrize(
    ("lesson", "lines"), [("01_x", 1), ("06_x", 2), ("07_x", 3), ("15_x", 3)]
)
def test_first_cell_installs_what_the_lesson_needs(lesson, lines):
    cell = first_cell(lesson, "owner/name")
    assert len(cell.splitlines()) == lines
    assert "--no-deps" in cell.splitlines()[0]


@pytest.mark.parametrize("name", ["", "name", "a/b/c", "a/b)", "https://a/b"])
def test_without_a_repository_there_are_no_links(monkeypatch, name):
    monkeypatch.setenv(REPOSITORY, name)
    assert repository() == ""
    monkeypatch.setenv(REPOSITORY, "owner/name.py")
    assert repository() == "owner/name.py"
