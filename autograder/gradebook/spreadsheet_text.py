"""Text that a spreadsheet opens without harm: no formulas, one line for each cell."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")  # some spreadsheets take the wide ones too
# A spreadsheet in much of Europe parts cells at ";", PHP takes "\" for an escape.
SEPARATORS = str.maketrans({";": ",", "\\": "/"})
INVISIBLE = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of pairs, line ends


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV, a line each, ended as Canvas and Moodle end theirs."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def safe_text(text: str) -> str:
    """Return untrusted text as one line that no spreadsheet takes for a formula.

    >>> safe_text(" =1+1;  x")
    "'=1+1, x"
    """
    characters = (
        " " if unicodedata.category(each) in INVISIBLE else each for each in text
    )
    line = " ".join("".join(characters).translate(SEPARATORS).split())
    return f"'{line}" if FORMULA.match(line) else line


def format_timestamp(timestamp: str) -> str:
    """Return a time to the second, however a database has written it.

    >>> format_timestamp("2026-03-02 09:30:00.123456"), format_timestamp("")
    ('2026-03-02 09:30:00', '')
    """
    try:
        return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return safe_text(timestamp)
