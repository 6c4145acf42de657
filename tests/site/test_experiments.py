"""Recorded experiments in the book: found in a lesson's imports, with their source."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.book.build import book_pages
from autograder.book.experiments import (
    FOLDER,
    experiment_page,
    experiments_of,
    links_to_experiments,
)
from autograder.course import Course
from tests.site.book import small_course

IMPORT = "from course_lib.experiments import {}"


def test_experiments_are_what_cells_import_and_has_a_record():
    notebook = new_notebook(
        cells=[
            new_code_cell("x = 1\n" + IMPORT.format("recall, record")),
            new_code_cell(IMPORT.format("translation_tables, two_heads, recall")),
            new_markdown_cell(IMPORT.format("norms")),
        ]
    )
    assert experiments_of(notebook) == ["recall", "two_heads"]


def test_page_has_an_experiments_command_and_source():
    page = experiment_page("recall")
    assert page.startswith("---\norphan: true\n---\n\n# recall\n")
    assert "python -m course_lib.experiments recall\n" in page
    source = (FOLDER / "recall.py").read_text(encoding="utf-8")
    assert f"```python\n{source}```" in page


def test_a_lesson_leads_to_its_experiments(tmp_path):
    course = Course(small_course(tmp_path))
    notebook = new_notebook(
        cells=[new_markdown_cell("# Recall"), new_code_cell(IMPORT.format("recall"))]
    )
    pages = book_pages(course, {"02_recall": notebook})
    link = links_to_experiments(["recall"]).source
    assert "(../experiments/recall.md)" in link
    assert link in pages["02_recall/02_recall.ipynb"]
    assert "experiments/recall" not in pages["index.md"]
    assert pages["experiments/recall.md"] == experiment_page("recall")
