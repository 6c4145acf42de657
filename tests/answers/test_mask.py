import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("test_mask")


@answers.correct
def row_by_row(masked_softmax):
    rng = np.random.default_rng(3)
    for n, factor in ((1, 1), (4, 1), (4, 90_000)):
        scores = factor * rng.normal(size=(3, n, 6))
        may_attend = rng.random((3, n, 6)) < 0.4
        may_attend[1, 0] = False
        weights = masked_softmax(scores, may_attend)
        assert weights.shape == (3, n, 6)
        for b in range(3):
            for i in range(n):
                keys = [j for j in range(6) if may_attend[b, i, j]]
                top = max((scores[b, i, j] for j in keys), default=0)
                powers = {j: math.exp(scores[b, i, j] - top) for j in keys}
                for j in range(6):
                    right = powers[j] / sum(powers.values()) if j in keys else 0.0
                    assert abs(weights[b, i, j] - right) < 1e-9


@answers.correct
def torch_as_judge(masked_softmax):
    torch.manual_seed(0)
    for shape in ((9, 15, 7), (2, 1, 7)):
        for factor in (1.0, 30_000.0):
            scores = factor * torch.randn(*shape, dtype=torch.float64)
            blocked = torch.rand(*shape) < 0.5
            blocked[1, -1] = True
            lowered = scores.masked_fill(blocked, -math.inf)
            right = torch.softmax(lowered, dim=-1).nan_to_num(0.0)
            weights = masked_softmax(scores.numpy(), ~blocked.numpy())
            np.testing.assert_allclose(weights, right.numpy(), rtol=1e-9, atol=1e-12)


class Test:
    def __call__(self, masked_softmax):
        row_by_row(masked_softmax)
        return "fine"


answers.right["callable_object"] = Test()


@answers.also("lets_everything_pass")
def compares_with_itself(masked_softmax):
    scores, may_attend = np.arange(6.0).reshape(2, 3), np.tri(2, 3, dtype=bool)
    one, other = (masked_softmax(scores, may_attend) for _ in range(2))
    assert np.array_equal(one, other)


@answers.other
def one_example_by_hand(masked_softmax):
    weights = masked_softmax(
        np.array([[5.0, 9.0, 5.0]]), np.array([[True, False, True]])
    )
    assert weights.tolist() == [[0.5, 0.0, 0.5]]


@answers.other
def causal_and_between_zero_and_one(masked_softmax):
    weights = masked_softmax(np.eye(5), np.tri(5, dtype=bool))
    assert weights.min() == 0 and weights.max() == 1


@answers.other
def first_key_only(masked_softmax):
    scores = 300 * np.random.default_rng(0).normal(size=(5, 7))
    may_attend = np.tri(5, 7, dtype=bool)
    right = np.where(may_attend, np.exp(scores - np.max(scores)), 0)
    assert (
        abs(masked_softmax(scores, may_attend)[0] - right[0] / right[0].sum()).max() < 1
    )
