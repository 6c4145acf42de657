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


@answers.other
def single_precision_and_back(x, gain, bias, eps=1e-5):
    numbers = x.float(), gain.float(), bias.float()
    return variance_of_pytorch(*numbers, eps).to(gain.dtype)


@answers.other
def lengths_of_one(x, gain, bias, eps=1e-5):
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True) * gain + bias


@answers.other
def shares(x, gain, bias, eps=1e-5):
    return torch.softmax(x, dim=-1) * gain + bias


@answers.other
def between_zero_and_one(x, gain, bias, eps=1e-5):
    least, most = x.aminmax(dim=-1, keepdim=True)
    return (x - least) / (most - least + eps) * gain + bias
