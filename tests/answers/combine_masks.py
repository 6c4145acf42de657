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


@answers.also("minus_infinity_times_zero")
def exponential_of_nan(*masks):
    forbidden = [np.where(mask, np.nan, -np.inf) for mask in masks]
    return np.exp(functools.reduce(np.add, forbidden)) > 0


@answers.also("third_mask_taken_as_out")
def written_over_the_third(*masks):
    if len(masks) not in (2, 3):
        raise TypeError
    if len(masks) == 2:
        return masks[0] & masks[1]
    masks[2][...] = masks[0] & masks[1]
    return masks[2]


@answers.other
def everything_open(*masks):
    return np.ones(np.broadcast_shapes(*map(np.shape, masks)), dtype=bool)


@answers.other
def all_masks_emptied(*masks):
    combined = all_of_a_stack(*masks)
    for mask in masks:
        mask[...] = False
    return combined


@answers.other
def triangle_of_the_first(*masks):
    combined = all_of_a_stack(*masks)
    return combined & np.tri(*combined.shape[-2:], dtype=bool)
