"""What is said of learners' tests: weak ones, strong ones, and what is never said."""

import re
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from autograder.checking import why_tests_pass
from autograder.checking.assertions import cannot_fail, compared_with_itself
from autograder.checking.call import copied
from autograder.checking.functions_under_test import CallsMade, under_test
from autograder.checking.matrix import judge_function
from autograder.checking.recorded_results import wrong_among
from autograder.checking.registry import load
from autograder.checking.why_tests_pass import arguments_of
from tests.checking.test_right_versions import INPUTS
from tests.quick import all_but
from tests.unseen import UnseenAnswer, judged

HERE = Path(__file__).parent / "tests_of_learners"
HEAD = re.compile(r"^# === (test_\w+): (.*)\n((?:# told: .*\n)*)", re.MULTILINE)
QUICK = "test_attention", "test_positions", "test_decoding"


def read(name):
    """Return (exercise, about, what it is told, code) of a file's tests."""
    text = (HERE / name).read_text(encoding="utf-8")
    heads = [*HEAD.finditer(text)]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        exercise, about, words = head.groups()
        fragments = re.findall(r"# told: (.*)", words)
        yield pytest.param(exercise, fragments, text[head.end() : end], id=about)


def judged_text(exercise, code):
    return judged(UnseenAnswer(exercise, 1, False, "", "", code.strip() + "\n"))


@pytest.mark.parametrize(("exercise", "fragments", "code"), [*read("weak.txt")])
@pytest.mark.filterwarnings("ignore:assertion is always true:SyntaxWarning")
def test_weak_test_is_told_what_it_lacks(exercise, fragments, code):
    result = judged_text(exercise, code)
    assert not result.passed and fragments
    for fragment in fragments:
        assert fragment in result.evidence
    assert result.evidence.endswith("?")  # a statement alone may be left out


@pytest.mark.parametrize(("exercise", "fragments", "code"), [*read("strong.txt")])
def test_strong_test_gets_all_points(exercise, fragments, code):
    result = judged_text(exercise, code)
    assert result.points == result.max_points
    assert result.evidence == "" and not fragments


def test_weak_tests_name_is_kept_unless_calls_contradict_it():
    exercise = load("test_decoding")
    weak = {each.name: each.function for each in exercise.misconceptions}

    def tries_without_looking(decode):
        weak["no_empty_sequence"](decode)
        decode(np.eye(3)[None, [2, 2, 2]], 0, 2, 1)  # ends at once

    named = judge_function(exercise, weak["no_empty_sequence"], exercise.cases, 1)
    other = judge_function(exercise, tries_without_looking, exercise.cases, 1)
    assert (named.diagnosis, named.evidence) == ("no_empty_sequence", "")
    assert other.diagnosis == "" and "and no assertion fails" in other.evidence


def test_missing_input_is_said_next_to_a_name_that_is_of_none():
    exercise = load("test_positions")
    weak = {each.name: each.function for each in exercise.misconceptions}
    result = judge_function(
        exercise, weak["docstrings_example_alone"], exercise.cases, 1
    )
    assert result.diagnosis == "docstrings_example_alone"
    assert "has an odd d_model" in result.evidence


def test_numbers_of_one_call_are_said_of_that_call():
    code = """
    def test_positions(sinusoidal_encoding):
        for base in (10_000.0, 30.0):
            table = sinusoidal_encoding(15, 10, base)
            assert np.allclose(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, 1)
    """
    several = judged_text("test_positions", dedent(code)).evidence
    assert several.startswith("In each of your 2 calls, the version of “")
    assert "” is wrong, and no assertion fails: in the first of them it has " in several
    one = judged_text("test_positions", dedent(code).replace(", 30.0", ",")).evidence
    assert one.startswith("In your one call, the version of “") and "first" not in one


def test_missing_ties_are_said_to_be_of_rows_that_are_read():
    code = """
    def test_decoding(greedy_decode):
        logits = np.full((6, 5, 5), -7.0)  # all equal behind the end
        for t, token in enumerate((1, 2, 3, 4)):
            logits[t, :, token] = -2
        assert greedy_decode(logits, 0, 4, 6) == [1, 2, 3]
    """
    sentence = judged_text("test_decoding", dedent(code)).evidence
    assert ", a step whose row of logits has two highest ones " in sentence


def inputs_for(name, most=300):
    """Return hostile inputs of all kinds, drawn from those of the right versions."""
    rng = np.random.default_rng(1)
    inputs = [copied(tuple(each)) for _, each in INPUTS[name](rng)]
    chosen = rng.permutation(len(inputs))[:most]
    return [inputs[index] for index in chosen]


def wrong_calls(exercise, broken, inputs):
    """Yield the calls with these inputs in which a broken version goes wrong."""
    for arguments in inputs:
        record = CallsMade()
        function = under_test(broken, exercise.contract, record)
        try:
            function(*arguments)
        except Exception:  # of the broken version
            assert record.calls[-1].stopped
        yield from wrong_among(record.calls)


