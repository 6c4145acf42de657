"""Lesson 08's references against PyTorch's recurrent layers and against exact facts."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from course_lib.attention import additive_scores, attention, bilinear_scores, softmax
from course_lib.nn.sequence_to_sequence import (
    additive_attention,
    alignment_mass,
    decoder_step,
    gru_step,
    luong_score,
)
from tests.references.tensors import CLOSE, normal

DTYPES = [torch.float64, torch.float32]
LEADING = [(), (2,), (2, 3)]
# A few dozen products of numbers of size 1, and as many roundings.


def assert_same(mine, theirs, dtype=torch.float64):
    """Compare shape, dtype and values to the precision of a dtype."""
    theirs = theirs if torch.is_tensor(theirs) else torch.from_numpy(np.array(theirs))
    assert mine.shape == theirs.shape
    assert mine.dtype == dtype
    torch.testing.assert_close(mine, theirs.to(dtype), rtol=0, atol=CLOSE[dtype])


def unit(dtype=torch.float64, d_in=3, d_h=4):
    """Return w_x, w_h, b_x and b_h."""
    return (
        normal(d_in, 3 * d_h, dtype=dtype, seed=1),
        normal(d_h, 3 * d_h, dtype=dtype, seed=2),
        normal(3 * d_h, dtype=dtype, seed=3),
        normal(3 * d_h, dtype=dtype, seed=4),
    )


def source(leading=(), dtype=torch.float64, m=7):
    """Return a state, keys and values, all of different sizes."""
    return (
        normal(*leading, 3, dtype=dtype, seed=5),
        normal(*leading, m, 4, dtype=dtype, seed=6),
        normal(*leading, m, 6, dtype=dtype, seed=7),
    )


def network(dtype=torch.float64):
    """Return w_q, w_k and v."""
    return (
        normal(3, 5, dtype=dtype, seed=8),
        normal(4, 5, dtype=dtype, seed=9),
        normal(5, dtype=dtype, seed=10),
    )


# Against PyTorch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", [(), (2,)])
def test_gru_step_matches_gru_cell(leading, dtype):
    theirs = nn.GRUCell(3, 4, dtype=dtype)
    w_x, w_h = theirs.weight_ih.T, theirs.weight_hh.T  # linear layers' other way round
    x = normal(*leading, 3, dtype=dtype)
    state = normal(*leading, 4, dtype=dtype, seed=1)
    mine = gru_step(x, state, w_x, w_h, theirs.bias_ih, theirs.bias_hh)
    assert_same(mine, theirs(x, state), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gru_steps_match_nn_gru(dtype):
    theirs = nn.GRU(3, 4, batch_first=True, dtype=dtype)
    x, state = normal(2, 5, 3, dtype=dtype), normal(2, 4, dtype=dtype, seed=1)
    outputs, last = theirs(x, state[None])
    w_x, w_h = theirs.weight_ih_l0.T, theirs.weight_hh_l0.T
    for token in range(5):
        arguments = x[:, token], state, w_x, w_h, theirs.bias_ih_l0, theirs.bias_hh_l0
        state = gru_step(*arguments)
        assert_same(state, outputs[:, token], dtype)
    assert_same(state, last[0], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_luong_score_general_matches_nn_bilinear(leading, dtype):
    state, keys, _ = source(leading, dtype)
    w = normal(3, 4, dtype=dtype, seed=1)
    many = state.unsqueeze(-2).expand(*leading, 7, 3)
    theirs = nn.functional.bilinear(many.contiguous(), keys, w[None])
    assert_same(luong_score(state, keys, "general", w), theirs[..., 0], dtype)


@pytest.mark.parametrize("leading", [(), (2,)])
def test_additive_attention_mixes_values_like_sdpa(leading):
    state, keys, values = source(leading)
    w = normal(3, 4, seed=1)
    scores = luong_score(state, keys, "general", w)
    context = (scores.softmax(dim=-1).unsqueeze(-2) @ values).squeeze(-2)
    q = (state @ w).unsqueeze(-2)
    there = nn.functional.scaled_dot_product_attention(q, keys, values, scale=1.0)
    assert_same(context, there.squeeze(-2))


# Against the references in NumPy of lesson 01


@pytest.mark.parametrize("leading", LEADING)
def test_additive_attention_matches_additive_scores(leading):
    state, keys, values = source(leading)
    context, weights = additive_attention(state, keys, values, *network())
    q, k, w_q, w_k, v = (part.numpy() for part in (state, keys, *network()))
    expected = softmax(additive_scores(q[..., np.newaxis, :], k, w_q, w_k, v))
    assert_same(weights, expected[..., 0, :])
    assert_same(context, (expected @ values.numpy())[..., 0, :])


@pytest.mark.parametrize("leading", LEADING)
def test_luong_score_matches_lesson_01(leading):
    state, keys, _ = source(leading)
    w = normal(3, 4, seed=1)
    q = state.numpy()[..., np.newaxis, :]
    there = bilinear_scores(q, keys.numpy(), w.numpy())[..., 0, :]
    assert_same(luong_score(state, keys, "general", w), there)
    state = normal(*leading, 4)
    weights = attention(state.numpy()[..., None, :], keys.numpy(), keys.numpy())[1]
    mine = (luong_score(state, keys, "dot") / 2).softmax(dim=-1)  # 2 is √d_k
    assert_same(mine, weights[..., 0, :])


# Numbers by hand and loops


def test_update_gate_chooses_old_state_or_candidate():
    x, state = normal(3), normal(4, seed=1)
    w_x, w_h, b_x, b_h = unit()
    b_x[4:8] = 1e4  # the update gate
    torch.testing.assert_close(gru_step(x, state, w_x, w_h, b_x, b_h), state)
    b_x[:4], b_x[4:8] = -1e4, -1e4
    candidate = torch.tanh((x @ w_x + b_x)[8:])
    torch.testing.assert_close(gru_step(x, state, w_x, w_h, b_x, b_h), candidate)


@pytest.mark.parametrize("leading", LEADING)
def test_batch_matches_a_loop_over_its_rows(leading):
    state, keys, values = source(leading)
    x = normal(*leading, 2)
    names = ("w_q", "w_k", "v", "w_x", "w_h", "b_x", "b_h")
    parameters = dict(zip(names, (*network(), *unit(d_in=8, d_h=3)), strict=True))
    may_attend = torch.from_numpy(np.random.default_rng(3).random((*leading, 7)) < 0.6)
    may_attend[..., 2] = True
    whole = decoder_step(x, state, keys, values, parameters, may_attend)
    for index in np.ndindex(*leading):
        own = (part[index] for part in (x, state, keys, values))
        result = decoder_step(*own, parameters, may_attend[index])
        for one, other in zip(result, whole, strict=True):
            assert_same(one, other[index])
    assert torch.all((whole[2] == 0) == ~may_attend)
    assert_same(whole[2].sum(dim=-1), torch.ones(leading))


def test_decoder_step_matches_its_two_parts():
    state, keys, values = source()
    x, (w_q, w_k, v), tables = normal(2), network(), unit(d_in=8, d_h=3)
    parameters = dict(w_q=w_q, w_k=w_k, v=v)
    parameters |= dict(zip(("w_x", "w_h", "b_x", "b_h"), tables, strict=True))
    new, context, weights = decoder_step(x, state, keys, values, parameters)
    attended = additive_attention(state, keys, values, w_q, w_k, v)
    torch.testing.assert_close((context, weights), attended, rtol=0, atol=0)
    w_x, w_h, b_x, b_h = tables
    read = torch.cat([x, context])
    theirs = torch.gru_cell(read[None], state[None], w_x.T, w_h.T, b_x, b_h)
    assert_same(new, theirs[0])


def test_blocked_tokens_are_left_out():
    state, keys, values = source()
    open_indices = [0, 2, 3, 6]
    may_attend = torch.zeros(7, dtype=torch.bool)
    may_attend[open_indices] = True
    context, weights = additive_attention(state, keys, values, *network(), may_attend)
    without = additive_attention(
        state, keys[open_indices], values[open_indices], *network()
    )
    assert_same(context, without[0])
    assert_same(weights[open_indices], without[1])
    assert weights[[1, 4, 5]].tolist() == [0.0, 0.0, 0.0]


def test_blocked_tokens_change_nothing():
    state, keys, values = source()
    may_attend = torch.arange(7) < 4
    before = additive_attention(state, keys, values, *network(), may_attend)
    keys[4:], values[4:] = 1e6, -1e6
    after = additive_attention(state, keys, values, *network(), may_attend)
    torch.testing.assert_close(after, before, rtol=0, atol=0)


def test_large_scores_stay_finite():
    state, keys, values = source()
    w_q, w_k, v = network()
    context, weights = additive_attention(state, keys, values, w_q, w_k, 1e4 * v)
    best = int((torch.tanh(state @ w_q + keys @ w_k) @ v).argmax())
    assert weights.isfinite().all()
    assert_same(context, values[best])


def test_luong_score_by_hand():
    state, keys = torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 0.0], [0.0, 5.0]])
    assert luong_score(state, keys, "dot").tolist() == [3.0, 10.0]
    w = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    assert luong_score(state, keys, "general", w).tolist() == [0.0, 5.0]


def test_luong_score_refuses_unknown_kinds():
    state, keys, w = torch.ones(2), torch.ones(3, 2), torch.ones(2, 2)
    with pytest.raises(ValueError, match=r"^kind='concat' is neither dot nor general$"):
        luong_score(state, keys, "concat", w)
    message = "w belongs to general, and to it alone$"
    with pytest.raises(ValueError, match=f"^kind='general': {message}"):
        luong_score(state, keys, "general")
    with pytest.raises(ValueError, match=f"^kind='dot': {message}"):
        luong_score(state, keys, "dot", w)


def test_alignment_mass_by_hand():
    weights = normal(5, 7).softmax(dim=-1)
    links = [(0, 1), (3, 2), (3, 6), (4, 0)]
    right = torch.zeros(5, 7, dtype=torch.bool)
    right[[0, 3, 3, 4], [1, 2, 6, 0]] = True
    mass = (weights * right).sum(dim=-1)[[0, 3, 4]].mean().item()
    result = alignment_mass(weights, links)
    assert type(result) is float
    assert math.isclose(result, mass, rel_tol=1e-14)
    assert alignment_mass(torch.eye(3), [(0, 0), (1, 1), (2, 2)]) == 1.0
    assert alignment_mass(torch.eye(3), [(0, 1), (1, 1)]) == 0.5


def test_alignment_mass_refuses_no_links():
    with pytest.raises(ValueError, match=r"^links is empty: there is"):
        alignment_mass(torch.eye(3), [])


# Memory and gradients


@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_layout_changes_nothing(dtype):
    def turned(part):
        return torch.stack([part, -part], dim=-1)[..., 0]

    state, keys, values = source((2,), dtype)
    parameters = network(dtype)
    moved = [turned(part) for part in (state, keys, values, *parameters)]
    assert not any(part.is_contiguous() for part in moved)
    for one, other in zip(
        additive_attention(*moved),
        additive_attention(state, keys, values, *parameters),
        strict=True,
    ):
        assert_same(one, other, dtype)
    arguments = normal(2, 3, dtype=dtype), normal(2, 4, dtype=dtype), *unit(dtype)
    assert_same(gru_step(*map(turned, arguments)), gru_step(*arguments), dtype)


def test_gradients_reach_every_argument():
    state, keys, values = source()
    x, tables = normal(2), unit(d_in=8, d_h=3)
    names = ("w_q", "w_k", "v", "w_x", "w_h", "b_x", "b_h")
    parameters = dict(zip(names, (*network(), *tables), strict=True))
    every = (x, state, keys, values, *parameters.values())
    for part in every:
        part.requires_grad_()
    new, _, _ = decoder_step(x, state, keys, values, parameters)
    new.sum().backward()
    assert all(part.grad is not None and part.grad.abs().sum() > 0 for part in every)
