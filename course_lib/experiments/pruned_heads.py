"""Which heads the translator needs, and how BLEU falls without them (lesson 13).

The Transformer of lesson 11 is trained, or its checkpoint taken if there is one, and
nothing is trained after that. The importance of its 24 heads is measured on validation
pairs, by gradient and by ablation. Then heads are pruned one after another, and test
pairs are translated greedily each time. The record's checkpoints were trained by
lesson 11's command on two threads; on one, rounding makes another model of the same
seed, with a BLEU that differs by less than one.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from course_lib.corpora.pairs import Pair
from course_lib.experiments.translation import (
    FOLDER,
    STEPS,
    train_system,
    trained_model,
)
from course_lib.lessons.environment import one_thread
from course_lib.nn.pruning import KINDS, gated_heads, head_importance, open_gates
from course_lib.nn.training.batches import Example, collate, encode_pairs
from course_lib.nn.training.checkpoints import load
from course_lib.nn.training.loop import total_loss
from course_lib.nn.training.scoring import bleu, chrf, sample_pairs, translate_texts
from course_lib.nn.training.subwords import SubwordTokenizer
from course_lib.nn.training.tasks import TASKS, Recipe
from course_lib.nn.transformer import Transformer

SEEDS = (0, 1, 2)  # of the trainings
N_IMPORTANCE, N_TEST = 200, 500  # pairs
MEASURES = ("gradient", "ablation")
ORDERS = ("least", "most")  # important first
# Voita et al. (2019), abstract: English to Russian, WMT; fine-tuned while pruning.
VOITA = {"heads": 48, "pruned": 38, "bleu lost": 0.15}


def full(seed: int, folder: Path = FOLDER) -> dict[str, Any]:
    """Measure the importance of all heads, then prune them.

    Returns

    - "importance by gradient", "importance by ablation": for each kind of attention,
      "encoder", "decoder" and "cross", rows (n_layers, n_heads); of the loss in nats
      per target token;
    - "rank correlation" of the two over all heads, and for each kind;
    - "bleu", "chrf" with all heads, "bleu without one": BLEU without each head, as rows
      by kind;
    - "curves": a list of "kind" (or "all"), "measure", "first" (least or most
      important), "heads" pruned in this order as [kind, layer, head], and "bleu" and
      "chrf" for 0, 1, 2, … of them.
    """
    path = train_system("transformer", seed, STEPS["transformer"], folder)
    checkpoint = load(path)
    model, tokenizer = trained_model(checkpoint), checkpoint["tokenizer"]
    texts = TASKS["translation"].load_split(Recipe(**checkpoint["recipe"]))
    with one_thread():
        examples = encode_pairs(
            sample_pairs(texts.validation)[:N_IMPORTANCE], tokenizer
        )
        importance = translator_importance(model, examples)
        pairs = sample_pairs(texts.test)[:N_TEST]
        return pruned(model, tokenizer, pairs, importance)


def translator_importance(
    model: Transformer, examples: Sequence[Example]
) -> dict[str, dict[str, Tensor]]:
    """Measure the importance of a translator's heads with ``head_importance``.

    Returns for "gradient" and "ablation", by kind, tensors (n_layers, n_heads).
    """
    model.eval()
    kinds = open_gates(model)

    def loss(gates: Tensor, example: Example) -> Tensor:
        batch = collate([example])
        with gated_heads(model, dict(zip(kinds, gates, strict=True))):
            logits = model(batch.source, batch.decoder_input)
        return total_loss(logits, batch.target, 0.0) / len(example.target)

    def loss_of(gates: Tensor, example: Example) -> float:
        with torch.no_grad():
            return loss(gates, example).item()

    def gradient_of(gates: Tensor, example: Example) -> Tensor:
        gates = gates.clone().requires_grad_()
        return torch.autograd.grad(loss(gates, example), gates)[0]

    gates = torch.stack([*kinds.values()])  # (3, n_layers, n_heads)
    by_measure = head_importance(loss_of, gradient_of, gates, examples)
    return {
        measure: dict(zip(kinds, values, strict=True))
        for measure, values in zip(MEASURES, by_measure, strict=True)
    }


def pruned(
    model: Transformer,
    tokenizer: SubwordTokenizer,
    pairs: Sequence[Pair],
    importance: Mapping[str, Mapping[str, Tensor]],
) -> dict[str, Any]:
    """Prune the heads one by one and in order, and measure the translations."""
    score = scorer(model, tokenizer, pairs)
    results: dict[str, Any] = {}
    for measure in MEASURES:
        results[f"importance by {measure}"] = {
            kind: rounded(rows) for kind, rows in importance[measure].items()
        }
    groups = {"all": KINDS} | {kind: (kind,) for kind in KINDS}
    results["rank correlation"] = {
        name: rank_correlation(
            *(
                torch.cat([importance[measure][kind].flatten() for kind in group])
                for measure in MEASURES
            )
        )
        for name, group in groups.items()
    }
    results["bleu"], results["chrf"] = score([])
    results["bleu without one"] = {
        kind: [
            [score([(kind, layer, head)])[0] for head in range(len(row))]
            for layer, row in enumerate(rows)
        ]
        for kind, rows in importance["gradient"].items()
    }
    results["curves"] = [
        curve(score, name, group, measure, importance[measure], first)
        for name, group in groups.items()
        for measure in MEASURES
        for first in ORDERS
    ]
    return results


Head = tuple[str, int, int]  # kind, layer, number
Scorer = Callable[[Sequence[Head]], tuple[float, float]]


def scorer(
    model: Transformer, tokenizer: SubwordTokenizer, pairs: Sequence[Pair]
) -> Scorer:
    """Return the function that translates greedily without some heads: BLEU, chrF."""
    sources = [pair.source for pair in pairs]
    references = [pair.target for pair in pairs]
    known: dict[frozenset[Head], tuple[float, float]] = {}

    def score(heads: Sequence[Head]) -> tuple[float, float]:
        if frozenset(heads) not in known:
            gates = open_gates(model)
            for kind, layer, head in heads:
                gates[kind][layer, head] = 0.0
            with gated_heads(model, gates):
                hypotheses = translate_texts(model, tokenizer, sources)
            scores = bleu(hypotheses, references), chrf(hypotheses, references)
            known[frozenset(heads)] = scores
        return known[frozenset(heads)]

    return score


def curve(
    score: Scorer,
    name: str,
    group: Sequence[str],
    measure: str,
    importance: Mapping[str, Tensor],
    first: str,
) -> dict[str, Any]:
    """Prune the heads of some kinds in the order of their importance."""
    heads = [
        (value, (kind, layer, head))
        for kind in group
        for layer, row in enumerate(importance[kind].tolist())
        for head, value in enumerate(row)
    ]
    order = [head for _, head in sorted(heads, reverse=first == "most")]
    scores = [score(order[:count]) for count in range(len(order) + 1)]
    return {
        "kind": name,
        "measure": measure,
        "first": first,
        "heads": [list(head) for head in order],
        "bleu": [each for each, _ in scores],
        "chrf": [each for _, each in scores],
    }


def rank_correlation(one: Tensor, other: Tensor) -> float:
    """Compute Spearman's rank correlation of two vectors without ties, −1 to 1.

    >>> rank_correlation(torch.tensor([1.0, 2.0, 9.0]), torch.tensor([5.0, 7.0, 6.0]))
    0.5
    """
    ranks = torch.stack([each.argsort().argsort().double() for each in (one, other)])
    return round(torch.corrcoef(ranks)[0, 1].item(), 3)


def rounded(rows: Tensor) -> list[list[float]]:
    """Return rows of numbers with four decimals."""
    return [[round(value, 4) for value in row] for row in rows.tolist()]
