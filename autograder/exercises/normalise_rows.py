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


@exercise.variants
def variants(
    x,
    *,
    along=-1,
    keepdims=True,
    numerator="x",
    divisor="sum",
    operation="/",
    returned="shares",
    axes="any",
    overwritten="nothing",
):
    if axes == "two":
        _, _ = x.shape
    if axes == "a column of sums":
        return x / x.sum(axis=-1)[:, np.newaxis]
    if axes == "turned and turned back":
        return (x.T / x.sum(axis=-1)).T
    if along == "all but the first":
        along = tuple(range(1, x.ndim))
    line = {"axis": along, "keepdims": keepdims}
    above = {
        "x": lambda: x,
        "x²": lambda: 1.0 * x * x,
        "power of e": lambda: np.exp(x - x.max(**line)),
        "above the smallest": lambda: x - x.min(**line),
    }[numerator]()
    below = {
        "sum": lambda: above.sum(**line),
        "sum + 1e-8": lambda: above.sum(**line) + 1e-8,
        "running total": lambda: above.cumsum(axis=-1),
        "largest": lambda: above.max(**line),
        "smallest": lambda: above.min(**line),
        "mean": lambda: above.mean(**line),
        "deviation": lambda: x.std(**line),
        "root of the squares": lambda: np.sqrt((1.0 * above * above).sum(**line)),
        "columns": lambda: x.shape[-1],
    }[divisor]()
    if operation == "/":
        shares = above / below
    else:
        shares = {"//": np.floor_divide, "−": np.subtract, "·": np.multiply}[operation](
            above, below
        )
    if returned == "columns too":
        shares = shares / shares.sum(axis=-2, keepdims=True)
    elif returned == "per cent":
        shares = 100 * shares
    elif returned == "rounded":
        shares = np.round(shares, 2)
    elif returned == "what is left of 1":
        shares = 1 - shares
    elif returned == "z-scores":
        shares = (x - x.mean(**line)) / x.std(**line)
    elif returned == "sums":
        return below
    if overwritten == "x":
        np.divide(x, 1, out=x)  # stops on integers
        x[...] = shares
    return shares