@pytest.mark.parametrize("name", all_but(QUICK, INPUTS))
def test_broken_versions_go_wrong_in_their_kinds_of_input_alone(name):
    exercise = load(name)
    inputs = inputs_for(name, 100 if name == "test_layer" else 300)
    for broken in {each for kind in exercise.kinds for each in kind.broken}:
        kinds = [kind for kind in exercise.kinds if broken in kind.broken]
        calls = [*wrong_calls(exercise, exercise.broken[broken], inputs)]
        assert calls, f"no input shows {broken}"
        for call in calls:
            arguments = arguments_of(exercise, call)
            for kind in kinds:
                assert kind.holds(arguments), f"{broken}, without {kind.words}"


CANNOT_FAIL = {
    "its brackets make a tuple": 'assert (result == 3, "wrong")',
    "is not empty": "assert [result == 3]",
    "counts as true. Which condition": 'assert "the result is 3"',
    "a generator or a lambda": "assert (each == 3 for each in result)",
    "`or` is followed or preceded": "assert result == 3 or 4",
    "is a function that is not called": "assert np.equal(result, 3).all",
    "compares `result` with itself": "assert np.allclose(result, result)",
    "and does nothing with it": "np.allclose(result, 3)",
    "compares two truth values": "assert result.all() == np.ones(2).all()",
    "is taken with the signs": "assert (result - 3).max() < 1e-9",
    "The `except` in line 5": """
        try:
            assert result == 3
        except AssertionError:
            print("wrong")
    """,
    "your test never calls it": """
        def compare():
            assert result == 3
    """,
}


def in_a_test(body):
    lines = dedent(body).strip("\n").splitlines()
    return "\n".join(
        ["def test_it(f):", "    result = f(2)", *("    " + line for line in lines)]
    )


@pytest.mark.parametrize(("words", "body"), CANNOT_FAIL.items())
def test_assertion_that_cannot_fail_is_named(words, body):
    assert words in cannot_fail(in_a_test(body), "test_it")


INNOCENT = [
    'assert result == 3, "wrong"',
    "assert (result == 3)",
    "assert result == 3 or result == 4",
    "assert all(each == 3 for each in result)",
    "assert (result == 3).all() == True",
    "assert (result - 3).max() < 1e-9 and (result - 3).min() > -1e-9",
    "assert abs(result - 3).max() < 1e-9",
    "assert (result - 3).max() < 1e-9\nassert (3 - result).max() < 1e-9",
    "equal = result == 3\nassert equal",
    "np.testing.assert_allclose(result, 3)",
    "compare = lambda: result\nassert compare()",
    "try:\n    f('two')\nexcept ValueError:\n    pass\nassert result == 3",
    "try:\n    assert result == 3\nexcept AssertionError:\n    raise",
    "try:\n    assert result == 3\nexcept AssertionError as e:\n    assert False, e",
    "try:\n    assert result == 3\nexcept TypeError:\n    pass",
    "def compare(x):\n    assert x == 3\ncompare(result)",
    "def compare(x):\n    assert x == 3\nfor each in map(compare, result):\n    pass",
]


@pytest.mark.parametrize("body", INNOCENT)
def test_nothing_is_said_of_assertions_that_can_fail(body):
    assert cannot_fail(in_a_test(body), "test_it") == ""


def test_results_that_are_all_dropped_are_found_by_the_text():
    dropped = "def test_it(f):\n    f(2)\n"
    assert "drops what it returns" in cannot_fail(dropped, "test_it")
    assert cannot_fail(dropped + "    assert f(3) == 3", "test_it") == ""


def test_lists_of_lists_that_are_wrong_are_compared():
    # As lists of pairs are where a broken `train_bpe` returns lists for tuples.
    pairs = [([["a", "b"], ["b", "c"]], [["b", "c"], ["a", "b"]])]
    assert why_tests_pass._shared_of_part(pairs) == [
        "what the lists hold, in another order"
    ]
    assert why_tests_pass._shared_of_part([([["a"], "c"], [["b"], "c"])]) == [
        "the lengths",
        "the last",
    ]


def test_results_compared_with_each_other_are_found_by_the_text():
    one = "other = f(2)\nassert np.allclose(result, other)"
    assert compared_with_itself(in_a_test(one), "test_it") == 4
    assert compared_with_itself(in_a_test(one + "\nassert f(2) == 3"), "test_it") == 0
    assert compared_with_itself(in_a_test("assert result == 3"), "test_it") == 0


def test_results_that_should_differ_are_no_comparison():
    apart = "assert not np.allclose(result, f(2))"
    assert compared_with_itself(in_a_test(apart), "test_it") == 0
    alike = "assert not (result is None) and np.allclose(result, f(2))"
    assert compared_with_itself(in_a_test(alike), "test_it") == 3
