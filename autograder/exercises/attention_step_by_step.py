"""Cases and misconceptions of ``attention_step_by_step``."""

import math

import numpy as np

from autograder import Exercise, families
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


@exercise.usual
def usual(rng):
    return rng.normal(size=4), rng.normal(size=(7, 4)), rng.normal(size=(7, 6))


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
    q1, k, v = (rng.normal(size=size) for size in (4, (7, 4), (7, 6)))
    student.agrees(q1, k, v)
    student.agrees(q1, keys_that_fade(q1, 6), rng.normal(size=(6, 5)))


@exercise.case("Weight j goes to value j, also with as many values as numbers in each")
def as_many_values_as_numbers(student, rng):
    # Square values let `weights * v` through, with each weight on a column.
    q1, k, v = (rng.normal(size=size) for size in (3, (5, 3), (5, 5)))
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


@exercise.case("The query, keys and values are not modified", weight=0.5)
def arguments_stay(student, rng):
    q1, k, v = (rng.integers(1, 9, size=size) for size in (4, (3, 4), (3, 2)))
    student.leaves_unchanged(q1.astype(float), k.astype(float), v.astype(float))


@exercise.variants
def variants(
    q1,
    k,
    v,
    *,
    scores_are="dot products",
    scale="√d_k",
    softmax_of="scaled",
    maximum="subtracted",
    weights_are="softmax",
    multiplied_by="weights",
    weighted="values",
    output="sum over values",
    returned="dictionary",
    overwritten="nothing",
):
    m, d_k = k.shape
    scores = k @ q1
    if scores_are == "cosines":
        scores = scores / (np.linalg.norm(k, axis=1) * np.linalg.norm(q1))
    divisor = {"√d_k": d_k**0.5, "d_k": d_k, "√m": m**0.5, "√d_v": v.shape[1] ** 0.5}
    divisor |= {"1 / √d_k": d_k**-0.5, "none": 1}
    scaled = scores / divisor[scale]
    exponents = scaled if softmax_of == "scaled" else scores
    if overwritten == "q1":
        q1 /= d_k**0.5
    if scores_are == "scaled" or overwritten == "q1":
        scores = scaled
    powers = np.exp(exponents - (exponents.max() if maximum == "subtracted" else 0))
    weights = {
        "softmax": powers / powers.sum(),
        "exponentials": powers,
        "scores": exponents,
        "shares of scores": exponents / exponents.sum(),
        "one for the largest": (exponents == exponents.max()).astype(float),
        "all the same": np.full(m, 1 / m),
        "0 below 0.01": np.where(
            powers < 0.01 * powers.sum(), 0, powers / powers.sum()
        ),
        "0 below 0.001": np.where(
            powers < 0.001 * powers.sum(), 0, powers / powers.sum()
        ),
    }[weights_are]
    rows = k if weighted == "keys" else v
    if weighted == "values of length 1":
        rows = v / np.linalg.norm(v, axis=1, keepdims=True)
    factor = {"weights": weights, "scaled": scaled, "scores": scores}[multiplied_by]
    if weighted == "columns":
        weighted_values = factor * v
    else:
        weighted_values = factor[:, np.newaxis] * rows
    if overwritten == "v":
        np.multiply(v, factor[:, np.newaxis], out=v)  # stops on integers
    summed = weighted_values.sum(axis=0)
    result = steps(scores, scaled, weights, weighted_values, summed)
    if output == "sum within values":
        result["output"] = weighted_values.sum(axis=1)
    elif output == "one row":
        result["output"] = summed[np.newaxis]
    elif output != "sum over values":
        whole = {"mean": summed / m, "sum": weighted_values.sum(), "keys": weights @ k}
        result["output"] = whole[output]
    if returned == "a column of weights":
        return result | {"weights": weights[:, np.newaxis]}
    if returned == "rows":
        rows = {name: result[name][np.newaxis] for name in [*result][:3]}
        return result | rows | {"output": summed[np.newaxis]}
    if returned == "columns":
        columns = {name: result[name][:, np.newaxis] for name in [*result][:3]}
        return result | columns
    whole = {"output": summed, "tuple": tuple(result.values())}
    whole |= {"list": [*result.values()], "two": (summed, weights)}
    return whole.get(returned, result)


