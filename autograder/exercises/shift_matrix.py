"""Cases and misconceptions of ``shift_matrix``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.positions import shift_matrix

exercise = Exercise(
    shift_matrix, lesson="05_positional_encoding", minutes=15, difficulty=2
)


@exercise.spec
def spec(k, d_model, base=10000.0):
    if d_model % 2 == 1:
        raise ValueError(f"d_model={d_model} is odd")
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        angle = k / base ** (2 * i / d_model)
        sine, cosine = 2 * i, 2 * i + 1
        # sin(a + b) = sin a cos b + cos a sin b: what column `sine` has to add up to.
        matrix[sine, sine], matrix[cosine, sine] = math.cos(angle), math.sin(angle)
        # cos(a + b) = −sin a sin b + cos a cos b
        matrix[sine, cosine], matrix[cosine, cosine] = -math.sin(angle), math.cos(angle)
    return matrix


@exercise.usual
def usual(rng):
    return 3, 12


def encoded(positions, d_model, base=10000.0):
    """Return the sinusoidal encodings of positions, one per row."""
    rows = np.zeros((len(positions), d_model))
    for row, t in zip(rows, positions, strict=True):
        for i in range(d_model // 2):
            angle = t / base ** (2 * i / d_model)
            row[2 * i : 2 * i + 2] = math.sin(angle), math.cos(angle)
    return rows


@exercise.case("A shift by 2 in size 4 has these two blocks and zeros around them")
def small_example_by_hand(student, rng):
    sin, cos = math.sin, math.cos
    expected = np.array(
        [
            [cos(2), -sin(2), 0.0, 0.0],
            [sin(2), cos(2), 0.0, 0.0],
            [0.0, 0.0, cos(0.02), -sin(0.02)],
            [0.0, 0.0, sin(0.02), cos(0.02)],
        ]
    )
    student.expect(student(2, 4), expected)


@exercise.case("Any position's encoding, times the matrix, is that of k positions on")
def moves_every_position(student, rng):
    positions = np.array([0, 1, 5, 12, 100])
    what = "the product of positions 0, 1, 5, 12 and 100 with the matrix"
    for k in (7, int(rng.integers(8, 99))):
        moved = encoded(positions, 12) @ student(k, 12)
        student.expect(moved, encoded(positions + k, 12), what=what)


@exercise.case("With a negative k the matrix moves back")
def moves_back(student, rng):
    positions = np.array([3, 5, 40])
    moved = encoded(positions, 6) @ student(-3, 6)
    what = "the product of positions 3, 5 and 40 with the matrix"
    student.expect(moved, encoded(positions - 3, 6), what=what)


@exercise.case("With another base it moves that base's encodings")
def another_base(student, rng):
    for k in (3, int(rng.integers(4, 99))):
        student.agrees(k, 6, base=100.0)


@exercise.case("An odd d_model is refused with a ValueError")
def odd_size(student, rng):
    # NumPy's own ValueError, of shapes that do not fit, counts too: the contract asks
    # for this kind of error, whoever raises it.
    student.raises(ValueError, 2, 5)


@exercise.case(
    "A shift by 0 positions changes nothing", visible=False, pays_alone=False
)
def no_shift(student, rng):
    d_model = 2 * int(rng.integers(3, 9))
    student.expect(student(0, d_model), np.eye(d_model))


@exercise.case(
    "Two shifts in a row are one shift by their sum", visible=False, pays_alone=False
)
def two_shifts(student, rng):
    first, second = (int(k) for k in rng.integers(2, 60, size=2))
    both = student(first, 12) @ student(second, 12)
    student.expect(student(first + second, 12), both)


@exercise.case("A shift there and a shift back cancel", visible=False, pays_alone=False)
def there_and_back(student, rng):
    k = int(rng.integers(2, 60))
    there = student(k, 8)
    back = student(-k, 8)
    student.expect(there @ back, np.eye(8), what="the product of the two matrices")


def angles(k, d_model, base):
    """Return the angle by which each pair turns."""
    return k * base ** (-np.arange(0, d_model, 2) / d_model)


def blocks(turns, d_model):
    """Put each pair's block, which turns by its angle, on the diagonal."""
    matrix = np.zeros((d_model, d_model))
    even = np.arange(0, 2 * len(turns), 2)
    matrix[even, even] = matrix[even + 1, even + 1] = np.cos(turns)
    matrix[even, even + 1] = -np.sin(turns)
    matrix[even + 1, even] = np.sin(turns)
    return matrix


