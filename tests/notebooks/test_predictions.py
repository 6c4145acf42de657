"""How predictions are read from a source, and what is collapsed below them."""

import re

import pytest

from autograder.course import Course
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.cells import SourceError
from autograder.notebooks.predictions import read_prediction
from autograder.notebooks.source import LessonSource
from autograder.workspace.answer_cell import prediction_of
from tests.synthetic import TOP, write_lesson

COURSE = Course.here()
QUESTION = "# **Predict:** how many?\n#\n"
PREDICTION = f"# %% [markdown]\n{QUESTION}# - [ ] One.\n# - [x] Two.\n"
RUN = """
# %%
two = 1 + 1
print(two)
# It is two.
assert two == 2
assert two > 1

# %%
alt = "Two dots."
print(alt)

# %%
assert two < 3

# %% [markdown]
# So there are two.

# %%
print("no run of a prediction")
assert two == 2

# %%
alt = "Two dots again."
print(alt)

# %% [markdown]
# ## Something else

# %%
alt = "Three dots."
print(alt)
"""


@pytest.fixture
def cells(tmp_path):
    def read(text):
        notebook = teacher_notebook(LessonSource(write_lesson(tmp_path, TOP + text)))
        return {cell.id: cell for cell in notebook.cells}

    return read


def is_collapsed(cell):
    hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    assert hidden == ("hide-input" in cell.metadata.get("tags", []))
    return hidden


def test_options_are_a_list_with_the_right_one_in_metadata(cells):
    (cell,) = [each for each in cells(PREDICTION).values() if prediction_of(each)]
    assert cell.source == "**Predict:** how many?\n\n- One.\n- Two."
    assert cell.metadata == {"attention": {"prediction": {"right": 1}}}


def test_assertions_and_drawings_of_a_run_are_collapsed(cells):
    read = list(cells(PREDICTION + RUN).values())
    first, claims, drawing, assertion, prose, other, below, _, elsewhere = read[-9:]
    assert first.source == "two = 1 + 1\nprint(two)" and not is_collapsed(first)
    assert claims.source == "# It is two.\nassert two == 2\nassert two > 1"
    assert claims.id == f"{first.id}-claims" and is_collapsed(claims)
    assert is_collapsed(drawing) and drawing.source.startswith("alt =")
    assert is_collapsed(assertion) and assertion.source == "assert two < 3"
    assert prose.source == "So there are two."
    assert not is_collapsed(other) and "assert" in other.source
    assert is_collapsed(below) and not is_collapsed(elsewhere)


def test_ids_are_those_without_the_cells_of_assertions(cells):
    with_claims, without = cells(PREDICTION + RUN), cells(RUN)
    names = [name for name in with_claims if not name.endswith("-claims")]
    assert len(names) == 1 + len(without)
    assert len(with_claims) == 2 + len(without)


def test_lines_of_errors_are_those_of_the_source(tmp_path):
    path = write_lesson(tmp_path, TOP + PREDICTION + RUN)
    rows = path.read_text().splitlines()
    (claims,) = [each for each in LessonSource(path).cells if each.kind == "claims"]
    assert rows[claims.line].strip() == "# It is two."


@pytest.mark.parametrize(
    "text, what",
    [
        ("# - [x] One.\n# - [ ] Two.\n", "question"),
        (f"{QUESTION}# - [ ] One.\n# - [ ] Two.\n", "not 0"),
        (f"{QUESTION}# - [x] One.\n# - [x] Two.\n", "not 2"),
        (f"{QUESTION}# - [x] One.\n", "2 to 5 options"),
        (f"{QUESTION}# - [x] One.\n# - [ ] Two.\n#\n# More.\n", "end its cell"),
        (f"{QUESTION}# - [x] One.\n# and so on\n# - [ ] Two.\n", "end its cell"),
    ],
)
def test_odd_options_are_refused_with_their_line(tmp_path, text, what):
    path = write_lesson(tmp_path, f"{TOP}# %% [markdown]\n{text}")
    line = 1 + path.read_text().splitlines().index("# %% [markdown]", TOP.count("\n"))
    with pytest.raises(SourceError, match=rf":{line}: .*{what}"):
        LessonSource(path)


def test_assertion_above_other_code_of_a_run_is_refused(tmp_path):
    path = write_lesson(tmp_path, f"{TOP}{PREDICTION}\n# %%\nassert 1 < 2\nprint(2)\n")
    line = path.read_text().splitlines().index("assert 1 < 2") + 1
    with pytest.raises(SourceError, match=f":{line}: .*at the end of their cell"):
        LessonSource(path)


@pytest.mark.parametrize("lesson", COURSE.lessons)
def test_no_prediction_of_a_lesson_is_told_before_the_run(lesson):
    """Nothing that a reader sees between a prediction and its run is an assertion."""
    cells = LessonSource(COURSE.source(lesson)).cells
    for at, cell in enumerate(cells):
        if cell.right is None:
            assert "**Predict" not in cell.text or cell.kind != "prose", cell.line
            continue
        below = cells[at + 1 :]
        run = [each.kind != "prose" for each in below]
        count = run.index(False) if False in run else len(run)
        assert count, f"line {cell.line}: no run below the prediction"
        for each in below[:count]:
            answer = re.search(r"^\s*assert\b|\balt ?=", each.text, re.MULTILINE)
            assert each.collapsed or not answer, f"line {each.line}: {answer}"


def test_cell_without_options_stays_as_it_is():
    assert read_prediction("**Predict** it.") == ("**Predict** it.", None)
