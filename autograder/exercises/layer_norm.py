"""Cases and misconceptions of ``layer_norm``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.functional import layer_norm

exercise = Exercise(
    layer_norm,
    lesson="09_transformer",
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


SHAPES = ((2, 5, 4), (4,), (4,))


def drawn(rng, *shape, dtype=np.float32):
    """Draw a tensor."""
    return tensor(rng.normal(size=shape), dtype)


@exercise.usual
def usual(rng):
    return drawn(rng, 2, 5, 12) + 1, drawn(rng, 12), drawn(rng, 12)


@exercise.case("With eps = 15, two rows of two numbers give this", weight=0.5)
def small_example_by_hand(student, rng):
    x = tensor([[1.0, 3.0], [-7.0, 7.0]])
    # Means 2 and 0, variances 1 and 49: the roots of 1 + 15 and 49 + 15 are 4 and 8.
    expected = tensor([[8 * -1 / 4, 16 * 1 / 4 + 5], [8 * -7 / 8, 16 * 7 / 8 + 5]])
    student.expect(student(x, tensor([8.0, 16.0]), tensor([0.0, 5.0]), 15.0), expected)
    student.agrees(drawn(rng, 2, 3), drawn(rng, 3), drawn(rng, 3), 15.0)


@exercise.case(
    "Each token of each sequence is normed by itself, in any batch", weight=4
)
def leading_axes(student, rng):
    for shape in ((4,), (1, 4), (2, 4), (3, 5, 4), (2, 3, 5, 4)):
        student.agrees(drawn(rng, *shape) + 2, drawn(rng, 4), drawn(rng, 4))


@exercise.case(
    "Rows of three tiny numbers, where eps outweighs the variance, give this",
    weight=0.5,
)
def tiny_numbers(student, rng):
    student.agrees(tensor(rng.normal(size=(5, 3)) / 1000), drawn(rng, 3), drawn(rng, 3))


@exercise.case("A row of equal numbers becomes the bias", weight=0.5, pays_alone=False)
def equal_numbers(student, rng):
    x, bias = tensor([[5.0] * 4, [0.0] * 4, [-2.0] * 4]), tensor([1.0, 0.0, -3.0, 7.0])
    student.expect(student(x, drawn(rng, 4), bias), tensor([[1.0, 0.0, -3.0, 7.0]] * 3))
    bias = drawn(rng, 4)
    student.expect(student(x, drawn(rng, 4), bias), tensor([bias.tolist()] * 3))


@exercise.fine_point("Numbers such as 10,000,001.1 and 10,000,002.1 are told apart")
def large_and_close(student, rng):
    # In float64: float32 does not tell them apart.
    x = np.array([[1, 2, 4, 5], [6, 0, 1, 1], [0, 0, 0, 8]]) + 10_000_000.1
    gain, bias = tensor([1.0] * 4, np.float64), tensor([0.0] * 4, np.float64)
    student.agrees(tensor(x, np.float64), gain, bias)
    x = rng.integers(0, 9, size=(5, 4)) + 10_000_000.1
    student.agrees(tensor(x, np.float64), gain, bias)


@exercise.case(
    "What stands in the other rows changes nothing in a row",
    weight=0.5,
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


@exercise.case("Numbers of float64 are answered, too")
def double_precision(student, rng):
    x, gain, bias = (drawn(rng, *shape, dtype=np.float64) for shape in SHAPES)
    student.agrees(x, gain, bias)


@exercise.case("`x`, the gain and the bias are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, 3, 4) + 1, drawn(rng, 4), drawn(rng, 4))


exercise.edits(
    """
divided_by_one_less:
  | (centred ** 2).mean(dim=-1, keepdim=True) -> x.var(dim=-1, keepdim=True)
  Your variance is a sum of squares divided by one less than there are numbers.
  ? By what does `var`, or `std`, of PyTorch divide unless told otherwise, and what
    does the docstring say?
  # torch.std and torch.var estimate a population's: harvardnlp/annotated-transformer,
    issue 122.
sum_of_squares:
  | (centred ** 2).mean(dim=-1, keepdim=True) ->
  :     (centred ** 2).sum(dim=-1, keepdim=True)
  Your variance is a sum of squares that is not divided by how many they are.
  ? Is the variance a sum, or a mean?
  # The length of a vector, torch.linalg.norm, is the root of a sum.
mean_distance:
  | (centred ** 2).mean(dim=-1, keepdim=True) ->
  :     centred.abs().mean(dim=-1, keepdim=True) ** 2
  Your rows are divided by the mean distance from the mean, not by the root of a
    variance.
  ? Which differences are averaged for a variance, as they are or squared?
  # 'How far the numbers lie from their mean, on average' reads like that.
one_pass:
  | variance = (x * x).mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True) ** 2
  Your variance is the mean of the squares minus the square of the mean: where that is
    far larger than the variance, rounding takes its digits.
  ? How many digits of 1,000,002² are left in float32?
  # One pass over the numbers instead of two; the textbook formula is the same on
    paper.
eps_outside_the_root: torch.sqrt(variance + eps) -> (torch.sqrt(variance) + eps)
  Your eps is added to the root of the variance.
  ? Is eps added before the root is drawn, or after?
  # 'To avoid a division by zero' is true of both: codertimo/BERT-pytorch, issue 30.
variance_at_least_eps: variance + eps -> variance.clamp(min=eps)
  Your eps has an effect only where the variance is smaller than eps.
  ? What does the docstring do with eps: add it, or take the larger of two?
  # clamp(min=eps) avoids a division by zero, too.
