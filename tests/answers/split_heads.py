import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("split_heads")


def size_of_a_head(x, n_heads):
    d, left = divmod(x.shape[-1], n_heads)
    if left:
        raise ValueError(f"{x.shape[-1]} numbers for {n_heads} heads leave {left}")
    return d


@answers.correct
def view_of_x(x, n_heads):
    *leading, n, d_model = x.shape
    return np.swapaxes(x.reshape(*leading, n, n_heads, d_model // n_heads), -2, -3)


@answers.correct
def loop_over_heads(x, n_heads):
    d = size_of_a_head(x, n_heads)
    heads = np.zeros((*x.shape[:-2], n_heads, x.shape[-2], d))
    for h in range(n_heads):
        heads[..., h, :, :] = x[..., :, h * d : h * d + d]
    return heads


@answers.correct
def split_and_stack(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-3)


@answers.correct
def transposed_first_and_back(x, n_heads):
    d = size_of_a_head(x, n_heads)
    columns = np.swapaxes(x, -1, -2)
    parts = columns.reshape(*columns.shape[:-2], n_heads, d, x.shape[-2])
    return np.swapaxes(parts, -1, -2)


@answers.correct
def by_a_table_of_columns(x, n_heads):
    d = size_of_a_head(x, n_heads)
    columns = np.arange(n_heads)[:, None, None] * d + np.arange(d)
    tokens = np.arange(x.shape[-2])[:, None]
    return x[..., tokens, columns]


@answers.correct
def times_parts_of_the_unit_matrix(x, n_heads):
    d = size_of_a_head(x, n_heads)
    unit = np.eye(x.shape[-1]).reshape(x.shape[-1], n_heads, d)
    return np.einsum("...im,mhc->...hic", x, unit)


@answers.correct
def unflattened_by_pytorch(x, n_heads):
    d = size_of_a_head(x, n_heads)
    parts = torch.from_numpy(x.copy()).unflatten(-1, (n_heads, d))
    return parts.transpose(-2, -3).numpy()


@answers.correct
def columns_first_in_memory(x, n_heads):
    return np.asfortranarray(split_and_stack(x, n_heads))


@answers.correct
def token_by_token(x, n_heads):
    d = size_of_a_head(x, n_heads)
    cut = functools.partial(np.apply_along_axis, lambda t: t.reshape(n_heads, d), -1)
    return np.moveaxis(cut(x), -2, -3)


class Splitter:
    def __call__(self, x, n_heads):
        return split_and_stack(x, n_heads)


answers.right["callable_object"] = Splitter()
answers.right["partial"] = functools.partial(
    lambda split, x, n_heads: split(x, n_heads), split_and_stack
)


@answers.also("reshape_without_transpose")
def cut_from_one_long_row(x, n_heads):
    d = size_of_a_head(x, n_heads)
    rows = np.ascontiguousarray(x).reshape(*x.shape[:-2], -1)
    return np.stack(np.split(rows, n_heads, axis=-1), axis=-2).reshape(
        *x.shape[:-2], n_heads, x.shape[-2], d
    )


@answers.also("axis_of_heads_behind_the_tokens")
def stacked_behind(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-2)


@answers.also("dealt_out_in_turn")
def every_n_heads_th_number(x, n_heads):
    size_of_a_head(x, n_heads)
    return np.stack([x[..., h::n_heads] for h in range(n_heads)], axis=-3)


@answers.also("transposed_before_the_cut")
def read_down_the_columns(x, n_heads):
    d = size_of_a_head(x, n_heads)
    column_by_column = np.concatenate(np.moveaxis(x, -1, 0), axis=-1)
    return column_by_column.reshape(*x.shape[:-2], n_heads, x.shape[-2], d)


@answers.also("parts_overlap")
def sliding_windows(x, n_heads):
    d = size_of_a_head(x, n_heads)
    windows = np.lib.stride_tricks.sliding_window_view(x, d, axis=-1)
    return np.swapaxes(windows, -2, -3)[..., :n_heads, :, :].copy()


@answers.also("heads_in_front_of_the_batch")
def list_of_heads(x, n_heads):
    return np.array(np.split(x, n_heads, axis=-1))


@answers.also("batch_and_heads_in_one_axis")
def list_of_heads_of_all_sequences(x, n_heads):
    sequences = x.reshape(-1, *x.shape[-2:])
    return np.array([p for one in sequences for p in np.split(one, n_heads, axis=-1)])


@answers.also("every_head_gets_everything")
def repeated_over_heads(x, n_heads):
    size_of_a_head(x, n_heads)
    return np.repeat(np.expand_dims(x, -3), n_heads, axis=-3)


@answers.also("three_axes_fixed")
def sequence_by_sequence(x, n_heads):
    b, _, _ = x.shape
    return np.array([np.stack(np.split(x[i], n_heads, axis=-1)) for i in range(b)])


@answers.also("axes_counted_from_the_front")
def axis_one_moved_to_position_two(x, n_heads):
    *leading, n, _ = x.shape
    parts = x.reshape(*leading, n, n_heads, size_of_a_head(x, n_heads))
    order = list(range(parts.ndim))
    order[1], order[2] = 2, 1
    return parts.transpose(order)


@answers.also("first_two_axes_swapped")
def first_axis_moved_behind_the_second(x, n_heads):
    parts = np.stack(np.split(x, n_heads, axis=-1), axis=-2)
    return np.moveaxis(parts, 0, 1)


@answers.also("remainder_dropped")
def kept_as_far_as_it_goes(x, n_heads):
    d = x.shape[-1] // n_heads
    return split_and_stack(x[..., : n_heads * d], n_heads)


@answers.also("axes_squeezed")
def without_axes_of_length_one(x, n_heads):
    heads = split_and_stack(x, n_heads)
    return heads.reshape([size for size in heads.shape if size != 1])


@answers.also("one_head_without_its_axis")
def stacked_only_if_several(x, n_heads):
    parts = np.split(x, n_heads, axis=-1)
    return parts[0] if len(parts) == 1 else np.stack(parts, axis=-3)


@answers.also("read_as_it_lies_in_memory")
def numbers_as_bytes(x, n_heads):
    numbers = np.frombuffer(x.tobytes("A"), x.dtype).reshape(x.shape)
    return split_and_stack(numbers, n_heads)


@answers.also("shape_of_x_set")
def last_axis_cut_in_place(x, n_heads):
    d, right = size_of_a_head(x, n_heads), split_and_stack(x, n_heads)
    x.shape = (*x.shape[:-1], n_heads, d)
    return right


@answers.other
def asserted(x, n_heads):
    assert x.shape[-1] % n_heads == 0
    return split_and_stack(x, n_heads)


@answers.other
def numbers_before_tokens(x, n_heads):
    return np.swapaxes(split_and_stack(x, n_heads), -1, -2)


@answers.other
def last_head_first(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1)[::-1], axis=-3)


@answers.other
def first_part_for_all(x, n_heads):
    return np.stack([np.split(x, n_heads, axis=-1)[0]] * n_heads, axis=-3)


@answers.other
def tokens_reversed(x, n_heads):
    return split_and_stack(x[..., ::-1, :], n_heads)


@answers.other
def list_instead_of_array(x, n_heads):
    return np.split(x, n_heads, axis=-1)
