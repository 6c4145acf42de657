"""Try the sandbox: which of its layers are in force on this machine.

A sandbox is started as for a lesson, and a child in it tries what a submission must not
be able to do; what cannot be tried from within is looked at from outside.
"""

import contextlib
import os
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.checking.call import CallResult
from autograder.course import Course, CourseError
from autograder.grading import course_copy, visible
from autograder.grading.budget import Budget
from autograder.grading.release import Cell
from autograder.grading.sandbox import Sandbox, check_started
from autograder.grading.session import Session

SPACES = ("user", "pid", "mnt", "net", "ipc", "uts")
# mount, ptrace, semget, bpf: number on x86_64 and aarch64
REFUSED = ((165, 40), (101, 117), (64, 190), (321, 280))
PROBE = """
def probe(private, socket_name, numbers, memory):
    import ctypes, errno, mmap, os, resource, socket
    library = ctypes.CDLL(None, use_errno=True)
    refused = []
    for number in numbers:
        ctypes.set_errno(0)
        library.syscall(number, 0, 0, 0, 0, 0)
        refused.append(ctypes.get_errno() == errno.EPERM)
    reached = [path for path in private if os.path.lexists(path)] + os.listdir("/proc")
    reached += ["another process"] if (os.getpid(), os.getppid()) != (1, 0) else []
    try:
        socket.create_connection(("127.0.0.1", 9), 0.1)
    except ConnectionRefusedError:
        reached.append("the network")
    except OSError:
        pass
    with socket.socket(socket.AF_UNIX) as connection:
        if connection.connect_ex(socket_name) == 0:
            reached.append("a socket of another process")
    folders = ["/", "/dev", "/etc", "/usr", "/usr/bin", "/course", "/engine", "/tmp"]
    disk = os.statvfs("/tmp")
    limits = [resource.getrlimit(getattr(resource, name))[1] for name in LIMITS]
    try:
        mmap.mmap(-1, memory + memory // 4)  # some has been given back since
        limits.append("no limit of memory")
    except OSError:
        pass
    return {
        "refused": refused,
        "reached": reached,
        "writable": [path for path in folders if os.access(path, os.W_OK)],
        "disk": disk.f_blocks * disk.f_frsize,
        "limits": limits,
    }
"""
LIMITS = ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CPU")


@dataclass(frozen=True)
class Trial:
    """What a trial of the sandbox has shown.

    spaces : namespaces that a child has of its own
    users : the users that two children are, as the machine counts them
    privileged : whether a child has any privilege, or could get one
    filtered : whether the kernel filters its system calls, and refused those tried
    reached : what it reached that it must not
    writable : folders that it may write to, of those tried
    limited : whether its limits and its disk are as they were set
    grouped : whether it is in a control group with limits
    """

    spaces: frozenset[str]
    users: frozenset[int]
    privileged: bool
    filtered: bool
    reached: tuple[str, ...]
    writable: tuple[str, ...]
    limited: bool
    grouped: bool


def try_sandbox(course: Course) -> Trial:
    """Start a sandbox and try it.

    Raises ``NoSandbox`` if it does not start, and ``CourseError`` with what a process
    in it has said if that ended before it had tried anything.
    """
    private = visible.private_files(course)
    with (
        tempfile.TemporaryDirectory(prefix=f"grading-{os.getpid()}-") as name,
        socket.socket(socket.AF_UNIX) as listening,
    ):
        listening.bind(b"\0" + os.urandom(16).hex().encode())  # seen in one network
        listening.listen()
        folder = Path(name)
        course_copy.make_copy(folder, [])
        sandbox = Sandbox(folder, [], {}, private=private)
        cells = [
            Cell("own", f"LIMITS = {LIMITS!r}\n{PROBE}"),
            Cell("check", "", "probe"),
        ]
        column = os.uname().machine == "aarch64"
        arguments = (
            _hidden(private),
            listening.getsockname(),
            [numbers[column] for numbers in REFUSED],
            sandbox.limits.memory,
        )
        budget = Budget(call=20, cell=20, cells=40)
        with sandbox:
            other = sandbox.fork()
            with contextlib.closing(other.connection):
                check_started(other)
                [beside] = _children(sandbox)
                with Session(sandbox, cells, budget) as session:
                    result = session.call("probe", "check", arguments, {}, {})
                    if not isinstance(result.value, dict):
                        raise CourseError(_reason_of(result))
                    answer = result.value
                    [child] = _children(sandbox) - {beside}
                    return _trial(sandbox, child, beside, answer)


def _reason_of(result: CallResult) -> str:
    """Return why a child has tried nothing: in its own words, if it had any."""
    if result.raised:
        words = f"{result.raised.types[0]}: {result.raised.message}".strip(": ")
        line = f" (`{result.raised.line}`)" if result.raised.line else ""
        return f"a process in the sandbox stopped with {words}{line}"
    return f"a process in the sandbox gave no answer ({result.kind})"


def _hidden(private: Sequence[Path]) -> list[str]:
    """List what is in private folders and at home, but for this Python."""
    targets = [target for _, target in visible.parts()]
    paths = [*private]
    for folder in (*private, Path.home()):
        with contextlib.suppress(OSError):  # it is no folder, or is not there
            paths += folder.iterdir()
    return [str(p) for p in paths if not any(t.is_relative_to(p) for t in targets)]


def _trial(sandbox: Sandbox, child: int, other: int, answer: dict[str, Any]) -> Trial:
    """Put together what a child says and what the machine shows of it."""
    status, limits = _status(child), sandbox.limits
    expected = [limits.processes, limits.files, limits.file_size, limits.cpu]
    capabilities = [int(status[f"Cap{kind}"], 16) for kind in ("Prm", "Eff", "Bnd")]
    others = {name: (_space("self", name), _space(other, name)) for name in SPACES}
    refused = answer.get("refused") == [True] * len(REFUSED)
    return Trial(
        spaces=frozenset(n for n in SPACES if _space(child, n) not in others[n]),
        users=frozenset(int(_status(p)["Uid"].split()[0]) for p in (child, other)),
        privileged=any(capabilities) or status["NoNewPrivs"] != "1",
        filtered=status["Seccomp"] == "2" and refused,
        reached=tuple(answer.get("reached", ["it did not answer"])),
        writable=tuple(answer.get("writable", ())),
        limited=answer.get("limits") == expected and answer.get("disk") == limits.disk,
        grouped=sandbox.group is not None and sandbox.group.holds(child),
    )


def _children(sandbox: Sandbox) -> set[int]:
    """Return the processes of a sandbox's children, as the machine counts them."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):  # it has ended
                parents[int(entry.name)] = int(_status(int(entry.name))["PPid"])
    level = {sandbox.process}
    for _ in range(3):  # bubblewrap's second process, the warm parent, the children
        level = {each for each, parent in parents.items() if parent in level}
    return level


def _status(process: int) -> dict[str, str]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    parts = [line.partition(":") for line in lines]
    return {name: value.strip() for name, _, value in parts}


def _space(process: int | str, name: str) -> str:
    return str(Path(f"/proc/{process}/ns/{name}").readlink())
