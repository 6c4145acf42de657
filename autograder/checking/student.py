"""The learner's function as a case calls it, and what a case asserts about it.

``StudentFunction`` wraps a runner: it records every call with its result, and refuses
results of the wrong type or shape before a case sees any value.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from autograder.checking.call import Call, CallResult, Runner, copied
from autograder.checking.comparison import Difference, first_difference
from autograder.checking.exercise import Case, Exercise
from autograder.checking.remembered import key_of, remembered
from autograder.checking.values import (
    FLOATS,
    bytes_per_number,
    dtype_name,
    is_array,
    is_one_of,
    is_tensor,
    leaves,
    number_kind,
)

# An unwritten answer's line, and what it is where the source is not known.
STUBS = ("raise NotImplementedError", "raise NotImplementedError()", "")
Ending = Literal["raised", "timeout", "crashed", "output", "untried"]
Reason = (
    Ending
    | Literal["none", "differs", "changed", "no_error", "claim", "error", "verdict"]
)


class ClaimFailure(AssertionError):
    """A claim that does not hold, with the evidence for the message."""

    def __init__(
        self,
        reason: Reason,
        call: Call | None = None,
        difference: Difference | None = None,
        what: str = "",
        sentence: str = "",
        *,
        not_tried: bool = False,
    ) -> None:
        """Keep the reason, the call that shows it and the difference in its result.

        what : for "differs", what was compared, if it is not the result itself; for
            "raised" and "no_error", the error that was asked for; else a message
        sentence : the whole explanation, where the case itself knows it
        not_tried : whether the call has ended before the claim could be tried
        """
        super().__init__(reason)
        self.reason = reason
        self.call = call
        self.difference = difference
        self.what = what
        self.sentence = sentence
        self.not_tried = not_tried


@runtime_checkable
class RunnerWithMemory(Protocol):
    """A runner whose function may remember earlier calls, and can be made to forget."""

    def __call__(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> CallResult:
        """Make one call."""

    def forget(self) -> None:
        """Let the next call be the first of a process."""


@dataclass
class StudentFunction:
    """The learner's function, callable from a case.

    exercise : the exercise it answers
    runner : makes one call, in this process or in a sandbox
    calls : every call so far, in order
    case : the case that calls it
    has_compared : whether a result was compared with what was expected
    is_single : whether a result was right to the digits of float32 only
    """

    exercise: Exercise
    runner: Runner
    calls: list[Call]
    case: Case | None = None
    has_compared: bool = False
    is_single: bool = False

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function; return its value if type and shape are as the spec's.

        Raises ``ClaimFailure`` on

        - an exception, a call without end, or None
        - a wrong type or shape
        - a number that is not finite where the spec's is
        - a dtype less precise than every floating input, if it is none of float32
        """
        return copied(self._value(arguments, keywords, values=False))

    def agrees(self, *arguments: Any, **keywords: Any) -> None:
        """Assert that the function answers these arguments as the spec does."""
        self._value(arguments, keywords, values=True)
        self.has_compared = True

    def expect(self, actual: Any, expected: Any, what: str = "") -> None:
        """Assert that a result of the last call equals what was expected.

        actual : the value, or something computed from it
        what : its name in the message, if it is not the result itself
        """
        self.has_compared = True
        call = self.calls[-1]
        difference, is_single = compare(call, actual, expected)
        if difference:
            raise ClaimFailure("differs", call, difference, what)
        self.is_single |= is_single

    def expect_an_int(self, actual: Any) -> None:
        """Assert that a count is an integer of Python or NumPy, no float that is equal.

        actual : a result of the last call
        """
        is_int = isinstance(actual, int | np.integer)
        self.expect("int" if is_int else type(actual).__name__, "int", "the type")

    def start_afresh(self) -> None:
        """Make the next call find nothing of earlier ones, where the runner can."""
        if isinstance(self.runner, RunnerWithMemory):
            self.runner.forget()

    def leaves_unchanged(self, *arguments: Any) -> None:
        """Assert that a call leaves its arguments as they were, whatever it returns."""
        call = self.record(*arguments)
        if call.result.kind != "value":
            raise ClaimFailure(call.result.kind, call, not_tried=True)
        if call.result.value is None:
            raise ClaimFailure("none", call, not_tried=True)
        difference = first_difference(call.result.arguments, call.arguments, exact=True)
        if difference:
            raise ClaimFailure("changed", call, difference)

    def raises(self, error: type[Exception], *arguments: Any, **keywords: Any) -> None:
        """Assert that a call raises this kind of exception."""
        call = self.record(*arguments, **keywords)
        kind, raised = call.result.kind, call.result.raised
        if kind == "value":
            raise ClaimFailure("no_error", call, what=error.__name__)
        if raised is None:
            raise ClaimFailure(kind, call)
        # The field refuses with this kind too, and says what.
        line = raised.line.partition("#")[0].strip()
        unwritten = raised.is_stub and line in STUBS
        if unwritten or error.__name__ not in raised.types:
            raise ClaimFailure("raised", call, what=error.__name__)

    def _value(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any], *, values: bool
    ) -> Any:
        """Call the function; return its value, compared with what the spec returns.

        values : False compares the form only
        """
        call = self.record(*arguments, **keywords)
        result = call.result
        if result.kind != "value":
            raise ClaimFailure(result.kind, call)
        expected = remembered(
            (self.exercise.expected_function, "spec"),
            key_of(arguments, keywords),
            lambda: self.exercise.expected(copied(arguments), copied(keywords)),
        )
        if result.value is None and expected is not None:
            raise ClaimFailure("none", call)
        difference, is_single = compare_result(call, expected, values=values)
        if difference:
            raise ClaimFailure("differs", call, difference)
        self.is_single |= is_single
        return result.value

    def record(self, *arguments: Any, **keywords: Any) -> Call:
        """Call the function and return the call with its result, whatever that is."""
        before = copied(arguments), copied(keywords)
        call = Call(*before, self.runner(arguments, keywords), self.exercise.precise)
        if case := self.case:
            call = replace(
                call,
                precise=call.precise or case.precise,
                fine_point=case.fine_point,
                hidden=not case.visible,
                case=case.name,
            )
        self.calls.append(call)
        return call


