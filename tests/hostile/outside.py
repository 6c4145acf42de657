"""Submissions that reach out of the sandbox, or leave something behind.

What an attack gets, it returns in place of the right answer; servers, files and
processes outside are looked at by the test.
"""

import os

from tests.hostile import hostile
from tests.hostile.attacks import NAME, beside, inside

FAMILY = "breaks out or leaves things"

TCP = """
import socket

HOSTS = ("127.0.0.1", "localhost", "0.0.0.0", "::1", "::ffff:127.0.0.1")


def attack():
    for host in HOSTS:
        try:
            with socket.create_connection((host, port), timeout=0.1) as connection:
                connection.sendall(b"hello")
                return host
        except OSError:
            continue
"""


@hostile(FAMILY)
def connects_over_tcp(submission, world):
    beside(submission, TCP, port=world.port)


UDP = """
import socket


def attack():
    with socket.socket(type=socket.SOCK_DGRAM) as connection:
        return connection.sendto(b"hello", ("127.0.0.1", port))
"""


@hostile(FAMILY)
def sends_a_datagram(submission, world):
    beside(submission, UDP, port=world.port)


UNIX = """
import socket


def attack():
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return path
"""


@hostile(FAMILY)
def connects_to_a_unix_socket(submission, world):
    beside(submission, UNIX, path=str(world.socket))


RAW = """
import socket

KINDS = [(socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_PACKET, socket.SOCK_RAW, 3)]


def attack():
    for kind in KINDS:
        try:
            socket.socket(*kind).close()
            return kind
        except OSError:
            continue
"""


@hostile(FAMILY)
def opens_a_raw_socket(submission, world):
    beside(submission, RAW)


NAMES = """
import socket


def attack():
    with socket.socket(type=socket.SOCK_DGRAM) as asking:
        asking.settimeout(0.1)
        try:
            asking.sendto(b"\\0" * 12, ("9.9.9.9", 53))
            return "sent"
        except OSError:
            return [found[4] for found in socket.getaddrinfo("example.com", 80)]
"""


@hostile(FAMILY)
def asks_for_the_address_of_a_name(submission, world):
    beside(submission, NAMES)


INSTALLS = """
found = !python3 -m pip install --quiet --disable-pip-version-check einops 2>/dev/null
import urllib.request

urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1)
"""


@hostile(FAMILY)
def fetches_something_in_a_cell_of_its_own(submission, world):
    submission.own(f"port = {world.port}\n{INSTALLS}")


WRITES = """
import os
from pathlib import Path


def attack():
    for name in ("gradebook.db", "gradebook.seed", "nbgrader_config.py", "new.txt"):
        for way in ("a", "w", "r+"):
            try:
                with open(Path(place) / name, way) as file:
                    return file.write("manual_score = 999")
            except OSError:
                continue
"""


@hostile(FAMILY)
def writes_into_the_course_folder(submission, world):
    beside(submission, WRITES, place=str(world.folder))


SCORES = """
import sqlite3


def attack():
    try:
        with sqlite3.connect(place) as gradebook:
            gradebook.execute("create table grade (manual_score)")
            gradebook.execute("insert into grade values (999)")
            return place
    except sqlite3.Error:
        return None
"""


@hostile(FAMILY)
def gives_itself_a_score_in_the_gradebook(submission, world):
    beside(submission, SCORES, place=str(world.folder / "new_gradebook.db"))


DELETES = """
import os
import shutil


def attack():
    shutil.rmtree(place, ignore_errors=True)
    for name in ("gradebook.db", "gradebook.seed"):
        os.rename(f"{place}/{name}", f"{place}/{name}.gone")
        return name
"""


@hostile(FAMILY)
def deletes_the_course_folder(submission, world):
    beside(submission, DELETES, place=str(world.folder))


# Only copies made for the sandbox are tried: nothing breaks where the attack succeeds.
POISONS = """
import sys
import autograder
import course_lib


def attack():
    engine = sys.modules["inside"].__file__
    for path in (course_lib.__file__, autograder.__file__, engine):
        for target in (path, path.replace("__init__", "sitecustomize")):
            try:
                with open(target, "a") as file:
                    return file.write("raise SystemExit")
            except OSError:
                continue
"""


