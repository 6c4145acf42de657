"""Grading on a Dask cluster: who may grade there, and that no loss costs a grade."""

import contextlib
import dataclasses
import itertools
import re
import shutil
import socket
import sys
import threading
import time
from collections import deque

import psutil
import pytest

from autograder.course import Course, CourseError
from autograder.grading.dask import cluster as cluster_module
from autograder.grading.dask import pool as pool_module
from autograder.grading.dask.cluster import Cluster
from autograder.grading.dask.worker import ChunkResult
from autograder.grading.release import load_release
from autograder.grading.result import CodeResult
from autograder.grading.submission import Submission as HandedIn
from autograder.grading.workers import GradingTask, GradingTaskResult, Settings, Workers
from tests.grading.clusters import DaskCluster
from tests.grading.engines import SEED, SHORT
from tests.submissions import COURSE, LESSON, Submission

pytestmark = pytest.mark.thorough

SETTINGS = Settings(LESSON, SEED, budget=SHORT)


# --- the result of each task, whatever the workers do ----------------------------


class FakePool:
    """Workers that answer at once, as the test's script says.

    script : student to what comes of each attempt: ok, slow, fault, lost, refused
    """

    def __init__(self, script=()):
        attempts = dict(script)
        self.script = {name: deque(attempts[name].split()) for name in attempts}
        self.usable = {"one": 1, "two": 1}
        self.last = "one"
        self.sent = []
        self.refused = []
        self._answers = deque()

    @property
    def n_pending(self):
        return len(self._answers)

    def send(self, tasks, workers):
        self.sent.append(([task.student for task in tasks], [*workers]))
        self._answers.append(self._answer(tasks, next(iter(workers))))

    def receive(self):
        return self._answers.popleft() if self._answers else None

    def refuse(self, worker, why):
        self.refused.append((worker, why))

    def call_off(self):
        self._answers.clear()

    def _answer(self, tasks, worker):
        """Return the result of a chunk: its worst task decides about the worker."""
        attempts = {task.key: self._attempt(task) for task in tasks}
        if "lost" in attempts.values():
            return ChunkResult("", ungraded=[*tasks], refusal="its worker was lost")
        answer = ChunkResult(worker)
        for task in tasks:
            if attempts[task.key] == "slow":
                answer.slow.append(dataclasses.replace(task, last_try=True))
            elif attempts[task.key] == "fault":
                answer.results.append(
                    GradingTaskResult(task, None, {}, "KeyError: 'softmax'")
                )
            elif attempts[task.key] == "refused":
                answer.ungraded.append(task)
            else:
                answer.results.append(GradingTaskResult(task, CodeResult(()), {}))
        refusal = "no sandbox" if answer.ungraded else ""
        return dataclasses.replace(answer, refusal=refusal)

    def _attempt(self, task):
        left = self.script.get(task.student)
        return left.popleft() if left else "ok"


def outcomes(students, **script):
    """Grade students with fake workers; return the faults, in order, and the pool."""
    cluster = Cluster(COURSE, SETTINGS, "tcp://nowhere:1")
    cluster._pool = pool = FakePool(script)
    tasks = (GradingTask(name, f"key of {name}", ()) for name in students)
    return [(done.task.student, done.fault) for done in cluster.each(tasks)], pool


def test_each_task_returns_once_in_growing_chunks():
    names = [f"s{i}" for i in range(200)]
    done, pool = outcomes(names)
    assert done == [(name, "") for name in names]
    sizes = [len(students) for students, _ in pool.sent]
    assert sizes[:4] == [1] * 4  # a small class is shared by all workers
    assert max(sizes) == cluster_module.CHUNK
    assert sizes[:-1] == sorted(sizes[:-1])


def test_tasks_are_taken_only_shortly_before_use():
    taken = []

    def tasks():
        for i in range(500):
            taken.append(i)
            yield GradingTask(f"s{i}", f"{i}", ())

    cluster = Cluster(COURSE, SETTINGS, "tcp://nowhere:1")
    cluster._pool = FakePool()
    most = cluster_module.CHUNKS_AHEAD * 2 * cluster_module.CHUNK
    for count, _ in enumerate(cluster.each(tasks())):
        assert len(taken) <= count + most
    assert len(taken) == 500


def test_empty_class_sends_nothing():
    assert outcomes([])[0] == []


def test_slow_tasks_come_last_one_at_a_time():
    done, pool = outcomes("abcdef", b="slow", d="slow")
    assert [name for name, _ in done] == [*"acefbd"]
    assert pool.sent[-2:] == [(["b"], ["one"]), (["d"], ["one"])]


