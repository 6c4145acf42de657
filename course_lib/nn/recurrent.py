"""The recurrent translator: gated recurrent units, with attention or without.

One step of a unit, of an attention and of a decoder as functions are in
``course_lib.nn.sequence_to_sequence``. What it has in common with the Transformer is
``course_lib.nn.translator.Translator``.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.nn import arguments
from course_lib.nn.device import best_device
from course_lib.nn.translator import embed_tokens, token_mask

ATTENTION_KINDS = ("none", "additive", "multiplicative")


@dataclass(frozen=True)
class RecurrentConfig:
    """How large a recurrent translator is, in plain numbers.

    vocab_size : number of tokens, of both languages together
    d_embedding : length of a token's vector
    d_hidden : length of a unit's hidden state; the encoder has two of them
    attention : "none", "additive" (Bahdanau's) or "multiplicative" (Luong's)
    dropout : of the embedded tokens and of the decoder's output, while training
    padding_id : the token id of padding
    """

    vocab_size: int
    d_embedding: int = 128
    d_hidden: int = 128
    attention: Literal["none", "additive", "multiplicative"] = "additive"
    dropout: float = 0.0
    padding_id: int = 0

    def __post_init__(self) -> None:
        if self.attention not in ATTENTION_KINDS:
            kinds = ", ".join(ATTENTION_KINDS)
            raise ValueError(f"attention={self.attention!r} is none of {kinds}")
        arguments.whole(
            1,
            vocab_size=self.vocab_size,
            d_embedding=self.d_embedding,
            d_hidden=self.d_hidden,
        )
        arguments.real(0, 1, dropout=self.dropout)
        arguments.token_id("padding_id", self.padding_id, self.vocab_size)


class RecurrentMemory(NamedTuple):
    """The encoder's output for a batch of sources."""

    vectors: Tensor  # (batch, m, 2 d_hidden), of both directions; 0 at padding
    final_state: Tensor  # (batch, 2 d_hidden), the last state of each direction
    may_attend: Tensor  # (batch, m), False at padding

    def select(self, rows: Tensor) -> "RecurrentMemory":
        """Return a memory whose row i is row rows[i] of this one."""
        return RecurrentMemory(*(part[rows] for part in self))


class RecurrentEncoder(nn.Module):
    """A gated recurrent unit that reads forwards, and one that reads backwards.

    Source: Bahdanau et al. (2015), Neural Machine Translation by Jointly Learning to
    Align and Translate, section 3.2.
    """

    def __init__(
        self,
        d_in: int,
        d_hidden: int,
        device: torch.device,
        dtype: torch.dtype | None,
    ) -> None:
        """Make both units, with random parameters."""
        super().__init__()
        self.gru = nn.GRU(
            d_in,
            d_hidden,
            batch_first=True,
            bidirectional=True,
            device=device,
            dtype=dtype,
        )

    def forward(self, x: Tensor, may_attend: Tensor) -> RecurrentMemory:
        """Read the tokens x (batch, m, d_in); may_attend (batch, m): True at tokens.

        Tokens are before the padding, which no unit ever reads. Raises ``ValueError``
        if they are not, and for a batch without sequences or positions.
        """
        arguments.tensors(
            "x (batch, m, d_in)",
            x,
            like=self.gru.weight_ih_l0,
            d_in=self.gru.input_size,
        )
        arguments.mask("may_attend", may_attend, x.shape[:2])
        arguments.not_empty("x", x)
        if (may_attend[:, 1:] & ~may_attend[:, :-1]).any():
            raise ValueError("may_attend must be True at tokens, then False at padding")
        # A sequence without tokens is read as one of padding, which gets no weight.
        lengths = may_attend.sum(dim=-1).clamp(min=1).cpu()  # (batch)
        packed = pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False
        )
        states, last = self.gru(packed)  # last: (2, batch, d_hidden)
        vectors, _ = pad_packed_sequence(
            states, batch_first=True, total_length=x.shape[1]
        )
        return RecurrentMemory(vectors, last.transpose(0, 1).flatten(1), may_attend)


class AdditiveAttention(nn.Module):
    """Scores v · tanh(state + key), as in ``sequence_to_sequence.additive_attention``.

    Source: Bahdanau et al. (2015), appendix A.1.2.
    """

    def __init__(
        self,
        d_state: int,
        d_memory: int,
        d_attention: int,
        device: torch.device,
        dtype: torch.dtype | None,
    ) -> None:
        """Make the three parameters, at random."""
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.query = nn.Linear(d_state, d_attention, bias=False, **options)
        self.key = nn.Linear(d_memory, d_attention, bias=False, **options)
        self.score = nn.Linear(d_attention, 1, bias=False, **options)

    def keys(self, vectors: Tensor) -> Tensor:
        """Project vectors (batch, m, d_memory) once for all steps: (…, d_attention)."""
        return self.key(vectors)

    def forward(
        self, states: Tensor, keys: Tensor, memory: RecurrentMemory
    ) -> tuple[Tensor, Tensor]:
        """Attend to a memory.

        states : (batch, n, d_state), the queries
        keys : (batch, m, …), from ``keys``

        Returns contexts (batch, n, d_memory) and weights (batch, n, m).
        """
        sums = self.query(states).unsqueeze(-2) + keys.unsqueeze(-3)  # (batch, n, m, d)
        return _mix(self.score(torch.tanh(sums)).squeeze(-1), memory)


