"""The shape of a wrong result, in the docstring's names of sizes: (…, m, n)."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from autograder.checking.evidence.clauses import Compared, Subject
from autograder.checking.evidence.conditions import sizes
from autograder.checking.exercise import Exercise

MOST_AXES = 5
Shapes = Sequence[tuple[int, ...]]


def shape_clause(
    exercise: Exercise, group: Sequence[Compared], paths: Sequence[tuple[Any, ...]]
) -> str:
    """Return that a result, or a part of it, has a wrong shape in all these calls.

    paths : to what has the wrong shape, in each call
    """
    if len({*paths}) != 1:
        return ""
    (path,) = {*paths}
    name = "your result"
    if path and type(path[0]) is int and path[0] < len(exercise.returns):
        name = f"your `{exercise.returns[path[0]]}`"
    elif path:
        name = f"your `{path[0]}`" if type(path[0]) is str else ""
    if not name or len(path) > 1:
        return ""
    wrong_shapes, right_shapes = [], []
    for each in group:
        actual, right = each.call.result.value, each.right.value
        if path:
            actual, right = actual[path[0]], right[path[0]]
        wrong_shapes.append(tuple(actual.shape))
        right_shapes.append(tuple(right.shape))
    subject = Subject(name, name.endswith("s`"))
    by_name = [sizes(exercise, each.call) for each in group]
    both = [_in_names(each, by_name) for each in (wrong_shapes, right_shapes)]
    if all(both) and both[0] != both[1]:
        return subject.clause(f"{{has}} the shape {both[0]} where {both[1]} is right")
    if all(
        len(wrong) == 1 != len(right) and wrong[0] == prod(right)
        for wrong, right in zip(wrong_shapes, right_shapes, strict=True)
    ):
        return subject.clause("{has} as many numbers as is right, but in a single axis")
    ndims = {*zip(map(len, wrong_shapes), map(len, right_shapes), strict=True)}
    (actual, right), *others = ndims
    if others or actual == right:
        return subject.clause("{has} the wrong shape")
    axes = "axis" if actual == 1 else "axes"
    verb = "is" if right == 1 else "are"
    return subject.clause(f"{{has}} {actual or 'no'} {axes} where {right} {verb} right")


def _in_names(shapes: Shapes, by_name: Sequence[Mapping[str, int]]) -> str:
    """Return shapes as one, in names of sizes; "" if not every axis has one name.

    Axes that only some of them have, in front, are an ellipsis.
    """
    fewest = min(map(len, shapes))
    if not 0 < fewest <= MOST_AXES:
        return ""
    names = []
    for axis in range(-fewest, 0):
        lengths = [shape[axis] for shape in shapes]
        names.append(_name(lengths, by_name))
    if max(map(len, shapes)) > fewest:
        names.insert(0, "…")
    elif fewest == 1:
        return f"({names[0]},)" if names[0] else ""
    return f"({', '.join(names)})" if all(names) else ""


def _name(lengths: Sequence[int], by_name: Sequence[Mapping[str, int]]) -> str:
    """Return the one name, or sum, product or quotient of two, for lengths."""
    if {*lengths} == {1}:
        return "1"
    known = set.intersection(*({*each} for each in by_name))

    def fitting(made: Iterable[tuple[str, Any]]) -> list[str]:
        return [
            text
            for text, length in made
            if all(length(s) == n for s, n in zip(by_name, lengths, strict=True))
        ]

    single = fitting((name, lambda s, name=name: s[name]) for name in known)
    if single or len(lengths) < 2:
        return single[0] if len(single) == 1 else ""
    two = itertools.combinations(sorted(known), 2)
    made = [
        each
        for a, b in two
        for each in (
            (f"{a} + {b}", lambda s, a=a, b=b: s[a] + s[b]),
            (f"{a} · {b}", lambda s, a=a, b=b: s[a] * s[b]),
            (f"{a} / {b}", lambda s, a=a, b=b: s[a] / s[b] if s[b] else None),
            (f"{b} / {a}", lambda s, a=a, b=b: s[b] / s[a] if s[a] else None),
        )
    ]
    several = fitting(made)
    return several[0] if len(several) == 1 else ""
