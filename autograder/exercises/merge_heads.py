"""Cases and misconceptions of ``merge_heads``."""

import numpy as np

from autograder import Exercise
from course_lib.heads import merge_heads

exercise = Exercise(
    merge_heads,
    lesson="03_multi_head_attention",
    minutes=10,
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
    "Two heads with two numbers for each of three tokens are joined like this"
)
def small_example_by_hand(student, rng):
    first = [[11.0, 12.0], [21.0, 22.0], [31.0, 32.0]]
    second = [[13.0, 14.0], [23.0, 24.0], [33.0, 34.0]]
    rows = [[11.0, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]]
    student.expect(student(np.array([first, second])), np.array(rows))


@exercise.case("A batch of sequences is joined sequence by sequence")
def leading_axes(student, rng):
    student.agrees(rng.normal(size=(2, 3, 5, 4)))
    student.agrees(rng.normal(size=(2, 7, 3, 5, 4)))


@exercise.case(
    "With as many sequences and tokens as heads, each axis keeps its position"
)
def as_many_tokens_as_heads(student, rng):
    # Here every order of the first three axes has the right shape.
    student.agrees(rng.normal(size=(3, 3, 3, 4)))


@exercise.case("One token, one head and one number for each head keep their axes")
def axes_of_length_one(student, rng):
    student.agrees(rng.normal(size=(2, 3, 1, 4)))
    student.agrees(rng.normal(size=(2, 1, 5, 4)))
    student.agrees(rng.normal(size=(2, 3, 5, 1)))


@exercise.case("How x lies in memory makes no difference")
def any_order_in_memory(student, rng):
    student.agrees(np.asfortranarray(rng.normal(size=(3, 5, 4))))
    student.agrees(np.asfortranarray(rng.normal(size=(2, 3, 5, 4))))


@exercise.case("Heads that were split off a table give the table back", visible=False)
def what_was_split_comes_together(student, rng):
    table = rng.normal(size=(7, 20))
    heads = np.stack([table[:, 5 * h : 5 * h + 5] for h in range(4)])
    student.expect(student(heads), table)


@exercise.case("The argument x keeps its shape and its numbers")
def arguments_stay(student, rng):
    student.leaves_unchanged(rng.normal(size=(2, 3, 2)))


def merge_rightly(x):
    """Join as the exercise asks; for errors that lie elsewhere."""
    *leading, n_heads, n, d = x.shape
    return np.swapaxes(x, -2, -3).reshape(*leading, n, n_heads * d)


@exercise.misconception(
    "Your shape is right, but the heads are read one after the other: your first rows "
    "hold several tokens of head 0, and no other head.",
    "In which order does `reshape` read the numbers of x, and what is read after the "
    "first token of head 0?",
    why="The permute before the reshape was missing in jsbaan/transformer-from-scratch "
    "(pull request 6): its copy task was learned all the same.",
)
def reshape_without_transpose(x):
    *leading, n_heads, n, d = x.shape
    return x.reshape(*leading, n, n_heads * d)


@exercise.misconception(
    "Your rows take one number of each head in turn: the parts are mixed like cards.",
    "Which numbers of a row should be neighbours: those of one head, or those of one "
    "column in all heads?",
    why="Moving the axis of heads to the very end also brings the tokens forward.",
)
def dealt_in_turn(x):
    *leading, n_heads, n, d = x.shape
    return np.moveaxis(x, -3, -1).reshape(*leading, n, d * n_heads)


@exercise.misconception(
    "Your shape is right, but the last two axes were swapped before the reshape: a row "
    "holds one number of several tokens.",
    "Which two axes have to become neighbours before a reshape can join them?",
    why="transpose(-1, -2), as known from the keys, is taken for the swap.",
)
def wrong_pair_of_axes_swapped(x):
    *leading, n_heads, n, d = x.shape
    return np.swapaxes(x, -1, -2).reshape(*leading, n, n_heads * d)


