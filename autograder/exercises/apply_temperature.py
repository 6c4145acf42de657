"""Cases and misconceptions of ``apply_temperature``."""

import math

import torch

from autograder import Exercise, families
from course_lib.nn.sampling import apply_temperature

exercise = Exercise(
    apply_temperature,
    lesson="12_language_model",
    minutes=10,
    difficulty=2,
)


@exercise.spec
def spec(logits, temperature):
    rows = [
        _row(row.tolist(), temperature) for row in logits.reshape(-1, logits.shape[-1])
    ]
    return torch.tensor(rows, dtype=logits.dtype).reshape(logits.shape)


def _row(logits, temperature):
    largest = max(logits)
    if temperature == 0:
        return [float(i == logits.index(largest)) for i in range(len(logits))]
    shares = [math.exp((logit - largest) / temperature) for logit in logits]
    return [share / sum(shares) for share in shares]


def drawn(rng, *shape, dtype=torch.float32):
    return torch.from_numpy(2 * rng.normal(size=shape)).to(dtype)


def far_apart(rng, *shape, dtype=torch.float32):
    """Draw rows that are 150 apart, which changes nothing in their softmax.

    That is enough to overflow, and little enough for float32 to keep their digits.
    """
    distances = 150 * (torch.arange(math.prod(shape[:-1])) % 3 - 1)
    return drawn(rng, *shape, dtype=dtype) + distances.reshape(*shape[:-1], 1)


def with_ties(rng, n_rows, vocab_size):
    """Draw logits of which several are the largest, at other positions in each row."""
    return torch.from_numpy(rng.integers(0, 3, size=(n_rows, vocab_size))).float()


