"""Answers that are the course's own are told from others, whatever their names."""

import ast
import inspect
import textwrap
from pathlib import Path

import pytest

from autograder.checking.own_answer import as_answer
from autograder.checking.registry import exercises_of, load
from autograder.grading.inside.form import form_of, forms_of
from autograder.grading.judging import own_forms
from tests.answers import answers_to
from tests.unseen import read_answers

UNSEEN = Path(__file__).parents[1] / "unseen"
ANSWER = """
def mean(values, weights, eps=1e-6):
    total = 0.0
    for value, weight in zip(values, weights):
        total += value * weight
    squares = [each * each for each in weights if each > eps]
    return total / max(sum(squares), eps)
"""
# The same, as somebody may hand it in who has copied it.
COPIED = """
def mean(xs: list[float], ws: "floats", eps: float = 1e-6) -> float:
    '''Return the mean, in my own words.'''
    t: float = 0.0  # so far
    for x, w in zip(
        xs,
        ws,
    ):
        t += (x * w)

    s = [y * y for y in ws if y > eps]
    'The sum may be 0.'
    return t / max(sum(s), eps)
"""


def forms(text, exercise="mean"):
    return forms_of([("solution", text, exercise)])


def form(text):
    ((own,),) = forms(text).values()
    return own


def test_form_is_the_same_under_other_names_remarks_and_layout():
    assert form(COPIED) == form(ANSWER)
    assert form(ANSWER.replace("mean", "average")) == form(ANSWER)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("value * weight", "weight * value"),
        ("1e-6", "1e-5"),
        ("sum(", "min("),
        ("each * each for", "each * total for"),
        ("return total /", "return 1.0 * total /"),
        ("    total = 0.0\n", "    total = 0.0\n    pass\n"),
    ],
)
def test_form_differs_for_other_code(before, after):
    assert form(ANSWER.replace(before, after)) != form(ANSWER)


def test_short_functions_have_no_form():
    assert forms("def mean(x):\n    return sum(x) / len(x)") == {}


@pytest.mark.parametrize(
    "text", ["def f(", "x = 1", "\0", f"x = {'-' * 20_000}1", "(" * 5000, ""]
)
def test_what_is_no_function_has_no_form(text):
    assert forms(text) == {}


def test_own_cells_count_with_functions_of_an_exercises_name():
    cells = [("own", ANSWER, ""), ("own", ANSWER.replace("mean", "g"), "")]
    assert forms_of([*cells, ("solution", "", "mean")]) == {"mean": [form(ANSWER)]}


def test_form_has_no_nodes_of_what_is_left_out():
    function = ast.parse(as_answer(load("softmax").reference)).body[0]
    bare = ast.parse(ast.unparse(function)).body[0]
    del bare.body[0]  # the docstring
    assert form_of(function) == form_of(bare)


def test_pasted_solution_has_the_form_of_the_courses_answer():
    for exercise in exercises_of():
        own = forms(as_answer(exercise.reference), exercise.name)
        assert {*own.get(exercise.name, ())} <= own_forms(exercise.name)
    marked = [each for each in exercises_of() if own_forms(each.name)]
    assert len(marked) > 0.6 * len(exercises_of())


def right_answers():
    """Yield which corpus, exercise and cell: stored right answers of other people."""
    for exercise in exercises_of():
        for function in answers_to(exercise.name).right.values():
            if inspect.isfunction(function):
                text = textwrap.dedent(inspect.getsource(function))
                yield "answers", exercise.name, text[text.find("def ") :]
    for folder in filter(Path.is_dir, UNSEEN.iterdir()):
        for each in read_answers(folder):
            if each.right:
                yield "unseen", each.exercise, each.text


def test_right_answers_of_others_are_hardly_ever_marked():
    n_all, marked = {"answers": 0, "unseen": 0}, {"answers": [], "unseen": []}
    for corpus, name, text in right_answers():
        n_all[corpus] += 1
        if not own_forms(name).isdisjoint(forms(text, name).get(name, ())):
            marked[corpus].append(name)
    assert n_all["answers"] > 500 < n_all["unseen"]
    assert marked["answers"] == []
    assert len(marked["unseen"]) <= 0.005 * n_all["unseen"], marked
