"""Cases and misconceptions of ``grouped_query_attention``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.modern_block import grouped_query_attention

exercise = Exercise(
    grouped_query_attention,
    lesson="12_language_model",
    minutes=12,
    difficulty=2,
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
    ),
)


@exercise.spec
def spec(q, k, v, may_attend=None):
    *leading, n_heads, n, d_k = q.shape
    n_kv_heads, m, d_v = v.shape[-3:]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads for {n_kv_heads}")
    output = np.zeros((*leading, n_heads, n, d_v))
    allowed = np.ones((*leading, n, m), dtype=bool)
    if may_attend is not None:
        allowed = allowed & may_attend.numpy()
    for index in np.ndindex(*leading, n_heads, n):
        *batch, head, i = index
        shared = head * n_kv_heads // n_heads
        query, scores = q[index].tolist(), {}
        for j in range(m):
            if allowed[*batch, i, j]:
                key = k[*batch, shared, j].tolist()
                dot = sum(a * b for a, b in zip(query, key, strict=True))
                scores[j] = dot / math.sqrt(d_k)
        highest = max(scores.values(), default=0.0)
        powers = {j: math.exp(score - highest) for j, score in scores.items()}
        for j, power in powers.items():
            value = v[*batch, shared, j].numpy().astype(float)
            output[index] += power / sum(powers.values()) * value
    return torch.from_numpy(output).to(q.dtype)


def drawn(rng, *shape, dtype=np.float32):
    """Draw a tensor."""
    return torch.from_numpy(np.array(rng.normal(size=shape), dtype=dtype))


inputs = exercise.inputs(n=3, m=5, d_k=4, d_v=7)


def heads(rng, leading, n_heads, n_kv_heads, **options):
    """Draw queries, keys and values of so many heads."""
    return inputs(rng, leading, n_heads=n_heads, n_kv_heads=n_kv_heads, **options)


def drawn_mask(rng, *shape):
    """Draw a mask that leaves each query a key, and blocks another one."""
    may_attend = rng.random(shape) < 0.5
    free = rng.integers(shape[-1], size=shape[:-1])[..., np.newaxis]
    np.put_along_axis(may_attend, free, True, axis=-1)
    np.put_along_axis(may_attend, (free + 1) % shape[-1], False, axis=-1)
    return torch.from_numpy(may_attend)


@exercise.usual
def usual(rng):
    return *heads(rng, (2,), 6, 2), drawn_mask(rng, 3, 5)


@exercise.case("Of six heads, the first three read 10 and the last three 20")
def small_example_by_hand(student, rng):
    q, k = drawn(rng, 6, 1, 2), drawn(rng, 2, 1, 2)
    v = torch.tensor([[[10.0]], [[20.0]]])  # one key alone has the whole weight
    expected = torch.tensor([[[10.0]]] * 3 + [[[20.0]]] * 3)
    student.expect(student(q, k, v), expected)
    student.agrees(*heads(rng, (), 6, 2))


@exercise.case("Neighbouring heads share keys and values, for any two numbers of heads")
def neighbours_share(student, rng):
    for n_heads, n_kv_heads in ((4, 2), (6, 3), (8, 2)):
        student.agrees(*heads(rng, (), n_heads, n_kv_heads))
    q, k, v = drawn(rng, 4, 3, 5), drawn(rng, 2, 3, 5), drawn(rng, 2, 3, 6)
    student.agrees(q, k, v)


@exercise.case("With n_kv_heads = 1, all heads share the same keys and values")
def multi_query(student, rng):
    student.agrees(*heads(rng, (), 5, 1))
    student.agrees(*heads(rng, (2,), 4, 1))


@exercise.case("With n_kv_heads = n_heads, each head has its own")
def multi_head(student, rng):
    student.agrees(*heads(rng, (), 4, 4))
    student.agrees(*heads(rng, (3,), 3, 3))


@exercise.case("Any number of axes may come first")
def leading_axes(student, rng):
    student.agrees(*heads(rng, (1,), 4, 2))
    student.agrees(*heads(rng, (3,), 6, 2))
    student.agrees(*heads(rng, (2, 3), 4, 2))


@exercise.case("A mask (n, m) holds for every head of every sequence", weight=1.5)
def one_mask_for_all(student, rng):
    student.agrees(*heads(rng, (), 6, 2), drawn_mask(rng, 3, 5))
    student.agrees(*heads(rng, (2,), 4, 2), drawn_mask(rng, 3, 5))
    causal = torch.ones(3, 5, dtype=torch.bool).tril()
    student.agrees(*heads(rng, (2,), 4, 4), causal)


@exercise.case("With a mask (batch, n, m), each sequence has its own")
def mask_of_each_sequence(student, rng):
    student.agrees(*heads(rng, (4,), 4, 2), drawn_mask(rng, 4, 3, 5))
    student.agrees(*heads(rng, (3,), 6, 2), drawn_mask(rng, 3, 3, 5))


@exercise.fine_point("A query that may attend to no key gets zeros")
def nothing_to_attend_to(student, rng):
    may_attend = drawn_mask(rng, 3, 5)
    may_attend[1] = False
    student.agrees(*heads(rng, (2,), 4, 2), may_attend)


@exercise.case("Scores of thousands give finite numbers")
def large_scores(student, rng):
    q, k, v = heads(rng, (2,), 6, 3, dtype=np.float64)
    student.agrees(q * 100, k * 100, v)
    student.agrees(q * 100, k * 100, v, drawn_mask(rng, 3, 5))


@exercise.case("Numbers of float64 are answered, too", visible=False)
def double_precision(student, rng):
    q, k, v = heads(rng, (2,), 8, 2, dtype=np.float64)
    student.agrees(q, k, v)
    student.agrees(q, k, v, drawn_mask(rng, 3, 5))


@exercise.case("Queries, keys, values and the mask are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(*heads(rng, (2,), 4, 2), drawn_mask(rng, 3, 5))


@exercise.right_answer
def in_steps(q, k, v, may_attend=None):
    n_heads, n_kv_heads = (q.shape[-3], k.shape[-3])
    if n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads={n_heads} is not divisible by n_kv_heads={n_kv_heads}"
        )
    n_each = n_heads // n_kv_heads
    k = k.repeat_interleave(n_each, dim=-3)
    v = v.repeat_interleave(n_each, dim=-3)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend[..., None, :, :], -torch.inf)
    weights = scores.softmax(dim=-1).nan_to_num(nan=0.0)
    return weights @ v


exercise.edits(
    """
