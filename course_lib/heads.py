"""Multi-head attention: split into heads, attend in each of them, merge.

The same as a module of PyTorch is in ``course_lib.nn``.
"""

from typing import TYPE_CHECKING

import numpy as np

from course_lib import arguments
from course_lib.attention import scaled_scores, softmax

if TYPE_CHECKING:
    import torch


def split_heads(x: np.ndarray, n_heads: int) -> np.ndarray:
    """Cut each token's vector into as many parts as there are heads.

    x : (..., n, d_model), one token per row
    n_heads : number of heads; each gets d_model / n_heads neighbouring numbers

    Returns (..., n_heads, n, d_model / n_heads): row i of head h holds the h-th part of
    token i. x is not modified. If n_heads does not divide d_model, an error of any kind
    is raised.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.2.

    >>> split_heads(np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), 2)
    array([[[1, 2],
            [5, 6]],
    <BLANKLINE>
           [[3, 4],
            [7, 8]]])
    """
    x = arguments.arrays(split_heads, x, n_heads=n_heads)
    *leading, n, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    parts = x.reshape(*leading, n, n_heads, d_model // n_heads)
    # A copy: whoever changes a head later must not change x through a view.
    return np.swapaxes(parts, -2, -3).copy()  # (..., n_heads, n, d_model / n_heads)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """Put the heads' parts of each token side by side: undo ``split_heads``.

    x : (..., n_heads, n, d), one token per row of each head

    Returns (..., n, n_heads · d): row i holds token i, the part of the first head
    first. x is not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.2 ("Concat").

    >>> merge_heads(np.array([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]))
    array([[1, 2, 3, 4],
           [5, 6, 7, 8]])
    """
    x = arguments.arrays(merge_heads, x)
    *leading, n_heads, n, d = x.shape
    parts = np.swapaxes(x, -2, -3)  # (..., n, n_heads, d)
    return parts.reshape(*leading, n, n_heads * d)


def multi_head_attention(
    x: np.ndarray,
    memory: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    n_heads: int,
    may_attend: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Let each token attend to the memory with several heads, and join their results.

    x : (..., n, d_model), the tokens that attend, one per row
    memory : (..., m, d_memory), the tokens that are attended to; x itself for
        self-attention
    w_q : (d_model, n_heads · d_k), parameters; head h (from 0) has columns h · d_k to
        (h + 1) · d_k − 1
    w_k : (d_memory, n_heads · d_k), parameters, likewise
    w_v : (d_memory, n_heads · d_v), parameters, likewise
    w_o : (n_heads · d_v, d_out), parameters that join the heads
    n_heads : number of heads
    may_attend : (..., n, m), booleans, or (n, m), the same for all sequences; True
        where token i may attend to token j of the memory, with any head; at least one
        True in each row; None if all may attend to all

    Returns two arrays. Row i of the output (..., n, d_out) joins the results of all
    heads for token i. Row i of weights[..., h, :, :] (..., n_heads, n, m) says how much
    it attends to each token of the memory in head h: a softmax of the scaled scores, as
    in ``attention``; blocked tokens have weight 0. The arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.2.

    >>> x, same = np.array([[2.0, 0.0], [0.0, 4.0]]), np.eye(2)
    >>> output, weights = multi_head_attention(x, x, 0 * same, same, same, same, 2)
    >>> output, weights.shape
    (array([[1., 2.],
           [1., 2.]]), (2, 2, 2))
    """
    x, memory, w_q, w_k, w_v, w_o, may_attend = arguments.floats(
        multi_head_attention, x, memory, w_q, w_k, w_v, w_o, may_attend, n_heads=n_heads
    )
    q, k = split_heads(x @ w_q, n_heads), split_heads(memory @ w_k, n_heads)
    v = split_heads(memory @ w_v, n_heads)
    scores = scaled_scores(q, k)  # (..., n_heads, n, m)
    if may_attend is not None:
        scores = np.where(may_attend[..., np.newaxis, :, :], scores, -np.inf)
    weights = softmax(scores)
    return merge_heads(weights @ v) @ w_o, weights


def count_parameters(d_model: int, n_heads: int, bias: bool) -> int:
    """Count the parameters of multi-head attention in the paper's sizes.

    d_model : length of a token's vector, before and after
    n_heads : number of heads, each with d_k = d_v = d_model / n_heads
    bias : whether each of the four projections also adds a vector of parameters

    Returns how many numbers are learned, as an int. If n_heads does not divide d_model,
    an error of any kind is raised.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.2.

    >>> count_parameters(4, 2, bias=False), count_parameters(4, 2, bias=True)
    (64, 80)
    """
    d_model, n_heads = arguments.whole("d_model ≥ 1, n_heads ≥ 1", d_model, n_heads)
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    d_k = d_model // n_heads
    of_a_head = 3 * (d_model + bias) * d_k  # its queries, keys and values
    return n_heads * of_a_head + (n_heads * d_k + bias) * d_model


def load_torch_parameters(
    state_dict: "dict[str, torch.Tensor]",
) -> dict[str, np.ndarray]:
    """Read the parameters of PyTorch's ``nn.MultiheadAttention`` for our functions.

    state_dict : what its ``state_dict()`` gives: "in_proj_weight" (3 · d_model,
        d_model), the matrices of queries, keys and values on top of each other, each
        (out, in) as ``nn.Linear`` stores them; "out_proj.weight" (d_model, d_model);
        and, if it was made with biases, "in_proj_bias" (3 · d_model,) and
        "out_proj.bias" (d_model,)

    Returns a dictionary of arrays: "w_q", "w_k", "w_v" and "w_o", each (d_model,
    d_model) as in ``x @ w_q``, and, if there are biases, "b_q", "b_k", "b_v" and "b_o",
    each (d_model,). ``state_dict`` and its tensors are not modified.
    Source: PyTorch's documentation of ``torch.nn.MultiheadAttention``.

    >>> import torch
    >>> weight = torch.tensor([[1.0], [2.0], [3.0]])
    >>> load_torch_parameters(
    ...     {"in_proj_weight": weight, "out_proj.weight": torch.tensor([[4.0]])}
    ... )["w_k"]
    array([[2.]], dtype=float32)
    """
    arguments.names(
        "state_dict",
        state_dict,  # kdim gives others
        required="in_proj_weight out_proj.weight",
        optional="in_proj_bias out_proj.bias",
    )
    arrays = {name: part.detach().cpu().numpy() for name, part in state_dict.items()}
    parameters = {}
    stacked = arrays["in_proj_weight"]
    for name, weight in zip("qkv", np.split(stacked, 3), strict=True):
        parameters[f"w_{name}"] = weight.T.copy()
    parameters["w_o"] = arrays["out_proj.weight"].T.copy()
    if "in_proj_bias" in arrays:
        for name, bias in zip("qkv", np.split(arrays["in_proj_bias"], 3), strict=True):
            parameters[f"b_{name}"] = bias.copy()
        parameters["b_o"] = arrays["out_proj.bias"].copy()
    return parameters
