"""Cases and misconceptions of ``train``."""

import numpy as np
import torch

from autograder import Exercise
from autograder.checking import families
from course_lib.nn.training_loop import train

exercise = Exercise(
    train,
    lesson="07_from_numpy_to_pytorch",
    minutes=12,
    difficulty=2,
    uses=("train_epoch",),
    returns=("best", "losses", "held_out_losses"),
)


@exercise.spec
def spec(gradient_of, parameters, batches, step, loss_of, held_out, epochs):
    now, state = dict(parameters), None
    after_each_epoch, losses, held_out_losses = [], [], []
    for _ in range(epochs):
        of_batches = []
        for batch in batches:
            nothing = {name: 0 * now[name] for name in now}
            loss, gradients = gradient_of(now, batch, nothing)
            of_batches.append(loss)
            now, state = step(now, gradients, state)
        of_held_out = [loss_of(now, batch, False) for batch in held_out]
        losses.append(sum(of_batches) / len(of_batches))
        held_out_losses.append(sum(of_held_out) / len(of_held_out))
        after_each_epoch.append(now)
    epoch = 0
    for other in range(epochs):
        if held_out_losses[other] < held_out_losses[epoch]:
            epoch = other
    best = {name: each.clone() for name, each in after_each_epoch[epoch].items()}
    return best, losses, held_out_losses


# A model that learns one number w, from batches that are numbers, too. A step goes half
# the way from w to the batch.


def pull(parameters, batch, gradients):
    error = parameters["w"] - batch
    return float(error) ** 2, {"w": gradients["w"] + 2 * error}


def half_the_way(parameters, gradients, state):
    return {"w": parameters["w"] - 0.25 * gradients["w"]}, state


def distance(parameters, batch, training):
    return float(parameters["w"] - batch) ** 2 + (16.0 if training else 0.0)


# A model that learns to count: w is the number of steps. A held-out batch is a list of
# losses, by the number of steps before.


def count(parameters, batch, gradients):
    return float(batch), {"w": gradients["w"] - 1}


def one_more(parameters, gradients, state):
    return {"w": parameters["w"] - gradients["w"]}, state


def loss_by_steps(parameters, batch, training):
    steps = max(0, min(round(float(parameters["w"])), len(batch) - 1))
    return 1.5 * batch[steps] + 0.125 * steps if training else batch[steps]


# A model of two parameters: each row of a batch should be w + b. In training mode one
# number of w is dropped, and the others grow; which one, depends on the batch's length.


def predicted(parameters, batch, training):
    used = torch.ones(3, dtype=batch.dtype)
    if training:
        used = 1.5 * (torch.arange(3) != len(batch) % 3)
    return parameters["w"] * used + parameters["b"], used


def add_gradient(parameters, batch, gradients):
    prediction, used = predicted(parameters, batch, True)
    slope = 2 * (prediction - batch).mean(dim=0)
    w, b = gradients["w"] + slope * used, gradients["b"] + slope.sum()
    return float(((prediction - batch) ** 2).sum(dim=-1).mean()), {"w": w, "b": b}


def squared_error(parameters, batch, training):
    prediction, _ = predicted(parameters, batch, training)
    return float(((prediction - batch) ** 2).sum(dim=-1).mean())


def descend(parameters, gradients, state):
    """Make a step of gradient descent with weight decay, which has no state."""
    return {
        name: 0.98 * p - 0.05 * gradients[name] for name, p in parameters.items()
    }, state


def roll_on(parameters, gradients, state):
    """Make a step with momentum: the state is a velocity for each parameter."""
    velocity = {
        name: 0.75 * (state[name] if state else 0) + gradient
        for name, gradient in gradients.items()
    }
    return {name: p - 0.05 * velocity[name] for name, p in parameters.items()}, velocity


def counting(parameters, gradients, state):
    """Make a step that is the smaller, the more there were before."""
    number = 1 if state is None else state + 1
    share = 0.1 / number
    return {name: p - share * gradients[name] for name, p in parameters.items()}, number


def one_number(w):
    return {"w": torch.tensor(float(w), dtype=torch.float64)}


def drawn(rng, *shape):
    return torch.from_numpy(np.array(rng.normal(size=shape)))


