"""Cases and misconceptions of ``tiled_attention``."""

import math

import numpy as np

from autograder import Exercise, families
from autograder.exercises.attention import exercise as attention_exercise
from course_lib.tiling import tiled_attention

exercise = Exercise(
    tiled_attention,
    lesson="14_fast_attention",
    minutes=25,
    difficulty=3,
    library=(
        "course_lib.attention.attention",
        "course_lib.attention.softmax",
        "course_lib.attention.scaled_scores",
        "course_lib.masks.masked_softmax",
        "course_lib.nn.attention.attention",
        *attention_exercise.library,
    ),
)


@exercise.spec
def spec(q, k, v, block, may_attend=None):
    *leading, n, d_k = q.shape
    m, d_v = v.shape[-2:]
    if may_attend is None:
        may_attend = np.array(True)
    allowed = np.broadcast_to(may_attend, (*leading, n, m))
    output = np.zeros((*leading, n, d_v))
    for index in np.ndindex(*leading, n):
        batch = index[:-1]
        scores = {}
        for j in range(m):
            if allowed[*index, j]:
                dots = (
                    float(q[*index, c]) * float(k[*batch, j, c]) for c in range(d_k)
                )
                scores[j] = sum(dots) / math.sqrt(d_k)
        powers = {j: math.exp(s - max(scores.values())) for j, s in scores.items()}
        total = sum(powers.values())
        for j, power in powers.items():
            for c in range(d_v):
                output[*index, c] += power / total * float(v[*batch, j, c])
    return output


def drawn(rng, *leading, n=5, m=7):
    """Draw queries, keys and values; the scores differ by some units."""
    q, k = rng.normal(size=(*leading, n, 4)), 2.0 * rng.normal(size=(*leading, m, 4))
    return q, k, rng.normal(size=(*leading, m, 6))


def drawn_mask(rng, *shape):
    """Draw a mask that leaves each query a key, not always the first."""
    may_attend = rng.random(shape) < 0.5
    at = rng.integers(shape[-1], size=(*shape[:-1], 1))
    np.put_along_axis(may_attend, at, True, axis=-1)
    return may_attend


@exercise.usual
def usual(rng):
    return *drawn(rng, 2), 3, drawn_mask(rng, 2, 5, 7)


@exercise.case("Two queries and three keys, in blocks of two, give these means")
def small_example_by_hand(student, rng):
    # The scaled scores are ln 1, ln 2, ln 5 and ln 5, ln 4, ln 1.
    q = 2.0 * np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    k = np.zeros((3, 4))
    k[:, 0], k[:, 1] = np.log([1.0, 2.0, 5.0]), np.log([5.0, 4.0, 1.0])
    v = np.array([[8.0, 0.0], [0.0, 16.0], [8.0, 8.0]])
    student.expect(student(q, k, v, 2), np.array([[6.0, 9.0], [4.8, 7.2]]))
    student.agrees(*drawn(rng), 4)


@exercise.case(
    "A block may be of one key, divide the keys, leave a rest, or hold all and more",
    weight=1.5,
)
def blocks_of_any_size(student, rng):
    for block in (1, 2, 3, 4, 6, 10):
        student.agrees(*drawn(rng, m=6), block)


@exercise.case(
    "Scores that grow from block to block, or fall, are weighted rightly", weight=1.5
)
def growing_and_falling(student, rng):
    _, _, v = drawn(rng)
    q = rng.uniform(0.5, 2.0, size=(4, 1))
    k = rng.uniform(0.5, 2.0, size=(7, 1)).cumsum(axis=0)
    student.agrees(q, k, v, 2)
    student.agrees(-q, k, v, 3)
    student.agrees(np.concatenate([q, -q]), k, v, 2)
    # Far enough for exponentials that nothing is subtracted from to be inf, or 0.
    q = 100.0 * q + 800.0
    student.agrees(np.concatenate([q, -q]), k, v, 3)


