import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("causal_mask")


def width(n, m, offset):
    return n + offset if m is None else m


@answers.correct
def lower_triangle(n, m=None, offset=0):
    return np.tril(np.ones((n, width(n, m, offset)), dtype=bool), k=offset)


@answers.correct
def upper_triangle_turned_round(n, m=None, offset=0):
    return ~np.triu(np.ones((n, width(n, m, offset)), dtype=bool), k=offset + 1)


@answers.correct
def a_slice_in_each_row(n, m=None, offset=0):
    may_attend = np.zeros((n, width(n, m, offset)), dtype=bool)
    for i, row in enumerate(may_attend):
        row[: i + offset + 1] = True
    return may_attend


@answers.correct
def lists_of_truths(n, m=None, offset=0):
    columns = width(n, m, offset)
    rows = [[j - i <= offset for j in range(columns)] for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, columns)


@answers.correct
def sums_of_a_shifted_diagonal(n, m=None, offset=0):
    own = np.eye(n, width(n, m, offset), k=offset)
    behind = own.cumsum(axis=1) - own
    positions = np.arange(n) + offset < width(n, m, offset)
    return (behind == 0) | ~positions[:, None]


@answers.correct
def indices(n, m=None, offset=0):
    row, column = np.indices((n, width(n, m, offset)))
    return np.asfortranarray(row + offset >= column)


@answers.correct
def torch_and_back(n, m=None, offset=0):
    ones = torch.ones(n, width(n, m, offset), dtype=torch.bool)
    return torch.tril(ones, diagonal=offset).numpy()


@answers.correct
def window_that_slides(n, m=None, offset=0):
    m = width(n, m, offset)
    line = np.arange(n + m - 1) < n + offset
    rows = [line[n - 1 - i : n - 1 - i + m] for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, m)


class Mask:
    def __init__(self, kind):
        self.kind = kind

    def __call__(self, n, m=None, offset=0):
        return np.tri(n, width(n, m, offset), offset).astype(self.kind)


answers.right["callable_object"] = Mask(bool)
answers.right["partial"] = functools.partial(
    lambda compare, n, m=None, offset=0: compare.outer(
        np.arange(n) + offset, np.arange(width(n, m, offset))
    ),
    np.greater_equal,
)


@answers.other
def from_the_right(n, m=None, offset=0):
    return np.tri(n, width(n, m, offset), offset, dtype=bool)[:, ::-1]


@answers.other
def two_keys_at_most(n, m=None, offset=0):
    far = np.arange(width(n, m, offset)) - np.arange(n)[:, None] - offset
    return (far <= 0) & (far > -2)


@answers.other
def half_of_the_positions(n, m=None, offset=0):
    return np.tri(n, width(n, m, offset), offset // 2, dtype=bool)
