"""Attention with a mask, and multi-head attention as a module, in PyTorch.

The same in NumPy is in ``course_lib.attention``, ``heads`` and ``masks``. Weights are
given back beside every output, since the lessons look at them; what is fast because it
never makes them is another lesson's.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from course_lib.nn.device import best_device


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    may_attend: Tensor | None = None,
    *,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Mix the values, for each query, by how well its key matches.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row
    v : (..., m, d_v), one value per row; value j belongs to key j
    may_attend : booleans that fit (..., n, m), True where a query may look; None if all
        may look at all
    dropout : probability with which a weight is dropped on its way to the output

    Returns two tensors. Row i of the output (..., n, d_v) is the mean of the values,
    weighted for query i; row i of the weights (..., n, m) holds the weights before
    dropout. A query that may look at no key gets zeros, and its gradient is zero.
    Source: Vaswani et al. (2017), Attention Is All You Need, equation 1.

    >>> q, k = torch.zeros(1, 2), torch.ones(2, 2)
    >>> attention(q, k, torch.tensor([[2.0], [4.0]]))
    (tensor([[3.]]), tensor([[0.5000, 0.5000]]))
    """
    scores = q @ k.transpose(-1, -2) / k.shape[-1] ** 0.5  # (..., n, m)
    if may_attend is None:
        weights = scores.softmax(dim=-1)
    else:
        # A row of −∞ alone would become NaN, and its gradient too.
        blocked = ~may_attend
        partly = blocked & may_attend.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(partly, -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(blocked, 0.0)
    return functional.dropout(weights, dropout) @ v, weights


class MultiHeadAttention(nn.Module):
    """Several looks at once, joined by one more projection.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.2.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_memory: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make the four projections, with random parameters.

        d_model : length of a token's vector, before and after
        n_heads : number of heads, each with d_k = d_v = d_model / n_heads
        d_memory : length of the vectors that are looked at, if not d_model
        bias : whether each projection adds a vector of parameters
        dropout : of the weights, while training
        device : the GPU if there is one, else the CPU, if None

        Raises ``ValueError`` if n_heads does not divide d_model.
        """
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model={d_model} does not divide by n_heads={n_heads}")
        self.n_heads = n_heads
        self.dropout = dropout
        place = best_device(device)

        def projection(d_in: int) -> nn.Linear:
            return nn.Linear(d_in, d_model, bias=bias, device=place, dtype=dtype)

        self.query = projection(d_model)
        self.key = projection(d_memory or d_model)
        self.value = projection(d_memory or d_model)
        self.output = projection(d_model)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        may_attend: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Let each token look at the memory.

        x : (..., n, d_model), the tokens that look
        memory : (..., m, d_memory), the tokens that are looked at; x itself if None
        may_attend : booleans that fit (..., n, m), True where a token may look, the
            same for all heads; None if all may look at all

        Returns the output (..., n, d_model) and the weights (..., n_heads, n, m).
        """
        memory = x if memory is None else memory
        q, k = self._split(self.query(x)), self._split(self.key(memory))
        v = self._split(self.value(memory))  # (..., n_heads, m, d_v)
        if may_attend is not None:
            may_attend = may_attend.unsqueeze(-3)  # (..., 1, n, m)
        dropout = self.dropout if self.training else 0.0
        found, weights = attention(q, k, v, may_attend, dropout=dropout)
        return self.output(found.transpose(-3, -2).flatten(-2)), weights

    def _split(self, x: Tensor) -> Tensor:
        """(..., n, d_model) → (..., n_heads, n, d_model / n_heads)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)

    @classmethod
    def from_torch(cls, theirs: nn.MultiheadAttention) -> "MultiHeadAttention":
        """Give a module with copies of the parameters of PyTorch's.

        It computes the same, on the same device, in the same dtype. Raises
        ``ValueError`` for what ours does not have: memories whose keys and values are
        made from different vectors, extra learned keys, a key of zeros.
        """
        if theirs.bias_k is not None or theirs.add_zero_attn:
            raise ValueError("add_bias_kv and add_zero_attn have no place here")
        if theirs.kdim != theirs.vdim:
            raise ValueError(f"kdim={theirs.kdim} and vdim={theirs.vdim} differ")
        like = theirs.out_proj.weight
        ours = cls(
            theirs.embed_dim,
            theirs.num_heads,
            d_memory=theirs.kdim,
            bias=theirs.in_proj_bias is not None,
            dropout=theirs.dropout,
            device=like.device,
            dtype=like.dtype,
        )
        ours.load_state_dict(_renamed(theirs.state_dict()))
        return ours.train(theirs.training)


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give the parameters of PyTorch's module under the names of ours."""
    names = ("query", "key", "value")
    if "in_proj_weight" in state:
        weights = state["in_proj_weight"].chunk(3)
    else:  # keys and values are made from longer or shorter vectors than queries
        weights = tuple(state[f"{name}_proj_weight"] for name in "qkv")
    found = {f"{n}.weight": w for n, w in zip(names, weights, strict=True)}
    found["output.weight"] = state["out_proj.weight"]
    if "in_proj_bias" in state:
        biases = state["in_proj_bias"].chunk(3)
        found |= {f"{n}.bias": b for n, b in zip(names, biases, strict=True)}
        found["output.bias"] = state["out_proj.bias"]
    return found


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


# MERGED course_lib.nn.fast_attention: Looking without weights: for training and for translating, where nobody sees them.
#
#   The parameters are those of ``course_lib.nn.attention.MultiHeadAttention``, whose own
#   forward gives the weights too.
#
