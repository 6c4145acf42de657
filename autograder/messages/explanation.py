"""Say why one claim does not hold: what was fed, what came back, what was expected.

Two sentences in the learner's words. The claim itself stands above them; how two
sides of a difference are shown is in ``contrast``, what is said about all claims
together in ``messages``.
"""

import builtins
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.checking.call import Call, Raised, copied, silenced
from autograder.checking.comparison import Difference
from autograder.checking.exercise import Exercise
from autograder.checking.judging import Verdict
from autograder.checking.student import Broken
from autograder.checking.values import (
    BOOLEANS,
    as_array,
    is_array,
    is_one_of,
    is_tensor,
)
from autograder.messages import description as words

MOST_KEYS = 5  # so many keys of a dictionary are listed


def differs(exercise: Exercise, found: Difference, what: str) -> tuple[str, str]:
    """Show both sides of a difference, and name the part of the result it lies in."""
    label = _label(exercise, found)
    whole = not (label or what)
    came, verb, wanted = _shown(exercise, found, whole)
    verb = "return" if whole and verb == "be" else verb
    subject = label[0].upper() + label[1:] if label else "It"
    wanted = f"{subject} should {verb} {wanted}"
    if what:
        return f"returned a result in which {what} is {came}", wanted
    return f"returned {came}" + (f" as {label}" if label else ""), wanted


def _label(exercise: Exercise, found: Difference) -> str:
    """Name a part of the result; nothing for the whole of it."""
    if not found.path:
        return ""
    first, *rest = found.path
    if type(first) is int and first < len(exercise.returns):
        name = f"`{exercise.returns[first]}`"
    elif type(first) is str:
        name = words.key(first)
    else:
        return "item" + at(found.path).removeprefix(" at")
    return name + (at(rest) if rest else "")


def at(path: Sequence[Any]) -> str:
    """Say where in a part: ``at [0, 2]``, with a blank before it."""
    return f" at {words.value(list(path))}"


def _shown(exercise: Exercise, found: Difference, whole: bool) -> tuple[str, str, str]:
    """Give what came back, the verb after "should", and what was expected."""
    actual, expected = found.actual, found.expected
    tuple_expected = whole and type(expected) is tuple
    if found.kind == "type":
        came, wanted = _types(actual, expected)
        return came, "be", result(exercise, expected) if tuple_expected else wanted
    if found.kind == "length":
        wanted = _with_length(expected)
        wanted = result(exercise, expected) if tuple_expected else wanted
        return _with_length(actual), "be", wanted
    if found.kind == "keys":
        return wrong_keys(actual, expected), "have", f"the keys {_keys(expected)}"
    if found.kind == "shape":
        return words.form(actual), "have", f"the shape {tuple(expected.shape)}"
    if found.kind == "precision":
        return precision(actual), "be", f"numbers at least as precise as {expected}"
    if is_large(found):
        return _large(found)
    came, wanted = sides(found)
    return came, "be", wanted


def precision(actual: Any) -> str:
    """Name the dtype of a result."""
    return f"numbers of type {str(actual.dtype).removeprefix('torch.')}"


def _types(actual: Any, expected: Any) -> tuple[str, str]:
    """Show two types; the kind of numbers only where that is what differs."""
    both_arrays = is_array(actual) and is_array(expected)
    if both_arrays or (is_tensor(actual) and is_tensor(expected)):
        return words.kind_of(actual), words.kind_of(expected)
    wanted = words.form(expected)
    special = issubclass(type(actual), type(expected))
    if special and not is_one_of(actual, BOOLEANS):
        wanted = "a plain " + wanted.split(" ", 1)[1]
    return words.form(actual), wanted


def _with_length(thing: Any) -> str:
    shown, form = words.value(thing), words.form(thing)
    return shown if shown == form else f"{shown}, {form}"


def wrong_keys(actual: dict[Any, Any], expected: dict[Any, Any]) -> str:
    """Say which keys a dictionary lacks, and which it should not have."""
    missing, extra = _without(expected, actual), _without(actual, expected)
    said = [f"lacks {_keys(missing)}"] if missing else []
    said += [f"has {_keys(extra)} that it should not have"] if extra else []
    return f"a dictionary that {' and '.join(said) or 'has other keys'}"


def _without(keys: dict[Any, Any], others: dict[Any, Any]) -> list[Any]:
    try:
        return [key for key in keys if key not in others]
    except Exception:  # a key of the learner's own kind that cannot be compared
        return []


