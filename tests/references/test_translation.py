"""The references of lessons 10 and 11 against PyTorch and against exact facts."""

import itertools
import math
import re

import numpy as np
import pytest
import sacrebleu
import torch
from torch.nn import functional

from course_lib.bleu import bleu
from course_lib.nn.decoding import beam_search, cached_step, greedy_decode
from course_lib.nn.losses import (
    clip_gradients,
    cross_entropy,
    label_smoothing,
    padding_gap,
    warmup_rate,
)
from tests.references.tensors import CLOSE, normal

LEADING = [(), (4,), (2, 3), (2, 3, 4)]
DTYPES = [torch.float64, torch.float32]
# A sum of some ten products of numbers near 1 is off by some ten units of roundoff.


def tokens(vocab_size, *shape, seed=0):
    drawn = np.random.default_rng(seed).integers(0, vocab_size, size=shape)
    return torch.from_numpy(np.asarray(drawn))


def assert_same(mine, theirs, dtype=torch.float64):
    """Compare shape, dtype and values to the precision of a dtype."""
    assert mine.shape == theirs.shape
    assert mine.dtype == dtype
    torch.testing.assert_close(mine, theirs, rtol=0, atol=CLOSE[dtype])


# Losses


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("ignore", [0, -100, 99])
def test_cross_entropy_matches_pytorch(leading, dtype, ignore):
    logits, targets = normal(*leading, 7, dtype=dtype), tokens(6, *leading) + 1
    if leading:
        targets[..., -1] = ignore
    theirs = functional.cross_entropy(
        logits.reshape(-1, 7), targets.reshape(-1), ignore_index=ignore
    )
    assert_same(cross_entropy(logits, targets, ignore), theirs, dtype)


def test_cross_entropy_takes_any_memory_layout():
    logits, targets = normal(7, 5, 2).permute(2, 1, 0), tokens(7, 5, 2).T
    assert not logits.is_contiguous()
    assert not targets.is_contiguous()
    theirs = functional.cross_entropy(
        logits.reshape(-1, 7), targets.reshape(-1), ignore_index=3
    )
    assert_same(cross_entropy(logits, targets, 3), theirs)


def test_cross_entropy_of_padding_is_0_and_its_gradient():
    logits = normal(2, 3, 5).requires_grad_()
    loss = cross_entropy(logits, torch.full((2, 3), -1), -1)
    loss.backward()
    assert loss == 0
    assert torch.equal(logits.grad, torch.zeros(2, 3, 5, dtype=torch.float64))


def test_cross_entropy_gradient_matches_pytorch():
    mine, theirs = (normal(4, 5).requires_grad_() for _ in range(2))
    targets = torch.tensor([1, 0, 4, 0])
    cross_entropy(mine, targets, 0).backward()
    functional.cross_entropy(theirs, targets, ignore_index=0).backward()
    assert_same(mine.grad, theirs.grad)


@pytest.mark.parametrize("vocab_size", [2, 37, 4000])
def test_equal_logits_give_the_log_of_vocab_size(vocab_size):
    logits = torch.full((5, vocab_size), 3.0, dtype=torch.float64)
    loss = cross_entropy(logits, tokens(vocab_size, 5), -1)
    assert_same(loss, torch.tensor(math.log(vocab_size), dtype=torch.float64))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("leading", LEADING)
def test_label_smoothing_matches_pytorch(leading, smoothing):
    logits = normal(*leading, 7, dtype=torch.float32)
    targets = tokens(7, *leading)
    smoothed = label_smoothing(targets, 7, smoothing)
    mine = -(smoothed * logits.log_softmax(dim=-1)).sum(dim=-1).mean()
    theirs = functional.cross_entropy(
        logits.reshape(-1, 7), targets.reshape(-1), label_smoothing=smoothing
    )
    assert_same(mine, theirs, torch.float32)


def test_label_smoothing_rows_sum_to_1():
    smoothed = label_smoothing(tokens(9, 3, 5).T, 9, 0.1)
    assert smoothed.shape == (5, 3, 9)
    assert smoothed.min() > 0
    assert_same(smoothed.sum(dim=-1), torch.ones(5, 3), torch.float32)


def test_warmup_rate_is_greatest_after_warmup_steps():
    learning_rates = [warmup_rate(step, 512, 400) for step in range(3000)]
    assert learning_rates.index(max(learning_rates)) == 399
    assert learning_rates[399] == pytest.approx((512 * 400) ** -0.5, rel=1e-12)
    assert min(learning_rates) > 0
    increases = np.diff(learning_rates[:400])
    assert np.allclose(increases, learning_rates[0])


