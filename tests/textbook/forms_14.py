"""The field's forms of the exercises of lesson 14."""

import math

import numpy as np

from tests.textbook import Forms

FORMS = Forms()


@FORMS(
    "flops",
    "Vaswani et al., table 1",
    expected="refused: entries_of_the_table",
    before="refused, no name (0 of 16)",
)
def entries_of_table_1(kind, n, d, k=None):
    return {
        "attention": n * n * d,
        "recurrence": n * d * d,
        "convolution": (k or 1) * n * d * d,
        "window": min(k or 1, n) * n * d,
    }[kind]


@FORMS("flops", "two for a multiply and an add", before="refused, no name (14.5 of 16)")
def two_per_product(kind, n, d, k=None):
    if kind == "attention":
        return 2 * n * n * d + 2 * n * n * d
    if kind == "window":
        return 2 * 2 * n * min(k, n) * d
    if kind == "recurrence":
        return n * (2 * d * d + 2 * d * d)
    return n * k * 2 * d * d


@FORMS("path_length", "math.ceil", before="refused, no name (11.25 of 14)")
def quotient_rounded_up(kind, n, k=None):
    if kind == "attention":
        return 1 if n > 1 else 0
    if kind == "recurrence":
        return n - 1
    return math.ceil((n - 1) / (k - 1))


@FORMS(
    "path_length",
    "Vaswani et al., table 1",
    expected="refused: n_over_k",
    before="refused, no name (3 of 14)",
)
def entry_of_the_table(kind, n, k=None):
    if kind in ("attention", "recurrence"):
        return quotient_rounded_up(kind, n)
    return math.ceil(n / k)


@FORMS(
    "sequential_steps",
    "Vaswani et al., table 1",
    before="refused: one_step_for_other_kinds & n_not_checked (5.25 of 6)",
)
def one_or_n(kind, n, k=None):
    return n if kind == "recurrence" else 1


@FORMS(
    "kv_cache_bytes",
    "Shazeer and Ainslie et al.",
    before="refused: sizes_not_refused (6.5 of 7)",
)
def keys_and_values(n, n_layers, n_kv_heads, d_k, bytes_per_number=2, batch=1):
    return 2 * n_layers * n_kv_heads * d_k * n * batch * bytes_per_number


@FORMS("online_softmax", "Milakov and Gimelshein, algorithm 3", before="full")
def running_maximum_and_sum(x, block):
    m = np.full((*x.shape[:-1], 1), -np.inf)
    d = np.zeros_like(m)
    for part in np.split(x, range(block, x.shape[-1], block), axis=-1):
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        d = d * np.exp(m - new) + np.exp(part - new).sum(axis=-1, keepdims=True)
        m = new
    return np.exp(x - m) / d


@FORMS(
    "online_softmax",
    "FlashAttention-2",
    before="refused: logarithm_of_the_sum (18.25 of 19)",
)
def by_the_logarithm_of_the_sum(x, block):
    log_sum = np.full((*x.shape[:-1], 1), -np.inf)
    for start in range(0, x.shape[-1], block):
        for column in np.moveaxis(x[..., start : start + block], -1, 0):
            log_sum = np.logaddexp(log_sum, column[..., np.newaxis])
    return np.exp(x - log_sum)


@FORMS(
    "online_softmax",
    "kernels that begin at −1e9",
    before="refused: maximum_started_at_minus_a_billion (15.5 of 19)",
)
def begun_at_a_low_number(x, block):
    m = np.full((*x.shape[:-1], 1), -1e9)
    d = np.zeros_like(m)
    for start in range(0, x.shape[-1], block):
        part = x[..., start : start + block]
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        d = d * np.exp(m - new) + np.exp(part - new).sum(axis=-1, keepdims=True)
        m = new
    return np.exp(x - m) / d


def flash(q, k, v, block, may_attend, lowest):
    scale = 1 / math.sqrt(q.shape[-1])
    m = np.full((*q.shape[:-1], 1), lowest)
    total, output = np.zeros_like(m), np.zeros((*q.shape[:-1], v.shape[-1]))
    for start in range(0, k.shape[-2], block):
        part = slice(start, start + block)
        scores = q @ k[..., part, :].swapaxes(-1, -2) * scale
        if may_attend is not None:
            scores = np.where(may_attend[..., part], scores, lowest)
        new = np.maximum(m, scores.max(-1, keepdims=True))
        safe = np.where(np.isinf(new), 0.0, new)
        powers, factor = np.exp(scores - safe), np.exp(m - safe)
        total = factor * total + powers.sum(-1, keepdims=True)
        output = factor * output + powers @ v[..., part, :]
        m = new
    return output, total


@FORMS("tiled_attention", "FlashAttention-2", before="full")
def divided_once(q, k, v, block, may_attend=None):
    output, total = flash(q, k, v, block, may_attend, -np.inf)
    return np.divide(output, total, out=np.zeros_like(output), where=total > 0)


@FORMS(
    "tiled_attention",
    "CS336",
    expected="fine point open",
    before="refused: nan_without_keys (26 of 33)",
)
def divided_by_any_sum(q, k, v, block, may_attend=None):
    output, total = flash(q, k, v, block, may_attend, -np.inf)
    return output / total


@FORMS(
    "tiled_attention",
    "Annotated Transformer",
    expected="fine point open",
    before="refused: filled_with_minus_a_billion (24.25 of 33)",
)
def minus_a_billion(q, k, v, block, may_attend=None):
    output, total = flash(q, k, v, block, may_attend, -1e9)
    return output / total


@FORMS("sliding_window_mask", "Hugging Face Mistral", before="full")
def lower_triangle_less_what_is_far(n, width):
    causal = np.tril(np.ones((n, n), dtype=bool))
    return causal & np.triu(np.ones((n, n), dtype=bool), k=-width + 1)


@FORMS(
    "sliding_window_mask",
    "Mistral 7B",
    expected="refused: one_key_too_many",
    before="refused: one_key_too_many (1.25 of 8)",
)
def from_i_minus_width(n, width):
    i, j = np.indices((n, n))
    return (j <= i) & (j >= i - width)


@FORMS(
    "sliding_window_mask",
    "Longformer",
    expected="refused: half_of_the_window_ahead",
    before="refused: half_of_the_window_ahead (0 of 8)",
)
def half_on_each_side(n, width):
    i, j = np.indices((n, n))
    return np.abs(i - j) <= width // 2
