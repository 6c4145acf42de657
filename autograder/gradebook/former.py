"""Take over the assignment that a lesson had under its former name.

An assignment that nobody has handed in is renamed. Another one stays as it is and keeps
its grades: what was handed in lies in folders of that name.
"""

import json
import sqlite3
from collections.abc import Collection, Sequence
from uuid import uuid4

from autograder.course import Course
from autograder.course.releases import former_names

MAX_LISTED = 5  # students
# What is kept of an assignment in tables of ours, and how a part of a split lesson gets
# it. A table may be missing.
SHARED = {
    "awaited_extension": "INSERT OR IGNORE INTO awaited_extension "
    "SELECT :new, student_id, seconds FROM awaited_extension "
    "WHERE assignment_id = :old",
    "excused_student": "INSERT OR IGNORE INTO excused_student "
    "SELECT :lesson, student_id FROM excused_student WHERE lesson = :former",
    "dropped_exercise": "UPDATE dropped_exercise SET notebook_id = :new_notebook "
    "WHERE notebook_id = :old_notebook "
    "AND name IN (SELECT value FROM json_each(:exercises))",
}


def take_over(
    connection: sqlite3.Connection,
    course: Course,
    lesson: str,
    exercises: Collection[str],
) -> list[str]:
    """Bring what a lesson had under its former name, before it is entered.

    exercises : of the lesson

    Of a lesson that was split each part gets the due date and the extensions; the part
    that is entered last gets the assignment itself. Returns sentences to print.
    """
    if _notebook(connection, lesson):
        return []
    sentences = []
    for former, lessons in former_names(course).items():
        if lesson not in lessons or not (old := _assignment(connection, former)):
            continue
        about = f"{former} has become {' and '.join(lessons)}"
        others = [each for each in lessons if not _assignment(connection, each)]
        if lesson not in others:
            what = f"both {former} and {lesson} are in the gradebook: the first stays"
        elif students := _handed_in(connection, course, former, old):
            what = (
                f"{former} has been handed in by {', '.join(students[:MAX_LISTED])}"
                f"{' …' if len(students) > MAX_LISTED else ''}, and stays in the "
                f"gradebook with all grades; {lesson} is new beside it"
            )
        elif others == [lesson]:
            _rename(connection, former, old, lesson)
            what = f"its assignment is called {lesson} now, and keeps its due date"
        else:
            _share(connection, former, old, lesson, exercises)
            others.remove(lesson)
            what = (
                f"{lesson} gets its due date; the old assignment stays until "
                f"{' and '.join(others)} is open, too"
            )
        sentences.append(f"{about}: {what}")
    return sentences


def _assignment(connection: sqlite3.Connection, name: str) -> str:
    """Return the id of an assignment, "" if there is none of that name."""
    return _id(connection, "SELECT id FROM assignment WHERE name = ?", name)


def _notebook(connection: sqlite3.Connection, name: str) -> str:
    """Return the id of an assignment's notebook of the same name, "" if none."""
    query = (
        "SELECT n.id FROM notebook n JOIN assignment a ON a.id = n.assignment_id "
        "WHERE a.name = ? AND n.name = a.name"
    )
    return _id(connection, query, name)


def _id(connection: sqlite3.Connection, query: str, name: str) -> str:
    row = connection.execute(query, (name,)).fetchone()
    return row[0] if row else ""


def _handed_in(
    connection: sqlite3.Connection, course: Course, former: str, old: str
) -> Sequence[str]:
    """Return who has handed in an assignment, graded or not."""
    query = "SELECT student_id FROM submitted_assignment WHERE assignment_id = ?"
    graded = {student for (student,) in connection.execute(query, (old,))}
    folders = course.root.glob(f"submitted/*/{former}")
    return sorted(graded | {folder.parent.name for folder in folders})


def _rename(connection: sqlite3.Connection, former: str, old: str, lesson: str) -> None:
    connection.execute("UPDATE assignment SET name = ? WHERE id = ?", (lesson, old))
    connection.execute(
        "UPDATE notebook SET name = ? WHERE assignment_id = ? AND name = ?",
        (lesson, old, former),
    )
    if _has_table(connection, "excused_student"):
        connection.execute(
            "UPDATE OR REPLACE excused_student SET lesson = ? WHERE lesson = ?",
            (lesson, former),
        )


def _share(
    connection: sqlite3.Connection,
    former: str,
    old: str,
    lesson: str,
    exercises: Collection[str],
) -> None:
    """Make a part's assignment, with what the whole lesson's has for it."""
    values = {
        "former": former,
        "old": old,
        "old_notebook": _notebook(connection, former),
        "lesson": lesson,
        "new": uuid4().hex,
        "new_notebook": uuid4().hex,
        "exercises": json.dumps([*exercises]),
    }
    statements = [
        "INSERT INTO assignment (id, name, duedate, course_id) "
        "SELECT :new, :lesson, duedate, course_id FROM assignment WHERE id = :old",
        "INSERT INTO notebook (id, name, assignment_id) "
        "VALUES (:new_notebook, :lesson, :new)",
        *(SHARED[table] for table in SHARED if _has_table(connection, table)),
    ]
    for statement in statements:
        connection.execute(statement, values)


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?"
    return bool(_id(connection, query, name))
