"""The sandbox seen from outside: start the warm parent, fork children, end them.

What happens inside is in ``inside``; which command shuts the parent in is in
``bubblewrap``.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgpack

from autograder.course import CourseError
from autograder.grading.inside import wire
from autograder.grading.inside.isolation import Limits

SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt/conda")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/fonts", "/etc/localtime")
INSIDE, COURSE, PYTHON = "/engine", "/course", "/python"
START = (
    "import sys; sys.path[:0] = [{engine!r}, {course!r}]; "
    "from inside import parent; parent.main()"
)
ONE_THREAD = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
)


def command(folder: Path, arguments: Sequence[str], isolated: bool) -> list[str]:
    """Give the command that starts the warm parent.

    folder : with ``engine`` and ``course``
    isolated : False gives Python alone, for ``--no-sandbox``
    """
    engine, course = (
        (INSIDE, COURSE)
        if isolated
        else (str(folder / "engine"), str(folder / "course"))
    )
    start = START.format(engine=engine, course=course)
    # As -I, but for -E: the seed of hashes comes from the environment, which is ours.
    own = _in_an_environment() and isolated
    executable = f"{PYTHON}/bin/{Path(sys.executable).name}" if own else sys.executable
    python = [executable, "-P", "-s", "-B", "-c", start, *arguments]
    if not isolated:
        return python
    found = shutil.which("bwrap")
    if not found:
        raise FileNotFoundError("bwrap: there is no such program")
    return [found, *_options(folder), "--", *python]


def environment(folder: Path) -> dict[str, str]:
    """Give what a submission finds in its environment."""
    return {
        "HOME": "/tmp/home",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "IPYTHONDIR": "/tmp/ipython",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(ONE_THREAD, "1"),
    }


def refusal(why: str) -> str:
    """Say that there is no sandbox here, why, and what one can do."""
    asked = why.splitlines()[-1] if why else "no reason was given"
    if "there is no such program" in why:
        do = "install the package bubblewrap (`apt-get install bubblewrap`)"
    else:
        do = (
            "user namespaces must be allowed (sysctl user.max_user_namespaces above 0; "
            "kernel.unprivileged_userns_clone=1 and "
            "kernel.apparmor_restrict_unprivileged_userns=0 where the system has them; "
            "in a container, run it with --security-opt seccomp=unconfined)"
        )
    return (
        f"submissions cannot be shut in on this machine ({asked}): {do}. With "
        "--no-sandbox they are graded all the same, and can then do whatever you can: "
        "read and change the gradebook, other submissions and your files"
    )


def _options(folder: Path) -> list[str]:
    options = [
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"),
        *("--hostname", "sandbox"),
    ]
    if os.geteuid() == 0:  # each child becomes a user of its own, and is ended by root
        options += ["--cap-drop", "ALL"]
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_KILL"):
            options += ["--cap-add", capability]
    else:
        options += ["--unshare-user", "--cap-drop", "ALL"]
    for name, value in environment(folder).items():
        options += ["--setenv", name, value]
    options += _tree(folder)
    options += ["--proc", "/proc", "--dev", "/dev"]
    # For an ordinary user's children: what one of them wrote another could read.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    return options


def _tree(folder: Path) -> list[str]:
    """Bind what is needed; what a link at the top means is made again as a link."""
    options = ["--perms", "1777", "--tmpfs", "/tmp"]
    shown = [Path(place) for place in SYSTEM if Path(place).exists()]
    shown += [Path(place) for place in SYSTEM_FILES if Path(place).exists()]
    made: set[Path] = {Path("/"), Path("/tmp"), Path("/etc")}
    options += ["--perms", "0755", "--dir", "/etc"]
    for place in shown:
        if place.is_symlink():
            options += ["--symlink", str(place.readlink()), str(place)]
        else:
            options += ["--ro-bind", str(place), str(place)]
        made.add(place)
    if _in_an_environment():  # where the course is, and whether in /tmp, matters not
        options += ["--ro-bind", sys.prefix, PYTHON]
    for place in _python():
        options += [*_parents(place, made), "--ro-bind", str(place), str(place)]
        made.add(place)
    for name, inside in (("engine", INSIDE), ("course", COURSE)):
        options += ["--ro-bind", str(folder / name), inside]
    return options


def _in_an_environment() -> bool:
    """Say whether this Python runs in a virtual environment."""
    return sys.prefix != sys.base_prefix


def _python() -> list[Path]:
    """Folders of this Python and of its packages, outermost first, none twice."""
    paths = {sys.base_prefix, str(Path(sys.executable).resolve().parents[1])}
    if not _in_an_environment():
        paths |= {sys.prefix, sysconfig.get_path("purelib")}
    places = sorted(Path(path) for path in paths)
    covered = [Path(place) for place in SYSTEM]
    kept: list[Path] = []
    for place in places:
        if not any(place.is_relative_to(other) for other in covered + kept):
            kept.append(place)
    return kept


def _parents(place: Path, made: set[Path]) -> list[str]:
    """Make the folders above a place so that every user can pass through them."""
    options = []
    for folder in reversed(place.parents):
        if folder not in made:
            options += ["--perms", "0755", "--dir", str(folder)]
            made.add(folder)
    return options


START_SECONDS = 120.0  # the parent imports torch and draws once
END_SECONDS = 20.0  # the kernel tears a child's namespaces down in milliseconds
FIRST_USER, USERS = 60_001, 5_000  # users of nobody's, below 65534, one for each child


class NoSandbox(CourseError):
    """Submissions cannot be shut in on this machine."""


class SandboxFailure(BaseException):
    """The sandbox itself failed, through no fault of a submission.

    No ``except Exception`` on the way may take it for an answer's mistake.
    """


class ChildProcess:
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
                start = command(self.folder, arguments, self.isolated)
                self._process = subprocess.Popen(
                    start,
                    stdin=subprocess.DEVNULL,
                    stdout=self._said,
                    stderr=self._said,
                    pass_fds=[theirs.fileno()],
                    env=None if self.isolated else environment(self.folder),
                    start_new_session=True,  # Ctrl-C is for us: we end it in order
                )
            except OSError as error:
                own.close()
                self._said.close()
                raise NoSandbox(refusal(str(error))) from None
        self._control = own
        try:
            self._wait("ready", time.monotonic() + START_SECONDS)
        except (EOFError, TimeoutError, OSError):
            self.__exit__()
            raise NoSandbox(refusal(self._last_words)) from None
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

    def fork(self) -> ChildProcess:
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
                raise SandboxFailure(f"the warm parent is gone: {error}") from None
        return ChildProcess(self, self._forked, own)

    def end(self, child: ChildProcess) -> None:
        """End a child and wait until it has ended."""
        with contextlib.suppress(OSError):
            self._control.send(msgpack.packb(["end", child.number]))
        self.wait_for(child)

    def wait_for(self, child: ChildProcess) -> int:
        """Wait for a child that is ending by itself; give its code."""
        deadline = time.monotonic() + END_SECONDS
        try:
            while child.number not in self._ended:
                self._wait("ended", deadline)
        except (EOFError, TimeoutError, OSError) as error:
            raise SandboxFailure(f"a child cannot be ended: {error!r}") from None
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


def check_started(child: ChildProcess) -> None:
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
        raise NoSandbox(refusal(str(rest[0])))


# MERGED autograder.grading.bubblewrap: The command that shuts the warm parent in: bubblewrap, with Python and little else.
#
#   Inside there are Python, its packages, the system's libraries and two folders of ours,
#   all read-only; no network, no other process, no home, no course.
#
