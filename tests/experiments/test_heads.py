"""Pruned heads, pronouns, and weights against gradients: measured, recorded."""

import pytest
import torch

from course_lib.corpora.pairs import Pair
from course_lib.experiments import explanation, pronouns, pruned_heads, record
from course_lib.experiments.pruned_heads import (
    curve,
    pruned,
    rank_correlation,
    scorer,
    translator_importance,
)
from course_lib.lessons.small_translator import small_model
from course_lib.nn.pretrained import SentenceEncoder, encode_pretrained, pool
from course_lib.nn.pruning import KINDS
from course_lib.nn.training.batches import encode_pairs
from course_lib.nn.training.subwords import train_tokenizer

TEXTS = [Pair("one two", "eins zwei"), Pair("two one one", "zwei eins eins")]


@pytest.fixture(scope="module")
def translator():
    tokenizer = train_tokenizer([text for pair in TEXTS for text in pair], 40)
    return small_model(len(tokenizer)), tokenizer


def test_importance_has_a_number_for_each_head(translator):
    model, tokenizer = translator
    importance = translator_importance(model, encode_pairs(TEXTS, tokenizer))
    config = model.config
    for by_kind in importance.values():
        assert [*by_kind] == [*KINDS]
        for rows in by_kind.values():
            assert rows.shape == (config.n_layers, config.n_heads)
    assert all((rows > 0).all() for rows in importance["gradient"].values())


def test_curves_prune_all_heads_of_their_kind_in_order(translator):
    model, tokenizer = translator
    importance = translator_importance(model, encode_pairs(TEXTS, tokenizer))
    results = pruned(model, tokenizer, TEXTS, importance)
    n_heads = model.config.n_layers * model.config.n_heads
    assert len(results["curves"]) == 4 * 2 * 2
    for each in results["curves"]:
        heads = [tuple(head) for head in each["heads"]]
        assert len(set(heads)) == len(heads) == len(each["bleu"]) - 1
        assert len(heads) == n_heads * (3 if each["kind"] == "all" else 1)
        values = [importance[each["measure"]][k][i, h].item() for k, i, h in heads]
        assert values == sorted(values, reverse=each["first"] == "most")
        assert each["bleu"][0] == results["bleu"]


def test_curve_scores_without_the_heads_so_far():
    asked = []

    def score(heads):
        asked.append(list(heads))
        return len(heads), -len(heads)

    importance = {"cross": torch.tensor([[3.0, 1.0], [2.0, 4.0]])}
    result = curve(score, "cross", ["cross"], "gradient", importance, "least")
    order = [("cross", 0, 1), ("cross", 1, 0), ("cross", 0, 0), ("cross", 1, 1)]
    assert asked == [order[:count] for count in range(5)]
    assert result["bleu"] == [0, 1, 2, 3, 4]
    assert result["chrf"] == [0, -1, -2, -3, -4]


def test_scorer_leaves_the_model_as_it_was(translator):
    model, tokenizer = translator
    source, target = torch.tensor([[5, 6]]), torch.tensor([[1, 5]])
    model.eval()
    before = model(source, target)
    scorer(model, tokenizer, TEXTS)([("decoder", 0, 0)])
    assert torch.equal(model(source, target), before)


def test_rank_correlation_counts_ranks_only():
    one = torch.tensor([0.1, 5.0, 2.0, 30.0])
    assert rank_correlation(one, one**3) == 1
    assert rank_correlation(one, -one) == -1


def test_each_pair_names_its_nouns_and_has_one_it():
    encoder = SentenceEncoder.load()
    for pair in pronouns.PAIRS:
        for meant in (0, 1):
            tokens = encoder.tokens(pair.sentence(meant))
            assert [tokens.count(word) for word in (*pair.nouns, "it")] == [1, 1, 1]
    assert len(pronouns.PAIRS) == 16


def test_pronouns_are_as_recorded():
    run = record.read("pronouns").runs[0]
    encoder = SentenceEncoder.load()
    for row in run["sentences"][:6]:
        pair = pronouns.PAIRS[run["sentences"].index(row) // 2]
        weights = pronouns.weights_of_it(encoder, pair, row["meant"])
        own = weights[:, *pronouns.WELL_KNOWN].tolist()
        assert own == pytest.approx(row["weights"], abs=0.002)
    layer, head = run["best head"]
    assert run["right"][layer][head] == run["best right"]


def test_record_of_pronouns_supports_the_lesson():
    run = record.read("pronouns").runs[0]
    layer, head = pronouns.WELL_KNOWN
    rights = [row["right"] for row in run["sentences"]]
    assert sum(rights) == run["right"][layer][head] == 19
    assert (rights[0], rights[1]) == (True, False)  # tired, wide
    assert run["best right"] == 24 and run["best right in both"] == 8


def test_record_of_explanation_supports_the_lesson():
    for run in record.read("explanation").runs:
        for each in run["sentences"]:
            correlations = each["rank correlations"]
            assert 0.7 < correlations["weights, gradients"] < 0.9
            assert sum(each["weights"]) == pytest.approx(1, abs=1e-3)
            assert 0.45 < each["weights of special tokens"] < 0.55
            assert max(each["cosines with permuted weights"]) < each["cosine"]


def test_explanation_is_as_recorded():
    generator = torch.Generator().manual_seed(0)
    encoder = SentenceEncoder.load()
    result = explanation.one_sentence(encoder, *explanation.SENTENCES[0], generator)
    recorded = record.read("explanation").runs[0]["sentences"][0]
    for name in ("weights", "last layer", "gradients", "left out", "cosine"):
        assert result[name] == pytest.approx(recorded[name], abs=2e-3), name


def test_left_out_equals_the_sentence_without_that_token():
    encoder = SentenceEncoder.load()
    sentence, other = explanation.SENTENCES[1]
    vector = encoder.sentence_vectors([other])[0]
    changes = explanation.left_out(encoder, sentence, vector)
    before = encoder.sentence_vectors([sentence])[0] @ vector
    ids, is_token = encoder.encode_texts([sentence])
    assert len(changes) == ids.shape[-1]
    # Nothing attends to [SEP], the last: as if the sentence had no end.
    without, shorter = ids[:, :-1], is_token[:, :-1]
    arguments = without, encoder.parameters, encoder.n_heads
    after = pool(encode_pretrained(*arguments), shorter)[0] @ vector
    assert changes[-1] == pytest.approx(abs(after - before).item(), abs=1e-5)


def test_record_of_pruned_heads_supports_the_lesson():
    for run in record.read("pruned_heads").runs:
        curves = {
            (each["kind"], each["measure"], each["first"]): each["bleu"]
            for each in run["curves"]
        }
        none_left = {kind: curves[kind, "gradient", "least"][-1] for kind in KINDS}
        assert none_left["cross"] < 2 < none_left["decoder"] < none_left["encoder"]
        assert none_left["encoder"] > 0.7 * run["bleu"]
        for first in pruned_heads.ORDERS:
            assert len(curves["all", "gradient", first]) == 25
        least, most = (
            curves["all", "gradient", first] for first in pruned_heads.ORDERS
        )
        assert least[6] > 10 + most[6]
