"""The field's forms of the exercises of lessons 00 to 05."""

import math
from functools import reduce

import numpy as np

from course_lib.attention import softmax as stable
from tests.textbook import Forms

FORMS = Forms()

# Lesson 00


@FORMS("softmax_by_hand", "Goodfellow et al. 4.1", before="full")
def the_formula_in_a_list(x):
    total = sum(math.exp(score) for score in x)
    return [math.exp(score) / total for score in x]


@FORMS("softmax_by_hand", "CS231n", before="full")
def largest_score_off_first(x):
    powers = [math.exp(score - max(x)) for score in x]
    return [power / sum(powers) for power in powers]


@FORMS(
    "softmax_by_hand",
    "NumPy write-ups",
    expected="refused: numpy_array",
    before="refused: numpy_array (0 of 5)",
)
def the_line_for_an_array(x):
    powers = np.exp(x)
    return powers / np.sum(powers)


@FORMS("normalise_rows", "NumPy user guide", before="full")
def kept_axis(x):
    return x / x.sum(axis=-1, keepdims=True)


@FORMS("normalise_rows", "NumPy user guide", before="full")
def new_axis(x):
    return x / x.sum(axis=-1)[..., None]


@FORMS(
    "normalise_rows",
    "d2l 2.3",
    expected="refused: sums_over_axis_one",
    before="refused: sums_over_axis_one (2.5 of 5)",
)
def axis_one_of_a_table(x):
    return x / x.sum(axis=1, keepdims=True)


@FORMS("normalise_rows", "einsum", before="full")
def sums_by_einsum(x):
    return x / np.einsum("...j->...", x)[..., np.newaxis]


@FORMS("normalise_rows", "loops in NumPy", before="full")
def into_an_array_like_x(x):
    shares = np.zeros_like(x, dtype=float)
    for index in np.ndindex(x.shape[:-1]):
        shares[index] = x[index] / x[index].sum()
    return shares


@FORMS("pairwise_sums", "NumPy user guide", before="full")
def broadcast(a, b):
    return a[:, np.newaxis] + b


@FORMS("pairwise_sums", "d2l 11.3", before="full")
def unsqueezed_both(a, b):
    return np.expand_dims(a, 1) + np.expand_dims(b, 0)


@FORMS("pairwise_sums", "loops in Python", before="full")
def nested_lists(a, b):
    return np.array([[one + other for other in b] for one in a])


# Lesson 01


@FORMS(
    "softmax", "CS231n and CS336", before="refused: small_numbers_wrap (13.25 of 14)"
)
def largest_of_the_line_off(x, axis=-1):
    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return shifted / np.sum(shifted, axis=axis, keepdims=True)


