"""A Transformer of the learner's own functions learns to write words backwards (09).

The forward pass stands in the lesson; here are its parameters, the task and the loop.
The course's own Transformer is ``course_lib.nn.transformer``.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import functional as torch_functional

from course_lib.lessons.environment import one_thread, seeded

LETTERS = "abcdefghij"
START_ID, FIRST_LETTER_ID = 1, 2  # 0 is padding
VOCAB_SIZE = FIRST_LETTER_ID + len(LETTERS)
LENGTH = 6  # letters of a word
D_MODEL, D_FF = 32, 64
BATCH_SIZE, LEARNING_RATE = 64, 0.01

Parameters = dict[str, dict[str, Tensor]]
Forward = Callable[[Tensor, Tensor, Parameters], Tensor]


def make_parameters(seed: int = 0) -> Parameters:
    """Draw the parameters of one layer on each side, of the last norms and embedding.

    Returns them by part ("encoder", "decoder", "ends") and by the names that
    ``encoder_layer`` and ``decoder_layer`` use; those of the ends are "embedding",
    "gain_encoder", "bias_encoder", "gain_decoder" and "bias_decoder".
    """
    with seeded(seed):
        attention = [f"w_{letter}" for letter in "qkvo"]
        cross = [f"cross_{letter}" for letter in "qkvo"]
        parts: Parameters = {
            "encoder": _layer(attention, n_norms=2),
            "decoder": _layer(attention + cross, n_norms=3),
            "ends": {"embedding": torch.randn(VOCAB_SIZE, D_MODEL) * D_MODEL**-0.5},
        }
    for side in ("encoder", "decoder"):
        parts["ends"] |= _norm(side)
    for tensor in all_parameters(parts):
        tensor.requires_grad_()
    return parts


def _layer(square: list[str], n_norms: int) -> dict[str, Tensor]:
    """Draw the parameters of a layer; square : names of matrices in attentions."""
    layer = {name: _matrix(D_MODEL, D_MODEL) for name in square}
    layer |= {"w_1": _matrix(D_MODEL, D_FF), "b_1": torch.zeros(D_FF)}
    layer |= {"w_2": _matrix(D_FF, D_MODEL), "b_2": torch.zeros(D_MODEL)}
    for number in range(1, n_norms + 1):
        layer |= _norm(str(number))
    return layer


def _matrix(n_rows: int, n_columns: int) -> Tensor:
    return torch.nn.init.xavier_uniform_(torch.empty(n_rows, n_columns))


def _norm(name: str) -> dict[str, Tensor]:
    return {f"gain_{name}": torch.ones(D_MODEL), f"bias_{name}": torch.zeros(D_MODEL)}


def all_parameters(parts: Parameters) -> Iterator[Tensor]:
    """Go through all tensors of all parts."""
    for part in parts.values():
        yield from part.values()


def learn_to_reverse(
    forward: Forward, parts: Parameters, steps: int, seed: int = 0
) -> list[float]:
    """Train by Adam on random words and their reverse, each step on new ones.

    forward : takes source (batch, n), target (batch, n), not shifted, and the
        parameters, and returns the logits (batch, n, vocab_size)

    Returns the loss of each step; the parameters are changed in place.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(all_parameters(parts), lr=LEARNING_RATE)
    losses = []
    with one_thread():
        for step in range(steps):
            for group in optimizer.param_groups:  # up in 20 steps, then evenly down
                share = min((step + 1) / 20, (steps - step) / steps)
                group["lr"] = LEARNING_RATE * share
            source = _words(BATCH_SIZE, generator)
            target = source.flip(-1)
            logits = forward(source, target, parts)
            loss = torch_functional.cross_entropy(logits.mT, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def _words(n: int, generator: torch.Generator) -> Tensor:
    return torch.randint(FIRST_LETTER_ID, VOCAB_SIZE, (n, LENGTH), generator=generator)


def write(forward: Forward, parts: Parameters, words: list[str]) -> list[str]:
    """Write one word for each, letter by letter, each time the likeliest."""
    source = torch.tensor([[LETTERS.index(c) for c in word] for word in words])
    source += FIRST_LETTER_ID
    target = torch.full_like(source, FIRST_LETTER_ID)
    with one_thread(), torch.no_grad():
        for i in range(LENGTH):  # logits at i depend on the target before i alone
            logits = forward(source, target, parts)[:, i, FIRST_LETTER_ID:]
            target[:, i] = logits.argmax(dim=-1) + FIRST_LETTER_ID
    return ["".join(LETTERS[i - FIRST_LETTER_ID] for i in row) for row in target]


def share_reversed(forward: Forward, parts: Parameters, n: int = 500) -> float:
    """Compute the share of new random words that are written backwards."""
    words = [
        "".join(LETTERS[i - FIRST_LETTER_ID] for i in row)
        for row in _words(n, torch.Generator().manual_seed(99))
    ]
    written = write(forward, parts, words)
    return sum(a == b[::-1] for a, b in zip(written, words, strict=True)) / n
