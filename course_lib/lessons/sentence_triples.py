"""Eight sentences with a similar one and a misleading one: what heads are for (13).

The similar sentence shares hardly a word with the first, the misleading one shares some
of its words and not its meaning. Whoever compares words alone is misled.
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from course_lib.nn.pretrained import SentenceEncoder

SHARPNESS = 20  # cosines are multiplied by it, as in sentence-transformers' own loss


class Triple(NamedTuple):
    """A sentence, one that means nearly the same, and one with some of its words."""

    sentence: str
    similar: str
    misleading: str


TRIPLES = (
    Triple(
        "The bank asks for more interest.",
        "Borrowing money has become expensive.",
        "They sat on the bank of the river.",
    ),
    Triple(
        "She plays the violin in an orchestra.",
        "He earns his living with classical music.",
        "The children play in the garden.",
    ),
    Triple(
        "The train was late again.",
        "We waited for an hour at the station.",
        "He trains again every night.",
    ),
    Triple(
        "How do I reset my password?",
        "I can't remember my login.",
        "How do I set my alarm clock?",
    ),
    Triple(
        "Her flight was cancelled.",
        "The plane never left the airport.",
        "Her subscription was cancelled.",
    ),
    Triple(
        "The cat sleeps on the sofa.",
        "A pet is resting on the couch.",
        "The cat ran down the street.",
    ),
    Triple(
        "It is raining heavily.",
        "Take an umbrella when you go out.",
        "He is breathing heavily.",
    ),
    Triple(
        "The doctor prescribed some pills.",
        "A physician gave her medicine.",
        "The doctor bought a new car.",
    ),
)


def cosines(gates: Tensor, triple: Triple) -> Tensor:
    """Compute the cosines (2) of a sentence with the similar and the misleading one.

    gates : (6, 12), of MiniLM's heads; gradients flow to them
    """
    vectors = SentenceEncoder.load().gated_vectors(triple, gates)
    return vectors[1:] @ vectors[0]


def triple_loss(gates: Tensor, triple: Triple) -> Tensor:
    """Compute −ln p of the similar sentence: p is a softmax over 20 times the cosines.

    gates : as for ``cosines``

    Returns a tensor without axes; ln 2 = 0.69 if both cosines are equal.
    """
    return -functional.log_softmax(SHARPNESS * cosines(gates, triple), dim=0)[0]


def loss_of(gates: Tensor, triple: Triple) -> float:
    """Compute ``triple_loss`` without gradients, as ``head_importance`` takes it."""
    with torch.no_grad():
        return triple_loss(gates, triple).item()


def gradient_of(gates: Tensor, triple: Triple) -> Tensor:
    """Compute the gradient of ``triple_loss`` with respect to the gates (6, 12)."""
    gates = gates.detach().clone().requires_grad_()
    return torch.autograd.grad(triple_loss(gates, triple), gates)[0]


def mean_loss(gates: Tensor, triples: Iterable[Triple] = TRIPLES) -> float:
    """Average ``triple_loss`` over triples."""
    losses = [loss_of(gates, triple) for triple in triples]
    return sum(losses) / len(losses)


def count_right(gates: Tensor, triples: Iterable[Triple] = TRIPLES) -> int:
    """Count the triples whose similar sentence has the larger cosine."""
    with torch.no_grad():
        both = torch.stack([cosines(gates, triple) for triple in triples])
    return int((both[:, 0] > both[:, 1]).sum())
