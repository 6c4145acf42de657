import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("sink_attention")


def scores_of(q, k, may_attend):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if may_attend is None:
        return scores
    return np.where(may_attend, scores, -np.inf)


@answers.correct
def one_more_column(q, k, v, sink, may_attend=None):
    scores = scores_of(q, k, may_attend)
    column = np.broadcast_to(sink[:, None, None], (*scores.shape[:2], 1))
    scores = np.concatenate([scores, column], axis=-1)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = (powers / powers.sum(-1, keepdims=True))[..., :-1]
    return weights @ v, weights


@answers.correct
def a_key_in_front(q, k, v, sink, may_attend=None):
    scores = scores_of(q, k, may_attend)
    scores = np.pad(scores, [(0, 0), (0, 0), (1, 0)])
    scores[..., 0] = sink.reshape(-1, 1)
    powers = np.exp(scores - scores.max(-1)[..., None])
    weights = powers[..., 1:] / powers.sum(-1)[..., None]
    return np.einsum("hij,hjd->hid", weights, v), weights


@answers.correct
def plain_weights_times_a_share(q, k, v, sink, may_attend=None):
    """Scale a softmax by a sigmoid, as is done after a fused kernel."""
    scores = scores_of(q, k, may_attend)
    largest = scores.max(-1, keepdims=True)
    origin = np.where(np.isinf(largest), 0.0, largest)
    powers = np.exp(scores - origin)
    total = powers.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", over="ignore"):
        log_total = origin + np.log(total)
        share = 1 / (1 + np.exp(sink[:, None, None] - log_total))
    weights = powers / np.where(total == 0, 1, total) * share
    return weights @ v, weights


@answers.correct
def head_by_head(q, k, v, sink, may_attend=None):
    weights = np.empty((*q.shape[:-1], k.shape[-2]))
    scores = scores_of(q, k, may_attend)
    for head, row in np.ndindex(*q.shape[:2]):
        own = np.append(scores[head, row], sink[head])
        powers = np.exp(own - own.max())
        weights[head, row] = powers[:-1] / powers.sum()
    return weights @ v, weights


@answers.correct
def logaddexp(q, k, v, sink, may_attend=None):
    scores = scores_of(q, k, may_attend)
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.logaddexp(total, sink[:, None, None]))
    return weights @ v, weights


@answers.correct
def tensors(q, k, v, sink, may_attend=None):
    scores = torch.tensor(scores_of(q, k, may_attend))
    column = torch.tensor(sink)[:, None, None].expand(*scores.shape[:2], 1)
    weights = torch.cat([scores, column], -1).softmax(-1)[..., :-1]
    return (weights @ torch.tensor(v)).numpy(), weights.numpy()


class Sink:
    def __call__(self, q, k, v, sink, may_attend=None):
        return logaddexp(q, k, v, sink, may_attend)


answers.right["callable_object"] = Sink()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), one_more_column
)


@answers.also("sink_ignored")
def plain(q, k, v, sink, may_attend=None):
    scores = scores_of(q, k, may_attend)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return weights @ v, weights


@answers.also("sink_score_of_0")
def softmax_plus_one(q, k, v, sink, may_attend=None):
    return logaddexp(q, k, v, 0.0 * sink, may_attend)


@answers.also("sink_returned")
def with_the_column(q, k, v, sink, may_attend=None):
    output, weights = head_by_head(q, k, v, sink, may_attend)
    return output, np.dstack([weights, 1 - weights.sum(-1)])


@answers.other
def sink_divides(q, k, v, sink, may_attend=None):
    output, weights = logaddexp(q, k, v, sink - 1e5, may_attend)
    share = 1 / (1 + np.exp(np.clip(sink, -50, 50)))[:, None, None]
    return output * share, weights * share


@answers.other
def sinks_in_reverse(q, k, v, sink, may_attend=None):
    return logaddexp(q, k, v, sink[::-1], may_attend)


@answers.other
def sink_twice(q, k, v, sink, may_attend=None):
    return logaddexp(q, k, v, sink + np.log(2.0), may_attend)
