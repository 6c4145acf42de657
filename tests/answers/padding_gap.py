import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("padding_gap")


def batch_of(sequences, padding_id):
    longest = max(len(sequence) for sequence in sequences)
    batch = np.full((len(sequences), longest), padding_id)
    for i, sequence in enumerate(sequences):
        batch[i, : len(sequence)] = sequence
    return batch


def pairs(f, sequences, padding_id):
    """Yield, for each sequence, what f makes of it in the batch and alone."""
    together = np.array(f(batch_of(sequences, padding_id)))
    for i, sequence in enumerate(sequences):
        yield together[i, : len(sequence)], np.array(f(np.array([sequence])))[0]


def distance(one, other):
    return float(np.max(np.abs(one - other)))


@answers.correct
def largest_of_a_list(f, sequences, padding_id):
    return max([distance(*pair) for pair in pairs(f, sequences, padding_id)])


@answers.correct
def padded_by_concatenation(f, sequences, padding_id):
    longest = len(max(sequences, key=len))
    rows = [s + (longest - len(s)) * [padding_id] for s in sequences]
    together, gap = f(np.array(rows)), 0.0
    for row, sequence in zip(together, sequences, strict=True):
        alone = f(np.array(sequence)[np.newaxis])
        for position, numbers in enumerate(alone[0]):
            gap = max(gap, *(abs(row[position] - numbers)).tolist())
    return gap


@answers.correct
def masked_array(f, sequences, padding_id):
    batch = batch_of(sequences, padding_id)
    lengths = np.array([len(sequence) for sequence in sequences])
    own = np.arange(batch.shape[1]) < lengths[:, np.newaxis]
    together = f(batch)
    alone = np.zeros_like(together)
    for i, length in enumerate(lengths):
        alone[i, :length] = f(batch[i : i + 1, :length])[0]
    return np.abs((together - alone)[own]).max()


@answers.correct
def joined_and_compared_once(f, sequences, padding_id):
    one, other = zip(*pairs(f, sequences, padding_id), strict=True)
    difference = np.concatenate(one) - np.concatenate(other)
    return np.linalg.norm(difference.ravel(), ord=np.inf)


@answers.correct
def torch_inside(f, sequences, padding_id):
    tensors = [torch.tensor(sequence) for sequence in sequences]
    batch = torch.nn.utils.rnn.pad_sequence(
        tensors, batch_first=True, padding_value=padding_id
    )
    together, gap = torch.from_numpy(np.array(f(batch.numpy()))), 0.0
    for row, tensor in zip(together, tensors, strict=True):
        alone = torch.from_numpy(np.array(f(tensor[None].numpy())))[0]
        gap = max(gap, (row[: len(tensor)] - alone).abs().max().item())
    return gap


@answers.correct
def largest_and_smallest(f, sequences, padding_id):
    highest, lowest = 0.0, 0.0
    for one, other in pairs(f, sequences, padding_id):
        highest = max(highest, (one - other).max())
        lowest = min(lowest, (one - other).min())
    return float(max(highest, -lowest))


class Gap:
    def __init__(self, size):
        self.size = size

    def __call__(self, f, sequences, padding_id):
        return max(self.size(a - b).max() for a, b in pairs(f, sequences, padding_id))


answers.right["callable_object"] = Gap(np.abs)
answers.right["partial"] = functools.partial(
    lambda largest, f, sequences, padding_id: largest(
        distance(*pair) for pair in pairs(f, sequences, padding_id)
    ),
    max,
)


@answers.other
def number_of_changed_numbers(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return float(sum((np.abs(one - other) > 1e-9).sum() for one, other in compared))


@answers.other
def relative_to_the_size(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return max(
        distance(one, other) / (1 + np.abs(other).max()) for one, other in compared
    )


@answers.other
def largest_result_compared(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return float(max(abs(one.max() - other.max()) for one, other in compared))
