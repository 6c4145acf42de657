"""Cases and misconceptions of ``project``."""

import numpy as np

from autograder import Exercise, families, standard_cases
from course_lib.attention import softmax
from course_lib.self_attention import project

exercise = Exercise(
    project,
    lesson="02_self_attention",
    minutes=5,
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


inputs = exercise.inputs(n=5, d_model=12, d_k=4, d_v=6)


@exercise.usual
def usual(rng):
    return inputs(rng)


@exercise.case(
    "Three tokens of two numbers give these queries, keys and values", weight=0.5
)
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
    student.agrees(*inputs(rng, n=3, d_model=2, d_v=1))


@exercise.case("Each sequence of a batch is handled by itself", weight=2.5)
def leading_axes(student, rng):
    x, w_q, w_k, w_v = inputs(rng, (2, 3))
    # Rows apart in memory.
    student.agrees(np.asfortranarray(x), np.asfortranarray(w_q), w_k, w_v)
    # In most layers d_k and d_v are one size, and d_model is another.
    student.agrees(*inputs(rng, (2,), n=3, d_v=4))


@exercise.case("With all sizes equal, a row of x is still one token", weight=1)
def all_sizes_equal(student, rng):
    # Square matrices can be multiplied in any order, turned or not.
    student.agrees(*inputs(rng, alike=4))


@exercise.case(
    "A token gets the same query, key and value alone as among others",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def each_token_by_itself(student, rng):
    x, *w = inputs(rng, alike=4)
    among_others = student(x, *w)
    alone = student(x[2:3], *w)
    rows = tuple(part[2:3] for part in among_others)
    student.expect(alone, rows, what="what one token gets alone")


exercise.case("The tokens and the parameters are not modified")(
    standard_cases.arguments_stay(inputs, dict(d_model=3, d_v=2), dict(alike=4))
)


exercise.edits(
    """
parameters_times_tokens: return (w_q @ x, w_k @ x, w_v @ x)
  Your products are w_q x, w_k x and w_v x; where they do not stop, they mix different
    tokens.
  ? A row of A @ B mixes the rows of B: which rows would that be if B is x?
  # Many texts write Q = W X for tokens in columns; here tokens are rows.
turned_parameters_times_tokens: return (w_q.T @ x, w_k.T @ x, w_v.T @ x)
  Your products are w_qᵀ x, w_kᵀ x and w_vᵀ x, the formula for tokens in columns;
    where they do not stop, they mix different tokens.
  ? Does a column of x belong to one token, or to all of them?
  # Textbooks with column vectors compute Wᵀ X, and x is not transposed here.
parameters_as_linear_keeps_them:
  | w_q -> w_q.T
  | w_k -> w_k.T
  | w_v -> w_v.T
  Your tokens are multiplied by the transposed parameters; where the sizes do not fit,
    this can raise an error.
  ? Which axis of w_q has as many numbers as a token: the first or the second?
  # nn.Linear keeps its matrix as (out, in) and computes x Wᵀ.
tokens_in_columns:
  | return ( … ->
  :     columns = np.swapaxes(x, -1, -2)
  :     return (w_q.T @ columns, w_k.T @ columns, w_v.T @ columns)
  Your three tables lie on their sides: each column belongs to a token.
  ? Which axis of the result counts the tokens, according to the docstring?
  # Textbooks with column vectors compute Wᵀ X, and the result keeps that form.
turned_for_one_sequence: return ((w_q.T @ x.T).T, (w_k.T @ x.T).T, (w_v.T @ x.T).T)
  A batch does not fit your product, or loses the order of its axes: .T turns all axes
    around.
  ? What is the shape of x.T if x has the shape (2, 5, 12)?
  # Wᵀ Xᵀ, turned back at the end, is the column formula made to fit one sequence.
numbers_times_numbers: @ => *
  Your tokens and parameters are multiplied number by number; where the shapes do not
    fit, this can raise an error.
  ? Of how many products is the first number of a query the sum?
  # x * w looks like the formula, and NumPy's * is no product of matrices.
one_matrix_for_all:
  | w_k -> w_q
  | w_v -> w_q
  Your queries, keys and values are all made with w_q.
  ? What would a token find if it looked for exactly what it can be found by?
  # One layer is made and applied three times (stevezheng23/reading_comprehension_tf,
    pull request 284).
one_array_for_all_three:
  | return ( … ->
  :     room = np.empty((*x.shape[:-1], w_q.shape[-1]))
  :     return tuple((np.matmul(x, w, out=room) for w in (w_q, w_k, w_v)))
  Your queries, keys and values are one array, which holds the values in the end;
    where d_v is not d_k, this can raise an error.
  ? What does an array hold after a second product was written to it?
  # One buffer is made before the products and handed to each as `out=`.
one_array_where_sizes_agree:
  | return ( … ->
  :     if w_v.shape != w_q.shape:
  :         return (x @ w_q, x @ w_k, x @ w_v)
  :     room = np.empty((*x.shape[:-1], w_q.shape[-1]))
  :     return tuple((np.matmul(x, w, out=room) for w in (w_q, w_k, w_v)))
  Your queries, keys and values are one array where d_v is d_k: it holds the values in
    the end.
  # One buffer is handed to each product as `out=`, if their shapes are one.
queries_made_with_w_k: w_q -> w_k
  Your queries hold what w_k makes of the tokens: a token has its key there once more.
  ? Which line of yours was the last to write the array of queries?
  # A line is copied, and only the name on its left is changed; or one array is the
    `out=` of several products.
queries_made_with_w_v: w_q -> w_v
  Your queries hold what w_v makes of the tokens: a token has its value there once
    more.
keys_made_with_w_q: w_k -> w_q
  Your keys hold what w_q makes of the tokens: a token has its query there once more.
  ? Which line of yours was the last to write the array of keys?
keys_made_with_w_v: w_k -> w_v
  Your keys hold what w_v makes of the tokens: a token has its value there once more.
values_made_with_w_q: w_v -> w_q
  Your values hold what w_q makes of the tokens: a token has its query there once
    more.
  ? Which line of yours was the last to write the array of values?
values_made_with_w_k: w_v -> w_k
  Your values hold what w_k makes of the tokens: a token has its key there once more.
tokens_as_queries: x @ w_q -> x
  Your queries are the tokens themselves.
  ? Which of the parameters do the numbers of your queries depend on?
  # In attention without parameters, the words themselves are compared and mixed.
tokens_as_keys: x @ w_k -> x
  Your keys are the tokens themselves.
  ? Which of the parameters do the numbers of your keys depend on?
tokens_as_values: x @ w_v -> x
  Your values are the tokens themselves.
  ? Which of the parameters do the numbers of your values depend on?
keys_come_first: return (x @ w_k, x @ w_q, x @ w_v)
  Your keys come before your queries.
  ? In which order does the docstring name the three results?
  # Dictionaries, caches and other libraries name them in other orders.
values_before_keys: return (x @ w_q, x @ w_v, x @ w_k)
  Your values come before your keys.
values_come_first: return (x @ w_v, x @ w_k, x @ w_q)
  Your values come first and your queries last.
queries_come_last: return (x @ w_k, x @ w_v, x @ w_q)
  Your keys and values come before your queries.
queries_scaled: x @ w_q -> x @ w_q / w_q.shape[-1] ** 0.5
  Your queries are divided by √d_k.
  ? Is the scale a part of a query or a key, or of a score?
  # Implementations that fold the scale into q (facebookresearch/XLM, pull request
    357) do it right after the projection.
keys_scaled: x @ w_k -> x @ w_k / w_k.shape[-1] ** 0.5
  Your keys are divided by √d_k.
negative_numbers_cut_off:
  | return (np.maximum(x @ w_q, 0), np.maximum(x @ w_k, 0), np.maximum(x @ w_v, 0))
  Your results have no negative numbers: those are 0.
  ? The projection is a product with a matrix: does a matrix know about signs?
  # Dense layers with a ReLU made the projections in widely copied code
    (CyberZHG/keras-multi-head, issue 8; hanxiao/tf-nlp-blocks, issue 1).
softmax_of_each_row: return (softmax(x @ w_q), softmax(x @ w_k), softmax(x @ w_v))
  Your rows of queries, keys and values are positive and sum to 1.
  ? Is a query a share of something, or a vector that is compared with keys?
  # The softmax of attention is put one step too early.
tokens_normalised_first:
  | return ( … ->
  :     centred = x - x.mean(axis=-1, keepdims=True)
  :     x = centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-05)
  :     return (x @ w_q, x @ w_k, x @ w_v)
  Your tokens are brought to mean 0 and variance 1 before they are projected.
  ? Which operations lead from a token to its query in the docstring?
  # Blocks with a LayerNorm in front have that line directly above this one.
tokens_scaled_first: x = x * x.shape[-1] ** 0.5
  Your tokens are multiplied by √d_model before they are projected.
  # The paper multiplies embeddings by √d_model, in another section.
first_sequence_only:
  | while x.ndim > 2:
  :     x = x[0]
  Your results hold one sequence of the batch, the first.
  ? How many sequences come in, and how many go out?
  # x[0] is written to get rid of a batch axis while trying things out.
batch_as_one_long_list: x = x.reshape(-1, x.shape[-1])
  Your tokens of all sequences are in one long list.
  ? How can you tell from your result where the second sequence begins?
  # x.reshape(-1, d_model) gives a table that any product takes; nothing asks for the
    axes back.
list_of_three: return [x @ w_q, x @ w_k, x @ w_v]
  Your three arrays come in a list.
  ? What type does the first line of the function promise after the arrow?
  # A comprehension, a wide matrix or a dictionary is the shortest to write.
side_by_side: return np.concatenate([x @ w_q, x @ w_k, x @ w_v], axis=-1)
  Your three tables are one array, side by side.
three_in_one_array: return np.stack([x @ w_q, x @ w_k, x @ w_v])
  Your three tables are one array with an axis more; with other sizes for the values,
    this can raise an error.
three_equal_parts:
  | return ( … ->
  :     wide = np.concatenate([x @ w_q, x @ w_k, x @ w_v], axis=-1)
  :     return tuple(np.array_split(wide, 3, axis=-1))
  Your wide product is cut into three parts of one size, and the values may have
    another.
  ? How many columns of the wide product belong to w_v?
  # One wide matrix is usual where d_v is d_k, and three equal parts are right there.
three_equal_parts_or_an_error:
  | return ( … ->
  :     wide = np.concatenate([x @ w_q, x @ w_k, x @ w_v], axis=-1)
  :     return tuple(np.split(wide, 3, axis=-1))
  Your wide product is cut into three parts of one size, and the values may have
    another: where it cannot be cut so, this raises an error.
dictionary_of_three: return {'q': x @ w_q, 'k': x @ w_k, 'v': x @ w_v}
  Your three arrays come in a dictionary.
parameters_scaled_in_place: w_q /= w_q.shape[-1] ** 0.5
  Your call divides w_q by √d_k in place: the caller's array stays so.
  ? What does `w_q /= …` do to the array that the caller holds?
  # The scale is folded into the parameters, with an operator that works in place.
""",
    softmax=softmax,
)

exercise.family(
    families.one_result_only("queries"),
    families.squeezed(),
    families.as_list(),
    families.in_place(
        "x", lambda x, w_q, w_k, w_v: x @ w_q, "by_queries", where_it_fits=True
    ),
    families.in_place(
        "x", lambda x, w_q, w_k, w_v: x @ w_k, "by_keys", where_it_fits=True
    ),
    families.in_place(
        "x", lambda x, w_q, w_k, w_v: x @ w_v, "by_values", where_it_fits=True
    ),
)
