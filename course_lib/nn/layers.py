"""The Transformer's decoder layer as a module: for all tokens, or for the newest one.

The same as a function is ``course_lib.nn.blocks.decoder_layer``, and one step of one
head with its cache is ``course_lib.nn.caching``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn.attention import MultiHeadAttention
from course_lib.nn.device import best_device

Theirs = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


def like_theirs(theirs: Theirs) -> dict[str, Any]:
    """Give the arguments that make a layer of ours like theirs.

    Raises ``ValueError`` for what ours does not have: another activation than ReLU;
    vectors of a batch that are not batch first, which ours would read as another text.
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


def renamed(theirs: Theirs, attentions: Mapping[str, str]) -> dict[str, Tensor]:
    """Give their parameters under the names of ours.

    attentions : their names of the attentions, to ours
    """
    parts: dict[str, nn.Module] = {"wide": theirs.linear1, "narrow": theirs.linear2}
    for their_name, our_name in attentions.items():
        parts[our_name] = MultiHeadAttention.from_torch(getattr(theirs, their_name))
    for number in range(len(attentions) + 1):  # one norm per part
        parts[f"norms.{number}"] = getattr(theirs, f"norm{number + 1}")
    return {
        f"{name}.{inner}": parameter
        for name, part in parts.items()
        for inner, parameter in part.state_dict().items()
    }


Part = Callable[[Tensor], Tensor]


class Layer(nn.Module):
    """Parts one after another, each added to what went in, each with a norm."""

    n_parts: int

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
        d_ff : length between the two layers of the feed-forward part
        dropout : of what each part gives, before it is added, while training
        norm_first : True for x + part(norm(x)), False for the paper's norm(x + part(x))
        bias : whether projections and norms add a vector of parameters
        eps : of the norms, added to the variance
        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        self.norm_first = norm_first
        place = best_device(device)

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(
                d_model, n_heads, bias=bias, device=place, dtype=dtype
            )

        def norm() -> nn.LayerNorm:
            return nn.LayerNorm(d_model, eps, bias=bias, device=place, dtype=dtype)

        self.own_attention = attention()
        if self.n_parts == 3:
            self.memory_attention = attention()
        self.wide = nn.Linear(d_model, d_ff, bias=bias, device=place, dtype=dtype)
        self.narrow = nn.Linear(d_ff, d_model, bias=bias, device=place, dtype=dtype)
        self.norms = nn.ModuleList(norm() for _ in range(self.n_parts))
        self.dropout = nn.Dropout(dropout)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Send each token's vector (..., n, d_model), alone, through two layers."""
        return self.narrow(torch.relu(self.wide(x)))

    def in_turn(self, x: Tensor, parts: Sequence[Part]) -> Tensor:
        """Send x (..., n, d_model) through the parts, each with its sum and norm."""
        for part, norm in zip(parts, self.norms, strict=True):
            if self.norm_first:
                x = x + self.dropout(part(norm(x)))
            else:
                x = norm(x + self.dropout(part(x)))
        return x


