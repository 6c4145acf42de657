"""The small translator of lesson 09: trained in parts, watched and checked."""

import numpy as np
import pytest
import torch

from course_lib.lessons import small_translator, translation_errors, translation_trace
from course_lib.masks import leak
from course_lib.nn.decoding import greedy_decode
from course_lib.nn.losses import padding_gap
from course_lib.nn.training.batches import examples
from course_lib.nn.training.checkpoints import CheckpointFault
from course_lib.nn.training.subwords import END, PADDING, START


@pytest.fixture(scope="module")
def task():
    return small_translator.numbers()


@pytest.fixture(scope="module")
def trained(task):
    training = small_translator.begin(task)
    small_translator.go_on(training, 20)
    return training


def test_no_number_is_both_learned_and_held_out(task):
    assert not {*task.train} & {*task.held_out}
    assert (len(task.train), len(task.held_out)) == (4000, 100)


def test_training_in_parts_is_training_in_one_go(task, trained):
    again = small_translator.begin(task)
    for step in (7, 20):
        small_translator.go_on(again, step)
    assert again.losses == trained.losses
    assert trained.losses[-1] < trained.losses[0] - 0.3


def test_one_batch_is_learned_by_heart(task):
    pairs = examples(task.train[:4], task.subwords)
    training = small_translator.on_one_batch(pairs, len(task.subwords))
    assert training.losses[-1] < 0.1


def test_the_checks_find_what_they_look_for(task, trained):
    model = trained.model.eval()
    sources = [each.source for each in examples(task.held_out[:4], task.subwords)]
    x = np.random.default_rng(0).normal(size=(5, 64))
    decoder = small_translator.decoder_of(model, sources[0])
    assert leak(decoder, x, 2) < 1e-4 < leak(small_translator.encoder_of(model), x, 2)
    wrong = small_translator.with_padding(model, len(task.subwords) - 1)
    gaps = [
        padding_gap(small_translator.reader_of(each), sources, PADDING)
        for each in (model, wrong)
    ]
    assert gaps[0] < 1e-4 < gaps[1]


def test_what_is_watched_is_what_is_written(task, trained):
    model, text = trained.model.eval(), task.held_out[0].source
    watched = translation_trace.watch(model, task.subwords, text)
    source = [*task.subwords.encode(text), END]
    asked = translation_trace.scorer(model, source)
    found = greedy_decode(asked, START, END, translation_trace.LONGEST)
    assert watched.text == task.subwords.decode(found)
    assert watched.weights.shape == (len(found) + 1, len(source))
    assert np.allclose(watched.weights.sum(axis=-1), 1, atol=1e-5)
    chosen = [rivals[0][0] for rivals in watched.rivals[: len(found)]]
    assert chosen == watched.target[:-1]


def test_the_scorer_leaves_the_mode_of_the_model(task, trained):
    trained.model.train()
    translation_trace.scorer(trained.model, [5, END])([START])
    assert trained.model.training
    assert torch.is_grad_enabled()


def test_watching_prints_one_line_per_token(task, trained, capsys):
    watched = translation_trace.watch(trained.model, task.subwords, "four")
    watched.show()
    assert len(capsys.readouterr().out.splitlines()) == len(watched.target)


def test_a_person_who_watches_gets_a_pause_before_each_further_line(
    task, trained, monkeypatch
):
    pauses = []
    monkeypatch.setattr(translation_trace.time, "sleep", pauses.append)
    watched = translation_trace.watch(trained.model, task.subwords, "four")
    watched.show(0.5)
    assert pauses == [0.0] + [0.5] * (len(watched.target) - 1)


def test_a_text_without_words_is_refused(task, trained):
    with pytest.raises(ValueError, match="text='  ' has no words"):
        translation_trace.watch(trained.model, task.subwords, "  ")


def test_without_the_large_translator_the_command_is_said(tmp_path):
    with pytest.raises(CheckpointFault, match="--task translation"):
        translation_trace.large(tmp_path / "none.pt")


@pytest.mark.parametrize(
    ("target", "translation", "kind"),
    [
        ("die Tür ist auf", "die Tür ist auf", "right"),
        ("Batteriestatus", "Batterie-Status", "cut otherwise"),
        ("Status der Tür", "der Tür Status", "other order"),
        ("Status der Tür", "Status der Tür!", "other order"),
        ("Zone stoppen", "Zone Zone stoppen", "repeats"),
        ("die Tür der Garage ist offen", "die Tür", "too short"),
        ("die Tür ist auf", "die Tür ist zu", "partly other words"),
        ("Fenster", "Tür auf", "all other words"),
    ],
)
def test_a_mistake_is_named(target, translation, kind):
    assert translation_errors.kind_of(target, translation) == kind
    assert translation_errors.counted([target], [translation])[kind] == 1


def test_words_that_are_not_known_are_named_once():
    assert translation_errors.unseen("Open the wheel, Wheel!", {"open", "the"}) == ["wheel"]
