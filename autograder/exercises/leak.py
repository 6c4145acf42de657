"""Cases and misconceptions of ``leak``."""

import numpy as np

from autograder import Exercise
from course_lib.masks import leak

exercise = Exercise(
    leak,
    lesson="04_masking",
    minutes=15,
    difficulty=2,
)


@exercise.spec
def spec(f, x, t):
    changed = np.array(x, dtype=float)
    for i in range(t + 1, len(x)):
        for c in range(x.shape[1]):
            changed[i, c] = 1 - 2 * float(x[i, c])
    before, after = f(np.array(x, dtype=float)), f(changed)
    largest = 0.0
    for i in range(t + 1):
        for c in range(before.shape[1]):
            largest = max(largest, abs(float(after[i, c]) - float(before[i, c])))
    return largest


# What is tested for leaks. Each gives a new array, so that nothing that an answer does
# to x afterwards reaches a result it has already.


def running_sum(x):
    return np.cumsum(x, axis=0)


def sum_of_all_added(x):
    return x + np.sum(x, axis=0)


def sum_of_all_taken_off(x):
    return x - np.sum(x, axis=0)


def next_row_added(x):
    return x + np.concatenate([x[1:], 0 * x[:1]])


def last_row_added_to_the_first(x):
    return np.concatenate([x[:1] + x[-1:], x[1:]])


def sizes_summed(x):
    return x + np.sum(np.abs(x), axis=0)


def to_six_numbers(x):
    return np.cumsum(x, axis=0) @ np.arange(6.0 * x.shape[1]).reshape(-1, 6)


def self_attention(x):
    powers = np.exp(x @ x.T)
    return powers @ x / np.sum(powers, axis=1, keepdims=True)


def causal_self_attention(x):
    powers = np.tril(np.exp(x @ x.T))
    return powers @ x / np.sum(powers, axis=1, keepdims=True)


@exercise.usual
def usual(rng):
    return self_attention, rng.normal(size=(5, 4)), 2


@exercise.case(
    "If the sum of all rows is added to each row, a future (3, 1) lets 8 through"
)
def small_example_by_hand(student, rng):
    # 3 becomes −5 and 1 becomes −1: the sums fall by 8 and by 2.
    x = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 1.0]])
    student.expect(student(sum_of_all_added, x, 1), 8.0)
    student.agrees(sum_of_all_added, rng.uniform(1, 2, size=(3, 2)), 1)


@exercise.case("Functions of the past alone let nothing through", pays_alone=False)
def nothing_leaks(student, rng):
    x = rng.normal(size=(5, 4))
    for f, t in ((running_sum, 2), (running_sum, 0), (causal_self_attention, 1)):
        student.expect(student(f, x, t), 0.0)
    student.expect(student(to_six_numbers, x, 3), 0.0)


@exercise.case("It is enough that the first row sees the future")
def one_row_is_enough(student, rng):
    student.agrees(last_row_added_to_the_first, rng.normal(size=(6, 3)), 3)


@exercise.case("It is enough that the present sees the row behind it")
def present_row_counts(student, rng):
    student.agrees(next_row_added, rng.normal(size=(6, 3)), 2)


@exercise.case("Attention without a mask leaks")
def attention_without_a_mask(student, rng):
    student.agrees(self_attention, rng.normal(size=(5, 4)), 2)


@exercise.case(
    "At the last position there is no future, and nothing leaks", pays_alone=False
)
def no_future(student, rng):
    x = rng.normal(size=(4, 3))
    student.expect(student(sum_of_all_added, x, 3), 0.0)


@exercise.case("A change downwards counts like one upwards")
def both_directions(student, rng):
    x = rng.uniform(1, 2, size=(5, 3))  # all sums fall
    student.agrees(sum_of_all_added, x, 1)
    student.agrees(sum_of_all_taken_off, x, 1)


@exercise.case("A function that sees only how far from 0 numbers are", visible=False)
def distances_from_zero(student, rng):
    student.agrees(sizes_summed, rng.normal(size=(5, 3)), 0)


@exercise.case("The sequence x stays as it is")
def arguments_stay(student, rng):
    student.leaves_unchanged(running_sum, rng.normal(size=(4, 2)), 1)


def changed_from(x, first):
    """Change all numbers from a row on, as the docstring says."""
    return np.concatenate([x[:first], 1 - 2 * x[first:]])


@exercise.misconception(
    "Your number is the change of row t alone.",
    "Which rows of the result belong to the past?",
    why="The last position is the one whose output is used next, so it is checked.",
)
def last_position_only(f, x, t):
    return float(np.abs(f(changed_from(x, t + 1))[t] - f(x)[t]).max())


@exercise.misconception(
    "Your number is the change of the whole result, future rows included.",
    "Which rows of the result may change when the future does?",
    why="np.abs(f(changed) - f(x)).max() is the first thing that comes to mind.",
)
def all_rows_compared(f, x, t):
    return float(np.abs(f(changed_from(x, t + 1)) - f(x)).max())


