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


@exercise.variants
def variants(
    q,
    k,
    v,
    block,
    may_attend=None,
    *,
    scale="√d_k",
    blocks="all",
    attends="to any block",
    maximum="so far",
    started="−∞",
    rescaled="both",
    sums="so far",
    divided="at the end",
    mixed="values",
    true_means="may attend",
    mask="of the block",
    blocked="−∞",
    nothing_so_far="0 taken off",
    without_keys="zeros",
    returned="output",
):
    (n, d_k), m = q.shape[-2:], k.shape[-2]
    v = k if mixed == "keys" else v
    if divided.startswith("in each block"):
        maximum = "of each block, not rescaled"
    under_the_root = {"√d_k": d_k, "d_k": d_k**2, "√d_v": v.shape[-1], "√m": m}
    under_the_root["√block"] = block
    if may_attend is not None and true_means == "blocked":
        may_attend = ~may_attend
    lowest = {"−∞": -np.inf, "0": 0.0}[started]
    largest = np.full((*q.shape[:-1], 1), lowest)
    total, output = np.zeros((*q.shape[:-1], 1)), np.zeros((*q.shape[:-1], v.shape[-1]))
    starts = range(0, m - m % block if blocks == "full ones" else m, block)
    starts = starts[1:] if blocks == "all but the first" else starts
    starts = starts[:1] if blocks == "the first" else starts
    reach = {"one too far": 1, "one too short": -1}.get(blocks, 0)
    for start in starts:
        keys = slice(start, start + block + reach)
        if keys.stop == start:
            continue
        scores = q @ np.swapaxes(k[..., keys, :], -1, -2)
        under_the_root["√keys of the block"] = scores.shape[-1]
        scores = scores / under_the_root.get(scale, 1) ** 0.5
        allowed = np.ones(scores.shape, bool)
        if may_attend is not None and mask != "ignored":
            columns = {"of the first block": slice(block), "of all": slice(m)}
            part = (..., columns.get(mask, keys))
            if mask == "of the block, along the second axis":
                part = (slice(None), keys)
            # Where that does not fit, np.where stops, as most answers do.
            allowed = np.where(may_attend[part], allowed, False)
        i, j = np.arange(n)[:, np.newaxis], np.arange(m)[keys]
        if attends == "to the block of its number":
            allowed = allowed & (i // block == j // block)
        elif attends == "to earlier positions":
            allowed = allowed & (j <= i)
        numbers = {"0": 0.0, "−10⁹": -1e9}
        if blocked not in ("behind the powers", "behind the sum"):
            scores = np.where(allowed, scores, numbers.get(blocked, -np.inf))

        own = scores.max(axis=-1, keepdims=True)
        higher = {
            "of the newest block": own,
            "of each block, not rescaled": own,
            "of the first block": own if start == 0 else largest,
            "of all queries": np.maximum(largest, scores.max()),
            "none": np.zeros_like(largest),
            "not stored": np.maximum(largest, own),
        }.get(maximum, np.maximum(largest, own))
        if nothing_so_far == "block left out" and np.isinf(higher).any():
            continue
        origin = higher
        if nothing_so_far in ("0 taken off", "block left out"):
            origin = np.where(np.isinf(higher), 0.0, higher)
        powers = np.exp(scores - origin)
        if blocked == "behind the powers":
            powers = powers * allowed
        new = powers.sum(axis=-1, keepdims=True)
        if blocked == "behind the sum":
            powers = powers * allowed
        factor = np.exp(largest - origin)
        if rescaled == "upside down":
            factor = np.exp(origin - largest)
        elif rescaled == "upside down from the second block on":
            factor = 0.0 if start == 0 else np.exp(origin - largest)
        once = maximum.endswith("not rescaled")
        total_factor = 1.0 if once or rescaled in ("output", "neither") else factor
        output_factor = 1.0 if once or rescaled in ("sum", "neither") else factor
        if divided.startswith("in each block"):
            powers = powers / np.where(new == 0.0, 1.0, new)
        total = (
            0.0 if sums.startswith("of the last block") else total * total_factor
        ) + new
        if sums == "so far, the output of the last block":
            output_factor = 0.0
        output = output * output_factor + powers @ v[..., keys, :]
        if divided.startswith("on the way"):
            output = output / np.where(total == 0.0, 1.0, total)
        largest = largest if maximum == "not stored" else higher

    if divided == "in each block, averaged":
        output = output / len(starts)
    elif divided.endswith("at the end"):
        is_nothing = total == 0.0 if without_keys == "zeros" else False
        output = output / np.where(is_nothing, 1.0, total)
        if sums == "of the last block, zeros where it is 0":
            output = np.where(total == 0.0, 0.0, output)
    if nothing_so_far == "NaN made 0":
        output = np.nan_to_num(output)
    if returned == "sums as well":
        return output, (largest + np.log(total))[..., 0]
    return output


exercise.option(
    "neither_rescaled",
    "Your sum and your output keep what the earlier blocks have put in, measured by "
    "their own maximum, which was smaller.",
    "When the maximum grows, by which factor is everything summed so far too large?",
    why="total += new and output += new is how sums are made.",
    rescaled="neither",
)
exercise.option(
    "output_not_rescaled",
    "Your sum is rescaled when the maximum grows, and your output is not.",
    "Which of the numbers that you keep from block to block are measured by the old "
    "maximum?",
    why="The factor is known from online_softmax, where there is only the sum.",
    rescaled="sum",
)
exercise.option(
    "sum_not_rescaled",
    "Your output is rescaled when the maximum grows, and your sum is not.",
    "Which of the numbers that you keep from block to block are measured by the old "
    "maximum?",
    why="The output is what counts, and the sum is updated in a line of its own.",
    rescaled="output",
)
exercise.option(
    "rescaled_upside_down",
    "Your sum and your output so far are multiplied by e to the power of the new "
    "maximum less the old one: at the first block, with a maximum of −∞, that is ∞ "
    "times 0.",
    "If the maximum grows, must what was summed before shrink or grow?",
    why="The sign of the difference slips.",
    rescaled="upside down",
)
exercise.option(
    "rescaled_upside_down_later",
    "Your sum and your output so far are multiplied by e to the power of the new "
    "maximum less the old one.",
    "If the maximum grows, must what was summed before shrink or grow?",
    why="The same, with the first block treated on its own.",
    rescaled="upside down from the second block on",
)
exercise.option(
    "maximum_of_the_newest_block",
    "Your maximum is that of the newest block, even where an earlier block had a "
    "larger one: e to the power of the fall is inf where it is large.",
    "May the running maximum fall?",
    why="The formulas still hold with any number subtracted, so small scores show "
    "nothing.",
    maximum="of the newest block",
)
exercise.option(
    "maximum_of_each_block",
    "Your exponentials of each block are measured by the maximum of that block alone, "
    "and added up.",
    "Can exponentials be added that are measured by different maxima?",
    why="Each block is treated as attention of its own.",
    maximum="of each block, not rescaled",
)
exercise.option(
    "maximum_of_the_first_block",
    "Your maximum is that of the first block: exponentials of what lies far above it "
    "are inf.",
    "What if a larger score comes in a later block?",
    why="Nothing has to be rescaled if the maximum never changes.",
    maximum="of the first block",
)
exercise.option(
    "no_maximum",
    "Your exponentials are of the scores as they are: inf where one is large, and all "
    "0 where those of a query lie far below 0.",
    "What may you do to all scores of a query without changing its weights?",
    why="Sums of exp(scores) need no rescaling at all, which looks like progress.",
    maximum="none",
)
exercise.option(
    "maximum_started_at_0",
    "Your maximum is never below 0: the exponentials of a query whose scores all lie "
    "far below it are 0.",
    "What is the largest of no scores at all?",
    why="np.zeros is how an accumulator begins.",
    started="0",
)
exercise.option(
    "one_maximum_for_all_queries",
    "Your queries share one maximum: exponentials of a query whose scores lie far "
    "below those of another are 0.",
    "Whose largest score does a query need?",
    why="scores.max() without an axis is enough against overflow.",
    maximum="of all queries",
)
exercise.option(
    "sum_of_the_last_block",
    "Your output is divided by the sum of the last block alone.",
    "What happens to the sum of the earlier blocks when a new one comes?",
    why="total = … is written for total = total · factor + ….",
    sums="of the last block",
)
exercise.option(
    "blocks_added_up",
    "Your output is a sum of as many means as there are blocks: each block is divided "
    "by its own sum.",
    "What should the weights of a query sum to, over all blocks together?",
    why="attention(q, k_block, v_block) is at hand, and the results are added up.",
    divided="in each block",
)
exercise.option(
    "mean_of_the_blocks",
    "Your output is the mean of the blocks' outputs, each with a softmax of its own: "
    "all blocks get the same share.",
    "Should a block of small scores get as much weight as one of large scores?",
    why="A mean of the blocks' results looks like the fair way to put them together.",
    divided="in each block, averaged",
)
exercise.option(
    "divided_on_the_way",
    "Your output is divided by the sum so far at each block, and what was divided once "
    "is divided again.",
    "How often is the first block divided in the end, and how often should it be?",
    why="The output is to be a mean at any time; FlashAttention's first version does "
    "that, and multiplies by the old sum before.",
    divided="on the way",
)
exercise.option(
    "divided_on_the_way_and_at_the_end",
    "Your output is divided by the sum so far at each block, and once more at the end.",
    "How often is the first block divided in the end, and how often should it be?",
    why="The division stands inside the loop, and behind it as well.",
    divided="on the way and at the end",
)
exercise.option(
    "not_divided",
    "Your output is a sum of values times powers of e that nothing divides.",
    "What should the weights of a query sum to?",
    why="The sum is kept with care, and not used.",
    divided="not at all",
)
exercise.option(
    "rest_left_out",
    "Your output leaves out the last block where it is shorter than the others.",
    "How many blocks of three are there in seven keys, and what is left?",
    why="range(m // block) counts the full blocks only.",
    blocks="full ones",
)
exercise.option(
    "first_block_left_out",
    "Your output leaves out the first block.",
    "With which key does your loop begin, and what has it before that?",
    why="The first block is for the beginning of the maximum; its values are lost.",
    blocks="all but the first",
)
exercise.option(
    "blocks_overlap",
    "Your blocks have one key too many: the first of the next counts twice.",
    "Which rows does k[..., a : b, :] hold, is b one of them?",
    why="start + block + 1 is written because the end is taken to be left out.",
    blocks="one too far",
)
exercise.option(
    "blocks_with_gaps",
    "Your blocks have one key too few: between two of them one is left out.",
    "Which rows does k[..., a : b, :] hold, is b one of them?",
    why="start + block − 1 is the last one's index, and ends a slice before it.",
    blocks="one too short",
)
exercise.option(
    "block_by_block_only",
    "Your queries attend within the block of their own number only.",
    "Which blocks of keys does the first block of queries have to meet?",
    why="One loop goes over blocks of queries and of keys together, where there should "
    "be one for each.",
    attends="to the block of its number",
)
exercise.option(
    "causal_mask_added",
    "Your query i attends to keys 0 … i only, whatever the mask allows.",
    "Does the task say that a query may not attend to later keys?",
    why="The kernels of language models are causal, and are copied with that.",
    attends="to earlier positions",
)
exercise.option(
    "no_scale",
    "Your scores are the plain dot products.",
    "What happens to the dot products before the softmax?",
    why="The scale is lost among everything else that the loop has to do.",
    scale="none",
)
exercise.option(
    "scaled_twice",
    "Your dot products are divided by d_k.",
    "Which power of d_k does the formula divide by?",
    why="The queries are scaled before the loop, and the scores in it once more.",
    scale="d_k",
)
exercise.option(
    "divided_by_root_of_d_v",
    "Your dot products are divided by √d_v, the root of the length of a value.",
    "Which two vectors are multiplied to give a score, and how long are they?",
    why="The size is read off v: d_k and d_v are equal in most models.",
    scale="√d_v",
)
exercise.option(
    "divided_by_root_of_m",
    "Your dot products are divided by √m, the root of the number of keys.",
    "Over how many products does one dot product sum?",
    why="k.shape[-2] is read for k.shape[-1], or len(k) for the length of a key.",
    scale="√m",
)
exercise.option(
    "returned_after_the_first_block",
    "Your output is that of the first block of keys alone, whatever follows.",
    "How often does your loop run before it returns?",
    why="`return` is indented into the loop.",
    blocks="the first",
)
exercise.option(
    "sum_of_the_last_block_or_zeros",
    "Your output adds up over the blocks, but is divided by the sum of the last block "
    "alone, and is 0 where a query may attend to none of that block.",
    "Whose exponentials are in your output when you divide, and whose in your sum?",
    why="`total = …` stands where the old sum times the factor has to be added.",
    sums="of the last block, zeros where it is 0",
)
exercise.option(
    "divided_by_root_of_the_keys_in_the_block",
    "Your dot products are divided by the root of how many keys the block has.",
    "Over how many products does one dot product sum?",
    why="shape[-2] of the slice of keys is taken for the length of a key.",
    scale="√keys of the block",
)
exercise.option(
    "divided_by_root_of_the_block",
    "Your dot products are divided by the root of block.",
    "Over how many products does one dot product sum?",
    why="The length of the slice of keys is taken for the length of a key.",
    scale="√block",
)
exercise.option(
    "keys_mixed",
    "Your output is a mix of the keys.",
    "Keys are for being found: what does a query take home?",
    why="The slice of the keys is at hand, and used twice.",
    mixed="keys",
)
exercise.option(
    "polarity_reversed",
    "Your queries attend to the keys that are blocked.",
    "What does True mean in a mask called may_attend?",
    why="masked_fill(mask, -inf) fills where the mask is True.",
    true_means="blocked",
)
exercise.option(
    "mask_ignored",
    "Your queries attend to all keys, whatever the mask says.",
    "Which of the arguments decides which keys get weight?",
    why="The loop is made right without a mask first, and the mask is left for later.",
    mask="ignored",
)
exercise.option(
    "mask_of_the_first_block",
    "Your mask is cut to the columns of the first block, for every block; where sizes "
    "differ, this can raise an error.",
    "Which columns of the mask belong to the keys of the second block?",
    why="may_attend[..., :block] fits the scores of each full block.",
    mask="of the first block",
)
exercise.option(
    "mask_not_cut",
    "Your mask is the whole one, for scores of one block: where sizes differ, that "
    "stops.",
    "Which columns of the mask belong to the keys of one block?",
    why="Keys and values are cut into blocks, and the mask is forgotten.",
    mask="of all",
)
exercise.option(
    "mask_cut_along_its_second_axis",
    "Your mask is cut along its second axis, which belongs to the keys only where it "
    "has two.",
    "Which axes may the mask have, by the docstring, and which of them is m?",
    why="may_attend[:, keys] is right for one sequence.",
    mask="of the block, along the second axis",
)
exercise.option(
    "filled_with_0",
    "Your blocked keys have weight: they count as keys with the score 0.",
    "How large is e to the power of 0?",
    why="scores * mask is how masks work on pictures.",
    blocked="0",
)
exercise.option(
    "filled_with_minus_a_billion",
    "A blocked key counts as one with the score −10⁹: where no allowed one is above "
    "that, it has weight.",
    "Is there a number that is smaller than every score?",
    why="−1e9 is in The Annotated Transformer, and there is no −∞ less −∞ with it.",
    blocked="−10⁹",
)
exercise.option(
    "maximum_of_blocked_keys_too",
    "Your maximum counts blocked keys, too: where one of them has by far the largest "
    "score, the exponentials of the others are 0.",
    "Among which keys should the largest score be looked for?",
    why="The mask is applied to the exponentials, which are positive and easily made "
    "0.",
    blocked="behind the powers",
)
exercise.option(
    "blocked_keys_in_the_sum",
    "Your sum counts the blocked keys, and your output does not.",
    "To whom does the share of a blocked key go?",
    why="The mask is applied just before the values are mixed.",
    blocked="behind the sum",
)
exercise.option(
    "infinity_less_infinity",
    "Your output is NaN for a query that may attend to nothing in the first block.",
    "What is −∞ less −∞, and which query has a maximum of −∞?",
    why="The formulas of online_softmax hold as they are, until a block has no score "
    "at all for a query.",
    nothing_so_far="nothing taken care of",
)
exercise.option(
    "nan_made_zero",
    "Your output is 0 for a query that may attend to nothing in the first block, "
    "whatever it may attend to later: NaN is made 0 in the end.",
    "What is −∞ less −∞, and what becomes of a sum once it is NaN?",
    why="np.nan_to_num mends what can be seen, not what is wrong.",
    nothing_so_far="NaN made 0",
)
exercise.option(
    "block_left_out_for_all",
    "Your loop leaves a block out for all queries if one of them has had no key yet.",
    "Of which queries is the maximum −∞, and what about the others?",
    why="`if np.isinf(largest).any(): continue` keeps NaN out.",
    nothing_so_far="block left out",
)
exercise.option(
    "nan_without_keys",
    "Your output is 0 / 0 for a query that may attend to no key.",
    "What does the docstring promise for a query that may attend to no key?",
    why="The division at the end is that of a softmax, which always has a sum.",
    without_keys="0 / 0",
)
exercise.option(
    "sums_returned_as_well",
    "Your result is a tuple: the output, and a number for each query.",
    "How many results does the docstring promise?",
    why="FlashAttention returns the logarithms of the sums along with the output.",
    returned="sums as well",
)


def scaled(q, size):
    """Return queries divided by a root."""
    return q / size**0.5


exercise.option(
    "maximum_not_stored",
    "Your maximum is never stored, so the old one is −∞ in every block: the factor "
    "is 0, and only the last block is left.",
    "What does your variable for the maximum hold when the second block comes?",
    why="The new maximum has a name of its own, and the old one keeps its number.",
    maximum="not stored",
)
exercise.option(
    "output_of_the_last_block",
    "Your output holds the values of the last block alone, over the sum of all blocks.",
    "What happens to the output of the earlier blocks when a new one comes?",
    why="= stands where a sum was meant.",
    sums="so far, the output of the last block",
)
exercise.family(
    families.squeezed(),
    families.as_list(),
    families.in_place("q", lambda q, *_: scaled(q, q.shape[-1])),
    families.in_place(
        "q", lambda q, k, v, *_: scaled(q, v.shape[-1]), "by_root_of_d_v"
    ),
)
