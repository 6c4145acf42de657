import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("latent_attention")


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@answers.correct
def sums_of_products(q, latents, w_k, w_v):
    absorbed = np.einsum("hia,hca->hic", q, w_k)
    scores = np.einsum("hic,jc->hij", absorbed, latents) / np.sqrt(q.shape[-1])
    mixed = np.einsum("hij,jc->hic", softmax(scores), latents)
    return np.einsum("hic,hcd->hid", mixed, w_v), absorbed


@answers.correct
def keys_and_values_after_all(q, latents, w_k, w_v):
    """Make keys and values, too: slower, but the same."""
    keys, values = latents @ w_k, latents @ w_v
    weights = softmax(q @ keys.swapaxes(1, 2) / q.shape[-1] ** 0.5)
    return weights @ values, q @ w_k.swapaxes(1, 2)


@answers.correct
def head_by_head(q, latents, w_k, w_v):
    outputs, absorbed = [], []
    for query, own_k, own_v in zip(q, w_k, w_v, strict=True):
        absorbed.append(query @ own_k.T)
        weights = softmax(absorbed[-1] @ latents.T / query.shape[1] ** 0.5)
        outputs.append(weights @ latents @ own_v)
    return np.stack(outputs), np.stack(absorbed)


@answers.correct
def transposed_throughout(q, latents, w_k, w_v):
    absorbed = (w_k @ q.transpose(0, 2, 1)).transpose(0, 2, 1)
    weights = softmax(
        np.tensordot(absorbed, latents, axes=(2, 1)) * len(w_k[0, 0]) ** -0.5
    )
    return np.matmul(np.matmul(weights, latents), w_v), absorbed


@answers.correct
def scale_on_the_cache(q, latents, w_k, w_v):
    absorbed = q @ np.moveaxis(w_k, 1, 2)
    weights = softmax(absorbed @ (latents / q.shape[-1] ** 0.5).T)
    return weights @ (latents @ w_v), absorbed


@answers.correct
def tensors(q, latents, w_k, w_v):
    q, latents, w_k, w_v = (torch.tensor(each) for each in (q, latents, w_k, w_v))
    absorbed = q @ w_k.mT
    weights = (absorbed @ latents.T / q.shape[-1] ** 0.5).softmax(-1)
    return (weights @ latents @ w_v).numpy(), absorbed.numpy()


class Latent:
    def __call__(self, q, latents, w_k, w_v):
        return sums_of_products(q, latents, w_k, w_v)


answers.right["callable_object"] = Latent()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), head_by_head
)


@answers.also("scaled_by_root_of_d_c")
def attention_over_latents(q, latents, w_k, w_v):
    absorbed = q @ w_k.swapaxes(1, 2)
    weights = softmax(absorbed @ latents.T / np.sqrt(latents.shape[1]))
    return weights @ latents @ w_v, absorbed


@answers.also("latents_mixed_only")
def without_w_v(q, latents, w_k, w_v):
    absorbed = np.einsum("hia,hca->hic", q, w_k)
    return softmax(absorbed @ latents.T / q.shape[-1] ** 0.5) @ latents, absorbed


@answers.also("keys_in_place_of_absorbed_queries")
def keys_returned(q, latents, w_k, w_v):
    keys = np.einsum("jc,hca->hja", latents, w_k)
    return keys_and_values_after_all(q, latents, w_k, w_v)[0], keys


@answers.other
def heads_in_reverse(q, latents, w_k, w_v):
    return sums_of_products(q, latents, w_k[::-1], w_v)


@answers.other
def latents_centred(q, latents, w_k, w_v):
    return sums_of_products(q, latents - latents.mean(0), w_k, w_v)


@answers.other
def squares_of_the_weights(q, latents, w_k, w_v):
    absorbed = q @ w_k.swapaxes(1, 2)
    weights = softmax(absorbed @ latents.T / q.shape[-1] ** 0.5) ** 2
    return weights @ latents @ w_v, absorbed
