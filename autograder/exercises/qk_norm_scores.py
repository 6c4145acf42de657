"""Cases and misconceptions of ``qk_norm_scores``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from course_lib.attention_changes import qk_norm_scores

exercise = Exercise(
    qk_norm_scores,
    lesson="15_attention_since_2023",
    minutes=8,
    difficulty=2,
    library=("torch.nn.functional.rms_norm", "torch.nn.RMSNorm"),
)


@exercise.spec
def spec(q, k, q_gain, k_gain):
    *leading, n, d_k = q.shape
    m = k.shape[-2]
    scores = np.zeros((*leading, n, m))
    for index in np.ndindex(*leading, n, m):
        *batch, i, j = index
        query = [float(x) for x in q[*batch, i]]
        key = [float(x) for x in k[*batch, j]]
        own_q = math.sqrt(sum(x * x for x in query) / d_k)
        own_k = math.sqrt(sum(x * x for x in key) / d_k)
        for c in range(d_k):
            product = query[c] * float(q_gain[c]) * key[c] * float(k_gain[c])
            scores[index] += product / (own_q * own_k)
    return scores / math.sqrt(d_k)


def drawn(rng, leading=(), n=5, m=7, d_k=4):
    """Draw queries, keys and two gains, all sizes different."""
    q, k = rng.normal(size=(*leading, n, d_k)), rng.normal(size=(*leading, m, d_k))
    # Rows of different lengths, none of them near 0.
    q *= rng.uniform(1.0, 6.0, size=(*leading, n, 1))
    k *= rng.uniform(1.0, 6.0, size=(*leading, m, 1))
    return q, k, *rng.uniform(0.5, 2.0, size=(2, d_k))


@exercise.usual
def usual(rng):
    return drawn(rng, (2,))


@exercise.case("One query and two keys, by hand")
def small_example_by_hand(student, rng):
    # Root mean squares 2, 4 and 5; of four components, √d_k is 2.
    q = np.array([[2.0, 2.0, -2.0, 2.0]])
    k = np.array([[4.0, 4.0, 4.0, 4.0], [10.0, 0.0, 0.0, 0.0]])
    q_gain, k_gain = np.array([1.0, 2.0, 1.0, 1.0]), np.array([3.0, 1.0, 1.0, 1.0])
    student.expect(student(q, k, q_gain, k_gain), np.array([[2.5, 3.0]]))


@exercise.case("Drawn queries and keys, as many of each or not", weight=2)
def drawn_sizes(student, rng):
    student.agrees(*drawn(rng))
    student.agrees(*drawn(rng, n=4, m=4))
    student.agrees(*drawn(rng, n=7, m=3, d_k=6))


exercise.case("Each sequence of a batch is handled by itself", weight=2)(
    standard_cases.leading_axes(drawn, (2,), (2, 3), dict(leading=(3,), n=4, m=4))
)


@exercise.case(
    "Queries and keys a hundred times as long have the same scores",
    weight=0.5,
    pays_alone=False,
)
def lengths_do_not_matter(student, rng):
    q, k, *gains = drawn(rng)
    before = student(q, k, *gains)
    longer = student(100.0 * q, 100.0 * k, *gains)
    student.expect(longer, before, what="the scores of the longer ones")


@exercise.case("Rows that are far longer than others change no other row", weight=0.5)
def one_long_row(student, rng):
    q, k, *gains = drawn(rng)
    q[2] *= 1000.0
    k[4] *= 300.0
    student.agrees(q, k, *gains)


@exercise.case("With gains of 1, no score is larger than √d_k", visible=False)
def bounded(student, rng):
    d_k = int(rng.integers(3, 9))
    one = np.ones(d_k)
    q = 50.0 * rng.normal(size=(3, d_k))
    # A key along each query: the largest score that there can be.
    scores = student(q, 7.0 * q, one, one)
    student.expect(np.diag(scores), np.full(3, d_k**0.5), what="the own key's score")


@exercise.case("A single query and vectors of one component keep their axes")
def smallest_sizes(student, rng):
    student.agrees(*drawn(rng, n=1))
    student.agrees(*drawn(rng, (2,), n=2, m=1))
    student.agrees(*drawn(rng, n=3, m=2, d_k=1))


@exercise.case("The queries, keys and gains are not modified", weight=0.5)
def arguments_stay(student, rng):
    q, k = (rng.integers(1, 9, size=(4, 4)).astype(float) for _ in range(2))
    student.leaves_unchanged(q, k, *rng.uniform(0.5, 2.0, size=(2, 4)))
    student.leaves_unchanged(*drawn(rng, (2,)))


exercise.edits(
    """