def refuse_odd(d_model):
    """Raise the error that the contract asks for."""
    if d_model % 2:
        raise ValueError(f"d_model={d_model} is odd")


@exercise.misconception(
    "Your matrix moves a row back by k positions; from the left, as M @ p, it would "
    "move a column forward.",
    "On which side of your matrix does an encoding stand in row t @ M?",
    why="Most write-ups put the matrix before a column: its transpose, or M of −k.",
)
def for_columns(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(-k, d_model, base), d_model)


@exercise.misconception(
    "Your blocks stand in the opposite order: the slowest pair turns fastest.",
    "Which block should turn by k itself: that of columns 0 and 1, or the last one?",
    why="The powers of the base are laid out from the other end.",
)
def blocks_reversed(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(k, d_model, base)[::-1], d_model)


@exercise.misconception(
    "Your matrix turns column i together with column i + d_model / 2.",
    "In which column of an encoding does the cosine beside the first sine stand?",
    why="It belongs to encodings with all sines first: tensor2tensor and fairseq.",
)
def halves_paired(k, d_model, base=10000.0):
    refuse_odd(d_model)
    turns = angles(k, d_model, base)
    sines, cosines = np.diag(np.sin(turns)), np.diag(np.cos(turns))
    return np.block([[cosines, -sines], [sines, cosines]])


@exercise.misconception(
    "Both sines of each of your blocks have the same sign.",
    "What is cos(a + b), in sines and cosines of a and b?",
    why="cos(a + b) is remembered with a plus, like sin(a + b).",
)
def signs_alike(k, d_model, base=10000.0):
    refuse_odd(d_model)
    matrix = blocks(angles(k, d_model, base), d_model)
    return np.tril(matrix) - np.triu(matrix, 1)


@exercise.misconception(
    "Your matrix moves forward whatever the sign of k.",
    "Which of your matrix's entries change when k changes its sign?",
    why="k is thought of as a distance, and a distance has no sign.",
)
def sign_of_k_ignored(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(abs(k), d_model, base), d_model)


@exercise.misconception(
    "Your matrix is the identity for every negative k.",
    "How often does a loop over range(k) run if k is −3?",
    why="The matrix of one position is multiplied k times, in a loop over range(k).",
)
def negative_k_does_nothing(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(max(k, 0), d_model, base), d_model)


@exercise.misconception(
    "Your matrix moves by one position, whatever k is.",
    "Where does your code read its argument k?",
    why="The frequencies ω_i are put into sine and cosine without the factor k.",
)
def always_one_position(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(1, d_model, base), d_model)


@exercise.misconception(
    "All your blocks turn by k, the angle of the first pair.",
    "By how much does the slowest pair turn between two neighbouring positions?",
    why="The turn of a plane is put down once and repeated, without its ω_i.",
)
def one_angle_for_all(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(np.full(d_model // 2, float(k)), d_model)


@exercise.misconception(
    "In your angles the exponent is twice what it should be.",
    "Does your loop variable stand for i, or for 2i already?",
    why="A loop in steps of 2 already counts 2i, and the formula's 2 is applied again.",
)
def exponent_doubled(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(k, d_model, base**2), d_model)


@exercise.misconception(
    "In your angles the exponent is half of what it should be.",
    "How large is the exponent of the last pair, and what does your i count?",
    why="i counts the pairs, and the 2 of 2i is left out of the exponent.",
)
def exponent_halved(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(k, d_model, base**0.5), d_model)


@exercise.misconception(
    "Your numbers are those of base 10000, whatever base is given.",
    "Where does your code read its argument base?",
    why="The paper's 10000 is copied as a constant.",
)
def base_ignored(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return blocks(angles(k, d_model, 10000.0), d_model)


@exercise.misconception(
    "Your matrix has a diagonal of ones moved by k: it moves the numbers of a row to "
    "other columns.",
    "What has to move by k here: the numbers within a row, or the position that the "
    "row stands for?",
    why="In mathematics a shift matrix is one with ones beside the diagonal.",
)
def columns_moved(k, d_model, base=10000.0):
    refuse_odd(d_model)
    return np.eye(d_model, k=k)


@exercise.misconception(
    "Your function returns a matrix for an odd d_model too.",
    "Which number is left over, and can one number alone be turned by an angle?",
    why="Nothing complains: a loop over d_model // 2 pairs leaves a row of zeros.",
)
def odd_size_accepted(k, d_model, base=10000.0):
    pairs = d_model // 2
    return blocks(angles(k, d_model, base)[:pairs], d_model)
