"""``autograder doctor``: its lines are true, and its exit code says if all is well."""

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.commands import doctor
from autograder.course import Course
from autograder.grading import cgroup, course_copy, trial
from autograder.grading.inside.isolation import Limits
from autograder.grading.trial import Trial
from tests.grading.ordinary import as_ordinary_user, why_not
from tests.submissions import COURSE

pytestmark = pytest.mark.sandbox
SOUND = Trial(
    spaces=frozenset(trial.SPACES),
    users=frozenset({60_001, 60_002}),
    privileged=False,
    filtered=True,
    reached=(),
    writable=("/tmp",),
    limited=True,
    grouped=True,
)
LAYERS = 7
ROOT = os.geteuid() == 0


def test_all_that_grading_needs_holds_here(capsys):
    assert doctor.doctor(COURSE) == 0
    out = capsys.readouterr().out
    assert "✗" not in out
    assert "the course, your home and other submissions are not there" in out
    own = "each submission is a user of its own" in out
    assert own == ROOT
    assert ("limits of a control group" in out) == (cgroup.home() is not None)
    assert len(out.splitlines()) < 20


@pytest.mark.skipif(why_not() != "", reason=why_not() or "it can be done")
@pytest.mark.thorough
def test_lines_are_true_for_an_ordinary_user():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        command = as_ordinary_user(
            [sys.executable, "-m", "autograder", "doctor"], folder
        )
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "without privileges (as your user" in run.stdout
    assert "✗" not in run.stdout


def test_missing_bubblewrap_is_said_with_the_remedy(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.doctor(COURSE) == 1
    out = capsys.readouterr().out
    assert "✗ submissions cannot be isolated on this machine" in out
    assert "apt-get install bubblewrap" in out
    assert "This machine:" in out


def test_missing_namespaces_are_said_with_the_remedy(monkeypatch, tmp_path, capsys):
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2; exit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert doctor.doctor(COURSE) == 1
    out = capsys.readouterr().out
    assert "(bwrap: No permissions)" in out
    assert "--security-opt seccomp=unconfined" in out


# What is taken out of the engine, and the line that must say so.
WITHOUT = {
    "the filter": ("parent.py", "if self.filter:", "if False:", "are not filtered"),
    "limits": (
        "parent.py",
        "isolation.set_limits(self.limits, self.address_space)",
        "pass",
        "each process: ",
    ),
    "hidden files": ("parent.py", "isolation.hide_files(", "str(", "reaches "),
    "dropped privileges": (
        "parent.py",
        "isolation.give_up_privileges()",
        "isolation._prctl(38, 1)",
        "a submission has privileges",
    ),
    "a network of its own": (
        "isolation.py",
        "NEW_NETWORK |",
        "",
        "its namespaces of net",
    ),
}


@pytest.mark.parametrize("layer", WITHOUT)
@pytest.mark.thorough
def test_layer_that_is_taken_out_is_missed(layer, monkeypatch, capsys):
    file, old, new, line = WITHOUT[layer]
    copy = course_copy.make_copy

    def make_copy(folder, exercises):
        copy(folder, exercises)
        path = folder / "engine" / "inside" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    monkeypatch.setattr(course_copy, "make_copy", make_copy)
    assert doctor.doctor(COURSE) == 1
    wrong = [row for row in capsys.readouterr().out.splitlines() if "✗" in row]
    assert any(line in row for row in wrong)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"spaces": frozenset(trial.SPACES) - {"net"}}, "namespaces of net"),
        ({"reached": ("/home/amara",)}, "reaches /home/amara"),
        ({"users": frozenset({0})}, "submissions are root"),
        ({"privileged": True}, "has privileges"),
        ({"filtered": False}, "are not filtered"),
        ({"limited": False}, "each process: "),
        ({"writable": ("/tmp", "/usr")}, "a disk of its own"),
    ],
)
def test_missing_layer_is_a_fault(change, text):
    lines = doctor.isolation_lines(replace(SOUND, **change), Limits())
    assert [line for line in lines if line.holds is False and text in line.text]


def test_only_the_control_group_can_be_done_without():
    lines = doctor.isolation_lines(SOUND, Limits())
    assert [line.holds for line in lines] == [True] * LAYERS
    lines = doctor.isolation_lines(replace(SOUND, grouped=False), Limits())
    assert [line.holds for line in lines] == [True] * (LAYERS - 1) + [None]
    assert "8 GiB" in lines[-1].text


