"""Cases and misconceptions of ``sample``."""

import torch

from autograder import Exercise, families
from course_lib.nn.sampling import sample

exercise = Exercise(
    sample,
    lesson="12_language_model",
    minutes=8,
    difficulty=2,
)


@exercise.spec
def spec(probabilities, u):
    rows = probabilities.reshape(-1, probabilities.shape[-1]).tolist()
    token_ids = [
        _drawn_token(row, number)
        for row, number in zip(rows, u.reshape(-1).tolist(), strict=True)
    ]
    return torch.tensor(token_ids, dtype=torch.int64).reshape(u.shape)


def _drawn_token(row, number):
    total = 0.0
    for token_id, probability in enumerate(row):
        total += probability
        if total > number:
            return token_id
    return max(i for i, probability in enumerate(row) if probability > 0)


def drawn(rng, *shape, dtype=torch.float32):
    return torch.from_numpy(rng.normal(size=shape)).to(dtype).softmax(dim=-1)


def drawn_u(rng, *shape, dtype=torch.float32):
    """Draw numbers from 0 to below 1, in float64 or rounded to steps of 1/4096."""
    u = torch.from_numpy(rng.random(size=shape))
    return u if dtype == torch.float64 else ((u * 4096).floor() / 4096).to(dtype)


def sixteenths(*rows):
    return torch.tensor(rows) / 16


@exercise.usual
def usual(rng):
    return drawn(rng, 6, 9), drawn_u(rng, 6)


@exercise.case("Of 1/2, 1/4, 1/4 comes token 0 for u = 0.4, 1 for 0.6, 2 for 0.8")
def small_example_by_hand(student, rng):
    probabilities = torch.tensor([[0.5, 0.25, 0.25]] * 3)
    u = torch.tensor([0.4, 0.6, 0.8])
    student.expect(student(probabilities, u), torch.tensor([0, 1, 2]))
    student.agrees(drawn(rng, 5, 8), drawn_u(rng, 5))


@exercise.case("Each row has a distribution and a u of its own")
def rows_of_their_own(student, rng):
    student.agrees(drawn(rng, 12, 12), drawn_u(rng, 12))
    student.agrees(drawn(rng, 7, 9), drawn_u(rng, 7))


@exercise.case("Any number of axes may come first, also none")
def leading_axes(student, rng):
    student.agrees(drawn(rng, 3, 4, 8), drawn_u(rng, 3, 4))
    student.agrees(drawn(rng, 1, 20), drawn_u(rng, 1))
    for _ in range(3):
        student.agrees(drawn(rng, 40), drawn_u(rng))


@exercise.fine_point("Where u equals the sum of the tokens so far, the next comes")
def u_on_a_boundary(student, rng):
    probabilities = sixteenths([4, 8, 3, 1], [4, 8, 3, 1], [4, 8, 3, 1])
    result = student(probabilities, torch.tensor([0.25, 0.75, 0.9375]))
    student.expect(result, torch.tensor([1, 2, 3]))
    rows = [rng.permutation([1, 2, 3, 4, 6]).tolist() for _ in range(6)]
    sums = [sum(row[: int(rng.integers(1, 5))]) for row in rows]
    student.agrees(sixteenths(*rows), torch.tensor(sums) / 16)
    rows = [[0, *rng.permutation([0, 0, 5, 11]).tolist()] for _ in range(4)]
    student.agrees(sixteenths(*rows), torch.zeros(4))


@exercise.case("A token of probability 0 never comes")
def probability_of_zero(student, rng):
    probabilities = sixteenths([0, 0, 10, 6], [10, 0, 0, 6], [9, 7, 0, 0])
    result = student(probabilities, torch.tensor([0.01, 0.64, 0.99]))
    student.expect(result, torch.tensor([2, 3, 1]))
    rows = [[0, *rng.permutation([0, 0, 5, 11]).tolist()] for _ in range(4)]
    for u in (0.01, 0.93):
        student.agrees(sixteenths(*rows), torch.full((4,), u))


