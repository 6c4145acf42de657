"""Processes that tests start, interrupt and end."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from autograder.course import Course


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


def run_in(
    folder: Path, *command: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, as its only home, with this checkout's course.

    command : a program and its arguments; ``"-m", "nbgrader"``, say, is Python's
    environment : variables beside those of this process
    """
    program = [sys.executable] if command[0].startswith("-") else []
    paths = [str(Course.here().root), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [*program, *command],
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(paths), "HOME": str(folder)}
        | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
