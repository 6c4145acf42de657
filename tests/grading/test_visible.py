"""What a submission sees of the machine's files, wherever the course lies."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from autograder.course import Course, CourseError
from autograder.grading import course_copy, sandbox, visible
from autograder.grading.sandbox import Sandbox, check_started
from tests.grading.sessions import inside

pytestmark = pytest.mark.sandbox
NEEDED = "needed-by-python"
FILES = ("gradebook.db", "gradebook.seed", "submitted/amara/01.ipynb")
FILES += ("solutions/01.ipynb", "site-packages-of-mine.txt", "share.ipynb")


@pytest.fixture
def engine_folder(tmp_path):
    folder = tmp_path / "copy"
    for name in ("engine", "course"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Make a folder that stands for /usr, beside the real one."""
    system = tmp_path / "system"
    (system / "share").mkdir(parents=True)
    (system / "share" / NEEDED).write_text("the system's")
    monkeypatch.setattr(visible, "SYSTEM", (*visible.SYSTEM, str(system / "share")))
    return system


def course_in(root):
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    return Course(root)


def prefix_in(root):
    """Make a folder that looks like a Python's prefix."""
    for name in ("bin", "lib/python3/site-packages", "include", "share"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / NEEDED).write_text("Python's")
    (root / "pyvenv.cfg").touch()
    (root / "lib64").symlink_to("lib")
    return root


def files_seen(folder, course):
    """Return the paths of our files that a submission sees, and whether Python's."""
    start = sandbox.command(folder, [], True, visible.private_files(course))
    options = start[: start.index("--")]
    folders = [str(folder.parent), *(["/python"] if ".venv" not in sys.prefix else [])]
    names = " -o ".join(f"-name {Path(name).name}" for name in (*FILES, NEEDED))
    find = f"find {' '.join(folders)} -size +0 \\( {names} \\) -print 2>/dev/null"
    run = subprocess.run([*options, "--", "sh", "-c", find], capture_output=True)
    assert not run.stderr, run.stderr
    paths = run.stdout.decode().splitlines()
    python = [path for path in paths if path.endswith(NEEDED)]
    return sorted({*paths} - {*python}), python


def test_course_that_is_a_virtual_environment_is_hidden(
    tmp_path, engine_folder, monkeypatch
):
    course = course_in(prefix_in(tmp_path / "course"))
    monkeypatch.setattr(sys, "prefix", str(course.root))
    private, python = files_seen(engine_folder, course)
    assert private == []
    assert "/python/lib/python3/site-packages/needed-by-python" in python
    assert f"/python/share/{NEEDED}" in python


def test_course_that_is_pythons_own_prefix_is_hidden(
    tmp_path, engine_folder, monkeypatch
):
    course = course_in(prefix_in(tmp_path / "course"))
    monkeypatch.setattr(sys, "base_prefix", str(course.root))
    private, python = files_seen(engine_folder, course)
    assert private == []
    assert f"{course.root}/bin/{NEEDED}" in python


@pytest.mark.parametrize("name", ["share/course", "share/courses/of/2026"])
def test_course_within_a_folder_of_the_system_is_hidden(machine, engine_folder, name):
    course = course_in(machine / name)
    private, python = files_seen(engine_folder, course)
    assert private == []
    assert python == [f"{machine}/share/{NEEDED}"]


def test_environment_within_a_hidden_course_is_seen(
    machine, engine_folder, monkeypatch
):
    course = course_in(machine / "share" / "course")
    prefix_in(course.root / "python")
    prefix_in(course.root / "venv")
    monkeypatch.setattr(sys, "base_prefix", str(course.root / "python"))
    monkeypatch.setattr(sys, "prefix", str(course.root / "venv"))
    private, python = files_seen(engine_folder, course)
    assert private == []
    assert f"{course.root}/python/lib/python3/site-packages/{NEEDED}" in python
    assert f"/python/bin/{NEEDED}" in python


