import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("merge_heads")


def side_by_side(x):
    return np.concatenate(list(np.moveaxis(x, -3, 0)), axis=-1)


answers.correct(side_by_side)


@answers.correct
def loop_over_heads(x):
    *leading, n_heads, n, d = x.shape
    merged = np.zeros((*leading, n, n_heads * d))
    for h in range(n_heads):
        merged[..., h * d : (h + 1) * d] = x[..., h, :, :]
    return merged


@answers.correct
def swapped_and_reshaped(x):
    parts = np.swapaxes(x, -3, -2)
    return parts.reshape(*parts.shape[:-2], -1)


@answers.correct
def einsum_with_parts_of_the_unit_matrix(x):
    n_heads, _, d = x.shape[-3:]
    unit = np.eye(n_heads * d).reshape(n_heads, d, n_heads * d)
    return np.einsum("...hic,hcm->...im", x, unit)


@answers.correct
def column_by_column(x):
    n_heads, _, d = x.shape[-3:]
    return np.stack([x[..., j // d, :, j % d] for j in range(n_heads * d)], axis=-1)


@answers.correct
def transposed_and_back(x):
    *leading, n_heads, n, d = x.shape
    columns = np.swapaxes(x, -1, -2).reshape(*leading, n_heads * d, n)
    return np.swapaxes(columns, -1, -2)


@answers.correct
def flattened_by_pytorch(x):
    there = torch.from_numpy(np.ascontiguousarray(x))
    return there.transpose(-2, -3).flatten(-2).numpy()


@answers.correct
def columns_first_in_memory(x):
    return np.asfortranarray(side_by_side(x))


class Merger:
    def __init__(self, axis):
        self.axis = axis

    def __call__(self, x):
        return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], self.axis)


answers.right["callable_object"] = Merger(-1)
answers.right["partial"] = functools.partial(lambda merge, x: merge(x), side_by_side)


@answers.also("reshape_without_transpose")
def one_long_row_cut_into_tokens(x):
    n_heads, n, d = x.shape[-3:]
    numbers = np.arange(n * n_heads * d).reshape(n, n_heads * d)
    return np.ascontiguousarray(x).reshape(*x.shape[:-3], -1)[..., numbers]


@answers.also("dealt_in_turn")
def filled_in_steps(x):
    *leading, n_heads, n, d = x.shape
    merged = np.zeros((*leading, n, n_heads * d))
    for h in range(n_heads):
        merged[..., h::n_heads] = x[..., h, :, :]
    return merged


@answers.also("wrong_pair_of_axes_swapped")
def columns_read_one_after_the_other(x):
    *leading, n_heads, n, d = x.shape
    columns = [x[..., h, :, c] for h in range(n_heads) for c in range(d)]
    return np.concatenate(columns, axis=-1).reshape(*leading, n, n_heads * d)


@answers.also("filled_column_by_column")
def read_and_filled_backwards(x):
    *leading, n_heads, n, d = x.shape
    turned = np.moveaxis(x, (-3, -2, -1), (-1, -2, -3))
    columns = turned.reshape(*leading, n_heads * d, n)
    return np.swapaxes(columns, -1, -2)


@answers.also("last_head_first")
def new_head_in_front(x):
    merged = x[..., 0, :, :]
    for h in range(1, x.shape[-3]):
        merged = np.concatenate([x[..., h, :, :], merged], axis=-1)
    return merged


@answers.also("mean_of_the_heads")
def sum_over_their_number(x):
    return np.einsum("...hic->...ic", x) / x.shape[-3]


@answers.also("heads_below_each_other")
def concatenated_along_the_tokens(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-2)


@answers.also("first_axis_taken_for_the_heads")
def first_axis_moved_beside_the_last(x):
    return np.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], -1)


@answers.also("batch_joined_to_one_sequence")
def all_rows_of_all_sequences(x):
    rows = side_by_side(x)
    return np.array([rows[index] for index in np.ndindex(rows.shape[:-1])])


@answers.also("four_axes_fixed")
def sequence_by_sequence(x):
    b, heads, _, _ = x.shape
    return np.array([np.hstack([x[i, h] for h in range(heads)]) for i in range(b)])


@answers.also("axes_counted_from_the_front")
def order_written_out(x):
    n_heads, n, d = x.shape[-3:]
    order = [0, 2, 1, *range(3, x.ndim)]
    return x.transpose(order).reshape(*x.shape[:-3], n, n_heads * d)


@answers.also("axes_squeezed")
def without_axes_of_length_one(x):
    merged = side_by_side(x)
    return merged.reshape([size for size in merged.shape if size != 1])


@answers.also("read_as_it_lies_in_memory")
def numbers_as_bytes(x):
    return side_by_side(np.frombuffer(x.tobytes("A"), x.dtype).reshape(x.shape))


@answers.also("shape_of_x_set")
def reshaped_twice(x):
    shape = (*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])
    if x.flags.c_contiguous:
        x.shape = shape
    return x.reshape(shape)


@answers.other
def sum_of_the_heads(x):
    return x.sum(axis=-3)


@answers.other
def tokens_and_heads_swapped_only(x):
    return np.swapaxes(x, -2, -3)


@answers.other
def first_head_repeated(x):
    return np.concatenate([x[..., 0, :, :]] * x.shape[-3], axis=-1)


@answers.other
def tokens_reversed(x):
    return side_by_side(x[..., ::-1, :])


@answers.other
def numbers_of_a_head_reversed(x):
    return side_by_side(x[..., ::-1])


@answers.other
def x_itself(x):
    return x
