"""What is measured of computations: time, memory, exponents, crossings."""

import time

import numpy as np
import pytest
import torch

from course_lib.lessons.measuring import (
    crossover,
    fitted_exponent,
    numpy_peak,
    processor_seconds,
    torch_peak,
)


def test_fast_calls_are_repeated():
    calls = []
    seconds = processor_seconds(lambda: calls.append(None), n_repeats=2, at_least=0.001)
    assert len(calls) > 20 and 0 < seconds < 0.001


def test_waiting_is_not_counted():
    seconds = processor_seconds(lambda: time.sleep(0.05), n_repeats=1, at_least=0.0)
    assert seconds < 0.01


def test_numpy_peak_is_the_most_at_once():
    held = np.ones(10**6)  # there before: not counted

    def call():
        first = held + 1  # 8 MB
        second = first * 2  # 8 MB more
        del first
        return second.sum()

    assert 16e6 <= numpy_peak(call) < 16.2e6
    assert numpy_peak(lambda: held.sum()) < 1e5


def test_torch_peak_is_the_most_at_once():
    held = torch.ones(10**6)

    def call():
        first = held + 1  # 4 MB
        second = first * 2  # 4 MB more
        del first
        return (second * 3).sum()  # again two at once

    assert 8e6 <= torch_peak(call) < 8.2e6


def test_exponent_is_that_of_a_power():
    n = np.array([10, 100, 1000])
    assert fitted_exponent(n, 7.0 * n**1.5) == pytest.approx(1.5)


def test_crossover_is_where_a_curve_stays_above():
    n = [1, 2, 4, 8]
    assert crossover(n, [1, 2, 4, 8], [4, 4, 4, 4]) == pytest.approx(4)
    assert crossover(n, [5, 2, 4, 8], [4, 4, 4, 4]) == pytest.approx(4)
    assert crossover(n, [5, 6, 7, 8], [4, 4, 4, 4]) == 1
    assert crossover(n, [1, 1, 1, 1], [4, 4, 4, 4]) is None
