"""Cases and misconceptions of ``gather_log_probabilities``."""

import itertools
import math

import torch

from autograder import Exercise, families
from course_lib.nn.first_steps import gather_log_probabilities

exercise = Exercise(
    gather_log_probabilities,
    lesson="07_from_numpy_to_pytorch",
    minutes=8,
    difficulty=1,
    library=(
        "torch.nn.functional.nll_loss",
        "torch.nn.functional.cross_entropy",
        "torch.nn.NLLLoss",
        "torch.nn.CrossEntropyLoss",
        "course_lib.nn.losses.cross_entropy",
    ),
)


@exercise.spec
def spec(log_p, targets):
    result = torch.zeros(targets.shape, dtype=log_p.dtype)
    for position in itertools.product(*map(range, targets.shape)):
        right = int(targets[position])
        result[position] = log_p[(*position, right)].item()
    return result


def draw_log_p(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape)).float().log_softmax(dim=-1)


def draw_targets(rng, vocab_size, *shape):
    return torch.from_numpy(rng.integers(0, vocab_size, size=shape))


@exercise.usual
def usual(rng):
    return draw_log_p(rng, 2, 5, 7), draw_targets(rng, 7, 2, 5)


@exercise.case("Right tokens with the probabilities 1/4 and 1/8 give −ln 4 and −ln 8")
def small_example_by_hand(student, rng):
    p = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])
    expected = torch.tensor([-math.log(4), -math.log(8)])
    student.expect(student(p.log(), torch.tensor([1, 0])), expected)
    student.agrees(draw_log_p(rng, 2, 3), draw_targets(rng, 3, 2))


@exercise.case(
    "Each position of a batch of sequences gets the number of its own target", weight=2
)
def batch_of_sequences(student, rng):
    student.agrees(draw_log_p(rng, 2, 5, 7), draw_targets(rng, 7, 2, 5))
    student.agrees(draw_log_p(rng, 3, 4, 9), draw_targets(rng, 4, 3, 4))


@exercise.case("Any number of axes may come first, also none", weight=1.5)
def leading_axes(student, rng):
    # Without the token id 0: the column before stops there, or counts from the end.
    student.agrees(draw_log_p(rng, 2, 3, 4, 7), 1 + draw_targets(rng, 6, 2, 3, 4))
    student.agrees(draw_log_p(rng, 6, 9), draw_targets(rng, 6, 6))
    student.agrees(draw_log_p(rng, 7), torch.tensor(int(rng.integers(7))))


@exercise.case(
    "With as many positions as tokens, the tokens are still on the last axis; each "
    "token id counts, 0 as well"
)
def as_many_positions_as_tokens(student, rng):
    student.agrees(draw_log_p(rng, 6, 6), torch.from_numpy(rng.permutation(6)))
    student.agrees(draw_log_p(rng, 2, 6, 6), draw_targets(rng, 6, 2, 6))
    student.agrees(draw_log_p(rng, 2, 3, 4, 4), draw_targets(rng, 4, 2, 3, 4))


@exercise.case(
    "A single sequence, or a single position, gives the right numbers in its axes",
    weight=0.5,
)
def axes_of_length_one(student, rng):
    student.agrees(draw_log_p(rng, 1, 4, 5), draw_targets(rng, 5, 1, 4))
    student.agrees(draw_log_p(rng, 3, 1, 5), draw_targets(rng, 5, 3, 1))


@exercise.case(
    "A token of probability 0 has −∞; where another is right, that changes nothing"
)
def probability_of_zero(student, rng):
    logits, targets = torch.from_numpy(rng.normal(size=(4, 7))), draw_targets(rng, 6, 4)
    logits[:, 6] = -math.inf
    log_p = logits.float().log_softmax(dim=-1)
    student.agrees(log_p, targets)
    targets[1] = 6
    student.agrees(log_p, targets)


@exercise.case("A tiny probability keeps its logarithm: −200 does not become −∞")
def tiny_probabilities(student, rng):
    # e⁻²⁰⁰ is 0 in float32, and e⁻⁹⁰⁰ in float64.
    for dtype, logit in ((torch.float32, -200.0), (torch.float64, -900.0)):
        logits = torch.from_numpy(rng.normal(size=(2, 3, 5))).to(dtype)
        logits[..., 4] += logit
        targets = draw_targets(rng, 4, 2, 3)
        targets[0, 1] = targets[1, 2] = 4
        student.agrees(logits.log_softmax(dim=-1), targets)


@exercise.case("In float64, for a longer batch", visible=False)
def longer_batch(student, rng):
    logits = torch.from_numpy(rng.normal(size=(4, 13, 11)))
    student.agrees(logits.log_softmax(dim=-1), draw_targets(rng, 11, 4, 13))


