"""What is taken off late submissions in the gradebook, as nbgrader's plugin says it."""

import nbformat
import pytest
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import PyFileConfigLoader

from autograder.gradebook.writing import GradebookEntry
from tests.gradebook.opened import (
    DUE,
    FULL,
    LATE,
    SUM,
    change,
    configure,
    grade,
    refused,
    rows,
)
from tests.submissions import LESSON


def nbgraders_penalty(root, student):
    """Return the penalty that nbgrader's own step computes."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    resources = {"notebook": LESSON, "assignment": LESSON, "student": student}
    resources["db_url"] = f"sqlite:///{root / 'gradebook.db'}"
    notebook = nbformat.v4.new_notebook()
    AssignLatePenalties(config=config).preprocess(notebook, {"nbgrader": resources})
    query = (
        "SELECT late_submission_penalty FROM submitted_notebook n "
        "JOIN submitted_assignment s ON n.assignment_id = s.id WHERE student_id = ?"
    )
    return rows(root, query, student)[0][0]


def test_late_penalty_is_that_of_nbgrader(root, gradebook, book):
    configure(root, "c.LateSubmissionPlugin.penalty_method = 'zero'")
    book.update_or_create_assignment(LESSON, duedate=DUE)
    times = {"early": "2026-02-27 23:00:00 UTC", "late": LATE, "longer": LATE}
    both = [GradebookEntry(name, FULL, timestamp=when) for name, when in times.items()]
    gradebook.enter(LESSON, [*both, GradebookEntry("unknown", FULL)])
    book.grant_extension(LESSON, "longer", days=2)
    assert gradebook.enter(LESSON, both) == 1
    penalties = {
        name: each.late_penalty for name, each in gradebook.grades(LESSON).items()
    }
    assert penalties == {"early": 0.0, "late": SUM, "longer": 0.0, "unknown": 0.0}
    change(
        root,
        "UPDATE grade SET manual_score = 2, extra_credit = 1 WHERE id = ?",
        grade(book, "softmax", "late").id,
    )
    better = [GradebookEntry("late", FULL | {"attention": 8.0}, timestamp=LATE)]
    assert gradebook.enter(LESSON, better) == 1
    assert gradebook.grades(LESSON)["late"].late_penalty == SUM - 3.0
    for name, each in gradebook.grades(LESSON).items():
        assert (nbgraders_penalty(root, name) or 0.0) == each.late_penalty


@pytest.mark.parametrize(
    ("formula", "taken"), [("-1", 0.0), ("score + 1", SUM), ("late / 3600", 36.0)]
)
def test_penalty_is_between_zero_and_the_score(root, gradebook, book, formula, taken):
    name = f"late_plugin_{abs(hash(formula))}"
    (root / f"{name}.py").write_text(
        "from nbgrader.plugins import BasePlugin\n"
        "class Late(BasePlugin):\n"
        "    def late_submission_penalty(self, student, score, late):\n"
        f"        return {formula}\n"
    )
    configure(root, f"c.AssignLatePenalties.plugin_class = '{name}.Late'")
    book.update_or_create_assignment(LESSON, duedate=DUE)
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL, timestamp=LATE)])
    assert gradebook.grades(LESSON)["amara"].late_penalty == taken


def test_failing_penalty_plugin_writes_nothing(root, gradebook, book):
    configure(root, "c.AssignLatePenalties.plugin_class = 'no_such_module.Late'")
    gradebook.enter(
        LESSON, [GradebookEntry("ben", FULL, timestamp=LATE)]
    )  # nobody is late yet
    book.update_or_create_assignment(LESSON, duedate=DUE)
    late = [GradebookEntry("amara", FULL, timestamp=LATE)]
    assert "plugin for late submissions" in refused(gradebook.enter, LESSON, late)
    assert [*gradebook.grades(LESSON)] == ["ben"]


def test_no_penalty_without_a_due_date_or_a_plugin(gradebook, book):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL, timestamp=LATE)])
    book.update_or_create_assignment(LESSON, duedate=DUE)
    gradebook.enter(LESSON, [GradebookEntry("ben", FULL, timestamp=LATE)])
    assert {one.late_penalty for one in gradebook.grades(LESSON).values()} == {0.0}


def test_unreadable_timestamp_is_noted_and_ignored(gradebook):
    wrong = GradebookEntry("amara", FULL, timestamp="<script>soon")
    assert (
        gradebook.enter(LESSON, [wrong, GradebookEntry("ben", FULL, timestamp=" \n")])
        == 2
    )
    assert gradebook.enter(LESSON, [wrong]) == 0
    (note,) = gradebook.notes
    assert note.startswith(f"amara: the time of {LESSON} (timestamp.txt)")
    assert "script" not in note
    assert gradebook.grades(LESSON)["amara"].timestamp == ""


@pytest.mark.parametrize(
    "timestamp", ["9999-12-31 23:59:59 UTC", "0001-01-01 00:00:00 UTC", "nan"]
)
def test_impossible_timestamp_costs_nothing_and_is_named(
    root, gradebook, book, timestamp
):
    configure(root, "c.LateSubmissionPlugin.penalty_method = 'zero'")
    book.update_or_create_assignment(LESSON, duedate=DUE)
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL, timestamp=timestamp)])
    (note,) = gradebook.notes
    assert "amara: the time" in note
    assert "whether it is late is not known" in note
    grades = gradebook.grades(LESSON)["amara"]
    assert (grades.points, grades.late_penalty, grades.timestamp) == (SUM, 0.0, "")
