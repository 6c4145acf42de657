"""The field's forms of the exercises of lesson 09."""

import math

import torch
from torch.nn import functional

from course_lib.nn.functional import feed_forward as course_feed_forward
from course_lib.nn.functional import layer_norm as course_norm
from course_lib.nn.functional import multi_head_attention
from tests.textbook import Forms

FORMS = Forms()


@FORMS("embed", "Annotated Transformer", before="full")
def embedding_times_root(token_ids, embedding, encoding):
    x = functional.embedding(token_ids, embedding) * math.sqrt(embedding.size(1))
    return x + encoding[: x.size(-2)]


@FORMS(
    "embed",
    "nanoGPT",
    expected="refused: no_scale",
    before="refused: no_scale (0 of 10)",
)
def token_and_position_embedding(token_ids, embedding, encoding):
    position = torch.arange(token_ids.shape[-1])
    return embedding[token_ids] + encoding[position]


@FORMS("feed_forward", "Annotated Transformer and d2l 11.7", before="full")
def two_linear_maps(x, w_1, b_1, w_2, b_2):
    return functional.linear(functional.linear(x, w_1.T, b_1).relu(), w_2.T, b_2)


@FORMS(
    "feed_forward",
    "nanoGPT",
    expected="refused: gelu_for_relu",
    before="refused: gelu_for_relu (0 of 5)",
)
def gelu_between(x, w_1, b_1, w_2, b_2):
    return functional.gelu(x @ w_1 + b_1) @ w_2 + b_2


