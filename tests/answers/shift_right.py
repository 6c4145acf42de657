import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("shift_right")


@answers.correct
def copied_into_a_new_tensor(targets, start_id):
    result = targets.new_full(targets.shape, start_id)
    result[..., 1:] = targets[..., :-1]
    return result


@answers.correct
def rolled_and_overwritten(targets, start_id):
    result = targets.roll(1, -1)
    result[..., 0] = start_id
    return result


@answers.correct
def padded_in_front(targets, start_id):
    return functional.pad(targets, (1, 0), value=start_id)[..., :-1]


@answers.correct
def lists_of_python(targets, start_id):
    rows = targets.reshape(-1, targets.shape[-1]).tolist()
    shifted = [[start_id, *row][:-1] for row in rows]
    return torch.tensor(shifted, dtype=targets.dtype).reshape(targets.shape)


@answers.correct
def numpy_inside(targets, start_id):
    numbers = np.insert(targets.numpy(), 0, start_id, axis=-1)
    return torch.from_numpy(np.ascontiguousarray(numbers[..., :-1]))


@answers.correct
def gathered(targets, start_id):
    positions = torch.arange(targets.shape[-1]) - 1
    shifted = targets[..., positions.clamp(min=0)]
    return torch.where(positions >= 0, shifted, torch.full_like(shifted, start_id))


@answers.correct
def from_right_to_left(targets, start_id):
    result = targets.clone()
    for i in range(targets.shape[-1] - 1, 0, -1):
        result[..., i] = result[..., i - 1]
    result[..., 0] = start_id
    return result


@answers.correct
def columns_first_in_memory(targets, start_id):
    result = copied_into_a_new_tensor(targets, start_id)
    return result.movedim(-1, 0).contiguous().movedim(0, -1)


class Shift:
    def __init__(self, n_starts):
        self.n_starts = n_starts

    def __call__(self, targets, start_id):
        padded = functional.pad(targets, (self.n_starts, 0), value=start_id)
        return padded[..., : targets.shape[-1]]


answers.right["callable_object"] = Shift(1)
answers.right["partial"] = functools.partial(
    lambda n_starts, targets, start_id: functional.pad(
        targets, (n_starts, -n_starts), value=start_id
    ),
    1,
)


@answers.other
def turned_round(targets, start_id):
    return copied_into_a_new_tensor(targets, start_id).flip(-1)


@answers.other
def starts_alone(targets, start_id):
    return torch.full_like(targets, start_id)


@answers.other
def one_number_higher(targets, start_id):
    return copied_into_a_new_tensor(targets, start_id) + 1


@answers.other
def shifted_by_three(targets, start_id):
    return Shift(3)(targets, start_id)


@answers.other
def ends_in_the_start(targets, start_id):
    result = copied_into_a_new_tensor(targets, start_id)
    result[..., -1] = start_id
    return result
