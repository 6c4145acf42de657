"""Positions as numbers: sinusoids that are added, rotations of queries and keys.

Nothing here is learned; learned positions are in ``course_lib.nn.transformer``.
"""

import numpy as np

from course_lib import arguments


def sinusoidal_encoding(n: int, d_model: int, base: float = 10000.0) -> np.ndarray:
    """Compute a vector of sines and cosines for each position.

    n : number of positions, counted from 0
    d_model : length of a position's vector
    base : sets the longest wavelength, below base · 2π and near it for large d_model;
        the shortest is 2π

    Returns (n, d_model): row t holds, for i = 0, 1, …, sin(t ω_i) in column 2i and
    cos(t ω_i) in column 2i + 1, with ω_i = base ** (−2i / d_model). If d_model is odd,
    the last sine has no cosine.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.5.

    >>> sinusoidal_encoding(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    n, d_model = arguments.whole("n ≥ 0, d_model ≥ 1", n, d_model)
    base = arguments.positive("base", base)
    even = np.arange(0, d_model, 2)  # 2i
    angles = np.arange(n)[:, np.newaxis] * base ** (-even / d_model)
    encoding = np.zeros((n, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return encoding


def shift_matrix(k: int, d_model: int, base: float = 10000.0) -> np.ndarray:
    """Compute the matrix that moves every sinusoidal encoding by k positions.

    k : how many positions further; back if it is negative
    d_model : length of an encoding, even
    base : the base of the encoding

    Returns (d_model, d_model): with rows of ``sinusoidal_encoding``, row t + k is
    row t @ shift_matrix(k, d_model), for every t. If d_model is odd, an error of any
    kind is raised.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.5, states that
    there is one; its entries are the sums of angles of sine and cosine.

    >>> shift_matrix(1, 2).round(4)
    array([[ 0.5403, -0.8415],
           [ 0.8415,  0.5403]])
    """
    k, d_model = arguments.whole("k, d_model ≥ 1", k, d_model)
    base = arguments.positive("base", base)
    if d_model % 2:
        raise ValueError(f"d_model={d_model} is odd: a sine without its cosine is left")
    matrix = np.zeros((d_model, d_model))
    for column in range(0, d_model, 2):
        angle = k * base ** (-column / d_model)
        sine, cosine = np.sin(angle), np.cos(angle)
        matrix[column : column + 2, column : column + 2] = [
            [cosine, -sine],
            [sine, cosine],
        ]
    return matrix


def add_positions(x: np.ndarray, encoding: np.ndarray) -> np.ndarray:
    """Add to each token the encoding of its position.

    x : (..., n, d_model), one token per row; the first row is at position 0
    encoding : (n_positions, d_model), one position per row, n_positions at least n

    Returns (..., n, d_model): row i is token i plus the encoding of position i, in
    every sequence. x and encoding are not modified. If there are fewer positions than
    tokens, an error of any kind is raised.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.5.

    >>> add_positions(np.array([[1.0, 1.0]]), np.array([[0.0, 1.0], [0.8, 0.5]]))
    array([[1., 2.]])
    """
    x, encoding = arguments.floats(add_positions, x, encoding)
    n, n_positions = x.shape[-2], len(encoding)
    if n > n_positions:
        raise ValueError(
            f"{n} tokens are more than the {n_positions} positions of the encoding"
        )
    return x + encoding[:n]


def rotary(
    x: np.ndarray, positions: np.ndarray | list[int], base: float = 10000.0
) -> np.ndarray:
    """Rotate queries or keys by angles that grow with their positions.

    x : (..., n, d_k), one query or one key per row; d_k is even
    positions : (n,), integers of any size and sign, the position of each row
    base : as in ``sinusoidal_encoding``

    Returns (..., n, d_k): in row t of x, for i = 0, 1, …, the neighbours a and b in
    columns 2i and 2i + 1 become a cos φ − b sin φ and a sin φ + b cos φ, where
    φ = positions[t] · base ** (−2i / d_k). Then the dot product of a query and a key
    depends only on the difference of their positions. x and positions are not modified.
    If d_k is odd, an error of any kind is raised.
    Source: Su et al. (2021), RoFormer, section 3.4.2, equation 34.

    >>> rotary(np.array([[1.0, 0.0], [1.0, 0.0]]), [0, 1]).round(4)
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """
    x, positions = arguments.floats(rotary, x, positions)
    base = arguments.positive("base", base)
    d_k = x.shape[-1]
    if d_k % 2:
        raise ValueError(f"d_k={d_k} is odd: a number without a neighbour is left")
    frequencies = base ** (-np.arange(0, d_k, 2) / d_k)  # (d_k / 2,)
    angles = np.outer(positions, frequencies)  # (n, d_k / 2), float64
    # A float32 has too few digits for the angles of far positions, but not for these.
    sine, cosine = (part.astype(x.dtype) for part in (np.sin(angles), np.cos(angles)))
    first, second = x[..., 0::2], x[..., 1::2]
    rotated = [first * cosine - second * sine, first * sine + second * cosine]
    return np.stack(rotated, axis=-1).reshape(x.shape)


def stretched_frequencies(
    d_k: int,
    factor: float,
    trained: int,
    slow: float = 1.0,
    fast: float = 32.0,
    base: float = 10000.0,
) -> np.ndarray:
    """Compute rotary frequencies for texts longer than those of the training.

    d_k : length of a query and a key, even
    factor : how many times as long texts should be read, 1 or more
    trained : the length of the texts in training, in tokens
    slow : a pair that makes at most so many full turns over that length is slowed down
    fast : a pair that makes at least so many is not changed; fast is above slow
    base : as in ``rotary``

    Returns (d_k / 2,): for i = 0, 1, …, the angle by which pair i turns from one
    position to the next. In ``rotary`` that is ω = base ** (−2i / d_k), so that over
    the trained length the pair makes r = trained · ω / 2π full turns. If r is at most
    slow, the angle is ω / factor; if r is at least fast, it is ω. In between it is
    (1 − γ) · ω / factor + γ · ω, with γ = (r − slow) / (fast − slow). If d_k is odd, an
    error of any kind is raised.
    Source: Peng et al. (2023), YaRN, section 3.2; Chen et al. (2023), Extending Context
    Window of Large Language Models via Positional Interpolation, who divide all ω by
    factor.

    >>> stretched_frequencies(4, 2.0, 16, slow=0.1, fast=1.0).round(4)
    array([1.   , 0.005])
    """
    d_k, trained = arguments.whole("d_k ≥ 1, trained ≥ 1", d_k, trained)
    factor = arguments.positive("factor", factor)
    slow, fast = arguments.positive("slow", slow), arguments.positive("fast", fast)
    arguments.positive("fast − slow", fast - slow)
    base = arguments.positive("base", base)
    if d_k % 2:
        raise ValueError(f"d_k={d_k} is odd: a number without a neighbour is left")
    frequencies = base ** (-np.arange(0, d_k, 2) / d_k)  # (d_k / 2,)
    turns = trained * frequencies / (2 * np.pi)
    gamma = np.clip((turns - slow) / (fast - slow), 0.0, 1.0)
    return (1 - gamma) * frequencies / factor + gamma * frequencies
