"""Cases and misconceptions of ``shift_matrix``."""

import math

import numpy as np

from autograder import Exercise, families
from autograder.exercises.sinusoidal_encoding import (
    exercise as sinusoidal_encoding_exercise,
)
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


@exercise.case(
    "A shift by 2 in size 4 has these two blocks and zeros around them", weight=1.5
)
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


@exercise.case(
    "It follows from the formula and is fitted to no positions: 50,000 is moved, too"
)
def moves_far_positions(student, rng):
    positions = np.array([0, 1000, 50_000])
    what = "the product of positions 0, 1000 and 50,000 with the matrix"
    for k in (5, int(rng.integers(6, 99))):
        moved = encoded(positions, 64) @ student(k, 64)
        student.expect(moved, encoded(positions + k, 64), what=what)


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


@exercise.case(
    "A shift by 100 positions follows the formula too, and one pair is enough",
    weight=0.5,
)
def far_shifts(student, rng):
    student.agrees(100, 6)
    student.agrees(-99, 2)


@exercise.fine_point("An odd d_model ends in an error")
def odd_size(student, rng):
    student.raises(Exception, 2, 5)


@exercise.case(
    "A shift by 0 positions changes nothing",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def no_shift(student, rng):
    d_model = 2 * int(rng.integers(3, 9))
    student.expect(student(0, d_model), np.eye(d_model))


@exercise.case(
    "Two shifts in a row are one shift by their sum",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def two_shifts(student, rng):
    first, second = (int(k) for k in rng.integers(2, 60, size=2))
    both = student(first, 12) @ student(second, 12)
    student.expect(student(first + second, 12), both)


@exercise.case(
    "A shift there and a shift back cancel", visible=False, pays_alone=False, weight=0.5
)
def there_and_back(student, rng):
    k = int(rng.integers(2, 60))
    there = student(k, 8)
    back = student(-k, 8)
    student.expect(there @ back, np.eye(8), what="the product of the two matrices")


exercise.edits(
    """
for_columns: [[cosine, -sine], [sine, cosine]] -> [[cosine, sine], [-sine, cosine]]
  Your matrix moves a row back by k positions; from the left, as M @ p, it would move
    a column forward.
  ? On which side of your matrix does an encoding stand in row t @ M?
  # Most write-ups put the matrix before a column: its transpose, or M of −k.
signs_alike: [[cosine, -sine], [sine, cosine]] -> [[cosine, sine], [sine, cosine]]
  Both sines of each of your blocks have a plus.
  ? What is cos(a + b), in sines and cosines of a and b?
  # cos(a + b) is remembered with a plus, like sin(a + b).
signs_both_minus:
  | [[cosine, -sine], [sine, cosine]] -> [[cosine, -sine], [-sine, cosine]]
  Both sines of each of your blocks have a minus.
  ? What is sin(a + b), in sines and cosines of a and b?
  # The minus of cos(a + b) is copied into sin(a + b).
cosines_alone: [[cosine, -sine], [sine, cosine]] -> [[cosine, 0.0], [0.0, cosine]]
  Your matrix has numbers on its diagonal only.
  # A turn is taken for a scale: each column is multiplied by a cosine.
sine_and_cosine_exchanged:
  | (np.sin(angle), np.cos(angle)) -> (np.cos(angle), np.sin(angle))
  Your blocks have sines on the diagonal and cosines next to it.
  ? Which matrix moves by 0 positions?
  # The encoding has the sine first, and so the block is begun with it.
halves_paired: column:column + 2 => column // 2::d_model // 2
  Your matrix turns column i together with column i + d_model / 2.
  ? In which column of an encoding does the cosine next to the first sine stand?
  # It belongs to encodings with all sines first: tensor2tensor and fairseq.
angle_by_column:
  | -column -> -np.arange(column, column + 2)
  | [[cosine, -sine], [sine, cosine]] -> [[cosine[0], -sine[1]], [sine[0], cosine[1]]]
  Each of your columns has an angle of its own: the two of a pair turn differently.
  ? How many columns share one i?
  # The exponent is taken from the column's number, without first halving it.
sign_of_k_ignored: k * base -> abs(k) * base
  Your matrix is the same for k and −k.
  ? Which entries change when k changes its sign?
  # k is thought of as a distance, and a distance has no sign.
negative_k_does_nothing: k * base -> max(k, 0) * base
  Your matrix is the same for every negative k, that of 0.
  ? How often does a loop over range(k) run if k is −3?
  # The matrix of one position is multiplied k times, in a loop over range(k).
always_one_position: k * base -> base
  Your matrix moves by one position, whatever k is.
  ? Which argument says how far an encoding moves?
  # The frequencies ω_i are put into sine and cosine without the factor k.
identity: return np.eye(d_model)
  Your matrix is the same for every k, that of 0.
  # np.eye has the right shape, and the angles are left for later.
one_position_too_far: k * base -> (k + 1) * base
  Your angles are those of k + 1.
  ? Which matrix moves by 0 positions?
  # Positions are counted from 1.
one_position_too_near: k * base -> (k - 1) * base
  Your angles are those of k − 1.
  # A loop of products that starts with the matrix itself, or stops one early.
multiplied_by_k: return k * matrix
  Your matrix is multiplied by k.
  ? How long is an encoding after a shift, and how long was it before?
  # k steps are taken for k times a step.
fitted_to_the_first_positions:
  | return matrix ->
  :     def encoding(positions):
  :         angles = np.outer(
  :             positions, base ** (-np.arange(0, d_model, 2) / d_model)
  :         )
  :         return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(
  :             -1, d_model
  :         )
  :
  :
  :     first = np.arange(1000)
  :     return np.linalg.lstsq(encoding(first), encoding(first + k), rcond=None)[0]
  Your matrix moves the first thousand positions rightly and others, in large d_model,
    wrongly, as one does that is fitted to them.
  ? Which entries follow from the sines and cosines of sums, whatever t is?
  # np.linalg.lstsq finds a matrix from encodings before and after; the slowest pairs
    hardly turn within them, so that it says little of these.
columns_moved: return np.eye(d_model, k=k)
  Your matrix has a diagonal of ones moved by k: it moves the numbers of a row to
    other columns.
  ? What has to move by k here: the numbers within a row, or the position that the row
    stands for?
  # In mathematics a shift matrix is one with ones next to the diagonal.
columns_moved_round: return np.roll(np.eye(d_model), k, axis=1)
  Your matrix is the identity with its columns rolled by k: it moves the numbers of a
    row to other columns.
  # np.roll moves by k positions, of whatever stands in the array.
columns_moved_round_the_other_way: return np.roll(np.eye(d_model), k, axis=0)
  Your matrix is the identity with its rows rolled by k: it moves the numbers of a row
    to other columns.
exponent_doubled: -column -> -2 * column
  In your angles the exponent is twice what it should be.
  ? Which of i and 2i does a loop in steps of 2 count?
  # A loop in steps of 2 already counts 2i, and the formula's 2 is applied again.
exponent_halved: -column / d_model -> -column / 2 / d_model
  In your angles the exponent is half of what it should be.
  ? How large is the exponent of the last pair, and what does your i count?
  # i counts the pairs, and the 2 of 2i is left out of the exponent.
one_angle_for_all: angle = k
  All your blocks turn by one angle, that of the first pair.
  ? By how much does the slowest pair turn between two neighbouring positions?
  # The turn of a plane is put down once and repeated, without its ω_i.
power_multiplied: -column -> column
  Your later blocks turn faster than the first.
  ? Which pair should turn slowest, the first or the last?
  # The minus of the exponent is lost.
last_pair_reaches_base: -column / d_model -> -column / max(d_model - 2, 1)
  Your slowest pair has the wavelength base · 2π exactly.
  ? By which number does the formula divide 2i?
  # tensor2tensor spaces its timescales so; the paper divides by d_model.
blocks_reversed: -column -> -(d_model - 2 - column)
  Your blocks stand in the opposite order: the slowest pair turns fastest.
  ? Which block should turn by k itself: that of columns 0 and 1, or the last one?
  # The powers of the base are laid out from the other end.
odd_size_accepted:
  | if d_model % 2:
  :     raise ValueError… ->
  | range(0, d_model, 2) -> range(0, d_model - 1, 2)
  Your matrix has a row and a column of zeros at its end for an odd d_model.
  ? Which number is left over, and can one number alone be turned by an angle?
  # Nothing complains: a loop over d_model // 2 pairs leaves a row of zeros.
odd_size_ends_with_one:
  | if d_model % 2:
  :     raise ValueError… ->
  | np.zeros((d_model, d_model)) -> np.eye(d_model)
  | range(0, d_model, 2) -> range(0, d_model - 1, 2)
  Your matrix ends with a 1 for an odd d_model.
  # Nothing complains: blocks are written into np.eye, which has a 1 there.
odd_size_cut_off:
  | if d_model % 2:
  :     raise ValueError… ->
  | range(0, d_model, 2) -> range(0, d_model - 1, 2)
  | return matrix[:d_model // 2 * 2, :d_model // 2 * 2]
  Your matrix is one row and one column short for an odd d_model.
  # Nothing complains: d_model // 2 blocks are put together.
""",
)

exercise.family(families.as_list())
exercise.edits(
    """
degrees: angle = np.radians(k * base ** (-column / d_model))
base_ignored: base ** -> 10000.0 **
""",
    words=sinusoidal_encoding_exercise.words,
)
