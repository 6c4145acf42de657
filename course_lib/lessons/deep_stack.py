"""Deep stacks of layers (lesson 09), with and without residual connections and norms.

A layer is the ``encoder_layer`` of ``course_lib.nn.functional`` with one head, in six
kinds. What such stacks learn is in ``course_lib.experiments.norms``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from course_lib.lessons.environment import seeded

VOCAB_SIZE, LENGTH, D_MODEL = 8, 8, 32
# The last one is an error that has been printed as if it were right.
KINDS = {
    "neither": "sublayer(x)",
    "norm only": "norm(sublayer(x))",
    "residual only": "x + sublayer(x)",
    "post-norm": "norm(x + sublayer(x))",
    "pre-norm": "x + sublayer(norm(x))",
    "both mixed": "norm(x + sublayer(norm(x)))",
}


class StackLayer(nn.Module):
    """Attention with one head, then feed-forward; the kind says how they are joined.

    kind : one of ``KINDS``
    dropout : of each sublayer's output, while training
    """

    def __init__(self, kind: str, dropout: float) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.kind = kind
        self.qkv = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.out_projection = nn.Linear(D_MODEL, D_MODEL, bias=False)
        self.linear_1 = nn.Linear(D_MODEL, 4 * D_MODEL)
        self.linear_2 = nn.Linear(4 * D_MODEL, D_MODEL)
        self.norms = nn.ModuleList(nn.LayerNorm(D_MODEL) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def attend(self, x: Tensor) -> Tensor:
        """Let all tokens of x (..., n, d_model) attend to each other."""
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.mT / D_MODEL**0.5  # (..., n, n)
        return self.out_projection(scores.softmax(dim=-1) @ v)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Send each token of x (..., n, d_model) through two linear layers."""
        return self.linear_2(self.linear_1(x).relu())

    def forward(self, x: Tensor) -> Tensor:
        """Send x (..., n, d_model) through both sublayers."""
        attended = self._apply_sublayer(x, self.attend, 0)
        return self._apply_sublayer(attended, self.feed_forward, 1)

    def _apply_sublayer(
        self, x: Tensor, sublayer: Callable[[Tensor], Tensor], index: int
    ) -> Tensor:
        norm = self.norms[index]
        before = norm(x) if self.kind in ("pre-norm", "both mixed") else x
        after = self.dropout(sublayer(before))
        if self.kind not in ("neither", "norm only"):
            after = x + after
        last = self.kind in ("norm only", "post-norm", "both mixed")
        return norm(after) if last else after


class Stack(nn.Module):
    """Token ids in, logits out, between them layers of one kind.

    kind : one of ``KINDS``
    depth : number of layers
    dropout : of each sublayer's output, while training
    """

    def __init__(self, kind: str, depth: int, dropout: float = 0.0) -> None:
        """Make the parameters, drawn from PyTorch's generator.

        Raises ``ValueError`` for an unknown kind.
        """
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} is none of {', '.join(KINDS)}")
        self.embedding = nn.Embedding(VOCAB_SIZE, D_MODEL)
        self.positions = nn.Parameter(torch.empty(LENGTH, D_MODEL))
        self.layers = nn.ModuleList(StackLayer(kind, dropout) for _ in range(depth))
        # Pre-norm leaves its last sum without a norm: here it gets one.
        last = kind == "pre-norm"
        self.norm: nn.Module = nn.LayerNorm(D_MODEL) if last else nn.Identity()
        self.output = nn.Linear(D_MODEL, VOCAB_SIZE)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def hidden_states(self, token_ids: Tensor) -> list[Tensor]:
        """Return the input of the first layer, and the output of each."""
        states = [(self.embedding(token_ids) + self.positions) * D_MODEL**0.5]
        for layer in self.layers:
            states.append(layer(states[-1]))
        return states

    def logits(self, x: Tensor) -> Tensor:
        """Turn the output of the last layer into logits (..., VOCAB_SIZE)."""
        return self.output(self.norm(x))

    def forward(self, token_ids: Tensor) -> Tensor:
        """Turn token ids (batch, LENGTH) into logits (batch, LENGTH, VOCAB_SIZE)."""
        return self.logits(self.hidden_states(token_ids)[-1])


@dataclass(frozen=True)
class SignalPropagation:
    """How a signal passes an untrained stack; entry l is after layer l, 0 the input.

    rms : root mean square of all entries of the tokens' vectors
    token_variation : share of the vectors that differs between the tokens of a
        sequence: 0 if all tokens of a sequence have become alike
    gradient_norms : length of the loss's gradient with respect to these vectors
    """

    rms: list[float]
    token_variation: list[float]
    gradient_norms: list[float]


def propagate(kind: str, depth: int, seed: int = 0) -> SignalPropagation:
    """Send 32 drawn sequences through an untrained stack, and the gradient back.

    The loss is that of reversing the sequences.
    """
    with seeded(seed):
        stack = Stack(kind, depth)
        token_ids = torch.randint(VOCAB_SIZE, (32, LENGTH))
        states = stack.hidden_states(token_ids)
        loss = cross_entropy(stack.logits(states[-1]).mT, token_ids.flip(-1))
        gradients = torch.autograd.grad(loss, states)
    rms, token_variation = [], []
    for x in states:
        deviation = x - x.mean(dim=-2, keepdim=True)
        rms.append((x**2).mean().sqrt().item())
        token_variation.append((deviation.norm() / x.norm()).item())
    gradient_norms = [gradient.norm().item() for gradient in gradients]
    return SignalPropagation(rms, token_variation, gradient_norms)


def with_and_without(depth: int) -> dict[str, Any]:
    """Measure stacks with and without residual connections and norms.

    Returns what ``figures.curves_to_choose`` draws: depths, choices, curves and texts.
    """
    kinds = ("neither", "norm only", "residual only", "pre-norm")
    measured = [propagate(kind, depth) for kind in kinds]
    sizes = [each.rms for each in measured]
    shares = [each.token_variation for each in measured]
    ends = (
        "The numbers shrink, and after four layers all words are the same.",
        "The numbers keep their size, but after four layers all words are the same.",
        "Words stay apart at first, but the numbers explode.",
        "The numbers stay within bounds, and the words stay apart.",
    )
    return {
        "x": range(depth + 1),
        "choices": {
            "residual connections": ["without", "with"],
            "norms": ["without", "with"],
        },
        "curves": {
            "size of the numbers": torch.tensor(sizes).clamp(min=1e-12).numpy(),
            "share that differs": torch.tensor(shares).numpy(),
        },
        "logarithmic": ["size of the numbers"],
        "texts": [
            f"Each part is {KINDS[kind].replace('sublayer', 'f')}. {end}"
            for kind, end in zip(kinds, ends, strict=True)
        ],
        "xlabel": "layers",
    }
