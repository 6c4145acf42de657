"""Read an untrusted notebook: the file's bytes, the JSON in them, the cells in that.

- No link is followed, nothing is unpacked or waited for: whatever is not an ordinary
  file of an ordinary size is refused in a sentence.
- Archives and web pages are named, not opened.
- Only the cells' kinds, sources and three marks, and the release's name, are used;
  outputs, tags, points and what else the file says about itself are ignored.

Which cell is which is decided in ``rebuild``.
"""

import codecs
import errno
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autograder.course.releases import ANSWER_KEY, METADATA_KEY, OPTIONAL

MAX_NAME_LENGTH = 80  # in a sentence; a file name may have 255 characters
# Letters and signs that fonts draw as nothing; and what stands before a code point, so
# that no name passes itself off as one that is spelled out.
NO_INK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f"
    "\uffa0\U000e0100-\U000e01ef⟨]"
)
ODD_BLANKS = re.compile(r"\A +| +\Z| {2,}")
MAX_NAMES = 3  # of other files, named where the right one is missing
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


def read_bytes(path: Path, trusted_root: Path, max_bytes: int) -> bytes:
    """Read a file; raises ``Unreadable``.

    trusted_root : a folder above the file. It may be reached through links, and nothing
        in it may: a link could lead to the course's solutions
    """
    parts = path.relative_to(trusted_root).parts
    try:
        with _open_folder(trusted_root, parts[:-1]) as folder:
            return _read_in(folder, parts[-1], max_bytes)
    except OSError as error:
        raise Unreadable(
            f"{printable_name(path.name)} {_os_error_reason(error)}."
        ) from None


def spelled_out(name: str) -> str:
    r"""Return a name with what nobody sees in it spelled out.

    Two names that differ look different, though one has a blank at its end, two of
    them, or a wide one. A single blank between letters stays.

    >>> spelled_out("Zoë Lee"), spelled_out("zoe "), spelled_out("zoe\u00a0lee")
    ('Zoë Lee', 'zoe⟨U+0020⟩', 'zoe⟨U+00A0⟩lee')
    """
    text = "".join(
        each if each.isprintable() and not NO_INK.match(each) else _code_point(each)
        for each in name
    )
    return ODD_BLANKS.sub(lambda match: _code_point(" ") * len(match[0]), text)