def test_only_the_guilty_task_of_a_deadly_chunk_has_a_fault():
    names = [f"s{i}" for i in range(40)]
    guilty = "s30"
    done, pool = outcomes(names, **{guilty: "lost lost lost ok"})
    assert sorted(done) == sorted(
        (name, "the grader died (its worker was lost)" if name == guilty else "")
        for name in names
    )
    with_it = [students for students, _ in pool.sent if guilty in students]
    assert len(with_it) == 3
    assert len(with_it[0]) > 1
    assert with_it[1:] == [[guilty], [guilty]]


def test_worker_lost_twice_costs_no_grade():
    done, _ = outcomes("abcd", c="lost lost ok")
    assert sorted(done) == [(name, "") for name in "abcd"]


def test_fault_is_retried_on_another_worker():
    done, pool = outcomes("abcd", b="fault ok", c="fault fault ok")
    faults = dict(done)
    assert faults == {"a": "", "b": "", "c": "KeyError: 'softmax'", "d": ""}
    assert pool.sent[-2:] == [(["b"], ["two"]), (["c"], ["two"])]


def test_worker_that_refuses_midway_costs_no_grade():
    done, pool = outcomes("abcd", b="refused refused refused refused ok")
    assert sorted(done) == [(name, "") for name in "abcd"]
    assert pool.refused == [("one", "no sandbox")] * 4


# --- addresses -------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(pool_module, "JOINING", 0.0)


def refusal(address, **options):
    with (
        pytest.raises(CourseError) as caught,
        Cluster(COURSE, SETTINGS, address, **options),
    ):
        raise AssertionError("somebody has been found")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def address_of(server):
    return f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_dead_address_is_one_sentence(hasty, listener, capfd):
    address = address_of(listener)
    listener.close()
    message = refusal(address)
    start = f"there is no Dask scheduler at '{address}' (nobody answers"
    assert message.startswith(start)
    assert "tcp://host:8786" in message
    assert capfd.readouterr() == ("", "")


def test_silent_address_is_one_sentence(hasty, listener):
    message = refusal(address_of(listener))
    assert "(nobody answers there, or not as one would)" in message


def test_other_protocol_is_one_sentence(hasty, listener):
    def talk():
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n" * 3)
            connection.recv(1000)

    thread = threading.Thread(target=talk)
    thread.start()
    assert refusal(address_of(listener)).startswith("there is no Dask scheduler at")
    thread.join()


@pytest.mark.parametrize("address", ["", "localhost", "foo://x:1", "tcp://x:y", "a b"])
def test_malformed_address_is_one_sentence(address, hasty):
    assert f"no Dask scheduler at {address!r}" in refusal(address)


def test_tls_without_configuration_is_one_sentence(hasty):
    assert "TLS configuration" in refusal("tls://127.0.0.1:1")


def test_missing_package_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'attention-course[dask]'" in refusal("tcp://127.0.0.1:1")


def test_other_version_of_dask_is_named(monkeypatch):
    async def ask(address):
        packages = {"distributed": "2020.1.0", "dask": "2020.1.0"}
        return {"type": "Scheduler"}, {"packages": packages}

    monkeypatch.setattr(cluster_module, "_ask", ask)
    message = refusal("tcp://127.0.0.1:1")
    assert "runs distributed 2020.1.0, and here it is 20" in message


# --- a real cluster --------------------------------------------------------------


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    cluster = DaskCluster(tmp_path_factory.mktemp("dask"))
    yield cluster
    cluster.close()


def test_cluster_without_workers_says_how_to_start_some(dask, hasty):
    message = refusal(dask.address)
    assert message.startswith(f"there is no worker at {dask.address}: start some")
    assert f"dask worker {dask.address}" in message


@pytest.fixture
def other(tmp_path):
    """Make a course folder in which a notebook is not the same."""
    root = tmp_path / "other"
    shutil.copytree(COURSE.root / "notebooks", root / "notebooks")
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    with Course(root).learner(LESSON).open("a") as file:
        file.write("\n")
    return root


def test_unfit_workers_are_refused_with_what_differs(dask, other, tmp_path):
    workers = [dask.worker(other), dask.worker(tmp_path)]
    dask.wait_for(2)
    try:
        message = refusal(dask.address)
    finally:
        for worker in workers:
            dask.kill(worker)
    assert message.startswith(
        f"no worker at {dask.address} can grade: tcp://127.0.0.1:"
    )
    assert re.search(
        r"its course differs from this one in the notebook of "
        rf"{LESSON} \(\w{{8}}, not \w{{8}}\): bring both",
        message,
    )
    outside = f"it runs outside of a course folder, in {tmp_path}: start it in one"
    assert outside in message


def test_worker_without_bubblewrap_is_refused(dask, tmp_path):
    worker = dask.worker(COURSE.root, PATH=str(tmp_path))
    dask.wait_for(1)
    try:
        message = refusal(dask.address)
    finally:
        dask.kill(worker)
    assert re.search(r"can grade: tcp://127.0.0.1:\d+: .*bubblewrap", message)


