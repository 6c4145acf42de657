"""Cases and misconceptions of ``softmax_jacobian``."""

import numpy as np

from autograder import Exercise, families
from course_lib.attention import softmax_jacobian

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


@exercise.case("Each row of a batch has a Jacobian of its own", weight=2.5)
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


@exercise.case("Where one weight is 1, all slopes are 0", weight=0.5)
def one_weight_has_it_all(student, rng):
    student.expect(student(np.array([0.0, 1.0, 0.0])), np.zeros((3, 3)))
    student.expect(student(np.array([1.0])), np.zeros((1, 1)))


@exercise.case(
    "Score j moves weight i as much as score i weight j",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def symmetric(student, rng):
    jacobian = student(weights(rng.normal(size=(4, 6))))
    turned = np.swapaxes(jacobian, -1, -2)
    student.expect(jacobian, turned, what="entry [i, j], compared with [j, i],")


@exercise.case("The weights are not modified", visible=False, weight=0.5)
def argument_stays(student, rng):
    student.leaves_unchanged(weights(rng.normal(size=(2, 5))))


@exercise.right_answer
def two_cases(p):
    p_i, p_j = (p[..., :, np.newaxis], p[..., np.newaxis, :])
    same = np.eye(p.shape[-1], dtype=bool)
    return np.where(same, p_i * (1 - p_j), -p_i * p_j)


exercise.edits(
    """
diagonal_only: -p_i * p_j -> 0.0
  Your entries off the diagonal are 0.
  ? If score j grows, do the other weights stay, when all must sum to 1?
  # Softmax is taken for a function that treats each score by itself.
""",
    of=two_cases,
)
exercise.edits(
    """
diagonal_by_np_diag:
  | diagonal = …
  : return diagonal … -> return np.diag(p * (1 - p))
  Your result is np.diag of p (1 − p): 0 off the diagonal, for one row of weights.
  ? If score j grows, do the other weights stay, when all must sum to 1?
  # Softmax is taken for a function that treats each score by itself, and np.diag
    makes the table.
weights_by_np_diag:
  | diagonal = …
  : return diagonal … -> return np.diag(p)
  Your result is np.diag(p): for one row of weights, the weights themselves on the
    diagonal and 0 elsewhere.
  ? Which case of the formula is 0, and what is p_i multiplied by where i = j?
  # np.diag(p) is the first half of diag(p) − p pᵀ, and the second is forgotten.
np_outer_alone:
  | diagonal = …
  : return diagonal … -> return np.outer(p, p)
  Your result is np.outer(p, p): all products of two weights, with a plus sign, as if
    there were one row only.
  ? Which sign has a product of two different weights in the formula, and what is
    different where i = j?
  # np.outer(p, p) is the second half of diag(p) − p pᵀ, without its minus.
products_added_to_the_diagonal: diagonal - p -> diagonal + p
  Your products p_i p_j are added everywhere, on the diagonal too: p_i + p_i p_i.
  ? If one weight grows, where does its share come from?
  # diag(p) − p pᵀ is remembered with a plus.
derivative_of_a_sigmoid:
  | diagonal = …
  : return diagonal … -> return p * (1 - p)
  Your numbers are p (1 − p), one per weight: the derivative of a sigmoid.
  ? How many pairs of a weight and a score are there?
  # Backward passes that store p * (1 - p) for the softmax, as for a sigmoid.
sign_flipped: return p[..., :, np.newaxis] * p[..., np.newaxis, :] - diagonal
  Your numbers have the opposite sign.
  ? If a score grows, does its own weight grow or shrink?
  # p_i (p_j − δ_ij) for p_i (δ_ij − p_j), as in the gradient of a log-loss.
divided_by_n:
  | return (diagonal - p[..., :, np.newaxis] * p[..., np.newaxis, :]) / p.shape[-1]
  Your numbers are divided by m, the number of weights.
  ? Does an entry depend on how many other weights there are, or only on two of them?
  # The mean that a loss takes over its terms is taken here already.
doubled: return 2 * (diagonal - p[..., :, np.newaxis] * p[..., np.newaxis, :])
  Your numbers are multiplied by 2.
  ? How often does a pair of a weight and a score count?
  # The 2 of a squared error's derivative is carried over.
""",
)
exercise.edits(
    """
positive_off_the_diagonal: -p_i -> p_i
  Your entries off the diagonal are positive: p_i p_j.
  ? If one weight grows, where does its share come from?
  # The minus sign of −p_i p_j is lost between the two cases of the formula.
""",
    of=two_cases,
)
exercise.edits(
    """
rule_for_equal_indices_everywhere:
  | diagonal = …
  : return diagonal … -> return p[..., :, np.newaxis] * (1 - p[..., np.newaxis, :])
  Your entries off the diagonal are p_i (1 − p_j): each is treated as if i = j.
  ? What is the derivative of weight i by the score of another, j?
  # The rule for i = j is spread over the whole table by an outer product.
""",
)
exercise.edits(
    """
negative_rule_off_the_diagonal: -p_i * p_j -> -p_i * (1 - p_j)
  Your entries off the diagonal are −p_i (1 − p_j).
  ? What is the derivative of weight i by the score of another, j?
  # The rule for i = j gets a minus sign, and is taken for the other rule.
p_j_left_out: -p_i * p_j -> -p_i
  Your entries off the diagonal are −p_i: p_j is not in them.
  ? Does weight i move more when a score of large weight moves, or of small?
  # The bracket of p_i (δ_ij − p_j) is multiplied out half.
p_i_left_out: -p_i * p_j -> -p_j
  Your entries off the diagonal are −p_j: p_i is not in them.
  ? Does a large weight move as much as a small one?
  # The factor p_i in front of the bracket (δ_ij − p_j) is forgotten.
""",
    of=two_cases,
)
exercise.edits(
    """
diagonal_term_missing:
  | diagonal = …
  : return diagonal … -> return -p[..., :, np.newaxis] * p[..., np.newaxis, :]
  Your entries on the diagonal are −p_i p_i.
  ? Which term is there only for i = j?
  # diag(p) − p pᵀ loses its first term; with it the rows would sum to 0.
identity_for_diagonal_of_p: p[..., np.newaxis] * np.eye -> np.eye
  Your entries on the diagonal are 1 − p_i p_i: 1 is where p_i should be.
  ? What does p_i (1 − p_i) give when the bracket is multiplied out?
  # The factor before the bracket reaches only one of its two terms.
""",
)
exercise.edits(
    """
squares_on_the_diagonal: p_i * (1 - p_j) -> p_i * p_j
  Your entries on the diagonal are p_i p_i.
  ? What does p_i (1 − p_i) give when the bracket is multiplied out?
  # The sign of the other entries is taken off on the diagonal, and no more.
weights_on_the_diagonal: p_i * (1 - p_j) -> p_i
  Your entries on the diagonal are p_i.
  # np.fill_diagonal(table, p) sets what should be added.
one_less_weight_on_the_diagonal: p_i * (1 - p_j) -> 1 - p_i
  Your entries on the diagonal are 1 − p_i.
  ? By what is the bracket multiplied?
  # The factor p_i in front of the bracket is forgotten.
diagonal_of_zeros: p_i * (1 - p_j) -> 0
  Your entries on the diagonal are 0.
  ? Does a weight stay when its own score moves?
  # The case i = j is left out, and the table began with zeros.
""",
    of=two_cases,
)
exercise.edits(
    """
upper_half_only:
  | return np.triu(diagonal - p[..., :, np.newaxis] * p[..., np.newaxis, :])
  Your entries below the diagonal are 0.
  ? Does score 0 move weight 1?
  # The table is symmetric: one half is computed, and not copied.
lower_half_only:
  | return np.tril(diagonal - p[..., :, np.newaxis] * p[..., np.newaxis, :])
  Your entries above the diagonal are 0.
  ? Does score 1 move weight 0?
summed_away:
  | return (diagonal - p[..., :, np.newaxis] * p[..., np.newaxis, :]).sum(axis=-1)
  One number is left per weight: an axis of the table is summed away.
  ? How many pairs of a weight and a score are there?
  # A loss has one slope per score; a softmax has m.
inner_product_for_outer:
  | p[..., :, np.newaxis] * p[..., np.newaxis, :] ->
  :     p[..., np.newaxis, :] @ p[..., :, np.newaxis]
  Your table has the same number, the sum of all p_i², taken off everywhere.
  ? Which shape has p @ p.T when p has one axis, and which did you need?
  # On an array with one axis .T does nothing, so p @ p.T is an inner product.
batch_mixed:
  | return diagonal … ->
  :     rows = p.reshape(-1, p.shape[-1])
  :     return diagonal - rows.T @ rows
  Your tables of a batch hold products p_i p_j that are summed over all its rows.
  ? Does the score of one sequence move the weights of another?
  # p.T @ p sums over the batch; each row needs an outer product of its own.
batch_as_one_long_row: p = p.ravel()
  Your table takes all weights of a batch for one long row.
  ? How large is the table that you return, and how large is that of one row?
  # diagflat(s) − s sᵀ with s = p.reshape(−1, 1) is the best-known recipe, and it is
    for a single row.
recipe_for_one_row:
  | diagonal = …
  : return diagonal … -> return np.diag(p) - np.outer(p, p)
  Your answer is for one row of weights: with leading axes it stops, or your result
    lacks them.
  ? What do np.diag and np.outer make of an array of shape (2, 5)?
  # np.diag(p) - np.outer(p, p) is the usual recipe, and it is for a single row.
np_diag_of_a_batch: diagonal = np.diag(p)
  Your products are right, and your diagonal is np.diag(p), which is a table only for
    one row of weights.
  ? What does np.diag make of an array of shape (4, 4)?
  # np.diag(p) is in the usual recipe, and np.outer alone is replaced.
loops_for_one_row:
  | diagonal = …
  : return diagonal … ->
  :     n = len(p)
  :     jacobian = np.zeros((n, n))
  :     for i in range(n):
  :         for j in range(n):
  :             jacobian[i, j] = p[i] * ((i == j) - p[j])
  :     return jacobian
  Your answer raises an error where axes stand in front of a row of weights: there is
    no single number to write into an entry.
  ? If p has the shape (2, 5), what is p[0]: one weight, or more?
  # Two loops over i and j are written for one row, as the formula has them.
diag_of_a_batch:
  | diagonal = np.diag(p)
  | p[..., :, np.newaxis] * p[..., np.newaxis, :] -> p[:, np.newaxis] * p[np.newaxis]
  Your diagonal is np.diag(p), and your products pair the rows of p: of a table that
    is its diagonal, and with more axes this can raise an error.
  ? Which matrix belongs on the diagonals, if p has the shape (2, 5)?
  # The product is laid out with np.newaxis, and np.diag stays from the recipe.
slopes_along_the_first_axis:
  | diagonal = …
  : return diagonal … ->
  :     n = len(p)
  :     jacobian = np.zeros((n, *p.shape))
  :     for i in range(n):
  :         for j in range(n):
  :             jacobian[i, j] = p[i] * ((i == j) - p[j])
  :     return jacobian
  Your i and j count along the first axis of p: in a batch they count the rows.
  ? If p has the shape (2, 5), what is p[0]: one weight, or more?
  # p[i] and len(p) belong to the first axis, which is the only one of one row.
diagonal_shared_by_the_batch: p[..., np.newaxis] * np.eye -> p * np.eye
  Your diagonals of a batch take entry [i, i] from row i of p; where there is no row
    i, this can raise an error.
  ? Along which axes of np.eye(m) does broadcasting lay a p of shape (m, m)?
  # np.eye(m) * p puts one row on a diagonal, and looks as if it did so for all.
softmax_applied_again: p = softmax(p)
  Your numbers belong to another softmax: p has gone through one more.
  ? What is p according to the docstring: scores, or what a softmax made of them?
  # A function named after the softmax is expected to begin with one.
diagonal_computed_in_place:
  | diagonal = …
  : return diagonal … ->
  :     i = np.arange(p.shape[-1])
  :     jacobian = -p[..., :, np.newaxis] * p[..., np.newaxis, :]
  :     p *= 1 - p
  :     jacobian[..., i, i] = p
  :     return jacobian
  Your call leaves p (1 − p) in the caller's p.
  ? Whose array does p *= … write into?
  # *= and out= save an array and spend the caller's.
shape_of_p_changed:
  | diagonal = …
  : return diagonal … ->
  :     p.shape = (*p.shape, 1)
  :     return p * np.eye(p.shape[-2]) - p * np.swapaxes(p, -1, -2)
  Your call changes the shape of p: the caller's array has another one afterwards.
  ? Does p.shape = … make something new, or work on the caller's p?
  # p.shape = … and p.resize(…) change the array itself, reshape does not.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
)


@exercise.misconception(
    "Your numbers are the derivatives of the logarithms of the weights.",
    "By what do you multiply to come from the slope of log p_i to the slope of p_i?",
    why="The short formula for log-softmax and cross-entropy is remembered instead.",
)
def jacobian_of_log_softmax(p):
    return np.eye(p.shape[-1]) - p[..., np.newaxis, :]
