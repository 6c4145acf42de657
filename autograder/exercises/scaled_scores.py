"""Cases and known mistakes of ``scaled_scores``."""

import math

import numpy as np

from autograder.exercise import Exercise
from course_lib.attention import scaled_scores

exercise = Exercise(
    scaled_scores, lesson="01_dot_product_attention", minutes=10, difficulty=2
)


@exercise.spec
def spec(q, k):
    *leading, n, d_k = q.shape
    m = k.shape[-2]
    scores = np.empty((*leading, n, m))
    for place in np.ndindex(*leading, n, m):
        *batch, i, j = place
        dot = sum(float(q[*batch, i, c]) * float(k[*batch, j, c]) for c in range(d_k))
        scores[place] = dot / math.sqrt(d_k)
    return scores


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 7, 4))


@exercise.case("Two queries and three keys of size 2 give these six scores")
def small_example_by_hand(student, rng):
    root = math.sqrt(2)
    q = np.array([[1.0, 2.0], [0.0, 3.0]])
    k = np.array([[4.0, 0.0], [1.0, 1.0], [0.0, -2.0]])
    expected = np.array([[4 / root, 3 / root, -4 / root], [0.0, 3 / root, -6 / root]])
    student.expect(student(q, k), expected)


@exercise.case("Each score is a dot product divided by the square root of d_k")
def divided_by_root_of_d_k(student, rng):
    student.agrees(rng.normal(size=(5, 9)), rng.normal(size=(7, 9)))


@exercise.case("A batch of sequences is scored sequence by sequence")
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4)))


@exercise.case("Queries and keys of whole numbers give the same scores", visible=False)
def whole_numbers(student, rng):
    q, k = rng.integers(-4, 5, size=(5, 3)), rng.integers(-4, 5, size=(7, 3))
    student.agrees(q, k)


@exercise.case("With d_k = 1 the scores are plain products", visible=False)
def one_number_per_key(student, rng):
    q, k = rng.normal(size=(1, 1)), rng.normal(size=(6, 1))
    student.expect(student(q, k), q * k.T)


@exercise.case("The queries and keys stay as they are", visible=False)
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(5, 4)), rng.normal(size=(7, 4)))


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
    "Your table has one row per key and one column per query.",
    "Whose scores should stand in row i?",
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