def two_parameters(rng):
    return {"w": drawn(rng, 3), "b": drawn(rng)}


def batches_of(rng, *lengths, around=0.0):
    return [around + drawn(rng, length, 3) for length in lengths]


@exercise.usual
def usual(rng):
    return (
        add_gradient,
        two_parameters(rng),
        batches_of(rng, 2, 5, 4),
        roll_on,
        squared_error,
        batches_of(rng, 3, 2, 4),
        3,
    )


@exercise.case(
    "Half the way to 4, then to 8, and that twice: after the first epoch w is 5",
    weight=1.5,
)
def small_example_by_hand(student, rng):
    # w: 0 → 2 → 5, then 4.5 → 6.25; the losses are 4², 6² and then 1², 3.5².
    result = student(pull, one_number(0), [4.0, 8.0], half_the_way, distance, [5.0], 2)
    student.expect(result, (one_number(5), [26.0, 6.625], [0.0, 1.5625]))
    batches = [float(number) for number in rng.normal(size=3)]
    student.agrees(pull, one_number(1), batches, half_the_way, distance, [0.5], 2)


@exercise.case(
    "Each step has the gradients of its own batch, and of no other", weight=2
)
def gradients_of_one_batch(student, rng):
    held_out = batches_of(rng, 3, 1)
    for lengths in ((2, 4, 3, 5), (1, 2)):
        batches = batches_of(rng, *lengths)
        start = two_parameters(rng)
        student.agrees(
            add_gradient, start, batches, descend, squared_error, held_out, 2
        )


@exercise.case("The optimizer's state goes on from step to step, to the end", weight=2)
def state_goes_on(student, rng):
    batches, held_out = batches_of(rng, 2, 4), batches_of(rng, 3, 5, 1)
    for step in (roll_on, counting):
        start = two_parameters(rng)
        student.agrees(add_gradient, start, batches, step, squared_error, held_out, 3)


@exercise.case(
    "The loss of an epoch is the mean of what gradient_of returned for its batches",
    weight=1.5,
)
def mean_of_the_batches(student, rng):
    # Batches of 1, 2 and 6 rows count alike; away from them is where held_out is.
    batches, start = batches_of(rng, 1, 6, 2, around=6.0), two_parameters(rng)
    _, losses, _ = student(
        add_gradient, start, batches, roll_on, squared_error, batches_of(rng, 3), 5
    )
    expected = spec(add_gradient, start, batches, roll_on, squared_error, batches, 5)
    student.expect(losses, expected[1], "losses")


@exercise.case(
    "The held-out loss is the mean over all held-out batches, in evaluation mode",
    weight=2,
)
def held_out_in_evaluation_mode(student, rng):
    tables = [[9, 4, 7, 2], [9, 6, 8, 0]]
    result = student(count, one_number(0), [1.0], one_more, loss_by_steps, tables, 3)
    student.expect(result[2], [5.0, 7.5, 1.0], "held_out_losses")
    held_out, start = batches_of(rng, 1, 6, 2), two_parameters(rng)
    batches = batches_of(rng, 4, 5)
    _, _, held_out_losses = student(
        add_gradient, start, batches, roll_on, squared_error, held_out, 3
    )
    expected = spec(add_gradient, start, batches, roll_on, squared_error, held_out, 3)
    student.expect(held_out_losses, expected[2], "held_out_losses")


@exercise.case("The best parameters are kept while the training goes on", weight=2)
def best_is_kept(student, rng):
    # Two steps per epoch: held out, the epochs have the losses 5, 2, 4, 3, 6.
    held_out = [[9, 9, 5, 0, 2, 8, 4, 1, 3, 0, 6]]
    result = student(
        count, one_number(0), [7.0, 1.0], one_more, loss_by_steps, held_out, 5
    )
    student.expect(result[0]["w"], one_number(4)["w"], "best['w']")
    student.expect(result[2], [5.0, 2.0, 4.0, 3.0, 6.0], "held_out_losses")
    held_out = [[9.0, *rng.permutation([1.0, 2.0, 3.0, 4.0, 5.0]).tolist()]]
    batch = [float(rng.integers(2, 9))]
    student.agrees(count, one_number(0), batch, one_more, loss_by_steps, held_out, 5)
    # A loss that is summed over many tokens may be above any bound.
    large = [[9e12, *(2e12 + 5e10 * rng.permutation(4)).tolist()]]
    student.agrees(count, one_number(0), batch, one_more, loss_by_steps, large, 4)


