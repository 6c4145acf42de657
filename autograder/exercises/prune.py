"""Cases and misconceptions of ``prune``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.attention import for_all_heads
from course_lib.nn.pruning import prune

exercise = Exercise(
    prune,
    lesson="13_inside_the_heads",
    minutes=10,
    difficulty=2,
    library=(
        "torch.nn.MultiheadAttention",
        "torch.nn.functional.multi_head_attention_forward",
        "course_lib.nn.pretrained.encode_with_heads",
        "course_lib.nn.pruning.gated_heads",
    ),
)


@exercise.spec
def spec(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    arrays = (each.numpy().astype(float) for each in (x, memory, w_q, w_k, w_v, w_o))
    x_rows, m_rows, q_map, k_map, v_map, o_map = arrays
    *leading, n, d_model = x.shape
    m, n_heads = memory.shape[-2], len(gates)
    d_k = d_model // n_heads
    if may_attend is None:
        may_attend = torch.ones(n, m, dtype=torch.bool)
    mask = np.broadcast_to(may_attend.numpy(), (*leading, n, m))
    output = np.zeros((*leading, n, d_model))
    for *batch, h, i in np.ndindex(*leading, n_heads, n):
        own = slice(h * d_k, (h + 1) * d_k)
        query = x_rows[*batch, i] @ q_map[:, own]
        allowed = [j for j in range(m) if mask[*batch, i, j]]
        keys = {j: m_rows[*batch, j] @ k_map[:, own] for j in allowed}
        scores = {j: query @ keys[j] / math.sqrt(d_k) for j in allowed}
        powers = {j: math.exp(scores[j] - max(scores.values())) for j in allowed}
        head = np.zeros(d_k)
        for j in allowed:
            weight = powers[j] / sum(powers.values())
            head += weight * (m_rows[*batch, j] @ v_map[:, own])
        output[*batch, i] += float(gates[h]) * head @ o_map[own]
    return torch.from_numpy(output).to(x.dtype)


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def drawn(rng, leading=(), n=5, m=7, d_model=12, dtype=np.float32):
    """Draw x, the memory and four matrices; scores are of size 1."""
    shapes = [(*leading, n, d_model), (*leading, m, d_model)]
    arrays = [rng.normal(size=shape) for shape in shapes]
    root = math.sqrt(d_model)
    arrays += [rng.normal(size=(d_model, d_model)) / root for _ in range(4)]
    return tuple(tensor(each, dtype) for each in arrays)


def some_gates(rng, n_heads, dtype=np.float32):
    """Draw gates that are neither 0 nor 1, no two alike."""
    return tensor(rng.permutation(n_heads) / n_heads + rng.uniform(0.1, 0.3), dtype)


def some_blocked(rng, *shape):
    """Draw a mask that leaves each query at least one key."""
    may_attend = rng.random(size=shape) < 0.5
    may_attend[..., 0] = ~may_attend[..., 1]
    return torch.from_numpy(may_attend)


@exercise.usual
def usual(rng):
    return *drawn(rng, (2,)), some_gates(rng, 3), some_blocked(rng, 5, 7)


@exercise.case("Two heads, one halved and one tripled, give this")
def small_example_by_hand(student, rng):
    x, nothing = tensor([[1.0, 2.0]]), tensor(np.zeros((2, 2)))
    memory = tensor([[2.0, 10.0], [6.0, 30.0]])
    w_v, w_o = tensor(np.eye(2)), tensor([[1.0, 100.0], [0.0, 1.0]])
    # Queries are 0, so weights are even: the heads give 4 and 20, and behind the gates
    # 2 and 60. w_o makes (2, 200) of the first and (0, 60) of the second.
    result = student(x, memory, nothing, nothing, w_v, w_o, tensor([0.5, 3.0]))
    student.expect(result, tensor([[2.0, 260.0]]))
    student.agrees(*drawn(rng, n=3, m=4, d_model=6), tensor([0.5, 3.0]))


@exercise.case("With gates of ones it is multi-head attention")
def all_open(student, rng):
    student.agrees(*drawn(rng, (2,)), tensor([1.0] * 4), some_blocked(rng, 2, 5, 7))


@exercise.case("A pruned head plays no part, and all others are as they were")
def some_closed(student, rng):
    student.agrees(*drawn(rng), tensor([1.0, 0.0, 1.0]))
    student.agrees(*drawn(rng, (2,)), tensor([0.0, 1.0, 1.0, 0.0]))
    student.agrees(*drawn(rng), tensor([0.0, 0.0, 1.0]))


@exercise.case("Gates between 0 and 1, above 1 and below 0 multiply too")
def any_number(student, rng):
    student.agrees(*drawn(rng), tensor([0.25, 2.0, -1.0]))
    student.agrees(*drawn(rng, (2,)), some_gates(rng, 4))


@exercise.case("With all gates closed the output is zero", pays_alone=False)
def all_closed(student, rng):
    result = student(*drawn(rng), tensor([0.0] * 3))
    student.expect(result, tensor(np.zeros((5, 12))))


@exercise.case(
    "With as many sequences and tokens as heads, each axis keeps its meaning"
)
def as_many_of_all(student, rng):
    # Here a gate for each token, or for each sequence, has the right shape.
    inputs = drawn(rng, (3,), n=3, m=3, d_model=9)
    student.agrees(*inputs, some_gates(rng, 3))
    mask = torch.from_numpy(np.tri(3) > 0)
    student.agrees(*inputs, some_gates(rng, 3), mask)
    student.agrees(*inputs, some_gates(rng, 3), some_blocked(rng, 3, 3, 3))


@exercise.fine_point("A blocked token plays no part, whether it fits well or badly")
def scores_of_thousands(student, rng):
    # The blocked one, in the middle, scores far above the others, or far below.
    same, gates = np.eye(4), some_gates(rng, 2)
    may_attend = torch.tensor([[True, False, True]])
    memory = np.array([[-1.0], [1.0], [-1.0]]) * np.ones(4)
    w_v, w_o = (tensor(each) for each in rng.normal(size=(2, 4, 4)))
    for size in (300.0, 2.0**16, -300.0):
        x = tensor(size * np.ones((1, 4)))
        matrices = tensor(same), tensor(same), w_v, w_o
        student.agrees(x, tensor(memory), *matrices, gates, may_attend)


@exercise.case("As many heads as numbers, and one head: heads of any size have gates")
def any_size_of_head(student, rng):
    student.agrees(*drawn(rng, d_model=4), some_gates(rng, 4))
    student.agrees(*drawn(rng, d_model=4), tensor([0.5]), some_blocked(rng, 5, 7))


@exercise.case(
    "In float64, in a batch of any shape, all digits are right", visible=False
)
def double_precision(student, rng):
    inputs = drawn(rng, (2, 2), n=4, m=5, d_model=8, dtype=np.float64)
    gates = some_gates(rng, 2, np.float64)
    student.agrees(*inputs, gates, some_blocked(rng, 2, 2, 4, 5))


@exercise.case("The gates, x, the memory and the matrices are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(*drawn(rng, (2,)), some_gates(rng, 3))
    # With all sizes alike, the result fits into an argument.
    student.leaves_unchanged(*drawn(rng, n=4, m=4, d_model=4), some_gates(rng, 2))


def with_blocked_scores(q, k, v, may_attend, blocked):
    """Attend with a number in place of the scores of blocked tokens."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.masked_fill(~for_all_heads(may_attend), blocked)
    return scores.softmax(dim=-1) @ v


