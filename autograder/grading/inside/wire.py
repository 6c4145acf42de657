"""Plain data across the sandbox's border: a tagged tree in msgpack, no pickle.

Only values of exactly these types cross: None, bool, int, float, complex, str, bytes,
list, tuple, set, frozenset, dict, NumPy's arrays and numbers, torch's tensors. A
function crosses as a number; anything else crosses as the name of its type and
arrives as an ``UnknownObject``. What is read here may come from an attacker: sizes are
checked before anything is built.

A frame is two lengths, a tree, and the bytes of all arrays behind it.
"""

import gc
import math
import re
import socket
import struct
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

LENGTHS = struct.Struct(">II")
MAX_TREE_BYTES = 4 << 20  # bytes of a message to a child: all the cells at once
MAX_CHILD_TREE_BYTES = (
    1 << 20
)  # of a child's message: reading it takes at most a second
MAX_ARRAY_BYTES = 64 << 20  # of arrays in one frame
MAX_DEPTH = 60  # levels of nesting, a little more than a case compares
MAX_INT_BITS = 14_000  # Python prints no more than 4,300 digits
DTYPE = re.compile(r"[<>|=]?([biufc]\d{1,2}|[US]\d{1,9})")
MAX_AXES = 32

CONTAINERS: dict[type, str] = {
    list: "l",
    tuple: "t",
    set: "s",
    frozenset: "z",
    dict: "d",
    Counter: "d",  # arrives as a dictionary
    defaultdict: "d",
}
PLAIN = (type(None), bool, float, str, bytes)
PLAIN_SET = {*PLAIN}


class TooLarge(ValueError):
    """A value that is larger than the wire takes."""


class MalformedMessage(ValueError):
    """Bytes that are no frame, or end before the frame does."""


class UnknownObject:
    """Stands for a value of a type that does not cross; its class has that name."""


class Callback:
    """Stands for a function on the other side.

    number : which one
    """

    def __init__(self, number: int) -> None:
        """Store the number."""
        self.number = number


FunctionNumber = Callable[[Any], int | None]  # under which a function crosses


def pack(
    value: Any,
    number_of: FunctionNumber = lambda function: None,
    max_tree_bytes: int = MAX_TREE_BYTES,
) -> bytes:
    """Write a value as a frame; raises ``TooLarge``.

    number_of : returns a function's number, or None if the function does not cross
    """
    blobs: list[bytes] = []
    try:
        tree = msgpack.packb(
            _Writer(number_of, blobs).tree(value, 0), unicode_errors="surrogatepass"
        )
    except (ValueError, OverflowError, RecursionError) as error:
        raise TooLarge(str(error)) from None
    data = b"".join(blobs)
    if len(tree) > max_tree_bytes or len(data) > MAX_ARRAY_BYTES:
        raise TooLarge(f"{len(tree) + len(data)} bytes")
    return LENGTHS.pack(len(tree), len(data)) + tree + data


def unpack(frame: bytes) -> Any:
    """Read a frame; raises ``MalformedMessage``."""
    collects = gc.isenabled()
    gc.disable()  # it would visit each part again and again, and free nothing
    try:
        tree_length, _ = LENGTHS.unpack_from(frame)
        start = LENGTHS.size + tree_length
        tree = msgpack.unpackb(
            frame[LENGTHS.size : start],
            strict_map_key=False,
            unicode_errors="surrogatepass",
            max_map_len=0,  # the writer makes none
            max_ext_len=0,
        )
        return _Reader(memoryview(frame)[start:]).value(tree, 0)
    except MalformedMessage:
        raise
    except Exception as error:
        raise MalformedMessage(f"{type(error).__name__}: {error}") from None
    finally:
        if collects:
            gc.enable()