@exercise.case("`log_p` and `targets` are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(draw_log_p(rng, 2, 3, 5), draw_targets(rng, 3, 2, 3))
    logits, targets = torch.from_numpy(rng.normal(size=(4, 6))), draw_targets(rng, 6, 4)
    logits[:, 5] = -math.inf
    student.leaves_unchanged(logits.float().log_softmax(dim=-1), targets)


exercise.edits(
    """
gathered_along_axis_one: -1 => 1
  Your numbers are gathered along axis 1, which holds the tokens only where one axis
    comes before it.
  ? On which axis are the tokens if log_p has three axes?
  # gather(1, …) is in most examples, which have a matrix of classes.
token_zero_along_axis_one: gather(-1 -> gather(1
  Your targets pick along axis 1. That is right for a matrix; where a batch comes
    first, it reads token 0 at other positions.
  ? Along which axis does your `gather` go, and where have you put the new axis?
  # gather(1, targets.unsqueeze(-1)) is right for a matrix, and its two axes are the
    same there.
gathered_along_axis_two: -1 => 2
  Your numbers are gathered along axis 2, which holds the tokens only where two axes
    come before it.
  ? On which axis are the tokens if log_p is a matrix?
  # Models return (batch, n, vocab_size), and gather(logp, 2, …) is written for that,
    as in huggingface/trl, issue 1061.
read_in_the_first_of_the_first_axis:
  | unsqueeze(-1)).squeeze(-1) -> unsqueeze(0)).squeeze(0)
  Your numbers are all read where log_p's first index is 0: in the first row of a
    matrix, in the first sequence of a batch.
  ? Where have you put the new axis of `targets`, and which axis of log_p holds the
    tokens?
  # unsqueeze(0) makes the number of axes right, which is what `gather` asks for.
gathered_along_axis_zero: -1 => 0
  Your numbers are gathered along axis 0, which holds the tokens only where no axis
    comes before it.
  ? On which axis are the tokens if log_p has three axes?
  # The first axis is the first number that one tries for dim.
every_target_at_every_position: return log_p[..., targets]
  Your result has each target's log-probability at each position, not only at its own.
  ? How many numbers does the docstring promise for each position?
  # log_p[:, targets] reads like 'of each row the target', and takes all columns from
    all rows: shivamsaboo17/Overcoming-Catastrophic-forgetting-in-Neural-Networks,
    pull 5.
loop_over_the_first_axis_alone:
  | return torch.stack([row[target] for row, target in zip(log_p, targets)])
  Your targets pick along the second axis of log_p. That is right for a matrix; where
    a batch comes first, it takes whole rows.
  ? Which shape has log_p[0] if log_p has three axes, and what does an index pick from
    it?
  # [row[target] for row, target in zip(log_p, targets)] and log_p[arange(n), targets]
    are written for one sequence.
rows_numbered_for_a_matrix: return log_p[torch.arange(len(targets)), targets]
  Your pairs of a row's number and a target are right for a matrix. Where a batch
    comes first, they do not fit, or pick whole rows.
  ? How many indices does a number of log_p need if log_p has three axes?
  # log_p[torch.arange(n), targets] is the well-known index for one sequence.
rows_at_the_targets: return log_p[targets]
  Your targets pick rows of log_p, along its first axis.
  ? What does an index in square brackets pick from a matrix, if it is the only one?
  # embedding[token_ids] picks rows, and is the index that one knows.
nan_from_a_probability_of_zero:
  | return (log_p * torch.nn.functional.one_hot(targets, log_p.shape[-1])).sum(dim=-1)
  Your result is NaN where another token than the right one has −∞.
  ? What is 0 times infinity?
  # (one_hot * log_p).sum(-1) multiplies all that is not asked for by 0; torch.where
    has no such trouble.
likeliest_token_instead: return log_p.max(dim=-1).values
  Your numbers are those of the likeliest token at each position.
  ? Which argument says what the right token is?
  # A model's prediction is the largest, and its log-probability is at hand.
token_ids_from_one: targets.unsqueeze -> (targets - 1).unsqueeze
  Your numbers are those of the token before the right one.
  ? Which column of log_p belongs to the token id 0?
  # Tokens are counted from 1, and column 0 is taken for the first of them.
shifted_by_one_position:
  | log_p.gather -> log_p[..., :-1, :].gather
  | targets.unsqueeze -> targets[..., 1:].unsqueeze
  Your targets are read one position later than your log_p, and one number is missing.
  ? Which target belongs to position 0 of log_p, says the docstring?
  # A language model's loss is written logits[:, :-1] and targets[:, 1:] where both
    come from the same tokens.
token_zero_left_out: .squeeze(-1) -> .squeeze(-1).masked_fill(targets == 0, 0.0)
  Where token 0 is the right one, your result is 0.
  ? Does the docstring treat any token differently?
  # 0 is the token id of padding in many vocabularies, and a loss leaves it out.
sign_turned: return log_p -> return -log_p
  Your numbers have the sign turned: they are losses.
  ? Is the logarithm of a probability above or below 0?
  # nll_loss, and every loss that is made of these numbers, has the minus.
probabilities_returned: return log_p.gather -> return log_p.exp().gather
  Your numbers are probabilities, not their logarithms.
  ? What does the docstring promise for a token of probability 1: 1 or 0?
  # exp, or a softmax, of log-probabilities gives the probabilities back.
logarithm_taken_twice: log_p.gather -> log_p.log().gather
  Your numbers are logarithms of log-probabilities: the logarithm of a number below 0
    is NaN.
  ? What does log_p hold already?
  # The formula says log p(token), and the argument's name is read as p.
logarithm_of_at_least_1e_9: log_p.gather -> (log_p.exp() + 1e-09).log().gather
  Your numbers never fall below ln 10⁻⁹, which is −20.7: a little is added to each
    probability.
  ? What is the logarithm of a probability of 0?
  # log(p + 1e-9) keeps a logarithm finite where p may be 0.
infinity_cut_off: log_p.gather -> log_p.clamp(min=-100).gather
  Your numbers never fall below −100.
  ? What is the logarithm of a probability of 0?
  # PyTorch's binary_cross_entropy cuts its logarithms off at −100.
by_way_of_probabilities: log_p.gather -> log_p.exp().log().gather
  Your numbers are logarithms of probabilities that were computed first: the tiny ones
    had become 0, and their logarithm is −∞.
  ? What is e to the power of −200 in float32, and what is the logarithm of that?
  # log(softmax(…)) is what the formula says; Goodfellow et al. (2016), section 4.1,
    name it as the example of underflow.
infinity_replaced: log_p.gather -> log_p.masked_fill(log_p == -math.inf, -1e9).gather
  Your −∞ has become −1e9.
  ? What is the logarithm of a probability of 0?
  # masked_fill(…, -1e9) is how masks are written, to keep NaN away.
infinity_as_the_least_number:
  | log_p.gather ->
  :     log_p.masked_fill(log_p == -math.inf, torch.finfo(log_p.dtype).min).gather
  Your −∞ has become the least number that the dtype of log_p has.
  # nan_to_num, and a clamp at finfo(dtype).min, take infinities away.
infinity_replaced_in_place: log_p[log_p == -math.inf] = -1e9
  Your call writes −1e9 into the caller's log_p wherever it is −∞, and your result has
    that number too.
  ? Does `log_p[mask] = …` change the caller's tensor, or a copy?
  # 0 times −∞ is NaN, and a finite number in its position mends that.
least_number_in_place: log_p[log_p == -math.inf] = torch.finfo(log_p.dtype).min
  Your call writes the least number of its dtype into the caller's log_p wherever it
    is −∞, and your result has that number too.
  ? What does the underscore at the end of `clamp_` or `nan_to_num_` say?
mean_returned: .squeeze(-1) -> .squeeze(-1).mean()
  Your result is the mean over all positions.
  ? How many numbers does the docstring promise?
  # The mean is what a loss needs next.
sum_returned: .squeeze(-1) -> .squeeze(-1).sum()
  Your result is the sum over all positions.
  # A sum of log-probabilities is the logarithm of a product.
sum_of_each_sequence: .squeeze(-1) -> .squeeze(-1).sum(dim=-1)
  Your result has one number per sequence: the sum over its positions.
  ? How many numbers does the docstring promise for targets of shape (2, 3)?
  # That is the log-probability of a whole sequence, as beam search needs it.
axis_of_the_tokens_stays: .squeeze(-1) ->
  Your result has an axis of length 1 at its end.
  ? Which shape has the tensor that `gather` returns, and which is promised?
  # gather needs targets with an axis more, and returns that axis.
axes_flattened: .squeeze(-1) -> .flatten()
  Your numbers stand in one row: the axes of targets are gone.
  ? Which shape does the docstring promise for targets of shape (2, 3)?
  # Losses flatten all positions with view(-1) before they gather.
targets_get_an_axis: unsqueeze(-1) -> unsqueeze_(-1)
  Your call gives the caller's targets one axis more.
  ? What does the underscore at the end of `unsqueeze_` say?
  # gather wants targets with a last axis, and unsqueeze_ gives it in place.
columns_of_axis_one: return log_p[:, targets]
  Your targets are indices for axis 1, and all of them are used for every row, not
    each for its own.
  ? How many numbers does the docstring promise for each position?
  # [:, targets] reads like 'the columns of the targets'.
""",
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
