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


@exercise.variants
def variants(
    x,
    *,
    swapped="heads and tokens",
    swaps="always",
    heads="side by side",
    order="first head first",
    axes="any number",
    batch="kept",
    written="row by row",
    shape_set=False,
):
    *leading, n_heads, n, d = x.shape
    if axes == "four":
        _, _, _, _ = x.shape  # stops in Python's words
    elif axes == "the first is the batch":
        return x.swapaxes(1, 2).reshape(len(x), -1, n_heads * d)
    elif axes == "the last two":
        table = x.swapaxes(1, 2)
        return table.reshape(*table.shape[:-2], -1)
    table = x
    if shape_set and x.flags.c_contiguous:
        table = x.copy()
        x.shape = (*leading, n, n_heads * d)
    if order == "last head first":
        table = table[..., ::-1, :, :]
    elif order == "last token first":
        table = table[..., ::-1, :]
    elif order == "last number first":
        table = table[..., ::-1]
    if heads in ("mean", "sum", "first"):
        of_heads = {
            "mean": np.mean,
            "sum": np.sum,
            "first": lambda a, axis: a[..., 0, :, :],
        }
        return of_heads[heads](table, axis=-3)
    if heads == "below each other":
        return table.reshape(*leading, n_heads * n, d)
    if heads == "first for all":
        return np.concatenate([table[..., 0, :, :]] * n_heads, axis=-1)
    if heads == "along the first axis":
        return np.concatenate([*table], axis=-1)
    if heads == "apart":
        return np.swapaxes(table, -2, -3).copy()
    if written == "column by column":
        merged = np.empty((*leading, n, n_heads * d), dtype=x.dtype)
        for index in np.ndindex(*leading):
            merged[index] = table[index].reshape((n, n_heads * d), order="F")
        return merged
    if swapped == "heads to the end":
        table = np.moveaxis(table, -3, -1)
    elif swapped != "nothing" and not (
        swaps == "where tokens are more" and n < n_heads
    ):
        pairs = {"1 and 2": (1, 2), "0 and 1": (0, 1), "the last two": (-1, -2)}
        table = np.swapaxes(table, *pairs.get(swapped, (-2, -3)))
    if batch == "joined":
        return table.reshape(-1, n_heads * d)
    return table.reshape(*leading, n, n_heads * d)


exercise.option(
    "reshape_without_transpose",
    "Your numbers are those of x read head by head: all tokens of head 0, then all of "
    "head 1.",
    "In which order does `reshape` read the numbers of x, and what is read after the "
    "first token of head 0?",
    why="The permute before the reshape was missing in jsbaan/transformer-from-scratch "
    "(pull request 6): its copy task was learned all the same.",
    swapped="nothing",
)
exercise.option(
    "dealt_in_turn",
    "Your rows take one number of each head in turn: the parts are mixed like cards.",
    "Which numbers of a row should be neighbours: those of one head, or those of one "
    "column in all heads?",
    why="Moving the axis of heads to the very end also brings the tokens forward.",
    swapped="heads to the end",
)
exercise.option(
    "wrong_pair_of_axes_swapped",
    "Your result is in the order head, entry, token: it begins with the first entry of "
    "every token of head 0.",
    "Which two axes have to become neighbours before a reshape can join them?",
    why="transpose(-1, -2), as known from the keys, is taken for the swap.",
    swapped="the last two",
)
exercise.option(
    "axes_counted_from_the_front",
    "Your axes 1 and 2, counted from the front, are swapped: those are heads and "
    "tokens only behind a single leading axis.",
    "From which end can you count so that the batch makes no difference?",
    why="transpose(1, 2) is what all code for one batch axis says.",
    swapped="1 and 2",
)
exercise.option(
    "first_two_axes_swapped",
    "Your first two axes are swapped: those are heads and tokens only if no axis comes "
    "in front.",
    "From which end can you count so that leading axes make no difference?",
    why="swapaxes(0, 1) is right for the single sequence that is tried first.",
    swapped="0 and 1",
)
exercise.option(
    "swapped_only_where_tokens_are_more",
    "Your heads are read one after the other where there are fewer tokens than heads.",
    "May there be fewer tokens than heads?",
    why="The shorter axis is taken for the heads: sequences are long in all pictures.",
    swaps="where tokens are more",
)
exercise.option(
    "filled_column_by_column",
    "Your result is written column by column.",
    "Along which axis does NumPy count first, and along which does order='F'?",
    why="order='F' seems to do the transpose in passing.",
    written="column by column",
)
for order, name, diagnosis, question in (
    (
        "last head first",
        "last_head_first",
        "Your rows start with the last head.",
        "Whose numbers does the docstring put first?",
    ),
    (
        "last token first",
        "tokens_reversed",
        "Your rows start with the last token.",
        "Which token does row i of the result hold?",
    ),
    (
        "last number first",
        "numbers_reversed",
        "Your parts start with the last number of each head.",
        "In which order are the numbers of one head in x?",
    ),
):
    exercise.option(
        name,
        diagnosis,
        question,
        why="A loop puts each new one in front of what is there.",
        order=order,
    )
