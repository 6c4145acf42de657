"""Judge what was handed in to another system: one verdict, whatever is there.

Each system's module says where its files lie and what its result looks like. Nothing
here raises for a submission's sake: what cannot be judged is a verdict that says why.

A submission that ran as the judge could write its own result. So it runs in namespaces
where there are some; else as a user of its own, to whom the package and the results
are closed; else not at all, unless the package was made with ``--unsafe``.
"""

import argparse
import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.adapters.document import document
from autograder.adapters.package import SEED, Package
from autograder.course import Course, CourseError
from autograder.course.releases import CHECK, kept_releases
from autograder.gradebook.safe_html import AS_IN_SOLUTIONS, visible
from autograder.grading.budget import Budget
from autograder.grading.engine import Engine
from autograder.grading.identity import fresh_seed, read_seed
from autograder.grading.inside.isolation import Isolation
from autograder.grading.reading import (
    MAX_NAMES,
    Unreadable,
    printable_name,
    read_file,
    read_notebook,
)
from autograder.grading.sandbox import NoSandbox, others_can_read
from autograder.grading.submission import Submission
from autograder.workspace.installed import installed_lessons

MAX_ENTRIES = 2000  # files of a submission that are looked at
NO_FOLDERS = {"__MACOSX", "__pycache__", "node_modules"}
LOST: dict[Isolation, str] = {
    "namespaces": "",
    "user": "This container gives no namespaces: the submission ran as a user of its "
    "own, which sees every file that all users may read.",
    "none": "This container gives no namespaces, and the judge is not root: the "
    "submission ran with the judge's rights, as --unsafe allows, and its result can "
    "be forged.",
}


@dataclass(frozen=True)
class Row:
    """An exercise that counts.

    number : among the lesson's exercises, from 1
    open_fine_point : whether it is solved, and a fine point is open
    on_top : whether its points are above the maximum
    report : all of it as the learner reads it
    """

    number: int
    name: str
    points: float
    max_points: float
    on_top: bool
    solved: bool
    open_fine_point: bool
    report: str


@dataclass(frozen=True)
class Judged:
    """What has become of a submission.

    out_of : points of what is required in the lesson
    problem : why nothing could be judged, in a sentence; "" if it was
    is_fault : whether that is no fault of the student's
    words : sentences to the student on the whole submission
    notes : for instructors alone, where the system has room for them
    """

    lesson: str
    out_of: float = 0.0
    problem: str = ""
    is_fault: bool = False
    rows: tuple[Row, ...] = ()
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def points(self) -> float:
        """Points earned, those on top included."""
        return round(sum(row.points for row in self.rows), 4)

    @property
    def max_points(self) -> float:
        """Points of what is required and counts for this submission."""
        return round(sum(r.max_points for r in self.rows if not r.on_top), 4)

    @property
    def is_solved(self) -> bool:
        """Whether all that is required is solved."""
        required = [row for row in self.rows if not row.on_top]
        return bool(required) and all(row.solved for row in required)

    @property
    def required_points(self) -> float:
        """Points earned in what is required."""
        return round(sum(r.points for r in self.rows if not r.on_top), 4)

    @property
    def text(self) -> str:
        """Return what is said of the whole submission."""
        return "\n".join([*([self.problem] if self.problem else []), *self.words])


class NotJudged(Exception):
    """A submission that cannot be judged; its text is a sentence to the student."""


def judge(folder: Path, submitted: Path, results: Path, budget: Budget) -> Judged:
    """Judge what was handed in.

    folder : of the package
    submitted : the folder with what was handed in
    results : the folder into which the result will be written
    """
    start = time.perf_counter()
    lesson, out_of = "", 0.0
    try:
        package = Package.read(folder)
        lesson, out_of = package.lesson, package.points
        verdict = _judge(package, folder, submitted, results, budget)
    except NotJudged as reason:
        verdict = Judged(lesson, out_of, str(reason))
    except CourseError as error:
        verdict = Judged(lesson, out_of, _sorry(str(error)), is_fault=True)
    except Exception as error:  # the system shows a sentence, never a traceback
        known = f"{type(error).__name__}: {error}"
        verdict = Judged(lesson, out_of, _sorry(known), is_fault=True)
    return replace(verdict, seconds=round(time.perf_counter() - start, 3))


