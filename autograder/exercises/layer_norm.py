"""Cases and misconceptions of ``layer_norm``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.functional import layer_norm

exercise = Exercise(
    layer_norm,
    lesson="08_transformer",
    minutes=10,
    difficulty=2,
    library=(
        "torch.nn.functional.layer_norm",
        "torch.nn.LayerNorm",
        "torch.layer_norm",
        "torch.native_layer_norm",
        "torch.nn.functional.rms_norm",
        "torch.nn.RMSNorm",
        "torch.rms_norm",
        "torch.group_norm",
        "torch.nn.GroupNorm",
        "torch.batch_norm",
        "torch.nn.BatchNorm1d",
        "torch.nn.InstanceNorm1d",
    ),
)


@exercise.spec
def spec(x, gain, bias, eps=1e-5):
    numbers, result = x.numpy().astype(float), np.zeros(tuple(x.shape))
    d_model = x.shape[-1]
    for index in np.ndindex(*x.shape[:-1]):
        row = numbers[index].tolist()
        mean = math.fsum(row) / d_model
        variance = math.fsum((number - mean) ** 2 for number in row) / d_model
        for c in range(d_model):
            stretched = (row[c] - mean) / math.sqrt(variance + eps)
            result[*index, c] = stretched * float(gain[c]) + float(bias[c])
    return torch.from_numpy(result).to(x.dtype)


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def drawn(rng, *shape, dtype=np.float32):
    """Draw a tensor."""
    return tensor(rng.normal(size=shape), dtype)


@exercise.usual
def usual(rng):
    return drawn(rng, 2, 5, 12) + 1, drawn(rng, 12), drawn(rng, 12)


@exercise.case("With eps = 15, two rows of two numbers give this")
def small_example_by_hand(student, rng):
    x = tensor([[1.0, 3.0], [-7.0, 7.0]])
    # Means 2 and 0, variances 1 and 49: the roots of 1 + 15 and 49 + 15 are 4 and 8.
    expected = tensor([[8 * -1 / 4, 16 * 1 / 4 + 5], [8 * -7 / 8, 16 * 7 / 8 + 5]])
    student.expect(student(x, tensor([8.0, 16.0]), tensor([0.0, 5.0]), 15.0), expected)


@exercise.case("Each token of each sequence is normed by itself, in any batch")
def leading_axes(student, rng):
    for shape in ((4,), (2, 4), (3, 5, 4), (2, 3, 5, 4)):
        student.agrees(drawn(rng, *shape) + 2, drawn(rng, 4), drawn(rng, 4))


@exercise.case(
    "Rows of three tiny numbers, where eps outweighs the variance, give this"
)
def tiny_numbers(student, rng):
    student.agrees(tensor(rng.normal(size=(5, 3)) / 1000), drawn(rng, 3), drawn(rng, 3))


@exercise.case("A row of equal numbers becomes the bias", pays_alone=False)
def equal_numbers(student, rng):
    x, bias = tensor([[5.0] * 4, [0.0] * 4, [-2.0] * 4]), tensor([1.0, 0.0, -3.0, 7.0])
    student.expect(student(x, drawn(rng, 4), bias), tensor([[1.0, 0.0, -3.0, 7.0]] * 3))
    bias = drawn(rng, 4)
    student.expect(student(x, drawn(rng, 4), bias), tensor([bias.tolist()] * 3))


@exercise.case("Numbers such as 1,000,001.1 and 1,000,002.1 in a row are told apart")
def large_and_close(student, rng):
    # In float64: in float32, PyTorch's own norm is off by 0.5 % here, because it goes
    # over the numbers once with a running mean.
    x = np.array([[1, 2, 4, 5], [6, 0, 1, 1], [0, 0, 0, 8]]) + 1_000_000.1
    gain, bias = tensor([1.0] * 4, np.float64), tensor([0.0] * 4, np.float64)
    student.agrees(tensor(x, np.float64), gain, bias)
    x = rng.integers(0, 9, size=(5, 4)) + 1_000_000.1
    student.agrees(tensor(x, np.float64), gain, bias)


@exercise.case(
    "What stands in the other rows changes nothing in a row",
    visible=False,
    pays_alone=False,
)
def other_rows(student, rng):
    x, gain, bias = drawn(rng, 3, 5, 4), drawn(rng, 4), drawn(rng, 4)
    before = student(x, gain, bias)
    changed = x.numpy() * 7 + 1
    changed[1, 2] = x[1, 2].numpy()
    after = student(tensor(changed), gain, bias)
    student.expect(after[1, 2], before[1, 2], what="the row that stayed the same")


@exercise.case("In float64, and in whatever order of memory, all digits are right")
def double_precision(student, rng):
    x = drawn(rng, 2, 4, 5, dtype=np.float64).transpose(-1, -2)
    numbers = drawn(rng, 2, 8, dtype=np.float64)[:, ::2]
    student.agrees(x, numbers[0], numbers[1])


@exercise.case("`x`, the gain and the bias stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, 3, 4) + 1, drawn(rng, 4), drawn(rng, 4))


def normed(x, gain, bias, eps, axis=-1, correction=0):
    """Norm along one axis or several, with one choice or another wrong."""
    centred = x - x.mean(dim=axis, keepdim=True)
    variance = x.var(dim=axis, keepdim=True, correction=correction)
    return centred / torch.sqrt(variance + eps) * gain + bias


@exercise.misconception(
    "Your variance is the sum of the squares divided by d_model − 1.",
    "By what does `var`, or `std`, of PyTorch divide unless told otherwise, and what "
    "does the docstring say?",
    why="torch.std and torch.var estimate a population's: "
    "harvardnlp/annotated-transformer, issue 122.",
)
def divided_by_one_less(x, gain, bias, eps=1e-5):
    return normed(x, gain, bias, eps, correction=1)


@exercise.misconception(
    "Your eps is added to the root of the variance.",
    "Is eps added before the root is drawn, or after?",
    why="'To avoid a division by zero' is true of both: codertimo/BERT-pytorch, "
    "issue 30.",
)
def eps_outside_the_root(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    deviation = (centred**2).mean(dim=-1, keepdim=True).sqrt()
    return centred / (deviation + eps) * gain + bias


@exercise.misconception(
    "Your mean and variance are those of a column: of one number over all tokens.",
    "Whose numbers make up one mean: those of one token, or those of one column?",
    why="That is batch normalisation, which came first; with (n, d_model) both work.",
)
def over_the_tokens(x, gain, bias, eps=1e-5):
    axis = -2 if x.ndim > 1 else -1
    return normed(x, gain, bias, eps, axis)


@exercise.misconception(
    "Your mean and variance are taken along the first axis: over the sequences of a "
    "batch, or over the tokens of a single sequence.",
    "Which axis of x holds the numbers of one token, whatever axes come before it?",
    why="dim=0 gives one mean per column of a table, as in data analysis; it is right "
    "for a single vector.",
)
def along_the_first_axis(x, gain, bias, eps=1e-5):
    return normed(x, gain, bias, eps, 0)


@exercise.misconception(
    "Your variance is divided by d_model − 1, and eps is added to its root.",
    "Which two steps of yours differ from the docstring's, with d_model = 3 and tiny "
    "numbers?",
    why="The Annotated Transformer's a_2 * (x - mean) / (std + eps) + b_2 has both: "
    "harvardnlp/annotated-transformer, pull request 119.",
)
def standard_deviation_plus_eps(x, gain, bias, eps=1e-5):
    deviation = x.std(dim=-1, keepdim=True)
    return (x - x.mean(dim=-1, keepdim=True)) / (deviation + eps) * gain + bias


@exercise.misconception(
    "Your result is that of eps = 0: a row of equal numbers is NaN.",
    "What is 0 divided by 0?",
    why="Equation 4 of the paper on layer norm has no eps.",
)
def eps_left_out(x, gain, bias, eps=1e-5):
    return normed(x, gain, bias, 0.0)


@exercise.misconception(
    "Your result is that of eps = 0.00001, whatever eps is given.",
    "Where is the argument `eps` used in your code?",
    why="The constant is written into the formula, and a library is called with its "
    "default.",
)
def eps_fixed(x, gain, bias, eps=1e-5):
    return normed(x, gain, bias, 1e-5)


@exercise.misconception(
    "Your mean and variance are taken over all tokens of a sequence together.",
    "Does a token's result depend on its neighbours, according to the docstring?",
    why="nn.LayerNorm(x.shape[1:]) is how images are normed.",
)
def over_the_sequence(x, gain, bias, eps=1e-5):
    return normed(x, gain, bias, eps, tuple(range(-min(2, x.ndim), 0)))


@exercise.misconception(
    "Your mean and variance are single numbers for all of x.",
    "How many means are there for a batch of 3 sequences of 5 tokens?",
    why="x.mean() and x.var() without an axis fit every shape.",
)
def over_everything(x, gain, bias, eps=1e-5):
    return normed(x, gain, bias, eps, tuple(range(x.ndim)))


@exercise.misconception(
    "Your variance is the mean of the squares minus the square of the mean: for large "
    "numbers, only rounding is left of it.",
    "How many digits of 1,000,002² are left in float32?",
    why="One pass over the numbers instead of two; the textbook formula is the same "
    "on paper.",
)
def one_pass(x, gain, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x * x).mean(dim=-1, keepdim=True) - mean * mean
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


@exercise.misconception(
    "Your rows are divided by the root of the mean of their squares, and keep their "
    "means.",
    "What is the mean of a row of yours before gain and bias?",
    why="That is RMSNorm, which many newer models use.",
)
def mean_not_taken_off(x, gain, bias, eps=1e-5):
    squares = (x**2).mean(dim=-1, keepdim=True)
    return x / torch.sqrt(squares + eps) * gain + bias


@exercise.misconception(
    "Your rows are divided by the variance itself.",
    "If all numbers of a row are doubled, what should happen to its result?",
    why="'Divide by the variance' is how it is often told.",
)
def root_forgotten(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / ((centred**2).mean(dim=-1, keepdim=True) + eps) * gain + bias


@exercise.misconception(
    "Your bias is multiplied by the gain as well.",
    "What should a row of equal numbers become?",
    why="gain * (x + bias) reads as 'scale and shift'.",
)
def bias_before_gain(x, gain, bias, eps=1e-5):
    plain = normed(x, torch.ones_like(gain), torch.zeros_like(bias), eps)
    return gain * (plain + bias)


@exercise.misconception(
    "Your rows have mean 0 and variance 1, and gain and bias play no part.",
    "Which arguments are not used in your code?",
    why="A new layer has a gain of ones and a bias of zeros: leaving them out changes "
    "nothing there.",
)
def gain_and_bias_left_out(x, gain, bias, eps=1e-5):
    return normed(x, torch.ones_like(gain), torch.zeros_like(bias), eps)


@exercise.misconception(
    "Your result is right, but the mean is taken off x in place and stays so.",
    "What does `x -= …` do to the tensor that the caller holds?",
    why="`x -= mean` looks like a new x, and saves a name.",
)
def centred_in_place(x, gain, bias, eps=1e-5):
    x -= x.mean(dim=-1, keepdim=True)
    return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps) * gain + bias
