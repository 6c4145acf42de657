"""Right versions of the functions that learners' tests get, compared on hostile inputs.

A strong test tries extremes. Where right versions differ there, it rejects one of them
and earns nothing, so all have to agree: on large and equal numbers, on blocked keys
with large scores, on batch axes, single rows, odd sizes and float32.
"""

import itertools

import numpy as np
import pytest
import torch

from autograder.checking.call import copied, silenced
from autograder.checking.registry import exercises_of, load
from autograder.exercises import decoder_layer as decoder_layer_bank
from autograder.exercises import encoder_layer as encoder_layer_bank
from tests.quick import all_but

SIZES = 1e-4, 1.0, 30.0, 1e4, 1e8
SHAPES = (), (1,), (2,), (2, 1, 3)


def attention_inputs(rng):
    sizes = (5, 7, 4, 6), (1, 7, 3, 5), (5, 1, 1, 1), (1, 1, 1, 1), (4, 4, 4, 4)
    for leading, (n, m, d_k, d_v) in itertools.product(SHAPES, sizes):
        q = rng.normal(size=(*leading, n, d_k))
        k = rng.normal(size=(*leading, m, d_k))
        v = rng.normal(size=(*leading, m, d_v))
        yield "float32", [part.astype(np.float32) for part in (q, k, v)]
        for size in SIZES:
            yield "queries", (size * q, k, v)
            yield "queries and keys", (size * q, size * k, v)
            yield "values", (q, k, size * v)
            equal = size * rng.permuted(np.ones_like(k) * np.arange(d_k), axis=-1)
            yield "equal scores", (size * np.ones_like(q), equal, v)
        yield "whole numbers", [np.rint(9 * part).astype(int) for part in (q, k, v)]


def mask_inputs(rng):
    sizes = (5, 7), (1, 7), (5, 1), (1, 1), (4, 4)
    for leading, (n, m) in itertools.product(SHAPES, sizes):
        scores = rng.normal(size=(*leading, n, m))
        some = rng.random(size=scores.shape) < 0.5
        for may_attend in (some, some[..., :1, :], some[(0,) * len(leading)], some > 1):
            yield "float32", (scores.astype(np.float32), may_attend)
            for size in (*SIZES, 1e300):
                yield "scores", (size * scores, may_attend)
                far = np.where(may_attend, scores, size)
                yield "blocked scores far above", (far, may_attend)
                yield (
                    "blocked scores far below",
                    (
                        np.where(may_attend, scores, -size),
                        may_attend,
                    ),
                )
        yield "whole numbers", (np.rint(99 * scores).astype(int), some)


def position_inputs(rng):
    for n, d_model in itertools.product((0, 1, 2, 7, 100), (1, 2, 3, 8, 65)):
        for base in (10000.0, 10000, 0.5, 1.0, 100.0, 1e8):
            yield "positions", (n, d_model, base)
        yield "without base", (n, d_model)


def layer_inputs(rng):
    sizes = (5, 12, 3), (1, 12, 3), (4, 4, 2), (3, 9, 9), (3, 1, 1)
    for leading, (n, d_model, n_heads) in itertools.product([(), (2, 1, 3)], sizes):
        drawn = encoder_layer_bank.drawn(rng, d_model, 5, dtype=np.float64)
        x = torch.from_numpy(rng.normal(size=(*leading, n, d_model)))
        some = encoder_layer_bank.some_blocked(rng, *leading, n, n) if n > 1 else None
        causal = torch.from_numpy(np.tri(n, dtype=bool))
        for may_attend, norm_first in itertools.product(
            (None, some, causal), (False, True)
        ):
            rest = n_heads, may_attend, norm_first
            small = {name: part.float() for name, part in drawn.items()}
            yield "float32", (x.float(), small, *rest)
            for size in (1e-4, 1.0, 1e4):
                yield "tokens", (size * x, drawn, *rest)
                one_far = x.clone()
                one_far[..., -1, :] *= size
                yield "last token", (one_far, drawn, *rest)
                large = {name: size * part for name, part in drawn.items()}
                yield "parameters", (x, large, *rest)
                equal = size * x[..., :1, :] + 0 * x
                yield "equal tokens", (equal, drawn, *rest)
                keys = drawn | {"w_k": size * drawn["w_k"]}
                yield "keys", (x, keys, *rest)


def decoder_inputs(rng):
    for leading, (n, m, d_model, n_heads) in itertools.product(
        SHAPES[:3], [(5, 7, 12, 3), (4, 4, 4, 2), (3, 5, 9, 9)]
    ):
        drawn = decoder_layer_bank.drawn(rng, d_model, dtype=np.float64)
        y = torch.from_numpy(rng.normal(size=(*leading, n, d_model)))
        memory = torch.from_numpy(rng.normal(size=(*leading, m, d_model)))
        causal = torch.from_numpy(np.tri(n, dtype=bool))
        some = torch.from_numpy(rng.random(size=(*leading, n, m)) < 0.5)
        some[..., 0] = ~some[..., 1]
        for size, norm_first in itertools.product(SIZES, (False, True)):
            rest = drawn, n_heads, causal, some, norm_first
            yield "target", (size * y, memory, *rest)
            yield "memory", (y, size * memory, *rest)
            keys = drawn | {w: size * drawn[w] for w in ("w_k", "cross_k")}
            yield "keys", (y, memory, keys, *rest[1:])


