"""The report of a check as text: headline, diagnosis and question, claims."""

import numpy as np
import pytest

from autograder.checking.call import local_runner
from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory
from autograder.messages.report import CheckReport
from tests.checking.test_judging import (
    USES,
    both,
    double,
    judged,
    renamed,
    right,
    shift,
    stub,
    swapped,
    tiny,
    triple,
    with_earlier,
)
from tests.messages.explained import (
    X,
    about,
    report_of,
)


def test_stub_report_explains_once_what_to_do():
    assert report_of(tiny(), stub) == (
        "double is not written yet\n"
        "  Write your answer in the cell of `double`, in place of the line `raise "
        "NotImplementedError`: that line has to go. Run that cell, then run this one "
        "again."
    )


@pytest.mark.parametrize(
    ("body", "is_written"),
    [
        ("    raise NotImplementedError\n", False),
        ("    '''Twice.'''\n    raise NotImplementedError\n", False),
        ("    raise NotImplementedError\n    return 2 * x\n", True),
        ("    '''Twice.'''\n    y = 2 * x\n    raise NotImplementedError()\n", True),
        ("    %time raise NotImplementedError\n    return 2 * x\n", False),
    ],
)
def test_headline_names_the_stub_above_an_answer(body, is_written):
    exercise = tiny()
    report = CheckReport(
        exercise, judged(exercise, stub), judged=f"def double(x):\n{body}"
    )
    if is_written:
        ending = "double still ends with the line `raise NotImplementedError`"
        assert report.headline == ending
        assert "with the line <code>raise" in report.html()
    else:
        assert report.headline == "double is not written yet"


def test_claim_that_shows_the_exception_of_the_evidence_is_open():
    exercise = tiny()

    def ends_on_tables(x):
        if x.ndim > 1:
            raise ValueError("no table, please")
        return x * x * x + 5

    report = CheckReport(exercise, judged(exercise, ends_on_tables))
    assert "ends with a" in str(report)
    unfolded = report.html().partition('open="open"')[2].partition("</details>")[0]
    assert "A table" in unfolded


def test_stub_of_an_earlier_exercise_is_named():
    def double(x):
        raise NotImplementedError

    def answer(x):
        return shift(double(x))

    # Nothing binds the course's versions here, as in a sandbox that has none.
    exercise = tiny(both, uses=USES)
    result = judge(exercise, lambda names: local_runner(answer))
    assert str(CheckReport(exercise, result)) == (
        "both cannot be checked yet\n"
        "  `both` calls `double`, which is not written yet. Go back and write `double` "
        "first, then run this cell again."
    )


def test_stub_above_a_stub_has_to_be_written_first(monkeypatch):
    with_earlier(monkeypatch, double=renamed(stub, "double"))
    assert report_of(tiny(both, uses=USES), stub).startswith(
        "both is not written yet\n  Write your answer in the cell of `both`"
    )


def test_report_of_a_right_answer():
    assert report_of(tiny(), double) == (
        "double: solved, all 3 claims hold\n"
        "  ✓ Three numbers\n  ✓ A table\n  ✓ An empty array"
    )
    assert report_of(about(double, X), double) == (
        "double: solved, the claim holds\n  ✓ It is so"
    )


WITHOUT_POINTS = (
    "What holds so far counts as soon as a claim about newly drawn inputs holds too."
)


def test_report_of_a_wrong_answer():
    assert report_of(tiny(), lambda x: 3 * x) == (
        "double: 1 of 3 claims hold\n"
        "→ In 2 of 3 calls, your result is 1.5 times the right one.\n"
        "  ✗ Three numbers\n"
        "      For x = [1, -2, 0.5], your `double` returned [3, -6, 1.5]. It should "
        "return [2, -4, 1].\n"
        "  ✗ A table\n"
        "      For x (an array of shape (4, 5)), your `double` returned an array with "
        "-1.706 at [0, 0]. It should have -1.137 there; all of its 20 entries are "
        "wrong.\n"
        "  ✓ An empty array\n"
        f"→ {WITHOUT_POINTS}"
    )


