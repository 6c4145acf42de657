"""``nbgrader zip_collect`` for archives of Canvas and Moodle, without a pattern.

The archives lie where nbgrader wants them, in ``downloaded/<lesson>/archive``. The
extractor takes out each student's newest notebook and nothing else, the collector says
whose it is; both know what ``autograder collect`` knows.
"""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from autograder.course import Course, CourseError
from autograder.gradebook.archives import open_archive
from autograder.gradebook.collecting import choose_from, require_people, timestamp_text
from autograder.gradebook.entrance import guard_log
from autograder.grading.reading import Unreadable, printable_name
from autograder.grading.submission import TIMESTAMP


class LmsExtractor(ExtractorPlugin):
    """Takes notebooks out of archives: ``extracted/<student>/<lesson>.ipynb``."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Extract what is to be collected; name what is not."""
        guard_log(self.log)
        try:
            self._extract(Path(archive_path), Path(extracted_path))
        except CourseError as error:
            self.log.error("%s", error)
            raise SystemExit(1) from None

    def _extract(self, source: Path, target: Path) -> None:
        coursedir = self.parent.coursedir
        course = Course(Path(coursedir.root))
        lesson = course.find_lesson(coursedir.assignment_id, built=True)
        with ExitStack() as stack:
            paths = [*sorted(source.glob("*.[zZ][iI][pP]")), source]
            contents = [stack.enter_context(open_archive(path, None)) for path in paths]
            # What lies loose in the folder may be the archive itself
            contents[-1] = replace(contents[-1], left_out=())
            roster = require_people(course)
            chosen = choose_from(contents, roster, course.built_lessons, lesson)
            for sentence in chosen.left_out:
                self.log.warning("%s", sentence)
            for choice in chosen.choices:
                folder = target / choice.student
                try:
                    raw = choice.file.read()
                except Unreadable as error:
                    name = printable_name(choice.file.name)
                    self.log.warning("%s: %s %s", choice.student, name, error)
                    continue
                if choice.note:
                    self.log.warning("%s: %s", choice.student, choice.note)
                folder.mkdir(parents=True)
                (folder / f"{lesson}.ipynb").write_bytes(raw)
                if moment := timestamp_text(choice.file):
                    (folder / TIMESTAMP).write_text(f"{moment}\n", encoding="ascii")


class LmsCollector(FileNameCollectorPlugin):
    """Says whose an extracted notebook is: the folder's name is the student's id."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return student, notebook and time of a file; None for another file."""
        path = Path(submitted_file)
        if path.suffix != ".ipynb":
            return None
        submission = {"student_id": path.parent.name, "file_id": path.stem}
        time = path.with_name(TIMESTAMP)
        if time.exists():
            submission["timestamp"] = time.read_text(encoding="ascii").strip()
        return submission
