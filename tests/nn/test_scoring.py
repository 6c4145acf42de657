"""Scores: those of sacrebleu, by length, plain data; a model is translated and read."""

import json

import pytest
import sacrebleu
import torch

from course_lib.corpora.pairs import Pair
from course_lib.lessons.environment import one_thread
from course_lib.nn.training.loop import initial
from course_lib.nn.training.scoring import N_SHOWN, by_length, measure, score, table
from course_lib.nn.training.subwords import UNKNOWN, learn_subwords
from course_lib.nn.training.tasks import SYSTEMS, TASKS, copies

PAIRS = [
    Pair("the battery is low", "der Akku ist fast leer"),
    Pair("the door is open", "die Tür ist offen"),
    Pair("low battery", "Akku schwach"),
]


def test_perfect_translations_are_a_hundred():
    found = measure(PAIRS, [pair.target for pair in PAIRS])
    assert (found["bleu"], found["chrf"], found["exact"]) == (100, 100, 1)


def test_the_scores_are_those_of_sacrebleu():
    written = ["der Akku ist leer", "die Tür ist zu", "Akku schwach"]
    found = measure(PAIRS, written)
    references = [[pair.target for pair in PAIRS]]
    expected = sacrebleu.corpus_bleu(written, references).score
    assert found["bleu"] == pytest.approx(expected, abs=0.01)
    assert found["exact"] == pytest.approx(1 / 3, abs=1e-3)


def test_lengths_are_those_of_the_source_and_hold_all_pairs():
    rows = by_length(PAIRS, [pair.target for pair in PAIRS])
    assert [(row["from"], row["n"]) for row in rows] == [(1, 1), (4, 2)]


def test_the_first_are_shown_unselected():
    pairs = [Pair(f"word {i}", f"Wort {i}") for i in range(30)]
    found = measure(pairs, [f"x {i}" for i in range(30)])
    assert [each["source"] for each in found["shown"]] == [
        f"word {i}" for i in range(N_SHOWN)
    ]


def test_nothing_to_measure_is_refused():
    with pytest.raises(ValueError, match="no pairs"):
        measure([], [])


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_model_is_measured_as_plain_data(system):
    pairs = copies(6, seed=0)
    subwords = learn_subwords([pair.source for pair in pairs], 0)
    sizes = {"vocab_size": len(subwords)} | SYSTEMS[system].sizes_of(8)
    with one_thread():
        made = SYSTEMS[system]
        model = initial(lambda: made.make(sizes, torch.device("cpu")), 0)
        found = score(model, subwords, pairs)
    assert json.loads(json.dumps(found)) == found
    assert table(found).row_count == 1 + len(found["by_length"])


@pytest.mark.parametrize("name", ["dates", "copying"])
def test_made_texts_are_split_and_all_of_them_can_be_read(name):
    texts = TASKS[name].texts()
    subwords = TASKS[name].subwords(texts)
    assert len({pair.source for part in vars(texts).values() for pair in part}) == (
        len(texts.train) + len(texts.validation) + len(texts.test)
    )
    for pair in texts.test[:100]:
        for text in pair:
            assert UNKNOWN not in subwords.encode(text)
            assert subwords.decode(subwords.encode(text)) == text
