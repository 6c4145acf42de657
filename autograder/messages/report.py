"""What a learner reads below an exercise: a check's report as text, HTML and data.

Marks are ✓ and ✗ with words, never colour alone; colours are readable on light and on
dark pages. A claim that could not be tried, because the call ended before, has a –.
Where claims fail for one and the same reason, it is explained once. Where one cause is
behind three or more, one of them stands with its example, and the others together below
it. Fine points that are open come apart, with a ○, below the claims and once all of
those hold.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from autograder.checking.diagnosis import ABOUT_EXCEPTIONS
from autograder.checking.exercise import Exercise
from autograder.checking.own_answer import is_above_an_answer
from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.messages.explanation import (
    effort_to_retype,
    explain,
    not_tried,
    same_reason,
)

DATA_TYPE = "application/vnd.attention-course.check+json"
HOLDS, FAILS, CLOSING = "#2e8b57", "#d9534f", "#b8860b"  # contrast ≥ 3 on both pages
NOT_TRIED = "#808080"
# Whatever has cost the digits: float32 inside most often, or something tiny added.
RIGHT_TO_FLOAT32 = (
    "Your numbers are right to the precision of float32, and float64 has more digits."
)
MIN_TOGETHER = 3  # claims that fail for one reason, before they stand together
PART_OF_CALLS = re.compile(r"\b\d+ of \d+ calls|^Of \d+ calls")
FINE_POINT_OPEN = (
    "fine point: a detail that most code leaves open; your answer counts as solved"
)


class Claim(NamedTuple):
    """A line of the report: whether the claim holds, and why it does not.

    fine_point : whether the answer is solved without it
    not_tried : why the claim could not be tried; "" if it was
    others : claims that this line stands for, where they fail as one above it does
    """

    holds: bool
    sentence: str
    why: str
    fine_point: bool = False
    not_tried: str = ""
    others: tuple["Claim", ...] = ()

    @property
    def mark(self) -> str:
        """✓, ✗, – if not tried or, for a fine point that does not hold, ○."""
        if self.holds:
            return "✓"
        return "○" if self.fine_point else "–" if self.not_tried else "✗"

    @property
    def words(self) -> str:
        """What the mark says."""
        if self.fine_point:
            return f"fine point {'holds' if self.holds else 'open'}"
        if self.not_tried:
            return "not tried"
        return "holds" if self.holds else "does not hold"

    @property
    def remark(self) -> str:
        """What stands in brackets behind the sentence, or ""."""
        if self.fine_point:
            return self.words if self.holds else FINE_POINT_OPEN
        return f"{self.words}: {self.not_tried}" if self.not_tried else ""

    @property
    def colour(self) -> str:
        """That of the mark."""
        if self.holds:
            return HOLDS
        return CLOSING if self.fine_point else NOT_TRIED if self.not_tried else FAILS


class NextStep(NamedTuple):
    """A note that leads on: words, a link with its text and address, and words."""

    words: str
    text: str
    address: str
    after: str = "."

    def __str__(self) -> str:
        """Return the note without its address."""
        return f"{self.words}{self.text}{self.after}"


class CourseVersion(NamedTuple):
    """The offer to go on with the course's version: the line that gets it.

    JupyterLab makes a button of it (``labextensions``), in place of the words.
    """

    name: str
    line: str

    def __str__(self) -> str:
        """Return what to do by hand."""
        return (
            f"To go on and come back later, use the course's version of `{self.name}`: "
            f"add a cell right below your answer, put `{self.line}` into it and run it."
        )


class MadePossible(NamedTuple):
    """What a solved exercise makes possible, in a sentence to whoever has solved it."""

    sentence: str

    def __str__(self) -> str:
        """Return the sentence."""
        return self.sentence


Note = str | NextStep | CourseVersion | MadePossible
# A report above a CheckFailed: our extension of JupyterLab hides the error's own line.
FAILED = "attention-failed"
CLASSES = {CourseVersion: "attention-by-hand", MadePossible: "attention-possible"}


class CheckReport:
    """The result of an exercise, in words that Jupyter can display.

    notes : what to add at the end, such as how to go on without this exercise
    warning : what to know before all else; "" if there is nothing
    judged : text of the cell that defines the answer; "" if that is not known
    together : whether claims that fail by one cause may stand together; of a graded
        report each has its own line, since each has its points
    older : whether the warning says that a newer version of the answer has not run;
        then that is the one thing to do, and the older version's error comes after it
    """

    def __init__(
        self,
        exercise: Exercise,
        result: ExerciseResult,
        notes: Sequence[Note] = (),
        warning: str = "",
        judged: str = "",
        *,
        together: bool = True,
        older: bool = False,
    ) -> None:
        """Keep the exercise, its fresh result with the evidence, and the words."""
        self.warning = warning
        self.judged = judged
        self.together = together
        self.older = older
        self.exercise = exercise
        self.result = result
        self.notes = tuple(notes)

    def __str__(self) -> str:
        """Return the report as plain text."""
        lines = [self.headline, *(f"→ {sentence}" for sentence in self._diagnosis())]
        lines += [f"  {sentence}" for sentence in self._opening()]
        for claim in [*self._together(), *self._fine_points()]:
            remark = f" ({claim.remark})" if claim.remark else ""
            lines.append(f"  {claim.mark} {claim.sentence}{remark}")
            lines += [f"      {claim.why}"] if claim.why else []
            lines += [f"      {other.sentence}" for other in claim.others]
        lines += [f"→ {sentence}" for sentence in self._closing()]
        lines += map(str, self._all_notes())
        return "\n".join(lines)

    def html(self) -> str:
        """Return the report as a short stretch of HTML without scripts."""
        return region(
            self.exercise.name,
            self.headline,
            self._diagnosis(),
            self._opening(),
            [*self._together(), *self._fine_points()],
            self._closing(),
            self._all_notes(),
            unfolded=self._unfolded(),
            name_of_class="" if self.result.solved else FAILED,
        )

    def data(self) -> dict[str, Any]:
        """Return name, points, statuses and diagnosis for programs to read.

        Our extension of JupyterLab compares ``judged`` with the notebook's cells.
        """
        open_points = self.result.open_fine_points
        return {
            "exercise": self.result.exercise,
            "points": self.result.points,
            "max_points": self.result.max_points,
            "cases": {verdict.case: verdict.status for verdict in self.result.cases},
            "solved": self.result.solved,
            "open_fine_points": [verdict.case for verdict in open_points],
            "diagnosis": self.result.diagnosis or None,
            "evidence": self.result.evidence or None,
            "blamed": list(self.result.blamed),
            "judged": self.judged or None,
            "course_version": self._offered(),
        }

    def _offered(self) -> str | None:
        """Return the line that gets the course's version, if that is offered."""
        offers = [note.line for note in self.notes if isinstance(note, CourseVersion)]
        return offers[0] if offers else None

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/html": self.html(),
            DATA_TYPE: self.data(),
        }

    @property
    def headline(self) -> str:
        """How many claims hold, in one line; or that only fine points are open."""
        name, total = self.exercise.name, len(self.result.claims)
        if self.result.is_unwritten:
            if self.unwritten_use():
                return f"{name} cannot be checked yet"
            if is_above_an_answer(name, self.judged):
                return f"{name} still ends with the line `raise NotImplementedError`"
            return f"{name} is not written yet"
        holding = self.result.n_holding
        if holding == total and self.result.open_fine_points:
            return f"{name}: {solved_but(self.result)}"
        if holding == total:
            all_hold = "the claim holds" if total == 1 else f"all {total} claims hold"
            return f"{name}: solved, {all_hold}"
        return f"{name}: {holding} of {total} claims hold"

    def _opening(self) -> list[str]:
        """Return what is said above the claims: what to do, or what all calls share."""
        if self.result.is_unwritten:
            return [self._what_to_write()]
        of_older = [self._blame(), self._error()] if self.older else []
        sentences = [f"About the version before: {each}" for each in of_older if each]
        common = self._common_reason()
        return [*sentences, common] if common else sentences

    def _what_to_write(self) -> str:
        """Return what the learner of an unwritten function has to do first."""
        name = self.exercise.name
        if used := self.unwritten_use():
            return (
                f"`{name}` calls `{used}`, which is not written yet. "
                f"Go back and write `{used}` first, then run this cell again."
            )
        return (
            f"Write your answer in the cell of `{name}`, in place of the line "
            "`raise NotImplementedError`: that line has to go. Run that cell, then run "
            "this one again."
        )

    def unwritten_use(self) -> str:
        """Return the name of an earlier exercise at whose stub every claim ended."""
        failure = self.result.claims[0].failure
        raised = failure.call.result.raised if failure and failure.call else None
        stub = raised.function if raised else ""
        # A method or an alias of the exercise is the exercise's own stub.
        return stub if stub in self.exercise.uses and stub != self.exercise.name else ""

    def _common_reason(self) -> str:
        """Return the explanation to give once if all claims fail in one way."""
        verdicts = self.result.claims
        reasons = {same_reason(verdict) for verdict in verdicts}
        if len(verdicts) < 2 or len(reasons) > 1 or "" in reasons:
            return ""
        why = explain(self.exercise, verdicts[0])
        meaning = "" if self._common_cause() else _cause(verdicts[0])
        return f"Every claim fails in the same way. {why} {meaning}".rstrip()

    def _claims(self) -> list[Claim]:
        """Return the claims; a reason that several share is explained once."""
        if self.result.is_unwritten:
            return []
        is_common = bool(self._common_reason())
        explained: set[str] = set()
        claims = []
        for verdict in self.result.claims:
            reason = same_reason(verdict)
            why = "" if is_common else explain(self.exercise, verdict)
            if reason in explained:
                why = f"Here it {reason} too."
            holds, ended = verdict.status == "ok", not_tried(verdict)
            claims.append(Claim(holds, verdict.claim, why, not_tried=ended))
            # What a hidden claim ends in may spell its input: it is no longer short.
            if reason and verdict.visible and not is_common:
                explained.add(reason)
        return claims

    def _together(self) -> list[Claim]:
        """Return the claims; of those that fail by one cause, all but one in one line.

        The one is that with the example to try. It keeps its position, and the line
        of the others comes next.
        """
        claims, telling = self._claims(), self._most_telling()
        others = [
            claim
            for index, claim in enumerate(claims)
            if claim.mark == "✗" and index != telling and not self._ends_apart(index)
        ]
        how = self._shared_cause()
        if not how or telling is None or len(others) + 1 < MIN_TOGETHER:
            return claims
        if claims[telling].mark != "✗" or not claims[telling].why:
            return claims
        line = f"{len(others)} more claims do not hold, {how}:"
        together = Claim(False, line, "", others=tuple(others))
        below = [each for each in claims[telling + 1 :] if each not in others]
        above = [each for each in claims[:telling] if each not in others]
        return [*above, claims[telling], together, *below]

    def _ends_apart(self, index: int) -> bool:
        """Decide whether a claim's call stops, and the diagnosis is of wrong values.

        Then the exception may have a cause of its own.
        """
        words, telling = self._misconceptions(), self._most_telling()
        if not words or telling is None or ABOUT_EXCEPTIONS.search(words):
            return False
        verdicts = self.result.claims
        return _raised(verdicts[index]) and not _raised(verdicts[telling])

    def _unfolded(self) -> int | None:
        """Return the index, among the lines of claims, of the example that is open."""
        telling, lines = self._most_telling(), self._together()
        for index, line in enumerate(lines):
            if line.others:
                return index - 1
        return telling

    def _shared_cause(self) -> str:
        """Return how the claims that fail belong together, or "" if they may not.

        What is said of all calls that fail holds of each of these claims. Of a
        learner's test each claim is about another thing to catch.
        """
        result = self.result
        if not self.together or self.exercise.is_test or self._common_reason():
            return ""
        if " takes no " in result.evidence:  # an argument, besides what else is wrong
            return ""
        n_misconceptions = len(result.misconceptions)
        if n_misconceptions:
            several = n_misconceptions > 1
            return f"for the same {'two reasons' if several else 'reason'}"
        ends = {same_reason(each) for each in result.claims if each.status != "ok"}
        evidence = result.evidence
        is_of_all = "other call is right" in evidence or " calls, only th" in evidence
        if not evidence or len(ends) > 1 or "other calls are wrong too" in evidence:
            return ""
        return (
            "in the same way" if is_of_all or not PART_OF_CALLS.search(evidence) else ""
        )

    def _fine_points(self) -> list[Claim]:
        """Return the fine points that are open, once all claims hold.

        Before, there is more to do; and of one that holds there is nothing to say.
        Where a misconception explains those that are open, it is said there, softly.
        """
        if not self.result.solved or self.result.is_unwritten:
            return []
        cause = self._misconceptions() if self.result.open_fine_points else ""
        points = []
        for verdict in self.result.open_fine_points:
            why = explain(self.exercise, verdict)
            if why and cause:
                why, cause = f"{why} {cause}", ""
            points.append(Claim(False, verdict.claim, why, True))
        return points

    def _all_notes(self) -> list[Note]:
        """Return the notes, and first what is said of the digits."""
        return (
            [RIGHT_TO_FLOAT32, *self.notes]
            if self.result.has_too_few_digits
            else [*self.notes]
        )

    def _most_telling(self) -> int | None:
        """Return the index of the failed claim whose example is the easiest to retype.

        None if no claim fails.
        """
        verdicts = self.result.claims
        if self.result.solved:
            verdicts += self.result.open_fine_points
        failed = [
            (effort_to_retype(verdict), index)
            for index, verdict in enumerate(verdicts)
            if verdict.status != "ok"
        ]
        if " ends with a" in self.result.evidence and not self.result.diagnosis:
            ended = [each for each in failed if _raised(verdicts[each[1]])]
            failed = ended or failed  # the example of what is said above
        return min(failed)[1] if failed else None

    def _diagnosis(self) -> list[str]:
        """Return what is said before all claims: whose error it is, and which."""
        if self.older:
            return [self.warning]
        sentences = [self.warning, self._blame(), self._error()]
        return [sentence for sentence in sentences if sentence]

    def _closing(self) -> list[str]:
        without_points = self._without_points()
        return [without_points] if without_points else []

    def _blame(self) -> str:
        """Name the earlier answers that failed, where this one is right by itself."""
        names = " and ".join(f"`{name}`" for name in self.result.blamed)
        if not names or self.result.is_unwritten:
            return ""
        one = len(self.result.blamed) == 1
        own = f"`{self.exercise.name}`"
        if self.result.solved:
            return (
                f"Your {own} is right: it was checked with the course's {names}. "
                f"Your own {names} {'is' if one else 'are'} what failed: go back to "
                f"{'it' if one else 'them'}."
            )
        return (
            f"Your {names} {'fails' if one else 'fail'} here, so the claims below are "
            f"with the course's {names}. Your {own} has an error of its own."
        )

    def _error(self) -> str:
        """Return what the misconceptions are, and a question; or what all calls show.

        Nothing where the exercise is solved: it is said of the fine points then.
        """
        if self.result.solved:
            return ""
        if sentence := self._misconceptions():
            return f"{self.result.evidence} {sentence}".strip()
        # What all calls end in is said above the claims already, but not what it means.
        is_question = self.result.evidence.endswith("?")
        if self._common_reason() and not is_question:
            return self._common_cause()
        return self.result.evidence

    def _common_cause(self) -> str:
        """Return what the exception means in which all claims end, or ""."""
        causes = {_cause(verdict) for verdict in self.result.claims}
        return causes.pop() if len(causes) == 1 else ""

    def _misconceptions(self) -> str:
        """Return what the misconceptions are, each with its question."""
        bank = {each.name: each for each in self.exercise.misconceptions}
        known = [bank[name] for name in self.result.misconceptions if name in bank]
        sentences = []
        for each, below in zip(known, [*known[1:], None], strict=False):
            is_asked_below = below and below.question == each.question
            question = "" if is_asked_below else f" {each.question}"
            sentences.append(f"{each.diagnosis}{question}")
        if len(sentences) < 2:
            return " ".join(sentences)
        count = {2: "Two", 3: "Three"}[len(sentences)]
        numbered = (f"({number}) {each}" for number, each in enumerate(sentences, 1))
        return f"{count} things at once. {' '.join(numbered)}"

    def _without_points(self) -> str:
        """Return why claims that hold pay nothing yet, and what changes that, or "".

        In the notebook nothing is said: hidden cases may pay, and points are not shown.
        """
        has_all = len(self.result.cases) == len(self.exercise.cases)
        if not has_all or not self.result.n_holding or self.result.points:
            return ""
        return (
            "What holds so far counts as soon as a claim about newly drawn inputs "
            "holds too."
        )


