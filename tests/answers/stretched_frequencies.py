import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("stretched_frequencies")


def plain(d_k, base):
    if d_k % 2:
        raise ValueError("d_k is odd")
    return np.array([base ** (-2 * i / d_k) for i in range(d_k // 2)])


@answers.correct
def three_cases(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    result = []
    for frequency in plain(d_k, base):
        turns = trained * frequency / (2 * np.pi)
        if turns < slow:
            result.append(frequency / factor)
        elif turns > fast:
            result.append(frequency)
        else:
            gamma = (turns - slow) / (fast - slow)
            result.append((1 - gamma) * frequency / factor + gamma * frequency)
    return np.array(result)


@answers.correct
def quotient_of_wavelengths(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    wavelengths = 2 * np.pi / plain(d_k, base)
    gamma = (trained / wavelengths - slow) / (fast - slow)
    gamma = np.minimum(np.maximum(gamma, 0), 1)
    return 2 * np.pi / wavelengths * (gamma + (1 - gamma) / factor)


@answers.correct
def interpolated(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    frequencies = plain(d_k, base)
    turns = trained * frequencies / 2 / np.pi
    return frequencies * np.interp(turns, [slow, fast], [1 / factor, 1.0])


@answers.correct
def by_where(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    if d_k % 2 == 1:
        raise TypeError(d_k)
    omega = np.exp(-np.log(base) * np.arange(d_k // 2) * 2 / d_k)
    r = omega * trained / np.pi / 2
    gamma = (r - slow) / (fast - slow)
    mixed = gamma * omega + (1 - gamma) * omega / factor
    return np.where(r <= slow, omega / factor, np.where(r >= fast, omega, mixed))


@answers.correct
def taken_off(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    frequencies = plain(d_k, base)
    turns = trained * frequencies / (2 * np.pi)
    slowed = np.clip((fast - turns) / (fast - slow), 0, 1)
    return frequencies - slowed * (frequencies - frequencies / factor)


@answers.correct
def tensors(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    assert d_k % 2 == 0
    omega = base ** (-torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)
    gamma = (trained * omega / (2 * torch.pi) - slow) / (fast - slow)
    return torch.lerp(omega / factor, omega, gamma.clamp(0, 1)).numpy()


class Stretched:
    def __call__(self, d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
        return three_cases(d_k, factor, trained, slow, fast, base)


answers.right["callable_object"] = Stretched()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), interpolated
)


@answers.also("all_pairs_slowed_down")
def position_interpolation(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    return plain(d_k, base) / factor


@answers.also("angles_for_turns")
def radians(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    return three_cases(d_k, factor, trained * 2 * np.pi, slow, fast, base)


@answers.also("no_ramp")
def two_cases(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    omega = plain(d_k, base)
    return np.where(trained * omega < fast * 2 * np.pi, omega / factor, omega)


@answers.other
def smooth_ramp(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    omega = plain(d_k, base)
    gamma = np.clip((trained * omega / (2 * np.pi) - slow) / (fast - slow), 0, 1)
    gamma = 3 * gamma**2 - 2 * gamma**3
    return gamma * omega + (1 - gamma) * omega / factor


@answers.other
def factor_squared(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    return three_cases(d_k, factor**2, trained, slow, fast, base)


@answers.other
def one_pair_later(d_k, factor, trained, slow=1.0, fast=32.0, base=10000.0):
    return np.roll(three_cases(d_k, factor, trained, slow, fast, base), 1)
