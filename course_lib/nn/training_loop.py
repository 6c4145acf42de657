"""The training loop of lesson 07, and numerical gradients to test what it is given.

``train_epoch`` and ``train`` know no model and no optimizer: both are functions, so the
loop is all that there is to read. The loop behind the course's translators, which can
be stopped and resumed, is ``course_lib.nn.training.loop``.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course_lib.nn import arguments


def numerical_gradient(f: Callable[[Tensor], float], x: Tensor, step: float) -> Tensor:
    """Measure the gradient of a function by central differences.

    f : takes a tensor of float64 with the shape of x, returns one number
    x : (...), floats of any shape and precision
    step : how far a number is moved to each side, above 0

    Returns a tensor (...) of float64. For each number of x: raise that number alone by
    step, and lower it alone by step; the difference of the two results of f, divided by
    twice the step, is its gradient. f is given float64 even where x is float32, since a
    small step would be lost there. x is not modified.
    Source: Goodfellow et al. (2016), Deep Learning, section 11.5.

    >>> numerical_gradient(lambda x: float((x**3).sum()), torch.tensor([1.0, 2.0]), 0.5)
    tensor([ 3.2500, 12.2500], dtype=torch.float64)
    """
    arguments.tensors(numerical_gradient, x)
    arguments.positive(step=step)
    x = x.detach().double()
    gradient = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    for index in range(x.numel()):
        shift = torch.zeros_like(gradient)
        shift[index] = step
        shift = shift.reshape(x.shape)
        gradient[index] = (f(x + shift) - f(x - shift)) / (2 * step)
    return gradient.reshape(x.shape)


def train_epoch(
    gradient_of: Callable[..., tuple[float, dict[str, Tensor]]],
    parameters: dict[str, Tensor],
    batches: Sequence,
    step: Callable[..., tuple[dict[str, Tensor], object]],
    state: object,
) -> tuple[dict[str, Tensor], object, list[float]]:
    """Go through all batches once, and make a step for each.

    gradient_of : gradient_of(parameters, batch, gradients) returns the batch's loss and
        the gradients that it was given plus the batch's own, as PyTorch adds up
    parameters : tensors by name, which are not modified
    batches : taken in this order, each with gradients of zero at first
    step : step(parameters, gradients, state) returns new parameters and a new state
    state : the optimizer's after earlier steps, None if there were none

    Returns (parameters, state, losses): both after the last step, and for each batch
    the loss that gradient_of returned.
    Source: Goodfellow et al. (2016), Deep Learning, algorithm 8.1.

    >>> def gradient_of(parameters, batch, gradients):  # of the loss (w − batch)²
    ...     error = parameters["w"] - batch
    ...     return error.item() ** 2, {"w": gradients["w"] + 2 * error}
    >>> def step(parameters, gradients, state):  # halfway to the batch
    ...     return {"w": parameters["w"] - 0.25 * gradients["w"]}, state
    >>> train_epoch(gradient_of, {"w": torch.tensor(0.0)}, [4.0, 8.0], step, None)
    ({'w': tensor(5.)}, None, [16.0, 36.0])
    """
    arguments.tensors_by_name("parameters", parameters)
    arguments.one_or_more(batches=batches)
    losses: list[float] = []
    for batch in batches:
        zeros = {name: torch.zeros_like(p) for name, p in parameters.items()}
        loss, gradients = gradient_of(parameters, batch, zeros)
        arguments.real(-math.inf, math.inf, loss=loss)
        parameters, state = step(parameters, gradients, state)
        losses.append(loss)
    return parameters, state, losses


def train(
    gradient_of: Callable[..., tuple[float, dict[str, Tensor]]],
    parameters: dict[str, Tensor],
    batches: Sequence,
    step: Callable[..., tuple[dict[str, Tensor], object]],
    loss_of: Callable[..., float],
    held_out: Sequence,
    epochs: int,
) -> tuple[dict[str, Tensor], list[float], list[float]]:
    """Train for some epochs; return the parameters with the best held-out loss.

    gradient_of : as in ``train_epoch``
    parameters : as in ``train_epoch``
    batches : as in ``train_epoch``
    step : as in ``train_epoch``; the state is None at first, and goes on from epoch to
        epoch
    loss_of : loss_of(parameters, batch, training) returns the batch's loss; training is
        False in evaluation mode, without dropout
    held_out : batches that are never trained on
    epochs : how often to go through batches, each time with a call of ``train_epoch``

    Returns (best, losses, held_out_losses):
    - best: the parameters after the epoch with the lowest held-out loss, the first of
      equals
    - losses: for each epoch the mean of the losses that ``train_epoch`` returned
    - held_out_losses: for each epoch, after its last step, the mean of
      loss_of(parameters, batch, False) over the held-out batches
    Source: Goodfellow et al. (2016), Deep Learning, algorithms 8.1 and 7.1.

    >>> def gradient_of(parameters, batch, gradients):  # of the loss (w − batch)²
    ...     error = parameters["w"] - batch
    ...     return error.item() ** 2, {"w": gradients["w"] + 2 * error}
    >>> def step(parameters, gradients, state):  # halfway to the batch
    ...     return {"w": parameters["w"] - 0.25 * gradients["w"]}, state
    >>> def loss_of(parameters, batch, training):
    ...     return (parameters["w"] - batch).item() ** 2
    >>> at_first = {"w": torch.tensor(0.0)}
    >>> train(gradient_of, at_first, [4.0, 8.0], step, loss_of, [5.0], 2)
    ({'w': tensor(5.)}, [26.0, 6.625], [0.0, 1.5625])
    """
    arguments.tensors_by_name("parameters", parameters)
    arguments.one_or_more(batches=batches, held_out=held_out)
    arguments.whole(1, epochs=epochs)
    state: object = None
    losses: list[float] = []
    held_out_losses: list[float] = []
    for _ in range(epochs):
        parameters, state, of_epoch = train_epoch(
            gradient_of, parameters, batches, step, state
        )
        losses.append(sum(of_epoch) / len(of_epoch))
        held_out_loss = sum(loss_of(parameters, batch, False) for batch in held_out)
        held_out_loss /= len(held_out)
        arguments.real(-math.inf, math.inf, held_out_loss=held_out_loss)
        if not held_out_losses or held_out_loss < min(held_out_losses):
            best = {name: p.clone() for name, p in parameters.items()}
        held_out_losses.append(held_out_loss)
    return best, losses, held_out_losses
