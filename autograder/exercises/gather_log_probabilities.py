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


@exercise.variants
def variants(
    log_p,
    targets,
    *,
    picked="along the last axis",
    ids="as they are",
    unit="log-probabilities",
    returns="each position's",
    overwritten="nothing",
):
    if overwritten in LEAST:
        log_p.masked_fill_(log_p == -math.inf, LEAST[overwritten](log_p))
    elif unit in LEAST:
        log_p = log_p.masked_fill(log_p == -math.inf, LEAST[unit](log_p))
    log_p = {
        "logarithms of them": torch.log,
        "at least −100": lambda log_p: log_p.clamp(min=-100),
        "by way of probabilities": lambda log_p: log_p.exp().log(),
    }.get(unit, torch.clone)(log_p)
    if ids == "the next ones":
        log_p, targets = log_p[..., :-1, :], targets[..., 1:]
    if ids == "from 1":
        targets = targets - 1
    result = PICKED[picked](log_p, targets)
    if ids == "0 is padding":
        result = result.masked_fill(targets == 0, 0.0)
    if overwritten == "targets":
        targets.unsqueeze_(-1)
    result = {"probabilities": torch.exp, "minus": torch.neg}.get(unit, torch.clone)(
        result
    )
    return {
        "the mean": lambda: result.mean(),
        "the sum": lambda: result.sum(),
        "each sequence's": lambda: result.sum(-1),
        "an axis more": lambda: result.unsqueeze(-1),
        "in one row": lambda: result.reshape(-1),
    }.get(returns, lambda: result)()


# What −∞ becomes, here and in the caller's log_p.
LEAST = {
    "−1e9 for −∞": lambda log_p: -1e9,
    "the least number for −∞": lambda log_p: torch.finfo(log_p.dtype).min,
}


def _from_one_hot(log_p, targets):
    right = targets.unsqueeze(-1) == torch.arange(log_p.shape[-1])
    return (log_p * right.to(log_p.dtype)).sum(-1)


PICKED = {
    "along the last axis": lambda log_p, targets: log_p.gather(
        -1, targets.unsqueeze(-1)
    ).squeeze(-1),
    "along axis 1": lambda log_p, targets: log_p.gather(1, targets.unsqueeze(1))[:, 0],
    "along axis 1, of token 0": lambda log_p, targets: log_p.gather(
        1, targets.unsqueeze(-1)
    )[..., 0],
    "along axis 2": lambda log_p, targets: log_p.gather(2, targets.unsqueeze(2))[
        :, :, 0
    ],
    "along axis 0": lambda log_p, targets: log_p.gather(0, targets.unsqueeze(0))[0],
    "in the first of the first axis": lambda log_p, targets: log_p.gather(
        -1, targets.unsqueeze(0)
    )[0],
    "all of them everywhere": lambda log_p, targets: log_p[..., targets],
    "in a loop over the first axis": lambda log_p, targets: torch.stack(
        [row[right] for row, right in zip(log_p, targets, strict=True)]
    ),
    "by the numbers of the rows": lambda log_p, targets: log_p[
        torch.arange(len(targets)), targets
    ],
    "rows": lambda log_p, targets: log_p[targets],
    "columns of axis 1": lambda log_p, targets: log_p[:, targets],
    "from a one-hot product": _from_one_hot,
    "the largest": lambda log_p, targets: log_p.max(dim=-1).values,
}

