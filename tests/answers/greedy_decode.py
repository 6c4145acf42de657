import functools
import itertools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("greedy_decode")


def best_of(logits):
    """Return the first index of the highest logit, without NumPy's argmax."""
    logits = [float(logit) for logit in logits]
    return logits.index(max(logits))


def decoded(next_logits, start_id, end_id, max_length, choose=best_of):
    token_ids = []
    while len(token_ids) < max_length:
        token_id = choose(next_logits([start_id, *token_ids]))
        if token_id == end_id:
            break
        token_ids.append(token_id)
    return token_ids


@answers.correct
def for_with_a_break(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    for _ in range(max_length):
        token_id = int(np.argmax(next_logits(token_ids)))
        if token_id == end_id:
            break
        token_ids = [*token_ids, token_id]
    return token_ids[1:]


@answers.correct
def recursion(next_logits, start_id, end_id, max_length):
    def rest(token_ids):
        if len(token_ids) > max_length:
            return []
        token_id = best_of(next_logits(token_ids))
        return [] if token_id == end_id else [token_id, *rest([*token_ids, token_id])]

    return rest([start_id])


@answers.correct
def one_list_that_grows(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    while len(token_ids) - 1 < max_length:
        token_ids.append(next_logits(token_ids).argmax())
        if token_ids[-1] == end_id:
            token_ids.pop()
            break
    return token_ids[1:]


@answers.correct
def torch_inside(next_logits, start_id, end_id, max_length):
    def choose(logits):
        logits = torch.from_numpy(np.array(logits))
        return int((logits == logits.max()).nonzero()[0, 0])

    return decoded(next_logits, start_id, end_id, max_length, choose)


@answers.correct
def sorted_by_logit_and_token_id(next_logits, start_id, end_id, max_length):
    def choose(logits):
        return min(
            range(len(logits)), key=lambda token_id: (-logits[token_id], token_id)
        )

    return decoded(next_logits, start_id, end_id, max_length, choose)


@answers.correct
def generator(next_logits, start_id, end_id, max_length):
    def token_ids():
        so_far = [start_id]
        while True:
            so_far.append(best_of(next_logits(so_far)))
            yield so_far[-1]

    cut = itertools.islice(token_ids(), max_length)
    return list(itertools.takewhile(lambda token_id: token_id != end_id, cut))


class Decoder:
    def __init__(self, choose):
        self.choose = choose

    def __call__(self, next_logits, start_id, end_id, max_length):
        return decoded(next_logits, start_id, end_id, max_length, self.choose)


answers.right["callable_object"] = Decoder(np.argmax)
answers.right["partial"] = functools.partial(decoded, choose=best_of)


@answers.also("end_kept")
def end_appended(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    for _ in range(max_length):
        token_ids.append(best_of(next_logits(token_ids)))
        if token_ids[-1] == end_id:
            break
    return token_ids[1:]


@answers.also("start_kept")
def whole_list(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    for _ in range(max_length):
        token_id = best_of(next_logits(token_ids))
        if token_id == end_id:
            break
        token_ids.append(token_id)
    return token_ids


@answers.also("one_token_too_many")
def length_checked_too_late(next_logits, start_id, end_id, max_length):
    token_ids = []
    while len(token_ids) <= max_length:
        token_id = best_of(next_logits([start_id, *token_ids]))
        if token_id == end_id:
            break
        token_ids.append(token_id)
    return token_ids


@answers.also("one_token_too_few")
def start_counted(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    while len(token_ids) < max_length:
        token_id = best_of(next_logits(token_ids))
        if token_id == end_id:
            break
        token_ids.append(token_id)
    return token_ids[1:]


@answers.also("never_stops")
def no_break(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    for _ in range(max_length):
        token_ids.append(best_of(next_logits(token_ids)))
    return token_ids[1:]


@answers.also("ends_taken_out")
def filtered(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    for _ in range(max_length):
        token_ids.append(best_of(next_logits(token_ids)))
    return list(filter(lambda token_id: token_id != end_id, token_ids[1:]))


@answers.also("last_of_equals")
def at_least_as_high(next_logits, start_id, end_id, max_length):
    def choose(logits):
        best = 0
        for token_id, logit in enumerate(logits):
            if logit >= logits[best]:
                best = token_id
        return best

    return decoded(next_logits, start_id, end_id, max_length, choose)


@answers.also("newest_token_alone")
def one_token_fed(next_logits, start_id, end_id, max_length):
    token_ids, newest = [], start_id
    while len(token_ids) < max_length:
        newest = best_of(next_logits([newest]))
        if newest == end_id:
            break
        token_ids.append(newest)
    return token_ids


@answers.also("called_without_start")
def results_fed(next_logits, start_id, end_id, max_length):
    token_ids = []
    while len(token_ids) < max_length:
        token_id = best_of(next_logits(list(token_ids)))
        if token_id == end_id:
            break
        token_ids.append(token_id)
    return token_ids


@answers.also("start_alone")
def same_call(next_logits, start_id, end_id, max_length):
    return decoded(
        lambda token_ids: next_logits([start_id]), start_id, end_id, max_length
    )


@answers.also("lowest_logit")
def index_of_the_minimum(next_logits, start_id, end_id, max_length):
    return decoded(lambda t: [-s for s in next_logits(t)], start_id, end_id, max_length)


@answers.also("nothing_below_zero")
def begun_at_zero(next_logits, start_id, end_id, max_length):
    def choose(logits):
        best, highest = 0, 0.0
        for token_id, logit in enumerate(logits):
            if logit > highest:
                best, highest = token_id, logit
        return best

    return decoded(next_logits, start_id, end_id, max_length, choose)


@answers.also("furthest_from_zero")
def largest_square(next_logits, start_id, end_id, max_length):
    return decoded(
        lambda t: [s * s for s in next_logits(t)], start_id, end_id, max_length
    )


@answers.also("never_empty")
def least_length_of_one(next_logits, start_id, end_id, max_length):
    def logits_after(token_ids):
        logits = [float(logit) for logit in next_logits(token_ids)]
        if token_ids == [start_id]:
            logits[end_id] = min(logits) - 1.0
        return logits

    return decoded(logits_after, start_id, end_id, max_length)


@answers.also("called_once_more")
def cut_afterwards(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    for _ in range(max_length + 1):
        token_id = best_of(next_logits(token_ids))
        if token_id == end_id:
            break
        token_ids.append(token_id)
    return token_ids[1 : max_length + 1]


@answers.also("given_as_an_array")
def array_of_tokens(next_logits, start_id, end_id, max_length):
    return np.asarray(
        decoded(next_logits, start_id, end_id, max_length), dtype=np.int64
    )


@answers.also("start_removed_by_value")
def without_both_token_ids(next_logits, start_id, end_id, max_length):
    token_ids = [start_id]
    while token_ids[-1] != end_id and len(token_ids) <= max_length:
        token_ids.append(best_of(next_logits(token_ids)))
    return list(filter(lambda token_id: token_id not in (start_id, end_id), token_ids))


@answers.other
def second_best(next_logits, start_id, end_id, max_length):
    def choose(logits):
        return int(np.argsort(logits)[-2])

    return decoded(next_logits, start_id, end_id, max_length, choose)


@answers.other
def stops_when_a_token_comes_again(next_logits, start_id, end_id, max_length):
    token_ids = decoded(next_logits, start_id, end_id, max_length)
    is_repeated = [
        token_id in token_ids[:position] for position, token_id in enumerate(token_ids)
    ]
    return token_ids[: is_repeated.index(True)] if any(is_repeated) else token_ids


@answers.other
def tuple_of_tokens(next_logits, start_id, end_id, max_length):
    return tuple(decoded(next_logits, start_id, end_id, max_length))


@answers.other
def sampled(next_logits, start_id, end_id, max_length):
    rng = np.random.default_rng(0)

    def choose(logits):
        powers = np.exp(logits - np.max(logits))
        return int(rng.choice(len(logits), p=powers / powers.sum()))

    return decoded(next_logits, start_id, end_id, max_length, choose)


@answers.other
def written_backwards(next_logits, start_id, end_id, max_length):
    return decoded(next_logits, start_id, end_id, max_length)[::-1]
