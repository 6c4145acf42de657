"""Cases and misconceptions of ``luong_score``."""

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.sequence_to_sequence import luong_score

exercise = Exercise(
    luong_score,
    lesson="08_sequence_to_sequence",
    minutes=10,
    difficulty=1,
    library=(
        "torch.nn.functional.bilinear",
        "torch.nn.Bilinear",
        "course_lib.nn.recurrent.MultiplicativeAttention",
    ),
)


@exercise.spec
def spec(state, keys, kind, w=None):
    if kind == "dot" and w is not None:
        raise ValueError("w is for general only")
    if kind == "general" and w is None:
        raise ValueError("general needs w")
    if kind not in ("dot", "general"):
        raise ValueError("kind is dot or general")
    *leading, m, d_k = keys.shape
    scores = keys.new_zeros(*leading, m)
    matrix = np.eye(d_k) if w is None else w.numpy().astype(float)
    state, keys = state.numpy().astype(float), keys.numpy().astype(float)
    for index in np.ndindex(*leading, m):
        *batch, _ = index
        total = 0.0
        for c in range(state.shape[-1]):
            for b in range(d_k):
                total += state[*batch, c] * matrix[c, b] * keys[*index, b]
        scores[index] = total
    return scores


def drawn(rng, *shape):
    """Draw a tensor of float32."""
    return torch.from_numpy(rng.normal(size=shape)).float()


def inputs(rng, leading=(), m=7, d_h=3, d_k=4):
    """Draw a state, keys, the word general and w."""
    state, keys = drawn(rng, *leading, d_h), drawn(rng, *leading, m, d_k)
    return state, keys, "general", drawn(rng, d_h, d_k)


@exercise.usual
def usual(rng):
    return inputs(rng, leading=(2, 3))


@exercise.case(
    "A state scores three source tokens like this, by dot and by general", weight=0.5
)
def small_example_by_hand(student, rng):
    state = torch.tensor([1.0, 2.0])
    keys = torch.tensor([[3.0, 0.0], [0.0, 5.0], [-1.0, 4.0]])
    student.expect(student(state, keys, "dot"), torch.tensor([3.0, 10.0, 7.0]))
    w = torch.tensor([[1.0, 2.0], [0.0, 3.0]])  # state w = (1, 8)
    result = student(state, keys, "general", w)
    student.expect(result, torch.tensor([3.0, 40.0, 31.0]))


@exercise.case("With `general`, states and keys may be of different sizes", weight=0.5)
def general_with_two_sizes(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("A batch is scored source by source", weight=4)
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), m=5))
    for leading in ((3,), (4,), (2, 3)):
        student.agrees(drawn(rng, *leading, 4), drawn(rng, *leading, 5, 4), "dot")
    student.agrees(*inputs(rng, leading=(3,), m=5))
    student.agrees(*inputs(rng, leading=(5,), m=5))


@exercise.case(
    "One source token in a batch of one gives a score of shape (1, 1)", weight=0.5
)
def sizes_of_one(student, rng):
    student.agrees(*inputs(rng, leading=(1,), m=1))


@exercise.case(
    "Twice the state gives twice the scores",
    visible=False,
    pays_alone=False,
)
def scores_follow_the_state(student, rng):
    state, keys, kind, w = inputs(rng, leading=(3,), m=5)
    before = student(state, keys, kind, w)
    after = student(2 * state, keys, kind, w)
    student.expect(after, 2 * before, what="the scores after the change")


@exercise.case("The state, the keys and w are not modified", weight=1)
def arguments_stay(student, rng):
    student.leaves_unchanged(*inputs(rng, m=2))


@exercise.variants
def variants(
    state,
    keys,
    kind,
    w=None,
    *,
    w_is="w",
    score="product",
    axis=-1,
    query_axis=-2,
    shape="(..., m)",
    keys_after="as before",
):
    uses_w = kind == "general"
    if uses_w and w_is != "left out":
        query = state @ (w.T if w_is == "transposed" else w)
    else:
        query = state
    if query_axis == "of one batch":
        return keys.bmm(query.unsqueeze(2)).squeeze(2)
    wide = query if query_axis is None else query.unsqueeze(query_axis)
    products = keys * wide
    if keys_after == "products":
        keys *= wide
    if shape == "(..., m, d_k)":
        return products
    scores = products.sum(dim=axis)
    d_k = keys.shape[-1]
    lengths = keys.norm(dim=-1) * query.norm(dim=-1, keepdim=True)
    scores = {
        "product": lambda: scores,
        "by √d_k": lambda: scores / d_k**0.5,
        "dot by √d_k": lambda: scores if uses_w else scores / d_k**0.5,
        "by √d_h": lambda: scores / state.shape[-1] ** 0.5,
        "mean": lambda: scores / d_k,
        "cosine": lambda: scores / lengths,
        "tanh": lambda: torch.tanh(scores),
        "softmax": lambda: (scores - scores.logsumexp(dim=-1, keepdim=True)).exp(),
    }[score]()
    if shape == "(m,)":
        scores = scores.reshape(-1, scores.shape[-1]).sum(dim=0)
    return scores.unsqueeze(-1) if shape == "(..., m, 1)" else scores


