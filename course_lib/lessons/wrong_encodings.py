"""Encodings of places that people write by mistake, to see what each does (lesson 05).

The right one is ``course_lib.positions.sinusoidal_encoding``. What a wrong formula
changes is in most cases the speeds alone: how many radians each hand turns per place.
"""

import numpy as np

BASE = 10000.0


def wrong_speeds(d_model: int) -> dict[str, np.ndarray]:
    """Give, by the mistake, the speeds (d_model / 2,) that come of it.

    d_model : even

    >>> [len(set(speeds)) for speeds in wrong_speeds(64).values()]
    [4, 1, 32, 32]
    """
    i = np.arange(d_model // 2)
    return {
        # Meant was / (d_model // 2): so, the finished exponent is rounded down.
        "exp(-i * log(base) / d // 2)": np.exp(-i * np.log(BASE) / d_model // 2),
        "base ** -(2 * i // d)": BASE ** -(2.0 * i // d_model),
        "base ** (-4 * i / d)": BASE ** (-4 * i / d_model),
        "base ** (2 * i / d)": BASE ** (2 * i / d_model),
    }


def encoding_of(speeds: np.ndarray, n: int) -> np.ndarray:
    """Give the encoding (n, 2 · len(speeds)) of n places with such speeds.

    >>> encoding_of(np.array([1.0]), 2).round(4)
    array([[0.    , 1.    ],
           [0.8415, 0.5403]])
    """
    angles = np.arange(n)[:, np.newaxis] * speeds  # (n, d_model / 2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, -1)


def nearest_places(encoding: np.ndarray) -> float:
    """Give the smallest distance between the encodings of two different places.

    encoding : (n, d_model), n at least 2

    >>> round(nearest_places(np.array([[0.0, 1.0], [0.0, 4.0], [0.0, 6.0]])), 4)
    2.0
    """
    squares = (encoding**2).sum(axis=-1)
    between = squares[:, np.newaxis] + squares - 2 * encoding @ encoding.T
    np.fill_diagonal(between, np.inf)
    return float(np.sqrt(max(between.min(), 0.0)))
