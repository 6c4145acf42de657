"""Cases and misconceptions of ``self_attention``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from autograder.exercises.attention import exercise as attention_exercise
from autograder.exercises.project import exercise as project_exercise
from course_lib.self_attention import project, self_attention

exercise = Exercise(
    self_attention,
    lesson="02_self_attention",
    minutes=8,
    difficulty=2,
    uses=("project",),
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
def spec(x, w_q, w_k, w_v):
    *leading, n, _ = x.shape
    output = np.zeros((*leading, n, w_v.shape[1]))
    weights = np.zeros((*leading, n, n))
    for batch in np.ndindex(*leading):
        tokens = x[batch].tolist()
        keys = [times(token, w_k) for token in tokens]
        values = np.array([times(token, w_v) for token in tokens])
        for i in range(n):
            query = times(tokens[i], w_q)
            scores = [dot(query, key) / math.sqrt(len(key)) for key in keys]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j in range(n):
                weights[*batch, i, j] = powers[j] / sum(powers)
                output[*batch, i] += weights[*batch, i, j] * values[j]
    return output, weights


inputs = exercise.inputs(n=5, d_model=12, d_k=4, d_v=6, scaled=("w_q", "w_k", "w_v"))


@exercise.usual
def usual(rng):
    return inputs(rng, (2,))


@exercise.case("Three tokens give this output and these weights", weight=0.5)
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    w_q = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    w_k = np.array([[1.0, 0.0, 0.0, 5.0], [1.0, 2.0, 3.0, 0.0]])
    w_v = np.array([[10.0], [40.0]])
    e = math.e  # the scaled scores are 1, 1, 2 and 0, 1, 1 and 1, 2, 3
    weights = np.array([[1, 1, e], [1, e, e], [1, e, e * e]])
    weights /= np.array([[2 + e], [1 + 2 * e], [1 + e + e * e]])
    sums = [10 + 40 + 50 * e, 10 + 40 * e + 50 * e, 10 + 40 * e + 50 * e * e]
    output = np.array(sums) / np.array([2 + e, 1 + 2 * e, 1 + e + e * e])
    student.expect(student(x, w_q, w_k, w_v), (output[:, np.newaxis], weights))


@exercise.case("Each sequence of a batch is handled by itself", weight=2)
def batch_of_sequences(student, rng):
    student.agrees(*inputs(rng, (2,)))


@exercise.case("Any number of axes may come first", weight=2)
def leading_axes(student, rng):
    x, w_q, w_k, w_v = inputs(rng, (2, 3), d_model=7)
    # Rows apart in memory.
    student.agrees(np.asfortranarray(x), np.asfortranarray(w_q), w_k, w_v)


@exercise.case(
    "Four sequences of four tokens of four numbers stay four sequences", weight=1
)
def all_sizes_equal(student, rng):
    # Axes that are as long as one another can be exchanged and nothing stops.
    student.agrees(*inputs(rng, (4,), alike=4))


@exercise.case("A single token attends to itself, and gets its own value", weight=0.5)
def one_token(student, rng):
    x, w_v = np.array([[1.0, -2.0, 3.0]]), np.array([[1.0, 4.0], [0.0, 1.0], [2.0, 1]])
    w_q, w_k = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    expected = np.array([[7.0, 5.0]]), np.array([[1.0]])
    student.expect(student(x, w_q, w_k, w_v), expected)
    w_v = rng.normal(size=(3, 2))
    student.expect(student(x, w_q, w_k, w_v), (x @ w_v, np.array([[1.0]])))


@exercise.case("A token with a large norm does not spoil the other rows", weight=0.5)
def one_long_token(student, rng):
    # e to the power of the other rows' scores minus those of its own row is 0.
    x, w_v = np.diag([300.0, 1.0, 2.0]), rng.normal(size=(3, 2))
    student.agrees(x, np.eye(3, 4), np.eye(3, 4), w_v)


@exercise.case("Scores in the thousands give finite weights", weight=0.5)
def large_scores(student, rng):
    # Token i finds the one after it, the last finds the first: scores of 5000 and 0.
    x, w_v = 100.0 * np.eye(3), np.array([[1.0, 2.0], [3.0, 5.0], [-7.0, 8.0]])
    w_q, w_k = np.roll(np.eye(3, 4), 1, axis=1), np.eye(3, 4)
    w_q[2] = [1.0, 0.0, 0.0, 0.0]
    expected = 100.0 * w_v[[1, 2, 0]], np.eye(3)[[1, 2, 0]]
    student.expect(student(x, w_q, w_k, w_v), expected)
    # Tokens at right angles too, but turned, and each finds the next or the one before.
    turned, order = (
        np.linalg.qr(rng.normal(size=(3, 3))).Q,
        np.roll([0, 1, 2], rng.choice([1, 2])),
    )
    w_q, w_v = turned.T @ turned[order] @ w_k, rng.normal(size=(3, 2))
    expected = 100.0 * turned[order] @ w_v, np.eye(3)[order]
    student.expect(student(100.0 * turned, w_q, w_k, w_v), expected)


@exercise.case(
    "Permuted tokens give permuted outputs and weights",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def tokens_permuted(student, rng):
    x, *w = inputs(rng)
    order = [2, 4, 1, 0, 3]
    output, weights = student(x, *w)
    expected = output[order], weights[order][:, order]
    student.expect(
        student(x[order], *w), expected, what="what comes after the permutation"
    )


exercise.case("The tokens and the parameters are not modified", weight=1)(
    standard_cases.arguments_stay(inputs, dict(d_model=3, d_v=2), dict(alike=4))
)


@exercise.right_answer
def in_steps(x, w_q, w_k, w_v):
    q, k, v = project(x, w_q, w_k, w_v)
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return (weights @ v, weights)


exercise.edits(
    """
