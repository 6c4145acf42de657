"""How the numbers of wrong results relate to the right ones, where one relation fits.

A relation is told only if it holds on every pair of a result and the right one, and if
the pairs are enough to show it: no number times a factor, no zeros in another order.
Each is a fact about numbers, whatever the code is that made them.
"""

import itertools
from collections.abc import Callable, Sequence
from math import log10, sqrt

import numpy as np

from autograder.checking.evidence.pairs import (
    NumberPair,
    Relation,
    n_values,
    relative_tolerance,
    varies,
)
from autograder.checking.evidence.positions import (
    cut_off,
    exchanged_axes,
    moved,
    one_of_many,
    permuted_axes,
    reordered,
    reshaped,
    squeezed,
    where,
)

MOST_NUMBERS = 200_000  # in one result: beyond, nothing is looked for


FRACTIONS = {2: "half", 3: "a third", 4: "a quarter"}


def relation(pairs: Sequence[NumberPair], *, weak: bool = False) -> str:
    """Return what the numbers on the left are of those on the right, or "".

    weak : ask for what says less: where the numbers differ, to how many digits, …
    """
    if not pairs or any(
        each.actual.dtype.kind not in "biuf"
        or each.expected.dtype.kind not in "biuf"
        or max(each.actual.size, each.expected.size) > MOST_NUMBERS
        for each in pairs
    ):
        return ""
    same_shape = all(each.actual.shape == each.expected.shape for each in pairs)
    relations = (WEAK if weak else SAME_SHAPE) if same_shape else OTHER_SHAPE
    with np.errstate(all="ignore"):
        return next((text for each in relations if (text := each(pairs))), "")


def _not_finite(pairs: Sequence[NumberPair]) -> str:
    where, kinds = [], set()
    for actual, expected, *_ in pairs:
        numbers, right = actual.astype(float), expected.astype(float)
        wrong = ~np.isfinite(numbers) & np.isfinite(right)
        if not wrong.any():
            return ""
        kinds |= {"NaN"} if np.isnan(numbers[wrong]).any() else set()
        kinds |= {"infinity"} if np.isinf(numbers[wrong]).any() else set()
        where.append(wrong)
    what = " and ".join(sorted(kinds))
    if all(wrong.all() for wrong in where):
        return f"{{holds}} {what} only"
    rest = all(
        each.agrees(np.where(wrong, 0, each.actual), np.where(wrong, 0, each.expected))
        for each, wrong in zip(pairs, where, strict=True)
    )
    return f"{{holds}} {what}, and every other number is right" if rest else ""


def _cut(pairs: Sequence[NumberPair]) -> str:
    if not all(varies(each.expected) for each in pairs):
        return ""
    for text, made in (
        ("cut to integers", np.trunc),
        ("rounded to integers", np.round),
        ("rounded down to integers", np.floor),
        ("rounded up to integers", np.ceil),
    ):
        if all(
            each.expected.dtype.kind == "f"
            and each.agrees(each.actual, made(each.expected))
            for each in pairs
        ):
            if any(each.actual.any() for each in pairs):
                return f"{{is}} right, but {text}"
    for digits in range(1, 7):
        if all(
            each.agrees(each.actual, np.round(each.expected, digits)) for each in pairs
        ):
            decimals = "decimal" if digits == 1 else "decimals"
            return f"{{is}} right, but rounded to {digits} {decimals}"
    return ""


def _digits(pairs: Sequence[NumberPair]) -> str:
    """Return to how many digits all numbers are right, and where float32 has as many.

    Something small that is added, such as an epsilon, moves all numbers one way;
    rounding moves them both ways, and most of them by as much as it can.
    """
    errors: list[float] = []
    for actual, expected, *_ in pairs:
        numbers, right = actual.astype(float), expected.astype(float)
        finite = np.isfinite(right)
        if expected.dtype.kind != "f" or (np.isfinite(numbers) != finite).any():
            return ""
        numbers, right = numbers[finite], right[finite]
        sizes = np.abs(right)
        sizes = np.maximum(sizes, 1e-3 * sizes.max(initial=0.0))
        errors += ((numbers - right) / np.where(sizes == 0, 1, sizes)).tolist()
    worst = max(map(abs, errors), default=1.0)
    if not 0 < worst < 2e-3:
        return ""
    digits = round(-log10(worst))
    text = f"{{is}} right to about {digits} digits only"
    wrong = [error for error in errors if error]
    up = sum(error > 0 for error in wrong)
    is_rounding = len(wrong) > 5 and 0.2 < up / len(wrong) < 0.8
    is_rounding = is_rounding and float(np.median(np.abs(wrong))) > 1e-9
    single = is_rounding and 5 <= digits <= 8
    return f"{text}, as numbers of float32 are" if single else text


