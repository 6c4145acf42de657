"""Course folders made of the installed lessons: whole, and brought up to date."""

import os
import shutil
from pathlib import Path

import pytest

from autograder.course import Course, CourseError
from autograder.workspace import installed
from autograder.workspace.copies import open_workspace
from autograder.workspace.installed import MARK, NOTEBOOKS, RELEASES, open_folder

LESSON = "00_start_here"
ROOT = Course.here().root


@pytest.fixture(autouse=True)
def lessons(tmp_path, monkeypatch):
    """Two lessons, as they are installed; a test may change them, and the version."""
    source = tmp_path / "installed"
    for name in (LESSON, "01_dot_product_attention"):
        path = source / NOTEBOOKS / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        shutil.copyfile(Course(ROOT).learner(name), path)
    for name in (RELEASES, installed.SETTINGS):
        shutil.copyfile(ROOT / name, source / name)
    monkeypatch.setattr(installed, "installed_lessons", lambda: source)
    monkeypatch.setattr(installed, "version", lambda: "1.2.0")
    return source


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_folder_is_a_course_with_the_lessons_and_nothing_else(tmp_path, lessons):
    folder = tmp_path / "mit Leerzeichen und Umlaut ä" / ("long" * 40)
    made = open_folder(folder)
    assert str(folder) in made.news
    assert contents(folder) == contents(lessons) | {MARK: b"1.2.0\n"}
    assert Course.here(folder / NOTEBOOKS).root == folder
    assert open_workspace(made.course) == made.course.built_lessons


def test_opened_again_it_stays_as_it_is(tmp_path):
    open_folder(tmp_path / "a")
    before = contents(tmp_path / "a")
    assert open_folder(tmp_path / "a").news == ""
    assert contents(tmp_path / "a") == before


def test_answers_from_elsewhere_stay(tmp_path):
    answer = tmp_path / "a" / "work" / LESSON / f"{LESSON}.ipynb"
    answer.parent.mkdir(parents=True)
    answer.write_text("mine")
    made = open_folder(tmp_path / "a")
    assert open_workspace(made.course) == ["01_dot_product_attention"]
    assert answer.read_text() == "mine"


def test_newer_lessons_come_in_beside_the_answers(tmp_path, lessons, monkeypatch):
    made = open_folder(tmp_path / "a")
    open_workspace(made.course)
    mine = contents(tmp_path / "a" / "work")
    newer = lessons / NOTEBOOKS / LESSON / f"{LESSON}.ipynb"
    newer.write_text(newer.read_text().replace("Start here", "Begin here"))
    shutil.rmtree(lessons / NOTEBOOKS / "01_dot_product_attention")
    monkeypatch.setattr(installed, "version", lambda: "1.10.0")
    assert "1.10.0" in open_folder(tmp_path / "a").news
    assert contents(tmp_path / "a" / NOTEBOOKS) == contents(lessons / NOTEBOOKS)
    assert contents(tmp_path / "a" / "work") == mine
    assert (tmp_path / "a" / MARK).read_text() == "1.10.0\n"


def test_folder_of_a_newer_version_stays_as_it_is(tmp_path, lessons, monkeypatch):
    monkeypatch.setattr(installed, "version", lambda: "1.10.0")
    open_folder(tmp_path / "a")
    before = contents(tmp_path / "a")
    monkeypatch.setattr(installed, "version", lambda: "1.9.0")
    shutil.rmtree(lessons / NOTEBOOKS / LESSON)
    assert "@latest" in open_folder(tmp_path / "a").news
    assert contents(tmp_path / "a") == before


def test_clone_stays_as_it_is(tmp_path, lessons):
    shutil.copytree(lessons, tmp_path / "clone")
    shutil.rmtree(lessons / NOTEBOOKS / LESSON)
    before = contents(tmp_path / "clone")
    assert open_folder(tmp_path / "clone").news == ""
    assert contents(tmp_path / "clone") == before


def test_folder_of_other_things_is_refused(tmp_path):
    thesis = tmp_path / "a" / "thesis.tex"
    thesis.parent.mkdir()
    thesis.write_text("")
    with pytest.raises(CourseError, match=r"holds thesis\.tex.*--folder"):
        open_folder(thesis.parent)
    with pytest.raises(CourseError, match="is a file"):
        open_folder(thesis)
    assert contents(tmp_path / "a") == {"thesis.tex": b""}


def test_nothing_is_half_made_where_writing_fails(tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(28, os.strerror(28), str(target))

    monkeypatch.setattr(installed.shutil, "copyfile", full)
    with pytest.raises(CourseError, match=r"No space left.*--folder"):
        open_folder(tmp_path / "a")
    assert contents(tmp_path / "a") == {}
    monkeypatch.undo()


def test_stopped_update_leaves_the_older_lessons(tmp_path, lessons, monkeypatch):
    open_folder(tmp_path / "a")
    before = contents(tmp_path / "a")
    monkeypatch.setattr(installed, "version", lambda: "1.3.0")

    def stopped(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(installed.shutil, "copyfile", stopped)
    with pytest.raises(KeyboardInterrupt):
        open_folder(tmp_path / "a")
    assert contents(tmp_path / "a") == before


# Bad input: one sentence with what to do, and nothing half made.


def test_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    def read_only(self, *arguments, **options):
        raise OSError(30, os.strerror(30), str(self))

    monkeypatch.setattr(Path, "mkdir", read_only)
    with pytest.raises(CourseError, match=r"Read-only.*nothing is half made.*--folder"):
        open_folder(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_disk_full_at_the_last_file_leaves_nothing(tmp_path, monkeypatch, lessons):
    write = installed.write_atomically

    def full(path, text):
        if path.name == installed.SETTINGS:
            raise OSError(28, os.strerror(28), str(path))
        write(path, text)

    monkeypatch.setattr(installed, "write_atomically", full)
    with pytest.raises(CourseError, match="No space left"):
        open_folder(tmp_path / "a")
    assert contents(tmp_path / "a") == {}
    monkeypatch.setattr(installed, "write_atomically", write)
    made = open_folder(tmp_path / "a")
    assert contents(tmp_path / "a") == contents(lessons) | {MARK: b"1.2.0\n"}
    assert made.course.built_lessons


def test_folder_left_by_ctrl_c_is_made_at_the_next_call(tmp_path, monkeypatch, lessons):
    copy = installed.shutil.copyfile
    calls = []

    def stopped(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt
        copy(source, target)

    monkeypatch.setattr(installed.shutil, "copyfile", stopped)
    with pytest.raises(KeyboardInterrupt):
        open_folder(tmp_path / "a")
    assert contents(tmp_path / "a") == {}
    open_folder(tmp_path / "a")
    assert contents(tmp_path / "a") == contents(lessons) | {MARK: b"1.2.0\n"}


def test_folder_of_a_killed_process_is_made_whole(tmp_path, lessons):
    half = tmp_path / "a" / f"{MARK}-x" / "new"
    half.mkdir(parents=True)
    (tmp_path / "a" / MARK).write_text("1.2.0\n")
    shutil.copytree(lessons / NOTEBOOKS / LESSON, tmp_path / "a" / NOTEBOOKS / LESSON)
    made = open_folder(tmp_path / "a")
    assert contents(tmp_path / "a") == contents(lessons) | {MARK: b"1.2.0\n"}
    assert len(made.course.built_lessons) == 2
