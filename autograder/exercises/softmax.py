"""Cases and misconceptions of ``softmax``."""

import math

import numpy as np

from autograder import Exercise, families
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


@exercise.case(
    "The rows (ln 3, 0, ln 4) and (0, 0, ln 2) give weights of eighths and quarters",
    weight=0.5,
)
def small_example_by_hand(student, rng):
    x = np.log([[3.0, 1.0, 4.0], [1.0, 1.0, 2.0]])
    expected = np.array([[0.375, 0.125, 0.5], [0.25, 0.25, 0.5]])
    student.expect(student(x), expected)
    student.agrees(rng.normal(size=(2, 3)))


@exercise.case("With `axis`, the scores along that axis are normalised", weight=1.5)
def along_the_axis(student, rng):
    x = rng.normal(size=(2, 3, 5, 7))
    for axis in (0, 1, -2):
        student.agrees(x, axis=axis)


@exercise.case("Without `axis`, each row is normalised by itself", weight=3)
def without_an_axis(student, rng):
    # In a square table, sums laid along the wrong axis still have the right shape.
    table = np.log([[1.0, 3.0], [1.0, 1.0]])
    student.expect(student(table), np.array([[0.25, 0.75], [0.5, 0.5]]))
    student.agrees(rng.normal(size=(2, 3, 5)))
    student.expect(student(np.log([1.0, 3.0, 4.0])), np.array([0.125, 0.375, 0.5]))
    # Small weights are weights, too: down to e to the power of −10.
    student.agrees(np.stack([rng.permutation(-2.0 * np.arange(6)) for _ in range(2)]))


