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


@exercise.right_answer
def in_steps(logits, temperature):
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(
            logits.dtype
        )
    below = logits - logits.amax(dim=-1, keepdim=True)
    quotients = torch.where(below.isinf(), below, below.double() / temperature)
    powers = quotients.exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).to(logits.dtype)


exercise.edits(
    """
multiplied_by_the_temperature: / temperature -> * temperature
  Your probabilities are those of the logits times the temperature: they get sharper
    as it rises.
  ? Should the difference between two logits grow or shrink when it gets hotter?
  # In physics the inverse temperature is a factor, and code calls both by one name.
multiplied_at_zero_too:
  | if temperature == 0:
  :     return … ->
  | / temperature -> * temperature
  Your probabilities are those of the logits times the temperature: they get sharper
    as it rises, and at 0 all tokens have the same.
softmax_at_every_temperature:
  | if temperature == 0:
  :     return … ->
  | quotients = below
  Your probabilities are the softmax at every temperature, 0 included.
  ? Which step of your code uses `temperature`, and does softmax notice it?
  # A quotient that is computed and not used changes nothing.
temperature_left_out: quotients = below
  Your probabilities are the softmax at every temperature above 0.
probabilities_divided: return (powers… -> return logits.softmax(dim=-1) / temperature
  Your numbers are the softmax divided by the temperature: they sum to 1 /
    temperature.
  ? What do the numbers in a row sum to, before and after your division?
  # The temperature is applied to what is there: probabilities.
probabilities_divided_at_zero_too:
  | if temperature == 0:
  :     return … ->
  | return (powers… -> return logits.softmax(dim=-1) / temperature
  Your numbers are the softmax divided by the temperature: they sum to 1 /
    temperature, and at 0 there is no such number.
probabilities_multiplied: return (powers… -> return logits.softmax(dim=-1) * temperature
  Your numbers are the softmax times the temperature: they sum to the temperature.
  ? What do the numbers in a row sum to, before and after your product?
softmax_taken_twice:
  | return (powers… -> return (logits.softmax(dim=-1) / temperature).softmax(dim=-1)
  Your numbers went through softmax twice, before the temperature and after it.
  ? Are the numbers that you divide logits, or probabilities?
  # A model whose last layer is a softmax already gives probabilities, and those are
    treated as logits.
powers_not_renormalised:
  | return (powers… -> return logits.softmax(dim=-1) ** (1 / temperature)
  Your numbers are powers of the softmax, and do not sum to 1.
  ? What does a row of your result sum to?
  # p to the power of 1 / T is the other form of it; keras' examples of text
    generation divide by the sum afterwards.
temperature_applied_twice: / temperature -> / temperature ** 2
  Your logits are divided by the temperature twice: by its square.
  ? How often do the logits meet `temperature` on their way through your code?
  # A function that is called with logits that were divided before divides again.
sign_turned: return (powers… -> return (-logits / temperature).softmax(dim=-1)
  Your most probable token is the one with the smallest logit.
  ? Is a high logit the sign of a likely token, or of an unlikely one?
  # Boltzmann's exp(−energy / T) has a minus, since a low energy is likely.
divided_by_the_sum_without_exp: powers = logits / temperature
  Your numbers are quotients divided by their sum: the temperature cancels out, and
    some are below 0.
  ? What makes a positive number of a logit below 0?
  # Numbers that sum to 1 look like probabilities.
sigmoid_of_each: return (powers… -> return (logits / temperature).sigmoid()
  Your numbers are sigmoids of quotients: each token has one of its own.
  ? What should the numbers of a row sum to?
  # A sigmoid makes a probability of one logit, where there are two classes.
largest_at_every_temperature: if temperature == 0 -> if temperature >= 0
  At every temperature, your most probable token has probability 1.
  ? At which temperature should one token alone be left?
  # Generating programs take argmax where nothing is drawn.
nan_at_temperature_zero:
  | if temperature == 0:
  :     return … ->
  Your probabilities are NaN at temperature 0: nothing can be divided by 0.
  ? Which token should come for sure at temperature 0, and does it need a division?
  # logits / temperature is the formula, and 0 is a temperature that people set.
zero_taken_for_one: return torch… -> temperature = 1.0
  At temperature 0 you return the ordinary softmax.
  ? Does a temperature come closer to 0 by getting sharper, or flatter?
  # `temperature or 1.0`, and `if temperature:` before the division, take 0 for 'not
    set'.
ties_share_at_zero:
  | return torch… ->
  :     best = (logits == logits.amax(dim=-1, keepdim=True)).to(logits.dtype)
  :     return best / best.sum(dim=-1, keepdim=True)
  At temperature 0, several largest logits share the probability in your code.
  ? Which one of them does the docstring choose at temperature 0?
  # That is the limit for tiny temperatures, and what max(temperature, 1e-8) gives.
each_of_the_largest_has_one:
  | return torch… ->
  :     return (logits == logits.amax(dim=-1, keepdim=True)).to(logits.dtype)
  At temperature 0, each of several largest logits has probability 1 in your code.
  ? What do the probabilities of a row sum to, if two logits are largest?
  # logits == logits.max() is a one-hot row only where no two are equal.
last_of_the_largest:
  | logits.argmax(dim=-1) -> logits.shape[-1] - 1 - logits.flip(-1).argmax(dim=-1)
  At temperature 0, your code takes the last of several largest logits.
  ? Which one of them does the docstring choose at temperature 0?
  # >= in a loop, or the end of a sorted row.
one_hot_of_whole_numbers: shape[-1]).to(logits.dtype) -> shape[-1])
  At temperature 0 your result holds integers, not floats.
  ? Which dtype has the result of one_hot?
  # The result of torch.nn.functional.one_hot is int64.
one_hot_cut_at_zero: , logits.shape[-1]) -> )
  At temperature 0 your rows end at the largest of the token ids that get a 1: one_hot
    makes only as many columns as it has to if nobody says how many.
  ? How many tokens does the vocabulary have, and how does one_hot learn that?
  # Without num_classes, one_hot takes the largest index plus 1.
ones_in_all_rows_at_zero:
  | return torch… ->
  :     best = logits.argmax(dim=-1).flatten()
  :     return torch.zeros_like(logits).index_fill(-1, best, 1.0)
  At temperature 0 each row has a 1 at the largest logit of every row, not of its own
    alone.
  ? Which rows does an assignment change whose index leaves the first axes as they
    are?
  # result[..., logits.argmax(-1)] = 1 writes whole columns.
ones_at_zero: return torch… -> return torch.ones_like(logits)
  At temperature 0 all of your probabilities are 1.
  ? Which one of the tokens should have probability 1 at temperature 0, and what do
    the probabilities of a row sum to?
  # nan_to_num(1) hides the NaN of a division by 0.
largest_quotient_at_zero: logits.argmax -> (logits / temperature).argmax
  At temperature 0 your code takes the largest of logits / 0, and these are all
    infinite or NaN.
  ? Where is the division in your code, and where the question whether the temperature
    is 0?
  # The quotients are computed first, and argmax is taken of them.
token_id_at_zero: return torch… -> return logits.argmax(dim=-1)
  At temperature 0 your result is token ids, not probabilities.
  ? Which shape does the docstring promise at every temperature?
  # Generating programs skip the draw at temperature 0 and take argmax.
largest_of_the_whole_batch:
  | logits.argmax(dim=-1), logits.shape[-1]) ->
  :     logits.argmax(), logits.numel()).view_as(logits)
  At temperature 0, one token of the whole batch has probability 1; all other rows are
    0.
  ? Over which axis do argmax and max search if none is named?
  # argmax() without dim searches in all numbers.
exp_overflows: powers = (logits / temperature).exp()
  Your code takes exp of quotients as they are: large ones overflow to infinity, and
    infinity divided by infinity is NaN.
  ? What can you subtract from all logits of a row without changing their softmax?
  # exp(logits / T) / sum is the formula of the paper, word for word.
largest_of_all_rows_subtracted:
  | logits.amax(dim=-1, keepdim=True) -> logits.max()
  | .double() ->
  Your code subtracts the largest logit of all rows: a row far below it becomes 0
    divided by 0.
  ? Which number is subtracted from the second row, and what is left of exp then?
  # logits.max() without dim does for one row.
softmax_over_the_first_axis: dim=-1, keepdim => dim=0, keepdim
  Your softmax runs over the first axis.
  ? On which axis are the tokens?
  # dim=0 is right for one row, with which one begins.
softmax_over_everything: dim=-1, keepdim=True =>
  Your softmax runs over all rows together.
  ? What should each row sum to?
  # exp(…) / exp(…).sum() without a dim is right for one row.
logits_returned: return (powers… -> return logits / temperature
  Your result is logits divided by the temperature, not probabilities.
  ? What should each row of the result sum to?
  # In Hugging Face's library the temperature is a logits processor, and softmax
    follows later.
products_returned: return (powers… -> return logits * temperature
  Your result is logits times the temperature: they are multiplied where the docstring
    divides, and no softmax follows.
  ? Should two logits move apart or together when it gets hotter, and what should each
    row of the result sum to?
  # In physics the inverse temperature is a factor; and in Hugging Face's library
    softmax follows later.
logits_returned_at_zero_too:
  | if temperature == 0:
  :     return … ->
  | return (powers… -> return logits / temperature
  Your result is logits divided by the temperature, not probabilities; at temperature
    0, that is a division by 0.
  ? What should each row of the result sum to?
  # In Hugging Face's library the temperature is a logits processor, and softmax
    follows later.
products_returned_at_zero_too:
  | if temperature == 0:
  :     return … ->
  | return (powers… -> return logits * temperature
  Your result is logits times the temperature: they are multiplied where the docstring
    divides, and no softmax follows, not even at temperature 0.
  ? Should two logits move apart or together when it gets hotter, and what should each
    row of the result sum to?
  # In physics the inverse temperature is a factor; and in Hugging Face's library
    softmax follows later.
divided_by_the_sum_of_all: powers.sum(dim=-1, keepdim=True) -> powers.sum()
  Your powers of e are divided by one sum over all rows, where there are several.
  ? Over which axis does sum add if none is named, and what should each row sum to?
  # sum() without dim adds all numbers; for a single row that is right.
powers_of_e_returned: return (powers… -> return (logits / temperature).exp()
  Your result is powers of e, which nothing divides by their sum.
  ? What should each row of the result sum to?
  # exp makes every number positive, which looks like the whole of softmax.
logarithms_returned:
  | return (powers… -> return (logits / temperature).log_softmax(dim=-1)
  Your result is logarithms of probabilities.
  # log_softmax stands in every loss.
logits_divided_in_place:
  | return (powers… ->
  :     logits /= temperature
  :     return logits.softmax(dim=-1)
  Your call divides the caller's `logits` by the temperature.
  ? Which line of yours writes into the tensor that the caller holds?
  # `logits /= temperature` is the shortest way; a second call divides again.
""",
    of=in_steps,
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
