"""The field's forms of the exercises of lesson 12."""

import math

import torch
from torch.nn import functional

from tests.textbook import Forms

FORMS = Forms()


@FORMS(
    "apply_temperature",
    "nanoGPT and CS336",
    expected="refused: nan_at_temperature_zero",
    before="refused: formula_alone (6.5 of 14)",
)
def softmax_of_the_quotient(logits, temperature):
    return functional.softmax(logits / temperature, dim=-1)


@FORMS(
    "apply_temperature",
    "Hugging Face",
    before="refused: nan_at_temperature_infinity & quotient_overflows (9 of 14)",
)
def greedy_at_zero(logits, temperature):
    if temperature == 0:
        return functional.one_hot(logits.argmax(-1), logits.size(-1)).to(logits.dtype)
    return torch.softmax(logits / temperature, -1)


def scattered(probabilities, order, stays):
    filtered = torch.zeros_like(probabilities).scatter(-1, order, stays)
    return filtered / filtered.sum(dim=-1, keepdim=True)


@FORMS(
    "top_k_filter",
    "nanoGPT",
    expected="fine point open",
    before="refused: all_equal_ones_stay (9.5 of 12)",
)
def below_the_kth(probabilities, k):
    values, _ = torch.topk(probabilities, min(k, probabilities.size(-1)))
    filtered = probabilities.clone()
    filtered[filtered < values[..., [-1]]] = 0
    return filtered / filtered.sum(dim=-1, keepdim=True)


@FORMS(
    "top_k_filter",
    "Hugging Face",
    expected="fine point open",
    before="refused: all_equal_ones_stay (9.5 of 12)",
)
def filtered_as_logits(probabilities, k):
    logits = probabilities.log()
    k = min(k, logits.size(-1))
    remove = logits < torch.topk(logits, k)[0][..., -1, None]
    return logits.masked_fill(remove, -float("inf")).softmax(-1)


@FORMS("top_k_filter", "Fan et al.", before="full")
def first_k_of_a_stable_sort(probabilities, k):
    values, order = probabilities.sort(dim=-1, descending=True, stable=True)
    return scattered(probabilities, order[..., :k], values[..., :k])


@FORMS(
    "top_p_filter",
    "Hugging Face",
    expected="fine point open",
    before="refused: one_more_where_the_sum_is_p & p_of_one_as_any_other (13 of 16)",
)
def shifted_mask(probabilities, p):
    values, order = probabilities.sort(dim=-1, descending=True)
    remove = values.cumsum(dim=-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return scattered(probabilities, order, values.masked_fill(remove, 0.0))


@FORMS(
    "top_p_filter",
    "Llama",
    expected="fine point open",
    before="refused: one_more_where_the_sum_is_p & p_of_one_as_any_other (13 of 16)",
)
def sum_before_above_p(probabilities, p):
    values, order = torch.sort(probabilities, dim=-1, descending=True)
    before = torch.cumsum(values, dim=-1) - values
    return scattered(probabilities, order, torch.where(before > p, 0.0, values))


@FORMS(
    "top_p_filter",
    "repositories",
    expected="refused: crossing_token_dropped",
    before="refused: crossing_token_dropped_with_p_of_one_too (3 of 16)",
)
def sum_up_to_p(probabilities, p):
    values, order = torch.sort(probabilities, dim=-1, descending=True)
    stays = torch.cumsum(values, dim=-1) <= p
    return scattered(probabilities, order, values * stays)


@FORMS(
    "sample",
    "Devroye",
    expected="fine point open",
    before="refused: first_token_at_the_end (10.75 of 12)",
)
def first_sum_above(probabilities, u):
    return (probabilities.cumsum(-1) > u.unsqueeze(-1)).int().argmax(-1)


@FORMS(
    "sample",
    "NumPy",
    expected="fine point open",
    before="refused: earlier_token_on_a_boundary & last_token_of_all_at_the_end "
    "(8.25 of 12)",
)
def sorted_search(probabilities, u):
    sums = probabilities.cumsum(-1)
    token_ids = torch.searchsorted(sums, u.unsqueeze(-1).contiguous()).squeeze(-1)
    return token_ids.clamp(max=probabilities.size(-1) - 1)


@FORMS("rms_norm", "Hugging Face Llama", before="refused, no name (5 of 6)")
def llama_in_float32(x, gain, eps=1e-6):
    hidden = x.to(torch.float32)
    hidden = hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + eps)
    return gain * hidden.to(x.dtype)


