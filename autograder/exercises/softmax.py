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


@exercise.case(
    "A score on its own gets the weight 1", weight=0.5, visible=False, pays_alone=False
)
def single_score(student, rng):
    student.expect(student(rng.normal(size=(5, 1))), np.ones((5, 1)))


@exercise.case("The scores x are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.5]]))


@exercise.variants
def variants(
    x,
    axis=None,
    *,
    default=-1,
    along="the axis",
    summed_along="the axis",
    subtracted="largest of the line",
    power="e",
    divisor="sum",
    returned="weights",
    keepdims="both",
    vector="as it is",
    overwritten="nothing",
):
    if axis is None:
        axis = None if default == "everything" else default
    if x.ndim == 1 and vector != "as it is":
        x = x[np.newaxis] if vector == "row" else x[:, np.newaxis]
    if subtracted in ("nothing", "largest of everything", "mean of everything"):
        # What no largest score of a line is in has one name only.
        summed_along = "the axis"
        keepdims = "both" if keepdims == "neither" else keepdims
    if subtracted in ("mean of the line", "mean of everything"):
        # Over one sum for everything, nothing visible tells these from no shift at all.
        along = "the axis" if along == "everything" else along
    fixed = {"last": -1, "first": 0, "second": 1, "everything": None}
    fixed["all but the first"] = tuple(range(1, x.ndim))
    axis = fixed.get(along, axis)
    line = {"axis": axis, "keepdims": keepdims in ("both", "maximum")}
    caller, x = x, 1.0 * x
    if power == "1 / e":
        x = -x
    offset = {
        "largest of the line": lambda: x.max(**line),
        "smallest of the line": lambda: x.min(**line),
        "mean of the line": lambda: x.mean(**line),
        "distance from 0": lambda: np.abs(x).max(**line),
        "largest of everything": lambda: x.max(),
        "mean of everything": lambda: x.mean(),
        "minus the largest": lambda: -x.max(**line),
        "what is beyond 500": lambda: x - np.clip(x, -500, 500),
        "what is above 500": lambda: x - np.minimum(x, 500),
    }
    shifted = x - offset[subtracted]() if subtracted in offset else x
    if subtracted == "nothing, divided by the largest":
        shifted = x / x.max(**line)
    if subtracted == "score from the largest":
        shifted = x.max(**line) - x
    bases = {"2": np.exp2, "none": lambda _: x, "left out": lambda number: number}
    bases["e, then shifted"] = lambda _: np.exp(x) - x.max(**line)
    powers = summed = bases.get(power, np.exp)(shifted)
    if subtracted == "largest above only":
        powers = np.exp(x - x.max(**line))
    if subtracted == "largest below only":
        summed = np.exp(x - x.max(**line))
    axis = fixed.get(summed_along, axis)
    line = {"axis": axis, "keepdims": keepdims in ("both", "sum")}
    if divisor == "length":
        total = np.sqrt((summed**2).sum(**line))
    elif divisor == "mean":
        total = summed.mean(**line)
    else:
        summands = {"sum of scores": x, "sum of shifted scores": shifted}
        total = summands.get(divisor, summed).sum(**line)
    weights = powers if divisor == "none" else powers / total
    if subtracted == "nothing, NaN made 0":
        weights = np.nan_to_num(weights)
    if returned == "logarithms":
        weights = shifted - np.log(total)
    elif returned == "largest":
        weights = (x == x.max(**line)).astype(float)
    elif returned == "sigmoid":
        weights = 1 / (1 + np.exp(-x))
    elif returned == "what is left of 1":
        weights = 1 - weights
    if overwritten == "differences":
        caller -= caller.max(**line)
    elif overwritten == "weights":
        np.exp(caller, out=caller)  # stops on integers
        caller[...] = weights
    return weights


exercise.option(
    "largest_distance_from_zero",
    "Your rows of very negative scores are 0 / 0: their largest distance from 0 is "
    "subtracted.",
    "Which is the largest of the scores −10000 and −9999?",
    why="np.abs(x).max() looks like the safe bound against overflow, and underflows.",
    subtracted="distance from 0",
)
exercise.option(
    "no_max_subtraction",
    "Your large scores give NaN, which is inf / inf: exp(x) is inf for them.",
    "What may you do to all scores of a row without changing its weights?",
    why="The formula is typed in as it is in the book.",
    subtracted="nothing",
)
exercise.option(
    "nan_made_zero",
    "Your large scores get the weight 0: their exp(x) is inf, and the NaN of inf / inf "
    "is made 0.",
    "What may you do to all scores of a row, so that exp never becomes inf?",
    why="np.nan_to_num mends what can be seen, not what is wrong.",
    subtracted="nothing, NaN made 0",
)
exercise.option(
    "one_global_max",
    "Your rows of small scores are 0 / 0: the largest score of the whole array is "
    "subtracted from every row.",
    "Whose largest score does a row need?",
    why="np.max(x) without an axis is enough for one row, and is copied from there.",
    subtracted="largest of everything",
)
exercise.option(
    "max_added",
    "Your largest score is added to the scores: they lie twice as far from 0.",
    "Which number should the largest score of a row become before exp?",
    why="A sign slips, and small scores do not show it.",
    subtracted="minus the largest",
)
exercise.option(
    "min_subtracted",
    "Your smallest score of a row is subtracted: exp is inf where another score lies "
    "far above it.",
    "Which number must you subtract, so that no score is left far above 0?",
    why="Shifting numbers so that they begin at 0 takes the smallest one off.",
    subtracted="smallest of the line",
)
exercise.option(
    "mean_subtracted",
    "Your exp is inf where a score lies far above the mean of its row, which is "
    "subtracted.",
    "Which number must you subtract, so that no score is left far above 0?",
    why="Subtracting the mean is how data are usually centred.",
    subtracted="mean of the line",
)
exercise.option(
    "mean_of_everything_subtracted",
    "Your numbers are NaN where a row lies far from the mean of the whole array, which "
    "is subtracted.",
    "How far above or below that mean can all the scores of one row lie?",
    why="x - x.mean() is how data are usually centred.",
    subtracted="mean of everything",
)
exercise.option(
    "clipped_scores",
    "Your very large scores all get the same weight, and so do your very negative "
    "ones: they are cut off at a limit.",
    "Is the difference between 9999 and 10000 still there after the cut?",
    why="Clipping stops the overflow warning without a change to the formula.",
    subtracted="what is beyond 500",
)
exercise.option(
    "clipped_above",
    "Your very large scores all get the same weight: they are cut off at a limit; rows "
    "of very negative ones are 0 / 0.",
    "Is the difference between 9999 and 10000 still there after the cut?",
    why="np.minimum(x, 500) stops the overflow, and looks like all that is needed.",
    subtracted="what is above 500",
)
exercise.option(
    "max_minus_score",
    "Your exponents are max − x: the largest score gets the smallest weight.",
    "When a score grows, does the number that you give to exp grow or fall?",
    why="The maximum is subtracted the wrong way round: max − x instead of x − max.",
    subtracted="score from the largest",
)
exercise.option(
    "softmax_of_the_negative",
    "Your weights are those of the scores −x: a larger score gets a smaller weight.",
    "When a score grows, should its weight grow or fall?",
    why="exp(−x) is copied from physics, or from the sigmoid's 1 / (1 + exp(−x)).",
    power="1 / e",
)
exercise.option(
    "max_subtracted_above_only",
    "Your largest score is subtracted above the fraction bar only.",
    "If every exponential in the numerator shrinks, what must the denominator do?",
    why="The safe exponential replaces only one of the two exp in the formula.",
    subtracted="largest above only",
)
exercise.option(
    "max_subtracted_below_only",
    "Your largest score is subtracted below the fraction bar only.",
    "If every exponential in the denominator shrinks, what must the numerator do?",
    why="The safe exponential replaces only one of the two exp in the formula.",
    subtracted="largest below only",
)
exercise.option(
    "keepdims_missing",
    "Your largest scores and your sums have lost the axis they were taken along: "
    "broadcasting lays them along the wrong axis.",
    "Which shape must they have, so that there is one for each row?",
    why="max and sum drop their axis unless they are told to keep it.",
    keepdims="neither",
)
exercise.option(
    "keepdims_missing_in_the_sum",
    "Your sums have lost the axis they were summed over: broadcasting lays them along "
    "the wrong axis.",
    "Which shape must the sums have, so that there is one for each row?",
    why="keepdims is set for the maximum and forgotten for the sum.",
    keepdims="maximum",
)
exercise.option(
    "keepdims_missing_in_the_maximum",
    "Your largest scores have lost the axis they were taken along: broadcasting lays "
    "them along the wrong axis.",
    "Which shape must they have, so that there is one for each row?",
    why="keepdims is set for the sum and forgotten for the maximum.",
    keepdims="sum",
)
exercise.option(
    "axis_ignored",
    "Your numbers are those of the last axis, whatever axis is asked for.",
    "Where does your answer use the argument axis?",
    why="The axis is fixed to −1 in the body, since that is where it is needed first.",
    along="last",
)
exercise.option(
    "first_axis_fixed",
    "Your numbers are those of the first axis, whatever axis is asked for: in a table "
    "they go down the columns.",
    "Which sum does a weight of a table need: its row's, or its column's?",
    why="e / e.sum(axis=0) and e / sum(e) are right for one vector, and are copied "
    "from there.",
    along="first",
)
exercise.option(
    "second_axis_fixed",
    "Your numbers are those of axis 1, whatever axis is asked for: in a table these "
    "are the rows, in a batch they are not.",
    "Where does your answer use the argument axis?",
    why="axis=1 with keepdims=True is right for the table that it was written for.",
    along="second",
)
exercise.option(
    "summed_over_everything",
    "Your numbers share one sum over the whole array.",
    "How many sums does a table of two rows need?",
    why="exp(x) / sum(exp(x)) is right for one vector, and is copied from there.",
    along="everything",
)
exercise.option(
    "each_part_as_a_whole",
    "Your numbers share one sum within each x[i], whatever axis is asked for: a row of "
    "a table, but a whole table of a batch.",
    "What does a loop over x give you when x has one axis, and when it has three?",
    why="`for row in x` walks along the first axis, whatever that is.",
    along="all but the first",
)
exercise.option(
    "row_max_and_one_sum",
    "Your exponentials are divided by one sum over the whole array.",
    "How many sums does a table of two rows need?",
    why="The axis is given to max, and forgotten in sum.",
    summed_along="everything",
)
exercise.option(
    "row_max_and_column_sums",
    "Your exponentials are divided by sums along the first axis.",
    "Which sum does a weight of a table need: its row's, or its column's?",
    why="Python's sum(e) adds up along the first axis.",
    summed_along="first",
)
exercise.option(
    "row_max_and_sums_of_the_last_axis",
    "Your exponentials are divided by sums along the last axis, whatever axis is asked "
    "for.",
    "Where do your sums use the argument axis?",
    why="The axis is given to max, and fixed to −1 in sum.",
    summed_along="last",
)
exercise.option(
    "first_axis_by_default",
    "Your numbers are those of the first axis when no axis is asked for.",
    "Which axis does the docstring promise if none is given?",
    why="axis=0 is the default in many libraries.",
    default=0,
)
exercise.option(
    "second_axis_by_default",
    "Your numbers are those of axis 1 when no axis is asked for: in a table these are "
    "the rows, in a batch they are not.",
    "Which axis does the docstring promise if none is given?",
    why="axis=1 and axis=-1 are the same as long as every input is a table.",
    default=1,
)
exercise.option(
    "everything_by_default",
    "Your numbers share one sum over the whole array when no axis is asked for.",
    "Which axis does the docstring promise if none is given?",
    why="axis=None is the default of NumPy's sum and max.",
    default="everything",
)
exercise.option(
    "vector_made_a_table",
    "Your weights of a vector have an axis too many: their shape is (1, n), not (n,).",
    "Which shape does the docstring promise, if x has a single axis?",
    why="np.atleast_2d makes code for tables run on a vector, and is not undone.",
    vector="row",
)
exercise.option(
    "vector_made_a_column",
    "Your weights of a vector have an axis too many: their shape is (n, 1), not (n,).",
    "Which shape does the docstring promise, if x has a single axis?",
    why="x[:, None] or reshape(-1, 1) makes a table of a vector, and is not undone.",
    vector="column",
)
exercise.option(
    "exponentials_not_divided",
    "Your numbers are exponentials that are not divided by their sum.",
    "What do your rows sum to?",
    why="With the largest score subtracted they lie between 0 and 1 already.",
    divisor="none",
)
exercise.option(
    "divided_by_length",
    "Your numbers are divided by the root of a sum of squares.",
    "What should the weights themselves sum to?",
    why="'Normalise' mostly means to give a vector length 1.",
    divisor="length",
)
exercise.option(
    "divided_by_mean",
    "Your numbers are divided by a mean, not by a sum.",
    "What should the weights sum to?",
    why="mean and sum are one word apart.",
    divisor="mean",
)
exercise.option(
    "divided_by_sum_of_scores",
    "Your exponentials are divided by a sum of scores.",
    "Of which numbers is the sum below the fraction bar?",
    why="The sum is written with x: the exponentials have no name of their own yet.",
    divisor="sum of scores",
)
exercise.option(
    "divided_by_sum_of_shifted_scores",
    "Your exponentials are divided by the sum of the scores, after the largest was "
    "subtracted: that sum is 0 or below it.",
    "Of which numbers has the sum to be taken, so that your weights sum to 1?",
    why="The shifted scores have a name, and the exponentials have none.",
    divisor="sum of shifted scores",
)
exercise.option(
    "logarithms_returned",
    "Your numbers are logarithms.",
    "Between which two numbers should every weight lie?",
    why="Losses want log-softmax, and many libraries offer both side by side.",
    returned="logarithms",
)
exercise.option(
    "one_hot_of_the_largest",
    "Your numbers are 1 for the largest score and 0 for all others.",
    "How much weight should a score get that is almost as large as the largest?",
    why="Softmax is taken for the maximum that its name speaks of.",
    returned="largest",
)
exercise.option(
    "sigmoid_returned",
    "Your numbers are a sigmoid of each score by itself.",
    "What should the weights of a row sum to?",
    why="With two classes softmax becomes a sigmoid, which is met first.",
    returned="sigmoid",
)
exercise.option(
    "complement_returned",
    "Your numbers are 1 minus the weights.",
    "Should a large score get a large weight or a small one?",
    why="1 − p is copied from a formula for a gradient or a loss.",
    returned="what is left of 1",
)
exercise.option(
    "scores_divided_by_their_sum",
    "Your numbers are the plain scores over their sum: there is no exp in them.",
    "What weight does a negative score get from you?",
    why="To make numbers sum to 1, one usually divides them by their sum.",
    power="none",
)
exercise.option(
    "exp_left_out",
    "Your numbers are shifted scores over their sum: there is no exp in them.",
    "What becomes of the largest score once it is subtracted from itself?",
    why="The shift takes the line that the exponential was on.",
    power="left out",
)
exercise.option(
    "max_subtracted_after_exp",
    "Your largest score is subtracted from the exponentials, not from the scores.",
    "Where does the bracket close in `np.exp(x - …)`?",
    why="np.exp(x) - x.max() is one bracket away from np.exp(x - x.max()).",
    power="e, then shifted",
)
exercise.option(
    "powers_of_two",
    "Your numbers are made of powers of 2, not of e.",
    "Which number is raised to the power of the score in a softmax?",
    why="exp2 is one key from exp, and powers of 2 look alike: positive too.",
    power="2",
)
exercise.option(
    "shifted_in_place",
    "Your call changes the caller's own scores: the largest is subtracted from them.",
    "Does `x -= …` make a new array, or work on the caller's?",
    why="x -= … looks like x = x − …, but it changes the caller's array.",
    overwritten="differences",
)
exercise.option(
    "weights_written_into_x",
    "Your call writes its weights over the caller's scores; where these are "
    "integers, this raises an error or cuts the weights.",
    "Whose array is x, and who may still need the scores?",
    why="np.exp(x, out=x) and x /= … save an array and spend the caller's.",
    overwritten="weights",
)
exercise.option(
    "divided_by_the_largest_score",
    "Your scores are divided by the largest one before exp, where it should be "
    "subtracted: their distances change, and with a largest score of 0 you get NaN.",
    "Which of the two leaves the distances between scores as they are: taking the "
    "same number off each, or dividing each by it?",
    why="Dividing by the largest is how other things are normalised.",
    subtracted="nothing, divided by the largest",
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
    return variants(x, axis)
