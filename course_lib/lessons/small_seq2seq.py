"""Recurrent translators that are small enough to be trained inside lesson 08.

What they learn is in ``course_lib.experiments`` (bottleneck, alignments), the model in
``course_lib.nn.recurrent``, the training of large ones in ``course_lib.nn.training``.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from course_lib.lessons.environment import one_thread, seeded
from course_lib.nn.functional import shift_right
from course_lib.nn.recurrent import (
    AdditiveAttention,
    RecurrentConfig,
    RecurrentTranslator,
)
from course_lib.nn.training.subwords import END_ID, PADDING_ID, START_ID

FIRST_TOKEN_ID = 3  # the first id that is none of these
Attention = Literal["none", "additive", "multiplicative"]
ATTENTION_KINDS: tuple[Attention, ...] = ("none", "additive", "multiplicative")
DrawBatch = Callable[[np.random.Generator], tuple[Tensor, Tensor]]


def train(
    attention: Attention,
    draw_batch: DrawBatch,
    vocab_size: int,
    *,
    steps: int,
    seed: int = 0,
    d_hidden: int = 32,
    learning_rate: float = 0.01,
) -> RecurrentTranslator:
    """Train a translator with teacher forcing.

    attention : how the decoder attends to the source; "none" for a fixed context
    draw_batch : takes a generator of random numbers and returns a batch: source
        (batch, m) and target (batch, n), padded with ``PADDING_ID``
    vocab_size : number of tokens
    steps : of Adam, each with a new batch
    seed : of the first parameters and of the batches
    d_hidden : length of the decoder's hidden state
    learning_rate : at the start; it goes down to a twentieth of it
    """
    rng = np.random.default_rng(seed)
    config = RecurrentConfig(vocab_size, d_hidden, d_hidden, attention, 0.0, PADDING_ID)
    with seeded(seed):
        model = RecurrentTranslator(config, device="cpu")
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
        for _ in range(steps):
            source, target = draw_batch(rng)
            logits = model(source, decoder_input(target))  # (batch, n, vocab_size)
            loss = cross_entropy(logits.mT, target, ignore_index=PADDING_ID)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return model.eval()


def decoder_input(target: Tensor) -> Tensor:
    """Return what the decoder reads where it must write a target (batch, n).

    >>> decoder_input(torch.tensor([[7, 8, 9]]))
    tensor([[1, 7, 8]])
    """
    return shift_right(target, START_ID)


def generate(model: RecurrentTranslator, source: Tensor, n: int) -> Tensor:
    """Let a translator write n tokens (batch, n) for each source (batch, m).

    Each token is the most likely one, and is then read by the decoder. What comes
    after ``END_ID`` is ``PADDING_ID``.
    """
    token_ids = torch.full_like(source[:, 0], START_ID)  # (batch)
    columns, unfinished = [], torch.ones_like(token_ids, dtype=torch.bool)
    with one_thread(), torch.no_grad():
        state = model.initial_state(model.encode(source))
        for _ in range(n):
            logits, state = model.step(token_ids, state)
            token_ids = logits.argmax(dim=-1).where(unfinished, PADDING_ID)
            unfinished = unfinished & (token_ids != END_ID)
            columns.append(token_ids)
    return torch.stack(columns, dim=1)


def decoder_parameters(model: RecurrentTranslator) -> dict[str, Tensor]:
    """Return a decoder's parameters by the names of the exercise ``decoder_step``.

    Raises ``ValueError`` if the model's attention is not additive.
    """
    attention = model.decoder.attention
    if not isinstance(attention, AdditiveAttention):
        raise ValueError(f"attention={model.config.attention!r} is not additive")
    w_x, w_h, b_x, b_h = (each.detach() for each in model.decoder.gru.all_weights[0])
    return {
        "w_q": attention.query.weight.detach().T,
        "w_k": attention.key.weight.detach().T,
        "v": attention.score.weight.detach()[0],
        "w_x": w_x.T,
        "w_h": w_h.T,
        "b_x": b_x,
        "b_h": b_h,
    }
