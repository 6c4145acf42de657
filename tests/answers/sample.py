import bisect
import functools
import itertools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("sample")


def last_possible(probabilities):
    token_ids = torch.arange(probabilities.shape[-1])
    return torch.where(probabilities > 0, token_ids, 0).amax(dim=-1)


@answers.correct
def sums_counted(probabilities, u):
    sums = probabilities.cumsum(dim=-1)
    count = (sums <= u[..., None]).sum(dim=-1)
    return torch.minimum(count, last_possible(probabilities))


@answers.correct
def searched(probabilities, u):
    sums = probabilities.double().cumsum(-1)
    sums = sums / sums[..., -1:]
    u = u.double().unsqueeze(-1)
    return torch.searchsorted(sums, u, right=True).squeeze(-1)


@answers.correct
def first_true(probabilities, u):
    passes = probabilities.cumsum(-1) > u.unsqueeze(-1)
    first = passes.int().argmax(-1)
    return torch.where(passes.any(-1), first, last_possible(probabilities))


@answers.correct
def last_sum_is_infinite(probabilities, u):
    sums = probabilities.cumsum(dim=-1)
    behind = torch.arange(sums.shape[-1]) >= last_possible(probabilities)[..., None]
    sums = sums.masked_fill(behind, torch.inf)
    return (sums > u.unsqueeze(-1)).to(torch.uint8).argmax(dim=-1)


@answers.correct
def row_by_row(probabilities, u):
    if u.ndim:
        pairs = zip(probabilities, u, strict=True)
        return torch.stack([row_by_row(*pair) for pair in pairs])
    left = u.item()
    chosen = 0
    for token_id, probability in enumerate(probabilities.double()):
        if probability == 0:
            continue
        chosen = token_id
        left -= probability.item()
        if left < 0:
            break
    return torch.tensor(chosen)


@answers.correct
def bisected(probabilities, u):
    rows = probabilities.reshape(-1, probabilities.shape[-1]).tolist()
    token_ids = []
    for row, number in zip(rows, u.flatten().tolist(), strict=True):
        sums = list(itertools.accumulate(row))
        possible = [i for i, probability in enumerate(row) if probability]
        token_ids.append(min(bisect.bisect_right(sums, number), possible[-1]))
    return torch.tensor(token_ids).view(u.shape)


@answers.correct
def numpy_inside(probabilities, u):
    sums = probabilities.numpy().cumsum(axis=-1, dtype=float)
    sums /= sums[..., -1:]
    return torch.from_numpy(np.asarray((sums <= u.numpy()[..., np.newaxis]).sum(-1)))


@answers.correct
def small_whole_numbers(probabilities, u):
    return sums_counted(probabilities, u).to(torch.int32)


class Draw:
    def __call__(self, probabilities, u):
        return first_true(probabilities, u)


answers.right["callable_object"] = Draw()
answers.right["partial"] = functools.partial(
    lambda right, probabilities, u: right(u=u, probabilities=probabilities), searched
)


@answers.also("earlier_token_on_a_boundary")
def searched_from_the_left(probabilities, u):
    sums = probabilities.double().cumsum(-1)
    sums[..., -1] = sums[..., -1].clamp(min=1)
    token_ids = torch.searchsorted(sums, u.double().unsqueeze(-1)).squeeze(-1)
    return torch.minimum(token_ids, last_possible(probabilities))


@answers.also("token_behind_the_vocabulary")
def counted_without_a_limit(probabilities, u):
    return (probabilities.double().cumsum(-1) <= u.unsqueeze(-1)).sum(-1)


@answers.also("first_token_at_the_end")
def argmax_of_a_comparison(probabilities, u):
    return (probabilities.cumsum(-1) > u.unsqueeze(-1)).int().argmax(dim=-1)


@answers.also("last_token_of_all_at_the_end")
def clamped(probabilities, u):
    count = (probabilities.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
    return count.clamp(max=probabilities.shape[-1] - 1)


@answers.also("most_probable_token")
def greedy(probabilities, u):
    return probabilities.max(dim=-1).indices


@answers.also("an_axis_more")
def searched_without_squeeze(probabilities, u):
    return searched(probabilities, u).unsqueeze(-1)


@answers.other
def drawn_anew(probabilities, u):
    generator = torch.Generator().manual_seed(0)
    rows = probabilities.reshape(-1, probabilities.shape[-1])
    return torch.multinomial(rows, 1, generator=generator).view(u.shape)


@answers.other
def most_probable_token_up_to_u(probabilities, u):
    return probabilities.masked_fill(probabilities > u.unsqueeze(-1), -1).argmax(-1)


@answers.also("closest_sum")
def closest_sum(probabilities, u):
    return (probabilities.cumsum(-1) - u.unsqueeze(-1)).abs().argmin(-1)


@answers.other
def square_of_u(probabilities, u):
    return sums_counted(probabilities, u**2)
