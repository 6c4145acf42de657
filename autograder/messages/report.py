"""What a learner reads below an exercise: a check's report as text, HTML and data.

Marks are ✓ and ✗ with words, never colour alone; colours are readable on light and on
dark pages. Where claims fail for one and the same reason, it is explained once.
"""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from autograder.checking.exercise import Exercise
from autograder.checking.result import ExerciseResult
from autograder.messages.explanation import explain, same_reason

DATA_TYPE = "application/vnd.attention-course.check+json"
HOLDS, FAILS, CLOSING = "#2e8b57", "#d9534f", "#b8860b"  # contrast ≥ 3 on both pages


class Claim(NamedTuple):
    """A line of the report: whether the claim holds, and why it does not."""

    holds: bool
    sentence: str
    why: str


class CheckReport:
    """The result of an exercise, in words that Jupyter can display.

    notes : sentences to add at the end, such as how to go on without this exercise
    """

    def __init__(
        self, exercise: Exercise, result: ExerciseResult, notes: Sequence[str] = ()
    ) -> None:
        """Keep the exercise, its fresh result with the evidence, and the notes."""
        self.exercise = exercise
        self.result = result
        self.notes = tuple(notes)

    def __str__(self) -> str:
        """Return the report as plain text."""
        lines = [self.headline, *(f"  {sentence}" for sentence in self._opening())]
        for claim in self._claims():
            lines.append(f"  {'✓' if claim.holds else '✗'} {claim.sentence}")
            lines += [f"      {claim.why}"] if claim.why else []
        lines += [f"→ {sentence}" for sentence in self._closing()]
        lines += self.notes
        return "\n".join(lines)

    def html(self) -> str:
        """Return the report as a short stretch of HTML without scripts."""
        return region(
            self.exercise.name,
            self.headline,
            self._opening(),
            self._claims(),
            self._closing(),
            self.notes,
        )

    def data(self) -> dict[str, Any]:
        """Return name, points, statuses and diagnosis for programs to read."""
        return {
            "exercise": self.result.exercise,
            "points": self.result.points,
            "max_points": self.result.max_points,
            "cases": {verdict.case: verdict.status for verdict in self.result.cases},
            "diagnosis": self.result.diagnosis or None,
            "blamed": list(self.result.blamed),
        }

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/html": self.html(),
            DATA_TYPE: self.data(),
        }

    @property
    def headline(self) -> str:
        """How many claims hold, in one line."""
        name, total = self.exercise.name, len(self.result.cases)
        if self.result.is_unwritten:
            if self._unwritten_use():
                return f"{name} cannot be checked yet"
            return f"{name} is not written yet"
        holding = self.result.n_holding
        if holding == total:
            all_hold = "the claim holds" if total == 1 else f"all {total} claims hold"
            return f"{name}: {all_hold}"
        return f"{name}: {holding} of {total} claims hold"

    def _opening(self) -> list[str]:
        """Return what is said above the claims: what to do, or what all calls share."""
        if self.result.is_unwritten:
            return [self._what_to_write()]
        common = self._common_reason()
        return [common] if common else []

    def _what_to_write(self) -> str:
        """Return what the learner of an unwritten function has to do first."""
        name = self.exercise.name
        if used := self._unwritten_use():
            return (
                f"`{name}` calls `{used}`, which is not written yet. "
                f"Go back and write `{used}` first, then run this cell again."
            )
        return (
            f"Write your answer in the cell of `{name}`, in place of the line "
            "`raise NotImplementedError`: that line has to go. Run that cell, then run "
            "this one again."
        )

    def _unwritten_use(self) -> str:
        """Return the name of an earlier exercise at whose stub every claim ended."""
        failure = self.result.cases[0].failure
        raised = failure.call.result.raised if failure and failure.call else None
        stub = raised.function if raised else ""
        # A method or an alias of the exercise is the exercise's own stub.
        return stub if stub in self.exercise.uses and stub != self.exercise.name else ""

    def _common_reason(self) -> str:
        """Return the explanation to give once if all claims fail in one way."""
        verdicts = self.result.cases
        reasons = {same_reason(verdict) for verdict in verdicts}
        if len(verdicts) < 2 or len(reasons) > 1 or "" in reasons:
            return ""
        why = explain(self.exercise, verdicts[0])
        return f"Every call ends in the same way. {why}"

    def _claims(self) -> list[Claim]:
        """Return the claims; a reason that several share is explained once."""
        if self.result.is_unwritten:
            return []
        is_common = bool(self._common_reason())
        explained: set[str] = set()
        claims = []
        for verdict in self.result.cases:
            reason = same_reason(verdict)
            why = "" if is_common else explain(self.exercise, verdict)
            if reason in explained:
                why = f"Here it {reason} too."
            claims.append(Claim(verdict.status == "ok", verdict.claim, why))
            # What a hidden claim ends in may spell its input: it is no longer short.
            if reason and verdict.visible and not is_common:
                explained.add(reason)
        return claims

    def _closing(self) -> list[str]:
        sentences = [self._blame(), self._diagnosis(), self._without_points()]
        return [sentence for sentence in sentences if sentence]

    def _blame(self) -> str:
        """Name the earlier answers that failed, where this one is right by itself."""
        names = " and ".join(f"`{name}`" for name in self.result.blamed)
        if not names or self.result.is_unwritten:
            return ""
        one = len(self.result.blamed) == 1
        own = f"`{self.exercise.name}`"
        if self.result.passed:
            return (
                f"Your {own} is right: it was checked with the course's {names}. "
                f"Your own {names} {'is' if one else 'are'} what failed: go back to "
                f"{'it' if one else 'them'}."
            )
        return (
            f"Your {names} {'fails' if one else 'fail'} here, so the lines above are "
            f"with the course's {names}. Your {own} has an error of its own."
        )

    def _diagnosis(self) -> str:
        """Return the diagnosis and the question of the misconception, or ""."""
        for misconception in self.exercise.misconceptions:
            if misconception.name == self.result.diagnosis:
                return f"{misconception.diagnosis} {misconception.question}"
        return ""

    def _without_points(self) -> str:
        """Return why claims that hold pay nothing yet, and what changes that, or "".

        In the notebook nothing is said: hidden cases may pay, and points are not shown.
        """
        has_all = len(self.result.cases) == len(self.exercise.cases)
        if not has_all or not self.result.n_holding or self.result.points:
            return ""
        return (
            "What holds so far can be met without computing, by zeros or by results "
            "learned by heart: it counts as soon as a claim about newly drawn inputs "
            "holds too."
        )