@exercise.misconception(
    "Your number is the change of the future rows of the result.",
    "Which rows must not depend on the future: those up to t, or those behind it?",
    why="The slice of the input, t + 1 and on, is used for the result as well.",
)
def future_compared(f, x, t):
    return float(np.abs(f(changed_from(x, t + 1)) - f(x))[t + 1 :].max())


@exercise.misconception(
    "Your number is what the past of the result makes of a changed past of x.",
    "Which rows of x does the docstring change?",
    why="[: t + 1] and [t + 1 :] are exchanged in the input.",
)
def past_changed(f, x, t):
    changed = np.concatenate([1 - 2 * x[: t + 1], x[t + 1 :]])
    return float(np.abs(f(changed) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number counts a change of row t of x as a change of the future.",
    "With which row does the future begin?",
    why="x[t:] is taken for what comes after t.",
)
def present_changed(f, x, t):
    return float(np.abs(f(changed_from(x, t)) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number leaves row t of the result out.",
    "Which is the last row that [: t] gives?",
    why="[: t] is taken for all rows up to t.",
)
def present_left_out(f, x, t):
    return float(np.abs(f(changed_from(x, t + 1)) - f(x))[:t].max())


@exercise.misconception(
    "Your number is the leak at t − 1: you change row t of x, and leave it out of the "
    "result.",
    "To which part does the docstring count row t, to the past or to the future?",
    why="x[:t] and x[t:] are two halves that fit, and are used throughout.",
)
def future_begins_with_the_present(f, x, t):
    return float(np.abs(f(changed_from(x, t)) - f(x))[:t].max())


@exercise.misconception(
    "Your number is the effect of changing every row of x.",
    "If a row of the result changes, how do you know that the future did it?",
    why="f is tried on another sequence altogether.",
)
def every_row_changed(f, x, t):
    return float(np.abs(f(changed_from(x, 0)) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number is the effect of changing the last row of x only.",
    "What if a row of the result sees the row behind it, and no further?",
    why="Tests of causality often change the last token: x[-1] is short.",
)
def last_row_changed_only(f, x, t):
    return float(np.abs(f(changed_from(x, len(x) - 1)) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number is always 0, and the caller's x is changed: f sees the changed "
    "sequence twice.",
    "After `changed = x`, how many arrays are there?",
    why="changed = x gives the array a second name, not a copy.",
)
def second_name_for_x(f, x, t):
    changed = x
    changed[t + 1 :] = 1 - 2 * changed[t + 1 :]
    return float(np.abs(f(changed) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number is right, and the caller's x is changed afterwards.",
    "Does x[t + 1 :] = … make a new array, or write into the caller's?",
    why="f(x) is kept first, and then x itself is changed.",
)
def x_changed_in_place(f, x, t):
    before = f(x)
    x[t + 1 :] = 1 - 2 * x[t + 1 :]
    return float(np.abs(f(x) - before)[: t + 1].max())


@exercise.misconception(
    "Your number is the largest rise: where all numbers fall it is negative.",
    "Is a fall by 8 a smaller leak than a rise by 1?",
    why="(f(changed) - f(x)).max() lacks the abs.",
)
def largest_rise(f, x, t):
    return float((f(changed_from(x, t + 1)) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number is the largest fall: where all numbers rise it is negative.",
    "Is a rise by 8 a smaller leak than a fall by 1?",
    why="(f(x) - f(changed)).max() lacks the abs.",
)
def largest_fall(f, x, t):
    return float((f(x) - f(changed_from(x, t + 1)))[: t + 1].max())


@exercise.misconception(
    "Your number is the mean of the absolute changes.",
    "What becomes of the mean, if one row of a thousand leaks?",
    why="Errors are usually given as a mean.",
)
def mean_change(f, x, t):
    return float(np.abs(f(changed_from(x, t + 1)) - f(x))[: t + 1].mean())


@exercise.misconception(
    "Your number is the effect of changing each future z to −z.",
    "What does the docstring make of z = 3?",
    why="1 − 2z is read as (1 − 2)z, or the sign is thought to be change enough.",
)
def future_negated(f, x, t):
    changed = np.concatenate([x[: t + 1], -x[t + 1 :]])
    return float(np.abs(f(changed) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number is the effect of changing each future z to 0.",
    "What does the docstring make of z = 3?",
    why="To take a token away one usually writes zeros over it.",
)
def future_set_to_zero(f, x, t):
    changed = np.concatenate([x[: t + 1], 0 * x[t + 1 :]])
    return float(np.abs(f(changed) - f(x))[: t + 1].max())


@exercise.misconception(
    "Your number is the effect of cutting the future off.",
    "What does the docstring do to the future of x: does it stay as long?",
    why="f(x[: t + 1]) must give the same rows if nothing leaks, and is a good test.",
)
def future_cut_off(f, x, t):
    return float(np.abs(f(x[: t + 1]) - f(x)[: t + 1]).max())


@exercise.misconception(
    "Your result is True or False: whether something leaks.",
    "What does the docstring promise: whether, or how much?",
    why="Tests of causality end in np.allclose.",
)
def whether_it_leaks(f, x, t):
    changed = changed_from(x, t + 1)
    return not np.allclose(f(changed)[: t + 1], f(x)[: t + 1])