def with_blocked_tokens(rng, n_rows, vocab_size):
    """Draw logits that are −∞ for some tokens, at other positions in each row."""
    logits = drawn(rng, n_rows, vocab_size)
    for row in logits:
        row[
            torch.from_numpy(rng.permutation(vocab_size)[: vocab_size // 2])
        ] = -math.inf
    return logits


@exercise.usual
def usual(rng):
    return far_apart(rng, 3, 7), 0.6


@exercise.case("At temperature 0.5 the logits 0 and ln 3 give 1/10 and 9/10, not 1/4")
def small_example_by_hand(student, rng):
    logits = torch.tensor([0.0, math.log(3)])
    student.expect(student(logits, 0.5), torch.tensor([0.1, 0.9]))
    student.agrees(drawn(rng, 5), 0.5)


@exercise.case("Above 1 it is flatter: at 2 the logits 0 and ln 9 give 1/4 and 3/4")
def flatter_above_one(student, rng):
    logits = torch.tensor([0.0, math.log(9)])
    student.expect(student(logits, 2), torch.tensor([0.25, 0.75]))
    student.agrees(far_apart(rng, 2, 6), 3.5)


@exercise.case("Temperature 1 is the softmax of each row", weight=1.5)
def one_is_softmax(student, rng):
    student.agrees(far_apart(rng, 3, 7), 1.0)
    student.agrees(drawn(rng, 4, 4), 1)


@exercise.case("Any number of leading axes is handled, none included")
def leading_axes(student, rng):
    student.agrees(far_apart(rng, 2, 3, 5), 0.8)
    student.agrees(drawn(rng, 1, 6), 1.7)
    student.agrees(drawn(rng, 7), 1.3)


@exercise.case("At temperature 0 the largest logit has probability 1", weight=0.5)
def temperature_of_zero(student, rng):
    logits = torch.tensor([1.0, 3.0, -2.0, 2.0])
    student.expect(student(logits, 0), torch.tensor([0.0, 1.0, 0.0, 0.0]))
    student.agrees(drawn(rng, 3, 6), 0)


@exercise.fine_point("Of equal logits at temperature 0 the first has probability 1")
def equal_logits_at_zero(student, rng):
    logits = torch.tensor([1.0, 3.0, -2.0, 3.0])
    student.expect(student(logits, 0), torch.tensor([0.0, 1.0, 0.0, 0.0]))
    student.agrees(with_ties(rng, 4, 7), 0.0)


@exercise.case("A token of −∞ has probability 0 at every temperature")
def blocked_tokens(student, rng):
    for temperature in (0.3, 1.0, 40.0):
        student.agrees(with_blocked_tokens(rng, 3, 8), temperature)


@exercise.case("Large logits and small temperatures do not overflow")
def nothing_overflows(student, rng):
    logits = drawn(rng, 3, 5)
    logits[:, 2] = 1e4
    student.agrees(logits, 1.0)
    logits[1, 4] = 1e4
    student.agrees(logits, 0.5)
    student.agrees(drawn(rng, 2, 6, dtype=torch.float64), 0.01)


@exercise.case("Rows may be far apart: each has a largest logit of its own", weight=2)
def rows_far_apart(student, rng):
    student.agrees(far_apart(rng, 3, 6), 1.0)
    student.agrees(far_apart(rng, 4, 5), 0.7)


@exercise.case("In float64, for many tokens", visible=False)
def many_tokens(student, rng):
    for temperature in (0.5, 0.9, 12.0):
        student.agrees(drawn(rng, 2, 300, dtype=torch.float64), temperature)


@exercise.case("`logits` are not modified")
def argument_stays(student, rng):
    student.leaves_unchanged(drawn(rng, 2, 5), 0.5)


@exercise.variants
def variants(
    logits,
    temperature,
    *,
    scaled="divided",
    zero="first of the largest",
    overflow="nowhere",
    axis="the last",
    returns="probabilities",
    overwritten="nothing",
):
    wanted = temperature
    if temperature == 0 and zero == "as 1":
        temperature = 1.0
    if temperature == 0 and zero == "divided by 0":
        result = torch.full_like(logits, math.nan)
    elif temperature == 0 and zero == "1 instead of NaN":
        result = torch.ones_like(logits)
    elif temperature == 0 and not scaled.endswith(AT_0_TOO):
        result = AT_ZERO[zero](logits)
    elif scaled != "divided":
        result = SCALED[scaled.removesuffix(AT_0_TOO)](logits, temperature)
    elif overflow.startswith("in exp"):
        subtracted = logits.max() if overflow.endswith("largest of all") else 0
        powers = ((logits - subtracted) / temperature).exp()
        result = powers / powers.sum(-1, keepdim=True)
    else:
        largest = logits.max(-1, keepdim=True).values
        largest = largest if axis == "the last" else 0
        result = AXES[axis]((logits - largest) / temperature)
    if returns == "shares of the whole batch" and wanted > 0:
        largest = logits.max(-1, keepdim=True).values
        powers = ((logits - largest) / temperature).exp()
        result = powers / powers.sum()
    elif returns == "logits" and wanted > 0:
        result = logits / temperature
    elif returns == "products" and wanted > 0:
        result = logits * temperature
    elif returns == "quotients, at 0 too":
        result = logits / wanted
    elif returns == "products, at 0 too":
        result = logits * wanted
    elif returns == "powers of e" and wanted > 0:
        result = (logits / temperature).exp()
    elif returns == "logarithms" and wanted > 0:
        result = (logits / temperature).log_softmax(-1)
    if overwritten == "divided" and wanted > 0:
        logits /= wanted
    return result


def _one_hot(logits, token_ids):
    return torch.zeros_like(logits).scatter(-1, token_ids.unsqueeze(-1), 1.0)


def _equal_shares(logits):
    largest = (logits == logits.max(-1, keepdim=True).values).to(logits.dtype)
    return largest / largest.sum(-1, keepdim=True)


AT_ZERO = {
    "first of the largest": lambda logits: _one_hot(logits, logits.argmax(-1)),
    "last of the largest": lambda logits: _one_hot(
        logits, logits.shape[-1] - 1 - logits.flip(-1).argmax(-1)
    ),
    "equal shares": _equal_shares,
    "1 for each of them": lambda logits: (
        logits == logits.max(-1, keepdim=True).values
    ).to(logits.dtype),
    "whole numbers": lambda logits: _one_hot(logits, logits.argmax(-1)).long(),
    "the token id": lambda logits: logits.argmax(-1),
    "in all rows": lambda logits: (
        _one_hot(logits, logits.argmax(-1))
        .reshape(-1, logits.shape[-1])
        .amax(0)
        .expand(logits.shape)
        .clone()
    ),
    "cut behind the largest": lambda logits: _one_hot(logits, logits.argmax(-1))[
        ..., : int(logits.argmax(-1).max()) + 1
    ],
    "of the quotients": lambda logits: _one_hot(logits, (logits / 0).argmax(-1)),
    "one in the whole batch": lambda logits: _one_hot(
        logits.reshape(-1), logits.argmax()
    ).reshape(logits.shape),
}
AT_0_TOO = ", at 0 too"  # what the docstring says of 0 is not heeded either
SCALED = {
    "multiplied": lambda logits, temperature: (logits * temperature).softmax(-1),
    "not at all": lambda logits, temperature: logits.softmax(-1),
    "probabilities": lambda logits, temperature: logits.softmax(-1) / temperature,
    "probabilities, multiplied": lambda logits, temperature: (
        logits.softmax(-1) * temperature
    ),
    "probabilities, softmax again": lambda logits, temperature: (
        logits.softmax(-1) / temperature
    ).softmax(-1),
    "twice": lambda logits, temperature: (logits / temperature**2).softmax(-1),
    "divided, sign turned": lambda logits, temperature: (-logits / temperature).softmax(
        -1
    ),
    "divided, no exp": lambda logits, temperature: (
        logits / temperature / (logits / temperature).sum(-1, keepdim=True)
    ),
    "divided, each alone": lambda logits, temperature: (logits / temperature).sigmoid(),
    "as at 0": lambda logits, temperature: _one_hot(logits, logits.argmax(-1)),
    "powers of probabilities": lambda logits, temperature: (
        logits.softmax(-1) ** (1 / temperature)
    ),
}
AXES = {
    "the last": lambda scores: scores.softmax(-1),
    "the first": lambda scores: scores.softmax(0),
    "all": lambda scores: scores.reshape(-1).softmax(0).reshape(scores.shape),
}

exercise.option(
    "multiplied_by_the_temperature",
    "Your probabilities are those of the logits times the temperature: they get "
    "sharper as it rises.",
    "Should the difference between two logits grow or shrink when it gets hotter?",
    why="In physics the inverse temperature is a factor, and code calls both by one "
    "name.",
    scaled="multiplied",
)
exercise.option(
    "multiplied_at_zero_too",
    "Your probabilities are those of the logits times the temperature: they get "
    "sharper as it rises, and at 0 all tokens have the same.",
    "Should the difference between two logits grow or shrink when it gets hotter?",
    why="In physics the inverse temperature is a factor, and code calls both by one "
    "name.",
    scaled="multiplied, at 0 too",
)
exercise.option(
    "softmax_at_every_temperature",
    "Your probabilities are the softmax at every temperature, 0 included.",
    "Which step of your code uses `temperature`, and does softmax notice it?",
    why="A quotient that is computed and not used changes nothing.",
    scaled="not at all, at 0 too",
)
exercise.option(
    "temperature_left_out",
    "Your probabilities are the softmax at every temperature above 0.",
    "Which step of your code uses `temperature`, and does softmax notice it?",
    why="A quotient that is computed and not used changes nothing.",
    scaled="not at all",
)
exercise.option(
    "probabilities_divided",
    "Your numbers are the softmax divided by the temperature: they sum to 1 / "
    "temperature.",
    "What do the numbers in a row sum to, before and after your division?",
    why="The temperature is applied to what is there: probabilities.",
    scaled="probabilities",
)
exercise.option(
    "probabilities_divided_at_zero_too",
    "Your numbers are the softmax divided by the temperature: they sum to 1 / "
    "temperature, and at 0 there is no such number.",
    "What do the numbers in a row sum to, before and after your division?",
    why="The temperature is applied to what is there: probabilities.",
    scaled="probabilities, at 0 too",
)
exercise.option(
    "probabilities_multiplied",
    "Your numbers are the softmax times the temperature: they sum to the temperature.",
    "What do the numbers in a row sum to, before and after your product?",
    why="The temperature is applied to what is there: probabilities.",
    scaled="probabilities, multiplied",
)
exercise.option(
    "softmax_taken_twice",
    "Your numbers went through softmax twice, before the temperature and after it.",
    "Are the numbers that you divide logits, or probabilities?",
    why="A model whose last layer is a softmax already gives probabilities, and those "
    "are treated as logits.",
    scaled="probabilities, softmax again",
)
exercise.option(
    "powers_not_renormalised",
    "Your numbers are powers of the softmax, and do not sum to 1.",
    "What does a row of your result sum to?",
    why="p to the power of 1 / T is the other form of it; keras' examples of text "
    "generation divide by the sum afterwards.",
    scaled="powers of probabilities",
)
exercise.option(
    "temperature_applied_twice",
    "Your logits are divided by the temperature twice: by its square.",
    "How often do the logits meet `temperature` on their way through your code?",
    why="A function that is called with logits that were divided before divides again.",
    scaled="twice",
)
exercise.option(
    "sign_turned",
    "Your most probable token is the one with the smallest logit.",
    "Is a high logit the sign of a likely token, or of an unlikely one?",
    why="Boltzmann's exp(−energy / T) has a minus, since a low energy is likely.",
    scaled="divided, sign turned",
)
exercise.option(
    "divided_by_the_sum_without_exp",
    "Your numbers are quotients divided by their sum: the temperature cancels out, and "
    "some are below 0.",
    "What makes a positive number of a logit below 0?",
    why="Numbers that sum to 1 look like probabilities.",
    scaled="divided, no exp",
)
exercise.option(
    "sigmoid_of_each",
    "Your numbers are sigmoids of quotients: each token has one of its own.",
    "What should the numbers of a row sum to?",
    why="A sigmoid makes a probability of one logit, where there are two classes.",
    scaled="divided, each alone",
)
exercise.option(
    "largest_at_every_temperature",
    "At every temperature, your most probable token has probability 1.",
    "At which temperature should one token alone be left?",
    why="Generating programs take argmax where nothing is drawn.",
    scaled="as at 0",
)
exercise.option(
    "nan_at_temperature_zero",
    "Your probabilities are NaN at temperature 0: nothing can be divided by 0.",
    "Which token should come for sure at temperature 0, and does it need a division?",
    why="logits / temperature is the formula, and 0 is a temperature that people set.",
    zero="divided by 0",
)
exercise.option(
    "zero_taken_for_one",
    "At temperature 0 you return the ordinary softmax.",
    "Does a temperature come closer to 0 by getting sharper, or flatter?",
    why="`temperature or 1.0`, and `if temperature:` before the division, take 0 for "
    "'not set'.",
    zero="as 1",
)
exercise.option(
    "ties_share_at_zero",
    "At temperature 0, several largest logits share the probability in your code.",
    "Which one of them does the docstring choose at temperature 0?",
    why="That is the limit for tiny temperatures, and what max(temperature, 1e-8) "
    "gives.",
    zero="equal shares",
)
exercise.option(
    "each_of_the_largest_has_one",
    "At temperature 0, each of several largest logits has probability 1 in your code.",
    "What do the probabilities of a row sum to, if two logits are largest?",
    why="logits == logits.max() is a one-hot row only where no two are equal.",
    zero="1 for each of them",
)
exercise.option(
    "last_of_the_largest",
    "At temperature 0, your code takes the last of several largest logits.",
    "Which one of them does the docstring choose at temperature 0?",
    why=">= in a loop, or the end of a sorted row.",
    zero="last of the largest",
)
exercise.option(
    "one_hot_of_whole_numbers",
    "At temperature 0 your result holds integers, not floats.",
    "Which dtype has the result of one_hot?",
    why="The result of torch.nn.functional.one_hot is int64.",
    zero="whole numbers",
)
exercise.option(
    "one_hot_cut_at_zero",
    "At temperature 0 your rows end at the largest of the token ids that get a 1: "
    "one_hot makes only as many columns as it has to if nobody says how many.",
    "How many tokens does the vocabulary have, and how does one_hot learn that?",
    why="Without num_classes, one_hot takes the largest index plus 1.",
    zero="cut behind the largest",
)
exercise.option(
    "ones_in_all_rows_at_zero",
    "At temperature 0 each row has a 1 at the largest logit of every row, not of its "
    "own alone.",
    "Which rows does an assignment change whose index leaves the first axes as they "
    "are?",
    why="result[..., logits.argmax(-1)] = 1 writes whole columns.",
    zero="in all rows",
)
exercise.option(
    "ones_at_zero",
    "At temperature 0 all of your probabilities are 1.",
    "Which one of the tokens should have probability 1 at temperature 0, and what do "
    "the probabilities of a row sum to?",
    why="nan_to_num(1) hides the NaN of a division by 0.",
    zero="1 instead of NaN",
)
exercise.option(
    "largest_quotient_at_zero",
    "At temperature 0 your code takes the largest of logits / 0, and these are all "
    "infinite or NaN.",
    "Where is the division in your code, and where the question whether the "
    "temperature is 0?",
    why="The quotients are computed first, and argmax is taken of them.",
    zero="of the quotients",
)
exercise.option(
    "token_id_at_zero",
    "At temperature 0 your result is token ids, not probabilities.",
    "Which shape does the docstring promise at every temperature?",
    why="Generating programs skip the draw at temperature 0 and take argmax.",
    zero="the token id",
)
exercise.option(
    "largest_of_the_whole_batch",
    "At temperature 0, one token of the whole batch has probability 1; all other rows "
    "are 0.",
    "Over which axis do argmax and max search if none is named?",
    why="argmax() without dim searches in all numbers.",
    zero="one in the whole batch",
)
exercise.option(
    "exp_overflows",
    "Your code takes exp of quotients as they are: large ones overflow to infinity, "
    "and infinity divided by infinity is NaN.",
    "What can you subtract from all logits of a row without changing their softmax?",
    why="exp(logits / T) / sum is the formula of the paper, word for word.",
    overflow="in exp",
)
exercise.option(
    "largest_of_all_rows_subtracted",
    "Your code subtracts the largest logit of all rows: a row far below it becomes 0 "
    "divided by 0.",
    "Which number is subtracted from the second row, and what is left of exp then?",
    why="logits.max() without dim does for one row.",
    overflow="in exp, less the largest of all",
)
exercise.option(
    "softmax_over_the_first_axis",
    "Your softmax runs over the first axis.",
    "On which axis are the tokens?",
    why="dim=0 is right for one row, with which one begins.",
    axis="the first",
)
exercise.option(
    "softmax_over_everything",
    "Your softmax runs over all rows together.",
    "What should each row sum to?",
    why="exp(…) / exp(…).sum() without a dim is right for one row.",
    axis="all",
)
exercise.option(
    "logits_returned",
    "Your result is logits divided by the temperature, not probabilities.",
    "What should each row of the result sum to?",
    why="In Hugging Face's library the temperature is a logits processor, and softmax "
    "follows later.",
    returns="logits",
)
exercise.option(
    "products_returned",
    "Your result is logits times the temperature: they are multiplied where the "
    "docstring divides, and no softmax follows.",
    "Should two logits move apart or together when it gets hotter, and what should "
    "each row of the result sum to?",
    why="In physics the inverse temperature is a factor; and in Hugging Face's library "
    "softmax follows later.",
    returns="products",
)
exercise.option(
    "logits_returned_at_zero_too",
    "Your result is logits divided by the temperature, not probabilities; at "
    "temperature 0, that is a division by 0.",
    "What should each row of the result sum to?",
    why="In Hugging Face's library the temperature is a logits processor, and softmax "
    "follows later.",
    returns="quotients, at 0 too",
)
exercise.option(
    "products_returned_at_zero_too",
    "Your result is logits times the temperature: they are multiplied where the "
    "docstring divides, and no softmax follows, not even at temperature 0.",
    "Should two logits move apart or together when it gets hotter, and what should "
    "each row of the result sum to?",
    why="In physics the inverse temperature is a factor; and in Hugging Face's library "
    "softmax follows later.",
    returns="products, at 0 too",
)
exercise.option(
    "divided_by_the_sum_of_all",
    "Your powers of e are divided by one sum over all rows, where there are several.",
    "Over which axis does sum add if none is named, and what should each row sum to?",
    why="sum() without dim adds all numbers; for a single row that is right.",
    returns="shares of the whole batch",
)
exercise.option(
    "powers_of_e_returned",
    "Your result is powers of e, which nothing divides by their sum.",
    "What should each row of the result sum to?",
    why="exp makes every number positive, which looks like the whole of softmax.",
    returns="powers of e",
)
exercise.option(
    "logarithms_returned",
    "Your result is logarithms of probabilities.",
    "What should each row of the result sum to?",
    why="log_softmax stands in every loss.",
    returns="logarithms",
)
exercise.option(
    "logits_divided_in_place",
    "Your call divides the caller's `logits` by the temperature.",
    "Does `logits /= …` make a new tensor, or write into the caller's?",
    why="`logits /= temperature` is the shortest way; a second call divides again.",
    overwritten="divided",
)
exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
