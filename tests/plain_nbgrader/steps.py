"""Release and grade as nbgrader does it by itself: each notebook run in a kernel.

Run these in a process of their own (``process``). nbgrader is imported inside them: it
takes two seconds, which the caller need not spend.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbgrader.converters.base import BaseConverter
    from traitlets.config import Config


def release(folder: Path, lesson: str) -> None:
    """Make the learner's notebook of a lesson and enter it into the gradebook."""
    from nbgrader.converters import GenerateAssignment

    converter = _converter(GenerateAssignment, folder, lesson)
    converter.force = True  # the folder has a released notebook, but no gradebook
    converter.start()


def autograder(folder: Path, lesson: str, students: str = "*") -> "BaseConverter":
    """Return what grades the students whose names match, once it is started."""
    from nbgrader.converters import Autograde

    return _converter(Autograde, folder, lesson, students)


def autograde(folder: Path, lesson: str) -> dict[str, dict[str, float]]:
    """Grade everybody; return the points that are in the gradebook then."""
    autograder(folder, lesson).start()
    return points(folder, lesson)


def points(folder: Path, lesson: str) -> dict[str, dict[str, float]]:
    """Return each student's points for each check.

    Raises ``ValueError`` if nbgrader wants a person to grade one.
    """
    from nbgrader.api import Gradebook

    by_student: dict[str, dict[str, float]] = {}
    url = _config(folder).CourseDirectory.db_url
    with Gradebook(url, "attention") as book:
        for submission in book.assignment_submissions(lesson):
            (notebook,) = submission.notebooks
            scores = by_student.setdefault(submission.student.id, {})
            for grade in notebook.grades:
                if grade.needs_manual_grade:
                    raise ValueError(f"{submission.student.id}: {grade.name}")
                scores[grade.name] = grade.score
    return by_student


def _config(folder: Path) -> "Config":
    """Return the course's configuration, but with nbgrader's own exporters."""
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    for name in ("Autograde", "GenerateFeedback"):
        config[name].pop("exporter_class", None)
    return config


def _converter(
    kind: "type[BaseConverter]", folder: Path, lesson: str, students: str = "*"
) -> "BaseConverter":
    from nbgrader.coursedir import CourseDirectory

    config = _config(folder)
    config.CourseDirectory.assignment_id = lesson
    config.CourseDirectory.student_id = students
    return kind(coursedir=CourseDirectory(config=config), config=config)
