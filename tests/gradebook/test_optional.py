"""Optional exercises of a class: extra credit, required, or left out."""

import json
import sqlite3

import nbformat
import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.checking.registry import load
from autograder.commands import gradebook as gradebook_commands
from autograder.commands.grade import line
from autograder.commands.judge import result_in_words
from autograder.course import Course, CourseError
from autograder.course.releases import ANSWER_KEY, kept_releases
from autograder.dashboard.class_results import make_roster
from autograder.dashboard.overview import costly_exercises
from autograder.dashboard.scores import exercise_rows, summary
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.feedback import student_page
from autograder.gradebook.grades import Person
from autograder.gradebook.own_maximum import count_own_maximum
from autograder.gradebook.settings import optional_exercises
from autograder.gradebook.student_feedback import student_feedback
from autograder.gradebook.summaries import student_summary
from autograder.workspace.update import merge
from tests.gradebook.classes import agreed, grade_class, hand_in, numbers, read_csv
from tests.gradebook.opened import change_lesson, configure
from tests.submissions import (
    LESSON,
    MAX_POINTS,
    OPTIONAL_EXERCISES,
    REQUIRED_POINTS,
    open_course,
)

SOFTMAX = load("softmax").points
ALL, REST = MAX_POINTS, MAX_POINTS - SOFTMAX


@pytest.fixture
def mixed(root):
    """Return a course in which only amara has the release that requires softmax."""
    hand_in(root, "amara")
    grade_class(root)
    change_lesson(root, optional=["softmax"])
    hand_in(root, "ben")
    hand_in(root, "cora")
    return root


LOST = {("amara", "softmax"): 2.0, ("cora", "softmax"): SOFTMAX}


def test_old_and_new_release_in_one_gradebook(mixed):
    for _ in range(2):
        results = grade_class(mixed, LOST)
        assert agreed(mixed) == {
            "amara": (ALL - 2, ALL),
            "ben": (REST + SOFTMAX, REST),
            "cora": (REST, REST),
        }
    own = {name: (each.points, each.max_points) for name, each in results.items()}
    assert own == agreed(mixed)
    assert results["amara"].optional == ()
    assert results["ben"].optional == ("softmax",)
    assert results["cora"].not_done == ("softmax",)
    releases = kept_releases(Course(mixed))[LESSON]
    assert [each.optional for each in releases.values()][-1] == {"softmax"}


def test_notebook_without_a_name_is_of_the_release_of_its_checks(mixed):
    path = Course(mixed).learner(LESSON)
    new, bare = (nbformat.read(path, as_version=4) for _ in range(2))
    for cell in bare.cells:
        cell.metadata.pop(ANSWER_KEY, None)
        cell.metadata.pop("nbgrader", None)
    amaras = mixed / "submitted" / "amara" / LESSON / f"{LESSON}.ipynb"
    old = nbformat.read(amaras, as_version=4)
    del old.cells[-1]
    for name, notebook in (("old", old), ("bare", bare), ("new", new)):
        nbformat.write(notebook, path)
        hand_in(mixed, name, named=False)
    grade_class(mixed, {(each, "softmax"): SOFTMAX for each in ("new", "bare", "old")})
    assert agreed(mixed) == {
        "amara": (ALL, ALL),
        "old": (REST, ALL),
        "ben": (ALL, REST),
        "cora": (ALL, REST),
        "new": (REST, REST),
        "bare": (REST, REST),
    }


def test_update_brings_a_copy_to_the_release_of_today(mixed):
    path = Course(mixed).learner(LESSON)
    amaras = mixed / "submitted" / "amara" / LESSON / f"{LESSON}.ipynb"
    new, mine = (nbformat.read(each, as_version=4) for each in (path, amaras))
    mine.cells[-1].source = "# dimitri"
    target = mixed / "submitted" / "dimitri" / LESSON / f"{LESSON}.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(merge(new, mine).notebook, target)
    grade_class(mixed, {("dimitri", "softmax"): SOFTMAX})
    says = agreed(mixed)
    assert (says["amara"], says["dimitri"]) == ((ALL, ALL), (REST, REST))


