"""A child is isolated: what it sees, what it may use, what is left when it ends."""

import contextlib
import errno
import os
import resource
import stat
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from autograder.grading import course_copy
from autograder.grading.engine import Engine
from autograder.grading.inside import wire
from autograder.grading.inside.isolation import Limits
from autograder.grading.sandbox import (
    NoSandbox,
    Sandbox,
    SandboxFailure,
    check_started,
    environment,
    one_processor,
)
from tests.grading.engines import (
    SANDBOX_USERS,
    SEED,
    SHORT,
    engine_of,
    processes_of,
)
from tests.grading.sessions import inside, look, own, session_of
from tests.submissions import COURSE, LESSON

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]
SPACES = ("user", "pid", "mnt", "ipc", "net", "uts")
LIMITS = Limits()
ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def engine():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_SECRET_OF_OURS", "token")
        with engine_of(COURSE) as started:
            yield started


@pytest.fixture
def lone(tmp_path):
    """Make the folder of a sandbox that a test may end, without a lesson's imports."""
    course_copy.make_copy(tmp_path, [])
    return tmp_path


def child_of(engine):
    """Return the process of the newest child, as the host sees it."""
    return processes_of(engine)[-1]


def spaces(process):
    return {name: str(Path(f"/proc/{process}/ns/{name}").readlink()) for name in SPACES}


def status(process):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def extra_processes(engine):
    """Return what runs besides bubblewrap's two processes and the warm parent."""
    return processes_of(engine)[3:]


def gone_soon(processes):
    _, alive = psutil.wait_procs(processes, timeout=10)
    return alive == []


# --- what it sees --------------------------------------------------------------


def test_child_has_namespaces_of_its_own_of_every_kind(engine, sandbox):
    with session_of(sandbox, own("1")):
        parent, child = processes_of(engine)[-2:]
        ours, warm, its = (
            spaces(process) for process in ("self", parent.pid, child.pid)
        )
    for name in SPACES:
        assert its[name] not in (ours[name], warm[name])
    for name in {*SPACES} - {"user"}:  # root's parent stays in root's user namespace
        assert warm[name] != ours[name]


def test_two_children_share_no_namespace_and_no_user(engine, sandbox):
    with session_of(sandbox, own("1")), session_of(sandbox, own("1")):
        one, other = processes_of(engine)[-2:]
        first, second = spaces(one.pid), spaces(other.pid)
        users = one.uids().real, other.uids().real
    assert not {*first.values()} & {*second.values()}
    if ROOT:
        assert users[0] != users[1]
        assert {*users} <= {*SANDBOX_USERS}


def test_child_is_one_user_that_cannot_become_another(sandbox):
    result = inside(
        sandbox,
        """
        import os
        tries = []
        for become in (os.setuid, os.setgid):
            try:
                become(0)
                tries.append("became root")
            except OSError:
                pass
        return os.getresuid(), os.getresgid(), os.getgroups(), tries
        """,
    )
    users, groups, further, tries = result
    assert len({*users}) == len({*groups}) == 1
    assert 0 not in (*users, *groups) or not ROOT
    assert (not ROOT) or further == []
    assert tries == []


def test_child_sees_no_process_but_its_own(sandbox):
    result = inside(
        sandbox,
        """
        import os
        seen = []
        for process in range(1, 3000):
            try:
                os.kill(process, 0)
                seen.append(process)
            except PermissionError:
                seen.append(process)
            except ProcessLookupError:
                pass
        return os.getpid(), os.getppid(), seen
        """,
    )
    assert result == (1, 0, [1])


def test_proc_is_empty_and_stays_so(sandbox):
    result = inside(
        sandbox,
        """
        import os
        try:
            open("/proc/x", "w")
        except OSError as error:
            return os.listdir("/proc"), error.errno
        """,
    )
    assert result == ([], errno.EROFS)


def test_child_has_no_network_not_even_to_itself(sandbox):
    result = inside(
        sandbox,
        """
        import os, socket
        tries = []
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
            try:
                socket.socket(family, socket.SOCK_DGRAM)
                tries.append("opened")
            except OSError as error:
                tries.append(error.errno)
        pair = socket.socketpair()
        pair[0].send(b"within")
        return tries, pair[1].recv(9)
        """,
    )
    assert result == ([errno.EAFNOSUPPORT] * 3, b"within")


def test_only_its_connection_is_open_in_a_child(sandbox):
    opened = inside(
        sandbox,
        """
        import os
        from IPython.core.async_helpers import get_asyncio_loop
        loop = get_asyncio_loop()  # made in the child, for the cells' tasks
        parts = loop._selector, loop._ssock, loop._csock
        found = {}
        for number in {*range(4096)} - {part.fileno() for part in parts}:
            try:
                kept = os.fstat(number)
            except OSError:
                continue
            found[number] = kept.st_mode, kept.st_rdev
        return found
        """,
    )
    assert sorted(opened) == [0, 1, 2, 3]
    assert all(opened[number][1] == os.makedev(1, 3) for number in (0, 1, 2))
    assert stat.S_ISSOCK(opened[3][0])


