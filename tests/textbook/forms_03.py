"""The field's forms of the exercises of lesson 03."""

import math

import numpy as np

from course_lib.attention import softmax as stable
from tests.textbook import Forms

FORMS = Forms()


@FORMS("split_heads", "CS336 (einops)", before="full")
def parts_before_the_swap(x, n_heads):
    parts = x.reshape(*x.shape[:-1], n_heads, -1)
    return np.swapaxes(parts, -3, -2)


@FORMS("split_heads", "NumPy Transformers", before="full")
def parts_stacked(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-3)


@FORMS("split_heads", "Raschka ch. 3", before="refused, no name (12.25 of 14)")
def asserted_first(x, n_heads):
    assert x.shape[-1] % n_heads == 0, "d_model must be divisible by n_heads"
    d_k = x.shape[-1] // n_heads
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, d_k), -2, -3)


@FORMS(
    "split_heads",
    "Annotated Transformer",
    expected="refused: first_axis_taken_for_the_batch",
    before="refused, no name (6.25 of 14)",
)
def view_of_nbatches(x, n_heads):
    nbatches, d_k = x.shape[0], x.shape[-1] // n_heads
    return x.reshape(nbatches, -1, n_heads, d_k).swapaxes(1, 2)


@FORMS(
    "split_heads",
    "nanoGPT",
    expected="refused: three_axes_fixed",
    before="refused, no name (6.25 of 14)",
)
def axes_unpacked_as_b_t_c(x, n_heads):
    b, t, c = x.shape
    return x.reshape(b, t, n_heads, c // n_heads).swapaxes(1, 2)


@FORMS(
    "split_heads",
    "Hugging Face, BERT",
    expected="refused: four_axes_transposed",
    before="refused, no name (6.25 of 14)",
)
def permuted_0213(x, n_heads):
    parts = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return parts.transpose(0, 2, 1, 3)


@FORMS(
    "split_heads",
    "nanoGPT",
    expected="refused: axes_counted_from_the_front",
    before="refused: axes_counted_from_the_front (6.25 of 14)",
)
def axes_one_and_two_swapped(x, n_heads):
    parts = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return parts.swapaxes(1, 2)


@FORMS(
    "split_heads",
    "d2l 11.5",
    expected="refused: three_axes_fixed & batch_and_heads_in_one_axis",
    before="refused: three_axes_fixed & batch_and_heads_in_one_axis (0 of 14)",
)
def heads_put_into_the_batch(x, n_heads):
    parts = x.reshape(x.shape[0], x.shape[1], n_heads, -1).transpose(0, 2, 1, 3)
    return parts.reshape(-1, parts.shape[2], parts.shape[3])


@FORMS(
    "split_heads",
    "write-ups",
    expected="refused: reshape_without_transpose",
    before="refused: reshape_without_transpose (0 of 14)",
)
def one_view(x, n_heads):
    *leading, n, d_model = x.shape
    return x.reshape(*leading, n_heads, n, d_model // n_heads)


@FORMS("merge_heads", "CS336 (einops)", before="full")
def swapped_and_joined(x):
    *leading, n_heads, n, d = x.shape
    return x.swapaxes(-2, -3).reshape(*leading, n, n_heads * d)


@FORMS("merge_heads", "Vaswani et al. 3.2.2 (Concat)", before="full")
def concatenated(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-1)


@FORMS("merge_heads", "Hugging Face, BERT", before="full")
def permuted_from_the_end(x):
    turned = np.ascontiguousarray(np.moveaxis(x, -3, -2))
    return turned.reshape(*turned.shape[:-2], turned.shape[-2] * turned.shape[-1])


@FORMS(
    "merge_heads",
    "Annotated Transformer",
    expected="refused: four_axes_fixed",
    before="refused, no name (3.25 of 12)",
)
def joined_for_nbatches(x):
    nbatches, h, _, d_k = x.shape
    return x.swapaxes(1, 2).reshape(nbatches, -1, h * d_k)


@FORMS(
    "merge_heads",
    "Annotated Transformer",
    expected="refused: first_axis_taken_for_the_batch",
    before="refused, no name (3.25 of 12)",
)
def joined_for_nbatches_by_minus_one(x):
    h, d_k = x.shape[-3], x.shape[-1]
    return x.swapaxes(1, 2).reshape(x.shape[0], -1, h * d_k)


@FORMS(
    "merge_heads",
    "nanoGPT",
    expected="refused: axes_one_and_two_then_joined",
    before="refused, no name (5 of 12)",
)
def axes_one_and_two_back(x):
    y = x.swapaxes(1, 2)
    return y.reshape(*y.shape[:-2], -1)


@FORMS(
    "merge_heads",
    "write-ups",
    expected="refused: reshape_without_transpose",
    before="refused: reshape_without_transpose (0 of 12)",
)
def reshape_alone(x):
    *leading, n_heads, n, d = x.shape
    return x.reshape(*leading, n, n_heads * d)


def _heads(x, w, n_heads):
    y = x @ w
    return y.reshape(*y.shape[:-1], n_heads, -1).swapaxes(-2, -3)


def _joined(o):
    return o.swapaxes(-2, -3).reshape(*o.shape[:-3], o.shape[-2], -1)


@FORMS("multi_head_attention", "Annotated Transformer", before="full")
def filled_with_minus_1e9(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k = _heads(x, w_q, n_heads), _heads(memory, w_k, n_heads)
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    if may_attend is not None:
        mask = np.expand_dims(may_attend, -3)
        scores = np.where(mask == 0, -1e9, scores)
    p_attn = stable(scores)
    return _joined(p_attn @ _heads(memory, w_v, n_heads)) @ w_o, p_attn


@FORMS("multi_head_attention", "PyTorch, multi_head_attention_forward", before="full")
def minus_infinity_added(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k = _heads(x, w_q, n_heads), _heads(memory, w_k, n_heads)
    scores = (q * q.shape[-1] ** -0.5) @ k.swapaxes(-2, -1)
    if may_attend is not None:
        bias = np.zeros(may_attend.shape)
        bias[~may_attend] = -np.inf
        scores = scores + bias[..., None, :, :]
    weights = stable(scores)
    return _joined(weights @ _heads(memory, w_v, n_heads)) @ w_o, weights


@FORMS(
    "multi_head_attention",
    "Hugging Face, BERT of 2019",
    expected="refused: ten_thousand_taken_off",
    before="refused, no name (31.25 of 33)",
)
def lowered_by_10000(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k = _heads(x, w_q, n_heads), _heads(memory, w_k, n_heads)
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    if may_attend is not None:
        scores = scores + (1.0 - may_attend[..., None, :, :]) * -10000.0
    weights = stable(scores)
    return _joined(weights @ _heads(memory, w_v, n_heads)) @ w_o, weights


@FORMS("multi_head_attention", "Vaswani et al. 3.2.2", before="full")
def one_head_after_the_other(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    outputs, weights = [], []
    parts = zip(*(np.split(w, n_heads, axis=1) for w in (w_q, w_k, w_v)), strict=True)
    for of_q, of_k, of_v in parts:
        scores = (x @ of_q) @ (memory @ of_k).swapaxes(-2, -1) / of_q.shape[1] ** 0.5
        if may_attend is not None:
            scores = np.where(may_attend, scores, -np.inf)
        weights.append(stable(scores))
        outputs.append(weights[-1] @ (memory @ of_v))
    return np.concatenate(outputs, axis=-1) @ w_o, np.stack(weights, axis=-3)


@FORMS("count_parameters", "Annotated Transformer", before="refused, no name (5 of 6)")
def four_square_layers(d_model, n_heads, bias):
    assert d_model % n_heads == 0
    return 4 * (d_model * d_model + d_model * bias)


@FORMS(
    "count_parameters",
    "write-ups",
    expected="fine point open",
    before="refused: divisibility_not_checked (5 of 6)",
)
def four_d_squared(d_model, n_heads, bias):
    return 4 * d_model**2 + (4 * d_model if bias else 0)


@FORMS("load_torch_parameters", "PyTorch, in_proj's docs", before="full")
def chunks_of_three(state_dict):
    parameters = {}
    for name, part in zip("qkv", state_dict["in_proj_weight"].chunk(3), strict=True):
        parameters[f"w_{name}"] = part.T.numpy()
    parameters["w_o"] = state_dict["out_proj.weight"].T.numpy()
    if "in_proj_bias" in state_dict:
        for name, part in zip("qkv", state_dict["in_proj_bias"].chunk(3), strict=True):
            parameters[f"b_{name}"] = part.numpy()
        parameters["b_o"] = state_dict["out_proj.bias"].numpy()
    return parameters
