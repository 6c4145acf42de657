"""Cases and misconceptions of ``split_heads``."""

import numpy as np

from autograder import Exercise
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


@exercise.case("Two tokens of six numbers are cut for three heads like this")
def small_example_by_hand(student, rng):
    x = np.array([[11.0, 12, 13, 14, 15, 16], [21, 22, 23, 24, 25, 26]])
    heads = [[[11.0, 12], [21, 22]], [[13, 14], [23, 24]], [[15, 16], [25, 26]]]
    student.expect(student(x, 3), np.array(heads))


@exercise.case("A batch of sequences is cut sequence by sequence")
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 5, 12)), 3)
    student.agrees(rng.normal(size=(2, 7, 5, 12)), 3)


@exercise.case(
    "With as many sequences and tokens as heads, each axis keeps its position"
)
def as_many_tokens_as_heads(student, rng):
    # Here every order of the three axes has the right shape.
    student.agrees(rng.normal(size=(3, 3, 12)), 3)


@exercise.case("One token, one head and one number for each head keep their axes")
def axes_of_length_one(student, rng):
    student.agrees(rng.normal(size=(2, 1, 12)), 3)
    student.agrees(rng.normal(size=(2, 5, 12)), 1)
    student.agrees(rng.normal(size=(2, 5, 4)), 4)


@exercise.case("How x lies in memory makes no difference")
def any_order_in_memory(student, rng):
    student.agrees(np.asfortranarray(rng.normal(size=(5, 12))), 3)
    student.agrees(np.asfortranarray(rng.normal(size=(2, 5, 12))), 4)


@exercise.case("Ten numbers cannot be cut for three heads: that raises a `ValueError`")
def does_not_divide(student, rng):
    student.raises(ValueError, rng.normal(size=(5, 10)), 3)


@exercise.case("Side by side again, the parts give back each token", visible=False)
def parts_side_by_side(student, rng):
    x = rng.normal(size=(7, 20))
    heads = student(x, 4)
    side_by_side = np.concatenate(list(heads), axis=-1)
    student.expect(side_by_side, x, what="the heads side by side")


@exercise.case("The argument x keeps its shape and its numbers")
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(2, 3, 4)), 2)


def sizes(x, n_heads):
    """Return the leading axes, n and the numbers for each head; refuse a remainder."""
    *leading, n, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    return leading, n, d_model // n_heads


def split_rightly(x, n_heads):
    """Cut as the exercise asks; for errors that lie elsewhere."""
    leading, n, d = sizes(x, n_heads)
    return np.swapaxes(x.reshape(*leading, n, n_heads, d), -2, -3)


@exercise.misconception(
    "Your shape is right, but your heads are cut along the tokens: with all numbers "
    "of the sequence in one row, head 0 holds the first part of that row.",
    "In which order does `reshape` read the numbers of x, and whose numbers are read "
    "first?",
    why="x.view(batch, n_heads, n, d_k) in one step: hyunwoongko/transformer, issue "
    "15, and reczoo/FuxiCTR, issue 30, where three published models had it.",
)
def reshape_without_transpose(x, n_heads):
    leading, n, d = sizes(x, n_heads)
    return x.reshape(*leading, n_heads, n, d)


@exercise.misconception(
    "Your parts are cut rightly, but the axis of heads comes after the tokens.",
    "Which of the two axes comes first in the shape that the docstring promises?",
    why="The reshape does the cutting, and the transpose looks like decoration.",
)
def axis_of_heads_behind_the_tokens(x, n_heads):
    leading, n, d = sizes(x, n_heads)
    return x.reshape(*leading, n, n_heads, d)


@exercise.misconception(
    "Your numbers are dealt out in turn, like cards: head 0 holds numbers 0, "
    "n_heads, 2 · n_heads, … of each token.",
    "Which columns of a token are neighbours in one head?",
    why="reshape(..., d, n_heads) names the same sizes in the other order; some "
    "checkpoints really are interleaved (NVIDIA/apex, issue 838).",
)
def dealt_out_in_turn(x, n_heads):
    leading, n, d = sizes(x, n_heads)
    return np.moveaxis(x.reshape(*leading, n, d, n_heads), -1, -3)


@exercise.misconception(
    "Your shape is right, but x is transposed before it is cut: a row of yours holds "
    "one number of several tokens.",
    "After swapping the last two axes of x, what does one row hold?",
    why="The heads should come before the tokens, so the transpose comes first.",
)
def transposed_before_the_cut(x, n_heads):
    leading, n, d = sizes(x, n_heads)
    return np.swapaxes(x, -1, -2).reshape(*leading, n_heads, n, d)


