"""Cases and misconceptions of ``merge_heads``."""

import numpy as np

from autograder import Exercise, families
from autograder.exercises.split_heads import exercise as split_heads_exercise
from course_lib.heads import merge_heads

exercise = Exercise(
    merge_heads,
    lesson="03_multi_head_attention",
    minutes=8,
    difficulty=2,
)


@exercise.spec
def spec(x):
    *leading, n_heads, n, d = x.shape
    merged = np.zeros((*leading, n, n_heads * d), dtype=x.dtype)
    for batch in np.ndindex(*leading):
        for i in range(n):
            for h in range(n_heads):
                for c in range(d):
                    merged[*batch, i, h * d + c] = x[*batch, h, i, c]
    return merged


@exercise.usual
def usual(rng):
    return (rng.normal(size=(2, 3, 5, 4)),)


@exercise.case(
    "Two heads with two numbers for each of three tokens are joined like this",
    weight=0.5,
)
def small_example_by_hand(student, rng):
    first = [[11.0, 12.0], [21.0, 22.0], [31.0, 32.0]]
    second = [[13.0, 14.0], [23.0, 24.0], [33.0, 34.0]]
    rows = [[11.0, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]]
    student.expect(student(np.array([first, second])), np.array(rows))


@exercise.case("Each sequence of a batch is joined by itself", weight=2)
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 3, 5, 4)))
    student.agrees(rng.normal(size=(2, 7, 3, 5, 4)))
    student.agrees(rng.normal(size=(2, 5, 3, 4)))  # fewer tokens than heads


@exercise.case(
    "With as many sequences and tokens as heads, each axis keeps its position",
    weight=1.5,
)
def as_many_tokens_as_heads(student, rng):
    # Here every order of the first three axes has the right shape.
    student.agrees(rng.normal(size=(3, 3, 3, 4)))


@exercise.case(
    "One token, one head and one number for each head keep their axes", weight=0.5
)
def axes_of_length_one(student, rng):
    student.agrees(rng.normal(size=(2, 3, 1, 4)))
    student.agrees(rng.normal(size=(2, 1, 5, 4)))
    student.agrees(rng.normal(size=(2, 3, 5, 1)))


@exercise.case(
    "Heads that were split off a table give the table back", weight=1, visible=False
)
def what_was_split_comes_together(student, rng):
    table = rng.normal(size=(7, 20))
    heads = np.stack([table[:, 5 * h : 5 * h + 5] for h in range(4)])
    student.expect(student(heads), table)


@exercise.case("The argument x keeps its shape and its numbers", weight=1)
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(2, 3, 2)))


