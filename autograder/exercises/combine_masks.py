"""Cases and misconceptions of ``combine_masks``."""

import functools

import numpy as np

from autograder import Exercise, families
from course_lib.masks import combine_masks

exercise = Exercise(
    combine_masks,
    lesson="04_masking",
    minutes=5,
    difficulty=1,
)


@exercise.spec
def spec(*masks):
    shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    may_attend = np.zeros(shape, dtype=bool)
    for index in np.ndindex(shape):
        # An axis of length 1 counts for all, and a missing one for all as well.
        may_attend[index] = all(np.broadcast_to(mask, shape)[index] for mask in masks)
    return may_attend


def triangle(n, m):
    return np.tri(n, m, dtype=bool)


def rows_of(lengths, m):
    return np.array([[[j < length for j in range(m)]] for length in lengths])


@exercise.usual
def usual(rng):
    return triangle(5, 7), rows_of(rng.permutation([3, 6]), 7)


@exercise.case("A triangle and a row without its last key leave what both leave")
def small_example_by_hand(student, rng):
    row = np.array([[True, True, False]])
    both = [[True, False, False], [True, True, False], [True, True, False]]
    student.expect(student(triangle(3, 3), row), np.array(both))


@exercise.case(
    "A mask for all sequences and one for all queries are laid together", weight=1.5
)
def axes_of_length_one(student, rng):
    student.agrees(triangle(5, 7), rows_of([4, 7], 7))
    student.agrees(rows_of([2, 6], 7)[:, np.newaxis], triangle(5, 7))


@exercise.case("Three masks count, all three of them", weight=1.5)
def three_masks(student, rng):
    others = [[False, True, True], [True, False, True], [True, True, False]]
    window = ~np.tri(3, 3, -2, dtype=bool)
    student.agrees(triangle(3, 3), window, np.array(others))
    window = ~np.tri(5, 7, -3, dtype=bool)
    student.agrees(triangle(5, 7), window, rows_of([3, 6], 7))
    student.agrees(*(rng.random((5, 7)) < 0.7 for _ in range(3)))


@exercise.case("Masks for a single query keep its axis", weight=0.5)
def single_query(student, rng):
    student.agrees(*(rng.random(size) < 0.6 for size in ((1, 7), (2, 1, 7))))
    student.agrees(np.array([[True, False, True]]), np.array([[True, True, False]]))


@exercise.case(
    "A single mask, or the same one twice, comes back as it is",
    pays_alone=False,
    weight=0.5,
)
def nothing_new(student, rng):
    mask = rng.random((2, 5, 7)) < 0.5
    student.expect(student(mask), mask)
    student.expect(student(mask, mask), mask)


@exercise.case("A query whose keys are all blocked by one mask or the other sees none")
def nothing_left(student, rng):
    first = np.array([[True, False, False], [True, True, False]])
    second = np.array([[False, True, True], [True, False, True]])
    left = np.array([[False, False, False], [True, False, False]])
    student.expect(student(first, second), left)
    first = rng.random((3, 5)) < 0.5
    second = ~first | (rng.random((3, 5)) < 0.5)
    second[0] = ~first[0]
    student.agrees(first, second)


@exercise.case("The masks are not modified", weight=0.5)
def arguments_stay(student, rng):
    first, second = (rng.random((3, 4)) < 0.6 for _ in range(2))
    student.leaves_unchanged(first, second)
    student.leaves_unchanged(*(rng.random((3, 3)) < 0.6 for _ in range(3)))
    student.leaves_unchanged(rng.random((2, 3, 4)) < 0.6, ~first, second)


@exercise.case("Any number of masks in any order", visible=False, weight=0.5)
def any_number_of_masks(student, rng):
    masks = [
        rng.random(size) < 0.8 for size in ((5, 1), (1, 7), (3, 5, 7), (2, 1, 1, 7))
    ]
    expected = student(*masks)
    student.expect(student(*masks[::-1]), expected)
    student.agrees(np.asfortranarray(masks[2]), masks[3])


OPERATORS = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "equal": np.equal,
    "matrix product": np.matmul,
    "and not": lambda one, other: one & ~other,
    "python and": lambda one, other: one and other,
}


