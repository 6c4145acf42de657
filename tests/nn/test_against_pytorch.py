"""Random configurations: the modules and functions compute what PyTorch's own do.

Sizes, leading axes, masks, biases, the position of the norms and the dtype are drawn;
results and gradients are compared. ``make test`` tries a few, ``make test-all`` 300.
"""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy as their_cross_entropy
from torch.nn.functional import scaled_dot_product_attention

from course_lib.nn import MultiHeadAttention, attention, functional
from course_lib.nn.layers import DecoderLayer, EncoderLayer
from course_lib.nn.losses import cross_entropy, label_smoothing
from course_lib.nn.recurrent import RecurrentEncoder
from course_lib.nn.sequence_to_sequence import gru_step
from course_lib.nn.transformer import Transformer, TransformerConfig

FEW, MANY = 6, 300
# Float32 of a layer, forward and back, is off by a few hundred units of roundoff.
CLOSE = {torch.float64: 1e-11, torch.float32: 2e-4}


def configurations():
    return [
        *range(FEW),
        *(pytest.param(n, marks=pytest.mark.thorough) for n in range(FEW, MANY)),
    ]


pytestmark = pytest.mark.parametrize("seed", configurations())


class Drawn:
    """Sizes and tensors of one configuration."""

    def __init__(self, seed):
        torch.manual_seed(seed)
        self.rng = rng = np.random.default_rng(seed)
        self.n_heads, self.d_k = (int(each) for each in rng.integers(1, 5, 2))
        self.d_model = self.n_heads * self.d_k
        self.d_ff, self.batch = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        self.n, self.m = (int(each) for each in rng.integers(1, 9, 2))
        self.bias, self.norm_first, self.masked = (
            bool(each) for each in rng.integers(0, 2, 3)
        )
        self.dtype = [torch.float64, torch.float32][int(rng.integers(2))]

    def normal(self, *shape):
        numbers = torch.tensor(self.rng.normal(size=shape))
        return numbers.to(self.dtype).requires_grad_()

    def mask(self, n, m):
        """Return a mask in which each query may attend to a key, or None."""
        if not self.masked:
            return None
        may_attend = torch.tensor(self.rng.random((self.batch, n, m)) < 0.5)
        may_attend[..., 0] = True
        return may_attend

    def blocked(self, may_attend):
        """Return a mask as nn.MultiheadAttention takes it: (batch · n_heads, n, m)."""
        if may_attend is None:
            return None
        return (~may_attend).repeat_interleave(self.n_heads, dim=0)

    def same(self, ours, theirs, *leaves):
        """Compare results, and what a drawn sum of them gives as gradients."""
        atol = CLOSE[self.dtype]
        torch.testing.assert_close(ours, theirs, rtol=atol, atol=atol)
        share = torch.randn_like(theirs)
        grads = [
            torch.autograd.grad((result * share).sum(), leaves, retain_graph=True)
            for result in (ours, theirs)
        ]
        for mine, other in zip(*grads, strict=True):
            torch.testing.assert_close(mine, other, rtol=atol, atol=10 * atol)

    def layer(self, kind):
        theirs = kind(
            self.d_model,
            self.n_heads,
            self.d_ff,
            batch_first=True,
            norm_first=self.norm_first,
            bias=self.bias,
            dtype=self.dtype,
            layer_norm_eps=float(10 ** -self.rng.uniform(1, 6)),
            dropout=0.0,
        )
        return randomised(theirs)


def randomised(module):
    for parameter in module.parameters():  # zeros and ones hide much
        nn.init.normal_(parameter, std=0.5)
    return module


def test_attention_matches_sdpa(seed):
    drawn = Drawn(seed)
    leading = tuple(int(each) for each in drawn.rng.integers(1, 4, seed % 3))
    q = drawn.normal(*leading, drawn.n, drawn.d_k)
    k = drawn.normal(*leading, drawn.m, drawn.d_k)
    v = drawn.normal(*leading, drawn.m, drawn.d_ff)
    may_attend = None
    if drawn.masked:
        may_attend = torch.tensor(drawn.rng.random((drawn.n, drawn.m)) < 0.5)
    theirs = scaled_dot_product_attention(q, k, v, attn_mask=may_attend)
    drawn.same(attention(q, k, v, may_attend)[0], theirs, q, k, v)


def test_multi_head_attention_matches_pytorch(seed):
    drawn = Drawn(seed)
    d_memory = drawn.d_model if seed % 2 else int(drawn.rng.integers(1, 9))
    theirs = randomised(
        nn.MultiheadAttention(
            drawn.d_model,
            drawn.n_heads,
            bias=drawn.bias,
            kdim=d_memory,
            vdim=d_memory,
            batch_first=True,
            dtype=drawn.dtype,
        )
    )
    ours = MultiHeadAttention.from_torch(theirs)
    x = drawn.normal(drawn.batch, drawn.n, drawn.d_model)
    memory = drawn.normal(drawn.batch, drawn.m, d_memory)
    may_attend = drawn.mask(drawn.n, drawn.m)
    output, weights = theirs(
        x,
        memory,
        memory,
        attn_mask=drawn.blocked(may_attend),
        average_attn_weights=False,
    )
    mine = ours(x, memory, may_attend)
    drawn.same(mine[0], output, x, memory)
    drawn.same(mine[1], weights, x, memory)
    fused = ours.attend(x, *ours.keys_and_values(memory), may_attend)
    drawn.same(fused, output, x, memory)


