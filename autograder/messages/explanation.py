"""Explain why a claim does not hold: what was fed, what came back, what was expected.

Two sentences in the learner's words, below the claim itself. What is said about all
claims together is in ``report``.
"""

import builtins
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.checking.call import Call, Raised, copied, silenced
from autograder.checking.comparison import Difference
from autograder.checking.exercise import Exercise
from autograder.checking.result import CaseVerdict
from autograder.checking.student import ClaimFailure
from autograder.checking.values import (
    BOOLEANS,
    FLOATS,
    INTEGERS,
    as_array,
    is_array,
    is_one_of,
    is_tensor,
    number_kind,
)
from autograder.messages.description import (
    MAX_NUMBERS,
    describe,
    describe_kind,
    one_line,
    show_apart,
    show_arguments,
    show_key,
    show_value,
)

NUMBERS = INTEGERS + FLOATS
LINE = 80  # characters
MOST_KEYS = 5  # so many keys of a dictionary are listed

# How a call ended that has no value: in a sentence about one, and about several.
NO_VALUE = {
    "timeout": "was still running when its time was up (does a loop never end?)",
    "crashed": "ended the whole Python process (is there an exit in it?)",
    "output": "returned more data than can be graded",
    "untried": "was not called: the notebook had used up what one may take in all",
}
NO_VALUES = {
    "timeout": "does not come to an end",
    "crashed": "ends the whole Python process",
    "output": "returns more data than can be graded",
    "untried": "is not called any more",
}
# The same of a claim that could not be tried, because the call has ended before.
NOT_TRIED = {
    "raised": "the call ended in an error",
    "none": "the call returned None",
    "timeout": "the call did not come to an end",
    "crashed": "the call ended the whole Python process",
    "output": "the call returned more data than can be graded",
    "untried": "the call was not made",
}


def not_tried(verdict: CaseVerdict) -> str:
    """Return why a claim could not be tried; "" if it was."""
    failure = verdict.failure
    return NOT_TRIED[failure.reason] if failure and failure.not_tried else ""


def explain(exercise: Exercise, verdict: CaseVerdict) -> str:
    """Explain in two sentences why a claim does not hold; "" if it does."""
    failure = verdict.failure
    if failure is None:
        return ""
    if failure.sentence:
        return failure.sentence
    if failure.reason == "error" or failure.call is None:
        # What tripped the check of a hidden input may be an answer that spells it.
        what = failure.what if verdict.visible else failure.what.partition(":")[0]
        return (
            "This check itself is broken, not your answer: please show the course's "
            f"authors this line. {one_line(what)}"
        ).strip()
    if not verdict.visible:
        return _explain_hidden(failure)
    names = exercise.argument_names(len(failure.call.arguments))
    gap = failure.difference
    lost_floats = (
        gap is not None
        and (gap.kind, is_array(gap.actual), is_array(gap.expected))
        == ("type", True, True)
        and number_kind(gap.actual) == "integers"
    )
    fed = show_arguments(names, failure.call, with_floats=lost_floats)
    start = f"For {fed}, your" if fed else "Called without arguments, your"
    actual, expected = _actual_and_expected(exercise, failure, failure.call)
    return f"{start} `{exercise.name}` {actual}. {expected}."


def effort_to_retype(verdict: CaseVerdict) -> tuple[bool, bool, bool, int]:
    """Return how hard a failed claim's example is to try by hand; most easily first.

    That is: whether there is no call, whether an argument is too large to be printed,
    whether the call gave no value, and how long the arguments are as text, in lines:
    of two that differ by less, the claim that comes first is meant to be read first.
    """
    call = verdict.failure.call if verdict.failure else None
    if call is None or not verdict.visible:
        return True, True, True, 0
    arguments = [*call.arguments, *call.keywords.values()]
    texts = [show_value(each) for each in arguments]
    described = any(
        text == describe(each) and not callable(each)
        for text, each in zip(texts, arguments, strict=True)
    )
    lines = sum(map(len, texts)) // LINE
    return False, described, call.result.kind != "value", lines


def same_reason(verdict: CaseVerdict) -> str:
    """Summarise how a call ended, in the same words for claims that fail in one way.

    "" where the reason is the claim's own, as with wrong numbers.
    """
    failure = verdict.failure
    if failure is None or failure.call is None or failure.what or failure.sentence:
        return ""
    raised, difference = failure.call.result.raised, failure.difference
    if failure.reason == "raised" and raised:
        inside = f" of `{raised.function}`" if raised.function else ""
        line = f" in line {raised.line_number}{inside}" if raised.line_number else ""
        return f"stops with {raised.types[0]}{line}"
    if failure.reason == "none":
        return "returns None"
    if failure.reason in NO_VALUES:
        return NO_VALUES[failure.reason]
    if failure.reason == "differs" and difference and not difference.path:
        actual = difference.actual
        if difference.kind == "type":
            return f"returns {describe_kind(actual).split(' of length ')[0]}"
        if difference.kind == "precision":
            return f"returns {_dtype(actual)}"
        if difference.kind == "keys":
            return f"returns {_wrong_keys(actual, difference.expected)}"
    return ""


