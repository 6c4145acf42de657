"""Lessons from nbgrader's exchange: progress, update and reset work where they lie."""

import json
import shutil

import nbformat
import pytest

from autograder.course import Course
from autograder.demo.sample_class import right_answer
from autograder.workspace import progress
from autograder.workspace.fetched import RECORDS, USUAL_EXCHANGE, fetched_lessons
from tests.submissions import COURSE, LESSON

HOME_LESSON = COURSE.built_lessons[0]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a learner's home with two fetched lessons, beside an exchange."""
    settings, exchange = tmp_path / "etc", tmp_path / "exchange"
    settings.mkdir()
    (settings / "nbgrader_config.py").write_text(
        f"c.Exchange.root = '{exchange}'\nc.CourseDirectory.course_id = 'spring'\n"
    )
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings))
    folder = tmp_path / "ana"
    for lesson in (HOME_LESSON, LESSON):
        for root in (folder, exchange / "spring" / "outbound"):
            (root / lesson).mkdir(parents=True)
            shutil.copy(COURSE.learner(lesson), root / lesson)
    monkeypatch.chdir(folder / LESSON)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return folder


@pytest.fixture
def call(call):
    """Call the command line; return its exit code and all that it prints, on a line."""

    def called(*arguments):
        code, out, err = call(*arguments)
        return code or 0, " ".join(f"{out}{err}".split())

    return called


def notebook_of(folder, lesson=LESSON):
    return folder / lesson / f"{lesson}.ipynb"


def edited(path, change):
    """Change a notebook's file; ``change`` gets its cells by grade_id."""
    notebook = nbformat.read(path, 4)
    change({c.metadata.get("nbgrader", {}).get("grade_id"): c for c in notebook.cells})
    nbformat.write(notebook, path)


def answered(cells):
    cells["softmax"].source = right_answer("softmax")


def test_progress_is_kept_beside_the_lessons(home, call):
    code, printed = call("progress")
    assert code == 0 and "0 of 3" in printed and "02 Self" not in printed
    assert f"open {HOME_LESSON}/{HOME_LESSON}.ipynb" in printed
    course, lesson = progress.find_lesson_folder()
    assert (course, lesson) == (fetched_lessons(home), LESSON)
    known = {"holding": 7, "claims": 7, "points": 5.0, "max_points": 14.0}
    progress.keep_check(course.records, lesson, "softmax", **known)
    assert "1 of 4" in call("progress")[1]
    assert {path.name for path in home.iterdir()} == {HOME_LESSON, LESSON, RECORDS}


def test_update_brings_a_newer_release_and_keeps_the_answer(home, call):
    mine = notebook_of(home)
    edited(mine, answered)
    assert f"{LESSON}: nothing new" in call("update")[1]
    released = notebook_of(home.parent / "exchange" / "spring" / "outbound")
    edited(released, lambda cells: cells["scaled_scores"].update(source="# newer"))
    code, printed = call("update")
    assert code == 0
    assert f"{LESSON}: updated, with your answers to softmax; your old file" in printed
    text = json.dumps(nbformat.read(mine, 4))
    assert "# newer" in text
    assert right_answer("softmax").splitlines()[-1].strip() in text


def test_reset_starts_an_exercise_over_and_brings_it_back(home, call):
    edited(notebook_of(home), answered)
    assert "the cell holds the stub again" in call("reset", "softmax")[1]
    assert right_answer("softmax") not in str(nbformat.read(notebook_of(home), 4))
    assert "your last answer is back" in call("reset", "softmax", "--back")[1]


def test_elsewhere_one_sentence_says_what_to_do(home, call, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, printed = call("progress")
    assert code == 1 and "exchange have no such folder: change into" in printed


def test_what_lies_in_a_course_folder_is_not_fetched():
    assert fetched_lessons(COURSE.root / "notebooks" / LESSON) is None
    assert fetched_lessons(COURSE.root) is None


def test_without_an_exchange_the_installed_lesson_is_newest(home, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    if not USUAL_EXCHANGE.exists():
        newest = fetched_lessons(home).learner(LESSON)
        assert newest.read_bytes() == COURSE.learner(LESSON).read_bytes()


def test_ordinary_course_keeps_its_folders(tmp_path):
    course = Course(tmp_path)
    assert course.work == course.records == tmp_path / "work"
