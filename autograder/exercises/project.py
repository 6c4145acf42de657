"""Cases and misconceptions of ``project``."""

import numpy as np

from autograder import Exercise, families
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


def parameters(rng, d_model=12, d_k=4, d_v=6):
    """Draw w_q, w_k and w_v."""
    sizes = (d_model, d_k), (d_model, d_k), (d_model, d_v)
    return tuple(rng.normal(size=size) for size in sizes)


@exercise.usual
def usual(rng):
    return rng.normal(size=(5, 12)), *parameters(rng)


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
    student.agrees(rng.normal(size=(3, 2)), *parameters(rng, 2, 4, 1))


@exercise.case("Each sequence of a batch is handled by itself", weight=2.5)
def leading_axes(student, rng):
    x = np.swapaxes(rng.normal(size=(2, 3, 12, 5)), -1, -2)  # rows apart in memory
    w_q, w_k, w_v = parameters(rng)
    student.agrees(x, np.asfortranarray(w_q), w_k, w_v)
    # In most layers d_k and d_v are one size, and d_model is another.
    student.agrees(rng.normal(size=(2, 3, 12)), *parameters(rng, d_v=4))


@exercise.case("With all sizes equal, a row of x is still one token", weight=1)
def all_sizes_equal(student, rng):
    # Square matrices can be multiplied in any order, turned or not.
    student.agrees(rng.normal(size=(4, 4)), *parameters(rng, 4, 4, 4))


