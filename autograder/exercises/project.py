"""Cases and misconceptions of ``project``."""

import numpy as np

from autograder import Exercise
from course_lib.self_attention import project

exercise = Exercise(
    project,
    lesson="02_self_attention",
    minutes=8,
    difficulty=1,
    returns=("queries", "keys", "values"),
)


def dot(one, other):
    """Sum the products of the numbers of two vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def times(token, w):
    """Return one number for each column of w: its dot product with the token."""
    return [dot(token, column) for column in w.T.tolist()]


@exercise.spec
def spec(x, w_q, w_k, w_v):
    queries, keys, values = (
        np.zeros((*x.shape[:-1], w.shape[1])) for w in (w_q, w_k, w_v)
    )
    for index in np.ndindex(x.shape[:-1]):
        token = x[index].tolist()
        queries[index] = times(token, w_q)
        keys[index] = times(token, w_k)
        values[index] = times(token, w_v)
    return queries, keys, values


def parameters(rng, d_model=12, d_k=4, d_v=6):
    """Draw w_q, w_k and w_v."""
    sizes = (d_model, d_k), (d_model, d_k), (d_model, d_v)
    return tuple(rng.normal(size=size) for size in sizes)


@exercise.usual
def usual(rng):
    return rng.normal(size=(5, 12)), *parameters(rng)


@exercise.case("Three tokens of two numbers give these queries, keys and values")
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -3.0]])
    w_q = np.array([[1.0, 2.0, 0.0, -1.0], [0.0, 1.0, 5.0, 1.0]])
    w_k = np.array([[0.0, 3.0, 1.0, 0.0], [4.0, 0.0, 1.0, 1.0]])
    w_v = np.array([[10.0], [20.0]])
    queries = [[1, 2, 0, -1], [0, 1, 5, 1], [2, 1, -15, -5]]
    keys = [[0, 3, 1, 0], [4, 0, 1, 1], [-12, 6, -1, -3]]
    values = [[10], [20], [-40]]
    expected = tuple(np.array(rows, float) for rows in (queries, keys, values))
    student.expect(student(x, w_q, w_k, w_v), expected)


@exercise.case("A batch of sequences is answered sequence by sequence")
def leading_axes(student, rng):
    x = np.swapaxes(rng.normal(size=(2, 3, 12, 5)), -1, -2)  # rows apart in memory
    w_q, w_k, w_v = parameters(rng)
    student.agrees(x, np.asfortranarray(w_q), w_k, w_v)


@exercise.case("With all sizes equal, a row of x is still one token")
def all_sizes_equal(student, rng):
    # Square matrices can be multiplied in any order, turned or not.
    student.agrees(rng.normal(size=(4, 4)), *parameters(rng, 4, 4, 4))


@exercise.case("Tokens of whole numbers are treated like any others")
def whole_numbers(student, rng):
    student.agrees(rng.integers(-9, 10, size=(5, 6)), *parameters(rng, 6, 4, 3))


@exercise.case(
    "A token gets the same query, key and value alone as among others",
    visible=False,
    pays_alone=False,
)
def each_token_by_itself(student, rng):
    x, w = rng.normal(size=(4, 4)), parameters(rng, 4, 4, 4)
    among_others = student(x, *w)
    alone = student(x[2:3], *w)
    rows = tuple(part[2:3] for part in among_others)
    student.expect(alone, rows, what="what one token gets alone")


@exercise.case("The tokens and the parameters stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(5, 3)), *parameters(rng, 3, 4, 2))


@exercise.misconception(
    "Your products are w_q x, w_k x and w_v x; where they do not stop, they mix "
    "different tokens.",
    "A row of A @ B mixes the rows of B: which rows would that be if B is x?",
    why="Many texts write Q = W X for tokens in columns; here tokens are rows.",
)
def parameters_times_tokens(x, w_q, w_k, w_v):
    return w_q @ x, w_k @ x, w_v @ x


@exercise.misconception(
    "Your products are w_qᵀ x, w_kᵀ x and w_vᵀ x, the formula for tokens in columns; "
    "where they do not stop, they mix different tokens.",
    "Does a column of x belong to one token, or to all of them?",
    why="Textbooks with column vectors compute Wᵀ X, and x stays as it is here.",
)
def turned_parameters_times_tokens(x, w_q, w_k, w_v):
    return w_q.T @ x, w_k.T @ x, w_v.T @ x


@exercise.misconception(
    "Your code multiplies by the transposed parameters.",
    "Which axis of w_q has as many numbers as a token: the first or the second?",
    why="nn.Linear keeps its matrix as (out, in) and computes x Wᵀ.",
)
def parameters_as_linear_keeps_them(x, w_q, w_k, w_v):
    return x @ w_q.T, x @ w_k.T, x @ w_v.T


@exercise.misconception(
    "Your three tables lie on their sides: each column belongs to a token.",
    "Which axis of the result counts the tokens, according to the docstring?",
    why="Textbooks with column vectors compute Wᵀ X, and the result keeps that form.",
)
def tokens_in_columns(x, w_q, w_k, w_v):
    columns = np.swapaxes(x, -1, -2)
    return w_q.T @ columns, w_k.T @ columns, w_v.T @ columns


@exercise.misconception(
    "Your queries, keys and values are the same numbers, all made with w_q.",
    "What would a token find if it looked for exactly what it can be found by?",
    why="One layer is made and applied three times (stevezheng23/"
    "reading_comprehension_tf, pull request 284).",
)
def one_matrix_for_all(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_q, x @ w_q


@exercise.misconception(
    "Your queries and values are right, but your keys are made with w_q: they are the "
    "queries once more.",
    "Which of the parameters does no line of yours use?",
    why="The line of the queries is copied, and only the name on its left is changed.",
)
def keys_made_with_w_q(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_q, x @ w_v


@exercise.misconception(
    "Your queries and keys are right, but the tokens are returned as values.",
    "Which of the parameters does no line of yours use?",
    why="What is mixed is said to be 'the words', as in attention without parameters.",
)
def tokens_as_values(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k, x


@exercise.misconception(
    "Your values are right, but queries and keys are exchanged.",
    "In which order does the docstring name the three results?",
    why="Dictionaries and caches name keys and values first, so keys are returned "
    "first.",
)
def keys_come_first(x, w_q, w_k, w_v):
    return x @ w_k, x @ w_q, x @ w_v


@exercise.misconception(
    "Your queries are divided by √d_k.",
    "Is the scale a part of a query, or of a score?",
    why="Implementations that fold the scale into q (facebookresearch/XLM, pull "
    "request 357) do it right after the projection.",
)
def queries_scaled(x, w_q, w_k, w_v):
    return x @ w_q / np.sqrt(w_q.shape[-1]), x @ w_k, x @ w_v


@exercise.misconception(
    "Your results have no negative numbers: those are 0.",
    "The projection is a product with a matrix: does a matrix know about signs?",
    why="Dense layers with a ReLU made the projections in widely copied code "
    "(CyberZHG/keras-multi-head, issue 8; hanxiao/tf-nlp-blocks, issue 1).",
)
def negative_numbers_cut_off(x, w_q, w_k, w_v):
    return tuple(np.maximum(x @ w, 0.0) for w in (w_q, w_k, w_v))


@exercise.misconception(
    "Your tokens are brought to mean 0 and variance 1 before they are projected.",
    "Which operations lead from a token to its query in the docstring?",
    why="Blocks with a LayerNorm in front have that line directly above this one.",
)
def tokens_normalised_first(x, w_q, w_k, w_v):
    centred = x - x.mean(axis=-1, keepdims=True)
    x = centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return x @ w_q, x @ w_k, x @ w_v


@exercise.misconception(
    "Your results are right for one sequence; for a batch your code stops, because .T "
    "turns all axes around.",
    "What is the shape of x.T if x has the shape (2, 5, 12)?",
    why="Wᵀ Xᵀ, turned back at the end, is the column formula made to fit one "
    "sequence.",
)
def turned_for_one_sequence(x, w_q, w_k, w_v):
    return (w_q.T @ x.T).T, (w_k.T @ x.T).T, (w_v.T @ x.T).T


@exercise.misconception(
    "Your numbers are right, but the tokens of all sequences are in one long list.",
    "How can you tell from your result where the second sequence begins?",
    why="x.reshape(-1, d_model) gives a table that any product takes; nothing asks "
    "for the axes back.",
)
def batch_as_one_long_list(x, w_q, w_k, w_v):
    tokens = x.reshape(-1, x.shape[-1])
    return tokens @ w_q, tokens @ w_k, tokens @ w_v


@exercise.misconception(
    "Your three arrays are right, but they come in a list.",
    "What type does the first line of the function promise after the arrow?",
    why="A comprehension over the three matrices is the shortest way to write it.",
)
def list_of_three(x, w_q, w_k, w_v):
    return [x @ w for w in (w_q, w_k, w_v)]


@exercise.misconception(
    "Your results lose everything after the decimal point when x holds whole numbers.",
    "Which dtype has the array that you write the results into?",
    why="np.zeros(..., dtype=x.dtype) takes over the integers of x.",
)
def cut_to_whole_numbers(x, w_q, w_k, w_v):
    results = []
    for w in (w_q, w_k, w_v):
        result = np.zeros((*x.shape[:-1], w.shape[-1]), dtype=x.dtype)
        result[...] = x @ w
        results.append(result)
    return tuple(results)


@exercise.misconception(
    "Your queries are divided by √d_k, and so is the w_q of whoever called you.",
    "What does `w_q /= …` do to the array that the caller holds?",
    why="The scale is folded into the parameters, with an operator that works in "
    "place.",
)
def parameters_scaled_in_place(x, w_q, w_k, w_v):
    w_q /= np.sqrt(w_q.shape[-1])
    return x @ w_q, x @ w_k, x @ w_v