@hostile(FAMILY)
def writes_into_the_code_that_the_next_student_gets(submission, world):
    beside(submission, POISONS)


SHELL_LINES = """
!echo 999 > {place}/from_a_shell_line.txt
%cd {place}
get_ipython().system(f"touch {place}/from_a_system_call.txt")
"""
CELL_MAGIC = "%%writefile {}/from_a_magic.txt\n999"


@hostile(FAMILY)
def writes_outside_with_shell_lines_and_magics(submission, world):
    submission.own(f"place = {str(world.folder)!r}\n{SHELL_LINES}")
    submission.own(CELL_MAGIC.format(world.folder))


DEVICES = """
import glob
import os
import stat

HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx"}


def attack():
    found = [p for p in glob.glob("/dev/*") if os.path.basename(p) not in HARMLESS]
    found = [p for p in found if stat.S_ISBLK(os.stat(p).st_mode)]
    for make in (stat.S_IFBLK, stat.S_IFCHR):
        try:
            os.mknod("disk", make | 0o600, os.makedev(8, 0))
            found.append("disk")
        except OSError:
            continue
    for path in ("/dev/kmsg", "/dev/tty", "/dev/console"):
        try:
            open(path, "w").close()
            found.append(path)
        except OSError:
            continue
    return found
"""


@hostile(FAMILY)
def looks_for_disks_among_the_devices(submission, world):
    beside(submission, DEVICES)


SHARED_MEMORY = """
import ctypes
from multiprocessing import shared_memory

LIBC = ctypes.CDLL(None)
kept = shared_memory.SharedMemory("left_over", create=True, size=4096)
segment = LIBC.shmget(2017, 4096, 0o1666)
queue = LIBC.msgget(2017, 0o1666)
semaphore = LIBC.semget(2017, 1, 0o1666)
named = LIBC.sem_open(b"/left_over", 0o100, 0o666, 1)
"""


@hostile(FAMILY)
def leaves_memory_that_processes_share(submission, world):
    submission.own(SHARED_MEMORY)


LEAVES_A_PROCESS = """
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        for _ in range(600):
            try:
                open(place + "/from_a_process_that_outlived.txt", "w").close()
            except OSError:
                time.sleep(1)
    os._exit(0)
"""


@hostile(FAMILY)
def leaves_a_process_that_no_signal_to_its_group_reaches(submission, world):
    submission.own(f"place = {str(world.folder)!r}\n{LEAVES_A_PROCESS}")


@hostile(FAMILY)
def leaves_programs_that_sleep(submission, world):
    deed = """\
import subprocess
subprocess.Popen(["sleep", "1000"], start_new_session=True)"""
    submission.own(deed)
    submission.own("!nohup setsid sleep 1000 >/dev/null 2>&1 &")


LEAVES_THREADS = """
import threading
import time


def forever():
    while True:
        try:
            open(place + "/from_a_thread.txt", "w").close()
        except OSError:
            time.sleep(0.01)


for daemon in (True, False):
    threading.Thread(target=forever, daemon=daemon).start()
"""


@hostile(FAMILY)
def leaves_threads(submission, world):
    submission.own(f"place = {str(world.folder)!r}\n{LEAVES_THREADS}")


LEAVES_WORKERS = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork"))
print(list(pool.map(abs, [-1, -2])))
"""


@hostile(FAMILY)
def leaves_a_pool_of_workers(submission, world):
    submission.own(LEAVES_WORKERS)


WRITES_AT_THE_END = """
import atexit
import sys
import weakref


class Last:
    def __del__(self):
        write()


def write(*_):
    open(place + "/from_the_end.txt", "w").close()
    while True:
        pass


