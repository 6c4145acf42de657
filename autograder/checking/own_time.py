"""Own time of a process: by the clock, without waiting for a processor.

Limits of time hold what an answer does, not what else the machine does. Linux counts
for each thread how long it was ready and had to wait for a processor (the second number
in ``/proc/PID/schedstat``, in nanoseconds). That is taken off the time by the clock: so
sleeping counts, computing counts, and standing in the queue behind others does not. A
submission with n processes and threads stands in its own way too: an nth is taken off.
A last resort by the clock remains.

Where the kernel does not count, or the process is not known, nothing is taken off.
"""

import contextlib
import os
import time

LAST_RESORT = 10  # times the limit, by the clock
CROWD = 100  # more of a submission's processes and threads are not counted


class ProcessorQueue:
    """How long a process has stood in the queue for a processor."""

    def __init__(self, process: int | str = 0) -> None:
        """Keep the process's number, or "self"; 0 is one that is not known."""
        self.process = process

    def seconds(self) -> float:
        """Return the seconds of its first thread since it began."""
        if not self.process:
            return 0.0
        try:
            return int(_read(f"/proc/{self.process}/schedstat").split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

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

    def __init__(
        self,
        seconds: float,
        queue: ProcessorQueue | None = None,
        last_resort: float = LAST_RESORT,
    ) -> None:
        """Start.

        queue : of the process that has this time; None takes nothing off
        last_resort : by the clock, times the seconds
        """
        self._end = time.monotonic() + seconds
        self._most = (last_resort - 1) * seconds
        self._queue = queue or ProcessorQueue()
        self._before = self._queue.seconds()

    def __call__(self) -> float:
        """Return the seconds left, 0 or less where there are none."""
        left = self._end - time.monotonic()
        if left > 0:
            return left
        return left + min(self._queue.seconds_for_others(self._before), self._most)

    def extend(self, seconds: float, waited: float = 0.0) -> None:
        """Add what was not its own doing.

        waited : seconds of these in the queue, which are not taken off once more
        """
        self._end += seconds
        self._before += waited
