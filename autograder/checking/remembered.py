"""Results of the bank's own functions, kept while many answers get the same calls.

A bank's misconceptions are judged with the same inputs, one after the other, and each
is compared with all others: without memory, each of those calls is made once for each.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, TypeVar

from autograder.checking.values import (
    CONTAINERS,
    as_array,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
)

Result = TypeVar("Result")
PLAIN = (bool, int, str, bytes, type(None))
_memories: list[dict[Hashable, Any]] = []


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Keep results inside the block; then forget them."""
    _memories.append({})
    try:
        yield
    finally:
        _memories.pop()


def remembered(
    who: Hashable, inputs: Hashable | None, make: Callable[[], Result]
) -> Result:
    """Return what ``make`` gives, made once for each function and its inputs.

    who : the function, and what the result is kept for
    inputs : what ``key_of`` returns; None makes the result each time
    """
    if inputs is None or not _memories:
        return make()
    memory, key = _memories[-1], (who, inputs)
    if key not in memory:
        memory[key] = make()
    result: Result = memory[key]
    return result


def key_of(arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Hashable | None:
    """Return what tells a call's inputs from all others; None if nothing is kept."""
    if not _memories:
        return None
    try:
        return _key((arguments, dict(keywords)))
    except TypeError:
        return None


def _key(value: Any) -> Hashable:
    """Return what is equal only for data that is the same to the bit.

    Raises ``TypeError`` for what is no data, such as a function.
    """
    kind = type(value)
    if is_one_of(value, PLAIN):
        return kind, value
    if kind is float:
        return kind, value.hex()  # 0.0 is not -0.0, and NaN is NaN
    if is_array(value) and not value.dtype.hasobject:
        return kind, value.dtype, value.shape, value.strides, value.tobytes("A")
    if is_tensor(value) and value.is_cpu and has_numbers(value):
        form = kind, value.dtype, value.shape, value.stride(), value.requires_grad
        return *form, as_array(value).tobytes()
    if kind is dict:
        return kind, tuple((_key(k), _key(part)) for k, part in value.items())
    if is_one_of(value, CONTAINERS):
        return kind, tuple(map(_key, value))
    raise TypeError(kind)
