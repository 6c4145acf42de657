"""Cases and misconceptions of ``masked_softmax``."""

import math

import numpy as np

from autograder import Exercise, families
from autograder.exercises.attention import exercise as attention_exercise
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


@exercise.case("Of the keys that are allowed, each gets its share", weight=0.5)
def small_example_by_hand(student, rng):
    scores = np.log([[1.0, 3.0, 4.0], [2.0, 9.0, 2.0]])
    may_attend = np.array([[True, True, False], [True, False, True]])
    shares = np.array([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5]])
    student.expect(student(scores, may_attend), shares)


@exercise.case(
    "An axis of length 1 in the mask counts for all queries or sequences", weight=1.5
)
def axes_of_length_one(student, rng):
    scores = rng.normal(size=(2, 3, 5, 7))
    lengths = np.array([4, 7])[:, np.newaxis, np.newaxis, np.newaxis]
    student.agrees(scores, np.arange(7) < lengths)
    student.agrees(scores, np.tri(5, 7, dtype=bool))
    student.agrees(scores, np.arange(7) > 2)
    # Small weights are weights, too: down to e to the power of −10.
    rows = np.stack([rng.permutation(-2.0 * np.arange(6)) for _ in range(2)])
    student.agrees(rows, rows[:1] < 0)


@exercise.case(
    "A row in which no key is allowed is all zeros, and changes no other row", weight=2
)
def row_without_keys(student, rng):
    scores = np.array([[1.0, 2.0, 1.0], [4.0, 0.0, 4.0]])
    may_attend = np.array([[True, False, True], [False, False, False]])
    shares = np.array([[0.5, 0, 0.5], [0, 0, 0]])
    student.expect(student(scores, may_attend), shares)
    # e to the power of 1000 overflows if nothing is subtracted in this row either.
    large = np.array([[1000.0, 2000.0, 1000.0], [1.0, 2.0, 3.0]])
    student.expect(student(large, may_attend), shares)
    student.agrees(rng.normal(size=(3, 5)), np.tri(3, 5, -1, dtype=bool))


@exercise.case("A mask that allows everything leaves the softmax", weight=0.25)
def everything_allowed(student, rng):
    student.agrees(rng.normal(size=(3, 4)), np.ones((3, 4), bool))


@exercise.case("A mask that blocks everything gives zeros only", weight=0.25)
def nothing_allowed(student, rng):
    scores = np.array([[5.0, 9.0, -1.0], [4.0, 0.0, 4.0]])
    student.expect(student(scores, np.zeros((2, 3), bool)), np.zeros((2, 3)))


@exercise.case("Blocked keys get no weight next to scores of any size", weight=0.5)
def scores_of_any_size(student, rng):
    scores = [
        [9999.0, 1e4, 2e4],
        # 715 above the others: its power overflows, their shares are not yet lost.
        [0.0, 1.0, 716.0],
        [0.0, 1.0, 1e10],
        [2e4, 0.0, 1.0],
        [-1e4, 0.0, 5.0],
        [-1e8, 0.0, 5.0],
        [-1e10, 0.0, 5.0],
    ]
    may_attend = 3 * [[True, True, False]] + 4 * [[True, False, False]]
    two = [1 / (1 + math.e), math.e / (1 + math.e), 0.0]
    expected = np.array(3 * [two] + 4 * [[1.0, 0.0, 0.0]])
    student.expect(student(np.array(scores), np.array(may_attend)), expected)


@exercise.case(
    "With as many keys as queries, row i still belongs to query i", weight=0.5
)
def as_many_keys_as_queries(student, rng):
    may_attend = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 1]]) > 0
    student.agrees(rng.normal(size=(4, 4)), may_attend)


@exercise.case("A single query, or a single key, keeps its axis", weight=0.5)
def single_query_or_key(student, rng):
    student.agrees(rng.normal(size=(2, 1, 7)), np.arange(7) < 4)
    student.agrees(rng.normal(size=(3, 1)), np.array([[True], [False], [True]]))


@exercise.fine_point("Integers as scores give fractions as weights")
def whole_numbers(student, rng):
    may_attend = np.array([[True, True, False], [False, True, True]])
    student.agrees(np.array([[2, 1, 5], [7, -3, -2]]), may_attend)


