"""The whole Transformer: tokens in, scores of tokens out.

Its parts are in ``course_lib.nn.transformer_stacks`` and ``transformer_layers``. What
it has in common with other translators is said in ``course_lib.nn.translator``; how it
is trained and how it translates, in ``course_lib.nn.training`` and ``decoding``.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn.decoder_layer import DecoderLayer
from course_lib.nn.device import best_device
from course_lib.nn.positions import SinusoidalPositions
from course_lib.nn.transformer_layers import EncoderLayer
from course_lib.nn.transformer_stacks import (
    Decoder,
    Encoder,
    Memory,
    TransformerSizes,
    TransformerState,
)
from course_lib.nn.translator import real_tokens

__all__ = [
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "Memory",
    "Transformer",
    "TransformerSizes",
    "TransformerState",
]

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
