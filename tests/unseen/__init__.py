"""Answers by people who had read the learner's notebooks and nothing else.

They are kept apart from the banks: what becomes of them says what learners will meet.
Nothing may be tuned to them; a set whose results were read is replaced by a new one.

``first.csv`` to ``ninth.csv`` say what readers judged of each wrong answer of a set:
whether the diagnosis is true and specific, vague or false, or there is none; and
whether the failed claims alone lead to what is wrong. Each set was judged before
anything was changed for it. The fourth is of lesson 07 alone, the fifth of lessons 12
and 13, the sixth of 14 and 15, the others of lessons 01 to 06 and 08 to 11. Where an
answer is a test (``test_attention``, …), a wrong one is a weak or a bad test, and its
remark begins with its points. ``messages`` has pictures of what JupyterLab shows of
twenty answers of the third: on the left before banks had options, on the right now.
The seventh and the eighth are of all lessons, by three authors, dealt out by lot
before anything was judged; the course changed after the one and before the other. The
ninth is of lesson 15.
``sets.toml`` says when each was judged, ``table`` counts; ``docs/diagnosis.md`` says
how sets are made and what counts as what.
"""

import linecache
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.checking.result import ExerciseResult
from autograder.course import Course
from autograder.grading.release import load_release
from autograder.in_notebook.check import local_runner_factory

HEAD = re.compile(r"^# === (wrong|right): (.*)\n(?:# differs: (.*)\n)?", re.MULTILINE)


@dataclass(frozen=True)
class UnseenAnswer:
    """An answer to an exercise, as its author wrote it into the cell.

    right : whether it keeps the contract, by its author
    about : what is special or wrong
    differs : where a wrong one differs from a right one, and from which words
    """

    exercise: str
    number: int
    right: bool
    about: str
    differs: str
    text: str


def read_answers(folder: Path) -> Iterator[UnseenAnswer]:
    """Read the answers of a folder: one file for each exercise."""
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        heads = [*HEAD.finditer(text)]
        ends = [head.start() for head in heads[1:]] + [len(text)]
        if not heads:
            raise ValueError(f"{path}: no line begins with “# === wrong: ” or “right”")
        for number, (head, end) in enumerate(zip(heads, ends, strict=True), start=1):
            kind, about, differs = head.groups()
            yield UnseenAnswer(
                path.stem,
                number,
                kind == "right",
                about,
                differs or "",
                text[head.end() : end].strip() + "\n",
            )


def judged(answer: UnseenAnswer) -> ExerciseResult:
    """Judge an answer by all cases, with the names that its cell may use."""
    runner = local_runner_factory(function_of(answer))
    return judge(load(answer.exercise), runner, text=answer.text)


def function_of(answer: UnseenAnswer) -> Callable[..., Any]:
    """Return the function that the answer's cell makes, with the names it may use."""
    names = _names(load(answer.exercise))
    file, lines = f"<{answer.exercise} {answer.number}>", answer.text.splitlines(True)
    # As in a notebook, where Python knows the lines of a cell.
    linecache.cache[file] = len(answer.text), None, lines, file
    exec(compile(answer.text, file, "exec"), names)
    return names[answer.exercise]


def _names(exercise: Exercise) -> dict[str, Any]:
    """Return what the set-up cells import, and right answers to earlier exercises."""
    release = load_release(Course.here(), exercise.lesson)
    earlier = release.exercises[: release.exercises.index(exercise.name)]
    names: dict[str, Any] = {}
    for cell in release.set_up:
        exec(cell, names)
    uses = {*earlier, *exercise.uses}
    return names | {name: load(name).reference for name in uses}


def interval(n: int, of: int, z: float = 1.96) -> str:
    """Return a share in per cent with Wilson's 95 % interval.

    E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209–212:
    the shares that lie within z standard errors, each with its own, of ``n / of``.

    >>> interval(9, 10)
    '90 % (60–98)'
    """
    if not of:
        return "–"
    share, spread = n / of, z * sqrt(n / of * (1 - n / of) / of + (z / of / 2) ** 2)
    low, high = (
        (share + z * z / of / 2 + s * spread) / (1 + z * z / of) for s in (-1, 1)
    )
    # The lower bound of 0 is 0, and rounding may leave it just below.
    return f"{100 * share:.0f} % ({abs(100 * low):.0f}–{100 * high:.0f})"
