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


@exercise.variants
def variants(
    f,
    x,
    step,
    *,
    sides="both",
    divided="2 step",
    moved="one",
    others="as in x",
    inside="float64",
    flattened="in a copy",
    shape_for_f="that of x",
    steps="step",
    shape="that of x",
    numbers="all",
    overwritten="nothing",
):
    steps_known = {"1e-5": 1e-5, "0.001": 0.001, "half": step / 2, "twice": 2 * step}
    h = steps_known.get(steps, step)
    dtype = {"float32": torch.float32, "that of x": x.dtype}.get(inside, torch.float64)
    point = x.detach().clone().to(dtype)
    is_copied = flattened == "by reshape" and not point.is_contiguous()
    point = point.view(-1) if flattened == "by view" else point.flatten()
    shape_of_f = (-1,) if shape_for_f == "a flat one" else x.shape
    gradient = torch.zeros(point.numel(), dtype=torch.float64)
    for index in range(point.numel()):
        shift = torch.zeros_like(point)
        if moved == "all":
            shift[:] = h
        elif moved == "row":
            length = x[0].numel()
            shift[index // length * length : (index // length + 1) * length] = h
        else:
            shift[index] = h * (point[index].abs() if steps == "relative" else 1)
        width = shift[index]
        above, middle, below = (
            float(f((point + sign * shift).reshape(shape_of_f))) for sign in (1, 0, -1)
        )
        if sides == "five points":
            far = float(f((point + 2 * shift).reshape(shape_of_f)))
            near = float(f((point - 2 * shift).reshape(shape_of_f)))
            difference = (8 * (above - below) - (far - near)) / 6
        else:
            difference = {
                "above": above - middle,
                "below": middle - below,
                "exchanged": below - above,
                "absolute": abs(above - below),
                "added": above + below,
                "second": above - 2 * middle + below,
            }.get(sides, above - below)
        divisor = {
            "step": width,
            "step²": width**2,
            "step / 2": width / 2,
            "4 step": 4 * width,
            "nothing": 1.0,
        }.get(divided, 2 * width)
        if sides in ("above", "below") and divided == "2 step":
            divisor = width
        if divided == "2, times step":
            divisor = 2 / width
        gradient[index] = difference / divisor
        if others == "left above":
            point = point + shift
        elif others == "left below":
            point = point - shift
        elif others == "on the way":
            point = point - 0.5 * shift
    if is_copied:
        gradient[:] = 0.0
    if overwritten == "x":
        x += h
    elif overwritten == "x, by rounding" and x.dtype == torch.float64:
        x.add_(h).sub_(2 * h).add_(h)
    if numbers == "first":
        gradient[1:] = 0.0
    elif numbers == "all but the last":
        gradient[-1] = 0.0
    if shape == "flat":
        return gradient
    if shape == "list":
        return gradient.tolist()
    if shape == "one slope":
        above, below = f(x.to(dtype) + h), f(x.to(dtype) - h)
        return torch.tensor((above - below) / (2 * h), dtype=torch.float64)
    if shape == "one number":
        return float((f(x + h) - f(x - h)) / (2 * h))
    if shape == "one number, of float64":
        above, below = f(x.double() + h), f(x.double() - h)
        return float((above - below) / (2 * h))
    if shape == "sum":
        return gradient.sum()
    return gradient.reshape(x.shape)


exercise.option(
    "one_sided_above",
    "Your differences are one-sided: f with a number moved up, minus f of x itself.",
    "On how many sides of a number does a central difference measure?",
    why="(f(x + h) − f(x)) / h is the definition of the derivative in every textbook.",
    sides="above",
)
exercise.option(
    "one_sided_below",
    "Your differences are one-sided: f of x itself, minus f with a number moved down.",
    "On how many sides of a number does a central difference measure?",
    why="The backward difference of numerical analysis.",
    sides="below",
)
exercise.option(
    "five_points",
    "Your differences take five points, which is more exact than what is asked for.",
    "How often does the docstring call f for each number of x?",
    why="A formula of higher order from numerical analysis is known to be better.",
    sides="five points",
)
exercise.option(
    "sides_exchanged",
    "Your gradient has all signs turned round.",
    "If f grows with a number, which of the two sides has the larger value?",
    why="The subtraction is written in the order in which the two were computed.",
    sides="exchanged",
)
exercise.option(
    "sign_lost",
    "Your gradient has no signs: each number is an absolute value.",
    "What should come out where f falls as a number grows?",
    why="abs() is taken to measure a distance.",
    sides="absolute",
)
exercise.option(
    "second_differences",
    "Your numbers are second differences: above plus below, minus twice the middle.",
    "Does the docstring's formula have a part for f of x itself?",
    why="Central differences are remembered for the second derivative.",
    sides="second",
)
exercise.option(
    "divided_by_one_step",
    "Your gradient is twice what it should be: it is divided by one step.",
    "How far apart are the two points that f is measured at?",
    why="The one-sided formula is changed to two sides, and its divisor stays.",
    divided="step",
)
exercise.option(
    "divided_by_half_a_step",
    "Your gradient is four times what it should be: divided by half a step.",
    "How far apart are the two points that f is measured at?",
    why="The step is halved for each side in the divisor only.",
    divided="step / 2",
)
exercise.option(
    "multiplied_by_the_step",
    "Your differences are divided by 2 and multiplied by the step.",
    "In which order does Python compute a / 2 * step?",
    why="The brackets around 2 * step are lost.",
    divided="2, times step",
)
exercise.option(
    "divided_by_the_square",
    "Your differences are divided by the square of the step.",
    "How far apart are the two points that f is measured at?",
    why="The divisor of second derivatives.",
    divided="step²",
)
exercise.option(
    "divided_by_four_steps",
    "Your gradient is half of what it should be: divided by four steps.",
    "How far apart are the two points that f is measured at?",
    why="The factor 2 is put in twice.",
    divided="4 step",
)
exercise.option(
    "not_divided",
    "Your numbers are differences of f, not divided by anything.",
    "Should a smaller step make the gradient smaller?",
    why="The difference is what one prints while trying out.",
    divided="nothing",
)
exercise.option(
    "all_moved_together",
    "Your code moves all numbers of x at once: each entry is the slope along them all.",
    "What does x + step do to the numbers that are not asked about?",
    why="NumPy and PyTorch add a number to every entry, and the formula says x + h.",
    moved="all",
)
exercise.option(
    "row_moved_together",
    "Your code moves all numbers of a row at once.",
    "What does x[i] stand for where x has two axes?",
    why="A loop over len(x) moves x[i], which is a whole row of a matrix.",
    moved="row",
)
exercise.option(
    "not_moved_back_from_below",
    "Your numbers stay moved down when it is the next one's turn.",
    "What is in x when f is called for the second number?",
    why="The number is moved in place, and never put back.",
    others="left below",
)
exercise.option(
    "not_moved_back_from_above",
    "Your numbers stay moved up when it is the next one's turn.",
    "What is in x when f is called for the second number?",
    why="Moved up, down by twice the step, up by twice: one time too many.",
    others="left above",
)
exercise.option(
    "moved_back_half_way",
    "Your numbers are half a step too low when it is the next one's turn.",
    "What is in x when f is called for the second number?",
    why="A number is put back by arithmetic, with a factor that is wrong.",
    others="on the way",
)
exercise.option(
    "computed_in_float32",
    "Your numbers are those of float32: a small step is rounded away.",
    "What is 1000 + 0.00001 in float32?",
    why="PyTorch's default dtype, or x.float().",
    inside="float32",
)
exercise.option(
    "computed_in_the_dtype_of_x",
    "Your numbers are moved in the dtype of x: where that is float32, the step is "
    "rounded away.",
    "Which dtype does f get where x is float32?",
    why="x.clone() keeps the dtype, and models are float32.",
    inside="that of x",
)
exercise.option(
    "f_gets_a_flat_tensor",
    "Your f gets all numbers in one row, not a tensor with the shape of x.",
    "What would f return if it reads the rows of x?",
    why="x.flatten() makes one loop enough, and most functions sum over everything.",
    shape_for_f="a flat one",
)
exercise.option(
    "step_by_heart",
    "Your step is 1e-5, whatever is asked for.",
    "Where does the argument `step` come in?",
    why="The step that most programs use is written into the code.",
    steps="1e-5",
)
exercise.option(
    "step_of_a_thousandth",
    "Your step is 0.001, whatever is asked for.",
    "Where does the argument `step` come in?",
    why="A step that works in float32 is written into the code.",
    steps="0.001",
)
exercise.option(
    "half_a_step",
    "Your numbers are moved by half a step to each side.",
    "How far does the docstring move a number to each side?",
    why="Some texts call the whole way from below to above the step.",
    steps="half",
)
exercise.option(
    "two_steps",
    "Your numbers are moved by two steps to each side.",
    "How far does the docstring move a number to each side?",
    why="2 * step is computed once, and used for both purposes.",
    steps="twice",
)
exercise.option(
    "relative_step",
    "Your numbers are moved by a share of themselves.",
    "How far does the docstring move a number of 100, and how far one of 0.1?",
    why="Libraries for differential equations scale the step with x.",
    steps="relative",
)
exercise.option(
    "flat_gradient",
    "Your gradient is flat: it has one axis, whatever the shape of x.",
    "Which shape does the docstring promise where x is a matrix?",
    why="x.flatten() makes one loop enough, and the shape is not restored.",
    shape="flat",
)
exercise.option(
    "list_of_numbers",
    "Your gradient is a list of numbers, not a tensor.",
    "Which type does the docstring promise?",
    why="A list comprehension is returned as it is.",
    shape="list",
)
exercise.option(
    "one_slope_for_all",
    "Your result is one number: the slope of f where all numbers of x move together.",
    "What does x + step do to the numbers that are not asked about?",
    why="The formula is typed in as it stands, with x + h for all of x.",
    shape="one slope",
)
exercise.option(
    "one_number_for_all",
    "You moved all numbers at once and got one number.",
    "How many numbers has the gradient?",
    why="The formula is typed in as it stands: f returns a number, and so does this.",
    shape="one number",
)
exercise.option(
    "gradient_summed",
    "Your result is one number, the sum of all differences.",
    "How many numbers does the docstring promise?",
    why="f returns one number, and so does the derivative of a function of one number.",
    shape="sum",
)
exercise.option(
    "first_number_only",
    "Your gradient is 0 everywhere but for the first number.",
    "Where does the return stand, inside the loop or behind it?",
    why="A return or a break that is indented one level too far.",
    numbers="first",
)
exercise.option(
    "last_number_left_out",
    "Your gradient is 0 for the last number.",
    "How often does your loop run where x has three numbers?",
    why="range(n - 1), or a loop that counts from 1.",
    numbers="all but the last",
)
exercise.option(
    "x_changed_in_place",
    "Your call changes `x`: the caller's tensor is overwritten.",
    "Does your answer write into the tensor `x`, or into a copy?",
    why="x.double() and x.detach() copy nothing where nothing has to be converted.",
    overwritten="x",
)
exercise.option(
    "values_added",
    "Your two values of f are added, not subtracted.",
    "What should the gradient be of a function that always returns 1?",
    why="A sign is mistyped.",
    sides="added",
)
exercise.option(
    "one_number_of_float64",
    "Your code moves all numbers of x at once, and its result is one number.",
    "How many numbers has the gradient?",
    why="The formula is typed in as it stands: f returns a number, and so does this.",
    shape="one number, of float64",
)
exercise.family(families.squeezed(), families.as_numpy())
