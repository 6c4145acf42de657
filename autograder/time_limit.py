"""End a call that does not end by itself, in this process and without threads."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

AGAIN = 0.2  # seconds until the next try, for code that catches everything


class TookTooLong(BaseException):
    """The time was up. No ``except Exception`` of a learner's catches it."""


@contextlib.contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Raise ``TookTooLong`` inside the block once the time is up.

    seconds : of wall-clock time; None for no limit
    Without effect outside the main thread and on systems without alarms (Windows),
    where a learner interrupts the kernel by hand.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # once more: the alarm may have gone off in the line above
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stop(*_: Any) -> None:
    raise TookTooLong