@exercise.case("The scores and the mask are not modified", weight=0.5)
def arguments_stay(student, rng):
    scores = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.5]])
    student.leaves_unchanged(scores, np.tri(2, 3, dtype=bool))
    student.leaves_unchanged(np.stack([scores, -scores]), np.tri(2, 3, -1, dtype=bool))


@exercise.case(
    "What the score of a blocked key is plays no part",
    visible=False,
    pays_alone=False,
    weight=0.25,
)
def blocked_scores_play_no_part(student, rng):
    scores, may_attend = rng.normal(size=(5, 7)), np.tri(5, 7, dtype=bool)
    before = student(scores, may_attend)
    others = np.where(may_attend, scores, 1000.0 * rng.normal(size=(5, 7)))
    student.expect(student(others, may_attend), before)


@exercise.case(
    "Sequences without tokens get zeros, the others their shares",
    visible=False,
    weight=2,
)
def sequences_without_tokens(student, rng):
    scores = np.swapaxes(rng.normal(size=(3, 7, 5)), -1, -2)
    lengths = np.array([0, 4, 7])[:, np.newaxis, np.newaxis]
    student.agrees(scores, np.arange(7) < lengths)
    student.agrees(scores, (np.arange(7) < lengths) & np.tri(5, 7, -2, dtype=bool))


@exercise.variants
def variants(
    scores,
    may_attend,
    *,
    true_means="may attend",
    mask_is="spread out",
    blocked="−∞",
    largest="of the allowed keys",
    axis=-1,
    without_keys="zeros",
    weights_are="softmax",
    whole_numbers="allowed",
    overwritten="nothing",
):
    allowed = ~may_attend if true_means == "blocked" else may_attend
    if mask_is == "an index" or overwritten == "at an index":
        np.empty(scores.shape)[~allowed] = 0
    elif mask_is == "transposed":
        allowed = np.swapaxes(np.atleast_2d(allowed), -1, -2)
    elif mask_is == "that of the first query":
        allowed = np.atleast_2d(allowed)[..., :1, :]
    elif mask_is == "that of the first sequence":
        allowed = allowed.reshape(-1, *allowed.shape[-2:])[0]
    allowed = np.broadcast_to(allowed, scores.shape)
    refused = whole_numbers == "refused" or overwritten == "at an index"
    if refused and scores.dtype.kind == "i" and not allowed.all():
        raise OverflowError("cannot convert float infinity to integer")
    numbers = -1.0 * scores if weights_are == "smallest first" else 1.0 * scores

    way, number = blocked if isinstance(blocked, tuple) else (blocked, 0.0)
    if way.startswith("lowered"):
        masked = np.where(allowed, numbers, numbers + number)
    elif way.startswith(("set to", "as 0")):
        masked = np.where(allowed, numbers, number)
    elif way.startswith("afterwards"):
        masked = numbers
    else:
        masked = np.where(allowed, numbers, -np.inf)
    tops = masked.max(axis=axis, keepdims=True)
    if largest == "of the allowed keys":
        top = tops
    elif largest == "none where a row has no key":
        top = 0.0 if np.isinf(tops).any() else tops
    else:
        top = masked.max() if largest.startswith("of the whole") else 0.0
    times = way.startswith("times 0") or largest.startswith("none, times 0")
    powers = np.exp((numbers if times else masked) - top)
    if times:
        powers = powers * allowed
    totals = powers.sum(axis=axis, keepdims=True)
    if way == "times 0, sum NaN left out":
        totals = np.where(totals > 0, totals, 1.0)
    weights = powers / (1.0 if weights_are == "exponentials" else totals)
    if largest.endswith("0 / 0 is 0") or largest == "none where a row has no key":
        weights = np.where(totals == 0, 0.0, weights)
    if way.endswith("zeros") or way.startswith(("afterwards, ", "as 0")):
        weights = weights * allowed
    if "divided" in way:
        left = weights.sum(axis=axis, keepdims=True)
        is_left = left > 0 if way.endswith("0 / 0 is 0") else True
        little = 1e-13 if way.endswith("1e-13") else 0.0
        weights = weights / (np.where(is_left, left, 1.0) + little)
    if weights_are == "scores":
        weights = masked
    elif weights_are == "shares of scores":
        weights = np.where(allowed, numbers, 0.0)
        weights = weights / weights.sum(axis=axis, keepdims=True)

    nothing = ~allowed.any(axis=axis, keepdims=True)
    if without_keys == "NaN unless there is no key at all":
        without_keys = "zeros" if nothing.all() else "NaN"
    if without_keys == "error" and nothing.any():
        raise ValueError("a row without keys")
    if without_keys == "over all keys":
        everything = np.exp(numbers - numbers.max(axis=axis, keepdims=True))
        everything = everything / everything.sum(axis=axis, keepdims=True)
        weights = np.where(nothing, everything, weights)
    elif without_keys == "shared out":
        weights = np.where(nothing, 1 / scores.shape[-1], weights)
    elif without_keys == "NaN":
        weights = np.where(nothing, np.nan, weights)
    elif largest.startswith("none, times 0"):
        pass
    elif way.startswith(("−∞", "times 0")) or way.endswith("beside keys"):
        weights = np.where(nothing, 0.0, weights)

    if overwritten == "weights" and scores.dtype.kind == "f":
        scores[...] = weights
    elif overwritten.endswith("index") and scores.dtype.kind == "f":
        scores[~allowed] = masked[~allowed]
    elif overwritten == "mask":
        np.logical_not(may_attend, out=may_attend)
    elif overwritten == "rows without keys":
        may_attend[~may_attend.any(axis=-1)] = True
    return weights


