"""Cases and misconceptions of ``leak``."""

import numpy as np

from autograder import Exercise
from course_lib.masks import leak

exercise = Exercise(
    leak,
    lesson="04_masking",
    minutes=12,
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
        for one, other in zip(np.ravel(before[i]), np.ravel(after[i]), strict=True):
            largest = max(largest, abs(float(other) - float(one)))
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


def leak_beside_running_sums(x):
    return np.concatenate([running_sum(x), sum_of_all_added(x)], axis=1)


def one_number_for_each_row(x):
    return np.sum(sum_of_all_added(x), axis=1)


def sum_of_all_hinted_at(x):
    return x + 1e-5 * np.sum(x, axis=0)


def self_attention(x):
    powers = np.exp(x @ x.T)
    return powers @ x / np.sum(powers, axis=1, keepdims=True)


def self_attention_turned_round(x):
    return -self_attention(x)


def causal_self_attention(x):
    powers = np.tril(np.exp(x @ x.T))
    return powers @ x / np.sum(powers, axis=1, keepdims=True)


@exercise.usual
def usual(rng):
    return self_attention, rng.normal(size=(5, 4)), 2


@exercise.case(
    "If the sum of all rows is added to each row, a future (3, 1) lets 8 through",
    weight=0.5,
)
def small_example_by_hand(student, rng):
    # 3 becomes −5 and 1 becomes −1: the sums fall by 8 and by 2.
    x = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 1.0]])
    student.expect(student(sum_of_all_added, x, 1), 8.0)
    student.agrees(sum_of_all_added, rng.uniform(1, 2, size=(3, 2)), 1)


@exercise.case(
    "Functions of the past alone let nothing through", pays_alone=False, weight=0.5
)
def nothing_leaks(student, rng):
    x = rng.normal(size=(5, 4))
    for f, t in ((running_sum, 2), (running_sum, 0), (causal_self_attention, 1)):
        student.expect(student(f, x, t), 0.0)
    student.expect(student(to_six_numbers, x, 3), 0.0)


@exercise.case("It is enough that the first row sees the future", weight=1.5)
def one_row_is_enough(student, rng):
    student.agrees(last_row_added_to_the_first, rng.normal(size=(6, 3)), 3)


@exercise.case("It is enough that the present sees the row behind it", weight=1.5)
def present_row_counts(student, rng):
    student.agrees(next_row_added, rng.normal(size=(6, 3)), 2)


@exercise.case("Attention without a mask leaks", weight=2.5)
def attention_without_a_mask(student, rng):
    x = rng.normal(size=(5, 4))
    student.agrees(self_attention, x, 2)
    student.agrees(self_attention_turned_round, x, 2)


@exercise.case(
    "At the last position there is no future, and nothing leaks",
    pays_alone=False,
    weight=0.25,
)
def no_future(student, rng):
    x = rng.normal(size=(4, 3))
    student.expect(student(sum_of_all_added, x, 3), 0.0)


@exercise.case("A change downwards counts like one upwards")
def both_directions(student, rng):
    x = rng.uniform(1, 2, size=(5, 3))  # all sums fall
    student.agrees(sum_of_all_added, x, 1)
    student.agrees(sum_of_all_taken_off, x, 1)


@exercise.case(
    "Results may be wider than x, or hold one number for each row", weight=0.5
)
def results_of_other_shapes(student, rng):
    x = rng.normal(size=(4, 3))
    student.agrees(leak_beside_running_sums, x, 1)
    student.agrees(one_number_for_each_row, x, 1)


@exercise.case("A leak that is small is not 0", weight=0.25)
def small_leak(student, rng):
    student.agrees(sum_of_all_hinted_at, rng.uniform(2, 3, size=(4, 3)), 1)


@exercise.case(
    "A function that sees only how far from 0 numbers are", visible=False, weight=0.25
)
def distances_from_zero(student, rng):
    student.agrees(sizes_summed, rng.normal(size=(5, 3)), 0)


@exercise.case("The sequence x is not modified", weight=0.25)
def arguments_stay(student, rng):
    student.leaves_unchanged(running_sum, rng.normal(size=(4, 2)), 1)
    # Beside the 1 of 1 − 2z, small numbers lose digits.
    student.leaves_unchanged(running_sum, rng.normal(size=(6, 3)) / 1000, 1)