exercise.option(
    "keepdims_missing",
    "Your sums have lost the axis they were summed over: broadcasting lays them "
    "along the columns, which fits only by luck.",
    "Which shape must the sums have, so that there is one for each row and it "
    "reaches every column?",
    why="x.sum(axis=-1) drops the axis; a square table hides it, others raise.",
    keepdims=False,
)
exercise.option(
    "sums_over_first_axis",
    "Your numbers are divided along the first axis.",
    "Along which axis do you walk when you stay within one row?",
    why="axis=0 reads like 'the rows', but it is the axis that a sum removes.",
    along=0,
)
exercise.option(
    "divided_by_column_sums",
    "Your numbers are divided along the last axis but one: column by column.",
    "Which of your sums are 1 now, those of the rows or those of the columns?",
    why="The last two axes are taken for each other.",
    along=-2,
)
exercise.option(
    "sums_over_axis_one",
    "Your numbers are divided along axis 1: a row of a single table, but a "
    "column in a batch.",
    "How can you name the last axis without knowing how many come before it?",
    why="axis=1 is the last axis of a table, and the second of a batch of tables.",
    along=1,
)
exercise.option(
    "loop_over_first_axis",
    "Your numbers are divided within each x[i]: a row of a single table, but a "
    "whole table in a batch.",
    "What does a loop over x give you when x has three axes?",
    why="`for row in x` walks along the first axis, whatever that is.",
    along="all but the first",
)
exercise.option(
    "divided_by_total",
    "Your numbers are divided by one number for the whole array.",
    "How many sums does a table of two rows need?",
    why="x.sum() without an axis adds up the whole array.",
    along=None,
)
exercise.option(
    "two_axes_only",
    "Your answer raises an error at arrays that do not have exactly two axes.",
    "How many axes may stand in front of n and m, according to the docstring?",
    why="n, m = x.shape is written for a single table.",
    axes="two",
)
exercise.option(
    "divided_by_largest",
    "Your numbers are divided by a largest number.",
    "What do your rows sum to?",
    why="Scaling to a largest value of 1 is called normalising as well.",
    divisor="largest",
)
exercise.option(
    "divided_by_smallest",
    "Your numbers are divided by a smallest number.",
    "What do your rows sum to?",
    why="'How many times the smallest' keeps the proportions too.",
    divisor="smallest",
)
exercise.option(
    "divided_by_mean",
    "Your numbers are divided by a mean.",
    "What do your rows sum to?",
    why="mean and sum are one word apart.",
    divisor="mean",
)
exercise.option(
    "divided_by_number_of_columns",
    "Your numbers are divided by how many columns there are.",
    "What do your rows sum to?",
    why="A mean divides by a count, a share by a sum.",
    divisor="columns",
)
exercise.option(
    "divided_by_euclidean_norm",
    "Your numbers are divided by the root of a sum of squares.",
    "Do the numbers of a row sum to 1, or do their squares?",
    why="'Normalise a vector' mostly means to give it length 1.",
    divisor="root of the squares",
)
exercise.option(
    "divided_by_deviation",
    "Your numbers are divided by a standard deviation.",
    "What do your rows sum to?",
    why="'Normalising' data often means the z-score.",
    divisor="deviation",
)
exercise.option(
    "running_total",
    "Your numbers are divided by the sum up to themselves only.",
    "When is the sum of a row complete, and when do you divide by it?",
    why="Adding up and dividing happen in one and the same loop.",
    divisor="running total",
)
exercise.option(
    "eps_in_denominator",
    "Your sums are a little too large: something is added to them.",
    "When would a sum of positive numbers need help to be divided by?",
    why="A small number in the denominator is a habit from divisions that may meet 0.",
    divisor="sum + 1e-8",
)
exercise.option(
    "softmax_of_rows",
    "Your shares are those of powers of e: the proportions have changed.",
    "If one number is twice as large as another, should its share be twice as large?",
    why="Softmax is the best known way to make rows sum to 1.",
    numerator="power of e",
)
exercise.option(
    "shares_of_squares",
    "Your shares are those of squares: the proportions have changed.",
    "If one number is twice as large as another, should its share be twice as large?",
    why="Squares are at hand from the Euclidean norm.",
    numerator="x²",
)
exercise.option(
    "smallest_taken_off",
    "Your smallest number is subtracted before the division.",
    "If no number of a row is 0, may a share be 0?",
    why="Min-max scaling is called normalising as well.",
    numerator="above the smallest",
)
exercise.option(
    "floor_division",
    "Your division leaves integers only: what follows the decimal point is cut off.",
    "What is the difference between / and // in Python?",
    why="// is taken for the division of arrays, or for that of integers.",
    operation="//",
)
exercise.option(
    "sum_taken_off",
    "Your sums are subtracted, not divided by.",
    "Which operation makes shares of numbers?",
    why="'Take out the size of a row' is read as a subtraction.",
    operation="−",
)
exercise.option(
    "multiplied_by_sum",
    "Your numbers are multiplied by sums.",
    "Which operation makes shares of numbers?",
    why="* is typed for /.",
    operation="·",
)
exercise.option(
    "columns_divided_too",
    "Your columns are divided by their sums last.",
    "Which of the two is asked for, rows that sum to 1 or columns?",
    why="Both axes are normalised in turn, and the second undoes the first.",
    returned="columns too",
)
exercise.option(
    "percentages",
    "Your numbers are percentages.",
    "If a row has one number only, which share should stand for it?",
    why="Shares are mostly written in percent outside of mathematics.",
    returned="per cent",
)
exercise.option(
    "rounded_to_two_digits",
    "Your numbers are rounded to two digits.",
    "What do rounded shares sum to?",
    why="Results are rounded to make them look tidy, inside the function.",
    returned="rounded",
)
exercise.option(
    "complement_returned",
    "Your numbers are 1 minus the shares.",
    "Should a large number get a large share or a small one?",
    why="1 − p is copied from a formula for probabilities.",
    returned="what is left of 1",
)
exercise.option(
    "sums_returned",
    "Your result holds what the rows should be divided by.",
    "What is left to do with these numbers?",
    why="The sums are the step that takes thought, and the division is forgotten.",
    returned="sums",
)
exercise.option(
    "divided_in_place",
    "Your call writes over x: the caller's floats are gone, and integers "
    "cannot take up fractions.",
    "Whose array is x, and who may still need its numbers?",
    why="x /= … looks like x = x / …, but it changes the caller's array.",
    overwritten="x",
)
exercise.option(
    "standardised_rows",
    "Your numbers are standardised: a mean is subtracted, and a standard deviation "
    "is divided by.",
    "Can a share of something be negative?",
    why="'Normalising' data often means the z-score.",
    returned="z-scores",
)
exercise.option(
    "new_axis_in_second_position",
    "Your sums get their new axis in second position: right for a single table, and "
    "wrong, or an error, with a batch in front.",
    "Where does [:, np.newaxis] put the new axis in sums of shape (2, 5), and where "
    "do they need it?",
    why="[:, np.newaxis] makes a column of a vector, as every introduction shows.",
    axes="a column of sums",
)
exercise.option(
    "turned_and_turned_back",
    "Your table is turned by .T and back: right for a single table, and wrong, or "
    "an error, with a batch in front.",
    "For an array of shape (2, 5, 7), what is the shape of its .T?",
    why="(x.T / sums).T is the usual way to divide rows without keepdims.",
    axes="turned and turned back",
)
exercise.family(
    families.squeezed(),
    families.transposed(),
    families.as_list(),
    families.cut_to_whole_numbers("x"),
)
