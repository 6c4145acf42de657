"""The demo's course folder: the lesson, the configuration and the class's submissions.

It is a course folder like any other, so each command works in it.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import nbformat

from autograder.course import Course, CourseError
from autograder.demo.students import LESSON, Student
from autograder.demo.submissions import submit

# Whatever the course's own configuration says: its gradebook is not for the demo.
OWN_GRADEBOOK = """
# The demo's gradebook lies beside this file.
c.CourseDirectory.db_url = {url!r}
"""


def make_folder(course: Course, folder: Path, students: Sequence[Student]) -> None:
    """Make a course folder with the lesson and the students' submissions.

    folder : an earlier one is replaced
    """
    for path in (course.teacher(LESSON), course.learner(LESSON)):
        if not path.is_file():
            raise CourseError(
                f"{course.relative(path)} is missing: run `make build` first, which "
                "makes the notebooks"
            )
    try:
        if folder.exists():
            shutil.rmtree(folder)
        _copy(course, folder)
    except OSError as error:
        raise CourseError(
            f"{error.filename or folder} cannot be written or replaced "
            f"({error.strerror or error}): mend that and call again"
        ) from None
    learner = nbformat.read(course.learner(LESSON), as_version=4)
    for student in students:
        submit(folder, LESSON, learner, student)


def _copy(course: Course, folder: Path) -> None:
    paths = (course.source(LESSON), course.teacher(LESSON), course.learner(LESSON))
    for path in filter(Path.is_file, paths):
        copy = folder / path.relative_to(course.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    text = (course.root / "nbgrader_config.py").read_text(encoding="utf-8")
    own = OWN_GRADEBOOK.format(url=f"sqlite:///{folder / 'gradebook.db'}")
    (folder / "nbgrader_config.py").write_text(text + own, encoding="utf-8")
