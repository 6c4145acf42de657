"""One file that was handed in: what is taken from it, and the result that it gets.

Reading it may fail, and then its result says so. Its code is judged by ``engine``,
unless the ``journal`` has the verdicts already.
"""

import hashlib
import itertools
import os
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from autograder.checking.result import ExerciseResult
from autograder.course.releases import Points, last_points, own_release, release_name
from autograder.grading.child_client import clean_text
from autograder.grading.reading import (
    MAX_NAMES,
    SubmittedNotebook,
    Unreadable,
    printable_name,
    read_bytes,
    read_file,
    read_notebook,
)
from autograder.grading.rebuild import Rebuilt, rebuild
from autograder.grading.release import CHECK, Cell, Release, can_judge, with_retired
from autograder.grading.result import (
    CodeResult,
    OptionalExercises,
    SubmissionResult,
)

SUBMITTED = "submitted"  # where nbgrader collects
TIMESTAMP = "timestamp.txt"  # nbgrader's, next to the notebook
MAX_TIMESTAMP_BYTES = 200
NO_TIMESTAMP = "none"  # which is no time, and differs from a file that is not there
SECRET = "submission_secret.txt"  # nbgrader's exchange finds a student's feedback by it
MAX_SECRET_BYTES = 256
MAX_ENTRIES = 1000  # of a submission's folder that are looked at
SECRET_FORM = re.compile(rb"[0-9A-Za-z_-]{32,}")  # nbgrader's has 128 letters


