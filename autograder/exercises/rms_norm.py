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


AXES = {  # of the mean, for x with so many axes
    "numbers": lambda ndim: (-1,),
    "tokens": lambda ndim: (-2,) if ndim > 1 else (-1,),
    "first": lambda ndim: (0,),
    "axis 1": lambda ndim: (1,),
    "all but the first": lambda ndim: tuple(range(1, ndim)) or (0,),
    "sequence": lambda ndim: tuple(range(-min(2, ndim), 0)),
    "all": lambda ndim: tuple(range(ndim)),
}


@exercise.variants
def variants(
    x,
    gain,
    eps=1e-6,
    *,
    over="numbers",
    axes_kept=True,
    centred="nowhere",
    averaged="mean of squares",
    eps_is="given",
    eps_is_added="under the root",
    root="of the mean",
    learned="gain",
    written="nowhere",
):
    axes = AXES[over](x.ndim)
    eps = {"given": eps, "0.000001": 1e-6, "0.00001": 1e-5, "none": 0.0}[eps_is]

    def mean(numbers):
        return numbers.mean(dim=axes, keepdim=axes_kept)

    differences = x - mean(x) if centred != "nowhere" else x
    below_from = differences if centred in ("in both", "below") else x
    if learned == "gain first":
        below_from = below_from * gain
    squares = below_from**2
    if averaged == "sizes":
        mean_square = mean(below_from.abs()) ** 2
    elif averaged == "mean, squared":
        mean_square = mean(below_from) ** 2
    else:
        mean_square = mean(squares)
        count = squares.numel() // mean_square.numel()
        factor = {"sum": count, "one less": count / max(count - 1, 1)}
        factor["root, then count"] = 1 / count
        mean_square = mean_square * factor.get(averaged, 1.0)
    if eps_is_added == "to the root":
        below = mean_square.sqrt() + eps
    elif eps_is_added == "root at least":
        below = mean_square.sqrt().clamp(min=eps)
    elif eps_is_added == "at least":
        below = mean_square.clamp(min=eps).sqrt()
    else:
        below = torch.sqrt(mean_square + eps)
    if averaged == "roots":
        below = mean(torch.sqrt(squares + eps))
    if root == "none":
        below = below**2
    above = differences if centred in ("in both", "above") else x
    normed = above * below if root == "multiplied" else above / below
    if learned == "of the tokens":
        gain = gain.unsqueeze(-1)
    result = {
        "none": lambda: normed * torch.ones_like(gain),
        "added": lambda: normed + gain,
        "1 + gain": lambda: normed * (1 + gain),
        "divided": lambda: normed / gain,
        "gain first": lambda: normed * gain,
        "x added": lambda: x + normed * gain,
    }.get(learned, lambda: normed * gain)()
    return x.copy_(result) if written == "into x" else result


