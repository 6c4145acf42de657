"""Processes that tests start, interrupt and end."""

import contextlib
import os
import signal
import subprocess
from typing import Any


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
