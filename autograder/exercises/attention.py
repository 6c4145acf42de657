"""Cases and misconceptions of ``attention``."""

import math

import numpy as np

from autograder import Exercise, families
from autograder.exercises.similarity_attention import (
    exercise as similarity_attention_exercise,
)
from course_lib.attention import attention

exercise = Exercise(
    attention,
    lesson="01_dot_product_attention",
    minutes=10,
    difficulty=2,
    uses=("softmax", "scaled_scores"),
    returns=("output", "weights"),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
    ),
)


@exercise.spec
def spec(q, k, v):
    *leading, n, d_k = q.shape
    m, d_v = v.shape[-2:]
    output, weights = np.zeros((*leading, n, d_v)), np.zeros((*leading, n, m))
    for index in np.ndindex(*leading, n):
        *batch, i = index
        scores = []
        for j in range(m):
            dot = sum(float(q[*index, c]) * float(k[*batch, j, c]) for c in range(d_k))
            scores.append(dot / math.sqrt(d_k))
        powers = [math.exp(score - max(scores)) for score in scores]
        for j in range(m):
            weights[*batch, i, j] = powers[j] / sum(powers)
            for c in range(d_v):
                output[*batch, i, c] += weights[*batch, i, j] * float(v[*batch, j, c])
    return output, weights


@exercise.usual
def usual(rng):
    q, k = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 7, 4))
    return q, k, rng.normal(size=(2, 7, 6))


@exercise.case(
    "Two queries, three keys and three values give the right mix", weight=0.5
)
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    k = np.array([[0.0, 1.0, 0.0, 3.0], [1.0, 0.0, 1.0, 0.0], [3.0, 0.0, 1.0, 1.0]])
    v = np.array([[10.0, 0.0], [0.0, 10.0], [30.0, 40.0]])
    e = math.e  # the scaled scores are 0, 1, 2 and 1, 0, 0
    weights = np.array([[1, e, e * e], [e, 1, 1]])
    weights /= np.array([[1 + e + e * e], [e + 2]])
    first = [10 + 30 * e * e, 10 * e + 40 * e * e]
    second = [10 * e + 30, 10 + 40]
    output = np.array([first, second]) / np.array([[1 + e + e * e], [e + 2]])
    student.expect(student(q, k, v), (output, weights))


@exercise.case("Each sequence of a batch is handled by itself", weight=3.5)
def leading_axes(student, rng):
    q, k = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4))
    student.agrees(q, k, rng.normal(size=(2, 3, 7, 6)))
    # Scaled scores of 0, −2, … −10: small weights are weights, too.
    q = rng.normal(size=(2, 4))
    k = np.stack([-4.0 * np.outer(np.arange(6), row / (row @ row)) for row in q])
    student.agrees(q[:, np.newaxis], k, rng.normal(size=(2, 6, 3)))


@exercise.case(
    "With as many keys as queries, row i still belongs to query i", weight=0.5
)
def as_many_keys_as_queries(student, rng):
    # A table of weights with as many rows as columns hides which is which, and square
    # values let `v @ weights` through.
    q, k = rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    student.agrees(q, k, rng.normal(size=(5, 5)))