def _zeros(pairs: Sequence[NumberPair]) -> str:
    if any(each.actual.any() for each in pairs):
        return ""
    single = all(each.actual.ndim == 0 for each in pairs)
    return "{is} zero where {right} is not" if single else "{is} zero everywhere"


def _not_zero(pairs: Sequence[NumberPair]) -> str:
    """Find results of one number that are not 0 where 0 is right.

    Of arrays it says little: there other numbers are wrong for the same reason.
    """
    single = all(each.actual.ndim == 0 and each.actual != 0 for each in pairs)
    if not single or any(each.expected != 0 for each in pairs):
        return ""
    return "{is} not 0 where {right} is"


def _of_each_number(pairs: Sequence[NumberPair]) -> str:
    if n_values(pairs) < 3:
        return ""
    for text, made in (
        ("{has} the wrong sign everywhere", lambda x: -x),
        ("{is} the absolute value of {right}", np.abs),
        ("{is} the logarithm of {right}", np.log),
        ("{is} the exponential of {right}", np.exp),
        ("{is} 1 minus {right}", lambda x: 1 - x),
        ("{is} 1 divided by {right}", lambda x: 1 / x),
        ("{is} the square of {right}", np.square),
        ("{is} the square root of {right}", np.sqrt),
    ):
        if all(
            each.agrees(each.actual, made(each.expected.astype(float)))
            for each in pairs
        ):
            return text
    return ""


def _opposite(pairs: Sequence[NumberPair]) -> str:
    if not all(
        each.actual.dtype.kind == each.expected.dtype.kind == "b"
        and (each.actual != each.expected).all()
        for each in pairs
    ):
        return ""
    if any(varies(each.expected) for each in pairs):
        return "{has} True and False exchanged"
    return ""


def _factor(pairs: Sequence[NumberPair]) -> str:
    factors = []
    for each in pairs:
        actual, expected = each.actual.astype(float), each.expected.astype(float)
        size = np.where(np.isfinite(expected), np.abs(expected), 0)
        if not size.any():
            return ""
        largest = np.unravel_index(size.argmax(), size.shape)
        factor = float(actual[largest] / expected[largest])
        if not np.isfinite(factor) or not factor:
            return ""
        if not each.agrees(each.actual, factor * expected):
            return ""
        factors.append(factor)
    several = all(n_values([each]) > 1 for each in pairs)
    if n_values(pairs) < 3:
        return ""
    named = _named(factors, pairs, FACTORS)
    if named:
        return f"{{is}} {named} times {{right}}"
    if np.ptp(factors) <= relative_tolerance(pairs) * max(map(abs, factors)):
        factor = factors[0]
        whole = round(1 / factor) if abs(factor) < 1 else 0
        if whole in FRACTIONS and abs(factor * whole - 1) < 1e-4:
            return f"{{is}} {FRACTIONS[whole]} of {{right}}"
        return f"{{is}} {factor:.4g} times {{right}}"
    if several and len(pairs) > 1:
        text = "{is} in each call a multiple of {right}"
        return f"{text}, with a factor that changes from call to call"
    return ""