class Submission:
    """A student's file for a lesson.

    student : the id, the name of the folder below ``submitted``
    """

    def __init__(
        self,
        release: Release,
        student: str,
        path: Path,
        releases: Mapping[str, Points] | None = None,
    ) -> None:
        """Read the file's bytes; its content is parsed on first use.

        release : the current one, which gives the cells
        releases : all that are known, for what the submission's own contained; the
            cells of what the current one no longer has are added
        """
        self.release = release
        self.releases = releases or {
            "": Points(dict.fromkeys(release.exercises, 0.0), release.points.optional)
        }
        self.student = student
        self.path = path
        self._rebuilds: dict[tuple[str, ...], Rebuilt] = {}
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

    @property
    def secret(self) -> str:
        """What the exchange calls its feedback by, "" if there is none."""
        folder = self.path.parent
        return read_secret(folder, _submissions_root(self.path) or folder)

    @cached_property
    def choice(self) -> str:
        """Which notebook was taken, in a sentence; "" if that goes without saying."""
        return choice_of_notebook(self.path, self.release.lesson)

    @cached_property
    def digest(self) -> str:
        """Digest of what was handed in: other bytes, another digest."""
        name = self.path.name.encode("utf-8", "surrogateescape")
        raw = self._read_error.encode() if self._raw is None else self._raw
        digest = hashlib.sha256(b"%d %d " % (self._raw is None, len(name)))
        digest.update(name)
        digest.update(raw)
        digest.update(self.choice.encode("utf-8", "replace"))  # the result says it
        return digest.hexdigest()

    @cached_property
    def _notebook(self) -> tuple[SubmittedNotebook | None, str]:
        """What is read of the file, or else why nothing is."""
        if self._raw is None:
            return None, clean_text(self._read_error)
        try:
            return read_notebook(self._raw, self.path.name), ""
        except Unreadable as error:
            return None, clean_text(str(error))

    @cached_property
    def _rebuilt(self) -> tuple[Rebuilt | None, str]:
        """Its own release with what the learner wrote, or else why there is none."""
        _, reason = self._notebook
        return self._rebuilt_with(self.own_exercises), reason

    def _rebuilt_with(self, exercises: Collection[str]) -> Rebuilt | None:
        """Return the lesson of today, and these exercises, with what was written."""
        notebook, _ = self._notebook
        if not notebook:
            return None
        release = with_retired(self.release, self.releases, exercises)
        if release.exercises not in self._rebuilds:
            rebuilt = rebuild(release, notebook.cells)
            self._rebuilds[release.exercises] = rebuilt
        return self._rebuilds[release.exercises]

    @cached_property
    def contained(self) -> frozenset[str]:
        """Exercises of which the file has a cell, by its marks, names or text."""
        rebuilt = self._rebuilt_with(last_points(self.releases))
        return self._marked | rebuilt.recognised if rebuilt else frozenset()

    @cached_property
    def _marked(self) -> frozenset[str]:
        """Exercises, of any release, of which a cell has the grade_id."""
        notebook, _ = self._notebook
        known = {*self.release.exercises}.union(*self.releases.values())
        marks = (each.grade_id for each in notebook.cells) if notebook else ()
        return frozenset(known & {mark.removeprefix(CHECK) for mark in marks})

    @cached_property
    def own_exercises(self) -> frozenset[str]:
        """Exercises that the submission's own release contained.

        Of one that cannot be read, those of the current release.
        """
        own = self._own_release
        return frozenset(self.release.exercises if own is None else own)

    @property
    def own_optional(self) -> frozenset[str]:
        """Which of them are optional in that release."""
        own = self._own_release
        return self.release.points.optional if own is None else own.optional

    @cached_property
    def _own_release(self) -> Points | None:
        """The submission's own release; None of one that cannot be read."""
        notebook, _ = self._notebook
        if not notebook:
            return None
        named = notebook.release in self.releases  # otherwise its text decides, too
        contained = self._marked if named else self.contained
        # Which of its exercises are optional, as far as its checks are marked.
        marked = {
            each.grade_id.removeprefix(CHECK): each.optional
            for each in notebook.cells
            if each.grade_id.startswith(CHECK)
        }
        name = own_release(self.releases, notebook.release, contained, marked)
        return self.releases[name]

    @cached_property
    def unjudgeable(self) -> frozenset[str]:
        """Exercises of its own release that the course can no longer judge."""
        retired = self.own_exercises - {*self.release.exercises}
        return frozenset(name for name in retired if not can_judge(name))

    @property
    def reason(self) -> str:
        """Why nothing in the file can be graded, in a sentence; "" if it can."""
        _, reason = self._rebuilt
        return reason

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was put right in the notebook, a sentence each."""
        rebuilt, _ = self._rebuilt
        choice = [self.choice] if self.choice else []
        return tuple(map(clean_text, [*choice, *rebuilt.repairs])) if rebuilt else ()

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

    def result(
        self,
        code_result: CodeResult,
        earlier: Iterable[ExerciseResult] = (),
        *,
        worth: Mapping[str, float] | None = None,
        excuse_missing: bool = False,
        optional: OptionalExercises = "extra",
    ) -> SubmissionResult:
        """Return the result that the verdicts on its code make.

        earlier : verdicts on the same file, from before its own release had exercises
            that the course can no longer judge: on those they still count
        worth : points of exercises that the lesson no longer has; of others, what they
            had in the last release
        excuse_missing : whether exercises of which the file has no cell do not count
        optional : how the optional exercises of its own release count
        """
        today, own = {*self.release.exercises}, self.own_exercises
        judged = {each.exercise for each in code_result.exercises}
        points = last_points(self.releases) | {**(worth or {})}
        exercises = tuple(
            each if each.exercise in today else each.out_of(points[each.exercise])
            for each in (
                *code_result.exercises,
                *(each for each in earlier if each.exercise in own - judged),
            )
            if each.exercise in today or each.exercise in own
        )
        names = tuple(each.exercise for each in exercises)
        return SubmissionResult(
            self.student,
            self.release.lesson,
            "invalid" if self.reason else "graded",
            exercises,
            self.reason,
            self.repairs,
            code_result.troubles,
            self.excused(names, excuse_missing=excuse_missing),
            optional=self.optional(names, optional, "extra"),
            left_out=self.optional(names, optional, "left out"),
            release=release_name(self._own_release or self.release.points),
        )

    def optional(
        self,
        exercises: Iterable[str],
        setting: OptionalExercises,
        wanted: OptionalExercises,
    ) -> tuple[str, ...]:
        """Return which exercises are optional, if the setting is the wanted one."""
        own = self.own_optional if setting == wanted else ()
        return tuple(name for name in exercises if name in own)

    def excused(
        self, exercises: Iterable[str], *, excuse_missing: bool
    ) -> tuple[str, ...]:
        """Return which of the exercises do not count for this submission."""
        counted = self.own_exercises
        if excuse_missing and self.contained:  # a file in which nothing is recognised
            counted &= self.contained  # is excused from nothing
        return tuple(name for name in exercises if name not in counted)


def read_secret(folder: Path, trusted_root: Path) -> str:
    """Return the secret in a folder, "" if there is none of nbgrader's form.

    trusted_root : a folder above, below which nothing may be a link
    """
    try:
        raw = read_bytes(folder / SECRET, trusted_root, MAX_SECRET_BYTES)
    except Unreadable:
        return ""
    return raw.decode("ascii") if SECRET_FORM.fullmatch(raw) else ""


def notebooks_in(folder: Path) -> list[Path]:
    """Return the notebooks in a submission's folder, sorted; no link is followed."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return []
    try:
        return sorted(
            entry
            for entry in itertools.islice(folder.iterdir(), MAX_ENTRIES)
            if entry.suffix.lower() == ".ipynb" and not entry.name.startswith(".")
        )
    except OSError:
        return []


def choice_of_notebook(path: Path, lesson: str) -> str:
    """Return which notebook of a submission is taken, in a sentence.

    "" if it is the only one and has the lesson's name, if there is none to take, and
    for a file that does not lie where nbgrader collects. What `update` has kept of an
    older release does not count.
    """
    notebooks = notebooks_in(path.parent) if _submissions_root(path) else []
    if path not in notebooks:
        return ""
    taken = printable_name(path.name)
    older = re.compile(re.escape(path.stem) + r"\.before-update-\d+")
    others = [each.name for each in notebooks if each != path]
    if others := [name for name in others if not older.fullmatch(Path(name).stem)]:
        more = [] if len(others) <= MAX_NAMES else ["…"]
        listed = ", ".join([*map(printable_name, others[:MAX_NAMES]), *more])
        return f"{taken} was graded, and not {listed}: hand in one notebook only."
    if path.stem == lesson:
        return ""
    return f"{taken} was graded: leave the notebook its name, {lesson}.ipynb."


def _submissions_root(path: Path) -> Path | None:
    """Return the folder of all submissions, below which nothing may be a link."""
    above = path.parents[2] if len(path.parents) > 2 else path
    return above if above.name == SUBMITTED else None
