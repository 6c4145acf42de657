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


@exercise.variants
def variants(
    probabilities,
    k,
    *,
    chosen="the largest",
    ties="the smaller token id",
    many="all",
    rows="each its own",
    written="where they stood",
    blank=0.0,
    renormalised="by their sum",
    returns="all tokens",
    overwritten="nothing",
):
    n_tokens = probabilities.shape[-1]
    if many == "an error" and k > n_tokens:
        raise RuntimeError("selected index k out of range")
    k = {
        "one more": k + 1,
        "one fewer": k - 1,
        "one fewer, at least one": max(k - 1, 1),
        "never all": min(k, n_tokens - 1),
    }.get(many, k)
    order = order_of(probabilities, chosen, ties)
    if rows == "the first row's":
        order = order.reshape(-1, n_tokens)[0].expand(probabilities.shape)
    stays = torch.zeros_like(probabilities, dtype=torch.bool)
    stays = stays.scatter(-1, order[..., :k], True)
    last = probabilities.gather(-1, order[..., min(k, n_tokens) - 1 :][..., :1])
    if ties == "all of them":
        stays = probabilities >= last
    elif ties == "none of them, for any k":
        stays = probabilities > last
    elif ties == "none of them" and k < n_tokens:
        stays = probabilities > last
    elif ties == "none where one is out" and k < n_tokens:
        best_out = probabilities.gather(-1, order[..., k : k + 1])
        stays = probabilities > best_out
    if rows == "of the whole batch":
        flat = probabilities.reshape(-1)
        best = flat.argsort(descending=True, stable=True)[:k]
        stays = torch.zeros_like(flat, dtype=torch.bool).scatter(-1, best, True)
        stays = stays.reshape(probabilities.shape)
    filtered = probabilities.masked_fill(~stays, 0.0)
    if written == "sorted":
        filtered = filtered.gather(-1, order)
    elif written == "sorted back the wrong way":
        filtered = filtered.gather(-1, order).gather(-1, order)
    elif written == "by ranks":
        ranked = torch.arange(n_tokens).expand(probabilities.shape) < k
        filtered = probabilities.masked_fill(~ranked, 0.0)
        stays = ranked
    total = filtered.sum(dim=-1, keepdim=True)
    if renormalised == "by the sum of the batch":
        total = filtered.sum()
    result = {
        "not": lambda: filtered,
        "by softmax": lambda: filtered.masked_fill(~stays, -torch.inf).softmax(-1),
        "by softmax of all": lambda: filtered.softmax(-1),
        "to equal shares": lambda: (
            stays.to(filtered.dtype) / stays.sum(-1, keepdim=True)
        ),
        "by k": lambda: filtered / k,
        "not, −∞ for the others": lambda: filtered.masked_fill(
            filtered == 0, -torch.inf
        ),
        "by softmax, above 0": lambda: filtered.masked_fill(
            filtered == 0, -torch.inf
        ).softmax(-1),
        "to equal shares, above 0": lambda: (
            (filtered > 0).to(filtered.dtype) / (filtered > 0).sum(-1, keepdim=True)
        ),
        "by the largest": lambda: filtered / filtered.amax(-1, keepdim=True),
    }.get(renormalised, lambda: filtered / total)()
    if blank:
        result = result.masked_fill(~stays, blank)
    if overwritten == "probabilities":
        probabilities.masked_fill_(~stays, 0.0)
    return {
        "those that stay": lambda: result.gather(-1, order[..., :k]),
        "token ids": lambda: order[..., :k],
        "both": lambda: (result.gather(-1, order[..., :k]), order[..., :k]),
    }.get(returns, lambda: result)()


def order_of(probabilities, first, ties):
    """Return token ids in the order in which a row is filtered, right or wrong."""
    token_ids = torch.arange(probabilities.shape[-1])
    if first == "as they come":
        return token_ids.expand(probabilities.shape)
    if ties == "the larger token id" and first == "the largest":
        return probabilities.argsort(dim=-1, stable=True).flip(-1)
    return probabilities.argsort(dim=-1, descending=first == "the largest", stable=True)


