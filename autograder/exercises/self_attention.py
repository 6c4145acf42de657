"""Cases and misconceptions of ``self_attention``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import attention, scaled_scores, softmax
from course_lib.self_attention import project, self_attention

exercise = Exercise(
    self_attention,
    lesson="02_self_attention",
    minutes=12,
    difficulty=2,
    uses=("project",),
    returns=("output", "weights"),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
    ),
)


def dot(one, other):
    """Sum the products of the numbers of two vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def times(token, w):
    """Return one number for each column of w: its dot product with the token."""
    return [dot(token, column) for column in w.T.tolist()]


@exercise.spec
def spec(x, w_q, w_k, w_v):
    *leading, n, _ = x.shape
    output = np.zeros((*leading, n, w_v.shape[1]))
    weights = np.zeros((*leading, n, n))
    for batch in np.ndindex(*leading):
        tokens = x[batch].tolist()
        keys = [times(token, w_k) for token in tokens]
        values = np.array([times(token, w_v) for token in tokens])
        for i in range(n):
            query = times(tokens[i], w_q)
            scores = [dot(query, key) / math.sqrt(len(key)) for key in keys]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j in range(n):
                weights[*batch, i, j] = powers[j] / sum(powers)
                output[*batch, i] += weights[*batch, i, j] * values[j]
    return output, weights


def parameters(rng, d_model=12, d_k=4, d_v=6):
    """Draw w_q, w_k and w_v that give queries and keys of numbers around 1."""
    sizes = (d_model, d_k), (d_model, d_k), (d_model, d_v)
    return tuple(rng.normal(size=size) / math.sqrt(d_model) for size in sizes)


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 12)), *parameters(rng)


@exercise.case("Three tokens give this output and these weights")
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    w_q = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    w_k = np.array([[1.0, 0.0, 0.0, 5.0], [1.0, 2.0, 3.0, 0.0]])
    w_v = np.array([[10.0], [40.0]])
    e = math.e  # the scaled scores are 1, 1, 2 and 0, 1, 1 and 1, 2, 3
    weights = np.array([[1, 1, e], [1, e, e], [1, e, e * e]])
    weights /= np.array([[2 + e], [1 + 2 * e], [1 + e + e * e]])
    sums = [10 + 40 + 50 * e, 10 + 40 * e + 50 * e, 10 + 40 * e + 50 * e * e]
    output = np.array(sums) / np.array([2 + e, 1 + 2 * e, 1 + e + e * e])
    student.expect(student(x, w_q, w_k, w_v), (output[:, np.newaxis], weights))


@exercise.case("A batch of sequences is answered sequence by sequence")
def batch_of_sequences(student, rng):
    student.agrees(rng.normal(size=(2, 5, 12)), *parameters(rng))


@exercise.case("Any number of axes may come first")
def leading_axes(student, rng):
    x = np.swapaxes(rng.normal(size=(2, 3, 7, 5)), -1, -2)  # rows apart in memory
    w_q, w_k, w_v = parameters(rng, 7, 4, 6)
    student.agrees(x, np.asfortranarray(w_q), w_k, w_v)


@exercise.case("Four sequences of four tokens of four numbers stay four sequences")
def all_sizes_equal(student, rng):
    # Axes that are as long as one another can be exchanged and nothing stops.
    student.agrees(rng.normal(size=(4, 4, 4)), *parameters(rng, 4, 4, 4))


@exercise.case("A single token attends to itself, and gets its own value")
def one_token(student, rng):
    x, w_v = np.array([[1.0, -2.0, 3.0]]), np.array([[1.0, 4.0], [0.0, 1.0], [2.0, 1]])
    w_q, w_k = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    expected = np.array([[7.0, 5.0]]), np.array([[1.0]])
    student.expect(student(x, w_q, w_k, w_v), expected)
    w_v = rng.normal(size=(3, 2))
    student.expect(student(x, w_q, w_k, w_v), (x @ w_v, np.array([[1.0]])))


@exercise.case("Scores in the thousands give finite weights")
def large_scores(student, rng):
    # Token i finds the one after it, the last finds the first: scores of 5000 and 0.
    x, w_v = 100.0 * np.eye(3), np.array([[1.0, 2.0], [3.0, 5.0], [-7.0, 8.0]])
    w_q, w_k = np.roll(np.eye(3, 4), 1, axis=1), np.eye(3, 4)
    w_q[2] = [1.0, 0.0, 0.0, 0.0]
    expected = 100.0 * w_v[[1, 2, 0]], np.eye(3)[[1, 2, 0]]
    student.expect(student(x, w_q, w_k, w_v), expected)
    # Tokens at right angles too, but turned, and each finds the next or the one before.
    turned, order = (
        np.linalg.qr(rng.normal(size=(3, 3))).Q,
        np.roll([0, 1, 2], rng.choice([1, 2])),
    )
    w_q, w_v = turned.T @ turned[order] @ w_k, rng.normal(size=(3, 2))
    expected = 100.0 * turned[order] @ w_v, np.eye(3)[order]
    student.expect(student(100.0 * turned, w_q, w_k, w_v), expected)


