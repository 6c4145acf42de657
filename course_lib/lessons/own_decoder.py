"""A trained Transformer whose decoder attends by the learner's ``cached_step`` (11).

The self-attention is computed head by head by that function; all the rest is the
model's (``course_lib.nn.transformer``).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.lessons.environment import one_thread
from course_lib.nn.attention import MultiHeadAttention
from course_lib.nn.layers import DecoderLayer
from course_lib.nn.transformer import Transformer
from course_lib.nn.translator import embed_tokens, evaluating

CachedStep = Callable[..., tuple[Tensor, Tensor, Tensor]]
HeadCache = tuple[Tensor, Tensor]  # keys (t, d_k), values (t, d_k)


def next_log_probabilities(
    model: Transformer, source: list[int], cached_step: CachedStep
) -> Callable[[list[int]], np.ndarray]:
    """Return the function that ``greedy_decode`` and ``beam_search`` ask.

    source : token ids, with the end
    cached_step : the learner's, or the course's

    The function takes the token ids so far, start first, and returns the logarithms
    (vocab_size,) of the probabilities of the next one. It stores keys and values of
    each hypothesis that it was asked about, by its tokens, so that it reads the newest
    token only; what was asked before must be all but that one.
    """
    heads = [(torch.empty(0, 0), torch.empty(0, 0))] * model.config.n_heads
    caches: dict[tuple[int, ...], list[list[HeadCache]]]
    caches = {(): [heads] * model.config.n_layers}
    with one_thread(), evaluating(model):
        memory = model.encode(torch.tensor([source]))

    def log_probabilities(token_ids: list[int]) -> np.ndarray:
        cache = caches[tuple(token_ids[:-1])]
        with one_thread(), evaluating(model):
            embedded = embed_tokens(model.embedding, torch.tensor([token_ids[-1:]]))
            y = model.positions(embedded, len(token_ids) - 1)  # (1, 1, d_model)
            after = []
            for layer, layer_cache in zip(model.decoder.layers, cache, strict=True):
                assert isinstance(layer, DecoderLayer)
                heads_after: list[HeadCache] = []

                def attend(
                    x: Tensor,
                    attention: MultiHeadAttention = layer.self_attention,
                    before: list[HeadCache] = layer_cache,
                    after: list[HeadCache] = heads_after,
                ) -> Tensor:
                    return _attend(attention, x, before, after, cached_step)

                def attend_to_memory(
                    x: Tensor, attention: MultiHeadAttention = layer.cross_attention
                ) -> Tensor:
                    return attention(x, memory.vectors, memory.may_attend)[0]

                y = layer.apply_sublayers(y, [attend, attend_to_memory])
                after.append(heads_after)
            logits = model.logits(model.decoder.norm(y))[0, 0]
        caches[tuple(token_ids)] = after
        return logits.log_softmax(dim=-1).numpy()

    return log_probabilities


def _attend(
    attention: MultiHeadAttention,
    x: Tensor,
    before: list[HeadCache],
    after: list[HeadCache],
    cached_step: CachedStep,
) -> Tensor:
    """Let the newest token's vector x (1, 1, d_model) attend, head by head.

    before, after : keys and values of each head; those after are appended

    ``cached_step`` makes the vector itself, from an embedding and an encoding, and has
    no biases. So the embedding is 0, the encoding is x, and a 1 behind it is what the
    biases are multiplied by.
    """
    t, n_heads = len(before[0][0]), len(before)
    row = torch.cat([x.flatten(), torch.ones(1)])
    encoding = torch.zeros(t + 1, len(row))
    encoding[t] = row
    projections = zip(
        *(
            _by_head(linear, n_heads)
            for linear in (attention.query, attention.key, attention.value)
        ),
        strict=True,
    )
    outputs = []
    for (keys, values), matrices in zip(before, projections, strict=True):
        if not t:
            keys = values = torch.empty(0, matrices[0].shape[-1])
        output, *both = cached_step(
            0, keys, values, torch.zeros(1, len(row)), encoding, *matrices
        )
        after.append((both[0], both[1]))
        outputs.append(output)
    return attention.output(torch.cat(outputs)).reshape(x.shape)


def _by_head(linear: nn.Linear, n_heads: int) -> tuple[Tensor, ...]:
    """Return each head's matrix (d_model + 1, d_k), the biases in its last row."""
    rows = [linear.weight.T]
    if linear.bias is None:
        rows.append(torch.zeros(1, linear.out_features))
    else:
        rows.append(linear.bias.unsqueeze(0))
    return torch.cat(rows).chunk(n_heads, dim=-1)
