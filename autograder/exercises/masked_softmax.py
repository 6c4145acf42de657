"""Cases and misconceptions of ``masked_softmax``."""

import math

import numpy as np

from autograder import Exercise
from course_lib.attention import softmax
from course_lib.masks import masked_softmax

exercise = Exercise(
    masked_softmax,
    lesson="04_masking",
    minutes=15,
    difficulty=3,
    library=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch._safe_softmax",
        "torch.masked.softmax",
        "torch.masked.MaskedTensor",
        "torch.sparse.softmax",
        "torch.autograd.grad",
    ),
)


@exercise.spec
def spec(scores, may_attend):
    weights = np.zeros(scores.shape)
    allowed = np.broadcast_to(may_attend, scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        keys = [j for j in range(scores.shape[-1]) if allowed[*index, j]]
        if not keys:
            continue
        largest = max(float(scores[*index, j]) for j in keys)
        powers = [math.exp(float(scores[*index, j]) - largest) for j in keys]
        for j, power in zip(keys, powers, strict=True):
            weights[*index, j] = power / sum(powers)
    return weights


@exercise.usual
def usual(rng):
    # The first row may attend to nothing.
    return rng.normal(size=(2, 5, 7)), np.tri(5, 7, -1, dtype=bool)


@exercise.case("Of the keys that are allowed, each gets its share")
def small_example_by_hand(student, rng):
    scores = np.log([[1.0, 3.0, 4.0], [2.0, 9.0, 2.0]])
    may_attend = np.array([[True, True, False], [True, False, True]])
    shares = np.array([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5]])
    student.expect(student(scores, may_attend), shares)


@exercise.case("An axis of length 1 in the mask counts for all queries or sequences")
def axes_of_length_one(student, rng):
    scores = rng.normal(size=(2, 3, 5, 7))
    lengths = np.array([4, 7])[:, np.newaxis, np.newaxis, np.newaxis]
    student.agrees(scores, np.arange(7) < lengths)
    student.agrees(scores, np.tri(5, 7, dtype=bool))


@exercise.case(
    "A row in which no key is allowed is all zeros, and changes no other row"
)
def row_without_keys(student, rng):
    scores = np.array([[1.0, 2.0, 1.0], [4.0, 0.0, 4.0]])
    may_attend = np.array([[True, False, True], [False, False, False]])
    shares = np.array([[0.5, 0, 0.5], [0, 0, 0]])
    student.expect(student(scores, may_attend), shares)
    # e to the power of 1000 overflows if nothing is subtracted in this row either.
    large = np.array([[1000.0, 2000.0, 1000.0], [1.0, 2.0, 3.0]])
    student.expect(student(large, may_attend), shares)


@exercise.case("Blocked keys get no weight next to scores of any size")
def scores_of_any_size(student, rng):
    scores = [
        [9999.0, 1e4, 2e4],
        # 715 above the others: its power overflows, their shares are not yet lost.
        [0.0, 1.0, 716.0],
        [-1e4, 0.0, 5.0],
        [-1e10, 0.0, 5.0],
        [-1e39, 0.0, 5.0],
    ]
    may_attend = 2 * [[True, True, False]] + 3 * [[True, False, False]]
    two = [1 / (1 + math.e), math.e / (1 + math.e), 0.0]
    expected = np.array(2 * [two] + 3 * [[1.0, 0.0, 0.0]])
    student.expect(student(np.array(scores), np.array(may_attend)), expected)


@exercise.case("With as many keys as queries, row i still belongs to query i")
def as_many_keys_as_queries(student, rng):
    may_attend = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 1]]) > 0
    student.agrees(rng.normal(size=(4, 4)), may_attend)


@exercise.case("Whole numbers as scores give fractions as weights")
def whole_numbers(student, rng):
    may_attend = np.array([[True, True, False], [False, True, True]])
    student.agrees(np.array([[2, 1, 5], [7, -3, -2]]), may_attend)


@exercise.case("The scores and the mask stay as they are")
def arguments_stay(student, rng):
    scores = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.5]])
    student.leaves_unchanged(scores, np.tri(2, 3, dtype=bool))


@exercise.case(
    "What the score of a blocked key is plays no part", visible=False, pays_alone=False
)
def blocked_scores_play_no_part(student, rng):
    scores, may_attend = rng.normal(size=(5, 7)), np.tri(5, 7, dtype=bool)
    before = student(scores, may_attend)
    others = np.where(may_attend, scores, 1000.0 * rng.normal(size=(5, 7)))
    student.expect(student(others, may_attend), before)


