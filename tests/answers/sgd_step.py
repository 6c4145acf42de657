import copy
import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("sgd_step")


@answers.correct
def loop_over_names(parameters, gradients, learning_rate):
    stepped = {}
    for name in gradients:
        stepped[name] = parameters[name] - gradients[name] * learning_rate
    return stepped


@answers.correct
def add_with_alpha(parameters, gradients, learning_rate):
    return {
        name: parameter.add(gradients[name], alpha=-learning_rate)
        for name, parameter in parameters.items()
    }


@answers.correct
def clone_then_in_place(parameters, gradients, learning_rate):
    stepped = {name: parameter.clone() for name, parameter in parameters.items()}
    for name in stepped:
        stepped[name] -= learning_rate * gradients[name]
    return stepped


@answers.correct
def deep_copy_then_in_place(parameters, gradients, learning_rate):
    parameters = copy.deepcopy(parameters)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.sub_(gradients[name], alpha=learning_rate)
    return parameters


@answers.correct
def optimizer_of_pytorch(parameters, gradients, learning_rate):
    stepped = {}
    for name, parameter in parameters.items():
        leaf = torch.nn.Parameter(parameter.clone())
        leaf.grad = gradients[name].clone()
        torch.optim.SGD([leaf], lr=learning_rate).step()
        stepped[name] = leaf.detach()
    return stepped


@answers.correct
def parameters_of_a_module(parameters, gradients, learning_rate):
    stepped = loop_over_names(parameters, gradients, learning_rate)
    return {name: torch.nn.Parameter(each) for name, each in stepped.items()}


@answers.correct
def numpy_inside(parameters, gradients, learning_rate):
    return {
        name: torch.from_numpy(
            np.asarray(
                parameters[name].numpy() - learning_rate * gradients[name].numpy(),
                dtype=parameters[name].numpy().dtype,
            )
        )
        for name in sorted(parameters)
    }


@answers.correct
def number_by_number(parameters, gradients, learning_rate):
    stepped = {}
    for name, parameter in parameters.items():
        stepped[name] = torch.empty_like(parameter)
        for index in np.ndindex(*parameter.shape):
            slope = gradients[name][index]
            stepped[name][index] = parameter[index] - learning_rate * slope
    return stepped


@answers.correct
def float64_inside(parameters, gradients, learning_rate):
    return {
        name: parameter.double() - learning_rate * gradients[name].double()
        for name, parameter in parameters.items()
    }


@answers.correct
def views_of_one_long_tensor(parameters, gradients, learning_rate):
    stepped = {}
    for name, parameter in parameters.items():
        row = parameter.reshape(-1) - learning_rate * gradients[name].reshape(-1)
        padded = torch.cat([row, torch.zeros(1, dtype=row.dtype)])
        stepped[name] = padded[:-1].view(parameter.shape)
    return stepped


@answers.correct
def half_a_step_twice(parameters, gradients, learning_rate):
    for _ in range(2):
        parameters = loop_over_names(parameters, gradients, learning_rate / 2)
    return parameters


class Called:
    def __call__(self, parameters, gradients, learning_rate):
        changes = {name: -learning_rate * each for name, each in gradients.items()}
        return {name: parameters[name] + changes[name] for name in changes}


answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda step, *arguments: step(*arguments), loop_over_names
)


@answers.also("up_the_gradient")
def two_minus_signs(parameters, gradients, learning_rate):
    return loop_over_names(parameters, gradients, -learning_rate)


@answers.also("gradients_by_position")
def zipped(parameters, gradients, learning_rate):
    pairs = zip(parameters.values(), gradients.values(), strict=True)
    stepped = [p - learning_rate * g for p, g in pairs]
    return dict(zip(parameters, stepped, strict=True))


@answers.also("gradients_sorted_by_name")
def sorted_on_one_side(parameters, gradients, learning_rate):
    pairs = zip(parameters.items(), sorted(gradients.items()), strict=True)
    return {name: p - learning_rate * g for (name, p), (_, g) in pairs}


@answers.also("biases_left_behind")
def matrices_only(parameters, gradients, learning_rate):
    stepped = loop_over_names(parameters, gradients, learning_rate)
    return {n: stepped[n] if p.dim() > 1 else p for n, p in parameters.items()}


@answers.other
def half_the_step(parameters, gradients, learning_rate):
    return loop_over_names(parameters, gradients, learning_rate / 2)


@answers.other
def clipped(parameters, gradients, learning_rate):
    limited = {name: each.clamp(-1, 1) for name, each in gradients.items()}
    return loop_over_names(parameters, limited, learning_rate)


@answers.other
def values_in_text(parameters, gradients, learning_rate):
    return str(loop_over_names(parameters, gradients, learning_rate))


@answers.other
def learning_rate_squared(parameters, gradients, learning_rate):
    return loop_over_names(parameters, gradients, learning_rate**2)
