"""Any arguments: the spec's result, or an error of the course's own that names one.

Each exercise's NumPy function gets arrays of its docstring's shapes (also empty and
unfitting ones), of random dtypes, memory layouts and values (also NaN and infinities).
``FUZZ_EXAMPLES`` sets how many for each function; ``make test-all`` draws many more.
"""

import copy
import inspect
import os
import re
import traceback
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import course_lib
from autograder.checking.registry import exercise_names, load
from course_lib import (
    attention,
    heads,
    masks,
    positions,
    self_attention,
    tiling,
    warm_up,
)
from course_lib.arguments import parse

N_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "40"))
OWN = Path(course_lib.__file__).parent
FLOATS = ["float16", "float32", "float64", "longdouble"]
WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NO_NUMBERS = ["bool", "complex128", "object", "S1", "datetime64[s]"]

FUNCTIONS = {
    name: function
    for module in (attention, heads, masks, positions, self_attention, tiling, warm_up)
    for name, function in vars(module).items()
    if name in exercise_names() and function.__module__ == module.__name__
}
FUNCTIONS.pop("load_torch_parameters")  # of a dictionary
# Where the docstring has no array's shape, or what has one is no array.
ARRAYS = {
    "combine_masks": "boolean first (..., n, m), boolean second (n, m)",
    "equivariance_gap": "x (n, d)",
    "softmax_by_hand": "x (n)",
}
SHAPES = {
    name: {each.name: each for each in parse(ARRAYS.get(name, function))}
    for name, function in FUNCTIONS.items()
}
# What a number may be: mostly what it should be, but not only.
OTHERS = {
    "axis": [-1, 0, 1, -2, 5, -5, None, 1.0, True],
    "n_heads": [1, 2, 3, 0, -2, 2.0, True, "2"],
    "to": ["scaled_dot_product_attention", "MultiheadAttention", "additive", "float"],
    "m": [3, 4, 0, -1, 2.5, None],
    "t": [0, 1, 2, -1, 9, 1.0],
    "permutation": [[1, 2, 0], [0, 1], [0], [0, 0, 1], [True, False], [0.0, 1.0], []],
    "d_model": [4, 6, 2, 3, 1, 0, -2, 2.0, "4"],
    "bias": [True, False],
    "n": [3, 1, 5, 0, -1, 2.5],
    "offset": [0, 1, -1, 9, -9, 0.5],
    "k": [1, 0, -3, 40, 0.5],
    "block": [1, 2, 3, 9, 0, -1, 2.0, True],
    "d_k": [4, 8, 2, 3, 0, -2, 2.0],
    "factor": [4.0, 1.0, 2, 0, -1.0, "2", None],
    "trained": [16, 1, 500, 0, -3, 2.5],
    "slow": [1.0, 0.1, 0.0, 40.0, "1"],
    "fast": [32.0, 2, 0.5, 0.0, None],
    "width": [1, 2, 4, 9, 0, -1, 2.0, True],
}


def running_sum(x):
    return x.cumsum(axis=0)


