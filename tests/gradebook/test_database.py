"""The gradebook as nbgrader sees it, after lessons and grades have been entered."""

import json
import os
import shutil
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from autograder.checking.registry import load
from autograder.course import Course
from autograder.gradebook import database
from autograder.gradebook.database import Gradebook
from autograder.gradebook.writing import GradebookEntry
from autograder.grading.release import CHECK
from tests.gradebook.opened import (
    EXERCISES,
    FULL,
    LATE,
    SUM,
    change,
    change_lesson,
    configure,
    grade,
    refused,
    rows,
)
from tests.submissions import LESSON, MAX_POINTS

CELLS = (
    "SELECT b.name, b.type, g.max_score, g.cell_type FROM base_cell b "
    "LEFT JOIN grade_cells g USING (id) ORDER BY b.type, b.rowid",
    "SELECT b.name FROM base_cell b JOIN solution_cells USING (id) ORDER BY b.rowid",
    "SELECT name, cell_type, locked, source, checksum FROM source_cell ORDER BY name",
    "SELECT name, kernelspec FROM notebook",
    "SELECT name, duedate, course_id FROM assignment",
    "SELECT id FROM course WHERE id != 'default_course'",  # entered by any reading
    "SELECT version_num FROM alembic_version",
)
FOLDERS = {"source_directory": "solutions", "release_directory": "notebooks"}


def release(root):
    """Release the lesson with ``nbgrader generate_assignment``."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = LESSON
    course = CourseDirectory(config=config)
    converter = GenerateAssignment(coursedir=course, config=config)
    converter.force = True
    converter.start()


def comment(book, exercise, student="amara"):
    book.db.expire_all()
    return book.find_comment(exercise, LESSON, LESSON, student)


# --- lessons ---------------------------------------------------------------------


def test_open_lesson_enters_what_nbgrader_enters(original, tmp_path, monkeypatch):
    other = tmp_path / "nbgraders"
    for part in ("notebooks", "solutions"):
        shutil.copytree(original / part, other / part)
    shutil.copy(original / "nbgrader_config.py", other)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)  # where nbgrader looks for alembic
    release(other)
    for query in CELLS:
        assert rows(original, query) == rows(other, query), query
    assert tables(original) == tables(other)
    assert len(rows(original, CELLS[0])) == 2 * len(EXERCISES)


def tables(root):
    """Return the statements that made a gradebook's tables, without white space."""
    made = rows(root, "SELECT sql FROM sqlite_master ORDER BY name")
    return [" ".join(statement.split()) for (statement,) in made if statement]


def test_open_lesson_twice_changes_nothing(root, gradebook):
    before = (root / "gradebook.db").read_bytes()
    assert gradebook.open_lesson(LESSON) == []
    assert (root / "gradebook.db").read_bytes() == before


def test_empty_file_becomes_a_gradebook(root, gradebook):
    gradebook.path.write_bytes(b"")
    assert "is not in the gradebook" in refused(gradebook.grades, LESSON)
    gradebook.open_lesson(LESSON)
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    assert gradebook.grades(LESSON)["amara"].points == SUM


def test_changed_lesson_without_submissions_is_replaced(root, gradebook):
    ids = dict(rows(root, "SELECT name, id FROM base_cell"))
    change_lesson(root, drop="softmax", add="pairwise_sums", points={"attention": 5})
    assert gradebook.open_lesson(LESSON) == []
    assert gradebook.open_lesson(LESSON) == []
    exercises = [*EXERCISES[1:], "pairwise_sums"]
    checks = [CHECK + name for name in exercises]
    graded = rows(root, CELLS[0])
    assert [row[0] for row in graded] == [*checks, *exercises]
    assert (CHECK + "attention", "GradeCell", 5.0, "code") in graded
    assert len(rows(root, "SELECT * FROM grade_cells")) == len(exercises)
    assert {name for name, *_ in rows(root, CELLS[2])} == {*checks, *exercises}
    after = dict(rows(root, "SELECT name, id FROM base_cell"))
    assert after["attention"] == ids["attention"]