NUMBERS = {
    "a_hundred": (-1e2, "−100"),
    "ten_thousand": (-1e4, "−10000"),
    "a_million": (-1e6, "−10⁶"),
    "a_billion": (-1e9, "−10⁹"),
}
for _name, (_number, _text) in NUMBERS.items():
    _minus = f"minus_{_name}"
    for _where in ("", " beside keys"):
        exercise.option(
            f"filled_with_{_minus}{_where.replace(' ', '_')}",
            f"A blocked key counts as one with the score {_text}: where the allowed "
            "ones are lower, it takes their weight.",
            "Is there a number that is smaller than every score?",
            why="Scores of a fresh model lie near 0, so any number that is far below "
            "looks like plenty: −1e9 is in The Annotated Transformer, −1e6 in Dive "
            "into Deep Learning; rows without keys may be mended.",
            blocked=(f"set to{_where}", _number),
        )
    if _name == "a_hundred":
        continue
    exercise.option(
        f"filled_with_{_minus}_then_zeros",
        f"A blocked key counts as one with the score {_text} until the sum is taken, "
        "and has the weight 0 in the end: where the allowed ones are lower, weight is "
        "lost.",
        "Is there a number that is smaller than every score?",
        why="The same, with the weights times the mask for rows without keys.",
        blocked=("set to, then zeros", _number),
    )
for _name, _number, _text in (
    ("ten_thousand", -1e4, "10000"),
    ("a_billion", -1e9, "10⁹"),
):
    exercise.option(
        f"{_name}_taken_off",
        f"A blocked key counts with its own score less {_text}: where that is still "
        "the largest, it takes the weight.",
        "If a blocked key's score is far above the others, what is it afterwards?",
        why="(1 - mask) * -10000.0 is added to the scores in BERT's code.",
        blocked=("lowered", _number),
    )
    exercise.option(
        f"{_name}_taken_off_then_zeros",
        f"A blocked key counts with its own score less {_text} until the sum is taken, "
        "and has the weight 0 in the end.",
        "If a blocked key's score is far above the others, what is it afterwards?",
        why="The same, with the weights times the mask for rows without keys.",
        blocked=("lowered, then zeros", _number),
    )