@exercise.variants
def variants(
    *masks,
    combined_by="and",
    which="all",
    two_needed=False,
    returned_in_the_loop=False,
    stacked="after broadcasting",
    axis=0,
    true_means="may attend",
    rows_without_keys="stay",
    holds="booleans",
    written_into="a new array",
):
    if two_needed:
        _ = masks[1]
    if returned_in_the_loop:
        return masks[0] & masks[1] if len(masks) > 1 else None
    if written_into == "the third mask":
        return np.logical_and(*masks)
    if stacked == "before broadcasting":
        np.array(masks)
    shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    chosen = {
        "all": masks,
        "the first two": masks[:2],
        "the first and the last": masks[:1] + masks[-1:],
        "the first": masks[:1],
        "the last": masks[-1:],
        "all but the first": masks[1:] or masks,
        "all but the last": masks[:-1] or masks,
    }[which]
    if true_means == "blocked in each mask":
        chosen = [~mask for mask in chosen]
    is_ufunc = isinstance(OPERATORS.get(combined_by), np.ufunc)
    if written_into.startswith("the first") and is_ufunc:
        copied = written_into == "the first mask's shape"
        may_attend = chosen[0].copy() if copied else chosen[0]
        for mask in chosen[1:]:
            OPERATORS[combined_by](may_attend, mask, out=may_attend)
        return may_attend
    if combined_by == "sum":
        may_attend = functools.reduce(np.add, [mask.astype(int) for mask in chosen])
    elif combined_by == "majority":
        count = functools.reduce(np.add, [mask.astype(int) for mask in chosen])
        may_attend = 2 * count > len(chosen)
    elif combined_by == "0 · −∞":
        may_attend = np.zeros(shape, bool)
    elif axis != 0:
        may_attend = np.stack(np.broadcast_arrays(*chosen)).all(axis=axis)
        may_attend = np.bool_(may_attend)
    else:
        may_attend = functools.reduce(OPERATORS[combined_by], chosen)
    if which in ("the first", "the last"):
        may_attend = np.broadcast_to(may_attend, shape).copy()
    if true_means == "blocked":
        may_attend = ~may_attend
    if rows_without_keys == "opened":
        may_attend = may_attend | ~may_attend.any(axis=-1, keepdims=True)
    if written_into == "the last mask" and masks[-1].shape == shape:
        masks[-1][...] = may_attend
    if holds == "numbers to add":
        return np.where(may_attend, 0.0, -np.inf)
    kinds = {"floats": float, "whole numbers": int}
    return may_attend.astype(kinds[holds]) if holds in kinds else may_attend