exercise.option(
    "scores_scaled_as_well",
    'Your "scores" and "scaled" hold the same numbers.',
    "Which of the two should hold the dot products as they were before the division?",
    why="`scores /= …` or `scaled = scores` gives one array two names; or "
    "scaled_scores is called for the first step.",
    scores_are="scaled",
)
exercise.option(
    "cosines_for_scores",
    "Your scores are cosines: the lengths of the query and the keys are divided away.",
    "Does the first step divide by anything?",
    why="A dot product is taken for a similarity between −1 and 1.",
    scores_are="cosines",
)
exercise.option(
    "nothing_is_scaled",
    'Your "scaled" holds scores that are not divided.',
    "Which number do the scores have to be divided by?",
    why="The step is left for later, or taken for one that only renames.",
    scale="none",
)
exercise.option(
    "divided_by_d_k",
    "Your scores are divided by d_k.",
    "The variance of a dot product is d_k: what is its standard deviation?",
    why="Variance and standard deviation are mixed up.",
    scale="d_k",
)
exercise.option(
    "divided_by_root_of_m",
    "Your scores are divided by √m, the root of the number of keys.",
    "Which size makes a single dot product large: how many keys there are, or "
    "how long each one is?",
    why="len(k) or len(scores) is taken for d_k.",
    scale="√m",
)
exercise.option(
    "divided_by_root_of_d_v",
    "Your scores are divided by √d_v, the root of the length of a value.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="The size is read off v: d_k and d_v are equal in most models.",
    scale="√d_v",
)
exercise.option(
    "multiplied_by_root_of_d_k",
    "Your scores are multiplied by √d_k.",
    "Should longer keys make the scores grow or keep them in check?",
    why="The scale is applied in the wrong direction.",
    scale="1 / √d_k",
)
exercise.option(
    "softmax_of_unscaled",
    "Your weights come from the plain scores: the scaled ones are not used.",
    "Which result should the softmax start from?",
    why="Two names mean nearly the same, and the older one is taken.",
    softmax_of="scores",
)
exercise.option(
    "exponentials_overflow",
    "Your weights are NaN for large scores.",
    "How large is e to the power of 1000 in floating point, and how does "
    "`softmax` get round it?",
    why="exp(scores) / sum is written out again, without subtracting the maximum.",
    maximum="left in",
)
exercise.option(
    "exponentials_not_divided",
    "Your weights are powers of e that are not divided by their sum.",
    "What should the weights sum to?",
    why="Half of the softmax is written out, and the division is forgotten.",
    weights_are="exponentials",
)
exercise.option(
    "softmax_missing",
    "Your weights are scores: they can be negative.",
    "What makes positive weights that sum to 1 out of scores?",
    why="Scores are taken for weights: 'multiply the values by the scores'.",
    weights_are="scores",
)
exercise.option(
    "shares_of_the_scores",
    "Your weights are scores divided by their sum: they can be negative.",
    "What has to happen to a score before the division, so that every weight is "
    "positive?",
    why="'Normalise the scores so that they sum to 1' is read without the exponential.",
    weights_are="shares of scores",
)
exercise.option(
    "best_key_only",
    "Your weights are 1 for the key that fits best and 0 for all others.",
    "How much weight should a key get that fits almost as well as the best one?",
    why="Softmax is taken for the maximum that its name speaks of.",
    weights_are="one for the largest",
)
exercise.option(
    "everything_equally",
    "Your weights are all the same.",
    "Which key should get more weight than another?",
    why="'The mean of the values' is taken for the plain mean.",
    weights_are="all the same",
)
for smallest, name in (("0.01", "hundredth"), ("0.001", "thousandth")):
    exercise.option(
        f"weights_below_a_{name}_cut",
        f"Your weights below {smallest} became 0.",
        "To which scores does the softmax give a weight of exactly 0?",
        why="Small weights are taken for noise, and are tidied away.",
        weights_are=f"0 below {smallest}",
    )