def test_report_names_claims_without_points_only_where_so():
    exercise = tiny()
    part = report_of(exercise, lambda x: 2 * x if x.ndim == 2 else x)
    for report in (part, report_of(exercise, double), report_of(exercise, str)):
        assert WITHOUT_POINTS not in report
    visible = [case for case in exercise.cases if case.visible]
    result = judged(exercise, lambda x: 2 * x if x.size == 3 else x, cases=visible)
    assert (result.n_holding, result.points) == (1, 0.0)
    assert WITHOUT_POINTS not in str(CheckReport(exercise, result))


def test_reason_shared_by_all_claims_is_explained_once():
    assert report_of(tiny(), lambda x: None) == (
        "double: 0 of 3 claims hold\n"
        "→ Your `double` returns None in all 3 calls: is a `return` missing?\n"
        "  Every claim fails in the same way. For x = [1, -2, 0.5], your `double` "
        "returned None (is a `return` missing?). It should return [2, -4, 1].\n"
        "  ✗ Three numbers\n"
        "  ✗ A table\n"
        "  ✗ An empty array"
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x.missing,
        lambda x: (2 * x).tolist(),
        lambda x: np.float16(2 * x),
        lambda x: {"a": 1},
        lambda: 1,
    ],
)
def test_any_reason_shared_by_all_claims_is_explained_once(answer):
    lines = report_of(tiny(), answer).splitlines()
    assert lines[1].startswith(
        "  Every claim fails in the same way. For x = [1, -2, 0.5]"
    )
    assert lines[2:] == ["  ✗ Three numbers", "  ✗ A table", "  ✗ An empty array"]


def without_diagnosis(report):
    return [line for line in report.splitlines() if not line.startswith("→")]


def test_repeated_reason_is_shortened():
    def often(x):
        return None if x.shape == (4, 5) or x.size == 0 else 3 * x

    lines = without_diagnosis(report_of(tiny(), often))
    assert lines[4].endswith(
        "your `double` returned None (is a `return` missing?). "
        "It should return an array of shape (4, 5)."
    )
    assert lines[6] == "      Here it returns None too."


def test_different_lines_are_different_reasons():
    def crashes(x):
        if x.ndim == 1:
            return x.one
        return x.other

    lines = without_diagnosis(report_of(tiny(), crashes))
    first = crashes.__code__.co_firstlineno
    assert f"line {first + 2} " in lines[2]
    assert f"line {first + 3} " in lines[4]
    assert lines[6].startswith("      Here it stops with AttributeError in line ")


def test_wrong_numbers_are_explained_each_time():
    assert "Here it" not in report_of(tiny(), lambda x: x + 1)


def test_report_blames_an_earlier_answer(monkeypatch):
    with_earlier(monkeypatch, double=triple)
    assert report_of(tiny(both, uses=USES), right).splitlines()[1] == (
        "→ Your `both` is right: it was checked with the course's `double`. Your own "
        "`double` is what failed: go back to it."
    )


def test_report_blames_two_earlier_answers(monkeypatch):
    with_earlier(monkeypatch, double=triple, shift=triple)
    assert report_of(tiny(both, uses=USES), right).splitlines()[1] == (
        "→ Your `both` is right: it was checked with the course's `double` and "
        "`shift`. Your own `double` and `shift` are what failed: go back to them."
    )


def test_report_blames_both_where_both_are_wrong(monkeypatch):
    exercise = tiny(both, uses=USES)

    @exercise.misconception("You add 1 first.", "What comes first?", why="Order.")
    def shifts_first(x):
        return 2 * (x + 1.0)

    with_earlier(monkeypatch, double=triple)
    lines = report_of(exercise, swapped).splitlines()
    assert lines[1:3] == [
        "→ Your `double` fails here, so the claims below are with the course's "
        "`double`. Your `both` has an error of its own.",
        "→ You add 1 first. What comes first?",
    ]
    assert lines[-1] == f"→ {WITHOUT_POINTS}"


