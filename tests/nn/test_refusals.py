"""What once gave a wrong number, or PyTorch's own error: each line was red."""

import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.nn import (
    LearnedPositions,
    MultiHeadAttention,
    SinusoidalPositions,
    attention,
    best_device,
)
from course_lib.nn import functional as functions
from course_lib.nn.decoding import (
    BeamHypotheses,
    batch_beam_search,
    beam_search,
    cached_step,
    greedy_decode,
    translate,
)
from course_lib.nn.layers import DecoderLayer, EncoderLayer
from course_lib.nn.losses import (
    clip_gradients,
    cross_entropy,
    label_smoothing,
    padding_gap,
    warmup_rate,
)
from course_lib.nn.recurrent import RecurrentConfig, RecurrentTranslator
from course_lib.nn.sequence_to_sequence import additive_attention, alignment_mass
from course_lib.nn.transformer import Transformer, TransformerConfig
from tests.nn.test_attention import close, normal
from tests.nn.test_layers import THEIRS, causal, padding

CPU = {"device": "cpu", "dtype": torch.float64}
EMBEDDING, ENCODING = torch.ones(4, 2), torch.ones(3, 2)
MATRIX = torch.ones(2, 2)
FOUR = 0, 1, 2, 5  # start_id, end_id, beam_size, max_length


def transformer():
    return Transformer(TransformerConfig(9, 12, 3, 1, 10, n_positions=8), device="cpu")


def recurrent():
    return RecurrentTranslator(RecurrentConfig(9, 4, 3), device="cpu")


def ids(*rows):
    return torch.tensor(rows)


def gives(*numbers):
    """Return a function that scores the next token always in the same way."""
    return lambda token_ids: np.array(numbers)


