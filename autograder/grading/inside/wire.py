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
import operator
import re
import socket
import struct
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgpack
import numpy as np

from autograder.checking.values import TENSOR_DTYPES, dtype_name, has_numbers

LENGTHS = struct.Struct(">II")
MAX_DEPTH = 60  # levels of nesting, a little more than a case compares
MAX_PARTS = 40_000  # of all containers in a frame: each is compared and described
MAX_KEYS = 10_000  # of all sets and dictionaries: at worst each is compared with each
MAX_EQUAL_HASHES = 100  # of the keys of one container: honest ones hardly ever collide
MAX_INT_BITS = 14_000  # Python prints no more than 4,300 digits
MAX_AXES = 32
MAX_UNKNOWN_TYPES = 100  # that keep their names: each becomes a class
# All dtypes of arrays that cross; of tensors, see ``values``.
DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f(2|4|8|12|16)|c(8|16|24|32)|[US]\d{1,5})")
LAST_CODE_POINT = 0x10FFFF


class FrameLimits(NamedTuple):
    """How many bytes a frame may have: of its tree, and of arrays."""

    tree: int
    arrays: int


TO_CHILD = FrameLimits(4 << 20, 64 << 20)  # with all the cells at once
FROM_CELLS = FrameLimits(1 << 20, 0)  # with the pictures that cells display
FROM_CALL = FrameLimits(256 << 10, 4 << 20)  # both are a hundred times what a case asks

