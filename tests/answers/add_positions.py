import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("add_positions")


def check_room(x, encoding):
    n, n_positions = np.shape(x)[-2], len(encoding)
    if n_positions < n:
        raise ValueError(f"no room: {n_positions} < {n}")


@answers.correct
def loop_over_sequences(x, encoding):
    check_room(x, encoding)
    result = np.zeros(x.shape)
    for batch in np.ndindex(x.shape[:-2]):
        for i, token in enumerate(x[batch]):
            result[*batch, i] = token + encoding[i]
    return result


@answers.correct
def rows_taken_by_number(x, encoding):
    check_room(x, encoding)
    return np.add(x, np.take(encoding, np.arange(x.shape[-2]), axis=0))


@answers.correct
def repeated_for_every_sequence(x, encoding):
    check_room(x, encoding)
    n, d_model = x.shape[-2:]
    flat = x.reshape(-1, n, d_model)
    return (flat + np.stack([encoding[:n]] * len(flat))).reshape(x.shape)


@answers.correct
def tokens_moved_to_the_front(x, encoding):
    check_room(x, encoding)
    moved = np.moveaxis(x, -2, 0)
    room = (len(moved), *[1] * (x.ndim - 2), x.shape[-1])
    return np.moveaxis(moved + encoding[: len(moved)].reshape(room), 0, -2)


@answers.correct
def one_hot_rows_pick_positions(x, encoding):
    check_room(x, encoding)
    picks = np.eye(x.shape[-2], len(encoding))
    return x + np.einsum("ip,pd->id", picks, encoding)


@answers.correct
def copied_then_added(x, encoding):
    check_room(x, encoding)
    result = x.astype(float)
    result += encoding[: x.shape[-2], :]
    return result


@answers.correct
def in_pytorch(x, encoding):
    check_room(x, encoding)
    tokens, positions = torch.tensor(x), torch.tensor(encoding)
    return (tokens + positions.narrow(0, 0, tokens.size(-2))).numpy()


@answers.correct
def columns_first_in_memory(x, encoding):
    return np.asfortranarray(loop_over_sequences(x, encoding))


class TooLong(ValueError):
    pass


class AddPositions:
    def __init__(self, error):
        self.error = error

    def __call__(self, x, encoding):
        if x.shape[-2] > encoding.shape[0]:
            raise self.error
        return x + encoding[: x.shape[-2]]


answers.right["callable_object"] = AddPositions(TooLong)
answers.right["partial"] = functools.partial(
    lambda factor, x, encoding: loop_over_sequences(factor * x, encoding), 1
)


@answers.also("along_the_batch")
def each_sequence_one_position(x, encoding):
    if len(x) > len(encoding):
        raise ValueError("more than there are")
    result = np.zeros(x.shape)
    for b in range(len(x)):
        result[b] = x[b] + encoding[b]
    return result


@answers.also("positions_counted_by_the_batch")
def first_rows_as_many_as_x_has(x, encoding):
    check_room(x, encoding)
    return np.add(x, np.take(encoding, range(x.shape[0]), axis=0))


@answers.also("positions_counted_by_the_batch_unchecked")
def first_rows_stretched(x, encoding):
    positions = encoding[range(min(x.shape[0], len(encoding)))]
    return np.broadcast_to(positions, x.shape) + x


@answers.also("tokens_counted_on_axis_one")
def second_size_taken(x, encoding):
    check_room(x, encoding)
    _, n, *_ = x.shape
    return encoding[0:n, :] + x


@answers.also("positions_continue_across_sequences")
def counted_through(x, encoding):
    result, position = np.zeros(x.shape), 0
    for token in np.ndindex(x.shape[:-1]):
        if position >= len(encoding):
            raise ValueError("no position is left")
        result[token] = x[token] + encoding[position]
        position += 1
    return result


@answers.also("concatenated")
def stacked_side_by_side(x, encoding):
    check_room(x, encoding)
    result = np.zeros((*x.shape[:-1], 2 * x.shape[-1]))
    result[..., : x.shape[-1]] = x
    result[..., x.shape[-1] :] = encoding[: x.shape[-2]]
    return result


@answers.also("tokens_scaled")
def root_on_the_tokens(x, encoding):
    return loop_over_sequences(x * x.shape[-1] ** 0.5, encoding)


@answers.also("encoding_scaled")
def root_on_the_positions(x, encoding):
    return loop_over_sequences(x, encoding * x.shape[-1] ** 0.5)


@answers.also("last_positions")
def positions_from_the_end(x, encoding):
    check_room(x, encoding)
    return loop_over_sequences(x, encoding[len(encoding) - x.shape[-2] :])


@answers.also("row_of_position_n")
def one_row_in_a_loop(x, encoding):
    check_room(x, encoding)
    n = x.shape[-2]
    result = np.zeros(x.shape)
    for token in np.ndindex(x.shape[:-1]):
        result[token] = x[token] + encoding[n]
    return result


@answers.also("first_token_at_position_one")
def first_position_skipped(x, encoding):
    check_room(x, encoding)
    return np.add(x, encoding[1:][: x.shape[-2]])


@answers.also("added_in_place")
def row_by_row_into_itself(x, encoding):
    check_room(x, encoding)
    return np.add(x, encoding[: x.shape[-2]], out=x)


@answers.also("cut_to_whole_numbers")
def written_into_the_same_kind(x, encoding):
    check_room(x, encoding)
    result = np.zeros_like(x)
    result[...] = x + encoding[: x.shape[-2]]
    return result


@answers.also("one_position_for_all")
def positions_stretched(x, encoding):
    n = x.shape[-2]
    if 1 < len(encoding) < n:
        raise ValueError("operands could not be broadcast together")
    rows = [min(i, len(encoding) - 1) for i in range(n)]
    return x + encoding[rows]


@answers.also("positions_start_over")
def table_laid_end_to_end(x, encoding):
    n = x.shape[-2]
    times = -(-n // len(encoding))
    return x + np.tile(encoding, (times, 1))[:n]


@answers.also("tokens_cut_off")
def shorter_of_the_two(x, encoding):
    n = min(x.shape[-2], encoding.shape[0])
    return loop_over_sequences(x[..., :n, :], encoding)


@answers.other
def positions_backwards(x, encoding):
    check_room(x, encoding)
    return x + encoding[: x.shape[-2]][::-1]


@answers.other
def multiplied(x, encoding):
    check_room(x, encoding)
    return x * encoding[: x.shape[-2]]


@answers.other
def subtracted(x, encoding):
    check_room(x, encoding)
    return x - encoding[: x.shape[-2]]


@answers.other
def mean_of_both(x, encoding):
    check_room(x, encoding)
    return (x + encoding[: x.shape[-2]]) / 2


@answers.other
def last_position_for_the_rest(x, encoding):
    positions = np.minimum(np.arange(x.shape[-2]), len(encoding) - 1)
    return x + encoding[positions]


@answers.other
def x_returned(x, encoding):
    check_room(x, encoding)
    return x.astype(float)
