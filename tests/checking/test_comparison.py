"""Comparison: type, then shape, then finiteness, then values, whatever comes in."""

import collections
import copy
import datetime
import enum
import fractions
import math
import types

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.checking.call import copied
from autograder.checking.comparison import RELATIVE, Difference, first_difference

ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def kind(actual, expected, **terms):
    difference = first_difference(actual, expected, **terms)
    return difference.kind if difference else None


class Colour(enum.IntEnum):
    RED = 1


class Claims:
    """Says that it is a float."""

    @property
    def __class__(self):
        return float


class Refuses:
    """Cannot be compared, hashed the same as every other of its kind."""

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __hash__(self):
        return 1


class Rows(np.ndarray):
    """An array that lies about its shape."""

    shape = (2, 3)


Pair = collections.namedtuple("Pair", "first second")


def list_that_holds_itself():
    endless = [1.0]
    endless.append(endless)
    return endless


SAME = {
    "whole number and the same as a float": (3.0, 3),
    "NumPy scalar and number": (np.float64(0.5), 0.5),
    "array without axes and number": (np.array(0.5), 0.5),
    "NumPy truth value": (np.bool_(True), True),
    "NumPy text": (np.str_("cat"), "cat"),
    "huge whole numbers": (10**400, 10**400),
    "a sum in another order": (0.1 + 0.2, 0.3),
    "other order of keys": ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
    "empty arrays": (np.zeros((0, 3)), np.ones((0, 3))),
    "empty list": ([], []),
    "memory layout": (np.asfortranarray(ROWS), ROWS),
    "byte order": (ROWS.astype(">f8"), ROWS),
    "view with negative strides": (ROWS[::-1][::-1], ROWS),
    "complex": (np.array([1 + 2j]), np.array([1 + 2j])),
    "texts": (np.array(["a", "b"]), np.array(["a", "b"])),
    "tensor that needs a gradient": (
        torch.ones(2, dtype=torch.float64, requires_grad=True),
        torch.ones(2, dtype=torch.float64),
    ),
    "parameter": (torch.nn.Parameter(torch.ones(2)), torch.ones(2)),
    "bfloat16": (torch.ones(2, dtype=torch.bfloat16), torch.ones(2)),
    "conjugated tensor": (torch.tensor([1j]).conj(), torch.tensor([-1j])),
    "sets": ({"a", "b"}, {"b", "a"}),
    "NaN where NaN belongs": (np.array([np.nan, 1.0]), np.array([np.nan, 1.0])),
    "−inf where −inf belongs": (np.array([-np.inf]), np.array([-np.inf])),
}


@pytest.mark.parametrize(("actual", "expected"), SAME.values(), ids=SAME)
def test_equal_pair_has_no_difference(actual, expected):
    assert first_difference(actual, expected) is None


OTHER_TYPE = {
    "list for an array": ([[1.0, 2.0]], np.array([[1.0, 2.0]])),
    "array for a list": (np.array([1.0]), [1.0]),
    "tuple for a list": ((1.0,), [1.0]),
    "generator for a list": ((x for x in (1.0,)), [1.0]),
    "range for a list": (range(2), [0, 1]),
    "dictionary view for a list": ({"a": 1}.keys(), ["a"]),
    "matrix": (ROWS.view(np.matrix), ROWS),
    "masked array": (np.ma.array(ROWS), ROWS),
    "array that lies about its shape": (np.zeros(6).view(Rows), ROWS),
    "array of objects": (ROWS.astype(object), ROWS),
    "integers for floats": (ROWS.astype(int), ROWS),
    "floats for integers": (np.array([1.0]), np.array([1])),
    "booleans for floats": (ROWS > 2, ROWS),
    "complex for floats": (ROWS + 0j, ROWS),
    "complex for a number": (1 + 0j, 1.0),
    "texts for floats": (ROWS.astype(str), ROWS),
    "tensor for an array": (torch.tensor(ROWS), ROWS),
    "array for a tensor": (ROWS, torch.tensor(ROWS)),
    "sparse tensor": (torch.eye(2).to_sparse(), torch.eye(2)),
    "tensor without data": (torch.ones(2, device="meta"), torch.ones(2)),
    "truth value for a number": (True, 1),
    "number for a truth value": (1, True),
    "text for a number": ("1", 1),
    "None for a number": (None, 1),
    "named number": (Colour.RED, 1),
    "exact fraction": (fractions.Fraction(1, 2), 0.5),
    "object that claims to be a float": (Claims(), 1.0),
    "named tuple": (Pair(1, 2), (1, 2)),
    "ordered dictionary": (collections.OrderedDict(a=2), {"a": 2}),
    "frozen set": (frozenset("ab"), {"a", "b"}),
    "array with one axis for a number": (np.array([0.5]), 0.5),
    "tensor without axes for a number": (torch.tensor(0.5), 0.5),
    "a class of the same name": (type("list", (list,), {})([1.0]), [1.0]),
    "list that holds itself": (list_that_holds_itself(), [1.0, [1.0, 2.0]]),
    "type": (float, 1.0),
    "module": (math, 1.0),
}


