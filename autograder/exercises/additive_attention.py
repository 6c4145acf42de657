"""Cases and misconceptions of ``additive_attention``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from autograder.exercises.attention import exercise as attention_exercise
from course_lib.nn.sequence_to_sequence import additive_attention

exercise = Exercise(
    additive_attention,
    lesson="08_sequence_to_sequence",
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


inputs = exercise.inputs(m=7, d_h=3, d_k=4, d_v=6, d_a=5)


@exercise.usual
def usual(rng):
    may_attend = torch.tensor([[True] * 5 + [False] * 2, [False] + [True] * 6])
    return *inputs(rng, leading=(2,)), may_attend


@exercise.case(
    "Where each tanh is −1, 0 or 1, the weights are in the ratio 1 : e : e³", weight=0.5
)
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


@exercise.case("A state attends to seven source tokens with these weights", weight=0.5)
def one_state(student, rng):
    student.agrees(*inputs(rng))


@exercise.case("Each source of a batch is handled by itself", weight=1.5)
def leading_axes(student, rng):
    student.agrees(*inputs(rng, leading=(4,), m=4))  # here a missing axis fits too
    student.agrees(*inputs(rng, leading=(2, 3), m=5))


@exercise.case(
    "Where `may_attend` is False, the weight is 0 and the others sum to 1", weight=2
)
def some_blocked(student, rng):
    student.agrees(*inputs(rng, m=4), torch.tensor([True, False, True, True]))


@exercise.case("In a batch, each source has a mask of its own", weight=2)
def some_blocked_in_a_batch(student, rng):
    may_attend = torch.tensor([[True, False, True, True, True], [False] + 4 * [True]])
    student.agrees(*inputs(rng, leading=(2,), m=5, d_a=6), may_attend)


@exercise.case("Keys, values and states of the same size keep their roles", weight=0.5)
def same_sizes(student, rng):
    student.agrees(*inputs(rng, m=4, d_h=4, d_k=4, d_v=4))


@exercise.case(
    "A batch of one stays a batch, and one source token gets the weight 1", weight=0.5
)
def one_source_token(student, rng):
    state, keys, values, *parameters = inputs(rng, leading=(1,), m=1)
    result = student(state, keys, values, *parameters)
    student.expect(result, (values[:, 0], torch.ones(1, 1)))
    student.agrees(*inputs(rng, leading=(1,), m=3))


@exercise.case(
    "Scores of 2,000, −2,000 and 2,000 give the weights ½, 0 and ½; a blocked one "
    "gets 0, however far above the others or below",
    weight=1,
)
def large_next_to_small(student, rng):
    state, keys = torch.zeros(1), torch.tensor([[1.0], [-1.0], [0.5]])
    w_q, w_k, v = torch.ones(1, 1), torch.tensor([[40.0]]), torch.tensor([2000.0])
    values = drawn(rng, 3, 6)
    context, weights = (values[0] + values[2]) / 2, torch.tensor([0.5, 0.0, 0.5])
    student.expect(student(state, keys, values, w_q, w_k, v), (context, weights))
    same = torch.ones(3, 1), values, w_q, w_k, -v
    result = student(state, *same, torch.tensor([True, False, True]))
    student.expect(result, (context, weights))
    # The blocked one is far above the two others.
    for size in (20.0, 2000.0):
        far = keys, values, w_q, w_k, -size / 2000 * v
        result = student(state, *far, torch.tensor([True, False, True]))
        student.expect(result, (context, weights))
    # In a batch, far from the other row's scores: e to the power of −4,000 is 0.
    batch = torch.zeros(2, 1), torch.stack([keys, -torch.ones(3, 1)])
    student.agrees(*batch, torch.stack([values, values]), w_q, w_k, v)


@exercise.fine_point("A blocked token has no weight, however low the others score")
def low_scores(student, rng):
    state, keys = torch.zeros(1), torch.tensor([[1.0], [-1.0]])
    w_q, w_k, values = torch.ones(1, 1), torch.tensor([[40.0]]), drawn(rng, 2, 6)
    expected = values[0], torch.tensor([1.0, 0.0])
    for size in (2e4, 2e6, 2e9):
        parameters = w_q, w_k, torch.tensor([-size])  # the score is −size
        may_attend = torch.tensor([True, False])
        student.expect(student(state, keys, values, *parameters, may_attend), expected)


@exercise.case(
    "Source tokens reordered together with their values change nothing",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def pairs_reordered(student, rng):
    state, keys, values, *parameters = inputs(rng, m=4)
    before, _ = student(state, keys, values, *parameters)
    moved = keys.roll(1, dims=0), values.roll(1, dims=0)
    after, _ = student(state, *moved, *parameters)
    student.expect(after, before, what="the context after the change")


@exercise.case("The arguments are not modified", weight=0.5)
def arguments_stay(student, rng):
    may_attend = torch.tensor([True, False, True])
    student.leaves_unchanged(*inputs(rng, m=3, d_a=2), may_attend)


@exercise.right_answer
def one_mask(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = torch.tanh((state @ w_q).unsqueeze(-2) + keys @ w_k)
    scores = hidden @ v
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    weights = scores.softmax(dim=-1)
    return ((weights.unsqueeze(-2) @ values).squeeze(-2), weights)


exercise.edits(
    """
