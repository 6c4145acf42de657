"""The table of grades for people: a row per student, a column per exercise."""

from collections.abc import Iterable, Mapping, Sequence

from autograder.gradebook.book import (
    Book,
    Missing,
    absent,
    is_graded,
    students,
    total,
    worth,
)
from autograder.gradebook.grades import Grade, Grades
from autograder.gradebook.spreadsheet import moment, number, words
from autograder.grading.result import Result

Results = Mapping[str, Sequence[Result]]  # by lesson


def plain_table(
    book: Book, missing: Missing, results: Results | None
) -> list[list[str]]:
    """Give the table, its header first.

    results : adds a column for each lesson with the names of the known mistakes
    """
    people = students(book)
    rows = [["student", "last_name", "first_name", "email"]]
    for each in people:
        texts = (each.student, each.last_name, each.first_name, each.email)
        rows.append([words(text) for text in texts])
    for lesson, class_ in book.items():
        points = worth(class_)
        mistakes = None if results is None else _mistakes(results.get(lesson, ()))
        rows[0] += _heads(lesson, points, mistakes)
        for person, row in zip(people, rows[1:], strict=True):
            nothing = Grades(person.student, (), submitted=False)
            one = class_.get(person.student, nothing)
            row += _cells(one, points, missing, mistakes)
    return rows


def _heads(
    lesson: str, points: Mapping[str, float], mistakes: Mapping[str, str] | None
) -> list[str]:
    """Give the names of a lesson's columns; a dot tells an exercise from the rest."""
    rest = ["points", "max", "late penalty", "by hand", "submitted (UTC)"]
    if mistakes is not None:
        rest.append("mistakes")
    heads = [f"{lesson}.{exercise}" for exercise in points]
    return [words(head) for head in heads + [f"{lesson} {name}" for name in rest]]


def _cells(
    one: Grades,
    points: Mapping[str, float],
    missing: Missing,
    mistakes: Mapping[str, str] | None,
) -> list[str]:
    """Give what stands in a lesson's columns for a student."""
    given = {grade.exercise: grade for grade in one.exercises if is_graded(grade)}
    if one.submitted:
        cells = [number(given[name].points) if name in given else "" for name in points]
    else:
        cells = [absent(missing)] * len(points)
    cells += [total(one, missing), number(sum(points.values()))]
    cells.append(number(one.late_penalty) if one.submitted else "")
    by_hand = ", ".join(name for name in given if _by_hand(given[name]))
    cells += [words(by_hand), moment(one.timestamp)]
    return cells if mistakes is None else [*cells, mistakes.get(one.student, "")]


def _by_hand(grade: Grade) -> bool:
    return grade.manual is not None or bool(grade.extra)


def _mistakes(results: Iterable[Result]) -> dict[str, str]:
    """Give the known mistakes of each student, in the order of the exercises."""
    return {
        result.student: words(
            ", ".join(each.diagnosis for each in result.exercises if each.diagnosis)
        )
        for result in results
    }
