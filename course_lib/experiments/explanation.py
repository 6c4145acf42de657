"""Do the weights explain the result? Weights against gradients (lesson 13).

For three sentences, MiniLM's result is one number: the cosine with another sentence.
How much each token matters for it is measured in two ways, and the weights that the
token gets are compared with them; then the weights are changed, and the number is
computed again. Jain and Wallace (2019) found weights and gradients to be hardly related
in recurrent models, and other weights with the same result; Wiegreffe and Pinter (2019)
object that weights which the model did not make say little about those that it made.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_lib.experiments.pruned_heads import rank_correlation
from course_lib.lessons.environment import one_thread
from course_lib.nn.pretrained import WORDS, SentenceEncoder, encode_with_heads, pool

N_PERMUTATIONS = 20
N_SPECIAL = 2  # [CLS] and [SEP]
SENTENCES = (
    (
        "The film was far too long, but the acting was wonderful.",
        "A movie with great performances.",
    ),
    (
        "The battery of the sensor in the kitchen is almost empty.",
        "The device needs a new battery soon.",
    ),
    (
        "The animal didn't cross the street because it was too tired.",
        "An exhausted animal stayed on its side of the road.",
    ),
)
ChangedWeights = Callable[[int, Tensor], Tensor]


def full(seed: int) -> dict[str, Any]:
    """Measure each token of the three sentences.

    Returns "sentences", for each of the three:

    - "sentence", "other", "tokens", and "cosine" of the two sentences;
    - for each token "weights" (the mean that it gets, over all queries, heads and
      layers), "last layer" (over those of the last layer), "gradients" (the norm of the
      cosine's gradient with respect to its embedding) and "left out" (how much the
      cosine changes, as an absolute value, if nothing attends to it and it is not
      pooled);
    - "weights of special tokens": the sum of what [CLS] and [SEP] get;
    - "rank correlations" over the other tokens, by two of those names;
    - "cosine with even weights": all 1/n; "cosines with permuted weights": of
      permutations of each row's weights, in all layers; "… in the last layer": both
      with the last layer's changed alone.
    """
    encoder = SentenceEncoder.load()
    generator = torch.Generator().manual_seed(seed)
    with one_thread():
        return {
            "sentences": [
                one_sentence(encoder, sentence, other, generator)
                for sentence, other in SENTENCES
            ]
        }


def one_sentence(
    encoder: SentenceEncoder, sentence: str, other: str, generator: torch.Generator
) -> dict[str, Any]:
    """Measure the tokens of one sentence, as in ``full``."""
    other_vector = encoder.sentence_vectors([other])[0]
    tokens = encoder.tokens(sentence)
    weights = encoder.weights(sentence)  # (n_layers, n_heads, n, n)
    measures = {
        "weights": weights.mean(dim=(0, 1, 2)),
        "last layer": weights[-1].mean(dim=(0, 1)),
        "gradients": gradients(encoder, sentence, other_vector),
        "left out": left_out(encoder, sentence, other_vector),
    }
    inner = {name: each[1:-1] for name, each in measures.items()}
    names = [*measures]
    last = encoder.n_layers - 1

    def cosine(change: ChangedWeights | None = None, last_only: bool = False) -> float:
        def changed(layer: int, rows: Tensor) -> Tensor:
            if change is None or (last_only and layer < last):
                return rows
            return change(layer, rows)

        ids, is_token = encoder.encode_texts([sentence])
        arguments = ids, encoder.parameters, encoder.n_heads
        with torch.no_grad():
            vectors, _ = encode_with_heads(*arguments, changed_weights=changed)
        return round((pool(vectors, is_token)[0] @ other_vector).item(), 4)

    def even(_: int, rows: Tensor) -> Tensor:
        return torch.full_like(rows, 1 / rows.shape[-1])

    def permuted(_: int, rows: Tensor) -> Tensor:
        order = torch.rand(rows.shape, generator=generator).argsort(dim=-1)
        return rows.gather(-1, order)

    return {
        "sentence": sentence,
        "other": other,
        "tokens": tokens,
        "cosine": cosine(),
        **{
            name: [round(value, 5) for value in each.tolist()]
            for name, each in measures.items()
        },
        "weights of special tokens": round(
            (measures["weights"][0] + measures["weights"][-1]).item(), 3
        ),
        "rank correlations": {
            f"{one}, {two}": rank_correlation(inner[one], inner[two])
            for i, one in enumerate(names)
            for two in names[i + 1 :]
        },
        "cosine with even weights": cosine(even),
        "cosine with even weights in the last layer": cosine(even, True),
        "cosines with permuted weights": [
            cosine(permuted) for _ in range(N_PERMUTATIONS)
        ],
        "cosines with permuted weights in the last layer": [
            cosine(permuted, True) for _ in range(N_PERMUTATIONS)
        ],
    }


def gradients(encoder: SentenceEncoder, sentence: str, other: Tensor) -> Tensor:
    """Compute the norm of the cosine's gradient for each token's embedding: (n)."""
    token_ids, is_token = encoder.encode_texts([sentence])
    # A table of its own for this sentence: equal words have gradients of their own.
    rows = encoder.parameters[WORDS][token_ids[0]].clone().requires_grad_()
    own_ids = torch.arange(len(rows)).unsqueeze(0)
    parameters = encoder.parameters | {WORDS: rows}
    vectors, _ = encode_with_heads(own_ids, parameters, encoder.n_heads)
    cosine = pool(vectors, is_token)[0] @ other
    return torch.autograd.grad(cosine, rows)[0].norm(dim=-1)


def left_out(encoder: SentenceEncoder, sentence: str, other: Tensor) -> Tensor:
    """Compute how much the cosine changes without each token: (n)."""
    token_ids, is_token = encoder.encode_texts([sentence])
    n = token_ids.shape[-1]
    without = torch.cat([is_token, ~torch.eye(n, dtype=torch.bool)])  # (1 + n, n)
    with torch.no_grad():
        vectors, _ = encode_with_heads(
            token_ids.expand(n + 1, n),
            *(encoder.parameters, encoder.n_heads),
            may_attend=without.unsqueeze(-2),
        )
    cosines = pool(vectors, without) @ other
    return (cosines[1:] - cosines[0]).abs()
