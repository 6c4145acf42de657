import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("leak")


def with_rows(x, rows, change=lambda z: 1 - 2 * z):
    """Copy x and change the numbers of some of its rows."""
    changed = np.array(x, dtype=float)
    for i in rows:
        changed[i] = [change(z) for z in changed[i]]
    return changed


def difference(f, x, changed):
    return np.abs(np.subtract(f(changed), f(x)))


@answers.correct
def copy_and_slices(f, x, t):
    changed = x.copy()
    changed[t + 1 :] *= -2
    changed[t + 1 :] += 1
    return np.max(np.abs(f(x) - f(changed))[: t + 1])


@answers.correct
def row_by_row(f, x, t):
    before, after = f(x), f(with_rows(x, range(t + 1, len(x))))
    return max(
        abs(a - b)
        for i in range(t + 1)
        for a, b in zip(np.ravel(before[i]), np.ravel(after[i]), strict=True)
    )


@answers.correct
def chosen_by_position(f, x, t):
    future = np.arange(len(x))[:, None] > t
    change = f(np.where(future, 1 - 2 * x, x)) - f(x)
    return float(np.abs(change[~future[:, 0]]).max())


@answers.correct
def added_to_x(f, x, t):
    push = 1 - 3 * x
    push[: t + 1] = 0
    before, after = (np.asarray(f(x + part))[: t + 1] for part in (0, push))
    return np.linalg.norm((after - before).ravel(), ord=np.inf)


@answers.correct
def largest_and_smallest(f, x, t):
    changed = np.vstack(
        [x[: t + 1], np.ones_like(x[t + 1 :]) - x[t + 1 :] - x[t + 1 :]]
    )
    change = (f(np.asfortranarray(changed)) - f(np.asfortranarray(x)))[: t + 1]
    return float(max(change.max(), -change.min()))


@answers.correct
def torch_inside(f, x, t):
    changed = torch.from_numpy(np.array(x))
    changed[t + 1 :] = 1 - 2 * changed[t + 1 :]
    before, after = (torch.from_numpy(np.array(f(y))) for y in (x, changed.numpy()))
    return (after - before)[: t + 1].abs().max().item()


class Leak:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, f, x, t):
        changed = with_rows(x, range(t + 1, len(x)), lambda z: z - self.factor * z + 1)
        return difference(f, x, changed)[: t + 1].max()


answers.right["callable_object"] = Leak(3)
answers.right["partial"] = functools.partial(
    lambda biggest, f, x, t: biggest(
        difference(f, x, with_rows(x, range(t + 1, len(x))))[: t + 1]
    ),
    np.amax,
)


def future(x, t):
    return range(t + 1, len(x))


@answers.other
def nothing_ever(f, x, t):
    return 0.0


@answers.other
def median_of_the_changes(f, x, t):
    return np.median(difference(f, x, with_rows(x, future(x, t)))[: t + 1])


@answers.other
def change_of_the_largest(f, x, t):
    changed = with_rows(x, future(x, t))
    return abs(f(changed)[: t + 1].max() - f(x)[: t + 1].max())


@answers.also("x_changed_back")
def change_taken_off_again(f, x, t):
    before, change = f(x)[: t + 1], 1 - 3 * x[t + 1 :]
    x[t + 1 :] += change
    after = f(x)[: t + 1]
    x[t + 1 :] -= change
    return float(abs(after - before).max())