@exercise.case("All epochs are run, also where the held-out loss rises", weight=1)
def no_early_end(student, rng):
    held_out = [[9.0, 2.0, 5.0, 6.0, 7.0, 4.0, 1.0, 8.0]]
    result = student(count, one_number(0), [3.0], one_more, loss_by_steps, held_out, 7)
    student.expect(result[0]["w"], one_number(6)["w"], "best['w']")
    student.agrees(
        pull, one_number(5), [float(rng.normal())], half_the_way, distance, [4.0], 4
    )


@exercise.case(
    "Of two epochs with equal held-out losses the first is the best", pays_alone=False
)
def first_of_equals(student, rng):
    # w: 0 → 4 → 6 → 7; held out, (4 − 5)² and (6 − 5)² are the same.
    result = student(pull, one_number(0), [8.0], half_the_way, distance, [5.0], 3)
    student.expect(result, (one_number(4), [64.0, 16.0, 4.0], [1.0, 1.0, 4.0]))
    low, high = sorted(rng.integers(1, 99, size=2).tolist())
    held_out = [[high + 2, high + 1, low, high, low, high + 3]]
    student.agrees(count, one_number(0), [2.0], one_more, loss_by_steps, held_out, 5)


@exercise.case(
    "The parameters that come in are not modified, and the results are right"
)
def arguments_stay(student, rng):
    batches, start = batches_of(rng, 2, 3), two_parameters(rng)
    held_out = batches_of(rng, 4, 1)
    inputs = add_gradient, start, batches, roll_on, squared_error, held_out, 2
    student.leaves_unchanged(*inputs)
    student.agrees(*inputs)


@exercise.case("One epoch of one batch, and one held-out batch", visible=False)
def one_of_each(student, rng):
    student.agrees(
        add_gradient,
        two_parameters(rng),
        batches_of(rng, 2),
        roll_on,
        squared_error,
        batches_of(rng, 4),
        1,
    )


@exercise.right_answer
def in_steps(gradient_of, parameters, batches, step, loss_of, held_out, epochs):
    state, losses, held_out_losses = (None, [], [])
    best, lowest = (None, torch.inf)
    blank = {name: torch.zeros_like(p) for name, p in parameters.items()}
    for _ in range(epochs):
        of_epoch = []
        for batch in batches:
            loss, gradients = gradient_of(parameters, batch, blank)
            parameters, state = step(parameters, gradients, state)
            of_epoch.append(loss)
        losses.append(sum(of_epoch) / len(of_epoch))
        held_out_loss = sum(
            loss_of(parameters, batch, False) for batch in held_out
        ) / len(held_out)
        if held_out_loss < lowest:
            lowest = held_out_loss
            best = {name: p.clone() for name, p in parameters.items()}
        held_out_losses.append(held_out_loss)
    return (best, losses, held_out_losses)


