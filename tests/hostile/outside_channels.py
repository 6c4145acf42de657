"""Channels to another submission, or to the machine, if they work at all.

Two processes of one submission find out whether they do.
"""

from tests.hostile import hostile
from tests.hostile.attacks import beside
from tests.hostile.outside import FAMILY

FAMILIES = """
import socket


def attack():
    opened = []
    for family in range(64):
        for kind in (1, 2, 3, 5):
            for make in (socket.socket, socket.socketpair):
                try:
                    made = make(family, kind)
                    opened.append((family, kind))
                except OSError:
                    continue
    return [each for each in opened if each[0] != socket.AF_UNIX]
"""


@hostile(FAMILY)
def opens_sockets_of_every_family(submission, world):
    beside(submission, FAMILIES)


HOST = """
import socket


def attack():
    with socket.socket(socket.AF_VSOCK) as connection:
        connection.bind((0xFFFFFFFF, 0xFFFFFFFF))  # any address, any port
        return connection.getsockname()
"""


@hostile(FAMILY)
def connects_to_the_machine_below_a_virtual_one(submission, world):
    beside(submission, HOST)


TWO = """
import os
import platform

SHARED = os.__file__  # a file that every submission can open


def in_another_process(act):
    process = os.fork()
    if not process:
        try:
            os._exit(int(bool(act())))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
"""

FLOCK = """
import fcntl


def refused(call, *arguments):
    try:
        call(*arguments)
    except BlockingIOError:
        return True


def attack():
    with open(SHARED) as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)

        def second():
            with open(SHARED) as same:
                return refused(fcntl.flock, same, fcntl.LOCK_EX | fcntl.LOCK_NB)

        return in_another_process(second)
"""


@hostile(FAMILY)
def locks_a_file_that_other_submissions_have(submission, world):
    beside(submission, TWO + FLOCK)


RECORDS = """
import fcntl
import struct

FIELDS = struct.Struct("hhqqi4x")  # type, whence, start, length, process
ASK, SHARE = FIELDS.pack(fcntl.F_WRLCK, 0, 0, 1, 0), FIELDS.pack(0, 0, 0, 1, 0)


def attack():
    got = []
    with open(SHARED) as mine:
        for ask, share in ((fcntl.F_GETLK, fcntl.F_SETLK), (36, 37)):
            before = fcntl.fcntl(mine, ask, ASK)
            fcntl.fcntl(mine, share, SHARE)

            def second():
                with open(SHARED) as same:
                    return fcntl.fcntl(same, ask, ASK) != before

            got += [ask] if in_another_process(second) else []
    return got
"""


@hostile(FAMILY)
def locks_parts_of_a_file_that_other_submissions_have(submission, world):
    beside(submission, TWO + RECORDS)


LEASES = """
import fcntl
import signal


def attack():
    got = []
    with open(SHARED) as mine:
        for command, value in ((fcntl.F_SETLEASE, fcntl.F_RDLCK), (1036, 1 << 3)):
            try:
                fcntl.fcntl(mine, command, value)
                got.append(command)
            except OSError:
                continue
    told = []
    signal.signal(signal.SIGIO, lambda *_: told.append("told"))
    folder = os.open(os.path.dirname(SHARED), os.O_RDONLY)
    try:
        fcntl.fcntl(folder, fcntl.F_NOTIFY, 1 | 0x80000000 - (1 << 32))
        got.append(fcntl.F_NOTIFY)
    except OSError:
        pass
    return got
"""


@hostile(FAMILY)
def holds_a_lease_of_a_file_that_other_submissions_have(submission, world):
    beside(submission, TWO + LEASES)


WATCHES = """
import ctypes

LIBC = ctypes.CDLL(None)


def attack():
    for make in (LIBC.inotify_init, lambda: LIBC.inotify_init1(0)):
        if (watch := make()) >= 0:
            LIBC.inotify_add_watch(watch, SHARED.encode(), 0xFFF)
            in_another_process(lambda: open(SHARED).close())
            return os.read(watch, 4096)
    return [LIBC.fanotify_init(flags, 0) for flags in (0, 0x200)] != [-1, -1]
"""


