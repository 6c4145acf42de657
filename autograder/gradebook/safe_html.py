"""Verdicts and untrusted text as HTML that does nothing: no script, link or formula.

It is shown in graded notebooks, by formgrader and JupyterLab among their own scripts,
and on feedback pages. The layout is that of ``messages.report``; here the verdicts are
data from the journal, and every word in them may be a learner's.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autograder.checking.points import format_number
from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.messages.report import RIGHT_TO_FLOAT32, Claim, region

# What moves a cursor, clears a terminal, or sets the title of a window.
ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
# Controls, what turns the direction of the text around it, what UTF-8 does not hold.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff]"
)
# How the lines of a report begin.
HOLDS, FAILS, OPEN, WHY, CLOSING = "  ✓ ", "  ✗ ", "  ○ ", "      ", "→ "
NOT_TRIED = "  – "
CLAIMS = HOLDS, FAILS, OPEN, NOT_TRIED
ENDED = re.compile(r" \(not tried: ([^()]+)\)$")  # what is said behind such a claim
# Of an answer; learners do not read it.
AS_IN_SOLUTIONS = "the answer is as in the solutions, up to names, comments and layout."


def visible(text: str) -> str:
    r"""Return untrusted text without colours, its invisible characters spelled out.

    >>> visible("\x1b[31mred\x1b[0m \u202eabc")
    'red ⟨U+202E⟩abc'
    """
    plain = ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", plain)


def inert_html(text: str) -> str:
    """Return HTML for text that nothing changes: no Markdown, MathJax or browser.

    It is one line of letters and character references, for a Markdown cell.
    """
    characters = "".join(
        each if each.isalnum() or each == " " else f"&#{ord(each)};"
        for each in visible(text)
    )
    return f'<pre style="white-space:pre-wrap">{characters}</pre>'


def format_points(points: float) -> str:
    """Return points with their noun.

    >>> format_points(1.0), format_points(2.5)
    ('1 point', '2.5 points')
    """
    return f"{format_number(points)} point{'' if points == 1 else 's'}"


def format_points_of(points: float, max_points: float) -> str:
    """Return points of how many.

    >>> format_points_of(0.0, 1.0)
    '0 of 1 point'
    """
    return f"{format_number(points)} of {format_points(max_points)}"


class VerdictSentences(NamedTuple):
    """What is said about an answer, as ``messages.report.region`` takes it."""

    headline: str
    diagnosis: list[str]
    opening: list[str]
    claims: list[Claim]
    closing: list[str]
    notes: list[str]


def verdicts_of(exercise: ExerciseResult) -> VerdictSentences:
    """Return an exercise's verdicts as sentences, their invisible characters out."""
    first, *lines = visible(exercise.report).split("\n")
    reasons = _reasons(exercise, lines)
    first_claim = next(
        (n for n, line in enumerate(lines) if line.startswith(CLAIMS)), 0
    )
    diagnosis = _standing_out(lines[:first_claim])
    closing = _standing_out(lines[first_claim:])
    if exercise.diagnosis and not diagnosis:  # it stood below the claims at first
        diagnosis, closing = closing, []
    return VerdictSentences(
        first or f"{exercise.exercise} could not be graded",
        diagnosis,
        _opening(lines),
        [
            Claim(case.status == "ok", _claim(case), why, case.fine_point, ended)
            for case, why, ended in zip(
                _in_order(exercise), reasons, _not_tried(lines), strict=False
            )
        ],
        closing,
        [RIGHT_TO_FLOAT32] * exercise.has_too_few_digits
        + [_flag(flag) for flag in exercise.flags],
    )


def verdicts_html(exercise: ExerciseResult) -> str:
    """Return an exercise's verdicts as a short stretch of HTML, for the instructor."""
    verdicts = verdicts_of(exercise)
    for_your_eyes = [f"For your eyes: {AS_IN_SOLUTIONS}"] * exercise.as_in_solutions
    verdicts = verdicts._replace(notes=[*verdicts.notes, *for_your_eyes])
    page = region(exercise.exercise, *verdicts)
    # MathJax takes what is between two of these for a formula, and a formula may hold a
    # link; in elements of their own they mark nothing. Our tags have neither.
    return page.replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")


def _standing_out(lines: Sequence[str]) -> list[str]:
    return [line.removeprefix(CLOSING) for line in lines if line.startswith(CLOSING)]


def _opening(lines: Sequence[str]) -> list[str]:
    """Return what a report says once, for all claims."""
    return [
        line.strip()
        for line in lines
        if line.startswith("  ") and not line.startswith((*CLAIMS, WHY))
    ]


def _in_order(exercise: ExerciseResult) -> list[CaseVerdict]:
    """Return the verdicts as they are listed: the fine points last."""
    return [*exercise.claims, *exercise.fine_points]


def _reasons(exercise: ExerciseResult, lines: Sequence[str]) -> list[str]:
    """Return why each claim does not hold, as the report explains it: in full once.

    Of fine points the report says nothing before all claims hold. The list is empty
    where the report has no claims: for an answer that is not written.
    """
    reasons: list[str] = []
    for line in lines:
        if line.startswith(CLAIMS):
            reasons.append("")
        elif line.startswith(WHY) and reasons:
            reasons[-1] = line.strip()
    if reasons and not exercise.solved:
        reasons += [""] * len(exercise.fine_points)
    if reasons and len(reasons) != len(exercise.cases):
        return [visible(case.why) for case in _in_order(exercise)]
    return reasons


def _not_tried(lines: Sequence[str]) -> Iterator[str]:
    """Yield for each claim why it could not be tried, or "", and then "" for ever."""
    for line in lines:
        if line.startswith(CLAIMS):
            ended = ENDED.search(line) if line.startswith(NOT_TRIED) else None
            yield ended[1] if ended else ""
    yield from itertools.repeat("")


def _claim(case: CaseVerdict) -> str:
    """Return a claim with its points.

    >>> _claim(CaseVerdict("it_holds", "It holds", "ok", 1.0, 1.0, True))
    'It holds (1 point)'
    >>> _claim(CaseVerdict("it_holds", "It holds", "wrong", 0.0, 1.25, True))
    'It holds (0 of 1.25 points)'
    """
    points = format_points(case.points)
    if case.points != case.max_points:
        points = format_points_of(case.points, case.max_points)
    return f"{visible(case.claim)} ({points})"


def _flag(flag: Flag) -> str:
    where = f" in `{visible(flag.line)}`" if flag.line else ""
    return f"For review by a person: {flag.subject} `{visible(flag.what)}`{where}"
