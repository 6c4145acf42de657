"""Exercises whose answer is a test: it gets a function and says whether it is right.

A learner's test gets right versions of a function, which it has to let pass, and
broken ones, at which it has to raise ``AssertionError``. Each case is about one broken
version: it is caught, and all right versions pass. So a test that lets everything pass
earns nothing, and neither does one that rejects everything.

What holds in the notebook and in the sandbox:

- A test sees of a function what it returns, and nothing else. All functions have one
  name and one kind, each call brings a new one, arguments and results are copies.
- The order is drawn. Broken and right versions alternate, most come several times, so
  counting calls or guessing leads nowhere.
- In the sandbox each case has two sittings, each in a process that knows of no call
  before. One begins with the broken version and one with a right one: who remembers
  what earlier functions returned knows nothing when it counts.
"""

import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from autograder.checking.assertions import shortened
from autograder.checking.edits import read_entries
from autograder.checking.exercise import Exercise, Function
from autograder.checking.functions_under_test import (
    CAUGHT,
    Verdict,
    Way,
    under_test,
    verdict_of,
    way_of,
)
from autograder.checking.student import ClaimFailure, Reason, StudentFunction

# What the lesson shows of others' tests; to hand one in is noted.
TESTS_ELSEWHERE = tuple(
    f"course_lib.lessons.tests_elsewhere.{name}"
    for name in (
        *("attention_like_cs336", "mask_like_cs336", "layer_like_cs336"),
        *("bpe_like_cs336", "attention_like_d2l", "layer_like_d2l", "bpe_like_minbpe"),
    )
)


# A strong test ends in `assert is_right, …`, which the broken function makes False.
SAYING_NO = """
lets_everything_pass: is_right &= -> is_right |=
  Your test lets every function pass that it gets, broken ones too.
  ? Which of your lines can raise AssertionError, and what has to happen for it?
  # No assertion, one that cannot fail, results compared with themselves, or an `except`
    around it that swallows it.
rejects_everything: {rejects}
  Your test rejects every function that it was tried with, right ones too.
  ? What does your test say of {own}?
  # An expected shape or number is wrong, and no right version was tried.
returns_false:
  | assert is_right… ->
  :     if not is_right:
  :         return False
  Your test returns False for a broken function, and raises nothing.
  ? What does `assert` do that `return False` does not?
  # `return False` says what is wrong, and nobody listens.
returns_true_or_false: assert is_right… -> return is_right
  Your test returns True or False, and raises nothing.
  # np.allclose returns a bool, and `return np.allclose(…)` reads like a test.
raises_another_error:
  | assert is_right… ->
  :     if not is_right:
  :         raise ValueError('the result is wrong')
  Your test stops at broken functions with an error that is no AssertionError.
  ? Which exception does `assert` raise?
  # `raise ValueError(…)` is how functions refuse arguments.
"""
COMPARING = """
shapes_alone:
  Your test catches what a test catches that compares shapes alone.
  ? Which of your assertions fails if all numbers are wrong and all shapes right?
  # Unit tests of models in many repositories assert shapes and nothing else.
rounding_is_an_error:
  Your test rejects right versions that differ by rounding.
  ? What is 0.1 + 0.2 == 0.3?
  # `==`, np.array_equal and torch.equal compare floats digit by digit.
"""


class InputKind(NamedTuple):
    """A kind of input that a test may lack, and what then goes unnoticed.

    words : what "None of your calls has" goes on with
    holds : whether a call is of that kind; it gets the call's arguments by their names,
        and ``expected``, what a right version returns
    broken : names of broken versions that return something wrong in such calls alone
    question : what leads to it
    weak : name of the misconception that lacks this kind and nothing else, "" for none
    """

    words: str
    holds: Callable[[SimpleNamespace], bool]
    broken: tuple[str, ...]
    question: str
    weak: str = ""