class MultiplicativeAttention(nn.Module):
    """Scores (state w) · key: "general" of ``sequence_to_sequence.luong_score``.

    Source: Luong et al. (2015), Effective Approaches to Attention-based Neural Machine
    Translation, section 3.1, without a number between equations 7 and 8.
    """

    def __init__(
        self,
        d_state: int,
        d_memory: int,
        device: torch.device,
        dtype: torch.dtype | None,
    ) -> None:
        """Make the one parameter, at random."""
        super().__init__()
        self.query = nn.Linear(
            d_state, d_memory, bias=False, device=device, dtype=dtype
        )

    def keys(self, vectors: Tensor) -> Tensor:
        """Return the vectors (batch, m, d_memory): they are the keys."""
        return vectors

    def forward(
        self, states: Tensor, keys: Tensor, memory: RecurrentMemory
    ) -> tuple[Tensor, Tensor]:
        """Attend to a memory as ``AdditiveAttention.forward``, with other scores."""
        return _mix(self.query(states) @ keys.transpose(-1, -2), memory)


def _mix(scores: Tensor, memory: RecurrentMemory) -> tuple[Tensor, Tensor]:
    """Turn scores (batch, n, m) into contexts and weights; no weight on padding."""
    blocked = ~memory.may_attend.unsqueeze(-2)  # (batch, 1, m)
    weights = scores.masked_fill(blocked, -torch.inf).softmax(dim=-1)
    # A source without tokens gives NaN above; zeros here, and so in the gradient.
    weights = weights.masked_fill(blocked, 0.0)
    return weights @ memory.vectors, weights


class RecurrentState(NamedTuple):
    """What the decoder keeps between two steps."""

    hidden: Tensor  # (batch, d_hidden)
    keys: Tensor  # (batch, m, …), what the scores need of the source
    memory: RecurrentMemory

    def select(self, rows: Tensor) -> "RecurrentState":
        """Return a state whose row i is row rows[i] of this one."""
        return RecurrentState(
            self.hidden[rows], self.keys[rows], self.memory.select(rows)
        )


class DecoderOutput(NamedTuple):
    """Hidden states, contexts and weights after each target token."""

    states: Tensor  # (batch, n, d_hidden)
    contexts: Tensor  # (batch, n, 2 d_hidden), from the source
    weights: Tensor | None  # (batch, n, m)


class RecurrentDecoder(nn.Module):
    """Reads target tokens, and attends to the source in one of three ways.

    "none": each step reads the last states of the encoder, always the same.
    "additive": the hidden state *before* a step is the query, and the step reads the
    context.
    "multiplicative": the hidden state *after* a step is the query, and the context
    joins it on its way to the logits, so that a whole target can be read at once.
    Sources: Cho et al. (2014), Learning Phrase Representations using RNN
    Encoder–Decoder, section 2.2; Bahdanau et al. (2015), section 3; Luong et al.
    (2015), sections 3 and 3.1, equation 5.
    """

    def __init__(
        self, config: RecurrentConfig, device: torch.device, dtype: torch.dtype | None
    ) -> None:
        """Make the unit, the attention and what combines both, at random."""
        super().__init__()
        d_in, d_hidden, d_memory = (
            config.d_embedding,
            config.d_hidden,
            2 * config.d_hidden,
        )
        self.bridge = nn.Linear(d_memory, d_hidden, device=device, dtype=dtype)
        self.attention: AdditiveAttention | MultiplicativeAttention | None = None
        if config.attention == "additive":
            self.attention = AdditiveAttention(
                d_hidden, d_memory, d_hidden, device, dtype
            )
        elif config.attention == "multiplicative":
            self.attention = MultiplicativeAttention(d_hidden, d_memory, device, dtype)
        d_read = d_in if config.attention == "multiplicative" else d_in + d_memory
        self.gru = nn.GRU(
            d_read, d_hidden, batch_first=True, device=device, dtype=dtype
        )
        self.combine = nn.Linear(d_hidden + d_memory, d_in, device=device, dtype=dtype)

    def initial_state(self, memory: RecurrentMemory) -> RecurrentState:
        """Return the state before the first token."""
        hidden = torch.tanh(self.bridge(memory.final_state))
        keys = memory.vectors
        if self.attention is not None:
            keys = self.attention.keys(keys)
        return RecurrentState(hidden, keys, memory)

    def forward(self, x: Tensor, state: RecurrentState) -> DecoderOutput:
        """Read target tokens x (batch, n, d_embedding), one after another."""
        hidden, keys, memory = state
        arguments.tensors(
            "x (batch, n, d_embedding), state (batch, d_hidden)",
            *(x, hidden),
            like=self.bridge.weight,
            d_embedding=self.combine.out_features,
        )
        arguments.not_empty("x", x)
        if isinstance(self.attention, AdditiveAttention):
            return self._read_in_turn(x, state, self.attention)
        if self.attention is not None:
            states, _ = self.gru(x, hidden.unsqueeze(0))
            return DecoderOutput(states, *self.attention(states, keys, memory))
        contexts = memory.final_state.unsqueeze(-2).expand(-1, x.shape[-2], -1)
        states, _ = self.gru(torch.cat([x, contexts], dim=-1), hidden.unsqueeze(0))
        return DecoderOutput(states, contexts, None)

    def _read_in_turn(
        self, x: Tensor, state: RecurrentState, attention: AdditiveAttention
    ) -> DecoderOutput:
        """Compute ``forward`` step by step: each state is the query of the next."""
        hidden, keys, memory = state
        steps = []
        for token in x.unbind(dim=-2):  # (batch, d_embedding)
            context, weights = attention(hidden.unsqueeze(-2), keys, memory)
            read = torch.cat([token, context.squeeze(-2)], dim=-1)
            hidden = torch.gru_cell(read, hidden, *self.gru.all_weights[0])
            steps.append((hidden, context.squeeze(-2), weights.squeeze(-2)))
        return DecoderOutput(
            *(torch.stack(part, dim=-2) for part in zip(*steps, strict=True))
        )

    def attentional_states(self, output: DecoderOutput) -> Tensor:
        """Combine states and contexts to what gives logits: (batch, n, d_embedding).

        Source: Luong et al. (2015), equation 5, who call them so.
        """
        both = torch.cat([output.states, output.contexts], dim=-1)
        return torch.tanh(self.combine(both))


