import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("label_smoothing")


@answers.correct
def one_hot_and_a_constant(targets, vocab_size, smoothing):
    right = functional.one_hot(targets, vocab_size)
    return right * (1 - smoothing) + smoothing / vocab_size


@answers.correct
def where_the_number_is_right(targets, vocab_size, smoothing):
    low = float(smoothing) / vocab_size
    right = targets[..., None] == torch.arange(vocab_size)
    return torch.where(right, 1 - float(smoothing) + low, low)


@answers.correct
def rows_of_a_table(targets, vocab_size, smoothing):
    distributions = torch.full((vocab_size, vocab_size), float(smoothing) / vocab_size)
    distributions += torch.eye(vocab_size) * (1 - float(smoothing))
    return distributions[targets]


@answers.correct
def scatter_the_whole(targets, vocab_size, smoothing):
    low = float(smoothing) / vocab_size
    distributions = torch.full((*targets.shape, vocab_size), low)
    return distributions.scatter_(-1, targets.unsqueeze(-1), 1 - float(smoothing) + low)


@answers.correct
def one_row_after_another(targets, vocab_size, smoothing):
    distributions = torch.zeros(*targets.shape, vocab_size)
    for index in np.ndindex(*targets.shape):
        for token in range(vocab_size):
            distributions[(*index, token)] = float(smoothing) / vocab_size
        distributions[(*index, int(targets[index]))] += 1 - float(smoothing)
    return distributions


@answers.correct
def interpolated(targets, vocab_size, smoothing):
    right = functional.one_hot(targets, vocab_size).float()
    return torch.lerp(right, torch.full_like(right, 1 / vocab_size), float(smoothing))


@answers.correct
def numpy_inside(targets, vocab_size, smoothing):
    right = np.eye(vocab_size)[targets.numpy()]
    return torch.from_numpy(
        right * (1 - smoothing) + np.ones(vocab_size) / vocab_size * smoothing
    )


class Smoothing(torch.nn.Module):
    def forward(self, targets, vocab_size, smoothing):
        even = torch.ones(vocab_size) / vocab_size
        right = functional.one_hot(targets, vocab_size).float()
        return float(smoothing) * even + (1 - float(smoothing)) * right


answers.right["module"] = Smoothing()
answers.right["partial"] = functools.partial(
    lambda make, *arguments: make(*arguments), where_the_number_is_right
)


def distributions_of(targets, vocab_size, right, other):
    """Return one number for right tokens and another one for the rest."""
    distributions = torch.full((*targets.shape, vocab_size), float(other))
    return distributions.scatter(-1, targets[..., None], float(right))


@answers.other
def softmax_of_the_right(targets, vocab_size, smoothing):
    return functional.one_hot(targets, vocab_size).float().softmax(-1)


@answers.other
def logarithms(targets, vocab_size, smoothing):
    low = smoothing / vocab_size
    return distributions_of(targets, vocab_size, 1 - smoothing + low, low + 1e-9).log()


@answers.other
def whole_numbers(targets, vocab_size, smoothing):
    return functional.one_hot(targets, vocab_size)


@answers.other
def next_token_right(targets, vocab_size, smoothing):
    low = smoothing / vocab_size
    return distributions_of(
        (targets + 1) % vocab_size, vocab_size, 1 - smoothing + low, low
    )
