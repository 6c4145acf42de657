"""Cases and misconceptions of ``additive_scores``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from course_lib.attention import additive_scores

exercise = Exercise(
    additive_scores, lesson="01_dot_product_attention", minutes=15, difficulty=3
)


@exercise.spec
def spec(q, k, w_q, w_k, v):
    *leading, n, d_q = q.shape
    m, d_k = k.shape[-2:]
    scores = np.empty((*leading, n, m))
    for index in np.ndindex(*leading, n, m):
        *batch, i, j = index
        total = 0.0
        for h in range(len(v)):
            hidden = sum(float(q[*batch, i, c]) * float(w_q[c, h]) for c in range(d_q))
            hidden += sum(float(k[*batch, j, c]) * float(w_k[c, h]) for c in range(d_k))
            total += float(v[h]) * math.tanh(hidden)
        scores[index] = total
    return scores


inputs = exercise.inputs(n=5, m=7, d_q=4, d_k=3, d_hidden=6)


@exercise.usual
def usual(rng):
    return inputs(rng, leading=(2,))


@exercise.case("Where each tanh is −1, 0 or 1, the scores are these integers")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    k = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, -2.0], [-1.0, 0.0]])
    w_q = np.array([[20.0, 0.0], [0.0, -20.0], [0.0, 20.0]])  # q w_q: 20 40 | 0 −40
    w_k = np.array([[-20.0, 20.0], [40.0, 0.0]])  # −20 20 | 0 0 | −80 0 | 20 −20
    v = np.array([3.0, 5.0])
    expected = np.array([[5.0, 8.0, 2.0, 8.0], [-8.0, -5.0, -8.0, -2.0]])
    student.expect(student(q, k, w_q, w_k, v), expected)
    *others, v = inputs(rng)
    student.agrees(*others, -np.abs(v))


@exercise.case("Entry [i, j] is v · tanh(q_i w_q + k_j w_k)", weight=1.5)
def small_network_for_each_pair(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("Queries and keys of the same size still have a matrix each")
def one_matrix_each(student, rng):
    student.agrees(*inputs(rng, d_q=4, d_k=4))
    # With all sizes alike no wrong axis and no transposed matrix is noticed.
    student.agrees(*inputs(rng, (4,), alike=4))


exercise.case("Each sequence of a batch is scored by itself", weight=2.5)(
    standard_cases.leading_axes(inputs, dict(leading=(2, 3), d_hidden=9))
)


@exercise.case(
    "One query against six keys gives the right table of one row", weight=0.5
)
def one_query(student, rng):
    student.agrees(*inputs(rng, n=1, m=6, d_hidden=5))


@exercise.case(
    "A query of 10,000 next to a query of zeros is scored", visible=False, weight=0.5
)
def large_next_to_zero(student, rng):
    # Both signs in w_q: each way of writing a tanh that overflows does so in a row.
    _, k, _, w_k, v = inputs(rng, d_hidden=4)
    student.agrees(
        np.array([[1e4], [0.0], [-1e4]]), k, np.array([[1.0, -2.0, 0.5, -1.0]]), w_k, v
    )


exercise.case("The queries, keys and parameters are not modified", weight=0.5)(
    standard_cases.arguments_stay(
        inputs,
        dict(n=2, m=4, d_q=3, d_k=2, d_hidden=5, whole=(1, 9)),
        dict(alike=4),
    )
)


@exercise.case(
    "With v times −3 each score is −3 times what it was",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def scores_follow_v(student, rng):
    q, k, w_q, w_k, v = inputs(rng)
    before = student(q, k, w_q, w_k, v)
    after = student(q, k, w_q, w_k, -3.0 * v)
    student.expect(after, -3.0 * before, what="the scores after the change")


exercise.edits(
    """
no_tanh: np.tanh(projected_q + projected_k) -> (projected_q + projected_k)
  Your hidden layer has no activation: there is no tanh.
  ? What makes this a small network, and not the sum of one number per query and one
    number per key?
  # The nonlinearity gets lost between the two matrix products; without it every query
    has the same preferences.
sigmoid_for_tanh:
  | np.tanh(projected_q + projected_k) -> 1 / (1 + np.exp(-(projected_q + projected_k)))
  Your activation is a sigmoid.
  ? Which range does the activation of the formula have, and is it centred on 0?
  # The sigmoid is the activation that people met first.
relu_for_tanh:
  | np.tanh(projected_q + projected_k) -> np.maximum(projected_q + projected_k, 0)
  Your activation is a ReLU: what is negative becomes 0.
  ? Which activation does the formula name, and what does it do with negative sums?
  # ReLU is the usual choice in today's networks.
