"""Learners' tests: what weak, usual and strong ones earn, and how functions arrive."""

import inspect
import itertools

import numpy as np
import pytest
import torch

from autograder.checking import functions_under_test
from autograder.checking.bank import SEEDS
from autograder.checking.call import local_runner
from autograder.checking.functions_under_test import MAX_NUMBERS, under_test, way_of
from autograder.checking.judging import judge, judge_case
from autograder.checking.learners_tests import trivial_tests
from autograder.checking.matrix import judge_function
from autograder.checking.registry import exercises_of, load
from autograder.checking.student import StudentFunction
from autograder.in_notebook.check import CheckFailed, check, local_runner_factory
from autograder.messages.report import CheckReport
from course_lib import tests_of_parts
from course_lib.lessons.tests_elsewhere import CAUGHT, ELSEWHERE

EXERCISES = [each for each in exercises_of("16_bug_hunt") if each.is_test]
every_exercise = pytest.mark.parametrize(
    "exercise", EXERCISES, ids=[each.name for each in EXERCISES]
)

# What a careful first attempt looks like: drawn inputs, values, shapes, no edges.


def usual_attention(attention):
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=size) for size in ((2, 5, 4), (2, 7, 4), (2, 7, 6)))
    output, weights = attention(q, k, v)
    powers = np.exp(q @ k.swapaxes(-1, -2) / 2)
    expected = powers / powers.sum(axis=-1, keepdims=True)
    assert output.shape == (2, 5, 6)
    assert np.allclose(weights, expected) and np.allclose(output, expected @ v)


def usual_mask(masked_softmax):
    rng = np.random.default_rng(0)
    scores, may_attend = rng.normal(size=(2, 5, 5)), np.tri(5, dtype=bool)
    powers = np.exp(scores) * may_attend
    weights = masked_softmax(scores, may_attend)
    assert np.allclose(weights, powers / powers.sum(axis=-1, keepdims=True))


def usual_positions(sinusoidal_encoding):
    encoding = sinusoidal_encoding(10, 8)
    for t in range(10):
        for i in range(4):
            angle = t / 10000 ** (2 * i / 8)
            assert np.isclose(encoding[t, 2 * i], np.sin(angle))
            assert np.isclose(encoding[t, 2 * i + 1], np.cos(angle))


def usual_layer(encoder_layer):
    judge = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    state = judge.state_dict()
    q, k, v = state["self_attn.in_proj_weight"].chunk(3)
    parameters = {"w_q": q.T, "w_k": k.T, "w_v": v.T}
    parameters["w_o"] = state["self_attn.out_proj.weight"].T
    for i in (1, 2):
        parameters[f"w_{i}"] = state[f"linear{i}.weight"].T
        parameters[f"b_{i}"] = state[f"linear{i}.bias"]
        parameters[f"gain_{i}"] = state[f"norm{i}.weight"]
        parameters[f"bias_{i}"] = state[f"norm{i}.bias"]
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
    result = encoder_layer(x, parameters, 2)
    assert result.shape == x.shape
    assert torch.allclose(result, judge(x), atol=1e-5)


def usual_bpe(train_bpe):
    words = {tuple("low"): 5, tuple("lower"): 2, tuple("newest"): 6, tuple("widest"): 3}
    expected = [("s", "t"), ("e", "st"), ("o", "w"), ("l", "ow"), ("w", "est")]
    assert train_bpe(words, 5) == expected


def usual_decoding(greedy_decode):
    logits = np.full((6, 5, 5), -1.0)
    for t, token_id in enumerate([3, 1, 2, 4]):
        logits[t, :, token_id] = 2.0
    assert greedy_decode(logits, 0, 4, 6) == [3, 1, 2]
    assert greedy_decode(logits, 0, 4, 2) == [3, 1]


USUAL = {
    "test_attention": (usual_attention, (9, 12)),
    "test_mask": (usual_mask, (9, 15)),
    "test_positions": (usual_positions, (8, 11)),
    "test_layer": (usual_layer, (6, 12)),
    "test_bpe": (usual_bpe, (5, 12)),
    "test_decoding": (usual_decoding, (6, 12)),
}


