"""Cases and misconceptions of ``cross_attention``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import attention, scaled_scores, softmax
from course_lib.self_attention import cross_attention

exercise = Exercise(
    cross_attention,
    lesson="02_self_attention",
    minutes=10,
    difficulty=2,
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
def spec(x, memory, w_q, w_k, w_v):
    *leading, n, _ = x.shape
    m = memory.shape[-2]
    output = np.zeros((*leading, n, w_v.shape[1]))
    weights = np.zeros((*leading, n, m))
    for batch in np.ndindex(*leading):
        tokens = memory[batch].tolist()
        keys = [times(token, w_k) for token in tokens]
        values = np.array([times(token, w_v) for token in tokens])
        for i in range(n):
            query = times(x[*batch, i].tolist(), w_q)
            scores = [dot(query, key) / math.sqrt(len(key)) for key in keys]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j in range(m):
                weights[*batch, i, j] = powers[j] / sum(powers)
                output[*batch, i] += weights[*batch, i, j] * values[j]
    return output, weights


def parameters(rng, d_model=12, d_memory=10, d_k=4, d_v=6):
    """Draw w_q, w_k and w_v that give queries and keys of numbers around 1."""
    w_q = rng.normal(size=(d_model, d_k)) / math.sqrt(d_model)
    w_k, w_v = rng.normal(size=(d_memory, d_k)), rng.normal(size=(d_memory, d_v))
    return w_q, w_k / math.sqrt(d_memory), w_v / math.sqrt(d_memory)


@exercise.usual
def usual(rng):
    # In a Transformer both sequences have tokens of one length.
    x, memory = rng.normal(size=(2, 5, 12)), rng.normal(size=(2, 7, 12))
    return x, memory, *parameters(rng, d_memory=12)


@exercise.case(
    "Two tokens that attend to three others give this output and these weights"
)
def small_example_by_hand(student, rng):
    x, memory = np.array([[1.0, 0.0], [0.0, 1.0]]), np.eye(3)
    w_q = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    w_k = np.array([[0.0, 1.0, 0.0, 3.0], [1.0, 0.0, 2.0, 0.0], [2.0, 0.0, 1.0, 0.0]])
    w_v = np.array([[10.0], [20.0], [40.0]])
    e = math.e  # the scaled scores are 0, 1, 2 and 1, 0, 0
    weights = np.array([[1, e, e * e], [e, 1, 1]])
    weights /= np.array([[1 + e + e * e], [e + 2]])
    sums = [10 + 20 * e + 40 * e * e, 10 * e + 20 + 40]
    output = np.array(sums) / np.array([1 + e + e * e, e + 2])
    expected = output[:, np.newaxis], weights
    student.expect(student(x, memory, w_q, w_k, w_v), expected)


@exercise.case("Each sequence of a batch attends to its own memory")
def batch_of_sequences(student, rng):
    x, memory = rng.normal(size=(2, 5, 12)), rng.normal(size=(2, 7, 10))
    student.agrees(x, memory, *parameters(rng))


@exercise.case("The memory may be the shorter one, with any number of axes in front")
def shorter_memory(student, rng):
    x = np.swapaxes(rng.normal(size=(2, 3, 12, 7)), -1, -2)  # rows apart in memory
    memory = rng.normal(size=(2, 3, 5, 20))[..., ::2]
    w_q, w_k, w_v = parameters(rng)
    student.agrees(x, memory, w_q, np.asfortranarray(w_k), w_v)


@exercise.case(
    "With two sequences of the same sizes, the first one attends to the second"
)
def sequences_of_the_same_sizes(student, rng):
    # Here any of the arrays could stand in for any other, and nothing stops.
    x, memory = rng.normal(size=(5, 12)), rng.normal(size=(5, 12))
    student.agrees(x, memory, *parameters(rng, 12, 12, 4, 4))


@exercise.case("A memory of one token hands its value to every token", visible=False)
def one_token_in_memory(student, rng):
    memory = np.array([[1.0, -2.0, 3.0]])
    w_v = np.array([[1.0, 4.0], [0.0, 1.0], [2.0, 1.0]])
    w_q, w_k = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    expected = np.tile([[7.0, 5.0]], (5, 1)), np.ones((5, 1))
    student.expect(student(rng.normal(size=(5, 6)), memory, w_q, w_k, w_v), expected)
    w_v = rng.normal(size=(3, 2))
    expected = np.tile(memory @ w_v, (5, 1)), np.ones((5, 1))
    student.expect(student(rng.normal(size=(5, 6)), memory, w_q, w_k, w_v), expected)


@exercise.case("Scores in the thousands give finite weights")
def large_scores(student, rng):
    x, memory = 100.0 * np.eye(2), 100.0 * np.eye(3)
    w_q, w_k = np.eye(4)[[2, 0]], np.eye(3, 4)  # they find the last and the first
    w_v = np.array([[1.0, 2.0], [3.0, 5.0], [-7.0, 8.0]])
    expected = 100.0 * w_v[[2, 0]], np.eye(3)[[2, 0]]
    student.expect(student(x, memory, w_q, w_k, w_v), expected)


@exercise.case(
    "The order of the memory does not matter", visible=False, pays_alone=False
)
def memory_reordered(student, rng):
    x, memory, w = rng.normal(size=(5, 12)), rng.normal(size=(7, 10)), parameters(rng)
    order = [3, 0, 6, 1, 5, 2, 4]
    output, weights = student(x, memory, *w)
    expected = output, weights[:, order]
    reordered = student(x, memory[order], *w)
    student.expect(reordered, expected, what="what comes after the change")


@exercise.case("Tokens and parameters of whole numbers are treated like any others")
def whole_numbers(student, rng):
    x, memory = rng.integers(-2, 3, size=(5, 3)), rng.integers(-2, 3, size=(6, 2))
    w_q, w_k = rng.integers(-1, 2, size=(3, 4)), rng.integers(-1, 2, size=(2, 4))
    student.agrees(x, memory, w_q, w_k, rng.integers(-9, 10, size=(2, 7)))


@exercise.case("Both sequences and the parameters stay as they are")
def arguments_stay(student, rng):
    x, memory = rng.normal(size=(5, 3)), rng.normal(size=(6, 2))
    student.leaves_unchanged(x, memory, *parameters(rng, 3, 2, 4, 7))


def products(q, k):
    """Return the plain dot products of all queries with all keys."""
    return q @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "Your x attends to itself: keys and values are made from x, not from the memory.",
    "Whose tokens are attended to?",
    why="The lines of self_attention are copied, and x stays in all three.",
)
def memory_unused(x, memory, w_q, w_k, w_v):
    return attention(x @ w_q, x @ w_k, x @ w_v)


@exercise.misconception(
    "Your code calls `project` on x for the queries and on the memory for keys and "
    "values; where their tokens differ in size, that stops.",
    "`project` multiplies x by w_k as well: has w_k as many rows as a token of x has "
    "entries?",
    why="project has been written for one sequence, and two calls of it are at hand.",
)
def both_sequences_projected_by_all(x, memory, w_q, w_k, w_v):
    q, _, _ = x @ w_q, x @ w_k, x @ w_v
    _, k, v = memory @ w_q, memory @ w_k, memory @ w_v
    return attention(q, k, v)


@exercise.misconception(
    "Your memory attends to x: queries come from the memory, keys and values from x.",
    "Which of the two sequences gets an output, one row for each of its tokens?",
    why="'The encoder's output gives the queries' is said in tutorials and in a survey "
    "(humza909/LLM_Survey, issue 2; rexrex9/nlp_torchtext, pull request 2).",
)
def memory_attends(x, memory, w_q, w_k, w_v):
    return attention(memory @ w_q, x @ w_k, x @ w_v)


@exercise.misconception(
    "Your weights are right, and the values that they mix are made from x; with other "
    "sizes than those of the memory, that stops.",
    "If a token attends to token j of the memory, whose value should it get?",
    why="Query and value are taken from one side, the key from the other "
    "(apple/ml-cvnets, issue 81, asks whether that is right).",
)
def values_from_x(x, memory, w_q, w_k, w_v):
    return attention(x @ w_q, memory @ w_k, x @ w_v)


@exercise.misconception(
    "Your keys are made from x; only the values come from the memory.",
    "What can a token of the memory be found by?",
    why="'The query meets the keys in the decoder, and fetches values from the "
    "encoder': two of three are put on one side.",
)
def keys_from_x(x, memory, w_q, w_k, w_v):
    return attention(x @ w_q, x @ w_k, memory @ w_v)


@exercise.misconception(
    "Your queries are made from the memory as well: it attends to itself, and x is not "
    "used.",
    "If x changes, does your output change?",
    why="A layer of the encoder is called on the encoder's output once more.",
)
def x_unused(x, memory, w_q, w_k, w_v):
    return attention(memory @ w_q, memory @ w_k, memory @ w_v)


@exercise.misconception(
    "Your tokens attend to the first n tokens of the memory only, as many as x has.",
    "May the two sequences have different lengths?",
    why="In self-attention one length does for both, and loops run over range(n).",
)
def memory_cut_to_the_length_of_x(x, memory, w_q, w_k, w_v):
    n = x.shape[-2]
    scores = scaled_scores(x @ w_q, memory @ w_k)
    scores[..., n:] = -np.inf
    weights = softmax(scores)
    return weights @ (memory @ w_v), weights


@exercise.misconception(
    "Your tokens attend to the memory and to x itself, joined into one sequence.",
    "How many tokens are attended to: m, or n and m together?",
    why="Some models join both sequences; here x attends to the memory alone.",
)
def x_joined_to_the_memory(x, memory, w_q, w_k, w_v):
    both = np.concatenate([memory, x], axis=-2)
    return attention(x @ w_q, both @ w_k, both @ w_v)


@exercise.misconception(
    "Your columns of weights sum to 1, not your rows.",
    "Who shares out a weight of 1: a token of x, or a token of the memory?",
    why="axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.",
)
def softmax_over_queries(x, memory, w_q, w_k, w_v):
    weights = softmax(scaled_scores(x @ w_q, memory @ w_k), axis=-2)
    return weights @ (memory @ w_v), weights


@exercise.misconception(
    "Your softmax runs along axis 1, which holds the keys only if there is no batch.",
    "Which axis holds the keys, whatever axes come before it?",
    why="softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.",
)
def softmax_over_axis_one(x, memory, w_q, w_k, w_v):
    weights = softmax(scaled_scores(x @ w_q, memory @ w_k), axis=1)
    return weights @ (memory @ w_v), weights


@exercise.misconception(
    "Your .T turns all axes of the keys around: right for one sequence; with axes in "
    "front, your code stops.",
    "What is the shape of k.T if k has the shape (2, 7, 4)?",
    why="q @ k.T is the formula as written, and for a matrix it is right.",
)
def all_axes_turned(x, memory, w_q, w_k, w_v):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    weights = softmax(q @ k.T / np.sqrt(k.shape[-1]))
    return weights @ v, weights


@exercise.misconception(
    "Your dot products are divided by √d_model, the root of the length of a token.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="x.shape[-1] is at hand, and with one head of full size it is the same number "
    "(lucidrains/vit-pytorch, issue 65).",
)
def divided_by_root_of_d_model(x, memory, w_q, w_k, w_v):
    weights = softmax(products(x @ w_q, memory @ w_k) / np.sqrt(x.shape[-1]))
    return weights @ (memory @ w_v), weights


@exercise.misconception(
    "Your weights are the softmax of the plain dot products.",
    "What happens to the dot products before the softmax?",
    why="Many write-ups have softmax(QKᵀ)V, without the square root.",
)
def no_scale(x, memory, w_q, w_k, w_v):
    weights = softmax(products(x @ w_q, memory @ w_k))
    return weights @ (memory @ w_v), weights


@exercise.misconception(
    "Your weights are the softmax of dot products divided by d_k.",
    "Which of the functions that you call divides as well?",
    why="q is divided by √d_k and then handed to attention, which divides again.",
)
def scaled_twice(x, memory, w_q, w_k, w_v):
    q = x @ w_q / np.sqrt(w_q.shape[-1])
    return attention(q, memory @ w_k, memory @ w_v)


@exercise.misconception(
    "Your weights are right, and your output mixes the memory's tokens themselves.",
    "What did w_v do in your code?",
    why="'A weighted sum of the encoder's states' is right for attention without "
    "parameters.",
)
def memory_mixed(x, memory, w_q, w_k, w_v):
    weights = softmax(scaled_scores(x @ w_q, memory @ w_k))
    return weights @ memory, weights


@exercise.misconception(
    "Your weights are zero above the diagonal: token i attends to tokens 0 … i of the "
    "memory only.",
    "Is the memory still being written while x attends to it?",
    why="The decoder's causal mask is handed to both of its attentions.",
)
def causal_mask_added(x, memory, w_q, w_k, w_v):
    scores = scaled_scores(x @ w_q, memory @ w_k)
    may_attend = np.tri(*scores.shape[-2:], dtype=bool)
    weights = softmax(np.where(may_attend, scores, -np.inf))
    return weights @ (memory @ w_v), weights


@exercise.misconception(
    "Your output is right, but with it you return the scaled scores.",
    "Which of your two tables has rows that sum to 1?",
    why="Both tables have the shape (n, m), and names such as 'attention' mean either.",
)
def scores_returned(x, memory, w_q, w_k, w_v):
    scores = scaled_scores(x @ w_q, memory @ w_k)
    return softmax(scores) @ (memory @ w_v), scores


@exercise.misconception(
    "Your weights are right for small scores and NaN for large ones.",
    "How large is e to the power of 1000 in floating point, and how does `softmax` "
    "get round it?",
    why="exp(scores) / sum is written out anew, without subtracting the maximum first.",
)
def exponentials_overflow(x, memory, w_q, w_k, w_v):
    exponentials = np.exp(scaled_scores(x @ w_q, memory @ w_k))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ (memory @ w_v), weights


@exercise.misconception(
    "Your output loses everything after the decimal point when x holds whole numbers.",
    "Which dtype has the array that you write the output into?",
    why="np.zeros(..., dtype=x.dtype) takes over the integers of x.",
)
def cut_to_whole_numbers(x, memory, w_q, w_k, w_v):
    mixed, weights = attention(x @ w_q, memory @ w_k, memory @ w_v)
    output = np.zeros(mixed.shape, dtype=x.dtype)
    output[...] = mixed
    return output, weights


@exercise.misconception(
    "Your two arrays are right, but w_q is divided by √d_k in place and stays so.",
    "What does `w_q /= …` do to the array that the caller holds?",
    why="The scale is folded into the parameters, with an operator that works in "
    "place.",
)
def parameters_scaled_in_place(x, memory, w_q, w_k, w_v):
    w_q /= np.sqrt(w_q.shape[-1])
    weights = softmax(products(x @ w_q, memory @ w_k))
    return weights @ (memory @ w_v), weights
