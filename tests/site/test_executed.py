"""Which executed notebook the book takes, and what is executed anew."""

import json
import shutil

import pytest

from autograder.book import build, executed
from autograder.book.executed import executed_notebook
from autograder.course import Course, CourseError
from tests.browser import REPOSITORY
from tests.site.book import LESSONS, make_site

LESSON = LESSONS[0]


@pytest.fixture
def course(tmp_path):
    """Return a course of one lesson, executed as its source says."""
    return course_of(tmp_path, LESSON)


def course_of(folder, lesson):
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    here, there = Course(REPOSITORY), Course(folder)
    there.source(lesson).parent.mkdir(parents=True)
    shutil.copy(here.source(lesson), there.source(lesson))
    shutil.copy(here.teacher(lesson), there.teacher(lesson))
    return there


@pytest.fixture
def executions(monkeypatch):
    """Return the list of lessons that are executed meanwhile; none really is."""
    lessons = []

    def execute(notebook, source, root):
        lessons.append(source.lesson)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.execution_count = 1

    monkeypatch.setattr(executed, "execute", execute)
    return lessons


def edit(course):
    path = course.source(LESSON)
    path.write_text(path.read_text("utf-8") + "\n# %%\nprint(7 * 6)\n", "utf-8")


def test_notebook_that_fits_its_source_is_taken(course, executions, tmp_path):
    notebook = executed_notebook(course, LESSON, tmp_path / "cache")
    assert executions == [] and any(cell.get("outputs") for cell in notebook.cells)


def test_links_to_lessons_that_are_not_there_change_nothing(executions, tmp_path):
    course = course_of(tmp_path, LESSONS[1])  # with links below its core, too
    executed_notebook(course, LESSONS[1], tmp_path / "cache")
    assert executions == []


def test_edited_source_is_executed_once(course, executions, tmp_path):
    edit(course)
    first = executed_notebook(course, LESSON, tmp_path / "cache")
    repeated = executed_notebook(course, LESSON, tmp_path / "cache")
    assert executions == [LESSON] and first == repeated
    assert first.cells[-1].source == "print(7 * 6)"


def test_changed_library_is_executed_again(course, executions, tmp_path, monkeypatch):
    edit(course)
    executed_notebook(course, LESSON, tmp_path / "cache")
    library = tmp_path / "library"
    library.mkdir()
    (library / "attention.py").write_text("changed = True\n")
    monkeypatch.setattr(executed, "COURSE_LIB", library)
    executed_notebook(course, LESSON, tmp_path / "cache")
    assert executions == [LESSON] * 2
    assert len(list((tmp_path / "cache").iterdir())) == 1  # the old one is gone


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"cells": 1}'])
def test_missing_or_broken_notebook_is_executed(course, executions, tmp_path, text):
    path = course.teacher(LESSON)
    path.unlink()
    if text is not None:
        path.write_text(text)
    executed_notebook(course, LESSON, tmp_path / "cache")
    assert executions == [LESSON]
    assert (path.read_text() if path.exists() else None) == text


def test_notebook_without_outputs_is_executed(course, executions, tmp_path):
    path = course.teacher(LESSON)
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", "utf-8")
    executed_notebook(course, LESSON, tmp_path / "cache")
    assert executions == [LESSON]


def test_cell_that_fails_is_named_and_no_page_is_made(course):
    path = course.source(LESSON)
    path.write_text(path.read_text("utf-8") + "\n# %%\n1 / 0\n", "utf-8")
    done = make_site(course.root)
    assert done.returncode == 1
    assert "00_start_here.py:" in done.stderr and "ZeroDivisionError" in done.stderr
    assert "Traceback (most recent call last):\n  File" not in done.stderr
    assert not (course.root / "build" / "site").exists()


def test_missing_packages_are_one_sentence(monkeypatch):
    monkeypatch.setattr(build, "NEEDED", ("no_such_package_here",))
    with pytest.raises(CourseError, match=r"^the book needs Sphinx, .*call again$"):
        build.require_sphinx()


# The theme uses what Sphinx 11 will remove; the lock has a version that has it.
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_link_that_leads_nowhere_stops_the_build(tmp_path):
    pages = tmp_path / "pages"
    (pages / "_assets").mkdir(parents=True)
    for name in build.ASSETS:
        (pages / "_assets" / name).touch()
    (pages / "index.md").write_text("# Title\n\n[a](nowhere.md)\n")
    folders = pages, tmp_path / "site", tmp_path / "doctrees"
    for _ in range(2):  # the next build says it again
        with pytest.raises(ValueError, match=r"index\.md:3: WARNING: .*nowhere\.md"):
            build.run_sphinx(*folders, {})
    (pages / "index.md").write_text("# Title\n\n[a](#title)\n")
    build.run_sphinx(*folders, {})
    assert (tmp_path / "site" / "index.html").is_file()


def test_page_that_is_none_any_more_goes(tmp_path):
    site = tmp_path / "site"
    (site / "exercises").mkdir(parents=True)
    (site / "exercises" / "old.html").touch()
    (site / "index.html").touch()
    build.remove_old_pages(site, {"index"})
    assert [path.name for path in site.rglob("*.html")] == ["index.html"]
