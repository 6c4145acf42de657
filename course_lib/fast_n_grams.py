"""The n-gram models of ``course_lib.n_grams`` on millions of tokens, in seconds.

The same counts and the same formula, for all positions of a text at once: contexts are
numbered, and counting is sorting. ``course_lib.n_grams`` is the one to read.
"""

from collections.abc import Sequence

import numpy as np

from course_lib import arguments


def n_gram_losses(
    training: Sequence[int] | np.ndarray,
    token_ids: Sequence[int] | np.ndarray,
    n: int,
    vocab_size: int,
) -> np.ndarray:
    """Compute −ln p of each token of a text, for 1-grams up to n-grams.

    training : the token ids that are counted
    token_ids : the text that is predicted; the contexts of its first tokens are shorter
    n : 1 for unigrams alone, 2 for bigrams too, and so on
    vocab_size : number of tokens

    Returns losses in nats (n, n_tokens). Row i is that of (i + 1)-grams: minus
    ``n_gram_log_probability`` of each token behind the i tokens before it, with counts
    of the training tokens.

    >>> n_gram_losses([7, 8, 7, 9], [7, 8], 2, 10).round(4)
    array([[1.113 , 1.6835],
           [1.113 , 1.0704]])
    """
    n = arguments.whole("n ≥ 1", n)
    n_training = len(training)
    tokens = np.concatenate([training, token_ids]).astype(np.int64)
    if len(tokens) and not 0 <= tokens.min() <= tokens.max() < vocab_size:
        raise ValueError(f"token ids must be from 0 to {vocab_size - 1}")
    position = np.arange(len(token_ids))
    probability = np.full(len(token_ids), 1 / vocab_size)
    context = np.zeros(len(tokens), dtype=np.int64)  # a number for each, the same twice
    losses = []
    for length in range(n):
        if length:  # one token further back; what stands before the text is masked
            oldest = np.roll(tokens, length)
            context = np.unique(context * vocab_size + oldest, return_inverse=True)[1]
        counted = slice(min(length, n_training), n_training)
        pair, count = np.unique(
            context[counted] * vocab_size + tokens[counted], return_counts=True
        )
        size = int(context.max(initial=0)) + 1
        total = np.bincount(pair // vocab_size, count, size)[context[n_training:]]
        kinds = np.bincount(pair // vocab_size, minlength=size)[context[n_training:]]
        own = context[n_training:] * vocab_size + tokens[n_training:]
        pair, count = np.append(pair, -1), np.append(count, 0)  # none is there
        index = np.searchsorted(pair[:-1], own)
        own_count = np.where(pair[index] == own, count[index], 0)
        known = (position >= length) & (total > 0)
        mixed = (own_count + kinds * probability) / np.maximum(total + kinds, 1)
        probability = np.where(known, mixed, probability)
        losses.append(-np.log(probability))
    return np.array(losses)
