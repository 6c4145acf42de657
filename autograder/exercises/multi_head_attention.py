"""Cases and misconceptions of ``multi_head_attention``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.heads import multi_head_attention

exercise = Exercise(
    multi_head_attention,
    lesson="03_multi_head_attention",
    minutes=25,
    difficulty=3,
    uses=("split_heads", "merge_heads", "scaled_scores", "softmax"),
    returns=("output", "weights"),
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "course_lib.experiments.two_heads.multi_head_layer",
    ),
)


@exercise.spec
def spec(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    (*leading, n, _), m = x.shape, memory.shape[-2]
    d_k, d_v = w_q.shape[-1] // n_heads, w_v.shape[-1] // n_heads
    if may_attend is None:
        may_attend = np.ones((n, m), dtype=bool)
    may_attend = np.broadcast_to(may_attend, (*leading, n, m))
    output = np.zeros((*leading, n, w_o.shape[-1]))
    weights = np.zeros((*leading, n_heads, n, m))
    for *batch, h in np.ndindex(*leading, n_heads):
        columns, own = slice(h * d_k, (h + 1) * d_k), slice(h * d_v, (h + 1) * d_v)
        q, k = x[*batch] @ w_q[:, columns], memory[*batch] @ w_k[:, columns]
        v = memory[*batch] @ w_v[:, own]
        for i in range(n):
            scores = [float(q[i] @ k[j]) / math.sqrt(d_k) for j in range(m)]
            allowed = [j for j in range(m) if may_attend[*batch, i, j]]
            highest = max(scores[j] for j in allowed)
            powers = {j: math.exp(scores[j] - highest) for j in allowed}
            mixed = np.zeros(d_v)
            for j in allowed:
                weights[*batch, h, i, j] = powers[j] / sum(powers.values())
                mixed += weights[*batch, h, i, j] * v[j]
            output[*batch, i] += mixed @ w_o[own]
    return output, weights


# As in the paper, d_model = n_heads · d_k.
SIZES = {"d_model": 12, "d_memory": 12, "n_heads": 3, "d_k": 4, "d_v": 4, "d_out": 12}
# Scores of size 1: else the softmax has one winner, and hides what is next to it.
inputs = exercise.inputs(n=5, m=7, **SIZES, scaled=("w_q", "w_k"))


def some_blocked(rng, *shape):
    """Draw a mask that leaves each query at least one key."""
    may_attend = rng.random(size=shape) < 0.5
    may_attend[..., 0] = ~may_attend[..., 1]
    return may_attend


@exercise.usual
def usual(rng):
    return *inputs(rng, (2,)), 3, some_blocked(rng, 2, 5, 7)


@exercise.case(
    "Two tokens attend to three tokens with two heads and give this", weight=0.5
)
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0], [0.0, 2.0]])
    memory = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    w_q = math.log(2) * np.repeat(np.eye(2), 4, axis=1)  # four columns for each head
    w_k = np.repeat(np.eye(2), 4, axis=1) / 2
    w_v, w_o = np.diag([12.0, 6.0]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    # The scores are 2 ln 2 / √4 or 4 ln 2 / √4 where a head's own numbers meet, else 0.
    first = [[1 / 4, 1 / 2, 1 / 4], [1 / 3, 1 / 3, 1 / 3]]
    second = [[1 / 3, 1 / 3, 1 / 3], [1 / 6, 1 / 6, 4 / 6]]
    output = np.array([[6.0, 2.0, 8.0], [4.0, 4.0, 8.0]])
    result = student(x, memory, w_q, w_k, w_v, w_o, 2)
    student.expect(result, (output, np.array([first, second])))
    student.agrees(*inputs(rng, n=2, m=3, n_heads=2), 2)


@exercise.case("Heads of any size work on a batch of any shape", weight=2)
def sizes_all_different(student, rng):
    # d_model divides by n_heads, and still is not n_heads · d_k.
    sizes = {"d_model": 15, "d_memory": 9, "n_heads": 3, "d_k": 4, "d_v": 6, "d_out": 8}
    student.agrees(*inputs(rng, **sizes), 3)
    arguments = inputs(rng, (2, 2), n=4, m=5, **sizes)
    student.agrees(*arguments, 3, some_blocked(rng, 2, 2, 4, 5))


@exercise.case(
    "With as many sequences and tokens as heads, each axis keeps its meaning",
    weight=1.5,
)
def as_many_tokens_as_heads(student, rng):
    # Here nothing about a wrong axis, or a matrix left out, shows in a shape.
    arguments = inputs(rng, (3,), n=3, m=3)
    student.agrees(*arguments, 3)
    may_attend = ~np.eye(3, dtype=bool)
    may_attend[0, 2] = False  # turned, it is another mask
    student.agrees(*arguments, 3, np.stack([may_attend, np.tri(3) > 0, may_attend]))


@exercise.case(
    "Each sequence has its own `may_attend`, the same for all its heads", weight=1.5
)
def mask_of_each_sequence(student, rng):
    # As many sequences as heads: a mask for each head would have the right shape.
    for batch in (3, 2):
        arguments = inputs(rng, (batch,), n=4, m=5)
        student.agrees(*arguments, 3, some_blocked(rng, batch, 4, 5))


@exercise.case(
    "One `may_attend` of shape (n, m) holds for all sequences and heads", weight=1.5
)
def one_mask_for_all(student, rng):
    # As many tokens as heads: a row for each head would have the right shape.
    student.agrees(*inputs(rng, (2,), n=3, m=5), 3, some_blocked(rng, 3, 5))


@exercise.case("A token with a large norm does not spoil the other rows", weight=0.5)
def one_long_token(student, rng):
    # e to the power of the other rows' scores minus those of its own row is 0.
    x, memory = np.diag([9000.0, 1.0]), rng.uniform(1, 2, size=(3, 2))
    same = np.eye(2)
    w_v, w_o = rng.normal(size=(2, 2, 2))
    student.agrees(x, memory, same, same, w_v, w_o, 2)
    student.agrees(x, memory, same, same, w_v, w_o, 1)


@exercise.case("A blocked token has weight 0, even if all others fit badly", weight=0.5)
def others_fit_badly(student, rng):
    # Every token allowed scores near −20000, and the blocked one near 0. All are
    # multiples of 1/32: a float32 holds them to the last digit.
    x, memory = (rng.integers(-4, 5, size=(n, 8)) / 4 for n in (2, 3))
    x[:, ::4], memory[:, ::4], memory[1, ::4] = 200.0, -200.0, 0.0
    may_attend, same = np.array([[True, False, True], [True, False, False]]), np.eye(8)
    w_v, w_o = rng.normal(size=(2, 8, 8))
    student.agrees(x, memory, same, same, w_v, w_o, 2, may_attend)


@exercise.case(
    "One head is plain attention, and keeps its axis of length 1", weight=0.5
)
def one_head(student, rng):
    sizes = {"d_model": 10, "n_heads": 1, "d_k": 4, "d_v": 6, "d_out": 8}
    student.agrees(*inputs(rng, n=1, m=5, **sizes), 1)
    student.agrees(*inputs(rng, (2,), n=4, m=5, **sizes), 1)


@exercise.case(
    "Heads in another order, with their rows of w_o, give the same output",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def heads_reordered(student, rng):
    x, memory, w_q, w_k, w_v, w_o = inputs(rng)
    before, _ = student(x, memory, w_q, w_k, w_v, w_o, 3)
    order = [4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]  # heads 0 and 1, with four each
    parameters = w_q[:, order], w_k[:, order], w_v[:, order], w_o[order]
    after, _ = student(x, memory, *parameters, 3)
    student.expect(after, before, what="the output in the other order")


@exercise.case(
    "The tokens, the parameters and `may_attend` are not modified", weight=0.5
)
def arguments_stay(student, rng):
    sizes = {"n": 2, "m": 3, "d_model": 4, "d_memory": 4, "n_heads": 2, "d_k": 2}
    for leading in ((), (2,)):
        arguments = inputs(rng, leading, **sizes, d_v=1, d_out=3)
        student.leaves_unchanged(*arguments, 2, some_blocked(rng, *leading, 2, 3))
    # With all sizes alike, the result fits into an argument.
    alike = inputs(rng, alike=4, n_heads=2, d_k=2, d_v=2)
    student.leaves_unchanged(*alike, 2)


exercise.edits(
    """
