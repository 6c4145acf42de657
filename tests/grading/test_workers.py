"""Processes that grade beside each other: one that dies costs no submission."""

import contextlib
import multiprocessing
import shutil
import signal
import tempfile
import threading
import time

import psutil
import pytest

from autograder.course import Course, CourseError
from autograder.grading import workers as workers_module
from autograder.grading.inside.isolation import Limits
from autograder.grading.release import load_release
from autograder.grading.submission import Submission as HandedIn
from autograder.grading.workers import Folders, GradingTask, Settings, Workers
from tests.grading import fake_workers
from tests.grading.engines import SEED, SHORT
from tests.submissions import COURSE, LESSON, MAX_POINTS, Submission


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Return the folder in which temporary folders are made."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def fake(monkeypatch, scratch):
    fake_workers.replace_workers(monkeypatch)


def settings(jobs):
    return Settings(LESSON, SEED, jobs, budget=SHORT)


def grade(jobs, *students):
    """Grade students; return their results, as they came in, and the workers."""
    tasks = [GradingTask(name, name, ()) for name in students]
    with Workers(COURSE, settings(jobs)) as workers:
        return list(workers.each(tasks)), workers


def running_children():
    """Return the processes that this one has started and that still run."""
    children = psutil.Process().children(recursive=True)
    return [p for p in children if "resource_tracker" not in " ".join(p.cmdline())]


def test_each_submission_returns_once_and_leaves_no_process(fake, scratch):
    done, _ = grade(2, *"abcdefg")
    assert sorted(each.task.student for each in done) == [*"abcdefg"]
    assert all(each.code_result for each in done)
    assert running_children() == []
    assert [*scratch.iterdir()] == []


def test_workers_are_no_more_than_jobs_or_submissions(fake):
    for jobs, most in ((2, 2), (5, 3)):
        done, workers = grade(jobs, *"abc")
        assert len({each.code_result.exercises[0].report for each in done}) <= most
        assert workers._started <= most


def test_one_worker_grades_in_order(fake):
    done, _ = grade(1, *"cab")
    assert [each.task.student for each in done] == [*"cab"]
    assert len({each.code_result.exercises[0].report for each in done}) == 1


def test_worker_that_dies_costs_no_result(fake):
    done, workers = grade(1, "a", "once-dies", "b")
    assert [each.task.student for each in done] == ["a", "once-dies", "b"]
    assert all(each.code_result for each in done)
    assert workers._started == 2


def test_submission_that_kills_three_workers_is_a_fault(fake):
    done, workers = grade(1, "a", "dies", "b")
    faults = {each.task.student: each.fault for each in done}
    assert faults == {"a": "", "dies": "the grader died (-9)", "b": ""}
    assert workers._started == 4


def test_worker_that_exits_is_replaced(fake):
    done, _ = grade(1, "exits", "b")
    assert [each.fault for each in done] == ["the grader died (1)", ""]


def test_engine_fault_does_not_end_its_worker(fake):
    done, workers = grade(1, "fault", "b")
    assert done[0].code_result is None
    assert "KeyError: 'softmax'" in done[0].fault
    assert done[1].code_result
    assert workers._started == 1


def test_slow_submission_is_retried_at_the_end(fake):
    done, _ = grade(2, "slow-1", "a", "slow-2", "b")
    assert {each.task.student for each in done[2:]} == {"slow-1", "slow-2"}
    assert [each.task.last_try for each in done[2:]] == [True, True]
    assert all(each.code_result for each in done)


def test_missing_isolation_ends_grading_and_every_process(fake, scratch):
    with pytest.raises(CourseError, match="cannot be isolated"):
        grade(2, "refused", "waits")
    assert running_children() == []
    assert [*scratch.iterdir()] == []


def test_early_exit_ends_every_process(fake, scratch):
    tasks = [GradingTask(name, name, ()) for name in ("a", "waits", "waits", "b")]
    with Workers(COURSE, settings(2)) as workers:
        next(workers.each(tasks))
        assert len(running_children()) == 2
    assert running_children() == []
    assert [*scratch.iterdir()] == []