def test_changed_lesson_with_submissions_loses_nothing(root, gradebook, book):
    gradebook.enter(
        LESSON, [GradebookEntry("amara", FULL, unwritten=frozenset({"softmax"}))]
    )
    before = {
        table: rows(root, f"SELECT id FROM {table}")
        for table in database.TABLES - {"alembic_version", "source_cell"}
    }
    attention = load("attention").points
    change_lesson(root, drop="softmax", add="pairwise_sums", points={"attention": 5})
    sentences = gradebook.open_lesson(LESSON)
    assert sentences == [
        f"new in {LESSON}: pairwise_sums; counts for those whose release has it",
        f"other points in {LESSON}: attention {attention:g} → 5; they count for "
        "everybody who has the exercise, once graded again",
        f"no longer in {LESSON}: softmax; counts for those whose release had it, and "
        "they are judged on it; `autograder drop softmax` lets it count for nobody",
    ]
    assert gradebook.open_lesson(LESSON) == sentences[2:]
    for table, ids in before.items():
        assert {*ids} <= {*rows(root, f"SELECT id FROM {table}")}, table
    amara = gradebook.grades(LESSON)["amara"]
    assert [each.exercise for each in amara.exercises] == [*EXERCISES[1:], "softmax"]
    assert [each.auto for each in amara.exercises] == [7.0] * len(EXERCISES)
    assert grade(book, "attention").max_score == 5.0
    assert comment(book, "pairwise_sums").comment is None
    points = {name: 1.0 for name in [*EXERCISES[1:], "pairwise_sums"]}
    assert (
        gradebook.enter(
            LESSON, [GradebookEntry("amara", points), GradebookEntry("ben", points)]
        )
        == 2
    )
    assert grade(book, "softmax").auto_score == 7.0
    assert comment(book, "softmax").auto_comment == "No response."
    assert grade(book, "softmax", "ben").auto_score is None
    assert not grade(book, "softmax", "ben").needs_manual_grade
    assert not grade(book, "pairwise_sums").needs_manual_grade


def test_nbgrader_goes_on_working_on_a_changed_lesson(root, gradebook, book):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    change(root, "UPDATE grade SET manual_score = 3.0")
    before = [rows(root, query) for query in (*CELLS[:4], "SELECT * FROM grade")]
    release(root)
    assert [
        rows(root, query) for query in (*CELLS[:4], "SELECT * FROM grade")
    ] == before


def test_open_lesson_refuses_a_lesson_that_is_not_built(root, gradebook):
    shutil.rmtree(root / "notebooks")
    assert "run `make build` to make it" in refused(gradebook.open_lesson, LESSON)


# --- grades ----------------------------------------------------------------------


# nbgrader's own way of adding a submission warns
@pytest.mark.filterwarnings("ignore:Object of type <Submitted")
def test_enter_writes_what_nbgrader_would_write(root, gradebook, book):
    book.add_student("nbgraders")
    book.add_submission(LESSON, "nbgraders", timestamp=LATE)
    for name in EXERCISES:
        expected = grade(book, name, "nbgraders")
        expected.auto_score, expected.needs_manual_grade = 7.0, False
        book.db.commit()
    gradebook.enter(LESSON, [GradebookEntry("ours", FULL, timestamp=LATE)])
    for query in (
        "SELECT assignment_id, timestamp, extension FROM submitted_assignment "
        "WHERE student_id = ?",
        "SELECT n.notebook_id, flagged, late_submission_penalty "
        "FROM submitted_notebook n JOIN submitted_assignment s "
        "ON n.assignment_id = s.id WHERE student_id = ?",
        "SELECT cell_id, auto_score, manual_score, extra_credit, needs_manual_grade "
        "FROM grade g JOIN submitted_notebook n ON g.notebook_id = n.id "
        "JOIN submitted_assignment s ON n.assignment_id = s.id WHERE student_id = ? "
        "ORDER BY cell_id",
        "SELECT cell_id, auto_comment, manual_comment "
        "FROM comment g JOIN submitted_notebook n ON g.notebook_id = n.id "
        "JOIN submitted_assignment s ON n.assignment_id = s.id WHERE student_id = ? "
        "ORDER BY cell_id",
        "SELECT first_name, last_name, email, lms_user_id FROM student WHERE id = ?",
    ):
        assert rows(root, query, "ours") == rows(root, query, "nbgraders") != []
    ids = rows(root, "SELECT id FROM grade UNION SELECT id FROM comment")
    assert all(len(one) == 32 and int(one, 16) for (one,) in ids)


