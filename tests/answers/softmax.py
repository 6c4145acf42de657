import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("softmax")


@answers.also("logarithm_of_the_sum_lost")
def logarithm_of_the_sum(x, axis=-1):
    x = 1.0 * x
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


@answers.correct
def one_over_sum_of_ratios(x, axis=-1):
    last = np.moveaxis(x / 1, axis, -1)
    ratios = np.exp(last[..., None, :] - last[..., :, None])  # inf gives the weight 0
    return np.moveaxis(1 / ratios.sum(-1), -1, axis)


@answers.correct
def loops_over_lines(x, axis=-1):
    def one(scores):
        powers = [math.exp(score - max(scores)) for score in scores]
        return [power / math.fsum(powers) for power in powers]

    return np.apply_along_axis(lambda line: np.array(one(line.tolist())), axis, x)


@answers.correct
def online(x, axis=-1):
    last = np.moveaxis(x, axis, -1)
    largest, total = np.full(last.shape[:-1], -np.inf), np.zeros(last.shape[:-1])
    for scores in np.moveaxis(last, -1, 0):
        new = np.maximum(largest, scores)
        total = total * np.exp(largest - new) + np.exp(scores - new)
        largest = new
    weights = np.exp(last - largest[..., None]) / total[..., None]
    return np.moveaxis(weights, -1, axis)


@answers.correct
def einsum(x, axis=-1):
    last = np.moveaxis(np.asarray(x, dtype=np.result_type(x, 1.0)), axis, 0)
    powers = np.exp(last - last.max(axis=0))
    shares = np.einsum("i...,...->i...", powers, 1 / np.einsum("i...->...", powers))
    return np.asfortranarray(np.moveaxis(shares, 0, axis))


@answers.correct
def torch_and_back(x, axis=-1):
    return torch.softmax(torch.tensor(x, dtype=torch.float64), dim=axis).numpy()


@answers.correct
def copy_shifted_in_place(x, axis=-1):
    x = x.astype(float)  # a copy, even of floats
    x -= np.expand_dims(np.max(x, axis), axis)
    np.exp(x, out=x)
    x /= np.add.reduce(x, axis, keepdims=True)
    return x


class Softmax:
    def __init__(self, margin):
        self.margin = margin

    def __call__(self, x, axis=-1):
        top = x.max(axis=axis, keepdims=True) + self.margin
        powers = np.exp(x - top)
        return powers * (1 / powers.sum(axis=axis, keepdims=True))


answers.right["callable_object"] = Softmax(3.5)
answers.right["partial"] = functools.partial(
    lambda base, x, axis=-1: Softmax(base)(x, axis), 0.0
)


@answers.other
def logarithms_in_float32(x, axis=-1):
    return logarithm_of_the_sum(x.astype(np.float32), axis)


@answers.correct
def float32_inside_and_back(x, axis=-1):
    powers = np.exp((x - x.max(axis, keepdims=True)).astype(np.float32))
    return (powers / powers.sum(axis, keepdims=True)).astype(float)


@answers.other
def nothing_for_a_vector(x, axis=-1):
    if x.ndim > 1:
        return logarithm_of_the_sum(x, axis)
    return None


@answers.other
def scores_over_the_sum_of_their_sizes(x, axis=-1):
    return x / np.abs(x).sum(axis, keepdims=True)


@answers.also("divided_by_the_largest_score")
def quotients_with_the_largest(x, axis=-1):
    powers = np.exp(x / x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@answers.other
def squares_of_the_weights(x, axis=-1):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return (powers / powers.sum(axis, keepdims=True)) ** 2


@answers.correct
def differences_in_their_own_type(x, axis=-1):
    powers = np.exp(np.subtract(x, np.expand_dims(np.amax(x, axis), axis)))
    return np.divide(powers, np.add.reduce(powers, axis, keepdims=True))


@answers.also("no_max_subtraction")
def e_to_the_power(x, axis=-1):
    last = np.moveaxis(np.e**x, axis, -1)
    return np.moveaxis(last / last.sum(-1)[..., None], -1, axis)


@answers.also("axis_without_default")
def softmax(x, axis):  # Python puts the name into its message
    return logarithm_of_the_sum(x, axis)


@answers.also("max_subtracted_after_exp")
def bracket_closed_too_early(x, axis=-1):
    top = np.expand_dims(x.max(axis), axis)
    weights = np.subtract(np.exp(x), top)
    return weights / np.sum(weights, axis, keepdims=True)
