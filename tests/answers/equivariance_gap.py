import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("equivariance_gap")


@answers.correct
def loop_over_rows(f, x, permutation):
    of_permuted, of_x = f(np.stack([x[i] for i in permutation])), f(x.copy())
    gaps = [
        max(map(abs, (of_permuted[i] - of_x[source]).ravel()))
        for i, source in enumerate(permutation)
    ]
    return max(gaps)


@answers.correct
def with_a_matrix(f, x, permutation):
    """Multiply by the permutation's matrix, as in f(Px) − P f(x)."""
    matrix = np.eye(len(permutation))[permutation]
    return float(np.max(np.abs(f(matrix @ x) - np.tensordot(matrix, f(x), 1))))


@answers.correct
def brought_back(f, x, permutation):
    back = np.argsort(permutation)
    return np.abs(f(x[permutation])[back] - f(x)).max()


@answers.correct
def sent_to_their_positions(f, x, permutation):
    result = f(np.take(x, permutation, axis=0))
    moved = np.empty_like(result)
    moved[permutation] = result
    return float(np.linalg.norm((moved - f(x)).ravel(), ord=np.inf))


@answers.correct
def largest_of_both_signs(f, x, permutation):
    gap = f(x[np.array(permutation)]) - f(x)[np.array(permutation)]
    return max(float(gap.max()), -float(gap.min()))


@answers.correct
def tensors_of_pytorch(f, x, permutation):
    of_permuted = torch.tensor(f(torch.tensor(x)[permutation].numpy()))
    return (of_permuted - torch.tensor(f(x))[permutation]).abs().max().item()


@answers.correct
def array_without_axes(f, x, permutation):
    return np.asarray(loop_over_rows(f, np.asfortranarray(x), permutation))


class Gap:
    def __init__(self, measure):
        self.measure = measure

    def __call__(self, f, x, permutation):
        return self.measure(f(x[permutation]) - f(x)[permutation])


answers.right["callable_object"] = Gap(lambda gap: float(abs(gap).max()))
answers.right["partial"] = functools.partial(
    lambda largest, f, x, permutation: largest(
        abs(a - b)
        for a, b in zip(
            f(x[permutation]).ravel(), f(x)[permutation].ravel(), strict=True
        )
    ),
    max,
)


def gap_of(f, x, permutation):
    return np.array([*f(x[permutation])]) - np.take(f(x), permutation, axis=0)


@answers.other
def x_set_to_zero(f, x, permutation):
    gap = float(np.abs(gap_of(f, x, permutation)).max())
    x *= 0
    return gap


@answers.other
def median_difference(f, x, permutation):
    return float(np.median(np.abs(gap_of(f, x, permutation))))


@answers.other
def compared_with_x(f, x, permutation):
    return float(np.abs(f(x[permutation]).mean(axis=0) - x.mean(axis=0)).max())
