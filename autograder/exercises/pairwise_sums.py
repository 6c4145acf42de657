"""Cases and misconceptions of ``pairwise_sums``."""

import numpy as np

from autograder import Exercise, families
from course_lib.warm_up import pairwise_sums

exercise = Exercise(pairwise_sums, lesson="00_start_here", minutes=5, difficulty=1)


@exercise.spec
def spec(a, b):
    (n, d), m = a.shape, len(b)
    sums = np.empty((n, m, d))
    for i in range(n):
        for j in range(m):
            for c in range(d):
                sums[i, j, c] = float(a[i, c]) + float(b[j, c])
    return sums


@exercise.usual
def usual(rng):
    return rng.normal(size=(5, 4)), rng.normal(size=(7, 4))


@exercise.case("Two rows in a and three in b give six vectors of size 2")
def small_example_by_hand(student, rng):
    a = np.array([[1.0, 2.0], [5.0, 4.0]])
    b = np.array([[10.0, 0.0], [20.0, 70.0], [40.0, 30.0]])
    expected = np.array(
        [
            [[11.0, 2.0], [21.0, 72.0], [41.0, 32.0]],
            [[15.0, 4.0], [25.0, 74.0], [45.0, 34.0]],
        ]
    )
    student.expect(student(a, b), expected)


@exercise.case("Entry [i, j] is row i of a plus row j of b", weight=2.5)
def each_entry(student, rng):
    student.agrees(rng.normal(size=(5, 4)), rng.normal(size=(7, 4)))


@exercise.case("With equally many rows in a and b, the result still has all pairs")
def as_many_rows_in_both(student, rng):
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = np.array([[10.0, 20.0, 30.0], [-10.0, 0.0, 50.0]])
    student.agrees(a, b)
    student.agrees(*rng.normal(size=(2, 4, 3)))


@exercise.fine_point(
    "If only one of a and b holds integers, the result still has fractions"
)
def whole_numbers_and_fractions(student, rng):
    a, b = np.array([[3, 8, 1]]), np.array([[0.5, 0.25, -0.75], [1.5, 0.0, 0.125]])
    expected = np.array([[[3.5, 8.25, 0.25], [4.5, 8.0, 1.125]]])
    student.expect(student(a, b), expected)
    student.agrees(rng.integers(-9, 10, size=(1, 3)), rng.normal(size=(2, 3)))
    student.agrees(b, a)


@exercise.case(
    "Swapping a and b swaps the two axes of the pairs", visible=False, weight=0.5
)
def swapped_arguments(student, rng):
    a, b = rng.normal(size=(5, 4)), rng.normal(size=(7, 4))
    there, back = student(a, b), student(b, a)
    student.expect(back, np.swapaxes(there, 0, 1))
    student.agrees(b, a)


@exercise.case("One row in b is added to every row of a", visible=False, weight=0.5)
def one_row_in_b(student, rng):
    student.agrees(rng.normal(size=(6, 2)), 100 * rng.normal(size=(1, 2)))


