"""Grading on a Dask cluster: who may grade there, and that no loss costs a grade."""

import contextlib
import dataclasses
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

SETTINGS = Settings(LESSON, SEED, budget=SHORT)


# --- what becomes of each task, whatever the workers do --------------------------


class FakePool:
    """Workers that answer at once, as the test's script says.

    script : student to what comes of each attempt: ok, slow, fault, lost, refused
    """

    def __init__(self, script=()):
        self.script = {name: deque(told.split()) for name, told in dict(script).items()}
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
        """What comes of a chunk: the worst of what its tasks do to a worker."""
        told = {task.key: self._told(task) for task in tasks}
        if "lost" in told.values():
            return ChunkResult("", ungraded=[*tasks], refusal="its worker was lost")
        answer = ChunkResult(worker)
        for task in tasks:
            if told[task.key] == "slow":
                answer.slow.append(dataclasses.replace(task, last_try=True))
            elif told[task.key] == "fault":
                answer.results.append(
                    GradingTaskResult(task, None, {}, "KeyError: 'softmax'")
                )
            elif told[task.key] == "refused":
                answer.ungraded.append(task)
            else:
                answer.results.append(GradingTaskResult(task, CodeResult(()), {}))
        refusal = "no sandbox" if answer.ungraded else ""
        return dataclasses.replace(answer, refusal=refusal)

    def _told(self, task):
        left = self.script.get(task.student)
        return left.popleft() if left else "ok"


def outcomes(students, **script):
    """Have students graded by fake workers; give the faults, in order, and the crew."""
    cluster = Cluster(COURSE, SETTINGS, "tcp://nowhere:1")
    cluster._pool = crew = FakePool(script)
    tasks = (GradingTask(name, f"key of {name}", ()) for name in students)
    return [(done.task.student, done.fault) for done in cluster.each(tasks)], crew


def test_each_task_comes_back_once_in_chunks_that_grow():
    names = [f"s{place}" for place in range(200)]
    done, crew = outcomes(names)
    assert done == [(name, "") for name in names]
    sizes = [len(students) for students, _ in crew.sent]
    assert sizes[:4] == [1] * 4  # a small class is shared by all workers
    assert max(sizes) == cluster_module.CHUNK
    assert sizes[:-1] == sorted(sizes[:-1])


def test_tasks_are_taken_only_a_little_before_they_are_needed():
    taken = []

    def tasks():
        for place in range(500):
            taken.append(place)
            yield GradingTask(f"s{place}", f"{place}", ())

    cluster = Cluster(COURSE, SETTINGS, "tcp://nowhere:1")
    cluster._pool = FakePool()
    most = cluster_module.CHUNKS_AHEAD * 2 * cluster_module.CHUNK
    for count, _ in enumerate(cluster.each(tasks())):
        assert len(taken) <= count + most
    assert len(taken) == 500


def test_an_empty_class_asks_nobody():
    assert outcomes([])[0] == []


def test_what_took_too_long_comes_last_one_at_a_time():
    done, crew = outcomes("abcdef", b="slow", d="slow")
    assert [name for name, _ in done] == [*"acefbd"]
    assert crew.sent[-2:] == [(["b"], ["one"]), (["d"], ["one"])]


def test_of_a_chunk_that_kills_workers_only_the_guilty_one_has_a_fault():
    names = [f"s{place}" for place in range(40)]
    guilty = "s30"
    done, crew = outcomes(names, **{guilty: "lost lost lost ok"})
    assert sorted(done) == sorted(
        (name, "the grader died (its worker was lost)" if name == guilty else "")
        for name in names
    )
    with_it = [students for students, _ in crew.sent if guilty in students]
    assert len(with_it) == 3
    assert len(with_it[0]) > 1
    assert with_it[1:] == [[guilty], [guilty]]


def test_a_worker_that_is_lost_twice_costs_no_grade():
    done, _ = outcomes("abcd", c="lost lost ok")
    assert sorted(done) == [(name, "") for name in "abcd"]


def test_a_fault_is_tried_once_more_on_another_worker():
    done, crew = outcomes("abcd", b="fault ok", c="fault fault ok")
    faults = dict(done)
    assert faults == {"a": "", "b": "", "c": "KeyError: 'softmax'", "d": ""}
    assert crew.sent[-2:] == [(["b"], ["two"]), (["c"], ["two"])]


def test_a_worker_that_refuses_in_the_middle_is_told_of_and_costs_no_grade():
    done, crew = outcomes("abcd", b="refused refused refused refused ok")
    assert sorted(done) == [(name, "") for name in "abcd"]
    assert crew.refused == [("one", "no sandbox")] * 4


# --- addresses -------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(pool_module, "JOINING", 0.0)


def refusal(address, **options):
    with (
        pytest.raises(CourseError) as told,
        Cluster(COURSE, SETTINGS, address, **options),
    ):
        raise AssertionError("somebody has been found")
    assert "\n" not in str(told.value)
    return str(told.value)


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def place_of(server):
    return f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_a_dead_address_is_one_sentence(hasty, listener, capfd):
    address = place_of(listener)
    listener.close()
    told = refusal(address)
    assert told.startswith(f"there is no Dask scheduler at '{address}' (nobody answers")
    assert "tcp://host:8786" in told
    assert capfd.readouterr() == ("", "")


def test_an_address_where_somebody_is_silent_is_one_sentence(hasty, listener):
    told = refusal(place_of(listener))
    assert "(nobody answers there, or not as one would)" in told


