import functools
import heapq
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("beam_search")


def penalised(total, length, alpha):
    return total * (6 / (5 + length)) ** alpha


def search(f, start_id, end_id, beam_size, max_length):
    """Search; return (sum, token ids without start) of finished and unfinished ones."""
    unfinished, finished = [(0.0, ())], []
    for _ in range(max_length):
        if not unfinished:
            break
        longer = one_step(f, start_id, unfinished)
        room = beam_size - len(finished)
        top = heapq.nlargest(room, longer, key=lambda each: each[0])
        finished += [each for each in top if each[1][-1] == end_id]
        unfinished = [each for each in top if each[1][-1] != end_id]
    return finished, unfinished


def one_step(f, start_id, unfinished):
    return [
        (total + float(log_p), (*token_ids, token_id))
        for total, token_ids in unfinished
        for token_id, log_p in enumerate(f([start_id, *token_ids]))
    ]


def without_end(token_ids, end_id):
    token_ids = list(token_ids)
    return token_ids[: token_ids.index(end_id)] if end_id in token_ids else token_ids


def best(hypotheses, end_id, score):
    """Return the token ids with the highest score(sum, length), without end."""
    ranked = sorted(hypotheses, key=lambda each: score(each[0], len(each[1])))
    return without_end(ranked[-1][1], end_id)


def wu(alpha):
    return lambda total, length: penalised(total, length, alpha)


@answers.correct
def heap_of_continuations(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best(finished + unfinished, end_id, wu(alpha))


@answers.correct
def numpy_sums(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    hypotheses, totals, finished = [[]], np.zeros(1), []
    for _ in range(max_length):
        log_p = np.stack([f([start_id, *token_ids]) for token_ids in hypotheses])
        sums = totals[:, None] + log_p
        order = np.argsort(sums, axis=None)[::-1][: beam_size - len(finished)]
        rows, columns = np.unravel_index(order, sums.shape)
        top = [
            ([*hypotheses[i], int(j)], sums[i, j])
            for i, j in zip(rows, columns, strict=True)
        ]
        finished += [each for each in top if each[0][-1] == end_id]
        top = [each for each in top if each[0][-1] != end_id]
        if not top:
            hypotheses = []
            break
        hypotheses = [each[0] for each in top]
        totals = np.array([each[1] for each in top])
    if hypotheses:
        finished += list(zip(hypotheses, totals, strict=True))
    scores = [
        total / ((5 + len(token_ids)) / 6) ** alpha for token_ids, total in finished
    ]
    return without_end(finished[int(np.argmax(scores))][0], end_id)


@answers.correct
def torch_topk(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    unfinished, finished = [([start_id], 0.0)], []
    for _ in range(max_length):
        rows = [
            torch.tensor(np.array(f(token_ids))) + total
            for token_ids, total in unfinished
        ]
        sums = torch.stack(rows)
        room = min(beam_size - len(finished), sums.numel())
        totals, indices = sums.flatten().topk(room)
        fresh = []
        for total, index in zip(totals.tolist(), indices.tolist(), strict=True):
            row, token_id = divmod(index, sums.shape[1])
            token_ids = [*unfinished[row][0], token_id]
            (finished if token_ids[-1] == end_id else fresh).append((token_ids, total))
        unfinished = fresh
        if not unfinished:
            break
    lengths = [
        (token_ids, total, len(token_ids) - 1)
        for token_ids, total in finished + unfinished
    ]
    token_ids, _, _ = max(lengths, key=lambda each: penalised(each[1], each[2], alpha))
    return token_ids[1:-1] if token_ids[-1] == end_id else token_ids[1:]


@answers.correct
def recursion(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    def rest(unfinished, finished, left):
        if not unfinished or left == 0:
            return finished + unfinished
        longer = sorted(one_step(f, start_id, unfinished), reverse=True)
        top = longer[: beam_size - len(finished)]
        ended = [each for each in top if each[1][-1] == end_id]
        return rest([k for k in top if k not in ended], finished + ended, left - 1)

    return best(rest([(0.0, ())], [], max_length), end_id, wu(alpha))


@answers.correct
def negative_logarithms_made_small(
    f, start_id, end_id, beam_size, max_length, alpha=0.6
):
    unfinished, finished = [(0.0, [])], []
    for _ in range(max_length):
        heap = []
        for cost, token_ids in unfinished:
            for token_id, log_p in enumerate(f([start_id, *token_ids])):
                heapq.heappush(heap, (cost - log_p, [*token_ids, token_id]))
        unfinished, room = [], beam_size - len(finished)
        for _ in range(min(room, len(heap))):
            each = heapq.heappop(heap)
            (finished if each[1][-1] == end_id else unfinished).append(each)
        if not unfinished:
            break
    _, token_ids = min(
        finished + unfinished, key=lambda each: penalised(each[0], len(each[1]), alpha)
    )
    return [token_id for token_id in token_ids if token_id != end_id]


@answers.correct
def best_so_far_kept(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    unfinished, room = [(0.0, ())], beam_size
    highest, winner = -math.inf, ()
    for length in range(1, max_length + 1):
        longer = sorted(one_step(f, start_id, unfinished), key=lambda each: each[0])
        unfinished = []
        for total, token_ids in longer[::-1][:room]:
            ended = token_ids[-1] == end_id
            if not ended:
                unfinished.append((total, token_ids))
            if ended or length == max_length:
                score = penalised(total, length, alpha)
                if score > highest:
                    highest, winner = score, token_ids
            room -= ended
        if not unfinished:
            break
    return without_end(winner, end_id)


class Search:
    def __call__(self, f, start_id, end_id, beam_size, max_length, alpha=0.6):
        finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
        length_penalty = {
            len(token_ids): ((5 + len(token_ids)) / 6) ** alpha
            for _, token_ids in finished
        }
        length_penalty[max_length] = ((5 + max_length) / 6) ** alpha
        hypotheses = [
            (total / length_penalty[len(t)], t) for total, t in finished + unfinished
        ]
        return without_end(max(hypotheses)[1], end_id)


answers.right["callable_object"] = Search()
answers.right["partial"] = functools.partial(
    lambda search, *arguments, **named: search(*arguments, **named),
    heap_of_continuations,
)


@answers.other
def worst_hypothesis(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best(
        finished + unfinished, end_id, lambda total, n: -penalised(total, n, alpha)
    )


@answers.other
def longest_hypothesis(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return without_end(
        max(finished + unfinished, key=lambda each: len(each[1]))[1], end_id
    )


@answers.other
def penalty_with_other_numbers(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best(finished + unfinished, end_id, lambda total, n: total / n**0.5)


@answers.other
def result_with_its_sum(f, start_id, end_id, beam_size, max_length, alpha=0.6):
    finished, unfinished = search(f, start_id, end_id, beam_size, max_length)
    return best(finished + unfinished, end_id, wu(alpha)), max(finished + unfinished)[0]
