"""Engines for tests: short limits, a fixed seed, and what they leave behind."""

import ctypes
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
SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, in linux/prctl.h


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
    return strays + strays_outside()


def strays_outside() -> list[str]:
    """Return what runs as a sandbox's user outside a sandbox, of what we have started.

    Other graders on the machine have the same users: their processes are not ours.
    """
    strays = []
    for process in psutil.Process().children(recursive=True):
        try:
            user, status = process.uids().real, process.status()
            name = process.name()
        except psutil.Error:  # it has ended
            continue
        runs = status != psutil.STATUS_ZOMBIE and not _in_a_sandbox(process)
        if user in SANDBOX_USERS and runs:
            strays.append(f"{name} of user {user}, outside")
    return strays


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Stay the ancestor of all that is started, also of what forks to get away."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _in_a_sandbox(process: psutil.Process) -> bool:
    """Return whether a process runs below bubblewrap, or has ended meanwhile."""
    try:
        return any(above.name() == "bwrap" for above in process.parents())
    except psutil.Error:
        return True
