"""Turn a submitted file's bytes into what its JSON says, or into a sentence why not.

Archives are named, never unpacked. What a notebook is made of is ``reading``'s work.
"""

import codecs
import json
import re
from typing import Any

from autograder.grading.untrusted_file import Unreadable

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
