"""Odd, silent and mortal workers of a cluster: no class is stopped, no grade is wrong.

The workers here are functions; what is between them and the class is the real thing.
"""

import itertools
import json
import pickle
import sys
from concurrent.futures import Future

import pytest

from autograder.checking.registry import load
from autograder.commands import app as cli
from autograder.course import CourseError
from autograder.grading.budget import Budget
from autograder.grading.dask import cluster as cluster_module
from autograder.grading.dask import pool as pool_module
from autograder.grading.dask import worker as worker_module
from autograder.grading.dask.answer import ChunkResult, written
from autograder.grading.dask.cluster import Cluster
from autograder.grading.dask.pool import PROBE, WorkerPool
from autograder.grading.inside import seccomp
from autograder.grading.judging import no_answer
from autograder.grading.release import load_release
from autograder.grading.result import CodeResult
from autograder.grading.workers import GradingTask, GradingTaskResult, Settings
from tests.grading import fake_workers
from tests.submissions import COURSE, LESSON, Submission, open_course

HONEST, ODD = "tcp://honest:1", "tcp://odd:1"
STUDENTS = [*"abcdefghijklmnopqrst"]
RELEASED = load_release(COURSE, LESSON).exercises
NOTHING = CodeResult(tuple(no_answer(load(name)) for name in RELEASED))


class FakeFuture(Future):
    """A future of Dask's, as far as it is used."""

    status = "finished"
    key = ""

    def cancel(self, **_):
        """Leave it as it is."""


class FakeClient:
    """A client of a cluster whose workers are functions.

    workers : address to a function from a message to an answer; None: never answers
    """

    def __init__(self, workers):
        self.workers = workers
        self.status = "running"
        self.scheduler = self
        self.sent = {worker: [] for worker in workers}
        self.answered = {}
        self._turns = itertools.count()

    def submit(self, _, text, arguments, *, key, workers):
        assert text.endswith(".grade(argument)")
        there = [each for each in sorted(workers) if each in self.workers]
        worker = there[next(self._turns) % len(there)]
        future = FakeFuture()
        future.key = key
        self.sent[worker].append(key)
        answer = self.workers[worker](arguments["argument"], worker)
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        elif answer is not None:
            self.sent[worker].remove(key)
            self.answered[key] = worker
            future.set_result(answer)
        return future

    def sync(self, function, *, callback_timeout, **options):
        return function(**options)

    def who_has(self, keys):
        return {key: (self.answered[key],) for key in keys}

    def ncores(self):
        return dict.fromkeys(self.workers, 1)

    def processing(self):
        return self.sent

    def cancel(self, *_, **__):
        """Nothing runs."""

    run = close = cancel


def honest(message, worker):
    tasks = pickle.loads(message)[1]
    results = [GradingTaskResult(task, NOTHING, {"all": 0.5}) for task in tasks]
    return written(ChunkResult(worker, results))


def odd(change):
    """Return a worker that passes the probe, and then changes what it answers."""

    def answer(message, worker):
        right = honest(message, worker)
        return right if pickle.loads(message)[1] == [PROBE] else change(right)

    return answer


def changed(**changes):
    """Return a change of some fields of the answer."""
    return lambda answer: json.dumps(json.loads(answer) | changes)


def of_each(change):
    """Return a change of each result."""

    def apply(answer):
        data = json.loads(answer)
        for result in data["results"]:
            change(result)
        return json.dumps(data)

    return apply


def of_verdicts(change):
    """Return a change of each submission's verdicts."""

    def apply(result):
        judged = json.loads(result["judged"])
        change(judged)
        result["judged"] = json.dumps(judged)

    return of_each(apply)


def of_case(name, value):
    return of_verdicts(lambda v: v["exercises"][0]["cases"][0].update({name: value}))


def of_exercise(name, value):
    return of_verdicts(lambda v: v["exercises"][0].update({name: value}))


def doubled(answer):
    data = json.loads(answer)
    return json.dumps(data | {"results": data["results"] * 2})


def exchanged(answer):
    """Answer for a student who has not been asked for."""
    data = json.loads(answer)
    data["results"][0]["key"] = "key of somebody else"
    return json.dumps(data)


def slow(answer):
    data = json.loads(answer)
    keys = [each["key"] for each in data["results"]]
    return json.dumps(data | {"results": [], "slow": keys})


