"""The small translator of lesson 09: trained in parts, trace and checked."""

import numpy as np
import pytest
import torch

from course_lib.lessons import small_translator, translation_errors, translation_trace
from course_lib.masks import leak
from course_lib.nn.decoding import greedy_decode
from course_lib.nn.losses import padding_gap
from course_lib.nn.training.batches import encode_pairs
from course_lib.nn.training.checkpoints import CheckpointError
from course_lib.nn.training.subwords import END_ID, PADDING_ID, START_ID


@pytest.fixture(scope="module")
def task():
    return small_translator.numbers_task()


@pytest.fixture(scope="module")
def trained(task):
    training = small_translator.make_trainer(task)
    small_translator.train_until(training, 20)
    return training


def test_no_number_is_both_learned_and_held_out(task):
    assert not {*task.train} & {*task.held_out}
    assert (len(task.train), len(task.held_out)) == (4000, 100)


def test_training_in_parts_is_training_in_one_go(task, trained):
    again = small_translator.make_trainer(task)
    for step in (7, 20):
        small_translator.train_until(again, step)
    assert again.losses == trained.losses
    assert trained.losses[-1] < trained.losses[0] - 0.3


def test_one_batch_is_learned_by_heart(task):
    pairs = encode_pairs(task.train[:4], task.tokenizer)
    training = small_translator.overfit_one_batch(pairs, len(task.tokenizer))
    assert training.losses[-1] < 0.1


def test_the_checks_find_what_they_look_for(task, trained):
    model = trained.model.eval()
    sources = [each.source for each in encode_pairs(task.held_out[:4], task.tokenizer)]
    x = np.random.default_rng(0).normal(size=(5, 64))
    decoder = small_translator.decoder_of(model, sources[0])
    assert leak(decoder, x, 2) < 1e-4 < leak(small_translator.encoder_of(model), x, 2)
    wrong = small_translator.with_padding_id(model, len(task.tokenizer) - 1)
    gaps = [
        padding_gap(small_translator.token_encoder_of(each), sources, PADDING_ID)
        for each in (model, wrong)
    ]
    assert gaps[0] < 1e-4 < gaps[1]


def test_what_is_watched_is_what_is_written(task, trained):
    model, text = trained.model.eval(), task.held_out[0].source
    trace = translation_trace.trace_translation(model, task.tokenizer, text)
    source = [*task.tokenizer.encode(text), END_ID]
    asked = translation_trace.next_log_probabilities(model, source)
    found = greedy_decode(asked, START_ID, END_ID, translation_trace.MAX_LENGTH)
    assert trace.translation == task.tokenizer.decode(found)
    assert trace.weights.shape == (len(found) + 1, len(source))
    assert np.allclose(trace.weights.sum(axis=-1), 1, atol=1e-5)
    chosen = [candidates[0][0] for candidates in trace.top_tokens[: len(found)]]
    assert chosen == trace.target[:-1]


def test_the_scorer_leaves_the_mode_of_the_model(task, trained):
    trained.model.train()
    translation_trace.next_log_probabilities(trained.model, [5, END_ID])([START_ID])
    assert trained.model.training
    assert torch.is_grad_enabled()


def test_watching_prints_one_line_per_token(task, trained, capsys):
    trace = translation_trace.trace_translation(trained.model, task.tokenizer, "four")
    trace.show()
    assert len(capsys.readouterr().out.splitlines()) == len(trace.target)


def test_a_person_who_watches_gets_a_pause_before_each_further_line(
    task, trained, monkeypatch
):
    pauses = []
    monkeypatch.setattr(translation_trace.time, "sleep", pauses.append)
    trace = translation_trace.trace_translation(trained.model, task.tokenizer, "four")
    trace.show(0.5)
    assert pauses == [0.0] + [0.5] * (len(trace.target) - 1)


def test_a_text_without_words_is_refused(task, trained):
    with pytest.raises(ValueError, match="text='  ' has no words"):
        translation_trace.trace_translation(trained.model, task.tokenizer, "  ")


def test_without_the_large_translator_the_command_is_said(tmp_path):
    with pytest.raises(CheckpointError, match="--task translation"):
        translation_trace.load_trained(tmp_path / "none.pt")


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
    assert translation_errors.error_type(target, translation) == kind
    assert translation_errors.count_error_types([target], [translation])[kind] == 1


def test_words_that_are_not_known_are_named_once():
    assert translation_errors.unseen_words(
        "Open the wheel, Wheel!", {"open", "the"}
    ) == ["wheel"]
