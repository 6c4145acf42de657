"""Processes that tests start, interrupt and end, and what those of a run share."""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class InterruptibleProcess(subprocess.Popen):
    """A process that Ctrl-C stops, also where the tests run in the background.

    A shell that has no job control lets its background jobs ignore SIGINT, and their
    children inherit that. The process leads a session of its own: leaving a ``with``
    block kills whatever is left of it.
    """

    def __init__(self, command: list[str], **options: Any) -> None:
        """Start the command."""
        super().__init__(
            command,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            **options,
        )

    def __exit__(self, *error: Any) -> None:
        """Kill the session; close the pipes and wait."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(*error)


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]
) -> Path:
    """Return a folder that the first of a run's processes to need it makes.

    make : fills the folder, which is empty

    The others wait. All read the same files, so no test may change them.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, done = base / name, base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
