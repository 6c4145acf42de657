"""Cases and misconceptions of ``additive_scores``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import additive_scores, softmax

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


@exercise.case("Where each tanh is −1, 0 or 1, the scores are these whole numbers")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    k = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, -2.0], [-1.0, 0.0]])
    w_q = np.array([[20.0, 0.0], [0.0, -20.0], [0.0, 20.0]])  # q w_q: 20 40 | 0 −40
    w_k = np.array([[-20.0, 20.0], [40.0, 0.0]])  # −20 20 | 0 0 | −80 0 | 20 −20
    v = np.array([3.0, 5.0])
    expected = np.array([[5.0, 8.0, 2.0, 8.0], [-8.0, -5.0, -8.0, -2.0]])
    student.expect(student(q, k, w_q, w_k, v), expected)


@exercise.case("Entry [i, j] is v · tanh(q_i w_q + k_j w_k)")
def small_network_for_each_pair(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("Queries and keys of the same size still have a matrix each")
def one_matrix_each(student, rng):
    student.agrees(*inputs(rng, d_q=4, d_k=4))


@exercise.case("A batch of sequences is scored sequence by sequence")
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), d_hidden=9))


@exercise.case("One query against six keys gives a table of one row")
def one_query(student, rng):
    student.agrees(*inputs(rng, n=1, m=6, d_hidden=5))


@exercise.case("A query of 10,000 next to a query of zeros is scored", visible=False)
def large_next_to_zero(student, rng):
    # Both signs in w_q: each way of writing a tanh that overflows does so in a row.
    _, k, _, w_k, v = inputs(rng, d_hidden=4)
    student.agrees(
        np.array([[1e4], [0.0], [-1e4]]), k, np.array([[1.0, -2.0, 0.5, -1.0]]), w_k, v
    )


@exercise.case("The queries, keys and parameters stay as they are")
def arguments_stay(student, rng):
    sizes = ((2, 3), (4, 2), (3, 5), (2, 5), 5)
    drawn = (rng.integers(1, 9, size=size).astype(float) for size in sizes)
    student.leaves_unchanged(*drawn)


@exercise.case(
    "With v times −3 each score is −3 times what it was",
    visible=False,
    pays_alone=False,
)
def scores_follow_v(student, rng):
    q, k, w_q, w_k, v = inputs(rng)
    before = student(q, k, w_q, w_k, v)
    after = student(q, k, w_q, w_k, -3.0 * v)
    student.expect(after, -3.0 * before, what="the scores after the change")


def projected(q, k, w_q, w_k):
    """Return both projections with the pairs' axes: (…, n, 1, h) and (…, 1, m, h)."""
    return (q @ w_q)[..., :, np.newaxis, :], (k @ w_k)[..., np.newaxis, :, :]


