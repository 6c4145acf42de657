"""Cases and misconceptions of ``sinusoidal_encoding``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.positions import sinusoidal_encoding

exercise = Exercise(
    sinusoidal_encoding,
    lesson="05_positional_encoding",
    minutes=12,
    difficulty=2,
    library=("course_lib.lessons.wrong_encodings.encoding_of",),
)


@exercise.spec
def spec(n, d_model, base=10000.0):
    encoding = np.zeros((n, d_model))
    for t in range(n):
        for column in range(d_model):
            i = column // 2
            angle = t / base ** (2 * i / d_model)
            wave = math.sin if column % 2 == 0 else math.cos
            encoding[t, column] = wave(angle)
    return encoding


@exercise.usual
def usual(rng):
    return 5, 12


@exercise.case("Three positions of size 4 get these sines and cosines")
def small_example_by_hand(student, rng):
    sin, cos = math.sin, math.cos
    expected = np.array(
        [
            [0.0, 1.0, 0.0, 1.0],
            [sin(1), cos(1), sin(0.01), cos(0.01)],
            [sin(2), cos(2), sin(0.02), cos(0.02)],
        ]
    )
    student.expect(student(3, 4), expected)


@exercise.case(
    "Twelve columns hold six frequencies, each with its sine and its cosine", weight=2
)
def six_frequencies(student, rng):
    student.agrees(5, 12)
    student.agrees(12, 12)
    student.agrees(5, 2 * int(rng.integers(7, 60)))


# Not what the lengths are: the lesson asks for that after the check.
@exercise.case("The vectors of seven positions have the right lengths", weight=0.5)
def equal_lengths(student, rng):
    lengths = np.sqrt((student(7, 12) ** 2).sum(axis=1))
    what = "the length of each row"
    student.expect(lengths, np.full(7, math.sqrt(6)), what=what)


@exercise.case("With another base the frequencies are that base's")
def another_base(student, rng):
    for base in (100.0, float(rng.integers(50, 500))):
        student.agrees(5, 6, base=base)


@exercise.fine_point("An odd d_model ends with a sine that has no cosine next to it")
def odd_size(student, rng):
    student.agrees(5, 7)
    student.agrees(5, 2 * int(rng.integers(4, 40)) + 1)


@exercise.case("A position may have two numbers only, and there may be two", weight=0.5)
def smallest_sizes(student, rng):
    student.agrees(3, 2)
    student.agrees(2, 4)


@exercise.case("The last of 1000 positions follows the formula too", weight=0.5)
def far_positions(student, rng):
    student.agrees(1000, 4)


@exercise.case(
    "A single position gets zeros and ones in turn",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def single_position(student, rng):
    d_model = 2 * int(rng.integers(2, 9))
    student.expect(student(1, d_model), np.array([[0.0, 1.0] * (d_model // 2)]))


@exercise.case(
    "The dot product of two positions depends on how far apart they are, not on where",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def distances_only(student, rng):
    n, d_model = int(rng.integers(6, 12)), 2 * int(rng.integers(3, 9))
    encoding = student(n, d_model)
    products = encoding @ encoding.T
    distances = np.abs(np.arange(n)[:, None] - np.arange(n))
    student.expect(products, products[0][distances], what="the table of dot products")


exercise.edits(
    """
