import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("gather_log_probabilities")


def flat(log_p, targets):
    return log_p.reshape(-1, log_p.shape[-1]), targets.reshape(-1)


@answers.correct
def rows_and_columns_by_index(log_p, targets):
    rows, right = flat(log_p, targets)
    return rows[torch.arange(len(right)), right].view(targets.shape)


@answers.correct
def take_along_dim(log_p, targets):
    return torch.take_along_dim(log_p, targets[..., None], dim=-1)[..., 0]


@answers.correct
def gather_with_the_positive_axis(log_p, targets):
    return torch.gather(log_p, targets.ndim, targets[..., None])[..., 0]


@answers.correct
def view_where_no_axis_comes_first(log_p, targets):
    if targets.ndim:
        return take_along_dim(log_p, targets)
    return log_p[targets.item()]  # in the memory of log_p


@answers.correct
def where_and_sum(log_p, targets):
    is_right = functional.one_hot(targets, log_p.shape[-1]).bool()
    return torch.where(is_right, log_p, torch.zeros_like(log_p)).sum(dim=-1)


@answers.correct
def masked_select(log_p, targets):
    is_right = torch.arange(log_p.shape[-1]) == targets[..., None]
    return log_p[is_right].reshape(targets.shape)


@answers.correct
def one_position_after_another(log_p, targets):
    rows, right = flat(log_p, targets)
    result = torch.empty(len(right), dtype=log_p.dtype)
    for i in range(len(right)):
        result[i] = rows[i, right[i]]
    return result.reshape(targets.shape)


@answers.correct
def one_axis_after_another(log_p, targets):
    if targets.ndim == 0:
        return log_p[targets]
    pairs = zip(log_p, targets, strict=True)
    return torch.stack([one_axis_after_another(*pair) for pair in pairs])


@answers.correct
def numpy_inside(log_p, targets):
    columns = targets.numpy()[..., np.newaxis]
    result = np.take_along_axis(log_p.numpy(), columns, axis=-1)
    return torch.from_numpy(result.squeeze(-1).copy())


@answers.correct
def negative_log_likelihood_turned(log_p, targets):
    rows, right = flat(log_p, targets)
    return -functional.nll_loss(rows, right, reduction="none").reshape(targets.shape)


@answers.correct
def float64_inside(log_p, targets):
    return take_along_dim(log_p.double(), targets)


@answers.correct
def other_layout_in_memory(log_p, targets):
    result = take_along_dim(log_p, targets)
    return torch.stack([result, result], dim=-1)[..., 0]


class Picker(torch.nn.Module):
    def forward(self, log_p, targets):
        return take_along_dim(log_p, targets)


class Called:
    def __call__(self, log_p, targets):
        return rows_and_columns_by_index(log_p, targets)


answers.right["module"] = Picker()
answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda axis, log_p, targets: torch.gather(
        log_p, axis, targets.unsqueeze(axis)
    ).squeeze(axis),
    -1,
)


@answers.also("gathered_along_axis_one")
def axis_one_moved_to_the_end(log_p, targets):
    return log_p.movedim(1, -1).gather(-1, targets[..., None])[..., 0]


@answers.also("every_target_at_every_position")
def columns_selected(log_p, targets):
    columns = log_p.index_select(-1, targets.reshape(-1))
    return columns.reshape(*log_p.shape[:-1], *targets.shape)


@answers.also("loop_over_the_first_axis_alone")
def index_of_the_first_axis(log_p, targets):
    return torch.stack([log_p[b][targets[b]] for b in range(targets.shape[0])])


@answers.also("nan_from_a_probability_of_zero")
def einsum_with_one_hot(log_p, targets):
    right = functional.one_hot(targets, log_p.shape[-1]).to(log_p.dtype)
    return torch.einsum("...v,...v->...", log_p, right)


@answers.also("by_way_of_probabilities")
def logarithm_of_a_product_with_one_hot(log_p, targets):
    right = functional.one_hot(targets, log_p.shape[-1])
    return (log_p.exp() * right).sum(dim=-1).log()


@answers.also("infinity_replaced_in_place")
def one_hot_after_a_mask(log_p, targets):
    log_p[torch.isinf(log_p)] = -1e9
    return take_along_dim(log_p, targets)


@answers.also("infinity_as_the_least_number")
def numbers_for_infinities(log_p, targets):
    return take_along_dim(log_p, targets).nan_to_num()


@answers.also("token_ids_from_one")
def column_before(log_p, targets):
    rows, right = flat(log_p, targets)
    return rows[range(len(right)), right - 1].reshape(targets.shape)


@answers.also("probabilities_returned")
def softmax_first(log_p, targets):
    return take_along_dim(log_p.softmax(-1), targets)


@answers.also("axis_of_the_tokens_stays")
def without_the_last_squeeze(log_p, targets):
    return log_p.gather(-1, targets[..., None])


@answers.other
def difference_from_the_likeliest(log_p, targets):
    return take_along_dim(log_p, targets) - log_p.max(dim=-1).values


@answers.other
def column_after(log_p, targets):
    return take_along_dim(log_p, (targets + 1) % log_p.shape[-1])


@answers.other
def rounded_to_two_digits(log_p, targets):
    return take_along_dim(log_p, targets).round(decimals=2)


@answers.other
def right_tokens_in_reverse(log_p, targets):
    return take_along_dim(log_p, targets.flip(-1) if targets.ndim else targets)
