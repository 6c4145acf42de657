"""The process that grades beside a Dask worker.

A Dask worker runs tasks in threads, and may have no children of ``multiprocessing``'s.
An engine wants a main thread, for its alarms and because its sandbox ends with the
thread that has started it: so it gets a plain process. Nothing here knows Dask.
"""

import contextlib
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.grading import workers

START = (
    "import sys; from autograder.grading import cluster_grader; "
    "cluster_grader.serve(int(sys.argv[1]))"
)
NUMBERS = 16  # of engines on a machine, each with users of its own for its children
NAME = "\0attention-course-grader-{}"  # without a file: the kernel gives it back


class PlainProcess(subprocess.Popen[bytes]):
    """A process, with the names that ``multiprocessing`` has for what one can do."""

    @property
    def exitcode(self) -> int | None:
        """Its exit code, or its signal's number below 0; None while it runs."""
        return self.poll()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, or the seconds are over."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout)
            assert self.stdin is not None
            self.stdin.close()


def start(
    theirs: Connection, place: tuple[Path, Path], settings: workers.Settings
) -> PlainProcess:
    """Start a process that grades what comes through a connection until it ends.

    theirs : the process's end of it
    place : see ``workers._work``
    """
    end = theirs.fileno()
    process = PlainProcess(
        [sys.executable, "-c", START, str(end)],
        bufsize=0,
        stdin=subprocess.PIPE,
        pass_fds=[end],
        start_new_session=True,  # Ctrl-C is for the Dask worker, and this ends with it
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # dead already: noticed when no answer comes
        process.stdin.write(pickle.dumps((place, settings)))  # no argument: a secret
    return process


def serve(end: int) -> None:
    """Be such a process, until nobody listens any more.

    end : number of the connection's file
    """
    place, settings = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    with own_number() as number:
        workers._work(Connection(end), place, settings, number)


def _end_with_the_worker() -> None:
    """End in the middle of whatever is graded once the Dask worker has ended.

    Its end of our input is closed then. The sandbox ends with this process.
    """
    os.read(0, 1)
    os._exit(1)


@contextlib.contextmanager
def own_number() -> Iterator[int]:
    """Give a number that no other process has that grades beside a Dask worker here.

    With more than ``NUMBERS`` of them, some have the same.
    """
    with socket.socket(socket.AF_UNIX) as held:
        for number in range(NUMBERS):
            with contextlib.suppress(OSError):
                held.bind(NAME.format(number))
                break
        else:
            number = os.getpid() % NUMBERS
        yield number