tiled: .repeat_interleave(n_each, dim=-3) => .tile(n_each, 1, 1)
  Your head h reads the keys and values of head h % n_kv_heads, and neighbours read
    different ones.
  ? Which heads of queries read the same keys as head 0 in your code, and which are in
    its group?
  # repeat and tile copy the whole axis; repeat_interleave copies each head.
keys_tiled: k = k.tile(n_each, 1, 1)
  Your head h reads the keys of head h % n_kv_heads, and the values of its group.
  ? Are keys and values laid out in the same way?
  # One of two lines is mended, and the other one forgotten.
values_tiled: v = v.tile(n_each, 1, 1)
  Your head h reads the values of head h % n_kv_heads, and the keys of its group.
first_head_for_all: .repeat_interleave(n_each, dim=-3) => [..., :1, :, :]
  Your heads all read head 0 of keys and values.
  ? What do the other heads of keys and values do in your code?
  # That is multi-query attention, where there is no other head.
keys_and_values_averaged:
  | .repeat_interleave(n_each, dim=-3) => .mean(dim=-3, keepdim=True)
  Your heads all read the mean of the heads of keys and values.
  ? How many different heads of values can be read, and how many does your code have?
  # Averages are how Ainslie et al. (2023) make grouped heads out of a trained
    model's; after that they stay apart.
groups_from_the_last_on: .repeat_interleave => .flip(-3).repeat_interleave
  Your first group reads the last head of keys and values.
  ? Which head of keys and values belongs to head 0 of the queries?
  # An index runs down where it should run up.
rows_repeated:
  | .repeat_interleave(n_each, dim=-3) =>
  :     .repeat_interleave(n_each, dim=-2).unflatten(-2, (n_each, -1)).flatten(-4, -3)
  Your heads of a group read different positions: the rows of their head are repeated
    one by one, and shared out among them.
  ? How many different keys does one query meet in your code?
  # repeat along the wrong axis and reshape give the right shape.
queries_averaged:
  | q @ -> q.unflatten(-3, (-1, n_each)).mean(-3).repeat_interleave(n_each, -3) @
  Your heads of one group all have the mean of their queries.
  ? What do the heads of a group share: keys and values only, or queries, too?
  # 'Grouped queries' is read as queries that are merged.
one_mean_query_for_each_group:
  | q @ -> q.unflatten(-3, (-1, n_each)).mean(-3).repeat_interleave(n_each, -3) @
  | return (weights @ v)[..., ::n_each, :, :]
  Your result has one head for each group: that of the mean of the group's queries.
  ? How many heads does the docstring promise?
  # 'Grouped queries' is read as queries that are merged into one.
