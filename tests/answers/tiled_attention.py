import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("tiled_attention")


def ranges(m, block):
    return [slice(start, start + block) for start in range(0, m, block)]


def spread(may_attend, q, k):
    """Broadcast a mask, or None, to the scores: a view, no new array."""
    shape = (*q.shape[:-1], k.shape[-2])
    return np.broadcast_to(True if may_attend is None else may_attend, shape)


def masked_scores(q, k, allowed, keys):
    scores = np.einsum("...ic,...jc->...ij", q, k[..., keys, :]) / math.sqrt(
        q.shape[-1]
    )
    return np.where(allowed[..., keys], scores, -np.inf)


@answers.correct
def query_by_query_and_key_by_key(q, k, v, block, may_attend=None):
    """Keep one number for the maximum, one for the sum, one row for the output."""
    output, allowed = np.zeros((*q.shape[:-1], v.shape[-1])), spread(may_attend, q, k)
    for index in np.ndindex(q.shape[:-1]):
        largest, total, row = -math.inf, 0.0, np.zeros(v.shape[-1])
        for j in range(k.shape[-2]):
            if not allowed[*index, j]:
                continue
            score = float(q[index] @ k[*index[:-1], j]) / math.sqrt(q.shape[-1])
            higher = max(largest, score)
            factor, power = math.exp(largest - higher), math.exp(score - higher)
            total, row = (
                total * factor + power,
                row * factor + power * v[*index[:-1], j],
            )
            largest = higher
        output[index] = row / total if total else 0.0
    return output


@answers.correct
def started_at_the_lowest_float(q, k, v, block, may_attend=None):
    allowed, shape = spread(may_attend, q, k), (*q.shape[:-1], 1)
    largest, total = np.full(shape, np.finfo(float).min), np.zeros(shape)
    output = np.zeros((*q.shape[:-1], v.shape[-1]))
    for keys in ranges(k.shape[-2], block):
        scores = masked_scores(q, k, allowed, keys)
        higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        factor, powers = np.exp(largest - higher), np.exp(scores - higher)
        total = factor * total + powers.sum(axis=-1, keepdims=True)
        output = factor * output + powers @ v[..., keys, :]
        largest = higher
    return np.divide(output, total, where=total > 0, out=np.zeros(output.shape))


@answers.correct
def mean_at_any_time(q, k, v, block, may_attend=None):
    """Divide at each block, and multiply by the old sum before."""
    allowed, shape = spread(may_attend, q, k), (*q.shape[:-1], 1)
    largest, total = np.full(shape, -1e300), np.zeros(shape)
    output = np.zeros((*q.shape[:-1], v.shape[-1]))
    for keys in ranges(k.shape[-2], block):
        scores = masked_scores(q, k, allowed, keys)
        higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        old, powers = total * np.exp(largest - higher), np.exp(scores - higher)
        total = old + powers.sum(axis=-1, keepdims=True)
        safe = np.where(total > 0, total, 1.0)
        output = output * (old / safe) + (powers / safe) @ v[..., keys, :]
        largest = higher
    return output


@answers.correct
def logarithms_of_sums(q, k, v, block, may_attend=None):
    """Put the blocks' outputs together, weighted by their sums."""
    allowed = spread(may_attend, q, k)
    outputs, log_sums = [], []
    for keys in ranges(k.shape[-2], block):
        scores = masked_scores(q, k, allowed, keys)
        log_sum = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
        log_sums.append(log_sum)
        finite = np.where(np.isinf(log_sum), 0.0, log_sum)
        outputs.append(np.exp(scores - finite) @ v[..., keys, :])
    everything = np.logaddexp.reduce(np.stack(log_sums))
    everything = np.where(np.isinf(everything), 0.0, everything)
    shares = [np.exp(log_sum - everything) for log_sum in log_sums]
    return sum(share * output for share, output in zip(shares, outputs, strict=True))


@answers.correct
def two_passes(q, k, v, block, may_attend=None):
    """Find the maximum in one pass, and sum up in another."""
    allowed = spread(may_attend, q, k)
    largest = functools.reduce(
        np.maximum,
        (masked_scores(q, k, allowed, s).max(-1) for s in ranges(k.shape[-2], block)),
    )
    largest = np.where(np.isinf(largest), 0.0, largest)[..., None]
    total, output = 0.0, 0.0
    for keys in ranges(k.shape[-2], block):
        powers = np.exp(masked_scores(q, k, allowed, keys) - largest)
        total = total + powers.sum(-1, keepdims=True)
        output = output + powers @ v[..., keys, :]
    return np.asfortranarray(output / (total + (total == 0)))


@answers.correct
def queries_in_blocks_too(q, k, v, block, may_attend=None):
    allowed, parts = spread(may_attend, q, k), []
    for rows in ranges(q.shape[-2], block):
        own = allowed[..., rows, :]
        parts.append(two_passes(q[..., rows, :], k, v, block, own))
    return np.concatenate(parts, axis=-2)


