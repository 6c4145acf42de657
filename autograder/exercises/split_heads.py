"""Cases and misconceptions of ``split_heads``."""

import numpy as np

from autograder import Exercise, families
from course_lib.heads import split_heads

exercise = Exercise(
    split_heads,
    lesson="03_multi_head_attention",
    minutes=10,
    difficulty=2,
)


@exercise.spec
def spec(x, n_heads):
    *leading, n, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    d = d_model // n_heads
    heads = np.zeros((*leading, n_heads, n, d), dtype=x.dtype)
    for batch in np.ndindex(*leading):
        for h in range(n_heads):
            for i in range(n):
                for c in range(d):
                    heads[*batch, h, i, c] = x[*batch, i, h * d + c]
    return heads


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 12)), 3


@exercise.case("Two tokens of six numbers are cut for three heads like this", weight=1)
def small_example_by_hand(student, rng):
    x = np.array([[11.0, 12, 13, 14, 15, 16], [21, 22, 23, 24, 25, 26]])
    heads = [[[11.0, 12], [21, 22]], [[13, 14], [23, 24]], [[15, 16], [25, 26]]]
    student.expect(student(x, 3), np.array(heads))


@exercise.case("Each sequence of a batch is cut by itself", weight=2)
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 5, 12)), 3)
    student.agrees(rng.normal(size=(2, 7, 5, 12)), 3)


@exercise.case(
    "With as many sequences and tokens as heads, each axis keeps its position",
    weight=1.5,
)
def as_many_tokens_as_heads(student, rng):
    # Here every order of the three axes has the right shape.
    student.agrees(rng.normal(size=(3, 3, 12)), 3)


@exercise.case(
    "One token, one head and one number for each head keep their axes", weight=0.5
)
def axes_of_length_one(student, rng):
    student.agrees(rng.normal(size=(2, 1, 12)), 3)
    student.agrees(rng.normal(size=(2, 5, 12)), 1)
    student.agrees(rng.normal(size=(2, 5, 4)), 4)


@exercise.fine_point("Ten numbers for three heads, or four for eight, end in an error")
def does_not_divide(student, rng):
    student.raises(Exception, rng.normal(size=(5, 10)), 3)
    student.raises(Exception, rng.normal(size=(5, 4)), 8)


@exercise.case(
    "Side by side again, the parts give back each token", weight=1, visible=False
)
def parts_side_by_side(student, rng):
    x = rng.normal(size=(7, 20))
    heads = student(x, 4)
    side_by_side = np.concatenate(list(heads), axis=-1)
    student.expect(side_by_side, x, what="the heads side by side")


@exercise.case("The argument x keeps its shape and its numbers", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(2, 3, 4)), 2)


