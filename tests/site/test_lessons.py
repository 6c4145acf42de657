"""A lesson as a page: what is left out, folded and linked."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.book.build import as_markdown, book_pages, points
from autograder.book.lessons import (
    contract,
    folded_solution,
    hints,
    lesson_page,
    prose,
    read_lesson,
    solution_cell,
)
from autograder.checking.registry import load
from autograder.course import Course
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.source import LessonSource

RUNNING = re.compile(
    r"Shift ?\+|toolbar|Kernel →|\b[Rr]un\W+(?:\w+\W+){0,3}?(?:cells?|check)\b"
)
LESSONS = ["00_start_here", "01_dot_product_attention"]
HOME = "[Home](../home.md) · [← Start](../00_start_here/00_start_here.ipynb) · [→](b)"
ANSWER = '''def double(x):
    """Return twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION'''


@pytest.fixture
def notebook():
    answer = new_code_cell(ANSWER, id="double")
    answer.metadata["nbgrader"] = {"solution": True}
    heading = "### Exercise: double · 5 min · ●○○\n\nWrite it.\n\n<details>"
    html = (
        '<a href="../00_start_here/00_start_here.ipynb#one">00</a> ../09_x/09_x.ipynb'
        '<p class="attention-possible">You can now.</p>'
    )
    data = {"text/html": html, "text/plain": "00", "application/x+json": {}}
    drawn = new_code_cell(
        "draw()", id="draw", outputs=[new_output("display_data", data)]
    )
    start = f"# Title\n\n**What is it?**\n\n**About 40 minutes.** Lesson 00.\n\n{HOME}"
    cells = [new_markdown_cell(start), new_markdown_cell(heading), answer, drawn]
    return new_notebook(cells=cells)


def test_home_line_is_dropped_and_nothing_else(notebook):
    text = lesson_page(notebook, LESSONS).cells[0].source
    assert text.startswith("# Title\n") and "Home" not in text
    end = new_notebook(
        cells=[new_markdown_cell(f"## In three lines\n\nOne.\n\n{HOME}")]
    )
    assert lesson_page(end, LESSONS).cells[0].source.strip().endswith("One.")
    no_line = new_notebook(cells=[new_markdown_cell("[Home](x.md) is\n\n# Title")])
    assert lesson_page(no_line, LESSONS).cells[0].source.startswith("[Home](x.md)")


def test_cell_with_only_the_home_line_makes_none():
    page = lesson_page(new_notebook(cells=[new_markdown_cell(HOME)]), LESSONS)
    assert page.cells == []


def test_page_leaves_the_notebook_as_it_is(notebook):
    before = notebook.copy(), [cell.copy() for cell in notebook.cells]
    lesson_page(notebook, LESSONS)
    assert (notebook, notebook.cells) == before


def test_heading_is_short_and_leads_to_a_page(notebook):
    text = lesson_page(notebook, LESSONS).cells[1].source
    assert text.startswith("### Exercise: double\n\n5 min · ●○○ · [")
    assert "(../exercises/double.md)" in text


def test_solution_is_folded_below_its_contract(notebook):
    text = lesson_page(notebook, LESSONS).cells[2].source
    above, _, folded = text.partition('<details class="solution">')
    assert (
        '"""Return twice x."""\n    raise NotImplementedError' in above
        and "2 * x" not in above
    )
    assert "```python\ndef double(x):\n    return 2 * x\n```" in folded
    assert "SOLUTION" not in text and folded.rstrip().endswith("</details>")


def test_words_of_running_cells_are_left_out():
    only = '<span class="in-notebook">Run the\ncell.</span>'
    texts = [only, f"- {only}\n- Read.", f"One.\n\n{only} Two.", f"One{only}."]
    cells = map(new_markdown_cell, [*texts, f"a, {only} b"])
    page = lesson_page(new_notebook(cells=[*cells]), LESSONS)
    expected = ["- Read.", "One.\n\n Two.", "One.", "a, b"]
    assert [cell.source for cell in page.cells] == expected


@pytest.mark.parametrize("lesson", Course.here().lessons)
def test_no_page_asks_to_run_a_cell(lesson):
    source = LessonSource(Course.here().source(lesson))
    page = lesson_page(teacher_notebook(source), [])
    texts = [cell.source for cell in page.cells if cell.cell_type == "markdown"]
    assert [text for text in texts if RUNNING.search(text)] == []


def test_outputs_lead_to_pages_and_keep_html_only(notebook):
    data = lesson_page(notebook, LESSONS).cells[3].outputs[0].data
    assert list(data) == ["text/html"]
    assert '"../00_start_here/00_start_here.html#one"' in data["text/html"]
    assert "../09_x/09_x.ipynb" in data["text/html"]  # not in this book
    assert "You can" not in data["text/html"]  # who reads has solved nothing


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Lesson 00.", "[Lesson 00](../00_start_here/00_start_here.ipynb)."),
        ("lesson\n00", "[lesson\n00](../00_start_here/00_start_here.ipynb)"),
        ("lesson 09", "lesson 09"),
        ("`lesson 00` $lesson 00$", "`lesson 00` $lesson 00$"),
        ("[lesson 00](x)", "[lesson 00](x)"),
        ("## After lesson 00", "## After lesson 00"),
        ("[a](../09_x/09_x.ipynb#b)", "a"),
        ("[a](../00_start_here/00_start_here.ipynb#b)",) * 2,
        (
            "lessons 00 and 09",
            "lessons [00](../00_start_here/00_start_here.ipynb) and 09",
        ),
    ],
)
def test_mentions_of_lessons_become_links(text, expected):
    assert prose(text, LESSONS) == expected


def test_first_cell_says_title_question_and_minutes(notebook):
    lesson = read_lesson("07_x", notebook, {"double": load("softmax")})
    facts = lesson.title, lesson.question, lesson.minutes, lesson.number, lesson.page
    assert facts == ("Title", "What is it?", 40, "07", "07_x/07_x")
    assert lesson.points == load("softmax").points


def test_lesson_without_a_title_is_refused():
    with pytest.raises(ValueError, match=r"^07_x: the first cell has no title, a line"):
        read_lesson("07_x", new_notebook(cells=[new_markdown_cell("text")]), {})


def test_hints_are_what_stands_below_the_heading(notebook):
    assert hints(notebook, "double", LESSONS) == "Write it.\n\n<details>"
    with pytest.raises(ValueError, match=r"no heading '### Exercise: triple'"):
        hints(notebook, "triple", LESSONS)
    with pytest.raises(ValueError, match="no cell that answers triple"):
        solution_cell(notebook, "triple")


def test_signature_of_several_lines_stays_whole():
    source = ANSWER.replace("(x):", "(\n    x,\n):").replace('"""R', 'r"""R')
    assert "```python\ndef double(\n    x,\n):\n    return" in folded_solution(source)
    assert 'r"""Return twice x."""\n    raise NotImplementedError' in contract(source)


def test_function_to_be_mended_is_broken_and_its_solution_folded():
    cell = new_code_cell("mended", metadata={"attention": {"mend": "broken"}})
    (page,) = lesson_page(new_notebook(cells=[cell]), LESSONS).cells
    broken, _, mended = page.source.partition("<summary>Mended</summary>")
    assert "```python\nbroken\n```" in broken and "```python\nmended\n```" in mended


def test_claims_have_no_marks_of_markdown():
    assert as_markdown("a_b [c](d) `e_f` $g$") == r"a\_b \[c\](d) `e_f` \$g\$"
    assert (points(1), points(0.5)) == ("1 point", "0.5 points")


def test_book_without_lessons_counts_none(tmp_path):
    class Empty:
        root = tmp_path

    index = book_pages(Empty(), {})["index.md"]
    assert "front-card" not in index and "0 exercises" not in index
    assert "Try one now" not in index


@pytest.mark.parametrize("in_class", [False, True])
def test_only_the_book_of_a_class_shows_points(
    notebook, tmp_path, monkeypatch, in_class
):
    monkeypatch.setattr("autograder.book.build.in_class", lambda root: in_class)
    exercise = load("softmax")
    monkeypatch.setattr("autograder.book.build.exercises_of", lambda: [exercise])
    cell = next(each for each in notebook.cells if each.id == "double")
    cell.id, cell.source = "softmax", cell.source.replace("double", "softmax")
    heading = notebook.cells[1]
    heading.source = heading.source.replace("double", "softmax")

    class Folder:
        root = tmp_path

    pages = book_pages(Folder(), {"07_x": notebook})
    for name in ("exercises/index.md", "exercises/softmax.md"):
        assert ("points" in pages[name]) is in_class, name
    facts = pages["index.md"].partition('"front-facts">')[2].partition("<span")[0]
    assert ("points" in facts) is in_class and "1 exercise" in facts
    table = [
        row for row in pages["exercises/index.md"].splitlines() if row.startswith("|")
    ]
    assert len({row.count("|") for row in table}) == 1, table
