"""Cases and misconceptions of ``top_k_filter``."""

import torch

from autograder import Exercise, families
from course_lib.nn.sampling import top_k_filter

exercise = Exercise(
    top_k_filter,
    lesson="12_language_model",
    minutes=8,
    difficulty=2,
)


@exercise.spec
def spec(probabilities, k):
    rows = probabilities.reshape(-1, probabilities.shape[-1]).tolist()
    filtered = []
    for row in rows:
        order = sorted(range(len(row)), key=lambda i: (-row[i], i))
        stay = order[:k]
        total = sum(row[i] for i in stay)
        filtered.append([row[i] / total if i in stay else 0.0 for i in range(len(row))])
    result = torch.tensor(filtered, dtype=probabilities.dtype)
    return result.reshape(probabilities.shape)


def drawn(rng, *shape, dtype=torch.float32):
    """Draw probabilities of which no two are alike."""
    return torch.from_numpy(2 * rng.normal(size=shape)).to(dtype).softmax(dim=-1)


def in_other_orders(rng, n_rows, *sixteenths):
    """Put numbers of sixteenths, 16 in all, into rows, each in another order."""
    rows = [rng.permutation(sixteenths) for _ in range(n_rows)]
    return torch.tensor([row.tolist() for row in rows]) / 16


@exercise.usual
def usual(rng):
    return drawn(rng, 4, 9), 3


@exercise.case("Of 1/8, 1/2, 1/4, 1/8 the two most probable become 2/3 and 1/3")
def small_example_by_hand(student, rng):
    probabilities = torch.tensor([0.125, 0.5, 0.25, 0.125])
    expected = torch.tensor([0.0, 2 / 3, 1 / 3, 0.0])
    student.expect(student(probabilities, 2), expected)
    student.agrees(drawn(rng, 5), 2)


@exercise.case("Each row has k tokens of its own, each where it stood")
def rows_of_their_own(student, rng):
    student.agrees(drawn(rng, 4, 9), 3)
    student.agrees(drawn(rng, 6, 6), 2)


@exercise.case("Any number of axes may come first, also none")
def leading_axes(student, rng):
    student.agrees(drawn(rng, 2, 3, 8), 4)
    student.agrees(drawn(rng, 1, 7), 3)
    student.agrees(drawn(rng, 10), 5)


@exercise.case("With k = 1 the most probable token has probability 1")
def one_stays(student, rng):
    student.agrees(drawn(rng, 3, 6), 1)
    student.agrees(in_other_orders(rng, 3, 1, 6, 1, 8), 1)


@exercise.fine_point("Of equally probable tokens those with smaller token ids stay")
def equal_probabilities(student, rng):
    probabilities = torch.tensor([0.125, 0.25, 0.25, 0.25, 0.125])
    expected = torch.tensor([0.0, 0.5, 0.5, 0.0, 0.0])
    student.expect(student(probabilities, 2), expected)
    student.agrees(in_other_orders(rng, 5, 1, 1, 1, 3, 3, 3, 4), 3)
    student.agrees(in_other_orders(rng, 5, 2, 2, 2, 2, 2, 2, 4), 4)


@exercise.case("With k of the vocabulary or more, nothing is removed", pays_alone=False)
def all_stay(student, rng):
    student.agrees(drawn(rng, 2, 6), 6)
    student.agrees(drawn(rng, 2, 6), 9)


@exercise.case("Tokens of probability 0 may be among the k, and stay at 0")
def probabilities_of_zero(student, rng):
    student.agrees(in_other_orders(rng, 4, 0, 0, 0, 5, 0, 11), 4)
    student.agrees(in_other_orders(rng, 4, 0, 2, 0, 5, 0, 9), 2)


@exercise.case("In float64, for a large vocabulary", visible=False)
def large_vocabulary(student, rng):
    student.agrees(drawn(rng, 2, 400, dtype=torch.float64), 40)


@exercise.case("`probabilities` are not modified")
def argument_stays(student, rng):
    student.leaves_unchanged(drawn(rng, 3, 7), 2)


