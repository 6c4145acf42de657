"""Cases and misconceptions of ``latent_attention``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from autograder.exercises.attention import exercise as attention_exercise
from course_lib.attention_changes import latent_attention

exercise = Exercise(
    latent_attention,
    lesson="15_attention_since_2023",
    minutes=12,
    difficulty=3,
    returns=("output", "absorbed queries"),
    library=(
        "course_lib.attention.attention",
        "course_lib.attention.softmax",
        *attention_exercise.library,
    ),
)


@exercise.spec
def spec(q, latents, w_k, w_v):
    n_heads, n, d_k = q.shape
    m, d_c = latents.shape
    output = np.zeros((n_heads, n, w_v.shape[-1]))
    absorbed = np.zeros((n_heads, n, d_c))
    for head in range(n_heads):
        keys, values = latents @ w_k[head], latents @ w_v[head]
        for i in range(n):
            for c in range(d_c):
                absorbed[head, i, c] = sum(
                    q[head, i, a] * w_k[head, c, a] for a in range(d_k)
                )
            scores = [sum(q[head, i] * keys[j]) / math.sqrt(d_k) for j in range(m)]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j in range(m):
                output[head, i] += powers[j] / sum(powers) * values[j]
    return output, absorbed


inputs = exercise.inputs(n_heads=3, n=2, m=7, d_c=5, d_k=4, d_v=6)


@exercise.usual
def usual(rng):
    return inputs(rng)


@exercise.case("Two heads and three latent vectors, by hand")
def small_example_by_hand(student, rng):
    # Head 0 finds by the first number and reads the second; head 1 the other way.
    q = np.array([[[2.0, 0.0, 0.0, 0.0]], [[0.0, 4.0, 0.0, 0.0]]])
    latents = np.array([[0.0, 0.0], [np.log(2.0), 8.0], [np.log(5.0), 24.0]])
    w_k, w_v = np.zeros((2, 2, 4)), np.zeros((2, 2, 1))
    w_k[0, 0, 0], w_v[0, 1, 0], w_k[1, 1, 1], w_v[1, 0, 0] = 1.0, 2.0, 10.0, 1.0
    expected = np.array([[[34.0]], [[np.log(5.0)]]]), np.array([[[2.0, 0]], [[0, 40]]])
    student.expect(student(q, latents, w_k, w_v), expected)
    student.agrees(*inputs(rng, n_heads=2, n=1, m=3))


@exercise.case("Drawn queries and latent vectors of several heads", weight=2.5)
def drawn_sizes(student, rng):
    student.agrees(*inputs(rng))
    student.agrees(*inputs(rng, n_heads=2, n=5, m=3, d_c=8, d_k=3, d_v=2))


@exercise.case(
    "All sizes alike, where only the numbers show a wrong axis",
    weight=2,
    visible=False,
)
def sizes_alike(student, rng):
    student.agrees(*inputs(rng, alike=4))


@exercise.case("Scores far from 0 are weighted rightly")
def large_scores(student, rng):
    q, latents, w_k, w_v = inputs(rng)
    student.agrees(400.0 * q, latents, w_k, w_v)
    q, w_k, latents = abs(q), abs(w_k), abs(latents)
    student.agrees(-400.0 * q, latents, w_k, w_v)
    # One query far from 0, next to others.
    q[0, 1] *= -3000.0
    student.agrees(q, latents, w_k, w_v)


@exercise.case("A single head, query, token or latent component keeps its axis")
def smallest_sizes(student, rng):
    student.agrees(*inputs(rng, n_heads=1))
    student.agrees(*inputs(rng, n=1))
    student.agrees(*inputs(rng, m=1))
    student.agrees(*inputs(rng, d_c=1, d_v=1))


exercise.case("The arguments are not modified", weight=0.5)(
    standard_cases.arguments_stay(inputs, (), dict(alike=3))
)


exercise.edits(
    """
keys_in_place_of_absorbed_queries: @ w_v, absorbed) -> @ w_v, latents @ w_k)
  Your `absorbed queries` are the keys, made for every token of the cache.
  ? How many rows has it, one for each query or one for each cached token?
  # Keys are what attention needs, so they are made first.
queries_returned: @ w_v, absorbed) -> @ w_v, q)
  Your `absorbed queries` are the queries as they came.
  ? How long is a query, and how long a latent vector that it is to be compared with?
  # The product with w_k is taken in the line of the scores, and not kept.
scaled_absorbed_queries: @ w_v, absorbed) -> @ w_v, absorbed / q.shape[-1] ** 0.5)
  Your `absorbed queries` are divided by √d_k already.
  ? Should its dot product with a latent vector be that of query and key, or the score?
  # Scaling the queries instead of the scores saves a division.
values_absorbed:
  | absorbed = q @ np.swapaxes(w_k, -1, -2) ->
  :     absorbed = q @ np.swapaxes(w_k, -1, -2)
  :     mixed = q @ np.linalg.pinv(w_v[..., :1] @ np.ones((1, q.shape[-1])))
  | @ w_v, absorbed) -> @ w_v, mixed.reshape(*mixed.shape[:2], -1))
  Your `absorbed queries` are made with w_v.
  ? Which of the two matrices makes what a query is compared with?
  # w_v can be absorbed too, into the matrix behind the heads.