no_tanh: hidden = (state @ w_q).unsqueeze(-2) + keys @ w_k
  Your scores have no tanh in them.
  ? What stands between the sum and the product with v?
  # keon/seq2seq, issue 3, and AuCson/PyTorch-Batch-Attention-Seq2seq, issue 3: the
    weights stuck to one word until the tanh came in.
tanh_of_each_side:
  | hidden = torch.tanh(state @ w_q).unsqueeze(-2) + torch.tanh(keys @ w_k)
  Your weights would be the same with another state.
  ? Which comes first in the formula, the sum or the tanh, and what is in that sum?
  # Both products are written as complete layers, each with its activation: what is
    the same in all scores then has no effect on the softmax.
tanh_after_v:
  | hidden = (state @ w_q).unsqueeze(-2) + keys @ w_k
  | hidden @ v -> torch.tanh(hidden @ v)
  Your scores went through the tanh last: all lie between −1 and 1.
  ? What does v multiply, the sum or its tanh?
  # tanh(v · (…)) is one bracket away from v · tanh(…).
relu_for_tanh: torch.tanh -> torch.relu
  Your scores come from a ReLU: nothing negative is multiplied by v.
  ? Which activation does the docstring name?
  # ReLU is the habit of today's networks: keon/seq2seq, issue 28.
sigmoid_for_tanh: torch.tanh -> torch.sigmoid
  Your scores come from a sigmoid: only numbers from 0 to 1 are multiplied by v.
  # The gates of the unit before this exercise have sigmoids.
product_for_sum: unsqueeze(-2) + keys @ w_k -> unsqueeze(-2) * (keys @ w_k)
  Your state's part is multiplied by the key's, not added to it.
  ? Why is this attention called additive?
  # A dot product is the score of lesson 01, and * looks as natural as +.
w_q_and_w_k_exchanged:
  | state @ w_q -> state @ w_k
  | keys @ w_k -> keys @ w_q
  Your w_q is applied to the keys, and your w_k to the state.
  ? Which size does each of the two matrices take in?
  # With states and keys of one size nothing complains, and papers number the matrices
    in either order.
state_without_axis: (state @ w_q).unsqueeze(-2) -> state @ w_q
  In a batch, your states are added to keys that are not their own, or the shapes do
    not fit.
  ? Which of your two summands lacks the axis of the source tokens?
  # state @ w_q + keys @ w_k is right as it stands for one state: a row is added to
    each row.
state_axis_counted_from_the_front:
  | (state @ w_q).unsqueeze(-2) -> (state @ w_q).unsqueeze(1)
  Your state gets its new axis at position 1: that is right for one batch axis, and
    for no other number of them.
  ? From which end is the axis of the source tokens counted in the docstring?
  # unsqueeze(1) is what tutorials with a batch show.
