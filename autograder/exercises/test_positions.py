"""Broken sinusoidal encodings, and weak tests that let some of them pass."""

import numpy as np

from autograder.checking.learners_tests import LearnersTest
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
    lesson="16_bug_hunt",
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


# Without these kinds of input a broken version looks right

exercise.shows_with(
    "two positions",
    lambda c: c.n > 1,
    *("position_as_a_share_of_n", "frequency_by_column", "exponent_doubled"),
    *("last_pair_reaches_base", "quotient_rounded", "base_ignored"),
    question="What are the angles at position 0, whatever the frequencies?",
)
exercise.shows_with(
    "more than two columns",
    lambda c: c.d_model > 2,
    *("sines_before_cosines", "exponent_doubled", "last_pair_reaches_base"),
    *("quotient_rounded", "base_ignored"),
    question="Which frequency has the second pair of columns?",
    weak="one_pair_of_columns",
)
exercise.shows_with(
    "an odd d_model",
    lambda c: c.d_model % 2 == 1,
    "odd_column_left_empty",
    question="What does the docstring say of an odd d_model?",
    weak="no_odd_size",
)
exercise.shows_with(
    "a base other than 10,000",
    lambda c: c.base != 10000,
    "base_ignored",
    question="How many arguments does the function have?",
    weak="no_other_base",
)
exercise.shows_with(
    "a single position (n = 1)",
    lambda c: 1 in (c.n, c.d_model),
    "axes_of_length_1_dropped",
    question="Which is the smallest n that has a row?",
    weak="no_single_position",
)


@exercise.spec
def spec(sinusoidal_encoding):
    for n, d_model, base in [(50, 6, 1e4), (7, 4, 100.0), (5, 5, 1e4), (1, 8, 1e4)]:
        right = sinusoidal_encoding_exercise.expected_function(n, d_model, base)
        encoding = sinusoidal_encoding(n, d_model, base)
        np.testing.assert_allclose(encoding, right, rtol=1e-9, atol=1e-9)


@exercise.right_answer
def one_assertion_at_the_end(sinusoidal_encoding):
    is_right = True
    for n, d_model, base in [(30, 10, 1e4), (6, 7, 1e4), (7, 6, 100.0), (1, 6, 1e4)]:
        encoding = sinusoidal_encoding(n, d_model, base)
        angles = np.arange(n)[:, np.newaxis] * base ** (
            -np.arange(0, d_model, 2) / d_model
        )
        expected = np.zeros((n, d_model))
        expected[:, 0::2] = np.sin(angles)
        expected[:, 1::2] = np.cos(angles[:, : d_model // 2])
        is_right &= encoding.shape == (n, d_model) and np.allclose(
            encoding, expected, rtol=1e-9, atol=1e-9
        )
    assert is_right, "the encoding is wrong"


exercise.weak_at_saying_no(
    "the encoding that you wrote in lesson 05",
    rejects="encoding.shape == (n, d_model) -> encoding.shape == (d_model, n)",
    of=one_assertion_at_the_end,
)
exercise.weak_at_comparing(
    """
shapes_alone:  and np.allclose(encoding, expected, rtol=1e-09, atol=1e-09) ->
rounding_is_an_error:
  | np.allclose(encoding, expected, rtol=1e-09, atol=1e-09) ->
  :     np.array_equal(encoding, expected)
""",
    of=one_assertion_at_the_end,
)
exercise.edits(
    """
first_row_alone:
  | np.allclose(encoding, expected, -> np.allclose(encoding[0], expected[0],
  Your test catches what a test catches that compares the first position alone.
  ? What are the angles at position 0, whatever the frequencies?
  # Position 0 is the one that can be computed without a calculator.
lengths_alone:
  | is_right &= … ->
  :     if d_model % 2 == 0:
  :         is_right &= np.allclose((encoding ** 2).sum(axis=-1), d_model / 2)
  Your test catches what a test catches that measures the lengths of the rows alone.
  ? How many frequencies give rows of the same length?
  # sin² + cos² = 1 is the property of the encoding that everybody knows.
one_pair_of_columns:
  | (30, 10, 10000.0) -> (30, 2, 10000.0)
  | (6, 7, 10000.0) -> (6, 1, 10000.0)
  | (7, 6, 100.0) -> (7, 2, 100.0)
  | (1, 6, 10000.0) -> (1, 2, 10000.0)
  Your test catches what a test catches that tries no more than two columns.
  ? Which frequency has the second pair of columns?
  # The smallest example has one sine and one cosine.
docstrings_example_alone:
  | (30, 10, 10000.0), (6, 7, 10000.0), (7, 6, 100.0), (1, 6, 10000.0) ->
  :     (2, 4, 10000.0)
  Your test catches what a test catches that tries the docstring's example alone.
  ? Which errors give the same numbers for two positions and four columns?
  # The example stands there already, with its numbers.
no_odd_size: , (6, 7, 10000.0) ->
  Your test catches what a test catches that tries even sizes only.
  ? What does the docstring say of an odd d_model?
  # Sizes of models are even, most of them powers of two.
no_other_base: , (7, 6, 100.0) ->
  Your test catches what a test catches that tries the base 10,000 only.
  ? How many arguments does the function have?
  # An argument with a default is easily overlooked.
no_single_position: , (1, 6, 10000.0) ->
  Your test catches what a test catches that tries no single position.
  ? Which is the smallest n that has a row?
  # Sizes of 1 look like no test at all.
""",
    of=one_assertion_at_the_end,
)