def judge_below(
    root: Path, folders: tuple[str, str, str], arguments: Sequence[str], budget: Budget
) -> tuple[Path, Judged]:
    """Judge where a system has three folders below one, which ``--root`` replaces.

    folders : names of the package's, the submission's and the results'; that of the
        results is made if it is not there

    Returns the root, too.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=root)
    root = parser.parse_args(arguments).root
    package, submitted, results = (root / name for name in folders)
    results.mkdir(exist_ok=True)
    return root, judge(package, submitted, results, budget)


def _sorry(reason: str) -> str:
    return (
        "Nothing could be judged, through no fault of yours: tell your instructor. "
        f"The reason: {visible(reason)}"
    )


def _judge(
    package: Package, folder: Path, submitted: Path, results: Path, budget: Budget
) -> Judged:
    path, words = find_notebook(submitted, package.lesson)
    seed = read_seed(folder / SEED) if (folder / SEED).exists() else fresh_seed()
    with engine_for(package, folder, results, budget, seed) as (engine, isolation):
        words += _about_release(engine, path)
        result, times = engine.grade(
            path,
            dropped=package.dropped,
            worth=package.worth,
            optional=package.optional,
        )
    data = document(result, file=printable_name(path.name), seconds=times.get("all"))
    if data["status"] == "invalid":
        raise NotJudged(data["reason"])
    words += [f"Put right: {each}" for each in data["repairs"]]
    words += [f"Cells: {each}" for each in data["troubles"]]
    if result.not_done:
        words.append(f"Optional, not done: {', '.join(result.not_done)}")
    rows = [
        _row(number, each)
        for number, each in enumerate(data["exercises"], 1)
        if _is_shown(each, result.not_done)
    ]
    notes = [*filter(None, [LOST[isolation]]), *_notes(data)]
    return Judged(
        package.lesson,
        package.points,
        rows=tuple(rows),
        words=tuple(words),
        notes=tuple(notes),
    )


def _is_shown(exercise: dict[str, Any], not_done: Sequence[str]) -> bool:
    name, counts = exercise["exercise"], exercise["counts"]
    return counts in ("yes", "on_top") and name not in not_done


def _row(number: int, exercise: dict[str, Any]) -> Row:
    return Row(
        number,
        exercise["exercise"],
        exercise["points"],
        exercise["max_points"],
        exercise["counts"] == "on_top",
        exercise["status"] in ("solved", "fine_points_open"),
        exercise["status"] == "fine_points_open",
        exercise["report"],
    )


def _notes(data: dict[str, Any]) -> Iterator[str]:
    """Yield what instructors should look at."""
    for exercise in data["exercises"]:
        name, ours = exercise["exercise"], exercise["for_instructors"]
        for flag in ours["flags"]:
            line = f" in `{flag['line']}`" if flag["line"] else ""
            yield f"{name}: the {flag['by']} calls {flag['calls']}{line}"
        if ours["as_in_solutions"]:
            yield f"{name}: {AS_IN_SOLUTIONS}"


# --- which notebook -----------------------------------------------------------------


def find_notebook(folder: Path, lesson: str) -> tuple[Path, list[str]]:
    """Return the notebook of a submission, and what to say of the choice.

    Raises ``NotJudged`` if there is none, or one cannot tell which.
    """
    notebooks, others = _handed_in(folder)
    named = [path for path in notebooks if path.stem == lesson]
    if len(named) != 1 and len(notebooks) > 1:
        named = [path for path in notebooks if lesson in _lessons_of(path)]
    chosen = named if len(named) == 1 else notebooks
    if not notebooks:
        only = f": only {_names(others)}" if others else ""
        raise NotJudged(
            f"No notebook was handed in{only}. Hand in {lesson}.ipynb, the file that "
            "you have worked in."
        )
    if len(chosen) > 1:
        raise NotJudged(
            f"{len(chosen)} notebooks were handed in, {_names(chosen)}, and none was "
            f"judged: hand in one, {lesson}.ipynb."
        )
    (path,) = chosen
    lessons = _lessons_of(path)
    if lessons and lesson not in lessons:
        raise NotJudged(
            f"{printable_name(path.name)} is the notebook of {', '.join(lessons)}, and "
            f"this assignment is {lesson}: hand in {lesson}.ipynb."
        )
    if rest := [each for each in notebooks if each != path]:
        return path, [f"{printable_name(path.name)} was judged, not {_names(rest)}."]
    return path, []


def _handed_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the notebooks below a folder, and other files; no link is followed."""
    notebooks: list[Path] = []
    others: list[Path] = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in NO_FOLDERS)
        for name in sorted(names):
            if len(notebooks) + len(others) >= MAX_ENTRIES:
                return notebooks, others
            if not name.startswith("."):
                is_one = name.lower().endswith(".ipynb")
                (notebooks if is_one else others).append(Path(at, name))
    return notebooks, others


