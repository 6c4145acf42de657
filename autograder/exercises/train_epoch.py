"""Cases and misconceptions of ``train_epoch``."""

import torch

from autograder import Exercise
from autograder.checking import families
from autograder.exercises.train import (
    add_gradient,
    batches_of,
    counting,
    descend,
    half_the_way,
    one_number,
    pull,
    roll_on,
    two_parameters,
)
from course_lib.nn.training_loop import train_epoch

exercise = Exercise(
    train_epoch,
    lesson="07_from_numpy_to_pytorch",
    minutes=10,
    difficulty=2,
    returns=("parameters", "state", "losses"),
)


@exercise.spec
def spec(gradient_of, parameters, batches, step, state):
    losses = []
    for batch in batches:
        nothing = {name: 0 * parameters[name] for name in parameters}
        loss, gradients = gradient_of(parameters, batch, nothing)
        losses.append(loss)
        parameters, state = step(parameters, gradients, state)
    return {name: p.clone() for name, p in parameters.items()}, state, losses


@exercise.usual
def usual(rng):
    start, batches = two_parameters(rng), batches_of(rng, 2, 5, 4)
    return add_gradient, start, batches, roll_on, None


@exercise.case("Halfway to 4, then halfway to 8: w is 2, and then 5")
def small_example_by_hand(student, rng):
    result = student(pull, one_number(0), [4.0, 8.0], half_the_way, None)
    student.expect(result, (one_number(5), None, [16.0, 36.0]))
    batches = [float(number) for number in rng.normal(size=3)]
    student.agrees(pull, one_number(1), batches, half_the_way, None)


@exercise.case(
    "Each step has the gradients of its own batch, and of no other", weight=2
)
def gradients_of_one_batch(student, rng):
    for lengths in ((2, 4, 3, 5), (1, 2)):
        batches, start = batches_of(rng, *lengths), two_parameters(rng)
        student.agrees(add_gradient, start, batches, descend, None)


@exercise.case("The optimizer's state goes on from step to step, to the end", weight=2)
def state_goes_on(student, rng):
    batches = batches_of(rng, 2, 4, 3)
    for step in (roll_on, counting):
        student.agrees(add_gradient, two_parameters(rng), batches, step, None)


@exercise.case("An epoch begins with the state that comes in", weight=1.5)
def state_comes_in(student, rng):
    batches = batches_of(rng, 3, 1, 4)
    velocity = two_parameters(rng)
    student.agrees(add_gradient, two_parameters(rng), batches, roll_on, velocity)
    student.agrees(add_gradient, two_parameters(rng), batches, counting, 6)


@exercise.case("The losses are those that gradient_of returned, one per batch")
def losses_of_the_batches(student, rng):
    batches, start = batches_of(rng, 1, 6, 2, around=6.0), two_parameters(rng)
    _, _, losses = student(add_gradient, start, batches, roll_on, None)
    expected = spec(add_gradient, start, batches, roll_on, None)
    student.expect(losses, expected[2], "losses")


@exercise.case(
    "The parameters that come in are not modified, and the results are right",
    weight=0.5,
)
def arguments_stay(student, rng):
    inputs = usual(rng)
    student.leaves_unchanged(*inputs)
    student.agrees(*inputs)


@exercise.case("One batch is one step", visible=False, weight=0.5)
def one_batch(student, rng):
    start, batches = two_parameters(rng), batches_of(rng, 2)
    student.agrees(add_gradient, start, batches, roll_on, None)


