"""The book's front page: a text to write on, a cover, an exercise, the lessons."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nbformat import NotebookNode

from autograder.book.lessons import Lesson, hints
from autograder.book.live import editor
from autograder.checking.exercise import Exercise
from autograder.checking.points import format_number
from course_lib.figures.cover import living_cover, living_words
from course_lib.lessons import own_words

MARKS = re.compile(r"[*`]|\$(?=\S)|(?<=\S)\$")


class FrontExercise(NamedTuple):
    """An exercise that the front page lets its reader answer.

    task : what to do, and folded hints, in Markdown
    editor : what becomes its editor
    """

    exercise: Exercise
    lesson: Lesson
    task: str
    editor: str


def front_page(
    lessons: Sequence[Lesson], notebooks: Mapping[str, NotebookNode]
) -> dict[str, Any]:
    """Return what the template of the front page needs, beside the lessons."""
    examples = [
        FrontExercise(exercise, lesson, hints(notebook, exercise.name, notebooks), html)
        for lesson in lessons
        for exercise in lesson.exercises
        if (html := editor(exercise, notebook := notebooks[lesson.name]))
    ]
    exercises = [each for lesson in lessons for each in lesson.exercises]
    optional = sum(len(lesson.optional) for lesson in lessons)
    return {
        # A book without the model would begin with what does not work.
        "words": living_words().html() if own_words.is_made() else "",
        "cover": living_cover().html(),
        "example": examples[0] if examples else None,
        "answered": len(examples),
        "count": len(exercises),
        "optional": optional,
        "hours": _hours(sum(lesson.minutes or 0 for lesson in lessons)),
        "further_hours": _hours(sum(lesson.further for lesson in lessons)),
        "misconceptions": sum(len(each.misconceptions) for each in exercises),
    }


def sidebar(lessons: Sequence[Lesson]) -> list[dict[str, Any]]:
    """Return what the template of the sidebar needs: its parts by lesson."""
    return [
        {
            "number": lesson.number,
            "title": plain(lesson.title),
            "page": lesson.page,
            "exercises": [exercise.name for exercise in lesson.exercises],
            "optional": lesson.optional,
        }
        for lesson in lessons
    ]


def facts(lesson: Lesson, in_class: bool) -> str:
    """Return how much a lesson's core is, in words; points are for a class.

    >>> facts(Lesson("07_x", "X", "", 45, ()), in_class=False)
    '45 minutes'
    """
    count = len(lesson.required)
    points = [f"{format_number(lesson.points)} points"] if in_class and count else []
    return " · ".join([*_facts(lesson.minutes or 0, count), *points])


def further_facts(lesson: Lesson) -> str:
    """Return how much *Going further* is, in words.

    >>> further_facts(Lesson("07_x", "X", "", 45, (), 20))
    '20 minutes'
    """
    return " · ".join(_facts(lesson.further, len(lesson.optional)))


def _facts(minutes: int, count: int) -> list[str]:
    """Return in words how long something takes, and its number of exercises."""
    words = [f"{minutes} minutes"] if minutes else []
    return words + [f"{count} exercise{'' if count == 1 else 's'}"] * bool(count)


def _hours(minutes: int) -> str:
    hours = round(minutes / 60)
    return f"{hours} hour{'' if hours == 1 else 's'}"


def plain(text: str) -> str:
    """Return a line of Markdown without its marks.

    >>> plain("What is *it*, and `x`?")
    'What is it, and x?'
    """
    return MARKS.sub("", text)
