"""Cases and misconceptions of ``attention_step_by_step``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import attention_step_by_step, softmax

exercise = Exercise(
    attention_step_by_step,
    lesson="01_dot_product_attention",
    minutes=15,
    difficulty=1,
    uses=("softmax",),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
    ),
)


@exercise.spec
def spec(q1, k, v):
    (d_k,), (m, d_v) = q1.shape, v.shape
    scores, scaled = np.zeros(m), np.zeros(m)
    weights, weighted_values, output = np.zeros(m), np.zeros((m, d_v)), np.zeros(d_v)
    for j in range(m):
        scores[j] = sum(float(q1[c]) * float(k[j, c]) for c in range(d_k))
        scaled[j] = scores[j] / math.sqrt(d_k)
    powers = [math.exp(score - max(scaled)) for score in scaled]
    for j in range(m):
        weights[j] = powers[j] / sum(powers)
        for c in range(d_v):
            weighted_values[j, c] = weights[j] * float(v[j, c])
            output[c] += weighted_values[j, c]
    return steps(scores, scaled, weights, weighted_values, output)


def steps(scores, scaled, weights, weighted_values, output):
    """Put what the steps gave into a dictionary, as the exercise asks."""
    return {
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "weighted_values": weighted_values,
        "output": output,
    }


@exercise.usual
def usual(rng):
    return rng.normal(size=4), rng.normal(size=(7, 4)), rng.normal(size=(7, 6))


@exercise.case("One query, three keys and three values give these numbers step by step")
def small_example_by_hand(student, rng):
    q1 = np.array([1.0, 2.0, 0.0, 1.0])
    k = np.array([[0.0, 0.0, 3.0, 0.0], [2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 4.0, 1.0]])
    v = np.array([[10.0, 0.0], [0.0, 10.0], [30.0, 20.0]])
    e = math.e
    total = 1 + e + e * e
    expected = steps(
        scores=np.array([0.0, 2.0, 4.0]),
        scaled=np.array([0.0, 1.0, 2.0]),
        weights=np.array([1, e, e * e]) / total,
        weighted_values=np.array([[10, 0], [0, 10 * e], [30 * e * e, 20 * e * e]])
        / total,
        output=np.array([10 + 30 * e * e, 10 * e + 20 * e * e]) / total,
    )
    student.expect(student(q1, k, v), expected)


@exercise.case("Each step works on what the step before gave")
def each_step_from_the_one_before(student, rng):
    q1, k, v = (rng.normal(size=size) for size in (4, (7, 4), (7, 6)))
    student.agrees(q1, k, v)


@exercise.case("Weight j goes to value j, also with as many values as numbers in each")
def as_many_values_as_numbers(student, rng):
    # Square values let `weights * v` through, with each weight on a column.
    q1, k, v = (rng.normal(size=size) for size in (3, (5, 3), (5, 5)))
    student.agrees(q1, k, v)


@exercise.case(
    "Keys that are all equal give the plain mean of the values",
    visible=False,
    pays_alone=False,
)
def equal_keys(student, rng):
    q1, v = rng.normal(size=4), rng.normal(size=(7, 6))
    k = np.tile(rng.normal(size=4), (7, 1))
    output = student(q1, k, v)["output"]
    student.expect(output, v.mean(axis=0), what="the output")


@exercise.case("A key that fits far better than the others gives its value alone")
def one_key_wins(student, rng):
    q1, k = 200.0 * np.eye(4)[3], 200.0 * np.eye(4)[[0, 3, 2]]
    v = np.array([[1.0, 2.0], [3.0, 5.0], [-7.0, 8.0]])
    student.expect(student(q1, k, v)["output"], v[1], what="the output")
    # At right angles too, but turned, so that only the dot products tell who wins.
    for _ in range(3):
        *rows, rest = np.linalg.qr(rng.normal(size=(4, 4))).Q
        k, v, winner = 200.0 * np.array(rows), rng.normal(size=(3, 2)), rng.integers(3)
        output = student(k[winner] + 200.0 * rest, k, v)["output"]
        student.expect(output, v[winner], what="the output")


@exercise.case("Values of whole numbers are weighted like any others", visible=False)
def whole_numbers(student, rng):
    # Only v: from a whole q1 and k the plain scores may be whole numbers too.
    q1, k = rng.normal(size=4), rng.normal(size=(7, 4))
    student.agrees(q1, k, rng.integers(-9, 10, size=(7, 6)))


@exercise.case("The query, keys and values stay as they are")
def arguments_stay(student, rng):
    q1, k, v = (rng.integers(1, 9, size=size) for size in (4, (3, 4), (3, 2)))
    student.leaves_unchanged(q1.astype(float), k.astype(float), v.astype(float))


def from_scores(scores, scaled, v):
    """Compute the last three steps rightly, whatever the first two gave."""
    weights = softmax(scaled)
    weighted_values = weights[:, np.newaxis] * v
    return steps(scores, scaled, weights, weighted_values, weighted_values.sum(axis=0))


def first_three_steps(q1, k):
    """Compute the first three steps rightly."""
    scores = k @ q1
    scaled = scores / np.sqrt(q1.shape[-1])
    return scores, scaled, softmax(scaled)


@exercise.misconception(
    "Your weights are the softmax of the plain scores: the scaled ones are not used.",
    "Which result should the softmax start from?",
    why="Two names mean nearly the same, and the older one is taken.",
)
def softmax_of_unscaled(q1, k, v):
    scores, scaled, _ = first_three_steps(q1, k)
    return {**from_scores(scores, scores, v), "scaled": scaled}


@exercise.misconception(
    'Your "scores" and "scaled" hold the same numbers: the scores are scaled already.',
    "Which of the two should hold the dot products as they were before the division?",
    why="`scores /= …` or `scaled = scores` gives one array two names; or "
    "scaled_scores is called for the first step.",
)
def scores_scaled_as_well(q1, k, v):
    _, scaled, _ = first_three_steps(q1, k)
    return from_scores(scaled, scaled, v)


@exercise.misconception(
    "Your scores are divided by d_k.",
    "The variance of a dot product is d_k: what is its standard deviation?",
    why="Variance and standard deviation are mixed up.",
)
def divided_by_d_k(q1, k, v):
    scores = k @ q1
    return from_scores(scores, scores / q1.shape[-1], v)


@exercise.misconception(
    "Your scores are divided by √m, the root of the number of keys.",
    "Which size makes a single dot product large: how many keys there are, "
    "or how long each one is?",
    why="len(k) or len(scores) is taken for d_k.",
)
def divided_by_root_of_m(q1, k, v):
    scores = k @ q1
    return from_scores(scores, scores / np.sqrt(len(k)), v)


@exercise.misconception(
    "Your weights are the scaled scores divided by their sum: they can be negative.",
    "What has to happen to a score before the division, so that every weight is "
    "positive?",
    why="'Normalise the scores so that they sum to 1' is read without the exponential.",
)
def shares_of_the_scores(q1, k, v):
    scores, scaled, _ = first_three_steps(q1, k)
    weights = scaled / scaled.sum()
    weighted_values = weights[:, np.newaxis] * v
    return steps(scores, scaled, weights, weighted_values, weighted_values.sum(axis=0))


@exercise.misconception(
    "Your values are multiplied by the scaled scores: the weights are not used.",
    "What are the weights still needed for, after the softmax?",
    why="The weights are computed and kept, and the name before them is typed.",
)
def scores_times_values(q1, k, v):
    scores, scaled, weights = first_three_steps(q1, k)
    weighted_values = scaled[:, np.newaxis] * v
    return steps(scores, scaled, weights, weighted_values, weighted_values.sum(axis=0))


@exercise.misconception(
    "Your weighted values are weighted keys.",
    "Keys are for being found: what does a query take home?",
    why="The keys have been used up to here, and go on being used.",
)
def keys_weighted(q1, k, v):
    return from_scores(*first_three_steps(q1, k)[:2], k)


@exercise.misconception(
    "Your weights go to the columns of v; where v is not square, that stops.",
    "Against which axis of v does NumPy lay a vector of shape (m,), "
    "and on which axis do the m values lie?",
    why="`weights * v` broadcasts along the last axis, and so does `weights.T * v`.",
)
def columns_weighted(q1, k, v):
    scores, scaled, weights = first_three_steps(q1, k)
    weighted_values = weights * v
    return steps(scores, scaled, weights, weighted_values, weighted_values.sum(axis=0))


@exercise.misconception(
    "Your output is the mean of the weighted values: their sum, divided by m.",
    "What do the weights sum to already?",
    why="A weighted mean is taken for weighting and then taking the mean.",
)
def mean_of_weighted_values(q1, k, v):
    right = from_scores(*first_three_steps(q1, k)[:2], v)
    return {**right, "output": right["weighted_values"].mean(axis=0)}


@exercise.misconception(
    "Your output has one number per value: each weighted value is summed by itself.",
    "Which axis of the weighted values should be gone in the output: "
    "the m values, or the d_v numbers of each?",
    why="axis=1 is taken for 'over the rows': the axis named is the one that goes.",
)
def summed_within_values(q1, k, v):
    right = from_scores(*first_three_steps(q1, k)[:2], v)
    return {**right, "output": right["weighted_values"].sum(axis=1)}


@exercise.misconception(
    "Your weights are right for small scores and NaN for large ones.",
    "How large is e to the power of 1000 in floating point, and how does `softmax` "
    "get round it?",
    why="exp(scores) / sum is written out anew, without subtracting the maximum first.",
)
def exponentials_overflow(q1, k, v):
    scores, scaled, _ = first_three_steps(q1, k)
    weights = np.exp(scaled) / np.exp(scaled).sum()
    weighted_values = weights[:, np.newaxis] * v
    return steps(scores, scaled, weights, weighted_values, weighted_values.sum(axis=0))


@exercise.misconception(
    "Your weighted values lose everything after the decimal point when v holds "
    "whole numbers.",
    "Which dtype has the array that you write the weighted values into?",
    why="np.zeros_like(v) has the right shape and takes over v's integers.",
)
def cut_to_whole_numbers(q1, k, v):
    scores, scaled, weights = first_three_steps(q1, k)
    weighted_values = np.zeros_like(v)
    for j in range(len(v)):
        weighted_values[j] = weights[j] * v[j]
    return steps(scores, scaled, weights, weighted_values, weighted_values.sum(axis=0))


@exercise.misconception(
    "Your steps are right, but v is weighted in place and stays so.",
    "What does `v *= …` do to the array that the caller holds?",
    why="`v *= …` looks like a new v, and changes the old one.",
)
def values_weighted_in_place(q1, k, v):
    scores, scaled, weights = first_three_steps(q1, k)
    v *= weights[:, np.newaxis]
    return steps(scores, scaled, weights, v, v.sum(axis=0))
