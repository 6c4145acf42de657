"""One step of a gated recurrent unit, from its formula.

A whole sequence of steps is PyTorch's ``nn.GRU``; models made of it are in
``course_lib.nn.seq2seq``.
"""

import torch
from torch import Tensor


def gru_step(
    x: Tensor, state: Tensor, w_x: Tensor, w_h: Tensor, b_x: Tensor, b_h: Tensor
) -> Tensor:
    """Give the state of a gated recurrent unit after one more token.

    x : (..., d_in), the token's vector
    state : (..., d_h), the state before
    w_x : (d_in, 3 d_h), the parameters of the reset gate, the update gate and the
        candidate, side by side in this order
    w_h : (d_h, 3 d_h), those by which the state is multiplied, in the same order
    b_x : (3 d_h), added to ``x @ w_x``
    b_h : (3 d_h), added to ``state @ w_h``

    Returns the new state (..., d_h): where the update gate is 1 it is the old one,
    where it is 0 the candidate. The reset gate is multiplied with the state's part of
    the candidate after the parameters and b_h, as in PyTorch. The arguments stay as
    they are.
    Source: Cho et al. (2014), Learning Phrase Representations using RNN
    Encoder–Decoder, section 2.3; the place of the reset gate is PyTorch's ``nn.GRU``'s.

    >>> zeros = torch.zeros(1, 3)
    >>> gru_step(torch.ones(1), torch.tensor([2.0]), zeros, zeros, zeros[0], zeros[0])
    tensor([1.])
    """
    from_x = (x @ w_x + b_x).chunk(3, dim=-1)
    from_state = (state @ w_h + b_h).chunk(3, dim=-1)
    reset = torch.sigmoid(from_x[0] + from_state[0])  # (..., d_h)
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state
