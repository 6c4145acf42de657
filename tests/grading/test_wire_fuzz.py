"""Every kind of number that NumPy and torch know, packed by a child or forged.

Whatever arrives, the trusted process can work with it: nothing but a malformed message
is ever raised.
"""

import itertools
import math

import msgpack
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checking import call, student, values
from autograder.checking.comparison import first_difference
from autograder.grading.inside import wire
from autograder.grading.inside.wire import MalformedMessage, pack, unpack
from autograder.messages import description, explanation

TORCH = [name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)]
NUMPY = [
    *(f"{kind}{size}" for kind in "biufcSUVmM" for size in (1, 2, 4, 8, 10, 16, 32)),
    *("O", "M8[ns]", "m8[D]", "f8,i4", "b1", "f12", "c24", "U0", "S0", "V0"),
    *("i3", "f3", "U100000", "U999999999", "T", "q", "g", "G", "e", "?"),
    *(">f2", ">f8", ">i4", ">c16", ">U3", ">g"),
]
SIDES = (np.ones((2, 3)), torch.ones(2, 3), "text", [1.0, 2], {"a": 1}, 3, 2j, None)
NOISE = np.random.default_rng(1).bytes(1 << 10)
RAW = (b"\xff" * (1 << 10), NOISE)
SHAPES = [(), (1,), (2, 3), (0,), (2, 0, 3), (1,) * 32, (1,) * 33, (0, 1 << 39)]


def work_on(value):
    """Do what the trusted process may do with a child's value, on both sides."""
    copy = call.copied(value)
    describe(value)
    for _, leaf in values.leaves([value, copy]):
        values.bytes_per_number(leaf)
        if values.is_array(leaf) or (
            values.is_tensor(leaf) and values.has_numbers(leaf)
        ):
            assert type(values.as_array(leaf)) is np.ndarray
            values.number_kind(leaf)
    for pair in ((value, copy), *((value, side) for side in SIDES)):
        for actual, expected in (pair, pair[::-1]):
            difference = first_difference(actual, expected)
            if difference:
                describe_difference(difference)
    result = call.CallResult("value", value, None, (value,))
    assert student.least_precise(call.Call((value,), {"x": value}, result))


def describe(value):
    for text in (
        description.show_value(value),
        description.show_value({"a": [value]}),
        description.describe(value),
        description.describe_kind(value),
        description.show_key(value),
        *description.show_apart(value, [value]),
    ):
        assert len(text) < 1000


def describe_difference(difference):
    description.show_apart(difference.actual, difference.expected)
    if difference.kind not in ("keys", "shape"):  # those are of dictionaries and arrays
        explanation._show_types(difference.actual, difference.expected)
    if explanation._is_large(difference):
        explanation._show_first_wrong(difference)


def forged(tree, data=b""):
    """Return what arrives of a frame that a child writes by itself, if anything."""
    packed = msgpack.packb(tree, unicode_errors="surrogatepass")
    frame = wire.LENGTHS.pack(len(packed), len(data)) + packed + data
    try:
        return [unpack(frame)]
    except MalformedMessage:
        return []


def bytes_of(name):
    """Return the bytes of one number, if such numbers can be made here."""
    try:
        dtype = getattr(torch, name) if name in TORCH else np.dtype(name)
    except (TypeError, ValueError):
        return 1
    return dtype.itemsize


@pytest.mark.parametrize("name", TORCH)
def test_forged_tensor_of_any_dtype_is_judged_or_malformed(name):
    for shape, raw in itertools.product(SHAPES, RAW):
        length = math.prod(shape) * bytes_of(name)
        for value in forged(["T", name, [*shape], 0, length], raw[:length]):
            work_on(value)


@pytest.mark.filterwarnings("ignore")  # torch's own, about tensors that it discourages
@pytest.mark.parametrize("name", TORCH)
def test_tensor_of_any_dtype_arrives_or_is_unknown(name):
    for shape in SHAPES[:-1]:
        try:
            tensor = torch.empty(shape, dtype=getattr(torch, name))
            views = [tensor, tensor.transpose(0, -1)] if tensor.ndim else [tensor]
        except (RuntimeError, TypeError):
            continue  # of such numbers there are no tensors
        for value in views:
            arrived = unpack(pack([value], limits=wire.FROM_CALL))
            work_on(arrived)
            work_on(arrived[0])


@pytest.mark.parametrize("order", ["<", ">", "|"])
@pytest.mark.parametrize("name", NUMPY)
def test_forged_array_of_any_dtype_is_judged_or_malformed(name, order):
    size = bytes_of(name)
    for shape, raw in itertools.product(SHAPES, RAW):
        length = math.prod(shape) * size
        tree = ["a", order + name, [*shape], True, 0, length]
        for value in forged(tree, raw[:length]):
            work_on(value)
    for value in forged(["n", order + name, 0, size], NOISE[:size]):
        work_on(value)


@pytest.mark.filterwarnings("ignore")  # NumPy's own, about what it will no longer take
@pytest.mark.parametrize("name", NUMPY)
def test_array_of_any_dtype_arrives_or_is_unknown(name):
    try:
        whole = np.zeros((4, 3), name)
    except (TypeError, ValueError, MemoryError):
        return  # there are no such arrays
    views = [whole, whole[:2], whole[::-1, ::-2], whole.T, whole[:0], whole[0, 0]]
    views += [whole.reshape((1,) * 31 + (12,)), whole.reshape((1,) * 40 + (12,))]
    views.append(np.broadcast_to(whole[0, 0], (2, 3)))
    for value in views:
        arrived = unpack(pack([value], limits=wire.FROM_CALL))
        work_on(arrived)
        work_on(arrived[0])


# Any tree of the writer's tags, with any parts.
parts = st.one_of(
    st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats(),
    st.text(max_size=3), st.binary(max_size=3), st.sampled_from(["<f8", "<U1", "bool"]),
)  # fmt: skip
trees = st.recursive(
    parts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(st.sampled_from("ltszdicnaTx?"), st.lists(inner, max_size=6)).map(
            lambda node: [node[0], *node[1]]
        )
    ),
    max_leaves=12,
)


@settings(max_examples=500, derandomize=True)
@given(trees)
def test_any_tree_is_judged_or_malformed(tree):
    for value in forged(tree, NOISE):
        work_on(value)