def test_another_protocol_is_one_sentence(hasty, listener):
    def talk():
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n" * 3)
            connection.recv(1000)

    thread = threading.Thread(target=talk)
    thread.start()
    assert refusal(place_of(listener)).startswith("there is no Dask scheduler at")
    thread.join()


@pytest.mark.parametrize("address", ["", "localhost", "foo://x:1", "tcp://x:y", "a b"])
def test_an_address_that_is_none_is_one_sentence(address, hasty):
    assert f"no Dask scheduler at {address!r}" in refusal(address)


def test_tls_without_a_configuration_is_one_sentence(hasty):
    assert "TLS configuration" in refusal("tls://127.0.0.1:1")


def test_a_missing_package_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'attention-course[dask]'" in refusal("tcp://127.0.0.1:1")


def test_another_version_of_dask_is_named(monkeypatch):
    async def ask(address):
        packages = {"distributed": "2020.1.0", "dask": "2020.1.0"}
        return {"type": "Scheduler"}, {"packages": packages}

    monkeypatch.setattr(cluster_module, "_ask", ask)
    told = refusal("tcp://127.0.0.1:1")
    assert "runs distributed 2020.1.0, and here it is 20" in told


# --- a real cluster --------------------------------------------------------------


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    cluster = DaskCluster(tmp_path_factory.mktemp("dask"))
    yield cluster
    cluster.close()


def test_a_cluster_without_workers_says_how_to_start_some(dask, hasty):
    told = refusal(dask.address)
    assert told.startswith(f"there is no worker at {dask.address}: start some")
    assert f"dask worker {dask.address}" in told


@pytest.fixture
def other(tmp_path):
    """Another course folder, in which a notebook is not the same."""
    root = tmp_path / "other"
    shutil.copytree(COURSE.root / "notebooks", root / "notebooks")
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    with Course(root).learner(LESSON).open("a") as file:
        file.write("\n")
    return root


def test_workers_that_do_not_fit_are_refused_with_what_differs(dask, other, tmp_path):
    workers = [dask.worker(other), dask.worker(tmp_path)]
    dask.wait_for(2)
    try:
        told = refusal(dask.address)
    finally:
        for worker in workers:
            dask.kill(worker)
    assert told.startswith(f"no worker at {dask.address} can grade: tcp://127.0.0.1:")
    assert re.search(
        r"its course differs from this one in the notebook of "
        rf"{LESSON} \(\w{{8}}, not \w{{8}}\): bring both",
        told,
    )
    assert f"it runs outside of a course folder, in {tmp_path}: start it in one" in told


def test_the_address_of_a_worker_is_told_from_a_schedulers(dask, other, hasty):
    worker = dask.worker(other)
    address = dask.wait_for(1)[0]
    try:
        assert "no Dask scheduler, but a Worker: give the address" in refusal(address)
    finally:
        dask.kill(worker)


def tasks(folder, students, extra):
    """Give tasks of right answers, each with a cell of its own."""
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
    """What this machine's own workers say."""
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
    """Give the processes that a worker has started, sandboxes and all."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return worker.children(recursive=True)
    return []


@pytest.mark.thorough
@pytest.mark.sandbox
def test_a_cluster_gives_the_same_verdicts_and_leaves_nothing(
    dask, two, other, expected, tmp_path, capfd
):
    stranger = dask.worker(other)
    dask.wait_for(3)
    said = []
    with Cluster(COURSE, SETTINGS, dask.address, said.append) as cluster:
        assert len(cluster._pool.usable) == 2
        done = list(cluster.each(tasks(tmp_path, "abcdefgh", SLEEPS)))
        family = [*graders(two[0]), *graders(two[1])]
        assert graders(stranger) == []
    dask.kill(stranger)
    assert {each.task.student: each.code_result for each in done} == expected
    assert all(each.times["all"] > 0 for each in done)
    assert len(said) == 1
    assert re.match(r"not used: tcp://127.0.0.1:\d+: its course differs", said[0])
    assert len(family) >= 8
    assert psutil.wait_procs(family, timeout=15)[1] == []
    assert [*dask.temporary.glob("grading-*")] == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.thorough
@pytest.mark.sandbox
def test_a_worker_that_is_killed_costs_no_grade_and_its_sandboxes_end(
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


@pytest.mark.thorough
@pytest.mark.sandbox
def test_leaving_in_the_middle_ends_what_runs_on_the_workers(dask, two, tmp_path):
    extra = "import time; time.sleep(1.2); print({student!r})"
    with Cluster(COURSE, SETTINGS, dask.address) as cluster:
        next(cluster.each(tasks(tmp_path, "defghi", extra)))
        family = graders(two[0])
        assert len(family) >= 4
    assert psutil.wait_procs(family, timeout=15)[1] == []


@pytest.mark.thorough
@pytest.mark.sandbox
def test_a_scheduler_that_ends_is_one_sentence_and_the_first_grades_stay(
    dask, two, tmp_path, capfd
):
    done = []
    with (
        pytest.raises(CourseError) as told,
        Cluster(COURSE, SETTINGS, dask.address) as cluster,
    ):
        for each in cluster.each(tasks(tmp_path, "abcdefgh", SLEEPS)):
            done.append(each)
            dask.processes[0].kill()
    assert str(told.value).startswith(f"the Dask scheduler at {dask.address} is gone")
    assert 1 <= len(done) < 8
    assert capfd.readouterr() == ("", "")
