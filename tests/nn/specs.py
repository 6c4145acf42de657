"""What the functions and modules of ``course_lib.nn`` should give, spelled out.

In float64, in whatever way is plain; a blocked key is not read at all. The modules'
specs read the parameters of a module of ours and do the arithmetic themselves.
"""

import math

import torch


def attention(q, k, v, may_attend=None):
    """Return output and weights; a sum over the keys that a query may attend to."""
    products = q.unsqueeze(-2) * k.unsqueeze(-3)  # (..., n, m, d_k)
    scores = products.sum(-1) / math.sqrt(q.shape[-1])
    return mixed(scores, v, may_attend)


def mixed(scores, v, may_attend=None):
    """Turn scores (..., n, m) into the mean of v (..., m, d_v), and its weights."""
    if may_attend is None:
        may_attend = torch.ones((), dtype=torch.bool)
    may_attend = may_attend.expand(scores.shape)
    read = torch.where(may_attend, scores, -math.inf)
    if not scores.shape[-1]:
        return scores @ v, scores
    largest = read.detach().amax(-1, keepdim=True)
    shifted = scores - torch.where(largest == -math.inf, 0.0, largest)
    powers = torch.where(may_attend, torch.where(may_attend, shifted, 0.0).exp(), 0.0)
    total = powers.sum(-1, keepdim=True)
    weights = torch.where(may_attend, powers / torch.where(total == 0, 1, total), 0.0)
    parts = weights.unsqueeze(-1) * v.unsqueeze(-3)  # (..., n, m, d_v)
    return torch.where(may_attend.unsqueeze(-1), parts, 0.0).sum(-2), weights


def heads(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None, biases=None):
    """Return output and weights of attention with several heads, one after another."""
    b_q, b_k, b_v, b_o = biases or (0, 0, 0, 0)
    d_k = w_q.shape[-1] // n_heads
    outputs, weights = [], []
    for head in range(n_heads):
        own = slice(head * d_k, (head + 1) * d_k)
        q, k, v = (
            (rows @ w + b)[..., own]
            for rows, w, b in ((x, w_q, b_q), (memory, w_k, b_k), (memory, w_v, b_v))
        )
        output, weight = attention(q, k, v, may_attend)
        outputs.append(output)
        weights.append(weight)
    return torch.cat(outputs, -1) @ w_o + b_o, torch.stack(weights, -3)


def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    variance = ((x - mean) * (x - mean)).sum(-1, keepdim=True) / x.shape[-1]
    return (x - mean) * (variance + eps) ** -0.5 * gain + bias


def feed_forward(x, w_1, b_1, w_2, b_2):
    hidden = x @ w_1 + b_1
    # Of 0 the derivative is 0, as in PyTorch; ``clamp`` has 1.
    hidden = torch.where((hidden > 0) | hidden.isnan(), hidden, 0.0)
    return hidden @ w_2 + b_2


def sublayers(x, parts, norms, norm_first):
    """Apply sublayers with residual connections; norms: gain, bias and eps of each."""
    for part, norm in zip(parts, norms, strict=True):
        if norm_first:
            x = x + part(layer_norm(x, *norm))
        else:
            x = layer_norm(x + part(x), *norm)
    return x


def encoder_layer(x, p, n_heads, may_attend=None, norm_first=False):
    return decoder_layer(x, None, p, n_heads, may_attend, None, norm_first)