last = Last()
atexit.register(write)
weakref.finalize(last, write)
sys.last_words = Last()
"""


@hostile(FAMILY)
def writes_files_at_the_end_of_its_process(submission, world):
    submission.own(f"place = {str(world.folder)!r}\n{WRITES_AT_THE_END}")


# Right answers from both processes; the second must not answer for the first.
@hostile(FAMILY)
def forks_in_its_answer_and_both_go_on(submission, world):
    inside(submission, "import os\nif os.fork():\n    os.waitpid(-1, os.WNOHANG)")


FORK_BOMB = """
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
"""


@hostile(FAMILY)
def forks_without_end(submission, world):
    submission.own(FORK_BOMB)


@hostile(FAMILY, lost={NAME: "timeout"})
def forks_without_end_in_its_answer(submission, world):
    inside(submission, FORK_BOMB)


SHELL_BOMB = """\
%%bash
bomb() { bomb | bomb & }; bomb
"""


@hostile(FAMILY)
def forks_without_end_in_a_shell(submission, world):
    submission.own(SHELL_BOMB)


SIGNALS = """
import os
import signal

for process in (grader, 0, -1, os.getppid(), 2, -grader):
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        try:
            os.kill(process, number)
        except OSError:
            continue"""


@hostile(FAMILY)
def sends_signals_to_all_that_it_can_name(submission, world):
    inside(submission, SIGNALS, grader=os.getpid())


NEW_LIMITS = """
import os
import resource


def attack():
    for name in ("NPROC", "AS", "FSIZE", "NOFILE", "CPU", "CORE"):
        which = getattr(resource, "RLIMIT_" + name)
        most = resource.getrlimit(which)[1]
        for asked in (resource.RLIM_INFINITY, most + 1):
            try:
                resource.setrlimit(which, (asked, asked))
                return name
            except (OSError, ValueError):
                continue
    try:
        return f"nice {os.nice(-5)}"
    except OSError:
        return None
"""


@hostile(FAMILY)
def raises_its_limits(submission, world):
    beside(submission, NEW_LIMITS)


NEW_RIGHTS = """
import ctypes
import os

LIBC = ctypes.CDLL(None)
USERS = 0x10000000


def attack():
    tries = {
        "setuid": lambda: os.setuid(0),
        "setgroups": lambda: os.setgroups([0]),
        "setresuid": lambda: os.setresuid(0, 0, 0),
        "chroot": lambda: os.chroot("/"),
        "chown": lambda: os.chown(".", 0, 0),
    }
    got = []
    for name, act in tries.items():
        try:
            act()
            got.append(name)
        except OSError:
            continue
    got += ["unshare"] if LIBC.unshare(USERS) == 0 else []
    got += ["clone"] if 0 < (new := LIBC.syscall(56, USERS | 17, 0, 0, 0, 0)) else []
    got += ["sethostname"] if LIBC.sethostname(b"mine", 4) == 0 else []
    return got
"""


@hostile(FAMILY)
def asks_for_new_privileges(submission, world):
    beside(submission, NEW_RIGHTS)


RAISED_RIGHTS = """
import glob
import os
import subprocess


def attack():
    for path in glob.glob("/usr/bin/*"):
        if os.stat(path).st_mode & 0o4000 and os.access(path, os.X_OK):
            asked = [path, "-c", "id -u"] if path.endswith("su") else [path, "id", "-u"]
            done = subprocess.run(asked, stdin=-3, stdout=-1, stderr=-3, timeout=0.5)
            if done.stdout.strip() == b"0":
                return path
"""


@hostile(FAMILY)
def asks_programs_that_may_become_root(submission, world):
    beside(submission, RAISED_RIGHTS)


RUNS_ITS_OWN = """
import os
import subprocess

for place in ("/tmp", "/dev/shm", "."):
    program = place + "/program"
    with open(program, "w") as file:
        file.write("#!/bin/sh\\necho it runs")
    os.chmod(program, 0o4777)


def attack():
    return subprocess.run([program], capture_output=True).stdout
"""


@hostile(FAMILY)
def runs_a_program_that_it_has_written(submission, world):
    beside(submission, RUNS_ITS_OWN)


# What follows is a channel to another submission, or to the machine, if it works at
# all: two processes of one submission find out whether it does.
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