@answers.correct
def nan_made_zero_in_time(q, k, v, block, may_attend=None):
    allowed, shape = spread(may_attend, q, k), (*q.shape[:-1], 1)
    largest, total = np.full(shape, -np.inf), np.zeros(shape)
    output = np.zeros((*q.shape[:-1], v.shape[-1]))
    for keys in ranges(k.shape[-2], block):
        scores = masked_scores(q, k, allowed, keys)
        higher = np.fmax(largest, scores.max(axis=-1, keepdims=True))
        factor = np.nan_to_num(np.exp(largest - higher))
        powers = np.nan_to_num(np.exp(scores - higher))
        total = total * factor + powers.sum(axis=-1, keepdims=True)
        output = output * factor + powers @ v[..., keys, :]
        largest = higher
    return np.nan_to_num(output / total)


@answers.correct
def a_column_of_ones_for_the_sum(q, k, v, block, may_attend=None):
    """Let the sum be one more component of the values."""
    allowed = spread(may_attend, q, k)
    wide = np.concatenate([v, np.ones((*v.shape[:-1], 1))], axis=-1)
    largest, sums = np.full((*q.shape[:-1], 1), -1e300), 0.0
    for keys in ranges(k.shape[-2], block)[::-1]:
        scores = masked_scores(q, k, allowed, keys)
        higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        powers = np.exp(scores - higher)
        sums = sums * np.exp(largest - higher) + powers @ wide[..., keys, :]
        largest = higher
    return sums[..., :-1] / np.maximum(sums[..., -1:], 1e-30)


@answers.correct
def tensors(q, k, v, block, may_attend=None):
    q, k, v = (torch.tensor(part, dtype=torch.float64) for part in (q, k, v))
    allowed = torch.tensor(spread(may_attend, q, k).copy())
    largest = torch.full((*q.shape[:-1], 1), -torch.inf, dtype=torch.float64)
    total = torch.zeros_like(largest)
    output = torch.zeros((*q.shape[:-1], v.shape[-1]), dtype=torch.float64)
    parts = (part.split(block, dim=-2) for part in (k, v))
    for keys, values, mask in zip(*parts, allowed.split(block, dim=-1), strict=True):
        scores = (q @ keys.mT / q.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
        higher = torch.maximum(largest, scores.amax(-1, keepdim=True))
        origin = higher.masked_fill(higher.isinf(), 0.0)
        powers, factor = (scores - origin).exp(), (largest - origin).exp()
        total = total * factor + powers.sum(-1, keepdim=True)
        output = output * factor + powers @ values
        largest = higher
    return (output / total).nan_to_num(0.0).numpy()


class Tiled:
    def __init__(self, run):
        self.run = run

    def __call__(self, q, k, v, block, may_attend=None):
        return self.run(q, k, v, block, may_attend)


answers.right["callable_object"] = Tiled(mean_at_any_time)
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), two_passes
)


@answers.also("infinity_less_infinity")
def no_care_for_blocked_rows(q, k, v, block, may_attend=None):
    allowed, largest = spread(may_attend, q, k), -np.inf
    total = output = 0.0
    for keys in ranges(k.shape[-2], block):
        scores = masked_scores(q, k, allowed, keys)
        higher = np.fmax(largest, scores.max(axis=-1, keepdims=True))
        powers = np.exp(scores - higher)
        total = total * np.exp(largest - higher) + powers.sum(-1, keepdims=True)
        output = output * np.exp(largest - higher) + powers @ v[..., keys, :]
        largest = higher
    return output / total


@answers.also("blocks_added_up")
def attention_of_each_block(q, k, v, block, may_attend=None):
    allowed = spread(may_attend, q, k)
    return sum(
        two_passes(q, k[..., keys, :], v[..., keys, :], block, allowed[..., keys])
        for keys in ranges(k.shape[-2], block)
    )


@answers.other
def factor_twice(q, k, v, block, may_attend=None):
    allowed, largest = spread(may_attend, q, k), np.full((*q.shape[:-1], 1), -1e300)
    total = output = 0.0
    for keys in ranges(k.shape[-2], block):
        scores = masked_scores(q, k, allowed, keys)
        higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        factor, powers = np.exp(largest - higher), np.exp(scores - higher)
        total = total * factor**2 + powers.sum(-1, keepdims=True)
        output = output * factor**2 + powers @ v[..., keys, :]
        largest = higher
    return output / (total + (total == 0))


@answers.other
def only_the_best_block(q, k, v, block, may_attend=None):
    """Keep what was summed only as long as the maximum does not grow."""
    allowed, largest = spread(may_attend, q, k), np.full((*q.shape[:-1], 1), -1e300)
    total = output = 0.0
    for keys in ranges(k.shape[-2], block):
        scores = masked_scores(q, k, allowed, keys)
        higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        stays, powers = higher == largest, np.exp(scores - higher)
        total = total * stays + powers.sum(-1, keepdims=True)
        output = output * stays + powers @ v[..., keys, :]
        largest = higher
    return output / (total + (total == 0))


@answers.other
def values_turned_round(q, k, v, block, may_attend=None):
    return two_passes(q, k, v[..., ::-1, :], block, may_attend)