@exercise.variants
def variants(
    gradient_of,
    parameters,
    batches,
    step,
    state,
    *,
    zeroed="for each batch",
    steps="one per batch",
    carried="carried on",
    goes_on_from="the last step",
    order="as given",
    losses="one per batch",
    overwritten="nothing",
    returns="parameters, state, losses",
):
    start, came_in, now, values = parameters, state, parameters, []

    def zeros():
        return {name: torch.zeros_like(p) for name, p in start.items()}

    if carried == "begins with None":
        state = None
    planned = {
        "backwards": [*batches][::-1],
        "first only": [*batches][:1],
        "all but the last": [*batches][:-1] or [*batches],
    }.get(order, [*batches])
    gradients = last = zeros()
    for batch in planned:
        if zeroed == "for each batch" and steps != "one at the end":
            gradients = zeros()
        if steps == "before gradient_of":
            gradients = last
            now, state = step(now, gradients, state)
            gradients = zeros()
        if goes_on_from == "the start, in each step":
            now = start
        at = start if goes_on_from == "gradients of the start" else now
        before = gradients
        value, gradients = gradient_of(at, batch, gradients)
        last = gradients
        if zeroed == "added twice":
            gradients = {name: before[name] + g for name, g in gradients.items()}
        if zeroed == "before the step":
            gradients = zeros()
        values.append(value)
        if steps == "one per batch":
            old = None if carried == "new for each step" else state
            stepped, new = step(now, gradients, old)
            state = state if carried == "never kept" else new
            if goes_on_from != "the start":
                now = stepped
    if steps in ("one at the end", "one of the last batch"):
        now, state = step(now, gradients, state)
    if goes_on_from == "the start":
        now = stepped if len(planned) == 1 else start
    if returns == "the old parameters":
        now = start
    if returns == "the old state":
        state = came_in
    result = {name: p.clone() for name, p in now.items()}
    if overwritten == "parameters":
        for name, p in result.items():
            start[name].copy_(p)
    numbers = {
        "mean": sum(values) / len(values),
        "sum": sum(values),
        "last": values[-1],
        "list of the last": values[-1:],
        "running": [sum(values[: i + 1]) for i in range(len(values))],
    }.get(losses, values)
    return {
        "losses first": (numbers, result, state),
        "state last": (result, numbers, state),
        "no state": (result, numbers),
        "losses alone": numbers,
    }.get(returns, (result, state, numbers))


