"""Finding verdicts: in the journal where they are known, judged once where not."""

import shutil
from dataclasses import replace

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
    """Judge every task as right, and record whose it was.

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


def submit(course, student, text="", raw=None):
    submission = Submission()
    submission.own(text or f"mine = '{student}'")
    submission.raw = raw
    submission.write(course.root, student)


def graded(course, journal, students, judge, seed=1, **options):
    verdicts = Verdicts(course, Settings(LESSON, seed), journal, **options)
    return {
        each.submission.student: each for each in verdicts.each(students, judge.each)
    }


def test_each_submission_is_judged_once(course, journal):
    for student in "abc":
        submit(course, student)
    judge = Judge()
    first = graded(course, journal, "abc", judge)
    second = graded(course, journal, "abc", judge)
    assert judge.asked == [*"abc"]
    assert all(each.is_new for each in first.values())
    assert not any(each.is_new for each in second.values())
    assert [e.entry for e in second.values()] == [e.entry for e in first.values()]


def test_same_solution_of_several_students_is_judged_once(course, journal):
    for student in "abc":
        submit(course, student, "same = 1")
    judge = Judge()
    verdicts = graded(course, journal, "abc", judge)
    assert judge.asked == ["a"]
    assert [each.result.student for each in verdicts.values()] == [*"abc"]
    assert {each.result.points for each in verdicts.values()} == {1.0}
    submit(course, "d", "same = 1")
    assert graded(course, journal, "d", judge)["d"].is_new
    assert judge.asked == ["a"]


def test_outputs_do_not_make_another_solution(course, journal):
    submit(course, "a", "same = 1")
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


def test_changed_submission_is_judged_anew(course, journal):
    submit(course, "a")
    judge = Judge()
    graded(course, journal, "a", judge)
    submit(course, "a", "second = 1")
    graded(course, journal, "a", judge)
    submit(course, "a")
    assert graded(course, journal, "a", judge)["a"].is_new  # back to the first
    assert judge.asked == ["a", "a"]


@pytest.mark.parametrize("change", ["seed", "lesson", "anew"])
def test_changed_seed_lesson_or_option_judges_anew(course, journal, change):
    submit(course, "a")
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


def test_interrupted_run_resumes_where_it_stopped(course, journal):
    for student in "abcd":
        submit(course, student)
    with pytest.raises(KeyboardInterrupt):
        graded(course, journal, "abcd", Judge(stops_after=2))
    judge = Judge()
    verdicts = graded(course, journal, "abcd", judge)
    assert judge.asked == [*"cd"]
    assert sorted(verdicts) == [*"abcd"]


def test_fault_is_no_verdict_and_is_retried(course, journal):
    for student in "ab":
        submit(course, student)
    verdicts = graded(course, journal, "ab", Judge(faulty="a"))
    assert verdicts["a"].fault == "KeyError: 'x'"
    assert verdicts["a"].result.reason.endswith("please report this: KeyError: 'x'")
    assert not verdicts["b"].fault
    judge = Judge()
    assert graded(course, journal, "ab", judge)["a"].result.points == 1.0
    assert judge.asked == ["a"]


def test_unreadable_file_keeps_its_own_reason(course, journal):
    submit(course, "a", raw=b"{")
    submit(course, "b", raw=b"%PDF-1.7")
    verdicts = graded(course, journal, ["a", "b", "c"], Judge())
    reasons = {each.result.status: each.result.reason for each in verdicts.values()}
    assert {*reasons} == {"invalid"}
    texts = [each.result.reason for each in verdicts.values()]
    assert "ends in the middle" in texts[0]
    assert "PDF" in texts[1]
    assert "is not in the submission" in texts[2]
    second = graded(course, journal, ["a", "b", "c"], Judge(faulty="abc"))
    assert [each.result.reason for each in second.values()] == texts


def test_tasks_are_read_lazily(course, journal):
    # A class of thousands is never held in memory.
    for student in "abc":
        submit(course, student)
    verdicts = Verdicts(course, Settings(LESSON, 1), journal)
    taken = verdicts._tasks(["a", "b", "c"])
    next(taken)
    assert len(verdicts._waiting) == 1


def test_text_that_no_file_takes_costs_nothing(course, journal):
    # Half of a surrogate pair: a learner can print it, and nothing can store it.
    class Odd(Judge):
        def each(self, tasks):
            for result in super().each(tasks):
                outputs = {0: [{"name": "stdout", "text": "\ud83d"}]}
                odd = replace(result.code_result, troubles=("\ud83d",), outputs=outputs)
                yield replace(result, code_result=odd)

    for student in "ab":
        submit(course, student, "same = 1")
    verdicts = graded(course, journal, "ab", Odd())
    assert {each.result.points for each in verdicts.values()} == {1.0}
    assert {each.fault for each in verdicts.values()} == {""}
    assert len(journal.results(LESSON)) == 2


def test_verdicts_that_cannot_be_stored_are_one_students_fault(
    course, journal, monkeypatch
):
    for student in "ab":
        submit(course, student)
    store = journal.add_verdicts

    def refuse(key, code_result, times):
        if not journal.results(LESSON):
            raise ValueError("not to be stored")
        store(key, code_result, times)

    monkeypatch.setattr(journal, "add_verdicts", refuse)
    verdicts = graded(course, journal, "ab", Judge())
    assert verdicts["a"].fault == "ValueError: not to be stored"
    assert verdicts["b"].result.points == 1.0
