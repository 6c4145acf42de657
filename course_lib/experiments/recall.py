"""What does a pronoun refer to: similarity, or learned queries and keys (lesson 02)?

The stories are in ``course_lib.lessons.stories``. One layer of self-attention over five
tokens is trained to output, in the row of the token that asks, the colour asked for.
With similarity alone, queries and keys are the words' vectors themselves; only the
values' parameters are learned. PyTorch differentiates here; the derivatives by hand are
in ``course_lib.self_attention``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from course_lib.lessons.environment import one_thread
from course_lib.lessons.stories import D_MODEL, WORD_SIZE, Stories, draw, word_vectors
from course_lib.self_attention import self_attention

STEPS = 300
BATCH_SIZE = 64
LEARNING_RATE = 0.02
N_TEST = 4000


@dataclass(frozen=True)
class RecallModel:
    """A trained layer, and its measures on new stories.

    vectors : (20, 16), the words' vectors, drawn and never changed
    w_q, w_k : (24, d_k), w_v : (24, 8), parameters
    accuracy : share of the stories with the right colour, between 0 and 1
    weight_on_target : mean weight of the token that asks on the one that is meant
    own_largest : share of all rows, over all tokens, whose largest weight is the own
        token's
    losses : one number per 20 steps (nats)
    """

    vectors: np.ndarray
    w_q: np.ndarray
    w_k: np.ndarray
    w_v: np.ndarray
    accuracy: float
    weight_on_target: float
    own_largest: float
    losses: list[float]

    def attend(self, stories: Stories) -> tuple[np.ndarray, np.ndarray]:
        """Compute the output (count, 5, 8) and the weights (count, 5, 5)."""
        x = stories.embed(self.vectors)
        return self_attention(x, self.w_q, self.w_k, self.w_v)


def train(
    seed: int,
    *,
    learn_queries_and_keys: bool = True,
    by_pronoun: bool = True,
    d_k: int = 2,
    steps: int = STEPS,
) -> RecallModel:
    """Train one layer of self-attention on stories drawn for it, and test it on others.

    seed : of the words' vectors, the first parameters and the stories
    learn_queries_and_keys : if not, a word's vector is its query and its key
    by_pronoun : whether a pronoun asks, or the noun itself once more
    d_k : length of a query and a key, where these are learned
    """
    rng = np.random.default_rng((seed, 1))
    vectors = word_vectors(seed)
    parameters = [rng.normal(size=(D_MODEL, n)) / D_MODEL**0.5 for n in (d_k, d_k, 8)]
    if not learn_queries_and_keys:
        similarity = np.eye(D_MODEL)[:, :WORD_SIZE]  # the colour is left out
        parameters[:2] = [similarity, similarity]
    n_fixed = 0 if learn_queries_and_keys else 2
    with one_thread():
        losses = _train(parameters, n_fixed, vectors, rng, steps, by_pronoun)
    test = draw(np.random.default_rng((seed, 2)), N_TEST, by_pronoun=by_pronoun)
    w_q, w_k, w_v = parameters
    output, weights = self_attention(test.embed(vectors), w_q, w_k, w_v)
    asking = weights[np.arange(N_TEST), -1, test.target_index]
    return RecallModel(
        vectors,
        w_q,
        w_k,
        w_v,
        accuracy=float((output[:, -1].argmax(-1) == test.answers).mean()),
        weight_on_target=float(asking.mean()),
        own_largest=float((weights.argmax(-1) == np.arange(5)).mean()),
        losses=losses,
    )


def full(seed: int) -> dict[str, Any]:
    """Compare similarity and learning, and sizes of d_k, with twice the steps."""
    steps = 2 * STEPS
    similarity = train(seed, learn_queries_and_keys=False, steps=steps)
    repeated = train(seed, learn_queries_and_keys=False, by_pronoun=False, steps=steps)
    learned = {d_k: train(seed, d_k=d_k, steps=steps) for d_k in (1, 2, 4, 8)}
    return {
        "noun again, similarity": round(repeated.accuracy, 3),
        "pronoun, similarity": round(similarity.accuracy, 3),
        "pronoun, learned": round(learned[4].accuracy, 3),
        "weight on the target": round(learned[4].weight_on_target, 3),
        **{f"d_k {d_k}": round(model.accuracy, 3) for d_k, model in learned.items()},
        "losses": [round(loss, 3) for loss in learned[4].losses],
    }


def _train(
    parameters: list[np.ndarray],
    n_fixed: int,
    vectors: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    by_pronoun: bool,
) -> list[float]:
    """Change all but the first n_fixed parameters in place; return every 20th loss."""
    tensors = [torch.from_numpy(p) for p in parameters]  # they share the memory
    for tensor in tensors[n_fixed:]:
        tensor.requires_grad_()
    optimizer = torch.optim.Adam(tensors[n_fixed:], lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        stories = draw(rng, BATCH_SIZE, by_pronoun=by_pronoun)
        x = torch.from_numpy(stories.embed(vectors))
        q, k, v = (x @ tensor for tensor in tensors)
        output = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        answers = torch.from_numpy(stories.answers)
        loss = torch.nn.functional.cross_entropy(output[:, -1], answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            losses.append(float(loss.detach()))
    return losses
