"""Cases and misconceptions of ``head_importance``."""

import math

import numpy as np
import torch

from autograder import Exercise
from autograder.checking import families
from course_lib.nn.pruning import head_importance

exercise = Exercise(
    head_importance,
    lesson="13_inside_the_heads",
    minutes=12,
    difficulty=2,
    returns=("by_gradient", "by_ablation"),
    library=("course_lib.experiments.pruned_heads.translator_importance",),
)


@exercise.spec
def spec(loss_of, gradient_of, gates, examples):
    numbers, n = gates.flatten().tolist(), len(examples)

    def as_gates(values):
        return torch.tensor(values, dtype=gates.dtype).reshape(gates.shape)

    sums = [0.0] * len(numbers)
    for example in examples:
        gradient = gradient_of(as_gates(numbers), example).flatten().tolist()
        sums = [each + abs(one) for each, one in zip(sums, gradient, strict=True)]
    before = [float(loss_of(as_gates(numbers), example)) for example in examples]
    changes = []
    for index in range(len(numbers)):
        closed = as_gates([*numbers[:index], 0.0, *numbers[index + 1 :]])
        after = [float(loss_of(closed, example)) for example in examples]
        changes.append((math.fsum(after) - math.fsum(before)) / n)
    return as_gates([each / n for each in sums]), as_gates(changes)


# Losses of gates of any shape and an example, an integer. Gradients are by hand.


def strengths(gates, example):
    """Return how much each head does for an example: of both signs, no two alike."""
    numbers = torch.arange(1, gates.numel() + 1, dtype=torch.float64)
    return torch.sin(numbers * (2 * example + 1)).reshape(gates.shape)


def even_loss(gates, example):
    """Return a loss that is a sum over heads: none makes up for another."""
    return float((strengths(gates, example) * gates).sum())


def even_gradient(gates, example):
    """Return the gradient of ``even_loss``."""
    return strengths(gates, example).to(gates.dtype)


def joint_loss(gates, example):
    """Return a loss in which the heads make up for each other."""
    return float((strengths(gates, example) * gates).sum().exp() + (gates**2).sum())


def joint_gradient(gates, example):
    """Return the gradient of ``joint_loss``."""
    strength = strengths(gates, example)
    gradient = (strength * gates).sum().exp() * strength + 2 * gates
    return gradient.to(gates.dtype)


def drawn(rng, *shape):
    """Draw gates near 1, in float64."""
    return torch.from_numpy(np.array(1 + 0.3 * rng.normal(size=shape)))


def some_examples(rng, n):
    """Draw n different examples."""
    return rng.permutation(20)[:n].tolist()


@exercise.usual
def usual(rng):
    return joint_loss, joint_gradient, drawn(rng, 2, 3), some_examples(rng, 4)


def opposite_loss(gates, example):
    """Return a loss: its gradient is (3, 1) for example 1, and (−1, 1) for −1."""
    return float((1 + 2 * example) * gates[0] + gates[1])


def opposite_gradient(gates, example):
    """Return the gradient of ``opposite_loss``."""
    return torch.tensor([1.0 + 2 * example, 1.0], dtype=gates.dtype)


@exercise.case("Two heads, and two examples that want opposite things of one of them")
def small_example_by_hand(student, rng):
    gates = torch.ones(2, dtype=torch.float64)
    # The gradients are (3, 1) and (−1, 1): their sizes have the mean (2, 1). The mean
    # loss is 1 + 1; without the first head it is 1, and without the second 1.
    expected = torch.tensor([2.0, 1.0]).double(), torch.tensor([-1.0, -1.0]).double()
    result = student(opposite_loss, opposite_gradient, gates, [1, -1])
    student.expect(result, expected)
    student.agrees(even_loss, even_gradient, drawn(rng, 3), some_examples(rng, 2))


@exercise.case("Layers and heads: each gate has its two numbers where it stands")
def layers_and_heads(student, rng):
    ones = torch.ones(2, 3, dtype=torch.float64)
    student.agrees(even_loss, even_gradient, ones, some_examples(rng, 4))
    student.agrees(joint_loss, joint_gradient, ones, some_examples(rng, 3))


