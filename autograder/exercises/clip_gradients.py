"""Cases and misconceptions of ``clip_gradients``."""

import math

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.losses import clip_gradients

exercise = Exercise(
    clip_gradients,
    lesson="10_training",
    minutes=10,
    difficulty=2,
    returns=("gradients", "norm"),
    library=(
        "torch.nn.utils.clip_grad_norm_",
        "torch.nn.utils.clip_grad_norm",
        "torch.nn.utils.clip_grads_with_norm_",
        "torch.nn.utils.get_total_norm",
        "torch.nn.utils.clip_grad_value_",
    ),
)


@exercise.spec
def spec(gradients, max_norm):
    sum_of_squares = 0.0
    for gradient in gradients.values():
        if gradient is not None:
            for slope in gradient.reshape(-1).tolist():
                sum_of_squares += slope * slope
    norm = math.sqrt(sum_of_squares)
    if math.isinf(norm) or math.isnan(norm):
        raise ValueError("the norm is not finite")
    clipped = {}
    for name, gradient in gradients.items():
        clipped[name] = gradient
        if gradient is not None and norm > max_norm:
            slopes = [
                slope * max_norm / norm for slope in gradient.reshape(-1).tolist()
            ]
            flat = torch.tensor(slopes, dtype=gradient.dtype)
            clipped[name] = flat.reshape(gradient.shape)
    return clipped, norm


def drawn(rng, scale=1.0, dtype=torch.float64, **shapes):
    """Draw a gradient for each name; a shape of None is a parameter without one."""
    return {
        name: None
        if shape is None
        else torch.from_numpy(np.array(scale * rng.normal(size=shape))).to(dtype)
        for name, shape in shapes.items()
    }


# What a layer has: matrices and a bias.
LAYER = {"w_1": (4, 6), "b_1": (6,), "w_2": (6, 3)}


def of_norm(gradients, norm):
    """Scale all gradients by one factor, so that together they have this norm."""
    present = [each for each in gradients.values() if each is not None]
    factor = norm / torch.cat([each.reshape(-1) for each in present]).norm().item()
    return {
        name: None if each is None else factor * each
        for name, each in gradients.items()
    }


@exercise.usual
def usual(rng):
    return drawn(rng, 3.0, **LAYER, frozen=None), 0.75


@exercise.case(
    "The gradients 3 and 4 have the norm 5; clipped to 1 they are 0.6 and 0.8"
)
def small_example_by_hand(student, rng):
    gradients = {"w": torch.tensor([[3.0, 0.0]]), "b": torch.tensor([4.0])}
    clipped = {"w": torch.tensor([[0.6, 0.0]]), "b": torch.tensor([0.8])}
    student.expect(student(gradients, 1.0), (clipped, 5.0))
    student.agrees(drawn(rng, 9.0, w=(1, 2), b=(1,)), float(rng.uniform(0.5, 0.9)))


@exercise.case("All gradients are shortened by the same factor, whatever their shapes")
def one_factor_for_all(student, rng):
    student.agrees(drawn(rng, 3.0, **LAYER, frozen=None), 0.75)
    long = drawn(rng, 50.0, embedding=(7, 2), gain=())
    short = drawn(rng, 0.01, kernel=(2, 3, 5), bias=3)
    student.agrees(long | short, 2.5)


@exercise.case("What is not too long is not modified, and its norm is returned")
def short_gradients_stay(student, rng):
    student.agrees(of_norm(drawn(rng, **LAYER, frozen=None), 0.5), 2.0)
    student.agrees(of_norm(drawn(rng, w=(2, 3), b=3), 30.0), 40.0)


@exercise.case("Each gradient is short enough, but all together are too long")
def long_together(student, rng):
    parts = (of_norm(drawn(rng, **{name: (2, 3)}), 0.9) for name in "qkv")
    together = {name: each for part in parts for name, each in part.items()}
    student.agrees(together, float(rng.uniform(0.95, 1.5)))


@exercise.case("Each number is below max_norm, but all together are too long")
def small_numbers(student, rng):
    numbers = torch.from_numpy(rng.uniform(-0.9, 0.9, size=(40, 30)))
    student.agrees({"frozen": None, "w": numbers}, float(rng.uniform(1.0, 3.0)))


@exercise.case("A parameter without a gradient keeps None, and counts for nothing")
def parameter_without_a_gradient(student, rng):
    student.agrees(drawn(rng, 4.0, frozen=None, w=(2, 5), b=5), 0.5)
    student.agrees(of_norm(drawn(rng, w=(2, 5), last=None), 0.25), 1.0)


@exercise.fine_point("Without any gradient, or with zeros only, the norm is 0")
def nothing_to_clip(student, rng):
    student.agrees({"frozen": None}, 1.0)
    student.agrees({}, 0.5)
    student.agrees({"w": torch.zeros(2, 3), "b": None}, 1.0)


