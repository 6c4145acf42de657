"""Pairs of a wrong result and the right one, as arrays of numbers."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from autograder.checking.comparison import first_difference


class NumberPair(NamedTuple):
    """A wrong result of numbers, or a part of one, and what it should be.

    size : bytes per number that the comparison may rely on
    sizes : the sizes of the call by name
    masks : its boolean arguments by name
    """

    actual: np.ndarray
    expected: np.ndarray
    size: int = 8
    sizes: dict[str, int] = {}  # noqa: RUF012 - never changed
    masks: dict[str, np.ndarray] = {}  # noqa: RUF012 - never changed

    def agrees(self, actual: np.ndarray, expected: np.ndarray) -> bool:
        """Compare two arrays as numbers, up to the rounding of this pair."""
        if actual.shape != expected.shape:
            return False
        both = actual.astype(float), expected.astype(float)
        return first_difference(*both, least=self.size) is None


# A predicate: "{is} {right}, transposed"; the words in braces go by singular or plural.
Relation = Callable[[Sequence[NumberPair]], str]


def varies(array: np.ndarray) -> bool:
    return bool(array.size > 1 and (array != array.flat[0]).any())


def n_values(pairs: Sequence[NumberPair]) -> int:
    """Count the different numbers other than zero that are right in any pair."""
    different: set[float] = set()
    for each in pairs:
        numbers = each.expected.astype(float)
        different.update(numbers[np.isfinite(numbers) & (numbers != 0)].ravel()[:50])
    return len(different)


def relative_tolerance(pairs: Sequence[NumberPair]) -> float:
    return {8: 1e-8, 4: 1e-4, 2: 2e-2}[min(each.size for each in pairs)]
