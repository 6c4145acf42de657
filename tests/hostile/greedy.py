"""Submissions that use up time, memory, files and processes."""

from autograder.demo.sample_class import right_answer
from tests.hostile import hostile
from tests.hostile.attacks import NAME, beside, inside
from tests.submissions import EXERCISES

FAMILY = "uses everything up"
SOFTMAX, SCALED, ATTENTION = "softmax", "scaled_scores", "attention"
JACOBIAN, ADDITIVE = "softmax_jacobian", "additive_scores"
TIMEOUT, MEMORY = {NAME: "timeout"}, {NAME: "memory"}
ENDLESS = "while True:\n    pass"


@hostile(FAMILY, lost=TIMEOUT)
def loops_without_end(submission, world):
    inside(submission, ENDLESS)


@hostile(FAMILY, lost=TIMEOUT)
def loops_without_end_and_catches_every_exception(submission, world):
    deed = """\
while True:
    try:
        while True:
            pass
    except BaseException:
        continue"""
    inside(submission, deed)


BLOCKED_SIGNALS = """
import signal
import time

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        continue
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    time.sleep(1000)"""


@hostile(FAMILY, lost=TIMEOUT)
def sleeps_and_ignores_every_signal(submission, world):
    inside(submission, BLOCKED_SIGNALS)


@hostile(FAMILY, lost=TIMEOUT)
def multiplies_huge_matrices(submission, world):
    deed = """\
large = np.ones((3000, 3000))
for _ in range(1000):
    large = large @ large"""
    inside(submission, deed)


@hostile(FAMILY, lost=TIMEOUT)
def counts_to_a_trillion_in_one_call(submission, world):
    inside(submission, "sum(range(10**12))")


@hostile(FAMILY, lost=TIMEOUT)
def computes_a_number_of_a_billion_digits(submission, world):
    inside(submission, "3 ** 10**9")


@hostile(FAMILY, lost=TIMEOUT)
def matches_a_pattern_that_backtracks(submission, world):
    inside(submission, 'import re\nre.match("(a+)+$", "a" * 60 + "b")')


@hostile(FAMILY, lost=TIMEOUT)
def waits_for_a_lock_that_it_holds(submission, world):
    deed = "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"
    inside(submission, deed)


@hostile(FAMILY, lost=TIMEOUT)
def waits_for_a_thread_that_waits_for_it(submission, world):
    deed = """\
import threading
door = threading.Event()
thread = threading.Thread(target=door.wait)
thread.start()
thread.join()"""
    inside(submission, deed)


@hostile(FAMILY, lost=TIMEOUT)
def waits_for_a_program_that_does_not_end(submission, world):
    inside(submission, 'import subprocess\nsubprocess.run(["sleep", "1000"])')


@hostile(
    FAMILY,
    lost={ADDITIVE: "timeout"},
    fails={ADDITIVE: ("large_next_to_zero",)},
)
def loops_without_end_for_one_hidden_input(submission, world):
    deed = "if np.max(np.abs(given[0])) > 1e3:\n    while True:\n        pass"
    inside(submission, deed, name=ADDITIVE)


@hostile(FAMILY)
def answers_slowly_but_in_time(submission, world):
    inside(submission, "import time\ntime.sleep(0.3)")


@hostile(FAMILY, lost={SOFTMAX: "timeout"}, long=True)
def loops_without_end_where_other_exercises_call_it(submission, world):
    inside(submission, ENDLESS, name=SOFTMAX)
    cell = submission.cell(SOFTMAX)  # the others call it with a keyword
    cell.source = cell.source.replace("*given)", "*given, **named)")


@hostile(FAMILY, lost={ATTENTION: "timeout"}, long=True)
def loops_without_end_and_is_judged_again_for_what_it_uses(submission, world):
    inside(submission, ENDLESS, name=ATTENTION)


@hostile(
    FAMILY,
    lost={name: "timeout" for name in (JACOBIAN, SCALED, NAME)},
    long=True,
)
def loops_without_end_in_three_exercises(submission, world):
    for name in (JACOBIAN, SCALED, NAME):
        inside(submission, ENDLESS, name=name)


# Everything in time, call by call; only the sum is too much.
DAWDLES = """\
import time


def {name}(*given, **named):
    time.sleep(0.6)
"""
ENDS = """\
import os


def {name}(*given, **named):
    os._exit(1)
"""


@hostile(FAMILY, lost=dict.fromkeys(EXERCISES, "any"), long=True)
def dawdles_in_every_call_of_every_exercise(submission, world):
    for name in EXERCISES:
        submission.answer(name, DAWDLES.format(name=name))


@hostile(FAMILY, lost=dict.fromkeys(EXERCISES, "any"), long=True)
def ends_the_process_in_every_call_after_a_slow_cell(submission, world):
    submission.own("import time\ntime.sleep(1)", above=EXERCISES[0])
    for name in EXERCISES:
        submission.answer(name, ENDS.format(name=name))