class LearnersTest(Exercise):
    """An exercise whose answer is a test of another function.

    right : right versions of that function, by how each of them works
    """

    is_test = True

    def __init__(
        self,
        reference: Function,
        *,
        lesson: str,
        minutes: int,
        difficulty: int,
        right: Mapping[str, Function],
    ) -> None:
        """Define the exercise, without broken versions yet.

        reference : a test that lets all right versions pass and catches all broken ones
        right : as ``{"computed with loops": ...}``; the words end a sentence
        """
        super().__init__(
            reference,
            lesson=lesson,
            minutes=minutes,
            difficulty=difficulty,
            library=TESTS_ELSEWHERE,
        )
        self.right = dict(right)
        self.broken: dict[str, Function] = {}
        self.kinds: list[InputKind] = []
        self.parts: tuple[str, ...] = ()  # names of a result's parts, if it is a tuple
        self.usual(lambda rng: (under_test(self.contract),))

    @property
    def contract(self) -> Function:
        """The first right version: its parameters and errors are those of all."""
        return next(iter(self.right.values()))

    def catches(
        self,
        name: str,
        claim: str,
        broken: Function,
        *,
        weight: float = 1,
        visible: bool = True,
    ) -> None:
        """Add a case: all right versions pass, and this broken one is caught.

        name : of the broken version
        claim : which error it has, as in "An attention without 1/√d_k is caught"
        """

        def run(student: StudentFunction, rng: np.random.Generator) -> None:
            _hold_sittings(self, student, rng, broken, visible)

        run.__name__ = name
        self.case(claim, weight=weight, visible=visible)(run)
        self.broken[name] = broken

    def catches_of(
        self,
        bank: Exercise,
        names: Mapping[str, str],
        *,
        weight: float = 1,
        visible: bool = True,
    ) -> None:
        """Add cases for wrong functions that another bank has as misconceptions.

        names : of the misconceptions, each with the claim
        """
        self.parts = bank.returns
        known = {each.name: each.function for each in bank.misconceptions}
        for name, claim in names.items():
            self.catches(name, claim, known[name], weight=weight, visible=visible)

    def shows_with(
        self,
        words: str,
        holds: Callable[[SimpleNamespace], bool],
        *broken: str,
        question: str,
        weak: str = "",
    ) -> None:
        """Add a kind of input without which broken versions look right: ``InputKind``.

        Those kinds come first that are the most usual to lack.
        """
        self.kinds.append(InputKind(words, holds, broken, question, weak))

    def weak_at_saying_no(self, own: str, rejects: str, of: Function) -> None:
        """Add five weak tests, which differ from a strong one in its last line alone.

        own : the learner's own function of that kind, as in "the attention that you
            wrote in lesson 01"
        rejects : the edit that makes it reject everything
        of : the strong test: its assertion is ``assert is_right, …``, and it has
            ``is_right &= …`` once
        """
        self.edits(SAYING_NO.format(own=own, rejects=rejects), of=of)

    def weak_at_comparing(self, text: str, of: Function) -> None:
        """Add two weak tests: of shapes alone, and of floats to the last digit.

        text : the edits, by the names of ``COMPARING``
        of : the test that is edited
        """
        words = {each.name: each for each in read_entries(COMPARING)}
        self.edits(text, of=of, words=words)

    def score(self, test: Function, seed: int = 0) -> tuple[int, int]:
        """Return how many of the broken versions a test catches, and of how many.

        A test that rejects a right version, or stops at one, catches none.
        """
        if any(self._way(test, each) != "passes" for each in self.right.values()):
            return 0, len(self.broken)
        ways = [self._way(test, broken) for broken in self.broken.values()]
        return sum(way in CAUGHT for way in ways), len(ways)

    def _way(self, test: Function, function: Function) -> Way:
        return way_of(test, function, self.contract)


# A case


class _Seat(NamedTuple):
    """A version in a sitting: ``how`` it works, "" for the broken one."""

    function: Function
    how: str


def _sittings(
    rng: np.random.Generator, broken: Function, right: Mapping[str, Function]
) -> list[list[_Seat]]:
    """Return two orders, one of which begins with the broken version."""
    bad = _Seat(broken, "")
    good = [_Seat(function, how) for how, function in right.items()]
    good = [good[index] for index in rng.permutation(len(good))]
    half = len(good) // 2
    firsts = bad, good[half]
    rests = [bad, bad, *good[:half]], [bad, bad, *good[half + 1 :]]
    sittings = [
        [first, *(rest[index] for index in rng.permutation(len(rest)))]
        for first, rest in zip(firsts, rests, strict=True)
    ]
    return sittings[:: rng.choice([1, -1])]


