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
        for a, b in zip(before[i], after[i], strict=True)
    )


@answers.correct
def chosen_by_position(f, x, t):
    future = np.arange(len(x))[:, None] > t
    change = f(np.where(future, 1 - 2 * x, x)) - f(x)
    return float(np.where(future, 0.0, np.abs(change)).max())


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


@answers.also("last_position_only")
def row_t(f, x, t):
    return max(difference(f, x, with_rows(x, future(x, t)))[t].tolist())


@answers.also("all_rows_compared")
def no_slice(f, x, t):
    return np.amax(difference(f, x, with_rows(x, future(x, t))))


@answers.also("future_compared")
def rows_behind_t(f, x, t):
    changed = with_rows(x, future(x, t))
    return np.amax(np.abs(f(x)[t + 1 :] - f(changed)[t + 1 :]))


@answers.also("past_changed")
def rows_up_to_t_changed(f, x, t):
    return np.amax(difference(f, x, with_rows(x, range(t + 1)))[: t + 1])


@answers.also("present_changed")
def rows_from_t_changed(f, x, t):
    return np.amax(difference(f, x, with_rows(x, range(t, len(x))))[: t + 1])


@answers.also("present_left_out")
def rows_before_t(f, x, t):
    return np.amax(difference(f, x, with_rows(x, future(x, t)))[:t])


@answers.also("future_begins_with_the_present")
def one_row_too_early(f, x, t):
    return np.amax(difference(f, x, with_rows(x, range(t, len(x))))[:t])


@answers.also("every_row_changed")
def another_sequence(f, x, t):
    return np.amax(difference(f, x, 1 - 2 * x)[: t + 1])


@answers.also("last_row_changed_only")
def last_token(f, x, t):
    return np.amax(difference(f, x, with_rows(x, [-1]))[: t + 1])


@answers.also("second_name_for_x")
def rows_of_x_themselves(f, x, t):
    for row in x[t + 1 :]:
        row[...] = 1 - 2 * row
    return 0.0 * np.amax(f(x))


@answers.also("x_changed_in_place")
def rows_of_x_after_f(f, x, t):
    before = np.array(f(x))
    np.subtract(1, 2 * x[t + 1 :], out=x[t + 1 :])
    return np.amax(np.abs(before - f(x))[: t + 1])


@answers.also("largest_rise")
def without_abs(f, x, t):
    before, after = f(x)[: t + 1], f(with_rows(x, future(x, t)))[: t + 1]
    return max(float(a - b) for a, b in zip(after.flat, before.flat, strict=True))


@answers.also("largest_fall")
def lowest_rise_turned_round(f, x, t):
    before, after = f(x)[: t + 1], f(with_rows(x, future(x, t)))[: t + 1]
    return -min(float(a - b) for a, b in zip(after.flat, before.flat, strict=True))


@answers.also("mean_change")
def average(f, x, t):
    return np.average(difference(f, x, with_rows(x, future(x, t)))[: t + 1])


@answers.also("future_negated")
def other_sign(f, x, t):
    return np.amax(difference(f, x, with_rows(x, future(x, t), np.negative))[: t + 1])


@answers.also("future_set_to_zero")
def zeros_written_over(f, x, t):
    return np.amax(difference(f, x, with_rows(x, future(x, t), lambda z: 0))[: t + 1])


@answers.also("future_cut_off")
def shorter_sequence(f, x, t):
    past = f(np.array(x[: t + 1]))
    return np.amax(np.abs(f(x)[: len(past)] - past))


@answers.also("whether_it_leaks")
def any_difference(f, x, t):
    past = difference(f, x, with_rows(x, future(x, t)))[: t + 1]
    return bool((past > 1e-8).any())


@answers.other
def nothing_ever(f, x, t):
    return 0.0


@answers.other
def length_of_the_change(f, x, t):
    return np.linalg.norm(difference(f, x, with_rows(x, future(x, t)))[: t + 1])


@answers.other
def share_of_the_size(f, x, t):
    past = difference(f, x, with_rows(x, future(x, t)))[: t + 1]
    return np.amax(past / np.abs(f(x))[: t + 1])


@answers.other
def one_added_to_the_future(f, x, t):
    changed = with_rows(x, future(x, t), lambda z: z + 1)
    return np.amax(difference(f, x, changed)[: t + 1])


@answers.other
def change_of_each_row(f, x, t):
    return difference(f, x, with_rows(x, future(x, t)))[: t + 1].max(axis=1)


@answers.other
def next_row_changed_only(f, x, t):
    rows = range(t + 1, min(t + 2, len(x)))
    return np.amax(difference(f, x, with_rows(x, rows))[: t + 1])
