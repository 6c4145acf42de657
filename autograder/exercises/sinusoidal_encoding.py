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


@exercise.variants
def variants(
    n,
    d_model,
    base=10000.0,
    *,
    waves=(np.sin, np.cos),
    order="in turn",
    frequency="base ** (−2i / d_model)",
    counted="by pair",
    base_is="given",
    first=0,
    positions="whole",
    angles_in="radians",
    rows="n",
    odd="the sine alone",
    length="as they come",
):
    n += {"n + 1": 1, "n − 1": -1}.get(rows, 0)
    base = base if base_is == "given" else 10000.0
    pairs = (d_model + 1) // 2
    i = np.arange(pairs if counted == "by pair" else d_model)
    i = i / 2 if counted == "by column" else i
    frequencies = {
        "base ** (−2i / d_model)": lambda: base ** (-2 * i / d_model),
        "base ** (−4i / d_model)": lambda: base ** (-4 * i / d_model),
        "base ** (−i / d_model)": lambda: base ** (-i / d_model),
        "base ** (2i / d_model)": lambda: base ** (2 * i / d_model),
        "base ** (−(2i + 2) / d_model)": lambda: base ** (-(2 * i + 2) / d_model),
        "base ** (−2i / (d_model − 2))": lambda: base ** (-i / max(pairs - 1, 1)),
        "2i / (base d_model)": lambda: 2 * i / d_model / base,
        "d_model / base ** 2i": lambda: d_model / base ** (2.0 * i),
        "base ** −2i / d_model": lambda: base ** (-2.0 * i) / d_model,
        "1": lambda: np.ones(len(i)),
        "from the end": lambda: base ** (-2 * i / d_model)[::-1],
        "e to whole powers": lambda: np.exp(2 * i * (-math.log(base) / d_model // 2)),
    }
    with np.errstate(over="ignore"):  # base ** 2i may be infinite
        frequencies = frequencies[frequency]()
    t = np.arange(first, n + first)
    t = t / n if positions == "shares of n" else t
    angles = t[:, np.newaxis] * frequencies
    angles = np.radians(angles) if angles_in == "degrees" else angles
    is_odd = d_model % 2 == 1
    if counted != "by pair":
        evens, odds = angles[:, 0::2], angles[:, 1::2]
    else:
        evens, odds = angles, angles[:, : d_model // 2]
        encoding = np.zeros((n, d_model))
        if odd == "stops at the cosines":
            encoding[:, 1::2] = angles
        elif odd == "stops at the sines":
            encoding[:, 0::2] = angles[:, : d_model // 2]
    sines, cosines = waves[0](evens), waves[1](odds)
    if order == "all sines first":
        encoding = np.hstack([sines, cosines])
    elif order == "all sines first, as many cosines":
        encoding = np.hstack([sines, waves[1](angles)])
    else:
        encoding = np.zeros((n, d_model))
        encoding[:, 0::2], encoding[:, 1::2] = sines, cosines
    if is_odd and odd == "zeros":
        encoding[:, -1] = 0.0
    elif is_odd and odd == "missing":
        encoding = encoding[:, :-1]
    elif is_odd and odd == "a cosine too":
        encoding = np.hstack([encoding, waves[1](angles[:, -1:])])
    if length == "1":
        encoding = encoding / np.linalg.norm(encoding, axis=-1, keepdims=True)
    return encoding.T if rows == "columns" else encoding


exercise.option(
    "sines_before_cosines",
    "Your rows hold all sines first and then all cosines.",
    "Which columns does the formula give to the sines: 0, 1, 2, … or 2i?",
    why="tensor2tensor, fairseq and many others concatenate; a trained layer does not "
    "mind, but the paper's formula interleaves (tensor2tensor issues 391 and 1925).",
    order="all sines first",
)
exercise.option(
    "sines_first_untrimmed",
    "Your rows hold all sines first and then all cosines, and one number too many if "
    "d_model is odd.",
    "Which columns does the formula give to the sines, and how many of seven are left "
    "for the cosines?",
    why="Sines and cosines of the same angles are concatenated: there are as many of "
    "both then.",
    order="all sines first, as many cosines",
)
exercise.option(
    "cosine_first",
    "Your even columns hold cosines and your odd columns sines.",
    "What is the first number of position 0 in the docstring's example?",
    why="Circles are drawn as (cos, sin), so the pair is written in that order.",
    waves=(np.cos, np.sin),
)
exercise.option(
    "cosine_missing",
    "Your columns all hold sines.",
    "What is the second number of position 0 in the docstring's example?",
    why="The line for the odd columns is copied and not changed.",
    waves=(np.sin, np.sin),
)
exercise.option(
    "sine_missing",
    "Your columns all hold cosines.",
    "What is the first number of position 0 in the docstring's example?",
    why="The line for the even columns is copied and not changed.",
    waves=(np.cos, np.cos),
)
exercise.option(
    "exponent_doubled",
    "In your numbers the exponent is twice what it should be.",
    "Which of i and 2i does a loop in steps of 2 count?",
    why="A loop in steps of 2 already counts 2i, and the formula's 2 is applied again: "
    "SamLynnEvans/Transformer issue 25.",
    frequency="base ** (−4i / d_model)",
)
exercise.option(
    "exponent_halved",
    "In your numbers the exponent is half of what it should be.",
    "How large is the exponent of the last pair, and does your i count columns or "
    "pairs?",
    why="i counts the pairs, and the 2 of 2i is left out of the exponent.",
    frequency="base ** (−i / d_model)",
)
exercise.option(
    "frequency_by_column",
    "Each of your columns has a frequency of its own.",
    "How many columns share one i?",
    why="The exponent is taken from the column's number, without first halving it: "
    "BrianPulfer/PapersReimplementations issue 9.",
    counted="by column",
)
exercise.option(
    "frequency_by_column_doubled",
    "Each of your columns has a frequency of its own, with twice the column's number "
    "in the exponent.",
    "Which columns share one i, and what does the exponent hold for column 2?",
    why="arange(d_model) replaces i, and the formula's 2 stays in front of it.",
    counted="by column, doubled",
)
exercise.option(
    "quotient_rounded",
    "All your pairs turn at one frequency, that of i = 0.",
    "What does // do to a quotient between 0 and 1?",
    why="2 * i // d_model is 0 for every i; in Python 2 the plain / did the same.",
    frequency="1",
)
exercise.option(
    "logarithm_rounded",
    "Your frequencies are e to the power of integers.",
    "In which order does Python work through a / b // c, and what is left after //?",
    why="-log(base) / d_model // 2 is typed for a division by half of d_model.",
    frequency="e to whole powers",
)
exercise.option(
    "power_multiplied",
    "Your later pairs turn faster than the first.",
    "Which pair should turn slowest, the first or the last?",
    why="The minus of the exponent is lost between 1 / 10000^(2i/d) and its product.",
    frequency="base ** (2i / d_model)",
)
exercise.option(
    "pairs_counted_from_one",
    "Your pair i has the frequency that pair i + 1 should have.",
    "By how much should the first pair turn from one position to the next?",
    why="i is counted from 1, as formulas often do.",
    frequency="base ** (−(2i + 2) / d_model)",
)
exercise.option(
    "power_before_the_division",
    "Your frequencies are d_model / base ** 2i: the base gets its power first, and is "
    "divided by d_model then.",
    "Which comes first in Python, ** or /, and what do brackets change?",
    why="base ** i / d has no brackets round i / d, and reads like the formula.",
    frequency="d_model / base ** 2i",
)
exercise.option(
    "power_and_division_apart",
    "Your frequencies are base ** −2i, divided by d_model: only the 2i is in the "
    "exponent.",
    "Which comes first in Python, ** or /, and what do brackets change?",
    why="base ** -i / d has no brackets round i / d, and reads like the formula.",
    frequency="base ** −2i / d_model",
)
exercise.option(
    "last_pair_reaches_base",
    "Your slowest pair has the wavelength base · 2π exactly.",
    "By which number does the formula divide 2i?",
    why="tensor2tensor spaces its timescales by log(base) / (d_model / 2 − 1), so that "
    "the last one is base; the paper divides by d_model.",
    frequency="base ** (−2i / (d_model − 2))",
)
exercise.option(
    "slowest_first",
    "Your frequencies are in the opposite order: the first pair turns slowest.",
    "Which pair should turn slowest, the first or the last?",
    why="The powers of the base are laid out from the other end.",
    frequency="from the end",
)
exercise.option(
    "divided_by_the_base_once",
    "Your frequencies are 2i / d_model, divided by the base.",
    "What does the formula do with 2i / d_model: is it a factor or an exponent?",
    why="10000^(2i/d) loses its ^ when it is typed.",
    frequency="2i / (base d_model)",
)
exercise.option(
    "base_ignored",
    "Your numbers are those of base 10000, whatever base is given.",
    "Which argument sets the frequencies?",
    why="The paper's 10000 is copied as a constant.",
    base_is="10000",
)
exercise.option(
    "counted_from_one",
    "Your first row is the encoding of position 1.",
    "Which number does the first position have here?",
    why="Positions are counted from 1 in some libraries, where 0 stands for padding.",
    first=1,
)
exercise.option(
    "position_as_a_share_of_n",
    "Your positions are divided by n.",
    "Does the encoding of position 1 change if the sequence gets longer?",
    why="np.linspace, or positions between 0 and 1, keep numbers small.",
    positions="shares of n",
)
exercise.option(
    "degrees",
    "Your angles count as degrees.",
    "In which unit do np.sin and np.cos take an angle?",
    why="Angles are thought of in degrees, and converted.",
    angles_in="degrees",
)
exercise.option(
    "one_row_too_many",
    "Your encoding has n + 1 rows.",
    "Which is the last of n positions, if the first is 0?",
    why="range(n + 1) is written so that position n is there.",
    rows="n + 1",
)
exercise.option(
    "one_row_too_few",
    "Your encoding has n − 1 rows.",
    "How many positions are 0 … n − 1?",
    why="range(n - 1) is written since positions are counted from 0.",
    rows="n − 1",
)
exercise.option(
    "positions_across",
    "Your encoding has a column for each position.",
    "Which shape does the docstring promise?",
    why="The positions are made a row and the frequencies a column.",
    rows="columns",
)
exercise.option(
    "rows_of_length_one",
    "Your rows are divided by their lengths.",
    "How long is the vector of a position, by the formula?",
    why="Vectors of length 1 are tidy, and cosine similarity asks for them.",
    length="1",
)
exercise.option(
    "odd_size_stops",
    "At an odd d_model, from 3 on, your function stops: there are more cosines than "
    "columns for them.",
    "How many even and how many odd columns are there among seven?",
    why="pe[:, 1::2] = cos(angles), as in PyTorch's tutorial: codertimo/BERT-pytorch "
    "issue 78 and many more.",
    odd="stops at the cosines",
)
exercise.option(
    "odd_size_stops_at_the_sines",
    "At an odd d_model your function stops: there are fewer sines than columns for "
    "them.",
    "How many even and how many odd columns are there among seven?",
    why="arange(d_model // 2) counts whole pairs, and the last sine has none.",
    odd="stops at the sines",
)
exercise.option(
    "odd_column_left_empty",
    "Your last column is all zeros if d_model is odd.",
    "How many columns do d_model // 2 pairs have, and which column is then left?",
    why="A loop over d_model // 2 pairs leaves the last column of np.zeros as it was.",
    odd="zeros",
)
exercise.option(
    "odd_column_missing",
    "Your rows are one number short if d_model is odd.",
    "How many columns do d_model // 2 pairs have?",
    why="Pairs are stacked and flattened, and d_model // 2 pairs are one column short.",
    odd="missing",
)
exercise.option(
    "odd_column_too_many",
    "Your rows are one number too long if d_model is odd.",
    "Which of the last pair's two numbers does the docstring leave out?",
    why="Pairs are stacked and flattened, and the last cosine comes along.",
    odd="a cosine too",
)
exercise.family(families.squeezed(), families.as_list())
