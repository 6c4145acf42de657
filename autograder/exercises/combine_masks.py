"""Cases and misconceptions of ``combine_masks``."""

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


exercise.edits(
    """
or_for_and:
  | np.array(True) -> np.array(False)
  | & -> |
  Your mask is True wherever at least one of the masks is.
  ? If one mask blocks a key and another allows it, may the query attend to it?
  # 'This mask and that one' sounds like a union; with True = blocked, as in
    nn.MultiheadAttention, it would be one.
exclusive_or:
  | np.array(True) -> np.array(False)
  | & -> ^
  Of two masks that are both True, your mask is False.
  ? If two masks both allow a key, may the query attend to it?
  # ^ is taken for a logical and, or != for a way to apply one mask to another.
masks_compared: & -> ==
  Your mask is True where two masks are equal, also where both are False.
  ? If two masks both block a key, may the query attend to it?
  # 'Both the same' is mistaken for 'both True'.
masks_multiplied_as_matrices:
  | np.array(True) -> masks[0]
  | in masks -> in masks[1:]
  | & -> @
  Your masks are multiplied as matrices, which stops where the sizes do not fit.
  ? Which product of two arrays goes entry by entry?
  # @ is taken for *, which is a logical and for booleans.
others_taken_off:
  | np.array(True) -> masks[0]
  | in masks -> in masks[1:]
  | & mask -> & ~mask
  Your mask is True where the first mask is and the others are not.
  ? If two masks both allow a key, may the query attend to it?
  # The other masks are read as True = blocked.
majority: return np.mean(np.broadcast_arrays(*masks), axis=0) > 0.5
  Your mask is True where more than half of the masks are.
  ? How many of the masks are needed to block a key?
  # The mean of the masks is compared with a half.
masks_added_up:
  | np.array(True) -> np.array(0)
  | & -> +
  Your numbers count the masks that are True.
  ? Which dtype does the docstring promise, and how many masks must be True?
  # sum(masks) looks like putting masks together; numbers above 0 count as True.
minus_infinity_times_zero:
  | np.array(True) -> np.array(0.0)
  | & mask -> + (1 - mask) * -np.inf
  | return may_attend == 0
  Your mask is False everywhere.
  ? Where do all the masks allow a key, and if you multiply −∞ by a mask on the way:
    what is 0 · −∞?
  # (1 - mask) * -inf is NaN where the mask is True (onnx/onnx#8068).
python_and: & -> and
  Your code raises an error at Python's `and`, which asks whether a whole array is
    true.
  ? Which operator of NumPy goes through two arrays entry by entry?
  # `and` is the word for it, and works with single truths.
last_mask_wins: return np.broadcast_arrays(*masks)[-1]
  Your mask is the last of the masks, spread over all axes.
  ? Which of the masks that came before are still in your result?
  # The loop assigns each mask where it should combine it with what it has.
first_mask_for_all: return np.broadcast_arrays(*masks)[0]
  Your mask is the first of the masks, spread over all axes.
  ? What do the other masks change in your result?
  # The result of & is computed and not assigned.
first_two_only: in masks -> in masks[:2]
  Your mask is that of the first two masks.
  ? What does a third mask change in your result?
  # A causal and a padding mask are all that most models have.
returned_in_the_loop:
  | np.array(True) -> masks[0]
  | for mask in masks:
  :     may_attend = …
  : return may_attend ->
  :     for mask in masks[1:]:
  :         return may_attend & mask
  Your loop ends after the second mask, and a single mask gives None.
  ? Where does your `return` stand: in the loop, or below it?
  # `return` is indented like the line above it.
first_and_last_only: in masks -> in (masks[0], masks[-1])
  Your mask is that of the first and the last mask.
  ? Which mask does each step of your loop begin with?
  # Each step combines masks[0] with a mask, and the result so far is lost.
first_mask_left_out: in masks -> in masks[1:] or masks
  Your first mask plays no part where there are others.
  ? With which mask does your loop begin?
  # masks[1:] is gone through, and masks[0] is not put in before.
last_mask_left_out: in masks -> in masks[:-1] or masks
  Your last mask plays no part where there are others.
  ? With which mask does your loop end?
  # range(len(masks) - 1) ends one too early.
two_masks_needed: np.array(True) -> masks[0] & masks[1]
  Your call raises an error for a single mask.
  ? How many masks does the docstring ask for, at least?
  # masks[0] & masks[1] is written down for the first two.
polarity_reversed: return ~may_attend
  Your mask is True where a key is blocked.
  ? What does True mean in a mask called may_attend?
  # In nn.MultiheadAttention's masks True means blocked.
open_where_all_forbid: & mask -> & ~mask
  Your mask allows what the masks block: each of them is read the wrong way round.
  # The masks are turned round, combined, and not turned back, or read as those of
    nn.MultiheadAttention, where True means blocked.
empty_rows_opened: return may_attend | ~may_attend.any(axis=-1, keepdims=True)
  Your rows are opened to all keys where the masks together leave none.
  ? Does the docstring make an exception for a query that may attend to nothing?
  # Such rows give NaN in a plain softmax, and Hugging Face's transformers opens them
    again for that reason (_unmask_unattended).
ones_and_zeros:
  | np.array(True) -> np.array(1.0)
  | & -> *
  Your mask holds the numbers 1.0 and 0.0.
  ? Which dtype does the docstring promise?
  # Masks are multiplied into an array that np.ones has made.
whole_numbers:
  | np.array(True) -> np.array(1)
  | & -> *
  Your mask holds the integers 1 and 0.
  # Products of masks are products of numbers, once they have begun at 1.
numbers_to_add: return np.where(may_attend, 0.0, -np.inf)
  Your mask holds 0 and −∞, which are to be added to the scores.
  ? Which two values does a mask called may_attend have?
  # Masks in this form are combined by adding them up.
masks_stacked: return np.all(masks, axis=0)
  Your function stops where the masks have unequal shapes: they cannot be stacked into
    one array as they are.
  ? Which of NumPy's operations stretch axes of length 1, and does making an array of
    several masks do so?
  # np.all(masks, axis=0) makes one array of all masks first, which works as long as
    all have the same shape.
one_truth_for_everything: return np.all(np.broadcast_arrays(*masks))
  Your result is a single True or False for all masks together.
  ? Along which axis of an array of masks are the masks?
  # np.all without an axis goes through everything.
all_along_the_keys: return np.all(np.broadcast_arrays(*masks), axis=-1)
  Your result has lost the axis of the keys: it says where a whole row is True.
  # axis=-1 is right for so many things that it is written here too.
shape_of_the_first:
  | np.array(True) -> masks[0].copy()
  | may_attend = may_attend & mask -> may_attend &= mask
  Your function stops where the result has more axes than the first mask.
  ? Which shape has the result of a mask (n, m) and one (batch, 1, m)?
  # A copy of the first mask gets the others by &=, and cannot grow.
first_mask_changed:
  | np.array(True) -> masks[0]
  | may_attend = may_attend & mask -> may_attend &= mask
  Your result is written into the first mask: the caller's mask is changed, and where
    the result has more axes, your function stops.
  ? Does `&=` make a new array, or work on the caller's?
  # combined = masks[0] gives the mask a second name, not a copy.
last_mask_changed:
  | return may_attend ->
  :     if mask.shape == may_attend.shape:
  :         mask[...] = may_attend
  :     return may_attend
  Your result is written into the last mask where it fits.
  ? Does out=masks[-1] make a new array?
  # out= saves an array that is not its own.
third_mask_taken_as_out: return np.logical_and(*masks)
  Your function writes its result into the third mask, and stops where that does not
    fit or where there are not two or three masks.
  ? What does NumPy's documentation call the third argument of the function that you
    use?
  # sum, max and print take any number of things; a ufunc takes its third argument as
    `out`, the array for the result.
""",
)

exercise.family(families.squeezed(), families.as_list())