def _keys(keys: Iterable[Any]) -> str:
    shown = [words.key(key) for key in keys]
    if len(shown) > MOST_KEYS:
        shown = [*shown[:MOST_KEYS], f"and {len(shown) - MOST_KEYS} more"]
    return ", ".join(shown) or "none at all"


def is_large(found: Difference) -> bool:
    """Say whether the part that differs is too large to be shown whole."""
    return found.total > words.LARGEST_SHOWN


def _large(found: Difference) -> tuple[str, str, str]:
    """Show the first wrong entry of many, and say how many are wrong."""
    came, wanted = entries(found)
    kind = "a list" if type(found.expected) is list else "an array"
    kind = "a tensor" if is_tensor(found.expected) else kind
    wrong = "wrong" if found.kind == "value" else "nan or infinite"
    several = "all" if found.wrong == found.total else str(found.wrong)
    count = f"{several} of its {found.total} entries are {wrong}"
    if found.wrong == 1:
        count = f"one of its {found.total} entries is {wrong}"
    return f"{kind} with {came}{at(found.index)}", "have", f"{wanted} there; {count}"


def entries(found: Difference) -> tuple[str, str]:
    """Show both sides of the first wrong entry."""
    return words.apart(_entry(found.actual, found), _entry(found.expected, found))


def _entry(side: Any, found: Difference) -> Any:
    if type(side) is list:
        return side[found.index[0]]
    return as_array(side)[found.index]


def sides(found: Difference) -> tuple[str, str]:
    """Show both sides of the whole part that differs."""
    return words.apart(found.actual, found.expected)


def result(exercise: Exercise, answer: Any) -> str:
    """Show a right result; of a tuple or a large dictionary, the names of its parts."""
    if isinstance(answer, tuple) and exercise.returns:
        parts = zip(exercise.returns, answer, strict=True)
        inside = " and ".join(f"`{name}` ({words.form(part)})" for name, part in parts)
        return f"the tuple of {inside}"
    shown = words.value(answer)
    if type(answer) is dict and shown == words.form(answer):
        return f"a dictionary with the keys {_keys(answer)}"
    return shown


# How a call ended that gave no value: in a sentence about one, and about several.
NO_VALUE = {
    "timeout": "was still running when its time was up (does a loop never end?)",
    "crashed": "ended the whole Python process (is there an exit in it?)",
    "output": "returned more data than can be graded",
}
ENDLESS = {
    "timeout": "does not come to an end",
    "crashed": "ends the whole Python process",
    "output": "returns more data than can be graded",
}


def explain(exercise: Exercise, verdict: Verdict) -> str:
    """Say in two sentences why a claim does not hold; nothing if it does."""
    broken = verdict.broken
    if broken is None:
        return ""
    if broken.reason == "error" or broken.call is None:
        return (
            "This check itself is broken, not your answer: please show the course's "
            f"authors this line. {words.one_line(broken.what)}"
        ).strip()
    if not verdict.case.visible:
        return _hidden(broken)
    names = exercise.argument_names(len(broken.call.arguments))
    fed = words.arguments(names, broken.call)
    start = f"For {fed}, your" if fed else "Called without arguments, your"
    came, wanted = _came_and_wanted(exercise, broken, broken.call)
    return f"{start} `{exercise.name}` {came}. {wanted}."


def same_reason(verdict: Verdict) -> str:
    """Say in a few words how a call ended, equal for claims that fail in one way.

    Nothing where the reason is the claim's own, as with wrong numbers.
    """
    broken = verdict.broken
    if broken is None or broken.call is None or broken.what:
        return ""
    raised, found = broken.call.result.raised, broken.found
    if broken.reason == "raised" and raised:
        inside = f" of `{raised.function}`" if raised.function else ""
        place = f" in line {raised.line_number}{inside}" if raised.line_number else ""
        return f"stops with {raised.types[0]}{place}"
    if broken.reason == "none":
        return "returns None"
    if broken.reason in ENDLESS:
        return ENDLESS[broken.reason]
    if broken.reason == "differs" and found and not found.path:
        if found.kind == "type":
            return f"returns {words.kind_of(found.actual).split(' of length ')[0]}"
        if found.kind == "precision":
            return f"returns {precision(found.actual)}"
        if found.kind == "keys":
            return f"returns {wrong_keys(found.actual, found.expected)}"
    return ""


