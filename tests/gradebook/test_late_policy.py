"""What late submissions cost, in words, and extensions: ours and nbgrader's numbers."""

import csv
import shutil
from datetime import datetime, timedelta
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook as NbgraderGradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.server_extensions.formgrader import apihandlers
from traitlets.config import PyFileConfigLoader

from autograder.commands import gradebook as command
from autograder.course import Course, CourseError
from autograder.gradebook.database import Gradebook
from autograder.gradebook.entrance import settle_after_grades_by_hand
from autograder.gradebook.export import export
from autograder.gradebook.late_policy import parse_late_cost
from autograder.gradebook.student_feedback import format_duration
from autograder.gradebook.writing import GradebookEntry
from tests.gradebook.archives import CLASS
from tests.submissions import EXERCISES, LESSON, open_course

DUE = datetime(2026, 3, 1, 12)
DAY = timedelta(days=1)
FULL = dict.fromkeys(EXERCISES, 5.0)
SUM = 5.0 * len(EXERCISES)
POLICY = "10 % a day, at most 50 %"


@pytest.mark.parametrize(
    ("words", "late", "points"),
    [
        ("10 % a day, at most 50 %", DAY, 6.0),
        ("10% per day at most 50%", DAY + timedelta(seconds=1), 12.0),
        ("10 % a day, at most 50 %", 30 * DAY, 30.0),
        ("10 % a day", 30 * DAY, 60.0),
        ("2 points an hour, at most 25 %", timedelta(hours=3), 6.0),
        ("2 points an hour, at most 25 %", DAY, 15.0),
        ("1.5 points each week", timedelta(seconds=1), 1.5),
        ("50 %", 30 * DAY, 30.0),
        ("1 point", DAY, 1.0),
        ("5 % a day, after 15 minutes", timedelta(minutes=15), 0.0),
        ("5 % a day, AT MOST 7 points, after 1 hour", 3 * DAY, 7.0),
        ("99 points a day", DAY, 60.0),
    ],
)
def test_words_say_the_cost(words, late, points):
    assert parse_late_cost(words).penalty(60.0, late.total_seconds()) == points


@pytest.mark.parametrize(
    "words", ["ten percent", "10", "10 % a fortnight", "-5 % a day", "10 % a day,", "%"]
)
def test_words_that_say_no_cost_are_refused(words):
    with pytest.raises(CourseError, match=r"c\.LatePolicy\.late .* write it as '10 %"):
        parse_late_cost(words)


def test_more_than_all_is_refused():
    with pytest.raises(CourseError, match="more than 100 %"):
        parse_late_cost("10 % a day, at most 150 %")


# --- a class ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    root = open_course(tmp_path_factory.mktemp("opened") / "course")
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        book.update_or_create_assignment(LESSON, duedate=DUE)
        for each in CLASS:
            book.add_student(each.login, first_name=each.first, last_name=each.last)
    return root


@pytest.fixture
def root(opened, tmp_path):
    return shutil.copytree(opened, tmp_path / "course")


def configure(root, words=POLICY):
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.LatePolicy.late = {words!r}\n")


def entry(student, late=timedelta()):
    return GradebookEntry(student, FULL, timestamp=f"{DUE + late} UTC")


def penalties(root):
    grades = Gradebook(Course(root)).grades(LESSON)
    return {name: each.late_penalty for name, each in grades.items() if each.submitted}


