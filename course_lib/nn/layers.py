"""The Transformer's small parts as functions: norm, feed-forward, embedding, shift.

The parameters are arguments; the modules that own them are in
``course_lib.nn.transformer``. What is built of these parts is in
``course_lib.nn.blocks``.
"""

import torch
from torch import Tensor


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Shift and stretch each token's vector to mean 0 and variance 1, then as learned.

    x : (..., d_model), one token per row
    gain : (d_model), multiplied after that
    bias : (d_model), added last
    eps : added to the variance, under the root

    Returns a tensor like x; its row i depends on row i of x alone. The variance is the
    mean of the squared differences from the mean (divided by d_model), and right also
    where the numbers are large and close to each other. x stays as it is.
    Source: Ba et al. (2016), Layer Normalization, section 3, equation 4; eps and its
    place are those of PyTorch's ``nn.LayerNorm``.

    >>> layer_norm(torch.tensor([1.0, 3.0]), torch.ones(2), torch.tensor([0.0, 5.0]))
    tensor([-1.0000,  6.0000])
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)  # (..., 1)
    return centred / torch.sqrt(variance + eps) * gain + bias


def feed_forward(
    x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor
) -> Tensor:
    """Send each token's vector, alone, through two layers with a ReLU between.

    x : (..., d_model), one token per row
    w_1 : (d_model, d_ff)
    b_1 : (d_ff)
    w_2 : (d_ff, d_model)
    b_2 : (d_model)

    Returns a tensor like x; its row i depends on row i of x alone. x stays as it is.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.3, equation 2.

    >>> x, w, b = torch.tensor([[1.0], [-1.0]]), torch.tensor([[2.0]]), torch.ones(1)
    >>> feed_forward(x, w, b, w, b)
    tensor([[7.],
            [1.]])
    """
    return torch.relu(x @ w_1 + b_1) @ w_2 + b_2


def embed(tokens: Tensor, table: Tensor, encoding: Tensor) -> Tensor:
    """Turn numbers of tokens into vectors that also say where each token stands.

    tokens : (..., n), whole numbers, 0 … vocab_size − 1
    table : (vocab_size, d_model), one learned vector per token
    encoding : (n_places, d_model), one row per place, n_places ≥ n

    Returns the vectors (..., n, d_model): a token's row of the table times √d_model,
    plus the row of its place. The arguments stay as they are.
    Source: Vaswani et al. (2017), Attention Is All You Need, sections 3.4 and 3.5.

    >>> table = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0]])
    >>> embed(torch.tensor([1, 1]), table, torch.arange(8.0).reshape(2, 4))
    tensor([[0., 3., 2., 3.],
            [4., 7., 6., 7.]])
    """
    vectors = table[tokens] * table.shape[-1] ** 0.5  # (..., n, d_model)
    return vectors + encoding[: tokens.shape[-1]]


def shift_right(targets: Tensor, start: int) -> Tensor:
    """Give what a decoder reads while it learns to write the targets.

    targets : (..., n), whole numbers of tokens, n ≥ 1
    start : the number of the token that begins every text

    Returns a tensor like targets: start, then all of them but the last. So the decoder
    has read targets 0 … i − 1 where it is to write target i. targets stays as it is.
    Source: Vaswani et al. (2017), Attention Is All You Need, figure 1 and section 3.1.

    >>> shift_right(torch.tensor([[5, 6, 7]]), start=1)
    tensor([[1, 5, 6]])
    """
    first = torch.full_like(targets[..., :1], start)
    return torch.cat([first, targets[..., :-1]], dim=-1)
