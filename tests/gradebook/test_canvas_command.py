"""``autograder export --to canvas --send``, also where it is killed."""

import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import Course
from autograder.gradebook import export as export_module
from autograder.gradebook.canvas_send import SENT
from autograder.gradebook.database import Gradebook
from autograder.gradebook.settings import canvas_course
from tests.gradebook.canvas_class import NAMES, the_class
from tests.gradebook.classes import grade_class, hand_in
from tests.gradebook.fake_canvas import COURSE, TOKEN, assignment, user
from tests.gradebook.test_export import (
    FIRST,
)
from tests.submissions import LESSON


@pytest.fixture
def here(tmp_path, canvas, monkeypatch):
    """Return what calls the command in a course that is set up for the Canvas."""
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        f"c.CanvasExportPlugin.address = '{canvas.address}'\n"
        f"c.CanvasExportPlugin.course = {COURSE}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    monkeypatch.setattr(
        export_module, "read_course_grades", lambda course, lessons: the_class()
    )

    def call(*options):
        done = CliRunner().invoke(app, ["export", *options])
        assert TOKEN not in done.output
        return done

    return call


def test_settings_are_those_of_the_plugin(here, tmp_path, canvas):
    from autograder.gradebook.plugins import CanvasExportPlugin
    from autograder.gradebook.settings import load_config

    assert canvas_course(Course(tmp_path)) == (canvas.address, COURSE)
    plugin = CanvasExportPlugin(config=load_config(Course(tmp_path), "Canvas"))
    assert (plugin.address, plugin.course) == (canvas.address, COURSE)
    (tmp_path / "nbgrader_config.py").write_text("")
    assert canvas_course(Course(tmp_path)) == ("", "")


def test_command_sends_only_with_yes(here, canvas, tmp_path):
    done = here("--to", "canvas", "--send")
    assert done.exit_code == 0
    assert f"ann  {FIRST}: – → 0.25\n" in done.stdout
    end = "13 grades to send, 0 in Canvas already; nothing is sent without --yes\n"
    assert done.stdout.endswith(end)
    assert canvas.grades == {}
    assert not (tmp_path / "build").exists()
    done = here("--to", "canvas", "--send", "--yes")
    assert done.exit_code == 0
    assert done.stdout.endswith("\n13 grades sent, 0 in Canvas already\n")
    done = here("--to", "canvas", "--send", "--yes")
    assert done.stdout == "0 grades sent, 13 in Canvas already\n"
    assert not (tmp_path / "build/export/canvas.csv").exists()


def test_command_names_what_is_left_out(here, canvas):
    canvas.users.pop()
    canvas.not_assigned.add("102")
    done = here("--to", "canvas", "--send")
    assert done.exit_code == 1
    assert done.stderr.startswith("gil is left out: Canvas's course has no student")
    done = here("--to", "canvas", "--send", "--yes")
    assert done.exit_code == 1
    assert "01_first: not sent: bob. The token's user may not" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--send",),
        ("--to", "moodle", "--send"),
        ("--to", "canvas", "--send", "--drop-lowest", "1"),
        ("--to", "canvas", "--send", "--output", "a.csv"),
        ("--to", "canvas", "--yes"),
        ("--to", "canvas", "--overwrite"),
        ("--to", "canvas", "--course", "7"),
    ],
)
def test_options_that_do_not_go_together_are_refused(here, canvas, options):
    assert here(*options).exit_code == 2
    assert canvas.requests == []


def test_command_needs_an_address_and_a_token(here, canvas, tmp_path, monkeypatch):
    monkeypatch.delenv("CANVAS_TOKEN")
    done = here("--to", "canvas", "--send")
    assert "has no CANVAS_TOKEN" in str(done.exception)
    (tmp_path / "nbgrader_config.py").write_text("")
    done = here("--to", "canvas", "--send", "--address", canvas.address)
    assert "c.CanvasExportPlugin.course" in str(done.exception)
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    done = here("--to", "canvas", "--send", "--address", canvas.address, "--course=7")
    assert done.exit_code == 0


# --- a call that is killed ----------------------------------------------------------


def start(root, canvas):
    options = ("--to", "canvas", "--send", "--yes", "--course", COURSE)
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "autograder",
            "export",
            *options,
            "--address",
            canvas.address,
        ],
        cwd=root,
        env=os.environ | {"CANVAS_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests in the background inherit that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_call_that_was_killed_is_gone_on_with(root, canvas, number):
    for name in NAMES:
        hand_in(root, name)
    grade_class(root, {(name, "softmax"): i / 4 for i, name in enumerate(NAMES)})
    lesson = Gradebook(Course(root)).grades(LESSON)
    worth = lesson["ann"].max_points
    canvas.users = [user(101 + index, name) for index, name in enumerate(NAMES)]
    canvas.assignments = [assignment(11, LESSON, worth)]
    canvas.hold_after = 3
    first = start(root, canvas)
    assert canvas.held.wait(timeout=300)
    first.send_signal(number)
    _, errors = first.communicate()
    if number == signal.SIGINT:
        assert first.returncode == 130
        assert errors == "stopped: the next call goes on from there\n"
    assert len(canvas.writes) == 3
    (sent,) = json.loads((root / SENT).read_text()).values()
    assert [[*each] for each in sent["11"].values()] == [
        ["sent"],
        ["sent"],
        ["sending"],
    ]
    canvas.released.set()
    second = start(root, canvas)
    output, errors = second.communicate()
    assert (second.returncode, errors) == (0, "")
    assert output.endswith("4 grades sent, 3 in Canvas already\n")
    numbers = {name: ("11", str(101 + index)) for index, name in enumerate(NAMES)}
    assert canvas.writes == {
        numbers[name]: [each.points] for name, each in lesson.items()
    }
    assert "sending" not in (root / SENT).read_text()