all_axes_turned: np.swapaxes(k, -1, -2) -> k.T
  Your keys have all their axes reversed: with leading axes, your code raises an error
    or queries meet keys of other sequences.
  ? What is the shape of k.T if k has the shape (2, 5, 4)?
  # q @ k.T is the formula as written, and for a matrix it is right.
batch_as_one_sequence:
  | project(x -> project(x.reshape(-1, x.shape[-1])
  | weights @ v -> (weights @ v).reshape(*x.shape[:-1], -1)
  Your tokens attend to the tokens of all sequences of the batch.
  ? Which axes still belong to one sequence after a reshape to (…, d_model)?
  # x.reshape(-1, d_model) makes a table that every formula takes.
softmax_over_queries: axis=-1 => axis=-2
  Your columns of weights sum to 1, not your rows.
  ? Who shares out a weight of 1: the token that attends, or the one attended to?
  # The softmax runs over the queries: axis=-2, or the wrong index of an einsum
    (labmlai/annotated_deep_learning_paper_implementations, issue 146).
softmax_over_axis_one: axis=-1 => axis=1
  Your weights sum to 1 along axis 1, which holds the keys only if there is no batch.
  ? Which axis holds the keys, whatever axes come before it?
  # softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.
softmax_over_axis_zero: axis=-1 => axis=0
  Your weights sum to 1 along axis 0: with a batch, the sequences share a weight of 1
    among them.
  ? Should the weights of one sequence depend on which others are in the batch?
  # nn.Softmax(dim=0) was in a library's attention (PetrochukM/PyTorch-NLP, issue 2).
softmax_over_everything: axis=-1, keepdims=True =>
  All your weights together sum to 1, not each row.
  ? How much weight has one token to share out?
  # Without an axis, max() and sum() take in the whole array.
sums_without_their_axis: powers.sum(axis=-1, keepdims=True) -> powers.sum(axis=-1)
  Each column j of your weights is divided by the sum that belongs to row j; with a
    batch, that often stops.
  ? Which shape has the array of sums, and which axis does NumPy lay it along?
  # powers / powers.sum(axis=-1) lacks keepdims=True; a square table hides it.
maximum_of_the_column: scores.max(axis=-1 -> scores.max(axis=-2
  Your weights belong to scores from which the largest of each column is taken.
  ? Does a row of weights stay the same if each of its scores loses another number?
  # scores.max(axis=0) or axis=-2 is taken for 'along the rows'.
no_scale: / q.shape[-1] ** 0.5 ->
  Your weights come from the plain dot products.
  ? What happens to the dot products before the softmax?
  # Many write-ups have softmax(QKᵀ)V, without the square root.
scaled_twice: q.shape[-1] ** 0.5 -> q.shape[-1]
  Your dot products are divided by d_k.
  ? Which of the functions that you call divides as well?
  # q is divided by √d_k and then handed to attention, which divides again.
scale_inverted: / q.shape[-1] -> * q.shape[-1]
  Your dot products are multiplied by √d_k, not divided.
  ? A dot product of many numbers is large already: should it grow or shrink?
  # A scale kept as d_k ** -0.5 is divided by (esceptico/perceiver-io, issue 9).
divided_by_root_of_d_model: q.shape[-1] -> x.shape[-1]
  Your dot products are divided by √d_model, the root of the length of a token.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # x.shape[-1] is at hand, and with one head of full size it is the same number
    (lucidrains/vit-pytorch, issue 65).
divided_by_root_of_d_v: q.shape[-1] -> v.shape[-1]
  Your dot products are divided by √d_v, the root of the length of a value.
  # The size is read off w_v: d_k and d_v are equal in most models.
divided_by_root_of_n: q.shape[-1] -> x.shape[-2]
  Your dot products are divided by √n, the root of the number of tokens.
  ? Over how many products does one dot product sum?
  # k.shape[-2] is read for k.shape[-1], or len(k) for the length of a key.
scaled_after_softmax:
  | / q.shape[-1] ** 0.5 ->
  | weights = powers / powers.sum(axis=-1, keepdims=True) / q.shape[-1] ** 0.5
  Your weights come from the plain dot products, and are divided by √d_k afterwards.
  ? What does a division do to a sum of 1, and what does it do to a score?
  # The brackets of softmax(QKᵀ/√d_k) are closed too early.
keys_attend_to_queries: q @ np.swapaxes(k -> k @ np.swapaxes(q
  Row i of your scores belongs to token i as the one that is attended to: they are
    those of the keys with the queries.
  ? Which weights belong in row i: those with which token i attends, or those with
    which it is attended to?
  # With as many keys as queries, k @ qᵀ has the right shape.
weights_transposed: weights @ v -> np.swapaxes(weights, -1, -2) @ v
  Your output is weightsᵀ v: token i gets values by how much it is attended to.
  ? Whose weights are in row i of the table, and whose in column i?
  # The table is square, so that nothing complains about a transposition.
values_times_weights: weights @ v -> v @ weights
  Your output is v @ weights; where that does not stop, each number of a value is used
    as the weight of a row of weights.
  ? Row i of a product A @ B mixes the rows of one of the two: of which, and what
    should be mixed here?
  # 'v times weights' sounds the same as 'weights times v'.
queries_made_with_w_k: w_q -> w_k
  Your queries are made with w_k: a token has its key there once more. Where the sizes
    do not fit, this can raise an error.
  ? Which of the parameters does no line of yours use?
  # A line is copied, and only the name on its left is changed.
queries_made_with_w_v: w_q -> w_v
  Your queries are made with w_v: a token has its value there once more. Where the
    sizes do not fit, this can raise an error.
keys_made_with_w_q: w_k -> w_q
  Your keys are made with w_q: a token has its query there once more. Where the sizes
    do not fit, this can raise an error.
keys_made_with_w_v: w_k -> w_v
  Your keys are made with w_v: a token has its value there once more. Where the sizes
    do not fit, this can raise an error.
values_made_with_w_q: w_v -> w_q
  Your values are made with w_q: a token has its query there once more. Where the
    sizes do not fit, this can raise an error.
values_made_with_w_k: w_v -> w_k
  Your values are made with w_k: a token has its key there once more. Where the sizes
    do not fit, this can raise an error.
queries_are_tokens: q @ -> x @
  Your queries are the tokens themselves; unless d_k is d_model, this can raise an
    error.
  ? What does w_q do in your code?
  # In attention without parameters the tokens themselves are compared.
keys_are_tokens: swapaxes(k -> swapaxes(x
  Your keys are the tokens themselves; unless d_k is d_model, this can raise an error.
  ? What does w_k do in your code?
tokens_mixed: weights @ v -> weights @ x
  Your output mixes the tokens themselves.
  ? What does w_v do in your code?
  # 'A weighted sum of the embeddings' is a popular way to describe attention.
own_position_left_out: ** 0.5 -> ** 0.5 + np.where(np.eye(x.shape[-2]), -np.inf, 0)
  Your tokens do not attend to themselves: each attends to the others alone.
  ? Does the docstring leave any token out?
  # Attention is often explained with 'the other words', and attending to itself looks
    like cheating.
causal_mask_added: ** 0.5 -> ** 0.5 + np.where(np.tri(x.shape[-2]), 0, -np.inf)
  Your weights are zero above the diagonal: token i attends to no later token.
  ? Does the task say that a token may not attend to later ones?
  # The causal mask of language models is copied along with the rest.
only_later_tokens: ** 0.5 -> ** 0.5 + np.where(np.tri(x.shape[-2]).T, 0, -np.inf)
  Your weights are zero below the diagonal: token i attends to no earlier token.
  ? Does the task say that a token may not attend to earlier ones?
  # A causal mask is copied, and np.triu is taken for np.tril.
scores_returned: @ v, weights -> @ v, scores
  The second array that you return holds the scaled scores.
  ? Which table has rows that sum to 1?
  # Both tables have the shape (n, n), and names such as 'attention' mean either.
""",
    of=in_steps,
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
exponentials_not_divided: weights = powers
shares_of_scores: weights = scores / scores.sum(axis=-1, keepdims=True)
""",
    words=attention_exercise.words,
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