@exercise.case("Each sequence of a batch is handled by itself", weight=2)
def leading_axes(student, rng):
    student.agrees(*drawn(rng, 2, 3), 3)
    student.agrees(*drawn(rng, 3, n=4, m=4), 2)


@exercise.case("Each query gets its mean of the keys that it may attend to", weight=2)
def masks(student, rng):
    q, k, v = drawn(rng, 2)
    student.agrees(q, k, v, 3, drawn_mask(rng, 2, 5, 7))
    student.agrees(q, k, v, 2, drawn_mask(rng, 5, 7))
    student.agrees(q, k, v, 4, drawn_mask(rng, 2, 1, 7))
    student.agrees(q, k, v, 5, drawn_mask(rng, 7))
    student.agrees(*drawn(rng, n=4, m=4), 2, drawn_mask(rng, 4, 4))


@exercise.case(
    "A query may attend to nothing in the first block, or in one between", weight=2
)
def blocked_blocks(student, rng):
    q, k, v = drawn(rng, n=3, m=6)
    may_attend = np.array(
        [[0, 0, 1, 1, 0, 1], [1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1]], dtype=bool
    )
    student.agrees(q, k, v, 2, may_attend)
    student.agrees(q, k, v, 1, may_attend)
    several = np.stack([may_attend, may_attend[::-1]])
    student.agrees(*drawn(rng, 2, n=3, m=6), 2, several)


@exercise.fine_point("A query that may attend to no key gets zeros")
def queries_without_keys(student, rng):
    q, k, v = drawn(rng, n=4, m=5)
    may_attend = drawn_mask(rng, 4, 5)
    may_attend[1] = False
    student.agrees(q, k, v, 2, may_attend)
    student.agrees(q, k, v, 9, may_attend)
    several = np.stack([may_attend, ~may_attend])
    student.agrees(*drawn(rng, 2, n=4, m=5), 3, several)


@exercise.case(
    "Scores as large as 10000 and as low as −10000 give the right means", weight=2
)
def scores_of_any_size(student, rng):
    # The largest score comes first, in the middle or last; a query is far from all.
    scores = np.array(
        [
            [1e4, 9999.0, 0.0, 0.0, -1e4],
            [0.0, 0.0, 1e4, 9999.0, 0.0],
            [-1e4, 0.0, 0.0, 5000.0, 1e4],
            [-1e4, -9999.0, -2e4, -2e4, -3e4],
            [-9e3, -2e4, -9e3, -2e4, -9e3],
        ]
    )
    weights, e = np.zeros((5, 5)), math.e
    weights[0, :2] = weights[1, 2:4] = e / (1 + e), 1 / (1 + e)
    weights[2, 4] = 1.0
    weights[3, :2] = 1 / (1 + e), e / (1 + e)
    weights[4, ::2] = 1 / 3
    v = rng.normal(size=(5, 2))
    expected = (weights[..., np.newaxis] * v).sum(axis=1)
    q, k = 4.0 * np.eye(5, 16), np.zeros((5, 16))  # √d_k is 4
    k[:, :5] = scores.T
    student.expect(student(q, k, v, 2), expected)
    # Queries that are far below 0, all of them, or some far below the others.
    student.expect(student(q[3:], k, v, 3), expected[3:])


@exercise.case("Blocked keys play no part next to scores of any size")
def blocked_scores_of_any_size(student, rng):
    scores = np.array(
        [
            [9999.0, 1e4, 2e4],
            [2e4, 0.0, 1.0],
            [-2e4, 0.0, 5.0],
            [0.0, 2e4, -1e4],
        ]
    )
    may_attend = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]]) > 0
    e, v = math.e, rng.normal(size=(3, 2))
    weights = np.array(
        [
            [1 / (1 + e), e / (1 + e), 0],
            [0, 1 / (1 + e), e / (1 + e)],
            [1, 0, 0],
            [0, 0, 1],
        ]
    )
    expected = (weights[..., np.newaxis] * v).sum(axis=1)
    for block in (1, 2):
        actual = student(np.eye(4), 2.0 * scores.T, v, block, may_attend)
        student.expect(actual, expected)


