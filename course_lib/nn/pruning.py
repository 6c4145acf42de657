"""Which heads are needed: gates that close heads, and two measures of importance.

``prune`` and ``head_importance`` are exercises of lesson 13. ``gated_heads`` puts gates
into a trained translator as it is, so that it can be pruned without being built anew.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.nn import arguments
from course_lib.nn.attention import (
    MultiHeadAttention,
    attention,
    for_all_heads,
    merge_heads,
    split_heads,
)
from course_lib.nn.layers import TransformerLayer
from course_lib.nn.transformer import Decoder, Encoder, Transformer


def prune(
    x: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    gates: Tensor,
    may_attend: Tensor | None = None,
) -> Tensor:
    """Let tokens attend with several heads, each behind a gate that can close it.

    x : (..., n, d_model), the tokens that attend
    memory : (..., m, d_model), the tokens that are attended to
    w_q : (d_model, d_model), columns 0 … d_k − 1 are those of head 0, and so on
    w_k : (d_model, d_model), likewise
    w_v : (d_model, d_model), likewise
    w_o : (d_model, d_model), joins the heads
    gates : (n_heads), one number per head, which multiplies the head's output before
        w_o joins the heads: 1 leaves it as it is, 0 prunes it, 0.5 halves it
    may_attend : booleans of two axes or more that fit (..., n, m), True where a token
        may attend, to one at least; the same for all heads; None if all may attend to
        all

    Returns the output (..., n, d_model). With gates of ones it is that of
    ``multi_head_attention``. The other heads take no notice of a closed one. The
    arguments are not modified.
    Source: Michel et al. (2019), Are Sixteen Heads Really Better than One?, section
    2.3; Voita et al. (2019), Analyzing Multi-Head Self-Attention, section 6.1.

    >>> x, w = torch.tensor([[0.0, 0.0], [2.0, 4.0]]), torch.eye(2)
    >>> prune(x[:1], x, w, w, w, w, gates=torch.tensor([1.0, 0.5]))
    tensor([[1., 1.]])
    """
    arguments.tensors(prune, x, memory, w_q, w_k, w_v, w_o, gates)
    arguments.heads(x.shape[-1], len(gates))
    arguments.mask_between("may_attend", may_attend, x, memory)
    q, k, v = (
        split_heads(rows, len(gates)) for rows in (x @ w_q, memory @ w_k, memory @ w_v)
    )
    heads, _ = attention(q, k, v, for_all_heads(may_attend))  # (..., n_heads, n, d_k)
    return merge_heads(heads * gates[:, None, None]) @ w_o


def head_importance(
    loss_of: Callable[[Tensor, Any], float],
    gradient_of: Callable[[Tensor, Any], Tensor],
    gates: Tensor,
    examples: Sequence,
) -> tuple[Tensor, Tensor]:
    """Measure how much each head matters: by its gate's gradient, and by closing it.

    loss_of : loss_of(gates, example) returns the loss of one example, a float
    gradient_of : gradient_of(gates, example) returns the gradient of that loss with
        respect to the gates, a new tensor of their shape
    gates : (...), where to measure, one per head; most often ones (n_layers, n_heads)
    examples : one or more, of any kind

    Returns two tensors of the shape and dtype of gates, in this order:
    - by gradient: the mean over the examples of the absolute value of each example's
      gradient
    - by ablation: how much the mean loss over the examples rises when this gate alone
      is set to 0, and all others are as given; negative where it falls

    For small changes the loss with a gate set from 1 to 0 changes by minus the
    gradient, so the first needs one run where the second needs one per head. The
    arguments are not modified.
    Source: Michel et al. (2019), Are Sixteen Heads Really Better than One?, section 4.1
    (equation 2) and section 3.2.

    >>> gates = torch.ones(2)
    >>> loss_of = lambda gates, example: float(example * gates[0] + gates[1])
    >>> gradient_of = lambda gates, example: torch.tensor([example, 1.0])
    >>> head_importance(loss_of, gradient_of, gates, [3.0, -1.0])
    (tensor([2., 1.]), tensor([-1., -1.]))
    """
    arguments.tensors(head_importance, gates)
    arguments.one_or_more(examples=examples)
    by_gradient = torch.zeros_like(gates)
    for example in examples:
        by_gradient += gradient_of(gates, example).abs() / len(examples)

    def mean_loss(gates: Tensor) -> float:
        return sum(loss_of(gates, example) for example in examples) / len(examples)

    before = mean_loss(gates)
    by_ablation = torch.zeros(gates.numel(), dtype=gates.dtype)
    for index in range(gates.numel()):
        closed = gates.flatten().clone()
        closed[index] = 0.0
        by_ablation[index] = mean_loss(closed.reshape(gates.shape)) - before
    return by_gradient, by_ablation.reshape(gates.shape)


KINDS = ("encoder", "decoder", "cross")  # of a translator's attentions


def attentions_of(model: Transformer) -> dict[str, list[MultiHeadAttention]]:
    """Return the attentions of a translator, by kind: one for each layer.

    "encoder" and "decoder" attend to their own tokens, "cross" from target to source.
    """
    encoder, decoder = _layers(model.encoder), _layers(model.decoder)
    return {
        "encoder": [layer.self_attention for layer in encoder],
        "decoder": [layer.self_attention for layer in decoder],
        "cross": [layer.cross_attention for layer in decoder],
    }


def _layers(part: Encoder | Decoder) -> list[TransformerLayer]:
    return [layer for layer in part.layers if isinstance(layer, TransformerLayer)]


def open_gates(model: Transformer) -> dict[str, Tensor]:
    """Return gates of ones for a translator: (n_layers, n_heads) for each kind."""
    return {
        kind: torch.ones(len(modules), modules[0].n_heads)
        for kind, modules in attentions_of(model).items()
    }


@contextmanager
def gated_heads(model: Transformer, gates: Mapping[str, Tensor]) -> Iterator[None]:
    """Multiply the heads of a translator by gates, until the block ends.

    gates : (n_layers, n_heads) by kind, of some of ``KINDS`` or all: 0 prunes a head,
        where and however the model is run. Gradients flow to them
    """
    modules = attentions_of(model)
    if unknown := gates.keys() - modules.keys():
        raise ValueError(f"gates must be of {', '.join(KINDS)}, got {unknown}")
    with ExitStack() as stack:
        for kind, rows in gates.items():
            n_layers, n_heads = len(modules[kind]), modules[kind][0].n_heads
            shape = "gates (n_layers, n_heads)"
            arguments.tensors(shape, rows, n_layers=n_layers, n_heads=n_heads)
            for module, row in zip(modules[kind], rows, strict=True):
                stack.enter_context(_gated(module, row))
        yield


@contextmanager
def _gated(module: MultiHeadAttention, gates: Tensor) -> Iterator[None]:
    """Gate one attention's heads (n_heads) where its last projection reads them."""

    def multiply(_: nn.Module, inputs: tuple[Tensor]) -> Tensor:
        heads = inputs[0].unflatten(-1, (len(gates), -1))  # (..., n, n_heads, d_k)
        return (heads * gates[:, None]).flatten(-2)

    handle = module.output.register_forward_pre_hook(multiply)
    try:
        yield
    finally:
        handle.remove()
