"""Translating with a given model: greedily, or with several beams, in batches.

The same for one text and any function that scores is in ``course_lib.nn.searching``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from course_lib.nn.beams import Search
from course_lib.nn.translator import Translator


def translate(
    model: Translator[Any, Any],
    sources: Sequence[Sequence[int]],
    start: int,
    end: int,
    *,
    beam_size: int = 1,
    alpha: float = 0.6,
    max_length: int = 100,
    batch_size: int = 64,
) -> list[list[int]]:
    """Translate texts, each as if it were alone.

    model : any translator; its mode and parameters stay as they are
    sources : for each text its tokens, as the model reads them in training
    start : the token that begins every target
    end : the token that ends it
    beam_size : how many beginnings are kept at most; 1 for greedy decoding
    alpha : how much longer texts are favoured, if there are several
    max_length : how many tokens a target may have at most, without start and end; it is
        shorter if the model takes no more
    batch_size : how many texts are translated at a time

    Returns for each text its translation's tokens without start and end, in the order
    of the sources. A text without tokens has a translation without tokens. Raises
    ``ValueError`` for a token that the model does not have, and for a text that is
    longer than it takes.
    """
    order = [i for i, source in enumerate(sources) if source]
    order.sort(key=lambda i: len(sources[i]))  # so that little is filled up
    found: list[list[int]] = [[] for _ in sources]
    for first in range(0, len(order), batch_size):
        batch = order[first : first + batch_size]
        tokens = filled_up(model, [sources[i] for i in batch])
        if beam_size == 1:
            targets = greedy(model, tokens, start, end, max_length)
        else:
            targets = beam(model, tokens, start, end, beam_size, max_length, alpha)
        for i, target in zip(batch, targets, strict=True):
            found[i] = target
    return found


def greedy(
    model: Translator[Any, Any], source: Tensor, start: int, end: int, max_length: int
) -> list[list[int]]:
    """Take, again and again, the token with the highest score: for a whole batch.

    source : (batch, m), filled up; what follows: as in ``searching.greedy_decode``

    Returns for each row what ``greedy_decode`` returns for it alone.
    """
    texts: list[list[int]] = [[] for _ in source]
    with evaluating(model):
        state = model.start(model.encode(source))
        tokens = torch.full_like(source[:, 0], start)  # (batch)
        alive = list(range(len(texts)))
        for _ in range(_most(model, max_length)):
            logits, state = model.step(tokens, state)
            tokens = logits.argmax(dim=-1)
            rows = []
            for row, token in enumerate(tokens.tolist()):
                if token != end:
                    texts[alive[row]].append(token)
                    rows.append(row)
            if not rows:
                break
            if len(rows) < len(alive):
                alive = [alive[row] for row in rows]
                kept = torch.tensor(rows, device=tokens.device)
                tokens, state = tokens[kept], state.select(kept)
    return texts


def beam(
    model: Translator[Any, Any],
    source: Tensor,
    start: int,
    end: int,
    beam_size: int,
    max_length: int,
    alpha: float = 0.6,
) -> list[list[int]]:
    """Keep several beginnings of each text, and choose the best at the end.

    source : (batch, m), filled up; what follows: as in ``searching.beam_search``, but
        the numbers come from the model in its dtype

    Returns for each row what ``beam_search`` returns for it alone.
    """
    searches = [Search(beam_size, end) for _ in source]
    with evaluating(model):
        state = model.start(model.encode(source))
        tokens = torch.full_like(source[:, 0], start)  # (beams of all texts)
        for _ in range(_most(model, max_length)):
            logits, state = model.step(tokens, state)
            log_p = logits.log_softmax(dim=-1)
            best = log_p.topk(min(beam_size, log_p.shape[-1]))  # (beams, beam_size)
            choices = iter(
                zip(best.values.tolist(), best.indices.tolist(), strict=True)
            )
            rows, first = [], 0
            for search in searches:
                count = len(search.live)
                came_from = search.continue_by([next(choices) for _ in range(count)])
                rows += [first + each for each in came_from]
                first += count
            if not rows:
                break
            newest = [text[-1] for search in searches for text, _ in search.live]
            tokens = torch.tensor(newest, device=tokens.device)
            state = state.select(torch.tensor(rows, device=tokens.device))
    return [search.best(alpha) for search in searches]


def filled_up(model: Translator[Any, Any], texts: Sequence[Sequence[int]]) -> Tensor:
    """Give texts, each of at least one token, as a batch (batch, m) for the model.

    Raises ``ValueError`` for tokens that the model does not have, and for padding.
    """
    padding, vocab_size = model.padding, model.sizes.vocab_size
    for text in texts:
        for token in text:
            if not 0 <= token < vocab_size or token == padding:
                raise ValueError(
                    f"token {token} is no token of this model: they are 0 to "
                    f"{vocab_size - 1}, without {padding}, which fills up"
                )
    longest = max(len(text) for text in texts)
    rows = [[*text, *[padding] * (longest - len(text))] for text in texts]
    device = next(model.parameters()).device
    return torch.tensor(rows, device=device)


@contextmanager
def evaluating(model: Translator[Any, Any]) -> Iterator[None]:
    """Drop nothing and record nothing for gradients; afterwards it is as before."""
    before = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(before)


def _most(model: Translator[Any, Any], max_length: int) -> int:
    return max_length if model.longest is None else min(max_length, model.longest)