@FORMS("softmax", "SciPy", before="refused, no name (13.25 of 14)")
def by_logsumexp(x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    return np.exp(x - top - np.log(np.exp(x - top).sum(axis=axis, keepdims=True)))


@FORMS(
    "softmax",
    "Hugging Face",
    expected="fine point open",
    before="refused, no name (0 of 14)",
)
def in_float32_and_back(x, axis=-1):
    short = x.astype(np.float32)
    powers = np.exp(short - short.max(axis=axis, keepdims=True))
    return (powers / powers.sum(axis=axis, keepdims=True)).astype(x.dtype)


@FORMS("softmax", "NumPy Transformers", before="refused, no name (0 of 14)")
def result_in_float32(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return (powers / powers.sum(axis=axis, keepdims=True)).astype(np.float32)


@FORMS(
    "softmax",
    "Goodfellow et al. 4.1",
    expected="refused: no_max_subtraction",
    before="refused: no_max_subtraction (10.5 of 14)",
)
def formula_as_printed(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


@FORMS(
    "softmax",
    "d2l 4.4",
    expected="refused: no_max_subtraction & second_axis_fixed",
    before="refused: no_max_subtraction & second_axis_fixed (2.5 of 14)",
)
def partition_along_axis_one(x, axis=-1):
    powers = np.exp(x)
    return powers / powers.sum(axis=1, keepdims=True)


@FORMS(
    "softmax",
    "NumPy Transformers",
    expected="refused: one_global_max",
    before="refused: one_global_max (11.5 of 14)",
)
def one_largest_for_all(x, axis=-1):
    powers = np.exp(x - np.max(x))
    return powers / powers.sum(axis=axis, keepdims=True)


@FORMS(
    "softmax",
    "Stack Overflow 34968722",
    expected="refused: first_axis_fixed",
    before="refused: first_axis_fixed (0 of 14)",
)
def one_largest_and_columns(x, axis=-1):
    powers = np.exp(x - np.max(x))
    return powers / powers.sum(axis=0)


@FORMS(
    "softmax",
    "torch write-ups",
    expected="refused: axis_ignored",
    before="refused: axis_ignored (10.5 of 14)",
)
def last_axis_fixed(x, axis=-1):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@FORMS("softmax_jacobian", "Bishop 4.106", before="full")
def kronecker_delta(p):
    identity = np.eye(p.shape[-1])
    return p[..., :, None] * (identity - p[..., None, :])


@FORMS("softmax_jacobian", "JAX write-ups", before="full")
def by_einsum(p):
    outer = np.einsum("...i,...j->...ij", p, p)
    return np.einsum("...i,ij->...ij", p, np.eye(p.shape[-1])) - outer


@FORMS(
    "softmax_jacobian",
    "Bendersky 2016",
    expected="refused: recipe_for_one_row",
    before="refused: recipe_for_one_row (8.25 of 23)",
)
def diagonal_minus_outer(p):
    return np.diag(p) - np.outer(p, p)


@FORMS(
    "softmax_jacobian",
    "Bendersky 2016",
    expected="refused: batch_as_one_long_row",
    before="refused: batch_as_one_long_row (9.75 of 23)",
)
def column_times_row(p):
    column = p.reshape(-1, 1)
    return np.diagflat(column) - column @ column.T


@FORMS(
    "scaled_scores",
    "Vaswani et al. 3.2.1",
    before="refused: small_numbers_wrap (13 of 14)",
)
def the_papers_line(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])


@FORMS(
    "scaled_scores",
    "Annotated Transformer",
    before="refused: small_numbers_wrap (13 of 14)",
)
def matmul_and_square_root(q, k):
    return np.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(q.shape[-1])


@FORMS("scaled_scores", "nanoGPT", before="refused: small_numbers_wrap (13 of 14)")
def times_one_over_the_root(q, k):
    return (q @ k.swapaxes(-2, -1)) * (1.0 / math.sqrt(k.shape[-1]))


@FORMS("scaled_scores", "CS336", before="refused: small_numbers_wrap (13 of 14)")
def scores_by_einsum(q, k):
    return np.einsum("...nd,...md->...nm", q, k) / math.sqrt(q.shape[-1])


@FORMS("scaled_scores", "lucidrains", before="full")
def query_scaled_first(q, k):
    return np.einsum("...id,...jd->...ij", q * q.shape[-1] ** -0.5, k)


@FORMS("scaled_scores", "PyTorch, multi_head_attention_forward", before="full")
def both_scaled_by_the_fourth_root(q, k):
    scale = q.shape[-1] ** -0.25
    return (q * scale) @ np.swapaxes(k * scale, -1, -2)


@FORMS(
    "scaled_scores",
    "d2l 11.3",
    expected="refused: three_axes_only",
    before="refused: three_axes_only (1 of 14)",
)
def batched_product(q, k):
    return np.matmul(q, k.transpose(0, 2, 1)) / math.sqrt(q.shape[-1])


@FORMS(
    "scaled_scores",
    "NumPy write-ups",
    expected="refused: all_axes_reversed",
    before="refused: all_axes_reversed (6 of 14)",
)
def dot_t(q, k):
    return q @ k.T / np.sqrt(k.shape[-1])


@FORMS(
    "scaled_scores",
    "Luong et al. 3.1 (dot)",
    expected="refused: no_scale",
    before="refused: no_scale (4 of 14)",
)
def plain_dot_products(q, k):
    return q @ np.swapaxes(k, -1, -2)


@FORMS("attention", "Annotated Transformer", before="full")
def weights_kept_as_p_attn(q, k, v):
    scores = np.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(q.shape[-1])
    p_attn = stable(scores, axis=-1)
    return np.matmul(p_attn, v), p_attn


@FORMS("attention", "NumPy Transformers", before="refused, no name (1.5 of 14)")
def float32_inside(q, k, v):
    q, k, v = (array.astype(np.float32) for array in (q, k, v))
    weights = stable(q @ np.swapaxes(k, -1, -2) / np.float32(math.sqrt(q.shape[-1])))
    return weights @ v, weights


@FORMS("attention", "CS336", before="full")
def both_products_by_einsum(q, k, v):
    scores = np.einsum("...nd,...md->...nm", q, k) / math.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return np.einsum("...nm,...md->...nd", weights, v), weights


@FORMS(
    "attention",
    "PyTorch, SDPA's docs",
    expected="refused: output_alone",
    before="refused: output_alone (0 of 14)",
)
def output_only(q, k, v):
    scale = 1 / math.sqrt(q.shape[-1])
    return stable(q @ k.swapaxes(-2, -1) * scale, axis=-1) @ v


@FORMS(
    "attention",
    "NumPy write-ups",
    expected="refused: exponentials_overflow",
    before="refused: exponentials_overflow (12.25 of 14)",
)
def without_the_largest(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ v, weights


@FORMS("attention_step_by_step", "Alammar, Illustrated Transformer", before="full")
def one_step_a_line(q1, k, v):
    scores = np.dot(k, q1)
    scaled = scores / math.sqrt(len(q1))
    weights = stable(scaled)
    weighted = weights.reshape(-1, 1) * v
    return dict(
        scores=scores,
        scaled=scaled,
        weights=weights,
        weighted_values=weighted,
        output=weighted.sum(0),
    )


@FORMS(
    "attention_step_by_step",
    "Raschka ch. 3",
    expected="refused: exponentials_overflow",
    before="refused: exponentials_overflow (14 of 15)",
)
def naive_softmax_of_one_row(q1, k, v):
    scores = k @ q1
    scaled = scores / k.shape[-1] ** 0.5
    weights = np.exp(scaled) / np.exp(scaled).sum()
    return {
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "weighted_values": weights[:, None] * v,
        "output": weights @ v,
    }


@FORMS("similarity_attention", "Raschka ch. 3", before="full")
def attention_without_parameters(x, y):
    return stable(x @ y.swapaxes(-2, -1), axis=-1) @ y


@FORMS("similarity_attention", "Luong et al. 3.1 (dot)", before="full")
def score_of_each_pair(x, y):
    score = np.einsum("...id,...jd->...ij", x, y)
    weights = np.exp(score - score.max(-1, keepdims=True))
    return np.einsum("...ij,...jd->...id", weights / weights.sum(-1, keepdims=True), y)


@FORMS(
    "similarity_attention",
    "nanoGPT lecture",
    expected="refused: scale_added",
    before="refused: scale_added (1.25 of 10)",
)
def divided_as_in_the_lecture(x, y):
    return stable(x @ y.swapaxes(-2, -1) * x.shape[-1] ** -0.5) @ y


@FORMS("additive_scores", "Bahdanau et al. A.1.2", before="full")
def v_times_tanh(q, k, w_q, w_k, v):
    return np.tanh((q @ w_q)[..., :, None, :] + (k @ w_k)[..., None, :, :]) @ v


@FORMS(
    "additive_scores",
    "d2l 11.3",
    expected="refused: one_batch_axis_only",
    before="refused: one_batch_axis_only (0 of 23)",
)
def unsqueezed_at_two_and_one(q, k, w_q, w_k, v):
    features = np.expand_dims(q @ w_q, 2) + np.expand_dims(k @ w_k, 1)
    return (np.tanh(features) @ v[:, None]).squeeze(-1)


@FORMS("additive_scores", "d2l 11.3", before="full")
def unsqueezed_from_the_end(q, k, w_q, w_k, v):
    features = np.expand_dims(q @ w_q, -2) + np.expand_dims(k @ w_k, -3)
    return (np.tanh(features) @ v[:, None]).squeeze(-1)


@FORMS(
    "additive_scores",
    "PyTorch seq2seq tutorial",
    expected="refused: row_added_to_same_row",
    before="refused: row_added_to_same_row (0 of 23)",
)
def one_query_broadcast(q, k, w_q, w_k, v):
    return np.tanh(q @ w_q + k @ w_k) @ v


@FORMS("bilinear_scores", "Luong et al. 3.1 (general)", before="full")
def query_times_w_times_key(q, k, w):
    return q @ (w @ k.swapaxes(-2, -1))


@FORMS("bilinear_scores", "PyTorch, nn.Bilinear", before="full")
def three_factors_by_einsum(q, k, w):
    return np.einsum("...na,ab,...mb->...nm", q, w, k)


@FORMS(
    "bilinear_scores",
    "PyTorch, nn.Linear",
    expected="refused: w_transposed",
    before="refused: w_transposed (0 of 12)",
)
def weight_as_linear_stores_it(q, k, w):
    return q @ w.T @ k.swapaxes(-2, -1)


# Lesson 02


@FORMS("project", "d2l 11.5", before="full")
def three_products(x, w_q, w_k, w_v):
    return np.matmul(x, w_q), np.matmul(x, w_k), np.matmul(x, w_v)


@FORMS("project", "nanoGPT", before="full")
def one_product_cut_in_three(x, w_q, w_k, w_v):
    d_k = w_q.shape[1]
    together = x @ np.concatenate([w_q, w_k, w_v], axis=1)
    return tuple(np.split(together, [d_k, 2 * d_k], axis=-1))


@FORMS(
    "project",
    "PyTorch, nn.Linear",
    expected="refused: parameters_as_linear_keeps_them",
    before="refused: parameters_as_linear_keeps_them (0 of 5)",
)
def out_features_first(x, w_q, w_k, w_v):
    return x @ w_q.T, x @ w_k.T, x @ w_v.T


@FORMS("self_attention", "Raschka ch. 3", before="full")
def from_scratch(x, w_q, w_k, w_v):
    keys, queries, values = x @ w_k, x @ w_q, x @ w_v
    scores = queries @ keys.swapaxes(-2, -1)
    weights = stable(scores / keys.shape[-1] ** 0.5, axis=-1)
    return weights @ values, weights


@FORMS("self_attention", "NumPy Transformers", before="refused, no name (1.75 of 12)")
def layer_in_float32(x, w_q, w_k, w_v):
    x, w_q, w_k, w_v = (a.astype(np.float32) for a in (x, w_q, w_k, w_v))
    q, k = x @ w_q, x @ w_k
    weights = stable(q @ k.swapaxes(-2, -1) / np.sqrt(np.float32(q.shape[-1])))
    return weights @ (x @ w_v), weights


@FORMS(
    "self_attention",
    "NumPy write-ups",
    expected="refused: all_axes_turned",
    before="refused: all_axes_turned (5.25 of 12)",
)
def keys_by_dot_t(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    weights = stable(q @ k.T / np.sqrt(k.shape[-1]))
    return weights @ v, weights


@FORMS(
    "self_attention",
    "NumPy write-ups",
    expected="refused: exponentials_overflow",
    before="refused: exponentials_overflow (10.5 of 12)",
)
def exponentials_as_they_are(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    powers = np.exp(q @ k.swapaxes(-2, -1) / np.sqrt(k.shape[-1]))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@FORMS("cross_attention", "Raschka ch. 3", before="full")
def queries_from_the_first(x, memory, w_q, w_k, w_v):
    queries, keys, values = x @ w_q, memory @ w_k, memory @ w_v
    scores = queries @ keys.swapaxes(-2, -1)
    weights = stable(scores / queries.shape[-1] ** 0.5)
    return weights @ values, weights


@FORMS("cross_attention", "lucidrains", before="full")
def by_einsum_with_scaled_queries(x, memory, w_q, w_k, w_v):
    q = np.einsum("...nd,dk->...nk", x, w_q) * w_q.shape[1] ** -0.5
    k, v = memory @ w_k, memory @ w_v
    weights = stable(np.einsum("...ik,...jk->...ij", q, k))
    return np.einsum("...ij,...jd->...id", weights, v), weights


@FORMS("equivariance_gap", "Lee et al. 2019, property 1", before="full")
def both_sides_compared(f, x, permutation):
    return float(np.max(np.abs(f(x[permutation]) - f(x)[permutation])))


@FORMS("equivariance_gap", "NumPy write-ups", before="full")
def infinity_norm(f, x, permutation):
    difference = f(x[permutation]) - f(x)[permutation]
    return np.linalg.norm(difference.ravel(), ord=np.inf)


@FORMS("self_attention_gradients", "llm.c", before="full")
def softmax_backward_in_loops(x, w_q, w_k, w_v, grad_output):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scale = 1.0 / math.sqrt(q.shape[-1])
    weights = stable(q @ k.T * scale)
    d_weights, d_v = grad_output @ v.T, weights.T @ grad_output
    d_scores = np.zeros_like(weights)
    for t in range(len(x)):
        for i in range(len(x)):
            for j in range(len(x)):
                local = weights[t, i] * ((i == j) - weights[t, j])
                d_scores[t, j] += local * d_weights[t, i] * scale
    d_q, d_k = d_scores @ k, d_scores.T @ q
    return (
        d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T,
        x.T @ d_q,
        x.T @ d_k,
        x.T @ d_v,
    )


@FORMS("self_attention_gradients", "FlashAttention, appendix B.2", before="full")
def row_sums_from_the_output(x, w_q, w_k, w_v, grad_output):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    weights = stable(q @ k.T / math.sqrt(q.shape[-1]))
    delta = (grad_output * (weights @ v)).sum(axis=1)
    d_scores = weights * (grad_output @ v.T - delta[:, None])
    d_q = d_scores @ k / math.sqrt(q.shape[-1])
    d_k = d_scores.T @ q / math.sqrt(q.shape[-1])
    d_v = weights.T @ grad_output
    d_x = d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ d_v


# Lesson 03


@FORMS("split_heads", "CS336 (einops)", before="full")
def parts_before_the_swap(x, n_heads):
    parts = x.reshape(*x.shape[:-1], n_heads, -1)
    return np.swapaxes(parts, -3, -2)


@FORMS("split_heads", "NumPy Transformers", before="full")
def parts_stacked(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-3)


@FORMS("split_heads", "Raschka ch. 3", before="refused, no name (12.25 of 14)")
def asserted_first(x, n_heads):
    assert x.shape[-1] % n_heads == 0, "d_model must be divisible by n_heads"
    d_k = x.shape[-1] // n_heads
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, d_k), -2, -3)


@FORMS(
    "split_heads",
    "Annotated Transformer",
    expected="refused: first_axis_taken_for_the_batch",
    before="refused, no name (6.25 of 14)",
)
def view_of_nbatches(x, n_heads):
    nbatches, d_k = x.shape[0], x.shape[-1] // n_heads
    return x.reshape(nbatches, -1, n_heads, d_k).swapaxes(1, 2)


@FORMS(
    "split_heads",
    "nanoGPT",
    expected="refused: three_axes_fixed",
    before="refused, no name (6.25 of 14)",
)
def axes_unpacked_as_b_t_c(x, n_heads):
    b, t, c = x.shape
    return x.reshape(b, t, n_heads, c // n_heads).swapaxes(1, 2)


@FORMS(
    "split_heads",
    "Hugging Face, BERT",
    expected="refused: four_axes_transposed",
    before="refused, no name (6.25 of 14)",
)
def permuted_0213(x, n_heads):
    parts = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return parts.transpose(0, 2, 1, 3)


@FORMS(
    "split_heads",
    "nanoGPT",
    expected="refused: axes_counted_from_the_front",
    before="refused: axes_counted_from_the_front (6.25 of 14)",
)
def axes_one_and_two_swapped(x, n_heads):
    parts = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return parts.swapaxes(1, 2)


@FORMS(
    "split_heads",
    "d2l 11.5",
    expected="refused: three_axes_fixed & batch_and_heads_in_one_axis",
    before="refused: three_axes_fixed & batch_and_heads_in_one_axis (0 of 14)",
)
def heads_put_into_the_batch(x, n_heads):
    parts = x.reshape(x.shape[0], x.shape[1], n_heads, -1).transpose(0, 2, 1, 3)
    return parts.reshape(-1, parts.shape[2], parts.shape[3])


@FORMS(
    "split_heads",
    "write-ups",
    expected="refused: reshape_without_transpose",
    before="refused: reshape_without_transpose (0 of 14)",
)
def one_view(x, n_heads):
    *leading, n, d_model = x.shape
    return x.reshape(*leading, n_heads, n, d_model // n_heads)


@FORMS("merge_heads", "CS336 (einops)", before="full")
def swapped_and_joined(x):
    *leading, n_heads, n, d = x.shape
    return x.swapaxes(-2, -3).reshape(*leading, n, n_heads * d)


@FORMS("merge_heads", "Vaswani et al. 3.2.2 (Concat)", before="full")
def concatenated(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-1)


@FORMS("merge_heads", "Hugging Face, BERT", before="full")
def permuted_from_the_end(x):
    turned = np.ascontiguousarray(np.moveaxis(x, -3, -2))
    return turned.reshape(*turned.shape[:-2], turned.shape[-2] * turned.shape[-1])


@FORMS(
    "merge_heads",
    "Annotated Transformer",
    expected="refused: four_axes_fixed",
    before="refused, no name (3.25 of 12)",
)
def joined_for_nbatches(x):
    nbatches, h, _, d_k = x.shape
    return x.swapaxes(1, 2).reshape(nbatches, -1, h * d_k)


@FORMS(
    "merge_heads",
    "Annotated Transformer",
    expected="refused: first_axis_taken_for_the_batch",
    before="refused, no name (3.25 of 12)",
)
def joined_for_nbatches_by_minus_one(x):
    h, d_k = x.shape[-3], x.shape[-1]
    return x.swapaxes(1, 2).reshape(x.shape[0], -1, h * d_k)


@FORMS(
    "merge_heads",
    "nanoGPT",
    expected="refused: axes_one_and_two_then_joined",
    before="refused, no name (5 of 12)",
)
def axes_one_and_two_back(x):
    y = x.swapaxes(1, 2)
    return y.reshape(*y.shape[:-2], -1)


@FORMS(
    "merge_heads",
    "write-ups",
    expected="refused: reshape_without_transpose",
    before="refused: reshape_without_transpose (0 of 12)",
)
def reshape_alone(x):
    *leading, n_heads, n, d = x.shape
    return x.reshape(*leading, n, n_heads * d)


def _heads(x, w, n_heads):
    y = x @ w
    return y.reshape(*y.shape[:-1], n_heads, -1).swapaxes(-2, -3)


def _joined(o):
    return o.swapaxes(-2, -3).reshape(*o.shape[:-3], o.shape[-2], -1)


@FORMS("multi_head_attention", "Annotated Transformer", before="full")
def filled_with_minus_1e9(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k = _heads(x, w_q, n_heads), _heads(memory, w_k, n_heads)
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    if may_attend is not None:
        mask = np.expand_dims(may_attend, -3)
        scores = np.where(mask == 0, -1e9, scores)
    p_attn = stable(scores)
    return _joined(p_attn @ _heads(memory, w_v, n_heads)) @ w_o, p_attn


@FORMS("multi_head_attention", "PyTorch, multi_head_attention_forward", before="full")
def minus_infinity_added(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k = _heads(x, w_q, n_heads), _heads(memory, w_k, n_heads)
    scores = (q * q.shape[-1] ** -0.5) @ k.swapaxes(-2, -1)
    if may_attend is not None:
        bias = np.zeros(may_attend.shape)
        bias[~may_attend] = -np.inf
        scores = scores + bias[..., None, :, :]
    weights = stable(scores)
    return _joined(weights @ _heads(memory, w_v, n_heads)) @ w_o, weights


@FORMS(
    "multi_head_attention",
    "Hugging Face, BERT of 2019",
    expected="refused: ten_thousand_taken_off",
    before="refused, no name (31.25 of 33)",
)
def lowered_by_10000(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k = _heads(x, w_q, n_heads), _heads(memory, w_k, n_heads)
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    if may_attend is not None:
        scores = scores + (1.0 - may_attend[..., None, :, :]) * -10000.0
    weights = stable(scores)
    return _joined(weights @ _heads(memory, w_v, n_heads)) @ w_o, weights


@FORMS("multi_head_attention", "Vaswani et al. 3.2.2", before="full")
def one_head_after_the_other(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    outputs, weights = [], []
    parts = zip(*(np.split(w, n_heads, axis=1) for w in (w_q, w_k, w_v)), strict=True)
    for of_q, of_k, of_v in parts:
        scores = (x @ of_q) @ (memory @ of_k).swapaxes(-2, -1) / of_q.shape[1] ** 0.5
        if may_attend is not None:
            scores = np.where(may_attend, scores, -np.inf)
        weights.append(stable(scores))
        outputs.append(weights[-1] @ (memory @ of_v))
    return np.concatenate(outputs, axis=-1) @ w_o, np.stack(weights, axis=-3)


@FORMS("count_parameters", "Annotated Transformer", before="refused, no name (5 of 6)")
def four_square_layers(d_model, n_heads, bias):
    assert d_model % n_heads == 0
    return 4 * (d_model * d_model + d_model * bias)


@FORMS(
    "count_parameters",
    "write-ups",
    expected="fine point open",
    before="refused: divisibility_not_checked (5 of 6)",
)
def four_d_squared(d_model, n_heads, bias):
    return 4 * d_model**2 + (4 * d_model if bias else 0)


@FORMS("load_torch_parameters", "PyTorch, in_proj's docs", before="full")
def chunks_of_three(state_dict):
    parameters = {}
    for name, part in zip("qkv", state_dict["in_proj_weight"].chunk(3), strict=True):
        parameters[f"w_{name}"] = part.T.numpy()
    parameters["w_o"] = state_dict["out_proj.weight"].T.numpy()
    if "in_proj_bias" in state_dict:
        for name, part in zip("qkv", state_dict["in_proj_bias"].chunk(3), strict=True):
            parameters[f"b_{name}"] = part.numpy()
        parameters["b_o"] = state_dict["out_proj.bias"].numpy()
    return parameters


# Lesson 04


@FORMS("causal_mask", "NumPy, np.tri", before="full")
def lower_triangle(n, m=None, offset=0):
    return np.tri(n, n + offset if m is None else m, offset, dtype=bool)


@FORMS("causal_mask", "Dao et al., FlashAttention", before="full")
def columns_against_rows(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.arange(n)[:, None] + offset >= np.arange(m)[None, :]


@FORMS(
    "causal_mask",
    "Annotated Transformer",
    expected="refused: axis_in_front",
    before="refused: axis_in_front (0 of 10)",
)
def subsequent_mask(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.triu(np.ones((1, n, m)), k=1 + offset).astype(np.uint8) == 0


@FORMS(
    "causal_mask",
    "nanoGPT",
    expected="refused: ones_and_zeros",
    before="refused: ones_and_zeros (0 of 10)",
)
def tril_of_ones(n, m=None, offset=0):
    return np.tril(np.ones((n, n + offset if m is None else m)), offset)


@FORMS(
    "causal_mask",
    "PyTorch, nn.Transformer",
    expected="refused: numbers_to_add",
    before="refused: numbers_to_add (0 of 10)",
)
def square_subsequent_mask(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.triu(np.full((n, m), -np.inf), k=1 + offset)


@FORMS(
    "causal_mask",
    "PyTorch, nn.MultiheadAttention",
    expected="refused: polarity_reversed",
    before="refused: polarity_reversed (0 of 10)",
)
def blocked_is_true(n, m=None, offset=0):
    m = n + offset if m is None else m
    return np.triu(np.ones((n, m)), k=1 + offset).astype(bool)


@FORMS("padding_mask", "d2l 11.3", before="full")
def lengths_against_positions(lengths, m):
    lengths = np.asarray(lengths)
    return (np.arange(m) < lengths[..., None])[..., None, :]


@FORMS(
    "padding_mask",
    "d2l 11.3",
    expected="refused: column_of_lengths",
    before="refused: column_of_lengths (0 of 8)",
)
def valid_lens_as_a_table(lengths, m):
    lengths = np.asarray(lengths)
    return np.arange(m)[None, :] < lengths[:, None]


@FORMS(
    "padding_mask",
    "fairseq",
    expected="refused: polarity_reversed",
    before="refused: polarity_reversed (0 of 8)",
)
def key_padding_mask(lengths, m):
    return np.arange(m) >= np.asarray(lengths)[..., None, None]


@FORMS("combine_masks", "Annotated Transformer", before="full")
def laid_together_with_and(*masks):
    return reduce(lambda one, other: one & other, masks)


@FORMS("combine_masks", "NumPy, ufunc.reduce", before="full")
def logical_and_reduced(*masks):
    return np.logical_and.reduce(np.broadcast_arrays(*masks))


@FORMS(
    "combine_masks",
    "write-ups",
    expected="refused: ones_and_zeros",
    before="refused: ones_and_zeros (0 of 5)",
)
def product_of_ones_and_zeros(*masks):
    return reduce(lambda one, other: one * other.astype(float), masks, 1.0)


@FORMS("convert_mask", "PyTorch, SDPA's docs", before="refused, no name (7 of 8)")
def bias_filled_with_minus_infinity(may_attend, to):
    if to == "scaled_dot_product_attention":
        return may_attend
    if to == "MultiheadAttention":
        return np.logical_not(may_attend)
    if to != "additive":
        raise NotImplementedError(to)
    bias = np.zeros(may_attend.shape)
    bias[np.logical_not(may_attend)] = float("-inf")
    return bias


@FORMS(
    "convert_mask",
    "Python, a dictionary of functions",
    before="refused: key_error (7 of 8)",
)
def looked_up(may_attend, to):
    ways = {
        "scaled_dot_product_attention": lambda mask: mask.copy(),
        "MultiheadAttention": lambda mask: ~mask,
        "additive": lambda mask: np.where(mask, 0.0, -np.inf),
    }
    return ways[to](may_attend)


@FORMS(
    "convert_mask",
    "Hugging Face, BERT of 2019",
    expected="refused: additive_minus_ten_thousand",
    before="refused, no name (2.5 of 8)",
)
def times_minus_10000(may_attend, to):
    if to == "additive":
        return (1.0 - may_attend) * -10000.0
    return bias_filled_with_minus_infinity(may_attend, to)


@FORMS("masked_softmax", "PyTorch, _safe_softmax", before="full")
def rows_without_keys_made_zero(scores, may_attend):
    masked = np.where(may_attend, scores, -np.inf)
    dead = np.all(masked == -np.inf, axis=-1, keepdims=True)
    return np.where(dead, 0.0, stable(np.where(dead, 0.0, masked)))


@FORMS(
    "masked_softmax",
    "PyTorch, masked_fill",
    expected="refused: nan_in_rows_without_keys",
    before="refused: nan_in_rows_without_keys (11 of 23)",
)
def minus_infinity_alone(scores, may_attend):
    return stable(np.where(may_attend, scores, -np.inf))


@FORMS(
    "masked_softmax",
    "Annotated Transformer",
    expected="refused: filled_with_minus_a_billion",
    before="refused: filled_with_minus_a_billion (9.75 of 23)",
)
def minus_a_billion(scores, may_attend):
    return stable(np.where(may_attend, scores, -1e9))


@FORMS(
    "masked_softmax",
    "Hugging Face, BERT of 2019",
    expected="refused: ten_thousand_taken_off",
    before="refused: ten_thousand_taken_off (9.75 of 23)",
)
def ten_thousand_off(scores, may_attend):
    return stable(scores + (1.0 - may_attend) * -10000.0)


@FORMS(
    "masked_softmax",
    "GPT-2",
    expected="refused: filled_with_minus_ten_thousand",
    before="refused: filled_with_minus_ten_thousand (9.75 of 23)",
)
def minus_ten_thousand(scores, may_attend):
    return stable(np.where(may_attend, scores, -1e4))


@FORMS(
    "masked_softmax",
    "d2l 11.3",
    expected="refused: filled_with_minus_a_million & scores_filled_in_place",
    before="refused, no name (8.5 of 23)",
)
def minus_a_million_in_place(scores, may_attend):
    scores[~np.broadcast_to(may_attend, scores.shape)] = -1e6
    return stable(scores)


@FORMS(
    "masked_softmax",
    "AllenNLP",
    expected="refused: zeroed_and_divided_anew",
    before="refused, no name (21.75 of 23)",
)
def renormalised_afterwards(scores, may_attend):
    weights = stable(scores * may_attend) * may_attend
    return weights / (weights.sum(axis=-1, keepdims=True) + 1e-13)


@FORMS("leak", "Karpathy 2019, a recipe for training", before="full")
def future_changed(f, x, t):
    changed = x.copy()
    changed[t + 1 :] = 1 - 2 * changed[t + 1 :]
    return float(np.abs(f(x)[: t + 1] - f(changed)[: t + 1]).max())


# Lesson 05


@FORMS("sinusoidal_encoding", "Keras tutorial", before="full")
def angles_for_each_column(n, d_model, base=10000.0):
    columns = np.arange(d_model)[np.newaxis, :]
    angles = np.arange(n)[:, np.newaxis] / np.power(base, 2 * (columns // 2) / d_model)
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles


@FORMS(
    "sinusoidal_encoding",
    "Annotated Transformer",
    expected="fine point open",
    before="refused: odd_size_stops (12 of 16)",
)
def div_term(n, d_model, base=10000.0):
    pe = np.zeros((n, d_model))
    position = np.arange(n)[:, None]
    term = np.exp(np.arange(0, d_model, 2) * -(math.log(base) / d_model))
    pe[:, 0::2] = np.sin(position * term)
    pe[:, 1::2] = np.cos(position * term)
    return pe


@FORMS(
    "sinusoidal_encoding",
    "Annotated Transformer",
    expected="fine point open",
    before="refused, no name (0 of 16)",
)
def div_term_in_float32(n, d_model, base=10000.0):
    pe = np.zeros((n, d_model), dtype=np.float32)
    position = np.arange(n, dtype=np.float32)[:, None]
    even = np.arange(0, d_model, 2, dtype=np.float32)
    term = np.exp(even * np.float32(-(math.log(base) / d_model)))
    pe[:, 0::2] = np.sin(position * term)
    pe[:, 1::2] = np.cos(position * term)
    return pe


@FORMS(
    "sinusoidal_encoding",
    "d2l 11.6",
    expected="fine point open",
    before="refused: odd_size_stops (12 of 16)",
)
def power_of_the_even_columns(n, d_model, base=10000.0):
    p = np.zeros((n, d_model))
    x = np.arange(n).reshape(-1, 1) / np.power(base, np.arange(0, d_model, 2) / d_model)
    p[:, 0::2], p[:, 1::2] = np.sin(x), np.cos(x)
    return p


@FORMS("sinusoidal_encoding", "NumPy write-ups", before="full")
def position_by_position(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for column in range(0, d_model, 2):
            angle = t / base ** (column / d_model)
            encoding[t, column] = math.sin(angle)
            if column + 1 < d_model:
                encoding[t, column + 1] = math.cos(angle)
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: exponent_doubled",
    before="refused: exponent_doubled (0 of 16)",
)
def loop_with_2i_doubled(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = math.sin(t / base ** (2 * i / d_model))
            if i + 1 < d_model:
                encoding[t, i + 1] = math.cos(t / base ** (2 * i / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: exponent_doubled",
    before="refused, no name (0 of 16)",
)
def loop_with_2i_doubled_that_stops(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = np.sin(t / np.power(base, (2 * i) / d_model))
            encoding[t, i + 1] = np.cos(t / np.power(base, (2 * i) / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: frequency_by_column_doubled",
    before="refused: frequency_by_column_doubled (0 of 16)",
)
def loop_over_columns_with_2i_doubled(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(d_model):
            wave = np.sin if i % 2 == 0 else np.cos
            encoding[t, i] = wave(t / base ** (2 * i / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: frequency_by_column_doubled",
    before="refused, no name (0 of 16)",
)
def loop_that_stops_at_two_of_the_next(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = np.sin(t / base ** (2 * i / d_model))
            encoding[t, i + 1] = np.cos(t / base ** (2 * (i + 1) / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "CS336 answers",
    expected="refused: power_before_the_division",
    before="refused, no name (0 of 16)",
)
def power_before_the_division(n, d_model, base=10000.0):
    angles = np.arange(n)[:, None] / (base ** np.arange(0, d_model, 2) / d_model)
    encoding = np.zeros((n, d_model))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: frequency_by_column_doubled",
    before="refused: frequency_by_column_doubled (0 of 16)",
)
def loop_with_2i_and_2_of_the_next(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = math.sin(t / base ** (2 * i / d_model))
            if i + 1 < d_model:
                encoding[t, i + 1] = math.cos(t / base ** (2 * (i + 1) / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "tensor2tensor",
    expected="refused: sines_before_cosines",
    before="refused: sines_before_cosines (0 of 16)",
)
def halves_side_by_side(n, d_model, base=10000.0):
    angles = np.arange(n)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :d_model]


@FORMS("shift_matrix", "Su, proof by sums of angles", before="full")
def blocks_on_the_diagonal(k, d_model, base=10000.0):
    angles = k / base ** (np.arange(0, d_model, 2) / d_model)
    matrix = np.zeros((d_model, d_model))
    even, odd = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(angles)
    matrix[odd, even], matrix[even, odd] = np.sin(angles), -np.sin(angles)
    return matrix


@FORMS(
    "shift_matrix",
    "Kazemnejad, Transformer architecture",
    expected="refused: for_columns",
    before="refused: for_columns (0 of 19)",
)
def for_columns_from_the_left(k, d_model, base=10000.0):
    return blocks_on_the_diagonal(k, d_model, base).T


@FORMS(
    "add_positions",
    "Annotated Transformer",
    before="refused: one_position_for_all (5.25 of 6)",
)
def first_rows_of_pe(x, encoding):
    return x + encoding[: x.shape[-2]]


@FORMS(
    "add_positions",
    "Annotated Transformer",
    expected="refused: tokens_counted_on_axis_one",
    before="refused: tokens_counted_on_axis_one & one_position_for_all (2.25 of 6)",
)
def first_rows_by_axis_one(x, encoding):
    return x + encoding[: x.shape[1]]


@FORMS("add_positions", "nanoGPT", before="refused: index_error (5.25 of 6)")
def rows_taken_by_position(x, encoding):
    positions = np.arange(x.shape[-2])
    return x + encoding[positions]


@FORMS(
    "add_positions",
    "TensorFlow tutorial",
    expected="refused: tokens_scaled",
    before="refused: tokens_scaled & one_position_for_all (0 of 6)",
)
def embeddings_times_the_root(x, encoding):
    return x * np.sqrt(x.shape[-1]) + encoding[: x.shape[-2]]


@FORMS("rotary", "Su et al., equation 34", before="full")
def repeated_angles_and_turned_pairs(x, positions, base=10000.0):
    theta = base ** (-2 * np.arange(x.shape[-1] // 2) / x.shape[-1])
    angles = np.repeat(np.asarray(positions)[:, None] * theta, 2, axis=-1)
    turned = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
    return x * np.cos(angles) + turned * np.sin(angles)


@FORMS("rotary", "Llama", before="full")
def as_complex_numbers(x, positions, base=10000.0):
    d = x.shape[-1]
    freqs = 1.0 / base ** (np.arange(0, d, 2)[: d // 2] / d)
    turns = np.exp(1j * np.outer(positions, freqs))
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    z = (pairs[..., 0] + 1j * pairs[..., 1]) * turns
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


@FORMS("rotary", "Llama", before="refused, no name (0 of 28)")
def float32_and_type_as(x, positions, base=10000.0):
    d = x.shape[-1]
    freqs = 1.0 / base ** (np.arange(0, d, 2).astype(np.float32) / np.float32(d))
    angles = np.outer(positions, freqs).astype(np.float32)
    pairs = x.astype(np.float32).reshape(*x.shape[:-1], -1, 2)
    a, b, cos, sin = pairs[..., 0], pairs[..., 1], np.cos(angles), np.sin(angles)
    turned = np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
    return turned.reshape(x.shape).astype(x.dtype)


@FORMS("rotary", "GPT-J", before="refused: cut_to_whole_numbers (26.5 of 28)")
def written_into_even_and_odd(x, positions, base=10000.0):
    inverse = 1.0 / (base ** (np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    angles = np.einsum("i,j->ij", np.asarray(positions), inverse)
    sin, cos = np.sin(angles), np.cos(angles)
    rotated = np.empty_like(x)
    rotated[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    rotated[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return rotated


def rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


@FORMS(
    "rotary",
    "Hugging Face, Llama",
    expected="refused: halves_paired",
    before="refused: halves_paired (0 of 28)",
)
def halves(x, positions, base=10000.0):
    inverse = 1.0 / base ** (np.arange(0, x.shape[-1], 2) / x.shape[-1])
    freqs = np.outer(positions, inverse)
    embedded = np.concatenate([freqs, freqs], axis=-1)
    return x * np.cos(embedded) + rotate_half(x) * np.sin(embedded)


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: power_before_the_division",
    before="refused, no name (0 of 28)",
)
def power_divided_by_d(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = np.outer(positions, 1.0 / (base ** np.arange(0, d, 2) / d))
    return _turned_by(x, angles)


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: power_and_division_apart",
    before="refused, no name (0 of 28)",
)
def negative_power_before_the_division(x, positions, base=10000.0):
    d = x.shape[-1]
    return _turned_by(x, np.outer(positions, base ** -np.arange(0.0, d, 2) / d))


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: sine_missing_in_the_first",
    before="refused, no name (0 of 28)",
)
def first_column_only_scaled(x, positions, base=10000.0):
    angles = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    a, b = x[..., 0::2], x[..., 1::2]
    rotated = np.zeros(x.shape)
    rotated[..., 0::2] = a * np.cos(angles)
    rotated[..., 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return rotated


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: second_neighbour_without_sine",
    before="refused, no name (0 of 28)",
)
def second_column_without_its_sine(x, positions, base=10000.0):
    angles = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * np.cos(angles) - b * np.sin(angles)
    second = a + b * np.cos(angles)
    return np.stack([first, second], axis=-1).reshape(x.shape)


def _turned_by(x, angles):
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * np.cos(angles) - b * np.sin(angles)
    second = a * np.sin(angles) + b * np.cos(angles)
    return np.stack([first, second], axis=-1).reshape(x.shape)