@exercise.case(
    "Sequences without tokens get zeros, the others their shares", visible=False
)
def sequences_without_tokens(student, rng):
    scores = np.swapaxes(rng.normal(size=(3, 7, 5)), -1, -2)
    lengths = np.array([0, 4, 7])[:, np.newaxis, np.newaxis]
    student.agrees(scores, np.arange(7) < lengths)
    student.agrees(scores, (np.arange(7) < lengths) & np.tri(5, 7, -2, dtype=bool))


@exercise.misconception(
    "Your weights are those of a softmax over all keys, with zeros written over the "
    "blocked ones: your rows sum to less than 1.",
    "To whom does the share of a blocked key go?",
    why="The mask is applied to the weights, as it was in timm's EVA before "
    "huggingface/pytorch-image-models#2236.",
)
def masked_after_softmax(scores, may_attend):
    return softmax(scores) * may_attend


@exercise.misconception(
    "Your weights are 0 / 0 where a blocked key has by far the largest score, or where "
    "all keys are blocked: you mask after the softmax and divide again.",
    "If a blocked key has taken all the weight, what is left to be shared out?",
    why="Masking late and dividing by the sum is the same in exact numbers, and is a "
    "first version in textbooks.",
)
def divided_again_afterwards(scores, may_attend):
    weights = softmax(scores) * may_attend
    return weights / weights.sum(axis=-1, keepdims=True)


@exercise.misconception(
    "Your rows are all zeros where a blocked key has by far the largest score: it is "
    "that score which you subtract before exp.",
    "Among which keys should the largest score be looked for?",
    why="The maximum is taken of the scores as they came, before the mask.",
)
def largest_of_all_keys(scores, may_attend):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) * may_attend
    totals = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(totals > 0, totals, 1.0)


@exercise.misconception(
    "Your weights are NaN where a blocked key's score is far above the others, since e "
    "to its power is ∞, and ∞ · 0 is no number; also where all keys are blocked.",
    "Which score has e to its power exactly 0, so that no mask is needed afterwards?",
    why="The largest allowed score is subtracted from all scores, and the powers are "
    "multiplied by the mask: a blocked score can still be far above it.",
)
def blocked_powers_overflow(scores, may_attend):
    largest = np.where(may_attend, scores, -np.inf).max(axis=-1, keepdims=True)
    powers = np.exp(scores - largest) * may_attend
    return powers / powers.sum(axis=-1, keepdims=True)


@exercise.misconception(
    "Your weights are NaN where a blocked key's score is far above the others: e to "
    "its power is ∞, and ∞ · 0 is no number.",
    "Which score has e to its power exactly 0, so that no mask is needed afterwards?",
    why="The same, after rows without keys have been mended.",
)
def blocked_powers_overflow_beside_keys(scores, may_attend):
    largest = np.where(may_attend, scores, -np.inf).max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(largest), largest, scores))
    powers = powers * may_attend
    totals = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(totals > 0, totals, 1.0)


