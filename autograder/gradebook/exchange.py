"""Feedback through nbgrader's exchange: ``nbgrader release_feedback`` calls this.

The exchange names each page by a hash of a secret that only the student and the course
have; whoever does not know the secret cannot find the page.
"""

import glob
import os
import shutil
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from autograder.course import Course
from autograder.gradebook.entrance import guard_log
from autograder.gradebook.folders import FEEDBACK
from autograder.grading.classroom import submission_path
from autograder.grading.reading import printable_name
from autograder.grading.submission import SECRET, TIMESTAMP, read_secret


class FeedbackRelease(ExchangeReleaseFeedback):
    """Releases the pages of one student after the other.

    nbgrader stops at the first whose submission has not come through the exchange.
    """

    def copy_files(self) -> None:
        """Release everybody's page; name those who cannot get theirs this way."""
        guard_log(self.log)
        lesson = self.coursedir.assignment_id
        excluded = self.coursedir.student_id_exclude.split(",")
        pattern = f"{self.coursedir.student_id or '*'}/{lesson}"
        folders = sorted(Path(self.coursedir.root, FEEDBACK).glob(pattern))
        if not folders:
            self.log.warning(
                "There is no feedback on %s: run `autograder feedback %s` first",
                *(lesson, lesson[:2]),
            )
        for folder in folders:
            student = folder.parent.name
            if student in excluded:
                continue
            secret = read_secret(folder, folder.parents[1])
            if not secret or not os.path.lexists(folder / TIMESTAMP):
                self.log.warning(
                    "%s gets no page on %s through the exchange: the submission came "
                    "without its %s; if `submitted/` has that by now, grade and make "
                    "the feedback again, else send the page in another way",
                    *(printable_name(student), lesson, SECRET),
                )
                continue
            self.src_path = glob.escape(str(folder))
            super().copy_files()
            self._release_renamed(folder / f"{lesson}.html", student, secret)

    def _release_renamed(self, page: Path, student: str, secret: str) -> None:
        """Release a page also under the name that the student gave the notebook.

        ``nbgrader fetch_feedback`` asks for that one.
        """
        course = Course(Path(self.coursedir.root))
        name = submission_path(course, page.stem, student).stem
        if name != page.stem and page.is_file():
            code = notebook_hash(secret=secret, notebook_id=name)
            shutil.copy(page, Path(self.dest_path, f"{code}.html"))