@exercise.case("Of evenly spaced u, each token has the share of its probability")
def shares_are_probabilities(student, rng):
    counts = torch.from_numpy(rng.permutation([1, 2, 4, 5, 8, 12]))
    u = (torch.arange(32) + 0.5) / 32
    drawn_tokens = student((counts / 32).expand(32, 6).clone(), u)
    times = (drawn_tokens.unsqueeze(-1) == torch.arange(6)).sum(dim=0)
    student.expect(times, counts, "how often each token comes")


@exercise.fine_point("Where rounding leaves no sum above u, the last possible comes")
def sum_below_u(student, rng):
    n_zeros = int(rng.integers(1, 4))
    probabilities = torch.tensor([0.333333] * 3 + [0.0] * n_zeros)
    student.expect(student(probabilities, torch.tensor(0.9999995)), torch.tensor(2))
    rows = torch.stack([probabilities.roll(shift) for shift in range(n_zeros + 1)])
    student.agrees(rows, torch.full((n_zeros + 1,), 0.9999995))


@exercise.case("In float64, for a large vocabulary", visible=False)
def large_vocabulary(student, rng):
    u = drawn_u(rng, 20, dtype=torch.float64)
    student.agrees(drawn(rng, 20, 500, dtype=torch.float64), u)


@exercise.case("`probabilities` and `u` are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, 4, 7), drawn_u(rng, 4))


exercise.edits(
    """
earlier_token_on_a_boundary: <= -> <
  Where u equals the sum of the tokens so far, your code takes the last of them, even
    one of probability 0.
  ? Which token should come for u = 0, if token 0 has the probability 0?
  # searchsorted has right=False if nothing else is asked for, and sums >= u looks as
    good as sums > u.
probabilities_not_summed:
  | return ( … ->
  :     ends = (probabilities > u.unsqueeze(-1)) | (sums == 1)
  :     return ends.int().argmax(dim=-1)
  Your code compares u with each token's own probability, not with a sum.
  ? For which share of all u does token 1 come in your code, if it has 1/4 and token 0
    has 1/2?
  # p > u is the test for one event, such as dropout.
first_probability_above_u:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:]
  : return ( … -> return (probabilities > u.unsqueeze(-1)).int().argmax(dim=-1)
  Your code takes the first token whose own probability is above u, and token 0 where
    none is: nothing is summed.
  # p > u is the test for one event, and argmax of no True is 0.
last_token_always:
  | return ( … ->
  :     token_ids = torch.zeros(u.shape, dtype=torch.int64)
  :     for token_id in range(sums.shape[-1]):
  :         token_ids[sums[..., token_id] > u] = token_id
  :     return token_ids
  Your result is the last token of the vocabulary in each row, as if a loop went on
    after the first sum above u: the last sum is above it, too.
  ? Of all the tokens whose sum is above u, which one does the docstring ask for?
  # `break` is forgotten, and each later token overwrites the first.
last_token_always_of_two_axes:
  | return ( … ->
  :     token_ids = torch.zeros(len(u), dtype=torch.int64)
  :     for row in range(len(u)):
  :         for token_id in range(sums.shape[1]):
  :             if sums[row, token_id] > u[row]:
  :                 token_ids[row] = token_id
  :     return token_ids
  Your result is the last token of the vocabulary in each row, as if a loop went on
    after the first sum above u; and it stops where there is not one axis of rows.
  # `break` is forgotten in a loop over rows and one over tokens.
closest_probability:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:]
  : return ( … -> return (probabilities - u.unsqueeze(-1)).abs().argmin(dim=-1)
  Your code takes the token whose probability is closest to u.
  ? How often should a token of probability 1/4 come, and for which u?
  # u and the probabilities both lie between 0 and 1, and invite comparison.
closest_sum: return (sums - u.double().unsqueeze(-1)).abs().argmin(dim=-1)
  Your code takes the token whose sum is closest to u, above it or below.
  ? Between which two ends on the line does the stretch of a token lie?
  # Looking up a number in a table often means the nearest entry.
sum_before_above_u:
  | sums = sums / sums[..., -1:]
  : return ( … ->
  :     before = sums - probabilities
  :     return (before > u.unsqueeze(-1)).int().argmax(dim=-1)
  Your code takes the first token for which the sum of those before it, without its
    own probability, is above u: one token too late, and token 0 where there is none.
  ? Does the sum that the docstring compares with u hold the token's own probability?
  # top_p_filter compares the sum before each token, and here its own counts.
divided_by_the_last_row: sums[..., -1:] -> sums[-1]
  Your sums are divided by those of the last row, token by token, where there are
    several rows.
  ? Which axis does the index [-1] go along, and which one has each row's last sum?
  # ends[-1] is the last end of a single row.
comparisons_returned:
  | sums = sums / sums[..., -1:]
  : return ( … -> return sums > u.double().unsqueeze(-1)
  Your result is a True or False for each token, not the id of one token.
  ? How do you get from these comparisons to the first True of each row?
  # The comparison is the hard part, and a mask looks like a choice.
one_number_for_all_rows:
  | sums = sums / sums[..., -1:]
  : return ( … -> return (sums <= u.double().unsqueeze(-1)).sum()
  Your result is one number for all rows: what you count is counted over the whole
    batch.
  ? Over which axis does sum add if none is named?
  # sum() without dim is right for a single row.
summed_in_sorted_order:
  | order = probabilities.argsort(dim=-1, descending=True, stable=True)
  | probabilities.double() -> probabilities.gather(-1, order).double()
  | return ( … ->
  :     ranks = (sums <= u.double().unsqueeze(-1)).sum(dim=-1, keepdim=True)
  :     return order.gather(-1, ranks).squeeze(-1)
  Your sums begin with the most probable token: shares are right, but another token
    comes for the same u than the docstring says.
  ? In which order does the docstring go through the tokens?
  # Top-k and top-p sort, and the sampling follows in the same loop; it also ends
    sooner.
rank_returned:
  | probabilities.double() ->
  :     probabilities.sort(dim=-1, descending=True).values.double()
  Your result is ranks: 0 for the most probable token, 1 for the second.
  ? Which token id belongs to the first number of a sorted row?
  # After sorting, what comes out are positions in the sorted row, and to map them
    back is forgotten.
summed_from_the_end:
  | probabilities.double() -> probabilities.double().flip(-1)
  | return (sums -> return sums.shape[-1] - 1 - (sums
  Your sums begin with the last token.
  ? Which token should come for the smallest u?
  # A flip for one purpose is not turned back for the next.
summed_over_the_batch:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:] ->
  :     sums = (
  :         probabilities.double()
  :         .reshape(-1)
  :         .cumsum(dim=0)
  :         .reshape(probabilities.shape)
  :     )
  Your sums run on from one row into the next.
  ? At which number should the sum begin in the second row?
  # cumsum of a tensor that was flattened has one row.
most_probable_token:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:]
  : return ( … -> return probabilities.argmax(dim=-1)
  Your code takes the most probable token: `u` plays no part.
  ? How often should a token of probability 1/4 come?
  # argmax is greedy decoding, which chooses a token, too.
u_along_the_vocabulary: u.double().unsqueeze(-1) -> u.double()
  Your u lies along the vocabulary: the sum of token j meets the u of row j.
  ? Which axis of the sums (..., vocab_size) does u (...) meet, if nothing is added?
  # sums > u is right for one row.
first_u_for_all: u.double().unsqueeze(-1) -> u.double().reshape(-1)[0]
  Your code uses the first row's u in every row.
  ? How many numbers does u have, and for whom?
  # One random number for a whole batch is drawn by accident in many programs.
u_sorted:
  | u.double().unsqueeze(-1) ->
  :     u.double().reshape(-1).sort().values.reshape(u.shape).unsqueeze(-1)
  Your code sorts u: rows get each other's numbers.
  ? Which u belongs to row 0?
  # Sorted numbers can be looked up in one pass over the sums.
one_minus_u: u.double().unsqueeze(-1) -> 1 - u.double().unsqueeze(-1)
  Your tokens are those for 1 − u.
  ? Which token should come for the smallest u?
  # 1 − u is as random as u, and −ln(1 − u) is in every textbook on inversion.
token_behind_the_vocabulary:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:] -> sums = probabilities.double().cumsum(dim=-1)
  Where rounding leaves every sum below u, your token id is vocab_size: there is no
    such token.
  ? How many sums are below u, if all are?
  # Counting sums, as searchsorted does, gives vocab_size there.
first_token_at_the_end:
  | sums = sums / sums[..., -1:]
  : return ( … -> return (sums > u.double().unsqueeze(-1)).int().argmax(dim=-1)
  Where rounding leaves every sum at u or below, your code takes token 0.
  ? What is argmax of a row in which no comparison is True?
  # (sums > u).argmax() is the first True, or 0 if there is none.
last_token_of_all_at_the_end:
  | sums = sums / sums[..., -1:]
  : return ( … ->
  :     return (
  :         (sums <= u.double().unsqueeze(-1))
  :         .sum(dim=-1)
  :         .clamp(max=sums.shape[-1] - 1)
  :     )
  Where rounding leaves every sum at u or below, your code takes the last token of the
    vocabulary, even one of probability 0.
  ? May a token that a filter has taken out come after all?
  # clamp(max=vocab_size - 1) mends the index, and lets a blocked token come.
one_token_further: return (sums <= u.double().unsqueeze(-1)).sum(dim=-1) + 1
  Your token ids are one too large.
  ? Which token id has the first token?
  # The count of sums that pass is taken for a position, or counted from 1.
one_token_before: (sums <= -> (sums[..., 1:] <=
  Your token ids are one too small.
  ? Is the token whose sum passes u the one that comes, or the one after it?
  # The last sum below u is searched, and its position returned.
number_of_sums_above_u:
  | sums = sums / sums[..., -1:]
  : return ( … -> return (sums > u.double().unsqueeze(-1)).sum(dim=-1)
  Your result counts the sums above u, not those before.
  ? For u = 0 every sum is above u: which token should come?
  # (sums > u).sum() and (sums <= u).sum() differ by one sign.
one_hot_returned:
  | return ( … ->
  :     token_ids = (sums <= u.double().unsqueeze(-1)).sum(dim=-1)
  :     return torch.nn.functional.one_hot(token_ids, sums.shape[-1]).to(
  :         probabilities.dtype
  :     )
  Your result is one-hot rows, not token ids.
  ? Which shape does the docstring promise?
  # torch.nn.functional.gumbel_softmax returns one-hot rows.
an_axis_more: .sum(dim=-1) -> .sum(dim=-1, keepdim=True)
  Your result has an axis of length 1 at its end.
  ? Which shape does the docstring promise for u of shape (3, 4)?
  # torch.multinomial, and searchsorted with u.unsqueeze(-1), return that axis.
token_ids_as_floats: .sum(dim=-1) -> .sum(dim=-1).to(probabilities.dtype)
  Your token ids are floats.
  ? Which dtype does torch.zeros have if none is asked for?
  # torch.zeros and torch.empty_like(u) hold floats.
probability_returned:
  | return ( … ->
  :     token_ids = (sums <= u.double().unsqueeze(-1)).sum(dim=-1, keepdim=True)
  :     return probabilities.gather(-1, token_ids).squeeze(-1)
  Your result is the probability of each token that comes, not its token id.
  ? What does a model read next: a probability, or a token id?
  # Values and indices come in pairs from max, sort and topk.
probabilities_overwritten:
  | probabilities.double().cumsum(dim=-1) -> probabilities.cumsum_(dim=-1).double()
  Your call writes sums into the caller's `probabilities`.
  ? Does cumsum_ make a new tensor, or write into the caller's?
  # cumsum_ and += in a loop over a row save a tensor.
all_stretches_equally_long:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:]
  : return ( … -> return (u * probabilities.shape[-1]).long()
  Your stretches are all equally long: the probabilities play no part.
  ? How often should a token of probability 1/4 come?
  # u times the number of choices is how one draws among equals.
small_probabilities_counted:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:]
  : return ( … ->
  :     return (probabilities.double() <= u.double().unsqueeze(-1)).sum(dim=-1)
  Your result is how many probabilities are u or less: they are compared one by one,
    and never summed.
  ? Where on the line does the stretch of the third token begin?
  # The running sum, cumsum, is forgotten.
sums_along_the_first_axis:
  | sums = probabilities. …
  : sums = sums / sums[..., -1:] -> sums = probabilities.double().cumsum(dim=0)
  Your sums run along the first axis: where there is a batch, they add up over its
    rows.
  ? Along which axis do the tokens of one row lie?
  # cumsum(0) is right for a single row.
""",
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
