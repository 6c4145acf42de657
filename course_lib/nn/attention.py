"""Attention with a mask, and multi-head attention as a module, in PyTorch.

The same in NumPy is in ``course_lib.attention``, ``heads`` and ``masks``. ``attention``
returns the weights beside the output, since the lessons show them. In training and in
translation nobody reads them: ``MultiHeadAttention.attend`` never makes them.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn import arguments
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
    may_attend : booleans that fit (..., n, m), True where a query may attend; None if
        all may attend to all
    dropout : probability with which a weight is dropped on its way to the output

    Returns two tensors. Row i of the output (..., n, d_v) is the mean of the values,
    weighted for query i; row i of the weights (..., n, m) holds the weights before
    dropout. A query that may attend to no key gets zeros, and its gradient is zero.
    Raises ``TypeError`` for a mask that is not boolean, and ``ValueError`` for shapes
    that do not fit.
    Source: Vaswani et al. (2017), Attention Is All You Need, equation 1.

    >>> q, k = torch.zeros(1, 2), torch.ones(2, 2)
    >>> attention(q, k, torch.tensor([[2.0], [4.0]]))
    (tensor([[3.]]), tensor([[0.5000, 0.5000]]))
    """
    arguments.tensors(attention, q, k, v)
    arguments.real(0, 1, dropout=dropout)
    scores = q @ k.transpose(-1, -2) / k.shape[-1] ** 0.5  # (..., n, m)
    arguments.mask("may_attend", may_attend, scores.shape)
    if may_attend is None:
        weights = scores.softmax(dim=-1)
    else:
        # A row of −∞ alone would become NaN, and its gradient too.
        blocked = ~may_attend
        partly = blocked & may_attend.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(partly, -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(blocked, 0.0)
    return functional.dropout(weights, dropout) @ v, weights


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut each token's vector into heads: (..., n, d) → (..., n_heads, n, d / n_heads).

    >>> split_heads(torch.tensor([[1, 2, 3, 4]]), 2)
    tensor([[[1, 2]],
    <BLANKLINE>
            [[3, 4]]])
    """
    arguments.axes("x (..., n, d)", x)
    arguments.heads(x.shape[-1], n_heads, "d")
    return _split(x, n_heads)


def _split(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Join the heads of each token again: (..., n_heads, n, d) → (..., n, n_heads d).

    >>> merge_heads(torch.tensor([[[1, 2]], [[3, 4]]]))
    tensor([[1, 2, 3, 4]])
    """
    arguments.axes("x (..., n_heads, n, d)", x)
    return _merge(x)


def _merge(x: Tensor) -> Tensor:
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Several heads that attend separately, joined by one more projection.

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
        d_memory : length of the vectors that are attended to, if not d_model
        bias : whether each projection adds a vector of parameters
        dropout : of the weights, while training
        device : the GPU if there is one, else the CPU, if None

        Raises ``ValueError`` if n_heads does not divide d_model.
        """
        super().__init__()
        d_memory = d_model if d_memory is None else d_memory
        arguments.whole(1, d_memory=d_memory)
        arguments.heads(d_model, n_heads)
        arguments.real(0, 1, dropout=dropout)
        arguments.float_dtype(dtype)
        self.n_heads = n_heads
        self.dropout = dropout
        device = best_device(device)

        def projection(d_in: int) -> nn.Linear:
            return nn.Linear(d_in, d_model, bias=bias, device=device, dtype=dtype)

        self.query = projection(d_model)
        self.key = projection(d_memory)
        self.value = projection(d_memory)
        self.output = projection(d_model)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        may_attend: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Let each token attend to the memory.

        x : (..., n, d_model), the tokens that attend
        memory : (..., m, d_memory), the tokens that are attended to; x itself if None
        may_attend : booleans that fit (..., n, m), True where a token may attend, the
            same for all heads; None if all may attend to all

        Returns the output (..., n, d_model) and the weights (..., n_heads, n, m).
        """
        memory = x if memory is None else memory
        leading = arguments.tensors(
            "x (..., n, d_model), memory (..., m, d_memory)",
            *(x, memory),
            like=self.query.weight,
            d_model=self.query.in_features,
            d_memory=self.key.in_features,
        )
        shape = (*leading, x.shape[-2], memory.shape[-2])
        arguments.mask("may_attend", may_attend, shape)
        q = _split(self.query(x), self.n_heads)
        k, v = self.keys_and_values(memory, checked=True)
        may_attend = for_all_heads(may_attend)
        dropout = self.dropout if self.training else 0.0
        output, weights = attention(q, k, v, may_attend, dropout=dropout)
        return self.output(_merge(output)), weights

    def keys_and_values(
        self, memory: Tensor, *, checked: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Compute the keys and values of a memory once, for one or more ``attend``.

        memory : (..., m, d_memory), the tokens that will be attended to
        checked : whether the caller has checked it, as a layer does

        Returns the keys and the values, both (..., n_heads, m, d_k).
        """
        if not checked:
            arguments.tensors(
                "memory (..., m, d_memory)",
                memory,
                like=self.key.weight,
                d_memory=self.key.in_features,
            )
        return (
            _split(self.key(memory), self.n_heads),
            _split(self.value(memory), self.n_heads),
        )

    def attend(
        self,
        x: Tensor,
        keys: Tensor,
        values: Tensor,
        may_attend: Tensor | None = None,
        *,
        causal: bool = False,
        checked: bool = False,
    ) -> Tensor:
        """Let each token attend to keys and values that are there already.

        x : (..., n, d_model), the tokens that attend
        keys : (..., n_heads, m, d_k), from ``keys_and_values``
        values : (..., n_heads, m, d_k), likewise
        may_attend : as in ``forward``
        causal : whether token i may attend to tokens 0 … i only, and only where
            may_attend lets it, if that is given too; m = n
        checked : whether the caller has checked all of these, as a layer does

        Returns the output (..., n, d_model) of ``forward`` in evaluation. The weights
        are never made as a whole, nor dropped. A row that may attend to nothing gets
        zeros before the last projection, and so may, in PyTorch 2.13 on a CPU, a row
        whose scores are all NaN or −∞: ``forward`` gives NaN there. Raises
        ``TypeError`` for a mask that is not boolean.
        Source: Dao et al. (2022), FlashAttention: Fast and Memory-Efficient Exact
        Attention with IO-Awareness, algorithm 1; the formula is equation 1 of Vaswani
        et al. (2017), Attention Is All You Need.
        """
        if not checked:
            self._check(x, keys, values, may_attend, causal)
        q = _split(self.query(x), self.n_heads)
        if causal and may_attend is not None:
            n = x.shape[-2]
            may_attend = may_attend & may_attend.new_ones(n, n).tril()
        output = functional.scaled_dot_product_attention(
            *(q, keys, values),
            attn_mask=for_all_heads(may_attend),
            is_causal=causal and may_attend is None,
        )
        return self.output(_merge(output))

    def attend_causally(self, x: Tensor) -> Tensor:
        """Let each token of x (..., n, d_model) attend to itself and those before."""
        return self.attend(x, *self.keys_and_values(x), causal=True)

    def _check(
        self,
        x: Tensor,
        keys: Tensor,
        values: Tensor,
        may_attend: Tensor | None,
        causal: bool,
    ) -> None:
        d_model = self.query.in_features
        like = self.query.weight
        arguments.tensors("x (..., n, d_model)", x, like=like, d_model=d_model)
        arguments.tensors(
            "keys (..., n_heads, m, d_k), values (..., n_heads, m, d_k)",
            *(keys, values),
            like=like,
            n_heads=self.n_heads,
            d_k=d_model // self.n_heads,
        )
        n, m = x.shape[-2], keys.shape[-2]
        arguments.mask_between("may_attend", may_attend, x, keys[..., 0, :, :])
        if causal and n != m:
            raise ValueError(f"causal needs as many keys as tokens, got {m} and {n}")

    @classmethod
    def from_torch(cls, theirs: nn.MultiheadAttention) -> "MultiHeadAttention":
        """Make a module with copies of the parameters of PyTorch's.

        It computes the same, on the same device, in the same dtype; what is frozen
        stays so. Raises ``ValueError`` for what ours does not have: sequences before
        batches, memories whose keys and values are made from different vectors, extra
        learned keys, a key of zeros.
        """
        arguments.instance("theirs", theirs, nn.MultiheadAttention)
        if theirs.bias_k is not None or theirs.add_zero_attn:
            raise ValueError("add_bias_kv and add_zero_attn are not supported here")
        if theirs.kdim != theirs.vdim:
            raise ValueError(f"kdim={theirs.kdim} and vdim={theirs.vdim} differ")
        if not theirs.batch_first:
            raise ValueError(
                "batch_first=False: attention here takes (batch, n, d_model); make "
                "theirs with batch_first=True"
            )
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
        copy_parameters(ours, _from_torch_names(dict(theirs.named_parameters())))
        return ours.train(theirs.training)


def for_all_heads(may_attend: Tensor | None) -> Tensor | None:
    """Return a mask (..., n, m) as one that is the same for each head."""
    if may_attend is None:
        return None
    return torch.atleast_2d(may_attend).unsqueeze(-3)  # (..., 1, n, m)


def copy_parameters(ours: nn.Module, theirs: dict[str, Tensor]) -> None:
    """Copy the numbers of PyTorch's parameters, and whether they are frozen.

    Raises ``ValueError`` if theirs are others than those that PyTorch's modules have.
    """
    own = dict(ours.named_parameters())
    like = [(each.shape, each.dtype, each.device) for each in own.values()]
    others = [theirs[name] for name in own if name in theirs]
    if own.keys() != theirs.keys() or like != [
        (each.shape, each.dtype, each.device) for each in others
    ]:
        raise ValueError(
            "theirs has been changed since PyTorch made it: its parameters are "
            + ", ".join(f"{k} {tuple(v.shape)} {v.dtype}" for k, v in theirs.items())
        )
    ours.load_state_dict(theirs)
    for name, parameter in own.items():
        parameter.requires_grad_(theirs[name].requires_grad)


@torch.enable_grad()  # else the parts would look as if they were frozen
def _from_torch_names(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the parameters of PyTorch's module under the names of ours."""
    names = ("query", "key", "value")
    if "in_proj_weight" in theirs:
        weights = theirs["in_proj_weight"].chunk(3)
    else:  # keys and values are made from longer or shorter vectors than queries
        weights = tuple(theirs[f"{name}_proj_weight"] for name in "qkv")
    ours = {f"{n}.weight": w for n, w in zip(names, weights, strict=True)}
    ours["output.weight"] = theirs["out_proj.weight"]
    if "in_proj_bias" in theirs:
        biases = theirs["in_proj_bias"].chunk(3)
        ours |= {f"{n}.bias": b for n, b in zip(names, biases, strict=True)}
        ours["output.bias"] = theirs["out_proj.bias"]
    return ours
