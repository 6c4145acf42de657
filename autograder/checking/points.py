"""Points: what an exercise is worth, how its cases share it, how points are shown.

Shares are whole quarters of a point. Those are exact in binary, so that a sum of them
is exact, in whatever order it is taken. They have two decimals at most, so that what is
shown adds up too.
"""

from fractions import Fraction
from functools import cache

UNITS = 4  # in a point: a case's points are a whole number of quarters
FOR_DIFFICULTY = 4  # points for each level above the first


def worth(minutes: int, difficulty: int) -> float:
    """Return the points of an exercise: its minutes, and 4 for each further dot.

    minutes : how long a first reader needs
    difficulty : 1, 2 or 3

    How many cases its author has written makes no difference.

    >>> worth(5, 1), worth(10, 2), worth(40, 3)
    (5.0, 14.0, 48.0)
    """
    return float(minutes + FOR_DIFFICULTY * (difficulty - 1))


@cache
def apportion(points: float, weights: tuple[float, ...]) -> tuple[float, ...]:
    """Return what each of several cases gets of an exercise's points, in their order.

    points : of all together, a whole number of quarters
    weights : of the cases, above 0

    - A share is a whole number of quarters, one at least.
    - The shares sum to ``points``.
    - They follow the weights. What is left over when each has its whole quarters goes,
      one by one, to those with the largest remainders, to earlier cases first (largest
      remainder method, of Hamilton).

    Raises ``ValueError`` where there is not a quarter for each.

    >>> apportion(5, (1, 1, 2)), apportion(1, (1, 1, 1))
    ((1.25, 1.25, 2.5), (0.5, 0.25, 0.25))
    """
    units = Fraction(points) * UNITS
    if units.denominator > 1 or units < len(weights):
        raise ValueError(
            f"{points:g} points cannot be shared by {len(weights)} cases: expected a "
            "whole number of quarters, and at least one for each case"
        )
    exact = [Fraction(weight) for weight in weights]
    # Who would get less than a quarter gets one; the others share what is left then.
    quotas: dict[int, Fraction] = {}
    sharing = [*range(len(exact))]
    while sharing:
        rest = units - (len(exact) - len(sharing))
        total = sum(exact[index] for index in sharing)
        quotas = {index: rest * exact[index] / total for index in sharing}
        still_sharing = [index for index in sharing if quotas[index] >= 1]
        if len(still_sharing) == len(sharing):
            break
        sharing = still_sharing
    counts = [int(quotas.get(index, 1)) for index in range(len(exact))]
    by_remainder = sorted(quotas, key=lambda index: counts[index] - quotas[index])
    for index in by_remainder[: int(units) - sum(counts)]:
        counts[index] += 1
    return tuple(count / UNITS for count in counts)


def format_number(points: float) -> str:
    """Return points with at most two decimals.

    >>> [format_number(points) for points in (7.0, 2.5, 0.25, 1 / 3, -1e-9, 1234.5)]
    ['7', '2.5', '0.25', '0.33', '0', '1234.5']
    """
    text = f"{points:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def format_number_of(points: float, max_points: float) -> str:
    """Return points of how many, both with at most two decimals.

    >>> format_number_of(12.25, 14.0)
    '12.25 of 14'
    """
    return f"{format_number(points)} of {format_number(max_points)}"
