import cmath
import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("sinusoidal_encoding")


def table(n, d_model, angle, waves=(math.sin, math.cos)):
    """Fill a table in loops; angle(t, i) belongs to position t and pair i."""
    return np.array(
        [[waves[c % 2](angle(t, c // 2)) for c in range(d_model)] for t in range(n)]
    ).reshape(n, d_model)


@answers.correct
def loops(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: t / base ** (2 * i / d_model))


@answers.correct
def exponentials_of_logarithms(n, d_model, base=10000.0):
    position = np.arange(n)[:, None]
    div_term = np.exp(np.arange(0, d_model, 2) * -(math.log(base) / d_model))
    pe = np.zeros((n, d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)[:, : d_model // 2]
    return pe


@answers.correct
def one_angle_per_column(n, d_model, base=10000.0):
    columns = np.arange(d_model)
    frequencies = 1 / np.power(base, 2 * (columns // 2) / d_model)
    angles = np.arange(n)[:, np.newaxis] * frequencies[np.newaxis, :]
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles


@answers.correct
def sine_with_a_phase(n, d_model, base=10000.0):
    columns = np.arange(d_model)
    angles = np.outer(np.arange(n), base ** -((columns - columns % 2) / d_model))
    return np.sin(angles + np.pi / 2 * (columns % 2))


@answers.correct
def complex_numbers(n, d_model, base=10000.0):
    pairs = np.arange((d_model + 1) // 2)
    turned = np.exp(1j * np.outer(np.arange(n), base ** (-2 * pairs / d_model)))
    both = np.stack([turned.imag, turned.real], axis=-1)
    return both.reshape(n, -1)[:, :d_model]


@answers.correct
def in_pytorch(n, d_model, base=10000.0):
    position = torch.arange(n, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = position * torch.exp(-math.log(base) * even / d_model)
    encoding = torch.empty(n, d_model, dtype=torch.float64)
    encoding[:, 0::2] = torch.sin(angles)
    encoding[:, 1::2] = torch.cos(angles[:, : d_model // 2])
    return encoding.numpy()


@answers.correct
def columns_first_in_memory(n, d_model, base=10000.0):
    return np.asfortranarray(exponentials_of_logarithms(n, d_model, base))


@answers.correct
def turned_step_by_step(n, d_model, base=10000.0):
    """Return position t + 1 by turning position t once more."""
    encoding = np.zeros((n, d_model))
    for i in range((d_model + 1) // 2):
        step = cmath.exp(1j * base ** (-2 * i / d_model))
        hand = 1 + 0j
        for t in range(n):
            pair = [hand.imag, hand.real]
            encoding[t, 2 * i : 2 * i + 2] = pair[: d_model - 2 * i]
            hand *= step
    return encoding


class Encoding:
    def __call__(self, n, d_model, base=10000.0):
        even = np.arange(0, d_model, 2)
        angles = np.einsum("t,i->ti", np.arange(n), base ** (-even / d_model))
        encoding = np.empty((n, d_model))
        encoding[:, even] = np.sin(angles)
        encoding[:, even[: d_model // 2] + 1] = np.cos(angles)[:, : d_model // 2]
        return encoding


answers.right["callable_object"] = Encoding()
answers.right["partial"] = functools.partial(
    lambda first, n, d_model, base=10000.0: loops(first + n, d_model, base)[first:], 0
)


@answers.other
def waves_of_whole_turns(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: 2 * math.pi * t / base ** (2 * i / d_model))


@answers.other
def counted_backwards(n, d_model, base=10000.0):
    return loops(n, d_model, base)[::-1].copy()


@answers.other
def even_sizes_only(n, d_model, base=10000.0):
    d_model += d_model % 2
    return loops(n, d_model, base)