v_ignored: hidden @ v -> hidden.sum(dim=-1)
  Your scores are plain sums: v is not in them.
  ? What would change in your weights if v were doubled?
  # 'Add the numbers up to a score' leaves v out.
divided_by_root_of_d_a: hidden @ v -> hidden @ v / len(v) ** 0.5
  Your scores are divided by √d_a.
  ? Which score had a square root in its formula, and does this one?
  # The scale of dot-product attention is carried over.
mask_ignored: may_attend = None
  Your mask is not used: blocked tokens have weight.
  ? Which line of your code would change its result if `may_attend` were all True?
  # Seen in the tutorials themselves: tensorflow/tensorflow, issue 512;
    pytorch/tutorials, issue 593.
mask_inverted: ~may_attend => may_attend
  Your mask works the other way round: what is False in `may_attend` counts as True.
  ? Does True in `may_attend` mean that a token may be attended to, or that it is
    blocked?
  # In PyTorch's key_padding_mask True means blocked.
mask_needed:
  | if may_attend is not None:
  :     scores = … -> scores = scores.masked_fill(~may_attend, -torch.inf)
  Your answer raises an error where there is no mask.
  ? What does `may_attend` hold if a caller leaves it out?
  # masked_fill(~may_attend, …) is written without a thought of None.
mask_asked_for_its_truth: if may_attend is not None => if may_attend
  Your answer raises an error where there is a mask.
  ? Is a tensor of several booleans true or false, and what did you want to know of
    it?
  # `if may_attend:` reads like `if may_attend is not None:`.
""",
)
exercise.edits(
    """
blocked_scores_zero: -torch.inf -> 0.0
  Your blocked tokens have a score of 0 where they should have none.
  ? What is e to the power of 0, and is that a weight of nothing?
  # Padding is 0 everywhere else: ilivans/tf-rnn-attention, issue 11.
blocked_scores_of_minus_100: -torch.inf -> -100.0
  Your blocked tokens have a score such as −100: other scores may be smaller.
  ? How small may the score of a token be that may be attended to?
  # −100 looks small enough next to scores that lie between −1 and 1.
blocked_scores_of_minus_ten_thousand: -torch.inf -> -10000.0
  Your blocked tokens have a score such as −10000: other scores may be smaller.
  ? Is there a number that is smaller than every score?
  # Far below the scores of a fresh model: −1e9 is in The Annotated Transformer, −1e6
    in Dive into Deep Learning, −10000 in BERT's code.
blocked_scores_of_minus_a_million: -torch.inf -> -1000000.0
  Your blocked tokens have a score such as −10⁶: other scores may be smaller.
blocked_scores_of_minus_a_billion: -torch.inf -> -1000000000.0
  Your blocked tokens have a score such as −10⁹: other scores may be smaller.
""",
    of=one_mask,
)
exercise.edits(
    """
mask_after_softmax:
  | if may_attend is not None:
  :     scores = …
  : weights = … -> weights = scores.softmax(dim=-1)
  Your blocked weights are 0, and the others have not become larger for it: a row
    loses what they had.
  ? Who else has to get the weight that a blocked token had?
  # 'Multiply the weights by the mask' is the shortest way to a 0:
    abisee/pointer-generator, issue 88, where a division puts it right.
divided_again_after_the_mask:
  | if may_attend is not None:
  :     scores = …
  : weights = … -> weights = scores.softmax(dim=-1)
  | weights = weights. … ->
  :     weights = weights.masked_fill(~may_attend, 0.0)
  :     weights = weights / weights.sum(dim=-1, keepdim=True)
  Your softmax is taken over all tokens, and what is not blocked is divided by its sum
    afterwards: next to a blocked token that scores far higher, that is 0 / 0.
  ? Which token has the largest score in your softmax, if a blocked one may have it?
  # weights * mask / sum is equal on paper, and right for scores that are close.
