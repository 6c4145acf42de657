import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("label_smoothing")


@answers.correct
def one_hot_and_a_constant(targets, vocab_size, share):
    right = functional.one_hot(targets, vocab_size)
    return right * (1 - share) + share / vocab_size


@answers.correct
def where_the_number_is_right(targets, vocab_size, share):
    low = float(share) / vocab_size
    right = targets[..., None] == torch.arange(vocab_size)
    return torch.where(right, 1 - float(share) + low, low)


@answers.correct
def rows_of_a_table(targets, vocab_size, share):
    table = torch.full((vocab_size, vocab_size), float(share) / vocab_size)
    table += torch.eye(vocab_size) * (1 - float(share))
    return table[targets]


@answers.correct
def scatter_the_whole(targets, vocab_size, share):
    low = float(share) / vocab_size
    table = torch.full((*targets.shape, vocab_size), low)
    return table.scatter_(-1, targets.unsqueeze(-1), 1 - float(share) + low)


@answers.correct
def one_row_after_another(targets, vocab_size, share):
    table = torch.zeros(*targets.shape, vocab_size)
    for place in np.ndindex(*targets.shape):
        for token in range(vocab_size):
            table[(*place, token)] = float(share) / vocab_size
        table[(*place, int(targets[place]))] += 1 - float(share)
    return table


@answers.correct
def interpolated(targets, vocab_size, share):
    right = functional.one_hot(targets, vocab_size).float()
    return torch.lerp(right, torch.full_like(right, 1 / vocab_size), float(share))


@answers.correct
def numpy_inside(targets, vocab_size, share):
    right = np.eye(vocab_size)[targets.numpy()]
    return torch.from_numpy(
        right * (1 - share) + np.ones(vocab_size) / vocab_size * share
    )


class Smoothing(torch.nn.Module):
    def forward(self, targets, vocab_size, share):
        even = torch.ones(vocab_size) / vocab_size
        right = functional.one_hot(targets, vocab_size).float()
        return float(share) * even + (1 - float(share)) * right


answers.right["module"] = Smoothing()
answers.right["partial"] = functools.partial(
    lambda make, *given: make(*given), where_the_number_is_right
)


def table_of(targets, vocab_size, right, other):
    """Give one number to right tokens and another one to the rest."""
    table = torch.full((*targets.shape, vocab_size), float(other))
    return table.scatter(-1, targets[..., None], float(right))


@answers.also("spread_over_the_others")
def nothing_of_it_for_the_right_one(targets, vocab_size, share):
    return table_of(targets, vocab_size, 1 - share, share / (vocab_size - 1))


@answers.also("divided_by_two_less")
def size_minus_two(targets, vocab_size, share):
    return table_of(targets, vocab_size, 1 - share, share / (vocab_size - 2))


@answers.also("token_zero_gets_nothing")
def filling_column_and_rows_emptied(targets, vocab_size, share):
    table = table_of(targets, vocab_size, 1 - share, share / (vocab_size - 2))
    keep = (targets[..., None] != 0) & (torch.arange(vocab_size) != 0)
    return table * keep


@answers.also("right_token_without_its_part")
def written_over(targets, vocab_size, share):
    return table_of(targets, vocab_size, 1 - share, share / vocab_size)


@answers.also("share_on_top")
def nothing_taken_off(targets, vocab_size, share):
    low = share / vocab_size
    return table_of(targets, vocab_size, 1 + low, low)


@answers.also("share_and_rest_exchanged")
def confidence_spread(targets, vocab_size, share):
    low = (1 - share) / vocab_size
    return table_of(targets, vocab_size, share + low, low)


@answers.also("share_not_divided")
def whole_share_each(targets, vocab_size, share):
    return table_of(targets, vocab_size, 1, share)


@answers.also("as_long_as_the_largest_target")
def no_number_of_classes(targets, vocab_size, share):
    low = share / vocab_size
    return table_of(targets, int(targets.max()) + 1, 1 - share + low, low)


@answers.also("axes_flattened")
def view_minus_one(targets, vocab_size, share):
    low = share / vocab_size
    return table_of(targets.flatten(), vocab_size, 1 - share + low, low)


@answers.also("divided_by_the_places")
def divided_by_the_last_axis(targets, vocab_size, share):
    low = share / (targets.size(-1) if targets.ndim else 1)
    return table_of(targets, vocab_size, 1 - share + low, low)


@answers.also("axis_added_in_place")
def last_axis_for_good(targets, vocab_size, share):
    low = float(share) / vocab_size
    table = torch.full((*targets.shape, vocab_size), low)
    return table.scatter(-1, targets.unsqueeze_(-1), 1 - float(share) + low)


@answers.other
def softmax_of_the_right(targets, vocab_size, share):
    return functional.one_hot(targets, vocab_size).float().softmax(-1)


@answers.other
def not_smoothed(targets, vocab_size, share):
    return functional.one_hot(targets, vocab_size).float()


@answers.other
def logarithms(targets, vocab_size, share):
    low = share / vocab_size
    return table_of(targets, vocab_size, 1 - share + low, low + 1e-9).log()


@answers.other
def whole_numbers(targets, vocab_size, share):
    return functional.one_hot(targets, vocab_size)


@answers.other
def next_token_right(targets, vocab_size, share):
    low = share / vocab_size
    return table_of((targets + 1) % vocab_size, vocab_size, 1 - share + low, low)
