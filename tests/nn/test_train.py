"""The command that trains: killed, stopped, resumed, two processes, faults."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch

from course_lib.corpora.generated import number_words
from course_lib.corpora.pairs import Split
from course_lib.lessons.environment import one_thread
from course_lib.nn.train import main
from course_lib.nn.training import checkpoints
from course_lib.nn.training.loop import Trainer
from course_lib.nn.training.tasks import TASKS
from tests.processes import InterruptibleProcess

# A model that is small enough for a test; two epochs, so that the position in the
# data matters.
SMALL = [
    *("--task", "copying", "--d-model", "8", "--n-layers", "1", "--device", "cpu"),
    *("--batch-tokens", "4000", "--threads", "1", "--no-score"),
]
STEPS = 40


@pytest.fixture(autouse=True)
def alone():
    """Use one thread: on a busy machine two would wait for each other."""
    with one_thread():
        yield


def trained(path, *options, steps=STEPS):
    """Train in this process. Returns what is in the checkpoint."""
    assert main([*SMALL, "--steps", str(steps), "--output", str(path), *options]) == 0
    return checkpoints.load(path)["training"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Train without a break."""
    with one_thread():
        return trained(tmp_path_factory.mktemp("whole") / "model.pt")


def command(path, *options):
    """Start a training in a process of its own."""
    return InterruptibleProcess(
        [
            *(sys.executable, "-m", "course_lib.nn.train", *SMALL, *options),
            *("--steps", str(STEPS), "--output", str(path), "--save-every", "0"),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path):
    for _ in range(3000):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} did not appear")


def same(one, two):
    assert one["step"] == two["step"]
    assert torch.equal(one["losses"], two["losses"])
    for name, parameter in one["parameters"].items():
        assert torch.equal(parameter, two["parameters"][name]), name


@pytest.mark.thorough
def test_resume_after_a_kill_is_exact_bit_for_bit(tmp_path, whole):
    path = tmp_path / "model.pt"
    with command(path) as process:
        wait_for(path)
        process.kill()
        process.communicate()
    assert checkpoints.load(path)["training"]["step"] < STEPS
    assert main(["--resume", "--output", str(path), "--no-score"]) == 0
    assert torch.get_num_threads() == 1  # as before
    same(checkpoints.load(path)["training"], whole)


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    path = tmp_path / "model.pt"
    with command(path) as process:
        wait_for(path)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=300)
    assert process.returncode == 130
    assert (
        f"go on with `python -m course_lib.nn.train --resume --output {path}`"
        in messages
    )
    assert "Traceback" not in messages
    assert 0 < checkpoints.load(path)["training"]["step"] < STEPS


@pytest.mark.thorough
def test_two_processes_have_the_losses_of_one(tmp_path):
    options = [*SMALL, "--dropout", "0", "--steps", "8"]
    one, two = tmp_path / "one.pt", tmp_path / "two.pt"
    assert main([*options, "--output", str(one)]) == 0
    subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", "2", "-m", "course_lib.nn.train"),
            *(*options, "--output", str(two)),
        ],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
        timeout=300,
    )
    losses = [checkpoints.load(path)["training"]["losses"] for path in (one, two)]
    # Sums of float32 in another order; Adam's first steps make the most of it.
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-4, atol=0)


def test_missing_data_is_one_sentence(tmp_path):
    """Run in a new process: this one may have cached the pairs of another folder."""
    process = subprocess.run(
        [
            *(sys.executable, "-m", "course_lib.nn.train", "--steps", "1"),
            *("--no-score", "--output", str(tmp_path / "model.pt")),
        ],
        env=os.environ | {"ATTENTION_COURSE_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 1
    assert "run `make data`" in process.stderr
    assert process.stderr.count("\n") == 1


def test_existing_checkpoint_is_not_overwritten(tmp_path, capsys):
    path = tmp_path / "model.pt"
    path.write_text("mine")
    assert main([*SMALL, "--output", str(path)]) == 1
    assert "go on with --resume" in capsys.readouterr().err
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--d-model", "10"), "d_model=10 is not divisible by n_heads=4: choose other"),
        (("--dropout", "2"), "'--dropout'"),
        (("--smoothing", "2"), "'--smoothing'"),
        (("--rate", "-1"), "'--rate'"),
    ],
)
def test_impossible_option_is_one_sentence(tmp_path, capfd, options, words):
    path = tmp_path / "model.pt"
    assert main([*SMALL, "--steps", "1", "--output", str(path), *options]) in (1, 2)
    error = capfd.readouterr().err
    assert words in error and "Traceback" not in error
    assert not path.exists()


