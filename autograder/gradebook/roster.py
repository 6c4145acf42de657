"""The class's roster: names, e-mail addresses, LMS ids and sections from a file.

``nbgrader db student import`` takes only its own columns, stops at a bad row with half
of the class entered, and empties what the file leaves out. Here either all rows are
entered or none, and an empty cell changes nothing.
"""

import csv
import io
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from autograder.course import CourseError
from autograder.gradebook.grades import SECTIONS, Person, read_people
from autograder.gradebook.writing import INVISIBLE, MAX_ID, id_fault

MAX_BYTES = 16 << 20
SEPARATORS = ",;\t"
# What a person's data are called: by nbgrader, by Canvas's gradebook export, and by
# Moodle's participants and grades; written in small letters. The first that is there
# counts: of Canvas's three ids the login, as in the files that go back.
ID = ("id", "username", "sis login id", "user name", "login")
COLUMNS = {
    "first_name": ("first_name", "first name", "firstname", "given name"),
    "last_name": ("last_name", "last name", "surname", "lastname"),
    "email": ("email", "email address", "e-mail", "mail"),
    "lms_user_id": ("lms_user_id", "id number", "idnumber", "sis user id"),
    "section": ("section", "sections", "groups", "group"),
}
# Only Canvas's export has it. "ID" is Canvas's own number there.
CANVAS = "sis login id"
CANVAS_NAME = "student"  # "Last, First"
# Canvas's own rows
NO_PERSON = ("", "points possible", "student, test", "test student")
ENTER = (
    "INSERT INTO student (id, first_name, last_name, email, lms_user_id) "
    "VALUES (?, nullif(?, ''), nullif(?, ''), nullif(?, ''), nullif(?, '')) "
    "ON CONFLICT (id) DO UPDATE SET "
    "first_name = coalesce(excluded.first_name, first_name), "
    "last_name = coalesce(excluded.last_name, last_name), "
    "email = coalesce(excluded.email, email), "
    "lms_user_id = coalesce(excluded.lms_user_id, lms_user_id)"
)
MAKE_SECTIONS = (
    f"CREATE TABLE IF NOT EXISTS {SECTIONS} "
    "(student_id VARCHAR(128) PRIMARY KEY NOT NULL, name VARCHAR NOT NULL)"
)
ENTER_SECTION = f"INSERT OR REPLACE INTO {SECTIONS} (student_id, name) VALUES (?, ?)"
MAX_SECTION = 1000  # characters: Moodle's groups, all of a student's


@dataclass(frozen=True)
class RosterChanges:
    """What entering a roster has changed.

    absent : ids of those whom the gradebook has, and the file has not
    """

    new: int
    changed: int
    absent: tuple[str, ...]


# --- the file -----------------------------------------------------------------------


def read_roster(path: Path, id_column: str = "") -> list[Person]:
    """Return the people in a file; raises ``CourseError``, which names each bad row.

    id_column : the column of the students' ids, if it is not one that is known
    """
    rows = csv.reader(io.StringIO(text := _text(path)), delimiter=_separator(text))
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        numbered = [(rows.line_num, row) for row in rows if any(map(str.strip, row))]
    except csv.Error as error:
        raise CourseError(
            f"{path}, line {rows.line_num}, is no CSV ({error}): export it again"
        ) from None
    id_column = _id_column(path, header, id_column)
    people: dict[str, Person] = {}
    faults = []
    for number, row in numbered:
        cells = dict(zip(header, map(str.strip, row), strict=False))
        if CANVAS in header and cells.get(CANVAS_NAME, "").lower() in NO_PERSON:
            continue
        person = _person(cells, id_column)
        fault = _fault(person)
        if len(row) > len(header):
            fault = f"has {len(row)} cells, and there are {len(header)} columns"
        elif person.id in people:
            fault = f"has the id {person.id}, as an earlier row"
        if fault:
            faults.append(f"line {number} {fault}")
        people[person.id] = person
    if faults:
        raise CourseError(
            "\n".join([*faults, f"{path}: mend these rows; nothing was entered"])
        )
    if not people:
        raise CourseError(f"{path} names nobody: nothing was entered")
    return list(people.values())


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise CourseError(f"{path} is no file: name the roster's CSV file")
        raw = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror})") from None
    if len(raw) > MAX_BYTES or raw.startswith(b"PK"):
        raise CourseError(f"{path} is no CSV file: export the roster as CSV")
    try:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not in UTF-8: save it in that encoding") from None


def _separator(text: str) -> str:
    """Return what separates the columns of the first line."""
    first = text.partition("\n")[0]
    return max(SEPARATORS, key=first.count)


def _id_column(path: Path, header: Sequence[str], wanted: str) -> str:
    """Return the column of the ids; raises ``CourseError`` if it is not there."""
    known = [CANVAS] if CANVAS in header else [each for each in ID if each in header]
    names = [wanted.strip().lower()] if wanted else known
    if not names or names[0] not in header:
        raise CourseError(
            f"{path} has no column {wanted or 'of ids (id, Username, SIS Login ID)'}; "
            f"it has {', '.join(header) or 'none'}: name the one that holds the names "
            "of the students' folders with --id"
        )
    return names[0]


def _person(cells: Mapping[str, str], id_column: str) -> Person:
    data = {
        field: next((cells[name] for name in names if cells.get(name)), "")
        for field, names in COLUMNS.items()
    }
    if CANVAS in cells:
        last, _, first = cells.get(CANVAS_NAME, "").partition(",")
        data |= {"first_name": first.strip(), "last_name": last.strip()}
        data["lms_user_id"] = cells.get("id", "") or data["lms_user_id"]
    return Person(cells.get(id_column, ""), **data)


def _fault(person: Person) -> str:
    """Return what is wrong with a row; "" if nothing is."""
    if not person.id:
        return "has no id"
    if fault := id_fault(person.id):
        return f"has an id that {fault}"
    for field, value in vars(person).items():
        limit = MAX_SECTION if field == "section" else MAX_ID
        if len(value) > limit:
            return f"has {len(value)} characters as {field}, more than {limit}"
        for character in value:
            if character in "<>" or unicodedata.category(character) in INVISIBLE:
                return f"holds {character!a} in {field}"  # pages show it as it is
    if person.email and (person.email.count("@") != 1 or " " in person.email):
        return f"has an e-mail address that is none: {person.email}"
    return ""


# --- the gradebook ------------------------------------------------------------------


def enter_people(
    connection: sqlite3.Connection, people: Sequence[Person]
) -> RosterChanges:
    """Enter people or what is new about them, within a transaction that writes."""
    before = read_people(connection)
    connection.executemany(ENTER, (astuple(person)[:-1] for person in people))
    if sections := [(each.id, each.section) for each in people if each.section]:
        connection.execute(MAKE_SECTIONS)
        connection.executemany(ENTER_SECTION, sections)
    after = read_people(connection)
    return RosterChanges(
        new=len(after) - len(before),
        changed=sum(before[student] != after[student] for student in before),
        absent=tuple(sorted(before.keys() - {person.id for person in people})),
    )