def _raised(verdict: CaseVerdict) -> bool:
    return verdict.failure is not None and verdict.failure.reason == "raised"


def _cause(verdict: CaseVerdict) -> str:
    """Return what the exception means in which a call ended, or ""."""
    call = verdict.failure.call if verdict.failure else None
    raised = call.result.raised if call and verdict.visible else None
    return raised.cause if raised else ""


def solved_but(result: ExerciseResult) -> str:
    """Return in words that an exercise is solved, and how many fine points are open."""
    n = len(result.open_fine_points)
    several = "one fine point is" if n == 1 else f"{n} fine points are"
    return f"solved; {several} open"


def region(
    name: str,
    headline: str,
    diagnosis: Sequence[str],
    opening: Sequence[str],
    claims: Sequence[Claim],
    closing: Sequence[str],
    notes: Sequence[Note] = (),
    *,
    unfolded: int | None = None,
    name_of_class: str = "",
) -> str:
    """Return a report as a short stretch of HTML without scripts.

    name : the exercise's
    diagnosis : sentences that stand out above the claims
    opening : other sentences above the claims
    closing : sentences below them that stand out
    unfolded : index of the one claim whose reason is shown; all are if None
    name_of_class : of the whole report, for a page's style
    """
    parts = [f"<strong>{sentence_html(headline)}</strong>"]
    parts += [_standing_out(sentence) for sentence in diagnosis]
    parts += [f"<p>{sentence_html(sentence)}</p>" for sentence in opening]
    if claims:
        items = "".join(
            _item(claim, folded=None if unfolded is None else unfolded != index)
            for index, claim in enumerate(claims)
        )
        style = "list-style:none;padding-left:0.5em;margin:0.3em 0"
        parts.append(f'<ul style="{style}">{items}</ul>')
    parts += [_standing_out(sentence) for sentence in closing]
    parts += [_note_html(note) for note in notes]
    label = f"check of {escape(name)}"
    mark = f' class="{name_of_class}"' if name_of_class else ""
    return f'<div role="region" aria-label="{label}"{mark}>{"".join(parts)}</div>'