def bpe_inputs(rng):
    yield "no words", ({}, 3)
    yield "the empty word", ({(): 3, ("a", "a"): 1}, 3)
    for n_words, longest, letters in itertools.product(
        (1, 3, 12), (1, 2, 3, 9), ("a", "ab", "abc", "aAéß日")
    ):
        for n_merges in (0, 1, 2, 50):
            words = {}
            for _ in range(n_words):
                length = int(rng.integers(1, longest + 1))
                word = tuple(
                    letters[i] for i in rng.integers(len(letters), size=length)
                )
                words[word] = int(rng.integers(1, 5))
            yield "drawn", (words, n_merges)
            yield (
                "joined before",
                (
                    {(*word, "ab", "a"): count for word, count in words.items()},
                    n_merges,
                ),
            )


def decoding_inputs(rng):
    for steps, vocab_size in itertools.product((0, 1, 2, 7), (1, 2, 5)):
        for start_id, end_id in itertools.product(range(vocab_size), repeat=2):
            for size in (0, 1, 1e4, 1e300):
                logits = size * rng.integers(
                    -2, 3, size=(steps, vocab_size, vocab_size)
                )
                yield "ties", (1.0 * logits, start_id, end_id, steps)
                yield "below zero", (logits - 3.0 * size, start_id, end_id, steps)
                if steps:
                    yield "more rows", (1.0 * logits, start_id, end_id, steps - 1)
                yield (
                    "float32",
                    (
                        rng.normal(size=logits.shape).astype(np.float32),
                        start_id,
                        end_id,
                        steps,
                    ),
                )


INPUTS = {
    "test_attention": attention_inputs,
    "test_mask": mask_inputs,
    "test_positions": position_inputs,
    "test_layer": layer_inputs,
    "test_bpe": bpe_inputs,
    "test_decoding": decoding_inputs,
}


def largest_difference(results, expected):
    """Return by how much results differ, beside the largest number of each row."""
    assert type(results) is type(expected)
    if not isinstance(results, tuple):
        results, expected = (results,), (expected,)
    differences = [0.0]
    for result, right in zip(results, expected, strict=True):
        assert result.shape == right.shape
        result, right = np.asarray(result, float), np.asarray(right, float)
        assert np.isfinite(result).all() and np.isfinite(right).all()
        differences.append(
            np.max(np.abs(result - right) / (1 + np.abs(right)), initial=0.0)
        )
    return max(differences)


def held_against_the_first(versions, inputs):
    """Compare right versions on inputs; the first one is the contract."""
    how_first, first = next(iter(versions.items()))
    for kind, arguments in inputs:
        with silenced():
            expected = first(*copied(tuple(arguments)))
        for how, version in versions.items():
            with silenced():
                result = version(*copied(tuple(arguments)))
            which = f"{kind}: {how} differs from {how_first}"
            if isinstance(expected, list):
                assert type(result) is list and result == expected, which
                continue
            # A tenth of what the tests' docstrings promise; float32 has seven digits.
            most = 1e-5 if kind == "float32" else 1e-10
            assert largest_difference(result, expected) <= most, which


def test_every_learners_test_has_hostile_inputs():
    assert {*INPUTS} == {each.name for each in exercises_of() if each.is_test}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("seed", all_but([0], [0, 1, 2, 3]))
def test_right_versions_agree_on_hostile_inputs(name, seed):
    inputs = INPUTS[name](np.random.default_rng(seed))
    held_against_the_first(load(name).right, inputs)


def test_right_answers_of_decoder_layer_agree_on_hostile_inputs():
    bank = load("decoder_layer")
    held_against_the_first(
        bank.functions_that_are_right, decoder_inputs(np.random.default_rng(0))
    )


def test_strong_test_with_large_tokens_gets_all_points():
    """Try extremes below a causal mask, as the test of issue 38 that was rejected."""

    def strong(encoder_layer):
        load("test_layer").reference(encoder_layer)
        bank, rng = load("encoder_layer"), np.random.default_rng(3)
        causal = torch.from_numpy(np.tri(5, dtype=bool))
        for norm_first in (False, True):
            parameters = encoder_layer_bank.drawn(rng, 12, dtype=np.float64)
            x = torch.from_numpy(1000.0 * rng.normal(size=(2, 5, 12)))
            inputs = x, parameters, 3, causal, norm_first
            expected = bank.expected_function(*inputs)
            result = encoder_layer(*inputs)
            np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)

    caught, of = load("test_layer").score(strong)
    assert caught == of
