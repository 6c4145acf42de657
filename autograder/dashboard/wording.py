"""Numbers, untrusted text and sentences as the page shows them."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from autograder.dashboard.class_results import Roster, StudentRow
from autograder.dashboard.misconceptions import MisconceptionCount
from autograder.dashboard.scores import ClassSummary
from autograder.dashboard.term import Term

MAX_TEXT = 500  # characters of an untrusted text
# Control characters, halves of characters, and marks that turn the reading direction
# of all that follows: a name or a line of code could pass itself off as another.
ILLEGIBLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
THIN = "\N{NARROW NO-BREAK SPACE}"


def legible(value: Any) -> Any:
    """Replace what cannot be shown in a text, and cut the text where it is too long.

    >>> legible("a\\x07b"), legible(5)
    ('a\N{REPLACEMENT CHARACTER}b', 5)
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if len(value) > MAX_TEXT:
        value = value[: MAX_TEXT - 1] + "…"
    return ILLEGIBLE.sub("\N{REPLACEMENT CHARACTER}", value)


def format_number(value: float) -> str:
    """Return a number with at most two decimals.

    >>> [format_number(value) for value in (5000, 7.0, 2.5, 1 / 3)]
    ['5,000', '7', '2.5', '0.33']
    """
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def format_count(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun.

    >>> format_count(1, "student"), format_count(1200, "student")
    ('1 student', '1,200 students')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def format_share(part: float, total: float) -> str:
    """Return a share in per cent; only nothing is 0, and only all of it is 100.

    >>> [format_share(*pair).replace(THIN, " ") for pair in ((1, 3), (1, 999), (0, 5))]
    ['33 %', 'under 1 %', '0 %']
    >>> pairs = (998, 999), (5, 5), (0, 0)
    >>> [format_share(*pair).replace(THIN, " ") for pair in pairs]
    ['over 99 %', '100 %', '–']
    """
    if not total:
        return "–"
    exact = 100 * part / total
    if 0 < exact < 1:
        return f"under 1{THIN}%"
    if 99 < exact < 100 - 1e-7:
        return f"over 99{THIN}%"
    return f"{round(exact)}{THIN}%"


def format_seconds(value: float | None) -> str:
    """Return seconds with two significant digits or more.

    >>> values = 0.0123, 0.5, 12.34, 120.0
    >>> [format_seconds(value).replace(THIN, " ") for value in values]
    ['0.01 s', '0.50 s', '12.3 s', '120 s']
    >>> format_seconds(None)
    '–'
    """
    if value is None:
        return "–"
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}{THIN}s"


def format_signed(value: float) -> str:
    """Return a whole number with its sign, and which way it points.

    >>> [format_signed(value) for value in (12.4, -7.0, 0.3)]
    ['+12 ▲', '−7 ▼', '0']
    """
    whole = round(value)
    if not whole:
        return "0"
    return f"+{whole} ▲" if whole > 0 else f"−{-whole} ▼"


def short_lesson(lesson: str) -> str:
    """Return a lesson's number, or its name if it has none.

    >>> short_lesson("01_dot_product_attention"), short_lesson("warm_up")
    ('01', 'warm_up')
    """
    number = lesson.partition("_")[0]
    return number if number.isdecimal() else lesson


def lead(summary: ClassSummary, counts: Sequence[MisconceptionCount]) -> str:
    """Return two sentences on how the class stands.

    counts : the misconceptions, the most frequent first
    """
    if summary.median is None:
        if not summary.submissions:
            return "Nobody has handed anything in yet."
        if summary.submissions == 1:
            return "The only submission could not be graded: the reason is below."
        many = format_count(summary.submissions, "submission")
        return f"None of {many} could be graded: the reasons are below."
    points = f"{format_number(summary.median)} of {format_number(summary.max_points)}"
    who = "The one submission that counts has"
    if summary.counted > 1:
        who = "Half of the class has at least"
    sentence = f"{who} {points} points."
    if not counts:
        return f"{sentence} No answer shows a known misconception."
    students = format_count(len(counts[0].students), "student")
    alike = sum(len(each.students) == len(counts[0].students) for each in counts)
    if alike > 1:
        return (
            f"{sentence} {alike} misconceptions are the most frequent: {students} each."
        )
    return (
        f"{sentence} The most frequent misconception is {counts[0].name} in "
        f"{counts[0].exercise}, shown by {students}."
    )


def term_lead(term: Term) -> str:
    """Return a sentence or two on how the class stands over the term."""
    graded = [each for each in term.lessons if each.median is not None]
    if not graded:
        return "No lesson has been graded yet."
    medians = [
        f"{format_share(each.median or 0.0, 1)} in {short_lesson(each.lesson)}"
        for each in graded
    ]
    sentence = f"The class's median is {medians[-1]}"
    if len(medians) > 1:
        sentence += f", after {medians[0]}"
    if not term.costly:
        return f"{sentence}."
    most = term.costly[0]
    where = f"{most.exercise} in {short_lesson(most.lesson)}"
    return f"{sentence}. The exercise that has cost most points is {where}."


def misconceptions_in_words(
    roster: Roster, counts: Sequence[MisconceptionCount]
) -> str:
    """Return a sentence on how many students show how many misconceptions."""
    who = {student for each in counts for student in each.students}
    students = format_count(len(who), "student")
    different = format_count(len(counts), "misconception")
    share = format_share(len(who), len(roster.readable))
    return f"{students}, {share} of those who could be graded, showed {different}."


def remarks(row: StudentRow) -> str:
    """Return what is special about a student's points, separated by commas."""
    holds = {
        "could not be graded": not row.readable,
        "for review": bool(row.result.flags),
        "as in the solutions": bool(row.result.as_in_solutions),
        "graded by hand": row.by_hand,
        "needs a manual grade": row.needs_manual_grade,
        f"{format_number(row.penalty)} taken off, late": row.penalty > 0,
    }
    return ", ".join(remark for remark in holds if holds[remark])