@every_exercise
def test_usual_tests_catch_about_half(exercise):
    usual, expected = USUAL[exercise.name]
    assert exercise.score(usual) == expected


@every_exercise
def test_references_catch_all_and_pass_all_right_versions(exercise):
    caught, of = exercise.score(exercise.reference)
    assert caught == of == len(exercise.cases)


@every_exercise
def test_tests_that_compute_nothing_earn_nothing(exercise):
    for test in trivial_tests().values():
        assert judge_function(exercise, test, exercise.cases, 1).points == 0


def test_tests_elsewhere_catch_what_the_table_says():
    caught = {
        source: {name: load(name).score(test) for name, test in tests.items()}
        for source, tests in ELSEWHERE.items()
    }
    assert caught == CAUGHT


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_tests_that_fail_at_random_earn_next_to_nothing(p):
    exercise, dice = load("test_attention"), np.random.default_rng(0)

    def at_random(attention):
        assert dice.random() > p

    results = [judge_function(exercise, at_random, exercise.cases, s) for s in range(8)]
    shares = [each.points / each.max_points for each in results]
    assert np.mean(shares) < 0.03


class ForgettingRunner:
    """Calls a test, and keeps which functions come first after each start afresh."""

    def __init__(self, test):
        self.run, self.is_first, self.firsts = local_runner(test), False, []

    def __call__(self, arguments, keywords):
        if self.is_first:
            self.firsts.append(way_of(tests_of_parts.test_attention, *arguments))
        self.is_first = False
        return self.run(arguments, keywords)

    def forget(self):
        self.is_first = True


def test_sittings_begin_with_a_broken_and_a_right_version():
    exercise, orders = load("test_attention"), set()
    for seed in (*SEEDS, 3, 4):
        runner = ForgettingRunner(exercise.reference)
        judge_case(exercise.cases[0], StudentFunction(exercise, runner, []), seed)
        orders.add(tuple(runner.firsts))
    assert orders == {("passes", "rejects"), ("rejects", "passes")}


def test_functions_under_test_all_look_alike():
    one, other = under_test(np.sin), under_test(len)
    assert one.__name__ == other.__name__ and one.__code__ is other.__code__
    assert inspect.getsource(one) == inspect.getsource(other)
    assert inspect.signature(one) == inspect.signature(other)
    assert vars(one) == vars(other) == {}
    assert [each.cell_contents for each in one.__closure__] == [one]


def test_functions_under_test_take_and_give_copies():
    table = np.zeros(3)

    def broken(x):
        x += 1
        return table

    function, x = under_test(broken), np.ones(3)
    function(x)[:] = 9
    assert x.tolist() == [1, 1, 1] and table.tolist() == [0, 0, 0]


def test_functions_under_test_refuse_functions_and_large_arrays():
    function = under_test(lambda x: x)
    with pytest.raises(TypeError, match="takes data"):
        function(len)
    with pytest.raises(ValueError, match="at most 4,000"):
        function(np.ones(MAX_NUMBERS + 1))
    assert len(function(np.ones(MAX_NUMBERS))) == MAX_NUMBERS


def report_of(test, name="test_attention"):
    exercise = load(name)
    visible = [case for case in exercise.cases if case.visible]
    return str(CheckReport(exercise, judge_function(exercise, test, visible, 2017)))


def test_report_says_in_one_sentence_what_a_test_did():
    def passes(attention):
        attention(*np.ones((3, 2, 2)))

    def says_false(attention):
        return False

    def stops(attention):
        attention(*np.ones((3, 2, 2)))
        raise IndexError("no such row")

    def rejects(attention):
        raise AssertionError("the sum is not 1")

    assert "Your test lets every function pass that it gets" in report_of(passes)
    assert "→ In your one call, the version of “" in report_of(passes)
    assert "Your test lets the broken function pass." in report_of(passes)
    assert "has to raise AssertionError, as `assert` does" in report_of(says_false)
    assert "stopped with IndexError: no such row" in report_of(stops)
    assert "Your test rejects every function that it was tried with" in report_of(
        rejects
    )
    assert "saying “the sum is not 1”" in report_of(rejects)


