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


@exercise.variants
def variants(
    probabilities,
    u,
    *,
    compared="more than u",
    summed="along each row",
    number="its own",
    end="the last possible",
    shift=0,
    returns="token ids",
    overwritten="nothing",
):
    n_tokens = probabilities.shape[-1]
    if returns == "as if all were equally probable":
        return (u * n_tokens).long()
    if returns == "number of small probabilities":
        return (probabilities.double() <= u.double().unsqueeze(-1)).sum(-1)
    if returns == "sums along the first axis":
        return (probabilities.cumsum(0) <= u.unsqueeze(-1)).sum(-1)
    if returns == "the last token, of two axes" and probabilities.ndim != 2:
        raise IndexError("not a row for each u")
    if returns.startswith("the last token"):
        return torch.full(u.shape, n_tokens - 1)
    distances = {
        "closest probability": probabilities,
        "closest sum": probabilities.cumsum(-1),
    }
    if returns in distances:
        return (distances[returns] - u.unsqueeze(-1)).abs().argmin(-1)
    if returns == "first probability above u":
        return (probabilities > u.unsqueeze(-1)).int().argmax(-1)
    if returns == "sums before above u":
        before = probabilities.double().cumsum(-1) - probabilities
        return (before > u.unsqueeze(-1)).int().argmax(-1)
    if returns == "sums divided by the last row's":
        sums = probabilities.double().cumsum(-1)
        return (sums / sums[-1] <= u.unsqueeze(-1)).sum(-1)
    used = NUMBERS[number](u.double()).unsqueeze(-1)
    order = torch.arange(n_tokens).expand(probabilities.shape)
    if summed in ("sorted", "sorted, ranks"):
        order = probabilities.argsort(dim=-1, descending=True, stable=True)
    ordered = probabilities.double().gather(-1, order)
    if summed == "from the end":
        ordered = ordered.flip(-1)
    if summed == "over the batch":
        sums = ordered.reshape(-1).cumsum(0).reshape(ordered.shape)
    else:
        sums = ordered if summed == "not" else ordered.cumsum(-1)
    passes = sums >= used if compared == "u or more" else sums > used
    rank = passes.int().argmax(-1)  # 0 where none passes
    none = ~passes.any(-1)
    last = n_tokens - 1 - (ordered > 0).int().flip(-1).argmax(-1)
    at_end = {"the first": 0, "one behind": n_tokens, "the last of all": n_tokens - 1}
    rank = torch.where(none, at_end.get(end, last), rank)
    if summed == "sorted":
        rank = order.gather(-1, rank.clamp(max=n_tokens - 1).unsqueeze(-1)).squeeze(-1)
    elif summed == "from the end":
        rank = n_tokens - 1 - rank
    if number == "none":
        rank = probabilities.argmax(-1)
    elif number == "along the vocabulary":
        rank = (sums <= u.double()).sum(-1)
        rank = torch.where(rank == n_tokens, at_end.get(end, last), rank)
    token_ids = (rank + shift).clamp(min=0)
    if overwritten == "probabilities":
        probabilities.copy_(probabilities.cumsum(-1))
    return {
        "one-hot": lambda: (order == token_ids.unsqueeze(-1)).to(probabilities.dtype),
        "an axis more": lambda: token_ids.unsqueeze(-1),
        "floats": lambda: token_ids.to(probabilities.dtype),
        "probabilities": lambda: probabilities.gather(
            -1, token_ids.clamp(max=n_tokens - 1).unsqueeze(-1)
        ).squeeze(-1),
        "comparisons": lambda: passes,
        "one number": lambda: (~passes).sum(),
        "sums that pass": lambda: passes.sum(-1),
    }.get(returns, lambda: token_ids)()


NUMBERS = {
    "its own": lambda u: u,
    "none": lambda u: u,
    "along the vocabulary": lambda u: u,
    "the first row's": lambda u: u.reshape(-1)[0].expand(u.shape),
    "sorted": lambda u: u.reshape(-1).sort().values.reshape(u.shape),
    "1 − u": lambda u: 1 - u,
}

