"""An answer that shows a misconception, for a slide: the class's own, without a name.

It is taken from a graded notebook, as text: nothing here parses what students write.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.dashboard.class_results import Roster
from autograder.dashboard.misconceptions import MisconceptionCount
from autograder.gradebook.autograded import METADATA_KEY
from autograder.gradebook.folders import autograded_path
from autograder.gradebook.grades import StudentGrades
from autograder.grading.release import load_release

MAX_READ = 12  # notebooks for each misconception
MAX_BYTES = 8 << 20  # of a notebook
MAX_LINES = 12  # of an example
MAX_WIDTH = 100  # characters
NOT_OURS = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
TALKS = ("#", '"""', "'''")  # where somebody may say who they are


def find_examples(
    course: Course, roster: Roster, counts: Sequence[MisconceptionCount]
) -> dict[tuple[str, str], str]:
    """Return an answer for each misconception that has one, by exercise and name."""
    try:
        cells = load_release(course, roster.lesson).cells
    except CourseError:
        return {}
    released = {each.exercise: each.source for each in cells if each.role == "solution"}
    examples = {}
    for each in counts:
        stub = released.get(each.exercise, "")
        answers = [
            lines
            for student in each.students[:MAX_READ]
            if (lines := _answer(course, roster, student, each, stub))
        ]
        if answers:  # the same one each time
            texts = sorted(map("\n".join, answers))
            examples[each.exercise, each.name] = min(texts, key=_length)
    return examples


def _answer(
    course: Course, roster: Roster, student: str, count: MisconceptionCount, stub: str
) -> list[str]:
    """Return an answer's own lines; none if it is long, or may say whose it is."""
    try:
        path = autograded_path(course, roster.lesson, student)
        source = _source(path, count)
    except (OSError, CourseError, *NOT_OURS):
        return []  # there are others
    lines = own_lines(source, stub)
    text = "\n".join(lines).lower()
    if any(mark in text for mark in (*TALKS, *_names(student, roster.people))):
        return []
    fits = len(lines) <= MAX_LINES and max(map(len, lines), default=0) <= MAX_WIDTH
    return lines if fits else []


def _source(path: Path, count: MisconceptionCount) -> str:
    """Return the answer in a graded notebook that got this very diagnosis."""
    if path.stat().st_size > MAX_BYTES:
        return ""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    result = notebook["metadata"][METADATA_KEY]["result"]
    judged = {each["exercise"]: each["diagnosis"] for each in result["exercises"]}
    if judged.get(count.exercise) != count.name:
        return ""  # it was graded again since
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution") and marks.get("grade_id") == count.exercise:
            source = cell["source"]
            return source if isinstance(source, str) else "".join(source)
    return ""


def own_lines(source: str, stub: str) -> list[str]:
    """Return what somebody wrote: without the lesson's own text and without remarks.

    The line that begins the function stays.

    >>> stub = "def f(x):\\n    '''Twice.'''\\n    raise NotImplementedError"
    >>> own_lines("def f(x):\\n    '''Twice.'''\\n\\n    return x  \\n", stub)
    ['def f(x):', '    return x']
    """
    released = {line.strip() for line in stub.splitlines()}
    released = {line for line in released if not line.startswith("def ")}
    return [
        line.rstrip()
        for line in source.expandtabs(4).splitlines()
        if (text := line.strip()) not in released | {""} and not _is_remark(text)
    ]


def _is_remark(line: str) -> bool:
    """Return whether a line only says something: a comment, or a docstring of its own.

    >>> [*map(_is_remark, ("# so", "'''So.'''", "'''So", "so = 1  # so"))]
    [True, True, False, False]
    """
    quoted = any(len(line) > 5 and line[:3] == line[-3:] == mark for mark in TALKS[1:])
    return quoted or line.startswith("#")


def _length(text: str) -> tuple[int, int]:
    return text.count("\n"), len(text)


def _names(student: str, people: Mapping[str, StudentGrades]) -> list[str]:
    """Return what would say whose an answer is, in small letters."""
    own = people.get(student)
    parts = f"{own.first_name} {own.last_name} {own.email}".split() if own else []
    return [each.lower() for each in (student, *parts) if len(each) > 1]