REFUSED = [
    # the message, and what is called
    ("n_heads must be at least 1, got -2", lambda: MultiHeadAttention(4, -2)),
    ("n_heads must be at least 1, got 0", lambda: EncoderLayer(4, 0, 8)),
    ("n_heads must be at least 1, got 0", lambda: TransformerConfig(9, n_heads=0)),
    (
        "d_memory must be at least 1, got 0",
        lambda: MultiHeadAttention(4, 2, d_memory=0),
    ),
    ("n_heads must be a whole number, got 2.0", lambda: MultiHeadAttention(4, 2.0)),
    (
        "dropout must be a finite number from 0 to 1",
        lambda: EncoderLayer(4, 2, 8, dropout=1.5),
    ),
    (
        "dtype must be one of floats",
        lambda: MultiHeadAttention(4, 2, dtype=torch.int64),
    ),
    (
        "padding_id must be a token id from 0 to 8",
        lambda: RecurrentConfig(9, padding_id=9),
    ),
    ("d_ff must be at least 1", lambda: TransformerConfig(9, d_ff=-1)),
    ("device='gpu' is none", lambda: best_device("gpu")),
    (
        "x must be a tensor, got ndarray",
        lambda: functions.layer_norm(np.ones(2), torch.ones(2), torch.ones(2)),
    ),
    (
        "x must hold floats, got int64",
        lambda: SinusoidalPositions(5, 2, device="cpu")(
            torch.ones(3, 2, dtype=torch.int64)
        ),
    ),
    (
        "x must hold floats, got int64",
        lambda: LearnedPositions(5, 2, device="cpu")(
            torch.ones(3, 2, dtype=torch.int64)
        ),
    ),
    (
        "d_model=2, got (3, 1)",
        lambda: SinusoidalPositions(5, 2, device="cpu")(torch.ones(3, 1)),
    ),
    (
        "gain must have shape (d_model,) with d_model=3",
        lambda: functions.layer_norm(torch.ones(2, 3), torch.ones(1), torch.ones(3)),
    ),
    (
        "encoding must have at least 3 rows, got 1",
        lambda: functions.embed(ids(1, 1, 1), EMBEDDING, torch.ones(1, 2)),
    ),
    (
        "token_ids must hold token ids from 0 to 3, got -1",
        lambda: functions.embed(ids(1, -1), EMBEDDING, ENCODING),
    ),
    (
        "token_ids must hold int64 or int32, got uint8",
        lambda: functions.embed(torch.ones(2, dtype=torch.uint8), EMBEDDING, ENCODING),
    ),
    (
        "start_id must be a whole number, got 1.5",
        lambda: functions.shift_right(ids(1, 2), 1.5),
    ),
    ("d_model must be at least 1", lambda: functions.count_transformer(1, -2, 3)),
    (
        "n_heads must be at least 1, got 0",
        lambda: functions.multi_head_attention(
            MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, 0
        ),
    ),
    ("parameters must hold w_q", lambda: functions.encoder_layer(MATRIX, {}, 1)),
    (
        "smoothing must be a finite number from 0 to 1, got 2",
        lambda: label_smoothing(ids(1), 4, 2),
    ),
    (
        "targets must hold token ids from 0 to 3, got 4",
        lambda: label_smoothing(ids(4), 4, 0.1),
    ),
    (
        "logits must have shape (1, 2, vocab_size)",
        lambda: cross_entropy(torch.ones(2, 2, 5), ids([1, 2]), 0),
    ),
    (
        "targets must hold token ids from 0 to 4, got -1",
        lambda: cross_entropy(torch.ones(2, 5), ids(1, -1), 0),
    ),
    ("step must be at least 0", lambda: warmup_rate(-4, 4, 100)),
    ("warmup_steps must be at least 1", lambda: warmup_rate(1, 4, 0)),
    ("max_norm must be above 0, got 0", lambda: clip_gradients({"w": MATRIX}, 0)),
    (
        "gradients must be a dictionary of tensors, got list",
        lambda: clip_gradients([MATRIX], 1.0),
    ),
    (
        "the norm of the gradients is nan: look for its cause",
        lambda: clip_gradients({"w": MATRIX * torch.nan}, 1.0),
    ),
    ("sequences must hold at least one sequence", lambda: padding_gap(abs, [], 0)),
    (
        "sequences[1] must hold tokens, and no padding",
        lambda: padding_gap(abs, [[1], [2, 0]], 0),
    ),
    (
        "beam_size must be at least 1, got 0",
        lambda: beam_search(gives(-1.0, -2.0), 0, 1, 0, 5),
    ),
    (
        "beam_size must be at least 1, got -1",
        lambda: beam_search(gives(-1.0, -2.0), 0, 1, -1, 5),
    ),
    ("beam_size must be at least 1, got 0", lambda: BeamHypotheses(0, 1)),
    (
        "beam_size must be at least 1, got 0",
        lambda: translate(transformer(), [[1]], 1, 2, beam_size=0),
    ),
    (
        "batch_size must be at least 1",
        lambda: translate(transformer(), [[1]], 1, 2, batch_size=0),
    ),
    (
        "start_id must be a token id from 0 to 8",
        lambda: translate(transformer(), [[1]], 9, 2),
    ),
    (
        "next_log_probabilities must return numbers below infinity, got nan",
        lambda: beam_search(gives(-1.0, np.nan), 0, 1, 2, 5),
    ),
    (
        "next_logits must return numbers below infinity, got nan",
        lambda: greedy_decode(gives(np.nan, 1.0), 0, 1, 5),
    ),
    (
        "next_logits must return an array of numbers, got list",
        lambda: greedy_decode(lambda token_ids: ["a", 1.0], 0, 1, 5),
    ),
    (
        "next_log_probabilities must return an array of numbers, got Tensor",
        lambda: beam_search(lambda token_ids: torch.ones(2, requires_grad=True), *FOUR),
    ),
    (
        "alpha must be a finite number",
        lambda: beam_search(gives(-1.0, -2.0), 0, 1, 1, 5, np.nan),
    ),
    ("max_length must be at least 0", lambda: greedy_decode(gives(1.0), 0, 0, -1)),
    (
        "token_id must be a token id from 0 to 3, got -1",
        lambda: cached_step(
            -1, MATRIX, MATRIX, EMBEDDING, ENCODING, MATRIX, MATRIX, MATRIX
        ),
    ),
    (
        "encoding must have at least 3 rows, got 2",
        lambda: cached_step(
            1, MATRIX, MATRIX, EMBEDDING, MATRIX, MATRIX, MATRIX, MATRIX
        ),
    ),
    (
        "links must hold different pairs from (0, 0) to (1, 1), got (0, -1)",
        lambda: alignment_mass(MATRIX, [(0, -1)]),
    ),
    (
        "links must hold different pairs from (0, 0) to (1, 1), got (0, 1)",
        lambda: alignment_mass(MATRIX, [(0, 1), (0, 1)]),
    ),
    (
        "may_attend must be boolean, got float32",
        lambda: additive_attention(
            *(torch.ones(2), MATRIX, MATRIX, MATRIX, MATRIX, torch.ones(2)),
            torch.ones(2),
        ),
    ),
    (
        "memory_may_attend must be boolean, got float32",
        lambda: DecoderLayer(12, 3, 10, **CPU)(
            *(normal(2, 5, 12), normal(2, 5, 12)), memory_may_attend=torch.ones(5)
        ),
    ),
    (
        "may_attend must have shape (2, 2), or 1",
        lambda: attention(
            MATRIX, MATRIX, MATRIX, torch.ones(3, 2, 2, dtype=torch.bool)
        ),
    ),
    (
        "d_k=1 or more, got (2, 0)",
        lambda: attention(torch.ones(2, 0), torch.ones(3, 0), torch.ones(3, 1)),
    ),
    ("target must have 1 rows, got 2", lambda: transformer()(ids([1]), ids([1], [2]))),
    ("token ids must be from 0 to 8", lambda: transformer()(ids([9]), ids([1]))),
    ("token ids must be from 0 to 8", lambda: recurrent()(ids([1]), ids([-1]))),
    (
        "source must not be empty",
        lambda: recurrent()(torch.ones(2, 0, dtype=torch.int64), ids([1], [1])),
    ),
    (
        "may_attend must be True at tokens, then",
        lambda: recurrent()(ids([1, 0, 2]), ids([1])),
    ),
    (
        "causal needs as many keys as tokens",
        lambda: MultiHeadAttention(2, 1, device="cpu").attend(
            MATRIX, torch.ones(1, 3, 2), torch.ones(1, 3, 2), causal=True
        ),
    ),
]