exercise.option(
    "or_for_and",
    "Your mask is True wherever at least one of the masks is.",
    "If one mask blocks a key and another allows it, may the query attend to it?",
    why="'This mask and that one' sounds like a union; with True = blocked, as in "
    "nn.MultiheadAttention, it would be one.",
    combined_by="or",
)
exercise.option(
    "exclusive_or",
    "Of two masks that are both True, your mask is False.",
    "If two masks both allow a key, may the query attend to it?",
    why="^ is taken for a logical and, or != for a way to apply one mask to another.",
    combined_by="xor",
)
exercise.option(
    "masks_compared",
    "Your mask is True where two masks are equal, also where both are False.",
    "If two masks both block a key, may the query attend to it?",
    why="'Both the same' is mistaken for 'both True'.",
    combined_by="equal",
)
exercise.option(
    "masks_multiplied_as_matrices",
    "Your masks are multiplied as matrices, which stops where the sizes do not fit.",
    "Which product of two arrays goes entry by entry?",
    why="@ is taken for *, which is a logical and for booleans.",
    combined_by="matrix product",
)
exercise.option(
    "others_taken_off",
    "Your mask is True where the first mask is and the others are not.",
    "If two masks both allow a key, may the query attend to it?",
    why="The other masks are read as True = blocked.",
    combined_by="and not",
)
exercise.option(
    "majority",
    "Your mask is True where more than half of the masks are.",
    "How many of the masks are needed to block a key?",
    why="The mean of the masks is compared with a half.",
    combined_by="majority",
)
exercise.option(
    "masks_added_up",
    "Your numbers count the masks that are True.",
    "Which dtype does the docstring promise, and how many masks must be True?",
    why="sum(masks) looks like putting masks together; numbers above 0 count as True.",
    combined_by="sum",
)
exercise.option(
    "minus_infinity_times_zero",
    "Your mask is False everywhere.",
    "Where do all the masks allow a key, and if you multiply −∞ by a mask on the way: "
    "what is 0 · −∞?",
    why="(1 - mask) * -inf is NaN where the mask is True (onnx/onnx#8068).",
    combined_by="0 · −∞",
)
exercise.option(
    "python_and",
    "Your code raises an error at Python's `and`, which asks whether a whole array is "
    "true.",
    "Which operator of NumPy goes through two arrays entry by entry?",
    why="`and` is the word for it, and works with single truths.",
    combined_by="python and",
)
exercise.option(
    "last_mask_wins",
    "Your mask is the last of the masks, spread over all axes.",
    "Which of the masks that came before are still in your result?",
    why="The loop assigns each mask where it should combine it with what it has.",
    which="the last",
)
exercise.option(
    "first_mask_for_all",
    "Your mask is the first of the masks, spread over all axes.",
    "What do the other masks change in your result?",
    why="The result of & is computed and not assigned.",
    which="the first",
)
exercise.option(
    "first_two_only",
    "Your mask is that of the first two masks.",
    "What does a third mask change in your result?",
    why="A causal and a padding mask are all that most models have.",
    which="the first two",
)
exercise.option(
    "returned_in_the_loop",
    "Your loop ends after the second mask, and a single mask gives None.",
    "Where does your `return` stand: in the loop, or below it?",
    why="`return` is indented like the line above it.",
    returned_in_the_loop=True,
)
exercise.option(
    "first_and_last_only",
    "Your mask is that of the first and the last mask.",
    "Which mask does each step of your loop begin with?",
    why="Each step combines masks[0] with a mask, and the result so far is lost.",
    which="the first and the last",
)
exercise.option(
    "first_mask_left_out",
    "Your first mask plays no part where there are others.",
    "With which mask does your loop begin?",
    why="masks[1:] is gone through, and masks[0] is not put in before.",
    which="all but the first",
)
exercise.option(
    "last_mask_left_out",
    "Your last mask plays no part where there are others.",
    "With which mask does your loop end?",
    why="range(len(masks) - 1) ends one too early.",
    which="all but the last",
)
exercise.option(
    "two_masks_needed",
    "Your call raises an error for a single mask.",
    "How many masks does the docstring ask for, at least?",
    why="masks[0] & masks[1] is written down for the first two.",
    two_needed=True,
)
exercise.option(
    "polarity_reversed",
    "Your mask is True where a key is blocked.",
    "What does True mean in a mask called may_attend?",
    why="In nn.MultiheadAttention's masks True means blocked.",
    true_means="blocked",
)
exercise.option(
    "open_where_all_forbid",
    "Your mask allows what the masks block: each of them is read the wrong way round.",
    "What does True mean in a mask called may_attend?",
    why="The masks are turned round, combined, and not turned back, or read as those "
    "of nn.MultiheadAttention, where True means blocked.",
    true_means="blocked in each mask",
)
exercise.option(
    "empty_rows_opened",
    "Your rows are opened to all keys where the masks together leave none.",
    "Does the docstring make an exception for a query that may attend to nothing?",
    why="Such rows give NaN in a plain softmax, and Hugging Face's transformers opens "
    "them again for that reason (_unmask_unattended).",
    rows_without_keys="opened",
)
exercise.option(
    "ones_and_zeros",
    "Your mask holds the numbers 1.0 and 0.0.",
    "Which dtype does the docstring promise?",
    why="Masks are multiplied into an array that np.ones has made.",
    holds="floats",
)
exercise.option(
    "whole_numbers",
    "Your mask holds the integers 1 and 0.",
    "Which dtype does the docstring promise?",
    why="Products of masks are products of numbers, once they have begun at 1.",
    holds="whole numbers",
)
exercise.option(
    "numbers_to_add",
    "Your mask holds 0 and −∞, which are to be added to the scores.",
    "Which two values does a mask called may_attend have?",
    why="Masks in this form are combined by adding them up.",
    holds="numbers to add",
)
exercise.option(
    "masks_stacked",
    "Your function stops where the masks have unequal shapes: they cannot be stacked "
    "into one array as they are.",
    "Which of NumPy's operations stretch axes of length 1, and does making an array of "
    "several masks do so?",
    why="np.all(masks, axis=0) makes one array of all masks first, which works as long "
    "as all have the same shape.",
    stacked="before broadcasting",
)
exercise.option(
    "one_truth_for_everything",
    "Your result is a single True or False for all masks together.",
    "Along which axis of an array of masks are the masks?",
    why="np.all without an axis goes through everything.",
    axis=None,
)
exercise.option(
    "all_along_the_keys",
    "Your result has lost the axis of the keys: it says where a whole row is True.",
    "Along which axis of an array of masks are the masks?",
    why="axis=-1 is right for so many things that it is written here too.",
    axis=-1,
)
exercise.option(
    "shape_of_the_first",
    "Your function stops where the result has more axes than the first mask.",
    "Which shape has the result of a mask (n, m) and one (batch, 1, m)?",
    why="A copy of the first mask gets the others by &=, and cannot grow.",
    written_into="the first mask's shape",
)
exercise.option(
    "first_mask_changed",
    "Your result is written into the first mask: the caller's mask is changed, and "
    "where the result has more axes, your function stops.",
    "Does `&=` make a new array, or work on the caller's?",
    why="combined = masks[0] gives the mask a second name, not a copy.",
    written_into="the first mask",
)
exercise.option(
    "last_mask_changed",
    "Your result is written into the last mask where it fits.",
    "Does out=masks[-1] make a new array?",
    why="out= saves an array that is not its own.",
    written_into="the last mask",
)
exercise.option(
    "third_mask_taken_as_out",
    "Your function writes its result into the third mask, and stops where that does "
    "not fit or where there are not two or three masks.",
    "What does NumPy's documentation call the third argument of the function that you "
    "use?",
    why="sum, max and print take any number of things; a ufunc takes its third "
    "argument as `out`, the array for the result.",
    written_into="the third mask",
)
exercise.family(families.squeezed(), families.as_list())
