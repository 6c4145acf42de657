"""Cases and misconceptions of ``additive_attention``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.sequence_to_sequence import additive_attention

exercise = Exercise(
    additive_attention,
    lesson="07_sequence_to_sequence",
    minutes=15,
    difficulty=2,
    returns=("context", "weights"),
    library=(
        "course_lib.nn.recurrent.AdditiveAttention",
        "course_lib.nn.recurrent._mix",
        "course_lib.attention.additive_scores",
    ),
)


@exercise.spec
def spec(state, keys, values, w_q, w_k, v, may_attend=None):
    *leading, m, d_v = values.shape
    context, weights = values.new_zeros(*leading, d_v), values.new_zeros(*leading, m)
    arguments = (state, keys, values, w_q, w_k, v)
    state, keys, values, w_q, w_k, v = (
        part.numpy().astype(float) for part in arguments
    )
    for index in np.ndindex(*leading):
        scores = {}
        for j in range(m):
            if may_attend is None or may_attend[*index, j]:
                scores[j] = score(state[index], keys[*index, j], w_q, w_k, v)
        powers = {j: math.exp(scores[j] - max(scores.values())) for j in scores}
        for j in powers:
            weights[*index, j] = powers[j] / sum(powers.values())
        for c in range(d_v):
            parts = (powers[j] * values[*index, j, c] for j in powers)
            context[*index, c] = sum(parts) / sum(powers.values())
    return context, weights


def score(state, key, w_q, w_k, v):
    """Return v · tanh(state w_q + key w_k) for one state and one key."""
    total = 0.0
    for h in range(len(v)):
        hidden = sum(state[c] * w_q[c, h] for c in range(len(state)))
        hidden += sum(key[c] * w_k[c, h] for c in range(len(key)))
        total += v[h] * math.tanh(hidden)
    return total


def drawn(rng, *shape):
    """Draw a tensor of float32."""
    return torch.from_numpy(rng.normal(size=shape)).float()


def inputs(rng, leading=(), m=7, d_h=3, d_k=4, d_v=6, d_a=5):
    """Draw state, keys, values, w_q, w_k and v."""
    return (
        drawn(rng, *leading, d_h),
        drawn(rng, *leading, m, d_k),
        drawn(rng, *leading, m, d_v),
        drawn(rng, d_h, d_a),
        drawn(rng, d_k, d_a),
        drawn(rng, d_a),
    )


@exercise.usual
def usual(rng):
    may_attend = torch.tensor([[True] * 5 + [False] * 2, [False] + [True] * 6])
    return *inputs(rng, leading=(2,)), may_attend


@exercise.case("Where each tanh is −1, 0 or 1, the weights are in the ratio 1 : e : e³")
def small_example_by_hand(student, rng):
    state = torch.tensor([1.0])
    keys = torch.tensor([[-1.0, 1.0], [-1.0, 0.0], [0.0, 0.0]])
    values = torch.tensor([[10.0, 0, 0], [0, 10, 0], [30, 0, 40]])
    w_q = torch.tensor([[40.0, 0.0]])  # the state's share is (40, 0)
    w_k = torch.tensor([[40.0, 0.0], [0.0, -40.0]])  # (−40, −40) | (−40, 0) | (0, 0)
    v = torch.tensor([2.0, 1.0])  # the tanh are (0, −1) | (0, 0) | (1, 0)
    e = math.e
    total = 1 + e + e**3
    weights = torch.tensor([1 / total, e / total, e**3 / total])
    context = torch.tensor([10 + 30 * e**3, 10 * e, 40 * e**3]) / total
    student.expect(student(state, keys, values, w_q, w_k, v), (context, weights))


@exercise.case("A state attends to seven source tokens with these weights")
def one_state(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("A batch is answered source by source")
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(4,), m=4))  # here a missing axis fits too
    student.agrees(*inputs(rng, leading=(2, 3), m=5))


@exercise.case("Where `may_attend` is False, the weight is 0 and the others sum to 1")
def some_blocked(student, rng):
    may_attend = torch.tensor([[True, False, True, True, True], [False] + 4 * [True]])
    student.agrees(*inputs(rng, leading=(2,), m=5, d_a=6), may_attend)


@exercise.case("Keys, values and states of the same size keep their roles")
def same_sizes(student, rng):
    student.agrees(*inputs(rng, m=4, d_h=4, d_k=4, d_v=4))


@exercise.case("A batch of one stays a batch, and one source token gets the weight 1")
def one_source_token(student, rng):
    state, keys, values, *parameters = inputs(rng, leading=(1,), m=1)
    result = student(state, keys, values, *parameters)
    student.expect(result, (values[:, 0], torch.ones(1, 1)))
    student.agrees(*inputs(rng, leading=(1,), m=3))


@exercise.case("Scores of 2,000, −2,000 and 2,000 give the weights ½, 0 and ½")
def large_next_to_small(student, rng):
    state, keys = torch.zeros(1), torch.tensor([[1.0], [-1.0], [0.5]])
    w_q, w_k, v = torch.ones(1, 1), torch.tensor([[40.0]]), torch.tensor([2000.0])
    values = drawn(rng, 3, 6)
    context, weights = (values[0] + values[2]) / 2, torch.tensor([0.5, 0.0, 0.5])
    student.expect(student(state, keys, values, w_q, w_k, v), (context, weights))


@exercise.case(
    "Source tokens reordered together with their values change nothing",
    visible=False,
    pays_alone=False,
)
def pairs_reordered(student, rng):
    state, keys, values, *parameters = inputs(rng, m=4)
    before, _ = student(state, keys, values, *parameters)
    moved = keys.roll(1, dims=0), values.roll(1, dims=0)
    after, _ = student(state, *moved, *parameters)
    student.expect(after, before, what="the context after the change")


@exercise.case("The arguments stay as they are")
def arguments_stay(student, rng):
    may_attend = torch.tensor([True, False, True])
    student.leaves_unchanged(*inputs(rng, m=3, d_a=2), may_attend)


def attend(scores, values, may_attend):
    """Answer rightly from the scores on."""
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    weights = scores.softmax(dim=-1)
    return mix(weights, values), weights


def mix(weights, values):
    """Return the values' sum by weight."""
    return (weights.unsqueeze(-2) @ values).squeeze(-2)


