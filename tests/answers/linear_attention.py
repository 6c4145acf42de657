import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("linear_attention")


@answers.correct
def sum_over_earlier_tokens(q, k, v, state, decay=1.0):
    """Weigh values by scores, as in attention, and add what the state gives."""
    steps = np.arange(q.shape[-2])
    back = steps[:, None] - steps
    fading = np.where(back >= 0, float(decay) ** np.maximum(back, 0), 0.0)
    own = (q @ k.swapaxes(-1, -2) * fading) @ v
    earlier = (q @ state) * (float(decay) ** (steps + 1))[:, None]
    left = float(decay) ** (len(steps) - 1 - steps)
    last = (k * left[:, None]).swapaxes(-1, -2) @ v
    return own + earlier, last + state * float(decay) ** len(steps)


@answers.correct
def outer_products(q, k, v, state, decay=1.0):
    output = np.zeros(v.shape)
    for i in range(v.shape[-2]):
        new = np.einsum("...a,...b->...ab", k[..., i, :], v[..., i, :])
        state = state * decay + new
        output[..., i, :] = np.einsum("...a,...ab->...b", q[..., i, :], state)
    return output, state


@answers.correct
def one_sequence_at_a_time(q, k, v, state, decay=1.0):
    if q.ndim == 2:
        rows, state = [], state.copy()
        for query, key, value in zip(q, k, v, strict=True):
            state = decay * state + np.outer(key, value)
            rows.append(query @ state)
        return np.array(rows), state
    results = [
        one_sequence_at_a_time(*each, decay)
        for each in zip(q, k, v, state, strict=True)
    ]
    return np.stack([r[0] for r in results]), np.stack([r[1] for r in results])


@answers.correct
def all_states(q, k, v, state, decay=1.0):
    states, products = [state], k[..., :, None] * v[..., None, :]
    for i in range(q.shape[-2]):
        states.append(decay * states[-1] + products[..., i, :, :])
    stacked = np.stack(states[1:], axis=-3)
    return (q[..., None, :] @ stacked)[..., 0, :], states[-1]


@answers.correct
def transposed_state(q, k, v, state, decay=1.0):
    turned, outputs = state.swapaxes(-1, -2), []
    for i in range(q.shape[-2]):
        turned = decay * turned + v[..., i, :, None] @ k[..., i, None, :]
        outputs.append((turned @ q[..., i, :, None])[..., 0])
    return np.stack(outputs, axis=-2), turned.swapaxes(-1, -2)


@answers.correct
def tensors(q, k, v, state, decay=1.0):
    q, k, v, state = (torch.tensor(x, dtype=torch.float64) for x in (q, k, v, state))
    outputs = []
    for i in range(q.shape[-2]):
        state = decay * state + k[..., i, :].unsqueeze(-1) * v[..., i, :].unsqueeze(-2)
        outputs.append(q[..., i : i + 1, :] @ state)
    return torch.cat(outputs, dim=-2).numpy(), state.numpy()


class Linear:
    def __call__(self, q, k, v, state, decay=1.0):
        return outer_products(q, k, v, state, decay)


answers.right["callable_object"] = Linear()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), all_states
)


@answers.also("decay_after_the_sum")
def everything_fades(q, k, v, state, decay=1.0):
    output = np.zeros(v.shape)
    for i in range(v.shape[-2]):
        state = state + k[..., i, :, None] * v[..., i, None, :]
        state = state * decay
        output[..., i, :] = (q[..., i, None, :] @ state)[..., 0, :]
    return output, state


@answers.also("state_ignored")
def from_zeros(q, k, v, state, decay=1.0):
    return outer_products(q, k, v, 0.0 * state, decay)


@answers.also("query_before_the_update")
def read_then_write(q, k, v, state, decay=1.0):
    outputs = []
    for i in range(q.shape[-2]):
        outputs.append(q[..., i : i + 1, :] @ state)
        state = state * decay + k[..., i, :, None] * v[..., i, None, :]
    return np.concatenate(outputs, axis=-2), state


@answers.other
def decay_squared(q, k, v, state, decay=1.0):
    return outer_products(q, k, v, state + 1.0, decay**2)


@answers.other
def window_of_two(q, k, v, state, decay=1.0):
    steps = np.arange(q.shape[-2])
    back = steps[:, None] - steps
    near = (back >= 0) & (back < 2)
    return (q @ k.swapaxes(-1, -2) * near) @ v, state * decay


@answers.other
def mean_of_the_past(q, k, v, state, decay=1.0):
    output, last = outer_products(q, k, v, state, decay)
    return output / np.arange(1, q.shape[-2] + 1)[:, None], last
