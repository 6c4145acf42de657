"""Cases and misconceptions of ``cross_attention``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from autograder.exercises.attention import exercise as attention_exercise
from autograder.exercises.project import exercise as project_exercise
from autograder.exercises.self_attention import exercise as self_attention_exercise
from course_lib.self_attention import cross_attention, project

exercise = Exercise(
    cross_attention,
    lesson="02_self_attention",
    minutes=8,
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


SIZES = {"d_model": 12, "d_memory": 10, "d_k": 4, "d_v": 6}
inputs = exercise.inputs(n=5, m=7, **SIZES, scaled=("w_q", "w_k", "w_v"))


@exercise.usual
def usual(rng):
    # In a Transformer both sequences have tokens of one length.
    return inputs(rng, (2,), d_memory=12)


@exercise.case(
    "Two tokens that attend to three others give this output and these weights",
    weight=0.5,
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


@exercise.case("Each sequence of a batch attends to its own memory", weight=2)
def batch_of_sequences(student, rng):
    student.agrees(*inputs(rng, (2,)))


@exercise.case(
    "The memory may be the shorter one, with any number of leading axes", weight=2
)
def shorter_memory(student, rng):
    x, memory, w_q, w_k, w_v = inputs(rng, (2, 3), n=7, m=5)
    # Rows apart in memory, and numbers.
    x, memory = np.asfortranarray(x), np.repeat(memory, 2, axis=-1)[..., ::2]
    student.agrees(x, memory, w_q, np.asfortranarray(w_k), w_v)


@exercise.case(
    "With two sequences of the same sizes, the first one attends to the second",
    weight=1,
)
def sequences_of_the_same_sizes(student, rng):
    # Here any of the arrays could stand in for any other, and nothing stops.
    student.agrees(*inputs(rng, m=5, d_memory=12, d_v=4))


@exercise.case(
    "A memory of one token hands its value to every token", weight=0.5, visible=False
)
def one_token_in_memory(student, rng):
    memory = np.array([[1.0, -2.0, 3.0]])
    w_v = np.array([[1.0, 4.0], [0.0, 1.0], [2.0, 1.0]])
    w_q, w_k = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    expected = np.tile([[7.0, 5.0]], (5, 1)), np.ones((5, 1))
    student.expect(student(rng.normal(size=(5, 6)), memory, w_q, w_k, w_v), expected)
    w_v = rng.normal(size=(3, 2))
    expected = np.tile(memory @ w_v, (5, 1)), np.ones((5, 1))
    student.expect(student(rng.normal(size=(5, 6)), memory, w_q, w_k, w_v), expected)


@exercise.case("A token with a large norm does not spoil the other rows", weight=0.5)
def one_long_token(student, rng):
    # e to the power of the other rows' scores minus those of its own row is 0.
    x, memory = np.diag([9000.0, 1.0]), rng.uniform(1, 2, size=(3, 2))
    student.agrees(x, memory, np.eye(2, 4), np.eye(2, 4), rng.normal(size=(2, 3)))


@exercise.case("Scores in the thousands give finite weights", weight=0.5)
def large_scores(student, rng):
    x, memory = 100.0 * np.eye(2), 100.0 * np.eye(3)
    w_q, w_k = np.eye(4)[[0, 2]], np.eye(3, 4)  # they find the first and the last
    w_v = np.array([[1.0, 2.0], [3.0, 5.0], [-7.0, 8.0]])
    expected = 100.0 * w_v[[0, 2]], np.eye(3)[[0, 2]]
    student.expect(student(x, memory, w_q, w_k, w_v), expected)


@exercise.case(
    "The order of the memory does not matter",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def memory_reordered(student, rng):
    x, memory, *w = inputs(rng)
    order = [3, 0, 6, 1, 5, 2, 4]
    output, weights = student(x, memory, *w)
    expected = output, weights[:, order]
    reordered = student(x, memory[order], *w)
    student.expect(reordered, expected, what="what comes after the change")


exercise.case("Both sequences and the parameters are not modified", weight=1)(
    standard_cases.arguments_stay(
        inputs, dict(m=6, d_model=3, d_memory=2, d_v=7), dict(alike=4)
    )
)


@exercise.right_answer
def in_steps(x, memory, w_q, w_k, w_v):
    q = x @ w_q
    k = memory @ w_k
    v = memory @ w_v
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return (weights @ v, weights)


exercise.edits(
    """
