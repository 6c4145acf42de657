"""Decoding: choosing the tokens of a sequence one after another.

First the functions of lesson 11, for one sequence and any function that scores what may
come next; last, ``translate``, for a model and batches of sentences. Beam search stands
here twice: as the solution of an exercise, which must do without helpers, and in
``BeamHypotheses``, whose model is asked once a step for all sentences of a batch. A
test holds the two equal.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.nn import arguments
from course_lib.nn.attention import attention
from course_lib.nn.translator import Translator, evaluating


def greedy_decode(
    next_logits: Callable[[list[int]], np.ndarray],
    start_id: int,
    end_id: int,
    max_length: int,
) -> list[int]:
    """Decode a sequence by choosing, again and again, the token with the highest logit.

    next_logits : takes the token ids so far, start_id first, and returns the logits
        (vocab_size,) of what may come next
    start_id : the token id with which every sequence begins
    end_id : the token id that ends it; it may be start_id
    max_length : how many tokens are chosen at most, end included, start excluded

    Returns the token ids without the first start_id and without end_id:
    - start_id may come again, as a token of the sequence.
    - Of several tokens with the highest logit, the smallest token id is chosen.
    - A sequence that is max_length long ends there, and next_logits is not called
      again.

    Source: Sutskever et al. (2014), Sequence to Sequence Learning with Neural Networks,
    section 3.2, with a beam of one.

    >>> greedy_decode(lambda token_ids: np.eye(4)[len(token_ids) + 1], 0, 3, 9)
    [2]
    """
    arguments.whole(0, max_length=max_length)
    token_ids = [start_id]
    while len(token_ids) <= max_length:
        logits = next_logits(list(token_ids))
        arguments.scores("next_logits", logits)
        best = int(np.argmax(logits))
        if best == end_id:
            break
        token_ids.append(best)
    return token_ids[1:]


def beam_search(
    next_log_probabilities: Callable[[list[int]], np.ndarray],
    start_id: int,
    end_id: int,
    beam_size: int,
    max_length: int,
    alpha: float = 0.6,
) -> list[int]:
    """Decode a sequence while keeping several hypotheses, and choose the best one.

    next_log_probabilities : takes the token ids so far, start_id first, and returns the
        logarithms (vocab_size,) of the probabilities of what may come next
    start_id : the token id with which every hypothesis begins
    end_id : the token id that ends it; it may be start_id
    beam_size : how many hypotheses are kept at most
    max_length : how many tokens are chosen at most, end included, start excluded
    alpha : exponent of the length penalty, usually 0 … 1: the larger it is, the more it
        favours longer hypotheses; 0 for not at all

    Returns the token ids of the best hypothesis, by these rules:
    - In each step every unfinished hypothesis is continued by every token, and the
      continuations with the greatest sums of log-probabilities are kept.
    - A hypothesis that ends is finished. It leaves the beam, and nothing pushes it out
      again.
    - Each finished hypothesis makes the beam smaller by one: a step keeps
      beam_size minus the number finished in earlier steps.
    - The search stops when the beam is empty or max_length is reached. What is then
      unfinished competes as it is.
    - The best hypothesis has the greatest sum divided by its length penalty,
      ((5 + length) / 6) ** alpha, where length counts end and not start.
    - The first start_id and the final end_id are removed; start_id may come again in
      between.

    In the graded cases no two sums are equal.
    Source: Sutskever et al. (2014), Sequence to Sequence Learning with Neural Networks,
    section 3.2; the length penalty is that of Wu et al. (2016), Google's Neural Machine
    Translation System, section 7, equation 14.

    >>> first, after_1 = [0.05, 0.5, 0.4, 0.05], [0.2, 0.25, 0.3, 0.25]
    >>> log_p = np.log([first, after_1, [0.03, 0.03, 0.04, 0.9]])
    >>> greedy_decode(lambda ids: log_p[ids[-1]], start_id=0, end_id=3, max_length=9)
    [1, 2]
    >>> beam_search(lambda ids: log_p[ids[-1]], 0, 3, beam_size=2, max_length=9)
    [2]
    """
    arguments.whole(1, beam_size=beam_size)
    arguments.whole(0, max_length=max_length)
    arguments.real(-math.inf, math.inf, alpha=alpha)
    hypotheses = [([start_id], 0.0)]  # unfinished, each with its sum
    finished: list[tuple[list[int], float]] = []
    for _ in range(max_length):
        longer = []
        for token_ids, total in hypotheses:
            log_probabilities = next_log_probabilities(list(token_ids))
            arguments.scores("next_log_probabilities", log_probabilities)
            for token_id, log_p in enumerate(log_probabilities):
                longer.append(([*token_ids, token_id], total + float(log_p)))
        longer.sort(key=lambda hypothesis: -hypothesis[1])
        best = longer[: beam_size - len(finished)]
        finished += [each for each in best if each[0][-1] == end_id]
        hypotheses = [each for each in best if each[0][-1] != end_id]
        if not hypotheses:
            break

    def penalised(hypothesis: tuple[list[int], float]) -> float:
        token_ids, total = hypothesis
        return total / ((5 + len(token_ids) - 1) / 6) ** alpha

    token_ids, _ = max(finished + hypotheses, key=penalised)
    return [token_id for token_id in token_ids[1:] if token_id != end_id]


def cached_step(
    token_id: int,
    keys: Tensor,
    values: Tensor,
    embedding: Tensor,
    encoding: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Let the newest token attend to all tokens so far, itself included.

    token_id : the newest token
    keys : (t, d_k), the keys of the t tokens before it; t may be 0
    values : (t, d_v), their values
    embedding : (vocab_size, d_model), one learned vector per token
    encoding : (n_positions, d_model), one row per position; the newest token is at t
    w_q : (d_model, d_k)
    w_k : (d_model, d_k)
    w_v : (d_model, d_v)

    Returns three tensors: the output (d_v) of the newest token, the keys (t + 1, d_k)
    and the values (t + 1, d_v) for the next step, the newest token's row last. The
    output is the last row of causal self-attention over all t + 1 tokens, each embedded
    as ``embed`` does: its row of the embedding times √d_model, plus the encoding of its
    position. The arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3; Shazeer
    (2019), Fast Transformer Decoding, section 2.4.

    >>> one, none = torch.ones(1, 1), torch.empty(0, 1)
    >>> embedding, encoding = torch.tensor([[2.0]]), torch.tensor([[10.0], [20.0]])
    >>> cached_step(0, none, none, embedding, encoding, one, one, one)
    (tensor([12.]), tensor([[12.]]), tensor([[12.]]))
    """
    arguments.tensors(cached_step, keys, values, embedding, encoding, w_q, w_k, w_v)
    arguments.token_id("token_id", token_id, len(embedding))
    arguments.rows("encoding", encoding, len(keys) + 1)
    position = keys.shape[0]
    x = embedding[token_id] * embedding.shape[-1] ** 0.5 + encoding[position]
    keys = torch.cat([keys, (x @ w_k).unsqueeze(0)])  # (t + 1, d_k)
    values = torch.cat([values, (x @ w_v).unsqueeze(0)])  # (t + 1, d_v)
    output, _ = attention((x @ w_q).unsqueeze(0), keys, values)
    return output.squeeze(0), keys, values


