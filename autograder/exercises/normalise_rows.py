"""Cases and misconceptions of ``normalise_rows``."""

import numpy as np

from autograder import Exercise, families
from course_lib.warm_up import normalise_rows

exercise = Exercise(normalise_rows, lesson="00_start_here", minutes=5, difficulty=1)


@exercise.spec
def spec(x):
    shares = np.empty(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        total = 0.0
        for number in x[index]:
            total = total + float(number)
        for column, number in enumerate(x[index]):
            shares[*index, column] = float(number) / total
    return shares


@exercise.usual
def usual(rng):
    return (rng.uniform(0.5, 4.0, size=(2, 5, 7)),)


@exercise.case("The rows (1, 2, 5) and (6, 3, 1) give eighths and tenths", weight=0.5)
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 2.0, 5.0], [6.0, 3.0, 1.0]])
    expected = np.array([[0.125, 0.25, 0.625], [0.6, 0.3, 0.1]])
    student.expect(student(x), expected)
    student.agrees(rng.uniform(0.5, 4.0, size=(2, 3)))


@exercise.case(
    "In a batch of tables, too, each row is divided by its own sum", weight=2.5
)
def batch_of_tables(student, rng):
    student.agrees(rng.uniform(0.5, 4.0, size=(2, 5, 7)))


@exercise.case("In a square table, too, each row is divided by its own sum")
def square_table(student, rng):
    x = np.array([[1.0, 3.0], [1.0, 1.0]])
    student.expect(student(x), np.array([[0.25, 0.75], [0.5, 0.5]]))
    student.agrees(rng.uniform(0.5, 4.0, size=(3, 3)))


@exercise.fine_point("Integers give fractions")
def whole_numbers(student, rng):
    x = np.array([[1, 4], [2, 3], [8, 2]])
    expected = np.array([[0.2, 0.8], [0.4, 0.6], [0.8, 0.2]])
    student.expect(student(x), expected)
    student.agrees(rng.integers(1, 9, size=(3, 4)))


@exercise.case(
    "Three tables of three rows and three columns are divided row by row", visible=False
)
def all_sizes_equal(student, rng):
    student.agrees(rng.uniform(0.5, 4.0, size=(3, 3, 3)))


@exercise.case(
    "Tiny and huge rows side by side are each divided by their own sum",
    visible=False,
    weight=0.5,
)
def tiny_and_huge_rows(student, rng):
    x = np.array([[1e-9, 3e-9], [2.0, 6.0], [1e9, 3e9]])
    student.expect(student(x).sum(axis=-1), np.ones(3), what="the sum of each row")
    student.agrees(x)
    student.agrees(x * rng.uniform(0.5, 4.0, size=(3, 2)))


@exercise.case(
    "A table of one row is divided by its own sum, and stays a table",
    visible=False,
    weight=0.5,
)
def one_row(student, rng):
    student.agrees(rng.uniform(0.5, 4.0, size=(1, 4)))