@pytest.mark.parametrize(("actual", "expected"), OTHER_TYPE.values(), ids=OTHER_TYPE)
def test_pair_differs_in_type(actual, expected):
    assert kind(actual, expected) == "type"


WRONG = {
    "broadcastable": (np.ones(3), np.ones((2, 3)), "shape"),
    "column for row": (np.ones((3, 1)), np.ones((1, 3)), "shape"),
    "flat": (np.ones(6), np.ones((2, 3)), "shape"),
    "empty for one": (np.ones((0,)), np.ones((1,)), "shape"),
    "tensor": (torch.ones(3), torch.ones(1, 3), "shape"),
    "longer list": ([1.0, 2.0], [1.0], "length"),
    "longer tuple": ((1.0, 2.0), (1.0,), "length"),
    "missing key": ({"a": 1}, {"a": 1, "b": 2}, "keys"),
    "extra key": ({"a": 1, "b": 2}, {"a": 1}, "keys"),
    "key that cannot be compared": ({Refuses(): 1}, {Refuses(): 1}, "keys"),
    "NaN": (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "not_finite"),
    "inf": (np.array([1.0, np.inf]), np.array([1.0, 2.0]), "not_finite"),
    "NaN for a number": (math.nan, 1.0, "not_finite"),
    "NaN for a whole number": (math.nan, 1, "not_finite"),
    "NaN for −inf": (np.array([np.nan]), np.array([-np.inf]), "value"),
    "inf for −inf": (np.array([np.inf]), np.array([-np.inf]), "value"),
    "number for NaN": (np.array([1.0]), np.array([np.nan]), "value"),
    "NaN in a tensor": (torch.tensor([math.nan]), torch.ones(1), "not_finite"),
    "NaN, complex": (np.array([1j * np.nan]), np.array([1j]), "not_finite"),
    "numbers": (ROWS + 1e-6, ROWS, "value"),
    "eps of 1e-8": (np.array([0.5 - 1e-8]), np.array([0.5]), "value"),
    "sign of a small number": (np.array([1e-9, 1]), np.array([-1e-9, 1]), "value"),
    "one element": (np.array([1, 2, 3]), np.array([1, 2, 4]), "value"),
    "large integers": (np.array([2**60 + 1]), np.array([2**60]), "value"),
    "huge whole number": (10**400 + 1, 10**400, "value"),
    "huge whole number for a float": (10**400, 1.5, "value"),
    "float for a huge whole number": (1.5, 10**400, "value"),
    "beyond float64": (np.array([np.longdouble("1e400")]), np.ones(1), "value"),
    "largest floats": (np.array([1e308]), np.array([-1e308]), "value"),
    "unsigned": (np.array([3], np.uint8), np.array([-253]), "value"),
    "mask": (np.array([True, False]), np.array([True, True]), "value"),
    "texts": (np.array(["a"]), np.array(["b"]), "value"),
    "text": ("cat", "Cat", "value"),
    "set": ({"a"}, {"a", "b"}, "value"),
    "set whose items cannot be compared": ({Refuses()}, {Refuses()}, "value"),
    "object that cannot be compared": (Refuses(), Refuses(), "value"),
    "NaN in a list": ([1.0, math.nan], [1.0, 2.0], "not_finite"),
    "item of a list": ([1.0, 2.0], [1.0, 3.0], "value"),
    "pair in a list": ([("a", "b")], [("a", "c")], "value"),
}


@pytest.mark.parametrize(("actual", "expected", "first"), WRONG.values(), ids=WRONG)
def test_first_difference_is_of_kind(actual, expected, first):
    assert kind(actual, expected) == first


