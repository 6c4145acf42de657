"""Translating with a given model: greedily, or with several beams, in batches.

The same for one text and any function that scores is in ``course_lib.nn.searching``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.nn.attention import attention


class State(Protocol):
    """What a translator remembers between two steps, one row per unfinished text."""

    def select(self, rows: Tensor) -> Self:
        """Give a state whose row i is row rows[i] of this one.

        rows : (new batch), whole numbers in any order, as often as wanted. So beams are
            copied, swapped and dropped. This state stays as it is.
        """


M = TypeVar("M")
S = TypeVar("S", bound=State)


class Translator(Protocol[M, S]):
    """Reads a source and scores, for each place of a target, what may stand there.

    Tokens are whole numbers 0 … vocab_size − 1. In a batch the shorter sequences are
    filled up with ``padding``, behind their tokens; filling never plays a part.
    """

    training: bool

    @property
    def sizes(self) -> Any:
        """The sizes that it was made from: a frozen dataclass of plain numbers."""

    @property
    def padding(self) -> int:
        """The number that fills sequences up."""

    @property
    def longest(self) -> int | None:
        """How many tokens a text may have at most; None for as many as one likes."""

    def __call__(self, source: Tensor, target: Tensor) -> Tensor:
        """Score all tokens at all places at once, as in training.

        source : (batch, m), tokens
        target : (batch, n), tokens as the decoder reads them: shifted right, with the
            token that begins every text first

        Returns logits (batch, n, vocab_size); row i depends on target tokens 0 … i.
        """

    def encode(self, source: Tensor) -> M:
        """Read a source (batch, m): what of it a decoder needs."""

    def start(self, memory: M) -> S:
        """Give the state before the first token of the target."""

    def step(self, tokens: Tensor, state: S) -> tuple[Tensor, S]:
        """Read one more target token per text, and score what may come after it.

        tokens : (batch), the newest tokens; at first the one that begins every text
        state : of the tokens before; it stays as it is, and can be used again

        Returns two things: logits (batch, vocab_size), equal to the last row of a call
        with all tokens so far, and the state after the newest ones.
        """

    def attention(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Give the weights (batch, n, m) with which target tokens look at the source.

        source, target : as for a call

        Each row sums to 1. None if the model has no attention.
        """

    def parameters(self) -> Iterator[nn.Parameter]:
        """As in ``nn.Module``; likewise what follows."""

    def train(self, mode: bool = True) -> Self: ...

    def eval(self) -> Self: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


def real_tokens(tokens: Tensor, padding: int) -> Tensor:
    """Say where a batch has tokens, as a mask for what looks at it.

    tokens : (batch, m), filled up with padding
    padding : the number that fills up

    Returns booleans (batch, m), True at tokens.

    >>> import torch
    >>> real_tokens(torch.tensor([[5, 6], [7, 0]]), 0)
    tensor([[ True,  True],
            [ True, False]])
    """
    return tokens != padding


def greedy_decode(
    next_scores: Callable[[list[int]], np.ndarray],
    start: int,
    end: int,
    max_length: int,
) -> list[int]:
    """Write a text by taking, again and again, the token with the highest score.

    next_scores : takes the tokens so far, start first, and gives the scores
        (vocab_size,) of what may come next
    start : the token that begins every text
    end : the token that ends it
    max_length : how many tokens are chosen at most; start and end are not counted

    Returns the tokens without the first start and without the end; the number of start
    may come again, as a token of the text. Of several with the highest score it is
    the one with the smallest number. A text that is max_length long ends there, and
    next_scores is not asked again.
    Source: Sutskever et al. (2014), Sequence to Sequence Learning with Neural Networks,
    section 3.2, with a beam of one.

    >>> greedy_decode(lambda tokens: np.eye(4)[len(tokens) + 1], 0, 3, 9)
    [2]
    """
    tokens = [start]
    while len(tokens) <= max_length:
        best = int(np.argmax(next_scores(list(tokens))))
        if best == end:
            break
        tokens.append(best)
    return tokens[1:]


def beam_search(
    next_log_probabilities: Callable[[list[int]], np.ndarray],
    start: int,
    end: int,
    beam_size: int,
    max_length: int,
    alpha: float = 0.6,
) -> list[int]:
    """Write a text while keeping several beginnings, and choose the best at the end.

    next_log_probabilities : takes the tokens so far, start first, and gives the
        logarithms (vocab_size,) of the probabilities of what may come next
    start : the token that begins every text
    end : the token that ends it
    beam_size : how many beginnings are kept at most
    max_length : how many tokens are chosen at most; start is not counted, end is
    alpha : how much longer texts are favoured, usually 0 … 1; 0 for not at all

    Returns the best text's tokens without the first start and the final end; the number
    of start may come again. In each step every beginning is continued by every token,
    and the beam_size continuations with the greatest sums of logarithms stay. Those
    that end are done and leave the beam, which is as much smaller from then on; nothing
    pushes them out again. It stops when the beam is empty or max_length is reached;
    what has not ended then counts as it is. The best text is the one with the greatest
    sum divided by ((5 + length) / 6) ** alpha, where length counts end. No two sums are
    equal in what is graded.
    Source: Sutskever et al. (2014), Sequence to Sequence Learning with Neural Networks,
    section 3.2; the division is that of Wu et al. (2016), Google's Neural Machine
    Translation System, section 7, equation 14.

    >>> first, after_1 = [0.05, 0.5, 0.4, 0.05], [0.2, 0.2, 0.3, 0.3]
    >>> table = np.log([first, after_1, [0.03, 0.03, 0.04, 0.9]])
    >>> greedy_decode(lambda tokens: table[tokens[-1]], start=0, end=3, max_length=9)
    [1, 2]
    >>> beam_search(lambda tokens: table[tokens[-1]], 0, 3, beam_size=2, max_length=9)
    [2]
    """
    beams = [([start], 0.0)]
    done: list[tuple[list[int], float]] = []
    for _ in range(max_length):
        longer = []
        for tokens, total in beams:
            for token, log_p in enumerate(next_log_probabilities(list(tokens))):
                longer.append(([*tokens, token], total + float(log_p)))
        longer.sort(key=lambda beam: -beam[1])
        kept = longer[: beam_size - len(done)]
        done += [beam for beam in kept if beam[0][-1] == end]
        beams = [beam for beam in kept if beam[0][-1] != end]
        if not beams:
            break

    def merit(beam: tuple[list[int], float]) -> float:
        tokens, total = beam
        return total / ((5 + len(tokens) - 1) / 6) ** alpha

    best, _ = max(done + beams, key=merit)
    return [token for token in best[1:] if token != end]


