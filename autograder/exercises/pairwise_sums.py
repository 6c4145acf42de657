"""Cases and misconceptions of ``pairwise_sums``."""

import numpy as np

from autograder import Exercise
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


@exercise.case("Two rows in a and three in b give these six vectors of size 2")
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


@exercise.case("Entry [i, j] is row i of a plus row j of b")
def each_entry(student, rng):
    student.agrees(rng.normal(size=(5, 4)), rng.normal(size=(7, 4)))


@exercise.case("With as many rows in a as in b there are still all the pairs")
def as_many_rows_in_both(student, rng):
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = np.array([[10.0, 20.0, 30.0], [-10.0, 0.0, 50.0]])
    student.agrees(a, b)


@exercise.case("Whole numbers in a leave the fractions of b as they are")
def whole_numbers_and_fractions(student, rng):
    a, b = np.array([[3, 8, 1]]), np.array([[0.5, 0.25, -0.75], [1.5, 0.0, 0.125]])
    expected = np.array([[[3.5, 8.25, 0.25], [4.5, 8.0, 1.125]]])
    student.expect(student(a, b), expected)
    student.agrees(rng.integers(-9, 10, size=(1, 3)), rng.normal(size=(2, 3)))


@exercise.case("Swapping a and b swaps the two axes of the pairs", visible=False)
def swapped_arguments(student, rng):
    a, b = rng.normal(size=(5, 4)), rng.normal(size=(7, 4))
    there, back = student(a, b), student(b, a)
    student.expect(back, np.swapaxes(there, 0, 1))
    student.agrees(b, a)


@exercise.case("One row in b is added to every row of a", visible=False)
def one_row_in_b(student, rng):
    student.agrees(rng.normal(size=(6, 2)), 100 * rng.normal(size=(1, 2)))


@exercise.case("The rows of a and b stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(5, 4)), rng.normal(size=(7, 4)))


@exercise.misconception(
    "Your first axis counts the rows of b, and your second those of a.",
    "Which of i and j comes first in [i, j], and whose row does it number?",
    why="The new axis is put in front of a instead of behind its rows.",
)
def axes_swapped(a, b):
    return a[np.newaxis, :, :] + b[:, np.newaxis, :]


@exercise.misconception(
    "Your a and b are added as they are: NumPy pairs row i of a with row i of b.",
    "Which shape could you give to a, so that each of its rows meets every row of b?",
    why="Broadcasting is hoped to form all pairs by itself.",
)
def added_as_they_are(a, b):
    return a + b


@exercise.misconception(
    "Your rows are paired one to one, as far as the shorter list goes.",
    "How many partners should each row of a get?",
    why="zip is the usual way to walk over two lists, and it stops with the shorter.",
)
def one_partner_each(a, b):
    return np.array([row + other for row, other in zip(a, b, strict=False)])


@exercise.misconception(
    "Your result adds each single number of a to each single number of b.",
    "What belongs together here, the numbers or the rows?",
    why="np.add.outer pairs all entries of its arguments, whatever their axes mean.",
)
def every_number_with_every_number(a, b):
    return np.add.outer(a, b)


@exercise.misconception(
    "Your vectors are right, but in the wrong positions: the pairs are listed b first, "
    "and reshaped after that.",
    "Does reshape move an axis, or does it only cut the same row of numbers anew?",
    why="The wrong shape is mended with reshape where an axis had to move.",
)
def reshaped_into_place(a, b):
    pairs = b[:, np.newaxis, :] + a[np.newaxis, :, :]
    return pairs.reshape(len(a), len(b), -1)


@exercise.misconception(
    "Your vectors are differences a_i − b_j.",
    "Which operation does the name of the function announce?",
    why="Pairwise differences, for distances, are the best known use of this pattern.",
)
def differences(a, b):
    return a[:, np.newaxis, :] - b[np.newaxis, :, :]


@exercise.misconception(
    "Your vectors are products of a_i and b_j, number by number.",
    "Which operation does the name of the function announce?",
    why="The outer product is the first example of this pattern in most texts.",
)
def products(a, b):
    return a[:, np.newaxis, :] * b[np.newaxis, :, :]


@exercise.misconception(
    "Your vectors are half as long as they should be: they are means of two rows.",
    "What do 1 and 10 give as a sum?",
    why="A pair is summed up by its mean, as word vectors often are.",
)
def means(a, b):
    return (a[:, np.newaxis, :] + b[np.newaxis, :, :]) / 2


@exercise.misconception(
    "Your first row and your first column of pairs are zeros.",
    "Which number does the first row of an array have in Python?",
    why="Loops start at 1, as indices do in mathematics, MATLAB and R.",
)
def loops_from_one(a, b):
    sums = np.zeros((len(a), len(b), a.shape[1]))
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            sums[i, j] = a[i] + b[j]
    return sums


@exercise.misconception(
    "Your rows of pairs are all the same: each of them holds the last row of a.",
    "Does [row] * n make n rows, or n names for one row?",
    why="[[None] * m] * n repeats a reference to one list.",
)
def one_list_n_times(a, b):
    table = [[None] * len(b)] * len(a)
    for i, row in enumerate(a):
        for j, other in enumerate(b):
            table[i][j] = row + other
    return np.array(table)


@exercise.misconception(
    "Your vectors grow along j, and a grows with them: each b_j is added on top of the "
    "last one.",
    "Does `row = a[i]` make a copy of the row?",
    why="row = a[i] is a view, and += writes through it into a.",
)
def grows_along_j(a, b):
    sums = np.empty((len(a), len(b), a.shape[1]))
    for i in range(len(a)):
        row = a[i]
        for j in range(len(b)):
            row += b[j]
            sums[i, j] = row
    return sums


@exercise.misconception(
    "Your fractions are cut off when a holds whole numbers: your result takes its type "
    "from a.",
    "Which type of numbers is there room for in your empty array?",
    why="dtype=a.dtype, or zeros_like, depends on one of the two arguments only.",
)
def room_like_a(a, b):
    sums = np.empty((len(a), len(b), a.shape[1]), dtype=a.dtype)
    for i in range(len(a)):
        for j in range(len(b)):
            sums[i, j] = a[i] + b[j]
    return sums


@exercise.misconception(
    "Your sums are right, and the caller's a has another shape afterwards.",
    "Does a line that begins with `a.` make something new, or work on the caller's a?",
    why="a.shape = … and a.resize(…) change the array itself, reshape does not.",
)
def shape_of_a_changed(a, b):
    a.shape = (len(a), 1, a.shape[1])
    return a + b


@exercise.misconception(
    "Your vectors are the squared differences of the rows.",
    "What does the docstring say about entry [i, j]?",
    why="The pattern is known by heart from computing distances.",
)
def squared_differences(a, b):
    return (a[:, np.newaxis, :] - b[np.newaxis, :, :]) ** 2