@pytest.mark.parametrize(("words", "call"), REFUSED)
def test_argument_is_refused_by_name(words, call):
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        call()


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_layer_refuses_a_mask_that_is_not_boolean(kind, dtype):
    layer, x = kind(12, 3, 10, **CPU), normal(2, 5, 12)
    inputs = (x,) if kind is EncoderLayer else (x, x)
    with pytest.raises(TypeError, match="may_attend must be boolean, got"):
        layer(*inputs, causal(5).to(dtype))


def test_attention_refuses_a_mask_of_floats():
    heads, x, floats = MultiHeadAttention(12, 3, **CPU), normal(2, 5, 12), torch.ones(5)
    with pytest.raises(TypeError, match=r"^may_attend must be boolean, got float32"):
        heads(x, None, floats)
    with pytest.raises(TypeError, match=r"^may_attend must be boolean, got float32"):
        heads.attend(x, *heads.keys_and_values(x), floats)


def test_decoder_layer_obeys_a_mask_beside_causal():
    layer, x = DecoderLayer(12, 3, 10, **CPU), normal(2, 5, 12)
    own = padding(5, 3)
    close(layer(x, x, own, causal=True), layer(x, x, own & causal(5)))
    assert not torch.allclose(layer(x, x, own, causal=True), layer(x, x, causal=True))


def test_additive_attention_to_nothing_gives_zeros():
    state, keys, v = normal(2, 3), normal(2, 5, 4, seed=1), normal(6, seed=2)
    w_q, w_k = normal(3, 6, seed=3), normal(4, 6, seed=4)
    state.requires_grad_()
    may_attend = padding(5, 0).squeeze(1)
    context, weights = additive_attention(state, keys, keys, w_q, w_k, v, may_attend)
    assert (context[1] == 0).all() and (weights[1] == 0).all()
    context.sum().backward()
    assert (state.grad[1] == 0).all() and (state.grad[0] != 0).all()


def test_padding_gap_of_nan_is_no_all_clear():
    def nan_for_token_2(token_ids):
        return np.where(token_ids == 2, np.nan, 1.0)[..., np.newaxis]

    assert np.isnan(padding_gap(nan_for_token_2, [[1], [2, 1]], 0))


def test_cross_entropy_in_float16_does_not_overflow():
    logits = torch.zeros(16384, 300, dtype=torch.float16)
    loss = cross_entropy(logits, torch.ones(16384, dtype=torch.int64), 0)
    assert abs(loss - np.log(300)) < 0.02  # 2⁻¹¹ of 5.7, and of the sum