@FORMS("layer_norm", "PyTorch nn.LayerNorm", before="full")
def biased_variance(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, unbiased=False, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


@FORMS(
    "layer_norm",
    "one pass",
    expected="fine point open",
    before="refused: one_pass (13.25 of 14)",
)
def mean_of_squares_less_squared_mean(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean**2
    return (x - mean) * torch.rsqrt(variance + eps) * gain + bias


@FORMS(
    "layer_norm",
    "Hugging Face",
    expected="fine point open",
    before="refused, no name (9.75 of 14)",
)
def in_float32(x, gain, bias, eps=1e-5):
    return biased_variance(x.float(), gain.float(), bias.float(), eps).to(x.dtype)


@FORMS(
    "layer_norm",
    "Annotated Transformer",
    expected="refused: divided_by_one_less & eps_outside_the_root",
    before="refused: divided_by_one_less & eps_outside_the_root (0 of 14)",
)
def std_plus_eps(x, gain, bias, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return gain * (x - mean) / (std + eps) + bias


@FORMS(
    "layer_norm",
    "BERT-pytorch",
    expected="refused: eps_outside_the_root",
    before="refused: eps_outside_the_root (7.75 of 14)",
)
def root_plus_eps(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True, unbiased=False)
    return gain * (x - mean) / (std + eps) + bias


@FORMS(
    "layer_norm",
    "nn.LayerNorm from var",
    expected="refused: divided_by_one_less",
    before="refused: divided_by_one_less (0 of 14)",
)
def variance_as_it_comes(x, gain, bias, eps=1e-5):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


def encoder_parts(parameters, n_heads, may_attend):
    p = parameters
    w = p["w_q"], p["w_k"], p["w_v"], p["w_o"]

    def attention(x):
        return multi_head_attention(x, x, *w, n_heads, may_attend)

    def network(x):
        return course_feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"])

    def norm(x, number):
        return course_norm(x, p[f"gain_{number}"], p[f"bias_{number}"])

    return attention, network, norm


@FORMS("encoder_layer", "PyTorch nn.TransformerEncoderLayer", before="full")
def either_norm(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    if norm_first:
        x = x + attention(norm(x, 1))
        return x + network(norm(x, 2))
    x = norm(x + attention(x), 1)
    return norm(x + network(x), 2)


@FORMS(
    "encoder_layer",
    "Annotated Transformer",
    expected="refused: norm_always_before",
    before="refused: norm_always_before (7 of 16)",
)
def sublayer_connection(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    x = x + attention(norm(x, 1))
    return x + network(norm(x, 2))


@FORMS(
    "encoder_layer",
    "d2l 11.7",
    expected="refused: norm_always_after",
    before="refused: norm_always_after (8.75 of 16)",
)
def add_norm(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    y = norm(attention(x) + x, 1)
    return norm(network(y) + y, 2)


@FORMS(
    "encoder_layer",
    "repositories",
    expected="refused: result_added_to_itself",
    before="refused, no name (0 of 16)",
)
def result_twice(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    for number, part in ((1, attention), (2, network)):
        if norm_first:
            x = part(norm(x, number))
            x = x + x
        else:
            x = part(x)
            x = norm(x + x, number)
    return x


@FORMS(
    "encoder_layer",
    "repositories",
    expected="refused: norm_always_after & result_added_to_itself",
    before="refused, no name (0 of 16)",
)
def result_twice_and_norm_after(
    x, parameters, n_heads, may_attend=None, norm_first=False
):
    attention, network, norm = encoder_parts(parameters, n_heads, may_attend)
    x = attention(x)
    x = norm(x + x, 1)
    x = network(x)
    return norm(x + x, 2)


@FORMS(
    "encoder_layer",
    "repositories",
    expected="refused: neither_sums_nor_norms",
    before="refused, no name (0 of 16)",
)
def two_parts_alone(x, parameters, n_heads, may_attend=None, norm_first=False):
    attention, network, _ = encoder_parts(parameters, n_heads, may_attend)
    return network(attention(x))


def decoder_parts(memory, parameters, n_heads, may_attend, memory_may_attend):
    p = parameters
    attention, network, norm = encoder_parts(p, n_heads, may_attend)
    w = p["cross_q"], p["cross_k"], p["cross_v"], p["cross_o"]

    def cross(x):
        return multi_head_attention(x, memory, *w, n_heads, memory_may_attend)

    return (attention, cross, network), norm


@FORMS("decoder_layer", "PyTorch nn.TransformerDecoderLayer", before="full")
def either_norm_of_three(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    parts, norm = decoder_parts(memory, parameters, n_heads, *masks)
    for number, part in enumerate(parts, start=1):
        if norm_first:
            y = y + part(norm(y, number))
        else:
            y = norm(y + part(y), number)
    return y


@FORMS(
    "decoder_layer",
    "Annotated Transformer",
    expected="refused: norm_always_before",
    before="refused: norm_always_before (12.5 of 28)",
)
def three_sublayer_connections(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    return either_norm_of_three(y, memory, parameters, n_heads, *masks, True)


@FORMS(
    "decoder_layer",
    "d2l 11.7",
    expected="refused: norm_always_after",
    before="refused: norm_always_after (15.5 of 28)",
)
def three_add_norms(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    return either_norm_of_three(y, memory, parameters, n_heads, *masks, False)


@FORMS(
    "decoder_layer",
    "repositories",
    expected="refused: result_added_to_itself",
    before="refused, no name (0 of 28)",
)
def results_twice(
    y,
    memory,
    parameters,
    n_heads,
    may_attend=None,
    memory_may_attend=None,
    norm_first=False,
):
    masks = may_attend, memory_may_attend
    parts, norm = decoder_parts(memory, parameters, n_heads, *masks)
    for number, part in enumerate(parts, start=1):
        y = part(norm(y, number)) if norm_first else part(y)
        y = y + y if norm_first else norm(y + y, number)
    return y


@FORMS("shift_right", "Hugging Face T5", before="full")
def into_zeros(targets, start_id):
    shifted = targets.new_zeros(targets.shape)
    shifted[..., 1:] = targets[..., :-1].clone()
    shifted[..., 0] = start_id
    return shifted


@FORMS(
    "shift_right",
    "Hugging Face BART",
    expected="refused: shifted_along_axis_one",
    before="refused, no name (3.5 of 5)",
)
def columns_of_a_batch(targets, start_id):
    shifted = targets.new_zeros(targets.shape)
    shifted[:, 1:] = targets[:, :-1].clone()
    shifted[:, 0] = start_id
    return shifted


@FORMS("shift_right", "PyTorch", before="full")
def rolled_and_replaced(targets, start_id):
    shifted = targets.roll(1, dims=-1)
    shifted[..., 0] = start_id
    return shifted