def test_form_of_every_part_comes_before_the_value_of_any():
    actual = (np.zeros(3), np.ones((4, 1)))
    expected = (np.ones(3), np.ones(4))
    difference = first_difference(actual, expected)
    assert (difference.kind, difference.path) == ("shape", (1,))


def test_finiteness_of_every_part_comes_before_the_value_of_any():
    difference = first_difference(
        (np.zeros(3), np.array([np.nan])), (np.ones(3), np.ones(1))
    )
    assert (difference.kind, difference.path) == ("not_finite", (1,))


def test_path_leads_to_a_part_deep_inside():
    expected = {"layers": [{"w": np.ones((2, 3))}, {"w": np.ones((2, 3))}]}
    actual = copied(expected)
    actual["layers"][1]["w"][1, 2] = 7.0
    difference = first_difference(actual, expected)
    assert (difference.kind, difference.path, difference.index) == (
        "value",
        ("layers", 1, "w"),
        (1, 2),
    )
    assert (difference.wrong, difference.total) == (1, 6)


def test_wrong_entries_of_an_array_are_counted():
    difference = first_difference(ROWS * [1, 2, 2], ROWS)
    assert (difference.index, difference.wrong, difference.total) == ((0, 1), 4, 6)


def test_list_of_numbers_is_one_part():
    difference = first_difference([1.0, 2.0, 4.0], [1.0, 3.0, 5.0])
    assert difference == Difference(
        "value", [1.0, 2.0, 4.0], [1.0, 3.0, 5.0], (), (1,), 2, 3
    )


def test_list_of_pairs_is_not_one_part():
    assert first_difference([(1, 2), (3, 4)], [(1, 2), (3, 5)]).path == (1, 1)


def test_without_values_only_form_counts():
    assert first_difference(ROWS + 1, ROWS, values=False) is None
    assert kind(ROWS * np.nan, ROWS, values=False) == "not_finite"


def test_nonfinite_numbers_equal_only_their_like():
    not_finite = np.array([np.nan, np.inf, 1.0])
    assert first_difference(not_finite, not_finite.copy()) is None
    assert kind(np.ones(3), not_finite) == "value"
    assert kind(not_finite, np.ones(3)) == "not_finite"


@pytest.mark.parametrize(("size", "dtype"), [(4, np.float32), (2, np.float16)])
def test_tolerance_follows_the_least_precise_side(size, dtype):
    near = 1 + RELATIVE[size] / 2
    assert kind(np.array([near]), np.ones(1)) == "value"
    assert kind(np.array([near], dtype), np.ones(1)) is None
    assert kind(np.ones(1), np.array([near], dtype)) is None
    assert kind(np.array([1 + 4 * RELATIVE[size]], dtype), np.ones(1)) == "value"


def test_tolerance_follows_less_precise_inputs():
    # np.zeros((n, m)) filled in a loop with float32 results is float64 to the eye.
    rounded = np.array([1 / 3], np.float32).astype(float)
    assert kind(rounded, np.array([1 / 3])) == "value"
    assert kind(rounded, np.array([1 / 3]), least=4) is None


def test_float32_inside_is_measured_by_the_largest_number():
    def differs(actual, expected):
        pair = np.array(actual), np.array(expected)
        return first_difference(*pair, single_inside=True) is not None

    third = float(np.float32(1 / 3))
    assert not differs([third], [1 / 3])
    assert not differs([third, 1e-8], [1 / 3, 0.0])  # cancelled beside a third
    assert not differs([1e-8], [0.0]) and not differs([1e-8], [1e-17])
    assert differs([1.0001 / 3], [1 / 3])
    assert differs([5.001e-4], [5e-4])  # a learning rate
    assert differs([5e-4 + 1e-7], [5e-4])
    assert not differs([third * 1e-6], [1e-6 / 3])


def test_numpy_errors_do_not_end_a_comparison():
    with np.errstate(all="raise"):
        assert kind(np.array([1e308, np.nan]), np.array([-1e308, np.nan])) == "value"
        assert kind(np.array([1e-308]), np.array([1e308])) == "value"


def test_eight_bit_floats_compare_like_sixteen():
    ones = torch.ones(2)
    assert kind(ones.to(torch.float8_e4m3fn), ones) is None
    assert kind(2 * ones.to(torch.float8_e4m3fn).float(), ones) == "value"