@exercise.variants
def variants(
    f,
    x,
    t,
    *,
    changed="the future",
    z_becomes="1 − 2z",
    compared="the past",
    compared_with="f(x)",
    columns="all",
    measure="largest size",
    small="counts",
    overwritten="nothing",
):
    if compared in ("the past at t − 1", "the past at t + 1"):
        t += -1 if compared.endswith("t − 1") else 1
        compared = "the past"
    new = {
        "1 − 2z": lambda z: 1 - 2 * z,
        "2z − 1": lambda z: 2 * z - 1,
        "1 − z": lambda z: 1 - z,
        "−2z": lambda z: -2 * z,
        "−z": lambda z: -z,
        "0": lambda z: 0 * z,
        "z + 1": lambda z: z + 1,
        "the last row first": lambda z: z[::-1].copy(),
    }.get(z_becomes)
    rows = {
        "the future": slice(t + 1, None),
        "the future but its first row": slice(t + 2, None),
        "the present too": slice(t, None),
        "the past": slice(0, t + 1),
        "everything": slice(None),
        "the last row": slice(-1, None),
        "the next row": slice(t + 1, t + 2),
        "the next row, which is there": t + 1,
    }[changed]
    other = x if overwritten == "x before f" else x.copy()
    if new:
        other[rows] = new(other[rows])
    before = {"x": x, "nothing": 0.0}.get(compared_with)
    before = f(x) if before is None else before
    if z_becomes == "cut off":
        after = f(x[: t + 1])
        before = before if np.ndim(before) == 0 else before[: len(after)]
    else:
        after = f(other)
    rows = {
        "the past": slice(0, t + 1),
        "everything": slice(None),
        "the future": slice(t + 1, None),
        "the past but row t": slice(0, t),
        "row t": t,
        "row 0": 0,
    }[compared]
    change = (after - before)[rows]
    if columns == "those of x":
        change = change[:, : x.shape[1]]
    if overwritten == "x after f":
        x[...] = other
    elif overwritten == "x, and changed back":
        x[t + 1 :] = (1 - (1 - 2 * x[t + 1 :])) / 2
    if measure == "whether":
        return not np.allclose(change, 0.0)
    if measure == "whether not":
        return bool(np.allclose(change, 0.0))
    if measure == "of each row":
        return np.abs(change).max(axis=-1)
    size = {
        "largest size": lambda: np.abs(change).max(),
        "rise": lambda: change.max(),
        "fall": lambda: -change.min(),
        "mean": lambda: np.abs(change).mean(),
        "sum": lambda: np.abs(change).sum(),
        "length": lambda: np.linalg.norm(change.ravel()),
        "square": lambda: (change**2).max(),
        "mean square": lambda: (change**2).mean(),
        "share": lambda: (np.abs(change) / np.abs(before[rows])).max(),
    }[measure]()
    return 0.0 if small == "is nothing" and size < 1e-3 else float(size)