@pytest.fixture
def other_code(tmp_path):
    """Make a folder with another version of the grader's code."""
    packages = tmp_path / "packages"
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("autograder", "course_lib"):
        shutil.copytree(COURSE.root / name, packages / name, ignore=skip)
    shutil.copy(COURSE.root / "requirements.lock", packages)
    return packages


def test_worker_with_other_code_is_refused(dask, other_code):
    with (other_code / "autograder/grading/judging.py").open("a") as file:
        file.write("# another version\n")
    worker = dask.worker(other_code, ATTENTION_COURSE=str(COURSE.root))
    dask.wait_for(1)
    try:
        message = refusal(dask.address)
    finally:
        dask.kill(worker)
    assert "differs from this one in the code of autograder or course_lib" in message


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("def grade(message): return object", "it answers with no text"),
        ("del GradingRun", "it does not understand its task"),
        ("del grade", "AttributeError: module 'autograder.grading.dask.worker' has"),
        ("raise ModuleNotFoundError('torch')", "ModuleNotFoundError: torch"),
        ("import os\ndef grade(message): os._exit(1)", "there is no worker at"),
    ],
)
def test_worker_with_code_that_does_not_fit_is_refused(
    dask, other_code, change, sentence
):
    with (other_code / "autograder/grading/dask/worker.py").open("a") as file:
        file.write(f"\n\n{change}\n")
    worker = dask.worker(other_code, ATTENTION_COURSE=str(COURSE.root))
    dask.wait_for(1)
    try:
        assert sentence in refusal(dask.address)
    finally:
        dask.kill(worker)


def test_address_of_a_worker_is_not_a_schedulers(dask, other, hasty):
    worker = dask.worker(other)
    address = dask.wait_for(1)[0]
    try:
        assert "no Dask scheduler, but a Worker: give the address" in refusal(address)
    finally:
        dask.kill(worker)


def tasks(folder, students, extra):
    """Return tasks of right answers, each with a cell of its own."""
    release = load_release(COURSE, LESSON)
    for student in students:
        submission = Submission()
        submission.own(extra.format(student=student))
        if student == "b":
            submission.answer("softmax", "def softmax(x, axis=-1):\n    return x")
        if student == "c":
            submission.answer("attention", "import os\ndef attention(*_): os._exit(0)")
        handed_in = HandedIn(release, student, submission.write(folder, student))
        yield GradingTask(student, f"key of {student}", handed_in.code_cells)


SLEEPS = "import time; time.sleep(0.3); print({student!r})"


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Grade with this machine's own workers."""
    folder = tmp_path_factory.mktemp("expected")
    with Workers(COURSE, dataclasses.replace(SETTINGS, jobs=2)) as workers:
        done = workers.each(tasks(folder, "abcdefgh", SLEEPS))
        return {each.task.student: each.code_result for each in done}


@pytest.fixture(scope="module")
def two(dask):
    workers = [dask.worker(COURSE.root), dask.worker(COURSE.root)]
    dask.wait_for(2)
    yield workers
    for worker in workers:
        dask.kill(worker)


def graders(worker):
    """Return the processes that a worker has started, sandboxes and all."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return worker.children(recursive=True)
    return []


@pytest.mark.sandbox
def test_cluster_gives_the_same_verdicts_and_leaves_nothing(
    dask, two, other, expected, tmp_path, capfd
):
    other_worker = dask.worker(other)
    dask.wait_for(3)
    sentences = []
    with Cluster(COURSE, SETTINGS, dask.address, sentences.append) as cluster:
        assert len(cluster._pool.usable) == 2
        done = list(cluster.each(tasks(tmp_path, "abcdefgh", SLEEPS)))
        family = [*graders(two[0]), *graders(two[1])]
        assert graders(other_worker) == []
    dask.kill(other_worker)
    assert {each.task.student: each.code_result for each in done} == expected
    assert all(each.times["all"] > 0 for each in done)
    assert len(sentences) == 1
    assert re.match(r"not used: tcp://127.0.0.1:\d+: its course differs", sentences[0])
    assert len(family) >= 8
    assert psutil.wait_procs(family, timeout=15)[1] == []
    assert [*dask.temporary.glob("grading-*")] == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.sandbox
def test_killed_worker_costs_no_grade_and_its_sandboxes_end(
    dask, two, expected, tmp_path
):
    with Cluster(COURSE, SETTINGS, dask.address) as cluster:
        coming = cluster.each(tasks(tmp_path, "abcdefgh", SLEEPS))
        first = next(coming)
        family = until_it_grades(two[1])
        dask.kill(two[1])
        done = [first, *coming]
        assert len(cluster._pool.usable) == 1
    assert {each.task.student: each.code_result for each in done} == expected
    assert sorted(each.task.student for each in done) == [*"abcdefgh"]
    assert psutil.wait_procs(family, timeout=15)[1] == []


def until_it_grades(worker):
    """Wait until there is a child in the worker's sandbox; give all processes."""
    for _ in range(3000):
        family = graders(worker)
        if len(family) == 5:
            return family
        time.sleep(0.01)
    raise TimeoutError("nobody grades")


