"""Cases and misconceptions of ``attention``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import attention, scaled_scores, softmax

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


@exercise.case("Two queries, three keys and three values give this mix")
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


@exercise.case("A batch of sequences is answered sequence by sequence")
def leading_axes(student, rng):
    q, k = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4))
    student.agrees(q, k, rng.normal(size=(2, 3, 7, 6)))


@exercise.case("With as many keys as queries, row i still belongs to query i")
def as_many_keys_as_queries(student, rng):
    # A table of weights with as many rows as columns hides which is which, and square
    # values let `v @ weights` through.
    q, k = rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    student.agrees(q, k, rng.normal(size=(5, 5)))


@exercise.case(
    "Keys that are all equal give the plain mean of the values",
    visible=False,
    pays_alone=False,
)
def equal_keys(student, rng):
    q, v = rng.normal(size=(5, 4)), rng.normal(size=(7, 6))
    k = np.tile(rng.normal(size=4), (7, 1))
    mean = np.tile(v.mean(axis=0), (5, 1))
    student.expect(student(q, k, v), (mean, np.full((5, 7), 1 / 7)))


@exercise.case("A key that fits far better than the others gives its value alone")
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
    visible=False,
    pays_alone=False,
)
def pairs_reordered(student, rng):
    q, k, v = (rng.normal(size=size) for size in ((5, 4), (7, 4), (7, 6)))
    before, _ = student(q, k, v)
    after, _ = student(q, np.roll(k, 3, axis=0), np.roll(v, 3, axis=0))
    student.expect(after, before, what="the output after the change")


@exercise.case("Queries, keys and values of whole numbers are treated like any others")
def whole_numbers(student, rng):
    q, k = rng.integers(-2, 3, size=(2, 3)), rng.integers(-2, 3, size=(4, 3))
    student.agrees(q, k, rng.integers(-9, 10, size=(4, 2)))


@exercise.case("The queries, keys and values stay as they are")
def arguments_stay(student, rng):
    q, k, v = (rng.integers(1, 9, size=size) for size in ((2, 4), (3, 4), (3, 2)))
    student.leaves_unchanged(q.astype(float), k.astype(float), v.astype(float))


@exercise.misconception(
    "Your columns of weights sum to 1, not your rows.",
    "Who shares out a weight of 1: a query among the keys, or a key among the queries?",
    why="axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.",
)
def softmax_over_queries(q, k, v):
    weights = softmax(scaled_scores(q, k), axis=-2)
    return weights @ v, weights


@exercise.misconception(
    "Your softmax runs along axis 1, which holds the keys only in a single matrix.",
    "Which axis holds the keys with a batch in front?",
    why="softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.",
)
def softmax_over_axis_one(q, k, v):
    weights = softmax(scaled_scores(q, k), axis=1)
    return weights @ v, weights


@exercise.misconception(
    "Your output is weightsᵀ v: row i is mixed with column i of the weights; "
    "where n and m differ, that stops.",
    "Whose weights are in row i of the table, and whose in column i?",
    why="The ᵀ of QKᵀ is applied once more; with n = m nothing complains.",
)
def weights_transposed(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return np.swapaxes(weights, -1, -2) @ v, weights


@exercise.misconception(
    "Your output is v @ weights; where that does not stop, each number of a value is "
    "used as the weight of a row of weights.",
    "Row i of a product A @ B mixes the rows of one of the two: of which, and what "
    "should be mixed here?",
    why="A product of numbers does not mind the order, and 'v times weights' sounds "
    "the same.",
)
def values_times_weights(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return v @ weights, weights


@exercise.misconception(
    "Your output is right, but with it you return the scaled scores.",
    "Which of your two tables has rows that sum to 1?",
    why="Both tables have shape (n, m), and names such as 'attention' mean either.",
)
def scores_returned(q, k, v):
    scores = scaled_scores(q, k)
    return softmax(scores) @ v, scores


@exercise.misconception(
    "Your values are divided by their lengths before they are mixed.",
    "If all the weight lies on one key, what should come out?",
    why="Cosine similarity asks for vectors of length 1, and v gets it as well.",
)
def values_normalised(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return weights @ (v / np.linalg.norm(v, axis=-1, keepdims=True)), weights


@exercise.misconception(
    "Your result is the output alone.",
    "Which second array does the docstring promise, and in which order?",
    why="Equation 1 of the paper gives the output only; the weights are for pictures.",
)
def weights_missing(q, k, v):
    return softmax(scaled_scores(q, k)) @ v


@exercise.misconception(
    "Your weights are the scaled scores themselves: they can be negative.",
    "What makes positive weights that sum to 1 out of scores?",
    why="Scores are taken for weights: 'multiply the values by the scores'.",
)
def softmax_missing(q, k, v):
    scores = scaled_scores(q, k)
    return scores @ v, scores


@exercise.misconception(
    "Your two arrays are right, but the weights come first.",
    "In which order does the docstring name them?",
    why="The weights are computed first, and so they are returned first.",
)
def weights_first(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return weights, weights @ v


@exercise.misconception(
    "Your weights are the softmax of the plain dot products.",
    "What happens to the dot products before the softmax?",
    why="Many write-ups have softmax(QKᵀ)V, without the square root.",
)
def no_scale(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2))
    return weights @ v, weights


@exercise.misconception(
    "Your weights are the softmax of dot products divided by d_k.",
    "Which power of d_k does the formula divide by, and has `scaled_scores` done that "
    "already?",
    why="The formula's square root is written down again after calling scaled_scores.",
)
def scaled_twice(q, k, v):
    weights = softmax(scaled_scores(q, k) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@exercise.misconception(
    "Your rows of weights sum to 1/√d_k: you divide after the softmax.",
    "What does a division do to a sum of 1, and what does it do to a score?",
    why="The brackets of softmax(QKᵀ/√d_k) are closed too early.",
)
def scaled_after_softmax(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    return weights @ v, weights


@exercise.misconception(
    "Your dot products are divided by √d_v, the root of the length of a value.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="The size is read off v: d_k and d_v are equal in most models.",
)
def divided_by_root_of_d_v(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(v.shape[-1]))
    return weights @ v, weights


@exercise.misconception(
    "Your output is a mix of the keys.",
    "Keys are for being found: what does a query take home?",
    why="Words such as 'the weighted sum of the inputs' do not say which inputs.",
)
def keys_mixed(q, k, v):
    weights = softmax(scaled_scores(q, k))
    return weights @ k, weights


@exercise.misconception(
    "Your weights are right for small scores and NaN for large ones.",
    "How large is e to the power of 1000 in floating point, and how does `softmax` "
    "get round it?",
    why="exp(scores) / sum is written out anew, without subtracting the maximum first.",
)
def exponentials_overflow(q, k, v):
    exponentials = np.exp(scaled_scores(q, k))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@exercise.misconception(
    "Your weights are zero above the diagonal: query i attends to keys 0 … i only.",
    "Does the task say that a query may not attend to later keys?",
    why="The causal mask of language models is copied along with the rest.",
)
def causal_mask_added(q, k, v):
    scores = scaled_scores(q, k)
    may_attend = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    weights = softmax(np.where(may_attend, scores, -np.inf))
    return weights @ v, weights


@exercise.misconception(
    "Your two arrays are right, but q is divided by √d_k in place and stays so.",
    "What does `q /= …` do to the array that the caller holds?",
    why="`q /= …` and `q *= …` look like a new q, and change the old one.",
)
def query_scaled_in_place(q, k, v):
    q /= np.sqrt(q.shape[-1])
    weights = softmax(q @ np.swapaxes(k, -1, -2))
    return weights @ v, weights


@exercise.misconception(
    "Your output loses everything after the decimal point when v holds whole numbers.",
    "Which dtype has the array that you write the output into?",
    why="np.zeros(..., dtype=v.dtype) and np.zeros_like take over v's integers.",
)
def cut_to_whole_numbers(q, k, v):
    weights = softmax(scaled_scores(q, k))
    output = np.zeros((*q.shape[:-1], v.shape[-1]), dtype=v.dtype)
    output[...] = weights @ v
    return output, weights