@hostile(FAMILY, long=True)
def loops_without_end_in_an_own_cell(submission, world):
    submission.own(ENDLESS, above=SOFTMAX)


@hostile(FAMILY, long=True)
def awaits_what_never_comes_in_an_own_cell(submission, world):
    submission.own("import asyncio\nawait asyncio.Event().wait()")


@hostile(FAMILY, lost=TIMEOUT, long=True)
def loops_without_end_before_its_answer_is_defined(submission, world):
    submission.answer(NAME, f"{ENDLESS}\n\n\n{right_answer(NAME)}")


@hostile(FAMILY, lost=MEMORY)
def asks_for_fifty_gigabytes_at_once(submission, world):
    inside(submission, "np.ones(50 << 27)")


@hostile(FAMILY, lost=MEMORY)
def fills_the_memory_piece_by_piece(submission, world):
    deed = """\
pieces = []
while True:
    pieces.append(np.empty(16 << 20))"""
    inside(submission, deed)


@hostile(FAMILY, lost=MEMORY)
def fills_the_memory_with_tensors(submission, world):
    deed = """\
import torch
try:
    pieces = [torch.empty(1 << 24) for _ in range(10**6)]
except RuntimeError as error:
    raise MemoryError from error"""
    inside(submission, deed)


@hostile(FAMILY, lost={NAME: "any"})
def fills_the_memory_with_tiny_objects(submission, world):
    inside(submission, "whole = []\nwhile True:\n    whole = [whole, {}]")


@hostile(FAMILY)
def fills_the_memory_in_an_own_cell(submission, world):
    submission.own(
        """\
def fill():
    pieces = []
    while True:
        pieces.append(np.empty(16 << 20))


fill()""",
        above=SOFTMAX,
    )


@hostile(FAMILY)
def fills_the_memory_outside_the_limit_of_a_process(submission, world):
    deed = """\
import ctypes
import mmap

LIBC = ctypes.CDLL(None)
kept = []
for _ in range(10**4):
    file = LIBC.memfd_create(b"kept", 0)
    if file < 0:
        break
    kept.append(open(file, "wb"))
    kept[-1].write(bytes(16 << 20))
shared = mmap.mmap(-1, 8 << 30)"""
    submission.own(deed)


@hostile(FAMILY)
def prints_a_gigabyte_on_one_line_in_its_answer(submission, world):
    deed = """\
piece = "x" * (1 << 20)
for _ in range(1024):
    print(piece, end="")"""
    inside(submission, deed)


@hostile(FAMILY)
def prints_a_gigabyte_on_one_line_in_an_own_cell(submission, world):
    submission.own('for _ in range(1024):\n    print("x" * (1 << 20), end="")')


@hostile(FAMILY)
def shows_a_hundred_thousand_things(submission, world):
    submission.own('for number in range(10**5):\n    print(number)\n    "<b>" * number')
    submission.own("for number in range(2000):\n    display(number)")


WARNS = """
import warnings
for number in range(10**4):
    warnings.warn(f"warning {number}")"""


@hostile(FAMILY)
def warns_ten_thousand_times(submission, world):
    inside(submission, WARNS)


@hostile(FAMILY)
def writes_a_million_files(submission, world):
    deed = 'for number in range(10**6):\n    open(f"file{number}", "w").close()'
    submission.own(deed)


@hostile(FAMILY)
def fills_the_disk(submission, world):
    deed = """\
for place in ("/tmp", "/dev/shm", ".", "/var/tmp", "/dev"):
    for number in range(1000):
        try:
            with open(f"{place}/large{number}", "wb", 0) as file:
                for _ in range(40):
                    file.write(bytes(1 << 20))
        except OSError:
            break"""
    submission.own(deed, above=SOFTMAX)


@hostile(FAMILY)
def opens_every_file_that_it_may(submission, world):
    submission.own('kept = [open("/dev/null") for _ in range(10**6)]', above=SOFTMAX)


@hostile(FAMILY)
def starts_every_thread_that_it_may(submission, world):
    deed = """\
import threading
import time

for _ in range(10**4):
    threading.Thread(target=time.sleep, args=(1000,)).start()"""
    submission.own(deed, above=SOFTMAX)


@hostile(FAMILY)
def computes_in_threads_during_its_answers(submission, world):
    deed = """\
import threading


def busy():
    while True:
        pass


for _ in range(2):
    threading.Thread(target=busy, daemon=True).start()"""
    submission.own(deed, above=SOFTMAX)


@hostile(FAMILY, lost={NAME: "error"})
def calls_itself_without_end(submission, world):
    submission.answer(NAME, f"def {NAME}(*given):\n    return {NAME}(*given)")