tan_for_tanh: np.tanh -> np.tan
  Your activation is tan, of an angle: it jumps.
  ? Between which two numbers does the activation of the formula lie?
  # np.tan is one letter from np.tanh.
arctan_for_tanh: np.tanh -> np.arctan
  Your activation is arctan: it goes up to π / 2.
  # np.arctan has the same shape, and a name that is close.
tanh_that_overflows:
  | return np. … ->
  :     hidden = projected_q + projected_k
  :     up, down = (np.exp(hidden), np.exp(-hidden))
  :     return (up - down) / (up + down) @ v
  Your scores are not numbers where the hidden layer is large: infinity is divided by
    infinity.
  ? How large is the largest power of e in your tanh, and who has written a tanh that
    avoids it?
  # The textbook formula of tanh, taken literally: (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ).
tanh_before_the_sum:
  | np.tanh(projected_q + projected_k) -> (np.tanh(projected_q) + np.tanh(projected_k))
  Your two sides have an activation each, before they meet.
  ? Which comes first in the formula, the sum or the tanh?
  # Both projections are written as complete layers, each with its activation.
v_before_the_tanh: return np.tanh((projected_q + projected_k) @ v)
  Your product with v happens inside the activation.
  ? How many numbers go through the tanh for each pair, one or d_hidden?
  # The brackets of v · tanh(…) are read the wrong way round.
v_inside_unit_by_unit: return np.tanh((projected_q + projected_k) * v).sum(axis=-1)
  Your hidden layer is multiplied by v inside the activation, unit by unit, and summed
    after it.
  ? Which comes first in the formula, the tanh or v?
  # v is read as one more parameter of the hidden layer.
tanh_of_the_score: return np.tanh(np.tanh(projected_q + projected_k) @ v)
  Your numbers went through a second activation at the end.
  ? Which layer of this network has an activation, and which has none?
  # Each layer is given an activation, the last one too.
difference_of_projections: projected_q + projected_k -> projected_q - projected_k
  Your keys' projections are subtracted, not added.
  ? What stands between the two projections in the formula?
  # A match is taken for a small difference.
product_of_projections: projected_q + projected_k -> projected_q * projected_k
  Your two projections are multiplied, not added.
  # The other scores of the lesson are made of products.
keys_ignored: projected_q + projected_k -> projected_q + 0 * projected_k
  Your scores do not depend on the keys.
  ? Where does a key come into the formula?
  # The line with the keys is written, and its result is not used.
queries_ignored: projected_q + projected_k -> 0 * projected_q + projected_k
  Your scores do not depend on the queries.
  ? Where does a query come into the formula?
  # The line with the queries is written, and its result is not used.
one_matrix_for_both: k @ w_k -> k @ w_q
  Your keys go through w_q, as your queries do; unless d_k is d_q, this can raise an
    error.
  ? What is w_k for, and what happens where a key is shorter than a query?
  # In the example at hand d_q = d_k, so one matrix fits both.
matrix_of_the_keys_for_both: q @ w_q -> q @ w_k
  Your queries go through w_k, as your keys do; unless d_k is d_q, this can raise an
    error.
  ? What is w_q for, and what happens where a key is shorter than a query?
matrices_exchanged:
  | q @ w_q -> q @ w_k
  | k @ w_k -> k @ w_q
  Your queries go through w_k and your keys through w_q; where d_k is not d_q, this
    can raise an error.
  ? Which of the two matrices has as many rows as a query has numbers?
  # The two matrices change roles; with d_q = d_k nothing complains.
matrices_transposed:
  | q @ w_q -> q @ w_q.T
  | k @ w_k -> k @ w_k.T
  Your matrices are transposed; where they are not square, this can raise an error.
  ? Which side of w_q has room for a query, the rows or the columns?
  # nn.Linear keeps its matrix as (out, in) and multiplies by its transpose.
row_added_to_same_row:
  | (q @ w_q)[..., :, np.newaxis, :] -> q @ w_q
  | (k @ w_k)[..., np.newaxis, :, :] -> k @ w_k
  Your queries meet the keys row by row, query i key i; only a single query, or a
    single key, meets all.
  ? How many pairs of a query and a key are there, and which axis would tell them
    apart?
  # + lines up equal positions; a pair needs an axis of length 1 on each side.
