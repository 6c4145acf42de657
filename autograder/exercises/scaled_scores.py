"""Cases and misconceptions of ``scaled_scores``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
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


inputs = exercise.inputs(n=5, m=7, d_k=4)


@exercise.usual
def usual(rng):
    return inputs(rng, (2,))


@exercise.case("Two queries and three keys of size 4 give these six scores", weight=0.5)
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 3.0, 1.0, 0.0]])
    k = np.array([[4.0, 0.0, 1.0, 2.0], [1.0, 1.0, 0.0, 1.0], [0.0, -2.0, 5.0, 0.0]])
    dot_products = np.array([[6.0, 4.0, -4.0], [1.0, 3.0, -1.0]])
    student.expect(student(q, k), dot_products / 2.0)


@exercise.case("Each score is a dot product over the square root of d_k", weight=0.5)
def divided_by_root_of_d_k(student, rng):
    student.agrees(np.array([[1.0, 2, 0], [3, 0, -1]]), np.array([[4.0, 1, 5]]))
    student.agrees(*inputs(rng, d_k=9))


exercise.case("Each sequence of a batch is scored by itself", weight=3)(
    standard_cases.leading_axes(inputs, (2,), (2, 3))
)


@exercise.case(
    "With all sizes alike, row i still scores query i of its own sequence", weight=0.5
)
def sizes_all_alike(student, rng):
    # Here a wrong axis gives the right shape, so only the numbers can show it.
    student.agrees(*inputs(rng, (3,), alike=3))


@exercise.fine_point("Queries and keys of integers give the same scores")
def whole_numbers(student, rng):
    student.agrees(*inputs(rng, dtype=int, d_k=3, whole=(-4, 5)))


@exercise.case(
    "With one query and d_k = 1 the scores are plain products", visible=False
)
def one_number_per_key(student, rng):
    q, k = inputs(rng, n=1, m=6, d_k=1)
    student.expect(student(q, k), q * k.T)


exercise.case("The queries and keys are not modified")(
    standard_cases.arguments_stay(inputs, dict(n=2, m=3, whole=(1, 9)), dict(alike=3))
)


exercise.edits(
    """
no_scale:  / d_k ** 0.5 ->
  Your dot products are not divided.
  ? What does the formula do with the dot products before the softmax?
  # The square root is left out in many write-ups: softmax(QKᵀ)V.
no_scale_of_floats:
  | q @ np.swapaxes -> 1.0 * q @ np.swapaxes
  | / d_k ** 0.5 ->
  Your dot products are not divided, not even those of integers.
  # The arguments are made floats, and the square root is left out.
divided_by_d_k: d_k ** 0.5 -> d_k
  Your dot products are divided by d_k.
  ? The variance of a dot product is d_k: what is its standard deviation?
  # Variance and standard deviation are mixed up; or both q and k are divided by √d_k.
divided_by_d_k_squared: 0.5 -> 2
  Your dot products are divided by d_k².
  ? Which power of d_k does the formula divide by?
  # ** 2 is typed for ** 0.5, or np.square for np.sqrt.
divided_by_fourth_root: 0.5 -> 0.25
  Your dot products are divided by the fourth root of d_k.
  ? If only one of the two factors is scaled, by how much must that one be?
  # Scaling q and k by d_k ** -0.25 each is half done.
divided_by_root_of_m: d_k = k.shape[-2]
  Your dot products are divided by √m, the root of the number of keys.
  ? Which size makes a single dot product large: how many keys there are, or how long
    each one is?
  # The size is read off the wrong axis of k: k.shape[-2].
divided_by_root_of_n: d_k = q.shape[-2]
  Your dot products are divided by √n, the root of the number of queries.
  ? Which axis of q holds d_k?
  # The size is read off the wrong axis: q.shape[-2].
divided_by_root_of_len_q: d_k = len(q)
  Your dot products are divided by the root of len(q): the queries of a table, the
    sequences of a batch.
  ? Which axis of q does len(q) count, and which one holds d_k?
  # len is learned on lists, where there is one axis only.
divided_by_root_of_len_k: d_k = len(k)
  Your dot products are divided by the root of len(k): the keys of a table, the
    sequences of a batch.
  ? Which axis of k does len(k) count, and which one holds d_k?
  # len(k) looks like the length of a key.
