"""The Transformer's encoder and decoder layer as modules that can be trained.

The same as functions is in ``course_lib.nn.functional``; one step of one head with its
cache is ``course_lib.nn.decoding.cached_step``. The whole model is in
``course_lib.nn.transformer``.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn.attention import MultiHeadAttention
from course_lib.nn.device import best_device

Sublayer = Callable[[Tensor], Tensor]
TorchLayer = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


class TransformerLayer(nn.Module):
    """Sublayers one after another, each with a residual connection and a norm."""

    n_sublayers: int

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
        """
        super().__init__()
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
        return self.linear_2(torch.relu(self.linear_1(x)))

    def apply_sublayers(self, x: Tensor, sublayers: Sequence[Sublayer]) -> Tensor:
        """Send x (..., n, d_model) through sublayers, residual connections and norms.

        The last sublayer is the feed-forward network, here as in the paper.
        """
        for sublayer, norm in zip(
            [*sublayers, self.feed_forward], self.norms, strict=True
        ):
            if self.norm_first:
                x = x + self.dropout(sublayer(norm(x)))
            else:
                x = norm(x + self.dropout(sublayer(x)))
        return x

    @classmethod
    def from_torch(cls, theirs: TorchLayer) -> Self:
        """Make a layer with copies of the parameters of PyTorch's.

        It computes the same, on the same device, in the same dtype; only while training
        it has fewer dropouts. Raises ``ValueError`` if theirs has another activation
        than ReLU or is not batch_first.
        """
        ours = cls(**_options_from_torch(theirs))
        ours.load_state_dict(_parameters_from_torch(theirs))
        return ours.train(theirs.training)


class EncoderLayer(TransformerLayer):
    """Self-attention, then a feed-forward network.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.1; the norm
    first: Xiong et al. (2020), On Layer Normalization in the Transformer Architecture.
    """

    n_sublayers = 2

    def forward(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Return a tensor like x (..., n, d_model).

        may_attend : booleans that fit (..., n, n), True where a token may attend; None
            if all may attend to all
        """
        attention = self.self_attention

        def attend(y: Tensor) -> Tensor:
            return attention.attend(y, *attention.keys_and_values(y), may_attend)

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
        causal : instead of may_attend: token i may attend to tokens 0 … i, which is
            fast
        """
        self_attention, cross_attention = self.self_attention, self.cross_attention

        def attend_to_target(x: Tensor) -> Tensor:
            if causal:
                return self_attention.attend_causally(x)
            keys_and_values = self_attention.keys_and_values(x)
            return self_attention.attend(x, *keys_and_values, may_attend)

        def attend_to_memory(x: Tensor) -> Tensor:
            keys_and_values = cross_attention.keys_and_values(memory)
            return cross_attention.attend(x, *keys_and_values, memory_may_attend)

        return self.apply_sublayers(y, [attend_to_target, attend_to_memory])

    def forward_with_weights(
        self, y: Tensor, memory: Tensor, memory_may_attend: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the result of ``forward`` with causal=True, and the cross-attention.

        Returns a tensor like y, and the weights (..., n_heads, n, m) of the attention
        to the memory.
        """
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
        cache : of the tokens before; it stays as it is
        memory_may_attend : booleans that fit (..., 1, m)

        Returns a tensor like y, and the cache with the newest token's key and value.
        """

        def attend_to_target(x: Tensor) -> Tensor:
            nonlocal cache
            key, value = self.self_attention.keys_and_values(x)
            cache = cache._replace(
                keys=torch.cat([cache.keys, key], dim=-2),
                values=torch.cat([cache.values, value], dim=-2),
            )
            return self.self_attention.attend(x, cache.keys, cache.values)

        def attend_to_memory(x: Tensor) -> Tensor:
            return self.cross_attention.attend(
                x, cache.memory_keys, cache.memory_values, memory_may_attend
            )

        y = self.apply_sublayers(y, [attend_to_target, attend_to_memory])
        return y, cache


def _options_from_torch(theirs: TorchLayer) -> dict[str, Any]:
    """Return the arguments that make a layer of ours like PyTorch's.

    Raises ``ValueError`` for what ours does not have: another activation than ReLU;
    vectors of a batch that are not batch first, which ours would mix up with tokens.
    """
    activation = theirs.activation
    if not (activation is functional.relu or isinstance(activation, nn.ReLU)):
        name = getattr(activation, "__name__", type(activation).__name__)
        raise ValueError(f"activation={name!r}: the layers here have relu alone")
    if not theirs.self_attn.batch_first:
        raise ValueError("batch_first=False: the layers here take (batch, n, d_model)")
    like = theirs.linear1.weight
    return {
        "d_model": theirs.linear1.in_features,
        "n_heads": theirs.self_attn.num_heads,
        "d_ff": theirs.linear1.out_features,
        "dropout": theirs.dropout1.p,
        "norm_first": theirs.norm_first,
        "bias": theirs.linear1.bias is not None,
        "eps": theirs.norm1.eps,
        "device": like.device,
        "dtype": like.dtype,
    }


def _parameters_from_torch(theirs: TorchLayer) -> dict[str, Tensor]:
    """Return the parameters of PyTorch's layer under the names of ours."""
    attentions = {"self_attention": theirs.self_attn}
    if isinstance(theirs, nn.TransformerDecoderLayer):
        attentions["cross_attention"] = theirs.multihead_attn
    modules: dict[str, nn.Module] = {
        "linear_1": theirs.linear1,
        "linear_2": theirs.linear2,
    }
    for name, attention in attentions.items():
        modules[name] = MultiHeadAttention.from_torch(attention)
    for i in range(len(attentions) + 1):  # one norm per sublayer
        modules[f"norms.{i}"] = getattr(theirs, f"norm{i + 1}")
    return {
        f"{name}.{inner}": parameter
        for name, module in modules.items()
        for inner, parameter in module.state_dict().items()
    }