outputs_averaged: return (weights @ v).unflatten(-3, (-1, n_each)).mean(dim=-3)
  Your result has one head for each group: the mean of its outputs.
  ? How many heads does the docstring promise?
  # 'Grouped' is read as merged, and the number of heads is then n_kv_heads.
outputs_summed: return (weights @ v).unflatten(-3, (-1, n_each)).sum(dim=-3)
  Your result has one head for each group: the sum of its outputs.
  # An einsum without the axis of the group in its output sums over it.
groups_left_as_an_axis: return (weights @ v).unflatten(-3, (-1, n_each))
  Your result has an axis for the groups, and one for the heads in each.
  ? Which shape does the docstring promise?
  # The queries are unflattened, and flatten is forgotten at the end.
heads_reordered:
  | return (weights @ v).unflatten(-3, (-1, n_each)).transpose(-4, -3).flatten(-4, -3)
  Your heads come out in another order: the first of each group, then the second of
    each.
  ? Which of your two axes of heads varies faster, before and after?
  # An einsum puts the axis of the group first, and reshape takes it as it is.
heads_merged: return (weights @ v).transpose(-3, -2).flatten(-2)
  Your heads are merged: each token has one long vector.
  ? Which shape does the docstring promise?
  # merge_heads comes next in every block.
tokens_before_heads: return (weights @ v).transpose(-3, -2)
  Your axes of tokens and of heads are exchanged.
  # (batch, n, n_heads, d) is what several libraries use.
weights_returned: return weights
  Your result holds the weights, not the output.
  ? What is done with the weights at the end?
  # The weights are what the pictures show.
weights_returned_too: return (weights @ v, weights)
  Your result is a pair: the output, and the weights.
  ? How many results does the docstring promise?
  # attention returns both, and its result is handed on.
not_scaled: / q.shape[-1] ** 0.5 ->
  Your scores are not scaled.
  ? By what are dot products divided before the softmax?
  # The grouping is new, and the rest is written from memory.
scaled_by_d_k: q.shape[-1] ** 0.5 -> q.shape[-1]
  Your scores are divided by d_k, not by its root.
  ? How does the size of a dot product grow with d_k?
  # The root is lost.
scaled_by_the_root_of_d_v: q.shape[-1] -> v.shape[-1]
  Your scores are divided by √d_v.
  ? Which vectors are multiplied in a score: those of keys, or those of values?
  # d_k = d_v in nearly every model.
scaled_by_the_number_of_keys: q.shape[-1] -> k.shape[-2]
  Your scores are divided by √m.
  ? Which axis does a dot product sum over?
  # shape[-2] and shape[-1] are a digit apart.
scaled_by_n_kv_heads: q.shape[-1] -> n_kv_heads
  Your scores are divided by √n_kv_heads.
  # shape[-3] is at hand, since the heads are counted above.
scaled_by_all_keys_of_a_token: q.shape[-1] -> (n_kv_heads * q.shape[-1])
  Your scores are divided by √(n_kv_heads · d_k).
  ? How many numbers does one dot product sum?
  # That is the length of a token's keys before they are split into heads.
scaled_by_d_model: q.shape[-1] -> (n_heads * q.shape[-1])
  Your scores are divided by √(n_heads · d_k).
  # d_model is d_k in attention with one head.
scaled_by_the_group: q.shape[-1] -> (n_each * q.shape[-1])
  Your scores are divided by √d_k, and by the root of the number of heads in a group.
  # The heads of a group are thought of as one longer head.
softmax_over_queries: softmax(dim=-1) -> softmax(dim=-2)
  Your softmax runs over the queries.
  ? Which weights sum to 1: those of one query, or those of one key?
  # Axis −2 is one off, and the shape stays the same.
softmax_over_heads: softmax(dim=-1) -> softmax(dim=-3)
  Your softmax runs over the heads.
  ? Which weights sum to 1: those of one query, or those of all heads together?
  # dim=1 is the axis of the heads in (batch, n_heads, n, m).
mask_inverted: ~may_attend -> may_attend
  Your mask blocks where it is True.
  ? What does True stand for in may_attend?
  # nn.MultiheadAttention's masks block where they are True.
blocked_scores_of_zero: -torch.inf -> 0.0
  Your blocked scores are 0: e⁰ is 1, and they keep a weight.
  ? Which score has the weight 0?
  # scores * may_attend is short, and works for weights.
blocked_scores_of_minus_100: -torch.inf -> -100.0
  Your blocked scores are such as −100: others may be smaller, and where all are
    blocked, all keys get a weight.
  ? Is there a number that is smaller than every score?
  # −100 looks small enough next to scores that lie between −1 and 1.
