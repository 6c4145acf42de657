import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("shift_right")


@answers.correct
def copied_into_a_new_tensor(targets, start):
    result = targets.new_full(targets.shape, start)
    result[..., 1:] = targets[..., :-1]
    return result


@answers.correct
def rolled_and_overwritten(targets, start):
    result = targets.roll(1, -1)
    result[..., 0] = start
    return result


@answers.correct
def padded_in_front(targets, start):
    return functional.pad(targets, (1, 0), value=start)[..., :-1]


@answers.correct
def lists_of_python(targets, start):
    rows = targets.reshape(-1, targets.shape[-1]).tolist()
    shifted = [[start, *row][:-1] for row in rows]
    return torch.tensor(shifted, dtype=targets.dtype).reshape(targets.shape)


@answers.correct
def numpy_inside(targets, start):
    numbers = np.insert(targets.numpy(), 0, start, axis=-1)
    return torch.from_numpy(np.ascontiguousarray(numbers[..., :-1]))


@answers.correct
def gathered(targets, start):
    places = torch.arange(targets.shape[-1]) - 1
    found = targets[..., places.clamp(min=0)]
    return torch.where(places >= 0, found, torch.full_like(found, start))


@answers.correct
def from_right_to_left(targets, start):
    result = targets.clone()
    for i in range(targets.shape[-1] - 1, 0, -1):
        result[..., i] = result[..., i - 1]
    result[..., 0] = start
    return result


@answers.correct
def columns_first_in_memory(targets, start):
    result = copied_into_a_new_tensor(targets, start)
    return result.movedim(-1, 0).contiguous().movedim(0, -1)


class Shift:
    def __init__(self, places):
        self.places = places

    def __call__(self, targets, start):
        padded = functional.pad(targets, (self.places, 0), value=start)
        return padded[..., : targets.shape[-1]]


answers.right["callable_object"] = Shift(1)
answers.right["partial"] = functools.partial(
    lambda places, targets, start: functional.pad(
        targets, (places, -places), value=start
    ),
    1,
)


@answers.also("not_shifted")
def targets_themselves(targets, start):
    return targets


@answers.also("shifted_twice")
def padded_by_two(targets, start):
    return functional.pad(targets, (2, 0), value=start)[..., : targets.shape[-1]]


@answers.also("shifted_left")
def padded_behind(targets, start):
    return functional.pad(targets, (0, 1), value=start)[..., 1:]


@answers.also("last_token_kept")
def only_padded(targets, start):
    return functional.pad(targets, (1, 0), value=start)


@answers.also("first_token_replaced")
def first_overwritten(targets, start):
    result = targets.clone()
    result[..., 0] = start
    return result


@answers.also("start_at_the_end")
def last_overwritten(targets, start):
    result = targets.clone()
    result[..., -1] = start
    return result


@answers.also("rolled_round")
def last_put_in_front(targets, start):
    return torch.cat([targets[..., -1:], targets[..., :-1]], -1)


@answers.also("zero_for_the_start")
def padded_with_zero(targets, start):
    return functional.pad(targets, (1, 0))[..., :-1]


@answers.also("shifted_across_sequences")
def rolled_as_one_row(targets, start):
    result = torch.roll(targets, 1)
    result[(0,) * targets.ndim] = start
    return result


@answers.also("shifted_along_the_batch")
def rows_moved_down(targets, start):
    result = targets.new_full(targets.shape, start)
    result[1:] = targets[:-1]
    return result


@answers.also("first_token_smeared")
def from_left_to_right(targets, start):
    result = targets.clone()
    for i in range(1, targets.shape[-1]):
        result[..., i] = result[..., i - 1]
    result[..., 0] = start
    return result


@answers.also("only_if_the_start_is_missing")
def row_by_row_if_needed(targets, start):
    result = targets.clone()
    for place in np.ndindex(targets.shape[:-1]):
        if targets[place][0] != start:
            result[place] = padded_in_front(targets[place], start)
    return result


@answers.also("floating_point")
def joined_with_ones(targets, start):
    first = torch.ones(targets.shape[:-1])[..., None] * start
    return torch.cat([first, targets[..., :-1]], dim=-1)


@answers.also("shifted_in_place")
def copied_back(targets, start):
    return targets.copy_(padded_in_front(targets, start))


@answers.other
def turned_round(targets, start):
    return copied_into_a_new_tensor(targets, start).flip(-1)


@answers.other
def starts_alone(targets, start):
    return torch.full_like(targets, start)


@answers.other
def one_number_higher(targets, start):
    return copied_into_a_new_tensor(targets, start) + 1


@answers.other
def shifted_by_three(targets, start):
    return Shift(3)(targets, start)


@answers.other
def ends_in_the_start(targets, start):
    result = copied_into_a_new_tensor(targets, start)
    result[..., -1] = start
    return result
