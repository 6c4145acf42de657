"""The learner's function as a case sees it, and what a case asserts about it.

``Student`` wraps a runner: it records every call with its outcome, and refuses results
of the wrong type or shape before a case looks at any value.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from autograder.compare import Difference, bytes_per_number, difference, is_tensor
from autograder.exercise import Exercise
from autograder.outcome import Call, Outcome, Runner, copied

Reason = Literal["raised", "timeout", "none", "differs", "changed", "no_error", "error"]


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
        outcome = call.outcome
        if outcome.kind == "raised":
            raise Broken("raised", call)
        if outcome.kind == "timeout":
            raise Broken("timeout", call)
        expected = self.exercise.expected(copied(arguments), copied(keywords))
        if outcome.value is None and expected is not None:
            raise Broken("none", call)
        found = difference(outcome.value, expected, values=False)
        found = found or _less_precise(outcome.value, arguments)
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
        found = difference(actual, expected)
        if found:
            raise Broken("differs", self.calls[-1], found, what)

    def leaves_unchanged(self, *arguments: Any) -> None:
        """Assert that a call leaves its arguments as they were."""
        self(*arguments)
        call = self.calls[-1]
        found = difference(
            call.outcome.arguments, call.arguments, non_finite_equal=True
        )
        if found:
            raise Broken("changed", call, found)

    def raises(self, error: type[Exception], *arguments: Any, **keywords: Any) -> None:
        """Assert that a call raises this kind of exception."""
        call = self._record(arguments, keywords)
        raised = call.outcome.raised
        if raised is None:
            raise Broken("no_error", call, what=error.__name__)
        if error.__name__ not in raised.types:
            raise Broken("raised", call, what=error.__name__)

    def _record(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Call:
        call = Call(copied(arguments), copied(keywords))
        outcome: Outcome = self.runner(arguments, keywords)
        call = replace(call, outcome=outcome)
        self.calls.append(call)
        return call


def _less_precise(value: Any, arguments: tuple[Any, ...]) -> Difference | None:
    """Give a difference if a result has fewer bytes per number than every float input.

    The tolerance goes by the least precise dtype, so nobody may lower it alone.
    """
    parts = value if isinstance(value, tuple) else (value,)
    given = min((bytes_per_number(argument) for argument in arguments), default=8)
    for place, part in enumerate(parts):
        numeric = isinstance(part, np.ndarray) or is_tensor(part)
        if numeric and bytes_per_number(part) < given:
            path = (place,) if isinstance(value, tuple) else ()
            wanted = next(a for a in arguments if bytes_per_number(a) == given)
            return Difference("precision", part, wanted, path)
    return None