@exercise.case("A single query, or a single key, keeps its axis", weight=0.5)
def single_query_or_key(student, rng):
    student.agrees(*drawn(rng, n=1), 3)
    student.agrees(*drawn(rng, 2, m=1), 2)


@exercise.case("The queries, keys, values and the mask are not modified", weight=0.5)
def arguments_stay(student, rng):
    q, k, v = (rng.integers(1, 9, size=size) for size in ((3, 4), (5, 4), (5, 2)))
    mask = np.tri(3, 5, 1, dtype=bool)
    student.leaves_unchanged(q.astype(float), k.astype(float), v.astype(float), 2, mask)
    # With all sizes alike, the result fits into an argument.
    q, k, v = (rng.normal(size=(4, 4)) for _ in range(3))
    student.leaves_unchanged(q, k, v, 2, np.tri(4, dtype=bool))


@exercise.case(
    "A window that slides over the sequence leaves whole blocks out",
    visible=False,
    weight=2,
)
def sliding_window(student, rng):
    back = np.arange(9)[:, np.newaxis] - np.arange(9)
    for block, width in ((2, 3), (4, 2), (1, 4)):
        q, k, v = drawn(rng, 2, n=9, m=9)
        window = (back >= 0) & (back < width)
        student.agrees(q, k, v, block, window)
        here = (rng.random((2, 1, 9)) < 0.8) | (back == 0)
        student.agrees(500.0 * q, k, v, block, window & here)


@exercise.case("Padding in front is left out", visible=False)
def padding_in_front(student, rng):
    lengths = np.array([2, 7, 1])[:, np.newaxis, np.newaxis]
    student.agrees(*drawn(rng, 3), 3, np.arange(7) >= 7 - lengths)


