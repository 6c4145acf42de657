"""A Transformer that reads numbers: digits in, their names out.

One layer of encoder and one of decoder (pre-norm, four heads), small enough to learn
within seconds: 742 becomes "seven four two".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from course_lib.lessons.patients.parts import Parts
from course_lib.positions import sinusoidal_encoding

ONES = "zero one two three four five six seven eight nine".split()
PADDING, START, END = 0, 1, 2
DIGITS = 3  # the token id of the digit 0
VOCABULARY = [
    *("(padding)", "(start)", "(end)", *"0123456789"),
    *ONES,
]
TOKEN_IDS = {token: token_id for token_id, token in enumerate(VOCABULARY)}
MAX_WORDS = 9
N_POSITIONS = 512
D_MODEL, N_HEADS, D_FF = 32, 4, 128
DROPOUT = 0.05


def spell(digits: str) -> list[str]:
    """Read a number digit by digit.

    >>> spell("742")
    ['seven', 'four', 'two']
    """
    return [ONES[int(digit)] for digit in digits]


@dataclass(frozen=True)
class SpelledNumber:
    """Token ids of a number's digits, and of its words with the end."""

    source: list[int]
    target: list[int]


def pair_of(digits: str) -> SpelledNumber:
    """Encode a number; an empty text is an empty line."""
    source = [DIGITS + int(digit) for digit in digits]
    return SpelledNumber(source, [*(TOKEN_IDS[word] for word in spell(digits)), END])


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Put rows of token ids into one tensor (batch, n), with padding behind them."""
    n = max(1, *(len(row) for row in rows)) if rows else 1
    return torch.tensor([[*row, *[PADDING] * (n - len(row))] for row in rows])


class ReaderAttention(nn.Module):
    """Multi-head attention, from the parts."""

    def __init__(self, parts: Parts) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.parts = parts
        self.query, self.key, self.value, self.output = (
            nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4)
        )
        self.weights: Tensor | None = None  # of the latest call

    def forward(self, x: Tensor, k: Tensor, v: Tensor, may_attend: Tensor) -> Tensor:
        """Let x (batch, n, d_model) attend to keys and values (batch, m, d_model)."""
        split = self.parts.split_heads
        q, k, v = (split(each, N_HEADS) for each in (self.query(x), k, v))
        scores = self.parts.scaled_scores(q, k)  # (batch, n_heads, n, m)
        self.weights = self.parts.masked_softmax(scores, may_attend)
        return self.output((self.weights @ v).swapaxes(-3, -2).flatten(-2))


class Norm(nn.Module):
    """Gain and bias of a layer norm."""

    def __init__(self, parts: Parts) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.parts = parts
        self.gain = nn.Parameter(torch.ones(D_MODEL))
        self.bias = nn.Parameter(torch.zeros(D_MODEL))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., n, d_model)."""
        return self.parts.layer_norm(x, self.gain, self.bias)


class Reader(nn.Module):
    """The model: ``encode`` the digits, ``decode`` the words so far to logits."""

    encoding: Tensor

    def __init__(self, parts: Parts) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.parts = parts
        table = parts.initial_embedding(len(VOCABULARY), D_MODEL)
        self.embedding = nn.Parameter(table.clone())
        encoding = torch.tensor(
            sinusoidal_encoding(N_POSITIONS, D_MODEL), dtype=torch.float32
        )
        self.register_buffer("encoding", encoding)
        self.attentions = nn.ModuleDict(
            {name: ReaderAttention(parts) for name in ("encoder", "decoder", "cross")}
        )
        self.networks = nn.ModuleDict(
            {
                name: nn.Sequential(
                    nn.Linear(D_MODEL, D_FF), nn.ReLU(), nn.Linear(D_FF, D_MODEL)
                )
                for name in ("encoder", "decoder")
            }
        )
        names = "encoder_1 encoder_2 memory decoder_1 decoder_2 decoder_3 last".split()
        self.norms = nn.ModuleDict({name: Norm(parts) for name in names})
        self.dropout = nn.Dropout(DROPOUT)

    def attention(self, name: str) -> ReaderAttention:
        """Return one of the three attentions: "encoder", "decoder" or "cross"."""
        attention = self.attentions[name]
        assert isinstance(attention, ReaderAttention)
        return attention

    def with_parts(self, parts: Parts) -> "Reader":
        """Return a copy of this model with the same parameters and other parts."""
        with torch.random.fork_rng(devices=[]):
            other = Reader(parts)
        other.load_state_dict(self.state_dict())
        return other

    def embed(self, token_ids: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return token vectors (batch, n, d_model); positions count from 0 if None."""
        x = self.embedding[token_ids] * D_MODEL**0.5
        first = 0 if positions is None else int(positions[0])
        return self.dropout(self.parts.add_positions(x, self.encoding[first:]))

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return the memory (batch, m, d_model) and the mask of its padding."""
        lengths = (source != PADDING).sum(dim=-1).numpy()
        mask = torch.from_numpy(self.parts.padding_mask(lengths, source.shape[1]))
        mask = mask.unsqueeze(1)  # for all heads
        attention, x = self.attention("encoder"), self.embed(source)
        y = self.norms["encoder_1"](x)
        x = x + self.dropout(attention(y, attention.key(y), attention.value(y), mask))
        x = x + self.dropout(self.networks["encoder"](self.norms["encoder_2"](x)))
        return self.norms["memory"](x), mask

    def decode(
        self,
        token_ids: Tensor,
        memory: tuple[Tensor, Tensor],
        cache: list[Tensor] | None = None,
    ) -> Tensor:
        """Return logits (batch, n, vocab_size), one row for each token read.

        cache : keys and values of the tokens before, which is extended in place; with
            it, token_ids are the new tokens only
        """
        n_cached = cache[0].shape[1] if cache else 0
        n = token_ids.shape[1]
        positions = self.parts.newest_positions(n_cached, n) if n_cached else None
        x = self.embed(token_ids, positions)
        own, cross = self.attention("decoder"), self.attention("cross")
        y = self.norms["decoder_1"](x)
        k, v = own.key(y), own.value(y)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
            cache[:] = [k, v]
        causal = torch.from_numpy(self.parts.causal_mask(n, n_cached + n, n_cached))
        x = x + self.dropout(own(y, k, v, causal))
        y, (vectors, mask) = self.norms["decoder_2"](x), memory
        x = x + self.dropout(cross(y, cross.key(vectors), cross.value(vectors), mask))
        x = x + self.dropout(self.networks["decoder"](self.norms["decoder_3"](x)))
        return self.norms["last"](x) @ self.embedding.T

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        """Return the logits (batch, n, vocab_size)."""
        return self.decode(decoder_input, self.encode(source))
