"""Calls drawn to tell conditions apart: of sizes, and of what a text holds.

The cases' calls have few sizes, and few texts: there one condition may go with another
(d_k ≠ d_model with d_k ≠ d_v). A condition is kept if calls in which it alone changes
fail exactly where it holds.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from autograder.checking.call import Call, copied
from autograder.checking.evidence.conditions import named_arguments
from autograder.checking.exercise import Exercise
from autograder.checking.values import is_array, is_tensor
from course_lib.arguments import parse

Try = Callable[[Call], bool | None]  # whether an answer fails; None: no right result
SIZES = (2, 3, 4, 5, 6, 7)  # of axes, each of another length
N_DRAWS = 3  # calls on each side
LONGEST = 200  # letters of a text that is tried with others
PAIR = re.compile(r"where `?(\w+)`? [=≠] `?(\w+)`?")
ONE = re.compile(r"where (\w+) = 1")
REPEATED = re.compile(r"where `(\w+)` holds equal numbers")
TEXT = re.compile(r"where `(\w+)` has (capitals|characters beyond ASCII)")


def is_confirmed(
    exercise: Exercise, text: str, calls: Sequence[tuple[Call, bool]], fails: Try
) -> bool:
    """Decide whether an answer fails exactly where a condition holds.

    text : the condition, after "calls"; one that no call is drawn for is confirmed
    calls : those of the cases, each with whether it fails
    fails : tries a call
    """
    if match := TEXT.fullmatch(text):
        name, kind = match.groups()
        return _of_text(exercise, name, kind, calls, fails)
    if match := REPEATED.fullmatch(text):
        return _of_equal_numbers(exercise, match[1], calls, fails)
    if match := ONE.fullmatch(text):
        drawn = _of_one(exercise, match[1])
    elif match := PAIR.fullmatch(text):
        drawn = _of_pair(exercise, *match.groups())
    else:
        return True
    asked = "≠" if "≠" in text else "="
    return all(fails(call) in (None, sign == asked) for call, sign in drawn)


def _of_pair(exercise: Exercise, one: str, other: str) -> list[tuple[Call, str]]:
    """Draw calls with two sizes equal, and others with all but these equal."""
    names = _names(exercise)
    if not {one, other} <= {*names}:
        return []
    rng, drawn = np.random.default_rng(0), list[tuple[Call, str]]()
    for _ in range(N_DRAWS):
        sizes = _different(names, rng)
        drawn.append((_call(exercise, sizes, rng), "≠"))
        drawn.append((_call(exercise, sizes | {other: sizes[one]}, rng), "="))
        alike = dict.fromkeys(names, sizes[one])
        drawn.append((_call(exercise, alike | {other: sizes[other]}, rng), "≠"))
    return drawn


def _of_one(exercise: Exercise, name: str) -> list[tuple[Call, str]]:
    """Draw calls with a size of 1, and others with all others 1."""
    names = _names(exercise)
    if name not in names:
        return []
    rng, drawn = np.random.default_rng(0), list[tuple[Call, str]]()
    for _ in range(N_DRAWS):
        sizes = _different(names, rng)
        drawn.append((_call(exercise, sizes | {name: 1}, rng), "="))
        ones = dict.fromkeys(names, 1)
        drawn.append((_call(exercise, ones | {name: sizes[name]}, rng), "≠"))
    return drawn


def _different(names: Sequence[str], rng: np.random.Generator) -> dict[str, int]:
    lengths = rng.permutation(max(len(names), len(SIZES))) + SIZES[0]
    return {name: int(size) for name, size in zip(names, lengths, strict=False)}


def _names(exercise: Exercise) -> list[str]:
    """Return the names of sizes, if all that a call needs are arrays of floats."""
    shapes = {each.name: each for each in parse(exercise.reference)}
    needed = _needed(exercise)
    if any(name not in shapes or shapes[name].kind for name in needed):
        return []
    axes = [*chain.from_iterable(shapes[name].axes for name in needed)]
    return [*dict.fromkeys(axes)] if all(map(str.isidentifier, axes)) else []


def _call(exercise: Exercise, sizes: dict[str, Any], rng: np.random.Generator) -> Call:
    return Call(exercise.inputs(**sizes)(rng)[: len(_needed(exercise))])


def _needed(exercise: Exercise) -> list[str]:
    """Return the names of the parameters without a default."""
    parameters = inspect.signature(exercise.reference).parameters.values()
    return [each.name for each in parameters if each.default is each.empty]


def _of_text(
    exercise: Exercise,
    name: str,
    what: str,
    calls: Sequence[tuple[Call, bool]],
    fails: Try,
) -> bool:
    """Decide whether texts are right without what they have, and wrong with it."""
    for call, failed in calls:
        named = named_arguments(exercise, call)
        text = named.get(name)
        if type(text) is not str or not 0 < len(text) <= LONGEST:
            continue
        if what == "capitals":
            other = text.lower() if failed else text.upper()
        else:
            other = re.sub(r"[^\x00-\x7f]", "a", text) if failed else f"{text}ü"
        if other != text and fails(Call((), named | {name: other})) == failed:
            return False
    return True


def _of_equal_numbers(
    exercise: Exercise, name: str, calls: Sequence[tuple[Call, bool]], fails: Try
) -> bool:
    """Decide whether arrays are right once two numbers differ, and wrong once equal."""
    for call, failed in calls:
        named = named_arguments(exercise, call)
        array = named.get(name)
        if array is None or not (is_array(array) or is_tensor(array)):
            continue
        numbers = copied(array).reshape(-1)
        if failed:
            if "float" not in str(numbers.dtype):
                continue
            for index in range(len(numbers)):
                numbers[index] += index / 64
        else:
            numbers[1:2] = numbers[:1]
        repeats = len(set(numbers.tolist())) < len(numbers)
        changed = numbers.reshape(array.shape)
        if repeats != failed and fails(Call((), named | {name: changed})) == failed:
            return False
    return True
