"""Every exercise against its bank, and against answers that are not in the bank.

``autograder check-bank NAME`` says the same of one exercise.
"""

import functools
import itertools
import os

import numpy as np
import pytest

from autograder.checking import bank
from autograder.checking.call import CallResult, Raised, copied, local_runner
from autograder.checking.diagnosis import pairs
from autograder.checking.judging import judge, judge_case, with_points
from autograder.checking.matrix import GRADING_SEED
from autograder.checking.matrix import matrix as matrix_of
from autograder.checking.own_answer import NO_ANSWER
from autograder.checking.registry import exercise_names, exercises_of, load
from autograder.checking.student import StudentFunction
from autograder.checking.trivial_answers import (
    judge_right_answer,
    trivial_answers_that_pass,
)
from autograder.checking.values import as_array, is_array, is_tensor, leaves
from autograder.in_notebook.check import local_runner_factory
from tests.answers import answers_to
from tests.quick import all_but

# The many answers take one of the seeds each, by turns; all of them with SEEDS=all.
ALL = os.environ.get("SEEDS") == "all"
matrix = functools.cache(matrix_of)  # two tests look at each: seconds


@pytest.fixture(params=exercise_names())
def exercise(request):
    return load(request.param)


def parts(kind, quick=10_000):
    """Return the answers of a kind; all but the first ``quick`` ones are thorough."""
    return [
        pytest.param(name, key, id=f"{name}-{key}", marks=marks)
        for name in exercise_names()
        for index, key in enumerate(getattr(answers_to(name), kind))
        for marks in [pytest.mark.thorough if index >= quick else ()]
    ]


def answer_and_seeds(kind, name, key):
    answers = getattr(answers_to(name), kind)
    return answers[key], bank.seeds_of_turn([*answers].index(key), ALL)


@pytest.mark.parametrize("seed", all_but(bank.SEEDS[:1], bank.SEEDS))
def test_reference_and_spec_pass_all_cases(exercise, seed):
    assert bank.reference_faults(exercise, exercise.cases, [seed]) == []


def test_bank_has_no_hole(exercise):
    assert bank.matrix_faults(exercise, matrix_of(exercise, in_notebook=False)) == []


@pytest.mark.thorough
def test_two_misconceptions_together_come_to_an_end(exercise):
    """Look at those that loop until something is so, on the calls of all cases."""
    calls = []

    def recorded(_):
        run = local_runner(exercise.reference)

        def called(arguments, keywords):
            calls.append((copied(arguments), copied(keywords)))
            return run(arguments, keywords)

        return called

    judge(exercise, recorded, cases=exercise.cases, seed=1)
    for pair in pairs(exercise):
        both = [each for each in pair.misconceptions if each.code]
        if any("while " in each.code.source(each.edits) for each in both):
            run = local_runner(pair.function, seconds=20)
            names = [each.name for each in pair.misconceptions]
            assert {run(*call).kind for call in calls} <= {"value", "raised"}, names


@pytest.mark.thorough
def test_edits_and_families_are_named_in_any_rounding(exercise):
    faults = []
    for turn, each in enumerate(exercise.misconceptions):
        for seed in () if each.kind == "function" else bank.seeds_of_turn(turn, ALL):
            faults += bank.mechanical_faults(exercise, each, seed)
    assert faults == []


def points_of(exercise, function):
    """Return what a function earns, without a word on why."""
    run = local_runner(function)
    students = (StudentFunction(exercise, run, []) for _ in exercise.cases)
    judged = map(judge_case, exercise.cases, students, itertools.repeat(1))
    return sum(verdict.points for verdict in with_points(judged))


def test_reference_of_a_neighbour_earns_nothing(exercise):
    assert points_of(exercise, exercise.reference) == exercise.points
    for other in exercises_of(exercise.lesson):
        if other is not exercise:
            assert points_of(exercise, other.reference) == 0.0, other.name


def test_bank_pays_for_computing_only(exercise):
    assert bank.points_faults(exercise, exercise.cases) == []


# Right by accident. Elsewhere an example with other numbers, or with drawn ones beside
# them, told the answers apart. Here the claim itself is about inputs at which a wrong
# formula is right too (sizes of 1, equal keys), or results of another draw meet it.
BY_ACCIDENT = {
    "attention": {"equal_keys"},  # a second softmax leaves equal weights equal
    "attention_step_by_step": {"equal_keys", "single_key"},
    "bleu": {"as_wanted"},
    "clip_gradients": {"norm_afterwards"},
    "count_transformer": {"sizes_of_one"},
    "cross_entropy": {"equal_logits"},
    "decoder_layer": {"small_example_by_hand"},
    "kv_cache_bytes": {"sizes_of_one"},
    "softmax_by_hand": {"one_more_is_e_times_the_share"},
}


