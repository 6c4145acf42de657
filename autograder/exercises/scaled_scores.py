"""Cases and misconceptions of ``scaled_scores``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import scaled_scores, softmax

exercise = Exercise(
    scaled_scores, lesson="01_dot_product_attention", minutes=10, difficulty=2
)


@exercise.spec
def spec(q, k):
    *leading, n, d_k = q.shape
    m = k.shape[-2]
    scores = np.empty((*leading, n, m))
    for index in np.ndindex(*leading, n, m):
        *batch, i, j = index
        dot = sum(float(q[*batch, i, c]) * float(k[*batch, j, c]) for c in range(d_k))
        scores[index] = dot / math.sqrt(d_k)
    return scores


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 7, 4))


@exercise.case("Two queries and three keys of size 4 give these six scores")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 3.0, 1.0, 0.0]])
    k = np.array([[4.0, 0.0, 1.0, 2.0], [1.0, 1.0, 0.0, 1.0], [0.0, -2.0, 5.0, 0.0]])
    dot_products = np.array([[6.0, 4.0, -4.0], [1.0, 3.0, -1.0]])
    student.expect(student(q, k), dot_products / 2.0)


@exercise.case(
    "Each score is a dot product over the square root of d_k, for whole numbers too"
)
def divided_by_root_of_d_k(student, rng):
    student.agrees(rng.normal(size=(5, 9)), rng.normal(size=(7, 9)))
    student.agrees(np.array([[1, 2, 0], [3, 0, -1]]), np.array([[4, 1, 5]]))
    # No int8 holds 100 · 100: it wraps around.
    q, k = [[100, 100, 3], [5, -90, 0]], [[100, 99, 98]]
    student.agrees(np.array(q, dtype=np.int8), np.array(k, dtype=np.int8))


@exercise.case("A batch of sequences is scored sequence by sequence")
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4)))


@exercise.case("With all sizes alike, row i still scores query i of its own sequence")
def sizes_all_alike(student, rng):
    # Here a wrong axis gives the right shape, so only the numbers can show it.
    student.agrees(rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3, 3)))


@exercise.case("Queries and keys of whole numbers give the same scores", visible=False)
def whole_numbers(student, rng):
    q, k = rng.integers(-4, 5, size=(5, 3)), rng.integers(-4, 5, size=(7, 3))
    student.agrees(q, k)


@exercise.case(
    "With one query and d_k = 1 the scores are plain products", visible=False
)
def one_number_per_key(student, rng):
    q, k = rng.normal(size=(1, 1)), rng.normal(size=(6, 1))
    student.expect(student(q, k), q * k.T)


@exercise.case("The queries and keys stay as they are")
def arguments_stay(student, rng):
    q, k = rng.integers(1, 9, size=(2, 4)), rng.integers(1, 9, size=(3, 4))
    student.leaves_unchanged(q.astype(float), k.astype(float))


@exercise.misconception(
    "Your numbers are the dot products themselves.",
    "What does the formula do with them before the softmax?",
    why="The square root is left out in many write-ups: softmax(QKᵀ)V.",
)
def no_scale(q, k):
    return q @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "Your numbers are the dot products divided by d_k.",
    "The variance of a dot product is d_k: what is its standard deviation?",
    why="Variance and standard deviation are mixed up.",
)
def divided_by_d_k(q, k):
    return q @ np.swapaxes(k, -1, -2) / q.shape[-1]


@exercise.misconception(
    "Your numbers are the dot products divided by √m, the root of the number of keys.",
    "Which size makes a single dot product large: how many keys there are, "
    "or how long each one is?",
    why="The size is read off the wrong axis of k: k.shape[-2].",
)
def divided_by_root_of_m(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-2])


@exercise.misconception(
    "Your numbers are the dot products divided by √n, the root of the number of "
    "queries.",
    "Which axis of q holds d_k?",
    why="The size is read off the wrong axis: len(q) or q.shape[-2].",
)
def divided_by_root_of_n(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-2])


@exercise.misconception(
    "Your numbers are the dot products divided by 8.",
    "Where does the 8 of the paper come from, and which d_k does your input have?",
    why="The paper's d_k = 64 is copied as the constant 8.",
)
def divided_by_eight(q, k):
    return q @ np.swapaxes(k, -1, -2) / 8.0


@exercise.misconception(
    "Your scores are whole numbers: each is rounded down.",
    "What does 7 // 2 give in Python, and what does 7 / 2 give?",
    why="// is typed for /, or taken for the division of arrays.",
)
def floor_division(q, k):
    return q @ np.swapaxes(k, -1, -2) // np.sqrt(q.shape[-1])


@exercise.misconception(
    "Your table has one row per key and one column per query.",
    "Whose scores belong in row i?",
    why="k qᵀ instead of q kᵀ: the roles are swapped.",
)
def queries_and_keys_swapped(q, k):
    return k @ np.swapaxes(q, -1, -2) / np.sqrt(q.shape[-1])


@exercise.misconception(
    "Your numbers are multiplied by √d_k.",
    "Should longer keys make the scores grow or keep them in check?",
    why="The scale is applied in the wrong direction.",
)
def multiplied_by_root_of_d_k(q, k):
    return q @ np.swapaxes(k, -1, -2) * np.sqrt(q.shape[-1])


@exercise.misconception(
    "Your numbers are cosines: the lengths of the vectors are divided away.",
    "Does the formula divide by the length of the vectors, or by a fixed number?",
    why="A dot product is taken for a similarity between −1 and 1.",
)
def cosine_similarity(q, k):
    unit_q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    unit_k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return unit_q @ np.swapaxes(unit_k, -1, -2)


@exercise.misconception(
    "Your numbers are weights: each of your rows sums to 1.",
    "Which step turns scores into weights, and is it part of this exercise?",
    why="softmax(QKᵀ/√d_k) is one formula, so both steps are written at once.",
)
def softmax_applied(q, k):
    return softmax(scaled_scores(q, k), axis=-1)


@exercise.misconception(
    "Your result is q @ k, with the keys left as rows: "
    "where that does not stop, a query is multiplied with columns of k.",
    "Which axes does `@` pair, and does each key lie along that axis of k?",
    why="The ᵀ of QKᵀ gets lost; with as many keys as d_k nothing complains.",
)
def keys_not_transposed(q, k):
    return q @ k / np.sqrt(q.shape[-1])


@exercise.misconception(
    "Your numbers are single products of a number in q and a number in k: "
    "they are not summed, and query i meets key i only.",
    "How many pairs of a query and a key are there, and how many of them do you score?",
    why="`*` is written for `@`; in NumPy it multiplies number by number.",
)
def products_not_summed(q, k):
    return q * k / np.sqrt(q.shape[-1])


@exercise.misconception(
    "Your keys have all their axes turned round, so that with a batch the sequences "
    "are turned as well.",
    "For an array of shape (2, 7, 4), what is the shape of its `.T`?",
    why="`.T` is learned on matrices, where it swaps the only two axes there are.",
)
def all_axes_reversed(q, k):
    return q @ k.T / np.sqrt(q.shape[-1])


@exercise.misconception(
    "Your transposition names exactly three axes, so it stops with two or four.",
    "How do you name the last two axes, however many come before them?",
    why="k.transpose(0, 2, 1) is copied from code that always has one batch axis.",
)
def three_axes_only(q, k):
    return q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])


@exercise.misconception(
    "Your code divides q by √d_k in place: the caller's floats stay divided, and an "
    "array of whole numbers cannot take up the fractions.",
    "What does `q /= …` do to the array that the caller holds?",
    why="`q /= …` and `q *= …` look like a new q, and change the old one.",
)
def query_scaled_in_place(q, k):
    q /= np.sqrt(q.shape[-1])
    return q @ np.swapaxes(k, -1, -2)


@exercise.misconception(
    "Your scores lose everything after the decimal point when q is an array of "
    "whole numbers.",
    "Which dtype has the array that you write the scores into?",
    why="np.zeros(..., dtype=q.dtype) and np.zeros_like(q) take over q's integers.",
)
def cut_to_whole_numbers(q, k):
    scores = np.zeros((*q.shape[:-1], k.shape[-2]), dtype=q.dtype)
    scores[...] = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return scores


@exercise.misconception(
    "Your scores are right for floats; for small whole numbers (int8, uint8) the "
    "products do not fit into their type, and wrap around.",
    "What is 100 · 2 in int8, whose numbers go from −128 to 127?",
    why="`@` needs no other type for floats and for int64, and nothing warns.",
)
def small_numbers_wrap(q, k):
    return q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5


@exercise.misconception(
    "Your result has lost its axes of length 1.",
    "With one single query, how many rows should the scores have?",
    why="np.squeeze() tidies a result up, and takes the axis of a single query too.",
)
def axes_of_one_lost(q, k):
    return np.squeeze(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