class Operations(TorchDispatchMode):
    """Records the names of what PyTorch is asked to compute."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.names.add(operation.overloadpacket.__name__)
        return operation(*args, **(kwargs or {}))


def test_loss_reads_no_numbers_of_a_device():
    targets = torch.ones(3, dtype=torch.int64, device="meta")  # it has none to read
    with Operations() as asked:
        cross_entropy(torch.ones(3, 5, device="meta"), targets, 0)
        smoothed = label_smoothing(targets, 5, 0.1)
    assert smoothed.device == targets.device
    assert "gather" in asked.names
    assert not asked.names & {"_local_scalar_dense", "nonzero", "index", "_to_copy"}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_embed_refuses_negative_token_ids_on_a_gpu():
    with pytest.raises(ValueError, match="token_ids must hold token ids from 0 to 3"):
        functions.embed(ids(1, -1).cuda(), EMBEDDING.cuda(), ENCODING.cuda())


def test_search_refuses_a_model_that_gives_nan():
    model = transformer()
    nn.init.constant_(model.embedding.weight, torch.nan)
    for beam_size in (1, 3):
        with pytest.raises(ValueError, match="the model's logits are NaN"):
            translate(model, [[1, 2]], 1, 2, beam_size=beam_size)
    with pytest.raises(ValueError, match="the model's logits are NaN"):
        batch_beam_search(model, ids([1, 2]), 1, 2, 2, 5)


# From PyTorch's modules


def test_from_torch_refuses_sequences_before_batches():
    with pytest.raises(ValueError, match="batch_first=False: attention here takes"):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(12, 3))


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_from_torch_keeps_the_eps_of_each_norm(kind):
    theirs = THEIRS[kind](12, 3, 10, 0.0, batch_first=True, **CPU)
    theirs.norm2.eps = 0.5
    x = normal(2, 5, 12)
    inputs = (x,) if kind is EncoderLayer else (x, x)
    close(kind.from_torch(theirs)(*inputs), theirs(*inputs))


@pytest.mark.parametrize("relu", [torch.relu, torch.Tensor.relu])
def test_from_torch_takes_relu_by_its_other_names(relu):
    theirs = nn.TransformerEncoderLayer(
        12, 3, 10, 0.0, batch_first=True, activation=relu, **CPU
    )
    x = normal(2, 5, 12)
    close(EncoderLayer.from_torch(theirs)(x), theirs(x))


def test_from_torch_keeps_what_is_frozen():
    theirs = nn.TransformerDecoderLayer(12, 3, 10, batch_first=True)
    frozen = ("self_attn.in_proj_weight", "linear1.bias", "norm3.weight")
    for name in frozen:
        theirs.get_parameter(name).requires_grad_(False)
    with torch.no_grad():
        ours = DecoderLayer.from_torch(theirs)
    names = {n for n, each in ours.named_parameters() if not each.requires_grad}
    of_attention = {f"self_attention.{n}.weight" for n in ("query", "key", "value")}
    assert names == of_attention | {"linear_1.bias", "norms.2.weight"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda layer: setattr(layer.dropout2, "p", 0.5), "dropout1, dropout2 differ"),
        (lambda layer: setattr(layer, "norm2", nn.RMSNorm(12)), "norm=RMSNorm: .* Lay"),
        (lambda layer: layer.norm1.register_parameter("bias", None), "been changed"),
        (lambda layer: layer.linear2.double(), "been changed since PyTorch made it"),
        (lambda layer: layer.self_attn.out_proj.double(), "been changed since PyTorch"),
    ],
)
def test_from_torch_refuses_a_layer_that_was_changed(change, words):
    theirs = nn.TransformerEncoderLayer(12, 3, 10, batch_first=True)
    change(theirs)
    with pytest.raises(ValueError, match=words):
        EncoderLayer.from_torch(theirs)


def test_from_torch_refuses_another_module():
    theirs = nn.TransformerDecoderLayer(12, 3, 10, batch_first=True)
    with pytest.raises(TypeError, match="theirs must be a TransformerEncoderLayer"):
        EncoderLayer.from_torch(theirs)
    with pytest.raises(TypeError, match="theirs must be a MultiheadAttention"):
        MultiHeadAttention.from_torch(theirs)
