"""Where does an induction head form: in a model of two layers, or of one (lesson 13)?

Models of nothing but attention learn to go on with random sequences that repeat. What
comes next stands behind the earlier occurrence of the token that was read last, and
nowhere else is it to be had: a sequence is drawn for each example, and how long it is
before it repeats is drawn too. Elhage et al. (2021), A Mathematical Framework for
Transformer Circuits, found the heads that find it, in models of two layers, and Olsson
et al. (2022), In-context Learning and Induction Heads, saw them form all at once.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.lessons.environment import seeded
from course_lib.nn.head_roles import (
    ScoredHead,
    best_heads,
    head_role_scores,
    induction_score,
)
from course_lib.nn.language_model import (
    CausalAttention,
    LanguageModelConfig,
    RotaryPositions,
)

VOCAB_SIZE = 64
N_POSITIONS = 32
PERIODS = (5, 16)  # the shortest and the longest in training
PERIOD = 16  # of the test sequences, which have N_POSITIONS tokens: two halves
N_HEADS, HEAD_SIZE = 2, 32
ROTARY_BASE = 100.0  # 10,000 is for longer sequences
BATCH_SIZE = 32
LEARNING_RATE = 0.003
STEPS, EVERY = 1200, 100
N_TEST = 200  # sequences
MODELS = {"one layer": (1, 2), "one wide layer": (1, 4), "two layers": (2, 2)}
Score = Callable[[Tensor, int], Tensor]


class AttentionOnlyModel(nn.Module):
    """Layers of causal attention, each with norm and residual connection, no more.

    There is no feed-forward network, so that whatever moves from one position to
    another, or comes together there, does it in a head.
    """

    def __init__(self, n_layers: int, n_heads: int = N_HEADS) -> None:
        """Make a model with random parameters; d_model is n_heads · HEAD_SIZE."""
        super().__init__()
        self.n_heads, d_model, cpu = n_heads, n_heads * HEAD_SIZE, torch.device("cpu")
        config = LanguageModelConfig(
            VOCAB_SIZE, d_model, n_layers, n_heads, n_positions=N_POSITIONS
        )
        self.embedding = nn.Embedding(VOCAB_SIZE, d_model)
        self.rotary = RotaryPositions(
            N_POSITIONS, HEAD_SIZE, base=ROTARY_BASE, device=cpu
        )
        self.attentions = nn.ModuleList(
            CausalAttention(config, cpu, None) for _ in range(n_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers + 1))
        self.unembedding = nn.Linear(d_model, VOCAB_SIZE, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:  # so that heads differ from the first step on
                nn.init.normal_(parameter, std=d_model**-0.5)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute logits (batch, n, VOCAB_SIZE) of what follows each of n tokens."""
        x = self.embedding(token_ids)
        for norm, attention in zip(self.norms, self.attentions, strict=False):
            x = x + attention(norm(x), None, self.rotary)[0]
        return self.logits(x)

    def logits(self, vectors: Tensor) -> Tensor:
        """Compute the logits (..., VOCAB_SIZE) of vectors (..., d_model) of any layer.

        Of the last layer's they are the model's own; of others, the *logit lens*.
        """
        return self.unembedding(self.norms[-1](vectors))

    @torch.no_grad()
    def vectors(
        self, token_ids: Tensor, patches: Mapping[tuple[int, int], Tensor] | None = None
    ) -> Tensor:
        """Return the embeddings and the vectors after each layer.

        token_ids : (batch, n)
        patches : from (row, position) to the vector (d_model) that takes the place of
            the model's own there; row 0 are the embeddings, row 1 is after layer 0

        Returns (n_layers + 1, batch, n, d_model).
        """
        x, rows = self.embedding(token_ids), list[Tensor]()
        for row in range(len(self.attentions) + 1):
            if row:
                normed = self.norms[row - 1](x)
                x = x + self.attentions[row - 1](normed, None, self.rotary)[0]
            for (at, position), vector in (patches or {}).items():
                if at == row:
                    x[:, position] = vector
            rows.append(x.clone())
        return torch.stack(rows)

    @torch.no_grad()
    def attention_weights(self, token_ids: Tensor) -> Tensor:
        """Return the weights (batch, n_layers, n_heads, n, n) of all heads."""
        x, by_layer = self.embedding(token_ids), []
        for norm, attention in zip(self.norms, self.attentions, strict=False):
            assert isinstance(attention, CausalAttention)
            by_layer.append(attention.weights(norm(x), self.rotary))
            x = x + attention(norm(x), None, self.rotary)[0]
        return torch.stack(by_layer, dim=1)

    @contextmanager
    def without_head(self, layer: int, head: int) -> Iterator[None]:
        """Close a head, until the block ends: its output is 0."""

        def close(_: nn.Module, inputs: tuple[Tensor]) -> Tensor:
            heads = inputs[0].unflatten(-1, (self.n_heads, -1)).clone()
            heads[..., head, :] = 0
            return heads.flatten(-2)

        output = self.attentions[layer].get_submodule("output")
        handle = output.register_forward_pre_hook(close)
        try:
            yield
        finally:
            handle.remove()