divided_by_root_of_d_model:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / x.shape[-1] ** 0.5
  Your scores are divided by √d_model, the root of the length of a whole token.
  ? How many products are summed in one score of one head?
  # The formula is copied from a single head, where d_k may be d_model.
divided_by_root_of_all_columns:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / w_q.shape[-1] ** 0.5
  Your scores are divided by the root of the number of columns of w_q.
  # q.shape[-1] or w_q.shape[-1] is read before the heads are cut.
divided_by_root_of_a_share_of_d_model:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / (x.shape[-1] / n_heads) ** 0.5
  Your scores are divided by √(d_model / n_heads), with d_model read off x.
  ? How long are the vectors that one head really multiplies, and which argument
    decides that?
  # The paper's sizes have d_k = d_model / n_heads, and code that follows them
    computes d_k that way.
values_cut_at_the_size_of_queries:
  | v = … -> v = memory @ w_v
  | return (merge_heads… ->
  :     d_k = q.shape[-1]
  :     outputs = [
  :         weights[..., h, :, :] @ v[..., h * d_k:(h + 1) * d_k]
  :         for h in range(n_heads)
  :     ]
  :     return np.concatenate(outputs, axis=-1) @ w_o, weights
  Your values are cut at the size d_k of a head's queries, not at d_v; where d_v is
    larger, this can raise an error.
  ? How many columns of the values belong to one head?
  # d_k and d_v are equal in most models, so one slice serves all three.
divided_by_root_of_d_v:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / v.shape[-1] ** 0.5
  Your scores are divided by √d_v, the root of the length of a head's values.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # The size is read off v: d_k and d_v are equal in most models.
divided_by_root_of_n_heads:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / n_heads ** 0.5
  Your scores are divided by √n_heads.
  ? What is it that makes a dot product large: how many heads there are, or how many
    numbers it sums?
  # q.shape[-3] is taken for q.shape[-1], or q.shape[1] is read before the swap.
scaled_twice: scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2) / q.shape[-1]
  Your scores are divided by d_k.
  ? Which power of d_k does the formula divide by, and has `scaled_scores` done that
    already?
  # The formula's square root is written down again after calling scaled_scores.
