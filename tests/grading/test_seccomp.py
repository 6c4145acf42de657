"""The filter of system calls, step by step, for each machine that it knows."""

import errno
import platform
import struct
import subprocess

import pytest

from autograder.grading.inside import seccomp
from autograder.grading.inside.seccomp import ALLOW, KILL, REFUSE

MACHINES = [*seccomp.MACHINES]
LISTS = {
    seccomp.ALLOWED: ALLOW,
    seccomp.WITHOUT_EFFECT: REFUSE,
    seccomp.NO_SUCH_CALL: REFUSE | errno.ENOSYS,
    seccomp.NO_ATTRIBUTES: REFUSE | errno.EOPNOTSUPP,
}
REFUSED, UNKNOWN = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS


def answer(machine, number, *arguments, architecture=None):
    """Run the filter as the kernel would; return its answer and its steps."""
    program = seccomp.program(machine)
    steps = [*struct.iter_unpack("HBBI", program)]
    architecture = architecture or seccomp.MACHINES[machine][1]
    arguments = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("IIQ6Q", number, architecture, 0, *arguments)
    position = value = count = 0
    tests = {
        seccomp.EQUAL: lambda operand: value == operand,
        seccomp.AT_LEAST: lambda operand: value >= operand,
        seccomp.ANY_BIT: lambda operand: bool(value & operand),
    }
    while True:
        code, yes, no, operand = steps[position]
        position, count = position + 1, count + 1
        if code == seccomp.RETURN:
            return operand, count
        if code == seccomp.LOAD:
            [value] = struct.unpack_from("I", data, operand)
        elif code == seccomp.JUMP:
            position += operand
        else:
            position += yes if tests[code](operand) else no


@pytest.mark.parametrize("machine", MACHINES)
def test_number_that_is_in_no_list_is_refused(machine):
    column, _ = seccomp.MACHINES[machine]
    expected = {
        number: result
        for calls, result in LISTS.items()
        for number in seccomp.numbers(calls, column).values()
    }
    by_argument = seccomp.numbers(",".join(seccomp.BY_ARGUMENT), column).values()
    assert not {*expected} & {*by_argument}
    for number in {*range(700), 4000, 1 << 30 | 39, (1 << 32) - 1} - {*by_argument}:
        other = REFUSED if number < 424 else UNKNOWN
        assert answer(machine, number)[0] == expected.get(number, other), number


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("socket", (1, 1, 0), ALLOW),
        ("socket", (40, 1, 0), REFUSE | errno.EAFNOSUPPORT),
        ("socket", (1 | 1 << 32, 1, 0), ALLOW),  # the kernel cuts it, too
        ("socketpair", (2, 1, 0), REFUSE | errno.EAFNOSUPPORT),
        ("sendto", (3, 0, 0, 0x4000), ALLOW),
        ("recvmsg", (3, 0, 1), REFUSE | errno.EOPNOTSUPP),
        ("setsockopt", (3, 1, 26), REFUSE | errno.ENOPROTOOPT),
        ("fcntl", (3, 3), ALLOW),
        ("fcntl", (3, 6), REFUSE),
        ("fcntl", (3, 1024), REFUSE | errno.EINVAL),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), REFUSE | errno.ENOTTY),  # types for another process
        ("prctl", (15,), ALLOW),
        ("prctl", (22, 2), REFUSE | errno.EINVAL),
        ("madvise", (0, 0, 4), ALLOW),
        ("madvise", (0, 0, 12), REFUSE | errno.EINVAL),
        ("clone", (0x3D0F00, 0), ALLOW),
        ("clone", (0x10000011, 0), REFUSED),
        ("mmap", (0, 4096, 3, 0x22), ALLOW),
        ("mmap", (0, 4096, 3, 0x40022), REFUSE | errno.ENOMEM),
    ],
)
def test_argument_decides(machine, call, arguments, expected):
    column, _ = seccomp.MACHINES[machine]
    number = seccomp.numbers(",".join(seccomp.BY_ARGUMENT), column)[call]
    assert answer(machine, number, *arguments)[0] == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_answer_takes_a_dozen_steps_whatever_the_number(machine):
    by_argument = ",".join(seccomp.BY_ARGUMENT)
    numbers = {*range(700)} - {*seccomp.numbers(by_argument, 0).values()}
    assert max(answer(machine, number)[1] for number in numbers) < 60
    assert len(seccomp.program(machine)) // 8 < 600


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_end_the_process(machine):
    assert answer(machine, 1, architecture=0x40000003)[0] == KILL


def test_unknown_machine_has_no_filter():
    assert seccomp.program("vax") == b""


HEADERS = {"x86_64": ("asm/unistd_64.h",), "aarch64": ("asm-generic/unistd.h",)}


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_those_of_the_kernels_headers(machine):
    if platform.machine() != "x86_64":
        pytest.skip("the headers of this machine say nothing of the other")
    wanted = "RENAMEAT NEW_STAT SET_GET_RLIMIT".split()
    options = [f"-D__ARCH_WANT_{each}" for each in wanted]
    text = f"#include <{HEADERS[machine][0]}>\n"
    column, _ = seccomp.MACHINES[machine]
    lists = [*LISTS, *seccomp.BY_ARGUMENT]
    ours = seccomp.numbers(",".join(lists), column)
    text += "".join(f"ours {name} = __NR_{name}\n" for name in ours)
    command = ["gcc", "-E", "-P", *options, "-x", "c", "-"]
    try:
        run = subprocess.run(command, input=text, capture_output=True, text=True)
    except OSError:
        pytest.skip("needs gcc")
    if run.returncode:
        pytest.skip("needs the kernel's headers")
    lines = [line.split() for line in run.stdout.splitlines() if line[:5] == "ours "]
    theirs = {line[1]: int(line[3]) for line in lines if line[3].isdecimal()}
    assert len(theirs) > 150  # all but those that are newer than the headers
    assert theirs.items() <= ours.items()
