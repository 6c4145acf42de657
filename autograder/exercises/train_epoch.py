"""Cases and misconceptions of ``train_epoch``."""

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


exercise.edits(
    """
gradients_never_zeroed:
  | for batch in batches:
  :     zeros = … ->
  :     gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
  :     for batch in batches:
  | batch, zeros) -> batch, gradients)
  Your gradients add up: each step has those of all batches so far.
  ? What do you give gradient_of as its third argument, for the second batch?
  # loss.backward() adds to .grad, and optimizer.zero_grad() is forgotten.
gradients_added_twice:
  | for batch in batches:
  :     zeros = … ->
  :     gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
  :     for batch in batches:
  | loss, gradients = … ->
  :     loss, new = gradient_of(parameters, batch, gradients)
  :     gradients = {name: gradients[name] + new[name] for name in new}
  Your gradients grow: with each batch, those of all earlier ones are added twice.
  ? What does gradient_of do with its third argument already?
  # The gradients that gradient_of returns are added to those it was given.
gradients_zeroed_before_the_step:
  | parameters, … ->
  :     gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
  :     parameters, state = step(parameters, gradients, state)
  Your gradients are zero in every step.
  ? Between gradient_of and step, what happens to the gradients?
  # backward(), zero_grad(), step(): the three calls in the wrong order.
step_before_gradient_of:
  | gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
  | zeros = …
  : loss, gradients = …
  : parameters, … ->
  :     parameters, state = step(parameters, gradients, state)
  :     zeros = {name: torch.zeros_like(p) for name, p in parameters.items()}
  :     loss, gradients = gradient_of(parameters, batch, zeros)
  Each of your steps has the gradients of the batch before; those of the last batch
    are never used.
  ? In the first round of your loop, which gradients does step get?
  # optimizer.step() is written before backward().
one_step_at_the_end:
  | for batch in batches:
  :     zeros = … ->
  :     gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
  :     for batch in batches:
  | batch, zeros) -> batch, gradients)
  | parameters, …
  : losses.append(loss) -> losses.append(loss)
  | return ( … ->
  :     parameters, state = step(parameters, gradients, state)
  :     return (parameters, state, losses)
  Your code makes one step, with the gradients of all batches.
  ? Does your call of step belong to the loop, or come after it?
  # The step is written after the loop, as for one large batch.
one_step_of_the_last_batch:
  | parameters, …
  : losses.append(loss) -> losses.append(loss)
  | return ( … ->
  :     parameters, state = step(parameters, gradients, state)
  :     return (parameters, state, losses)
  Your code makes one step, with the gradients of the last batch alone.
  ? How many steps does an epoch of two batches have?
  # The line with the step is not indented far enough.
state_thrown_away: gradients, state) -> gradients, None)
  Your optimizer starts over with each step: its state is None every time.
  ? What does the second call of step know of the first?
  # The optimizer is made inside the loop.
state_never_kept: parameters, state = -> parameters, _ =
  Each of your steps gets the state that came in.
  ? What becomes of the state that step returns?
  # The second result of step gets a name that is used nowhere.
state_begins_with_none: state = None
  Your first step gets None for its state, whatever came in.
  ? What does the fifth argument say about the steps of earlier epochs?
  # state = None is written before the loop, as in a loop over all epochs.
each_step_from_the_start:
  | parameters, state = -> new_parameters, state =
  | return (new_parameters, state, losses)
  Each of your steps begins at the parameters that came in.
  ? Which parameters does step get for the second batch?
  # The stepped parameters get a new name, and the loop goes on with the old one.
new_parameters_never_used: parameters, state = -> new_parameters, state =
  Your parameters never change: each step begins at the ones that came in.
  ? What becomes of the parameters that step returns?
  # The result gets a new name, and the loop goes on with the old one.
gradients_of_the_first_parameters:
  | start = parameters
  | gradient_of(parameters -> gradient_of(start
  Your gradients are always those at the parameters of the beginning.
  ? Which parameters does the second call of gradient_of get?
  # The argument is used where the new parameters have another name.
batches_backwards: in batches -> in reversed(batches)
  Your code goes through the batches in another order than they come in.
  ? Which batch does the docstring take first?
  # batches.pop() is used to go through a list.
first_batch_only: in batches -> in batches[:1]
  Your code uses the first batch only.
  ? How many steps has an epoch of three batches?
  # A return that is indented one level too far ends the loop.
last_batch_left_out: in batches -> in batches[:-1] or batches
  Your code leaves out the last batch.
  ? With which batch does your loop end?
  # range(len(batches) - 1) goes up to the last batch but one.
losses_after_the_step:
  | losses.append(loss) ->
  :     zeros = {name: torch.zeros_like(p) for name, p in parameters.items()}
  :     losses.append(gradient_of(parameters, batch, zeros)[0])
  Your losses are those of the parameters that the step has made.
  ? To which parameters does the loss belong that comes with the gradients?
  # A loss is noted to see what a step has brought, as in a plot of progress.
mean_of_the_losses: return (parameters, state, sum(losses) / len(losses))
  Your `losses` is one number, their mean.
  ? How many losses does the docstring promise for three batches?
  # The mean is what most programs print.
losses_added_up: return (parameters, state, sum(losses))
  Your `losses` is one number, their sum.
  # total += loss, as in many loops.
loss_of_the_last_batch: return (parameters, state, loss)
  Your `losses` is one number, the last batch's loss.
  # `loss` still has its last value after the loop.
last_loss_in_a_list: losses.append(loss) -> losses = [loss]
  Your `losses` has one entry, the last batch's loss.
  ? How often is the line run that adds a loss to the list, and the one that makes the
    list?
  # append stands after the loop, or the empty list is made inside of it.
losses_of_all_batches_so_far:
  | total = 0.0
  | losses.append(loss) ->
  :     total += loss
  :     losses.append(total)
  Your losses grow: each is the sum of those so far.
  ? What do you append to the list, the loss or the total?
  # A running total is kept, and appended.
old_parameters_returned:
  | start = parameters
  | return (start, state, losses)
  You return the parameters that came in, not those after the last step.
  ? Which name has the newest parameters, and which one do you return?
  # The new parameters have another name inside the loop.
old_state_returned:
  | came_in = state
  | return (parameters, came_in, losses)
  You return the state that came in, not the one after the last step.
  ? What would the next epoch know of this one?
  # The new state has another name inside the loop.
losses_first: return (losses, parameters, state)
  Your results are in another order: losses, parameters, state.
  ? Which of the three does the docstring name first?
  # gradient_of returns its loss first.
state_last: return (parameters, losses, state)
  Your results are in another order: parameters, losses, state.
  ? Which of the three does the docstring name last?
  # The state seems to be of the least interest.
losses_alone: return losses
  Your result is `losses` alone.
  ? How many results does the docstring promise, and in which order?
  # The losses are what one wants to see.
no_state_returned: return (parameters, losses)
  You return the parameters and the losses, without the state.
  ? Where does the next epoch get its state from?
  # Gradient descent has no state, so nothing is missed there.
parameters_overwritten:
  | parameters, … ->
  :     new, state = step(parameters, gradients, state)
  :     for name, p in parameters.items():
  :         p.copy_(new[name])
  Your results are right, but the parameters that came in have changed: the tensors, or
    what the dictionary holds.
  ? What does a caller have after your function that still needs the start?
  # PyTorch's optimizers change parameters in place.
""",
)

exercise.family(families.one_result_only("parameters"))
