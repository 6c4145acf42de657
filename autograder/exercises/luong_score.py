"""Cases and misconceptions of ``luong_score``."""

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.sequence_to_sequence import luong_score

exercise = Exercise(
    luong_score,
    lesson="07_sequence_to_sequence",
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
    return inputs(rng, leading=(2,))


@exercise.case("A state scores three source tokens like this, by dot and by general")
def small_example_by_hand(student, rng):
    state = torch.tensor([1.0, 2.0])
    keys = torch.tensor([[3.0, 0.0], [0.0, 5.0], [-1.0, 4.0]])
    student.expect(student(state, keys, "dot"), torch.tensor([3.0, 10.0, 7.0]))
    w = torch.tensor([[1.0, 2.0], [0.0, 3.0]])  # state w = (1, 8)
    result = student(state, keys, "general", w)
    student.expect(result, torch.tensor([3.0, 40.0, 31.0]))


@exercise.case("With `general`, states and keys may be of different sizes")
def general_with_two_sizes(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("A batch is scored source by source")
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(2, 3), m=5))
    state, keys = drawn(rng, 2, 3, 4), drawn(rng, 2, 3, 5, 4)
    student.agrees(state, keys, "dot")


@exercise.case("One source token in a batch of one gives a score of shape (1, 1)")
def sizes_of_one(student, rng):
    student.agrees(*inputs(rng, leading=(1,), m=1))


@exercise.case("A kind that is neither dot nor general raises ValueError")
def other_kinds(student, rng):
    state, keys, _, w = inputs(rng, m=2)
    student.raises(ValueError, state, keys, "concat", w)
    student.raises(ValueError, drawn(rng, 4), keys, "Dot")


@exercise.case("`general` without w, and `dot` with w, raise ValueError")
def w_where_it_belongs(student, rng):
    state, keys, _, w = inputs(rng, m=2, d_h=4)
    student.raises(ValueError, state, keys, "general")
    student.raises(ValueError, state, keys, "dot", w)


@exercise.case(
    "Twice the state gives twice the scores", visible=False, pays_alone=False
)
def scores_follow_the_state(student, rng):
    state, keys, kind, w = inputs(rng)
    before = student(state, keys, kind, w)
    after = student(2 * state, keys, kind, w)
    student.expect(after, 2 * before, what="the scores after the change")