@pytest.mark.sandbox
def test_leaving_midway_ends_what_runs_on_the_workers(dask, two, tmp_path):
    extra = "import time; time.sleep(1.2); print({student!r})"
    with Cluster(COURSE, SETTINGS, dask.address) as cluster:
        next(cluster.each(tasks(tmp_path, "defghi", extra)))
        family = graders(two[0])
        assert len(family) >= 4
    assert psutil.wait_procs(family, timeout=15)[1] == []


REACHES = """
import os, socket, sys
def reach(address, family=socket.AF_INET):
    try:
        socket.socket(family).connect(address)
        print("reached", address)
    except OSError:
        pass
for port in {ports}:
    reach(("127.0.0.1", port))
for number in range(16):
    reach("\\0attention-course-grader-" + str(number), socket.AF_UNIX)
for name in os.environ:
    if "DASK" in name.upper() or "COURSE" in name.upper():
        print("has", name)
for module in sys.modules:
    if module.partition(".")[0] in ("distributed", "dask", "tornado", "pickle5"):
        print("has", module)
for number in range(3, 1000):
    try:
        if peer := socket.socket(fileno=os.dup(number)).getpeername():
            print("peer", peer)  # the pair to the judge has no name
    except OSError:
        pass
if os.path.exists("/proc/1"):
    print("sees", os.listdir("/proc"))
print("looked", {student!r})
"""


@pytest.mark.sandbox
def test_submission_reaches_nothing_of_the_cluster(dask, two, tmp_path):
    there = dask.wait_for(sum(worker.is_running() for worker in two))
    ports = [int(each.rpartition(":")[2]) for each in (dask.address, *there)]
    code = REACHES.replace("{ports}", str(ports))
    with Cluster(COURSE, SETTINGS, dask.address) as cluster:
        (result,) = cluster.each(tasks(tmp_path, "a", code))
    outputs = [*itertools.chain(*result.code_result.outputs.values())]
    assert [output["text"] for output in outputs] == ["looked a\n"]
    each = result.code_result.exercises
    assert [e.points for e in each] == [e.max_points for e in each]


@pytest.mark.sandbox
def test_worker_that_stops_costs_no_grade(dask, two, expected, tmp_path):
    stopped = dask.worker(COURSE.root)
    dask.wait_for(1 + sum(worker.is_running() for worker in two))
    with Cluster(COURSE, SETTINGS, dask.address) as cluster:
        n_usable = len(cluster._pool.usable)
        coming = cluster.each(tasks(tmp_path, "abcdefgh", SLEEPS))
        first = next(coming)
        family = until_it_grades(stopped)
        stopped.suspend()
        done = [first, *coming]
        assert len(cluster._pool.usable) == n_usable - 1
    assert {each.task.student: each.code_result for each in done} == expected
    stopped.kill()
    assert psutil.wait_procs(family, timeout=15)[1] == []


@pytest.mark.sandbox
def test_scheduler_that_stops_is_one_sentence(dask, two, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(pool_module, "SILENCE", 2.0)
    monkeypatch.setattr(pool_module, "ENDING", 1.0)
    scheduler = psutil.Process(dask.processes[0].pid)
    try:
        with (
            pytest.raises(CourseError) as caught,
            Cluster(COURSE, SETTINGS, dask.address) as cluster,
        ):
            for _ in cluster.each(tasks(tmp_path, "abcdefgh", SLEEPS)):
                scheduler.suspend()
    finally:
        scheduler.resume()
    assert str(caught.value).startswith(f"the Dask scheduler at {dask.address} is gone")
    assert capfd.readouterr() == ("", "")


@pytest.mark.sandbox
def test_scheduler_that_ends_is_one_sentence_and_grades_stay(
    dask, two, tmp_path, capfd
):
    done = []
    with (
        pytest.raises(CourseError) as caught,
        Cluster(COURSE, SETTINGS, dask.address) as cluster,
    ):
        for each in cluster.each(tasks(tmp_path, "abcdefgh", SLEEPS)):
            done.append(each)
            dask.processes[0].kill()
    assert str(caught.value).startswith(f"the Dask scheduler at {dask.address} is gone")
    assert 1 <= len(done) < 8
    assert capfd.readouterr() == ("", "")
