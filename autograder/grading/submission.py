"""One file that was handed in: what is taken from it, and the result that it gets.

Reading it may fail, and then its result says so. Its code is judged by ``engine``,
unless the ``journal`` has the verdicts already.
"""

import hashlib
import os
from functools import cached_property
from pathlib import Path

from autograder.grading.child_client import clean_text
from autograder.grading.reading import Unreadable, read_bytes, read_cells, read_file
from autograder.grading.rebuild import Rebuilt, rebuild
from autograder.grading.release import Cell, Release
from autograder.grading.result import CodeResult, SubmissionResult

SUBMITTED = "submitted"  # where nbgrader collects
TIMESTAMP = "timestamp.txt"  # nbgrader's, next to the notebook
MAX_TIMESTAMP_BYTES = 200
NO_TIMESTAMP = "none"  # which is no time, and differs from a file that is not there


class Submission:
    """A student's file for a lesson.

    student : the id, the name of the folder below ``submitted``
    """

    def __init__(self, release: Release, student: str, path: Path) -> None:
        """Read the file's bytes; its content is parsed on first use."""
        self.release = release
        self.student = student
        self.path = path
        self._raw: bytes | None = None
        self._read_error = ""
        try:
            self._raw = read_file(path, _submissions_root(path))
        except Unreadable as error:
            self._read_error = str(error)

    @property
    def timestamp(self) -> str | None:
        """When it was handed in, from nbgrader's ``timestamp.txt`` if there is one.

        ``NO_TIMESTAMP`` if that is empty, too long, or no file.
        """
        path = self.path.with_name(TIMESTAMP)
        if not os.path.lexists(path):
            return None
        trusted_root = _submissions_root(self.path) or path.parent
        try:
            raw = read_bytes(path, trusted_root, MAX_TIMESTAMP_BYTES)
        except Unreadable:
            return NO_TIMESTAMP
        return raw.decode("utf-8", "replace").strip() or NO_TIMESTAMP

    @cached_property
    def digest(self) -> str:
        """Digest of what was handed in: other bytes, another digest."""
        name = self.path.name.encode("utf-8", "surrogateescape")
        raw = self._read_error.encode() if self._raw is None else self._raw
        digest = hashlib.sha256(b"%d %d " % (self._raw is None, len(name)))
        digest.update(name)
        digest.update(raw)
        return digest.hexdigest()

    @cached_property
    def _rebuilt(self) -> tuple[Rebuilt | None, str]:
        """The lesson with what the learner wrote, or else why there is none."""
        if self._raw is None:
            return None, clean_text(self._read_error)
        try:
            return rebuild(self.release, read_cells(self._raw, self.path.name)), ""
        except Unreadable as error:
            return None, clean_text(str(error))

    @property
    def reason(self) -> str:
        """Why nothing in the file can be graded, in a sentence; "" if it can."""
        _, reason = self._rebuilt
        return reason

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was put right in the notebook, a sentence each."""
        rebuilt, _ = self._rebuilt
        return tuple(map(clean_text, rebuilt.repairs)) if rebuilt else ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells of the rebuilt notebook; none if it could not be read."""
        rebuilt, _ = self._rebuilt
        return rebuilt.cells if rebuilt else ()

    @property
    def code_cells(self) -> tuple[Cell, ...] | None:
        """The cells that the engine judges; None if they could not be read."""
        if self.reason:
            return None
        return tuple(cell for cell in self.cells if cell.is_code)

    def result(self, code_result: CodeResult) -> SubmissionResult:
        """Return the result that the verdicts on its code make."""
        return SubmissionResult(
            self.student,
            self.release.lesson,
            "invalid" if self.reason else "graded",
            code_result.exercises,
            self.reason,
            self.repairs,
            code_result.troubles,
        )


def _submissions_root(path: Path) -> Path | None:
    """Return the folder of all submissions, below which nothing may be a link."""
    above = path.parents[2] if len(path.parents) > 2 else path
    return above if above.name == SUBMITTED else None
