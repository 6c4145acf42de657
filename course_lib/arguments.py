"""What the NumPy functions check before they compute: shapes, kinds of numbers, sizes.

NumPy broadcasts shapes that do not belong together, wraps small whole numbers around
and reads any number as a mask, all without a word. Here such arguments are refused, by
name. An answer to an exercise need not do that: only the course's own functions do.
"""

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np

ANY = object()  # in place of an axis: none is needed
Shapes = str | Callable[..., Any]  # a text, or the function whose docstring has them
DOCUMENTED = re.compile(
    r"^ *(\w+) : \(([^)]*)\)(?:, (booleans|integers)\b)?", re.MULTILINE
)
KINDS = {"booleans": "boolean", "integers": "whole"}
LARGEST_WHOLE = 2**53  # up to here float64 holds every whole number
NOT_BOOLEAN = (
    '{name} must be boolean, got {kind}: True means "may attend"; convert an additive '
    "mask with convert_mask"
)


def floats(
    shapes: Shapes,
    *values: Any,
    axis: Any = ANY,
    between: tuple[float, float] | None = None,
    **sizes: Any,
) -> Any:
    """Return arguments as arrays of floats whose shapes fit each other.

    shapes : the function whose docstring has the shapes, or for each argument its name
        and axes: "q (..., n, d_k), k (..., m, d_k)". An axis of the same name has the
        same length everywhere, at least 1 (n may be 0); the axes that ... stands for
        are broadcast. Whole numbers are ``whole x (n)``, in a docstring
        ``x : (n,), integers``; masks are ``boolean``, or ``booleans``: there an axis of
        length 1, or one that is missing in front, counts for all, and None stays None
    values : the arguments, arrays or nested lists
    axis : the number of an axis that the first argument must have
    between : the smallest and the largest number that the first argument may hold
    sizes : sizes that are arguments themselves, whole numbers of at least 1; an axis
        may be a multiple of one: "w_q (d_model, n_heads·d_k)"

    Returns the array, or a list if there are several. Floats keep their precision,
    whole numbers become float64 and masks get all their axes. Raises ``TypeError`` or
    ``ValueError``, which names the argument, for anything else.

    >>> floats("x (..., n)", [1, 2])
    array([1., 2.])
    >>> floats("q (..., n, d_k), k (..., m, d_k)", np.ones((2, 3)), np.ones((4, 5)))
    Traceback (most recent call last):
    ValueError: k must have shape (..., m, d_k) with d_k=3 as in q, got (4, 5)
    """
    checked = _checked(shapes, values, sizes, np.float64)
    first = checked[0]
    if axis is not ANY:
        if not -first.ndim <= whole("axis", axis) < first.ndim:
            raise ValueError(f"axis={axis} is not an axis of shape {first.shape}")
        if not first.shape[axis]:
            raise ValueError(
                f"{remembered(shapes)[0].name} must have a number along axis={axis}, "
                f"got shape {first.shape}"
            )
    if between is not None:
        _check_range(remembered(shapes)[0].name, first, between)
    return checked if len(values) > 1 else first


def numbers(
    shapes: Shapes,
    *values: Any,
    between: tuple[float, float] | None = None,
    **sizes: Any,
) -> Any:
    """Return arguments as ``floats`` does, but whole numbers as int64.

    >>> numbers("x (n)", np.array([200, 100], dtype=np.uint8)) + 100
    array([300, 200])
    """
    checked = _checked(shapes, values, sizes, np.int64)
    if between is not None:
        _check_range(remembered(shapes)[0].name, checked[0], between)
    return checked if len(values) > 1 else checked[0]


def arrays(shapes: Shapes, *values: Any, **sizes: Any) -> Any:
    """Return arguments as ``floats`` does, but whole numbers as they are.

    >>> arrays("x (n)", np.array([1, 2], dtype=np.int8)).dtype
    dtype('int8')
    """
    checked = _checked(shapes, values, sizes, None)
    return checked if len(values) > 1 else checked[0]


