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


@answers.also("parameters_times_tokens")
def parameters_applied_from_the_left(x, w_q, w_k, w_v):
    return tuple(np.matmul(w, x) for w in (w_q, w_k, w_v))


@answers.also("turned_parameters_times_tokens")
def columns_of_the_parameters_from_the_left(x, w_q, w_k, w_v):
    return tuple(np.matmul(np.moveaxis(w, 0, 1), x) for w in (w_q, w_k, w_v))


@answers.also("parameters_as_linear_keeps_them")
def axes_of_the_parameters_exchanged(x, w_q, w_k, w_v):
    return tuple(np.matmul(x, np.swapaxes(w, 0, 1)) for w in (w_q, w_k, w_v))


@answers.also("tokens_in_columns")
def turned_at_the_end(x, w_q, w_k, w_v):
    return tuple(np.einsum("...nb,bc->...cn", x, w) for w in (w_q, w_k, w_v))


@answers.also("one_matrix_for_all")
def the_same_three_times(x, w_q, w_k, w_v):
    return (rows_times(x, w_q),) * 3


@answers.also("keys_made_with_w_q")
def keys_copied_from_queries(x, w_q, w_k, w_v):
    queries = rows_times(x, w_q)
    return queries, queries.copy(), rows_times(x, w_v)


@answers.also("tokens_as_values")
def values_copied_from_tokens(x, w_q, w_k, w_v):
    return rows_times(x, w_q), rows_times(x, w_k), x.copy()


@answers.also("keys_come_first")
def parameters_in_another_order(x, w_q, w_k, w_v):
    return einsum_throughout(x, w_k, w_q, w_v)


@answers.also("queries_scaled")
def w_q_scaled(x, w_q, w_k, w_v):
    return einsum_throughout(x, w_q * w_q.shape[1] ** -0.5, w_k, w_v)


@answers.also("negative_numbers_cut_off")
def positive_ones_kept(x, w_q, w_k, w_v):
    results = einsum_throughout(x, w_q, w_k, w_v)
    return tuple(np.where(result > 0, result, 0.0) for result in results)


@answers.also("tokens_normalised_first")
def layer_norm_of_pytorch(x, w_q, w_k, w_v):
    tokens = torch.tensor(x, dtype=torch.float64)
    tokens = torch.nn.functional.layer_norm(tokens, x.shape[-1:])
    return einsum_throughout(tokens.numpy(), w_q, w_k, w_v)


@answers.also("turned_for_one_sequence")
def transposed_there_and_back(x, w_q, w_k, w_v):
    turned = x.transpose()
    return tuple(np.matmul(w.T, turned).transpose() for w in (w_q, w_k, w_v))


@answers.also("batch_as_one_long_list")
def results_in_one_list(x, w_q, w_k, w_v):
    results = einsum_throughout(x, w_q, w_k, w_v)
    return tuple(result.reshape(-1, result.shape[-1]) for result in results)


@answers.also("list_of_three")
def appended(x, w_q, w_k, w_v):
    results = []
    for w in (w_q, w_k, w_v):
        results.append(rows_times(x, w))
    return results


@answers.also("cut_to_whole_numbers")
def cast_to_the_dtype_of_x(x, w_q, w_k, w_v):
    results = einsum_throughout(x, w_q, w_k, w_v)
    return tuple(result.astype(x.dtype) for result in results)


@answers.also("parameters_scaled_in_place")
def multiplied_into_itself(x, w_q, w_k, w_v):
    np.multiply(w_q, w_q.shape[1] ** -0.5, out=w_q)
    return einsum_throughout(x, w_q, w_k, w_v)


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