class RecurrentTranslator(nn.Module):
    """Reads the source in both directions, then decodes token by token.

    One embedding serves both languages and the logits, as in the Transformer.
    """

    def __init__(
        self,
        config: RecurrentConfig,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a translator with random parameters.

        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        arguments.float_dtype(dtype)
        self.config = config
        device, d_in = best_device(device), config.d_embedding
        self.embedding = nn.Embedding(
            config.vocab_size, d_in, device=device, dtype=dtype
        )
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = RecurrentEncoder(d_in, config.d_hidden, device, dtype)
        self.decoder = RecurrentDecoder(config, device, dtype)
        # It also gives the logits: so the first probabilities are nearly uniform.
        nn.init.normal_(self.embedding.weight, std=d_in**-0.5)

    @property
    def padding_id(self) -> int:
        """The token id of padding."""
        return self.config.padding_id

    @property
    def max_length(self) -> None:
        """None: a sequence may have any number of tokens."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Compute the logits of all positions of a target that is shifted right.

        source : (batch, m), token ids, padded
        target : (batch, n), token ids, padded behind the tokens

        Returns logits (batch, n, vocab_size).
        """
        return self.logits(self.decode(self.encode(source), target))

    def encode(self, source: Tensor) -> RecurrentMemory:
        """Encode a source (batch, m) of token ids."""
        arguments.token_ids("source", source, 2)
        arguments.not_empty("source", source)
        return self.encoder(self._embed(source), token_mask(source, self.padding_id))

    def decode(self, memory: RecurrentMemory, target: Tensor) -> Tensor:
        """Return the decoder's output at each position: (batch, n, d_embedding)."""
        arguments.token_ids("target", target, 2, batch=memory.vectors.shape[0])
        arguments.not_empty("target", target)
        output = self.decoder(self._embed(target), self.initial_state(memory))
        return self.dropout(self.decoder.attentional_states(output))

    def logits(self, y: Tensor) -> Tensor:
        """Compute logits from the output: (..., d_embedding) → (..., vocab_size)."""
        return functional.linear(y, self.embedding.weight)

    def initial_state(self, memory: RecurrentMemory) -> RecurrentState:
        """Return the state before the first token of the target."""
        return self.decoder.initial_state(memory)

    def step(
        self, token_ids: Tensor, state: RecurrentState
    ) -> tuple[Tensor, RecurrentState]:
        """Read one more token per sequence, and compute the next logits.

        token_ids : (batch)

        Returns logits (batch, vocab_size), and the state after these tokens; the state
        before is not modified.
        """
        arguments.token_ids("token_ids", token_ids, 1, batch=len(state.hidden))
        output = self.decoder(self._embed(token_ids.unsqueeze(-1)), state)
        y = self.dropout(self.decoder.attentional_states(output))  # (batch, 1, d)
        after = state._replace(hidden=output.states[:, -1])
        return self.logits(y).squeeze(-2), after

    def attention_weights(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Return the weights (batch, n, m) of target to source, if there are any."""
        state = self.initial_state(self.encode(source))
        arguments.token_ids("target", target, 2, batch=source.shape[0])
        arguments.not_empty("target", target)
        return self.decoder(self._embed(target), state).weights

    def _embed(self, token_ids: Tensor) -> Tensor:
        return self.dropout(embed_tokens(self.embedding, token_ids))