def test_check_in_the_notebook_takes_a_learners_test(capsys):
    def test_attention(attention):
        tests_of_parts.test_attention(attention)

    check(test_attention)
    assert "all 6 claims hold" in capsys.readouterr().out
    test_attention.__code__ = (lambda attention: None).__code__
    with pytest.raises(CheckFailed, match="0 of 6"):
        check(test_attention)


def test_way_tells_how_a_test_answers():
    def asserts(function):
        assert function(2) == 2

    assert way_of(asserts, abs) == "passes"
    assert way_of(asserts, str) == "rejects"
    assert way_of(lambda function: function(2), abs) == "answers"
    assert way_of(lambda function: function("2"), abs) == "breaks"
    assert way_of(lambda function: function(), abs) == "stops"
    assert way_of(lambda function: function(2).shape, abs) == "stops"


def rejects_all_but(exercise, name):
    """Return a test that rejects all functions but one, which it knows by heart."""
    passes = {**exercise.right, **exercise.broken}[name]

    def test(function):
        assert functions_under_test._FUNCTIONS[function] is passes

    return test


def test_rejected_right_versions_are_told_of():
    exercise = load("test_attention")
    rounding, other_formula = (
        judge(exercise, local_runner_factory(rejects_all_but(exercise, name))).evidence
        for name in ("computed with loops", "scaled_twice")
    )
    assert "lets right versions pass (computed with loops) and rejects" in rounding
    assert "their results differ by rounding at most" in rounding
    assert "“A division by d_k in place of √d_k is caught”" in other_formula


def test_different_answers_to_one_function_are_told_of():
    exercise, calls = load("test_mask"), itertools.count()

    def every_third(function):
        assert next(calls) % 3

    evidence = judge(exercise, local_runner_factory(every_third)).evidence
    assert "depends on more than what the function returns" in evidence


def test_all_functions_refuse_a_call_in_the_same_words():
    exercise = load("test_attention")
    calls = [
        ((), {}),
        (tuple(range(9)), {}),
        ((*np.ones((3, 2, 2)),), {"axis": -1}),
        (([1], [2], [3]), {}),
    ]
    for arguments, keywords in calls:
        errors = set()
        for each in (*exercise.right.values(), *exercise.broken.values()):
            with pytest.raises(Exception) as raised:
                under_test(each, exercise.contract)(*arguments, **keywords)
            errors.add((raised.type, str(raised.value)))
            frames = {entry.name for entry in raised.traceback}
            assert frames <= {"_answer", "_asked", "function_under_test", *HERE}
        assert len(errors) == 1


HERE = {"test_all_functions_refuse_a_call_in_the_same_words"}


def test_error_of_a_function_itself_is_told_by_its_kind_alone():
    def broken(q, k, v):
        raise np.linalg.LinAlgError("a broken one's own words")

    function = under_test(broken, load("test_attention").contract)
    with pytest.raises(ValueError, match="function under test stopped") as raised:
        function(*np.ones((3, 2, 2)))
    assert raised.type is ValueError and raised.value.__context__ is None


def test_calls_and_results_of_one_test_are_limited_by_number(monkeypatch):
    monkeypatch.setattr(functions_under_test, "MAX_CALLS", 3)
    function = under_test(abs)
    assert [function(-1) for _ in range(3)] == [1, 1, 1]
    with pytest.raises(ValueError, match="at most 3 times"):
        function(-1)
    monkeypatch.setattr(functions_under_test, "MAX_RESULTS", 20)
    function = under_test(np.zeros)
    assert function(12).shape == (12,)
    with pytest.raises(ValueError, match="at most 20 numbers"):
        function(12)