def masks(name: str, values: Sequence[Any]) -> list[np.ndarray]:
    """Return several masks, broadcast to one shape; name : what they are together.

    Raises ``TypeError`` or ``ValueError`` for one that is not boolean, for shapes that
    do not fit, and if there is none.

    >>> [mask.tolist() for mask in masks("masks", [[[True], [False]], [True, False]])]
    [[[True, True], [False, False]], [[True, False], [True, False]]]
    """
    if not values:
        raise ValueError(f"{name} must be at least one mask, got none")
    for value in values:
        require_boolean(value, f"each of {name}")
    checked = [np.asarray(value) for value in values]
    try:
        return [*np.broadcast_arrays(*checked)]
    except ValueError:
        shapes = ", ".join(str(mask.shape) for mask in checked)
        raise ValueError(f"{name} must have shapes that fit, got {shapes}") from None


def whole(conditions: str, *values: Any) -> Any:
    """Return arguments that are whole numbers as Python's.

    conditions : for each argument its name, or its name and the smallest number that it
        may be: "n ≥ 0, offset"; after that may stand ``or None``
    values : the arguments

    Returns the number, or a list if there are several. Raises ``TypeError`` or
    ``ValueError``, which names the argument, for anything else.

    >>> whole("n_heads ≥ 1", -2)
    Traceback (most recent call last):
    ValueError: n_heads must be at least 1, got -2
    """
    checked: list[int | None] = []
    for condition, value in zip(conditions.split(", "), values, strict=True):
        name, *least = condition.removesuffix(" or None").split(" ≥ ")
        if value is None and condition.endswith(" or None"):
            checked.append(None)
            continue
        if isinstance(value, bool | np.bool) or not isinstance(value, int | np.integer):
            raise TypeError(
                f"{name} must be a whole number, got {value!r:.40} "
                f"({type(value).__name__})"
            )
        if least and value < int(least[0]):
            raise ValueError(f"{name} must be at least {least[0]}, got {value}")
        checked.append(int(value))
    return checked if len(values) > 1 else checked[0]


def token_id(name: str, value: Any, vocab_size: Any) -> None:
    """Refuse a number that is not one token's id.

    >>> token_id("token_id", 9, 4)
    Traceback (most recent call last):
    ValueError: token_id must be from 0 to 3, got 9
    """
    whole(f"{name} ≥ 0, vocab_size ≥ 1", value, vocab_size)
    if value >= vocab_size:
        raise ValueError(f"{name} must be from 0 to {vocab_size - 1}, got {value}")


def positive(name: str, value: Any) -> float:
    """Return an argument that is a finite number above 0 as a Python float.

    >>> positive("base", 0)
    Traceback (most recent call last):
    ValueError: base must be a finite number above 0, got 0
    """
    real = isinstance(value, int | float | np.integer | np.floating)
    if isinstance(value, bool) or not real:
        raise TypeError(
            f"{name} must be a number, got {value!r:.40} ({type(value).__name__})"
        )
    try:
        as_float = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        as_float = np.inf
    if not 0 < as_float < np.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r:.40}")
    return as_float


def one_of(name: str, value: Any, *choices: str) -> None:
    """Refuse what is none of several texts.

    >>> one_of("kind", "pooling", "attention", "window", "recurrence")
    Traceback (most recent call last):
    ValueError: kind must be attention, window or recurrence, got 'pooling'
    """
    if not isinstance(value, str) or value not in choices:
        known = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise ValueError(f"{name} must be {known}, got {value!r:.40}")


def sizes(names: str, *values: Any, least: int = 1) -> None:
    """Refuse what are not all Python's whole numbers, ``least`` or more.

    >>> sizes("n and d", 3, 2.5)
    Traceback (most recent call last):
    ValueError: n and d must be whole numbers above 0, got 3, 2.5
    """
    if not all(type(value) is int and value >= least for value in values):
        got = ", ".join(f"{value!r:.40}" for value in values)
        number = "whole numbers" if len(values) > 1 else "a whole number"
        raise ValueError(f"{names} must be {number} above {least - 1}, got {got}")


