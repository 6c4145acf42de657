"""Saves a training, by name and in time.

What a file holds is in ``course_lib.nn.checkpoints``.
"""

import errno
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from course_lib.nn.training.loop import Training
from course_lib.nn.training.subwords import Subwords
from course_lib.nn.training.tasks import as_data

FORMAT = 1  # of the file; another number cannot be read by this version
UNFINISHED = ".unfinished-"
COMMAND = "python -m course_lib.nn.train"
Checkpoint = dict[str, Any]


class CheckpointFault(RuntimeError):
    """A checkpoint cannot be written, or not be used: one sentence, with what to do."""


def save(path: Path, contents: Mapping[str, Any], subwords: Subwords) -> None:
    """Write a checkpoint in one step, so that the one before stays until then.

    contents : plain data and tensors, with "command": what makes this checkpoint
    subwords : the vocabulary that the model reads and writes

    Raises ``CheckpointFault`` if the file cannot be written; the one before is still
    there then.
    """
    whole = {
        "format": FORMAT,
        "vocabulary": subwords.as_data(),
        "fingerprint": subwords.fingerprint,
        **contents,
    }
    unfinished = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f"{UNFINISHED}{path.name}-", delete=False
        ) as file:
            unfinished = Path(file.name)
            torch.save(whole, file)
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


def load(path: Path, command: str = COMMAND) -> Checkpoint:
    """Read a checkpoint.

    command : what makes it, for the message if it is not there

    Returns what was saved, its tensors on the CPU, and under "subwords" the vocabulary.
    Raises ``CheckpointFault`` if it is missing, damaged or of another version.
    """
    remedy = f"make it with `{command}`"
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise CheckpointFault(f"There is no checkpoint {path}: {remedy}.") from None
    except PermissionError:
        raise CheckpointFault(
            f"There is no right to read the checkpoint {path}: allow it, or {remedy}."
        ) from None
    except IsADirectoryError:
        raise CheckpointFault(
            f"{path} is a folder, not a checkpoint: name the file in it, or {remedy}."
        ) from None
    except Exception:  # what a reader of wrong bytes trips over can be anything
        raise CheckpointFault(
            f"The checkpoint {path} is damaged, or is no checkpoint: remove it and "
            f"{remedy}."
        ) from None
    if not isinstance(found, dict) or "format" not in found:
        raise CheckpointFault(
            f"{path} is a file of PyTorch, but no checkpoint of this course: {remedy}."
        )
    if found["format"] != FORMAT:
        raise CheckpointFault(
            f"The checkpoint {path} has format {found['format']}, and this version of "
            f"the course reads format {FORMAT}: remove it and {remedy}."
        )
    subwords = Subwords.from_data(found["vocabulary"])
    check_vocabulary(path, found, subwords, command)
    return found | {"subwords": subwords}


def check_vocabulary(
    path: Path, found: Checkpoint, subwords: Subwords, command: str = COMMAND
) -> None:
    """Raise ``CheckpointFault`` if a checkpoint was made with another vocabulary.

    Its numbers would stand for other words: the texts would be wrong without a warning.
    """
    if found["fingerprint"] != subwords.fingerprint:
        raise CheckpointFault(
            f"The checkpoint {path} was made with another vocabulary "
            f"({found['fingerprint']}, and this one is {subwords.fingerprint}): "
            f"remove it and make it anew with `{command}`."
        )


def _sync_folder(folder: Path) -> None:
    """See to it that a new name is on the disk too, where a system lets us."""
    try:
        place = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folders
    try:
        os.fsync(place)
    finally:
        os.close(place)


def _not_written(path: Path, error: OSError | RuntimeError) -> CheckpointFault:
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT) or "PytorchStreamWriter" in str(error):
        reason = f"there is no space left in {path.parent}: free some"
    elif number in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = f"there is no right to write in {path.parent}: allow it"
    else:
        reason = f"{getattr(error, 'strerror', None) or error}: mend that"
    return CheckpointFault(
        f"The checkpoint {path} could not be written, since {reason}, or name another "
        "file with --output; what was saved before is still there."
    )


class Keeper:
    """Saves a training, by name and in time."""

    def __init__(
        self,
        path: Path,
        before: dict[str, Any],
        subwords: Subwords,
        training: Training,
        every: float,
    ) -> None:
        """Save under a path what ``before`` says and ``training`` has become.

        every : seconds between two times
        """
        self._every = every
        self.path, self.subwords, self.training = path, subwords, training
        kept = ("task", "system", "recipe", "threads")
        self._about = {name: before[name] for name in kept}
        self._earlier = before["seconds"]
        self._start = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the training has taken, with what came before a break."""
        return self._earlier + time.monotonic() - self._start

    def save(self) -> None:
        """Save now; only the process that leads does."""
        self._saved = time.monotonic()
        if self.training.team.leads:
            contents = self._about | {
                "sizes": as_data(self.training.model),
                "seconds": self.seconds,
                "training": self.training.state(),
            }
            save(self.path, contents, self.subwords)

    def save_now_and_then(self) -> None:
        """Save if the last time is long ago."""
        if time.monotonic() - self._saved > self._every:
            self.save()


# MERGED course_lib.nn.checkpoints: A training in a file: complete or not there, and readable without running code.
#
#   The file holds plain data and tensors: the sizes, the vocabulary, the recipe, the
#   parameters, the optimizer, the place in the data and the losses. There is no state of
#   random numbers in it, since each update draws from a seed of its own.
#
