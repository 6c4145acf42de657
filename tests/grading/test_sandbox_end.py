"""What is left when a child ends, and what is said where it cannot be isolated."""

import contextlib
import resource
from types import SimpleNamespace

import psutil
import pytest

from autograder.grading import course_copy
from autograder.grading.engine import Engine
from autograder.grading.inside import wire
from autograder.grading.inside.isolation import Limits
from autograder.grading.sandbox import NoSandbox, Sandbox, SandboxFailure, check_started
from tests.grading.engines import SEED, SHORT, processes_of
from tests.grading.sessions import inside, look, own, session_of
from tests.submissions import COURSE, LESSON

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]


@pytest.fixture
def lone(tmp_path):
    """Make the folder of a sandbox that a test may end, without a lesson's imports."""
    course_copy.make_copy(tmp_path, [])
    return tmp_path


def extra_processes(engine):
    """Return what runs besides bubblewrap's two processes and the warm parent."""
    return processes_of(engine)[3:]


def gone_soon(processes):
    _, alive = psutil.wait_procs(processes, timeout=10)
    return alive == []


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
    "cleared memory": ("import ctypes; ctypes.memset(id(None), 255, 1 << 22)", None),
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
