"""The language model: its parts, its cache, and what it generates."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from course_lib.nn.generating import generate
from course_lib.nn.language_model import (
    BLOCK_2017,
    BLOCK_TODAY,
    LanguageModel,
    LanguageModelConfig,
    RotaryPositions,
)
from course_lib.nn.modern_block import grouped_query_attention, rms_norm, swiglu
from course_lib.positions import rotary

GPT_2 = {**BLOCK_2017, "norm_first": True, "feed_forward": "gelu"}
GPT_2 |= {"positions": "learned"}
BLOCKS = {
    "2017": BLOCK_2017,
    "GPT-2": GPT_2,
    "today": BLOCK_TODAY,
    "grouped": {**BLOCK_TODAY, "n_kv_heads": 2},
    "multi-query": {**BLOCK_TODAY, "n_kv_heads": 1},
}
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5}
DTYPES = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)


def model(block="today", dtype=torch.float64, **options):
    sizes = {"vocab_size": 61, "d_model": 24, "n_layers": 3, "n_positions": 20}
    config = LanguageModelConfig(**(sizes | {"n_heads": 4} | BLOCKS[block] | options))
    torch.manual_seed(0)
    made = LanguageModel(config, dtype=dtype, device="cpu")
    for parameter in made.parameters():  # larger than at first: all parts matter
        torch.nn.init.normal_(parameter, mean=0.1, std=0.4)
    return made.eval()


def token_ids(batch, n, vocab_size=61):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(vocab_size, (batch, n), generator=generator)


def largest_difference(ours, theirs):
    assert ours.shape == theirs.shape
    return (ours - theirs).abs().max().item()


@pytest.mark.parametrize("block", BLOCKS)
def test_reading_in_pieces_gives_the_same_logits(block):
    ours, ids, state = model(block), token_ids(2, 17), None
    with torch.no_grad():
        whole, parts = ours(ids), []
        for piece in ids.split([5, 1, 4, 6, 1], dim=1):
            before = state and state.caches[0].keys.clone()
            logits, after = ours.read(piece, state)
            assert state is None or torch.equal(state.caches[0].keys, before)
            state = after
            parts.append(logits)
    assert state.n_read == 17
    assert largest_difference(torch.cat(parts, dim=1), whole) < 1e-10


@pytest.mark.parametrize("block", BLOCKS)
def test_logits_do_not_depend_on_later_tokens(block):
    ours, ids = model(block), token_ids(1, 12)
    changed = ids.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % 61
    with torch.no_grad():
        before, after = ours(ids), ours(changed)
    assert largest_difference(before[:, :7], after[:, :7]) < 1e-10
    assert (before[:, 7:] - after[:, 7:]).abs().amax(dim=-1).min() > 1e-3


@pytest.mark.parametrize("block", BLOCKS)
def test_attention_weights_are_those_of_the_output(block):
    ours, ids = model(block, n_layers=1), token_ids(2, 9)
    attention, weights = ours.blocks[0].attention, ours.attention_weights(ids)
    assert weights.shape == (2, 1, 4, 9, 9)
    assert torch.equal(weights, weights.tril())
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 1, 4, 9).double())
    x = ours._embed(ids, None)
    x = ours.blocks[0].attention_norm(x) if ours.config.norm_first else x
    output, cache = attention(x, None, ours.rotary)
    values = cache.values.repeat_interleave(4 // cache.values.shape[1], dim=1)
    heads = (weights[:, 0] @ values).transpose(1, 2).flatten(2)
    torch.testing.assert_close(attention.output(heads), output)


@pytest.mark.parametrize("block", BLOCKS)
def test_first_loss_is_nearly_that_of_guessing(block):
    config = LanguageModelConfig(1000, d_model=64, **BLOCKS[block])
    torch.manual_seed(0)
    ids = token_ids(4, 64, 1000)
    logits = LanguageModel(config, device="cpu")(ids)[:, :-1]
    loss = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()
    assert loss == pytest.approx(math.log(1000), rel=0.02)


def test_a_gate_costs_no_more_parameters():
    def n_parameters(kind):
        config = LanguageModelConfig(1, d_model=96, n_layers=1, feed_forward=kind)
        network = LanguageModel(config, device="cpu").blocks[0].feed_forward
        return sum(each.numel() for each in network.parameters())

    assert n_parameters("swiglu") == n_parameters("relu") == 2 * 96 * 4 * 96


def test_rotary_positions_equal_those_of_lesson_05():
    x = torch.randn(2, 3, 7, 6, dtype=torch.float64)
    ours = RotaryPositions(12, 6, device="cpu")(x, offset=4)
    theirs = torch.from_numpy(rotary(x.numpy(), [*range(4, 11)]))
    torch.testing.assert_close(ours, theirs)


@DTYPES
def test_rms_norm_equals_pytorchs(dtype):
    x, gain = torch.randn(2, 5, 7, dtype=dtype), torch.randn(7, dtype=dtype)
    theirs = torch.nn.functional.rms_norm(x, (7,), gain, eps=1e-6)
    assert largest_difference(rms_norm(x, gain), theirs) < TOLERANCE[dtype]


def test_swiglu_equals_the_formula_in_numbers():
    x, gate, up, down = (
        torch.randn(*shape, dtype=torch.float64)
        for shape in [(2, 5, 3), (3, 7), (3, 7), (7, 3)]
    )
    ours = swiglu(x, gate, up, down)
    for i, j, column in [(0, 0, 0), (1, 4, 2)]:
        a, b = x[i, j] @ gate, x[i, j] @ up
        expected = sum(
            a[f] / (1 + math.exp(-a[f])) * b[f] * down[f, column] for f in range(7)
        )
        assert ours[i, j, column].item() == pytest.approx(expected.item())


@DTYPES
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_grouped_queries_equal_pytorchs(n_kv_heads, dtype):
    q = torch.randn(2, 6, 5, 4, dtype=dtype)
    k = torch.randn(2, n_kv_heads, 7, 4, dtype=dtype)
    v = torch.randn(2, n_kv_heads, 7, 8, dtype=dtype)
    may_attend = torch.rand(5, 7) < 0.6
    may_attend[:, 0] = True
    for mask in (None, may_attend):
        theirs = scaled_dot_product_attention(
            q, k, v, attn_mask=mask, enable_gqa=n_kv_heads != 6
        )
        ours = grouped_query_attention(q, k, v, mask)
        assert largest_difference(ours, theirs) < TOLERANCE[dtype]


def test_a_mask_for_each_sequence_is_that_of_all_its_heads():
    q, k = torch.randn(2, 4, 3, 4), torch.randn(2, 2, 5, 4)
    may_attend = torch.zeros(2, 3, 5, dtype=torch.bool)
    may_attend[0, :, 1] = may_attend[1, :, 3] = True
    output = grouped_query_attention(q, k, k, may_attend)
    for sequence, j in [(0, 1), (1, 3)]:
        for head in range(4):
            expected = k[sequence, head // 2, j].expand(3, 4)
            torch.testing.assert_close(output[sequence, head], expected)


@pytest.mark.parametrize("options", [{}, {"temperature": 0}, {"top_k": 3}])
@pytest.mark.parametrize("block", ["2017", "grouped"])
def test_generating_with_a_cache_gives_the_same_tokens(block, options):
    ours = model(block)  # 20 positions: the context is full twice
    with_cache = generate(ours, [1, 2, 3], 40, seed=5, **options)
    assert with_cache == generate(
        ours, [1, 2, 3], 40, seed=5, use_cache=False, **options
    )
    assert len(with_cache) == 40
    if not options:
        assert with_cache != generate(ours, [1, 2, 3], 40, seed=6)


def test_generating_at_temperature_zero_takes_the_best_token():
    ours, sequence = model(), [4]
    for token_id in generate(ours, [4], 15, temperature=0):
        logits = ours(torch.tensor([sequence]))[0, -1]
        assert token_id == logits.argmax()
        sequence.append(token_id)


REFUSED = [
    (lambda: generate(model(), [], 3), "prompt must have from 1 to 20 tokens"),
    (lambda: generate(model(), [1] * 21, 3), "from 1 to 20 tokens.*got 21"),
    (lambda: generate(model(), [99], 3), "token ids must be from 0 to 60"),
    (lambda: generate(model(), [1], 3, temperature=-1), "temperature must be"),
    (lambda: generate(model(), [1], 3, top_k=0), "k must be at least 1"),
    (lambda: generate(model(), [1], 3, top_p=0), "p must be above 0"),
    (lambda: generate(model(), [1], 3, top_p=1.5), "p must be a finite number"),
    (lambda: model()(torch.zeros(1, 21, dtype=torch.long)), "has 21 tokens"),
    (lambda: model()(torch.zeros(1, 0, dtype=torch.long)), "at least one token"),
    (lambda: model(n_kv_heads=3), "n_heads=4 is not divisible by n_kv_heads=3"),
    (lambda: model(d_model=20), "d_model / n_heads = 5 is odd"),
    (lambda: model(norm="batch"), "norm must be one of"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_bad_input_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_state_of_another_batch_is_refused():
    ours = model()
    _, state = ours.read(token_ids(3, 4))
    with pytest.raises(ValueError, match="state is of 3 sequences"):
        ours.read(token_ids(2, 1), state)
    logits, _ = ours.read(token_ids(2, 1), state.select(torch.tensor([2, 0])))
    assert logits.shape == (2, 1, 61)
