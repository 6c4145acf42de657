import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("top_p_filter")


def normalised(filtered):
    return filtered / filtered.sum(dim=-1, keepdim=True)


def in_order(probabilities):
    return probabilities.sort(dim=-1, descending=True, stable=True)


@answers.correct
def values_written_into_zeros(probabilities, p):
    if p == 1:
        return probabilities.clone()
    values, token_ids = in_order(probabilities)
    before = values.cumsum(dim=-1) - values
    values = values.masked_fill(before >= p, 0.0)
    return torch.zeros_like(probabilities).scatter(-1, token_ids, normalised(values))


@answers.correct
def removed_and_shifted(probabilities, p):
    """Follow top_k_top_p_filtering, with >= in place of its >."""
    if p >= 1:
        return probabilities * 1.0
    values, token_ids = in_order(probabilities)
    removed = values.cumsum(dim=-1) >= p
    removed[..., 1:] = removed[..., :-1].clone()
    removed[..., 0] = False
    removed = torch.zeros_like(removed).scatter(-1, token_ids, removed)
    return normalised(probabilities.masked_fill(removed, 0.0))


@answers.correct
def argsort_of_the_order(probabilities, p):
    if p == 1:
        return probabilities.clone()
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    sums = probabilities.gather(-1, order).cumsum(-1)
    n_stay = (sums < p).sum(dim=-1, keepdim=True) + 1
    rank = order.argsort(dim=-1)
    return normalised(torch.where(rank < n_stay, probabilities, 0.0))


@answers.correct
def sum_of_the_more_probable(probabilities, p):
    if p == 1:
        return probabilities.clone()
    one, other = probabilities.unsqueeze(-1), probabilities.unsqueeze(-2)
    token_ids = torch.arange(probabilities.shape[-1])
    earlier = (other > one) | ((other == one) & (token_ids < token_ids.unsqueeze(-1)))
    return normalised(probabilities * ((earlier * other).sum(-1) < p))


@answers.correct
def token_after_token(probabilities, p):
    if probabilities.ndim > 1:
        return torch.stack([token_after_token(row, p) for row in probabilities])
    if p == 1:
        return probabilities.clone()
    left, result, total = probabilities.clone(), torch.zeros_like(probabilities), 0.0
    while total < p:
        best = int(left.argmax())
        result[best] = left[best]
        total += left[best].item()
        left[best] = -1.0
    return result / total


@answers.correct
def searched_in_the_sums(probabilities, p):
    if p == 1:
        return probabilities.clone()
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    sums = probabilities.double().gather(-1, order).cumsum(-1)
    wanted = torch.full((*sums.shape[:-1], 1), p, dtype=torch.float64)
    last = torch.searchsorted(sums, wanted).clamp(max=sums.shape[-1] - 1)
    stays = torch.zeros_like(sums, dtype=torch.bool)
    stays.scatter_(-1, order, torch.arange(sums.shape[-1]) <= last)
    return normalised(probabilities * stays)


@answers.correct
def numpy_inside(probabilities, p):
    numbers = probabilities.numpy()
    order = np.argsort(-numbers, axis=-1, kind="stable")
    ordered = np.take_along_axis(numbers, order, -1).astype(float)
    stays = np.zeros(numbers.shape, bool)
    at_front = (ordered.cumsum(-1) - ordered < p) | (p == 1)
    np.put_along_axis(stays, order, at_front, axis=-1)
    filtered = np.where(stays, numbers, np.zeros_like(numbers))
    return torch.from_numpy(filtered / filtered.sum(-1, keepdims=True))


class TopP:
    def __call__(self, probabilities, p):
        return values_written_into_zeros(probabilities, p)


answers.right["callable_object"] = TopP()
answers.right["partial"] = functools.partial(
    lambda filtered, probabilities, p: filtered(probabilities, p=p),
    argsort_of_the_order,
)


@answers.also("crossing_token_dropped_unless_first")
def first_put_back(probabilities, p):
    if p == 1:
        return probabilities.clone()
    values, token_ids = in_order(probabilities)
    at_front = values.cumsum(-1) <= p
    at_front[..., 0] = True
    result = torch.zeros_like(probabilities)
    return normalised(result.scatter(-1, token_ids, values * at_front))


@answers.also("one_more_where_the_sum_is_p")
def shifted_as_it_is_known(probabilities, p):
    if p == 1:
        return probabilities.clone()
    values, token_ids = in_order(probabilities)
    removed = values.cumsum(dim=-1) > p
    removed = removed.roll(1, -1)
    removed[..., 0] = False
    return normalised(
        probabilities.masked_fill(removed.gather(-1, token_ids.argsort(-1)), 0.0)
    )


@answers.also("mask_in_sorted_order")
def mask_of_sorted_values(probabilities, p):
    if p == 1:
        return probabilities.clone()
    values = in_order(probabilities).values
    return normalised(probabilities * (values.cumsum(-1) - values < p))


@answers.also("not_renormalised")
def mask_alone(probabilities, p):
    return probabilities * (values_written_into_zeros(probabilities, p) > 0)


@answers.also("share_of_the_largest")
def min_p(probabilities, p):
    least = p * probabilities.max(dim=-1, keepdim=True).values
    return normalised(probabilities.where(probabilities >= least, 0.0))


@answers.other
def two_at_least(probabilities, p):
    values, token_ids = in_order(probabilities)
    at_front = values.cumsum(-1) - values < p
    at_front[..., :2] = True
    result = torch.zeros_like(probabilities)
    return normalised(result.scatter(-1, token_ids, values * at_front))


@answers.other
def squares_renormalised(probabilities, p):
    return normalised(values_written_into_zeros(probabilities, p) ** 2)


@answers.other
def along_the_first_axis(probabilities, p):
    values, token_ids = probabilities.sort(dim=0, descending=True, stable=True)
    values = values.masked_fill(values.cumsum(0) - values >= p, 0.0)
    return normalised(torch.zeros_like(probabilities).scatter(0, token_ids, values))


@answers.other
def rest_given_to_the_best(probabilities, p):
    filtered = mask_alone(probabilities, p)
    rest = 1 - filtered.sum(dim=-1, keepdim=True)
    best = probabilities.argmax(dim=-1, keepdim=True)
    return filtered.scatter_add(-1, best, rest)
