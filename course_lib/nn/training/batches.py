"""Sentences of a like length together, so that little of a batch is padding.

Which pairs are in which batch follows from the seed and the epoch alone. ``PairData``
is what the training loop reads; ``course_lib.nn.training.windows`` has its counterpart
for language models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import torch
from torch import Tensor

from course_lib.corpora.pairs import Pair
from course_lib.nn.training.distributed import ProcessGroup
from course_lib.nn.training.loop import Batch, TrainingConfig
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


class PairData:
    """Pairs to be trained on, in batches by length: a ``TrainingData``.

    ignore_index : padding's token id, which no target has
    """

    ignore_index = PADDING_ID

    def __init__(self, examples: Sequence[Example]) -> None:
        """Prepare batches of examples; raise ``ValueError`` if there are none."""
        if not examples:
            raise ValueError("there are no examples to train on")
        self._examples = examples
        # Of two epochs: each step asks for the first one's number of batches.
        self._batches_of = lru_cache(maxsize=2)(partial(batches_by_length, examples))

    def batches_per_epoch(self, config: TrainingConfig) -> int:
        """Return the number of batches in which each example is once.

        All epochs have as many.
        """
        return len(self._batches_of(config.batch_tokens, config.seed, 0))

    def batch(self, step: int, config: TrainingConfig, group: ProcessGroup) -> Batch:
        """Return this process's shard of the batch of a step."""
        epoch, index = divmod(step, self.batches_per_epoch(config))
        indices = self._batches_of(config.batch_tokens, config.seed, epoch)[index]
        own = shard(indices, group.rank, group.world_size)
        padded = collate([self._examples[index] for index in own])
        n_targets = sum(len(self._examples[index].target) for index in indices)
        return Batch((padded.source, padded.decoder_input), padded.target, n_targets)