def _explain_hidden(failure: ClaimFailure) -> str:
    """Explain what a hidden case may tell: never its inputs or its answer."""
    raised = failure.call.result.raised if failure.call else None
    if failure.reason == "raised" and raised:
        line = f" (line {raised.line_number})" if raised.line_number else ""
        kind = _builtin_kind(raised)
        return f"Your function stopped with {kind}{line} on a hidden input."
    endings = {
        "none": "returned None for a hidden input.",
        "timeout": "was still running on a hidden input when its time was up.",
        "crashed": "ended the whole Python process on a hidden input.",
        "output": "returned more data than can be graded for a hidden input.",
        "untried": f"{NO_VALUE['untried']}.",
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
    difference = failure.difference
    if difference and difference.kind in wrong and not failure.what:
        kind = wrong[difference.kind]
        endings["differs"] = f"gave a result with {kind} for a hidden input."
    otherwise = "gave a wrong answer for a hidden input."
    return f"Your function {endings.get(failure.reason, otherwise)}"


def _builtin_kind(raised: Raised) -> str:
    """Name Python's own kind of an exception: a learner's kind may spell an input."""
    for name in raised.types:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            return name
    return "an exception"


def _actual_and_expected(
    exercise: Exercise, failure: ClaimFailure, call: Call
) -> tuple[str, str]:
    """Return what came back (to end a sentence) and what should have (a sentence)."""
    result = call.result
    if failure.reason == "no_error":
        actual = f"returned {show_value(result.value)}"
        return actual, f"It should stop with {failure.what}"
    if failure.reason == "raised" and failure.what and result.raised:
        actual = _stopped(exercise, result.raised)
        return actual, f"It should stop with {failure.what}"
    if failure.reason == "claim":
        message = one_line(failure.what).rstrip(".")
        actual = f"returned {show_value(result.value)}"
        return actual, message or "That does not fit the claim"
    if failure.reason == "changed" and failure.difference:
        return _changed(exercise, failure.difference)
    if failure.difference:
        return _differs(exercise, failure.difference, failure.what)
    with silenced():  # a learner may have turned warnings into errors
        answer = exercise.expected(copied(call.arguments), copied(call.keywords))
    expected = f"It should return {_show_answer(exercise, answer)}"
    if result.raised:
        return _stopped(exercise, result.raised), expected
    if result.kind in NO_VALUE:
        return NO_VALUE[result.kind], expected
    return "returned None (is a `return` missing?)", expected


def _stopped(exercise: Exercise, raised: Raised) -> str:
    text = one_line(raised.message).rstrip(".")
    # NumPy's "with gufunc signature (n?,k),(k,m?)->(n?,m?)" helps nobody here.
    before, signature, after = text.partition(", with gufunc signature ")
    text = before + " " + after.partition(" ")[2] if signature else text
    stopped = f"stopped with {raised.types[0]}" + (f": {text}" if text else "")
    if not raised.line_number:
        return stopped
    elsewhere = raised.function not in ("", exercise.name)
    line = f"line {raised.line_number}"
    line += f" of `{raised.function}`" if elsewhere else ""
    line += f": `{one_line(raised.line)}`" if raised.line else ""
    return f"{stopped} ({line})"


def _changed(exercise: Exercise, difference: Difference) -> tuple[str, str]:
    """Name the argument that a call changed, and how if that can be shown shortly."""
    argument, *inside = difference.path
    name = exercise.argument_names(argument + 1)[argument]
    actual = f"changed its argument {name}" + (_at(inside) if inside else "")
    if difference.kind == "value" or difference.kind == "not_finite":
        index = ""
        if _is_large(difference):
            index = _at(difference.index)
            after, before = _show_entries(difference)
        else:
            after, before = show_apart(difference.actual, difference.expected)
        actual = f"{actual}{index} from {before} to {after}"
    else:
        before, after = describe(difference.expected), describe(difference.actual)
        actual = actual if before == after else f"{actual} from {before} to {after}"
    return actual, f"It should leave {name} as it is"


def _differs(exercise: Exercise, difference: Difference, what: str) -> tuple[str, str]:
    """Show both sides of a difference, and name the part of the result it lies in."""
    label = _label(exercise, difference)
    is_whole = not (label or what)
    actual, verb, expected = _show_sides(exercise, difference, is_whole)
    verb = "return" if is_whole and verb == "be" else verb
    subject = label[0].upper() + label[1:] if label else "It"
    expected = f"{subject} should {verb} {expected}"
    if what:
        return f"returned a result in which {what} is {actual}", expected
    return f"returned {actual}" + (f" as {label}" if label else ""), expected


def _label(exercise: Exercise, difference: Difference) -> str:
    """Name a part of the result; "" for the whole of it."""
    if not difference.path:
        return ""
    first, *rest = difference.path
    if type(first) is int and first < len(exercise.returns):
        name = f"`{exercise.returns[first]}`"
    elif type(first) is str:
        name = show_key(first)
    else:
        return "item" + _at(difference.path).removeprefix(" at")
    return name + (_at(rest) if rest else "")


def _at(path: Sequence[Any]) -> str:
    """Return the position in a part: ``at [0, 2]``, with a blank before it."""
    return f" at {show_value(list(path))}"


def _show_sides(
    exercise: Exercise, difference: Difference, is_whole: bool
) -> tuple[str, str, str]:
    """Return what came back, the verb after "should", and what was expected."""
    actual, expected = difference.actual, difference.expected
    match difference.kind:
        case "type" | "length" as kind:
            if kind == "type":
                returned, right = _show_types(actual, expected)
            else:
                returned, right = _show_length(actual), _show_length(expected)
            if is_whole and type(expected) is tuple:
                right = _show_answer(exercise, expected)
            return returned, "be", right
        case "keys":
            returned = _wrong_keys(actual, expected)
            if not expected:
                return returned, "be", "an empty dictionary"
            noun = "key" if len(expected) == 1 else "keys"
            return returned, "have", f"the {noun} {_keys(expected)}"
        case "shape":
            return describe(actual), "have", f"the shape {tuple(expected.shape)}"
        case "precision":
            return _dtype(actual), "be", f"numbers at least as precise as {expected}"
    if _is_large(difference):
        return _show_first_wrong(difference)
    returned, right = show_apart(actual, expected)
    return returned, "be", right


def _dtype(actual: Any) -> str:
    return f"numbers of type {str(actual.dtype).removeprefix('torch.')}"


def _show_types(actual: Any, expected: Any) -> tuple[str, str]:
    """Show two types; the kind of numbers only where that is what differs."""
    both_arrays = is_array(actual) and is_array(expected)
    if both_arrays or (is_tensor(actual) and is_tensor(expected)):
        return describe_kind(actual), describe_kind(expected)
    right = describe(expected)
    if is_tensor(actual) and actual.ndim == 0 and is_one_of(expected, NUMBERS):
        return describe(actual), f"{right} by itself, as `.item()` returns it"
    special = issubclass(type(actual), type(expected))
    if special and not is_one_of(actual, BOOLEANS):
        right = "a plain " + right.split(" ", 1)[1]
    return describe(actual), right


def _show_length(value: Any) -> str:
    text, description = show_value(value), describe(value)
    return text if text == description else f"{text}, {description}"


def _wrong_keys(actual: dict[Any, Any], expected: dict[Any, Any]) -> str:
    """Name the keys that a dictionary lacks, and those that it should not have."""
    missing, extra = _without(expected, actual), _without(actual, expected)
    wrong = [f"lacks {_keys(missing)}"] if missing else []
    wrong += [f"has {_keys(extra)} that it should not have"] if extra else []
    return f"a dictionary that {' and '.join(wrong) or 'has other keys'}"


def _without(keys: dict[Any, Any], others: dict[Any, Any]) -> list[Any]:
    try:
        return [key for key in keys if key not in others]
    except Exception:  # a key of the learner's own kind that cannot be compared
        return []


def _keys(keys: Iterable[Any]) -> str:
    names = [show_key(key) for key in keys]
    if len(names) > MOST_KEYS:
        names = [*names[:MOST_KEYS], f"and {len(names) - MOST_KEYS} more"]
    return ", ".join(names)


def _is_large(difference: Difference) -> bool:
    """Decide whether the part that differs is too large to be shown whole."""
    return difference.total > MAX_NUMBERS


def _show_first_wrong(difference: Difference) -> tuple[str, str, str]:
    """Show the first wrong entry of many, and count the wrong ones."""
    actual, expected = _show_entries(difference)
    kind = "a list" if type(difference.expected) is list else "an array"
    kind = "a tensor" if is_tensor(difference.expected) else kind
    wrong = "wrong" if difference.kind == "value" else "nan or infinite"
    several = "all" if difference.wrong == difference.total else str(difference.wrong)
    count = f"{several} of its {difference.total} entries are {wrong}"
    if difference.wrong == 1:
        count = f"one of its {difference.total} entries is {wrong}"
    returned = f"{kind} with {actual}{_at(difference.index)}"
    return returned, "have", f"{expected} there; {count}"


def _show_entries(difference: Difference) -> tuple[str, str]:
    """Show both sides of the first wrong entry."""

    def entry(side: Any) -> Any:
        if type(side) is list:
            return side[difference.index[0]]
        return as_array(side)[difference.index]

    return show_apart(entry(difference.actual), entry(difference.expected))


def _show_answer(exercise: Exercise, answer: Any) -> str:
    """Show a right answer; of a tuple or a large dictionary, the names of its parts."""
    if isinstance(answer, tuple) and exercise.returns:
        parts = zip(exercise.returns, answer, strict=True)
        inside = " and ".join(f"`{name}` ({describe(part)})" for name, part in parts)
        return f"the tuple of {inside}"
    text = show_value(answer)
    if type(answer) is dict and text == describe(answer):
        return f"a dictionary with the keys {_keys(answer)}"
    return text
