"""The sentence on an answer's wrong results, for the tests of all its parts."""

import re

import numpy as np

from autograder.checking.call import Call, local_runner
from autograder.checking.evidence import evidence
from autograder.checking.exercise import Exercise

RNG = np.random.default_rng(0)


def sentence_on(
    reference, answer, inputs, returns=(), precise=False, *, may_call=False
):
    """Return what is core of an answer that is called with these inputs.

    may_call : whether calls may be drawn to tell conditions apart
    """
    exercise = Exercise(
        reference, lesson="none", minutes=1, difficulty=1, returns=returns
    )
    exercise.spec(reference)
    runner = local_runner(answer)
    calls = [
        Call(arguments, keywords, runner(arguments, keywords), precise)
        for *positional, keywords in inputs
        for arguments in [tuple(positional)]
    ]
    return evidence(exercise, calls, runner=runner if may_call else None)


def scores(q, k):
    """Return the dot products.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row
    """
    return q @ np.swapaxes(k, -1, -2)


def queries_and_keys(*shapes):
    for leading, n, m, d_k in shapes:
        q, k = RNG.normal(size=(*leading, n, d_k)), RNG.normal(size=(*leading, m, d_k))
        yield q, k, {}


USUAL = [*queries_and_keys(((), 5, 7, 4), ((), 3, 6, 9), ((), 6, 5, 2))]


def off(result):
    """Change one number of a result a little."""
    changed = np.array(result, copy=True)
    changed.flat[-1] = changed.flat[-1] * 1.37 + 0.1
    return changed


def with_q(change):
    """Return an answer: what is made of the right scores and q."""
    return lambda q, k: change(scores(q, k), q)


def without_line(sentence):
    """Return a sentence without the learner's line."""
    return re.sub(r" at line \d+[^(]*\(`.*`\)", "", sentence)


def mix(q, k, may_attend=None):
    """Return the weights and their mix of the keys.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row
    may_attend : (..., n, m), booleans
    """
    return mixed(scores(q, k), k, may_attend)


def mixed(score, k, may_attend=None):
    if may_attend is not None:
        score = np.where(may_attend, score, -1e9)
    weights = np.exp(score - score.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ k, weights
