import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("padding_mask")


@answers.correct
def row_by_row(lengths, m):
    lengths = np.asarray(lengths)
    may_attend = np.zeros((*lengths.shape, 1, m), dtype=bool)
    for index in np.ndindex(lengths.shape):
        may_attend[(*index, 0, slice(0, int(lengths[index])))] = True
    return may_attend


@answers.correct
def lists_for_each_sequence(lengths, m):
    def rows(part):
        if isinstance(part, list):
            return [rows(inner) for inner in part]
        return [[True] * part + [False] * (m - part)]

    return np.array(rows(np.asarray(lengths).tolist()), dtype=bool)


@answers.correct
def outer_comparison(lengths, m):
    table = np.greater.outer(np.asarray(lengths), np.arange(m))
    return np.expand_dims(table, -2)


@answers.correct
def rows_of_a_triangle(lengths, m):
    return np.tri(m + 1, m, -1, dtype=bool)[np.asarray(lengths)][..., None, :]


@answers.correct
def count_of_what_is_left(lengths, m):
    left = np.asarray(lengths)[..., None, None] - np.arange(m)
    return np.asfortranarray(np.clip(left, 0, 1).astype(bool))


@answers.correct
def padding_blocked_in_ones(lengths, m):
    lengths = np.asarray(lengths)
    may_attend = np.ones((*lengths.shape, 1, m), dtype=bool)
    may_attend[np.arange(m) >= lengths[..., None, None]] = False
    return may_attend


@answers.correct
def torch_and_back(lengths, m):
    lengths = torch.as_tensor(np.asarray(lengths))
    return (torch.arange(m) < lengths[..., None, None]).numpy()


class Padding:
    def __call__(self, lengths, m):
        ends = np.expand_dims(np.array(lengths), (-1, -2))
        return np.logical_not(ends <= np.arange(m))


answers.right["callable_object"] = Padding()
answers.right["partial"] = functools.partial(
    lambda first, lengths, m: (
        np.arange(first, m) - np.asarray(lengths)[..., None, None] < 0
    ),
    0,
)


@answers.other
def every_second_token(lengths, m):
    return row_by_row(lengths, m) & (np.arange(m) % 2 == 0)


@answers.other
def mean_length_for_all(lengths, m):
    return np.arange(m) < np.full((*np.shape(lengths), 1, 1), np.mean(lengths))


@answers.other
def first_token_only(lengths, m):
    return (np.arange(m) == 0) & row_by_row(lengths, m)
