import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("numerical_gradient")


@answers.correct
def moved_in_place(f, x, step):
    """Move each number of a copy, and put it back."""
    point = x.double().clone()
    gradient = torch.empty(x.shape, dtype=torch.float64)
    for index in np.ndindex(*x.shape):
        number = point[index].item()
        point[index] = number + step
        above = f(point)
        point[index] = number - step
        below = f(point)
        point[index] = number
        gradient[index] = (above - below) / (2 * step)
    return gradient


@answers.correct
def rows_of_the_identity(f, x, step):
    x = x.to(torch.float64)
    gradient = [
        (f(x + direction.reshape(x.shape)) - f(x - direction.reshape(x.shape))) / step
        for direction in step * torch.eye(x.numel(), dtype=torch.float64)
    ]
    return torch.tensor(gradient, dtype=torch.float64).view(x.shape) / 2


@answers.correct
def numpy_inside(f, x, step):
    numbers = x.numpy().astype(np.float64)
    gradient = np.zeros(numbers.size)
    for i in range(numbers.size):
        above, below = numbers.ravel().copy(), numbers.ravel().copy()
        above[i] += step
        below[i] -= step
        values = [f(torch.tensor(each.reshape(x.shape))) for each in (above, below)]
        gradient[i] = np.subtract(*values) / step / 2
    return torch.from_numpy(gradient.reshape(x.shape))


@answers.correct
def mean_of_two_one_sided_differences(f, x, step):
    x = x.double()
    middle = f(x)
    gradient = torch.zeros(x.numel(), dtype=torch.float64)
    for i in range(x.numel()):
        one = torch.nn.functional.one_hot(torch.tensor(i), x.numel())
        one = one.double().reshape(x.shape)
        up, down = f(x + step * one) - middle, middle - f(x - step * one)
        gradient[i] = 0.5 * (up / step + down / step)
    return gradient.reshape(x.shape)


@answers.correct
def recursion_over_axes(f, x, step):
    if not x.ndim:
        at = x.double()
        slope = (f(at + step) - f(at - step)) / (2 * step)
        return torch.tensor(slope, dtype=torch.float64)

    def row(i):
        def f_of_row(changed):
            whole = x.double().clone()
            whole[i] = changed
            return f(whole)

        return recursion_over_axes(f_of_row, x[i], step)

    return torch.stack([row(i) for i in range(len(x))])


class Differences:
    def __init__(self, sides):
        self.sides = sides

    def __call__(self, f, x, step):
        total = torch.zeros(x.shape, dtype=torch.float64)
        for i in range(x.numel()):
            for side in self.sides:
                point = x.double().flatten().clone()
                point[i] += side * step
                total.view(-1)[i] += side * f(point.reshape(x.shape))
        return total / step / len(self.sides)


answers.right["callable_object"] = Differences((1, -1))
answers.right["partial"] = functools.partial(
    lambda dtype, f, x, step: moved_in_place(f, x.to(dtype), step), torch.float64
)


def gradient_by(f, x, difference):
    x = x.double()
    numbers = [
        difference(lambda shift, i=i: f(x + shift * unit(x, i)))
        for i in range(x.numel())
    ]
    return torch.tensor(numbers, dtype=torch.float64).reshape(x.shape)


def unit(x, i):
    return torch.eye(x.numel(), dtype=torch.float64)[i].reshape(x.shape)


@answers.correct
def down_first_then_put_back(f, x, step):
    """Move x itself where it is float64; each number is put back to the last bit."""
    moved = x.detach().double()
    gradient = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        number = moved[index].clone()
        moved[index] = number - step
        below = f(moved)
        moved[index] = number + step
        gradient[index] = (f(moved) - below) / (2 * step)
        moved[index] = number
    return torch.from_numpy(gradient)


@answers.also("row_moved_together")
def first_axis_alone(f, x, step):
    gradient = torch.zeros(x.shape, dtype=torch.float64)
    for i in range(x.shape[0]):
        up, down = x.double().clone(), x.double().clone()
        up[i] += step
        down[i] -= step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient


@answers.other
def extrapolated_to_step_zero(f, x, step):
    def central(at, h):
        return (at(h) - at(-h)) / (2 * h)

    return gradient_by(f, x, lambda at: 2 * central(at, step / 2) - central(at, step))


@answers.other
def of_the_logarithm(f, x, step):
    return gradient_by(
        f, x, lambda at: (np.log1p(at(step) ** 2) - at(-step)) / (2 * step)
    )


@answers.other
def gradient_by_autograd_of_cubes(f, x, step):
    return 3 * x.double() ** 2
