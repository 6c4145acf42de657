"""Cases and misconceptions of ``self_attention_gradients``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from autograder.exercises.project import exercise as project_exercise
from course_lib.attention import scaled_scores, softmax, softmax_jacobian
from course_lib.self_attention import self_attention_gradients

exercise = Exercise(
    self_attention_gradients,
    lesson="02_self_attention",
    minutes=40,
    difficulty=3,
    uses=("project",),
    returns=("d_x", "d_w_q", "d_w_k", "d_w_v"),
    library=(
        "torch.autograd.grad",
        "torch.autograd.backward",
        "torch.autograd.functional.jacobian",
        "torch.autograd.functional.vjp",
        "torch.Tensor.backward",
        "torch.func.grad",
        "torch.func.vjp",
    ),
)


def loss(x, w_q, w_k, w_v, grad_output):
    """Return the sum of the output's entries, each times its entry of grad_output.

    The derivative of this loss by the output is grad_output. Complex numbers may come
    in, and axes in front: then there is one loss for each index along them.
    """
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(w_q.shape[-1])
    largest = scores.real.max(axis=-1, keepdims=True)  # a constant: it cancels
    powers = np.exp(scores - largest)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return (weights @ v * grad_output).sum(axis=(-1, -2))


@exercise.spec
def spec(x, w_q, w_k, w_v, grad_output):
    """Move each number by itself a little, and see by how much the loss moves.

    The little is imaginary: then the loss moves along the imaginary axis, nothing is
    subtracted, and no digit is lost however small the step is.
    """
    step = 1e-30
    arguments = [np.array(argument, complex) for argument in (x, w_q, w_k, w_v)]
    derivatives = []
    for index, argument in enumerate(arguments):
        steps = step * np.eye(argument.size).reshape(-1, *argument.shape)
        moved = [*arguments[:index], argument + 1j * steps, *arguments[index + 1 :]]
        losses = loss(*moved, grad_output)  # one for each number of the argument
        derivatives.append((losses.imag / step).reshape(argument.shape))
    return tuple(derivatives)


# d_k is not 4, where √d_k is d_k / 2.
inputs = exercise.inputs(n=5, d_model=7, d_k=3, d_v=4, scaled=("w_q", "w_k", "w_v"))


@exercise.usual
def usual(rng):
    return inputs(rng)


@exercise.case(
    "Two tokens of one number, with equal weights, give these derivatives", weight=0.5
)
def small_example_by_hand(student, rng):
    # No query meets a key, so all scores are 0 and all weights 1/2. The values are 1
    # and 3; the loss is the first row of the output, (1 + 3)/2. If its score for
    # token 2 grew by one and for token 1 shrank by one, it would grow by
    # 1/2 (3 − 2) + 1/2 (2 − 1) = 1; a score is half a dot product.
    x, w_v, grad_output = np.array([[1.0], [3.0]]), np.eye(1), np.array([[1.0], [0.0]])
    w_q, w_k = np.array([[2.0, 1.0, 0.0, 0.0]]), np.array([[-2.0, 4.0, 0.0, 0.0]])
    d_w_q, d_w_k = [[-1.0, 2.0, 0.0, 0.0]], [[1.0, 0.5, 0.0, 0.0]]
    expected = [[0.5], [0.5]], d_w_q, d_w_k, [[2.0]]
    derivatives = student(x, w_q, w_k, w_v, grad_output)
    student.expect(derivatives, tuple(np.array(part) for part in expected))


@exercise.case("Moving a number of w_v moves the loss as its derivative says")
def parameters_of_the_values(student, rng):
    arguments = inputs(rng)
    d_w_v = student(*arguments)[3]
    student.expect(d_w_v, spec(*arguments)[3], what="the derivative by w_v")


@exercise.case(
    "Moving a number of w_q or w_k moves the loss as its derivative says", weight=2
)
def parameters_of_the_scores(student, rng):
    arguments = inputs(rng)
    derivatives, expected = student(*arguments), spec(*arguments)
    student.expect(derivatives[1], expected[1], what="the derivative by w_q")
    student.expect(derivatives[2], expected[2], what="the derivative by w_k")


@exercise.case("Moving a number of x moves the loss as its derivative says", weight=3)
def tokens(student, rng):
    arguments = inputs(rng)
    student.expect(
        student(*arguments)[0], spec(*arguments)[0], what="the derivative by x"
    )


@exercise.case(
    "With all sizes equal, rows and columns are still told apart", weight=1.5
)
def all_sizes_equal(student, rng):
    # Square tables let a transposition through that other sizes would stop.
    student.agrees(*inputs(rng, alike=4))


@exercise.case(
    "A single token has nothing to choose from: its scores move no loss",
    weight=0.5,
    pays_alone=False,
)
def one_token(student, rng):
    x, w_v = (
        np.array([[1.0, -2.0, 3.0]]),
        np.array([[1.0, 4.0], [0.0, 1.0], [2.0, 1.0]]),
    )
    w_q, w_k = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    grad_output, nothing = np.array([[10.0, 1.0]]), np.zeros((3, 5))
    d_x, d_w_v = [[14.0, 1.0, 21.0]], [[10.0, 1.0], [-20.0, -2.0], [30.0, 3.0]]
    expected = np.array(d_x), nothing, nothing, np.array(d_w_v)
    student.expect(student(x, w_q, w_k, w_v, grad_output), expected)


@exercise.case(
    "Where all tokens have the same value, no score moves the loss",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def same_values(student, rng):
    x, w_q, w_k, w_v, grad_output = inputs(rng)
    x[:, 0], w_v[1:] = 2.0, 0.0
    expected = np.zeros((7, 3))
    derivatives = student(x, w_q, w_k, w_v, grad_output)
    student.expect(derivatives[1], expected, what="the derivative by w_q")
    student.expect(derivatives[2], expected, what="the derivative by w_k")


@exercise.case("Scores in the thousands give finite derivatives", weight=0.5)
def large_scores(student, rng):
    # Integers: what should cancel then cancels exactly, whatever the formula.
    w_v = rng.integers(-9, 10, size=(4, 5)).astype(float)
    grad_output = rng.integers(-9, 10, size=(4, 5)).astype(float)
    student.agrees(100.0 * np.eye(4), np.eye(4), np.eye(4), w_v, grad_output)


@exercise.case("A token with a large norm does not spoil the other rows", weight=1)
def one_long_token(student, rng):
    # e to the power of the other rows' scores minus those of its own row is 0.
    w_v, grad_output = rng.normal(size=(2, 3, 2))
    student.agrees(
        np.diag([300.0, 1.0, 2.0]), np.eye(3, 4), np.eye(3, 4), w_v, grad_output
    )


exercise.case("None of the five arguments is modified", weight=0.5)(
    standard_cases.arguments_stay(inputs, ())
)


exercise.edits(
    """
