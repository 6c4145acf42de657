"""Isolate a process: namespaces of its own, no privileges, limits, a filter of calls.

Each function does one step for the calling process and raises ``OSError`` where the
kernel refuses it; ``parent`` calls them in their order. Linux only.

The namespaces keep a submission in. The filter of system calls (seccomp) keeps it from
making further ones (in which limits on files would not hold), from memory outside its
limits, and from the parts of the kernel that have been broken most often.
"""

import ctypes
import errno
import os
import platform
import resource
import struct
from dataclasses import dataclass
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC_WITH_GIL = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock

CLONE = {"x86_64": 56, "aarch64": 220}
ZEROS = (0, 0, 0, 0)  # the child's stack and threads stay as they are
SIGCHLD = 17

NEW_MOUNTS, NEW_IPC, NEW_USER = 0x00020000, 0x08000000, 0x10000000
NEW_PIDS, NEW_NETWORK, NEW_NAMES = 0x20000000, 0x40000000, 0x04000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
MS_RDONLY = 1
SET_DEATH_SIGNAL, SET_NO_NEW_PRIVILEGES = 1, 38
DROP_BOUND, SIGKILL = 24, 9
HOME = "/tmp/home"

# Numbers from the kernel's tables: x86_64, aarch64.
CALLS = {
    "ptrace": (101, 117),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "personality": (135, 92),
    "vmsplice": (278, 75),
}
CLONE_CALL = (56, 220)
CLONE3 = 435  # refused as unknown: the C library then uses clone, which can be read
NEW_SPACES = 0x7E020000  # the flags of all new namespaces
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32_CALLS = 0x40000000  # numbers of another ABI, which would bypass the list

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # offsets in a filter's input
SET_SECCOMP, FILTER = 22, 2


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
    """

    memory: int = 1 << 30
    processes: int = 8
    files: int = 64
    file_size: int = 32 << 20
    disk: int = 64 << 20
    disk_files: int = 4096
    cpu: int = 300


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


def hide_files(limits: Limits) -> None:
    """Hide /proc and replace /tmp by an empty folder of limited size."""
    _check(_mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount")
    private = f"size={limits.disk},nr_inodes={limits.disk_files},mode=1777".encode()
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    for path in (b"/tmp", b"/dev/shm"):
        _check(_mount(b"tmpfs", path, b"tmpfs", flags, private), "mount")
    hidden, readonly = b"size=4k,nr_inodes=1,mode=0555", flags | MS_RDONLY
    _check(_mount(b"tmpfs", b"/proc", b"tmpfs", readonly, hidden), "mount")
    Path(HOME).mkdir(mode=0o700)
    os.chdir(HOME)


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
    }
    for kind, maximum in hard.items():
        resource.setrlimit(kind, (maximum, maximum))


def address_space() -> int:
    """Return the bytes of address space of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _mount(
    source: bytes, target: bytes, kind: bytes | None, flags: int, data: bytes | None
) -> int:
    return LIBC.mount(source, target, kind, ctypes.c_ulong(flags), data)


def _prctl(option: int, value: int) -> None:
    _check(LIBC.prctl(option, value, 0, 0, 0), "prctl")


def _check(failed: int, call: str) -> None:
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def filter_system_calls() -> None:
    """Refuse these calls to this process and all that it starts.

    On a machine whose numbers are not listed here the namespaces alone have to do.
    """
    if platform.machine() not in MACHINES:
        return
    program = b"".join(_program(*MACHINES[platform.machine()]))
    code = ctypes.create_string_buffer(program)
    length, padding, address = len(program) // 8, b"\0" * 6, ctypes.addressof(code)
    header = struct.pack("H", length) + padding + struct.pack("P", address)
    if LIBC.prctl(SET_SECCOMP, FILTER, header, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl: no filter for system calls")


def _program(column: int, machine: int) -> list[bytes]:
    refused = sorted(numbers[column] for numbers in CALLS.values())
    program = [
        _step(LOAD, MACHINE),
        _step(EQUAL, machine, 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
        _step(AT_LEAST, X32_CALLS, 0, 1),
        _step(RETURN, REFUSE | errno.ENOSYS),
        _step(EQUAL, CLONE3, 0, 1),
        _step(RETURN, REFUSE | errno.ENOSYS),
    ]
    for number in refused:
        program += [_step(EQUAL, number, 0, 1), _step(RETURN, REFUSE | errno.EPERM)]
    return [
        *program,
        _step(EQUAL, CLONE_CALL[column], 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(ANY_BIT, NEW_SPACES, 0, 1),
        _step(RETURN, REFUSE | errno.EPERM),
        _step(RETURN, ALLOW),
    ]


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Return one step of a filter: what, value, how far to jump if so and if not."""
    return struct.pack("HBBI", code, yes, no, value)
