"""Cases and misconceptions of ``induction_score``."""

import itertools
import math

import torch

from autograder import Exercise, families
from course_lib.nn.head_roles import induction_score

exercise = Exercise(
    induction_score, lesson="13_inside_the_heads", minutes=10, difficulty=2
)


@exercise.spec
def spec(weights, period):
    scores = torch.zeros(weights.shape[:-2], dtype=weights.dtype)
    for head in itertools.product(*map(range, weights.shape[:-2])):
        table, numbers = weights[head].double().tolist(), []
        for j in range(period):
            numbers.append(table[period + j][j + 1])
        scores[head] = math.fsum(numbers) / period
    return scores


def draw_weights(rng, *shape, period):
    """Draw causal weights (..., 2 · period, 2 · period): each row sums to 1."""
    n = 2 * period
    scores = torch.from_numpy(rng.normal(size=(*shape, n, n)))
    future = torch.ones(n, n, dtype=torch.bool).triu(diagonal=1)
    return scores.masked_fill(future, -torch.inf).softmax(dim=-1)


def attends_back(distance, period):
    """Return the weights of a head that attends that far back, at best to token 0."""
    n = 2 * period
    keys = (torch.arange(n) - distance).clamp_min(0)
    return torch.eye(n, dtype=torch.float64)[keys]


@exercise.usual
def usual(rng):
    return draw_weights(rng, 2, 3, period=4), 4


@exercise.case("Of the tokens a b a b, the second a attends to the first b, and so on")
def small_example_by_hand(student, rng):
    rows = [
        [1.0, 0.0, 0.0, 0.0],
        [0.75, 0.25, 0.0, 0.0],
        [0.125, 0.5, 0.375, 0.0],
        [0.375, 0.125, 0.25, 0.25],
    ]
    weights = torch.tensor(rows, dtype=torch.float64)
    expected = torch.tensor((0.5 + 0.25) / 2, dtype=torch.float64)
    student.expect(student(weights, 2), expected)
    student.agrees(draw_weights(rng, period=2), 2)


@exercise.case("A head that always attends so scores 1, one that attends next to it 0")
def perfect_head(student, rng):
    for period in (3, 5):
        heads = [attends_back(period - 1 + shift, period) for shift in (0, 1, -1)]
        expected = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
        student.expect(student(torch.stack(heads), period), expected)
        student.agrees(draw_weights(rng, 3, period=period), period)


@exercise.case("Each head has its own number, and row i is query i")
def each_head_alone(student, rng):
    student.agrees(draw_weights(rng, 3, period=5), 5)
    student.agrees(draw_weights(rng, 8, period=4), 4)


@exercise.case("Only queries of the second half count, from its first to its last")
def second_half(student, rng):
    for period in (1, 2, 3, 6):
        student.agrees(draw_weights(rng, 2, period=period), period)


@exercise.case("Any axes may be in front: layers and heads, one of them, or none")
def any_axes_in_front(student, rng):
    student.agrees(draw_weights(rng, 2, 4, period=3), 3)
    student.agrees(draw_weights(rng, 6, 6, period=3), 3)
    student.agrees(draw_weights(rng, 1, period=4), 4)
    student.agrees(draw_weights(rng, period=4), 4)


@exercise.case("The weights may be of a model that attends forward too", visible=False)
def not_causal(student, rng):
    scores = torch.from_numpy(rng.normal(size=(3, 10, 10)))
    student.agrees(scores.softmax(dim=-1), 5)


