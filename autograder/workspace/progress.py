"""What a learner has solved: one small file for each exercise, in ``work/.progress/``.

``check`` writes them. One file for each exercise: two kernels never write over each
other's, and after a crash or from a backup each file is whole or missing.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.course import WORK, Course, write_atomically
from autograder.workspace.fetched import fetched_lessons

FOLDER = ".progress"
LOCK = ".lock"
PATIENCE = 2.0  # seconds: whoever holds the lock longer than this has stalled
TYPES: dict[str, tuple[type, ...]] = {
    "exercise": (str,),
    "lesson": (str,),
    "holding": (int,),
    "claims": (int,),
    "points": (int, float),
    "max_points": (int, float),
    "checked": (str,),
    "attempts": (int,),
    "solved": (str, type(None)),
    "solved_before": (str, type(None)),
    "put_off": (bool,),
}
TIMES = "checked", "solved", "solved_before"


@dataclass(frozen=True)
class ExerciseProgress:
    """What is known of a learner's work on one exercise.

    lesson : the folder in ``work/`` whose notebook checked it last
    holding, claims : how many claims held at the last check, and of how many
    points : the most that a check has earned; hidden claims are for grading
    max_points : what the exercise is worth in all
    checked : time of the last check, ISO 8601, in UTC
    attempts : checks of an answer; a stub is none
    solved : time of the first check at which all claims held, None if there is none
    solved_before : the same from before the exercise was started over
    put_off : whether the learner has gone on with the course's version since
    """

    exercise: str
    lesson: str
    holding: int
    claims: int
    points: float
    max_points: float
    checked: str
    attempts: int = 1
    solved: str | None = None
    solved_before: str | None = None
    put_off: bool = False

    def out_of(self, max_points: float) -> float:
        """Return the points if the exercise is worth something else by now."""
        if max_points == self.max_points or not self.max_points:
            return self.points
        return self.points * max_points / self.max_points

    @property
    def state(self) -> str:
        """``solved``, ``begun`` or ``open``."""
        if self.solved:
            return "solved"
        return "begun" if self.attempts else "open"


def now() -> str:
    """Return the time, in UTC, as it is written down."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def find_lesson_folder() -> tuple[Course, str] | None:
    """Return the course and the lesson whose learner's copy runs this, or None.

    Jupyter's server tells its kernels which notebook is theirs; elsewhere a kernel
    starts in its notebook's folder.
    """
    notebook = Path(os.environ.get("JPY_SESSION_NAME", ""))
    folders = [notebook.parent] if notebook.suffix == ".ipynb" else []
    with contextlib.suppress(OSError):  # the current folder may be gone
        folders.append(Path.cwd())
    for start in folders:
        folder = start.absolute()  # as it is named, not resolved: work/ may be a link
        for lesson in (folder, *folder.parents):
            work = lesson.parent
            is_ours = work.name == WORK and _is_course(work.parent)
            if is_ours and not lesson.name.startswith("."):
                return Course(work.parent), lesson.name
    for start in folders:
        fetched = fetched_lessons(start)
        if fetched and start.name in fetched.built_lessons:
            return fetched, start.name
    return None


def _is_course(folder: Path) -> bool:
    return os.access(folder / "nbgrader_config.py", os.R_OK)


def read_progress(work: Path) -> dict[str, ExerciseProgress]:
    """Return what is known, by exercise; what cannot be read counts as not known.

    work : the learner's ``work/``
    """
    known = {}
    with contextlib.suppress(OSError):
        for path in sorted((work / FOLDER).glob("*.json")):
            if progress := _read(path):
                known[progress.exercise] = progress
    return known


def keep_check(
    work: Path,
    lesson: str,
    exercise: str,
    *,
    holding: int,
    claims: int,
    points: float,
    max_points: float,
) -> None:
    """Keep the result of a check.

    Raises ``OSError`` if it cannot be written; then the file is as it was.
    """
    path = _path(work, exercise)
    with lock(work):
        before = _read(path)
        time_now = now()
        solved = before.solved if before else None
        if holding == claims:
            solved = solved or time_now
        after = ExerciseProgress(
            exercise,
            lesson,
            holding,
            claims,
            max(points, before.out_of(max_points) if before else 0),
            max_points,
            time_now,
            before.attempts + 1 if before else 1,
            solved,
            before.solved_before if before else None,
        )
        _write(path, after)


