"""What the learner gets from ``autograder lab``, as far as it goes without a browser.

The journey through a lesson in a real page is in ``test_browser``.
"""

import errno
import importlib.metadata
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import Course, CourseError
from autograder.workspace import lab
from autograder.workspace.copies import older_copies, open_workspace
from autograder.workspace.lab import (
    EXTENSIONS,
    SETTINGS,
    close_old_tabs,
    close_sidebars,
    leave_home,
    refresh_buttons,
    server_arguments,
)

ROOT = Course.here().root
LAB = Path(sys.prefix, "share", "jupyter", "lab")
FIRST, SECOND = "00_start_here", "01_dot_product_attention"
NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def course(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("")
    for lesson in (FIRST, SECOND, "010_not_a_lesson_yet"):
        (tmp_path / "notebooks" / lesson).mkdir(parents=True)
    for lesson in (FIRST, SECOND):
        Course(tmp_path).learner(lesson).write_text(json.dumps(NOTEBOOK))
    return Course(tmp_path)


def test_commands_without_built_lessons_say_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "nbgrader_config.py").write_text("")
    monkeypatch.chdir(tmp_path)
    for command in ("lab", "update"):
        result = CliRunner().invoke(app, [command])
        assert isinstance(result.exception, CourseError)
        assert "run `make build`" in str(result.exception)
    assert not (tmp_path / "work").exists()


