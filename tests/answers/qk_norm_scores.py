import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("qk_norm_scores")


def rms(x):
    return (np.square(x).sum(-1, keepdims=True) / x.shape[-1]) ** 0.5


@answers.correct
def root_of_the_mean(q, k, q_gain, k_gain):
    return (
        (q / rms(q) * q_gain)
        @ (k / rms(k) * k_gain).swapaxes(-1, -2)
        / q.shape[-1] ** 0.5
    )


@answers.correct
def cosines_times_root(q, k, q_gain, k_gain):
    """Both roots of d_k and the scale leave one factor."""
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return (q * q_gain * k_gain) @ k.swapaxes(-1, -2) * q.shape[-1] ** 0.5


@answers.correct
def scores_divided_afterwards(q, k, q_gain, k_gain):
    dots = np.einsum("...id,d,...jd->...ij", q, q_gain * k_gain, k)
    lengths = rms(q) * rms(k).swapaxes(-1, -2)
    return dots / lengths / np.sqrt(len(q_gain))


@answers.correct
def with_a_small_epsilon(q, k, q_gain, k_gain):
    q = q / np.sqrt((q * q).mean(-1, keepdims=True) + 1e-12)
    k = k / np.sqrt((k * k).mean(-1, keepdims=True) + 1e-12)
    return np.matmul(q * q_gain, np.moveaxis(k * k_gain, -1, -2)) / len(k_gain) ** 0.5


@answers.correct
def rows_in_a_loop(q, k, q_gain, k_gain):
    if q.ndim > 2:
        pairs = zip(q, k, strict=True)
        return np.stack([rows_in_a_loop(*pair, q_gain, k_gain) for pair in pairs])
    scores = np.empty((len(q), len(k)))
    for i, query in enumerate(q):
        for j, key in enumerate(k):
            own = query / rms(query) * q_gain
            scores[i, j] = own @ (key / rms(key) * k_gain) / len(q_gain) ** 0.5
    return scores


@answers.correct
def tensors(q, k, q_gain, k_gain):
    q, k = (torch.tensor(each, dtype=torch.float64) for each in (q, k))
    gains = [torch.tensor(gain, dtype=torch.float64) for gain in (q_gain, k_gain)]
    q, k = (
        each * each.square().mean(-1, keepdim=True).rsqrt() * gain
        for each, gain in zip((q, k), gains, strict=True)
    )
    return (q @ k.mT / q.shape[-1] ** 0.5).numpy()


class Scores:
    def __call__(self, q, k, q_gain, k_gain):
        return scores_divided_afterwards(q, k, q_gain, k_gain)


answers.right["callable_object"] = Scores()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), cosines_times_root
)


@answers.also("unit_lengths")
def lengths_of_one(q, k, q_gain, k_gain):
    q = q / np.sqrt(np.einsum("...d,...d->...", q, q))[..., None]
    k = k / np.sqrt(np.einsum("...d,...d->...", k, k))[..., None]
    return (q * q_gain) @ (k * k_gain).swapaxes(-1, -2) / q.shape[-1] ** 0.5


@answers.also("cosines")
def lengths_of_one_without_scale(q, k, q_gain, k_gain):
    """Compute the scores of Henry et al. (2020)."""
    q = q / np.linalg.norm(q, axis=-1, keepdims=True) * q_gain
    k = k / np.linalg.norm(k, axis=-1, keepdims=True) * k_gain
    return q @ k.swapaxes(-1, -2)


@answers.also("layer_norm_without_epsilon")
def variances(q, k, q_gain, k_gain):
    q, k = (
        (each - each.mean(-1, keepdims=True)) / each.var(-1, keepdims=True) ** 0.5
        for each in (q, k)
    )
    return (q * q_gain) @ (k * k_gain).swapaxes(-1, -2) / len(q_gain) ** 0.5


@answers.also("gain_before_the_norm_of_queries")
def queries_with_their_gain(q, k, q_gain, k_gain):
    q, k = q * q_gain, k / rms(k) * k_gain
    return q / rms(q) @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5


@answers.also("no_gain")
def norm_alone(q, k, q_gain, k_gain):
    return root_of_the_mean(q, k, np.ones_like(q_gain), np.ones_like(k_gain))


@answers.also("queries_only")
def keys_as_they_are(q, k, q_gain, k_gain):
    return (q / rms(q) * q_gain) @ (k * k_gain).swapaxes(-1, -2) / len(q_gain) ** 0.5


@answers.other
def gains_added(q, k, q_gain, k_gain):
    return (q / rms(q) + q_gain) @ (k / rms(k) + k_gain).swapaxes(-1, -2)


@answers.other
def largest_component_of_one(q, k, q_gain, k_gain):
    q = q / np.abs(q).max(-1, keepdims=True) * q_gain
    k = k / np.abs(k).max(-1, keepdims=True) * k_gain
    return q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5


@answers.other
def capped(q, k, q_gain, k_gain):
    return 3.0 * np.tanh(root_of_the_mean(q, k, q_gain, k_gain) / 3.0)