blocked_scores_of_minus_a_thousand: -torch.inf -> -1000.0
  Your blocked scores are such as −1000: others may be smaller, and where all are
    blocked, all keys get a weight.
  # A thousand is further from 0 than the scores of small examples.
blocked_scores_of_minus_ten_thousand: -torch.inf -> -10000.0
  Your blocked scores are such as −10000: others may be smaller, and where all are
    blocked, all keys get a weight.
  # Far below the scores of a fresh model; BERT's code has −10000.
weights_divided_again:
  | if may_attend is not None:
  :     scores = …
  : weights = … ->
  :     weights = scores.softmax(dim=-1)
  :     if may_attend is not None:
  :         weights = weights * may_attend[..., None, :, :]
  :         weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-13)
  Your softmax is taken over all keys, and what is not blocked is scaled up afterwards:
    next to a blocked key that scores far higher, too little is left.
  ? Which key has the largest score in your softmax, if a blocked one may have it?
  # weights * mask / sum is equal on paper, and right for scores that are close.
weights_not_normalised_again:
  | if may_attend is not None:
  :     scores = …
  : weights = … ->
  :     weights = scores.softmax(dim=-1)
  :     if may_attend is not None:
  :         weights = weights * may_attend[..., None, :, :]
  Your blocked weights become 0 after the softmax: what is left does not sum to 1.
  ? What do the weights of a query sum to, once some are gone?
  # weights * may_attend is short, and leaves zeros in the right positions.
mask_left_out: may_attend = None
  Your mask plays no part.
  ? Which argument is not used in your code?
  # The mask is optional, and the grouping works without it.
mask_added:
  | scores = scores.masked_fill( … -> scores = scores + may_attend[..., None, :, :]
  Your mask is added to the scores: where it is True they grow by 1, and nothing is
    blocked.
  ? Which number is False, and what does it change when it is added?
  # Masks of floats are added, −∞ where they block; this one holds booleans.
causal_whatever_the_mask:
  | weights = … ->
  :     blocked = ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
  :     scores = scores.masked_fill(blocked, -torch.inf)
  :     weights = scores.softmax(dim=-1).nan_to_num(nan=0.0)
  Your query i never attends beyond key i, whatever the mask says.
  ? Which argument says where a query may attend?
  # Every block of this lesson is causal, so the causal mask is written in.
mask_for_the_first_head:
  | scores = scores.masked_fill( -> scores[..., :1, :, :].masked_fill_(
  Your mask holds for head 0 alone.
  ? For which heads should it hold, says the docstring?
  # scores[..., 0, :, :] is masked, in place of all heads.
mask_for_the_first_group:
  | scores = scores.masked_fill( -> scores[..., :n_each, :, :].masked_fill_(
  Your mask holds for the first group alone.
  # In a loop over the groups, the mask is used up, or set to None.
mask_for_the_first_heads:
  | scores = scores.masked_fill( -> scores[..., :n_kv_heads, :, :].masked_fill_(
  Your mask holds for the first n_kv_heads heads alone.
  ? How many heads of scores are there?
  # The mask is repeated for the heads of keys, of which there are fewer.
sequences_taken_for_heads: [..., None, :, :] ->
  Your mask (batch, n, m) meets the heads: its first axis is taken for theirs, or does
    not fit.
  ? Which axis does broadcasting put next to the first one of (batch, n, m), if the
    scores have (batch, n_heads, n, m)?
  # For a mask (n, m) nothing has to be done, and both look alike.
nan_where_nothing_is_allowed: .nan_to_num(nan=0.0) ->
  Your query that may attend to no key gets NaN.
  ? What is the softmax of a row of −∞?
  # masked_fill with −∞ and softmax is what every tutorial has.
mean_where_nothing_is_allowed: -torch.inf -> -1e9
  Your query that may attend to no key gets the mean of all values.
  ? What is the softmax of a row of equal scores, however low they are?
  # A large negative number in place of −∞ avoids NaN.
queries_scaled_in_place:
  | q /= q.shape[-1] ** 0.5
  | / q.shape[-1] ** 0.5 ->
  Your call divides the caller's queries.
  ? Which line of yours writes into the tensor that the caller holds?
  # To scale the queries first is cheaper, and /= is short.
mask_turned_in_place: ~may_attend -> may_attend.logical_not_()
  Your call inverts the caller's mask.
  ? What does the underscore at the end of `logical_not_` say?
  # masked_fill wants True where it fills, so the mask is inverted first.
""",
    of=in_steps,
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
