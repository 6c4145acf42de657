"""Cases and misconceptions of ``bilinear_scores``."""

import numpy as np

from autograder import Exercise, families, standard_cases
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


inputs = exercise.inputs(n=5, m=7, d_q=4, d_k=6)


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


exercise.case("Each sequence of a batch is scored by itself", weight=3)(
    # With all sizes alike no wrong axis is noticed.
    standard_cases.leading_axes(
        inputs, (2,), dict(leading=(2, 3), d_k=8), dict(leading=(4,), alike=4)
    )
)


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


exercise.case("The queries, the keys and w are not modified", weight=0.5)(
    standard_cases.arguments_stay(
        inputs, dict(n=2, m=4, d_q=3, d_k=2, whole=(2, 9)), dict(alike=4)
    )
)


exercise.edits(
    """
w_transposed: q @ w -> q @ w.T
  Your w is used the other way round; where it is not square, this can raise an error.
  ? Which side of w has room for a query, the rows or the columns?
  # q wᵀ kᵀ, or (k w) in place of (w kᵀ); nothing complains where d_q = d_k.
w_ignored: q @ w -> q
  Your products are those of queries and keys: w is not in them; where d_k is not d_q,
    this can raise an error.
  ? What would change in your scores if every entry of w were doubled?
  # The dot product is written from memory; where d_q = d_k it still works.
diagonal_of_w_only: q @ w -> q @ (w * np.eye(*w.shape))
  Your numbers use the diagonal of w only: part c of a query meets part c of a key.
  ? Which entry of w says how much part 0 of a query asks for part 1 of a key?
  # One loop over the parts, with w[c, c] or w's diagonal as weights of a dot product.
w_symmetrised: q @ w -> q @ ((w + w.T) / 2)
  Your numbers use the mean of w and wᵀ; where w is not square, this can raise an
    error.
  ? Does part 0 of a query ask for part 1 of a key as much as part 1 for part 0?
  # A similarity is expected to be symmetric, as the dot product is.
w_on_both_sides: q @ w -> q @ w @ w.T
  Your queries and your keys both go through w; unless w is square, this can raise an
    error.
  ? How many matrices are between q_i and k_j in the formula?
  # Mixed up with attention that projects queries and keys with a matrix each.
w_twice: q @ w -> q @ w @ w
  Your queries go through w twice; where w is not square, this can raise an error.
  # q = q @ w stands in a cell or a loop that runs once more.
signs_of_w_lost: q @ w -> q @ np.abs(w)
  Your numbers use w without its minus signs.
  ? May a part of a query ask for less of a part of a key?
  # 'How much each part asks' is taken for numbers that are positive.
divided_by_root_of_d_k:
  | q @ w @ np.swapaxes(k, -1, -2) ->
  :     q @ w @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5
  Your numbers are divided by √d_k.
  ? Which score had a square root in its formula, and does this one?
  # The scale of dot-product attention is carried over.
divided_by_root_of_d_q:
  | q @ w @ np.swapaxes(k, -1, -2) ->
  :     q @ w @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
  Your numbers are divided by √d_q.
  # The scale of dot-product attention is carried over, with the query's length.
mean_of_products:
  | q @ w @ np.swapaxes(k, -1, -2) -> q @ w @ np.swapaxes(k, -1, -2) / k.shape[-1]
  Your numbers are divided by d_k: means of products, not sums.
  ? Does the formula divide by anything?
  # mean(axis=-1) is written for sum(axis=-1).
queries_and_keys_swapped:
  | q @ w @ np.swapaxes(k, -1, -2) -> k @ w.T @ np.swapaxes(q, -1, -2)
  Your table has one row per key and one column per query.
  ? Whose scores belong in row i?
  # The product is started from the keys: k wᵀ qᵀ.
keys_reshaped:
  | np.swapaxes(k, -1, -2) -> k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
  Your numbers mix parts of different keys: k is reshaped, not transposed.
  ? Does reshape move a column into a row, or only cut the numbers again?
  # reshape(d_k, m) has the shape of the transpose, with other numbers in it.
keys_not_transposed: np.swapaxes(k, -1, -2) -> k
  Your keys stay rows in the last product: where that does not stop, a query meets
    columns of k.
  ? Which axes does `@` pair, and does each key lie along that axis of k?
  # The ᵀ of q w kᵀ gets lost; with as many keys as d_k nothing complains.
all_axes_transposed: np.swapaxes(k, -1, -2) -> k.T
  Your scores of one sequence are right; a batch does not fit, or the product mixes
    its sequences.
  ? Which two axes of k have to be swapped, and what does .T do with three axes?
  # .T is right for a single sequence and reverses every axis of a batch.
first_two_axes_swapped: -1, -2 -> 0, 1
  Your k has axes 0 and 1 swapped: these are rows and columns in a single table only.
  ? Which axes hold the rows and the columns with a batch in front?
  # np.swapaxes(k, 0, 1) is a transpose until a batch comes.
three_axes_only: np.swapaxes(k, -1, -2) -> k.transpose(0, 2, 1)
  Your transposition names exactly three axes, so it raises an error with two or four.
  ? How do you name the last two axes, however many come before them?
  # k.transpose(0, 2, 1) is copied from code that always has one batch axis.
same_query_and_key_only: q @ w @ np.swapaxes(k, -1, -2) -> (q @ w * k).sum(axis=-1)
  Your query i meets key i only, or a single query all keys: your result has one
    number per row, and is no table.
  ? How many keys should each query be scored against?
  # (q @ w * k).sum(-1) is a dot product, and pairs rows at equal positions.
products_not_summed: @ np.swapaxes(k, -1, -2) -> * k
  Your products are not summed, and query i meets key i only.
  ? How many numbers belong to a query and a key, and which step makes one of them?
  # `*` is written for `@`; in NumPy it multiplies number by number.
every_sequence_with_every_other: q @ w @ np.swapaxes(k, -1, -2) -> np.inner(q @ w, k)
  Your queries of one sequence also meet the keys of all others: the batch's axes
    occur twice.
  ? Which keys should a query of sequence 0 be scored against?
  # np.dot, np.inner and np.tensordot pair all rows of one array with all of the
    other.
softmax_applied:
  | q @ w @ np.swapaxes(k, -1, -2) -> softmax(q @ w @ np.swapaxes(k, -1, -2))
  Your numbers are weights already: a softmax is applied to the scores.
  ? What does the function promise to return, scores or weights?
  # Luong's paper writes the weights first, with the score inside their softmax.
tanh_applied: q @ w @ np.swapaxes(k, -1, -2) -> np.tanh(q @ w @ np.swapaxes(k, -1, -2))
  Your numbers went through a tanh: all lie between −1 and 1.
  ? Which of the course's scores has an activation, and which has only products?
  # Taken over from the additive score; some papers do write tanh(q w kᵀ).
cosine_after_w:
  | return q … ->
  :     asked = q @ w
  :     asked = asked / np.linalg.norm(asked, axis=-1, keepdims=True)
  :     k = k / np.linalg.norm(k, axis=-1, keepdims=True)
  :     return asked @ np.swapaxes(k, -1, -2)
  Your numbers are cosines: lengths are divided away.
  ? Does the formula divide by anything, and what becomes of a query of zeros?
  # A score is taken for a similarity between −1 and 1.
absolute_scores:
  | q @ w @ np.swapaxes(k, -1, -2) -> np.abs(q @ w @ np.swapaxes(k, -1, -2))
  Your scores have lost their minus signs.
  ? What does a score below 0 say about a query and a key?
  # A match is expected to be a positive number.
positive_scores_only:
  | q @ w @ np.swapaxes(k, -1, -2) -> np.maximum(q @ w @ np.swapaxes(k, -1, -2), 0)
  Your scores below 0 became 0.
  # A ReLU is put behind each product, as in a network.
sign_flipped: q @ w -> -q @ w
  Your scores have the opposite sign.
  ? Should a key that a query asks for get a large score or a small one?
  # A score is taken for a cost, or for an energy.
projected_queries_returned: q @ w @ np.swapaxes(k, -1, -2) -> q @ w
  Your result has one row per query, and keys are not in it.
  ? Which step brings the keys in?
  # q @ w is written, and the product with the keys is forgotten.
keys_overwritten:
  | return q … ->
  :     asked = q @ w
  :     rows = []
  :     for i in range(q.shape[-2]):
  :         k *= asked[..., i:i + 1, :]
  :         rows.append(k.sum(axis=-1))
  :     return np.stack(rows, axis=-2)
  Your rows after the first hold keys that earlier queries changed: k is written over.
  ? Where a row taken out of k is multiplied in place, whose numbers change?
  # A row of an array is a view; *= on it writes into the caller's keys.
roles_changed: q @ w @ np.swapaxes(k, -1, -2) -> k @ w @ np.swapaxes(q, -1, -2)
  Your queries and keys have changed roles: your entry [i, j] is key i times w times
    query j; where d_q is not d_k, this raises an error.
  ? Which vector stands to the left of w in the formula?
  # k @ w @ q.T reads like q @ w @ k.T.
keys_through_w_too: np.swapaxes(k, -1, -2) -> np.swapaxes(k @ w, -1, -2)
  Your keys go through w as well as your queries; where d_k is not d_q, this can raise
    an error.
  ? How often does w stand in the formula for one score?
  # Queries and keys are both projected in most pictures of attention.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
    families.in_place("q", lambda q, k, w: q @ w, where_it_fits=True),
    families.in_place("k", lambda q, k, w: k @ w.T, where_it_fits=True),
)
