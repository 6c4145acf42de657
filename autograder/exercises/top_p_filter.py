"""Cases and misconceptions of ``top_p_filter``."""

import torch

from autograder import Exercise, families
from autograder.exercises.top_k_filter import drawn, in_other_orders, order_of
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


@exercise.variants
def variants(
    probabilities,
    p,
    *,
    crossing="stays",
    chosen="the largest",
    ties="the smaller token id",
    rows="each its own",
    written="where they stood",
    blank=0.0,
    renormalised="by their sum",
    returns="all tokens",
    overwritten="nothing",
):
    n_tokens = probabilities.shape[-1]
    order = order_of(probabilities, chosen, ties)
    ordered = probabilities.gather(-1, order).double()
    if rows == "over the batch":
        sums = ordered.reshape(-1).cumsum(0).reshape(ordered.shape)
    elif rows == "one above the other":
        sums = ordered.cumsum(dim=0)
    else:
        sums = ordered.cumsum(dim=-1)
    before = sums - ordered
    at_front = CROSSING[crossing](before, sums, ordered, p)
    if p == 1 and crossing.startswith(("stays", "dropped")):
        if not crossing.endswith("with p = 1 too"):
            at_front = torch.ones_like(at_front)
    if rows == "as many as the first":
        count = at_front.reshape(-1, n_tokens)[0].sum()
        at_front = (torch.arange(n_tokens) < count).expand(at_front.shape)
    stays = torch.zeros_like(probabilities, dtype=torch.bool)
    if written == "mask as it is":
        stays = at_front
    elif written == "mask sorted once more":
        stays = at_front.gather(-1, order)
    else:
        stays = stays.scatter(-1, order, at_front)
    if ties == "all of them":
        last = ordered.masked_fill(~at_front, torch.inf).amin(-1, keepdim=True)
        stays = probabilities >= last
    filtered = probabilities.masked_fill(~stays, 0.0)
    if written == "sorted":
        filtered = probabilities.gather(-1, order).masked_fill(~at_front, 0.0)
    total = filtered.sum(dim=-1, keepdim=True)
    if renormalised == "by the sum of the batch":
        total = filtered.sum()
    result = {
        "not": lambda: filtered,
        "by p": lambda: filtered / p,
        "by softmax": lambda: filtered.masked_fill(~stays, -torch.inf).softmax(-1),
        "by softmax of all": lambda: filtered.softmax(-1),
        "to equal shares": lambda: (
            stays.to(filtered.dtype) / stays.sum(-1, keepdim=True)
        ),
    }.get(renormalised, lambda: filtered / total)()
    if blank:
        result = result.masked_fill(~stays, blank)
    if overwritten == "probabilities":
        probabilities.masked_fill_(~stays, 0.0)
    return stays if returns == "the mask" else result


def _first_besides(at_front):
    return at_front | (torch.arange(at_front.shape[-1]) == 0)


CROSSING = {
    "stays": lambda before, sums, ordered, p: before < p,
    "stays, and one more at p": lambda before, sums, ordered, p: before <= p,
    "dropped": lambda before, sums, ordered, p: sums <= p,
    "dropped, at p too": lambda before, sums, ordered, p: sums < p,
    "dropped, but the first": lambda before, sums, ordered, p: _first_besides(
        sums <= p
    ),
    "dropped, at p too, but the first": lambda before, sums, ordered, p: _first_besides(
        sums < p
    ),
    "dropped, at p too, but the first, with p = 1 too": lambda before, sums, _, p: (
        _first_besides(sums < p)
    ),
    "dropped, with p = 1 too": lambda before, sums, ordered, p: sums <= p,
    "dropped, at p too, with p = 1 too": lambda before, sums, ordered, p: sums < p,
    "what lies behind p": lambda before, sums, ordered, p: sums > p,
    "stays, and one more": lambda before, sums, ordered, p: (
        (before - ordered.roll(1, -1) < p) | (torch.arange(sums.shape[-1]) < 2)
    ),
    "1 − p": lambda before, sums, ordered, p: before < 1 - p,
    "each 1 − p or more": lambda before, sums, ordered, p: ordered >= 1 - p,
    "each p or more": lambda before, sums, ordered, p: ordered >= p,
    "a share of the largest": lambda before, sums, ordered, p: (
        ordered >= p * ordered.amax(-1, keepdim=True)
    ),
    "a share of the tokens": lambda before, sums, ordered, p: (
        torch.arange(sums.shape[-1]) < p * sums.shape[-1]
    ).expand(sums.shape),
}