exercise.edits(
    """
gates_behind_w_o: return merge_heads(heads) @ w_o * gates.repeat_interleave(q.shape[-1])
  Your gates multiply the output, or the columns of w_o, which is the same.
  ? Behind w_o, which numbers of the output come from head 0 alone?
  # The output is as wide as the heads together, so the gates fit there too.
gates_interleaved: return merge_heads(heads) * gates.repeat(q.shape[-1]) @ w_o
  Your gates differ from one number of a head to the next.
  ? Which numbers of the joined heads come from head 0, and how many in a row?
  # gates.repeat(d_k) is as long as gates.repeat_interleave(d_k).
columns_of_heads_interleaved:
  | split_heads(rows, len(gates)) ->
  :     rows.unflatten(-1, (-1, len(gates))).movedim(-1, -3)
  | merge_heads(heads * gates[:, None, None]) ->
  :     (heads * gates[:, None, None]).movedim(-3, -1).flatten(-2)
  Your heads have every n_heads-th column each, not d_k columns in a row.
  ? Which columns of w_q are those of head 0, according to the docstring?
  # unflatten(-1, (d_k, n_heads)) and w[:, head::n_heads] have the right sizes.
gates_on_the_scores:
  | attention(q, k -> attention(q * gates[:, None, None], k
  | heads * gates[:, None, None] -> heads
  Your gates multiply the scores: a closed head attends to all tokens alike.
  ? What does a softmax make of scores that are all 0?
  # Masks work on the scores, and a gate looks like a mask.
gated_weights_renormalised:
  | heads, _ -> heads, weights
  | return … ->
  :     weights = weights * gates[:, None, None]
  :     weights = weights / weights.sum(dim=-1, keepdim=True)
  :     return merge_heads(weights @ v) @ w_o
  Your gates multiply the weights, which are then divided by their sum again: an open
    gate changes nothing, a closed one gives NaN.
  ? What is left of a factor after a division by the sum?
  # Rows of weights sum to 1, and one tries to keep that.
mean_gate: return merge_heads(heads) @ w_o * gates.mean()
  Your output is multiplied by the mean of the gates.
  ? Which head does each gate belong to?
  # One number for the whole output always has a shape that fits.
no_gates: heads * gates[:, None, None] -> heads
  Your gates play no part but for their number.
  ? Where are the numbers in `gates` used in your code?
  # len(gates) is needed first, and multi-head attention is written from memory.
gates_rounded: gates[:, None, None] -> (gates >= 0.5)[:, None, None]
  Your gates are open or closed, from 0.5 on, and nothing between.
  ? What should a gate of 0.25 do?
  # To prune is to keep or to drop; a gate has a gradient only between.
any_gate_is_open: gates[:, None, None] -> (gates != 0)[:, None, None]
  Your gates are fully open unless they are 0.
  # gates.bool() turns them into a mask.
heads_of_negative_gates_left_out:
  | gates[:, None, None] -> gates.clamp(min=0)[:, None, None]
  Your code takes a gate below 0 for one that is closed.
  ? What should a gate of −1 do?
  # `if gate > 0` looks like a test for an open gate.
gates_cut_to_0_and_1: gates[:, None, None] -> gates.clamp(0, 1)[:, None, None]
  Your gates are cut to the range from 0 to 1.
  ? What should a gate of 2 do?
  # The gates of Voita et al. are: hard concrete numbers between 0 and 1.
gates_reversed: gates[:, None, None] -> (1 - gates)[:, None, None]
  Your gates close a head at 1 and leave it at 0.
  ? What does a gate of 1 do, according to the docstring?
  # A list of heads to prune has a 1 where a head goes.
gates_squared: gates[:, None, None] -> gates[:, None, None] ** 2
  Your gates count twice: their squares multiply the heads.
  ? At how many points on a head's way do your gates come in?
  # They multiply the values and the output, or heads and rows of w_o.
sigmoid_of_the_gates: gates[:, None, None] -> gates.sigmoid()[:, None, None]
  Your gates go through a sigmoid: 0 halves a head.
  ? What should a gate of 0 do?
  # The gates of an LSTM, and learned gates in general, are sigmoids.
softmax_of_the_gates: gates[:, None, None] -> gates.softmax(dim=0)[:, None, None]
  Your gates go through a softmax: they sum to 1.
  ? What should gates of ones do?
  # Heads that are weighed against each other, as in a mixture of experts.
gates_turned_round: gates[:, None, None] -> gates.flip(0)[:, None, None]
  Your gate 0 belongs to the last head.
  ? Which columns of w_q are those of head 0?
  # A loop that counts down.
a_gate_for_each_token: gates[:, None, None] -> gates[:, None]
  Where there are as many tokens as heads, your gates multiply the tokens.
  ? Which axis of (…, n_heads, n, d_k) do your gates meet?
  # gates[:, None] meets the last axis but one, and a shape error only says so where n
    is not n_heads.
a_gate_for_each_sequence: gates[:, None, None] -> gates[:, None, None, None]
  Where there are as many sequences as heads, your gates multiply the sequences.
  # gates[:, None, None, None] meets the first of four axes.
a_gate_for_each_number: gates[:, None, None] -> gates
  Where a head has as many numbers as there are heads, your gates multiply these.
  # heads * gates meets the last axis.
divided_by_the_sum_of_gates: @ w_o -> @ w_o / gates.sum()
  Your output is divided by the sum of the gates.
  ? What should gates of ones give, according to the docstring?
  # A weighted mean is divided by the sum of its weights.
scaled_by_how_many_are_open: @ w_o -> @ w_o * len(gates) / torch.count_nonzero(gates)
  Your output is multiplied by n_heads and divided by how many gates are not 0.
  ? Do the other heads take notice of a closed one, according to the docstring?
  # Dropout does so, and a closed head looks like a dropped one.
made_up_for_as_in_dropout: @ w_o -> @ w_o * len(gates) / gates.sum()
  Your output is divided by the mean of the gates, as if to make up for closed heads.
heads_cut_out:
  | return … ->
  :     heads = (heads * gates[:, None, None])[..., gates != 0, :, :]
  :     return merge_heads(heads) @ w_o[:heads.shape[-3] * heads.shape[-1]]
  Your closed heads are cut out, and those left meet the first rows of w_o.
  ? Which rows of w_o belong to head 2, whether head 1 is there or not?
  # Cutting saves time; the rows of w_o have to be cut with the heads.
w_o_left_out: return merge_heads(heads * gates[:, None, None])
  Your heads are joined without w_o.
  ? Which argument is not used in your code?
  # The gates seem to be the last step.
may_attend_ignored: , for_all_heads(may_attend) ->
  All your tokens attend to all: `may_attend` plays no part.
  ? Which tokens of the memory may a token attend to?
  # The gates are taken for the mask.
sequences_taken_for_heads: for_all_heads(may_attend) -> may_attend
  Your mask (batch, n, m) meets the heads: its first axis is taken for theirs, or does
    not fit.
  ? Which axis does broadcasting put next to the first one of (batch, n, m), if the
    scores have (batch, n_heads, n, m)?
  # For a mask (n, m) nothing has to be done, and both look alike.
blocked_scores_zero:
  | heads, _ … -> heads = with_blocked_scores(q, k, v, may_attend, 0.0)
  Your blocked tokens have a score of 0, and so a weight above 0.
  ? What is e to the power of 0, and is that a weight of nothing?
  # scores * may_attend looks like switching off.
blocked_scores_of_minus_100:
  | heads, _ … -> heads = with_blocked_scores(q, k, v, may_attend, -100.0)
  Your blocked tokens have a score such as −100: other scores may be smaller.
  ? Is there a number that is smaller than every score?
  # −100 looks small enough next to scores that lie between −1 and 1.
blocked_scores_of_minus_ten_thousand:
  | heads, _ … -> heads = with_blocked_scores(q, k, v, may_attend, -10000.0)
  Your blocked tokens have a score such as −10000: other scores may be smaller.
  ? Is there a number that is smaller than every score?
  # Far below the scores of a fresh model; BERT's code has −10000.
divided_again_after_the_mask:
  | heads, _ … ->
  :     weights = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(dim=-1)
  :     if may_attend is not None:
  :         weights = weights * for_all_heads(may_attend)
  :         weights = weights / weights.sum(dim=-1, keepdim=True)
  :     heads = weights @ v
  Your softmax is taken over all tokens, and what is not blocked is divided by its sum
    afterwards: next to a blocked token that scores far higher, that is 0 / 0.
  ? Which token has the largest score in your softmax, if a blocked one may have it?
  # weights * mask / sum is equal on paper, and right for scores that are close.
divided_again_with_a_little_added:
  | heads, _ … ->
  :     weights = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(dim=-1)
  :     if may_attend is not None:
  :         weights = weights * for_all_heads(may_attend)
  :         weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-13)
  :     heads = weights @ v
  Your softmax is taken over all tokens, and what is not blocked is scaled up
    afterwards: next to a blocked token that scores far higher, all weights are 0.
  ? Which token has the largest score in your softmax, if a blocked one may have it?
  # AllenNLP's masked_softmax adds 1e-13, so that a row without keys is not 0 / 0.
may_attend_reversed:
  | if may_attend is not None:
  :     may_attend = ~may_attend
  Your tokens attend where `may_attend` is False.
  ? What does True in `may_attend` say, read aloud?
  # masked_fill blocks where its mask is True.
keys_and_values_exchanged: memory @ w_k, memory @ w_v -> memory @ w_v, memory @ w_k
  Your keys are made with w_v and your values with w_k.
  ? In which order does `attention` take its arguments?
  # All matrices have the same shape, and any order runs.
attends_to_x: memory = x
  Your tokens attend to x, not to the memory.
  ? Whose keys and values does the docstring ask for?
  # Self-attention is the usual case, and x stands first.
scaled_by_d_model: attention(q, k -> attention(q / len(gates) ** 0.5, k
  Your scores are divided by √d_model.
  ? How long is one head's query?
  # Before the heads are split, the last axis is d_model long.
weights_returned_too:
  | heads, _ -> heads, weights
  | @ w_o -> @ w_o, weights
  Your result is a pair: the output, and the weights.
  ? How many results does the docstring promise?
  # `attention` returns both, and one hands them on.
x_added: @ w_o -> @ w_o + x
  Your result has x added to it.
  ? Whose task is the residual connection: this function's, or the layer's around it?
  # With all gates closed, a layer leaves x as it is.
w_o_overwritten:
  | return … ->
  :     w_o *= gates.repeat_interleave(q.shape[-1])[:, None]
  :     return merge_heads(heads) @ w_o
  Your call multiplies the rows of the caller's w_o by the gates.
  ? Which tensor does `*=` write into, and who else holds it?
  # Gates on the rows of w_o give the same output, and `*=` saves a name.
""",
    with_blocked_scores=with_blocked_scores,
)

exercise.family(families.squeezed(), families.as_numpy())
