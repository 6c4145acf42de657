"""Numbers and a stranger's text as the page shows them."""

import re
from typing import Any

from markupsafe import Markup

CUT = 500  # characters of a stranger's text
# Control characters, halves of characters, and marks that turn the reading direction
# of all that follows: a name or a line of code could pass itself off as another.
ILLEGIBLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
THIN = "\N{NARROW NO-BREAK SPACE}"


def legible(value: Any) -> Any:
    """Give a text without what cannot be shown, cut where it is too long.

    >>> legible("a\\x07b"), legible(5)
    ('a\N{REPLACEMENT CHARACTER}b', 5)
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if len(value) > CUT:
        value = value[: CUT - 1] + "…"
    return ILLEGIBLE.sub("\N{REPLACEMENT CHARACTER}", value)


def number(value: float) -> str:
    """Give a number with at most two decimals.

    >>> number(5000), number(7.0), number(2.5), number(1 / 3)
    ('5,000', '7', '2.5', '0.33')
    """
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def counted(count: int, one: str, many: str = "") -> str:
    """Give a count with its noun.

    >>> counted(1, "student"), counted(1200, "student")
    ('1 student', '1,200 students')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def share(part: float, whole: float) -> str:
    """Give a share in per cent; only nothing is 0, and only all of it is 100.

    >>> [share(*pair).replace(THIN, " ") for pair in ((1, 3), (1, 999), (0, 5))]
    ['33 %', 'under 1 %', '0 %']
    >>> [share(*pair).replace(THIN, " ") for pair in ((998, 999), (5, 5), (0, 0))]
    ['over 99 %', '100 %', '–']
    """
    if not whole:
        return "–"
    exact = 100 * part / whole
    if 0 < exact < 1:
        return f"under 1{THIN}%"
    if 99 < exact < 100 - 1e-7:
        return f"over 99{THIN}%"
    return f"{round(exact)}{THIN}%"


def seconds(value: float | None) -> str:
    """Give seconds with two digits that count.

    >>> [seconds(value).replace(THIN, " ") for value in (0.0123, 0.5, 12.34, 120.0)]
    ['0.01 s', '0.50 s', '12.3 s', '120 s']
    >>> seconds(None)
    '–'
    """
    if value is None:
        return "–"
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}{THIN}s"