ODD_ANSWERS = {
    "none_of_ours": lambda answer: 17,
    "class_of_another_version": lambda answer: ChunkResult(ODD),
    "no_json": lambda answer: answer[:-1],
    "deep_json": lambda answer: "[" * 100_000,
    "list": lambda answer: "[]",
    "nobody": changed(results=[]),
    "everybody_twice": doubled,
    "somebody_else": exchanged,
    "another_address": changed(worker="tcp://nobody:1"),
    "address_that_is_no_text": changed(worker=["x"]),
    "no_address": lambda answer: answer.replace('"worker"', '"peer"'),
    "refusal_that_is_no_text": changed(results=[], refusal={"why": 1}),
    "neither_verdicts_nor_fault": of_each(lambda r: r.update(judged="")),
    "verdicts_that_are_a_list": of_each(lambda r: r.update(judged="[]")),
    "times_that_are_words": of_each(lambda r: r.update(times={"all": "long"})),
    "times_that_are_nan": of_each(lambda r: r.update(times={"all": float("nan")})),
    "no_exercises": of_verdicts(lambda v: v.update(exercises=[])),
    "another_lessons": of_exercise("exercise", "train_bpe"),
    "more_points_than_there_are": of_exercise("points", 1e6),
    "points_below_zero": of_exercise("points", -1.0),
    "points_that_are_nan": of_exercise("points", float("nan")),
    "points_that_are_text": of_exercise("points", "9"),
    "another_maximum": of_exercise("max_points", 1e6),
    "more_points_of_a_case": of_case("points", 1e6),
    "status_of_another_version": of_case("status", "excellent"),
    "why_that_is_no_text": of_case("why", 7),
    "field_of_another_version": of_case("colour", "red"),
    "flags_that_are_text": of_exercise("flags", "review"),
    "outputs_that_are_text": of_verdicts(lambda v: v.update(outputs={"0": "text"})),
}


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    for name in ("REFRESH", "RESTART", "JOINING"):
        monkeypatch.setattr(pool_module, name, 0.01)
    monkeypatch.setattr(cluster_module, "course_version", lambda *_: "version")


def graded(workers, students=STUDENTS, settings=None):
    """Grade students on such workers; return the results and what was printed."""
    settings = settings or Settings(LESSON, 1)
    sentences = []
    cluster = Cluster(COURSE, settings, "tcp://nowhere:1", sentences.append)
    client = FakeClient(workers)
    cluster._pool = WorkerPool(
        client, cluster.address, cluster._run, cluster._exercises, sentences.append
    )
    cluster._pool.probe()
    tasks = [GradingTask(name, f"key of {name}", ()) for name in students]
    return [*cluster.each(tasks)], sentences


@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_odd_answer_costs_its_worker_its_work_only(name):
    results, sentences = graded({ODD: odd(ODD_ANSWERS[name]), HONEST: honest})
    assert sorted(each.task.student for each in results) == STUDENTS
    assert [each.task.key for each in results if each.code_result != NOTHING] == []
    assert [each.fault for each in results if each.fault] == []
    (sentence,) = sentences
    assert sentence.startswith(f"not used: {ODD}: it answers with ")
    assert "\n" not in sentence


def test_only_odd_workers_end_in_one_sentence():
    with pytest.raises(CourseError) as caught:
        graded({ODD: odd(changed(results=[]))})
    assert "can grade: tcp://odd:1: it answers with no result" in str(caught.value)


def test_last_try_that_is_slow_is_an_odd_answer():
    with pytest.raises(CourseError, match="it answers with a last try that is no"):
        graded({ODD: odd(slow)})


def test_worker_that_answers_its_probe_oddly_gets_no_work():
    results, sentences = graded({ODD: lambda *_: 17, HONEST: honest})
    assert len(results) == len(STUDENTS)
    assert len(sentences) == 1


def test_students_name_is_never_the_workers_word():
    task = GradingTask("amara", "key of amara", ())
    other = GradingTask("zoe", "key of amara", (), deaths=7)
    results = [GradingTaskResult(other, NOTHING, {})]

    def answer(message, worker):
        asked = pickle.loads(message)[1]
        return (
            honest(message, worker)
            if asked == [PROBE]
            else written(ChunkResult(worker, results))
        )

    (result,), _ = graded({HONEST: answer}, ["amara"])
    assert result.task == task


def test_texts_that_cannot_be_encoded_are_stored(tmp_path):
    surrogates = of_exercise("report", "\ud800 \x00")
    (result,), _ = graded({ODD: odd(surrogates)}, ["amara"])
    assert result.code_result.as_json().encode()
    fault = of_each(lambda r: r.update(judged="", fault="x" * 10**6 + "\ud800"))
    (result,), _ = graded({ODD: odd(fault)}, ["amara"])
    assert len(result.fault.encode()) < 10_000


def test_worker_that_never_answers_loses_its_work_to_another(monkeypatch):
    monkeypatch.setattr(pool_module, "GRACE", 0.01)
    settings = Settings(LESSON, 1, budget=Budget(submission=0.1))
    silent = odd(lambda answer: None)
    results, sentences = graded({ODD: silent, HONEST: honest}, settings=settings)
    assert sorted(each.task.student for each in results) == STUDENTS
    assert [each.fault for each in results if each.fault] == []
    (sentence,) = sentences
    assert sentence.startswith(f"not used: {ODD}: it has not answered for ")


