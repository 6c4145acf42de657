"""The recurrent decoder and its attention as functions, one step at a time.

These are the functions of lesson 08. The modules that own parameters and read whole
sequences are in ``course_lib.nn.recurrent``.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.nn import arguments


def gru_step(
    x: Tensor, state: Tensor, w_x: Tensor, w_h: Tensor, b_x: Tensor, b_h: Tensor
) -> Tensor:
    """Compute the hidden state of a gated recurrent unit after one more token.

    x : (..., d_in), the token's vector
    state : (..., d_h), the hidden state before
    w_x : (d_in, 3 d_h), the parameters of the reset gate, the update gate and the
        candidate, side by side in this order
    w_h : (d_h, 3 d_h), those by which the state is multiplied, in the same order
    b_x : (3 d_h), added to ``x @ w_x``
    b_h : (3 d_h), added to ``state @ w_h``

    Returns the new hidden state (..., d_h): where the update gate is 1 it is the old
    one, where it is 0 the candidate. The reset gate multiplies the candidate's part of
    ``state @ w_h + b_h``, as in PyTorch. The arguments are not modified.
    Source: Cho et al. (2014), Learning Phrase Representations using RNN
    Encoder–Decoder, section 2.3; the reset gate is that of PyTorch's ``nn.GRU``.

    >>> zeros = torch.zeros(1, 3)
    >>> gru_step(torch.ones(1), torch.tensor([2.0]), zeros, zeros, zeros[0], zeros[0])
    tensor([1.])
    """
    arguments.tensors(gru_step, x, state, w_x, w_h, b_x, b_h)
    from_x = (x @ w_x + b_x).chunk(3, dim=-1)
    from_state = (state @ w_h + b_h).chunk(3, dim=-1)
    reset = torch.sigmoid(from_x[0] + from_state[0])  # (..., d_h)
    update = torch.sigmoid(from_x[1] + from_state[1])
    candidate = torch.tanh(from_x[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state


def additive_attention(
    state: Tensor,
    keys: Tensor,
    values: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    v: Tensor,
    may_attend: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend to a source with a decoder's state, by the scores v · tanh(state + key).

    state : (..., d_h), the decoder's hidden state: the one query
    keys : (..., m, d_k), one source token per row
    values : (..., m, d_v), value j belongs to key j
    w_q : (d_h, d_a), applied to the state
    w_k : (d_k, d_a), applied to the keys
    v : (d_a), turns the sum into a score
    may_attend : (..., m), booleans, True where it may attend, at least once in each
        row; None for everywhere

    Returns two tensors: the context (..., d_v), the weighted mean of the values, and
    the weights (..., m), 0 where it may not attend. The arguments are not modified.
    Source: Bahdanau et al. (2015), Neural Machine Translation by Jointly Learning to
    Align and Translate, section 3.1 and appendix A.1.2.

    >>> state, keys, one = torch.zeros(1), torch.zeros(2, 1), torch.ones(1, 1)
    >>> values = torch.tensor([[2.0], [4.0]])
    >>> additive_attention(state, keys, values, one, one, torch.ones(1))
    (tensor([3.]), tensor([0.5000, 0.5000]))
    """
    arguments.tensors(additive_attention, state, keys, values, w_q, w_k, v)
    hidden = torch.tanh((state @ w_q).unsqueeze(-2) + keys @ w_k)  # (..., m, d_a)
    scores = hidden @ v  # (..., m)
    arguments.mask("may_attend", may_attend, scores.shape)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    weights = scores.softmax(dim=-1)
    if may_attend is not None:
        weights = weights.masked_fill(~may_attend, 0.0)  # NaN, if it may attend nowhere
    return (weights.unsqueeze(-2) @ values).squeeze(-2), weights


LUONG_SHAPES = {
    "dot": "state (..., d_h), keys (..., m, d_h)",
    "general": "state (..., d_h), keys (..., m, d_k), w (d_h, d_k)",
}


