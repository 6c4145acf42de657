"""Cases and misconceptions of ``attention_step_by_step``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from course_lib.attention import attention_step_by_step

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


def keys_that_fade(q1, m):
    """Return keys with scaled scores of 0, −2, −4, …: small weights count, too."""
    step = -2.0 * math.sqrt(len(q1)) * q1 / (q1 @ q1)
    return np.outer(np.arange(m), step)


inputs = exercise.inputs(m=7, d_k=4, d_v=6)


@exercise.usual
def usual(rng):
    return inputs(rng)


@exercise.case(
    "One query, three keys and three values give the right numbers step by step"
)
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


@exercise.case("Each step works on what the step before gave", weight=2.5)
def each_step_from_the_one_before(student, rng):
    q1, k, v = inputs(rng)
    student.agrees(q1, k, v)
    student.agrees(q1, keys_that_fade(q1, 6), rng.normal(size=(6, 5)))


@exercise.case("Weight j goes to value j, also with as many values as numbers in each")
def as_many_values_as_numbers(student, rng):
    # Square values let `weights * v` through, with each weight on a column.
    q1, k, v = inputs(rng, m=5, d_k=3, d_v=5)
    student.agrees(q1, k, v)
    student.agrees(q1, keys_that_fade(q1, 5), v)


@exercise.case(
    "Keys that are all equal give the plain mean of the values",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def equal_keys(student, rng):
    q1, v = rng.normal(size=4), rng.normal(size=(7, 6))
    k = np.tile(rng.normal(size=4), (7, 1))
    output = student(q1, k, v)["output"]
    student.expect(output, v.mean(axis=0), what="the output")


@exercise.case(
    "Where one key fits far better than the others, the output is its value", weight=0.5
)
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


@exercise.case(
    "A single key gives its value alone", visible=False, pays_alone=False, weight=0.5
)
def single_key(student, rng):
    v = rng.normal(size=(1, 6))
    scores = np.array([3.0])
    expected = steps(scores, scores / 2, np.ones(1), v, v[0])
    student.expect(
        student(np.array([1.0, 0.0, 2.0, 0.0]), np.ones((1, 4)), v), expected
    )


exercise.case("The query, keys and values are not modified", weight=0.5)(
    standard_cases.arguments_stay(inputs, dict(m=3, d_v=2, whole=(1, 9)))
)


exercise.edits(
    """
scores_scaled_as_well: 'scores': scores -> 'scores': scaled
  Your "scores" and "scaled" hold the same numbers.
  ? Which of the two should hold the dot products as they were before the division?
  # `scores /= …` or `scaled = scores` gives one array two names; or scaled_scores is
    called for the first step.
cosines_for_scores: k @ q1 -> k @ q1 / (np.linalg.norm(k, axis=1) * np.linalg.norm(q1))
  Your scores are cosines: the lengths of the query and the keys are divided away.
  ? Does the first step divide by anything?
  # A dot product is taken for a similarity between −1 and 1.
nothing_is_scaled: scaled = scores
  Your "scaled" holds scores that are not divided.
  ? Which number do the scores have to be divided by?
  # The step is left for later, or taken for one that only renames.
divided_by_d_k: q1.shape[-1] ** 0.5 -> q1.shape[-1]
  Your scores are divided by d_k.
  ? The variance of a dot product is d_k: what is its standard deviation?
  # Variance and standard deviation are mixed up.
divided_by_root_of_m: q1.shape[-1] -> k.shape[0]
  Your scores are divided by √m, the root of the number of keys.
  ? Which size makes a single dot product large: how many keys there are, or how long
    each one is?
  # len(k) or len(scores) is taken for d_k.
divided_by_root_of_d_v: q1.shape[-1] -> v.shape[-1]
  Your scores are divided by √d_v, the root of the length of a value.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # The size is read off v: d_k and d_v are equal in most models.
multiplied_by_root_of_d_k: scores / q1 -> scores * q1
  Your scores are multiplied by √d_k.
  ? Should longer keys make the scores grow or keep them in check?
  # The scale is applied in the wrong direction.
softmax_of_unscaled: softmax(scaled) -> softmax(scores)
  Your weights come from the plain scores: the scaled ones are not used.
  ? Which result should the softmax start from?
  # Two names mean nearly the same, and the older one is taken.
exponentials_overflow: weights = np.exp(scaled) / np.exp(scaled).sum()
  Your weights are NaN for large scores.
  ? How large is e to the power of 1000 in floating point, and how does `softmax` get
    round it?
  # exp(scores) / sum is written out again, without subtracting the maximum.
exponentials_not_divided: weights = np.exp(scaled - scaled.max())
  Your weights are powers of e that are not divided by their sum.
  ? What should the weights sum to?
  # Half of the softmax is written out, and the division is forgotten.
softmax_missing: weights = scaled
  Your weights are scores: they can be negative.
  ? What makes positive weights that sum to 1 out of scores?
  # Scores are taken for weights: 'multiply the values by the scores'.
shares_of_the_scores: weights = scaled / scaled.sum()
  Your weights are scores divided by their sum: they can be negative.
  ? What has to happen to a score before the division, so that every weight is
    positive?
  # 'Normalise the scores so that they sum to 1' is read without the exponential.
best_key_only: weights = (scaled == scaled.max()).astype(float)
  Your weights are 1 for the key that fits best and 0 for all others.
  ? How much weight should a key get that fits almost as well as the best one?
  # Softmax is taken for the maximum that its name speaks of.
