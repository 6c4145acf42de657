"""Lay a judgement out for the notebook: plain text, HTML and data.

Marks are ✓ and ✗ with words, never colour alone; colours are readable on light and on
dark pages. The sentences come from ``messages``.
"""

from html import escape
from typing import Any

from autograder import messages
from autograder.judge import Judgement, Verdict

DATA_TYPE = "application/vnd.attention-course.check+json"


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
        lines = [messages.headline(self.judgement)]
        if messages.not_written(self.judgement):
            lines.append("  " + messages.what_to_write(self.judgement))
        else:
            for verdict in self.judgement.verdicts:
                lines += self._lines(verdict)
        lines += [f"→ {sentence}" for sentence in self._closing()]
        return "\n".join(lines)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/html": self.html(),
            DATA_TYPE: self.data(),
        }

    def data(self) -> dict[str, Any]:
        """Give name, points, statuses and diagnosis for programs that read notebooks."""
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
        parts = [f"<strong>{escape(messages.headline(self.judgement))}</strong>"]
        if messages.not_written(self.judgement):
            parts.append(f"<p>{_code(messages.what_to_write(self.judgement))}</p>")
        else:
            items = "".join(self._item(v) for v in self.judgement.verdicts)
            parts.append(
                f'<ul style="list-style:none;padding-left:0.5em;margin:0.3em 0">'
                f"{items}</ul>"
            )
        parts += [
            f'<p style="margin:0.4em 0;padding:0.4em 0.8em;border-left:4px solid '
            f'#d98a00">→ {_code(sentence)}</p>'
            for sentence in self._closing()
        ]
        return (
            f'<div role="region" aria-label="check of '
            f'{escape(self.judgement.exercise.name)}">{"".join(parts)}</div>'
        )

    def _closing(self) -> list[str]:
        sentences = [
            messages.blamed(self.judgement),
            messages.diagnosis(self.judgement),
            *self.notes,
        ]
        return [sentence for sentence in sentences if sentence]

    def _lines(self, verdict: Verdict) -> list[str]:
        mark = "✓" if verdict.status == "ok" else "✗"
        lines = [f"  {mark} {verdict.case.claim}"]
        if verdict.broken:
            exercise = self.judgement.exercise
            lines.append(f"      {messages.explain(exercise, verdict)}")
        return lines

    def _item(self, verdict: Verdict) -> str:
        claim = _code(verdict.case.claim)
        if not verdict.broken:
            mark = '<span style="color:#2e8b57" aria-label="holds">✓</span>'
            return f"<li>{mark} {claim}</li>"
        why = _code(messages.explain(self.judgement.exercise, verdict))
        mark = '<span style="color:#d9534f" aria-label="does not hold">✗</span>'
        return f'<li>{mark} {claim}<div style="margin-left:1.5em">{why}</div></li>'


def _code(sentence: str) -> str:
    """Escape a sentence and set what stands between backticks as code."""
    pieces = escape(sentence).split("`")
    if len(pieces) % 2 == 0:  # an odd backtick: leave the text as it is
        return escape(sentence)
    return "".join(
        f"<code>{piece}</code>" if place % 2 else piece
        for place, piece in enumerate(pieces)
    )