@exercise.case("The rows of a and b are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(5, 4)), rng.normal(size=(7, 4)))


@exercise.right_answer
def loops(a, b):
    n, m = (len(a), len(b))
    sums = np.zeros((n, m, a.shape[1]))
    for i in range(n):
        for j in range(m):
            sums[i, j] = a[i] + b[j]
    return sums


exercise.edits(
    """
axes_swapped:
  | a[:, np.newaxis, :] -> a[np.newaxis, :, :]
  | b[np.newaxis, :, :] -> b[:, np.newaxis, :]
  Your first axis counts the rows of b, and your second those of a.
  ? Which of i and j comes first in [i, j], and whose row does it number?
  # The new axis is put in front of a instead of behind its rows.
added_as_they_are:
  | a[:, np.newaxis, :] -> a
  | b[np.newaxis, :, :] -> b
  Your code adds a and b as they are: nothing gives the pairs an axis of their own.
  ? Which shape could you give to a, so that each of its rows meets every row of b?
  # Broadcasting is hoped to form all pairs by itself.
one_partner_each: return np.array([one + other for one, other in zip(a, b)])
  Your rows are paired one to one, as far as the shorter array goes.
  ? How many partners should each row of a get?
  # zip is the usual way to walk over two lists, and it stops with the shorter.
every_number_with_every_number:
  | a[:, np.newaxis, :] -> a[:, :, np.newaxis, np.newaxis]
  | b[np.newaxis, :, :] -> b
  Your pairs are pairs of single numbers: each of a meets each of b.
  ? What belongs together here, the numbers or the rows?
  # np.add.outer pairs all entries of its arguments, whatever their axes mean.
side_by_side:
  | return np.array([[np.concatenate([one, other]) for other in b] for one in a])
  Your pairs of rows are joined end to end: each vector has 2·d numbers.
  ? How many numbers should the vector at [i, j] have?
  # + joins lists in Python, and np.concatenate joins arrays.
reshaped_into_place:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     (a[np.newaxis, :, :] + b[:, np.newaxis, :]).reshape(len(a), len(b), -1)
  Your vectors stand in the wrong positions: the pairs are listed b first, and
    reshaped after that.
  ? Does reshape move an axis, or does it only cut the same row of numbers again?
  # The wrong shape is mended with reshape where an axis had to move.
""",
)
exercise.edits(
    """
one_list_n_times:
  | sums = [[None] * m] * n
  | sums[i, j] -> sums[i][j]
  | return np.array(sums)
  Your rows of pairs are all the same: each of them holds the last row of a.
  ? Does [row] * n make n rows, or n names for one row?
  # [[None] * m] * n repeats a reference to one list.
rows_of_b_added_up:
  | for j in range(m):
  :     sums[i, j] = a[i] + b[j] ->
  :     one = a[i]
  :     for j in range(m):
  :         one = one + b[j]
  :         sums[i, j] = one
  Your vectors grow along j: each b_j comes on top of the ones before.
  ? With what does the vector at [i, j] begin, before b_j is added?
  # A running total is kept in the inner loop.
as_many_of_b_as_of_a: range(m) -> range(n)
  Your rows of b are counted like those of a: where b has more, zeros are left, and
    where it has fewer, this can raise an error.
  ? How many rows has b, and which loop should know that?
  # range(len(a)) is copied from the outer loop.
""",
    of=loops,
)
exercise.edits(
    """
differences: ] + b -> ] - b
  Your vectors are differences a_i − b_j.
  ? Which operation does the name of the function announce?
  # Pairwise differences, for distances, are the best known use of this pattern.
differences_from_b:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     b[np.newaxis, :, :] - a[:, np.newaxis, :]
  Your vectors are differences b_j − a_i.
sizes_of_differences:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     np.abs(a[:, np.newaxis, :] - b[np.newaxis, :, :])
  Your vectors are the sizes of differences: none of their numbers is below 0.
  # Pairwise distances are the best known use of this pattern.
squared_differences:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     (a[:, np.newaxis, :] - b[np.newaxis, :, :]) ** 2
  Your vectors are squared differences.
  ? What does the docstring say about entry [i, j]?
  # The pattern is familiar from computing distances.
products: ] + b -> ] * b
  Your vectors are products, number by number.
  ? Which operation does the name of the function announce?
  # The outer product is the first example of this pattern in most texts.
means:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     (a[:, np.newaxis, :] + b[np.newaxis, :, :]) / 2
  Your vectors are means of two rows: half as large as sums.
  ? What do 1 and 10 give as a sum?
  # A pair is summed up by its mean, as word vectors often are.
twice_a: a[:, np.newaxis, :] -> 2 * a[:, np.newaxis, :]
  Your vectors hold a_i twice.
  ? How often does a_i occur in the sum of a_i and b_j?
  # A sum that starts from a row of a gets that row added as well.
larger_of_the_two:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     np.maximum(a[:, np.newaxis, :], b[np.newaxis, :, :])
  Your vectors hold the larger of two numbers at each position.
  ? Which operation does the name of the function announce?
  # np.maximum pairs and broadcasts as + does.
""",
)
exercise.edits(
    """
loops_from_one:
  | range(n) -> range(1, n)
  | range(m) -> range(1, m)
  Your first row and your first column of pairs are zeros.
  ? Which number does the first row of an array have in Python?
  # Loops start at 1, as indices do in mathematics, MATLAB and R.
loops_end_too_early:
  | range(n) -> range(n - 1)
  | range(m) -> range(m - 1)
  Your last row and your last column of pairs are zeros.
  ? Which is the last number that range(n) gives?
  # range(len(a) - 1) takes off the one that range leaves out already.
""",
    of=loops,
)
exercise.edits(
    """
long_list_of_pairs:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     (a[:, np.newaxis, :] + b[np.newaxis, :, :]).reshape(len(a) * len(b), -1)
  Your pairs come in one long list: one axis counts them all.
  ? Which two axes does entry [i, j] need?
  # A list comprehension with two `for` gives one list, not a table.
vectors_joined_in_a_row:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     (a[:, np.newaxis, :] + b[np.newaxis, :, :]).reshape(len(a), -1)
  Your vectors of row i are joined to one long row: the axis of j is gone.
  ? Which three axes does the docstring promise?
  # np.hstack, or reshape(n, -1), makes a table of what has three axes.
everything_in_one_row:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     (a[:, np.newaxis, :] + b[np.newaxis, :, :]).ravel()
  Your numbers come in one long row.
  # ravel or flatten is left in from printing the numbers.
components_summed:
  | a[:, np.newaxis, :] + b[np.newaxis, :, :] ->
  :     (a[:, np.newaxis, :] + b[np.newaxis, :, :]).sum(axis=-1)
  Your entries are single numbers: each vector is summed.
  ? Is entry [i, j] a number or a vector?
  # A table of pairs, such as a table of scores, mostly holds numbers.
""",
)
exercise.edits(
    """
room_like_a: a.shape[1]) -> a.shape[1]), dtype=a.dtype
  Your result takes its type from a: fractions are cut off where a holds integers.
  ? Which type of numbers is there room for in your empty array?
  # dtype=a.dtype, or zeros_like, depends on one of the two arguments only.
room_like_b: a.shape[1]) -> a.shape[1]), dtype=b.dtype
  Your result takes its type from b: fractions are cut off where b holds integers.
  # dtype=b.dtype, or zeros_like, depends on one of the two arguments only.
""",
    of=loops,
)
exercise.edits(
    """
shape_of_a_changed:
  | a.shape = (len(a), 1, a.shape[1])
  | a[:, np.newaxis, :] -> a
  Your call changes the shape of a: the caller's array has another one afterwards.
  ? Does a line that begins with `a.` make something new, or work on the caller's a?
  # a.shape = … and a.resize(…) change the array itself, reshape does not.
shape_of_b_changed:
  | b.shape = (1, len(b), b.shape[1])
  | b[np.newaxis, :, :] -> b
  Your call changes the shape of b: the caller's array has another one afterwards.
  ? Does a line that begins with `b.` make something new, or work on the caller's b?
  # b.shape = … and b.resize(…) change the array itself, reshape does not.
""",
)
exercise.edits(
    """
grows_along_j:
  | sums[i, j] = a[i] + b[j] ->
  :     a[i] += b[j]
  :     sums[i, j] = a[i]
  Your vectors grow along j, and a grows with them: each b_j is added on top of the
    last one.
  ? Does `row = a[i]` make a copy of the row?
  # row = a[i] is a view, and += writes through it into a.
""",
    of=loops,
)
exercise.edits(
    """
new_axis_of_a_at_its_end: a[:, np.newaxis, :] -> a[:, :, np.newaxis]
  Your a gets its new axis at the end, so each of its numbers has an entry of its own
    where a row should have one; where m ≠ d and neither is 1, this raises an
    error.
  ? Which of the axes of (n, m, d) does a lack: the one for the rows of b, or the one
    for the numbers?
  # a[:, :, np.newaxis] looks like a[:, np.newaxis] of the example, with one axis
    more.
new_axes_one_too_far:
  | a[:, np.newaxis, :] -> a[:, :, np.newaxis]
  | b[np.newaxis, :, :] -> b[:, np.newaxis, :]
  Your a has its new axis at the end, and your b in the middle: each is one axis
    further than it should be; where n ≠ m and neither is 1, this raises an error.
  ? Write the shape of the result above those of a and b: which axis of the result
    does each of them lack?
  # The example had a[:, np.newaxis] and b[np.newaxis, :], and a row has one axis
    more.
""",
)

exercise.family(
    families.squeezed(),
    families.transposed(),
    families.as_list(),
)
