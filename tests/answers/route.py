import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("route")


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@answers.correct
def softmax_of_the_best(logits, k):
    order = np.argsort(-logits, axis=1, kind="stable")[:, :k]
    weights = np.zeros(logits.shape)
    best = softmax(np.take_along_axis(logits, order, axis=1))
    np.put_along_axis(weights, order, best, axis=1)
    counts = np.bincount(order.ravel(), minlength=logits.shape[1])
    return weights, counts / order.size


@answers.correct
def token_by_token(logits, k):
    weights, load = np.zeros(logits.shape), np.zeros(logits.shape[1])
    for row, own in zip(logits, weights, strict=True):
        best = sorted(range(len(row)), key=lambda e: (-row[e], e))[:k]
        own[best] = softmax(row[best])
        load[best] += 1
    return weights, load / load.sum()


@answers.correct
def by_rank(logits, k):
    one, other = logits[:, :, None], logits[:, None, :]
    index = np.arange(logits.shape[1])
    ahead = (other > one) | ((other == one) & (index < index[:, None]))
    chosen = ahead.sum(-1) < k
    return softmax(np.where(chosen, logits, -np.inf)), chosen.mean(0) / k


@answers.correct
def one_after_the_other(logits, k):
    left, chosen = logits.astype(float).copy(), np.zeros(logits.shape, bool)
    for _ in range(k):
        best = left.argmax(axis=1)
        chosen[np.arange(len(left)), best] = True
        left[np.arange(len(left)), best] = -np.inf
    return softmax(np.where(chosen, logits, -np.inf)), chosen.sum(0) / (len(left) * k)


@answers.correct
def divided_among_the_chosen(logits, k):
    """Divide powers of all, from each row's maximum, by the sum of the chosen."""
    order = np.argsort(-logits, axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1, kind="stable")
    powers = np.where(rank < k, np.exp(logits - logits.max(1, keepdims=True)), 0.0)
    return powers / powers.sum(1, keepdims=True), (rank < k).sum(0) / (rank < k).sum()


@answers.correct
def tensors(logits, k):
    scores = torch.tensor(logits, dtype=torch.float64)
    order = scores.sort(dim=-1, descending=True, stable=True).indices[:, :k]
    weights = torch.zeros_like(scores)
    weights.scatter_(-1, order, scores.gather(-1, order).softmax(-1))
    load = torch.bincount(order.flatten(), minlength=scores.shape[1]) / order.numel()
    return weights.numpy(), load.double().numpy()


class Router:
    def __call__(self, logits, k):
        return softmax_of_the_best(logits, k)


answers.right["callable_object"] = Router()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), token_by_token
)


@answers.also("softmax_over_all")
def probabilities_of_the_best(logits, k):
    weights, load = softmax_of_the_best(logits, k)
    return np.where(weights > 0, softmax(logits), 0.0), load


@answers.also("load_of_weights")
def importance(logits, k):
    weights = softmax_of_the_best(logits, k)[0]
    return weights, weights.sum(0) / len(weights)


@answers.also("load_as_counts")
def counted(logits, k):
    weights, load = by_rank(logits, k)
    return weights, (load * len(logits) * k).round().astype(int)


@answers.other
def sigmoids(logits, k):
    weights, load = softmax_of_the_best(logits, k)
    gates = np.where(weights > 0, 1 / (1 + np.exp(-np.clip(logits, -50, 50))), 0.0)
    return gates, load


@answers.other
def every_expert_once(logits, k):
    weights, load = softmax_of_the_best(logits, k)
    return weights, np.full(load.shape, 1 / len(load))


@answers.other
def squares(logits, k):
    weights, load = softmax_of_the_best(logits, k)
    return weights**2 / (weights**2).sum(1, keepdims=True), load
