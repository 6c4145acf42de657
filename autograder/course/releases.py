"""The releases of a lesson: which exercises each had, their points, and former names.

A release is named by its exercises, their points and which of them are optional, in
the metadata of its notebooks. ``releases.json`` in the course's folder keeps what each
name stands for, the oldest first: a submission is graded on what its own release
contained, however the lesson has changed since. Notebooks from before there were names
have none.

A required exercise is kept as ``{"softmax": 5.0}``, an optional one as
``{"softmax": {"points": 5.0, "optional": true}}``. In releases from before there were
optional ones all are required.

A private lesson's releases are in ``private/releases.json``, which goes nowhere.

Under ``CELLS`` stand the digests of the lessons' other cells, of all releases: what a
submission has of an earlier release is known as the course's, not the learner's own.

Lessons have been renumbered, and one has become two. Learners' copies and gradebooks
may still have the former names; ``SUCCESSORS`` says what has become of them.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.course import Course, CourseError, write_atomically
from autograder.course.shown_code import normalised_source

FILE = "releases.json"
CELLS = "cells"  # a key of it, beside the lessons
METADATA_KEY = "attention_release"  # of a notebook's metadata: holds the name
# Of an answer cell's metadata in the learner's notebook: holds "stub", its source, and
# "earlier", a list of {"time": ISO 8601 in UTC, "source": …}, the newest last. Of a
# broken function that is there to be mended: "mend", in the teacher's its source. Of a
# prediction, "prediction"; of code that tells its answer, "tells".
ANSWER_KEY = "attention"
# Of a check's metadata under ANSWER_KEY, of a heading, and of releases.json.
OPTIONAL = "optional"
# Of a notebook's metadata: what a page of the book knows of the answers in it, such as
# when an exercise was solved. Nothing but its upload reads it.
PAGE_KEY = "attention_page"
CHECK = "check_"  # a check's grade_id is this and the exercise's name
# In the gradebook and in graded notebooks, instead of CHECK, where points are on top.
ON_TOP = "optional_"
# The former name of a lesson to the lessons that have its exercises now, in order.
SUCCESSORS: Mapping[str, tuple[str, ...]] = {
    "07_sequence_to_sequence": ("08_sequence_to_sequence",),
    "08_transformer": ("09_transformer",),
    "09_translation": ("10_training", "11_translation"),
    "15_bug_hunt": ("16_bug_hunt",),
}


class Points(dict[str, float]):
    """What each exercise of a release is worth, in the order of the lesson.

    optional : those of the exercises that need not be done

    >>> Points({"a": 5.0}) == {"a": 5.0}, Points({"a": 5.0}, ["a"]) == {"a": 5.0}
    (True, False)
    """

    def __init__(
        self,
        points: Mapping[str, float] | Iterable[tuple[str, float]] = (),
        optional: Collection[str] = (),
    ) -> None:
        """Keep the points; optional is only what has some."""
        super().__init__(points)
        self.optional = frozenset(self.keys() & {*optional})

    def __eq__(self, other: object) -> bool:
        """Compare points, and which exercises are optional."""
        return dict.__eq__(self, other) is True and self.optional == optional_of(other)

    def __ne__(self, other: object) -> bool:
        """Compare likewise: a dict's own would not."""
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        """Return what tells it from others: keys of verdicts are made of it."""
        optional = f", {sorted(self.optional)}" if self.optional else ""
        return f"{dict(self)!r}{optional}"


def optional_of(points: object) -> frozenset[str]:
    """Return which exercises are optional; of a plain mapping, none."""
    return points.optional if isinstance(points, Points) else frozenset()


def exercise_of(cell: str) -> str:
    """Return the exercise of a graded cell in the gradebook.

    >>> exercise_of("check_softmax"), exercise_of("optional_softmax")
    ('softmax', 'softmax')
    """
    return cell.removeprefix(CHECK if cell.startswith(CHECK) else ON_TOP)


