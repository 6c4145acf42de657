"""The filter of system calls: what a submission may ask the kernel for, and no more.

A list of what is allowed. The namespaces keep a submission in; the filter keeps it from
memory that no limit counts (semaphores, queues, timers, requests), from channels that
no namespace cuts (sockets of a virtual machine, locks and watches of files that all
submissions share), and from the parts of the kernel that have been broken most often.

What is not allowed answers as if the kernel had been built without it, so that the C
library and programs take their other way.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Names with their numbers in the kernel's tables: x86_64, aarch64.
ALLOWED = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68,
preadv 295 69, pwritev 296 70, lseek 8 62, sendfile 40 71, copy_file_range 326 285,
open 2 -, openat 257 56, openat2 437 437, creat 85 -, close 3 57, close_range 436 436,
dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, eventfd 284 -,
eventfd2 290 19, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291,
statfs 137 43, fstatfs 138 44, access 21 -, faccessat 269 48, faccessat2 439 439,
readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17,
chdir 80 49, fchdir 81 50, umask 95 166, mkdir 83 -, mkdirat 258 34, rmdir 84 -,
unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276,
link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, mknod 133 -, mknodat 259 33,
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55,
lchown 94 -, fchownat 260 54, truncate 76 45, ftruncate 77 46, fallocate 285 47,
fsync 74 82, fdatasync 75 83, utime 132 -, utimes 235 -, futimesat 261 -,
utimensat 280 88, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72,
epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21, epoll_wait 232 -,
epoll_pwait 281 22, epoll_pwait2 441 441, brk 12 214, munmap 11 215, mprotect 10 226,
mremap 25 216, msync 26 227, futex 202 98, futex_waitv 449 449, futex_wake 454 454,
futex_wait 455 455, futex_requeue 456 456, set_robust_list 273 99,
set_tid_address 218 96, rseq 334 293, membarrier 324 283, fork 57 -, vfork 58 -,
execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94, wait4 61 260,
waitid 247 95, pidfd_open 434 434, getpid 39 172, getppid 110 173, gettid 186 178,
getpgid 121 155, setpgid 109 154, getpgrp 111 -, getsid 124 156, setsid 112 157,
kill 62 129, tkill 200 130, tgkill 234 131, getuid 102 174, geteuid 107 175,
getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
getgroups 115 158, capget 125 90, rt_sigaction 13 134, rt_sigprocmask 14 135,
rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigsuspend 130 133,
rt_sigtimedwait 128 137, sigaltstack 131 132, restart_syscall 219 128, pause 34 -,
alarm 37 -, getitimer 36 102, setitimer 38 103, nanosleep 35 101,
clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114,
gettimeofday 96 169, time 201 -, times 100 153, sched_yield 24 124,
sched_getaffinity 204 123, sched_setaffinity 203 122, sched_getparam 143 121,
sched_getscheduler 145 120, sched_get_priority_max 146 125,
sched_get_priority_min 147 126, getcpu 309 168, getpriority 140 141,
setpriority 141 140, getrlimit 97 163, setrlimit 160 164, prlimit64 302 261,
getrusage 98 165, sysinfo 99 179, uname 63 160, getrandom 318 278, arch_prctl 158 -,
connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
getsockname 51 204, getpeername 52 205, getsockopt 55 209, shutdown 48 210
"""
# Locks, advice on files and writing back would be seen, or felt, by the submissions
# that share a file or a disk. They do nothing and seem to work: one process needs no
# locks, and a database in a private file is as good without.
WITHOUT_EFFECT = "flock 73 32, fadvise64 221 223, sync 162 81, syncfs 306 267"
# Asked for before something else is tried: a refusal would be taken for an error.
NO_SUCH_CALL = """
mincore 27 232, preadv2 327 286, pwritev2 328 287, splice 275 76, tee 276 77,
get_mempolicy 239 236, set_mempolicy 238 237, mbind 237 235, pkey_mprotect 329 288,
pkey_alloc 330 289, pkey_free 331 290, timer_create 222 107
"""
NO_ATTRIBUTES = """
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, getxattr 191 8, lgetxattr 192 9,
fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13,
removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16
"""
NEWER = 424  # from here on programs expect that a kernel does not know a call