@exercise.case(
    "Permuted tokens give permuted outputs and weights", visible=False, pays_alone=False
)
def tokens_permuted(student, rng):
    x, w = rng.normal(size=(5, 12)), parameters(rng)
    order = [2, 4, 1, 0, 3]
    output, weights = student(x, *w)
    expected = output[order], weights[order][:, order]
    student.expect(
        student(x[order], *w), expected, what="what comes after the permutation"
    )


@exercise.case("Tokens and parameters of whole numbers are treated like any others")
def whole_numbers(student, rng):
    x = rng.integers(-2, 3, size=(5, 3))
    w_q, w_k = rng.integers(-1, 2, size=(3, 4)), rng.integers(-1, 2, size=(3, 4))
    student.agrees(x, w_q, w_k, rng.integers(-9, 10, size=(3, 2)))


@exercise.case("The tokens and the parameters stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(5, 3)), *parameters(rng, 3, 4, 2))


def products(q, k):
    """Return the plain dot products of all queries with all keys."""
    return q @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "Your .T turns all axes of the keys around: right for one sequence; with axes in "
    "front, your code stops or queries meet keys of other sequences.",
    "What is the shape of k.T if k has the shape (2, 5, 4)?",
    why="q @ k.T is the formula as written, and for a matrix it is right.",
)
def all_axes_turned(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(q @ k.T / np.sqrt(k.shape[-1]))
    return weights @ v, weights


@exercise.misconception(
    "Your columns of weights sum to 1, not your rows.",
    "Who shares out a weight of 1: the token that attends, or the one attended to?",
    why="The softmax runs over the queries: axis=-2, or the wrong index of an einsum "
    "(labmlai/annotated_deep_learning_paper_implementations, issue 146).",
)
def softmax_over_queries(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(scaled_scores(q, k), axis=-2)
    return weights @ v, weights


@exercise.misconception(
    "Your softmax runs along axis 1, which holds the keys only if there is no batch.",
    "Which axis holds the keys, whatever axes come before it?",
    why="softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.",
)
def softmax_over_axis_one(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(scaled_scores(q, k), axis=1)
    return weights @ v, weights


@exercise.misconception(
    "Your softmax runs along axis 0: with a batch, the sequences share a weight of 1 "
    "among them.",
    "Should the weights of one sequence depend on which others are in the batch?",
    why="nn.Softmax(dim=0) was in a library's attention (PetrochukM/PyTorch-NLP, "
    "issue 2).",
)
def softmax_over_axis_zero(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(scaled_scores(q, k), axis=0)
    return weights @ v, weights


@exercise.misconception(
    "Your exponentials are divided by their sums along axis 0, which counts sequences "
    "if there is a batch; and large scores give NaN.",
    "Which axis holds the keys, whatever axes come before it, and what does `softmax` "
    "do before it calls exp?",
    why="exp(scores) / exp(scores).sum(axis=0) is the formula for one list of scores, "
    "written out for a table.",
)
def exponentials_over_axis_zero(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    exponentials = np.exp(scaled_scores(q, k))
    weights = exponentials / exponentials.sum(axis=0)
    return weights @ v, weights


@exercise.misconception(
    "Your tokens attend to the tokens of all sequences of the batch.",
    "Which axes still belong to one sequence after a reshape to (…, d_model)?",
    why="x.reshape(-1, d_model) makes a table that every formula takes.",
)
def batch_as_one_sequence(x, w_q, w_k, w_v):
    q, k, v = project(x.reshape(-1, x.shape[-1]), w_q, w_k, w_v)
    output, weights = attention(q, k, v)
    return output.reshape(*x.shape[:-1], -1), weights


@exercise.misconception(
    "Your dot products are divided by √d_model, the root of the length of a token.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="x.shape[-1] is at hand, and with one head of full size it is the same number "
    "(lucidrains/vit-pytorch, issue 65).",
)
def divided_by_root_of_d_model(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(products(q, k) / np.sqrt(x.shape[-1]))
    return weights @ v, weights


@exercise.misconception(
    "Your weights are the softmax of the plain dot products.",
    "What happens to the dot products before the softmax?",
    why="Many write-ups have softmax(QKᵀ)V, without the square root.",
)
def no_scale(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(products(q, k))
    return weights @ v, weights


@exercise.misconception(
    "Your weights are the softmax of dot products divided by d_k.",
    "Which of the functions that you call divides as well?",
    why="q is divided by √d_k and then handed to attention, which divides again.",
)
def scaled_twice(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    return attention(q / np.sqrt(q.shape[-1]), k, v)


@exercise.misconception(
    "Your dot products are multiplied by √d_k, not divided.",
    "A dot product of many numbers is large already: should it grow or shrink?",
    why="A scale kept as d_k ** -0.5 is divided by (esceptico/perceiver-io, issue 9).",
)
def scale_inverted(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(products(q, k) * np.sqrt(k.shape[-1]))
    return weights @ v, weights


@exercise.misconception(
    "Your scores are those of the keys with the queries: row i belongs to token i as "
    "the one that is attended to.",
    "Which weights belong in row i: those with which token i attends, or those with "
    "which it is attended to?",
    why="With as many keys as queries, k @ qᵀ has the right shape.",
)
def keys_attend_to_queries(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    return attention(k, q, v)


@exercise.misconception(
    "Your output is weightsᵀ v: token i gets values by how much it is attended to.",
    "Whose weights are in row i of the table, and whose in column i?",
    why="The table is square, so that nothing complains about a transposition.",
)
def weights_transposed(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(scaled_scores(q, k))
    return np.swapaxes(weights, -1, -2) @ v, weights


@exercise.misconception(
    "Your keys are made with w_q, so that token i scores token j as j scores i.",
    "Which of the parameters does no line of yours use?",
    why="The line of the queries is copied, and only the name on its left is changed.",
)
def keys_made_with_w_q(x, w_q, w_k, w_v):
    return attention(*project(x, w_q, w_q, w_v))


@exercise.misconception(
    "Your weights are right, and your output mixes the tokens themselves.",
    "What did w_v do in your code?",
    why="'A weighted sum of the embeddings' is a popular way to describe attention.",
)
def tokens_mixed(x, w_q, w_k, w_v):
    weights = softmax(scaled_scores(x @ w_q, x @ w_k))
    return weights @ x, weights


@exercise.misconception(
    "Your tokens do not attend to themselves: the diagonal of your weights is 0.",
    "Does the docstring leave any token out?",
    why="Attention is often explained with 'the other words', and attending to itself "
    "looks like cheating.",
)
def own_position_left_out(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    own = np.eye(x.shape[-2], dtype=bool)
    weights = softmax(np.where(own, -np.inf, scaled_scores(q, k)))
    return weights @ v, weights


@exercise.misconception(
    "Your weights are zero above the diagonal: token i attends to no later token.",
    "Does the task say that a token may not attend to later ones?",
    why="The causal mask of language models is copied along with the rest.",
)
def causal_mask_added(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    may_attend = np.tri(x.shape[-2], dtype=bool)
    weights = softmax(np.where(may_attend, scaled_scores(q, k), -np.inf))
    return weights @ v, weights


@exercise.misconception(
    "Your output is right, but with it you return the scaled scores.",
    "Which of your two tables has rows that sum to 1?",
    why="Both tables have the shape (n, n), and names such as 'attention' mean either.",
)
def scores_returned(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    return attention(q, k, v)[0], scaled_scores(q, k)


@exercise.misconception(
    "Your weights are right for small scores and NaN for large ones.",
    "How large is e to the power of 1000 in floating point, and how does `softmax` "
    "get round it?",
    why="exp(scores) / sum is written out anew, without subtracting the maximum first.",
)
def exponentials_overflow(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    exponentials = np.exp(scaled_scores(q, k))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@exercise.misconception(
    "Your output loses everything after the decimal point when x holds whole numbers.",
    "Which dtype has the array that you write the output into?",
    why="np.zeros(..., dtype=x.dtype) takes over the integers of x.",
)
def cut_to_whole_numbers(x, w_q, w_k, w_v):
    mixed, weights = attention(*project(x, w_q, w_k, w_v))
    output = np.zeros(mixed.shape, dtype=x.dtype)
    output[...] = mixed
    return output, weights


@exercise.misconception(
    "Your two arrays are right, but w_q is divided by √d_k in place and stays so.",
    "What does `w_q /= …` do to the array that the caller holds?",
    why="The scale is folded into the parameters, with an operator that works in "
    "place.",
)
def parameters_scaled_in_place(x, w_q, w_k, w_v):
    w_q /= np.sqrt(w_q.shape[-1])
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(products(q, k))
    return weights @ v, weights
