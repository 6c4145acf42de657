"""Cases and misconceptions of ``combine_masks``."""

import functools

import numpy as np

from autograder import Exercise
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


@exercise.case("A mask for all sequences and one for all queries are laid together")
def axes_of_length_one(student, rng):
    student.agrees(triangle(5, 7), rows_of([4, 7], 7))
    student.agrees(rows_of([2, 6], 7)[:, np.newaxis], triangle(5, 7))


@exercise.case("Three masks count, all three of them")
def three_masks(student, rng):
    others = [[False, True, True], [True, False, True], [True, True, False]]
    window = ~np.tri(3, 3, -2, dtype=bool)
    student.agrees(triangle(3, 3), window, np.array(others))
    window = ~np.tri(5, 7, -3, dtype=bool)
    student.agrees(triangle(5, 7), window, rows_of([3, 6], 7))
    student.agrees(*(rng.random((5, 7)) < 0.7 for _ in range(3)))


@exercise.case(
    "A single mask, or the same one twice, comes back as it is", pays_alone=False
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


@exercise.case("The masks stay as they are")
def arguments_stay(student, rng):
    first, second = (rng.random((3, 4)) < 0.6 for _ in range(2))
    student.leaves_unchanged(first, second)


@exercise.case("Any number of masks in any order", visible=False)
def any_number_of_masks(student, rng):
    masks = [
        rng.random(size) < 0.8 for size in ((5, 1), (1, 7), (3, 5, 7), (2, 1, 1, 7))
    ]
    expected = student(*masks)
    student.expect(student(*masks[::-1]), expected)
    student.agrees(np.asfortranarray(masks[2]), masks[3])


@exercise.misconception(
    "Your mask is True wherever at least one of the masks is.",
    "If one mask blocks a key and another allows it, may the query attend to it?",
    why="'This mask and that one' sounds like a union; with True = blocked, as in "
    "nn.MultiheadAttention, it would be one.",
)
def or_for_and(*masks):
    return functools.reduce(np.logical_or, masks)


@exercise.misconception(
    "Your mask is False where two masks are both True: you have put ^ between them.",
    "If two masks both allow a key, may the query attend to it?",
    why="^ is taken for a logical and, or != for a way to apply one mask to another.",
)
def exclusive_or(*masks):
    return functools.reduce(np.logical_xor, masks)


@exercise.misconception(
    "Your mask is True where two masks are equal, also where both are False.",
    "If two masks both block a key, may the query attend to it?",
    why="'Both the same' is mistaken for 'both True'.",
)
def masks_compared(*masks):
    return functools.reduce(np.equal, masks)


@exercise.misconception(
    "Your mask is the last of the masks, spread over all axes.",
    "What does your loop keep of the masks that came before?",
    why="The loop assigns each mask where it should combine it with what it has.",
)
def last_mask_wins(*masks):
    shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    return np.broadcast_to(masks[-1], shape).copy()


@exercise.misconception(
    "Your mask is that of the first two masks.",
    "What does your function do with a third mask?",
    why="A causal and a padding mask are all that most models have.",
)
def first_two_only(*masks):
    return functools.reduce(np.logical_and, masks[:2])


@exercise.misconception(
    "Your mask is right but for its meaning: it is True where a key is blocked.",
    "What does True mean in a mask called may_attend?",
    why="In nn.MultiheadAttention's masks True means blocked.",
)
def polarity_reversed(*masks):
    return ~functools.reduce(np.logical_and, masks)


@exercise.misconception(
    "Your mask is True where all the masks are False.",
    "Is a key that every mask blocks allowed in the end?",
    why="The masks are turned round, combined, and not turned back, or read as those "
    "of nn.MultiheadAttention, where True means blocked.",
)
def open_where_all_forbid(*masks):
    return ~functools.reduce(np.logical_or, masks)


@exercise.misconception(
    "Your numbers count the masks that are True.",
    "Which dtype does the docstring promise, and how many masks must be True?",
    why="sum(masks) looks like putting masks together; numbers above 0 count as True.",
)
def masks_added_up(*masks):
    return functools.reduce(np.add, [mask.astype(int) for mask in masks])


@exercise.misconception(
    "Your mask is False everywhere.",
    "Where do all the masks allow a key, and if you multiply −∞ by a mask on the way: "
    "what is 0 · −∞?",
    why="(1 - mask) * -inf is NaN where the mask is True (onnx/onnx#8068).",
)
def minus_infinity_times_zero(*masks):
    to_add = [(1 - mask.astype(float)) * -np.inf for mask in masks]
    return functools.reduce(np.add, to_add) == 0


@exercise.misconception(
    "Your rows are opened to all keys where the masks together leave none.",
    "Does the docstring make an exception for a query that may attend to nothing?",
    why="Such rows give NaN in a plain softmax, and Hugging Face's transformers opens "
    "them again for that reason (_unmask_unattended).",
)
def empty_rows_opened(*masks):
    may_attend = functools.reduce(np.logical_and, masks)
    return may_attend | ~may_attend.any(axis=-1, keepdims=True)


@exercise.misconception(
    "Your result is written into the first mask: the caller's mask is changed, and "
    "where the result has more axes, your function stops.",
    "Does `&=` make a new array, or work on the caller's?",
    why="combined = masks[0] gives the mask a second name, not a copy.",
)
def first_mask_changed(*masks):
    may_attend = masks[0]
    for mask in masks[1:]:
        may_attend &= mask
    return may_attend


@exercise.misconception(
    "Your code stops at Python's `and`, which asks whether a whole array is true.",
    "Which operator of NumPy goes through two arrays entry by entry?",
    why="`and` is the word for it, and works with single truths.",
)
def python_and(*masks):
    may_attend = masks[0]
    for mask in masks[1:]:
        may_attend = may_attend and mask
    return may_attend


@exercise.misconception(
    "Your function writes its result into the third mask, and stops where that does "
    "not fit or where there are not two or three masks.",
    "What does NumPy's documentation call the third argument of the function that you "
    "use?",
    why="sum, max and print take any number of things; a ufunc takes its third "
    "argument as `out`, the array for the result.",
)
def third_mask_taken_as_out(*masks):
    return np.logical_and(*masks)


@exercise.misconception(
    "Your function stops where the masks have unequal shapes: they cannot be stacked "
    "into one array as they are.",
    "Which of NumPy's operations stretch axes of length 1, and does making an array of "
    "several masks do so?",
    why="np.all(masks, axis=0) makes one array of all masks first, which works as long "
    "as all have the same shape.",
)
def masks_stacked(*masks):
    return np.all(masks, axis=0)