@exercise.case("The weights are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(draw_weights(rng, 3, period=3), 3)


exercise.edits(
    """
token_itself: queries - period + 1 -> queries - period
  Your numbers are for the earlier occurrence of the query itself, not for the token
    behind it.
  ? A model that has to predict the next token: which earlier token tells it that?
  # The offset is taken for the period; a head that attends so finds duplicates: Wang
    et al. (2023), section 3, call it a duplicate token head.
one_too_far: queries - period + 1 -> queries - period + 2
  Your numbers are for the second token behind the earlier occurrence.
  ? How far is it from a query to the same token, and from there to the next one?
  # period − 1 is corrected for the shift of the targets once more.
token_in_front: queries - period + 1 -> queries - period - 1
  Your numbers are for the token in front of the earlier occurrence.
  ? Is the token behind the earlier one period − 1 or period + 1 away from the query?
  # Going back and going on are mixed up: period + 1 for period − 1.
queries_and_keys_exchanged:
  | queries, queries - period + 1 -> queries - period + 1, queries
  Your numbers take columns for queries and rows for keys.
  ? In a causal model, which side of the diagonal holds only zeros?
  # diagonal(offset=period − 1) is above the main diagonal.
diagonal_of_the_first_axes:
  | weights[..., queries, queries - period + 1] -> weights.diagonal(1 - period)[..., 1:]
  Your diagonal is cut from the first two axes.
  ? Which axes does torch.diagonal take if none are named?
  # torch.diagonal has dim1=0 and dim2=1 by default, right for one matrix.
token_itself_on_the_first_axes:
  | weights[..., queries, queries - period + 1] -> weights.diagonal(-period)
  Your diagonal is cut from the first two axes, and it is that of the earlier occurrence
    of the query itself.
  ? Which axes does torch.diagonal take if none are named, and which earlier token tells
    a model the next one?
  # weights.diagonal(-period) is short, and looks like the paper's picture.
whole_diagonal: torch.arange(period, -> torch.arange(period - 1,
  Your mean has one query too many: the last one of the first half.
  ? Which query has position 0 on that diagonal, and did it occur before?
  # diagonal(1 − period) is one longer than the second half; with a token for the
    start in front, as in TransformerLens's demonstration, it is not.
all_queries: torch.arange(period, 2 * period -> torch.arange(2 * period
  Your mean has the first half's queries in it, whose keys wrap around to the end.
  ? What can a query of the first half attend to that came before?
  # An index below 0 counts from the end, silently.
first_half: torch.arange(period, 2 * period -> torch.arange(period
  Your queries are those of the first half, whose keys wrap around to the end.
  ? In which half has a token been there before?
  # range(period) is written, and the shift by a period belongs to the keys.
first_query_left_out:
  | torch.arange(period, -> torch.arange(min(period + 1, 2 * period - 1),
  Your mean leaves out the first query of the second half.
  ? Has the token at position `period` been there before?
  # The repetition's first token cannot be foreseen, and is left out.
last_query_left_out: period, 2 * period -> period, max(2 * period - 1, period + 1)
  Your mean leaves out the last query.
  ? Which token stands behind the last one of the first half?
  # Nothing is left to predict behind the last token, and it is dropped.
first_query_left_out_always: torch.arange(period, -> torch.arange(period + 1,
  Your mean leaves out the first query of the second half: with a period of 1, that is
    the only one.
  ? Has the token at position `period` been there before?
  # The repetition's first token cannot be foreseen, and is left out.
last_query_left_out_always: period, 2 * period -> period, 2 * period - 1
  Your mean leaves out the last query: with a period of 1, that is the only one.
  ? Which token stands behind the last one of the first half?
  # Nothing is left to predict behind the last token, and it is dropped.
last_query_counts_as_zero:
  | period, 2 * period -> period, 2 * period - 1
  | mean(dim=-1) -> sum(dim=-1) / period
  Your sum leaves out the last query, and is divided by the period.
last_key_at_the_start: queries - period + 1 -> (queries + 1) % period
  Your last query is to attend to position 0.
  ? Which position is the one behind position period − 1?
  # The first half is taken for a circle: (i + 1) % period.
last_key_in_the_first_half:
  | queries - period + 1 -> (queries - period + 1).clamp(max=period - 1)
  Your last query is to attend to the last token of the first half.
  # Keys are kept within the first half with min or clamp.
sum_instead_of_mean: mean -> sum
  Your numbers are sums over the queries.
  ? Between which two numbers does the docstring put a score?
  # diagonal(…).sum() is a trace, which is familiar.
largest_instead_of_mean: mean -> amax
  Your numbers are the largest over the queries.
  ? Does one query that attends so make an induction head?
  # max stands where mean should, as in 'the highest score'.
divided_by_all_queries: mean(dim=-1) -> sum(dim=-1) / (2 * period)
  Your sums are divided by the number of all tokens, both halves.
  ? Which queries are in your sum, and by how many is it divided?
  # weights.shape[-1] is at hand.
divided_by_one_fewer: mean(dim=-1) -> sum(dim=-1) / max(period - 1, 1)
  Your sums are divided by period − 1.
  ? How many queries does the second half have?
  # period − 1 is in the formula already, as the distance.
one_number_per_query: .mean(dim=-1) ->
  Your result has one number for each query.
  ? How many numbers for each head does the docstring promise?
  # The diagonal is returned as it is, and its mean is left to the caller.
share_of_largest_weights:
  | weights[..., queries, queries - period + 1] ->
  :     (weights[..., queries, :].argmax(dim=-1) == queries - period +
  :     1).to(weights.dtype)
  Your numbers are shares of queries whose largest weight is on that token.
  ? Does the docstring ask how often a weight is the largest, or how large it is?
  # Heads are often labelled by the argmax of their rows.
compared_with_the_average:
  | mean(dim=-1) -> mean(dim=-1) / weights[..., queries, :].mean(dim=(-2, -1))
  Your numbers say how many times more weight is there than on an average token.
  ? Between which two numbers does the docstring put a score?
  # A share means little without what chance would give.
heads_averaged: mean(dim=-1) -> mean()
  Your result has one number for all heads together.
  ? How many heads do the weights have, and how many numbers does the docstring
    promise?
  # .mean() without an axis takes them all.
largest_of_all_heads: mean(dim=-1) -> mean(dim=-1).max()
  Your result has one number: that of the head with the most.
  # The best head is what one looks for.
first_axis_averaged: mean(dim=-1) -> mean(dim=-1).mean(dim=0)
  Your result is averaged over its first axis.
  ? What does the first axis of the weights stand for: examples, or heads and layers?
  # The first axis is a batch elsewhere, and a mean over the batch is usual.
numbers_without_a_tensor: mean(dim=-1) -> mean(dim=-1).tolist()
  Your numbers are plain Python numbers, not a tensor.
  ? Which type does the docstring promise where there is one head alone?
  # .item() and .tolist() print more neatly.
first_half_overwritten: weights[..., :period, :] = 0
  Your call changes `weights`: the first half's rows are 0 afterwards.
  ? Whose tensor is `weights`, and what does an assignment to it do?
  # What does not count is set to 0 before a sum.
""",
)

exercise.family(families.squeezed(), families.as_numpy())