class _Writer:
    """Turns a value into a tree of lists, with the arrays' bytes in blobs."""

    def __init__(self, number_of: FunctionNumber, blobs: list[bytes]) -> None:
        self.number_of = number_of
        self.blobs = blobs
        self.n_bytes = 0

    def tree(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if depth > MAX_DEPTH:
            return ["?", "a value that is nested too deep"]
        if any(kind is plain for plain in PLAIN):
            return value
        if kind is int:
            return _integer(value)
        for container, tag in CONTAINERS.items():  # no look-up: a type's hash may lie
            if kind is container:
                parts = _flattened(value) if tag == "d" else value
                if _all_plain(parts):
                    return [tag, *parts]
                return [tag, *[self.tree(part, depth + 1) for part in parts]]
        return self.other(value, kind)

    def other(self, value: Any, kind: type) -> Any:
        if kind is complex:
            return ["c", value.real, value.imag]
        if kind is np.ndarray or issubclass(kind, np.generic):
            return self.array(value, kind)
        torch = sys.modules.get("torch")
        if torch and (kind is torch.Tensor or kind is torch.nn.Parameter):
            return self.tensor(value, torch)
        number = self.number_of(value) if callable(value) else None
        return ["?", _type_name(kind)] if number is None else ["x", number]

    def array(self, value: Any, kind: type) -> Any:
        if kind is not np.ndarray and kind is not np.dtype(kind).type:
            return ["?", _type_name(kind)]
        dtype = value.dtype.str
        if not DTYPE.fullmatch(dtype) or not value.dtype.itemsize:
            return ["?", _array_type_name(value, kind)]
        if kind is not np.ndarray:
            return ["n", dtype, *self.blob(value.tobytes())]
        fortran_order = value.flags.f_contiguous and not value.flags.c_contiguous
        location = self.blob(value.tobytes("F" if fortran_order else "C"))
        return ["a", dtype, list(value.shape), fortran_order, *location]

    def tensor(self, value: Any, torch: Any) -> Any:
        if str(value.layout) != "torch.strided" or value.is_meta or value.is_quantized:
            return ["?", "Tensor that is not dense"]
        value = value.detach().cpu().contiguous().resolve_conj().resolve_neg()
        dtype = str(value.dtype).removeprefix("torch.")
        raw = value.reshape(-1).view(torch.uint8).numpy().tobytes()
        return ["T", dtype, list(value.shape), *self.blob(raw)]

    def blob(self, raw: bytes) -> tuple[int, int]:
        """Add an array's bytes; return where they start and how many there are."""
        self.n_bytes += len(raw)
        if self.n_bytes > MAX_ARRAY_BYTES:
            raise TooLarge(f"more than {MAX_ARRAY_BYTES} bytes of arrays")
        self.blobs.append(raw)
        return self.n_bytes - len(raw), len(raw)


class _Reader:
    """Turns a tree back into the value; all of the tree is untrusted."""

    def __init__(self, data: memoryview) -> None:
        self.data = data

    def value(self, tree: Any, depth: int) -> Any:
        if type(tree) is not list:
            return tree
        if depth > MAX_DEPTH + 1:
            raise MalformedMessage("nested too deep")
        tag, *parts = tree
        if tag in ("l", "t", "s", "z", "d"):
            inner = parts
            if any(type(part) is list for part in parts):
                inner = [self.value(part, depth + 1) for part in parts]
            return _container(tag, inner)
        return getattr(self, READERS[tag])(*parts)

    def integer(self, text: str) -> int:
        if len(text) > MAX_INT_BITS // 4 + 1:
            raise MalformedMessage("an integer of too many digits")
        return int(text, 16)

    def complex(self, real: float, imaginary: float) -> complex:
        return complex(real, imaginary)

    def number(self, dtype: str, start: int, length: int) -> Any:
        return self.array(dtype, [], False, start, length)[()]

    def array(
        self, dtype: str, shape: list[int], fortran_order: bool, start: int, length: int
    ) -> np.ndarray:
        if not DTYPE.fullmatch(dtype):
            raise MalformedMessage("a dtype that does not cross")
        numpy_dtype = np.dtype(dtype)
        count = self.count(shape)
        size = numpy_dtype.itemsize
        if not size or count * size != length:
            raise MalformedMessage("an array whose size and bytes differ")
        flat = np.frombuffer(self.bytes(start, length), numpy_dtype, count)
        return flat.reshape(shape, order="F" if fortran_order else "C").copy(order="K")

    def tensor(self, name: str, shape: list[int], start: int, length: int) -> Any:
        import torch

        kind = getattr(torch, name, None)
        if not isinstance(kind, torch.dtype) or name.startswith("q"):
            raise MalformedMessage("a tensor of unknown numbers")
        count = self.count(shape)
        if count * torch.empty(0, dtype=kind).element_size() != length:
            raise MalformedMessage("a tensor whose size and bytes differ")
        if not count:
            return torch.empty(shape, dtype=kind)
        raw = bytearray(self.bytes(start, length))
        return torch.frombuffer(raw, dtype=kind).reshape(shape).clone()

    def callback(self, number: int) -> Callback:
        if type(number) is not int:
            raise MalformedMessage("a function without a number")
        return Callback(number)

    def unknown(self, name: str) -> UnknownObject:
        printable = "".join(c if c.isprintable() else "?" for c in str(name)[:80])
        return type(printable or "?", (UnknownObject,), {})()

    def count(self, shape: list[int]) -> int:
        if type(shape) is not list or len(shape) > MAX_AXES:
            raise MalformedMessage("not a shape")
        if not all(type(size) is int and 0 <= size < 1 << 40 for size in shape):
            raise MalformedMessage("not a shape")
        return math.prod(shape)

    def bytes(self, start: int, length: int) -> memoryview:
        if start < 0 or length < 0 or start + length > len(self.data):
            raise MalformedMessage("bytes that are not there")
        return self.data[start : start + length]


READERS = {
    "i": "integer",
    "c": "complex",
    "n": "number",
    "a": "array",
    "T": "tensor",
    "x": "callback",
    "?": "unknown",
}


def _container(tag: str, parts: list[Any]) -> Any:
    if tag == "d":
        return dict(zip(parts[::2], parts[1::2], strict=True))
    return {"l": list, "t": tuple, "s": set, "z": frozenset}[tag](parts)


def _all_plain(parts: Any) -> bool:
    """Return whether all parts cross as they are.

    For a long list this is a hundred times quicker than a test of each part.
    """
    try:
        kinds = {*map(type, parts)}
        if kinds == {int}:
            return -(1 << 63) <= min(parts) and max(parts) < 1 << 63
        return kinds <= PLAIN_SET
    except Exception:  # a type that refuses to be looked up
        return False


def _flattened(items: dict[Any, Any]) -> list[Any]:
    return [part for pair in items.items() for part in pair]


def _integer(value: int) -> Any:
    if -(1 << 63) <= value < 1 << 63:
        return value
    if value.bit_length() > MAX_INT_BITS:
        return ["?", "int of too many digits"]
    return ["i", format(value, "x")]


def _type_name(kind: type) -> str:
    """Return a type's own name; a metaclass may answer anything."""
    try:
        return str.__str__(type.__dict__["__name__"].__get__(kind))
    except Exception:
        return "something unknown"


def _array_type_name(value: Any, kind: type) -> str:
    return f"{_type_name(kind)} of {_type_name(value.dtype.type)}"


def send(connection: socket.socket, frame: bytes) -> None:
    """Send a frame whole; the socket's own time limit holds."""
    connection.sendall(frame)


def receive(
    connection: socket.socket,
    deadline: float | None = None,
    max_tree_bytes: int = MAX_TREE_BYTES,
) -> bytes:
    """Receive a frame.

    deadline : on ``time.monotonic``'s clock; None waits for ever

    Raises ``TimeoutError`` at the deadline, ``EOFError`` if the other side is gone,
    ``MalformedMessage`` if it announces more than a frame may hold.
    """
    head = _receive_exactly(connection, LENGTHS.size, deadline)
    tree, data = LENGTHS.unpack(head)
    if tree > max_tree_bytes or data > MAX_ARRAY_BYTES:
        raise MalformedMessage("a frame that is too long")
    return bytes(head + _receive_exactly(connection, tree + data, deadline))


def _receive_exactly(
    connection: socket.socket, length: int, deadline: float | None
) -> bytearray:
    received = bytearray()
    while len(received) < length:
        if deadline is not None:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                raise TimeoutError
            connection.settimeout(seconds)
        try:
            part = connection.recv(min(length - len(received), 1 << 20))
        except ConnectionError:
            raise EOFError from None
        if not part:
            raise EOFError
        received += part
    return received
