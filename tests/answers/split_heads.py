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


@answers.correct
def asserted(x, n_heads):
    assert x.shape[-1] % n_heads == 0
    return split_and_stack(x, n_heads)


@answers.other
def first_number_repeated(x, n_heads):
    heads = split_and_stack(x, n_heads).copy()
    heads[..., 1:] = heads[..., :1]
    return heads


@answers.other
def odd_heads_turned(x, n_heads):
    heads = split_and_stack(x, n_heads).copy()
    heads[..., 1::2, :, :] = heads[..., 1::2, ::-1, :]
    return heads


@answers.other
def heads_moved_in_a_circle(x, n_heads):
    return np.roll(split_and_stack(x, n_heads), 1, axis=-3)
