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
