"""What the sequence tasks are made of: a text and what it is to become."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Pair(NamedTuple):
    """One example of a task from sequence to sequence.

    source : what the encoder reads
    target : what the decoder is to write
    """

    source: str
    target: str


WORD = re.compile(r"[^\W\d_]{2,}")


def skeleton(text: str) -> str:
    """Give the words of two letters and more, without capitals, in alphabetical order.

    So case, punctuation, numbers, single letters and the order of words make no
    difference.

    >>> skeleton("Zone 12: open!") == skeleton("Open zone B")
    True
    >>> skeleton("Zone 12: open!")
    'open zone'
    """
    return " ".join(sorted(WORD.findall(text.casefold())))


def families(pairs: Sequence[Pair]) -> list[list[int]]:
    """Put pairs together that share the skeleton of their source or of their target.

    Returns groups of places in ``pairs``; two pairs that others link are in one
    group too. Both the groups and what is in them are in order.

    >>> families([Pair("Zone 1", "Zone 1"), Pair("Off", "Aus"), Pair("Zone 2", "B")])
    [[0, 2], [1]]
    """
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]  # halves the path for the next search
            node = parent[node]
        return node

    # The marks keep an English skeleton apart from a German one of the same letters.
    sources = ["s " + skeleton(pair.source) for pair in pairs]
    for node, pair in zip(sources, pairs, strict=True):
        parent[root(node)] = root("t " + skeleton(pair.target))
    groups: dict[str, list[int]] = {}
    for place, node in enumerate(sources):
        groups.setdefault(root(node), []).append(place)
    return sorted(groups.values())


def share_of(texts: Iterable[str]) -> float:
    """Give a number from 0 to 1 that depends on the set of texts, and on nothing else.

    >>> share_of(["b", "a", "a"]) == share_of(["a", "b"])
    True
    """
    content = "\\0".join(sorted(set(texts))).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:8]) / 2**64


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


# MERGED course_lib.corpora.skeletons: Texts that are copies of each other but for a number or a letter, kept together.
#
#   "Zone 1 is open" and "Zone 2 is open" are one lesson, not two: with one in training and
#   the other in the test, a model that learned by heart would look clever.
#
# MERGED course_lib.corpora.splits: Training, validation and test, with no copy or near copy on two sides.
