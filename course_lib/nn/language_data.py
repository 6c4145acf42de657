"""What a language model reads, and how its losses are compared with a file's size.

Functions of lesson 12.
"""

import math

import torch
from torch import Tensor

from course_lib.nn import arguments


def language_model_batch(
    token_ids: Tensor, length: int, starts: Tensor
) -> tuple[Tensor, Tensor]:
    """Cut windows out of a text: what a language model reads, and what it must predict.

    token_ids : (n_tokens), a text in token ids
    length : how many tokens a window has, at least 1
    starts : (batch), the position of each window's first token, integers from 0
        to n_tokens − length − 1, in any order

    Returns (inputs, targets), two tensors (batch, length) of token ids. Row i of inputs
    holds the tokens from starts[i] on; row i of targets holds what comes after each of
    them, the tokens from starts[i] + 1 on. The arguments are not modified.
    Source: Radford et al. (2018), Improving Language Understanding by Generative
    Pre-Training, equation 1.

    >>> token_ids = torch.tensor([10, 11, 12, 13, 14])
    >>> language_model_batch(token_ids, 2, torch.tensor([0, 2]))
    (tensor([[10, 11],
            [12, 13]]), tensor([[11, 12],
            [13, 14]]))
    """
    arguments.token_ids("token_ids", token_ids, 1)
    arguments.whole(1, length=length)
    arguments.token_ids("starts", starts, 1)
    last = len(token_ids) - length - 1
    if ((starts < 0) | (starts > last)).any():
        raise ValueError(
            f"starts must be from 0 to {last}, the last one with a target for each of "
            f"{length} tokens, got {starts.tolist()}"
        )
    positions = starts.unsqueeze(-1) + torch.arange(length, device=starts.device)
    return token_ids[positions], token_ids[positions + 1]


def bits_per_byte(losses: Tensor, text: str) -> float:
    """Return how many bits a language model needs for each byte of a text.

    losses : the losses of the text's tokens in nats, any shape, one per token:
        −ln p(token | tokens before it)
    text : the text whose tokens they are

    Returns the sum of the losses, in bits (a bit is ln 2 nats), divided by the length
    of the text's UTF-8 in bytes; infinity, if a loss is infinite. Unlike a loss per
    token or a perplexity, it compares models with different vocabularies, and models
    with programs that compress files. losses is not modified.
    Source: Gao et al. (2020), The Pile: An 800GB Dataset of Diverse Text for Language
    Modeling, section 3.1.

    >>> round(bits_per_byte(torch.tensor([math.log(8), math.log(4)]), "€"), 4)
    1.6667
    """
    arguments.tensors("losses (...)", losses)
    n_bytes = len(text.encode())
    if not n_bytes:
        raise ValueError("text must not be empty: there is no byte to divide by")
    if not (losses >= 0).all():  # NaN is not
        raise ValueError("losses must be 0 or more: each is −ln of a probability")
    return float(losses.double().sum()) / math.log(2) / n_bytes
