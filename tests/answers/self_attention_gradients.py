import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("self_attention_gradients")


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def weights_of(x, w_q, w_k):
    return shares((x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5)


def slopes(p):
    """Return the Jacobian of each row of weights: (n, n, n)."""
    return np.einsum("ij,jl->ijl", p, np.eye(p.shape[1])) - np.einsum(
        "ij,il->ijl", p, p
    )


def from_scores(x, w_q, w_k, w_v, d_scores, d_v):
    """Finish from the derivatives by the scaled scores and by the values."""
    d_products = d_scores * w_q.shape[1] ** -0.5
    between = x.T @ d_products @ x  # (d_model, d_model): one table for both
    d_x = d_products @ x @ w_k @ w_q.T + d_products.T @ x @ w_q @ w_k.T + d_v @ w_v.T
    return d_x, between @ w_k, between.T @ w_q, x.T @ d_v


@answers.correct
def jacobians_of_the_rows(x, w_q, w_k, w_v, grad_output):
    weights = weights_of(x, w_q, w_k)
    d_weights = np.einsum("id,jd->ij", grad_output, x @ w_v)
    d_scores = np.einsum("ij,ijl->il", d_weights, slopes(weights))
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.correct
def row_sum_from_the_output(x, w_q, w_k, w_v, grad_output):
    """Compute the mean of d_weights from the output, as FlashAttention does."""
    weights, v = weights_of(x, w_q, w_k), x @ w_v
    means = (grad_output * (weights @ v)).sum(axis=-1, keepdims=True)
    d_scores = weights * (grad_output @ v.T - means)
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.correct
def one_score_at_a_time(x, w_q, w_k, w_v, grad_output):
    n, root = len(x), w_q.shape[1] ** 0.5
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    d_q, d_k, d_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for i in range(n):
        p = shares(k @ q[i] / root)
        d_p = v @ grad_output[i]
        for j in range(n):
            d_score = p[j] * (d_p[j] - p @ d_p) / root
            d_q[i] += d_score * k[j]
            d_k[j] += d_score * q[i]
            d_v[j] += p[j] * grad_output[i]
    d_x = np.zeros(x.shape)
    for d, w in ((d_q, w_q), (d_k, w_k), (d_v, w_v)):
        d_x += d @ w.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ d_v


@answers.correct
def pytorch_differentiates(x, w_q, w_k, w_v, grad_output):
    inputs = [torch.tensor(a, requires_grad=True) for a in (x, w_q, w_k, w_v)]
    tokens, queries, keys, values = inputs
    scores = (tokens @ queries) @ (tokens @ keys).T / queries.shape[1] ** 0.5
    output = torch.softmax(scores, dim=-1) @ (tokens @ values)
    derivatives = torch.autograd.grad(output, inputs, torch.tensor(grad_output))
    return tuple(part.numpy() for part in derivatives)


@answers.correct
def whole_jacobian_of_the_softmax(x, w_q, w_k, w_v, grad_output):
    """Go through the softmax of all rows at once, one matrix (n², n²)."""
    weights, n = weights_of(x, w_q, w_k), len(x)
    jacobian = np.zeros((n * n, n * n))
    for i, p in enumerate(weights):
        rows = slice(i * n, (i + 1) * n)
        jacobian[rows, rows] = np.diag(p) - np.outer(p, p)
    d_weights = grad_output @ (x @ w_v).T
    d_scores = (jacobian @ d_weights.ravel()).reshape(n, n)
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.correct
def columns_first_in_memory(x, w_q, w_k, w_v, grad_output):
    derivatives = row_sum_from_the_output(x, w_q, w_k, w_v, grad_output)
    return tuple(np.asfortranarray(part) for part in derivatives)


class Gradients:
    def __init__(self, back):
        self.back = back

    def __call__(self, x, w_q, w_k, w_v, grad_output):
        return self.back(x, w_q, w_k, w_v, grad_output)


answers.right["callable_object"] = Gradients(jacobians_of_the_rows)
answers.right["partial"] = functools.partial(
    lambda back, *inputs: back(*inputs), one_score_at_a_time
)


def split(back, x, w_q, w_k, w_v, grad_output):
    """Finish from what ``back`` makes of weights and their derivatives."""
    weights = weights_of(x, w_q, w_k)
    d_scores = back(weights, grad_output @ (x @ w_v).T)
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.also("scale_forgotten")
def root_put_back(x, w_q, w_k, w_v, grad_output):
    root = w_q.shape[1] ** 0.5
    weights, v = weights_of(x, w_q, w_k), x @ w_v
    d_scores = np.einsum("ij,ijl->il", grad_output @ v.T, slopes(weights)) * root
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.also("scaled_twice")
def divided_by_d_k(x, w_q, w_k, w_v, grad_output):
    weights, v = weights_of(x, w_q, w_k), x @ w_v
    d_scores = np.einsum("ij,ijl->il", grad_output @ v.T, slopes(weights))
    d_scores /= np.sqrt(w_q.shape[1])
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.also("diagonal_of_the_jacobian")
def diagonals_of_the_slopes(x, w_q, w_k, w_v, grad_output):
    inputs = x, w_q, w_k, w_v, grad_output
    return split(lambda p, d_p: np.einsum("ij,ijj->ij", d_p, slopes(p)), *inputs)


@answers.also("softmax_left_out")
def straight_to_the_scores(x, w_q, w_k, w_v, grad_output):
    weights = weights_of(x, w_q, w_k)
    d_scores = np.einsum("id,jd->ij", grad_output, x @ w_v)
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.also("softmax_back_along_columns")
def slopes_of_the_columns(x, w_q, w_k, w_v, grad_output):
    inputs = x, w_q, w_k, w_v, grad_output
    return split(lambda p, d_p: p * d_p - p * np.einsum("ij,ij->j", p, d_p), *inputs)


@answers.also("nothing_taken_off")
def diagonal_matrix_of_the_weights(x, w_q, w_k, w_v, grad_output):
    inputs = x, w_q, w_k, w_v, grad_output
    return split(
        lambda p, d_p: np.einsum("ij,jl,il->il", p, np.eye(len(p)), d_p), *inputs
    )


@answers.also("plain_sum_taken_off")
def row_sums_by_a_product(x, w_q, w_k, w_v, grad_output):
    inputs = x, w_q, w_k, w_v, grad_output
    return split(lambda p, d_p: p * d_p - p * (d_p @ np.ones((len(p), 1))), *inputs)


@answers.also("sum_over_the_whole_table")
def one_mean_for_all_rows(x, w_q, w_k, w_v, grad_output):
    inputs = x, w_q, w_k, w_v, grad_output
    return split(lambda p, d_p: p * d_p - p * np.einsum("ij,ij->", p, d_p), *inputs)


@answers.also("jacobians_times_the_whole_table")
def jacobian_of_a_row_times_all_rows(x, w_q, w_k, w_v, grad_output):
    weights, v = weights_of(x, w_q, w_k), x @ w_v
    d_p = grad_output @ v.T
    d_scores = np.stack([jacobian @ d_p for jacobian in slopes(weights)])
    d_products = d_scores / w_q.shape[1] ** 0.5
    d_q = np.einsum("abc,cd->abd", d_products, x @ w_k)
    d_k = np.einsum("cba,cd->abd", d_products, x @ w_q)
    d_v = weights.T @ grad_output
    d_x = d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ d_v


def terms_of_d_x(x, w_q, w_k, w_v, grad_output):
    """Return the three terms of d_x, and the other derivatives."""
    weights = weights_of(x, w_q, w_k)
    d_scores = np.einsum("ij,ijl->il", grad_output @ (x @ w_v).T, slopes(weights))
    d_products = d_scores / w_q.shape[1] ** 0.5
    terms = (
        d_products @ x @ w_k @ w_q.T,
        d_products.T @ x @ w_q @ w_k.T,
        weights.T @ grad_output @ w_v.T,
    )
    return terms, one_score_at_a_time(x, w_q, w_k, w_v, grad_output)[1:]


@answers.also("way_through_the_queries_missing")
def last_two_terms(x, w_q, w_k, w_v, grad_output):
    terms, others = terms_of_d_x(x, w_q, w_k, w_v, grad_output)
    return sum(terms[1:]), *others


@answers.also("way_through_the_keys_missing")
def first_and_last_term(x, w_q, w_k, w_v, grad_output):
    terms, others = terms_of_d_x(x, w_q, w_k, w_v, grad_output)
    return terms[0] + terms[2], *others


@answers.also("way_through_the_values_missing")
def first_two_terms(x, w_q, w_k, w_v, grad_output):
    terms, others = terms_of_d_x(x, w_q, w_k, w_v, grad_output)
    return sum(terms[:2]), *others


@answers.also("way_through_the_values_alone")
def last_term(x, w_q, w_k, w_v, grad_output):
    terms, others = terms_of_d_x(x, w_q, w_k, w_v, grad_output)
    return terms[2], *others


@answers.also("way_through_the_queries_alone")
def first_term(x, w_q, w_k, w_v, grad_output):
    terms, others = terms_of_d_x(x, w_q, w_k, w_v, grad_output)
    return terms[0], *others


@answers.also("weights_held_fixed")
def detached_weights(x, w_q, w_k, w_v, grad_output):
    tokens, values = (torch.tensor(a, requires_grad=True) for a in (x, w_v))
    output = torch.tensor(weights_of(x, w_q, w_k)) @ (tokens @ values)
    derivatives = torch.autograd.grad(
        output, [tokens, values], torch.tensor(grad_output)
    )
    d_x, d_w_v = (part.numpy() for part in derivatives)
    return d_x, np.zeros_like(w_q), np.zeros_like(w_k), d_w_v


@answers.also("queries_and_keys_exchanged")
def scores_turned_round(x, w_q, w_k, w_v, grad_output):
    weights = weights_of(x, w_q, w_k)
    d_scores = np.einsum("ij,ijl->il", grad_output @ (x @ w_v).T, slopes(weights))
    d_products = d_scores / w_q.shape[1] ** 0.5
    d_q, d_k = d_products.T @ x @ w_q, d_products @ x @ w_k
    d_x = d_q @ w_q.T + d_k @ w_k.T + weights.T @ grad_output @ w_v.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ weights.T @ grad_output


@answers.also("returned_in_another_order")
def second_and_third_exchanged(x, w_q, w_k, w_v, grad_output):
    derivatives = one_score_at_a_time(x, w_q, w_k, w_v, grad_output)
    return tuple(derivatives[index] for index in (0, 2, 1, 3))


@answers.also("scores_not_transposed_for_the_keys")
def keys_summed_row_by_row(x, w_q, w_k, w_v, grad_output):
    weights = weights_of(x, w_q, w_k)
    d_scores = np.einsum("ij,ijl->il", grad_output @ (x @ w_v).T, slopes(weights))
    d_products = d_scores / w_q.shape[1] ** 0.5
    d_q, d_k = d_products @ x @ w_k, np.einsum("ij,jd->id", d_products, x @ w_q)
    d_x = d_q @ w_q.T + d_k @ w_k.T + weights.T @ grad_output @ w_v.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ weights.T @ grad_output


@answers.also("weights_not_transposed")
def values_summed_row_by_row(x, w_q, w_k, w_v, grad_output):
    weights = weights_of(x, w_q, w_k)
    d_scores = np.einsum("ij,ijl->il", grad_output @ (x @ w_v).T, slopes(weights))
    d_v = np.einsum("ij,jd->id", weights, grad_output)
    return from_scores(x, w_q, w_k, w_v, d_scores, d_v)


@answers.also("parameters_gradients_transposed")
def derivatives_as_linear_keeps_them(x, w_q, w_k, w_v, grad_output):
    d_x, d_w_q, d_w_k, d_w_v = one_score_at_a_time(x, w_q, w_k, w_v, grad_output)
    return d_x, np.swapaxes(d_w_q, 0, 1), np.swapaxes(d_w_k, 0, 1), d_w_v.transpose()


@answers.also("grad_output_unused")
def loss_that_is_the_sum(x, w_q, w_k, w_v, grad_output):
    return one_score_at_a_time(x, w_q, w_k, w_v, 0 * grad_output + 1)


@answers.also("divided_by_the_number_of_tokens")
def mean_over_the_tokens(x, w_q, w_k, w_v, grad_output):
    d_x, *others = one_score_at_a_time(x, w_q, w_k, w_v, grad_output)
    return d_x, *[np.multiply(part, 1 / x.shape[0]) for part in others]


@answers.also("exponentials_overflow")
def unshifted_sums(x, w_q, w_k, w_v, grad_output):
    v = x @ w_v
    powers = np.exp((x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5)
    weights = powers / np.einsum("ij->i", powers)[:, None]
    d_scores = np.einsum("ij,ijl->il", grad_output @ v.T, slopes(weights))
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.also("parameters_scaled_in_place")
def multiplied_into_itself(x, w_q, w_k, w_v, grad_output):
    derivatives = one_score_at_a_time(x, w_q, w_k, w_v, grad_output)
    np.multiply(w_q, w_q.shape[1] ** -0.5, out=w_q)
    return derivatives


@answers.other
def opposite_sign(x, w_q, w_k, w_v, grad_output):
    derivatives = one_score_at_a_time(x, w_q, w_k, w_v, grad_output)
    return tuple(-part for part in derivatives)


@answers.other
def derivatives_of_one_row(x, w_q, w_k, w_v, grad_output):
    first = np.zeros_like(grad_output)
    first[0] = grad_output[0]
    return one_score_at_a_time(x, w_q, w_k, w_v, first)


@answers.other
def nothing_moves(x, w_q, w_k, w_v, grad_output):
    return tuple(np.zeros_like(part) for part in (x, w_q, w_k, w_v))


@answers.other
def unscaled_throughout(x, w_q, w_k, w_v, grad_output):
    root = w_q.shape[1] ** 0.5
    d_x, d_w_q, *others = one_score_at_a_time(x, w_q * root, w_k, w_v, grad_output)
    return d_x, d_w_q * root, *others


@answers.other
def d_output_set_to_zero(x, w_q, w_k, w_v, grad_output):
    derivatives = one_score_at_a_time(x, w_q, w_k, w_v, grad_output)
    grad_output *= 0
    return derivatives