exercise.option(
    "mean_subtracted",
    "Your rows lose their means: those are the numbers of a layer norm.",
    "Does the docstring take anything off the numbers before it divides them?",
    why="LayerNorm, of lesson 09, is what one knows; RMSNorm lacks its first step.",
    centred="in both",
)
exercise.option(
    "divided_by_the_deviation",
    "Your rows keep their means, and are divided by the root of the variance.",
    "What is squared before the mean is taken: the numbers, or their differences from "
    "something?",
    why="x.var() and x.std() subtract the mean by themselves.",
    centred="below",
)
exercise.option(
    "mean_subtracted_above_only",
    "Your rows lose their means before they are divided, although the squares are "
    "those of x.",
    "Does the docstring take anything off the numbers before it divides them?",
    why="Half of LayerNorm is left when the variance alone is replaced.",
    centred="above",
)
exercise.option(
    "sum_of_squares",
    "Your rows are divided by the root of a sum of squares, not of a mean.",
    "If a row has twice as many numbers of the same size, should each become smaller?",
    why="The length of a vector, torch.linalg.norm, is the root of a sum.",
    averaged="sum",
)
exercise.option(
    "divided_by_one_less",
    "Your mean of the squares is their sum divided by one less than there are numbers.",
    "By what is a mean divided?",
    why="torch.var does so, since it estimates the variance of a population.",
    averaged="one less",
)
exercise.option(
    "count_outside_the_root",
    "Your rows are divided by the root of the sum of the squares, over d_model: the "
    "count is not under the root.",
    "In which order are the three letters of RMS applied to the numbers?",
    why="x.norm() / d_model is read as a root mean square; it lacks √d_model.",
    averaged="root, then count",
)
exercise.option(
    "mean_of_sizes",
    "Your rows are divided by the mean size of their numbers, not by the root of a "
    "mean of squares.",
    "Is the root of a mean of squares the mean of what is squared?",
    why="The root and the square seem to cancel each other.",
    averaged="sizes",
)
exercise.option(
    "mean_before_the_square",
    "Your mean is squared, not averaged squares: a row whose mean is near 0 explodes.",
    "In which order are the three letters of RMS applied to the numbers?",
    why="RMS is read from left to right; x.mean() ** 2 is written for (x ** 2).mean().",
    averaged="mean, squared",
)
exercise.option(
    "eps_outside_the_root",
    "Your eps is added to the root of the mean of the squares.",
    "Is eps added before the root is drawn, or after?",
    why="'To avoid a division by zero' is true of both; the paper's own code, "
    "bzhangGo/rmsnorm, adds it to the root.",
    eps_is_added="to the root",
)
exercise.option(
    "mean_square_at_least_eps",
    "Your eps has an effect only where the mean of the squares is smaller than eps.",
    "What does the docstring do with eps: add it, or take the larger of two?",
    why="clamp(min=eps) avoids a division by zero, too.",
    eps_is_added="at least",
)
exercise.option(
    "root_at_least_eps",
    "Your divisor is the root alone, and eps where the root is smaller than that.",
    "What does the docstring do with eps, and before the root is drawn or after?",
    why="clamp(min=eps) on the norm, as in torch.nn.functional.normalize, and in the "
    "RMSNorm of x-transformers at first.",
    eps_is_added="root at least",
)
exercise.option(
    "eps_left_out",
    "Your eps is nowhere in the numbers: a row of zeros is NaN.",
    "What is 0 divided by 0?",
    why="Equation 4 of the paper on RMSNorm has no eps.",
    eps_is="none",
)
exercise.option(
    "eps_fixed",
    "Your eps is 0.000001, whatever eps is given.",
    "Where is the argument `eps` used in your code?",
    why="The constant is written into the formula, and a library is called with its "
    "default.",
    eps_is="0.000001",
)
exercise.option(
    "eps_of_layer_norm",
    "Your eps is 0.00001, whatever eps is given.",
    "Where is the argument `eps` used in your code?",
    why="That is LayerNorm's in PyTorch, and that of Llama 2's RMSNorm.",
    eps_is="0.00001",
)
exercise.option(
    "over_the_tokens",
    "Your mean of the squares is that of a column: of one number over all tokens.",
    "Whose numbers make up one mean: those of one token, or those of one column?",
    why="That is what batch normalisation does; with (n, d_model) both work.",
    over="tokens",
)
exercise.option(
    "along_the_first_axis",
    "Your mean of the squares is taken along the first axis: over the sequences of a "
    "batch, or over the tokens of a single sequence.",
    "Which axis of x holds the numbers of one token, whatever axes come before it?",
    why="dim=0 is the first number that one tries; it is right for a single vector.",
    over="first",
)
exercise.option(
    "along_axis_one",
    "Your mean of the squares is taken along axis 1, which holds a token's vector only "
    "in a matrix.",
    "Which axis of x holds the numbers of one token, whatever axes come before it?",
    why="dim=1 is right for one sequence of tokens.",
    over="axis 1",
)
exercise.option(
    "over_the_sequence",
    "Your mean of the squares is taken over all tokens of a sequence together.",
    "Does a token's result depend on its neighbours, according to the docstring?",
    why="nn.RMSNorm(x.shape[1:]) is accepted by PyTorch, and does so.",
    over="sequence",
)
exercise.option(
    "over_all_but_the_first_axis",
    "Your mean of the squares is taken over all axes but the first.",
    "Which axis of x holds the numbers of one token, whatever axes come before it?",
    why="The first axis is the batch, and what is not the batch is taken together.",
    over="all but the first",
)
exercise.option(
    "over_everything",
    "Your mean of the squares is a single number for all of x.",
    "How many means are there for a batch of 3 sequences of 5 tokens?",
    why="x.pow(2).mean() without an axis fits every shape.",
    over="all",
)
exercise.option(
    "axis_not_kept",
    "Your means lose the axis over which they are taken: they meet rows that are not "
    "their own, or the shapes do not fit.",
    "Which shape has a mean over the last axis, and which should it have next to x?",
    why="keepdim=True is left out; for a single vector nothing is missing.",
    axes_kept=False,
)
exercise.option(
    "root_forgotten",
    "Your rows are divided by the mean of their squares, not by its root.",
    "If all numbers of a row are doubled, what should happen to its result?",
    why="The square is written first, and the way back is forgotten.",
    root="none",
)
exercise.option(
    "multiplied_by_the_root",
    "Your rows are multiplied by the root of the mean of their squares.",
    "Should a row of large numbers become larger, or smaller?",
    why="sqrt and rsqrt are a letter apart.",
    root="multiplied",
)
exercise.option(
    "gain_left_out",
    "Your gain plays no part.",
    "Which arguments are not used in your code?",
    why="A new layer's gain is 1: leaving it out changes nothing there.",
    learned="none",
)
exercise.option(
    "gain_added",
    "Your gain is added to the rows, as a bias would be.",
    "What does the docstring do with the gain?",
    why="LayerNorm has a bias as well, which RMSNorm has not.",
    learned="added",
)
exercise.option(
    "gain_plus_one",
    "Your rows are multiplied by 1 + gain.",
    "What does a gain of 1 do to a row, according to the docstring?",
    why="Some models learn how far the gain is from 1, such as Gemma.",
    learned="1 + gain",
)
exercise.option(
    "divided_by_the_gain",
    "Your rows are divided by the gain.",
    "What should a gain of 10 do to a number?",
    why="Everything below one fraction bar is read as one divisor.",
    learned="divided",
)
exercise.option(
    "gain_in_the_mean",
    "Your gain is in the mean of the squares, too: a gain of 2 for all changes little.",
    "Which numbers are squared: those of x, or those that the gain has scaled?",
    why="`x = x * gain` stands in the first line, and its squares are taken below.",
    learned="gain first",
)
exercise.option(
    "gain_of_the_tokens",
    "Your gain has one axis more: it scales whole tokens, or does not fit.",
    "Does a number of the gain belong to a token, or to a column?",
    why="unsqueeze(-1) is taken over from the mean, which does belong to a token.",
    learned="of the tokens",
)
exercise.option(
    "residual_added",
    "Your result has x added to it.",
    "Whose task is it to add what went in: this function's, or that of the block "
    "around it?",
    why="'Add & norm' is one box in the picture of a layer.",
    learned="x added",
)
exercise.option(
    "written_into_x",
    "Your call overwrites x with its result.",
    "Which tensor does your code write to, and who else holds it?",
    why="x.mul_(…) and x /= … save memory, and change the residual stream.",
    written="into x",
)
exercise.option(
    "mean_of_roots",
    "Your root is drawn before the mean is taken: the rows are divided by the mean "
    "size of their numbers.",
    "In which order are the three letters of RMS applied to the numbers?",
    why="RMS is read from left to right.",
    averaged="roots",
)
exercise.family(
    families.squeezed(),
    families.as_numpy(),
    families.as_list("a tensor"),
    families.rows_in_one_axis(),
)
