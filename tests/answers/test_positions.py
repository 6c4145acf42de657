import cmath
import functools
import math

import numpy as np

from tests.answers import Answers

answers = Answers("test_positions")


@answers.correct
def number_by_number(sinusoidal_encoding):
    for n, d_model, base in ((1, 6, 1e4), (20, 7, 1e4), (9, 10, 50.0)):
        encoding = sinusoidal_encoding(n, d_model, base=base)
        assert encoding.shape == (n, d_model)
        for t in range(n):
            for i in range((d_model + 1) // 2):
                turned = cmath.exp(1j * t * base ** (-2 * i / d_model))
                assert abs(encoding[t, 2 * i] - turned.imag) < 1e-9
                if 2 * i + 1 < d_model:
                    assert abs(encoding[t, 2 * i + 1] - turned.real) < 1e-9


@answers.correct
def by_columns(sinusoidal_encoding):
    for n, d_model, base in ((1, 3, 1e4), (30, 9, 1e4), (12, 4, 7.0)):
        table = sinusoidal_encoding(n, d_model, base)
        right = np.empty((n, d_model))
        for c in range(d_model):
            angles = np.arange(n) / base ** (2 * (c // 2) / d_model)
            right[:, c] = np.cos(angles) if c % 2 else np.sin(angles)
        np.testing.assert_allclose(table, right, rtol=0, atol=1e-10)


answers.right["partial"] = functools.partial(
    lambda first, test: [first(test), by_columns(test)][0], number_by_number
)


@answers.also("lets_everything_pass")
def no_assertion(sinusoidal_encoding):
    np.allclose(sinusoidal_encoding(3, 4), 0.0)


@answers.other
def a_sine_and_a_cosine(sinusoidal_encoding):
    encoding = sinusoidal_encoding(3, 4)
    assert math.isclose(encoding[1, 0], math.sin(1)) and encoding[0, 3] == 1


@answers.other
def one_number_and_the_shape(sinusoidal_encoding):
    encoding = sinusoidal_encoding(3, 8)
    assert encoding.shape == (3, 8) and math.isclose(encoding[1, 0], math.sin(1))


@answers.other
def reads_a_row_that_may_be_missing(sinusoidal_encoding):
    assert sinusoidal_encoding(1, 6)[0, 5] == 1.0