scale_forgotten: grad_products = grad_scores
  Your way back from the scores to queries and keys lacks the division by √d_k.
  ? How much does a score move when a dot product moves by 1?
  # The division is inside the forward formula and has no line of its own to go back
    through.
scaled_twice: q.shape[-1] ** 0.5 -> q.shape[-1]
  Your way back from the scores to queries and keys divides by √d_k twice.
  ? On the way from the loss to a query, how often is there a division by √d_k?
  # The scale is applied to the scores' derivative and once more to those of queries
    and keys.
no_scale:
  | _, weights = … -> weights = softmax(q @ k.T)
  | grad_products = grad_scores
  Your scores are the plain dot products, forwards and backwards.
  ? Which step does attention make between the dot products and the softmax?
  # Many write-ups have softmax(QKᵀ)V, without the square root.
diagonal_of_the_jacobian:
  | row_sums = …
  : grad_scores = … -> grad_scores = weights * (1 - weights) * grad_weights
  Your way back through the softmax uses the diagonal of its Jacobian alone.
  ? If one score grows, does only its own weight move?
  # weights * (1 − weights) is remembered from the sigmoid.
softmax_left_out:
  | row_sums = …
  : grad_scores = … -> grad_scores = grad_weights
  Your way back leaves the softmax out: the derivative by the weights is taken for
    that by the scores.
  ? Which step of the way forward has no step back in your code?
  # With a cross-entropy behind it, the softmax seems to vanish in the formula p − y,
    and here it is expected to do so too.
softmax_back_along_columns: axis=-1 -> axis=0
  Your way back through the softmax sums down the columns of the weights.
  ? Along which axis do the weights sum to 1?
  # keepdims=True with axis=0 gives a table that broadcasts as well.
row_sums_laid_along_columns: , keepdims=True ->
  Your way back through the softmax takes the sum of row j off column j.
  ? Which shape has the array of sums, and which axis does NumPy lay it along?
  # sum(axis=-1) lacks keepdims=True; a square table hides it.
