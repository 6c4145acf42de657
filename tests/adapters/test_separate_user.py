"""Where a container has no namespaces: submissions run as a user of their own.

A copy of the packages that other users cannot read stands for the container's. What a
submission tries is written into what it returns, so that a verdict would show it.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from autograder.grading.identity import PACKAGES
from tests.submissions import COURSE, LESSON, MAX_POINTS, Submission

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as in a container"),
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"),
]

TRIES = """
import os, pathlib, signal, socket, subprocess, sys
found = []
def tries(what, action):
    try:
        found.append((what, action()))
    except BaseException as error:
        pass
here = {here!r}
tries("results", lambda: pathlib.Path(here, "results.json").write_text("{{}}"))
tries("seed", lambda: pathlib.Path(here, "seed").read_text())
tries("bank", lambda: pathlib.Path(here, "site/autograder/__init__.py").read_text())
tries("folder", lambda: os.listdir(pathlib.Path(here, "site")))
tries("root", lambda: os.setuid(0))
tries("kill", lambda: os.kill(os.getppid(), signal.SIGKILL))
tries("memory", lambda: open(f"/proc/{{os.getppid()}}/mem", "rb"))
tries("network", lambda: socket.create_connection(("127.0.0.1", 9), 0.1))
tries("socket", lambda: socket.socket(socket.AF_INET))
tries("much", lambda: bytearray(4 << 30))
"""
LINGERS = """
import os, time
if os.fork() == 0:
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def closed():
    """Make a folder with the packages and a lesson that nobody else may read.

    It is not pytest's, whose own folders are closed: only what we close is to count.
    """
    with tempfile.TemporaryDirectory(prefix="container-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        site = folder / "site"
        for package in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(package, site / package.name, ignore=ignored)
        (site / "notebooks").mkdir()
        shutil.copytree(COURSE.root / "notebooks" / LESSON, site / "notebooks" / LESSON)
        for name in ("nbgrader_config.py", "releases.json"):
            shutil.copy(COURSE.root / name, site)
        (folder / "temporary").mkdir()
        (folder / "seed").write_text(f"{7:032x}\n", encoding="ascii")
        (folder / "seed").chmod(0o600)
        subprocess.run(["chmod", "-R", "go-rwx", site], check=True)
        yield folder


def judge(folder, submission, *options):
    """Judge in the closed folder; return the process that has ended."""
    path = folder / f"{LESSON}.ipynb"
    path.write_text(submission.text(), encoding="utf-8")
    command = [sys.executable, "-m", "autograder", "judge", path, "--json", *options]
    environment = os.environ | {"PYTHONPATH": str(folder / "site")}
    environment["TMPDIR"] = str(folder / "temporary")
    return subprocess.run(
        [*command, "--seed", folder / "seed"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


def lingering(folder):
    """Return the processes that were started with what lies in a folder."""
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            processes += [process] * (str(folder) in " ".join(process.cmdline()))
    return processes


@pytest.mark.sandbox
def test_right_answers_get_their_points(closed):
    done = judge(closed, Submission(), "--separate-user")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"] == MAX_POINTS


@pytest.mark.sandbox
def test_submission_reaches_nothing_and_leaves_nothing(closed):
    submission = Submission()
    submission.own(TRIES.format(here=str(closed)) + LINGERS, above="softmax")
    submission.own("raise RuntimeError(str(found))", above="softmax")
    done = judge(closed, submission, "--separate-user")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["points"] == MAX_POINTS
    (trouble,) = [each for each in data["troubles"] if "RuntimeError" in each]
    assert trouble.endswith("RuntimeError: []"), trouble
    assert not (closed / "results.json").exists()
    assert [*(closed / "temporary").iterdir()] == []
    assert lingering(closed) == []


@pytest.mark.sandbox
def test_open_packages_are_refused_with_the_command(closed):
    site = closed / "site"
    site.chmod(0o755)
    (site / "autograder").chmod(0o755)
    try:
        done = judge(closed, Submission(), "--separate-user")
    finally:
        (site / "autograder").chmod(0o700)
        site.chmod(0o700)
    assert (done.returncode, done.stdout) == (1, "")
    assert "chmod -R go-rwx" in done.stderr
    assert str(site / "autograder") in done.stderr