memory_unused: memory = x
  Your x attends to itself: keys and values are made from x, not from the memory.
  ? Whose tokens are attended to?
  # The lines of self_attention are copied, and x stays in all three.
x_joined_to_the_memory: memory = np.concatenate([memory, x], axis=-2)
  Your tokens attend to the memory and to x itself, joined into one sequence; where
    their sizes differ, this can raise an error.
  ? How many tokens are attended to: m, or n and m together?
  # Some models join both sequences; here x attends to the memory alone.
both_sequences_projected_by_all:
  | q = … -> q, _, _ = project(x, w_q, w_k, w_v)
  | k = …
  : v = … -> _, k, v = project(memory, w_q, w_k, w_v)
  Your code raises an error where tokens of x and of the memory differ in size: each
    sequence is multiplied by parameters of the other.
  ? `project` multiplies x by w_k as well: has w_k as many rows as a token of x has
    entries?
  # project has been written for one sequence, and two calls of it are at hand.
memory_attends: x, memory = (memory, x)
  Your memory attends to x: queries come from the memory, and keys from x.
  ? Which of the two sequences gets an output, one row for each of its tokens?
  # 'The encoder's output gives the queries' is said in tutorials and in a survey
    (humza909/LLM_Survey, issue 2; rexrex9/nlp_torchtext, pull request 2).
values_from_x: memory @ w_v -> x @ w_v
  Your values are made from x; with other sizes than those of the memory, this can
    raise an error.
  ? If a token attends to token j of the memory, whose value should it get?
  # Query and value are taken from one side, the key from the other (apple/ml-cvnets,
    issue 81, asks whether that is right).
keys_from_x: memory @ w_k -> x @ w_k
  Your keys are made from x; with other sizes than those of the memory, this can raise
    an error.
  ? What can a token of the memory be found by?
  # 'The query meets the keys in the decoder, and fetches values from the encoder':
    two of three are put on one side.
x_unused: x @ w_q -> memory @ w_q
  Your queries are made from the memory; with other sizes than those of x, this can
    raise an error.
  ? If x changes, should your queries change?
  # A layer of the encoder is called on the encoder's output once more.
keys_made_with_w_q: memory @ w_k -> memory @ w_q
  Your keys are made with w_q; where the sizes of x and the memory differ, this can
    raise an error.
  ? Which of the parameters does no line of yours use?
  # The line of the queries is copied, and only the name on its left is changed.
queries_made_with_w_k: x @ w_q -> x @ w_k
  Your queries are made with w_k; where the sizes of x and the memory differ, this can
    raise an error.
  ? Which of the parameters does no line of yours use?
  # The line of the keys is copied, and only the name on its left is changed.
queries_made_with_w_v: x @ w_q -> x @ w_v
  Your queries are made with w_v; where sizes differ, this can raise an error.
keys_made_with_w_v: memory @ w_k -> memory @ w_v
  Your keys are made with w_v; where d_v is not d_k, this can raise an error.
values_made_with_w_q: memory @ w_v -> memory @ w_q
  Your values are made with w_q; where the sizes of x and the memory differ, this can
    raise an error.
values_made_with_w_k: memory @ w_v -> memory @ w_k
  Your values are made with w_k: your output mixes the keys.
  # The line of the keys is copied, and only the name on its left is changed.
keys_and_values_exchanged:
  | memory @ w_k -> memory @ w_v
  | memory @ w_v -> memory @ w_k
  Your w_k and w_v are exchanged: keys are made with w_v, and values with w_k; where d_v
    is not d_k, this can raise an error.
  ? Which of the two has the size of the queries?
  # Names of one letter are assigned two at a time, and change their order.
memory_mixed: v = memory
  Your output mixes tokens as they come in, not values.
  ? What does w_v do in your code?
  # 'A weighted sum of the encoder's states' is right for attention without
    parameters.
memory_cut_to_the_length_of_x:
  | ** 0.5 -> ** 0.5 + np.where(np.arange(k.shape[-2]) < q.shape[-2], 0, -np.inf)
  Your tokens attend to the first n tokens only, as many as there are queries.
  ? May the two sequences have different lengths?
  # In self-attention one length does for both, and loops run over range(n).
causal_mask_added:
  | ** 0.5 -> ** 0.5 + np.where(np.tri(q.shape[-2], k.shape[-2]), 0, -np.inf)
  Your weights are zero above the diagonal: token i attends to tokens 0 … i only.
  ? Is the memory still being written while x attends to it?
  # The decoder's causal mask is handed to both of its attentions.
