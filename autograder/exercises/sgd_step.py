"""Cases and misconceptions of ``sgd_step``."""

import torch

from autograder import Exercise, families
from course_lib.nn.first_steps import sgd_step

exercise = Exercise(
    sgd_step,
    lesson="07_from_numpy_to_pytorch",
    minutes=5,
    difficulty=1,
    library=(
        "torch.optim.SGD",
        "torch.optim.sgd.sgd",
        "torch.optim.ASGD",
        "torch.optim.asgd.asgd",
    ),
)


@exercise.spec
def spec(parameters, gradients, learning_rate):
    stepped = {}
    for name in parameters:
        numbers = parameters[name].reshape(-1).tolist()
        slopes = gradients[name].reshape(-1).tolist()
        for index, slope in enumerate(slopes):
            numbers[index] -= learning_rate * slope
        flat = torch.tensor(numbers, dtype=parameters[name].dtype)
        stepped[name] = flat.reshape(parameters[name].shape)
    return stepped


def drawn(rng, dtype=torch.float32, **shapes):
    """Draw a tensor for each name."""
    return {
        name: torch.from_numpy(rng.normal(size=shape)).to(dtype)
        for name, shape in shapes.items()
    }


# What a layer has: matrices and a bias.
LAYER = {"w_1": (4, 6), "b_1": (6,), "w_2": (6, 3)}


@exercise.usual
def usual(rng):
    return drawn(rng, **LAYER), drawn(rng, **LAYER), 0.25


@exercise.case(
    "With a learning rate of 0.5 and the gradient (4, −2), (1, 2) becomes (−1, 3)"
)
def small_example_by_hand(student, rng):
    parameters = {"w": torch.tensor([1.0, 2.0])}
    result = student(parameters, {"w": torch.tensor([4.0, -2.0])}, 0.5)
    student.expect(result, {"w": torch.tensor([-1.0, 3.0])})
    student.agrees(drawn(rng, w=2), drawn(rng, w=2), float(rng.uniform(0.5, 2)))


@exercise.case("Each of several parameters takes its own step", weight=2)
def several_parameters(student, rng):
    student.agrees(drawn(rng, **LAYER), drawn(rng, **LAYER), 0.25)
    shapes = {"embedding": (7, 2), "kernel": (2, 3, 5), "scale": ()}
    student.agrees(drawn(rng, **shapes), drawn(rng, **shapes), 1.5)


@exercise.case("A gradient is found by its name, in whatever order they come")
def any_order_of_names(student, rng):
    parameters = drawn(rng, w_q=(3, 3), w_k=(3, 3), w_v=(3, 3))
    student.agrees(parameters, drawn(rng, w_v=(3, 3), w_q=(3, 3), w_k=(3, 3)), 0.5)


@exercise.case("The learning rate may be small, and may be above 1")
def other_learning_rates(student, rng):
    for learning_rate in (0.001, 3.0):
        arguments = (drawn(rng, torch.float64, w=(3, 2), b=2) for _ in range(2))
        student.agrees(*arguments, learning_rate)


@exercise.case("The step is right where a gradient is 0, too", weight=0.5)
def gradient_of_zero(student, rng):
    parameters, gradients = drawn(rng, w=(2, 4), b=4), drawn(rng, w=(2, 4), b=4)
    gradients["w"][0, 1:] = 0.0
    gradients["b"][:] = 0.0
    student.agrees(parameters, gradients, 0.5)


@exercise.case("Five steps down a parabola come closer and closer", visible=False)
def steps_on_a_parabola(student, rng):
    start, lowest = drawn(rng, torch.float64, w=3), drawn(rng, torch.float64, w=3)
    parameters, learning_rate = start, float(rng.uniform(0.1, 0.4))
    for _ in range(5):  # the loss is (w − lowest)² / 2
        gradients = {"w": parameters["w"] - lowest["w"]}
        parameters = student(parameters, gradients, learning_rate)
    distance = (1 - learning_rate) ** 5 * (start["w"] - lowest["w"])
    student.expect(parameters["w"] - lowest["w"], distance, what="what is left to go")


