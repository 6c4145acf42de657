import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("shift_matrix")


def refuse_odd(d_model):
    if d_model % 2 != 0:
        raise ValueError("d_model must be even")


def turn(angle):
    return np.array(
        [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    )


def by_blocks(d_model, block):
    """Put block(i), a 2 × 2 matrix, where pair i belongs."""
    refuse_odd(d_model)
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block(i)
    return matrix


@answers.correct
def loop_over_pairs(k, d_model, base=10000.0):
    return by_blocks(d_model, lambda i: turn(k / base ** (2 * i / d_model)))


@answers.correct
def kronecker_products(k, d_model, base=10000.0):
    refuse_odd(d_model)
    angles = k * np.exp(-math.log(base) * np.arange(0, d_model, 2) / d_model)
    swap = np.array([[0.0, -1.0], [1.0, 0.0]])
    cosines, sines = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    return np.kron(cosines, np.eye(2)) + np.kron(sines, swap)


@answers.correct
def diagonals(k, d_model, base=10000.0):
    refuse_odd(d_model)
    columns = np.arange(d_model)
    angles = k / base ** ((columns - columns % 2) / d_model)
    beside = np.sin(angles[:-1]) * (columns[:-1] % 2 == 0)
    return np.diag(np.cos(angles)) + np.diag(beside, -1) - np.diag(beside, 1)


@answers.correct
def power_of_one_position(k, d_model, base=10000.0):
    one = by_blocks(d_model, lambda i: turn(base ** (-2 * i / d_model)))
    return np.linalg.matrix_power(one, k)


@answers.correct
def complex_numbers(k, d_model, base=10000.0):
    refuse_odd(d_model)
    turned = np.exp(1j * k * base ** (-np.arange(0, d_model, 2) / d_model))
    matrix = np.zeros((d_model // 2, 2, d_model // 2, 2))
    pair = np.arange(d_model // 2)
    matrix[pair, 0, pair, 0] = matrix[pair, 1, pair, 1] = turned.real
    matrix[pair, 0, pair, 1], matrix[pair, 1, pair, 0] = -turned.imag, turned.imag
    return matrix.reshape(d_model, d_model)


@answers.correct
def in_pytorch(k, d_model, base=10000.0):
    if d_model % 2:
        raise ValueError(d_model)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = k * torch.pow(torch.tensor(base, dtype=torch.float64), -even / d_model)
    rows = [torch.stack([a.cos(), -a.sin(), a.sin(), a.cos()]) for a in angles]
    return torch.block_diag(*(row.reshape(2, 2) for row in rows)).numpy()


@answers.correct
def transposed_for_the_other_way(k, d_model, base=10000.0):
    return loop_over_pairs(-k, d_model, base).T


@answers.correct
def what_it_does_to_unit_rows(k, d_model, base=10000.0):
    """Turn each unit row by hand: row c of a matrix is what becomes of unit row c."""
    if d_model % 2 == 1:
        raise ValueError
    matrix = np.eye(d_model)
    for row in matrix:
        for i in range(d_model // 2):
            hand = complex(row[2 * i + 1], row[2 * i])
            angle = k / base ** (2 * i / d_model)
            hand *= complex(math.cos(angle), math.sin(angle))
            row[2 * i : 2 * i + 2] = hand.imag, hand.real
    return matrix


class OddSize(ValueError):
    pass


class Shift:
    def __init__(self, kind):
        self.kind = kind

    def __call__(self, k, d_model, base=10000.0):
        if d_model % 2:
            raise self.kind("odd")
        return np.asfortranarray(kronecker_products(k, d_model, base))


answers.right["callable_object"] = Shift(OddSize)
answers.right["partial"] = functools.partial(
    lambda sign, k, d_model, base=10000.0: loop_over_pairs(sign * k, d_model, base), 1
)


@answers.also("negative_k_does_nothing")
def multiplied_in_a_loop(k, d_model, base=10000.0):
    one = loop_over_pairs(1, d_model, base)
    matrix = np.eye(d_model)
    for _ in range(k):
        matrix = matrix @ one
    return matrix


@answers.correct
def other_error_for_odd(k, d_model, base=10000.0):
    if d_model % 2:
        raise RuntimeError("odd")
    return loop_over_pairs(k, d_model, base)


@answers.other
def first_pair_left_alone(k, d_model, base=10000.0):
    matrix = loop_over_pairs(k, d_model, base)
    matrix[:2, :2] = np.eye(2)
    return matrix


@answers.other
def half_of_k(k, d_model, base=10000.0):
    return loop_over_pairs(k / 2, d_model, base)


@answers.other
def twice_the_matrix(k, d_model, base=10000.0):
    return 2 * loop_over_pairs(k, d_model, base)
