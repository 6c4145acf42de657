"""Sentences of a like length together, so that little of a batch is padding.

Which pairs are in which batch follows from the seed and the epoch alone: a training
that was stopped finds its place again, and several processes agree without talking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_lib.corpora.pairs import Pair
from course_lib.nn.training.subwords import END, PADDING, START, Subwords


@dataclass(frozen=True)
class Example:
    """One pair in numbers.

    source : the source's tokens, and the end
    target : the target's tokens, and the end
    """

    source: list[int]
    target: list[int]


@dataclass(frozen=True)
class Batch:
    """Some pairs side by side, filled up with padding.

    source : (batch, m), tokens and the end
    shifted : (batch, n), the start and the tokens: what the decoder reads
    target : (batch, n), the tokens and the end: what it is to write
    """

    source: Tensor
    shifted: Tensor
    target: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Give the same batch on a device."""
        moved = (each.to(device) for each in (self.source, self.shifted, self.target))
        return Batch(*moved)


def examples(pairs: Sequence[Pair], subwords: Subwords) -> list[Example]:
    """Turn pairs of texts into numbers."""
    return [
        Example([*subwords.encode(source), END], [*subwords.encode(target), END])
        for source, target in pairs
    ]


def plan(
    examples: Sequence[Example], batch_tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """Choose which examples make which batch of an epoch.

    examples : all of them; each is in one batch
    batch_tokens : number of target places in a batch at most, padding included; a
        longer example is a batch of its own
    seed, epoch : the same two give the same plan

    Returns, for each batch, the places of its examples. All epochs have as many
    batches, since the lengths in order are the same.
    """
    rng = np.random.default_rng((seed, epoch))
    source = np.array([len(each.source) for each in examples])
    target = np.array([len(each.target) for each in examples])
    # Those of equal lengths come in a new order each epoch.
    order = np.lexsort((rng.permutation(len(examples)), source, target))
    batches: list[list[int]] = []
    widest = 0
    for place in order.tolist():
        widest = max(widest, int(target[place]))
        if not batches or (len(batches[-1]) + 1) * widest > batch_tokens:
            batches.append([])
            widest = int(target[place])
        batches[-1].append(place)
    return [batches[place] for place in rng.permutation(len(batches)).tolist()]


def share(batch: Sequence[int], rank: int, n_processes: int) -> list[int]:
    """Give the part of a batch that one of several processes works on.

    Returns each n-th place, so that all parts have lengths alike; the parts together
    are the batch. It is empty if the batch has fewer examples than there are processes.

    >>> share([3, 1, 4, 1, 5], 0, 2), share([3, 1, 4, 1, 5], 1, 2)
    ([3, 4, 5], [1, 1])
    """
    return list(batch[rank::n_processes])


def collate(examples: Sequence[Example]) -> Batch:
    """Put examples side by side.

    No examples give a batch of one row in which nothing but padding is to be written:
    it can go through a model, and its loss is 0.
    """
    sources = [each.source for each in examples] or [[END]]
    targets = [each.target for each in examples] or [[PADDING]]
    return Batch(
        fill_up(sources),
        fill_up([[START, *each[:-1]] for each in targets]),
        fill_up(targets),
    )


def fill_up(rows: Sequence[Sequence[int]]) -> Tensor:
    """Make a tensor (batch, longest) of rows of tokens, with padding behind them.

    >>> fill_up([[5, 6], [7]])
    tensor([[5, 6],
            [7, 0]])
    """
    longest = max((len(row) for row in rows), default=0)
    filled = [[*row, *[PADDING] * (longest - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.long).reshape(len(rows), longest)
