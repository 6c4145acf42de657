"""Cells and lines of a CSV file that a spreadsheet opens without harm.

What the columns mean is not decided here.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

MARK = "\ufeff"  # byte order mark
# Moodle keeps five, Canvas shows two; what comes after is the dust of binary fractions.
DECIMALS = 5
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")  # some spreadsheets take the wide ones too
# A spreadsheet in much of Europe parts cells at ";", PHP takes "\" for an escape.
PARTING = str.maketrans({";": ",", "\\": "/"})
UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of pairs, line ends


def number(value: float) -> str:
    """Give points as text: ``.``, no exponent, no binary dust.

    >>> number(0.1 + 0.2), number(7.0), number(1e-9), number(-0.0)
    ('0.3', '7', '0', '0')
    """
    text = f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def words(text: str) -> str:
    """Give a stranger's text as one line that no spreadsheet takes for a formula.

    >>> words(" =1+1;  x")
    "'=1+1, x"
    """
    seen = (" " if unicodedata.category(each) in UNSEEN else each for each in text)
    line = " ".join("".join(seen).translate(PARTING).split())
    return f"'{line}" if FORMULA.match(line) else line


def moment(timestamp: str) -> str:
    """Give a moment to the second, however a database has written it.

    >>> moment("2026-03-02 09:30:00.123456"), moment("")
    ('2026-03-02 09:30:00', '')
    """
    try:
        return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return words(timestamp)


def as_text(rows: Iterable[Sequence[str]]) -> str:
    """Give rows as CSV, a line each, ended as Canvas and Moodle end theirs."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()