def _offset(pairs: Sequence[NumberPair]) -> str:
    offsets = []
    for each in pairs:
        actual, expected = each.actual.astype(float), each.expected.astype(float)
        finite = np.isfinite(expected)
        if not finite.any() or each.expected.dtype.kind not in "iuf":
            return ""
        offset = float((actual[finite] - expected[finite]).flat[0])
        if not each.agrees(each.actual, expected + offset):
            return ""
        offsets.append(offset)
    if n_values(pairs) < 3 or not all(map(np.isfinite, offsets)):
        return ""
    more = "larger" if offsets[0] > 0 else "smaller"
    named = _named([abs(each) for each in offsets], pairs, OFFSETS)
    one_sign = len({each > 0 for each in offsets}) == 1
    if named and one_sign:
        return f"{{is}} {more} than {{right}} by {named}"
    if np.ptp(offsets) <= relative_tolerance(pairs) * max(map(abs, offsets)):
        return f"{{is}} {more} than {{right}} by {abs(offsets[0]):.4g}"
    if all(n_values([each]) > 2 for each in pairs) and len(pairs) > 1:
        return "{differs} from {right} by one number, which changes from call to call"
    return ""


FACTORS: dict[str, Callable[[float], float]] = {
    "{}": lambda s: s,
    "1/{}": lambda s: 1 / s,
    "√{}": sqrt,
    "1/√{}": lambda s: 1 / sqrt(s),
    "{}²": lambda s: s * s,
    "1/{}²": lambda s: 1 / (s * s),
    "{}/2": lambda s: s / 2,
    "2/{}": lambda s: 2 / s,
    "√{}/2": lambda s: sqrt(s) / 2,
    "2/√{}": lambda s: 2 / sqrt(s),
}


OFFSETS: dict[str, Callable[[float], float]] = {
    "{}": lambda s: s,
    "2 {}": lambda s: 2 * s,
    "3 {}": lambda s: 3 * s,
    "4 {}": lambda s: 4 * s,
    "{}²": lambda s: s * s,
}


def _named(
    numbers: Sequence[float],
    pairs: Sequence[NumberPair],
    forms: dict[str, Callable[[float], float]],
) -> str:
    """Return the one name of numbers that vary with sizes of the calls, or "".

    Sizes that are the same in all calls name nothing, nor do two names that both fit.
    """
    named = set.intersection(*(set(each.sizes) for each in pairs))
    common = sorted(name for name in named if min(p.sizes[name] for p in pairs) > 0)
    candidates = [
        (form.format(name), [value(each.sizes[name]) for each in pairs])
        for name in common
        for form, value in forms.items()
    ]
    for one, other in itertools.permutations(common, 2):
        ratios = [each.sizes[one] / each.sizes[other] for each in pairs]
        candidates.append((f"{one}/{other}", ratios))
        candidates.append((f"√({one}/{other})", [*map(sqrt, ratios)]))
    fitting = [
        text
        for text, values in candidates
        if np.ptp(values) > 0
        and np.allclose(numbers, values, rtol=relative_tolerance(pairs), atol=0)
    ]
    return fitting[0] if len(fitting) == 1 else ""


def _by_row(pairs: Sequence[NumberPair]) -> str:
    """Find a factor, or a number that is added, for each row or each column."""
    for axis, noun in ((-1, "row"), (-2, "column")):
        if any(
            each.expected.ndim < 2 or each.expected.shape[axis] < 3 for each in pairs
        ):
            continue
        if all(_proportional(each, axis) for each in pairs):
            return f"{{is}} right but for a factor in each {noun}"
        if all(_added(each, axis) for each in pairs):
            return f"{{is}} right but for a number added to each {noun}"
    return ""


def _proportional(pair: NumberPair, axis: int) -> bool:
    actual, expected = pair.actual.astype(float), pair.expected.astype(float)
    largest = np.abs(expected).argmax(axis=axis, keepdims=True)
    top = np.take_along_axis(expected, largest, axis)
    factors = np.take_along_axis(actual, largest, axis) / np.where(top == 0, 1, top)
    is_factor = bool(np.isfinite(factors).all() and factors.all())
    return (
        _differ(expected, axis)
        and is_factor
        and (pair.agrees(actual, factors * expected))
    )


def _added(pair: NumberPair, axis: int) -> bool:
    actual, expected = pair.actual.astype(float), pair.expected.astype(float)
    first = (actual - expected).take([0], axis)
    return _differ(expected, axis) and pair.agrees(actual, expected + first)


