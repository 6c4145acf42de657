"""One more token without computing the earlier ones again: keys and values are kept.

The fast version, with all layers and heads, is in ``course_lib.nn.transformer``.
"""

import torch
from torch import Tensor

from course_lib.nn.attention import attention


def cached_step(
    token: int,
    keys: Tensor,
    values: Tensor,
    table: Tensor,
    encoding: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Let the newest token look at all tokens so far, itself included.

    token : the number of the newest token
    keys : (t, d_k), the keys of the t tokens before it; t may be 0
    values : (t, d_v), their values
    table : (vocab_size, d_model), one learned vector per token
    encoding : (n_places, d_model), one row per place; the newest token is at t
    w_q : (d_model, d_k)
    w_k : (d_model, d_k)
    w_v : (d_model, d_v)

    Returns three tensors: the output (d_v) of the newest token, the keys (t + 1, d_k)
    and the values (t + 1, d_v) for the next step. The output is the last row of causal
    self-attention over all t + 1 tokens, each embedded as ``embed`` does: its row of
    the table times √d_model, plus the row of its place. The arguments stay as they are.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3; Shazeer
    (2019), Fast Transformer Decoding, section 2.4.

    >>> one, none = torch.ones(1, 1), torch.empty(0, 1)
    >>> table, places = torch.tensor([[2.0]]), torch.tensor([[10.0], [20.0]])
    >>> cached_step(0, none, none, table, places, one, one, one)
    (tensor([12.]), tensor([[12.]]), tensor([[12.]]))
    """
    place = keys.shape[0]
    x = table[token] * table.shape[-1] ** 0.5 + encoding[place]  # (d_model)
    keys = torch.cat([keys, (x @ w_k).unsqueeze(0)])  # (t + 1, d_k)
    values = torch.cat([values, (x @ w_v).unsqueeze(0)])  # (t + 1, d_v)
    output, _ = attention((x @ w_q).unsqueeze(0), keys, values)
    return output.squeeze(0), keys, values
