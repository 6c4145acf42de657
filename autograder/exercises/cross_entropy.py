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


exercise.edits(
    """
padding_counted: counts = torch.ones_like(targets, dtype=torch.bool)
  Your mean counts padding as if it were a token to be predicted.
  ? Which positions does the docstring leave out, and how do you find them?
  # A loss without ignore_index runs as long as padding is in the vocabulary.
ignore_index_ignored: counts = targets != 0
  Your loss leaves out token id 0, and only that: `ignore_index` plays no part.
  ? Which argument says what does not count?
  # Padding has the token id 0 in most vocabularies: mask = targets != 0.
token_zero_for_padding:
  | counts = … -> counts = targets != 0
  | targets.masked_fill(~counts, 0) -> targets.masked_fill(targets == ignore_index, 0)
  Your loss leaves out token id 0, whatever `ignore_index` is, and counts positions with
    `ignore_index` where that is another one.
  # Padding has the token id 0 in most vocabularies: mask = targets != 0.
token_ids_above_zero_counted:
  | counts = … -> counts = targets > 0
  | targets.masked_fill(~counts, 0) -> targets.masked_fill(targets == ignore_index, 0)
  Your loss counts the positions whose token id is above 0, whatever `ignore_index` is.
  ? Which argument says what does not count?
token_zero_left_out: counts = (targets != ignore_index) & (targets != 0)
  Your loss leaves the token id 0 out, whatever `ignore_index` is.
  # Padding has the token id 0 in most vocabularies: sequence_mask = targets > 0.
padding_alone_counted: counts = targets == ignore_index
  Your loss is a mean over the padding: the tokens to be predicted are left out.
  ? Is your mask True where a position counts, or where it does not?
  # mask = targets == ignore_index is read as 'what counts'.
nothing_counts_after_padding: counts = (targets == ignore_index).cumsum(dim=-1) == 0
  Your loss leaves out all that follows the first padding of a sequence.
  ? Which positions does the docstring leave out: the last ones, or those of a token?
  # Sequences are cut to their lengths: padding is thought to stand behind.
padding_gathered: targets.masked_fill(~counts, 0) -> targets
  Your loss stops where `ignore_index` is outside the vocabulary and padding is there
    to be gathered.
  ? Which column of log p belongs to the token id −100?
  # The losses are gathered first and padding is masked later: pytorch/pytorch, issue
    15508.
softmax_over_the_positions: dim=-1 -> dim=-2
  Your softmax runs over the positions of a sequence, not over the vocabulary.
  ? Which tokens compete for one position, and on which axis are they?
  # dim=-2 and dim=0 are taken for 'along the rows'.
softmax_over_axis_one: dim=-1 -> dim=1
  Your softmax runs over axis 1, which holds the vocabulary only where one axis comes
    before it.
  ? On which axis is the vocabulary if logits has three axes?
  # dim=1 is PyTorch's own convention for classes, and right for (n, vocab_size).
softmax_over_axis_zero: dim=-1 -> dim=0
  Your softmax runs over axis 0, which holds the vocabulary only where no axis comes
    before it.
  # F.softmax(x) without dim once took axis 0, and the formula has one vector.
log_of_the_softmax: log_p = logits.softmax(dim=-1).log()
  Your loss is infinite where the right token's logit is far below the largest.
  ? Which number comes out of a softmax for a token 10000 below the best, and what is
    its logarithm?
  # log(softmax(x)) is the formula as it is written; harvardnlp/annotated-transformer,
    issue 109, is about an infinite loss from log(0).
logarithm_of_at_least_1e_9: log_p = (logits.softmax(dim=-1) + 1e-09).log()
  Your logarithm does not fall below ln 10⁻⁹: a token far below the largest costs 20.7,
    however far below it is.
  ? Which probability does a logit of 0 have next to one of 10000, and what does adding
    10⁻⁹ make of it?
  # log(p + 1e-9), or a clamp there, keeps the logarithm finite.
logarithm_of_at_least_1e_8: log_p = (logits.softmax(dim=-1) + 1e-08).log()
  Your logarithm does not fall below ln 10⁻⁸: a token far below the largest costs 18.4,
    however far below it is.
logarithm_of_at_least_1e_12: log_p = (logits.softmax(dim=-1) + 1e-12).log()
  Your logarithm does not fall below ln 10⁻¹²: a token far below the largest costs 27.6,
    however far below it is.
probabilities_of_at_least_1e_9: log_p = logits.softmax(dim=-1).clamp(min=1e-09).log()
  Your probabilities are 10⁻⁹ at least: a token far below the largest costs 20.7,
    however far below it is.
  ? Which probability does a logit of 0 have next to one of 10000?
  # clamp(min=1e-9) keeps the logarithm finite.
exponentials_overflow:
  | log_p = … ->
  :     powers = logits.exp()
  :     log_p = (powers / powers.sum(dim=-1, keepdim=True)).log()
  Your loss is infinite or NaN for large logits, also where the right token has the
    largest.
  ? How large is e to the power of 10000 in floating point?
  # exp(z) / exp(z).sum() is written out, without subtracting the maximum first.
one_maximum_for_everything:
  | log_p = … ->
  :     logits = logits - logits.max()
  :     log_p = logits - logits.exp().sum(dim=-1, keepdim=True).log()
  Your loss is infinite or NaN where all logits of a position are far below the
    largest of another.
  ? For which numbers does a softmax stay the same if the same number is subtracted
    from each of them?
  # logits.max() without an axis: enough against overflow, not against ln 0.
softmax_twice: logits.log_softmax -> logits.softmax(dim=-1).log_softmax
  Your loss is that of a softmax taken twice.
  ? What goes into `log_softmax`: logits, or probabilities?
  # CrossEntropyLoss after a softmax in the model: bkitano/llama-from-scratch, issue
    5; bowang-lab/Transformer-GCN-QA, pull 32; and many more.
probabilities_not_logarithms: log_p = logits.softmax(dim=-1)
  Your loss is made of probabilities, not of their logarithms.
  ? What does a model lose that gives the right token a probability of 0?
  # nll_loss expects log-probabilities, and gets the softmax.
logits_not_normalised: log_p = logits
  Your loss is made of the right tokens' logits: other tokens play no part.
  ? Does a logit of 5 say much for a token if all the others have 5 as well?
  # nll_loss expects log-probabilities, and gets logits.
sign_turned: losses = -log_p -> losses = log_p
  Your loss has the sign turned: better models get larger numbers.
  ? Is the logarithm of a probability above or below 0?
  # The minus of −ln p is lost between log_softmax and the mean.
in_bits: return (losses / counts.sum().clamp(min=1)).sum() / np.log(2)
  Your loss is in bits: ln 2 divides it.
  ? With which logarithm do equal logits for two tokens give 0.6931?
  # Information theory counts in bits, log2.
padding_in_the_divisor: counts.sum().clamp(min=1) -> targets.numel()
  Your sum is divided by the number of all positions, padding included.
  ? By how many positions do you divide, and how many did you add up?
  # masked_fill(0).mean() divides by everything; huggingface/transformers, pull 5919,
    had the padding in its divisor too.
divided_by_all_logits: counts.sum().clamp(min=1) -> logits.numel()
  Your sum is divided by the number of all logits.
  ? How many numbers does one position have, and how often should it count?
  # (one_hot * log_p).mean() divides by everything, the vocabulary too.
mean_of_means: return (losses.sum(dim=-1) / counts.sum(dim=-1).clamp(min=1)).mean()
  Your loss is the mean of the sequences' means: in a short sequence each token counts
    for more.
  ? Is the mean of 1, 1, 1 and the mean of 5 the mean of 1, 1, 1, 5?
  # x1/n1 + x2/n2 is taken for (x1 + x2)/(n1 + n2): meta-pytorch/torchtune, pull 1875;
    huggingface/transformers, issue 24725.
sum_not_mean: return losses.sum()
  Your loss is a sum, not a mean.
  ? What does the docstring promise, a sum or a mean?
  # reduction="sum" and KLDivLoss(size_average=False) are in many programs, which
    divide elsewhere.
divided_by_the_batch_size: counts.sum().clamp(min=1) -> len(targets)
  Your sum is divided by the length of the first axis.
  ? How many tokens are to be predicted, and how many rows has the first axis?
  # Losses are divided by the batch size, lprobs.shape[0] in huggingface/transformers,
    pull 5919: with one token per example that is a mean.
divided_by_the_length: counts.sum().clamp(min=1) -> targets.shape[-1]
  Your sum is divided by the length of the targets' last axis.
  ? How many tokens are to be predicted in all sequences together?
  # The mean over the positions of one sequence is written for a batch.
perfect_tokens_not_counted:
  | counts.sum().clamp(min=1) -> (losses != 0).sum().clamp(min=1)
  Your divisor leaves out positions whose loss is 0.
  ? May a position that counts have a loss of 0?
  # (losses != 0).sum() finds padding after masked_fill(0), and what is perfect.
one_more_in_the_divisor: counts.sum().clamp(min=1) -> (counts.sum() + 1)
  Your divisor is one too large.
  ? How many positions count, and by how much do you divide?
  # + 1 keeps the division from 0 / 0, and stays everywhere.
nan_where_nothing_counts: .clamp(min=1) ->
  Your loss is NaN where every position is padding.
  ? What is 0 / 0, and how often does your batch hold nothing that counts?
  # PyTorch's own loss does so: pytorch/pytorch, issues 70348, 75181 and 116349.
perplexity: return (losses / counts.sum().clamp(min=1)).sum().exp()
  Your result is e to the power of a loss, which is called perplexity.
  ? What should come out for a model that is certain and right, 0 or 1?
  # Perplexity is what many programs print next to the loss.
number_returned: return (losses / counts.sum().clamp(min=1)).sum().item()
  Your result is a number of Python, not a tensor.
  ? Which type does the docstring promise, and what can be differentiated?
  # .item() and float() are what one prints.
loss_in_a_row_of_one: return (losses / counts.sum().clamp(min=1)).sum().reshape(1)
  Your result has an axis of length 1.
  ? How many axes does the docstring promise?
  # keepdim=True, or a slice such as [:1], keeps an axis to the end.
losses_of_all_positions: return losses
  Your result has a number for each position.
  ? How many numbers does the docstring promise?
  # reduction="none" is what weights and masks need, and the mean is forgotten.
count_returned_too: return ((losses / counts.sum().clamp(min=1)).sum(), counts.sum())
  Your result is a pair: a loss, and how many positions count.
  ? How many results does the docstring promise?
  # Who adds up losses of many batches needs both.
targets_overwritten: targets.masked_fill( -> targets.masked_fill_(
  Your call writes 0 over the padding in the caller's targets.
  ? Does targets[…] = 0 make a new tensor, or write into the caller's?
  # targets[targets == ignore_index] = 0 makes them safe to gather, in place.
logits_overwritten: logits -= logits.max(dim=-1, keepdim=True).values
  Your call subtracts the largest logit in the caller's tensor.
  ? Which line of yours writes into the tensor that the caller holds?
  # logits -= logits.max(…) is meant to keep the powers of e small.
""",
)

ONE_MAXIMUM = """
one_maximum_and_a_sum_of_at_least_{name}:
  | log_p = … ->
  :     logits = logits - logits.max()
  :     total = logits.exp().sum(dim=-1, keepdim=True).clamp(min={number})
  :     log_p = logits - total.log()
  Your exponentials are all 0 where all logits of a position are far below the largest
    of another, and {text} stands for their sum.
  ? For which numbers does a softmax stay the same if the same number is subtracted
    from each of them?
  # logits.max() without an axis, and a little in the sum so that no logarithm is −∞.
"""
for number, text in (("1e-12", "10⁻¹²"), ("1e-09", "10⁻⁹"), ("1e-08", "10⁻⁸")):
    name = number.replace("-", "_")
    exercise.edits(ONE_MAXIMUM.format(name=name, number=number, text=text))
