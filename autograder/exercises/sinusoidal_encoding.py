"""Cases and misconceptions of ``sinusoidal_encoding``."""

import math

import numpy as np

from autograder import Exercise
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


@exercise.case("Twelve columns hold six frequencies, each with its sine and its cosine")
def six_frequencies(student, rng):
    student.agrees(5, 12)
    student.agrees(5, 2 * int(rng.integers(7, 60)))


@exercise.case("Every position's vector has the same length, the root of d_model / 2")
def equal_lengths(student, rng):
    lengths = np.sqrt((student(7, 12) ** 2).sum(axis=1))
    what = "the length of each row"
    student.expect(lengths, np.full(7, math.sqrt(6)), what=what)


@exercise.case("With another base the frequencies are that base's")
def another_base(student, rng):
    for base in (100.0, float(rng.integers(50, 500))):
        student.agrees(5, 6, base=base)


@exercise.case("An odd d_model ends with a sine that has no cosine beside it")
def odd_size(student, rng):
    student.agrees(5, 7)
    student.agrees(5, 2 * int(rng.integers(4, 40)) + 1)


@exercise.case("The last of 1000 positions is as exact as the first")
def far_positions(student, rng):
    student.agrees(1000, 4)


@exercise.case(
    "A single position gets zeros and ones in turn", visible=False, pays_alone=False
)
def single_position(student, rng):
    d_model = 2 * int(rng.integers(2, 9))
    student.expect(student(1, d_model), np.array([[0.0, 1.0] * (d_model // 2)]))


@exercise.case(
    "The dot product of two positions depends on how far apart they are, not on where",
    visible=False,
    pays_alone=False,
)
def distances_only(student, rng):
    n, d_model = int(rng.integers(6, 12)), 2 * int(rng.integers(3, 9))
    encoding = student(n, d_model)
    products = encoding @ encoding.T
    distances = np.abs(np.arange(n)[:, None] - np.arange(n))
    student.expect(products, products[0][distances], what="the table of dot products")


def frequencies(d_model, base):
    """Return each pair's frequency: how much its angle grows per position."""
    return base ** (-np.arange(0, d_model, 2) / d_model)


def waves(angles, d_model, first=np.sin, second=np.cos):
    """Fill the even columns with one function of the angles, the odd with another."""
    encoding = np.zeros((len(angles), d_model))
    encoding[:, 0::2] = first(angles)
    encoding[:, 1::2] = second(angles[:, : d_model // 2])
    return encoding


@exercise.misconception(
    "Your rows hold all sines first and then all cosines.",
    "Which columns does the formula give to the sines: 0, 1, 2, … or 2i?",
    why="tensor2tensor, fairseq and many others concatenate; a trained layer does not "
    "mind, but the paper's formula interleaves (tensor2tensor issues 391 and 1925).",
)
def sines_before_cosines(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), frequencies(d_model, base))
    return np.hstack([np.sin(angles), np.cos(angles[:, : d_model // 2])])


@exercise.misconception(
    "Your even columns hold cosines and your odd columns sines.",
    "What is the first number of position 0 in the docstring's example?",
    why="Circles are drawn as (cos, sin), so the pair is written in that order.",
)
def cosine_first(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), frequencies(d_model, base))
    return waves(angles, d_model, np.cos, np.sin)


def stopping_at_odd_sizes(angles, d_model):
    """Fill sines and cosines as if there were as many of both."""
    encoding = np.zeros((len(angles), d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


@exercise.misconception(
    "Your rows hold all sines first and then all cosines, and one number too many if "
    "d_model is odd.",
    "Which columns does the formula give to the sines, and how many of seven are left "
    "for the cosines?",
    why="Sines and cosines of the same angles are concatenated: there are as many of "
    "both then.",
)
def sines_first_untrimmed(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), frequencies(d_model, base))
    return np.hstack([np.sin(angles), np.cos(angles)])


@exercise.misconception(
    "In your numbers the exponent is twice what it should be.",
    "Does your loop variable stand for i, or for 2i already?",
    why="A loop in steps of 2 already counts 2i, and the formula's 2 is applied again: "
    "SamLynnEvans/Transformer issue 25.",
)
def exponent_doubled(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), frequencies(d_model, base) ** 2)
    return waves(angles, d_model)


@exercise.misconception(
    "In your numbers the exponent is twice what it should be, and at an odd d_model "
    "your code stops.",
    "Does your variable stand for i, or for 2i already; and how many even and how many "
    "odd columns are there among seven?",
    why="arange(0, d_model, 2) already counts 2i, and gives a cosine too many: both "
    "happen in the most natural first try.",
)
def exponent_doubled_and_odd_size_stops(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), frequencies(d_model, base) ** 2)
    return stopping_at_odd_sizes(angles, d_model)


@exercise.misconception(
    "In your numbers the exponent is half of what it should be.",
    "How large is the exponent of the last pair, and does your i count columns or "
    "pairs?",
    why="i counts the pairs, and the 2 of 2i is left out of the exponent.",
)
def exponent_halved(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), np.sqrt(frequencies(d_model, base)))
    return waves(angles, d_model)


@exercise.misconception(
    "In your numbers the exponent is half of what it should be, and at an odd d_model "
    "your code stops.",
    "How large is the exponent of the last pair; and how many even and how many odd "
    "columns are there among seven?",
    why="arange(d_model // 2) counts whole pairs: the 2 of 2i is left out, and at an "
    "odd size the last sine.",
)
def exponent_halved_and_odd_size_stops(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), np.sqrt(frequencies(d_model, base)))
    return stopping_at_odd_sizes(angles[:, : d_model // 2], d_model)


@exercise.misconception(
    "Each of your columns has a frequency of its own: a cosine turns slower than the "
    "sine beside it.",
    "How many columns share one i?",
    why="The exponent is taken from the column's number, without first halving it: "
    "BrianPulfer/PapersReimplementations issue 9.",
)
def frequency_by_column(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), base ** (-np.arange(d_model) / d_model))
    encoding = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, 1::2])
    return encoding


@exercise.misconception(
    "Each of your columns has a frequency of its own, with twice the column's number "
    "in the exponent.",
    "Which columns share one i, and what does the exponent hold for column 2?",
    why="arange(d_model) replaces i, and the formula's 2 stays in front of it.",
)
def frequency_by_column_doubled(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), base ** (-2 * np.arange(d_model) / d_model))
    encoding = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, 1::2])
    return encoding


@exercise.misconception(
    "All your pairs turn at one frequency, that of i = 0.",
    "What does // do to a quotient between 0 and 1?",
    why="2 * i // d_model is 0 for every i; in Python 2 the plain / did the same.",
)
def quotient_rounded(n, d_model, base=10000.0):
    exponents = np.arange(0, d_model, 2) // d_model
    angles = np.arange(n)[:, np.newaxis] / base**exponents
    return waves(angles, d_model)


@exercise.misconception(
    "Your frequencies are e to the power of whole numbers: the factor −log(base) / "
    "d_model was halved and rounded down.",
    "In which order does Python work through a / b // c, and what is left after //?",
    why="-log(base) / d_model // 2 is typed for a division by half of d_model.",
)
def logarithm_rounded(n, d_model, base=10000.0):
    factor = -math.log(base) / d_model // 2
    angles = np.outer(np.arange(n), np.exp(np.arange(0, d_model, 2) * factor))
    return waves(angles, d_model)


@exercise.misconception(
    "Your later pairs turn faster than the first: position t is multiplied by the "
    "power of the base.",
    "Which pair should turn slowest, the first or the last?",
    why="The minus of the exponent is lost between 1 / 10000^(2i/d) and its product.",
)
def power_multiplied(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), 1 / frequencies(d_model, base))
    return waves(angles, d_model)


