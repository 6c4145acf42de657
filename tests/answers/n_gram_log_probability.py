import functools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("n_gram_log_probability")


def recursive(token_id, context, counts, vocab_size):
    """Return the probability."""
    context = tuple(context)
    p = recursive(token_id, context[1:], counts, vocab_size) if context else None
    p = 1 / vocab_size if p is None else p
    if context not in counts:
        return p
    n, k = sum(counts[context].values()), len(counts[context])
    return (counts[context].get(token_id, 0) + k * p) / (n + k)


@answers.correct
def recursion(token_id, context, counts, vocab_size):
    return math.log(recursive(token_id, context, counts, vocab_size))


@answers.correct
def from_the_longest_with_a_weight(token_id, context, counts, vocab_size):
    p, left, rest = 0.0, 1.0, tuple(context)
    while True:
        followers = counts.get(rest, {})
        if followers:
            n, k = sum(followers.values()), len(followers)
            p += left * followers.get(token_id, 0) / (n + k)
            left *= k / (n + k)
        if not rest:
            return math.log(p + left / vocab_size)
        rest = rest[1:]


@answers.correct
def exact_fractions(token_id, context, counts, vocab_size):
    p = Fraction(1, vocab_size)
    for start in reversed(range(len(context) + 1)):
        followers = counts.get((*context[start:],))
        if followers is not None:
            k = len(followers)
            p = (followers.get(token_id, 0) + k * p) / (sum(followers.values()) + k)
    return math.log(p)


@answers.correct
def two_weights(token_id, context, counts, vocab_size):
    p = 1 / vocab_size
    for start in range(len(context), -1, -1):
        followers = Counter(counts.get(tuple(context[start:]), {}))
        n, k = sum(followers.values()), len([*followers])
        if n:
            weight = n / (n + k)
            p = weight * followers[token_id] / n + (1 - weight) * p
    return np.log(p)


@answers.correct
def whole_distribution_in_numpy(token_id, context, counts, vocab_size):
    p = np.full(vocab_size, 1 / vocab_size)
    for start in range(len(context), -1, -1):
        followers = counts.get(tuple(context[start:]), {})
        row = np.zeros(vocab_size)
        for each, count in followers.items():
            row[each] = count
        k = np.count_nonzero(row)
        p = (row + k * p) / (row.sum() + k) if k else p
    return float(np.log(p[token_id]))


@answers.correct
def logarithms_in_torch(token_id, context, counts, vocab_size):
    p = torch.tensor(1 / vocab_size, dtype=torch.float64)
    for length in range(len(context) + 1):
        end = tuple(context)[len(context) - length :]
        if end in counts:
            values = torch.tensor([*counts[end].values()])
            c = counts[end].get(token_id, 0)
            p = (c + len(values) * p) / (values.sum() + len(values))
    return p.log().item()


@answers.correct
def copy_that_shrinks(token_id, context, counts, vocab_size):
    rest, chain = list(context), []
    chain.append(tuple(rest))
    while rest:
        rest.pop(0)
        chain.append(tuple(rest))
    p = 1 / vocab_size
    for each in chain[::-1]:
        try:
            followers = counts[each]
        except KeyError:
            continue
        k = len(followers)
        c = followers[token_id] if token_id in followers else 0
        p = (c + k * p) / (sum(followers.values()) + k)
    return math.log(p)


class Called:
    def __call__(self, token_id, context, counts, vocab_size):
        return recursion(token_id, context, counts, vocab_size)


answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda log, *arguments: log(recursive(*arguments)), math.log
)


@answers.also("back_off_without_a_mixture")
def first_context_that_has_it(token_id, context, counts, vocab_size):
    for start in range(len(context) + 1):
        followers = counts.get(tuple(context[start:]), {})
        if token_id in followers:
            return math.log(followers[token_id] / sum(followers.values()))
    return -math.log(vocab_size)


@answers.also("newest_token_dropped")
def recursion_from_the_wrong_end(token_id, context, counts, vocab_size):
    def p(rest):
        shorter = p(rest[:-1]) if rest else 1 / vocab_size
        followers = counts.get(rest)
        if not followers:
            return shorter
        n, k = sum(followers.values()), len(followers)
        return (followers.get(token_id, 0) + k * shorter) / (n + k)

    return math.log(p(tuple(context)))


@answers.also("empty_slice_is_the_whole_context")
def slices_from_the_end(token_id, context, counts, vocab_size):
    p = 1 / vocab_size
    for length in range(len(context) + 1):
        followers = counts.get(tuple(context[-length:]), {})
        n, k = sum(followers.values()), len(followers)
        if n:
            p = (followers.get(token_id, 0) + k * p) / (n + k)
    return math.log(p)


@answers.also("empty_context_left_out")
def while_there_is_a_context(token_id, context, counts, vocab_size):
    def p(rest):
        if not rest:
            return 1 / vocab_size
        shorter, followers = p(rest[1:]), counts.get(rest, {})
        n, k = sum(followers.values()), len(followers)
        return (followers.get(token_id, 0) + k * shorter) / (n + k) if n else shorter

    return math.log(p(tuple(context)))


@answers.also("context_emptied")
def popped(token_id, context, counts, vocab_size):
    result = recursion(token_id, context, counts, vocab_size)
    while context:
        context.pop(0)
    return result


@answers.other
def absolute_discounting(token_id, context, counts, vocab_size):
    p = 1 / vocab_size
    for start in range(len(context), -1, -1):
        followers = counts.get(tuple(context[start:]))
        if followers:
            n, k = sum(followers.values()), len(followers)
            c = max(followers.get(token_id, 0) - 0.75, 0)
            p = c / n + 0.75 * k / n * p
    return math.log(p)


@answers.other
def mean_over_all_contexts(token_id, context, counts, vocab_size):
    shares = [1 / vocab_size]
    for start in range(len(context) + 1):
        followers = counts.get(tuple(context[start:]), {})
        if followers:
            shares.append(followers.get(token_id, 0) / sum(followers.values()))
    return math.log(sum(shares) / len(shares))


@answers.other
def two_times_k(token_id, context, counts, vocab_size):
    p = 1 / vocab_size
    for start in range(len(context), -1, -1):
        followers = counts.get(tuple(context[start:]))
        if followers:
            n, k = sum(followers.values()), 2 * len(followers)
            p = (followers.get(token_id, 0) + k * p) / (n + k)
    return math.log(p)


@answers.other
def sum_of_logarithms(token_id, context, counts, vocab_size):
    total = -math.log(vocab_size)
    for start in range(len(context) + 1):
        followers = counts.get(tuple(context[start:]), {})
        total += math.log1p(followers.get(token_id, 0))
    return total
