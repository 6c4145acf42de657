"""What one call of a learner's function gives: a value, an exception, or no end.

``local_runner`` calls a function in this process, as the notebook does. A sandbox
returns the same ``CallResult`` from elsewhere, and nothing beyond this module can tell
the two apart.
"""

import contextlib
import io
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from autograder.checking.causes import cause_of
from autograder.checking.time_limit import TimeLimitExceeded, call_within
from autograder.checking.values import (
    CONTAINERS,
    MAX_DEPTH,
    as_array,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
    leaves,
    without_names,
)


@dataclass(frozen=True)
class Raised:
    """An exception of the learner's code, as text.

    types : names of the exception's class and of its bases, most special first
    message : its text
    function, line_number, line : the innermost position in the learner's own code
    cause : what it means, in a sentence; "" where that is not certain
    """

    types: tuple[str, ...]
    message: str = ""
    function: str = ""
    line_number: int = 0
    line: str = ""
    cause: str = ""

    @property
    def is_stub(self) -> bool:
        """Whether it is an unwritten answer's own: libraries raise that kind too."""
        stub = self.line == "" or self.line.startswith("raise NotImplementedError")
        return self.types[0] == "NotImplementedError" and stub


@dataclass(frozen=True)
class CallResult:
    """The result of one call.

    kind : "value", "raised" or "timeout"; from a sandbox also "crashed", if the process
        ended in the call, "output", if the value is too big to be sent, and "untried",
        if the submission had used up its time before
    arguments : the arguments as they are after the call
    shares_memory : whether the value is, or is a view of, the memory of an argument
    """

    kind: Literal["value", "raised", "timeout", "crashed", "output", "untried"]
    value: Any = None
    raised: Raised | None = None
    arguments: tuple[Any, ...] = ()
    shares_memory: bool = False


@dataclass(frozen=True)
class Call:
    """One call: the arguments as they were before it, and its result.

    precise : whether the result is held to every digit of its inputs' dtype; else the
        digits of float32 are enough
    fine_point : whether it was made for a fine point
    hidden : whether it was made for a case that learners do not see
    case : the name of the case that made it
    """

    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    result: CallResult = field(default_factory=lambda: CallResult("value"))
    precise: bool = False
    fine_point: bool = False
    hidden: bool = False
    case: str = ""


Runner = Callable[[tuple[Any, ...], dict[str, Any]], CallResult]
# Calls a function, and raises ``TimeLimitExceeded`` in it after so many seconds.
TimeLimiter = Callable[[float | None, Callable[[], Any]], Any]


def copied(value: Any) -> Any:
    """Copy data as deep as it goes; callables and unknown types stay as they are."""
    return _copied(value, ())


def _copied(value: Any, above: tuple[int, ...]) -> Any:
    if is_array(value):
        return value.copy(order="K")
    if is_tensor(value):
        return value.detach().clone()
    if not is_one_of(value, CONTAINERS):
        return value
    if id(value) in above or len(above) > MAX_DEPTH:  # holds itself: no data of ours
        return value
    inside = (*above, id(value))
    if type(value) is dict:
        return {key: _copied(part, inside) for key, part in value.items()}
    return type(value)(_copied(part, inside) for part in value)


