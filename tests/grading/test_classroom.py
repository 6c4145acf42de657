"""Which file of a submission is the student's notebook."""

from autograder.course import Course
from autograder.grading import classroom
from autograder.grading.submission import choice_of_notebook
from tests.grading.class_folder import hand_in
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


def test_what_update_has_kept_is_no_second_notebook(root):
    hand_in(root, "amara")
    path = root / "submitted" / "amara" / LESSON / f"{LESSON}.ipynb"
    path.with_name(f"{LESSON}.before-update-1.ipynb").write_text("{}")
    assert choice_of_notebook(path, LESSON) == ""
    path.with_name("before-update-1.ipynb").write_text("{}")
    assert "and not before-update-1.ipynb: hand in one" in choice_of_notebook(
        path, LESSON
    )


def test_submission_path_does_not_follow_a_linked_folder(root):
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "solution.ipynb").write_text("{}")
    link = root / "submitted" / "amara" / LESSON
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    path = classroom.submission_path(Course(root), LESSON, "amara")
    assert path == link / f"{LESSON}.ipynb"
