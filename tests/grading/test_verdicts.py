"""Finding verdicts: in the journal where they are known, judged once where not."""

import shutil

import pytest

from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.course import Course
from autograder.grading.journal import Journal
from autograder.grading.result import CodeResult
from autograder.grading.verdicts import Verdicts
from autograder.grading.workers import GradingTaskResult, Settings
from tests.submissions import COURSE, LESSON, Submission


@pytest.fixture
def course(tmp_path):
    shutil.copytree(COURSE.root / "notebooks", tmp_path / "notebooks")
    return Course(tmp_path)


@pytest.fixture
def journal(course):
    with Journal(course) as opened:
        yield opened


class Judge:
    """Judges every task as right, and remembers whose they were.

    faulty : students over whose tasks it fails
    stops_after : how many it judges until it is interrupted
    """

    def __init__(self, faulty=(), stops_after=None):
        self.asked = []
        self.faulty = faulty
        self.stops_after = stops_after

    def each(self, tasks):
        for task in tasks:
            if len(self.asked) == self.stops_after:
                raise KeyboardInterrupt
            self.asked.append(task.student)
            if task.student in self.faulty:
                yield GradingTaskResult(task, None, {}, "KeyError: 'x'")
            else:
                yield GradingTaskResult(task, judged(task), {"all": 0.5})


def judged(task):
    status = "invalid" if task.cells is None else "ok"
    case = CaseVerdict("by_hand", "A claim", status, 1.0, 1.0, True)
    return CodeResult((ExerciseResult("softmax", 1.0, 1.0, (case,)),))


def hand_in(course, student, text="", raw=None):
    submission = Submission()
    submission.own(text or f"mine = '{student}'")
    submission.raw = raw
    submission.write(course.root, student)


def graded(course, journal, students, judge, seed=1, **options):
    verdicts = Verdicts(course, Settings(LESSON, seed), journal, **options)
    return {
        each.submission.student: each for each in verdicts.each(students, judge.each)
    }


def test_each_is_judged_once_and_never_again(course, journal):
    for student in "abc":
        hand_in(course, student)
    judge = Judge()
    first = graded(course, journal, "abc", judge)
    again = graded(course, journal, "abc", judge)
    assert judge.asked == [*"abc"]
    assert all(each.is_new for each in first.values())
    assert not any(each.is_new for each in again.values())
    assert [e.entry for e in again.values()] == [e.entry for e in first.values()]


def test_the_same_solution_is_judged_once_whoever_has_written_it(course, journal):
    for student in "abc":
        hand_in(course, student, "same = 1")
    judge = Judge()
    found = graded(course, journal, "abc", judge)
    assert judge.asked == ["a"]
    assert [each.result.student for each in found.values()] == [*"abc"]
    assert {each.result.points for each in found.values()} == {1.0}
    hand_in(course, "d", "same = 1")
    assert graded(course, journal, "d", judge)["d"].is_new
    assert judge.asked == ["a"]


def test_another_way_of_saving_the_same_text_is_no_other_solution(course, journal):
    hand_in(course, "a", "same = 1")
    judge = Judge()
    graded(course, journal, "a", judge)
    submission = Submission()
    submission.own("same = 1")
    submission.cell("softmax").outputs = [
        {"output_type": "stream", "name": "stdout", "text": "seen"}
    ]
    submission.write(course.root, "a")
    assert graded(course, journal, "a", judge)["a"].is_new
    assert judge.asked == ["a"]


def test_who_hands_in_something_else_is_judged_anew(course, journal):
    hand_in(course, "a")
    judge = Judge()
    graded(course, journal, "a", judge)
    hand_in(course, "a", "second = 1")
    graded(course, journal, "a", judge)
    hand_in(course, "a")
    assert graded(course, journal, "a", judge)["a"].is_new  # back to the first
    assert judge.asked == ["a", "a"]


@pytest.mark.parametrize("change", ["seed", "lesson", "anew"])
def test_what_verdicts_depend_on_has_all_judged_anew(course, journal, change):
    hand_in(course, "a")
    judge = Judge()
    graded(course, journal, "a", judge)
    options = {}
    if change == "lesson":
        path = course.learner(LESSON)
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    else:
        options = {"seed": {"seed": 2}, "anew": {"anew": True}}[change]
    graded(course, journal, "a", judge, **options)
    assert judge.asked == ["a", "a"]


def test_an_interrupted_run_goes_on_where_it_stopped(course, journal):
    for student in "abcd":
        hand_in(course, student)
    with pytest.raises(KeyboardInterrupt):
        graded(course, journal, "abcd", Judge(stops_after=2))
    judge = Judge()
    found = graded(course, journal, "abcd", judge)
    assert judge.asked == [*"cd"]
    assert sorted(found) == [*"abcd"]


def test_a_fault_is_no_verdict_and_is_tried_again(course, journal):
    for student in "ab":
        hand_in(course, student)
    found = graded(course, journal, "ab", Judge(faulty="a"))
    assert found["a"].fault == "KeyError: 'x'"
    assert found["a"].result.reason.endswith("please report this: KeyError: 'x'")
    assert not found["b"].fault
    judge = Judge()
    assert graded(course, journal, "ab", judge)["a"].result.points == 1.0
    assert judge.asked == ["a"]


def test_a_file_that_cannot_be_read_keeps_its_own_reason(course, journal):
    hand_in(course, "a", raw=b"{")
    hand_in(course, "b", raw=b"%PDF-1.7")
    found = graded(course, journal, ["a", "b", "c"], Judge())
    reasons = {each.result.status: each.result.reason for each in found.values()}
    assert {*reasons} == {"invalid"}
    texts = [each.result.reason for each in found.values()]
    assert "ends in the middle" in texts[0]
    assert "PDF" in texts[1]
    assert "is not in the submission" in texts[2]
    again = graded(course, journal, ["a", "b", "c"], Judge(faulty="abc"))
    assert [each.result.reason for each in again.values()] == texts


def test_tasks_are_taken_as_they_are_needed(course, journal):
    """A class of thousands is never held in memory."""
    for student in "abc":
        hand_in(course, student)
    verdicts = Verdicts(course, Settings(LESSON, 1), journal)
    taken = verdicts._tasks(["a", "b", "c"])
    next(taken)
    assert len(verdicts._waiting) == 1
