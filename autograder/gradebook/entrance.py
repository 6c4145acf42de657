"""What nbgrader may touch of what students send: notebooks, times, secrets, no more.

nbgrader copies whatever lies beside a notebook, and follows links: one to a device
fills the disk, one to a file of the instructor's copies that. Only the notebook is
graded, so nothing else comes in.
"""

import glob
import itertools
import logging
import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from autograder.course import Course, CourseError
from autograder.gradebook.formulas import serve_formulas
from autograder.gradebook.lateness import NO_TIME, parse_timestamp
from autograder.gradebook.safe_html import visible
from autograder.gradebook.writing import student_id_fault
from autograder.grading.classroom import submission_path
from autograder.grading.reading import (
    MAX_BYTES,
    Unreadable,
    kind_of_entry,
    printable_name,
    read_bytes,
    spelled_out,
)
from autograder.grading.submission import (
    MAX_ENTRIES,
    MAX_TIMESTAMP_BYTES,
    SECRET,
    TIMESTAMP,
    choice_of_notebook,
    read_secret,
)

MAX_NAMES = 3  # of them that are named


def guard(converter: Any) -> None:
    """Make ``nbgrader autograde`` enter students by their ids and copy nothing.

    converter : nbgrader's, for one call

    - It enters who has handed in before it calls an exporter, and its page of a student
      holds the name as it is: a script in it would run there.
    """
    enter: Callable[[str, str], None] = converter.init_assignment
    coursedir = converter.coursedir
    format_path = coursedir.format_path

    def enter_guarded(lesson: str, student: str) -> None:
        if fault := student_id_fault(student):
            raise CourseError(f"{spelled_out(student)!r} is not graded: {fault}")
        who = spelled_out(student)
        folder = Path(converter._format_source(lesson, student))
        if odd := odd_entries(folder):
            converter.log.warning(
                "%s: only the notebook is graded; beside it are %s", who, odd
            )
        path = submission_path(Course(Path(coursedir.root)), lesson, student)
        if choice := choice_of_notebook(path, lesson):
            converter.log.warning("%s: %s", who, choice)
        moment = coursedir.get_existing_timestamp(str(folder))
        if moment is None and os.path.lexists(folder / TIMESTAMP):
            converter.log.warning(NO_TIME.format(who, lesson))
        with tempfile.TemporaryDirectory() as stand_in:
            # A notebook that is not there would get zero points.
            Path(stand_in, f"{lesson}.ipynb").touch()
            if moment:
                text = f"{moment.isoformat(' ')} UTC\n"
                Path(stand_in, TIMESTAMP).write_text(text, encoding="ascii")
            if secret := read_secret(folder, folder.parents[1]):
                Path(stand_in, SECRET).write_text(secret, encoding="ascii")
            coursedir.format_path = lambda step, *names, **options: (
                stand_in
                if step == coursedir.submitted_directory
                else format_path(step, *names, **options)
            )
            try:
                enter(lesson, student)
            finally:
                coursedir.format_path = format_path

    converter.init_assignment = enter_guarded
    guard_log(converter.log)
    guard_timestamps(coursedir)


def guard_autograde() -> None:
    """Make ``nbgrader autograde`` take every student's folder, whatever is in it.

    It would skip one without a notebook of the lesson's name, take away its grades, and
    stop where there is no other. Which notebook is graded is decided where it is read,
    as for ``autograder grade``. Called by ``nbgrader_config.py``.
    """
    from nbgrader.converters import Autograde

    init = Autograde.init_notebooks
    if hasattr(init, "__wrapped__"):
        return

    @wraps(init)
    def init_notebooks(converter: Any) -> None:
        coursedir = converter.coursedir
        names = coursedir.assignment_id, coursedir.student_id
        folders = glob.glob(converter._format_source(*names))  # noqa: PTH207 - as there
        if not folders or not hasattr(converter.exporter_class, "grader"):
            init(converter)  # nobody has handed in, or another engine grades
            return
        converter.notebooks = []
        converter.assignments = {
            folder: [str(Path(folder, f"{Path(folder).name}.ipynb"))]
            for folder in folders
        }

    Autograde.init_notebooks = init_notebooks


def guard_timestamps(coursedir: Any) -> None:
    """Make nbgrader read ``timestamp.txt`` only where it is a short file.

    It would wait for a pipe without end, and stop at what is no time.
    """
    coursedir.get_existing_timestamp = _timestamp_in