divided_again_with_a_little_added:
  | if may_attend is not None:
  :     scores = …
  : weights = … -> weights = scores.softmax(dim=-1)
  | weights = weights. … ->
  :     weights = weights.masked_fill(~may_attend, 0.0)
  :     weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-13)
  Your softmax is taken over all tokens, and what is not blocked is divided by its sum
    and a little more: next to a blocked token that scores far higher, weights become
    too small.
  ? What do your weights sum to, if a blocked token has by far the largest score?
  # AllenNLP's masked_softmax does so, with 1e-13.
mask_on_the_values_only:
  | if may_attend is not None:
  :     scores = …
  : weights = … -> weights = scores.softmax(dim=-1)
  | weights = weights. … -> values = values.masked_fill(~may_attend.unsqueeze(-1), 0.0)
  Your blocked values count as 0, and your weights know nothing of the mask.
  ? Where does the weight of a blocked token go, if its value is 0?
  # What is multiplied by 0 seems to be out of the sum: ilivans/tf-rnn-attention,
    issue 11.
weights_masked_alone:
  | scores = hidden @ v ->
  :     scores = hidden @ v
  :     context = (scores.softmax(dim=-1).unsqueeze(-2) @ values).squeeze(-2)
  | return (context, weights)
  Your context is not mixed with the weights next to it: a mask does not reach it.
  ? Which weights is your context computed with?
  # The mask is applied last, to what is returned.
context_masked_alone:
  | return ((weights.unsqueeze(-2) @ values).squeeze(-2), (hidden @ v).softmax(dim=-1))
  Your context is not mixed with the weights next to it: those know of no mask.
  ? Which of your variables is returned as the weights?
  # Two tensors of weights with similar names, and the earlier one is returned.
""",
)
exercise.edits(
    """
softmax_over_the_batch: dim=-1 -> dim=0
  Your softmax runs along axis 0, which holds the source tokens only when there is no
    batch.
  ? Among which numbers should a weight of 1 be shared out: one state's, or the
    batch's?
  # Softmax(dim=0) is right for one sentence: PetrochukM/PyTorch-NLP, issue 2.
softmax_along_axis_one: dim=-1 -> dim=1
  Your softmax runs along axis 1, which holds the source tokens only with one leading
    batch axis.
  ? From which end is the axis of the source tokens counted in the docstring?
  # Softmax(dim=1) is what tutorials with a batch show.
softmax_over_everything: weights = scores.flatten().softmax(dim=0).reshape(scores.shape)
  Your weights of a whole batch are shared out as if it were one row.
  ? How much weight has one state to share out?
  # Without an axis, sum() takes in the whole tensor.
softmax_missing: weights = scores
  Your weights are the scores: no softmax has made shares of them.
  ? What makes positive weights that sum to 1 out of scores?
  # Scores are taken for weights: 'multiply the values by the scores'.
sigmoid_for_softmax: weights = torch.sigmoid(scores)
  Your weights are sigmoids of the scores, each for itself.
  ? What should a row of weights sum to?
  # A gate opens for each source token, without regard to the others.
softmax_before_v:
  | hidden = torch.tanh((state @ w_q).unsqueeze(-2) + keys @ w_k).softmax(dim=-1)
  | weights = scores
  Your softmax runs over the d_a numbers inside, before the product with v, and the
    scores are used as weights.
  ? How many numbers does one source token have when its weight is chosen?
  # Softmax and activation are exchanged in keon/seq2seq, issue 15.
exponentials_overflow: weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
  Your weights are NaN for large scores.
  ? How large is e to the power of 2,000 in floating point, and how does `softmax` get
    round it?
  # exp(scores) / sum is written out again, without subtracting the maximum.