@exercise.case("The state, the keys and w stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(*inputs(rng, m=2))


def checked(kind, w):
    """Refuse what the contract refuses, for misconceptions about something else."""
    if kind not in ("dot", "general") or (kind == "general") != (w is not None):
        raise ValueError(f"kind={kind!r} with w={w}")


def scores_of(state, keys, w):
    """Return the right scores."""
    query = state if w is None else state @ w
    return (keys @ query.unsqueeze(-1)).squeeze(-1)


@exercise.misconception(
    "Your scores are divided by √d_k.",
    "Which of the papers divides by a square root, and does this function's docstring?",
    why="Scaling came with the Transformer, two years after Luong's paper.",
)
def divided_by_root_of_d_k(state, keys, kind, w=None):
    checked(kind, w)
    return scores_of(state, keys, w) / keys.shape[-1] ** 0.5


@exercise.misconception(
    "Your numbers are weights already: each row sums to 1.",
    "What does the function promise to return, scores or weights?",
    why="Equation 7 of the paper is score and softmax in one.",
)
def softmax_applied(state, keys, kind, w=None):
    checked(kind, w)
    return scores_of(state, keys, w).softmax(dim=-1)


@exercise.misconception(
    "Your code goes by w alone: where it is given the scores are general, else dot, "
    "whatever `kind` says.",
    "What should happen when `kind` and w contradict each other?",
    why="A default of None for w invites to decide by it.",
)
def kind_ignored(state, keys, kind, w=None):
    return scores_of(state, keys, w)


@exercise.misconception(
    "Your w is applied the other way round: state wᵀ where the docstring says state w.",
    "Which of w's two axes has the size of the state?",
    why="nn.Linear stores the transpose, and with d_h = d_k nothing complains.",
)
def w_transposed(state, keys, kind, w=None):
    checked(kind, w)
    return scores_of(state, keys, None if w is None else w.T)


@exercise.misconception(
    "Your numbers for `general` do not depend on w: they are those of `dot`.",
    "What would change in your scores if w were doubled?",
    why="Both branches end in the same product, and w is left out of one.",
)
def w_ignored(state, keys, kind, w=None):
    checked(kind, w)
    return scores_of(state, keys, None)


@exercise.misconception(
    "Your scores went through a tanh: all lie between −1 and 1.",
    "Which of Luong's three scores has a tanh in it?",
    why="The third of the paper, concat, has one.",
)
def tanh_applied(state, keys, kind, w=None):
    checked(kind, w)
    return torch.tanh(scores_of(state, keys, w))


@exercise.misconception(
    "Your numbers are means of products, not sums.",
    "Does a dot product add its products up, or average them?",
    why="mean(dim=-1) stands where sum(dim=-1) should.",
)
def mean_of_products(state, keys, kind, w=None):
    checked(kind, w)
    return scores_of(state, keys, w) / keys.shape[-1]


@exercise.misconception(
    "Your numbers are cosines: the lengths of state and keys are divided out.",
    "If a key is twice as long, what should its score be?",
    why="'How well do the two vectors fit' is read as a similarity from −1 to 1.",
)
def cosines(state, keys, kind, w=None):
    checked(kind, w)
    query = state if w is None else state @ w
    lengths = keys.norm(dim=-1) * query.norm(dim=-1, keepdim=True)
    return scores_of(state, keys, w) / lengths


@exercise.misconception(
    "Your sum runs along axis 2, counted from the front: that holds the numbers of a "
    "key only where one batch axis stands before.",
    "From which end should an axis be counted if any number of axes may stand before?",
    why="sum(dim=2) is what tutorials with a batch show: bentrevett/pytorch-seq2seq, "
    "issue 90.",
)
def axis_counted_from_the_front(state, keys, kind, w=None):
    checked(kind, w)
    query = state if w is None else state @ w
    return (keys * query.unsqueeze(-2)).sum(dim=2)


@exercise.misconception(
    "Your result has lost each axis of length 1.",
    "Which axis did you want to take off, and what if there is only one source token?",
    why="The product comes out as (…, m, 1), and squeeze() without an axis follows.",
)
def every_axis_of_one_dropped(state, keys, kind, w=None):
    checked(kind, w)
    return scores_of(state, keys, w).squeeze()


@exercise.misconception(
    "Your function gives None for a kind that it does not know.",
    "Which way does your code take if `kind` is neither of the two?",
    why="if and elif without else: so in spro/practical-pytorch's class Attn.",
)
def nothing_for_other_kinds(state, keys, kind, w=None):
    if kind in ("dot", "general"):
        checked(kind, w)
        return scores_of(state, keys, w)
    return None


@exercise.misconception(
    "Your function looks `kind` up in a dictionary, and an unknown one ends in a "
    "KeyError.",
    "Which exception does the docstring promise, and does a caller who waits for it "
    "get this one?",
    why="A dictionary of functions is tidy, and raises an error of its own.",
)
def kinds_in_a_dictionary(state, keys, kind, w=None):
    known = {"dot": (state, keys, w), "general": (state, keys, w)}
    result = known[kind]
    checked(kind, w)
    return scores_of(*result)


@exercise.misconception(
    "Your function takes w along with `dot` without a word, and leaves it out.",
    "What would a caller believe who passes w and gets scores back?",
    why="The branch for dot never reads w.",
)
def w_taken_with_dot(state, keys, kind, w=None):
    if kind == "dot":
        return scores_of(state, keys, None)
    checked(kind, w)
    return scores_of(state, keys, w)


@exercise.misconception(
    "Your keys are overwritten: they hold the products with the state afterwards.",
    "Whose tensor is `keys`, and what does `*=` do to it?",
    why="`keys *= query` saves a tensor and looks like `keys = keys * query`.",
)
def keys_overwritten(state, keys, kind, w=None):
    checked(kind, w)
    query = state if w is None else state @ w
    keys *= query.unsqueeze(-2)
    return keys.sum(dim=-1)
