"""Recurrent translators that are small enough to be trained inside a lesson.

What they learn is in ``course_lib.experiments`` (bottleneck, alignments); the model
itself is ``course_lib.nn.recurrent``, and the training of large ones
``course_lib.nn.training.loop``.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from course_lib.lessons.environment import one_thread
from course_lib.nn.recurrent import (
    AdditiveAttention,
    RecurrentSizes,
    RecurrentTranslator,
)

PADDING, START, END = range(3)
FIRST = 3  # the number of the first token that is none of these
Attention = Literal["none", "additive", "multiplicative"]
KINDS: tuple[Attention, ...] = ("none", "additive", "multiplicative")
Draw = Callable[[np.random.Generator], tuple[Tensor, Tensor]]


def train(
    attention: Attention,
    draw: Draw,
    vocab_size: int,
    *,
    steps: int,
    seed: int = 0,
    d_hidden: int = 32,
    rate: float = 0.01,
) -> RecurrentTranslator:
    """Train a translator with teacher forcing.

    attention : how the decoder looks at the source; "none" for a fixed context
    draw : takes a generator of random numbers and gives a batch: source (batch, m) and
        target (batch, n), filled up with ``PADDING``
    vocab_size : number of tokens
    steps : of Adam, each with a new batch
    seed : of the first parameters and of the batches
    d_hidden : length of the decoder's state
    rate : of learning, at the start; it goes down to a twentieth of it
    """
    rng = np.random.default_rng(seed)
    sizes = RecurrentSizes(vocab_size, d_hidden, d_hidden, attention, 0.0, PADDING)
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = RecurrentTranslator(sizes, device="cpu")
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
        for _ in range(steps):
            source, target = draw(rng)
            logits = model(source, shifted(target))  # (batch, n, vocab_size)
            loss = cross_entropy(logits.mT, target, ignore_index=PADDING)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            slower.step()
    return model.eval()


def shifted(target: Tensor) -> Tensor:
    """Give what the decoder reads where it must write a target (batch, n).

    >>> shifted(torch.tensor([[7, 8, 9]]))
    tensor([[1, 7, 8]])
    """
    start = torch.full_like(target[:, :1], START)
    return torch.cat([start, target[:, :-1]], dim=1)


def written(model: RecurrentTranslator, source: Tensor, n: int) -> Tensor:
    """Let a translator write n tokens (batch, n) for each source (batch, m).

    Each token is the most likely one, and is then read by the decoder. What comes
    after ``END`` is ``PADDING``.
    """
    tokens = torch.full_like(source[:, 0], START)  # (batch)
    found, open_ones = [], torch.ones_like(tokens, dtype=torch.bool)
    with one_thread(), torch.no_grad():
        state = model.start(model.encode(source))
        for _ in range(n):
            logits, state = model.step(tokens, state)
            tokens = logits.argmax(dim=-1).where(open_ones, PADDING)
            open_ones = open_ones & (tokens != END)
            found.append(tokens)
    return torch.stack(found, dim=1)


def decoder_parameters(model: RecurrentTranslator) -> dict[str, Tensor]:
    """Give a decoder's parameters as ``course_lib.nn.sequence_to_sequence.decoder_step`` wants.

    Raises ``ValueError`` if the model's attention is not additive.
    """
    look = model.decoder.look
    if not isinstance(look, AdditiveAttention):
        raise ValueError(f"attention={model.sizes.attention!r} is not additive")
    w_x, w_h, b_x, b_h = (each.detach() for each in model.decoder.unit.all_weights[0])
    return {
        "w_q": look.query.weight.detach().T,
        "w_k": look.key.weight.detach().T,
        "v": look.score.weight.detach()[0],
        "w_x": w_x.T,
        "w_h": w_h.T,
        "b_x": b_x,
        "b_h": b_h,
    }


def filled(rows: Sequence[Sequence[int]]) -> Tensor:
    """Put rows of tokens into one tensor (batch, longest), with ``PADDING`` behind.

    >>> filled([[5, 6], [7]])
    tensor([[5, 6],
            [7, 0]])
    """
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PADDING] * (longest - len(row))] for row in rows])