def region(
    name: str,
    headline: str,
    opening: Sequence[str],
    claims: Sequence[Claim],
    closing: Sequence[str],
    notes: Sequence[str] = (),
) -> str:
    """Return a report as a short stretch of HTML without scripts.

    name : the exercise's
    opening : sentences above the claims
    closing : sentences below them that stand out
    """
    parts = [f"<strong>{escape(headline)}</strong>"]
    parts += [f"<p>{sentence_html(sentence)}</p>" for sentence in opening]
    if claims:
        items = "".join(_item(claim) for claim in claims)
        style = "list-style:none;padding-left:0.5em;margin:0.3em 0"
        parts.append(f'<ul style="{style}">{items}</ul>')
    parts += [
        f'<p style="margin:0.4em 0;padding:0.4em 0.8em;border-left:4px solid '
        f'{CLOSING}">→ {sentence_html(sentence)}</p>'
        for sentence in closing
    ]
    parts += [f"<p>{sentence_html(note)}</p>" for note in notes]
    label = f"check of {escape(name)}"
    return f'<div role="region" aria-label="{label}">{"".join(parts)}</div>'


def _item(claim: Claim) -> str:
    colour, label, mark = HOLDS, "holds", "✓"
    if not claim.holds:
        colour, label, mark = FAILS, "does not hold", "✗"
    sign = f'<span role="img" style="color:{colour}" aria-label="{label}">{mark}</span>'
    why = (
        f'<div style="margin-left:1.5em">{sentence_html(claim.why)}</div>'
        if claim.why
        else ""
    )
    return f"<li>{sign} {sentence_html(claim.sentence)}{why}</li>"


def sentence_html(sentence: str) -> str:
    """Escape a sentence and set what stands between backticks as code."""
    parts = escape(sentence).split("`")
    if len(parts) % 2 == 0:  # an odd backtick: leave the text as it is
        return escape(sentence)
    return "".join(
        f"<code>{part}</code>" if index % 2 else part
        for index, part in enumerate(parts)
    )
