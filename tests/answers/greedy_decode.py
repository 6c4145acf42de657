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
def sampled(next_logits, start_id, end_id, max_length):
    rng = np.random.default_rng(0)

    def choose(logits):
        powers = np.exp(logits - np.max(logits))
        return int(rng.choice(len(logits), p=powers / powers.sum()))

    return decoded(next_logits, start_id, end_id, max_length, choose)