zip_for_two_loops:
  | projected_q = …
  : projected_k = …
  : return np. … ->
  :     n, m = (q.shape[-2], k.shape[-2])
  :     scores = np.zeros((*q.shape[:-1], m))
  :     for i in range(min(n, m)):
  :         scores[..., i, i] = np.tanh(q[..., i, :] @ w_q + k[..., i, :] @ w_k) @ v
  :     return scores
  Your query i meets key i and no other; all other scores are 0.
  ? Which keys should query 0 be scored against?
  # zip walks two lists in step; two nested loops visit every pair.
keys_pile_up: (k @ w_k) -> np.cumsum(k @ w_k, axis=-2)
  Your keys pile up: score [i, j] holds keys 0 to j together.
  ? When the loop comes to the next key, what does your hidden layer still hold?
  # hidden += … in a loop changes the array that the next round starts from.
axes_counted_from_the_front:
  | [..., :, np.newaxis, :] -> [:, np.newaxis]
  | [..., np.newaxis, :, :] -> [np.newaxis]
  Your new axes stand at positions 0 and 1, counted from the front.
  ? Where do these axes land when q and k come with a batch axis?
  # q[:, None, :] + k[None, :, :] is what write-ups without a batch show.
one_batch_axis_only:
  | [..., :, np.newaxis, :] -> [:, :, np.newaxis]
  | [..., np.newaxis, :, :] -> [:, np.newaxis]
  Your new axes stand where they belong for exactly one batch axis.
  ? Where do these axes land when q and k come with no batch axis, or with two?
  # q[:, :, None] + k[:, None] is what code with a batch shows.
queries_and_keys_swapped:
  | [..., :, np.newaxis, :] -> [..., np.newaxis, :, :]
  | [..., np.newaxis, :, :] -> [..., :, np.newaxis, :]
  Your table has one row per key and one column per query.
  ? Whose scores belong in row i?
  # The new axis of length 1 is put into the wrong one of the two.
v_ignored: return np.tanh(projected_q + projected_k).sum(axis=-1)
  Your hidden layer is summed as it is: v is not in the scores.
  ? What would change in your scores if every entry of v were doubled?
  # 'Turn the hidden layer into one number' is read as summing it.
largest_hidden_unit: return np.tanh(projected_q + projected_k).max(axis=-1)
  Your scores are the largest number of the hidden layer: v is not in them.
  # 'Turn the hidden layer into one number' is read as a maximum.
signs_of_v_lost: @ v -> @ np.abs(v)
  Your scores use v without its minus signs.
  ? May a hidden unit lower a score?
  # Weights are taken for shares, which are positive.
divided_by_root_of_d_hidden: @ v -> @ v / len(v) ** 0.5
  Your numbers are divided by √d_hidden.
  ? Which score had a square root in its formula, and does this one?
  # The scale of dot-product attention is carried over.
divided_by_root_of_d_q: @ v -> @ v / q.shape[-1] ** 0.5
  Your numbers are divided by the root of a query's length, √d_q.
divided_by_root_of_d_k: @ v -> @ v / k.shape[-1] ** 0.5
  Your numbers are divided by the root of a key's length, √d_k.
mean_over_hidden: @ v -> @ v / len(v)
  Your numbers are means over the hidden layer.
  ? Does v · … add its products up, or average them?
  # mean(axis=-1) is written for sum(axis=-1).
softmax_applied: return softmax(np.tanh(projected_q + projected_k) @ v)
  Your numbers are weights already: a softmax is applied to the scores.
  ? What does the function promise to return, scores or weights?
  # Bahdanau's paper gives the score and its softmax in one breath.
hidden_layer_returned: projected_k) @ v -> projected_k)
  Your result is the hidden layer: d_hidden numbers per pair.
  ? Which step makes one number of each hidden layer?
  # The last product, with v, is forgotten.
last_axis_kept: @ v -> @ v[:, np.newaxis]
  Your scores have an axis of length 1 too many at the end.
  ? Which shape does the docstring promise?
  # v is made a column for the product, and its axis stays.
arguments_reshaped:
  | projected_q = … ->
  :     q.shape = (*q.shape[:-1], 1, q.shape[-1])
  :     projected_q = q @ w_q
  | projected_k = … ->
  :     k.shape = (*k.shape[:-2], 1, *k.shape[-2:])
  :     projected_k = k @ w_k
  Your call changes the shapes of q and k.
  ? Whose arrays are q and k, and what does assigning to .shape do to them?
  # q.shape = … changes the caller's array; q[..., None, :] makes a new view.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
    families.in_place("q", lambda q, k, w_q, w_k, v: q @ w_q, where_it_fits=True),
    families.in_place("k", lambda q, k, w_q, w_k, v: k @ w_k, where_it_fits=True),
)
