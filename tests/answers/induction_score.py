import functools

import torch

from tests.answers import Answers

answers = Answers("induction_score")


@answers.correct
def diagonal_of_the_second_half(weights, period):
    """Cut the diagonal out of the rows of the second half alone."""
    return weights[..., period:, :].diagonal(1, -2, -1).mean(dim=-1)


@answers.correct
def whole_diagonal_without_its_first(weights, period):
    return torch.diagonal(weights, 1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)


@answers.correct
def query_after_query(weights, period):
    total = 0.0
    for i in range(period, 2 * period):
        total = total + weights[..., i, i - (period - 1)]
    return total / period


@answers.correct
def mask_of_pairs(weights, period):
    i = torch.arange(2 * period)
    is_pair = (i[:, None] - i == period - 1) & (i[:, None] >= period)
    return torch.where(is_pair, weights, 0.0).sum(dim=(-2, -1)) / is_pair.sum()


@answers.correct
def gathered(weights, period):
    second = weights[..., period:, :]
    keys = torch.arange(1, period + 1)[:, None].expand(*second.shape[:-1], 1)
    return second.gather(-1, keys).squeeze(-1).mean(dim=-1)


@answers.correct
def shifted_identity(weights, period):
    right = torch.eye(2 * period, dtype=weights.dtype)[1 : period + 1]
    return torch.einsum("...ij,ij->...", weights[..., period:, :], right) / period


class Score:
    def __call__(self, weights, period):
        return query_after_query(weights, period)


answers.right["callable_object"] = Score()
answers.right["partial"] = functools.partial(
    lambda function, *arguments: function(*arguments), gathered
)


@answers.also("whole_diagonal")
def as_in_demonstrations(weights, period):
    return weights.diagonal(dim1=-2, dim2=-1, offset=1 - period).mean(-1)


@answers.also("token_itself")
def diagonal_a_period_below(weights, period):
    return weights.diagonal(-period, -2, -1).mean(dim=-1)


@answers.also("queries_and_keys_exchanged")
def above_the_diagonal(weights, period):
    return weights.diagonal(period - 1, -2, -1)[..., 1:].mean(-1)


@answers.other
def neighbours_too(weights, period):
    second = weights[..., period:, :]
    return sum(second.diagonal(k, -2, -1).mean(-1) for k in (0, 1)) / 2


@answers.other
def all_of_the_first_half(weights, period):
    return weights[..., period:, :period].sum(dim=-1).mean(dim=-1)


@answers.other
def root_of_the_mean_square(weights, period):
    picked = weights[..., period:, :].diagonal(1, -2, -1)
    return (picked**2).mean(dim=-1).sqrt()
