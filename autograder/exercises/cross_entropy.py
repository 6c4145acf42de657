"""Cases and misconceptions of ``cross_entropy``."""

import math

import torch

from autograder import Exercise
from course_lib.nn.losses import cross_entropy

exercise = Exercise(
    cross_entropy,
    lesson="10_training",
    minutes=15,
    difficulty=2,
    library=(
        "torch.nn.functional.cross_entropy",
        "torch.nn.functional.nll_loss",
        "torch.nn.CrossEntropyLoss",
        "torch.nn.NLLLoss",
        "course_lib.nn.training.loop.total_loss",
    ),
)


@exercise.spec
def spec(logits, targets, ignore_index):
    rows = logits.reshape(-1, logits.shape[-1]).tolist()
    total, n_counted = 0.0, 0
    for row, right in zip(rows, targets.reshape(-1).tolist(), strict=True):
        if right == ignore_index:
            continue
        largest = max(row)
        log_sum = largest + math.log(sum(math.exp(z - largest) for z in row))
        total += log_sum - row[right]
        n_counted += 1
    mean = total / n_counted if n_counted else 0.0
    return torch.tensor(mean, dtype=logits.dtype)


def draw_logits(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape)).float()


def padded_targets(rng, vocab_size, lengths, longest, padding_id):
    """Draw right tokens, one row per length, with padding behind them."""
    targets = rng.integers(1, vocab_size, size=(len(lengths), longest))
    for row, length in zip(targets, lengths, strict=True):
        row[length:] = padding_id
    return torch.from_numpy(targets)


@exercise.usual
def usual(rng):
    return draw_logits(rng, 2, 5, 7), padded_targets(rng, 7, (5, 2), 5, 0), 0


@exercise.case(
    "Right tokens with the probabilities 1/2 and 1/8 give 2 ln 2, whatever the logits "
    "at padding"
)
def small_example_by_hand(student, rng):
    likely = [math.log(2), math.log(4), 0.0, 0.0]  # 2/8, 4/8, 1/8, 1/8
    logits = torch.tensor([likely, likely, [0.0, 9.0, 0.0, 0.0]])
    result = student(logits, torch.tensor([1, 3, 0]), 0)
    student.expect(result, torch.tensor(2 * math.log(2)))


@exercise.case("Every token counts the same, in a long sequence and in a short one")
def long_and_short_sequences(student, rng):
    student.agrees(draw_logits(rng, 2, 6, 5), padded_targets(rng, 5, (6, 1), 6, 0), 0)
    student.agrees(
        draw_logits(rng, 3, 4, 5), padded_targets(rng, 5, (1, 4, 2), 4, 0), 0
    )


@exercise.case("The token id of padding may be outside the vocabulary")
def padding_outside_the_vocabulary(student, rng):
    targets = padded_targets(rng, 5, (4, 2, 3), 4, -100)
    targets[0, 1] = 0  # the token 0 is one like any other here
    student.agrees(draw_logits(rng, 3, 4, 5), targets, -100)


@exercise.case(
    "Padding does not count, wherever it stands, whatever its token id", weight=0.5
)
def padding_anywhere(student, rng):
    targets = padded_targets(rng, 5, (4, 4, 4), 4, 0)
    targets[0, 0] = targets[1, 2] = targets[2, 0] = targets[2, 1] = 0
    student.agrees(draw_logits(rng, 3, 4, 5), targets, 0)
    among_the_others = torch.tensor([[0, 3, 4, 2, 3], [2, 1, 0, 4, 3]])
    student.agrees(draw_logits(rng, 2, 5, 5), among_the_others, 2)


@exercise.case("Any number of axes may come first, also none")
def leading_axes(student, rng):
    targets = padded_targets(rng, 7, (4, 2, 3, 1, 4, 2), 4, 0).reshape(2, 3, 4)
    student.agrees(draw_logits(rng, 2, 3, 4, 7), targets, 0)
    student.agrees(draw_logits(rng, 4, 7), targets[0, 1], 0)
    student.agrees(draw_logits(rng, 7), torch.tensor(3), 0)


@exercise.case(
    "With as many positions as tokens, the vocabulary is still the last axis"
)
def as_many_positions_as_tokens(student, rng):
    student.agrees(draw_logits(rng, 2, 6, 6), padded_targets(rng, 6, (6, 4), 6, 0), 0)