@exercise.case("Heads that make up for each other are closed one at a time")
def one_at_a_time(student, rng):
    arguments = joint_loss, joint_gradient, torch.ones(4, dtype=torch.float64)
    student.agrees(*arguments, some_examples(rng, 3))
    arguments = joint_loss, joint_gradient, drawn(rng, 3, 2)
    student.agrees(*arguments, some_examples(rng, 2))


@exercise.case("The gates are those that are given, and not all 1")
def given_gates(student, rng):
    student.agrees(joint_loss, joint_gradient, drawn(rng, 2, 2), some_examples(rng, 2))
    gates = drawn(rng, 5)
    gates[3] = 0.0  # pruned already
    student.agrees(joint_loss, joint_gradient, gates, some_examples(rng, 3))


@exercise.case("A single example, and an example that comes twice")
def few_examples(student, rng):
    gates = drawn(rng, 2, 2)
    student.agrees(joint_loss, joint_gradient, gates, some_examples(rng, 1))
    first, second = some_examples(rng, 2)
    student.agrees(joint_loss, joint_gradient, gates, [first, first, second])


@exercise.case("The gates and the list of examples are not modified")
def arguments_stay(student, rng):
    arguments = joint_loss, joint_gradient, drawn(rng, 2, 3), some_examples(rng, 2)
    student.leaves_unchanged(*arguments)


@exercise.case(
    "A kind of attention, a layer, a head: gates of three axes, and of float32",
    visible=False,
)
def any_shape(student, rng):
    arguments = joint_loss, joint_gradient
    student.agrees(*arguments, drawn(rng, 3, 1, 2), some_examples(rng, 2))
    student.agrees(*arguments, drawn(rng, 2, 3).float(), some_examples(rng, 2))


