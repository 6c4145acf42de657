"""Do heads of MiniLM follow the syntax? Verbs, their subjects and objects (lesson 13).

Where the object stands after its verb depends on the words between them, and so does
where the subject stands before it: adjectives, adverbs and relative clauses move both.
A head follows the syntax if it finds them where no fixed distance does. The best head
is chosen on half of the words, and its share is that of the other half: the largest of
72 numbers is large by chance.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_lib.lessons.environment import one_thread
from course_lib.nn.pretrained import SentenceEncoder

SEEDS = (0,)  # nothing is drawn
BEFORE_NOUN = ("", "old", "big old")
AFTER_SUBJECT = ("", "often", "near the river", "that we saw yesterday")
# Clark et al. (2019), table 1: the best head of BERT, and the best fixed distance.
CLARK = {"verb to object": (0.868, 0.400), "verb to subject": (0.585, 0.455)}


@dataclass(frozen=True)
class Words:
    """What a sentence is made of; each one token for MiniLM."""

    subject: str
    verb: str
    object: str


WORDS = (
    Words("farmer", "sold", "horse"),
    Words("teacher", "opened", "window"),
    Words("dog", "followed", "car"),
    Words("woman", "wrote", "letter"),
    Words("king", "built", "castle"),
    Words("child", "broke", "chair"),
    Words("doctor", "lost", "key"),
    Words("soldier", "carried", "box"),
)
# From which word to which one.
RELATIONS = {
    "verb to object": ("verb", "object"),
    "object to verb": ("object", "verb"),
    "verb to subject": ("verb", "subject"),
    "subject to verb": ("subject", "verb"),
}


def sentence(words: Words, before: str, after: str) -> str:
    """Write a sentence; the adjectives stand before its object.

    >>> sentence(WORDS[0], "big old", "often")
    'The farmer often sold the big old horse yesterday.'
    """
    last = "yesterday" if "yesterday" not in after else "again"
    parts = ["The", words.subject, after, words.verb, "the", before, words.object, last]
    return " ".join(part for part in parts if part) + "."


def sentences(words: Sequence[Words]) -> list[tuple[str, Words]]:
    """Write the twelve sentences of each of some words, with the words."""
    every = itertools.product(words, BEFORE_NOUN, AFTER_SUBJECT)
    return [(sentence(each, *between), each) for each, *between in every]


def hits(encoder: SentenceEncoder, words: Sequence[Words]) -> dict[str, Tensor]:
    """Return in which sentences each head finds the word: (sentences, layers, heads).

    A head finds it if of all words of the sentence, separators left out, the word gets
    the largest weight.
    """
    by_relation: dict[str, list[Tensor]] = {name: [] for name in RELATIONS}
    for text, each in sentences(words):
        tokens = encoder.tokens(text)
        weights = encoder.weights(text)[..., 1:-1, 1:-1]
        largest = weights.argmax(dim=-1)  # (n_layers, n_heads, n)
        at = {part: tokens.index(getattr(each, part)) - 1 for part in vars(each)}
        for name, (start, end) in RELATIONS.items():
            by_relation[name].append(largest[..., at[start]] == at[end])
    return {name: torch.stack(rows) for name, rows in by_relation.items()}


def best_distance(encoder: SentenceEncoder, relation: str) -> float:
    """Return the share of sentences that have the commonest distance."""
    start, end = RELATIONS[relation]
    distances = []
    for text, words in sentences(WORDS):
        tokens = encoder.tokens(text)
        distances.append(
            tokens.index(getattr(words, end)) - tokens.index(getattr(words, start))
        )
    return max(map(distances.count, distances)) / len(distances)


def full(seed: int) -> dict[str, Any]:
    """Look for each relation which head follows it.

    seed : changes nothing

    Returns for each relation "head", the layer and the head that were chosen on the
    sentences of even words, "share" of the sentences of odd words in which it finds the
    word, "share, chosen on odd" the other way round, with its "head, chosen on odd",
    and "distance", the share of all in which the best fixed distance does.
    """
    encoder = SentenceEncoder.load()
    with one_thread():
        even, odd = hits(encoder, WORDS[::2]), hits(encoder, WORDS[1::2])
    results: dict[str, Any] = {"sentences": len(sentences(WORDS))}
    for name in RELATIONS:
        measures: dict[str, Any] = {"distance": round(best_distance(encoder, name), 3)}
        pairs = {
            "": (even[name], odd[name]),
            ", chosen on odd": (odd[name], even[name]),
        }
        for key, (chosen_on, tried_on) in pairs.items():
            shares = chosen_on.float().mean(dim=0)
            head = divmod(int(shares.argmax()), shares.shape[1])
            measures[f"head{key}"] = list(head)
            measures[f"share{key}"] = round(tried_on[:, *head].float().mean().item(), 3)
        results[name] = measures
    return results
