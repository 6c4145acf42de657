import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("sliding_window_mask")


@answers.correct
def difference_of_two_triangles(n, width):
    return np.tri(n, k=0, dtype=bool) ^ np.tri(n, k=-width, dtype=bool)


@answers.correct
def triangles_cut_from_both_sides(n, width):
    return np.triu(np.tril(np.ones((n, n), dtype=bool)), k=1 - width)


@answers.correct
def a_slice_in_each_row(n, width):
    may_attend = np.zeros((n, n), dtype=bool)
    for i in range(n):
        may_attend[i, max(0, i - width + 1) : i + 1] = True
    return may_attend


@answers.correct
def lists_of_truths(n, width):
    rows = [[0 <= i - j < width for j in range(n)] for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, n)


@answers.correct
def one_diagonal_after_the_other(n, width):
    may_attend = np.zeros((n, n), dtype=bool)
    for distance in range(min(n, width)):
        may_attend |= np.eye(n, k=-distance, dtype=bool)
    return may_attend


@answers.correct
def keys_counted_from_the_left(n, width):
    counts = np.cumsum(np.eye(n), axis=1)  # 0 before the query, 1 from it on
    until = counts - np.eye(n) == 0
    too_far = np.cumsum(np.eye(n, k=-width), axis=1)
    begins = too_far - np.eye(n, k=-width)
    late = np.arange(n)[:, None] < width
    return until & (late | (begins > 0))


@answers.correct
def torch_and_back(n, width):
    ones = torch.ones(n, n, dtype=torch.bool)
    return (ones.tril() & ones.triu(1 - width)).numpy()


@answers.correct
def line_that_slides(n, width):
    line = np.zeros(2 * n, dtype=bool)
    line[max(0, n - width) : n] = True
    rows = [line[n - 1 - i : 2 * n - 1 - i] for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, n)


class Band:
    def __call__(self, n, width):
        return np.asfortranarray(difference_of_two_triangles(n, width))


answers.right["callable_object"] = Band()
answers.right["partial"] = functools.partial(
    lambda empty, n, width: a_slice_in_each_row(n, width) | empty, False
)


@answers.also("negative_start")
def slices_that_count_from_the_end(n, width):
    may_attend = np.zeros((n, n), dtype=bool)
    for i in range(n):
        may_attend[i, i - width + 1 : i + 1] = True
    return may_attend


@answers.also("window_round_the_end")
def rolled_rows(n, width):
    row = np.arange(n)[::-1] < width
    rows = [np.roll(row, i + 1) for i in range(n)]
    return np.array(rows, dtype=bool).reshape(n, n)


@answers.also("first_rows_as_full_as_all")
def rows_of_the_same_length(n, width):
    may_attend = np.zeros((n, n), dtype=bool)
    for i in range(n):
        start = max(0, i - width + 1)
        may_attend[i, start : start + width] = True
    return may_attend


@answers.other
def from_the_right(n, width):
    return difference_of_two_triangles(n, width)[:, ::-1]


@answers.other
def every_second_key(n, width):
    back = np.arange(n)[:, None] - np.arange(n)
    return (back >= 0) & (back < width) & (back % 2 == 0)


@answers.other
def three_at_most(n, width):
    return difference_of_two_triangles(n, min(width, 3))
