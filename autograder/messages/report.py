"""Lay a judgement out for the notebook: plain text, HTML and data.

Marks are ✓ and ✗ with words, never colour alone; colours are readable on light and on
dark pages. Where claims fail for one and the same reason, it is told once. The
sentences come from ``messages``.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from autograder.checking.judging import Judgement, Verdict
from autograder.messages.explanation import explain, same_reason


def headline(judgement: Judgement) -> str:
    """Say in one line how many claims hold."""
    name, total = judgement.exercise.name, len(judgement.verdicts)
    held = sum(verdict.status == "ok" for verdict in judgement.verdicts)
    if not_written(judgement):
        if _unwritten_call(judgement):
            return f"{name} cannot be checked yet"
        return f"{name} is not written yet"
    if held == total:
        return (
            f"{name}: {'the claim holds' if total == 1 else f'all {total} claims hold'}"
        )
    return f"{name}: {held} of {total} claims hold"


def not_written(judgement: Judgement) -> bool:
    """Say whether the learner has not answered at all."""
    return bool(judgement.verdicts) and all(
        verdict.status == "missing" for verdict in judgement.verdicts
    )


def what_to_write(judgement: Judgement) -> str:
    """Tell a learner whose function is a stub what to do, or which function is."""
    name = judgement.exercise.name
    if called := _unwritten_call(judgement):
        return (
            f"`{name}` calls `{called}`, which is not written yet. "
            f"Go back and write `{called}` first, then run this cell again."
        )
    return (
        f"Write your answer in the cell of `{name}`, in place of the line "
        "`raise NotImplementedError`: that line has to go. Run that cell, then run "
        "this one again."
    )


def _unwritten_call(judgement: Judgement) -> str:
    """Give the name of another function at whose stub every claim ended."""
    broken = judgement.verdicts[0].broken
    raised = broken.call.result.raised if broken and broken.call else None
    called = raised.function if raised else ""
    own = judgement.exercise.name
    # A method or an alias of the exercise is the exercise's own stub.
    return called if called in judgement.exercise.uses and called != own else ""


def blamed(judgement: Judgement) -> str:
    """Say which earlier answer failed, where this one is right by itself."""
    names = " and ".join(f"`{name}`" for name in judgement.blamed)
    if not names or not_written(judgement):
        return ""
    one = len(judgement.blamed) == 1
    own = f"`{judgement.exercise.name}`"
    if judgement.passed:
        return (
            f"Your {own} is right: it was checked with the course's {names}. "
            f"Your own {names} {'is' if one else 'are'} what failed: go back to "
            f"{'it' if one else 'them'}."
        )
    return (
        f"Your {names} {'fails' if one else 'fail'} here, so the lines above are with "
        f"the course's {names}. Your {own} has a mistake of its own."
    )


def diagnosis(judgement: Judgement) -> str:
    """Give the finding and the question of the named mistake, or nothing."""
    found = judgement.misconception
    return f"{found.finding} {found.question}" if found else ""


DATA_TYPE = "application/vnd.attention-course.check+json"
HOLDS, FAILS, CLOSING = "#2e8b57", "#d9534f", "#b8860b"  # contrast ≥ 3 on both pages


class Report:
    """A judgement that Jupyter can show.

    notes : sentences to add at the end, such as how to go on without this exercise
    """

    def __init__(self, judgement: Judgement, notes: tuple[str, ...] = ()) -> None:
        """Keep the judgement and the notes."""
        self.judgement = judgement
        self.notes = notes

    def __str__(self) -> str:
        """Give the report as plain text."""
        lines = [headline(self.judgement)]
        if not_written(self.judgement):
            lines.append("  " + what_to_write(self.judgement))
        else:
            lines += [f"  {common}"] if (common := self._common()) else []
            for verdict, why in self._reasons():
                mark = "✓" if verdict.status == "ok" else "✗"
                lines.append(f"  {mark} {verdict.case.claim}")
                lines += [f"      {why}"] if why else []
        lines += [f"→ {sentence}" for sentence in self._closing()]
        lines += self.notes
        return "\n".join(lines)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/html": self.html(),
            DATA_TYPE: self.data(),
        }

    def data(self) -> dict[str, Any]:
        """Give name, points, statuses and diagnosis for programs to read."""
        found = self.judgement.misconception
        return {
            "exercise": self.judgement.exercise.name,
            "points": self.judgement.points,
            "max_points": float(sum(v.case.points for v in self.judgement.verdicts)),
            "cases": {v.case.name: v.status for v in self.judgement.verdicts},
            "diagnosis": found.name if found else None,
            "blamed": list(self.judgement.blamed),
        }

    def html(self) -> str:
        """Give the report as a small piece of HTML without scripts."""
        missing = not_written(self.judgement)
        above = what_to_write(self.judgement) if missing else self._common()
        rows = [] if missing else self._reasons()
        return region(
            self.judgement.exercise.name,
            headline(self.judgement),
            [above] if above else [],
            [(made.status == "ok", made.case.claim, why) for made, why in rows],
            self._closing(),
            self.notes,
        )

    def _closing(self) -> list[str]:
        sentences = [
            blamed(self.judgement),
            diagnosis(self.judgement),
        ]
        return [sentence for sentence in sentences if sentence]

    def _common(self) -> str:
        """Give the explanation to tell once if all claims fail in one way."""
        verdicts = self.judgement.verdicts
        ways = {same_reason(verdict) for verdict in verdicts}
        if len(verdicts) < 2 or len(ways) > 1 or "" in ways:
            return ""
        why = explain(self.judgement.exercise, verdicts[0])
        return f"Every call ends in the same way. {why}"

    def _reasons(self) -> list[tuple[Verdict, str]]:
        """Pair each verdict with why it fails, in full the first time only."""
        if self._common():
            return [(verdict, "") for verdict in self.judgement.verdicts]
        told: set[str] = set()
        rows = []
        for verdict in self.judgement.verdicts:
            way = same_reason(verdict)
            why = explain(self.judgement.exercise, verdict)
            rows.append((verdict, f"Here it {way} too." if way in told else why))
            # What a hidden claim ends in may spell its input: it is no longer short.
            told |= {way} - {""} if verdict.case.visible else set()
        return rows


def region(
    name: str,
    headline: str,
    above: Sequence[str],
    claims: Sequence[tuple[bool, str, str]],
    closing: Sequence[str],
    notes: Sequence[str] = (),
) -> str:
    """Give a report as a small piece of HTML without scripts.

    name : the exercise's
    above : sentences to stand above the claims
    claims : of each, whether it holds, its sentence, and why it does not hold
    closing : sentences to stand out below them
    """
    parts = [f"<strong>{escape(headline)}</strong>"]
    parts += [f"<p>{_code(sentence)}</p>" for sentence in above]
    if claims:
        items = "".join(_item(*claim) for claim in claims)
        style = "list-style:none;padding-left:0.5em;margin:0.3em 0"
        parts.append(f'<ul style="{style}">{items}</ul>')
    parts += [
        f'<p style="margin:0.4em 0;padding:0.4em 0.8em;border-left:4px solid '
        f'{CLOSING}">→ {_code(sentence)}</p>'
        for sentence in closing
    ]
    parts += [f"<p>{_code(note)}</p>" for note in notes]
    label = f"check of {escape(name)}"
    return f'<div role="region" aria-label="{label}">{"".join(parts)}</div>'


def _item(holds: bool, claim: str, why: str) -> str:
    colour, said, mark = HOLDS, "holds", "✓"
    if not holds:
        colour, said, mark = FAILS, "does not hold", "✗"
    sign = f'<span role="img" style="color:{colour}" aria-label="{said}">{mark}</span>'
    told = f'<div style="margin-left:1.5em">{_code(why)}</div>' if why else ""
    return f"<li>{sign} {_code(claim)}{told}</li>"


def _code(sentence: str) -> str:
    """Escape a sentence and set what stands between backticks as code."""
    pieces = escape(sentence).split("`")
    if len(pieces) % 2 == 0:  # an odd backtick: leave the text as it is
        return escape(sentence)
    return "".join(
        f"<code>{piece}</code>" if place % 2 else piece
        for place, piece in enumerate(pieces)
    )


# MERGED autograder.messages: The sentences a learner reads about an answer as a whole.
#
#   Why a single claim does not hold is said in ``explain``, how values are shown in
#   ``words``, how the page looks in ``report``.
#
