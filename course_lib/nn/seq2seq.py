"""The recurrent translator: gated recurrent units, with attention or without.

Its parts are in ``course_lib.nn.recurrent_parts`` and ``recurrent_decoder``. What it
has in common with the Transformer is said in ``course_lib.nn.translator``.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn.device import best_device
from course_lib.nn.recurrent_decoder import (
    RecurrentDecoder,
    RecurrentSizes,
    RecurrentState,
)
from course_lib.nn.recurrent_parts import RecurrentEncoder, RecurrentMemory
from course_lib.nn.translator import real_tokens

__all__ = [
    "RecurrentMemory",
    "RecurrentSizes",
    "RecurrentState",
    "RecurrentTranslator",
]


class RecurrentTranslator(nn.Module):
    """Reads the source in both directions, then writes token by token.

    One table embeds both languages and scores, as in the Transformer. How the decoder
    looks at the source: ``RecurrentDecoder``.
    """

    def __init__(
        self,
        sizes: RecurrentSizes,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a translator with random parameters.

        device : the GPU if there is one, else the CPU, if None

        Raises ``ValueError`` if there is no such attention.
        """
        super().__init__()
        self.sizes = sizes
        place, d_in = best_device(device), sizes.d_embedding
        self.table = nn.Embedding(sizes.vocab_size, d_in, device=place, dtype=dtype)
        self.dropout = nn.Dropout(sizes.dropout)
        self.encoder = RecurrentEncoder(d_in, sizes.d_hidden, place, dtype)
        self.decoder = RecurrentDecoder(sizes, place, dtype)
        # The table also scores: with this deviation the first guesses are nearly even.
        nn.init.normal_(self.table.weight, std=d_in**-0.5)

    @property
    def padding(self) -> int:
        """The number that fills texts up."""
        return self.sizes.padding

    @property
    def longest(self) -> None:
        """A text may have as many tokens as one likes."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score all tokens at all places of a target that is shifted right.

        source : (batch, m), tokens, filled up with padding
        target : (batch, n), tokens, filled up with padding behind them

        Returns logits (batch, n, vocab_size).
        """
        return self.scores(self.decode(self.encode(source), target))

    def encode(self, source: Tensor) -> RecurrentMemory:
        """Read a source (batch, m)."""
        return self.encoder(self._embed(source), real_tokens(source, self.padding))

    def decode(self, memory: RecurrentMemory, target: Tensor) -> Tensor:
        """Give what the decoder knows at each place: (batch, n, d_embedding)."""
        read = self.decoder(self._embed(target), self.start(memory))
        return self.dropout(self.decoder.out(read))

    def scores(self, y: Tensor) -> Tensor:
        """Score all tokens: (..., d_embedding) → (..., vocab_size)."""
        return functional.linear(y, self.table.weight)

    def start(self, memory: RecurrentMemory) -> RecurrentState:
        """Give the state before the first token of the target."""
        return self.decoder.start(memory)

    def step(
        self, tokens: Tensor, state: RecurrentState
    ) -> tuple[Tensor, RecurrentState]:
        """Read one more token per text (batch), and score (batch, vocab_size) the next.

        The state before stays as it is.
        """
        read = self.decoder(self._embed(tokens.unsqueeze(-1)), state)
        y = self.dropout(self.decoder.out(read))  # (batch, 1, d_embedding)
        after = state._replace(hidden=read.states[:, -1])
        return self.scores(y).squeeze(-2), after

    def attention(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Give the weights (batch, n, m) of target to source, if there are any."""
        state = self.start(self.encode(source))
        return self.decoder(self._embed(target), state).weights

    def _embed(self, tokens: Tensor) -> Tensor:
        x = self.table(tokens) * self.sizes.d_embedding**0.5  # (batch, n, d_embedding)
        return self.dropout(x)
