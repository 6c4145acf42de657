"""Roles of the heads of MiniLM and of a translator: their weights, the record."""

from collections import Counter

import pytest
import torch
from torch.testing import assert_close

from course_lib.corpora.pairs import Pair
from course_lib.experiments import head_roles, record
from course_lib.experiments.head_roles import (
    largest_only,
    sentence_pairs,
    summary,
    translator_sentences,
    uniform,
    weights_of,
)
from course_lib.lessons.small_translator import small_model
from course_lib.nn.head_roles import ROLES, mean_role_scores
from course_lib.nn.pruning import attentions_of
from course_lib.nn.training.batches import collate, encode_pairs
from course_lib.nn.training.subwords import train_tokenizer

TEXTS = [Pair("one two", "eins zwei"), Pair("two one one", "zwei eins eins")]


@pytest.fixture(scope="module")
def translator():
    tokenizer = train_tokenizer([text for pair in TEXTS for text in pair], 40)
    return small_model(len(tokenizer)).eval(), tokenizer


@pytest.fixture
def sentences(translator):
    model, tokenizer = translator
    counts = Counter(range(40))
    return translator_sentences(model, tokenizer, TEXTS, counts)


def test_weights_of_cross_attention_are_the_models_own(translator):
    model, tokenizer = translator
    batch = collate(encode_pairs(TEXTS[:1], tokenizer))
    arguments = batch.source, batch.decoder_input
    weights = weights_of(attentions_of(model)["cross"], lambda: model(*arguments))
    with torch.no_grad():
        assert_close(weights, model.attention_weights_by_head(*arguments)[0])


def test_weights_of_the_encoder_are_the_modules_own(translator):
    model, tokenizer = translator
    source = collate(encode_pairs(TEXTS[:1], tokenizer)).source
    attentions, inputs = attentions_of(model)["encoder"], []
    handle = attentions[0].query.register_forward_pre_hook(
        lambda _, arguments: inputs.append(arguments[0])
    )
    weights = weights_of(attentions, lambda: model.encode(source))
    handle.remove()
    with torch.no_grad():
        assert_close(weights[0], attentions[0](inputs[0])[1][0])


def test_decoder_attends_to_no_later_token(sentences):
    for weights, is_separator, _ in sentences["decoder"]:
        assert (weights.triu(diagonal=1) == 0).all()
        assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
        assert is_separator.tolist() == [True] + [False] * (len(is_separator) - 1)


def test_the_end_is_the_encoders_separator(sentences):
    for _, is_separator, how_often in sentences["encoder"]:
        assert is_separator.tolist() == [False] * (len(is_separator) - 1) + [True]
        assert len(how_often) == len(is_separator)


def test_largest_only_counts_queries(sentences):
    for weights, *_ in largest_only(sentences["encoder"]):
        assert weights.unique().tolist() == [0, 1]
        assert (weights.sum(-1) == 1).all()


def test_uniform_weights_have_one_head(sentences):
    scores = mean_role_scores(uniform(sentences["encoder"]))
    chance = sum(1 / len(each[1]) for each in sentences["encoder"]) / 2
    for role in ROLES:
        assert scores[role].shape == (1, 1)
        assert scores[role].item() == pytest.approx(chance)
    causal = mean_role_scores(uniform(sentences["decoder"], causal=True))
    assert causal["next"].item() == 0


def test_summary_names_the_best_heads(sentences):
    measures = summary(sentences["encoder"])
    for role in ROLES:
        layer, head, score = measures["best"][role][0]
        rows = measures["scores"][role]
        assert rows[layer][head] == score == max(map(max, rows))


@pytest.mark.thorough
def test_sentences_are_fifty_different_ones():
    sources = [pair.source for pair in sentence_pairs()]
    assert len(set(sources)) == head_roles.N_SENTENCES
    assert record.read("head_roles").runs[0]["sentences"] == sources


@pytest.mark.thorough
def test_minilm_scores_are_those_of_the_record():
    recorded = record.read("head_roles").runs[0]["minilm, scores"]
    for role, scores in head_roles.minilm_roles().items():
        # Recorded with three decimals.
        assert_close(scores, torch.tensor(recorded[role]), atol=1.1e-3, rtol=0)


def test_recorded_roles_are_as_the_lesson_tells():
    runs = record.read("head_roles").runs
    minilm = runs[0]["minilm, best"]
    assert minilm["previous"][0] == [0, 2, 1.0]
    assert minilm["next"][0][:2] == [1, 8]
    assert runs[0]["minilm, positional heads"] == 1
    for run in runs:
        # One head in each translator attends to the previous token beyond chance.
        chance = run["encoder, uniform"]["previous"]
        assert run["encoder, best"]["previous"][0][2] > 3 * chance
        assert run["encoder, positional heads"] == 0
