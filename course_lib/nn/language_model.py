"""A language model: the decoder alone, of 2017 or of today, by options.

One class, ``LanguageModel``. Each way in which today's block differs from that of 2017
is one option of its config, so that each can be tried alone; ``BLOCK_2017`` and
``BLOCK_TODAY`` are all of them together. ``read`` goes on behind tokens that were read
before, whose keys and values are in a ``ModelState``.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.nn import arguments
from course_lib.nn.attention import merge_heads
from course_lib.nn.device import best_device
from course_lib.nn.modern_block import query_groups
from course_lib.nn.transformer import LearnedPositions, SinusoidalPositions

Norm = Literal["layer", "rms"]
FeedForwardKind = Literal["relu", "gelu", "swiglu"]
Positions = Literal["sinusoidal", "learned", "rotary"]

BLOCK_2017: dict[str, Any] = {
    "norm": "layer",
    "norm_first": False,
    "feed_forward": "relu",
    "positions": "sinusoidal",
    "bias": True,
}
BLOCK_TODAY: dict[str, Any] = {
    "norm": "rms",
    "norm_first": True,
    "feed_forward": "swiglu",
    "positions": "rotary",
    "bias": False,
}


@dataclass(frozen=True)
class LanguageModelConfig:
    """How large a language model is, and of which parts it is made.

    vocab_size : number of tokens
    d_model : length of a token's vector
    n_layers : number of layers
    n_heads : number of heads of queries
    n_kv_heads : number of heads of keys and values; as many as n_heads, if None
    d_ff : length inside the feed-forward networks; if None, 4 · d_model, and with
        "swiglu", which has three matrices in place of two, two thirds of that, rounded
        to a multiple of 8: as many parameters
    n_positions : how many tokens a sequence may have at most, the context
    dropout : of each sublayer's output and of the embedded tokens, while training
    norm : "layer" for LayerNorm, "rms" for RMSNorm
    norm_first : True for x + sublayer(norm(x)), False for norm(x + sublayer(x))
    feed_forward : "relu", "gelu", or "swiglu" for the one with a gate
    positions : "sinusoidal" or "learned" vectors that are added to the tokens, or
        "rotary", which turns queries and keys
    bias : whether linear layers add a vector of parameters
    """

    vocab_size: int
    d_model: int = 128
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int | None = None
    d_ff: int | None = None
    n_positions: int = 256
    dropout: float = 0.0
    norm: Norm = "rms"
    norm_first: bool = True
    feed_forward: FeedForwardKind = "swiglu"
    positions: Positions = "rotary"
    bias: bool = False

    def __post_init__(self) -> None:
        arguments.heads(self.d_model, self.n_heads)
        arguments.whole(
            1,
            vocab_size=self.vocab_size,
            n_layers=self.n_layers,
            n_positions=self.n_positions,
            d_ff=self.feed_forward_size,
        )
        query_groups(self.n_heads, self.key_value_heads)
        arguments.real(0, 1, dropout=self.dropout)
        kinds = {"norm": Norm, "feed_forward": FeedForwardKind, "positions": Positions}
        for name, kind in kinds.items():
            value, known = getattr(self, name), get_args(kind)
            if value not in known:
                raise ValueError(f"{name} must be one of {known}, got {value!r}")
        if self.positions == "rotary" and self.head_size % 2:
            raise ValueError(
                f"d_model / n_heads = {self.head_size} is odd: rotary positions turn "
                "pairs of numbers"
            )

    @property
    def key_value_heads(self) -> int:
        """The number of heads of keys and values."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def head_size(self) -> int:
        """The length of a query, a key and a value: d_k."""
        return self.d_model // self.n_heads

    @property
    def feed_forward_size(self) -> int:
        """The length inside the feed-forward networks."""
        if self.d_ff is not None:
            return self.d_ff
        if self.feed_forward != "swiglu":
            return 4 * self.d_model
        return max(8, round(8 * self.d_model / 3 / 8) * 8)