unit_lengths:
  | np.sqrt((q ** 2).mean(axis=-1, keepdims=True)) ->
  :     np.linalg.norm(q, axis=-1, keepdims=True)
  | np.sqrt((k ** 2).mean(axis=-1, keepdims=True)) ->
  :     np.linalg.norm(k, axis=-1, keepdims=True)
  Your rows are divided by their lengths: scores are d_k times too small.
  ? Which is larger, the root of the mean of d_k squares or the root of their sum?
  # Henry et al. (2020) divide by the length and multiply by one learned number
    instead of 1 / √d_k.
mean_square_without_root:
  | np.sqrt((q ** 2).mean(axis=-1, keepdims=True)) -> (q ** 2).mean(-1, keepdims=True)
  | np.sqrt((k ** 2).mean(axis=-1, keepdims=True)) -> (k ** 2).mean(-1, keepdims=True)
  Your rows are divided by their mean square, without the root.
  ? A row twice as long: how much larger is its mean square?
  # The root is the last of three steps, and the first to be forgotten.
epsilon_added:
  | (q ** 2).mean(axis=-1, keepdims=True) ->
  :     (q ** 2).mean(axis=-1, keepdims=True) + 1e-5
  | (k ** 2).mean(axis=-1, keepdims=True) ->
  :     (k ** 2).mean(axis=-1, keepdims=True) + 1e-5
  Your mean squares have 1e-5 added: scores are a little nearer to 0 than they should.
  ? What does the docstring say of rows that would need it?
  # A layer of a library adds it, for rows of zeros.
layer_norm_instead:
  | q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True)) * q_gain ->
  :     q = q - q.mean(axis=-1, keepdims=True)
  :     q = q / np.maximum(q.std(axis=-1, keepdims=True), 1e-12) * q_gain
  | k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True)) * k_gain ->
  :     k = k - k.mean(axis=-1, keepdims=True)
  :     k = k / np.maximum(k.std(axis=-1, keepdims=True), 1e-12) * k_gain
  Your rows have their means subtracted first, as in a layer norm.
  ? Is the mean of a row part of its root mean square?
  # ViT-22B has a layer norm there; most language models take the root mean square.
layer_norm_without_epsilon:
  | q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True)) * q_gain ->
  :     q = q - q.mean(axis=-1, keepdims=True)
  :     q = q / q.std(axis=-1, keepdims=True) * q_gain
  | k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True)) * k_gain ->
  :     k = k - k.mean(axis=-1, keepdims=True)
  :     k = k / k.std(axis=-1, keepdims=True) * k_gain
  Your rows have their means subtracted first, as in a layer norm: rows of equal
    components become 0/0.
layer_norm_with_epsilon:
  | q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True)) * q_gain ->
  :     q = q - q.mean(axis=-1, keepdims=True)
  :     q = q / np.sqrt(q.var(axis=-1, keepdims=True) + 1e-5) * q_gain
  | k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True)) * k_gain ->
  :     k = k - k.mean(axis=-1, keepdims=True)
  :     k = k / np.sqrt(k.var(axis=-1, keepdims=True) + 1e-5) * k_gain
  Your rows have their means subtracted first, as in a layer norm.
layer_norm_with_smaller_epsilon:
  | q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True)) * q_gain ->
  :     q = q - q.mean(axis=-1, keepdims=True)
  :     q = q / np.sqrt(q.var(axis=-1, keepdims=True) + 1e-6) * q_gain
  | k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True)) * k_gain ->
  :     k = k - k.mean(axis=-1, keepdims=True)
  :     k = k / np.sqrt(k.var(axis=-1, keepdims=True) + 1e-6) * k_gain
  Your rows have their means subtracted first, as in a layer norm with an ε of 1e-6.
means_subtracted:
  | q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True)) * q_gain ->
  :     own = np.sqrt((q ** 2).mean(axis=-1, keepdims=True))
  :     q = (q - q.mean(axis=-1, keepdims=True)) / own * q_gain
  | k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True)) * k_gain ->
  :     own = np.sqrt((k ** 2).mean(axis=-1, keepdims=True))
  :     k = (k - k.mean(axis=-1, keepdims=True)) / own * k_gain
  Your rows have their means subtracted, and are divided by the root mean squares that
    they had before.
  ? Is the mean of a row part of its root mean square?
  # Half of a layer norm is kept in the other norm.
queries_only: k = k * k_gain
  Your keys are not normalised, only multiplied by their gain.
  ? If the keys become a hundred times as long, what happens to your scores?
  # The line for the queries is written, and the one for the keys left for later.
keys_only: q = q * q_gain
  Your queries are not normalised, only multiplied by their gain.
  ? If the queries become a hundred times as long, what happens to your scores?
  # The line for the keys is written, and the one for the queries left for later.
no_norm:
  | q = q * q_gain
  | k = k * k_gain
  Your queries and keys are multiplied by their gains, but not normalised.
  ? If the queries become a hundred times as long, what happens to your scores?
  # What comes before the gain is taken to be the caller's.
no_gain:
  | q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True))
  | k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True))
  Your rows are normalised, and neither gain is used.
  ? How could a model make one component of its queries count more than another?
  # The norm has the name, and the gain is a detail of it.
