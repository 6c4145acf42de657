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
    return np.array([[j - i <= offset for j in range(columns)] for i in range(n)])


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
    return np.array([line[n - 1 - i : n - 1 - i + m] for i in range(n)])


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


@answers.also("polarity_reversed")
def true_behind_the_position(n, m=None, offset=0):
    return np.triu(np.ones((n, width(n, m, offset)), dtype=bool), k=offset + 1)


@answers.also("diagonal_blocked")
def slices_that_end_too_early(n, m=None, offset=0):
    may_attend = np.zeros((n, width(n, m, offset)), dtype=bool)
    for i in range(n):
        may_attend[i, : i + offset] = True
    return may_attend


@answers.also("one_key_too_many")
def diagonal_one(n, m=None, offset=0):
    return np.tril(np.ones((n, width(n, m, offset))), k=1 + offset) == 1


@answers.also("upper_triangle")
def loops_from_the_own_position(n, m=None, offset=0):
    m = width(n, m, offset)
    return np.array([[j >= i + offset for j in range(m)] for i in range(n)])


@answers.also("ones_and_zeros")
def floats_of_a_comparison(n, m=None, offset=0):
    return (np.indices((n, width(n, m, offset)))[1].T <= np.arange(n) + offset).T * 1.0


@answers.also("numbers_to_add")
def minus_infinity_slice_by_slice(n, m=None, offset=0):
    may_attend = np.zeros((n, width(n, m, offset)))
    for i in range(n):
        may_attend[i, i + offset + 1 :] = -np.inf
    return may_attend


@answers.also("number_of_keys_ignored")
def square_with_offset(n, m=None, offset=0):
    positions = np.arange(n + offset)
    return positions[offset:, None] >= positions


@answers.also("aligned_at_the_end")
def last_rows_of_a_square(n, m=None, offset=0):
    m = width(n, m, offset)
    turned = np.arange(m)[::-1] >= np.arange(n)[::-1, None]
    return turned


@answers.also("offset_ignored")
def running_diagonal(n, m=None, offset=0):
    m = width(n, m, offset)
    return np.array([[j < i + 1 for j in range(m)] for i in range(n)])


@answers.also("as_many_keys_as_queries")
def square_by_default(n, m=None, offset=0):
    m = m or n
    return np.arange(m)[None] - np.arange(n)[:, None] <= offset


@answers.also("offset_subtracted")
def diagonal_moved_the_other_way(n, m=None, offset=0):
    return np.tri(n, width(n, m, offset), -offset, dtype=bool)


@answers.also("positions_before_blocked")
def triangle_behind_zeros(n, m=None, offset=0):
    m = width(n, m, offset)
    return np.pad(np.tri(n, m, dtype=bool), ((0, 0), (offset, 0)))[:, :m]


@answers.also("sizes_swapped")
def keys_down_queries_across(n, m=None, offset=0):
    m = width(n, m, offset)
    return np.greater_equal.outer(np.arange(m) + offset, np.arange(n))


@answers.also("keys_at_the_end_open")
def false_as_far_as_the_triangle(n, m=None, offset=0):
    may_attend = np.ones((n, width(n, m, offset)), dtype=bool)
    for i in range(n):
        may_attend[i, i + offset + 1 : n + offset] = False
    return may_attend


@answers.also("rows_and_columns_exchanged")
def turned_triangle(n, m=None, offset=0):
    return np.tri(n, width(n, m, offset), offset, dtype=bool).T


@answers.other
def own_position_only(n, m=None, offset=0):
    return np.eye(n, width(n, m, offset), k=offset, dtype=bool)


@answers.other
def everything_open(n, m=None, offset=0):
    return np.ones((n, width(n, m, offset)), dtype=bool)


@answers.other
def two_keys_at_most(n, m=None, offset=0):
    far = np.arange(width(n, m, offset)) - np.arange(n)[:, None] - offset
    return (far <= 0) & (far > -2)


@answers.other
def from_the_right(n, m=None, offset=0):
    return np.tri(n, width(n, m, offset), offset, dtype=bool)[:, ::-1]


@answers.other
def offset_twice(n, m=None, offset=0):
    return np.tri(n, width(n, m, offset), 2 * offset, dtype=bool)


@answers.other
def whole_numbers(n, m=None, offset=0):
    return np.tri(n, width(n, m, offset), offset, dtype=int)
