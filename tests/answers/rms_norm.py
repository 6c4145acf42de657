import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("rms_norm")


@answers.correct
def reciprocal_root(x, gain, eps=1e-6):
    return gain * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@answers.correct
def sum_over_count(x, gain, eps=1e-6):
    mean_square = torch.einsum("...c,...c->...", x, x) / x.shape[-1]
    return x * gain / (mean_square[..., None] + eps) ** 0.5


@answers.correct
def length_of_each_vector(x, gain, eps=1e-6):
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / (length**2 / gain.numel() + eps).sqrt() * gain


@answers.correct
def variance_plus_mean_squared(x, gain, eps=1e-6):
    variance = x.var(dim=-1, correction=0, keepdim=True)
    mean_square = variance + x.mean(dim=-1, keepdim=True) ** 2
    return x / torch.sqrt(mean_square + eps) * gain


@answers.correct
def float64_inside_and_back(x, gain, eps=1e-6):
    wide = x.double()
    normed = wide / torch.sqrt((wide * wide).mean(-1, keepdim=True) + eps)
    return normed.to(x.dtype) * gain


@answers.correct
def row_after_row(x, gain, eps=1e-6):
    rows = [
        row / (sum(number * number for number in row) / len(row) + eps) ** 0.5 * gain
        for row in x.reshape(-1, x.shape[-1])
    ]
    return torch.stack(rows).reshape(x.shape)


@answers.correct
def numpy_inside(x, gain, eps=1e-6):
    rows = np.moveaxis(x.numpy(), -1, 0)
    normed = rows / np.sqrt(np.mean(np.square(rows), axis=0) + eps)
    return torch.from_numpy(np.moveaxis(normed, 0, -1) * gain.numpy()).to(x.dtype)


@answers.correct
def gain_as_a_diagonal_matrix(x, gain, eps=1e-6):
    below = ((x @ x[..., None] if x.ndim == 1 else (x * x).sum(-1)) / len(gain)) + eps
    return (x / below.reshape(*x.shape[:-1], 1).sqrt()) @ torch.diag(gain)


class Norm(torch.nn.Module):
    def forward(self, x, gain, eps=1e-6):
        return x / x.square().mean(-1, True).add(eps).sqrt() * gain


class Called:
    def __call__(self, x, gain, eps=None):
        return reciprocal_root(x, gain, 1e-6 if eps is None else eps)


answers.right["module"] = Norm()
answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda axis, x, gain, eps=1e-6: x / (x**2).mean(axis, True).add(eps).sqrt() * gain,
    -1,
)


@answers.also("mean_subtracted")
def layer_norm_without_bias(x, gain, eps=1e-6):
    return torch.nn.functional.layer_norm(x, gain.shape, gain, eps=eps)


@answers.also("sum_of_squares")
def length_with_eps(x, gain, eps=1e-6):
    squares = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2
    return gain * x / (squares + eps).sqrt()


@answers.also("eps_outside_the_root")
def papers_own_code(x, gain, eps=1e-6):
    length = x.norm(2, dim=-1, keepdim=True)
    return gain * (x / (length * x.shape[-1] ** -0.5 + eps))


@answers.also("over_everything")
def mean_without_an_axis(x, gain, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean() + eps) * gain


@answers.also("written_into_x")
def operators_in_place(x, gain, eps=1e-6):
    x /= torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    x *= gain
    return x


@answers.other
def divided_by_the_largest(x, gain, eps=1e-6):
    return x / (x.abs().amax(dim=-1, keepdim=True) + eps) * gain


@answers.other
def gain_squared(x, gain, eps=1e-6):
    return reciprocal_root(x, gain * gain, eps)


@answers.other
def normed_twice(x, gain, eps=1e-6):
    return reciprocal_root(reciprocal_root(x, gain, eps), gain, eps)


@answers.other
def size_of_each_number(x, gain, eps=1e-6):
    return x / torch.sqrt(x * x + eps) * gain