query_gain_missing: q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True))
  Your queries are not multiplied by `q_gain`.
  ? Which of the four arguments does your answer not use?
  # One of two lines that look alike is changed.
key_gain_missing: k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True))
  Your keys are not multiplied by `k_gain`.
one_gain_twice: * k_gain -> * q_gain
  Your queries and your keys both get `q_gain`.
  ? Which of the four arguments does your answer not use?
  # A line is copied, and one of two names in it changed.
one_added_to_the_gains:
  | * q_gain -> * (1.0 + q_gain)
  | * k_gain -> * (1.0 + k_gain)
  Your rows are multiplied by their gains plus 1.
  ? Which gain should leave a normalised row as it is, a gain of 0 or of 1?
  # Gemma's models store what is added to 1.
gain_before_the_norm:
  | q = q / … ->
  :     q = q * q_gain
  :     q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True))
  | k = k / … ->
  :     k = k * k_gain
  :     k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True))
  Your gain comes first, and the norm after it.
  ? If both gains are doubled, what happens to your scores?
  # Both are done to each row, and the order seems free.
gain_before_the_norm_of_queries:
  | q = q / … ->
  :     q = q * q_gain
  :     q = q / np.sqrt((q ** 2).mean(axis=-1, keepdims=True))
  Your queries get their gain first, and the norm after it.
  ? If `q_gain` is doubled, what happens to your scores?
  # Only one of two lines was changed.
gain_before_the_norm_of_keys:
  | k = k / … ->
  :     k = k * k_gain
  :     k = k / np.sqrt((k ** 2).mean(axis=-1, keepdims=True))
  Your keys get their gain first, and the norm after it.
  ? If `k_gain` is doubled, what happens to your scores?
divided_by_the_gain:
  | keepdims=True)) * q_gain -> keepdims=True)) / q_gain
  | keepdims=True)) * k_gain -> keepdims=True)) / k_gain
  Your rows are divided by their gains.
  ? What should a gain of 2 do to a component?
  # The division by the root mean square goes on into the gain.
no_scale: / q.shape[-1] ** 0.5 ->
  Your scores are the plain dot products of the normalised rows.
  ? Two rows along each other have the dot product d_k here: which score should it
    become?
  # The norm seems to make the scale unnecessary; its sources keep one of the two.
cosines: q.shape[-1] ** 0.5 -> q.shape[-1]
  Your scores are √d_k times too small: with gains of 1, they are cosines.
  ? Which length has a row of d_k components whose root mean square is 1?
  # Henry et al. (2020) divide each row by its length, and by nothing after that; the
    product of rows that were divided by their root mean squares, divided by d_k, is
    the same number.
one_norm_for_all_rows:
  | (q ** 2).mean(axis=-1, keepdims=True) -> (q ** 2).mean()
  | (k ** 2).mean(axis=-1, keepdims=True) -> (k ** 2).mean()
  Your rows share one root mean square: a long row is as long as before, compared
    with others.
  ? Of how many numbers should the mean be taken?
  # mean() without an axis takes in the whole array.
along_the_tokens:
  | (q ** 2).mean(axis=-1, keepdims=True) -> (q ** 2).mean(axis=-2, keepdims=True)
  | (k ** 2).mean(axis=-1, keepdims=True) -> (k ** 2).mean(axis=-2, keepdims=True)
  Your root mean squares run along the tokens: one for each component.
  ? Does the norm of one token depend on the others?
  # Batch norm takes its means over the other axis.
scores_normalised:
  | q = q * q_gain
  | k = k * k_gain
  | return q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5 ->
  :     scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
  :     return scores / np.sqrt((scores ** 2).mean(axis=-1, keepdims=True))
  Your scores are normalised, and your queries and keys are not.
  ? Which rows have to have a root mean square of 1, those of q and k or those of the
    scores?
  # It is the scores that grow too large, so they are what gets the norm.
queries_and_keys_swapped: q @ np.swapaxes(k, -1, -2) -> k @ np.swapaxes(q, -1, -2)
  Your rows belong to the keys, and your columns to the queries.
  ? Which argument gives the result its rows?
  # The two are given in the other order.
softmax_applied:
  | return q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5 ->
  :     powers = np.exp(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)
  :     return powers / powers.sum(axis=-1, keepdims=True)
  Your result went through a softmax: it holds weights.
  ? What does the docstring promise, scores or weights?
  # The softmax is the next step, and is done at once.
normalised_in_place:
  | q = q / … ->
  :     q /= np.sqrt((q ** 2).mean(axis=-1, keepdims=True))
  :     q = q * q_gain
  Your call divides q in place: the caller's array stays so.
  ? Which line of yours writes into the array that the caller holds?
  # `q /= …` looks like a new q, and changes the old one.
""",
)

exercise.family(families.squeezed(), families.as_list())
