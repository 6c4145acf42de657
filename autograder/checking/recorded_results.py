"""Runs of a learner's test: the results that it got, each with the right one."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograder.checking.assertions import shortened
from autograder.checking.call import Runner
from autograder.checking.exercise import Function
from autograder.checking.functions_under_test import (
    CallsMade,
    HandedOutCall,
    Verdict,
    verdict_of,
)
from autograder.checking.learners_tests import LearnersTest
from autograder.checking.student import StudentFunction
from autograder.checking.values import as_array, is_array, is_tensor

NEARLY = 1e-9  # what the tests' docstrings call rounding
NEARLY_SINGLE = 1e-5  # the same, where float32 goes in


class RunOfTest(NamedTuple):
    """What a test said of one version, and the calls that it made of it."""

    verdict: Verdict
    record: CallsMade


class RecordedTest:
    """A learner's test that can be run against any version, and its text."""

    def __init__(self, exercise: LearnersTest, runner: Runner, text: str) -> None:
        self.exercise, self.text = exercise, text
        self.student = StudentFunction(exercise, runner, [])
        self.student.start_afresh()
        self.claims = {case.name: case.claim for case in exercise.cases}

    def run(self, function: Function) -> RunOfTest:
        record = CallsMade()
        contract = self.exercise.contract
        return RunOfTest(verdict_of(self.student, function, contract, record), record)

    def version(self, name: str) -> str:
        """Return how a broken version is called: by the claim that learners read."""
        return f"the version of “{self.claims[name]}”"


def pairs_of(call: HandedOutCall) -> list[tuple[Any, Any]]:
    """Return the parts of a result, each with the right one."""
    if isinstance(call.expected, tuple) and isinstance(call.result, tuple):
        if len(call.expected) == len(call.result):
            return [*zip(call.result, call.expected, strict=True)]
    return [(call.result, call.expected)]


def wrong_among(calls: Sequence[HandedOutCall]) -> list[HandedOutCall]:
    """Return the calls in which a version has returned something wrong, or stopped."""
    return [
        call
        for call in calls
        if not call.refused
        and (call.stopped or not all(is_same(*pair, call) for pair in pairs_of(call)))
    ]


def is_same(got: Any, right: Any, call: HandedOutCall) -> bool:
    if not (is_array(right) or is_tensor(right)):
        return repr(got) == repr(right)
    if type(got) is not type(right) or np.shape(got) != np.shape(right):
        return False
    most = NEARLY_SINGLE if _has_single(call) else NEARLY
    return np.allclose(numbers_of(got), numbers_of(right), most, most, equal_nan=True)


def _has_single(call: HandedOutCall) -> bool:
    """Decide whether something less precise than float64 goes in or comes out."""
    for part in _arrays([*call.arguments[0], *call.arguments[1].values()]):
        if part.dtype.kind == "f" and part.dtype.itemsize < 8:
            return True
    return False


def _arrays(values: Sequence[Any]) -> Iterator[np.ndarray]:
    for value in values:
        if isinstance(value, dict):
            yield from _arrays([*value.values()])
        elif is_array(value):
            yield value
        elif is_tensor(value):
            yield as_array(value)


def numbers_of(value: Any) -> np.ndarray:
    return np.asarray(as_array(value) if is_tensor(value) else value, dtype=float)


def largest_difference(calls: Sequence[HandedOutCall]) -> float:
    """Return how far results are from the right ones, beside these; inf if not at all.

    So a wrong shape, NaN and an error are infinitely far.
    """
    largest = 0.0
    for call in calls:
        if call.refused:
            continue
        for got, right in pairs_of(call):
            if not (is_array(right) or is_tensor(right)):
                largest = max(largest, 0.0 if repr(got) == repr(right) else np.inf)
                continue
            if call.stopped or np.shape(got) != np.shape(right):
                return np.inf
            got, right = numbers_of(got), numbers_of(right)
            far = np.abs(got - right) / (1 + np.abs(right))
            largest = max(largest, np.nan_to_num(far, nan=np.inf).max(initial=0.0))
    return largest


def briefly(value: Any, most: int = 60) -> str:
    """Return a value in a few characters, an array by its shape."""
    if isinstance(value, tuple) and any(is_array(each) for each in value):
        return " and ".join(briefly(each) for each in value)
    if is_array(value) or is_tensor(value):
        numbers = numbers_of(value).ravel()
        first = ", ".join(f"{each:.3g}" for each in numbers[:3])
        what = f"an array of shape {tuple(value.shape)}"
        return f"{what} that begins with {first}" if first else what
    if isinstance(value, dict) and next(_arrays([value]), None) is not None:
        return f"a dictionary of {', '.join(map(str, value))}"
    return shortened(repr(value), most)
