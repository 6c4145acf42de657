"""A limit of time for a block of code, by alarms or, on Windows, by a thread."""

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Self

from autograder.checking.own_time import LAST_RESORT, ProcessorQueue, TimeLeft

RETRY_SECONDS = 0.2  # until the next alarm, for code that catches everything
LONGEST_RETRY = 1.0  # seconds: each is twice the one before, up to this
AT_ONCE = 1e-6  # seconds; none at all would be no alarm


class TimeLimitExceeded(BaseException):
    """The time was up. No ``except Exception`` of a learner's catches it."""


def time_limit(
    seconds: float | None, last_resort: float = LAST_RESORT
) -> contextlib.AbstractContextManager[Any]:
    """Raise ``TimeLimitExceeded`` inside a ``with`` block once the time is up.

    seconds : of own time (``own_time``), by the clock on Windows; None for no limit
    last_resort : by the clock, times the seconds; 1 for a limit by the clock alone

    Without effect outside the main thread and in a browser, whose page stops Python.
    """
    if seconds is None or not has_limits():
        return contextlib.nullcontext()
    return _ByAlarm(seconds, last_resort) if has_alarms() else _ByThread(seconds)


def _is_being_set_or_ended(
    limit: "_ByAlarm | _ByThread", frame: FrameType | None
) -> bool:
    """Return whether a limit is just being set or ended, when it must not raise.

    An exception there would leave it set for good, to be raised anywhere. That is why
    the limits are classes: what ``contextlib`` calls around a generator is in nobody's
    hands.

    frame : what was interrupted
    """
    codes = type(limit).__enter__.__code__, type(limit).__exit__.__code__
    while frame:
        if frame.f_code in codes and frame.f_locals["self"] is limit:
            return True
        frame = frame.f_back
    return False


class _ByAlarm:
    """A limit whose time is up when the system sends an alarm."""

    current: "_ByAlarm | None" = None

    def __init__(self, seconds: float, last_resort: float) -> None:
        self.left = TimeLeft(seconds, ProcessorQueue("self"), last_resort)
        self.retry = RETRY_SECONDS
        self.has_ended = False

    def __enter__(self) -> Self:
        self.outer = _ByAlarm.current
        self.before = signal.signal(signal.SIGALRM, self.ring)
        _ByAlarm.current = self
        self.set()
        return self

    def __exit__(self, *_: object) -> None:
        self.has_ended = True
        _stop_alarms()
        signal.signal(signal.SIGALRM, self.before)
        _ByAlarm.current = self.outer

    def set(self) -> None:
        seconds = max(self.left(), AT_ONCE)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def ring(self, _: int, frame: FrameType | None) -> None:
        if self.has_ended:
            return
        if self.left() > 0:
            self.set()
            return
        signal.setitimer(signal.ITIMER_REAL, self.retry)
        self.retry = min(2 * self.retry, LONGEST_RETRY)
        if not _is_being_set_or_ended(self, frame):
            raise TimeLimitExceeded


def _stop_alarms() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


class _ByThread(threading.Thread):
    """A limit whose time is up when a thread interrupts the main one, as Ctrl-C does.

    It is for Windows: it strikes between Python's own steps, not inside one of NumPy's.
    """

    current: "_ByThread | None" = None

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self.deadline = time.monotonic() + seconds
        self.retry = RETRY_SECONDS
        self.is_up = False
        self.lock = threading.Lock()
        self.done = threading.Event()

    def __enter__(self) -> Self:
        self.outer, self.before = _ByThread.current, signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, self.handle)
        _ByThread.current = self
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.done.set()
        _ByThread.current = self.outer
        signal.signal(signal.SIGINT, self.before)

    def run(self) -> None:
        while not self.done.wait(0.02):
            with self.lock:
                if not self.done.is_set() and time.monotonic() >= self.deadline:
                    self.is_up = True
                    self.deadline = time.monotonic() + self.retry
                    self.retry = min(2 * self.retry, LONGEST_RETRY)
                    _thread.interrupt_main()

    def handle(self, number: int, frame: FrameType | None) -> None:
        if not self.is_up:
            if callable(self.before):
                self.before(number, frame)
        elif not self.done.is_set() and not _is_being_set_or_ended(self, frame):
            raise TimeLimitExceeded


def call_within(seconds: float | None, function: Callable[[], Any]) -> Any:
    """Call a function under a ``time_limit``; return its value."""
    with time_limit(seconds):
        return function()


@contextlib.contextmanager
def paused_limit() -> Iterator[None]:
    """Leave out of the ``time_limit`` around this block what the block waits.

    Nothing is raised inside the block; what this thread computes there is counted.
    """
    if not has_limits():
        yield
        return
    start, watch, alarm = time.monotonic(), _ByThread.current, _ByAlarm.current
    start_of_work, queue = time.thread_time(), ProcessorQueue("self")
    waited_before, deadline = queue.seconds(), 0.0
    if alarm:
        _stop_alarms()
    elif watch:
        deadline, watch.deadline = watch.deadline, float("inf")
    try:
        yield
    finally:
        worked = time.thread_time() - start_of_work
        idle = time.monotonic() - start - worked
        if alarm:
            alarm.left.extend(idle, queue.seconds() - waited_before)
            alarm.set()
        elif watch:
            watch.deadline = deadline + idle


def has_limits() -> bool:
    """Return whether ``time_limit`` can end a loop here; in a browser it cannot."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and sys.platform != "emscripten"


def has_alarms() -> bool:
    """Return whether the system sends alarms: Windows does not."""
    return has_limits() and hasattr(signal, "setitimer")