exercise.edits(
    """
smallest_stay: descending=True -> descending=False
  Your code lets the least probable tokens stay.
  ? In which direction does argsort sort if it is not asked for another?
  # sort and argsort begin with the smallest number.
first_tokens_stay:
  | order = torch.arange(probabilities.shape[-1]).expand(probabilities.shape)
  Your code lets tokens 0 to k − 1 stay, whatever their probabilities.
  ? Is a row of probabilities sorted when it comes in?
  # [..., :k] is right for a sorted row.
all_equal_ones_stay:
  | stays = …
  : stays = … ->
  :     last = probabilities.gather(-1, order[..., :k])[..., -1:]
  :     stays = probabilities >= last
  Your code lets more than k tokens stay where several are as probable as the k-th.
  ? How many tokens pass a comparison with the k-th probability, if two others equal
    it?
  # probabilities < kth value is what Hugging Face's TopKLogitsWarper blocks, and
    nanoGPT's generate too.
fewer_than_k_stay:
  | torch.zeros_like -> torch.ones_like
  | stays = stays. … ->
  :     if k < probabilities.shape[-1]:
  :         last = probabilities.gather(-1, order[..., k - 1:k])
  :         stays = probabilities > last
  Your code drops the k-th token, and all that are as probable as it.
  ? Does the k-th probability pass the comparison with itself?
  # > stands where >= was meant.
equals_of_one_that_is_out_dropped:
  | torch.zeros_like -> torch.ones_like
  | stays = stays. … ->
  :     if k < probabilities.shape[-1]:
  :         best_out = probabilities.gather(-1, order[..., k:k + 1])
  :         stays = probabilities > best_out
  Your code lets only those tokens stay that are more probable than the best one that
    is out: its equals are dropped too.
  ? If four tokens are equally probable, how many of them are more probable than the
    best one that should go?
  # A threshold at index k of the sorted row, with >, is right where no two are equal.
larger_token_ids_stay: order = probabilities.argsort(dim=-1, stable=True).flip(-1)
  Of equally probable tokens, your code prefers the larger token ids.
  ? Which of two equal numbers comes first when a sorted row is turned around?
  # argsort()[-k:], or a flip after sorting, turns equal ones around too.
error_for_large_k: order[..., :k] -> order[..., torch.arange(k)]
  Your code ends in an error where k is larger than the vocabulary.
  ? How many tokens can stay, if there are fewer than k?
  # torch.topk wants as many numbers as it is asked for.
never_all_stay: k = min(k, probabilities.shape[-1] - 1)
  Your code drops the least probable token where k is the vocabulary or more.
  ? How many tokens are out, if k is as large as the vocabulary?
  # Index k of a sorted row is cut to the last one, and what is not above that goes.
one_token_too_many: :k -> :k + 1
  Your code lets k + 1 tokens stay.
  ? Which position has the k-th number in a sorted row, if counting starts at 0?
  # The threshold is the number at index k of the sorted row, with >=.
one_token_too_few: :k -> :k - 1
  Your code lets k − 1 tokens stay.
  ? How many numbers are before index k − 1 of a sorted row?
  # The k-th number is at index k − 1, and a slice ends before its end.
tokens_of_the_first_row:
  | first = probabilities.reshape(-1, probabilities.shape[-1])[0]
  | order = first.argsort(descending=True, stable=True).expand(probabilities.shape)
  Your code lets the tokens of the first row stay in every row.
  ? Whose k most probable tokens should stay in the second row?
  # order[0], or a loop over one row, is tried first and stays.
k_of_the_whole_batch:
  | order = probabilities.reshape(-1).argsort(descending=True, stable=True)
  | torch.zeros_like(probabilities, -> torch.zeros(probabilities.numel(),
  | order[..., :k], True) -> order[:k], True).reshape(probabilities.shape)
  Your code lets k tokens of the whole batch stay, not of each row.
  ? On which axis are the tokens among which k should stay?
  # A tensor that is flattened first has one row.
sorted_order_returned:
  | masked_fill(~stays, 0.0) -> masked_fill(~stays, 0.0).gather(-1, order)
  Your probabilities come in sorted order: it no longer shows whose they are.
  ? Which token does the first number of your result belong to?
  # Sorting is the first step, and undoing it the one that is forgotten.
order_undone_the_wrong_way:
  | masked_fill(~stays, 0.0) ->
  :     masked_fill(~stays, 0.0).gather(-1, order).gather(-1, order)
  Your sorted probabilities go back through the same indices once more, which does not
    undo the order.
  ? If order[0] is 5, where should the first sorted number be written?
  # gather with the order sorts; what undoes it is scatter, or the argsort of the
    order.
not_renormalised: return filtered
  Your probabilities do not sum to 1: those that stay have what they had.
  ? What does a row of your result sum to?
  # With logits, −∞ does it, and softmax follows; with probabilities it does not.
softmax_of_probabilities:
  | 0.0 -> -torch.inf
  | return filtered.softmax(dim=-1)
  Your probabilities went through a softmax once more: their ratios have changed.
  ? If one token is twice as probable as another, is it still so in your result?
  # Filled with −∞ and softmax is how logits are filtered.
softmax_with_zeros: return filtered.softmax(dim=-1)
  Your result is a softmax of probabilities and zeros: no token is out.
  ? What is e to the power of 0?
  # A softmax makes everything sum to 1, zeros included.
equal_shares: filtered = stays.to(probabilities.dtype)
  Those that stay are all equally probable in your result.
  ? Should the most probable token still be more probable than the second?
  # A mask divided by its sum looks like a distribution, and is one.
divided_by_the_largest: .sum( -> .amax(
  Your probabilities are divided by the largest one: it becomes 1, and a row sums to
    more.
  ? What should a row sum to?
  # To normalise means that in other fields.
sum_of_the_whole_batch: .sum(dim=-1, keepdim=True) -> .sum()
  Your probabilities are divided by the sum over all rows.
  ? What should each row sum to?
  # sum() without a dim is right for one row.
minus_infinity_for_the_others:
  | return filtered … ->
  :     filtered = filtered / filtered.sum(dim=-1, keepdim=True)
  :     return filtered.masked_fill(~stays, -torch.inf)
  Tokens that are out have −∞ in your result.
  ? Which probability has a token that never comes?
  # −∞ is what blocks a logit, and a probability is none.
only_those_that_stay: filtered = probabilities.gather(-1, order[..., :k])
  Your result has k numbers in each row, not one per token.
  ? How can a caller tell from your result which tokens stay?
  # torch.topk returns the k values alone.
token_ids_returned:
  | filtered = …
  : return filtered … -> return order[..., :k]
  Your result is token ids, not probabilities.
  ? What does the docstring promise for each token of the vocabulary?
  # The second result of torch.topk is token ids.
pair_returned:
  | filtered = probabilities.gather(-1, order[..., :k])
  | return (filtered / filtered.sum(dim=-1, keepdim=True), order[..., :k])
  Your result is a pair: probabilities of k tokens, and their token ids.
  ? How many results does the docstring promise, and of which shape?
  # torch.topk returns both of them, values and indices.
probabilities_changed: masked_fill -> masked_fill_
  Your call writes zeros into the caller's `probabilities`.
  ? Does your answer write into `probabilities`, or into a new tensor?
  # probabilities[mask] = 0 and masked_fill_ change the caller's.
one_token_too_few_but_for_one: :k -> :max(k - 1, 1)
  Your code lets k − 1 tokens stay, and one for k = 1.
  ? How many tokens does the docstring let stay for k = 2?
  # Counting from 0, the k-th token has the number k − 1.
k_th_dropped_for_any_k:
  | stays = …
  : stays = … ->
  :     last = probabilities.gather(-1, order[..., :k])[..., -1:]
  :     stays = probabilities > last
  Your code drops the k-th token, and all that are as probable as it; for k of the
    vocabulary or more, the least probable one.
  ? Does the k-th probability pass the comparison with itself?
  # > stands where >= was meant.
divided_by_k: filtered.sum(dim=-1, keepdim=True) -> k
  Your probabilities are divided by k.
  ? What does a row of your result sum to?
  # A mean of k numbers is divided by k.
minus_infinity_and_not_renormalised:
  | return filtered.masked_fill(filtered == 0, -torch.inf)
  Your tokens that are out have −∞, and those that stay have what they had.
  ? Which number is the probability of a token that can never come, and what should a
    row sum to?
  # Most programs filter logits, not probabilities, and softmax follows.
softmax_of_those_above_zero:
  | return filtered.masked_fill(filtered == 0, -torch.inf).softmax(dim=-1)
  Your probabilities went through a softmax once more: their ratios have changed.
  ? If one token is twice as probable as another, should it still be so afterwards?
equal_shares_above_zero:
  | return filtered … ->
  :     mask = (filtered > 0).to(filtered.dtype)
  :     return mask / mask.sum(dim=-1, keepdim=True)
  All tokens that have a probability above 0 in your result have the same.
  # A mask divided by its sum sums to 1.
""",
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
