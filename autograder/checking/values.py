"""Tell what a value is: a number, an array, a tensor, and how precise.

Only exact types are trusted: a subclass may answer anything about itself.
"""

import sys
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np

Types = tuple[type, ...]


def _with_numpy_types(kind: type, codes: str) -> Types:
    return (kind, *{np.dtype(code).type for code in codes})


INTEGERS = _with_numpy_types(int, np.typecodes["AllInteger"])
FLOATS = _with_numpy_types(float, np.typecodes["Float"])
COMPLEX = _with_numpy_types(complex, np.typecodes["Complex"])
BOOLEANS: Types = (bool, np.bool_)
CONTAINERS: Types = (list, tuple, dict, set, frozenset)
COUNTING: Types = (Counter, defaultdict)  # dictionaries with a special constructor
FLOATING = FLOATS + COMPLEX
MAX_DEPTH = 50  # levels of nesting that are read

# Of tensors whose numbers NumPy can take: of others there is nothing to compare.
TENSOR_DTYPES = frozenset(
    {
        *("bool", "uint8", "uint16", "uint32", "uint64"),
        *("int8", "int16", "int32", "int64"),
        *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
        *("float8_e8m0fnu", "float16", "bfloat16", "float32", "float64"),
        *("complex64", "complex128"),
    }
)
NUMBER_KINDS = {
    "f": "floats",
    "i": "integers",
    "u": "integers",
    "b": "booleans",
    "c": "complex numbers",
    "U": "texts",
    "O": "Python objects",
}


def is_one_of(value: Any, kinds: Types) -> bool:
    """Decide whether a value is exactly of one of these types, no subclass."""
    own = type(value)
    for kind in kinds:  # a loop: this runs for every number, any(…) takes twice as long
        if own is kind:
            return True
    return False


def is_array(value: Any) -> bool:
    """Decide whether a value is exactly a NumPy array."""
    return type(value) is np.ndarray


def is_tensor(value: Any) -> bool:
    """Decide whether a value is exactly a torch tensor, without importing torch."""
    torch, own = sys.modules.get("torch"), type(value)
    return torch is not None and (own is torch.Tensor or own is torch.nn.Parameter)


def dtype_name(value: Any) -> str:
    """Return the name of an array's or a tensor's dtype, such as ``float64``."""
    return str(value.dtype).removeprefix("torch.")


def has_numbers(value: Any) -> bool:
    """Decide whether ``as_array`` can read a tensor: it is dense and has its data."""
    return (
        str(value.layout) == "torch.strided"
        and dtype_name(value) in TENSOR_DTYPES
        and not value.is_meta
        and not value.is_quantized
        and not value.is_nested
    )


def unwrapped(value: Any) -> Any:
    """Return a value as the plain type that it stands for.

    - an array without axes: the number in it
    - a NumPy string: a Python string
    - a ``Counter`` or ``defaultdict``: a dictionary
    """
    if is_one_of(value, COUNTING):
        return dict(value)
    if is_array(value) and value.ndim == 0 and value.dtype.kind in "biufcU":
        value = value[()]
    return str.__str__(value) if type(value) is np.str_ else value


def without_names(value: Any) -> Any:
    """Return a named tuple as the tuple that it is, an ``OrderedDict`` as its dict.

    >>> from collections import namedtuple
    >>> without_names(namedtuple("Result", "weights output")(1, 2))
    (1, 2)
    """
    kind = type(value)
    if kind is OrderedDict:
        return dict(value)
    # What a class says of itself may be a lie: asked is what Python knows of it.
    bases = type.__dict__["__bases__"].__get__(kind)
    if len(bases) == 1 and bases[0] is tuple:
        if "_fields" in type.__dict__["__dict__"].__get__(kind):
            return tuple.__getitem__(value, slice(None))
    return value


def as_array(value: Any) -> np.ndarray:
    """Return the numbers of an array, tensor or number as a NumPy array."""
    if is_tensor(value):
        value = value.detach().cpu().resolve_conj().resolve_neg()
        if value.is_floating_point() and value.element_size() < 4:  # bfloat16 too
            value = value.float()
        return value.numpy()
    return np.asarray(value)


def number_kind(value: Any) -> str:
    """Name the kind of numbers in an array or tensor: floats, integers, …"""
    if is_tensor(value):
        if value.is_complex():
            return "complex numbers"
        if value.is_floating_point():
            return "floats"
        return "booleans" if str(value.dtype) == "torch.bool" else "integers"
    kind = NUMBER_KINDS.get(value.dtype.kind)
    return kind or f"items of type {value.dtype}"


def bytes_per_number(value: Any) -> int:
    """Return the bytes of a floating-point number in a value: 8, 4 or 2.

    8 for whatever is not floating; larger and smaller sizes count as 8 and 2.
    """
    if is_tensor(value):
        size = value.element_size() // (2 if value.is_complex() else 1)
        floating = value.is_floating_point() or value.is_complex()
    elif is_array(value) or is_one_of(value, FLOATING):
        dtype = np.asarray(value).dtype
        size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
        floating = dtype.kind in "fc"
    else:
        return 8
    return min(max(size, 2), 8) if floating else 8


def leaves(value: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the parts of a value that hold no others, each after the path to it.

    A value that contains itself is cut where it does, and any value at ``MAX_DEPTH``.
    """
    return _leaves(value, (), ())


def _leaves(
    value: Any, path: tuple[Any, ...], above: tuple[int, ...]
) -> list[tuple[tuple[Any, ...], Any]]:
    if id(value) in above or len(above) > MAX_DEPTH:
        return []
    if is_one_of(value, (list, tuple)):
        steps = list(enumerate(value))
    elif type(value) is dict:
        steps = list(value.items())
    else:
        return [(path, value)]
    return [
        leaf
        for step, inner in steps
        for leaf in _leaves(inner, (*path, step), (*above, id(value)))
    ]