everything_equally: weights = np.full(len(k), 1 / len(k))
  Your weights are all the same.
  ? Which key should get more weight than another?
  # 'The mean of the values' is taken for the plain mean.
weights_below_a_hundredth_cut:
  | weights = softmax(scaled) ->
  :     weights = softmax(scaled)
  :     weights[weights < 0.01] = 0
  Your weights below 0.01 became 0.
  ? To which scores does the softmax give a weight of exactly 0?
  # Small weights are taken for noise, and are tidied away.
weights_below_a_thousandth_cut:
  | weights = softmax(scaled) ->
  :     weights = softmax(scaled)
  :     weights[weights < 0.001] = 0
  Your weights below 0.001 became 0.
scores_times_values: weights[:, np.newaxis] -> scaled[:, np.newaxis]
  Your values are multiplied by the scaled scores: the weights are not used.
  ? What are the weights still needed for, after the softmax?
  # The weights are computed, and the name before them is typed.
plain_scores_times_values: weights[:, np.newaxis] -> scores[:, np.newaxis]
  Your values are multiplied by the plain scores: the weights are not used.
  # The weights are computed, and the first name is typed.
keys_weighted: * v -> * k
  Your weighted values are weighted keys.
  ? Keys are for being found: what does a query take home?
  # The keys have been used up to here, and go on being used.
values_normalised: * v -> * v / np.linalg.norm(v, axis=1, keepdims=True)
  Your values are divided by their lengths before they are weighted.
  ? If all the weight lies on one key, what should come out?
  # Cosine similarity asks for vectors of length 1, and v gets it as well.
columns_weighted: weights[:, np.newaxis] -> weights
  Your weight j multiplies column j of v, not row j.
  ? Against which axis of v does NumPy lay a vector of shape (m,), and on which axis
    do the m values lie?
  # `weights * v` broadcasts along the last axis, and so does `weights.T * v`.
mean_of_weighted_values: .sum -> .mean
  Your output is a mean of the weighted values: their sum, divided by m.
  ? What do the weights sum to already?
  # A weighted mean is taken for weighting and then taking the mean.
summed_within_values: axis=0 -> axis=1
  Your output has one number per value: each weighted value is summed by itself.
  ? Which axis of the weighted values should be gone in the output: the m values, or
    the d_v numbers of each?
  # axis=1 is taken for 'over the rows': the axis named is the one that goes.
summed_over_everything: axis=0 ->
  Your output is a single number: all weighted values are summed together.
  ? Which axis of the weighted values should be gone in the output, and which one
    stays?
  # sum() without an axis adds up the whole array.
keys_in_the_output: weighted_values.sum(axis=0) -> weights @ k
  Your output is a mix of the keys.
  ? Keys are for being found: what does a query take home?
  # The sum is written out again as weights @ k, from the line with the scores.
output_of_one_row: axis=0 -> axis=0, keepdims=True
  Your output is a table of one row: its shape is (1, d_v).
  ? Which shape does the docstring promise for the output?
  # keepdims=True, or weights[np.newaxis] @ v, leaves a leading axis.
columns_for_vectors:
  | k @ q1 -> k @ q1[:, np.newaxis]
  | softmax(scaled) -> softmax(scaled, axis=0)
  | weights[:, np.newaxis] -> weights
  Your "scores", "scaled" and "weights" have the shape (m, 1).
  ? Which shape does the docstring promise for them?
  # A query made a column, q1[:, np.newaxis], gives columns.
output_alone: return weighted_values.sum(axis=0)
  Your result is the output alone.
  ? What does the docstring put into the dictionary?
  # The last step is taken for all that is asked for.
output_and_weights: return (weighted_values.sum(axis=0), weights)
  Your result is a tuple of the output and the weights.
  # `attention` returns these two, and so do most libraries.
weights_kept_as_a_column:
  | softmax(scaled) -> softmax(scaled)[:, np.newaxis]
  | weights[:, np.newaxis] -> weights
  Your weights are a table of one column: their shape is (m, 1).
  ? Which shape does the docstring promise for the weights of one query?
  # Each value times its weight needs a column, and the column is kept.
steps_as_tables_of_one_row:
  | k @ q1 -> q1[np.newaxis] @ k.T
  | weights[:, np.newaxis] -> weights.T
  | axis=0 -> axis=0, keepdims=True
  Your scores, weights and output are tables of one row, as if there were a batch.
  ? Which shape does the docstring promise for the scores of one query?
  # q1 is made a table for the formula of all queries, and stays one.
steps_in_a_tuple:
  | return (scores, scaled, weights, weighted_values, weighted_values.sum(axis=0))
  Your steps come in a tuple: they have no names.
  ? How does the caller ask for a step, such as the weights?
  # return a, b, c makes a tuple.
steps_in_a_list:
  | return [scores, scaled, weights, weighted_values, weighted_values.sum(axis=0)]
  Your steps come in a list: they have no names.
  # A list that grows with each step is returned as it is.
values_weighted_in_place:
  | weighted_values = … ->
  :     weighted_values = v
  :     weighted_values *= weights[:, np.newaxis]
  Your call writes the weighted values into v: the caller's array stays so.
  ? What does `v *= …` do to the array that the caller holds?
  # `v *= …` looks like a new v, and changes the old one.
query_scaled_in_place:
  | q1 /= q1.shape[-1] ** 0.5
  | scaled = scores
  Your call divides q1 in place, and "scores" and "scaled" hold the same numbers.
  ? What does `q1 /= …` do to the array that the caller holds?
  # `q1 /= …` looks like a new q1, and changes the old one.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
)