exercise.option(
    "gradients_never_zeroed",
    "Your gradients add up: each step has those of all batches so far.",
    "What do you give gradient_of as its third argument, for the second batch?",
    why="loss.backward() adds to .grad, and optimizer.zero_grad() is forgotten.",
    zeroed="never",
)
exercise.option(
    "gradients_added_twice",
    "Your gradients grow: with each batch, those of all earlier ones are added twice.",
    "What does gradient_of do with its third argument already?",
    why="The gradients that gradient_of returns are added to those it was given.",
    zeroed="added twice",
)
exercise.option(
    "gradients_zeroed_before_the_step",
    "Your gradients are zero in every step.",
    "Between gradient_of and step, what happens to the gradients?",
    why="backward(), zero_grad(), step(): the three calls in the wrong order.",
    zeroed="before the step",
)
exercise.option(
    "step_before_gradient_of",
    "Each of your steps has the gradients of the batch before; those of the last batch "
    "are never used.",
    "In the first round of your loop, which gradients does step get?",
    why="optimizer.step() is written before backward().",
    steps="before gradient_of",
)
exercise.option(
    "one_step_at_the_end",
    "Your code makes one step, with the gradients of all batches.",
    "Does your call of step belong to the loop, or come after it?",
    why="The step is written after the loop, as for one large batch.",
    steps="one at the end",
)
exercise.option(
    "one_step_of_the_last_batch",
    "Your code makes one step, with the gradients of the last batch alone.",
    "How many steps does an epoch of two batches have?",
    why="The line with the step is not indented far enough.",
    steps="one of the last batch",
)
exercise.option(
    "state_thrown_away",
    "Your optimizer starts over with each step: its state is None every time.",
    "What does the second call of step know of the first?",
    why="The optimizer is made inside the loop.",
    carried="new for each step",
)
exercise.option(
    "state_never_kept",
    "Each of your steps gets the state that came in.",
    "What becomes of the state that step returns?",
    why="The second result of step gets a name that is used nowhere.",
    carried="never kept",
)
exercise.option(
    "state_begins_with_none",
    "Your first step gets None for its state, whatever came in.",
    "What does the fifth argument say about the steps of earlier epochs?",
    why="state = None is written before the loop, as in a loop over all epochs.",
    carried="begins with None",
)
exercise.option(
    "each_step_from_the_start",
    "Each of your steps begins at the parameters that came in.",
    "Which parameters does step get for the second batch?",
    why="The stepped parameters get a new name, and the loop goes on with the old one.",
    goes_on_from="the start, in each step",
)
exercise.option(
    "new_parameters_never_used",
    "Your parameters never change: each step begins at the ones that came in.",
    "What becomes of the parameters that step returns?",
    why="The result gets a new name, and the loop goes on with the old one.",
    goes_on_from="the start",
)
exercise.option(
    "gradients_of_the_first_parameters",
    "Your gradients are always those at the parameters of the beginning.",
    "Which parameters does the second call of gradient_of get?",
    why="The argument is used where the new parameters have another name.",
    goes_on_from="gradients of the start",
)
exercise.option(
    "batches_backwards",
    "Your code goes through the batches from the last to the first.",
    "Which batch does the docstring take first?",
    why="batches.pop() is used to go through a list.",
    order="backwards",
)
exercise.option(
    "first_batch_only",
    "Your code uses the first batch only.",
    "How many steps has an epoch of three batches?",
    why="A return that is indented one level too far ends the loop.",
    order="first only",
)
exercise.option(
    "last_batch_left_out",
    "Your code leaves out the last batch.",
    "With which batch does your loop end?",
    why="range(len(batches) - 1) goes up to the last batch but one.",
    order="all but the last",
)
exercise.option(
    "mean_of_the_losses",
    "Your `losses` is one number, their mean.",
    "How many losses does the docstring promise for three batches?",
    why="The mean is what most programs print.",
    losses="mean",
)
exercise.option(
    "losses_added_up",
    "Your `losses` is one number, their sum.",
    "How many losses does the docstring promise for three batches?",
    why="total += loss, as in many loops.",
    losses="sum",
)
exercise.option(
    "loss_of_the_last_batch",
    "Your `losses` is one number, the last batch's loss.",
    "How many losses does the docstring promise for three batches?",
    why="`loss` still has its last value after the loop.",
    losses="last",
)
exercise.option(
    "last_loss_in_a_list",
    "Your `losses` has one entry, the last batch's loss.",
    "How often is the line run that adds a loss to the list, and the one that makes "
    "the list?",
    why="append stands after the loop, or the empty list is made inside of it.",
    losses="list of the last",
)
exercise.option(
    "losses_of_all_batches_so_far",
    "Your losses grow: each is the sum of those so far.",
    "What do you append to the list, the loss or the total?",
    why="A running total is kept, and appended.",
    losses="running",
)
exercise.option(
    "old_parameters_returned",
    "You return the parameters that came in, not those after the last step.",
    "Which name has the newest parameters, and which one do you return?",
    why="The new parameters have another name inside the loop.",
    returns="the old parameters",
)
exercise.option(
    "old_state_returned",
    "You return the state that came in, not the one after the last step.",
    "What would the next epoch know of this one?",
    why="The new state has another name inside the loop.",
    returns="the old state",
)
exercise.option(
    "losses_first",
    "Your results are in another order: losses, parameters, state.",
    "Which of the three does the docstring name first?",
    why="gradient_of returns its loss first.",
    returns="losses first",
)
exercise.option(
    "state_last",
    "Your results are in another order: parameters, losses, state.",
    "Which of the three does the docstring name last?",
    why="The state seems to be of the least interest.",
    returns="state last",
)
exercise.option(
    "losses_alone",
    "Your result is `losses` alone.",
    "How many results does the docstring promise, and in which order?",
    why="The losses are what one wants to see.",
    returns="losses alone",
)
exercise.option(
    "no_state_returned",
    "You return the parameters and the losses, without the state.",
    "Where does the next epoch get its state from?",
    why="Gradient descent has no state, so nothing is missed there.",
    returns="no state",
)
exercise.option(
    "parameters_overwritten",
    "Your results are right, but the tensors that came in have changed.",
    "What does a caller have after your function that still needs the start?",
    why="PyTorch's optimizers change parameters in place.",
    overwritten="parameters",
)
exercise.family(families.one_result_only("parameters"))
