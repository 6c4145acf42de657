"""The Transformer's decoder layer as a module: for all tokens, or for the newest one.

The same as a function is ``course_lib.nn.blocks.decoder_layer``, and one step of one
head with its cache is ``course_lib.nn.caching``.
"""

from typing import NamedTuple

from torch import Tensor, nn

from course_lib.nn.fast_attention import keys_and_values, longer, look, look_back
from course_lib.nn.torch_layers import like_theirs, renamed
from course_lib.nn.transformer_layers import Layer


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
                return look_back(own, x)
            return look(own, x, *keys_and_values(own, x), may_attend)

        def look_at_memory(x: Tensor) -> Tensor:
            return look(cross, x, *keys_and_values(cross, memory), memory_may_attend)

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
            return look_back(self.own_attention, x)

        y = self.in_turn(y, [look_at_target, look_at_memory, self.feed_forward])
        return y, seen[0]

    def start(self, memory: Tensor) -> LayerCache:
        """Compute keys and values of the memory (..., m, d_model) for all steps."""
        keys, values = keys_and_values(self.memory_attention, memory)
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
            key, value = keys_and_values(self.own_attention, x)
            keys, values = longer(cache.keys, key), longer(cache.values, value)
            kept.append(cache._replace(keys=keys, values=values))
            return look(self.own_attention, x, keys, values)

        def look_at_memory(x: Tensor) -> Tensor:
            found = cache.memory_keys, cache.memory_values
            return look(self.memory_attention, x, *found, memory_may_attend)

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