def test_nbgrader_reads_points_comments_and_reviews(gradebook, book):
    entry = GradebookEntry(
        "amara",
        FULL | {"softmax": 2.5},
        review=frozenset({"attention"}),
        unwritten=frozenset({"softmax", "scaled_scores"}),
        remarks={"attention": "For review", "scaled_scores": "Not read"},
    )
    assert gradebook.enter(LESSON, [entry]) == 1
    submission = book.find_submission(LESSON, "amara")
    assert (submission.score, submission.max_score) == (SUM - 4.5, MAX_POINTS)
    assert submission.needs_manual_grade
    assert grade(book, "softmax").score == 2.5
    assert comment(book, "softmax").comment == "No response."
    assert comment(book, "scaled_scores").comment == "Not read"
    assert comment(book, "attention").comment == "For review"
    assert comment(book, "additive_scores").comment is None
    reviewed = [name for name in EXERCISES if grade(book, name).needs_manual_grade]
    assert reviewed == ["attention"]


def test_formgrader_lists_the_class(root, gradebook):
    gradebook.enter(
        LESSON,
        [GradebookEntry("amara", FULL), GradebookEntry("ben", FULL, timestamp=LATE)],
    )
    api = NbGraderAPI(CourseDirectory(root=str(root), **FOLDERS))
    submissions = {each["student"]: each for each in api.get_submissions(LESSON)}
    assert [*submissions] == ["amara", "ben"]
    assert submissions["amara"]["score"] == SUM
    assert submissions["ben"]["timestamp"] == "2026-03-02T12:00:00"
    assert submissions["ben"]["autograded"]
    assert api.get_assignment(LESSON)["average_score"] == SUM


def test_what_people_have_entered_survives_a_regrade(root, gradebook, book):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    change(root, "UPDATE grade SET manual_score = 4, extra_credit = 1")
    change(root, "UPDATE comment SET manual_comment = 'Well done'")
    change(root, "UPDATE submitted_notebook SET flagged = 1")
    change(root, "UPDATE student SET first_name = 'Amara', lms_user_id = '17'")
    hours = "1970-01-01 05:00:00.000000"
    change(root, "UPDATE submitted_assignment SET extension = ?", hours)
    less = dict.fromkeys(EXERCISES, 1.0)
    unwritten = frozenset(EXERCISES)
    assert (
        gradebook.enter(LESSON, [GradebookEntry("amara", less, unwritten=unwritten)])
        == 1
    )
    softmax = grade(book, "softmax")
    assert (softmax.auto_score, softmax.manual_score, softmax.extra_credit) == (1, 4, 1)
    assert softmax.needs_manual_grade  # as nbgrader asks again where the points change
    remark = comment(book, "softmax")
    assert (remark.auto_comment, remark.manual_comment) == ("No response.", "Well done")
    submission = book.find_submission(LESSON, "amara")
    assert submission.extension == timedelta(hours=5)
    assert submission.notebooks[0].flagged
    amara = gradebook.grades(LESSON)["amara"]
    assert (amara.first_name, amara.lms_user_id) == ("Amara", "17")
    assert amara.points == 5.0 * len(EXERCISES)
    assert {each.comment for each in amara.exercises} == {"Well done"}


@pytest.mark.filterwarnings("ignore:Object of type <Submitted")  # as above
def test_enter_completes_what_nbgrader_has_begun(gradebook, book):
    """Complete what its command and formgrader's button enter before grading."""
    book.add_student("amara")
    book.add_submission(LESSON, "amara")
    assert grade(book, "softmax").needs_manual_grade
    assert gradebook.enter(LESSON, [GradebookEntry("amara", FULL, timestamp=LATE)]) == 1
    assert not book.find_submission(LESSON, "amara").needs_manual_grade
    amara = gradebook.grades(LESSON)["amara"]
    assert (amara.points, amara.timestamp) == (SUM, "2026-03-02 12:00:00")


def test_enter_writes_only_differences(root, gradebook):
    two = [GradebookEntry("amara", FULL, timestamp=LATE), GradebookEntry("ben", FULL)]
    assert gradebook.enter(LESSON, two) == 2
    before = (root / "gradebook.db").read_bytes()
    assert gradebook.enter(LESSON, two) == 0
    assert gradebook.enter(LESSON, []) == 0
    assert (root / "gradebook.db").read_bytes() == before
    later = "2026-03-03 12:00:00 UTC"
    assert (
        gradebook.enter(
            LESSON, [GradebookEntry("amara", FULL, timestamp=later), two[1]]
        )
        == 1
    )
    assert gradebook.grades(LESSON)["amara"].timestamp == "2026-03-03 12:00:00"


