"""What *it* attends to in a real model: the noun that is meant, or another (lesson 13).

Lesson 01's sentence and fifteen more of its kind, each with two last words: one says
something of the first noun, one of the second. Whatever the model made of a sentence,
none was taken out. A head is right in a sentence if *it* attends more to
the noun that is meant than to the other one: by chance in half of them.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_lib.lessons.environment import one_thread
from course_lib.nn.pretrained import SentenceEncoder

SEEDS = (0,)  # nothing is drawn
WELL_KNOWN = (3, 1)  # layer and head, from 0: *tired* makes *it* attend to *animal*


@dataclass(frozen=True)
class PronounPair:
    """Two sentences that differ in their last word, and so in what *it* means.

    text : with {} for the last word
    nouns : the first and the second noun
    last_words : the one that fits the first noun, the one that fits the second
    """

    text: str
    nouns: tuple[str, str]
    last_words: tuple[str, str]

    def sentence(self, meant: int) -> str:
        """Return the sentence in which *it* means the first noun, 0, or the second, 1.

        >>> PAIRS[0].sentence(1)
        "The animal didn't cross the street because it was too wide."
        """
        return self.text.format(self.last_words[meant])


def _pair(text: str, first: str, second: str) -> PronounPair:
    words = text.split()
    nouns = words[1], words[words.index("because") - 1]
    return PronounPair(text, nouns, (first, second))


PAIRS = (
    _pair("The animal didn't cross the street because it was too {}.", "tired", "wide"),
    _pair("The dog didn't cross the river because it was too {}.", "afraid", "deep"),
    _pair("The cat didn't cross the road because it was too {}.", "sleepy", "busy"),
    _pair("The horse didn't cross the bridge because it was too {}.", "old", "narrow"),
    _pair(
        "The trophy didn't fit in the suitcase because it was too {}.", "big", "small"
    ),
    _pair(
        "The ball broke through the table because it was made of {}.", "steel", "glass"
    ),
    _pair("The fish ate the worm because it was very {}.", "hungry", "tasty"),
    _pair("The truck passed the bus because it was very {}.", "fast", "slow"),
    _pair("The bird couldn't leave the cage because it was {}.", "sick", "locked"),
    _pair("The cow didn't eat the grass because it was too {}.", "ill", "dry"),
    _pair("The book didn't fit on the shelf because it was too {}.", "thick", "full"),
    _pair("The bear didn't enter the cave because it was too {}.", "fat", "dark"),
    _pair("The snake couldn't climb the wall because it was too {}.", "weak", "high"),
    _pair(
        "The boat couldn't enter the harbor because it was too {}.", "large", "shallow"
    ),
    _pair("The wolf didn't catch the rabbit because it was too {}.", "tired", "quick"),
    _pair(
        "The elephant didn't drink the water because it was too {}.", "nervous", "dirty"
    ),
)


def weights_of_it(encoder: SentenceEncoder, pair: PronounPair, meant: int) -> Tensor:
    """Return the weights with which *it* attends to both nouns.

    meant : 0 or 1, the noun that the last word fits

    Returns (2, n_layers, n_heads): the first noun's, the second's.
    """
    sentence = pair.sentence(meant)
    tokens = encoder.tokens(sentence)
    weights = encoder.weights(sentence)[..., tokens.index("it"), :]
    return torch.stack([weights[..., tokens.index(noun)] for noun in pair.nouns])


def full(seed: int) -> dict[str, Any]:
    """Ask all heads about all sentences.

    seed : changes nothing

    Returns

    - "sentences": for each pair, twice: "sentence", "nouns", "meant" (0 or 1),
      "weights" of the head ``WELL_KNOWN`` to both nouns, and "right" (whether the meant
      one gets more);
    - "right": the number of the 32 sentences in which each head is right, as rows
      (n_layers, n_heads); "right in both": the number of the 16 pairs in which it is
      right in both sentences; by chance 16 and 4;
    - "first noun": the number of sentences in which *it* attends more to the first
      noun;
    - "best head": [layer, head] of the most right sentences, "best right" and "best
      right in both" its numbers;
    - "chosen on half": the best head of the even pairs, and in how many of the 16
      sentences of the odd pairs that one is right; and the other way round.
    """
    encoder = SentenceEncoder.load()
    with one_thread():
        weights = torch.stack(
            [
                torch.stack([weights_of_it(encoder, pair, meant) for meant in (0, 1)])
                for pair in PAIRS
            ]
        )  # (pairs, meant, noun, n_layers, n_heads)
    to_first = weights[:, :, 0] > weights[:, :, 1]
    right = torch.stack([to_first[:, 0], ~to_first[:, 1]], dim=1)
    in_pairs = right.all(dim=1)  # (pairs, n_layers, n_heads)
    counts = right.sum(dim=(0, 1))
    best = _best(counts)
    return {
        "sentences": [
            {
                "sentence": pair.sentence(meant),
                "nouns": list(pair.nouns),
                "meant": meant,
                "weights": [
                    round(each, 3)
                    for each in weights[i, meant, :, *WELL_KNOWN].tolist()
                ],
                "right": bool(right[i, meant, *WELL_KNOWN]),
            }
            for i, pair in enumerate(PAIRS)
            for meant in (0, 1)
        ],
        "right": counts.tolist(),
        "right in both": in_pairs.sum(dim=0).tolist(),
        "first noun": to_first.sum(dim=(0, 1)).tolist(),
        "best head": list(best),
        "best right": int(counts[best]),
        "best right in both": int(in_pairs.sum(dim=0)[best]),
        "chosen on half": [_chosen(right, half) for half in (0, 1)],
    }


def _best(counts: Tensor) -> tuple[int, int]:
    layer, head = divmod(int(counts.argmax()), counts.shape[1])
    return layer, head


def _chosen(right: Tensor, half: int) -> dict[str, Any]:
    """Choose the best head on every second pair, and count on the others."""
    chosen = _best(right[half::2].sum(dim=(0, 1)))
    others = right[1 - half :: 2].sum(dim=(0, 1))
    return {
        "head": list(chosen),
        "right where chosen": int(right[half::2].sum(dim=(0, 1))[chosen]),
        "right in the others": int(others[chosen]),
    }