def pair(name: str, value: Any) -> tuple[str, str]:
    """Return a pair of symbols, a tuple or a list of two texts, as a tuple.

    >>> pair("pair", "ab")
    Traceback (most recent call last):
    TypeError: pair must be a pair of symbols, such as ('a', 'b'), got 'ab'
    """
    if type(value) is tuple and len(value) == 2:  # by far the most frequent
        left, right = value
        if type(left) is str and type(right) is str:
            return value
    is_pair = isinstance(value, tuple | list) and len(value) == 2
    if not is_pair or not all(isinstance(symbol, str) for symbol in value):
        raise TypeError(
            f"{name} must be a pair of symbols, such as ('a', 'b'), got {value!r:.60}"
        )
    return value[0], value[1]


def pairs(name: str, values: Any) -> list[tuple[str, str]]:
    """Return a sequence of pairs of symbols as a list of tuples."""
    if not isinstance(values, list | tuple):
        raise TypeError(
            f"{name} must be a list of pairs of symbols, got {type(values).__name__}"
        )
    return [pair(f"each of {name}", value) for value in values]


def text(name: str, value: Any) -> str:
    """Return an argument that is a text.

    >>> text("text", b"cat")
    Traceback (most recent call last):
    TypeError: text must be a text (str), got bytes
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text (str), got {type(value).__name__}")
    return value


def utf_8(name: str, value: str) -> bytes:
    """Return a text as UTF-8, which cannot hold half a surrogate pair.

    >>> utf_8("text", "a" + chr(0xD800))
    Traceback (most recent call last):
    ValueError: text has '\\ud800', half a surrogate pair, which UTF-8 cannot hold
    """
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has {value[error.start]!r}, half a surrogate pair, which UTF-8 "
            "cannot hold"
        ) from None


def texts(name: str, values: Any) -> tuple[str, ...]:
    """Return a sequence of texts as a tuple; one text alone is none.

    >>> texts("special_tokens", "<end>")
    Traceback (most recent call last):
    TypeError: special_tokens must be a sequence of texts, such as ('<end>',), got \