@exercise.fine_point("Very short gradients are clipped as exactly as long ones")
def tiny_norms(student, rng):
    gradients = of_norm(drawn(rng, **LAYER), 3e-6)
    clipped, _ = student(gradients, 1e-6)
    student.expect(
        {name: 1e6 * each for name, each in clipped.items()},
        {name: 1e6 / 3 * each for name, each in gradients.items()},
        what="the clipped gradients, times a million",
    )


@exercise.fine_point("In float16 too the norm is right, though squares overflow")
def half_precision(student, rng):
    numbers = rng.permutation([[300.0, -400.0], [0.0, 1200.0]])  # the norm is 1300
    gradients = {"w": torch.from_numpy(numbers).half(), "b": None}
    _, norm = student(gradients, float(rng.integers(9, 90)))
    student.expect(norm, 1300.0, what="the norm")


@exercise.case(
    "Whatever max_norm is, clipped gradients have that norm",
    visible=False,
    pays_alone=False,
)
def norm_afterwards(student, rng):
    for max_norm in (0.125, 4.0):
        gradients = of_norm(drawn(rng, **LAYER), float(rng.uniform(5.0, 9.0)))
        clipped, _ = student(gradients, max_norm)
        squares = sum((each**2).sum() for each in clipped.values())
        student.expect(float(squares) ** 0.5, max_norm, what="the norm afterwards")