def local_runner(
    function: Callable[..., Any],
    names: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    memory: bool = True,
    limiter: TimeLimiter = call_within,
    causes: bool = True,
) -> Runner:
    """Return a runner that calls a function in this process, with copied arguments.

    names : global names that are bound to other values during the call
    seconds : for one call; once a call has used them up, later ones get a tenth
    memory : whether to find out if the value shares memory with an argument
    limiter : what ends a call whose time is up
    causes : whether to find out what an exception means, which takes milliseconds

    What the function prints and warns is dropped: neither is part of an answer.
    """
    limit = seconds

    def run(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> CallResult:
        nonlocal limit
        args, kwargs = copied(arguments), copied(keywords)
        try:
            with silenced(), _bound(namespace(function), names or {}):
                value = limiter(limit, lambda: without_names(function(*args, **kwargs)))
        except KeyboardInterrupt:
            raise
        except TimeLimitExceeded:
            limit = (seconds or 0) / 10
            return CallResult("timeout", arguments=args)
        except BaseException as error:
            raised = describe_exception(error, namespace(function), causes=causes)
            return CallResult("raised", None, raised, args)
        shares = memory and _share_memory(value, (args, kwargs))
        return CallResult("value", copied(value), None, args, shares)

    return run


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Drop what is printed and warned, also where warnings were turned to errors."""
    sink = io.StringIO()
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(sink),
        contextlib.redirect_stderr(sink),
    ):
        warnings.simplefilter("ignore")
        yield


def plain_function(function: Any) -> Any:
    """Return the function inside partials, decorators and ``np.vectorize``."""
    for _ in range(MAX_DEPTH):
        if type(function) is partial:
            function = function.func
        elif type(function) is np.vectorize:
            function = function.pyfunc
        elif hasattr(type(function), "__get__") and hasattr(function, "__wrapped__"):
            function = function.__wrapped__  # functools.wraps, functools.cache
        else:
            break
    return function


def namespace(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the global names that a function, partial or callable object looks up."""
    function = plain_function(function)
    if not isinstance(function, types.FunctionType | types.MethodType):
        kind = type(function)
        module = sys.modules.get(kind.__module__)
        if "__call__" not in vars(kind) and module:  # a torch.nn.Module, for one
            return vars(module)
        function = plain_function(kind.__call__)
    return getattr(function, "__globals__", {})


@contextlib.contextmanager
def _bound(names: dict[str, Any], values: Mapping[str, Any]) -> Iterator[None]:
    """Bind names to other values inside the block, then restore them."""
    before = {name: names[name] for name in values if name in names}
    names.update(values)
    try:
        yield
    finally:
        for name in values:
            names.pop(name, None)
        names.update(before)


def describe_exception(
    error: BaseException, names: Mapping[str, Any], *, causes: bool = True
) -> Raised:
    """Return an exception as text, with the innermost line of the learner's own code.

    names : the global names of that code, which tell it from libraries' code
    causes : whether to find out what it means
    """
    own: list[types.TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals is names:
            own.append(trace)
        trace = trace.tb_next
    kinds = tuple(kind.__name__ for kind in type(error).__mro__[:-1])
    if not own and isinstance(error, SyntaxError):
        line = str(error.text or "").strip()
        return Raised(kinds, str(error.msg), "", error.lineno or 0, line)
    message = _message(error)
    cause = cause_of(kinds, message, own) if causes else ""
    if not own:
        return Raised(kinds, message, cause=cause)
    code, number = own[-1].tb_frame.f_code, own[-1].tb_lineno
    line = linecache.getline(code.co_filename, number).strip()
    return Raised(kinds, message, _function_name(code), number, line, cause)


def _function_name(code: types.CodeType) -> str:
    """Return the name of the function around some code, such as a comprehension."""
    names = code.co_qualname.split(".<locals>.")
    return next((name for name in reversed(names) if name[0] != "<"), "")


def _message(error: BaseException) -> str:
    """Return an exception's text; "" if the exception cannot print itself."""
    try:
        return str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""


def _share_memory(one: Any, other: Any) -> bool:
    """Decide whether any array in one value may lie in the memory of another's."""
    arrays, others = _arrays_inside(one), _arrays_inside(other)
    return any(np.may_share_memory(a, b) for a in arrays for b in others)


def _arrays_inside(value: Any) -> list[np.ndarray]:
    arrays = (_memory(part) for _, part in leaves(value))
    return [array for array in arrays if array is not None]


def _memory(part: Any) -> np.ndarray | None:
    """Return an array that lies in the memory of an array or tensor, if one can."""
    if is_tensor(part) and part.is_cpu and has_numbers(part) and not part.is_conj():
        return as_array(part) if part.element_size() >= 4 else None
    return part if issubclass(type(part), np.ndarray) else None
