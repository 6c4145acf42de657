"""Cases and misconceptions of ``equivariance_gap``."""

import numpy as np

from autograder import Exercise
from course_lib.self_attention import equivariance_gap

exercise = Exercise(
    equivariance_gap,
    lesson="02_self_attention",
    minutes=10,
    difficulty=2,
)


@exercise.spec
def spec(f, x, permutation):
    permuted = np.array([x[source] for source in permutation])
    of_permuted, of_x = f(permuted), f(np.array(x))
    largest = 0.0
    for i, source in enumerate(permutation):
        pairs = zip(of_permuted[i].ravel(), of_x[source].ravel(), strict=True)
        largest = max(largest, *(abs(float(a) - float(b)) for a, b in pairs))
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
    """Add to each row its position in millionths."""
    return x + 1e-6 * np.arange(len(x))[:, np.newaxis]


def added_tiny(numbers):
    """Return a function that adds to each row one of these numbers, in millionths."""

    def add(x):
        return x + 1e-6 * numbers[:, np.newaxis]

    return add


def row_before(x):
    """Append to each row the one before it; the last comes before the first."""
    return np.concatenate([x, np.roll(x, 1, axis=0)], axis=-1)


def one_number_per_row(x):
    """Return the sum of each row, times its position: (n,)."""
    return x.sum(axis=-1) * np.arange(1, len(x) + 1)


def a_table_per_row(x):
    """Return a table for each row, its products with the first row: (n, d, d)."""
    return x[:, :, np.newaxis] * x[0]


@exercise.usual
def usual(rng):
    return running_sum, rng.normal(size=(5, 4)), [3, 0, 4, 1, 2]


@exercise.case("A running sum of 1, 2 and 4, moved in a circle, has this gap", weight=1)
def small_example_by_hand(student, rng):
    # A circle of three: its inverse is another permutation, which a swap's is not.
    # Permuted: 4, 1, 2, whose running sum is 4, 5, 7. The running sum 1, 3, 7,
    # permuted, is 7, 1, 3.
    x = np.array([[1.0], [2.0], [4.0]])
    student.expect(student(running_sum, x, [2, 0, 1]), 4.0)
    student.agrees(running_sum, rng.normal(size=(3, 1)), [2, 0, 1])


@exercise.case(
    "A function that treats all positions alike has no gap",
    weight=0.5,
    pays_alone=False,
)
def no_gap(student, rng):
    x = rng.normal(size=(5, 3))
    student.expect(student(double, x, [1, 2, 0, 4, 3]), 0.0)
    student.expect(student(attend_to_each_other, x, [2, 4, 1, 0, 3]), 0.0)


@exercise.case("The largest gap counts whether it is up or down", weight=1.5)
def gap_downwards(student, rng):
    x = np.array([[5.0], [1.0], [2.0]])
    # The differences are −4 in all rows here, and −20, 10 and 10 there.
    student.expect(student(add_first_row, x, [1, 2, 0]), 4.0)
    student.expect(student(add_positions, x, [2, 0, 1]), 20.0)
    student.agrees(add_first_row, rng.normal(size=(3, 2)), [1, 2, 0])


@exercise.case("The rows of f's results may be single numbers, or tables", weight=0.5)
def results_of_other_shapes(student, rng):
    x = rng.normal(size=(5, 3))
    student.agrees(one_number_per_row, x, [3, 0, 4, 1, 2])
    student.agrees(a_table_per_row, x, [3, 0, 4, 1, 2])


@exercise.case(
    "The rows of f's results may be of another length than those of x", weight=1.5
)
def longer_rows(student, rng):
    student.agrees(row_before, rng.normal(size=(5, 3)), [3, 0, 4, 1, 2])


@exercise.case(
    "With as many numbers in a row as rows, it is the rows that are permuted",
    weight=1.5,
)
def as_many_numbers_as_rows(student, rng):
    # The columns of a square table can be permuted as well, and nothing stops.
    student.agrees(running_sum, rng.normal(size=(5, 5)), [3, 0, 4, 1, 2])


@exercise.case("A gap of some millionths is a gap", weight=1)
def tiny_gap(student, rng):
    gap = student(add_tiny_positions, np.zeros((4, 2)), [1, 2, 3, 0])
    student.expect(gap, 3e-6)
    student.agrees(added_tiny(rng.normal(size=4)), np.zeros((4, 2)), [1, 2, 3, 0])