no_scale: scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2)
  Your scores are the plain dot products.
  ? What happens to the dot products of a head before the softmax?
  # With small heads the products are small as well, and nothing looks wrong.
scaled_after_softmax:
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2)
  | weights = softmax(scores) / q.shape[-1] ** 0.5
  Your scores are the plain dot products, and your weights are divided by √d_k.
  ? What does a division do to a sum of 1, and what does it do to a score?
  # The brackets of softmax(QKᵀ/√d_k) are closed too early.
attends_over_heads:
  | def split_heads(x, n_heads):
  :     return x.reshape(*x.shape[:-1], n_heads, -1)
  | merge_heads(weights @ v) -> (weights @ v).reshape(*x.shape[:-1], -1)
  Your heads attend to each other: for each token, your table of weights has a row and
    a column for each head. With n ≠ m this can raise an error.
  ? Which two axes does `@` multiply, and what is on them before the swap?
  # The transpose after the reshape is left out, and with self-attention no product
    complains: harvardnlp/annotated-transformer, issue 17, asks for it.
cut_by_reshape_alone:
  | def split_heads(x, n_heads):
  :     return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], -1)
  | merge_heads(weights @ v) -> (weights @ v).reshape(*x.shape[:-1], -1)
  Your queries, keys and values are cut into heads by a reshape alone: a head of yours
    holds all parts of some tokens, not one part of all tokens.
  ? In which order does `reshape` read the numbers of a sequence?
  # view(batch * n_heads, -1, d_k) in one step: reczoo/FuxiCTR, issue 30.
columns_dealt_in_turn:
  | def split_heads(x, n_heads):
  :     return np.moveaxis(x.reshape(*x.shape[:-1], -1, n_heads), -1, -3)
  | merge_heads(weights @ v) ->
  :     np.moveaxis(weights @ v, -3, -1).reshape(*x.shape[:-1], -1)
  Your heads take the columns of w_q, w_k and w_v, and the rows of w_o, in turn: head
    0 has column 0, column n_heads, column 2 · n_heads and so on.
  ? Which columns does the docstring give to head 1?
  # reshape(..., d_k, n_heads) names the same sizes in the other order; trained from
    scratch it works as well, and no loaded parameters fit.
columns_dealt_in_turn_and_joined_in_a_row:
  | def split_heads(x, n_heads):
  :     return np.moveaxis(x.reshape(*x.shape[:-1], -1, n_heads), -1, -3)
  Your heads take the columns of w_q, w_k and w_v in turn: head 0 has column 0, column
    n_heads, column 2 · n_heads and so on.
  ? Which columns does the docstring give to head 1?
  # w_q[:, h::n_heads] takes every head a share, and not the one that is asked for.
joined_by_reshape_alone:
  | merge_heads(weights @ v) -> (weights @ v).reshape(*x.shape[:-1], -1)
  Your heads' results are joined by a reshape alone: rows of the output mix several
    tokens of one head.
  ? Which axis has to be next to the last one before a reshape joins the two?
  # 649453932/Chinese-Text-Classification-Pytorch, issue 10, and
    hackiey/QAnet-pytorch, issue 2: nothing shows as long as there is one head.
