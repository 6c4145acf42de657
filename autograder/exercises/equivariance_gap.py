"""Cases and misconceptions of ``equivariance_gap``."""

import numpy as np

from autograder import Exercise
from course_lib.self_attention import equivariance_gap

exercise = Exercise(
    equivariance_gap,
    lesson="02_self_attention",
    minutes=12,
    difficulty=2,
)


@exercise.spec
def spec(f, x, permutation):
    permuted = np.array([x[source] for source in permutation])
    of_permuted, of_x = f(permuted), f(np.array(x))
    largest = 0.0
    for i, source in enumerate(permutation):
        for c in range(of_x.shape[1]):
            gap = abs(float(of_permuted[i, c]) - float(of_x[source, c]))
            largest = max(largest, gap)
    return largest


# Functions of a sequence: the first three treat all positions alike, the others not.
# None of them changes its argument.


def double(x):
    """Double every number."""
    return 2.0 * x


def attend_to_each_other(x):
    """Mix the rows by softmax(x xᵀ), which is attention without parameters."""
    scores = x @ x.T
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ x


def nothing_left(x):
    """Return zeros, whatever comes in."""
    return np.zeros_like(x)


def running_sum(x):
    """Add up the rows from the first one on."""
    return np.cumsum(x, axis=0)


def add_positions(x):
    """Add its position, times ten, to each row."""
    return x + 10.0 * np.arange(len(x))[:, np.newaxis]


def add_first_row(x):
    """Add the first row to each row."""
    return x + x[0]


def add_tiny_positions(x):
    """Add to each row its position in billionths."""
    return x + 1e-9 * np.arange(len(x))[:, np.newaxis]


def added_tiny(numbers):
    """Return a function that adds to each row one of these numbers, in billionths."""

    def add(x):
        return x + 1e-9 * numbers[:, np.newaxis]

    return add


def row_before(x):
    """Append to each row the one before it; the last comes before the first."""
    return np.concatenate([x, np.roll(x, 1, axis=0)], axis=-1)


@exercise.usual
def usual(rng):
    return running_sum, rng.normal(size=(5, 4)), [3, 0, 4, 1, 2]


@exercise.case("A running sum of 1, 2 and 4, moved in a circle, has this gap")
def small_example_by_hand(student, rng):
    # A circle of three: its inverse is another permutation, which a swap's is not.
    # Permuted: 4, 1, 2, whose running sum is 4, 5, 7. The running sum 1, 3, 7,
    # permuted, is 7, 1, 3.
    x = np.array([[1.0], [2.0], [4.0]])
    student.expect(student(running_sum, x, [2, 0, 1]), 4.0)


@exercise.case(
    "A function that treats all positions alike has no gap", pays_alone=False
)
def no_gap(student, rng):
    x = rng.normal(size=(5, 3))
    student.expect(student(double, x, [1, 2, 0, 4, 3]), 0.0)
    student.expect(student(attend_to_each_other, x, [2, 4, 1, 0, 3]), 0.0)


@exercise.case("The largest gap counts whether it is up or down")
def gap_downwards(student, rng):
    x = np.array([[5.0], [1.0], [2.0]])
    # The differences are −4 in all rows here, and −20, 10 and 10 there.
    student.expect(student(add_first_row, x, [1, 2, 0]), 4.0)
    student.expect(student(add_positions, x, [2, 0, 1]), 20.0)


@exercise.case("The rows of f's results may be of another length than those of x")
def longer_rows(student, rng):
    student.agrees(row_before, rng.normal(size=(5, 3)), [3, 0, 4, 1, 2])


@exercise.case(
    "With as many numbers in a row as rows, it is the rows that are permuted"
)
def as_many_numbers_as_rows(student, rng):
    # The columns of a square table can be permuted as well, and nothing stops.
    student.agrees(running_sum, rng.normal(size=(5, 5)), [3, 0, 4, 1, 2])


@exercise.case("A gap of some billionths is a gap")
def tiny_gap(student, rng):
    gap = student(add_tiny_positions, np.zeros((4, 2)), [1, 2, 3, 0])
    student.expect(gap, 3e-9)
    student.agrees(added_tiny(rng.normal(size=4)), np.zeros((4, 2)), [1, 2, 3, 0])


@exercise.case(
    "A function that gives only zeros has no gap", visible=False, pays_alone=False
)
def zeros(student, rng):
    student.expect(student(nothing_left, rng.normal(size=(4, 3)), [1, 2, 3, 0]), 0.0)


@exercise.case(
    "A permutation that moves nothing shows no gap", visible=False, pays_alone=False
)
def nothing_moves(student, rng):
    x = rng.normal(size=(4, 3))
    student.expect(student(running_sum, x, [0, 1, 2, 3]), 0.0)


@exercise.case("The sequence stays as it is")
def arguments_stay(student, rng):
    student.leaves_unchanged(running_sum, rng.normal(size=(5, 3)), [1, 2, 0, 4, 3])


def largest(gap):
    """Return the largest absolute number as a float."""
    return float(np.abs(gap).max())


@exercise.misconception(
    "Your code permutes x one way and the result of f the other way.",
    "Row 0 of the permuted x was row permutation[0] before: which row of f(x) is "
    "compared with it?",
    why="np.argsort(permutation) is taken for 'bringing it back', on the wrong side.",
)
def inverse_on_one_side(f, x, permutation):
    return largest(f(x[permutation]) - f(x)[np.argsort(permutation)])


