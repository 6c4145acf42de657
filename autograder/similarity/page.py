"""The page of similar pairs: both codes side by side, and what the numbers are not.

It is one file, has no script and loads nothing. Students' names and code are untrusted
text: the template escapes them all.
"""

import functools
import itertools
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from autograder.course import CourseError, write_atomically
from autograder.gradebook.safe_html import visible
from autograder.similarity.answers import WrittenPart
from autograder.similarity.pairs import (
    MOST_SHARED,
    Comparison,
    Run,
    SharedExercise,
    SimilarPair,
    run_starts,
    runs_of,
)
from autograder.similarity.tokens import CodeToken

FOLDER = Path(__file__).parent
FOLDED_LINES = 3  # of the lesson: more are not shown
MAX_SHOWN = 12_000  # characters of a student's code for an exercise
LAYOUT = ("end", "indent", "dedent")
NOTHING, USUAL, RARE = range(3)
MARKS = {USUAL: ('<span class="usual">', "</span>"), RARE: ("<mark>", "</mark>")}


@dataclass(frozen=True)
class ShownExercise:
    """An exercise of a pair as the page shows it.

    share : None if the two have nothing rare in common there
    codes : of the two
    """

    exercise: str
    share: SharedExercise | None
    is_same: bool
    codes: tuple[Markup, Markup]


def write_page(
    comparison: Comparison, path: Path, names: dict[str, str], written: str = ""
) -> None:
    """Write the page; raises ``CourseError`` if that cannot be done.

    names : by student, as the page calls them
    written : when, in words; now by default
    """
    written = written or f"{datetime.now():%Y-%m-%d, %H:%M}"
    try:
        write_atomically(path, render_page(comparison, names, written))
    except OSError as error:
        raise CourseError(
            f"the page could not be written to {path} ({error.strerror}): make room or "
            "name another file with --output; an earlier page is as it was"
        ) from None


def render_page(
    comparison: Comparison, names: dict[str, str], written: str = ""
) -> str:
    """Return the page as text."""
    return _template().render(
        comparison=comparison,
        names=names,
        written=written,
        shown=lambda pair: shown_exercises(comparison, pair),
        percent=round(100 * MOST_SHARED),
    )


def shown_exercises(comparison: Comparison, pair: SimilarPair) -> list[ShownExercise]:
    """Return a pair's exercises with both codes, in the lessons' order."""
    parts = [comparison.answers.parts[each] for each in (pair.left, pair.right)]
    shares = {each.exercise: each for each in pair.exercises}
    exercises = []
    for name in comparison.answers.exercises:
        left, right = ([p for p in each if p.exercise == name] for each in parts)
        if not left and not right:
            continue
        both = runs_of(left).get(name, frozenset()) & runs_of(right).get(
            name, frozenset()
        )
        common = comparison.common_runs.get(name, frozenset())
        lines = comparison.answers.lesson_lines
        codes = (
            _code(left, both, common, lines),
            _code(right, both, common, lines),
        )
        exercises.append(
            ShownExercise(name, shares.get(name), name in pair.same, codes)
        )
    return exercises


def _code(
    parts: Sequence[WrittenPart],
    both: frozenset[Run],
    common: frozenset[Run],
    lesson_lines: Set[str],
) -> Markup:
    """Return a student's code for an exercise with what is shared marked."""
    if not parts:
        return Markup('<span class="quiet">(nothing written)</span>')
    room, pieces = MAX_SHOWN, []
    for part in parts:
        if room > 0:
            pieces.append(_marked(part, both, common, lesson_lines, room))
        room -= len(part.source)
    if room < 0:
        pieces.append(escape(f"… {-room:,} more characters"))
    return Markup("\n\n").join(pieces)


def _marked(
    part: WrittenPart,
    both: frozenset[Run],
    common: frozenset[Run],
    lesson_lines: Set[str],
    most: int,
) -> Markup:
    tokens = part.tokens
    kinds = [NOTHING] * len(tokens)
    for start, run in enumerate(run_starts(tokens)):
        if run in both:
            kind = USUAL if run in common else RARE
            for i in range(start, start + len(run)):
                kinds[i] = max(kinds[i], kind)
    source, at, pieces = part.source[:most], 0, []
    for kind, start, end in _stretches(part.source, tokens, kinds):
        if start >= most:
            break
        opening, closing = MARKS[kind]
        pieces += [escape(source[at:start]), Markup(opening), escape(source[start:end])]
        pieces.append(Markup(closing))
        at = end
    html = Markup("").join([*pieces, escape(source[at:])])
    return _folded(html, source, lesson_lines)


def _folded(html: Markup, source: str, lesson_lines: Set[str]) -> Markup:
    """Return code without the lesson's own lines, where many follow each other.

    html : of the source, with the same lines
    """
    rows: list[str] = []
    rows_twice = zip(html.split("\n"), source.split("\n"), strict=True)
    for is_lesson, group in itertools.groupby(
        rows_twice, lambda row: row[1].strip() in lesson_lines
    ):
        lines = [str(row) for row, _ in group]
        if is_lesson and len(lines) > FOLDED_LINES:
            rows.append(
                f'<span class="quiet">⋯ {len(lines)} lines of the lesson</span>'
            )
        else:
            rows += lines
    return Markup("\n".join(rows))


def _stretches(
    source: str, tokens: Sequence[CodeToken], kinds: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield stretches of one kind, each within a line."""
    stretch: tuple[int, int, int] | None = None
    for token, kind in itertools.chain(zip(tokens, kinds, strict=True), [(None, 0)]):
        if token is not None and token.kind in LAYOUT:
            continue
        if token is not None and "\n" in source[token.start : token.end]:
            kind = NOTHING  # a mark begins and ends in one line
        if stretch and token and kind == stretch[0]:
            if "\n" not in source[stretch[1] : token.start]:
                stretch = kind, stretch[1], token.end
                continue
        if stretch:
            yield stretch
        stretch = (kind, token.start, token.end) if token and kind else None


def one_in(share: SharedExercise) -> str:
    """Return how many pairs share as much, in words.

    >>> one_in(SharedExercise("softmax", 1249.7, 2.0))
    '1 in 1,250 pairs of the class shares as much'
    """
    return f"1 in {round(share.one_in):,} pairs of the class shares as much"


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER, FOLDER.parent / "dashboard"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_legible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"one_in": one_in, "number": "{:,}".format}
    return environment.get_template("similar.html.j2")


def _legible(value: object) -> object:
    """Return what the page writes: text with nothing invisible in it."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return visible(value) if isinstance(value, str) and plain else value
