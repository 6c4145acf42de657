"""The learner's function as a case sees it, and what a case asserts about it.

``Student`` wraps a runner: it records every call with its outcome, and refuses results
of the wrong type or shape before a case looks at any value.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from autograder.checking.call import Call, CallResult, Runner, copied
from autograder.checking.comparison import Difference, first_difference
from autograder.checking.exercise import Exercise
from autograder.checking.values import (
    FLOATS,
    bytes_per_number,
    is_array,
    is_one_of,
    is_tensor,
)
from autograder.checking.values import parts as parts_of

Ending = Literal["raised", "timeout", "crashed", "output"]
Reason = Ending | Literal["none", "differs", "changed", "no_error", "claim", "error"]


class Broken(AssertionError):
    """A claim that does not hold, with what the message needs."""

    def __init__(
        self,
        reason: Reason,
        call: Call | None = None,
        found: Difference | None = None,
        what: str = "",
    ) -> None:
        """Keep the reason, the call that shows it and the difference found in it.

        what : what was compared, if it is not the result itself
        """
        super().__init__(reason)
        self.reason = reason
        self.call = call
        self.found = found
        self.what = what


@dataclass
class Student:
    """The learner's function, callable from a case.

    exercise : the exercise it answers
    runner : makes one call, in this process or in a sandbox
    calls : every call so far, in order
    """

    exercise: Exercise
    runner: Runner
    calls: list[Call]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function; give its value once type and shape are as the spec's.

        Raises ``Broken`` on an exception, None, a wrong type or shape, a number that
        is not finite where the spec's is, or a dtype less precise than the inputs'.
        """
        call = self._record(arguments, keywords)
        outcome = call.result
        if outcome.kind != "value":
            raise Broken(outcome.kind, call)
        expected = self.exercise.expected(copied(arguments), copied(keywords))
        if outcome.value is None and expected is not None:
            raise Broken("none", call)
        found = first_difference(outcome.value, expected, values=False)
        found = found or _less_precise(outcome.value, call, expected)
        if found:
            raise Broken("differs", call, found)
        return copied(outcome.value)

    def agrees(self, *arguments: Any, **keywords: Any) -> None:
        """Assert that the function answers these arguments as the spec does."""
        value = self(*arguments, **keywords)
        expected = self.exercise.expected(copied(arguments), copied(keywords))
        self.expect(value, expected)

    def expect(self, actual: Any, expected: Any, what: str = "") -> None:
        """Assert that what came from the last call equals what was expected.

        actual : the value, or something computed from it
        what : its name in the message, if it is not the result itself
        """
        call = self.calls[-1]
        least, _ = least_precise(call)
        found = first_difference(actual, expected, least=least)
        if found:
            raise Broken("differs", call, found, what)

    def leaves_unchanged(self, *arguments: Any) -> None:
        """Assert that a call leaves its arguments as they were."""
        self(*arguments)
        call = self.calls[-1]
        found = first_difference(call.result.arguments, call.arguments)
        if found:
            raise Broken("changed", call, found)

    def raises(self, error: type[Exception], *arguments: Any, **keywords: Any) -> None:
        """Assert that a call raises this kind of exception."""
        call = self._record(arguments, keywords)
        kind, raised = call.result.kind, call.result.raised
        if kind == "value":
            raise Broken("no_error", call, what=error.__name__)
        if raised is None:
            raise Broken(kind, call)
        if error.__name__ not in raised.types:
            raise Broken("raised", call, what=error.__name__)

    def _record(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Call:
        call = Call(copied(arguments), copied(keywords))
        outcome: CallResult = self.runner(arguments, keywords)
        call = replace(call, result=outcome)
        self.calls.append(call)
        return call


def least_precise(call: Call) -> tuple[int, str]:
    """Give the bytes and the dtype's name of a call's least precise floating input."""
    given = [(8, "float64")]
    for _, part in parts_of([call.arguments, call.keywords]):
        if _has_dtype(part):
            given.append((bytes_per_number(part), _dtype(part)))
    return min(given, key=lambda kept: kept[0])


def _less_precise(value: Any, call: Call, expected: Any) -> Difference | None:
    """Give a difference if a result has fewer bytes per number than every float input.

    The tolerance goes by the least precise dtype, so nobody may lower it alone.
    """
    least, name = least_precise(call)
    # Where no float goes in as an array or tensor, what is expected says how precise.
    least = min([least, *(bytes_per_number(part) for _, part in parts_of(expected))])
    for path, part in parts_of(value):
        if _has_dtype(part) and bytes_per_number(part) < least:
            return Difference("precision", part, name, path)
    return None


def _has_dtype(part: Any) -> bool:
    number = is_one_of(part, FLOATS) and type(part) is not float
    return number or is_array(part) or is_tensor(part)


def _dtype(part: Any) -> str:
    return str(part.dtype).removeprefix("torch.")
