"""``attention-course``: the command, and the wheel with which it is installed."""

import json
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands import start
from autograder.course import Course
from autograder.workspace import installed
from autograder.workspace.lab import EXTENSIONS
from course_lib.corpora import download

ROOT = Course.here().root
# With the wheel alone, beside what this environment has: no clone, no PyTorch.
JUDGED = """
import json, sys
sys.modules["torch"] = None
from autograder.checking.registry import load
from autograder.course import Course
from autograder.workspace.copies import open_workspace
from autograder.workspace.installed import open_folder
from pathlib import Path

course = open_folder(Path("course")).course
copied = open_workspace(course)
def softmax(x, axis=-1):
    e = 2.718281828 ** x
    return e / e.sum()
from autograder.in_notebook.check import check
import io, contextlib
with contextlib.redirect_stdout(io.StringIO()) as out:
    with contextlib.suppress(Exception):
        check(softmax)
import autograder
print(json.dumps([copied, autograder.__file__, out.getvalue()]))
"""


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """Return what would be opened, in an empty current folder."""
    calls = []
    monkeypatch.setattr(
        "autograder.workspace.lab.open_lab",
        lambda course, *rest: calls.append((course.root, *rest)),
    )
    monkeypatch.chdir(tmp_path)
    return calls


def run(*arguments):
    return CliRunner().invoke(start.app, list(arguments), catch_exceptions=False)


def test_alone_it_opens_home_in_a_new_folder(opened, tmp_path):
    run()
    assert opened == [(tmp_path / start.FOLDER, "", start.PORT, True, start.ADDRESS)]
    run("--no-browser", "--port", "9000")
    assert opened[1:] == [(tmp_path / start.FOLDER, "", 9000, False, start.ADDRESS)]


def test_inside_a_course_it_opens_that_one(opened, tmp_path, monkeypatch):
    run()
    inside = tmp_path / start.FOLDER / "notebooks"
    monkeypatch.chdir(inside)
    run("open", "1")
    assert opened[1][:2] == (tmp_path / start.FOLDER, "01_dot_product_attention")
    assert [path.name for path in inside.glob(start.FOLDER)] == []


def test_missing_torch_is_said_before_home_opens(opened, monkeypatch):
    assert "PyTorch" not in run().output
    monkeypatch.setattr(start.pytorch, "is_here", lambda: False)
    output = run().output
    assert "PyTorch is not installed here" in output and "pip install" in output
    assert len(opened) == 2


def test_torch_is_installed_by_a_command(monkeypatch):
    monkeypatch.setattr(start.pytorch, "install", lambda: 3)
    assert run("torch").exit_code == 3


def test_data_goes_into_the_courses_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["attention-course", "data"])
    with pytest.raises(SystemExit):
        start.run()
    assert [*tmp_path.iterdir()] == []
    installed.open_folder(tmp_path / start.FOLDER)
    monkeypatch.delenv("ATTENTION_COURSE_DATA", raising=False)
    monkeypatch.setattr(download, "IN_A_CLONE", False)
    got = []
    monkeypatch.setattr(
        "course_lib.corpora.__main__.prepare",
        lambda console, datasets: got.append(download.folder()) or 0,
    )
    assert run("data").exit_code == 0
    assert got == [tmp_path / start.FOLDER / "data"]


def test_new_course_refuses_a_folder_that_is_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "course of 17 lessons" in run("new-course", "spring").output.replace(
        "\n", " "
    )
    assert Course(tmp_path / "spring").built_lessons == Course(ROOT).built_lessons
    monkeypatch.setattr(sys, "argv", ["attention-course", "new-course", "spring"])
    with pytest.raises(SystemExit):
        start.run()
    assert "is there already" in capsys.readouterr().err


def test_version_is_the_projects():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert run("--version").output == f"attention-course {project['version']}\n"
    assert installed.version() == project["version"]


def test_wheel_lists_every_lesson():
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    files = setup["data-files"]
    lessons = Course(ROOT).lessons
    prefix = f"{installed.SHARED}/notebooks/"
    assert [
        key.removeprefix(prefix) for key in files if key.startswith(prefix)
    ] == lessons
    for lesson in lessons:
        assert files[prefix + lesson] == [f"notebooks/{lesson}/{lesson}.ipynb"]


def copy_source(folder):
    """Copy what packages are built of into a folder."""
    listed = subprocess.run(
        [
            "git",
            "-C",
            ROOT,
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        source, target = ROOT / name, folder / name
        if source.is_file() and not name.startswith("tests/"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


def test_editable_install_has_the_buttons_and_not_the_lessons(tmp_path):
    copy_source(tmp_path / "src")
    code = "import sys; from setuptools import build_meta as b"
    code += "; b.build_editable(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        cwd=tmp_path / "src",
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name.partition(".data/data/")[2] for name in archive.namelist()]
    buttons = EXTENSIONS / "attention-course"
    assert {*filter(None, names)} == {
        f"share/jupyter/labextensions/{path.relative_to(EXTENSIONS).as_posix()}"
        for path in buttons.rglob("*")
        if path.is_file()
    }


@pytest.mark.thorough
def test_wheel_alone_makes_a_folder_and_diagnoses_an_answer(tmp_path):
    wheels = tmp_path / "wheels"
    built = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    built += [
        "--no-build-isolation",
        "--wheel-dir",
        wheels,
        tmp_path / "src",
    ]
    copy_source(tmp_path / "src")
    subprocess.run(built, check=True)
    (wheel,) = wheels.iterdir()
    venv.create(tmp_path / "v", system_site_packages=False, with_pip=True)
    python = tmp_path / "v" / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-deps", wheel], check=True
    )
    # Other packages come from here; this environment's own course must not.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (folder,) = (tmp_path / "v" / "lib").glob("python*/site-packages")
    (folder / "zz_others.pth").write_text("\n".join(here))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", JUDGED],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    copied, package, report = json.loads(done.stdout.splitlines()[-1])
    assert copied == Course(ROOT).lessons
    assert Path(package).is_relative_to(tmp_path)
    assert "softmax: " in report and "→" in report
