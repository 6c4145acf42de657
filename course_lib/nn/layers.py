"""The Transformer's encoder and decoder layer as modules that can be trained.

The same as functions is in ``course_lib.nn.functional``; one step of one head with its
cache is ``course_lib.nn.decoding.cached_step``. The whole model is in
``course_lib.nn.transformer``.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn import arguments
from course_lib.nn.attention import MultiHeadAttention, copy_parameters
from course_lib.nn.device import best_device

Sublayer = Callable[[Tensor], Tensor]
TorchLayer = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


def add(x: Tensor, output: Tensor) -> Tensor:
    """Return x + output; in place of the output if no gradient needs it: faster."""
    return x + output if torch.is_grad_enabled() else output.add_(x)


class TransformerLayer(nn.Module):
    """Sublayers one after another, each with a residual connection and a norm."""

    n_sublayers: int
    torch_type: type[TorchLayer]

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        norm_first: bool = False,
        bias: bool = True,
        eps: float = 1e-5,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a layer with random parameters.

        d_model : length of a token's vector
        n_heads : number of heads of each attention
        d_ff : length between the two layers of the feed-forward network
        dropout : of each sublayer's output, before it is added, while training
        norm_first : True for x + sublayer(norm(x)), False for the paper's
            norm(x + sublayer(x))
        bias : whether projections and norms add a vector of parameters
        eps : of the norms, added to the variance
        device : the GPU if there is one, else the CPU, if None

        Raises ``ValueError`` if n_heads does not divide d_model.
        """
        super().__init__()
        arguments.heads(d_model, n_heads)
        arguments.whole(1, d_ff=d_ff)
        arguments.real(0, 1, dropout=dropout)
        arguments.real(0, math.inf, eps=eps)
        arguments.float_dtype(dtype)
        self.norm_first = norm_first
        device = best_device(device)

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(
                d_model, n_heads, bias=bias, device=device, dtype=dtype
            )

        def norm() -> nn.LayerNorm:
            return nn.LayerNorm(d_model, eps, bias=bias, device=device, dtype=dtype)

        self.self_attention = attention()
        if self.n_sublayers == 3:
            self.cross_attention = attention()
        self.linear_1 = nn.Linear(d_model, d_ff, bias=bias, device=device, dtype=dtype)
        self.linear_2 = nn.Linear(d_ff, d_model, bias=bias, device=device, dtype=dtype)
        self.norms = nn.ModuleList(norm() for _ in range(self.n_sublayers))
        self.dropout = nn.Dropout(dropout)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Send each token's vector (..., n, d_model), alone, through two layers."""
        hidden = self.linear_1(x)
        # In place, a third of its time is saved; for gradients it would cost more.
        hidden = functional.relu(hidden, inplace=not torch.is_grad_enabled())
        return self.linear_2(hidden)

    def apply_sublayers(self, x: Tensor, sublayers: Sequence[Sublayer]) -> Tensor:
        """Send x (..., n, d_model) through sublayers, residual connections and norms.

        The last sublayer is the feed-forward network, here as in the paper.
        """
        for sublayer, norm in zip(
            [*sublayers, self.feed_forward], self.norms, strict=True
        ):
            if self.norm_first:
                x = add(x, self.dropout(sublayer(norm(x))))
            else:
                x = norm(add(x, self.dropout(sublayer(x))))
        return x

    def _check(self, shapes: str, *values: Tensor) -> tuple[int, ...]:
        """Refuse tokens and memories that this layer cannot take."""
        linear = self.linear_1
        return arguments.tensors(
            shapes, *values, like=linear.weight, d_model=linear.in_features
        )

    @classmethod
    def from_torch(cls, theirs: TorchLayer) -> Self:
        """Make a layer with copies of the parameters of PyTorch's.

        It computes the same, on the same device, in the same dtype, and what is frozen
        stays so; only while training it has fewer dropouts. Raises ``ValueError`` if
        theirs has another activation than ReLU, other norms than LayerNorm, several
        probabilities of dropout, or is not batch_first.
        """
        arguments.instance("theirs", theirs, cls.torch_type)
        _refuse_what_ours_has_not(theirs)
        like = theirs.linear1.weight
        ours = cls(
            theirs.linear1.in_features,
            theirs.self_attn.num_heads,
            theirs.linear1.out_features,
            dropout=theirs.dropout1.p,
            norm_first=theirs.norm_first,
            bias=theirs.linear1.bias is not None,
            device=like.device,
            dtype=like.dtype,
        )
        ours.self_attention = MultiHeadAttention.from_torch(theirs.self_attn)
        if isinstance(theirs, nn.TransformerDecoderLayer):
            ours.cross_attention = MultiHeadAttention.from_torch(theirs.multihead_attn)
        norms = zip(ours.norms, _norms_of(theirs), strict=True)
        pairs = [(ours.linear_1, theirs.linear1), (ours.linear_2, theirs.linear2)]
        for mine, other in [*pairs, *norms]:
            copy_parameters(mine, dict(other.named_parameters()))
            if isinstance(mine, nn.LayerNorm) and isinstance(other, nn.LayerNorm):
                mine.eps = other.eps
        return ours.train(theirs.training)


