"""``--task language``: resumed, in two processes, with wrong options and files."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.corpora.plays import PlaySplit, play_split, plays
from course_lib.lessons import translation_trace
from course_lib.lessons.environment import one_thread
from course_lib.nn.train import main
from course_lib.nn.training import checkpoints, language
from course_lib.nn.training.checkpoints import CheckpointError
from course_lib.nn.training.language import LANGUAGE_SYSTEMS, load_language_model
from course_lib.nn.training.loop import Trainer
from tests.processes import InterruptibleProcess

SMALL = [
    *("--task", "language", "--d-model", "8", "--n-layers", "1", "--context", "16"),
    *("--vocab-size", "300", "--batch-tokens", "64", "--device", "cpu"),
    *("--threads", "1", "--no-score"),
]
TINY_SPLIT = PlaySplit("To be, or not to be.\n" * 40, "To be.\n" * 9, "Or not.\n" * 9)


@pytest.fixture(autouse=True)
def alone():
    """Use one thread: on a busy machine two would wait for each other."""
    with one_thread():
        yield


@pytest.fixture
def tiny_plays(monkeypatch):
    """Learn from one line, again and again."""
    monkeypatch.setattr(language, "play_split", lambda: TINY_SPLIT)


def trained(path, *options, steps=8):
    assert main([*SMALL, "--steps", str(steps), "--output", str(path), *options]) == 0
    return checkpoints.load(path)["training"]


def same(one, two):
    assert one["step"] == two["step"]
    assert torch.equal(one["losses"], two["losses"])
    for name, parameter in one["parameters"].items():
        assert torch.equal(parameter, two["parameters"][name]), name


@pytest.mark.parametrize("system", LANGUAGE_SYSTEMS)
def test_resume_is_exact_bit_for_bit(tmp_path, tiny_plays, monkeypatch, system):
    one, two = tmp_path / "one.pt", tmp_path / "two.pt"
    options = ("--system", system, "--dropout", "0.1")
    whole, train_step = trained(one, *options), Trainer.train_step

    def stops(self, stop=False):
        return train_step(self, stop) or self.step == 5

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "train_step", stops)
        arguments = [*SMALL, *options, "--steps", "8", "--output", str(two)]
        assert main(arguments) == 130
    assert checkpoints.load(two)["training"]["step"] == 5
    assert main(["--resume", "--output", str(two), "--no-score"]) == 0
    same(checkpoints.load(two)["training"], whole)


def test_systems_and_seeds_train_differently(tmp_path, tiny_plays):
    losses = [
        trained(tmp_path / f"{index}.pt", *options, steps=2)["losses"].tolist()
        for index, options in enumerate(
            [(), ("--system", "2017"), ("--seed", "1"), ("--system", "today")]
        )
    ]
    assert losses[0] == losses[3]
    assert losses[0] != losses[1] and losses[0] != losses[2]


def test_loss_is_the_cross_entropy_without_smoothing(tmp_path, tiny_plays):
    options = ("--rate", "0.02", "--warmup", "9")
    losses = trained(tmp_path / "model.pt", *options, steps=150)["losses"]
    assert losses[-10:].mean() < 0.5 < losses[0]  # one line by heart


def test_measured_model_has_its_scores_beside_it(tmp_path, tiny_plays, capsys):
    path = tmp_path / "model.pt"
    arguments = [each for each in SMALL if each != "--no-score"]
    assert main([*arguments, "--steps", "2", "--output", str(path)]) == 0
    assert "xz -9e, after the training plays" in capsys.readouterr().out
    scores = json.loads(path.with_suffix(".json").read_text())
    assert scores["n_bytes"] == len(TINY_SPLIT.test)
    assert scores["bits_per_byte"] > scores["best_n_gram"]["bits_per_byte"]
    assert (
        len(scores["n_grams"]["tokens"]) == 3 and len(scores["n_grams"]["bytes"]) == 6
    )


def test_load_language_model_returns_the_trained_one(tmp_path, tiny_plays):
    path = tmp_path / "model.pt"
    parameters = trained(path)["parameters"]
    model, tokenizer = load_language_model(path)
    assert isinstance(tokenizer, ByteTokenizer) and not model.training
    assert model.config.n_positions == 16
    assert model.config.vocab_size == len(tokenizer)
    for name, parameter in model.state_dict().items():
        assert torch.equal(parameter, parameters[name])


def test_checkpoints_of_the_other_kind_are_refused(tmp_path, tiny_plays, capsys):
    translator, model = tmp_path / "translator.pt", tmp_path / "model.pt"
    options = ["--d-model", "8", "--steps", "1", "--no-score", "--threads", "1"]
    assert main(["--task", "copying", *options, "--output", str(translator)]) == 0
    trained(model, steps=1)
    with pytest.raises(CheckpointError, match="is of --task copying, system transf"):
        load_language_model(translator)
    with pytest.raises(CheckpointError, match="is of --task language, system today"):
        translation_trace.load_trained(model)
    capsys.readouterr()
    for path, task in ((translator, "language"), (model, "copying")):
        assert main(["--resume", "--task", task, "--output", str(path)]) == 1
        message = capsys.readouterr().err
        assert f"--task {task} cannot be resumed" in message
        assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--task", "copying", "--context", "9"), "--context does not fit --task copy"),
        (("--task", "copying", "--vocab-size", "300"), "--vocab-size does not fit"),
        (("--context", "9"), "--context does not fit --task translation: leave it out"),
        (("--task", "language", "--preprocess"), "--preprocess does not fit --task la"),
        (("--task", "language", "--no-more-pairs"), "--no-more-pairs does not fit"),
        (("--task", "language", "--length-penalty", "1"), "--length-penalty does not"),
        (
            ("--task", "language", "--system", "additive"),
            "--system additive does not fit --task language: choose one of today, 2017",
        ),
        (
            ("--task", "dates", "--system", "2017"),
            "--system 2017 does not fit --task dates: choose one of transformer, addi",
        ),
        (("--task", "language", "--d-model", "10"), "is not divisible by n_heads=4"),
        (("--task", "language", "--context", "9999"), "need 10000 tokens"),
        (("--task", "language", "--vocab-size", "9"), "'--vocab-size'"),
    ],
)
def test_option_that_does_not_fit_is_one_sentence(
    tmp_path, tiny_plays, capfd, options, words
):
    path = tmp_path / "model.pt"
    assert main([*options, "--steps", "1", "--output", str(path)]) in (1, 2)
    error = capfd.readouterr().err
    assert words in error and "Traceback" not in error
    assert not path.exists()


def test_resume_refuses_changed_options(tmp_path, tiny_plays, capsys):
    path = tmp_path / "model.pt"
    trained(path, steps=2)
    for option, value in (
        ("--context", "32"),
        ("--vocab-size", "290"),
        ("--system", "2017"),
        ("--n-layers", "2"),
    ):
        assert main(["--resume", "--output", str(path), option, value]) == 1
        assert f"{option} {value} cannot be resumed" in capsys.readouterr().err
    assert main(["--resume", "--output", str(path), "--preprocess"]) == 1
    assert "--preprocess does not fit --task language" in capsys.readouterr().err


def test_resume_refuses_other_plays(tmp_path, tiny_plays, monkeypatch, capsys):
    path = tmp_path / "model.pt"
    trained(path, steps=2)
    other = PlaySplit("Out, out, brief candle!\n" * 40, "x", "y")
    monkeypatch.setattr(language, "play_split", lambda: other)
    assert main(["--resume", "--output", str(path)]) == 1
    assert "was made with another vocabulary" in capsys.readouterr().err


def test_out_of_memory_saves_and_is_one_sentence(
    tmp_path, tiny_plays, monkeypatch, capsys
):
    path, train_step = tmp_path / "model.pt", Trainer.train_step

    def fails(self, stop=False):
        if self.step == 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return train_step(self, stop)

    monkeypatch.setattr(Trainer, "train_step", fails)
    assert main([*SMALL, "--steps", "5", "--output", str(path)]) == 1
    assert "too little memory for batches of 64 tokens" in capsys.readouterr().err
    assert checkpoints.load(path)["training"]["step"] == 3


def test_missing_plays_are_one_sentence(tmp_path):
    """Run in a new process: this one may have cached the plays of another folder."""
    process = subprocess.run(
        [
            *(sys.executable, "-m", "course_lib.nn.train", *SMALL),
            *("--steps", "1", "--output", str(tmp_path / "model.pt")),
        ],
        env=os.environ | {"ATTENTION_COURSE_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 1
    assert "run `make data`" in process.stderr
    assert process.stderr.count("\n") == 1


@pytest.mark.thorough
def test_ctrl_c_and_a_kill_lose_nothing(tmp_path):
    whole = trained(tmp_path / "whole.pt", steps=60)
    path = tmp_path / "model.pt"
    for number, options in ((signal.SIGINT, SMALL), (signal.SIGKILL, ["--resume"])):
        before = path.stat().st_mtime_ns if path.exists() else 0
        arguments = [*options, "--output", str(path), "--save-every", "0"]
        if options is SMALL:
            arguments += ["--steps", "60"]
        with InterruptibleProcess(
            [sys.executable, "-m", "course_lib.nn.train", *arguments, "--no-score"],
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            for _ in range(3000):
                if path.exists() and path.stat().st_mtime_ns > before:
                    break
                time.sleep(0.1)
            process.send_signal(number)
            process.communicate(timeout=300)
        assert 0 < checkpoints.load(path)["training"]["step"] <= 60
    assert main(["--resume", "--output", str(path), "--no-score"]) == 0
    same(checkpoints.load(path)["training"], whole)


@pytest.mark.thorough
def test_two_processes_have_the_losses_of_one(tmp_path):
    one, two = tmp_path / "one.pt", tmp_path / "two.pt"
    alone = trained(one)
    subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", "2", "-m", "course_lib.nn.train"),
            *(*SMALL, "--steps", "8", "--output", str(two)),
        ],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
        timeout=300,
    )
    together = checkpoints.load(two)["training"]
    # Sums of float32 in another order; Adam's first steps make the most of it.
    torch.testing.assert_close(alone["losses"], together["losses"], rtol=1e-4, atol=0)


def test_held_out_plays_are_in_no_training_text():
    split = play_split()
    assert split.test == plays()["the-tempest"]
    assert split.validation == plays()["twelfth-night"]
    assert "PROSPERO" not in split.train and "MALVOLIO" not in split.train
    n_characters = sum(map(len, plays().values()))
    assert len(split.train) + len(split.validation) + len(split.test) == n_characters
