"""Pairs of texts, and their split into training, validation and test.

"Zone 1 is open" and "Zone 2 is open" teach the same: with one in training and the other
in the test, a model that only memorised would score well. Such pairs have one skeleton,
and pairs that share a skeleton stay in one part of the split.
"""

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
    """Return the words of two letters and more, without capitals, by alphabet.

    So case, punctuation, numbers, single letters and the order of words make no
    difference.

    >>> skeleton("Zone 12: open!") == skeleton("Open zone B")
    True
    >>> skeleton("Zone 12: open!")
    'open zone'
    """
    return " ".join(sorted(WORD.findall(text.casefold())))


def group_by_skeleton(pairs: Sequence[Pair]) -> list[list[int]]:
    """Group pairs that share the skeleton of their source or of their target.

    Returns groups of indices of ``pairs``; two pairs that others link are in one group
    too. Both the groups and their indices are in order.

    >>> zones = Pair("Zone 1", "Zone 1"), Pair("Zone 2", "B")
    >>> group_by_skeleton([zones[0], Pair("Off", "Aus"), zones[1]])
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
    for index, node in enumerate(sources):
        groups.setdefault(root(node), []).append(index)
    return sorted(groups.values())


def hash_fraction(texts: Iterable[str]) -> float:
    """Map a set of texts to a number from 0 to 1, always the same one.

    >>> hash_fraction(["b", "a", "a"]) == hash_fraction(["a", "b"])
    True
    """
    content = "\\0".join(sorted(set(texts))).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:8]) / 2**64


VALIDATION = TEST = 0.05  # shares of the groups


@dataclass(frozen=True)
class Split:
    """Pairs in three parts, each in the original order."""

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]


def split(pairs: Sequence[Pair]) -> Split:
    """Split pairs so that what shares a skeleton stays together.

    The part of a group depends on its own texts only: a pair that is added or removed
    moves no other group.

    >>> parts = split([Pair(f"Zone {i} is open", f"Zone {i} offen") for i in range(9)])
    >>> sorted(map(len, [parts.train, parts.validation, parts.test]))
    [0, 0, 9]
    """
    parts: dict[str, list[int]] = {"train": [], "validation": [], "test": []}
    for group in group_by_skeleton(pairs):
        fraction = hash_fraction(skeleton(pairs[index].source) for index in group)
        if fraction < TEST:
            part = "test"
        else:
            part = "validation" if fraction < TEST + VALIDATION else "train"
        parts[part].extend(group)
    return Split(**{part: [pairs[i] for i in sorted(parts[part])] for part in parts})
