"""Numerical gradients, held against derivatives that anyone can write down."""

import numpy as np

from course_lib.lessons.finite_differences import numerical_gradients


def test_gradients_of_a_polynomial():
    a, b = np.array([[1.0, -2.0, 3.0]]), np.array([0.5])
    gradients = numerical_gradients(lambda a, b: float((a**3).sum() * b[0]), [a, b])
    np.testing.assert_allclose(gradients[0], 3 * a**2 * 0.5, atol=1e-8)
    np.testing.assert_allclose(gradients[1], [1 - 8 + 27], atol=1e-8)


def test_arguments_are_not_changed_and_may_be_integers():
    a = np.array([3, -1])
    np.testing.assert_allclose(
        numerical_gradients(lambda a: float((a**2).sum()), [a])[0], [6, -2]
    )
    assert a.tolist() == [3, -1]
