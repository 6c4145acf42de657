"""What crosses the sandbox's border, and what an attacker's bytes can do: nothing."""

import socket
import struct
import threading
import time
from collections import Counter, defaultdict

import msgpack
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checking.comparison import first_difference
from autograder.checking.own_time import TimeLeft
from autograder.grading.inside import wire
from autograder.grading.inside.wire import (
    MalformedMessage,
    TooLarge,
    UnknownObject,
    pack,
    unpack,
)

VALUES = [
    *(None, True, 3, -(2**63), 2**63, -(2**200), 1.5, float("-inf"), 2 - 3j),
    *("", "naïve", "\ud800", b"\x00\xff", [], (), {}, set(), frozenset({1})),
    [1, (2.0, {"a": [None], (1, 2): "b"})],
    *(np.float32(0.5), np.int64(-3), np.bool_(True), np.str_("x")),
    *(np.zeros((2, 0, 3)), np.array(5), np.array(["a", "bcd"])),
    *(np.arange(6, dtype=">i2"), np.ones(3, np.float16), np.ones(2, complex)),
    *(torch.zeros(2, 0), torch.tensor(3), torch.ones(2, 3, dtype=torch.bfloat16)),
    *(torch.tensor([True]), torch.tensor([1 + 2j]), torch.arange(6).reshape(2, 3).T),
]


def round_trip(value):
    return unpack(pack(value))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_value_arrives_unchanged(value):
    arrived = round_trip(value)
    assert type(arrived) is type(value)
    assert first_difference(arrived, value) is None
    if isinstance(value, np.ndarray):
        assert (arrived.dtype, arrived.shape) == (value.dtype, value.shape)
    if isinstance(value, torch.Tensor):
        assert (arrived.dtype, arrived.shape) == (value.dtype, value.shape)


def test_counter_and_defaultdict_arrive_as_dict():
    for sent in (Counter("aab"), defaultdict(int, a=2, b=1)):
        arrived = round_trip([sent])[0]
        assert type(arrived) is dict and arrived == {"a": 2, "b": 1}


def test_nan_arrives_as_nan():
    assert np.isnan(round_trip([float("nan"), np.array([np.nan])])[1]).all()


def test_array_keeps_memory_order_and_owns_its_memory():
    columns = np.arange(6.0).reshape(2, 3).T
    assert round_trip(columns).flags.f_contiguous
    arrived = round_trip(columns)
    arrived[0, 0] = 7.0
    assert columns[0, 0] == 0.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.bool])
def test_transposed_tensor_keeps_memory_order(dtype):
    rows = torch.arange(24).reshape(2, 3, 4).to(dtype)
    for sent in (rows, rows.permute(2, 1, 0), rows[0].T, rows.mT, rows[:, :, 1]):
        arrived = round_trip([sent])[0]
        assert torch.equal(arrived, sent)
    assert round_trip(rows[0].T).stride() == (1, 4)
    assert round_trip(rows.permute(2, 1, 0)).stride() == (1, 4, 12)
    assert round_trip(rows).is_contiguous()


class Lying(np.ndarray):
    """Claims to equal everything."""

    def __eq__(self, other):
        return True


