"""From an archive of Canvas or Moodle into nbgrader's ``submitted`` folder.

A student's notebook and time are written together or not at all, and a newer submission
is never replaced by an older one. What is there already stays as it is.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from autograder.course import Course, CourseError, write_together
from autograder.gradebook.archives import ArchiveContents, ArchivedFile
from autograder.gradebook.database import Gradebook
from autograder.gradebook.grades import Person
from autograder.gradebook.lateness import parse_timestamp
from autograder.gradebook.owners import (
    Match,
    Owner,
    match_people,
    person_in_words,
)
from autograder.gradebook.writing import student_id_fault
from autograder.grading.reading import Unreadable, printable_name, spelled_out
from autograder.grading.submission import SUBMITTED, TIMESTAMP
from autograder.grading.workers import interrupts_ignored

# What systems and browsers add to the name of a file that is handed in again
COPY = r"(?:[ _]?\(\d{1,4}\)|[-_ ]+\d{1,4}|[-_ ]*copy[-_ ]?\d{0,4})*"
Outcome = Literal["new", "replaced", "as before", "older", "not collected"]
Times = Literal["auto", "archive", "none"]
_KINDS = {True: "folder", False: "file"}


@dataclass(frozen=True)
class Choice:
    """A student's submission of a lesson, and what else the archive has of it.

    others : notebooks that are older, or whose names say nothing
    """

    student: str
    lesson: str
    file: ArchivedFile
    others: tuple[ArchivedFile, ...] = ()

    @property
    def note(self) -> str:
        """What is worth saying of it, "" for nothing."""
        notes = ["marked late"] if self.file.late else []
        if not version(self.file, self.lesson):
            notes.append(f"called {printable_name(self.file.name)}")
        if self.others:
            others = ", ".join(printable_name(each.name) for each in self.others)
            name = printable_name(self.file.name)
            notes.append(f"the newest is taken, {name}, and not {others}")
        return "; ".join(notes)


@dataclass(frozen=True)
class Chosen:
    """What an archive has for a class.

    left_out : a sentence for each person who has nothing in it that can be taken
    """

    choices: tuple[Choice, ...]
    left_out: tuple[str, ...]


def require_people(course: Course) -> list[Person]:
    """Return the gradebook's students; raises ``CourseError`` if there are none."""
    gradebook = Gradebook(course)
    people = gradebook.people()
    if not people:
        raise CourseError(
            f"{gradebook.path} has no students to whom submissions could belong: enter "
            "them with `autograder roster FILE.csv` (columns id, first_name, "
            "last_name, lms_user_id, or what Canvas or Moodle exports)"
        )
    return list(people.values())


# --- which file is whose submission of what ---------------------------------------


def version(file: ArchivedFile, lesson: str) -> tuple[int, ...]:
    """Return a notebook's version if its name says the lesson, else ().

    The first is (0,), ``…-2`` is (0, 2).
    """
    if not re.fullmatch(re.escape(lesson) + COPY, file.stem, re.IGNORECASE):
        return ()
    return 0, *map(int, re.findall(r"\d+", file.stem[len(lesson) :]))


def choose(
    files: Sequence[ArchivedFile],
    roster: Sequence[Person],
    lessons: Sequence[str],
    lesson: str = "",
) -> Chosen:
    """Choose each student's submission.

    lessons : all that there are
    lesson : the one that the archive is of; "": what the notebooks' names say

    Raises ``CourseError`` if neither says it.
    """
    named = {each for each in lessons if any(version(file, each) for file in files)}
    if not lesson and not named and files:
        raise CourseError(
            "no notebook's name says which lesson the archive is of: name it with "
            "--lesson"
        )
    wanted = [lesson] if lesson else sorted(named)
    only = wanted[0] if len(wanted) == 1 else ""
    by_owner: dict[Owner, list[ArchivedFile]] = defaultdict(list)
    for file in files:
        by_owner[file.owner].append(file)
    matches = match_people(files, roster)
    choices, left_out = [], []
    for owner, own in sorted(by_owner.items(), key=lambda each: each[0]):
        match = matches[owner]
        if match.student and (fault := student_id_fault(match.student)):
            match = Match(
                reason=f"{spelled_out(match.student)!r} is not collected: {fault}"
            )
        if not match.student:
            left_out.append(match.reason)
            continue
        taken = [
            choice
            for each in wanted
            if (choice := _choice(match.student, each, own, lessons, each == only))
        ]
        choices += taken
        if not taken:
            names = ", ".join(printable_name(file.name) for file in own)
            left_out.append(
                f"{match.student} ({person_in_words(owner)}) has handed in no notebook"
                f"{f' of {only}' if only else ''}, only {names}: ask for the .ipynb "
                "file itself"
            )
    return Chosen(tuple(choices), tuple(left_out))


