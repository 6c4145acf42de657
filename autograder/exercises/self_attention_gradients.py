"""Cases and misconceptions of ``self_attention_gradients``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import attention, scaled_scores, softmax, softmax_jacobian
from course_lib.self_attention import project, self_attention_gradients

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


def drawn(rng, n=5, d_model=7, d_k=4, d_v=3):
    """Draw x, w_q, w_k, w_v and grad_output with scores around 1."""
    sizes = (n, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v), (n, d_v)
    x, w_q, w_k, w_v, grad_output = (rng.normal(size=size) for size in sizes)
    root = math.sqrt(d_model)
    return x, w_q / root, w_k / root, w_v / root, grad_output


@exercise.usual
def usual(rng):
    return drawn(rng)


@exercise.case("Two tokens of one number, with equal weights, give these derivatives")
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
    arguments = drawn(rng)
    d_w_v = student(*arguments)[3]
    student.expect(d_w_v, spec(*arguments)[3], what="the derivative by w_v")


@exercise.case(
    "Moving a number of w_q or w_k moves the loss as its derivative says", points=2
)
def parameters_of_the_scores(student, rng):
    arguments = drawn(rng)
    derivatives, expected = student(*arguments), spec(*arguments)
    student.expect(derivatives[1], expected[1], what="the derivative by w_q")
    student.expect(derivatives[2], expected[2], what="the derivative by w_k")


@exercise.case("Moving a number of x moves the loss as its derivative says", points=2)
def tokens(student, rng):
    arguments = drawn(rng)
    student.expect(
        student(*arguments)[0], spec(*arguments)[0], what="the derivative by x"
    )


@exercise.case("With all sizes equal, rows and columns are still told apart")
def all_sizes_equal(student, rng):
    # Square tables let a transposition through that other sizes would stop.
    student.agrees(*drawn(rng, 4, 4, 4, 4))


@exercise.case(
    "A single token has nothing to choose from: its scores move no loss",
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
    visible=False,
    pays_alone=False,
)
def same_values(student, rng):
    x, w_q, w_k, w_v, grad_output = drawn(rng)
    x[:, 0], w_v[1:] = 2.0, 0.0
    expected = np.zeros((7, 4))
    derivatives = student(x, w_q, w_k, w_v, grad_output)
    student.expect(derivatives[1], expected, what="the derivative by w_q")
    student.expect(derivatives[2], expected, what="the derivative by w_k")


@exercise.case("Scores in the thousands give finite derivatives")
def large_scores(student, rng):
    # Whole numbers: what should cancel then cancels exactly, whatever the formula.
    w_v = rng.integers(-9, 10, size=(4, 5)).astype(float)
    grad_output = rng.integers(-9, 10, size=(4, 5)).astype(float)
    student.agrees(100.0 * np.eye(4), np.eye(4), np.eye(4), w_v, grad_output)


@exercise.case("All five arguments stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(*drawn(rng))


def forward(x, w_q, w_k, w_v):
    """Return queries, keys, values, weights, and the root of d_k."""
    q, k, v = project(x, w_q, w_k, w_v)
    return q, k, v, attention(q, k, v)[1], math.sqrt(q.shape[-1])


def through_softmax(weights, d_weights):
    """Go back through the softmax of each row."""
    means = (weights * d_weights).sum(axis=-1, keepdims=True)
    return weights * (d_weights - means)


def to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v):
    """Go back from queries, keys and values, rightly."""
    d_x = d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ d_v


def with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output):
    """Do everything rightly, but go back through the softmax with go_back."""
    q, k, v, weights, root = forward(x, w_q, w_k, w_v)
    d_products = go_back(weights, grad_output @ v.T) / root
    d_q, d_k, d_v = d_products @ k, d_products.T @ q, weights.T @ grad_output
    return to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)


def right_derivatives(x, w_q, w_k, w_v, grad_output):
    """Return d_q, d_k and d_v, rightly."""
    q, k, v, weights, root = forward(x, w_q, w_k, w_v)
    d_products = through_softmax(weights, grad_output @ v.T) / root
    return d_products @ k, d_products.T @ q, weights.T @ grad_output


@exercise.misconception(
    "Your derivatives by w_q and w_k are √d_k times too large, and so are their ways "
    "into d_x.",
    "How much does a score move when a dot product moves by 1?",
    why="The division is inside the forward formula and has no line of its own to "
    "go back through.",
)
def scale_forgotten(x, w_q, w_k, w_v, grad_output):
    q, k, v, weights, _ = forward(x, w_q, w_k, w_v)
    d_products = through_softmax(weights, grad_output @ v.T)
    d_q, d_k, d_v = d_products @ k, d_products.T @ q, weights.T @ grad_output
    return to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)


@exercise.misconception(
    "Your derivatives by w_q and w_k are √d_k times too small, and so are their ways "
    "into d_x.",
    "On the way from the loss to a query, how often is there a division by √d_k?",
    why="The scale is applied to the scores' derivative and once more to those of "
    "queries and keys.",
)
def scaled_twice(x, w_q, w_k, w_v, grad_output):
    q, k, v, weights, root = forward(x, w_q, w_k, w_v)
    d_products = through_softmax(weights, grad_output @ v.T) / root
    d_q, d_k = d_products @ k / root, d_products.T @ q / root
    return to_the_end(x, w_q, w_k, w_v, d_q, d_k, weights.T @ grad_output)


@exercise.misconception(
    "Your way back through the softmax uses the diagonal of its Jacobian alone.",
    "If one score grows, does only its own weight move?",
    why="weights * (1 − weights) is remembered from the sigmoid.",
)
def diagonal_of_the_jacobian(x, w_q, w_k, w_v, grad_output):
    def go_back(weights, d_weights):
        return d_weights * weights * (1 - weights)

    return with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output)


@exercise.misconception(
    "Your way back leaves the softmax out: the derivative by the weights is taken for "
    "that by the scores.",
    "Which step of the way forward has no step back in your code?",
    why="With a cross-entropy behind it, the softmax seems to vanish in the formula "
    "p − y, and here it is expected to do so too.",
)
def softmax_left_out(x, w_q, w_k, w_v, grad_output):
    def go_back(weights, d_weights):
        return d_weights

    return with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output)


@exercise.misconception(
    "Your way back through the softmax sums down the columns of the weights.",
    "Along which axis do the weights sum to 1?",
    why="keepdims=True with axis=0 gives a table that broadcasts as well.",
)
def softmax_back_along_columns(x, w_q, w_k, w_v, grad_output):
    def go_back(weights, d_weights):
        return weights * (d_weights - (weights * d_weights).sum(axis=0, keepdims=True))

    return with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output)


@exercise.misconception(
    "Your way back through the softmax is weights times d_weights, with nothing "
    "subtracted: what other weights lose is not counted.",
    "All weights of a row sum to 1: what must their changes sum to?",
    why="weights · d_weights is the part of p (δ − p) with the δ; the rest is lost.",
)
def nothing_taken_off(x, w_q, w_k, w_v, grad_output):
    def go_back(weights, d_weights):
        return weights * d_weights

    return with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output)


@exercise.misconception(
    "Your way back through the softmax subtracts the plain sum of d_weights, not its "
    "mean by the weights.",
    "In p_i (δ_ij − p_j), with what is each number multiplied before it is summed?",
    why="One factor is lost in the row sum (huggingface/picotron, issue 37, is about "
    "which row sum it must be).",
)
def plain_sum_taken_off(x, w_q, w_k, w_v, grad_output):
    def go_back(weights, d_weights):
        return weights * (d_weights - d_weights.sum(axis=-1, keepdims=True))

    return with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output)


@exercise.misconception(
    "Your way back through the softmax subtracts the same number in all rows: the sum "
    "of weights times d_weights over the whole table.",
    "Does row 1 of the weights move when a score in row 0 does?",
    why="np.sum without an axis, where the formula for one row is written for a table.",
)
def sum_over_the_whole_table(x, w_q, w_k, w_v, grad_output):
    def go_back(weights, d_weights):
        return weights * (d_weights - np.sum(weights * d_weights))

    return with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output)


@exercise.misconception(
    "Your Jacobian of each row is multiplied by d_weights of all rows: what comes out "
    "has an axis too many.",
    "Row i of the weights has n derivatives: which part of d_weights holds them?",
    why="softmax_jacobian(weights) @ d_weights looks like the formula for one row.",
)
def jacobians_times_the_whole_table(x, w_q, w_k, w_v, grad_output):
    def go_back(weights, d_weights):
        return softmax_jacobian(weights) @ d_weights  # (n, n, n)

    return with_softmax_slopes(go_back, x, w_q, w_k, w_v, grad_output)


@exercise.misconception(
    "Your derivatives by the parameters are right; d_x lacks the way through the "
    "queries.",
    "How many products of x does the way forward make, and how many terms has d_x?",
    why="A token's own query is easily forgotten next to its key and value.",
)
def way_through_the_queries_missing(x, w_q, w_k, w_v, grad_output):
    d_q, d_k, d_v = right_derivatives(x, w_q, w_k, w_v, grad_output)
    _, *others = to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)
    return d_k @ w_k.T + d_v @ w_v.T, *others


@exercise.misconception(
    "Your derivatives by the parameters are right; d_x lacks the way through the keys.",
    "If a token moves, do other tokens' weights move with it?",
    why="Row i of the weights is thought to depend on token i alone.",
)
def way_through_the_keys_missing(x, w_q, w_k, w_v, grad_output):
    d_q, d_k, d_v = right_derivatives(x, w_q, w_k, w_v, grad_output)
    _, *others = to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)
    return d_q @ w_q.T + d_v @ w_v.T, *others


@exercise.misconception(
    "Your derivatives by the parameters are right; d_x lacks the way through the "
    "values.",
    "What does a token hand out, apart from deciding which token attends to which?",
    why="The way back through the softmax is long, and the short way is forgotten.",
)
def way_through_the_values_missing(x, w_q, w_k, w_v, grad_output):
    d_q, d_k, d_v = right_derivatives(x, w_q, w_k, w_v, grad_output)
    _, *others = to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)
    return d_q @ w_q.T + d_k @ w_k.T, *others


@exercise.misconception(
    "Your derivatives by the parameters are right; d_x has the way through the values "
    "alone.",
    "Can a token change the output without changing any value?",
    why="The output is a mixture of values, and the weights are taken for given.",
)
def way_through_the_values_alone(x, w_q, w_k, w_v, grad_output):
    d_q, d_k, d_v = right_derivatives(x, w_q, w_k, w_v, grad_output)
    _, *others = to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)
    return d_v @ w_v.T, *others


@exercise.misconception(
    "Your derivatives by the parameters are right; d_x has the way through the queries "
    "alone.",
    "How many products of x does the way forward make, and how many terms has d_x?",
    why="Each new line `d_x = …` replaces the one before, or the first of three "
    "products is taken for the whole.",
)
def way_through_the_queries_alone(x, w_q, w_k, w_v, grad_output):
    d_q, d_k, d_v = right_derivatives(x, w_q, w_k, w_v, grad_output)
    _, *others = to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)
    return d_q @ w_q.T, *others


@exercise.misconception(
    "Your weights are treated as if nothing could move them: the derivatives by w_q "
    "and w_k are 0.",
    "If w_q changes, does the output change?",
    why="weights.T @ grad_output looks like the whole answer, since the output is "
    "weights times values.",
)
def weights_held_fixed(x, w_q, w_k, w_v, grad_output):
    _, _, d_v = right_derivatives(x, w_q, w_k, w_v, grad_output)
    nothing = np.zeros((len(x), w_q.shape[1]))
    return to_the_end(x, w_q, w_k, w_v, nothing, nothing, d_v)


@exercise.misconception(
    "Your derivatives by queries and keys are exchanged, all the way to d_x.",
    "A score is q · k: what is its derivative by q?",
    why="The derivative of a product by one factor is the other factor, and the names "
    "follow the wrong one.",
)
def queries_and_keys_exchanged(x, w_q, w_k, w_v, grad_output):
    d_q, d_k, d_v = right_derivatives(x, w_q, w_k, w_v, grad_output)
    return to_the_end(x, w_q, w_k, w_v, d_k, d_q, d_v)


@exercise.misconception(
    "Your numbers are right, but you return the derivative by w_k before the one "
    "by w_q.",
    "In which order does the docstring name the four?",
    why="Going backwards, one meets keys before queries.",
)
def returned_in_another_order(x, w_q, w_k, w_v, grad_output):
    d_qkv = right_derivatives(x, w_q, w_k, w_v, grad_output)
    d_x, d_w_q, d_w_k, d_w_v = to_the_end(x, w_q, w_k, w_v, *d_qkv)
    return d_x, d_w_k, d_w_q, d_w_v


@exercise.misconception(
    "Your derivative by the keys sums over them, where it should sum over the queries "
    "that attend to each.",
    "Key j meets all queries: are they in row j or in column j of the scores?",
    why="The .T is lost; with as many keys as queries nothing complains.",
)
def scores_not_transposed_for_the_keys(x, w_q, w_k, w_v, grad_output):
    q, k, v, weights, root = forward(x, w_q, w_k, w_v)
    d_products = through_softmax(weights, grad_output @ v.T) / root
    d_q, d_k, d_v = d_products @ k, d_products @ q, weights.T @ grad_output
    return to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)


@exercise.misconception(
    "Your derivative by the values is weights times grad_output, with the weights of "
    "the way forward.",
    "Value j goes into all outputs: are its weights in row j or in column j?",
    why="The .T is lost; the table is square, so nothing complains.",
)
def weights_not_transposed(x, w_q, w_k, w_v, grad_output):
    q, k, v, weights, root = forward(x, w_q, w_k, w_v)
    d_products = through_softmax(weights, grad_output @ v.T) / root
    d_q, d_k, d_v = d_products @ k, d_products.T @ q, weights @ grad_output
    return to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)


@exercise.misconception(
    "Your derivatives by the parameters lie on their sides.",
    "Which shape must a derivative by w_q have, so that it can be subtracted from w_q?",
    why="d_qᵀ x is the formula for parameters kept as (out, in), as nn.Linear does.",
)
def parameters_gradients_transposed(x, w_q, w_k, w_v, grad_output):
    d_qkv = right_derivatives(x, w_q, w_k, w_v, grad_output)
    d_x, *others = to_the_end(x, w_q, w_k, w_v, *d_qkv)
    return d_x, *(part.T for part in others)


@exercise.misconception(
    "Your code takes grad_output for a table of ones.",
    "Does the loss of the docstring have to be the sum of the output?",
    why="output.sum().backward() is the usual way to try such things out.",
)
def grad_output_unused(x, w_q, w_k, w_v, grad_output):
    ones = np.ones_like(grad_output)
    d_qkv = right_derivatives(x, w_q, w_k, w_v, ones)
    return to_the_end(x, w_q, w_k, w_v, *d_qkv)


@exercise.misconception(
    "Your derivatives by the parameters are divided by n, the number of tokens.",
    "Does the loss take a mean over the tokens, or is that in grad_output already?",
    why="Gradients of a batch are averaged in many hand-written networks.",
)
def divided_by_the_number_of_tokens(x, w_q, w_k, w_v, grad_output):
    d_qkv = right_derivatives(x, w_q, w_k, w_v, grad_output)
    d_x, *others = to_the_end(x, w_q, w_k, w_v, *d_qkv)
    return d_x, *(part / len(x) for part in others)


@exercise.misconception(
    "Your derivatives are right for small scores and NaN for large ones.",
    "How large is e to the power of 1000 in floating point, and how does `softmax` "
    "get round it?",
    why="The weights are computed anew as exp(scores) / sum, without taking the "
    "maximum off first.",
)
def exponentials_overflow(x, w_q, w_k, w_v, grad_output):
    q, k, v = project(x, w_q, w_k, w_v)
    powers = np.exp(scaled_scores(q, k))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    d_products = through_softmax(weights, grad_output @ v.T) / math.sqrt(q.shape[-1])
    d_q, d_k, d_v = d_products @ k, d_products.T @ q, weights.T @ grad_output
    return to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)


@exercise.misconception(
    "Your derivatives are right, but w_q is divided by √d_k in place and stays so.",
    "What does `w_q /= …` do to the array that the caller holds?",
    why="The scale is folded into the parameters, with an operator that works in "
    "place.",
)
def parameters_scaled_in_place(x, w_q, w_k, w_v, grad_output):
    root = math.sqrt(w_q.shape[1])
    w_q /= root
    q, k, v = project(x, w_q, w_k, w_v)
    weights = softmax(q @ k.T)
    d_scores = through_softmax(weights, grad_output @ v.T)
    d_q, d_k, d_v = d_scores @ k, d_scores.T @ q, weights.T @ grad_output
    d_x, d_w_q, *others = to_the_end(x, w_q, w_k, w_v, d_q, d_k, d_v)
    return d_x, d_w_q / root, *others
