"""Write what came of a class to where people look: autograded notebooks, gradebook.

The gradebook is written in batches; whatever a killed run has left out, the next one
adds, since only differences are written.
"""

from time import monotonic

from autograder.course import Course, CourseError
from autograder.gradebook.autograded import autograded_notebook, write_autograded
from autograder.gradebook.database import Entry, Gradebook, entry_of
from autograder.gradebook.folders import graded_path
from autograder.grading.journal import Journal
from autograder.grading.verdicts import Graded

BETWEEN_BATCHES = 5.0  # seconds


class Records:
    """The records of one lesson.

    fault : why the last batch is not in the gradebook, "" if it is
    """

    def __init__(
        self, course: Course, lesson: str, journal: Journal, gradebook: Gradebook | None
    ) -> None:
        """Take the gradebook, if it is to be written; the lesson is open there."""
        self.course = course
        self.lesson = lesson
        self.journal = journal
        self.gradebook = gradebook
        self.fault = ""
        self._batch: list[Entry] = []
        self._written = monotonic()

    def keep(self, graded: Graded) -> None:
        """Write a submission's autograded notebook, and its grades with a batch."""
        if graded.fault:
            return
        student = graded.submission.student
        timestamp = graded.submission.timestamp
        if graded.fresh or not graded_path(self.course, self.lesson, student).is_file():
            text = self.autograded(graded)
            write_autograded(self.course, self.lesson, student, text, timestamp)
        self._batch.append(entry_of(graded.result, timestamp))
        if monotonic() - self._written > BETWEEN_BATCHES:
            self.flush()

    def enter(self, graded: Graded) -> None:
        """Write a submission's grades now; raises ``CourseError`` if that fails."""
        if self.gradebook:
            entry = entry_of(graded.result, graded.submission.timestamp)
            self.gradebook.enter(self.lesson, [entry])

    def autograded(self, graded: Graded) -> str:
        """Give the text of a submission's autograded notebook."""
        judged = graded.judged or self.journal.verdicts(graded.kept.key)
        outputs = judged.outputs if judged else {}
        placed = graded.submission.placed
        return autograded_notebook(self.course, placed, graded.result, outputs)

    def flush(self) -> None:
        """Write the batch; one that could not be written goes with the next."""
        if self.gradebook and self._batch:
            try:
                self.gradebook.enter(self.lesson, self._batch)
                self._batch, self.fault = [], ""
            except CourseError as error:
                self.fault = str(error)
        self._written = monotonic()
