"""The gradebook as nbgrader sees it, after lessons and grades have been entered."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook as NbgraderGradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import PyFileConfigLoader

from autograder.course import Course, CourseError
from autograder.gradebook import database
from autograder.gradebook.database import Gradebook
from autograder.gradebook.writing import GradebookEntry
from autograder.grading.release import CHECK, load_release
from autograder.releases import METADATA_KEY, release_name
from tests.submissions import COURSE, LESSON, MAX_POINTS

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
EXERCISES = load_release(COURSE, LESSON).exercises
FULL = dict.fromkeys(EXERCISES, 7.0)
SUM = 7.0 * len(EXERCISES)
LATE = "2026-03-02 12:00:00 UTC"
FOLDERS = {"source_directory": "solutions", "release_directory": "notebooks"}
DUE = datetime(2026, 3, 1)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return a course folder in whose gradebook the lesson is."""
    root = tmp_path_factory.mktemp("original") / "course"
    for part in ("notebooks", "solutions"):
        shutil.copytree(COURSE.root / part, root / part)
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    assert Gradebook(Course(root)).open_lesson(LESSON) == []
    return root


@pytest.fixture
def root(original, tmp_path):
    return shutil.copytree(original, tmp_path / "course")


@pytest.fixture
def gradebook(root):
    return Gradebook(Course(root))


@pytest.fixture
def book(root):
    """Yield the gradebook as nbgrader opens it."""
    with NbgraderGradebook(f"sqlite:///{root / 'gradebook.db'}", "attention") as opened:
        yield opened


def rows(root, query, *values):
    with closing(sqlite3.connect(root / "gradebook.db")) as connection:
        return connection.execute(query, values).fetchall()


def change(root, statement, *values):
    with closing(sqlite3.connect(root / "gradebook.db")) as connection, connection:
        connection.execute(statement, values)


def configure(root, line):
    path = root / "nbgrader_config.py"
    path.write_text(f"{path.read_text()}\n{line}\n")


