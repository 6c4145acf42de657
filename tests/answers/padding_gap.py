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


@answers.also("alone_still_padded")
def rows_of_the_batch(f, sequences, padding_id):
    batch = batch_of(sequences, padding_id)
    together = f(batch)
    alone = np.concatenate([f(row[np.newaxis]) for row in batch])
    own = [np.arange(len(s)) for s in sequences]
    return max(distance(together[i, p], alone[i, p]) for i, p in enumerate(own))


@answers.also("compared_with_itself")
def called_twice(f, sequences, padding_id):
    one, other = (f(batch_of(sequences, padding_id)) for _ in range(2))
    return max(0.0, distance(one, other))


@answers.also("padding_counted")
def results_padded_with_zeros(f, sequences, padding_id):
    together, gap = f(batch_of(sequences, padding_id)), 0.0
    for row, sequence in zip(together, sequences, strict=True):
        alone = f(np.array([sequence]))[0]
        missing = len(row) - len(alone)
        gap = max(gap, distance(row, np.pad(alone, ((0, missing), (0, 0)))))
    return gap


@answers.also("sums_compared")
def sum_of_each_result(f, sequences, padding_id):
    compared = [
        one.sum() - other.sum() for one, other in pairs(f, sequences, padding_id)
    ]
    return float(max(map(abs, compared)))


@answers.also("mean_change")
def added_up_and_divided(f, sequences, padding_id):
    total, count = 0.0, 0
    for one, other in pairs(f, sequences, padding_id):
        total, count = total + np.abs(one - other).sum(), count + one.size
    return float(total / count)


@answers.also("largest_rise")
def without_abs(f, sequences, padding_id):
    gap = 0.0
    for one, other in pairs(f, sequences, padding_id):
        gap = max(gap, float(np.max(one - other)))
    return gap


@answers.also("padded_in_front")
def left_padding(f, sequences, padding_id):
    longest = max(map(len, sequences))
    batch = np.full((len(sequences), longest), padding_id)
    for row, sequence in zip(batch, sequences, strict=True):
        row[longest - len(sequence) :] = sequence
    together = f(batch)
    return max(
        distance(row[-len(sequence) :], f(np.array([sequence]))[0])
        for row, sequence in zip(together, sequences, strict=True)
    )


@answers.also("padded_with_zeros")
def zeros_for_a_batch(f, sequences, padding_id):
    gaps = [distance(*pair) for pair in pairs(f, sequences, 0)]
    return sorted(gaps)[-1]


@answers.also("first_sequence_only")
def first_pair(f, sequences, padding_id):
    return distance(*next(pairs(f, sequences, padding_id)))


@answers.also("last_sequence_only")
def written_over(f, sequences, padding_id):
    gap = 0.0
    for pair in pairs(f, sequences, padding_id):
        gap = distance(*pair)
    return gap


@answers.also("first_position_only")
def position_zero(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return max(distance(one[:1], other[:1]) for one, other in compared)


@answers.also("last_position_only")
def newest_position(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return max(distance(one[-1:], other[-1:]) for one, other in compared)


@answers.also("gaps_added")
def added_up(f, sequences, padding_id):
    gap = 0.0
    for pair in pairs(f, sequences, padding_id):
        gap += distance(*pair)
    return gap


@answers.also("sequences_lengthened")
def appended_to_the_callers_lists(f, sequences, padding_id):
    lengths = [len(sequence) for sequence in sequences]
    alone = [f(np.array([sequence]))[0] for sequence in sequences]
    for sequence in sequences:
        while len(sequence) < max(lengths):
            sequence.append(padding_id)
    together = f(np.array(sequences))
    return max(distance(together[i, :n], alone[i]) for i, n in enumerate(lengths))


@answers.also("whether_there_is_one")
def any_difference(f, sequences, padding_id):
    return any(distance(*pair) > 1e-8 for pair in pairs(f, sequences, padding_id))


@answers.other
def number_of_changed_numbers(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return float(sum((np.abs(one - other) > 1e-9).sum() for one, other in compared))


@answers.other
def length_of_the_change(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return max(float(np.linalg.norm(one - other)) for one, other in compared)


@answers.other
def cut_to_the_shortest(f, sequences, padding_id):
    shortest = min(map(len, sequences))
    together = f(np.array([sequence[:shortest] for sequence in sequences]))
    return max(
        distance(row, f(np.array([sequence]))[0][:shortest])
        for row, sequence in zip(together, sequences, strict=True)
    )


@answers.other
def gap_of_each_sequence(f, sequences, padding_id):
    return [distance(*pair) for pair in pairs(f, sequences, padding_id)]


@answers.other
def relative_to_the_size(f, sequences, padding_id):
    compared = pairs(f, sequences, padding_id)
    return max(
        distance(one, other) / (1 + np.abs(other).max()) for one, other in compared
    )
