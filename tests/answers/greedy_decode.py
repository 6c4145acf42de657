import functools
import itertools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("greedy_decode")


def best_of(scores):
    """Return the first place of the highest score, without NumPy's argmax."""
    scores = [float(score) for score in scores]
    return scores.index(max(scores))


def text(next_logits, start_id, end_id, max_length, choose=best_of):
    written = []
    while len(written) < max_length:
        token = choose(next_logits([start_id, *written]))
        if token == end_id:
            break
        written.append(token)
    return written


@answers.correct
def for_with_a_break(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    for _ in range(max_length):
        token = int(np.argmax(next_logits(tokens)))
        if token == end_id:
            break
        tokens = [*tokens, token]
    return tokens[1:]


@answers.correct
def recursion(next_logits, start_id, end_id, max_length):
    def rest(tokens):
        if len(tokens) > max_length:
            return []
        token = best_of(next_logits(tokens))
        return [] if token == end_id else [token, *rest([*tokens, token])]

    return rest([start_id])


@answers.correct
def one_list_that_grows(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    while len(tokens) - 1 < max_length:
        tokens.append(next_logits(tokens).argmax())
        if tokens[-1] == end_id:
            tokens.pop()
            break
    return tokens[1:]


@answers.correct
def torch_inside(next_logits, start_id, end_id, max_length):
    def choose(scores):
        scores = torch.from_numpy(np.array(scores))
        return int((scores == scores.max()).nonzero()[0, 0])

    return text(next_logits, start_id, end_id, max_length, choose)


@answers.correct
def sorted_by_score_and_number(next_logits, start_id, end_id, max_length):
    def choose(scores):
        return min(range(len(scores)), key=lambda token: (-scores[token], token))

    return text(next_logits, start_id, end_id, max_length, choose)


@answers.correct
def generator(next_logits, start_id, end_id, max_length):
    def tokens():
        so_far = [start_id]
        while True:
            so_far.append(best_of(next_logits(so_far)))
            yield so_far[-1]

    cut = itertools.islice(tokens(), max_length)
    return list(itertools.takewhile(lambda token: token != end_id, cut))


class Decoder:
    def __init__(self, choose):
        self.choose = choose

    def __call__(self, next_logits, start_id, end_id, max_length):
        return text(next_logits, start_id, end_id, max_length, self.choose)


answers.right["callable_object"] = Decoder(np.argmax)
answers.right["partial"] = functools.partial(text, choose=best_of)


@answers.also("end_kept")
def end_appended(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    for _ in range(max_length):
        tokens.append(best_of(next_logits(tokens)))
        if tokens[-1] == end_id:
            break
    return tokens[1:]


@answers.also("start_kept")
def whole_list(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    for _ in range(max_length):
        token = best_of(next_logits(tokens))
        if token == end_id:
            break
        tokens.append(token)
    return tokens


@answers.also("one_token_too_many")
def length_looked_at_too_late(next_logits, start_id, end_id, max_length):
    written = []
    while len(written) <= max_length:
        token = best_of(next_logits([start_id, *written]))
        if token == end_id:
            break
        written.append(token)
    return written


@answers.also("one_token_too_few")
def start_counted(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    while len(tokens) < max_length:
        token = best_of(next_logits(tokens))
        if token == end_id:
            break
        tokens.append(token)
    return tokens[1:]


@answers.also("never_stops")
def no_break(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    for _ in range(max_length):
        tokens.append(best_of(next_logits(tokens)))
    return tokens[1:]


@answers.also("ends_taken_out")
def filtered(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    for _ in range(max_length):
        tokens.append(best_of(next_logits(tokens)))
    return list(filter(lambda token: token != end_id, tokens[1:]))


@answers.also("last_of_equals")
def at_least_as_high(next_logits, start_id, end_id, max_length):
    def choose(scores):
        best = 0
        for token, score in enumerate(scores):
            if score >= scores[best]:
                best = token
        return best

    return text(next_logits, start_id, end_id, max_length, choose)


@answers.also("newest_token_alone")
def one_token_fed(next_logits, start_id, end_id, max_length):
    written, newest = [], start_id
    while len(written) < max_length:
        newest = best_of(next_logits([newest]))
        if newest == end_id:
            break
        written.append(newest)
    return written


@answers.also("asked_without_start")
def results_fed(next_logits, start_id, end_id, max_length):
    written = []
    while len(written) < max_length:
        token = best_of(next_logits(list(written)))
        if token == end_id:
            break
        written.append(token)
    return written


@answers.also("start_alone")
def same_question(next_logits, start_id, end_id, max_length):
    return text(lambda tokens: next_logits([start_id]), start_id, end_id, max_length)


@answers.also("lowest_score")
def index_of_the_minimum(next_logits, start_id, end_id, max_length):
    return text(lambda t: [-s for s in next_logits(t)], start_id, end_id, max_length)


@answers.also("nothing_below_zero")
def begun_at_zero(next_logits, start_id, end_id, max_length):
    def choose(scores):
        best, highest = 0, 0.0
        for token, score in enumerate(scores):
            if score > highest:
                best, highest = token, score
        return best

    return text(next_logits, start_id, end_id, max_length, choose)


@answers.also("furthest_from_zero")
def largest_square(next_logits, start_id, end_id, max_length):
    return text(lambda t: [s * s for s in next_logits(t)], start_id, end_id, max_length)


@answers.also("never_empty")
def least_length_of_one(next_logits, start_id, end_id, max_length):
    def scores_after(tokens):
        scores = [float(score) for score in next_logits(tokens)]
        if tokens == [start_id]:
            scores[end_id] = min(scores) - 1.0
        return scores

    return text(scores_after, start_id, end_id, max_length)


@answers.also("asked_once_more")
def cut_afterwards(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    for _ in range(max_length + 1):
        token = best_of(next_logits(tokens))
        if token == end_id:
            break
        tokens.append(token)
    return tokens[1 : max_length + 1]


@answers.also("given_as_an_array")
def array_of_tokens(next_logits, start_id, end_id, max_length):
    return np.asarray(text(next_logits, start_id, end_id, max_length), dtype=np.int64)


@answers.also("start_removed_by_value")
def without_both_numbers(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    while tokens[-1] != end_id and len(tokens) <= max_length:
        tokens.append(best_of(next_logits(tokens)))
    return list(filter(lambda token: token not in (start_id, end_id), tokens))


@answers.other
def second_best(next_logits, start_id, end_id, max_length):
    def choose(scores):
        return int(np.argsort(scores)[-2])

    return text(next_logits, start_id, end_id, max_length, choose)


@answers.other
def stops_when_a_token_comes_again(next_logits, start_id, end_id, max_length):
    written = text(next_logits, start_id, end_id, max_length)
    known = [token in written[:place] for place, token in enumerate(written)]
    return written[: known.index(True)] if any(known) else written


@answers.other
def tuple_of_tokens(next_logits, start_id, end_id, max_length):
    return tuple(text(next_logits, start_id, end_id, max_length))


@answers.other
def sampled(next_logits, start_id, end_id, max_length):
    rng = np.random.default_rng(0)

    def choose(scores):
        powers = np.exp(scores - np.max(scores))
        return int(rng.choice(len(scores), p=powers / powers.sum()))

    return text(next_logits, start_id, end_id, max_length, choose)


@answers.other
def written_backwards(next_logits, start_id, end_id, max_length):
    return text(next_logits, start_id, end_id, max_length)[::-1]
