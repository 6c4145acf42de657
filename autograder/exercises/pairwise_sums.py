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


@exercise.variants
def variants(
    a,
    b,
    *,
    pairs="all",
    operation="+",
    first=0,
    last=0,
    returned="n, m, d",
    numbers="of both",
    overwritten="nothing",
):
    n, m = len(a), len(b)
    if overwritten == "shape of a":
        a.shape = (n, 1, a.shape[1])
    elif overwritten == "shape of b":
        b.shape = (1, m, b.shape[1])
    compute = {
        "+": lambda one, other: one + other,
        "−": lambda one, other: one - other,
        "·": lambda one, other: one * other,
        "mean": lambda one, other: (one + other) / 2,
        "size of −": lambda one, other: np.abs(one - other),
        "− squared": lambda one, other: (one - other) ** 2,
        "twice a": lambda one, other: 2 * one + other,
        "larger": np.maximum,
        "b − a": lambda one, other: other - one,
    }[operation]
    one, other = a.reshape(n, 1, -1), b.reshape(1, m, -1)
    if pairs == "as they are":
        return compute(a, b)
    if pairs == "a in columns, b as a batch":
        return compute(a[:, :, np.newaxis], b[np.newaxis, :, :])
    if pairs == "a in columns, b in rows":
        return compute(a[:, :, np.newaxis], b[:, np.newaxis, :])
    if pairs == "one to one":
        return compute(a[:m], b[:n])
    if pairs == "every number with every number":
        return compute(a[:, :, np.newaxis, np.newaxis], b)
    if pairs == "side by side":
        rest = np.zeros((n, m, 1))
        return np.concatenate([one + rest, other + rest], axis=-1)
    if pairs == "b first":
        one, other = a.reshape(1, n, -1), b.reshape(m, 1, -1)
    elif pairs == "last row of a":
        one = np.repeat(one[-1:], n, axis=0)
    elif "added up" in pairs:
        other = np.cumsum(other, axis=1)
    elif pairs == "as many of b as of a":
        other = other[:, [*range(n)]]
    sums = compute(one, other)
    if pairs == "as many of b as of a":
        sums = np.concatenate([sums, np.zeros((n, m - n, sums.shape[-1]))], axis=1)
    if first:
        sums = np.pad(sums[first:, first:].astype(float), [(1, 0), (1, 0), (0, 0)])
    if last:
        sums = np.pad(sums[:-last, :-last].astype(float), [(0, 1), (0, 1), (0, 0)])
    if pairs == "read anew":
        sums = np.swapaxes(sums, 0, 1).reshape(n, m, -1)
    if numbers != "of both":
        sums = sums.astype(a.dtype if numbers == "of a" else b.dtype)
    if pairs == "rows of b added up, in a":
        a += b.sum(axis=0)
    shapes = {"n·m, d": (n * m, -1), "n, m·d": (n, -1), "n·m·d": -1}
    if returned in shapes:
        return sums.reshape(shapes[returned])
    return sums.sum(axis=-1) if returned == "n, m" else sums