divided_by_root_of_axis_one_of_q: d_k = q.shape[1]
  Your dot products are divided by the root of axis 1 of q: d_k in a table, not in a
    batch.
  ? How can you name the last axis without knowing how many come before it?
  # q.shape[1] is right until a batch comes.
divided_by_root_of_axis_one_of_k: d_k = k.shape[1]
  Your dot products are divided by the root of axis 1 of k: d_k in a table, not in a
    batch.
  # k.shape[1] is right until a batch comes.
divided_by_root_of_the_size: d_k = q.size
  Your dot products are divided by the root of how many numbers q holds.
  ? Over how many products does one dot product sum?
  # q.size is taken for the size of a query.
divided_by_root_of_d_k_minus_one: d_k ** 0.5 -> max(d_k - 1, 1) ** 0.5
  Your dot products are divided by √(d_k − 1).
  ? Does the formula count the numbers of a key, or one fewer?
  # A sample's variance divides by n − 1.
divided_by_eight: d_k = 64
  Your dot products are divided by 8, whatever d_k is.
  ? Where does the 8 of the paper come from, and which d_k does your input have?
  # The paper's d_k = 64 is copied as the constant 8.
multiplied_by_root_of_d_k: / d_k -> * d_k
  Your dot products are multiplied by √d_k.
  ? Should longer keys make the scores grow or keep them in check?
  # The scale is applied in the wrong direction.
queries_and_keys_swapped: q @ np.swapaxes(k, -1, -2) -> k @ np.swapaxes(q, -1, -2)
  Your table has one row per key and one column per query.
  ? Whose scores belong in row i?
  # k qᵀ instead of q kᵀ: the roles are swapped.
keys_not_transposed: np.swapaxes(k, -1, -2) -> k
  Your keys stay rows in the product q @ k: where that does not stop, a query meets
    columns of k.
  ? Which axes does `@` pair, and does each key lie along that axis of k?
  # The ᵀ of QKᵀ gets lost; with as many keys as d_k nothing complains.
keys_reshaped: np.swapaxes(k, -1, -2) -> k.reshape(*k.shape[:-2], d_k, -1)
  Your keys are reshaped, not transposed: one column mixes parts of several keys.
  ? Does reshape move a row into a column, or does it read all numbers on in the old
    order?
  # reshape(d_k, m) has the shape of the transpose, with other numbers in it.
products_not_summed: q @ np.swapaxes(k, -1, -2) -> q * k
  Your products of a number in q and a number in k are not summed, and query i meets
    key i only.
  ? How many pairs of a query and a key are there, and how many of them do you score?
  # `*` is written for `@`; in NumPy it multiplies number by number.
same_query_and_key_only: q @ np.swapaxes(k, -1, -2) -> (q * k).sum(axis=-1)
  Your query i meets key i only, or a single query all keys: your result has one
    number per row, and is no table.
  ? How many keys should each query be scored against?
  # (q * k).sum(-1) is a dot product, and pairs rows at equal positions.
every_sequence_with_every_other: q @ np.swapaxes(k, -1, -2) -> np.inner(q, k)
  Your queries of one sequence also meet the keys of all others: the batch's axes
    occur twice.
  ? Which keys should a query of sequence 0 be scored against?
  # np.dot and np.inner pair all rows of one array with all rows of the other.
all_axes_reversed: np.swapaxes(k, -1, -2) -> k.T
  Your keys have all their axes reversed: with a batch, the axis of the sequences
    becomes the last.
  ? For an array of shape (2, 7, 4), what is the shape of its `.T`?
  # `.T` is learned on matrices, where it swaps the only two axes there are.
first_two_axes_swapped: -1, -2 -> 0, 1
  Your keys have axes 0 and 1 swapped: these are rows and columns in a single table
    only.
  ? Which axes hold the rows and the columns with a batch in front?
  # np.swapaxes(k, 0, 1) is a transpose until a batch comes.
three_axes_only: np.swapaxes(k, -1, -2) -> k.transpose(0, 2, 1)
  Your transposition names exactly three axes, so it raises an error with two or four.
  ? How do you name the last two axes, however many come before them?
  # k.transpose(0, 2, 1) is copied from code that always has one batch axis.
