"""The Transformer's encoder and decoder: layers, one on another, and a norm at the end.

The whole model, with tokens, is in ``course_lib.nn.transformer``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from course_lib.nn.decoder_layer import DecoderLayer, LayerCache
from course_lib.nn.transformer_layers import EncoderLayer


@dataclass(frozen=True)
class TransformerSizes:
    """How large a Transformer is, in plain numbers.

    vocab_size : number of tokens, of both languages together
    d_model : length of a token's vector
    n_heads : number of heads of each attention
    n_layers : number of layers of the encoder, and as many of the decoder
    d_ff : length between the two layers of the feed-forward parts
    dropout : of each part's output and of the embedded tokens, while training
    norm_first : True for x + part(norm(x)), False for the paper's norm(x + part(x))
    n_places : how many tokens a text may have at most
    padding : the number that fills texts up
    """

    vocab_size: int
    d_model: int = 128
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.0
    norm_first: bool = True
    n_places: int = 256
    padding: int = 0


class Memory(NamedTuple):
    """What the encoder made of a batch of sources."""

    vectors: Tensor  # (batch, m, d_model)
    may_attend: Tensor  # (batch, 1, m), False where a source is filled up


class TransformerState(NamedTuple):
    """What the decoder keeps of the target tokens before."""

    place: int  # of the next token
    may_attend: Tensor  # (batch, 1, m)
    layers: tuple[LayerCache, ...]

    def select(self, rows: Tensor) -> "TransformerState":
        """Give a state whose row i is row rows[i] of this one."""
        layers = (LayerCache(*(kept[rows] for kept in layer)) for layer in self.layers)
        return TransformerState(self.place, self.may_attend[rows], tuple(layers))


class Encoder(nn.Module):
    """Layers in which all tokens of a source look at each other, and a norm."""

    def __init__(
        self, sizes: TransformerSizes, device: torch.device, dtype: torch.dtype | None
    ) -> None:
        """Make the layers, with random parameters."""
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(
                sizes.d_model,
                sizes.n_heads,
                sizes.d_ff,
                dropout=sizes.dropout,
                norm_first=sizes.norm_first,
                device=device,
                dtype=dtype,
            )
            for _ in range(sizes.n_layers)
        )
        self.norm = nn.LayerNorm(sizes.d_model, device=device, dtype=dtype)

    def forward(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Give a tensor like x (..., n, d_model); may_attend: fits (..., n, n)."""
        for layer in self.layers:
            x = layer(x, may_attend)
        return self.norm(x)


class Decoder(nn.Module):
    """Layers in which a target's tokens look back, and at the source, and a norm."""

    def __init__(
        self, sizes: TransformerSizes, device: torch.device, dtype: torch.dtype | None
    ) -> None:
        """Make the layers, with random parameters."""
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(
                sizes.d_model,
                sizes.n_heads,
                sizes.d_ff,
                dropout=sizes.dropout,
                norm_first=sizes.norm_first,
                device=device,
                dtype=dtype,
            )
            for _ in range(sizes.n_layers)
        )
        self.norm = nn.LayerNorm(sizes.d_model, device=device, dtype=dtype)

    def forward(self, y: Tensor, memory: Memory) -> Tensor:
        """Give a tensor like y (batch, n, d_model): token i looks at tokens 0 … i."""
        for layer in self.layers:
            # Filling stands behind the tokens, so not to look ahead keeps it out too.
            y = layer(y, memory.vectors, None, memory.may_attend, causal=True)
        return self.norm(y)

    def start(self, memory: Memory) -> TransformerState:
        """Give the state before the first token."""
        kept = tuple(layer.start(memory.vectors) for layer in self._typed())
        return TransformerState(0, memory.may_attend, kept)

    def step(
        self, y: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Do for the newest token y (batch, 1, d_model) what ``forward`` does for all.

        Returns a tensor like y, and the state after it; the state before stays.
        """
        kept = []
        for layer, cache in zip(self._typed(), state.layers, strict=True):
            y, cache = layer.step(y, cache, state.may_attend)
            kept.append(cache)
        after = TransformerState(state.place + 1, state.may_attend, tuple(kept))
        return self.norm(y), after

    def weights(self, y: Tensor, memory: Memory) -> Tensor:
        """Give the weights (batch, n_layers, n_heads, n, m) of target to source."""
        seen = []
        for layer in self._typed():
            y, weights = layer.with_weights(y, memory.vectors, memory.may_attend)
            seen.append(weights)
        return torch.stack(seen, dim=1)

    def _typed(self) -> Iterable[DecoderLayer]:
        return cast(Iterable[DecoderLayer], self.layers)