exercise.option(
    "w_transposed",
    "Your w is applied the other way round: as if wᵀ had been given.",
    "Which of w's two axes has the size of the state?",
    why="nn.Linear stores the transpose, and with d_h = d_k nothing complains.",
    w_is="transposed",
)
exercise.option(
    "w_ignored",
    "Your numbers for `general` do not depend on w.",
    "What would change in your scores if w were doubled?",
    why="Both branches end in the same product, and w is left out of one.",
    w_is="left out",
)
exercise.option(
    "divided_by_root_of_d_k",
    "Your scores are divided by √d_k.",
    "Which of the papers divides by a square root, and does this function's docstring?",
    why="Scaling came with the Transformer, two years after Luong's paper.",
    score="by √d_k",
)
exercise.option(
    "dot_divided_by_root_of_d_k",
    "Your scores are divided by √d_k for dot, and not for general.",
    "Which of the papers divides by a square root, and does this function's docstring?",
    why="'Scaled dot product' is one name; general seems to have its scale in w.",
    score="dot by √d_k",
)
exercise.option(
    "divided_by_root_of_d_h",
    "Your scores are divided by √d_h.",
    "Which of the papers divides by a square root, and does this function's docstring?",
    why="Scaling came with the Transformer, and d_h is the size of the query.",
    score="by √d_h",
)
exercise.option(
    "mean_of_products",
    "Your numbers are means of products, not sums.",
    "Does a dot product add its products up, or average them?",
    why="mean(dim=-1) stands where sum(dim=-1) should.",
    score="mean",
)
exercise.option(
    "cosines",
    "Your numbers are cosines: the lengths of the two vectors are divided out.",
    "If a key is twice as long, what should its score be?",
    why="'How well do the two vectors fit' is read as a similarity from −1 to 1.",
    score="cosine",
)
exercise.option(
    "tanh_applied",
    "Your scores went through a tanh: all lie between −1 and 1.",
    "Which of Luong's three scores has a tanh in it?",
    why="The third of the paper, concat, has one.",
    score="tanh",
)
exercise.option(
    "softmax_applied",
    "Your numbers are weights already: each row sums to 1.",
    "What does the function promise to return, scores or weights?",
    why="Equation 7 of the paper is score and softmax in one.",
    score="softmax",
)
exercise.option(
    "axis_counted_from_the_front",
    "Your sum runs along axis 2, counted from the front: that holds the numbers of a "
    "key only where one batch axis stands before.",
    "From which end should an axis be counted if any number of axes may stand before?",
    why="sum(dim=2) is what tutorials with a batch show: bentrevett/pytorch-seq2seq, "
    "issue 90.",
    axis=2,
)
exercise.option(
    "axis_one",
    "Your sum runs along axis 1: that holds the numbers of a key only without a batch.",
    "From which end should an axis be counted if any number of axes may stand before?",
    why="sum(dim=1) is right for a table of keys.",
    axis=1,
)
exercise.option(
    "summed_over_the_source",
    "Your numbers are sums over the source tokens: one for each number of a key.",
    "How many scores has a source token, and how many source tokens has a score?",
    why="dim=-2 and dim=-1 are mixed up.",
    axis=-2,
)
exercise.option(
    "state_without_axis",
    "In a batch, your states meet keys that are not their own, or the shapes do not "
    "fit.",
    "Which axis of the keys does the state lack?",
    why="keys * state is right for one state: each row is multiplied by it.",
    query_axis=None,
)
exercise.option(
    "state_axis_counted_from_the_front",
    "Your state gets its new axis at position 1: that is right for one batch axis, and "
    "for no other number of them.",
    "From which end is the axis of the source tokens counted in the docstring?",
    why="unsqueeze(1) is what tutorials with a batch show.",
    query_axis=1,
)
exercise.option(
    "one_batch_axis_only",
    "Your answer raises an error unless there is one batch axis.",
    "What does the … in the shape (…, m, d_k) stand for?",
    why="torch.bmm takes three axes, and tutorials have three.",
    query_axis="of one batch",
)
exercise.option(
    "products_not_summed",
    "Your result has d_k numbers for each source token.",
    "How many scores has one source token?",
    why="keys * query resembles the formula, and the sum is forgotten.",
    shape="(..., m, d_k)",
)
exercise.option(
    "summed_over_the_batch",
    "Your scores are summed over the batch: there is one row for all states.",
    "How many rows of scores do three states have, and which axes does your sum run "
    "over?",
    why="An einsum whose result lacks the letter of the batch sums over it.",
    shape="(m,)",
)
exercise.option(
    "scores_as_a_column",
    "Your scores have an axis of length 1 too many, at the end.",
    "Which shape does the docstring promise?",
    why="The query becomes a column for the product, and so do the scores.",
    shape="(..., m, 1)",
)
exercise.option(
    "keys_overwritten",
    "Your keys are overwritten: they hold products with the state afterwards.",
    "Whose tensor is `keys`, and what does `*=` do to it?",
    why="`keys *= query` saves a tensor and looks like `keys = keys * query`.",
    keys_after="products",
)
exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