def test_maximum_of_who_has_not_handed_in_is_that_of_today(mixed):
    Gradebook(Course(mixed)).enter_people([Person("zoe")])
    grade_class(mixed)
    count_own_maximum()
    assert Gradebook(Course(mixed)).grades(LESSON)["zoe"].max_points == REST
    with NbgraderGradebook(f"sqlite:///{mixed}/gradebook.db", "attention") as book:
        (zoe,) = (each for each in book.student_dicts() if each["id"] == "zoe")
        assert (zoe["score"], zoe["max_score"]) == (0, REST)
        assert book.find_student("zoe").max_score == REST
        assignment = book.find_assignment(LESSON)
        assert (assignment.max_score, assignment.max_code_score) == (REST, REST)
        (notebook,) = assignment.notebooks
        assert (notebook.max_score, notebook.max_code_score) == (REST, REST)


def test_lesson_as_it_is_released_is_out_of_what_it_requires(tmp_path):
    root = open_course(tmp_path / "course")
    for student in ("amara", "ben"):
        hand_in(root, student)
    not_done = {("ben", name): load(name).points for name in OPTIONAL_EXERCISES}
    assert not_done
    grade_class(root, not_done)
    assert agreed(root) == {
        "amara": (MAX_POINTS, REQUIRED_POINTS),
        "ben": (REQUIRED_POINTS, REQUIRED_POINTS),
    }


def test_changed_setting_counts_at_the_next_grading(mixed):
    grade_class(mixed, LOST)
    extra = agreed(mixed)
    with sqlite3.connect(mixed / "gradebook.db") as connection:
        connection.execute(
            "UPDATE grade SET manual_score = 1, extra_credit = 0.5 WHERE cell_id = "
            "(SELECT id FROM base_cell WHERE name = 'optional_softmax') "
            "AND auto_score = ?",
            [SOFTMAX],
        )
    by_hand = extra | {"ben": (REST + 1.5, REST)}
    assert agreed(mixed) == by_hand
    wanted = {
        "required": {"ben": (REST + 1.5, ALL), "cora": (REST, ALL)},
        "left out": {"ben": (REST, REST), "cora": (REST, REST)},
        "extra": by_hand,
    }
    for setting in ("required", "left out", "extra", "left out", "required", "extra"):
        configure(mixed, f"c.AutogradeExporter.optional_exercises = {setting!r}")
        for _ in range(2):
            grade_class(mixed, LOST)
            assert agreed(mixed) == extra | wanted[setting], setting


def test_setting_that_is_none_is_one_sentence(root):
    assert optional_exercises(Course(root)) == "extra"
    configure(root, "c.AutogradeExporter.optional_exercises = 'bonus'")
    with pytest.raises(CourseError, match="'bonus'; it must be \"extra\""):
        optional_exercises(Course(root))


def test_setting_before_anybody_has_handed_in(root):
    course = Course(root)
    change_lesson(root, optional=["softmax"])
    Gradebook(course).enter_people([Person("zoe")])
    for setting, worth in (("extra", REST), ("required", ALL), ("left out", REST)):
        configure(root, f"c.AutogradeExporter.optional_exercises = {setting!r}")
        Gradebook(course).open_lesson(LESSON)
        assert Gradebook(course).open_lesson(LESSON) == []
        grades = Gradebook(course).grades(LESSON)["zoe"]
        assert grades.max_points == worth
        names = [each.exercise for each in grades.exercises]
        assert ("softmax" in names) == (setting != "left out")
        with NbgraderGradebook(f"sqlite:///{root}/gradebook.db", "attention") as book:
            assert book.find_assignment(LESSON).max_score == worth


def test_exercise_required_again_counts_for_its_release(mixed):
    grade_class(mixed, LOST)
    before = agreed(mixed)
    change_lesson(mixed, optional=[])
    hand_in(mixed, "dimitri")
    grade_class(mixed, LOST)
    assert agreed(mixed) == before | {"dimitri": (ALL, ALL)}