same_position_left_out:
  | ** 0.5 -> ** 0.5 + np.where(np.eye(q.shape[-2], k.shape[-2]), -np.inf, 0)
  Your weights are zero on the diagonal: token i of x does not attend to token i of
    the memory.
  ? Are token i of x and token i of the memory the same token?
  # A mask from self-attention, where a token was kept from itself, is copied.
softmax_over_queries: axis=-1 => axis=-2
  Your columns of weights sum to 1, not your rows.
  ? Who shares out a weight of 1: a token of x, or a token of the memory?
  # axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.
softmax_over_axis_zero: axis=-1 => axis=0
  Your weights sum to 1 along axis 0: with a batch, the sequences share a weight of 1
    among them.
  ? Should the weights of one sequence depend on which others are in the batch?
  # nn.Softmax(dim=0), or axis=0 for 'along the rows' of a matrix.
all_axes_turned: np.swapaxes(k, -1, -2) -> k.T
  Your keys have all their axes reversed: with leading axes, your code raises an error
    or queries meet keys of other sequences.
  ? What is the shape of k.T if k has the shape (2, 7, 4)?
  # q @ k.T is the formula as written, and for a matrix it is right.
divided_by_root_of_d_model: q.shape[-1] -> x.shape[-1]
  Your dot products are divided by √d_model, the root of the length of a token of x.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # x.shape[-1] is at hand, and with one head of full size it is the same number
    (lucidrains/vit-pytorch, issue 65).
divided_by_root_of_d_memory: q.shape[-1] -> memory.shape[-1]
  Your dot products are divided by √d_memory, the root of the length of a token of the
    memory.
  # memory.shape[-1] is at hand, and is taken for the length of a key.
divided_by_root_of_m: q.shape[-1] -> memory.shape[-2]
  Your dot products are divided by √m, the root of the memory's length.
  ? Over how many products does one dot product sum?
  # k.shape[-2] is read for k.shape[-1], or len(k) for the length of a key.
scores_returned: @ v, weights -> @ v, scores
  The second array that you return holds the scaled scores.
  ? Which table has rows that sum to 1?
  # Both tables have the shape (n, m), and names such as 'attention' mean either.
""",
    of=in_steps,
    project=project,
)

exercise.edits(
    """
keys_and_values_handed_over_exchanged:
  | memory @ w_k, memory @ w_v -> memory @ w_v, memory @ w_k
  Your `attention` gets keys made with w_v and values made with w_k; where d_v is not
    d_k, it raises an error.
  ? Which of w_k and w_v has the size of the queries?
  # Names of one letter are assigned two at a time, and change their order.
"""
)
exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.one_result_only("weights"),
    families.squeezed(),
    families.as_list(),
)
exercise.edits(
    """
exponentials_overflow: powers = np.exp(scores)
one_maximum_for_everything: scores.max(axis=-1, keepdims=True) -> scores.max()
softmax_missing: weights = scores
exponentials_not_divided: weights = powers
shares_of_scores: weights = scores / scores.sum(axis=-1, keepdims=True)
weights_transposed: weights @ v -> np.swapaxes(weights, -1, -2) @ v
""",
    words=attention_exercise.words,
    of=in_steps,
)
exercise.edits(
    """
softmax_over_axis_one: axis=-1 => axis=1
softmax_over_everything: axis=-1, keepdims=True =>
maximum_of_the_column: scores.max(axis=-1 -> scores.max(axis=-2
divided_by_root_of_d_v: q.shape[-1] -> v.shape[-1]
no_scale: / q.shape[-1] ** 0.5 ->
scaled_twice: q.shape[-1] ** 0.5 -> q.shape[-1]
scale_inverted: / q.shape[-1] -> * q.shape[-1]
scaled_after_softmax:
  | / q.shape[-1] ** 0.5 ->
  | weights = powers / powers.sum(axis=-1, keepdims=True) / q.shape[-1] ** 0.5
values_times_weights: weights @ v -> v @ weights
""",
    words=self_attention_exercise.words,
    of=in_steps,
)
exercise.edits(
    """
parameters_scaled_in_place:
  | w_q /= np.sqrt(w_q.shape[-1])
  | / q.shape[-1] ** 0.5 ->
""",
    words=project_exercise.words,
    of=in_steps,
)