def test_page_on_grading_has_these_lines(monkeypatch):
    monkeypatch.setattr(doctor.platform, "machine", lambda: "x86_64")
    lines = doctor.isolation_lines(SOUND, Limits())
    page = (COURSE.root / "docs" / "safety.md").read_text(encoding="utf-8")
    assert "\n".join(map(str, lines)) in page
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    ours = replace(SOUND, users=frozenset({1000}))
    assert f"`{doctor.isolation_lines(ours, Limits())[2].text}`" in page


def test_packages_that_differ_from_the_lock_are_named(monkeypatch, tmp_path):
    lock = tmp_path / "requirements.lock"
    lock.write_text("# a comment\ntorch==1.0.0\nnumpy==1.0\nnobody-has-this==1\n")
    monkeypatch.setattr(doctor, "LOCK", lock)
    line = doctor.packages_line()
    assert "torch 1.0.0, numpy 1.0" in line.text
    assert "nobody" not in line.text
    assert line.holds is None


def test_install_without_the_lock_has_a_line(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "LOCK", tmp_path / "requirements.lock")
    line = doctor.packages_line()
    assert "nbgrader 0.9.6" in line.text
    assert "not beside the package" in line.text
    assert line.holds is None


def test_what_is_no_file_in_a_submission_is_named(tmp_path):
    course = Course(tmp_path)
    assert doctor.odd_submissions_lines(course) == []
    for student in "abcdefgh":
        (tmp_path / "submitted" / student / "01").mkdir(parents=True)
        (tmp_path / "submitted" / student / "01" / "01.ipynb").write_text("{}")
    assert doctor.odd_submissions_lines(course) == []
    os.mkfifo(tmp_path / "submitted" / "a" / "01" / "x\x1b]0;t\x07")
    os.mkfifo(tmp_path / "submitted" / "b" / "01" / "x")
    (tmp_path / "submitted" / "b" / "01" / "y").symlink_to("/dev/zero")
    one, other = doctor.odd_submissions_lines(course)
    assert one.text == (
        "in submitted/a/01 are no files, remove them: x⟨U+001B⟩]0;t⟨U+0007⟩ (a pipe)"
    )
    assert other.text.endswith(
        "submitted/b/01 are no files, remove them: x (a pipe), y (a link)"
    )
    assert other.holds is None
    for student in "cdefgh":
        os.mkfifo(tmp_path / "submitted" / student / "01" / "x")
    assert doctor.odd_submissions_lines(course)[-1].text == "the same in 3 more folders"


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ({}, []),
        ({".": 0o700, "gradebook.db": 0o666}, []),
        ({".": 0o755, "gradebook.db": 0o644}, ["read the gradebook"]),
        ({".": 0o755, "gradebook.db": 0o646}, ["✗ everybody may change the gradebook"]),
        ({".": 0o777}, ["✗ everybody may change this folder"]),
        ({"exchange": 0o777}, ["✗ everybody may move or remove"]),
        ({"exchange": 0o1777}, []),
    ],
)
def test_what_others_may_read_or_change_is_said(tmp_path, monkeypatch, modes, expected):
    root, exchange = tmp_path / "course", tmp_path / "exchange"
    root.mkdir(mode=0o700)
    exchange.mkdir(mode=0o755)
    (root / "gradebook.db").touch(0o600)
    text = f'c = get_config()\nc.Exchange.root = "{exchange}"\n'
    (root / "nbgrader_config.py").write_text(text)
    for name, mode in modes.items():
        (exchange if name == "exchange" else root / name).chmod(mode)
    lines = [str(line).strip() for line in doctor.mode_lines(Course(root))]
    assert len(lines) == len(expected), lines
    for line, words in zip(lines, expected, strict=True):
        assert words in line


def test_what_a_silent_child_has_said_is_the_one_reason(capsys, monkeypatch):
    broken = trial.PROBE.replace("import ctypes,", "import no_such_module,")
    monkeypatch.setattr(trial, "PROBE", broken)
    assert doctor.doctor(COURSE) == 1
    faults = [row for row in capsys.readouterr().out.splitlines() if "✗" in row]
    assert len(faults) == 1
    assert "ModuleNotFoundError: No module named 'no_such_module'" in faults[0]
    assert "system calls" not in faults[0]
