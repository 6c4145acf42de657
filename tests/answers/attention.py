import functools

import numpy as np

from tests.answers import Answers

answers = Answers("attention")


def scores_of(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) / np.sqrt(q.shape[-1])


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def mix(weights, v):
    return np.einsum("...ij,...jd->...id", weights, v)


@answers.correct
def einsum_throughout(q, k, v):
    weights = shares(scores_of(q, k))
    return mix(weights, v), weights


@answers.correct
def loop_over_queries(q, k, v):
    output = np.zeros((*q.shape[:-1], v.shape[-1]))
    weights = np.zeros((*q.shape[:-1], k.shape[-2]))
    for index in np.ndindex(q.shape[:-1]):
        batch = index[:-1]
        weights[index] = shares(k[batch] @ q[index] / len(q[index]) ** 0.5)
        output[index] = (weights[index][:, None] * v[batch]).sum(axis=0)
    return output, weights


@answers.correct
def divided_at_the_end(q, k, v):
    scores = scores_of(q, k)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = powers.sum(axis=-1, keepdims=True)
    return (powers @ v) / total, powers / total


@answers.correct
def by_logarithms(q, k, v):
    scores = scores_of(q, k)
    logarithms = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(logarithms)
    return np.matmul(weights, v), weights


@answers.correct
def one_key_at_a_time(q, k, v):
    """Go over the keys once, with a running maximum, as fast kernels do."""
    scale = q.shape[-1] ** -0.5
    highest = np.full((*q.shape[:-1], 1), -np.inf)
    total, output = np.zeros_like(highest), np.zeros((*q.shape[:-1], v.shape[-1]))
    for j in range(k.shape[-2]):
        score = (q * k[..., j : j + 1, :]).sum(axis=-1, keepdims=True) * scale
        higher = np.maximum(highest, score)
        before, now = np.exp(highest - higher), np.exp(score - higher)
        total = total * before + now
        output = output * before + now * v[..., j : j + 1, :]
        highest = higher
    return output / total, np.exp(scores_of(q, k) - highest) / total


@answers.correct
def columns_first_in_memory(q, k, v):
    output, weights = einsum_throughout(q, k, v)
    return np.asfortranarray(output), np.asfortranarray(weights)


class Attention:
    def __init__(self, power):
        self.power = power

    def __call__(self, q, k, v):
        weights = shares((q * q.shape[-1] ** self.power) @ np.swapaxes(k, -2, -1))
        return weights @ v, weights


answers.right["callable_object"] = Attention(-0.5)
answers.right["partial"] = functools.partial(
    lambda count, q, k, v: einsum_throughout(q, k, v)[:count], 2
)


@answers.also("weights_transposed")
def sums_over_the_first_axis(q, k, v):
    weights = shares(scores_of(q, k))
    return np.einsum("...ij,...id->...jd", weights, v), weights


@answers.also("values_times_weights")
def sums_over_the_numbers_of_a_value(q, k, v):
    weights = loop_over_queries(q, k, v)[1]
    return np.einsum("...jd,...di->...ji", v, weights), weights


@answers.also("softmax_missing")
def keys_and_values_multiplied_first(q, k, v):
    keys_and_values = np.einsum("...jc,...jd->...cd", k, v)
    return q @ keys_and_values / q.shape[-1] ** 0.5, scores_of(q, k)


@answers.also("causal_mask_added")
def loop_over_what_came_before(q, k, v):
    output = np.zeros((*q.shape[:-1], v.shape[-1]))
    weights = np.zeros((*q.shape[:-1], k.shape[-2]))
    for *batch, i in np.ndindex(q.shape[:-1]):
        keys, values = k[*batch, : i + 1], v[*batch, : i + 1]
        part = shares(keys @ q[*batch, i] / q.shape[-1] ** 0.5)
        weights[*batch, i, : i + 1] = part
        output[*batch, i] = part @ values
    return output, weights


@answers.also("query_scaled_in_place")
def multiplied_into_itself(q, k, v):
    np.multiply(q, q.shape[-1] ** -0.5, out=q)
    weights = shares(np.einsum("...ic,...jc->...ij", q, k))
    return mix(weights, v), weights


@answers.other
def query_set_to_zero(q, k, v):
    result = einsum_throughout(q, k, v)
    q *= 0
    return result


@answers.other
def nearest_key(q, k, v):
    distances = ((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)
    weights = shares(-distances)
    return weights @ v, weights


@answers.other
def best_key_only(q, k, v):
    scores = scores_of(q, k)
    weights = (scores == scores.max(axis=-1, keepdims=True)).astype(float)
    return weights @ v, weights


@answers.other
def everything_equally(q, k, v):
    weights = np.full((*q.shape[:-1], k.shape[-2]), 1 / k.shape[-2])
    return weights @ v, weights


@answers.other
def positive_scores_only(q, k, v):
    scores = np.maximum(scores_of(q, k), 0.0) + 1e-9
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@answers.also("softmax_over_everything")
def one_softmax_for_the_whole_table(q, k, v):
    powers = np.exp(scores_of(q, k) - scores_of(q, k).max())
    weights = powers / powers.sum()
    return weights @ v, weights


@answers.other
def powers_of_two(q, k, v):
    scores = scores_of(q, k) * np.log(2.0)
    return mix(shares(scores), v), shares(scores)


@answers.also("softmax_twice")
def softmax_applied_twice(q, k, v):
    weights = shares(shares(scores_of(q, k)))
    return weights @ v, weights
