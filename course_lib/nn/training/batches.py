"""Sentences of a like length together, so that little of a batch is padding.

Which pairs are in which batch follows from the seed and the epoch alone: a training
that was stopped goes on with the right batch, and several processes agree without
exchanging messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_lib.corpora.pairs import Pair
from course_lib.nn.training.subwords import (
    END_ID,
    PADDING_ID,
    START_ID,
    SubwordTokenizer,
)


@dataclass(frozen=True)
class Example:
    """One pair in token ids.

    source : the source's token ids, and the end
    target : the target's token ids, and the end
    """

    source: list[int]
    target: list[int]


def encode_pairs(pairs: Sequence[Pair], tokenizer: SubwordTokenizer) -> list[Example]:
    """Turn pairs of texts into token ids."""
    return [
        Example(
            [*tokenizer.encode(source), END_ID],
            [*tokenizer.encode_target(target), END_ID],
        )
        for source, target in pairs
    ]


def batches_by_length(
    examples: Sequence[Example], batch_tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """Choose which examples make which batch of an epoch.

    examples : all of them; each is in one batch
    batch_tokens : number of target positions in a batch at most, padding included; a
        longer example is a batch of its own
    seed, epoch : the same two give the same batches

    Returns, for each batch, the indices of its examples. All epochs have as many
    batches, since the sorted lengths are the same.
    """
    rng = np.random.default_rng((seed, epoch))
    source = np.array([len(each.source) for each in examples])
    target = np.array([len(each.target) for each in examples])
    # Examples of equal lengths come in a new order each epoch.
    order = np.lexsort((rng.permutation(len(examples)), source, target))
    batches: list[list[int]] = []
    longest = 0
    for index in order.tolist():
        longest = max(longest, int(target[index]))
        if not batches or (len(batches[-1]) + 1) * longest > batch_tokens:
            batches.append([])
            longest = int(target[index])
        batches[-1].append(index)
    return [batches[index] for index in rng.permutation(len(batches)).tolist()]


def shard(batch: Sequence[int], rank: int, world_size: int) -> list[int]:
    """Return the part of a batch that one of several processes works on.

    Takes each world_size-th example, so that all shards have lengths alike; together
    they are the batch. A shard is empty if there are fewer examples than processes.

    >>> shard([3, 1, 4, 1, 5], 0, 2), shard([3, 1, 4, 1, 5], 1, 2)
    ([3, 4, 5], [1, 1])
    """
    return list(batch[rank::world_size])


@dataclass(frozen=True)
class PaddedBatch:
    """Some pairs side by side, padded.

    source : (batch, m), token ids and the end
    decoder_input : (batch, n), the start and the target's token ids
    target : (batch, n), the target's token ids and the end
    """

    source: Tensor
    decoder_input: Tensor
    target: Tensor

    def to(self, device: torch.device) -> "PaddedBatch":
        """Return the same batch on a device."""
        return PaddedBatch(
            self.source.to(device),
            self.decoder_input.to(device),
            self.target.to(device),
        )


def collate(examples: Sequence[Example]) -> PaddedBatch:
    """Make a batch of examples.

    No examples give a batch of one row whose target is all padding: it can go through a
    model, and its loss is 0.
    """
    sources = [each.source for each in examples] or [[END_ID]]
    targets = [each.target for each in examples] or [[PADDING_ID]]
    return PaddedBatch(
        pad(sources),
        pad([[START_ID, *each[:-1]] for each in targets]),
        pad(targets),
    )


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Make a tensor (batch, longest) of rows of token ids, with padding behind them.

    >>> pad([[5, 6], [7]])
    tensor([[5, 6],
            [7, 0]])
    """
    longest = max((len(row) for row in rows), default=0)
    padded = [[*row, *[PADDING_ID] * (longest - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.long).reshape(len(rows), longest)