def _differ(numbers: np.ndarray, axis: int) -> bool:
    """Decide whether every row has numbers that clearly differ: else anything fits."""
    span = np.ptp(numbers, axis=axis)
    return bool(numbers.size and (span > 1e-3 * np.abs(numbers).max(axis=axis)).all())


def _temperature(pairs: Sequence[NumberPair]) -> str:
    """Find weights that are a softmax of the right scores times a factor.

    The logarithms of a softmax are its scores, but for a number added to each row.
    """
    factors: list[float] = []
    counted: list[int] = []
    for each in pairs:
        actual, right = each.actual.astype(float), each.expected.astype(float)
        if right.ndim < 1 or right.shape[-1] < 2 or each.expected.dtype.kind != "f":
            return ""
        if ((right > 0) != (actual > 0)).any() or (right < 0).any():
            return ""
        ones = np.ones(right.shape[:-1])
        if not each.agrees(right.sum(-1), ones) or not each.agrees(
            actual.sum(-1), ones
        ):
            return ""
        scores = np.log(np.where(right > 0, right, 1))
        middle = scores.max(-1, keepdims=True)
        scores = np.where(right > 0, scores - middle, -np.inf)
        best = np.take_along_axis(actual, right.argmax(-1)[..., None], -1)
        logs = np.log(np.where(right > 0, actual / best, 1))
        usable = np.isfinite(scores) & (scores < -1e-3)
        if not usable.any():
            return ""
        farthest = np.where(usable, -scores, 0).argmax()
        factor = float(logs.flat[farthest] / scores.flat[farthest])
        if not np.isfinite(factor) or factor <= 0:
            return ""
        powers = np.exp(factor * scores)
        if not each.agrees(actual, powers / powers.sum(-1, keepdims=True)):
            return ""
        factors.append(factor)
        # One score in each row says what the factor is, all others show it.
        counted.append(len(np.unique(scores[usable].round(6))) - 1)
    if sum(counted) < 2:
        return ""
    factor_text = _named(factors, pairs, FACTORS)
    if not factor_text and np.ptp(factors) <= 1e-6 * max(factors):
        factor_text = f"{factors[0]:.4g}"
    if factor_text:
        return f"{{is}} a softmax of {factor_text} times the right scores"
    if len(pairs) > 1 and min(counted) > 1:
        return "{is} a softmax of a multiple of the right scores"
    return ""


def _sums(pairs: Sequence[NumberPair]) -> str:
    """Find weights whose rows should sum to 1, and what does so instead."""

    def sums_to_one(each: NumberPair, array: np.ndarray, axis: int | None) -> bool:
        sums = np.asarray(array.astype(float).sum(axis=axis))
        return each.agrees(sums, np.ones(sums.shape))

    if any(
        each.expected.ndim < 2
        or each.expected.dtype.kind != "f"
        or each.expected.shape[-1] < 2
        or (each.expected < 0).any()
        or not sums_to_one(each, each.expected, -1)
        for each in pairs
    ) or all(sums_to_one(each, each.actual, -1) for each in pairs):
        return ""
    if all(sums_to_one(each, each.actual, -2) for each in pairs):
        return "{has} columns that sum to 1, not rows"
    if all(sums_to_one(each, each.actual, None) for each in pairs):
        return "{sums} to 1 as a whole, not in each row"
    if not any(sums_to_one(each, each.actual, -1) for each in pairs):
        return "{has} rows that do not all sum to 1"
    return ""


SAME_SHAPE: tuple[Relation, ...] = (
    _not_finite,
    _zeros,
    _opposite,
    exchanged_axes,
    _of_each_number,
    _factor,
    _offset,
    _cut,
    _not_zero,
    moved,
    permuted_axes,
    _temperature,
)


WEAK: tuple[Relation, ...] = (
    _digits,
    where,
    reordered,
    _by_row,
    _sums,
)


OTHER_SHAPE: tuple[Relation, ...] = (
    squeezed,
    exchanged_axes,
    permuted_axes,
    cut_off,
    reshaped,
    one_of_many,
)