@exercise.misconception(
    "Your result is filled column by column.",
    "Along which axis does NumPy count first, and along which does order='F'?",
    why="order='F' seems to do the transpose in passing.",
)
def filled_column_by_column(x):
    *leading, n_heads, n, d = x.shape
    merged = np.empty((*leading, n, n_heads * d), dtype=x.dtype)
    for batch in np.ndindex(*leading):
        merged[batch] = x[batch].reshape((n, n_heads * d), order="F")
    return merged


@exercise.misconception(
    "Your rows start with the last head.",
    "Whose numbers does the docstring put first?",
    why="A loop puts each new head in front of what is there.",
)
def last_head_first(x):
    return merge_rightly(x[..., ::-1, :, :])


@exercise.misconception(
    "Your result is the mean of the heads.",
    "How many numbers should a token have after all heads have spoken, and how many "
    "has it in one head?",
    why="'The heads' results are combined' sounds like an average, and as a mean of "
    "ensembles it is common.",
)
def mean_of_the_heads(x):
    return x.mean(axis=-3)


@exercise.misconception(
    "Your heads are below each other: n_heads · n rows of d numbers.",
    "Should joining the heads make more tokens, or longer tokens?",
    why="np.concatenate joins along the first axis if nobody says otherwise.",
)
def heads_below_each_other(x):
    *leading, n_heads, n, d = x.shape
    return x.reshape(*leading, n_heads * n, d)


@exercise.misconception(
    "You take the first axis of x for the heads and join along it: with axes in "
    "front, sequences are joined side by side, not heads.",
    "What does one step along the first axis of x give when there is a batch?",
    why="np.concatenate(x, axis=-1) is the paper's Concat by name, and right without "
    "leading axes.",
)
def first_axis_taken_for_the_heads(x):
    return np.concatenate(x, axis=-1)


@exercise.misconception(
    "Your sequences are joined to one: the axis of the batch is gone.",
    "What does −1 in a `reshape` take in, and does that include the batch?",
    why="reshape(-1, n_heads * d) works for a single sequence.",
)
def batch_joined_to_one_sequence(x):
    *_, n_heads, _, d = x.shape
    return np.swapaxes(x, -2, -3).reshape(-1, n_heads * d)


@exercise.misconception(
    "Your code reads exactly four axes off x.",
    "Which lines of yours need to know how many axes come before the last three?",
    why="`batch, n_heads, n, d = x.shape` opens nearly every published version.",
)
def four_axes_fixed(x):
    batch, n_heads, n, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, n, n_heads * d)


@exercise.misconception(
    "You swap axes 1 and 2, counted from the front: those are heads and tokens only "
    "behind a single leading axis.",
    "From which end can you count so that the batch makes no difference?",
    why="transpose(1, 2) is what all code for one batch axis says.",
)
def axes_counted_from_the_front(x):
    *leading, n_heads, n, d = x.shape
    return np.swapaxes(x, 1, 2).reshape(*leading, n, n_heads * d)


@exercise.misconception(
    "Your axes of length 1 are gone.",
    "What does `np.squeeze` do to a sequence of one token?",
    why="np.split leaves an axis of length 1 where the heads were, and squeeze takes "
    "all such axes.",
)
def axes_squeezed(x):
    return np.squeeze(merge_rightly(x))


@exercise.misconception(
    "Your numbers are read in the order in which they lie in memory, which is not "
    "always row by row.",
    'What do the letters "C", "K" and "A" ask of `order`?',
    why="order='K' is read as 'keep the order', and makes no copy.",
)
def read_as_it_lies_in_memory(x):
    return merge_rightly(x.ravel(order="K").reshape(x.shape))


@exercise.misconception(
    "The heads are read one after the other, and afterwards x itself has the shape of "
    "your result.",
    "What does `x.shape = …` do to the array that the caller holds?",
    why="Setting the shape is the short way to write a reshape.",
)
def shape_of_x_set(x):
    *leading, n_heads, n, d = x.shape
    rows = np.ascontiguousarray(x)
    rows.shape = (*leading, n, n_heads * d)
    return rows