def _hidden(broken: Broken) -> str:
    """Say what a hidden case may say: never its inputs or its answer."""
    raised = broken.call.result.raised if broken.call else None
    if broken.reason == "raised" and raised:
        line = f" (line {raised.line_number})" if raised.line_number else ""
        return f"Your function stopped with {_known(raised)}{line} on a hidden input."
    said = {
        "none": "returned None for a hidden input.",
        "timeout": "was still running on a hidden input when its time was up.",
        "crashed": "ended the whole Python process on a hidden input.",
        "output": "returned more data than can be graded for a hidden input.",
        "changed": "changed its arguments on a hidden input.",
        "no_error": "returned a value for a hidden input that calls for an error.",
    }
    wrong = {
        "type": "the wrong type",
        "length": "the wrong length",
        "keys": "the wrong keys",
        "shape": "the wrong shape",
        "precision": "too low a precision",
        "not_finite": "a number that is not finite",
    }
    if broken.found and broken.found.kind in wrong and not broken.what:
        kind = wrong[broken.found.kind]
        said["differs"] = f"gave a result with {kind} for a hidden input."
    otherwise = "gave a wrong answer for a hidden input."
    return f"Your function {said.get(broken.reason, otherwise)}"


def _known(raised: Raised) -> str:
    """Name Python's own kind of an exception: a learner's kind may spell an input."""
    kinds = (name for name in raised.types if hasattr(builtins, name))
    return next(kinds, "an exception")


def _came_and_wanted(exercise: Exercise, broken: Broken, call: Call) -> tuple[str, str]:
    """Say what came back (the end of a sentence) and what was expected (a sentence)."""
    outcome = call.result
    if broken.reason == "no_error":
        came = f"returned {words.value(outcome.value)}"
        return came, f"It should stop with {broken.what}"
    if broken.reason == "raised" and broken.what and outcome.raised:
        came = _stopped(outcome.raised, exercise)
        return came, f"It should stop with {broken.what}"
    if broken.reason == "claim":
        came = f"returned {words.value(outcome.value)}"
        told = words.one_line(broken.what).rstrip(".")
        return came, told or "That does not fit the claim"
    if broken.reason == "changed" and broken.found:
        return _changed(exercise, broken.found)
    if broken.found:
        return differs(exercise, broken.found, broken.what)
    with silenced():  # a learner may have turned warnings into errors
        answer = exercise.expected(copied(call.arguments), copied(call.keywords))
    wanted = f"It should return {result(exercise, answer)}"
    if outcome.raised:
        return _stopped(outcome.raised, exercise), wanted
    if outcome.kind in NO_VALUE:
        return NO_VALUE[outcome.kind], wanted
    return "returned None (is a `return` missing?)", wanted


def _stopped(raised: Raised, exercise: Exercise) -> str:
    text = words.one_line(raised.message).rstrip(".")
    # NumPy's "with gufunc signature (n?,k),(k,m?)->(n?,m?)" helps nobody here.
    before, signature, after = text.partition(", with gufunc signature ")
    text = before + " " + after.partition(" ")[2] if signature else text
    stopped = f"stopped with {raised.types[0]}" + (f": {text}" if text else "")
    if not raised.line_number:
        return stopped
    elsewhere = raised.function not in ("", exercise.name)
    place = f"line {raised.line_number}"
    place += f" of `{raised.function}`" if elsewhere else ""
    place += f": `{words.one_line(raised.line)}`" if raised.line else ""
    return f"{stopped} ({place})"


def _changed(exercise: Exercise, found: Difference) -> tuple[str, str]:
    """Say which argument a call changed, and how if that can be shown shortly."""
    place, *inside = found.path
    name = exercise.argument_names(place + 1)[place]
    came = f"changed its argument {name}" + (at(inside) if inside else "")
    if found.kind == "value" or found.kind == "not_finite":
        here = at(found.index) if is_large(found) else ""
        after, before = entries(found) if here else sides(found)
        came = f"{came}{here} from {before} to {after}"
    else:
        before, after = words.form(found.expected), words.form(found.actual)
        came = came if before == after else f"{came} from {before} to {after}"
    return came, f"It should leave {name} as it is"


# MERGED autograder.contrast: Show the two sides of a difference: what came back, and what it should have been.
#
#   Which thing differs is found in ``compare``; single values are shown by ``words``.
#
