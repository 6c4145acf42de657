"""A recurrent network that must remember the first letter of a word (lesson 08).

It reads random letters and then says which one came first. The plain unit and the gated
one read the same words, for the same number of steps.
"""

from typing import Literal

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from course_lib.lessons.environment import one_thread, seeded

N_LETTERS = 10
BATCH_SIZE = 64
STATE = 32  # length of the hidden state, and of a letter's vector
STEPS = 400
N_TEST = 1000
UNITS = {"plain": nn.RNN, "gated": nn.GRU}


def share_right(
    unit: Literal["plain", "gated"], between: int, *, steps: int = STEPS, seed: int = 0
) -> float:
    """Train a unit, and return in what share of new words its answer is right.

    unit : "plain", s' = tanh(x w_x + s w_h + b), or "gated", a GRU
    between : how many letters come after the first one, before the answer
    steps : of Adam, each with new words
    seed : of the first parameters and of the words
    """
    if unit not in UNITS:
        raise ValueError(f'unit={unit!r} must be "plain" or "gated"')
    with one_thread(), seeded(seed):
        embedding = nn.Embedding(N_LETTERS, STATE)
        reader = UNITS[unit](STATE, STATE, batch_first=True)
        answer = nn.Linear(STATE, N_LETTERS)
        parts = nn.ModuleList([embedding, reader, answer])
        optimizer = torch.optim.Adam(parts.parameters(), lr=3e-3)
        for _ in range(steps):
            words = torch.randint(N_LETTERS, (BATCH_SIZE, between + 1))
            logits = answer(reader(embedding(words))[0][:, -1])
            loss = cross_entropy(logits, words[:, 0])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        words = torch.randint(N_LETTERS, (N_TEST, between + 1))
        with torch.no_grad():
            logits = answer(reader(embedding(words))[0][:, -1])
    return (logits.argmax(dim=-1) == words[:, 0]).float().mean().item()
