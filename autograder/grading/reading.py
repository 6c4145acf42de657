"""Read what a learner has written from a submitted notebook, of which all may be wrong.

Only the cells' kinds, sources and two marks are taken; outputs, tags, points and what
the file says about itself are not even looked at. Which cell is which is ``rebuild``'s
work.
"""

import codecs
import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

LONGEST_NAME = 80  # characters of a name in a sentence; a name may hold 255
MOST_NAMES = 3  # of other files, named where the right one is missing
FILE_KINDS = {
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
    return "" if stat.S_ISREG(mode) else FILE_KINDS.get(stat.S_IFMT(mode), "no file")


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


MOST_VALUES = 3_000_000  # JSON values in a file: so many take some 200 MB of memory
ARCHIVES = {
    b"PK": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"\xfd7zXZ": "an xz archive",
    b"%PDF": "a PDF file",
}
ENCODINGS = {  # by the mark that the file begins with
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def document(raw: bytes, name: str) -> dict[str, Any]:
    """Give what the JSON in a file says; raises ``Unreadable``.

    name : the file's, for the sentence
    """
    text = _decoded(raw, name)
    if sum(raw.count(mark) for mark in b",[{") > MOST_VALUES:
        raise Unreadable(
            f"{name} holds more than {MOST_VALUES:,} values: clear the outputs of the "
            "notebook and hand it in again."
        )
    try:
        found = json.loads(text, parse_int=float)  # an int may have too many digits
    except json.JSONDecodeError as error:
        raise Unreadable(_not_json(text, error, name)) from None
    except RecursionError:
        raise Unreadable(f"{name} is no notebook: it is nested too deep.") from None
    except MemoryError:
        raise Unreadable(f"{name} takes too much memory to be read.") from None
    if not isinstance(found, dict):
        kind = "a list" if isinstance(found, list) else "a single value"
        raise Unreadable(f"{name} is no notebook, but {kind}.")
    return found


def _decoded(raw: bytes, name: str) -> str:
    for start, what in ARCHIVES.items():
        if raw.startswith(start):
            raise Unreadable(f"{name} is {what}: hand in the notebook itself.")
    encoding = next((ENCODINGS[mark] for mark in ENCODINGS if raw.startswith(mark)), "")
    try:
        text = raw.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise Unreadable(
            f"{name} is no notebook: line {line} is not text in UTF-8."
        ) from None
    if not text.strip():
        raise Unreadable(f"{name} is empty.")
    return text


def _not_json(text: str, error: json.JSONDecodeError, name: str) -> str:
    """Say what a text is that looks like JSON at most."""
    begin = text.lstrip()[:200].lower()
    if begin.startswith(("<!doctype", "<html", "<?xml")):
        return f"{name} is a web page: hand in the notebook itself."
    if not begin.startswith("{"):
        return f"{name} is no notebook: a notebook begins with a brace."
    if re.search("^<<<<<<< ", text, re.MULTILINE):
        return f"{name} holds two versions of itself: solve the merge conflict first."
    if not text.rstrip().endswith("}"):
        return f"{name} ends in the middle: it was not saved or sent to its end."
    return f"{name} is no notebook: {error.msg} in line {error.lineno}."


MOST_BYTES = 32 << 20  # Colab takes 20 MB; a lesson with all its pictures has 2 MB
MOST_CELLS = 2_000  # the longest lesson has 70, and each is matched with each
LONGEST_CODE = 1 << 20  # bytes of one cell's code; an honest one has a few thousand
MOST_CODE = 3 << 20  # bytes of all code: a message to the sandbox holds 4 MiB
LONGEST_PROSE = 100_000  # characters of a text cell; longer ones hold a picture: cut
LONGEST_MARK = 200  # characters of an id; Jupyter allows 64

KINDS: dict[object, Literal["code", "markdown", "raw"]] = {
    "code": "code",
    "markdown": "markdown",
    "raw": "raw",
    "heading": "markdown",  # nbformat 3
}
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class SubmittedCell:
    """One cell as the learner wrote it.

    source : its text with ``\\n`` between the lines, always fit for UTF-8
    id, grade_id : the marks by which it may be known; "" if it has none
    """

    kind: Literal["code", "markdown", "raw"]
    source: str
    id: str = ""
    grade_id: str = ""


def read_submission(path: Path, below: Path | None = None) -> tuple[SubmittedCell, ...]:
    """Read a submitted notebook's cells; raises ``Unreadable``.

    path : in nbgrader's order of folders: ``submitted/student/lesson/lesson.ipynb``
    below : the folder in which nothing may be a link; if it is not given, the student's
        folder, or the file's own if that is not named as the file
    """
    return read_cells(read_file(path, below), path.name)


def read_file(path: Path, below: Path | None = None) -> bytes:
    """Read a submitted file's bytes; see ``read_submission``."""
    nested = path.parent.name == path.stem
    below = below or (path.parent.parent if nested else path.parent)
    return read_bytes(path, below, MOST_BYTES)


def read_cells(raw: bytes, name: str) -> tuple[SubmittedCell, ...]:
    """Read the cells out of a file's bytes; raises ``Unreadable``."""
    name = shown(name)
    found = _found_cells(document(raw, name), name)
    if len(found) > MOST_CELLS:
        raise Unreadable(
            f"{name} has {len(found)} cells, more than the {MOST_CELLS} that are read."
        )
    cells = tuple(_written(found))
    if not cells:
        raise Unreadable(f"{name} has no cells with code or text.")
    _check_lengths(cells, name)
    return cells


def _found_cells(notebook: dict[str, Any], name: str) -> list[Any]:
    """Give the list of cells, of nbformat 4 or 3."""
    cells = notebook.get("cells")
    if isinstance(cells, list) and cells:
        return cells
    sheets = notebook.get("worksheets")
    found = []
    for sheet in sheets if isinstance(sheets, list) else []:
        part = sheet.get("cells") if isinstance(sheet, dict) else None
        found += part if isinstance(part, list) else []
    if not found:
        raise Unreadable(f"{name} has no cells.")
    return found


def _written(found: list[Any]) -> Iterator[SubmittedCell]:
    """Give the cells of known kinds; what is not as it should be counts as absent."""
    for cell in found:
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if not isinstance(kind, str) or kind not in KINDS:
            continue
        metadata = _mapping(cell.get("metadata"))
        source = _text(cell.get("source")) or _text(cell.get("input"))
        if kind != "code" and len(source) > LONGEST_PROSE:
            source = source[:LONGEST_PROSE] + "…"
        # Colab keeps a cell's id in its metadata.
        mark = _mark(cell.get("id")) or _mark(metadata.get("id"))
        grade_id = _mark(_mapping(metadata.get("nbgrader")).get("grade_id"))
        yield SubmittedCell(KINDS[kind], source, mark, grade_id)


def _check_lengths(cells: tuple[SubmittedCell, ...], name: str) -> None:
    lengths = [len(cell.source.encode()) for cell in cells if cell.kind == "code"]
    for limit, length, what in (
        (LONGEST_CODE, max(lengths, default=0), "in one cell"),
        (MOST_CODE, sum(lengths), "in all"),
    ):
        if length > limit:
            raise Unreadable(
                f"{name} has {length / 2**20:.1f} MiB of code {what}, more than the "
                f"{limit >> 20} MiB that are read."
            )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _mark(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return _clean(text) if len(text) <= LONGEST_MARK else ""


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return _clean(value) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    """Give a text that UTF-8 and Python's parser take, with one kind of line end."""
    if SURROGATE.search(text):  # pairs are joined, single ones replaced
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")


# MERGED autograder.grading.untrusted_file: Read the bytes of a file that a stranger has handed in.
#
#   Nothing is followed, unpacked or waited for: whatever is not an ordinary file of an
#   ordinary size is refused in a sentence. What the bytes mean is ``reading``'s work.
#
# MERGED autograder.grading.document: Turn a submitted file's bytes into what its JSON says, or into a sentence why not.
#
#   Archives are named, never unpacked. What a notebook is made of is ``reading``'s work.
#