nothing_taken_off:
  | row_sums = …
  : grad_scores = … -> grad_scores = weights * grad_weights
  Your way back through the softmax is weights times d_weights, with nothing
    subtracted: what other weights lose is not counted.
  ? All weights of a row sum to 1: what must their changes sum to?
  # weights · d_weights is the part of p (δ − p) with the δ; the rest is lost.
plain_sum_taken_off: (grad_weights * weights) -> grad_weights
  Your way back through the softmax subtracts the plain sum of d_weights, not its mean
    by the weights.
  ? In p_i (δ_ij − p_j), with what is each number multiplied before it is summed?
  # One factor is lost in the row sum (huggingface/picotron, issue 37, is about which
    row sum it must be).
plain_mean_taken_off: (grad_weights * weights).sum -> grad_weights.mean
  Your way back through the softmax subtracts the plain mean of d_weights, not its
    mean by the weights.
  # 'The mean is subtracted' is said of it, and .mean() is at hand.
row_sums_not_weighted:
  | weights * (grad_weights - row_sums) -> weights * grad_weights - row_sums
  Your way back through the softmax takes the row's sum off without multiplying it by
    the weight.
  ? What stands before the bracket in p_i (δ_ij − p_j)?
  # The bracket of weights · (d_weights − sum) is closed too early.
sum_over_the_whole_table: axis=-1, keepdims=True ->
  Your way back through the softmax subtracts the same number in all rows: the sum of
    weights times d_weights over the whole table.
  ? Does row 1 of the weights move when a score in row 0 does?
  # np.sum without an axis, where the formula for one row is written for a table.
jacobians_times_the_whole_table:
  | row_sums = …
  : grad_scores = … -> grad_scores = softmax_jacobian(weights) @ grad_weights
  Your Jacobian of each row is multiplied by d_weights of all rows: what comes out has
    an axis too many.
  ? Row i of the weights has n derivatives: which part of d_weights holds them?
  # softmax_jacobian(weights) @ d_weights looks like the formula for one row.
way_through_the_queries_missing: grad_q @ w_q.T + grad_k -> grad_k
  Your d_x lacks the way through the queries.
  ? How many products of x does the way forward make, and how many terms has d_x?
  # Each new line `d_x = …` replaces the one before, or a token's own part is
    forgotten next to what it hands to others.
way_through_the_keys_missing: + grad_k @ w_k.T + grad_v -> + grad_v
  Your d_x lacks the way through the keys.
way_through_the_values_missing: w_k.T + grad_v @ w_v.T -> w_k.T
  Your d_x lacks the way through the values.
way_through_the_values_alone: grad_x = grad_v @ w_v.T
  Your d_x has the way through the values alone.
way_through_the_queries_alone: grad_x = grad_q @ w_q.T
  Your d_x has the way through the queries alone.
way_through_the_keys_alone: grad_x = grad_k @ w_k.T
  Your d_x has the way through the keys alone.
parameters_not_turned_on_the_way_to_x:
  | w_q.T -> w_q
  | w_k.T -> w_k
  | w_v.T -> w_v
  Your d_x is made with w_q, w_k and w_v as they are; where they are not square, this
    can raise an error.
  ? If q = x w, which shape has the derivative by q, and which that by x?
  # The .T is lost; with square parameters nothing complains.
weights_held_fixed:
  | grad_weights = …
  : row_sums = …
  : grad_scores = …
  : grad_products = …
  : grad_q, … -> grad_q, grad_k = (np.zeros_like(q), np.zeros_like(k))
  Your weights are treated as if nothing could move them: the derivatives by w_q and
    w_k are 0.
  ? If w_q changes, does the output change?
  # weights.T @ grad_output looks like the whole answer, since the output is weights
    times values.
values_held_fixed: grad_v = np.zeros_like(v)
  Your values are treated as if nothing could move them: the derivative by w_v is 0.
  ? If w_v changes, does the output change?
  # The way back through the softmax is long, and the short way is forgotten.
queries_and_keys_exchanged: grad_q, grad_k = -> grad_k, grad_q =
  Your derivatives by queries and keys are exchanged, all the way to d_x.
  ? A score is q · k: what is its derivative by q?
  # The derivative of a product by one factor is the other factor, and the names
    follow the wrong one.
queries_for_queries:
  | grad_products @ k -> grad_products @ q
  | grad_products.T @ q -> grad_products.T @ k
  Your derivative by the queries is made with the queries, and that by the keys with
    the keys.
  # The names of both sides of a line are made to agree.
