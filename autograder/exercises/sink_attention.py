"""Cases and misconceptions of ``sink_attention``."""

import math

import numpy as np

from autograder import Exercise, families
from autograder.exercises.attention import exercise as attention_exercise
from course_lib.attention_changes import sink_attention

exercise = Exercise(
    sink_attention,
    lesson="15_attention_since_2023",
    minutes=12,
    difficulty=2,
    returns=("output", "weights"),
    library=(
        "course_lib.attention.attention",
        "course_lib.attention.softmax",
        "course_lib.masks.masked_softmax",
        *attention_exercise.library,
    ),
)


@exercise.spec
def spec(q, k, v, sink, may_attend=None):
    n_heads, n, d_k = q.shape
    m, d_v = v.shape[-2:]
    if may_attend is None:
        may_attend = np.array(True)
    allowed = np.broadcast_to(may_attend, (n_heads, n, m))
    output, weights = np.zeros((n_heads, n, d_v)), np.zeros((n_heads, n, m))
    for head, i in np.ndindex(n_heads, n):
        scores = {}
        for j in range(m):
            if allowed[head, i, j]:
                dots = (float(q[head, i, c]) * float(k[head, j, c]) for c in range(d_k))
                scores[j] = sum(dots) / math.sqrt(d_k)
        own = float(sink[head])
        largest = max([own, *scores.values()])
        total = sum(math.exp(score - largest) for score in [own, *scores.values()])
        for j, score in scores.items():
            weights[head, i, j] = math.exp(score - largest) / total
            output[head, i] += weights[head, i, j] * v[head, j]
    return output, weights


def drawn(rng, n_heads=3, n=5, m=7, d_k=4):
    """Draw queries, keys, values and sinks of several heads, all sizes different."""
    q, k = rng.normal(size=(n_heads, n, d_k)), 2.0 * rng.normal(size=(n_heads, m, d_k))
    v = rng.normal(size=(n_heads, m, 6))
    return q, k, v, 1.0 + rng.normal(size=n_heads)


@exercise.usual
def usual(rng):
    return *drawn(rng), rng.random((3, 5, 7)) < 0.7


@exercise.case("Two heads, one query and two keys, by hand")
def small_example_by_hand(student, rng):
    # The scores are ln 1 and ln 3 in both heads; the sinks are ln 4 and ln 12.
    q = np.array([[[2.0, 0.0, 0.0, 0.0]]] * 2)
    k = np.zeros((2, 2, 4))
    k[:, 1, 0] = np.log(3.0)
    v = np.array([[[8.0], [16.0]], [[32.0], [0.0]]])
    weights = np.array([[[0.125, 0.375]], [[0.0625, 0.1875]]])
    expected = np.array([[[7.0]], [[2.0]]]), weights
    student.expect(student(q, k, v, np.log([4.0, 12.0])), expected)
    student.agrees(*drawn(rng, n=1, m=2))


@exercise.case("Several heads, each with a sink of its own", weight=2)
def several_heads(student, rng):
    student.agrees(*drawn(rng))
    student.agrees(*drawn(rng, n_heads=4, n=4, m=4))
    student.agrees(*drawn(rng, d_k=9))  # for 4, √d_k is half of d_k


@exercise.case("Each query is restricted to the keys that it may attend to", weight=3)
def masks(student, rng):
    causal = np.tri(5, dtype=bool)
    student.agrees(*drawn(rng, m=5), causal)
    student.agrees(*drawn(rng), np.arange(7) < 4)
    here = rng.random((3, 5, 7)) < 0.6
    here[..., 0] = True
    student.agrees(*drawn(rng), here)


@exercise.case("A query that may attend to no key gets zeros", weight=1.5)
def nothing_open(student, rng):
    may_attend = rng.random((5, 7)) < 0.6
    may_attend[[1, 3]] = False
    student.agrees(*drawn(rng), may_attend)


@exercise.case(
    "A sink far below all scores leaves plain attention", weight=0.5, visible=False
)
def low_sink(student, rng):
    q, k, v, sink = drawn(rng)
    student.agrees(q, k, v, np.full_like(sink, -200.0))