one_maximum_for_the_batch:
  | weights = … ->
  :     powers = (scores - scores.max()).exp()
  :     weights = powers / powers.sum(dim=-1, keepdim=True)
  Your weights are NaN in rows whose scores are all far below the largest of the
    batch.
  ? What is e to the power of −4,000 in floating point, and whose largest score is
    subtracted from a row?
  # scores.max() without an axis: enough against overflow, not against 0 / 0.
""",
    of=one_mask,
)
exercise.edits(
    """
keys_mixed: @ values -> @ keys
  Your context is a mix of the keys.
  ? Keys are for being found: what does the decoder take home?
  # In most models one tensor, the encoder's outputs, plays both parts.
weights_without_axis: (weights.unsqueeze(-2) @ values).squeeze(-2) -> weights @ values
  Your context is right for one source only: in a batch it has the wrong shape or
    cannot be computed.
  ? A row is a table with one row: which axis do your weights lack for that?
  # weights @ values is right for one source; for a batch @ takes the weights of all
    sources for one matrix.
one_batch_axis_only:
  | (weights.unsqueeze(-2) @ values).squeeze(-2) ->
  :     weights.unsqueeze(1).bmm(values).squeeze(1)
  Your answer raises an error unless there is one batch axis.
  ? What does the … in the shape (…, m) stand for?
  # torch.bmm takes three axes, and tutorials have three.
context_keeps_an_axis:
  | (weights.unsqueeze(-2) @ values).squeeze(-2) -> weights.unsqueeze(-2) @ values
  Your context has an axis of length 1 too many.
  ? Which shape has the context in the docstring, and which has yours?
  # The weights become a table of one row for the product, and so is the result.
mean_of_weighted_values:
  | (weights.unsqueeze(-2) @ values).squeeze(-2) ->
  :     (weights.unsqueeze(-1) * values).mean(dim=-2)
  Your context is divided by m, the number of source tokens.
  ? What do the weights sum to, and what is left to divide by?
  # 'Weighted mean' becomes .mean() of what was weighted already.
values_not_summed:
  | (weights.unsqueeze(-2) @ values).squeeze(-2) -> weights.unsqueeze(-1) * values
  Your context still has one row for each source token.
  ? How many vectors does the decoder take home?
  # weights * values resembles the formula, whose sum is forgotten.
summed_over_the_numbers:
  | (weights.unsqueeze(-2) @ values).squeeze(-2) ->
  :     (weights.unsqueeze(-1) * values).sum(dim=-1)
  Your context has one number for each source token: each value is summed.
  ? Over which axis does the formula sum: source tokens, or numbers of a value?
  # sum(dim=-1) is the habit; the source tokens lie along −2.
values_summed_without_weights:
  | (weights.unsqueeze(-2) @ values).squeeze(-2) -> values.sum(dim=-2)
  Your context is a plain sum: the weights have no part in it.
  ? What should the context be if all the weight lies on one source token?
  # values.sum(dim=-2) has the right shape, and the weights are returned anyway.
scores_returned: return ((weights.unsqueeze(-2) @ values).squeeze(-2), scores)
  The second tensor that you return holds the scores.
  ? Which of your two tensors has rows that sum to 1?
  # 'Attention' is a name for either of the two.
weights_as_a_column:
  | return ((weights.unsqueeze(-2) @ values).squeeze(-2), weights.unsqueeze(-1))
  Your weights have an axis of length 1 too many, at the end.
  ? Which shape have the weights in the docstring, and which have yours?
  # The score comes out as (…, m, 1), or needs that shape for the values.
blocked_values_overwritten:
  | weights = weights. … -> values.masked_fill_(~may_attend.unsqueeze(-1), 0.0)
  Your call overwrites the blocked values with zeros.
  ? What does the underscore at the end of `masked_fill_` say, and whose tensor are
    the values?
  # `masked_fill_` looks like `masked_fill`.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("context"),
    families.one_result_only("weights"),
    families.squeezed(),
    families.as_numpy(),
)
exercise.edits(
    """
exponentials_not_divided: weights = scores.exp()
""",
    words=attention_exercise.words,
    of=one_mask,
)
