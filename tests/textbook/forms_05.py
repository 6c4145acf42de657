"""The field's forms of the exercises of lesson 05."""

import math

import numpy as np

from tests.textbook import Forms

FORMS = Forms()


@FORMS("sinusoidal_encoding", "Keras tutorial", before="full")
def angles_for_each_column(n, d_model, base=10000.0):
    columns = np.arange(d_model)[np.newaxis, :]
    angles = np.arange(n)[:, np.newaxis] / np.power(base, 2 * (columns // 2) / d_model)
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles


@FORMS(
    "sinusoidal_encoding",
    "Annotated Transformer",
    expected="fine point open",
    before="refused: odd_size_stops (12 of 16)",
)
def div_term(n, d_model, base=10000.0):
    pe = np.zeros((n, d_model))
    position = np.arange(n)[:, None]
    term = np.exp(np.arange(0, d_model, 2) * -(math.log(base) / d_model))
    pe[:, 0::2] = np.sin(position * term)
    pe[:, 1::2] = np.cos(position * term)
    return pe


@FORMS(
    "sinusoidal_encoding",
    "Annotated Transformer",
    expected="fine point open",
    before="refused, no name (0 of 16)",
)
def div_term_in_float32(n, d_model, base=10000.0):
    pe = np.zeros((n, d_model), dtype=np.float32)
    position = np.arange(n, dtype=np.float32)[:, None]
    even = np.arange(0, d_model, 2, dtype=np.float32)
    term = np.exp(even * np.float32(-(math.log(base) / d_model)))
    pe[:, 0::2] = np.sin(position * term)
    pe[:, 1::2] = np.cos(position * term)
    return pe


@FORMS(
    "sinusoidal_encoding",
    "d2l 11.6",
    expected="fine point open",
    before="refused: odd_size_stops (12 of 16)",
)
def power_of_the_even_columns(n, d_model, base=10000.0):
    p = np.zeros((n, d_model))
    x = np.arange(n).reshape(-1, 1) / np.power(base, np.arange(0, d_model, 2) / d_model)
    p[:, 0::2], p[:, 1::2] = np.sin(x), np.cos(x)
    return p


@FORMS("sinusoidal_encoding", "NumPy write-ups", before="full")
def position_by_position(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for column in range(0, d_model, 2):
            angle = t / base ** (column / d_model)
            encoding[t, column] = math.sin(angle)
            if column + 1 < d_model:
                encoding[t, column + 1] = math.cos(angle)
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: exponent_doubled",
    before="refused: exponent_doubled (0 of 16)",
)
def loop_with_2i_doubled(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = math.sin(t / base ** (2 * i / d_model))
            if i + 1 < d_model:
                encoding[t, i + 1] = math.cos(t / base ** (2 * i / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: exponent_doubled",
    before="refused, no name (0 of 16)",
)
def loop_with_2i_doubled_that_stops(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = np.sin(t / np.power(base, (2 * i) / d_model))
            encoding[t, i + 1] = np.cos(t / np.power(base, (2 * i) / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: frequency_by_column_doubled",
    before="refused: frequency_by_column_doubled (0 of 16)",
)
def loop_over_columns_with_2i_doubled(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(d_model):
            wave = np.sin if i % 2 == 0 else np.cos
            encoding[t, i] = wave(t / base ** (2 * i / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: frequency_by_column_doubled",
    before="refused, no name (0 of 16)",
)
def loop_that_stops_at_two_of_the_next(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = np.sin(t / base ** (2 * i / d_model))
            encoding[t, i + 1] = np.cos(t / base ** (2 * (i + 1) / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "CS336 answers",
    expected="refused: power_before_the_division",
    before="refused, no name (0 of 16)",
)
def power_before_the_division(n, d_model, base=10000.0):
    angles = np.arange(n)[:, None] / (base ** np.arange(0, d_model, 2) / d_model)
    encoding = np.zeros((n, d_model))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "NumPy write-ups",
    expected="refused: frequency_by_column_doubled",
    before="refused: frequency_by_column_doubled (0 of 16)",
)
def loop_with_2i_and_2_of_the_next(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for i in range(0, d_model, 2):
            encoding[t, i] = math.sin(t / base ** (2 * i / d_model))
            if i + 1 < d_model:
                encoding[t, i + 1] = math.cos(t / base ** (2 * (i + 1) / d_model))
    return encoding


@FORMS(
    "sinusoidal_encoding",
    "tensor2tensor",
    expected="refused: sines_before_cosines",
    before="refused: sines_before_cosines (0 of 16)",
)
def halves_side_by_side(n, d_model, base=10000.0):
    angles = np.arange(n)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :d_model]


@FORMS("shift_matrix", "Su, proof by sums of angles", before="full")
def blocks_on_the_diagonal(k, d_model, base=10000.0):
    angles = k / base ** (np.arange(0, d_model, 2) / d_model)
    matrix = np.zeros((d_model, d_model))
    even, odd = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(angles)
    matrix[odd, even], matrix[even, odd] = np.sin(angles), -np.sin(angles)
    return matrix


@FORMS(
    "shift_matrix",
    "Kazemnejad, Transformer architecture",
    expected="refused: for_columns",
    before="refused: for_columns (0 of 19)",
)
def for_columns_from_the_left(k, d_model, base=10000.0):
    return blocks_on_the_diagonal(k, d_model, base).T


@FORMS(
    "add_positions",
    "Annotated Transformer",
    expected="fine point open",
    before="refused: one_position_for_all (5.25 of 6)",
)
def first_rows_of_pe(x, encoding):
    return x + encoding[: x.shape[-2]]


@FORMS(
    "add_positions",
    "Annotated Transformer",
    expected="refused: tokens_counted_on_axis_one & one_position_for_all",
    before="refused: tokens_counted_on_axis_one & one_position_for_all (2.25 of 6)",
)
def first_rows_by_axis_one(x, encoding):
    return x + encoding[: x.shape[1]]


@FORMS("add_positions", "nanoGPT", before="refused: index_error (5.25 of 6)")
def rows_taken_by_position(x, encoding):
    positions = np.arange(x.shape[-2])
    return x + encoding[positions]


@FORMS(
    "add_positions",
    "TensorFlow tutorial",
    expected="refused: tokens_scaled & one_position_for_all",
    before="refused: tokens_scaled & one_position_for_all (0 of 6)",
)
def embeddings_times_the_root(x, encoding):
    return x * np.sqrt(x.shape[-1]) + encoding[: x.shape[-2]]


@FORMS("rotary", "Su et al., equation 34", before="full")
def repeated_angles_and_turned_pairs(x, positions, base=10000.0):
    theta = base ** (-2 * np.arange(x.shape[-1] // 2) / x.shape[-1])
    angles = np.repeat(np.asarray(positions)[:, None] * theta, 2, axis=-1)
    turned = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
    return x * np.cos(angles) + turned * np.sin(angles)


@FORMS("rotary", "Llama", before="full")
def as_complex_numbers(x, positions, base=10000.0):
    d = x.shape[-1]
    freqs = 1.0 / base ** (np.arange(0, d, 2)[: d // 2] / d)
    turns = np.exp(1j * np.outer(positions, freqs))
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    z = (pairs[..., 0] + 1j * pairs[..., 1]) * turns
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


@FORMS("rotary", "Llama", before="refused, no name (0 of 28)")
def float32_and_type_as(x, positions, base=10000.0):
    d = x.shape[-1]
    freqs = 1.0 / base ** (np.arange(0, d, 2).astype(np.float32) / np.float32(d))
    angles = np.outer(positions, freqs).astype(np.float32)
    pairs = x.astype(np.float32).reshape(*x.shape[:-1], -1, 2)
    a, b, cos, sin = pairs[..., 0], pairs[..., 1], np.cos(angles), np.sin(angles)
    turned = np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
    return turned.reshape(x.shape).astype(x.dtype)


@FORMS("rotary", "GPT-J", before="refused: cut_to_whole_numbers (26.5 of 28)")
def written_into_even_and_odd(x, positions, base=10000.0):
    inverse = 1.0 / (base ** (np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    angles = np.einsum("i,j->ij", np.asarray(positions), inverse)
    sin, cos = np.sin(angles), np.cos(angles)
    rotated = np.empty_like(x)
    rotated[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    rotated[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return rotated


def rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


@FORMS(
    "rotary",
    "Hugging Face, Llama",
    expected="refused: halves_paired",
    before="refused: halves_paired (0 of 28)",
)
def halves(x, positions, base=10000.0):
    inverse = 1.0 / base ** (np.arange(0, x.shape[-1], 2) / x.shape[-1])
    freqs = np.outer(positions, inverse)
    embedded = np.concatenate([freqs, freqs], axis=-1)
    return x * np.cos(embedded) + rotate_half(x) * np.sin(embedded)


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: power_before_the_division",
    before="refused, no name (0 of 28)",
)
def power_divided_by_d(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = np.outer(positions, 1.0 / (base ** np.arange(0, d, 2) / d))
    return _turned_by(x, angles)


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: power_and_division_apart",
    before="refused, no name (0 of 28)",
)
def negative_power_before_the_division(x, positions, base=10000.0):
    d = x.shape[-1]
    return _turned_by(x, np.outer(positions, base ** -np.arange(0.0, d, 2) / d))


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: sine_missing_in_the_first",
    before="refused, no name (0 of 28)",
)
def first_column_only_scaled(x, positions, base=10000.0):
    angles = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    a, b = x[..., 0::2], x[..., 1::2]
    rotated = np.zeros(x.shape)
    rotated[..., 0::2] = a * np.cos(angles)
    rotated[..., 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return rotated


@FORMS(
    "rotary",
    "CS336 answers",
    expected="refused: second_neighbour_without_sine",
    before="refused, no name (0 of 28)",
)
def second_column_without_its_sine(x, positions, base=10000.0):
    angles = np.outer(positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * np.cos(angles) - b * np.sin(angles)
    second = a + b * np.cos(angles)
    return np.stack([first, second], axis=-1).reshape(x.shape)


def _turned_by(x, angles):
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * np.cos(angles) - b * np.sin(angles)
    second = a * np.sin(angles) + b * np.cos(angles)
    return np.stack([first, second], axis=-1).reshape(x.shape)