def _hold_sittings(
    exercise: LearnersTest,
    student: StudentFunction,
    rng: np.random.Generator,
    broken: Function,
    visible: bool,
) -> None:
    """Raise ``ClaimFailure`` unless a test catches the broken version and no other."""
    student.has_compared = True
    for sitting in _sittings(rng, broken, exercise.right):
        student.start_afresh()
        for function, how in sitting:
            verdict = verdict_of(student, function, exercise.contract)
            if verdict.way in (("passes",) if how else CAUGHT):
                continue
            if how and verdict.way == "answers":
                continue  # a value that nobody asked for does no harm here
            reason, sentence = _complaint(verdict, how, visible)
            raise ClaimFailure(reason, verdict.call, sentence=sentence)


def _complaint(verdict: Verdict, how: str, visible: bool) -> tuple[Reason, str]:
    """Return why a verdict is wrong, as a reason and as one sentence.

    how : how a right version works; "" for the broken one
    visible : False leaves out what the test's own texts say: they may tell a hidden
        function's results
    """
    which = f"a function that is right ({how})" if how else "the broken function"
    raised = verdict.raised
    if verdict.way == "passes":
        return "verdict", "Your test lets the broken function pass."
    if verdict.way == "answers":
        value = verdict.call.result.value
        returned = f"returned {value}" if type(value) is bool else "returned a value"
        return "verdict", (
            f"For the broken function your test {returned}: a test that finds an error "
            "has to raise AssertionError, as `assert` does."
        )
    if verdict.way == "rejects":
        says = f", saying “{shortened(raised.message, 120)}”"
        says = says if visible and raised.message.strip() else ""
        return "verdict", f"Your test rejects {which}{says}."
    if verdict.way in ("breaks", "stops"):
        if raised.types[0] == "NotImplementedError":
            return "raised", "Your test is not written yet."
        what = "an error of its own"
        if visible:
            text = shortened(raised.message, 120)
            what = raised.types[0] + (f": {text}" if text else "")
            what += f" (line {raised.line_number})" if raised.line_number else ""
        return "verdict", (
            f"Your test stopped with {what}, for {which}: it has to say what is wrong "
            "by an assertion."
            if not how
            else f"Your test stopped with {what}, for {which}."
        )
    endings: dict[str, str] = {
        "timeout": "was still running when its time was up",
        "crashed": "ended the whole Python process",
        "output": "returned more data than can be graded",
        "untried": "was not called: the notebook had used up what one may take in all",
    }
    kind: Any = verdict.call.result.kind
    return kind, f"Your test {endings[kind]}, for {which}."


# Tests that test nothing: what they earn is 0


def trivial_tests() -> dict[str, Callable[[Any], None]]:
    """Return tests that do not look at what the function they get returns."""

    def passes(function: Any) -> None:
        return None

    def rejects(function: Any) -> None:
        raise AssertionError

    def stops(function: Any) -> None:
        raise IndexError

    def by_its_looks(function: Any) -> None:
        texts.append(f"{function.__name__}{inspect.signature(function)}")
        texts.append(inspect.getsource(function))
        if len(set(texts)) > 2:
            raise AssertionError

    def by_what_it_takes(function: Any) -> None:
        for arguments, keywords in (
            *(((), {}), ((*range(9),), {}), (([[1.0]], [[1.0]], [[1.0]]), {})),
            *(((), {"axis": -1}), ((*np.ones((3, 2, 2)),), {"axis": -1})),
        ):
            try:
                function(*arguments, **keywords)
                answer = "a result"
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            answers.setdefault(str((len(arguments), *keywords)), []).append(answer)
        if any(len(set(each)) > 1 for each in answers.values()):
            raise AssertionError
        if any(word in str(answers) for word in ("variants", "keyword-only")):
            raise AssertionError

    texts: list[str] = []
    answers: dict[str, list[str]] = {}
    return {
        "it lets everything pass": passes,
        "it rejects everything": rejects,
        "another error at everything": stops,
        "the function's name and source": by_its_looks,
        "which arguments it takes, and how it refuses others": by_what_it_takes,
    }