def test_course_among_the_packages_is_hidden(tmp_path, engine_folder, monkeypatch):
    prefix = prefix_in(tmp_path / "prefix")
    course = course_in(prefix / "lib/python3/site-packages/course")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    private, python = files_seen(engine_folder, course)
    assert private == []
    assert "/python/lib/python3/site-packages/needed-by-python" in python


def test_submissions_behind_a_link_are_hidden(tmp_path, machine, engine_folder):
    course = course_in(tmp_path / "course")
    elsewhere = machine / "share" / "collected"
    shutil.move(course.root / "submitted", elsewhere)
    (course.root / "submitted").symlink_to(elsewhere)
    shutil.move(course.root / "gradebook.db", machine / "share" / "gradebook.db")
    (course.root / "gradebook.db").symlink_to(machine / "share" / "gradebook.db")
    private, _ = files_seen(engine_folder, course)
    assert private == []


def test_links_to_the_course_show_nothing(tmp_path, machine, engine_folder):
    course = course_in(tmp_path / "course")
    (machine / "share" / "shortcut").symlink_to(course.root)
    (machine / "share" / "submitted").symlink_to(course.root / "submitted")
    assert files_seen(engine_folder, course)[0] == []


def test_course_named_by_a_link_is_hidden(tmp_path, machine, engine_folder):
    course_in(machine / "share" / "course")
    (tmp_path / "shortcut").symlink_to(machine / "share" / "course")
    assert files_seen(engine_folder, Course(tmp_path / "shortcut"))[0] == []


@pytest.mark.parametrize("name", ["lib", "lib/python3"])
def test_course_around_pythons_own_files_is_refused(
    tmp_path, engine_folder, monkeypatch, name
):
    prefix = prefix_in(tmp_path / "prefix")
    course = course_in(prefix / name)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    packages = str(prefix / "lib/python3/site-packages")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: packages)
    with pytest.raises(CourseError) as caught:
        files_seen(engine_folder, course)
    assert "move the course" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_exchange_of_nbgrader_is_hidden(tmp_path, machine, engine_folder, monkeypatch):
    inbound = machine / "share" / "nbgrader" / "exchange" / "submitted"
    inbound.mkdir(parents=True)
    (inbound / "01.ipynb").write_text("handed in")
    monkeypatch.setattr(visible, "EXCHANGE", machine / "share" / "nbgrader")
    assert files_seen(engine_folder, course_in(tmp_path / "course"))[0] == []


def test_sandbox_works_where_the_environment_is_the_course(
    tmp_path, engine_folder, monkeypatch
):
    for name in ("engine", "course"):
        (engine_folder / name).rmdir()
    course_copy.make_copy(engine_folder, [])
    course = course_in(tmp_path / "as_environment")
    for name in ("bin", "lib", "pyvenv.cfg"):
        (course.root / name).symlink_to(Path(sys.prefix, name).resolve())
    executable = course.root / "bin" / Path(sys.executable).name
    monkeypatch.setattr(sys, "prefix", str(course.root))
    monkeypatch.setattr(sys, "executable", str(executable))
    private = visible.private_files(course)
    with Sandbox(engine_folder, [], {}, private=private) as started:
        child = started.fork()
        check_started(child)
        child.end()
        text = "import os; return {*os.listdir('/python')}, os.path.exists(given[0])"
        assert inside(started, text, str(course.root)) == (
            {"bin", "lib", "pyvenv.cfg"},
            False,
        )


def test_covers_cannot_be_written_to(machine, engine_folder):
    course = course_in(machine / "share" / "course")
    start = sandbox.command(engine_folder, [], True, visible.private_files(course))
    options = start[: start.index("--")]
    touch = [*options, "--", "touch", f"{course.root}/new", "/new", "/etc/new"]
    run = subprocess.run(touch, capture_output=True)
    assert run.stderr.count(b"Read-only") == 3