def test_older_copies_are_those_of_changed_lessons(course):
    open_workspace(course)
    assert older_copies(course) == []
    course.learner(SECOND).write_text(json.dumps({**NOTEBOOK, "nbformat_minor": 4}))
    assert older_copies(course) == [SECOND]
    (course.root / "work" / ".originals" / f"{SECOND}.ipynb").unlink()
    assert older_copies(course) == []


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_only_root_is_allowed_as_root(course, monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    arguments = server_arguments(course, FIRST, 8888, browser=True)
    assert ("--allow-root" in arguments) is allowed
    assert "--no-browser" not in arguments


def test_lab_opens_home_unless_a_lesson_is_named(course):
    arguments = server_arguments(course, "", 8888, browser=True)
    assert "--LabApp.default_url=/lab/tree/home.md" in arguments
    arguments = server_arguments(course, SECOND, 8888, browser=True)
    assert f"--LabApp.default_url=/lab/tree/{SECOND}/{SECOND}.ipynb" in arguments


def test_closing_old_tabs_removes_nothing_else(course):
    close_old_tabs(course)
    folder = course.root / "work" / ".tabs"
    folder.mkdir(parents=True)
    for name in ("default-37a8.jupyterlab-workspace", "notes.txt"):
        (folder / name).write_text("{}")
    close_old_tabs(course)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_sidebars_are_closed_in_the_workspace_that_lab_opens(course):
    from jupyterlab_server.workspaces_handler import WORKSPACE_EXTENSION, slugify

    close_sidebars(course)
    (path,) = (course.root / "work" / ".tabs").iterdir()
    assert path.name == f"{slugify('default')}{WORKSPACE_EXTENSION}"
    workspace = json.loads(path.read_text())
    assert workspace["metadata"]["id"] == "default"
    layout = workspace["data"]["layout-restorer:data"]
    assert layout["left"]["collapsed"] and layout["right"]["collapsed"]
    close_old_tabs(course)
    assert list(path.parent.iterdir()) == []


def test_lab_goes_on_where_home_cannot_be_written(course, monkeypatch, capsys):
    def refuse(course):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(lab, "write_home", refuse)
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", print)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.chdir(course.root)
    lab.open_lab(course, "", 8888, browser=False)
    printed = capsys.readouterr().out
    assert "work/home.md could not be written (Read-only file system)" in printed
    assert "/lab/tree/home.md" in printed


def test_lab_names_copies_under_former_names(course, monkeypatch, capsys):
    monkeypatch.setattr(
        "autograder.course.releases.SUCCESSORS", {"00_old": (FIRST, SECOND)}
    )
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", print)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.chdir(course.root)
    sentence = f"00_old is called {FIRST} and {SECOND} now: `autograder update` brings"
    lab.open_lab(course, "", 8888, browser=False)
    assert sentence not in capsys.readouterr().out
    (course.root / "work/00_old").mkdir()
    (course.root / "work/00_old/00_old.ipynb").write_text(json.dumps(NOTEBOOK))
    lab.open_lab(course, "", 8888, browser=False)
    assert sentence in capsys.readouterr().out


def overrides():
    """Return our settings of plugins, and the schemas of these, by plugin."""
    settings = SETTINGS / "labconfig" / "default_setting_overrides.json"
    schemas = {}
    for plugin in (ours := json.loads(settings.read_text())):
        extension, _, name = plugin.partition(":")
        schema = LAB / "schemas" / extension / f"{name}.json"
        schemas[plugin] = json.loads(schema.read_text())
    return ours, schemas


def test_settings_are_those_that_plugins_have():
    ours, schemas = overrides()
    for plugin, values in ours.items():
        assert values.keys() <= schemas[plugin]["properties"].keys()


def test_markdown_opens_in_a_viewer_that_lab_has():
    code = [path.read_text(errors="replace") for path in LAB.rglob("*.js")]
    viewers = overrides()[0]["@jupyterlab/docmanager-extension:plugin"]
    for viewer in viewers["defaultViewers"].values():
        assert any(f'"{viewer}"' in text for text in code)


def test_what_is_left_in_the_toolbar_is_what_a_learner_needs():
    plugin = "@jupyterlab/notebook-extension:panel"
    ours, schemas = overrides()
    items = {
        each["name"] for each in schemas[plugin]["jupyter.lab.toolbars"]["Notebook"]
    }
    changed = {each["name"] for each in ours[plugin]["toolbar"]}
    assert changed <= items  # or a name has changed, and an item is back
    gone = {each["name"] for each in ours[plugin]["toolbar"] if each.get("disabled")}
    assert {"run", "save", "interrupt", "restart"} <= items - gone
    assert "cellType" in gone


def test_settings_name_plugins_that_exist():
    page = json.loads((SETTINGS / "labconfig" / "page_config.json").read_text())
    installed = Path(sys.prefix, "share", "jupyter", "lab")
    code = [
        path.read_text(encoding="utf-8", errors="replace")
        for folder in ("labextensions/@jupyter/nbgrader", "lab/static")
        for path in (installed.parent / folder).rglob("*.js")
    ]
    for name in page["disabledExtensions"]:
        plugin = re.compile(rf"[\"'`]{re.escape(name)}[\"'`]")
        is_folder = (installed.parent / "labextensions" / name).is_dir()
        is_part_of_lab = (LAB / "schemas" / name).is_dir()
        is_plugin = any(plugin.search(text) for text in code)
        assert is_plugin if ":" in name else is_folder or is_part_of_lab, name


def test_settings_are_part_of_the_distribution():
    files = {path.relative_to(SETTINGS.parent) for path in SETTINGS.rglob("*.json")}
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert ' "workspace/jupyter/**/*.json", ' in pyproject
    assert len(files) == 3


@pytest.fixture
def server(course):
    """Run the command while another program holds the port; give what it prints."""
    home = course.root / "home"
    home.mkdir()
    command = [sys.executable, "-m", "autograder"]
    environment = os.environ | {"HOME": str(home)}
    environment = {k: v for k, v in environment.items() if "JUPYTER" not in k}
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with (course.root / "log").open("w") as log:
            running = subprocess.Popen(
                [*command, "lab", "01", "--no-browser", f"--port={port}"],
                cwd=course.root / "notebooks",
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        try:
            yield port, wait_for_address(course.root / "log", running)
        finally:
            os.killpg(running.pid, signal.SIGTERM)
            running.wait()


def wait_for_address(log, running):
    for _ in range(3000):
        if match := re.search(r"http://127\.0\.0\.1:\d+\S+", log.read_text()):
            return match[0]
        assert running.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def test_server_shows_lessons_and_hides_formgrader(server, course):
    port, address = server
    assert f"/lab/tree/{SECOND}/{SECOND}.ipynb?token=" in address
    assert int(re.search(r":(\d+)/", address)[1]) != port

    page = get(address)
    config = json.loads(re.search(r'jupyter-config-data"[^>]*>(.*?)<', page, re.S)[1])
    assert "@jupyter/nbgrader:formgrader" in config["disabledExtensions"]
    assert (
        "@jupyterlab/apputils-extension:announcements" in config["disabledExtensions"]
    )
    extensions = {each["name"] for each in config["federated_extensions"]}
    assert {"@jupyter/nbgrader", "attention-course"} <= extensions

    base, _, token = address.partition("/lab/tree")
    query = token.partition("?")[2]
    listed = json.loads(get(f"{base}/api/contents?{query}"))["content"]
    assert sorted(entry["name"] for entry in listed) == [FIRST, SECOND, "home.md"]
    version = importlib.metadata.version("nbgrader")
    asked = f"{base}/nbgrader_version?version={version}&{query}"
    assert json.loads(get(asked)) == {"success": True}
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(f"{base}/formgrader?{query}")

    assert not (course.root / "home" / ".jupyter" / "lab").exists()
    assert not any(SETTINGS.rglob("migrated"))


def get(address):
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.read().decode()


def test_buttons_of_an_editable_install_are_brought_up_to_date(tmp_path):
    copy = tmp_path / "share" / "jupyter" / "labextensions" / "attention-course"
    refresh_buttons(tmp_path)
    assert not (tmp_path / "share").exists()
    copy.mkdir(parents=True)
    (copy / "package.json").write_text("{}")
    refresh_buttons(tmp_path)
    for path in (EXTENSIONS / "attention-course").rglob("*.js*"):
        own = copy / path.relative_to(EXTENSIONS / "attention-course")
        assert own.read_bytes() == path.read_bytes()


def test_home_that_cannot_be_written_is_done_without(course, monkeypatch):
    assert leave_home(course) is None
    for name in lab.OF_HOME:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(lab.os, "access", lambda path, mode: False)
    folder = leave_home(course)
    assert folder.is_relative_to(course.root / "work")
    assert {Path(os.environ[name]).parent for name in lab.OF_HOME} == {folder}