def test_twenty_levels_take_no_time():
    deep = other = 1.0
    for _ in range(20):
        deep, other = [deep, 2.0], [other, 2.0]
    assert first_difference(deep, other) is None


# Whatever a learner may return, in and out of containers.
untrusted_values = st.sampled_from(
    [
        *(pair[0] for pair in OTHER_TYPE.values()),
        *(case[0] for case in WRONG.values()),
        object(),
        Refuses(),
        Ellipsis,
        NotImplemented,
        lambda x: x,
        print,
        types.SimpleNamespace(shape=(2, 3), dtype=float),
        datetime.date(2017, 6, 12),
        np.datetime64("2017-06-12"),
        np.array(["2017-06-12"], "datetime64[D]"),
        np.array([(1, 2.0)], [("a", int), ("b", float)]),
        np.array([None, [1], Refuses()], object),
        np.void(b"abc"),
        memoryview(b"abc"),
        bytearray(b"abc"),
        torch.device("cpu"),
        torch.nn.Linear(2, 2),
    ]
)
numbers = st.one_of(
    st.integers(), st.floats(), st.complex_numbers(), st.booleans(), st.none()
)
arrays = hnp.arrays(
    st.one_of(
        hnp.scalar_dtypes(), hnp.array_dtypes(), st.just(np.dtype(np.longdouble))
    ),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)
tensors = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int64, np.bool_, np.complex64]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
).map(torch.from_numpy)
leaves = st.one_of(
    numbers, st.text(), st.binary(), arrays, tensors, hnp.from_dtype(np.dtype("f2"))
)


def nested(part):
    keys = st.one_of(st.text(max_size=2), st.integers(0, 2), st.booleans())
    return st.recursive(
        part,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(keys, inner, max_size=3),
            st.frozensets(numbers, max_size=3).map(set),
        ),
        max_leaves=6,
    )


anything = nested(st.one_of(leaves, untrusted_values))


@settings(max_examples=400, derandomize=True)
@given(anything, anything, st.booleans(), st.sampled_from([8, 4, 2]))
@example(list_that_holds_itself(), list_that_holds_itself(), True, 8)
def test_first_difference_never_raises(actual, expected, values, least):
    difference = first_difference(actual, expected, values=values, least=least)
    assert difference is None or isinstance(difference, Difference)


@settings(max_examples=300, derandomize=True)
@given(nested(leaves))
def test_copy_has_no_difference(thing):
    assert first_difference(copied(thing), thing) is None


@settings(max_examples=300, derandomize=True)
@given(anything, anything)
def test_type_shape_and_keys_are_symmetric(one, other):
    form = "type", "length", "keys", "shape"
    forth, back = first_difference(one, other), first_difference(other, one)
    assert (forth is None or forth.kind not in form) == (
        back is None or back.kind not in form
    )


@settings(max_examples=200, derandomize=True)
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(max_dims=3, max_side=4),
        elements=st.floats(-1e6, 1e6),
    ),
    st.data(),
)
def test_one_wrong_number_is_located(expected, data):
    index = data.draw(st.tuples(*(st.integers(0, n - 1) for n in expected.shape)))
    actual = expected.copy()
    actual[index] += max(1.0, abs(expected).max()) * 1e-6
    difference = first_difference(actual, expected)
    assert (difference.kind, difference.index, difference.wrong) == ("value", index, 1)


@pytest.mark.parametrize("thing", [ROWS, [1.0, "a"], {"a": (1, 2)}, {1, 2}, "cat", 5])
def test_deep_copy_has_no_difference(thing):
    assert first_difference(copy.deepcopy(thing), thing) is None


def test_counter_and_defaultdict_are_dictionaries():
    collected = collections.defaultdict(list, a=[1])
    assert first_difference(collections.Counter("aab"), {"a": 2, "b": 1}) is None
    assert first_difference(collected, {"a": [1]}) is None
    assert first_difference([collected], [{"a": [2]}]).path == (0, "a")
    assert first_difference(collections.Counter("ab"), {"a": 1}).kind == "keys"


def test_exact_comparison_sees_the_last_digit():
    before = np.array([0.1, 0.3])
    after = (1 - (1 - 2 * before)) / 2
    assert first_difference(after, before) is None
    assert first_difference(after, before, exact=True).kind == "value"
    assert first_difference(before.copy(), before, exact=True) is None
    assert (
        first_difference(np.array([np.nan, -0.0]), np.array([np.nan, 0.0]), exact=True)
        is None
    )
