"""The table of all functions that a learner writes, for the last lesson's text.

It is made of the exercises at every build, so that it is never stale.
"""

from collections.abc import Callable

from autograder.checking.registry import exercises_of
from autograder.course import Course

MARK = "<!-- functions of the course -->"


def with_functions(text: str, course: Course, link: Callable[[str], str]) -> str:
    """Return a prose cell's text, with the table in place of its mark.

    link : from the name of a lesson to the Markdown that leads to it
    """
    return text.replace(MARK, _table(course, link)) if MARK in text else text


def _table(course: Course, link: Callable[[str], str]) -> str:
    rows = ["| lesson | your functions | the course's own |", "|---|---|---|"]
    exercises = exercises_of()
    for lesson in course.public_lessons:
        own = [each for each in exercises if each.lesson == lesson]
        if not own:
            continue
        modules = {each.reference.__module__.replace(".", "/") for each in own}
        names = ", ".join(f"`{each.name}`" for each in own)
        paths = ", ".join(f"`{module}.py`" for module in sorted(modules))
        rows.append(f"| {link(lesson)} | {names} | {paths} |")
    n_lessons = len(rows) - 2
    rows += ["", f"{len(exercises)} functions in {n_lessons} lessons."]
    return "\n".join(rows)
