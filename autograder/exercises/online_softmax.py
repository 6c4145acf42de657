"""Cases and misconceptions of ``online_softmax``."""

import math

import numpy as np

from autograder import Exercise, families
from autograder.exercises.softmax import exercise as softmax_exercise
from course_lib.attention import softmax
from course_lib.tiling import online_softmax

exercise = Exercise(
    online_softmax,
    lesson="14_fast_attention",
    minutes=15,
    difficulty=2,
    library=(
        "course_lib.attention.softmax",
        "course_lib.masks.masked_softmax",
        *softmax_exercise.library,
        "torch.logcumsumexp",
        "torch.Tensor.logcumsumexp",
    ),
)


@exercise.spec
def spec(x, block):
    weights = np.empty(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        scores = [float(score) for score in x[index]]
        powers = [math.exp(score - max(scores)) for score in scores]
        weights[index] = [power / sum(powers) for power in powers]
    return weights


@exercise.usual
def usual(rng):
    return 2.0 * rng.normal(size=(2, 5, 7)), 3


@exercise.case("Scores of ln 1, ln 2 and ln 5 in blocks of two give these weights")
def small_example_by_hand(student, rng):
    x = np.log([[1.0, 2.0, 5.0], [5.0, 4.0, 1.0]])
    student.expect(student(x, 2), np.array([[0.125, 0.25, 0.625], [0.5, 0.4, 0.1]]))
    student.agrees(rng.normal(size=(2, 5)), 2)


@exercise.case(
    "A block may be of one score, divide a row, leave a rest, or hold all and more",
    weight=2,
)
def blocks_of_any_size(student, rng):
    for block in (1, 2, 3, 4, 6, 10):
        student.agrees(rng.normal(size=(3, 6)), block)


@exercise.case(
    "Scores that grow from block to block, or fall, are weighted rightly", weight=1.5
)
def growing_and_falling(student, rng):
    steps = rng.uniform(0.5, 3.0, size=(4, 8)).cumsum(axis=-1)
    student.agrees(steps, 2)
    student.agrees(-steps, 3)
    student.agrees(np.concatenate([steps, -steps]), 5)
    # Far enough for exponentials that nothing is subtracted from to be inf, or 0.
    student.agrees(100.0 * steps, 2)
    student.agrees(-100.0 * steps - 800.0, 3)


@exercise.case("A square table, a vector and a batch are answered row by row", weight=2)
def leading_axes(student, rng):
    # In a square table, sums laid along the wrong axis still have the right shape.
    student.agrees(rng.normal(size=(4, 4)), 2)
    student.agrees(rng.normal(size=7), 4)
    student.agrees(rng.normal(size=(2, 3, 5, 7)), 3)


@exercise.case(
    "Scores as large as 10000 and as low as −10000 give the right weights", weight=2
)
def scores_of_any_size(student, rng):
    e = math.e
    # The largest score is in the first block, in the second, in the last; rows are far
    # below all the others.
    x = np.array(
        [
            [1e4, 9999.0, 0.0, 0.0, -1e4],
            [0.0, 0.0, 1e4, 9999.0, 0.0],
            [-1e4, 0.0, 0.0, 5000.0, 1e4],
            [-1e4, -9999.0, -2e4, -2e4, -3e4],
            [-9e3, -2e4, -9e3, -2e4, -9e3],
        ]
    )
    expected = np.zeros((5, 5))
    expected[0, :2] = expected[1, 2:4] = e / (1 + e), 1 / (1 + e)
    expected[2, 4] = 1.0
    expected[3, :2] = 1 / (1 + e), e / (1 + e)
    expected[4, ::2] = 1 / 3
    student.expect(student(x, 2), expected)
    student.expect(student(x, 3), expected)


@exercise.case("A score on its own gets the weight 1", weight=0.5)
def single_score(student, rng):
    student.expect(student(np.array([[3.5], [-2.0]]), 1), np.ones((2, 1)))
    student.expect(student(np.array([-900.0]), 4), np.ones(1))


@exercise.case("The scores x are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.5]]), 2)


@exercise.case(
    "Adding 1000 to every score changes no weight, whatever the block",
    visible=False,
    pays_alone=False,
    weight=0.5,
)
def shift_changes_nothing(student, rng):
    x = rng.normal(size=(3, 7))
    before = student(x, 2)
    student.expect(student(x + 1000.0, 3), before)


@exercise.case(
    "Drawn sizes and blocks are answered rightly too", visible=False, weight=2
)
def drawn_sizes(student, rng):
    for block in rng.permutation(6)[:3] + 2:
        rows, m = rng.integers(2, 6), rng.integers(8, 14)
        student.agrees(20.0 * rng.normal(size=(rows, m)), int(block))
        student.agrees(600.0 * rng.normal(size=(rows, m)), int(block))


exercise.edits(
    """
returned_after_the_first_block: largest = higher -> return np.exp(x - higher) / total
  Your maximum and your sum are those of the first block alone, whatever follows.
  ? How often does your loop run before it returns?
  # `return` is indented into the loop.
exponentials_as_they_are: np.exp(part - higher) -> np.exp(part)
  Your sum gets each block's exponentials without the maximum subtracted, and in your
    weights it is subtracted.
  ? Which number is subtracted in the exponentials of your weights, and which in those
    of your sum?
  # The maximum is thought of where the old sum is rescaled, and nowhere else.
sum_not_rescaled: total * np.exp(largest - higher) + new -> total + new
  Your sum keeps what the earlier blocks have put in, measured by their own maximum,
    which was smaller.
  ? When the maximum grows, by which factor is each exponential of the earlier blocks
    too large?
  # total += new is how sums are made; that the old part is measured by the old
    maximum is easily missed.
rescaled_upside_down: np.exp(largest - higher) -> np.exp(higher - largest)
  Your sum so far is multiplied by e to the power of the new maximum less the old one:
    at the first block, with a maximum of −∞, that is ∞ times 0.
  ? If the maximum grows, must the exponentials of the earlier blocks shrink or grow?
  # The sign of the difference slips.
rescaled_upside_down_later:
  | total = total … ->
  :     if start > 0:
  :         total = total * np.exp(higher - largest)
  :     total = total + new
  Your sum so far is multiplied by e to the power of the new maximum less the old one.
  # The same, with the first block treated on its own.
new_part_rescaled_too:
  | total * np.exp(largest - higher) + new -> (total + new) * np.exp(largest - higher)
  Your factor multiplies the exponentials of the newest block as well, which are
    measured by the new maximum already.
  ? Which part of the sum was measured by the old maximum?
  # The new part is added first, and the whole sum rescaled afterwards.
sum_of_the_last_block: total = total … -> total = new
  Your weights are divided by the sum of the last block alone.
  ? What happens to the sum of the earlier blocks when a new one comes?
  # total = … is written for total = total · factor + ….
maximum_of_the_newest_block: higher = part.max(axis=-1, keepdims=True)
  Your maximum is that of the newest block, even where an earlier block had a larger
    one: exponentials of what lies far above it are inf.
  ? May the running maximum fall?
  # The formulas still hold with any number subtracted, so small scores show nothing.
maximum_of_each_block:
  | largest = np. … -> weights = np.zeros(x.shape)
  | higher = part.max(axis=-1, keepdims=True)
  | total = …
  : largest = higher ->
  :     weights[..., start:start + block] = np.exp(part - higher)
  :     total = total + new
  | return weights / total
  Your exponentials of each block are measured by the maximum of that block alone.
  ? Can exponentials be compared that are measured by different maxima?
  # Each block is treated as a row of its own, and the sums are added up.
maximum_of_the_first_block:
  | higher = … ->
  :     if start == 0:
  :         higher = part.max(axis=-1, keepdims=True)
  Your maximum is that of the first block: exponentials of what lies far above it are
    inf.
  ? What if a larger score comes in a later block?
  # Nothing has to be rescaled if the maximum never changes.
no_maximum:
  | largest = …
  : total = … -> total = np.zeros((*x.shape[:-1], 1))
  | higher = …
  : new = np. …
  : total = …
  : largest = higher -> total = total + np.exp(part).sum(axis=-1, keepdims=True)
  | np.exp(x - largest) -> np.exp(x)
  Your exponentials are of the scores as they are: inf where one is large, and all 0
    where a row lies far below 0.
  ? What may you do to all scores of a row without changing its weights?
  # Sums of exp(x) need no rescaling at all, which looks like progress.
maximum_started_at_0: -np.inf -> 0.0
  Your maximum is never below 0: a row that lies far below it has a sum of 0.
  ? What is the largest of no scores at all?
  # np.zeros is how an accumulator begins; in C and CUDA FLT_MIN, the smallest
    positive number, is taken for the lowest.
one_maximum_for_all_rows: part.max(axis=-1, keepdims=True) -> part.max()
  Your rows share one maximum: of a row far below the others every weight is lost.
  ? Whose largest score does a row need?
  # part.max() without an axis is enough for one row.
one_sum_for_all_rows: / total -> / total.sum()
  Your rows share one sum.
  ? How many sums does a table of two rows need?
  # A sum without an axis is right for one row.
numerators_by_the_maximum_so_far:
  | weights = np.zeros(x.shape)
  | largest = higher ->
  :     weights[..., start:start + block] = np.exp(part - higher)
  :     largest = higher
  | return weights / total
  Your sum is rescaled, and your numerators are not: those of the earlier blocks are
    measured by the maximum as it was then.
  ? By which maximum is your sum measured at the end, and by which each numerator?
  # The exponentials are at hand in the loop, and are stored there.
divided_by_the_sum_so_far:
  | weights = np.zeros(x.shape)
  | largest = higher ->
  :     weights[..., start:start + block] = np.exp(part - higher) / total
  :     largest = higher
  | return weights
  Your weights of each block are divided by the sum as far as it was known then.
  ? When is the sum of a row complete?
  # 'One pass' is taken to mean that the weights are made in it, too.
each_block_sums_to_1:
  | largest = …
  : total = … -> weights = np.zeros(x.shape)
  | higher = part.max(axis=-1, keepdims=True)
  | total = …
  : largest = higher -> weights[..., start:start + block] = np.exp(part - higher) / new
  | return weights
  Your weights sum to 1 in each block: each is a softmax of its own.
  ? What should the weights of a whole row sum to?
  # Blocks are taken for independent of each other, as in parallel code they often
    are.
mean_of_the_blocks:
  | largest = …
  : total = … -> weights = np.zeros(x.shape)
  | higher = part.max(axis=-1, keepdims=True)
  | total = …
  : largest = higher -> weights[..., start:start + block] = np.exp(part - higher) / new
  | return weights / len(range(0, x.shape[-1], block))
  Your weights are a softmax for each block, divided by the number of blocks: all
    blocks get the same share.
  ? Should a block of small scores get as much weight as one of large scores?
  # A mean of the blocks' results makes the row sum to 1 again.
exponentials_not_divided: return np.exp(x - largest)
  Your weights are powers of e that are not divided by their sum.
  ? What should the weights of a row sum to?
  # The sum is kept with care, and not used.
softmax_of_the_negative: x = -x
  Your weights are those of the scores −x: a larger score gets a smaller weight.
  ? When a score grows, should its weight grow or fall?
  # exp(−x) is copied from physics, or from the sigmoid's 1 / (1 + exp(−x)).
powers_of_two: np.exp => np.exp2
  Your weights are made of powers of 2, not of e.
  ? Which number is raised to the power of the score in a softmax?
  # exp2 is one key from exp, and powers of 2 look alike.
rest_not_summed:
  | range(0, x.shape[-1], block) -> range(0, x.shape[-1] - x.shape[-1] % block, block)
  Your sum leaves out the last block where it is shorter than the others.
  ? How many blocks of two are there in five scores, and what is left?
  # range(m // block) counts the full blocks only.
rest_not_summed_unless_it_is_all:
  | block = min(block, x.shape[-1])
  | range(0, x.shape[-1], block) -> range(0, x.shape[-1] - x.shape[-1] % block, block)
  Your sum leaves out the last block where it is shorter than the one before.
  # range(m // block) counts the full blocks only, and min(block, m) comes first.
rest_without_weight:
  | end = x.shape[-1] - x.shape[-1] % block
  | range(0, x.shape[-1], block) -> range(0, end, block)
  | return np. … ->
  :     weights = np.exp(x - largest) / total
  :     weights[..., end:] = 0.0
  :     return weights
  Your last block has no weight where it is shorter than the others.
  # range(m // block) counts the full blocks only; np.zeros stays where nothing is
    written.
rest_cut_off: x = x[..., :x.shape[-1] - x.shape[-1] % block]
  Your last block is missing where it is shorter than the others.
  ? How many weights does a row of five scores have?
  # A reshape into blocks needs a length that can be divided.
first_block_not_summed: range(0, -> range(block,
  Your sum leaves out the first block.
  ? With which score does your loop begin, and what has it before that?
  # The first block is for the beginning of the maximum; its sum is forgotten.
blocks_overlap: start + block -> start + block + 1
  Your blocks have one score too many: the first of the next counts twice.
  ? Which scores does x[..., a : b] hold, is b one of them?
  # start + block + 1 is written because the end is taken to be left out.
blocks_with_gaps: start + block -> start + block - 1
  Your blocks have one score too few: between two of them one is left out.
  # start + block − 1 is the last one's index, and ends a slice before it.
softmax_over_axis_zero:
  | x = np.moveaxis(x, 0, -1)
  | return np.moveaxis(np.exp(x - largest) / total, -1, 0)
  Your weights sum to 1 along axis 0: the blocks are blocks of rows.
  ? Which axis does x[a : b] cut?
  # x[start : start + block] is right for a vector, and is copied from there.
""",
)
exercise.edits(
    """
keepdims_missing:
  | , keepdims=True =>
  | (*x.shape[:-1], 1) => x.shape[:-1]
""",
    words=softmax_exercise.words,
)
exercise.edits(
    """
keepdims_missing_at_the_end: return np.exp(x - largest[..., 0]) / total[..., 0]
  Your weights are computed from maxima and sums that have no axis of length 1 for the
    scores: broadcasting lays them along the wrong axis.
  ? Which shape must they have, so that there is one for each row?
  # In the loop the axis is put in where it is needed, and behind the loop it is
    forgotten.
maximum_not_stored:
  | total = …
  : largest = higher -> total = total * np.exp(largest - higher) + new
  Your maximum is never stored: after the loop it is −∞, as before.
  ? What does your variable for the maximum hold when the second block comes?
  # The new maximum has a name of its own, and the old one keeps its number.
no_maximum_in_the_end: np.exp(x - largest) -> np.exp(x)
  Your last line takes e to the power of the scores as they are; your sum is of
    exponentials that have the maximum taken off.
  ? By which factor is each exponential in your sum smaller than one above it?
  # The maximum is taken off in the loop, and forgotten after it.
maximum_and_sum_returned: return (largest, total)
  Your result is the maximum and the sum of each row: no weights are made of them.
  ? What does the docstring promise to return?
  # The two numbers are what the lesson speaks of.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
    families.in_place("x", lambda x, block: x - x.max(axis=-1, keepdims=True)),
    families.in_place("x", lambda x, block: x - x.max(), "by_one_maximum"),
    families.in_place("x", lambda x, block: softmax(x), "to_weights"),
)
