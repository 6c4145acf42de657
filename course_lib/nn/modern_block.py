"""What today's decoder has in place of 2017's: RMSNorm, SwiGLU, grouped queries.

These are functions of lesson 12, with their parameters as arguments. The rotary
positions that go with them are ``course_lib.positions.rotary``; the module that owns
parameters and is trained is ``course_lib.nn.language_model.LanguageModel``.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from course_lib.nn import arguments
from course_lib.nn.attention import attention


def rms_norm(x: Tensor, gain: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide each token's vector by the root of the mean of its squares, and scale it.

    x : (..., d_model), one token per row
    gain : (d_model), learned: the normalised vector is multiplied by it
    eps : added to the mean of the squares, under the root

    Returns a tensor like x; its row i depends on row i of x alone. No mean is
    subtracted and nothing is added at the end, unlike in ``layer_norm``. x is not
    modified.
    Source: Zhang and Sennrich (2019), Root Mean Square Layer Normalization, equation 4;
    eps is used as in PyTorch's ``nn.RMSNorm``.

    >>> rms_norm(torch.tensor([3.0, 4.0]), torch.tensor([1.0, 10.0]))
    tensor([ 0.8485, 11.3137])
    """
    arguments.tensors(rms_norm, x, gain)
    arguments.real(0, math.inf, eps=eps)
    mean_square = (x**2).mean(dim=-1, keepdim=True)  # (..., 1)
    return x / torch.sqrt(mean_square + eps) * gain


def swiglu(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """Send each token's vector, alone, through a feed-forward network with a gate.

    x : (..., d_model), one token per row
    w_gate : (d_model, d_ff), its result goes through SiLU, SiLU(a) = a / (1 + e^−a)
    w_up : (d_model, d_ff), its result is multiplied by that, number by number
    w_down : (d_ff, d_model), turns the product into a vector of length d_model

    Returns a tensor like x; its row i depends on row i of x alone. There are no biases.
    x is not modified.
    Source: Shazeer (2020), GLU Variants Improve Transformer, equation 6.

    >>> x, w = torch.tensor([[1.0], [-1.0]]), torch.tensor([[2.0]])
    >>> swiglu(x, w, w, w)
    tensor([[7.0464],
            [0.9536]])
    """
    arguments.tensors(swiglu, x, w_gate, w_up, w_down)
    return (functional.silu(x @ w_gate) * (x @ w_up)) @ w_down


def grouped_query_attention(
    q: Tensor, k: Tensor, v: Tensor, may_attend: Tensor | None = None
) -> Tensor:
    """Let several heads of queries share one head of keys and values.

    q : (..., n_heads, n, d_k), one query per row
    k : (..., n_kv_heads, m, d_k), one key per row; n_kv_heads divides n_heads
    v : (..., n_kv_heads, m, d_v), one value per row
    may_attend : booleans that fit (..., n, m), True where a query may attend, the same
        for all heads; None if all may attend to all

    Returns the output (..., n_heads, n, d_v). Neighbouring heads form a group: the
    first n_heads / n_kv_heads heads of queries attend with head 0 of keys and values,
    the next as many with head 1, and so on. So n_kv_heads = n_heads is multi-head
    attention, and n_kv_heads = 1 is multi-query attention. A query that may attend to
    no key gets zeros. The arguments are not modified.
    Source: Ainslie et al. (2023), GQA: Training Generalized Multi-Query Transformer
    Models from Multi-Head Checkpoints, section 2.2.

    >>> q, k = torch.zeros(4, 1, 2), torch.zeros(2, 1, 2)
    >>> v = torch.tensor([[[5.0]], [[7.0]]])
    >>> grouped_query_attention(q, k, v).flatten()
    tensor([5., 5., 7., 7.])
    """
    arguments.grouped_queries(q, k, v, may_attend)
    n_heads, n_kv_heads = q.shape[-3], k.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads={n_heads} is not divisible by n_kv_heads={n_kv_heads}"
        )
    if may_attend is not None:  # the same for all heads, and for all groups of them
        may_attend = torch.atleast_2d(may_attend)[..., None, None, :, :]
    groups = q.unflatten(-3, (n_kv_heads, -1))  # (..., n_kv_heads, group, n, d_k)
    output, _ = attention(groups, k.unsqueeze(-3), v.unsqueeze(-3), may_attend)
    return output.flatten(-4, -3)


def query_groups(n_heads: int, n_kv_heads: int) -> int:
    """Return how many heads of queries share a head of keys and values.

    Raises ``ValueError`` if n_kv_heads does not divide n_heads.

    >>> query_groups(8, 2)
    4
    """
    arguments.whole(1, n_heads=n_heads, n_kv_heads=n_kv_heads)
    if n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads={n_heads} is not divisible by n_kv_heads={n_kv_heads}"
        )
    return n_heads // n_kv_heads