exercise.option(
    "scores_times_values",
    "Your values are multiplied by the scaled scores: the weights are not used.",
    "What are the weights still needed for, after the softmax?",
    why="The weights are computed, and the name before them is typed.",
    multiplied_by="scaled",
)
exercise.option(
    "plain_scores_times_values",
    "Your values are multiplied by the plain scores: the weights are not used.",
    "What are the weights still needed for, after the softmax?",
    why="The weights are computed, and the first name is typed.",
    multiplied_by="scores",
)
exercise.option(
    "keys_weighted",
    "Your weighted values are weighted keys.",
    "Keys are for being found: what does a query take home?",
    why="The keys have been used up to here, and go on being used.",
    weighted="keys",
)
exercise.option(
    "values_normalised",
    "Your values are divided by their lengths before they are weighted.",
    "If all the weight lies on one key, what should come out?",
    why="Cosine similarity asks for vectors of length 1, and v gets it as well.",
    weighted="values of length 1",
)
exercise.option(
    "columns_weighted",
    "Your weight j multiplies column j of v, not row j.",
    "Against which axis of v does NumPy lay a vector of shape (m,), and on which "
    "axis do the m values lie?",
    why="`weights * v` broadcasts along the last axis, and so does `weights.T * v`.",
    weighted="columns",
)
exercise.option(
    "mean_of_weighted_values",
    "Your output is a mean of the weighted values: their sum, divided by m.",
    "What do the weights sum to already?",
    why="A weighted mean is taken for weighting and then taking the mean.",
    output="mean",
)
exercise.option(
    "summed_within_values",
    "Your output has one number per value: each weighted value is summed by itself.",
    "Which axis of the weighted values should be gone in the output: the m "
    "values, or the d_v numbers of each?",
    why="axis=1 is taken for 'over the rows': the axis named is the one that goes.",
    output="sum within values",
)
exercise.option(
    "summed_over_everything",
    "Your output is a single number: all weighted values are summed together.",
    "Which axis of the weighted values should be gone in the output, and which "
    "one stays?",
    why="sum() without an axis adds up the whole array.",
    output="sum",
)
exercise.option(
    "keys_in_the_output",
    "Your output is a mix of the keys.",
    "Keys are for being found: what does a query take home?",
    why="The sum is written out again as weights @ k, from the line with the scores.",
    output="keys",
)
exercise.option(
    "output_of_one_row",
    "Your output is a table of one row: its shape is (1, d_v).",
    "Which shape does the docstring promise for the output?",
    why="keepdims=True, or weights[np.newaxis] @ v, leaves a leading axis.",
    output="one row",
)
exercise.option(
    "columns_for_vectors",
    'Your "scores", "scaled" and "weights" have the shape (m, 1).',
    "Which shape does the docstring promise for them?",
    why="A query made a column, q1[:, np.newaxis], gives columns.",
    returned="columns",
)
exercise.option(
    "output_alone",
    "Your result is the output alone.",
    "What does the docstring put into the dictionary?",
    why="The last step is taken for all that is asked for.",
    returned="output",
)
exercise.option(
    "output_and_weights",
    "Your result is a tuple of the output and the weights.",
    "What does the docstring put into the dictionary?",
    why="`attention` returns these two, and so do most libraries.",
    returned="two",
)
exercise.option(
    "weights_kept_as_a_column",
    "Your weights are a table of one column: their shape is (m, 1).",
    "Which shape does the docstring promise for the weights of one query?",
    why="Each value times its weight needs a column, and the column is kept.",
    returned="a column of weights",
)
exercise.option(
    "steps_as_tables_of_one_row",
    "Your scores, weights and output are tables of one row, as if there were a batch.",
    "Which shape does the docstring promise for the scores of one query?",
    why="q1 is made a table for the formula of all queries, and stays one.",
    returned="rows",
)
exercise.option(
    "steps_in_a_tuple",
    "Your steps come in a tuple: they have no names.",
    "How does the caller ask for a step, such as the weights?",
    why="return a, b, c makes a tuple.",
    returned="tuple",
)
exercise.option(
    "steps_in_a_list",
    "Your steps come in a list: they have no names.",
    "How does the caller ask for a step, such as the weights?",
    why="A list that grows with each step is returned as it is.",
    returned="list",
)
exercise.option(
    "values_weighted_in_place",
    "Your call writes the weighted values into v: the caller's array stays so.",
    "What does `v *= …` do to the array that the caller holds?",
    why="`v *= …` looks like a new v, and changes the old one.",
    overwritten="v",
)
exercise.option(
    "query_scaled_in_place",
    'Your call divides q1 in place, and "scores" and "scaled" hold the same numbers.',
    "What does `q1 /= …` do to the array that the caller holds?",
    why="`q1 /= …` looks like a new q1, and changes the old one.",
    overwritten="q1",
)
exercise.family(
    families.squeezed(),
    families.as_list(),
)