@exercise.case(
    "Adding 1000 to every score changes no weight",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def shift_changes_nothing(student, rng):
    # Of 32nds: a float32 holds them beside 1000, too.
    x = rng.integers(-99, 100, size=(5, 7)) / 32
    before = student(x)
    student.expect(student(x + 1000.0), before)


@exercise.case("Scores as large as 10000 and as low as −10000 give the right weights")
def small_and_huge_rows(student, rng):
    # A square, so that what loses an axis does not stop; its mean is far from 0.
    x = np.array([[0.0, 1, 0, 1, 0]] * 5) + np.array([[0, 0, 9999, -1e4, 0]]).T
    x[0], x[4] = [-800, 0, 0, 0, 0], [0, 1e4, 5000, 8000, 0]
    expected = np.array([[1, math.e, 1, math.e, 1]] * 5) / (3 + 2 * math.e)
    expected[0], expected[4] = [0, 0.25, 0.25, 0.25, 0.25], [0, 1, 0, 0, 0]
    student.expect(student(x), expected)


@exercise.fine_point("Integers as scores give fractions as weights")
def whole_numbers(student, rng):
    student.agrees(np.array([[[2, 0, 1], [-3, 4, 4]]]))


@exercise.fine_point("Scores near 10¹⁷ and 10³⁰⁰ give weights that sum to 1, too")
def scores_of_any_size(student, rng):
    # On vectors, so that a wrong axis does not show here, too.
    for x in [1e17, 1e17, -1e17, 0.0], [1e300, 1e300, -1e300, 0.0]:
        student.expect(student(np.array(x)), np.array([0.5, 0.5, 0.0, 0.0]))


@exercise.case(
    "A score on its own gets the weight 1", weight=0.5, visible=False, pays_alone=False
)
def single_score(student, rng):
    student.expect(student(rng.normal(size=(5, 1))), np.ones((5, 1)))


@exercise.case("The scores x are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.5]]))


@exercise.right_answer
def with_default(x, axis=None):
    if axis is None:
        axis = -1
    shifted = x - np.max(x, axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


exercise.edits(
    """
logarithm_of_the_sum_lost:
  | return np.exp(x - np.logaddexp.reduce(1.0 * x, axis=axis, keepdims=True))
  Your weights are wrong where scores are huge: the logarithm of the sum is lost when
    it is added to them.
  ? What is 1e17 + 0.7 in floating point, and which number must be taken off first?
  # exp(x - logsumexp(x)) is a formula of many codes, and right for usual scores.
scores_in_float32: x - np.max(x -> np.float32(x) - np.max(np.float32(x)
  Your scores become float32, in which all above 3.4 · 10³⁸ are infinite.
  ? Which is the largest float32, and what is ∞ − ∞?
  # Models compute in float32, and torch.tensor(…, dtype=torch.float32) is a habit.
largest_distance_from_zero: np.max(x -> np.max(np.abs(x)
  Your rows of very negative scores are 0 / 0: their largest distance from 0 is
    subtracted.
  ? Which is the largest of the scores −10000 and −9999?
  # np.abs(x).max() looks like the safe bound against overflow, and underflows.
no_max_subtraction: shifted = x
  Your large scores give NaN, which is inf / inf: exp(x) is inf for them.
  ? What may you do to all scores of a row without changing its weights?
  # The formula is typed in as it is in the book.
nan_made_zero:
  | shifted = x
  | exponentials / np.sum(exponentials, axis=axis, keepdims=True) ->
  :     np.nan_to_num(exponentials / np.sum(exponentials, axis=axis, keepdims=True))
  Your large scores get the weight 0: their exp(x) is inf, and the NaN of inf / inf is
    made 0.
  ? What may you do to all scores of a row, so that exp never becomes inf?
  # np.nan_to_num mends what can be seen, not what is wrong.
one_global_max: np.max(x, axis=axis, keepdims=True) -> np.max(x)
  Your rows of small scores are 0 / 0: the largest score of the whole array is
    subtracted from every row.
  ? Whose largest score does a row need?
  # np.max(x) without an axis is enough for one row, and is copied from there.
max_added: x - np.max -> x + np.max
  Your largest score is added to the scores: they lie twice as far from 0.
  ? Which number should the largest score of a row become before exp?
  # A sign slips, and small scores do not show it.
min_subtracted: np.max -> np.min
  Your smallest score of a row is subtracted: exp is inf where another score lies far
    above it.
  ? Which number must you subtract, so that no score is left far above 0?
  # Shifting numbers so that they begin at 0 takes the smallest one off.
clipped_scores: shifted = np.clip(x, -500, 500)
  Your very large scores all get the same weight, and so do your very negative ones:
    they are cut off at a limit.
  ? Is the difference between 9999 and 10000 still there after the cut?
  # Clipping stops the overflow warning without a change to the formula.
clipped_above: shifted = np.minimum(x, 500)
  Your very large scores all get the same weight: they are cut off at a limit; rows of
    very negative ones are 0 / 0.
  # np.minimum(x, 500) stops the overflow, and looks like all that is needed.
max_minus_score: shifted = np.max(x, axis=axis, keepdims=True) - x
  Your exponents are max − x: the largest score gets the smallest weight.
  ? When a score grows, does the number that you give to exp grow or fall?
  # The maximum is subtracted the wrong way round: max − x instead of x − max.
softmax_of_the_negative: x = -x
  Your weights are those of the scores −x: a larger score gets a smaller weight.
  ? When a score grows, should its weight grow or fall?
  # exp(−x) is copied from physics, or from the sigmoid's 1 / (1 + exp(−x)).
max_subtracted_above_only: np.sum(exponentials -> np.sum(np.exp(x)
  Your largest score is subtracted above the fraction bar only.
  ? If every exponential in the numerator shrinks, what must the denominator do?
  # The safe exponential replaces only one of the two exp in the formula.
max_subtracted_below_only: return exponentials -> return np.exp(x)
  Your largest score is subtracted below the fraction bar only.
  ? If every exponential in the denominator shrinks, what must the numerator do?
keepdims_missing: , keepdims=True =>
  Your largest scores and your sums have lost the axis they were taken along:
    broadcasting lays them along the wrong axis.
  ? Which shape must they have, so that there is one for each row?
  # max and sum drop their axis unless they are told to keep it.
keepdims_missing_in_the_sum:
  | exponentials, axis=axis, keepdims=True -> exponentials, axis=axis
  Your sums have lost the axis they were summed over: broadcasting lays them along the
    wrong axis.
  ? Which shape must the sums have, so that there is one for each row?
  # keepdims is set for the maximum and forgotten for the sum.
keepdims_missing_in_the_maximum: x, axis=axis, keepdims=True -> x, axis=axis
  Your largest scores have lost the axis they were taken along: broadcasting lays them
    along the wrong axis.
  ? Which shape must they have, so that there is one for each row?
  # keepdims is set for the sum and forgotten for the maximum.
axis_ignored: axis = -1
  Your numbers are those of the last axis, whatever axis is asked for.
  ? Where does your answer use the argument axis?
  # The axis is fixed to −1 in the body, since that is where it is needed first.
first_axis_fixed: axis = 0
  Your numbers are those of the first axis, whatever axis is asked for: in a table
    they go down the columns.
  ? Which sum does a weight of a table need: its row's, or its column's?
  # e / e.sum(axis=0) and e / sum(e) are right for one vector, and are copied from
    there.
second_axis_fixed: axis = 1
  Your numbers are those of axis 1, whatever axis is asked for: in a table these are
    the rows, in a batch they are not.
  ? Where does your answer use the argument axis?
  # axis=1 with keepdims=True is right for the table that it was written for.
summed_over_everything: axis = None
  Your numbers share one sum over the whole array.
  ? How many sums does a table of two rows need?
  # exp(x) / sum(exp(x)) is right for one vector, and is copied from there.
each_part_as_a_whole: axis = tuple(range(1, x.ndim))
  Your numbers share one sum within each x[i], whatever axis is asked for: a row of a
    table, but a whole table of a batch.
  ? What does a loop over x give you when x has one axis, and when it has three?
  # `for row in x` walks along the first axis, whatever that is.
row_max_and_one_sum:
  | shifted = … -> shifted = x - np.max(x, axis=axis, keepdims=True)
  | np.sum(exponentials, axis=axis, keepdims=True) -> np.sum(exponentials)
  Your exponentials are divided by one sum over the whole array.
  ? How many sums does a table of two rows need?
  # The axis is given to max, and forgotten in sum.
row_max_and_column_sums:
  | shifted = … -> shifted = x - np.max(x, axis=axis, keepdims=True)
  | exponentials, axis=axis -> exponentials, axis=0
  Your exponentials are divided by sums along the first axis.
  ? Which sum does a weight of a table need: its row's, or its column's?
  # Python's sum(e) adds up along the first axis.
row_max_and_sums_of_the_last_axis:
  | shifted = … -> shifted = x - np.max(x, axis=axis, keepdims=True)
  | exponentials, axis=axis -> exponentials, axis=-1
  Your exponentials are divided by sums along the last axis, whatever axis is asked
    for.
  ? Where do your sums use the argument axis?
  # The axis is given to max, and fixed to −1 in sum.
sums_of_the_axis_and_row_max:
  | shifted = … -> shifted = x - np.max(x, axis=-1, keepdims=True)
  Your largest scores are those of the last axis, whatever axis is asked for: what is
    taken off is not the same along another one.
  ? Which scores share a sum, and which of them is the largest?
  # The axis is given to sum, and fixed to −1 in max.
""",
)
exercise.edits(
    """
first_axis_by_default: axis = 0
  Your numbers are those of the first axis when no axis is asked for.
  ? Which axis does the docstring promise if none is given?
  # axis=0 is the default in many libraries.
second_axis_by_default: axis = 1
  Your numbers are those of axis 1 when no axis is asked for: in a table these are the
    rows, in a batch they are not.
  # axis=1 and axis=-1 are the same as long as every input is a table.
everything_by_default:
  | if axis is None:
  :     axis = -1
  : shifted = … -> shifted = x - np.max(x, axis=axis, keepdims=True)
  Your numbers share one sum over the whole array when no axis is asked for.
  # axis=None is the default of NumPy's sum and max.
""",
    of=with_default,
)
exercise.edits(
    """
vector_made_a_table: x = np.atleast_2d(x)
  Your weights of a vector have an axis too many: their shape is (1, n), not (n,).
  ? Which shape does the docstring promise, if x has a single axis?
  # np.atleast_2d makes code for tables run on a vector, and is not undone.
vector_made_a_column:
  | if x.ndim == 1:
  :     x = x[:, np.newaxis]
  Your weights of a vector have an axis too many: their shape is (n, 1), not (n,).
  # x[:, None] or reshape(-1, 1) makes a table of a vector, and is not undone.
exponentials_not_divided: return exponentials
  Your numbers are exponentials that are not divided by their sum.
  ? What do your rows sum to?
  # With the largest score subtracted they lie between 0 and 1 already.
divided_by_length: np.sum -> np.linalg.norm
  Your numbers are divided by the root of a sum of squares.
  ? What should the weights themselves sum to?
  # 'Normalise' mostly means to give a vector length 1.
divided_by_mean: np.sum -> np.mean
  Your numbers are divided by a mean, not by a sum.
  ? What should the weights sum to?
  # mean and sum are one word apart.
divided_by_sum_of_scores: np.sum(exponentials -> np.sum(x
  Your exponentials are divided by a sum of scores.
  ? Of which numbers is the sum below the fraction bar?
  # The sum is written with x: the exponentials have no name of their own yet.
divided_by_sum_of_shifted_scores: np.sum(exponentials -> np.sum(shifted
  Your exponentials are divided by the sum of the scores, after the largest was
    subtracted: that sum is 0 or below it.
  ? Of which numbers has the sum to be taken, so that your weights sum to 1?
  # The shifted scores have a name, and the exponentials have none.
logarithms_returned:
  | return shifted - np.log(np.sum(exponentials, axis=axis, keepdims=True))
  Your numbers are logarithms.
  ? Between which two numbers should every weight lie?
  # Losses want log-softmax, and many libraries offer both side by side.
one_hot_of_the_largest:
  | shifted = …
  : exponentials = …
  : return exponentials … ->
  :     return (x == np.max(x, axis=axis, keepdims=True)).astype(float)
  Your numbers are 1 for the largest score and 0 for all others.
  ? How much weight should a score get that is almost as large as the largest?
  # Softmax is taken for the maximum that its name speaks of.
sigmoid_returned:
  | shifted = …
  : exponentials = …
  : return exponentials … -> return 1 / (1 + np.exp(-x))
  Your numbers are a sigmoid of each score by itself.
  ? What should the weights of a row sum to?
  # With two classes softmax becomes a sigmoid, which is met first.
complement_returned: return exponentials -> return 1 - exponentials
  Your numbers are 1 minus the weights.
  ? Should a large score get a large weight or a small one?
  # 1 − p is copied from a formula for a gradient or a loss.
scores_divided_by_their_sum:
  | shifted = …
  : exponentials = …
  : return exponentials … -> return x / np.sum(x, axis=axis, keepdims=True)
  Your numbers are the plain scores over their sum: there is no exp in them.
  ? What weight does a negative score get from you?
  # To make numbers sum to 1, one usually divides them by their sum.
exp_left_out: np.exp(shifted) -> shifted
  Your numbers are shifted scores over their sum: there is no exp in them.
  ? What becomes of the largest score once it is subtracted from itself?
  # The shift takes the line that the exponential was on.
max_subtracted_after_exp:
  | shifted = …
  : exponentials = … -> exponentials = np.exp(x) - np.max(x, axis=axis, keepdims=True)
  Your largest score is subtracted from the exponentials, not from the scores.
  ? Where does the bracket close in `np.exp(x - …)`?
  # np.exp(x) - x.max() is one bracket away from np.exp(x - x.max()).
powers_of_two: np.exp -> np.exp2
  Your numbers are made of powers of 2, not of e.
  ? Which number is raised to the power of the score in a softmax?
  # exp2 is one key from exp, and powers of 2 look alike: positive too.
shifted_in_place:
  | shifted = … -> x -= np.max(x, axis=axis, keepdims=True)
  | np.exp(shifted) -> np.exp(x)
  Your call changes the caller's own scores: the largest is subtracted from them.
  ? Does `x -= …` make a new array, or work on the caller's?
  # x -= … looks like x = x − …, but it changes the caller's array.
weights_written_into_x:
  | exponentials = … -> np.exp(shifted, out=x)
  | return exponentials … ->
  :     x /= np.sum(x, axis=axis, keepdims=True)
  :     return x
  Your call writes its weights over the caller's scores; where these are integers,
    this raises an error or cuts the weights.
  ? Whose array is x, and who may still need the scores?
  # np.exp(x, out=x) and x /= … save an array and spend the caller's.
divided_by_the_largest_score: x - np.max -> x / np.max
  Your scores are divided by the largest one before exp, where it should be
    subtracted: their distances change, and with a largest score of 0 you get NaN.
  ? Which of the two leaves the distances between scores as they are: taking the same
    number off each, or dividing each by it?
  # Dividing by the largest is how other things are normalised.
""",
)

exercise.edits(
    """
mean_subtracted: np.max -> np.mean
  Your exp is inf where a score lies far above the mean of its row, which is
    subtracted.
  ? Which number must you subtract, so that no score is left far above 0?
  # Subtracting the mean is how data are usually centred.
mean_of_everything_subtracted: np.max(x, axis=axis, keepdims=True) -> np.mean(x)
  Your numbers are NaN where a row lies far from the mean of the whole array, which is
    subtracted.
  ? How far above or below that mean can all the scores of one row lie?
  # x - x.mean() is how data are usually centred.
""",
    of=with_default,
)
exercise.family(
    families.squeezed(),
    families.transposed(),
    families.as_list(),
    families.small_weights_cut(),
    families.cut_to_whole_numbers("x"),
)


# Not an option: it stops wherever no axis is named, so it would explain what it does
# not.
@exercise.misconception(
    "Your answer raises an error when the caller names no axis: axis has no default.",
    "Which axis does the docstring promise if none is given, and how does a def line "
    "say so?",
    why="The first line is typed again, and = -1 is left out.",
)
def axis_without_default(x, axis=None):
    if axis is None:  # Python's own words for softmax(x, axis)
        raise TypeError("softmax() missing 1 required positional argument: 'axis'")
    return softmax(x, axis)