def test_settled_review_reopens_only_for_something_new(root, gradebook, book):
    review = frozenset({"softmax"})
    flagged = GradebookEntry(
        "amara", FULL, review, remarks={"softmax": "calls torch.softmax"}
    )
    gradebook.enter(LESSON, [flagged])
    assert grade(book, "softmax").needs_manual_grade
    change(root, "UPDATE grade SET needs_manual_grade = 0")
    assert gradebook.enter(LESSON, [flagged]) == 0
    assert not grade(book, "softmax").needs_manual_grade
    other = GradebookEntry(
        "amara", FULL, review, remarks={"softmax": "calls scipy's softmax"}
    )
    gradebook.enter(LESSON, [other])
    assert grade(book, "softmax").needs_manual_grade
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL | {"softmax": 1.0})])
    assert not grade(book, "softmax").needs_manual_grade


def test_grades_of_a_student_without_a_submission_are_empty(gradebook, book):
    for name in ("zoe", "Ben", "éva"):
        book.add_student(name, last_name=name.upper())
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    grades = gradebook.grades(LESSON)
    assert [*grades] == ["Ben", "amara", "zoe", "éva"]
    assert grades["zoe"].last_name == "ZOE"
    assert not grades["zoe"].submitted
    assert grades["zoe"].max_points == grades["amara"].max_points == MAX_POINTS
    assert (grades["zoe"].points, grades["amara"].points) == (0.0, SUM)
    assert [each.exercise for each in grades["zoe"].exercises] == [*EXERCISES]
    assert [*gradebook.grades(LESSON, ["zoe", "nobody"])] == ["zoe"]


def test_enter_refuses_ids_and_points_that_are_none(gradebook):
    for entries in (
        [GradebookEntry("a<b", FULL)],
        [GradebookEntry("amara", {"softmax": float("nan")})],
        [GradebookEntry("amara", FULL), GradebookEntry("amara", FULL)],
    ):
        with pytest.raises(ValueError):
            gradebook.enter(LESSON, entries)
    assert gradebook.grades(LESSON) == {}


# --- where it is -----------------------------------------------------------------


def test_database_path_follows_the_configuration(root, gradebook, tmp_path):
    configure(root, "c.CourseDirectory.db_url = 'sqlite:///kept/it.db?timeout=60'")
    (root / "kept").mkdir()
    assert Gradebook(Course(root)).path == root / "kept" / "it.db"
    shutil.move(root / "gradebook.db", root / "kept" / "it.db")
    assert gradebook.enter(LESSON, [GradebookEntry("amara", FULL)]) == 1
    other = tmp_path / "elsewhere.db"
    configure(root, f"c.CourseDirectory.db_url = 'sqlite:///{other}'")
    assert Gradebook(Course(root)).path == other


def test_course_configuration_overrides_the_users(root, tmp_path, monkeypatch):
    own = tmp_path / "jupyter"
    own.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(own))
    words = {"CourseDirectory": {"db_url": "sqlite:///mine.db"}}
    (own / "nbgrader_config.json").write_text(json.dumps(words))
    assert Gradebook(Course(root)).path == root / "mine.db"
    configure(root, "c.CourseDirectory.db_url = 'sqlite:///ours.db'")
    assert Gradebook(Course(root)).path == root / "ours.db"


@pytest.mark.parametrize(
    "url", ["postgresql://me@host/grades", "sqlite://", "grades.db"]
)
def test_database_that_is_not_sqlite_is_refused(root, url):
    configure(root, f"c.CourseDirectory.db_url = '{url}'")
    sentence = refused(Gradebook(Course(root)).grades, LESSON)
    assert "it must be an SQLite file" in sentence


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("c.CourseDirectory.db_url = wrong", "NameError: "),
        ("c.CourseDirectory.db_url = (", "SyntaxError: "),
        ("raise ValueError('no\\n\\ndb_url')", "ValueError: no db_url: correct it"),
    ],
)
def test_failing_configuration_is_one_sentence(root, line, what):
    configure(root, line)
    assert f"stops with {what}" in refused(Gradebook(Course(root)).grades, LESSON)
