"""Right numbers in wrong positions: axes, rows and columns that are moved or missing.

Also where in a result the wrong numbers are. As in ``relations``, each function returns
a predicate that holds on every pair, or "".
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from autograder.checking.evidence.pairs import (
    NumberPair,
    n_values,
    relative_tolerance,
    varies,
)

AXES = (-1, -2, 0)  # the axes along which a result may be shifted, cut, reversed


def _noun(axis: int, ndim: int) -> str:
    if ndim == 1:
        return "entry"
    if axis in (-1, ndim - 1):
        return "column"
    return "row" if axis in (-2, ndim - 2) else "entry of the first axis"


def _nouns(axis: int, ndim: int) -> str:
    singular = _noun(axis, ndim)
    return (
        singular.replace("entry", "entries") if "entry" in singular else singular + "s"
    )


def _along(pairs: Sequence[NumberPair]) -> Iterator[tuple[int, str, str]]:
    """Return each axis that all results have, with its noun and the plural."""
    dimensions = {each.expected.ndim for each in pairs}
    for axis in AXES:
        needed = -axis if axis < 0 else 3
        if min(dimensions) < needed:
            continue
        nouns = {(_noun(axis, ndim), _nouns(axis, ndim)) for ndim in dimensions}
        if len(nouns) == 1:
            yield (axis, *nouns.pop())


def exchanged_axes(pairs: Sequence[NumberPair]) -> str:
    fewest = min(each.expected.ndim for each in pairs)
    if not any(varies(each.expected) for each in pairs):
        return ""
    for one, other in itertools.combinations(range(-fewest, 0), 2):
        if all(
            each.agrees(each.actual, each.expected.swapaxes(one, other))
            for each in pairs
        ):
            if (one, other) == (-2, -1):
                matrix = all(each.expected.ndim == 2 for each in pairs)
                return "{is} {right}, " + (
                    "transposed" if matrix else "with the last two axes exchanged"
                )
            counted = {one % each.expected.ndim for each in pairs}
            counted_other = {other % each.expected.ndim for each in pairs}
            if len(counted) == len(counted_other) == 1:
                axes = f"axes {counted.pop()} and {counted_other.pop()}"
            else:
                axes = f"axes {one} and {other}"
            return f"{{is}} {{right}}, with {axes} exchanged"
    return ""


def permuted_axes(pairs: Sequence[NumberPair]) -> str:
    ndim = pairs[0].expected.ndim
    if not 3 <= ndim <= 5 or any(each.expected.ndim != ndim for each in pairs):
        return ""
    if not any(varies(each.expected) for each in pairs):
        return ""
    for order in itertools.permutations(range(ndim)):
        if all(
            each.agrees(each.actual, each.expected.transpose(order)) for each in pairs
        ):
            return "{is} {right}, with the axes in another order"
    return ""


def moved(pairs: Sequence[NumberPair]) -> str:
    """Find rows that are shifted, reversed, rolled."""
    for axis, noun, nouns in _along(pairs):
        longest = max(each.expected.shape[axis] for each in pairs)
        if longest < 3:
            continue
        for step, way in ((1, "later"), (-1, "earlier")):
            if _is_rolled(pairs, axis, step):
                return f"{{has}} every {noun} one {way}, around the end"
        if all(
            each.agrees(each.actual, np.flip(each.expected, axis)) for each in pairs
        ):
            return f"{{has}} the right {nouns} in reverse order"
        for step, way in ((1, "later"), (-1, "earlier")):
            if _is_shifted(pairs, axis, step):
                return f"{{has}} the right {nouns} one {way} than {{it}} should"
        if all(
            each.expected.shape[axis] % 2 == 0
            and _is_rolled([each], axis, each.expected.shape[axis] // 2)
            for each in pairs
        ):
            return f"{{has}} the two halves of the {nouns} exchanged"
    return ""


def _is_rolled(pairs: Sequence[NumberPair], axis: int, step: int) -> bool:
    return all(
        each.agrees(each.actual, np.roll(each.expected, step, axis)) for each in pairs
    )


def _from(array: np.ndarray, axis: int, start: int, end: int) -> np.ndarray:
    """Return an array without ``start`` entries at the front and ``end`` at the end."""
    return np.moveaxis(array, axis, 0)[start : len(np.moveaxis(array, axis, 0)) - end]


def _is_shifted(pairs: Sequence[NumberPair], axis: int, step: int) -> bool:
    is_proven = False
    for each in pairs:
        front, back = (1, 0) if step > 0 else (0, 1)
        if each.expected.shape[axis] < 2:
            return False
        moved = _from(each.expected, axis, back, front)
        if not each.agrees(_from(each.actual, axis, front, back), moved):
            return False
        stays = each.agrees(moved, _from(each.expected, axis, front, back))
        is_proven |= not stays and len(moved) > 1
    return is_proven


def reordered(pairs: Sequence[NumberPair]) -> str:
    if n_values(pairs) < 3:
        return ""
    if not all(
        each.agrees(np.sort(each.actual, None), np.sort(each.expected, None))
        for each in pairs
    ):
        return ""
    for axis, noun, _ in _along(pairs):
        if noun != "column" or max(each.expected.shape[axis] for each in pairs) < 3:
            continue
        if all(
            each.agrees(np.sort(each.actual, axis), np.sort(each.expected, axis))
            for each in pairs
        ):
            return "{has} the right numbers in each row, in another order"
    return "{has} the right numbers, in other positions"


def squeezed(pairs: Sequence[NumberPair]) -> str:
    if not all(
        [size for size in each.actual.shape if size != 1]
        == [size for size in each.expected.shape if size != 1]
        and each.agrees(each.actual.reshape(each.expected.shape), each.expected)
        for each in pairs
    ):
        return ""
    more = [each.actual.ndim - each.expected.ndim for each in pairs]
    if all(number > 0 for number in more):
        if all(each.expected.ndim == 0 for each in pairs):
            return "{is} right, but {is} an array with the one number in it"
        axes = "one axis" if set(more) == {1} else "axes"
        return f"{{has}} the right numbers, but {axes} of length 1 too many"
    if all(number < 0 for number in more):
        axes = "an axis of length 1" if set(more) == {-1} else "axes of length 1"
        return f"{{has}} the right numbers, but {{lacks}} {axes}"
    return "{has} the right numbers, but {its} axes of length 1 are elsewhere"


def reshaped(pairs: Sequence[NumberPair]) -> str:
    if n_values(pairs) < 3 or not all(
        each.agrees(each.actual.ravel(), each.expected.ravel()) for each in pairs
    ):
        return ""
    return "{has} the right numbers in the right order, but another shape"


def cut_off(pairs: Sequence[NumberPair]) -> str:
    """Find one row that is missing, or one too many, at either end."""
    for axis, noun, _ in _along(pairs):
        if any(each.actual.ndim != each.expected.ndim for each in pairs):
            return ""
        if not any(min(each.actual.size, each.expected.size) for each in pairs):
            return ""
        for end, front, back in (("first", 1, 0), ("last", 0, 1)):
            if all(
                each.agrees(
                    np.moveaxis(each.actual, axis, 0),
                    _from(each.expected, axis, front, back),
                )
                for each in pairs
            ):
                return f"{{lacks}} the {end} {noun} and {{is}} right otherwise"
            if all(
                each.agrees(
                    _from(each.actual, axis, front, back),
                    np.moveaxis(each.expected, axis, 0),
                )
                for each in pairs
            ):
                where = "at the front" if end == "first" else "at the end"
                return f"{{has}} one {noun} too many {where} and {{is}} right otherwise"
    return ""


def one_of_many(pairs: Sequence[NumberPair]) -> str:
    """Find results that are one row, or one item of the batch, of the right ones."""
    for axis, noun, _ in _along(pairs):
        for which, index in (("first", 0), ("last", -1)):
            if all(
                each.expected.shape[axis] > 1
                and each.agrees(each.actual, each.expected.take(index, axis))
                for each in pairs
            ):
                return f"{{is}} the {which} {noun} of {{right}} alone"
    for axis in (-1, -2, 0):
        for what, made in (("sum", np.sum), ("mean", np.mean)):
            if n_values(pairs) > 2 and all(
                each.expected.ndim >= abs(axis)
                and each.agrees(each.actual, made(each.expected, axis=axis))
                for each in pairs
            ):
                return f"{{is}} the {what} of {{right}} over axis {axis}"
    return ""


def where(pairs: Sequence[NumberPair]) -> str:
    """Name the smallest part of the results outside of which all numbers are right."""
    parts_by_name = [_named_parts(each) for each in pairs]
    wrong = [_wrong(each) for each in pairs]
    if not all(each.any() for each in wrong):
        return ""
    for name in parts_by_name[0]:
        if not all(name in each for each in parts_by_name):
            continue
        is_proven = False
        for pair, parts, bad in zip(pairs, parts_by_name, wrong, strict=True):
            inside = np.broadcast_to(parts[name], bad.shape)
            if (bad & ~inside).any() or inside.all():
                break
            if name.endswith(" only") and not _is_everywhere(bad, parts[name]):
                break
            many = "every second" in name or "half" in name
            if many and not (
                parts[name].sum() > 1 and _is_everywhere(bad, parts[name])
            ):
                continue
            outside = ~inside
            enough = outside.sum() > (2 if "diagonal" in name else 1)
            is_proven |= bool(enough and pair.expected[outside].any())
        else:
            if is_proven:
                return f"{{is}} right {name}"
    return ""


def _is_everywhere(bad: np.ndarray, part: np.ndarray) -> bool:
    """Decide whether each row (or column) of a part has a wrong number in it."""
    others = tuple(axis for axis, size in enumerate(part.shape) if size == 1)
    return bool((bad.any(axis=others, keepdims=True) | ~part).all())


def _wrong(pair: NumberPair) -> np.ndarray:
    """Return a boolean array: True where an entry differs, by the largest one."""
    actual, expected = pair.actual.astype(float), pair.expected.astype(float)
    sizes = np.where(np.isfinite(expected), np.abs(expected), 0)
    allowed = relative_tolerance([pair]) * max(1e-3, float(sizes.max(initial=0.0)))
    both = np.isnan(actual) & np.isnan(expected)
    return ~((np.abs(actual - expected) <= allowed) | (actual == expected) | both)


def _named_parts(pair: NumberPair) -> dict[str, np.ndarray]:
    """Return parts of a result by name, as boolean arrays; the most telling first."""
    expected, shape = pair.expected, pair.expected.shape
    parts_by_name: dict[str, np.ndarray] = {}
    for name, mask in pair.masks.items():
        if mask.ndim < 1:
            continue
        blocked = np.asarray(~mask.any(axis=-1, keepdims=True))
        for part in (blocked, blocked[..., 0]):
            if part.ndim and _fits(part, shape) and part.any():
                row = f"except in rows where `{name}` is False everywhere"
                parts_by_name.setdefault(row, part)
        if _fits(mask, shape) and mask.ndim > 1:
            parts_by_name[f"except where `{name}` is False"] = ~mask
            parts_by_name[f"except where `{name}` is True"] = mask
    for axis in AXES if len(shape) > 2 else AXES[: len(shape)]:
        noun, length = _noun(axis, len(shape)), shape[axis]
        along = np.arange(length).reshape(
            [-1 if at == axis % len(shape) else 1 for at in range(len(shape))]
        )
        parts_by_name[f"except in the first {noun}"] = along == 0
        parts_by_name[f"except in the last {noun}"] = along == length - 1
        nouns = _nouns(axis, len(shape))
        if length > 1:
            parts_by_name[f"in the first {noun} only"] = along > 0
            parts_by_name[f"in the last {noun} only"] = along < length - 1
        if length > 1:
            parts_by_name[f"except in every second {noun}, from the first"] = (
                along % 2 == 0
            )
            parts_by_name[f"except in every second {noun}, from the second"] = (
                along % 2 == 1
            )
            parts_by_name[f"except in the second half of the {nouns}"] = (
                along >= length // 2
            )
            parts_by_name[f"except in the first half of the {nouns}"] = (
                along < (length + 1) // 2
            )
    if len(shape) > 1:
        i, j = np.ogrid[: shape[-2], : shape[-1]]
        parts_by_name["except on the diagonal"] = i == j
        parts_by_name["except above the diagonal"] = j > i
        parts_by_name["except below the diagonal"] = j < i
    if not expected.all():
        parts_by_name["except where zero is right"] = expected == 0
    if expected.dtype.kind in "if" and (expected < 0).any():
        parts_by_name["except where a negative number is right"] = expected < 0
    return parts_by_name


def _fits(part: np.ndarray, shape: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(part.shape, shape) == shape
    except ValueError:
        return False
