"""Cases and misconceptions of ``softmax``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import softmax

exercise = Exercise(
    softmax,
    lesson="01_dot_product_attention",
    minutes=10,
    difficulty=2,
    library=(
        "torch.softmax",
        "torch.nn.functional.softmax",
        "torch.Tensor.softmax",
        "torch.special.softmax",
        "torch.nn.Softmax",
        "torch.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.special.log_softmax",
        "torch.nn.LogSoftmax",
        "torch._softmax",
        "torch._log_softmax",
        "scipy.special.softmax",
        "scipy.special.log_softmax",
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.Softmin",
        "torch.nn.functional.softmin",
        "torch._safe_softmax",
        "torch.distributions.Categorical",
        "torch.distributions.SoftmaxTransform._call",
        "torch.autograd.grad",
    ),
)


@exercise.spec
def spec(x, axis=-1):
    weights = np.empty(x.shape)
    lines, lines_of_x = np.moveaxis(weights, axis, -1), np.moveaxis(x, axis, -1)
    for index in np.ndindex(lines.shape[:-1]):
        scores = [float(score) for score in lines_of_x[index]]
        # exp(s - largest) never overflows, and the quotients are the same
        powers = [math.exp(score - max(scores)) for score in scores]
        for i, power in enumerate(powers):
            lines[*index, i] = power / sum(powers)
    return weights


@exercise.usual
def usual(rng):
    return (rng.normal(size=(2, 5, 7)),)


@exercise.case("The rows (ln 3, 0, ln 4) and (0, 0, ln 2) give these weights")
def small_example_by_hand(student, rng):
    x = np.log([[3.0, 1.0, 4.0], [1.0, 1.0, 2.0]])
    expected = np.array([[0.375, 0.125, 0.5], [0.25, 0.25, 0.5]])
    student.expect(student(x), expected)
    student.agrees(rng.normal(size=(2, 3)))


@exercise.case("The weights sum to 1 along the axis that is asked for")
def along_the_axis(student, rng):
    x = rng.normal(size=(2, 3, 5, 7))
    for axis in (0, 1, -2):
        student.agrees(x, axis=axis)


@exercise.case("Without an axis each row of a table, a batch or a vector counts alone")
def without_an_axis(student, rng):
    # In a square table, sums laid along the wrong axis still have the right shape.
    table = np.log([[1.0, 3.0], [1.0, 1.0]])
    student.expect(student(table), np.array([[0.25, 0.75], [0.5, 0.5]]))
    student.agrees(rng.normal(size=(2, 3, 5)))
    student.expect(student(np.log([1.0, 3.0, 4.0])), np.array([0.125, 0.375, 0.5]))


@exercise.case(
    "Adding 1000 to every score changes no weight", visible=False, pays_alone=False
)
def shift_changes_nothing(student, rng):
    x = rng.normal(size=(5, 7))
    before = student(x)
    student.expect(student(x + 1000.0), before)


@exercise.case("Rows of scores near 0, 10000 and −10000 get the same weights")
def small_and_huge_rows(student, rng):
    # The last row keeps the mean of the whole table away from 0.
    x = np.array([[0.0, 1.0], [9999.0, 1e4], [-1e4, -9999.0], [0.0, 1e4]])
    pair = [1 / (1 + math.e), math.e / (1 + math.e)]
    student.expect(student(x), np.array([pair, pair, pair, [0.0, 1.0]]))


@exercise.case("Whole numbers as scores, small ones too, give fractions as weights")
def whole_numbers(student, rng):
    x = np.array([[2, 0, 1], [-3, 4, 4]])
    student.agrees(x)
    # No int8 holds −100 − 100, and no uint8 holds 0 − 255: both wrap around.
    student.agrees(np.array([[-100, 100, 99]], dtype=np.int8))
    student.agrees(np.array([[0, 255, 254]], dtype=np.uint8))


@exercise.case("A score on its own gets the weight 1", visible=False, pays_alone=False)
def single_score(student, rng):
    student.expect(student(rng.normal(size=(5, 1))), np.ones((5, 1)))


@exercise.case("The scores x stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.5]]))


@exercise.misconception(
    "Your rows of negative scores are 0 / 0: what is subtracted is their "
    "largest distance from 0, not their largest score.",
    "Which is the largest of the scores −10000 and −9999?",
    why="np.abs(x).max() looks like the safe bound against overflow, and underflows.",
)
def largest_distance_from_zero(x, axis=-1):
    exponentials = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your numbers are right as long as exp(x) is: for large scores it becomes inf, and "
    "inf / inf is NaN.",
    "What may you do to all scores of a row without changing its weights?",
    why="The formula is typed in as it is in the book.",
)
def no_max_subtraction(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your rows with small scores are 0 / 0: the largest score of the whole array is "
    "subtracted from every row.",
    "Whose largest score does a row need?",
    why="np.max(x) without an axis is enough for one row, and is copied from there.",
)
def one_global_max(x, axis=-1):
    exponentials = np.exp(x - np.max(x))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your largest scores and your sums have lost the axis they were taken over: "
    "broadcasting lays them along the wrong axis.",
    "Which shape must they have, so that there is one for each row?",
    why="max and sum drop their axis unless they are told to keep it.",
)
def keepdims_missing(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis))
    return exponentials / exponentials.sum(axis=axis)


@exercise.misconception(
    "Your sums have lost the axis they were taken over: broadcasting lays them along "
    "the wrong axis.",
    "Which shape must the sums have, so that there is one for each row?",
    why="keepdims is set for the maximum and forgotten for the sum.",
)
def keepdims_missing_in_the_sum(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis)


@exercise.misconception(
    "Your sums have lost the axis they were taken over, so broadcasting lays them "
    "along the wrong axis; no row has its own largest score subtracted.",
    "Which shape must the sums have, so that there is one for each row?",
    why="np.exp(x) / np.exp(x).sum(axis=axis) has the axis, but not yet keepdims.",
)
def keepdims_missing_and_no_row_max(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis)


@exercise.misconception(
    "Your weights always sum to 1 along the last axis.",
    "Where does your code use the argument axis?",
    why="The axis is fixed to −1 in the body, since that is where it is needed first.",
)
def axis_ignored(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@exercise.misconception(
    "Your weights sum to 1 over the whole array.",
    "How many sums does a table of two rows need?",
    why="exp(x) / sum(exp(x)) is right for one vector, and is copied from there.",
)
def summed_over_everything(x, axis=-1):
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()


@exercise.misconception(
    "Your weights sum to 1 over the whole array, and where exp(x) is inf they are NaN.",
    "How many sums does a table of two rows need?",
    why="np.exp(x) / np.sum(np.exp(x)) is the formula as most pages print it.",
)
def summed_over_everything_without_max(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / np.sum(exponentials)


@exercise.misconception(
    "Your weights sum to 1 along the first axis, whatever axis is asked for: in a "
    "table, down each column.",
    "Which sum does a weight of a table need: its row's, or its column's?",
    why="e / e.sum(axis=0) and e / sum(e) are right for one vector, and are copied "
    "from there.",
)
def first_axis_fixed(x, axis=-1):
    exponentials = np.exp(x - np.max(x))
    return exponentials / exponentials.sum(axis=0)


@exercise.misconception(
    "Your weights sum to 1 along the first axis, whatever axis is asked for, and where "
    "exp(x) is inf they are NaN.",
    "Which sum does a weight of a table need: its row's, or its column's?",
    why="np.exp(x) / sum(np.exp(x)): Python's sum adds up along the first axis.",
)
def first_axis_fixed_without_max(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=0)


@exercise.misconception(
    "Your weights always sum to 1 along axis 1: in a table these are the rows, in a "
    "batch they are not.",
    "Where does your code use the argument axis?",
    why="axis=1 with keepdims=True is right for the table that it was written for.",
)
def second_axis_fixed(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


@exercise.misconception(
    "Your weights sum to 1 along the first axis when no axis is asked for.",
    "Which axis does the docstring promise if none is given?",
    why="axis=0 is the default in many libraries.",
)
def first_axis_by_default(x, axis=0):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your weights sum to 1 along axis 1 when no axis is asked for: in a table these "
    "are the rows, in a batch they are not.",
    "Which axis does the docstring promise if none is given?",
    why="axis=1 and axis=-1 are the same as long as every input is a table.",
)
def second_axis_by_default(x, axis=1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your code stops when the caller names no axis: in your first line, axis has no "
    "default.",
    "Which axis does the docstring promise if none is given, and how does a def line "
    "say so?",
    why="The first line is typed anew, and = -1 is left out.",
)
def axis_without_default(x, axis=None):
    if axis is None:  # Python's own words for softmax(x, axis)
        raise TypeError("softmax() missing 1 required positional argument: 'axis'")
    return softmax(x, axis)


@exercise.misconception(
    "Your weights of a vector have an axis too many: their shape is (1, n), not (n,).",
    "Which shape does the docstring promise, if x has a single axis?",
    why="np.atleast_2d makes code for tables run on a vector, and is not undone.",
)
def vector_made_a_table(x, axis=-1):
    return softmax(np.atleast_2d(x), axis)


@exercise.misconception(
    "Your weights sum to a little less than 1: something is added to their sum.",
    "How small can the sum get, once the largest exponential in it is exp(0)?",
    why="1e-8 in the denominator is a habit from divisions that may meet 0.",
)
def eps_in_denominator(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / (exponentials.sum(axis=axis, keepdims=True) + 1e-8)


@exercise.misconception(
    "Your largest score is subtracted in the numerator only: rows do not sum to 1.",
    "If every exponential in the numerator shrinks, what must the denominator do?",
    why="The safe exponential replaces only one of the two exp in the formula.",
)
def max_subtracted_above_only(x, axis=-1):
    above = np.exp(x - x.max(axis=axis, keepdims=True))
    return above / np.exp(x).sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your rows are right unless a score lies far above the mean of its row, which is "
    "what you subtract: there exp becomes inf.",
    "Which number must you subtract, so that no score is left far above 0?",
    why="Subtracting the mean is how data are usually centred.",
)
def mean_subtracted(x, axis=-1):
    exponentials = np.exp(x - x.mean(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your numbers are NaN where a row lies far from the mean of the whole array, which "
    "is what you subtract.",
    "How far above or below that mean can all the scores of one row lie?",
    why="x - x.mean() is how data are usually centred.",
)
def mean_of_everything_subtracted(x, axis=-1):
    exponentials = np.exp(x - x.mean())
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your large scores all get the same weight: they are cut off at a limit.",
    "Is the difference between 9999 and 10000 still there after the cut?",
    why="Clipping stops the overflow warning without a change to the formula.",
)
def clipped_scores(x, axis=-1):
    exponentials = np.exp(np.clip(x, -500, 500))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your largest score gets the smallest weight.",
    "When a score grows, does the number that you give to exp grow or fall?",
    why="The maximum is subtracted the wrong way round: max − x instead of x − max.",
)
def max_minus_score(x, axis=-1):
    exponentials = np.exp(x.max(axis=axis, keepdims=True) - x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your numbers are the exponentials: they are not divided yet.",
    "What do your rows sum to?",
    why="With the largest score subtracted they lie between 0 and 1 already.",
)
def exponentials_not_divided(x, axis=-1):
    return np.exp(x - x.max(axis=axis, keepdims=True))


@exercise.misconception(
    "Your numbers are the logarithms of the weights: none of them is above 0.",
    "Between which two numbers should every weight lie?",
    why="Losses want log-softmax, and many libraries offer both side by side.",
)
def logarithms_returned(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@exercise.misconception(
    "Your numbers are the scores divided by their sum: there is no exp in them.",
    "What weight does a negative score get from you?",
    why="To make numbers sum to 1, one usually divides them by their sum.",
)
def scores_divided_by_their_sum(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your fractions are cut off when x holds whole numbers: your result takes its type "
    "from x.",
    "Which type of numbers does np.zeros_like(x) make room for?",
    why="zeros_like and empty_like copy the type along with the shape.",
)
def room_like_x(x, axis=-1):
    weights = np.empty_like(x)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    weights[...] = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return weights


@exercise.misconception(
    "Your weights are right for floats; for small whole numbers (int8, uint8) the "
    "differences do not fit into their type, and wrap around.",
    "What is 1 − 2 in uint8, whose numbers go from 0 to 255?",
    why="x - x.max() needs no other type for floats and for int64, and nothing warns.",
)
def small_numbers_wrap(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@exercise.misconception(
    "Your weights are right, and the caller's scores are shifted afterwards.",
    "Does `x -= …` make a new array, or work on the caller's?",
    why="x -= … looks like x = x − …, but it changes the caller's array.",
)
def shifted_in_place(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
