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


@exercise.variants
def variants(
    x,
    n_heads,
    *,
    cut="neighbours",
    parts="all in order",
    swapped="tokens and heads",
    axes="any number",
    heads="behind the batch",
    refused="what leaves a remainder",
    one_head="like others",
    shape_set=False,
):
    *leading, n, d_model = x.shape
    is_refused = {
        "what leaves a remainder": d_model % n_heads > 0,
        "n_heads % d_model": n_heads % d_model > 0,
        "more numbers than heads": d_model > n_heads and d_model % n_heads > 0,
        "heads of one number too": d_model % n_heads > 0 or d_model == n_heads,
        "one head too": d_model % n_heads > 0 or n_heads == 1,
    }
    if is_refused.get(refused, False):
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    if d_model % n_heads and refused == "nothing: None":
        return None
    if axes == "three":
        _, _, _ = x.shape  # stops in Python's words
    if one_head == "x itself" and n_heads == 1:
        return x.copy()
    d = d_model // n_heads
    x_read = x
    x_read = x_read[..., : d * n_heads]
    if cut in ("tokens", "columns"):
        rows = x_read if cut == "tokens" else np.swapaxes(x_read, -1, -2)
        table = np.swapaxes(rows.reshape(*leading, n_heads, n, d), -2, -3)
    elif cut == "in turn":
        table = np.swapaxes(x_read.reshape(*leading, n, d, n_heads), -1, -2)
    elif cut == "n_heads long":
        table = x_read.reshape(*leading, n, d, n_heads)
    elif cut in ("not at all", "first part"):
        table = np.stack([x if cut == "not at all" else x[..., :d]] * n_heads, axis=-2)
    elif cut == "overlapping":
        table = np.stack([x[..., h : h + d] for h in range(n_heads)], axis=-2)
    elif axes == "the first is the batch":
        table = x_read.reshape(len(x), -1, n_heads, d)
    else:
        table = x_read.reshape(*leading, n, n_heads, d)
    if axes == "four, transposed":
        return table.transpose(0, 2, 1, 3)
    if parts == "last head first":
        table = table[..., ::-1, :]
    elif parts == "last token first":
        table = table[..., ::-1, :, :]
    elif parts == "without the last":
        table = table[..., :-1, :]
    if shape_set:
        x.shape = (*leading, n, n_heads, d)
    if swapped != "nothing":
        table = np.swapaxes(
            table, *{"1 and 2": (1, 2), "0 and 1": (0, 1)}.get(swapped, (-2, -3))
        )
    if heads == "in front":
        return np.moveaxis(table, -3, 0)
    if heads == "in a list":
        return [*np.moveaxis(table, -3, 0)]
    if heads == "with the batch":
        return table.reshape(-1, *table.shape[-2:])
    return table


exercise.option(
    "reshape_without_transpose",
    "Your heads are cut along the tokens: with all numbers of the sequence in one row, "
    "head 0 holds the first part of that row.",
    "In which order does `reshape` read the numbers of x, and whose numbers are read "
    "first?",
    why="x.view(batch, n_heads, n, d_k) in one step: hyunwoongko/transformer, issue "
    "15, and reczoo/FuxiCTR, issue 30, where three published models had it.",
    cut="tokens",
)
exercise.option(
    "transposed_before_the_cut",
    "Your heads are cut from x transposed: a row of yours holds one number of several "
    "tokens.",
    "After swapping the last two axes of x, what does one row hold?",
    why="The heads should come before the tokens, so the transpose comes first.",
    cut="columns",
)
exercise.option(
    "dealt_out_in_turn",
    "Your numbers are dealt out in turn, like cards: head 0 holds numbers 0, "
    "n_heads, 2 · n_heads, … of each token.",
    "Which columns of a token are neighbours in one head?",
    why="reshape(..., d, n_heads) names the same sizes in the other order; some "
    "checkpoints really are interleaved (NVIDIA/apex, issue 838).",
    cut="in turn",
)
exercise.option(
    "heads_of_n_heads_numbers",
    "Your heads are n_heads numbers long, and there are d_model / n_heads of them.",
    "Which of the two does n_heads count: the parts, or the numbers in a part?",
    why="reshape(..., -1, n_heads) gives the sizes in the other order.",
    cut="n_heads long",
)
exercise.option(
    "every_head_gets_everything",
    "Your heads hold all d_model columns of each token: nothing is cut.",
    "How many columns of a token does each head get?",
    why="'Each head attends to the whole sequence' is read as 'to the whole vector'.",
    cut="not at all",
)
exercise.option(
    "first_part_for_all",
    "Your heads all hold the first part of each token.",
    "Which columns are left once head 0 has taken its own?",
    why="x[..., :d] stands in a loop over the heads, and h is not in it.",
    cut="first part",
)
exercise.option(
    "parts_overlap",
    "Your parts overlap: head 1 starts at number 1 of a token, head 2 at number 2.",
    "After head 0 has taken its numbers, which is the first one that is left?",
    why="x[..., h : h + d] moves on by one number, not by one part.",
    cut="overlapping",
)
for parts, name, diagnosis, question in (
    (
        "last head first",
        "last_head_first",
        "Your heads come in the other order: head 0 is what should be the last.",
        "Which part of a token does head 0 hold, according to the docstring?",
    ),
    (
        "last token first",
        "tokens_reversed",
        "Your tokens come in the other order: row 0 of a head is the last token's.",
        "Which token does row i of a head belong to?",
    ),
    (
        "without the last",
        "last_head_missing",
        "Your last head is missing.",
        "How many heads does range(n_heads − 1) count?",
    ),
):
    exercise.option(
        name, diagnosis, question, why="A loop or a slice goes wrong.", parts=parts
    )
