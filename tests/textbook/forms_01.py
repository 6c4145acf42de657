"""The field's forms of the exercises of lesson 01."""

import math

import numpy as np

from course_lib.attention import softmax as stable
from tests.textbook import Forms

FORMS = Forms()


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
    "NumPy's logaddexp",
    expected="fine point open",
    before="accepted (14 of 14)",
)
def less_the_logarithm_of_the_sum(x, axis=-1):
    # Scores near 1e17 lie 16 apart: the logarithm is lost when it is added to them.
    return np.exp(x - np.logaddexp.reduce(x.astype(float), axis=axis, keepdims=True))


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
