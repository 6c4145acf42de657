"""The loss, the learning rate and clipped gradients of lesson 10; a test of padding.

The training loop is ``course_lib.nn.training.loop``.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_lib.nn import arguments


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int) -> Tensor:
    """Compute how surprised a model is by the tokens that it should have predicted.

    logits : (..., vocab_size), one for each token at each position, all finite
    targets : (...), token ids of the right tokens
    ignore_index : the token id of padding, which may be outside the vocabulary, such as
        −100; positions with this target do not count

    Returns a tensor without axes: −ln of the softmax at the right token, as a mean over
    all positions of all sequences that count; 0 if none counts. The arguments are
    not modified.
    Source: Goodfellow et al. (2016), Deep Learning, section 6.2.2; programs for
    translation usually leave padding out.

    >>> logits = torch.tensor([[0.0, 0.0], [9.0, 9.0], [5.0, 7.0]])
    >>> cross_entropy(logits, torch.tensor([1, 0, 5]), ignore_index=5)
    tensor(0.6931)
    """
    arguments.token_ids("targets", targets)
    arguments.tensors(
        f"logits ({', '.join([*map(str, targets.shape), 'vocab_size'])})", logits
    )
    arguments.whole_number("ignore_index", ignore_index)
    arguments.token_ids(
        "targets", targets, vocab_size=logits.shape[-1], besides=ignore_index
    )
    counts = targets != ignore_index  # (...)
    log_p = logits.log_softmax(dim=-1)
    right = targets.masked_fill(~counts, 0).unsqueeze(-1)
    losses = -log_p.gather(-1, right).squeeze(-1).masked_fill(~counts, 0.0)  # (...)
    return (losses / counts.sum().clamp(min=1)).sum()


def label_smoothing(targets: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    """Turn right tokens into distributions that leave a little for all others.

    targets : (...), token ids of the right tokens, 0 … vocab_size − 1
    vocab_size : number of tokens
    smoothing : share of the whole, 0 … 1, that is spread evenly over all tokens, the
        right one included

    Returns the distributions (..., vocab_size), floats; each row sums to 1. targets
    is not modified.
    Source: Szegedy et al. (2016), Rethinking the Inception Architecture for Computer
    Vision, section 7; Vaswani et al. (2017), section 5.4, use a smoothing of 0.1.

    >>> label_smoothing(torch.tensor([1]), 4, 0.2)
    tensor([[0.0500, 0.8500, 0.0500, 0.0500]])
    """
    arguments.whole(1, vocab_size=vocab_size)
    arguments.token_ids("targets", targets, vocab_size=vocab_size)
    arguments.real(0, 1, smoothing=smoothing)
    on = targets.device
    even = torch.full((*targets.shape, vocab_size), smoothing / vocab_size, device=on)
    right = torch.full((*targets.shape, 1), 1 - smoothing, device=on)
    return even.scatter_add(-1, targets.unsqueeze(-1), right)


def warmup_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """Compute the learning rate: it grows linearly, then falls like 1 / √step.

    step : number of optimizer steps made before, 0 for the first one
    d_model : length of a token's vector
    warmup_steps : number of steps during which the learning rate grows, at least 1

    Returns a float, never 0. The paper counts from 1: its step is one more than this
    one. The peak is reached when step is warmup_steps − 1.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 5.3, equation 3.

    >>> warmup_rate(0, 4, 100)
    0.0005
    >>> warmup_rate(99, 4, 100), warmup_rate(399, 4, 100)
    (0.05, 0.025)
    """
    arguments.whole(0, step=step)
    arguments.whole(1, d_model=d_model, warmup_steps=warmup_steps)
    number = step + 1
    return d_model**-0.5 * min(number**-0.5, number * warmup_steps**-1.5)


def clip_gradients(
    gradients: dict[str, Tensor | None], max_norm: float
) -> tuple[dict[str, Tensor | None], float]:
    """Shorten the gradient of all parameters together, if it is too long.

    gradients : for each parameter, by name, its gradient, of any shape; None where it
        has none
    max_norm : the greatest norm allowed, above 0

    Returns the clipped gradients and the norm:
    - The norm, a float, is that of all numbers of all gradients together before
      clipping: the root of the sum of their squares. None counts for nothing; without
      any gradient it is 0.
    - If it is at most max_norm, the gradients have the numbers that they had.
    - If it is greater, all are multiplied by the same factor, max_norm / norm, and
      nothing is added to the norm.
    - They come in a dictionary with the same names, and None stays None.

    The arguments are not modified.
    Source: Pascanu et al. (2013), On the Difficulty of Training Recurrent Neural
    Networks, algorithm 1; PyTorch's ``clip_grad_norm_`` works in place and divides by
    norm + 1e-6.

    >>> gradients = {"w": torch.tensor([[3.0, 0.0]]), "b": torch.tensor([4.0])}
    >>> clip_gradients(gradients, 1.0)
    ({'w': tensor([[0.6000, 0.0000]]), 'b': tensor([0.8000])}, 5.0)
    """
    arguments.tensors_by_name("gradients", gradients, or_none=True)
    arguments.positive(max_norm=max_norm)
    present = [each for each in gradients.values() if each is not None]
    norm = sum(float((each.double() ** 2).sum()) for each in present) ** 0.5
    if not np.isfinite(norm):
        raise ValueError(f"the norm of the gradients is {norm}: look for its cause")
    factor = max_norm / norm if norm > max_norm else 1.0
    clipped = {
        name: None if gradient is None else factor * gradient
        for name, gradient in gradients.items()
    }
    return clipped, norm


def padding_gap(
    f: Callable[[np.ndarray], np.ndarray], sequences: list[list[int]], padding_id: int
) -> float:
    """Measure how much a model's results depend on the rest of the batch.

    f : takes an array of integers, token ids (batch, n), returns floats
        (batch, n, d); it knows which token id is padding
    sequences : one or more lists of at least one token id, of any lengths; padding_id
        is in none of them; they are not modified
    padding_id : the token id with which the shorter ones are padded, behind their
        tokens

    Returns a float: the largest absolute difference, over all sequences and their own
    positions, between f of the whole batch, padded to the longest, and f of a batch of
    that sequence alone. What f returns at padding does not count. It is 0 if padding
    and neighbours change nothing.
    Source: this course; Vaswani et al. (2017), section 5.1, train on such batches.

    >>> padding_gap(lambda ids: ids[..., np.newaxis] * 2.0, [[1, 2], [3]], 0)
    0.0
    >>> def mean_added(token_ids):
    ...     return (token_ids + token_ids.mean(axis=1, keepdims=True))[..., np.newaxis]
    >>> padding_gap(mean_added, [[1, 2], [3]], 0)
    1.5
    """
    arguments.sequences("sequences", sequences, padding_id)
    longest = max(len(sequence) for sequence in sequences)
    batch = np.full((len(sequences), longest), padding_id)
    for row, sequence in zip(batch, sequences, strict=True):
        row[: len(sequence)] = sequence
    together = f(batch)  # (batch, n, d)
    gaps = []
    for sequence, result in zip(sequences, together, strict=True):
        alone = f(np.array([sequence]))[0]
        arguments.equal_shapes("f", result[: len(sequence)], alone)
        gaps.append(np.abs(result[: len(sequence)] - alone).max())
    return float(np.max(gaps))
