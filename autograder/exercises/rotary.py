"""Cases and misconceptions of ``rotary``."""

import math

import numpy as np

from autograder import Exercise, families
from course_lib.positions import rotary

exercise = Exercise(
    rotary,
    lesson="05_positional_encoding",
    minutes=20,
    difficulty=3,
    library=(
        "course_lib.lessons.single_head_model.RotaryEncoding",
        "course_lib.nn.language_model.RotaryPositions",
    ),
)


@exercise.spec
def spec(x, positions, base=10000.0):
    *leading, n, d_k = x.shape
    if d_k % 2 == 1:
        raise ValueError(f"d_k={d_k} is odd")
    turned = np.zeros(x.shape)
    for index in np.ndindex(*leading, n):
        for i in range(d_k // 2):
            angle = int(positions[index[-1]]) / base ** (2 * i / d_k)
            a, b = float(x[*index, 2 * i]), float(x[*index, 2 * i + 1])
            turned[*index, 2 * i] = a * math.cos(angle) - b * math.sin(angle)
            turned[*index, 2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return turned


@exercise.usual
def usual(rng):
    return rng.normal(size=(2, 5, 8)), np.array([4, 9, 2, 7, 30])


@exercise.case("A row at position 3 has both pairs turned, a row at position 0 stays")
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 0.0, 0.0, 2.0], [3.0, 4.0, 5.0, 6.0]])
    slow = 3 / 100
    first = [math.cos(3), math.sin(3), -2 * math.sin(slow), 2 * math.cos(slow)]
    expected = np.array([first, x[1].tolist()])
    student.expect(student(x, np.array([3, 0])), expected)


@exercise.case(
    "Each sequence of a batch is turned by itself, with all sizes alike too", weight=2.5
)
def leading_axes(student, rng):
    # With sizes alike a wrong axis gives the right shape: only the numbers show it.
    student.agrees(rng.normal(size=(6, 6, 6)), np.array([3, 1, 4, 15, 9, 2]))
    student.agrees(rng.normal(size=(2, 3, 5, 8)), np.array([4, 9, 2, 7, 30]))


@exercise.case(
    "Rows at positions 7, 8 and 9 are turned by those, far and negative positions too"
)
def later_positions(student, rng):
    student.agrees(rng.normal(size=(3, 8)), np.array([7, 8, 9]))
    student.agrees(rng.normal(size=(4, 6)), np.array([100, 12, -3, 101]))


@exercise.case(
    "The score of a query and a key depends only on how far apart their positions are",
    pays_alone=False,
    weight=0.5,
)
def distance_only(student, rng):
    q, k = rng.normal(size=(2, 5, 8))
    positions, others = np.array([0, 3, 4, 9, 2]), np.array([6, 1, 5, 0, 8])
    scores = (student(q, positions) * student(k, others)).sum(axis=1)
    moved = (student(q, positions + 11) * student(k, others + 11)).sum(axis=1)
    what = "the score of each query for its key, all 11 positions later,"
    student.expect(moved, scores, what=what)


@exercise.case("A single row keeps its axis, and a row may be a single pair")
def smallest_sizes(student, rng):
    student.agrees(rng.normal(size=(1, 6)), np.array([5]))
    student.agrees(rng.normal(size=(2, 4, 2)), np.array([3, 0, 8, 1]))


@exercise.case("With another base the angles are that base's")
def another_base(student, rng):
    student.agrees(rng.normal(size=(5, 6)), np.array([1, 3, 0, 8, 2]), base=100.0)


@exercise.fine_point("The positions may come in a list")
def positions_in_a_list(student, rng):
    student.agrees(rng.normal(size=(3, 4)), [5, 0, 2])


@exercise.fine_point("An odd d_k ends in an error")
def odd_size(student, rng):
    student.raises(Exception, rng.normal(size=(3, 5)), np.array([2, 0, 1]))


@exercise.case("The rows and their positions are not modified", weight=0.5)
def arguments_stay(student, rng):
    x = rng.integers(1, 9, size=(2, 4)).astype(float)
    student.leaves_unchanged(x, np.array([3, 5]))
    student.leaves_unchanged(rng.normal(size=(3, 2, 4)), np.array([3, 5]))


