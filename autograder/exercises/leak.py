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


exercise.edits(
    """
last_position_only: past = f(changed)[t] - f(x)[t]
  Your number is the change of row t alone.
  ? Which rows of the result belong to the past?
  # The last position is the one whose output is used next, so it is checked.
first_position_only: past = f(changed)[0] - f(x)[0]
  Your number is the change of row 0 alone.
  # The first row sees least, and is checked because it is the clearest.
all_rows_compared: past = f(changed) - f(x)
  Your number is the change of the whole result, future rows included.
  ? Which rows of the result may change when the future does?
  # np.abs(f(changed) - f(x)).max() is the first thing that comes to mind.
future_compared: past = f(changed)[t + 1:] - f(x)[t + 1:]
  Your number is the change of the future rows of the result.
  ? Which rows must not depend on the future: those up to t, or those behind it?
  # The slice of the input, t + 1 and on, is used for the result as well.
present_left_out: past = f(changed)[:t] - f(x)[:t]
  Your number leaves row t of the result out.
  ? Which is the last row that [: t] gives?
  # [: t] is taken for all rows up to t.
past_changed: changed = np.concatenate([1 - 2 * x[:t + 1], x[t + 1:]])
  Your number is the effect of changing rows 0 … t of x.
  ? Which rows of x does the docstring change?
  # [: t + 1] and [t + 1 :] are exchanged in the input.
present_changed: changed = np.concatenate([x[:t], 1 - 2 * x[t:]])
  Your number counts a change of row t of x as a change of the future.
  ? With which row does the future begin?
  # x[t:] is taken for what comes after t.
future_begins_too_late: changed = np.concatenate([x[:t + 2], 1 - 2 * x[t + 2:]])
  Your number leaves row t + 1 of x as it is.
  # t + 1 is counted on once more, as if t were a number of rows.
every_row_changed: changed = 1 - 2 * x
  Your number is the effect of changing every row of x.
  ? If a row of the result changes, how do you know that the future did it?
  # f is tried on another sequence altogether.
last_row_changed_only: changed = np.concatenate([x[:-1], 1 - 2 * x[-1:]])
  Your number is the effect of changing the last row of x only.
  ? What if a row of the result sees the row behind it, and no further?
  # Tests of causality often change the last token: x[-1] is short.
next_row_changed_only:
  | changed = np.concatenate([x[:t + 1], 1 - 2 * x[t + 1:t + 2], x[t + 2:]])
  Your number is the effect of changing row t + 1 of x only.
  ? What if a row of the result sees the end of x, and not the next row?
  # The nearest future is taken for the whole.
next_row_needed:
  | changed = … ->
  :     changed = x.copy()
  :     changed[t + 1] = 1 - 2 * x[t + 1]
  Your number is the effect of changing row t + 1 of x only, and your call raises an
    error where there is none.
  ? How many rows has the future, at most and at least?
  # x[t + 1] is one row, and must be there.
future_begins_with_the_present: t + 1 => t
  Your number is the leak at t − 1.
  ? To which part does the docstring count row t, to the past or to the future?
  # x[:t] and x[t:] are two halves that fit, and are used throughout.
present_one_too_late: t + 1 => t + 2
  Your number is the leak at t + 1.
  ? To which part does the docstring count row t + 1, to the past or to the future?
  # t is taken for a number counted from 1, or 1 is added to t twice.
future_negated: 1 - 2 * x -> -x
  Your number is the effect of making −z of each z.
  ? What does the docstring make of z = 3?
  # 1 − 2z is read as (1 − 2)z, or the sign is thought to be change enough.
future_set_to_zero: 1 - 2 * x -> 0 * x
  Your number is the effect of making 0 of each z.
  # To take a token away one usually writes zeros over it.
future_one_minus_z: 1 - 2 * x -> 1 - x
  Your number is the effect of making 1 − z of each z.
  # 1 − z exchanges 0 and 1, as in a mask.
future_turned_round: 1 - 2 * x[t + 1:] -> 2 * x[t + 1:] - 1
  Your number is the effect of making 2z − 1 of each z.
  # 2z − 1 takes 0 … 1 to −1 … 1, and is the more familiar of the two.
future_times_minus_two: 1 - 2 * x -> -2 * x
  Your number is the effect of making −2z of each z.
  # x *= -2 is written down, and the 1 is forgotten.
one_added_to_the_future: 1 - 2 * x -> 1 + x
  Your number is the effect of making z + 1 of each z.
  # A small push is what most tests of causality give.
future_in_reverse: 1 - 2 * x[t + 1:] -> x[t + 1:][::-1]
  Your number is the effect of turning the order of the rows round.
  # Another future is made of the same tokens.
future_cut_off: changed = x[:t + 1]
  Your number is the effect of cutting the future off.
  ? What does the docstring do to the future of x: does it stay as long?
  # f(x[: t + 1]) must give the same rows if nothing leaks, and is a good test.
compared_with_x: f(x) -> x
  Your number is how far f's result is from x itself.
  ? Which two results does the docstring compare?
  # x is the sequence before the change, and f(x) is forgotten.
compared_with_nothing: past = f(changed)[:t + 1]
  Your number is the size of a single result of f.
  # f(changed) is taken for the change.
as_many_columns_as_x: past = (f(changed) - f(x))[:t + 1, :x.shape[1]]
  Your number leaves out columns of the result beyond those that x has.
  ? How wide may a result of f be?
  # A loop over the columns takes their number from x.
largest_rise: np.abs(past).max() -> past.max()
  Your number is the largest rise: where all numbers fall it is negative.
  ? Is a fall by 8 a smaller leak than a rise by 1?
  # (f(changed) - f(x)).max() lacks the abs.
absolute_value_too_late: np.abs(past).max() -> abs(past.max())
  Your number is the absolute value of the largest difference, not the largest absolute
    value.
  ? Of the differences −20 and 10, which one does max() pick?
  # abs(a.max()) for np.abs(a).max(): the same words in another order.
absolute_value_of_the_fall: np.abs(past).max() -> abs(past.min())
  Your number is the absolute value of the lowest difference, not the largest absolute
    value.
  ? Of the differences −10 and 20, which one does min() pick?
  # With f(x) - f(changed) under a max, this is abs(a.max()).
largest_fall: np.abs(past).max() -> -past.min()
  Your number is the largest fall: where all numbers rise it is negative.
  ? Is a rise by 8 a smaller leak than a fall by 1?
  # (f(x) - f(changed)).max() lacks the abs.
mean_change: max -> mean
  Your number is the mean of the absolute changes.
  ? What becomes of the mean, if one row of a thousand leaks?
  # Errors are usually given as a mean.
sum_of_changes: max -> sum
  Your number is the sum of the absolute changes.
  ? Which of the changes does the docstring ask for?
  # sum() is written where max() is meant.
length_of_the_change: np.abs(past).max() -> np.linalg.norm(past)
  Your number is the length of all changes taken as one vector.
  # np.linalg.norm is how far apart two arrays usually are.
largest_square: np.abs(past).max() -> (past ** 2).max()
  Your number is the square of the largest change.
  ? Which unit has a change, and which its square?
  # Squares are a way to be rid of the sign.
mean_square: np.abs(past).max() -> (past ** 2).mean()
  Your number is the mean of the squared changes.
  ? Which of the changes does the docstring ask for?
  # The mean squared error is the usual distance of two results.
share_of_the_size: past = f(changed)[:t + 1] / f(x)[:t + 1] - 1
  Your number is the largest change as a share of the result's own size.
  ? In which unit does the docstring want the change?
  # Errors are often given relative to the number.
a_number_for_each_row: return np.abs(past).max(axis=-1)
  Your result holds a number for each row.
  ? How many numbers does the docstring promise?
  # max(axis=1) stops half of the way.
whether_it_leaks: return not np.allclose(past, 0.0)
  Your result is True or False: True if something leaks.
  ? What does the docstring promise: whether, or how much?
  # Tests of causality end in np.allclose.
whether_nothing_leaks: return np.allclose(past, 0.0)
  Your result is True or False: True if nothing leaks.
  # np.allclose(f(changed), f(x)) is what a test of causality asserts.
small_leaks_are_none: np.abs(past) -> np.where(np.abs(past) < 0.001, 0.0, np.abs(past))
  Your number is 0 for a leak that is small.
  ? From which size on is a change a leak, says the docstring?
  # np.allclose, or a threshold, keeps rounding out, and small leaks as well.
second_name_for_x:
  | changed = … ->
  :     changed = x
  :     changed[t + 1:] = 1 - 2 * x[t + 1:]
  Your call changes the caller's x, and f gets the changed sequence twice.
  ? After `changed = x`, how many arrays are there?
  # changed = x gives the array a second name, not a copy.
x_changed_back:
  | changed = …
  : past = … ->
  :     x[t + 1:] = 1 - 2 * x[t + 1:]
  :     after = f(x)[:t + 1]
  :     x[t + 1:] = (1 - x[t + 1:]) / 2
  :     past = after - f(x)[:t + 1]
  Your call changes the caller's x and changes it back: after rounding, some numbers
    are no longer what they were.
  ? Does a number come back to the last digit where a computer changes it and undoes
    the change?
  # One array is enough if the change is undone, and 1 − 2z can be solved for z.
x_changed_in_place:
  | changed = …
  : past = … ->
  :     before = f(x)[:t + 1]
  :     x[t + 1:] = 1 - 2 * x[t + 1:]
  :     past = f(x)[:t + 1] - before
  Your call changes the caller's x, after f has seen it as it was.
  ? Does x[t + 1 :] = … make a new array, or write into the caller's?
  # f(x) is kept first, and then x itself is changed.
""",
)
