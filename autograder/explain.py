"""Say why one claim does not hold: what was fed, what came back, what was expected.

Two sentences in the learner's words. The claim itself stands above them; how two
sides of a difference are shown is in ``contrast``, what is said about all claims
together in ``messages``.
"""

import builtins

from autograder import contrast, words
from autograder.compare import Difference
from autograder.exercise import Exercise
from autograder.judge import Verdict
from autograder.outcome import Call, Raised, copied, quiet
from autograder.student import Broken

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
    raised, found = broken.call.outcome.raised, broken.found
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
            return f"returns {contrast.precision(found.actual)}"
        if found.kind == "keys":
            return f"returns {contrast.wrong_keys(found.actual, found.expected)}"
    return ""


def _hidden(broken: Broken) -> str:
    """Say what a hidden case may say: never its inputs or its answer."""
    raised = broken.call.outcome.raised if broken.call else None
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
    outcome = call.outcome
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
        return contrast.differs(exercise, broken.found, broken.what)
    with quiet():  # a learner may have turned warnings into errors
        answer = exercise.expected(copied(call.arguments), copied(call.keywords))
    wanted = f"It should return {contrast.result(exercise, answer)}"
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
    came = f"changed its argument {name}" + (contrast.at(inside) if inside else "")
    if found.kind == "value" or found.kind == "not_finite":
        here = contrast.at(found.index) if contrast.is_large(found) else ""
        after, before = contrast.entries(found) if here else contrast.sides(found)
        came = f"{came}{here} from {before} to {after}"
    else:
        before, after = words.form(found.expected), words.form(found.actual)
        came = came if before == after else f"{came} from {before} to {after}"
    return came, f"It should leave {name} as it is"
