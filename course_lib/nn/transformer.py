"""The whole Transformer: tokens in, scores of tokens out.

Its parts are in ``course_lib.nn.transformer_stacks`` and ``transformer_layers``. What
it has in common with other translators is said in ``course_lib.nn.translator``; how it
is trained and how it translates, in ``course_lib.nn.training`` and ``decoding``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn.decoding import real_tokens
from course_lib.nn.device import best_device
from course_lib.nn.layers import DecoderLayer, EncoderLayer, LayerCache
from course_lib.positions import sinusoidal_encoding


class SinusoidalPositions(nn.Module):
    """Adds the paper's sines and cosines; nothing is learned.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.5.
    """

    encoding: Tensor

    def __init__(
        self,
        n_places: int,
        d_model: int,
        *,
        base: float = 10000.0,
        device: torch.device | str | None = None,
    ) -> None:
        """Compute the encodings of the places 0 … n_places − 1, in float64.

        d_model, base : as for ``sinusoidal_encoding``
        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        table = torch.from_numpy(sinusoidal_encoding(n_places, d_model, base))
        table = table.to(best_device(device))
        # Not among what is saved: it is no parameter, and can be computed again.
        self.register_buffer("encoding", table, persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add row i + offset of the encodings to row i of x (..., n, d_model).

        The result has x's dtype. Raises ``ValueError`` if x has places that have none.
        """
        return x + _rows(self.encoding, x, offset).to(x.dtype)


class LearnedPositions(nn.Module):
    """Adds a learned vector for each place.

    Source: Gehring et al. (2017), Convolutional Sequence to Sequence Learning, section
    3.1; the paper of the Transformer tried it too (section 3.5).
    """

    def __init__(
        self,
        n_places: int,
        d_model: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make the parameters (n_places, d_model), normal with deviation 0.02.

        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        empty = torch.empty(n_places, d_model, device=best_device(device), dtype=dtype)
        self.encoding = nn.Parameter(nn.init.normal_(empty, std=0.02))

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add row i + offset of the parameters to row i of x (..., n, d_model).

        Raises ``ValueError`` if x has places that have no parameters.
        """
        return x + _rows(self.encoding, x, offset)


def _rows(table: Tensor, x: Tensor, offset: int) -> Tensor:
    n = x.shape[-2]
    if offset < 0 or offset + n > len(table):
        raise ValueError(
            f"places {offset} to {offset + n - 1} are asked for, and there are "
            f"encodings for 0 to {len(table) - 1}"
        )
    return table[offset : offset + n]


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


MATRICES = 0.6  # of Xavier's size
LAST_GAIN = 0.5


class Transformer(nn.Module):
    """Encoder and decoder with one table that embeds both languages and scores.

    Both stacks end in a norm, as in PyTorch's ``nn.Transformer``. The decoder never
    looks ahead, and nobody looks at what fills up.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.
    """

    def __init__(
        self,
        sizes: TransformerSizes,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a Transformer with random parameters.

        device : the GPU if there is one, else the CPU, if None

        Raises ``ValueError`` if n_heads does not divide d_model.
        """
        super().__init__()
        self.sizes = sizes
        place = best_device(device)
        self.table = nn.Embedding(
            sizes.vocab_size, sizes.d_model, device=place, dtype=dtype
        )
        self.positions = SinusoidalPositions(
            sizes.n_places, sizes.d_model, device=place
        )
        self.dropout = nn.Dropout(sizes.dropout)
        self.encoder = Encoder(sizes, place, dtype)
        self.decoder = Decoder(sizes, place, dtype)
        self._initialise()

    def _initialise(self) -> None:
        """Draw parameters with which the first guesses are nearly even: loss ln V.

        The two factors were found by trial: with both at 1 the loss begins 8 to 18 %
        above ln V, with a much smaller gain it falls more slowly.
        """
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter, gain=MATRICES)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        nn.init.normal_(self.table.weight, std=self.sizes.d_model**-0.5)
        # The table also scores: the token that was read last scores high at first,
        # since its own vector is still in what comes out.
        nn.init.constant_(self.decoder.norm.weight, LAST_GAIN)

    @property
    def padding(self) -> int:
        """The number that fills texts up."""
        return self.sizes.padding

    @property
    def longest(self) -> int:
        """How many tokens a text may have at most."""
        return self.sizes.n_places

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score all tokens at all places of a target that is shifted right.

        source : (batch, m), tokens, filled up with padding
        target : (batch, n), tokens, filled up with padding behind them

        Returns logits (batch, n, vocab_size). Raises ``ValueError`` for a text that is
        longer than n_places.
        """
        return self.scores(self.decode(self.encode(source), target))

    def encode(self, source: Tensor) -> Memory:
        """Read a source (batch, m)."""
        may_attend = real_tokens(source, self.padding).unsqueeze(-2)  # (batch, 1, m)
        return Memory(self.encoder(self._embed(source), may_attend), may_attend)

    def decode(self, memory: Memory, target: Tensor) -> Tensor:
        """Give what the decoder knows at each place: (batch, n, d_model)."""
        return self.decoder(self._embed(target), memory)

    def scores(self, y: Tensor) -> Tensor:
        """Score all tokens: (..., d_model) → (..., vocab_size)."""
        return functional.linear(y, self.table.weight)

    def start(self, memory: Memory) -> TransformerState:
        """Give the state before the first token of the target."""
        return self.decoder.start(memory)

    def step(
        self, tokens: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Read one more token per text (batch), and score (batch, vocab_size) the next.

        Keys and values of the tokens before are in the state, and not computed again.
        """
        y = self._embed(tokens.unsqueeze(-1), state.place)  # (batch, 1, d_model)
        y, after = self.decoder.step(y, state)
        return self.scores(y).squeeze(-2), after

    def attention(self, source: Tensor, target: Tensor) -> Tensor:
        """Give the weights (batch, n, m) of the last layer, a mean over its heads."""
        return self.attention_by_head(source, target)[:, -1].mean(dim=1)

    def attention_by_head(self, source: Tensor, target: Tensor) -> Tensor:
        """Give the weights (batch, n_layers, n_heads, n, m) of target to source."""
        return self.decoder.weights(self._embed(target), self.encode(source))

    def _embed(self, tokens: Tensor, offset: int = 0) -> Tensor:
        n, most = tokens.shape[-1] + offset, self.longest
        if n > most:
            raise ValueError(f"a text has {n} tokens; this model takes {most} at most")
        x = self.table(tokens) * self.sizes.d_model**0.5  # (batch, n, d_model)
        return self.dropout(self.positions(x, offset))


# MERGED course_lib.nn.positions: Where a token stands, added to its vector: by sinusoids, or learned.
#
#   The sinusoids themselves are ``course_lib.positions.sinusoidal_encoding``.
#
# MERGED course_lib.nn.transformer_stacks: The Transformer's encoder and decoder: layers, one on another, and a norm at the end.
#
#   The whole model, with tokens, is in ``course_lib.nn.transformer``.
#
