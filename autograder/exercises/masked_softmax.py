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
    # Whoever stops at an axis of length 1 does not at a batch whose mask has them all.
    student.agrees(scores, np.broadcast_to(np.arange(7) < lengths, scores.shape))
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
    # Where all scores are far below 0, a maximum that starts from 0 takes off nothing.
    student.agrees(rng.normal(size=(3, 4)) - 1e4, np.ones((3, 4), bool))


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
        # The number in place of a blocked score shows where the allowed one is near.
        *([score, 0.0, 5.0] for score in (-95.0, -800.0, -995.0, -1e4, -1e6, -1e8)),
        *([score, 0.0, 5.0] for score in (-1e9, -1e10, -45.0, -15.0)),
    ]
    may_attend = 3 * [[True, True, False]] + 11 * [[True, False, False]]
    two = [1 / (1 + math.e), math.e / (1 + math.e), 0.0]
    expected = np.array(3 * [two] + 11 * [[1.0, 0.0, 0.0]])
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


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


LARGE_NUMBER = """
filled_with_minus_{name}:
  | -np.inf -> {number}
  | return softmax(allowed)
  A blocked key counts as one with the score {text}: where the allowed ones are lower,
    it takes their weight.
  ? Is there a number that is smaller than every score?
  # Scores of a fresh model lie near 0, so any number that is far below looks like
    plenty: −1e9 is in The Annotated Transformer, −1e6 in Dive into Deep Learning;
    rows without keys may be mended.
filled_with_minus_{name}_beside_keys:
  | -np.inf -> {number}
  | return np.where(nothing, 0.0, softmax(allowed))
  A blocked key counts as one with the score {text}: where the allowed ones are lower,
    it takes their weight.
"""
LARGE_NUMBER_THEN_ZEROS = """
filled_with_minus_{name}_then_zeros: -np.inf -> {number}
  A blocked key counts as one with the score {text} until the sum is taken, and has
    the weight 0 in the end: where the allowed ones are lower, weight is lost.
  ? Is there a number that is smaller than every score?
  # The same, with the weights times the mask for rows without keys.
"""
LARGE_NUMBER_AND_DIVIDED = """
filled_with_minus_{name}_and_divided:
  | -np.inf -> {number}
  | powers = softmax(allowed) * may_attend
  | may_attend, powers / totals -> powers > 0, powers / totals
  A blocked key counts as one with the score {text}, its weight is removed and the rest
    divided by its sum: where the allowed ones are far lower, nothing is left.
  ? Is there a number that is smaller than every score?
  # The same, divided by the sum once more because the weights do not sum to 1.
"""
TAKEN_OFF = """
{name}_taken_off:
  | -np.inf -> scores - {number}
  | return softmax(allowed)
  A blocked key counts with its own score less {text}: where that is still the largest,
    it takes the weight.
  ? If a blocked key's score is far above the others, what is it afterwards?
  # (1 - mask) * -10000.0 is added to the scores in BERT's code.
{name}_taken_off_then_zeros: -np.inf -> scores - {number}
  A blocked key counts with its own score less {text} until the sum is taken, and has
    the weight 0 in the end.
  # The same, with the weights times the mask for rows without keys.
"""
for name, number, text in (
    ("a_hundred", "-100.0", "−100"),
    ("a_thousand", "-1000.0", "−1000"),
    ("ten_thousand", "-1e4", "−10000"),
    ("a_million", "-1e6", "−10⁶"),
    ("a_billion", "-1e9", "−10⁹"),
):
    values = {"name": name, "number": number, "text": text}
    exercise.edits(LARGE_NUMBER.format(**values), softmax=softmax)
    exercise.edits(LARGE_NUMBER_THEN_ZEROS.format(**values))
    if name in ("a_hundred", "ten_thousand"):
        exercise.edits(LARGE_NUMBER_AND_DIVIDED.format(**values), softmax=softmax)
for name, number, text in (
    ("ten_thousand", "10000", "10000"),
    ("a_billion", "1000000000", "10⁹"),
):
    exercise.edits(TAKEN_OFF.format(name=name, number=number, text=text))