def translate(
    model: Translator[Any, Any],
    source_ids: Sequence[Sequence[int]],
    start_id: int,
    end_id: int,
    *,
    beam_size: int = 1,
    alpha: float = 0.6,
    max_length: int = 100,
    batch_size: int = 64,
) -> list[list[int]]:
    """Translate sentences, each as if it were alone.

    model : any translator; its mode and parameters are not modified
    source_ids : for each sentence its token ids, as the model reads them in training
    start_id : the token id with which every target begins
    end_id : the token id that ends it
    beam_size : how many hypotheses are kept at most; 1 for greedy decoding
    alpha : of the length penalty in beam search
    max_length : how many tokens a target may have at most, without start and end; it is
        shorter if the model takes no more
    batch_size : how many sentences are translated at a time

    Returns for each sentence its translation's token ids without start and end, in the
    order of the sources. A sentence without tokens has a translation without tokens.
    Raises ``ValueError`` for a token that the model does not have, and for a sentence
    that is longer than it takes.
    """
    arguments.whole(1, beam_size=beam_size, batch_size=batch_size)
    _check_search(model, start_id, max_length, alpha)
    order = [i for i, sentence in enumerate(source_ids) if sentence]
    order.sort(key=lambda i: len(source_ids[i]))  # so that there is little padding
    translations: list[list[int]] = [[] for _ in source_ids]
    for first in range(0, len(order), batch_size):
        batch = order[first : first + batch_size]
        source = padded_sources(model, [source_ids[i] for i in batch])
        if beam_size == 1:
            targets = batch_greedy_decode(model, source, start_id, end_id, max_length)
        else:
            targets = batch_beam_search(
                model, source, start_id, end_id, beam_size, max_length, alpha
            )
        for i, target in zip(batch, targets, strict=True):
            translations[i] = target
    return translations