@dataclass(frozen=True)
class Moment:
    """What a model could do at some step of its training, on test sequences.

    step : how many steps it was trained
    first, second : loss where a sequence is new, and where it repeats (nats per token)
    induction, previous : (n_layers, n_heads), the scores of all heads
    """

    step: int
    first: float
    second: float
    induction: Tensor
    previous: Tensor

    @property
    def best(self) -> ScoredHead:
        """The head with the highest induction score."""
        return best_heads(self.induction)[0]


def draw(n: int, periods: tuple[int, int] = PERIODS) -> Tensor:
    """Draw n random sequences, each repeated until it has N_POSITIONS tokens.

    periods : the shortest and the longest length of a sequence before it repeats

    Returns token ids (n, N_POSITIONS).
    """
    shortest, longest = periods
    sequences = torch.randint(VOCAB_SIZE, (n, longest))
    period = torch.randint(shortest, longest + 1, (n, 1))
    return sequences.gather(1, torch.arange(N_POSITIONS) % period)


def train(
    n_layers: int,
    seed: int = 0,
    *,
    n_heads: int = N_HEADS,
    steps: int = STEPS,
    every: int = EVERY,
    score: Score = induction_score,
) -> tuple[AttentionOnlyModel, list[Moment]]:
    """Train a model, and measure it before the first step and after each `every` steps.

    The learning rate falls linearly to 0.

    score : computes the same as ``induction_score``, such as a learner's own

    Two layers take about 10 s on one core for the default.
    """
    with seeded(seed):
        test = draw(N_TEST, (PERIOD, PERIOD))
        model = AttentionOnlyModel(n_layers, n_heads)
        optimizer = torch.optim.Adam(
            model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98)
        )
        moments = [measure(model, test, 0, score)]
        for step in range(1, steps + 1):
            loss = losses(model, draw(BATCH_SIZE)).mean()
            for group in optimizer.param_groups:
                group["lr"] = LEARNING_RATE * (1 - step / (steps + 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % every == 0:
                moments.append(measure(model, test, step, score))
    return model, moments


def losses(model: AttentionOnlyModel, token_ids: Tensor) -> Tensor:
    """Compute the losses (n, N_POSITIONS − 1) of all tokens but the first, in nats."""
    logits = model(token_ids[:, :-1])
    return functional.cross_entropy(logits.mT, token_ids[:, 1:], reduction="none")


@torch.no_grad()
def measure(
    model: AttentionOnlyModel,
    test: Tensor,
    step: int = 0,
    score: Score = induction_score,
) -> Moment:
    """Measure a model on test sequences of the period PERIOD.

    The token at position PERIOD, the repetition's first, is in neither loss: nothing
    says that the repetition begins.
    """
    by_token = losses(model, test).mean(dim=0)  # entry i is of the token i + 1
    weights = model.attention_weights(test).mean(dim=0)
    roles = head_role_scores(
        weights,
        torch.zeros(N_POSITIONS, dtype=torch.bool),
        torch.ones(N_POSITIONS),
    )
    return Moment(
        step,
        by_token[: PERIOD - 1].mean().item(),
        by_token[PERIOD:].mean().item(),
        score(weights, PERIOD),
        roles["previous"],
    )


def losses_without_heads(model: AttentionOnlyModel, seed: int = 0) -> list[list[float]]:
    """Measure the second half's loss with each head closed in turn, layer by layer."""
    with seeded(seed):
        test = draw(N_TEST, (PERIOD, PERIOD))
    rows = []
    for layer in range(len(model.attentions)):
        row = []
        for head in range(model.n_heads):
            with model.without_head(layer, head):
                row.append(round(measure(model, test).second, 3))
        rows.append(row)
    return rows


def full(seed: int) -> dict[str, Any]:
    """Train the models of ``MODELS`` with twice the steps.

    The wide layer has as many heads as the two layers together, and more parameters.
    Returns, after the name of each model and a comma,

    - "parameters": their number;

    - "steps", "first", "second", "induction" and "previous": lists, one entry for each
      moment; of the scores that of the best head;
    - "induction heads", "previous heads": the scores of all heads at the end, a row for
      each layer;
    - "best": layer and number of the best induction head;
    - "second without": the second half's loss with each head closed in turn.
    """
    results: dict[str, Any] = {}
    for name, (n_layers, n_heads) in MODELS.items():
        model, moments = train(n_layers, seed, n_heads=n_heads, steps=2 * STEPS)
        last = moments[-1]
        measures = {
            "parameters": sum(each.numel() for each in model.parameters()),
            "steps": [each.step for each in moments],
            "first": [round(each.first, 3) for each in moments],
            "second": [round(each.second, 3) for each in moments],
            "induction": [round(each.best.score, 3) for each in moments],
            "previous": [round(each.previous.max().item(), 3) for each in moments],
            "induction heads": _rounded(last.induction),
            "previous heads": _rounded(last.previous),
            "best": [last.best.layer, last.best.head],
            "second without": losses_without_heads(model, seed),
        }
        results |= {f"{name}, {key}": value for key, value in measures.items()}
    return results


def _rounded(scores: Tensor) -> list[list[float]]:
    return [[round(score, 3) for score in row] for row in scores.tolist()]
