"""How single values are shown to a learner."""

import collections
import enum
import types

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from autograder.checking.call import Call
from autograder.messages.description import (
    LONGEST_TEXT,
    describe,
    describe_kind,
    one_line,
    show_apart,
    show_arguments,
    show_value,
)
from tests.checking.test_comparison import (
    Claims,
    Pair,
    Refuses,
    anything,
    list_that_holds_itself,
)


class Colour(enum.IntEnum):
    RED = 1


class Mute:
    def __repr__(self):
        raise RuntimeError("no words")


VALUES = {
    "array": (np.array([[1.0, 0.5], [-0.25, 1 / 3]]), "[[1, 0.5], [-0.25, 0.3333]]"),
    "twelve numbers": (np.zeros((3, 4)), "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]"),
    "thirteen numbers": (np.zeros(13), "an array of shape (13,)"),
    "large array": (np.zeros((2, 5, 4)), "an array of shape (2, 5, 4)"),
    "empty array": (np.zeros((0, 4)), "an array of shape (0, 4)"),
    "array without axes": (np.array(0.5), "0.5"),
    "whole numbers": (np.array([1048576, -3]), "[1048576, -3]"),
    "mask": (np.array([[True, False]]), "[[True, False]]"),
    "not finite": (np.array([np.nan, np.inf, -np.inf]), "[nan, inf, -inf]"),
    "complex": (np.array([1 + 2j]), "[1+2j]"),
    "texts": (np.array(["a", "b"]), "['a', 'b']"),
    "long texts": (np.array(["a" * 80] * 4), "an array of shape (4,)"),
    "objects": (np.array([None, 1], object), "an array of shape (2,)"),
    "tensor": (torch.tensor([0.5, 2.0]), "tensor [0.5, 2]"),
    "bfloat16": (torch.ones(2, dtype=torch.bfloat16), "tensor [1, 1]"),
    "large tensor": (torch.zeros(4, 5), "a torch tensor of shape (4, 5)"),
    "tensor without data": (
        torch.ones(2, device="meta"),
        "a torch tensor of shape (2,)",
    ),
    "float": (0.123456, "0.1235"),
    "small float": (1.5e-9, "1.5e-09"),
    "NumPy float": (np.float32(0.1), "0.1"),
    "int": (44140544, "44140544"),
    "huge int": (-(10**400), "-1.000e+400"),
    "truth value": (np.bool_(True), "True"),
    "None": (None, "None"),
    "text": ("cat's", '"cat\'s"'),
    "long text": ("x" * 500, "'" + "x" * 90 + "…'"),
    "list": ([1, 0.25, "a", None], "[1, 0.25, 'a', None]"),
    "tuple": ((1,), "(1,)"),
    "tuple of arrays": (
        (np.zeros((5, 4)), np.ones(2)),
        "(an array of shape (5, 4), [1, 1])",
    ),
    "long list": ([0.5] * 500, "a list of length 500"),
    "list of long texts": (["attention"] * 9, "a list of length 9"),
    "empty list": ([], "[]"),
    "dictionary": ({"a": 1, ("b", "c"): 0.5}, "{\"a\": 1, ('b', 'c'): 0.5}"),
    "long dictionary": ({str(i): i for i in range(60)}, "a dictionary of length 60"),
    "set, in no order of its own": ({"b", "a", "c"}, "{'a', 'b', 'c'}"),
    "empty set": (set(), "an empty set"),
    "deep": ([[[[[1]]]]], "[[[a list of length 1]]]"),
    "list that holds itself": (
        list_that_holds_itself(),
        "[1, [1, [1, a list of length 2]]]",
    ),
    "matrix": (np.ones((1, 2)).view(np.matrix), "a matrix, a special kind of array"),
    "ordered": (
        collections.OrderedDict(),
        "an OrderedDict, a special kind of dictionary",
    ),
    "named tuple": (Pair(1, 2), "a Pair, a special kind of tuple"),
    "named number": (Colour.RED, "a Colour, a special kind of integer"),
    "generator": ((x for x in ()), "a generator"),
    "range": (range(3), "a range"),
    "function": (len, "the function len"),
    "class": (Colour, "an EnumType"),
    "plain class": (Mute, "the class Mute"),
    "module": (types, "a module"),
    "object without words": (Mute(), "a Mute"),
    "list of objects without words": ([Mute()], "[a Mute]"),
    "key without words": ({Refuses(): 1}, "{a Refuses: 1}"),
    "object that claims to be a float": (Claims(), "a Claims"),
    "object without a name": (type("", (), {})(), "a nameless object"),
}