def test_child_stays_on_the_processor_of_its_grader(sandbox):
    look = "import os; return sorted(os.sched_getaffinity(0))"
    before = os.sched_getaffinity(0)
    with one_processor():
        (own,) = os.sched_getaffinity(0)
        assert inside(sandbox, look) == [own]
    assert os.sched_getaffinity(0) == before
    assert inside(sandbox, look) == sorted(before)


def test_environment_of_a_child_is_ours_and_nothing_else(engine, sandbox):
    variables = inside(sandbox, "import os; return dict(os.environ)")
    expected = environment()
    assert variables.items() >= expected.items()
    assert "A_SECRET_OF_OURS" not in variables
    # bubblewrap says where it is; the interpreter and IPython set these themselves.
    assert {*variables} - {*expected} <= {"PWD", "LC_CTYPE", "JPY_PARENT_PID"}


def test_files_of_the_course_are_hidden_from_a_child(sandbox):
    result = inside(
        sandbox,
        """
        import os
        def names(place):
            try:
                return sorted(os.listdir(place))
            except OSError:
                return []
        course, home = given
        modules = []
        outside = "exercises grading messages checking.judging checking.registry"
        for name in outside.split():
            try:
                __import__(f"autograder.{name}")
                modules.append(name)
            except ImportError:
                pass
        stub = names("/course/autograder"), names("/course/autograder/checking")
        return names(course), names(home), stub, modules
        """,
        str(COURSE.root),
        str(Path.home()),
    )
    course, home, stub, modules = result
    packages = {".venv"}  # a Python that lies in the course folder has to be there
    assert {*course} <= packages
    assert {*home} <= {"miniconda3", "miniforge3", ".local", ".pyenv"}
    assert stub == (
        ["__init__.py", "checking"],
        ["__init__.py", "call.py", "causes", "values.py"],
    )
    assert modules == []


def test_files_in_tmp_are_hidden_from_a_child(sandbox, tmp_path):
    marker = tmp_path / "marker"
    marker.write_text("outside")
    result = inside(
        sandbox,
        'import os; return os.path.lexists(given[0]), sorted(os.listdir("/tmp"))',
        str(marker),
    )
    assert result == (False, ["home"])


def test_child_can_write_only_into_its_private_folders(sandbox):
    folders = inside(
        sandbox,
        """
        import os
        wide = []
        for place, folders, _ in os.walk("/"):
            if os.access(place, os.W_OK):
                wide.append(place)
            fixed = os.statvfs(place).f_flag & os.ST_RDONLY
            if place.startswith("/tmp") or (fixed and place.count("/") > 1):
                folders.clear()  # nothing else is mounted so far down
        return wide
        """,
    )
    assert sorted(folders) == ["/dev/shm", "/tmp"]


# --- what it may use -----------------------------------------------------------


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


# --- what it leaves ------------------------------------------------------------

LASTING = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(60)
    os._exit(0)