def array_of(draw, shape, kind):
    """Draw an array: its dtype, its values, its layout."""
    if kind == "boolean":
        dtype = draw(st.sampled_from(["bool"] * 6 + ["int64", "float64", "uint8"]))
    elif kind == "whole":
        dtype = draw(st.sampled_from([*WHOLE, "float64", "bool"]))
    else:
        dtype = draw(st.sampled_from(FLOATS * 10 + WHOLE * 4 + NO_NUMBERS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        least, most = max(limits.min, -300), min(limits.max, 300)
        least, most = (
            (0, 4) if kind == "whole" and draw(st.booleans()) else (least, most)
        )
        array = rng.integers(least, most, size=shape, endpoint=True).astype(dtype)
        if dtype in ("int64", "uint64") and array.size and draw(st.integers(0, 9)) == 0:
            array.flat[0] = limits.max
    elif dtype == "bool":
        array = rng.random(size=shape) < 0.6
    elif dtype in NO_NUMBERS:
        array = np.zeros(shape).astype(dtype)
    else:
        array = rng.uniform(-1, 1, size=shape).astype(dtype)
        if array.size and draw(st.integers(0, 5)) == 0:
            odd = draw(st.sampled_from([np.nan, np.inf, -np.inf, 100.0]))
            array.flat[rng.integers(array.size)] = odd
    return laid_out(
        array, draw(st.sampled_from(["C", "F", "strided", "reversed", "1"]))
    )


def laid_out(array, layout):
    """Return the same numbers in another order in memory."""
    if layout == "F":
        array = np.asfortranarray(array)
    elif layout == "strided" and array.ndim:
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    elif layout == "reversed" and array.ndim:
        array = array[::-1].copy()[::-1]
    elif layout == "1" and array.size:  # one number, broadcast: all strides are 0
        array = np.broadcast_to(array.flat[0], array.shape)
    array = np.asarray(array).view()
    array.flags.writeable = False
    return array


@st.composite
def calls(draw, name):
    """Draw the arguments of a call by their names; mostly their shapes fit."""
    sizes = st.sampled_from([2, 3, 1, 4, 2, 3, 0])
    leading = draw(st.sampled_from([(), (2,), (2, 3), (1,), (0,)]))
    axes = {}
    n_heads = draw(st.sampled_from(OTHERS["n_heads"]))

    def array(expected):
        shape = [*leading] * expected.leading
        for axis in expected.axes or ("n",):
            factor, _, single = axis.rpartition("·")
            size = axes.setdefault(single, draw(sizes))
            is_multiple = factor and type(n_heads) is int and n_heads > 0
            shape.append(n_heads * size if is_multiple else size)
        spoilt = draw(st.integers(0, 23))
        if spoilt == 0:
            at = draw(st.integers(0, len(shape) - 1))
            shape[at] = abs(shape[at] + draw(st.sampled_from([1, -1])))
        elif spoilt == 1:
            shape = shape[1:]
        elif expected.kind == "boolean" and spoilt < 9:  # an axis that counts for all
            shape = [size if draw(st.booleans()) else 1 for size in shape]
        drawn = array_of(draw, tuple(shape), expected.kind)
        return drawn.tolist() if draw(st.integers(0, 15)) == 0 else drawn

    arguments = {}
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    for each in SHAPES[name] if "masks" in parameters else parameters:
        if each == "f":
            arguments[each] = running_sum
        elif each in SHAPES[name]:
            arguments[each] = array(SHAPES[name][each])
        elif each == "n_heads":
            arguments[each] = n_heads
        elif each in OTHERS:
            others = [
                v for v in OTHERS[each] if v is not None or name != "padding_mask"
            ]
            arguments[each] = draw(st.sampled_from([*others[:3] * 3, *others]))
        if name == "multi_head_attention" and each == "n_heads":
            break  # no mask: drawn ones block rows, against its docstring
    return arguments


def as_float64(argument):
    """Return an argument as the spec wants it."""
    if any(argument is each for each in OTHERS["permutation"]):
        return argument
    if isinstance(argument, list):
        argument = np.asarray(argument)
    if isinstance(argument, np.ndarray) and argument.dtype.kind in "iuf":
        return argument.astype(np.float64)
    return argument


def for_spec(name, arguments):
    """Return arguments in float64, all with the same leading axes, masks with all."""
    converted = {each: as_float64(value) for each, value in arguments.items()}
    arrays = [
        (expected, converted[each].shape)
        for each, expected in SHAPES[name].items()
        if not expected.kind and isinstance(converted.get(each), np.ndarray)
    ]
    sizes, leadings = {}, []
    for expected, shape in arrays:
        n_leading = len(shape) - len(expected.axes)
        sizes |= zip(expected.axes, shape[n_leading:], strict=True)
        leadings.append(shape[:n_leading] if expected.axes else ())
    leading = np.broadcast_shapes(*leadings)
    for expected, shape in arrays:
        if expected.leading and expected.axes:
            shape = (*leading, *shape[len(shape) - len(expected.axes) :])
            converted[expected.name] = np.broadcast_to(converted[expected.name], shape)
    for expected in SHAPES[name].values():
        mask = converted.get(expected.name)
        if expected.kind == "boolean" and sizes and mask is not None:
            shape = (*leading, *(sizes[axis] for axis in expected.axes))
            converted[expected.name] = np.broadcast_to(mask, shape)
    return [*converted.values()]


def tolerance(arguments):
    """Return a bound for rounding: 100 units of the least precise dtype."""
    kinds = [a.dtype for a in arguments if isinstance(a, np.ndarray)]
    units = [np.finfo(kind).eps for kind in kinds if kind.kind == "f"]
    return 100 * float(max([np.finfo(np.float64).eps, *units]))


def all_finite(arguments):
    arrays = (as_float64(each) for each in arguments)
    return all(np.isfinite(a).all() for a in arrays if isinstance(a, np.ndarray))


def products_of(arguments):
    """Return the size that a product of a number from each argument may have.

    Three are from the first: the gradients have x w_q w_k x, times x.
    """
    arrays = [np.asarray(argument, dtype=float) for argument in arguments]
    sizes = [np.abs(a[np.isfinite(a)]).max(initial=1.0) for a in arrays]
    return float(np.prod([*sizes, sizes[0], sizes[0]]))


def parts_of(result):
    if isinstance(result, dict):
        return [*result.values()]
    return [*result] if isinstance(result, tuple) else [result]


def assert_own_error(error, function):
    """Assert that an error was raised by the course, and names an argument."""
    assert type(error) in (TypeError, ValueError), repr(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert Path(last.filename).is_relative_to(OWN), repr(error)
    names = [*inspect.signature(function).parameters, "d_k", "d_model", "tokens"]
    names += ["text", "token id"]  # what the functions for one pre-token name
    assert re.search(rf"\b({'|'.join(names)})\b", str(error)), str(error)


def assert_right(name, function, by_name):
    """Assert the spec's result or an error that names an argument."""
    arguments = [*by_name.values()]
    before = copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        try:
            result = function(*arguments)
        except Exception as error:
            assert_own_error(error, function)
            return False
        finally:
            for old, new in zip(before, arguments, strict=True):
                if isinstance(new, np.ndarray) and new.dtype != object:
                    assert old.tobytes() == new.tobytes(), "an argument was changed"
        try:
            expected = load(name).expected_function(*for_spec(name, by_name))
        except (OverflowError, ZeroDivisionError, ValueError):
            # Loops over Python's numbers stop at what is not finite, and at no keys.
            assert not all(np.isfinite(part).all() for part in parts_of(result))
            return True
    bound = tolerance(arguments)
    for actual, right in zip(parts_of(result), parts_of(expected), strict=True):
        if name == "attention" and actual is result[1]:
            actual = np.broadcast_to(actual, right.shape)  # not of the values' batch
        actual, right = np.asarray(actual), np.asarray(right)
        assert actual.shape == right.shape
        if right.dtype == bool:
            assert actual.dtype == bool and (actual == right).all()
            continue
        actual = actual.astype(np.float64)
        if not all_finite(arguments):
            # In another order, inf − inf and 0 · inf are elsewhere. Less is lost in
            # gradients only, where the formula leaves out what plays no part.
            unlost = np.isfinite(actual)[~np.isfinite(right)].any()
            assert not unlost or name == "self_attention_gradients"
            actual = np.where(np.isfinite(right), actual, np.nan)
            actual, right = (
                np.where(np.isfinite(actual), a, 0) for a in (actual, right)
            )
        largest = np.abs(right[np.isfinite(right)]).max(initial=1.0)
        if name == "self_attention_gradients":  # sums of such products cancel
            largest = max(largest, products_of(arguments))
        np.testing.assert_allclose(actual, right, rtol=0, atol=bound * largest)
    return True


NAMES = sorted(FUNCTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_right_or_refused(name):
    check_with(name, N_EXAMPLES)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_right_or_refused_many_times(name):
    check_with(name, max(1000, N_EXAMPLES))


def check_with(name, n_examples):
    function = load(name).reference
    answered = []

    @settings(max_examples=n_examples, deadline=None, derandomize=True, database=None)
    @given(calls(name))
    def check(arguments):
        answered.append(assert_right(name, function, arguments))

    check()
    assert any(answered), "every call was refused: nothing was compared"