def release_name(points: Mapping[str, float]) -> str:
    """Return the name of the release that has these exercises and points.

    >>> release_name({"b": 2.0, "a": 1.5}) == release_name({"a": 1.5, "b": 2})
    True
    >>> release_name(Points({"a": 1.5}, ["a"])) == release_name({"a": 1.5})
    False
    """
    text = json.dumps(sorted((name, float(worth)) for name, worth in points.items()))
    if optional := optional_of(points):  # others have the names that they always had
        text += json.dumps(sorted(optional))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def former_names(course: Course) -> dict[str, tuple[str, ...]]:
    """Return the former names of lessons, each with its lessons of today.

    Only those whose lessons are all built, and that no lesson of the course has.
    """
    built = {*course.built_lessons}
    return {
        former: successors
        for former, successors in SUCCESSORS.items()
        if former not in built and built.issuperset(successors)
    }


def kept_releases(course: Course) -> dict[str, dict[str, Points]]:
    """Return what is kept: lesson to name to points; raises ``CourseError``."""
    return _read_kept(course)[0]


def kept_cells(course: Course) -> frozenset[str]:
    """Return the digests of all releases' cells; raises ``CourseError``."""
    return frozenset(_read_kept(course)[1])


def releases_file(course: Course, lesson: str) -> Path:
    """Return the file that keeps a lesson's releases."""
    return (course.private if course.is_private(lesson) else course.root) / FILE


def _read_kept(course: Course) -> tuple[dict[str, dict[str, Points]], list[str]]:
    """Read what is kept: releases by lesson, and digests of cells."""
    by_lesson, digests = _read_file(course, course.root / FILE)
    of_private, more = _read_file(course, course.private / FILE)
    return by_lesson | of_private, digests + more


