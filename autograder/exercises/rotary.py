"""Cases and misconceptions of ``rotary``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.positions import rotary

exercise = Exercise(
    rotary,
    lesson="05_positional_encoding",
    minutes=20,
    difficulty=3,
    library=("course_lib.lessons.single_head_model.RotaryPositions",),
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
    student.expect(student(x, [3, 0]), np.array([first, x[1].tolist()]))


@exercise.case("A batch is turned sequence by sequence, with all sizes alike too")
def leading_axes(student, rng):
    # With sizes alike a wrong axis gives the right shape: only the numbers show it.
    student.agrees(rng.normal(size=(6, 6, 6)), np.array([3, 1, 4, 15, 9, 2]))
    student.agrees(rng.normal(size=(2, 3, 5, 8)), np.array([4, 9, 2, 7, 30]))


@exercise.case(
    "Rows at positions 7, 8 and 9 are turned by those, far and negative positions too"
)
def later_positions(student, rng):
    student.agrees(rng.normal(size=(3, 8)), np.array([7, 8, 9]))
    student.agrees(rng.normal(size=(4, 6)), np.array([1000, 12, -3, 1001]))


@exercise.case(
    "The score of a query and a key depends only on how far apart their positions are",
    pays_alone=False,
)
def distance_only(student, rng):
    q, k = rng.normal(size=(2, 5, 8))
    positions, others = np.array([0, 3, 4, 9, 2]), np.array([6, 1, 5, 0, 8])
    scores = (student(q, positions) * student(k, others)).sum(axis=1)
    moved = (student(q, positions + 11) * student(k, others + 11)).sum(axis=1)
    what = "the score of each query for its key, all 11 positions later,"
    student.expect(moved, scores, what=what)


@exercise.case("With another base the angles are that base's")
def another_base(student, rng):
    student.agrees(rng.normal(size=(5, 6)), np.array([1, 3, 0, 8, 2]), base=100.0)


@exercise.case("Rows of whole numbers are turned like any others")
def whole_numbers(student, rng):
    student.agrees(rng.integers(-9, 10, size=(3, 4)), np.array([5, 1, 2]))


@exercise.case("An odd d_k is refused with a ValueError")
def odd_size(student, rng):
    # NumPy's own ValueError, of shapes that do not fit, counts too: the contract asks
    # for this kind of error, whoever raises it.
    student.raises(ValueError, rng.normal(size=(3, 5)), np.array([2, 0, 1]))


@exercise.case("The rows and their positions stay as they are")
def arguments_stay(student, rng):
    x = rng.integers(1, 9, size=(2, 4)).astype(float)
    student.leaves_unchanged(x, np.array([3, 5]))


@exercise.case(
    "Turning leaves every row as long as it was", visible=False, pays_alone=False
)
def lengths_stay(student, rng):
    x = rng.normal(size=(2, 5, 12))
    turned = student(x, rng.permutation(40)[:5])
    lengths = (turned**2).sum(axis=-1)
    student.expect(lengths, (x**2).sum(axis=-1), what="the squared length of each row")


def angles(positions, d_k, base):
    """Return the angle of each row's pairs."""
    frequencies = base ** (-np.arange(0, d_k, 2) / d_k)
    return np.multiply.outer(np.asarray(positions), frequencies)  # (n, d_k / 2)


def turned_pairs(x, turns):
    """Turn the neighbours of each row by its angles."""
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * np.cos(turns) - b * np.sin(turns)
    second = a * np.sin(turns) + b * np.cos(turns)
    return np.stack([first, second], axis=-1).reshape(x.shape)