class LayerCache(NamedTuple):
    """Keys and values of the tokens that a layer has read."""

    keys: Tensor  # (batch, n_kv_heads, t, d_k)
    values: Tensor  # (batch, n_kv_heads, t, d_k)


class ModelState(NamedTuple):
    """What a language model keeps of the tokens that it has read."""

    n_read: int
    caches: tuple[LayerCache, ...]  # one per layer

    def select(self, rows: Tensor) -> "ModelState":
        """Return a state whose row i is row rows[i] of this one."""
        caches = (LayerCache(*(part[rows] for part in each)) for each in self.caches)
        return ModelState(self.n_read, tuple(caches))


class RotaryPositions(nn.Module):
    """Turns queries and keys by angles that grow with their positions.

    The same as ``course_lib.positions.rotary``, with the angles computed once.
    Source: Su et al. (2021), RoFormer, section 3.4.2, equation 34.
    """

    cosine: Tensor
    sine: Tensor

    def __init__(
        self,
        n_positions: int,
        d_k: int,
        *,
        base: float = 10000.0,
        device: torch.device | str | None = None,
    ) -> None:
        """Compute the angles of the positions 0 … n_positions − 1, in float64."""
        super().__init__()
        frequencies = base ** (-torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)
        angles = torch.outer(torch.arange(n_positions).double(), frequencies)
        # Not among what is saved: they are no parameters, and can be computed again.
        device = best_device(device)
        self.register_buffer("cosine", angles.cos().to(device), persistent=False)
        self.register_buffer("sine", angles.sin().to(device), persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Turn row i of x (..., n, d_k) as a token at position i + offset."""
        rows = slice(offset, offset + x.shape[-2])
        cosine, sine = self.cosine[rows].to(x.dtype), self.sine[rows].to(x.dtype)
        first, second = x[..., 0::2], x[..., 1::2]
        turned = [first * cosine - second * sine, first * sine + second * cosine]
        return torch.stack(turned, dim=-1).flatten(-2)


class CausalAttention(nn.Module):
    """Multi-head self-attention of the past, with a cache, in groups of queries."""

    def __init__(
        self, config: LanguageModelConfig, device: torch.device, dtype: Any
    ) -> None:
        """Make the four projections, with random parameters."""
        super().__init__()
        self.n_heads, self.n_kv_heads = config.n_heads, config.key_value_heads
        d_kv = self.n_kv_heads * config.head_size

        def projection(d_out: int) -> nn.Linear:
            return nn.Linear(
                config.d_model, d_out, bias=config.bias, device=device, dtype=dtype
            )

        self.query = projection(config.d_model)
        self.key = projection(d_kv)
        self.value = projection(d_kv)
        self.output = projection(config.d_model)

    def forward(
        self, x: Tensor, cache: LayerCache | None, rotary: RotaryPositions | None
    ) -> tuple[Tensor, LayerCache]:
        """Let each new token attend to itself and to all tokens before it.

        x : (batch, n, d_model), the new tokens
        cache : keys and values of the t tokens before; None if there are none

        Returns a tensor like x, and the cache with the new tokens; the old one stays.
        """
        q, cache = self._queries_and_cache(x, cache, rotary)
        n, m = q.shape[-2], cache.keys.shape[-2]
        may_attend = None
        if 1 < n < m:
            ones = torch.ones(n, m, dtype=torch.bool, device=x.device)
            may_attend = ones.tril(diagonal=m - n)
        output = functional.scaled_dot_product_attention(
            *(q, cache.keys, cache.values),
            attn_mask=may_attend,
            is_causal=n == m and n > 1,
            enable_gqa=self.n_kv_heads != self.n_heads,
        )
        return self.output(merge_heads(output)), cache

    def weights(self, x: Tensor, rotary: RotaryPositions | None) -> Tensor:
        """Compute the attention weights (batch, n_heads, n, n) of a whole sequence."""
        q, (keys, _) = self._queries_and_cache(x, None, rotary)
        keys = keys.repeat_interleave(self.n_heads // self.n_kv_heads, dim=-3)
        scores = q @ keys.mT / q.shape[-1] ** 0.5  # (batch, n_heads, n, n)
        future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
        return scores.masked_fill(future, -torch.inf).softmax(dim=-1)

    def _queries_and_cache(
        self, x: Tensor, cache: LayerCache | None, rotary: RotaryPositions | None
    ) -> tuple[Tensor, LayerCache]:
        q = _heads(self.query(x), self.n_heads)  # (batch, n_heads, n, d_k)
        keys, values = (
            _heads(projection(x), self.n_kv_heads)
            for projection in (self.key, self.value)
        )
        if rotary is not None:  # keys are cached turned: their position stays
            offset = 0 if cache is None else cache.keys.shape[-2]
            q, keys = rotary(q, offset), rotary(keys, offset)
        if cache is not None:
            keys = torch.cat([cache.keys, keys], dim=-2)
            values = torch.cat([cache.values, values], dim=-2)
        return q, LayerCache(keys, values)


def _heads(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


class FeedForward(nn.Module):
    """The network of each token alone: two layers, or with a gate."""

    def __init__(
        self, config: LanguageModelConfig, device: torch.device, dtype: Any
    ) -> None:
        """Make its linear layers, with random parameters."""
        super().__init__()
        self.kind = config.feed_forward
        d_model, d_ff = config.d_model, config.feed_forward_size
        options: Any = {"bias": config.bias, "device": device, "dtype": dtype}
        if self.kind == "swiglu":
            self.gate = nn.Linear(d_model, d_ff, **options)
        self.up = nn.Linear(d_model, d_ff, **options)
        self.output = nn.Linear(d_ff, d_model, **options)

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor like x (..., d_model)."""
        if self.kind == "swiglu":
            return self.output(functional.silu(self.gate(x)) * self.up(x))
        activation = functional.relu if self.kind == "relu" else functional.gelu
        return self.output(activation(self.up(x)))


class Block(nn.Module):
    """Causal self-attention and a feed-forward network, each with residual and norm."""

    def __init__(
        self, config: LanguageModelConfig, device: torch.device, dtype: Any
    ) -> None:
        """Make the parts, with random parameters."""
        super().__init__()
        self.norm_first = config.norm_first
        self.attention = CausalAttention(config, device, dtype)
        self.feed_forward = FeedForward(config, device, dtype)
        self.attention_norm = _norm(config, device, dtype)
        self.feed_forward_norm = _norm(config, device, dtype)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Tensor, cache: LayerCache | None, rotary: RotaryPositions | None
    ) -> tuple[Tensor, LayerCache]:
        """Return a tensor like x (batch, n, d_model), and the cache with its tokens."""
        normed = self.attention_norm(x) if self.norm_first else x
        output, cache = self.attention(normed, cache, rotary)
        x = x + self.dropout(output)
        if self.norm_first:
            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        else:
            x = self.attention_norm(x)
            x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x, cache

    def weights(self, x: Tensor, rotary: RotaryPositions | None) -> Tensor:
        """Compute the attention weights (batch, n_heads, n, n) for an input x."""
        return self.attention.weights(
            self.attention_norm(x) if self.norm_first else x, rotary
        )


