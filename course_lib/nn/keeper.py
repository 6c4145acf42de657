"""Saves a training, by name and in time.

What a file holds is in ``course_lib.nn.checkpoints``.
"""

import time
from pathlib import Path
from typing import Any

from course_lib.nn import checkpoints
from course_lib.nn.subwords import Subwords
from course_lib.nn.systems import as_data
from course_lib.nn.training import Training


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
            checkpoints.save(self.path, contents, self.subwords)

    def save_now_and_then(self) -> None:
        """Save if the last time is long ago."""
        if time.monotonic() - self._saved > self._every:
            self.save()
