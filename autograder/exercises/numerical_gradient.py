"""Cases and misconceptions of ``numerical_gradient``."""

import numpy as np
import torch

from autograder import Exercise
from autograder.checking import families
from course_lib.nn.training_loop import numerical_gradient

exercise = Exercise(
    numerical_gradient,
    lesson="07_from_numpy_to_pytorch",
    minutes=8,
    difficulty=1,
    library=(
        "torch.gradient",
        "torch.autograd.grad",
        "torch.autograd.functional.jacobian",
        "torch.func.grad",
        "course_lib.lessons.finite_differences.numerical_gradients",
    ),
)


@exercise.spec
def spec(f, x, step):
    numbers = [float(number) for number in x.flatten()]

    def f_with(index, number):
        changed = [*numbers[:index], number, *numbers[index + 1 :]]
        return float(f(torch.tensor(changed, dtype=torch.float64).reshape(x.shape)))

    gradient = []
    for index, number in enumerate(numbers):
        above, below = f_with(index, number + step), f_with(index, number - step)
        gradient.append((above - below) / (2 * step))
    return torch.tensor(gradient, dtype=torch.float64).reshape(x.shape)


# Functions of a tensor of any shape. None of them changes its argument. Steps are not
# tiny, so that rounding leaves nine digits of each difference.


def sum_of_cubes(x):
    """Return a function's value whose differences are its derivative plus step²."""
    return float((x**3).sum())


def up_and_down(x):
    """Return 1, −2, 3, −4, … for each number of a vector."""
    numbers = torch.arange(1, len(x) + 1, dtype=x.dtype)
    return numbers * (2 * (numbers % 2) - 1)


def waves(x):
    """Return a sum in which each number counts by its position and by all others."""
    flat = x.flatten()
    return float((flat.sin() * up_and_down(flat)).sum() + 0.3 * flat.exp().prod())


def largest_logit(x):
    """Return log Σ exp(x)."""
    return float(x.logsumexp(dim=None if not x.ndim else tuple(range(x.ndim))))


def kink(x):
    """Return a sum whose differences to the two sides of 0 are not alike."""
    return float((torch.relu(x) * up_and_down(x)).sum())


def product_of_each_row(x):
    """Return a sum to which each row gives the product of its numbers."""
    return float(x.prod(dim=-1).sum())


def roots(x):
    """Return what falls with each number, the faster the larger the others are."""
    return -float(x.sqrt().sum() ** 2)


def drawn(rng, *shape):
    return torch.from_numpy(np.array(rng.normal(size=shape)))


@exercise.usual
def usual(rng):
    return waves, drawn(rng, 2, 3), 0.01


@exercise.case("With a step of 0.5, x³ has the slopes 3.25 at 1 and 12.25 at 2")
def small_example_by_hand(student, rng):
    # (1.5³ − 0.5³) / 1 = 3.25 and (2.5³ − 1.5³) / 1 = 12.25
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    student.expect(student(sum_of_cubes, x, 0.5), torch.tensor([3.25, 12.25]).double())
    student.agrees(sum_of_cubes, drawn(rng, 3), 0.5)


@exercise.case("The gradient is right where each slope depends on all numbers")
def one_number_at_a_time(student, rng):
    student.agrees(waves, drawn(rng, 5), 0.25)
    student.agrees(largest_logit, drawn(rng, 4), 0.5)


@exercise.case("Both sides of a kink count")
def both_sides(student, rng):
    x = torch.zeros(3, dtype=torch.float64)
    expected = torch.tensor([0.5, -1.0, 1.5], dtype=torch.float64)
    student.expect(student(kink, x, 0.125), expected)
    student.agrees(kink, 0.2 * drawn(rng, 4), 0.25)


@exercise.case("The gradient of a matrix is right, in the matrix's shape")
def any_shape(student, rng):
    student.agrees(waves, drawn(rng, 2, 3), 0.1)
    student.agrees(waves, drawn(rng, 3, 1, 2), 0.1)
    student.agrees(waves, drawn(rng, 1, 4), 0.1)


@exercise.case("The gradient of a function that reads the rows of x is right")
def f_reads_rows(student, rng):
    student.agrees(product_of_each_row, drawn(rng, 2, 3), 0.25)
    student.agrees(product_of_each_row, drawn(rng, 3, 1, 2), 0.25)


@exercise.case("The gradient is right with steps of 1, 0.3 and 0.001")
def any_step(student, rng):
    x = drawn(rng, 2, 3)
    for step in (1.0, 0.3, 0.001):
        student.agrees(waves, x, step)


@exercise.case("For float32 numbers above 1000 a tiny step gives the right gradient")
def small_step_in_float32(student, rng):
    x = torch.tensor([1000.0, 4000.0])
    student.agrees(roots, x, 1e-5)
    student.agrees(roots, 2000 + 100 * drawn(rng, 2, 3).float(), 1e-5)


@exercise.case("The argument x is not modified")
def argument_stays(student, rng):
    student.leaves_unchanged(sum_of_cubes, drawn(rng, 2, 2), 0.3)
    student.leaves_unchanged(waves, drawn(rng, 3, 2), 0.3)


