"""Scores: those of sacrebleu, by length, plain data; a model is translated and read."""

import json

import pytest
import sacrebleu
import torch

from course_lib.corpora.pairs import Pair
from course_lib.lessons.environment import one_thread
from course_lib.nn.training import scoring
from course_lib.nn.training.loop import seeded_model
from course_lib.nn.training.scoring import (
    N_SAMPLES,
    by_length,
    evaluate,
    measure,
    results_table,
    translate_texts,
)
from course_lib.nn.training.subwords import (
    UNKNOWN_ID,
    train_pair_tokenizer,
    train_tokenizer,
)
from course_lib.nn.training.tasks import SYSTEMS, TASKS, copies
from course_lib.preprocessing import JOINER

PAIRS = [
    Pair("the battery is low", "der Akku ist fast leer"),
    Pair("the door is open", "die Tür ist offen"),
    Pair("low battery", "Akku schwach"),
]


def test_perfect_translations_score_100():
    results = measure(PAIRS, [pair.target for pair in PAIRS])
    assert (results["bleu"], results["chrf"], results["exact"]) == (100, 100, 1)


def test_scores_match_sacrebleu():
    hypotheses = ["der Akku ist leer", "die Tür ist zu", "Akku schwach"]
    results = measure(PAIRS, hypotheses)
    references = [[pair.target for pair in PAIRS]]
    expected = sacrebleu.corpus_bleu(hypotheses, references).score
    assert results["bleu"] == pytest.approx(expected, abs=0.01)
    assert results["exact"] == pytest.approx(1 / 3, abs=1e-3)


def test_lengths_are_of_the_source_and_cover_all_pairs():
    rows = by_length(PAIRS, [pair.target for pair in PAIRS])
    assert [(row["from"], row["n"]) for row in rows] == [(1, 1), (4, 2)]


def test_samples_are_the_first_translations():
    pairs = [Pair(f"word {i}", f"Wort {i}") for i in range(30)]
    results = measure(pairs, [f"x {i}" for i in range(30)])
    assert [each["source"] for each in results["shown"]] == [
        f"word {i}" for i in range(N_SAMPLES)
    ]


def test_measure_refuses_no_pairs():
    with pytest.raises(ValueError, match="no pairs"):
        measure([], [])


@pytest.mark.parametrize("system", SYSTEMS)
def test_evaluate_returns_plain_data(system):
    pairs = copies(6, seed=0)
    tokenizer = train_tokenizer([pair.source for pair in pairs], 0)
    options = {"vocab_size": len(tokenizer)} | SYSTEMS[system].config_options(8)
    with one_thread():
        made = SYSTEMS[system]
        model = seeded_model(lambda: made.make(options, torch.device("cpu")), 0)
        results = evaluate(model, tokenizer, pairs)
    assert json.loads(json.dumps(results)) == results
    assert results_table(results).row_count == 2 + len(results["by_length"])


def test_pairs_without_near_copies_are_measured_apart(monkeypatch):
    pairs = [
        Pair("the battery of the door is low", "der Akku der Tür ist fast leer"),
        Pair("this is something else", "das hier ist etwas anderes"),
    ]
    written = {pairs[0].source: "x", pairs[1].source: pairs[1].target}
    monkeypatch.setattr(
        scoring,
        "translate_texts",
        lambda model, tokenizer, sources, *_: [written[each] for each in sources],
    )
    training = [Pair("the battery of the gate is low", "anders")]
    results = evaluate(None, None, pairs, training, length_penalty=1.0)
    assert results["without near copies"] == {"n": 1, "bleu": 100.0, "chrf": 100.0}
    assert results["bleu"] < 100 and results["length_penalty"] == 1.0
    results = evaluate(None, None, pairs, [*training, *pairs])
    assert results["without near copies"] == {"n": 0, "bleu": 0.0, "chrf": 0.0}
    results_table(results)


def test_length_penalty_reaches_the_beam_search(monkeypatch):
    calls = []

    def translate(model, source_ids, *_, **options):
        calls.append(options)
        return [[] for _ in source_ids]

    monkeypatch.setattr(scoring, "translate", translate)
    tokenizer = train_tokenizer(["low battery"], 0)
    evaluate(None, tokenizer, PAIRS, length_penalty=1.5)
    assert calls[1] == {"beam_size": 4, "alpha": 1.5}


@pytest.fixture(scope="module")
def reader():
    """Make an untrained model that reads punctuation and case apart."""
    tokenizer = train_pair_tokenizer(PAIRS * 2, 100)
    options = {"vocab_size": len(tokenizer)} | SYSTEMS["transformer"].config_options(8)
    make = SYSTEMS["transformer"].make
    return seeded_model(lambda: make(options, torch.device("cpu")), 0), tokenizer


@pytest.mark.parametrize(
    "text",
    [
        "dB-Wert",
        f"the{JOINER}door {JOINER} {JOINER}{JOINER}",
        "?!... -",
        "THE DOOR IS OPEN!",
        "b" * 200,
        "電池 низкий заряд \N{SNOWMAN}",
        "",
        "  \t",
    ],
)
def test_unusual_text_is_translated(reader, text):
    model, tokenizer = reader
    with one_thread():
        (translation,) = translate_texts(model, tokenizer, [text], beam_size=2)
    assert JOINER not in translation
    assert bool(translation) == bool(text.split())


def test_text_that_is_too_long_is_refused_in_a_sentence(reader):
    model, tokenizer = reader
    with pytest.raises(ValueError, match="this model takes 256 at most"):
        translate_texts(model, tokenizer, ["b" * 300])


@pytest.mark.parametrize("name", ["dates", "copying"])
def test_made_pairs_are_split_and_can_be_decoded(name):
    split = TASKS[name].load_split()
    tokenizer = TASKS[name].learn_tokenizer(split)
    assert len({pair.source for part in vars(split).values() for pair in part}) == (
        len(split.train) + len(split.validation) + len(split.test)
    )
    for pair in split.test[:100]:
        for text in pair:
            assert UNKNOWN_ID not in tokenizer.encode(text)
            assert tokenizer.decode(tokenizer.encode(text)) == text
