"""Cases and misconceptions of ``additive_scores``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.attention import additive_scores

exercise = Exercise(
    additive_scores, lesson="01_dot_product_attention", minutes=15, difficulty=3
)


@exercise.spec
def spec(q, k, w_q, w_k, v):
    *leading, n, d_q = q.shape
    m, d_k = k.shape[-2:]
    scores = np.empty((*leading, n, m))
    for index in np.ndindex(*leading, n, m):
        *batch, i, j = index
        total = 0.0
        for h in range(len(v)):
            hidden = sum(float(q[*batch, i, c]) * float(w_q[c, h]) for c in range(d_q))
            hidden += sum(float(k[*batch, j, c]) * float(w_k[c, h]) for c in range(d_k))
            total += float(v[h]) * math.tanh(hidden)
        scores[index] = total
    return scores


def inputs(rng, leading=(), n=5, m=7, d_q=4, d_k=3, d_hidden=6):
    """Draw q, k, w_q, w_k and v."""
    return (
        rng.normal(size=(*leading, n, d_q)),
        rng.normal(size=(*leading, m, d_k)),
        rng.normal(size=(d_q, d_hidden)),
        rng.normal(size=(d_k, d_hidden)),
        rng.normal(size=d_hidden),
    )


@exercise.usual
def usual(rng):
    return inputs(rng, leading=(2,))


@exercise.case("Where each tanh is −1, 0 or 1, the scores are these integers")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    k = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, -2.0], [-1.0, 0.0]])
    w_q = np.array([[20.0, 0.0], [0.0, -20.0], [0.0, 20.0]])  # q w_q: 20 40 | 0 −40
    w_k = np.array([[-20.0, 20.0], [40.0, 0.0]])  # −20 20 | 0 0 | −80 0 | 20 −20
    v = np.array([3.0, 5.0])
    expected = np.array([[5.0, 8.0, 2.0, 8.0], [-8.0, -5.0, -8.0, -2.0]])
    student.expect(student(q, k, w_q, w_k, v), expected)
    *others, v = inputs(rng)
    student.agrees(*others, -np.abs(v))


@exercise.case("Entry [i, j] is v · tanh(q_i w_q + k_j w_k)", weight=1.5)
def small_network_for_each_pair(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("Queries and keys of the same size still have a matrix each")
def one_matrix_each(student, rng):
    student.agrees(*inputs(rng, d_q=4, d_k=4))
    # With all sizes alike no wrong axis and no transposed matrix is noticed.
    student.agrees(*inputs(rng, (4,), n=4, m=4, d_q=4, d_k=4, d_hidden=4))


@exercise.case("Each sequence of a batch is scored by itself", weight=2.5)
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), d_hidden=9))


@exercise.case(
    "One query against six keys gives the right table of one row", weight=0.5
)
def one_query(student, rng):
    student.agrees(*inputs(rng, n=1, m=6, d_hidden=5))


@exercise.case(
    "A query of 10,000 next to a query of zeros is scored", visible=False, weight=0.5
)
def large_next_to_zero(student, rng):
    # Both signs in w_q: each way of writing a tanh that overflows does so in a row.
    _, k, _, w_k, v = inputs(rng, d_hidden=4)
    student.agrees(
        np.array([[1e4], [0.0], [-1e4]]), k, np.array([[1.0, -2.0, 0.5, -1.0]]), w_k, v
    )


@exercise.case("The queries, keys and parameters are not modified", weight=0.5)
def arguments_stay(student, rng):
    sizes = ((2, 3), (4, 2), (3, 5), (2, 5), 5)
    drawn = (rng.integers(1, 9, size=size).astype(float) for size in sizes)
    student.leaves_unchanged(*drawn)
    # With all sizes alike each product fits into an argument.
    student.leaves_unchanged(*inputs(rng, n=4, m=4, d_q=4, d_k=4, d_hidden=4))


@exercise.case(
    "With v times −3 each score is −3 times what it was",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def scores_follow_v(student, rng):
    q, k, w_q, w_k, v = inputs(rng)
    before = student(q, k, w_q, w_k, v)
    after = student(q, k, w_q, w_k, -3.0 * v)
    student.expect(after, -3.0 * before, what="the scores after the change")


@exercise.variants
def variants(
    q,
    k,
    w_q,
    w_k,
    v,
    *,
    matrices="w_q, w_k",
    pairs="all",
    combined="sum",
    activation="tanh",
    where="of the sum",
    read_by="v",
    divided_by=1,
    returned="scores",
    overwritten="nothing",
):
    n, m = q.shape[-2], k.shape[-2]
    if overwritten == "shapes":
        q.shape = (*q.shape[:-1], 1, q.shape[-1])
        k.shape = (*k.shape[:-2], 1, *k.shape[-2:])
        q, k = q[..., 0, :], k[..., 0, :, :]
    w_q, w_k = {
        "w_q, w_k": (w_q, w_k),
        "w_q, w_q": (w_q, w_q),
        "w_k, w_k": (w_k, w_k),
        "w_k, w_q": (w_k, w_q),
        "w_qᵀ, w_kᵀ": (w_q.T, w_k.T),
    }[matrices]
    mine, theirs = q @ w_q, k @ w_k
    if pairs == "keys pile up":
        theirs = np.cumsum(theirs, axis=-2)
    if pairs == "counted from the front":
        mine, theirs = mine[:, np.newaxis], theirs[np.newaxis]
    elif pairs == "one batch axis":
        mine, theirs = mine[:, :, np.newaxis], theirs[:, np.newaxis]
    elif pairs == "keys down":
        mine, theirs = mine[..., np.newaxis, :, :], theirs[..., :, np.newaxis, :]
    elif pairs != "same rows":
        mine, theirs = mine[..., :, np.newaxis, :], theirs[..., np.newaxis, :, :]
    activate = {
        "tanh": np.tanh,
        "none": lambda hidden: hidden,
        "sigmoid": lambda hidden: 1 / (1 + np.exp(-hidden)),
        "ReLU": lambda hidden: np.maximum(hidden, 0),
        "quotient of powers": lambda hidden: (
            (np.exp(hidden) - np.exp(-hidden)) / (np.exp(hidden) + np.exp(-hidden))
        ),
        "tan": np.tan,
        "arctan": np.arctan,
    }[activation]
    combine = {
        "sum": lambda: mine + theirs,
        "difference": lambda: mine - theirs,
        "product": lambda: mine * theirs,
        "queries": lambda: mine + 0 * theirs,
        "keys": lambda: 0 * mine + theirs,
    }[combined]
    if where == "of each side":
        mine, theirs = activate(mine), activate(theirs)
    hidden = combine()
    if where == "of v times the sum":
        hidden = hidden * v
    if where not in ("of each side", "of the score"):
        hidden = activate(hidden)
    read = {
        "v": lambda: hidden @ v,
        "the sum": lambda: hidden.sum(axis=-1),
        "the largest": lambda: hidden.max(axis=-1),
        "the size of v": lambda: hidden @ np.abs(v),
    }
    scores = read["the sum" if where == "of v times the sum" else read_by]()
    if where in ("of the score", "of the sum and the score"):
        scores = activate(scores)
    if pairs == "query i and key i":
        scores = scores * np.eye(n, m)
    divisor = {"√d_hidden": len(v) ** 0.5, "d_hidden": len(v)}
    divisor |= {"√d_q": q.shape[-1] ** 0.5, "√d_k": k.shape[-1] ** 0.5}
    scores = scores / divisor.get(divided_by, 1)
    if returned == "weights":
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores = scores / scores.sum(axis=-1, keepdims=True)
    elif returned == "hidden layer":
        scores = hidden
    return scores[..., np.newaxis] if returned == "(…, n, m, 1)" else scores


exercise.option(
    "no_tanh",
    "Your hidden layer has no activation: there is no tanh.",
    "What makes this a small network, and not the sum of one number per query "
    "and one number per key?",
    why="The nonlinearity gets lost between the two matrix products; without it "
    "every query has the same preferences.",
    activation="none",
)
exercise.option(
    "sigmoid_for_tanh",
    "Your activation is a sigmoid.",
    "Which range does the activation of the formula have, and is it centred on 0?",
    why="The sigmoid is the activation that people met first.",
    activation="sigmoid",
)
exercise.option(
    "relu_for_tanh",
    "Your activation is a ReLU: what is negative becomes 0.",
    "Which activation does the formula name, and what does it do with negative sums?",
    why="ReLU is the usual choice in today's networks.",
    activation="ReLU",
)
exercise.option(
    "tan_for_tanh",
    "Your activation is tan, of an angle: it jumps.",
    "Between which two numbers does the activation of the formula lie?",
    why="np.tan is one letter from np.tanh.",
    activation="tan",
)
exercise.option(
    "arctan_for_tanh",
    "Your activation is arctan: it goes up to π / 2.",
    "Between which two numbers does the activation of the formula lie?",
    why="np.arctan has the same shape, and a name that is close.",
    activation="arctan",
)
exercise.option(
    "tanh_that_overflows",
    "Your scores are not numbers where the hidden layer is large: infinity is "
    "divided by infinity.",
    "How large is the largest power of e in your tanh, and who has written a "
    "tanh that avoids it?",
    why="The textbook formula of tanh, taken literally: (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ).",
    activation="quotient of powers",
)
exercise.option(
    "tanh_before_the_sum",
    "Your two sides have an activation each, before they meet.",
    "Which comes first in the formula, the sum or the tanh?",
    why="Both projections are written as complete layers, each with its activation.",
    where="of each side",
)
exercise.option(
    "v_before_the_tanh",
    "Your product with v happens inside the activation.",
    "How many numbers go through the tanh for each pair, one or d_hidden?",
    why="The brackets of v · tanh(…) are read the wrong way round.",
    where="of the score",
)
exercise.option(
    "v_inside_unit_by_unit",
    "Your hidden layer is multiplied by v inside the activation, unit by unit, "
    "and summed after it.",
    "Which comes first in the formula, the tanh or v?",
    why="v is read as one more parameter of the hidden layer.",
    where="of v times the sum",
)
exercise.option(
    "tanh_of_the_score",
    "Your numbers went through a second activation at the end.",
    "Which layer of this network has an activation, and which has none?",
    why="Each layer is given an activation, the last one too.",
    where="of the sum and the score",
)
exercise.option(
    "difference_of_projections",
    "Your keys' projections are subtracted, not added.",
    "What stands between the two projections in the formula?",
    why="A match is taken for a small difference.",
    combined="difference",
)
exercise.option(
    "product_of_projections",
    "Your two projections are multiplied, not added.",
    "What stands between the two projections in the formula?",
    why="The other scores of the lesson are made of products.",
    combined="product",
)
exercise.option(
    "keys_ignored",
    "Your scores do not depend on the keys.",
    "Where does a key come into the formula?",
    why="The line with the keys is written, and its result is not used.",
    combined="queries",
)
exercise.option(
    "queries_ignored",
    "Your scores do not depend on the queries.",
    "Where does a query come into the formula?",
    why="The line with the queries is written, and its result is not used.",
    combined="keys",
)
exercise.option(
    "one_matrix_for_both",
    "Your keys go through w_q, as your queries do; unless d_k is d_q, this can raise "
    "an error.",
    "What is w_k for, and what happens where a key is shorter than a query?",
    why="In the example at hand d_q = d_k, so one matrix fits both.",
    matrices="w_q, w_q",
)
exercise.option(
    "matrix_of_the_keys_for_both",
    "Your queries go through w_k, as your keys do; unless d_k is d_q, this can raise "
    "an error.",
    "What is w_q for, and what happens where a key is shorter than a query?",
    why="In the example at hand d_q = d_k, so one matrix fits both.",
    matrices="w_k, w_k",
)
exercise.option(
    "matrices_exchanged",
    "Your queries go through w_k and your keys through w_q; where d_k is not d_q, this "
    "can raise an error.",
    "Which of the two matrices has as many rows as a query has numbers?",
    why="The two matrices change roles; with d_q = d_k nothing complains.",
    matrices="w_k, w_q",
)
exercise.option(
    "matrices_transposed",
    "Your matrices are transposed; where they are not square, this can raise an error.",
    "Which side of w_q has room for a query, the rows or the columns?",
    why="nn.Linear keeps its matrix as (out, in) and multiplies by its transpose.",
    matrices="w_qᵀ, w_kᵀ",
)
exercise.option(
    "row_added_to_same_row",
    "Your queries meet the keys row by row, query i key i; only a single query, or a "
    "single key, meets all.",
    "How many pairs of a query and a key are there, and which axis would tell "
    "them apart?",
    why="+ lines up equal positions; a pair needs an axis of length 1 on each side.",
    pairs="same rows",
)
exercise.option(
    "zip_for_two_loops",
    "Your query i meets key i and no other; all other scores are 0.",
    "Which keys should query 0 be scored against?",
    why="zip walks two lists in step; two nested loops visit every pair.",
    pairs="query i and key i",
)
exercise.option(
    "keys_pile_up",
    "Your keys pile up: score [i, j] holds keys 0 to j together.",
    "When the loop comes to the next key, what does your hidden layer still hold?",
    why="hidden += … in a loop changes the array that the next round starts from.",
    pairs="keys pile up",
)
exercise.option(
    "axes_counted_from_the_front",
    "Your new axes stand at positions 0 and 1, counted from the front.",
    "Where do these axes land when q and k come with a batch axis?",
    why="q[:, None, :] + k[None, :, :] is what write-ups without a batch show.",
    pairs="counted from the front",
)
exercise.option(
    "one_batch_axis_only",
    "Your new axes stand where they belong for exactly one batch axis.",
    "Where do these axes land when q and k come with no batch axis, or with two?",
    why="q[:, :, None] + k[:, None] is what code with a batch shows.",
    pairs="one batch axis",
)
exercise.option(
    "queries_and_keys_swapped",
    "Your table has one row per key and one column per query.",
    "Whose scores belong in row i?",
    why="The new axis of length 1 is put into the wrong one of the two.",
    pairs="keys down",
)
exercise.option(
    "v_ignored",
    "Your hidden layer is summed as it is: v is not in the scores.",
    "What would change in your scores if every entry of v were doubled?",
    why="'Turn the hidden layer into one number' is read as summing it.",
    read_by="the sum",
)
exercise.option(
    "largest_hidden_unit",
    "Your scores are the largest number of the hidden layer: v is not in them.",
    "What would change in your scores if every entry of v were doubled?",
    why="'Turn the hidden layer into one number' is read as a maximum.",
    read_by="the largest",
)
exercise.option(
    "signs_of_v_lost",
    "Your scores use v without its minus signs.",
    "May a hidden unit lower a score?",
    why="Weights are taken for shares, which are positive.",
    read_by="the size of v",
)
exercise.option(
    "divided_by_root_of_d_hidden",
    "Your numbers are divided by √d_hidden.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over.",
    divided_by="√d_hidden",
)
exercise.option(
    "divided_by_root_of_d_q",
    "Your numbers are divided by the root of a query's length, √d_q.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over.",
    divided_by="√d_q",
)
exercise.option(
    "divided_by_root_of_d_k",
    "Your numbers are divided by the root of a key's length, √d_k.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over.",
    divided_by="√d_k",
)
exercise.option(
    "mean_over_hidden",
    "Your numbers are means over the hidden layer.",
    "Does v · … add its products up, or average them?",
    why="mean(axis=-1) is written for sum(axis=-1).",
    divided_by="d_hidden",
)
exercise.option(
    "softmax_applied",
    "Your numbers are weights already: a softmax is applied to the scores.",
    "What does the function promise to return, scores or weights?",
    why="Bahdanau's paper gives the score and its softmax in one breath.",
    returned="weights",
)
exercise.option(
    "hidden_layer_returned",
    "Your result is the hidden layer: d_hidden numbers per pair.",
    "Which step makes one number of each hidden layer?",
    why="The last product, with v, is forgotten.",
    returned="hidden layer",
)
exercise.option(
    "last_axis_kept",
    "Your scores have an axis of length 1 too many at the end.",
    "Which shape does the docstring promise?",
    why="v is made a column for the product, and its axis stays.",
    returned="(…, n, m, 1)",
)
exercise.option(
    "arguments_reshaped",
    "Your call changes the shapes of q and k.",
    "Whose arrays are q and k, and what does assigning to .shape do to them?",
    why="q.shape = … changes the caller's array; q[..., None, :] makes a new view.",
    overwritten="shapes",
)
exercise.family(
    families.squeezed(),
    families.as_list(),
    families.in_place("q", lambda q, k, w_q, w_k, v: q @ w_q, where_it_fits=True),
    families.in_place("k", lambda q, k, w_q, w_k, v: k @ w_k, where_it_fits=True),
)
