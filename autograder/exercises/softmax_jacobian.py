"""Cases and misconceptions of ``softmax_jacobian``."""

import numpy as np

from autograder import Exercise
from course_lib.attention import softmax, softmax_jacobian

exercise = Exercise(
    softmax_jacobian,
    lesson="01_dot_product_attention",
    minutes=15,
    difficulty=3,
    library=(
        "torch.softmax",
        "torch.log_softmax",
        "torch._safe_softmax",
        "torch.logsumexp",
        "torch.distributions.SoftmaxTransform._call",
    ),
)


@exercise.spec
def spec(p):
    *leading, n = p.shape
    jacobian = np.empty((*leading, n, n))
    for index in np.ndindex(*leading, n, n):
        *batch, i, j = index
        weight, other = float(p[*batch, i]), float(p[*batch, j])
        jacobian[index] = weight * (1 - weight) if i == j else -weight * other
    return jacobian


def weights(scores):
    """Return the softmax of moderate scores, written out."""
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def measured_slopes(scores, step=1e-3):
    """Move one score at a time and measure how the weights move: (n, n).

    Four points per slope: with two, the curvature would show in the tenth digit.
    """
    slopes = np.empty((len(scores), len(scores)))
    for j in range(len(scores)):
        moved = np.zeros(len(scores))
        moved[j] = step
        near = weights(scores + moved) - weights(scores - moved)
        far = weights(scores + 2 * moved) - weights(scores - 2 * moved)
        slopes[:, j] = (8 * near - far) / (12 * step)
    return slopes


@exercise.usual
def usual(rng):
    return (weights(rng.normal(size=(2, 5))),)


@exercise.case("Three weights give these nine slopes")
def small_example_by_hand(student, rng):
    jacobian = student(np.array([0.5, 0.3, 0.2]))
    expected = [[0.25, -0.15, -0.1], [-0.15, 0.21, -0.06], [-0.1, -0.06, 0.16]]
    student.expect(jacobian, np.array(expected))


@exercise.case("Moving score j a little moves weight i as entry [i, j] says")
def slopes_as_measured(student, rng):
    scores = rng.uniform(-1, 1, size=5)
    student.expect(student(weights(scores)), measured_slopes(scores))


@exercise.case("Each row of a batch has a Jacobian of its own")
def leading_axes(student, rng):
    student.agrees(weights(rng.normal(size=(2, 3, 5))))


@exercise.case(
    "Each row sums to 0: adding the same to all scores moves no weight",
    pays_alone=False,
)
def rows_sum_to_zero(student, rng):
    # As many rows as weights: a diagonal laid along the wrong axis has the right shape.
    jacobian = student(weights(rng.normal(size=(4, 4))))
    student.expect(jacobian.sum(axis=-1), np.zeros((4, 4)), what="the sum of each row")


@exercise.case("Where one weight is 1, all slopes are 0")
def one_weight_has_it_all(student, rng):
    student.expect(student(np.array([0.0, 1.0, 0.0])), np.zeros((3, 3)))
    student.expect(student(np.array([1.0])), np.zeros((1, 1)))


@exercise.case(
    "Score j moves weight i as much as score i weight j",
    visible=False,
    pays_alone=False,
)
def symmetric(student, rng):
    jacobian = student(weights(rng.normal(size=(4, 6))))
    turned = np.swapaxes(jacobian, -1, -2)
    student.expect(jacobian, turned, what="entry [i, j], compared with [j, i],")


@exercise.case("The weights stay as they are", visible=False)
def argument_stays(student, rng):
    student.leaves_unchanged(weights(rng.normal(size=(2, 5))))


def outer(p):
    """Return the products p_i p_j, (…, n, n)."""
    return p[..., :, np.newaxis] * p[..., np.newaxis, :]


def on_the_diagonal(numbers):
    """Return matrices with the numbers on the diagonal, (…, n, n)."""
    return numbers[..., :, np.newaxis] * np.eye(numbers.shape[-1])


@exercise.misconception(
    "Your numbers are the diagonal alone: off it all is 0.",
    "If score j grows, do the other weights stay, when all must sum to 1?",
    why="Softmax is taken for a function that treats each score by itself.",
)
def diagonal_only(p):
    return on_the_diagonal(p * (1 - p))


@exercise.misconception(
    "Your numbers are p (1 − p), one per weight: the derivative of a sigmoid.",
    "How many pairs of a weight and a score are there?",
    why="Backward passes that store p * (1 - p) for the softmax, as for a sigmoid.",
)
def derivative_of_a_sigmoid(p):
    return p * (1 - p)


@exercise.misconception(
    "Your numbers have the opposite sign.",
    "If a score grows, does its own weight grow or shrink?",
    why="p_i (p_j − δ_ij) for p_i (δ_ij − p_j), as in the gradient of a log-loss.",
)
def sign_flipped(p):
    return outer(p) - on_the_diagonal(p)


@exercise.misconception(
    "Your numbers off the diagonal are positive.",
    "If one weight grows, where does its share come from?",
    why="The minus sign of −p_i p_j is lost between the two cases of the formula.",
)
def positive_off_the_diagonal(p):
    return on_the_diagonal(p * (1 - p)) + outer(p) * (1 - np.eye(p.shape[-1]))


@exercise.misconception(
    "Your numbers are −p_i p_j on the diagonal too.",
    "Which term is there only for i = j?",
    why="diag(p) − p pᵀ loses its first term; with it the rows would sum to 0.",
)
def diagonal_term_missing(p):
    return -outer(p)


@exercise.misconception(
    "Your numbers are p_i (1 − p_j) everywhere: each entry is treated as if i = j.",
    "What is the derivative of weight i by the score of another, j?",
    why="The rule for i = j is spread over the whole table by an outer product.",
)
def rule_for_equal_indices_everywhere(p):
    return p[..., :, np.newaxis] * (1 - p[..., np.newaxis, :])