def reopen(work: Path, exercise: str) -> bool:
    """Note that an exercise is started over; return whether that changes anything.

    Raises ``OSError`` if it cannot be written.
    """
    path = _path(work, exercise)
    if _read(path) is None:  # so that a check of a stub writes nothing at all
        return False
    with lock(work):
        before = _read(path)
        if before is None or (before.state == "open" and not before.put_off):
            return False
        after = replace(
            before,
            holding=0,
            points=0,
            attempts=0,
            solved=None,
            solved_before=before.solved or before.solved_before,
            put_off=False,
        )
        _write(path, after)
    return True


def keep_put_off(work: Path, lesson: str, exercise: str, max_points: float) -> bool:
    """Note that the course's version goes in for an answer; return whether that is new.

    Raises ``OSError`` if it cannot be written.
    """
    path = _path(work, exercise)
    with lock(work):
        before = _read(path)
        if before and (before.put_off or before.solved):
            return False
        fresh = ExerciseProgress(exercise, lesson, 0, 0, 0, max_points, now(), 0)
        _write(path, replace(before or fresh, put_off=True, checked=now()))
    return True


def keep_new(work: Path, progress: ExerciseProgress) -> bool:
    """Keep what is known of an exercise unless something is; return whether it was.

    Nothing is kept that could not be read again.

    Raises ``OSError`` if it cannot be written.
    """
    path = _path(work, progress.exercise)
    if not _is_valid(asdict(progress), path):
        return False
    with lock(work):
        if os.path.lexists(path):
            return False
        _write(path, progress)
    return True


def rename_lesson(
    work: Path, former: str, lesson: str, exercises: Iterable[str]
) -> None:
    """Note that exercises that were checked in one lesson belong to another now.

    Raises ``OSError`` if it cannot be written.
    """
    for exercise in exercises:
        path = _path(work, exercise)
        if _read(path) is None:
            continue
        with lock(work):
            before = _read(path)
            if before and before.lesson == former:
                _write(path, replace(before, lesson=lesson))


@contextlib.contextmanager
def lock(work: Path) -> Iterator[None]:
    """Let one process at a time read and write progress, as far as the system can.

    A killed process leaves no lock behind. Without locks (on Windows, on some network
    drives) files are whole all the same; of two checks of one exercise in the same
    instant, one is then forgotten.
    """
    (work / FOLDER).mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (work / FOLDER / LOCK).open("w") as file:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # a file system without locks
                break
        yield


def _path(work: Path, exercise: str) -> Path:
    return work / FOLDER / f"{exercise}.json"


def _read(path: Path) -> ExerciseProgress | None:
    """Return what a file holds, None if that is no exercise's progress."""
    try:
        if not path.is_file():  # to read a pipe would wait for ever
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        data = {"put_off": False, **data}  # an older file does not say
        values = {each.name: data[each.name] for each in fields(ExerciseProgress)}
        return ExerciseProgress(**values) if _is_valid(values, path) else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _is_valid(values: dict[str, Any], path: Path) -> bool:
    for name, kinds in TYPES.items():
        value = values[name]
        if type(value) not in kinds:
            return False
        if isinstance(value, int | float) and not 0 <= value < 1e6:  # NaN neither
            return False
        if name in TIMES and value is not None:
            datetime.fromisoformat(value)
    return values["exercise"] == path.stem and values["exercise"].isidentifier()


def _write(path: Path, progress: ExerciseProgress) -> None:
    """Write a file; one that could not be read is kept under another name."""
    if os.path.lexists(path) and _read(path) is None:
        path.rename(unused_name(path, "unreadable"))
    write_atomically(path, json.dumps(asdict(progress), indent=1) + "\n")


def unused_name(path: Path, why: str) -> Path:
    """Return a free name beside a path: ``softmax.json.unreadable-1``."""
    number = 1
    while os.path.lexists(new := path.with_name(f"{path.name}.{why}-{number}")):
        number += 1
    return new
