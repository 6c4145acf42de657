"""Processes that grade beside each other: one that dies costs no submission."""

import contextlib
import shutil
import signal
import tempfile
import threading
import time

import psutil
import pytest

from autograder.course import Course, CourseError
from autograder.grading import workers as module
from autograder.grading.release import load_release
from autograder.grading.submission import Submission as HandedIn
from autograder.grading.workers import GradingTask, Settings, Workers
from tests.grading import fake_workers
from tests.grading.engines import SEED, SHORT
from tests.submissions import COURSE, LESSON, Submission


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where temporary folders are made, to see what is left of them."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def fake(monkeypatch, scratch):
    monkeypatch.setattr(module, "work", fake_workers.work)


def settings(jobs):
    return Settings(LESSON, SEED, jobs, budget=SHORT)


def done_of(jobs, *students):
    """Have students graded; give what came of each, in the order in which it came."""
    tasks = [GradingTask(name, name, ()) for name in students]
    with Workers(COURSE, settings(jobs)) as workers:
        return list(workers.each(tasks)), workers


def left():
    """Give the processes that this one has started and that still run."""
    found = psutil.Process().children(recursive=True)
    return [p for p in found if "resource_tracker" not in " ".join(p.cmdline())]


def test_each_submission_comes_back_once_and_no_process_is_left(fake, scratch):
    done, _ = done_of(2, *"abcdefg")
    assert sorted(each.task.student for each in done) == [*"abcdefg"]
    assert all(each.code_result for each in done)
    assert left() == []
    assert [*scratch.iterdir()] == []


def test_there_are_no_more_processes_than_jobs_and_no_more_than_submissions(fake):
    for jobs, most in ((2, 2), (5, 3)):
        done, workers = done_of(jobs, *"abc")
        assert len({each.code_result.exercises[0].report for each in done}) <= most
        assert workers._started <= most


def test_one_worker_grades_one_after_another_in_the_given_order(fake):
    done, _ = done_of(1, *"cab")
    assert [each.task.student for each in done] == [*"cab"]
    assert len({each.code_result.exercises[0].report for each in done}) == 1


def test_a_worker_that_dies_costs_nothing(fake):
    done, workers = done_of(1, "a", "once-dies", "b")
    assert [each.task.student for each in done] == ["a", "once-dies", "b"]
    assert all(each.code_result for each in done)
    assert workers._started == 2


def test_a_submission_over_which_three_die_is_a_fault_and_the_class_goes_on(fake):
    done, workers = done_of(1, "a", "dies", "b")
    faults = {each.task.student: each.fault for each in done}
    assert faults == {"a": "", "dies": "the grader died (-9)", "b": ""}
    assert workers._started == 4


def test_a_worker_that_gives_up_is_replaced_like_one_that_dies(fake):
    done, _ = done_of(1, "exits", "b")
    assert [each.fault for each in done] == ["the grader died (1)", ""]


def test_a_fault_of_the_engine_does_not_end_its_worker(fake):
    done, workers = done_of(1, "fault", "b")
    assert done[0].code_result is None
    assert "KeyError: 'softmax'" in done[0].fault
    assert done[1].code_result
    assert workers._started == 1


def test_what_took_too_long_is_tried_once_more_at_the_end(fake):
    done, _ = done_of(2, "slow-1", "a", "slow-2", "b")
    assert {each.task.student for each in done[2:]} == {"slow-1", "slow-2"}
    assert [each.task.last_try for each in done[2:]] == [True, True]
    assert all(each.code_result for each in done)


def test_a_refusal_ends_the_class_and_every_process(fake, scratch):
    with pytest.raises(CourseError, match="cannot be isolated"):
        done_of(2, "refused", "waits")
    assert left() == []
    assert [*scratch.iterdir()] == []


def test_leaving_in_the_middle_ends_every_process_at_once(fake, scratch):
    tasks = [GradingTask(name, name, ()) for name in ("a", "waits", "waits", "b")]
    with Workers(COURSE, settings(2)) as workers:
        next(workers.each(tasks))
        assert len(left()) == 2
    assert left() == []
    assert [*scratch.iterdir()] == []


def test_an_interrupt_from_the_keyboard_is_not_for_the_workers(fake):
    before = signal.getsignal(signal.SIGINT)
    tasks = [GradingTask(name, name, ()) for name in ("a", "waits")]
    with Workers(COURSE, settings(1)) as workers:
        coming = workers.each(tasks)
        next(coming)
        for process in left():
            process.send_signal(signal.SIGINT)
        assert next(coming).code_result
        assert workers._started == 1
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.thorough
@pytest.mark.sandbox
def test_neither_a_killed_worker_nor_a_killed_sandbox_costs_anybody_a_point(
    tmp_path, scratch
):
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
        killing = threading.Thread(target=kill_twice, args=(workers, killed))
        killing.start()
        done = list(workers.each(tasks))
        killing.join()
        assert [*map(len, killed)] == [4, 4]
        assert workers._started == 4
    assert sorted(each.task.student for each in done) == [*"abcdef"]
    assert [each.fault for each in done] == [""] * 6
    found = [handed_in.result(each.code_result) for each in done]
    assert all(each.points == each.max_points for each in found)
    assert left() == []
    assert [*scratch.iterdir()] == []


def kill_twice(workers, killed):
    """Kill a worker, then another one's sandbox; keep what has ended with them."""
    for which in ("worker", "sandbox"):
        worker, boxes = grading(workers)
        (worker if which == "worker" else boxes[0]).kill()
        killed.append(psutil.wait_procs(boxes, timeout=10)[0])


def grading(workers):
    """Give a worker that grades, and its sandbox's processes with the child."""
    for _ in range(3000):
        for each in list(workers._workers.values()):
            with contextlib.suppress(psutil.NoSuchProcess):
                worker = psutil.Process(each.process.pid)
                boxes = worker.children(recursive=True)
                if workers._worked and each.task and len(boxes) == 4:
                    return worker, boxes
        time.sleep(0.01)
    raise TimeoutError("nobody grades")


def test_a_sandbox_that_fails_after_others_have_worked_ends_no_class(fake):
    """A new worker's sandbox may be killed while it starts: memory may be short."""
    done, _ = done_of(1, "a", "refused", "b")
    assert [each.task.student for each in done if each.code_result] == ["a", "b"]
    assert "cannot be isolated" in done[1].fault