def _read_file(
    course: Course, path: Path
) -> tuple[dict[str, dict[str, Points]], list[str]]:
    """Read one of the files."""
    try:
        by_lesson = json.loads(path.read_text(encoding="utf-8"))
        digests = [str(digest) for digest in by_lesson.pop(CELLS, [])]
        return {
            lesson: {name: _points(contained) for name, contained in releases.items()}
            for lesson, releases in by_lesson.items()
        }, digests
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        name = course.relative(path)
        raise CourseError(f"{name} cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, AttributeError, LookupError):
        raise CourseError(
            f"{course.relative(path)} is damaged: bring it back from git or a backup; "
            "without it, nobody knows which exercises earlier releases had"
        ) from None


def _points(contained: Mapping[str, Any]) -> Points:
    """Return what is kept of a release, in either form."""
    points, optional = {}, []
    for exercise, entry in contained.items():
        is_mapping = isinstance(entry, Mapping)
        points[exercise] = float(entry["points"] if is_mapping else entry)
        if is_mapping and entry.get(OPTIONAL):
            optional.append(exercise)
    return Points(points, optional)


def _as_kept(points: Points) -> dict[str, Any]:
    """Return the form in which a release is kept."""
    return {
        name: {"points": worth, OPTIONAL: True} if name in points.optional else worth
        for name, worth in points.items()
    }


def known_releases(
    course: Course, lesson: str, current: Mapping[str, float]
) -> dict[str, Points]:
    """Return a lesson's releases by name, the one in ``notebooks/`` as the last.

    current : what that one has
    """
    releases = dict(kept_releases(course).get(lesson, {}))
    releases.pop(release_name(current), None)
    points = Points(current, optional_of(current))
    return releases | {release_name(points): points}


def last_points(releases: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return what each exercise of any release is worth: by the newest that has it.

    releases : the oldest first

    >>> last_points({"old": {"a": 1.0, "b": 1.0}, "new": {"a": 2.0}})
    {'a': 2.0, 'b': 1.0}
    """
    points: dict[str, float] = {}
    for release in releases.values():
        points |= release
    return points


def how_to_drop(exercises: Sequence[str]) -> str:
    """Return which commands let exercises count for nobody, as a clause.

    >>> how_to_drop(["a", "b"])
    '`autograder drop a` and `autograder drop b` let them count for nobody'
    """
    commands = " and ".join(f"`autograder drop {name}`" for name in exercises)
    verb = "lets it" if len(exercises) == 1 else "let them"
    return f"{commands} {verb} count for nobody"


def cell_digest(source: str) -> str:
    """Return what is kept of a cell's text: too long for another text to be found.

    >>> cell_digest("x = 1  ") == cell_digest("x = 1\\n") != cell_digest("x = 2")
    True
    """
    return hashlib.sha256(normalised_source(source).encode()).hexdigest()[:16]


def with_release(
    course: Course, lesson: str, points: Mapping[str, float], texts: Iterable[str] = ()
) -> str:
    """Return the text of the lesson's ``releases.json`` with a release in it.

    texts : of its cells, without the answers' and the checks'
    """
    by_lesson, digests = _read_file(course, releases_file(course, lesson))
    own = Points(points, optional_of(points))
    by_lesson.setdefault(lesson, {}).setdefault(release_name(own), own)
    entries: dict[str, Any] = {
        each: {name: _as_kept(points) for name, points in releases.items()}
        for each, releases in sorted(by_lesson.items())
    }
    if cells := sorted({*digests, *map(cell_digest, texts)}):
        entries[CELLS] = cells
    return json.dumps(entries, indent=1) + "\n"


def keep_release(course: Course, lesson: str, points: Mapping[str, float]) -> None:
    """Keep what the notebook in ``notebooks/`` contains, unless that is kept already.

    A build has kept it; a notebook that nbgrader alone has released comes in here.
    """
    if release_name(points) in kept_releases(course).get(lesson, {}):
        return
    path = releases_file(course, lesson)
    try:
        write_atomically(path, with_release(course, lesson, points))
    except OSError as error:
        name = course.relative(path)
        raise CourseError(f"{name} cannot be written ({error.strerror})") from None


def own_release(
    releases: Mapping[str, Mapping[str, float]],
    name: str,
    contained: Collection[str],
    marked: Mapping[str, bool] | None = None,
) -> str:
    """Return the name of the release that a submission is to be graded on.

    releases : the known ones, the oldest first, the current one last
    name : as the submission's metadata has it; "" if it has none
    contained : exercises of which the submission has a cell
    marked : of its checks, exercise to whether it says that it is optional

    What a notebook contains beyond the release that it names counts too. Without a
    name it is the smallest release that has all that is contained: whoever deletes
    cells is excused from nothing but what some release did not have. Of several it is
    the newest in which the same exercises are optional as its checks say. Programs that
    leave the name out may leave that out, too: then it is the newest. Where nothing is
    recognised, it is the current one.

    >>> releases = {"old": {"a": 1.0, "b": 1.0}, "new": {"a": 1.0, "b": 1.0, "c": 2.0}}
    >>> own_release(releases, "", ["a"]), own_release(releases, "new", ["a", "b"])
    ('old', 'new')
    """
    needed = {*contained, *releases.get(name, ())}
    covering = [each for each in releases if needed and needed <= {*releases[each]}]
    if name in covering:
        return name
    if not covering:
        return [*releases][-1]
    fewest = min(len(releases[each]) for each in covering)
    smallest = [each for each in covering if len(releases[each]) == fewest]
    agreeing = [each for each in smallest if _agrees(releases[each], marked or {})]
    return (agreeing or smallest)[-1]


def _agrees(release: Mapping[str, float], marked: Mapping[str, bool]) -> bool:
    """Return whether the same exercises are optional, of those that are marked."""
    optional = optional_of(release)
    return all(
        is_optional == (name in optional)
        for name, is_optional in marked.items()
        if name in release
    )


def nbgrader_marks(grade_id: str, *, points: float | None = None) -> dict[str, Any]:
    """Return what nbgrader needs in the metadata of a graded cell.

    points : of a check; None for an exercise's answer
    """
    is_check = points is not None
    marks: dict[str, Any] = {
        "grade": is_check,
        "grade_id": grade_id,
        "locked": is_check,
        "schema_version": 3,
        "solution": not is_check,
        "task": False,
    }
    if points is not None:
        marks["points"] = int(points) if points == int(points) else points
    return marks
