"""Cells that Python cannot read, and names that no cell has made yet."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.messages.stopped import unreadable
from tests.executed import HEAD, SLIP, error, executed, plain

USES_NP = "def scaled_scores(q, k):\n    return np.einsum('id,jd->ij', q, k)"
USES_EARLIER = "def attention(q, k, v):\n    w = softmax(scaled_scores(q, k))"
MISSPELT = "def scaled_scores(q, k):\n    return q @ kk"


@pytest.mark.parametrize(
    ("answer", "name"), [(USES_NP, "np"), (USES_EARLIER, "softmax")]
)
def test_name_of_a_cell_that_has_not_run_is_no_wrong_answer(answer, name):
    call = f"check({answer[4:].partition('(')[0]})"
    (_, _, checked) = executed(HEAD, answer, call)
    explained = error(checked)
    assert (explained.ename, checked) == ("NotRunYet", [explained])
    assert explained.evalue.startswith(
        f"{name} is not there yet: run the cells above first"
    )


def test_function_of_another_lesson_is_said_to_be_missing():
    answer = "def scaled_scores(q, k):\n    return normalise_rows(q @ k.T)"
    (_, _, checked) = executed(HEAD, answer, "check(scaled_scores)")
    assert error(checked).ename == "NotRunYet"
    assert "normalise_rows is an exercise of lesson 00" in error(checked).evalue


def test_name_that_no_cell_above_makes_is_reported_as_before():
    (*_, checked) = executed(HEAD, MISSPELT, "check(scaled_scores)")
    assert error(checked).ename == "CheckFailed" and "kk" in plain(checked)


def test_name_imported_in_the_saved_notebook_is_not_there_yet(tmp_path):
    path = tmp_path / "lesson.ipynb"
    answer = MISSPELT.replace("kk", "einops.rearrange(k, 'a b -> b a')")
    cells = [new_code_cell("import einops"), new_code_cell(answer)]
    path.write_text(nbformat.writes(new_notebook(cells=cells)))
    save = f"import os\nos.environ['JPY_SESSION_NAME'] = {str(path)!r}"
    (*_, checked) = executed(HEAD, save, answer, "check(scaled_scores)")
    assert error(checked).ename == "NotRunYet"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def f(x)\n    return x", "A colon is missing"),
        (SLIP, "The bracket `(` in it is never closed."),
        ("def f(x):\n    return (x]", "The bracket `(` is closed by `]`"),
        ("if x = 3:\n    pass", "compared with `==`"),
        ("def f(x):\nreturn x", "indented by four spaces"),
        ("def f(x):\n    y = x\n      z = x", "indented further than"),
        ("def f(x):\n    if x:\n        y = x\n      z = x", "none of the lines above"),
        ("x = 'a", "never closed"),
        ("x = )", "was never opened"),
        ("f(1 2)", "A comma may be missing"),
        ("return 3", "A `return` belongs in a function"),
        ("a = f(x) return a", "two statements, `a = f(x)` and `return a`"),
        ("a = 1 b = 2", "two statements, `a = 1` and `b = 2`"),
        ("a = b c @ d", "Before `c @ d` something is missing"),
        ("for i in range(3) print(i)", "A colon is missing"),
        ("for i = 0:\n    pass", "its line has an `in`"),
        ("if a:\n    b = 1\nelse if c:\n    b = 2", "Python writes `elif`"),
        ("if a && b:\n    c = 1", "Python writes `and` and `or`"),
        ("if !a:\n    c = 1", "Python writes `not`"),
        ("i++", "`+= 1` adds 1"),
        ("def f(x) {\n    return x\n}", "begins a block with a colon"),
        ("lambda = 3", "`lambda` is a word of Python's own"),
        ("y = 2x", "a product needs its `*`"),
        ("y = √x", "`√` is no sign of Python's"),
        ("y = x\u00a0+ 1", "an invisible character"),
        ("None = x", "On the left of `=` stands what gets the value"),
        ("for for", "Python's words: invalid syntax."),
    ],
)
def test_text_that_is_not_python_gets_a_sentence_on_its_line(text, sentence):
    with pytest.raises(SyntaxError) as caught:
        compile(text, "<cell>", "exec")
    explained = unreadable(caught.value)
    assert sentence in explained and f"line {caught.value.lineno}" in explained
    assert f"Python's words: {caught.value.msg.rstrip('.?')}." in explained


def test_cell_that_is_not_python_is_explained_below_its_error():
    _, (failed, explained), (right,) = executed(HEAD, SLIP, "1 + 1")
    assert failed.ename == "SyntaxError" and right.data["text/plain"] == "2"
    assert explained.data["text/plain"].startswith(
        "Python cannot read line 2, `return q @"
    )