@exercise.case(
    "Keys that are all equal give the plain mean of the values",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def equal_keys(student, rng):
    q, v = rng.normal(size=(5, 4)), rng.normal(size=(7, 6))
    k = np.tile(rng.normal(size=4), (7, 1))
    mean = np.tile(v.mean(axis=0), (5, 1))
    student.expect(student(q, k, v), (mean, np.full((5, 7), 1 / 7)))


@exercise.case(
    "Where one key fits far better than the others, the output is its value", weight=0.5
)
def one_key_wins(student, rng):
    q = 200.0 * np.eye(4)[[3, 0]]
    k = 200.0 * np.eye(4)[[0, 2, 3]]
    v = np.array([[1.0, 2.0], [3.0, 5.0], [-7.0, 8.0]])
    student.expect(student(q, k, v), (v[[2, 0]], np.eye(3)[[2, 0]]))
    # At right angles too, but turned, so that only the dot products tell who wins.
    for _ in range(3):
        *rows, rest = np.linalg.qr(rng.normal(size=(4, 4))).Q
        k, v, winners = (
            200.0 * np.array(rows),
            rng.normal(size=(3, 2)),
            rng.permutation(3),
        )
        winners = winners[:2]
        expected = v[winners], np.eye(3)[winners]
        student.expect(student(k[winners] + 200.0 * rest, k, v), expected)


@exercise.case(
    "Keys and values reordered together give the same output",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def pairs_reordered(student, rng):
    q, k, v = (rng.normal(size=size) for size in ((5, 4), (7, 4), (7, 6)))
    before, _ = student(q, k, v)
    after, _ = student(q, np.roll(k, 3, axis=0), np.roll(v, 3, axis=0))
    student.expect(after, before, what="the output after the change")


@exercise.case("Next to a long query, the rows of all queries are right", weight=0.5)
def one_long_query(student, rng):
    q, k, v = (rng.normal(size=size) for size in ((5, 4), (7, 4), (7, 6)))
    q[2] *= 5000.0  # e to the power of the other rows' scores minus its own is 0
    student.agrees(q, k, v)


@exercise.case("A single query gives the right tables of one row", weight=0.5)
def single_query(student, rng):
    q, k, v = (rng.normal(size=size) for size in ((1, 4), (7, 4), (7, 6)))
    student.agrees(q, k, v)


@exercise.fine_point("Queries, keys and values of integers are treated like any others")
def whole_numbers(student, rng):
    q, k = rng.integers(-2, 3, size=(2, 3)), rng.integers(-2, 3, size=(4, 3))
    student.agrees(q, k, rng.integers(-9, 10, size=(4, 2)))


@exercise.case("The queries, keys and values are not modified", weight=0.5)
def arguments_stay(student, rng):
    # As many queries as keys: weightsᵀ v has a value here, and not only an exception.
    q, k, v = (rng.integers(1, 9, size=size) for size in ((3, 4), (3, 4), (3, 2)))
    student.leaves_unchanged(q.astype(float), k.astype(float), v.astype(float))


@exercise.variants
def variants(
    q,
    k,
    v,
    *,
    scale="√d_k",
    maximum="of the row",
    weights_are="softmax",
    axis=-1,
    may_attend="to all keys",
    product="weights @ values",
    mixed="values",
    second="weights",
    turned="last two axes",
    scored="queries with keys",
    softmaxed="once",
    overwritten="nothing",
    returned="tuple",
):
    d_k, d_v, m = q.shape[-1], v.shape[-1], k.shape[-2]
    divisor = {"√d_k": d_k**0.5, "d_k": d_k, "√d_v": d_v**0.5, "√m": m**0.5}
    if overwritten == "q":
        q /= np.sqrt(d_k)
        scale = "none"
    if scored == "keys with queries":
        q, k = k, q
    keys = k.T if turned == "all axes" else np.swapaxes(k, -1, -2)
    scores = q @ keys / divisor.get(scale, 1)
    if may_attend == "to earlier keys":
        triangle = np.tril(np.ones(scores.shape[-2:], dtype=bool))
        scores = np.where(triangle, scores, -np.inf)
    largest = {
        "of the row": scores.max(axis=axis, keepdims=True),
        "of everything": scores.max(),
        "left in": 0.0,
    }
    powers = np.exp(scores - largest[maximum])
    weights = {
        "softmax": powers / powers.sum(axis=axis, keepdims=True),
        "exponentials": powers,
        "scores": scores,
        "shares of scores": scores / scores.sum(axis=axis, keepdims=True),
    }.get(weights_are, powers / powers.sum(axis=axis, keepdims=True))
    if weights_are == "0 below 0.001":
        weights = np.where(weights < 0.001, 0.0, weights)
    if scale == "after the softmax":
        weights = weights / np.sqrt(d_k)
    if mixed == "values of length 1":
        v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    if softmaxed == "twice":
        powers = np.exp(weights - weights.max(axis=axis, keepdims=True))
        weights = powers / powers.sum(axis=axis, keepdims=True)
    rows = k if mixed == "keys" else v
    if product == "weights @ values":
        output = weights @ rows
    elif product == "values @ weights":
        output = rows @ weights
    elif product == "scores @ values":
        output = scores @ rows
    elif product == "none":
        output = weights
    else:
        output = np.swapaxes(weights, -1, -2) @ rows
    if softmaxed == "output too":
        powers = np.exp(output - output.max(axis=-1, keepdims=True))
        output = powers / powers.sum(axis=-1, keepdims=True)
    if returned == "a dictionary":
        return {"output": output, "weights": weights}
    return output, {"weights": weights, "scores": scores, "powers": powers}[second]


exercise.option(
    "softmax_over_queries",
    "Your columns of weights sum to 1, not your rows.",
    "Who shares out a weight of 1: a query among the keys, or a key among the queries?",
    why="axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.",
    axis=-2,
)
exercise.option(
    "softmax_over_axis_one",
    "Your softmax runs along axis 1, which holds the keys only in a single matrix.",
    "Which axis holds the keys with a batch in front?",
    why="softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.",
    axis=1,
)
exercise.option(
    "softmax_over_everything",
    "All your weights together sum to 1, not each row.",
    "How much weight has one query to share out?",
    why="Without an axis, max() and sum() take in the whole array.",
    axis=None,
)
exercise.option(
    "weights_transposed",
    "Your output is weightsᵀ v: row i is mixed with column i of the weights; where n "
    "and m differ, this can raise an error.",
    "Whose weights are in row i of the table, and whose in column i?",
    why="The ᵀ of QKᵀ is applied once more; with n = m nothing complains.",
    product="weightsᵀ @ values",
)
exercise.option(
    "values_times_weights",
    "Your output is v @ weights; where that does not stop, each number of a value is "
    "used as the weight of a row of weights.",
    "Row i of a product A @ B mixes the rows of one of the two: of which, and what "
    "should be mixed here?",
    why="A product of numbers does not mind the order, and 'v times weights' sounds "
    "the same.",
    product="values @ weights",
)
exercise.option(
    "scores_mixed",
    "Your output is the product of the scores with the values.",
    "Which table has rows that sum to 1, as a mean needs them?",
    why="Two tables have the shape (n, m), and the softmax is kept for the pictures.",
    product="scores @ values",
)
exercise.option(
    "weights_as_output",
    "Your `output` is the table of weights once more: the values are not in it.",
    "Which argument have you not used yet, and how long are its rows?",
    why="The weights are the last thing that was computed, and are returned twice.",
    product="none",
)
exercise.option(
    "softmax_of_the_output",
    "A softmax is applied to your output: its rows sum to 1.",
    "Which of the two results has to sum to 1 in each row, and is it the output?",
    why="softmax closes around the product with the values, or is called once more.",
    softmaxed="output too",
)
exercise.option(
    "softmax_twice",
    "Your weights went through the softmax twice: they lie close to each other.",
    "What are the largest and the smallest number that go into your second softmax?",
    why="The softmax is written in the line of the scores, and in that of the weights.",
    softmaxed="twice",
)
exercise.option(
    "queries_and_keys_swapped",
    "Your scores are those of the keys with the queries: each row belongs to a key. "
    "Where n and m differ, the product with the values does not fit.",
    "Which argument of `scaled_scores` gives its result its rows?",
    why="The two arguments are given in the other order.",
    scored="keys with queries",
)
exercise.option(
    "results_in_a_dictionary",
    "Your two results come in a dictionary.",
    "Which type of result does the docstring's example take apart?",
    why="Names for results are what a dictionary has.",
    returned="a dictionary",
)
exercise.option(
    "all_axes_reversed",
    "Your keys have all their axes reversed: with a batch, the axis of the sequences "
    "becomes the last.",
    "For an array of shape (2, 7, 4), what is the shape of its `.T`?",
    why="`.T` is learned on matrices, where it swaps the only two axes there are.",
    turned="all axes",
)
exercise.option(
    "softmax_over_axis_zero",
    "Your weights are shared out along axis 0: the queries of a table, the sequences "
    "of a batch.",
    "Which axis counts the keys, however many come before it?",
    why="axis=0 is taken for the first thing that comes to mind, the rows.",
    axis=0,
)
exercise.option(
    "scores_returned",
    "The second array that you return holds the scaled scores.",
    "Which table has rows that sum to 1?",
    why="Both tables have shape (n, m), and names such as 'attention' mean either.",
    second="scores",
)
exercise.option(
    "values_normalised",
    "Your values are divided by their lengths before they are mixed.",
    "If all the weight lies on one key, what should come out?",
    why="Cosine similarity asks for vectors of length 1, and v gets it as well.",
    mixed="values of length 1",
)
exercise.option(
    "softmax_missing",
    "Your weights are the scores themselves: they can be negative.",
    "What makes positive weights that sum to 1 out of scores?",
    why="Scores are taken for weights: 'multiply the values by the scores'.",
    weights_are="scores",
)
exercise.option(
    "shares_of_scores",
    "Your weights are the scores divided by their sum: they can be negative.",
    "What is done to the scores first, so that every share is positive?",
    why="'Weights that sum to 1' suggests a division by the sum at once.",
    weights_are="shares of scores",
)
exercise.option(
    "no_scale",
    "Your scores are the plain dot products.",
    "What happens to the dot products before the softmax?",
    why="Many write-ups have softmax(QKᵀ)V, without the square root.",
    scale="none",
)
exercise.option(
    "scaled_twice",
    "Your dot products are divided by d_k.",
    "Which power of d_k does the formula divide by, and has `scaled_scores` done that "
    "already?",
    why="The formula's square root is written down again after calling scaled_scores.",
    scale="d_k",
)
exercise.option(
    "scaled_after_softmax",
    "Your scores are the plain dot products, and your weights are divided by √d_k.",
    "What does a division do to a sum of 1, and what does it do to a score?",
    why="The brackets of softmax(QKᵀ/√d_k) are closed too early.",
    scale="after the softmax",
)
exercise.option(
    "divided_by_root_of_d_v",
    "Your dot products are divided by √d_v, the root of the length of a value.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="The size is read off v: d_k and d_v are equal in most models.",
    scale="√d_v",
)
exercise.option(
    "divided_by_root_of_m",
    "Your dot products are divided by √m, the root of the number of keys.",
    "Over how many products does one dot product sum?",
    why="k.shape[-2] is read for k.shape[-1], or len(k) for the length of a key.",
    scale="√m",
)
exercise.option(
    "keys_mixed",
    "Your output is a mix of the keys.",
    "Keys are for being found: what does a query take home?",
    why="Words such as 'the weighted sum of the inputs' do not say which inputs.",
    mixed="keys",
)
exercise.option(
    "exponentials_overflow",
    "Your weights are NaN for large scores.",
    "How large is e to the power of 1000 in floating point, and how does `softmax` "
    "get round it?",
    why="exp(scores) / sum is written out again, without subtracting the maximum.",
    maximum="left in",
)
exercise.option(
    "one_maximum_for_everything",
    "In rows whose scores are all far below the largest of all, each of your powers of "
    "e is 0: their sum, by which you divide, is 0 as well.",
    "What is e to the power of −1000 in floating point, and whose largest score is "
    "subtracted from a row?",
    why="scores.max() without an axis: enough against overflow, not against 0 / 0.",
    maximum="of everything",
)
exercise.option(
    "causal_mask_added",
    "Your weights are zero above the diagonal: query i attends to keys 0 … i only.",
    "Does the task say that a query may not attend to later keys?",
    why="The causal mask of language models is copied along with the rest.",
    may_attend="to earlier keys",
)
exercise.option(
    "query_scaled_in_place",
    "Your call divides q by √d_k in place: the caller's array stays so.",
    "What does `q /= …` do to the array that the caller holds?",
    why="`q /= …` and `q *= …` look like a new q, and change the old one.",
    overwritten="q",
)
exercise.option(
    "small_weights_cut",
    "Your weights below 0.001 became 0.",
    "To which scores does the softmax give a weight of exactly 0?",
    why="Small weights are taken for noise, and are tidied away.",
    weights_are="0 below 0.001",
)
exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.one_result_only("weights"),
    families.squeezed(),
    families.cut_to_whole_numbers("v", result="output"),
)
exercise.options_of(similarity_attention_exercise, "exponentials_not_divided")