def test_warmup_rate_works_in_a_pytorch_scheduler():
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: warmup_rate(step, 4, 100)
    )
    used = []
    for _ in range(5):
        used.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert used == pytest.approx([0.0005, 0.001, 0.0015, 0.002, 0.0025])


# Cache


def parameters(dtype):
    sizes = [(11, 12), (9, 12), (12, 4), (12, 4), (12, 6)]
    return [normal(*s, dtype=dtype, seed=i) / 4 for i, s in enumerate(sizes)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_cached_steps_match_causal_attention(dtype):
    arguments = parameters(dtype)
    embedding, encoding, w_q, w_k, w_v = arguments
    text = tokens(11, 9)
    x = embedding[text] * 12**0.5 + encoding
    theirs = functional.scaled_dot_product_attention(
        (x @ w_q)[None], (x @ w_k)[None], (x @ w_v)[None], is_causal=True
    )[0]
    keys, values = torch.empty(0, 4, dtype=dtype), torch.empty(0, 6, dtype=dtype)
    for position, token in enumerate(text.tolist()):
        output, keys, values = cached_step(token, keys, values, *arguments)
        assert_same(output, theirs[position], dtype)
    assert_same(keys, x @ w_k, dtype)
    assert_same(values, x @ w_v, dtype)


def test_cached_step_leaves_arguments_of_any_layout():
    embedding, encoding, w_q, w_k, w_v = parameters(torch.float64)
    keys, values = normal(4, 3).T, normal(6, 3).T
    arguments = [keys, values, embedding, encoding.T.contiguous().T, w_q, w_k, w_v]
    before = [part.clone() for part in arguments]
    result = cached_step(2, *arguments)
    repeated = cached_step(2, *(part.contiguous() for part in arguments))
    assert all(torch.equal(*pair) for pair in zip(before, arguments, strict=True))
    for mine, theirs in zip(result, repeated, strict=True):
        assert_same(mine, theirs)


# Search


def model(seed, vocab_size=4, end=3):
    """Return log-probabilities that depend on all tokens so far."""
    rows = np.random.default_rng(seed).normal(size=(499, vocab_size))
    rows[:, end] += 0.7
    rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
    return lambda tokens: rows[hash(tuple(tokens)) % len(rows)]


def every_text(vocab_size, end, max_length):
    """Yield all hypotheses that end, and those that reach max_length without."""
    for length in range(1, max_length + 1):
        for text in itertools.product(range(vocab_size), repeat=length):
            if end not in text[:-1] and (text[-1] == end or length == max_length):
                yield text


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(5))
def test_wide_beam_finds_the_best_of_all_hypotheses(seed, alpha):
    f = model(seed)

    def penalised(text):
        total = sum(f([0, *text[:i]])[token] for i, token in enumerate(text))
        return total / ((5 + len(text)) / 6) ** alpha

    best = max(every_text(4, 3, 4), key=penalised)
    result = beam_search(f, 0, 3, beam_size=4**4, max_length=4, alpha=alpha)
    assert result == [token for token in best if token != 3]


@pytest.mark.parametrize("seed", range(20))
def test_beam_of_one_is_greedy(seed):
    f = model(seed, vocab_size=6, end=2)
    assert beam_search(f, 1, 2, 1, 8) == greedy_decode(f, 1, 2, 8)


@pytest.mark.parametrize("seed", range(20))
def test_each_greedy_token_has_the_highest_logit(seed):
    f = model(seed, vocab_size=6, end=2)
    text = greedy_decode(f, 1, 2, 8)
    assert len(text) <= 8
    assert 2 not in text
    for position, token in enumerate([*text, 2][:8]):
        assert f([1, *text[:position]]).max() == f([1, *text[:position]])[token]


def test_wide_beam_beats_a_narrow_one():
    def total(f, text):
        text = [*text, 3][:6]
        return sum(f([0, *text[:i]])[token] for i, token in enumerate(text))

    gains = []
    for seed in range(50):
        f = model(seed)
        texts = (beam_search(f, 0, 3, size, 6, alpha=0.0) for size in (1, 8))
        greedy, wide = (total(f, text) for text in texts)
        gains.append(wide - greedy)
    assert min(gains) > -1e-12
    assert max(gains) > 0.5


# Hygiene