AF_UNIX = 1  # others reach the machine below, or parts of the kernel, from any network
LOCKS = (5, 6, 7, 36, 37, 38)  # F_GETLK, F_SETLK and F_SETLKW, F_OFD_…
FILE_COMMANDS = (0, 1, 2, 3, 4, 1030, 1032)  # F_DUPFD … F_SETFL, …_CLOEXEC, pipe's size
TERMINAL = (
    *range(0x5401, 0x5405),  # TCGETS, TCSETS and its two variants
    *(0x5409, 0x540B, 0x540E, 0x540F, 0x5410),  # break, flush, controlling, groups
    *(0x5413, 0x5414, 0x541B, 0x5421, 0x5422),  # window, FIONREAD, FIONBIO, TIOCNOTTY
    *(0x5429, 0x5441, 0x80045430, 0x40045431, 0x80045439),  # pseudo-terminals
    *(0x802C542A, 0x402C542B, 0x402C542C, 0x402C542D),  # TCGETS2 … of newer libraries
    *(0x5450, 0x5451),  # FIONCLEX, FIOCLEX
    0x40049409,  # FICLONE: Python 3.14 takes only a file system's own refusal
)
PROCESS_OPTIONS = (
    *(2, 3, 4, 7, 15, 16, 21, 23, 27, 30, 38, 39, 42),  # names, and reading
    *(0x53564D41, 0x41555856),  # a name of a piece of memory; the auxiliary vector
)
SOCKET_OPTIONS = (2, 7, 8, 9, 13, 15, 16, 20, 21)  # sizes, waiting; no filters
ADVICE = (*range(5), 8, 9, 10, 11, *range(14, 20), 22, 23, 24, 102, 103)  # no sharing
NEW_SPACES = 0x7E020000  # the flags of all new namespaces
URGENT = 1  # MSG_OOB: a hole in the kernel in 2025
HUGE_PAGES = 0x40000  # the machine's own, beyond all limits

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN, JUMP = 0x20, 0x15, 0x35, 0x45, 0x06, 0x05
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # offsets in a filter's input
MAX_DISTANCE = 255  # of a conditional jump
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
SET_SECCOMP, FILTER = 22, 2

Program = tuple[bytes, ...]  # the steps of a filter, or of a part of one


@dataclass(frozen=True)
class Argument:
    """What one argument of a call decides.

    index : which argument; its lower 32 bits are all that the kernel reads
    answers : value to answer, for what is not simply refused
    bits : refused if any of them is set; 0 refuses all values but those in ``answers``
    """

    index: int
    refusal: int
    answers: Mapping[int, int]
    bits: int = 0


def _only(index: int, values: Sequence[int], error: int) -> Argument:
    return Argument(index, REFUSE | error, dict.fromkeys(values, ALLOW))


def _without(index: int, bits: int, error: int) -> Argument:
    return Argument(index, REFUSE | error, {}, bits)


BY_ARGUMENT = {
    "socket 41 198": _only(0, [AF_UNIX], errno.EAFNOSUPPORT),
    "socketpair 53 199": _only(0, [AF_UNIX], errno.EAFNOSUPPORT),
    "setsockopt 54 208": _only(2, SOCKET_OPTIONS, errno.ENOPROTOOPT),
    "sendto 44 206": _without(3, URGENT, errno.EOPNOTSUPP),
    "recvfrom 45 207": _without(3, URGENT, errno.EOPNOTSUPP),
    "sendmsg 46 211": _without(2, URGENT, errno.EOPNOTSUPP),
    "recvmsg 47 212": _without(2, URGENT, errno.EOPNOTSUPP),
    "sendmmsg 307 269": _without(3, URGENT, errno.EOPNOTSUPP),
    "recvmmsg 299 243": _without(3, URGENT, errno.EOPNOTSUPP),
    "fcntl 72 25": Argument(
        1,
        REFUSE | errno.EINVAL,
        dict.fromkeys(FILE_COMMANDS, ALLOW) | dict.fromkeys(LOCKS, REFUSE),
    ),
    "ioctl 16 29": _only(1, TERMINAL, errno.ENOTTY),
    "prctl 157 167": _only(0, PROCESS_OPTIONS, errno.EINVAL),
    "madvise 28 233": _only(2, ADVICE, errno.EINVAL),
    "clone 56 220": _without(0, NEW_SPACES, errno.EPERM),
    "mmap 9 222": _without(3, HUGE_PAGES, errno.ENOMEM),
}