mean_of_heads: @ w_o -> @ w_o / n_heads
  Your output is divided by n_heads: it is the mean of what the heads contribute.
  ? How many rows has w_o, and how many of them are for the result of one head?
  # 'Combine the heads' is read as an average, as with an ensemble of models.
first_head_only: return ((weights @ v)[..., 0, :, :] @ w_o[:v.shape[-1]], weights)
  Your output has the result of one head only, the first.
  ? Which rows of w_o meet no number but 0?
  # A loop over the heads returns too early, or overwrites nothing but head 0.
no_w_o: return (merge_heads(weights @ v), weights)
  Your output holds the heads' results side by side: w_o is not used.
  ? Which of the parameters has not had its turn yet?
  # After the concatenation the shape is right already, in the paper's sizes.
w_o_transposed: @ w_o -> @ w_o.T
  Your output is made with w_oᵀ; where w_o is not square, this can raise an error.
  ? Does a row of w_o belong to a number that goes in, or to one that comes out?
  # nn.Linear keeps its matrix as (out, in) and computes x Wᵀ.
softmax_over_queries: softmax(scores) -> softmax(scores, axis=-2)
  Your columns of weights sum to 1, not your rows.
  ? Along which axis do the tokens lie that a query chooses among?
  # softmax(..., axis=1) and nn.Softmax(dim=1) were right before the batch and the
    heads came.
softmax_over_heads: softmax(scores) -> softmax(scores, axis=-3)
  Your weights sum to 1 over the heads, not in a row.
softmax_over_axis_one: softmax(scores) -> softmax(scores, axis=1)
  Your weights sum to 1 along axis 1: with one leading axis, over the heads.
exponentials_overflow:
  | weights = softmax(scores) ->
  :     powers = np.exp(scores)
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  Your weights are NaN for large scores.
  ? How large is e to the power of 1000 in floating point, and how does `softmax` get
    round it?
  # exp(scores) / sum is written out again, without subtracting the maximum.
one_maximum_for_everything:
  | weights = softmax(scores) ->
  :     powers = np.exp(scores - scores.max())
  :     weights = powers / powers.sum(axis=-1, keepdims=True)
  Your weights are NaN in rows whose scores are all far below the largest of all.
  ? What is e to the power of −1000 in floating point, and whose largest score is
    subtracted from a row?
  # scores.max() without an axis: enough against overflow, not against 0 / 0.
memory_ignored: memory = x
  Your keys and values are made from x; the memory is not used. With n ≠ m that
    changes the shape of the weights.
  ? Which tokens attend here, and which are attended to?
  # In self-attention the two are the same, and most code is read there.
keys_from_x: memory @ w_k -> x @ w_k
  Your keys are made from x; where the sizes do not fit, this can raise an error.
  ? Which tokens, and which parameters, does the docstring make them from?
  # In self-attention x is in all three lines, and lines are copied.
values_from_x: memory @ w_v -> x @ w_v
  Your values are made from x; where the sizes do not fit, this can raise an error.
keys_made_with_w_q: memory @ w_k -> memory @ w_q
  Your keys are made with w_q; where the sizes do not fit, this can raise an error.
three_axes_fixed: batch, n, d_model = x.shape
  Your code raises an error unless x has exactly three axes.
  ? Which lines of yours need to know how many axes come before the last two?
  # `batch, n, d_model = x.shape` opens nearly every published version.
