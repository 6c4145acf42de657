"""The greatest scores as nbgrader says them: a submission's own, and today's lesson's.

nbgrader takes a submission's from the assignment, whatever it was graded on. Its
formgrader's lists already sum over the rows of a submission, and so does this for its
API, which ``nbgrader_config.py`` calls: a submission of an older release has no rows
for exercises that it did not contain.

The assignment's is the sum of its cells. Those of exercises that only earlier releases
required are among them, as long as somebody is graded on them: they are left out, so
that who has not handed in can earn what the lesson has today.
"""

import warnings
from functools import wraps
from typing import Any

from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.exc import SADeprecationWarning
from sqlalchemy.orm import aliased, column_property


def count_own_maximum() -> None:
    """Make nbgrader's API count it so, in this process; once is enough."""
    if hasattr(Gradebook.student_dicts, "__wrapped__"):
        return
    Gradebook.student_dicts = _with_own_maximum(Gradebook.student_dicts)
    with warnings.catch_warnings():
        # It advises against replacing a property; the versions of the lock can.
        warnings.simplefilter("ignore", SADeprecationWarning)
        _replace_properties()


def _replace_properties() -> None:
    of_notebook = (Grade.notebook_id == SubmittedNotebook.id,)
    of_assignment = (
        SubmittedNotebook.assignment_id == SubmittedAssignment.id,
        *of_notebook,
    )
    code = Grade.cell_id == GradeCell.id, GradeCell.cell_type == "code"
    for table, conditions in (
        (SubmittedNotebook, of_notebook),
        (SubmittedAssignment, of_assignment),
    ):
        table.max_score = _sum(Grade.max_score, conditions)
        table.max_code_score = _sum(GradeCell.max_score, (*conditions, *code))
    _replace_todays()
    Student.max_score = column_property(
        select(func.coalesce(func.sum(Assignment.max_score), 0.0))
        .correlate_except(Assignment)
        .scalar_subquery()
        + select(
            func.coalesce(
                func.sum(SubmittedAssignment.max_score - Assignment.max_score), 0.0
            )
        )
        .where(
            SubmittedAssignment.student_id == Student.id,
            SubmittedAssignment.assignment_id == Assignment.id,
        )
        .correlate(Student)
        .scalar_subquery(),
        deferred=True,
    )


def _replace_todays() -> None:
    """Replace what a lesson is worth by what it is worth today."""
    for table in (Notebook, Assignment):
        graded, tasks = (_sum_today(table, cells) for cells in (GradeCell, TaskCell))
        table.max_score = column_property(graded + tasks)
        code = GradeCell.cell_type == "code"
        table.max_code_score = column_property(
            _sum_today(table, GradeCell, code), deferred=True
        )


def _sum_today(table: Any, cells: Any, *conditions: ColumnElement[bool]) -> Any:
    """Return the sum over the cells that a notebook, or an assignment, has today.

    A cell that is gone has no source; in a gradebook without any, none is gone.
    """
    source, notebook = aliased(SourceCell), aliased(Notebook)
    of_notebook = source.notebook_id == cells.notebook_id
    own: tuple[ColumnElement[bool], ...] = (cells.notebook_id == table.id,)
    if table is Assignment:
        own = (cells.notebook_id == notebook.id, notebook.assignment_id == table.id)
    is_there = exists().where(of_notebook, source.name == cells.name)
    return (
        select(func.coalesce(func.sum(cells.max_score), 0.0))
        .where(*own, or_(is_there, ~exists().where(of_notebook)), *conditions)
        .correlate_except(cells, notebook)
        .scalar_subquery()
    )


def _sum(worth: Any, conditions: tuple[ColumnElement[bool], ...]) -> Any:
    """Return the property that sums over a submission's grades."""
    tables = Grade, GradeCell
    return column_property(
        select(func.coalesce(func.sum(worth), 0.0))
        .where(*conditions)
        .correlate_except(*tables)
        .scalar_subquery(),
        deferred=True,
    )


def _with_own_maximum(student_dicts: Any) -> Any:
    """Return formgrader's list of students with their own sums."""

    @wraps(student_dicts)
    def counted(gradebook: Gradebook) -> list[dict[str, Any]]:
        own = dict(gradebook.db.query(Student.id, Student.max_score).all())
        return [
            {**each, "max_score": own[each["id"]]} for each in student_dicts(gradebook)
        ]

    return counted