@exercise.case(
    "A logit of 10000 next to 0 gives a loss of 10000, or of 0, and changes no other"
)
def large_logits(student, rng):
    for high, low in ((1e4, 0.0), rng.integers((5_000, 0), (9_999, 2_000)).tolist()):
        logits = torch.tensor([[high, low, 0.0], [0.0, high, low]])
        loss = torch.tensor(float(high - low))
        student.expect(student(logits, torch.tensor([0, 1]), 2), torch.tensor(0.0))
        student.expect(student(logits, torch.tensor([1, 2]), 0), loss)
        student.expect(student(logits, torch.tensor([0, 2]), 1), loss / 2)
        # The second position has small logits; the first one's loss is 0.
        beside = torch.cat([logits[:1], torch.zeros(1, 3)])
        result = student(beside, torch.tensor([0, 2]), 1)
        student.expect(result, torch.tensor(math.log(3) / 2))


@exercise.fine_point("Where every position is padding, the loss is 0")
def nothing_counts(student, rng):
    result = student(draw_logits(rng, 2, 3, 5), torch.full((2, 3), 4), 4)
    student.expect(result, torch.tensor(0.0))


@exercise.case(
    "Equal logits for all tokens give ln vocab_size", visible=False, pays_alone=False
)
def equal_logits(student, rng):
    targets = padded_targets(rng, 9, (3, 5), 5, 0)
    height = float(rng.integers(2, 9))
    result = student(torch.full((2, 5, 9), height), targets, 0)
    student.expect(result, torch.tensor(math.log(9)))
    result = student(torch.zeros(2, 1), torch.tensor([0, 7]), 7)  # ln 1
    student.expect(result, torch.tensor(0.0))


@exercise.case("The logits and the targets are not modified, in float64 too")
def arguments_stay(student, rng):
    logits = torch.from_numpy(rng.normal(size=(3, 2, 5)))
    student.leaves_unchanged(logits, padded_targets(rng, 5, (2, 1, 1), 2, -1), -1)


@exercise.variants
def variants(
    logits,
    targets,
    ignore_index,
    *,
    counted="all but padding",
    gathered="safely",
    axis=-1,
    log_p="log_softmax",
    unit="nats",
    divisor="counted",
    returns="the loss",
    overwritten="nothing",
):
    counts = {
        "all": torch.ones_like(targets, dtype=torch.bool),
        "all but 0": targets != 0,
        "neither 0 nor padding": (targets != 0) & (targets != ignore_index),
        "padding": targets == ignore_index,
        "before padding": (targets == ignore_index).cumsum(-1) == 0
        if targets.ndim
        else targets != ignore_index,
    }.get(counted, targets != ignore_index)
    if overwritten == "logits":
        logits -= logits.max(dim=-1, keepdim=True).values
    rows = {
        "log of softmax": lambda: logits.softmax(axis).log(),
        "one maximum": lambda: (
            logits - logits.max() - (logits - logits.max()).exp().sum(axis, True).log()
        ),
        "log of powers": lambda: (logits.exp() / logits.exp().sum(axis, True)).log(),
        "softmax twice": lambda: logits.softmax(axis).log_softmax(axis),
        "softmax": lambda: logits.softmax(axis),
        "logits": lambda: logits,
    }.get(log_p, lambda: logits.log_softmax(axis))()
    right = targets if gathered == "as it is" else targets.where(counts, 0)
    losses = -rows.gather(-1, right.unsqueeze(-1)).squeeze(-1)
    losses = losses.masked_fill(~counts, 0.0)
    losses = losses * {"bits": 1 / math.log(2), "turned": -1}.get(unit, 1)
    if overwritten == "targets":
        targets[~counts] = 0
    if returns == "each position's":
        return losses
    n_counted = counts.sum()
    if divisor == "sequence by sequence" and targets.ndim:
        loss = (losses.sum(-1) / counts.sum(-1).clamp(min=1)).mean()
    else:
        loss = losses.sum() / {
            "positions": targets.numel(),
            "numbers": logits.numel(),
            "first axis": len(targets) if targets.ndim else 1,
            "last axis": targets.shape[-1] if targets.ndim else 1,
            "unchecked": n_counted,
            "wrong tokens": (losses != 0).sum().clamp(min=1),
            "one more": n_counted + 1,
            "one": 1,
        }.get(divisor, n_counted.clamp(min=1))
    return {
        "e to its power": loss.exp(),
        "in one row": loss.reshape(1),
        "a number": loss.item(),
        "how many too": (loss, n_counted),
    }.get(returns, loss)


