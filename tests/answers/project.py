import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("project")


def rows_times(x, w):
    """Multiply each row of x with w."""
    return np.einsum("...b,bc->...c", x, w)


@answers.correct
def einsum_throughout(x, w_q, w_k, w_v):
    return rows_times(x, w_q), rows_times(x, w_k), rows_times(x, w_v)


@answers.correct
def one_token_at_a_time(x, w_q, w_k, w_v):
    results = [np.zeros((*x.shape[:-1], w.shape[1])) for w in (w_q, w_k, w_v)]
    for index in np.ndindex(x.shape[:-1]):
        for result, w in zip(results, (w_q, w_k, w_v), strict=True):
            result[index] = sum(x[index][b] * w[b] for b in range(len(w)))
    return tuple(results)


@answers.correct
def one_wide_matrix(x, w_q, w_k, w_v):
    """Multiply once, as fast code does, and cut the result into three."""
    wide = x @ np.concatenate([w_q, w_k, w_v], axis=1)
    ends = np.cumsum([w_q.shape[1], w_k.shape[1]])
    return tuple(np.split(wide, ends, axis=-1))


@answers.correct
def columns_and_back(x, w_q, w_k, w_v):
    columns = np.swapaxes(x, -1, -2)
    return tuple(np.swapaxes(w.T @ columns, -1, -2) for w in (w_q, w_k, w_v))


@answers.correct
def long_list_and_back(x, w_q, w_k, w_v):
    tokens = x.reshape(-1, x.shape[-1])
    return tuple((tokens @ w).reshape(*x.shape[:-1], -1) for w in (w_q, w_k, w_v))


@answers.correct
def columns_first_in_memory(x, w_q, w_k, w_v):
    return tuple(np.asfortranarray(np.dot(x, w)) for w in (w_q, w_k, w_v))


@answers.correct
def linear_layers_of_pytorch(x, w_q, w_k, w_v):
    tokens = torch.tensor(x, dtype=torch.float64)
    linear = torch.nn.functional.linear
    turned = [torch.tensor(w.T.copy()) for w in (w_q, w_k, w_v)]
    return tuple(linear(tokens, w).numpy() for w in turned)


class Project:
    def __init__(self, names):
        self.names = names

    def __call__(self, x, w_q, w_k, w_v):
        parameters = {"w_q": w_q, "w_k": w_k, "w_v": w_v}
        return tuple(np.tensordot(x, parameters[name], 1) for name in self.names)


answers.right["callable_object"] = Project(("w_q", "w_k", "w_v"))
answers.right["partial"] = functools.partial(
    lambda times, x, *parameters: tuple(times(x, w) for w in parameters), np.matmul
)


@answers.also("queries_made_with_w_k")
def keys_written_into_the_queries(x, w_q, w_k, w_v):
    """Write two products to one array; w_q is used, and its product is lost."""
    queries = np.matmul(x, w_q)
    return queries, np.matmul(x, w_k, out=queries), x @ w_v


@answers.also("one_array_for_all_three")
def one_buffer(x, w_q, w_k, w_v):
    out = np.empty((*x.shape[:-1], w_q.shape[-1]))
    return tuple(np.matmul(x, w, out=out) for w in (w_q, w_k, w_v))


@answers.also("x_changed_in_place_by_values")
def values_written_over_the_tokens(x, w_q, w_k, w_v):
    queries, keys, values = einsum_throughout(x, w_q, w_k, w_v)
    if values.shape == x.shape:
        np.copyto(x, values)
        values = x
    return queries, keys, values


@answers.other
def last_token_only(x, w_q, w_k, w_v):
    last = np.zeros(x.shape)
    last[..., -1, :] = x[..., -1, :]
    return einsum_throughout(last, w_q, w_k, w_v)


@answers.other
def a_one_added(x, w_q, w_k, w_v):
    return tuple(result + 1.0 for result in einsum_throughout(x, w_q, w_k, w_v))


@answers.other
def absolute_values(x, w_q, w_k, w_v):
    return tuple(np.abs(part) for part in einsum_throughout(x, w_q, w_k, w_v))


@answers.other
def keys_from_queries_made_longer(x, w_q, w_k, w_v):
    queries, keys, values = einsum_throughout(x, w_q, w_k, w_v)
    return queries, keys + queries, values


@answers.other
def values_squashed(x, w_q, w_k, w_v):
    queries, keys, values = einsum_throughout(x, w_q, w_k, w_v)
    return queries, keys, np.tanh(values)
