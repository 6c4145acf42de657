"""A milestone's functions: the learner's where they are right, else the course's."""

import functools

import pytest

from autograder.checking.registry import exercise_names, load
from course_lib.lessons.own_functions import (
    FAST_ATTENTION,
    INSIDE_THE_HEADS,
    LANGUAGE_MODEL,
    own_functions,
)


def squared(x):
    return x**2


def unwritten(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("names", "is_own"),
    [
        ({"squared": lambda x: x * x}, True),
        ({"squared": lambda x: 2 * x}, False),
        ({"squared": lambda x: None}, False),
        ({"squared": unwritten}, False),
        ({}, False),
    ],
)
def test_own_functions_are_chosen_if_they_are_right(capsys, names, is_own):
    chosen = own_functions(names, {squared: (3.0,)})
    assert chosen["squared"] is (names["squared"] if is_own else squared)
    line = "squared: yours\n" if is_own else "squared: the course's own: yours is not"
    assert capsys.readouterr().out.startswith(line)


@pytest.mark.parametrize("examples", [LANGUAGE_MODEL, INSIDE_THE_HEADS, FAST_ATTENTION])
def test_examples_pass_for_the_references(capsys, examples):
    names = {each.__name__: functools.partial(each) for each in examples}
    assert own_functions(names, examples) == names
    assert capsys.readouterr().out.count(": yours\n") == len(examples)


def test_course_version_in_the_notebook_is_not_the_learners(capsys):
    assert own_functions({"squared": squared}, {squared: (3.0,)})["squared"] is squared
    assert "the course's own" in capsys.readouterr().out


def test_language_model_examples_cover_the_exercises():
    mine = {n for n in exercise_names() if load(n).lesson == "12_language_model"}
    assert mine == {function.__name__ for function in LANGUAGE_MODEL}


@pytest.mark.parametrize("examples", [LANGUAGE_MODEL, INSIDE_THE_HEADS, FAST_ATTENTION])
def test_examples_tell_right_from_wrong(capsys, examples):
    names = {function.__name__: lambda *x: x[0] for function in examples}
    assert not {*own_functions(names, examples).values()} & {*names.values()}


@pytest.mark.parametrize(
    ("examples", "lesson"),
    [(INSIDE_THE_HEADS, "13_inside_the_heads"), (FAST_ATTENTION, "14_fast_attention")],
)
def test_examples_are_of_their_lesson(examples, lesson):
    mine = {name for name in exercise_names() if load(name).lesson == lesson}
    assert {function.__name__ for function in examples} < mine
