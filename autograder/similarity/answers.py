"""What is compared: the code that students have written themselves, by exercise.

Submissions are read as they are for grading. What the release has already, and cells
that are as released, are not the student's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from autograder.checking.own_answer import as_answer
from autograder.checking.registry import load
from autograder.course import Course, CourseError
from autograder.course.shown_code import normalised_source
from autograder.gradebook.safe_html import visible
from autograder.grading.classroom import students_of, submission_path
from autograder.grading.release import Release, load_release
from autograder.grading.submission import Submission
from autograder.similarity.tokens import CodeToken, tokens

MAX_TOKENS = 6000  # of a student's in a lesson; the longest answers have 2,400
MAX_CODE = 100_000  # characters of a cell that are read
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^\s*(?:>>>|\.\.\.) (.*)$", re.MULTILINE)
OWN = "cells of their own"


@dataclass(frozen=True)
class WrittenPart:
    """A part of a cell: code for one exercise.

    exercise : the lesson's number and the exercise's name
    source : its text, in which nothing is invisible
    """

    exercise: str
    source: str
    tokens: tuple[CodeToken, ...]


class LeftOut(NamedTuple):
    """A student's lesson that is not compared, and why, in a sentence."""

    student: str
    lesson: str
    reason: str


@dataclass
class ClassAnswers:
    """What a class has written.

    parts : of each student, in the order of the lessons
    exercises : all that somebody has written something for, in their order
    template : code that is not the students': the release's and the course's answers
    lesson_lines : the lines of the release's code
    left_out : who is not compared in which lesson, or not in full, and why
    """

    lessons: Sequence[str]
    parts: dict[str, list[WrittenPart]] = field(default_factory=dict)
    exercises: list[str] = field(default_factory=list)
    template: list[list[CodeToken]] = field(default_factory=list)
    lesson_lines: set[str] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)


def read_class(course: Course, lessons: Sequence[str]) -> ClassAnswers:
    """Read what everybody has handed in.

    Raises ``CourseError`` for a lesson that nobody has handed in, or if there are no
    two to compare.
    """
    answers = ClassAnswers(lessons)
    for lesson in lessons:
        release = load_release(course, lesson)
        names = [_label(lesson, each) for each in (*release.exercises, "")]
        answers.template += [
            tokens(each, MAX_TOKENS) for each in _template_code(release)
        ]
        code = (cell.source for cell in release.cells if cell.is_code)
        answers.lesson_lines.update(
            line.strip() for text in code for line in text.split("\n")
        )
        for student in students_of(course, lesson):
            path = submission_path(course, lesson, student)
            submission = Submission(release, student, path)
            if submission.reason:
                reason = submission.reason
                answers.left_out.append(LeftOut(student, lesson, reason))
                continue
            parts = [*_parts(release, submission)]
            answers.parts.setdefault(student, []).extend(parts)
            if sum(len(part.tokens) for part in parts) >= MAX_TOKENS:
                reason = f"Only the first {MAX_TOKENS:,} tokens are compared."
                answers.left_out.append(LeftOut(student, lesson, reason))
        answers.exercises += names
    written = {part.exercise for parts in answers.parts.values() for part in parts}
    answers.exercises = [each for each in answers.exercises if each in written]
    answers.parts = {name: parts for name, parts in answers.parts.items() if parts}
    if len(answers.parts) < 2:
        raise CourseError(
            f"{len(answers.parts)} of the submissions to {', '.join(lessons)} has code "
            "of its own: two are needed to compare"
        )
    return answers


def _label(lesson: str, exercise: str) -> str:
    return f"{lesson.partition('_')[0]} {exercise or OWN}"


def _template_code(release: Release) -> Iterator[str]:
    """Yield code that a student may have from the lesson, or write as the course does.

    The shortest right answer is most often the course's: who writes that has it in
    common with the course.
    """
    for cell in release.cells:
        if cell.is_code:
            yield cell.source
            yield "\n".join(EXAMPLE.findall(cell.source))
        else:
            yield from FENCED.findall(cell.source)
    for name in release.exercises:
        try:
            yield as_answer(load(name).reference)
        except OSError:
            continue


def _parts(release: Release, submission: Submission) -> Iterator[WrittenPart]:
    released = {normalised_source(cell.source) for cell in release.cells}
    n_left = MAX_TOKENS
    for cell in submission.code_cells or ():
        is_theirs = cell.role in ("solution", "own")
        if not is_theirs or normalised_source(cell.source) in released:
            continue
        # An escape sequence is shown as text: it could hide the code that follows it.
        source = visible(cell.source[:MAX_CODE].replace("\x1b", "␛"))
        for part in _split(source, cell.exercise, release, n_left):
            n_left -= len(part.tokens)
            yield part


def _split(
    source: str, exercise: str, release: Release, most: int
) -> Iterator[WrittenPart]:
    """Yield a cell's parts: a function with an exercise's name begins one."""
    all_tokens = tokens(source, most)
    begin, depth, first = 0, 0, 0
    for index, token in enumerate(all_tokens):
        depth += (token.kind == "indent") - (token.kind == "dedent")
        if depth or token.kind != "def" or index + 1 == len(all_tokens):
            continue
        name = all_tokens[index + 1].text
        if name in release.exercises and name != exercise:
            yield from _part(release, exercise, source, all_tokens, first, index, begin)
            exercise, first, begin = name, index, token.start
    end = len(all_tokens)
    yield from _part(release, exercise, source, all_tokens, first, end, begin)


def _part(
    release: Release,
    exercise: str,
    source: str,
    all_tokens: list[CodeToken],
    first: int,
    last: int,
    begin: int,
) -> Iterator[WrittenPart]:
    """Yield the part between two tokens, unless it has none."""
    chosen = all_tokens[first:last]
    if not chosen:
        return
    end = all_tokens[last].start if last < len(all_tokens) else len(source)
    shifted = (
        CodeToken(t.kind, t.start - begin, t.end - begin, t.text) for t in chosen
    )
    label = _label(release.lesson, exercise)
    yield WrittenPart(label, source[begin:end].rstrip(), tuple(shifted))
