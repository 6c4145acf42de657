"""How predictions are read from a source."""

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


def test_options_are_a_list_with_the_right_one_in_metadata(tmp_path):
    path = write_lesson(tmp_path, TOP + PREDICTION)
    cells = teacher_notebook(LessonSource(path)).cells
    (cell,) = [each for each in cells if prediction_of(each)]
    assert cell.source.startswith("**Predict:** how many?\n\n- One.\n- Two.\n\n")
    assert cell.metadata == {"attention": {"prediction": {"right": 1}}}


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


@pytest.mark.parametrize("lesson", COURSE.lessons)
def test_code_follows_each_prediction(lesson):
    cells = LessonSource(COURSE.source(lesson)).cells
    for at, cell in enumerate(cells):
        if cell.right is None:
            assert "**Predict" not in cell.text or cell.kind != "prose", cell.line
        else:
            assert cells[at + 1].kind == "code", f"line {cell.line}: no run below it"


@pytest.mark.parametrize(
    ("code", "tells"),
    [("12", True), ("'apples'", True), ("3", False), ("12 == 3", True)],
)
def test_code_with_one_word_of_the_answer_tells_it(tmp_path, code, tells):
    options = "# - [ ] Three pears.\n# - [x] Twelve apples.\n"
    text = f"{TOP}# %% [markdown]\n{QUESTION}{options}\n# %%\nprint({code})\n"
    *_, cell = LessonSource(write_lesson(tmp_path, text)).cells
    assert (cell.kind, cell.tells) == ("code", tells)


def test_cell_without_options_stays_as_it_is():
    assert read_prediction("**Predict** it.") == ("**Predict** it.", None)
