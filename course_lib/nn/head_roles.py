"""What heads attend to: the previous token, the next one, separators, rare tokens.

``head_role_scores`` and ``induction_score`` are exercises of lesson 13. Both take the
weights of any number of heads at once, and average over queries.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.nn import arguments

ROLES = ("previous", "next", "same", "separator", "rarest")


def head_role_scores(
    weights: Tensor, is_separator: Tensor, frequencies: Tensor
) -> dict[str, Tensor]:
    """Measure how much each head attends to five kinds of tokens, over one sentence.

    weights : (..., n, n), of any number of heads; row i is query i
    is_separator : (n), booleans, True at tokens such as [CLS] and [SEP]; False at two
        tokens or more
    frequencies : (n), floats: how often a corpus has the token at this position

    Returns a dictionary of five tensors (...), one number from 0 to 1 for each head.
    Each is a mean over the queries (rows) that are not separators, of the weight on

    - "previous": the token before the query's; a query without one is not in the mean
    - "next": the token after the query's; a query without one is not in the mean
    - "same": the query's own token
    - "separator": all separators together; 0 if there are none
    - "rarest": of the tokens that are not separators, the least frequent in the corpus;
      of several equally rare ones the first

    As a key (a column), a neighbour may be a separator. The arguments are not modified.
    Source: the roles are those of Voita et al. (2019), Analyzing Multi-Head
    Self-Attention, section 5, and Clark et al. (2019), What Does BERT Look At?, section
    3. They count largest weights or average over many sentences.

    >>> weights = torch.tensor([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])
    >>> is_separator = torch.tensor([False, False, True])
    >>> scores = head_role_scores(weights, is_separator, torch.tensor([9.0, 2.0, 7.0]))
    >>> {role: score.item() for role, score in scores.items()}
    {'previous': 0.25, 'next': 0.375, 'same': 0.5, 'separator': 0.125, 'rarest': 0.5}
    """
    arguments.tensors(head_role_scores, weights, frequencies)
    arguments.mask("is_separator", is_separator, frequencies.shape)
    n = weights.shape[-1]
    queries = torch.arange(n, device=weights.device)[~is_separator]
    with_previous, with_next = queries[queries > 0], queries[queries < n - 1]
    rarest = torch.where(is_separator, torch.inf, frequencies).argmin()
    weight = {
        "previous": weights[..., with_previous, with_previous - 1],
        "next": weights[..., with_next, with_next + 1],
        "same": weights[..., queries, queries],
        "separator": weights[..., queries, :][..., is_separator].sum(dim=-1),
        "rarest": weights[..., queries, rarest],
    }
    return {role: of_queries.mean(dim=-1) for role, of_queries in weight.items()}


def induction_score(weights: Tensor, period: int) -> Tensor:
    """Measure how much each head attends to what followed its token's last occurrence.

    weights : (..., n, n), of any number of heads; row i is query i. The n = 2 · period
        tokens are a random sequence, twice
    period : length of that sequence, 1 or more

    Returns a tensor (...), one number from 0 to 1 for each head: the mean over the
    queries of the second half of the weight on one key each: the position after the
    query's token in the first half, which is 1 for the first of these queries. The
    weights are not modified.
    Source: Olsson et al. (2022), In-context Learning and Induction Heads, section
    "Argument 4" and its appendix: prefix matching on a repeated random sequence.

    >>> weights = torch.tensor([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.75, 0.25, 0],
    ...                         [0.5, 0.0, 0.25, 0.25]])
    >>> induction_score(weights, period=2)
    tensor(0.5000)
    """
    arguments.whole(1, period=period)
    arguments.tensors(induction_score, weights, n=2 * period)
    queries = torch.arange(period, 2 * period, device=weights.device)
    return weights[..., queries, queries - period + 1].mean(dim=-1)


class ScoredHead(NamedTuple):
    """A head and its score in some role, from 0 to 1."""

    layer: int
    head: int
    score: float


def best_heads(scores: Tensor, n_best: int = 1) -> list[ScoredHead]:
    """Return the heads with the highest scores, the highest first.

    scores : (n_layers, n_heads)

    >>> best_heads(torch.tensor([[0.25, 0.5], [0.75, 0.0]]), n_best=2)
    [ScoredHead(layer=1, head=0, score=0.75), ScoredHead(layer=0, head=1, score=0.5)]
    """
    arguments.tensors(best_heads, scores)
    values, indices = scores.flatten().topk(n_best)
    n_heads = scores.shape[-1]
    return [
        ScoredHead(index // n_heads, index % n_heads, value)
        for index, value in zip(indices.tolist(), values.tolist(), strict=True)
    ]


Sentence = tuple[Tensor, Tensor, Tensor]  # the arguments of head_role_scores
RoleScores = Callable[[Tensor, Tensor, Tensor], Mapping[str, Tensor]]


def mean_role_scores(
    sentences: Iterable[Sentence], role_scores: RoleScores = head_role_scores
) -> dict[str, Tensor]:
    """Average the scores of heads over sentences, each of which counts the same.

    sentences : the arguments of ``head_role_scores`` for one sentence each; at least
        one
    role_scores : computes the same as ``head_role_scores``, such as a learner's own
    """
    each = [role_scores(*sentence) for sentence in sentences]
    return {role: torch.stack([one[role] for one in each]).mean(0) for role in each[0]}
