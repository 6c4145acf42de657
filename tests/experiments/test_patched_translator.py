"""A translator with vectors of another sentence: hooks, measures, and the record."""

from collections import Counter

import pytest
import torch
from torch.testing import assert_close

from course_lib.experiments import patched_translator, record
from course_lib.experiments.patched_translator import (
    NOUNS,
    STAGES,
    TOKENS,
    NounPair,
    Patched,
    log_probabilities,
    measure,
    noun_pairs,
    own_or_recorded,
)
from course_lib.lessons.environment import seeded
from course_lib.nn.model_file import write_model_file
from course_lib.nn.models import MODELS
from course_lib.nn.patching import patching_effects
from course_lib.nn.training.subwords import END_ID, START_ID, train_tokenizer
from course_lib.nn.transformer import Transformer, TransformerConfig

WORDS = ["The", "is", "not", "available.", *"abcdefgh"]


class Words:
    """A tokenizer of one token for each word; articles are token ids as text."""

    def encode(self, text):
        ids = [5 + WORDS.index(word) for word in text.split()]
        return [*ids, 4]  # the full stop, as a token of its own

    def encode_target(self, text):
        return [int(text)]


@pytest.fixture(scope="module")
def model():
    with seeded(0):
        config = TransformerConfig(5 + len(WORDS), d_model=32, n_heads=2, d_ff=64)
        model = Transformer(config, device="cpu").eval()
    with torch.no_grad():  # so that sentences differ in their likeliest token
        for parameter in model.parameters():
            parameter *= 4 if parameter.dim() > 1 else 1
    return model


def source_of(noun):
    return torch.tensor([*Words().encode(f"The {noun} is not available."), END_ID])


def likeliest(model, noun):
    return int(log_probabilities(model, source_of(noun))[0].argmax())


def test_without_patches_the_model_is_as_it_is(model):
    source = source_of("a")
    with torch.no_grad():
        logits = model(source[None], torch.tensor([[START_ID]]))[0, -1]
        memory = model.encode(source[None]).vectors[0]
        log_p, rows = log_probabilities(model, source)
        assert_close(log_p, logits.log_softmax(-1))
        assert_close(model.encoder.norm(rows[-1]), memory)
    assert rows.shape == (len(STAGES), len(TOKENS), model.config.d_model)
    for layer in model.encoder.layers:
        assert not layer._forward_hooks and not layer._forward_pre_hooks


def test_all_vectors_of_a_row_bring_the_other_sentence_back(model):
    clean, corrupted = source_of("a"), source_of("b")
    log_p, rows = log_probabilities(model, clean)
    for row in range(len(STAGES)):
        patches = {(row, i): rows[row, i] for i in range(len(TOKENS))}
        patched, after = log_probabilities(model, corrupted, patches)
        assert_close(patched, log_p)
        assert_close(after[row:], rows[row:])
    assert not torch.allclose(log_probabilities(model, corrupted)[0], log_p)


def test_embeddings_differ_at_the_noun_alone(model):
    effects = patching_effects(Patched(model, (6, 7)), source_of("a"), source_of("b"))
    assert_close(effects[0], torch.eye(len(TOKENS))[TOKENS.index("noun")])


def test_pairs_that_are_not_right_are_left_out(model, monkeypatch):
    own = {noun: str(likeliest(model, noun)) for noun in "abcdefgh"}
    one, other = next(
        (a, b) for a in own for b in own if own[a] != own[b]
    )  # two sentences with different first tokens
    articles = own[one], own[other]
    pairs = [
        NounPair((one, other), articles),
        NounPair((one, other), articles[::-1]),
        NounPair((one, f"{other} {other}"), articles),  # a position more
    ]
    monkeypatch.setattr(patched_translator, "noun_pairs", lambda: pairs)
    result = measure(model, Words(), patching_effects)
    assert result["pairs"] == [[one, other]]
    assert result["left out"] == [[one, other], [one, f"{other} {other}"]]
    ids = tuple(map(int, articles))
    there = patching_effects(Patched(model, ids), source_of(one), source_of(other))
    back = Patched(model, ids[::-1])
    mean = (there + patching_effects(back, source_of(other), source_of(one))) / 2
    assert_close(torch.tensor(result["effects"]), mean, atol=6e-4, rtol=0)
    assert result["by pair"][0][0] == [row[1] for row in result["effects"]]


def test_nouns_are_in_two_pairs_each():
    nouns = Counter(noun for pair in noun_pairs() for noun in pair.nouns)
    assert len(nouns) == 48 and set(nouns.values()) == {2}
    assert len({frozenset(pair.nouns) for pair in noun_pairs()}) == 48
    for pair in noun_pairs():
        assert pair.articles[0] != pair.articles[1]
        for noun, article in zip(*pair, strict=True):
            assert noun in NOUNS[article].split()


def test_without_a_model_file_the_record_is_returned(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_COURSE_DATA", str(tmp_path))
    effects, whose = own_or_recorded(patching_effects)
    recorded = record.read("patched_translator").runs[0]["effects"]
    assert_close(effects, torch.tensor(recorded))
    assert "as recorded" in whose and "make models" in whose


def test_own_function_gets_the_model_that_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_COURSE_DATA", str(tmp_path))
    tokenizer = train_tokenizer(WORDS, 40)
    small = Transformer(TransformerConfig(len(tokenizer), 8, 2), device="cpu")
    write_model_file(MODELS["translator"].path, small, tokenizer)

    def measured(read, tokens, effects_of):
        assert read.config == small.config and tokens.vocabulary == tokenizer.vocabulary
        return {"pairs": ["one", "other"], "effects": [effects_of()]}

    monkeypatch.setattr(patched_translator, "measure", measured)
    effects, whose = own_or_recorded(lambda: [0.5, 0.25])
    assert effects.tolist() == [[0.5, 0.25]]
    assert "your own function" in whose and "2 pairs" in whose


def test_record_of_the_patched_translator_supports_the_lesson():
    for run in record.read("patched_translator").runs:
        assert len(run["pairs"]) + len(run["left out"]) == len(noun_pairs())
        assert len(run["by pair"]) == len(run["pairs"]) >= 20
        embeddings, _, last = run["effects"]
        assert embeddings == [0, 1, 0, 0, 0, 0, 0]
        assert last[TOKENS.index("noun")] > 0.8
        assert max(abs(each) for each in last[2:]) < 0.1
