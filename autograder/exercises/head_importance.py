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
    "A kind of attention, a layer, a head: gates of three axes, and of none",
    visible=False,
)
def any_shape(student, rng):
    arguments = joint_loss, joint_gradient
    student.agrees(*arguments, drawn(rng, 3, 1, 2), some_examples(rng, 2))
    student.agrees(*arguments, drawn(rng), some_examples(rng, 2))
    student.agrees(*arguments, drawn(rng, 2, 3).float(), some_examples(rng, 2))


@exercise.variants
def variants(
    loss_of,
    gradient_of,
    gates,
    examples,
    *,
    absolute="of each example",
    together="mean",
    at="gates",
    times="nothing",
    per_layer="as it is",
    closed="one",
    others="as given",
    change="after minus before",
    averaged="all examples",
    closed_to=0.0,
    numbers="all",
    order="gradient, ablation",
    overwritten="nothing",
):
    n = len(examples)
    start = {
        "ones": torch.ones_like(gates),
        "zeros": torch.zeros_like(gates),
    }.get(at, gates)
    gradients = torch.stack(
        [gradient_of(start.clone(), example) for example in examples]
    )
    if times == "the gates":
        gradients = gradients * start
    by_gradient = {
        "of the mean": lambda: gradients.mean(0).abs(),
        "nowhere": lambda: gradients.mean(0),
        "squared": lambda: (gradients**2).mean(0),
        "root of squares": lambda: (gradients**2).mean(0).sqrt(),
        "largest": lambda: gradients.abs().amax(0),
        "median": lambda: gradients.abs().sort(0).values[(n - 1) // 2],
        "negative": lambda: -gradients.mean(0),
    }.get(absolute, lambda: gradients.abs().mean(0))()
    if together in ("sum", "sum of gradients"):
        by_gradient = by_gradient * n
    if together == "first":
        by_gradient = gradients[0].abs()
    if together == "last":
        by_gradient = gradients[-1].abs()
    if per_layer == "of length 1" and gates.ndim:
        by_gradient = by_gradient / by_gradient.norm(dim=-1, keepdim=True)
    elif per_layer == "of sum 1":
        by_gradient = by_gradient / by_gradient.sum()

    measured = examples[:1] if averaged == "first example" else examples

    def mean_loss(gates):
        losses = [loss_of(gates.clone(), example) for example in measured]
        return sum(losses) / (1 if together == "sum" else len(losses))

    base = torch.ones_like(start) if others == "all open" else start
    before = mean_loss(base)
    if others == "all open, but before":
        base = torch.ones_like(start)
    flat, n_gates = base.flatten().clone(), gates.numel()
    by_ablation = torch.zeros(n_gates, dtype=gates.dtype)
    length = gates.shape[-1] if gates.ndim else 1
    for index in range(n_gates):
        if closed == "all but one":
            tried = torch.zeros_like(flat)
            tried[index] = flat[index]
        elif closed == "its layer":
            tried = flat.clone()
            first = index // length * length
            tried[first : first + length] = 0.0
        elif closed == "it and those before":
            tried = flat.clone()
            tried[: index + 1] = 0.0
        elif closed == "its row":
            row = index // (n_gates // len(gates))
            tried = flat.clone().reshape(gates.shape)
            tried[row] = 0.0
        else:
            tried = flat.clone()
            tried[index] = closed_to
        after = mean_loss(tried.reshape(gates.shape))
        if overwritten == "opened to 1":
            flat[index] = 1.0
        by_ablation[index] = {
            "before minus after": before - after,
            "absolute": abs(after - before),
            "after": after,
            "relative": (after - before) / before,
        }.get(change, after - before)
        if change == "from the last":
            before = after
    by_ablation = by_ablation.reshape(gates.shape)
    if averaged == "not":
        by_ablation = by_ablation * n
    if change == "by the gradient":
        by_ablation = -start * gradients.mean(0)
    if numbers == "flat":
        by_gradient, by_ablation = by_gradient.flatten(), by_ablation.flatten()
    if numbers == "by layer" and gates.ndim:
        by_gradient, by_ablation = by_gradient.mean(-1), by_ablation.mean(-1)
    if overwritten == "gates":
        gates[...] = 0.0
    if overwritten == "opened to 1":
        gates[...] = 1.0
    if overwritten == "last gate":
        gates.view(-1)[-1] = 0.0
    if order == "stacked":
        return torch.stack([by_gradient, by_ablation])
    return by_gradient, by_ablation


exercise.option(
    "absolute_value_of_the_mean",
    "Your gradients are averaged first, and lose their signs after that.",
    "What is left of a head that helps one example as much as it harms another?",
    why="One backward pass over a batch gives the gradient of the mean loss.",
    absolute="of the mean",
)
exercise.option(
    "signs_kept",
    "Your importance by gradient has signs: gradients of both signs cancel.",
    "Is a head whose gradient is −3 less important than one whose gradient is 0?",
    why="The gradient is taken as it comes from autograd.",
    absolute="nowhere",
)
exercise.option(
    "minus_the_mean_gradient",
    "Your importance by gradient is minus the mean gradient.",
    "Is a head whose gradient is 3 less important than one whose gradient is 0?",
    why="That is the change which the gradient predicts for the ablation.",
    absolute="negative",
)
exercise.option(
    "squared_gradients",
    "Your importance by gradient is the mean of squares.",
    "Which function of each gradient does the docstring average?",
    why="The Fisher information is such a mean, and removes signs too.",
    absolute="squared",
)
exercise.option(
    "root_of_mean_squares",
    "Your importance by gradient is the root of a mean of squares.",
    "Which function of each gradient does the docstring average?",
    why="A norm over the examples removes signs too.",
    absolute="root of squares",
)
exercise.option(
    "largest_gradient",
    "Your importance by gradient is that of the example with the largest.",
    "How does the docstring put the examples together?",
    why="What matters once is important, one might say.",
    absolute="largest",
)
exercise.option(
    "median_gradient",
    "Your importance by gradient is a median over the examples.",
    "How does the docstring put the examples together?",
    why="A median does not mind examples out of the ordinary.",
    absolute="median",
)
exercise.option(
    "sums_over_the_examples",
    "Your two results are sums over the examples.",
    "Should twice as many examples make a head twice as important?",
    why="`+=` in a loop gives a sum, and the order of the heads is the same.",
    together="sum",
)
exercise.option(
    "gradients_summed",
    "Your importance by gradient is a sum over the examples.",
    "Should twice as many examples make a head twice as important?",
    why="PyTorch adds gradients up, one backward pass after another.",
    together="sum of gradients",
)
exercise.option(
    "gradient_of_the_first_example",
    "Your importance by gradient knows the first example only.",
    "How often does your first loop run before something is returned?",
    why="`return`, or a division, is indented into the loop.",
    together="first",
)
exercise.option(
    "gradient_of_the_last_example",
    "Your importance by gradient knows the last example only.",
    "What happens to the earlier gradients when the next one comes?",
    why="`=` stands in the loop where `+=` was meant.",
    together="last",
)
exercise.option(
    "measured_at_ones",
    "Your numbers are measured with all gates at 1, whatever gates are given.",
    "Where is the argument `gates` used in your code, but for its shape?",
    why="A whole model has gates of ones.",
    at="ones",
)
exercise.option(
    "measured_at_zeros",
    "Your numbers are measured with all gates at 0.",
    "Which gates does the docstring say to start from?",
    why="torch.zeros_like(gates) is at hand for the result.",
    at="zeros",
)
exercise.option(
    "others_fully_open",
    "In your ablation the other gates are at 1, whatever they are in `gates`.",
    "What should the other gates be while one is closed?",
    why="torch.ones_like(gates) with one zero is the textbook's ablation.",
    others="all open",
)
exercise.option(
    "others_opened_for_the_ablation",
    "In your ablation the other gates are at 1 while one is closed, and as given "
    "before.",
    "By how many gates do the two losses differ that you subtract?",
    why="torch.ones_like(gates) with one zero is the textbook's ablation.",
    others="all open, but before",
)
exercise.option(
    "gradient_times_gate",
    "Your gradients are multiplied by the gates.",
    "Does the docstring multiply the gradient by anything?",
    why="Gradient times input is another well-known measure.",
    times="the gates",
)
exercise.option(
    "normalised_by_layer",
    "Your importance by gradient is divided by a norm over each layer's heads.",
    "Does the docstring compare heads with others of their layer?",
    why="Michel et al. do so before they prune, after Molchanov et al. (2017).",
    per_layer="of length 1",
)
exercise.option(
    "shares_of_the_whole",
    "Your importance by gradient sums to 1 over all heads.",
    "Does the docstring divide by anything but the number of examples?",
    why="Shares are easy to read.",
    per_layer="of sum 1",
)
exercise.option(
    "all_others_closed",
    "Your ablation closes all heads but one.",
    "How many heads are closed at a time, according to the docstring?",
    why="Whether one head is enough is a question of the same paper, section 3.3.",
    closed="all but one",
)
exercise.option(
    "closed_heads_stay_closed",
    "Your closed heads stay closed when the next one's turn comes.",
    "What is in your gates when the second head is closed?",
    why="gates[i] = 0 without a copy, or without opening it again.",
    closed="it and those before",
)
exercise.option(
    "whole_layers_closed",
    "Your ablation closes all heads of a layer at once.",
    "What does gates[i] stand for where gates have two axes?",
    why="A loop over gates meets rows.",
    closed="its layer",
)
exercise.option(
    "rows_of_gates_closed",
    "Your ablation closes all of gates[i] at once: a single gate only where gates have "
    "one axis.",
    "What does gates[i] stand for where gates have two axes?",
    why="A loop over gates meets rows.",
    closed="its row",
)
exercise.option(
    "gates_set_to_one",
    "Your ablation sets a gate to 1.",
    "Which number closes a head?",
    why="In many masks a 1 marks what is taken away.",
    closed_to=1.0,
)
exercise.option(
    "signs_of_the_ablation_reversed",
    "Your ablation has its signs turned round.",
    "If the loss rises without a head, which sign does its number have?",
    why="'Before minus after' is what is lost in accuracy or BLEU.",
    change="before minus after",
)
exercise.option(
    "sign_of_the_ablation_lost",
    "Your ablation has no signs.",
    "What does the docstring promise where the loss falls without a head?",
    why="The importance by gradient is an absolute value, and one expects another.",
    change="absolute",
)
exercise.option(
    "losses_after_the_ablation",
    "Your ablation gives the losses themselves, not how much they rise.",
    "With which loss does the docstring compare the one without a head?",
    why="The order of the heads is the same.",
    change="after",
)
exercise.option(
    "relative_change",
    "Your ablation is divided by the loss before.",
    "Does the docstring divide by anything but the number of examples?",
    why="Changes are often given in per cent.",
    change="relative",
)
exercise.option(
    "compared_with_the_last_loss",
    "Your ablation compares each loss with that of the head before.",
    "With which loss does the docstring compare the one without a head?",
    why="before = after at the end of the loop.",
    change="from the last",
)
exercise.option(
    "ablation_estimated_by_the_gradient",
    "Your ablation is no measurement but an estimate: minus the gate times the mean "
    "gradient.",
    "For which losses is a change equal to the gradient times the step?",
    why="The docstring says that both agree for small changes, and that one is cheap.",
    change="by the gradient",
)
exercise.option(
    "ablation_summed_over_the_examples",
    "Your ablation is a sum over the examples, not a mean.",
    "Should it grow with the number of examples?",
    why="+= over the examples is a sum until something divides it.",
    averaged="not",
)
exercise.option(
    "ablation_on_the_first_example",
    "Your ablation knows the first example only.",
    "Over which examples is the loss a mean?",
    why="`example` is left over from another loop, or examples[0] was a trial.",
    averaged="first example",
)
exercise.option(
    "flat_results",
    "Your results are flat: one axis, whatever the shape of the gates.",
    "Which shape does the docstring promise for gates (n_layers, n_heads)?",
    why="flatten() makes one loop enough, and the shape is not restored.",
    numbers="flat",
)
exercise.option(
    "one_number_for_each_layer",
    "Your results are means over each layer's heads.",
    "How many numbers does the docstring promise for each head?",
    why="A mean over the last axis, where that over the examples was meant.",
    numbers="by layer",
)
exercise.option(
    "results_stacked",
    "Your two results come as one tensor.",
    "What does the docstring promise: one tensor, or two?",
    why="Results of one shape are easily stacked.",
    order="stacked",
)
exercise.option(
    "gates_closed_for_good",
    "Your call sets the caller's gates to 0.",
    "Which tensor does gates[i] = 0 write into?",
    why="A view such as gates.flatten() writes into the caller's.",
    overwritten="gates",
)
exercise.option(
    "gates_opened_to_one",
    "Your call closes the caller's gates and opens them again to 1, whatever they were "
    "before.",
    "Which tensor does gates[i] = 1 write into, and what was there before?",
    why="A view such as gates.flatten() writes into the caller's; most gates are 1.",
    overwritten="opened to 1",
)
exercise.option(
    "last_gate_left_closed",
    "Your call leaves the caller's last gate closed.",
    "Which tensor does gates[i] = 0 write into, and when is it opened again?",
    why="The gate is opened at the beginning of the next round, and there is none.",
    overwritten="last gate",
)
exercise.family(families.results_exchanged(), families.as_list("a tensor"))
