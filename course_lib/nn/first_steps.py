"""The first functions in PyTorch: what a loss is made of, and two optimizers' steps.

These are functions of lesson 07. Both optimizers take tensors and return new ones;
``torch.optim`` has them as objects that change a model's parameters.
"""

import math

import torch
from torch import Tensor

from course_lib.nn import arguments


def gather_log_probabilities(log_p: Tensor, targets: Tensor) -> Tensor:
    """Return the log-probability of the right token at each position.

    log_p : (..., vocab_size), for each position the log-probabilities of all tokens,
        −∞ where a probability is 0
    targets : (...), token ids of the right tokens, 0 … vocab_size − 1

    Returns a tensor (...), one number per position: entry [b, i] is
    log_p[b, i, targets[b, i]], even if others are −∞. The arguments are not modified.
    Source: Goodfellow et al. (2016), Deep Learning, section 5.5; PyTorch's ``nll_loss``
    has the opposite sign.

    >>> log_p = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]).log()
    >>> gather_log_probabilities(log_p, torch.tensor([1, 0]))
    tensor([-1.3863, -2.0794])
    """
    arguments.token_ids("targets", targets)
    arguments.tensors(
        f"log_p ({', '.join([*map(str, targets.shape), 'vocab_size'])})", log_p
    )
    arguments.token_ids("targets", targets, vocab_size=log_p.shape[-1])
    return log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def sgd_step(
    parameters: dict[str, Tensor], gradients: dict[str, Tensor], learning_rate: float
) -> dict[str, Tensor]:
    """Make a step of gradient descent: each parameter moves against its gradient.

    parameters : tensors by name, of any shapes
    gradients : the gradient of the loss with respect to each of them, by the same
        names, in any order
    learning_rate : how far to go, at least 0

    Returns the new parameters, a dictionary with the same names: each parameter minus
    learning_rate times its gradient. The arguments and their tensors are not modified.
    Source: Goodfellow et al. (2016), Deep Learning, section 8.3.1; PyTorch's
    ``optim.SGD`` without momentum does the same in place.

    >>> w, gradient = torch.tensor([1.0, 2.0]), torch.tensor([4.0, -2.0])
    >>> sgd_step({"w": w}, {"w": gradient}, 0.5)
    {'w': tensor([-1.,  3.])}
    """
    arguments.gradients(parameters, gradients)
    arguments.real(0, math.inf, learning_rate=learning_rate)
    return {
        name: parameter - learning_rate * gradients[name]
        for name, parameter in parameters.items()
    }


def adam_step(
    parameter: Tensor,
    gradient: Tensor,
    state: tuple[Tensor, Tensor, int],
    learning_rate: float = 0.001,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Tensor, tuple[Tensor, Tensor, int]]:
    """Make a step of Adam for one parameter; with a weight decay, one of AdamW.

    parameter : a tensor of any shape
    gradient : the gradient of the loss with respect to it, of the same shape
    state : (m, v, step): the moving averages of the gradients and of their squares,
        both of the same shape, and the number of steps made before; at first zeros,
        zeros and 0
    learning_rate : how far to go, at least 0
    betas : (β₁, β₂), the shares of m and of v that a step keeps, from 0 to below 1
    eps : at least 0, added to √v̂, not under the root
    weight_decay : at least 0; times the old parameter, it is added to the change, and
        has no part in m and v

    Returns the new parameter and the new state (m, v, step):
    - step is 1 more than before
    - m = β₁ m + (1 − β₁) gradient
    - v = β₂ v + (1 − β₂) gradient²
    - new parameter = parameter − learning_rate · change, where
      change = m̂ / (√v̂ + eps) + weight_decay · parameter, with m̂ = m / (1 − β₁ˢ),
      v̂ = v / (1 − β₂ˢ), and s the new step

    The arguments and their tensors are not modified.
    Source: Kingma and Ba (2015), Adam, algorithm 1; Loshchilov and Hutter (2019),
    Decoupled Weight Decay Regularization, algorithm 2, as in PyTorch's ``optim.AdamW``.

    >>> state, gradient = (torch.zeros(2), torch.zeros(2), 0), torch.tensor([3.0, -1.0])
    >>> parameter, state = adam_step(
    ...     torch.ones(2), gradient, state, learning_rate=2.0, betas=(0.5, 0.75), eps=1
    ... )
    >>> parameter
    tensor([-0.5000,  2.0000])
    >>> state
    (tensor([ 1.5000, -0.5000]), tensor([2.2500, 0.2500]), 1)
    """
    arguments.parts("state", state, "(m, v, step)")
    m, v, step = state
    arguments.tensors(
        "parameter (...), gradient (...), m (...), v (...)",
        *(parameter, gradient, m, v),
        broadcast=False,
    )
    arguments.whole(0, step=step)
    arguments.real(
        0, math.inf, learning_rate=learning_rate, eps=eps, weight_decay=weight_decay
    )
    arguments.parts("betas", betas, "(β₁, β₂)")
    beta_1, beta_2 = betas
    arguments.below_one(beta_1=beta_1, beta_2=beta_2)
    step = step + 1
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat = m / (1 - beta_1**step)
    v_hat = v / (1 - beta_2**step)
    change = m_hat / (torch.sqrt(v_hat) + eps) + weight_decay * parameter
    return parameter - learning_rate * change, (m, v, step)