@exercise.case(
    "Turning leaves every row as long as it was",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def lengths_stay(student, rng):
    x = rng.normal(size=(2, 5, 12))
    turned = student(x, rng.permutation(40)[:5])
    lengths = (turned**2).sum(axis=-1)
    student.expect(lengths, (x**2).sum(axis=-1), what="the squared length of each row")


exercise.edits(
    """
halves_paired:
  | first, second = np.split(x, 2, axis=-1)
  | return np.concatenate(rotated, axis=-1)
  Your column i is turned together with column i + d_k / 2.
  ? Which two columns does the docstring call neighbours?
  # GPT-NeoX and Hugging Face's models pair halves and permute the parameters to fit;
    RoFormer pairs neighbours (huggingface/transformers issue 25199).
halves_with_angles_of_neighbours:
  | angles = np.outer(positions, frequencies).repeat(2, axis=-1)
  | first, second = np.split(x, 2, axis=-1)
  | rotated = np.concatenate([-second, first], axis=-1)
  | return x * cosine + rotated * sine
  Your pairs are one half and the other, but your angles are those of neighbours.
  ? Which column is mixed into column 0, and have both the same angle?
  # rotate_half of one layout meets repeat_interleave of the other:
    raiyanyahya/how-to-train-your-gpt issue 6.
neighbours_with_angles_of_halves:
  | angles = np.tile(np.outer(positions, frequencies), 2)
  | rotated = np.stack([-second, first], axis=-1).reshape(x.shape)
  | return x * cosine + rotated * sine
  Your pairs are neighbours, but your angles are those of halves: the two columns of a
    pair turn differently.
  ? Which angle has column 0, and which column 1?
  # concatenate((angles, angles)) is copied from the layout of halves.
angle_by_column:
  | np.arange(0, d_k, 2) -> np.arange(d_k)
  | rotated = np.stack([-second, first], axis=-1).reshape(x.shape)
  | return x * cosine + rotated * sine
  Each of your columns has an angle of its own: the two of a pair turn differently.
  ? How many columns share one i?
  # The exponent is taken from the column's number, without first halving it.
turned_backwards:
  | rotated = [first * cosine + second * sine, second * cosine - first * sine]
  Your pairs turn the other way round, by −φ.
  ? Where does (1, 0) go at position 1, in the docstring's example?
  # The matrix for columns is applied to rows, x @ R; scores do not change by it.
signs_both_plus: - second * sine -> + second * sine
  Both of your numbers are sums: a cos φ + b sin φ comes first.
  ? Which of the two formulas has a minus, and does a turn keep lengths?
  # The minus is easily lost; the matrix is then no turn any more.
signs_both_minus: first * sine + second * cosine -> second * cosine - first * sine
  Both of your numbers are differences: b cos φ − a sin φ comes second.
  # The minus of the first formula is copied into the second.
cosine_alone: rotated = [first * cosine, second * cosine]
  Your numbers are multiplied by cos φ, and nothing of their neighbours is added.
  ? Where does (1, 0) go at position 1, in the docstring's example?
  # Half of the formula is written down, as for a scale.
sine_missing_in_the_first: first * cosine - second * sine -> first * cosine
  Your first number of a pair is a cos φ alone: b sin φ is not taken off.
  ? Where does (0, 1) go at position 1, if turning keeps its length?
  # One of four products is left out when the two formulas are typed.
sine_missing_in_the_second: first * sine + second * cosine -> second * cosine
  Your second number of a pair is b cos φ alone: a sin φ is not added.
  ? Where does (1, 0) go at position 1, in the docstring's example?
first_neighbour_without_sine: second * sine -> second
  Your first number of a pair is a cos φ − b: a neighbour comes in whole, without a
    sine.
  ? How much of its neighbour does a row get at position 0?
  # One of four factors is left out when the two formulas are typed.
second_neighbour_without_sine: first * sine -> first
  Your second number of a pair is a + b cos φ: a neighbour comes in whole, without a
    sine.
neighbours_without_sine:
  | second * sine -> second
  | first * sine -> first
  Your numbers of a pair are a cos φ − b, a + b cos φ: a neighbour comes in whole,
    without a sine.
sine_and_cosine_exchanged:
  | (np.sin(angles), np.cos(angles)) -> (np.cos(angles), np.sin(angles))
  Your sines stand where cosines belong, and your cosines where sines do.
  ? By how much does a row at position 0 turn?
  # The encoding of lesson 05 has the sine first, and the turn has the cosine.
encoding_added: rotated = [first + sine, second + cosine]
  Your result is x plus the sinusoidal encoding of its positions.
  ? What happens to the length of a row that is turned?
  # This is what sinusoidal_encoding is for, and the angles are the same.
positions_ignored: np.outer(positions -> np.outer(np.arange(x.shape[-2])
  Your rows are turned by their row numbers 0, 1, 2, …, not by the positions.
  ? Which argument says where a row stands?
  # arange(n) is right for a whole text, and wrong for the next token on its own.
relative_to_the_first:
  | np.outer(positions -> np.outer(np.subtract(positions, positions[0])
  Your rows are turned by how far they are from the first row.
  ? By how much should the first row turn if it stands at position 7?
  # Scores depend on differences only, so the difference is taken at once; but queries
    and keys may start at different positions.
counted_from_one: np.outer(positions -> np.outer(np.add(positions, 1)
  Your rows are turned as if they stood one position further.
  ? By how much does a row at position 0 turn?
  # Positions are counted from 1 in some libraries, where 0 stands for padding.
positions_without_sign: np.outer(positions -> np.outer(np.abs(positions)
  Your rows at negative positions are turned as those at positive ones.
  ? Which way does a row at position −3 turn?
  # A position is taken for a distance, and a distance has no sign.
exponent_doubled: -np.arange -> -2 * np.arange
  In your angles the exponent is twice what it should be.
  ? Which of i and 2i does arange(0, d_k, 2) count?
  # arange(0, d_k, 2) already counts 2i, and the formula's 2 is applied again.
exponent_halved: -np.arange(0, d_k, 2) / d_k -> -np.arange(d_k // 2) / d_k
  In your angles the exponent is half of what it should be.
  ? How large is the exponent of the last pair, and what does your i count?
  # arange(d_k // 2) counts the pairs, and the 2 of 2i is left out.
one_angle_for_all: frequencies = np.ones(d_k // 2)
  All your pairs turn by one angle, that of the first.
  ? By how much does the slowest pair turn between two neighbouring positions?
  # The turn of a plane is put down once and repeated, or 2i // d_k is 0.
power_multiplied: -np.arange -> np.arange
  Your later pairs turn faster than the first.
  ? Which pair should turn slowest, the first or the last?
  # The minus of the exponent is lost.
power_before_the_division:
  | base ** (-np.arange(0, d_k, 2) / d_k) -> d_k / base ** np.arange(0, d_k, 2)
  Your frequencies are d_k / base ** 2i: the base gets its power first, and is divided
    by d_k then.
  ? Which comes first in Python, ** or /, and what do brackets change?
  # base ** i / d_k has no brackets round i / d_k, and reads like the formula.
power_and_division_apart:
  | base ** (-np.arange(0, d_k, 2) / d_k) -> base ** (-np.arange(0, d_k, 2)) / d_k
  Your frequencies are base ** −2i, divided by d_k: only the 2i is in the exponent.
  # base ** -i / d_k has no brackets round i / d_k, and reads like the formula.
last_pair_reaches_base: 2) / d_k -> 2) / max(d_k - 2, 1)
  Your slowest pair has the wavelength base · 2π exactly.
  ? By which number does the formula divide 2i?
  # tensor2tensor spaces its timescales so; the docstring divides by d_k.
pairs_counted_from_one: np.arange(0, d_k, 2) -> np.arange(2, d_k + 2, 2)
  Your pair i has the angle that pair i + 1 should have.
  ? By how much should the first pair turn between two neighbouring positions?
  # RoFormer's own formula counts the pairs from 1, with i − 1 in the exponent.
slowest_first: np.arange(0, d_k, 2) -> np.arange(0, d_k, 2)[::-1]
  Your angles are in the opposite order: the first pair turns slowest.
  ? Which pair should turn slowest, the first or the last?
  # The powers of the base are laid out from the other end.
base_ignored: base ** -> 10000.0 **
  Your numbers are those of base 10000, whatever base is given.
  ? Which argument sets the angles?
  # The paper's 10000 is copied as a constant; today's models have other bases.
along_the_batch:
  | angles = np.outer(positions, frequencies).reshape(-1, *[1] * (x.ndim - 2), d_k // 2)
  Your positions run along axis 0: every row of sequence t is turned by position t.
  ? Which axis of a batch holds the rows that have a position each?
  # Code for (n, batch, d_k) is used on batches that come first.
pairs_left_apart: return np.concatenate(rotated, axis=-1)
  Your numbers stand in other columns: first all a's, then all b's.
  ? In which columns do the two numbers of pair 1 belong?
  # Even and odd columns are taken apart, and put together by concatenating.
first_overwritten:
  | rotated = … ->
  :     first = first * cosine - second * sine
  :     rotated = [first, first * sine + second * cosine]
  Your second number of each pair is computed from the first one after its turn.
  ? When the second line runs, is the old a still there?
  # The first result is written over a before the second formula reads it.
first_overwritten_in_x:
  | rotated = …
  : return np. … ->
  :     first[...] = first * cosine - second * sine
  :     second[...] = first * sine + second * cosine
  :     return x
  Your first number of each pair is written into x itself, and the second one is
    computed from it.
  ? When the second line runs, is the old a still there, and whose array is x?
  # a = x[..., 0::2] looks like a copy and is a view: writing to x changes a.
turned_in_place:
  | return np. … ->
  :     x[...] = np.stack(rotated, axis=-1).reshape(x.shape)
  :     return x
  Your turned rows are written into the caller's x.
  ? Which of your arrays share their numbers with x, as a slice or a reshape of x may?
  # Assigning to slices of x saves an array and changes the caller's.
odd_size_accepted:
  | if d_k % 2:
  :     raise ValueError… ->
  | np.arange(0, d_k, 2) -> np.arange(0, d_k - 1, 2)
  | x[..., 0::2] -> x[..., 0:d_k - 1:2]
  | return np. … ->
  :     turned = x.copy()
  :     turned[..., 0:d_k - 1:2], turned[..., 1::2] = rotated
  :     return turned
  Your last column is not rotated if d_k is odd.
  ? What is the number without a neighbour to be turned with, and what should happen?
  # A loop over d_k // 2 pairs never reaches the last column.
odd_column_of_zeros:
  | if d_k % 2:
  :     raise ValueError… ->
  | np.arange(0, d_k, 2) -> np.arange(0, d_k - 1, 2)
  | x[..., 0::2] -> x[..., 0:d_k - 1:2]
  | return np. … ->
  :     turned = np.zeros(x.shape)
  :     turned[..., 0:d_k - 1:2], turned[..., 1::2] = rotated
  :     return turned
  Your last column is all zeros if d_k is odd.
  # A loop over d_k // 2 pairs leaves the last column of np.zeros as it was.
odd_column_missing:
  | if d_k % 2:
  :     raise ValueError… ->
  | np.arange(0, d_k, 2) -> np.arange(0, d_k - 1, 2)
  | x[..., 0::2] -> x[..., 0:d_k - 1:2]
  | reshape(x.shape) -> reshape(*x.shape[:-1], -1)
  Your rows are one number short if d_k is odd.
  # d_k // 2 pairs are put together, and the last column is in none.
lists_refused: angles = positions[:, np.newaxis] * frequencies
  Your function stops if the positions are a list.
  ? What can an array do that a list cannot?
  # positions[:, np.newaxis] is an index that only arrays understand.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
)