@exercise.case("The parameters and the gradients of the caller are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, w=(3, 2), b=2), drawn(rng, w=(3, 2), b=2), 0.5)


exercise.edits(
    """
up_the_gradient: parameter - -> parameter +
  Your parameters move along the gradient: the loss grows.
  ? Does the gradient point to where the loss grows, or to where it shrinks?
  # The gradient is read as the direction to go; what maximises, such as
    optim.SGD(maximize=True), does go there.
learning_rate_left_out: learning_rate * gradients[name] -> gradients[name]
  Your parameters move by the whole gradient: `learning_rate` plays no part.
  ? Which argument says how far to go?
  # parameter -= gradient runs, and on a well-scaled loss it even learns.
divided_by_the_learning_rate:
  | learning_rate * gradients[name] -> gradients[name] / learning_rate
  Your gradient is divided by the learning rate.
  ? Does a larger learning rate make your step longer or shorter?
  # A small learning rate stands for caution, and to divide sounds cautious.
sign_of_the_gradient_alone: gradients[name] -> gradients[name].sign()
  Your numbers all move equally far: only the sign of the gradient counts.
  ? How far should a number move whose gradient is ten times as large?
  # Adam's first step is like that, and so are all steps of Rprop.
direction_of_the_gradient_alone:
  | gradients[name] -> gradients[name] / gradients[name].norm()
  Your gradient is divided by its norm: each parameter moves equally far, and a
    gradient of 0 gives NaN.
  ? Does the docstring ask for a step of a fixed length?
  # Clipping divides a gradient by its norm, where that is large.
direction_of_the_gradient_alone_and_none_of_zero:
  | gradients[name] -> gradients[name] / (gradients[name].norm() + 1e-08)
  Your gradient is divided by its norm: each parameter moves equally far, unless its
    gradient is 0.
  # Clipping divides a gradient by its norm, where that is large.
divided_by_the_norm_of_all:
  | norm = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()
  | gradients[name] -> gradients[name] / norm
  Your gradients are divided by the norm of all of them together.
  # clip_grad_norm_ does so where that norm is too large, and many loops call it.
mean_of_the_gradient: gradients[name] -> gradients[name].mean()
  All numbers of a parameter move by the same amount in your code: by that of the
    gradient's mean.
  ? Which entry of the gradient belongs to which number of the parameter?
  # Gradients are averaged over a batch, and .mean() is taken once too often.
gradient_times_the_parameter: gradients[name] -> gradients[name] * parameter
  Your change has the parameter as a factor: a parameter of 0 never moves.
  ? Which two numbers does the docstring multiply?
  # parameter *= 1 − learning_rate · gradient is a shrinking step, like that of a
    weight decay.
weight_decay_as_well: gradients[name] -> (gradients[name] + parameter)
  Your parameters also shrink, in proportion to their size.
  ? Where would a parameter go in your code if its gradient were 0?
  # (1 − learning_rate) · parameter − learning_rate · gradient looks like a moving
    average, and is a weight decay of 1.
gradients_by_position:
  | return {
  :     name: parameter - learning_rate * gradient
  :     for (name, parameter), gradient in zip(
  :         parameters.items(), gradients.values()
  :     )
  : }
  Your gradients are taken in the order in which they stand in the dictionary,
    whatever their names.
  ? What promises you that the first gradient is the first parameter's?
  # zip(parameters.values(), gradients.values()) is short, and often right.
gradients_sorted_by_name:
  | return {
  :     name: parameter - learning_rate * gradient
  :     for (name, parameter), (_, gradient) in zip(
  :         parameters.items(), sorted(gradients.items())
  :     )
  : }
  Your gradients are taken in the order of their sorted names, and your parameters in
    that of the dictionary.
  ? Which of the two dictionaries have you sorted?
  # sorted() makes an order that one can rely on, if both sides have it.
rows_one_by_one:
  | parameter - learning_rate * gradients[name] ->
  :     torch.stack([row - learning_rate * its_gradient for row, its_gradient in
  :     zip(parameter, gradients[name])])
  Your code goes through a parameter row by row, and stops where that is a single
    number.
  ? What is len() of a tensor without axes?
  # A vector or a matrix is what comes to mind, and both have rows.
first_parameter_only:
  | return {name: … ->
  :     for name, parameter in parameters.items():
  :         return {name: parameter - learning_rate * gradients[name]}
  Your result has one parameter only, the first.
  ? How often does your loop run before it returns?
  # `return` is indented into the loop.
biases_left_behind:
  | parameter - learning_rate * gradients[name] ->
  :     parameter - learning_rate * gradients[name] if parameter.ndim > 1 else
  :     parameter
  Your parameters of fewer than two axes are never updated.
  ? Does the docstring treat any parameter differently?
  # Weight decay leaves out biases and gains, and has lists of its own for them.
changes_returned: parameter - learning_rate -> -learning_rate
  Your result holds the changes, not the new parameters.
  ? What should come out if all gradients are 0?
  # The change is what the formula computes, and to add it is thought to be the
    caller's part, as in Optax: apply_updates(params, updates).
products_returned: parameter - learning_rate -> learning_rate
  Your result holds learning_rate times the gradients: the parameters have no part in
    it.
  # The product is the first half of the formula, and what an `-=` outside would need.
list_without_names:
  | return [
  :     parameter - learning_rate * gradients[name]
  :     for name, parameter in parameters.items()
  : ]
  Your result is a list, without names.
  ? How does the caller find a parameter in your result, if not by its name?
  # PyTorch's optimizers take lists of parameters: model.parameters().
gradients_returned_too:
  | return (
  :     {
  :         name: parameter - learning_rate * gradients[name]
  :         for name, parameter in parameters.items()
  :     },
  :     gradients,
  : )
  Your result is a pair: parameters, and gradients.
  ? How many results does the docstring promise?
  # Both dictionaries come in, and both are handed back.
parameters_overwritten:
  | return {name: … ->
  :     for name, parameter in parameters.items():
  :         parameter -= learning_rate * gradients[name]
  :     return parameters
  Your call changes the caller's parameters: they have become the new ones.
  ? Which line of yours writes into a tensor or a dictionary that the caller holds?
  # PyTorch's optimizers do change them in place; a copy of the best parameters that
    is none, or a second learning rate from the same start, is lost so.
gradients_scaled_in_place:
  | for gradient in gradients.values():
  :     gradient *= learning_rate
  | learning_rate * gradients[name] -> gradients[name]
  Your call multiplies the caller's gradients by the learning rate.
  ? Does `gradient *= …` make a new tensor, or write into the caller's?
  # `gradient *= learning_rate` is the first half of the formula, in place.
gradients_set_to_zero:
  | return {name: … ->
  :     new = {
  :         name: parameter - learning_rate * gradients[name]
  :         for name, parameter in parameters.items()
  :     }
  :     for gradient in gradients.values():
  :         gradient.zero_()
  :     return new
  Your call sets the caller's gradients to 0.
  ? Whose gradients are they, and may the caller still need them?
  # zero_grad follows step in every training loop.
gradient_times_the_parameter_too:
  | parameter - learning_rate * gradients[name] ->
  :     (parameter - learning_rate) * gradients[name]
  Your gradient multiplies the parameter as well: what you return is (parameter −
    learning_rate) · gradient.
  ? What should come out if the gradient is 0?
  # A pair of brackets too many.
learning_rate_times_the_parameter_too:
  | parameter - learning_rate * gradients[name] ->
  :     learning_rate * (parameter - gradients[name])
  Your learning rate multiplies the parameter as well: what you return is
    learning_rate · (parameter − gradient).
  ? What should come out if the learning rate is 0?
""",
)

exercise.family(families.as_numpy(), families.as_list("a tensor"))
