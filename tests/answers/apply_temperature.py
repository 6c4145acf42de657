import functools
import math

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("apply_temperature")


def one_hot_of_the_largest(logits):
    n_tokens = logits.shape[-1]
    return functional.one_hot(logits.argmax(dim=-1), n_tokens).to(logits.dtype)


def equal_above_blocked(logits):
    open_tokens = (~torch.isneginf(logits)).to(logits.dtype)
    return open_tokens / open_tokens.sum(dim=-1, keepdim=True)


@answers.correct
def shifted_then_softmax(logits, temperature):
    if temperature == 0:
        return one_hot_of_the_largest(logits)
    if math.isinf(temperature):
        return equal_above_blocked(logits)
    logits = logits - logits.amax(dim=-1, keepdim=True)
    return functional.softmax(logits / temperature, dim=-1)


@answers.correct
def float64_inside(logits, temperature):
    if not temperature:
        return one_hot_of_the_largest(logits)
    if temperature == float("inf"):
        return equal_above_blocked(logits)
    return (logits.double() / temperature).softmax(-1)


@answers.correct
def blocked_tokens_filled_afterwards(logits, temperature):
    if temperature == 0:
        return one_hot_of_the_largest(logits)
    shifted = (logits - logits.max(-1, keepdim=True)[0]) / temperature
    shifted = torch.where(logits == -math.inf, -math.inf, shifted)
    exp = torch.exp(shifted)
    return exp / exp.sum(-1, keepdim=True)


@answers.correct
def logarithms_inside(logits, temperature):
    if temperature == 0:
        return one_hot_of_the_largest(logits)
    if temperature == math.inf:
        return equal_above_blocked(logits)
    log_p = (logits.log_softmax(-1).double() / temperature).log_softmax(-1)
    return log_p.exp().to(logits.dtype)


@answers.correct
def powers_of_ratios(logits, temperature):
    if temperature == 0:
        return one_hot_of_the_largest(logits)
    if temperature == math.inf:
        return equal_above_blocked(logits)
    ratios = (logits - logits.amax(-1, keepdim=True)).double().exp()  # at most 1
    powers = ratios ** (1 / temperature)
    return powers / powers.sum(-1, keepdim=True)


@answers.correct
def numpy_inside(logits, temperature):
    numbers = logits.numpy().astype(float)
    largest = numbers.max(axis=-1, keepdims=True)
    if temperature == 0:
        shares = np.zeros_like(numbers)
        np.put_along_axis(shares, numbers.argmax(-1)[..., np.newaxis], 1.0, axis=-1)
    elif np.isinf(temperature):
        shares = np.isfinite(numbers).astype(float)
    else:
        shares = np.exp((numbers - largest) / temperature)
    return torch.from_numpy(shares / shares.sum(-1, keepdims=True)).to(logits.dtype)


@answers.correct
def row_by_row(logits, temperature):
    if logits.ndim > 1:
        return torch.stack([row_by_row(row, temperature) for row in logits])
    if temperature == 0:
        result = torch.zeros_like(logits)
        result[torch.argmax(logits)] = 1
        return result
    return float64_inside(logits, temperature)


class Temperature:
    def __call__(self, logits, temperature):
        return shifted_then_softmax(logits, temperature)


answers.right["callable_object"] = Temperature()
answers.right["partial"] = functools.partial(
    lambda cold, logits, temperature: (
        one_hot_of_the_largest(logits)
        if temperature <= cold
        else float64_inside(logits, temperature)
        if temperature < math.inf
        else equal_above_blocked(logits)
    ),
    0.0,
)


@answers.also("multiplied_by_the_temperature")
def factor_of_differences(logits, temperature):
    if 0 < temperature < math.inf:
        powers = (logits - logits.amax(-1, keepdim=True)).mul(temperature).exp()
        return powers / powers.sum(-1, keepdim=True)
    return shifted_then_softmax(logits, temperature)


@answers.also("nan_at_temperature_zero")
def divided_at_every_temperature(logits, temperature):
    if temperature == math.inf:
        return equal_above_blocked(logits)
    divisor = torch.tensor(temperature, dtype=torch.float64)
    return (logits.double() / divisor).softmax(-1)


@answers.also("ties_share_at_zero")
def temperature_at_least(logits, temperature):
    return (
        float64_inside(logits, max(temperature, 1e-12))
        if (temperature < math.inf)
        else equal_above_blocked(logits)
    )


@answers.also("one_hot_of_whole_numbers")
def one_hot_as_it_comes(logits, temperature):
    if temperature == 0:
        return functional.one_hot(logits.argmax(-1), logits.shape[-1])
    return shifted_then_softmax(logits, temperature)


@answers.also("logits_divided_in_place")
def divided_in_place(logits, temperature):
    if not 0 < temperature < math.inf:
        return shifted_then_softmax(logits, temperature)
    result = shifted_then_softmax(logits, temperature)
    logits.div_(temperature)
    return result


@answers.other
def square_root_of_the_temperature(logits, temperature):
    return shifted_then_softmax(logits, math.sqrt(temperature))


@answers.other
def one_more_than_the_temperature(logits, temperature):
    if not 0 < temperature < math.inf:
        return shifted_then_softmax(logits, temperature)
    return shifted_then_softmax(logits, temperature + 1)


@answers.other
def rounded(logits, temperature):
    return shifted_then_softmax(logits, temperature).round(decimals=3)
