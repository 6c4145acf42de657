import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("test_attention")


def same(actual, expected):
    return actual.shape == expected.shape and bool(
        np.all(abs(actual - expected) < 1e-9)
    )


@answers.correct
def row_by_row(attention):
    rng = np.random.default_rng(3)
    for n, factor in ((1, 1), (4, 1), (4, 500)):
        q, k = factor * rng.normal(size=(3, n, 4)), rng.normal(size=(3, 6, 4))
        v = rng.integers(-5, 6, size=(3, 6, 5))
        output, weights = attention(q, k, v)
        assert output.shape == (3, n, 5) and weights.shape == (3, n, 6)
        for b in range(3):
            for i in range(n):
                scores = [float(q[b, i] @ key) / 2 for key in k[b]]
                powers = [math.exp(s - max(scores)) for s in scores]
                row = np.array(powers) / sum(powers)
                assert same(weights[b, i], row)
                assert same(output[b, i], row @ v[b])


@answers.correct
def torch_as_judge(attention):
    torch.manual_seed(0)
    for shape in ((2, 5), (2, 1)):
        for factor in (1.0, 1000.0):
            q = factor * torch.randn(*shape, 8, dtype=torch.float64)
            k = torch.randn(2, 7, 8, dtype=torch.float64)
            v = torch.randint(-9, 10, (2, 7, 3))
            weights = torch.softmax(q @ k.mT / 8**0.5, dim=-1)
            output = weights @ v.double()
            result = attention(q.numpy(), k.numpy(), v.numpy())
            for got, wanted in zip(result, (output, weights), strict=True):
                np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-9, atol=1e-12)


@answers.correct
def returns_true_in_the_end(attention):
    row_by_row(attention)
    return True


class Test:
    def __init__(self, seed):
        self.seed = seed

    def __call__(self, attention):
        torch_as_judge(attention)
        row_by_row(attention)


answers.right["callable_object"] = Test(1)


@answers.also("lets_everything_pass")
def prints_what_is_wrong(attention):
    try:
        row_by_row(attention)
    except AssertionError:
        print("wrong")


@answers.other
def one_example_by_hand(attention):
    q, k, v = np.eye(2), np.array([[0.0, 9.0], [9.0, 0.0]]), np.array([[10.0], [20.0]])
    output, weights = attention(q, k, v)
    assert output.argmax() == 0 and weights[0, 1] > 0.99


@answers.other
def compares_without_shapes(attention):
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(5, 4)), rng.normal(size=(7, 4)), rng.normal(size=(7, 6))
    scores = np.exp(q @ k.T / 2)
    weights = scores / scores.sum(axis=1, keepdims=True)
    output, actual = attention(q, k, v)
    assert np.abs(actual - weights).max() < 1e-9
    assert np.abs(output - weights @ v).max() < 1e-9


@answers.other
def an_attention_of_which_the_rows_sum_to_one_and_the_columns_do_not(attention):
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    output, weights = attention(q, k, v)
    assert np.allclose(weights.sum(axis=1), 1) and weights.max() > 0.5
    assert np.allclose(output, weights @ v)