@exercise.misconception(
    "Your weights are NaN in rows of large scores, but only if in another row all "
    "keys are blocked.",
    "If the largest score of one row is −∞, in which rows do you subtract nothing?",
    why="`if np.isinf(largest).any(): largest = 0` mends the blocked row, and undoes "
    "the subtraction in every other row.",
)
def nothing_taken_off_in_any_row(scores, may_attend):
    allowed = np.where(may_attend, scores, -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    powers = np.exp(allowed - (0.0 if np.isinf(largest).any() else largest))
    totals = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(totals > 0, totals, 1.0)


@exercise.misconception(
    "Your blocked keys have weight: you give them the score 0.",
    "How large is e to the power of 0?",
    why="scores * mask is how masks work on pictures; georg-wolflein/good-features#1 "
    "found it in a published model.",
)
def scores_times_mask(scores, may_attend):
    return softmax(scores * may_attend)


@exercise.misconception(
    "Your blocked keys have weight: the mask is added to the scores, 1 where a key is "
    "allowed and 0 where it is not.",
    "What would have to be added to a score to leave it without any weight?",
    why="Masks of ones and zeros are handed to functions that add them: "
    "pytorch/pytorch#21518 and timeseriesAI/tsai#171.",
)
def mask_added(scores, may_attend):
    return softmax(scores + may_attend)


@exercise.misconception(
    "Your blocked keys have the score −10⁹: where all others are lower, they take all "
    "the weight, and a row in which all are blocked is shared out equally.",
    "Is there a number that is smaller than every score?",
    why="masked_fill(mask == 0, -1e9) is in The Annotated Transformer and wherever it "
    "was copied.",
)
def filled_with_minus_a_billion(scores, may_attend):
    return softmax(np.where(may_attend, scores, -1e9))


@exercise.misconception(
    "Your blocked keys have the score −100: where all others are lower, they take all "
    "the weight, and a row in which all are blocked is shared out equally.",
    "Is there a number that is smaller than every score?",
    why="Scores of a fresh model lie near 0, so −100 looks like plenty.",
)
def filled_with_minus_a_hundred(scores, may_attend):
    return softmax(np.where(may_attend, scores, -100.0))


@exercise.misconception(
    "Your blocked keys have the smallest number of float32 as their score: it is large "
    "next to −10³⁹, and a row in which all are blocked is shared out equally.",
    "Is there a number that is smaller than every score?",
    why="Hugging Face's transformers block scores with torch.finfo(torch.float32).min.",
)
def filled_with_the_smallest_float32(scores, may_attend):
    return softmax(np.where(may_attend, scores, float(np.finfo(np.float32).min)))


@exercise.misconception(
    "Your blocked keys have their own score less 10000: where that is still the "
    "largest, they take the weight.",
    "If a blocked key's score is 20000 above the others, what is it afterwards?",
    why="(1 - mask) * -10000.0 is added to the scores in BERT's code.",
)
def ten_thousand_taken_off(scores, may_attend):
    return softmax(scores + (1.0 - may_attend) * -10000.0)


@exercise.misconception(
    "Your weights are NaN in a row in which all keys are blocked.",
    "What is −∞ less −∞, if the largest score of a row is −∞?",
    why="The plain softmax of a row of −∞; PyTorch's own attention gave NaN until 2024 "
    "(pytorch/pytorch#103963, #131060).",
)
def nan_in_rows_without_keys(scores, may_attend):
    return softmax(np.where(may_attend, scores, -np.inf))


@exercise.misconception(
    "Your row in which all keys are blocked shares its weight out equally.",
    "What does the docstring promise for a row without keys?",
    why="With the smallest float there is never NaN, and equal scores get equal "
    "weights.",
)
def rows_without_keys_shared_out(scores, may_attend):
    return softmax(np.where(may_attend, scores, np.finfo(float).min))


@exercise.misconception(
    "Your weights lie on the blocked keys, and the others have none.",
    "What does True mean in a mask called may_attend?",
    why="masked_fill(mask, -inf) fills where the mask is True.",
)
def polarity_reversed(scores, may_attend):
    return masked_softmax(scores, ~may_attend)


@exercise.misconception(
    "Your columns of weights sum to 1, not your rows.",
    "Who shares out a weight of 1: a query among the keys, or a key among the queries?",
    why="axis=-2, or axis=0 on a table, is taken for 'along the rows'.",
)
def softmax_over_queries(scores, may_attend):
    turned = np.swapaxes(np.broadcast_to(may_attend, scores.shape), -1, -2)
    return np.swapaxes(masked_softmax(np.swapaxes(scores, -1, -2), turned), -1, -2)


@exercise.misconception(
    "Your weights are right for small scores; far above 0 they are NaN, and far below "
    "they are all 0.",
    "How large is e to the power of 10000 in floating point, and to that of −10000?",
    why="exp(scores) * mask / sum is written down without subtracting a maximum first.",
)
def exponentials_overflow(scores, may_attend):
    powers = np.exp(np.where(may_attend, scores, -np.inf))
    totals = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(totals > 0, totals, 1.0)


@exercise.misconception(
    "Your weights are right, and the caller's blocked scores are −∞ afterwards.",
    "Does scores[...] = … make a new array, or write into the caller's?",
    why="masked_fill_ and scores[~mask] = -inf write in place.",
)
def scores_filled_in_place(scores, may_attend):
    if scores.dtype.kind == "f":
        scores[~np.broadcast_to(may_attend, scores.shape)] = -np.inf
    return masked_softmax(scores, may_attend)


@exercise.misconception(
    "Your fractions are cut off when the scores are whole numbers: your result takes "
    "its type from them.",
    "Which type of numbers does np.zeros_like(scores) make room for?",
    why="zeros_like copies the type along with the shape.",
)
def room_like_the_scores(scores, may_attend):
    weights = np.zeros_like(scores)
    weights[...] = masked_softmax(scores, may_attend)
    return weights
