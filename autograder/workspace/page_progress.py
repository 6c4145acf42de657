"""Take over what a page of the book has noted in a notebook: what is solved there.

A notebook that was downloaded from the book says in its metadata when an exercise was
solved and how many claims held at the last check. Home shows it from the next
``autograder lab`` or ``update`` on, unless ``work/`` knows more already.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from autograder.course import Course
from autograder.course.releases import PAGE_KEY
from autograder.workspace.copies import Copy
from autograder.workspace.outline import ExerciseOutline, read_outlines
from autograder.workspace.progress import ExerciseProgress, keep_new, read_progress

# What a reader stumbles over where a notebook is odd JSON, or none.
ODD = OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError


def take_page_progress(course: Course) -> list[str]:
    """Note in ``work/`` what pages have; return the exercises of which that is news.

    What is odd in a notebook is left out.

    Raises ``OSError`` if a file cannot be written.
    """
    work = course.records
    known, taken = read_progress(work), []
    for lesson in read_outlines(course):
        noted = _noted(Copy(course, lesson.lesson))
        for exercise in lesson.exercises:
            if exercise.name not in known and exercise.name in noted:
                about = _progress(lesson.lesson, exercise, noted[exercise.name])
                if about and keep_new(work, about):
                    taken.append(exercise.name)
    return taken


def _noted(copy: Copy) -> dict[str, dict[str, Any]]:
    """Return by exercise what a page has noted in the learner's copy."""
    noted: dict[str, dict[str, Any]] = {}
    with contextlib.suppress(*ODD):
        if not copy.mine.is_file():  # to read a pipe would wait for ever
            return {}
        notebook = json.loads(copy.mine.read_text(encoding="utf-8"))
        page = notebook["metadata"].get(PAGE_KEY) or {}
        for name, text in _texts(page.get("checked")):
            with contextlib.suppress(ValueError):
                check = json.loads(text)
                noted[name] = check if isinstance(check, dict) else {}
        for name, time in _texts(page.get("solved")):
            noted.setdefault(name, {})["solved"] = time
    return noted


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    for name, text in value.items() if isinstance(value, Mapping) else ():
        if isinstance(text, str):
            yield name, text


def _progress(
    lesson: str, exercise: ExerciseOutline, noted: Mapping[str, Any]
) -> ExerciseProgress | None:
    """Return what is known of an exercise; None if what was noted is odd."""
    try:
        solved = _time(noted["solved"]) if "solved" in noted else None
        holding, claims = (int(noted.get(key, 0)) for key in ("holding", "claims"))
        points = float(noted.get("points", 0))
        return ExerciseProgress(
            exercise.name,
            lesson,
            holding,
            claims,
            min(points, exercise.points),
            exercise.points,
            _time(noted["time"] if "time" in noted else solved),
            max(1, int(noted.get("attempts", 1))),
            solved,
        )
    except (ValueError, TypeError, OverflowError):
        return None


def _time(text: Any) -> str:
    """Return a time as it is written down; raises ``ValueError``, ``TypeError``."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("a time without a zone")
    return text
