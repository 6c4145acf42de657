"""Cases and misconceptions of ``attention``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
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


inputs = exercise.inputs(n=5, m=7, d_k=4, d_v=6)


@exercise.usual
def usual(rng):
    return inputs(rng, (2,))


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
    student.agrees(*inputs(rng, (2, 3)))
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
    student.agrees(*inputs(rng, m=5, d_v=5))


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
    q, k, v = inputs(rng)
    before, _ = student(q, k, v)
    after, _ = student(q, np.roll(k, 3, axis=0), np.roll(v, 3, axis=0))
    student.expect(after, before, what="the output after the change")


@exercise.case("Next to a long query, the rows of all queries are right", weight=0.5)
def one_long_query(student, rng):
    q, k, v = inputs(rng)
    q[2] *= 5000.0  # e to the power of the other rows' scores minus its own is 0
    student.agrees(q, k, v)


@exercise.case("A single query gives the right tables of one row", weight=0.5)
def single_query(student, rng):
    student.agrees(*inputs(rng, n=1))


@exercise.fine_point("Queries, keys and values of integers are treated like any others")
def whole_numbers(student, rng):
    q, k = rng.integers(-2, 3, size=(2, 3)), rng.integers(-2, 3, size=(4, 3))
    student.agrees(q, k, rng.integers(-9, 10, size=(4, 2)))


exercise.case("The queries, keys and values are not modified", weight=0.5)(
    # As many queries as keys: weightsᵀ v has a value here, and not only an exception.
    standard_cases.arguments_stay(inputs, dict(n=3, m=3, d_v=2, whole=(1, 9)))
)


exercise.edits(
    """
softmax_over_queries: axis=-1 -> axis=-2
  Your columns of weights sum to 1, not your rows.
  ? Who shares out a weight of 1: a query among the keys, or a key among the queries?
  # axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.
softmax_over_axis_one: axis=-1 -> axis=1
  Your softmax runs along axis 1, which holds the keys only in a single matrix.
  ? Which axis holds the keys with a batch in front?
  # softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.
softmax_over_everything:
  | weights = … ->
  :     scores = scaled_scores(q, k)
  :     weights = softmax(scores.ravel()).reshape(scores.shape)
  All your weights together sum to 1, not each row.
  ? How much weight has one query to share out?
  # Without an axis, max() and sum() take in the whole array.
weights_transposed: weights @ v -> np.swapaxes(weights, -1, -2) @ v
  Your output is weightsᵀ v: row i is mixed with column i of the weights; where n and
    m differ, this can raise an error.
  ? Whose weights are in row i of the table, and whose in column i?
  # The ᵀ of QKᵀ is applied once more; with n = m nothing complains.
values_times_weights: weights @ v -> v @ weights
  Your output is v @ weights; where that does not stop, each number of a value is used
    as the weight of a row of weights.
  ? Row i of a product A @ B mixes the rows of one of the two: of which, and what
    should be mixed here?
  # A product of numbers does not mind the order, and 'v times weights' sounds the
    same.
scores_mixed: weights @ v -> scaled_scores(q, k) @ v
  Your output is the product of the scores with the values.
  ? Which table has rows that sum to 1, as a mean needs them?
  # Two tables have the shape (n, m), and the softmax is kept for the pictures.
weights_as_output: weights @ v -> weights
  Your `output` is the table of weights once more: the values are not in it.
  ? Which argument have you not used yet, and how long are its rows?
  # The weights are the last thing that was computed, and are returned twice.
softmax_of_the_output: weights @ v -> softmax(weights @ v)
  A softmax is applied to your output: its rows sum to 1.
  ? Which of the two results has to sum to 1 in each row, and is it the output?
  # softmax closes around the product with the values, or is called once more.
softmax_twice:
  | return (weights @ v, weights) ->
  :     weights = softmax(weights)
  :     return (weights @ v, weights)
  Your weights went through the softmax twice: they lie close to each other.
  ? What are the largest and the smallest number that go into your second softmax?
  # The softmax is written in the line of the scores, and in that of the weights.
queries_and_keys_swapped: scaled_scores(q, k) -> scaled_scores(k, q)
  Your scores are those of the keys with the queries: each row belongs to a key. Where
    n and m differ, the product with the values does not fit.
  ? Which argument of `scaled_scores` gives its result its rows?
  # The two arguments are given in the other order.
results_in_a_dictionary:
  | (weights @ v, weights) -> {'output': weights @ v, 'weights': weights}
  Your two results come in a dictionary.
  ? Which type of result does the docstring's example take apart?
  # Names for results are what a dictionary has.
all_axes_reversed: scaled_scores(q, k) -> q @ k.T / q.shape[-1] ** 0.5
  Your keys have all their axes reversed: with a batch, the axis of the sequences
    becomes the last.
  ? For an array of shape (2, 7, 4), what is the shape of its `.T`?
  # `.T` is learned on matrices, where it swaps the only two axes there are.
