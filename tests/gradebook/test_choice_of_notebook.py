"""Which notebook of a submission is graded: the same with both commands, and said."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.processes import run_in
from tests.submissions import LESSON, MAX_POINTS, Submission, open_course

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]
GRADES = (
    "SELECT s.student_id, sum(g.auto_score), sum(g.manual_score), "
    "sum(g.needs_manual_grade) FROM submitted_assignment s "
    "JOIN submitted_notebook n ON n.assignment_id = s.id "
    "JOIN grade g ON g.notebook_id = n.id GROUP BY s.student_id ORDER BY s.student_id"
)
BY_HAND = "UPDATE grade SET manual_score = 1.0 WHERE id IN (SELECT id FROM grade)"


def call(root, *command):
    """Run a command in the course folder; return exit code and what it has printed."""
    run = run_in(root, "-m", *command)
    return run.returncode, " ".join((run.stdout + run.stderr).split())


def query(root, statement):
    with closing(sqlite3.connect(root / "gradebook.db")) as connection, connection:
        return connection.execute(statement).fetchall()


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a class with both commands; return the folder, outputs and grades."""
    root = open_course(tmp_path_factory.mktemp("choice") / "course")
    plain = Submission().write(root, "amara")
    Submission().write(root, "renamed").rename(
        root / "submitted" / "renamed" / LESSON / "01 (1).IPYNB"
    )
    both = Submission().write(root, "both")
    shutil.copy(both, both.with_name("newer.ipynb"))
    neither = Submission().write(root, "neither")
    shutil.copy(neither, neither.with_name("one.ipynb"))
    neither.rename(neither.with_name("two.ipynb"))
    empty = root / "submitted" / "empty" / LESSON
    empty.mkdir(parents=True)
    assert plain.exists()
    ours = call(root, "autograder", "grade", "01")
    query(root, BY_HAND)
    before = query(root, GRADES)
    for student in ("renamed", "empty"):  # also where nobody else has handed in
        alone = call(root, "nbgrader", "autograde", LESSON, "--student", student)
        assert alone[0] == 0, alone[1]
    theirs = call(root, "nbgrader", "autograde", LESSON, "--force")
    return root, ours, theirs, before


def test_both_commands_grade_the_same_notebooks(graded):
    root, ours, theirs, before = graded
    assert ours[0] == theirs[0] == 0, theirs[1]
    points = {student: auto for student, auto, *_ in before}
    right = dict.fromkeys(["amara", "both", "renamed"], MAX_POINTS)
    assert points == right | {"empty": 0.0, "neither": 0.0}
    assert query(root, GRADES) == before  # and asks for no grade by hand
    names = {path.parts[-3] for path in root.glob(f"autograded/*/*/{LESSON}.ipynb")}
    assert names == points.keys()


def test_both_commands_name_the_notebook_that_they_take(graded):
    root, *outputs, _ = graded
    for _, output in outputs:
        assert (
            f"both: {LESSON}.ipynb was graded, and not newer.ipynb: hand in one "
            "notebook only."
        ) in output
        assert (
            "renamed: 01 (1).IPYNB was graded: leave the notebook its name, "
            f"{LESSON}.ipynb."
        ) in output
        assert "amara: " not in output.replace("01_dot", "")
    assert call(root, "autograder", "feedback", "01")[0] == 0
    page = root / "feedback" / "both" / LESSON / f"{LESSON}.html"
    assert "was graded, and not newer.ipynb" in page.read_text()
