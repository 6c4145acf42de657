"""The sandbox seen from outside: start the warm parent, fork children, end them.

The parent runs in bubblewrap with Python, its packages, the system's libraries and two
folders of ours, all read-only; without network, other processes, a home or the course.
What happens inside is in ``inside``.
"""

import contextlib
import ctypes
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Self

import msgpack

from autograder.checking.own_time import TimeLeft
from autograder.course import CourseError
from autograder.grading import cgroup, visible
from autograder.grading.identity import PACKAGES
from autograder.grading.inside import seccomp, wire
from autograder.grading.inside.isolation import Isolation, Limits

LIBC = ctypes.CDLL(None)
START = (
    "import sys; sys.path[:0] = [{engine!r}, {course!r}]; "
    "from inside import preload; preloading = preload.begin(); "
    "from inside import parent; parent.main(preloading)"
)
ONE_THREAD = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
)
START_SECONDS = 120.0  # the parent imports torch and draws once
END_SECONDS = 20.0  # the kernel tears a child's namespaces down in milliseconds
# Users without a name, below 65534: one for each child of a sandbox.
FIRST_USER, N_USERS, USERS_PER_SANDBOX = 60_001, 5_000, 300


class NoSandbox(CourseError):
    """Submissions cannot be isolated on this machine."""


class SandboxFailure(BaseException):
    """The sandbox itself failed, through no fault of a submission.

    It is no ``Exception``, so that nothing on the way counts it as an answer's error.
    """


class ChildProcess:
    """One forked child and the connection to it.

    number : its number among those that this client has forked
    code : its exit code, or its signal's number below 0; None while it runs
    """

    def __init__(
        self, client: "SandboxClient", number: int, connection: socket.socket
    ) -> None:
        """Store our end of the connection."""
        self.client = client
        self.number = number
        self.connection = connection
        self.code: int | None = None

    def end(self) -> None:
        """End it and everything it has started; returns when that is done."""
        self.connection.close()
        if self.code is None:
            self.client.end(self)


