"""What a translator is trained to make small, and how fast it may move.

The loop that does it is ``course_lib.nn.training``.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, ignore: int) -> Tensor:
    """Measure how surprised a model is by the tokens that it should have written.

    logits : (..., vocab_size), a score for each token at each place, any finite size
    targets : (...), whole numbers of the right tokens
    ignore : the number that fills sequences up; where a target is that, nothing counts

    Returns a tensor without axes: −ln of the softmax at the right token, as a mean over
    all places of all sequences that count; 0 if none counts. The arguments stay as they
    are.
    Source: Goodfellow et al. (2016), Deep Learning, section 6.2.2; what fills up is
    left out in all programs for translation.

    >>> logits = torch.tensor([[0.0, 0.0], [9.0, 9.0], [5.0, 7.0]])
    >>> cross_entropy(logits, torch.tensor([1, 0, 5]), ignore=5)
    tensor(0.6931)
    """
    counts = targets != ignore  # (...)
    log_p = logits.log_softmax(dim=-1)
    right = targets.masked_fill(~counts, 0).unsqueeze(-1)
    losses = -log_p.gather(-1, right).squeeze(-1).masked_fill(~counts, 0.0)  # (...)
    return losses.sum() / counts.sum().clamp(min=1)


def label_smoothing(targets: Tensor, vocab_size: int, share: float) -> Tensor:
    """Turn right tokens into distributions that leave a little for all others.

    targets : (...), whole numbers of the right tokens, 0 … vocab_size − 1
    vocab_size : number of tokens
    share : of the whole, 0 … 1, what is spread evenly over all tokens, the right one
        included

    Returns the distributions (..., vocab_size), floats of PyTorch's usual kind; each
    row sums to 1. targets stays as it is.
    Source: Szegedy et al. (2016), Rethinking the Inception Architecture for Computer
    Vision, section 7; Vaswani et al. (2017), section 5.4, use a share of 0.1.

    >>> label_smoothing(torch.tensor([1]), 4, 0.2)
    tensor([[0.0500, 0.8500, 0.0500, 0.0500]])
    """
    even = torch.full((*targets.shape, vocab_size), share / vocab_size)
    right = torch.full((*targets.shape, 1), 1 - share)
    return even.scatter_add(-1, targets.unsqueeze(-1), right)


def warmup_rate(step: int, d_model: int, warmup: int) -> float:
    """Give the learning rate: it grows evenly, then falls with the root of the step.

    step : number of updates made before, 0 for the first one
    d_model : length of a token's vector
    warmup : number of updates during which the rate grows, at least 1

    Returns a float, never 0. The paper counts from 1: its step is one more than this
    one. The greatest rate is that of update number warmup.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 5.3, equation 3.

    >>> warmup_rate(0, 4, 100)
    0.0005
    >>> warmup_rate(99, 4, 100), warmup_rate(399, 4, 100)
    (0.05, 0.025)
    """
    number = step + 1
    return d_model**-0.5 * min(number**-0.5, number * warmup**-1.5)


def padding_gap(
    f: Callable[[np.ndarray], np.ndarray], sequences: list[list[int]], padding: int
) -> float:
    """Measure how much a model's results depend on the company a sequence is in.

    f : takes whole numbers (batch, n), gives floats (batch, n, d); it knows which
        number fills up
    sequences : one or more lists of at least one token, of any lengths; padding is in
        none of them
    padding : the number that fills the shorter ones up, behind their tokens

    Returns a float: the largest absolute difference, over all sequences and their own
    places, between f of the whole batch, filled up to the longest, and f of a batch of
    that sequence alone. What f gives for filling does not count. It is 0 if padding and
    neighbours play no part.
    Source: this course; Vaswani et al. (2017), section 5.1, train on such batches.

    >>> padding_gap(lambda tokens: tokens[..., np.newaxis] * 2.0, [[1, 2], [3]], 0)
    0.0
    >>> def mean_added(tokens):
    ...     return (tokens + tokens.mean(axis=1, keepdims=True))[..., np.newaxis]
    >>> padding_gap(mean_added, [[1, 2], [3]], 0)
    1.5
    """
    longest = max(len(sequence) for sequence in sequences)
    batch = np.full((len(sequences), longest), padding)
    for row, sequence in zip(batch, sequences, strict=True):
        row[: len(sequence)] = sequence
    together = f(batch)  # (batch, n, d)
    gap = 0.0
    for sequence, found in zip(sequences, together, strict=True):
        alone = f(np.array([sequence]))[0]
        gap = max(gap, float(np.abs(found[: len(sequence)] - alone).max()))
    return gap


# MERGED course_lib.nn.hygiene: Tools that find out whether what fills a batch up plays a part in the results.
#
#   Leaks from the future are found by ``course_lib.leaks``.
#