class EncoderLayer(TransformerLayer):
    """Self-attention, then a feed-forward network.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.1; the norm
    first: Xiong et al. (2020), On Layer Normalization in the Transformer Architecture.
    """

    n_sublayers = 2
    torch_type = nn.TransformerEncoderLayer

    def forward(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Return a tensor like x (..., n, d_model).

        may_attend : booleans that fit (..., n, n), True where a token may attend; None
            if all may attend to all
        """
        leading = self._check("x (..., n, d_model)", x)
        n = x.shape[-2]
        arguments.mask("may_attend", may_attend, (*leading, n, n))
        attention = self.self_attention

        def attend(y: Tensor) -> Tensor:
            keys_and_values = attention.keys_and_values(y, checked=True)
            return attention.attend(y, *keys_and_values, may_attend, checked=True)

        return self.apply_sublayers(x, [attend])


class KVCache(NamedTuple):
    """Keys and values that a decoder layer keeps between steps."""

    keys: Tensor  # (batch, n_heads, t, d_k), of the t target tokens before
    values: Tensor  # likewise
    memory_keys: Tensor  # (batch, n_heads, m, d_k), of the source; never change
    memory_values: Tensor  # likewise


class DecoderLayer(TransformerLayer):
    """Self-attention, then cross-attention, then a feed-forward network.

    Source: as for ``EncoderLayer``, and section 3.2.3.
    """

    n_sublayers = 3
    torch_type = nn.TransformerDecoderLayer

    def forward(
        self,
        y: Tensor,
        memory: Tensor,
        may_attend: Tensor | None = None,
        memory_may_attend: Tensor | None = None,
        *,
        causal: bool = False,
    ) -> Tensor:
        """Return a tensor like y (..., n, d_model).

        memory : (..., m, d_model), the encoder's output
        may_attend : booleans that fit (..., n, n): where a target token may attend in
            the target; None for everywhere
        memory_may_attend : booleans that fit (..., n, m): where it may attend in the
            memory; None for everywhere
        causal : whether token i may attend to tokens 0 … i only, and only where
            may_attend lets it, if that is given too; alone, it is fast
        """
        self._check_memory(y, memory, may_attend, memory_may_attend)
        self_attention, cross_attention = self.self_attention, self.cross_attention

        def attend_to_target(x: Tensor) -> Tensor:
            keys_and_values = self_attention.keys_and_values(x, checked=True)
            return self_attention.attend(
                x, *keys_and_values, may_attend, causal=causal, checked=True
            )

        def attend_to_memory(x: Tensor) -> Tensor:
            keys_and_values = cross_attention.keys_and_values(memory, checked=True)
            return cross_attention.attend(
                x, *keys_and_values, memory_may_attend, checked=True
            )

        return self.apply_sublayers(y, [attend_to_target, attend_to_memory])

    def _check_memory(
        self,
        y: Tensor,
        memory: Tensor,
        may_attend: Tensor | None,
        memory_may_attend: Tensor | None,
    ) -> None:
        shapes = "y (..., n, d_model), memory (..., m, d_model)"
        leading = self._check(shapes, y, memory)
        n, m = y.shape[-2], memory.shape[-2]
        arguments.mask("may_attend", may_attend, (*leading, n, n))
        arguments.mask("memory_may_attend", memory_may_attend, (*leading, n, m))

    def forward_with_weights(
        self, y: Tensor, memory: Tensor, memory_may_attend: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the result of ``forward`` with causal=True, and the cross-attention.

        Returns a tensor like y, and the weights (..., n_heads, n, m) of the attention
        to the memory.
        """
        self._check_memory(y, memory, None, memory_may_attend)
        weights = []

        def attend_to_memory(x: Tensor) -> Tensor:
            output, memory_weights = self.cross_attention(x, memory, memory_may_attend)
            weights.append(memory_weights)
            return output

        y = self.apply_sublayers(
            y, [self.self_attention.attend_causally, attend_to_memory]
        )
        return y, weights[0]

    def initial_cache(self, memory: Tensor) -> KVCache:
        """Compute keys and values of the memory (..., m, d_model) for all steps."""
        keys, values = self.cross_attention.keys_and_values(memory)
        none = keys[..., :0, :]
        return KVCache(none, none, keys, values)

    def step(
        self, y: Tensor, cache: KVCache, memory_may_attend: Tensor | None = None
    ) -> tuple[Tensor, KVCache]:
        """Compute for the newest token what ``forward`` computes for all of them.

        y : (..., 1, d_model), the newest token
        cache : of the tokens before; it is not modified
        memory_may_attend : booleans that fit (..., 1, m)

        Returns a tensor like y, and the cache with the newest token's key and value.
        """
        self._check("y (..., 1, d_model)", y)
        if y.shape[:-2] != cache.keys.shape[:-3]:
            raise ValueError(
                f"cache is of a batch {tuple(cache.keys.shape[:-3])}, and y of one "
                f"{tuple(y.shape[:-2])}: select the cache's rows too"
            )
        shape = (*y.shape[:-1], cache.memory_keys.shape[-2])  # (..., 1, m)
        arguments.mask("memory_may_attend", memory_may_attend, shape)

        def attend_to_target(x: Tensor) -> Tensor:
            nonlocal cache
            key, value = self.self_attention.keys_and_values(x, checked=True)
            cache = cache._replace(
                keys=torch.cat([cache.keys, key], dim=-2),
                values=torch.cat([cache.values, value], dim=-2),
            )
            return self.self_attention.attend(x, cache.keys, cache.values, checked=True)

        def attend_to_memory(x: Tensor) -> Tensor:
            return self.cross_attention.attend(
                x,
                cache.memory_keys,
                cache.memory_values,
                memory_may_attend,
                checked=True,
            )

        y = self.apply_sublayers(y, [attend_to_target, attend_to_memory])
        return y, cache


def _norms_of(theirs: TorchLayer) -> list[nn.Module]:
    return [module for name, module in theirs.named_children() if "norm" in name]


def _refuse_what_ours_has_not(theirs: TorchLayer) -> None:
    """Raise ``ValueError`` for what would compute something else here.

    That includes vectors of a batch that are not batch first: ours would take them for
    tokens of one sequence.
    """
    activation = theirs.activation
    relus = (functional.relu, torch.relu, torch.Tensor.relu)
    if activation not in relus and not isinstance(activation, nn.ReLU):
        name = getattr(activation, "__name__", type(activation).__name__)
        raise ValueError(f"activation={name!r}: the layers here have relu alone")
    if not theirs.self_attn.batch_first:
        raise ValueError("batch_first=False: the layers here take (batch, n, d_model)")
    if others := {type(norm).__name__ for norm in _norms_of(theirs)} - {"LayerNorm"}:
        raise ValueError(f"norm={others.pop()}: the layers here have LayerNorm alone")
    names = [name for name, _ in theirs.named_children() if name[:-1] == "dropout"]
    if len({getattr(theirs, name).p for name in names}) > 1:
        raise ValueError(f"{', '.join(names)} differ: the layers here have one dropout")