@pytest.mark.parametrize(("thing", "text"), VALUES.values(), ids=VALUES)
def test_show_value(thing, text):
    assert show_value(thing) == text


DESCRIPTIONS = {
    "None": (None, "None"),
    "number": (np.float64(0.5), "the number 0.5"),
    "complex number": (1j, "the complex number 0+1j"),
    "truth value": (False, "the truth value False"),
    "text": ("a", "the text 'a'"),
    "bytes": (b"a", "the bytes b'a'"),
    "list": ([1, 2], "a list of length 2"),
    "dictionary": ({}, "a dictionary of length 0"),
}


@pytest.mark.parametrize(("thing", "text"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_describe(thing, text):
    assert describe(thing) == text


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (np.ones(2, int), "an array of integers"),
        (np.ones(2, np.uint8), "an array of integers"),
        (np.ones(2) > 0, "an array of booleans"),
        (np.ones(2, complex), "an array of complex numbers"),
        (np.array([None]), "an array of Python objects"),
        (np.array(["a"]), "an array of texts"),
        (np.array(["2017"], "M8[Y]"), "an array of items of type datetime64[Y]"),
        (torch.ones(2), "a torch tensor of floats"),
        (torch.ones(2, dtype=torch.long), "a torch tensor of integers"),
        (torch.eye(2).to_sparse(), "a sparse tensor"),
        ([1], "a list of length 1"),
    ],
)
def test_describe_kind_names_the_numbers(thing, text):
    assert describe_kind(thing) == text


def test_show_apart_uses_digits_until_two_numbers_differ():
    assert show_apart(0.5, 0.25) == ("0.5", "0.25")
    assert show_apart(0.12345678, 0.12345699) == ("0.12345678", "0.12345699")
    assert show_apart(1 / 3, 1 / 3 + 1e-12) == ("0.33333333333333", "0.33333333333433")
    assert show_apart(10**20, 10**20 + 1) == (f"1{20 * '0'}", f"1{19 * '0'}1")


def test_show_arguments_names_them():
    call = Call((np.array([1.0]), np.zeros((5, 4))), {"axis": 0})
    text = "x = [1], y (an array of shape (5, 4)) and axis = 0"
    assert show_arguments(("x", "y"), call) == text
    assert show_arguments(("x",), Call(("a text",))) == "x = 'a text'"
    assert show_arguments(("f",), Call((len,))) == "f (the function len)"
    assert show_arguments((), Call(())) == ""


def test_show_value_ignores_print_options():
    with np.printoptions(precision=1, sign="+", floatmode="fixed", threshold=1):
        assert show_value(np.array([0.125, 1.0])) == "[0.125, 1]"


def test_one_line_is_printable_and_short():
    assert one_line("one\n  two\t three") == "one two three"
    assert one_line("\x1b[31mred\x00\ud800") == "�[31mred��"
    assert len(one_line("x" * 10_000)) == LONGEST_TEXT


@settings(max_examples=300, derandomize=True)
@given(anything)
def test_any_value_is_shown_in_one_printable_line(thing):
    for text in (show_value(thing), describe(thing), describe_kind(thing)):
        assert "\n" not in text
        assert len(text) < 400
        text.encode()