cosine_similarity:
  | d_k = q.shape[-1] ->
  :     q = q / np.linalg.norm(q, axis=-1, keepdims=True)
  :     k = k / np.linalg.norm(k, axis=-1, keepdims=True)
  | -2) / d_k ** 0.5 -> -2)
  Your numbers are cosines: the lengths of the vectors are divided away.
  ? Does the formula divide by the length of the vectors, or by a fixed number?
  # A dot product is taken for a similarity between −1 and 1.
negative_distance:
  | q @ np.swapaxes(k, -1, -2) ->
  :     -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)
  Your scores come from squared distances, with a minus sign.
  ? Which product of a query and a key does the formula start from?
  # 'How well they match' is taken for how close together they lie.
absolute_scores: q @ np.swapaxes(k, -1, -2) -> np.abs(q @ np.swapaxes(k, -1, -2))
  Your scores have lost their minus signs.
  ? What does a dot product below 0 say about two vectors?
  # A match is expected to be a positive number.
positive_scores_only:
  | q @ np.swapaxes(k, -1, -2) -> np.maximum(q @ np.swapaxes(k, -1, -2), 0)
  Your scores below 0 became 0.
  # A ReLU is put behind each product, as in a network.
floor_division: / d_k -> // d_k
  Your scores are integers: each is rounded down.
  ? What does 7 // 2 give in Python, and what does 7 / 2 give?
  # // is typed for /, or taken for the division of arrays.
softmax_applied:
  | return q … ->
  :     scores = q @ np.swapaxes(k, -1, -2) / d_k ** 0.5
  :     powers = np.exp(scores)
  :     return powers / powers.sum(-1, keepdims=True)
  Your numbers are weights: a softmax is applied to the scores.
  ? Which step turns scores into weights, and is it part of this exercise?
  # softmax(QKᵀ/√d_k) is one formula, so both steps are written at once.
exponentials_returned:
  | q @ np.swapaxes(k, -1, -2) / d_k ** 0.5 ->
  :     np.exp(q @ np.swapaxes(k, -1, -2) / d_k ** 0.5)
  Your numbers are powers of e.
  ? Which step raises e to the power of a score, and is it part of this exercise?
  # The first half of the softmax is written along with the scores.
largest_score_subtracted:
  | return q … ->
  :     scores = q @ np.swapaxes(k, -1, -2) / d_k ** 0.5
  :     return scores - scores.max(axis=-1, keepdims=True)
  Your largest score of each row is subtracted.
  ? Which step needs scores that are not above 0, and is it part of this exercise?
  # The first line of a safe softmax is written along with the scores.
query_scaled_in_place:
  | d_k = q.shape[-1] -> q /= np.sqrt(q.shape[-1])
  | -2) / d_k ** 0.5 -> -2)
  Your call divides q in place: the caller's floats stay divided, and an array of
    integers cannot take up the fractions.
  ? What does `q /= …` do to the array that the caller holds?
  # `q /= …` and `q *= …` look like a new q, and change the old one.
key_scaled_in_place:
  | d_k = q.shape[-1] -> k /= np.sqrt(q.shape[-1])
  | -2) / d_k ** 0.5 -> -2)
  Your call divides k in place: the caller's floats stay divided, and an array of
    integers cannot take up the fractions.
  ? What does `k /= …` do to the array that the caller holds?
  # `k /= …` and `k *= …` look like a new k, and change the old one.
root_of_the_scores:
  | q @ np.swapaxes(k, -1, -2) / d_k ** 0.5 -> np.sqrt(q @ np.swapaxes(k, -1, -2)) / d_k
  Your root is drawn from the dot products, which are divided by d_k: a negative dot
    product gives NaN.
  ? What stands under the root in the formula, and what does not?
  # The root is put around the other half of the quotient.
divided_by_twice_d_k: d_k ** 0.5 -> (2 * d_k)
  Your dot products are divided by 2 d_k.
  ? Which comes first in Python, a power or a division, as in `9 ** 1 / 2`?
  # d_k ** 1/2 is read as (d_k ** 1) / 2.
root_of_the_quotient:
  | q @ np.swapaxes(k, -1, -2) / d_k ** 0.5 -> np.sqrt(q @ np.swapaxes(k, -1, -2) / d_k)
  Your root is drawn from the whole quotient: a negative dot product gives NaN.
  ? What stands under the root in the formula, and what does not?
  # A bracket closes too late: np.sqrt(q @ k.T / d_k).
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
    families.cut_to_whole_numbers("q", "k"),
)
