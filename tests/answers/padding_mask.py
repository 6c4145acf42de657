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


@answers.also("polarity_reversed")
def true_behind_the_end(lengths, m):
    return ~row_by_row(lengths, m)


@answers.also("one_key_too_many")
def slice_with_the_end(lengths, m):
    return row_by_row(np.asarray(lengths) + 1, m)


@answers.also("one_key_too_few")
def slice_without_the_last(lengths, m):
    return row_by_row(np.maximum(np.asarray(lengths) - 1, 0), m)


@answers.also("queries_masked")
def turned_rows(lengths, m):
    return np.swapaxes(row_by_row(lengths, m), -1, -2)


@answers.also("query_axis_missing")
def table_of_sequences_and_keys(lengths, m):
    return row_by_row(lengths, m)[..., 0, :]


@answers.also("queries_and_keys_masked")
def outer_product(lengths, m):
    rows = row_by_row(lengths, m)[..., 0, :].astype(int)
    return np.einsum("...i,...j->...ij", rows, rows) == 1


@answers.also("ones_and_zeros")
def ones_written_into_zeros(lengths, m):
    may_attend = np.zeros((*np.shape(lengths), 1, m))
    may_attend[row_by_row(lengths, m)] = 1
    return may_attend


@answers.also("padding_in_front")
def rows_backwards(lengths, m):
    return row_by_row(lengths, m)[..., ::-1]


@answers.also("first_key_always_open")
def first_column_set(lengths, m):
    may_attend = row_by_row(lengths, m)
    may_attend[..., 0] = True
    return may_attend


@answers.also("only_the_first_padding_blocked")
def one_false_in_each_row(lengths, m):
    lengths = np.asarray(lengths)
    may_attend = np.ones((*lengths.shape, 1, m), dtype=bool)
    for index in np.ndindex(lengths.shape):
        may_attend[(*index, 0, slice(int(lengths[index]), int(lengths[index]) + 1))] = 0
    return may_attend


@answers.also("full_sequences_blocked")
def counted_from_the_back(lengths, m):
    lengths = np.asarray(lengths)
    may_attend = np.ones((*lengths.shape, 1, m), dtype=bool)
    for index in np.ndindex(lengths.shape):
        padding = m - int(lengths[index])
        may_attend[(*index, 0, slice(-padding, None))] = False
    return may_attend


@answers.also("longest_length_for_all")
def one_row_repeated(lengths, m):
    row = [j < np.max(lengths) for j in range(m)]
    return np.broadcast_to(np.array(row), (*np.shape(lengths), 1, m)).copy()


@answers.also("as_wide_as_the_longest")
def cut_to_the_longest(lengths, m):
    return row_by_row(lengths, m)[..., : np.max(lengths)]


@answers.also("batch_made_flat")
def one_sequence_after_the_other(lengths, m):
    flat = np.ravel(lengths)
    return np.array([[[j < length for j in range(m)]] for length in flat])


@answers.also("keys_and_sequences_exchanged")
def outer_comparison_the_other_way(lengths, m):
    lengths = np.asarray(lengths)
    table = np.less.outer(np.arange(m), lengths)
    return table.reshape(m, *[1] * (2 - lengths.ndim), *lengths.shape)


@answers.also("column_of_lengths")
def positions_less_than_a_column(lengths, m):
    column = lengths[:, None]
    return np.greater(column, np.arange(m))


@answers.also("lists_forgotten")
def count_of_what_is_left_of_an_array(lengths, m):
    return lengths[..., None, None] - np.arange(m) > 0


@answers.other
def everything_open(lengths, m):
    return np.ones((*np.shape(lengths), 1, m), dtype=bool)


@answers.other
def last_token_only(lengths, m):
    return np.arange(m) == np.asarray(lengths)[..., None, None] - 1


@answers.other
def whole_numbers(lengths, m):
    return row_by_row(lengths, m).astype(int)


@answers.other
def a_row_for_each_query(lengths, m):
    return np.repeat(row_by_row(lengths, m), m, axis=-2)


@answers.other
def shortest_length_for_all(lengths, m):
    return np.arange(m) < np.full((*np.shape(lengths), 1, 1), np.min(lengths))