exercise.option(
    "gathered_along_axis_one",
    "Your numbers are gathered along axis 1, which holds the tokens only where one "
    "axis comes before it.",
    "On which axis are the tokens if log_p has three axes?",
    why="gather(1, …) is in most examples, which have a matrix of classes.",
    picked="along axis 1",
)
exercise.option(
    "token_zero_along_axis_one",
    "Your targets pick along axis 1. That is right for a matrix; where a batch comes "
    "first, it reads token 0 at other positions.",
    "Along which axis does your `gather` go, and where have you put the new axis?",
    why="gather(1, targets.unsqueeze(-1)) is right for a matrix, and its two axes are "
    "the same there.",
    picked="along axis 1, of token 0",
)
exercise.option(
    "gathered_along_axis_two",
    "Your numbers are gathered along axis 2, which holds the tokens only where two "
    "axes come before it.",
    "On which axis are the tokens if log_p is a matrix?",
    why="Models return (batch, n, vocab_size), and gather(logp, 2, …) is written for "
    "that, as in huggingface/trl, issue 1061.",
    picked="along axis 2",
)
exercise.option(
    "read_in_the_first_of_the_first_axis",
    "Your numbers are all read where log_p's first index is 0: in the first row of a "
    "matrix, in the first sequence of a batch.",
    "Where have you put the new axis of `targets`, and which axis of log_p holds the "
    "tokens?",
    why="unsqueeze(0) makes the number of axes right, which is what `gather` asks for.",
    picked="in the first of the first axis",
)
exercise.option(
    "gathered_along_axis_zero",
    "Your numbers are gathered along axis 0, which holds the tokens only where no axis "
    "comes before it.",
    "On which axis are the tokens if log_p has three axes?",
    why="The first axis is the first number that one tries for dim.",
    picked="along axis 0",
)
exercise.option(
    "every_target_at_every_position",
    "Your result has each target's log-probability at each position, not only at its "
    "own.",
    "How many numbers does the docstring promise for each position?",
    why="log_p[:, targets] reads like 'of each row the target', and takes all columns "
    "from all rows: shivamsaboo17/Overcoming-Catastrophic-forgetting-in-Neural-"
    "Networks, pull 5.",
    picked="all of them everywhere",
)
exercise.option(
    "loop_over_the_first_axis_alone",
    "Your targets pick along the second axis of log_p. That is right for a matrix; "
    "where a batch comes first, it takes whole rows.",
    "Which shape has log_p[0] if log_p has three axes, and what does an index pick "
    "from it?",
    why="[row[target] for row, target in zip(log_p, targets)] and log_p[arange(n), "
    "targets] are written for one sequence.",
    picked="in a loop over the first axis",
)
exercise.option(
    "rows_numbered_for_a_matrix",
    "Your pairs of a row's number and a target are right for a matrix. Where a batch "
    "comes first, they do not fit, or pick whole rows.",
    "How many indices does a number of log_p need if log_p has three axes?",
    why="log_p[torch.arange(n), targets] is the well-known index for one sequence.",
    picked="by the numbers of the rows",
)
exercise.option(
    "rows_at_the_targets",
    "Your targets pick rows of log_p, along its first axis.",
    "What does an index in square brackets pick from a matrix, if it is the only one?",
    why="embedding[token_ids] picks rows, and is the index that one knows.",
    picked="rows",
)
exercise.option(
    "nan_from_a_probability_of_zero",
    "Your result is NaN where another token than the right one has −∞.",
    "What is 0 times infinity?",
    why="(one_hot * log_p).sum(-1) multiplies all that is not asked for by 0; "
    "torch.where has no such trouble.",
    picked="from a one-hot product",
)
exercise.option(
    "likeliest_token_instead",
    "Your numbers are those of the likeliest token at each position.",
    "Which argument says what the right token is?",
    why="A model's prediction is the largest, and its log-probability is at hand.",
    picked="the largest",
)
exercise.option(
    "token_ids_from_one",
    "Your numbers are those of the token before the right one.",
    "Which column of log_p belongs to the token id 0?",
    why="Tokens are counted from 1, and column 0 is taken for the first of them.",
    ids="from 1",
)
exercise.option(
    "shifted_by_one_position",
    "Your targets are read one position later than your log_p, and one number is "
    "missing.",
    "Which target belongs to position 0 of log_p, says the docstring?",
    why="A language model's loss is written logits[:, :-1] and targets[:, 1:] where "
    "both come from the same tokens.",
    ids="the next ones",
)
exercise.option(
    "token_zero_left_out",
    "Where token 0 is the right one, your result is 0.",
    "Does the docstring treat any token differently?",
    why="0 is the token id of padding in many vocabularies, and a loss leaves it out.",
    ids="0 is padding",
)
exercise.option(
    "sign_turned",
    "Your numbers have the sign turned: they are losses.",
    "Is the logarithm of a probability above or below 0?",
    why="nll_loss, and every loss that is made of these numbers, has the minus.",
    unit="minus",
)
exercise.option(
    "probabilities_returned",
    "Your numbers are probabilities, not their logarithms.",
    "What does the docstring promise for a token of probability 1: 1 or 0?",
    why="exp, or a softmax, of log-probabilities gives the probabilities back.",
    unit="probabilities",
)
exercise.option(
    "logarithm_taken_twice",
    "Your numbers are logarithms of log-probabilities: the logarithm of a number "
    "below 0 is NaN.",
    "What does log_p hold already?",
    why="The formula says log p(token), and the argument's name is read as p.",
    unit="logarithms of them",
)
exercise.option(
    "infinity_cut_off",
    "Your numbers never fall below −100.",
    "What is the logarithm of a probability of 0?",
    why="PyTorch's binary_cross_entropy cuts its logarithms off at −100.",
    unit="at least −100",
)
exercise.option(
    "by_way_of_probabilities",
    "Your numbers are logarithms of probabilities that were computed first: the tiny "
    "ones had become 0, and their logarithm is −∞.",
    "What is e to the power of −200 in float32, and what is the logarithm of that?",
    why="log(softmax(…)) is what the formula says; Goodfellow et al. (2016), section "
    "4.1, name it as the example of underflow.",
    unit="by way of probabilities",
)
exercise.option(
    "infinity_replaced",
    "Your −∞ has become −1e9.",
    "What is the logarithm of a probability of 0?",
    why="masked_fill(…, -1e9) is how masks are written, to keep NaN away.",
    unit="−1e9 for −∞",
)
exercise.option(
    "infinity_as_the_least_number",
    "Your −∞ has become the least number that the dtype of log_p has.",
    "What is the logarithm of a probability of 0?",
    why="nan_to_num, and a clamp at finfo(dtype).min, take infinities away.",
    unit="the least number for −∞",
)
exercise.option(
    "infinity_replaced_in_place",
    "Your call writes −1e9 into the caller's log_p wherever it is −∞, and your result "
    "has that number too.",
    "Does `log_p[mask] = …` change the caller's tensor, or a copy?",
    why="0 times −∞ is NaN, and a finite number in its position mends that.",
    overwritten="−1e9 for −∞",
)
exercise.option(
    "least_number_in_place",
    "Your call writes the least number of its dtype into the caller's log_p wherever "
    "it is −∞, and your result has that number too.",
    "What does the underscore at the end of `clamp_` or `nan_to_num_` say?",
    why="0 times −∞ is NaN, and a finite number in its position mends that.",
    overwritten="the least number for −∞",
)
exercise.option(
    "mean_returned",
    "Your result is the mean over all positions.",
    "How many numbers does the docstring promise?",
    why="The mean is what a loss needs next.",
    returns="the mean",
)
exercise.option(
    "sum_returned",
    "Your result is the sum over all positions.",
    "How many numbers does the docstring promise?",
    why="A sum of log-probabilities is the logarithm of a product.",
    returns="the sum",
)
exercise.option(
    "sum_of_each_sequence",
    "Your result has one number per sequence: the sum over its positions.",
    "How many numbers does the docstring promise for targets of shape (2, 3)?",
    why="That is the log-probability of a whole sequence, as beam search needs it.",
    returns="each sequence's",
)
exercise.option(
    "axis_of_the_tokens_stays",
    "Your result has an axis of length 1 at its end.",
    "Which shape has the tensor that `gather` returns, and which is promised?",
    why="gather needs targets with an axis more, and returns that axis.",
    returns="an axis more",
)
exercise.option(
    "axes_flattened",
    "Your numbers stand in one row: the axes of targets are gone.",
    "Which shape does the docstring promise for targets of shape (2, 3)?",
    why="Losses flatten all positions with view(-1) before they gather.",
    returns="in one row",
)
exercise.option(
    "targets_get_an_axis",
    "Your call gives the caller's targets one axis more.",
    "What does the underscore at the end of `unsqueeze_` say?",
    why="gather wants targets with a last axis, and unsqueeze_ gives it in place.",
    overwritten="targets",
)
exercise.option(
    "columns_of_axis_one",
    "Your targets are indices for axis 1, and all of them are used for every row, "
    "not each for its own.",
    "How many numbers does the docstring promise for each position?",
    why="[:, targets] reads like 'the columns of the targets'.",
    picked="columns of axis 1",
)
exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