def guard_formgrader() -> None:
    """Make formgrader's lists read ``timestamp.txt`` in the same way.

    One student's would keep the page of all from being shown. What lies beside a graded
    notebook is not served: by the secret there a student's feedback is found. Called by
    ``nbgrader_config.py`` where formgrader loads it.
    """
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.server_extensions.formgrader.handlers import SubmissionFilesHandler
    from tornado.web import HTTPError

    def submitted(api: NbGraderAPI, lesson: str, student: str) -> datetime | None:
        directory = api.coursedir.submitted_directory
        folder = api.coursedir.format_path(directory, student, lesson)
        return _timestamp_in(str(Path(folder).absolute()))

    def no_file(*_: Any) -> str:
        raise HTTPError(404)

    settle_after_grades_by_hand()
    serve_formulas()
    NbGraderAPI.get_submitted_timestamp = submitted
    SubmissionFilesHandler.parse_url_path = no_file


def settle_after_grades_by_hand() -> None:
    """Make formgrader bring a late penalty up to date with a grade that it enters.

    nbgrader computes penalties only where it grades.
    """
    from nbgrader.server_extensions.formgrader.apihandlers import GradeHandler

    from autograder.gradebook.database import Gradebook

    put = GradeHandler.put
    if getattr(put, "settles", False):
        return

    @wraps(put)
    def put_and_settle(handler: Any, grade_id: str) -> None:
        put(handler, grade_id)
        lesson = handler.gradebook.find_grade_by_id(grade_id).assignment.name
        handler.gradebook.db.commit()  # ends its reading, so that there can be writing
        try:
            Gradebook(Course(Path(handler.coursedir.root))).settle(lesson)
        except CourseError as error:
            handler.log.warning("late penalties are not up to date: %s", error)

    put_and_settle.settles = True  # type: ignore[attr-defined]  # a mark on a function
    GradeHandler.put = put_and_settle


def _timestamp_in(folder: str) -> datetime | None:
    """Return the time in a submission's folder; None if there is none to be read."""
    path = Path(folder, TIMESTAMP)
    try:
        raw = read_bytes(path, path.parents[2], MAX_TIMESTAMP_BYTES)
    except Unreadable:
        return None
    return parse_timestamp(raw.decode("utf-8", "replace"))


def guard_log(log: Any) -> None:
    """Make what nbgrader logs do nothing to a terminal: names of files are in it."""
    log.addFilter(_harmless_record)


def _harmless_record(record: logging.LogRecord) -> bool:
    record.msg, record.args = visible(record.getMessage()), ()
    return True


def odd_entries(folder: Path) -> str:
    """Name some entries of a folder that are neither files nor folders; "" if none."""
    try:
        with os.scandir(folder) as entries:
            odd = [
                f"{printable_name(entry.name)} ({kind_of_entry(entry)})"
                for entry in itertools.islice(entries, MAX_ENTRIES)
                if not entry.is_file(follow_symlinks=False)
                and not entry.is_dir(follow_symlinks=False)
            ]
    except OSError:  # what is wrong with the folder, the reading of the notebook says
        return ""
    more = ["and more"] if len(odd) > MAX_NAMES else []
    return ", ".join(sorted(odd)[:MAX_NAMES] + more)


class NotebookCollect(ExchangeCollect):
    """Collects notebooks, times and secrets from nbgrader's exchange, nothing else."""

    def copy_files(self) -> None:
        """Collect everybody's latest submission."""
        guard_log(self.log)
        guard_timestamps(self.coursedir)
        super().copy_files()

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Return who has handed in and when, from the name of a folder of a student's.

        Without a possible time it is older than all others.
        """
        name = Path(path).name
        student, lesson, time = name.rsplit("+", 3)[:3]
        moment = parse_timestamp(time)
        if moment is None:
            self.log.warning(NO_TIME.format(spelled_out(student), lesson))
        return {
            "username": student,
            "filename": name,
            "timestamp": moment or datetime.min,
        }

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a submission; what cannot be read is named and left out."""
        source, folder = Path(src), Path(dest)
        student = folder.parent.name
        if fault := student_id_fault(student):
            self.log.warning("%r is not collected: %s", student, fault)
            return
        folder.mkdir(parents=True)
        names = sorted(path.name for path in source.glob("*.ipynb"))
        for name in [TIMESTAMP, *names[:MAX_ENTRIES]]:
            try:
                raw = read_bytes(source / name, source.parent, MAX_BYTES)
            except Unreadable as error:
                self.log.warning("%s: %s", student, error)
            else:
                (folder / name).write_bytes(raw)
        if secret := read_secret(source, source.parent):
            (folder / SECRET).write_text(secret, encoding="ascii")
        else:
            self.log.warning(
                "%s: no %s, by which the exchange would return feedback",
                *(student, SECRET),
            )
