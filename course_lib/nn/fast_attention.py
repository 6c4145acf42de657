"""Looking without weights: for training and for translating, where nobody sees them.

The parameters are those of ``course_lib.nn.attention.MultiHeadAttention``, whose own
forward gives the weights too.
"""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from course_lib.nn.attention import MultiHeadAttention


def keys_and_values(part: MultiHeadAttention, memory: Tensor) -> tuple[Tensor, Tensor]:
    """Compute what will be looked at, so that it can be kept for later looks.

    part : whose parameters are used
    memory : (..., m, d_memory), the tokens that will be looked at

    Returns the keys and the values, both (..., n_heads, m, d_k).
    """
    return heads(part.key(memory), part), heads(part.value(memory), part)


def look(
    part: MultiHeadAttention,
    x: Tensor,
    keys: Tensor,
    values: Tensor,
    may_attend: Tensor | None = None,
    *,
    causal: bool = False,
) -> Tensor:
    """Let each token look at keys and values that are there already.

    part : whose parameters are used
    x : (..., n, d_model), the tokens that look
    keys : (..., n_heads, m, d_k), from ``keys_and_values``
    values : (..., n_heads, m, d_k), likewise
    may_attend : booleans that fit (..., n, m), the same for all heads; None for all
    causal : whether token i may look at tokens 0 … i only; without may_attend, m = n

    Returns the output (..., n, d_model) that ``part`` gives in evaluation. The weights
    are never made as a whole, nor dropped. A row that may look nowhere finds zeros.
    Source: Dao et al. (2022), FlashAttention: Fast and Memory-Efficient Exact Attention
    with IO-Awareness, algorithm 1; the paper's formula is equation 1 of Vaswani et al.
    """
    if may_attend is not None:
        may_attend = may_attend.unsqueeze(-3)  # (..., 1, n, m)
    q = heads(part.query(x), part)
    found = scaled_dot_product_attention(
        q, keys, values, attn_mask=may_attend, is_causal=causal
    )
    return part.output(found.transpose(-3, -2).flatten(-2))


def look_back(part: MultiHeadAttention, x: Tensor) -> Tensor:
    """Let each token look at itself and at those before it: x is (..., n, d_model)."""
    return look(part, x, *keys_and_values(part, x), causal=x.shape[-2] > 1)


def heads(x: Tensor, part: MultiHeadAttention) -> Tensor:
    """(..., n, d_model) → (..., n_heads, n, d_model / n_heads)."""
    return x.unflatten(-1, (part.n_heads, -1)).transpose(-3, -2)


def longer(before: Tensor, newest: Tensor) -> Tensor:
    """Add the newest keys, or values, behind those before: along axis −2."""
    return torch.cat([before, newest], dim=-2)
