"""The field's forms of the exercises of lesson 15."""

import math

import numpy as np
import torch
from torch.nn import functional

from tests.textbook import Forms

FORMS = Forms()


def tensors(*arrays):
    return [torch.from_numpy(np.ascontiguousarray(each)) for each in arrays]


def normalised_by(norm, q, k, q_gain, k_gain):
    q, k, q_gain, k_gain = tensors(q, k, q_gain, k_gain)
    q, k = norm(q) * q_gain, norm(k) * k_gain
    return (torch.matmul(q, k.mT) / math.sqrt(q.size(-1))).numpy()


@FORMS("qk_norm_scores", "Wortsman et al., with PyTorch's rms_norm", before="full")
def rms_norm_of_the_library(q, k, q_gain, k_gain):
    def norm(x):
        return functional.rms_norm(x, x.shape[-1:])

    return normalised_by(norm, q, k, q_gain, k_gain)


@FORMS("qk_norm_scores", "Hugging Face Qwen3", before="full")
def rsqrt_with_an_epsilon(q, k, q_gain, k_gain):
    def norm(x):
        variance = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(variance + 1e-6)

    return normalised_by(norm, q, k, q_gain, k_gain)


@FORMS("qk_norm_scores", "OLMo 2", before="full")
def in_float32_and_back(q, k, q_gain, k_gain):
    def norm(x):
        own = x.to(torch.float32)
        variance = own.pow(2).mean(-1, keepdim=True)
        return (own * torch.rsqrt(variance + 1e-6)).to(x.dtype)

    return normalised_by(norm, q, k, q_gain, k_gain)


@FORMS("qk_norm_scores", "x-transformers", before="full")
def unit_vectors_times_a_root(q, k, q_gain, k_gain):
    q, k, q_gain, k_gain = tensors(q, k, q_gain, k_gain)
    root = q.shape[-1] ** 0.5
    q, k = (functional.normalize(each, dim=-1) * root for each in (q, k))
    scores = torch.einsum("...id,...jd->...ij", q * q_gain, k * k_gain)
    return (scores * root**-1).numpy()


@FORMS("qk_norm_scores", "loops over queries and keys", before="full")
def one_score_after_the_other(q, k, q_gain, k_gain):
    d_k = len(q_gain)
    scores = np.zeros((*q.shape[:-1], k.shape[-2]))
    for *batch, i, j in np.ndindex(scores.shape):
        query, key = q[*batch, i], k[*batch, j]
        query = query / math.sqrt(sum(x * x for x in query) / d_k)
        key = key / math.sqrt(sum(x * x for x in key) / d_k)
        products = zip(query * q_gain, key * k_gain, strict=True)
        scores[*batch, i, j] = sum(a * b for a, b in products) / math.sqrt(d_k)
    return scores


@FORMS(
    "qk_norm_scores",
    "Henry et al., section 3",
    expected="refused: cosines",
    before="refused: cosines (0 of 12)",
)
def cosines_with_gains(q, k, q_gain, k_gain):
    q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
    return np.einsum("...id,...jd->...ij", q * q_gain, k * k_gain)


@FORMS(
    "qk_norm_scores",
    "Dehghani et al., ViT-22B",
    expected="refused: layer_norm_with_smaller_epsilon",
    before="refused: layer_norm_with_smaller_epsilon (3 of 12)",
)
def layer_norm_of_flax(q, k, q_gain, k_gain):
    def norm(x):
        return functional.layer_norm(x, x.shape[-1:], eps=1e-6)

    return normalised_by(norm, q, k, q_gain, k_gain)


@FORMS(
    "qk_norm_scores",
    "Gemma 3, gains of 1 + w",
    expected="refused: one_added_to_the_gains",
    before="refused, no name (0 of 12)",
)
def one_plus_the_gains(q, k, q_gain, k_gain):
    return rms_norm_of_the_library(q, k, 1.0 + q_gain, 1.0 + k_gain)


