"""Training, validation and test, with no copy or near copy on two sides."""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.corpora.pairs import Pair
from course_lib.corpora.skeletons import families, share_of, skeleton

VALIDATION = TEST = 0.05  # shares of the families


@dataclass(frozen=True)
class Split:
    """Pairs in three parts, each in the order in which they came."""

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]


def split(pairs: Sequence[Pair]) -> Split:
    """Split pairs so that what shares a skeleton stays together.

    Where a family goes depends on its own texts only: a pair that is added or taken
    away moves no other family.

    >>> parts = split([Pair(f"Zone {i} is open", f"Zone {i} offen") for i in range(9)])
    >>> sorted(map(len, [parts.train, parts.validation, parts.test]))
    [0, 0, 9]
    """
    places: dict[str, list[int]] = {"train": [], "validation": [], "test": []}
    for family in families(pairs):
        draw = share_of(skeleton(pairs[place].source) for place in family)
        if draw < TEST:
            part = "test"
        else:
            part = "validation" if draw < TEST + VALIDATION else "train"
        places[part].extend(family)
    return Split(
        **{part: [pairs[place] for place in sorted(of)] for part, of in places.items()}
    )
