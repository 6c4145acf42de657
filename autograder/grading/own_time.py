"""A submission's own time: by the clock, without waiting for a processor.

Limits of time hold what a submission does, not what else the machine does. Linux counts
for each thread how long it was ready and had to wait for a processor (the second number
in ``/proc/PID/schedstat``, in nanoseconds). That is taken off the time by the clock: so
sleeping counts, computing counts, and standing in the queue behind others does not. A
submission with n processes and threads stands in its own way too: an nth is taken off.
A last resort by the clock remains.

Where the kernel does not count, or the process is not known, nothing is taken off.
"""

import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable

from autograder.checking.call import LAST_RESORT, queue_seconds

CROWD = 100  # more of a submission's processes and threads are not counted
CREDENTIALS = struct.Struct("3i")  # process, user and group of who has sent a message


class ProcessorQueue:
    """How long a process has stood in the queue for a processor."""

    def __init__(self, process: int | str = 0) -> None:
        """Keep the process's number, or "self"; 0 is one that is not known."""
        self.process = process

    def seconds(self) -> float:
        """Return the seconds of its first thread since it began."""
        return queue_seconds(self.process) if self.process else 0.0

    def seconds_for_others(self, before: float = 0.0) -> float:
        """Return the seconds since then that were no wait for its own threads.

        before : the seconds that had passed then

        Of n processes and threads of its own, that is an nth.
        """
        seconds = max(self.seconds() - before, 0.0)
        if not seconds or self.process in (0, "self"):
            return seconds
        return seconds / _n_threads(self.process)


def _n_threads(process: int | str) -> int:
    """Return the threads of a process and of all below it, 1 where none are listed."""
    count, processes = 0, [str(process)]
    while processes and count < CROWD:
        with contextlib.suppress(OSError):  # ended, or a kernel without these lists
            folder = f"/proc/{processes.pop()}/task"
            for task in os.listdir(folder):  # noqa: PTH208 (Path.iterdir is slower)
                count += 1
                processes += _read(f"{folder}/{task}/children").decode().split()
    return max(count, 1)


def _read(path: str) -> bytes:
    """Return what a file in /proc says; hundreds are read for each submission."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


class TimeLeft:
    """A limit of own time, from now on; called, it returns the seconds left.

    While there is time by the clock, the queue is not asked.
    """

    def __init__(self, seconds: float, queue: ProcessorQueue | None = None) -> None:
        """Start.

        queue : of the process that has this time; None takes nothing off
        """
        self._end = time.monotonic() + seconds
        self._most = (LAST_RESORT - 1) * seconds
        self._queue = queue or ProcessorQueue()
        self._before = self._queue.seconds()

    def __call__(self) -> float:
        """Return the seconds left, 0 or less where there are none."""
        left = self._end - time.monotonic()
        if left > 0:
            return left
        return left + min(self._queue.seconds_for_others(self._before), self._most)

    def extend(self, seconds: float) -> None:
        """Add what was not the submission's own doing."""
        self._end += seconds


def ask_for_sender(connection: socket.socket) -> None:
    """Turn on that the kernel names the sender of each message."""
    with contextlib.suppress(AttributeError, OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)


def sender(connection: socket.socket, seconds_left: Callable[[], float]) -> int:
    """Return the number of the process that has sent what comes next, 0 if unknown.

    Nothing is taken out of the connection. Raises ``TimeoutError`` if nothing comes.
    """
    connection.settimeout(max(seconds_left(), 0.001))
    try:
        room = socket.CMSG_SPACE(CREDENTIALS.size)
        _, extras, _, _ = connection.recvmsg(1, room, socket.MSG_PEEK)
    except TimeoutError:
        raise
    except (AttributeError, OSError):
        return 0
    for level, kind, data in extras:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            process = int(CREDENTIALS.unpack(data[: CREDENTIALS.size])[0])
            return process if process != os.getpid() else 0
    return 0
