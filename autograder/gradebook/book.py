"""The grades of a class in several lessons, and what every table needs of them."""

import math
from collections.abc import Mapping
from typing import Literal

from autograder.course import CourseError
from autograder.gradebook.grades import Grade, Grades
from autograder.gradebook.spreadsheet import number

Book = Mapping[str, Mapping[str, Grades]]  # lesson to student to grades
Missing = Literal["empty", "zero"]  # what stands for what was not handed in


def handed_in(book: Book, *, named: bool) -> Book:
    """Give the lessons to export: those that were named, else those handed in.

    Raises ``CourseError`` if nobody has handed in any: an empty file helps nobody.
    """
    found = {
        lesson: class_
        for lesson, class_ in book.items()
        if any(one.submitted for one in class_.values())
    }
    if not found:
        raise CourseError(
            f"the gradebook has no submission for {', '.join(book) or 'any lesson'}: "
            "grade the class with `autograder grade`, then export"
        )
    return book if named else found


def students(book: Book) -> list[Grades]:
    """Give each student once, by id, for what does not depend on the lesson."""
    found = {name: one for class_ in book.values() for name, one in class_.items()}
    return [found[name] for name in sorted(found)]


def worth(class_: Mapping[str, Grades]) -> dict[str, float]:
    """Give what each exercise of a lesson is worth, in the order of the lesson."""
    return {
        grade.exercise: grade.max_points
        for one in class_.values()
        for grade in one.exercises
    }


def totals(book: Book, student: str, missing: Missing) -> list[str]:
    """Give a student's points for each lesson, as text."""
    return [total(class_.get(student), missing) for class_ in book.values()]


def total(one: Grades | None, missing: Missing) -> str:
    """Give the points that count, as text; empty as long as nothing is graded."""
    if one is None or not one.submitted:
        return absent(missing)
    return number(one.points) if any(map(is_graded, one.exercises)) else ""


def absent(missing: Missing) -> str:
    """Give what stands for what was not handed in."""
    return "0" if missing == "zero" else ""


def is_graded(grade: Grade) -> bool:
    """Say whether an exercise has a grade, by the engine or by hand."""
    return (grade.auto, grade.manual) != (None, None)


def refuse_endless(book: Book) -> None:
    """Raise ``CourseError`` if a grade is no number (inf); a database can hold it."""
    for lesson, class_ in book.items():
        for one in class_.values():
            for value in (one.points, one.max_points, one.late_penalty):
                if not math.isfinite(value):
                    raise CourseError(
                        f"{one.student}'s grade for {lesson} is no number ({value}): "
                        "correct it in formgrader, then export again"
                    )
