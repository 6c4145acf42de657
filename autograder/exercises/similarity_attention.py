"""Cases and misconceptions of ``similarity_attention``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import similarity_attention, softmax

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


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 7, 4))


@exercise.case("Two rows that attend to three rows give this mix")
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    y = np.array([[0.0, 2.0, 4.0, 0.0], [1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    e = math.e  # the dot products are 0, 1, 2 and 2, 0, 0
    first = np.array([e + e * e, 2.0, 4.0 + 2.0 * e, e * e]) / (1 + e + e * e)
    second = np.array([2.0, 2.0 * e * e, 4.0 * e * e + 2.0, 1.0]) / (e * e + 2)
    student.expect(student(x, y), np.array([first, second]))


@exercise.case("A batch of sequences is answered sequence by sequence")
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4)))


@exercise.case(
    "With as many rows in y as in x, each row of x still gets its own mix of y"
)
def as_many_rows_in_both(student, rng):
    # Only here do x and y have one shape, so that one can stand for the other; with all
    # sizes alike a wrong axis of the batch gives the right shape too.
    student.agrees(rng.normal(size=(5, 4)), rng.normal(size=(5, 4)))
    student.agrees(rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3, 3)))


@exercise.case(
    "Of two rows of y in one direction, the longer gets more weight", visible=False
)
def longer_rows_weigh_more(student, rng):
    x = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])
    y = np.array([[1.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 5.0]])
    e = math.e  # the dot products are 1, 3, 0 and 0, 0, 0
    first = np.array([e + 3 * e**3, 0.0, 0.0, 5.0]) / (e + e**3 + 1)
    second = np.array([4.0, 0.0, 0.0, 5.0]) / 3
    student.expect(student(x, y), np.array([first, second]))


@exercise.case("A row of y that fits far better than the others comes back alone")
def one_row_wins(student, rng):
    x, y = 100.0 * np.eye(4)[[3, 0]], 200.0 * np.eye(4)[[0, 2, 3]]
    student.expect(student(x, y), y[[2, 0]])
    # At right angles too, but turned, so that only the dot products tell who wins.
    for _ in range(3):
        *rows, rest = np.linalg.qr(rng.normal(size=(4, 4))).Q
        y, winners = 200.0 * np.array(rows), rng.permutation(3)[:2]
        student.expect(student(y[winners] / 2 + 100.0 * rest, y), y[winners])


@exercise.case("Rows of whole numbers are mixed like any others")
def whole_numbers(student, rng):
    x, y = rng.integers(-2, 3, size=(2, 3)), rng.integers(-2, 3, size=(4, 3))
    student.agrees(x, y)


@exercise.case("The rows of x and y stay as they are")
def arguments_stay(student, rng):
    x, y = rng.integers(1, 9, size=(2, 4)), rng.integers(1, 9, size=(3, 4))
    student.leaves_unchanged(x.astype(float), y.astype(float))


@exercise.case("A batch of one sequence is answered as a batch of one", visible=False)
def batch_of_one(student, rng):
    student.agrees(rng.normal(size=(1, 5, 4)), rng.normal(size=(1, 7, 4)))


def dot_products(x, y):
    """Multiply each row of x with each row of y."""
    return x @ np.swapaxes(y, -1, -2)


def of_length_one(rows):
    """Divide each row by its length."""
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@exercise.misconception(
    "Your result mixes the rows of x; where y has another number of rows, that stops.",
    "There is one weight per row of y: what should it be multiplied with?",
    why="With y = x there is no difference, and most examples have y = x.",
)
def rows_of_x_mixed(x, y):
    return softmax(dot_products(x, y)) @ x


@exercise.misconception(
    "Your result is what x gives when it attends to itself: y is not used.",
    "Which rows attend here, and which rows are attended to?",
    why="Self-attention, softmax(X Xᵀ) X, is the example that most texts show.",
)
def attends_to_itself(x, y):
    return softmax(dot_products(x, x)) @ x


@exercise.misconception(
    "Your result has one row per row of y: the rows of y attend to x.",
    "How many rows should come out, and which of x and y decides that?",
    why="The two arguments change roles; with n = m the shape does not tell.",
)
def roles_changed(x, y):
    return softmax(dot_products(y, x)) @ x


@exercise.misconception(
    "Your weights come from cosines: the lengths of the rows are divided away.",
    "What happens to a dot product when one of its two rows becomes twice as long?",
    why="The dot product is called a similarity, so it is expected between −1 and 1.",
)
def cosine_similarity(x, y):
    return softmax(dot_products(of_length_one(x), of_length_one(y))) @ y


@exercise.misconception(
    "Your rows of y are brought to length 1 before anything else.",
    "If all the weight lies on one row of y, what should come back?",
    why="Vectors are normalised at the start of many examples with embeddings.",
)
def rows_of_y_normalised(x, y):
    y = of_length_one(y)
    return softmax(dot_products(x, y)) @ y


@exercise.misconception(
    "Your dot products are divided by √d.",
    "Does the docstring of this exercise ask for a scale?",
    why="The formula of scaled dot-product attention is written from habit.",
)
def scale_added(x, y):
    return softmax(dot_products(x, y) / np.sqrt(x.shape[-1])) @ y


@exercise.misconception(
    "Your weights sum to 1 over the rows of x, not over the rows of y.",
    "Who shares out a weight of 1: a row that attends, or a row that is attended to?",
    why="axis=-2 (or axis=0 on a matrix) is taken for 'along the rows'.",
)
def softmax_over_x(x, y):
    return softmax(dot_products(x, y), axis=-2) @ y


@exercise.misconception(
    "Your softmax runs along axis 1, which counts y's rows only in a single matrix.",
    "Which axis counts the rows of y with a batch in front?",
    why="softmax(..., axis=1) and nn.Softmax(dim=1) are right until a batch comes.",
)
def softmax_over_axis_one(x, y):
    return softmax(dot_products(x, y), axis=1) @ y


@exercise.misconception(
    "Your y has all its axes turned round, so that with a batch the sequences are "
    "turned as well.",
    "For an array of shape (2, 7, 4), what is the shape of its `.T`?",
    why="`.T` is learned on matrices, where it swaps the only two axes there are.",
)
def all_axes_reversed(x, y):
    return softmax(x @ y.T) @ y


@exercise.misconception(
    "Your y has its axes 0 and 1 swapped, which are rows and columns only in a single "
    "matrix.",
    "Which axes hold the rows and the columns with a batch in front?",
    why="np.swapaxes(y, 0, 1) is a transpose until a batch comes.",
)
def first_two_axes_swapped(x, y):
    return softmax(x @ np.swapaxes(y, 0, 1)) @ y


@exercise.misconception(
    "Your result is the table of weights: one number per row of x and row of y.",
    "What are these weights for, and what should each row of the result consist of?",
    why="The softmax is the step that takes work, and the mix after it is forgotten.",
)
def weights_returned(x, y):
    return softmax(dot_products(x, y))


@exercise.misconception(
    "Your rows of y are multiplied by the dot products and summed.",
    "What has to happen to the dot products before they can be the weights of a mean?",
    why="The scores are taken for weights; X Xᵀ X looks like a finished formula.",
)
def softmax_missing(x, y):
    return dot_products(x, y) @ y


@exercise.misconception(
    "Your numbers are right for small dot products and NaN for large ones.",
    "How large is e to the power of 1000 in floating point, and how does `softmax` "
    "get round it?",
    why="exp(scores) / sum is written out anew, without subtracting the maximum first.",
)
def exponentials_overflow(x, y):
    exponentials = np.exp(dot_products(x, y))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ y


@exercise.misconception(
    "Your numbers lose everything after the decimal point when x holds whole numbers.",
    "Which dtype has the array that you write the result into?",
    why="np.zeros_like(x) has the right shape and takes over x's integers.",
)
def cut_to_whole_numbers(x, y):
    result = np.zeros_like(x)
    result[...] = softmax(dot_products(x, y)) @ y
    return result


@exercise.misconception(
    "Your result is right, but it is written into x itself.",
    "After `result = x`, how many arrays are there?",
    why="The result has the shape of x, so `result = x` is taken for a copy to fill.",
)
def written_into_x(x, y):
    result = x
    for index in np.ndindex(x.shape[:-1]):
        rows = y[index[:-1]]
        result[index] = softmax(rows @ x[index]) @ rows
    return result


@exercise.misconception(
    "Your result has lost its axes of length 1.",
    "With x of shape (1, 5, 4), which shape should the result have?",
    why="np.squeeze() tidies a result up, and takes the axis of a batch of one too.",
)
def axes_of_one_lost(x, y):
    return np.squeeze(softmax(dot_products(x, y)) @ y)