@exercise.case("The table x is not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(np.array([[1.0, 3.0, 4.0], [5.0, 2.0, 3.0]]))


exercise.edits(
    """
keepdims_missing: , keepdims=True ->
  Your sums have lost the axis they were summed over: broadcasting lays them along the
    columns, which fits only by luck.
  ? Which shape must the sums have, so that there is one for each row and it reaches
    every column?
  # x.sum(axis=-1) drops the axis; a square table hides it, others raise.
sums_over_first_axis: axis=-1 -> axis=0
  Your numbers are divided along the first axis.
  ? Along which axis do you walk when you stay within one row?
  # axis=0 reads like 'the rows', but it is the axis that a sum removes.
divided_by_column_sums: axis=-1 -> axis=-2
  Your numbers are divided along the last axis but one: column by column.
  ? Which of your sums are 1 now, those of the rows or those of the columns?
  # The last two axes are taken for each other.
sums_over_axis_one: axis=-1 -> axis=1
  Your numbers are divided along axis 1: a row of a single table, but a column in a
    batch.
  ? How can you name the last axis without knowing how many come before it?
  # axis=1 is the last axis of a table, and the second of a batch of tables.
loop_over_first_axis: return np.array([row / row.sum() for row in x])
  Your numbers are divided within each x[i]: a row of a single table, but a whole
    table in a batch.
  ? What does a loop over x give you when x has three axes?
  # `for row in x` walks along the first axis, whatever that is.
divided_by_total: x.sum(axis=-1, keepdims=True) -> x.sum()
  Your numbers are divided by one number for the whole array.
  ? How many sums does a table of two rows need?
  # x.sum() without an axis adds up the whole array.
two_axes_only:
  | return x … ->
  :     rows, columns = x.shape
  :     return x / x.sum(axis=-1).reshape(rows, 1)
  Your answer raises an error at arrays that do not have exactly two axes.
  ? How many axes may stand in front of n and m, according to the docstring?
  # n, m = x.shape is written for a single table.
divided_by_largest: .sum -> .max
  Your numbers are divided by a largest number.
  ? What do your rows sum to?
  # Scaling to a largest value of 1 is called normalising as well.
divided_by_smallest: .sum -> .min
  Your numbers are divided by a smallest number.
  # 'How many times the smallest' keeps the proportions too.
divided_by_mean: .sum -> .mean
  Your numbers are divided by a mean.
  # mean and sum are one word apart.
divided_by_number_of_columns: x.sum(axis=-1, keepdims=True) -> x.shape[-1]
  Your numbers are divided by how many columns there are.
  # A mean divides by a count, a share by a sum.
divided_by_euclidean_norm: x.sum(axis -> np.linalg.norm(x, axis
  Your numbers are divided by the root of a sum of squares.
  ? Do the numbers of a row sum to 1, or do their squares?
  # 'Normalise a vector' mostly means to give it length 1.
divided_by_deviation: .sum -> .std
  Your numbers are divided by a standard deviation.
  ? What do your rows sum to?
  # 'Normalising' data often means the z-score.
running_total: .sum(axis=-1, keepdims=True) -> .cumsum(axis=-1)
  Your numbers are divided by the sum up to themselves only.
  ? When is the sum of a row complete, and when do you divide by it?
  # Adding up and dividing happen in one and the same loop.
eps_in_denominator:
  | x.sum(axis=-1, keepdims=True) -> (x.sum(axis=-1, keepdims=True) + 1e-08)
  Your sums are a little too large: something is added to them.
  ? When would a sum of positive numbers need help to be divided by?
  # A small number in the denominator is a habit from divisions that may meet 0.
softmax_of_rows: x = np.exp(x - x.max(axis=-1, keepdims=True))
  Your shares are those of powers of e: the proportions have changed.
  ? If one number is twice as large as another, should its share be twice as large?
  # Softmax is the best known way to make rows sum to 1.
shares_of_squares: x = x ** 2
  Your shares are those of squares: the proportions have changed.
  # Squares are at hand from the Euclidean norm.
smallest_taken_off: x = x - x.min(axis=-1, keepdims=True)
  Your smallest number is subtracted before the division.
  ? If no number of a row is 0, may a share be 0?
  # Min-max scaling is called normalising as well.
smallest_at_0_and_largest_at_1:
  | return x / x.sum(axis=-1, keepdims=True) ->
  :     low = x.min(axis=-1, keepdims=True)
  :     return (x - low) / (x.max(axis=-1, keepdims=True) - low + 1e-12)
  Your rows run from 0 to 1: the smallest number is taken off, and the distance to the
    largest divides.
  ? What should the numbers of a row sum to?
  # 'Normalise' means that in scikit-learn's MinMaxScaler.
floor_division: x / x -> x // x
  Your division leaves integers only: what follows the decimal point is cut off.
  ? What is the difference between / and // in Python?
  # // is taken for the division of arrays, or for that of integers.
sum_taken_off: x / x -> x - x
  Your sums are subtracted, not divided by.
  ? Which operation makes shares of numbers?
  # 'Take out the size of a row' is read as a subtraction.
multiplied_by_sum: x / x -> x * x
  Your numbers are multiplied by sums.
  # * is typed for /.
columns_divided_too:
  | return x … ->
  :     shares = x / x.sum(axis=-1, keepdims=True)
  :     return shares / shares.sum(axis=-2, keepdims=True)
  Your columns are divided by their sums last.
  ? Which of the two is asked for, rows that sum to 1 or columns?
  # Both axes are normalised in turn, and the second undoes the first.
percentages: return x -> return 100 * x
  Your numbers are percentages.
  ? If a row has one number only, which share should stand for it?
  # Shares are mostly written in percent outside of mathematics.
rounded_to_two_digits: return np.round(x / x.sum(axis=-1, keepdims=True), 2)
  Your numbers are rounded to two digits.
  ? What do rounded shares sum to?
  # Results are rounded to make them look tidy, inside the function.
complement_returned: return x -> return 1 - x
  Your numbers are 1 minus the shares.
  ? Should a large number get a large share or a small one?
  # 1 − p is copied from a formula for probabilities.
sums_returned: x / x -> x
  Your result holds what the rows should be divided by.
  ? What is left to do with these numbers?
  # The sums are the step that takes thought, and the division is forgotten.
divided_in_place:
  | return x … ->
  :     x /= x.sum(axis=-1, keepdims=True)
  :     return x
  Your call writes over x: the caller's floats are gone, and integers cannot take up
    fractions.
  ? Whose array is x, and who may still need its numbers?
  # x /= … looks like x = x / …, but it changes the caller's array.
standardised_rows:
  | return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
  Your numbers are standardised: a mean is subtracted, and a standard deviation is
    divided by.
  ? Can a share of something be negative?
  # 'Normalising' data often means the z-score.
new_axis_in_second_position:
  | x.sum(axis=-1, keepdims=True) -> x.sum(axis=-1)[:, np.newaxis]
  Your sums get their new axis in second position: right for a single table, and
    wrong, or an error, with a batch in front.
  ? Where does [:, np.newaxis] put the new axis in sums of shape (2, 5), and where do
    they need it?
  # [:, np.newaxis] makes a column of a vector, as every introduction shows.
turned_and_turned_back: return (x.T / x.sum(axis=-1)).T
  Your table is turned by .T and back: right for a single table, and wrong, or an
    error, with a batch in front.
  ? For an array of shape (2, 5, 7), what is the shape of its .T?
  # (x.T / sums).T is the usual way to divide rows without keepdims.
""",
)

exercise.family(
    families.squeezed(),
    families.transposed(),
    families.as_list(),
    families.cut_to_whole_numbers("x"),
)