@exercise.misconception(
    "Your code compares f of the permuted x with f(x) as it is: that asks whether "
    "order has no effect at all.",
    "If f leaves x as it is, are your two sides equal?",
    why="Invariance (the same result) and equivariance (a result that moves along) "
    "sound alike.",
)
def result_not_permuted(f, x, permutation):
    return largest(f(x[permutation]) - f(x))


@exercise.misconception(
    "Your code sends row i to position permutation[i]; the docstring fetches it from "
    "there.",
    "For the permutation [1, 2, 0], which row of x comes first?",
    why="'i goes to permutation[i]' is how mathematics writes permutations; indexing "
    "does the opposite.",
)
def rows_sent_not_fetched(f, x, permutation):
    result = f(x)
    permuted, moved = np.empty_like(x), np.empty_like(result)
    permuted[permutation] = x
    moved[permutation] = result
    return largest(f(permuted) - moved)


@exercise.misconception(
    "Your code permutes the numbers within each row; where there are fewer of them "
    "than rows, it stops.",
    "Which axis of x counts the tokens?",
    why="x[:, permutation] is the usual form where a batch comes first.",
)
def columns_permuted(f, x, permutation):
    return largest(f(x[:, permutation]) - f(x)[:, permutation])


@exercise.misconception(
    "Your number is the largest difference with its sign: what lies below 0 is lost.",
    "How large is a difference of −20?",
    why="max() is called on the differences as they are.",
)
def sign_kept(f, x, permutation):
    return float((f(x[permutation]) - f(x)[permutation]).max())


@exercise.misconception(
    "Your number is the absolute value of the largest difference, not the largest "
    "absolute value.",
    "Of the differences −20 and 10, which one does max() pick?",
    why="abs(a.max()) for np.abs(a).max(): the same words in another order.",
)
def absolute_value_too_late(f, x, permutation):
    return float(abs((f(x[permutation]) - f(x)[permutation]).max()))


@exercise.misconception(
    "Your number is the mean of the absolute differences.",
    "If one row of a thousand is wrong by 1, what should the gap be?",
    why="Errors are often reported as a mean.",
)
def mean_difference(f, x, permutation):
    return float(np.abs(f(x[permutation]) - f(x)[permutation]).mean())


@exercise.misconception(
    "Your number is the length of all differences as one vector: the root of the sum "
    "of their squares.",
    "Does the docstring ask for all differences together, or for one of them?",
    why="‖f(Px) − P f(x)‖ is how papers write it, and np.linalg.norm is at hand.",
)
def norm_of_the_differences(f, x, permutation):
    return float(np.linalg.norm(f(x[permutation]) - f(x)[permutation]))


@exercise.misconception(
    "Your number is a share of the largest number in f(x).",
    "Does the docstring divide the difference by anything?",
    why="Relative errors are the habit where numbers have units.",
)
def relative_difference(f, x, permutation):
    right = f(x)[permutation]
    return float(np.abs(f(x[permutation]) - right).max() / np.abs(right).max())


@exercise.misconception(
    "Your number is the difference of two largest numbers: rows are not compared with "
    "each other.",
    "Can two tables have the same largest number and still differ?",
    why="max is taken on both sides first, and then the difference.",
)
def difference_of_maxima(f, x, permutation):
    return float(abs(np.abs(f(x[permutation])).max() - np.abs(f(x)).max()))


@exercise.misconception(
    "Your number is 0 as soon as the gap is small.",
    "Is a gap of three billionths a measurement or not?",
    why="np.allclose is how one tests such things, and it forgives small differences.",
)
def small_gaps_forgiven(f, x, permutation):
    of_permuted, right = f(x[permutation]), f(x)[permutation]
    close = np.allclose(of_permuted, right, rtol=0, atol=1e-6)
    return 0.0 if close else largest(of_permuted - right)


@exercise.misconception(
    "Your result says whether there is a gap, not how large it is.",
    "Which type does the docstring promise, and what does it mean?",
    why="A check answers yes or no; a measurement answers how much.",
)
def yes_or_no(f, x, permutation):
    return bool(np.allclose(f(x[permutation]), f(x)[permutation]))


@exercise.misconception(
    "Your result has one number for each row: the largest difference in it.",
    "Which of these rows is the one that the docstring asks for?",
    why="max(axis=-1) comes from the softmax, where each row is by itself.",
)
def one_number_per_row(f, x, permutation):
    return np.abs(f(x[permutation]) - f(x)[permutation]).max(axis=-1)


@exercise.misconception(
    "Your code turns x back to front, whatever the permutation is.",
    "Which of your three arguments is not used?",
    why="x[::-1] is the shortest permutation to write.",
)
def back_to_front(f, x, permutation):
    return largest(f(x[::-1]) - f(x)[::-1])


@exercise.misconception(
    "Your number is right, but x holds the permuted rows after the call.",
    "Whose array does `x[:] = …` write into?",
    why="A permuted copy is meant, and the rows are moved within the caller's array.",
)
def permuted_in_place(f, x, permutation):
    right = f(x)[permutation]
    x[:] = x[permutation]
    return largest(f(x) - right)