@hostile(FAMILY, lost={NAME: "any"})
def calls_itself_without_end_and_without_a_limit(submission, world):
    deed = "import sys\nsys.setrecursionlimit(2**31 - 1)"
    inside(submission, f"{deed}\nfor _ in [0]:\n    str_of(given)")
    cell = submission.cell(NAME)
    endless = """
class Endless:
    def __repr__(self):
        return repr([self])


def str_of(given):
    return repr(Endless())


"""
    cell.source = endless + cell.source


@hostile(FAMILY, lost={NAME: "error"})
def asks_for_input(submission, world):
    inside(submission, 'answer_to = input("Full marks? ")')


@hostile(FAMILY)
def asks_for_input_in_own_cells(submission, world):
    submission.own("name = input()")
    submission.own("import sys\nname = sys.stdin.readline()")
    submission.own("import getpass\nname = getpass.getpass()")


@hostile(FAMILY, lost={NAME: "any"})
def leaves_a_breakpoint(submission, world):
    inside(submission, "breakpoint()")


@hostile(FAMILY)
def leaves_breakpoints_in_own_cells(submission, world):
    submission.own("breakpoint()")
    submission.own("import pdb\npdb.set_trace()")
    submission.own("1 / 0")
    submission.own("%debug")


# Memory of the kernel's, which no limit of a process counts.
KERNEL_MEMORY = """
import ctypes
import os
import platform

LIBC = ctypes.CDLL(None)
ARM = platform.machine() == "aarch64"
room = ctypes.create_string_buffer(64)


def attack():
    got = {{}}

    def add(what, answer):
        if answer >= 0:
            got[what] = got.get(what, 0) + 1

    {tries}
    return got
"""
TRIES = {
    "semaphores": """\
for _ in range(20):
        add("semget", LIBC.semget(0, 32_000, 0o1600))""",
    "queues": """\
for key in range(20):
        add("msgget", LIBC.msgget(0, 0o1600))
        add("mq_open", LIBC.mq_open(b"/mine%d" % key, 0o102, 0o600, None))""",
    "shared memory": """\
add("shmget", LIBC.shmget(0, ctypes.c_size_t(1 << 30), 0o1600))
    for number in ((319, 279), (447, 447)):
        add("memfd", LIBC.syscall(number[ARM], b"mine", 0))""",
    "asynchronous requests": """\
context = ctypes.c_ulong()
    for _ in range(20):
        context.value = 0
        add("io_setup", LIBC.syscall((206, 0)[ARM], 3000, ctypes.byref(context)))
        add("io_uring", LIBC.syscall(425, 64, ctypes.create_string_buffer(120)))""",
    "timers": """\
for _ in range(200):
        add("timer_create", LIBC.timer_create(0, None, room))
        add("timerfd", LIBC.timerfd_create(1, 0))""",
    "keys": """\
for number in range(20):
        name = b"mine%d" % number
        add("add_key", LIBC.syscall((248, 217)[ARM], b"user", name, bytes(64), 64, -2))
        add("keyctl", LIBC.syscall((250, 219)[ARM], 1, name))""",
    "watches": """\
add("inotify", LIBC.inotify_init1(0))
    add("fanotify", LIBC.fanotify_init(0x200, 0))
    add("userfault", LIBC.syscall((323, 282)[ARM], 1))""",
    "filters": """\
code = (ctypes.c_uint64 * 1)(0x7FFF0000_00000006)
    program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(code))
    add("seccomp", -1 if LIBC.prctl(22, 2, program) else 0)
    import socket
    with socket.socket(socket.AF_UNIX) as one:
        attached = LIBC.setsockopt(one.fileno(), 1, 26, program, 16)
        add("socket filter", attached)""",
    "huge pages": """\
import mmap
    try:
        mmap.mmap(-1, 2 << 20, flags=0x40022)
        got["huge pages"] = 1
    except OSError as error:
        got.update({} if error.errno == 12 else {"huge pages": error.errno})""",
    "pipes": """\
import fcntl
    for _ in range(20):
        read, write = os.pipe()
        try:
            add("pipe", fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 20))
        except OSError:
            pass
        os.close(read)
        os.close(write)""",
    "descriptor tables": """\
add("modify_ldt", LIBC.syscall(154, 1, room, 16) if not ARM else -1)
    add("pkey_alloc", LIBC.syscall((330, 289)[ARM], 0, 0))""",
}


def fill_kernel_memory(name):
    def build(submission, world):
        beside(submission, KERNEL_MEMORY.format(tries=TRIES[name]))

    build.__name__ = f"fills_the_kernels_memory_with_{name.replace(' ', '_')}"
    return hostile(FAMILY)(build)


for name in TRIES:
    fill_kernel_memory(name)