@exercise.misconception(
    "Your parts overlap: head 1 starts at number 1 of a token, head 2 at number 2.",
    "After head 0 has taken its numbers, which is the first one that is left?",
    why="x[..., h : h + d] moves on by one number, not by one part.",
)
def parts_overlap(x, n_heads):
    _, _, d = sizes(x, n_heads)
    return np.stack([x[..., h : h + d] for h in range(n_heads)], axis=-3)


@exercise.misconception(
    "Your heads come before the batch.",
    "What should one element along the first axis be: a sequence, or a head?",
    why="np.split and np.stack make a list of heads, whose axis comes first: "
    "permute(2, 0, 1, 3) in lsdefine/attention-is-all-you-need-keras, issue 36.",
)
def heads_in_front_of_the_batch(x, n_heads):
    return np.moveaxis(split_rightly(x, n_heads), -3, 0)


@exercise.misconception(
    "Your batch and your heads share one axis of length batch · n_heads.",
    "How many axes does the docstring promise for x with one leading axis?",
    why="Older code needed three axes for its product of matrices (bmm), and is still "
    "copied.",
)
def batch_and_heads_in_one_axis(x, n_heads):
    _, n, d = sizes(x, n_heads)
    return split_rightly(x, n_heads).reshape(-1, n, d)


@exercise.misconception(
    "Your heads hold all d_model columns of each token: nothing is cut.",
    "How many columns of a token does each head get?",
    why="'Each head attends to the whole sequence' is read as 'to the whole vector'.",
)
def every_head_gets_everything(x, n_heads):
    sizes(x, n_heads)
    return np.stack([x] * n_heads, axis=-3)


@exercise.misconception(
    "Your code reads exactly three axes off x.",
    "Which lines of yours need to know how many axes come before the last two?",
    why="`batch, n, d_model = x.shape` opens nearly every published version.",
)
def three_axes_fixed(x, n_heads):
    batch, n, d_model = x.shape
    sizes(x, n_heads)
    parts = x.reshape(batch, n, n_heads, d_model // n_heads)
    return parts.transpose(0, 2, 1, 3)


@exercise.misconception(
    "You swap axes 1 and 2, counted from the front: those are tokens and heads only "
    "behind a single leading axis.",
    "From which end can you count so that the batch makes no difference?",
    why="transpose(1, 2) is what all code for one batch axis says.",
)
def axes_counted_from_the_front(x, n_heads):
    leading, n, d = sizes(x, n_heads)
    return np.swapaxes(x.reshape(*leading, n, n_heads, d), 1, 2)


@exercise.misconception(
    "You swap the first two axes of your parts: those are tokens and heads only if no "
    "axis comes before x's tokens.",
    "From which end can you count so that axes in front make no difference?",
    why="swapaxes(0, 1) is right for the single sequence that is tried first.",
)
def first_two_axes_swapped(x, n_heads):
    leading, n, d = sizes(x, n_heads)
    return np.swapaxes(x.reshape(*leading, n, n_heads, d), 0, 1)


@exercise.misconception(
    "Your cut leaves numbers over: what does not fit into n_heads equal parts is "
    "dropped.",
    "What does `//` do with a remainder, and who learns of it?",
    why="d_model // n_heads never complains, and slices by that length do not either.",
)
def remainder_dropped(x, n_heads):
    d = x.shape[-1] // n_heads
    return np.stack([x[..., h * d : (h + 1) * d] for h in range(n_heads)], axis=-3)


@exercise.misconception(
    "Your axes of length 1 are gone.",
    "What does `np.squeeze` do to a sequence of one token?",
    why="np.split leaves extra axes in some versions, and squeeze takes all of them.",
)
def axes_squeezed(x, n_heads):
    return np.squeeze(split_rightly(x, n_heads))


@exercise.misconception(
    "For one head you return x itself, without an axis for the head.",
    "How many axes does the result have for two heads, and how many for one?",
    why="`if n_heads == 1: return x` looks like a shortcut.",
)
def one_head_without_its_axis(x, n_heads):
    return x.copy() if n_heads == 1 else split_rightly(x, n_heads)


@exercise.misconception(
    "Your numbers are read in the order in which they lie in memory, which is not "
    "always row by row.",
    'What do the letters "C", "K" and "A" ask of `order`?',
    why="order='K' is read as 'keep the order', and makes no copy.",
)
def read_as_it_lies_in_memory(x, n_heads):
    return split_rightly(x.ravel(order="K").reshape(x.shape), n_heads)


@exercise.misconception(
    "Your result is right, but afterwards x itself has another shape.",
    "What does `x.shape = …` do to the array that the caller holds?",
    why="Setting the shape is the short way to write a reshape.",
)
def shape_of_x_set(x, n_heads):
    leading, n, d = sizes(x, n_heads)
    x.shape = (*leading, n, n_heads, d)
    return np.swapaxes(x, -2, -3)