@pytest.mark.thorough  # the matrix of all exercises
def test_who_has_right_values_keeps_their_points(exercise):
    names = {case.name for case in exercise.cases}
    right = {
        case.name: judge_right_answer(exercise, case, GRADING_SEED)
        for case in exercise.cases
    }
    pay_alone = {name for name, judged in right.items() if judged.shows_work}
    rows = matrix_of(exercise, in_notebook=False).misconceptions
    held = [names - {*row.caught_by} for row in rows]
    without_pay = {name for each in held if not each & pay_alone for name in each}
    values = {
        case.name
        for case in exercise.cases
        if case.name in without_pay
        and not case.fine_point  # these never pay alone
        and not trivial_answers_that_pass(exercise, case, GRADING_SEED, by_heart=False)
    }
    assert values == BY_ACCIDENT.get(exercise.name, set())


# The docstring says what a row without a key gives, or such rows are the subject; the
# booleans of head_role_scores are no mask, and a sentence may have no separator.
KEYLESS_ROWS = {"combine_masks", "convert_mask", "head_role_scores", "masked_softmax"}
KEYLESS_ROWS |= {"grouped_query_attention", "sink_attention", "tiled_attention"}


@pytest.mark.parametrize("name", sorted({*exercise_names()} - KEYLESS_ROWS))
def test_masks_leave_each_query_a_key(name):
    exercise, calls = load(name), []
    for case in exercise.cases:
        judge_right_answer(exercise, case, GRADING_SEED, calls)
    for call in calls:
        for _, leaf in leaves([call.arguments, call.keywords]):
            mask = as_array(leaf) if is_array(leaf) or is_tensor(leaf) else np.ones(1)
            assert mask.dtype != bool or mask.ndim == 0 or mask.any(axis=-1).all()


def test_sentences_of_the_bank_follow_the_rules(exercise):
    assert bank.wording_faults(exercise) == []


def test_stub_is_not_written_yet(exercise):
    kinds = "NotImplementedError", "RuntimeError", "Exception"
    for line in (NO_ANSWER.strip(), ""):  # the notebook's, and where none is known
        ended = CallResult("raised", raised=Raised(kinds, "", exercise.name, 1, line))
        result = judge(exercise, lambda bound, ended=ended: lambda *_, **__: ended)
        assert result.is_unwritten
        assert result.points == 0


def test_docstring_is_a_contract(exercise):
    assert bank.docstring_faults(exercise.reference) == []


def test_answers_cover_the_bank(exercise):
    assert bank.answer_count_faults(exercise, answers_to(exercise.name)) == []


@pytest.mark.parametrize(("name", "key"), parts("right"))
def test_right_answer_gets_full_marks(name, key):
    answer, seeds = answer_and_seeds("right", name, key)
    for seed in seeds:
        assert bank.right_answer_fault(load(name), key, answer, seed) == ""


@pytest.mark.parametrize(("name", "key"), parts("spellings", quick=3))
def test_misconception_in_another_spelling_is_named(name, key):
    answer, seeds = answer_and_seeds("spellings", name, key)
    for seed in seeds:
        assert bank.spelling_fault(load(name), key, answer, seed) == ""


@pytest.mark.parametrize(("name", "key"), parts("others", quick=1))
def test_wrong_answer_outside_the_bank_gets_no_name(name, key):
    answer = answers_to(name).others[key]
    assert bank.other_answer_fault(load(name), key, answer) == ""


@pytest.mark.thorough  # the matrix of all exercises, in one process
def test_most_misconceptions_have_the_usual_form():
    rows = [row for e in exercises_of() for row in matrix(e).misconceptions]
    assert sum(row.usual_form for row in rows) >= 0.7 * len(rows)


@pytest.mark.thorough  # the matrix of all exercises, in one process
def test_most_misconceptions_are_named_from_the_visible_cases():
    rows = [row for e in exercises_of() for row in matrix(e).misconceptions]
    assert sum(row.diagnosed_visible for row in rows) >= 0.8 * len(rows)


def test_the_books_formula_for_one_vector_gets_both_its_names():
    def softmax(x, axis=-1):
        powers = np.exp(x)
        return powers / powers.sum()

    result = judge(load("softmax"), local_runner_factory(softmax))  # as in a notebook
    assert result.diagnosis == "no_max_subtraction & summed_over_everything"