def test_engine_of_a_worker_gets_all_settings_of_the_run(monkeypatch, tmp_path):
    started = {}

    @contextlib.contextmanager
    def engine(course, lesson, **options):
        started.update(options, root=course.root, lesson=lesson)
        yield

    monkeypatch.setattr(workers_module, "Engine", engine)
    ours, others = multiprocessing.Pipe()
    ours.close()  # there is no task
    limits = Limits(memory=2**28)
    wanted = Settings(LESSON, SEED, 1, False, SHORT, limits)
    workers_module.work(others, Folders(COURSE.root, tmp_path), wanted, 5)
    others.close()
    assert started == {
        "root": COURSE.root,
        "lesson": LESSON,
        "folder": tmp_path,
        "isolation": "none",
        "budget": SHORT,
        "limits": limits,
        "seed": SEED,
        "worker": 5,
        "control": None,
    }


def test_workers_ignore_keyboard_interrupt(fake):
    before = signal.getsignal(signal.SIGINT)
    tasks = [GradingTask(name, name, ()) for name in ("a", "waits")]
    with Workers(COURSE, settings(1)) as workers:
        results = workers.each(tasks)
        next(results)
        for process in running_children():
            process.send_signal(signal.SIGINT)
        assert next(results).code_result
        assert workers._started == 1
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.thorough
@pytest.mark.sandbox
def test_killed_worker_and_killed_sandbox_cost_no_points(tmp_path, scratch):
    root = tmp_path / "course"
    shutil.copytree(COURSE.root / "notebooks", root / "notebooks")
    tasks, release = [], load_release(COURSE, LESSON)
    for student in "abcdef":
        submission = Submission()
        submission.own("import time; time.sleep(0.5)")
        handed_in = HandedIn(release, student, submission.write(root, student))
        tasks.append(GradingTask(student, student, handed_in.code_cells))
    with Workers(Course(root), settings(2)) as workers:
        killed = []
        killing = threading.Thread(target=kill_all_kinds, args=(workers, killed))
        killing.start()
        done = list(workers.each(tasks))
        killing.join()
        worker, shared, own = map(len, killed)
        assert (worker, own) == (1, 4)
        assert shared >= 4
        assert workers._started == 5
    assert sorted(each.task.student for each in done) == [*"abcdef"]
    assert [each.fault for each in done] == [""] * 6
    results = [handed_in.result(each.code_result) for each in done]
    assert all(each.points == MAX_POINTS for each in results)
    assert running_children() == []
    assert [*scratch.iterdir()] == []


def kill_all_kinds(workers, killed):
    """Kill a worker, the sandbox that is shared, one's own; list what has ended."""
    busy = busy_worker(workers, n_own=0)
    busy[0].kill()
    killed.append(psutil.wait_procs(busy, timeout=10)[0])
    shared = psutil.Process(workers._sandbox.process)
    while len(boxes := [shared, *shared.children(recursive=True)]) < 4:
        time.sleep(0.01)
    shared.kill()
    killed.append(psutil.wait_procs(boxes, timeout=10)[0])
    _, *boxes = busy_worker(workers, n_own=4)
    boxes[0].kill()
    killed.append(psutil.wait_procs(boxes, timeout=10)[0])


def busy_worker(workers, n_own):
    """Return a worker that grades, with the processes of a sandbox of its own."""
    for _ in range(3000):
        for each in list(workers._workers.values()):
            with contextlib.suppress(psutil.NoSuchProcess):
                worker = psutil.Process(each.process.pid)
                boxes = worker.children(recursive=True)
                if workers._worked and each.task and len(boxes) == n_own:
                    return [worker, *boxes]
        time.sleep(0.01)
    raise TimeoutError("nobody grades")


def test_later_sandbox_failure_costs_one_submission_only(fake):
    # A new worker's sandbox may be killed while it starts: memory may be short.
    done, _ = grade(1, "a", "refused", "b")
    assert [each.task.student for each in done if each.code_result] == ["a", "b"]
    assert "cannot be isolated" in done[1].fault
