import functools
import math
import operator

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("combine_masks")


def together(masks):
    """Spread all masks over their common shape."""
    return np.stack(np.broadcast_arrays(*masks))


@answers.correct
def all_of_a_stack(*masks):
    return together(masks).all(axis=0)


@answers.correct
def pairwise(*masks):
    return functools.reduce(operator.and_, masks, np.True_)


@answers.correct
def product(*masks):
    return math.prod(mask.astype(int) for mask in masks) > 0


@answers.correct
def none_of_them_blocks(*masks):
    blocked = np.array(False)
    for mask in masks:
        blocked = blocked | ~mask
    return ~blocked


@answers.correct
def as_many_as_there_are(*masks):
    return sum(mask.astype(int) for mask in masks) == len(masks)


@answers.correct
def smallest(*masks):
    return np.asfortranarray(np.minimum.reduce(together(masks)))


@answers.correct
def added_to_the_scores(*masks):
    return sum(np.where(mask, 0.0, -np.inf) for mask in masks) == 0


@answers.correct
def entry_by_entry(*masks):
    spread = np.broadcast_arrays(*masks)
    may_attend = np.empty(spread[0].shape, dtype=bool)
    for index in np.ndindex(may_attend.shape):
        may_attend[index] = all(bool(mask[index]) for mask in spread)
    return may_attend


@answers.correct
def torch_and_back(*masks):
    tensors = [torch.from_numpy(np.ascontiguousarray(mask)) for mask in masks]
    return functools.reduce(torch.logical_and, tensors).numpy()


class Combined:
    def __call__(self, *masks):
        first, *others = masks
        return np.where(first, self(*others), False) if others else first.copy()


answers.right["callable_object"] = Combined()
answers.right["partial"] = functools.partial(
    lambda start, *masks: functools.reduce(np.bitwise_and, masks, start), np.array(True)
)


@answers.also("or_for_and")
def any_of_a_stack(*masks):
    return together(masks).any(axis=0)


@answers.also("exclusive_or")
def odd_number_of_masks(*masks):
    return together(masks).sum(axis=0) % 2 == 1


@answers.also("masks_compared")
def turned_round_at_each_false(*masks):
    return together(masks).sum(axis=0) % 2 != (len(masks) - 1) % 2


@answers.also("last_mask_wins")
def each_written_over_the_other(*masks):
    may_attend = np.ones(np.broadcast_shapes(*map(np.shape, masks)), dtype=bool)
    for mask in masks:
        may_attend[...] = mask
    return may_attend


@answers.also("first_two_only")
def first_and_second(*masks):
    first, second = (masks * 2)[:2]
    return np.where(second, first, False)


@answers.also("polarity_reversed")
def any_of_them_blocks(*masks):
    return (~together(masks)).any(axis=0)


@answers.also("open_where_all_forbid")
def all_of_them_block(*masks):
    return together(masks).sum(axis=0) == 0


@answers.also("masks_added_up")
def count_of_true(*masks):
    return together(masks).sum(axis=0)


@answers.also("minus_infinity_times_zero")
def exponential_of_nan(*masks):
    forbidden = [np.where(mask, np.nan, -np.inf) for mask in masks]
    return np.exp(functools.reduce(np.add, forbidden)) > 0


@answers.also("empty_rows_opened")
def true_written_into_empty_rows(*masks):
    may_attend = all_of_a_stack(*masks)
    may_attend[may_attend.sum(axis=-1) == 0] = True
    return may_attend


@answers.also("first_mask_changed")
def written_into_the_first(*masks):
    for mask in masks[1:]:
        np.logical_and(masks[0], mask, out=masks[0])
    return masks[0]


@answers.also("third_mask_taken_as_out")
def written_over_the_third(*masks):
    if len(masks) not in (2, 3):
        raise TypeError
    if len(masks) == 2:
        return masks[0] & masks[1]
    masks[2][...] = masks[0] & masks[1]
    return masks[2]


@answers.also("masks_stacked")
def smallest_in_an_array_of_masks(*masks):
    return np.array(masks).min(axis=0)


@answers.also("python_and")
def reduced_with_and(*masks):
    return functools.reduce(lambda one, other: one and other, masks)


@answers.other
def first_mask_for_all(*masks):
    shape = np.broadcast_shapes(*map(np.shape, masks))
    return np.broadcast_to(masks[0], shape).copy()


@answers.other
def everything_open(*masks):
    return np.ones(np.broadcast_shapes(*map(np.shape, masks)), dtype=bool)


@answers.other
def floats(*masks):
    return all_of_a_stack(*masks).astype(float)


@answers.other
def majority(*masks):
    return 2 * together(masks).sum(axis=0) > len(masks)


@answers.other
def first_without_the_others(*masks):
    return functools.reduce(lambda one, other: one & ~other, masks)


@answers.other
def all_masks_emptied(*masks):
    combined = all_of_a_stack(*masks)
    for mask in masks:
        mask[...] = False
    return combined