exercise.edits(
    """
reshape_without_transpose: return x.reshape(*leading, n_heads, n, d_model // n_heads)
  Your heads are cut along the tokens: with all numbers of the sequence in one row,
    head 0 holds the first part of that row.
  ? In which order does `reshape` read the numbers of x, and whose numbers are read
    first?
  # x.view(batch, n_heads, n, d_k) in one step: hyunwoongko/transformer, issue 15, and
    reczoo/FuxiCTR, issue 30, where three published models had it.
transposed_before_the_cut:
  | return np.swapaxes(x, -1, -2).reshape(*leading, n_heads, n, d_model // n_heads)
  Your heads are cut from x transposed: a row of yours holds one number of several
    tokens.
  ? After swapping the last two axes of x, what does one row hold?
  # The heads should come before the tokens, so the transpose comes first.
tokens_dealt_to_the_heads:
  | parts = … -> parts = x.reshape(*leading, n_heads, n // n_heads, d_model)
  | return … -> return parts.copy()
  Your heads have whole tokens, some of them each; where n_heads does not divide n, this
    raises an error.
  ? What does a head get: a part of the tokens, or a part of each token?
  # n // n_heads is written where d_model // n_heads belongs.
dealt_out_in_turn:
  | return np.moveaxis(x.reshape(*leading, n, d_model // n_heads, n_heads), -1, -3)
  Your numbers are dealt out in turn, like cards: head 0 holds numbers 0, n_heads, 2 ·
    n_heads, … of each token.
  ? Which columns of a token are neighbours in one head?
  # reshape(..., d, n_heads) names the same sizes in the other order; some checkpoints
    really are interleaved (NVIDIA/apex, issue 838).
heads_of_n_heads_numbers: n_heads, d_model // n_heads -> d_model // n_heads, n_heads
  Your heads are n_heads numbers long, and there are d_model / n_heads of them.
  ? Which of the two does n_heads count: the parts, or the numbers in a part?
  # reshape(..., -1, n_heads) gives the sizes in the other order.
every_head_gets_everything: parts = np.stack([x] * n_heads, axis=-2)
  Your heads hold all d_model columns of each token: nothing is cut.
  ? How many columns of a token does each head get?
  # 'Each head attends to the whole sequence' is read as 'to the whole vector'.
first_part_for_all: parts = np.stack([x[..., :d_model // n_heads]] * n_heads, axis=-2)
  Your heads all hold the first part of each token.
  ? Which columns are left once head 0 has taken its own?
  # x[..., :d] stands in a loop over the heads, and h is not in it.
parts_overlap:
  | parts = np.stack(
  :     [x[..., h : h + d_model // n_heads] for h in range(n_heads)], axis=-2
  : )
  Your parts overlap: head 1 starts at number 1 of a token, head 2 at number 2.
  ? After head 0 has taken its numbers, which is the first one that is left?
  # x[..., h : h + d] moves on by one number, not by one part.
last_head_first: swapaxes(parts -> swapaxes(parts[..., ::-1, :]
  Your heads come in the other order: head 0 is what should be the last.
  ? Which part of a token does head 0 hold, according to the docstring?
  # A loop or a slice goes wrong.
tokens_reversed: swapaxes(parts -> swapaxes(parts[..., ::-1, :, :]
  Your tokens come in the other order: row 0 of a head is the last token's.
  ? Which token does row i of a head belong to?
last_head_missing: swapaxes(parts -> swapaxes(parts[..., :-1, :]
  Your last head is missing.
  ? How many heads does range(n_heads − 1) count?
axis_of_heads_behind_the_tokens: return parts
  Your axis of heads comes after the tokens.
  ? Which of the two axes comes first in the shape that the docstring promises?
  # The reshape does the cutting, and the transpose looks like decoration.
axes_counted_from_the_front: -2, -3 -> 1, 2
  Your axes 1 and 2, counted from the front, are swapped: those are tokens and heads
    only behind a single leading axis.
  ? From which end can you count so that the batch makes no difference?
  # transpose(1, 2) is what all code for one batch axis says.
first_two_axes_swapped: -2, -3 -> 0, 1
  Your first two axes are swapped: those are tokens and heads only if no axis comes
    before x's tokens.
  ? From which end can you count so that leading axes make no difference?
  # swapaxes(0, 1) is right for the single sequence that is tried first.
three_axes_fixed:
  | *leading, n, d_model -> batch, n, d_model
  | *leading, n, n_heads -> batch, n, n_heads
  Your code raises an error unless x has exactly three axes.
  ? Which lines of yours need to know how many axes come before the last two?
  # `batch, n, d_model = x.shape` opens nearly every published version.
four_axes_transposed: return parts.transpose(0, 2, 1, 3)
  Your transposition names exactly four axes, so it raises an error unless x has
    three.
  ? How do you name two axes from the end, however many come before them?
  # permute(0, 2, 1, 3) is in BERT and most of its copies, which always have a batch.
first_axis_taken_for_the_batch: reshape(*leading, n -> reshape(len(x), -1
  Your first axis counts as the batch, and all axes up to the last as its tokens:
    without a batch each token becomes a sequence, and with two leading axes sequences
    run together.
  ? Which axis does a −1 in a `reshape` stand for, if x has no batch, or two axes
    before its tokens?
  # view(nbatches, -1, h, d_k).transpose(1, 2) is in The Annotated Transformer.
heads_in_front_of_the_batch: return np.moveaxis(parts, -2, 0)
  Your heads come before the batch.
  ? What should one element along the first axis be: a sequence, or a head?
  # np.split and np.stack make a list of heads, whose axis comes first: permute(2, 0,
    1, 3) in lsdefine/attention-is-all-you-need-keras, issue 36.
batch_and_heads_in_one_axis:
  | return np.swapaxes(parts, -2, -3).reshape(-1, n, d_model // n_heads)
  Your batch and your heads share one axis of length batch · n_heads.
  ? How many axes does the docstring promise for x with one leading axis?
  # Older code needed three axes for its product of matrices (bmm), and is still
    copied.
list_of_heads: return list(np.moveaxis(parts, -2, 0))
  Your heads come in a list, not in one array.
  ? What does the docstring promise: one array, or one for each head?
  # np.split and a comprehension over the heads give lists.
remainder_dropped: raise ValueError… -> x = x[..., :d_model - d_model % n_heads]
  Your result leaves numbers out where n_heads does not divide d_model: no error
    comes.
  ? What does `//` do with a remainder, and who learns of it?
  # d_model // n_heads never complains, and slices by that length do not either.
remainder_gives_none: raise ValueError… -> return None
  Your result is None where n_heads does not divide d_model: no error comes.
  ? Which word makes a function stop with an error?
  # An `if` without `else`, a print, or `return ValueError` in place of `raise`.
remainder_of_the_wrong_division:
  | if d_model % n_heads -> if n_heads % d_model
  | x.reshape( -> x[..., :d_model // n_heads * n_heads].reshape(
  Your code refuses sizes that fit: n_heads is divided by d_model, not d_model by
    n_heads.
  ? Which remainder tells whether d_model numbers fit into n_heads equal parts?
  # A condition is written from memory, or for the usual sizes only.
too_many_heads_let_through:
  | if d_model % n_heads -> if d_model > n_heads and d_model % n_heads
  | x.reshape( -> x[..., :d_model // n_heads * n_heads].reshape(
  Your code lets n_heads through where it is larger than d_model.
heads_of_one_number_refused:
  | if d_model % n_heads -> if d_model % n_heads or d_model == n_heads
  Your code refuses heads of one number each.
one_head_refused: if d_model % n_heads -> if d_model % n_heads or n_heads == 1
  Your code refuses a single head.
one_head_without_its_axis:
  | if n_heads == 1:
  :     return x.copy()
  Your result has no axis for the head where there is only one.
  ? How many axes does the result have for two heads, and how many for one?
  # `if n_heads == 1: return x` looks like a shortcut.
shape_of_x_set:
  | parts = … ->
  :     x.shape = (*leading, n, n_heads, d_model // n_heads)
  :     parts = x
  Your x has another shape after the call.
  ? What does `x.shape = …` do to the array that the caller holds?
  # Setting the shape is the short way to write a reshape.
""",
)

exercise.family(families.squeezed(), families.transposed(), families.as_list())