exercise.option(
    "smallest_stay",
    "Your code lets the least probable tokens stay.",
    "In which direction does argsort sort if it is not asked for another?",
    why="sort and argsort begin with the smallest number.",
    chosen="the smallest",
)
exercise.option(
    "first_tokens_stay",
    "Your code lets tokens 0 to k − 1 stay, whatever their probabilities.",
    "Is a row of probabilities sorted when it comes in?",
    why="[..., :k] is right for a sorted row.",
    chosen="as they come",
)
exercise.option(
    "all_equal_ones_stay",
    "Your code lets more than k tokens stay where several are as probable as the k-th.",
    "How many tokens pass a comparison with the k-th probability, if two others equal "
    "it?",
    why="probabilities < kth value is what Hugging Face's TopKLogitsWarper blocks, and "
    "nanoGPT's generate too.",
    ties="all of them",
)
exercise.option(
    "fewer_than_k_stay",
    "Your code drops the k-th token, and all that are as probable as it.",
    "Does the k-th probability pass the comparison with itself?",
    why="> stands where >= was meant.",
    ties="none of them",
)
exercise.option(
    "equals_of_one_that_is_out_dropped",
    "Your code lets only those tokens stay that are more probable than the best one "
    "that is out: its equals are dropped too.",
    "If four tokens are equally probable, how many of them are more probable than the "
    "best one that should go?",
    why="A threshold at index k of the sorted row, with >, is right where no two are "
    "equal.",
    ties="none where one is out",
)
exercise.option(
    "larger_token_ids_stay",
    "Of equally probable tokens, your code prefers the larger token ids.",
    "Which of two equal numbers comes first when a sorted row is turned around?",
    why="argsort()[-k:], or a flip after sorting, turns equal ones around too.",
    ties="the larger token id",
)
exercise.option(
    "error_for_large_k",
    "Your code ends in an error where k is larger than the vocabulary.",
    "How many tokens can stay, if there are fewer than k?",
    why="torch.topk wants as many numbers as it is asked for.",
    many="an error",
)
exercise.option(
    "never_all_stay",
    "Your code drops the least probable token where k is the vocabulary or more.",
    "How many tokens are out, if k is as large as the vocabulary?",
    why="Index k of a sorted row is cut to the last one, and what is not above that "
    "goes.",
    many="never all",
)
exercise.option(
    "one_token_too_many",
    "Your code lets k + 1 tokens stay.",
    "Which position has the k-th number in a sorted row, if counting starts at 0?",
    why="The threshold is the number at index k of the sorted row, with >=.",
    many="one more",
)
exercise.option(
    "one_token_too_few",
    "Your code lets k − 1 tokens stay.",
    "How many numbers are before index k − 1 of a sorted row?",
    why="The k-th number is at index k − 1, and a slice ends before its end.",
    many="one fewer",
)
exercise.option(
    "tokens_of_the_first_row",
    "Your code lets the tokens of the first row stay in every row.",
    "Whose k most probable tokens should stay in the second row?",
    why="order[0], or a loop over one row, is tried first and stays.",
    rows="the first row's",
)
exercise.option(
    "k_of_the_whole_batch",
    "Your code lets k tokens of the whole batch stay, not of each row.",
    "On which axis are the tokens among which k should stay?",
    why="A tensor that is flattened first has one row.",
    rows="of the whole batch",
)
exercise.option(
    "sorted_order_returned",
    "Your probabilities come in sorted order: it no longer shows whose they are.",
    "Which token does the first number of your result belong to?",
    why="Sorting is the first step, and undoing it the one that is forgotten.",
    written="sorted",
)
exercise.option(
    "order_undone_the_wrong_way",
    "Your sorted probabilities go back through the same indices once more, which does "
    "not undo the order.",
    "If order[0] is 5, where should the first sorted number be written?",
    why="gather with the order sorts; what undoes it is scatter, or the argsort of the "
    "order.",
    written="sorted back the wrong way",
)
exercise.option(
    "not_renormalised",
    "Your probabilities do not sum to 1: those that stay have what they had.",
    "What does a row of your result sum to?",
    why="With logits, −∞ does it, and softmax follows; with probabilities it does not.",
    renormalised="not",
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
    "divided_by_the_largest",
    "Your probabilities are divided by the largest one: it becomes 1, and a row sums "
    "to more.",
    "What should a row sum to?",
    why="To normalise means that in other fields.",
    renormalised="by the largest",
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
    "only_those_that_stay",
    "Your result has k numbers in each row, not one per token.",
    "How can a caller tell from your result which tokens stay?",
    why="torch.topk returns the k values alone.",
    returns="those that stay",
)
exercise.option(
    "token_ids_returned",
    "Your result is token ids, not probabilities.",
    "What does the docstring promise for each token of the vocabulary?",
    why="The second result of torch.topk is token ids.",
    returns="token ids",
)
exercise.option(
    "pair_returned",
    "Your result is a pair: probabilities of k tokens, and their token ids.",
    "How many results does the docstring promise, and of which shape?",
    why="torch.topk returns both of them, values and indices.",
    returns="both",
)
exercise.option(
    "probabilities_changed",
    "Your call writes zeros into the caller's `probabilities`.",
    "Does your answer write into `probabilities`, or into a new tensor?",
    why="probabilities[mask] = 0 and masked_fill_ change the caller's.",
    overwritten="probabilities",
)
exercise.option(
    "one_token_too_few_but_for_one",
    "Your code lets k − 1 tokens stay, and one for k = 1.",
    "How many tokens does the docstring let stay for k = 2?",
    why="Counting from 0, the k-th token has the number k − 1.",
    many="one fewer, at least one",
)
exercise.option(
    "k_th_dropped_for_any_k",
    "Your code drops the k-th token, and all that are as probable as it; for k of "
    "the vocabulary or more, the least probable one.",
    "Does the k-th probability pass the comparison with itself?",
    why="> stands where >= was meant.",
    ties="none of them, for any k",
)
exercise.option(
    "divided_by_k",
    "Your probabilities are divided by k.",
    "What does a row of your result sum to?",
    why="A mean of k numbers is divided by k.",
    renormalised="by k",
)
exercise.option(
    "minus_infinity_and_not_renormalised",
    "Your tokens that are out have −∞, and those that stay have what they had.",
    "Which number is the probability of a token that can never come, and what "
    "should a row sum to?",
    why="Most programs filter logits, not probabilities, and softmax follows.",
    renormalised="not, −∞ for the others",
)
exercise.option(
    "softmax_of_those_above_zero",
    "Your probabilities went through a softmax once more: their ratios have changed.",
    "If one token is twice as probable as another, should it still be so afterwards?",
    why="Most programs filter logits, not probabilities, and softmax follows.",
    renormalised="by softmax, above 0",
)
exercise.option(
    "equal_shares_above_zero",
    "All tokens that have a probability above 0 in your result have the same.",
    "If one token is twice as probable as another, should it still be so afterwards?",
    why="A mask divided by its sum sums to 1.",
    renormalised="to equal shares, above 0",
)
exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
