"""The small translator of lesson 10: its training, checks and translations."""

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
    trainer = small_translator.make_trainer(task)
    small_translator.train_until(trainer, 20)
    return trainer


def test_training_and_held_out_numbers_are_disjoint(task):
    assert not {*task.train} & {*task.held_out}
    assert (len(task.train), len(task.held_out)) == (4000, 100)


def test_training_in_parts_equals_training_at_once(task, trained):
    repeated = small_translator.make_trainer(task)
    for step in (7, 20):
        small_translator.train_until(repeated, step)
    assert repeated.losses == trained.losses
    assert trained.losses[-1] < trained.losses[0] - 0.3


def test_leak_and_padding_gap_tell_right_from_wrong(task, trained):
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


def test_trace_matches_greedy_decoding(task, trained):
    model, text = trained.model.eval(), task.held_out[0].source
    trace = translation_trace.trace_translation(model, task.tokenizer, text)
    source = [*task.tokenizer.encode(text), END_ID]
    log_probabilities = translation_trace.next_log_probabilities(model, source)
    target = greedy_decode(
        log_probabilities, START_ID, END_ID, translation_trace.MAX_LENGTH
    )
    assert trace.translation == task.tokenizer.decode(target)
    assert trace.weights.shape == (len(target) + 1, len(source))
    assert np.allclose(trace.weights.sum(axis=-1), 1, atol=1e-5)
    chosen = [candidates[0][0] for candidates in trace.top_tokens[: len(target)]]
    assert chosen == trace.target[:-1]


def test_next_log_probabilities_leave_the_model_mode(task, trained):
    trained.model.train()
    translation_trace.next_log_probabilities(trained.model, [5, END_ID])([START_ID])
    assert trained.model.training
    assert torch.is_grad_enabled()


def test_trace_prints_one_line_per_token(task, trained, capsys):
    trace = translation_trace.trace_translation(trained.model, task.tokenizer, "four")
    trace.show()
    assert len(capsys.readouterr().out.splitlines()) == len(trace.target)


def test_trace_pauses_before_each_further_line(task, trained, monkeypatch):
    pauses = []
    monkeypatch.setattr(translation_trace.time, "sleep", pauses.append)
    trace = translation_trace.trace_translation(trained.model, task.tokenizer, "four")
    trace.show(0.5)
    assert pauses == [0.0] + [0.5] * (len(trace.target) - 1)


def test_text_without_words_is_refused(task, trained):
    with pytest.raises(ValueError, match="text='  ' has no words"):
        translation_trace.trace_translation(trained.model, task.tokenizer, "  ")


def test_missing_translator_error_names_the_command(tmp_path):
    with pytest.raises(CheckpointError, match="--task translation"):
        translation_trace.load_trained(tmp_path / "none.pt")


@pytest.mark.parametrize(
    ("target", "translation", "error"),
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
def test_error_type_by_hand(target, translation, error):
    assert translation_errors.error_type(target, translation) == error
    assert translation_errors.count_error_types([target], [translation])[error] == 1


def test_unseen_words_are_listed_once():
    assert translation_errors.unseen_words(
        "Open the wheel, Wheel!", {"open", "the"}
    ) == ["wheel"]
