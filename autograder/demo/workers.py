"""Processes that grade beside each other, quietly, and stop when told to.

nbgrader changes the current folder, the environment and the log of the process it runs
in, so it never runs in the caller's.
"""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

MOST = 8  # each worker starts kernels that hold half a gigabyte


@contextmanager
def workers(log: Path, warm_up: Callable[[], None]) -> Iterator["Workers"]:
    """Start the processes and end them, also on Ctrl-C.

    log : the file that gets what the processes and their kernels print
    warm_up : what each process does first
    """
    count = min(os.cpu_count() or 1, MOST)
    pool = ProcessPoolExecutor(count, get_context("spawn"), _prepare, (str(log),))
    with _deaf():  # a new process inherits that, until it can handle Ctrl-C itself
        for _ in range(count):
            pool.submit(_interruptible, warm_up)
    try:
        yield Workers(pool, count)
    finally:
        with _deaf():  # it is ending already
            pool.shutdown(cancel_futures=True)


class Workers:
    """Runs functions of modules, whose arguments and results can be sent."""

    def __init__(self, pool: ProcessPoolExecutor, count: int) -> None:
        """Take over a pool of so many processes."""
        self._pool = pool
        self._count = count

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run one function in one of the processes."""
        return self._pool.submit(_interruptible, function, *arguments).result()

    def each(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """Run a function on each task's arguments; give the results as they come.

        No task waits inside the pool: there, one would still begin after Ctrl-C.
        """
        left = list(reversed(tasks))
        running: set[Any] = set()
        while left or running:
            while left and len(running) < self._count:
                running.add(self._pool.submit(_interruptible, function, *left.pop()))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


@contextmanager
def _deaf() -> Iterator[None]:
    """Ignore Ctrl-C for a while."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _prepare(log: str) -> None:
    """Make a new process quiet, and able to find alembic."""
    warnings.simplefilter("ignore")  # nbgrader's own, from SQLAlchemy
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    # nbgrader calls alembic by name, which is there only in an activated environment.
    scripts = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])


def _interruptible(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function that Ctrl-C may end; an idle process ignores it.

    Ended so, nbgrader shuts its kernel down and leaves nothing half graded.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return function(*arguments)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
