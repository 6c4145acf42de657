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


@answers.also("sines_before_cosines")
def columns_in_another_order(n, d_model, base=10000.0):
    order = [*range(0, d_model, 2), *range(1, d_model, 2)]
    return loops(n, d_model, base)[:, order]


@answers.also("sines_first_untrimmed")
def two_blocks_in_loops(n, d_model, base=10000.0):
    def row(t):
        angles = [t / base ** (c / d_model) for c in range(0, d_model, 2)]
        return [*map(math.sin, angles), *map(math.cos, angles)]

    return np.array([row(t) for t in range(n)])


@answers.also("cosine_first")
def waves_in_the_other_order(n, d_model, base=10000.0):
    def angle(t, i):
        return t / base ** (2 * i / d_model)

    return table(n, d_model, angle, (math.cos, math.sin))


@answers.also("exponent_doubled")
def column_number_doubled(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: t / base ** (2 * (2 * i) / d_model))


@answers.also("exponent_doubled_and_odd_size_stops")
def tutorial_with_its_two_twice(n, d_model, base=10000.0):
    c = np.arange(0, d_model, 2)
    angles = np.arange(n)[:, None] * base ** (-2 * c / d_model)
    encoding = np.empty((n, d_model))
    encoding[:, ::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding


@answers.also("exponent_halved_and_odd_size_stops")
def pairs_numbered_alone(n, d_model, base=10000.0):
    i = np.arange(d_model // 2)
    angles = np.arange(n)[:, None] / np.power(base, i / d_model)
    encoding = np.empty((n, d_model))
    encoding[:, ::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding


@answers.also("exponent_halved")
def pair_number_alone(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: t / base ** (i / d_model))


@answers.also("frequency_by_column")
def loop_over_single_columns(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for c in range(d_model):
            angle = t / base ** (c / d_model)
            encoding[t, c] = math.cos(angle) if c % 2 else math.sin(angle)
    return encoding


@answers.also("frequency_by_column_doubled")
def column_number_as_i(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t, c in np.ndindex(n, d_model):
        angle = t / base ** (2 * c / d_model)
        encoding[t, c] = math.cos(angle) if c % 2 else math.sin(angle)
    return encoding


@answers.also("quotient_rounded")
def one_clock_hand(n, d_model, base=10000.0):
    pair = np.stack([np.sin(np.arange(n)), np.cos(np.arange(n))], axis=1)
    return np.tile(pair, (1, d_model))[:, :d_model]


@answers.also("logarithm_rounded")
def powers_of_e(n, d_model, base=10000.0):
    rounded = math.floor(-math.log(base) / d_model / 2)
    return table(n, d_model, lambda t, i: t * math.e ** (2 * i * rounded))


@answers.also("power_multiplied")
def loops_with_a_product(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: t * base ** (2 * i / d_model))


@answers.also("counted_from_one")
def first_row_dropped(n, d_model, base=10000.0):
    return loops(n + 1, d_model, base)[1:]


@answers.also("base_ignored")
def constant_in_the_loop(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: t / 10000 ** (2 * i / d_model))


@answers.also("last_pair_reaches_base")
def frequencies_spaced_evenly(n, d_model, base=10000.0):
    pairs = (d_model + 1) // 2
    if pairs == 1:
        return loops(n, d_model, base)
    powers = np.geomspace(1, 1 / base, pairs)
    return table(n, d_model, lambda t, i: t * powers[i])


@answers.also("odd_size_stops")
def as_in_the_tutorial(n, d_model, base=10000.0):
    position = np.arange(n)[:, None]
    div_term = np.exp(np.arange(0, d_model, 2) * -(math.log(base) / d_model))
    pe = np.zeros((n, d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)
    return pe


@answers.also("odd_size_stops_at_the_sines")
def whole_pairs_of_angles(n, d_model, base=10000.0):
    i = np.arange(d_model // 2)
    frequencies = np.exp(-math.log(base) * 2 * i / d_model)
    pe = np.empty((n, d_model))
    pe[:, 1::2] = np.cos(np.arange(n)[:, None] * frequencies)
    pe[:, 0::2] = np.sin(np.arange(n)[:, None] * frequencies)
    return pe


@answers.also("odd_column_left_empty")
def loop_over_whole_pairs(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for i in range(d_model // 2):
        for t in range(n):
            angle = t / base ** (2 * i / d_model)
            encoding[t, 2 * i] = math.sin(angle)
            encoding[t, 2 * i + 1] = math.cos(angle)
    return encoding


@answers.also("odd_column_missing")
def whole_pairs_flattened(n, d_model, base=10000.0):
    pairs = np.arange(d_model // 2)
    angles = np.arange(n)[:, None] / base ** (2 * pairs / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(n, -1)


@answers.also("angles_in_float32")
def loops_in_float32(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for c in range(d_model):
            frequency = np.float32(base ** (-(c - c % 2) / d_model))
            angle = np.float32(t) * frequency
            encoding[t, c] = np.cos(angle) if c % 2 else np.sin(angle)
    return encoding


@answers.other
def degrees(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: math.radians(t / base ** (2 * i / d_model)))


@answers.other
def slowest_first(n, d_model, base=10000.0):
    last = (d_model + 1) // 2 - 1
    return table(n, d_model, lambda t, i: t / base ** (2 * (last - i) / d_model))


@answers.other
def cosine_missing(n, d_model, base=10000.0):
    def angle(t, i):
        return t / base ** (2 * i / d_model)

    return table(n, d_model, angle, (math.sin, math.sin))


@answers.other
def divided_by_the_base_once(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: t * 2 * i / d_model / base)


@answers.other
def doubled_and_from_one(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: (t + 1) / base ** (4 * i / d_model))


@answers.other
def position_as_a_share_of_n(n, d_model, base=10000.0):
    return table(n, d_model, lambda t, i: t / n / base ** (2 * i / d_model))