exercise.edits(
    """
gradients_never_zeroed: blank => gradients
  Your gradients add up: each step has those of all batches so far.
  ? What do you give gradient_of as its third argument, for the second batch?
  # loss.backward() adds to .grad, and optimizer.zero_grad() is forgotten.
gradients_added_twice:
  | blank = { -> gradients = {
  | loss, gradients = … ->
  :     loss, new = gradient_of(parameters, batch, gradients)
  :     gradients = {name: gradients[name] + new[name] for name in new}
  Your gradients grow: with each batch, those of all earlier ones are added twice.
  ? What does gradient_of do with its third argument already?
  # The gradients that gradient_of returns are added to those it was given.
gradients_zeroed_once_per_epoch:
  | of_epoch = [] -> of_epoch, gradients = ([], blank)
  | batch, blank -> batch, gradients
  Your gradients add up within an epoch: they begin at zero with each epoch only.
  ? What do you give gradient_of as its third argument, for the second batch?
  # zero_grad() stands outside the inner loop.
gradients_zeroed_before_the_step: step(parameters, gradients -> step(parameters, blank
  Your gradients are zero in every step.
  ? Between gradient_of and step, what happens to the gradients?
  # backward(), zero_grad(), step(): the three calls in the wrong order.
held_out_gradients_in_the_next_step:
  | blank = { -> blank = gradients = {
  | batch, blank -> batch, gradients
  | of_epoch.append… ->
  :     of_epoch.append(loss)
  :     gradients = blank
  | if held_out_loss < lowest: ->
  :     for batch in held_out:
  :         _, gradients = gradient_of(parameters, batch, gradients)
  :     if held_out_loss < lowest:
  Your first step of each new epoch has the gradients of the held-out batches too.
  ? Which of the functions that you are given leaves gradients alone?
  # The held-out loss is computed without torch.no_grad(), with a backward().
step_before_gradient_of:
  | blank = { -> blank = gradients = {
  | loss, gradients = …
  : parameters, state = … ->
  :     parameters, state = step(parameters, gradients, state)
  :     loss, gradients = gradient_of(parameters, batch, blank)
  Each of your steps has the gradients of the batch before; those of the last batch
    are never used.
  ? In the first round of your loop, which gradients does step get?
  # optimizer.step() is written before backward().
one_step_per_epoch:
  | of_epoch = [] -> of_epoch, gradients = ([], blank)
  | batch, blank -> batch, gradients
  | parameters, state = … ->
  | losses.append… ->
  :     parameters, state = step(parameters, gradients, state)
  :     losses.append(sum(of_epoch) / len(of_epoch))
  Your code makes one step per epoch, with the gradients of all its batches.
  ? In which of the two loops does your call of step stand?
  # optimizer.step() is indented one level too little.
state_thrown_away: gradients, state) -> gradients, None)
  Your optimizer starts over with each step: its state is None every time.
  ? What does the second call of step know of the first?
  # The optimizer is made inside the loop.
state_thrown_away_with_each_epoch: of_epoch = [] -> of_epoch, state = ([], None)
  Your optimizer starts over with each epoch: its state is None there.
  ? What does the first step of the second epoch know of those before?
  # The optimizer is made inside the outer loop.
new_parameters_never_used: parameters, state = -> new_parameters, state =
  Your parameters never change: each step begins at the ones that came in.
  ? What becomes of the parameters that step returns?
  # The result gets a new name, and the loop goes on with the old one.
gradients_at_the_start_of_the_epoch:
  | of_epoch = [] -> of_epoch, before = ([], parameters)
  | gradient_of(parameters -> gradient_of(before
  Your gradients are those at the parameters of the epoch's start.
  ? Which parameters does gradient_of get for the second batch of an epoch?
  # A copy that was made before the inner loop is passed on.
each_epoch_from_the_start:
  | start = parameters
  | of_epoch = [] -> of_epoch, parameters = ([], start)
  Each of your epochs begins at the parameters that came in.
  ? Which parameters does your second epoch get?
  # train_epoch is called with `parameters` each time, and its result has another
    name.
goes_back_to_the_best:
  | held_out_losses.append… ->
  :     held_out_losses.append(held_out_loss)
  :     parameters = best
  Each of your epochs begins at the best parameters so far.
  ? Where does a training go on, after an epoch that was worse than the one before?
  # One name serves both for the best parameters and for the newest.
trained_on_held_out_data: in batches: -> in [*batches, *held_out]:
  Your code makes steps on the held-out batches, too.
  ? What would a loss on batches that were trained on tell?
  # More data is always welcome: the two lists are joined.
first_batch_only: in batches: -> in batches[:1]:
  Your epochs have one batch each, the first.
  ? How many steps has an epoch of three batches?
  # next(iter(batches)) to try it out, or a return in the inner loop.
batches_backwards: in batches: -> in batches[::-1]:
  Your epochs go through the batches from the last to the first.
  ? Which batch does the docstring take first?
  # batches.pop() is used to go through a list.
one_epoch_only:
  | held_out_losses.append… ->
  :     held_out_losses.append(held_out_loss)
  :     break
  Your code makes one epoch, whatever epochs says.
  ? How often do you go through batches where epochs is 3?
  # A return inside the outer loop, or an iterator that is used up.
one_epoch_too_many: range(epochs) -> range(epochs + 1)
  Your code makes one epoch too many.
  ? With which numbers does your loop over the epochs begin and end?
  # range(epochs + 1), with 0 for the state before the training.
stops_when_the_loss_rises:
  | held_out_losses.append… ->
  :     held_out_losses.append(held_out_loss)
  :     if held_out_loss > lowest:
  :         break
  Your code stops as soon as a held-out loss is higher than the one before.
  ? Does the docstring say that a training may end early?
  # Early stopping, with a patience of 0.
loops_exchanged:
  | for _ in range(epochs): ->
  :     in_turn = [batch for batch in batches for _ in range(epochs)]
  :     for start in range(0, len(in_turn), len(batches)):
  | in batches: -> in in_turn[start:start + len(batches)]:
  Your code makes several steps in a row on one batch, before it takes the next.
  ? Which of your two loops is the outer one?
  # The two loops are written in the order of the arguments.
held_out_in_training_mode: False -> True
  Your held-out losses are those of training mode.
  ? Should anything be dropped while you measure how good a model is?
  # model.eval() is forgotten, or its effect on dropout is not known.
evaluated_before_the_epoch:
  | of_epoch = [] -> of_epoch, before = ([], parameters)
  | loss_of(parameters -> loss_of(before
  | p.clone() for name, p in parameters -> p.clone() for name, p in before
  Your held-out losses are those before each epoch.
  ? Which parameters should the first held-out loss belong to?
  # The evaluation is written at the top of the loop.
losses_before_the_epoch_parameters_behind_it:
  | of_epoch = [] -> of_epoch, before = ([], parameters)
  | loss_of(parameters -> loss_of(before
  Your held-out losses are those before each epoch, and the parameters that are kept are
    those after it.
  ? Which parameters should the first held-out loss belong to?
  # The evaluation is written at the top of the loop, and the choice at its end.
evaluated_after_each_batch:
  | of_epoch.append… ->
  :     of_epoch.append(loss)
  :     held_out_loss = sum(
  :         (loss_of(parameters, batch, False) for batch in held_out)
  :     ) / len(held_out)
  :     if held_out_loss < lowest:
  :         lowest = held_out_loss
  :         best = {name: p.clone() for name, p in parameters.items()}
  :     held_out_losses.append(held_out_loss)
  | held_out_loss = …
  : if held_out_loss < lowest:
  :     lowest = …
  :     best = …
  : held_out_losses.append… ->
  Your held-out losses are one per batch.
  ? In which of the two loops does your evaluation stand?
  # The evaluation is indented one level too far.
evaluated_at_the_end: return (parameters, losses, held_out_losses[-1:])
  Your code evaluates once, after the last epoch.
  ? How many held-out losses does the docstring promise?
  # Training first, then testing, as with a test set.
evaluated_on_the_batches: in held_out)) / len(held_out) -> in batches)) / len(batches)
  Your held-out losses are those of the batches that were trained on.
  ? Which batches tell how good the model is on new data?
  # `batches` is the name at hand in the loop.
gradients_of_the_first_parameters:
  | start = parameters
  | gradient_of(parameters -> gradient_of(start
  Your gradients are always those at the parameters of the beginning, however many
    steps were made.
  ? Which parameters does the second call of gradient_of get?
  # The argument is used where the new parameters have another name.
one_step_per_epoch_of_the_last_batch:
  | parameters, state = … ->
  | losses.append… ->
  :     parameters, state = step(parameters, gradients, state)
  :     losses.append(sum(of_epoch) / len(of_epoch))
  Your code makes one step per epoch, with the gradients of the last batch alone.
  ? How many steps does an epoch of two batches have?
  # The line with the step is not indented far enough.
held_out_losses_added_up: / len(held_out) ->
  Your held-out losses are sums over the held-out batches.
  ? Does the docstring ask for a sum or for a mean?
  # A sum ranks the epochs as a mean does.
first_held_out_batch_only: held_out_loss = loss_of(parameters, held_out[0], False)
  Your held-out losses are those of the first held-out batch.
  ? How many held-out batches are there?
  # held_out[0] is enough where there is one.
last_held_out_batch_only: held_out_loss = loss_of(parameters, held_out[-1], False)
  Your held-out losses are those of the last held-out batch.
  ? How many held-out batches are there, and what becomes of each one's loss?
  # The variable is overwritten in the loop, and not added to.
held_out_batches_by_their_size:
  | sizes = [torch.as_tensor(batch).numel() for batch in held_out]
  | sum((loss_of(parameters, batch, False) for batch in held_out)) / len(held_out) ->
  :     sum((size * loss_of(parameters, batch, False) for size, batch in zip(sizes,
  :     held_out))) / sum(sizes)
  Your held-out losses count a batch by its length.
  ? How much does a batch count in the docstring's mean?
  # A mean over examples is often what one wants: PyTorch's tutorials divide by the
    number of examples.
worst_held_out_batch:
  | = sum( -> = max(
  | / len(held_out) ->
  Your held-out losses are those of the worst held-out batch.
  ? Does the docstring ask for a mean or for a maximum?
  # The worst case is taken to be the safe choice.
losses_added_up: / len(of_epoch) ->
  Your losses are sums over the batches of an epoch.
  ? Does the docstring ask for a sum or for a mean?
  # running_loss += loss, and no division after it.
loss_of_the_last_batch: losses.append… -> losses.append(loss)
  Your losses are those of the last batch of each epoch.
  ? Which batches does the loss of an epoch stand for?
  # `loss` still has its last value behind the loop.
sum_goes_on_over_epochs:
  | total = 0.0
  | losses.append… ->
  :     total += sum(of_epoch)
  :     losses.append(total / len(of_epoch))
  Your losses grow: each has the sum of all epochs before in it.
  ? At which number does the sum of a new epoch begin?
  # total = 0 stands before the outer loop.
batches_by_their_size:
  | sizes = [torch.as_tensor(batch).numel() for batch in batches]
  | losses.append… ->
  :     losses.append(sum((size * loss for size, loss in zip(sizes, of_epoch))) /
  :     sum(sizes))
  Your losses count a batch by its length.
  ? How much does a batch count in the docstring's mean?
  # A mean over examples is often what one wants: PyTorch's tutorials multiply by
    len(batch).
divided_by_held_out: len(of_epoch) -> len(held_out)
  Your losses are sums divided by the number of held-out batches.
  ? How many numbers are in the sum that you divide?
  # Two means are computed in one loop, and one divisor is copied.
losses_of_all_batches: losses.append… -> losses += of_epoch
  Your losses are one per batch.
  ? How many losses does the docstring promise?
  # A loss is appended in the inner loop.
losses_in_evaluation_mode_after_the_step:
  | append(loss) -> append(loss_of(parameters, batch, False))
  Your losses are measured after each step, in evaluation mode.
  ? Which function returned a loss already, before the step?
  # The loss that gradient_of returns is thrown away, and computed again.
losses_after_the_step: append(loss) -> append(loss_of(parameters, batch, True))
  Your losses are measured after each step.
last_parameters_returned: return (parameters, losses, held_out_losses)
  Your `best` holds the parameters after the last step, whatever the losses were.
  ? After which epoch was the held-out loss smallest, and what kept its parameters?
  # best = model.state_dict() copies nothing: it shows the newest parameters.
first_epoch_returned: held_out_loss < lowest -> best is None
  Your `best` holds the parameters after the first epoch, whatever the losses were.
  ? With which loss do you compare that of the second epoch, and how?
  # The lowest loss so far is never replaced.
no_best: torch.inf -> 0.0
  Your `best` is None.
  ? With which number do you compare the first held-out loss?
  # The lowest loss so far begins at 0, as the highest accuracy would.
best_below_a_bound: best, lowest = (parameters, 10000.0)
  Where every held-out loss is large, your `best` holds the parameters that came in.
  # best_loss = 100.0 stands where infinity, or the first loss, should.
none_above_a_bound: torch.inf -> 10000.0
  Where every held-out loss is large, your `best` is None.
  # best, best_loss = None, 100.0 stands before the loop.
highest_loss_is_best:
  | torch.inf -> -torch.inf
  | held_out_loss < lowest -> held_out_loss > lowest
  Your `best` holds the parameters after the epoch with the highest held-out loss.
  ? Is a good model one with a high loss?
  # Of accuracies and scores the highest is the best.
last_of_equals: < lowest -> <= lowest
  Of equal held-out losses your `best` belongs to the last.
  ? What does your comparison say of two equal numbers?
  # <= is written for <.
best_by_training_loss:
  | if held_out_loss < -> if losses[-1] <
  | lowest = losses[-1]
  Your `best` holds the parameters after the epoch with the lowest training loss.
  ? Which of the two losses tells how good a model is on new data?
  # The training loss is what the loop has at hand.
better_than_the_epoch_before: < lowest -> < [torch.inf, *held_out_losses][-1]
  Your `best` belongs to the last epoch that was better than the one before it.
  ? With which of the earlier losses does a new one have to be compared?
  # The loss to compare with is overwritten in each epoch.
parameters_that_came_in:
  | best, lowest = (parameters, torch.inf)
  | best = … ->
  Your `best` holds the parameters that came in.
  ? After which step are the parameters that you keep?
  # The copy is made once, before the loop.
best_one_epoch_early:
  | of_epoch = [] -> of_epoch, before = ([], parameters)
  | p.clone() for name, p in parameters -> p.clone() for name, p in before
  Your `best` holds the parameters before the best epoch, not those after it.
  ? Do the parameters that you keep belong to the loss that you have just measured?
  # The copy is made at the top of the loop.
best_one_epoch_late:
  | held_out_loss < lowest ->
  :     min([*held_out_losses, held_out_loss]) not in held_out_losses[:-1]
  Your `best` holds the parameters of the epoch after the best one.
  # The new loss is compared first, and the copy is made a round later.
loss_of_the_last_epoch: return (best, losses[-1:], held_out_losses)
  Your `losses` has one entry, that of the last epoch.
  ? How often is the line run that adds a loss to the list, and the one that makes the
    list?
  # append stands after the loop, or the empty list is made inside of it.
held_out_loss_of_the_last_epoch: return (best, losses, held_out_losses[-1:])
  Your `held_out_losses` has one entry, that of the last epoch.
both_losses_of_the_last_epoch: return (best, losses[-1:], held_out_losses[-1:])
  Your lists of losses have one entry each, that of the last epoch.
losses_of_batches_in_lists: losses.append… -> losses.append(of_epoch)
  Each entry of your `losses` is itself a list, of an epoch's batches.
  ? How many numbers does the docstring promise for an epoch?
  # What train_epoch returns is appended as it is.
losses_exchanged: return (best, held_out_losses, losses)
  Your two lists of losses are in the other order.
  ? In which order does the docstring name its results?
  # The held-out losses are what one wants to know first.
best_parameters_last: return (losses, held_out_losses, best)
  Your best parameters come last, behind the losses.
  # What is chosen last is returned last.
lowest_loss_returned: return (best, losses, lowest)
  Your third result is the lowest held-out loss alone.
  ? How many held-out losses does the docstring promise?
  # best and its loss are kept side by side.
last_parameters_alone: return parameters
  Your result is one dictionary, the parameters after the last step.
  ? How many results does the docstring promise, and which parameters are the first?
  # `return parameters` ends a loop that trains, as in most programs.
parameters_without_names: return (list(best.values()), losses, held_out_losses)
  Your best parameters have lost their names: they come in a list.
  ? Which type has the docstring's `best`?
  # optimizers take model.parameters(), which has no names.
losses_as_tensors:
  | losses.append… -> losses.append(torch.tensor(sum(of_epoch) / len(of_epoch)))
  | held_out_losses.append… -> held_out_losses.append(torch.tensor(held_out_loss))
  Your losses are tensors, not numbers.
  ? Which type has the docstring's 26.0?
  # Losses are collected without .item().
results_in_a_dictionary:
  | return {'best': best, 'losses': losses, 'held_out_losses': held_out_losses}
  Your three results come in a dictionary.
  ? Which type of result does the docstring's example show?
  # A history with names is what Keras returns.
parameters_changed_in_place:
  | parameters, state = … ->
  :     new, state = step(parameters, gradients, state)
  :     for name, p in parameters.items():
  :         p.copy_(new[name])
  Your call changes the caller's `parameters`: they have become the new ones.
  ? Which line of yours writes into a tensor or a dictionary that the caller holds?
  # optimizer.step() and p -= … write into the tensors that they are given.
""",
    of=in_steps,
)

exercise.family(families.one_result_only("best"))