@exercise.case("Scores and sinks of any size are weighted rightly")
def any_size(student, rng):
    q, k, v, sink = drawn(rng)
    student.agrees(800.0 * q, k, v, sink)  # each row has a score far from 0
    student.agrees(q, k, v, np.array([9e3, -9e3, 2.0]))
    # All scores and the sink far below 0, or far above it.
    k[..., 0], q[..., 0] = 150.0, 100.0
    student.agrees(-q, k, v, np.full(3, -7.5e3))
    student.agrees(q, k, v, np.full(3, 7.5e3))


@exercise.case("A single head, query or key keeps its axis")
def smallest_sizes(student, rng):
    student.agrees(*drawn(rng, n_heads=1))
    student.agrees(*drawn(rng, n=1), np.arange(7) < 5)
    student.agrees(*drawn(rng, n_heads=2, n=2, m=1))


@exercise.case("The arguments are not modified", weight=0.5)
def arguments_stay(student, rng):
    q, k, v, sink = drawn(rng, n=4, m=4)
    student.leaves_unchanged(q, k, v, sink, np.tri(4, dtype=bool))
    student.leaves_unchanged(*drawn(rng))


exercise.edits(
    """
sink_ignored:
  | largest = scores.max(axis=-1, keepdims=True)
  | total = powers.sum(axis=-1, keepdims=True)
  Your weights are those of plain attention: they sum to 1.
  ? Which of the terms in your sum is the sink's?
  # The sink has no value, so it seems to have no effect.
sink_ignored_with_zeros:
  | largest = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)
  | total = np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
  Your weights are those of `masked_softmax`: they sum to 1, or to 0 without any key.
  ? Which of the terms in your sum is the sink's?
  # A function of lesson 04 gives the zeros, and so the sink seems to be in it.
one_is_added: np.exp(sink - largest) -> 1.0
  Your sum gets 1 added, whatever the sink's score is.
  ? By what was every exponential divided, and what is the sink's share then?
  # 'Softmax plus one' adds 1, and that holds before the maximum is subtracted.
sink_score_of_0: sink[:, np.newaxis, np.newaxis] -> 0.0
  Your sink has the score 0 in all heads.
  ? Which argument does your answer not use?
  # 'Softmax plus one' is the same thing with a score of 0.
sink_not_raised: np.exp(sink - largest) -> sink
  Your sum gets the sink's score itself added, not a power of e.
  ? What happens to every other score before it enters the sum?
  # The sink is called a number that is added to the denominator.
maximum_not_taken_off_the_sink: np.exp(sink - largest) -> np.exp(sink)
  Your maximum is taken off the scores and not off the sink.
  ? By which factor are the other terms of your sum smaller than they should be?
  # powers has it done already, and the sink is added afterwards.
sink_scaled: sink[:, np.newaxis, np.newaxis] -> sink[:, np.newaxis, np.newaxis] / 2.0
  Your sink's score is divided by √d_k.
  ? Is the sink's score a dot product?
  # The sink is put next to the dot products, before they are scaled.
sink_for_each_query:
  | sink[:, np.newaxis, np.newaxis] -> np.resize(sink, (scores.shape[1], 1))
  Your sinks go along the queries: query i gets sink i.
  ? What does a sink belong to, a head or a query?
  # sink[:, np.newaxis] is broadcast against (n_heads, n, 1) from the right.
one_sink_for_all: sink[:, np.newaxis, np.newaxis] -> sink.mean()
  Your heads share one sink, the mean of all.
  ? How many sinks are there, and how many heads?
  # One number for the whole layer is broadcast against any shape.
first_sink_for_all: sink[:, np.newaxis, np.newaxis] -> sink[0]
  Your heads share one sink, the first.
  # With one head there is one number.
maximum_without_the_sink: largest = scores.max(axis=-1, keepdims=True)
  Your maximum is that of the scores alone: a sink far above them gives inf, and a row
    without any key is NaN.
  ? Which is the largest number whose exponential you take?
  # The maximum is known from softmax, where there are scores only.
no_maximum:
  | largest = 0.0
  Your exponentials are of the scores as they are: inf where one is large, and all 0
    where those of a query lie far below 0.
  ? What may you subtract from all scores, the sink's too, without changing a weight?
  # The sink in the sum seems to keep it from being 0.
one_maximum_for_everything: largest = np.maximum(scores.max(), sink.max())
  Your rows share one maximum: the exponentials of rows far below it are all 0.
  ? Whose largest score does a query need?
  # max() without an axis is enough against overflow.
normalised_again:
  | weights = powers / total ->
  :     weights = powers / total
  :     weights = weights / weights.sum(axis=-1, keepdims=True)
  Your weights are divided by their sum at the end: they sum to 1.
  ? What becomes of the share that the sink has taken?
  # Weights that do not sum to 1 look like an error.
sink_in_the_output_only:
  | return (weights @ v, weights) ->
  :     return (weights @ v, powers / powers.sum(axis=-1, keepdims=True))
  Your output is right, and your weights are those without a sink.
  ? With which weights was the output computed?
  # The output is what counts, and the weights come from another line.
sink_in_the_weights_only:
  | return (weights @ v, weights) ->
  :     return (powers / powers.sum(axis=-1, keepdims=True) @ v, weights)
  Your weights are right, and your output is that without a sink.
  ? If the weights sum to a half, which output should they give?
  # The output is computed by attention as it was, and the weights in a new line.
sink_in_the_weights_only_with_zeros:
  | return (weights @ v, weights) ->
  :     total = powers.sum(axis=-1, keepdims=True)
  :     return (powers @ v / np.where(total == 0.0, 1.0, total), weights)
  Your weights are right, and your output is that without a sink, or 0 without any key.
  # As above, with what masked_softmax does for a query that is blocked from all keys.
sink_has_a_value:
  | return (weights @ v, weights) ->
  :     rest = 1.0 - weights.sum(axis=-1, keepdims=True)
  :     return (weights @ v + rest * v[:, :1], weights)
  Your sink passes on the first key's value.
  ? What does a query take home from the sink?
  # In models without a sink of their own, the first token is the sink.
sink_returned:
  | return (weights @ v, weights) ->
  :     rest = 1.0 - weights.sum(axis=-1, keepdims=True)
  :     return (weights @ v, np.concatenate([weights, rest], axis=-1))
  Your weights have one column more, that of the sink.
  ? Which shape does the docstring promise for the weights?
  # concatenate, softmax, and the column is still there.
sink_subtracted:
  | largest = scores.max(axis=-1, keepdims=True)
  | total = … ->
  :     total = np.exp(scores - sink - largest).sum(axis=-1, keepdims=True)
  Your sink is subtracted from the scores in the sum.
  ? How many terms has the sum of a query with m keys and a sink?
  # The largest score is subtracted in an exponent, and the sink goes with it.
mask_after_softmax:
  | scores = np.where(may_attend, scores, -np.inf) -> pass
  | weights = powers / total ->
  :     weights = powers / total
  :     if may_attend is not None:
  :         weights = np.where(may_attend, weights, 0.0)
  Your mask comes after the division: blocked keys are still in the sum.
  ? Does a blocked key take a share from the others?
  # Weights of 0 for blocked keys look like the whole effect of a mask.
mask_ignored: scores = np.where(may_attend, scores, -np.inf) -> pass
  Your mask is not used.
  ? Which argument does your answer not use?
  # It has a default, and is left for later.
polarity_reversed:
  | np.where(may_attend, scores, -np.inf) -> np.where(may_attend, -np.inf, scores)
  Your mask blocks the keys that are open.
  ? What does True mean in a mask called may_attend?
  # In PyTorch's nn.MultiheadAttention True means blocked.
no_scale: / q.shape[-1] ** 0.5 ->
  Your scores are the plain dot products.
  ? What happens to the dot products before the softmax?
  # The scale is lost among everything else.
sink_blocks_a_key:
  | scores = q … ->
  :     scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
  :     scores[..., 0] = -np.inf
  Your first key gets no weight: the sink is where it should be.
  ? How many keys take part, the sink not counted?
  # In StreamingLLM the first tokens are the sinks.
query_scaled_in_place:
  | scores = q … ->
  :     q /= q.shape[-1] ** 0.5
  :     scores = q @ np.swapaxes(k, -1, -2)
  Your call divides q by √d_k in place: the caller's array stays so.
  ? Which line of yours writes into the array that the caller holds?
  # `q /= …` looks like a new q, and changes the old one.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.one_result_only("weights"),
    families.squeezed(),
)
