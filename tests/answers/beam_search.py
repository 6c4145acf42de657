import functools
import heapq
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("beam_search")


def merit_of(total, length, alpha):
    return total * (6 / (5 + length)) ** alpha


def found_by(f, start_id, end_id, beam_size, max_length, step=None, shrink=True):
    """Search; give (sum, tokens without start) of what ended and of what did not.

    step : gives all (sum, tokens) from those so far
    shrink : whether the beam gets smaller where texts end
    """
    going, done = [(0.0, ())], []
    for _ in range(max_length):
        if not going:
            break
        longer = (step or one_step)(f, start_id, going)
        room = beam_size - shrink * len(done)
        kept = heapq.nlargest(room, longer, key=lambda one: one[0])
        done += [one for one in kept if one[1][-1] == end_id]
        going = [one for one in kept if one[1][-1] != end_id]
    return done, going


def one_step(f, start_id, going):
    return [
        (total + float(log_p), (*tokens, token))
        for total, tokens in going
        for token, log_p in enumerate(f([start_id, *tokens]))
    ]


def text(tokens, end_id):
    tokens = list(tokens)
    return tokens[: tokens.index(end_id)] if end_id in tokens else tokens


def best(beams, end_id, merit):
    """Return the tokens with the highest merit(sum, length)."""
    ranked = sorted(beams, key=lambda one: merit(one[0], len(one[1])))
    return text(ranked[-1][1], end_id)


def wu(alpha):
    return lambda total, length: merit_of(total, length, alpha)


