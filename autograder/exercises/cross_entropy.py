"""Cases and misconceptions of ``cross_entropy``."""

import math

import torch

from autograder import Exercise
from course_lib.nn.losses import cross_entropy

exercise = Exercise(
    cross_entropy,
    lesson="09_translation",
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


@exercise.case("A logit of 10000 next to 0 gives a loss of 10000, or of 0")
def large_logits(student, rng):
    for high, low in ((1e4, 0.0), rng.integers((5_000, 0), (9_999, 2_000)).tolist()):
        logits = torch.tensor([[high, low, 0.0], [0.0, high, low]])
        loss = torch.tensor(float(high - low))
        student.expect(student(logits, torch.tensor([1, 2]), 0), loss)
        student.expect(student(logits, torch.tensor([0, 1]), 2), torch.tensor(0.0))


@exercise.case("Where every position is padding, the loss is 0", pays_alone=False)
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


@exercise.case("The logits and the targets stay as they are, in float64 too")
def arguments_stay(student, rng):
    logits = torch.from_numpy(rng.normal(size=(5, 3, 2))).permute(1, 2, 0)
    student.leaves_unchanged(logits, padded_targets(rng, 5, (2, 1, 1), 2, -1), -1)


def loss_at_each_position(log_p, targets, ignore_index):
    """Return −log p of the right token, 0 where nothing counts, and what counts."""
    counts = targets != ignore_index
    right = targets.masked_fill(~counts, 0)
    losses = -log_p.gather(-1, right.unsqueeze(-1)).squeeze(-1)
    return losses.masked_fill(~counts, 0.0), counts


def mean_from(log_p, targets, ignore_index):
    """Compute the right mean from log_p; for misconceptions in the steps before."""
    losses, counts = loss_at_each_position(log_p, targets, ignore_index)
    return losses.sum() / counts.sum().clamp(min=1)


@exercise.misconception(
    "Your mean counts padding as if it were a token to be predicted.",
    "Which positions does the docstring leave out, and how do you find them?",
    why="A loss without ignore_index runs as long as padding is in the vocabulary.",
)
def padding_counted(logits, targets, ignore_index):
    log_p = logits.log_softmax(dim=-1)
    return -log_p.gather(-1, targets.unsqueeze(-1)).mean()


@exercise.misconception(
    "Your sum leaves padding out, but is divided by the number of all positions.",
    "By how many positions do you divide, and how many did you add up?",
    why="masked_fill(0).mean() divides by everything; huggingface/transformers, pull "
    "5919, had the padding in its divisor too.",
)
def padding_in_the_divisor(logits, targets, ignore_index):
    losses, _ = loss_at_each_position(logits.log_softmax(dim=-1), targets, ignore_index)
    return losses.mean()


@exercise.misconception(
    "Your loss is the mean of the sequences' means: in a short sequence each token "
    "counts for more.",
    "Is the mean of 1, 1, 1 and the mean of 5 the mean of 1, 1, 1, 5?",
    why="x1/n1 + x2/n2 is taken for (x1 + x2)/(n1 + n2): meta-pytorch/torchtune, pull "
    "1875; huggingface/transformers, issue 24725.",
)
def mean_of_means(logits, targets, ignore_index):
    losses, counts = loss_at_each_position(
        logits.log_softmax(dim=-1), targets, ignore_index
    )
    if losses.ndim == 0:
        return losses
    return (losses.sum(dim=-1) / counts.sum(dim=-1).clamp(min=1)).mean()


@exercise.misconception(
    "Your loss is the sum over all positions that count.",
    "What does the docstring promise, a sum or a mean?",
    why='reduction="sum" and KLDivLoss(size_average=False) are in many programs, which '
    "divide elsewhere.",
)
def sum_not_mean(logits, targets, ignore_index):
    losses, _ = loss_at_each_position(logits.log_softmax(dim=-1), targets, ignore_index)
    return losses.sum()


@exercise.misconception(
    "Your sum is divided by the length of the first axis.",
    "How many tokens are to be predicted, and how many rows has the first axis?",
    why="Losses are divided by the batch size, lprobs.shape[0] in "
    "huggingface/transformers, pull 5919: with one token per example that is a mean.",
)
def divided_by_the_batch_size(logits, targets, ignore_index):
    losses, _ = loss_at_each_position(logits.log_softmax(dim=-1), targets, ignore_index)
    return losses.sum() / (len(losses) if losses.ndim else 1)


@exercise.misconception(
    "Your loss is right for small logits, and infinite or NaN for large ones.",
    "Which number comes out of a softmax for a token 10000 below the best, and what is "
    "its logarithm?",
    why="log(softmax(x)) is the formula as it is written; harvardnlp/annotated-"
    "transformer, issue 109, is about an infinite loss from log(0).",
)
def log_of_the_softmax(logits, targets, ignore_index):
    return mean_from(logits.softmax(dim=-1).log(), targets, ignore_index)


@exercise.misconception(
    "Your softmax runs over the positions of a sequence, not over the vocabulary.",
    "Which tokens compete for one position, and on which axis are they?",
    why="dim=-2 and dim=0 are taken for 'along the rows'.",
)
def softmax_over_the_positions(logits, targets, ignore_index):
    return mean_from(logits.log_softmax(dim=-2), targets, ignore_index)


@exercise.misconception(
    "Your softmax runs over axis 1, which holds the vocabulary only where one axis "
    "comes before it.",
    "On which axis is the vocabulary if logits has three axes?",
    why="dim=1 is PyTorch's own convention for classes, and right for (n, vocab_size).",
)
def softmax_over_axis_one(logits, targets, ignore_index):
    return mean_from(logits.log_softmax(dim=1), targets, ignore_index)


@exercise.misconception(
    "Your loss is NaN where every position is padding, and right otherwise.",
    "What is 0 / 0, and how often does your batch hold nothing that counts?",
    why="PyTorch's own loss does so: pytorch/pytorch, issues 70348, 75181 and 116349.",
)
def nan_where_nothing_counts(logits, targets, ignore_index):
    losses, counts = loss_at_each_position(
        logits.log_softmax(dim=-1), targets, ignore_index
    )
    return losses.sum() / counts.sum()


@exercise.misconception(
    "Your loss is that of a softmax taken twice.",
    "What goes into `log_softmax`: logits, or probabilities?",
    why="CrossEntropyLoss after a softmax in the model: bkitano/llama-from-scratch, "
    "issue 5; bowang-lab/Transformer-GCN-QA, pull 32; and many more.",
)
def softmax_twice(logits, targets, ignore_index):
    return mean_from(logits.softmax(dim=-1).log_softmax(dim=-1), targets, ignore_index)


@exercise.misconception(
    "Your loss is the mean of the right tokens' logits with the sign turned: other "
    "tokens play no part.",
    "Does a logit of 5 say much for a token if all the others have 5 as well?",
    why="nll_loss expects log-probabilities, and gets logits.",
)
def logits_not_normalised(logits, targets, ignore_index):
    return mean_from(logits, targets, ignore_index)


@exercise.misconception(
    "Your loss has the sign turned: better models get smaller, more negative numbers.",
    "Is the logarithm of a probability above or below 0?",
    why="The minus of −ln p is lost between log_softmax and the mean.",
)
def sign_turned(logits, targets, ignore_index):
    return -mean_from(logits.log_softmax(dim=-1), targets, ignore_index)


@exercise.misconception(
    "Your loss is in bits: it is the right one divided by ln 2.",
    "With which logarithm do equal logits for two tokens give 0.6931?",
    why="Information theory counts in bits, log2.",
)
def in_bits(logits, targets, ignore_index):
    return mean_from(logits.log_softmax(dim=-1) / math.log(2), targets, ignore_index)


@exercise.misconception(
    "Your result is e to the power of the loss, which is called perplexity.",
    "What should come out for a model that is certain and right, 0 or 1?",
    why="Perplexity is what many programs print next to the loss.",
)
def perplexity(logits, targets, ignore_index):
    return mean_from(logits.log_softmax(dim=-1), targets, ignore_index).exp()


@exercise.misconception(
    "Your loss leaves the token id 0 out, whatever `ignore_index` is.",
    "Which argument says what does not count?",
    why="Padding has the token id 0 in most vocabularies: sequence_mask = targets > 0.",
)
def token_zero_left_out(logits, targets, ignore_index):
    counts = (targets != 0) & (targets != ignore_index)
    return mean_from(logits.log_softmax(dim=-1), targets.where(counts, -1), -1)


@exercise.misconception(
    "Your loss is right where `ignore_index` is in the vocabulary; otherwise it stops "
    "where padding is gathered.",
    "Which column of log p belongs to the token id −100?",
    why="The losses are gathered first and padding is masked later: pytorch/pytorch, "
    "issue 15508.",
)
def padding_gathered(logits, targets, ignore_index):
    counts = targets != ignore_index
    log_p_of_right = (
        logits.log_softmax(dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    )
    return -(log_p_of_right * counts).sum() / counts.sum().clamp(min=1)


@exercise.misconception(
    "Your loss is right, but in the caller's targets padding is now 0.",
    "Does targets[…] = 0 make a new tensor, or write into the caller's?",
    why="targets[targets == ignore_index] = 0 makes them safe to gather, in place.",
)
def targets_overwritten(logits, targets, ignore_index):
    log_p_of_right = mean_from(logits.log_softmax(dim=-1), targets, ignore_index)
    targets[targets == ignore_index] = 0
    return log_p_of_right