exercise.edits(
    """
neither_rescaled:
  | factor, … -> powers = np.exp(scores - origin)
  | total * factor + -> total +
  | output * factor + -> output +
  Your sum and your output keep what the earlier blocks have put in, measured by their
    own maximum, which was smaller.
  ? When the maximum grows, by which factor is everything summed so far too large?
  # total += new and output += new is how sums are made.
output_not_rescaled: output * factor + -> output +
  Your sum is rescaled when the maximum grows, and your output is not.
  ? Which of the numbers that you keep from block to block are measured by the old
    maximum?
  # The factor is known from online_softmax, where there is only the sum.
sum_not_rescaled: total * factor + -> total +
  Your output is rescaled when the maximum grows, and your sum is not.
  # The output is what counts, and the sum is updated in a line of its own.
rescaled_upside_down: np.exp(largest - origin) -> np.exp(origin - largest)
  Your sum and your output so far are multiplied by e to the power of the new maximum
    less the old one: at the first block, with a maximum of −∞, that is ∞ times 0.
  ? If the maximum grows, must what was summed before shrink or grow?
  # The sign of the difference slips.
rescaled_upside_down_later:
  | np.exp(largest - origin) -> np.exp(origin - largest) if start > 0 else 0.0
  Your sum and your output so far are multiplied by e to the power of the new maximum
    less the old one.
  # The same, with the first block treated on its own.
maximum_of_the_newest_block: higher = scores.max(axis=-1, keepdims=True)
  Your maximum is that of the newest block, even where an earlier block had a larger
    one: e to the power of the fall is inf where it is large.
  ? May the running maximum fall?
  # The formulas still hold with any number subtracted, so small scores show nothing.
maximum_of_each_block:
  | largest = …
  : total = … -> total = np.zeros((*q.shape[:-1], 1))
  | higher = scores.max(axis=-1, keepdims=True)
  | factor, … -> powers = np.exp(scores - origin)
  | total * factor + -> total +
  | output = …
  : largest = higher -> output = output + powers @ v[..., keys, :]
  Your exponentials of each block are measured by the maximum of that block alone, and
    added up.
  ? Can exponentials be added that are measured by different maxima?
  # Each block is treated as attention of its own.
maximum_of_the_first_block:
  | higher = … ->
  :     if start == 0:
  :         higher = scores.max(axis=-1, keepdims=True)
  Your maximum is that of the first block: exponentials of what lies far above it are
    inf.
  ? What if a larger score comes in a later block?
  # Nothing has to be rescaled if the maximum never changes.
no_maximum:
  | largest = …
  : total = … -> total = np.zeros((*q.shape[:-1], 1))
  | higher = …
  : origin = …
  : factor, … -> powers = np.exp(scores)
  | total * factor + -> total +
  | output = …
  : largest = higher -> output = output + powers @ v[..., keys, :]
  Your exponentials are of the scores as they are: inf where one is large, and all 0
    where those of a query lie far below 0.
  ? What may you do to all scores of a query without changing its weights?
  # Sums of exp(scores) need no rescaling at all, which looks like progress.
maximum_started_at_0:
  | np.full((*q.shape[:-1], 1), -np.inf) -> np.zeros((*q.shape[:-1], 1))
  Your maximum is never below 0: the exponentials of a query whose scores all lie far
    below it are 0.
  ? What is the largest of no scores at all?
  # np.zeros is how an accumulator begins.
one_maximum_for_all_queries: scores.max(axis=-1, keepdims=True) -> scores.max()
  Your queries share one maximum: exponentials of a query whose scores lie far below
    those of another are 0.
  ? Whose largest score does a query need?
  # scores.max() without an axis is enough against overflow.
sum_of_the_last_block: total * factor + powers.sum -> powers.sum
  Your output is divided by the sum of the last block alone.
  ? What happens to the sum of the earlier blocks when a new one comes?
  # total = … is written for total = total · factor + ….
blocks_added_up:
  | largest = …
  : total = …
  : output = … -> output = np.zeros((*q.shape[:-1], v.shape[-1]))
  | higher = scores.max(axis=-1, keepdims=True)
  | factor, … -> powers = np.exp(scores - origin)
  | total = total … -> total = powers.sum(axis=-1, keepdims=True)
  | output = …
  : largest = higher ->
  :     output = output + powers @ v[..., keys, :] / np.where(
  :         total == 0.0, 1.0, total
  :     )
  | return output
  Your output is a sum of as many means as there are blocks: each block is divided by
    its own sum.
  ? What should the weights of a query sum to, over all blocks together?
  # attention(q, k_block, v_block) is at hand, and the results are added up.
mean_of_the_blocks_by_their_sizes:
  | largest = …
  : total = …
  : output = … -> output = np.zeros((*q.shape[:-1], v.shape[-1]))
  | higher = scores.max(axis=-1, keepdims=True)
  | factor, … -> powers = np.exp(scores - origin)
  | total = total … -> total = powers.sum(axis=-1, keepdims=True)
  | output = …
  : largest = higher ->
  :     share = scores.shape[-1] / k.shape[-2]
  :     output = output + share * (powers @ v[..., keys, :]) / np.where(
  :         total == 0.0, 1.0, total
  :     )
  | return output
  Your output is the mean of the blocks' outputs, each with a softmax of its own: a
    block's share is its number of keys.
  ? How large is the share of a block whose keys all score far below those of another?
  # Means of parts, weighted by their sizes, make a mean; here each key has a weight.
mean_of_the_blocks:
  | largest = …
  : total = …
  : output = … -> output = np.zeros((*q.shape[:-1], v.shape[-1]))
  | higher = scores.max(axis=-1, keepdims=True)
  | factor, … -> powers = np.exp(scores - origin)
  | total = total … -> total = powers.sum(axis=-1, keepdims=True)
  | output = …
  : largest = higher ->
  :     output = output + powers @ v[..., keys, :] / np.where(
  :         total == 0.0, 1.0, total
  :     )
  | return output / len(range(0, k.shape[-2], block))
  Your output is the mean of the blocks' outputs, each with a softmax of its own: all
    blocks get the same share.
  ? Should a block of small scores get as much weight as one of large scores?
  # A mean of the blocks' results looks like the fair way to put them together.
divided_on_the_way:
  | output = output … ->
  :     output = output * factor + powers @ v[..., keys, :]
  :     output = output / np.where(total == 0.0, 1.0, total)
  | return output
  Your output is divided by the sum so far at each block, and what was divided once is
    divided again.
  ? How often is the first block divided in the end, and how often should it be?
  # The output is to be a mean at any time; FlashAttention's first version does that,
    and multiplies by the old sum before.
divided_on_the_way_and_at_the_end:
  | output = output … ->
  :     output = output * factor + powers @ v[..., keys, :]
  :     output = output / np.where(total == 0.0, 1.0, total)
  Your output is divided by the sum so far at each block, and once more at the end.
  # The division stands inside the loop, and behind it as well.
not_divided: return output
  Your output is a sum of values times powers of e that nothing divides.
  ? What should the weights of a query sum to?
  # The sum is kept with care, and not used.
rest_left_out:
  | range(0, k.shape[-2], block) -> range(0, k.shape[-2] - k.shape[-2] % block, block)
  Your output leaves out the last block where it is shorter than the others.
  ? How many blocks of three are there in seven keys, and what is left?
  # range(m // block) counts the full blocks only.
first_block_left_out: range(0, -> range(block,
  Your output leaves out the first block.
  ? With which key does your loop begin, and what has it before that?
  # The first block is for the beginning of the maximum; its values are lost.
blocks_overlap: start + block -> start + block + 1
  Your blocks have one key too many: the first of the next counts twice.
  ? Which rows does k[..., a : b, :] hold, is b one of them?
  # start + block + 1 is written because the end is taken to be left out.
blocks_with_gaps: start + block -> start + block - 1
  Your blocks have one key too few: between two of them one is left out.
  # start + block − 1 is the last one's index, and ends a slice before it.
block_by_block_only:
  | scores = q … ->
  :     scores = q @ np.swapaxes(k[..., keys, :], -1, -2) / q.shape[-1] ** 0.5
  :     blocks = np.arange(q.shape[-2])[:, np.newaxis] // block
  :     scores = np.where(blocks == start // block, scores, -np.inf)
  Your queries attend within the block of their own number only.
  ? Which blocks of keys does the first block of queries have to meet?
  # One loop goes over blocks of queries and of keys together, where there should be
    one for each.
causal_mask_added:
  | scores = q … ->
  :     scores = q @ np.swapaxes(k[..., keys, :], -1, -2) / q.shape[-1] ** 0.5
  :     i, j = (np.arange(q.shape[-2])[:, np.newaxis], np.arange(k.shape[-2])[keys])
  :     scores = np.where(j <= i, scores, -np.inf)
  Your query i attends to keys 0 … i only, whatever the mask allows.
  ? Does the task say that a query may not attend to later keys?
  # The kernels of language models are causal, and are copied with that.
no_scale: scores = q … -> scores = q @ np.swapaxes(k[..., keys, :], -1, -2)
  Your scores are the plain dot products.
  ? What happens to the dot products before the softmax?
  # The scale is lost among everything else that the loop has to do.
scaled_twice: q.shape[-1] ** 0.5 -> q.shape[-1]
  Your dot products are divided by d_k.
  ? Which power of d_k does the formula divide by?
  # The queries are scaled before the loop, and the scores in it once more.
divided_by_root_of_d_v: q.shape[-1] ** 0.5 -> v.shape[-1] ** 0.5
  Your dot products are divided by √d_v, the root of the length of a value.
  ? Which two vectors are multiplied to give a score, and how long are they?
  # The size is read off v: d_k and d_v are equal in most models.
divided_by_root_of_m: q.shape[-1] ** 0.5 -> k.shape[-2] ** 0.5
  Your dot products are divided by √m, the root of the number of keys.
  ? Over how many products does one dot product sum?
  # k.shape[-2] is read for k.shape[-1], or len(k) for the length of a key.
returned_after_the_first_block:
  | largest = higher -> return output / np.where(total == 0.0, 1.0, total)
  Your output is that of the first block of keys alone, whatever follows.
  ? How often does your loop run before it returns?
  # `return` is indented into the loop.
sum_of_the_last_block_or_zeros:
  | total * factor + powers.sum -> powers.sum
  | return np.divide(output, total, out=np.zeros_like(output), where=total > 0.0)
  Your output adds up over the blocks, but is divided by the sum of the last block
    alone, and is 0 where a query may attend to none of that block.
  ? Whose exponentials are in your output when you divide, and whose in your sum?
  # `total = …` stands where the old sum times the factor has to be added.
divided_by_root_of_the_keys_in_the_block:
  | q.shape[-1] ** 0.5 -> k[..., keys, :].shape[-2] ** 0.5
  Your dot products are divided by the root of how many keys the block has.
  ? Over how many products does one dot product sum?
  # shape[-2] of the slice of keys is taken for the length of a key.
divided_by_root_of_the_block: q.shape[-1] ** 0.5 -> block ** 0.5
  Your dot products are divided by the root of block.
  # The length of the slice of keys is taken for the length of a key.
keys_mixed: v = k
  Your output is a mix of the keys.
  ? Keys are for being found: what does a query take home?
  # The slice of the keys is at hand, and used twice.
polarity_reversed: scores, -np.inf) -> -np.inf, scores)
  Your queries attend to the keys that are blocked.
  ? What does True mean in a mask called may_attend?
  # masked_fill(mask, -inf) fills where the mask is True.
mask_ignored:
  | scores = …
  : if may_attend is not None:
  :     scores = … ->
  :     scores = q @ np.swapaxes(k[..., keys, :], -1, -2) / q.shape[-1] ** 0.5
  Your queries attend to all keys, whatever the mask says.
  ? Which of the arguments decides which keys get weight?
  # The loop is made right without a mask first, and the mask is left for later.
mask_of_the_first_block: may_attend[..., keys] -> may_attend[..., :block]
  Your mask is cut to the columns of the first block, for every block; where sizes
    differ, this can raise an error.
  ? Which columns of the mask belong to the keys of the second block?
  # may_attend[..., :block] fits the scores of each full block.
mask_not_cut: may_attend[..., keys] -> may_attend
  Your mask is the whole one, for scores of one block: where sizes differ, that stops.
  ? Which columns of the mask belong to the keys of one block?
  # Keys and values are cut into blocks, and the mask is forgotten.
mask_cut_along_its_second_axis: may_attend[..., keys] -> may_attend[:, keys]
  Your mask is cut along its second axis, which belongs to the keys only where it has
    two.
  ? Which axes may the mask have, by the docstring, and which of them is m?
  # may_attend[:, keys] is right for one sequence.
filled_with_0: scores, -np.inf) -> scores, 0.0)
  Your blocked keys have weight: they count as keys with the score 0.
  ? How large is e to the power of 0?
  # scores * mask is how masks work on pictures.
filled_with_minus_100: scores, -np.inf) -> scores, -100.0)
  A blocked key counts as one with the score −100: with no allowed one far above it, it
    has weight.
  ? Is there a number that is smaller than every score?
  # −100 looks small enough next to scores that lie between −1 and 1.
filled_with_minus_ten_thousand: scores, -np.inf) -> scores, -10000.0)
  A blocked key counts as one with the score −10000: with no allowed one above it, it
    has weight.
  # −10000 fits into float16, and is in BERT's code.
filled_with_minus_a_billion: scores, -np.inf) -> scores, -1e9)
  A blocked key counts as one with a score such as −10⁹: with no allowed one above it,
    it has weight.
  ? Is there a number that is smaller than every score?
  # −1e9 is in The Annotated Transformer, and there is no −∞ less −∞ with it.
maximum_of_blocked_keys_too:
  | scores = …
  : if may_attend is not None:
  :     scores = … ->
  :     scores = q @ np.swapaxes(k[..., keys, :], -1, -2) / q.shape[-1] ** 0.5
  | factor, … ->
  :     factor, powers = (np.exp(largest - origin), np.exp(scores - origin))
  :     if may_attend is not None:
  :         powers = powers * may_attend[..., keys]
  Your maximum counts blocked keys, too: where one of them has by far the largest
    score, the exponentials of the others are 0.
  ? Among which keys should the largest score be looked for?
  # The mask is applied to the exponentials, which are positive and easily made 0.
blocked_keys_in_the_sum:
  | scores = …
  : if may_attend is not None:
  :     scores = … ->
  :     scores = q @ np.swapaxes(k[..., keys, :], -1, -2) / q.shape[-1] ** 0.5
  | output = output … ->
  :     if may_attend is not None:
  :         powers = powers * may_attend[..., keys]
  :     output = output * factor + powers @ v[..., keys, :]
  Your sum counts the blocked keys, and your output does not.
  ? To whom does the share of a blocked key go?
  # The mask is applied just before the values are mixed.
infinity_less_infinity: origin = higher
  Your output is NaN for a query that may attend to nothing in the first block.
  ? What is −∞ less −∞, and which query has a maximum of −∞?
  # The formulas of online_softmax hold as they are, until a block has no score at all
    for a query.
nan_made_zero:
  | origin = higher
  | return np.nan_to_num(output / total)
  Your output is 0 for a query that may attend to nothing in the first block, whatever
    it may attend to later: NaN is made 0 in the end.
  ? What is −∞ less −∞, and what becomes of a sum once it is NaN?
  # np.nan_to_num mends what can be seen, not what is wrong.
block_left_out_for_all:
  | origin = … ->
  :     if (higher == -np.inf).any():
  :         continue
  :     origin = higher
  Your loop leaves a block out for all queries if one of them has had no key yet.
  ? Of which queries is the maximum −∞, and what about the others?
  # `if np.isinf(largest).any(): continue` keeps NaN out.
nan_without_keys: return output / total
  Your output is 0 / 0 for a query that may attend to no key.
  ? What does the docstring promise for a query that may attend to no key?
  # The division at the end is that of a softmax, which always has a sum.
sums_returned_as_well:
  | return (
  :     output / np.where(total == 0.0, 1.0, total),
  :     (largest + np.log(total))[..., 0],
  : )
  Your result is a tuple: the output, and a number for each query.
  ? How many results does the docstring promise?
  # FlashAttention returns the logarithms of the sums along with the output.
""",
)


def scaled(q, size):
    """Return queries divided by a root."""
    return q / size**0.5


exercise.edits(
    """
maximum_not_stored:
  | output = …
  : largest = higher -> output = output * factor + powers @ v[..., keys, :]
  Your maximum is never stored, so the old one is −∞ in every block: the factor is 0,
    and only the last block is left.
  ? What does your variable for the maximum hold when the second block comes?
  # The new maximum has a name of its own, and the old one keeps its number.
output_of_the_last_block: output * factor + powers -> powers
  Your output holds the values of the last block alone, over the sum of all blocks.
  ? What happens to the output of the earlier blocks when a new one comes?
  # = stands where a sum was meant.
""",
)

exercise.family(
    families.squeezed(),
    families.as_list(),
    families.in_place("q", lambda q, *_: scaled(q, q.shape[-1])),
    families.in_place(
        "q", lambda q, k, v, *_: scaled(q, v.shape[-1]), "by_root_of_d_v"
    ),
)