@answers.correct
def heap_of_continuations(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best(done + going, end_id, wu(alpha))


@answers.correct
def numpy_table(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    texts, totals, done = [[]], np.zeros(1), []
    for _ in range(max_length):
        table = totals[:, None] + np.stack([f([start_id, *tokens]) for tokens in texts])
        order = np.argsort(table, axis=None)[::-1][: beam_size - len(done)]
        rows, columns = np.unravel_index(order, table.shape)
        kept = [
            ([*texts[i], int(j)], table[i, j])
            for i, j in zip(rows, columns, strict=True)
        ]
        done += [one for one in kept if one[0][-1] == end_id]
        kept = [one for one in kept if one[0][-1] != end_id]
        if not kept:
            texts = []
            break
        texts, totals = [one[0] for one in kept], np.array([one[1] for one in kept])
    if texts:
        done += list(zip(texts, totals, strict=True))
    merits = [total / ((5 + len(tokens)) / 6) ** alpha for tokens, total in done]
    return text(done[int(np.argmax(merits))][0], end_id)


@answers.correct
def torch_topk(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going, done = [([start_id], 0.0)], []
    for _ in range(max_length):
        rows = [torch.tensor(np.array(f(tokens))) + total for tokens, total in going]
        table = torch.stack(rows)
        room = min(beam_size - len(done), table.numel())
        totals, places = table.flatten().topk(room)
        fresh = []
        for total, place in zip(totals.tolist(), places.tolist(), strict=True):
            tokens = [*going[place // table.shape[1]][0], place % table.shape[1]]
            (done if tokens[-1] == end_id else fresh).append((tokens, total))
        going = fresh
        if not going:
            break
    lengths = [(tokens, total, len(tokens) - 1) for tokens, total in done + going]
    tokens, _, _ = max(lengths, key=lambda one: merit_of(one[1], one[2], alpha))
    return tokens[1:-1] if tokens[-1] == end_id else tokens[1:]


@answers.correct
def recursion(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def search(going, done, left):
        if not going or left == 0:
            return done + going
        longer = sorted(one_step(f, start_id, going), reverse=True)
        kept = longer[: beam_size - len(done)]
        ended = [one for one in kept if one[1][-1] == end_id]
        return search([k for k in kept if k not in ended], done + ended, left - 1)

    return best(search([(0.0, ())], [], max_length), end_id, wu(alpha))


@answers.correct
def negative_logarithms_made_small(
    f, start_id, end_id, beam_size, max_length, alpha=0.6
):
    going, done = [(0.0, [])], []
    for _ in range(max_length):
        heap = []
        for cost, tokens in going:
            for token, log_p in enumerate(f([start_id, *tokens])):
                heapq.heappush(heap, (cost - log_p, [*tokens, token]))
        going, room = [], beam_size - len(done)
        for _ in range(min(room, len(heap))):
            one = heapq.heappop(heap)
            (done if one[1][-1] == end_id else going).append(one)
        if not going:
            break
    _, tokens = min(done + going, key=lambda one: merit_of(one[0], len(one[1]), alpha))
    return [token for token in tokens if token != end_id]


@answers.correct
def best_so_far_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going, room = [(0.0, ())], beam_size
    highest, winner = -math.inf, ()
    for place in range(1, max_length + 1):
        longer = sorted(one_step(f, start_id, going), key=lambda one: one[0])
        going = []
        for total, tokens in longer[::-1][:room]:
            over = tokens[-1] == end_id
            if not over:
                going.append((total, tokens))
            if over or place == max_length:
                merit = merit_of(total, place, alpha)
                if merit > highest:
                    highest, winner = merit, tokens
            room -= over
        if not going:
            break
    return text(winner, end_id)


class Search:
    def __call__(self, f, start_id, end_id, beam_size, max_length, alpha=0.6):
        done, going = found_by(f, start_id, end_id, beam_size, max_length)
        penalty = {len(tokens): ((5 + len(tokens)) / 6) ** alpha for _, tokens in done}
        penalty[max_length] = ((5 + max_length) / 6) ** alpha
        beams = [(total / penalty[len(t)], t) for total, t in done + going]
        return text(max(beams)[1], end_id)


answers.right["callable_object"] = Search()
answers.right["partial"] = functools.partial(
    lambda search, *given, **named: search(*given, **named), heap_of_continuations
)


@answers.also("greedy_in_disguise")
def copies_of_the_start(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    written = []
    while len(written) < max_length:
        token = int(np.argmax(f([start_id, *written])))
        if token == end_id:
            break
        written.append(token)
    return written


@answers.also("each_beam_its_own_best")
def greedy_from_each_first_token(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def step(f, start_id, going):
        if going == [(0.0, ())]:
            return one_step(f, start_id, going)
        return [max(one_step(f, start_id, [one])) for one in going]

    done, going = found_by(f, start_id, end_id, beam_size, max_length, step)
    return best([*done, *going], end_id, wu(alpha))


@answers.also("length_ignored")
def largest_sum(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return text(max(done + going)[1], end_id)


@answers.also("penalty_multiplied")
def wrong_sign_of_the_power(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best(done + going, end_id, wu(-alpha))


@answers.also("length_without_the_end")
def length_of_the_text(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)

    def merit(one):
        return merit_of(one[0], len(text(one[1], end_id)), alpha)

    return text(max(done + going, key=merit)[1], end_id)


@answers.also("length_with_the_start")
def length_of_the_whole_list(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)

    def merit(one):
        return merit_of(one[0], len([start_id, *one[1]]), alpha)

    return text(max(done + going, key=merit)[1], end_id)


@answers.also("divided_by_a_power_of_the_length")
def plain_power(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best([*done, *going], end_id, lambda total, n: total * n ** (-alpha))


@answers.also("mean_per_token")
def average_logarithm(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best([*done, *going], end_id, lambda total, n: np.divide(total, n))


@answers.also("brackets_missing")
def power_of_the_six(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best(done + going, end_id, lambda total, n: total / (5 + n))


@answers.also("alpha_written_in")
def alpha_of_the_paper(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    return heap_of_continuations(f, start_id, end_id, beam_size, max_length, 3 / 5)


@answers.also("beam_not_getting_smaller")
def beam_filled_up_again(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length, shrink=False)
    return best(done + going, end_id, wu(alpha))


@answers.also("ended_texts_continued")
def end_is_one_token_of_many(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going = [(0.0, ())]
    for _ in range(max_length):
        going = heapq.nlargest(beam_size, one_step(f, start_id, going))
    return [token for token in max(going)[1] if token != end_id]


@answers.also("pushed_out_by_sums")
def one_list_with_marks(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    beams = [(0.0, (), False)]
    while not all(over for _, _, over in beams) and max_length > 0:
        longer = [one for one in beams if one[2]]
        for total, tokens, over in beams:
            for token, log_p in enumerate([] if over else f([start_id, *tokens])):
                longer.append((total + float(log_p), (*tokens, token), token == end_id))
        beams = sorted(longer)[-beam_size:]
        max_length -= 1
    return best([one[:2] for one in beams], end_id, wu(alpha))


@answers.also("pushed_out_by_merit")
def a_heap_of_merits(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def merit(one):
        return merit_of(one[0], len(one[1]), alpha)

    beams = [(0.0, ())]
    for _ in range(max_length):
        over = [one for one in beams if one[1][-1:] == (end_id,)]
        longer = one_step(f, start_id, [one for one in beams if one not in over])
        beams = heapq.nlargest(beam_size, over + longer, key=merit)
    return text(beams[0][1], end_id)


@answers.also("first_to_end")
def returned_at_the_first_end(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going = [(0.0, ())]
    for _ in range(max_length):
        going = heapq.nlargest(beam_size, one_step(f, start_id, going))
        for _, tokens in going:
            if tokens[-1] == end_id:
                return list(tokens[:-1])
    return list(going[0][1])


@answers.also("only_ended_texts_count")
def two_lists(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    if done:
        return best(done, end_id, wu(alpha))
    return list(max(going)[1])


@answers.also("newest_token_only")
def sum_not_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def step(f, start_id, going):
        return [
            (float(log_p), (*tokens, token))
            for _, tokens in going
            for token, log_p in enumerate(f([start_id, *tokens]))
        ]

    done, going = found_by(f, start_id, end_id, beam_size, max_length, step)
    return best([*done, *going], end_id, wu(alpha))


@answers.also("probabilities_added")
def sum_of_probabilities(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def step(f, start_id, going):
        return [
            (total + math.exp(log_p), (*tokens, token))
            for total, tokens in going
            for token, log_p in enumerate(f([start_id, *tokens]))
        ]

    done, going = found_by(f, start_id, end_id, beam_size, max_length, step)
    return best(done + going, end_id, wu(alpha))


@answers.also("probabilities_multiplied")
def product_of_probabilities(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going, done = [(1.0, ())], []
    for _ in range(max_length):
        longer = [
            (product * math.exp(log_p), (*tokens, token))
            for product, tokens in going
            for token, log_p in enumerate(f([start_id, *tokens]))
        ]
        longer.sort(key=lambda one: one[0], reverse=True)
        kept = longer[: beam_size - len(done)]
        done += [one for one in kept if one[1][-1] == end_id]
        going = [one for one in kept if one[1][-1] != end_id]
        if not going:
            break

    def merit(one):
        return merit_of(math.log(one[0]) if one[0] else -math.inf, len(one[1]), alpha)

    return text(max(done + going, key=merit)[1], end_id)


@answers.also("smallest_sums_kept")
def sorted_as_costs(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    going, done = [(0.0, ())], []
    for _ in range(max_length):
        longer = one_step(f, start_id, going)
        kept = heapq.nsmallest(beam_size - len(done), longer, key=lambda one: one[0])
        done += [one for one in kept if one[1][-1] == end_id]
        going = [one for one in kept if one[1][-1] != end_id]
        if not going:
            break
    return best(done + going, end_id, wu(alpha))


@answers.also("one_step_too_many")
def end_not_counted(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, 1 + max_length)
    return best(done + going, end_id, wu(alpha))


@answers.also("one_step_too_few")
def start_counted(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    steps = range(1, max_length)
    done, going = found_by(f, start_id, end_id, beam_size, len(steps))
    return best(done + going, end_id, wu(alpha))


@answers.also("end_kept")
def whole_winner(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    merits = [merit_of(total, len(tokens), alpha) for total, tokens in done + going]
    return list((done + going)[int(np.argmax(merits))][1])


@answers.also("start_kept")
def begun_with_start(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    written = best(done + going, end_id, wu(alpha))
    written.insert(0, start_id)
    return written


@answers.also("start_removed_by_value")
def without_both_numbers(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    winner = max(done + going, key=lambda one: merit_of(one[0], len(one[1]), alpha))
    return list(filter(lambda token: token not in (start_id, end_id), winner[1]))


@answers.other
def worst_text(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best(done + going, end_id, lambda total, n: -merit_of(total, n, alpha))


@answers.other
def longest_text(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return text(max(done + going, key=lambda one: len(one[1]))[1], end_id)


@answers.other
def one_beam_more(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size + 1, max_length)
    return best(done + going, end_id, wu(alpha))


@answers.other
def penalty_with_other_numbers(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best(done + going, end_id, lambda total, n: total / ((1 + n) / 2) ** alpha)


@answers.other
def text_with_its_sum(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    done, going = found_by(f, start_id, end_id, beam_size, max_length)
    return best(done + going, end_id, wu(alpha)), max(done + going)[0]