def with_sinks(q, k, v, sink, may_attend, lowest):
    q, k, v, sink = tensors(q, k, v, sink)
    scores = torch.einsum("hid,hjd->hij", q, k) * q.shape[-1] ** -0.5
    if may_attend is not None:
        bias = torch.zeros(scores.shape, dtype=scores.dtype)
        blocked = torch.from_numpy(~np.broadcast_to(may_attend, tuple(scores.shape)))
        scores = scores + bias.masked_fill(blocked, lowest)
    return scores, v, sink.reshape(-1, 1, 1).expand(-1, q.shape[-2], -1)


@FORMS("sink_attention", "gpt-oss, the published code", before="full")
def one_column_more(q, k, v, sink, may_attend=None):
    scores, v, sinks = with_sinks(q, k, v, sink, may_attend, -torch.inf)
    weights = torch.softmax(torch.cat([scores, sinks], dim=-1), dim=-1)[..., :-1]
    return torch.einsum("hij,hjd->hid", weights, v).numpy(), weights.numpy()


@FORMS("sink_attention", "Hugging Face gpt-oss", before="full")
def maximum_taken_off_first(q, k, v, sink, may_attend=None):
    lowest = torch.finfo(torch.float64).min
    scores, v, sinks = with_sinks(q, k, v, sink, may_attend, lowest)
    combined = torch.cat([scores, sinks], dim=-1)
    combined = combined - combined.max(dim=-1, keepdim=True).values
    weights = functional.softmax(combined, dim=-1, dtype=combined.dtype)[..., :-1]
    return torch.matmul(weights, v).numpy(), weights.numpy()


@FORMS("sink_attention", "FlashAttention's sinks", before="full")
def running_maximum_begun_at_the_sink(q, k, v, sink, may_attend=None):
    scores, v, sinks = with_sinks(q, k, v, sink, may_attend, -torch.inf)
    largest, total = sinks.clone(), torch.ones_like(sinks)
    for j in range(scores.shape[-1]):
        new = torch.maximum(largest, scores[..., j : j + 1])
        total = total * (largest - new).exp() + (scores[..., j : j + 1] - new).exp()
        largest = new
    weights = (scores - largest).exp() / total
    return (weights @ v).numpy(), weights.numpy()


@FORMS("sink_attention", "Hugging Face, after a fused kernel", before="full")
def output_times_a_sigmoid(q, k, v, sink, may_attend=None):
    scores, v, sinks = with_sinks(q, k, v, sink, may_attend, -torch.inf)
    log_total = torch.logsumexp(scores, dim=-1, keepdim=True)
    plain = torch.nan_to_num(torch.softmax(scores, dim=-1))
    share = torch.sigmoid(log_total - sinks)
    return (plain @ v * share).numpy(), (plain * share).numpy()


@FORMS("sink_attention", "loops over heads and queries", before="full")
def one_row_after_the_other(q, k, v, sink, may_attend=None):
    n_heads, n, d_k = q.shape
    m = k.shape[1]
    may_attend = np.ones(m, bool) if may_attend is None else may_attend
    allowed = np.broadcast_to(may_attend, (n_heads, n, m))
    weights = np.zeros((n_heads, n, m))
    for h, i in np.ndindex(n_heads, n):
        scores = {j: q[h, i] @ k[h, j] / math.sqrt(d_k) for j in range(m)}
        scores = {j: score for j, score in scores.items() if allowed[h, i, j]}
        top = max([sink[h], *scores.values()])
        total = math.exp(sink[h] - top)
        total += sum(math.exp(score - top) for score in scores.values())
        for j, score in scores.items():
            weights[h, i, j] = math.exp(score - top) / total
    return np.einsum("hij,hjd->hid", weights, v), weights


@FORMS(
    "sink_attention",
    "Miller, softmax plus one",
    expected="refused: sink_score_of_0",
    before="refused: sink_score_of_0 (0 of 16)",
)
def softmax_plus_one(q, k, v, sink, may_attend=None):
    return one_column_more(q, k, v, 0.0 * sink, may_attend)


@FORMS(
    "sink_attention",
    "Xiao et al., the first token as the sink",
    expected="refused: sink_ignored_with_zeros",
    before="refused, no name (1.5 of 16)",
)
def attention_as_it_was(q, k, v, sink, may_attend=None):
    scores, v, _ = with_sinks(q, k, v, sink, may_attend, -torch.inf)
    weights = torch.nan_to_num(scores.softmax(dim=-1))
    return (weights @ v).numpy(), weights.numpy()