@exercise.case(
    "A single number, a tensor without axes, has a gradient too", visible=False
)
def no_axes(student, rng):
    student.agrees(sum_of_cubes, drawn(rng), 0.2)


exercise.edits(
    """
one_sided_above:
  | (f(x + shift) - f(x - shift)) / (2 * step) -> (f(x + shift) - f(x)) / step
  Your differences are one-sided: f with a number moved up, minus f of x itself.
  ? On how many sides of a number does a central difference measure?
  # (f(x + h) − f(x)) / h is the definition of the derivative in every textbook.
one_sided_below:
  | (f(x + shift) - f(x - shift)) / (2 * step) -> (f(x) - f(x - shift)) / step
  Your differences are one-sided: f of x itself, minus f with a number moved down.
  # The backward difference of numerical analysis.
five_points:
  | gradient[index] = … ->
  :     near = f(x + shift) - f(x - shift)
  :     far = f(x + 2 * shift) - f(x - 2 * shift)
  :     gradient[index] = (8 * near - far) / (12 * step)
  Your differences take five points, which is more exact than what is asked for.
  ? How often does the docstring call f for each number of x?
  # A formula of higher order from numerical analysis is known to be better.
sides_exchanged: f(x + shift) - f(x - shift) -> f(x - shift) - f(x + shift)
  Your gradient has all signs turned round.
  ? If f grows with a number, which of the two sides has the larger value?
  # The subtraction is written in the order in which the two were computed.
sign_lost: (f(x + shift) - f(x - shift)) -> abs(f(x + shift) - f(x - shift))
  Your gradient has no signs: each number is an absolute value.
  ? What should come out where f falls as a number grows?
  # abs() is taken to measure a distance.
second_differences:
  | f(x + shift) - f(x - shift) -> f(x + shift) - 2 * f(x) + f(x - shift)
  Your numbers are second differences: above plus below, minus twice the middle.
  ? Does the docstring's formula have a part for f of x itself?
  # Central differences are remembered for the second derivative.
divided_by_one_step: / (2 * step) -> / step
  Your gradient is twice what it should be: it is divided by one step.
  ? How far apart are the two points that f is measured at?
  # The one-sided formula is changed to two sides, and its divisor stays.
divided_by_half_a_step: / (2 * step) -> / (step / 2)
  Your gradient is four times what it should be: divided by half a step.
  # The step is halved for each side in the divisor only.
multiplied_by_the_step: / (2 * step) -> / 2 * step
  Your differences are divided by 2 and multiplied by the step.
  ? In which order does Python compute a / 2 * step?
  # The brackets around 2 * step are lost.
divided_by_the_square: / (2 * step) -> / step ** 2
  Your differences are divided by the square of the step.
  ? How far apart are the two points that f is measured at?
  # The divisor of second derivatives.
divided_by_four_steps: / (2 * step) -> / (4 * step)
  Your gradient is half of what it should be: divided by four steps.
  # The factor 2 is put in twice.
not_divided:  / (2 * step) ->
  Your numbers are differences of f, not divided by anything.
  ? Should a smaller step make the gradient smaller?
  # The difference is what one prints while trying out.
all_moved_together: shift[index] = step -> shift[:] = step
  Your code moves all numbers of x at once: each entry is the slope along them all.
  ? What does x + step do to the numbers that are not asked about?
  # NumPy and PyTorch add a number to every entry, and the formula says x + h.
row_moved_together:
  | shift[index] = step
  : shift = … ->
  :     shift = shift.reshape(x.shape)
  :     shift[index // x[0].numel()] = step
  Your code moves all numbers of a row at once.
  ? What does x[i] stand for where x has two axes?
  # A loop over len(x) moves x[i], which is a whole row of a matrix.
not_moved_back_from_below:
  | gradient[index] = … ->
  :     gradient[index] = (f(x + shift) - f(x - shift)) / (2 * step)
  :     x = x - shift
  Your numbers stay moved down when it is the next one's turn.
  ? What is in x when f is called for the second number?
  # The number is moved in place, and never put back.
not_moved_back_from_above:
  | gradient[index] = … ->
  :     gradient[index] = (f(x + shift) - f(x - shift)) / (2 * step)
  :     x = x + shift
  Your numbers stay moved up when it is the next one's turn.
  # Moved up, down by twice the step, up by twice: one time too many.
moved_back_half_way:
  | gradient[index] = … ->
  :     gradient[index] = (f(x + shift) - f(x - shift)) / (2 * step)
  :     x = x - shift / 2
  Your numbers are half a step too low when it is the next one's turn.
  # A number is put back by arithmetic, with a factor that is wrong.
computed_in_float32: x.detach().double() -> x.detach().float()
  Your numbers are those of float32: a small step is rounded away.
  ? What is 1000 + 0.00001 in float32?
  # PyTorch's default dtype, or x.float().
computed_in_the_dtype_of_x: x = x.detach()
  Your numbers are moved in the dtype of x: where that is float32, the step is rounded
    away.
  ? Which dtype does f get where x is float32?
  # x.clone() keeps the dtype, and models are float32.
f_gets_a_flat_tensor:
  | shift[index] = step
  : shift = … -> shift[index] = step
  | f(x + shift) - f(x - shift) -> f(x.flatten() + shift) - f(x.flatten() - shift)
  Your f gets all numbers in one row, not a tensor with the shape of x.
  ? What would f return if it reads the rows of x?
  # x.flatten() makes one loop enough, and most functions sum over everything.
step_by_heart: step = 1e-05
  Your step is 1e-5, whatever is asked for.
  ? Where does the argument `step` come in?
  # The step that most programs use is written into the code.
step_of_a_thousandth: step = 0.001
  Your step is 0.001, whatever is asked for.
  # A step that works in float32 is written into the code.
half_a_step: step = step / 2
  Your numbers are moved by half a step to each side.
  ? How far does the docstring move a number to each side?
  # Some texts call the whole way from below to above the step.
two_steps: step = 2 * step
  Your numbers are moved by two steps to each side.
  # 2 * step is computed once, and used for both purposes.
relative_step:
  | shift[index] = step ->
  :     its_step = step * x.flatten()[index].abs()
  :     shift[index] = its_step
  | (2 * step) -> (2 * its_step)
  Your numbers are moved by a share of themselves.
  ? How far does the docstring move a number of 100, and how far one of 0.1?
  # Libraries for differential equations scale the step with x.
relative_step_of_at_least_one:
  | shift[index] = step ->
  :     its_step = step * x.flatten()[index].abs().clamp(min=1.0)
  :     shift[index] = its_step
  | (2 * step) -> (2 * its_step)
  Your numbers beyond 1 are moved by a share of themselves.
  # step * max(1, abs(x)) stands in many optimizers.
relative_step_of_one_more:
  | shift[index] = step ->
  :     its_step = step * (1.0 + x.flatten()[index].abs())
  :     shift[index] = its_step
  | (2 * step) -> (2 * its_step)
  Your steps grow with the numbers: one of size z is moved by 1 + z times the step.
  # step * (1 + abs(x)) avoids a step of 0.
flat_gradient: return gradient
  Your gradient is flat: it has one axis, whatever the shape of x.
  ? Which shape does the docstring promise where x is a matrix?
  # x.flatten() makes one loop enough, and the shape is not restored.
list_of_numbers: return gradient.tolist()
  Your gradient is a list of numbers, not a tensor.
  ? Which type does the docstring promise?
  # A list comprehension is returned as it is.
one_slope_for_all:
  | gradient = …
  : for index …
  :     shift = …
  :     shift[index] = step
  :     shift = …
  :     gradient[index] = …
  : return gradient. … ->
  :     slope = (f(x + step) - f(x - step)) / (2 * step)
  :     return torch.tensor(slope, dtype=x.dtype)
  Your result is one number: the slope of f where all numbers of x move together.
  ? What does x + step do to the numbers that are not asked about?
  # The formula is typed in as it stands, with x + h for all of x.
one_number_for_all:
  | x = x.detach().double()
  : gradient = …
  : for index …
  :     shift = …
  :     shift[index] = step
  :     shift = …
  :     gradient[index] = …
  : return gradient. … -> return (f(x + step) - f(x - step)) / (2 * step)
  You moved all numbers at once and got one number.
  ? How many numbers has the gradient?
  # The formula is typed in as it stands: f returns a number, and so does this.
gradient_summed: return gradient.sum()
  Your result is one number, the sum of all differences.
  ? How many numbers does the docstring promise?
  # f returns one number, and so does the derivative of a function of one number.
first_number_only:
  | gradient[index] = … ->
  :     gradient[index] = (f(x + shift) - f(x - shift)) / (2 * step)
  :     return gradient.reshape(x.shape)
  Your gradient is 0 everywhere but for the first number.
  ? Where does the return stand, inside the loop or behind it?
  # A return or a break that is indented one level too far.
last_number_left_out: range(x.numel()) -> range(x.numel() - 1)
  Your gradient is 0 for the last number.
  ? How often does your loop run where x has three numbers?
  # range(n - 1), or a loop that counts from 1.
x_changed_in_place:
  | given = x
  | return gradient. … ->
  :     given += step
  :     return gradient.reshape(x.shape)
  Your call changes `x`: the caller's tensor is overwritten.
  ? Does your answer write into the tensor `x`, or into a copy?
  # x.double() and x.detach() copy nothing where nothing has to be converted.
values_added: f(x + shift) - f(x - shift) -> f(x + shift) + f(x - shift)
  Your two values of f are added, not subtracted.
  ? What should the gradient be of a function that always returns 1?
  # A sign is mistyped.
one_number_of_float64:
  | gradient = …
  : for index …
  :     shift = …
  :     shift[index] = step
  :     shift = …
  :     gradient[index] = …
  : return gradient. … -> return (f(x + step) - f(x - step)) / (2 * step)
  Your code moves all numbers of x at once, and its result is one number.
  ? How many numbers has the gradient?
  # The formula is typed in as it stands: f returns a number, and so does this.
""",
)

exercise.family(families.squeezed(), families.as_numpy())