SINGLE = 4  # bytes of a float32


class ComparedResult(NamedTuple):
    """The first difference, or none: is_single if there is none in float32's digits."""

    difference: Difference | None
    is_single: bool = False


def compare(
    call: Call, actual: Any, expected: Any, *, values: bool = True
) -> ComparedResult:
    """Compare a call's result, or something computed from it, with what is expected.

    values : False compares the form only

    What is computed in float32 inside is right: few lessons are about digits, and the
    field computes in float32. Where they are the subject, the call is ``precise``.
    """
    least = least_precise(call).bytes_per_number
    difference = first_difference(actual, expected, values=values, least=least)
    if difference is None or difference.kind != "value" or call.precise or least < 8:
        return ComparedResult(difference)
    if first_difference(actual, expected, single_inside=True):
        return ComparedResult(difference)
    return ComparedResult(None, is_single=True)


def compare_result(call: Call, expected: Any, *, values: bool = True) -> ComparedResult:
    """Compare a call's whole result, its dtype too, with what is expected."""
    value, least = call.result.value, least_precise(call)
    compared = compare(call, value, expected, values=values)
    if compared.difference and compared.difference.kind != "value":
        return compared
    lost = lost_precision(value, call, least, expected)
    if lost is None:
        return compared
    if call.precise or bytes_per_number(lost.actual) < SINGLE:
        return ComparedResult(lost)
    return compared if compared.difference else ComparedResult(None, is_single=True)


class Precision(NamedTuple):
    """A floating dtype: the bytes of one number, and the dtype's name."""

    bytes_per_number: int
    dtype: str


def least_precise(call: Call) -> Precision:
    """Return the precision of a call's least precise floating input."""
    least = Precision(8, "float64")
    for _, leaf in leaves([call.arguments, call.keywords]):
        size = bytes_per_number(leaf) if _has_dtype(leaf) else 8
        if size < least.bytes_per_number:
            least = Precision(size, dtype_name(leaf))
    return least


def lost_precision(
    value: Any, call: Call, least: Precision, expected: Any
) -> Difference | None:
    """Return a difference if a result is less precise than every floating input.

    least : of those inputs, the least precise

    The tolerance goes by the least precise dtype, so an answer may not lower it alone.
    """
    results = [(path, leaf) for path, leaf in leaves(value) if _has_dtype(leaf)]
    if all(bytes_per_number(leaf) == 8 for _, leaf in results):
        return None
    # Where no float goes in as an array or tensor, what is expected says how precise.
    sizes = [bytes_per_number(leaf) for _, leaf in leaves(expected)]
    # PyTorch makes float32 of whole numbers, and those are floats as well.
    smallest = min([least.bytes_per_number, *sizes, 4 if _only_integers(call) else 8])
    for path, leaf in results:
        if bytes_per_number(leaf) < smallest:
            return Difference("precision", leaf, least.dtype, path)
    return None


def _only_integers(call: Call) -> bool:
    """Decide whether arrays or tensors of integers went in, and none of floats."""
    inputs = [leaf for _, leaf in leaves([call.arguments, call.keywords])]
    kinds = {number_kind(leaf) for leaf in inputs if is_array(leaf) or is_tensor(leaf)}
    return "integers" in kinds and kinds <= {"integers", "booleans"}


def _has_dtype(leaf: Any) -> bool:
    number = is_one_of(leaf, FLOATS) and type(leaf) is not float
    return number or is_array(leaf) or is_tensor(leaf)
