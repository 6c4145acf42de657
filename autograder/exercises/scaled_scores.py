"""Cases and misconceptions of ``scaled_scores``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.attention import scaled_scores

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


@exercise.case("Two queries and three keys of size 4 give these six scores", weight=0.5)
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 3.0, 1.0, 0.0]])
    k = np.array([[4.0, 0.0, 1.0, 2.0], [1.0, 1.0, 0.0, 1.0], [0.0, -2.0, 5.0, 0.0]])
    dot_products = np.array([[6.0, 4.0, -4.0], [1.0, 3.0, -1.0]])
    student.expect(student(q, k), dot_products / 2.0)


@exercise.case("Each score is a dot product over the square root of d_k", weight=0.5)
def divided_by_root_of_d_k(student, rng):
    student.agrees(np.array([[1.0, 2, 0], [3, 0, -1]]), np.array([[4.0, 1, 5]]))
    student.agrees(rng.normal(size=(5, 9)), rng.normal(size=(7, 9)))


@exercise.case("Each sequence of a batch is scored by itself", weight=3)
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 7, 4)))
    student.agrees(rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4)))


@exercise.case(
    "With all sizes alike, row i still scores query i of its own sequence", weight=0.5
)
def sizes_all_alike(student, rng):
    # Here a wrong axis gives the right shape, so only the numbers can show it.
    student.agrees(rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3, 3)))


@exercise.fine_point("Queries and keys of integers give the same scores")
def whole_numbers(student, rng):
    q, k = rng.integers(-4, 5, size=(5, 3)), rng.integers(-4, 5, size=(7, 3))
    student.agrees(q, k)


@exercise.case(
    "With one query and d_k = 1 the scores are plain products", visible=False
)
def one_number_per_key(student, rng):
    q, k = rng.normal(size=(1, 1)), rng.normal(size=(6, 1))
    student.expect(student(q, k), q * k.T)


@exercise.case("The queries and keys are not modified")
def arguments_stay(student, rng):
    q, k = rng.integers(1, 9, size=(2, 4)), rng.integers(1, 9, size=(3, 4))
    student.leaves_unchanged(q.astype(float), k.astype(float))
    # With all sizes alike, the result fits into an argument.
    student.leaves_unchanged(rng.normal(size=(3, 3)), rng.normal(size=(3, 3)))


@exercise.variants
def variants(
    q,
    k,
    *,
    scale="√d_k",
    table="q kᵀ",
    similarity="dot product",
    returned="scores",
    overwritten="nothing",
):
    *_, n, d_k = q.shape
    m = k.shape[-2]
    if overwritten == "q":
        q /= np.sqrt(d_k)
        scale = "none"
    elif overwritten == "k":
        k /= np.sqrt(d_k)
        scale = "none"
    if scale != "none":  # without a division integers stay
        q, k = 1.0 * q, 1.0 * k
    if similarity == "cosine":
        q = q / np.linalg.norm(q, axis=-1, keepdims=True)
        k = k / np.linalg.norm(k, axis=-1, keepdims=True)
        scale = "none"
    if table == "k qᵀ":
        q, k = k, q
    turned = {
        "all axes": lambda: k.T,
        "three axes": lambda: k.transpose(0, 2, 1),
        "first two axes": lambda: np.swapaxes(k, 0, 1),
        "read anew": lambda: k.reshape(*k.shape[:-2], d_k, -1),
        "none": lambda: k,
    }
    if table == "q * k":
        scores = q * k
    elif table == "same rows":
        scores = (q * k).sum(axis=-1)
    elif table == "every sequence with every other":
        scores = np.inner(q, k)
    elif similarity == "−distance²":
        scores = -((q[..., :, np.newaxis, :] - k[..., np.newaxis, :, :]) ** 2).sum(-1)
    else:
        scores = q @ turned.get(table, lambda: np.swapaxes(k, -1, -2))()
    if similarity == "size of the dot product":
        scores = np.abs(scores)
    elif similarity == "not below 0":
        scores = np.maximum(scores, 0)
    divisor = {"√d_k": d_k**0.5, "d_k": d_k, "√m": m**0.5, "√n": n**0.5, "8": 8.0}
    divisor |= {"1 / √d_k": d_k**-0.5, "⁴√d_k": d_k**0.25, "√len(q)": len(q) ** 0.5}
    divisor |= {"√size": q.size**0.5, "√len(k)": len(k) ** 0.5, "1": 1.0}
    divisor |= {"√axis 1 of q": q.shape[1] ** 0.5, "√axis 1 of k": k.shape[1] ** 0.5}
    divisor |= {"2 d_k": 2.0 * d_k}
    divisor |= {"√(d_k − 1)": max(d_k - 1, 1) ** 0.5, "d_k²": d_k**2}
    if returned == "root of the quotient":
        with np.errstate(invalid="ignore"):
            return np.sqrt(scores / d_k)
    if returned == "root over d_k":
        with np.errstate(invalid="ignore"):
            return np.sqrt(scores) / d_k
    if returned == "rounded down":
        return scores // divisor[scale]
    if scale != "none":
        scores = scores / divisor[scale]
    if returned == "differences":
        return scores - scores.max(axis=-1, keepdims=True)
    if returned == "scores":
        return scores
    powers = np.exp(scores)
    return powers if returned == "exponentials" else powers / powers.sum(-1)[..., None]


exercise.option(
    "no_scale",
    "Your dot products are not divided.",
    "What does the formula do with the dot products before the softmax?",
    why="The square root is left out in many write-ups: softmax(QKᵀ)V.",
    scale="none",
)
exercise.option(
    "no_scale_of_floats",
    "Your dot products are not divided, not even those of integers.",
    "What does the formula do with the dot products before the softmax?",
    why="The arguments are made floats, and the square root is left out.",
    scale="1",
)
exercise.option(
    "divided_by_d_k",
    "Your dot products are divided by d_k.",
    "The variance of a dot product is d_k: what is its standard deviation?",
    why="Variance and standard deviation are mixed up; or both q and k are "
    "divided by √d_k.",
    scale="d_k",
)
exercise.option(
    "divided_by_d_k_squared",
    "Your dot products are divided by d_k².",
    "Which power of d_k does the formula divide by?",
    why="** 2 is typed for ** 0.5, or np.square for np.sqrt.",
    scale="d_k²",
)
exercise.option(
    "divided_by_fourth_root",
    "Your dot products are divided by the fourth root of d_k.",
    "If only one of the two factors is scaled, by how much must that one be?",
    why="Scaling q and k by d_k ** -0.25 each is half done.",
    scale="⁴√d_k",
)
exercise.option(
    "divided_by_root_of_m",
    "Your dot products are divided by √m, the root of the number of keys.",
    "Which size makes a single dot product large: how many keys there are, or "
    "how long each one is?",
    why="The size is read off the wrong axis of k: k.shape[-2].",
    scale="√m",
)
exercise.option(
    "divided_by_root_of_n",
    "Your dot products are divided by √n, the root of the number of queries.",
    "Which axis of q holds d_k?",
    why="The size is read off the wrong axis: q.shape[-2].",
    scale="√n",
)
exercise.option(
    "divided_by_root_of_len_q",
    "Your dot products are divided by the root of len(q): the queries of a "
    "table, the sequences of a batch.",
    "Which axis of q does len(q) count, and which one holds d_k?",
    why="len is learned on lists, where there is one axis only.",
    scale="√len(q)",
)
exercise.option(
    "divided_by_root_of_len_k",
    "Your dot products are divided by the root of len(k): the keys of a table, "
    "the sequences of a batch.",
    "Which axis of k does len(k) count, and which one holds d_k?",
    why="len(k) looks like the length of a key.",
    scale="√len(k)",
)
exercise.option(
    "divided_by_root_of_axis_one_of_q",
    "Your dot products are divided by the root of axis 1 of q: d_k in a table, "
    "not in a batch.",
    "How can you name the last axis without knowing how many come before it?",
    why="q.shape[1] is right until a batch comes.",
    scale="√axis 1 of q",
)
exercise.option(
    "divided_by_root_of_axis_one_of_k",
    "Your dot products are divided by the root of axis 1 of k: d_k in a table, "
    "not in a batch.",
    "How can you name the last axis without knowing how many come before it?",
    why="k.shape[1] is right until a batch comes.",
    scale="√axis 1 of k",
)
exercise.option(
    "divided_by_root_of_the_size",
    "Your dot products are divided by the root of how many numbers q holds.",
    "Over how many products does one dot product sum?",
    why="q.size is taken for the size of a query.",
    scale="√size",
)
exercise.option(
    "divided_by_root_of_d_k_minus_one",
    "Your dot products are divided by √(d_k − 1).",
    "Does the formula count the numbers of a key, or one fewer?",
    why="A sample's variance divides by n − 1.",
    scale="√(d_k − 1)",
)
exercise.option(
    "divided_by_eight",
    "Your dot products are divided by 8, whatever d_k is.",
    "Where does the 8 of the paper come from, and which d_k does your input have?",
    why="The paper's d_k = 64 is copied as the constant 8.",
    scale="8",
)
exercise.option(
    "multiplied_by_root_of_d_k",
    "Your dot products are multiplied by √d_k.",
    "Should longer keys make the scores grow or keep them in check?",
    why="The scale is applied in the wrong direction.",
    scale="1 / √d_k",
)
exercise.option(
    "queries_and_keys_swapped",
    "Your table has one row per key and one column per query.",
    "Whose scores belong in row i?",
    why="k qᵀ instead of q kᵀ: the roles are swapped.",
    table="k qᵀ",
)
exercise.option(
    "keys_not_transposed",
    "Your keys stay rows in the product q @ k: where that does not stop, a query "
    "meets columns of k.",
    "Which axes does `@` pair, and does each key lie along that axis of k?",
    why="The ᵀ of QKᵀ gets lost; with as many keys as d_k nothing complains.",
    table="none",
)
exercise.option(
    "keys_reshaped",
    "Your keys are reshaped, not transposed: one column mixes parts of several keys.",
    "Does reshape move a row into a column, or does it read all numbers on in "
    "the old order?",
    why="reshape(d_k, m) has the shape of the transpose, with other numbers in it.",
    table="read anew",
)
exercise.option(
    "products_not_summed",
    "Your products of a number in q and a number in k are not summed, and query "
    "i meets key i only.",
    "How many pairs of a query and a key are there, and how many of them do you score?",
    why="`*` is written for `@`; in NumPy it multiplies number by number.",
    table="q * k",
)
exercise.option(
    "same_query_and_key_only",
    "Your query i meets key i only, or a single query all keys: your result has one "
    "number per row, and is no table.",
    "How many keys should each query be scored against?",
    why="(q * k).sum(-1) is a dot product, and pairs rows at equal positions.",
    table="same rows",
)
exercise.option(
    "every_sequence_with_every_other",
    "Your queries of one sequence also meet the keys of all others: the batch's "
    "axes occur twice.",
    "Which keys should a query of sequence 0 be scored against?",
    why="np.dot and np.inner pair all rows of one array with all rows of the other.",
    table="every sequence with every other",
)
exercise.option(
    "all_axes_reversed",
    "Your keys have all their axes reversed: with a batch, the axis of the sequences "
    "becomes the last.",
    "For an array of shape (2, 7, 4), what is the shape of its `.T`?",
    why="`.T` is learned on matrices, where it swaps the only two axes there are.",
    table="all axes",
)
exercise.option(
    "first_two_axes_swapped",
    "Your keys have axes 0 and 1 swapped: these are rows and columns in a single "
    "table only.",
    "Which axes hold the rows and the columns with a batch in front?",
    why="np.swapaxes(k, 0, 1) is a transpose until a batch comes.",
    table="first two axes",
)
exercise.option(
    "three_axes_only",
    "Your transposition names exactly three axes, so it raises an error with two or "
    "four.",
    "How do you name the last two axes, however many come before them?",
    why="k.transpose(0, 2, 1) is copied from code that always has one batch axis.",
    table="three axes",
)
exercise.option(
    "cosine_similarity",
    "Your numbers are cosines: the lengths of the vectors are divided away.",
    "Does the formula divide by the length of the vectors, or by a fixed number?",
    why="A dot product is taken for a similarity between −1 and 1.",
    similarity="cosine",
)
exercise.option(
    "negative_distance",
    "Your scores come from squared distances, with a minus sign.",
    "Which product of a query and a key does the formula start from?",
    why="'How well they match' is taken for how close together they lie.",
    similarity="−distance²",
)
exercise.option(
    "absolute_scores",
    "Your scores have lost their minus signs.",
    "What does a dot product below 0 say about two vectors?",
    why="A match is expected to be a positive number.",
    similarity="size of the dot product",
)
exercise.option(
    "positive_scores_only",
    "Your scores below 0 became 0.",
    "What does a dot product below 0 say about two vectors?",
    why="A ReLU is put behind each product, as in a network.",
    similarity="not below 0",
)
exercise.option(
    "floor_division",
    "Your scores are integers: each is rounded down.",
    "What does 7 // 2 give in Python, and what does 7 / 2 give?",
    why="// is typed for /, or taken for the division of arrays.",
    returned="rounded down",
)
exercise.option(
    "softmax_applied",
    "Your numbers are weights: a softmax is applied to the scores.",
    "Which step turns scores into weights, and is it part of this exercise?",
    why="softmax(QKᵀ/√d_k) is one formula, so both steps are written at once.",
    returned="weights",
)
exercise.option(
    "exponentials_returned",
    "Your numbers are powers of e.",
    "Which step raises e to the power of a score, and is it part of this exercise?",
    why="The first half of the softmax is written along with the scores.",
    returned="exponentials",
)
exercise.option(
    "largest_score_subtracted",
    "Your largest score of each row is subtracted.",
    "Which step needs scores that are not above 0, and is it part of this exercise?",
    why="The first line of a safe softmax is written along with the scores.",
    returned="differences",
)
exercise.option(
    "query_scaled_in_place",
    "Your call divides q in place: the caller's floats stay divided, and an "
    "array of integers cannot take up the fractions.",
    "What does `q /= …` do to the array that the caller holds?",
    why="`q /= …` and `q *= …` look like a new q, and change the old one.",
    overwritten="q",
)
exercise.option(
    "key_scaled_in_place",
    "Your call divides k in place: the caller's floats stay divided, and an "
    "array of integers cannot take up the fractions.",
    "What does `k /= …` do to the array that the caller holds?",
    why="`k /= …` and `k *= …` look like a new k, and change the old one.",
    overwritten="k",
)
exercise.option(
    "root_of_the_scores",
    "Your root is drawn from the dot products, which are divided by d_k: a negative "
    "dot product gives NaN.",
    "What stands under the root in the formula, and what does not?",
    why="The root is put around the other half of the quotient.",
    returned="root over d_k",
)
exercise.option(
    "divided_by_twice_d_k",
    "Your dot products are divided by 2 d_k.",
    "Which comes first in Python, a power or a division, as in `9 ** 1 / 2`?",
    why="d_k ** 1/2 is read as (d_k ** 1) / 2.",
    scale="2 d_k",
)
exercise.option(
    "root_of_the_quotient",
    "Your root is drawn from the whole quotient: a negative dot product gives NaN.",
    "What stands under the root in the formula, and what does not?",
    why="A bracket closes too late: np.sqrt(q @ k.T / d_k).",
    returned="root of the quotient",
)
exercise.family(
    families.squeezed(),
    families.as_list(),
    families.cut_to_whole_numbers("q", "k"),
)
