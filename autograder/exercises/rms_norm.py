"""Cases and misconceptions of ``rms_norm``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.modern_block import rms_norm

exercise = Exercise(
    rms_norm,
    lesson="12_language_model",
    minutes=6,
    difficulty=1,
    library=(
        "torch.nn.functional.rms_norm",
        "torch.nn.RMSNorm",
        "torch.rms_norm",
        "torch.nn.functional.layer_norm",
        "torch.nn.LayerNorm",
        "torch.layer_norm",
        "torch.native_layer_norm",
        "torch.nn.functional.normalize",
    ),
)


@exercise.spec
def spec(x, gain, eps=1e-6):
    numbers, result = x.numpy().astype(float), np.zeros(tuple(x.shape))
    d_model = x.shape[-1]
    for index in np.ndindex(*x.shape[:-1]):
        row = numbers[index].tolist()
        mean_square = math.fsum(number * number for number in row) / d_model
        for c in range(d_model):
            result[*index, c] = row[c] / math.sqrt(mean_square + eps) * float(gain[c])
    return torch.from_numpy(result).to(x.dtype)


def tensor(numbers, dtype=np.float32):
    """Make a tensor of numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


def drawn(rng, *shape, dtype=np.float32):
    """Draw a tensor."""
    return tensor(rng.normal(size=shape), dtype)


@exercise.usual
def usual(rng):
    return drawn(rng, 2, 5, 12) + 1, drawn(rng, 12)


@exercise.case("With eps = 24, two rows of two numbers give this")
def small_example_by_hand(student, rng):
    x, gain = tensor([[1.0, 7.0], [1.0, -1.0]]), tensor([35.0, 70.0])
    # Means of the squares 25 and 1: the roots of 25 + 24 and 1 + 24 are 7 and 5.
    student.expect(student(x, gain, 24.0), tensor([[5.0, 70.0], [7.0, -14.0]]))
    student.agrees(drawn(rng, 2, 3), drawn(rng, 3), 24.0)


@exercise.case("Each token of each sequence is normed by itself, in any batch")
def leading_axes(student, rng):
    for shape in ((4,), (1, 4), (2, 4), (3, 5, 4), (2, 3, 5, 4)):
        student.agrees(drawn(rng, *shape) + 2, drawn(rng, 4))


@exercise.case("With as many tokens as numbers in each, gain belongs to the numbers")
def as_many_tokens_as_numbers(student, rng):
    student.agrees(drawn(rng, 6, 6) + 1, drawn(rng, 6))
    student.agrees(drawn(rng, 4, 4, 4) + 1, drawn(rng, 4))


@exercise.case("Rows of tiny numbers, where eps outweighs their squares, give this")
def tiny_numbers(student, rng):
    student.agrees(tensor(rng.normal(size=(5, 3)) / 3000), drawn(rng, 3))


@exercise.case("A row of zeros stays one, since eps is above 0", pays_alone=False)
def row_of_zeros(student, rng):
    zeros = tensor([[0.0] * 4])
    student.expect(student(zeros, drawn(rng, 4)), zeros)


@exercise.case("Numbers around 500, or around −200, keep their mean and their sign")
def far_from_zero(student, rng):
    deviations = drawn(rng, 1, 2, 4) * 50
    student.agrees(deviations + tensor([[500.0], [-200.0]]), drawn(rng, 4))


@exercise.case("Numbers of float64 are answered, too")
def double_precision(student, rng):
    x = drawn(rng, 2, 5, 4, dtype=np.float64)
    student.agrees(x + 1, drawn(rng, 4, dtype=np.float64))


@exercise.case(
    "A row that is multiplied by 1,000 has the same result",
    visible=False,
    pays_alone=False,
)
def length_of_a_row(student, rng):
    x, gain = drawn(rng, 2, 3, 5, dtype=np.float64), drawn(rng, 5, dtype=np.float64)
    factors = tensor([[1000.0], [1.0], [1000.0]], np.float64)
    before = student(x, gain, 0.0)
    student.expect(student(x * factors, gain, 0.0), before, what="the longer rows")


