"""A process for nbgrader, which changes its current folder, environment and log."""

import os
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path


@contextmanager
def process(log: Path) -> Iterator[ProcessPoolExecutor]:
    """Start the process and end it; what is submitted runs in it, one by one.

    log : the file that gets what nbgrader and its kernels print
    """
    spawn = get_context("spawn")
    with ProcessPoolExecutor(1, spawn, _begin, (str(log),)) as pool:
        yield pool


def _begin(log: str) -> None:
    warnings.simplefilter("ignore")  # nbgrader's own, from SQLAlchemy
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    # nbgrader calls alembic by name, which is there only in an activated environment.
    scripts = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
