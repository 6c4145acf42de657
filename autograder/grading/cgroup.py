"""Limits on a whole sandbox by a control group (cgroup v2), where we may make one.

The limits of a process hold for each process of a submission anew, and leave out what
the kernel needs for it. A group counts the warm parent and its children together. It is
made where the system has handed controllers over: to root, or by systemd to an ordinary
user. Elsewhere the limits of each process have to do.
"""

import contextlib
import itertools
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.grading.inside.isolation import Limits

NEEDED = {"memory", "pids"}
PARENT_MEMORY = 1 << 30  # bytes for the warm parent, and what the kernel keeps for it
PARENT_PROCESSES = 16  # bubblewrap's, and room
PERIOD = 100_000  # microseconds over which processors' time is counted
END_SECONDS = 2.0  # the last process of a group takes a moment to go
JOIN = 'echo 0 2>/dev/null >"$0"; exec "$@"'
_numbers = itertools.count()


def home(
    own: Path = Path("/proc/self/cgroup"), mounts: Path = Path("/proc/self/mounts")
) -> Path | None:
    """Return the nearest group above this process in which we may make others."""
    with contextlib.suppress(OSError):
        mount = re.search(r"^\S+ (\S+) cgroup2 ", mounts.read_text(), re.MULTILINE)
        path = re.search(r"^0::/(.*)$", own.read_text(), re.MULTILINE)
        if mount and path:
            top = Path(mount[1])
            group = top / path[1]
            for folder in (group, *group.parents):
                if not folder.is_relative_to(top):
                    break
                if _is_ours(folder):
                    return folder
    return None


def _is_ours(folder: Path) -> bool:
    """Return whether groups made in a folder get the controllers, and our processes."""
    with contextlib.suppress(OSError):
        controllers = (folder / "cgroup.subtree_control").read_text().split()
        procs = folder / "cgroup.procs"
        return NEEDED <= {*controllers} and all(
            os.access(p, os.W_OK) for p in (folder, procs)
        )
    return False


class Group:
    """A control group for one sandbox; without one where that cannot be had.

    path : its folder; None if there is none
    """

    def __init__(self, limits: Limits, children: int) -> None:
        """Make the group, and remove those of graders that were killed.

        children : how many run at the same time
        """
        self.path: Path | None = None
        above = home()
        if above is None:
            return
        for left in above.glob("grading-*-*"):
            process = left.name.split("-")[1]
            if process.isdecimal() and not Path("/proc", process).exists():
                _remove(left)
        path = above / f"grading-{os.getpid()}-{next(_numbers)}"
        try:
            path.mkdir()
            for name, value in _settings(limits, children):
                if (path / name).exists() or name in ("memory.max", "pids.max"):
                    (path / name).write_text(value)
            self.path = path
        except OSError:
            _remove(path)

    def joined(self, command: Sequence[str]) -> list[str]:
        """Return a command that does the same in the group, from its first moment."""
        if self.path is None:
            return [*command]
        return ["/bin/sh", "-c", JOIN, str(self.path / "cgroup.procs"), *command]

    def holds(self, process: int) -> bool:
        """Return whether a process is in the group."""
        if self.path is None:
            return False
        return str(process) in (self.path / "cgroup.procs").read_text().split()

    def remove(self) -> None:
        """Remove the group, and end whatever is left in it."""
        if self.path:
            _remove(self.path)
            self.path = None


def _settings(limits: Limits, children: int) -> Iterator[tuple[str, str]]:
    """Yield files of a group, and what to write there.

    An honest submission needs the memory of one process, and its files; twice that
    is allowed.
    """
    each = 2 * (limits.memory + limits.disk)
    yield "memory.max", str(PARENT_MEMORY + children * each)
    yield "memory.swap.max", "0"
    yield "pids.max", str(PARENT_PROCESSES + children * limits.processes)
    yield "cpu.max", f"{children * PERIOD} {PERIOD}"


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        (path / "cgroup.kill").write_text("1")
    deadline = time.monotonic() + END_SECONDS
    while path.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            path.rmdir()
            return
        time.sleep(0.01)
