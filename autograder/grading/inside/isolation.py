"""Isolate a process: namespaces of its own, no privileges, limits.

Each function does one step for the calling process and raises ``OSError`` where the
kernel refuses it; ``parent`` calls them in their order, and then filters what the
process may ask the kernel for (``seccomp``). Linux only.
"""

import contextlib
import ctypes
import os
import platform
import resource
import shutil
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC_WITH_GIL = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock

CLONE = {"x86_64": 56, "aarch64": 220}
ZEROS = (0, 0, 0, 0)  # the child's stack and threads stay as they are
SIGCHLD = 17

NEW_MOUNTS, NEW_IPC, NEW_USER = 0x00020000, 0x08000000, 0x10000000
NEW_PIDS, NEW_NETWORK, NEW_NAMES = 0x20000000, 0x40000000, 0x04000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096
SET_DEATH_SIGNAL, SET_NO_NEW_PRIVILEGES = 1, 38
DROP_BOUND, SIGKILL = 24, 9
HOME = "/tmp/home"
# What keeps a submission apart: namespaces of its own; where a container has none to
# give, a user of its own; or nothing (``--no-sandbox``).
Isolation = Literal["namespaces", "user", "none"]
DEVICES = (b"null", b"zero", b"full", b"random", b"urandom", b"tty")  # bubblewrap's


@dataclass(frozen=True)
class Limits:
    """What one child may use.

    memory : bytes of address space beyond what the warm parent has
    processes : processes and threads together
    files : open files of a process
    file_size : bytes of one file
    disk : bytes of the private folder
    disk_files : files in the private folder
    cpu : seconds of processor time
    signals : signals that wait for a process
    """

    memory: int = 1 << 30
    processes: int = 8
    files: int = 64
    file_size: int = 32 << 20
    disk: int = 64 << 20
    disk_files: int = 4096
    cpu: int = 300
    signals: int = 64


def fork() -> int:
    """Fork into new namespaces; return 0 to the child, as ``os.fork`` does.

    One system call makes all of them, so that no process is needed in between.
    The child has no user of its own until ``map_user`` has been called.
    """
    spaces = NEW_USER | NEW_MOUNTS | NEW_IPC | NEW_NETWORK | NEW_PIDS | NEW_NAMES
    ctypes.pythonapi.PyOS_BeforeFork()
    process = LIBC_WITH_GIL.syscall(CLONE[platform.machine()], spaces | SIGCHLD, *ZEROS)
    if process == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    _check(process < 0, "clone")
    return process


def map_user(process: int, user: int, group: int) -> None:
    """Map a child's namespace to one user, which is ``user`` outside, too."""
    if os.geteuid():  # an ordinary user may map only itself, and no further groups
        Path(f"/proc/{process}/setgroups").write_text("deny")
    Path(f"/proc/{process}/uid_map").write_text(f"{user} {user} 1")
    Path(f"/proc/{process}/gid_map").write_text(f"{group} {group} 1")


def become(user: int, group: int, drop_groups: bool) -> None:
    """Become a user of the namespace.

    drop_groups : leave all further groups, as only root's children can
    """
    if drop_groups:
        os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends."""
    _prctl(SET_DEATH_SIGNAL, SIGKILL)


def die_first() -> None:
    """Ask the kernel to end this process, not the parent, when memory runs out."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def hide_files(limits: Limits) -> None:
    """Hide /proc; make temporary files and terminals this process's own."""
    _check(_mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount")
    private = f"size={limits.disk},nr_inodes={limits.disk_files},mode=1777".encode()
    no_programs = MS_NOSUID | MS_NOEXEC
    flags = no_programs | MS_NODEV
    for path in (b"/tmp", b"/dev/shm"):
        _check(_mount(b"tmpfs", path, b"tmpfs", flags, private), "mount")
    for device in DEVICES:  # read-only, they take what is written, but cannot be dated
        fixed = MS_REMOUNT | MS_BIND | MS_RDONLY | no_programs
        _check(_mount(None, b"/dev/" + device, None, fixed, None), "mount")
    terminals = b"newinstance,ptmxmode=0666,mode=0600,max=16"
    _check(_mount(b"devpts", b"/dev/pts", b"devpts", no_programs, terminals), "mount")
    hidden, readonly = b"size=4k,nr_inodes=1,mode=0555", flags | MS_RDONLY
    _check(_mount(b"tmpfs", b"/proc", b"tmpfs", readonly, hidden), "mount")
    Path(HOME).mkdir(mode=0o700)
    os.chdir(HOME)


def make_home(user: int) -> Path:
    """Make a folder that is a user's alone; for a child without a disk of its own."""
    home = Path(tempfile.mkdtemp(prefix=f"home-{user}-"))
    os.chown(home, user, user)
    return home


def move_into(home: Path) -> None:
    """Make it the current folder, the home and the folder of temporary files."""
    os.environ |= {"HOME": str(home), "TMPDIR": str(home), "IPYTHONDIR": str(home)}
    tempfile.tempdir = None  # to be looked up again
    os.chdir(home)


def end_user(user: int, home: Path) -> None:
    """End all processes of a user whose child has ended, and remove its folder."""
    process = os.fork()
    if process == 0:
        try:
            os.setresuid(user, user, user)
            os.kill(-1, signal.SIGKILL)  # whatever this user may signal, but itself
        finally:
            os._exit(0)
    os.waitpid(process, 0)
    with contextlib.suppress(OSError):
        shutil.rmtree(home)


def give_up_privileges() -> None:
    """Drop every capability, for good."""
    _prctl(SET_NO_NEW_PRIVILEGES, 1)
    for capability in range(64):
        if LIBC.prctl(DROP_BOUND, capability, 0, 0, 0):
            break  # past the last one that this kernel knows
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    _check(LIBC.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def set_limits(limits: Limits, address_space: int) -> None:
    """Set the limits, so that they cannot be raised again.

    address_space : bytes that the process has already
    """
    hard = {
        resource.RLIMIT_AS: address_space + limits.memory,
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_NOFILE: limits.files,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_CPU: limits.cpu,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: limits.signals,
    }
    for kind, maximum in hard.items():
        resource.setrlimit(kind, (maximum, maximum))


def address_space() -> int:
    """Return the bytes of address space of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _mount(
    source: bytes | None,
    target: bytes,
    kind: bytes | None,
    flags: int,
    data: bytes | None,
) -> int:
    return LIBC.mount(source, target, kind, ctypes.c_ulong(flags), data)


def _prctl(option: int, value: int) -> None:
    _check(LIBC.prctl(option, value, 0, 0, 0), "prctl")


def _check(failed: int, call: str) -> None:
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