exercise.option(
    "axes_swapped",
    "Your first axis counts the rows of b, and your second those of a.",
    "Which of i and j comes first in [i, j], and whose row does it number?",
    why="The new axis is put in front of a instead of behind its rows.",
    pairs="b first",
)
exercise.option(
    "added_as_they_are",
    "Your code adds a and b as they are: row i of a meets only row i of b.",
    "Which shape could you give to a, so that each of its rows meets every row of b?",
    why="Broadcasting is hoped to form all pairs by itself.",
    pairs="as they are",
)
exercise.option(
    "one_partner_each",
    "Your rows are paired one to one, as far as the shorter array goes.",
    "How many partners should each row of a get?",
    why="zip is the usual way to walk over two lists, and it stops with the shorter.",
    pairs="one to one",
)
exercise.option(
    "every_number_with_every_number",
    "Your pairs are pairs of single numbers: each of a meets each of b.",
    "What belongs together here, the numbers or the rows?",
    why="np.add.outer pairs all entries of its arguments, whatever their axes mean.",
    pairs="every number with every number",
)
exercise.option(
    "side_by_side",
    "Your pairs of rows are joined end to end: each vector has 2·d numbers.",
    "How many numbers should the vector at [i, j] have?",
    why="+ joins lists in Python, and np.concatenate joins arrays.",
    pairs="side by side",
)
exercise.option(
    "reshaped_into_place",
    "Your vectors stand in the wrong positions: the pairs are listed b first, "
    "and reshaped after that.",
    "Does reshape move an axis, or does it only cut the same row of numbers again?",
    why="The wrong shape is mended with reshape where an axis had to move.",
    pairs="read anew",
)
exercise.option(
    "one_list_n_times",
    "Your rows of pairs are all the same: each of them holds the last row of a.",
    "Does [row] * n make n rows, or n names for one row?",
    why="[[None] * m] * n repeats a reference to one list.",
    pairs="last row of a",
)
exercise.option(
    "rows_of_b_added_up",
    "Your vectors grow along j: each b_j comes on top of the ones before.",
    "With what does the vector at [i, j] begin, before b_j is added?",
    why="A running total is kept in the inner loop.",
    pairs="rows of b added up",
)
exercise.option(
    "as_many_of_b_as_of_a",
    "Your rows of b are counted like those of a: where b has more, zeros are left, and "
    "where it has fewer, this can raise an error.",
    "How many rows has b, and which loop should know that?",
    why="range(len(a)) is copied from the outer loop.",
    pairs="as many of b as of a",
)
exercise.option(
    "differences",
    "Your vectors are differences a_i − b_j.",
    "Which operation does the name of the function announce?",
    why="Pairwise differences, for distances, are the best known use of this pattern.",
    operation="−",
)
exercise.option(
    "differences_from_b",
    "Your vectors are differences b_j − a_i.",
    "Which operation does the name of the function announce?",
    why="Pairwise differences, for distances, are the best known use of this pattern.",
    operation="b − a",
)
exercise.option(
    "sizes_of_differences",
    "Your vectors are the sizes of differences: none of their numbers is below 0.",
    "Which operation does the name of the function announce?",
    why="Pairwise distances are the best known use of this pattern.",
    operation="size of −",
)
exercise.option(
    "squared_differences",
    "Your vectors are squared differences.",
    "What does the docstring say about entry [i, j]?",
    why="The pattern is familiar from computing distances.",
    operation="− squared",
)
exercise.option(
    "products",
    "Your vectors are products, number by number.",
    "Which operation does the name of the function announce?",
    why="The outer product is the first example of this pattern in most texts.",
    operation="·",
)
exercise.option(
    "means",
    "Your vectors are means of two rows: half as large as sums.",
    "What do 1 and 10 give as a sum?",
    why="A pair is summed up by its mean, as word vectors often are.",
    operation="mean",
)
exercise.option(
    "twice_a",
    "Your vectors hold a_i twice.",
    "How often does a_i occur in the sum of a_i and b_j?",
    why="A sum that starts from a row of a gets that row added as well.",
    operation="twice a",
)
exercise.option(
    "larger_of_the_two",
    "Your vectors hold the larger of two numbers at each position.",
    "Which operation does the name of the function announce?",
    why="np.maximum pairs and broadcasts as + does.",
    operation="larger",
)
exercise.option(
    "loops_from_one",
    "Your first row and your first column of pairs are zeros.",
    "Which number does the first row of an array have in Python?",
    why="Loops start at 1, as indices do in mathematics, MATLAB and R.",
    first=1,
)
exercise.option(
    "loops_end_too_early",
    "Your last row and your last column of pairs are zeros.",
    "Which is the last number that range(n) gives?",
    why="range(len(a) - 1) takes off the one that range leaves out already.",
    last=1,
)
exercise.option(
    "long_list_of_pairs",
    "Your pairs come in one long list: one axis counts them all.",
    "Which two axes does entry [i, j] need?",
    why="A list comprehension with two `for` gives one list, not a table.",
    returned="n·m, d",
)
exercise.option(
    "vectors_joined_in_a_row",
    "Your vectors of row i are joined to one long row: the axis of j is gone.",
    "Which three axes does the docstring promise?",
    why="np.hstack, or reshape(n, -1), makes a table of what has three axes.",
    returned="n, m·d",
)
exercise.option(
    "everything_in_one_row",
    "Your numbers come in one long row.",
    "Which three axes does the docstring promise?",
    why="ravel or flatten is left in from printing the numbers.",
    returned="n·m·d",
)
exercise.option(
    "components_summed",
    "Your entries are single numbers: each vector is summed.",
    "Is entry [i, j] a number or a vector?",
    why="A table of pairs, such as a table of scores, mostly holds numbers.",
    returned="n, m",
)
exercise.option(
    "room_like_a",
    "Your result takes its type from a: fractions are cut off where a holds integers.",
    "Which type of numbers is there room for in your empty array?",
    why="dtype=a.dtype, or zeros_like, depends on one of the two arguments only.",
    numbers="of a",
)
exercise.option(
    "room_like_b",
    "Your result takes its type from b: fractions are cut off where b holds integers.",
    "Which type of numbers is there room for in your empty array?",
    why="dtype=b.dtype, or zeros_like, depends on one of the two arguments only.",
    numbers="of b",
)
exercise.option(
    "shape_of_a_changed",
    "Your call changes the shape of a: the caller's array has another one afterwards.",
    "Does a line that begins with `a.` make something new, or work on the caller's a?",
    why="a.shape = … and a.resize(…) change the array itself, reshape does not.",
    overwritten="shape of a",
)
exercise.option(
    "shape_of_b_changed",
    "Your call changes the shape of b: the caller's array has another one afterwards.",
    "Does a line that begins with `b.` make something new, or work on the caller's b?",
    why="b.shape = … and b.resize(…) change the array itself, reshape does not.",
    overwritten="shape of b",
)
exercise.option(
    "grows_along_j",
    "Your vectors grow along j, and a grows with them: each b_j is added on top "
    "of the last one.",
    "Does `row = a[i]` make a copy of the row?",
    why="row = a[i] is a view, and += writes through it into a.",
    pairs="rows of b added up, in a",
)
exercise.option(
    "new_axis_of_a_at_its_end",
    "Your a gets its new axis at the end, so each of its numbers has an entry of "
    "its own where a row should have one; unless sizes are equal, this raises an "
    "error.",
    "Which of the axes of (n, m, d) does a lack: the one for the rows of b, or the "
    "one for the numbers?",
    why="a[:, :, np.newaxis] looks like a[:, np.newaxis] of the example, with one axis "
    "more.",
    pairs="a in columns, b as a batch",
)
exercise.option(
    "new_axes_one_too_far",
    "Your a has its new axis at the end, and your b in the middle: each is one axis "
    "further than it should be; unless sizes are equal, this raises an error.",
    "Write the shape of the result above those of a and b: which axis of the result "
    "does each of them lack?",
    why="The example had a[:, np.newaxis] and b[np.newaxis, :], and a row has one axis "
    "more.",
    pairs="a in columns, b in rows",
)
exercise.family(
    families.squeezed(),
    families.transposed(),
    families.as_list(),
)