exercise.edits(
    """
rows_without_keys_shared_out:
  | return np.where(nothing, 1 / scores.shape[-1], powers / totals)
  Your row in which all keys are blocked shares its weight out equally.
  ? What does the docstring promise for a row without keys?
  # With the smallest float for −∞, as in Hugging Face's transformers, there is never
    NaN, and equal scores get equal weights.
rows_without_keys_opened:
  | may_attend = may_attend | ~may_attend.any(axis=-1, keepdims=True)
  Your row in which all keys are blocked has the weights of one in which none is.
  # Such a row is opened so that nothing is NaN, and stays open.
nan_in_rows_without_keys: return softmax(allowed)
  Your weights are NaN in a row in which all keys are blocked.
  ? What is −∞ less −∞, if the largest score of a row is −∞?
  # The plain softmax of a row of −∞; PyTorch's own attention gave NaN until 2024
    (pytorch/pytorch#103963, #131060).
zeros_only_without_any_key:
  | if not may_attend.any():
  :     return np.zeros(scores.shape)
  | return softmax(allowed)
  Your weights are NaN in a row in which all keys are blocked, unless the mask blocks
    everything.
  ? Which question is to be asked of each row, and not of the whole mask?
  # `if not may_attend.any()` asks all rows at once.
rows_without_keys_refused:
  | if not may_attend.any(axis=-1).all():
  :     raise ValueError('a row without keys')
  Your call raises an error at a row in which all keys are blocked.
  ? What does the docstring promise for a row without keys?
  # The largest of no numbers is an error, or such a row is taken for one.
masked_after_softmax: return softmax(scores) * may_attend
  Your weights are those of a softmax over all keys, with zeros written over the
    blocked ones.
  ? To whom does the share of a blocked key go?
  # The mask is applied to the weights, as it was in timm's EVA before
    huggingface/pytorch-image-models#2236.
divided_again_afterwards:
  | powers = softmax(scores) * may_attend
  | return powers / powers.sum(axis=-1, keepdims=True)
  Your weights are 0 / 0 where a blocked key has by far the largest score, or where
    all keys are blocked.
  ? If a blocked key has taken all the weight, what is left to be shared out?
  # Masking late and dividing by the sum is the same in exact numbers, and is a first
    version in textbooks.
divided_again_beside_keys:
  | powers = softmax(scores) * may_attend
  | return powers / totals
  Your weights are 0 / 0 where a blocked key has by far the largest score.
  # The same, after rows without keys have been mended.
divided_again_with_a_little_added:
  | powers = softmax(scores) * may_attend
  | return powers / (powers.sum(axis=-1, keepdims=True) + 1e-13)
  Your softmax is taken over all keys, and what is not blocked is divided by its sum
    and a little more: next to a blocked key that scores far higher, weights become
    too small.
  ? What do your weights sum to, if a blocked key has by far the largest score?
  # 1e-13 in the sum keeps 0 / 0 away, in AllenNLP's masked_softmax for one.
largest_of_all_keys:
  | largest = scores.max(axis=-1, keepdims=True)
  | may_attend, powers / totals -> powers > 0, powers / totals
  Your rows are all zeros where a blocked key has by far the largest score: it is that
    score which e to the power of the others is measured by.
  ? Among which keys should the largest score be looked for?
  # The maximum is taken of the scores as they came, before the mask.
blocked_powers_overflow_beside_keys:
  | powers = np.exp(scores - largest) * may_attend
  | return np.where(nothing, 0.0, powers / totals)
  Your weights are NaN where a blocked key's score is far above the others: e to its
    power is ∞, and ∞ · 0 is no number.
  ? Which score has e to its power exactly 0, so that no mask is needed afterwards?
  # The largest allowed score is subtracted from all scores, and the powers are
    multiplied by the mask: a blocked score can still be far above it.
blocked_powers_overflow_undivided:
  | powers = np.exp(scores - largest) * may_attend
  | totals = … ->
  :     totals = powers.sum(axis=-1, keepdims=True)
  :     totals = np.where(totals > 0, totals, 1.0)
  | return np.where(nothing, 0.0, powers / totals)
  Your weight of a blocked key is NaN where its score is far above the others, and the
    others stay undivided there.
  # The same, divided only where the sum is above 0: NaN is not.
scores_times_mask:
  | allowed = scores * may_attend
  | return softmax(allowed)
  Your blocked keys have weight: they count as keys with the score 0.
  ? How large is e to the power of 0?
  # scores * mask is how masks work on pictures; georg-wolflein/good-features#1 found
    it in a published model.
filled_with_zero_then_zeros: allowed = scores * may_attend
  Your blocked keys count in the sum of a row as keys with the score 0, and have no
    weight in the end.
  # exp(scores * mask) * mask: e to the power of 0 is taken for 0.
mask_added:
  | allowed = scores + may_attend
  | return softmax(allowed)
  Your blocked keys have weight: the allowed ones count with 1 more than their scores,
    and the blocked ones with their own.
  ? What would have to be added to a score to leave it without any weight?
  # Masks of ones and zeros are handed to functions that add them:
    pytorch/pytorch#21518 and timeseriesAI/tsai#171.
mask_ignored: return softmax(scores)
  Your blocked keys have the weights of a softmax without a mask.
  ? Which of the arguments decides which keys get weight?
  # The result of np.where, or of a copy, is computed and not used.
nothing_taken_off_in_any_row:
  | largest = 0.0 if nothing.any() else allowed.max(axis=-1, keepdims=True)
  | may_attend, powers / totals -> powers > 0, powers / totals
  Your weights are NaN in rows of large scores, but only if in another row all keys
    are blocked.
  ? If the largest score of one row is −∞, from which rows do you take nothing off?
  # `if np.isinf(largest).any(): largest = 0` mends the blocked row, and undoes the
    subtraction in every other row.
exponentials_overflow:
  | largest = 0.0
  | may_attend, powers / totals -> powers > 0, powers / totals
  Your weights are NaN where scores are far above 0, and all 0 where they are far
    below.
  ? How large is e to the power of 10000 in floating point, and to that of −10000?
  # exp(scores) * mask / sum is written down without subtracting a maximum first.
exponentials_overflow_of_blocked_keys_too:
  | powers = np.exp(scores) * may_attend
  | totals = powers.sum(axis=-1, keepdims=True)
  | return np.where(totals == 0, 0.0, powers / totals)
  Your weights are NaN where a score is far above 0, that of a blocked key too, and
    all 0 where those of the allowed keys are far below.
  # exp(scores) * mask, divided by the sum unless that is 0.
exponentials_overflow_or_vanish:
  | largest = 0.0
  | return powers / totals
  Your weights are NaN where scores are far from 0, above or below.
  # exp(scores) * mask / sum is written down without subtracting a maximum first.
exponentials_overflow_times_mask:
  | powers = np.exp(scores) * may_attend
  | return powers / powers.sum(axis=-1, keepdims=True)
  Your weights are NaN where scores are far from 0, blocked ones too, and where all
    keys are blocked.
  ? How large is e to the power of 10000 in floating point, and which number should be
    subtracted from a row first?
  # exp(scores) * mask / sum, as it stands.
one_maximum_for_all_rows:
  | largest = allowed.max()
  | return np.where(nothing, 0.0, powers / totals)
  Your weights are NaN in rows whose scores are all far below the largest of another
    row.
  ? Whose largest score is to be subtracted from a row?
  # scores.max() without an axis: enough against overflow, not against 0 / 0.
one_maximum_for_all_rows_then_zeros:
  | largest = allowed.max()
  | may_attend, powers / totals -> powers > 0, powers / totals
  Your weights are all 0 in rows whose scores are all far below the largest of another
    row.
  # The same, with zeros wherever a sum is 0.
polarity_reversed: may_attend = ~may_attend
  Your weights lie on the blocked keys.
  ? What does True mean in a mask called may_attend?
  # masked_fill(mask, -inf) fills where the mask is True.
polarity_reversed_with_nan:
  | may_attend = ~may_attend
  | return softmax(allowed)
  Your weights lie on the blocked keys, and are NaN in a row in which all keys are
    allowed.
  ? What does True mean in a mask called may_attend?
  # The mask is read the other way round, and a row without keys is not foreseen.
mask_of_other_shape_refused:
  | allowed = … ->
  :     allowed = scores.astype(float)
  :     allowed[~may_attend] = -np.inf
  Your call raises an error where the mask has fewer axes than the scores, or an axis
    of length 1.
  ? What does the docstring say of axes that are missing, or of length 1?
  # scores[~may_attend] asks for a mask of just the scores' shape; np.where does not.
mask_transposed: may_attend = np.swapaxes(np.atleast_2d(may_attend), -1, -2)
  Your row i obeys column i of the mask; where the sizes differ, this can raise an
    error.
  ? Whose keys are in row i of the mask, and what is in column i?
  # A ᵀ too many is silent with as many keys as queries.
mask_of_the_first_query: may_attend = np.atleast_2d(may_attend)[..., :1, :]
  All your queries obey the first row of the mask.
  ? To which query does row i of the mask belong?
  # may_attend[0] is right for a padding mask, which has one row.
mask_of_the_first_sequence:
  | may_attend = may_attend.reshape(-1, *may_attend.shape[-2:])[0]
  All your sequences obey the mask of the first.
  ? What do the axes before n and m say?
  # The mask is cut down to a table (n, m) that all share.
softmax_over_queries:
  | allowed.max(axis=-1 -> allowed.max(axis=-2
  | powers.sum(axis=-1 -> powers.sum(axis=-2
  Your columns of weights sum to 1, not your rows.
  ? Who shares out a weight of 1: a query among the keys, or a key among the queries?
  # axis=-2, or axis=0 on a table, is taken for 'along the rows'.
softmax_over_axis_one:
  | allowed.max(axis=-1 -> allowed.max(axis=1
  | powers.sum(axis=-1 -> powers.sum(axis=1
  Your softmax runs along axis 1, which holds the keys only in a single table.
  ? Which axis holds the keys with a batch in front?
  # axis=1 and dim=1 are right until a batch comes.
softmax_over_axis_zero:
  | allowed.max(axis=-1 -> allowed.max(axis=0
  | powers.sum(axis=-1 -> powers.sum(axis=0
  Your weights sum to 1 along axis 0.
  ? Which axis holds the keys of a query?
  # axis=0 is taken for 'row by row'.
exponentials_not_divided: powers / totals -> powers
  Your weights are powers of e that are not divided by their sum.
  ? What should the weights of a row sum to?
  # Half of the softmax is written out, and the division is forgotten.
powers_of_two: np.exp -> np.exp2
  Your weights are made of powers of 2, not of e.
  ? Which number is raised to the power of the score in a softmax?
  # exp2 is one key from exp, and powers of 2 look alike.
zeroed_and_divided_anew:
  | powers = softmax(scores * may_attend) * may_attend
  | may_attend, powers / totals -> powers > 0, powers / totals
  A blocked key counts as one with the score 0, its weight is removed and the rest
    divided by its sum: where the allowed ones are far below 0, nothing is left.
  ? What is e to the power of 0 next to e to the power of −1000?
  # AllenNLP's masked_softmax multiplies by the mask before and after, and divides by
    the sum.
zeroed_and_divided_with_a_little_added:
  | powers = softmax(scores * may_attend) * may_attend
  | return powers / (powers.sum(axis=-1, keepdims=True) + 1e-13)
  A blocked key counts as one with the score 0, its weight is removed and the rest
    divided by its sum and a little more: where the allowed ones are far below 0, hardly
    anything is left.
softmax_missing: return np.where(nothing, 0.0, allowed)
  Your result holds the masked scores themselves, −∞ where a key is blocked.
  ? What makes positive weights that sum to 1 out of scores?
  # The mask is applied, and the softmax is left to the caller.
shares_of_scores: powers = scores * may_attend
  Your weights are the allowed scores divided by their sum: they can be negative.
  ? What is done to the scores first, so that every share is positive?
  # 'Weights that sum to 1' suggests a division by the sum at once.
smallest_first: may_attend, scores -> may_attend, -scores
  Your largest weight is that of the smallest allowed score.
  ? Which sign has the score in the power of e?
  # largest - scores is written for scores - largest.
whole_numbers_refused:
  | allowed = … ->
  :     allowed = scores.copy()
  :     allowed[np.broadcast_to(~may_attend, scores.shape)] = -np.inf
  Your call raises an error where the scores are integers and a key is blocked.
  ? Which dtype can hold −∞?
  # A copy of integers is an array of integers: −∞ does not fit in.
scores_filled_in_place:
  | nothing = … ->
  :     np.asarray(scores, float)[...] = allowed
  :     nothing = ~may_attend.any(axis=-1, keepdims=True)
  Your call writes over the caller's blocked scores.
  ? Does scores[...] = … make a new array, or write into the caller's?
  # masked_fill_ and scores[~mask] = -inf write in place.
scores_filled_in_place_at_an_index:
  | allowed = … ->
  :     scores[~may_attend] = -np.inf
  :     allowed = scores
  Your call writes into the caller's scores; integers, and most masks of another
    shape, stop it.
  ? Does scores[~may_attend] = … make a new array, or write into the caller's?
  # scores[~may_attend] = -np.inf, as it stands.
scores_replaced_by_weights:
  | return … ->
  :     weights = np.asarray(scores, float)
  :     weights[...] = np.where(may_attend, powers / totals, 0.0)
  :     return weights
  Your call writes the weights over the caller's scores.
  ? Do -=, /= and out= make a new array, or write into the caller's?
  # scores -= largest and the like look like new arrays, and change the old one.
mask_reversed_in_place:
  | return np.where(np.logical_not(may_attend, out=may_attend), 0.0, powers / totals)
  Your call turns the caller's mask into its opposite.
  ? Does out=may_attend make a new array?
  # np.logical_not(mask, out=mask) saves an array that is not its own.
rows_opened_in_place:
  | nothing = … ->
  :     nothing = ~may_attend.any(axis=-1, keepdims=True)
  :     may_attend[nothing[..., 0]] = True
  Your call opens the rows without keys in the caller's mask.
  ? Does may_attend[...] = True make a new array, or write into the caller's?
  # may_attend[nothing] = True keeps NaN out, and changes the argument.
zero_scores_blocked: may_attend = may_attend & (scores != 0)
  Your allowed keys whose score is exactly 0 get no weight.
  ? Which keys does `scores * may_attend == 0` find besides the blocked ones?
  # Blocked scores are made 0 by a product, and then every 0 is replaced by −∞.
largest_at_least_zero:
  | allowed.max(axis=-1, -> allowed.max(axis=-1, initial=0,
  | return np.where(nothing, 0.0, powers / totals)
  Your weights are NaN where all allowed scores are far below 0: what is subtracted
    from a row is never less than 0.
  ? Which number is no larger than any score, so that the search may start from it?
  # NumPy asks for initial where max has a where, and 0 looks like a harmless start.
largest_at_least_zero_then_zeros:
  | allowed.max(axis=-1, -> allowed.max(axis=-1, initial=0,
  | may_attend, powers / totals -> powers > 0, powers / totals
  Your weights are all 0 where all allowed scores are far below 0: what is subtracted
    from a row is never less than 0.
  # The same, with zeros wherever a sum is 0.
softmax_taken_twice:
  | allowed = np.where(may_attend, softmax(scores), -np.inf)
  Your weights are a softmax of weights: the softmax is taken of the scores, and then
    of its own result.
  ? All weights lie between 0 and 1: how much larger than another can one be after a
    softmax of them?
  # Weights are computed, masked with −∞ like scores, and shared out by a softmax again.
rows_with_a_blocked_key_emptied:
  | return np.where(~may_attend.all(axis=-1, keepdims=True), 0.0, softmax(allowed))
  Your rows are all zeros as soon as one of their keys is blocked.
  ? Is a row without keys one in which some key is blocked, or every key?
  # may_attend.all(axis=-1) is written for may_attend.any(axis=-1).
filled_with_the_smallest_score:
  | -np.inf -> scores.min()
  | return softmax(allowed)
  A blocked key counts as one with the smallest of all scores.
  ? How much weight does the key with the smallest score get?
  # −∞ made NaN, and the smallest score looks as if it were small enough.
filled_with_the_smallest_score_then_zeros: -np.inf -> scores.min()
  A blocked key counts as one with the smallest of all scores until the sum is taken,
    and has the weight 0 in the end.
  # The same, with the weights times the mask afterwards.
""",
    softmax=softmax,
)

exercise.family(
    families.squeezed(),
    families.as_list(),
    families.small_weights_cut(),
    families.cut_to_whole_numbers("scores"),
)
exercise.edits(
    """
softmax_over_everything:
  | allowed.max(axis=-1 -> allowed.max(axis=None
  | powers.sum(axis=-1 -> powers.sum(axis=None
""",
    words=attention_exercise.words,
)