class EncoderLayer(Layer):
    """All tokens look at each other, then each thinks for itself.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.1; the norm
    first: Xiong et al. (2020), On Layer Normalization in the Transformer Architecture.
    """

    n_parts = 2

    def forward(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Give a tensor like x (..., n, d_model).

        may_attend : booleans that fit (..., n, n), True where a token may look; None if
            all may look at all
        """

        def look_around(y: Tensor) -> Tensor:
            part = self.own_attention
            return part.attend(y, *part.keys_and_values(y), may_attend)

        return self.in_turn(x, [look_around, self.feed_forward])

    @classmethod
    def from_torch(cls, theirs: nn.TransformerEncoderLayer) -> "EncoderLayer":
        """Give a layer with copies of the parameters of PyTorch's.

        It computes the same, on the same device, in the same dtype; only while training
        it drops in fewer places. Raises ``ValueError`` if theirs has another activation
        than ReLU or is not batch_first.
        """
        ours = cls(**like_theirs(theirs))
        ours.load_state_dict(renamed(theirs, {"self_attn": "own_attention"}))
        return ours.train(theirs.training)


class LayerCache(NamedTuple):
    """What a decoder layer keeps between steps: all are (batch, n_heads, …, d_k)."""

    keys: Tensor  # (batch, n_heads, t, d_k), of the t target tokens before
    values: Tensor  # likewise
    memory_keys: Tensor  # (batch, n_heads, m, d_k), of the source; never change
    memory_values: Tensor  # likewise


class DecoderLayer(Layer):
    """The target's tokens look at each other, then at the source, then think.

    Source: as for ``EncoderLayer``, and section 3.2.3.
    """

    n_parts = 3

    def forward(
        self,
        y: Tensor,
        memory: Tensor,
        may_attend: Tensor | None = None,
        memory_may_attend: Tensor | None = None,
        *,
        causal: bool = False,
    ) -> Tensor:
        """Give a tensor like y (..., n, d_model).

        memory : (..., m, d_model), what the encoder made of the source
        may_attend : booleans that fit (..., n, n): where a target token may look in the
            target; None for everywhere
        memory_may_attend : booleans that fit (..., n, m): where it may look in the
            memory; None for everywhere
        causal : instead of may_attend: token i may look at tokens 0 … i, which is fast
        """
        own, cross = self.own_attention, self.memory_attention

        def look_at_target(x: Tensor) -> Tensor:
            if causal:
                return own.attend_causally(x)
            return own.attend(x, *own.keys_and_values(x), may_attend)

        def look_at_memory(x: Tensor) -> Tensor:
            return cross.attend(x, *cross.keys_and_values(memory), memory_may_attend)

        return self.in_turn(y, [look_at_target, look_at_memory, self.feed_forward])

    def with_weights(
        self, y: Tensor, memory: Tensor, memory_may_attend: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Do as ``forward`` with causal=True, and say where the tokens looked.

        Returns a tensor like y, and the weights (..., n_heads, n, m) of the attention
        to the memory.
        """
        seen = []

        def look_at_memory(x: Tensor) -> Tensor:
            output, weights = self.memory_attention(x, memory, memory_may_attend)
            seen.append(weights)
            return output

        def look_at_target(x: Tensor) -> Tensor:
            return self.own_attention.attend_causally(x)

        y = self.in_turn(y, [look_at_target, look_at_memory, self.feed_forward])
        return y, seen[0]

    def start(self, memory: Tensor) -> LayerCache:
        """Compute keys and values of the memory (..., m, d_model) for all steps."""
        keys, values = self.memory_attention.keys_and_values(memory)
        none = keys[..., :0, :]
        return LayerCache(none, none, keys, values)

    def step(
        self, y: Tensor, cache: LayerCache, memory_may_attend: Tensor | None = None
    ) -> tuple[Tensor, LayerCache]:
        """Do for the newest token y (..., 1, d_model) what ``forward`` does for all.

        cache : of the tokens before; it stays as it is
        memory_may_attend : booleans that fit (..., 1, m)

        Returns a tensor like y, and the cache with the newest token's key and value.
        """
        kept = [cache]

        def look_at_target(x: Tensor) -> Tensor:
            key, value = self.own_attention.keys_and_values(x)
            keys = torch.cat([cache.keys, key], dim=-2)
            values = torch.cat([cache.values, value], dim=-2)
            kept.append(cache._replace(keys=keys, values=values))
            return self.own_attention.attend(x, keys, values)

        def look_at_memory(x: Tensor) -> Tensor:
            found = cache.memory_keys, cache.memory_values
            return self.memory_attention.attend(x, *found, memory_may_attend)

        y = self.in_turn(y, [look_at_target, look_at_memory, self.feed_forward])
        return y, kept[-1]

    @classmethod
    def from_torch(cls, theirs: nn.TransformerDecoderLayer) -> "DecoderLayer":
        """Give a layer with copies of the parameters of PyTorch's.

        As in ``EncoderLayer.from_torch``.
        """
        ours = cls(**like_theirs(theirs))
        names = {"self_attn": "own_attention", "multihead_attn": "memory_attention"}
        ours.load_state_dict(renamed(theirs, names))
        return ours.train(theirs.training)


# MERGED course_lib.nn.torch_layers: Reading PyTorch's Transformer layers: what they are like, and their parameters.
#
#   Ours are in ``course_lib.nn.transformer_layers``.
#
# MERGED course_lib.nn.transformer_layers: The Transformer's encoder layer as a module, and what all its layers have in common.
#
#   The same as functions is in ``course_lib.nn.blocks``. The decoder layer is in
#   ``course_lib.nn.decoder_layer``; the whole model is in ``course_lib.nn.transformer``.
#   How PyTorch's parameters get in here is in ``course_lib.nn.torch_layers``.
#
