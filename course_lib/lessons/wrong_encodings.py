"""Position encodings with a wrong formula, to see what each does (lesson 05).

The right one is ``course_lib.positions.sinusoidal_encoding``. What a wrong formula
changes is in most cases the frequencies alone: how many radians each hand turns per
position.
"""

import numpy as np

from course_lib import arguments

BASE = 10000.0


def wrong_frequencies(d_model: int) -> dict[str, np.ndarray]:
    """Compute the frequencies (d_model / 2,) of each wrong formula.

    d_model : even

    >>> [len(set(frequencies)) for frequencies in wrong_frequencies(64).values()]
    [4, 1, 32, 32]
    """
    if arguments.whole("d_model ≥ 2", d_model) % 2:
        raise ValueError(f"d_model={d_model} is odd: numbers come in pairs")
    i = np.arange(d_model // 2)
    return {
        # Intended is / (d_model // 2): as it is, the finished exponent is rounded down.
        "exp(-i * log(base) / d // 2)": np.exp(-i * np.log(BASE) / d_model // 2),
        "base ** -(2 * i // d)": BASE ** -(2.0 * i // d_model),
        "base ** (-4 * i / d)": BASE ** (-4 * i / d_model),
        "base ** (2 * i / d)": BASE ** (2 * i / d_model),
    }


def encoding_of(frequencies: np.ndarray, n: int) -> np.ndarray:
    """Compute the encoding (n, 2 · len(frequencies)) of n positions.

    >>> encoding_of(np.array([1.0]), 2).round(4)
    array([[0.    , 1.    ],
           [0.8415, 0.5403]])
    """
    frequencies = arguments.floats("frequencies (half)", frequencies)
    positions = np.arange(arguments.whole("n ≥ 0", n))
    angles = positions[:, np.newaxis] * frequencies  # (n, d_model / 2)
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return waves.reshape(n, 2 * len(frequencies))


def smallest_distance(encoding: np.ndarray) -> float:
    """Compute the smallest distance between the encodings of two positions.

    encoding : (n, d_model), n at least 2

    >>> round(smallest_distance(np.array([[0.0, 1.0], [0.0, 4.0], [0.0, 6.0]])), 4)
    2.0
    """
    encoding = arguments.floats("encoding (n, d_model)", encoding).astype(float)
    if len(encoding) < 2:
        raise ValueError(f"encoding must have at least 2 rows, got {len(encoding)}")
    rows = enumerate(encoding[:-1], start=1)
    # Differences, and not |a|² + |b|² − 2 a·b, which loses half of the digits.
    distances = [np.linalg.norm(encoding[i:] - row, axis=-1).min() for i, row in rows]
    return float(np.min(distances))
