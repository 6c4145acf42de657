"""Measurements that tell broken parts apart. None of them needs the part's code.

Each takes a ``Run`` and returns a number. Where that should be 0, it is so except for
rounding.
"""

import numpy as np
import torch

from course_lib.lessons.environment import seeded
from course_lib.lessons.patients.reader import PADDING, START, VOCABULARY, pair_of
from course_lib.lessons.patients.training import Run, fresh_pairs, padded

TOKENS = [START, *(VOCABULARY.index(word) for word in "six two nine four".split())]


def leak(trained: Run) -> float:
    """Return how much the first three logits change with the words after them."""
    words, row = torch.tensor([TOKENS]), pair_of("6294").source
    other = words.clone()
    other[:, 3:] = VOCABULARY.index("eight")
    logits = []
    for each in (words, other):
        with seeded(0):  # if dropout is on, it is the same twice
            logits.append(trained.logits([row], each)[0, :3])
    return float((logits[0] - logits[1]).abs().max())


def own_weights(trained: Run) -> np.ndarray:
    """Return the decoder's own weights (5, 5), the mean of its heads."""
    return _own_weights(trained).mean(dim=0).double().numpy()


def leak_of_mask(trained: Run) -> float:
    """Return the largest weight on a later word, in the decoder's own attention."""
    return float(_own_weights(trained).triu(1).max())


def _own_weights(trained: Run) -> torch.Tensor:
    trained.logits([pair_of("6294").source], torch.tensor([TOKENS]))
    weights = trained.model.attentions["decoder"].weights
    assert isinstance(weights, torch.Tensor)
    return weights[0]  # (n_heads, 5, 5)


def copies(trained: Run) -> float:
    """Return the share of words that are predicted to come once more."""
    logits = trained.logits([pair_of("6294").source], torch.tensor([TOKENS]))
    repeated = logits[0].argmax(-1)[1:] == torch.tensor(TOKENS[1:])
    return float(repeated.float().mean())


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