def _norm(config: LanguageModelConfig, device: torch.device, dtype: Any) -> nn.Module:
    if config.norm == "rms":
        return nn.RMSNorm(config.d_model, eps=1e-6, device=device, dtype=dtype)
    return nn.LayerNorm(config.d_model, device=device, dtype=dtype)


INITIAL_DEVIATION = 0.02


class LanguageModel(nn.Module):
    """A decoder without an encoder: at each position, logits of the next token.

    The embedding also gives the logits. With norm_first the last layer is followed by
    one more norm, as in GPT-2.
    Source: Radford et al. (2019), Language Models are Unsupervised Multitask Learners,
    section 2.3; the parts of today's block: Touvron et al. (2023), LLaMA: Open and
    Efficient Foundation Language Models, section 2.2.
    """

    def __init__(
        self,
        config: LanguageModelConfig,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a language model with random parameters.

        device : the GPU if there is one, else the CPU, if None
        """
        super().__init__()
        arguments.float_dtype(dtype)
        self.config = config
        device = best_device(device)
        self.embedding = nn.Embedding(
            config.vocab_size, config.d_model, device=device, dtype=dtype
        )
        self.positions: nn.Module | None = None
        self.rotary: RotaryPositions | None = None
        if config.positions == "rotary":
            self.rotary = RotaryPositions(
                config.n_positions, config.head_size, device=device
            )
        elif config.positions == "learned":
            self.positions = LearnedPositions(
                config.n_positions, config.d_model, device=device, dtype=dtype
            )
        else:
            self.positions = SinusoidalPositions(
                config.n_positions, config.d_model, device=device
            )
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            Block(config, device, dtype) for _ in range(config.n_layers)
        )
        self.norm = _norm(config, device, dtype) if config.norm_first else None
        self._initialise()

    def _initialise(self) -> None:
        """Draw parameters as GPT-2 does: the first loss is nearly ln V.

        What is added to the residual stream is smaller the more layers add to it.
        """
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                into_residual = name.endswith("output.weight")
                layers = 2 * self.config.n_layers if into_residual else 1
                nn.init.normal_(parameter, std=INITIAL_DEVIATION / layers**0.5)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute the logits of what comes after each token.

        token_ids : (batch, n), n ≥ 1

        Returns logits (batch, n, vocab_size); row i follows from tokens 0 … i alone.
        Raises ``ValueError`` for no token, and for more than n_positions.
        """
        return self.read(token_ids)[0]

    def read(
        self, token_ids: Tensor, state: ModelState | None = None
    ) -> tuple[Tensor, ModelState]:
        """Compute logits for new tokens, behind those that were read before.

        token_ids : (batch, n), the new tokens, n ≥ 1
        state : of the tokens before, from an earlier ``read``; None at the beginning

        Returns logits (batch, n, vocab_size) and the state behind the new tokens; the
        state before is not modified. The logits are those of ``forward`` for all tokens
        together, but keys and values of those before are not computed again.
        """
        x, start = self._embed(token_ids, state), 0 if state is None else state.n_read
        caches = []
        for index, block in enumerate(self.blocks):
            x, cache = block(x, state and state.caches[index], self.rotary)
            caches.append(cache)
        if self.norm is not None:
            x = self.norm(x)
        after = ModelState(start + token_ids.shape[-1], tuple(caches))
        return functional.linear(x, self.embedding.weight), after

    def attention_weights(self, token_ids: Tensor) -> Tensor:
        """Return the weights (batch, n_layers, n_heads, n, n) of all heads."""
        x, by_layer = self._embed(token_ids, None), []
        for block in self.blocks:
            assert isinstance(block, Block)
            by_layer.append(block.weights(x, self.rotary))
            x, _ = block(x, None, self.rotary)
        return torch.stack(by_layer, dim=1)

    def _embed(self, token_ids: Tensor, state: ModelState | None) -> Tensor:
        arguments.token_ids("token_ids", token_ids, 2)
        batch, n = token_ids.shape
        offset = 0 if state is None else state.n_read
        if n == 0:
            raise ValueError("token_ids must hold at least one token in each row")
        if offset + n > self.config.n_positions:
            raise ValueError(
                f"a sequence has {offset + n} tokens; this model takes "
                f"{self.config.n_positions} at most"
            )
        if state is not None and len(state.caches[0].keys) != batch:
            raise ValueError(
                f"state is of {len(state.caches[0].keys)} sequences, and token_ids of "
                f"{batch}: select the state's rows too"
            )
        try:
            x = self.embedding(token_ids)  # (batch, n, d_model)
        except IndexError:
            raise ValueError(
                f"token ids must be from 0 to {self.config.vocab_size - 1}, as in the "
                "model's vocabulary"
            ) from None
        if self.positions is not None:
            if self.config.positions == "sinusoidal":  # whose numbers are about 1
                x = x * self.config.d_model**0.5
            x = self.positions(x, offset)
        return self.dropout(x)