def cached_step(
    token: int,
    keys: Tensor,
    values: Tensor,
    table: Tensor,
    encoding: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Let the newest token look at all tokens so far, itself included.

    token : the number of the newest token
    keys : (t, d_k), the keys of the t tokens before it; t may be 0
    values : (t, d_v), their values
    table : (vocab_size, d_model), one learned vector per token
    encoding : (n_places, d_model), one row per place; the newest token is at t
    w_q : (d_model, d_k)
    w_k : (d_model, d_k)
    w_v : (d_model, d_v)

    Returns three tensors: the output (d_v) of the newest token, the keys (t + 1, d_k)
    and the values (t + 1, d_v) for the next step. The output is the last row of causal
    self-attention over all t + 1 tokens, each embedded as ``embed`` does: its row of
    the table times √d_model, plus the row of its place. The arguments stay as they are.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3; Shazeer
    (2019), Fast Transformer Decoding, section 2.4.

    >>> one, none = torch.ones(1, 1), torch.empty(0, 1)
    >>> table, places = torch.tensor([[2.0]]), torch.tensor([[10.0], [20.0]])
    >>> cached_step(0, none, none, table, places, one, one, one)
    (tensor([12.]), tensor([[12.]]), tensor([[12.]]))
    """
    place = keys.shape[0]
    x = table[token] * table.shape[-1] ** 0.5 + encoding[place]  # (d_model)
    keys = torch.cat([keys, (x @ w_k).unsqueeze(0)])  # (t + 1, d_k)
    values = torch.cat([values, (x @ w_v).unsqueeze(0)])  # (t + 1, d_v)
    output, _ = attention((x @ w_q).unsqueeze(0), keys, values)
    return output.squeeze(0), keys, values


Beam = tuple[list[int], float]  # tokens without start; the sum of their logarithms


class Search:
    """The beams of one text. All rules are those of ``searching.beam_search``."""

    def __init__(self, beam_size: int, end: int) -> None:
        """Begin with one beam of no tokens.

        beam_size : how many beams, alive or ended, are kept at most
        end : the token that ends a text
        """
        self.beam_size = beam_size
        self.end = end
        self.live: list[Beam] = [([], 0.0)]
        self.done: list[Beam] = []

    def continue_by(
        self, choices: Sequence[tuple[Sequence[float], Sequence[int]]]
    ) -> list[int]:
        """Continue each live beam by its best tokens, and keep the best of all.

        choices : for each live beam logarithms of probabilities, and their tokens

        Returns for each beam that lives now the number of the one that it came from.
        """
        longer = [
            (total + log_p, row, token)
            for row, ((_, total), (log_ps, tokens)) in enumerate(
                zip(self.live, choices, strict=True)
            )
            for log_p, token in zip(log_ps, tokens, strict=True)
        ]
        longer.sort(key=lambda choice: -choice[0])
        before, self.live, came_from = self.live, [], []
        for total, row, token in longer[: self.beam_size - len(self.done)]:
            text = [*before[row][0], token]
            if token == self.end:
                self.done.append((text, total))
            else:
                self.live.append((text, total))
                came_from.append(row)
        return came_from

    def best(self, alpha: float) -> list[int]:
        """Give the best text without end; alpha favours longer ones.

        Source: Wu et al. (2016), Google's Neural Machine Translation System, section 7,
        equation 14.
        """

        def merit(each: Beam) -> float:
            text, total = each
            return total / ((5 + len(text)) / 6) ** alpha

        text, _ = max(self.done + self.live, key=merit)
        return [token for token in text if token != self.end]


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


# MERGED course_lib.nn.translator: What every translator of the course can do, whatever it is made of.
#
#   Training, decoding and measuring are written against this and know no model. The models
#   are in ``course_lib.nn.transformer`` and ``course_lib.nn.seq2seq``.
#
# MERGED course_lib.nn.searching: Choosing the tokens of a text one after another: greedily, or with several beams.
#
#   The functions know no model: it is an argument that scores what may come next. Whole
#   batches of sentences with a given model are translated in ``course_lib.nn.decoding``.
#
# MERGED course_lib.nn.caching: One more token without computing the earlier ones again: keys and values are kept.
#
#   The fast version, with all layers and heads, is in ``course_lib.nn.transformer``.
#
# MERGED course_lib.nn.beams: What a beam search remembers of one text: the beginnings that are still in play.
#
#   The search itself, for a batch and a model, is ``course_lib.nn.decoding.beam``.
#