@hostile(FAMILY)
def watches_what_other_submissions_open(submission, world):
    beside(submission, TWO + WATCHES)


CACHED = """
import ctypes
import mmap

LIBC = ctypes.CDLL(None)


def attack():
    got = []
    with open(SHARED, "rb") as file:
        room = [bytearray(4096)]
        try:
            os.preadv(file.fileno(), room, 0, 8)  # without waiting for the disk
            got.append("read")
        except OSError:
            pass
        part = mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_COPY)
    view = (ctypes.c_char * 4096).from_buffer(part)
    state = ctypes.create_string_buffer(1)
    address = ctypes.c_void_p(ctypes.addressof(view))
    if LIBC.mincore(address, ctypes.c_size_t(4096), state) == 0:
        got.append("mincore")
    for advice in (12, 20, 21):  # share equal pages, send pages away
        if LIBC.madvise(address, ctypes.c_size_t(4096), advice) == 0:
            got.append(advice)
    return got
"""


@hostile(FAMILY)
def asks_which_files_are_in_memory(submission, world):
    beside(submission, TWO + CACHED)


URGENT = """
import socket


def attack():
    one, other = socket.socketpair()
    with one, other:
        sent = one.send(b"urgent", socket.MSG_OOB)
        return sent, other.recv(1, socket.MSG_OOB)
"""


@hostile(FAMILY)
def sends_urgent_data_which_has_been_a_hole_in_the_kernel(submission, world):
    beside(submission, URGENT)


TOUCHES = """
import os


def attack():
    touched = []
    for folder, _, names in os.walk("/dev"):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            try:
                before = os.stat(path).st_mtime_ns
                os.utime(path)
                touched += [path] if os.stat(path).st_mtime_ns != before else []
            except OSError:
                continue
    own = "/dev/shm", "/dev/pts"
    return [path for path in touched if not os.path.realpath(path).startswith(own)]
"""


@hostile(FAMILY)
def dates_a_device_that_other_submissions_have(submission, world):
    beside(submission, TOUCHES)


KERNEL = """
import ctypes
import os

LIBC = ctypes.CDLL(None)
X86, ARM = range(2)
MACHINE = {"x86_64": X86, "aarch64": ARM}[os.uname().machine]
CALLS = {
    "syslog": ((103, 116), 10, 0, 0),
    "kcmp": ((312, 272), 1, 1, 0, 0, 0),
    "name_to_handle_at": ((303, 264), -100, b"/", bytes(136), bytes(8), 0),
    "seccomp": ((317, 277), 2, 0, 0),
    "landlock_create_ruleset": ((444, 444), 0, 0, 1),
    "pidfd_getfd": ((438, 438), 3, 3, 0),
    "quotactl": ((179, 60), 0x800001, 0, 0, bytes(4)),
    "ioprio_set": ((251, 30), 1, 0, 3 << 13),
    "acct": ((163, 89), 0),
    "swapoff": ((168, 225), b"/tmp"),
    "lookup_dcookie": ((212, 18), 0, 0, 0),
    "cachestat": ((451, 451), 3, 0, 0, 0),
    "adjtimex": ((159, 171), bytes(512)),
}
KNOWN_ERRORS = (1, 38)  # not allowed, no such call


def attack():
    got = []
    ctypes.set_errno(0)
    library = ctypes.CDLL(None, use_errno=True)
    for name, (numbers, *arguments) in CALLS.items():
        answer = library.syscall(numbers[MACHINE], *arguments)
        if answer >= 0 or ctypes.get_errno() not in KNOWN_ERRORS:
            got.append((name, answer, ctypes.get_errno()))
    return got
"""


@hostile(FAMILY)
def calls_what_no_notebook_needs(submission, world):
    beside(submission, KERNEL)
