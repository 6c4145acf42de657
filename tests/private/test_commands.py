"""Authors' and instructors' commands with a private lesson."""

import ast
import shutil

import pytest

from autograder.checking.registry import load, private_names
from autograder.commands.package import make_package
from autograder.course import CourseError, private
from autograder.grading.dask.worker import traits
from tests.private.sample_course import HERE, LESSON, NAME
from tests.submissions import LESSON as PUBLIC

NEW = "scores_of_an_exam"


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """Return a course folder without a private lesson, and change into it."""
    shutil.copy(HERE.root / "nbgrader_config.py", tmp_path)
    shutil.copy(HERE.root / "README.md", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}


def test_new_begins_lesson_and_exercise_in_the_private_folder(empty, call):
    readme = (empty / "README.md").read_bytes()
    code, out, err = call("new", NEW, "--lesson", "91_exam", "--parameters", "q,k")
    assert (code, err) == (0, ""), err
    written = {
        f"private/{each}"
        for each in (
            "references/exam.py",
            f"exercises/{NEW}.py",
            f"answers/{NEW}.py",
            "solutions/91_exam/91_exam.py",
        )
    }
    assert files(empty) == {*written, "nbgrader_config.py"}
    assert all(f"Written: {each}" in out for each in written)
    assert "make test" not in out and (empty / "README.md").read_bytes() == readme
    for each in written:
        ast.parse((empty / each).read_text(encoding="utf-8"))
    assert private_names() == (NEW,)
    assert load(NEW).reference.__module__ == "course_lib.private.exam"


def test_new_adds_to_a_private_lesson_that_is_there(empty, call):
    call("new", NEW, "--lesson", "91_exam")
    call("new", f"{NEW}_apart", "--lesson", "91", "--module", "others")
    assert len(private_names()) == 2
    text = (empty / "private/solutions/91_exam/91_exam.py").read_text(encoding="utf-8")
    assert text.count("check(scores") == 2
    assert "from course_lib.private.others import scores_of_an_exam_apart" in text


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("softmax", "there is an exercise 'softmax'"), ("No", "'No' cannot be")],
)
def test_new_that_is_refused_leaves_no_lesson(empty, call, name, sentence):
    code, _, err = call("new", name, "--lesson", "91_exam")
    assert code == 1 and err.startswith(sentence)
    assert files(empty) == {"nbgrader_config.py"}


def test_name_that_is_no_private_lessons_begins_none(empty, call):
    code, _, err = call("new", NEW, "--lesson", "16_more")
    assert code == 1 and "there is no lesson yet" in err
    assert not (empty / "private").exists()


def test_book_refuses_a_private_lesson(built, monkeypatch, call):
    monkeypatch.chdir(built.root)
    code, _, err = call("site", "90")
    assert (code, err) == (1, f"{LESSON}: a private lesson is in no book\n")


@pytest.mark.parametrize("system", ["classroom50", "exercism", "github"])
def test_package_that_students_can_read_is_refused(built, tmp_path, system):
    with pytest.raises(CourseError, match=r"for gradescope or prairielearn$"):
        make_package(built, "90", system, folder=tmp_path / "package")
    assert not (tmp_path / "package").exists()


def test_unsafe_package_is_refused(built, tmp_path):
    folder = tmp_path / "package"
    with pytest.raises(CourseError, match=r"without --unsafe$"):
        make_package(built, "90", "gradescope", folder=folder, unsafe=True)


def test_workers_with_another_private_folder_are_told_apart(course, built):
    course.learner(LESSON).parent.mkdir(parents=True)
    course.learner(LESSON).write_bytes(built.learner(LESSON).read_bytes())
    before = traits(course, LESSON)["the folder private"]
    bank = course.private / "exercises" / f"{NAME}.py"
    bank.write_text(f"{bank.read_text()}\n# changed\n")
    assert traits(course, LESSON)["the folder private"] != before
    assert "the folder private" not in traits(course, PUBLIC)
    course.private.rename(course.root / "moved")
    assert traits(course, LESSON)["the folder private"] == "none"
    assert private.folder() is not None
