"""Deep stacks of layers, with and without sums and norms: what comes through them.

A layer is that of ``course_lib.nn.functional.encoder_layer`` with one head, in six kinds.
What such stacks learn is in ``course_lib.experiments.norms``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from course_lib.lessons.tiny_decoder import quietly

VOCAB_SIZE, LENGTH, D_MODEL = 8, 8, 32
# The last one is an error that is printed in earnest.
KINDS = {
    "neither": "part(x)",
    "norm alone": "norm(part(x))",
    "sum alone": "x + part(x)",
    "post-norm": "norm(x + part(x))",
    "pre-norm": "x + part(norm(x))",
    "both mixed": "norm(x + part(norm(x)))",
}


class Layer(nn.Module):
    """Attention with one head, then feed-forward; how they are joined is the kind.

    kind : one of ``KINDS``
    dropout : of what each part gives, while training
    """

    def __init__(self, kind: str, dropout: float) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.kind = kind
        self.qkv = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.join = nn.Linear(D_MODEL, D_MODEL, bias=False)
        self.wide = nn.Linear(D_MODEL, 4 * D_MODEL)
        self.narrow = nn.Linear(4 * D_MODEL, D_MODEL)
        self.norms = nn.ModuleList(nn.LayerNorm(D_MODEL) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def look(self, x: Tensor) -> Tensor:
        """Let all tokens of x (..., n, d_model) look at each other."""
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.mT / D_MODEL**0.5  # (..., n, n)
        return self.join(scores.softmax(dim=-1) @ v)

    def think(self, x: Tensor) -> Tensor:
        """Send each token of x (..., n, d_model) through two layers."""
        return self.narrow(self.wide(x).relu())

    def forward(self, x: Tensor) -> Tensor:
        """Send x (..., n, d_model) through both parts."""
        return self._joined(self._joined(x, self.look, 0), self.think, 1)

    def _joined(
        self, x: Tensor, part: Callable[[Tensor], Tensor], number: int
    ) -> Tensor:
        norm = self.norms[number]
        before = norm(x) if self.kind in ("pre-norm", "both mixed") else x
        after = self.dropout(part(before))
        if self.kind not in ("neither", "norm alone"):
            after = x + after
        last = self.kind in ("norm alone", "post-norm", "both mixed")
        return norm(after) if last else after


class Stack(nn.Module):
    """Tokens in, scores of tokens out, between them layers of one kind.

    kind : one of ``KINDS``
    depth : number of layers
    dropout : of what each part gives, while training
    """

    def __init__(self, kind: str, depth: int, dropout: float = 0.0) -> None:
        """Make the parameters, drawn from PyTorch's generator.

        Raises ``ValueError`` for a kind that there is not.
        """
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} is none of {', '.join(KINDS)}")
        self.tokens = nn.Embedding(VOCAB_SIZE, D_MODEL)
        self.places = nn.Parameter(torch.empty(LENGTH, D_MODEL))
        self.layers = nn.ModuleList(Layer(kind, dropout) for _ in range(depth))
        # Pre-norm leaves its last sum without a norm: here it gets one.
        last = kind == "pre-norm"
        self.norm: nn.Module = nn.LayerNorm(D_MODEL) if last else nn.Identity()
        self.output = nn.Linear(D_MODEL, VOCAB_SIZE)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def passed(self, tokens: Tensor) -> list[Tensor]:
        """Give what goes into the first layer, and what comes out of each."""
        vectors = [(self.tokens(tokens) + self.places) * D_MODEL**0.5]
        for layer in self.layers:
            vectors.append(layer(vectors[-1]))
        return vectors

    def scores(self, x: Tensor) -> Tensor:
        """Turn what the last layer gives into scores (..., VOCAB_SIZE)."""
        return self.output(self.norm(x))

    def forward(self, tokens: Tensor) -> Tensor:
        """Turn tokens (batch, LENGTH) into scores (batch, LENGTH, VOCAB_SIZE)."""
        return self.scores(self.passed(tokens)[-1])


@dataclass(frozen=True)
class Through:
    """What came through an untrained stack; entry l is what layer l gave, 0 the input.

    sizes : length of a token's vector, as the root of the mean of its squares
    different : share of the vectors that differs between the tokens of a sequence: 0
        if all tokens of a sequence have become alike
    gradients : length of the loss's gradient by these vectors
    """

    sizes: list[float]
    different: list[float]
    gradients: list[float]


def send_through(kind: str, depth: int, seed: int = 0) -> Through:
    """Send 32 drawn sequences through an untrained stack, and the gradient back.

    The loss is that of saying the sequences backwards.
    """
    with quietly(seed):
        stack = Stack(kind, depth)
        tokens = torch.randint(VOCAB_SIZE, (32, LENGTH))
        vectors = stack.passed(tokens)
        loss = cross_entropy(stack.scores(vectors[-1]).mT, tokens.flip(-1))
        gradients = torch.autograd.grad(loss, vectors)
    sizes, different = [], []
    for x in vectors:
        apart = x - x.mean(dim=-2, keepdim=True)
        sizes.append((x**2).mean().sqrt().item())
        different.append((apart.norm() / x.norm()).item())
    return Through(sizes, different, [part.norm().item() for part in gradients])