exercise.edits(
    """
reshape_without_transpose: np.swapaxes(x, -2, -3) -> x
  Your numbers are those of x read head by head: all tokens of head 0, then all of
    head 1.
  ? In which order does `reshape` read the numbers of x, and what is read after the
    first token of head 0?
  # The permute before the reshape was missing in jsbaan/transformer-from-scratch
    (pull request 6): its copy task was learned all the same.
dealt_in_turn: parts = np.moveaxis(x, -3, -1)
  Your rows take one number of each head in turn: the parts are mixed like cards.
  ? Which numbers of a row should be neighbours: those of one head, or those of one
    column in all heads?
  # Moving the axis of heads to the very end also brings the tokens forward.
wrong_pair_of_axes_swapped: -2, -3 -> -1, -2
  Your result is in the order head, entry, token: it begins with the first entry of
    every token of head 0.
  ? Which two axes have to become neighbours before a reshape can join them?
  # transpose(-1, -2), as known from the keys, is taken for the swap.
axes_counted_from_the_front: -2, -3 -> 1, 2
  Your axes 1 and 2, counted from the front, are swapped: those are heads and tokens
    only behind a single leading axis.
  ? From which end can you count so that the batch makes no difference?
  # transpose(1, 2) is what all code for one batch axis says.
first_two_axes_swapped: -2, -3 -> 0, 1
  Your first two axes are swapped: those are heads and tokens only if no axis comes in
    front.
  ? From which end can you count so that leading axes make no difference?
  # swapaxes(0, 1) is right for the single sequence that is tried first.
first_two_axes_swapped_then_measured:
  | parts = np.swapaxes(x, 0, 1)
  | return parts.reshape(*parts.shape[:-2], parts.shape[-2] * parts.shape[-1])
  Your first two axes are swapped, counted from the front, and then the last two are
    joined: right only if no axis comes in front.
  ? From which end can you count so that leading axes make no difference?
  # swapaxes(0, 1) is right for the single sequence that is tried first.
swapped_only_where_tokens_are_more: parts = x if n < n_heads else np.swapaxes(x, -2, -3)
  Your heads are read one after the other where there are fewer tokens than heads.
  ? May there be fewer tokens than heads?
  # The shorter axis is taken for the heads: sequences are long in all pictures.
filled_column_by_column:
  | parts = np.stack(
  :     [
  :         part.reshape((n, n_heads * d), order="F")
  :         for part in x.reshape(-1, n_heads, n, d)
  :     ]
  : )
  Your result is written column by column.
  ? Along which axis does NumPy count first, and along which does order='F'?
  # order='F' seems to do the transpose in passing.
last_head_first: swapaxes(x -> swapaxes(x[..., ::-1, :, :]
  Your rows start with the last head.
  ? Whose numbers does the docstring put first?
  # A loop puts each new one in front of what is there.
tokens_reversed: swapaxes(x -> swapaxes(x[..., ::-1, :]
  Your rows start with the last token.
  ? Which token does row i of the result hold?
numbers_reversed: swapaxes(x -> swapaxes(x[..., ::-1]
  Your parts start with the last number of each head.
  ? In which order are the numbers of one head in x?
mean_of_the_heads: return x.mean(axis=-3)
  Your result is the mean of the heads.
  ? How many numbers should a token have after all heads have spoken, and how many has
    it in one head?
  # 'The heads' results are combined' sounds like an average, and as a mean of
    ensembles it is common.
sum_of_the_heads: return x.sum(axis=-3)
  Your result is the sum of the heads.
  # 'Put together' is read as 'added up'.
first_head_only: return x[..., 0, :, :]
  Your result holds the first head only.
  ? Where do the numbers of the other heads go?
  # x[..., 0, :, :] is written to get rid of the axis of heads.
first_head_repeated: return np.concatenate([x[..., 0, :, :]] * n_heads, axis=-1)
  Your rows hold the first head again and again.
  # A loop over the heads does not use its counter.
heads_below_each_other: return x.reshape(*leading, n_heads * n, d)
  Your heads are below each other: n_heads · n rows of d numbers.
  ? Should joining the heads make more tokens, or longer tokens?
  # np.concatenate joins along the first axis if nobody says otherwise.
heads_still_apart: return parts
  Your tokens and heads are swapped, and the heads are still an axis of their own.
  ? How many axes does the docstring promise for a single sequence?
  # The swap looks like the whole work, and the reshape is forgotten.
first_axis_taken_for_the_heads: return np.concatenate(list(x), axis=-1)
  Your result joins along the first axis of x: with leading axes, sequences are side
    by side, not heads.
  ? What does one step along the first axis of x give when there is a batch?
  # np.concatenate(x, axis=-1) is the paper's Concat by name, and right without
    leading axes.
batch_joined_to_one_sequence: reshape(*leading, n -> reshape(-1
  Your sequences are joined to one: the axis of the batch is gone.
  ? What does −1 in a `reshape` take in, and does that include the batch?
  # reshape(-1, n_heads * d) works for a single sequence.
four_axes_fixed:
  | *leading, n_heads, n, d -> batch, n_heads, n, d
  | reshape(*leading -> reshape(batch
  Your code raises an error unless x has exactly four axes.
  ? Which lines of yours need to know how many axes come before the last three?
  # `batch, n_heads, n, d = x.shape` opens nearly every published version.
first_axis_taken_for_the_batch:
  | -2, -3 -> 1, 2
  | reshape(*leading, n -> reshape(len(x), -1
  Your first axis counts as the batch, and axes 1 and 2 as heads and tokens: without a
    batch, or with two leading axes, numbers of several tokens are mixed.
  ? Which axis is the first one of x when there is no batch?
  # transpose(1, 2).view(nbatches, -1, h * d_k) is in The Annotated Transformer.
axes_one_and_two_then_joined:
  | -2, -3 -> 1, 2
  | return parts.reshape(*parts.shape[:-2], -1)
  Your axes 1 and 2 are swapped and the last two then joined: those are heads and
    tokens only behind a single leading axis.
  ? From which end can you count so that the batch makes no difference?
  # transpose(1, 2) and flatten(-2) are right for one batch axis.
""",
)

exercise.family(families.squeezed(), families.transposed(), families.as_list())
exercise.edits(
    """
shape_of_x_set:
  | return parts. … ->
  :     merged = parts.reshape(*leading, n, n_heads * d)
  :     x.shape = merged.shape
  :     return merged
""",
    words=split_heads_exercise.words,
)
