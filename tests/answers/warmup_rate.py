import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("warmup_rate")


@answers.correct
def smaller_of_two(step, d_model, warmup_steps):
    number = step + 1
    return min(1 / math.sqrt(number), number / warmup_steps**1.5) / math.sqrt(d_model)


@answers.correct
def peak_times_a_share(step, d_model, warmup_steps):
    number = step + 1
    peak = 1 / math.sqrt(d_model * warmup_steps)
    return peak * (
        number / warmup_steps
        if number < warmup_steps
        else math.sqrt(warmup_steps / number)
    )


@answers.correct
def two_branches(step, d_model, warmup_steps):
    if step < warmup_steps:
        return d_model**-0.5 * (step + 1) * warmup_steps**-1.5
    return (d_model * (step + 1)) ** -0.5


@answers.correct
def through_logarithms(step, d_model, warmup_steps):
    log_number = math.log1p(step)
    exponent = min(-0.5 * log_number, log_number - 1.5 * math.log(warmup_steps))
    return math.exp(exponent - 0.5 * math.log(d_model))


@answers.correct
def numpy_number(step, d_model, warmup_steps):
    number = np.float64(step + 1)
    terms = np.array([number**-0.5, number * np.power(warmup_steps, -1.5)])
    return terms.min() * np.power(float(d_model), -0.5)


@answers.correct
def torch_inside(step, d_model, warmup_steps):
    number = torch.tensor(step + 1.0, dtype=torch.float64)
    least = torch.minimum(number.rsqrt(), number * warmup_steps**-1.5)
    return (least / d_model**0.5).item()


class Schedule:
    def __init__(self, first):
        self.first = first

    def __call__(self, step, d_model, warmup_steps):
        number = step + self.first
        return sorted([number**-0.5, number * warmup_steps**-1.5])[0] * d_model**-0.5


answers.right["callable_object"] = Schedule(1)
answers.right["partial"] = functools.partial(
    lambda least, step, d_model, warmup_steps: (
        least((step + 1) ** -0.5, (step + 1) / warmup_steps**1.5) / d_model**0.5
    ),
    min,
)


def learning_rate(number, d_model, warmup_steps):
    return min(1 / math.sqrt(number), number / warmup_steps**1.5) / math.sqrt(d_model)


@answers.other
def cosine_after_the_peak(step, d_model, warmup_steps):
    share = min(1, (step + 1) / warmup_steps)
    return (d_model * warmup_steps) ** -0.5 * math.sin(share * math.pi / 2)


@answers.other
def learning_rate_as_text(step, d_model, warmup_steps):
    return f"{learning_rate(step + 1, d_model, warmup_steps):.4f}"


@answers.other
def smooth_minimum(step, d_model, warmup_steps):
    terms = (step + 1) ** -0.5, (step + 1) * warmup_steps**-1.5
    return terms[0] * terms[1] / sum(terms) / d_model**0.5