def test_only_silent_workers_end_in_one_sentence(monkeypatch):
    monkeypatch.setattr(pool_module, "GRACE", 0.01)
    settings = Settings(LESSON, 1, budget=Budget(submission=0.1))
    with pytest.raises(CourseError, match="it has not answered for"):
        graded({ODD: odd(lambda answer: None)}, settings=settings)


def test_probe_without_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(pool_module, "FIRST_PROBE", 0.2)
    monkeypatch.setattr(pool_module, "OTHER_PROBES", 0.1)
    refuses = odd(changed(results=[], refusal="its sandbox has gone"))
    with pytest.raises(CourseError, match="its sandbox has gone"):
        graded({ODD: lambda *_: None, HONEST: refuses})


def test_worker_that_dies_over_and_over_leaves_a_reason_for_each(monkeypatch):
    dies = odd(lambda answer: ConnectionError("the worker has died"))
    results, _ = graded({ODD: dies}, ["amara", "zoe"])
    assert sorted(each.task.student for each in results) == ["amara", "zoe"]
    faults = {each.fault for each in results}
    assert faults == {"the grader died (ConnectionError: the worker has died)"}


def test_worker_of_a_machine_without_a_filter_is_named(monkeypatch):
    monkeypatch.setattr(worker_module.platform, "machine", lambda: "riscv64")
    assert "riscv64" not in seccomp.MACHINES
    note = worker_module._note()

    def unfiltered(message, worker):
        return changed(note=note)(honest(message, worker))

    _, sentences = graded({HONEST: unfiltered})
    assert sentences == [f"{HONEST}: system calls are not filtered there (riscv64)"]


def test_task_that_cannot_be_unpickled_is_refused_not_lost(monkeypatch):
    monkeypatch.setattr(worker_module, "_address", lambda: HONEST)

    def old(message, worker):
        return worker_module.grade(b"\x80\x05cautograder.nowhere\nGone\n.")

    with pytest.raises(CourseError, match="does not understand its task"):
        graded({HONEST: old})


@pytest.mark.parametrize(
    ("address", "protected"),
    [
        ("tcp://127.0.0.1:8786", True),
        ("tcp://[::1]:8786", True),
        ("localhost:8786", True),
        ("tls://grading.example.org:8786", True),
        ("tcp://192.168.0.7:8786", False),
        ("tcp://127.0.0.1.example.org:8786", False),
        ("grading.example.org:8786", False),
    ],
)
def test_address_that_others_can_listen_to_is_named(address, protected):
    assert cluster_module._is_protected(address) is protected


# --- what a worker is told ---------------------------------------------------------


FAKE_GRADER = """\
import sys
sys.path.insert(0, {!r})
from autograder.grading.dask import worker
from tests.grading import fake_workers
worker.work = fake_workers.work
worker.serve(int(sys.argv[1]))
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Make a course folder with a submission that asks for its budget."""
    folder = open_course(tmp_path / "course")
    monkeypatch.chdir(folder)
    Submission().write(folder, "budget")
    return folder


@pytest.fixture
def through_dask(monkeypatch):
    """Grade in processes as Dask's workers start them, without a sandbox."""
    monkeypatch.setattr(worker_module, "START", FAKE_GRADER.format(str(COURSE.root)))
    monkeypatch.setattr(worker_module, "_address", lambda: HONEST)
    monkeypatch.setattr(worker_module, "_compare", lambda *_: None)

    def answer(message, worker):
        if pickle.loads(message)[1] == [PROBE]:
            return honest(message, worker)
        return worker_module.grade(message)

    monkeypatch.setattr(
        cluster_module, "connect", lambda _: FakeClient({HONEST: answer})
    )
    yield
    for run in [*worker_module._runs]:
        worker_module.dismiss(run)


@pytest.mark.parametrize("where", [[], ["--dask", "tcp://127.0.0.1:1"]])
@pytest.mark.parametrize(
    ("options", "configured", "seconds"),
    [
        ([], "", 300),
        ([], "c.AutogradeExporter.seconds_per_submission = 60", 60),
        (
            ["--seconds-per-submission", "90"],
            "c.AutogradeExporter.seconds_per_submission = 60",
            90,
        ),
    ],
)
def test_seconds_of_a_submission_reach_every_worker(
    root, through_dask, monkeypatch, capsys, where, options, configured, seconds
):
    fake_workers.replace_workers(monkeypatch)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(configured + "\n")
    words = ["autograder", "grade", "01", "--no-gradebook", *where, *options]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        cli.run()
    assert end.value.code == 1
    assert f"it may take {seconds} seconds" in capsys.readouterr().err
