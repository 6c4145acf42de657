"""Bits per byte of a language model: every token once, with half a context or more."""

import lzma
import math

import pytest
import torch

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.corpora.plays import PlaySplit
from course_lib.lessons.environment import one_thread
from course_lib.n_grams import n_gram_counts, n_gram_log_probability
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig
from course_lib.nn.training.language_scoring import (
    evaluate,
    n_gram_bits_per_byte,
    results_table,
    token_losses,
    write_sample,
    xz_bits_per_byte,
)

TRAIN = "To be, or not to be: that is the question.\n" * 9
TOKENIZER = ByteTokenizer.train(TRAIN, 270)
TEXT = "Not to be – that is it.\n"  # a dash has three bytes


@pytest.fixture(autouse=True)
def alone():
    with one_thread():
        yield


def make_model(context, vocab_size=270):
    torch.manual_seed(context)
    config = LanguageModelConfig(vocab_size, 16, 1, n_positions=context)
    return LanguageModel(config, device="cpu").eval()


@pytest.mark.parametrize("context", [1, 2, 5, 8, 40])
@pytest.mark.parametrize("n", [1, 4, 8, 9, 16, 23])
def test_each_token_has_at_least_half_a_context_before_it(context, n):
    model = make_model(context, 12)
    token_ids = torch.randint(12, (n,)).tolist()
    losses = token_losses(model, token_ids, first=3)
    everything = [3, *token_ids]
    for i, token_id in enumerate(token_ids):
        lengths = [i + 1] if i < context else range(max(1, context // 2), context + 1)
        possible = []
        for length in lengths:
            before = torch.tensor([everything[i + 1 - length : i + 1]])
            with torch.no_grad():
                log_p = model(before)[0, -1].log_softmax(-1)
            possible.append(-float(log_p[token_id]))
        nearest = min(possible, key=lambda each: abs(each - float(losses[i])))
        assert float(losses[i]) == pytest.approx(nearest, abs=1e-5)


def test_evaluate_divides_by_the_bytes_of_the_whole_text():
    model = make_model(8)
    results = evaluate(model, TOKENIZER, PlaySplit(TRAIN, TRAIN[:40], TEXT))
    assert results["n_bytes"] == len(TEXT.encode()) == len(TEXT) + 2
    (first,) = TOKENIZER.encode("\n")
    total = float(token_losses(model, TOKENIZER.encode(TEXT), first).double().sum())
    bits = total / math.log(2) / results["n_bytes"]
    assert results["bits_per_byte"] == pytest.approx(bits, abs=1e-4)
    assert results["loss"] == pytest.approx(total / results["n_tokens"], abs=1e-3)
    best = results["best_n_gram"]
    assert results["n_grams"][best["unit"]][best["n"] - 1] == best["bits_per_byte"]
    assert best["bits_per_byte"] == min(
        bits for by_n in results["n_grams"].values() for bits in by_n
    )
    assert results_table(results).row_count == 12


def test_n_gram_baselines_are_those_of_the_lesson():
    by_n = n_gram_bits_per_byte(TRAIN, TEXT, TOKENIZER, 3)
    training, text = TOKENIZER.encode(TRAIN), TOKENIZER.encode(TEXT)
    counts = n_gram_counts(training, 3)
    total = sum(
        n_gram_log_probability(each, text[max(0, i - 2) : i], counts, 270)
        for i, each in enumerate(text)
    )
    assert by_n[2] == pytest.approx(-total / math.log(2) / len(TEXT.encode()))
    assert by_n[2] < by_n[0]
    assert len(n_gram_bits_per_byte(TRAIN, TEXT, None, 6)) == 6


def test_xz_after_training_needs_less_for_what_it_has_read():
    bits = xz_bits_per_byte(TRAIN, TRAIN[:43])
    alone = len(lzma.compress(TRAIN[:43].encode(), preset=9 | lzma.PRESET_EXTREME))
    assert bits["alone"] == 8 * alone / 43
    assert bits["after training"] < bits["alone"]


def test_sample_follows_from_its_seed():
    model = make_model(8)
    one, same, other = (
        write_sample(model, TOKENIZER, seed=seed, n_tokens=12) for seed in (1, 1, 2)
    )
    assert one == same and one["text"] != other["text"]
    assert (one["prompt"], one["seed"], one["top_p"]) == ("\n", 1, 0.9)
