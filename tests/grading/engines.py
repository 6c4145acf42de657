"""Engines for tests: short limits, a fixed seed, and what they leave behind."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from autograder.course import Course
from autograder.grading.budget import Budget
from autograder.grading.engine import Engine
from tests.submissions import LESSON

SHORT = Budget(call=0.7, cell=1.5, cells=3.0, submission=30.0)
SEED = 20_170_612
SANDBOX_USERS = range(60_001, 65_002)


def process_number() -> int:
    """Return the number of this pytest process: engines beside it have other users."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


@contextmanager
def engine_of(course: Course, **options) -> Iterator[Engine]:
    options = {"budget": SHORT, "seed": SEED, "worker": process_number()} | options
    with Engine(course, LESSON, **options) as engine:
        yield engine


def processes_of(engine: Engine) -> list[psutil.Process]:
    """Return the processes of an engine's sandbox, its children among them."""
    parent = psutil.Process(engine.sandbox.process)
    return [parent, *parent.children(recursive=True)]


def stray_processes(engine: Engine) -> list[str]:
    """Return what still runs besides bubblewrap and the warm parent."""
    strays = [f"process {each.pid} of the sandbox" for each in processes_of(engine)[3:]]
    for process in psutil.process_iter(["uids", "name"]):
        uids = process.info["uids"]
        if uids and uids.real in SANDBOX_USERS and not _in_a_sandbox(process):
            strays.append(f"{process.info['name']} of user {uids.real}, outside")
    return strays


def _in_a_sandbox(process: psutil.Process) -> bool:
    """Return whether a process runs below bubblewrap, or has ended meanwhile."""
    try:
        return any(above.name() == "bwrap" for above in process.parents())
    except psutil.Error:
        return True
