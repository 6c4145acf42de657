import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("cross_entropy")


def flat(logits, targets):
    return logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)


def chosen(logits, targets, ignore_index):
    """Return one row of logits and one right token per position that counts."""
    rows, right = flat(logits, targets)
    return rows[right != ignore_index], right[right != ignore_index]


@answers.correct
def positions_chosen_by_a_mask(logits, targets, ignore_index):
    rows, right = chosen(logits, targets, ignore_index)
    if not len(right):
        return torch.zeros((), dtype=logits.dtype)
    return -rows.log_softmax(-1)[torch.arange(len(right)), right].mean()


@answers.correct
def library_with_the_empty_case_mended(logits, targets, ignore_index):
    rows, right = flat(logits, targets)
    loss = functional.cross_entropy(
        rows, right, ignore_index=ignore_index, reduction="sum"
    )
    return loss / max(1, int((right != ignore_index).sum()))


@answers.correct
def logsumexp_minus_the_right_logit(logits, targets, ignore_index):
    counts = (targets != ignore_index).to(logits.dtype)
    right = torch.where(targets == ignore_index, torch.zeros_like(targets), targets)
    right_logits = torch.take_along_dim(logits, right[..., None], dim=-1)[..., 0]
    losses = (logits.logsumexp(dim=-1) - right_logits) * counts
    return losses.sum() / torch.clamp(counts.sum(), min=1.0)


@answers.correct
def one_position_after_another(logits, targets, ignore_index):
    total, n_counted = torch.zeros((), dtype=logits.dtype), 0
    for row, right in zip(*flat(logits, targets), strict=True):
        if right != ignore_index:
            total = total + (row - row[right]).logsumexp(0)
            n_counted += 1
    return total / (n_counted or 1)


@answers.correct
def one_hot_times_logarithms(logits, targets, ignore_index):
    tokens = torch.arange(logits.shape[-1])
    right = (targets[..., None] == tokens) & (targets != ignore_index)[..., None]
    log_p = functional.log_softmax(logits, dim=-1)
    log_p_of_right = torch.einsum("...v,...v->...", log_p, right.to(log_p.dtype)).sum()
    return torch.nan_to_num(-log_p_of_right / right.sum(), nan=0.0)


@answers.correct
def numpy_inside(logits, targets, ignore_index):
    rows, right = (part.numpy() for part in chosen(logits, targets, ignore_index))
    if not right.size:
        return torch.tensor(0.0, dtype=logits.dtype)
    rows = rows - rows.max(axis=1, keepdims=True)
    log_p = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
    mean = -np.take_along_axis(log_p, right[:, None], axis=1).mean()
    return torch.tensor(float(mean), dtype=torch.float64)


class Loss(torch.nn.Module):
    def forward(self, logits, targets, ignore_index):
        rows, right = chosen(logits, targets, ignore_index)
        if right.numel() == 0:
            return logits.new_zeros(())
        return functional.nll_loss(functional.log_softmax(rows, -1), right)


answers.right["module"] = Loss()
answers.right["partial"] = functools.partial(
    lambda log_softmax, *arguments: -mean_of(log_softmax, *arguments), torch.log_softmax
)


def mean_of(log_softmax, logits, targets, ignore_index):
    rows, right = chosen(logits, targets, ignore_index)
    log_p_of_right = log_softmax(rows, -1).gather(1, right[:, None])
    return log_p_of_right.mean() if len(log_p_of_right) else log_p_of_right.sum()


def picked(log_p, targets, ignore_index):
    """Return log p of the right tokens, position by position, and which count."""
    rows, right = flat(log_p, targets)
    counts = right != ignore_index
    safe = torch.where(counts, right, 0)
    return rows[torch.arange(len(rows)), safe] * counts, counts


def average(log_p, targets, ignore_index):
    log_p_of_right, counts = picked(log_p, targets, ignore_index)
    return -log_p_of_right.sum() / max(1, int(counts.sum()))


@answers.other
def squared_error_of_the_probability(logits, targets, ignore_index):
    log_p_of_right, counts = picked(logits.softmax(-1), targets, ignore_index)
    return ((1 - log_p_of_right) ** 2 * counts).sum() / counts.sum().clamp(min=1)


@answers.other
def best_token_in_place_of_the_right_one(logits, targets, ignore_index):
    best = torch.where(targets == ignore_index, ignore_index, logits.argmax(-1))
    return average(logits.log_softmax(-1), best, ignore_index)


@answers.other
def two_more_in_the_divisor(logits, targets, ignore_index):
    log_p_of_right, counts = picked(logits.log_softmax(-1), targets, ignore_index)
    return -log_p_of_right.sum() / (counts.sum() + 2)