def padded_sources(
    model: Translator[Any, Any], sequences: Sequence[Sequence[int]]
) -> Tensor:
    """Make a batch (batch, m) for the model from sequences of at least one token.

    Raises ``ValueError`` for tokens that the model does not have, and for padding.
    """
    padding_id, vocab_size = model.padding_id, model.config.vocab_size
    for sequence in sequences:
        for token_id in sequence:
            if not 0 <= token_id < vocab_size or token_id == padding_id:
                raise ValueError(
                    f"token id {token_id} is not one of this model's: they are 0 to "
                    f"{vocab_size - 1}, without {padding_id}, which is padding"
                )
    longest = max(len(sequence) for sequence in sequences)
    rows = [[*each, *[padding_id] * (longest - len(each))] for each in sequences]
    device = next(model.parameters()).device
    return torch.tensor(rows, device=device)


def batch_greedy_decode(
    model: Translator[Any, Any],
    source: Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
) -> list[list[int]]:
    """Decode a whole batch greedily.

    source : (batch, m), padded token ids; what follows: as in ``greedy_decode``

    Returns for each row what ``greedy_decode`` returns for it alone.
    """
    _check_search(model, start_id, max_length)
    arguments.token_ids("source", source, 2)
    targets: list[list[int]] = [[] for _ in source]
    with evaluating(model):
        state = model.initial_state(model.encode(source))
        token_ids = torch.full_like(source[:, 0], start_id)  # (batch)
        unfinished = list(range(len(targets)))
        for _ in range(_n_steps(model, max_length)):
            logits, state = model.step(token_ids, state)
            best = logits.max(dim=-1)
            _refuse_nan(best.values.tolist())
            token_ids = best.indices
            rows = []
            for row, token_id in enumerate(token_ids.tolist()):
                if token_id != end_id:
                    targets[unfinished[row]].append(token_id)
                    rows.append(row)
            if not rows:
                break
            if len(rows) < len(unfinished):
                unfinished = [unfinished[row] for row in rows]
                chosen = torch.tensor(rows, device=token_ids.device)
                token_ids, state = token_ids[chosen], state.select(chosen)
    return targets