class SandboxClient:
    """Has children forked by a warm parent that runs already, or is starting.

    ``with SandboxClient(control, library) as client: child = client.fork()``
    """

    def __init__(
        self,
        control: socket.socket | None,
        library: Mapping[str, list[str]],
        *,
        worker: int = 0,
    ) -> None:
        """Store the connection to the parent, which is made later if it is None.

        library : for each exercise, the functions whose calls are noticed
        worker : a number that differs between clients at the same time
        """
        self.library = {name: [*functions] for name, functions in library.items()}
        self.first_user = FIRST_USER + (worker * USERS_PER_SANDBOX) % N_USERS
        self._control = control
        self._forked = 0
        self._exit_codes: dict[int, int] = {}  # of children that have ended

    def start(self) -> None:
        """Do nothing: the parent has been started."""

    def __enter__(self) -> Self:
        """Wait until the parent is ready; raises ``NoSandbox`` if it has ended."""
        try:
            self._wait_for_message("ready", time.monotonic() + START_SECONDS)
        except (EOFError, TimeoutError, OSError):
            self.__exit__()
            raise NoSandbox(refusal(self._why_not)) from None
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection: the parent ends the children that it belongs to."""
        if self._control:
            self._control.close()

    @property
    def control(self) -> socket.socket:
        """The connection to the parent."""
        assert self._control is not None, "not started"
        return self._control

    @property
    def _why_not(self) -> str:
        """Why the parent has ended, as far as known."""
        return ""

    def fork(self) -> ChildProcess:
        """Fork a child that is isolated and waits for its first message.

        If this thread is kept on one processor, so is the child.
        """
        processors = os.sched_getaffinity(0)
        processor = processors.pop() if len(processors) == 1 else None
        own, theirs = socket.socketpair()
        with theirs:
            self._forked += 1
            user = self.first_user + self._forked % USERS_PER_SANDBOX
            try:
                words = "fork", self._forked, user, processor
                _send_with(self.control, theirs, *words)
            except OSError as error:
                own.close()
                raise SandboxFailure(f"the warm parent is gone: {error}") from None
        return ChildProcess(self, self._forked, own)

    def end(self, child: ChildProcess) -> None:
        """End a child and wait until it has ended."""
        with contextlib.suppress(OSError):
            self.control.send(msgpack.packb(["end", child.number]))
        self.wait_for(child)

    def wait_for(self, child: ChildProcess) -> int:
        """Wait for a child that is ending by itself; return its exit code."""
        deadline = time.monotonic() + END_SECONDS
        try:
            while child.number not in self._exit_codes:
                self._wait_for_message("ended", deadline)
        except (EOFError, TimeoutError, OSError) as error:
            raise SandboxFailure(f"a child cannot be ended: {error!r}") from None
        child.code = self._exit_codes.pop(child.number)
        return child.code

    def _wait_for_message(self, expected: str, deadline: float) -> None:
        """Wait until the parent sends this word; record who has ended meanwhile."""
        while True:
            self.control.settimeout(max(deadline - time.monotonic(), 0.001))
            message = self.control.recv(4096)
            if not message:
                raise EOFError
            word, *fields = msgpack.unpackb(message)
            if word == "ended":
                number, code = fields
                self._exit_codes[number] = code
            if word == expected:
                return


class Sandbox(SandboxClient):
    """A warm parent behind bubblewrap, ready to fork a child for each submission.

    ``with Sandbox(folder, modules, library) as sandbox: child = sandbox.fork()``
    """

    def __init__(
        self,
        folder: Path,
        modules: Sequence[str],
        library: Mapping[str, list[str]],
        cells: Sequence[tuple[str, str]] = (),
        *,
        isolation: Isolation = "namespaces",
        limits: Limits | None = None,
        worker: int = 0,
        private: Sequence[Path] = (),
        children: int = 1,
    ) -> None:
        """Store the settings; nothing starts yet.

        folder : with ``engine`` and ``course``, made by ``course_copy``
        modules : what the parent imports before it forks
        cells : role and source of the lesson's own, parsed once before any fork
        isolation : what keeps submissions apart; "none" gives them our rights
        private : files and folders of which no submission may see anything
        children : how many will run at the same time
        """
        super().__init__(None, library, worker=worker)
        self.folder = folder
        self.private = [*private, *PACKAGES]
        self.isolation = isolation
        self.limits, self.children = limits or Limits(), children
        self.settings = {
            "modules": list(modules),
            "library": self.library,
            "cells": list(cells),
            "limits": asdict(self.limits),
            "isolation": isolation,
        }
        self.group: cgroup.Group | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._end_of_log = ""

    def __enter__(self) -> Self:
        """Start the parent; raises ``NoSandbox`` where that cannot be done."""
        if self._process is None:
            self.start()
        return super().__enter__()

    def start(self) -> None:
        """Start the parent and do not wait: it takes a second or two to import."""
        own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            theirs.set_inheritable(True)
            arguments = [str(theirs.fileno()), json.dumps(self.settings)]
            self._log = tempfile.TemporaryFile()
            try:
                in_namespaces = self.isolation == "namespaces"
                if self.isolation == "user":
                    check_closed(self.folder, self.private)
                start = command(self.folder, arguments, in_namespaces, self.private)
                if in_namespaces:
                    self.group = cgroup.Group(self.limits, self.children)
                    start = self.group.joined(start)
                self._process = subprocess.Popen(
                    start,
                    stdin=subprocess.DEVNULL,
                    stdout=self._log,
                    stderr=self._log,
                    pass_fds=[theirs.fileno()],
                    env=None if in_namespaces else environment(),
                    start_new_session=True,  # Ctrl-C is for us: we end it in order
                )
            except (OSError, CourseError) as error:
                own.close()
                self._log.close()
                if self.group:
                    self.group.remove()
                if isinstance(error, CourseError):
                    raise
                raise NoSandbox(refusal(str(error))) from None
        self._control = own

    def __exit__(self, *_: object) -> None:
        """End the parent, and with it every child."""
        super().__exit__()
        if self._process is None:
            return
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self.group:
            self.group.remove()
        if not self._log.closed:
            self._log.seek(0)
            self._end_of_log = self._log.read()[-2000:].decode(errors="replace").strip()
            self._log.close()

    @property
    def process(self) -> int:
        """Number of the process that holds the warm parent."""
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def _why_not(self) -> str:
        return self._end_of_log

    def fault(self, error: CourseError) -> CourseError:
        """End the parent; return a client's error with what the parent said last."""
        self.__exit__()
        known = isinstance(error, NoSandbox) and self._end_of_log
        return NoSandbox(refusal(self._end_of_log)) if known else error

    def share(self) -> socket.socket:
        """Return a further connection to the parent, for a client of its own."""
        own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, contextlib.suppress(OSError):  # gone: noticed at the other end
            _send_with(self.control, theirs, "join")
        return own


