"""Measurements that tell broken parts apart. None of them needs the part's code.

Each takes a ``Run`` and returns a number. Where that should be 0, it is so except for
rounding.
"""

import torch

from course_lib.lessons.patients.reader import PADDING, START, VOCABULARY, pair_of
from course_lib.lessons.patients.training import Run, fresh_pairs, padded

TOKENS = [START, *(VOCABULARY.index(word) for word in "six two nine four".split())]


def leak(trained: Run) -> float:
    """Return how much the first three logits change with the words after them."""
    words = torch.tensor([TOKENS, TOKENS])
    words[1, 3:] = VOCABULARY.index("eight")
    logits = trained.logits([pair_of("6294").source] * 2, words)
    return float((logits[0, :3] - logits[1, :3]).abs().max())


def leak_of_mask(trained: Run) -> float:
    """Return the largest weight on a later word, in the decoder's own attention."""
    trained.logits([pair_of("6294").source], torch.tensor([TOKENS]))
    weights = trained.model.attentions["decoder"].weights
    assert isinstance(weights, torch.Tensor)
    return float(weights.triu(1).max())


def order_gap(trained: Run) -> float:
    """Return how much the logits change if the digits change their order."""
    sources = [pair_of(text).source for text in ("6294", "2469")]
    first, second = (trained.logits([each], torch.tensor([TOKENS])) for each in sources)
    return float((first - second).abs().max())


def batch_gap(trained: Run, *, equal_lengths: bool = False) -> float:
    """Return how much the logits of a number change with the others in its batch.

    equal_lengths : whether all numbers have four digits, so that there is no padding
    """
    texts = ["6294", "1830", "5577"] if equal_lengths else ["6294", "70", "1234567"]
    rows = [pair_of(text).source for text in texts]
    words = torch.tensor([TOKENS])
    together = trained.logits(rows, words.expand(3, -1))
    alone = torch.cat([trained.logits([row], words) for row in rows])
    return float((together - alone).abs().max())


def repeat_gap(trained: Run) -> float:
    """Return how much the logits change if the same is computed twice."""
    words, row = torch.tensor([TOKENS]), pair_of("6294").source
    return float(
        (trained.logits([row], words) - trained.logits([row], words)).abs().max()
    )


def cache_gap(trained: Run, n: int = 40) -> float:
    """Return the share of n fresh numbers that are read otherwise with a cache."""
    texts = ["".join(VOCABULARY[i] for i in pair.source) for pair in fresh_pairs()[:n]]
    pairs = zip(trained.read(texts), trained.read(texts, cached=True), strict=True)
    return sum(a != b for a, b in pairs) / n


def padding_share(trained: Run) -> float:
    """Return the share of padding in the targets of the first 32 training pairs."""
    target = padded([pair.target for pair in trained.train[:32]])
    return float((target == PADDING).float().mean())
