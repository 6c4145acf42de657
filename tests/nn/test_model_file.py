"""Files of trained models: what is written is read, and what is broken is refused."""

import dataclasses
import json

import pytest
import torch

from course_lib.nn import models, train
from course_lib.nn.language_model import (
    BLOCK_2017,
    LanguageModel,
    LanguageModelConfig,
)
from course_lib.nn.model_file import (
    MAX_BYTES,
    ModelFileError,
    read_model_file,
    write_model_file,
)
from course_lib.nn.transformer import Transformer, TransformerConfig
from tests.figures.small_models import small_language_model, small_translator

WRITERS = [small_language_model, small_translator]


@pytest.mark.parametrize("write", WRITERS)
def test_what_is_written_is_read(write, tmp_path):
    path = write(tmp_path)
    file = read_model_file(path)
    model, tokenizer = file.load()
    write_model_file(tmp_path / "again.bin", model, tokenizer)
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()
    assert file.about["n_parameters"] == sum(p.numel() for p in model.parameters())
    for parameter in model.parameters():
        assert torch.equal(parameter, parameter.half().float())


def test_header_is_json_with_names_and_offsets(tmp_path):
    content = small_language_model(tmp_path).read_bytes()
    assert content[:8] == b"ATTNMDL1"
    length = int.from_bytes(content[8:12], "little")
    about = json.loads(content[12 : 12 + length])
    assert about["kind"] == "language model"
    assert about["bytes"] == len(content) - 12 - length == 2 * about["n_parameters"]
    ends = [each["offset"] for each in about["parameters"]]
    assert ends == sorted(ends) and ends[0] == 0


def broken(content):
    changed = bytearray(content)
    changed[-3] ^= 4
    return {
        "cut off or damaged": [content[:-2], content[:100], bytes(changed)],
        "of another version": [content[:7] + b"0" + content[8:]],
        "no model of this course": [b"", b"PK\x03\x04", b"<html>"],
    }


def test_broken_files_are_refused_with_the_remedy(tmp_path):
    path = small_language_model(tmp_path)
    for words, contents in broken(path.read_bytes()).items():
        for content in contents:
            path.write_bytes(content)
            with pytest.raises(ModelFileError, match=f"{words}.*make models"):
                read_model_file(path)
    path.unlink()
    with pytest.raises(ModelFileError, match="There is no model"):
        read_model_file(path)


def test_models_that_no_page_runs_are_refused(tmp_path):
    _, tokenizer = read_model_file(small_language_model(tmp_path)).load()
    old = LanguageModelConfig(len(tokenizer), 24, 1, **BLOCK_2017)
    post_norm = TransformerConfig(len(tokenizer), 24, 3, 1, 40, norm_first=False)
    for model in (LanguageModel(old), Transformer(post_norm)):
        with pytest.raises(ModelFileError, match="today's block"):
            write_model_file(tmp_path / "x.bin", model, tokenizer)
    large = LanguageModel(LanguageModelConfig(len(tokenizer), 256, 4))
    with pytest.raises(ModelFileError, match=f"{MAX_BYTES:,}"):
        write_model_file(tmp_path / "x.bin", large, tokenizer)
    lost = LanguageModel(LanguageModelConfig(len(tokenizer), 24, 1))
    with torch.no_grad():
        lost.embedding.weight[0, 0] = 1e6
    with pytest.raises(ModelFileError, match="float16"):
        write_model_file(tmp_path / "x.bin", lost, tokenizer)
    assert not (tmp_path / "x.bin").exists()


@pytest.fixture
def trainings(monkeypatch, tmp_path):
    """Let models be trained in a folder, none really; return the calls."""
    monkeypatch.setenv("ATTENTION_COURSE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(train, "FOLDER", tmp_path / "trained")
    calls = []
    monkeypatch.setattr(train, "main", lambda options: calls.append(options) or 1)
    return calls


def checkpoint_of(path, step, steps):
    """Write what a training of a small language model has saved at a step."""
    model, tokenizer = read_model_file(small_language_model(path.parent)).load()
    contents = {
        "task": "language",
        "system": "today",
        "config": dataclasses.asdict(model.config),
        "training_config": {"steps": steps},
        "training": {"step": step, "parameters": model.state_dict()},
    }
    models.checkpoints.save(path, contents, tokenizer)


def test_finished_training_is_taken_and_made_once(trainings, capsys):
    model = models.MODELS["language model"]
    model.checkpoint.parent.mkdir(parents=True)
    checkpoint_of(model.checkpoint, 6000, 6000)
    models.main(["language model"])
    made = model.path.read_bytes()
    small = (model.checkpoint.parent / "small.bin").read_bytes()
    assert trainings == [] and made == small
    model.checkpoint.unlink()
    models.main(["language model"])  # the file is there: no checkpoint is needed
    model.path.write_bytes(made[:-1])
    with pytest.raises(SystemExit):
        models.main(["language model"])
    assert "--resume" not in trainings[0]


def test_unfinished_training_goes_on(trainings):
    model = models.MODELS["language model"]
    model.checkpoint.parent.mkdir(parents=True)
    checkpoint_of(model.checkpoint, 10, 6000)
    with pytest.raises(SystemExit) as ending:
        models.main(["language model"])
    assert ending.value.code == 1
    assert trainings[0][-1] == "--resume" and not model.path.exists()


def test_unknown_model_is_named():
    with pytest.raises(SystemExit, match="unknown model 'poet'"):
        models.main(["poet"])
