"""Verdicts and a stranger's text as HTML that does nothing: no script, link or formula.

It stands in graded notebooks, which formgrader and JupyterLab show among their own
scripts, and on feedback pages. The laying out is ``report``'s; here the verdicts are
data from the journal, and every word in them may be a learner's.
"""

import re
from collections.abc import Sequence

from autograder.grading.result import CaseResult, ExerciseResult
from autograder.messages.report import region

# What moves a cursor, clears a terminal, or sets the title of a window.
ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
# Controls, what turns the direction of the text around it, what UTF-8 does not hold.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
HELD, FAILED, WHY, CLOSING = (
    "  ✓ ",
    "  ✗ ",
    "      ",
    "→ ",
)  # how a report's lines begin


def visible(text: str) -> str:
    r"""Give a stranger's text with its colours gone and its unseen signs spelled out.

    >>> visible("\x1b[31mred\x1b[0m \u202eabc")
    'red ⟨U+202E⟩abc'
    """
    plain = ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", plain)


def still(text: str) -> str:
    """Give HTML for text that nothing changes: no Markdown, MathJax or browser.

    It is one line of letters and numbers of signs, for a Markdown cell.
    """
    rows = "".join(
        sign if sign.isalnum() or sign == " " else f"&#{ord(sign)};"
        for sign in visible(text)
    )
    return f'<pre style="white-space:pre-wrap">{rows}</pre>'


def points(number: float) -> str:
    """Say how many points.

    >>> points(1.0), points(2.5)
    ('1 point', '2.5 points')
    """
    return f"{number:g} point{'' if number == 1 else 's'}"


def points_of(number: float, most: float) -> str:
    """Say how many points of how many.

    >>> points_of(0.0, 1.0)
    '0 of 1 point'
    """
    return f"{number:g} of {points(most)}"


def verdicts_html(exercise: ExerciseResult) -> str:
    """Give an exercise's verdicts as a small piece of HTML."""
    first, *lines = visible(exercise.report).split("\n")
    reasons = _reasons(exercise, lines)
    page = region(
        exercise.exercise,
        first or f"{exercise.exercise} could not be graded",
        _above(lines),
        [
            (case.status == "ok", _claim(case), why)
            for case, why in zip(exercise.cases, reasons, strict=False)
        ],
        [line.removeprefix(CLOSING) for line in lines if line.startswith(CLOSING)],
        [_flagged(visible(flag.what), visible(flag.line)) for flag in exercise.flags],
    )
    # MathJax takes what stands between two of these for a formula, and a formula may
    # hold a link; in elements of their own they mark nothing. Our tags have neither.
    return page.replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")


def _above(lines: Sequence[str]) -> list[str]:
    """Give what a report says once, for all claims."""
    starts = HELD, FAILED, WHY
    return [
        line.strip()
        for line in lines
        if line.startswith("  ") and not line.startswith(starts)
    ]


def _reasons(exercise: ExerciseResult, lines: Sequence[str]) -> list[str]:
    """Give why each claim does not hold, as its report tells it: in full once.

    None for no claim: of an answer that is not written they are not listed.
    """
    told: list[str] = []
    for line in lines:
        if line.startswith((HELD, FAILED)):
            told.append("")
        elif line.startswith(WHY) and told:
            told[-1] = line.strip()
    if told and len(told) != len(exercise.cases):
        return [visible(case.why) for case in exercise.cases]
    return told


def _claim(case: CaseResult) -> str:
    """Give a claim with its points.

    >>> _claim(CaseResult("it_holds", "It holds", "ok", 1.0, 1.0, True))
    'It holds (1 point)'
    >>> _claim(CaseResult("it_holds", "It holds", "wrong", 0.0, 2.0, True))
    'It holds (0 of 2 points)'
    """
    whole = case.points == case.max_points
    part = points(case.points) if whole else points_of(case.points, case.max_points)
    return f"{visible(case.claim)} ({part})"


def _flagged(what: str, line: str) -> str:
    return f"For review by a person: the answer calls `{what}`" + (
        f" in `{line}`" if line else ""
    )
