"""The field's forms of the exercises of lesson 04."""

from functools import reduce

import numpy as np

from course_lib.attention import softmax as stable
from tests.textbook import Forms

FORMS = Forms()


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
    expected="refused: zeroed_and_divided_with_a_little_added",
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