for heads, name, diagnosis, question, why in (
    (
        "mean",
        "mean_of_the_heads",
        "Your result is the mean of the heads.",
        "How many numbers should a token have after all heads have spoken, and how "
        "many has it in one head?",
        "'The heads' results are combined' sounds like an average, and as a mean of "
        "ensembles it is common.",
    ),
    (
        "sum",
        "sum_of_the_heads",
        "Your result is the sum of the heads.",
        "How many numbers should a token have after all heads have spoken, and how "
        "many has it in one head?",
        "'Put together' is read as 'added up'.",
    ),
    (
        "first",
        "first_head_only",
        "Your result holds the first head only.",
        "Where do the numbers of the other heads go?",
        "x[..., 0, :, :] is written to get rid of the axis of heads.",
    ),
    (
        "first for all",
        "first_head_repeated",
        "Your rows hold the first head again and again.",
        "Where do the numbers of the other heads go?",
        "A loop over the heads does not use its counter.",
    ),
    (
        "below each other",
        "heads_below_each_other",
        "Your heads are below each other: n_heads · n rows of d numbers.",
        "Should joining the heads make more tokens, or longer tokens?",
        "np.concatenate joins along the first axis if nobody says otherwise.",
    ),
    (
        "apart",
        "heads_still_apart",
        "Your tokens and heads are swapped, and the heads are still an axis of their "
        "own.",
        "How many axes does the docstring promise for a single sequence?",
        "The swap looks like the whole work, and the reshape is forgotten.",
    ),
    (
        "along the first axis",
        "first_axis_taken_for_the_heads",
        "Your result joins along the first axis of x: with leading axes, sequences "
        "are side by side, not heads.",
        "What does one step along the first axis of x give when there is a batch?",
        "np.concatenate(x, axis=-1) is the paper's Concat by name, and right without "
        "leading axes.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, heads=heads)
exercise.option(
    "batch_joined_to_one_sequence",
    "Your sequences are joined to one: the axis of the batch is gone.",
    "What does −1 in a `reshape` take in, and does that include the batch?",
    why="reshape(-1, n_heads * d) works for a single sequence.",
    batch="joined",
)
exercise.option(
    "four_axes_fixed",
    "Your code raises an error unless x has exactly four axes.",
    "Which lines of yours need to know how many axes come before the last three?",
    why="`batch, n_heads, n, d = x.shape` opens nearly every published version.",
    axes="four",
)
exercise.option(
    "first_axis_taken_for_the_batch",
    "Your first axis counts as the batch, and axes 1 and 2 as heads and tokens: "
    "without a batch, or with two leading axes, numbers of several tokens are mixed.",
    "Which axis is the first one of x when there is no batch?",
    why="transpose(1, 2).view(nbatches, -1, h * d_k) is in The Annotated Transformer.",
    axes="the first is the batch",
)
exercise.option(
    "axes_one_and_two_then_joined",
    "Your axes 1 and 2 are swapped and the last two then joined: those are heads and "
    "tokens only behind a single leading axis.",
    "From which end can you count so that the batch makes no difference?",
    why="transpose(1, 2) and flatten(-2) are right for one batch axis.",
    axes="the last two",
)
exercise.family(families.squeezed(), families.transposed(), families.as_list())
exercise.options_of(split_heads_exercise, "shape_of_x_set")