scores_not_transposed_for_the_keys: grad_products.T -> grad_products
  Your derivative by the keys sums over them, where it should sum over the queries
    that attend to each.
  ? Key j meets all queries: are they in row j or in column j of the scores?
  # The .T is lost; with as many keys as queries nothing complains.
weights_not_transposed: weights.T -> weights
  Your derivative by the values is weights times grad_output, with the weights of the
    way forward.
  ? Value j goes into all outputs: are its weights in row j or in column j?
  # The .T is lost; the table is square, so nothing complains.
weights_derivative_turned: grad_weights = v @ grad_output.T
  Your derivative by the weights lies on its side: row j belongs to value j.
  ? Whose weights are in row i of the table, and whose derivatives belong there?
  # v @ grad_output.T has the same shape as grad_output @ v.T.
parameters_gradients_transposed:
  | return (grad_x, grad_q.T @ x, grad_k.T @ x, grad_v.T @ x)
  Your derivatives by the parameters lie on their sides.
  ? Which shape must a derivative by w_q have, so that it can be subtracted from w_q?
  # d_qᵀ x is the formula for parameters kept as (out, in), as nn.Linear does.
divided_by_the_number_of_tokens:
  | x.T @ grad_q -> x.T @ grad_q / len(x)
  | x.T @ grad_k -> x.T @ grad_k / len(x)
  | x.T @ grad_v -> x.T @ grad_v / len(x)
  Your derivatives by the parameters are divided by n, the number of tokens.
  ? Does the loss take a mean over the tokens, or is that in grad_output already?
  # Gradients of a batch are averaged in many hand-written networks.
returned_in_another_order: return (grad_x, x.T @ grad_k, x.T @ grad_q, x.T @ grad_v)
  Your w_k comes before w_q.
  ? Which derivatives does the docstring name, and in which order?
  # Going backwards, one meets values, keys and queries before x.
returned_from_the_end: return (grad_x, x.T @ grad_v, x.T @ grad_k, x.T @ grad_q)
  Your w_v comes before w_k, w_q last.
x_returned_last: return (x.T @ grad_q, x.T @ grad_k, x.T @ grad_v, grad_x)
  Your derivative by x comes last.
x_not_returned: return (x.T @ grad_q, x.T @ grad_k, x.T @ grad_v)
  Your result has no derivative by x.
grad_output_unused: grad_output = np.ones_like(grad_output)
  Your derivatives take grad_output for a table of ones.
  ? Does the loss of the docstring have to be the sum of the output?
  # output.sum().backward() is the usual way to try such things out.
sign_turned: return (-grad_x, -x.T @ grad_q, -x.T @ grad_k, -x.T @ grad_v)
  Your derivatives have the other sign.
  ? If a number of w_v grows and the loss with it, which sign has the derivative?
  # A step of gradient descent goes against the derivative, and has a minus.
softmax_over_queries: _, weights = … -> weights = softmax(scaled_scores(q, k), axis=0)
  Your columns of weights sum to 1, not your rows.
  ? Who shares out a weight of 1: the token that attends, or the one attended to?
  # axis=0 is taken for 'along the rows' when the weights are computed again.
exponentials_overflow:
  | _, weights = … ->
  :     powers = np.exp(scaled_scores(q, k))
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  Your derivatives are NaN for large scores.
  ? How large is e to the power of 1000 in floating point, and how does `softmax` get
    round it?
  # The weights are computed again as exp(scores) / sum, without taking the maximum
    off first.
one_maximum_for_everything:
  | _, weights = … ->
  :     scores = scaled_scores(q, k)
  :     powers = np.exp(scores - scores.max())
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  Your derivatives are NaN where the scores of a row are all far below the largest of
    all.
  ? What is e to the power of −1000 in floating point, and whose largest score is
    subtracted from a row?
  # scores.max() without an axis: enough against overflow, not against 0 / 0.
""",
    scaled_scores=scaled_scores,
    softmax=softmax,
    softmax_jacobian=softmax_jacobian,
)

exercise.family(families.squeezed())
exercise.edits(
    """
parameters_scaled_in_place:
  | w_q /= w_q.shape[-1] ** 0.5
  | _, weights = … -> weights = softmax(q @ k.T)
  | grad_products = grad_scores
  | x.T @ grad_q -> x.T @ grad_q / w_q.shape[-1] ** 0.5
""",
    words=project_exercise.words,
    softmax=softmax,
)
