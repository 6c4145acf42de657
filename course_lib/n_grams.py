"""N-gram models: the next token from counts of short contexts, no parameters learned.

The baseline of lesson 12, which a Transformer has to beat.
"""

import math
from collections.abc import Mapping, Sequence

from course_lib import arguments


def n_gram_counts(
    token_ids: Sequence[int], n: int
) -> dict[tuple[int, ...], dict[int, int]]:
    """Count how often each token came after each context of up to n − 1 tokens.

    token_ids : a text in token ids
    n : 1 for unigrams, 2 for bigrams and so on

    Returns, for each context that occurs with something after it, from () to n − 1
    tokens long, how often each token came after it.

    >>> n_gram_counts([7, 8, 7, 9], 2)
    {(): {7: 2, 8: 1, 9: 1}, (7,): {8: 1, 9: 1}, (8,): {7: 1}}
    """
    n = arguments.whole("n ≥ 1", n)
    counts: dict[tuple[int, ...], dict[int, int]] = {}
    for length in range(n):
        for end in range(length, len(token_ids)):
            followers = counts.setdefault(tuple(token_ids[end - length : end]), {})
            followers[token_ids[end]] = followers.get(token_ids[end], 0) + 1
    return counts


def n_gram_log_probability(
    token_id: int,
    context: Sequence[int],
    counts: Mapping[tuple[int, ...], Mapping[int, int]],
    vocab_size: int,
) -> float:
    """Return the log-probability of a token after a context, by interpolation.

    token_id : the token that comes, from 0 to vocab_size − 1
    context : the token ids before it, the newest last; there may be none
    counts : how often each token came after each context, as ``n_gram_counts`` makes
        them: context as a tuple to {token id: how often}, also for the empty context
    vocab_size : number of tokens

    Returns ln p(token | context). With c how often the token came after the context,
    N how often any token did, and K how many different tokens did,

        p(token | context) = (c + K · p(token | shorter)) / (N + K),

    where shorter is the context without its first, oldest token. A context that is not
    in counts says nothing: then p(token | context) is p(token | shorter). After the
    empty context, p(token | shorter) is 1 / vocab_size. So no token has probability 0,
    and the probabilities of all tokens sum to 1. The arguments are not modified.
    Source: Witten and Bell (1991), The Zero-Frequency Problem: Estimating the
    Probabilities of Novel Events in Adaptive Text Compression, method C; mixed with
    shorter contexts as by Chen and Goodman (1999), An Empirical Study of Smoothing
    Techniques for Language Modeling (Witten-Bell smoothing).

    >>> counts = {(): {7: 2, 8: 1, 9: 1}, (7,): {8: 1, 9: 1}, (8,): {7: 1}}
    >>> round(math.exp(n_gram_log_probability(8, [7], counts, 10)), 4)
    0.3429
    """
    arguments.token_id("token_id", token_id, vocab_size)
    probability = 1 / vocab_size
    # From the empty context to the longest one: each mixes in the one before.
    for length in range(len(context) + 1):
        followers = counts.get(tuple(context[len(context) - length :]))
        if followers:
            n, k = sum(followers.values()), len(followers)
            count = followers.get(token_id, 0)
            probability = (count + k * probability) / (n + k)
    return math.log(probability)
