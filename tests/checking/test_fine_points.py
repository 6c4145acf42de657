"""Fine points: what they are worth, and that they stand in nobody's way."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autograder import CheckFailed, check
from autograder.book import build
from autograder.checking import bank as checks
from autograder.checking.call import local_runner
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.checking.matrix import matrix
from autograder.checking.result import ExerciseResult, as_data
from autograder.commands.grade import _remarks
from autograder.commands.judge import result_in_words
from autograder.dashboard import misconceptions
from autograder.demo.diagnoses import in_words
from autograder.gradebook.safe_html import verdicts_html, verdicts_of
from autograder.gradebook.student_feedback import ExerciseFeedback, _summary
from autograder.grading.judging import _worded, no_answer
from autograder.grading.result import CodeResult, SubmissionResult
from autograder.in_notebook import check as check_module
from autograder.messages.report import FINE_POINT_OPEN, RIGHT_TO_FLOAT32, CheckReport
from tests.dashboard.classes import graded, roster


def double(x):
    return 2 * x.astype(int) if x.dtype.kind == "i" else 2 * x


def with_fine_points(minutes=10):
    """Return an exercise with two claims and one fine point, about whole numbers."""
    made = Exercise(double, lesson="none", minutes=minutes, difficulty=1)
    made.spec(double)
    made.usual(lambda rng: (rng.normal(size=3),))

    @made.case("Positive numbers", weight=2)
    def positive(student, rng):
        student.agrees(rng.uniform(1, 2, size=3))

    @made.fine_point("Small whole numbers do not overflow")
    def small_integers(student, rng):
        student.agrees(np.array([100, int(rng.integers(70, 120))], np.int8))

    @made.case("Negative numbers")
    def negative(student, rng):
        student.agrees(-rng.uniform(1, 2, size=3))

    @made.misconception("You triple.", "How often?", why="For the test.")
    def tripled_where_positive(x):
        return np.where(x > 0, 3 * x, 2 * x)

    @made.misconception("You square.", "How often?", why="For the test.")
    def squared_where_negative(x):
        return np.where(x < 0, x * x, 2 * x)

    @made.misconception("Your numbers wrap.", "How large is an int8?", why="A test.")
    def wrapped(x):
        return x + x

    return made


def wraps(x):
    return x + x


def wraps_and_triples(x):
    return np.where(x > 0, 3 * x, x + x)


def judged(answer, exercise=None, **terms):
    exercise = exercise or with_fine_points()
    return judge(exercise, lambda _: local_runner(answer), **terms)


def report_on(answer):
    exercise = with_fine_points()
    return CheckReport(exercise, judged(answer, exercise))


# --- the exercise -------------------------------------------------------------------


def test_fine_point_is_worth_a_quarter_and_claims_share_the_rest():
    exercise = with_fine_points()
    assert exercise.shares == {
        "positive": 6.5,
        "small_integers": 0.25,
        "negative": 3.25,
    }
    case = exercise.cases[1]
    assert case.fine_point and case.visible and not case.pays_alone


def test_fine_points_get_a_tenth_of_the_points_at_most():
    exercise = with_fine_points(minutes=9)

    def one_more(student, rng):
        pass

    for name in ("second", "third"):
        one_more.__name__ = name
        exercise.fine_point("One more", visible=False)(one_more)
    one_more.__name__ = "fourth"
    message = r"double \(autograder/exercises/double.py\): 4 fine .* leave out fourth"
    with pytest.raises(ValueError, match=message):
        exercise.fine_point("One too many")(one_more)
    exact = with_fine_points(minutes=10)
    for name in ("second", "third", "fourth"):
        one_more.__name__ = name
        exact.fine_point("One more", visible=False)(one_more)
    assert sum(case.points for case in exact.cases if case.fine_point) == 1.0
    with pytest.raises(ValueError, match="more than a tenth of its 2 points"):
        with_fine_points(minutes=2)


def test_fine_point_that_catches_nothing_is_a_fault():
    exercise = with_fine_points()
    assert matrix(exercise).faults == []
    (row,) = (row for row in matrix(exercise).misconceptions if row.name == "wrapped")
    assert (row.caught_by, row.diagnosed) == (["small_integers"], True)

    @exercise.fine_point("Nothing")
    def nothing(student, rng):
        student.agrees(rng.normal(size=2) * 0)

    assert matrix(exercise).faults == ["double: nothing catches no misconception"]


def test_fine_points_need_not_be_told_from_trivial_answers():
    exercise = with_fine_points()
    faults = checks.points_faults(exercise, exercise.cases)
    assert not any("small_integers" in fault for fault in faults)


def test_hidden_fine_point_is_no_hidden_claim():
    exercise = with_fine_points()

    @exercise.fine_point("Hidden", visible=False)
    def hidden(student, rng):
        pass

    faults = checks.wording_faults(exercise)
    assert "double: no case is hidden: mark one with visible=False" in faults


# --- the result ---------------------------------------------------------------------


def test_right_answer_gets_the_quarter():
    result = judged(double)
    assert result.passed and result.solved and result.points == 10.0


def test_exercise_is_solved_with_an_open_fine_point():
    result = judged(wraps)
    assert result.solved and not result.passed
    assert [each.case for each in result.open_fine_points] == ["small_integers"]
    assert (result.points, result.n_holding, len(result.claims)) == (9.75, 2, 2)
    assert result.diagnosis == "wrapped" and not result.evidence


def test_fine_point_earns_nothing_alone():
    result = judged(lambda x: double(x) if x.dtype.kind == "i" else x)
    assert not result.solved
    assert [each.status for each in result.fine_points] == ["ok"]
    assert result.points == 0.0


def test_open_fine_point_does_not_hide_a_misconception():
    result = judged(wraps_and_triples)
    assert not result.solved
    assert result.diagnosis == "tripled_where_positive"


def test_result_survives_the_journal():
    for result in (judged(wraps), judged(lambda x: np.float32(2) * x)):
        line = CodeResult((result,)).as_json()
        (read,) = CodeResult.from_json(line).exercises
        assert as_data(read) == as_data(result) and read.solved
    assert "fine_point" not in as_data(judged(double).claims[0])


def test_no_answer_has_its_fine_points():
    assert len(no_answer(with_fine_points()).fine_points) == 1


# --- what is said -------------------------------------------------------------------


def test_report_says_solved_and_explains_the_fine_point_softly():
    report = report_on(wraps)
    first, *lines = str(report).splitlines()
    assert first == "double: solved; one fine point is open"
    assert lines[:3] == [
        "  ✓ Positive numbers",
        "  ✓ Negative numbers",
        f"  ○ Small whole numbers do not overflow ({FINE_POINT_OPEN})",
    ]
    assert lines[3].endswith("Your numbers wrap. How large is an int8?")
    assert lines[3].startswith("      For x = [100, ")
    assert "✗" not in str(report) and not any(line[0] == "→" for line in lines)


def test_html_of_an_open_fine_point_is_not_red():
    html = report_on(wraps).html()
    assert "#d9534f" not in html and 'aria-label="fine point open"' in html
    assert "does not hold" not in html


def test_fine_points_wait_until_all_claims_hold():
    text = str(report_on(wraps_and_triples))
    assert text.startswith("double: 1 of 2 claims hold")
    assert "fine point" not in text and "whole numbers" not in text
    assert "whole numbers" not in str(report_on(double))  # nothing to do about it


def test_seven_digits_are_noted_without_a_cross():
    text = str(report_on(lambda x: 2.0 * x.astype(np.float32) / 3 * np.float32(3)))
    assert text.splitlines()[-1] == RIGHT_TO_FLOAT32
    assert "✗" not in text
    assert RIGHT_TO_FLOAT32 not in str(report_on(double))


def test_seven_digits_are_not_noted_where_a_cause_is_known():
    result = report_on(lambda x: 2.0 * x.astype(np.float32) / 3 * np.float32(3)).result
    assert result.has_too_few_digits
    assert not replace(result, diagnosis="small_added").has_too_few_digits


def test_programs_read_that_it_is_solved():
    data = report_on(wraps).data()
    assert data["solved"] and data["open_fine_points"] == ["small_integers"]


def test_check_of_a_solved_exercise_does_not_fail(monkeypatch, capsys):
    exercise = with_fine_points()
    monkeypatch.setattr(check_module, "find_exercise", lambda *_: exercise)
    monkeypatch.setattr(check_module, "is_course_version", lambda *_: False)
    check(wraps)
    assert "solved; one fine point is open" in capsys.readouterr().out
    with pytest.raises(CheckFailed):
        check(wraps_and_triples)


# --- grading ------------------------------------------------------------------------


def graded_answer(answer) -> ExerciseResult:
    exercise = with_fine_points()
    return _worded(exercise, judged(answer, exercise))


def test_graded_report_has_each_claim_with_its_points():
    sentences = verdicts_of(graded_answer(wraps))
    assert sentences.headline == "double: solved; one fine point is open"
    assert [claim.sentence for claim in sentences.claims] == [
        "Positive numbers (6.5 points)",
        "Negative numbers (3.25 points)",
        "Small whole numbers do not overflow (0 of 0.25 points)",
    ]
    assert [claim.mark for claim in sentences.claims] == ["✓", "✓", "○"]
    assert [bool(claim.why) for claim in sentences.claims] == [False, False, True]
    assert (sentences.diagnosis, sentences.closing) == ([], [])
    assert "#d9534f" not in verdicts_html(graded_answer(wraps))


def test_graded_report_of_a_wrong_answer_adds_up():
    sentences = verdicts_of(graded_answer(wraps_and_triples))
    assert [claim.mark for claim in sentences.claims] == ["✗", "✓", "○"]
    assert [bool(claim.why) for claim in sentences.claims] == [True, False, False]


def test_graded_report_notes_seven_digits():
    sentences = verdicts_of(
        graded_answer(lambda x: double(x).astype(np.float32) / 3 * 3)
    )
    assert RIGHT_TO_FLOAT32 in sentences.notes


def test_grading_says_in_a_few_words_that_it_is_solved():
    words = "solved; one fine point is open"
    result = graded_answer(wraps)
    assert _remarks(result) == _summary(result) == in_words(result) == words
    assert _remarks(graded_answer(wraps_and_triples)) == "tripled_where_positive"
    assert _summary(graded_answer(wraps_and_triples)) == "1 of 2 claims hold"
    submission = SubmissionResult("ada", "01", "graded", (result,))
    assert "[fine point open] small_integers: 0 of 0.25" in result_in_words(submission)


def test_feedback_has_no_failure_where_a_fine_point_is_open():
    solved = verdicts_of(graded_answer(wraps))
    feedback = ExerciseFeedback("double", 9.75, 10.0, "", verdicts=solved)
    assert feedback.first_failure is None and feedback.next_step == ""
    (claim,) = feedback.open_fine_points
    assert claim.fine_point and claim not in feedback.other_claims
    wrong = verdicts_of(graded_answer(wraps_and_triples))
    feedback = ExerciseFeedback("double", 3.5, 10.0, "", verdicts=wrong)
    assert feedback.open_fine_points == []
    assert feedback.first_failure is wrong.claims[0]


def test_dashboard_counts_open_fine_points_apart():
    group = roster([graded("amara", replace(graded_answer(wraps), exercise="softmax"))])
    assert misconceptions.count_misconceptions(group) == []
    assert misconceptions.failed_claims(group) == []
    (claim,) = misconceptions.open_fine_points(group)
    assert (claim.case, claim.students) == ("small_integers", ("amara",))


def test_book_names_fine_points():
    source = (Path(build.__file__).parent / "exercise.md.j2").read_text()
    assert '"a fine point, " if case.fine_point' in source


def test_misconception_of_a_fine_point_may_keep_its_points():
    exercise = with_fine_points()
    exercise.usual(lambda rng: (np.array([100, 90], np.int8),))
    faults = checks.matrix_faults(exercise, matrix(exercise))
    assert not any("wrapped" in fault for fault in faults)
