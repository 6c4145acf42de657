"""What Canvas and Moodle put into an archive of submissions: names, times, bytes.

- Canvas (github.com/instructure/canvas-lms, ``lib/content_zipper.rb``):
  ``lastnamefirstname_LATE_123_456_name.ipynb``, with the name in lower case and without
  what is no letter or digit, ``LATE_`` only where Canvas counts it as late, the
  student's number, and the file's, which is the greater the later it came. A file that
  is handed in again may be called ``name-1.ipynb``. No name where marking is anonymous.
- Moodle (github.com/moodle/moodle, ``mod/assign/classes/downloader.php``): a folder
  ``First Last_123_assignsubmission_file`` (older ones with ``_`` at the end) or the
  same as the beginning of the file's name. The number is the participant's in this one
  assignment: it says nothing about who that is.
- Both write entries with the time at which the archive is made, unless they are set up
  otherwise: such times are recognised by their being all alike.

Nothing is unpacked by a name of the archive's: paths that lead out of it and links are
named, and what is read is limited.
"""

import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path

from autograder.course import CourseError
from autograder.gradebook.lateness import EARLIEST, MAX_AHEAD
from autograder.grading.reading import (
    MAX_BYTES,
    Unreadable,
    printable_name,
    read_bytes,
)

MAX_ENTRIES = 100_000  # of an archive: a class of 300 has some hundreds
PACKING = timedelta(hours=1)  # in which an archive is made: as long as 2 GB take
# What Python raises over an archive that is none; NotImplementedError: its odd features
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
)
UTF_8, ENCRYPTED = 0x800, 0x1  # flags of an entry
TIMES = 0x5455  # the extra field that holds times in UTC
# One part of a path: whoever hands in chooses what stands behind the numbers, and may
# call folders and files there like those of somebody else. So the first part counts.
CANVAS = re.compile(
    r"(?:(?:(?P<anonymous_late>LATE|late)_)?(?P<anonymous>anon_\w{5})"
    r"|(?P<person>.+?)_(?:(?P<late>LATE|late)_)?(?P<number>\d+))"
    r"_(?:(?P<attachment>\d+)_(?P<name>.*)|(?P<entered>text|link)\.html)",
    re.DOTALL,
)
MOODLE = re.compile(
    r"(?P<person>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<name>.*))?",
    re.DOTALL,
)
NOTEBOOK = re.compile(
    r"(.+)\.ipynb(?:\.txt|\.json)?", re.IGNORECASE
)  # as browsers save
LEFTOVERS = re.compile(r"(.*/)?(__MACOSX|\.ipynb_checkpoints)/.*|(.*/)?\._[^/]*")


@dataclass(frozen=True)
class ArchivedFile:
    """A file that somebody has handed in, as its name in the archive says.

    system : ``Canvas`` or ``Moodle``
    person : the name as the archive writes it; "" where marking is anonymous
    number : which the system gives; only Canvas's is the student's own
    name : the file's own
    read : returns the bytes; raises ``Unreadable``
    attachment : Canvas's number of the file, 0 for Moodle
    late : whether the system says so
    moment : the entry's time in UTC, None if it has none that can be
    has_zone : whether the archive says in which zone that is
    packed : whether that is when the archive was made, not when this was handed in
    """

    system: str
    person: str
    number: str
    name: str
    read: Callable[[], bytes]
    attachment: int = 0
    late: bool = False
    moment: datetime | None = None
    has_zone: bool = True
    packed: bool = False

    @property
    def owner(self) -> tuple[str, str, str]:
        """Whose it is: the same for all files of a person."""
        return self.system, self.person, self.number

    @property
    def stem(self) -> str:
        """The name of a notebook without its ending; "" for another file."""
        match = NOTEBOOK.fullmatch(self.name)
        return match[1] if match else ""


def archived_file(
    path: str, read: Callable[[], bytes], moment: datetime | None = None
) -> ArchivedFile | None:
    """Return what an entry's name says; None for a name of neither system.

    Whose it is says the first folder or file of the path that is named so: what is
    below is the owner's, whatever it is called.

    >>> each = archived_file("bauerzoë_LATE_12_345_01_x-1.ipynb", bytes)
    >>> each.person, each.late, each.number, each.attachment, each.name
    ('bauerzoë', True, '12', 345, '01_x-1.ipynb')
    >>> archived_file("Zoë Bauer_12_assignsubmission_file_/01_x.ipynb", bytes).person
    'Zoë Bauer'
    """
    parts = path.split("/")
    for index, part in enumerate(parts):
        inside = parts[-1] if index + 1 < len(parts) else ""
        moodle, canvas = MOODLE.fullmatch(part), CANVAS.fullmatch(part)
        if moodle and canvas:  # one of them matches what the owner has called it
            first = len(canvas["person"] or "") < len(moodle["person"])
            moodle, canvas = (None, canvas) if first else (moodle, None)
        if match := moodle:
            name = inside or match["name"]
            if match["kind"] != "file":
                name = "a text entered online"
            if not name:
                return None
            return ArchivedFile(
                "Moodle", match["person"], match["number"], name, read, moment=moment
            )
        if match := canvas:
            entered = {"text": "a text entered online", "link": "a link", None: ""}
            name = inside or match["name"] or entered[match["entered"]]
            if not name:
                return None
            return ArchivedFile(
                "Canvas",
                match["person"] or "",
                match["number"] or match["anonymous"],
                name,
                read,
                attachment=int((match["attachment"] or "0")[:18]),
                late=bool(match["late"] or match["anonymous_late"]),
                moment=moment,
            )
    return None