exercise.option(
    "padding_counted",
    "Your mean counts padding as if it were a token to be predicted.",
    "Which positions does the docstring leave out, and how do you find them?",
    why="A loss without ignore_index runs as long as padding is in the vocabulary.",
    counted="all",
)
exercise.option(
    "ignore_index_ignored",
    "Your loss leaves out token id 0, and only that: `ignore_index` plays no part.",
    "Which argument says what does not count?",
    why="Padding has the token id 0 in most vocabularies: mask = targets != 0.",
    counted="all but 0",
)
exercise.option(
    "token_zero_left_out",
    "Your loss leaves the token id 0 out, whatever `ignore_index` is.",
    "Which argument says what does not count?",
    why="Padding has the token id 0 in most vocabularies: sequence_mask = targets > 0.",
    counted="neither 0 nor padding",
)
exercise.option(
    "padding_alone_counted",
    "Your loss is a mean over the padding: the tokens to be predicted are left out.",
    "Is your mask True where a position counts, or where it does not?",
    why="mask = targets == ignore_index is read as 'what counts'.",
    counted="padding",
)
exercise.option(
    "nothing_counts_after_padding",
    "Your loss leaves out all that follows the first padding of a sequence.",
    "Which positions does the docstring leave out: the last ones, or those of a token?",
    why="Sequences are cut to their lengths: padding is thought to stand behind.",
    counted="before padding",
)
exercise.option(
    "padding_gathered",
    "Your loss stops where `ignore_index` is outside the vocabulary and padding is "
    "there to be gathered.",
    "Which column of log p belongs to the token id −100?",
    why="The losses are gathered first and padding is masked later: pytorch/pytorch, "
    "issue 15508.",
    gathered="as it is",
)
exercise.option(
    "softmax_over_the_positions",
    "Your softmax runs over the positions of a sequence, not over the vocabulary.",
    "Which tokens compete for one position, and on which axis are they?",
    why="dim=-2 and dim=0 are taken for 'along the rows'.",
    axis=-2,
)
exercise.option(
    "softmax_over_axis_one",
    "Your softmax runs over axis 1, which holds the vocabulary only where one axis "
    "comes before it.",
    "On which axis is the vocabulary if logits has three axes?",
    why="dim=1 is PyTorch's own convention for classes, and right for (n, vocab_size).",
    axis=1,
)
exercise.option(
    "softmax_over_axis_zero",
    "Your softmax runs over axis 0, which holds the vocabulary only where no axis "
    "comes before it.",
    "On which axis is the vocabulary if logits has three axes?",
    why="F.softmax(x) without dim once took axis 0, and the formula has one vector.",
    axis=0,
)
exercise.option(
    "log_of_the_softmax",
    "Your loss is infinite where the right token's logit is far below the largest.",
    "Which number comes out of a softmax for a token 10000 below the best, and what is "
    "its logarithm?",
    why="log(softmax(x)) is the formula as it is written; harvardnlp/annotated-"
    "transformer, issue 109, is about an infinite loss from log(0).",
    log_p="log of softmax",
)
exercise.option(
    "exponentials_overflow",
    "Your loss is infinite or NaN for large logits, also where the right token has the "
    "largest.",
    "How large is e to the power of 10000 in floating point?",
    why="exp(z) / exp(z).sum() is written out, without subtracting the maximum first.",
    log_p="log of powers",
)
exercise.option(
    "one_maximum_for_everything",
    "Your loss is infinite or NaN where all logits of a position are far below the "
    "largest of another.",
    "For which numbers does a softmax stay the same if the same number is subtracted "
    "from each of them?",
    why="logits.max() without an axis: enough against overflow, not against ln 0.",
    log_p="one maximum",
)
exercise.option(
    "softmax_twice",
    "Your loss is that of a softmax taken twice.",
    "What goes into `log_softmax`: logits, or probabilities?",
    why="CrossEntropyLoss after a softmax in the model: bkitano/llama-from-scratch, "
    "issue 5; bowang-lab/Transformer-GCN-QA, pull 32; and many more.",
    log_p="softmax twice",
)
exercise.option(
    "probabilities_not_logarithms",
    "Your loss is made of probabilities, not of their logarithms.",
    "What does a model lose that gives the right token a probability of 0?",
    why="nll_loss expects log-probabilities, and gets the softmax.",
    log_p="softmax",
)
exercise.option(
    "logits_not_normalised",
    "Your loss is made of the right tokens' logits: other tokens play no part.",
    "Does a logit of 5 say much for a token if all the others have 5 as well?",
    why="nll_loss expects log-probabilities, and gets logits.",
    log_p="logits",
)
exercise.option(
    "sign_turned",
    "Your loss has the sign turned: better models get larger numbers.",
    "Is the logarithm of a probability above or below 0?",
    why="The minus of −ln p is lost between log_softmax and the mean.",
    unit="turned",
)
exercise.option(
    "in_bits",
    "Your loss is in bits: ln 2 divides it.",
    "With which logarithm do equal logits for two tokens give 0.6931?",
    why="Information theory counts in bits, log2.",
    unit="bits",
)
exercise.option(
    "padding_in_the_divisor",
    "Your sum is divided by the number of all positions, padding included.",
    "By how many positions do you divide, and how many did you add up?",
    why="masked_fill(0).mean() divides by everything; huggingface/transformers, pull "
    "5919, had the padding in its divisor too.",
    divisor="positions",
)
exercise.option(
    "divided_by_all_logits",
    "Your sum is divided by the number of all logits.",
    "How many numbers does one position have, and how often should it count?",
    why="(one_hot * log_p).mean() divides by everything, the vocabulary too.",
    divisor="numbers",
)
exercise.option(
    "mean_of_means",
    "Your loss is the mean of the sequences' means: in a short sequence each token "
    "counts for more.",
    "Is the mean of 1, 1, 1 and the mean of 5 the mean of 1, 1, 1, 5?",
    why="x1/n1 + x2/n2 is taken for (x1 + x2)/(n1 + n2): meta-pytorch/torchtune, pull "
    "1875; huggingface/transformers, issue 24725.",
    divisor="sequence by sequence",
)
exercise.option(
    "sum_not_mean",
    "Your loss is a sum, not a mean.",
    "What does the docstring promise, a sum or a mean?",
    why='reduction="sum" and KLDivLoss(size_average=False) are in many programs, which '
    "divide elsewhere.",
    divisor="one",
)
exercise.option(
    "divided_by_the_batch_size",
    "Your sum is divided by the length of the first axis.",
    "How many tokens are to be predicted, and how many rows has the first axis?",
    why="Losses are divided by the batch size, lprobs.shape[0] in "
    "huggingface/transformers, pull 5919: with one token per example that is a mean.",
    divisor="first axis",
)
exercise.option(
    "divided_by_the_length",
    "Your sum is divided by the length of the targets' last axis.",
    "How many tokens are to be predicted in all sequences together?",
    why="The mean over the positions of one sequence is written for a batch.",
    divisor="last axis",
)
exercise.option(
    "perfect_tokens_not_counted",
    "Your divisor leaves out positions whose loss is 0.",
    "May a position that counts have a loss of 0?",
    why="(losses != 0).sum() finds padding after masked_fill(0), and what is perfect.",
    divisor="wrong tokens",
)
exercise.option(
    "one_more_in_the_divisor",
    "Your divisor is one too large.",
    "How many positions count, and by how much do you divide?",
    why="+ 1 keeps the division from 0 / 0, and stays everywhere.",
    divisor="one more",
)
exercise.option(
    "nan_where_nothing_counts",
    "Your loss is NaN where every position is padding.",
    "What is 0 / 0, and how often does your batch hold nothing that counts?",
    why="PyTorch's own loss does so: pytorch/pytorch, issues 70348, 75181 and 116349.",
    divisor="unchecked",
)
exercise.option(
    "perplexity",
    "Your result is e to the power of a loss, which is called perplexity.",
    "What should come out for a model that is certain and right, 0 or 1?",
    why="Perplexity is what many programs print next to the loss.",
    returns="e to its power",
)
exercise.option(
    "number_returned",
    "Your result is a number of Python, not a tensor.",
    "Which type does the docstring promise, and what can be differentiated?",
    why=".item() and float() are what one prints.",
    returns="a number",
)
exercise.option(
    "loss_in_a_row_of_one",
    "Your result has an axis of length 1.",
    "How many axes does the docstring promise?",
    why="keepdim=True, or a slice such as [:1], keeps an axis to the end.",
    returns="in one row",
)
exercise.option(
    "losses_of_all_positions",
    "Your result has a number for each position.",
    "How many numbers does the docstring promise?",
    why='reduction="none" is what weights and masks need, and the mean is forgotten.',
    returns="each position's",
)
exercise.option(
    "count_returned_too",
    "Your result is a pair: a loss, and how many positions count.",
    "How many results does the docstring promise?",
    why="Who adds up losses of many batches needs both.",
    returns="how many too",
)
exercise.option(
    "targets_overwritten",
    "Your call writes 0 over the padding in the caller's targets.",
    "Does targets[…] = 0 make a new tensor, or write into the caller's?",
    why="targets[targets == ignore_index] = 0 makes them safe to gather, in place.",
    overwritten="targets",
)
exercise.option(
    "logits_overwritten",
    "Your call subtracts the largest logit in the caller's tensor.",
    "Does `logits -= …` make a new tensor, or write into the caller's?",
    why="logits -= logits.max(…) is meant to keep the powers of e small.",
    overwritten="logits",
)