def test_other_points_count_for_the_old_release_too(mixed):
    grade_class(mixed)
    change_lesson(mixed, points={"softmax": 2 * SOFTMAX})
    assert any(
        f"softmax {SOFTMAX:g} → {2 * SOFTMAX:g}" in sentence
        for sentence in Gradebook(Course(mixed)).open_lesson(LESSON)
    )
    grade_class(mixed)
    assert agreed(mixed)["amara"] == (ALL + SOFTMAX, ALL + SOFTMAX)


def test_drop_and_undo_of_an_optional_exercise(mixed, capsys):
    course = Course(mixed)
    grade_class(mixed, LOST)
    before = agreed(mixed)
    for _ in range(2):
        gradebook_commands.drop(course, "softmax", "01", undo=False)
        assert agreed(mixed) == dict.fromkeys(before, (REST, REST))
        grade_class(mixed, LOST)
        assert agreed(mixed) == dict.fromkeys(before, (REST, REST))
        gradebook_commands.drop(course, "softmax", "01", undo=True)
        assert agreed(mixed) == before
    capsys.readouterr()


def test_drop_of_what_was_only_optional_so_far(root, capsys):
    course, path = Course(root), Course(root).learner(LESSON)
    old = path.read_text()
    change_lesson(root, optional=["softmax"])
    new = path.read_text()
    hand_in(root, "ben")
    grade_class(root)
    gradebook_commands.drop(course, "softmax", "01", undo=False)
    path.write_text(old)
    hand_in(root, "amara")
    path.write_text(new)
    grade_class(root)
    assert agreed(root) == dict.fromkeys(["amara", "ben"], (REST, REST))
    gradebook_commands.drop(course, "softmax", "01", undo=True)
    assert agreed(root) == {"amara": (ALL, ALL), "ben": (ALL, REST)}
    capsys.readouterr()


def test_drop_between_two_settings_keeps_what_people_gave(mixed, capsys):
    course = Course(mixed)
    grade_class(mixed, LOST)
    with sqlite3.connect(mixed / "gradebook.db") as connection:
        connection.execute(
            "UPDATE grade SET manual_score = 1 WHERE cell_id = (SELECT id FROM "
            "base_cell WHERE name = 'optional_softmax') AND auto_score = ?",
            [SOFTMAX],
        )
    gradebook_commands.drop(course, "softmax", "01", undo=False)
    configure(mixed, "c.AutogradeExporter.optional_exercises = 'required'")
    grade_class(mixed, LOST)
    gradebook_commands.drop(course, "softmax", "01", undo=True)
    grade_class(mixed, LOST)
    assert agreed(mixed)["ben"] == (REST + 1, ALL)
    with sqlite3.connect(mixed / "gradebook.db") as connection:
        query = "SELECT count(*) FROM set_aside_grade"
        assert connection.execute(query).fetchone() == (0,)
    capsys.readouterr()


def test_excused_optional_exercise_is_on_top_for_nobody(mixed):
    hand_in(mixed, "eva", without=["softmax"])
    grade_class(mixed, excuse=True)
    assert agreed(mixed)["eva"] == (REST, REST)


def test_autograded_notebook_has_the_cell_of_the_gradebook(mixed):
    grade_class(mixed)
    points = {}
    for student in ("amara", "ben"):
        path = mixed / "autograded" / student / LESSON / f"{LESSON}.ipynb"
        marks = [
            cell["metadata"].get("nbgrader", {})
            for cell in json.loads(path.read_text())["cells"]
        ]
        points[student] = {
            each["grade_id"]: each["points"] for each in marks if each.get("grade")
        }
    assert points["amara"]["check_softmax"] == SOFTMAX
    assert points["ben"]["optional_softmax"] == 0
    assert "check_softmax" not in points["ben"]


