"""Broken sinusoidal encodings, and weak tests that let some of them pass."""

import numpy as np

from autograder.checking.learners_tests import LearnersTest, differ, say
from autograder.exercises.sinusoidal_encoding import (
    exercise as sinusoidal_encoding_exercise,
)
from course_lib import tests_of_parts


def with_complex_numbers(n, d_model, base=10000.0):
    frequencies = np.exp(-np.log(base) * np.arange(0, d_model, 2) / d_model)
    turned = np.exp(1j * np.outer(np.arange(n), frequencies))
    pairs = np.stack([turned.imag, turned.real], axis=-1)
    return pairs.reshape(n, 2 * len(frequencies))[:, :d_model]


def all_sines(n, d_model, base=10000.0):
    # A cosine is a sine a quarter of a turn further on.
    columns = np.arange(d_model)
    angles = np.arange(n)[:, np.newaxis] / base ** ((columns - columns % 2) / d_model)
    return np.sin(angles + columns % 2 * np.pi / 2)


exercise = LearnersTest(
    tests_of_parts.test_positions,
    lesson="15_bug_hunt",
    minutes=15,
    difficulty=2,
    right={
        "as in lesson 05": sinusoidal_encoding_exercise.reference,
        "computed with loops": sinusoidal_encoding_exercise.expected_function,
        "with complex numbers": with_complex_numbers,
        "with sines alone": all_sines,
    },
)
exercise.catches_of(
    sinusoidal_encoding_exercise,
    {
        "sines_before_cosines": "Columns with all sines before all cosines are caught",
        "cosine_first": "Cosines in the even columns are caught",
        "exponent_doubled": "An exponent that is twice what it should be is caught",
        "counted_from_one": "Positions that are counted from 1 are caught",
        "frequency_by_column": "A frequency of its own for each column is caught",
        "odd_column_left_empty": "A last column of zeros if d_model is odd is caught",
    },
)
exercise.catches_of(
    sinusoidal_encoding_exercise,
    {
        "last_pair_reaches_base": "A slowest pair with the wavelength base · 2π is "
        "caught",
        "base_ignored": "A base that is ignored is caught",
        "quotient_rounded": "An exponent that is rounded down is caught",
        "position_as_a_share_of_n": "Positions as shares of n are caught",
        "axes_of_length_1_dropped": "An axis lost with a single position is caught",
    },
    visible=False,
)


@exercise.spec
def spec(sinusoidal_encoding):
    for n, d_model, base in [(50, 6, 1e4), (7, 4, 100.0), (5, 5, 1e4), (1, 8, 1e4)]:
        right = sinusoidal_encoding_exercise.expected_function(n, d_model, base)
        encoding = sinusoidal_encoding(n, d_model, base)
        np.testing.assert_allclose(encoding, right, rtol=1e-9, atol=1e-9)


@exercise.variants
def variants(
    sinusoidal_encoding,
    *,
    compared="values",
    sizes="all",
    odd_size="yes",
    other_base="yes",
    single_position="yes",
    tolerance=1e-9,
    says_no="by an assertion",
):
    calls, wrong = [(30, 10)], False
    calls += [(6, 7)] if odd_size == "yes" else []
    calls += [(7, 6, 100.0)] if other_base == "yes" else []
    calls += [(1, 6)] if single_position == "yes" else []
    calls = {"one pair": [(30, 2), (7, 2, 100.0), (6, 1), (1, 2)]}.get(sizes, calls)
    calls = [(2, 4)] if sizes == "the docstring's" else calls
    for call in calls:
        encoding = sinusoidal_encoding(*call)
        expected = sinusoidal_encoding_exercise.reference(*call)
        if compared == "shapes":
            wrong |= encoding.shape != expected.shape
        elif compared == "range":
            wrong |= bool(np.any(np.abs(encoding) > 1))
        elif compared == "first row":
            wrong |= differ(encoding[0], expected[0])
        elif compared == "lengths":
            lengths = (encoding**2).sum(axis=-1)
            wrong |= call[1] % 2 == 0 and not np.allclose(lengths, call[1] / 2)
        elif compared == "different":
            rows = {tuple(np.ravel(row).round(6)) for row in encoding}
            wrong |= len(rows) != len(encoding)
        elif tolerance == "==":
            wrong |= not np.array_equal(encoding, expected)
        else:
            wrong |= differ(encoding, expected, tolerance)
    return say(wrong, says_no)


exercise.weak_at_saying_no("the encoding that you wrote in lesson 05")
exercise.weak_at_comparing()
exercise.weak(
    "first_row_alone",
    "that compares the first position alone",
    "What are the angles at position 0, whatever the frequencies?",
    why="Position 0 is the one that can be computed without a calculator.",
    compared="first row",
)
exercise.weak(
    "lengths_alone",
    "that measures the lengths of the rows alone",
    "How many frequencies give rows of the same length?",
    why="sin² + cos² = 1 is the property of the encoding that everybody knows.",
    compared="lengths",
)
exercise.weak(
    "one_pair_of_columns",
    "that tries no more than two columns",
    "Which frequency has the second pair of columns?",
    why="The smallest example has one sine and one cosine.",
    sizes="one pair",
)
exercise.weak(
    "docstrings_example_alone",
    "that tries the docstring's example alone",
    "Which errors give the same numbers for two positions and four columns?",
    why="The example stands there already, with its numbers.",
    sizes="the docstring's",
)
exercise.weak(
    "no_odd_size",
    "that tries even sizes only",
    "What does the docstring say of an odd d_model?",
    why="Sizes of models are even, most of them powers of two.",
    odd_size="no",
)
exercise.weak(
    "no_other_base",
    "that tries the base 10,000 only",
    "How many arguments does the function have?",
    why="An argument with a default is easily overlooked.",
    other_base="no",
)
exercise.weak(
    "no_single_position",
    "that tries no single position",
    "Which is the smallest n that has a row?",
    why="Sizes of 1 look like no test at all.",
    single_position="no",
)
