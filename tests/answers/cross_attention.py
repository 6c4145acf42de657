import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("cross_attention")


def rows_times(x, w):
    return np.einsum("...b,bc->...c", x, w)


def scores_of(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) / np.sqrt(q.shape[-1])


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def mix(weights, v):
    return np.einsum("...ij,...jd->...id", weights, v)


@answers.correct
def einsum_throughout(x, memory, w_q, w_k, w_v):
    weights = shares(scores_of(rows_times(x, w_q), rows_times(memory, w_k)))
    return mix(weights, rows_times(memory, w_v)), weights


@answers.correct
def one_token_at_a_time(x, memory, w_q, w_k, w_v):
    output = np.zeros((*x.shape[:-1], w_v.shape[1]))
    weights = np.zeros((*x.shape[:-1], memory.shape[-2]))
    for *batch, i in np.ndindex(x.shape[:-1]):
        tokens = memory[tuple(batch)]
        scores = (tokens @ w_k) @ (x[*batch, i] @ w_q) / w_q.shape[1] ** 0.5
        weights[*batch, i] = shares(scores)
        output[*batch, i] = weights[*batch, i] @ (tokens @ w_v)
    return output, weights


@answers.correct
def one_token_of_the_memory_at_a_time(x, memory, w_q, w_k, w_v):
    """Go over the memory once, with a running maximum, as fast kernels do."""
    q, k, v = x @ w_q / w_q.shape[1] ** 0.5, memory @ w_k, memory @ w_v
    highest = np.full((*q.shape[:-1], 1), -np.inf)
    total, output = np.zeros_like(highest), np.zeros((*q.shape[:-1], v.shape[-1]))
    for j in range(k.shape[-2]):
        score = (q * k[..., j : j + 1, :]).sum(axis=-1, keepdims=True)
        higher = np.maximum(highest, score)
        before, now = np.exp(highest - higher), np.exp(score - higher)
        total = total * before + now
        output = output * before + now * v[..., j : j + 1, :]
        highest = higher
    return output / total, np.exp(q @ np.swapaxes(k, -1, -2) - highest) / total


@answers.correct
def parameters_multiplied_first(x, memory, w_q, w_k, w_v):
    """Score with x (w_q w_kᵀ) memoryᵀ: one matrix between two tokens."""
    between = w_q @ w_k.T / np.sqrt(w_k.shape[1])
    weights = shares(x @ between @ np.swapaxes(memory, -1, -2))
    return weights @ memory @ w_v, weights


@answers.correct
def by_logarithms(x, memory, w_q, w_k, w_v):
    scores = scores_of(x @ w_q, memory @ w_k)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.matmul(weights, memory @ w_v), weights


@answers.correct
def columns_first_in_memory(x, memory, w_q, w_k, w_v):
    output, weights = einsum_throughout(x, memory, w_q, w_k, w_v)
    return np.asfortranarray(output), np.asfortranarray(weights)


@answers.correct
def tensors_of_pytorch(x, memory, w_q, w_k, w_v):
    tensors = (torch.tensor(a).double() for a in (x, memory, w_q, w_k, w_v))
    x, memory, w_q, w_k, w_v = tensors
    scores = (x @ w_q) @ (memory @ w_k).mT / w_q.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return (weights @ (memory @ w_v)).numpy(), weights.numpy()


class CrossAttention:
    def __init__(self, power):
        self.power = power

    def __call__(self, x, memory, w_q, w_k, w_v):
        q = x @ (w_q * float(w_q.shape[1]) ** self.power)
        weights = shares(q @ np.swapaxes(memory @ w_k, -2, -1))
        return weights @ (memory @ w_v), weights


answers.right["callable_object"] = CrossAttention(-0.5)
answers.right["partial"] = functools.partial(
    lambda count, *inputs: einsum_throughout(*inputs)[:count], 2
)


@answers.also("memory_unused")
def self_attention_of_x(x, memory, w_q, w_k, w_v):
    return einsum_with_matmul(x, x, x, w_q, w_k, w_v)


@answers.also("both_sequences_projected_by_all")
def products_that_are_thrown_away(x, memory, w_q, w_k, w_v):
    both = [[np.matmul(s, w) for w in (w_q, w_k, w_v)] for s in (x, memory)]
    weights = shares(scores_of(both[0][0], both[1][1]))
    return mix(weights, both[1][2]), weights


@answers.also("memory_attends")
def sequences_exchanged(x, memory, w_q, w_k, w_v):
    return einsum_with_matmul(memory, x, x, w_q, w_k, w_v)


@answers.also("values_from_x")
def value_of_the_one_that_attends(x, memory, w_q, w_k, w_v):
    return einsum_with_matmul(x, memory, x, w_q, w_k, w_v)


@answers.also("keys_from_x")
def key_of_the_one_that_attends(x, memory, w_q, w_k, w_v):
    return einsum_with_matmul(x, x, memory, w_q, w_k, w_v)


@answers.also("x_unused")
def self_attention_of_the_memory(x, memory, w_q, w_k, w_v):
    return einsum_with_matmul(memory, memory, memory, w_q, w_k, w_v)


def einsum_with_matmul(for_q, for_k, for_v, w_q, w_k, w_v):
    """Attend with products that stop with the same kind of error as ``@`` does."""
    q, k, v = np.matmul(for_q, w_q), np.matmul(for_k, w_k), np.matmul(for_v, w_v)
    weights = shares(scores_of(q, k))
    return np.matmul(weights, v), weights


@answers.also("memory_cut_to_the_length_of_x")
def loop_over_the_first_ones(x, memory, w_q, w_k, w_v):
    n = min(x.shape[-2], memory.shape[-2])
    output, part = einsum_throughout(x, memory[..., :n, :], w_q, w_k, w_v)
    weights = np.zeros((*x.shape[:-1], memory.shape[-2]))
    weights[..., :n] = part
    return output, weights