os.wait()
"""


def test_ended_child_takes_its_grandchildren_with_it(engine, sandbox):
    with session_of(sandbox, own(LASTING)):
        running = extra_processes(engine)
        assert len(running) == 2
    assert gone_soon(running)
    assert extra_processes(engine) == []


def test_child_cannot_find_what_another_has_left(sandbox):
    leave = """
    import os, socket
    open("/tmp/for_the_other", "w").write("softmax")
    open("/dev/shm/for_the_other", "w").write("softmax")
    kept = socket.socket(socket.AF_UNIX)
    kept.bind("\\0for_the_other")
    kept.listen()
    terminal = os.openpty()
    """
    find = """
    import os, socket
    there = [p for p in ("/tmp", "/dev/shm") if "for_the_other" in os.listdir(p)]
    with socket.socket(socket.AF_UNIX) as one:
        if one.connect_ex("\\0for_the_other") == 0:
            there.append("socket")
    return there + [name for name in os.listdir("/dev/pts") if name != "ptmx"]
    """
    with session_of(sandbox, own(leave), *look(find)) as session:
        there = session.call("look", "check", (), {}, {})
        assert there.value == ["/tmp", "/dev/shm", "socket", "0"]
        assert inside(sandbox, find) == []
    assert inside(sandbox, find) == []


DEATHS = {
    "exit": ("import os; os._exit(3)", 3),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", -11),
    "abort": ("import os; os.abort()", None),
    "end of its connection": ("import os; os.close(3)", None),
    "bytes that are no frame": ("import os; os.write(3, b'x' * 9)", None),
    "exit from a thread": (
        "import os, threading\nthreading.Thread(target=os._exit, args=(4,)).start()\n"
        "import time; time.sleep(60)",
        4,
    ),
    "cleared memory": (
        "import ctypes; ctypes.memset(id(None), 255, 1 << 22)",
        None,
    ),
}


@pytest.mark.parametrize(("text", "code"), DEATHS.values(), ids=[*DEATHS])
def test_parent_outlives_a_child_that_dies_by(engine, sandbox, text, code):
    child = sandbox.fork()
    cells = [["own", text, ""]]
    wire.send(child.connection, wire.pack(["run", cells, []]))
    child.connection.settimeout(0.5 if code is None else 10)
    with contextlib.suppress(OSError):
        while child.connection.recv(1 << 16):
            pass
    child.end()
    assert child.code == code or code is None
    assert extra_processes(engine) == []
    assert inside(sandbox, "return 5") == 5


def test_ending_a_dead_child_does_not_wait(sandbox):
    child = sandbox.fork()
    wire.send(child.connection, wire.pack(["run", [["own", "exit(0)", ""]], []]))
    wire.send(child.connection, wire.pack(["end", "is no message"]))  # its last
    assert sandbox.wait_for(child) == 0
    child.end()
    first_code = child.code
    child.end()  # would wait for a second end, and fail
    assert child.code == first_code == 0


def test_children_that_end_in_another_order_are_awaited(engine, sandbox):
    children = [sandbox.fork() for _ in range(4)]
    for child in reversed(children):
        child.end()
    # Who has read the end of the connection before the signal came ended in order.
    assert {child.code for child in children} <= {-9, 0}
    assert extra_processes(engine) == []


def test_every_child_begins_the_same_way(sandbox):
    text = """
    import random, numpy as np, torch
    return random.random(), np.random.rand(), np.random.default_rng(0).random(), (
        torch.rand(2).tolist()
    ), hash("attention"), [*{"query", "key", "value", "mask"}]
    """
    assert inside(sandbox, text) == inside(sandbox, text)


# --- when it fails -------------------------------------------------------------


def test_killed_parent_is_a_failure_and_leaves_no_process(lone):
    with Sandbox(lone, [], {}, limits=Limits(files=32, processes=5)) as sandbox:
        child = sandbox.fork()
        check_started(child)
        processes = processes_of(SimpleNamespace(sandbox=sandbox))
        assert len(processes) == 4
        assert processes[-1].rlimit(resource.RLIMIT_NOFILE) == (32, 32)
        assert processes[-1].rlimit(resource.RLIMIT_NPROC) == (5, 5)
        processes[0].kill()
        assert gone_soon(processes)
        with pytest.raises(SandboxFailure, match="cannot be ended"):
            child.end()
        with pytest.raises(SandboxFailure, match="the warm parent is gone"):
            sandbox.fork()


def write_bwrap(folder, text):
    path = folder / "bin" / "bwrap"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path.parent)


def test_missing_bubblewrap_is_refused_with_the_remedy(lone, monkeypatch):
    monkeypatch.setenv("PATH", str(lone))
    with pytest.raises(NoSandbox) as caught, Sandbox(lone, [], {}):
        pass
    message = str(caught.value)
    assert "apt-get install bubblewrap" in message
    assert "--no-sandbox" in message
    assert "\n" not in message


def test_failing_bubblewrap_is_quoted_with_the_remedy(lone, monkeypatch):
    error = "bwrap: setting up uid map: Permission denied"
    path = write_bwrap(lone, f"echo a line before >&2; echo '{error}' >&2; exit 1")
    monkeypatch.setenv("PATH", path)
    with pytest.raises(NoSandbox) as caught, Sandbox(lone, [], {}):
        pass
    message = str(caught.value)
    assert f"({error})" in message
    assert "user.max_user_namespaces" in message
    assert "--no-sandbox" in message
    assert "\n" not in message


def test_engine_refuses_where_children_cannot_be_isolated(monkeypatch):
    # Bubblewrap itself works, the namespaces inside it do not.
    refused = "raise OSError(1, 'clone: Operation not permitted')\n"
    make = Engine.__init__

    def made(self, *arguments, **options):
        make(self, *arguments, **options)
        path = self.sandbox.folder / "engine" / "inside" / "isolation.py"
        text = path.read_text()
        path.write_text(
            text.replace(
                "def hide_files(", f"def hide_files(_):\n    {refused}\ndef _("
            )
        )

    monkeypatch.setattr(Engine, "__init__", made)
    engine = Engine(COURSE, LESSON, budget=SHORT, seed=SEED)
    with pytest.raises(NoSandbox, match="Operation not permitted"), engine:
        pass
    assert not engine.sandbox.folder.exists()