def _note_html(note: Note) -> str:
    if not isinstance(note, NextStep):
        name = CLASSES.get(type(note))
        mark = f' class="{name}"' if name else ""
        return f"<p{mark}>{sentence_html(str(note))}</p>"
    link = f'<a href="{escape(note.address)}">{escape(note.text)}</a>'
    return f"<p>{sentence_html(note.words)}{link}{escape(note.after)}</p>"


def _standing_out(sentence: str) -> str:
    style = f"margin:0.4em 0;padding:0.4em 0.8em;border-left:4px solid {CLOSING}"
    return f'<p style="{style}">→ {sentence_html(sentence)}</p>'


def _item(claim: Claim, *, folded: bool | None, marked: bool = True) -> str:
    """Return a claim; its reason can be folded, unless that is None."""
    sign = (
        f'<span role="img" style="color:{claim.colour}" aria-label="{claim.words}">'
        f"{claim.mark}</span>"
    )
    sentence = f"{sign} " * marked + sentence_html(claim.sentence)
    if claim.remark:
        sentence += f" ({claim.remark})"
    if claim.others:
        inside = "".join(
            _item(other, folded=True, marked=False) for other in claim.others
        )
        style = "list-style:none;padding-left:1.5em"
        content = f'<summary>{sentence}</summary><ul style="{style}">{inside}</ul>'
        return f"<li><details>{content}</details></li>"
    if not claim.why:
        return f"<li>{sentence}</li>"
    why = f'<div style="margin-left:1.5em">{sentence_html(claim.why)}</div>'
    if folded is None:
        return f"<li>{sentence}{why}</li>"
    is_open = "" if folded else ' open="open"'
    summary = f"<summary>{sentence}</summary>"
    return f"<li><details{is_open}>{summary}{why}</details></li>"


def sentence_html(sentence: str) -> str:
    """Escape a sentence and set what stands between backticks as code."""
    parts = escape(sentence).split("`")
    if len(parts) % 2 == 0:  # an odd backtick: leave the text as it is
        return escape(sentence)
    return "".join(
        f"<code>{part}</code>" if index % 2 else part
        for index, part in enumerate(parts)
    )
