"""One file that was handed in: what is taken from it, and the result that it gets.

Reading it may fail, and then that is what its result says. What its code is worth is
``engine``'s work; whether that is known already, the ``journal``'s.
"""

import hashlib
from functools import cached_property
from pathlib import Path

from autograder.grading.dialogue import clean
from autograder.grading.reading import Unreadable, read_bytes, read_cells, read_file
from autograder.grading.rebuild import Rebuilt, rebuild
from autograder.grading.release import Cell, Release
from autograder.grading.result import CodeResult, SubmissionResult

SUBMITTED = "submitted"  # where nbgrader collects
TIMESTAMP = "timestamp.txt"  # nbgrader's, beside the notebook
LONGEST_TIME = 200  # bytes of it


class Submission:
    """A student's file for a lesson.

    student : the id, the name of the folder below ``submitted``
    """

    def __init__(self, release: Release, student: str, path: Path) -> None:
        """Read the file's bytes; what is in them is looked at when it is asked for."""
        self.release = release
        self.student = student
        self.path = path
        self._raw: bytes | None = None
        self._no_file = ""
        try:
            self._raw = read_file(path, _collected(path))
        except Unreadable as error:
            self._no_file = str(error)

    @property
    def timestamp(self) -> str | None:
        """When it was handed in, as nbgrader's ``timestamp.txt`` says, if it does."""
        path = self.path.with_name(TIMESTAMP)
        try:
            raw = read_bytes(path, _collected(self.path) or path.parent, LONGEST_TIME)
        except Unreadable:
            return None
        return raw.decode("utf-8", "replace").strip() or None

    @cached_property
    def digest(self) -> str:
        """Say in a few characters what was handed in: other bytes, another digest."""
        name = self.path.name.encode("utf-8", "surrogateescape")
        raw = self._no_file.encode() if self._raw is None else self._raw
        found = hashlib.sha256(b"%d %d " % (self._raw is None, len(name)))
        found.update(name)
        found.update(raw)
        return found.hexdigest()

    @cached_property
    def _read(self) -> tuple[Rebuilt | None, str]:
        """Give the lesson with what the learner wrote, or else why there is none."""
        if self._raw is None:
            return None, clean(self._no_file)
        try:
            return rebuild(self.release, read_cells(self._raw, self.path.name)), ""
        except Unreadable as error:
            return None, clean(str(error))

    @property
    def reason(self) -> str:
        """Why nothing in the file can be graded, in a sentence; "" if it can."""
        return self._read[1]

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was put right in the notebook, a sentence each."""
        rebuilt = self._read[0]
        return tuple(clean(each) for each in rebuilt.repairs) if rebuilt else ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells of the rebuilt notebook; none if it could not be read."""
        rebuilt = self._read[0]
        return rebuilt.cells if rebuilt else ()

    @property
    def code_cells(self) -> tuple[Cell, ...] | None:
        """The code, as the engine takes it; None if it could not be read."""
        if self.reason:
            return None
        return tuple(cell for cell in self.cells if cell.is_code)

    def result(self, judged: CodeResult) -> SubmissionResult:
        """Give the result that the verdicts on its code make."""
        return SubmissionResult(
            self.student,
            self.release.lesson,
            "invalid" if self.reason else "graded",
            judged.exercises,
            self.reason,
            self.repairs,
            judged.troubles,
        )


def _collected(path: Path) -> Path | None:
    """Give the folder of all submissions, below which nothing may be a link."""
    above = path.parents[2] if len(path.parents) > 2 else path
    return above if above.name == SUBMITTED else None