class Metaclass(type):
    def __hash__(cls):
        raise RuntimeError

    @property
    def __name__(cls):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.zeros(3).view(Lying), "Lying"),
        (np.ma.masked_array([1.0], [True]), "MaskedArray"),
        (np.array([1, "a"], object), "ndarray of object_"),
        (np.zeros(2, [("x", "f8")]), "ndarray of void"),
        ((x for x in "ab"), "generator"),
        (range(3), "range"),
        (len, "builtin_function_or_method"),
        (torch.zeros(2).to_sparse(), "Tensor that is not dense"),
        (1 << (1 << 16), "int of too many digits"),
        (np.zeros((1,) * 40), "ndarray of float64"),
        (np.empty((0, 1 << 39)), "ndarray of float64"),
        (np.zeros(2, "M8[s]"), "ndarray of datetime64"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_unknown_object_arrives_with_the_name_of_its_type(value, name):
    (arrived,) = round_trip([value])
    assert isinstance(arrived, UnknownObject)
    assert type(arrived).__name__ == name


def test_value_that_contains_itself_is_cut_off():
    endless = [1]
    endless.append(endless)
    assert round_trip(endless)[0] == 1


def test_function_arrives_as_its_number():
    arrived = unpack(pack([abs], lambda function: 4 if function is abs else None))
    assert type(arrived[0]) is wire.Callback
    assert arrived[0].number == 4


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(wire.TO_CHILD.arrays),
        [np.zeros(wire.TO_CHILD.arrays // 16)] * 3,
        "x" * (5 << 20),
        [0] * (wire.MAX_PARTS + 1),
        [[0] * 1000] * (wire.MAX_PARTS // 1000),
        {*range(wire.MAX_KEYS + 1)},
        [dict.fromkeys(range(1000))] * (wire.MAX_KEYS // 1000 + 1),
    ],
    ids=["one array", "several", "a text", "list", "lists", "set", "dictionaries"],
)
def test_pack_refuses_values_that_are_too_large(value):
    with pytest.raises(TooLarge):
        pack(value)


def test_vocabulary_of_five_thousand_tokens_arrives():
    ids = {f"token{i}": i for i in range(5000)}
    merges = {(f"a{i}", f"b{i}"): i for i in range(4000)}
    assert round_trip(ids) == ids
    assert round_trip([merges, {*ids}]) == [merges, {*ids}]


def frame(tree, data=b""):
    packed = msgpack.packb(tree)
    return wire.LENGTHS.pack(len(packed), len(data)) + packed + data


@pytest.mark.parametrize(
    "tree",
    [
        ["a", "<f8", [1 << 30], False, 0, 8],
        ["a", "<f8", [-1], False, 0, 8],
        ["a", "<f8", [1.0], False, 0, 8],
        ["a", "<f8", [1], False, -8, 8],
        ["a", "<f8", [1], False, 0, 1 << 40],
        ["a", "|O", [1], False, 0, 8],
        ["a", "|V8", [1], False, 0, 8],
        ["a", "<f8,<f8", [1], False, 0, 16],
        ["a", "<U0", [4], False, 0, 0],
        ["a", "<U999999", [0], False, 0, 0],
        ["a", "<f8", [0, 1 << 39], False, 0, 0],
        ["a", "<u4", [2], False, 0, 4],
        ["T", "bits8", [8], 0, 8],
        ["T", "complex32", [2], 0, 8],
        ["T", "float64", [0, 1 << 39], 0, 0],
        ["T", "qint8", [8], 0, 8],
        ["T", "load", [8], 0, 8],
        ["T", "float64", [2], 0, 8],
        ["i", "f" * (1 << 16)],
        ["i", "__import__('os')"],
        ["x", "1"],
        ["d", 1],
        ["d", ["l"], 1],
        ["s", ["l"]],
        ["__class__"],
        ["nothing like it"],
        [],
        [[]],
        [None],
        {"a": 1},
        ["l", {"a": 1}],
        ["c", "1", None],
        ["n", "<f8", 0],
    ],
    ids=repr,
)
def test_false_frame_is_a_malformed_message(tree):
    with pytest.raises(MalformedMessage):
        unpack(frame(tree, bytes(8)))


MODULUS = (1 << 61) - 1  # hash() of a number is what it leaves
COLLIDING = [
    *(["i", format(i * MODULUS, "x")] for i in range(wire.MAX_EQUAL_HASHES + 9)),
]


@pytest.mark.parametrize("tag", ["s", "z", "d"])
@pytest.mark.parametrize(
    "wrap",
    [lambda key: key, lambda key: ["t", key, "x"], lambda key: ["z", key]],
    ids=["numbers", "tuples", "frozen sets"],
)
def test_keys_of_equal_hashes_are_a_malformed_message(tag, wrap):
    keys = map(wrap, COLLIDING)
    parts = [part for key in keys for part in ((key, 0) if tag == "d" else (key,))]
    with pytest.raises(MalformedMessage, match="equal hashes"):
        unpack(frame(["l", [tag, *parts]]))


@pytest.mark.parametrize(
    "tree",
    [
        ["l", *[0] * (wire.MAX_PARTS + 1)],
        ["l", *[["l", *[0] * 1000]] * (wire.MAX_PARTS // 1000)],
        ["s", *range(wire.MAX_KEYS + 1)],
        ["l", *[["s", *range(1000)]] * (wire.MAX_KEYS // 1000 + 1)],
        ["l", *[["?", f"type {i}"] for i in range(wire.MAX_UNKNOWN_TYPES + 1)]],
    ],
    ids=["list", "lists", "set", "sets", "types"],
)
def test_too_many_parts_are_a_malformed_message(tree):
    with pytest.raises(MalformedMessage):
        unpack(frame(tree))


def test_arrays_that_share_bytes_are_a_malformed_message():
    # A few bytes each would make copies of the same megabytes without end.
    for tree in (["a", "<f8", [8], False, 0, 64], ["T", "float64", [8], 0, 64]):
        assert unpack(frame(tree, bytes(64))).shape == (8,)
        with pytest.raises(MalformedMessage, match="another array's"):
            unpack(frame(["l", tree, tree], bytes(64)))


def test_booleans_of_other_bytes_are_booleans():
    raw = bytes([0, 1, 2, 255])
    for tree in (["a", "|b1", [4], False, 0, 4], ["T", "bool", [4], 0, 4]):
        arrived = unpack(frame(tree, raw))
        assert arrived.tolist() == [False, True, True, True]
        assert arrived.sum() == 3


def test_endless_nesting_is_a_malformed_message():
    tree = 1
    for _ in range(200):
        tree = ["l", tree]
    with pytest.raises(MalformedMessage):
        unpack(frame(tree))
    with pytest.raises(MalformedMessage):
        unpack(wire.LENGTHS.pack(100_000, 0) + b"\x91" * 100_000)


@settings(max_examples=300, derandomize=True)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_malformed_message(noise):
    for text in (noise, wire.LENGTHS.pack(len(noise), 0) + noise):
        try:
            unpack(text)
        except MalformedMessage:
            pass


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=200, derandomize=True)
@given(DATA)
def test_any_data_arrives_unchanged(value):
    assert round_trip(value) == value


def test_receive_ends_at_deadline_end_and_excessive_length():
    own, theirs = socket.socketpair()
    with own, theirs:
        with pytest.raises(TimeoutError):
            wire.receive(own, TimeLeft(0.05))
        theirs.sendall(struct.pack(">II", 1 << 31, 0))
        with pytest.raises(MalformedMessage):
            wire.receive(own, TimeLeft(5))
        theirs.close()
        with pytest.raises(EOFError):
            wire.receive(own, TimeLeft(5))


def test_slow_bytes_do_not_move_the_deadline():
    own, theirs = socket.socketpair()

    def drip():
        for byte in pack("x" * 100):
            time.sleep(0.02)
            try:
                theirs.send(bytes([byte]))
            except OSError:
                return

    with own, theirs:
        threading.Thread(target=drip, daemon=True).start()
        with pytest.raises(TimeoutError):
            wire.receive(own, TimeLeft(0.1))