def _names(paths: Sequence[Path]) -> str:
    more = ["…"] if len(paths) > MAX_NAMES else []
    names = [printable_name(path.name) for path in paths[:MAX_NAMES]]
    return ", ".join([*names, *more])


def _lessons_of(path: Path) -> list[str]:
    """Return the lessons whose exercises a notebook marks, by their grade_ids."""
    try:
        cells = read_notebook(read_file(path), path.name).cells
    except Unreadable:
        return []
    marks = {cell.grade_id.removeprefix(CHECK) for cell in cells}
    return sorted(each for each, names in _exercises_of_lessons() if marks & names)


def _exercises_of_lessons() -> Iterator[tuple[str, set[str]]]:
    """Yield each lesson with the exercises of all its releases; no bank is loaded."""
    for lesson, releases in kept_releases(Course(installed_lessons())).items():
        yield lesson, {name for names in releases.values() for name in names}


def _about_release(engine: Engine, path: Path) -> list[str]:
    """Return what to say of a notebook that a newer course has made.

    Raises ``NotJudged`` if it can be read and has no exercise of the lesson.
    """
    try:
        name = read_notebook(read_file(path), path.name).release
    except Unreadable:
        return []  # its result has the reason
    if not Submission(engine.release, "", path, engine.releases).contained:
        lesson = engine.release.lesson
        raise NotJudged(
            f"{printable_name(path.name)} has no exercise of {lesson} in it: hand in "
            f"{lesson}.ipynb, the file that you have worked in."
        )
    if not name or name in engine.releases:
        return []
    return [
        f"The notebook is of release {visible(name)} of the lesson, which this package "
        "does not know: it was judged by what the package knows. Instructors: make "
        "the package again with the course that made the notebook."
    ]


# --- where it runs ------------------------------------------------------------------


@contextlib.contextmanager
def engine_for(
    package: Package, folder: Path, results: Path, budget: Budget, seed: int
) -> Iterator[tuple[Engine, Isolation]]:
    """Start the engine in the best isolation that there is here; say which.

    Raises ``NoSandbox`` if there is none and the package is not made for that.
    """
    course = Course(installed_lessons())
    ways: list[Isolation] = ["namespaces", "user"]
    if package.unsafe:
        ways.append("none")
    reasons = []
    for isolation in ways:
        try:
            if isolation == "user":
                close(folder, results)
            engine = Engine(
                course, package.lesson, isolation=isolation, budget=budget, seed=seed
            )
            engine.__enter__()
        except NoSandbox as error:
            reasons.append(str(error).partition("): ")[0])
            continue
        try:
            yield engine, isolation
        finally:
            engine.__exit__()
        return
    raise NoSandbox(
        f"submissions cannot be kept apart from the judge here ({'; '.join(reasons)}). "
        "The instructions that came with the package say what to change"
    )


def close(folder: Path, results: Path) -> None:
    """Close the package to other users, and the results to their writing.

    Raises ``NoSandbox`` if they stay open.
    """
    if os.geteuid():
        return  # the sandbox says that it needs root
    for path in (folder, *(folder / name for name in (SEED, "package.json"))):
        with contextlib.suppress(OSError):
            path.chmod(path.stat().st_mode & 0o700)
    with contextlib.suppress(OSError):
        results.chmod(results.stat().st_mode & ~0o022)
    seed = folder / SEED
    if seed.exists() and others_can_read(seed):
        raise NoSandbox(f"{seed} can be read by others, and cannot be closed")
    if results.stat().st_mode & 0o022:
        raise NoSandbox(f"{results} can be written by others, and cannot be closed")
