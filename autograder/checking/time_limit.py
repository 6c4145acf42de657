"""A limit of time for a block of code, by alarms or, on Windows, by a thread."""

import _thread
import contextlib
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

from autograder.checking.own_time import LAST_RESORT, ProcessorQueue, TimeLeft

RETRY_SECONDS = 0.2  # until the next alarm, for code that catches everything
LONGEST_RETRY = 1.0  # seconds: each is twice the one before, up to this
AT_ONCE = 1e-6  # seconds; none at all would be no alarm


class TimeLimitExceeded(BaseException):
    """The time was up. No ``except Exception`` of a learner's catches it."""


@contextlib.contextmanager
def time_limit(
    seconds: float | None, last_resort: float = LAST_RESORT
) -> Iterator[None]:
    """Raise ``TimeLimitExceeded`` inside the block once the time is up.

    seconds : of own time (``own_time``), by the clock on Windows; None for no limit
    last_resort : by the clock, times the seconds; 1 for a limit by the clock alone

    Without effect outside the main thread and in a browser, whose page stops Python.
    """
    if seconds is None or not has_limits():
        yield
    elif has_alarms():
        with _limit_by_alarm(seconds, last_resort):
            yield
    else:
        with _limit_by_thread(seconds):
            yield


class _Alarm:
    """Ends a block once its own time is up."""

    current: "_Alarm | None" = None

    def __init__(self, seconds: float, last_resort: float) -> None:
        self.left = TimeLeft(seconds, ProcessorQueue("self"), last_resort)
        self.retry = RETRY_SECONDS

    def set(self) -> None:
        seconds = max(self.left(), AT_ONCE)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def ring(self, *_: Any) -> None:
        if self.left() > 0:
            self.set()
            return
        signal.setitimer(signal.ITIMER_REAL, self.retry)
        self.retry = min(2 * self.retry, LONGEST_RETRY)
        raise TimeLimitExceeded


@contextlib.contextmanager
def _limit_by_alarm(seconds: float, last_resort: float) -> Iterator[None]:
    alarm, outer = _Alarm(seconds, last_resort), _Alarm.current
    before = signal.signal(signal.SIGALRM, alarm.ring)
    _Alarm.current = alarm
    try:
        try:
            alarm.set()
            yield
        finally:
            _surely(_stop_alarms)
    finally:  # once more: the alarm may have gone off before the line above
        _surely(_stop_alarms)
        signal.signal(signal.SIGALRM, before)
        _Alarm.current = outer


def _stop_alarms() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


def _surely(end: Callable[[], None]) -> None:
    """Call what ends a limit until it gets through: meanwhile the time may be up again.

    On a busy machine a few lines may take longer than the time to the next alarm.
    """
    while True:
        try:
            return end()
        except TimeLimitExceeded:
            continue


class _Watch(threading.Thread):
    """Interrupts the main thread as Ctrl-C does, once the time is up and again."""

    current: "_Watch | None" = None

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self.deadline = time.monotonic() + seconds
        self.retry = RETRY_SECONDS
        self.is_up = False
        self.lock = threading.Lock()
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.02):
            with self.lock:
                if not self.done.is_set() and time.monotonic() >= self.deadline:
                    self.is_up = True
                    self.deadline = time.monotonic() + self.retry
                    self.retry = min(2 * self.retry, LONGEST_RETRY)
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
        if watch.is_up and watch.done.is_set():
            return  # sent just before the end
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
            _surely(watch.end)
    finally:  # once more: it may have interrupted what comes before the line above
        _surely(watch.end)
        _Watch.current = outer
        signal.signal(signal.SIGINT, before)


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
    start, watch, alarm = time.monotonic(), _Watch.current, _Alarm.current
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