@exercise.misconception(
    "Your first row is the encoding of position 1.",
    "Which number does the first position have here?",
    why="Positions are counted from 1 in some libraries, where 0 stands for padding.",
)
def counted_from_one(n, d_model, base=10000.0):
    angles = np.outer(np.arange(1, n + 1), frequencies(d_model, base))
    return waves(angles, d_model)


@exercise.misconception(
    "Your numbers are those of base 10000, whatever base is given.",
    "Where does your code read its argument base?",
    why="The paper's 10000 is copied as a constant.",
)
def base_ignored(n, d_model, base=10000.0):
    return waves(np.outer(np.arange(n), frequencies(d_model, 10000.0)), d_model)


@exercise.misconception(
    "Your slowest pair has the wavelength base · 2π exactly.",
    "By which number does the formula divide 2i, and by which does your code?",
    why="tensor2tensor spaces its timescales by log(base) / (d_model / 2 − 1), so that "
    "the last one is base; the paper divides by d_model.",
)
def last_pair_reaches_base(n, d_model, base=10000.0):
    pairs = (d_model + 1) // 2
    powers = base ** (-np.arange(pairs) / max(pairs - 1, 1))
    return waves(np.outer(np.arange(n), powers), d_model)


@exercise.misconception(
    "Your code is right for an even d_model and stops at an odd one: there are more "
    "sines than columns for cosines.",
    "How many even and how many odd columns are there among seven?",
    why="pe[:, 1::2] = cos(angles), as in PyTorch's tutorial: codertimo/BERT-pytorch "
    "issue 78 and many more.",
)
def odd_size_stops(n, d_model, base=10000.0):
    return stopping_at_odd_sizes(
        np.outer(np.arange(n), frequencies(d_model, base)), d_model
    )


@exercise.misconception(
    "Your code is right for an even d_model and stops at an odd one: there are fewer "
    "sines than columns for them.",
    "How many even and how many odd columns are there among seven?",
    why="arange(d_model // 2) counts whole pairs, and the last sine has none.",
)
def odd_size_stops_at_the_sines(n, d_model, base=10000.0):
    angles = np.outer(np.arange(n), frequencies(d_model, base))
    return stopping_at_odd_sizes(angles[:, : d_model // 2], d_model)


@exercise.misconception(
    "Your last column is all zeros if d_model is odd.",
    "How many pairs does your code fill, and which column is then left?",
    why="A loop over d_model // 2 pairs leaves the last column of np.zeros as it was.",
)
def odd_column_left_empty(n, d_model, base=10000.0):
    encoding = waves(np.outer(np.arange(n), frequencies(d_model, base)), d_model)
    encoding[:, d_model // 2 * 2 :] = 0
    return encoding


@exercise.misconception(
    "Your rows are one number short if d_model is odd.",
    "How many columns do d_model // 2 pairs fill?",
    why="Pairs are stacked and flattened, and d_model // 2 pairs are one column short.",
)
def odd_column_missing(n, d_model, base=10000.0):
    encoding = waves(np.outer(np.arange(n), frequencies(d_model, base)), d_model)
    return encoding[:, : d_model // 2 * 2]


@exercise.misconception(
    "Your angles have the seven digits of float32, so your numbers drift from the "
    "right ones as the positions grow.",
    "With seven digits in all, how many are left after the point in an angle of 1000?",
    why="float32 is PyTorch's default; in 16 bits some neighbouring positions even get "
    "equal numbers (EleutherAI/gpt-neox pull request 1016).",
)
def angles_in_float32(n, d_model, base=10000.0):
    powers = frequencies(d_model, base).astype(np.float32)
    angles = np.outer(np.arange(n, dtype=np.float32), powers)
    return waves(angles, d_model)