def nbgraders(root):
    """Return what nbgrader's own step computes, and its API then says, by student."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    url = f"sqlite:///{root / 'gradebook.db'}"
    with NbgraderGradebook(url) as book:
        students = [each.student.id for each in book.assignment_submissions(LESSON)]
    for student in students:
        names = {"notebook": LESSON, "assignment": LESSON, "student": student}
        AssignLatePenalties(config=config).preprocess(
            nbformat.v4.new_notebook(), {"nbgrader": names | {"db_url": url}}
        )
    with NbgraderGradebook(url) as book:
        return {
            each.student.id: (each.score, each.late_submission_penalty or 0.0)
            for each in book.assignment_submissions(LESSON)
        }


def points_in(path, column, student):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row[student]: row[column] for row in csv.DictReader(file)}


def test_penalty_of_a_first_submission_beside_one_that_changes(root):
    configure(root)
    gradebook = Gradebook(Course(root))
    gradebook.enter(LESSON, [entry("s01", DAY)])
    gradebook.enter(LESSON, [entry("s01", 2 * DAY), entry("s02", DAY)])
    assert penalties(root) == {"s01": SUM * 0.2, "s02": SUM * 0.1}


def test_class_has_the_same_numbers_everywhere(root):
    configure(root)
    course = Course(root)
    lates = {each.login: (i - 5) * DAY / 2 for i, each in enumerate(CLASS)}
    Gradebook(course).extend(LESSON, "s20", 2 * 86400)
    Gradebook(course).enter(LESSON, [entry(who, late) for who, late in lates.items()])
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        book.grant_extension(LESSON, "s21", days=2)
    Gradebook(course).enter(LESSON, [entry("s21", lates["s21"])])
    ours = penalties(root)
    assert ours["s05"] == 0.0
    assert ours["s06"] == ours["s07"] == SUM * 0.1
    assert ours["s15"] == ours["s30"] == SUM * 0.5
    assert ours["s10"] == SUM * 0.3
    late = {"s20": 15 / 2 - 2, "s21": 16 / 2 - 2}
    assert late["s20"] > 5 and ours["s20"] == ours["s21"] == SUM * 0.5
    theirs = nbgraders(root)
    assert {who: penalty for who, (_, penalty) in theirs.items()} == ours
    files = {
        kind: export(course, [], kind, root / f"{kind}.csv")
        for kind in ("csv", "canvas", "moodle")
    }
    plain = points_in(files["csv"], f"{LESSON} points", "student")
    canvas = points_in(files["canvas"], LESSON, "SIS Login ID")
    moodle = points_in(files["moodle"], LESSON, "Username")
    taken = points_in(files["csv"], f"{LESSON} late penalty", "student")
    hours = points_in(files["csv"], f"{LESSON} extension (hours)", "student")
    for who, penalty in ours.items():
        points = SUM - penalty
        assert float(plain[who]) == float(canvas[who]) == float(moodle[who]) == points
        assert theirs[who][0] - theirs[who][1] == points
        assert float(taken[who]) == penalty
        assert hours[who] == ("48" if who in late else "")


def test_students_read_how_late_and_the_rule(root):
    configure(root)
    Gradebook(Course(root)).enter(LESSON, [entry("s00", 2.5 * DAY), entry("s01")])
    grades = Gradebook(Course(root)).settled_grades(LESSON)
    assert (grades["s00"].seconds_late, grades["s01"].seconds_late) == (216000, 0)
    assert grades["s00"].late_rule == f"{POLICY}; a day that has begun counts whole"


def test_without_words_nbgrader_is_not_loaded(root, monkeypatch):
    monkeypatch.setattr("nbgrader.preprocessors.AssignLatePenalties", None)
    gradebook = Gradebook(Course(root))
    gradebook.enter(LESSON, [entry("s00", DAY)])
    assert penalties(root) == {"s00": 0.0}


def test_words_without_a_meaning_write_nothing(root):
    configure(root, "10 % a fortnight")
    gradebook = Gradebook(Course(root))
    with pytest.raises(CourseError, match=r"LatePolicy\.late to '10 % a fortnight'"):
        gradebook.enter(LESSON, [entry("s00", DAY)])
    assert penalties(root) == {}


# --- extensions -------------------------------------------------------------------


def extension_in_nbgrader(root, student):
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        return book.find_submission(LESSON, student).extension


def test_extension_changes_the_penalty_at_once(root, capsys):
    configure(root)
    Gradebook(Course(root)).enter(LESSON, [entry("s00", 3 * DAY)])
    assert penalties(root) == {"s00": pytest.approx(SUM * 0.3)}
    assert command.extend(Course(root), "s00", "01", 48.0) == 0
    assert capsys.readouterr().out == (
        f"s00 has until 2026-03-03 12:00:00 UTC for {LESSON}; the late penalty is "
        f"{SUM * 0.1:g}\n"
    )
    assert extension_in_nbgrader(root, "s00") == 2 * DAY
    assert penalties(root) == {"s00": SUM * 0.1}
    command.extend(Course(root), "s00", "01", 0.0)
    assert extension_in_nbgrader(root, "s00") is None
    assert penalties(root) == {"s00": pytest.approx(SUM * 0.3)}


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own way
@pytest.mark.parametrize("first", ["ours", "nbgrader"])
def test_extension_before_handing_in_counts(root, first):
    configure(root)
    gradebook = Gradebook(Course(root))
    for days in (5, 2):  # they do not add up
        command.extend(Course(root), "s00", LESSON, days * 24.0)
    assert not gradebook.grades(LESSON)["s00"].submitted
    if first == "nbgrader":
        with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
            book.add_submission(LESSON, "s00")
    gradebook.enter(LESSON, [entry("s00", 2 * DAY), entry("s01", 2 * DAY)])
    assert penalties(root) == {"s00": 0.0, "s01": SUM * 0.2}
    assert extension_in_nbgrader(root, "s00") == 2 * DAY
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        book.grant_extension(LESSON, "s00")  # taken back there, it stays so
    gradebook.enter(LESSON, [entry("s00", 2 * DAY)])
    assert penalties(root)["s00"] == SUM * 0.2


def test_awaited_extension_can_be_taken_back(root):
    configure(root)
    for hours in (48.0, 0.0):
        command.extend(Course(root), "s00", LESSON, hours)
    Gradebook(Course(root)).enter(LESSON, [entry("s00", DAY)])
    assert penalties(root) == {"s00": SUM * 0.1}


def test_extension_of_nobody_or_of_no_due_date_is_refused(root):
    with pytest.raises(CourseError, match="'nobody' is not in the gradebook"):
        command.extend(Course(root), "nobody", LESSON, 1.0)
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        book.find_assignment(LESSON).duedate = None
        book.db.commit()
    with pytest.raises(CourseError, match="no due date that could be later"):
        command.extend(Course(root), "s00", LESSON, 1.0)


def test_durations_in_words():
    assert format_duration(24.0) == "1 day"
    assert format_duration(36.0) == "36 hours"


# --- grades by hand ---------------------------------------------------------------


def grade_by_hand(root, student, points):
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        for grade in book.find_submission(LESSON, student).notebooks[0].grades:
            grade.manual_score = points
        book.db.commit()


def test_published_penalty_follows_grades_by_hand(root):
    configure(root)
    course = Course(root)
    Gradebook(course).enter(LESSON, [entry("s00", DAY), entry("s01", DAY)])
    grade_by_hand(root, "s00", 1.0)
    canvas = points_in(export(course, [], "canvas"), LESSON, "SIS Login ID")
    less = 0.9 * len(EXERCISES)
    assert float(canvas["s00"]) == pytest.approx(less)
    assert float(canvas["s01"]) == SUM * 0.9
    assert (
        nbgraders(root)["s00"][1] == penalties(root)["s00"] == pytest.approx(less / 9)
    )


def test_settling_writes_only_what_has_changed(root):
    configure(root)
    gradebook = Gradebook(Course(root))
    gradebook.enter(LESSON, [entry("s00", DAY), entry("s01")])
    before = gradebook.path.read_bytes()
    assert gradebook.settle(LESSON) == 0
    assert gradebook.path.read_bytes() == before
    configure(root, "50 %")
    assert Gradebook(Course(root)).settle(LESSON) == 1
    assert penalties(root) == {"s00": SUM / 2, "s01": 0.0}


def test_formgrader_settles_the_penalty_with_a_grade(root, monkeypatch):
    configure(root)
    Gradebook(Course(root)).enter(LESSON, [entry("s00", DAY)])

    def put(handler, grade_id):
        handler.gradebook.find_grade_by_id(grade_id).manual_score = 0.0
        handler.gradebook.db.commit()

    monkeypatch.setattr(apihandlers.GradeHandler, "put", put)
    settle_after_grades_by_hand()
    settle_after_grades_by_hand()
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db") as book:
        grade = book.find_submission(LESSON, "s00").notebooks[0].grades[0].id
        handler = SimpleNamespace(
            gradebook=book, coursedir=CourseDirectory(root=str(root))
        )
        apihandlers.GradeHandler.put(handler, grade)
        book.db.expire_all()
        submission = book.find_submission(LESSON, "s00")
        assert submission.late_submission_penalty == pytest.approx((SUM - 5.0) / 10)