def self_attention(tokens, mask):
    """Replace each token of 0 … 8 by a mean over its row; 9 is padding."""
    embedding = np.random.default_rng(0).normal(size=(10, 6))
    x = embedding[tokens]
    scores = x @ np.swapaxes(x, -1, -2)
    if mask:
        scores = np.where((tokens != 9)[:, np.newaxis, :], scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers @ x / powers.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("max_norm", [0.5, 50.0])
def test_clip_gradients_matches_pytorch(max_norm):
    generator = torch.Generator().manual_seed(0)
    shapes = {"w": (4, 6), "b": (6,), "gain": ()}
    gradients = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }
    leaves = {
        name: torch.nn.Parameter(each.clone()) for name, each in gradients.items()
    }
    for name, leaf in leaves.items():
        leaf.grad = gradients[name].clone()
    leaves["frozen"] = torch.nn.Parameter(torch.ones(2))
    clipped, norm = clip_gradients({**gradients, "frozen": None}, max_norm)
    theirs = torch.nn.utils.clip_grad_norm_(leaves.values(), max_norm)
    assert norm == pytest.approx(theirs.item())
    assert clipped.pop("frozen") is None
    for name, each in clipped.items():
        torch.testing.assert_close(each, leaves[name].grad, rtol=1e-6, atol=0)


def test_padding_mask_closes_the_padding_gap():
    sequences = [[1, 2, 3, 4, 5], [6, 7], [8, 0, 1]]
    assert padding_gap(lambda t: self_attention(t, mask=False), sequences, 9) > 0.1
    assert padding_gap(lambda t: self_attention(t, mask=True), sequences, 9) < 1e-14


def test_padding_gap_detects_batch_norm_without_padding():
    def normalised(tokens):
        x = tokens[..., np.newaxis].astype(float)
        return x - x.mean(axis=0)

    assert padding_gap(normalised, [[1, 5], [3, 5]], 9) == 1.0
    assert padding_gap(normalised, [[1, 5]], 9) == 0.0


@pytest.mark.parametrize("batch_first", [True])
def test_padding_gap_of_pytorchs_layer_needs_its_mask(batch_first):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(
        12, 3, 16, dropout=0.0, batch_first=batch_first, dtype=torch.float64
    )
    embedding = normal(10, 12)

    def encoded(tokens, masked):
        numbers = torch.from_numpy(tokens)
        is_padding = (numbers == 9) if masked else None
        with torch.no_grad():
            return layer(embedding[numbers], src_key_padding_mask=is_padding).numpy()

    sequences = [[1, 2, 3, 4], [5], [6, 7, 8]]
    assert padding_gap(lambda t: encoded(t, True), sequences, 9) < 1e-13
    assert padding_gap(lambda t: encoded(t, False), sequences, 9) > 0.01


# BLEU


def sentences(vocabulary, n, longest, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, size=n)
    return [rng.choice([*vocabulary], size=length).tolist() for length in lengths]


@pytest.mark.parametrize("max_n", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(20))
def test_bleu_matches_sacrebleu(seed, max_n):
    vocabulary = "abcdef"[: 2 + seed % 5]
    hypotheses = sentences(vocabulary, 9, 12, seed)
    references = sentences(vocabulary, 9, 9 + seed % 7, seed + 100)
    measure = sacrebleu.BLEU(
        tokenize="none", smooth_method="none", force=True, max_ngram_order=max_n
    )
    texts = [[" ".join(tokens) for tokens in side] for side in (hypotheses, references)]
    theirs = measure.corpus_score(texts[0], [texts[1]]).score
    assert bleu(hypotheses, references, max_n) == pytest.approx(theirs, rel=1e-9)


def test_bleu_matches_sacrebleu_without_4_grams():
    measure = sacrebleu.BLEU(tokenize="none", smooth_method="none", force=True)
    for written, wanted in (("a b c", "a b c"), ("a b c d", "a b c e"), ("", "a")):
        theirs = measure.corpus_score([written], [[wanted]]).score
        assert bleu([written.split()], [wanted.split()]) == theirs == 0.0


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("hypotheses[0] must be a list of tokens", (["a b"], [["a"]])),
        ("references must be a list of sentences, got str", ([["a"]], "a")),
        ("equally many sentences, at least one; got hypotheses: 1", ([["a"]], [])),
        ("equally many sentences, at least one", ([], [])),
        ("max_n must be at least 1, got 0", ([["a"]], [["a"]], 0)),
    ],
)
def test_bleu_refuses_what_it_cannot_measure(message, arguments):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        bleu(*arguments)