softmax_over_axis_zero: axis=-1 -> axis=0
  Your weights are shared out along axis 0: the queries of a table, the sequences of a
    batch.
  ? Which axis counts the keys, however many come before it?
  # axis=0 is taken for the first thing that comes to mind, the rows.
scores_returned: , weights) -> , scaled_scores(q, k))
  The second array that you return holds the scaled scores.
  ? Which table has rows that sum to 1?
  # Both tables have shape (n, m), and names such as 'attention' mean either.
values_normalised: v = v / np.linalg.norm(v, axis=-1, keepdims=True)
  Your values are divided by their lengths before they are mixed.
  ? If all the weight lies on one key, what should come out?
  # Cosine similarity asks for vectors of length 1, and v gets it as well.
softmax_missing: softmax(scaled_scores(q, k), axis=-1) -> scaled_scores(q, k)
  Your weights are the scores themselves: they can be negative.
  ? What makes positive weights that sum to 1 out of scores?
  # Scores are taken for weights: 'multiply the values by the scores'.
shares_of_scores:
  | weights = … ->
  :     scores = scaled_scores(q, k)
  :     weights = scores / scores.sum(axis=-1, keepdims=True)
  Your weights are the scores divided by their sum: they can be negative.
  ? What is done to the scores first, so that every share is positive?
  # 'Weights that sum to 1' suggests a division by the sum at once.
no_scale: scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2)
  Your scores are the plain dot products.
  ? What happens to the dot products before the softmax?
  # Many write-ups have softmax(QKᵀ)V, without the square root.
scaled_twice: scaled_scores(q, k) -> scaled_scores(q, k) / q.shape[-1] ** 0.5
  Your dot products are divided by d_k.
  ? Which power of d_k does the formula divide by, and has `scaled_scores` done that
    already?
  # The formula's square root is written down again after calling scaled_scores.
scaled_after_softmax:
  | softmax(scaled_scores(q, k), axis=-1) ->
  :     softmax(q @ np.swapaxes(k, -1, -2), axis=-1) / q.shape[-1] ** 0.5
  Your scores are the plain dot products, and your weights are divided by √d_k.
  ? What does a division do to a sum of 1, and what does it do to a score?
  # The brackets of softmax(QKᵀ/√d_k) are closed too early.
divided_by_root_of_d_v:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / v.shape[-1] ** 0.5
  Your dot products are divided by √d_v, the root of the length of a value.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # The size is read off v: d_k and d_v are equal in most models.
divided_by_root_of_m:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / k.shape[-2] ** 0.5
  Your dot products are divided by √m, the root of the number of keys.
  ? Over how many products does one dot product sum?
  # k.shape[-2] is read for k.shape[-1], or len(k) for the length of a key.
keys_mixed: weights @ v -> weights @ k
  Your output is a mix of the keys.
  ? Keys are for being found: what does a query take home?
  # Words such as 'the weighted sum of the inputs' do not say which inputs.
exponentials_overflow:
  | weights = … ->
  :     powers = np.exp(scaled_scores(q, k))
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  Your weights are NaN for large scores.
  ? How large is e to the power of 1000 in floating point, and how does `softmax` get
    round it?
  # exp(scores) / sum is written out again, without subtracting the maximum.
one_maximum_for_everything:
  | weights = … ->
  :     scores = scaled_scores(q, k)
  :     powers = np.exp(scores - scores.max())
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  In rows whose scores are all far below the largest of all, each of your powers of e
    is 0: their sum, by which you divide, is 0 as well.
  ? What is e to the power of −1000 in floating point, and whose largest score is
    subtracted from a row?
  # scores.max() without an axis: enough against overflow, not against 0 / 0.
causal_mask_added:
  | weights = … ->
  :     scores = scaled_scores(q, k)
  :     allowed = np.tril(np.ones(scores.shape[-2:], dtype=bool))
  :     weights = softmax(np.where(allowed, scores, -np.inf), axis=-1)
  Your weights are zero above the diagonal: query i attends to keys 0 … i only.
  ? Does the task say that a query may not attend to later keys?
  # The causal mask of language models is copied along with the rest.
query_scaled_in_place:
  | weights = … ->
  :     q /= q.shape[-1] ** 0.5
  :     weights = softmax(q @ np.swapaxes(k, -1, -2), axis=-1)
  Your call divides q by √d_k in place: the caller's array stays so.
  ? What does `q /= …` do to the array that the caller holds?
  # `q /= …` and `q *= …` look like a new q, and change the old one.
small_weights_cut:
  | return (weights @ v, weights) ->
  :     weights[weights < 0.001] = 0
  :     return (weights @ v, weights)
  Your weights below 0.001 became 0.
  ? To which scores does the softmax give a weight of exactly 0?
  # Small weights are taken for noise, and are tidied away.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.one_result_only("weights"),
    families.squeezed(),
    families.cut_to_whole_numbers("v", result="output"),
)
exercise.edits(
    """
exponentials_not_divided:
  | weights = … ->
  :     scores = scaled_scores(q, k)
  :     weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
""",
    words=similarity_attention_exercise.words,
)
