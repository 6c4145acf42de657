import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("online_softmax")


def blocks_of(x, block):
    return [x[..., i : i + block] for i in range(0, x.shape[-1], block)]


@answers.correct
def score_by_score(x, block):
    """Go over each row in Python's floats, whatever the block."""
    weights = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        largest, total = -math.inf, 0.0
        for score in x[index].tolist():
            higher = max(largest, score)
            total = total * math.exp(largest - higher) + math.exp(score - higher)
            largest = higher
        weights[index] = [math.exp(s - largest) / total for s in x[index].tolist()]
    return weights


@answers.correct
def numerators_rescaled_on_the_way(x, block):
    """Keep the numerators of all blocks so far, and rescale them too."""
    done, largest, total = [], None, 0.0
    for part in blocks_of(x, block):
        own = part.max(axis=-1, keepdims=True)
        higher = own if largest is None else np.maximum(largest, own)
        factor = 1.0 if largest is None else np.exp(largest - higher)
        done = [powers * factor for powers in done] + [np.exp(part - higher)]
        total = total * factor + done[-1].sum(axis=-1, keepdims=True)
        largest = higher
    return np.concatenate(done, axis=-1) / total


@answers.correct
def blocks_merged_afterwards(x, block):
    """Summarise each block on its own, and merge all summaries at the end."""
    largest = np.stack([part.max(axis=-1) for part in blocks_of(x, block)])
    sums = np.stack(
        [np.exp(part - part.max(-1)[..., None]).sum(-1) for part in blocks_of(x, block)]
    )
    top = largest.max(axis=0)
    total = np.einsum("b...,b...->...", sums, np.exp(largest - top))
    return np.exp(x - top[..., None]) / total[..., None]


@answers.correct
def padded_with_minus_infinity(x, block):
    m = x.shape[-1]
    n_blocks = -(-m // block)
    wide = np.full((*x.shape[:-1], n_blocks * block), -np.inf)
    wide[..., :m] = x
    wide = wide.reshape(*x.shape[:-1], n_blocks, block)
    largest, total = np.full(x.shape[:-1], -np.inf), np.zeros(x.shape[:-1])
    for number in range(n_blocks):
        part = wide[..., number, :]
        higher = np.fmax(largest, part.max(-1))
        total *= np.exp(largest - higher)
        total += np.exp(part - higher[..., None]).sum(-1)
        largest = higher
    powers = np.exp(x.astype(np.float64) - np.expand_dims(largest, -1))
    return np.asfortranarray(powers / np.expand_dims(total, -1))


@answers.correct
def from_the_right(x, block):
    return score_by_score(x[..., ::-1], block)[..., ::-1]


@answers.correct
def started_at_the_lowest_number(x, block):
    largest = np.full((*x.shape[:-1], 1), np.finfo(float).min)
    total = np.zeros_like(largest)
    for part in blocks_of(x, block):
        higher = np.maximum(largest, part.max(axis=-1, keepdims=True))
        total = total * np.exp(largest - higher)
        total = total + np.exp(part - higher).sum(axis=-1, keepdims=True)
        largest = higher
    out = np.empty(x.shape)
    for start in range(0, x.shape[-1], block):
        keys = slice(start, start + block)
        out[..., keys] = np.exp(x[..., keys] - largest) / total
    return out


@answers.correct
def array_split(x, block):
    """Read block as the number of blocks: the weights are the same."""
    largest, total = np.full((*x.shape[:-1], 1), -np.inf), 0.0
    for part in np.array_split(x, min(block, x.shape[-1]), axis=-1):
        higher = np.maximum(largest, part.max(axis=-1, keepdims=True))
        total = total * np.exp(largest - higher)
        total = total + np.exp(part - higher).sum(axis=-1, keepdims=True)
        largest = higher
    return np.exp(x - largest) / total


@answers.correct
def tensors(x, block):
    scores = torch.tensor(x, dtype=torch.float64)
    largest = torch.full((*scores.shape[:-1], 1), -torch.inf, dtype=torch.float64)
    total = torch.zeros_like(largest)
    for part in scores.split(block, dim=-1):
        higher = torch.maximum(largest, part.amax(-1, keepdim=True))
        total = total * (largest - higher).exp()
        total = total + (part - higher).exp().sum(-1, keepdim=True)
        largest = higher
    return ((scores - largest).exp() / total).numpy()


class Online:
    def __init__(self, run):
        self.run = run

    def __call__(self, x, block):
        return self.run(x, block)


answers.right["callable_object"] = Online(numerators_rescaled_on_the_way)
answers.right["partial"] = functools.partial(
    lambda run, x, block: run(x, block), score_by_score
)


@answers.also("maximum_of_the_newest_block")
def maximum_not_compared(x, block):
    largest, total = None, 0.0
    for part in blocks_of(x, block):
        own = part.max(axis=-1, keepdims=True)
        if largest is not None:
            total = total * np.exp(largest - own)
        total = total + np.exp(part - own).sum(axis=-1, keepdims=True)
        largest = own
    return np.exp(x - largest) / total


@answers.also("rest_without_weight")
def full_blocks_filled_in(x, block):
    weights, m = np.zeros(x.shape), x.shape[-1] // block * block
    if m:
        weights[..., :m] = score_by_score(x[..., :m], block)
    return weights


@answers.also("each_block_sums_to_1")
def softmax_of_each_block(x, block):
    return np.concatenate([score_by_score(p, 1) for p in blocks_of(x, block)], axis=-1)


@answers.other
def rescaled_once_in_the_end(x, block):
    total = 0.0
    for part in blocks_of(x, block):
        last = part.max(axis=-1, keepdims=True)
        total = total + np.exp(part - last).sum(axis=-1, keepdims=True)
    top = x.max(axis=-1, keepdims=True)
    return np.exp(x - top) / (total * np.exp(last - top))


@answers.other
def two_blocks_at_most(x, block):
    return score_by_score(x[..., : 2 * block], block)


@answers.other
def factor_of_the_first_row(x, block):
    largest, total = np.full((*x.shape[:-1], 1), -np.inf), 0.0
    for part in blocks_of(x, block):
        higher = np.maximum(largest, part.max(axis=-1, keepdims=True))
        factor = np.exp(largest - higher).flat[0]
        total = total * factor + np.exp(part - higher).sum(axis=-1, keepdims=True)
        largest = higher
    return np.exp(x - largest) / total