def release(root):
    """Release the lesson with ``nbgrader generate_assignment``."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = LESSON
    course = CourseDirectory(config=config)
    converter = GenerateAssignment(coursedir=course, config=config)
    converter.force = True
    converter.start()


def grade(book, exercise, student="amara"):
    book.db.expire_all()
    return book.find_grade(CHECK + exercise, LESSON, LESSON, student)


def comment(book, exercise, student="amara"):
    book.db.expire_all()
    return book.find_comment(exercise, LESSON, LESSON, student)


def change_lesson(root, *, drop="", add="", points=None):
    """Release the lesson anew: without an exercise, with another one, other points."""
    path = root / "notebooks" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    cells = notebook["cells"]
    named = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    if add:
        for name in ("softmax", "check_softmax"):
            cell = json.loads(json.dumps(cells[named.index(name)]))
            cell["id"] = cell["id"].replace("softmax", add)
            cell["metadata"]["nbgrader"]["grade_id"] = name.replace("softmax", add)
            cells.append(cell)
    for name, worth in (points or {}).items():
        cells[named.index(CHECK + name)]["metadata"]["nbgrader"]["points"] = worth
    gone = {drop, CHECK + drop} if drop else set()
    notebook["cells"] = [
        cell
        for cell in cells
        if cell["metadata"].get("nbgrader", {}).get("grade_id") not in gone
    ]
    graded = (cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"])
    points = {
        marks["grade_id"].removeprefix(CHECK): marks["points"]
        for marks in graded
        if marks.get("grade")
    }
    notebook["metadata"][METADATA_KEY] = release_name(points)
    path.write_text(json.dumps(notebook))


def refused(call, *arguments):
    """Return the one line of a call that is refused."""
    with pytest.raises(CourseError) as raised:
        call(*arguments)
    sentence = str(raised.value)
    assert "\n" not in sentence
    return sentence


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
    change_lesson(root, drop="softmax", add="pairwise_sums", points={"attention": 5})
    sentences = gradebook.open_lesson(LESSON)
    assert sentences == [
        f"new in {LESSON}: pairwise_sums; counts for those whose release has it",
        f"other points in {LESSON}: attention 8 → 5; they count for everybody who has "
        "the exercise, once graded again",
        f"no longer in {LESSON}: softmax; what was graded of it stays in the "
        "gradebook, and counts for those whose release had it",
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


# --- late ------------------------------------------------------------------------


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


# --- faults ----------------------------------------------------------------------


def test_lesson_that_is_not_open_is_refused(root, gradebook):
    sentence = refused(gradebook.enter, "00_start_here", [GradebookEntry("amara", {})])
    assert sentence == (
        "00_start_here is not in the gradebook: run `autograder open 00_start_here` to "
        "enter it"
    )
    (root / "gradebook.db").unlink()
    assert "autograder open" in refused(
        gradebook.enter, LESSON, [GradebookEntry("amara", FULL)]
    )
    assert "autograder open" in refused(gradebook.grades, LESSON)
    assert not (root / "gradebook.db").exists()


def test_enter_refuses_an_unknown_exercise(gradebook):
    entry = GradebookEntry("amara", FULL | {"pairwise_sums": 1.0})
    sentence = refused(gradebook.enter, LESSON, [GradebookEntry("ben", FULL), entry])
    assert "does not have the exercise pairwise_sums" in sentence
    assert gradebook.grades(LESSON) == {}


def test_gradebook_in_use_is_waited_for(root, gradebook, monkeypatch):
    monkeypatch.setattr(database, "MAX_WAIT", 0.1)
    with database.connect(gradebook.path) as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (100,)
    with closing(sqlite3.connect(root / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        sentence = refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
        assert "has kept it locked for 0.1 s" in sentence
        assert gradebook.grades(LESSON) == {}  # reading goes on
        other.execute("ROLLBACK")
        other.execute("BEGIN EXCLUSIVE")
        assert "locked" in refused(gradebook.grades, LESSON)
    assert gradebook.enter(LESSON, [GradebookEntry("amara", FULL)]) == 1


def test_gradebook_in_use_for_a_moment_is_no_fault(root, gradebook):
    path = root / "gradebook.db"
    options = {"isolation_level": None, "check_same_thread": False}
    with closing(sqlite3.connect(path, **options)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO student (id) VALUES ('ben')")
        done = threading.Timer(0.3, other.execute, ("COMMIT",))
        done.start()
        assert gradebook.enter(LESSON, [GradebookEntry("amara", FULL)]) == 1
        done.join()
    assert [*gradebook.grades(LESSON)] == ["amara", "ben"]


@pytest.fixture
def limited(monkeypatch):
    """Let every connection begin with a statement that limits it."""
    connect = sqlite3.connect

    def limit(statement):
        def limited(*arguments, **options):
            connection = connect(*arguments, **options)
            connection.execute(statement)
            return connection

        monkeypatch.setattr(sqlite3, "connect", limited)

    yield limit
    monkeypatch.setattr(sqlite3, "connect", connect)


def a_class(size):
    return [GradebookEntry(f"student-{number}", FULL) for number in range(size)]


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("PRAGMA max_page_count = 1", "the disk is full"),
        ("PRAGMA query_only = 1", "may not be written"),
    ],
)
def test_full_disk_and_read_only_file_change_nothing(
    root, gradebook, limited, monkeypatch, statement, what
):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    before = (root / "gradebook.db").read_bytes()
    limited(statement)
    assert what in refused(gradebook.enter, LESSON, a_class(300))
    change_lesson(root, add="pairwise_sums")
    if "query" in statement:
        assert what in refused(gradebook.open_lesson, LESSON)
    assert [*gradebook.grades(LESSON)] == ["amara"]
    assert (root / "gradebook.db").read_bytes() == before
    assert not (root / "gradebook.db-journal").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_unwritable_folder_is_one_sentence(root, gradebook):
    root.chmod(0o500)
    try:
        sentence = refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
    finally:
        root.chmod(0o755)
    assert "gradebook.db" in sentence


def test_file_that_is_no_database_is_left_as_it_is(root, gradebook):
    path = gradebook.path
    whole = path.read_bytes()
    damaged = whole[:5000] + b"\xff" * (len(whole) - 5000)
    text = b"grades, by hand" * 1000
    for content, what in ((text, "is no database"), (damaged, "is damaged")):
        path.write_bytes(content)
        assert what in refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
        assert what in refused(gradebook.open_lesson, LESSON)
        assert path.read_bytes() == content
    path.unlink()
    path.mkdir()
    assert "cannot be opened" in refused(gradebook.open_lesson, LESSON)


def test_database_of_another_program_is_left_as_it_is(root, gradebook):
    gradebook.path.unlink()
    change(root, "CREATE TABLE songs (name TEXT)")
    before = gradebook.path.read_bytes()
    for call, arguments in ((gradebook.open_lesson, ()), (gradebook.enter, ([],))):
        assert "of something else than nbgrader" in refused(call, LESSON, *arguments)
    assert gradebook.path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE alembic_version SET version_num = '167914646830'",
        "DROP TABLE task_cells",
    ],
)
def test_gradebook_of_another_version_is_refused(root, gradebook, statement):
    change(root, statement)
    sentence = refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
    assert "another version of nbgrader" in sentence
    assert "`nbgrader db upgrade`" in sentence


@pytest.mark.parametrize(
    "statements",
    [
        ["DELETE FROM alembic_version"],
        ["DROP TABLE alembic_version"],
        ["DROP TABLE alembic_version", "DROP TABLE task_cells", "DROP TABLE comment"],
    ],
)
def test_half_made_gradebook_is_completed_and_keeps_what_it_has(
    root, gradebook, statements
):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    before = gradebook.grades(LESSON)["amara"].points
    for statement in statements:
        change(root, statement)
    assert gradebook.grades(LESSON)["amara"].points == before == SUM
    assert rows(root, "SELECT version_num FROM alembic_version") == [
        (database.VERSION,)
    ]
    with NbgraderGradebook(f"sqlite:///{gradebook.path}", "attention") as book:
        assert grade(book, "softmax").score == 7.0
        assert book.find_submission(LESSON, "amara").score == SUM


def test_older_gradebook_without_a_version_is_refused(root, gradebook):
    change(root, "DROP TABLE alembic_version")
    change(root, "ALTER TABLE student DROP COLUMN lms_user_id")
    assert "another version of nbgrader" in refused(gradebook.grades, LESSON)


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from autograder.course import Course
from autograder.gradebook.database import GradebookEntry, Gradebook

left = int(sys.argv[3])

def dying(statement):
    global left
    left -= statement.startswith("INSERT INTO grade ")
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def spilling(*arguments, connect=sqlite3.connect, **options):
    connection = connect(*arguments, **options)
    connection.execute("PRAGMA cache_size = 2")  # most is in the file before the end
    connection.set_trace_callback(dying)
    return connection

sqlite3.connect = spilling
entries = [GradebookEntry(f"student-{n}", {"softmax": 1.0}) for n in range(300)]
Gradebook(Course(Path(sys.argv[1]))).enter(sys.argv[2], entries)
"""


@pytest.mark.parametrize(
    "at_grade", [len(EXERCISES) + 1, 150 * len(EXERCISES), 300 * len(EXERCISES)]
)
def test_enter_killed_between_two_students_leaves_all_or_nothing(
    root, gradebook, at_grade
):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    command = [sys.executable, "-c", KILLED, str(root), LESSON, str(at_grade)]
    ended = subprocess.run(command, cwd=COURSE.root, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert (root / "gradebook.db-journal").stat().st_size > 0
    assert [*gradebook.grades(LESSON)] == ["amara"]
    assert gradebook.enter(LESSON, a_class(300)) == 300
    assert len(gradebook.grades(LESSON)) == 301
