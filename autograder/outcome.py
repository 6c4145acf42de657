"""What one call of a learner's function gave: a value, or an exception, or no end.

``run_here`` calls a function in this process, as the notebook does. A sandbox gives the
same ``Outcome`` from elsewhere; nothing beyond this module knows the difference.
"""

import contextlib
import io
import linecache
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from autograder.compare import is_tensor


@dataclass(frozen=True)
class Raised:
    """An exception of the learner's code, as text.

    types : names of the exception's class and of its bases, most special first
    message : its text
    function, line_number, line : the innermost place in the learner's own code
    """

    types: tuple[str, ...]
    message: str = ""
    function: str = ""
    line_number: int = 0
    line: str = ""


@dataclass(frozen=True)
class Outcome:
    """The result of one call.

    kind : "value", "raised" or "timeout"
    arguments : the arguments as they are after the call
    shares_memory : whether the value is, or looks into, the memory of an argument
    """

    kind: Literal["value", "raised", "timeout"]
    value: Any = None
    raised: Raised | None = None
    arguments: tuple[Any, ...] = ()
    shares_memory: bool = False


@dataclass(frozen=True)
class Call:
    """One call: the arguments as they were before it, and what it gave."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    outcome: Outcome = field(default_factory=lambda: Outcome("value"))


Runner = Callable[[tuple[Any, ...], dict[str, Any]], Outcome]


def copied(value: Any) -> Any:
    """Copy data as deep as it goes; a callable or a stranger stays what it is."""
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(copied(part) for part in value)
    if type(value) is dict:
        return {key: copied(part) for key, part in value.items()}
    if type(value) is np.ndarray:
        return value.copy(order="K")
    if is_tensor(value):
        return value.detach().clone()
    return value


def run_here(
    function: Callable[..., Any], names: Mapping[str, Any] | None = None
) -> Runner:
    """Give a runner that calls a function in this process, on copies of the arguments.

    names : global names that the function finds bound to other values during the call
    What the function prints and warns is dropped: neither is part of an answer.
    """

    def run(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Outcome:
        given, named = copied(arguments), copied(keywords)
        sink = io.StringIO()
        try:
            with (
                warnings.catch_warnings(),
                contextlib.redirect_stdout(sink),
                contextlib.redirect_stderr(sink),
                _bound(namespace(function), names or {}),
            ):
                warnings.simplefilter("ignore")
                value = function(*given, **named)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return Outcome("raised", None, _as_text(error, function), given)
        shares = _shares_memory(value, given)
        return Outcome("value", copied(value), None, given, shares)

    return run


def namespace(function: Callable[..., Any]) -> dict[str, Any]:
    """Give the global names that a function, partial or callable object looks up."""
    while hasattr(function, "func"):  # functools.partial, however deep
        function = function.func
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, types.FunctionType | types.MethodType):
        function = type(function).__call__
    return getattr(function, "__globals__", {})


@contextlib.contextmanager
def _bound(names: dict[str, Any], values: Mapping[str, Any]) -> Iterator[None]:
    """Bind names to other values for a while, then put back what was there."""
    before = {name: names[name] for name in values if name in names}
    names.update(values)
    try:
        yield
    finally:
        for name in values:
            names.pop(name, None)
        names.update(before)


def _as_text(error: BaseException, function: Callable[..., Any]) -> Raised:
    names = namespace(function)
    place = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals is names:
            place = trace
        trace = trace.tb_next
    types_ = tuple(kind.__name__ for kind in type(error).__mro__[:-1])
    try:
        message = str(error)
    except Exception:
        message = ""
    if place is None:
        return Raised(types_, message)
    code = place.tb_frame.f_code
    line = linecache.getline(code.co_filename, place.tb_lineno).strip()
    return Raised(types_, message, code.co_name, place.tb_lineno, line)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [inner for part in value for inner in _parts(part)]
    if isinstance(value, dict):
        return [inner for part in value.values() for inner in _parts(part)]
    return [value]


def _shares_memory(value: Any, arguments: tuple[Any, ...]) -> bool:
    mine = [part for part in _parts(value) if isinstance(part, np.ndarray)]
    given = [part for part in _parts(arguments) if isinstance(part, np.ndarray)]
    return any(np.may_share_memory(a, b) for a in mine for b in given)
