"""The sentences a learner reads: what was fed, what came back, what was expected.

The claim stands above each of them and the diagnosis below. How values are shown is in
``words``, how the page looks is in ``report``.
"""

from typing import Any

from autograder import words
from autograder.compare import Difference
from autograder.exercise import Exercise
from autograder.judge import Judgement, Verdict
from autograder.outcome import Call
from autograder.student import Broken


def headline(judgement: Judgement) -> str:
    """Say in one line how many claims hold."""
    name, total = judgement.exercise.name, len(judgement.verdicts)
    held = sum(verdict.status == "ok" for verdict in judgement.verdicts)
    if not_written(judgement):
        return f"{name} is not written yet"
    if held == total:
        return f"{name}: all {total} claims hold"
    return f"{name}: {held} of {total} claims hold"


def not_written(judgement: Judgement) -> bool:
    """Say whether the learner has not answered at all."""
    return bool(judgement.verdicts) and all(
        verdict.status == "missing" for verdict in judgement.verdicts
    )


def what_to_write(judgement: Judgement) -> str:
    """Tell a learner whose function is a stub what to do, or which function is."""
    name = judgement.exercise.name
    raised = _raised(judgement.verdicts[0])
    if raised and raised.function not in ("", name):
        if raised.function in judgement.exercise.uses:
            return (
                f"{name} calls {raised.function}, which is not written yet: "
                f"go back and write {raised.function} first."
            )
    return (
        f"Write your answer in the cell of {name}, in place of the line "
        "`raise NotImplementedError`, run that cell, then run this one again."
    )


def blamed(judgement: Judgement) -> str:
    """Say which earlier answer failed, where this one is right by itself."""
    names = " and ".join(f"`{name}`" for name in judgement.blamed)
    if not names:
        return ""
    was = "is" if len(judgement.blamed) == 1 else "are"
    own = "is right" if judgement.passed else "gets further"
    return (
        f"Your `{judgement.exercise.name}` {own} when it is given the course's "
        f"{names}: {names} {was} what failed."
    )


def diagnosis(judgement: Judgement) -> str:
    """Give the finding and the question of the named mistake, or nothing."""
    found = judgement.misconception
    return f"{found.finding} {found.question}" if found else ""


def explain(exercise: Exercise, verdict: Verdict) -> str:
    """Say in one sentence or two why a claim does not hold."""
    broken = verdict.broken
    if broken is None:
        return ""
    call = broken.call
    if call is None:
        return "The check itself stopped here; please tell the course's authors."
    if not verdict.case.visible:
        return _hidden(broken)
    fed = words.arguments(exercise.parameters, call)
    came, expected = _came_and_expected(exercise, broken, call)
    return f"For {fed} your `{exercise.name}` {came}{expected}."


def _hidden(broken: Broken) -> str:
    """Say what a hidden case may say: never its inputs or its answer."""
    raised = broken.call.outcome.raised if broken.call else None
    if broken.reason == "raised" and raised:
        line = f" (line {raised.line_number})" if raised.line_number else ""
        return f"Your function stopped with {raised.types[0]}{line} on a hidden input."
    return "Your function answers a hidden input differently."


def _came_and_expected(
    exercise: Exercise, broken: Broken, call: Call
) -> tuple[str, str]:
    if broken.reason == "raised" and broken.what:
        return f"stopped with {_error(call)}", f"; expected was a {broken.what}"
    if broken.reason == "no_error":
        came = f"returned {words.value(call.outcome.value)}"
        return came, f"; expected was a {broken.what}"
    if broken.found is None:
        answer = exercise.expected(call.arguments, call.keywords)
        expected = f"; expected was {_result(exercise, answer)}"
        if broken.reason == "none":
            return "returned None (is there a `return`?)", expected
        if broken.reason == "timeout":
            return "did not come to an end", expected
        return f"stopped with {_error(call)}", expected
    if broken.reason == "changed":
        return _changed(exercise, broken.found)
    return _differs(exercise, broken.found, broken.what)


