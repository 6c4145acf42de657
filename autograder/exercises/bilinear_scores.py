"""Cases and misconceptions of ``bilinear_scores``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import bilinear_scores, softmax

exercise = Exercise(
    bilinear_scores,
    lesson="01_dot_product_attention",
    minutes=8,
    difficulty=2,
    library=(
        "torch.nn.functional.bilinear",
        "torch.nn.Bilinear",
    ),
)


@exercise.spec
def spec(q, k, w):
    *leading, n, d_q = q.shape
    m, d_k = k.shape[-2:]
    scores = np.empty((*leading, n, m))
    for index in np.ndindex(*leading, n, m):
        *batch, i, j = index
        total = 0.0
        for a in range(d_q):
            for b in range(d_k):
                pair = float(q[*batch, i, a]) * float(k[*batch, j, b])
                total += float(w[a, b]) * pair
        scores[index] = total
    return scores


def inputs(rng, leading=(), n=5, m=7, d_q=4, d_k=6):
    """Draw q, k and w."""
    return (
        rng.normal(size=(*leading, n, d_q)),
        rng.normal(size=(*leading, m, d_k)),
        rng.normal(size=(d_q, d_k)),
    )


@exercise.usual
def usual(rng):
    # Encoder and decoder mostly have one size: there a wrong use of w makes no noise.
    return inputs(rng, leading=(2,), d_q=4, d_k=4)


@exercise.case("Two queries and three keys, all of size 2, give these six scores")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 2.0], [0.0, 3.0]])
    k = np.array([[4.0, 0.0], [1.0, 1.0], [0.0, -2.0]])
    w = np.array([[1.0, 2.0], [-1.0, 5.0]])  # q w: −1 12 | −3 15
    expected = np.array([[-4.0, 11.0, -24.0], [-12.0, 12.0, -30.0]])
    student.expect(student(q, k, w), expected)


@exercise.case("Queries and keys that differ in size are scored: [i, j] is q_i w k_j")
def different_sizes(student, rng):
    student.agrees(*inputs(rng))


@exercise.case(
    "For queries and keys with a single 1 each, the scores are entries of w",
    visible=False,
    pays_alone=False,
)
def entries_of_w(student, rng):
    q, k = np.eye(4)[[3, 1, 0]], np.eye(3)[[2, 0]]
    w = np.arange(1.0, 13.0).reshape(4, 3)
    student.expect(student(q, k, w), np.array([[12.0, 10.0], [6.0, 4.0], [3.0, 1.0]]))
    w = rng.normal(size=(4, 3))
    student.expect(student(q, k, w), w[[3, 1, 0]][:, [2, 0]])


@exercise.case("A batch of sequences is scored sequence by sequence")
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), d_k=8))


@exercise.case("One query against eight keys gives a table of one row")
def one_query(student, rng):
    student.agrees(*inputs(rng, n=1, m=8))


@exercise.case(
    "A query of zeros scores 0 next to a large query", visible=False, pays_alone=False
)
def zero_next_to_large(student, rng):
    q, k, w = inputs(rng, n=2)
    scores = student(q * [[0.0], [1e4]], k, w)
    student.expect(scores[0], np.zeros(7), what="the row of the zeros")


@exercise.case("The queries, the keys and w stay as they are")
def arguments_stay(student, rng):
    q, k, w = (rng.integers(2, 9, size=size) for size in ((2, 3), (4, 2), (3, 2)))
    student.leaves_unchanged(q.astype(float), k.astype(float), w.astype(float))


@exercise.misconception(
    "Your numbers are k_j w q_i: w is used the other way round.",
    "Which side of w has room for a query, the rows or the columns?",
    why="q wᵀ kᵀ, or (k w) in place of (w kᵀ); nothing complains where d_q = d_k.",
)
def w_transposed(q, k, w):
    return q @ w.T @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "Your numbers are the plain dot products: w is not in them.",
    "What would change in your scores if every entry of w were doubled?",
    why="The dot product is written from memory; where d_q = d_k it still works.",
)
def w_ignored(q, k, w):
    return q @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "Your numbers use the diagonal of w only: part c of a query meets part c of a key.",
    "Which entry of w says how much part 0 of a query asks for part 1 of a key?",
    why="One loop over one index is written for two, or * for @.",
)
def diagonal_of_w_only(q, k, w):
    return q @ (w * np.eye(*w.shape)) @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "Your numbers are those of (w + wᵀ) / 2, a symmetric matrix.",
    "Must a query ask for a key as much as that key would ask for the query?",
    why="A similarity is expected to be symmetric, as the dot product is.",
)
def w_symmetrised(q, k, w):
    return q @ ((w + w.T) / 2) @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "In your numbers w occurs twice: the queries and the keys both went through it.",
    "How many matrices are between q_i and k_j in the formula?",
    why="Mixed up with attention that projects queries and keys with a matrix each.",
)
def w_on_both_sides(q, k, w):
    return (q @ w) @ np.swapaxes(k @ w, -1, -2)


@exercise.misconception(
    "Your numbers are the scores divided by √d_k.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over.",
)
def divided_by_root_of_d_k(q, k, w):
    return q @ w @ np.swapaxes(k, -1, -2) / math.sqrt(k.shape[-1])


@exercise.misconception(
    "Your table has one row per key and one column per query.",
    "Whose scores belong in row i?",
    why="The product is started from the keys: k wᵀ qᵀ.",
)
def queries_and_keys_swapped(q, k, w):
    return k @ w.T @ np.swapaxes(q, -1, -2)


@exercise.misconception(
    "Your numbers mix parts of different keys: k was reshaped, not transposed.",
    "Does reshape move a column into a row, or does it cut one long row anew?",
    why="reshape(d_k, m) has the shape of the transpose, with other numbers in it.",
)
def keys_reshaped(q, k, w):
    return q @ w @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])


@exercise.misconception(
    "Your code turns all axes of k around, the batch axes too.",
    "Which two axes of k have to be swapped, and what does .T do with three axes?",
    why=".T is right for a single sequence and reverses every axis of a batch.",
)
def all_axes_transposed(q, k, w):
    return q @ w @ k.T


@exercise.misconception(
    "Your numbers are weights already: a softmax made each row sum to 1.",
    "What does the function promise to return, scores or weights?",
    why="Luong's paper writes the weights first, with the score inside their softmax.",
)
def softmax_applied(q, k, w):
    return softmax(q @ w @ np.swapaxes(k, -1, -2))


@exercise.misconception(
    "Your numbers went through a tanh: all lie between −1 and 1.",
    "Which of the course's scores has an activation, and which has only products?",
    why="Taken over from the additive score; some papers do write tanh(q w kᵀ).",
)
def tanh_applied(q, k, w):
    return np.tanh(q @ w @ np.swapaxes(k, -1, -2))


@exercise.misconception(
    "Your numbers are cosines of q_i w and k_j: their lengths are divided away.",
    "Does the formula divide by anything, and what becomes of a query of zeros?",
    why="A score is taken for a similarity between −1 and 1.",
)
def cosine_after_w(q, k, w):
    asked = q @ w
    unit_q = asked / np.linalg.norm(asked, axis=-1, keepdims=True)
    unit_k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return unit_q @ np.swapaxes(unit_k, -1, -2)


@exercise.misconception(
    "Your first row is right, and each later one holds keys that earlier queries "
    "changed.",
    "Where a row taken out of k is multiplied in place, whose numbers change?",
    why="A row of an array is a view; *= on it writes into the caller's keys.",
)
def keys_overwritten(q, k, w):
    asked = q @ w
    scores = np.zeros((*q.shape[:-1], k.shape[-2]))
    for i in range(q.shape[-2]):
        for j in range(k.shape[-2]):
            products = k[..., j, :]
            products *= asked[..., i, :]
            scores[..., i, j] = products.sum(axis=-1)
    return scores


@exercise.misconception(
    "Your table loses each axis of length 1.",
    "Which shape should the scores of a single query have?",
    why="squeeze() without an axis tidies a result for one example and breaks others.",
)
def every_axis_of_one_dropped(q, k, w):
    return (q @ w @ np.swapaxes(k, -1, -2)).squeeze()
