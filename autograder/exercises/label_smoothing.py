"""Cases and misconceptions of ``label_smoothing``."""

import torch

from autograder import Exercise
from course_lib.nn.losses import label_smoothing

exercise = Exercise(
    label_smoothing,
    lesson="09_translation",
    minutes=10,
    difficulty=1,
)


@exercise.spec
def spec(targets, vocab_size, smoothing):
    rows = []
    for right in targets.reshape(-1).tolist():
        row = [float(smoothing) / vocab_size for _ in range(vocab_size)]
        row[right] += 1 - float(smoothing)
        rows.append(row)
    distributions = torch.tensor(rows, dtype=torch.float32)
    return distributions.reshape(*targets.shape, vocab_size)


def tokens(rng, vocab_size, *shape):
    return torch.from_numpy(rng.integers(0, vocab_size, size=shape))


@exercise.usual
def usual(rng):
    return tokens(rng, 7, 2, 5), 7, 0.125


@exercise.case(
    "A smoothing of 0.5 over 4 tokens: the right one gets 0.625, the others 0.125"
)
def small_example_by_hand(student, rng):
    expected = torch.tensor([[0.125, 0.125, 0.625, 0.125]])
    student.expect(student(torch.tensor([2]), 4, 0.5), expected)


@exercise.case("Token 0 is a token like the others")
def token_zero(student, rng):
    student.agrees(torch.tensor([0, 3, 4, 0, 1]), 6, 0.25)


@exercise.case("Any number of axes may come first, also none")
def leading_axes(student, rng):
    student.agrees(tokens(rng, 5, 2, 3), 5, 0.25)
    student.agrees(tokens(rng, 5, 2, 3, 4), 5, 0.125)
    student.agrees(torch.tensor(3), 5, 0.25)


@exercise.case(
    "A row is as long as the vocabulary, even if the last token is never right"
)
def last_token_never_right(student, rng):
    student.agrees(tokens(rng, 4, 6), 9, 0.5)


@exercise.case(
    "A smoothing of 0 leaves all to the right token, one of 1 gives each the same"
)
def nothing_and_everything(student, rng):
    targets = tokens(rng, 5, 4)
    student.agrees(targets, 5, 0.0)
    student.expect(student(targets, 5, 1.0), torch.full((4, 5), 0.2))


@exercise.case("Each row sums to 1", visible=False, pays_alone=False)
def rows_sum_to_one(student, rng):
    result = student(tokens(rng, 11, 3, 4), 11, 0.75)
    student.expect(result.sum(dim=-1), torch.ones(3, 4), what="the sums of the rows")


