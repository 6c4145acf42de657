"""Texts that are copies of each other but for a number or a letter, kept together.

"Zone 1 is open" and "Zone 2 is open" are one lesson, not two: with one in training and
the other in the test, a model that learned by heart would look clever.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

from course_lib.corpora.pairs import Pair

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
