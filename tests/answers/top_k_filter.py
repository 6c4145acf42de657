import functools
import heapq

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("top_k_filter")


def normalised(filtered):
    return filtered / filtered.sum(dim=-1, keepdim=True)


@answers.correct
def values_written_into_zeros(probabilities, k):
    values, token_ids = probabilities.sort(dim=-1, descending=True, stable=True)
    values, token_ids = values[..., :k], token_ids[..., :k]
    result = torch.zeros_like(probabilities)
    return result.scatter(-1, token_ids, normalised(values))


@answers.correct
def ranks(probabilities, k):
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    rank = order.argsort(dim=-1)
    return normalised(torch.where(rank < k, probabilities, 0.0))


@answers.correct
def rank_by_counting(probabilities, k):
    one, other = probabilities.unsqueeze(-1), probabilities.unsqueeze(-2)
    token_ids = torch.arange(probabilities.shape[-1])
    earlier = token_ids < token_ids.unsqueeze(-1)
    before = (other > one) | ((other == one) & earlier)
    return normalised(probabilities * (before.sum(dim=-1) < k))


@answers.correct
def largest_taken_again_and_again(probabilities, k):
    left = probabilities.clone()
    stays = torch.zeros_like(probabilities)
    for _ in range(min(k, probabilities.shape[-1])):
        best = left.argmax(dim=-1, keepdim=True)
        stays.scatter_(-1, best, 1.0)
        left.scatter_(-1, best, -1.0)
    return normalised(probabilities * stays)


@answers.correct
def log_probabilities_and_softmax(probabilities, k):
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    out = torch.ones_like(probabilities, dtype=torch.bool)
    out = out.scatter(-1, order[..., :k], False)
    return probabilities.log().masked_fill(out, -torch.inf).softmax(-1)


@answers.correct
def row_by_row(probabilities, k):
    if probabilities.ndim > 1:
        return torch.stack([row_by_row(row, k) for row in probabilities])
    numbers = probabilities.tolist()
    best = heapq.nsmallest(k, range(len(numbers)), key=lambda i: (-numbers[i], i))
    total = sum(numbers[i] for i in best)
    result = torch.zeros_like(probabilities)
    for i in best:
        result[i] = numbers[i] / total
    return result


@answers.correct
def numpy_inside(probabilities, k):
    numbers = probabilities.numpy()
    order = np.argsort(-numbers, axis=-1, kind="stable")
    filtered = np.zeros_like(numbers)
    best = order[..., :k]
    np.put_along_axis(filtered, best, np.take_along_axis(numbers, best, -1), axis=-1)
    return torch.from_numpy(filtered / filtered.sum(-1, keepdims=True))


@answers.correct
def float64_inside(probabilities, k):
    return ranks(probabilities.double(), k)


class TopK:
    def __call__(self, probabilities, k):
        return values_written_into_zeros(probabilities, k)


answers.right["callable_object"] = TopK()
answers.right["partial"] = functools.partial(
    lambda filtered, probabilities, k: filtered(probabilities, k=k), ranks
)


@answers.also("all_equal_ones_stay")
def threshold_of_topk(probabilities, k):
    values, _ = torch.topk(probabilities, min(k, probabilities.shape[-1]))
    blocked = probabilities < values[..., [-1]]
    return normalised(probabilities.masked_fill(blocked, 0.0))


@answers.also("larger_token_ids_stay")
def end_of_an_ascending_order(probabilities, k):
    best = probabilities.argsort(dim=-1, stable=True)[..., -k:]
    result = torch.zeros_like(probabilities)
    return normalised(result.scatter(-1, best, probabilities.gather(-1, best)))


@answers.also("not_renormalised")
def mask_alone(probabilities, k):
    return probabilities * (ranks(probabilities, k) > 0)


@answers.also("softmax_of_probabilities")
def filled_with_minus_infinity(probabilities, k):
    order = probabilities.argsort(dim=-1, descending=True, stable=True)[..., :k]
    scores = torch.full_like(probabilities, -torch.inf)
    return scores.scatter(-1, order, probabilities.gather(-1, order)).softmax(dim=-1)


@answers.also("sorted_order_returned")
def values_followed_by_zeros(probabilities, k):
    values = probabilities.sort(dim=-1, descending=True).values
    values[..., k:] = 0
    return normalised(values)


@answers.also("probabilities_changed")
def written_in_place(probabilities, k):
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    probabilities.scatter_(-1, order[..., k:], 0.0)
    return normalised(probabilities)


@answers.other
def k_from_the_middle(probabilities, k):
    order = probabilities.argsort(dim=-1, descending=True, stable=True)[..., 1:]
    out = torch.ones_like(probabilities).scatter(-1, order[..., :k], 0.0)
    return normalised(probabilities * (1 - out))


@answers.other
def squares_renormalised(probabilities, k):
    return normalised(ranks(probabilities, k) ** 2)


@answers.other
def rest_given_to_the_best(probabilities, k):
    filtered = mask_alone(probabilities, k)
    rest = 1 - filtered.sum(dim=-1, keepdim=True)
    best = probabilities.argmax(dim=-1, keepdim=True)
    return filtered.scatter_add(-1, best, rest)


@answers.other
def along_the_first_axis(probabilities, k):
    order = probabilities.argsort(dim=0, descending=True, stable=True)
    out = torch.ones_like(probabilities).scatter(0, order[:k], 0.0)
    return normalised(probabilities * (1 - out))
