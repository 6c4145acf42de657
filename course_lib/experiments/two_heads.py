"""One head or several: which layer can compare two days of a week (lesson 03)?

Each question names two days; the answer is what was measured on the first minus what
was measured on the second. One layer of multi-head attention learns it, with nothing
behind it. The same layer in NumPy is ``course_lib.heads.multi_head_attention``.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from course_lib.heads import multi_head_attention
from course_lib.lessons.environment import one_thread

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
D_MODEL = 16  # 7 entries for a day, 7 for a second day, 2 for what was measured
MEASURED = slice(14, 16)
N_HEADS = (1, 2, 4)
BATCH_SIZE = 64  # questions per step


@dataclass(frozen=True)
class TrainedHeads:
    """A trained layer.

    n_heads : number of heads, each of length D_MODEL / n_heads
    parameters : "w_q", "w_k", "w_v" (16, 16) and "w_o" (16, 2)
    error : mean squared error on questions that it was not trained on, as a share of
        the answers' variance: 0 is always right, 1 no better than always answering 0
    """

    n_heads: int
    parameters: dict[str, np.ndarray]
    error: float


def week(measured: np.ndarray) -> np.ndarray:
    """Write a week as seven tokens.

    measured : (..., 7, 2), two numbers for each day

    Returns (..., 7, 16): a token says which day it is (a 1 among its first seven
    entries) and what was measured (its last two).
    """
    tokens = np.zeros((*measured.shape[:-1], D_MODEL))
    tokens[..., :7] = np.eye(7)
    tokens[..., MEASURED] = measured
    return tokens


def question(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Write "how much more on the first day than on the second?" as one token each.

    first, second : (...), whole numbers, 0 for Monday … 6 for Sunday

    Returns (..., 1, 16): the first day among the first seven entries, the second among
    the next seven.
    """
    tokens = np.concatenate(
        [np.eye(7)[first], np.eye(7)[second], np.zeros((*np.shape(first), 2))], axis=-1
    )
    return tokens[..., np.newaxis, :]


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw n weeks, a question about each, and the answers.

    Returns the questions (n, 1, 16), the weeks (n, 7, 16) and the answers (n, 1, 2).
    What was measured has mean 0 and variance 1, so the answers have variance 2.
    """
    measured = rng.normal(size=(n, 7, 2))
    first = rng.integers(7, size=n)
    second = (first + rng.integers(1, 7, size=n)) % 7  # any other day
    rows = np.arange(n)
    answers = measured[rows, first] - measured[rows, second]
    return question(first, second), week(measured), answers[:, np.newaxis]


def multi_head_layer(
    x: torch.Tensor,
    memory: torch.Tensor,
    parameters: dict[str, torch.Tensor],
    n_heads: int,
) -> torch.Tensor:
    """Compute ``multi_head_attention`` with tensors, for a batch of questions."""
    q = _split(x @ parameters["w_q"], n_heads)  # (batch, n_heads, 1, d_k)
    k = _split(memory @ parameters["w_k"], n_heads)  # (batch, n_heads, 7, d_k)
    v = _split(memory @ parameters["w_v"], n_heads)
    weights = torch.softmax(q @ k.transpose(-1, -2) / k.shape[-1] ** 0.5, dim=-1)
    merged = (weights @ v).transpose(-2, -3).flatten(-2)  # (batch, 1, 16)
    return merged @ parameters["w_o"]


def train(n_heads: int, *, seed: int = 0, steps: int = 300) -> TrainedHeads:
    """Train a layer with so many heads; everything else is the same for any number.

    n_heads : 1, 2, 4, 8 or 16
    seed : of the first parameters and of the questions
    steps : of Adam, each with BATCH_SIZE new questions
    """
    rng = np.random.default_rng(seed)
    shapes = {name: (D_MODEL, D_MODEL) for name in ("w_q", "w_k", "w_v")}
    tensors = {
        name: _tensor(rng.normal(size=shape) / D_MODEL**0.5).requires_grad_()
        for name, shape in (shapes | {"w_o": (D_MODEL, 2)}).items()
    }
    optimizer = torch.optim.Adam(tensors.values(), lr=0.02)
    with one_thread():
        for _ in range(steps):
            x, memory, answers = (_tensor(array) for array in draw(BATCH_SIZE, rng))
            difference = multi_head_layer(x, memory, tensors, n_heads) - answers
            optimizer.zero_grad()
            (difference**2).mean().backward()
            optimizer.step()
    parameters = {name: tensor.detach().numpy() for name, tensor in tensors.items()}
    trained = TrainedHeads(n_heads, parameters, 0.0)
    return replace(trained, error=error([trained]))


def error(layers: list[TrainedHeads], n: int = 4000, seed: int = 1000) -> float:
    """Compute the error of several layers' mean answer, as in ``TrainedHeads``.

    layers : one layer, or several whose answers are averaged: an ensemble
    n, seed : number of questions, seed of their numbers; none of them was trained on
    """
    x, memory, answers = draw(n, np.random.default_rng(seed))
    outputs = [
        multi_head_layer(
            _tensor(x),
            _tensor(memory),
            {name: torch.from_numpy(each) for name, each in layer.parameters.items()},
            layer.n_heads,
        ).numpy()
        for layer in layers
    ]
    differences = np.mean(outputs, axis=0) - answers
    return float((differences**2).mean() / (answers**2).mean())


def attends_to_first(layer: TrainedHeads, n: int = 1000, seed: int = 1000) -> float:
    """Compute in which share of questions a single head attends most to the first day.

    n, seed : number of questions, seed of their numbers
    """
    x, memory, _ = draw(n, np.random.default_rng(seed))
    weights = multi_head_attention(x, memory, **layer.parameters, n_heads=1)[1]
    return float((weights[:, 0, 0].argmax(-1) == x[:, 0, :7].argmax(-1)).mean())


def full(seed: int) -> dict[str, Any]:
    """Train with 1, 2 and 4 heads, and two more layers of one head for an ensemble.

    Under "ensemble_at_first": how many of the ensemble's three members attend most to
    the first day of a question, in most questions.
    """
    trained = {n_heads: train(n_heads, seed=seed, steps=1000) for n_heads in N_HEADS}
    others = [train(1, seed=100 * (seed + 1) + i, steps=1000) for i in range(2)]
    members = [trained[1], *others]
    return {
        **{f"error_{n}": round(layer.error, 4) for n, layer in trained.items()},
        "error_ensemble": round(error(members), 4),
        "ensemble_at_first": sum(attends_to_first(each) > 0.5 for each in members),
    }


def _split(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array).to(torch.float32)
