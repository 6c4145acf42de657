"""A training in a file: complete or not there, and readable without running code.

The file holds plain data and tensors: the model's and the training's configuration, the
vocabulary, the parameters, the optimizer, the number of steps and the losses.
"""

import errno
import os
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.nn.training.loop import Trainer
from course_lib.nn.training.subwords import SubwordTokenizer

FORMAT = 3  # of the file; another number cannot be read by this version
UNFINISHED = ".unfinished-"
COMMAND = "python -m course_lib.nn.train"
Checkpoint = dict[str, Any]
Tokenizer = SubwordTokenizer | ByteTokenizer  # of translators, of language models


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written, or not be used: one sentence, with what to do."""


def save(path: Path, contents: Mapping[str, Any], tokenizer: Tokenizer) -> None:
    """Write a checkpoint in one step, so that the one before stays until then.

    contents : plain data and tensors
    tokenizer : turns texts into what the model reads and writes

    Raises ``CheckpointError`` if the file cannot be written; the one before is still
    there then.
    """
    checkpoint = {
        "format": FORMAT,
        "vocabulary": tokenizer.as_data(),
        "fingerprint": tokenizer.fingerprint,
        **contents,
    }
    unfinished = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f"{UNFINISHED}{path.name}-", delete=False
        ) as file:
            unfinished = Path(file.name)
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())  # the name must not arrive before the bytes
        unfinished.replace(path)
        _sync_folder(path.parent)
    except (OSError, RuntimeError) as error:
        # PyTorch's writer of zip files turns a full disk into a RuntimeError.
        raise _not_written(path, error) from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Write a new name to the disk too, where a system allows it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folders
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _not_written(path: Path, error: OSError | RuntimeError) -> CheckpointError:
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT) or "PytorchStreamWriter" in str(error):
        reason = f"there is no space left in {path.parent}: free some"
    elif number in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = f"there is no right to write in {path.parent}: allow it"
    else:
        reason = f"{getattr(error, 'strerror', None) or error}: mend that"
    return CheckpointError(
        f"The checkpoint {path} could not be written, since {reason}, or name another "
        "file with --output; what was saved before is still there."
    )


def load(path: Path, command: str = COMMAND) -> Checkpoint:
    """Load a checkpoint.

    command : what makes it, for the message if it is not there

    Returns what was saved, its tensors on the CPU, and under "tokenizer" the tokenizer.
    Raises ``CheckpointError`` if it is missing, damaged or of another version.
    """
    remedy = f"make it with `{command}`"
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise CheckpointError(f"There is no checkpoint {path}: {remedy}.") from None
    except PermissionError:
        raise CheckpointError(
            f"There is no right to read the checkpoint {path}: allow it, or {remedy}."
        ) from None
    except IsADirectoryError:
        raise CheckpointError(
            f"{path} is a folder, not a checkpoint: name the file in it, or {remedy}."
        ) from None
    except Exception:  # the reader may raise anything for wrong bytes
        raise CheckpointError(
            f"The checkpoint {path} is damaged, or is no checkpoint: remove it and "
            f"{remedy}."
        ) from None
    if not isinstance(checkpoint, dict) or "format" not in checkpoint:
        raise CheckpointError(
            f"{path} is a file of PyTorch, but no checkpoint of this course: {remedy}."
        )
    if checkpoint["format"] != FORMAT:
        raise CheckpointError(
            f"The checkpoint {path} has format {checkpoint['format']}, and this "
            f"version of the course reads format {FORMAT}: remove it and {remedy}."
        )
    vocabulary = checkpoint["vocabulary"]
    kind = ByteTokenizer if vocabulary.get("kind") == "bytes" else SubwordTokenizer
    tokenizer = kind.from_data(vocabulary)
    check_vocabulary(path, checkpoint, tokenizer, command)
    return checkpoint | {"tokenizer": tokenizer}


def check_vocabulary(
    path: Path,
    checkpoint: Checkpoint,
    tokenizer: Tokenizer,
    command: str = COMMAND,
) -> None:
    """Raise ``CheckpointError`` if a checkpoint was made with another vocabulary.

    Its token ids would stand for other words: wrong results without a warning.
    """
    if checkpoint["fingerprint"] != tokenizer.fingerprint:
        raise CheckpointError(
            f"The checkpoint {path} was made with another vocabulary "
            f"({checkpoint['fingerprint']}, and this one is {tokenizer.fingerprint}): "
            f"remove it and make it anew with `{command}`."
        )


def check_system(
    path: Path, checkpoint: Checkpoint, systems: Collection[str], command: str = COMMAND
) -> None:
    """Raise ``CheckpointError`` if a checkpoint's model is none of some systems.

    A translator is no language model, and the other way round.
    """
    if checkpoint["system"] not in systems:
        raise CheckpointError(
            f"The checkpoint {path} is of --task {checkpoint['task']}, system "
            f"{checkpoint['system']}, and one of {', '.join(systems)} is needed: name "
            f"another file, or make one with `{command}`."
        )


class Checkpointer:
    """Saves a training under a path, and measures the time that it takes."""

    def __init__(
        self,
        path: Path,
        start: Mapping[str, Any],
        tokenizer: Tokenizer,
        trainer: Trainer,
        save_every: float,
    ) -> None:
        """Prepare to save a training.

        start : what was to be trained and how, or a checkpoint from which it goes on
        save_every : seconds between two times
        """
        self.path, self.tokenizer, self.trainer = path, tokenizer, trainer
        self._save_every = save_every
        names = ("task", "system", "recipe", "training_config", "threads")
        self._constant = {name: start[name] for name in names}
        self._seconds_before = start["seconds"]
        self._start = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the training has taken, with the time before a break."""
        return self._seconds_before + time.monotonic() - self._start

    def save(self) -> None:
        """Save now; only the main process does."""
        self._saved = time.monotonic()
        if self.trainer.process_group.is_main_process:
            model: Any = self.trainer.model
            contents = self._constant | {
                "config": asdict(model.config),
                "seconds": self.seconds,
                "training": self.trainer.state_dict(),
            }
            save(self.path, contents, self.tokenizer)

    def save_if_due(self) -> None:
        """Save if the last time is long enough ago."""
        if time.monotonic() - self._saved > self._save_every:
            self.save()
