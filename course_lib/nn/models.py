"""``python -m course_lib.nn.models``: the trained models as files for pages, once.

They are those of lessons 11 and 12. A checkpoint that is there is taken; what is not
trained yet is trained, and a training that was stopped goes on. The files are in the
data's folder, and ``autograder site`` takes them into the book.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from course_lib.corpora.download import DataError, folder, from_os_error
from course_lib.nn import train
from course_lib.nn.model_file import (
    COMMAND,
    ModelFileError,
    read_model_file,
    write_model_file,
)
from course_lib.nn.training import checkpoints


@dataclass(frozen=True)
class PageModel:
    """A model of which there is a file.

    file : its name, as views know it
    task, system : what is trained, as on the command line
    minutes : of one thread, about
    """

    file: str
    task: str
    system: str
    minutes: int

    @property
    def path(self) -> Path:
        """Where the file is, or would be."""
        return folder() / "models" / self.file

    @property
    def checkpoint(self) -> Path:
        """Where the training is, or would be."""
        return train.FOLDER / f"{self.task}-{self.system}-0.pt"


MODELS = {
    "language model": PageModel("language-model.bin", "language", "today", 4),
    "translator": PageModel("translator.bin", "translation", "transformer", 7),
}


def make(model: PageModel) -> None:
    """Make a model's file from its checkpoint, which is trained if it is not there.

    Raises ``DataError``, ``CheckpointError`` or ``ModelFileError``.
    """
    if not is_trained(model.checkpoint):
        options = ["--task", model.task, "--system", model.system]
        options += ["--no-score", "--device", "cpu", "--output", str(model.checkpoint)]
        options += ["--resume"] * model.checkpoint.exists()
        print(f"{model.file}: training, about {model.minutes} minutes", flush=True)
        if code := train.main(options):
            raise SystemExit(code)
    trained = checkpoints.load(model.checkpoint, COMMAND)
    task = train.task_named(trained["task"])
    system = task.systems[trained["system"]]
    network = system.make(trained["config"], torch.device("cpu"))
    network.load_state_dict(trained["training"]["parameters"])
    try:
        size = write_model_file(model.path, network, trained["tokenizer"])
    except OSError as error:
        raise from_os_error(error, model.path.parent) from error
    print(f"{model.path}: {size / 1e6:.2f} MB", flush=True)


def is_trained(path: Path) -> bool:
    """Return whether a checkpoint is there, and its training at its end."""
    if not path.exists():
        return False
    checkpoint = checkpoints.load(path, COMMAND)
    return checkpoint["training"]["step"] >= checkpoint["training_config"]["steps"]


def is_made(model: PageModel) -> bool:
    """Return whether a model's file is there and whole."""
    try:
        read_model_file(model.path)
    except ModelFileError:
        return False
    return True


def main(arguments: Sequence[str]) -> None:
    """Make the files that are missing; an error is one sentence and exit code 1."""
    if unknown := [each for each in arguments if each not in MODELS]:
        known = ", ".join(MODELS)
        sys.exit(f"unknown model {unknown[0]!r}: there are {known}, or nothing for all")
    try:
        for name in arguments or MODELS:
            if not is_made(MODELS[name]):
                make(MODELS[name])
    except (DataError, checkpoints.CheckpointError, ModelFileError) as error:
        sys.exit(str(error))
    print(f"All models are in {folder() / 'models'}; git ignores them.")


if __name__ == "__main__":
    main(sys.argv[1:])