def numbers(calls: str, column: int) -> dict[str, int]:
    """Return the numbers of the calls that a machine has.

    >>> numbers("open 2 -, openat 257 56", 1)
    {'openat': 56}
    """
    rows = [call.split() for call in calls.split(",")]
    return {row[0]: int(row[1 + column]) for row in rows if row[1 + column] != "-"}


def program(machine: str) -> bytes:
    """Return the filter for a machine; empty for one whose numbers are not known.

    A binary search: nine comparisons at most, and for what is always allowed the
    kernel itself remembers that. Numbers of x32, another ABI of x86_64, lie above all
    others and are unknown.
    """
    if machine not in MACHINES:
        return b""
    column, architecture = MACHINES[machine]
    answers: dict[int, Program] = {}
    for calls, answer in (
        (ALLOWED, ALLOW),
        (WITHOUT_EFFECT, REFUSE),  # with no error: done
        (NO_SUCH_CALL, REFUSE | errno.ENOSYS),
        (NO_ATTRIBUTES, REFUSE | errno.EOPNOTSUPP),
    ):
        for number in numbers(calls, column).values():
            answers[number] = _return(answer)
    for call, argument in BY_ARGUMENT.items():
        [number] = numbers(call, column).values()
        answers[number] = _by_argument(argument)
    return b"".join(
        [
            _step(LOAD, MACHINE),
            _step(EQUAL, architecture, 1, 0),
            _step(RETURN, KILL),
            _step(LOAD, NUMBER),
            *_search(_ranges(answers)),
        ]
    )


def install(filter_program: bytes) -> None:
    """Filter the system calls of this process and of all that it starts, for good."""
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    header = struct.pack("HxxxxxxP", len(filter_program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_SECCOMP, FILTER, header, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"prctl: no filter: {os.strerror(number)}")


def _ranges(answers: Mapping[int, Program]) -> list[tuple[int, Program]]:
    """Return where each range of numbers with the same answer begins, in order."""
    refused, unknown = _return(REFUSE | errno.EPERM), _return(REFUSE | errno.ENOSYS)
    ranges: list[tuple[int, Program]] = []
    for number in range(max(*answers, NEWER) + 2):
        answer = answers.get(number, unknown if number >= NEWER else refused)
        if not ranges or ranges[-1][1] != answer:
            ranges.append((number, answer))
    return ranges


def _search(ranges: Sequence[tuple[int, Program]]) -> Program:
    """Return the steps that find a number's range, and its answer."""
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle]), _search(ranges[middle:])
    first = ranges[middle][0]
    if len(below) <= MAX_DISTANCE:
        return _step(AT_LEAST, first, len(below), 0), *below, *above
    return _step(AT_LEAST, first, 0, 1), _step(JUMP, len(below)), *below, *above


def _by_argument(argument: Argument) -> Program:
    """Return the steps that read an argument, and answer."""
    steps = [_step(LOAD, ARGUMENTS + 8 * argument.index)]
    if argument.bits:
        steps += [_step(ANY_BIT, argument.bits, 0, 1), _step(RETURN, argument.refusal)]
        return (*steps, *_return(ALLOW))
    for value, answer in argument.answers.items():
        steps += [_step(EQUAL, value, 0, 1), _step(RETURN, answer)]
    return (*steps, *_return(argument.refusal))


def _return(answer: int) -> Program:
    return (_step(RETURN, answer),)


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Return one step of a filter: what, value, how far to jump if so and if not."""
    return struct.pack("HBBI", code, yes, no, value)