exercise.option(
    "those_behind_p_stay",
    "Your code keeps the tokens behind the point where the sum passes p, and takes out "
    "those before it.",
    "Does your mask say which tokens stay, or which are taken out?",
    why="Libraries make a mask of the tokens to remove, with sums > p.",
    crossing="what lies behind p",
)
exercise.option(
    "sums_along_the_first_axis",
    "Your sums run along the first axis: where there is a batch, they add up over "
    "its rows.",
    "Along which axis do the tokens of one row lie?",
    why="cumsum(0) is right for a single row.",
    rows="one above the other",
)
exercise.option(
    "crossing_token_dropped",
    "Your code drops the token whose probability takes the sum above p.",
    "Do those that stay in your result have the probability p together?",
    why="cumsum <= p is the first comparison that one writes; with a small p, no token "
    "is left and all is NaN.",
    crossing="dropped",
)
exercise.option(
    "token_that_reaches_p_dropped_with_p_of_one_too",
    "Your code drops the token that takes the sum to p or above it, also with p = 1.",
    "Do those that stay in your result have the probability p together?",
    why="cumsum < p leaves out the last token where p is 1.",
    crossing="dropped, at p too, with p = 1 too",
)
exercise.option(
    "token_that_reaches_p_dropped",
    "Your code drops the token that takes the sum to p or above it.",
    "Do those that stay in your result have the probability p together?",
    why="cumsum < p leaves out the very token that completes the nucleus.",
    crossing="dropped, at p too",
)
exercise.option(
    "crossing_token_dropped_unless_first",
    "Your code drops the token whose probability takes the sum above p, unless it is "
    "the most probable one.",
    "Is the sum of those that stay p or more, in a row where several do?",
    why="The NaN of an empty row is mended by always keeping the first token, and the "
    "cause stays.",
    crossing="dropped, but the first",
)
exercise.option(
    "token_that_reaches_p_dropped_unless_first_at_1_too",
    "Your code drops the token that takes the sum to p or above it, unless it is the "
    "most probable one; with p = 1, too, where nothing should change.",
    "Is the sum of those that stay p or more, in a row where several do?",
    why="cumsum < p, and the first token is put back to have one at least.",
    crossing="dropped, at p too, but the first, with p = 1 too",
)
exercise.option(
    "token_that_reaches_p_dropped_unless_first",
    "Your code drops the token that takes the sum to p or above it, unless it is the "
    "most probable one.",
    "Is the sum of those that stay p or more, in a row where several do?",
    why="cumsum < p, and the first token is put back to have one at least.",
    crossing="dropped, at p too, but the first",
)
exercise.option(
    "one_more_where_the_sum_is_p",
    "Your code lets one token more stay where the sum is p exactly.",
    "If three tokens have the probability p together, is a fourth one needed?",
    why="cumsum > p, shifted by one token, says what goes: so does the well-known "
    "top_k_top_p_filtering.",
    crossing="stays, and one more at p",
)
exercise.option(
    "one_token_too_many",
    "Your code lets one token more stay, after the one that makes the sum p.",
    "Which is the first token that is not needed any more?",
    why="A shift by one too many, or a count that is used as an index with ≤.",
    crossing="stays, and one more",
)
exercise.option(
    "one_minus_p",
    "Your tokens are those that together have probability 1 − p.",
    "With a larger p, should more tokens stay, or fewer?",
    why="Sorted from the smallest, cumsum <= 1 − p says what goes; sorted from the "
    "largest it is another thing.",
    crossing="1 − p",
)
exercise.option(
    "each_compared_with_p",
    "Your code compares each token's own probability with p.",
    "Does the docstring speak of the probability of one token, or of several together?",
    why="probabilities >= p is a threshold, and p is taken for one.",
    crossing="each p or more",
)
exercise.option(
    "share_of_the_largest",
    "Your tokens are those with at least p times the probability of the best one.",
    "Does the docstring speak of the most probable token, or of a sum?",
    why="That is min-p sampling, a later idea with a similar name.",
    crossing="a share of the largest",
)
exercise.option(
    "share_of_the_tokens",
    "Your code lets a share p of all tokens stay, whatever their probabilities.",
    "Should a row with one likely token keep as many as a row with many?",
    why="The 'top 90 %' of something is often meant by count.",
    crossing="a share of the tokens",
)
exercise.option(
    "least_probable_first",
    "Your sum begins with the least probable token.",
    "In which direction does argsort sort if it is not asked for another?",
    why="sort and argsort begin with the smallest number.",
    chosen="the smallest",
)
exercise.option(
    "not_sorted",
    "Your sum runs over tokens as they come, by token id.",
    "Which token should be the first that stays?",
    why="cumsum works on any row, and the sorting is forgotten.",
    chosen="as they come",
)
exercise.option(
    "larger_token_ids_first",
    "Of equally probable tokens, your code prefers the larger token ids.",
    "Which of two equal numbers comes first when a sorted row is turned around?",
    why="A flip after sorting turns equal ones around too.",
    ties="the larger token id",
)
exercise.option(
    "all_equal_ones_stay",
    "Your code lets all tokens stay that are as probable as the last one needed.",
    "If one of three equal tokens is enough for p, how many should stay?",
    why="The probability of the last one is used as a threshold.",
    ties="all of them",
)
exercise.option(
    "as_many_as_in_the_first_row",
    "Your code lets as many tokens stay in each row as in the first one.",
    "Does a row with one likely token need as many as a row with many?",
    why="One number of tokens for a whole batch makes a plain slice possible.",
    rows="as many as the first",
)
exercise.option(
    "sum_runs_on_into_the_next_row",
    "Your sum runs on from one row into the next.",
    "At which number should the sum begin in the second row?",
    why="cumsum of a tensor that was flattened has one row.",
    rows="over the batch",
)
exercise.option(
    "mask_in_sorted_order",
    "Your mask is in sorted order, and your probabilities are in the order of the "
    "vocabulary.",
    "Which token does the first entry of your mask belong to?",
    why="The sort is a step of its own, and undoing it the one that is forgotten.",
    written="mask as it is",
)
exercise.option(
    "order_undone_the_wrong_way",
    "Your mask goes through the same indices once more, which does not undo the order.",
    "If order[0] is 5, where should the first entry of the mask be written?",
    why="gather with the order sorts; what undoes it is scatter, or the argsort of the "
    "order.",
    written="mask sorted once more",
)
exercise.option(
    "sorted_order_returned",
    "Your probabilities come in sorted order: it no longer shows whose they are.",
    "Which token does the first number of your result belong to?",
    why="Sorting is the first step, and undoing it the one that is forgotten.",
    written="sorted",
)
exercise.option(
    "not_renormalised",
    "Your probabilities do not sum to 1: those that stay have what they had.",
    "What does a row of your result sum to?",
    why="With logits, −∞ does it, and softmax follows; with probabilities it does not.",
    renormalised="not",
)
exercise.option(
    "divided_by_p",
    "Your probabilities are divided by p, and a row sums to more than 1.",
    "Is the sum of those that stay p, or at least p?",
    why="'Together they have probability p' is read as exact; the paper calls the sum "
    "p′.",
    renormalised="by p",
)
exercise.option(
    "softmax_of_probabilities",
    "Your probabilities went through a softmax once more: their ratios have changed.",
    "If one token is twice as probable as another, is it still so in your result?",
    why="Filled with −∞ and softmax is how logits are filtered.",
    renormalised="by softmax",
)
exercise.option(
    "softmax_with_zeros",
    "Your result is a softmax of probabilities and zeros: no token is out.",
    "What is e to the power of 0?",
    why="A softmax makes everything sum to 1, zeros included.",
    renormalised="by softmax of all",
)
exercise.option(
    "equal_shares",
    "Those that stay are all equally probable in your result.",
    "Should the most probable token still be more probable than the second?",
    why="A mask divided by its sum looks like a distribution, and is one.",
    renormalised="to equal shares",
)
exercise.option(
    "sum_of_the_whole_batch",
    "Your probabilities are divided by the sum over all rows.",
    "What should each row sum to?",
    why="sum() without a dim is right for one row.",
    renormalised="by the sum of the batch",
)
exercise.option(
    "minus_infinity_for_the_others",
    "Tokens that are out have −∞ in your result.",
    "Which probability has a token that never comes?",
    why="−∞ is what blocks a logit, and a probability is none.",
    blank=-torch.inf,
)
exercise.option(
    "mask_returned",
    "Your result is a mask: True for tokens that stay.",
    "What does the docstring promise for each token of the vocabulary?",
    why="Processors of logits hand masks to each other.",
    returns="the mask",
)
exercise.option(
    "probabilities_changed",
    "Your call writes zeros into the caller's `probabilities`.",
    "Does your answer write into `probabilities`, or into a new tensor?",
    why="probabilities[mask] = 0 and masked_fill_ change the caller's.",
    overwritten="probabilities",
)
exercise.option(
    "each_compared_with_the_rest",
    "Your code compares each token's own probability with 1 − p.",
    "Does the docstring speak of the probability of one token, or of several together?",
    why="1 − p is what may be left out, and it is taken for a limit for each token.",
    crossing="each 1 − p or more",
)
exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