@exercise.case("`x` and the gain are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, 3, 4) + 1, drawn(rng, 4))


exercise.edits(
    """
mean_subtracted: x = x - x.mean(dim=-1, keepdim=True)
  Your rows lose their means: those are the numbers of a layer norm.
  ? Does the docstring take anything off the numbers before it divides them?
  # LayerNorm, of lesson 09, is what one knows; RMSNorm lacks its first step.
divided_by_the_deviation:
  | (x ** 2).mean(dim=-1, keepdim=True) -> x.var(dim=-1, keepdim=True, correction=0)
  Your rows keep their means, and are divided by the root of the variance.
  ? What is squared before the mean is taken: the numbers, or their differences from
    something?
  # x.var() and x.std() subtract the mean by themselves.
mean_subtracted_above_only: return x / -> return (x - x.mean(dim=-1, keepdim=True)) /
  Your rows lose their means before they are divided, although the squares are those
    of x.
  ? Does the docstring take anything off the numbers before it divides them?
  # Half of LayerNorm is left when the variance alone is replaced.
sum_of_squares: mean( -> sum(
  Your rows are divided by the root of a sum of squares, not of a mean.
  ? If a row has twice as many numbers of the same size, should each become smaller?
  # The length of a vector, torch.linalg.norm, is the root of a sum.
divided_by_one_less:
  | mean_square = (x ** 2).sum(dim=-1, keepdim=True) / (x.shape[-1] - 1)
  Your mean of the squares is their sum divided by one less than there are numbers.
  ? By what is a mean divided?
  # torch.var does so, since it estimates the variance of a population.
count_outside_the_root: mean_square = (x.norm(dim=-1, keepdim=True) / x.shape[-1]) ** 2
  Your rows are divided by the root of the sum of the squares, over d_model: the count
    is not under the root.
  ? In which order are the three letters of RMS applied to the numbers?
  # x.norm() / d_model is read as a root mean square; it lacks √d_model.
mean_of_sizes: mean_square = x.abs().mean(dim=-1, keepdim=True) ** 2
  Your rows are divided by the mean size of their numbers, not by the root of a mean
    of squares.
  ? Is the root of a mean of squares the mean of what is squared?
  # The root and the square seem to cancel each other.
mean_before_the_square: mean_square = x.mean(dim=-1, keepdim=True) ** 2
  Your mean is squared, not averaged squares: a row whose mean is near 0 explodes.
  ? In which order are the three letters of RMS applied to the numbers?
  # RMS is read from left to right; x.mean() ** 2 is written for (x ** 2).mean().
eps_outside_the_root: torch.sqrt(mean_square + eps) -> (torch.sqrt(mean_square) + eps)
  Your eps is added to what divides the rows, not to the mean of the squares.
  ? Is eps added before the root is drawn, or after?
  # 'To avoid a division by zero' is true of both; the paper's own code,
    bzhangGo/rmsnorm, adds it to the root.
mean_square_at_least_eps: mean_square + eps -> mean_square.clamp(min=eps)
  Your eps has an effect only where the mean of the squares is smaller than eps.
  ? What does the docstring do with eps: add it, or take the larger of two?
  # clamp(min=eps) avoids a division by zero, too.
root_at_least_eps:
  | torch.sqrt(mean_square + eps) -> torch.sqrt(mean_square).clamp(min=eps)
  Your divisor is the root alone, and eps where the root is smaller than that.
  ? What does the docstring do with eps, and before the root is drawn or after?
  # clamp(min=eps) on the norm, as in torch.nn.functional.normalize, and in the
    RMSNorm of x-transformers at first.
eps_left_out: mean_square + eps -> mean_square
  Your eps is nowhere in the numbers: a row of zeros is NaN.
  ? What is 0 divided by 0?
  # Equation 4 of the paper on RMSNorm has no eps.
eps_fixed: mean_square + eps -> mean_square + 1e-06
  Your eps is 0.000001, whatever eps is given.
  ? Where is the argument `eps` used in your code?
  # The constant is written into the formula, and a library is called with its
    default.
eps_of_layer_norm: mean_square + eps -> mean_square + 1e-05
  Your eps is 0.00001, whatever eps is given.
  # That is LayerNorm's in PyTorch, and that of Llama 2's RMSNorm.
over_the_tokens: dim=-1 -> dim=-2
  Your mean of the squares is that of a column: of one number over all tokens.
  ? Whose numbers make up one mean: those of one token, or those of one column?
  # That is what batch normalisation does; with (n, d_model) both work.
along_the_first_axis: dim=-1 -> dim=0
  Your mean of the squares is taken along the first axis: over the sequences of a
    batch, or over the tokens of a single sequence.
  ? Which axis of x holds the numbers of one token, whatever axes come before it?
  # dim=0 is the first number that one tries; it is right for a single vector.
along_axis_one: dim=-1 -> dim=1
  Your mean of the squares is taken along axis 1, which holds a token's vector only in
    a matrix.
  # dim=1 is right for one sequence of tokens.
over_the_sequence: dim=-1 -> dim=(-2, -1)
  Your mean of the squares is taken over all tokens of a sequence together.
  ? Does a token's result depend on its neighbours, according to the docstring?
  # nn.RMSNorm(x.shape[1:]) is accepted by PyTorch, and does so.
over_all_but_the_first_axis: dim=-1 -> dim=tuple(range(1, x.ndim))
  Your mean of the squares is taken over all axes but the first.
  ? Which axis of x holds the numbers of one token, whatever axes come before it?
  # The first axis is the batch, and what is not the batch is taken together.
over_everything: .mean(dim=-1, keepdim=True) -> .mean()
  Your mean of the squares is a single number for all of x.
  ? How many means are there for a batch of 3 sequences of 5 tokens?
  # x.pow(2).mean() without an axis fits every shape.
axis_not_kept: , keepdim=True ->
  Your means lose the axis over which they are taken: they meet rows that are not
    their own, or the shapes do not fit.
  ? Which shape has a mean over the last axis, and which should it have next to x?
  # keepdim=True is left out; for a single vector nothing is missing.
root_forgotten: torch.sqrt(mean_square + eps) -> (mean_square + eps)
  Your rows are divided by the mean of their squares, not by its root.
  ? If all numbers of a row are doubled, what should happen to its result?
  # The square is written first, and the way back is forgotten.
multiplied_by_the_root: return x / -> return x *
  Your rows are multiplied by the root of the mean of their squares.
  ? Should a row of large numbers become larger, or smaller?
  # sqrt and rsqrt are a letter apart.
gain_left_out: eps) * gain -> eps)
  Your gain plays no part.
  ? Which arguments are not used in your code?
  # A new layer's gain is 1: leaving it out changes nothing there.
gain_added: * gain -> + gain
  Your gain is added to the rows, as a bias would be.
  ? What does the docstring do with the gain?
  # LayerNorm has a bias as well, which RMSNorm has not.
gain_plus_one: * gain -> * (1 + gain)
  Your rows are multiplied by 1 + gain.
  ? What does a gain of 1 do to a row, according to the docstring?
  # Some models learn how far the gain is from 1, such as Gemma.
divided_by_the_gain: * gain -> / gain
  Your rows are divided by the gain.
  ? What should a gain of 10 do to a number?
  # Everything below one fraction bar is read as one divisor.
gain_in_the_mean:
  | x = x * gain
  | eps) * gain -> eps)
  Your gain is in the mean of the squares, too: a gain of 2 for all changes little.
  ? Which numbers are squared: those of x, or those that the gain has scaled?
  # `x = x * gain` stands in the first line, and its squares are taken below.
gain_of_the_tokens: * gain -> * gain.unsqueeze(-1)
  Your gain has one axis more: it scales whole tokens, or does not fit.
  ? Does a number of the gain belong to a token, or to a column?
  # unsqueeze(-1) is taken over from the mean, which does belong to a token.
residual_added: return x / -> return x + x /
  Your result has x added to it.
  ? Whose task is it to add what went in: this function's, or that of the block around
    it?
  # 'Add & norm' is one box in the picture of a layer.
written_into_x:
  | return x … ->
  :     x /= torch.sqrt(mean_square + eps)
  :     x *= gain
  :     return x
  Your call overwrites x with its result.
  ? Which tensor does your code write to, and who else holds it?
  # x.mul_(…) and x /= … save memory, and change the residual stream.
mean_of_roots:
  | mean_square = … -> mean_root = torch.sqrt(x ** 2 + eps).mean(dim=-1, keepdim=True)
  | torch.sqrt(mean_square + eps) -> mean_root
  Your root is drawn before the mean is taken: the rows are divided by the mean size
    of their numbers.
  ? In which order are the three letters of RMS applied to the numbers?
  # RMS is read from left to right.
""",
)

exercise.family(
    families.squeezed(),
    families.as_numpy(),
    families.as_list("a tensor"),
    families.rows_in_one_axis(),
)