eps_left_out: variance + eps -> variance
  Your eps is nowhere in the numbers: a row of equal numbers is NaN.
  ? What is 0 divided by 0?
  # Equation 4 of the paper on layer norm has no eps.
eps_fixed: variance + eps -> variance + 1e-05
  Your eps is 0.00001, whatever eps is given.
  ? Where is the argument `eps` used in your code?
  # The constant is written into the formula, and a library is called with its
    default.
over_the_tokens: dim=-1 => dim=-2
  Your mean and variance are those of a column: of one number over all tokens.
  ? Whose numbers make up one mean: those of one token, or those of one column?
  # That is batch normalisation, which came first; with (n, d_model) both work.
along_the_first_axis: dim=-1 => dim=0
  Your mean and variance are taken along the first axis: over the sequences of a
    batch, or over the tokens of a single sequence.
  ? Which axis of x holds the numbers of one token, whatever axes come before it?
  # dim=0 gives one mean per column of a table, as in data analysis; it is right for a
    single vector.
along_axis_one: dim=-1 => dim=1
  Your mean and variance are taken along axis 1, which holds a token's vector only in
    a table.
  # dim=1 is right for one sequence of tokens.
over_the_sequence: dim=-1 => dim=(-2, -1)
  Your mean and variance are taken over all tokens of a sequence together.
  ? Does a token's result depend on its neighbours, according to the docstring?
  # nn.LayerNorm(x.shape[1:]) is how images are normed.
over_all_but_the_first_axis: dim=-1 => dim=tuple(range(min(1, x.ndim - 1), x.ndim))
  Your mean and variance are taken over all axes but the first.
  ? Which axis of x holds the numbers of one token, whatever axes come before it?
  # nn.LayerNorm(x.shape[1:]): the first axis is the batch, and the rest is taken
    together.
over_everything:
  | x.mean(dim=-1, keepdim=True) -> x.mean()
  | (centred ** 2).mean(dim=-1, keepdim=True) -> (centred ** 2).mean()
  Your mean and variance are single numbers for all of x.
  ? How many means are there for a batch of 3 sequences of 5 tokens?
  # x.mean() and x.var() without an axis fit every shape.
axis_not_kept: , keepdim=True => 
  Your means lose the axis over which they are taken: they meet rows that are not
    their own, or the shapes do not fit.
  ? Which shape has a mean over the last axis, and which should it have next to x?
  # keepdim=True is left out; for a single vector nothing is missing.
mean_not_taken_off: centred = x
  Your rows are divided by the root of the mean of their squares, and keep their
    means.
  ? What is the mean of a row of yours before gain and bias?
  # That is RMSNorm, which many newer models use.
mean_taken_off_above_only:
  | (centred ** 2).mean(dim=-1, keepdim=True) -> (x ** 2).mean(dim=-1, keepdim=True)
  Your rows are divided by the root of the mean of their squares, not of their squared
    differences from the mean.
  ? Which numbers are squared for a variance?
  # (x ** 2).mean() is written, with x as it came in.
mean_taken_off_below_only: return centred -> return x
  Your rows keep their means, although their variance is taken around those.
  ? What is the mean of a row of yours before gain and bias?
  # 'Divide by the standard deviation' is half of it.
root_forgotten: torch.sqrt(variance + eps) -> (variance + eps)
  Your rows are divided by the variance, not by its root.
  ? If all numbers of a row are doubled, what should happen to its result?
  # 'Divide by the variance' is how it is often told.
multiplied_by_the_root: centred / -> centred *
  Your rows are multiplied by the root of the variance.
  ? What is the variance of a row of yours before gain and bias?
  # sqrt and rsqrt are a letter apart.
bias_before_gain: return (centred / torch.sqrt(variance + eps) + bias) * gain
  Your bias is multiplied by the gain as well.
  ? What should a row of equal numbers become?
  # gain * (x + bias) reads as 'scale and shift'.
gain_and_bias_left_out:  * gain + bias ->
  Your gain and bias play no part.
  ? Which arguments are not used in your code?
  # A new layer has a gain of ones and a bias of zeros: leaving them out changes
    nothing there.
bias_left_out:  + bias ->
  Your bias plays no part.
  # RMSNorm has a gain alone, and a new layer's bias is 0.
gain_left_out:  * gain ->
  Your gain plays no part.
  # A new layer's gain is 1: leaving it out changes nothing there.
gain_and_bias_exchanged: gain + bias -> bias + gain
  Your gain is added, and your bias is what the rows are multiplied by.
  ? Which of the two stretches a row, and which moves it?
  # Both have one number for each column, and nothing complains.
gain_plus_one: * gain -> * (1 + gain)
  Your rows are multiplied by 1 + gain.
  ? What does a gain of 1 do to a row, according to the docstring?
  # Some models learn how far the gain is from 1, such as Gemma.
residual_added: return centred -> return x + centred
  Your result has x added to it.
  ? Whose task is it to add what went in: this function's, or that of the layer around
    it?
  # 'Add & norm' is one box in the picture of a layer.
centred_in_place:
  | centred = … ->
  :     x -= x.mean(dim=-1, keepdim=True)
  :     centred = x
  Your call takes the mean off x in place, and it stays so.
  ? Which line of yours writes into the tensor that the caller holds?
  # `x -= mean` looks like a new x, and saves a name.
written_into_x:
  | return centred … ->
  :     x.copy_(centred / torch.sqrt(variance + eps) * gain + bias)
  :     return x
  Your call overwrites x with its result.
  ? Which tensor does your code write to, and who else holds it?
  # A loop over the tokens puts each result back where it came from.
""",
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