@exercise.case("The targets stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(tokens(rng, 6, 4, 3).T, 6, 0.25)


def hot(targets, vocab_size):
    """Return 1 for the right token and 0 for the others."""
    return torch.nn.functional.one_hot(targets, vocab_size).float()


@exercise.misconception(
    "Your smoothing goes to the other tokens only: each of them has "
    "smoothing / (V − 1), the right one 1 − smoothing.",
    "Over how many tokens does the docstring spread the smoothing?",
    why="Many texts say 'the rest is for the others', and rows sum to 1 as well.",
)
def spread_over_the_others(targets, vocab_size, smoothing):
    right = hot(targets, vocab_size)
    return right * (1 - smoothing) + (1 - right) * smoothing / (vocab_size - 1)


@exercise.misconception(
    "Your others have smoothing / (V − 2) each, and the right one 1 − smoothing.",
    "What is the sum of one of your rows?",
    why="The Annotated Transformer divides by size − 2, because there padding gets "
    "nothing; without that, rows sum to more than 1.",
)
def divided_by_two_less(targets, vocab_size, smoothing):
    right = hot(targets, vocab_size)
    return right * (1 - smoothing) + (1 - right) * smoothing / (vocab_size - 2)


@exercise.misconception(
    "Your token 0 gets nothing, and where it is the right one the whole row is 0.",
    "Does the docstring treat any token differently?",
    why="The Annotated Transformer smooths so, with 0 for padding; harvardnlp/"
    "annotated-transformer, issues 38 and 39, stumble over the empty rows.",
)
def token_zero_gets_nothing(targets, vocab_size, smoothing):
    right = hot(targets, vocab_size)
    distributions = right * (1 - smoothing) + (1 - right) * smoothing / (vocab_size - 2)
    distributions[..., 0] = 0.0
    return distributions.masked_fill((targets == 0).unsqueeze(-1), 0.0)


@exercise.misconception(
    "Your right token has 1 − smoothing: its part of what is spread is missing, and "
    "rows sum to less than 1.",
    "Is the right token one of those over which the smoothing is spread?",
    why="scatter writes 1 − smoothing over what fill has put there.",
)
def right_token_without_its_part(targets, vocab_size, smoothing):
    right = hot(targets, vocab_size)
    return right * (1 - smoothing) + (1 - right) * smoothing / vocab_size


@exercise.misconception(
    "Your right token keeps its whole 1, and the smoothing comes on top: rows sum to "
    "1 + smoothing.",
    "From which token is what the others get taken away?",
    why="one_hot + smoothing / vocab_size is short, and looks like the paper's rule.",
)
def smoothing_on_top(targets, vocab_size, smoothing):
    return hot(targets, vocab_size) + smoothing / vocab_size


@exercise.misconception(
    "Your right token gets the smoothing, and 1 − smoothing is spread.",
    "With a smoothing of 0.1, how much is left to the right token?",
    why="smoothing and confidence are exchanged: both are numbers between 0 and 1.",
)
def smoothing_and_rest_exchanged(targets, vocab_size, smoothing):
    return hot(targets, vocab_size) * smoothing + (1 - smoothing) / vocab_size


@exercise.misconception(
    "Your tokens get the whole smoothing each.",
    "How much do all tokens together get, if each gets the whole smoothing?",
    why="'a value of 0.1' in the paper is read as what each wrong token gets.",
)
def smoothing_not_divided(targets, vocab_size, smoothing):
    return hot(targets, vocab_size) * (1 - smoothing) + smoothing


@exercise.misconception(
    "Your rows are as long as the largest target asks for, not as the vocabulary.",
    "How does your function know how many tokens there are, if the last one is never "
    "right?",
    why="one_hot(targets) without a number of classes counts up to the largest.",
)
def as_long_as_the_largest_target(targets, vocab_size, smoothing):
    right = torch.nn.functional.one_hot(targets).float()
    return right * (1 - smoothing) + smoothing / vocab_size


@exercise.misconception(
    "Your rows are right, but all in one long array: the axes in front are gone.",
    "Which shape does the docstring promise for targets of shape (2, 3)?",
    why="Losses flatten with view(-1) before they smooth.",
)
def axes_flattened(targets, vocab_size, smoothing):
    return (
        hot(targets.reshape(-1), vocab_size) * (1 - smoothing) + smoothing / vocab_size
    )


@exercise.misconception(
    "Your smoothing is divided by the number of positions, not by vocab_size.",
    "Over what is the smoothing spread: the positions of a sequence, or the tokens?",
    why="targets.shape[-1] and vocab_size are both 'the last size' at some moment.",
)
def divided_by_the_positions(targets, vocab_size, smoothing):
    n = targets.shape[-1] if targets.ndim else 1
    return hot(targets, vocab_size) * (1 - smoothing) + smoothing / n


@exercise.misconception(
    "Your result is right, but the caller's targets have one axis more afterwards.",
    "What does the underscore at the end of `unsqueeze_` say?",
    why="scatter wants targets with a last axis, and unsqueeze_ gives it in place.",
)
def axis_added_in_place(targets, vocab_size, smoothing):
    distributions = hot(targets, vocab_size) * (1 - smoothing) + smoothing / vocab_size
    targets.unsqueeze_(-1)
    return distributions
