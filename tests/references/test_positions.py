"""The references of lesson 05 against PyTorch and exact numbers, and what must hold."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.positions import (
    add_positions,
    rotary,
    shift_matrix,
    sinusoidal_encoding,
)
from tests.quick import all_but
from tests.references.arrays import normal

LEADING = [(), (2,), (2, 3), (1,), (0,)]
DTYPES = [np.float64, np.float32]
FAR = 10**5
# An angle t ω is off by a few units of roundoff, of ω and of the product: at position t
# by about t · 2e-16, and a sine is off by no more than its angle.
ROUNDOFF = 2.3e-16

exact = settings(max_examples=60, derandomize=True)
positions = st.integers(-1000, 1000)
even_sizes = st.integers(1, 16).map(lambda pairs: 2 * pairs)
bases = st.sampled_from([2.0, 100.0, 10000.0, 500000.0])


def within(actual, expected, bound):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=bound)


# Exact numbers: decimals of 60 digits, π by Machin, sine by its series


def arcus_tangent_of_one_over(x):
    """Sum 1/x − 1/(3x³) + 1/(5x⁵) − …"""
    power, total, k, sign = Decimal(1) / x, Decimal(0), 1, 1
    while power > Decimal(10) ** -70:
        total += sign * power / k
        power, k, sign = power / (x * x), k + 2, -sign
    return total


def exact_sine_and_cosine(t, exponent, base):
    """Return sin and cos of t · base ** exponent, exact before they become floats."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(base).ln() * exponent).exp()
        pi = 16 * arcus_tangent_of_one_over(5) - 4 * arcus_tangent_of_one_over(239)
        angle = (t * power) % (2 * pi)
        term, sums, k = Decimal(1), [Decimal(0), Decimal(0)], 0
        while k < 20 or abs(term) > Decimal(10) ** -50:
            sums[k % 2] += term if k % 4 < 2 else -term
            k += 1
            term = term * angle / k
        return float(sums[1]), float(sums[0])


def test_exact_sine_matches_the_standard_library():
    for t in (0, 1, 2, 3, 100):
        sine, cosine = exact_sine_and_cosine(t, Decimal(0), 10000)
        assert sine == pytest.approx(math.sin(t), abs=2e-16)
        assert cosine == pytest.approx(math.cos(t), abs=2e-16)


@pytest.mark.parametrize("d_model", all_but([4, 7, 12], [4, 7, 12, 512]))
def test_encoding_of_position_100000_is_exact(d_model):
    row = sinusoidal_encoding(FAR + 1, d_model)[FAR]
    for column in {0, 1, 2, 3, d_model // 2, d_model - 2, d_model - 1}:
        exponent = Decimal(-(column - column % 2)) / d_model
        wanted = exact_sine_and_cosine(FAR, exponent, 10000)[column % 2]
        within(row[column], wanted, FAR * ROUNDOFF)


def test_rotary_at_position_100000_is_exact():
    x = np.eye(8)[[0, 2, 4, 6]]
    turned = rotary(x, np.full(4, FAR))
    for i in range(4):
        sine, cosine = exact_sine_and_cosine(FAR, Decimal(-2 * i) / 8, 10000)
        within(turned[i, 2 * i : 2 * i + 2], [cosine, sine], FAR * ROUNDOFF)


def test_shift_by_100000_is_exact():
    matrix = shift_matrix(FAR, 8)
    for i in range(4):
        sine, cosine = exact_sine_and_cosine(FAR, Decimal(-2 * i) / 8, 10000)
        block = matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2]
        within(block, [[cosine, -sine], [sine, cosine]], FAR * ROUNDOFF)


def test_angles_in_float32_are_detected():
    speeds = (10000.0 ** (-np.arange(0, 12, 2) / 12)).astype(np.float32)
    rough = np.sin(np.float32(FAR) * speeds)
    row = sinusoidal_encoding(FAR + 1, 12)[FAR, 0::2]
    assert np.abs(rough - row).max() > 1e-4


# Against PyTorch


@pytest.mark.parametrize("d_model", [1, 2, 7, 12])
def test_sinusoidal_encoding_matches_pytorch(d_model):
    position = torch.arange(50, dtype=torch.float64)[:, None]
    column = torch.arange(d_model, dtype=torch.float64)
    exponent = 2 * torch.div(column, 2, rounding_mode="floor") / d_model
    angles = position / torch.pow(torch.tensor(10000.0).double(), exponent)
    theirs = torch.where(column % 2 == 0, torch.sin(angles), torch.cos(angles))
    mine = sinusoidal_encoding(50, d_model)
    assert mine.shape == (50, d_model) and mine.dtype == np.float64
    within(mine, theirs.numpy(), 50 * ROUNDOFF)


