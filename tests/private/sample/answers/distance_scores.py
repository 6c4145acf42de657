import numpy as np

from tests.answers import Answers

answers = Answers("distance_scores")


@answers.correct
def by_expanding_the_square(q, k):
    lengths = (q**2).sum(-1)[..., :, None] + (k**2).sum(-1)[..., None, :]
    return 2 * q @ k.swapaxes(-1, -2) - lengths


@answers.other
def nothing_but_zeros(q, k):
    return np.zeros((*q.shape[:-1], k.shape[-2]))


@answers.other
def keys_in_rows(q, k):
    difference = q[..., :, None, :] - k[..., None, :, :]
    return -(difference**2).sum(axis=-1).swapaxes(-1, -2)


@answers.other
def of_the_first_component(q, k):
    return -((q[..., :, None, 0] - k[..., None, :, 0]) ** 2)