sines_before_cosines:
  | return np.hstack([np.sin(angles), np.cos(angles[:, :d_model // 2])])
  Your rows hold all sines first and then all cosines.
  ? Which columns does the formula give to the sines: 0, 1, 2, … or 2i?
  # tensor2tensor, fairseq and many others concatenate; a trained layer does not mind,
    but the paper's formula interleaves (tensor2tensor issues 391 and 1925).
sines_first_untrimmed: return np.hstack([np.sin(angles), np.cos(angles)])
  Your rows hold all sines first and then all cosines, and one number too many if
    d_model is odd.
  ? Which columns does the formula give to the sines, and how many of seven are left
    for the cosines?
  # Sines and cosines of the same angles are concatenated: there are as many of both
    then.
cosine_first:
  | np.sin -> np.cos
  | np.cos -> np.sin
  Your even columns hold cosines and your odd columns sines.
  ? What is the first number of position 0 in the docstring's example?
  # Circles are drawn as (cos, sin), so the pair is written in that order.
cosine_missing: np.cos -> np.sin
  Your columns all hold sines.
  ? What is the second number of position 0 in the docstring's example?
  # The line for the odd columns is copied and not changed.
sine_missing: np.sin -> np.cos
  Your columns all hold cosines.
  ? What is the first number of position 0 in the docstring's example?
  # The line for the even columns is copied and not changed.
exponent_doubled: -even -> -2 * even
  In your numbers the exponent is twice what it should be.
  ? Which of i and 2i does a loop in steps of 2 count?
  # A loop in steps of 2 already counts 2i, and the formula's 2 is applied again:
    SamLynnEvans/Transformer issue 25.
exponent_halved: -even / d_model -> -even / 2 / d_model
  In your numbers the exponent is half of what it should be.
  ? How large is the exponent of the last pair, and does your i count columns or
    pairs?
  # i counts the pairs, and the 2 of 2i is left out of the exponent.
frequency_by_column:
  | even = np.arange(d_model)
  | np.sin(angles) -> np.sin(angles[:, 0::2])
  | np.cos(angles[:, :d_model // 2]) -> np.cos(angles[:, 1::2])
  Each of your columns has a frequency of its own.
  ? How many columns share one i?
  # The exponent is taken from the column's number, without first halving it:
    BrianPulfer/PapersReimplementations issue 9.
frequency_by_column_doubled:
  | even = np.arange(d_model)
  | np.sin(angles) -> np.sin(angles[:, 0::2])
  | np.cos(angles[:, :d_model // 2]) -> np.cos(angles[:, 1::2])
  | -even -> -2 * even
  Each of your columns has a frequency of its own, with twice the column's number in
    the exponent.
  ? Which columns share one i, and what does the exponent hold for column 2?
  # arange(d_model) replaces i, and the formula's 2 stays in front of it.
quotient_rounded: -even / d_model -> -(even // d_model)
  All your pairs turn at one frequency, that of i = 0.
  ? What does // do to a quotient between 0 and 1?
  # 2 * i // d_model is 0 for every i; in Python 2 the plain / did the same.
negative_quotient_rounded: -even / d_model -> -even // d_model
  Your pairs behind the first all turn at one frequency, 1 / base.
  ? What does // make of a quotient between −1 and 0?
  # // is typed for /, behind a minus that binds more tightly.
logarithm_rounded:
  | base ** (-even / d_model) -> np.exp(even * (-np.log(base) / d_model // 2))
  Your frequencies are e to the power of integers.
  ? In which order does Python work through a / b // c, and what is left after //?
  # -log(base) / d_model // 2 is typed for a division by half of d_model.
power_multiplied: -even -> even
  Your later pairs turn faster than the first.
  ? Which pair should turn slowest, the first or the last?
  # The minus of the exponent is lost between 1 / 10000^(2i/d) and its product.
pairs_counted_from_one: -even -> -(even + 2)
  Your pair i has the frequency that pair i + 1 should have.
  ? By how much should the first pair turn from one position to the next?
  # i is counted from 1, as formulas often do.
power_before_the_division: base ** (-even / d_model) -> d_model / base ** even
  Your frequencies are d_model / base ** 2i: the base gets its power first, and is
    divided by d_model then.
  ? Which comes first in Python, ** or /, and what do brackets change?
  # base ** i / d has no brackets round i / d, and reads like the formula.
power_and_division_apart: base ** (-even / d_model) -> base ** -even / d_model
  Your frequencies are base ** −2i, divided by d_model: only the 2i is in the
    exponent.
  # base ** -i / d has no brackets round i / d, and reads like the formula.
last_pair_reaches_base: -even / d_model -> -even / max(even[-1], 1)
  Your slowest pair has the wavelength base · 2π exactly.
  ? By which number does the formula divide 2i?
  # tensor2tensor spaces its timescales by log(base) / (d_model / 2 − 1), so that the
    last one is base; the paper divides by d_model.
slowest_first: -even -> -even[::-1]
  Your frequencies are in the opposite order: the first pair turns slowest.
  ? Which pair should turn slowest, the first or the last?
  # The powers of the base are laid out from the other end.
divided_by_the_base_once: base ** (-even / d_model) -> even / d_model / base
  Your frequencies are 2i / d_model, divided by the base.
  ? What does the formula do with 2i / d_model: is it a factor or an exponent?
  # 10000^(2i/d) loses its ^ when it is typed.
base_ignored: base ** -> 10000.0 **
  Your numbers are those of base 10000, whatever base is given.
  ? Which argument sets the frequencies?
  # The paper's 10000 is copied as a constant.
counted_from_one: np.arange(n) -> np.arange(1, n + 1)
  Your first row is the encoding of position 1.
  ? Which number does the first position have here?
  # Positions are counted from 1 in some libraries, where 0 stands for padding.
position_as_a_share_of_n: np.arange(n)[:, np.newaxis] -> np.arange(n)[:, np.newaxis] / n
  Your positions are divided by n.
  ? Does the encoding of position 1 change if the sequence gets longer?
  # np.linspace, or positions between 0 and 1, keep numbers small.
degrees: angles = np.radians(np.arange(n)[:, np.newaxis] * base ** (-even / d_model))
  Your angles count as degrees.
  ? In which unit do np.sin and np.cos take an angle?
  # Angles are thought of in degrees, and converted.
one_row_too_many:
  | np.arange(n) -> np.arange(n + 1)
  | (n, d_model) -> (n + 1, d_model)
  Your encoding has n + 1 rows.
  ? Which is the last of n positions, if the first is 0?
  # range(n + 1) is written so that position n is there.
one_row_too_few:
  | np.arange(n) -> np.arange(n - 1)
  | (n, d_model) -> (n - 1, d_model)
  Your encoding has n − 1 rows.
  ? How many positions are 0 … n − 1?
  # range(n - 1) is written since positions are counted from 0.
positions_across: return encoding.T
  Your encoding has a column for each position.
  ? Which shape does the docstring promise?
  # The positions are made a row and the frequencies a column.
rows_of_length_one: return encoding / np.linalg.norm(encoding, axis=-1, keepdims=True)
  Your rows are divided by their lengths.
  ? How long is the vector of a position, by the formula?
  # Vectors of length 1 are tidy, and cosine similarity asks for them.
odd_size_stops: np.cos(angles[:, :d_model // 2]) -> np.cos(angles)
  At an odd d_model, from 3 on, your function stops: there are more cosines than
    columns for them.
  ? How many even and how many odd columns are there among seven?
  # pe[:, 1::2] = cos(angles), as in PyTorch's tutorial: codertimo/BERT-pytorch issue
    78 and many more.
odd_size_stops_at_the_sines: np.sin(angles) -> np.sin(angles[:, :d_model // 2])
  At an odd d_model your function stops: there are fewer sines than columns for them.
  # arange(d_model // 2) counts whole pairs, and the last sine has none.
odd_column_left_empty:
  | 0::2] = np.sin(angles) -> 0:d_model - 1:2] = np.sin(angles[:, :d_model // 2])
  Your last column is all zeros if d_model is odd.
  ? How many columns do d_model // 2 pairs have, and which column is then left?
  # A loop over d_model // 2 pairs leaves the last column of np.zeros as it was.
odd_column_missing: return encoding[:, :d_model - d_model % 2]
  Your rows are one number short if d_model is odd.
  ? How many columns do d_model // 2 pairs have?
  # Pairs are stacked and flattened, and d_model // 2 pairs are one column short.
odd_column_too_many:
  | (n, d_model) -> (n, 2 * len(even))
  | np.cos(angles[:, :d_model // 2]) -> np.cos(angles)
  Your rows are one number too long if d_model is odd.
  ? Which of the last pair's two numbers does the docstring leave out?
  # Pairs are stacked and flattened, and the last cosine comes along.
""",
)

exercise.family(families.squeezed(), families.as_list())

exercise.threes_of(
    "odd_size_stops", "exponent_doubled", "counted_from_one", "base_ignored"
)
