"""A child is isolated: what it sees of its host, of other processes and of files."""

import errno
import os
import stat
from pathlib import Path

import pytest

from autograder.grading.sandbox import environment, one_processor
from tests.grading.engines import SANDBOX_USERS, engine_of, processes_of
from tests.grading.sessions import inside, own, session_of
from tests.submissions import COURSE

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]
SPACES = ("user", "pid", "mnt", "ipc", "net", "uts")
ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def engine():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_SECRET_OF_OURS", "token")
        with engine_of(COURSE) as started:
            yield started


def spaces(process):
    return {name: str(Path(f"/proc/{process}/ns/{name}").readlink()) for name in SPACES}


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
        [
            "__init__.py",
            "call.py",
            "causes",
            "own_time.py",
            "time_limit.py",
            "values.py",
        ],
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
