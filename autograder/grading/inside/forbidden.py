"""System calls that a submission never needs, refused by the kernel (seccomp).

The namespaces keep a submission in; this filter keeps it from making further ones (in
which limits on files would not hold), from memory outside its limits, and from the
parts of the kernel that have been broken most often.
"""

import ctypes
import errno
import platform
import struct

from .namespaces import LIBC

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
CLONE = (56, 220)
CLONE3 = 435  # refused as unknown: the C library then uses clone, which can be read
NEW_SPACES = 0x7E020000  # the flags of all new namespaces
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
ODD_CALLS = 0x40000000  # the x32 numbers, which would go round the list

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # places in what a filter sees
SET_SECCOMP, FILTER = 22, 2


def forbid() -> None:
    """Refuse these calls to this process and all that it starts.

    On a machine whose numbers are not listed here the namespaces alone have to do.
    """
    if platform.machine() not in MACHINES:
        return
    program = b"".join(_program(*MACHINES[platform.machine()]))
    code = ctypes.create_string_buffer(program)
    length, padding, address = len(program) // 8, b"\0" * 6, ctypes.addressof(code)
    described = struct.pack("H", length) + padding + struct.pack("P", address)
    if LIBC.prctl(SET_SECCOMP, FILTER, described, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl: no filter for system calls")


def _program(column: int, machine: int) -> list[bytes]:
    refused = sorted(numbers[column] for numbers in CALLS.values())
    program = [
        _step(LOAD, MACHINE),
        _step(EQUAL, machine, 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
        _step(AT_LEAST, ODD_CALLS, 0, 1),
        _step(RETURN, REFUSE | errno.ENOSYS),
        _step(EQUAL, CLONE3, 0, 1),
        _step(RETURN, REFUSE | errno.ENOSYS),
    ]
    for number in refused:
        program += [_step(EQUAL, number, 0, 1), _step(RETURN, REFUSE | errno.EPERM)]
    return [
        *program,
        _step(EQUAL, CLONE[column], 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(ANY_BIT, NEW_SPACES, 0, 1),
        _step(RETURN, REFUSE | errno.EPERM),
        _step(RETURN, ALLOW),
    ]


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Give one step of a filter: what, how far to jump if so and if not, with what."""
    return struct.pack("HBBI", code, yes, no, value)