exercise.option(
    "axis_of_heads_behind_the_tokens",
    "Your axis of heads comes after the tokens.",
    "Which of the two axes comes first in the shape that the docstring promises?",
    why="The reshape does the cutting, and the transpose looks like decoration.",
    swapped="nothing",
)
exercise.option(
    "axes_counted_from_the_front",
    "Your axes 1 and 2, counted from the front, are swapped: those are tokens and "
    "heads only behind a single leading axis.",
    "From which end can you count so that the batch makes no difference?",
    why="transpose(1, 2) is what all code for one batch axis says.",
    swapped="1 and 2",
)
exercise.option(
    "first_two_axes_swapped",
    "Your first two axes are swapped: those are tokens and heads only if no axis comes "
    "before x's tokens.",
    "From which end can you count so that leading axes make no difference?",
    why="swapaxes(0, 1) is right for the single sequence that is tried first.",
    swapped="0 and 1",
)
exercise.option(
    "three_axes_fixed",
    "Your code raises an error unless x has exactly three axes.",
    "Which lines of yours need to know how many axes come before the last two?",
    why="`batch, n, d_model = x.shape` opens nearly every published version.",
    axes="three",
)
exercise.option(
    "four_axes_transposed",
    "Your transposition names exactly four axes, so it raises an error unless x has "
    "three.",
    "How do you name two axes from the end, however many come before them?",
    why="permute(0, 2, 1, 3) is in BERT and most of its copies, which always have a "
    "batch.",
    axes="four, transposed",
)
exercise.option(
    "first_axis_taken_for_the_batch",
    "Your first axis counts as the batch, and all axes up to the last as its tokens: "
    "without a batch each token becomes a sequence, and with two leading axes "
    "sequences run together.",
    "Which axis does a −1 in a `reshape` stand for, if x has no batch, or two axes "
    "before its tokens?",
    why="view(nbatches, -1, h, d_k).transpose(1, 2) is in The Annotated Transformer.",
    axes="the first is the batch",
)
exercise.option(
    "heads_in_front_of_the_batch",
    "Your heads come before the batch.",
    "What should one element along the first axis be: a sequence, or a head?",
    why="np.split and np.stack make a list of heads, whose axis comes first: "
    "permute(2, 0, 1, 3) in lsdefine/attention-is-all-you-need-keras, issue 36.",
    heads="in front",
)
exercise.option(
    "batch_and_heads_in_one_axis",
    "Your batch and your heads share one axis of length batch · n_heads.",
    "How many axes does the docstring promise for x with one leading axis?",
    why="Older code needed three axes for its product of matrices (bmm), and is still "
    "copied.",
    heads="with the batch",
)
exercise.option(
    "list_of_heads",
    "Your heads come in a list, not in one array.",
    "What does the docstring promise: one array, or one for each head?",
    why="np.split and a comprehension over the heads give lists.",
    heads="in a list",
)
exercise.option(
    "remainder_dropped",
    "Your result leaves numbers out where n_heads does not divide d_model: no error "
    "comes.",
    "What does `//` do with a remainder, and who learns of it?",
    why="d_model // n_heads never complains, and slices by that length do not either.",
    refused="nothing",
)
exercise.option(
    "remainder_gives_none",
    "Your result is None where n_heads does not divide d_model: no error comes.",
    "Which word makes a function stop with an error?",
    why="An `if` without `else`, a print, or `return ValueError` in place of `raise`.",
    refused="nothing: None",
)
for refused, name, diagnosis in (
    (
        "n_heads % d_model",
        "remainder_of_the_wrong_division",
        "Your code refuses sizes that fit: n_heads is divided by d_model, not d_model "
        "by n_heads.",
    ),
    (
        "more numbers than heads",
        "too_many_heads_let_through",
        "Your code lets n_heads through where it is larger than d_model.",
    ),
    (
        "heads of one number too",
        "heads_of_one_number_refused",
        "Your code refuses heads of one number each.",
    ),
    ("one head too", "one_head_refused", "Your code refuses a single head."),
):
    exercise.option(
        name,
        diagnosis,
        "Which remainder tells whether d_model numbers fit into n_heads equal parts?",
        why="A condition is written from memory, or for the usual sizes only.",
        refused=refused,
    )
exercise.option(
    "one_head_without_its_axis",
    "Your result has no axis for the head where there is only one.",
    "How many axes does the result have for two heads, and how many for one?",
    why="`if n_heads == 1: return x` looks like a shortcut.",
    one_head="x itself",
)
exercise.option(
    "shape_of_x_set",
    "Your x has another shape after the call.",
    "What does `x.shape = …` do to the array that the caller holds?",
    why="Setting the shape is the short way to write a reshape.",
    shape_set=True,
)
exercise.family(families.squeezed(), families.transposed(), families.as_list())