def _result(exercise: Exercise, answer: Any) -> str:
    if isinstance(answer, tuple) and exercise.returns:
        parts = zip(exercise.returns, answer, strict=True)
        inside = " and ".join(f"`{name}` ({words.form(part)})" for name, part in parts)
        return f"the tuple of {inside}"
    return words.value(answer)


def _raised(verdict: Verdict) -> Any:
    call = verdict.broken.call if verdict.broken else None
    return call.outcome.raised if call else None


def _error(call: Call) -> str:
    raised = call.outcome.raised
    if raised is None:
        return "no error"
    name = f"{raised.types[0]}: {raised.message}" if raised.message else raised.types[0]
    if not raised.line:
        return name
    inside = f" of `{raised.function}`" if raised.function else ""
    return f"{name} (line {raised.line_number}{inside}: `{raised.line}`)"


def _changed(exercise: Exercise, found: Difference) -> tuple[str, str]:
    place = found.path[0]
    name = exercise.parameters[place]
    after, before = words.value(found.actual), words.value(found.expected)
    if after == before:
        return f"changed its argument {name}", "; expected was that it stays as it is"
    return f"changed its argument {name} to {after}", f"; expected was {before}"


def _differs(exercise: Exercise, found: Difference, what: str) -> tuple[str, str]:
    part = _part(exercise, found, what)
    actual, expected = found.actual, found.expected
    if found.kind == "type":
        came, wanted = _types(exercise, actual, expected)
    elif found.kind == "keys":
        came = "a dictionary with the keys " + _keys(actual)
        wanted = "the keys " + _keys(expected)
    elif found.kind == "length":
        came, wanted = f"{len(actual)} items", f"{len(expected)} items"
    elif found.kind == "shape":
        came, wanted = words.form(actual), _shape(expected)
    elif found.kind == "precision":
        came = f"numbers of type {actual.dtype}"
        wanted = f"at least the precision of its input, {expected.dtype}"
    else:
        came, wanted = _values(found)
    return f"returned {part}{came}", f"; expected was {wanted}"


def _part(exercise: Exercise, found: Difference, what: str) -> str:
    """Name the part of the result in which the difference lies."""
    if what:
        return f"a result in which {what} is "
    if not found.path:
        return ""
    first, *rest = found.path
    if isinstance(first, str):
        name = f'"{first}"'
    elif exercise.returns and first < len(exercise.returns):
        name = f"`{exercise.returns[first]}`"
    else:
        return f"at position {list(found.path)} "
    return f"as {name}" + (f" at position {rest} " if rest else " ")


def _types(exercise: Exercise, actual: Any, expected: Any) -> tuple[str, str]:
    came, wanted = words.form(actual), _result(exercise, expected)
    if not isinstance(expected, tuple):
        wanted = words.form(expected)
    if came.split(" of ")[0] == wanted.split(" of ")[0] and hasattr(actual, "dtype"):
        numbers = words.numbers_of(actual), words.numbers_of(expected)
        return f"an array of {numbers[0]}", f"an array of {numbers[1]}"
    return came, wanted


def _shape(expected: Any) -> str:
    shape = words.as_array(expected).shape
    return f"the shape {shape}" if shape else "a single number"


def _keys(thing: dict[Any, Any]) -> str:
    return ", ".join(f'"{key}"' for key in thing) or "(none)"


def _values(found: Difference) -> tuple[str, str]:
    """Show both sides: whole if small, else the first wrong number and how many."""
    actual, expected = found.actual, found.expected
    if found.total <= words.LARGEST_SHOWN:
        came, wanted = words.value(actual), words.value(expected)
        if came == wanted:
            came, wanted = words.value(actual, 14), words.value(expected, 14)
        return came, wanted
    got = words.as_array(actual)[found.index]
    want = words.as_array(expected)[found.index]
    came, wanted = words.number(got), words.number(want)
    if came == wanted:
        came, wanted = words.number(got, 14), words.number(want, 14)
    place = f"at {list(found.index)}"
    return f"{came} {place}", f"{wanted} ({found.wrong} of {found.total} differ)"
