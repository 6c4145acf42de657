"""Why a broken version passes: what no assertion has seen, and what is not tried."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from autograder.checking.assertions import compared_with_itself
from autograder.checking.functions_under_test import HandedOutCall
from autograder.checking.learners_tests import InputKind, LearnersTest
from autograder.checking.recorded_results import (
    NEARLY,
    RecordedTest,
    RunOfTest,
    briefly,
    is_same,
    largest_difference,
    numbers_of,
    pairs_of,
    wrong_among,
)

SMALL = 0.05  # beside 1 or the right number: differences that a wide tolerance forgives
MAX_KINDS = 3  # of missing inputs in one sentence


# What no assertion has seen


def what_is_not_seen(
    test: RecordedTest, unseen: Mapping[str, RunOfTest], names: Sequence[str]
) -> str:
    """Return which wrong results a test has got, and which let it pass.

    names : of the versions of which one is the example
    """
    name = max(names, key=lambda each: _rank(unseen[each].record.calls))
    calls = unseen[name].record.calls
    wrong = wrong_among(calls)
    of = f"{len(wrong)} of your {len(calls)} calls"
    if len(wrong) == len(calls):
        of = f"each of your {len(calls)} calls" if calls[1:] else "your one call"
    example = _example(test, wrong)
    start = f"In {of}, {test.version(name)} {example}, and no assertion fails."
    if wrong[1:]:  # the numbers are those of one call
        start = (
            f"In {of}, {test.version(name)} is wrong, and no assertion fails: in the "
            f"first of them it {example}."
        )
    if len(unseen) > 1:
        start += f" It is one of {len(unseen)} that return wrong results to your test."
    largest = max(largest_difference(run.record.calls) for run in unseen.values())
    if largest <= SMALL:
        return (
            f"{start} How large a difference does your test forgive, and how far apart "
            "are two right versions?"
        )
    if line := compared_with_itself(test.text, test.exercise.name):
        return (
            f"{start} Line {line} compares results of the function with each other, "
            "and a broken one agrees with itself. From where else could the right "
            "result come?"
        )
    shared = _shared(test, wrong)
    if shared:
        return (
            f"{start} What is right there: {shared}. Which assertion looks at the rest?"
        )
    return f"{start} Which assertion looks at that result?"


def _rank(calls: Sequence[HandedOutCall]) -> tuple[bool, float]:
    """Order broken versions by how far off they are, those without a number last."""
    largest = largest_difference(calls)
    return np.isfinite(largest), largest if np.isfinite(largest) else 0.0


def _example(test: RecordedTest, wrong: Sequence[HandedOutCall]) -> str:
    """Return the first wrong result in words, what was wrong and what is right."""
    call = wrong[0]
    if call.stopped:
        return f"stops with {call.stopped}"
    pairs = pairs_of(call)
    parts = [index for index, pair in enumerate(pairs) if not is_same(*pair, call)]
    names = test.exercise.parts
    index = parts[0] if parts else 0
    got, right = pairs[index]
    what = f" in its {names[index]}" if len(pairs) == len(names) else ""
    if isinstance(call.expected, list):
        return f"returns {briefly(got)} in place of {briefly(right)}"
    if np.shape(got) != np.shape(right):
        shapes = f"{np.shape(got)} in place of {np.shape(right)}"
        return f"has the shape {shapes}{what}"
    got, right = numbers_of(got), numbers_of(right)
    where = np.nan_to_num(np.abs(got - right), nan=np.inf)
    at = np.unravel_index(np.argmax(where), where.shape)
    return f"has{what} {got[at]:.5g} where {right[at]:.5g} is right"


def _shared(test: RecordedTest, wrong: Sequence[HandedOutCall]) -> str:
    """Return what is right in all wrong results, as "the shapes", or ""."""
    results = [pairs_of(call) for call in wrong]
    n_parts = {len(pairs) for pairs in results}
    if len(n_parts) > 1 or any(call.stopped for call in wrong):
        return ""
    names = test.exercise.parts
    shared: list[str] = []
    for index in range(*n_parts):
        pairs = [each[index] for each in results]
        if all(is_same(*pair, call) for pair, call in zip(pairs, wrong, strict=True)):
            shared.append(f"the {names[index]}")  # one part is right, and another not
            continue
        of = f" of the {names[index]}" if len(names) > 1 else ""
        shared += [f"{name}{of}" for name in _shared_of_part(pairs)]
    shapes = [each for each in shared if each.startswith("the shapes of")]
    if shapes[1:]:
        shared = ["the shapes", *(each for each in shared if each not in shapes)]
    return listed(shared, "and")


def _shared_of_part(pairs: Sequence[tuple[Any, Any]]) -> list[str]:
    """Return in what wrong results agree with the right ones, all of them."""
    if all(isinstance(each, list) for pair in pairs for each in pair):
        of_lists: dict[str, Callable[[Any], Any]] = {
            "the lengths": len,
            "the first": lambda part: part[:1],
            "the last": lambda part: part[-1:],
        }
        # By their texts: a broken version may return what cannot be counted.
        texts = [([*map(repr, got)], [*map(repr, right)]) for got, right in pairs]
        if all(Counter(got) == Counter(right) for got, right in texts):
            return ["what the lists hold, in another order"]
        return [
            name
            for name, of in of_lists.items()
            if all(of(got) == of(right) for got, right in texts)
        ]
    if any(np.shape(got) != np.shape(right) for got, right in pairs):
        return []
    shared = ["the shapes"]
    arrays = [(numbers_of(got), numbers_of(right)) for got, right in pairs]
    if any(right.ndim < 2 or 0 in right.shape for _, right in arrays):
        return shared
    of_arrays: dict[str, Callable[[Any], Any]] = {
        "the sums of the rows": lambda part: part.sum(axis=-1),
        "the first row": lambda part: part[..., 0, :],
        "the first two columns": lambda part: part[..., :2],
    }
    for name, of in of_arrays.items():
        if all(
            np.allclose(of(got), of(right), NEARLY, NEARLY) for got, right in arrays
        ):
            shared.append(name)
    return shared


# What is not tried


def missing_kinds(
    exercise: LearnersTest, same: Mapping[str, RunOfTest]
) -> dict[InputKind, list[str]]:
    """Return which kinds of input are missing, and which versions hide behind each."""
    missing: dict[InputKind, list[str]] = {}
    for name, run in same.items():
        for kind in exercise.kinds:
            if name in kind.broken and not any(
                _holds(exercise, kind, call) for call in run.record.calls
            ):
                missing.setdefault(kind, []).append(name)
                break
    order = exercise.kinds.index
    return {kind: missing[kind] for kind in sorted(missing, key=order)}


def _holds(exercise: LearnersTest, kind: InputKind, call: HandedOutCall) -> bool:
    """Decide whether a call is of a kind; True too where that is not known."""
    if call.refused:
        return False
    try:
        return bool(kind.holds(arguments_of(exercise, call)))
    except Exception:  # arguments of another form than the kind knows
        return True


def arguments_of(exercise: LearnersTest, call: HandedOutCall) -> SimpleNamespace:
    """Return a call's arguments by their names, and what a right version returns."""
    positional, named = call.arguments
    bound = inspect.signature(exercise.contract).bind(*positional, **named)
    bound.apply_defaults()
    return SimpleNamespace(**bound.arguments, expected=call.expected)


def what_is_not_tried(
    test: RecordedTest, missing: Mapping[InputKind, Sequence[str]]
) -> str:
    kinds = [*missing][:MAX_KINDS]
    wanted = listed([kind.words for kind in kinds], "or")
    names = [name for kind in kinds for name in missing[kind]]
    who = test.version(names[0]) if len(names) == 1 else f"{len(names)} broken versions"
    only = "goes" if len(names) == 1 else "go"
    give = "returns" if len(names) == 1 else "return"
    return (
        f"None of your calls has {wanted}: {who}, which {only} wrong there alone, "
        f"{give} what a right one returns. {kinds[0].question}"
    )


def listed(words: Sequence[str], last: str) -> str:
    """Return words in a row, the last one after "and" or "or"."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