def summed(state, keys, w_q, w_k):
    """Return what stands inside the tanh, (…, m, d_a)."""
    return (state @ w_q).unsqueeze(-2) + keys @ w_k


@exercise.misconception(
    "Your scores are v · (state w_q + key w_k): there is no tanh in them, and so the "
    "state has no say in the weights.",
    "What stands between the sum and the product with v?",
    why="keon/seq2seq, issue 3, and AuCson/PyTorch-Batch-Attention-Seq2seq, issue 3: "
    "the weights stuck to one word until the tanh came in.",
)
def no_tanh(state, keys, values, w_q, w_k, v, may_attend=None):
    return attend(summed(state, keys, w_q, w_k) @ v, values, may_attend)


@exercise.misconception(
    "Your mask works the other way round: weight lies only where `may_attend` is "
    "False.",
    "Does True in `may_attend` mean that a token may be attended to, or that it is "
    "blocked?",
    why="In PyTorch's key_padding_mask True means blocked.",
)
def mask_inverted(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(summed(state, keys, w_q, w_k)) @ v
    return attend(scores, values, None if may_attend is None else ~may_attend)


@exercise.misconception(
    "Your softmax runs along axis 0, which holds the source tokens only when there is "
    "no batch.",
    "Among which numbers should a weight of 1 be shared out: one state's, or the "
    "batch's?",
    why="Softmax(dim=0) is right for one sentence: PetrochukM/PyTorch-NLP, issue 2.",
)
def softmax_over_the_batch(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(summed(state, keys, w_q, w_k)) @ v
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    weights = scores.softmax(dim=0)
    return mix(weights, values), weights


@exercise.misconception(
    "Your weights are right for one source, and not for a batch: there a state is "
    "added to keys that are not its own, or to none.",
    "Which of your two summands lacks the axis of the source tokens?",
    why="state @ w_q + keys @ w_k is right as it stands for one state: a row is added "
    "to each row.",
)
def state_without_axis(state, keys, values, w_q, w_k, v, may_attend=None):
    return attend(torch.tanh(state @ w_q + keys @ w_k) @ v, values, may_attend)


@exercise.misconception(
    "Your weights are right, and your context is right for one source only: in a batch "
    "it has the wrong shape or cannot be computed.",
    "A row is a table with one row: which axis do your weights lack for that?",
    why="weights @ values is right for one source; for a batch @ takes the weights of "
    "all sources for one matrix.",
)
def weights_without_axis(state, keys, values, w_q, w_k, v, may_attend=None):
    _, weights = additive_attention(state, keys, values, w_q, w_k, v, may_attend)
    return weights @ values, weights


@exercise.misconception(
    "Your two tensors are right for one source; for a batch neither is.",
    "Where in your code does one row meet m rows, and which axis does it lack there?",
    why="Whoever writes for one source needs no axis anywhere.",
)
def no_axis_anywhere(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(state @ w_q + keys @ w_k) @ v
    _, weights = attend(scores, values, may_attend)
    return weights @ values, weights


@exercise.misconception(
    "Your scores are v · (tanh(state w_q) + tanh(key w_k)): each side has a tanh of "
    "its own.",
    "Which comes first in the formula, the sum or the tanh?",
    why="Both products are written as complete layers, each with its activation.",
)
def tanh_of_each_side(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = torch.tanh(state @ w_q).unsqueeze(-2) + torch.tanh(keys @ w_k)
    return attend(hidden @ v, values, may_attend)


@exercise.misconception(
    "Your scores come from a ReLU: what is negative in the sum became 0.",
    "Which activation does the docstring name?",
    why="ReLU is the habit of today's networks: keon/seq2seq, issue 28.",
)
def relu_for_tanh(state, keys, values, w_q, w_k, v, may_attend=None):
    return attend(summed(state, keys, w_q, w_k).relu() @ v, values, may_attend)


@exercise.misconception(
    "Your softmax runs over the d_a numbers inside, before the product with v, and the "
    "scores are used as weights.",
    "How many numbers does one source token have when its weight is chosen?",
    why="Softmax and activation are exchanged in keon/seq2seq, issue 15.",
)
def softmax_before_v(state, keys, values, w_q, w_k, v, may_attend=None):
    weights = torch.tanh(summed(state, keys, w_q, w_k)).softmax(dim=-1) @ v
    if may_attend is not None:
        weights = weights.masked_fill(~may_attend, 0.0)
    return mix(weights, values), weights


@exercise.misconception(
    "Your context is the plain sum of the values: the weights have no part in it.",
    "What should the context be if all the weight lies on one source token?",
    why="values.sum(dim=-2) has the right shape, and the weights are returned anyway.",
)
def values_summed_without_weights(state, keys, values, w_q, w_k, v, may_attend=None):
    _, weights = additive_attention(state, keys, values, w_q, w_k, v, may_attend)
    return values.sum(dim=-2), weights


@exercise.misconception(
    "Your context is a mix of the keys.",
    "Keys are for being found: what does the decoder take home?",
    why="In most models one tensor, the encoder's outputs, plays both parts.",
)
def keys_mixed(state, keys, values, w_q, w_k, v, may_attend=None):
    return additive_attention(state, keys, keys, w_q, w_k, v, may_attend)


@exercise.misconception(
    "Your weights are set to 0 after the softmax: with a mask they do not sum to 1.",
    "Who else has to get the weight that a blocked token had?",
    why="'Multiply the weights by the mask' is the shortest way to a 0: "
    "abisee/pointer-generator, issue 88, where a division puts it right.",
)
def mask_after_softmax(state, keys, values, w_q, w_k, v, may_attend=None):
    _, weights = additive_attention(state, keys, values, w_q, w_k, v)
    if may_attend is not None:
        weights = weights * may_attend
    return mix(weights, values), weights


@exercise.misconception(
    "Your mask is not used: blocked tokens have weight.",
    "Which line of your code would change its result if `may_attend` were all True?",
    why="Seen in the tutorials themselves: tensorflow/tensorflow, issue 512; "
    "pytorch/tutorials, issue 593.",
)
def mask_ignored(state, keys, values, w_q, w_k, v, may_attend=None):
    return additive_attention(state, keys, values, w_q, w_k, v)


@exercise.misconception(
    "Your blocked tokens have a score of 0 where they should have none.",
    "What is e to the power of 0, and is that a weight of nothing?",
    why="Padding is 0 everywhere else: ilivans/tf-rnn-attention, issue 11.",
)
def blocked_scores_zero(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(summed(state, keys, w_q, w_k)) @ v
    if may_attend is not None:
        scores = scores * may_attend
    return attend(scores, values, None)


@exercise.misconception(
    "Your blocked values are set to 0, and your weights know nothing of the mask.",
    "Where does the weight of a blocked token go, if its value is 0?",
    why="What is multiplied by 0 seems to be out of the sum: "
    "ilivans/tf-rnn-attention, issue 11.",
)
def mask_on_the_values_only(state, keys, values, w_q, w_k, v, may_attend=None):
    _, weights = additive_attention(state, keys, values, w_q, w_k, v)
    if may_attend is not None:
        values = values * may_attend.unsqueeze(-1)
    return mix(weights, values), weights


@exercise.misconception(
    "Your w_q is applied to the keys, and your w_k to the state.",
    "Which size does each of the two matrices take in?",
    why="With states and keys of one size nothing complains, and papers number the "
    "matrices in either order.",
)
def w_q_and_w_k_exchanged(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(summed(state, keys, w_k, w_q)) @ v
    return attend(scores, values, may_attend)


@exercise.misconception(
    "Your scores are plain sums of the tanh: v is not in them.",
    "What would change in your weights if v were doubled?",
    why="'Add the numbers up to a score' leaves v out.",
)
def v_ignored(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(summed(state, keys, w_q, w_k)).sum(dim=-1)
    return attend(scores, values, may_attend)


@exercise.misconception(
    "Your scores are divided by √d_a.",
    "Which score had a square root in its formula, and does this one?",
    why="The scale of dot-product attention is carried over.",
)
def divided_by_root_of_d_a(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(summed(state, keys, w_q, w_k)) @ v / len(v) ** 0.5
    return attend(scores, values, may_attend)


@exercise.misconception(
    "Your context is right, but beside it you return the scores.",
    "Which of your two tensors has rows that sum to 1?",
    why="'Attention' is a name for either of the two.",
)
def scores_returned(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(summed(state, keys, w_q, w_k)) @ v
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -1e9)
    return attend(scores, values, may_attend)[0], scores


@exercise.misconception(
    "Your two tensors have lost their axes of length 1.",
    "Which axis did you want to take off, and what does `squeeze()` do to a batch of "
    "one?",
    why="The score comes out as (…, m, 1) and is squeezed without naming the axis.",
)
def every_axis_of_one_dropped(state, keys, values, w_q, w_k, v, may_attend=None):
    result = additive_attention(state, keys, values, w_q, w_k, v, may_attend)
    return tuple(part.squeeze() for part in result)


@exercise.misconception(
    "Your weights are right for small scores and NaN for large ones.",
    "How large is e to the power of 2,000 in floating point, and how does "
    "`softmax` get round it?",
    why="exp(scores) / sum is written out anew, without taking the maximum off first.",
)
def exponentials_overflow(state, keys, values, w_q, w_k, v, may_attend=None):
    powers = torch.exp(torch.tanh(summed(state, keys, w_q, w_k)) @ v)
    if may_attend is not None:
        powers = powers * may_attend
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return mix(weights, values), weights


@exercise.misconception(
    "Your two tensors are right, but the blocked values are overwritten with zeros.",
    "What does the underscore at the end of `masked_fill_` say, and whose tensor are "
    "the values?",
    why="`masked_fill_` looks like `masked_fill`.",
)
def blocked_values_overwritten(state, keys, values, w_q, w_k, v, may_attend=None):
    result = additive_attention(state, keys, values, w_q, w_k, v, may_attend)
    if may_attend is not None:
        values.masked_fill_(~may_attend.unsqueeze(-1), 0.0)
    return result