def batch_beam_search(
    model: Translator[Any, Any],
    source: Tensor,
    start_id: int,
    end_id: int,
    beam_size: int,
    max_length: int,
    alpha: float = 0.6,
) -> list[list[int]]:
    """Decode a whole batch by beam search.

    source : (batch, m), padded token ids; what follows: as in ``beam_search``, but the
        log-probabilities come from the model in its dtype

    Returns for each row what ``beam_search`` returns for it alone.
    """
    _check_search(model, start_id, max_length, alpha)
    arguments.token_ids("source", source, 2)
    beams = [BeamHypotheses(beam_size, end_id) for _ in source]
    with evaluating(model):
        state = model.initial_state(model.encode(source))
        token_ids = torch.full_like(source[:, 0], start_id)  # (hypotheses of all rows)
        for _ in range(_n_steps(model, max_length)):
            logits, state = model.step(token_ids, state)
            log_p = logits.log_softmax(dim=-1)
            best = log_p.topk(min(beam_size, log_p.shape[-1]))  # (…, beam_size)
            _refuse_nan(best.values[:, 0].tolist())
            choices = list(
                zip(best.values.tolist(), best.indices.tolist(), strict=True)
            )
            rows, first = [], 0
            for beam in beams:
                end = first + len(beam.unfinished)
                rows += [first + each for each in beam.advance(choices[first:end])]
                first = end
            if not rows:
                break
            newest = [tokens[-1] for beam in beams for tokens, _ in beam.unfinished]
            token_ids = torch.tensor(newest, device=token_ids.device)
            state = state.select(torch.tensor(rows, device=token_ids.device))
    return [beam.best(alpha) for beam in beams]


class BeamHypotheses:
    """The hypotheses of one sentence in beam search; the rules of ``beam_search``.

    unfinished, finished : hypotheses without start, each with the sum of its
        log-probabilities
    """

    def __init__(self, beam_size: int, end_id: int) -> None:
        """Begin with one hypothesis without tokens.

        beam_size : how many hypotheses, unfinished or finished, are kept at most
        end_id : the token id that ends a hypothesis
        """
        arguments.whole(1, beam_size=beam_size)
        self.beam_size = beam_size
        self.end_id = end_id
        self.unfinished: list[tuple[list[int], float]] = [([], 0.0)]
        self.finished: list[tuple[list[int], float]] = []

    def advance(
        self, choices: Sequence[tuple[Sequence[float], Sequence[int]]]
    ) -> list[int]:
        """Continue each unfinished hypothesis by its best tokens; keep the best of all.

        choices : for each unfinished hypothesis log-probabilities, and their token ids

        Returns for each hypothesis that is unfinished now the index of its parent.
        """
        longer = [
            (total + log_p, parent, token_id)
            for parent, ((_, total), (log_ps, token_ids)) in enumerate(
                zip(self.unfinished, choices, strict=True)
            )
            for log_p, token_id in zip(log_ps, token_ids, strict=True)
        ]
        longer.sort(key=lambda choice: -choice[0])
        before, self.unfinished, parents = self.unfinished, [], []
        for total, parent, token_id in longer[: self.beam_size - len(self.finished)]:
            hypothesis = [*before[parent][0], token_id], total
            if token_id == self.end_id:
                self.finished.append(hypothesis)
            else:
                self.unfinished.append(hypothesis)
                parents.append(parent)
        return parents

    def best(self, alpha: float) -> list[int]:
        """Return the best hypothesis, divided by its length penalty, without end."""

        def penalised(hypothesis: tuple[list[int], float]) -> float:
            tokens, total = hypothesis
            return total / ((5 + len(tokens)) / 6) ** alpha

        tokens, _ = max(self.finished + self.unfinished, key=penalised)
        return [token for token in tokens if token != self.end_id]


def _n_steps(model: Translator[Any, Any], max_length: int) -> int:
    return max_length if model.max_length is None else min(max_length, model.max_length)


def _check_search(
    model: Translator[Any, Any], start_id: int, max_length: int, alpha: float = 0.0
) -> None:
    arguments.token_id("start_id", start_id, model.config.vocab_size)
    arguments.whole(0, max_length=max_length)
    arguments.real(-math.inf, math.inf, alpha=alpha)


def _refuse_nan(best: list[float]) -> None:
    """Raise ``ValueError`` if the model gives NaN, which counts as the greatest."""
    if any(math.isnan(each) for each in best):
        raise ValueError(
            "the model's logits are NaN: nothing can be chosen; check its parameters"
        )
