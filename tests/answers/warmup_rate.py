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


@answers.also("divided_by_step_zero")
def one_over_the_root_of_the_step(step, d_model, warmup_steps):
    falling = 1 / math.sqrt(step)
    return min(falling, step / warmup_steps**1.5) / math.sqrt(d_model)


@answers.also("first_learning_rate_zero")
def grown_from_nothing(step, d_model, warmup_steps):
    grown = step / warmup_steps
    fallen = math.sqrt(warmup_steps / step) if step else 1.0
    return min(grown, fallen) / math.sqrt(d_model * warmup_steps)


@answers.also("first_learning_rate_twice")
def step_zero_taken_for_one(step, d_model, warmup_steps):
    return learning_rate(step or 1, d_model, warmup_steps)


@answers.also("one_step_too_far")
def one_added_twice(step, d_model, warmup_steps):
    return learning_rate(step + 2, d_model, warmup_steps)


@answers.also("larger_of_the_two")
def sorted_the_other_way(step, d_model, warmup_steps):
    terms = [1 / math.sqrt(step + 1), (step + 1) / warmup_steps**1.5]
    return sorted(terms)[-1] / math.sqrt(d_model)


@answers.also("root_of_d_model_forgotten")
def d_model_itself(step, d_model, warmup_steps):
    return learning_rate(step + 1, d_model**2, warmup_steps)


@answers.also("multiplied_by_the_root")
def root_on_the_wrong_side(step, d_model, warmup_steps):
    return math.sqrt(d_model) * learning_rate(step + 1, 1, warmup_steps)


@answers.also("peak_of_one")
def share_of_the_peak(step, d_model, warmup_steps):
    number = step + 1
    return (
        number / warmup_steps
        if number < warmup_steps
        else math.sqrt(warmup_steps / number)
    )


@answers.also("d_model_left_out")
def same_for_all_models(step, d_model, warmup_steps):
    return learning_rate(step + 1, 1, warmup_steps)


@answers.also("growth_too_steep")
def wrong_exponent(step, d_model, warmup_steps):
    number = step + 1
    terms = 1 / math.sqrt(number), number / math.sqrt(warmup_steps)
    return min(terms) / math.sqrt(d_model)


@answers.also("stays_at_the_peak")
def number_cut_at_warmup(step, d_model, warmup_steps):
    return learning_rate(min(step + 1, warmup_steps), d_model, warmup_steps)


@answers.also("falls_too_fast")
def peak_over_the_number(step, d_model, warmup_steps):
    peak, ratio = 1 / math.sqrt(d_model * warmup_steps), (step + 1) / warmup_steps
    return peak * ratio if ratio < 1 else peak / ratio


@answers.other
def tensor_instead_of_a_number(step, d_model, warmup_steps):
    return torch.tensor(learning_rate(step + 1, d_model, warmup_steps))


@answers.other
def no_growth(step, d_model, warmup_steps):
    return (d_model * (step + 1)) ** -0.5


@answers.other
def cosine_after_the_peak(step, d_model, warmup_steps):
    share = min(1, (step + 1) / warmup_steps)
    return (d_model * warmup_steps) ** -0.5 * math.sin(share * math.pi / 2)


@answers.other
def both_terms_added(step, d_model, warmup_steps):
    number = step + 1
    return (number**-0.5 + number * warmup_steps**-1.5) / d_model**0.5


@answers.other
def learning_rate_as_text(step, d_model, warmup_steps):
    return f"{learning_rate(step + 1, d_model, warmup_steps):.4f}"
