"""Every exercise against its bank, and against answers that are not in the bank."""

import functools
import os

import numpy as np
import pytest

from autograder.checking.call import local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.matrix import judge_function
from autograder.checking.matrix import matrix as matrix_of
from autograder.checking.registry import exercise_names, exercises_of, load
from tests.answers import answers_to

SEEDS = (NOTEBOOK_SEED, 1, 2)
# The many answers take one of the seeds each, by turns; all of them with SEEDS=all.
ALL = os.environ.get("SEEDS") == "all"
matrix = functools.cache(matrix_of)  # several tests look at each: a second or more


@pytest.fixture(params=exercise_names())
def exercise(request):
    return load(request.param)


def judged(exercise, function, seed=1, visible_only=False):
    cases = [c for c in exercise.cases if c.visible or not visible_only]
    return judge_function(exercise, function, cases, seed)


def parts(kind, quick=10_000):
    """Return the answers of a kind; all but the first ``quick`` ones are thorough."""
    return [
        pytest.param(name, key, id=f"{name}-{key}", marks=marks)
        for name in exercise_names()
        for index, key in enumerate(getattr(answers_to(name), kind))
        for marks in [pytest.mark.thorough if index >= quick else ()]
    ]


def seeds_of(kind, name, key):
    """Return all seeds, or the one whose turn it is."""
    turn = list(getattr(answers_to(name), kind)).index(key) % len(SEEDS)
    return SEEDS if ALL else SEEDS[turn : turn + 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_reference_and_spec_pass_all_cases(exercise, seed):
    for function in (exercise.reference, exercise.expected_function):
        result = judged(exercise, function, seed)
        assert result.passed, [v.case for v in result.cases if v.status != "ok"]
        assert result.points == exercise.points > 0


def test_bank_has_no_hole(exercise):
    assert matrix(exercise).faults == []
    assert len(exercise.misconceptions) >= 5


def test_every_misconception_is_named_from_all_cases(exercise):
    rows = matrix(exercise).misconceptions
    assert [row.name for row in rows if not row.diagnosed] == []


def test_every_misconception_has_a_question_and_a_reason(exercise):
    for each in exercise.misconceptions:
        assert each.diagnosis.endswith("."), each.name
        assert each.question.endswith("?"), each.name
        assert len(each.why.split()) >= 4, each.name


def test_every_misconception_has_another_spelling(exercise):
    spellings = set(answers_to(exercise.name).spellings)
    assert spellings == {each.name for each in exercise.misconceptions}


def test_other_wrong_answers_are_at_least_three(exercise):
    assert len(answers_to(exercise.name).others) >= 3


def test_claims_are_sentences_without_a_stop(exercise):
    for case in exercise.cases:
        assert case.claim[0].isupper() or case.claim[0] == "`"
        assert not case.claim.endswith(".")
    assert any(not case.visible for case in exercise.cases)


@pytest.mark.parametrize(("name", "key"), parts("right"))
def test_right_answer_gets_full_marks(name, key):
    exercise, answer = load(name), answers_to(name).right[key]
    for seed in seeds_of("right", name, key):
        result = judged(exercise, answer, seed)
        assert result.passed, [
            (v.case, v.failure.difference) for v in result.cases if v.failure
        ]


@pytest.mark.parametrize(("name", "key"), parts("spellings", quick=3))
def test_misconception_in_another_spelling_is_named(name, key):
    exercise, answer = load(name), answers_to(name).spellings[key]
    misconception = next(m for m in exercise.misconceptions if m.name == key)
    assert answer.__code__.co_code != misconception.function.__code__.co_code
    for seed in seeds_of("spellings", name, key):
        result = judged(exercise, answer, seed)
        assert not result.passed
        assert result.diagnosis == key


@pytest.mark.parametrize(("name", "key"), parts("others", quick=2))
def test_wrong_answer_outside_the_bank_gets_no_name(name, key):
    exercise, answer = load(name), answers_to(name).others[key]
    for visible_only in (True, False):
        result = judged(exercise, answer, visible_only=visible_only)
        assert not result.passed
        assert result.diagnosis == ""


@pytest.mark.thorough  # the matrix of all exercises, in one process
def test_most_misconceptions_have_the_usual_form():
    rows = [row for e in exercises_of() for row in matrix(e).misconceptions]
    assert sum(row.usual_form for row in rows) >= 0.7 * len(rows)


@pytest.mark.thorough  # the matrix of all exercises, in one process
def test_most_misconceptions_are_named_from_the_visible_cases():
    rows = [row for e in exercises_of() for row in matrix(e).misconceptions]
    assert sum(row.diagnosed_visible for row in rows) >= 0.8 * len(rows)


def test_most_misconceptions_differ_on_usual_inputs(exercise):
    inputs = exercise.usual_inputs(np.random.default_rng(0))
    right = local_runner(exercise.reference)(inputs, {}).value
    wrong = [local_runner(m.function)(inputs, {}) for m in exercise.misconceptions]
    differing = [
        w for w in wrong if w.kind != "value" or first_difference(w.value, right)
    ]
    assert len(differing) >= len(wrong) / 2
