"""Cases and misconceptions of ``top_p_filter``."""

import torch

from autograder import Exercise, families
from autograder.exercises.top_k_filter import drawn, in_other_orders
from course_lib.nn.sampling import top_p_filter

exercise = Exercise(
    top_p_filter,
    lesson="12_language_model",
    minutes=12,
    difficulty=2,
)


@exercise.spec
def spec(probabilities, p):
    if p == 1:
        return probabilities.clone()
    filtered = []
    for row in probabilities.reshape(-1, probabilities.shape[-1]).tolist():
        stay, total = [], 0.0
        for i in sorted(range(len(row)), key=lambda i: (-row[i], i)):
            if total < p:
                stay.append(i)
                total += row[i]
        filtered.append([row[i] / total if i in stay else 0.0 for i in range(len(row))])
    result = torch.tensor(filtered, dtype=probabilities.dtype)
    return result.reshape(probabilities.shape)


@exercise.usual
def usual(rng):
    return drawn(rng, 4, 9), 0.8


@exercise.case("Of 1/8, 1/2, 1/4, 1/8 with p = 0.6 the 1/2 and the 1/4 stay")
def small_example_by_hand(student, rng):
    probabilities = torch.tensor([0.125, 0.5, 0.25, 0.125])
    expected = torch.tensor([0.0, 2 / 3, 1 / 3, 0.0])
    student.expect(student(probabilities, 0.6), expected)
    student.agrees(drawn(rng, 6), 0.8)


@exercise.case("The token whose probability makes the sum p or more stays")
def crossing_token_stays(student, rng):
    student.agrees(in_other_orders(rng, 3, 1, 2, 4, 9), 0.7)
    three = in_other_orders(rng, 2, 1, 2, 5, 8)
    four = in_other_orders(rng, 2, 2, 3, 5, 6)
    student.agrees(torch.cat([three, four]), 0.9)


@exercise.fine_point("Where the sum is p exactly, no more tokens stay")
def sum_is_p(student, rng):
    student.agrees(in_other_orders(rng, 3, 1, 2, 4, 9), 0.8125)
    student.agrees(in_other_orders(rng, 3, 1, 2, 5, 8), 0.5)


@exercise.case("With a small p the most probable token stays, and has probability 1")
def one_stays(student, rng):
    student.agrees(drawn(rng, 3, 6), 0.01)
    student.agrees(in_other_orders(rng, 3, 1, 2, 3, 10), 0.3)


@exercise.case(
    "Each row has as many tokens as it needs, each where it stood", weight=1.5
)
def rows_of_their_own(student, rng):
    student.agrees(drawn(rng, 4, 9), 0.75)
    flat, steep = drawn(rng, 2, 7).sqrt(), drawn(rng, 2, 7) ** 3
    rows = torch.cat([flat, steep])
    student.agrees(rows / rows.sum(dim=-1, keepdim=True), 0.9)


@exercise.case("Any number of axes may come first, also none")
def leading_axes(student, rng):
    student.agrees(drawn(rng, 2, 3, 8), 0.7)
    student.agrees(drawn(rng, 1, 7), 0.6)
    student.agrees(drawn(rng, 10), 0.85)


@exercise.fine_point("Of equally probable tokens the smaller token id comes first")
def equal_probabilities(student, rng):
    probabilities = torch.tensor([0.125, 0.25, 0.25, 0.25, 0.125])
    expected = torch.tensor([0.0, 0.5, 0.5, 0.0, 0.0])
    student.expect(student(probabilities, 0.4), expected)
    student.agrees(in_other_orders(rng, 5, 1, 1, 1, 3, 3, 3, 4), 0.6)


@exercise.fine_point("With p = 1 nothing is removed")
def all_stay(student, rng):
    student.agrees(in_other_orders(rng, 3, 1, 2, 3, 4, 6), 1.0)
    student.agrees(drawn(rng, 2, 6), 1)


@exercise.case("In float64, for a large vocabulary", visible=False)
def large_vocabulary(student, rng):
    for p in (0.5, 0.9, 0.99):
        student.agrees(drawn(rng, 2, 300, dtype=torch.float64), p)


@exercise.case("`probabilities` are not modified")
def argument_stays(student, rng):
    student.leaves_unchanged(drawn(rng, 3, 7), 0.6)
    student.leaves_unchanged(in_other_orders(rng, 3, 1, 2, 4, 9), 0.7)


