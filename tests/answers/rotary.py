import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("rotary")


def refuse_odd(x):
    if x.shape[-1] % 2 == 1:
        raise ValueError("d_k has to be even")


def in_loops(x, angle, pairs=None):
    """Turn in loops; angle(row, i) is that of pair i, pairs(i) its two columns."""
    pairs = pairs or (lambda i: (2 * i, 2 * i + 1))
    turned = np.array(x, dtype=float)
    for index in np.ndindex(x.shape[:-1]):
        for i in range(x.shape[-1] // 2):
            one, two = pairs(i)
            a, b, phi = x[*index, one], x[*index, two], angle(index[-1], i)
            turned[*index, one] = a * math.cos(phi) - b * math.sin(phi)
            turned[*index, two] = a * math.sin(phi) + b * math.cos(phi)
    return turned


def plain_angle(x, positions, base):
    return lambda row, i: int(positions[row]) / base ** (2 * i / x.shape[-1])


@answers.correct
def loop_over_pairs(x, positions, base=10000.0):
    refuse_odd(x)
    return in_loops(x, plain_angle(x, positions, base))


@answers.correct
def complex_numbers(x, positions, base=10000.0):
    refuse_odd(x)
    d_k = x.shape[-1]
    frequencies = base ** -(np.arange(0, d_k, 2) / d_k)
    hands = x[..., 0::2] + 1j * x[..., 1::2]
    hands = hands * np.exp(1j * np.outer(positions, frequencies))
    turned = np.empty(x.shape)
    turned[..., 0::2], turned[..., 1::2] = hands.real, hands.imag
    return turned


@answers.correct
def seen_as_complex(x, positions, base=10000.0):
    refuse_odd(x)
    d_k = x.shape[-1]
    hands = np.ascontiguousarray(x, dtype=float).view(complex)
    angles = np.asarray(positions)[:, None] / base ** (np.arange(0, d_k, 2) / d_k)
    return (hands * (np.cos(angles) + 1j * np.sin(angles))).view(float)


@answers.correct
def quarter_turn_added(x, positions, base=10000.0):
    refuse_odd(x)
    d_k = x.shape[-1]
    angles = np.outer(positions, np.exp(-math.log(base) * np.arange(0, d_k, 2) / d_k))
    angles = np.repeat(angles, 2, axis=-1)
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    quarter = (pairs[..., ::-1] * [-1, 1]).reshape(x.shape)
    return x * np.cos(angles) + quarter * np.sin(angles)


@answers.correct
def one_matrix_per_position(x, positions, base=10000.0):
    refuse_odd(x)
    n, d_k = x.shape[-2:]
    matrices = np.zeros((n, d_k, d_k))
    for t, position in enumerate(positions):
        for c in range(0, d_k, 2):
            phi = position * base ** (-c / d_k)
            matrices[t, c : c + 2, c : c + 2] = [
                [math.cos(phi), math.sin(phi)],
                [-math.sin(phi), math.cos(phi)],
            ]
    return np.einsum("...tc,tce->...te", x, matrices)


@answers.correct
def lengths_and_directions(x, positions, base=10000.0):
    refuse_odd(x)
    d_k = x.shape[-1]
    a, b = x[..., 0::2].astype(float), x[..., 1::2].astype(float)
    phi = np.arctan2(b, a) + np.outer(positions, base ** (-np.arange(0, d_k, 2) / d_k))
    turned = np.stack([np.cos(phi), np.sin(phi)], -1) * np.hypot(a, b)[..., None]
    return turned.reshape(x.shape)


@answers.correct
def in_pytorch(x, positions, base=10000.0):
    refuse_odd(x)
    tensor = torch.tensor(x, dtype=torch.float64)
    positions = torch.as_tensor(np.asarray(positions), dtype=torch.float64)
    even = torch.arange(0, x.shape[-1], 2, dtype=torch.float64)
    angles = torch.outer(positions, base ** (-even / x.shape[-1]))
    hands = torch.view_as_complex(tensor.unflatten(-1, (-1, 2)))
    turned = hands * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).numpy()


@answers.correct
def columns_first_in_memory(x, positions, base=10000.0):
    return np.asfortranarray(complex_numbers(x, positions, base))


class OddSize(ValueError):
    pass


class Rotary:
    def __init__(self, base):
        self.base = base

    def __call__(self, x, positions, base=None):
        if x.shape[-1] & 1:
            raise OddSize
        return complex_numbers(x, positions, base or self.base)


answers.right["callable_object"] = Rotary(10000)
answers.right["partial"] = functools.partial(
    lambda sign, x, positions, base=10000.0: quarter_turn_added(
        x, [sign * int(position) for position in positions], base
    ),
    1,
)


@answers.also("first_overwritten")
def loop_into_the_same_row(x, positions, base=10000.0):
    refuse_odd(x)
    angle = plain_angle(x, positions, base)
    turned = x * 1.0
    for index in np.ndindex(x.shape[:-1]):
        row = turned[index]
        for i in range(len(row) // 2):
            sine, cosine = math.sin(angle(index[-1], i)), math.cos(angle(index[-1], i))
            row[2 * i] = row[2 * i] * cosine - row[2 * i + 1] * sine
            row[2 * i + 1] = row[2 * i] * sine + row[2 * i + 1] * cosine
    return turned


@answers.also("turned_in_place")
def assigned_to_slices(x, positions, base=10000.0):
    refuse_odd(x)
    turned = complex_numbers(x, positions, base)
    x[..., 0::2], x[..., 1::2] = turned[..., 0::2], turned[..., 1::2]
    return x


@answers.other
def turned_in_degrees(x, positions, base=10000.0):
    refuse_odd(x)
    angle = plain_angle(x, positions, base)
    return in_loops(x, lambda row, i: math.radians(angle(row, i)))


@answers.other
def turned_and_added(x, positions, base=10000.0):
    return x + complex_numbers(x, positions, base)


@answers.other
def turned_to_length_one(x, positions, base=10000.0):
    turned = complex_numbers(x, positions, base)
    return turned / np.linalg.norm(turned, axis=-1, keepdims=True)
