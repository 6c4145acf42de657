"""The whole Transformer: token ids in, logits out.

Its layers are in ``course_lib.nn.layers``, and what it has in common with other
translators is ``course_lib.nn.translator.Translator``. It is trained by
``course_lib.nn.training`` and translates with ``course_lib.nn.decoding``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn import arguments
from course_lib.nn.device import best_device
from course_lib.nn.layers import DecoderLayer, EncoderLayer, KVCache
from course_lib.nn.translator import embed_tokens, token_mask
from course_lib.positions import sinusoidal_encoding


class SinusoidalPositions(nn.Module):
    """Adds the paper's sines and cosines; nothing is learned.

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.5.
    """

    encoding: Tensor

    def __init__(
        self,
        n_positions: int,
        d_model: int,
        *,
        base: float = 10000.0,
        device: torch.device | str | None = None,
    ) -> None:
        """Compute the encodings of the positions 0 … n_positions − 1, in float64.

        d_model, base : as for ``sinusoidal_encoding``
        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        arguments.whole(1, n_positions=n_positions, d_model=d_model)
        encoding = torch.from_numpy(sinusoidal_encoding(n_positions, d_model, base))
        encoding = encoding.to(best_device(device))
        # Not among what is saved: it is no parameter, and can be computed again.
        self.register_buffer("encoding", encoding, persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add row i + offset of the encodings to row i of x (..., n, d_model).

        The result has x's dtype. Raises ``ValueError`` for positions without an
        encoding, and ``TypeError`` for whole numbers.
        """
        return x + _rows(self.encoding, x, offset).to(x.dtype)


class LearnedPositions(nn.Module):
    """Adds a learned vector for each position.

    Source: Gehring et al. (2017), Convolutional Sequence to Sequence Learning, section
    3.1; the paper of the Transformer tried it too (section 3.5).
    """

    def __init__(
        self,
        n_positions: int,
        d_model: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make the parameters (n_positions, d_model), normal with deviation 0.02.

        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        arguments.whole(1, n_positions=n_positions, d_model=d_model)
        arguments.float_dtype(dtype)
        empty = torch.empty(
            n_positions, d_model, device=best_device(device), dtype=dtype
        )
        self.encoding = nn.Parameter(nn.init.normal_(empty, std=0.02))

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add row i + offset of the parameters to row i of x (..., n, d_model).

        Raises ``ValueError`` for positions without parameters.
        """
        return x + _rows(self.encoding, x, offset)


def _rows(encoding: Tensor, x: Tensor, offset: int) -> Tensor:
    arguments.tensors("x (..., n, d_model)", x, d_model=encoding.shape[-1])
    arguments.whole_number("offset", offset)
    n = x.shape[-2]
    if offset < 0 or offset + n > len(encoding):
        raise ValueError(
            f"positions {offset} to {offset + n - 1} have no encoding: there are "
            f"encodings for 0 to {len(encoding) - 1}; make more with n_positions"
        )
    return encoding[offset : offset + n]


@dataclass(frozen=True)
class TransformerConfig:
    """How large a Transformer is, in plain numbers.

    vocab_size : number of tokens, of both languages together
    d_model : length of a token's vector
    n_heads : number of heads of each attention
    n_layers : number of layers of the encoder, and as many of the decoder
    d_ff : length between the two layers of the feed-forward networks
    dropout : of each sublayer's output and of the embedded tokens, while training
    norm_first : True for x + sublayer(norm(x)), False for the paper's
        norm(x + sublayer(x))
    n_positions : how many tokens a sequence may have at most
    padding_id : the token id of padding
    """

    vocab_size: int
    d_model: int = 128
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.0
    norm_first: bool = True
    n_positions: int = 256
    padding_id: int = 0

    def __post_init__(self) -> None:
        arguments.heads(self.d_model, self.n_heads)
        arguments.whole(
            1,
            vocab_size=self.vocab_size,
            n_layers=self.n_layers,
            d_ff=self.d_ff,
            n_positions=self.n_positions,
        )
        arguments.real(0, 1, dropout=self.dropout)
        arguments.token_id("padding_id", self.padding_id, self.vocab_size)


class Memory(NamedTuple):
    """The encoder's output for a batch of sources."""

    vectors: Tensor  # (batch, m, d_model)
    may_attend: Tensor  # (batch, 1, m), False at padding


class TransformerState(NamedTuple):
    """What the decoder keeps of the target tokens before."""

    position: int  # of the next token
    may_attend: Tensor  # (batch, 1, m)
    caches: tuple[KVCache, ...]  # one per layer

    def select(self, rows: Tensor) -> "TransformerState":
        """Return a state whose row i is row rows[i] of this one."""
        caches = (KVCache(*(part[rows] for part in cache)) for cache in self.caches)
        return TransformerState(self.position, self.may_attend[rows], tuple(caches))


class Encoder(nn.Module):
    """Layers in which all tokens of a source attend to each other, and a norm."""

    def __init__(
        self, config: TransformerConfig, device: torch.device, dtype: torch.dtype | None
    ) -> None:
        """Make the layers, with random parameters."""
        super().__init__()
        self.layers = _layers(EncoderLayer, config, device, dtype)
        self.norm = nn.LayerNorm(config.d_model, device=device, dtype=dtype)

    def forward(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Return a tensor like x (..., n, d_model); may_attend: fits (..., n, n)."""
        for layer in self.layers:
            x = layer(x, may_attend)
        return self.norm(x)


class Decoder(nn.Module):
    """Layers of causal self-attention and of cross-attention, and a norm."""

    def __init__(
        self, config: TransformerConfig, device: torch.device, dtype: torch.dtype | None
    ) -> None:
        """Make the layers, with random parameters."""
        super().__init__()
        self.layers = _layers(DecoderLayer, config, device, dtype)
        self.norm = nn.LayerNorm(config.d_model, device=device, dtype=dtype)

    def forward(self, y: Tensor, memory: Memory) -> Tensor:
        """Return a tensor like y (batch, n, d_model); token i attends to 0 … i."""
        for layer in self.layers:
            # Padding is behind the tokens, so the causal mask keeps it out too.
            y = layer(y, memory.vectors, None, memory.may_attend, causal=True)
        return self.norm(y)

    def initial_state(self, memory: Memory) -> TransformerState:
        """Return the state before the first token."""
        caches = tuple(
            layer.initial_cache(memory.vectors) for layer in self._typed_layers()
        )
        return TransformerState(0, memory.may_attend, caches)

    def step(
        self, y: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Compute for the newest token what ``forward`` computes for all of them.

        y : (batch, 1, d_model), the newest token

        Returns a tensor like y, and the state after it; the state before stays.
        """
        caches = []
        for layer, cache in zip(self._typed_layers(), state.caches, strict=True):
            y, cache = layer.step(y, cache, state.may_attend)
            caches.append(cache)
        after = TransformerState(state.position + 1, state.may_attend, tuple(caches))
        return self.norm(y), after

    def attention_weights(self, y: Tensor, memory: Memory) -> Tensor:
        """Return the weights (batch, n_layers, n_heads, n, m) of target to source."""
        by_layer = []
        for layer in self._typed_layers():
            y, weights = layer.forward_with_weights(
                y, memory.vectors, memory.may_attend
            )
            by_layer.append(weights)
        return torch.stack(by_layer, dim=1)

    def _typed_layers(self) -> Iterable[DecoderLayer]:
        return cast(Iterable[DecoderLayer], self.layers)


def _layers(
    layer_type: type[EncoderLayer | DecoderLayer],
    config: TransformerConfig,
    device: torch.device,
    dtype: torch.dtype | None,
) -> nn.ModuleList:
    return nn.ModuleList(
        layer_type(
            config.d_model,
            config.n_heads,
            config.d_ff,
            dropout=config.dropout,
            norm_first=config.norm_first,
            device=device,
            dtype=dtype,
        )
        for _ in range(config.n_layers)
    )


MATRIX_GAIN = 0.6  # of Xavier's deviation
LAST_GAIN = 0.5


class Transformer(nn.Module):
    """Encoder and decoder with one embedding for both languages and for the logits.

    Both stacks end in a norm, as in PyTorch's ``nn.Transformer``. The decoder is
    causal, and nothing attends to padding.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a Transformer with random parameters.

        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        arguments.float_dtype(dtype)
        self.config = config
        device = best_device(device)
        self.embedding = nn.Embedding(
            config.vocab_size, config.d_model, device=device, dtype=dtype
        )
        self.positions = SinusoidalPositions(
            config.n_positions, config.d_model, device=device
        )
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config, device, dtype)
        self.decoder = Decoder(config, device, dtype)
        self._initialise()

    def _initialise(self) -> None:
        """Draw parameters whose first probabilities are nearly uniform: loss ln V.

        The two factors were found by trial: with both at 1 the loss begins 8 to 18 %
        above ln V, with a much smaller gain it falls more slowly.
        """
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter, gain=MATRIX_GAIN)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)
        # The embedding also gives the logits: the token that was read last has a high
        # one at first, since its own vector is still in the output.
        nn.init.constant_(self.decoder.norm.weight, LAST_GAIN)

    @property
    def padding_id(self) -> int:
        """The token id of padding."""
        return self.config.padding_id

    @property
    def max_length(self) -> int:
        """How many tokens a sequence may have at most."""
        return self.config.n_positions

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Compute the logits of all positions of a target that is shifted right.

        source : (batch, m), token ids, padded
        target : (batch, n), token ids, padded behind the tokens

        Returns logits (batch, n, vocab_size). Raises ``ValueError`` for a sequence that
        is longer than n_positions.
        """
        arguments.token_ids("source", source, 2)
        arguments.token_ids("target", target, 2, batch=source.shape[0])
        return self.logits(self.decode(self.encode(source), target))

    def encode(self, source: Tensor) -> Memory:
        """Encode a source (batch, m) of token ids."""
        arguments.token_ids("source", source, 2)
        may_attend = token_mask(source, self.padding_id).unsqueeze(-2)  # (batch, 1, m)
        return Memory(self.encoder(self._embed(source), may_attend), may_attend)

    def decode(self, memory: Memory, target: Tensor) -> Tensor:
        """Return the decoder's output at each position: (batch, n, d_model)."""
        arguments.token_ids("target", target, 2, batch=memory.vectors.shape[0])
        return self.decoder(self._embed(target), memory)

    def logits(self, y: Tensor) -> Tensor:
        """Compute logits from the output: (..., d_model) → (..., vocab_size)."""
        return functional.linear(y, self.embedding.weight)

    def initial_state(self, memory: Memory) -> TransformerState:
        """Return the state before the first token of the target."""
        return self.decoder.initial_state(memory)

    def step(
        self, token_ids: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Read one more token per sequence, and compute the next logits.

        token_ids : (batch)

        Returns logits (batch, vocab_size), and the state after these tokens. Keys and
        values of the tokens before are in the state, and not computed again.
        """
        arguments.token_ids("token_ids", token_ids, 1, batch=len(state.may_attend))
        y = self._embed(token_ids.unsqueeze(-1), state.position)  # (batch, 1, d_model)
        y, after = self.decoder.step(y, state)
        return self.logits(y).squeeze(-2), after

    def attention_weights(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the weights (batch, n, m) of the last layer, a mean over its heads."""
        return self.attention_weights_by_head(source, target)[:, -1].mean(dim=1)

    def attention_weights_by_head(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the weights (batch, n_layers, n_heads, n, m) of target to source."""
        memory = self.encode(source)
        arguments.token_ids("target", target, 2, batch=source.shape[0])
        return self.decoder.attention_weights(self._embed(target), memory)

    def _embed(self, token_ids: Tensor, offset: int = 0) -> Tensor:
        n = token_ids.shape[-1] + offset
        if n > self.max_length:
            raise ValueError(
                f"a sequence has {n} tokens; this model takes {self.max_length} at most"
            )
        x = embed_tokens(self.embedding, token_ids)  # (batch, n, d_model)
        return self.dropout(self.positions(x, offset))
