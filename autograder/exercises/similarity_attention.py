"""Cases and misconceptions of ``similarity_attention``."""

import math

import numpy as np

from autograder import Exercise, families, standard_cases
from course_lib.attention import similarity_attention

exercise = Exercise(
    similarity_attention,
    lesson="01_dot_product_attention",
    minutes=10,
    difficulty=1,
    uses=("softmax",),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
    ),
)


@exercise.spec
def spec(x, y):
    *leading, n, d = x.shape
    m = y.shape[-2]
    result = np.zeros((*leading, n, d))
    for index in np.ndindex(*leading, n):
        *batch, i = index
        scores = [
            sum(float(x[*batch, i, c]) * float(y[*batch, j, c]) for c in range(d))
            for j in range(m)
        ]
        powers = [math.exp(score - max(scores)) for score in scores]
        for j in range(m):
            for c in range(d):
                result[*index, c] += powers[j] / sum(powers) * float(y[*batch, j, c])
    return result


inputs = exercise.inputs(n=5, m=7, d=4)


@exercise.usual
def usual(rng):
    return inputs(rng, (2,))


@exercise.case("Two rows that attend to three rows give the right mix", weight=0.5)
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    y = np.array([[0.0, -2.0, 4.0, 0.0], [1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    e = math.e  # the dot products are 0, 1, 2 and −2, 0, 0, where two rows fit best
    first = np.array([e + e * e, -2.0, 4.0 + 2.0 * e, e * e]) / (1 + e + e * e)
    second = np.array([2.0 * e * e, -2.0, 4.0 + 2.0 * e * e, e * e]) / (1 + 2 * e * e)
    student.expect(student(x, y), np.array([first, second]))


exercise.case("Each sequence of a batch is handled by itself", weight=3.5)(
    standard_cases.leading_axes(inputs, (2,), (2, 3))
)


@exercise.case(
    "With equally many rows in x and y, each row of x still gets its own mix"
)
def as_many_rows_in_both(student, rng):
    # Only here do x and y have one shape, so that one can stand for the other; with all
    # sizes alike a wrong axis of the batch gives the right shape too.
    student.agrees(*inputs(rng, m=5))
    student.agrees(*inputs(rng, (3,), alike=3))


@exercise.case(
    "Of two rows of y in one direction, the longer gets more weight",
    visible=False,
    weight=0.5,
)
def longer_rows_weigh_more(student, rng):
    x = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])
    y = np.array([[1.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 5.0]])
    e = math.e  # the dot products are 1, 3, 0 and 0, 0, 0
    first = np.array([e + 3 * e**3, 0.0, 0.0, 5.0]) / (e + e**3 + 1)
    second = np.array([4.0, 0.0, 0.0, 5.0]) / 3
    student.expect(student(x, y), np.array([first, second]))


@exercise.case(
    "Where one row of y fits far better than the others, the mix is that row",
    weight=0.5,
)
def one_row_wins(student, rng):
    x, y = 100.0 * np.eye(4)[[3, 0]], 200.0 * np.eye(4)[[0, 2, 3]]
    student.expect(student(x, y), y[[2, 0]])
    # At right angles too, but turned, so that only the dot products tell who wins.
    for _ in range(3):
        *rows, rest = np.linalg.qr(rng.normal(size=(4, 4))).Q
        y, winners = 200.0 * np.array(rows), rng.permutation(3)[:2]
        student.expect(student(y[winners] / 2 + 100.0 * rest, y), y[winners])


@exercise.case("If one row of x is very long, all mixes are still right", weight=0.5)
def one_long_row(student, rng):
    x, y = inputs(rng)
    x[2] *= 5000.0  # e to the power of the other rows' products minus its own is 0
    student.agrees(x, y)


@exercise.fine_point("Rows of integers are mixed like any others")
def whole_numbers(student, rng):
    student.agrees(*inputs(rng, dtype=int, n=2, m=4, d=3, whole=(-2, 3)))


exercise.case("The rows of x and y are not modified", weight=0.5)(
    standard_cases.arguments_stay(inputs, dict(n=2, m=3, whole=(1, 9)), dict(alike=3))
)


@exercise.case(
    "A batch of one sequence gives a batch of one, with the right mixes",
    visible=False,
    weight=0.5,
)
def batch_of_one(student, rng):
    student.agrees(*inputs(rng, (1,)))


exercise.edits(
    """
roles_changed: x, y = (y, x)
  Your result has one row per row of y: the rows of y attend to x.
  ? How many rows should come out, and which of x and y decides that?
  # The two arguments change roles; with n = m the shape does not tell.
attends_to_itself: y = x
  Your rows of x attend to x: y is not used.
  ? Which rows attend here, and which rows are attended to?
  # Self-attention, softmax(X Xᵀ) X, is the example that most texts show.
rows_of_x_mixed: weights @ y -> weights @ x
  Your result mixes the rows of x; where y has a different number of rows, this can
    raise an error.
  ? There is one weight per row of y: what should it be multiplied by?
  # With y = x there is no difference, and most examples have y = x.
x_attends_to_itself: swapaxes(y -> swapaxes(x
  Your weights come from products of x with x; where y has a different number of rows,
    this can raise an error.
  ? Which rows attend here, and which rows are attended to?
  # Self-attention, softmax(X Xᵀ) X, is the example that most texts show.
y_attends_to_itself: x = y
  Your rows of y attend to y: x is not used.
cosine_similarity:
  | weights = … ->
  :     unit_x = x / np.linalg.norm(x, axis=-1, keepdims=True)
  :     unit_y = y / np.linalg.norm(y, axis=-1, keepdims=True)
  :     weights = softmax(unit_x @ np.swapaxes(unit_y, -1, -2), axis=-1)
  Your weights come from cosines: the lengths of the rows are divided away.
  ? What happens to a dot product when one of its two rows becomes twice as long?
  # The dot product is called a similarity, so it is expected between −1 and 1.
nearest_rows:
  | x @ np.swapaxes(y, -1, -2) ->
  :     -((x[..., :, np.newaxis, :] - y[..., np.newaxis, :, :]) ** 2).sum(axis=-1)
  Your weights come from squared distances, with a minus sign.
  ? Which number says here how well two rows match?
  # 'Resemble' is taken for lying close together.
rows_of_y_normalised: y = y / np.linalg.norm(y, axis=-1, keepdims=True)
  Your rows of y are brought to length 1 before anything else.
  ? If all the weight lies on one row of y, what should come back?
  # Vectors are normalised at the start of many examples with embeddings.
mixed_rows_normalised:
  | weights @ y -> weights @ (y / np.linalg.norm(y, axis=-1, keepdims=True))
  Your rows of y are brought to length 1 before they are mixed.
  # Cosine similarity asks for rows of length 1, and the mix gets them as well.
scale_added: , axis=-1) -> / x.shape[-1] ** 0.5, axis=-1)
  Your dot products are divided by √d.
  ? Does the docstring of this exercise ask for a scale?
  # The formula of scaled dot-product attention is written from habit.
divided_by_d: x @ np.swapaxes(y, -1, -2) -> x @ np.swapaxes(y, -1, -2) / x.shape[-1]
  Your dot products are divided by d.
  # The mean of the products is taken for their sum.
divided_by_root_of_m:
  | x @ np.swapaxes(y, -1, -2) -> x @ np.swapaxes(y, -1, -2) / y.shape[-2] ** 0.5
  Your dot products are divided by √m, the root of the number of rows attended to.
  # The formula of scaled dot-product attention is written from habit, with len(y).
softmax_over_x: axis=-1 -> axis=-2
  Your weights are shared out over the rows of x, not over the rows of y.
  ? Who shares out a weight of 1: a row that attends, or a row that is attended to?
  # axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.
softmax_over_axis_zero: axis=-1 -> axis=0
  Your weights are shared out along axis 0: the rows of x in a table, the sequences of
    a batch.
  ? Which axis counts the rows of y, however many come before it?
  # softmax(..., axis=0) is taken for 'along the rows'.
softmax_over_axis_one: axis=-1 -> axis=1
  Your weights are shared out along axis 1, which counts y's rows only in a single
    table.
  ? Which axis counts the rows of y with a batch in front?
  # softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.
softmax_over_everything:
  | weights = … ->
  :     scores = x @ np.swapaxes(y, -1, -2)
  :     weights = softmax(scores.ravel()).reshape(scores.shape)
  Your weights are shared out over the whole array: all of them together count as one
    row.
  ? How much weight has one row of x to share out?
  # Without an axis, max() and sum() take in the whole array.
softmax_of_the_sum:
  | weights = …
  : return weights @ y -> return softmax(x @ np.swapaxes(y, -1, -2) @ y, axis=-1)
  Your rows are multiplied by the scores themselves and summed, and the softmax comes
    after it.
  ? Which of the three steps makes the weights of a mean, and what is it applied to?
  # The bracket of softmax closes around the product with y.
all_axes_reversed: np.swapaxes(y, -1, -2) -> y.T
  Your y has all its axes reversed: with a batch, the axis of the sequences becomes
    the last.
  ? For an array of shape (2, 7, 4), what is the shape of its `.T`?
  # `.T` is learned on matrices, where it swaps the only two axes there are.
first_two_axes_swapped: -1, -2 -> 0, 1
  Your rows that are attended to have axes 0 and 1 swapped, which are rows and columns
    only in a single table.
  ? Which axes hold the rows and the columns with a batch in front?
  # np.swapaxes(y, 0, 1) is a transpose until a batch comes.
three_axes_only: np.swapaxes(y, -1, -2) -> y.transpose(0, 2, 1)
  Your transposition names exactly three axes, so it raises an error with two or four.
  ? How do you name the last two axes, however many come before them?
  # y.transpose(0, 2, 1) is copied from code that always has one batch axis.
rows_reshaped:
  | np.swapaxes(y, -1, -2) -> y.reshape(*y.shape[:-2], y.shape[-1], y.shape[-2])
  Your rows that are attended to are reshaped, not transposed: one column mixes parts
    of several rows.
  ? Does reshape move a row into a column, or does it read all numbers on in the old
    order?
  # reshape(d, m) has the shape of the transpose, with other numbers in it.
rows_not_transposed: np.swapaxes(y, -1, -2) -> y
  Your rows stay rows in the product that gives the scores: where that does not stop,
    a row meets columns.
  ? Which axes does `@` pair, and along which one does each row of y lie?
  # The ᵀ of X Yᵀ gets lost; with as many rows as columns nothing complains.
softmax_missing:
  | softmax(x @ np.swapaxes(y, -1, -2), axis=-1) -> x @ np.swapaxes(y, -1, -2)
  Your rows are multiplied by the scores themselves and summed.
  ? What has to happen to the scores before they can be the weights of a mean?
  # The scores are taken for weights; X Xᵀ X looks like a finished formula.
exponentials_not_divided:
  | weights = … ->
  :     scores = x @ np.swapaxes(y, -1, -2)
  :     weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
  Your weights are powers of e that are not divided by their sum.
  ? What should a row of weights sum to?
  # Half of the softmax is written out, and the division is forgotten.
shares_of_scores:
  | weights = … ->
  :     scores = x @ np.swapaxes(y, -1, -2)
  :     weights = scores / scores.sum(axis=-1, keepdims=True)
  Your weights are scores divided by their sum: they can be negative.
  ? What is done to the scores first, so that every share is positive?
  # 'Weights that sum to 1' suggests a division by the sum at once.
best_row_only:
  | weights = … ->
  :     scores = x @ np.swapaxes(y, -1, -2)
  :     weights = (scores == scores.max(axis=-1, keepdims=True)).astype(float)
  Your weights are 1 for the row that fits best and 0 for all others.
  ? How much weight should a row get that fits almost as well as the best one?
  # Softmax is taken for the maximum that its name speaks of.
first_of_the_best_rows_only:
  | weights = … ->
  :     scores = x @ np.swapaxes(y, -1, -2)
  :     weights = np.eye(y.shape[-2])[scores.argmax(axis=-1)]
  Your result has the row that fits best, of equally good ones the first.
  # argmax looks a value up, as in a dictionary.
exponentials_overflow:
  | weights = … ->
  :     powers = np.exp(x @ np.swapaxes(y, -1, -2))
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  Your numbers are NaN where dot products are large.
  ? How large is e to the power of 1000 in floating point, and how does `softmax` get
    round it?
  # exp(scores) / sum is written out again, without subtracting the maximum.
one_maximum_for_everything:
  | weights = … ->
  :     scores = x @ np.swapaxes(y, -1, -2)
  :     powers = np.exp(scores - scores.max())
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  Your numbers are NaN in rows whose scores are all far below the largest of all.
  ? What is e to the power of −1000 in floating point, and whose largest score is
    subtracted from a row?
  # scores.max() without an axis: enough against overflow, not against 0 / 0.
weights_transposed: weights @ y -> np.swapaxes(weights, -1, -2) @ y
  Your result is weightsᵀ times the rows: row i is mixed with column i of the weights;
    where n and m differ, this can raise an error.
  ? Whose weights are in row i of the table, and whose in column i?
  # The ᵀ of X Yᵀ is applied once more; with n = m nothing complains.
weights_returned: return weights
  Your result is a table of weights: one number per pair of rows.
  ? What are these weights for, and what should each row of the result consist of?
  # The softmax is the step that takes work, and the mix after it is forgotten.
weights_returned_as_well: return (weights @ y, weights)
  Your result is a tuple of two arrays.
  ? How many arrays does the docstring promise?
  # `attention` returns the weights as well, and so do most libraries.
x_added: return x + weights @ y
  Your mixes have the rows of x added to them.
  ? Is x part of the mean that the docstring asks for?
  # Inside a Transformer the result of attention is added to x.
weights_cut_to_whole_numbers: axis=-1) -> axis=-1).astype(x.dtype)
  Your weights lose what follows the decimal point where x holds integers.
  ? Which dtype has the array that you write the weights into?
  # scores[...] = … and np.zeros_like(scores) keep the integers of the scores.
written_into_x:
  | return weights @ y ->
  :     x[...] = weights @ y
  :     return x
  Your result is written into x itself.
  ? After `result = x`, how many arrays are there?
  # The result has the shape of x, so `result = x` is taken for a copy.
""",
)

exercise.family(
    families.squeezed(),
    families.transposed(),
    families.as_list(),
    families.cut_to_whole_numbers("x"),
)