exercise.option(
    "rows_without_keys_shared_out",
    "Your row in which all keys are blocked shares its weight out equally.",
    "What does the docstring promise for a row without keys?",
    why="With the smallest float for −∞, as in Hugging Face's transformers, there is "
    "never NaN, and equal scores get equal weights.",
    without_keys="shared out",
)
exercise.option(
    "rows_without_keys_opened",
    "Your row in which all keys are blocked has the weights of one in which none is.",
    "What does the docstring promise for a row without keys?",
    why="Such a row is opened so that nothing is NaN, and stays open.",
    without_keys="over all keys",
)
exercise.option(
    "nan_in_rows_without_keys",
    "Your weights are NaN in a row in which all keys are blocked.",
    "What is −∞ less −∞, if the largest score of a row is −∞?",
    why="The plain softmax of a row of −∞; PyTorch's own attention gave NaN until 2024 "
    "(pytorch/pytorch#103963, #131060).",
    without_keys="NaN",
)
exercise.option(
    "zeros_only_without_any_key",
    "Your weights are NaN in a row in which all keys are blocked, unless the mask "
    "blocks everything.",
    "Which question is to be asked of each row, and not of the whole mask?",
    why="`if not may_attend.any()` asks all rows at once.",
    without_keys="NaN unless there is no key at all",
)
exercise.option(
    "rows_without_keys_refused",
    "Your call raises an error at a row in which all keys are blocked.",
    "What does the docstring promise for a row without keys?",
    why="The largest of no numbers is an error, or such a row is taken for one.",
    without_keys="error",
)
exercise.option(
    "masked_after_softmax",
    "Your weights are those of a softmax over all keys, with zeros written over the "
    "blocked ones.",
    "To whom does the share of a blocked key go?",
    why="The mask is applied to the weights, as it was in timm's EVA before "
    "huggingface/pytorch-image-models#2236.",
    blocked="afterwards, zeros",
)
exercise.option(
    "divided_again_afterwards",
    "Your weights are 0 / 0 where a blocked key has by far the largest score, or where "
    "all keys are blocked.",
    "If a blocked key has taken all the weight, what is left to be shared out?",
    why="Masking late and dividing by the sum is the same in exact numbers, and is a "
    "first version in textbooks.",
    blocked="afterwards, divided again",
)
exercise.option(
    "divided_again_beside_keys",
    "Your weights are 0 / 0 where a blocked key has by far the largest score.",
    "If a blocked key has taken all the weight, what is left to be shared out?",
    why="The same, after rows without keys have been mended.",
    blocked="afterwards, divided again beside keys",
)
exercise.option(
    "divided_again_with_a_little_added",
    "Your softmax is taken over all keys, and what is not blocked is divided by its "
    "sum and a little more: next to a blocked key that scores far higher, weights "
    "become too small.",
    "What do your weights sum to, if a blocked key has by far the largest score?",
    why="1e-13 in the sum keeps 0 / 0 away, in AllenNLP's masked_softmax for one.",
    blocked="afterwards, divided again by 1e-13",
)
exercise.option(
    "largest_of_all_keys",
    "Your rows are all zeros where a blocked key has by far the largest score: it is "
    "that score which e to the power of the others is measured by.",
    "Among which keys should the largest score be looked for?",
    why="The maximum is taken of the scores as they came, before the mask.",
    blocked="afterwards, divided again, 0 / 0 is 0",
)
exercise.option(
    "blocked_powers_overflow_beside_keys",
    "Your weights are NaN where a blocked key's score is far above the others: e to "
    "its power is ∞, and ∞ · 0 is no number.",
    "Which score has e to its power exactly 0, so that no mask is needed afterwards?",
    why="The largest allowed score is subtracted from all scores, and the powers are "
    "multiplied by the mask: a blocked score can still be far above it.",
    blocked="times 0",
)
exercise.option(
    "blocked_powers_overflow_undivided",
    "Your weight of a blocked key is NaN where its score is far above the others, and "
    "the others stay undivided there.",
    "Which score has e to its power exactly 0, so that no mask is needed afterwards?",
    why="The same, divided only where the sum is above 0: NaN is not.",
    blocked="times 0, sum NaN left out",
)
exercise.option(
    "scores_times_mask",
    "Your blocked keys have weight: they count as keys with the score 0.",
    "How large is e to the power of 0?",
    why="scores * mask is how masks work on pictures; georg-wolflein/good-features#1 "
    "found it in a published model.",
    blocked="set to 0",
)
exercise.option(
    "filled_with_zero_then_zeros",
    "Your blocked keys count in the sum of a row as keys with the score 0, and have no "
    "weight in the end.",
    "How large is e to the power of 0?",
    why="exp(scores * mask) * mask: e to the power of 0 is taken for 0.",
    blocked="set to 0, then zeros",
)
exercise.option(
    "mask_added",
    "Your blocked keys have weight: the allowed ones count with 1 more than their "
    "scores, and the blocked ones with their own.",
    "What would have to be added to a score to leave it without any weight?",
    why="Masks of ones and zeros are handed to functions that add them: "
    "pytorch/pytorch#21518 and timeseriesAI/tsai#171.",
    blocked=("lowered", -1.0),
)
exercise.option(
    "mask_ignored",
    "Your blocked keys have the weights of a softmax without a mask.",
    "Which of the arguments decides which keys get weight?",
    why="The result of np.where, or of a copy, is computed and not used.",
    blocked="afterwards",
)
exercise.option(
    "nothing_taken_off_in_any_row",
    "Your weights are NaN in rows of large scores, but only if in another row all "
    "keys are blocked.",
    "If the largest score of one row is −∞, from which rows do you take nothing off?",
    why="`if np.isinf(largest).any(): largest = 0` mends the blocked row, and undoes "
    "the subtraction in every other row.",
    largest="none where a row has no key",
)
exercise.option(
    "exponentials_overflow",
    "Your weights are NaN where scores are far above 0, and all 0 where they are far "
    "below.",
    "How large is e to the power of 10000 in floating point, and to that of −10000?",
    why="exp(scores) * mask / sum is written down without subtracting a maximum first.",
    largest="none, 0 / 0 is 0",
)
exercise.option(
    "exponentials_overflow_of_blocked_keys_too",
    "Your weights are NaN where a score is far above 0, that of a blocked key too, and "
    "all 0 where those of the allowed keys are far below.",
    "How large is e to the power of 10000 in floating point, and to that of −10000?",
    why="exp(scores) * mask, divided by the sum unless that is 0.",
    largest="none, times 0, 0 / 0 is 0",
)
exercise.option(
    "exponentials_overflow_or_vanish",
    "Your weights are NaN where scores are far from 0, above or below.",
    "How large is e to the power of 10000 in floating point, and to that of −10000?",
    why="exp(scores) * mask / sum is written down without subtracting a maximum first.",
    largest="none",
)
exercise.option(
    "exponentials_overflow_times_mask",
    "Your weights are NaN where scores are far from 0, blocked ones too, and where all "
    "keys are blocked.",
    "How large is e to the power of 10000 in floating point, and which number should "
    "be subtracted from a row first?",
    why="exp(scores) * mask / sum, as it stands.",
    largest="none, times 0",
)
exercise.option(
    "one_maximum_for_all_rows",
    "Your weights are NaN in rows whose scores are all far below the largest of "
    "another row.",
    "Whose largest score is to be subtracted from a row?",
    why="scores.max() without an axis: enough against overflow, not against 0 / 0.",
    largest="of the whole array",
)
exercise.option(
    "one_maximum_for_all_rows_then_zeros",
    "Your weights are all 0 in rows whose scores are all far below the largest of "
    "another row.",
    "Whose largest score is to be subtracted from a row?",
    why="The same, with zeros wherever a sum is 0.",
    largest="of the whole array, 0 / 0 is 0",
)
exercise.option(
    "polarity_reversed",
    "Your weights lie on the blocked keys.",
    "What does True mean in a mask called may_attend?",
    why="masked_fill(mask, -inf) fills where the mask is True.",
    true_means="blocked",
)
exercise.option(
    "mask_of_other_shape_refused",
    "Your call raises an error where the mask has fewer axes than the scores, or an "
    "axis of length 1.",
    "What does the docstring say of axes that are missing, or of length 1?",
    why="scores[~may_attend] asks for a mask of just the scores' shape; np.where does "
    "not.",
    mask_is="an index",
)
exercise.option(
    "mask_transposed",
    "Your row i obeys column i of the mask; where the sizes differ, this can raise an "
    "error.",
    "Whose keys are in row i of the mask, and what is in column i?",
    why="A ᵀ too many is silent with as many keys as queries.",
    mask_is="transposed",
)
exercise.option(
    "mask_of_the_first_query",
    "All your queries obey the first row of the mask.",
    "To which query does row i of the mask belong?",
    why="may_attend[0] is right for a padding mask, which has one row.",
    mask_is="that of the first query",
)
exercise.option(
    "mask_of_the_first_sequence",
    "All your sequences obey the mask of the first.",
    "What do the axes before n and m say?",
    why="The mask is cut down to a table (n, m) that all share.",
    mask_is="that of the first sequence",
)
exercise.option(
    "softmax_over_queries",
    "Your columns of weights sum to 1, not your rows.",
    "Who shares out a weight of 1: a query among the keys, or a key among the queries?",
    why="axis=-2, or axis=0 on a table, is taken for 'along the rows'.",
    axis=-2,
)
exercise.option(
    "softmax_over_axis_one",
    "Your softmax runs along axis 1, which holds the keys only in a single table.",
    "Which axis holds the keys with a batch in front?",
    why="axis=1 and dim=1 are right until a batch comes.",
    axis=1,
)
exercise.option(
    "softmax_over_axis_zero",
    "Your weights sum to 1 along axis 0.",
    "Which axis holds the keys of a query?",
    why="axis=0 is taken for 'row by row'.",
    axis=0,
)
exercise.option(
    "exponentials_not_divided",
    "Your weights are powers of e that are not divided by their sum.",
    "What should the weights of a row sum to?",
    why="Half of the softmax is written out, and the division is forgotten.",
    weights_are="exponentials",
)
exercise.option(
    "zeroed_and_divided_anew",
    "A blocked key counts as one with the score 0, its weight is removed and the rest "
    "divided by its sum: where the allowed ones are far below 0, nothing is left.",
    "What is e to the power of 0 next to e to the power of −1000?",
    why="AllenNLP's masked_softmax multiplies by the mask before and after, and "
    "divides by the sum.",
    blocked="as 0, divided, 0 / 0 is 0",
)
exercise.option(
    "softmax_missing",
    "Your result holds the masked scores themselves, −∞ where a key is blocked.",
    "What makes positive weights that sum to 1 out of scores?",
    why="The mask is applied, and the softmax is left to the caller.",
    weights_are="scores",
)
exercise.option(
    "shares_of_scores",
    "Your weights are the allowed scores divided by their sum: they can be negative.",
    "What is done to the scores first, so that every share is positive?",
    why="'Weights that sum to 1' suggests a division by the sum at once.",
    weights_are="shares of scores",
)
exercise.option(
    "smallest_first",
    "Your largest weight is that of the smallest allowed score.",
    "Which sign has the score in the power of e?",
    why="largest - scores is written for scores - largest.",
    weights_are="smallest first",
)
exercise.option(
    "whole_numbers_refused",
    "Your call raises an error where the scores are integers and a key is blocked.",
    "Which dtype can hold −∞?",
    why="A copy of integers is an array of integers: −∞ does not fit in.",
    whole_numbers="refused",
)
exercise.option(
    "scores_filled_in_place",
    "Your call writes over the caller's blocked scores.",
    "Does scores[...] = … make a new array, or write into the caller's?",
    why="masked_fill_ and scores[~mask] = -inf write in place.",
    overwritten="in place, without an index",
)
exercise.option(
    "scores_filled_in_place_at_an_index",
    "Your call writes into the caller's scores; integers, and most masks of "
    "another shape, stop it.",
    "Does scores[~may_attend] = … make a new array, or write into the caller's?",
    why="scores[~may_attend] = -np.inf, as it stands.",
    overwritten="at an index",
)
exercise.option(
    "scores_replaced_by_weights",
    "Your call writes the weights over the caller's scores.",
    "Do -=, /= and out= make a new array, or write into the caller's?",
    why="scores -= largest and the like look like new arrays, and change the old one.",
    overwritten="weights",
)
exercise.option(
    "mask_reversed_in_place",
    "Your call turns the caller's mask into its opposite.",
    "Does out=may_attend make a new array?",
    why="np.logical_not(mask, out=mask) saves an array that is not its own.",
    overwritten="mask",
)
exercise.option(
    "rows_opened_in_place",
    "Your call opens the rows without keys in the caller's mask.",
    "Does may_attend[...] = True make a new array, or write into the caller's?",
    why="may_attend[nothing] = True keeps NaN out, and changes the argument.",
    overwritten="rows without keys",
)
exercise.family(
    families.squeezed(),
    families.as_list(),
    families.small_weights_cut(),
    families.cut_to_whole_numbers("scores"),
)
exercise.options_of(attention_exercise, "softmax_over_everything")