@FORMS("stretched_frequencies", "Peng et al., section 3.2", before="full")
def ramp_and_blend(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    if d_k % 2:
        raise ValueError("d_k must be even")
    theta = np.array([base ** (-2 * d / d_k) for d in range(d_k // 2)])
    ratio = trained / (2 * np.pi / theta)
    gamma = np.piecewise(
        ratio,
        [ratio < slow, ratio > fast],
        [0.0, 1.0, lambda r: (r - slow) / (fast - slow)],
    )
    return (1 - gamma) * theta / factor + gamma * theta


@FORMS(
    "stretched_frequencies",
    "Llama 3.1, the published code",
    expected="fine point open",
    before="fine point open",
)
def smooth_between_wavelengths(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    freqs = 1.0 / (base ** (torch.arange(0, d_k, 2)[: d_k // 2].double() / d_k))
    new_freqs = []
    for freq in freqs:
        wavelength = 2 * math.pi / freq
        if wavelength < trained / fast:
            new_freqs.append(freq)
        elif wavelength > trained / slow:
            new_freqs.append(freq / factor)
        else:
            smooth = (trained / wavelength - slow) / (fast - slow)
            new_freqs.append((1 - smooth) * freq / factor + smooth * freq)
    return torch.stack(new_freqs).numpy()


@FORMS(
    "stretched_frequencies",
    "Hugging Face llama3",
    expected="fine point open",
    before="fine point open",
)
def where_by_wavelengths(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    inv_freq = 1.0 / (base ** (torch.arange(0, d_k, 2, dtype=torch.float) / d_k))
    wavelength = 2 * math.pi / inv_freq
    scaled = torch.where(wavelength > trained / slow, inv_freq / factor, inv_freq)
    smooth = (trained / wavelength - slow) / (fast - slow)
    smoothed = (1 - smooth) * inv_freq / factor + smooth * inv_freq
    middle = ~(wavelength < trained / fast) & ~(wavelength > trained / slow)
    return torch.where(middle, smoothed, scaled).numpy()


@FORMS(
    "stretched_frequencies",
    "Chen et al.",
    expected="refused: all_pairs_slowed_down",
    before="refused: all_pairs_slowed_down (3 of 14)",
)
def interpolated_positions(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    if d_k % 2:
        raise ValueError("d_k must be even")
    return base ** (-np.arange(0, d_k, 2) / d_k) / factor


@FORMS(
    "stretched_frequencies",
    "NTK-aware",
    expected="refused: base_changed",
    before="refused: base_changed (1.25 of 14)",
)
def larger_base(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    if d_k % 2:
        raise ValueError("d_k must be even")
    base = base * factor ** (d_k / (d_k - 2)) if d_k > 2 else base * factor**2
    return 1.0 / base ** (np.arange(0, d_k, 2) / d_k)


def ramp_of_indices(d_k, factor, trained, slow, fast, base, whole):
    if d_k % 2:
        raise ValueError("d_k must be even")

    def index_of(turns):
        return d_k * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = index_of(fast), index_of(slow)
    if whole:
        low, high = max(math.floor(low), 0), min(math.ceil(high), d_k - 1)
        high += 0.001 if low == high else 0
    ramp = ((torch.arange(d_k // 2).double() - low) / (high - low)).clamp(0, 1)
    freqs = 1.0 / base ** (torch.arange(0, d_k, 2).double() / d_k)
    return (freqs / factor * ramp + freqs * (1 - ramp)).numpy()


@FORMS(
    "stretched_frequencies",
    "YaRN, the published code, and Hugging Face",
    expected="refused: ramp_by_whole_indices",
    before="refused, no name (1.25 of 14)",
)
def correction_range(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    return ramp_of_indices(d_k, factor, trained, slow, fast, base, whole=True)


@FORMS(
    "stretched_frequencies",
    "gpt-oss, the published code",
    expected="refused: ramp_by_index",
    before="refused, no name (1.25 of 14)",
)
def correction_range_without_rounding(
    d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0
):
    return ramp_of_indices(d_k, factor, trained, slow, fast, base, whole=False)


@FORMS("latent_attention", "DeepSeek-V3, absorb", before="full")
def einsums_over_the_cache(q, latents, w_k, w_v):
    q, latents, w_k, w_v = tensors(q, latents, w_k, w_v)
    absorbed = torch.einsum("hsd,hcd->hsc", q, w_k)
    scores = torch.einsum("hsc,tc->hst", absorbed, latents) * q.shape[-1] ** -0.5
    weights = scores.softmax(dim=-1)
    x = torch.einsum("hst,tc->hsc", weights, latents)
    return torch.einsum("hsc,hcd->hsd", x, w_v).numpy(), absorbed.numpy()


@FORMS("latent_attention", "DeepSeek-V3, softmax in float32", before="full")
def softmax_in_float32(q, latents, w_k, w_v):
    q, latents, w_k, w_v = tensors(q, latents, w_k, w_v)
    absorbed = torch.einsum("hsd,hcd->hsc", q, w_k)
    scores = torch.einsum("hsc,tc->hst", absorbed, latents) * q.shape[-1] ** -0.5
    weights = scores.softmax(dim=-1, dtype=torch.float32).type_as(q)
    x = torch.einsum("hst,tc->hsc", weights, latents)
    return torch.einsum("hsc,hcd->hsd", x, w_v).numpy(), absorbed.numpy()


@FORMS("latent_attention", "DeepSeek-V3, naive", before="full")
def keys_and_values_made(q, latents, w_k, w_v):
    k = np.einsum("tc,hcd->htd", latents, w_k)
    v = np.einsum("tc,hcd->htd", latents, w_v)
    scores = np.einsum("hsd,htd->hst", q, k) / math.sqrt(q.shape[-1])
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = scores / scores.sum(axis=-1, keepdims=True)
    output = np.einsum("hst,htd->hsd", weights, v)
    return output, np.einsum("hsd,hcd->hsc", q, w_k)


@FORMS("latent_attention", "vLLM, one shared key", before="full")
def sdpa_over_latents(q, latents, w_k, w_v):
    q, latents, w_k, w_v = tensors(q, latents, w_k, w_v)
    absorbed = torch.bmm(q, w_k.transpose(1, 2))
    shared = latents.expand(len(q), -1, -1)
    mixed = functional.scaled_dot_product_attention(
        absorbed, shared, shared, scale=q.shape[-1] ** -0.5
    )
    return torch.bmm(mixed, w_v).numpy(), absorbed.numpy()


@FORMS("latent_attention", "loops over heads and queries", before="full")
def one_query_after_the_other(q, latents, w_k, w_v):
    n_heads, n, d_k = q.shape
    output = np.zeros((n_heads, n, w_v.shape[-1]))
    absorbed = np.zeros((n_heads, n, latents.shape[1]))
    for h in range(n_heads):
        for i in range(n):
            absorbed[h, i] = w_k[h] @ q[h, i]
            scores = np.array([absorbed[h, i] @ c for c in latents]) / np.sqrt(d_k)
            powers = np.exp(scores - scores.max())
            mixed = sum(p * c for p, c in zip(powers, latents, strict=True))
            output[h, i] = mixed / powers.sum() @ w_v[h]
    return output, absorbed


@FORMS(
    "latent_attention",
    "PyTorch's default scale",
    expected="refused: scaled_by_root_of_d_c",
    before="refused: scaled_by_root_of_d_c (6.25 of 20)",
)
def default_scale(q, latents, w_k, w_v):
    q, latents, w_k, w_v = tensors(q, latents, w_k, w_v)
    absorbed = q @ w_k.mT
    shared = latents.expand(len(q), -1, -1)
    mixed = functional.scaled_dot_product_attention(absorbed, shared, shared)
    return (mixed @ w_v).numpy(), absorbed.numpy()


@FORMS("linear_attention", "flash-linear-attention, naive", before="full")
def outer_products_in_turn(q, k, v, state, decay=1.0):
    q, k, v, state = tensors(q, k, v, state)
    output = torch.zeros_like(v)
    for i in range(q.shape[-2]):
        kv = k[..., i, :, None] * v[..., i, None, :]
        state = state * decay + kv
        output[..., i, :] = (q[..., i, :, None] * state).sum(-2)
    return output.numpy(), state.numpy()


@FORMS("linear_attention", "Sun et al., parallel", before="full")
def table_with_a_decay_mask(q, k, v, state, decay=1.0):
    n = q.shape[-2]
    index = np.arange(n)
    back = index[:, None] - index[None, :]
    d = np.where(back >= 0, decay ** np.maximum(back, 0.0), 0.0)
    inner = np.einsum("...nd,...md->...nm", q, k) * d
    cross = np.einsum("...nd,...de->...ne", q, state) * decay ** (index[:, None] + 1.0)
    faded = decay ** (n - 1.0 - index)
    new = state * decay**n + np.einsum("...md,m,...me->...de", k, faded, v)
    return inner @ v + cross, new


@FORMS("linear_attention", "Sun et al., in chunks", before="full")
def chunk_by_chunk(q, k, v, state, decay=1.0, size=2):
    outputs = []
    for start in range(0, q.shape[-2], size):
        part = slice(start, start + size)
        chunk = (each[..., part, :] for each in (q, k, v))
        output, state = table_with_a_decay_mask(*chunk, state, decay)
        outputs.append(output)
    return np.concatenate(outputs, axis=-2), state


@FORMS("linear_attention", "loops over sequences and tokens", before="full")
def one_sequence_after_the_other(q, k, v, state, decay=1.0):
    output, last = np.zeros_like(v), state.copy()
    for batch in np.ndindex(q.shape[:-2]):
        for i in range(q.shape[-2]):
            last[batch] *= decay
            last[batch] += np.outer(k[*batch, i], v[*batch, i])
            output[*batch, i] = q[*batch, i] @ last[batch]
    return output, last


@FORMS(
    "linear_attention",
    "flash-linear-attention, scaled",
    expected="refused: scaled",
    before="refused: scaled (0 of 16)",
)
def scaled_queries(q, k, v, state, decay=1.0):
    return outer_products_in_turn(q * q.shape[-1] ** -0.5, k, v, state, decay)


@FORMS(
    "linear_attention",
    "Katharopoulos et al., without a feature map",
    expected="refused: divided_by_the_sum",
    before="refused: divided_by_the_sum (0 of 16)",
)
def divided_by_the_summed_keys(q, k, v, state, decay=1.0):
    output, new = outer_products_in_turn(q, k, v, state, decay)
    fading = np.zeros((*k.shape[:-2], 1, k.shape[-1])), []
    total, totals = fading
    for i in range(q.shape[-2]):
        total = total * decay + k[..., i : i + 1, :]
        totals.append((q[..., i : i + 1, :] * total).sum(-1, keepdims=True))
    return output / np.concatenate(totals, axis=-2), new


def elu_plus_one(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


@FORMS(
    "linear_attention",
    "Katharopoulos et al.",
    expected="refused: positive_and_divided",
    before="refused, no name (0 of 16)",
)
def positive_and_divided(q, k, v, state, decay=1.0):
    q, k = elu_plus_one(q), elu_plus_one(k)
    return divided_by_the_summed_keys(q, k, v, state, decay)


@FORMS(
    "linear_attention",
    "RWKV, which reads first",
    expected="refused: query_before_the_update",
    before="refused: query_before_the_update (0 of 16)",
)
def reads_then_writes(q, k, v, state, decay=1.0):
    outputs = []
    for i in range(q.shape[-2]):
        outputs.append(np.einsum("...d,...de->...e", q[..., i, :], state))
        state = decay * state + k[..., i, :, None] * v[..., i, None, :]
    return np.stack(outputs, axis=-2), state


@FORMS("delta_rule", "flash-linear-attention, naive", before="full")
def delta_rule_recurrence(q, k, v, state, strengths):
    q, k, v, state, beta = tensors(q, k, v, state, strengths)
    o, s = torch.zeros_like(v), state.clone()
    for i in range(q.shape[-2]):
        own_k, own_v = k[..., i, :], v[..., i, :].clone()
        own_v = own_v - (s.clone() * own_k[..., None]).sum(-2)
        own_v = own_v * beta[..., i, None]
        s = s.clone() + own_k.unsqueeze(-1) * own_v.unsqueeze(-2)
        o[..., i, :] = torch.einsum("...d,...dm->...m", q[..., i, :], s)
    return o.numpy(), s.numpy()


@FORMS(
    "delta_rule", "Yang et al., with generalised Householder matrices", before="full"
)
def product_of_matrices(q, k, v, state, strengths):
    identity, outputs = np.eye(k.shape[-1]), []
    for i in range(q.shape[-2]):
        key, beta = k[..., i, :, None], strengths[..., i, None, None]
        state = (identity - beta * key @ key.swapaxes(-1, -2)) @ state
        state = state + beta * key @ v[..., i, None, :]
        outputs.append(q[..., i, None, :] @ state)
    return np.concatenate(outputs, axis=-2), state


@FORMS("delta_rule", "Schlag et al., a matrix of values by keys", before="full")
def fast_weights(q, k, v, state, strengths):
    w, outputs = np.swapaxes(state, -1, -2), []
    for i in range(q.shape[-2]):
        v_bar = np.einsum("...ed,...d->...e", w, k[..., i, :])
        change = strengths[..., i, None] * (v[..., i, :] - v_bar)
        w = w + np.einsum("...e,...d->...ed", change, k[..., i, :])
        outputs.append(np.einsum("...ed,...d->...e", w, q[..., i, :]))
    return np.stack(outputs, axis=-2), np.swapaxes(w, -1, -2)


@FORMS("delta_rule", "Yang et al., the parallel form", before="full")
def one_triangular_system(q, k, v, state, strengths):
    q, k, v, state, beta = tensors(q, k, v, state, strengths)
    below = torch.tril(beta[..., None] * (k @ k.mT), diagonal=-1)
    system = torch.eye(k.shape[-2], dtype=k.dtype) + below
    right = beta[..., None] * (v - k @ state)
    u = torch.linalg.solve_triangular(system, right, upper=False)
    output = q @ state + torch.tril(q @ k.mT) @ u
    return output.numpy(), (state + k.mT @ u).numpy()


@FORMS("delta_rule", "Widrow and Hoff, a step down the gradient", before="full")
def step_of_least_squares(q, k, v, state, strengths):
    output, last = np.zeros_like(v), state.copy()
    for batch in np.ndindex(q.shape[:-2]):
        for i in range(q.shape[-2]):
            key = k[*batch, i]
            gradient = np.outer(key, key @ last[batch] - v[*batch, i])
            last[batch] = last[batch] - strengths[*batch, i] * gradient
            output[*batch, i] = q[*batch, i] @ last[batch]
    return output, last


@FORMS(
    "delta_rule",
    "flash-linear-attention, scaled",
    expected="refused: scaled",
    before="refused: scaled (0 of 23)",
)
def queries_over_the_root(q, k, v, state, strengths):
    return delta_rule_recurrence(q * q.shape[-1] ** -0.5, k, v, state, strengths)


@FORMS(
    "delta_rule",
    "Schlag et al., the sum before it",
    expected="refused: value_added",
    before="refused: value_added (3 of 23)",
)
def hebbian(q, k, v, state, strengths):
    outputs = []
    for i in range(q.shape[-2]):
        key, value = k[..., i, :, None], v[..., i, None, :]
        state = state + strengths[..., i, None, None] * key * value
        outputs.append(q[..., i, None, :] @ state)
    return np.concatenate(outputs, axis=-2), state


def load_of(selected, n_experts):
    counts = functional.one_hot(selected, n_experts).sum(dim=(0, 1))
    return (counts / selected.numel()).numpy()


@FORMS(
    "route",
    "Shazeer et al., without noise",
    expected="fine point open",
    before="refused: last_of_equal_ones (14.75 of 16)",
)
def all_but_the_top_k_at_minus_infinity(logits, k):
    (logits,) = tensors(logits)
    values, selected = logits.topk(k, dim=-1)
    masked = torch.full_like(logits, -torch.inf).scatter(-1, selected, values)
    return masked.softmax(dim=-1).numpy(), load_of(selected, logits.shape[-1])


@FORMS(
    "route",
    "Mistral's Mixtral",
    expected="fine point open",
    before="refused: last_of_equal_ones (14.75 of 16)",
)
def softmax_over_the_top_k(logits, k):
    (logits,) = tensors(logits)
    values, selected = torch.topk(logits, k)
    gates = functional.softmax(values, dim=1)
    weights = torch.zeros_like(logits).scatter_(1, selected, gates)
    return weights.numpy(), load_of(selected, logits.shape[1])


@FORMS(
    "route",
    "Hugging Face Mixtral",
    expected="fine point open",
    before="refused, no name (12.5 of 16)",
)
def top_k_of_a_softmax_divided_again(logits, k):
    (logits,) = tensors(logits)
    routing = functional.softmax(logits, dim=1, dtype=torch.float)
    top, selected = torch.topk(routing, k, dim=-1)
    top = top / top.sum(dim=-1, keepdim=True)
    weights = torch.zeros_like(routing).scatter_(1, selected, top)
    return weights.numpy(), load_of(selected, logits.shape[1])


@FORMS(
    "route",
    "NumPy's argpartition",
    expected="fine point open",
    before="refused: last_of_equal_ones (14.75 of 16)",
)
def partitioned(logits, k):
    selected = np.argpartition(logits, logits.shape[1] - k, axis=1)[:, -k:]
    top = np.take_along_axis(logits, selected, axis=1)
    top = np.exp(top - top.max(axis=1, keepdims=True))
    weights = np.zeros(logits.shape)
    np.put_along_axis(weights, selected, top / top.sum(1, keepdims=True), axis=1)
    load = np.bincount(selected.ravel(), minlength=logits.shape[1]) / selected.size
    return weights, load


@FORMS("route", "loops over tokens", before="full")
def one_token_after_the_other(logits, k):
    weights, load = np.zeros(logits.shape), np.zeros(logits.shape[1])
    for i, row in enumerate(logits.tolist()):
        ranked = sorted(range(len(row)), key=row.__getitem__, reverse=True)[:k]
        powers = {e: math.exp(row[e] - row[ranked[0]]) for e in ranked}
        for e, power in powers.items():
            weights[i, e] = power / sum(powers.values())
            load[e] += 1 / (k * len(logits))
    return weights, load


@FORMS(
    "route",
    "Switch Transformer",
    expected="refused: softmax_over_all",
    before="refused: softmax_over_all (2.25 of 16)",
)
def probabilities_of_the_chosen(logits, k):
    (logits,) = tensors(logits)
    probabilities = logits.softmax(dim=-1)
    order = logits.sort(dim=-1, descending=True, stable=True).indices[:, :k]
    weights = torch.zeros_like(logits)
    weights.scatter_(1, order, probabilities.gather(1, order))
    return weights.numpy(), load_of(order, logits.shape[1])


@FORMS(
    "route",
    "DeepSeek-V3",
    expected="refused: sigmoids_divided_by_their_sum",
    before="refused, no name (0 of 16)",
)
def normalised_sigmoids(logits, k):
    (logits,) = tensors(logits)
    order = logits.sort(dim=-1, descending=True, stable=True).indices[:, :k]
    top = logits.sigmoid().gather(1, order)
    top = top / (top.sum(dim=-1, keepdim=True) + 1e-20)
    weights = torch.zeros_like(logits).scatter_(1, order, top)
    return weights.numpy(), load_of(order, logits.shape[1])


@FORMS(
    "route",
    "Switch Transformer, the balancing loss",
    expected="refused: load_by_token",
    before="refused: load_by_token (0 of 16)",
)
def shares_of_the_tokens(logits, k):
    weights, load = one_token_after_the_other(logits, k)
    return weights, load * k


@FORMS(
    "route",
    "Zhou et al.",
    expected="refused: experts_choose_tokens",
    before="refused: experts_choose_tokens (0 of 16)",
)
def tokens_of_each_expert(logits, k):
    (logits,) = tensors(logits)
    k = min(k, len(logits))
    order = logits.sort(dim=0, descending=True, stable=True).indices[:k]
    chosen = torch.zeros_like(logits).scatter_(0, order, 1.0)
    scores = logits.masked_fill(chosen == 0, -1e300)
    return scores.softmax(-1).numpy(), (chosen.sum(0) / chosen.sum()).numpy()
