"""Learners' tests in the sandbox: which of them earn points."""

import textwrap

import pytest

from autograder.checking.own_answer import as_answer
from autograder.checking.registry import load
from autograder.grading.judging import judge_all, plan_of
from autograder.grading.session import Session
from tests.grading.engines import SEED, SHORT
from tests.grading.sessions import check, own, solution
from tests.quick import all_but

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]
ATTENTION = "test_attention"
NAMES = (
    *(ATTENTION, "test_mask", "test_positions"),
    *("test_layer", "test_bpe", "test_decoding"),
)
SET_UP = """
import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Function = Callable[..., Any]
"""
STRONG = as_answer(load(ATTENTION).reference)


def graded(sandbox, texts):
    """Grade answers, by exercise; return the results."""
    cells = [own(SET_UP)]
    for name, text in texts.items():
        cells += [solution(name, textwrap.dedent(text)), check(name)]
    exercises = [load(name) for name in texts]
    plans = {each.name: plan_of(each, SEED) for each in exercises}
    with Session(sandbox, cells, SHORT) as session:
        return judge_all(session, exercises, SEED, {}, plans)


def test_six_strong_tests_get_all_points(sandbox):
    texts = {name: as_answer(load(name).reference) for name in NAMES}
    for result in graded(sandbox, texts):
        assert result.points == result.max_points, result.report
        assert result.max_points == load(result.exercise).points


HOSTILE = {
    "passes_everything": "def test_attention(attention):\n    pass",
    "rejects_everything": "def test_attention(attention):\n    assert False",
    "stops_with_another_error": """
        def test_attention(attention):
            raise IndexError("list index out of range")
    """,
    "returns_its_verdict": """
        def test_attention(attention):
            return False
    """,
    "raises_at_random": """
        def test_attention(attention):
            assert np.random.default_rng().random() < 0.5
    """,
    "takes_turns": """
        calls = []
        def test_attention(attention):
            calls.append(1)
            assert len(calls) % 2
    """,
    "goes_by_the_name": """
        def test_attention(attention):
            assert attention.__name__ == "attention"
    """,
    "goes_by_the_source": """
        import inspect
        sources = set()
        def test_attention(attention):
            sources.add(inspect.getsource(attention))
            assert len(sources) == 1
    """,
    "goes_by_the_code": """
        codes = {}
        def test_attention(attention):
            looks = str(vars(attention)), attention.__code__, attention.__defaults__
            codes[str(looks)] = 1
            assert len(codes) == 1
    """,
    "goes_by_the_identity": """
        seen = set()
        def test_attention(attention):
            seen.add(id(attention))
            assert id(attention) != min(seen)
    """,
    "remembers_results_and_takes_the_first_for_right": """
        remembered = []
        def test_attention(attention):
            q = np.arange(12.0).reshape(3, 4) / 9
            output = attention(q, q[::-1] * 7, q[:, :2] * 99)[0]
            remembered.append(output)
            assert np.allclose(output, remembered[0])
    """,
    "remembers_results_and_takes_the_first_for_broken": """
        remembered = []
        def test_attention(attention):
            q = np.arange(12.0).reshape(3, 4) / 9
            output = attention(q, q[::-1] * 7, q[:, :2] * 99)[0]
            remembered.append(output)
            assert not np.allclose(output, remembered[0])
    """,
    "remembers_in_a_file": """
        import pathlib, tempfile
        def test_attention(attention):
            path = pathlib.Path(tempfile.gettempdir()) / "first.npy"
            q = np.arange(12.0).reshape(3, 4) / 9
            output = attention(q, q[::-1] * 7, q[:, :2] * 99)[0]
            if not path.exists():
                np.save(path, output)
            assert np.allclose(output, np.load(path))
    """,
    "gives_the_function_other_attributes": """
        def test_attention(attention):
            attention.number = 1
            attention.__code__ = (lambda *given: given).__code__
            assert attention(1) == (1,)
    """,
    "goes_by_how_it_refuses_arguments": """
        def test_attention(attention):
            for arguments in ((), range(9)):
                try:
                    attention(*arguments)
                except TypeError as error:
                    assert "variants" not in str(error), error
                    assert "keyword-only" not in str(error), error
    """,
    "goes_by_options_that_it_takes": """
        def test_attention(attention):
            try:
                attention(*np.ones((3, 2, 2)), axis=-1)
            except TypeError:
                return
            assert False
    """,
    "goes_by_the_kind_of_error": """
        def test_attention(attention):
            kinds = []
            for given in ((1, 2, 3), ([1], [2], [3]), ("q", "k", "v"), (None, {}, [])):
                try:
                    attention(*given)
                except Exception as error:
                    kinds.append(type(error).__name__ + str(error))
            assert "AttributeError" not in str(kinds), kinds
    """,
    "goes_by_the_traceback": """
        def test_attention(attention):
            try:
                attention()
            except Exception as error:
                frame = error.__traceback__
                names = []
                while frame:
                    names.append(frame.tb_frame.f_code.co_name)
                    frame = frame.tb_next
                assert error.__context__ is None and "variants" not in names
    """,
    "calls_with_functions": """
        def test_attention(attention):
            attention(print, print, print)
    """,
    "calls_with_too_much": """
        def test_attention(attention):
            attention(*np.ones((3, 300, 300)))
    """,
}


