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


exercise.edits(
    """
w_transposed: state @ w -> state @ w.T
  Your w is applied the other way round: as if wᵀ had been given.
  ? Which of w's two axes has the size of the state?
  # nn.Linear stores the transpose, and with d_h = d_k nothing complains.
w_ignored: query = state
  Your numbers for `general` do not depend on w.
  ? What would change in your scores if w were doubled?
  # Both branches end in the same product, and w is left out of one.
divided_by_root_of_d_k:
  | return (keys @ query.unsqueeze(-1)).squeeze(-1) / keys.shape[-1] ** 0.5
  Your scores are divided by √d_k.
  ? Which of the papers divides by a square root, and does this function's docstring?
  # Scaling came with the Transformer, two years after Luong's paper.
dot_divided_by_root_of_d_k:
  | query = state / keys.shape[-1] ** 0.5 if w is None else state @ w
  Your scores are divided by √d_k for dot, and not for general.
  # 'Scaled dot product' is one name; general seems to have its scale in w.
divided_by_root_of_d_h:
  | return (keys @ query.unsqueeze(-1)).squeeze(-1) / state.shape[-1] ** 0.5
  Your scores are divided by √d_h.
  # Scaling came with the Transformer, and d_h is the size of the query.
mean_of_products: return (keys * query.unsqueeze(-2)).mean(dim=-1)
  Your numbers are means of products, not sums.
  ? Does a dot product add its products up, or average them?
  # mean(dim=-1) stands where sum(dim=-1) should.
cosines:
  | return (keys @ query.unsqueeze(-1)).squeeze(-1) / (
  :     keys.norm(dim=-1) * query.norm(dim=-1, keepdim=True)
  : )
  Your numbers are cosines: the lengths of the two vectors are divided out.
  ? If a key is twice as long, what should its score be?
  # 'How well do the two vectors fit' is read as a similarity from −1 to 1.
tanh_applied: return torch.tanh((keys @ query.unsqueeze(-1)).squeeze(-1))
  Your scores went through a tanh: all lie between −1 and 1.
  ? Which of Luong's three scores has a tanh in it?
  # The third of the paper, concat, has one.
softmax_applied: return (keys @ query.unsqueeze(-1)).squeeze(-1).softmax(dim=-1)
  Your numbers are weights already: each row sums to 1.
  ? What does the function promise to return, scores or weights?
  # Equation 7 of the paper is score and softmax in one.
axis_counted_from_the_front: return (keys * query.unsqueeze(-2)).sum(dim=2)
  Your sum runs along axis 2, counted from the front: that holds the numbers of a key
    only where one batch axis stands before.
  ? From which end should an axis be counted if any number of axes may stand before?
  # sum(dim=2) is what tutorials with a batch show: bentrevett/pytorch-seq2seq, issue
    90.
axis_one: return (keys * query.unsqueeze(-2)).sum(dim=1)
  Your sum runs along axis 1: that holds the numbers of a key only without a batch.
  # sum(dim=1) is right for a table of keys.
summed_over_the_source: return (keys * query.unsqueeze(-2)).sum(dim=-2)
  Your numbers are sums over the source tokens: one for each number of a key.
  ? How many scores has a source token, and how many source tokens has a score?
  # dim=-2 and dim=-1 are mixed up.
state_without_axis: return (keys * query).sum(dim=-1)
  In a batch, your states meet keys that are not their own, or the shapes do not fit.
  ? Which axis of the keys does the state lack?
  # keys * state is right for one state: each row is multiplied by it.
state_axis_counted_from_the_front: return (keys * query.unsqueeze(1)).sum(dim=-1)
  Your state gets its new axis at position 1: that is right for one batch axis, and
    for no other number of them.
  ? From which end is the axis of the source tokens counted in the docstring?
  # unsqueeze(1) is what tutorials with a batch show.
one_batch_axis_only: return keys.bmm(query.unsqueeze(2)).squeeze(2)
  Your answer raises an error unless there is one batch axis.
  ? What does the … in the shape (…, m, d_k) stand for?
  # torch.bmm takes three axes, and tutorials have three.
products_not_summed: return keys * query.unsqueeze(-2)
  Your result has d_k numbers for each source token.
  ? How many scores has one source token?
  # keys * query resembles the formula, and the sum is forgotten.
summed_over_the_batch:
  | return (
  :     (keys @ query.unsqueeze(-1))
  :     .squeeze(-1)
  :     .reshape(-1, keys.shape[-2])
  :     .sum(dim=0)
  : )
  Your scores are summed over the batch: there is one row for all states.
  ? How many rows of scores do three states have, and which axes does your sum run
    over?
  # An einsum whose result lacks the letter of the batch sums over it.
scores_as_a_column: return keys @ query.unsqueeze(-1)
  Your scores have an axis of length 1 too many, at the end.
  ? Which shape does the docstring promise?
  # The query becomes a column for the product, and so do the scores.
keys_overwritten:
  | return ( … ->
  :     keys *= query.unsqueeze(-2)
  :     return keys.sum(dim=-1)
  Your keys are overwritten: they hold products with the state afterwards.
  ? Whose tensor is `keys`, and what does `*=` do to it?
  # `keys *= query` saves a tensor and looks like `keys = keys * query`.
""",
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