@exercise.case(
    "A token gets the same query, key and value alone as among others",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def each_token_by_itself(student, rng):
    x, w = rng.normal(size=(4, 4)), parameters(rng, 4, 4, 4)
    among_others = student(x, *w)
    alone = student(x[2:3], *w)
    rows = tuple(part[2:3] for part in among_others)
    student.expect(alone, rows, what="what one token gets alone")


@exercise.case("The tokens and the parameters are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(5, 3)), *parameters(rng, 3, 4, 2))
    # With all sizes alike each product fits into an argument.
    student.leaves_unchanged(rng.normal(size=(4, 4)), *parameters(rng, 4, 4, 4))


@exercise.variants
def variants(
    x,
    w_q,
    w_k,
    w_v,
    *,
    matrices="w_q, w_k, w_v",
    queries="w_q",
    keys="w_k",
    values="w_v",
    product="x @ w",
    batch="kept",
    tokens="as they are",
    numbers="as they are",
    scaled="nothing",
    order="q, k, v",
    returned="a tuple",
    overwritten="nothing",
):
    root = w_q.shape[-1] ** 0.5
    if overwritten == "w_q":
        w_q /= root
    if tokens == "normalised":
        centred = x - x.mean(axis=-1, keepdims=True)
        x = centred / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    elif tokens == "times √d_model":
        x = x * x.shape[-1] ** 0.5
    elif tokens == "of the first sequence":
        x = x.reshape(-1, *x.shape[-2:])[0]
    if batch == "one list":
        x = x.reshape(-1, x.shape[-1])

    def times(w):
        if product == "x @ w":
            return x @ w
        if product == "x * w":
            return x * w
        columns = np.swapaxes(x, -1, -2)
        of_w = {"w @ x": (w, x), "wᵀ @ x": (w.T, x), "wᵀ @ xᵀ": (w.T, columns)}
        if product in of_w:
            return np.matmul(*of_w[product])
        return (w.T @ x.T).T if product == "(wᵀ @ xᵀ)ᵀ" else x @ w.T

    made = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "none": None}
    names = (queries, keys, values) if matrices == "w_q, w_k, w_v" else [matrices] * 3
    results = [x if made[name] is None else times(made[name]) for name in names]
    if overwritten.startswith("one array"):
        if results[0].shape == results[2].shape:
            results = [results[2]] * 3
        elif overwritten == "one array for all three":
            raise ValueError(f"no array is {results[0].shape} and {results[2].shape}")
    if scaled != "nothing":
        index = "qk".index(scaled)
        results[index] = results[index] / root
    if numbers == "not negative":
        results = [np.maximum(part, 0.0) for part in results]
    elif numbers == "shares":
        powers = [np.exp(part - part.max(axis=-1, keepdims=True)) for part in results]
        results = [part / part.sum(axis=-1, keepdims=True) for part in powers]
    results = [results["qkv".index(letter)] for letter in order.split(", ")]
    if returned == "one array":
        return np.concatenate(results, axis=-1)
    if returned == "a stack":
        return np.stack(results)
    if returned == "a dictionary":
        return dict(zip(("q", "k", "v"), results, strict=True))
    return results if returned == "a list" else tuple(results)


for product, name, diagnosis, question, why in (
    (
        "w @ x",
        "parameters_times_tokens",
        "Your products are w_q x, w_k x and w_v x; where they do not stop, they mix "
        "different tokens.",
        "A row of A @ B mixes the rows of B: which rows would that be if B is x?",
        "Many texts write Q = W X for tokens in columns; here tokens are rows.",
    ),
    (
        "wᵀ @ x",
        "turned_parameters_times_tokens",
        "Your products are w_qᵀ x, w_kᵀ x and w_vᵀ x, the formula for tokens in "
        "columns; where they do not stop, they mix different tokens.",
        "Does a column of x belong to one token, or to all of them?",
        "Textbooks with column vectors compute Wᵀ X, and x is not transposed here.",
    ),
    (
        "x @ wᵀ",
        "parameters_as_linear_keeps_them",
        "Your tokens are multiplied by the transposed parameters; where the sizes do "
        "not fit, this can raise an error.",
        "Which axis of w_q has as many numbers as a token: the first or the second?",
        "nn.Linear keeps its matrix as (out, in) and computes x Wᵀ.",
    ),
    (
        "wᵀ @ xᵀ",
        "tokens_in_columns",
        "Your three tables lie on their sides: each column belongs to a token.",
        "Which axis of the result counts the tokens, according to the docstring?",
        "Textbooks with column vectors compute Wᵀ X, and the result keeps that form.",
    ),
    (
        "(wᵀ @ xᵀ)ᵀ",
        "turned_for_one_sequence",
        "A batch does not fit your product, or loses the order of its axes: .T turns "
        "all axes around.",
        "What is the shape of x.T if x has the shape (2, 5, 12)?",
        "Wᵀ Xᵀ, turned back at the end, is the column formula made to fit one "
        "sequence.",
    ),
    (
        "x * w",
        "numbers_times_numbers",
        "Your tokens and parameters are multiplied number by number; where the shapes "
        "do not fit, this can raise an error.",
        "Of how many products is the first number of a query the sum?",
        "x * w looks like the formula, and NumPy's * is no product of matrices.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, product=product)
exercise.option(
    "one_matrix_for_all",
    "Your queries, keys and values are all made with w_q.",
    "What would a token find if it looked for exactly what it can be found by?",
    why="One layer is made and applied three times (stevezheng23/"
    "reading_comprehension_tf, pull request 284).",
    matrices="w_q",
)
exercise.option(
    "one_array_for_all_three",
    "Your queries, keys and values are one array, which holds the values in the end; "
    "where d_v is not d_k, this can raise an error.",
    "What does an array hold after a second product was written to it?",
    why="One buffer is made before the products and handed to each as `out=`.",
    overwritten="one array for all three",
)
exercise.option(
    "one_array_where_sizes_agree",
    "Your queries, keys and values are one array where d_v is d_k: it holds the values "
    "in the end.",
    "What does an array hold after a second product was written to it?",
    why="One buffer is handed to each product as `out=`, if their shapes are one.",
    overwritten="one array where sizes agree",
)
for made, other, kind in (
    ("queries", "w_k", "key"),
    ("queries", "w_v", "value"),
    ("keys", "w_q", "query"),
    ("keys", "w_v", "value"),
    ("values", "w_q", "query"),
    ("values", "w_k", "key"),
):
    exercise.option(
        f"{made}_made_with_{other}",
        f"Your {made} hold what {other} makes of the tokens: a token has its {kind} "
        "there once more.",
        f"Which line of yours was the last to write the array of {made}?",
        why="A line is copied, and only the name on its left is changed; or one array "
        "is the `out=` of several products.",
        **{made: other},
    )
for made in ("queries", "keys", "values"):
    exercise.option(
        f"tokens_as_{made}",
        f"Your {made} are the tokens themselves.",
        f"Which of the parameters do the numbers of your {made} depend on?",
        why="In attention without parameters, the words themselves are compared and "
        "mixed.",
        **{made: "none"},
    )
for order, name, diagnosis in (
    ("k, q, v", "keys_come_first", "Your keys come before your queries."),
    ("q, v, k", "values_before_keys", "Your values come before your keys."),
    ("v, k, q", "values_come_first", "Your values come first and your queries last."),
    ("k, v, q", "queries_come_last", "Your keys and values come before your queries."),
):
    exercise.option(
        name,
        diagnosis,
        "In which order does the docstring name the three results?",
        why="Dictionaries, caches and other libraries name them in other orders.",
        order=order,
    )
for scaled, letter in (("queries", "q"), ("keys", "k")):
    exercise.option(
        f"{scaled}_scaled",
        f"Your {scaled} are divided by √d_k.",
        "Is the scale a part of a query or a key, or of a score?",
        why="Implementations that fold the scale into q (facebookresearch/XLM, pull "
        "request 357) do it right after the projection.",
        scaled=letter,
    )
exercise.option(
    "negative_numbers_cut_off",
    "Your results have no negative numbers: those are 0.",
    "The projection is a product with a matrix: does a matrix know about signs?",
    why="Dense layers with a ReLU made the projections in widely copied code "
    "(CyberZHG/keras-multi-head, issue 8; hanxiao/tf-nlp-blocks, issue 1).",
    numbers="not negative",
)
exercise.option(
    "softmax_of_each_row",
    "Your rows of queries, keys and values are positive and sum to 1.",
    "Is a query a share of something, or a vector that is compared with keys?",
    why="The softmax of attention is put one step too early.",
    numbers="shares",
)
exercise.option(
    "tokens_normalised_first",
    "Your tokens are brought to mean 0 and variance 1 before they are projected.",
    "Which operations lead from a token to its query in the docstring?",
    why="Blocks with a LayerNorm in front have that line directly above this one.",
    tokens="normalised",
)
exercise.option(
    "tokens_scaled_first",
    "Your tokens are multiplied by √d_model before they are projected.",
    "Which operations lead from a token to its query in the docstring?",
    why="The paper multiplies embeddings by √d_model, in another section.",
    tokens="times √d_model",
)
exercise.option(
    "first_sequence_only",
    "Your results hold one sequence of the batch, the first.",
    "How many sequences come in, and how many go out?",
    why="x[0] is written to get rid of a batch axis while trying things out.",
    tokens="of the first sequence",
)
exercise.option(
    "batch_as_one_long_list",
    "Your tokens of all sequences are in one long list.",
    "How can you tell from your result where the second sequence begins?",
    why="x.reshape(-1, d_model) gives a table that any product takes; nothing asks "
    "for the axes back.",
    batch="one list",
)
for returned, name, diagnosis in (
    ("a list", "list_of_three", "Your three arrays come in a list."),
    ("one array", "side_by_side", "Your three tables are one array, side by side."),
    (
        "a stack",
        "three_in_one_array",
        "Your three tables are one array with an axis more; with other sizes for the "
        "values, this can raise an error.",
    ),
    ("a dictionary", "dictionary_of_three", "Your three arrays come in a dictionary."),
):
    exercise.option(
        name,
        diagnosis,
        "What type does the first line of the function promise after the arrow?",
        why="A comprehension, a wide matrix or a dictionary is the shortest to write.",
        returned=returned,
    )
exercise.option(
    "parameters_scaled_in_place",
    "Your call divides w_q by √d_k in place: the caller's array stays so.",
    "What does `w_q /= …` do to the array that the caller holds?",
    why="The scale is folded into the parameters, with an operator that works in "
    "place.",
    overwritten="w_q",
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