@exercise.misconception(
    "Your numbers are v · (q_i w_q + k_j w_k): there is no tanh in them.",
    "What makes this a small network, and not the sum of one number per query and one "
    "number per key?",
    why="The nonlinearity gets lost between the two matrix products; without it every "
    "query has the same preferences.",
)
def no_tanh(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return (mine + theirs) @ v


@exercise.misconception(
    "Your numbers are v · (tanh(q_i w_q) + tanh(k_j w_k)): each side has a tanh of its "
    "own.",
    "Which comes first in the formula, the sum or the tanh?",
    why="Both projections are written as complete layers, each with its activation.",
)
def tanh_before_the_sum(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return (np.tanh(mine) + np.tanh(theirs)) @ v


@exercise.misconception(
    "Your numbers are tanh(v · (q_i w_q + k_j w_k)): the product with v happens inside "
    "the tanh.",
    "How many numbers go through the tanh for each pair, one or d_hidden?",
    why="The brackets of v · tanh(…) are read the wrong way round.",
)
def v_before_the_tanh(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return np.tanh((mine + theirs) @ v)


@exercise.misconception(
    "Your numbers went through a second tanh at the end: all lie between −1 and 1.",
    "Which layer of this network has an activation, and which has none?",
    why="Each layer is given an activation, the last one too.",
)
def tanh_of_the_score(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return np.tanh(np.tanh(mine + theirs) @ v)


@exercise.misconception(
    "Your hidden layer is a sigmoid of the sum.",
    "Which range does the activation of the formula have, and is it centred on 0?",
    why="The sigmoid is the activation that people met first.",
)
def sigmoid_for_tanh(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return 1 / (1 + np.exp(-(mine + theirs))) @ v


@exercise.misconception(
    "Your hidden layer is a ReLU of the sum: what is negative became 0.",
    "Which activation does the formula name, and what does it do with negative sums?",
    why="ReLU is the usual choice in today's networks.",
)
def relu_for_tanh(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return np.maximum(mine + theirs, 0) @ v


@exercise.misconception(
    "Your keys went through w_q, as your queries did.",
    "What is w_k for, and what happens where a key is shorter than a query?",
    why="In the example at hand d_q = d_k, so one matrix fits both.",
)
def one_matrix_for_both(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_q)
    return np.tanh(mine + theirs) @ v


@exercise.misconception(
    "Your code adds row i of the projected queries to row i of the projected keys.",
    "How many pairs of a query and a key are there, and which axis would tell them "
    "apart?",
    why="+ lines up equal positions; a pair needs an axis of length 1 on each side.",
)
def row_added_to_same_row(q, k, w_q, w_k, v):
    return np.tanh(q @ w_q + k @ w_k) @ v


@exercise.misconception(
    "Your table is filled on its diagonal only: query i meets key i and no other.",
    "Which keys should query 0 be scored against?",
    why="zip walks two lists in step; two nested loops visit every pair.",
)
def zip_for_two_loops(q, k, w_q, w_k, v):
    scores = np.zeros((*q.shape[:-1], k.shape[-2]))
    for i, j in zip(range(q.shape[-2]), range(k.shape[-2]), strict=False):
        hidden = q[..., i, :] @ w_q + k[..., j, :] @ w_k
        scores[..., i, j] = np.tanh(hidden) @ v
    return scores


@exercise.misconception(
    "In your numbers the keys pile up: score [i, j] holds keys 0 to j together.",
    "When the loop comes to the next key, what does your hidden layer still hold?",
    why="hidden += … in a loop changes the array that the next round starts from.",
)
def keys_pile_up(q, k, w_q, w_k, v):
    hidden = q @ w_q
    columns = []
    for j in range(k.shape[-2]):
        hidden += (k[..., j, :] @ w_k)[..., np.newaxis, :]
        columns.append(np.tanh(hidden) @ v)
    return np.stack(columns, axis=-1)


@exercise.misconception(
    "Your code inserts the new axes at positions 0 and 1, counted from the front.",
    "Where do these axes land when q and k come with a batch axis?",
    why="q[:, None, :] + k[None, :, :] is what write-ups without a batch show.",
)
def axes_counted_from_the_front(q, k, w_q, w_k, v):
    return np.tanh((q @ w_q)[:, np.newaxis] + (k @ w_k)[np.newaxis]) @ v


@exercise.misconception(
    "Your table has one row per key and one column per query.",
    "Whose scores belong in row i?",
    why="The new axis of length 1 is put into the wrong one of the two.",
)
def queries_and_keys_swapped(q, k, w_q, w_k, v):
    mine = (q @ w_q)[..., np.newaxis, :, :]
    theirs = (k @ w_k)[..., :, np.newaxis, :]
    return np.tanh(mine + theirs) @ v


@exercise.misconception(
    "Your numbers are weights already: a softmax made each row sum to 1.",
    "What does the function promise to return, scores or weights?",
    why="Bahdanau's paper gives the score and its softmax in one breath.",
)
def softmax_applied(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return softmax(np.tanh(mine + theirs) @ v)


@exercise.misconception(
    "Your numbers are the scores divided by √d_hidden.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over.",
)
def divided_by_root_of_d_hidden(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return np.tanh(mine + theirs) @ v / math.sqrt(len(v))


@exercise.misconception(
    "Your numbers are means over the hidden layer.",
    "Does v · … add its products up, or average them?",
    why="mean(axis=-1) is written for sum(axis=-1).",
)
def mean_over_hidden(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return (np.tanh(mine + theirs) * v).mean(axis=-1)


@exercise.misconception(
    "Your numbers are plain sums over the hidden layer: v is not in them.",
    "What would change in your scores if every entry of v were doubled?",
    why="'Turn the hidden layer into one number' is read as summing it.",
)
def v_ignored(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return np.tanh(mine + theirs).sum(axis=-1)


@exercise.misconception(
    "Your table loses each axis of length 1, not only the one you meant.",
    "Which axis did you want to drop, and what if there is only one query?",
    why="v is made a column, and squeeze() without an axis is meant to undo it.",
)
def every_axis_of_one_dropped(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    return (np.tanh(mine + theirs) @ v[:, np.newaxis]).squeeze()


@exercise.misconception(
    "Your scores are not numbers where the hidden layer is large: your tanh divides "
    "infinity by infinity.",
    "How large is the largest power of e in your tanh, and who has written a tanh that "
    "avoids it?",
    why="The textbook formula of tanh, taken literally: (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ).",
)
def tanh_that_overflows(q, k, w_q, w_k, v):
    mine, theirs = projected(q, k, w_q, w_k)
    squared = np.exp(2 * (mine + theirs))
    return (squared - 1) / (squared + 1) @ v


@exercise.misconception(
    "Your scores are right, but q and k have another shape after the call.",
    "Whose arrays are q and k, and what does assigning to .shape do to them?",
    why="q.shape = … changes the caller's array; q[..., None, :] makes a new view.",
)
def arguments_reshaped(q, k, w_q, w_k, v):
    q.shape = (*q.shape[:-1], 1, q.shape[-1])
    k.shape = (*k.shape[:-2], 1, *k.shape[-2:])
    return np.tanh(q @ w_q + k @ w_k) @ v
