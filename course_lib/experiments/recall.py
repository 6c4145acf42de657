"""Can self-attention find whom a pronoun means: by likeness, and by what it learned?

The stories are in ``course_lib.lessons.stories``. One layer of self-attention over five tokens
is trained to give, in the row of the token that asks, the colour asked for. With
likeness alone, queries and keys are the words' vectors themselves; only the values'
parameters are learned. PyTorch differentiates here; the derivatives by hand are in
``course_lib.self_attention``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from course_lib.lessons.environment import one_thread
from course_lib.lessons.stories import D_MODEL, WORD_SIZE, Stories, draw, word_vectors
from course_lib.self_attention import self_attention

STEPS = 300
BATCH = 64
RATE = 0.02
TESTS = 4000


@dataclass(frozen=True)
class Trained:
    """What a training gave.

    vectors : (20, 16), the words' vectors, drawn and never changed
    w_q, w_k : (24, d_k), w_v : (24, 8), parameters
    accuracy : share of new stories whose colour is found, between 0 and 1
    found : mean weight of the token that asks on the one that is meant
    own : share of all rows, over all tokens, whose largest weight is the own token's
    losses : one number per 20 steps (nats)
    """

    vectors: np.ndarray
    w_q: np.ndarray
    w_k: np.ndarray
    w_v: np.ndarray
    accuracy: float
    found: float
    own: float
    losses: list[float]

    def look(self, stories: Stories) -> tuple[np.ndarray, np.ndarray]:
        """Give the output (count, 5, 8) and the weights (count, 5, 5) for stories."""
        x = stories.tokens(self.vectors)
        return self_attention(x, self.w_q, self.w_k, self.w_v)


def train(
    seed: int,
    *,
    learned: bool = True,
    by_pronoun: bool = True,
    d_k: int = 2,
    steps: int = STEPS,
) -> Trained:
    """Train one layer of self-attention on stories drawn for it, and test it on others.

    seed : of the words' vectors, the first parameters and the stories
    learned : whether w_q and w_k are learned; if not, a word's vector is its query and
        its key
    by_pronoun : whether a pronoun asks, or the noun itself once more
    d_k : numbers per query and key, where these are learned
    """
    rng = np.random.default_rng((seed, 1))
    vectors = word_vectors(seed)
    first = [rng.normal(size=(D_MODEL, n)) / D_MODEL**0.5 for n in (d_k, d_k, 8)]
    if not learned:
        likeness = np.eye(D_MODEL)[:, :WORD_SIZE]  # the colour is left out
        first[:2] = [likeness, likeness]
    with one_thread():
        losses = _descend(first, vectors, rng, steps, learned, by_pronoun)
    test = draw(np.random.default_rng((seed, 2)), TESTS, by_pronoun=by_pronoun)
    w_q, w_k, w_v = first
    output, weights = self_attention(test.tokens(vectors), w_q, w_k, w_v)
    return Trained(
        vectors,
        w_q,
        w_k,
        w_v,
        accuracy=float((output[:, -1].argmax(-1) == test.answers).mean()),
        found=float(weights[np.arange(TESTS), -1, test.place].mean()),
        own=float((weights.argmax(-1) == np.arange(5)).mean()),
        losses=losses,
    )


def full(seed: int) -> dict[str, Any]:
    """Compare likeness and learning, and sizes of d_k, with twice the steps."""
    steps = 2 * STEPS
    repeated = train(seed, learned=False, by_pronoun=False, steps=steps)
    likeness = train(seed, learned=False, steps=steps)
    learned = {d_k: train(seed, d_k=d_k, steps=steps) for d_k in (1, 2, 4, 8)}
    return {
        "noun again, likeness": round(repeated.accuracy, 3),
        "pronoun, likeness": round(likeness.accuracy, 3),
        "pronoun, learned": round(learned[4].accuracy, 3),
        "weight on the one meant": round(learned[4].found, 3),
        **{f"d_k {d_k}": round(kept.accuracy, 3) for d_k, kept in learned.items()},
        "losses": [round(loss, 3) for loss in learned[4].losses],
    }


def _descend(
    parameters: list[np.ndarray],
    vectors: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    learned: bool,
    by_pronoun: bool,
) -> list[float]:
    """Change the parameters in place, step by step; give some of the losses."""
    tensors = [torch.from_numpy(p) for p in parameters]  # they share the memory
    moving = tensors if learned else tensors[2:]
    for tensor in moving:
        tensor.requires_grad_()
    optimiser = torch.optim.Adam(moving, lr=RATE)
    losses = []
    for step in range(steps):
        stories = draw(rng, BATCH, by_pronoun=by_pronoun)
        x = torch.from_numpy(stories.tokens(vectors))
        q, k, v = (x @ tensor for tensor in tensors)
        output = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        answers = torch.from_numpy(stories.answers)
        loss = torch.nn.functional.cross_entropy(output[:, -1], answers)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 20 == 0:
            losses.append(float(loss.detach()))
    return losses
