"""What a folder of Pyodide offers beyond the files that the book pins by digest.

A folder with a ``pyodide-lock.json`` of its own lists packages. Those that exercises
import become part of the book if their files, and those of what they depend on, are
there. The lock also says whether the folder is of another version than the tested one.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.course import CourseError

LOCK_FILE = "pyodide-lock.json"
BYTES_OF_MEGABYTE = 1_000_000
Entries = Mapping[str, Mapping[str, Any]]  # of a lock, by Pyodide's names of packages


@dataclass(frozen=True)
class Extra:
    """A package that pages load when an exercise that needs it is checked.

    digests : of its file and those of what it depends on, in hexadecimal, by name
    packages : all of these as Pyodide names them
    megabytes : of these files together, rounded up
    """

    digests: Mapping[str, str]
    packages: tuple[str, ...]
    megabytes: int


@dataclass(frozen=True)
class Offer:
    """Further packages of a folder.

    extras : by the name under which Python imports them
    entries : what the folder's lock says of these and of what they depend on
    remarks : a sentence for each that is in the lock, and cannot be had
    """

    extras: Mapping[str, Extra] = field(default_factory=dict)
    entries: Entries = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class Incomplete(Exception):
    """A package cannot be had: its sentence says what is missing."""


def read_lock(folder: Path | None) -> dict[str, Any]:
    """Return what a folder's own lock says; {} without one.

    Raises ``CourseError`` if it is no lock of Pyodide.
    """
    if not folder or not (folder / LOCK_FILE).is_file():
        return {}
    path = folder / LOCK_FILE
    try:
        lock = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(lock["info"]["version"], str):
            for entry in lock["packages"].values():
                _ = entry["file_name"], entry["sha256"], [*entry["depends"]]
            return dict(lock)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise CourseError(
        f"{path} is no lock of Pyodide: expected info.version and, for each of the "
        "packages, file_name, sha256 and depends; remove it, or take Pyodide's own"
    )


def offer_of(folder: Path, lock: Mapping[str, Any], wanted: Iterable[str]) -> Offer:
    """Return what a folder offers of some packages.

    lock : the folder's
    wanted : the names under which Python imports them

    Raises ``CourseError`` if a file is not the one of the lock's digest.
    """
    entries: Entries = lock["packages"]
    extras: dict[str, Extra] = {}
    used: dict[str, Mapping[str, Any]] = {}
    remarks = []
    for name in sorted(wanted):
        keys = [
            key
            for key, entry in entries.items()
            if name in (entry.get("imports") or [key])
        ]
        if not keys:
            continue
        try:
            whole = with_dependencies(entries, keys[0])
            sizes = [_size(folder, each["file_name"]) for each in whole.values()]
        except Incomplete as fault:
            remarks.append(f"{name} is left out: {folder} {fault}.")
            continue
        for entry in whole.values():
            check_digest(folder / entry["file_name"], entry["sha256"])
        digests = {each["file_name"]: each["sha256"] for each in whole.values()}
        megabytes = math.ceil(sum(sizes) / BYTES_OF_MEGABYTE)
        extras[name] = Extra(digests, tuple(whole), megabytes)
        used |= whole
    return Offer(extras, closed(used), tuple(remarks))


def with_dependencies(
    entries: Entries, name: str, without: Iterable[str] = ("numpy",)
) -> dict[str, Mapping[str, Any]]:
    """Return a package's entry and those of all that it depends on.

    without : what every page has loaded

    Raises ``Incomplete`` if the lock has one of them not.
    """
    todo, whole = [name], dict[str, Mapping[str, Any]]()
    while todo:
        current = todo.pop(0).lower().replace("_", "-")
        if current in whole or current in without:
            continue
        if current not in entries:
            raise Incomplete(f"has no {current} in its {LOCK_FILE}")
        whole[current] = entries[current]
        todo += entries[current]["depends"]
    return whole


def closed(entries: Entries) -> dict[str, Mapping[str, Any]]:
    """Return entries that depend on each other alone: a page knows no other file."""
    return {
        name: {
            **entry,
            "depends": [
                each
                for each in entry["depends"]
                if each.lower().replace("_", "-") in entries
            ],
        }
        for name, entry in entries.items()
    }


def check_digest(path: Path, digest: str) -> None:
    """Raise ``CourseError`` if a file is not the one of a digest."""
    if digest_of(path) != digest:
        raise CourseError(
            f"{path} is not the file that {LOCK_FILE} beside it names: its SHA-256 is "
            "another; get both from one release of Pyodide"
        )


def digest_of(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(folder: Path, file: str) -> int:
    path = folder / file
    if "/" in file or "\\" in file or not path.is_file():
        raise Incomplete(f"has no {file}")
    return path.stat().st_size