mask_reversed: np.where(may_attend -> np.where(~may_attend
  Your `may_attend` works the other way round: where it is True, you block.
  ? What does True in `may_attend` say, read aloud?
  # In PyTorch's nn.MultiheadAttention True means blocked; in its
    scaled_dot_product_attention True means allowed.
mask_ignored: weights = softmax(scaled_scores(q, k))
  Your tokens attend to all tokens: `may_attend` changes nothing.
  ? Which argument have you not used yet?
  # An argument with a default is overlooked, since the first tests go without.
mask_transposed:
  | may_attend[..., np.newaxis, :, :] ->
  :     may_attend[..., np.newaxis, :, :].swapaxes(-1, -2)
  Your `may_attend` is turned: its row i is used for token i of the memory. With n ≠ m
    this can raise an error.
  ? Which token does row i of `may_attend` speak of: one of x, or of the memory?
  # The ᵀ of the keys is put on the mask as well.
mask_of_the_first_sequence:
  | may_attend[..., np.newaxis, :, :] ->
  :     may_attend.reshape(-1, *may_attend.shape[-2:])[0]
  Your sequences all have the `may_attend` of the first one.
  ? Does each sequence have the same tokens blocked?
  # mask[0] is written to get rid of an axis that does not fit.
mask_without_an_axis_for_heads: may_attend[..., np.newaxis, :, :] -> may_attend
  Your `may_attend` meets the scores without an axis for the heads: where it holds a
    batch, its sequences are laid along the heads.
  ? Which axes has `may_attend`, which axes have the scores, and which ones does NumPy
    lay against each other?
  # One mask for a single sequence broadcasts by itself; the batch comes later (the
    unsqueeze(1) of most published versions).
mask_axis_counted_from_the_front:
  | may_attend[..., np.newaxis, :, :] -> may_attend[:, np.newaxis]
  Your `may_attend` gets its axis for the heads as axis 1, counted from the front:
    right behind one leading axis only.
  ? What does axis 1 hold in a `may_attend` of shape (n, m)?
  # mask.unsqueeze(1) and mask[:, None] are written for one mask per sequence.
mask_axis_counted_from_the_front_in_a_batch:
  | may_attend[..., np.newaxis, :, :] ->
  :     np.expand_dims(may_attend, 1 if scores.ndim == 4 else -3)
  Your `may_attend` gets its axis for the heads as axis 1, counted from the front, where
    x has one leading axis: that is behind the queries of a `may_attend` (n, m).
  # mask[:, None] is right for one mask per sequence, and the branch hides the rest.
mask_after_softmax:
  | if may_attend is not None:
  :     scores = …
  : weights = softmax(scores) ->
  :     weights = softmax(scores)
  :     if may_attend is not None:
  :         weights = np.where(may_attend[..., np.newaxis, :, :], weights, 0.0)
  Your blocked weights are 0, but the rows that remain no longer sum to 1.
  ? What does the softmax know of the mask, if the mask comes after it?
  # Setting weights to zero is the first thing that 'blocking' calls to mind.
blocked_scores_are_zero: -np.inf -> 0.0
  Your blocked tokens get the score 0, and so a weight above 0.
  ? What is e to the power of 0, and which score has the power 0?
  # `scores * may_attend` looks like switching off.
blocked_scores_are_finite: -np.inf -> -10000.0
  Your blocked tokens get a low score, but a finite one: where all others score less,
    they get the weight.
  ? Below which score is a token sure to get the weight 0, whatever the others are?
  # −1e4 fits into float16, and was `masked_bias` in the code of GPT-2.
ten_thousand_taken_off: -np.inf -> scores - 10000.0
  Your blocked tokens count with their own score less 10000: where that is still the
    largest, they get the weight.
  ? If a blocked token's score is far above the others, what is it afterwards?
  # (1 - mask) * -10000.0 is added to the scores in BERT's code.
infinity_times_zero:
  | np.where(may_attend[..., np.newaxis, :, :], scores, -np.inf) ->
  :     scores + (1 - may_attend[..., np.newaxis, :, :]) * -np.inf
  Your scores are NaN where a token may be attended to: 0 times −∞ is added.
  ? What is 0 · −inf in floating point?
  # (1 − mask) · −inf looks like the additive masks of other libraries.
weights_averaged: w_o, weights -> w_o, weights.mean(axis=-3)
  Your weights are averaged over the heads.
  ? How could one see what head 1 attends to, from what you return?
  # PyTorch's nn.MultiheadAttention does so unless average_attn_weights=False.
heads_behind_queries_in_the_weights: w_o, weights -> w_o, np.swapaxes(weights, -2, -3)
  Your weights have the axis of heads behind that of the queries.
  ? Which axes does the docstring promise for the weights, in which order?
  # The swap back that the output needs is applied to the weights as well.
scores_returned: w_o, weights -> w_o, scores
  The second array that you return holds the scores.
  ? Which table has rows that sum to 1?
  # Both tables have the same shape, and 'attention' means either.
one_head_without_its_axis:
  | w_o, weights -> w_o, weights[..., 0, :, :] if n_heads == 1 else weights
  Your weights of a single head have no axis for the heads.
  ? How many axes have the weights of two heads, and how many should those of one
    have?
  # `if n_heads == 1: return attention(…)` or a squeeze looks tidy.
parameters_scaled_in_place:
  | w_q /= (w_q.shape[-1] // n_heads) ** 0.5
  | scaled_scores(q, k) -> q @ np.swapaxes(k, -1, -2)
  Your call divides w_q by √d_k in place: the caller's array stays so.
  ? What does `w_q /= …` do to the array that the caller holds?
  # Scaling w_q once saves work, as fast implementations do, and `/=` looks like a new
    w_q.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.one_result_only("weights"),
    families.squeezed(),
)
