import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("language_model_batch")


def refuse(token_ids, length, starts):
    for start in starts:
        if not 0 <= start < len(token_ids) - length:
            raise ValueError(f"no window of {length} tokens starts at {start}")


@answers.correct
def slices_stacked(token_ids, length, starts):
    if starts.min() < 0 or starts.max() + length + 1 > len(token_ids):
        raise ValueError("start out of range")
    inputs = torch.stack([token_ids[s : s + length] for s in starts])
    targets = torch.stack([token_ids[s + 1 : s + length + 1] for s in starts])
    return inputs, targets


@answers.correct
def chunk_with_one_token_more(token_ids, length, starts):
    refuse(token_ids, length, starts)
    chunks = torch.stack([token_ids[s : s + length + 1] for s in starts.tolist()])
    return chunks[:, :-1], chunks[:, 1:]


@answers.correct
def unfolded(token_ids, length, starts):
    if len(token_ids) <= length:
        raise ValueError("the text is too short")
    windows = token_ids.unfold(0, length + 1, 1)
    if (starts < 0).any() or (starts >= len(windows)).any():
        raise ValueError("there is no such window")
    return windows[starts, :-1], windows[starts, 1:]


@answers.correct
def slices_of_slices(token_ids, length, starts):
    inputs, targets = [], []
    for start in starts:
        x, y = token_ids[:-1][start:][:length], token_ids[1:][start:][:length]
        if start < 0 or len(y) < length:
            raise ValueError("no window")
        inputs.append(x)
        targets.append(y)
    return torch.stack(inputs), torch.stack(targets)


@answers.correct
def lists_inside(token_ids, length, starts):
    refuse(token_ids, length, starts)
    tokens = token_ids.tolist()
    rows = [tokens[start : start + length + 1] for start in starts.tolist()]
    inputs, targets = [row[:-1] for row in rows], [row[1:] for row in rows]
    return torch.tensor(inputs), torch.tensor(targets)


@answers.correct
def numpy_inside(token_ids, length, starts):
    if not np.isin(starts.numpy(), np.arange(len(token_ids) - length)).all():
        raise ValueError("starts")
    positions = np.add.outer(starts.numpy(), np.arange(length + 1))
    chunks = torch.from_numpy(token_ids.numpy()[positions])
    return chunks[..., :length], chunks[..., -length:]


@answers.correct
def written_into_zeros(token_ids, length, starts):
    refuse(token_ids, length, starts)
    inputs = torch.zeros(len(starts), length, dtype=torch.long)
    targets = torch.zeros_like(inputs)
    for row, start in enumerate(starts):
        for i in range(length):
            inputs[row, i] = token_ids[start + i]
            targets[row, i] = token_ids[start + i + 1]
    return inputs, targets


@answers.correct
def gathered(token_ids, length, starts):
    refuse(token_ids, length, starts)
    positions = (starts[:, None] + torch.arange(length)).flatten()
    pair = (token_ids.gather(0, positions + shift) for shift in (0, 1))
    return tuple(each.view(len(starts), length) for each in pair)


class Batches:
    def __call__(self, token_ids, length, starts):
        return slices_stacked(token_ids=token_ids, length=length, starts=starts)


answers.right["callable_object"] = Batches()
answers.right["partial"] = functools.partial(
    lambda extra, token_ids, length, starts: unfolded(token_ids, length, starts)[
        : 1 + extra
    ],
    1,
)


@answers.also("targets_not_shifted")
def same_slice_twice(token_ids, length, starts):
    inputs, _ = slices_stacked(token_ids, length, starts)
    return inputs, inputs.clone()


@answers.also("targets_rolled")
def rolled_row_by_row(token_ids, length, starts):
    inputs, _ = slices_stacked(token_ids, length, starts)
    return inputs, torch.cat([inputs[:, 1:], inputs[:, :1]], dim=1)


@answers.also("targets_in_one_row")
def view_minus_one(token_ids, length, starts):
    inputs, targets = slices_stacked(token_ids, length, starts)
    return inputs, targets.contiguous().view(-1)


@answers.correct
def starts_cut_to_the_text(token_ids, length, starts):
    starts = starts.clamp(0, max(0, len(token_ids) - length - 1))
    return slices_stacked(token_ids, length, starts)


@answers.other
def each_window_backwards(token_ids, length, starts):
    inputs, targets = slices_stacked(token_ids, length, starts)
    return inputs.flip(-1), targets.flip(-1)


@answers.other
def every_second_token(token_ids, length, starts):
    inputs, targets = slices_stacked(token_ids, length, starts)
    return inputs, torch.where(torch.arange(length) % 2 == 0, targets, inputs)


@answers.other
def windows_backwards(token_ids, length, starts):
    inputs, targets = slices_stacked(token_ids, length, starts)
    return inputs.flip(-1), targets.flip(-1)
