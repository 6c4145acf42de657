"""The field's forms of the exercises of lesson 10."""

import math

import torch
from torch.nn import functional

from tests.textbook import Forms

FORMS = Forms()


@FORMS(
    "clip_gradients",
    "Pascanu et al., algorithm 1",
    expected="fine point open",
    before="refused, no name (11.5 of 14)",
)
def stacked_norms(gradients, max_norm):
    norms = [torch.linalg.vector_norm(g) for g in gradients.values() if g is not None]
    norm = torch.linalg.vector_norm(torch.stack(norms)).item()
    factor = max_norm / norm if norm > max_norm else 1.0
    return {k: None if g is None else g * factor for k, g in gradients.items()}, norm


@FORMS(
    "clip_gradients",
    "CS336, on copies",
    expected="fine point open",
    before="refused: a_little_added_to_the_norm & not_finite_passed_on (3.75 of 14)",
)
def a_millionth_added(gradients, max_norm):
    squares = sum((g**2).sum().item() for g in gradients.values() if g is not None)
    norm = squares**0.5
    factor = min(1.0, max_norm / (norm + 1e-6))
    return {k: None if g is None else g * factor for k, g in gradients.items()}, norm


@FORMS(
    "clip_gradients",
    "CS336 and torch.nn.utils.clip_grad_norm_",
    expected="refused: a_little_added_to_the_norm & gradients_overwritten",
    before="refused, no name (2.5 of 14)",
)
def in_place_with_a_millionth(gradients, max_norm):
    squares = sum((g**2).sum().item() for g in gradients.values() if g is not None)
    norm = squares**0.5
    if norm >= max_norm:
        for gradient in gradients.values():
            if gradient is not None:
                gradient.mul_(max_norm / (norm + 1e-6))
    return gradients, norm


@FORMS(
    "clip_gradients",
    "d2l 9.5",
    expected="refused: squared_in_their_dtype & gradients_overwritten",
    before="refused: not_finite_passed_on & gradients_overwritten (11.5 of 14)",
)
def grad_clipping(gradients, max_norm):
    present = [g for g in gradients.values() if g is not None]
    norm = math.sqrt(sum(torch.sum(g**2).item() for g in present))
    if norm > max_norm:
        for gradient in present:
            gradient[...] *= max_norm / norm
    return gradients, norm


@FORMS(
    "cross_entropy",
    "nanoGPT",
    expected="fine point open",
    before="refused: nan_where_nothing_counts (18 of 19)",
)
def library_on_two_axes(logits, targets, ignore_index):
    return functional.cross_entropy(
        logits.reshape(-1, logits.size(-1)),
        targets.reshape(-1),
        ignore_index=ignore_index,
    )


@FORMS("cross_entropy", "CS336", before="full")
def logsumexp_less_the_right_logit(logits, targets, ignore_index):
    counts = (targets != ignore_index).to(logits.dtype)
    right = torch.where(targets == ignore_index, 0, targets)
    picked = logits.gather(-1, right.unsqueeze(-1)).squeeze(-1)
    losses = (torch.logsumexp(logits, dim=-1) - picked) * counts
    return losses.sum() / counts.sum().clamp(min=1)


@FORMS(
    "cross_entropy",
    "d2l 10.7",
    expected="refused: padding_in_the_divisor",
    before="refused: padding_in_the_divisor (5 of 19)",
)
def masked_and_averaged(logits, targets, ignore_index):
    counts = targets != ignore_index
    log_p = functional.log_softmax(logits, dim=-1)
    picked = log_p.gather(-1, (targets * counts).unsqueeze(-1)).squeeze(-1)
    return -(picked * counts).mean()


@FORMS(
    "cross_entropy",
    "CS231n",
    expected="refused: log_of_the_softmax",
    before="refused: log_of_the_softmax (17 of 19)",
)
def logarithm_of_the_softmax(logits, targets, ignore_index):
    counts = targets != ignore_index
    p = logits.softmax(dim=-1)
    picked = p.gather(-1, (targets * counts).unsqueeze(-1)).squeeze(-1)
    return -picked.log()[counts].sum() / counts.sum().clamp(min=1)


@FORMS("label_smoothing", "Szegedy et al.", before="full")
def mixed_with_the_uniform(targets, vocab_size, smoothing):
    one_hot = functional.one_hot(targets, vocab_size).float()
    return (1 - smoothing) * one_hot + smoothing / vocab_size


@FORMS(
    "label_smoothing",
    "Annotated Transformer",
    expected="refused: divided_by_two_less & token_zero_gets_nothing",
    before="refused: divided_by_two_less & token_zero_gets_nothing (0 of 10)",
)
def without_padding_and_right_token(targets, vocab_size, smoothing):
    true = torch.full((*targets.shape, vocab_size), smoothing / (vocab_size - 2))
    true.scatter_(-1, targets.unsqueeze(-1), 1 - smoothing)
    true[..., 0] = 0
    return true.masked_fill_((targets == 0).unsqueeze(-1), 0.0)


@FORMS(
    "label_smoothing",
    "repositories",
    expected="refused: spread_over_the_others",
    before="refused: spread_over_the_others (0 of 10)",
)
def over_all_other_tokens(targets, vocab_size, smoothing):
    true = torch.full((*targets.shape, vocab_size), smoothing / (vocab_size - 1))
    return true.scatter(-1, targets.unsqueeze(-1), 1 - smoothing)


@FORMS("warmup_rate", "Vaswani et al., equation 3", before="full")
def smaller_of_both(step, d_model, warmup_steps):
    t = step + 1
    return 1 / math.sqrt(d_model) * min(1 / math.sqrt(t), t * warmup_steps**-1.5)


@FORMS(
    "warmup_rate",
    "Annotated Transformer",
    expected="refused: first_learning_rate_twice",
    before="refused: first_learning_rate_twice (0.75 of 5)",
)
def step_zero_as_one(step, d_model, warmup_steps):
    step = max(1, step)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