@dataclass(frozen=True)
class ArchiveContents:
    """What is in an archive.

    files : that somebody has handed in
    left_out : a sentence for each entry that is not taken
    """

    files: tuple[ArchivedFile, ...]
    left_out: tuple[str, ...]


@contextmanager
def open_archive(path: Path, zone: tzinfo | None) -> Iterator[ArchiveContents]:
    """Open a zip archive, or the folder that it was unpacked into.

    zone : of times without one; None is that of this machine

    Raises ``CourseError`` for what is neither.
    """
    if path.is_dir():
        yield _contents(path, _in_folder(path))
        return
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise CourseError(f"{path} is not there: name the archive's file") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror})") from None
    except DAMAGE as error:
        raise CourseError(
            f"{path} is no zip archive, or not all of it ({error}): download it anew"
        ) from None
    with archive:
        yield _contents(path, _in_archive(archive, zone))


def _contents(
    path: Path, entries: Iterator[tuple[str, ArchivedFile | str | None]]
) -> ArchiveContents:
    files, left_out = [], []
    for number, (name, entry) in enumerate(entries):
        if number >= MAX_ENTRIES:
            raise CourseError(f"{path} has more than {MAX_ENTRIES} entries: too many")
        if isinstance(entry, ArchivedFile):
            files.append(entry)
        else:
            reason = entry or "is not named as Canvas or Moodle name submissions"
            left_out.append(f"{printable_name(name)} {reason}; it is left out")
    moments = [file.moment for file in files if file.moment]
    if moments and max(moments) - min(moments) <= PACKING:
        files = [replace(file, packed=True) for file in files]
    return ArchiveContents(tuple(files), tuple(left_out))


def usable_moment(moment: datetime) -> datetime | None:
    """Return a time in UTC without saying so; None if nothing can be from then."""
    moment = moment.astimezone(UTC).replace(tzinfo=None)
    latest = datetime.now(UTC).replace(tzinfo=None) + MAX_AHEAD
    return moment if EARLIEST <= moment <= latest else None


# --- a zip archive ----------------------------------------------------------------


def _in_archive(
    archive: zipfile.ZipFile, zone: tzinfo | None
) -> Iterator[tuple[str, ArchivedFile | str | None]]:
    """Yield each entry's name, and its file, or why it is not taken."""
    for info in archive.infolist():
        path = _path(info)
        if info.is_dir() or LEFTOVERS.fullmatch(path):
            continue
        if fault := _fault(info, path):
            yield path, fault
            continue
        moment, has_zone = _moment(info, zone)
        file = archived_file(path, partial(_read, archive, info), moment)
        yield path, file and replace(file, has_zone=has_zone)


def _path(info: zipfile.ZipInfo) -> str:
    """Return an entry's path: many programs write UTF-8 without saying so."""
    path = info.filename
    if not info.flag_bits & UTF_8:
        try:
            path = path.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass  # then it is in the encoding of old archives, or in no known one
    return unicodedata.normalize("NFC", path.replace("\\", "/"))


def _fault(info: zipfile.ZipInfo, path: str) -> str:
    """Return why an entry is not taken whoever's it is, "" if it may be."""
    if path.startswith("/") or ".." in path.split("/") or path[1:2] == ":":
        return "leads out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    return ""


def _moment(info: zipfile.ZipInfo, zone: tzinfo | None) -> tuple[datetime | None, bool]:
    """Return an entry's time, and whether the archive says its zone."""
    try:
        if seconds := _seconds(info.extra):
            return usable_moment(datetime.fromtimestamp(seconds, UTC)), True
        local = datetime(*info.date_time, tzinfo=zone)
        return usable_moment(local), False
    except (ValueError, OverflowError, struct.error):
        return None, True


def _seconds(extra: bytes) -> int:
    """Return the seconds since 1970 in an entry's extra field, 0 if it has none."""
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == TIMES and len(field) >= 5 and field[0] & 1:
            return int(struct.unpack("<i", field[1:5])[0])
    return 0


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return an entry's bytes; whatever it says of its size, no more are unpacked."""
    if info.flag_bits & ENCRYPTED:
        raise Unreadable("is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable("is compressed as neither Canvas nor Moodle do it")
    if info.file_size <= MAX_BYTES:
        try:
            with archive.open(info) as file:
                raw = file.read(MAX_BYTES + 1)
        except DAMAGE:
            raise Unreadable("is damaged in the archive") from None
        if len(raw) <= MAX_BYTES:
            return raw
    raise Unreadable(f"has more than the {MAX_BYTES >> 20} MiB that are read")


# --- a folder ---------------------------------------------------------------------


def _in_folder(folder: Path) -> Iterator[tuple[str, ArchivedFile | str | None]]:
    """Yield the files below a folder; no link is followed."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            yield name, "is a link"
        elif path.is_file() and not LEFTOVERS.fullmatch(name):
            modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            read = partial(_read_file, path, folder)
            # The folder's own name may be a student's, as Moodle names them
            yield name, archived_file(name, read, usable_moment(modified))


def _read_file(path: Path, folder: Path) -> bytes:
    try:
        return read_bytes(path, folder, MAX_BYTES)
    except Unreadable as error:
        raise Unreadable(str(error).removeprefix(path.name).strip(" .")) from None
