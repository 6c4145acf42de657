"""Checkpoints: whole or not there, and a sentence for each that cannot be used."""

import errno
import os

import pytest
import torch

from course_lib.nn.training import checkpoints
from course_lib.nn.training.checkpoints import (
    CheckpointError,
    check_vocabulary,
    load,
    save,
)
from course_lib.nn.training.subwords import train_tokenizer

TOKENIZER = train_tokenizer(["the battery is low"] * 2, 40)
CONTENTS = {"task": "copying", "training": {"step": 3, "losses": torch.arange(3.0)}}


@pytest.fixture
def path(tmp_path):
    saved = tmp_path / "deep" / "model.pt"
    save(saved, CONTENTS, TOKENIZER)
    return saved


def test_load_returns_what_was_saved(path):
    checkpoint = load(path)
    assert checkpoint["task"] == "copying"
    assert torch.equal(checkpoint["training"]["losses"], torch.arange(3.0))
    assert checkpoint["tokenizer"] == TOKENIZER
    assert checkpoint["fingerprint"] == TOKENIZER.fingerprint


def test_save_leaves_no_unfinished_file(path):
    assert [each.name for each in path.parent.iterdir()] == ["model.pt"]


def test_missing_checkpoint_names_the_command(tmp_path):
    with pytest.raises(
        CheckpointError, match=r"There is no .*: make it with `make it`"
    ):
        load(tmp_path / "no.pt", "make it")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_truncated_checkpoint_is_damaged(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(CheckpointError, match=r"is damaged.* make it with"):
        load(path)


def test_text_and_folders_are_refused(path):
    with pytest.raises(CheckpointError, match="is a folder"):
        load(path.parent)
    path.write_text("hello")
    with pytest.raises(CheckpointError, match="is damaged, or is no checkpoint"):
        load(path)


def test_other_files_of_pytorch_are_refused(path):
    torch.save({"weight": torch.zeros(2)}, path)
    with pytest.raises(CheckpointError, match="no checkpoint of this course"):
        load(path)


def test_code_in_a_checkpoint_does_not_run(path):
    class Bad:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "made"),)

    torch.save({"format": checkpoints.FORMAT, "bad": Bad()}, path)
    with pytest.raises(CheckpointError):
        load(path)
    assert not (path.parent / "made").exists()


def test_other_formats_are_refused(path, monkeypatch):
    monkeypatch.setattr(checkpoints, "FORMAT", 4)
    with pytest.raises(CheckpointError, match=r"has format 3, .* reads format 4"):
        load(path)


def test_other_vocabularies_are_refused(path):
    other = train_tokenizer(["der Akku ist leer"], 40)
    with pytest.raises(CheckpointError, match="made with another vocabulary"):
        check_vocabulary(path, load(path), other)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space left"),
        (RuntimeError("PytorchStreamWriter failed writing file"), "no space left"),
        (OSError(errno.EROFS, "Read-only file system"), "no right to write"),
    ],
)
def test_failed_save_keeps_the_old_checkpoint(path, monkeypatch, error, words):
    def broken(contents, file):
        file.write(b"half")
        raise error

    monkeypatch.setattr(torch, "save", broken)
    with pytest.raises(CheckpointError, match=words):
        save(path, {"task": "dates"}, TOKENIZER)
    assert [each.name for each in path.parent.iterdir()] == ["model.pt"]
    assert load(path)["task"] == "copying"