def decoder_layer(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    """Apply a decoder layer; an encoder's, if there is no memory."""

    def attend_to(part, names, rows, mask):
        return heads(part, rows, *(p[name] for name in names), n_heads, mask)[0]

    own = ("w_q", "w_k", "w_v", "w_o")
    parts = [lambda x: attend_to(x, own, x, may_attend)]
    if memory is not None:
        cross = ("cross_q", "cross_k", "cross_v", "cross_o")
        parts.append(lambda x: attend_to(x, cross, memory, memory_may_attend))
    parts.append(lambda x: feed_forward(x, p["w_1"], p["b_1"], p["w_2"], p["b_2"]))
    norms = [(p[f"gain_{i}"], p[f"bias_{i}"]) for i in range(1, len(parts) + 1)]
    return sublayers(y, parts, norms, norm_first)


def module_heads(module, x, memory=None, may_attend=None):
    """Compute what ``MultiHeadAttention`` should, from its parameters."""
    linear = (module.query, module.key, module.value, module.output)
    matrices = [each.weight.T for each in linear]
    biases = None if linear[0].bias is None else [each.bias for each in linear]
    memory = x if memory is None else memory
    return heads(x, memory, *matrices, module.n_heads, may_attend, biases)


def module_layer(layer, x, memory=None, may_attend=None, memory_may_attend=None):
    """Compute what an ``EncoderLayer`` or ``DecoderLayer`` should."""
    parts = [lambda y: module_heads(layer.self_attention, y, y, may_attend)[0]]
    if memory is not None:
        cross = layer.cross_attention
        parts.append(lambda y: module_heads(cross, y, memory, memory_may_attend)[0])
    one, two = layer.linear_1, layer.linear_2
    biases = [0 if each.bias is None else each.bias for each in (one, two)]
    network = one.weight.T, biases[0], two.weight.T, biases[1]
    parts.append(lambda y: feed_forward(y, *network))
    norms = [
        (each.weight, 0 if each.bias is None else each.bias, each.eps)
        for each in layer.norms
    ]
    return sublayers(x, parts, norms, layer.norm_first)


def gru_step(x, state, w_x, w_h, b_x, b_h):
    d_h = state.shape[-1]
    parts = []
    for gate in range(3):
        own = slice(gate * d_h, (gate + 1) * d_h)
        parts.append((x @ w_x[:, own] + b_x[own], state @ w_h[:, own] + b_h[own]))
    reset, update = (1 / (1 + torch.exp(-a - b)) for a, b in parts[:2])
    candidate = torch.tanh(parts[2][0] + reset * parts[2][1])
    return candidate + update * (state - candidate)


def additive_attention(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = torch.tanh((state @ w_q).unsqueeze(-2) + keys @ w_k)
    scores = (hidden * v).sum(-1).unsqueeze(-2)  # (..., 1, m)
    mask = None if may_attend is None else may_attend.unsqueeze(-2)
    context, weights = mixed(scores, values, mask)
    return context.squeeze(-2), weights.squeeze(-2)


def decoder_step(x, state, keys, values, p, may_attend=None):
    own = p["w_q"], p["w_k"], p["v"]
    context, weights = additive_attention(state, keys, values, *own, may_attend)
    read = torch.cat([x, context], -1)
    new = gru_step(read, state, p["w_x"], p["w_h"], p["b_x"], p["b_h"])
    return new, context, weights


def luong_score(state, keys, w=None):
    query = state if w is None else (state.unsqueeze(-1) * w).sum(-2)
    return (query.unsqueeze(-2) * keys).sum(-1)


def cross_entropy(logits, targets, ignore_index):
    """Average over the positions that count, one by one."""
    losses = []
    for row, target in zip(logits.flatten(0, -2), targets.flatten(), strict=True):
        if target != ignore_index:
            losses.append(row.logsumexp(-1) - row[target])
    return torch.stack(losses).mean() if losses else logits[..., :0].sum()


def embed(token_ids, embedding, encoding):
    rows = [embedding[token_id] for token_id in token_ids.flatten().tolist()]
    vectors = torch.stack(rows) if rows else embedding[:0]
    vectors = vectors.reshape(*token_ids.shape, -1 if rows else embedding.shape[-1])
    return math.sqrt(embedding.shape[-1]) * vectors + encoding[: token_ids.shape[-1]]


def cached_step(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = math.sqrt(embedding.shape[-1]) * embedding[token_id] + encoding[len(keys)]
    keys = torch.cat([keys, (x @ w_k).unsqueeze(0)])
    values = torch.cat([values, (x @ w_v).unsqueeze(0)])
    return attention((x @ w_q).unsqueeze(0), keys, values)[0][0], keys, values