def test_diagnosis_and_question_come_first():
    exercise = tiny()

    @exercise.misconception("You triple.", "How often is x added?", why="A slip.")
    def tripled(x):
        return 3 * x

    lines = report_of(exercise, lambda x: x + 2 * x).splitlines()
    assert lines[1] == "→ You triple. How often is x added?"
    assert lines[-1] == f"→ {WITHOUT_POINTS}"
    assert "→" not in report_of(exercise, double)


def claims_of(report):
    return [line for line in str(report).splitlines() if line[:4] in ("  ✗ ", "  ✓ ")]


def test_claims_that_fail_for_one_reason_stand_together():
    exercise = load("scaled_scores")
    visible = [case for case in exercise.cases if case.visible]

    def scaled_scores(q, k):
        return q @ np.swapaxes(k, -1, -2)

    result = judge(exercise, local_runner_factory(scaled_scores), cases=visible)
    failed = [each.claim for each in result.claims if each.status != "ok"]
    assert result.diagnosis == "no_scale" and len(failed) == 4
    report = CheckReport(exercise, result)
    assert claims_of(report) == [
        f"  ✗ {failed[0]}",
        "  ✗ 3 more claims do not hold, for the same reason:",
        "  ✓ The queries and keys are not modified",
    ]
    assert all(f"\n      {claim}" in str(report) for claim in failed[1:])
    assert str(report).count("your `scaled_scores` returned") == 1
    apart = CheckReport(exercise, result, together=False)
    assert claims_of(apart)[:4] == [f"  ✗ {claim}" for claim in failed]
    assert str(apart).count("your `scaled_scores` returned") == 4


def test_claim_that_ends_in_an_error_stands_apart_from_values():
    exercise = load("cross_entropy")

    def cross_entropy(logits, targets, ignore_index):  # stops at a target of −100
        counted = (targets != 0).float()
        log_p = logits.log_softmax(dim=-1)
        right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        return -(right * counted).sum() / counted.sum().clamp(min=1)

    visible = [case for case in exercise.cases if case.visible]
    result = judge(exercise, local_runner_factory(cross_entropy), cases=visible)
    assert result.diagnosis == "ignore_index_ignored"
    report = CheckReport(exercise, result)
    apart = "  ✗ The token id of padding may be outside the vocabulary"
    assert apart in claims_of(report)
    assert "stopped with RuntimeError" in str(report)


def test_claims_stand_together_only_if_all_fail_in_one_way():
    def judged_here(name, answer):
        exercise = load(name)
        visible = [case for case in exercise.cases if case.visible]
        result = judge(exercise, local_runner_factory(answer), cases=visible)
        assert result.evidence and not result.diagnosis
        return claims_of(CheckReport(exercise, result))

    right = load("attention").reference
    of_all = judged_here(
        "attention", lambda q, k, v: (right(q, k, v)[0] ** 3, right(q, k, v)[1])
    )
    assert "  ✗ 5 more claims do not hold, in the same way:" in of_all
    of_some = judged_here("similarity_attention", lambda x, y: np.exp(x * y) @ y)
    assert not any(" more claims " in line for line in of_some)


def test_each_of_two_misconceptions_has_its_question():
    exercise = load("softmax_jacobian")

    def softmax_jacobian(p):  # 0 off the diagonal, and p_i on it
        return p[..., np.newaxis] * np.eye(p.shape[-1])

    result = judge(exercise, local_runner_factory(softmax_jacobian))
    assert result.misconceptions == ("diagonal_only", "weights_on_the_diagonal")
    bank = {each.name: each for each in exercise.misconceptions}
    one, other = (bank[name] for name in result.misconceptions)
    assert (
        f"Two things at once. (1) {one.diagnosis} {one.question} "
        f"(2) {other.diagnosis} {other.question}"
    ) in str(CheckReport(exercise, result, ()))