CONTAINERS: dict[type, str] = {
    list: "l",
    tuple: "t",
    set: "s",
    frozenset: "z",
    dict: "d",
    Counter: "d",  # arrives as a dictionary
    defaultdict: "d",
}
WITH_KEYS = "szd"  # tags of containers that look up what is in them
PLAIN = {type(None), bool, float, str, bytes}
TAGS = {*CONTAINERS.values()}


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
    limits: FrameLimits = TO_CHILD,
) -> bytes:
    """Write a value as a frame; raises ``TooLarge``.

    number_of : returns a function's number, or None if the function does not cross
    """
    blobs: list[bytes] = []
    try:
        tree = msgpack.packb(
            _Writer(number_of, blobs, limits.arrays).tree(value, 0),
            unicode_errors="surrogatepass",
        )
    except (ValueError, OverflowError, RecursionError) as error:
        raise TooLarge(str(error)) from None
    data = b"".join(blobs)
    if len(tree) > limits.tree:
        raise TooLarge(f"{len(tree)} bytes")
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
            max_array_len=MAX_PARTS + 1,
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

    def __init__(
        self, number_of: FunctionNumber, blobs: list[bytes], max_bytes: int
    ) -> None:
        self.number_of = number_of
        self.blobs = blobs
        self.max_bytes = max_bytes
        self.n_bytes = self.n_parts = self.n_keys = 0

    def tree(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if depth > MAX_DEPTH:
            return ["?", "a value that is nested too deep"]
        if value is None or kind is float or kind is str or kind is bool:
            return value
        if kind is bytes:
            return value
        if kind is int:
            return _integer(value)
        for container, tag in CONTAINERS.items():  # no look-up: a type's hash may lie
            if kind is container:
                parts = _flattened(value) if tag == "d" else value
                self.n_parts += len(parts)
                if tag in WITH_KEYS:
                    self.n_keys += len(value)
                if self.n_parts > MAX_PARTS or self.n_keys > MAX_KEYS:
                    raise TooLarge(f"more than {MAX_PARTS} parts or {MAX_KEYS} keys")
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
        crosses = DTYPE.fullmatch(dtype) and value.dtype.itemsize
        if not crosses or not _is_shape(value.shape):
            return ["?", _array_type_name(value, kind)]
        if kind is not np.ndarray:
            return ["n", dtype, *self.blob(value.tobytes())]
        fortran_order = value.flags.f_contiguous and not value.flags.c_contiguous
        location = self.blob(value.tobytes("F" if fortran_order else "C"))
        return ["a", dtype, list(value.shape), fortran_order, *location]

    def tensor(self, value: Any, torch: Any) -> Any:
        dtype = dtype_name(value)
        if not has_numbers(value) or not _is_shape(value.shape):
            dense = str(value.layout) == "torch.strided"
            return ["?", f"Tensor of {dtype}" if dense else "Tensor that is not dense"]
        value = value.detach().cpu().resolve_conj().resolve_neg()
        reverse = value.permute(tuple(reversed(range(value.ndim))))
        fortran_order = reverse.is_contiguous() and not value.is_contiguous()
        in_memory = reverse if fortran_order else value.contiguous()
        raw = in_memory.reshape(-1).view(torch.uint8).numpy().tobytes()
        return ["T", dtype, list(value.shape), *self.blob(raw), fortran_order]

    def blob(self, raw: bytes) -> tuple[int, int]:
        """Add an array's bytes; return where they start and how many there are."""
        self.n_bytes += len(raw)
        if self.n_bytes > self.max_bytes:
            raise TooLarge(f"more than {self.max_bytes} bytes of arrays")
        self.blobs.append(raw)
        return self.n_bytes - len(raw), len(raw)


class _Reader:
    """Turns a tree back into the value; all of the tree is untrusted."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.n_bytes = self.n_parts = self.n_keys = 0  # that have been read
        self.unknown_types: dict[str, type[UnknownObject]] = {}

    def value(self, tree: Any, depth: int) -> Any:
        if type(tree) is not list:
            return tree
        if depth > MAX_DEPTH + 1:
            raise MalformedMessage("nested too deep")
        tag, *parts = tree
        if tag not in TAGS:
            return getattr(self, READERS[tag])(*parts)
        self.n_parts += len(parts)
        if self.n_parts > MAX_PARTS:
            raise MalformedMessage("too many parts")
        if any(type(part) is list for part in parts):
            parts = [self.value(part, depth + 1) for part in parts]
        return self.container(tag, parts)

    def container(self, tag: str, parts: list[Any]) -> Any:
        if tag in WITH_KEYS:
            keys = parts[::2] if tag == "d" else parts
            self.n_keys += len(keys)
            if self.n_keys > MAX_KEYS or _collide(keys):
                raise MalformedMessage("too many keys, or keys of equal hashes")
        if tag == "d":
            return dict(zip(keys, parts[1::2], strict=True))
        return {"l": list, "t": tuple, "s": set, "z": frozenset}[tag](parts)

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
        raw = self.blob(shape, numpy_dtype.itemsize, start, length)
        flat = np.frombuffer(raw, numpy_dtype)
        if numpy_dtype.kind == "b":  # of other bytes than 0 and 1, too
            flat = flat.view(np.uint8) != 0
        elif numpy_dtype.kind == "U":
            code_points = flat.view(f"{numpy_dtype.byteorder}u4")
            if code_points.size and code_points.max() > LAST_CODE_POINT:
                raise MalformedMessage("letters that do not exist")
        return flat.reshape(shape, order="F" if fortran_order else "C").copy(order="K")

    def tensor(
        self,
        name: str,
        shape: list[int],
        start: int,
        length: int,
        fortran_order: bool = False,
    ) -> Any:
        import torch

        if name not in TENSOR_DTYPES:
            raise MalformedMessage("a dtype that does not cross")
        dtype = getattr(torch, name)
        raw = bytearray(self.blob(shape, dtype.itemsize, start, length))
        if not raw:
            return torch.empty(shape, dtype=dtype)
        if name == "bool":
            flat = torch.frombuffer(raw, dtype=torch.uint8).ne(0)
        else:
            flat = torch.frombuffer(raw, dtype=dtype)
        if fortran_order:
            return flat.reshape(shape[::-1]).permute(tuple(reversed(range(len(shape)))))
        return flat.reshape(shape)

    def callback(self, number: int) -> Callback:
        if type(number) is not int:
            raise MalformedMessage("a function without a number")
        return Callback(number)

    def unknown(self, name: str) -> UnknownObject:
        if type(name) is not str:
            raise MalformedMessage("a type without a name")
        name = "".join(c if c.isprintable() else "?" for c in name[:80]) or "?"
        if name not in self.unknown_types:
            if len(self.unknown_types) == MAX_UNKNOWN_TYPES:
                raise MalformedMessage("too many types")
            self.unknown_types[name] = type(name, (UnknownObject,), {})
        return self.unknown_types[name]()

    def blob(
        self, shape: list[int], item_size: int, start: int, length: int
    ) -> memoryview:
        """Return an array's bytes, which lie behind those of the array before."""
        if type(shape) is not list or not _is_shape(shape):
            raise MalformedMessage("not a shape")
        if not item_size or math.prod(shape) * item_size != length:
            raise MalformedMessage("an array whose size and bytes differ")
        self.n_bytes += length
        if start != self.n_bytes - length or self.n_bytes > len(self.data):
            raise MalformedMessage("bytes that are not there, or another array's")
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


def _is_shape(sizes: Sequence[int]) -> bool:
    """Decide whether these are sizes of an array, and if it is empty, no huge ones."""
    if len(sizes) > MAX_AXES:
        return False
    product = 1
    for size in sizes:
        if type(size) is not int or size < 0:
            return False
        product *= size or 1
    return product <= TO_CHILD.arrays or 0 not in sizes


def _collide(keys: list[Any]) -> bool:
    """Decide whether too many keys have equal hashes: to look one up would be slow."""
    if len(keys) <= MAX_EQUAL_HASHES:
        return False
    hashes = sorted(map(hash, keys))
    return sum(map(operator.eq, hashes, hashes[1:])) > MAX_EQUAL_HASHES


def _all_plain(parts: Any) -> bool:
    """Return whether all parts cross as they are.

    For a long list this is a hundred times quicker than a test of each part.
    """
    try:
        kinds = {*map(type, parts)}
        if kinds == {int}:
            return -(1 << 63) <= min(parts) and max(parts) < 1 << 63
        return kinds <= PLAIN
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
    seconds_left: Callable[[], float] | None = None,
    limits: FrameLimits = TO_CHILD,
) -> bytes:
    """Receive a frame.

    seconds_left : how long to wait, as it is at the moment; None waits for ever

    Raises ``TimeoutError`` when none are left, ``EOFError`` if the other side is gone,
    ``MalformedMessage`` if it announces more than a frame may hold.
    """
    head = _receive_exactly(connection, LENGTHS.size, seconds_left)
    tree, data = LENGTHS.unpack(head)
    if tree > limits.tree or data > limits.arrays:
        raise MalformedMessage("a frame that is too long")
    return bytes(head + _receive_exactly(connection, tree + data, seconds_left))


def _receive_exactly(
    connection: socket.socket,
    length: int,
    seconds_left: Callable[[], float] | None,
) -> bytearray:
    received = bytearray()
    while len(received) < length:
        if seconds_left is not None:
            seconds = seconds_left()
            if seconds <= 0:
                raise TimeoutError
            connection.settimeout(seconds)
        try:
            part = connection.recv(min(length - len(received), 1 << 20))
        except TimeoutError:  # there may be more by now
            continue
        except ConnectionError:
            raise EOFError from None
        if not part:
            raise EOFError
        received += part
    return received