def quarter_turns_of_halves(x):
    """Put minus the second half before the first."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def quarter_turns_of_pairs(x):
    """Put minus the second of each pair before the first."""
    turned = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1)
    return turned.reshape(x.shape)


def refuse_odd(x):
    """Raise the error that the contract asks for."""
    if x.shape[-1] % 2:
        raise ValueError(f"d_k={x.shape[-1]} is odd")


@exercise.misconception(
    "Your code turns column i together with column i + d_k / 2.",
    "Which two columns does the docstring call neighbours?",
    why="GPT-NeoX and Hugging Face's models pair halves and permute the parameters to "
    "fit; RoFormer pairs neighbours (huggingface/transformers issue 25199).",
)
def halves_paired(x, positions, base=10000.0):
    refuse_odd(x)
    turns = np.tile(angles(positions, x.shape[-1], base), 2)
    return x * np.cos(turns) + quarter_turns_of_halves(x) * np.sin(turns)


@exercise.misconception(
    "Your pairs are one half and the other, but your angles are those of neighbours.",
    "Which column is mixed into column 0, and have both the same angle?",
    why="rotate_half of one layout meets repeat_interleave of the other: "
    "raiyanyahya/how-to-train-your-gpt issue 6.",
)
def halves_with_angles_of_neighbours(x, positions, base=10000.0):
    refuse_odd(x)
    turns = np.repeat(angles(positions, x.shape[-1], base), 2, axis=-1)
    return x * np.cos(turns) + quarter_turns_of_halves(x) * np.sin(turns)


@exercise.misconception(
    "Your pairs are neighbours, but your angles are those of halves: the two columns "
    "of a pair turn differently.",
    "Which angle has column 0, and which column 1?",
    why="concatenate((angles, angles)) is copied from the layout of halves.",
)
def neighbours_with_angles_of_halves(x, positions, base=10000.0):
    refuse_odd(x)
    turns = np.tile(angles(positions, x.shape[-1], base), 2)
    return x * np.cos(turns) + quarter_turns_of_pairs(x) * np.sin(turns)


@exercise.misconception(
    "Each of your columns has an angle of its own: the two of a pair turn differently.",
    "How many columns share one i?",
    why="The exponent is taken from the column's number, without first halving it.",
)
def angle_by_column(x, positions, base=10000.0):
    refuse_odd(x)
    d_k = x.shape[-1]
    frequencies = base ** (-np.arange(d_k) / d_k)
    turns = np.multiply.outer(np.asarray(positions), frequencies)
    return x * np.cos(turns) + quarter_turns_of_pairs(x) * np.sin(turns)


@exercise.misconception(
    "Your pairs turn the other way round, by −φ.",
    "Where does (1, 0) go at position 1, in the docstring's example?",
    why="The matrix for columns is applied to rows, x @ R; scores do not change by it.",
)
def turned_backwards(x, positions, base=10000.0):
    refuse_odd(x)
    return turned_pairs(x, -angles(positions, x.shape[-1], base))


@exercise.misconception(
    "Your rows are turned by their row numbers 0, 1, 2, …, not by the positions.",
    "Where does your code read its argument positions?",
    why="arange(n) is right for a whole text, and wrong for the next token on its own.",
)
def positions_ignored(x, positions, base=10000.0):
    refuse_odd(x)
    return turned_pairs(x, angles(np.arange(x.shape[-2]), x.shape[-1], base))


@exercise.misconception(
    "Your rows are turned by how far they are from the first row.",
    "By how much should the first row turn if it stands at position 7?",
    why="Scores depend on differences only, so the difference is taken at once; but "
    "queries and keys may start at different positions.",
)
def relative_to_the_first(x, positions, base=10000.0):
    refuse_odd(x)
    positions = np.asarray(positions)
    return turned_pairs(x, angles(positions - positions[0], x.shape[-1], base))


@exercise.misconception(
    "Your numbers are right and stand in other columns: first all a's, then all b's.",
    "In which columns do the two numbers of pair 1 belong?",
    why="Even and odd columns are taken apart, and put together by concatenating.",
)
def pairs_left_apart(x, positions, base=10000.0):
    refuse_odd(x)
    turned = turned_pairs(x, angles(positions, x.shape[-1], base))
    return np.concatenate([turned[..., 0::2], turned[..., 1::2]], axis=-1)


@exercise.misconception(
    "Your second number of each pair is computed from the first one after its turn.",
    "When the second line runs, is the old a still there?",
    why="The first result is written over a before the second formula reads it.",
)
def first_overwritten(x, positions, base=10000.0):
    refuse_odd(x)
    turns = angles(positions, x.shape[-1], base)
    turned = np.array(x, dtype=float)
    a, b = turned[..., 0::2], turned[..., 1::2]
    a[...] = a * np.cos(turns) - b * np.sin(turns)
    b[...] = a * np.sin(turns) + b * np.cos(turns)
    return turned


@exercise.misconception(
    "Your second number of each pair is computed from the first one after its turn, "
    "and whole numbers stay whole.",
    "When the second line runs, is the old a still there, and which dtype has a copy "
    "of x?",
    why="x.copy() keeps the caller's array, but a and b are views of the copy, and the "
    "copy of integers holds integers.",
)
def first_overwritten_in_a_copy(x, positions, base=10000.0):
    return first_overwritten_in_x(x.copy(), positions, base)


@exercise.misconception(
    "Your code writes the first number of each pair into x itself, and computes the "
    "second one from it.",
    "When the second line runs, is the old a still there, and whose array is x?",
    why="a = x[..., 0::2] looks like a copy and is a view: writing to x changes a.",
)
def first_overwritten_in_x(x, positions, base=10000.0):
    refuse_odd(x)
    turns = angles(positions, x.shape[-1], base)
    a, b = x[..., 0::2], x[..., 1::2]
    a[...] = a * np.cos(turns) - b * np.sin(turns)
    b[...] = a * np.sin(turns) + b * np.cos(turns)
    return x


@exercise.misconception(
    "In your angles the exponent is twice what it should be.",
    "Does your variable stand for i, or for 2i already?",
    why="arange(0, d_k, 2) already counts 2i, and the formula's 2 is applied again.",
)
def exponent_doubled(x, positions, base=10000.0):
    refuse_odd(x)
    return turned_pairs(x, angles(positions, x.shape[-1], base**2))


@exercise.misconception(
    "In your angles the exponent is half of what it should be.",
    "How large is the exponent of the last pair, and what does your i count?",
    why="arange(d_k // 2) counts the pairs, and the 2 of 2i is left out.",
)
def exponent_halved(x, positions, base=10000.0):
    refuse_odd(x)
    return turned_pairs(x, angles(positions, x.shape[-1], base**0.5))


@exercise.misconception(
    "Your numbers are those of base 10000, whatever base is given.",
    "Where does your code read its argument base?",
    why="The paper's 10000 is copied as a constant; today's models have other bases.",
)
def base_ignored(x, positions, base=10000.0):
    refuse_odd(x)
    return turned_pairs(x, angles(positions, x.shape[-1], 10000.0))


@exercise.misconception(
    "Your positions run along axis 0: every row of sequence t is turned by position t.",
    "Which axis of a batch holds the rows that have a position each?",
    why="Code for (n, batch, d_k) is used on batches that come first.",
)
def along_the_batch(x, positions, base=10000.0):
    refuse_odd(x)
    turns = angles(positions, x.shape[-1], base)
    n, pairs = turns.shape
    return turned_pairs(x, turns.reshape(n, *[1] * (x.ndim - 2), pairs))


@exercise.misconception(
    "Your code writes the turned rows into x itself.",
    "What does x[..., 0::2] = … do to the array that the caller holds?",
    why="Assigning to slices of x saves an array and changes the caller's.",
)
def turned_in_place(x, positions, base=10000.0):
    refuse_odd(x)
    x[...] = turned_pairs(x, angles(positions, x.shape[-1], base))
    return x


@exercise.misconception(
    "Your result is rounded to whole numbers when x holds whole numbers.",
    "Which dtype has the array that you write the result into?",
    why="np.empty_like(x) and x.copy() take over x's integers.",
)
def cut_to_whole_numbers(x, positions, base=10000.0):
    refuse_odd(x)
    turned = turned_pairs(x, angles(positions, x.shape[-1], base))
    return turned.astype(x.dtype)


@exercise.misconception(
    "Your last column stays as it is if d_k is odd.",
    "What is the number without a neighbour to be turned with, and what should happen?",
    why="A loop over d_k // 2 pairs never reaches the last column.",
)
def odd_size_accepted(x, positions, base=10000.0):
    even = x.shape[-1] // 2 * 2
    turns = angles(positions, x.shape[-1], base)[:, : even // 2]
    turned = np.array(x, dtype=float)
    turned[..., :even] = turned_pairs(turned[..., :even], turns)
    return turned


@exercise.misconception(
    "Your angles have the seven digits of float32, so far positions are turned a "
    "little wrong.",
    "With seven digits in all, how many are left after the point in an angle of 1000?",
    why="float32 is PyTorch's default, and frameworks have been bitten by less: "
    "NVIDIA/Megatron-LM issue 535, huggingface/transformers pull request 29285.",
)
def angles_in_float32(x, positions, base=10000.0):
    refuse_odd(x)
    d_k = x.shape[-1]
    frequencies = (base ** (-np.arange(0, d_k, 2) / d_k)).astype(np.float32)
    positions = np.asarray(positions).astype(np.float32)
    return turned_pairs(x, positions[:, np.newaxis] * frequencies)