def luong_score(
    state: Tensor, keys: Tensor, kind: str, w: Tensor | None = None
) -> Tensor:
    """Score source tokens for a decoder's state by a product.

    state : (..., d_h), the decoder's hidden state: the one query
    keys : (..., m, d_k), one source token per row
    kind : "dot" for state · key, where d_k = d_h; "general" for (state w) · key
    w : (d_h, d_k), for "general" only

    Returns the scores (..., m), not divided by anything. The arguments are not
    modified.
    Source: Luong et al. (2015), Effective Approaches to Attention-based Neural Machine
    Translation, section 3.1, without a number between equations 7 and 8.

    >>> luong_score(torch.tensor([1.0, 2]), torch.tensor([[3.0, 0], [0, 5]]), "dot")
    tensor([ 3., 10.])
    """
    if kind not in ("dot", "general"):
        raise ValueError(f"kind={kind!r} is neither dot nor general")
    if (kind == "general") != (w is not None):
        raise ValueError(f"kind={kind!r}: w belongs to general, and to it alone")
    arguments.tensors(LUONG_SHAPES[kind], state, keys, w)
    query = state if w is None else state @ w  # (..., d_k)
    return (keys @ query.unsqueeze(-1)).squeeze(-1)  # (..., m)


def decoder_step(
    x: Tensor,
    state: Tensor,
    keys: Tensor,
    values: Tensor,
    parameters: dict[str, Tensor],
    may_attend: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Make one step of a recurrent decoder that attends to the source.

    x : (..., d_in), the vector of the previous target token
    state : (..., d_h), the decoder's hidden state before this step
    keys : (..., m, d_k), one source token per row
    values : (..., m, d_v), value j belongs to key j
    parameters : w_q, w_k, v of ``additive_attention``; w_x (d_in + d_v, 3 d_h), w_h,
        b_x, b_h of ``gru_step``
    may_attend : (..., m), booleans, True where it may attend; None for everywhere

    Returns three tensors: the new hidden state (..., d_h), the context (..., d_v), the
    weights (..., m). The state before is the query, since the new one is computed from
    the context: the unit reads x and the context, side by side in this order. The
    arguments are not modified.
    Source: Bahdanau et al. (2015), Neural Machine Translation by Jointly Learning to
    Align and Translate, section 3.1, equations 4 to 6.

    >>> zeros = torch.zeros(2, 3)
    >>> parameters = dict(w_x=zeros, w_h=zeros[:1], b_x=zeros[0], b_h=zeros[0])
    >>> parameters |= dict(w_q=zeros[:1], w_k=zeros[:1], v=zeros[0])
    >>> keys, values = torch.zeros(2, 1), torch.tensor([[2.0], [4.0]])
    >>> decoder_step(torch.ones(1), torch.tensor([2.0]), keys, values, parameters)
    (tensor([1.]), tensor([3.]), tensor([0.5000, 0.5000]))
    """
    arguments.tensors(
        "x (..., d_in), state (..., d_h), keys (..., m, d_k), values (..., m, d_v), "
        "w_q (d_h, d_a), w_k (d_k, d_a), v (d_a), w_x (d_in+d_v, 3·d_h), "
        "w_h (d_h, 3·d_h), b_x (3·d_h), b_h (3·d_h)",
        *(x, state, keys, values),
        parameters=parameters,
        broadcast=False,
    )
    w_q, w_k, v = (parameters[name] for name in ("w_q", "w_k", "v"))
    context, weights = additive_attention(state, keys, values, w_q, w_k, v, may_attend)
    read = torch.cat([x, context], dim=-1)  # (..., d_in + d_v)
    w_x, w_h, b_x, b_h = (parameters[name] for name in ("w_x", "w_h", "b_x", "b_h"))
    return gru_step(read, state, w_x, w_h, b_x, b_h), context, weights


def alignment_mass(weights: Tensor, links: Sequence[tuple[int, int]]) -> float:
    """Measure how much of a decoder's attention is on the right source tokens.

    weights : (n, m), row i holds the weights with which target token i was predicted
    links : pairs (target token i, source token j) that belong together, at least one;
        a target token may have several, or none; no pair twice

    Returns a float from 0 to 1: for each linked target token, its weights on its linked
    source tokens are summed; this is the mean over the linked target tokens.
    Source: this course; the pictures of Bahdanau et al. (2015), figure 3, show it.

    >>> rows = [[0.75, 0.25, 0.0], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
    >>> alignment_mass(torch.tensor(rows), [(0, 0), (2, 1), (2, 2)])
    0.75
    """
    if not links:
        raise ValueError("links is empty: there is nothing to measure")
    arguments.pairs("links", links, weights.shape)
    mass = sum(float(weights[target, source]) for target, source in links)
    return mass / len({target for target, _ in links})