def test_encoder_layer_matches_pytorch(seed):
    drawn = Drawn(seed)
    theirs = drawn.layer(nn.TransformerEncoderLayer)
    x = drawn.normal(drawn.batch, drawn.n, drawn.d_model)
    may_attend = drawn.mask(drawn.n, drawn.n)
    expected = theirs(x, drawn.blocked(may_attend))
    drawn.same(EncoderLayer.from_torch(theirs)(x, may_attend), expected, x)


def test_decoder_layer_matches_pytorch(seed):
    drawn = Drawn(seed)
    theirs = drawn.layer(nn.TransformerDecoderLayer)
    y = drawn.normal(drawn.batch, drawn.n, drawn.d_model)
    memory = drawn.normal(drawn.batch, drawn.m, drawn.d_model)
    own, other = drawn.mask(drawn.n, drawn.n), drawn.mask(drawn.n, drawn.m)
    is_causal = bool(seed % 2)
    blocked = drawn.blocked(own)
    if is_causal:
        future = torch.ones(drawn.n, drawn.n, dtype=torch.bool).triu(1)
        blocked = future if blocked is None else blocked | future
    expected = theirs(y, memory, blocked, drawn.blocked(other))
    ours = DecoderLayer.from_torch(theirs)
    drawn.same(ours(y, memory, own, other, causal=is_causal), expected, y, memory)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # with norm_first
def test_transformer_matches_pytorch(seed):
    drawn = Drawn(seed)
    config = TransformerConfig(
        9,
        drawn.d_model,
        drawn.n_heads,
        int(drawn.rng.integers(1, 3)),
        drawn.d_ff,
        norm_first=drawn.norm_first,
    )
    theirs = nn.Transformer(
        drawn.d_model,
        drawn.n_heads,
        config.n_layers,
        config.n_layers,
        drawn.d_ff,
        dropout=0.0,
        batch_first=True,
        norm_first=drawn.norm_first,
        dtype=drawn.dtype,
    )
    # In training: in evaluation it takes a shortcut, and warns.
    randomised(theirs)
    ours = Transformer(config, device="cpu", dtype=drawn.dtype)
    for mine, other in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        kind = EncoderLayer if mine is ours.encoder else DecoderLayer
        for index, layer in enumerate(other.layers):
            mine.layers[index] = kind.from_torch(layer)
        mine.norm.load_state_dict(other.norm.state_dict())
    source = torch.tensor(drawn.rng.integers(1, 9, (drawn.batch, drawn.m)))
    target = torch.tensor(drawn.rng.integers(1, 9, (drawn.batch, drawn.n)))
    source[-1, 1:] = config.padding_id
    is_padding = source == config.padding_id
    expected = theirs(
        ours._embed(source),
        ours._embed(target),
        tgt_mask=torch.ones(drawn.n, drawn.n, dtype=torch.bool).triu(1),
        src_key_padding_mask=is_padding,
        memory_key_padding_mask=is_padding,
    )
    mine, expected = ours(source, target), ours.logits(expected)
    drawn.same(mine, expected, ours.embedding.weight)


def test_layer_norm_matches_pytorch(seed):
    drawn = Drawn(seed)
    x = drawn.normal(drawn.batch, drawn.n, drawn.d_model)
    gain, bias = drawn.normal(drawn.d_model), drawn.normal(drawn.d_model)
    eps = float(10 ** -drawn.rng.uniform(1, 4))
    theirs = nn.functional.layer_norm(x, (drawn.d_model,), gain, bias, eps)
    drawn.same(functional.layer_norm(x, gain, bias, eps), theirs, x, gain, bias)


def test_losses_match_pytorch(seed):
    drawn = Drawn(seed)
    logits = drawn.normal(drawn.batch, drawn.n, 7)
    targets = torch.tensor(drawn.rng.integers(0, 7, (drawn.batch, drawn.n)))
    targets[0, 0] = 1  # so that one counts
    flat = logits.flatten(0, 1), targets.flatten()
    theirs = their_cross_entropy(*flat, ignore_index=0)
    drawn.same(cross_entropy(logits, targets, 0), theirs, logits)
    smoothing = float(drawn.rng.random())
    smoothed = label_smoothing(targets, 7, smoothing).to(drawn.dtype)
    mine = -(smoothed * logits.log_softmax(-1)).sum(-1).mean()
    theirs = their_cross_entropy(*flat, label_smoothing=smoothing)
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)  # float32 shares


def test_recurrent_units_match_pytorch(seed):
    drawn = Drawn(seed)
    d_in, d_h = drawn.d_ff, drawn.d_model
    cell = randomised(nn.GRUCell(d_in, d_h, dtype=drawn.dtype))
    x, state = drawn.normal(drawn.batch, d_in), drawn.normal(drawn.batch, d_h)
    parameters = (cell.weight_ih.T, cell.weight_hh.T, cell.bias_ih, cell.bias_hh)
    drawn.same(gru_step(x, state, *parameters), cell(x, state), x, state)
    encoder = RecurrentEncoder(d_in, d_h, torch.device("cpu"), drawn.dtype)
    tokens = drawn.normal(drawn.batch, drawn.n, d_in)
    lengths = drawn.rng.integers(1, drawn.n + 1, drawn.batch)
    may_attend = torch.arange(drawn.n) < torch.tensor(lengths)[:, None]
    memory = encoder(tokens, may_attend)
    for row, length in enumerate(lengths):
        vectors, last = encoder.gru(tokens[row, :length])
        drawn.same(memory.vectors[row, :length], vectors, tokens)
        drawn.same(memory.final_state[row], last.flatten(), tokens)