'<end>'
    """
    if type(values) is tuple and {*map(type, values)} <= {str}:  # most are
        return values
    is_sequence = isinstance(values, list | tuple)
    if not is_sequence or not all(isinstance(value, str) for value in values):
        raise TypeError(
            f"{name} must be a sequence of texts, such as ('<end>',), got "
            f"{values!r:.60}"
        )
    return tuple(values)


def sentences(**values: Any) -> None:
    """Refuse what are not equally many lists of tokens, at least one.

    >>> sentences(hypotheses=["der Akku"], references=[["der", "Akku"]])
    Traceback (most recent call last):
    TypeError: hypotheses[0] must be a list of tokens, got 'der Akku': split it first
    """
    lengths = {}
    for name, value in values.items():
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise TypeError(
                f"{name} must be a list of sentences, got {type(value).__name__}"
            )
        for index, tokens in enumerate(value):
            if isinstance(tokens, str) or not isinstance(tokens, Sequence):
                raise TypeError(
                    f"{name}[{index}] must be a list of tokens, got {tokens!r:.40}: "
                    "split it first"
                )
        lengths[name] = len(value)
    if len({*lengths.values()}) > 1 or not all(lengths.values()):
        got = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(
            f"{' and '.join(lengths)} must have equally many sentences, at least one; "
            f"got {got}"
        )


def words(name: str, counts: Any) -> dict[tuple[str, ...], int]:
    """Return a dictionary of words, tuples of symbols, and how often each occurs.

    >>> words("words", ["cat"])
    Traceback (most recent call last):
    TypeError: words must be a dictionary of words and their counts, got list
    """
    if not isinstance(counts, dict):
        raise TypeError(
            f"{name} must be a dictionary of words and their counts, got "
            f"{type(counts).__name__}"
        )
    for word, count in counts.items():
        if not isinstance(word, tuple) or not all(isinstance(s, str) for s in word):
            raise TypeError(f"{name} must have tuples of symbols, got {word!r:.60}")
        if type(count) is not int or count < 0:
            whole(f"the count of {word!r:.60} in {name} ≥ 0", count)
    return counts


def names(name: str, mapping: Any, required: str, optional: str) -> None:
    """Raise ``ValueError`` unless a dictionary has the names that it should have.

    required : names of which it must have all, with spaces between
    optional : names of which it must have all or none; others are refused

    >>> names("state_dict", {"weight": 1, "mask": 2}, "weight", "bias")
    Traceback (most recent call last):
    ValueError: state_dict must have weight, and may have bias; got weight, mask
    """
    known = {*required.split()}, {*required.split(), *optional.split()}
    if {*mapping} not in known:
        raise ValueError(
            f"{name} must have {', '.join(required.split())}, and may have "
            f"{', '.join(optional.split())}; got {', '.join(map(str, mapping))}"
        )


class Expected(NamedTuple):
    """An argument as ``parse`` reads it; leading: whether it has the axes ... too."""

    name: str
    axes: tuple[str, ...]
    leading: bool
    kind: str

    @property
    def shape(self) -> str:
        axes = ", ".join([*["..."] * self.leading, *self.axes])
        return f"({axes},)" if len(self.axes) == 1 and not self.leading else f"({axes})"


def parse(shapes: Shapes) -> list[Expected]:
    """Return what a text, or a function's docstring, says of shapes; see ``floats``.

    >>> parse("x (..., n), whole positions (n)")[1]
    Expected(name='positions', axes=('n',), leading=False, kind='whole')
    """
    if not isinstance(shapes, str):
        documented = DOCUMENTED.findall(shapes.__doc__ or "")
        return [_expected(KINDS.get(kind, ""), *rest) for *rest, kind in documented]
    described = []
    for argument in shapes.removesuffix(")").split("), "):
        named, _, axes = argument.partition(" (")
        kind, _, name = named.rpartition(" ")
        described.append(_expected(kind, name, axes))
    return described


def _expected(kind: str, name: str, inner: str) -> Expected:
    axes = re.sub(" · |(?<=\\d) (?=d_)", "·", inner).removesuffix(",").split(", ")
    leading = axes[0] == "..."
    return Expected(name, tuple(axes[leading:]), leading, kind)


remembered = cache(parse)


def _checked(
    shapes: Shapes, values: tuple[Any, ...], sizes: dict[str, Any], wide: type | None
) -> list[Any]:
    known = {
        name: (whole(f"{name} ≥ 1", size), f"{name}={size}")
        for name, size in sizes.items()
    }
    checked: list[Any] = []
    leading: tuple[int, ...] = ()
    first_leading = ""
    for expected, value in zip(remembered(shapes), values, strict=True):
        if expected.kind == "boolean":
            checked.append(None if value is None else _mask(expected, value))
            if value is not None and len(checked) > 1:
                shape = (*leading, *(known[axis][0] for axis in expected.axes))
                checked[-1] = _broadcast(expected.name, checked[-1], shape)
            continue
        array = _array(expected, value, wide)
        _check_axes(expected, array.shape, known)
        if expected.leading:
            own = array.shape[: array.ndim - len(expected.axes)]
            try:
                leading = np.broadcast_shapes(leading, own)
            except ValueError:
                raise ValueError(
                    f"{expected.name} must have the leading axes of {first_leading}, "
                    f"{leading}, got shape {array.shape}"
                ) from None
            first_leading = first_leading or expected.name
        checked.append(array)
    return checked


def is_masked(value: Any) -> bool:
    """Return whether a value is one of NumPy's masked arrays.

    To load their module takes longer than a check: where nobody has, there are none.
    """
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


def _array(expected: Expected, value: Any, wide: type | None) -> np.ndarray:
    name = expected.name
    if is_masked(value):
        raise TypeError(f"{name} is a masked array: its mask would be ignored")
    try:
        array = np.asarray(value)
    except Exception:  # ragged lists, tensors with a gradient or on another device, …
        raise TypeError(
            f"{name} must be an array of numbers, got {type(value).__name__}"
        ) from None
    if expected.kind == "whole":
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"{name} must hold whole numbers, got {array.dtype}")
        wide = np.int64
    elif array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    if wide is None or (array.dtype.kind == "f" and expected.kind != "whole"):
        return array
    if array.dtype.itemsize == 8 and array.dtype.kind in "iu" and array.size:
        if array.max() > LARGEST_WHOLE or array.min() < -LARGEST_WHOLE:
            raise ValueError(
                f"{name} holds whole numbers beyond 2**53, which floats cannot hold"
            )
    return array.astype(wide)


def _check_axes(
    expected: Expected, shape: tuple[int, ...], known: dict[str, tuple[int, str]]
) -> None:
    """Compare a shape with the axes that are known, and add those that are new."""
    n_axes = len(expected.axes)
    if len(shape) < n_axes or (len(shape) > n_axes and not expected.leading):
        raise ValueError(
            f"{expected.name} must have shape {expected.shape}, got {shape}"
        )
    for axis, size in zip(expected.axes, shape[len(shape) - n_axes :], strict=True):
        factor = axis.split("·")[0] if "·" in axis else ""
        if size < 1 and axis != "n":
            raise ValueError(
                f"{expected.name} must have shape {expected.shape} with at least one "
                f"number along {axis}, got {shape}"
            )
        if factor and size % known[factor][0]:
            raise ValueError(
                f"{expected.name} must have shape {expected.shape}, got {shape}: "
                f"{size} is not divisible by {known[factor][1]}"
            )
        length, source = known.setdefault(axis, (size, expected.name))
        if length != size:
            raise ValueError(
                f"{expected.name} must have shape {expected.shape} with "
                f"{axis}={length} as in {source}, got {shape}"
            )


def _check_range(name: str, array: np.ndarray, between: tuple[float, float]) -> None:
    outside = (array < between[0]) | (array > between[1])  # NaN is not
    if outside.any():
        raise ValueError(
            f"{name} must lie between {between[0]} and {between[1]}, got "
            f"{array[outside].flat[0]}"
        )


def _mask(expected: Expected, value: Any) -> np.ndarray:
    require_boolean(value, expected.name)
    return np.asarray(value)


def _broadcast(name: str, mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"{name} must have shape {shape}, or 1 in place of some of these, got "
            f"{mask.shape}"
        ) from None


def require_boolean(may_attend: Any, name: str = "may_attend") -> None:
    """Raise ``TypeError`` for a mask, NumPy's or PyTorch's, that is not boolean.

    may_attend : a mask of any shape, or anything else
    name : the argument that it is

    Such a mask would give wrong numbers silently: PyTorch adds floats to the scores,
    NumPy takes −inf for True, and ``~1`` is −2, which counts as True.

    >>> require_boolean(np.zeros((1, 2)))
    Traceback (most recent call last):
    TypeError: may_attend must be boolean, got float64: True means "may attend"; \
convert an additive mask with convert_mask
    """
    kind = type(may_attend).__name__
    if isinstance(may_attend, list | tuple):
        with suppress(ValueError):  # of lists of different lengths
            kind = str(np.asarray(may_attend).dtype)
    elif hasattr(may_attend, "dtype") and not is_masked(may_attend):
        kind = str(may_attend.dtype).removeprefix("torch.")
    if kind != "bool":
        raise TypeError(NOT_BOOLEAN.format(name=name, kind=kind))