QUICK = (
    *("goes_by_how_it_refuses_arguments", "goes_by_the_code", "raises_at_random"),
    *("remembers_in_a_file", "takes_turns"),
)


@pytest.mark.parametrize("name", all_but(QUICK, HOSTILE))
def test_hostile_test_earns_nothing_and_harms_no_other(sandbox, name):
    texts = {
        ATTENTION: HOSTILE[name],
        "test_mask": as_answer(load("test_mask").reference),
    }
    hostile, honest = graded(sandbox, texts)
    by_chance = 0.25 if name == "raises_at_random" else 0.0
    assert hostile.points <= by_chance * hostile.max_points, hostile.report
    assert all(verdict.why for verdict in hostile.cases if verdict.status != "ok")
    assert honest.points == honest.max_points, honest.report


ENDLESS = "def test_attention(attention):\n    while True:\n        pass"
ASKS_ON = """
def test_attention(attention):
    while True:
        attention(*np.ones((3, 1, 1)))
"""
EXIT = "import os\ndef test_attention(attention):\n    os._exit(0)"


@pytest.mark.parametrize(
    "case",
    all_but(
        [(ENDLESS, ["timeout"]), (EXIT, ["crashed"])],
        [
            (ENDLESS, ["timeout"]),
            (ASKS_ON, ["wrong", "timeout"]),  # by the number of calls, or by its time
            (EXIT, ["crashed"]),
        ],
    ),
    ids=["loop", "asks", "exit"],
)
def test_test_without_end_earns_nothing(sandbox, case):
    text, ends = case
    hostile, honest = graded(
        sandbox, {ATTENTION: text, "test_mask": as_answer(load("test_mask").reference)}
    )
    assert hostile.points == 0
    assert {verdict.status for verdict in hostile.cases} <= {*ends}
    assert honest.points == honest.max_points, honest.report


def test_each_case_pays_for_one_broken_version(sandbox):
    text = STRONG.replace("(1, 1000)", "(1, 1)").replace(", ((), 5, 1000)]", "]")
    assert text != STRONG
    (result,) = graded(sandbox, {ATTENTION: text})
    missed = {each.case for each in result.cases if each.status != "ok"}
    assert missed == {"exponentials_overflow", "one_maximum_for_everything"}
    assert 0 < result.points < result.max_points
    (verdict,) = [each for each in result.cases if each.case == "exponentials_overflow"]
    assert verdict.why == "Your test lets the broken function pass."


def test_hidden_case_names_no_text_of_the_test(sandbox):
    text = """
        def test_attention(attention):
            raise IndexError(str(attention(*np.ones((3, 2, 2)))))
    """
    (result,) = graded(sandbox, {ATTENTION: text})
    for verdict in result.cases:
        assert ("IndexError" in verdict.why) == verdict.visible