softmax_over_queries:
  | scores.max(axis=-1, keepdims=True) -> scores.max(axis=-2, keepdims=True)
  | powers.sum(axis=-1, keepdims=True) -> powers.sum(axis=-2, keepdims=True)
  Your softmax runs over the queries.
  ? Who shares out a weight of 1: a query among the tokens, or a token among them?
  # axis=-2 is taken for 'along the rows'.
softmax_over_heads:
  | scores.max(axis=-1, keepdims=True) -> scores.max(axis=0, keepdims=True)
  | powers.sum(axis=-1, keepdims=True) -> powers.sum(axis=0, keepdims=True)
  Your softmax runs over the heads.
  ? Does one head's weight depend on another head's?
  # axis=0 is right for a table of two axes.
softmax_over_heads_and_tokens:
  | scores.max(axis=-1, keepdims=True) -> scores.max(axis=(0, 2), keepdims=True)
  | powers.sum(axis=-1, keepdims=True) -> powers.sum(axis=(0, 2), keepdims=True)
  Your softmax runs over heads and tokens together: the heads share a weight of 1.
  ? Does one head's weight depend on another head's?
  # A query's scores are all that is not the axis of queries.
no_scale: / q.shape[-1] ** 0.5 ->
  Your scores are not divided by √d_k.
  ? What happens to the dot products before the softmax?
  # The scale is lost among the products.
scaled_by_root_of_d_c: q.shape[-1] ** 0.5 -> latents.shape[-1] ** 0.5
  Your scores are divided by √d_c, the root of the length of a latent vector.
  ? Which dot product is it that has its variance put right, that of query and key or
    the one you compute it by?
  # The vectors that are multiplied have d_c components here.
scaled_by_d_k: q.shape[-1] ** 0.5 -> q.shape[-1]
  Your scores are divided by d_k.
  ? Which power of d_k does the formula divide by?
  # Queries and scores are scaled both.
no_maximum: powers = np.exp(scores)
  Your exponentials are of the scores as they are: inf where one is large, all 0 where
    those of a query lie far below 0.
  ? What may you subtract from all scores of a query without changing its weights?
  # exp(scores) / sum is the formula as it is printed.
one_maximum_for_everything: scores.max(axis=-1, keepdims=True) -> scores.max()
  Your rows share one maximum: the exponentials of rows far below it are all 0.
  ? Whose largest score does a query need?
  # max() without an axis is enough against overflow.
weights_are_scores: weights = scores
  Your weights are the scores: there is no softmax.
  ? What makes positive weights that sum to 1 out of scores?
  # The scores are at hand, and the softmax is left for later.
not_normalised: weights = powers
  Your powers of e are not divided by their sum.
  ? What should the weights of a query sum to?
  # The softmax is written out, and its second half forgotten.
latents_mixed_only:
  | @ latents @ w_v -> @ latents
  Your output is the mean of latent vectors: no value is made of it.
  ? How long is a value, and which matrix makes it?
  # What the weights mix is the cache, and that looks like the end.
keys_mixed: weights @ latents @ w_v -> weights @ (latents @ w_k)
  Your output is a mean of keys.
  ? Which matrix makes values out of latent vectors?
  # w_k stands in every other line.
first_heads_parameters: np.swapaxes(w_k, -1, -2) -> w_k[0].T
  Your heads all use the first head's w_k.
  ? Which axis of w_k counts the heads?
  # The cache is the same for all heads, and so w_k is taken to be.
first_heads_values: @ w_v, -> @ w_v[0],
  Your heads all use the first head's w_v.
  ? Which axis of w_v counts the heads?
mean_of_the_heads_keys: absorbed @ latents.T -> absorbed.mean(axis=0) @ latents.T
  Your heads share their scores, those of the mean of their absorbed queries.
  ? How many tables of weights are there, with n_heads heads?
  # One cache for all heads reads like one attention for all.
heads_added: weights @ latents @ w_v -> (weights @ latents @ w_v).sum(0, keepdims=True)
  Your heads' outputs are added up.
  ? Which shape does the docstring promise for the output?
  # After w_o a sum is what comes out, but that matrix is not part of this.
query_scaled_in_place:
  | scores = absorbed … ->
  :     q /= q.shape[-1] ** 0.5
  :     scores = q @ np.swapaxes(latents @ w_k, -1, -2)
  Your call divides q by √d_k in place: the caller's array stays so.
  ? Which line of yours writes into the array that the caller holds?
  # `q /= …` looks like a new q, and changes the old one.
causal_mask_added:
  | powers = … ->
  :     i, j = (np.arange(scores.shape[-2])[:, np.newaxis], np.arange(len(latents)))
  :     scores = np.where(j <= i, scores, -np.inf)
  :     powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
  Your query i attends to tokens 0 … i only.
  ? To how many tokens of the cache may the newest query attend?
  # Attention of a decoder has a causal mask, and is copied along with it.
causal_mask_from_the_cache_on:
  | powers = … ->
  :     i, j = (np.arange(scores.shape[-2])[:, np.newaxis], np.arange(len(latents)))
  :     before = max(len(latents) - len(i), 0)
  :     scores = np.where(j <= i + before, scores, -np.inf)
  :     powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
  Your first queries attend to fewer tokens than your last: that is a causal mask.
  # The queries are taken for the newest tokens of the cache, as they are in a decoder.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.squeezed(),
)
