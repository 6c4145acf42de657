import functools
import math

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("cross_entropy")


def flat(logits, targets):
    return logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)


def chosen(logits, targets, ignore):
    """Give one row of scores and one right token per place that counts."""
    rows, right = flat(logits, targets)
    return rows[right != ignore], right[right != ignore]


@answers.correct
def places_chosen_by_a_mask(logits, targets, ignore):
    rows, right = chosen(logits, targets, ignore)
    if not len(right):
        return torch.zeros((), dtype=logits.dtype)
    return -rows.log_softmax(-1)[torch.arange(len(right)), right].mean()


@answers.correct
def library_with_the_empty_case_mended(logits, targets, ignore):
    rows, right = flat(logits, targets)
    loss = functional.cross_entropy(rows, right, ignore_index=ignore, reduction="sum")
    return loss / max(1, int((right != ignore).sum()))


@answers.correct
def logsumexp_minus_the_right_score(logits, targets, ignore):
    counts = (targets != ignore).to(logits.dtype)
    right = torch.where(targets == ignore, torch.zeros_like(targets), targets)
    scores = torch.take_along_dim(logits, right[..., None], dim=-1)[..., 0]
    losses = (logits.logsumexp(dim=-1) - scores) * counts
    return losses.sum() / torch.clamp(counts.sum(), min=1.0)


@answers.correct
def one_place_after_another(logits, targets, ignore):
    total, n_counted = torch.zeros((), dtype=logits.dtype), 0
    for row, right in zip(*flat(logits, targets), strict=True):
        if right != ignore:
            total = total + (row - row[right]).logsumexp(0)
            n_counted += 1
    return total / (n_counted or 1)


@answers.correct
def one_hot_times_logarithms(logits, targets, ignore):
    tokens = torch.arange(logits.shape[-1])
    right = (targets[..., None] == tokens) & (targets != ignore)[..., None]
    log_p = functional.log_softmax(logits, dim=-1)
    found = torch.einsum("...v,...v->...", log_p, right.to(log_p.dtype)).sum()
    return torch.nan_to_num(-found / right.sum(), nan=0.0)


@answers.correct
def numpy_inside(logits, targets, ignore):
    rows, right = (part.numpy() for part in chosen(logits, targets, ignore))
    if not right.size:
        return torch.tensor(0.0, dtype=logits.dtype)
    rows = rows - rows.max(axis=1, keepdims=True)
    log_p = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
    mean = -np.take_along_axis(log_p, right[:, None], axis=1).mean()
    return torch.tensor(float(mean), dtype=torch.float64)


class Loss(torch.nn.Module):
    def forward(self, logits, targets, ignore):
        rows, right = chosen(logits, targets, ignore)
        if right.numel() == 0:
            return logits.new_zeros(())
        return functional.nll_loss(functional.log_softmax(rows, -1), right)


answers.right["module"] = Loss()
answers.right["partial"] = functools.partial(
    lambda log_softmax, *given: -mean_of(log_softmax, *given), torch.log_softmax
)


def mean_of(log_softmax, logits, targets, ignore):
    rows, right = chosen(logits, targets, ignore)
    found = log_softmax(rows, -1).gather(1, right[:, None])
    return found.mean() if len(found) else found.sum()


def picked(log_p, targets, ignore):
    """Give log p of the right tokens, one place after another, and what counts."""
    rows, right = flat(log_p, targets)
    counts = right != ignore
    safe = torch.where(counts, right, 0)
    return rows[torch.arange(len(rows)), safe] * counts, counts


def average(log_p, targets, ignore):
    found, counts = picked(log_p, targets, ignore)
    return -found.sum() / max(1, int(counts.sum()))


@answers.also("padding_counted")
def every_place_looked_up(logits, targets, ignore):
    log_p = functional.log_softmax(logits, dim=-1)
    return -torch.gather(log_p, -1, targets[..., None]).sum() / targets.numel()


@answers.also("padding_in_the_divisor")
def mean_over_all_places(logits, targets, ignore):
    found, _ = picked(logits.log_softmax(-1), targets, ignore)
    return -found.sum() / len(found)


@answers.also("mean_of_means")
def mean_of_each_row_first(logits, targets, ignore):
    log_p = logits.log_softmax(-1)
    if targets.ndim == 0:
        return average(log_p, targets, ignore)
    rows = log_p.reshape(-1, *log_p.shape[-2:])
    each = zip(rows, targets.reshape(-1, targets.shape[-1]), strict=True)
    return torch.stack([average(row, right, ignore) for row, right in each]).mean()