exercise.option(
    "last_position_only",
    "Your number is the change of row t alone.",
    "Which rows of the result belong to the past?",
    why="The last position is the one whose output is used next, so it is checked.",
    compared="row t",
)
exercise.option(
    "first_position_only",
    "Your number is the change of row 0 alone.",
    "Which rows of the result belong to the past?",
    why="The first row sees least, and is checked because it is the clearest.",
    compared="row 0",
)
exercise.option(
    "all_rows_compared",
    "Your number is the change of the whole result, future rows included.",
    "Which rows of the result may change when the future does?",
    why="np.abs(f(changed) - f(x)).max() is the first thing that comes to mind.",
    compared="everything",
)
exercise.option(
    "future_compared",
    "Your number is the change of the future rows of the result.",
    "Which rows must not depend on the future: those up to t, or those behind it?",
    why="The slice of the input, t + 1 and on, is used for the result as well.",
    compared="the future",
)
exercise.option(
    "present_left_out",
    "Your number leaves row t of the result out.",
    "Which is the last row that [: t] gives?",
    why="[: t] is taken for all rows up to t.",
    compared="the past but row t",
)
exercise.option(
    "past_changed",
    "Your number is the effect of changing rows 0 … t of x.",
    "Which rows of x does the docstring change?",
    why="[: t + 1] and [t + 1 :] are exchanged in the input.",
    changed="the past",
)
exercise.option(
    "present_changed",
    "Your number counts a change of row t of x as a change of the future.",
    "With which row does the future begin?",
    why="x[t:] is taken for what comes after t.",
    changed="the present too",
)
exercise.option(
    "future_begins_too_late",
    "Your number leaves row t + 1 of x as it is.",
    "With which row does the future begin?",
    why="t + 1 is counted on once more, as if t were a number of rows.",
    changed="the future but its first row",
)
exercise.option(
    "every_row_changed",
    "Your number is the effect of changing every row of x.",
    "If a row of the result changes, how do you know that the future did it?",
    why="f is tried on another sequence altogether.",
    changed="everything",
)
exercise.option(
    "last_row_changed_only",
    "Your number is the effect of changing the last row of x only.",
    "What if a row of the result sees the row behind it, and no further?",
    why="Tests of causality often change the last token: x[-1] is short.",
    changed="the last row",
)
exercise.option(
    "next_row_changed_only",
    "Your number is the effect of changing row t + 1 of x only.",
    "What if a row of the result sees the end of x, and not the next row?",
    why="The nearest future is taken for the whole.",
    changed="the next row",
)
exercise.option(
    "next_row_needed",
    "Your number is the effect of changing row t + 1 of x only, and your call raises "
    "an error where there is none.",
    "How many rows has the future, at most and at least?",
    why="x[t + 1] is one row, and must be there.",
    changed="the next row, which is there",
)
exercise.option(
    "future_begins_with_the_present",
    "Your number is the leak at t − 1.",
    "To which part does the docstring count row t, to the past or to the future?",
    why="x[:t] and x[t:] are two halves that fit, and are used throughout.",
    compared="the past at t − 1",
)
exercise.option(
    "present_one_too_late",
    "Your number is the leak at t + 1.",
    "To which part does the docstring count row t + 1, to the past or to the future?",
    why="t is taken for a number counted from 1, or 1 is added to t twice.",
    compared="the past at t + 1",
)
exercise.option(
    "future_negated",
    "Your number is the effect of making −z of each z.",
    "What does the docstring make of z = 3?",
    why="1 − 2z is read as (1 − 2)z, or the sign is thought to be change enough.",
    z_becomes="−z",
)
exercise.option(
    "future_set_to_zero",
    "Your number is the effect of making 0 of each z.",
    "What does the docstring make of z = 3?",
    why="To take a token away one usually writes zeros over it.",
    z_becomes="0",
)
exercise.option(
    "future_one_minus_z",
    "Your number is the effect of making 1 − z of each z.",
    "What does the docstring make of z = 3?",
    why="1 − z exchanges 0 and 1, as in a mask.",
    z_becomes="1 − z",
)
exercise.option(
    "future_turned_round",
    "Your number is the effect of making 2z − 1 of each z.",
    "What does the docstring make of z = 3?",
    why="2z − 1 takes 0 … 1 to −1 … 1, and is the more familiar of the two.",
    z_becomes="2z − 1",
)
exercise.option(
    "future_times_minus_two",
    "Your number is the effect of making −2z of each z.",
    "What does the docstring make of z = 3?",
    why="x *= -2 is written down, and the 1 is forgotten.",
    z_becomes="−2z",
)
exercise.option(
    "one_added_to_the_future",
    "Your number is the effect of making z + 1 of each z.",
    "What does the docstring make of z = 3?",
    why="A small push is what most tests of causality give.",
    z_becomes="z + 1",
)
exercise.option(
    "future_in_reverse",
    "Your number is the effect of turning the order of the rows round.",
    "What does the docstring make of z = 3?",
    why="Another future is made of the same tokens.",
    z_becomes="the last row first",
)
exercise.option(
    "future_cut_off",
    "Your number is the effect of cutting the future off.",
    "What does the docstring do to the future of x: does it stay as long?",
    why="f(x[: t + 1]) must give the same rows if nothing leaks, and is a good test.",
    z_becomes="cut off",
)
exercise.option(
    "compared_with_x",
    "Your number is how far f's result is from x itself.",
    "Which two results does the docstring compare?",
    why="x is the sequence before the change, and f(x) is forgotten.",
    compared_with="x",
)
exercise.option(
    "compared_with_nothing",
    "Your number is the size of a single result of f.",
    "Which two results does the docstring compare?",
    why="f(changed) is taken for the change.",
    compared_with="nothing",
)
exercise.option(
    "as_many_columns_as_x",
    "Your number leaves out columns of the result beyond those that x has.",
    "How wide may a result of f be?",
    why="A loop over the columns takes their number from x.",
    columns="those of x",
)
exercise.option(
    "largest_rise",
    "Your number is the largest rise: where all numbers fall it is negative.",
    "Is a fall by 8 a smaller leak than a rise by 1?",
    why="(f(changed) - f(x)).max() lacks the abs.",
    measure="rise",
)
exercise.option(
    "largest_fall",
    "Your number is the largest fall: where all numbers rise it is negative.",
    "Is a rise by 8 a smaller leak than a fall by 1?",
    why="(f(x) - f(changed)).max() lacks the abs.",
    measure="fall",
)
exercise.option(
    "mean_change",
    "Your number is the mean of the absolute changes.",
    "What becomes of the mean, if one row of a thousand leaks?",
    why="Errors are usually given as a mean.",
    measure="mean",
)
exercise.option(
    "sum_of_changes",
    "Your number is the sum of the absolute changes.",
    "Which of the changes does the docstring ask for?",
    why="sum() is written where max() is meant.",
    measure="sum",
)
exercise.option(
    "length_of_the_change",
    "Your number is the length of all changes taken as one vector.",
    "Which of the changes does the docstring ask for?",
    why="np.linalg.norm is how far apart two arrays usually are.",
    measure="length",
)
exercise.option(
    "largest_square",
    "Your number is the square of the largest change.",
    "Which unit has a change, and which its square?",
    why="Squares are a way to be rid of the sign.",
    measure="square",
)
exercise.option(
    "mean_square",
    "Your number is the mean of the squared changes.",
    "Which of the changes does the docstring ask for?",
    why="The mean squared error is the usual distance of two results.",
    measure="mean square",
)
exercise.option(
    "share_of_the_size",
    "Your number is the largest change as a share of the result's own size.",
    "In which unit does the docstring want the change?",
    why="Errors are often given relative to the number.",
    measure="share",
)
exercise.option(
    "a_number_for_each_row",
    "Your result holds a number for each row.",
    "How many numbers does the docstring promise?",
    why="max(axis=1) stops half of the way.",
    measure="of each row",
)
exercise.option(
    "whether_it_leaks",
    "Your result is True or False: True if something leaks.",
    "What does the docstring promise: whether, or how much?",
    why="Tests of causality end in np.allclose.",
    measure="whether",
)
exercise.option(
    "whether_nothing_leaks",
    "Your result is True or False: True if nothing leaks.",
    "What does the docstring promise: whether, or how much?",
    why="np.allclose(f(changed), f(x)) is what a test of causality asserts.",
    measure="whether not",
)
exercise.option(
    "small_leaks_are_none",
    "Your number is 0 for a leak that is small.",
    "From which size on is a change a leak, says the docstring?",
    why="np.allclose, or a threshold, keeps rounding out, and small leaks as well.",
    small="is nothing",
)
exercise.option(
    "second_name_for_x",
    "Your call changes the caller's x, and f gets the changed sequence twice.",
    "After `changed = x`, how many arrays are there?",
    why="changed = x gives the array a second name, not a copy.",
    overwritten="x before f",
)
exercise.option(
    "x_changed_back",
    "Your call changes the caller's x and changes it back: after rounding, some "
    "numbers are no longer what they were.",
    "Does a number come back to the last digit where a computer changes it and undoes "
    "the change?",
    why="One array is enough if the change is undone, and 1 − 2z can be solved for z.",
    overwritten="x, and changed back",
)
exercise.option(
    "x_changed_in_place",
    "Your call changes the caller's x, after f has seen it as it was.",
    "Does x[t + 1 :] = … make a new array, or write into the caller's?",
    why="f(x) is kept first, and then x itself is changed.",
    overwritten="x after f",
)
