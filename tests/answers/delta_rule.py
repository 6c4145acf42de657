import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("delta_rule")


@answers.correct
def erased_then_written(q, k, v, state, strengths):
    """Remove what was stored for the key, then add the value."""
    output = np.zeros(v.shape)
    for i in range(v.shape[-2]):
        key, strength = k[..., i, :, None], strengths[..., i, None, None]
        others = np.eye(k.shape[-1]) - strength * key @ key.swapaxes(-1, -2)
        state = others @ state + strength * key * v[..., i, None, :]
        output[..., i, :] = (q[..., i, None, :] @ state)[..., 0, :]
    return output, state


@answers.correct
def mixed_values(q, k, v, state, strengths):
    output = []
    for i in range(v.shape[-2]):
        strength = strengths[..., i, None]
        old = np.einsum("...a,...ab->...b", k[..., i, :], state)
        new = (1 - strength) * old + strength * v[..., i, :]
        state = state + np.einsum("...a,...b->...ab", k[..., i, :], new - old)
        output.append(np.einsum("...a,...ab->...b", q[..., i, :], state))
    return np.stack(output, axis=-2), state


@answers.correct
def one_sequence_at_a_time(q, k, v, state, strengths):
    if q.ndim == 2:
        rows = []
        for query, key, value, strength in zip(q, k, v, strengths, strict=True):
            state = state + strength * np.outer(key, value - key @ state)
            rows.append(query @ state)
        return np.array(rows), state
    results = [
        one_sequence_at_a_time(*each)
        for each in zip(q, k, v, state, strengths, strict=True)
    ]
    return np.stack([r[0] for r in results]), np.stack([r[1] for r in results])


@answers.correct
def step_down_a_gradient(q, k, v, state, strengths):
    """Follow the gradient of half the squared error."""
    outputs = []
    for i in range(q.shape[-2]):
        key = k[..., i : i + 1, :]
        gradient = key.swapaxes(-1, -2) @ (key @ state - v[..., i : i + 1, :])
        state = state - strengths[..., i][..., None, None] * gradient
        outputs.append(q[..., i : i + 1, :] @ state)
    return np.concatenate(outputs, axis=-2), state


@answers.correct
def transposed_state(q, k, v, state, strengths):
    turned, outputs = state.swapaxes(-1, -2), []
    for i in range(q.shape[-2]):
        key = k[..., i, :, None]
        error = v[..., i, :, None] - turned @ key
        turned = turned + strengths[..., i, None, None] * error * key.swapaxes(-1, -2)
        outputs.append((turned @ q[..., i, :, None])[..., 0])
    return np.stack(outputs, axis=-2), turned.swapaxes(-1, -2)


@answers.correct
def tensors(q, k, v, state, strengths):
    q, k, v, state = (torch.tensor(x, dtype=torch.float64) for x in (q, k, v, state))
    strengths, outputs = torch.tensor(strengths, dtype=torch.float64), []
    for i in range(q.shape[-2]):
        key = k[..., i : i + 1, :]
        error = v[..., i : i + 1, :] - key @ state
        state = state + strengths[..., i, None, None] * key.mT @ error
        outputs.append(q[..., i : i + 1, :] @ state)
    return torch.cat(outputs, dim=-2).numpy(), state.numpy()


class Delta:
    def __call__(self, q, k, v, state, strengths):
        return erased_then_written(q, k, v, state, strengths)


answers.right["callable_object"] = Delta()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), mixed_values
)


@answers.also("value_added")
def linear(q, k, v, state, strengths):
    outputs = []
    for i in range(q.shape[-2]):
        new = k[..., i, :, None] * v[..., i, None, :]
        state = state + strengths[..., i, None, None] * new
        outputs.append(q[..., i : i + 1, :] @ state)
    return np.concatenate(outputs, axis=-2), state


@answers.also("state_ignored")
def from_zeros(q, k, v, state, strengths):
    return mixed_values(q, k, v, np.zeros(state.shape), strengths)


@answers.also("strength_ignored")
def replaced(q, k, v, state, strengths):
    return erased_then_written(q, k, v, state, np.ones(strengths.shape))


@answers.other
def sign_of_the_error(q, k, v, state, strengths):
    outputs = []
    for i in range(q.shape[-2]):
        key = k[..., i : i + 1, :]
        error = np.sign(v[..., i : i + 1, :] - key @ state)
        state = state + strengths[..., i, None, None] * key.swapaxes(-1, -2) @ error
        outputs.append(q[..., i : i + 1, :] @ state)
    return np.concatenate(outputs, axis=-2), state


@answers.other
def strengths_in_reverse(q, k, v, state, strengths):
    return mixed_values(q, k, v, state, 1 - strengths[..., ::-1])


@answers.other
def half_of_the_state_kept(q, k, v, state, strengths):
    return mixed_values(q, k, v, state / 2, strengths)