@contextlib.contextmanager
def one_processor() -> Iterator[None]:
    """Keep this thread, and the children that it forks, on the processor it is on.

    Grader and child wait for each other all the time: to wake the other one on the same
    processor takes a fifth of the time that it takes on another.
    """
    before = os.sched_getaffinity(0)
    processor = LIBC.sched_getcpu()
    if processor in before:
        os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _send_with(control: socket.socket, passed: socket.socket, *words: object) -> None:
    """Send a request with the end of a connection."""
    socket.send_fds(control, [msgpack.packb(words)], [passed.fileno()])


def check_started(child: ChildProcess) -> None:
    """Run no cells in a child; raises ``NoSandbox`` if it could not be isolated.

    That there is a ``bwrap`` proves little: the child's own namespaces are tried, too.
    """
    try:
        wire.send(child.connection, wire.pack(["run", [], []]))
        answer = wire.receive(child.connection, TimeLeft(START_SECONDS))
        word, *fields = wire.unpack(answer)
    except (OSError, EOFError) as error:
        word, fields = "failed", [f"it ended at once ({error!r})"]
    if word == "failed":
        raise NoSandbox(refusal(str(fields[0])))


def check_closed(folder: Path, private: Sequence[Path]) -> None:
    """Open a lesson's copy to other users; raise ``NoSandbox`` if more is open.

    Without a view of its own of the files, a submission sees what any user sees: what
    would answer exercises, or says the inputs, must be closed to others.
    """
    if os.geteuid():
        raise NoSandbox(
            "submissions can become another user where root judges them, and this is "
            f"{os.geteuid()}: call as root, in a container of their own"
        )
    if platform.machine() not in seccomp.MACHINES:
        raise NoSandbox(
            "without namespaces the network is closed by a filter of system calls, "
            f"and there is none for {platform.machine()}"
        )
    if still_open := [path for path in private if others_can_read(path)]:
        paths = " ".join(map(str, still_open))
        raise NoSandbox(
            "other users can read what would tell a submission the answers or the "
            f"inputs: call `chmod -R go-rwx {paths}`, then judge again"
        )
    folder.chmod(0o755)


def others_can_read(path: Path) -> bool:
    """Return whether a user who owns nothing can reach a path and read it."""
    try:
        modes = [each.stat().st_mode for each in (path, *path.resolve().parents)]
    except OSError:
        return False
    return bool(modes[0] & 0o004) and all(mode & 0o001 for mode in modes[1:])


def refusal(reason: str) -> str:
    """Return that there is no sandbox here, why, and what one can do."""
    last_line = reason.splitlines()[-1] if reason else "no reason was given"
    if "No module named" in last_line:
        return (
            f"submissions cannot be judged on this machine ({last_line}): `pip install "
            "'attention-course[grade,torch]'` brings what grading needs, for every "
            "lesson"
        )
    if "there is no such program" in reason:
        remedy = "install the package bubblewrap (`apt-get install bubblewrap`)"
    else:
        remedy = (
            "user namespaces must be allowed (sysctl user.max_user_namespaces above 0; "
            "kernel.unprivileged_userns_clone=1 and "
            "kernel.apparmor_restrict_unprivileged_userns=0 where the system has them; "
            "in a container, run it with --security-opt seccomp=unconfined)"
        )
    return (
        f"submissions cannot be isolated on this machine ({last_line}): {remedy}. With "
        "--no-sandbox they are graded all the same, and can then do whatever you can: "
        "read and change the gradebook, other submissions and your files"
    )


def command(
    folder: Path, arguments: Sequence[str], isolated: bool, private: Sequence[Path] = ()
) -> list[str]:
    """Return the command that starts the warm parent.

    folder : with ``engine`` and ``course``
    isolated : False starts Python alone, for ``--no-sandbox``
    private : files and folders of which nothing may be seen
    """
    engine, course = str(folder / "engine"), str(folder / "course")
    executable = sys.executable
    if isolated:
        engine, course, executable = visible.INSIDE, visible.COURSE, visible.python()
    start = START.format(engine=engine, course=course)
    # As -I, but for -E: the seed of hashes comes from the environment, which is ours.
    python = [executable, "-P", "-s", "-B", "-c", start, *arguments]
    if not isolated:
        return python
    bwrap = shutil.which("bwrap")
    if not bwrap:
        raise FileNotFoundError("bwrap: there is no such program")
    return [bwrap, *_options(folder, private), "--", *python]


def environment() -> dict[str, str]:
    """Return the environment variables of a submission."""
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


def _options(folder: Path, private: Sequence[Path]) -> list[str]:
    """Return bubblewrap's options."""
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
    for name, value in environment().items():
        options += ["--setenv", name, value]
    options += visible.options(folder, private)
    options += ["--proc", "/proc", "--dev", "/dev"]
    # For an ordinary user's children: what one of them wrote another could read.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    return options
