"""Which file of a submission is the student's notebook."""

from autograder.course import Course
from autograder.grading import classroom
from tests.grading.class_folder import (
    hand_in,
)
from tests.submissions import LESSON


def test_renamed_notebook_is_graded_if_it_is_alone(root):
    hand_in(root, "amara")
    folder = root / "submitted" / "amara" / LESSON
    renamed = folder / "01 (1).IPYNB"
    (folder / f"{LESSON}.ipynb").rename(renamed)
    (folder / ".hidden.ipynb").write_text("")
    (folder / "notes.txt").write_text("")
    course = Course(root)
    assert classroom.submission_path(course, LESSON, "amara") == renamed
    (folder / "second.ipynb").write_text("{}")
    path = classroom.submission_path(course, LESSON, "amara")
    assert path == folder / f"{LESSON}.ipynb"


def test_submission_path_prefers_the_lessons_name(root):
    hand_in(root, "amara")
    folder = root / "submitted" / "amara" / LESSON
    (folder / "other.ipynb").write_text("{}")
    path = classroom.submission_path(Course(root), LESSON, "amara")
    assert path == folder / f"{LESSON}.ipynb"


def test_submission_path_does_not_follow_a_linked_folder(root):
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "solution.ipynb").write_text("{}")
    link = root / "submitted" / "amara" / LESSON
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    path = classroom.submission_path(Course(root), LESSON, "amara")
    assert path == link / f"{LESSON}.ipynb"