def _code_point(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"


def printable_name(name: str) -> str:
    """Return a name fit for a sentence: printable, and not too long."""
    text = spelled_out(name)
    return text if len(text) <= MAX_NAME_LENGTH else f"{text[:MAX_NAME_LENGTH]}…"


def listed(names: Sequence[str], most: int) -> str:
    """Return names as a list for a sentence, not all if there are many.

    >>> listed(["ann", "ben", "zoe"], most=2)
    'ann, ben and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def json_to_look_at(value: Any, **options: Any) -> str:
    """Return JSON in which what no eye sees is escaped: ``cat`` may show it.

    options : as for ``json.dumps``

    >>> print(json_to_look_at("Zoë \u202e √"))
    "Zoë \\u202e √"
    """
    text = json.dumps(value, ensure_ascii=False, **options)
    text = text.encode("utf-8", "replace").decode()
    if text.isprintable():
        return text
    # Only texts in the JSON hold such characters, but for the lines of its layout.
    escaped = (
        each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1]
        for each in text
    )
    return "".join(escaped)


@contextmanager
def _open_folder(trusted_root: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """Open a folder step by step; each step from the folder that is already open."""
    try:
        folder = os.open(trusted_root, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise Unreadable("There is no submission.") from None
    try:
        for part in parts:
            kind = _unusual_kind(part, folder)
            if kind != "a folder":
                raise Unreadable(
                    f"The folder {printable_name(part)} is "
                    f"{kind or 'something unknown'}: hand in the notebook in an "
                    "ordinary folder."
                )
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            inner = os.open(part, flags, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _read_in(folder: int, name: str, max_bytes: int) -> bytes:
    """Read a file in an open folder."""
    try:
        if kind := _unusual_kind(name, folder):
            raise Unreadable(
                f"{printable_name(name)} is {kind}, not a file: hand in a copy."
            )
        # Without O_NONBLOCK, a pipe that has just replaced the file would block.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise Unreadable(_missing_file_message(name, folder)) from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{printable_name(name)} is not a file.")
        raw = file.read(max_bytes + 1) if status.st_size <= max_bytes else b""
    size = max(status.st_size, len(raw))
    if size > max_bytes:
        raise Unreadable(
            f"{printable_name(name)} has {size / 2**20:.1f} MiB, more than the "
            f"{max_bytes / 2**20:.0f} MiB that are read: clear the outputs of the "
            "notebook and hand it in again."
        )
    return raw


def _unusual_kind(name: str, folder: int) -> str:
    """Return what a name stands for, "" for an ordinary file."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    return "" if stat.S_ISREG(mode) else FILE_KINDS.get(stat.S_IFMT(mode), "no file")


def kind_of_entry(entry: os.DirEntry[str]) -> str:
    """Return what an entry of a folder is, such as "a link"."""
    mode = entry.stat(follow_symlinks=False).st_mode
    return FILE_KINDS.get(stat.S_IFMT(mode), "a file")


def _missing_file_message(name: str, folder: int) -> str:
    """Return that there is no such file, and which notebooks there are."""
    others = sorted(each for each in os.listdir(folder) if each.endswith(".ipynb"))
    if not others:
        return f"There is no {printable_name(name)} in the submission."
    listed = ", ".join(printable_name(each) for each in others[:MAX_NAMES])
    return (
        f"There is no {printable_name(name)} in the submission, only {listed}: "
        "give the notebook its own name back and hand it in again."
    )


def _os_error_reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not in the submission"
    if isinstance(error, PermissionError):
        return "may not be read: its owner has not allowed it"
    if error.errno == errno.ELOOP:
        return "cannot be reached without following a link"
    if isinstance(error, NotADirectoryError):
        return "does not lie in a folder"
    return f"cannot be read ({error.strerror})"


MAX_VALUES = 3_000_000  # JSON values in a file: so many take some 200 MB of memory
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


def parse_document(raw: bytes, name: str) -> dict[str, Any]:
    """Return the JSON object in a file; raises ``Unreadable``.

    name : the file's, for the sentence
    """
    text = _decoded(raw, name)
    if sum(raw.count(mark) for mark in b",[{") > MAX_VALUES:
        raise Unreadable(
            f"{name} holds more than {MAX_VALUES:,} values: clear the outputs of the "
            "notebook and hand it in again."
        )
    try:
        document = json.loads(text, parse_int=float)  # an int may have too many digits
    except json.JSONDecodeError as error:
        raise Unreadable(_not_json(text, error, name)) from None
    except RecursionError:
        raise Unreadable(f"{name} is no notebook: it is nested too deep.") from None
    except MemoryError:
        raise Unreadable(f"{name} takes too much memory to be read.") from None
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise Unreadable(f"{name} is no notebook, but {kind}.")
    return document


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
    """Return a sentence on a text that is not JSON."""
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


MAX_BYTES = 32 << 20  # Colab takes 20 MB; a lesson with all its pictures has 2 MB
MAX_CELLS = 2_000  # the longest lesson has 175, and each is matched with each
MAX_CELL_CODE_BYTES = 1 << 20  # an honest cell has a few thousand
MAX_CODE_BYTES = 3 << 20  # of all cells: a message to the sandbox holds 4 MiB
MAX_PROSE_LENGTH = 100_000  # a longer text cell holds a picture: cut
MAX_MARK_LENGTH = 200  # of an id; Jupyter allows 64

CELL_KINDS: dict[object, Literal["code", "markdown", "raw"]] = {
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
    id, grade_id : the marks by which it may be matched; "" if it has none
    optional : whether it says that what it checks is optional
    """

    kind: Literal["code", "markdown", "raw"]
    source: str
    id: str = ""
    grade_id: str = ""
    optional: bool = False


@dataclass(frozen=True)
class SubmittedNotebook:
    """A notebook as the learner handed it in.

    release : the name of the release that it says it is of; "" if it does not
    """

    cells: tuple[SubmittedCell, ...]
    release: str = ""


def read_submission(
    path: Path, trusted_root: Path | None = None
) -> tuple[SubmittedCell, ...]:
    """Read a submitted notebook's cells; raises ``Unreadable``.

    path : in nbgrader's order of folders: ``submitted/student/lesson/lesson.ipynb``
    trusted_root : the folder in which nothing may be a link; by default the student's
        folder, or the file's own if that does not have the file's name
    """
    return read_notebook(read_file(path, trusted_root), path.name).cells


def read_file(path: Path, trusted_root: Path | None = None) -> bytes:
    """Read a submitted file's bytes; see ``read_submission``."""
    nested = path.parent.name == path.stem
    trusted_root = trusted_root or (path.parent.parent if nested else path.parent)
    return read_bytes(path, trusted_root, MAX_BYTES)


def read_notebook(raw: bytes, name: str) -> SubmittedNotebook:
    """Read what is used out of a file's bytes; raises ``Unreadable``."""
    name = printable_name(name)
    document = parse_document(raw, name)
    raw_cells = _raw_cells(document, name)
    if len(raw_cells) > MAX_CELLS:
        raise Unreadable(
            f"{name} has {len(raw_cells)} cells, more than the {MAX_CELLS} that are "
            "read."
        )
    cells = tuple(_submitted_cells(raw_cells))
    if not cells:
        raise Unreadable(f"{name} has no cells with code or text.")
    _check_lengths(cells, name)
    release = _mark(_mapping(document.get("metadata")).get(METADATA_KEY))
    return SubmittedNotebook(cells, release)


def _raw_cells(notebook: dict[str, Any], name: str) -> list[Any]:
    """Return the list of cells, of nbformat 4 or 3."""
    cells = notebook.get("cells")
    if isinstance(cells, list) and cells:
        return cells
    sheets = notebook.get("worksheets")
    raw_cells = []
    for sheet in sheets if isinstance(sheets, list) else []:
        part = sheet.get("cells") if isinstance(sheet, dict) else None
        raw_cells += part if isinstance(part, list) else []
    if not raw_cells:
        raise Unreadable(f"{name} has no cells.")
    return raw_cells


def _submitted_cells(raw_cells: list[Any]) -> Iterator[SubmittedCell]:
    """Yield the cells of known kinds; a part of a wrong type counts as absent."""
    for cell in raw_cells:
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if not isinstance(kind, str) or kind not in CELL_KINDS:
            continue
        metadata = _mapping(cell.get("metadata"))
        source = _text(cell.get("source")) or _text(cell.get("input"))
        if kind != "code" and len(source) > MAX_PROSE_LENGTH:
            source = source[:MAX_PROSE_LENGTH] + "…"
        # Colab keeps a cell's id in its metadata.
        mark = _mark(cell.get("id")) or _mark(metadata.get("id"))
        grade_id = _mark(_mapping(metadata.get("nbgrader")).get("grade_id"))
        optional = _mapping(metadata.get(ANSWER_KEY)).get(OPTIONAL) is True
        yield SubmittedCell(CELL_KINDS[kind], source, mark, grade_id, optional)


def _check_lengths(cells: tuple[SubmittedCell, ...], name: str) -> None:
    lengths = [len(cell.source.encode()) for cell in cells if cell.kind == "code"]
    for limit, length, what in (
        (MAX_CELL_CODE_BYTES, max(lengths, default=0), "in one cell"),
        (MAX_CODE_BYTES, sum(lengths), "in all"),
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
    return _clean(text) if len(text) <= MAX_MARK_LENGTH else ""


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return _clean(value) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    """Return a text that UTF-8 and Python's parser take, with one kind of line end."""
    if SURROGATE.search(text):  # pairs are joined, single ones replaced
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")