@exercise.right_answer
def in_steps(probabilities, p):
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    ordered = probabilities.gather(-1, order).double()
    sums = ordered.cumsum(dim=-1)
    before = sums - ordered
    at_front = (before < p) | (p == 1)
    stays = at_front.scatter(-1, order, at_front)
    filtered = probabilities.masked_fill(~stays, 0.0)
    total = filtered.sum(dim=-1, keepdim=True)
    return filtered / total


exercise.edits(
    """
those_behind_p_stay: at_front = sums > p
  Your code keeps the tokens behind the point where the sum passes p, and takes out
    those before it.
  ? Does your mask say which tokens stay, or which are taken out?
  # Libraries make a mask of the tokens to remove, with sums > p.
sums_along_the_first_axis: cumsum(dim=-1) -> cumsum(dim=0)
  Your sums run along the first axis: where there is a batch, they add up over its
    rows.
  ? Along which axis do the tokens of one row lie?
  # cumsum(0) is right for a single row.
crossing_token_dropped: before < p -> sums <= p
  Your code drops the token whose probability takes the sum above p.
  ? Do those that stay in your result have the probability p together?
  # cumsum <= p is the first comparison that one writes; with a small p, no token is
    left and all is NaN.
token_that_reaches_p_dropped_with_p_of_one_too: at_front = sums < p
  Your code drops the token that takes the sum to p or above it, also with p = 1.
  # cumsum < p leaves out the last token where p is 1.
token_that_reaches_p_dropped: before < p -> sums < p
  Your code drops the token that takes the sum to p or above it.
  # cumsum < p leaves out the very token that completes the nucleus.
crossing_token_dropped_unless_first: (before < p) -> (before == 0) | (sums <= p)
  Your code drops the token whose probability takes the sum above p, unless it is the
    first that you add.
  ? Is the sum of those that stay p or more, in a row where several do?
  # The NaN of an empty row is mended by always keeping the first token, and the cause
    stays.
token_that_reaches_p_dropped_unless_first_at_1_too:
  | at_front = (before == 0) | (sums < p)
  Your code drops the token that takes the sum to p or above it, unless it is the first
    that you add; with p = 1, too, where nothing should change.
  # cumsum < p, and the first token is put back to have one at least.
token_that_reaches_p_dropped_unless_first: (before < p) -> (before == 0) | (sums < p)
  Your code drops the token that takes the sum to p or above it, unless it is the first
    that you add.
one_more_where_the_sum_is_p: before < p -> before <= p
  Your code lets one token more stay where the sum is p exactly.
  ? If three tokens have the probability p together, is a fourth one needed?
  # cumsum > p, shifted by one token, says what goes: so does the well-known
    top_k_top_p_filtering.
one_token_too_many:
  | stays = … ->
  :     at_front[..., 1:] = at_front[..., :-1].clone()
  :     stays = at_front.scatter(-1, order, at_front)
  Your code lets one token more stay, after the one that makes the sum p.
  ? Which is the first token that is not needed any more?
  # A shift by one too many, or a count that is used as an index with ≤.
one_minus_p: at_front = before < 1 - p
  Your tokens are those that together have probability 1 − p.
  ? With a larger p, should more tokens stay, or fewer?
  # Sorted from the smallest, cumsum <= 1 − p says what goes; sorted from the largest
    it is another thing.
each_compared_with_p: stays = probabilities >= p
  Your code compares each token's own probability with p.
  ? Does the docstring speak of the probability of one token, or of several together?
  # probabilities >= p is a threshold, and p is taken for one.
each_compared_with_p_and_the_best_stays:
  | stays = (probabilities >= p) | (order.argsort(dim=-1) == 0)
  Your tokens are the best one and those with a probability of at least p of their own.
  # A threshold leaves rows empty, and the best token is put back.
share_of_the_largest:
  | stays = probabilities >= p * probabilities.amax(dim=-1, keepdim=True)
  Your tokens are those with at least p times the probability of the best one.
  ? Does the docstring speak of the most probable token, or of a sum?
  # That is min-p sampling, a later idea with a similar name.
share_of_the_largest_by_the_rest:
  | stays = probabilities >= (1 - p) * probabilities.amax(dim=-1, keepdim=True)
  Your tokens are those with at least 1 − p times the probability of the best one.
  # Min-p sampling, with a p that counts the other way.
share_of_the_tokens: stays = order.argsort(dim=-1) < p * order.shape[-1]
  Your code lets a share p of all tokens stay, whatever their probabilities.
  ? Should a row with one likely token keep as many as a row with many?
  # The 'top 90 %' of something is often meant by count.
least_probable_first: descending=True -> descending=False
  Your sum begins with the least probable token.
  ? In which direction does argsort sort if it is not asked for another?
  # sort and argsort begin with the smallest number.
not_sorted: order = torch.arange(probabilities.shape[-1]).expand(probabilities.shape)
  Your sum runs over tokens as they come, by token id.
  ? Which token should be the first that stays?
  # cumsum works on any row, and the sorting is forgotten.
larger_token_ids_first: order = probabilities.argsort(dim=-1, stable=True).flip(-1)
  Of equally probable tokens, your code prefers the larger token ids.
  ? Which of two equal numbers comes first when a sorted row is turned around?
  # A flip after sorting turns equal ones around too.
all_equal_ones_stay:
  | stays = probabilities >= ordered.masked_fill(~at_front, 1).amin(-1, keepdim=True)
  Your code lets all tokens stay that are as probable as the last one needed.
  ? If one of three equal tokens is enough for p, how many should stay?
  # The probability of the last one is used as a threshold.
as_many_as_in_the_first_row:
  | stays = order.argsort(dim=-1) < at_front.reshape(-1, order.shape[-1])[0].sum()
  Your code lets as many tokens stay in each row as in the first one.
  ? Does a row with one likely token need as many as a row with many?
  # One number of tokens for a whole batch makes a plain slice possible.
sum_runs_on_into_the_next_row:
  | sums = ordered.flatten().cumsum(dim=0).reshape(ordered.shape)
  Your sum runs on from one row into the next.
  ? At which number should the sum begin in the second row?
  # cumsum of a tensor that was flattened has one row.
mask_in_sorted_order: stays = at_front
  Your mask is in sorted order, and your probabilities are in the order of the
    vocabulary.
  ? Which token does the first entry of your mask belong to?
  # The sort is a step of its own, and undoing it the one that is forgotten.
order_undone_the_wrong_way: stays = at_front.gather(-1, order)
  Your mask goes through the same indices once more, which does not undo the order.
  ? If order[0] is 5, where should the first entry of the mask be written?
  # gather with the order sorts; what undoes it is scatter, or the argsort of the
    order.
sorted_order_returned:
  | filtered = probabilities.gather(-1, order).masked_fill(~at_front, 0.0)
  Your probabilities come in sorted order: it no longer shows whose they are.
  ? Which token does the first number of your result belong to?
  # Sorting is the first step, and undoing it the one that is forgotten.
not_renormalised: return filtered
  Your probabilities do not sum to 1: those that stay have what they had.
  ? What does a row of your result sum to?
  # With logits, −∞ does it, and softmax follows; with probabilities it does not.
divided_by_p: return filtered / p
  Your probabilities are divided by p, and a row sums to more than 1.
  ? Is the sum of those that stay p, or at least p?
  # 'Together they have probability p' is read as exact; the paper calls the sum p′.
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
sum_of_the_whole_batch: total = filtered.sum()
  Your probabilities are divided by the sum over all rows.
  ? What should each row sum to?
  # sum() without a dim is right for one row.
minus_infinity_for_the_others: return (filtered / total).masked_fill(~stays, -torch.inf)
  Tokens that are out have −∞ in your result.
  ? Which probability has a token that never comes?
  # −∞ is what blocks a logit, and a probability is none.
mask_returned: return stays
  Your result is a mask: True for tokens that stay.
  ? What does the docstring promise for each token of the vocabulary?
  # Processors of logits hand masks to each other.
probabilities_changed: masked_fill -> masked_fill_
  Your call writes zeros into the caller's `probabilities`.
  ? Does your answer write into `probabilities`, or into a new tensor?
  # probabilities[mask] = 0 and masked_fill_ change the caller's.
each_compared_with_the_rest: stays = probabilities >= 1 - p
  Your code compares each token's own probability with 1 − p.
  ? Does the docstring speak of the probability of one token, or of several together?
  # 1 − p is what may be left out, and it is taken for a limit for each token.
each_compared_with_the_rest_and_the_best_stays:
  | stays = (probabilities >= 1 - p) | (order.argsort(dim=-1) == 0)
  Your tokens are the best one and those with a probability of at least 1 − p of their
    own.
  # The limit leaves rows empty where p is small, and the best token is put back.
""",
    of=in_steps,
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
