import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("layer_norm")


@answers.correct
def pytorchs_own(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias, eps)


@answers.correct
def variance_of_pytorch(x, gain, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + eps), gain)


@answers.correct
def row_by_row(x, gain, bias, eps=1e-5):
    result = torch.zeros_like(x)
    for index in np.ndindex(x.shape[:-1]):
        row = x[index] - x[index].mean()
        result[index] = row / (row.dot(row) / len(row) + eps) ** 0.5 * gain + bias
    return result


@answers.correct
def numpy_inside(x, gain, bias, eps=1e-5):
    numbers = x.numpy().astype(np.float64)
    centred = numbers - numbers.mean(axis=-1, keepdims=True)
    scale = np.sqrt(np.var(numbers, axis=-1, keepdims=True) + eps)
    result = centred / scale * gain.numpy() + bias.numpy()
    return torch.from_numpy(result).to(x.dtype)


@answers.correct
def einsum_of_the_centred(x, gain, bias, eps=1e-5):
    d_model = x.shape[-1]
    centred = x - torch.einsum("...c->...", x)[..., None] / d_model
    squares = torch.einsum("...c,...c->...", centred, centred) / d_model
    return (
        torch.einsum("...c,...,c->...c", centred, (squares + eps) ** -0.5, gain) + bias
    )


@answers.correct
def float64_throughout(x, gain, bias, eps=1e-5):
    return variance_of_pytorch(x.double(), gain.double(), bias.double(), eps)


@answers.correct
def last_axis_first_in_memory(x, gain, bias, eps=1e-5):
    result = row_by_row(x, gain, bias, eps)
    return result.movedim(-1, 0).contiguous().movedim(0, -1)


class Norm(torch.nn.Module):
    def forward(self, x, gain, bias, eps=1e-5):
        layer = torch.nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)
        layer.load_state_dict({"weight": gain, "bias": bias})
        return layer(x)


answers.right["module"] = Norm()
answers.right["partial"] = functools.partial(
    lambda axis, x, gain, bias, eps=1e-5: (
        (x - x.mean(axis, keepdim=True))
        / (x.var(axis, correction=0, keepdim=True) + eps).sqrt()
        * gain
        + bias
    ),
    -1,
)


def scaled(x, mean, below, gain, bias):
    return torch.addcmul(bias, (x - mean) / below, gain)


def pieces(x, axis=-1):
    mean = x.sum(axis, keepdim=True) / x.shape[axis]
    return mean, ((x - mean) ** 2).sum(axis, keepdim=True) / x.shape[axis]


@answers.also("divided_by_one_less")
def sum_over_one_less(x, gain, bias, eps=1e-5):
    mean, variance = pieces(x)
    n = x.shape[-1]
    return scaled(x, mean, (variance * n / (n - 1) + eps) ** 0.5, gain, bias)


@answers.also("eps_outside_the_root")
def root_and_then_eps(x, gain, bias, eps=1e-5):
    mean, variance = pieces(x)
    return scaled(x, mean, variance**0.5 + eps, gain, bias)


@answers.also("standard_deviation_plus_eps")
def with_std(x, gain, bias, eps=1e-5):
    mean, variance = pieces(x)
    n = x.shape[-1]
    return scaled(x, mean, (variance * n / (n - 1)) ** 0.5 + eps, gain, bias)


@answers.also("over_the_tokens")
def turned_and_normed(x, gain, bias, eps=1e-5):
    if x.ndim == 1:
        return pytorchs_own(x, gain, bias, eps)
    mean, variance = pieces(x, -2)
    return scaled(x, mean, (variance + eps) ** 0.5, gain, bias)


@answers.also("along_the_first_axis")
def first_axis_put_last(x, gain, bias, eps=1e-5):
    columns = x.movedim(0, -1)
    plain = torch.nn.functional.layer_norm(columns, columns.shape[-1:], eps=eps)
    return plain.movedim(-1, 0) * gain + bias


@answers.also("eps_left_out")
def plain_deviation(x, gain, bias, eps=1e-5):
    mean, variance = pieces(x)
    return scaled(x, mean, variance**0.5, gain, bias)


@answers.also("eps_fixed")
def library_with_its_default(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, gain.shape, gain, bias)


@answers.also("over_the_sequence")
def library_over_two_axes(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-2:], eps=eps) * gain + bias


@answers.also("over_everything")
def library_over_all_axes(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape, eps=eps) * gain + bias


@answers.also("one_pass")
def squares_minus_square(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = x.pow(2).mean(-1, keepdim=True) - mean.pow(2)
    return (x - mean) / (variance + eps).sqrt() * gain + bias


@answers.also("mean_not_taken_off")
def root_mean_square(x, gain, bias, eps=1e-5):
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return scaled(x, 0.0, (length**2 / x.shape[-1] + eps) ** 0.5, gain, bias)


@answers.also("root_forgotten")
def over_the_variance(x, gain, bias, eps=1e-5):
    mean, variance = pieces(x)
    return scaled(x, mean, variance + eps, gain, bias)


@answers.also("bias_before_gain")
def gain_of_the_sum(x, gain, bias, eps=1e-5):
    return pytorchs_own(x, gain, gain * bias, eps)


@answers.also("gain_and_bias_left_out")
def library_without_parameters(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, gain.shape, eps=eps)


@answers.other
def single_precision_and_back(x, gain, bias, eps=1e-5):
    numbers = x.float(), gain.float(), bias.float()
    return variance_of_pytorch(*numbers, eps).to(gain.dtype)


@answers.also("centred_in_place")
def subtracted_in_place(x, gain, bias, eps=1e-5):
    x.sub_(pieces(x)[0])
    return variance_of_pytorch(x, gain, bias, eps)


@answers.other
def lengths_of_one(x, gain, bias, eps=1e-5):
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True) * gain + bias


@answers.other
def shares(x, gain, bias, eps=1e-5):
    return torch.softmax(x, dim=-1) * gain + bias


@answers.other
def variance_at_least_eps(x, gain, bias, eps=1e-5):
    mean, variance = pieces(x)
    return scaled(x, mean, variance.clamp(min=eps) ** 0.5, gain, bias)


@answers.other
def gain_plus_one(x, gain, bias, eps=1e-5):
    return pytorchs_own(x, 1 + gain, bias, eps)


@answers.other
def between_zero_and_one(x, gain, bias, eps=1e-5):
    least, most = x.aminmax(dim=-1, keepdim=True)
    return (x - least) / (most - least + eps) * gain + bias