exercise.edits(
    """
absolute_value_of_the_mean:
  | .abs() / len(examples) -> / len(examples)
  | return (by_gradient -> return (by_gradient.abs()
  Your gradients are averaged first, and lose their signs after that.
  ? What is left of a head that helps one example as much as it harms another?
  # One backward pass over a batch gives the gradient of the mean loss.
signs_kept: .abs() / len(examples) -> / len(examples)
  Your importance by gradient has signs: gradients of both signs cancel.
  ? Is a head whose gradient is −3 less important than one whose gradient is 0?
  # The gradient is taken as it comes from autograd.
minus_the_mean_gradient:
  | by_gradient += gradient_of(gates, example).abs() ->
  :     by_gradient -= gradient_of(gates, example)
  Your importance by gradient is minus the mean gradient.
  ? Is a head whose gradient is 3 less important than one whose gradient is 0?
  # That is the change which the gradient predicts for the ablation.
squared_gradients: .abs() / len(examples) -> .square() / len(examples)
  Your importance by gradient is the mean of squares.
  ? Which function of each gradient does the docstring average?
  # The Fisher information is such a mean, and removes signs too.
root_of_mean_squares:
  | .abs() / len(examples) -> .square() / len(examples)
  | return (by_gradient -> return (by_gradient.sqrt()
  Your importance by gradient is the root of a mean of squares.
  # A norm over the examples removes signs too.
largest_gradient:
  | by_gradient += … ->
  :     by_gradient = torch.maximum(by_gradient, gradient_of(gates, example).abs())
  Your importance by gradient is that of the example with the largest.
  ? How does the docstring put the examples together?
  # What matters once is important, one might say.
median_gradient:
  | by_gradient = …
  : for example in examples:
  :     by_gradient … ->
  :     gradients = [gradient_of(gates, example).abs() for example in examples]
  :     by_gradient = torch.stack(gradients).median(dim=0).values
  Your importance by gradient is a median over the examples.
  # A median does not mind examples out of the ordinary.
sums_over_the_examples:
  | .abs() / len(examples) -> .abs()
  | in examples)) / len(examples) -> in examples))
  Your two results are sums over the examples.
  ? Should twice as many examples make a head twice as important?
  # `+=` in a loop gives a sum, and the order of the heads is the same.
gradients_summed: .abs() / len(examples) -> .abs()
  Your importance by gradient is a sum over the examples.
  # PyTorch adds gradients up, one backward pass after another.
gradient_of_the_first_example:
  | by_gradient = …
  : for example in examples:
  :     by_gradient … -> by_gradient = gradient_of(gates, examples[0]).abs()
  Your importance by gradient knows the first example only.
  ? How often does your first loop run before something is returned?
  # `return`, or a division, is indented into the loop.
gradient_of_the_last_example:
  | by_gradient += … -> by_gradient = gradient_of(gates, example).abs()
  Your importance by gradient knows the last example only.
  ? What happens to the earlier gradients when the next one comes?
  # `=` stands in the loop where `+=` was meant.
measured_at_ones: gates = torch.ones_like(gates)
  Your numbers are measured with all gates at 1, whatever gates are given.
  ? Where is the argument `gates` used in your code, but for its shape?
  # A whole model has gates of ones.
measured_at_zeros: gates = torch.zeros_like(gates)
  Your numbers are measured with all gates at 0.
  ? Which gates does the docstring say to start from?
  # torch.zeros_like(gates) is at hand for the result.
others_fully_open:
  | before = mean_loss(torch.ones_like(gates))
  | closed = torch.ones_like(gates).flatten()
  In your ablation the other gates are at 1, whatever they are in `gates`.
  ? What should the other gates be while one is closed?
  # torch.ones_like(gates) with one zero is the textbook's ablation.
others_opened_for_the_ablation: closed = torch.ones_like(gates).flatten()
  In your ablation the other gates are at 1 while one is closed, and as given before.
  ? By how many gates do the two losses differ that you subtract?
gradient_times_gate:
  | gradient_of(gates, example).abs() -> (gradient_of(gates, example) * gates).abs()
  Your gradients are multiplied by the gates.
  ? Does the docstring multiply the gradient by anything?
  # Gradient times input is another well-known measure.
normalised_by_layer:
  | return ( … ->
  :     if gates.ndim:
  :         by_gradient = by_gradient / by_gradient.norm(dim=-1, keepdim=True)
  :     return (by_gradient, by_ablation.reshape(gates.shape))
  Your importance by gradient is divided by a norm over each layer's heads.
  ? Does the docstring compare heads with others of their layer?
  # Michel et al. do so before they prune, after Molchanov et al. (2017).
shares_of_the_whole: return (by_gradient -> return (by_gradient / by_gradient.sum()
  Your importance by gradient sums to 1 over all heads.
  ? Does the docstring divide by anything but the number of examples?
  # Shares are easy to read.
all_others_closed:
  | closed = torch.zeros_like(gates).flatten()
  | closed[index] = gates.flatten()[index]
  Your ablation closes all heads but one.
  ? How many heads are closed at a time, according to the docstring?
  # Whether one head is enough is a question of the same paper, section 3.3.
closed_heads_stay_closed: closed[index] = 0.0 -> closed[:index + 1] = 0.0
  Your closed heads stay closed when the next one's turn comes.
  ? What is in your gates when the second head is closed?
  # gates[i] = 0 without a copy, or without opening it again.
whole_layers_closed:
  | closed[index] = 0.0 ->
  :     length = gates.shape[-1] if gates.ndim else 1
  :     first = index - index % length
  :     closed[first:first + length] = 0.0
  Your ablation closes all heads of a layer at once.
  ? What does gates[i] stand for where gates have two axes?
  # A loop over gates meets rows.
rows_of_gates_closed:
  | closed[index] = 0.0 ->
  :     row = index // (gates.numel() // len(gates))
  :     closed.reshape(gates.shape)[row] = 0.0
  Your ablation closes all of gates[i] at once: a single gate only where gates have
    one axis.
gates_set_to_one: closed[index] = 1.0
  Your ablation sets a gate to 1.
  ? Which number closes a head?
  # In many masks a 1 marks what is taken away.
signs_of_the_ablation_reversed:
  | mean_loss(closed.reshape(gates.shape)) - before ->
  :     before - mean_loss(closed.reshape(gates.shape))
  Your ablation has its signs turned round.
  ? If the loss rises without a head, which sign does its number have?
  # 'Before minus after' is what is lost in accuracy or BLEU.
sign_of_the_ablation_lost:
  | mean_loss(closed.reshape(gates.shape)) - before ->
  :     abs(mean_loss(closed.reshape(gates.shape)) - before)
  Your ablation has no signs.
  ? What does the docstring promise where the loss falls without a head?
  # The importance by gradient is an absolute value, and one expects another.
losses_after_the_ablation:
  | mean_loss(closed.reshape(gates.shape)) - before ->
  :     mean_loss(closed.reshape(gates.shape))
  Your ablation gives the losses themselves, not how much they rise.
  ? With which loss does the docstring compare the one without a head?
  # The order of the heads is the same.
relative_change:
  | mean_loss(closed.reshape(gates.shape)) - before ->
  :     mean_loss(closed.reshape(gates.shape)) / before - 1
  Your ablation is divided by the loss before.
  ? Does the docstring divide by anything but the number of examples?
  # Changes are often given in per cent.
compared_with_the_last_loss:
  | by_ablation[index] = … ->
  :     after = mean_loss(closed.reshape(gates.shape))
  :     by_ablation[index] = after - before
  :     before = after
  Your ablation compares each loss with that of the head before.
  ? With which loss does the docstring compare the one without a head?
  # before = after at the end of the loop.
ablation_estimated_by_the_gradient:
  | return ( … ->
  :     gradients = [gradient_of(gates, example) for example in examples]
  :     return (by_gradient, -gates * sum(gradients) / len(examples))
  Your ablation is no measurement but an estimate: minus the gate times the mean
    gradient.
  ? For which losses is a change equal to the gradient times the step?
  # The docstring says that both agree for small changes, and that one is cheap.
ablation_summed_over_the_examples: in examples)) / len(examples) -> in examples))
  Your ablation is a sum over the examples, not a mean.
  ? Should it grow with the number of examples?
  # += over the examples is a sum until something divides it.
ablation_on_the_first_example:
  | sum((loss_of(gates, example) for example in examples)) / len(examples) ->
  :     loss_of(gates, examples[0])
  Your ablation knows the first example only.
  ? Over which examples is the loss a mean?
  # `example` is left over from another loop, or examples[0] was a trial.
flat_results: return ( … -> return (by_gradient.flatten(), by_ablation)
  Your results are flat: one axis, whatever the shape of the gates.
  ? Which shape does the docstring promise for gates (n_layers, n_heads)?
  # flatten() makes one loop enough, and the shape is not restored.
one_number_for_each_layer:
  | return ( … ->
  :     return (by_gradient.mean(-1), by_ablation.reshape(gates.shape).mean(-1))
  Your results are means over each layer's heads.
  ? How many numbers does the docstring promise for each head?
  # A mean over the last axis, where that over the examples was meant.
results_stacked:
  | return ( … -> return torch.stack([by_gradient, by_ablation.reshape(gates.shape)])
  Your two results come as one tensor.
  ? What does the docstring promise: one tensor, or two?
  # Results of one shape are easily stacked.
gates_closed_for_good:
  | given = gates.clone()
  | closed = given.flatten().clone()
  | closed[index] = 0.0 -> closed[index] = gates.view(-1)[index] = 0.0
  Your call sets the caller's gates to 0.
  ? Which tensor does gates[i] = 0 write into?
  # A view such as gates.flatten() writes into the caller's.
gates_opened_to_one:
  | closed = gates.view(-1)
  | by_ablation[index] = … ->
  :     by_ablation[index] = mean_loss(closed.reshape(gates.shape)) - before
  :     closed[index] = 1.0
  Your call closes the caller's gates and opens them again to 1, whatever they were
    before.
  ? Which tensor does gates[i] = 1 write into, and what was there before?
  # A view such as gates.flatten() writes into the caller's; most gates are 1.
last_gate_left_closed:
  | given = gates.clone()
  | closed = … -> gates.copy_(given)
  | closed[index] = 0.0 -> gates.view(-1)[index] = 0.0
  | closed.reshape(gates.shape) -> gates
  Your call leaves the caller's last gate closed.
  ? Which tensor does gates[i] = 0 write into, and when is it opened again?
  # The gate is opened at the beginning of the next round, and there is none.
""",
)

exercise.family(families.results_exchanged(), families.as_list("a tensor"))