@exercise.case("The gradients of the caller are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, 4.0, w=(3, 2), b=2, frozen=None), 0.5)


exercise.edits(
    """
each_by_its_own_norm:
  | factor * gradient -> min(1.0, max_norm / gradient.norm()) * gradient
  Each of your gradients is shortened by its own norm.
  ? Does the step still point where the gradient of all parameters points?
  # A loop over the parameters, with the norm inside, is the shortest program; Optax
    has it under a name of its own, clip_by_block_rms.
only_the_long_ones:
  | factor * gradient -> (factor if gradient.norm() > max_norm else 1.0) * gradient
  Of your gradients only those are shortened that are too long by themselves.
  ? Which parameters does the docstring leave out?
  # The comparison is made inside the loop, for each gradient.
compared_one_by_one:
  | if norm > max_norm -> if any((each.norm() > max_norm for each in present))
  Your gradients are shortened only if one of them is too long by itself.
  ? Which norm does the docstring compare with max_norm?
  # The comparison is made for each gradient, and the factor for all.
each_number_clamped: factor * gradient -> gradient.clamp(-max_norm, max_norm)
  Each number of your gradients is cut off at ±max_norm.
  ? Where does the vector (3, 4) point after that, if max_norm is 1?
  # That is clipping by value: clip_grad_value_, and Pascanu et al. cite a thesis that
    did it.
biases_left_as_they_are:
  | None if gradient is None -> gradient if gradient is None or gradient.ndim < 2
  Your gradients of fewer than two axes are not shortened.
  ? Does the docstring treat any gradient differently?
  # Weight decay leaves out biases and gains.
biases_not_counted: each is not None -> each is not None and each.ndim > 1
  Your norm leaves out gradients of fewer than two axes.
  ? Which gradients does the docstring leave out of the norm?
scaled_up_too: if norm > max_norm -> if norm > 0
  Your gradients always have the norm max_norm: short ones become longer.
  ? What should happen to a gradient that is short already?
  # max_norm / norm is applied without a comparison.
only_short_ones_scaled: if norm > max_norm -> if 0 < norm < max_norm
  Your gradients are scaled where they are short, and stay where they are long.
  ? Which of the two, norm or max_norm, must be greater for something to happen?
  # The comparison is turned round, or min became max.
never_shortened: factor = 1.0
  Your gradients are never scaled, however long.
  ? What becomes of the factor in your function?
  # The products are computed, and the old dictionary is returned.
root_left_out:  ** 0.5 ->
  Your norm is the sum of the squares, without the root.
  ? How long is the vector (3, 4)?
  # The squares are summed over all gradients, and the last step is missing.
sum_of_absolute_numbers:
  | norm = sum((float(each.double().abs().sum()) for each in present))
  Your norm is the sum of all absolute numbers.
  # It is a norm too, norm_type=1 in PyTorch.
largest_number_for_the_norm:
  | norm = max((float(each.abs().max()) for each in present), default=0.0)
  Your norm is the largest absolute number.
  # It is a norm too, norm_type=inf in PyTorch.
mean_of_the_squares:
  | norm = (
  :     sum((float((each.double() ** 2).sum()) for each in present))
  :     / max(1, sum((each.numel() for each in present)))
  : ) ** 0.5
  Your norm is the root of the mean of the squares.
  # .mean() is what losses are made with, and it makes sizes comparable.
norms_added: norm = sum((float(each.double().norm()) for each in present))
  Your norm is the sum of the single gradients' norms.
  ? How long is the way from (0, 0) to (3, 4), along the axes and straight?
  # total += gradient.norm() looks like what a total norm must be.
largest_of_the_norms:
  | norm = max((float(each.double().norm()) for each in present), default=0.0)
  Your norm is the largest of the single gradients' norms.
  ? How long are the gradients 3 and 4 together?
  # max_norm is read as the bound of the longest gradient.
mean_of_the_norms:
  | norm = sum((float(each.double().norm()) for each in present)) / max(1, len(present))
  Your norm is the mean of the single gradients' norms.
  # A mean over the parameters looks like a fair summary of them.
squares_in_half_precision:
  | (each.double() ** 2).sum() -> (each.half() ** 2).double().sum()
  Your norm has about three digits: its squares are numbers of float16.
  ? How many digits, and which largest number, has float16?
  # Models are trained in float16, and their gradients are squared as they come.
added_in_half_precision:
  | norm = float(sum(((each.half() ** 2).sum() for each in present))) ** 0.5
  Your norm has about three digits: squares are added up in float16.
shortened_to_length_1: max_norm / norm -> 1 / norm
  Your gradients that are too long get the norm 1, whatever max_norm is.
  ? Which norm should they have after that?
  # A vector divided by its norm is the usual normalisation.
times_max_norm: max_norm / norm -> max_norm
  Your gradients that are too long are multiplied by max_norm alone.
  ? Which norm have they after that?
  # The division by the norm is missing.
factor_upside_down: max_norm / norm -> norm / max_norm
  Your gradients that are too long become still longer: norm / max_norm is their
    factor.
  ? Is your factor above 1 or below it?
  # A fraction is written upside down.
root_of_the_factor: max_norm / norm -> (max_norm / norm) ** 0.5
  Your factor is the root of max_norm / norm.
  ? Which norm have the gradients after that?
  # The root is taken of the fraction, as the norms in it were still squared.
divided_by_the_square: max_norm / norm -> max_norm / norm ** 2
  Your gradients are divided by the square of the norm.
  ? Which norm have they after that?
  # The norm is used before its root is taken.
long_gradients_dropped: max_norm / norm -> 0.0
  Your gradients that are too long become 0.
  ? Should such a step go nowhere?
  # Some programs skip a step whose norm is too large.
squared_in_their_dtype:
  | each.double() ** 2 -> each ** 2
  | if not np.isfinite(norm):
  :     raise … ->
  Your squares have the dtype of the gradients: in float16 that of 300 is
    infinite.
  ? Which is the largest number of float16, and what is the square of 300?
  # (each ** 2).sum() is right in float32 for all but very large gradients.
a_little_added_to_the_norm: max_norm / norm -> max_norm / (norm + 1e-06)
  Your factor is max_norm / (norm + 1e-6).
  ? What does the docstring say about numbers added to the norm?
  # PyTorch's clip_grad_norm_ does so.
none_left_out:
  | clipped = {
  :     name: factor * gradient
  :     for name, gradient in gradients.items()
  :     if gradient is not None
  : }
  Your result lacks the parameters that have no gradient.
  ? Which names does the docstring promise?
  # Those without a gradient are filtered out for the norm, and stay out.
none_becomes_zero: None if gradient is None -> torch.zeros(()) if gradient is None
  Your result has a 0 where a parameter has no gradient.
  ? What does the docstring promise where there was None?
  # A gradient that is not there counts as one of 0 in the norm.
norm_after_clipping: return (clipped, factor * norm)
  Your second result is the norm after clipping.
  ? What would a plot of your norms show, if max_norm is 1?
  # The norm is computed once more, of what is returned.
factor_returned: return (clipped, factor)
  Your second result is the factor.
  ? What does the docstring promise besides the gradients?
  # The factor is the number that was computed last.
squared_norm_returned: return (clipped, norm ** 2)
  Your second result is the square of the norm.
  ? How long is the vector (3, 4)?
  # The sum of squares has a name, and its root is used in the comparison alone.
norm_as_a_tensor: return (clipped, torch.tensor(norm))
  Your norm is a tensor.
  ? Which type does the docstring promise for the norm?
  # What PyTorch computes is a tensor, and clip_grad_norm_ returns one.
list_without_names: return (list(clipped.values()), norm)
  Your gradients come in a list, without names.
  ? How does the caller find a gradient in your result, if not by its name?
  # PyTorch's clip_grad_norm_ takes a list: model.parameters().
first_gradient_only:
  | clipped = … ->
  :     clipped = {}
  :     for name, gradient in gradients.items():
  :         clipped[name] = None if gradient is None else factor * gradient
  :         break
  Your result has one gradient only, the first.
  ? How often does your loop run before it returns?
  # `return` is indented into the loop.
gradients_overwritten:
  | clipped = …
  : return (clipped, norm) ->
  :     for each in present:
  :         each *= factor
  :     return (gradients, norm)
  Your call changes the caller's gradients: they are the clipped ones.
  ? Which line of yours writes into a tensor or a dictionary that the caller holds?
  # clip_grad_norm_ does change them in place, as its underscore says.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("gradients"),
    families.as_numpy(),
)

exercise.threes_of(
    "a_little_added_to_the_norm",
    "gradients_overwritten",
    "none_left_out",
    "scaled_up_too",
    "norm_as_a_tensor",
    "squared_norm_returned",
)
