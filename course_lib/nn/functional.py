"""The Transformer as functions: norm, feed-forward network, embedding, shift, layers.

These are the functions of lesson 09. Their parameters are arguments; ``parameters_of``
takes them out of PyTorch's layers. The modules that own parameters, are trained and are
fast are in ``course_lib.nn.layers`` and ``course_lib.nn.transformer``.
"""

import math

import torch
from torch import Tensor, nn

from course_lib.nn import arguments
from course_lib.nn.attention import attention, for_all_heads, merge_heads, split_heads

# The parameters of the two layers, with their axes.
ENCODER = (
    "w_q (d_model, d_model), w_k (d_model, d_model), w_v (d_model, d_model), "
    "w_o (d_model, d_model), w_1 (d_model, d_ff), b_1 (d_ff), w_2 (d_ff, d_model), "
    "b_2 (d_model), gain_1 (d_model), bias_1 (d_model), gain_2 (d_model), "
    "bias_2 (d_model)"
)
DECODER = (
    f"{ENCODER}, gain_3 (d_model), bias_3 (d_model), cross_q (d_model, d_model), "
    "cross_k (d_model, d_model), cross_v (d_model, d_model), cross_o (d_model, d_model)"
)


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Normalise each token's vector to mean 0 and variance 1, then scale and shift it.

    x : (..., d_model), one token per row
    gain : (d_model), learned: the normalised vector is multiplied by it
    bias : (d_model), learned: added last
    eps : added to the variance, under the root

    Returns a tensor like x; its row i depends on row i of x alone. The variance is the
    mean of the squared differences from the mean (divided by d_model), and right also
    where the numbers are large and close to each other. x is not modified.
    Source: Ba et al. (2016), Layer Normalization, section 3.1, equation 4; eps is used
    as in PyTorch's ``nn.LayerNorm``.

    >>> layer_norm(torch.tensor([1.0, 3.0]), torch.ones(2), torch.tensor([0.0, 5.0]))
    tensor([-1.0000,  6.0000])
    """
    arguments.tensors(layer_norm, x, gain, bias)
    arguments.real(0, math.inf, eps=eps)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)  # (..., 1)
    return centred / torch.sqrt(variance + eps) * gain + bias


def feed_forward(
    x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor
) -> Tensor:
    """Send each token's vector, alone, through two linear maps with a ReLU between.

    x : (..., d_model), one token per row
    w_1 : (d_model, d_ff)
    b_1 : (d_ff)
    w_2 : (d_ff, d_model)
    b_2 : (d_model)

    Returns a tensor like x; its row i depends on row i of x alone. x is not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.3, equation 2.

    >>> x, w, b = torch.tensor([[1.0], [-1.0]]), torch.tensor([[2.0]]), torch.ones(1)
    >>> feed_forward(x, w, b, w, b)
    tensor([[7.],
            [1.]])
    """
    arguments.tensors(feed_forward, x, w_1, b_1, w_2, b_2)
    return torch.relu(x @ w_1 + b_1) @ w_2 + b_2


def embed(token_ids: Tensor, embedding: Tensor, encoding: Tensor) -> Tensor:
    """Turn token ids into vectors that also depend on the position.

    token_ids : (..., n), integers, 0 … vocab_size − 1
    embedding : (vocab_size, d_model), one learned vector per token
    encoding : (n_positions, d_model), one row per position, n_positions ≥ n

    Returns the vectors (..., n, d_model): a token's row of the embedding times
    √d_model, plus the encoding of its position. The arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, sections 3.4 and 3.5.

    >>> embedding = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0]])
    >>> embed(torch.tensor([1, 1]), embedding, torch.arange(8.0).reshape(2, 4))
    tensor([[0., 3., 2., 3.],
            [4., 7., 6., 7.]])
    """
    arguments.tensors(embed, embedding, encoding)
    arguments.token_ids(
        "token_ids", token_ids, vocab_size=len(embedding), from_end=True
    )
    arguments.axes("token_ids (..., n)", token_ids)
    arguments.rows("encoding", encoding, token_ids.shape[-1])
    vectors = embedding[token_ids] * embedding.shape[-1] ** 0.5  # (..., n, d_model)
    return vectors + encoding[: token_ids.shape[-1]]


def shift_right(targets: Tensor, start_id: int) -> Tensor:
    """Return what a decoder reads in training: the targets, one position later.

    targets : (..., n), token ids, n ≥ 1
    start_id : the token id with which every sequence begins

    Returns token ids (..., n): start_id, then all of them but the last. So the
    decoder has read targets 0 … i − 1 where it must predict target i. targets is
    not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, figure 1 and section 3.1.

    >>> shift_right(torch.tensor([[5, 6, 7]]), start_id=1)
    tensor([[1, 5, 6]])
    """
    arguments.token_ids("targets", targets)
    arguments.axes("targets (..., n)", targets)
    arguments.whole_number("start_id", start_id)
    first = torch.full_like(targets[..., :1], start_id)
    return torch.cat([first, targets[..., :-1]], dim=-1)


def multi_head_attention(
    x: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    may_attend: Tensor | None = None,
) -> Tensor:
    """Let each token of x attend to the memory with several heads, as in lesson 03.

    x : (..., n, d_model), the tokens that attend
    memory : (..., m, d_model), the tokens that are attended to
    w_q : (d_model, d_model), columns 0 … d_k − 1 are those of head 0, and so on
    w_k : (d_model, d_model), likewise
    w_v : (d_model, d_model), likewise
    w_o : (d_model, d_model), joins the heads
    n_heads : number of heads
    may_attend : booleans that fit (..., n, m), True where a token may attend, the same
        for all heads; None if all may attend to all

    Returns only the output (..., n, d_model), without the weights of lesson 03. A row
    that may attend to nothing gives zeros.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.2.

    >>> import torch
    >>> x, w = torch.tensor([[0.0, 0.0], [2.0, 4.0]]), torch.eye(2)
    >>> multi_head_attention(x[:1], x, w, w, w, w, 2)
    tensor([[1., 2.]])
    """
    arguments.tensors(multi_head_attention, x, memory, w_q, w_k, w_v, w_o)
    arguments.heads(x.shape[-1], n_heads)
    q, k, v = (
        split_heads(rows, n_heads) for rows in (x @ w_q, memory @ w_k, memory @ w_v)
    )
    arguments.mask_between("may_attend", may_attend, x, memory)
    output, _ = attention(q, k, v, for_all_heads(may_attend))
    return merge_heads(output) @ w_o


def encoder_layer(
    x: Tensor,
    parameters: dict[str, Tensor],
    n_heads: int,
    may_attend: Tensor | None = None,
    norm_first: bool = False,
) -> Tensor:
    """Apply self-attention, then a feed-forward network.

    x : (..., n, d_model), one token per row
    parameters : w_q, w_k, w_v, w_o of ``multi_head_attention``; w_1, b_1, w_2, b_2 of
        ``feed_forward``; gain_1, bias_1 of the first norm, gain_2, bias_2 of the second
    n_heads : number of heads
    may_attend : booleans that fit (..., n, n), True where a token may attend; None for
        everywhere
    norm_first : False for post-norm, norm(x + sublayer(x)), as in the paper; True for
        pre-norm, x + sublayer(norm(x))

    Returns a tensor like x: two sublayers, self-attention and feed-forward network,
    each with a residual connection and a norm of its own. The arguments are
    not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.1; pre-norm:
    Xiong et al. (2020), On Layer Normalization in the Transformer Architecture, table
    1.

    >>> import torch
    >>> matrices = ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2")
    >>> zeros = dict.fromkeys(matrices, torch.zeros(2, 2))
    >>> zeros |= dict.fromkeys(("b_1", "b_2"), torch.zeros(2))
    >>> plain = dict(gain_1=torch.ones(2), gain_2=torch.ones(2))
    >>> plain |= dict(bias_1=torch.zeros(2), bias_2=torch.zeros(2))
    >>> encoder_layer(torch.tensor([[3.0, 5.0]]), zeros | plain, 1, norm_first=True)
    tensor([[3., 5.]])
    >>> encoder_layer(torch.tensor([[3.0, 5.0]]), zeros | plain, 1)
    tensor([[-1.0000,  1.0000]])
    """
    arguments.tensors(f"x (..., n, d_model), {ENCODER}", x, parameters=parameters)
    p = parameters
    w_q, w_k, w_v, w_o = (p[name] for name in ("w_q", "w_k", "w_v", "w_o"))

    def attend(y: Tensor) -> Tensor:
        return multi_head_attention(y, y, w_q, w_k, w_v, w_o, n_heads, may_attend)

    def apply_feed_forward(y: Tensor) -> Tensor:
        return feed_forward(y, p["w_1"], p["b_1"], p["w_2"], p["b_2"])

    for number, sublayer in enumerate([attend, apply_feed_forward], start=1):
        gain, bias = p[f"gain_{number}"], p[f"bias_{number}"]
        if norm_first:
            x = x + sublayer(layer_norm(x, gain, bias))
        else:
            x = layer_norm(x + sublayer(x), gain, bias)
    return x


def decoder_layer(
    y: Tensor,
    memory: Tensor,
    parameters: dict[str, Tensor],
    n_heads: int,
    may_attend: Tensor | None = None,
    memory_may_attend: Tensor | None = None,
    norm_first: bool = False,
) -> Tensor:
    """Apply self-attention, then cross-attention, then a feed-forward network.

    y : (..., n, d_model), the target, one token per row
    memory : (..., m, d_model), the encoder's output
    parameters : w_q, w_k, w_v, w_o of the self-attention; cross_q, cross_k, cross_v,
        cross_o of the cross-attention to the memory; w_1, b_1, w_2, b_2 of
        ``feed_forward``; gain_1, bias_1, …, gain_3, bias_3 of three norms
    n_heads : number of heads, the same in both attentions
    may_attend : booleans that fit (..., n, n): where a target token may attend in the
        target, such as a causal mask; None for everywhere
    memory_may_attend : booleans that fit (..., n, m): where it may attend in the
        memory, such as a mask of the source's padding; None for everywhere
    norm_first : as in ``encoder_layer``; the memory is not normalised in either case

    Returns a tensor like y: three sublayers in this order, each with a residual
    connection and a norm of its own. The arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, sections 3.1 and 3.2.3;
    pre-norm: Xiong et al. (2020), On Layer Normalization in the Transformer
    Architecture, table 1.

    >>> import torch
    >>> zeros = ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "cross_q", "cross_k")
    >>> parameters = dict.fromkeys(zeros, torch.zeros(2, 2))
    >>> parameters |= dict.fromkeys(("cross_v", "cross_o"), torch.eye(2))
    >>> parameters |= dict.fromkeys(("b_1", "b_2"), torch.zeros(2))
    >>> parameters |= {f"gain_{i}": torch.ones(2) for i in (1, 2, 3)}
    >>> parameters |= {f"bias_{i}": torch.zeros(2) for i in (1, 2, 3)}
    >>> y, memory = torch.tensor([[3.0, 5.0]]), torch.tensor([[10.0, 0.0], [30.0, 4.0]])
    >>> decoder_layer(y, memory, parameters, 1, norm_first=True)  # the mean is added
    tensor([[23.,  7.]])
    >>> only_first = torch.tensor([[True, False]])
    >>> decoder_layer(y, memory, parameters, 1, None, only_first, norm_first=True)
    tensor([[13.,  5.]])
    """
    arguments.tensors(
        f"y (..., n, d_model), memory (..., m, d_model), {DECODER}",
        *(y, memory),
        parameters=parameters,
    )
    arguments.mask_between("memory_may_attend", memory_may_attend, y, memory)
    p = parameters
    own = p["w_q"], p["w_k"], p["w_v"], p["w_o"]
    cross = p["cross_q"], p["cross_k"], p["cross_v"], p["cross_o"]

    def attend(x: Tensor) -> Tensor:
        return multi_head_attention(x, x, *own, n_heads, may_attend)

    def attend_to_memory(x: Tensor) -> Tensor:
        return multi_head_attention(x, memory, *cross, n_heads, memory_may_attend)

    def apply_feed_forward(x: Tensor) -> Tensor:
        return feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"])

    sublayers = attend, attend_to_memory, apply_feed_forward
    for number, sublayer in enumerate(sublayers, start=1):
        gain, bias = p[f"gain_{number}"], p[f"bias_{number}"]
        if norm_first:
            y = y + sublayer(layer_norm(y, gain, bias))
        else:
            y = layer_norm(y + sublayer(y), gain, bias)
    return y


def count_transformer(
    n_layers: int, d_model: int, d_ff: int, vocab_size: int = 0
) -> int:
    """Count the parameters of an encoder and a decoder.

    n_layers : number of layers of the encoder, and as many of the decoder
    d_model : length of a token's vector
    d_ff : length between the two linear maps of the feed-forward network
    vocab_size : number of rows of the one embedding that serves source, target and
        logits; 0 to leave it out

    Returns an integer. These are counted:
    - each of the four projections of an attention: a matrix of d_model² and a bias of
      d_model
    - each feed-forward network: two matrices and two biases
    - each sublayer: a norm with gain and bias
    - encoder and decoder: one more norm each, at the end

    The number of heads changes nothing, and positions are not learned.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3 and table 3; the
    last two norms are those of PyTorch's ``nn.Transformer``.

    >>> count_transformer(6, 512, 2048)
    44140544
    """
    arguments.whole(0, n_layers=n_layers, vocab_size=vocab_size)
    arguments.whole(1, d_model=d_model, d_ff=d_ff)
    per_attention = 4 * (d_model**2 + d_model)
    per_network = 2 * d_model * d_ff + d_ff + d_model
    per_norm = 2 * d_model
    encoder = n_layers * (per_attention + per_network + 2 * per_norm) + per_norm
    decoder = n_layers * (2 * per_attention + per_network + 3 * per_norm) + per_norm
    return encoder + decoder + vocab_size * d_model


def parameters_of(
    layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> dict[str, Tensor]:
    """Return the parameters of PyTorch's layer by the names of these functions.

    layer : one of PyTorch's; its attentions may have biases of zeros only, as fresh
        ones do, since these functions have none

    Returns matrices for ``x @ w``: the transposes of PyTorch's. They share its memory,
    and ask for no gradient. Raises ``ValueError`` if an attention has other biases.
    """
    kinds = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
    arguments.instance("layer", layer, *kinds)
    attentions: dict[str, nn.MultiheadAttention] = {"w": layer.self_attn}
    if isinstance(layer, nn.TransformerDecoderLayer):
        attentions["cross"] = layer.multihead_attn
    parameters: dict[str, Tensor] = {}
    for prefix, module in attentions.items():
        biases = (module.in_proj_bias, module.out_proj.bias)
        if any(bias is not None and bias.any() for bias in biases):
            raise ValueError(
                "this attention has biases, and the functions have none: set them to 0"
            )
        for name, matrix in zip("qkv", module.in_proj_weight.chunk(3), strict=True):
            parameters[f"{prefix}_{name}"] = matrix.T
        parameters[f"{prefix}_o"] = module.out_proj.weight.T
    for number, linear in enumerate((layer.linear1, layer.linear2), start=1):
        parameters[f"w_{number}"] = linear.weight.T
        parameters[f"b_{number}"] = linear.bias
    for number in range(1, len(attentions) + 2):  # one norm per sublayer
        norm = getattr(layer, f"norm{number}")
        parameters[f"gain_{number}"] = norm.weight
        parameters[f"bias_{number}"] = norm.bias
    return {name: parameter.detach() for name, parameter in parameters.items()}
