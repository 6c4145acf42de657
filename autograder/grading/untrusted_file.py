"""Read the bytes of a file that a stranger has handed in.

Nothing is followed, unpacked or waited for: whatever is not an ordinary file of an
ordinary size is refused in a sentence. What the bytes mean is ``reading``'s work.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST_NAME = 80  # characters of a name in a sentence; a name may hold 255
MOST_NAMES = 3  # of other files, named where the right one is missing
KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Unreadable(Exception):
    """Nothing in a submitted file can be graded; its text is one sentence why."""


def read_bytes(path: Path, below: Path, most: int) -> bytes:
    """Read a file; raises ``Unreadable``.

    below : a folder above the file. It may be reached through links, and nothing that
        lies in it may: a link could lead to the course's solutions
    most : how many bytes it may hold
    """
    parts = path.relative_to(below).parts
    try:
        with _folder(below, parts[:-1]) as folder:
            return _read(parts[-1], folder, most)
    except OSError as error:
        raise Unreadable(f"{shown(path.name)} {_why(error)}.") from None


def shown(name: str) -> str:
    """Give a name fit for a sentence: printable, and not too long."""
    text = "".join(letter if letter.isprintable() else "�" for letter in name)
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…"


@contextmanager
def _folder(below: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """Open a folder step by step; each step from the folder that is already open."""
    try:
        folder = os.open(below, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise Unreadable("There is no submission.") from None
    try:
        for part in parts:
            kind = _kind(part, folder)
            if kind != "a folder":
                found = kind or "something unknown"
                raise Unreadable(
                    f"The folder {shown(part)} is {found}: hand in the notebook in an "
                    "ordinary folder."
                )
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            inner = os.open(part, flags, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _read(name: str, folder: int, most: int) -> bytes:
    try:
        if kind := _kind(name, folder):
            raise Unreadable(f"{shown(name)} is {kind}, not a file: hand in a copy.")
        # A pipe that has just taken the file's place would be waited for, else.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        handle = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise Unreadable(_missing(name, folder)) from None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(f"{shown(name)} is not a file.")
        raw = file.read(most + 1) if found.st_size <= most else b""
    if max(found.st_size, len(raw)) > most:
        size = f"{max(found.st_size, len(raw)) / 2**20:.1f} MiB"
        raise Unreadable(
            f"{shown(name)} has {size}, more than the {most / 2**20:.0f} MiB that are "
            "read: clear the outputs of the notebook and hand it in again."
        )
    return raw


def _kind(name: str, folder: int) -> str:
    """Say what stands under a name, "" for an ordinary file."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    return "" if stat.S_ISREG(mode) else KINDS.get(stat.S_IFMT(mode), "no file")


def _missing(name: str, folder: int) -> str:
    """Say that there is no such file, and which notebooks there are."""
    others = sorted(each for each in os.listdir(folder) if each.endswith(".ipynb"))
    if not others:
        return f"There is no {shown(name)} in the submission."
    listed = ", ".join(shown(each) for each in others[:MOST_NAMES])
    return (
        f"There is no {shown(name)} in the submission, only {listed}: give the "
        "notebook its own name back and hand it in again."
    )


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not in the submission"
    if isinstance(error, PermissionError):
        return "may not be read: its owner has not allowed it"
    if error.errno == errno.ELOOP:
        return "cannot be reached without following a link"
    if isinstance(error, NotADirectoryError):
        return "does not lie in a folder"
    return f"cannot be read ({error.strerror})"