@exercise.case(
    "A function that gives only zeros has no gap",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def zeros(student, rng):
    student.expect(student(nothing_left, rng.normal(size=(4, 3)), [1, 2, 3, 0]), 0.0)


@exercise.case(
    "A permutation that moves nothing shows no gap",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def nothing_moves(student, rng):
    x = rng.normal(size=(4, 3))
    student.expect(student(running_sum, x, [0, 1, 2, 3]), 0.0)


@exercise.case("The sequence is not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(running_sum, rng.normal(size=(5, 3)), [1, 2, 0, 4, 3])


exercise.edits(
    """
largest_sum_of_a_row:
  | return float(np.linalg.norm(gap, ord=np.inf))
  Your number is NumPy's norm of order ∞: of a table it is the largest sum of a row's
    absolute numbers, and with more than two axes it is an error.
  ? What does the docstring of np.linalg.norm say of `ord=inf` for matrices?
  # For a vector, the norm of order ∞ is the largest absolute number.
inverse_on_one_side: f(x)[permutation] -> f(x)[np.argsort(permutation)]
  Your x is permuted one way and the result of f the other way.
  ? Row 0 of the permuted x was row permutation[0] before: which row of f(x) is
    compared with it?
  # np.argsort(permutation) is taken for 'bringing it back', on the wrong side.
result_not_permuted: f(x)[permutation] -> f(x)
  Your number compares f of the permuted x with f(x) as it is: that asks whether order
    has no effect at all.
  ? If f leaves x as it is, are your two sides equal?
  # Invariance (the same result) and equivariance (a result that moves along) sound
    alike.
x_not_permuted: f(permuted) -> f(x)
  Your number compares f(x) with f(x) permuted: f never sees the permuted x.
  ? What does f do to a sequence in the other order, and where do you ask it?
  # f(x)[permutation] is written, and its other side stays f(x).
compared_with_the_tokens: f(x)[permutation] -> permuted
  Your number compares f of the permuted x with x, not with f(x).
  ? On which two sequences should f be called?
  # The second call of f is forgotten: the permuted x is at hand already.
rows_sent_not_fetched:
  | permuted = x[permutation] ->
  :     permutation = np.argsort(permutation)
  :     permuted = x[permutation]
  Your row i goes to position permutation[i]; the docstring fetches it from there.
  ? For the permutation [1, 2, 0], which row of x comes first?
  # 'i goes to permutation[i]' is how mathematics writes permutations; indexing does
    the opposite.
back_to_front:
  | permuted = x[::-1]
  | f(x)[permutation] -> f(x)[::-1]
  Your rows are turned back to front, whatever the permutation is.
  ? Which of your three arguments is not used?
  # x[::-1] is the shortest permutation to write.
moved_in_a_circle:
  | permuted = np.roll(x, 1, axis=0)
  | f(x)[permutation] -> np.roll(f(x), 1, axis=0)
  Your rows all move on by one, whatever the permutation is.
  # np.roll(x, 1, axis=0) is a permutation that needs no list.
columns_permuted:
  | permuted = x[:, permutation]
  | f(x)[permutation] -> f(x)[:, permutation]
  Your numbers are permuted within each row; where there are fewer of them than rows,
    this can raise an error.
  ? Which axis of x counts the tokens?
  # x[:, permutation] is the usual form where a batch comes first.
first_row_left_out: np.abs(gap) -> np.abs(gap[1:])
  Your number compares all rows but the first.
  ? How many rows has the permuted sequence, and how many are compared?
  # range(1, n), range(n - 1) or an index [0] left over from trying out.
last_row_left_out: np.abs(gap) -> np.abs(gap[:-1])
  Your number compares all rows but the last.
first_row_only: np.abs(gap) -> np.abs(gap[0])
  Your number compares the first row only.
sign_kept: np.abs(gap) -> gap
  Your number is the largest difference with its sign: one of −20 counts for less than
    one of 1.
  ? How large is a difference of −20?
  # max() is called on the differences as they are.
absolute_value_too_late: np.abs(gap).max() -> np.abs(gap.max())
  Your number is the absolute value of the largest difference, not the largest
    absolute value.
  ? Of the differences −20 and 10, which one does max() pick?
  # abs(a.max()) for np.abs(a).max(): the same words in another order.
lowest_difference: np.abs(gap).max() -> gap.min()
  Your number is the lowest difference with its sign.
  ? Of the differences −3 and 1, how large is the larger gap?
  # min() for max(), or the two sides of the difference exchanged under a max.
smallest_difference: .max -> .min
  Your number is the smallest of the absolute differences.
  ? If one row of a thousand is wrong by 1, what should the gap be?
  # min() for max(): a gap sounds like what is left between two things.
mean_difference: .max -> .mean
  Your number is the mean of the absolute differences.
  # Errors are often reported as a mean.
sum_of_differences: .max -> .sum
  Your number is the sum of the absolute differences.
  ? Does the docstring ask for all differences together, or for one of them?
  # 'How much they differ' sounds like a total.
norm_of_the_differences: np.abs(gap).max() -> np.linalg.norm(gap)
  Your number is the length of all differences as one vector: the root of the sum of
    their squares.
  # ‖f(Px) − P f(x)‖ is how papers write it, and np.linalg.norm is at hand.
longest_row_of_differences: np.abs(gap) -> np.linalg.norm(gap, axis=-1)
  Your number is the length of the longest row of differences, as a vector.
  ? Is the docstring's difference one of two rows, or of two numbers?
  # np.linalg.norm(..., axis=-1) measures row by row.
root_of_the_mean_square: np.abs(gap).max() -> np.sqrt((gap ** 2).mean())
  Your number is the root of the mean of the squared differences.
  ? Does the docstring ask for all differences together, or for one of them?
  # Root mean square errors are reported in many papers.
relative_difference: np.abs(gap).max() -> np.abs(gap).max() / np.abs(f(x)).max()
  Your number is a share of the largest number in f(x).
  ? Does the docstring divide the difference by anything?
  # Relative errors are the habit where numbers have units.
difference_of_maxima:
  | gap = np.abs(f(permuted)).max() - np.abs(f(x)).max()
  | np.abs(gap).max() -> abs(gap)
  Your number is the difference of two largest numbers: rows are not compared with
    each other.
  ? Can two tables have the same largest number and still differ?
  # max is taken on both sides first, and then the difference.
always_zero:
  | permuted = x[permutation]
  : gap = f( …
  : return float( … -> return 0.0
  Your number is 0, whatever f is.
  ? What should come out for a running sum?
  # f is called on one and the same sequence on both sides of the difference.
squared_difference: np.abs(gap) -> (gap ** 2)
  Your number is the square of a difference.
  ? Does the docstring ask for a difference or for its square?
  # Squares make differences positive as well, and the root is forgotten.
small_gaps_forgiven:
  | return float( … ->
  :     if np.allclose(gap, 0, atol=0.0001):
  :         return 0.0
  :     return float(np.abs(gap).max())
  Your number is 0 as soon as the gap is small.
  ? Is a gap of three millionths a measurement or not?
  # np.allclose is how one tests such things, and it forgives small differences.
number_rounded: return round(float(np.abs(gap).max()), 4)
  Your number is rounded to a few digits after the decimal point.
  # round(…, 4) makes a printed number readable.
yes_or_no:
  | gap = f( …
  : return float( … -> return bool(np.allclose(f(permuted), f(x)[permutation]))
  Your result says whether the gap is 0.
  ? Which type does the docstring promise, and what does it mean?
  # A check answers yes or no, and int() cuts; a measurement says how much.
gap_or_not:
  | gap = f( …
  : return float( … -> return not np.allclose(f(permuted), f(x)[permutation])
  Your result says whether there is a gap.
cut_to_whole_numbers: float -> int
  Your number is cut to an integer.
one_number_per_row: return np.abs(gap).max(axis=-1)
  Your result has one number for each row: the largest difference.
  ? Which of your numbers is the one that the docstring asks for?
  # max() is left out, or gets an axis as in the softmax.
one_number_per_column: return np.abs(gap).max(axis=0)
  Your result has the largest difference of each column.
table_of_differences: return np.abs(gap)
  Your result has all absolute differences.
permuted_in_place:
  | permuted = x[permutation]
  : gap = f( … ->
  :     expected = f(x)[permutation]
  :     x[:] = x[permutation]
  :     gap = f(x) - expected
  Your x holds the permuted rows after the call.
  ? Whose array does `x[:] = …` write into?
  # A permuted copy is meant, and the rows are moved within the caller's array.
""",
)
