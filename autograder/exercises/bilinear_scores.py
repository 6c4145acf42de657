"""Cases and misconceptions of ``bilinear_scores``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.attention import bilinear_scores

exercise = Exercise(
    bilinear_scores,
    lesson="01_dot_product_attention",
    minutes=8,
    difficulty=2,
    library=(
        "torch.nn.functional.bilinear",
        "torch.nn.Bilinear",
    ),
)


@exercise.spec
def spec(q, k, w):
    *leading, n, d_q = q.shape
    m, d_k = k.shape[-2:]
    scores = np.empty((*leading, n, m))
    for index in np.ndindex(*leading, n, m):
        *batch, i, j = index
        total = 0.0
        for a in range(d_q):
            for b in range(d_k):
                pair = float(q[*batch, i, a]) * float(k[*batch, j, b])
                total += float(w[a, b]) * pair
        scores[index] = total
    return scores


def inputs(rng, leading=(), n=5, m=7, d_q=4, d_k=6):
    """Draw q, k and w."""
    return (
        rng.normal(size=(*leading, n, d_q)),
        rng.normal(size=(*leading, m, d_k)),
        rng.normal(size=(d_q, d_k)),
    )


@exercise.usual
def usual(rng):
    # Encoder and decoder mostly have one size: there a wrong use of w makes no noise.
    return inputs(rng, leading=(2,), d_q=4, d_k=4)


@exercise.case("Two queries and three keys, all of size 2, give these six scores")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 2.0], [0.0, 3.0]])
    k = np.array([[4.0, 0.0], [1.0, 1.0], [0.0, -2.0]])
    w = np.array([[1.0, 2.0], [-1.0, 5.0]])  # q w: −1 12 | −3 15
    expected = np.array([[-4.0, 11.0, -24.0], [-12.0, 12.0, -30.0]])
    student.expect(student(q, k, w), expected)


@exercise.case("Queries and keys that differ in size are scored: [i, j] is q_i w k_j")
def different_sizes(student, rng):
    student.agrees(*inputs(rng))


@exercise.case(
    "For queries and keys with a single 1 each, the scores are entries of w",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def entries_of_w(student, rng):
    q, k = np.eye(4)[[3, 1, 0]], np.eye(3)[[2, 0]]
    w = np.arange(1.0, 13.0).reshape(4, 3)
    student.expect(student(q, k, w), np.array([[12.0, 10.0], [6.0, 4.0], [3.0, 1.0]]))
    w = rng.normal(size=(4, 3))
    student.expect(student(q, k, w), w[[3, 1, 0]][:, [2, 0]])


@exercise.case("Each sequence of a batch is scored by itself", weight=3)
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2,)))
    student.agrees(*inputs(rng, leading=(2, 3), d_k=8))
    # With all sizes alike no wrong axis is noticed.
    student.agrees(*inputs(rng, leading=(4,), n=4, m=4, d_q=4, d_k=4))


@exercise.case(
    "One query against eight keys gives the right table of one row", weight=0.5
)
def one_query(student, rng):
    student.agrees(*inputs(rng, n=1, m=8))


@exercise.case(
    "A query of zeros scores 0 next to a large query",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def zero_next_to_large(student, rng):
    q, k, w = inputs(rng, n=2)
    scores = student(q * [[0.0], [1e4]], k, w)
    student.expect(scores[0], np.zeros(7), what="the row of the zeros")


@exercise.case("The queries, the keys and w are not modified", weight=0.5)
def arguments_stay(student, rng):
    q, k, w = (rng.integers(2, 9, size=size) for size in ((2, 3), (4, 2), (3, 2)))
    student.leaves_unchanged(q.astype(float), k.astype(float), w.astype(float))
    # With all sizes alike each product fits into an argument.
    student.leaves_unchanged(*inputs(rng, n=4, m=4, d_q=4, d_k=4))


@exercise.variants
def variants(
    q,
    k,
    w,
    *,
    roles="q, k",
    turned="last two axes",
    parameters="w",
    pairs="all",
    scale="none",
    returned="scores",
    overwritten="nothing",
):
    d_q, d_k, keys = q.shape[-1], k.shape[-1], k
    if roles == "k, q":
        q, k = k, q
        w = w.T
    elif roles == "k, q, with w as it is":
        q, k = k, q
    w = {
        "w": lambda: w,
        "wᵀ": lambda: w.T,
        "none": lambda: np.eye(len(w)),
        "w wᵀ": lambda: w @ w.T,
        "w w": lambda: w @ w,
        "diagonal": lambda: w * np.eye(*w.shape),
        "(w + wᵀ) / 2": lambda: (w + w.T) / 2,
        "sizes": lambda: np.abs(w),
    }.get(parameters, lambda: w)()
    asked = q @ w
    if parameters == "w, on both sides":
        k = k @ w
    if returned == "cosines":
        asked = asked / np.linalg.norm(asked, axis=-1, keepdims=True)
        k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    turn = {
        "all axes": lambda: k.T,
        "first two axes": lambda: np.swapaxes(k, 0, 1),
        "three axes": lambda: k.transpose(0, 2, 1),
        "read anew": lambda: k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]),
        "none": lambda: k,
    }
    if overwritten == "k, query by query":
        asked = np.cumprod(asked, axis=-2)
    if pairs == "same rows":
        scores = (asked * k).sum(axis=-1)
    elif pairs == "number by number":
        scores = asked * k
    elif pairs == "every sequence with every other":
        scores = np.inner(asked, k)
    else:
        scores = asked @ turn.get(turned, lambda: np.swapaxes(k, -1, -2))()
    if overwritten == "k, query by query":
        keys *= asked[..., -1:, :]
    divisor = {"√d_k": math.sqrt(d_k), "√d_q": math.sqrt(d_q), "d_k": d_k}
    scores = scores / divisor.get(scale, 1)
    if returned == "weights":
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)
    after = {"tanh": np.tanh, "sizes": np.abs, "at least 0": lambda s: np.maximum(s, 0)}
    after |= {"queries": lambda _: asked, "negative": np.negative}
    return after.get(returned, lambda scores: scores)(scores)


exercise.option(
    "w_transposed",
    "Your w is used the other way round; where it is not square, this can raise an "
    "error.",
    "Which side of w has room for a query, the rows or the columns?",
    why="q wᵀ kᵀ, or (k w) in place of (w kᵀ); nothing complains where d_q = d_k.",
    parameters="wᵀ",
)
exercise.option(
    "w_ignored",
    "Your products are those of queries and keys: w is not in them; where d_k is not "
    "d_q, this can raise an error.",
    "What would change in your scores if every entry of w were doubled?",
    why="The dot product is written from memory; where d_q = d_k it still works.",
    parameters="none",
)
exercise.option(
    "diagonal_of_w_only",
    "Your numbers use the diagonal of w only: part c of a query meets part c of a key.",
    "Which entry of w says how much part 0 of a query asks for part 1 of a key?",
    why="One loop over the parts, with w[c, c] or w's diagonal as weights of a "
    "dot product.",
    parameters="diagonal",
)
exercise.option(
    "w_symmetrised",
    "Your numbers use the mean of w and wᵀ; where w is not square, this can raise an "
    "error.",
    "Does part 0 of a query ask for part 1 of a key as much as part 1 for part 0?",
    why="A similarity is expected to be symmetric, as the dot product is.",
    parameters="(w + wᵀ) / 2",
)
exercise.option(
    "w_on_both_sides",
    "Your queries and your keys both go through w; unless w is square, this can raise "
    "an error.",
    "How many matrices are between q_i and k_j in the formula?",
    why="Mixed up with attention that projects queries and keys with a matrix each.",
    parameters="w wᵀ",
)
exercise.option(
    "w_twice",
    "Your queries go through w twice; where w is not square, this can raise an error.",
    "How many matrices are between q_i and k_j in the formula?",
    why="q = q @ w stands in a cell or a loop that runs once more.",
    parameters="w w",
)
exercise.option(
    "signs_of_w_lost",
    "Your numbers use w without its minus signs.",
    "May a part of a query ask for less of a part of a key?",
    why="'How much each part asks' is taken for numbers that are positive.",
    parameters="sizes",
)
exercise.option(
    "divided_by_root_of_d_k",
    "Your numbers are divided by √d_k.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over.",
    scale="√d_k",
)
exercise.option(
    "divided_by_root_of_d_q",
    "Your numbers are divided by √d_q.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over, with the query's length.",
    scale="√d_q",
)
exercise.option(
    "mean_of_products",
    "Your numbers are divided by d_k: means of products, not sums.",
    "Does the formula divide by anything?",
    why="mean(axis=-1) is written for sum(axis=-1).",
    scale="d_k",
)
exercise.option(
    "queries_and_keys_swapped",
    "Your table has one row per key and one column per query.",
    "Whose scores belong in row i?",
    why="The product is started from the keys: k wᵀ qᵀ.",
    roles="k, q",
)
exercise.option(
    "keys_reshaped",
    "Your numbers mix parts of different keys: k is reshaped, not transposed.",
    "Does reshape move a column into a row, or only cut the numbers again?",
    why="reshape(d_k, m) has the shape of the transpose, with other numbers in it.",
    turned="read anew",
)
exercise.option(
    "keys_not_transposed",
    "Your keys stay rows in the last product: where that does not stop, a query "
    "meets columns of k.",
    "Which axes does `@` pair, and does each key lie along that axis of k?",
    why="The ᵀ of q w kᵀ gets lost; with as many keys as d_k nothing complains.",
    turned="none",
)
exercise.option(
    "all_axes_transposed",
    "Your scores of one sequence are right; a batch does not fit, or the product mixes "
    "its sequences.",
    "Which two axes of k have to be swapped, and what does .T do with three axes?",
    why=".T is right for a single sequence and reverses every axis of a batch.",
    turned="all axes",
)
exercise.option(
    "first_two_axes_swapped",
    "Your k has axes 0 and 1 swapped: these are rows and columns in a single "
    "table only.",
    "Which axes hold the rows and the columns with a batch in front?",
    why="np.swapaxes(k, 0, 1) is a transpose until a batch comes.",
    turned="first two axes",
)
exercise.option(
    "three_axes_only",
    "Your transposition names exactly three axes, so it raises an error with two or "
    "four.",
    "How do you name the last two axes, however many come before them?",
    why="k.transpose(0, 2, 1) is copied from code that always has one batch axis.",
    turned="three axes",
)
exercise.option(
    "same_query_and_key_only",
    "Your query i meets key i only, or a single query all keys: your result has one "
    "number per row, and is no table.",
    "How many keys should each query be scored against?",
    why="(q @ w * k).sum(-1) is a dot product, and pairs rows at equal positions.",
    pairs="same rows",
)
exercise.option(
    "products_not_summed",
    "Your products are not summed, and query i meets key i only.",
    "How many numbers belong to a query and a key, and which step makes one of them?",
    why="`*` is written for `@`; in NumPy it multiplies number by number.",
    pairs="number by number",
)
exercise.option(
    "every_sequence_with_every_other",
    "Your queries of one sequence also meet the keys of all others: the batch's "
    "axes occur twice.",
    "Which keys should a query of sequence 0 be scored against?",
    why="np.dot, np.inner and np.tensordot pair all rows of one array with all "
    "of the other.",
    pairs="every sequence with every other",
)
exercise.option(
    "softmax_applied",
    "Your numbers are weights already: a softmax is applied to the scores.",
    "What does the function promise to return, scores or weights?",
    why="Luong's paper writes the weights first, with the score inside their softmax.",
    returned="weights",
)
exercise.option(
    "tanh_applied",
    "Your numbers went through a tanh: all lie between −1 and 1.",
    "Which of the course's scores has an activation, and which has only products?",
    why="Taken over from the additive score; some papers do write tanh(q w kᵀ).",
    returned="tanh",
)
exercise.option(
    "cosine_after_w",
    "Your numbers are cosines: lengths are divided away.",
    "Does the formula divide by anything, and what becomes of a query of zeros?",
    why="A score is taken for a similarity between −1 and 1.",
    returned="cosines",
)
exercise.option(
    "absolute_scores",
    "Your scores have lost their minus signs.",
    "What does a score below 0 say about a query and a key?",
    why="A match is expected to be a positive number.",
    returned="sizes",
)
exercise.option(
    "positive_scores_only",
    "Your scores below 0 became 0.",
    "What does a score below 0 say about a query and a key?",
    why="A ReLU is put behind each product, as in a network.",
    returned="at least 0",
)
exercise.option(
    "sign_flipped",
    "Your scores have the opposite sign.",
    "Should a key that a query asks for get a large score or a small one?",
    why="A score is taken for a cost, or for an energy.",
    returned="negative",
)
exercise.option(
    "projected_queries_returned",
    "Your result has one row per query, and keys are not in it.",
    "Which step brings the keys in?",
    why="q @ w is written, and the product with the keys is forgotten.",
    returned="queries",
)
exercise.option(
    "keys_overwritten",
    "Your rows after the first hold keys that earlier queries changed: k is "
    "written over.",
    "Where a row taken out of k is multiplied in place, whose numbers change?",
    why="A row of an array is a view; *= on it writes into the caller's keys.",
    overwritten="k, query by query",
)
exercise.option(
    "roles_changed",
    "Your queries and keys have changed roles: your entry [i, j] is key i times w "
    "times query j; where d_q is not d_k, this raises an error.",
    "Which vector stands to the left of w in the formula?",
    why="k @ w @ q.T reads like q @ w @ k.T.",
    roles="k, q, with w as it is",
)
exercise.option(
    "keys_through_w_too",
    "Your keys go through w as well as your queries; where d_k is not d_q, this can "
    "raise an error.",
    "How often does w stand in the formula for one score?",
    why="Queries and keys are both projected in most pictures of attention.",
    parameters="w, on both sides",
)
exercise.family(
    families.squeezed(),
    families.as_list(),
    families.in_place("q", lambda q, k, w: q @ w, where_it_fits=True),
    families.in_place("k", lambda q, k, w: k @ w.T, where_it_fits=True),
)
