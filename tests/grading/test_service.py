"""What nbgrader and formgrader ask: one submission now, by workers that stay warm."""

import json

import pytest
from traitlets.config import Config

from autograder.course import Course, CourseError
from autograder.demo.sample_class import right_answer
from autograder.gradebook.database import Gradebook
from autograder.gradebook.exporters import AutogradeExporter
from autograder.gradebook.service import Service, service
from autograder.grading.budget import Budget
from autograder.grading.identity import course_seed
from autograder.grading.journal import Journal
from tests.grading import fake_workers
from tests.submissions import LESSON, Submission


@pytest.fixture
def course(root):
    return Course(root)


@pytest.fixture
def asked(course, monkeypatch):
    """Return a service whose workers look at the student's name only."""
    fake_workers.replace_workers(monkeypatch)
    started = Service(course)
    yield started
    started.close()


def hand_in(course, *students):
    for student in students:
        submission = Submission()
        submission.answer("softmax", f"{right_answer('softmax')}\n# {student}")
        submission.write(course.root, student)


def points(course):
    grades = Gradebook(course).grades(LESSON)
    return {student: each.points for student, each in grades.items()}


def test_autograded_returns_notebook_and_enters_points(asked, course):
    hand_in(course, "amara")
    notebook = json.loads(asked.autograded(LESSON, "amara", ["amara"]))
    assert any("# amara" in "".join(c["source"]) for c in notebook["cells"])
    assert points(course) == {"amara": 1.0}
    assert not (course.root / "autograded").exists()  # nbgrader writes it


def test_workers_judge_with_the_seed_of_the_course(asked, course):
    hand_in(course, "amara")
    asked.autograded(LESSON, "amara", ["amara"])
    assert asked._workers.settings.seed == course_seed(course)


def test_second_student_uses_the_same_worker(asked, course):
    hand_in(course, "amara", "ben")
    asked.autograded(LESSON, "amara", ["amara"])
    workers = asked._workers
    asked.autograded(LESSON, "ben", ["ben"])
    assert asked._workers is workers
    assert workers._started == 1


def test_expected_students_are_judged_once_in_parallel(asked, course):
    hand_in(course, "amara", "ben", "cem")
    asked.autograded(LESSON, "ben", ["amara", "ben", "cem"])
    with Journal(course) as journal:
        assert [each.student for each in journal.latest(LESSON)] == [
            "amara",
            "ben",
            "cem",
        ]
    assert points(course) == {"ben": 1.0}  # the others when they are asked for
    for student in ("amara", "cem"):
        asked.autograded(LESSON, student, ["amara", "ben", "cem"])
    assert points(course) == {"amara": 1.0, "ben": 1.0, "cem": 1.0}


def test_new_version_of_the_lesson_gets_new_workers(asked, course):
    hand_in(course, "amara")
    asked.autograded(LESSON, "amara", [])
    before = asked._workers
    path = course.learner(LESSON)
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    asked.autograded(LESSON, "amara", [])
    assert asked._workers is not before
    assert before._workers == {} or all(
        not worker.process.is_alive() for worker in before._workers.values()
    )


def test_resubmission_is_graded_anew(asked, course):
    hand_in(course, "amara")
    first = asked.autograded(LESSON, "amara", ["amara"])
    changed = Submission()
    changed.own("second = 1")
    changed.write(course.root, "amara")
    second = asked.autograded(LESSON, "amara", ["amara"])
    assert "second = 1" in second
    assert "second = 1" not in first


def test_grader_fault_is_raised_and_enters_nothing(asked, course):
    hand_in(course, "fault")
    with pytest.raises(CourseError, match="KeyError: 'softmax'"):
        asked.autograded(LESSON, "fault", [])
    assert points(course) == {}


def test_worker_that_ended_idle_is_replaced(asked, course):
    hand_in(course, "amara", "ben")
    asked.autograded(LESSON, "amara", [])
    for worker in asked._workers._workers.values():
        worker.process.kill()
        worker.process.join()
    asked.autograded(LESSON, "ben", [])
    assert points(course)["ben"] == 1.0


def test_refusal_leaves_no_worker_behind(asked, course):
    hand_in(course, "refused")
    with pytest.raises(CourseError, match="cannot be isolated"):
        asked.autograded(LESSON, "refused", [])
    assert asked._workers is None


def test_invalid_student_id_is_refused_before_anything(asked, course):
    with pytest.raises(CourseError, match="is not graded: "):
        asked.autograded(LESSON, "<b>", [])
    assert asked._workers is None


def test_process_has_one_service_for_a_course(course):
    assert service(course.root) is service(course.root)


def test_nbgraders_setting_is_the_budget_of_a_submission(course):
    config = Config({"AutogradeExporter": {"seconds_per_submission": 60}})
    grader = AutogradeExporter(config=config).grader(course)
    assert grader is service(course.root, Budget(submission=60.0))
    assert grader.budget.submission == 60.0