def test_totals_are_shares_of_what_is_required(mixed):
    grade_class(mixed, LOST)
    course = Course(mixed)
    warnings = []
    canvas = read_csv(export(course, [LESSON], "canvas", on_warning=warnings.append))
    possible, *rows = canvas
    assert float(possible[LESSON]) == ALL
    column = f"{LESSON} ({REST:g} points)"
    assert float(possible[column]) == REST
    says = {row["SIS Login ID"]: row[column] for row in rows}
    assert says == {"amara": "", "ben": f"{ALL:g}", "cora": f"{REST:g}"}
    assert f"{LESSON}: not everybody was required to do softmax. " in warnings.pop()
    read_csv(export(course, [LESSON], "moodle", on_warning=warnings.append))
    assert f"({LESSON}: ben): Moodle lowers them" in warnings[-1]
    numbers(mixed)


def test_feedback_names_what_is_optional(mixed):
    grade_class(mixed, LOST)
    course = Course(mixed)
    grades = Gradebook(course).grades(LESSON)
    pages = {name: student_page(course, LESSON, name, grades[name]) for name in grades}
    assert "optional" not in pages["amara"]
    assert "optional, all claims hold" in pages["ben"]
    assert f"for optional exercises, on top of the {REST:g}." in pages["ben"]
    assert "optional, not done" in pages["cora"]
    assert f"0 of {SOFTMAX:g}" not in pages["cora"]
    assert "Full points in every required exercise" in pages["cora"]
    assert student_feedback(course, LESSON, "cora", grades["cora"]).unfinished == []
    message = student_summary(course, LESSON, grades["cora"], None).body
    assert "softmax: optional, not done" in message
    assert "Well done!" in message
    configure(mixed, "c.AutogradeExporter.optional_exercises = 'left out'")
    grade_class(mixed, LOST)
    own = Gradebook(course).grades(LESSON)["ben"]
    page = student_page(course, LESSON, "ben", own)
    assert "Optional, and not counted: <code>softmax</code>" in page


def test_rows_of_grade_and_judge_name_what_is_optional(mixed):
    results = grade_class(mixed, {("cora", "softmax"): SOFTMAX})
    assert line(results["ben"]).endswith(f"optional: softmax +{SOFTMAX:g}")
    assert line(results["cora"]).endswith("optional: softmax not done")
    assert "optional" not in line(results["amara"])
    assert "Optional, not done: softmax" in result_in_words(results["cora"])
    words = f"Optional, {SOFTMAX:g} / {SOFTMAX:g} on top: "
    assert words in result_in_words(results["ben"]).replace(" of ", " / ")


def test_dashboard_loses_no_points_by_what_is_optional(root):
    change_lesson(root, optional=["softmax"])
    for student in ("ben", "cora"):
        hand_in(root, student)
    results = grade_class(root, LOST)
    grades = Gradebook(Course(root)).grades(LESSON)
    roster = make_roster(LESSON, "", [*results.values()], {}, grades, {})
    rows = {row.exercise: row for row in exercise_rows(roster)}
    assert rows["softmax"].optional and not rows["attention"].optional
    assert (rows["softmax"].lost, rows["softmax"].unwritten) == (0.0, 1)
    assert costly_exercises([*rows.values()]) == []
    assert summary(roster).max_points == REST


@pytest.mark.parametrize("setting", ["extra", "required"])
def test_rows_that_nbgrader_enters_for_both_cells_are_one(mixed, setting):
    grade_class(mixed, LOST)
    configure(mixed, f"c.AutogradeExporter.optional_exercises = {setting!r}")
    with sqlite3.connect(mixed / "gradebook.db") as connection:
        connection.execute(
            "INSERT OR IGNORE INTO grade "
            "(id, notebook_id, cell_id, needs_manual_grade) "
            "SELECT lower(hex(randomblob(16))), n.id, c.id, 1 "
            "FROM submitted_notebook n JOIN base_cell c "
            "ON c.name IN ('check_softmax', 'optional_softmax')"
        )
    grade_class(mixed, LOST)
    worth = REST if setting == "extra" else ALL
    assert agreed(mixed) == {
        "amara": (ALL - 2, ALL),
        "ben": (ALL, worth),
        "cora": (REST, worth),
    }