@answers.also("sum_not_mean")
def reduction_sum(logits, targets, ignore):
    rows, right = flat(logits, targets)
    return functional.cross_entropy(rows, right, ignore_index=ignore, reduction="sum")


@answers.also("divided_by_the_batch_size")
def sum_over_first_axis(logits, targets, ignore):
    found, _ = picked(logits.log_softmax(-1), targets, ignore)
    return -found.sum() / (targets.shape[0] if targets.ndim else 1)


@answers.also("log_of_the_softmax")
def logarithm_of_the_share(logits, targets, ignore):
    rows, right = flat(logits, targets)
    powers = (rows - rows.max(dim=-1, keepdim=True).values).exp()
    shares = powers / powers.sum(dim=-1, keepdim=True)
    counts = right != ignore
    found = shares[counts].log()[torch.arange(int(counts.sum())), right[counts]]
    return -found.sum() / max(1, int(counts.sum()))


@answers.also("softmax_over_the_places")
def places_compete(logits, targets, ignore):
    log_p = logits - logits.logsumexp(dim=-2, keepdim=True)
    return average(log_p, targets, ignore)


@answers.also("softmax_over_axis_one")
def second_axis_competes(logits, targets, ignore):
    log_p = logits - logits.logsumexp(dim=1, keepdim=True)
    return average(log_p, targets, ignore)


@answers.also("nan_where_nothing_counts")
def library_alone(logits, targets, ignore):
    rows, right = flat(logits, targets)
    return functional.cross_entropy(rows, right, ignore_index=ignore)


@answers.also("softmax_twice")
def probabilities_into_the_library(logits, targets, ignore):
    shares = logits.softmax(-1)
    log_p = shares - shares.logsumexp(-1, keepdim=True)
    return average(log_p, targets, ignore)


@answers.also("scores_not_normalised")
def nll_of_scores(logits, targets, ignore):
    rows, right = flat(logits, targets)
    loss = functional.nll_loss(rows, right, ignore_index=ignore, reduction="sum")
    return loss / max(1, int((right != ignore).sum()))


@answers.also("sign_turned")
def minus_forgotten(logits, targets, ignore):
    found, counts = picked(logits.log_softmax(-1), targets, ignore)
    return found.sum() / counts.sum().clamp(min=1)


@answers.also("in_bits")
def logarithm_to_base_two(logits, targets, ignore):
    return average(logits.log_softmax(-1), targets, ignore) * math.log2(math.e)


@answers.also("perplexity")
def power_of_the_mean(logits, targets, ignore):
    return math.e ** average(logits.log_softmax(-1), targets, ignore)


@answers.also("token_zero_left_out")
def zero_is_filling_too(logits, targets, ignore):
    right = targets.clone()
    right[right == 0] = ignore
    return average(logits.log_softmax(-1), right, ignore)


@answers.also("filling_looked_up")
def masked_too_late(logits, targets, ignore):
    log_p = functional.log_softmax(logits, dim=-1)
    found = torch.gather(log_p, -1, targets[..., None])[..., 0]
    found = torch.where(targets == ignore, 0.0, found)
    return -found.sum() / max(1, int((targets != ignore).sum()))


@answers.also("targets_overwritten")
def filling_made_safe_in_place(logits, targets, ignore):
    counts = targets != ignore
    targets.masked_fill_(~counts, 0)
    found = logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0] * counts
    return -found.sum() / counts.sum().clamp(min=1)


@answers.other
def python_number(logits, targets, ignore):
    return float(average(logits.log_softmax(-1), targets, ignore))


@answers.other
def loss_of_each_place(logits, targets, ignore):
    found, _ = picked(logits.log_softmax(-1), targets, ignore)
    return -found.reshape(targets.shape)


@answers.other
def squared_error_of_the_probability(logits, targets, ignore):
    found, counts = picked(logits.softmax(-1), targets, ignore)
    return ((1 - found) ** 2 * counts).sum() / counts.sum().clamp(min=1)


@answers.other
def best_token_in_place_of_the_right_one(logits, targets, ignore):
    best = torch.where(targets == ignore, ignore, logits.argmax(-1))
    return average(logits.log_softmax(-1), best, ignore)


@answers.other
def one_more_in_the_divisor(logits, targets, ignore):
    found, counts = picked(logits.log_softmax(-1), targets, ignore)
    return -found.sum() / (counts.sum() + 1)
