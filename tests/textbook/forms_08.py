"""The field's forms of the exercises of lesson 08."""

import torch
from torch.nn import functional

from tests.textbook import Forms

FORMS = Forms()


def additive_scores(state, keys, w_q, w_k, v):
    return torch.tanh((state @ w_q).unsqueeze(-2) + keys @ w_k) @ v


def context_of(weights, values):
    return torch.einsum("...m,...md->...d", weights, values)


@FORMS("additive_attention", "Bahdanau et al.", before="full")
def softmax_of_energies(state, keys, values, w_q, w_k, v, may_attend=None):
    energies = additive_scores(state, keys, w_q, w_k, v)
    if may_attend is not None:
        energies = energies.masked_fill(~may_attend, float("-inf"))
    weights = functional.softmax(energies, dim=-1)
    return context_of(weights, values), weights


@FORMS("additive_attention", "d2l 11.4", expected="fine point open", before="full")
def masked_with_minus_a_million(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = additive_scores(state, keys, w_q, w_k, v)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -1e6)
    weights = functional.softmax(scores, dim=-1)
    return context_of(weights, values), weights


@FORMS(
    "additive_attention",
    "PyTorch seq2seq tutorials",
    expected="fine point open",
    before="full",
)
def masked_with_minus_ten_thousand(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = additive_scores(state, keys, w_q, w_k, v)
    if may_attend is not None:
        scores = scores.masked_fill(may_attend == 0, -1e4)
    weights = functional.softmax(scores, dim=-1)
    return context_of(weights, values), weights


@FORMS(
    "additive_attention",
    "AllenNLP",
    expected="refused: divided_again_with_a_little_added",
    before="full",
)
def renormalised(state, keys, values, w_q, w_k, v, may_attend=None):
    weights = additive_scores(state, keys, w_q, w_k, v).softmax(dim=-1)
    if may_attend is not None:
        weights = weights * may_attend
        weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-13)
    return context_of(weights, values), weights


@FORMS(
    "additive_attention",
    "seq2seq repositories",
    expected="refused: divided_again_after_the_mask",
    before="full",
)
def renormalised_without_more(state, keys, values, w_q, w_k, v, may_attend=None):
    weights = additive_scores(state, keys, w_q, w_k, v).softmax(dim=-1)
    if may_attend is not None:
        weights = weights * may_attend
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return context_of(weights, values), weights


def gru(x, state, w_x, w_h, b_x, b_h):
    x_r, x_z, x_n = (x @ w_x + b_x).chunk(3, -1)
    h_r, h_z, h_n = (state @ w_h + b_h).chunk(3, -1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    return n + z * (state - n)


FORMS("gru_step", "PyTorch nn.GRU", before="full")(gru)


@FORMS(
    "gru_step",
    "d2l 10.2",
    expected="refused: reset_before_the_product",
    before="refused: reset_before_the_product (0 of 19)",
)
def reset_times_the_state(x, state, w_x, w_h, b_x, b_h):
    x_r, x_z, x_n = (x @ w_x + b_x).chunk(3, -1)
    w_r, w_z, w_n = w_h.chunk(3, -1)
    b_r, b_z, b_n = b_h.chunk(3, -1)
    r = torch.sigmoid(x_r + state @ w_r + b_r)
    z = torch.sigmoid(x_z + state @ w_z + b_z)
    n = torch.tanh(x_n + (r * state) @ w_n + b_n)
    return z * state + (1 - z) * n


@FORMS(
    "gru_step",
    "Chung et al.",
    expected="refused: update_gate_reversed",
    before="refused: update_gate_reversed (0 of 19)",
)
def gate_for_the_candidate(x, state, w_x, w_h, b_x, b_h):
    x_r, x_z, x_n = (x @ w_x + b_x).chunk(3, -1)
    h_r, h_z, h_n = (state @ w_h + b_h).chunk(3, -1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    return (1 - z) * state + z * n


@FORMS("decoder_step", "Bahdanau et al.", before="full")
def embedding_then_context(x, state, keys, values, parameters, may_attend=None):
    p = parameters
    context, weights = softmax_of_energies(
        state, keys, values, p["w_q"], p["w_k"], p["v"], may_attend
    )
    rnn_input = torch.cat((x, context), dim=-1)
    state = gru(rnn_input, state, p["w_x"], p["w_h"], p["b_x"], p["b_h"])
    return state, context, weights


@FORMS(
    "decoder_step",
    "d2l 11.4",
    expected="refused: context_before_x",
    before="refused: context_before_x (0 of 14)",
)
def context_then_embedding(x, state, keys, values, parameters, may_attend=None):
    p = parameters
    context, weights = masked_with_minus_a_million(
        state, keys, values, p["w_q"], p["w_k"], p["v"], may_attend
    )
    both = torch.cat((context, x), dim=-1)
    state = gru(both, state, p["w_x"], p["w_h"], p["b_x"], p["b_h"])
    return state, context, weights


@FORMS("luong_score", "einsum", before="refused, no name (9 of 10)")
def scores_by_einsum(state, keys, kind, w=None):
    if kind == "general":
        state = state @ w
    return torch.einsum("...d,...md->...m", state, keys)


@FORMS("luong_score", "OpenNMT", before="refused, no name (9 of 10)")
def score_of_a_column(state, keys, kind, w=None):
    query = state @ w if kind == "general" else state
    return torch.matmul(keys, query[..., None])[..., 0]


@FORMS("luong_score", "PyTorch chatbot tutorial", before="refused, no name (9 of 10)")
def energies_of_the_keys(state, keys, kind, w=None):
    energy = keys @ w.T if kind == "general" else keys
    return torch.sum(state.unsqueeze(-2) * energy, dim=-1)


@FORMS(
    "luong_score",
    "seq2seq tutorials",
    expected="refused: one_batch_axis_only",
    before="refused, no name (0.5 of 10)",
)
def batch_matrix_product(state, keys, kind, w=None):
    query = state @ w if kind == "general" else state
    return torch.bmm(keys, query.unsqueeze(2)).squeeze(2)


@FORMS(
    "luong_score",
    "einsum",
    expected="refused: summed_over_the_batch",
    before="refused, no name (4 of 10)",
)
def letter_of_the_batch_lost(state, keys, kind, w=None):
    query = state @ w if kind == "general" else state
    products = (keys * query.unsqueeze(-2)).sum(-1)
    return torch.einsum("bm->m", products.reshape(-1, keys.shape[-2]))


@FORMS(
    "luong_score",
    "Vaswani et al.",
    expected="refused: divided_by_root_of_d_k",
    before="refused, no name (0 of 10)",
)
def scaled_product(state, keys, kind, w=None):
    return scores_by_einsum(state, keys, kind, w) / keys.shape[-1] ** 0.5
