"""Numbers and a stranger's text as the page shows them."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from autograder.dashboard.class_results import Entry, Roster
from autograder.dashboard.mistakes import Mistake
from autograder.dashboard.scores import Summary

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


def lead(summary: Summary, known: Sequence[Mistake]) -> str:
    """Say in two sentences how the class stands."""
    if summary.median is None:
        if summary.submissions == 1:
            return "The only submission could not be graded: the reason is below."
        many = counted(summary.submissions, "submission")
        return f"None of {many} could be graded: the reasons are below."
    points = f"{number(summary.median)} of {number(summary.max_points)}"
    who = "The one submission that counts has"
    if summary.counted > 1:
        who = "Half of the class has at least"
    told = f"{who} {points} points."
    if not known:
        return f"{told} No answer shows a known mistake."
    students = counted(len(known[0].students), "student")
    alike = sum(len(each.students) == len(known[0].students) for each in known)
    if alike > 1:
        return f"{told} {alike} known mistakes are the most frequent: {students} each."
    return (
        f"{told} The most frequent known mistake is {known[0].name} in "
        f"{known[0].exercise}, made by {students}."
    )


def mistakes_in_words(group: Roster, known: Sequence[Mistake]) -> str:
    """Say how many students made how many known mistakes."""
    who = {student for mistake in known for student in mistake.students}
    made = counted(len(who), "student")
    different = counted(len(known), "known mistake")
    of = share(len(who), len(group.readable))
    return f"{made}, {of} of those who could be graded, made {different}."


def remarks(entry: Entry) -> str:
    """Say what is special about a student's points."""
    told = {
        "could not be graded": not entry.readable,
        "for review": bool(entry.result.flags),
        "graded by hand": entry.by_hand,
        f"{number(entry.penalty)} taken off, late": entry.penalty > 0,
    }
    return ", ".join(remark for remark, holds in told.items() if holds)


# MERGED autograder.dashboard.sentences: The sentences of the page that depend on the numbers.