def choose_from(
    archives: Sequence[ArchiveContents],
    roster: Sequence[Person],
    lessons: Sequence[str],
    lesson: str = "",
) -> Chosen:
    """Choose each student's submission from several archives: see ``choose``.

    People are matched within each: Moodle gives other numbers in the next.
    """
    choices: dict[tuple[str, str], Choice] = {}
    left_out: list[str] = []
    for archive in archives:
        chosen = choose(archive.files, roster, lessons, lesson)
        left_out += [*archive.left_out, *chosen.left_out]
        for choice in chosen.choices:
            key = choice.student, choice.lesson
            older, newer = sorted([choices.get(key, choice), choice], key=_age)
            if older is not newer:
                others = (older.file, *older.others, *newer.others)
                newer = replace(newer, others=others)
            choices[key] = newer
    return Chosen(tuple(choices[key] for key in sorted(choices)), tuple(left_out))


def _age(choice: Choice) -> tuple[int, datetime]:
    return choice.file.attachment, choice.file.moment or datetime.min


def _choice(
    student: str,
    lesson: str,
    files: Sequence[ArchivedFile],
    lessons: Sequence[str],
    any_name: bool,
) -> Choice | None:
    """Return a student's submission of a lesson, None if there is none.

    any_name : whether a notebook whose name says no lesson at all may be one
    """
    notebooks = [file for file in files if file.stem]
    candidates = [file for file in notebooks if version(file, lesson)]
    if not candidates and any_name:
        candidates = [
            file for file in notebooks if not any(version(file, x) for x in lessons)
        ]
    if not candidates:
        return None
    *others, newest = sorted(
        candidates,
        key=lambda file: (
            file.attachment,
            file.moment or datetime.min,
            version(file, lesson),
        ),
    )
    return Choice(student, lesson, newest, tuple(reversed(others)))


# --- into the folder --------------------------------------------------------------


@dataclass(frozen=True)
class Collected:
    """What has become of a student's submission.

    note : what is worth saying, "" for nothing
    """

    student: str
    lesson: str
    outcome: Outcome
    note: str = ""


def timestamp_text(file: ArchivedFile, times: Times = "auto") -> str:
    """Return what ``timestamp.txt`` is to say, "" if the archive does not know.

    The time at which the archive was made would make everybody late who is collected
    after the last day.
    """
    known = times == "archive" or (times == "auto" and not file.packed)
    return f"{file.moment:%Y-%m-%d %H:%M:%S.%f} UTC" if known and file.moment else ""


def collect(
    course: Course,
    choices: Sequence[Choice],
    times: Times = "auto",
    force: bool = False,
) -> Iterator[Collected]:
    """Write submissions, each as a whole, and yield what has become of it.

    force : whether to replace a newer submission too
    """
    for choice in choices:
        try:
            raw = choice.file.read()
        except Unreadable as error:
            name = printable_name(choice.file.name)
            note = f"{name} {str(error).rstrip('.')}"
            yield Collected(choice.student, choice.lesson, "not collected", note)
            continue
        yield _write(course, choice, raw, timestamp_text(choice.file, times), force)


def _write(
    course: Course, choice: Choice, raw: bytes, timestamp: str, force: bool
) -> Collected:
    folder = course.root / SUBMITTED / choice.student / choice.lesson
    notebook, time = folder / f"{choice.lesson}.ipynb", folder / TIMESTAMP

    def collected(outcome: Outcome, *notes: str) -> Collected:
        note = "; ".join(each for each in notes if each)
        return Collected(choice.student, choice.lesson, outcome, note)

    for path in (folder.parent, folder, notebook, time):
        is_folder = path in (folder.parent, folder)
        if path.is_symlink() or (path.exists() and path.is_dir() != is_folder):
            return collected(
                "not collected",
                f"{course.relative(path)} is no ordinary {_KINDS[is_folder]}: move it "
                "away",
            )
    try:
        outcome: Outcome = "new"
        if notebook.exists():
            outcome = "replaced"
            there, moment = _handed_in(folder), choice.file.moment
            if notebook.read_bytes() == raw:
                if time.exists() or not timestamp:  # it may have been put right by hand
                    return collected("as before")
            elif moment and there > moment and not force:
                return collected(
                    "older",
                    f"what is there is newer ({_in_words(there)}, the archive's is of "
                    f"{_in_words(moment)}) and stays; --force replaces it",
                )
        # The time first: killed between the two, the next call still sees a difference
        files: dict[Path, str | bytes] = {time: f"{timestamp}\n"} if timestamp else {}
        with interrupts_ignored():
            if not timestamp:
                time.unlink(missing_ok=True)
            write_together(files | {notebook: raw})
            if moment := choice.file.moment:
                seconds = moment.replace(tzinfo=UTC).timestamp()
                os.utime(notebook, (seconds, seconds))
    except OSError as error:
        reason = f"{course.relative(folder)} cannot be written ({error.strerror})"
        return collected("not collected", reason)
    return collected(outcome, choice.note)


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace").strip() if path.exists() else ""


def _handed_in(folder: Path) -> datetime:
    """Return from when a submission is that is there, as well as that is known."""
    if moment := parse_timestamp(_text(folder / TIMESTAMP)):
        return moment
    notebook = folder / f"{folder.name}.ipynb"
    modified = datetime.fromtimestamp(int(notebook.stat().st_mtime), UTC)
    return modified.replace(tzinfo=None)


def _in_words(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
