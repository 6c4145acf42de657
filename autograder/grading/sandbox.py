"""The sandbox seen from outside: start the warm parent, fork children, end them.

What happens inside is in ``inside``; which command shuts the parent in is in
``bubblewrap``.
"""

import contextlib
import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgpack

from autograder.course import CourseError
from autograder.grading import bubblewrap
from autograder.grading.inside import wire
from autograder.grading.inside.namespaces import Limits

START_SECONDS = 120.0  # the parent imports torch and draws once
END_SECONDS = 20.0  # the kernel tears a child's namespaces down in milliseconds
FIRST_USER, USERS = 60_001, 5_000  # users of nobody's, below 65534, one for each child


class NoSandbox(CourseError):
    """Submissions cannot be shut in on this machine."""


class Broken(BaseException):
    """The sandbox itself failed, through no fault of a submission.

    No ``except Exception`` on the way may take it for an answer's mistake.
    """


class Child:
    """One forked child and the connection to it.

    number : its number among this sandbox's children
    code : its exit code, or its signal's number below 0; None while it runs
    """

    def __init__(self, sandbox: "Sandbox", number: int, own: socket.socket) -> None:
        """Take over our end of the connection."""
        self.sandbox = sandbox
        self.number = number
        self.connection = own
        self.code: int | None = None

    def end(self) -> None:
        """End it and everything it has started; returns when that is done."""
        self.connection.close()
        if self.code is None:
            self.sandbox.end(self)


class Sandbox:
    """A warm parent behind bubblewrap, ready to fork a child for each submission.

    ``with Sandbox(folder, modules) as sandbox: child = sandbox.fork()``
    """

    def __init__(
        self,
        folder: Path,
        modules: Sequence[str],
        library: Mapping[str, list[str]],
        cells: Sequence[tuple[str, str]] = (),
        *,
        isolated: bool = True,
        limits: Limits | None = None,
        worker: int = 0,
    ) -> None:
        """Say what it holds.

        folder : with ``engine`` and ``course``, made by ``course_copy``
        modules : what the parent imports before it forks
        library : for each exercise, the functions whose calls are noticed
        cells : role and source of the lesson's own, read once before any fork
        isolated : False runs submissions with the rights of this process
        worker : a number that differs between sandboxes that run at the same time
        """
        self.folder = folder
        self.library = {name: [*functions] for name, functions in library.items()}
        self.isolated = isolated
        self.first_user = FIRST_USER + (worker * 300) % USERS
        self.settings = {
            "modules": list(modules),
            "library": self.library,
            "cells": list(cells),
            "limits": asdict(limits or Limits()),
            "isolated": isolated,
        }
        self._forked = 0
        self._ended: dict[int, int] = {}

    def __enter__(self) -> "Sandbox":
        """Start the parent; raises ``NoSandbox`` where that cannot be done."""
        own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            theirs.set_inheritable(True)
            arguments = [str(theirs.fileno()), json.dumps(self.settings)]
            self._said = tempfile.TemporaryFile()
            try:
                command = bubblewrap.command(self.folder, arguments, self.isolated)
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=self._said,
                    stderr=self._said,
                    pass_fds=[theirs.fileno()],
                    env=None if self.isolated else bubblewrap.environment(self.folder),
                    start_new_session=True,  # Ctrl-C is for us: we end it in order
                )
            except OSError as error:
                own.close()
                self._said.close()
                raise NoSandbox(bubblewrap.refusal(str(error))) from None
        self._control = own
        try:
            self._wait("ready", time.monotonic() + START_SECONDS)
        except (EOFError, TimeoutError, OSError):
            self.__exit__()
            raise NoSandbox(bubblewrap.refusal(self._last_words)) from None
        return self

    def __exit__(self, *_: Any) -> None:
        """End the parent, and with it every child."""
        self._control.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.seek(0)
        self._last_words = self._said.read()[-2000:].decode(errors="replace").strip()
        self._said.close()

    @property
    def process(self) -> int:
        """Number of the process that holds the warm parent."""
        return self._process.pid

    def fork(self) -> Child:
        """Fork a child, shut in and waiting for its first message."""
        own, theirs = socket.socketpair()
        with theirs:
            self._forked += 1
            user = self.first_user + self._forked % 300
            request = msgpack.packb(["fork", self._forked, user])
            try:
                socket.send_fds(self._control, [request], [theirs.fileno()])
            except OSError as error:
                own.close()
                raise Broken(f"the warm parent is gone: {error}") from None
        return Child(self, self._forked, own)

    def end(self, child: Child) -> None:
        """End a child and wait until it has ended."""
        with contextlib.suppress(OSError):
            self._control.send(msgpack.packb(["end", child.number]))
        self.wait_for(child)

    def wait_for(self, child: Child) -> int:
        """Wait for a child that is ending by itself; give its code."""
        deadline = time.monotonic() + END_SECONDS
        try:
            while child.number not in self._ended:
                self._wait("ended", deadline)
        except (EOFError, TimeoutError, OSError) as error:
            raise Broken(f"a child cannot be ended: {error!r}") from None
        child.code = self._ended.pop(child.number)
        return child.code

    def _wait(self, what: str, deadline: float) -> None:
        """Wait until the parent says this; remember who has ended meanwhile."""
        while True:
            self._control.settimeout(max(deadline - time.monotonic(), 0.001))
            text = self._control.recv(4096)
            if not text:
                raise EOFError
            said, *rest = msgpack.unpackb(text)
            if said == "ended":
                self._ended[rest[0]] = rest[1]
            if said == what:
                return


def check_started(child: Child) -> None:
    """Have a child run nothing; raises ``NoSandbox`` if it could not be shut in.

    That there is a ``bwrap`` says little: the child's own namespaces are tried, too.
    """
    try:
        wire.send(child.connection, wire.pack(["run", [], []]))
        answer = wire.receive(child.connection, time.monotonic() + START_SECONDS)
        what, *rest = wire.unpack(answer)
    except (OSError, EOFError) as error:
        what, rest = "failed", [f"it ended at once ({error!r})"]
    if what == "failed":
        raise NoSandbox(bubblewrap.refusal(str(rest[0])))
