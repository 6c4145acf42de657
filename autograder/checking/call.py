"""What one call of a learner's function gives: a value, an exception, or no end.

``local_runner`` calls a function in this process, as the notebook does. A sandbox
returns the same ``CallResult`` from elsewhere, and nothing beyond this module can tell
the two apart.
"""

import _thread
import contextlib
import io
import linecache
import os
import signal
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from autograder.checking.causes import cause_of
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


def call_within(seconds: float | None, function: Callable[[], Any]) -> Any:
    """Call a function under a ``time_limit``; return its value."""
    with time_limit(seconds):
        return function()


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


RETRY_SECONDS = 0.2  # until the next alarm, for code that catches everything
LAST_RESORT = 10  # times the limit, by the clock, however busy the machine is
AT_ONCE = 1e-6  # seconds; none at all would be no alarm


class TimeLimitExceeded(BaseException):
    """The time was up. No ``except Exception`` of a learner's catches it."""


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise ``TimeLimitExceeded`` inside the block once the time is up.

    seconds : by the clock, without waiting for a processor where the system counts
        that (``queue_seconds``); None for no limit

    Without effect outside the main thread and in a browser, whose page stops Python.
    """
    if seconds is None or not has_limits():
        yield
    elif has_alarms():
        with _limit_by_alarm(seconds):
            yield
    else:
        with _limit_by_thread(seconds):
            yield


def queue_seconds(process: int | str = "self") -> float:
    """Return how long a process's first thread has waited for a processor so far.

    Linux counts it (the second number of ``/proc/PID/schedstat``, in nanoseconds); 0
    where nothing counts it, or the process is not known.
    """
    try:
        file = os.open(f"/proc/{process}/schedstat", os.O_RDONLY)
        try:
            return int(os.read(file, 4096).split()[1]) / 1e9
        finally:
            os.close(file)
    except (OSError, ValueError, IndexError):
        return 0.0


class _Alarm:
    """Ends a block once the time is up, and what was waited for a processor."""

    current: "_Alarm | None" = None

    def __init__(self, seconds: float) -> None:
        self.most = (LAST_RESORT - 1) * seconds
        self.waited_before = queue_seconds()
        self.end = time.monotonic() + seconds

    def ring(self, *_: Any) -> None:
        waited = min(queue_seconds() - self.waited_before, self.most)
        left = self.end + waited - time.monotonic()
        if left <= 0:
            raise TimeLimitExceeded
        signal.setitimer(signal.ITIMER_REAL, left, RETRY_SECONDS)

    def go_on(self, seconds: float, waited: float) -> None:
        """Ring in so many seconds, and forget what was waited in a pause."""
        self.end = time.monotonic() + seconds
        self.waited_before += waited
        signal.setitimer(signal.ITIMER_REAL, seconds, RETRY_SECONDS)


@contextlib.contextmanager
def _limit_by_alarm(seconds: float) -> Iterator[None]:
    alarm, outer = _Alarm(seconds), _Alarm.current
    before = signal.signal(signal.SIGALRM, alarm.ring)
    _Alarm.current = alarm
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, AT_ONCE), RETRY_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # once more: the alarm may have gone off in the line above
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _Alarm.current = outer


class _Watch(threading.Thread):
    """Interrupts the main thread as Ctrl-C does, once the time is up and again."""

    current: "_Watch | None" = None

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self.deadline = time.monotonic() + seconds
        self.is_up = False
        self.lock = threading.Lock()
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.02):
            with self.lock:
                if not self.done.is_set() and time.monotonic() >= self.deadline:
                    self.is_up = True
                    self.deadline += RETRY_SECONDS
                    _thread.interrupt_main()

    def end(self) -> None:
        with self.lock:
            self.done.set()


@contextlib.contextmanager
def _limit_by_thread(seconds: float) -> Iterator[None]:
    """Limit time on Windows: between Python's own steps, not inside one of NumPy's."""
    watch, outer = _Watch(seconds), _Watch.current
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: types.FrameType | None) -> None:
        if watch.is_up:
            raise TimeLimitExceeded
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, handle)
    _Watch.current = watch
    watch.start()
    try:
        try:
            yield
        finally:
            watch.end()
    finally:  # once more: it may have interrupted the line above
        watch.end()
        _Watch.current = outer
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def paused_limit() -> Iterator[None]:
    """Leave out of the ``time_limit`` around this block what the block waits.

    Nothing is raised inside the block; what this thread computes there is counted.
    """
    if not has_limits():
        yield
        return
    start, watch, alarm = time.thread_time(), _Watch.current, _Alarm.current
    waited_before = queue_seconds()
    if has_alarms():
        seconds, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    else:
        seconds = watch.deadline - time.monotonic() if watch else 0.0
        if watch:
            watch.deadline = float("inf")
    try:
        yield
    finally:
        left = max(seconds - (time.thread_time() - start), AT_ONCE)
        if has_alarms() and seconds and alarm:
            alarm.go_on(left, queue_seconds() - waited_before)
        elif watch:
            watch.deadline = time.monotonic() + left


def has_limits() -> bool:
    """Return whether ``time_limit`` can end a loop here; in a browser it cannot."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and sys.platform != "emscripten"


def has_alarms() -> bool:
    """Return whether the system sends alarms: Windows does not."""
    return has_limits() and hasattr(signal, "setitimer")


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