@FORMS("rms_norm", "CS336", before="refused, no name (5 of 6)")
def float32_and_back(x, gain, eps=1e-6):
    dtype, x = x.dtype, x.to(torch.float32)
    root = torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + eps)
    return (x / root * gain).to(dtype)


@FORMS(
    "rms_norm",
    "x-transformers",
    expected="refused: root_at_least_eps",
    before="refused, no name (4 of 6)",
)
def norm_at_least_eps(x, gain, eps=1e-6):
    norm = torch.norm(x, dim=-1, keepdim=True) * x.shape[-1] ** -0.5
    return x / norm.clamp(min=eps) * gain


@FORMS(
    "rms_norm",
    "repositories",
    expected="refused: eps_outside_the_root",
    before="refused: eps_outside_the_root (4 of 6)",
)
def eps_added_to_the_root(x, gain, eps=1e-6):
    return gain * x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps)


@FORMS(
    "rms_norm",
    "Gemma",
    expected="refused: gain_plus_one",
    before="refused, no name (0 of 6)",
)
def one_plus_gain(x, gain, eps=1e-6):
    return float32_and_back(x, 1 + gain.float(), eps)


@FORMS("swiglu", "Hugging Face Llama", before="full")
def down_of_gate_times_up(x, w_gate, w_up, w_down):
    return (functional.silu(x @ w_gate) * (x @ w_up)) @ w_down


@FORMS("swiglu", "CS336", before="full")
def sigmoid_by_hand(x, w_gate, w_up, w_down):
    gate = x @ w_gate
    return (gate * torch.sigmoid(gate) * (x @ w_up)) @ w_down


@FORMS(
    "swiglu",
    "Gemma",
    expected="refused: gelu_for_silu",
    before="refused: gelu_for_silu (0 of 6)",
)
def geglu(x, w_gate, w_up, w_down):
    return (functional.gelu(x @ w_gate) * (x @ w_up)) @ w_down


@FORMS(
    "grouped_query_attention",
    "Llama",
    expected="fine point open",
    before="refused: nan_where_nothing_is_allowed & shapes_that_do_not_fit "
    "(13.5 of 16)",
)
def repeat_kv(q, k, v, may_attend=None):
    groups = q.size(-3) // k.size(-3)
    k, v = (part.repeat_interleave(groups, dim=-3) for part in (k, v))
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if may_attend is not None:
        mask = may_attend if may_attend.ndim < 3 else may_attend.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.matmul(functional.softmax(scores, dim=-1), v)


@FORMS(
    "grouped_query_attention",
    "Hugging Face",
    expected="fine point open",
    before="refused, no name (12.25 of 16)",
)
def least_float_for_blocked(q, k, v, may_attend=None):
    groups = q.size(-3) // k.size(-3)
    shape = (*k.shape[:-3], k.size(-3), groups)
    k, v = (
        part.unsqueeze(-3).expand(*shape, *part.shape[-2:]).flatten(-4, -3)
        for part in (k, v)
    )
    scores = q @ k.mT * q.size(-1) ** -0.5
    if may_attend is not None:
        mask = may_attend if may_attend.ndim < 3 else may_attend.unsqueeze(-3)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return weights @ v


@FORMS(
    "grouped_query_attention",
    "repositories",
    expected="refused: tiled",
    before="refused: tiled & shapes_that_do_not_fit (3.75 of 16)",
)
def heads_repeated_in_turn(q, k, v, may_attend=None):
    times = [1] * (k.ndim - 3) + [q.size(-3) // k.size(-3), 1, 1]
    return repeat_kv(q, k.repeat(*times), v.repeat(*times), may_attend).nan_to_num(0.0)


@FORMS("language_model_batch", "nanoGPT", before="refused: slices_end_early (5 of 6)")
def stacked_slices(token_ids, length, starts):
    x = torch.stack([token_ids[i : i + length] for i in starts])
    y = torch.stack([token_ids[i + 1 : i + 1 + length] for i in starts])
    return x, y


@FORMS("bits_per_byte", "The Pile", before="refused, no name (10 of 12)")
def nats_to_bits_over_bytes(losses, text):
    return losses.sum().item() / math.log(2) / len(text.encode("utf-8"))


@FORMS(
    "bits_per_byte",
    "language modelling",
    expected="refused: bits_per_character",
    before="refused, no name (3.5 of 12)",
)
def over_characters(losses, text):
    return losses.sum().item() / math.log(2) / len(text)