exercise.option(
    "earlier_token_on_a_boundary",
    "Where u equals the sum of the tokens so far, your code takes the last of them, "
    "even one of probability 0.",
    "Which token should come for u = 0, if token 0 has the probability 0?",
    why="searchsorted has right=False if nothing else is asked for, and sums >= u "
    "looks as good as sums > u.",
    compared="u or more",
)
exercise.option(
    "probabilities_not_summed",
    "Your code compares u with each token's own probability, not with a sum.",
    "For which share of all u does token 1 come in your code, if it has 1/4 and token "
    "0 has 1/2?",
    why="p > u is the test for one event, such as dropout.",
    summed="not",
)
exercise.option(
    "first_probability_above_u",
    "Your code takes the first token whose own probability is above u, and token 0 "
    "where none is: nothing is summed.",
    "For which share of all u does token 1 come in your code, if it has 1/4 and token "
    "0 has 1/2?",
    why="p > u is the test for one event, and argmax of no True is 0.",
    returns="first probability above u",
)
exercise.option(
    "last_token_always",
    "Your result is the last token of the vocabulary in each row, as if a loop went on "
    "after the first sum above u: the last sum is above it, too.",
    "Of all the tokens whose sum is above u, which one does the docstring ask for?",
    why="`break` is forgotten, and each later token overwrites the first.",
    returns="the last token",
)
exercise.option(
    "last_token_always_of_two_axes",
    "Your result is the last token of the vocabulary in each row, as if a loop went on "
    "after the first sum above u; and it stops where there is not one axis of rows.",
    "Of all the tokens whose sum is above u, which one does the docstring ask for?",
    why="`break` is forgotten in a loop over rows and one over tokens.",
    returns="the last token, of two axes",
)
exercise.option(
    "closest_probability",
    "Your code takes the token whose probability is closest to u.",
    "How often should a token of probability 1/4 come, and for which u?",
    why="u and the probabilities both lie between 0 and 1, and invite comparison.",
    returns="closest probability",
)
exercise.option(
    "closest_sum",
    "Your code takes the token whose sum is closest to u, above it or below.",
    "Between which two ends on the line does the stretch of a token lie?",
    why="Looking up a number in a table often means the nearest entry.",
    returns="closest sum",
)
exercise.option(
    "sum_before_above_u",
    "Your code takes the first token for which the sum of those before it, without its "
    "own probability, is above u: one token too late, and token 0 where there is none.",
    "Does the sum that the docstring compares with u hold the token's own probability?",
    why="top_p_filter compares the sum before each token, and here its own counts.",
    returns="sums before above u",
)
exercise.option(
    "divided_by_the_last_row",
    "Your sums are divided by those of the last row, token by token, where there are "
    "several rows.",
    "Which axis does the index [-1] go along, and which one has each row's last sum?",
    why="ends[-1] is the last end of a single row.",
    returns="sums divided by the last row's",
)
exercise.option(
    "comparisons_returned",
    "Your result is a True or False for each token, not the id of one token.",
    "How do you get from these comparisons to the first True of each row?",
    why="The comparison is the hard part, and a mask looks like a choice.",
    returns="comparisons",
)
exercise.option(
    "one_number_for_all_rows",
    "Your result is one number for all rows: what you count is counted over the whole "
    "batch.",
    "Over which axis does sum add if none is named?",
    why="sum() without dim is right for a single row.",
    returns="one number",
)
exercise.option(
    "summed_in_sorted_order",
    "Your sums begin with the most probable token: shares are right, but another token "
    "comes for the same u than the docstring says.",
    "In which order does the docstring go through the tokens?",
    why="Top-k and top-p sort, and the sampling follows in the same loop; it also ends "
    "sooner.",
    summed="sorted",
)
exercise.option(
    "rank_returned",
    "Your result is ranks: 0 for the most probable token, 1 for the second.",
    "Which token id belongs to the first number of a sorted row?",
    why="After sorting, what comes out are positions in the sorted row, and to map "
    "them back is forgotten.",
    summed="sorted, ranks",
)
exercise.option(
    "summed_from_the_end",
    "Your sums begin with the last token.",
    "Which token should come for the smallest u?",
    why="A flip for one purpose is not turned back for the next.",
    summed="from the end",
)
exercise.option(
    "summed_over_the_batch",
    "Your sums run on from one row into the next.",
    "At which number should the sum begin in the second row?",
    why="cumsum of a tensor that was flattened has one row.",
    summed="over the batch",
)
exercise.option(
    "most_probable_token",
    "Your code takes the most probable token: `u` plays no part.",
    "How often should a token of probability 1/4 come?",
    why="argmax is greedy decoding, which chooses a token, too.",
    number="none",
)
exercise.option(
    "u_along_the_vocabulary",
    "Your u lies along the vocabulary: the sum of token j meets the u of row j.",
    "Which axis of the sums (..., vocab_size) does u (...) meet, if nothing is added?",
    why="sums > u is right for one row.",
    number="along the vocabulary",
)
exercise.option(
    "first_u_for_all",
    "Your code uses the first row's u in every row.",
    "How many numbers does u have, and for whom?",
    why="One random number for a whole batch is drawn by accident in many programs.",
    number="the first row's",
)
exercise.option(
    "u_sorted",
    "Your code sorts u: rows get each other's numbers.",
    "Which u belongs to row 0?",
    why="Sorted numbers can be looked up in one pass over the sums.",
    number="sorted",
)
exercise.option(
    "one_minus_u",
    "Your tokens are those for 1 − u.",
    "Which token should come for the smallest u?",
    why="1 − u is as random as u, and −ln(1 − u) is in every textbook on inversion.",
    number="1 − u",
)
exercise.option(
    "token_behind_the_vocabulary",
    "Where rounding leaves every sum at u or below, your token id is one too large: "
    "there is no such token.",
    "How many sums are at u or below, if all are?",
    why="Counting sums, as searchsorted does, gives vocab_size there.",
    end="one behind",
)
exercise.option(
    "first_token_at_the_end",
    "Where rounding leaves every sum at u or below, your code takes token 0.",
    "What is argmax of a row in which no comparison is True?",
    why="(sums > u).argmax() is the first True, or 0 if there is none.",
    end="the first",
)
exercise.option(
    "last_token_of_all_at_the_end",
    "Where rounding leaves every sum at u or below, your code takes the last token of "
    "the vocabulary, even one of probability 0.",
    "May a token that a filter has taken out come after all?",
    why="clamp(max=vocab_size - 1) mends the index, and lets a blocked token come.",
    end="the last of all",
)
exercise.option(
    "one_token_further",
    "Your token ids are one too large.",
    "Which token id has the first token?",
    why="The count of sums that pass is taken for a position, or counted from 1.",
    shift=1,
)
exercise.option(
    "one_token_before",
    "Your token ids are one too small.",
    "Is the token whose sum passes u the one that comes, or the one after it?",
    why="The last sum below u is searched, and its position returned.",
    shift=-1,
)
exercise.option(
    "number_of_sums_above_u",
    "Your result counts the sums above u, not those before.",
    "For u = 0 every sum is above u: which token should come?",
    why="(sums > u).sum() and (sums <= u).sum() differ by one sign.",
    returns="sums that pass",
)
exercise.option(
    "one_hot_returned",
    "Your result is one-hot rows, not token ids.",
    "Which shape does the docstring promise?",
    why="torch.nn.functional.gumbel_softmax returns one-hot rows.",
    returns="one-hot",
)
exercise.option(
    "an_axis_more",
    "Your result has an axis of length 1 at its end.",
    "Which shape does the docstring promise for u of shape (3, 4)?",
    why="torch.multinomial, and searchsorted with u.unsqueeze(-1), return that axis.",
    returns="an axis more",
)
exercise.option(
    "token_ids_as_floats",
    "Your token ids are floats.",
    "Which dtype does torch.zeros have if none is asked for?",
    why="torch.zeros and torch.empty_like(u) hold floats.",
    returns="floats",
)
exercise.option(
    "probability_returned",
    "Your result is the probability of each token that comes, not its token id.",
    "What does a model read next: a probability, or a token id?",
    why="Values and indices come in pairs from max, sort and topk.",
    returns="probabilities",
)
exercise.option(
    "probabilities_overwritten",
    "Your call writes sums into the caller's `probabilities`.",
    "Does cumsum_ make a new tensor, or write into the caller's?",
    why="cumsum_ and += in a loop over a row save a tensor.",
    overwritten="probabilities",
)
exercise.option(
    "all_stretches_equally_long",
    "Your stretches are all equally long: the probabilities play no part.",
    "How often should a token of probability 1/4 come?",
    why="u times the number of choices is how one draws among equals.",
    returns="as if all were equally probable",
)
exercise.option(
    "small_probabilities_counted",
    "Your result is how many probabilities are u or less: they are compared one by "
    "one, and never summed.",
    "Where on the line does the stretch of the third token begin?",
    why="The running sum, cumsum, is forgotten.",
    returns="number of small probabilities",
)
exercise.option(
    "sums_along_the_first_axis",
    "Your sums run along the first axis: where there is a batch, they add up over "
    "its rows.",
    "Along which axis do the tokens of one row lie?",
    why="cumsum(0) is right for a single row.",
    returns="sums along the first axis",
)
exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