def test_no_positions_give_no_rows():
    assert sinusoidal_encoding(0, 6).shape == (0, 6)
    assert rotary(np.zeros((0, 6)), []).shape == (0, 6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_rotary_matches_complex_multiplication(leading, dtype):
    x = normal(*leading, 5, 8, dtype=dtype)
    positions = np.array([4, 9, 0, -7, 300])
    speeds = 10000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    angles = torch.outer(torch.from_numpy(positions).double(), speeds)
    hands = torch.view_as_complex(torch.from_numpy(x).double().unflatten(-1, (4, 2)))
    theirs = hands * torch.polar(torch.ones_like(angles), angles)
    theirs = torch.view_as_real(theirs).flatten(-2).numpy()
    mine = rotary(x, positions)
    assert mine.shape == x.shape and mine.dtype == dtype
    # Angles are computed in float64; the rest is two products and a sum in the dtype.
    within(mine, theirs, 1e-12 if dtype == np.float64 else 1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_add_positions_matches_an_embedding(leading, dtype):
    x, encoding = normal(*leading, 5, 12, dtype=dtype), normal(7, 12, dtype=dtype)
    table = torch.nn.Embedding.from_pretrained(torch.from_numpy(encoding))
    theirs = torch.from_numpy(x) + table(torch.arange(5))
    mine = add_positions(x, encoding)
    assert mine.dtype == dtype
    np.testing.assert_array_equal(mine, theirs.numpy())


@pytest.mark.parametrize("order", ["F", "swapped", "every second"])
def test_memory_layout_changes_nothing(order):
    x, encoding = normal(2, 5, 8), normal(9, 8, seed=1)

    def laid_out(a):
        if order == "F":
            return np.asfortranarray(a)
        if order == "swapped":
            return np.swapaxes(np.ascontiguousarray(np.swapaxes(a, -1, -2)), -1, -2)
        return np.repeat(a, 2, axis=-1)[..., ::2]

    assert not laid_out(x).flags.c_contiguous
    np.testing.assert_array_equal(rotary(laid_out(x), range(5)), rotary(x, range(5)))
    np.testing.assert_array_equal(
        add_positions(laid_out(x), laid_out(encoding)), add_positions(x, encoding)
    )


# What must hold for any numbers


@exact
@given(st.integers(0, 1000), positions, even_sizes, bases)
def test_shift_matrix_moves_a_row_by_k_positions(t, k, d_model, base):
    first = min(t, t + k)
    t, k = t - min(first, 0), k  # no position is before 0
    rows = sinusoidal_encoding(max(t, t + k) + 1, d_model, base)
    moved = rows[t] @ shift_matrix(k, d_model, base)
    within(moved, rows[t + k], 4 * (abs(k) + t + 1) * ROUNDOFF)


@exact
@given(positions, positions, even_sizes)
def test_shifts_compose_and_invert(k, more, d_model):
    there, further = shift_matrix(k, d_model), shift_matrix(more, d_model)
    bound = 4 * (abs(k) + abs(more) + 1) * ROUNDOFF
    within(there @ further, shift_matrix(k + more, d_model), bound)
    within(shift_matrix(-k, d_model), there.T, 0)
    within(there @ there.T, np.eye(d_model), 4 * ROUNDOFF)


@exact
@given(positions, positions, even_sizes, bases)
def test_rotations_compose(p, r, d_k, base):
    x = normal(3, d_k)
    once = rotary(x, [p + r] * 3, base)
    twice = rotary(rotary(x, [p] * 3, base), [r] * 3, base)
    within(twice, once, 20 * (abs(p) + abs(r) + 1) * ROUNDOFF)


@exact
@given(positions, positions, positions, even_sizes, bases)
def test_rotary_scores_depend_on_relative_positions(p, r, later, d_k, base):
    q, k = normal(1, d_k), normal(1, d_k, seed=1)
    score = rotary(q, [p], base) @ rotary(k, [r], base).T
    moved = rotary(q, [p + later], base) @ rotary(k, [r + later], base).T
    size = np.linalg.norm(q) * np.linalg.norm(k)
    turned = abs(p) + abs(r) + 2 * abs(later) + 1
    within(moved, score, 4 * turned * size * ROUNDOFF)


@exact
@given(positions, even_sizes)
def test_rotary_keeps_lengths(p, d_k):
    x = normal(4, d_k)
    turned = np.linalg.norm(rotary(x, [p] * 4), axis=-1)
    np.testing.assert_allclose(turned, np.linalg.norm(x, axis=-1), rtol=1e-15 * 4)


@exact
@given(st.integers(2, 60), even_sizes, bases)
def test_dot_products_of_encodings_depend_on_distance(n, d_model, base):
    encoding = sinusoidal_encoding(n, d_model, base)
    products = encoding @ encoding.T
    distances = np.abs(np.arange(n)[:, None] - np.arange(n))
    within(products, products[0][distances], 4 * n * d_model * ROUNDOFF)
    within(np.diag(products), d_model / 2, 4 * d_model * ROUNDOFF)


def test_rotary_of_unit_pairs_is_the_encoding():
    # (1, 0) becomes (cos φ, sin φ): the encoding with each pair's two changed over.
    unit = np.tile([1.0, 0.0], (6, 4))
    turned = rotary(unit, range(6)).reshape(6, 4, 2)[..., ::-1]
    np.testing.assert_array_equal(turned.reshape(6, 8), sinusoidal_encoding(6, 8))


# Errors


@pytest.mark.parametrize("d_model", [1, 7])
def test_odd_sizes_are_refused(d_model):
    with pytest.raises(ValueError, match=rf"^d_model={d_model} is odd"):
        shift_matrix(2, d_model)
    with pytest.raises(ValueError, match=rf"^d_k={d_model} is odd"):
        rotary(normal(3, d_model), range(3))


@pytest.mark.parametrize("n_positions", [1, 4])
def test_add_positions_refuses_too_many_tokens(n_positions):
    with pytest.raises(
        ValueError, match=rf"^5 tokens .* {n_positions} positions of the encoding"
    ):
        add_positions(normal(2, 5, 6), normal(n_positions, 6))
