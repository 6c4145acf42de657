"""What a child may use: its user, memory, processes, files and system calls."""

import errno
import os
from pathlib import Path

import pytest

from autograder.grading.inside.isolation import Limits
from tests.grading.engines import processes_of
from tests.grading.sessions import inside, own, session_of

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]
LIMITS = Limits()


def child_of(engine):
    """Return the process of the newest child, as the host sees it."""
    return processes_of(engine)[-1]


def status(process):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def test_child_has_no_capability_and_cannot_get_one(engine, sandbox):
    with session_of(sandbox, own("1")):
        child_status = status(child_of(engine).pid)
    for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
        assert int(child_status[f"Cap{kind}"], 16) == 0
    assert child_status["NoNewPrivs"] == "1"
    assert child_status["Seccomp"] == "2"


def test_child_ends_before_its_parent_when_memory_runs_out(engine, sandbox):
    with session_of(sandbox, own("1")):
        ours, warm, its = (
            int(Path(f"/proc/{process}/oom_score_adj").read_text())
            for process in ("self", *(each.pid for each in processes_of(engine)[-2:]))
        )
    assert ours == warm < its == 1000


def test_limits_are_as_set_and_cannot_be_raised(engine, sandbox):
    result = inside(
        sandbox,
        """
        import resource
        limits, raised = {}, []
        for name in given:
            kind = getattr(resource, name)
            limits[name] = before = resource.getrlimit(kind)
            for more in (before[1] + 1, resource.RLIM_INFINITY):
                try:
                    resource.setrlimit(kind, (more, more))
                    raised.append(name)
                except (ValueError, OSError):
                    pass
        return limits, raised
        """,
        *("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CPU"),
        *("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_SIGPENDING"),
        "RLIMIT_AS",
    )
    limits, raised = result
    space = limits.pop("RLIMIT_AS")
    expected = [LIMITS.processes, LIMITS.files, LIMITS.file_size, LIMITS.cpu]
    expected += [0, 0, 0, LIMITS.signals]
    assert [*limits.values()] == [(each, each) for each in expected]
    assert space[0] == space[1]
    assert LIMITS.memory < space[0] < LIMITS.memory + (16 << 30)
    assert raised == []


def test_memory_limit_refuses_more_and_allows_less(sandbox):
    n_bytes = inside(
        sandbox,
        """
        import numpy as np
        small = np.ones(100 << 17)
        try:
            np.ones((1 << 30) // 8)
        except MemoryError:
            return small.nbytes
        """,
    )
    assert n_bytes == 100 << 20


def test_threads_and_processes_are_counted_together(sandbox):
    n_threads = inside(
        sandbox,
        """
        import threading
        done, started = threading.Event(), []
        for _ in range(100):
            try:
                one = threading.Thread(target=done.wait)
                one.start()
                started.append(one)
            except RuntimeError:
                break
        done.set()
        return len(started)
        """,
    )
    assert 0 < n_threads < LIMITS.processes


def test_private_folder_limits_bytes_files_and_file_size(sandbox):
    result = inside(
        sandbox,
        """
        import os
        def number(write):
            try:
                write()
            except OSError as error:
                return error.errno
        def one():
            with open("one", "wb") as file:
                for _ in range(40):
                    file.write(bytes(1 << 20))
        def many():
            for place in range(5000):
                open(f"file-{place}", "w").close()
        def large():
            for place in range(4):
                with open(f"large-{place}", "wb") as file:
                    for _ in range(30):
                        file.write(bytes(1 << 20))
        first, size = number(one), os.path.getsize("one")
        os.unlink("one")
        second = number(many)
        for name in os.listdir("."):
            os.unlink(name)
        return first, size, second, number(large)
        """,
    )
    assert result == (errno.EFBIG, LIMITS.file_size, errno.ENOSPC, errno.ENOSPC)


# Number on x86_64 and aarch64, arguments, and the error; 0 is success without effect.
SYSTEM_CALLS = {
    "unshare": ((272, 97), (0x10000000,), errno.EPERM),
    "unshare of files": ((272, 97), (0x400,), errno.EPERM),
    "setns": ((308, 268), (3, 0), errno.EPERM),
    "mount": ((165, 40), (0, 0, 0, 0, 0), errno.EPERM),
    "umount": ((166, 39), (b"/proc", 0), errno.EPERM),
    "chroot": ((161, 51), (b"/tmp",), errno.EPERM),
    "ptrace": ((101, 117), (0, 0, 0, 0), errno.EPERM),
    "memfd_create": ((319, 279), (b"x", 0), errno.EPERM),
    "process_vm_readv": ((310, 270), (1, 0, 0, 0, 0, 0), errno.EPERM),
    "shmget": ((29, 194), (0, 4096, 0o1600), errno.EPERM),
    "semget": ((64, 190), (0, 1, 0o1600), errno.EPERM),
    "bpf": ((321, 280), (0, 0, 0), errno.EPERM),
    "userfaultfd": ((323, 282), (0,), errno.EPERM),
    "keyctl": ((250, 219), (0, 0), errno.EPERM),
    "personality": ((135, 92), (0x0040000,), errno.EPERM),
    "clone into a new user": ((56, 220), (0x10000000 | 17, 0, 0, 0, 0), errno.EPERM),
    "clone3": ((435, 435), (0, 0), errno.ENOSYS),
    "io_uring_setup": ((425, 425), (1, 0), errno.ENOSYS),
    "one that is not invented": ((4000, 4000), (), errno.ENOSYS),
    "listxattr": ((194, 11), (b"/tmp", 0, 0), errno.EOPNOTSUPP),
    "flock": ((73, 32), (3, 2), 0),
    "sync": ((162, 81), (), 0),
}


@pytest.mark.parametrize("name", SYSTEM_CALLS)
def test_system_call_is_refused(sandbox, name):
    numbers, arguments, error = SYSTEM_CALLS[name]
    number = numbers[os.uname().machine == "aarch64"]
    result, its_error = _system_call(sandbox, number, arguments)
    assert (result, its_error if result else 0) == (-1 if error else 0, error)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86_64 has a second ABI")
def test_system_call_of_another_abi_is_unknown(sandbox):
    assert _system_call(sandbox, 0x40000000 | 39, (0, 0)) == (-1, errno.ENOSYS)


def _system_call(sandbox, number, arguments):
    return inside(
        sandbox,
        """
        import ctypes
        library = ctypes.CDLL(None, use_errno=True)
        number, *arguments = given
        answer = library.syscall(ctypes.c_long(number), *arguments)
        return answer, ctypes.get_errno()
        """,
        number,
        *arguments,
    )


def test_ordinary_fork_is_allowed(sandbox):
    exit_code = inside(
        sandbox,
        """
        import os
        process = os.fork()
        if not process:
            os._exit(7)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        """,
    )
    assert exit_code == 7