def test_resume_without_checkpoint_names_the_command(tmp_path, capsys):
    path = tmp_path / "model.pt"
    assert main(["--resume", "--output", str(path)]) == 1
    messages = capsys.readouterr().err
    assert f"make it with `python -m course_lib.nn.train --output {path}`" in messages


def test_resume_refuses_changed_options(tmp_path, capsys):
    path = tmp_path / "model.pt"
    trained(path, steps=2)
    for option, value in (("--task", "dates"), ("--steps", "9"), ("--d-model", "16")):
        assert main(["--resume", "--output", str(path), option, value]) == 1
        assert f"{option} {value} cannot be resumed" in capsys.readouterr().err


def test_resume_refuses_another_recipe(tmp_path, capsys):
    path = tmp_path / "model.pt"
    trained(path, "--preprocess", steps=2)
    for option in ("--no-preprocess", "--alignment-start"):
        assert main(["--resume", "--output", str(path), option]) == 1
        assert f"{option} cannot be resumed" in capsys.readouterr().err
    same_options = ["--preprocess", "--no-score", "--no-alignment-start"]
    assert main(["--resume", "--output", str(path), *same_options]) == 0


# Numbers, since what is copied has no other translation than itself.
NUMBERS = ("--task", "numbers", "--batch-tokens", "400")
RECIPE = (
    *(*NUMBERS, "--preprocess", "--alignment-start"),
    *("--dropout", "0.2", "--dropout-from", "0.5"),
)


@pytest.fixture
def few_numbers(monkeypatch):
    """Learn from 80 numbers only: all can be aligned in an instant."""
    pairs = number_words(90, seed=0)
    split = Split(pairs[:80], pairs[80:85], pairs[85:])
    task = replace(TASKS["numbers"], load_pairs=lambda: split)
    monkeypatch.setitem(TASKS, "numbers", task)


def test_resume_with_a_recipe_is_exact_bit_for_bit(tmp_path, few_numbers, monkeypatch):
    one, two = tmp_path / "one.pt", tmp_path / "two.pt"
    whole, train_step = trained(one, *RECIPE, steps=8), Trainer.train_step

    def stops(self, stop=False):
        return train_step(self, stop) or self.step == 5

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "train_step", stops)
        arguments = [*SMALL, *RECIPE, "--steps", "8", "--output", str(two)]
        assert main(arguments) == 130
    assert checkpoints.load(two)["training"]["step"] == 5
    assert main(["--resume", "--output", str(two), "--no-score"]) == 0
    same(checkpoints.load(two)["training"], whole)
    assert checkpoints.load(two)["tokenizer"].preprocessing


def test_alignment_start_changes_the_first_loss(tmp_path, few_numbers):
    plain = trained(tmp_path / "plain.pt", *NUMBERS, steps=1)
    aligned = trained(tmp_path / "aligned.pt", *NUMBERS, "--alignment-start", steps=1)
    assert plain["losses"] != aligned["losses"]


def test_task_without_more_pairs_refuses_them(tmp_path, capsys):
    path = tmp_path / "model.pt"
    assert main([*SMALL, "--more-pairs", "--output", str(path)]) == 1
    assert "no more pairs of copying: leave --more-pairs out" in capsys.readouterr().err


def test_checkpoint_of_an_older_format_is_one_sentence(tmp_path, capsys):
    path = tmp_path / "model.pt"
    trained(path, steps=1)
    torch.save({**torch.load(path), "format": 2}, path)
    assert main(["--resume", "--output", str(path)]) == 1
    message = capsys.readouterr().err
    assert "has format 2, and this version of the course reads format 3" in message
    assert "remove it and make it with `python -m course_lib.nn.train" in message
    assert message.count("\n") == 1


def test_out_of_memory_saves_and_is_one_sentence(tmp_path, monkeypatch, capsys):
    path, train_step = tmp_path / "model.pt", Trainer.train_step

    def fails(self, stop=False):
        if self.step == 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return train_step(self, stop)

    monkeypatch.setattr(Trainer, "train_step", fails)
    assert main([*SMALL, "--steps", "5", "--output", str(path)]) == 1
    assert "too little memory for batches of 4000 tokens" in capsys.readouterr().err
    assert checkpoints.load(path)["training"]["step"] == 3