@exercise.misconception(
    "Your numbers are 1 − p_i p_i on the diagonal: 1 is where p_i should be.",
    "What does p_i (1 − p_i) give when the bracket is multiplied out?",
    why="The factor before the bracket reaches only one of its two terms.",
)
def identity_for_diagonal_of_p(p):
    return np.eye(p.shape[-1]) - outer(p)


@exercise.misconception(
    "Your numbers are the derivatives of the logarithms of the weights.",
    "By what do you multiply to come from the slope of log p_i to the slope of p_i?",
    why="The short formula for log-softmax and cross-entropy is remembered instead.",
)
def jacobian_of_log_softmax(p):
    return np.eye(p.shape[-1]) - p[..., np.newaxis, :]


@exercise.misconception(
    "Your code subtracts the same number, the sum of all p_i², from each entry.",
    "Which shape has p @ p.T when p has one axis, and which did you need?",
    why="On an array with one axis .T does nothing, so p @ p.T is an inner product.",
)
def inner_product_for_outer(p):
    squares = (p * p).sum(axis=-1)
    return on_the_diagonal(p) - squares[..., np.newaxis, np.newaxis]


@exercise.misconception(
    "Your numbers mix the rows of a batch: p_i p_j is summed over all of them.",
    "Does the score of one sequence move the weights of another?",
    why="p.T @ p sums over the batch; each row needs an outer product of its own.",
)
def batch_mixed(p):
    rows = p.reshape(-1, p.shape[-1])
    return on_the_diagonal(p) - rows.T @ rows


@exercise.misconception(
    "Your code treats all weights of a batch as one long row.",
    "How large is the table that you return, and how large is that of one row?",
    why="diagflat(s) − s sᵀ with s = p.reshape(−1, 1) is the best-known recipe, "
    "and it is for a single row.",
)
def batch_as_one_long_row(p):
    column = p.reshape(-1, 1)
    return np.diagflat(column) - column @ column.T


@exercise.misconception(
    "Your slopes are right for one row of weights; with axes in front of that row, "
    "your code stops.",
    "What do np.diag and np.outer make of an array of shape (2, 5)?",
    why="np.diag(p) - np.outer(p, p) is the usual recipe, and it is for a single row.",
)
def recipe_for_one_row(p):
    return np.diag(p) - np.outer(p, p)


@exercise.misconception(
    "Your slopes are right for one row of weights; of a table np.diag takes the "
    "diagonal, and with more axes it stops.",
    "Which matrix belongs on the diagonals, if p has the shape (2, 5)?",
    why="The product is laid out with np.newaxis, and np.diag stays from the recipe.",
)
def diag_of_a_batch(p):
    return np.diag(p) - p[:, np.newaxis] * p[np.newaxis, :]


@exercise.misconception(
    "Your slopes are right for one row of weights; with axes in front of that row, "
    "your loops find no single number to write into an entry.",
    "If p has the shape (2, 5), what is p[0]: one weight, or more?",
    why="Two loops over i and j are written for one row, as the formula has them.",
)
def loops_for_one_row(p):
    n = len(p)
    jacobian = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            jacobian[i, j] = p[i] * ((i == j) - p[j])
    return jacobian


@exercise.misconception(
    "Your i and j count along the first axis of p: right for one row of weights, but "
    "in a batch they count the rows.",
    "If p has the shape (2, 5), what is p[0]: one weight, or more?",
    why="p[i] and len(p) belong to the first axis, which is the only one of one row.",
)
def slopes_along_the_first_axis(p):
    rules = [
        [p_i * ((i == j) - p_j) for j, p_j in enumerate(p)] for i, p_i in enumerate(p)
    ]
    return np.array(rules)


@exercise.misconception(
    "Your diagonal is right for one row of weights; in a batch, entry [i, i] takes its "
    "weight from row i of p, and where there is no row i, your code stops.",
    "Along which axes of np.eye(n) does broadcasting lay a p of shape (n, n)?",
    why="np.eye(n) * p puts one row on a diagonal, and looks as if it did so for all.",
)
def diagonal_shared_by_the_batch(p):
    return np.eye(p.shape[-1]) * p - outer(p)


@exercise.misconception(
    "Your code puts p through a softmax once more.",
    "What is p according to the docstring: scores, or what a softmax made of them?",
    why="A function named after the softmax is expected to begin with one.",
)
def softmax_applied_again(p):
    twice = softmax(p)
    return on_the_diagonal(twice) - outer(twice)


@exercise.misconception(
    "Your numbers are the slopes divided by n, the number of weights.",
    "Does an entry depend on how many other weights there are, or only on two of them?",
    why="The mean that a loss takes over its terms is taken here already.",
)
def divided_by_n(p):
    return (on_the_diagonal(p) - outer(p)) / p.shape[-1]


@exercise.misconception(
    "Your weights are pushed away from 0 and 1 before use; slopes of 0 get lost.",
    "Does this formula divide by p or take its logarithm anywhere?",
    why="Clipping with a small epsilon, a habit from writing cross-entropies.",
)
def weights_clipped(p):
    clipped = np.clip(p, 1e-7, 1 - 1e-7)
    return on_the_diagonal(clipped) - outer(clipped)


@exercise.misconception(
    "Your slopes are right, but p holds p (1 − p) after the call.",
    "Whose array does p *= … write into?",
    why="*= and out= save an array and spend the caller's.",
)
def diagonal_computed_in_place(p):
    jacobian = -outer(p)
    p *= 1 - p
    index = np.arange(p.shape[-1])
    jacobian[..., index, index] = p
    return jacobian