@answers.also("x_joined_to_the_memory")
def keys_and_values_joined(x, memory, w_q, w_k, w_v):
    together = np.append(memory, x, axis=-2)
    return einsum_with_matmul(x, together, together, w_q, w_k, w_v)


@answers.also("softmax_over_queries")
def softmax_of_the_turned_table(x, memory, w_q, w_k, w_v):
    weights = np.swapaxes(shares(scores_of(memory @ w_k, x @ w_q)), -1, -2)
    return mix(weights, memory @ w_v), weights


@answers.also("softmax_over_axis_one")
def second_axis_moved_last(x, memory, w_q, w_k, w_v):
    moved = np.moveaxis(scores_of(x @ w_q, memory @ w_k), 1, -1)
    weights = np.moveaxis(shares(moved), -1, 1)
    return mix(weights, memory @ w_v), weights


@answers.also("all_axes_turned")
def keys_transposed_by_a_method(x, memory, w_q, w_k, w_v):
    turned = (memory @ w_k).transpose()
    weights = shares(np.matmul(x @ w_q, turned) / w_q.shape[1] ** 0.5)
    return np.matmul(weights, memory @ w_v), weights


@answers.also("divided_by_root_of_d_model")
def scale_of_the_tokens(x, memory, w_q, w_k, w_v):
    root = (w_q.shape[1] / w_q.shape[0]) ** 0.5
    return one_token_at_a_time(x, memory, w_q * root, w_k, w_v)


@answers.also("no_scale")
def scale_undone(x, memory, w_q, w_k, w_v):
    return one_token_at_a_time(x, memory, w_q * w_q.shape[1] ** 0.5, w_k, w_v)


@answers.also("scaled_twice")
def mean_of_the_products(x, memory, w_q, w_k, w_v):
    q, k = x @ w_q, memory @ w_k
    weights = shares((q[..., :, None, :] * k[..., None, :, :]).mean(axis=-1))
    return mix(weights, memory @ w_v), weights


@answers.also("memory_mixed")
def values_that_are_tokens(x, memory, w_q, w_k, w_v):
    return einsum_throughout(x, memory, w_q, w_k, np.eye(memory.shape[-1]))


@answers.also("causal_mask_added")
def loop_over_the_memory_so_far(x, memory, w_q, w_k, w_v):
    output = np.zeros((*x.shape[:-1], w_v.shape[1]))
    weights = np.zeros((*x.shape[:-1], memory.shape[-2]))
    for *batch, i in np.ndindex(x.shape[:-1]):
        tokens = memory[tuple(batch)][: i + 1]
        part = shares((tokens @ w_k) @ (x[*batch, i] @ w_q) / w_q.shape[1] ** 0.5)
        weights[*batch, i, : i + 1] = part
        output[*batch, i] = part @ (tokens @ w_v)
    return output, weights


@answers.also("scores_returned")
def loop_with_scores_kept(x, memory, w_q, w_k, w_v):
    output, _ = one_token_at_a_time(x, memory, w_q, w_k, w_v)
    return output, scores_of(x @ w_q, memory @ w_k)


@answers.also("exponentials_overflow")
def unshifted_sums(x, memory, w_q, w_k, w_v):
    powers = np.exp(scores_of(x @ w_q, memory @ w_k))
    total = np.einsum("...ij->...i", powers)[..., None]
    return (powers / total) @ (memory @ w_v), powers / total


@answers.also("cut_to_whole_numbers")
def cast_to_the_dtype_of_x(x, memory, w_q, w_k, w_v):
    output, weights = einsum_throughout(x, memory, w_q, w_k, w_v)
    return output.astype(x.dtype), weights


@answers.also("parameters_scaled_in_place")
def multiplied_into_itself(x, memory, w_q, w_k, w_v):
    np.multiply(w_q, w_q.shape[1] ** -0.5, out=w_q)
    return one_token_at_a_time(x, memory, w_q * w_q.shape[1] ** 0.5, w_k, w_v)


@answers.other
def memory_set_to_zero(x, memory, w_q, w_k, w_v):
    result = einsum_throughout(x, memory, w_q, w_k, w_v)
    memory *= 0
    return result


@answers.other
def everything_equally(x, memory, w_q, w_k, w_v):
    weights = np.full((*x.shape[:-1], memory.shape[-2]), 1 / memory.shape[-2])
    return weights @ (memory @ w_v), weights


@answers.other
def memory_backwards(x, memory, w_q, w_k, w_v):
    output, weights = einsum_throughout(x, memory, w_q, w_k, w_v)
    return output, weights[..., ::-1]


@answers.other
def best_token_only(x, memory, w_q, w_k, w_v):
    scores = scores_of(x @ w_q, memory @ w_k)
    weights = (scores == scores.max(axis=-1, keepdims=True)).astype(float)
    return weights @ (memory @ w_v), weights


@answers.other
def softmax_applied_twice(x, memory, w_q, w_k, w_v):
    weights = shares(shares(scores_of(x @ w_q, memory @ w_k)))
    return weights @ (memory @ w_v), weights


@answers.other
def cosines_for_products(x, memory, w_q, w_k, w_v):
    q, k = x @ w_q, memory @ w_k
    q = q / (np.linalg.norm(q, axis=-1, keepdims=True) + 1e-9)
    k = k / (np.linalg.norm(k, axis=-1, keepdims=True) + 1e-9)
    weights = shares(q @ np.swapaxes(k, -1, -2))
    return weights @ (memory @ w_v), weights
