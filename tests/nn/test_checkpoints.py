"""Checkpoints: whole or not there, and a sentence for each that cannot be used."""

import errno
import os

import pytest
import torch

from course_lib.nn.training import checkpoints
from course_lib.nn.training.checkpoints import (
    CheckpointFault,
    check_vocabulary,
    load,
    save,
)
from course_lib.nn.training.subwords import learn_subwords

SUBWORDS = learn_subwords(["the battery is low"] * 2, 40)
CONTENTS = {"task": "copying", "training": {"step": 3, "losses": torch.arange(3.0)}}


@pytest.fixture
def path(tmp_path):
    saved = tmp_path / "deep" / "model.pt"
    save(saved, CONTENTS, SUBWORDS)
    return saved


def test_what_was_saved_comes_back(path):
    found = load(path)
    assert found["task"] == "copying"
    assert torch.equal(found["training"]["losses"], torch.arange(3.0))
    assert found["subwords"] == SUBWORDS
    assert found["fingerprint"] == SUBWORDS.fingerprint


def test_nothing_unfinished_is_left(path):
    assert [each.name for each in path.parent.iterdir()] == ["model.pt"]


def test_a_missing_one_says_which_command_makes_it(tmp_path):
    with pytest.raises(
        CheckpointFault, match=r"There is no .*: make it with `make it`"
    ):
        load(tmp_path / "no.pt", "make it")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_one_is_damaged(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(CheckpointFault, match=r"is damaged.* make it with"):
        load(path)


def test_text_and_folders_are_no_checkpoints(path):
    with pytest.raises(CheckpointFault, match="is a folder"):
        load(path.parent)
    path.write_text("hello")
    with pytest.raises(CheckpointFault, match="is damaged, or is no checkpoint"):
        load(path)


def test_another_file_of_pytorch_is_no_checkpoint(path):
    torch.save({"weight": torch.zeros(2)}, path)
    with pytest.raises(CheckpointFault, match="no checkpoint of this course"):
        load(path)


def test_code_in_a_file_does_not_run(path):
    class Bad:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "made"),)

    torch.save({"format": 1, "bad": Bad()}, path)
    with pytest.raises(CheckpointFault):
        load(path)
    assert not (path.parent / "made").exists()


def test_another_version_is_refused(path, monkeypatch):
    monkeypatch.setattr(checkpoints, "FORMAT", 2)
    with pytest.raises(CheckpointFault, match=r"has format 1, .* reads format 2"):
        load(path)


def test_another_vocabulary_is_refused(path):
    other = learn_subwords(["der Akku ist leer"], 40)
    with pytest.raises(CheckpointFault, match="made with another vocabulary"):
        check_vocabulary(path, load(path), other)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space left"),
        (RuntimeError("PytorchStreamWriter failed writing file"), "no space left"),
        (OSError(errno.EROFS, "Read-only file system"), "no right to write"),
    ],
)
def test_when_it_cannot_be_written_the_old_one_stays(path, monkeypatch, error, words):
    def broken(contents, file):
        file.write(b"half")
        raise error

    monkeypatch.setattr(torch, "save", broken)
    with pytest.raises(CheckpointFault, match=words):
        save(path, {"task": "dates"}, SUBWORDS)
    assert [each.name for each in path.parent.iterdir()] == ["model.pt"]
    assert load(path)["task"] == "copying"
