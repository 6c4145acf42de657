"""A lesson that changes mid-term changes no grade that was given before."""

import shutil
import sqlite3

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.checking.registry import load
from autograder.commands import gradebook as gradebook_commands
from autograder.course import Course, CourseError
from autograder.gradebook import plugins
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.grades import Person
from tests.gradebook.classes import agreed, grade_class, hand_in, read_csv
from tests.gradebook.opened import change_lesson
from tests.submissions import EXERCISES, LESSON, MAX_POINTS

SOFTMAX, ATTENTION = load("softmax").points, load("attention").points
ADDED, WORTH = "pairwise_sums", SOFTMAX  # after whose cells it is made
ALL = MAX_POINTS


def test_added_exercise_counts_for_its_own_release_only(root):
    hand_in(root, "amara")
    hand_in(root, "unnamed", named=False)
    assert grade_class(root)["amara"].max_points == ALL
    assert agreed(root) == {"amara": (ALL, ALL), "unnamed": (ALL, ALL)}
    change_lesson(root, add=ADDED)
    hand_in(root, "ben")
    for _ in range(2):
        results = grade_class(root)
        assert results["amara"].max_points == ALL
        assert agreed(root) == {
            "amara": (ALL, ALL),
            "ben": (ALL + WORTH, ALL + WORTH),
            "unnamed": (ALL, ALL),
        }


def test_removed_exercise_counts_for_who_had_it(root):
    hand_in(root, "amara")
    grade_class(root, {("amara", "softmax"): 5.0})
    change_lesson(root, drop="softmax")
    hand_in(root, "ben")
    for _ in range(2):
        lost = {("amara", "softmax"): 5.0, ("ben", "attention"): 5.0}
        results = grade_class(root, lost)
        assert agreed(root) == {
            "amara": (ALL - 5, ALL),
            "ben": (ALL - SOFTMAX - 5, ALL - SOFTMAX),
        }
        for student, (points, worth) in agreed(root).items():
            assert (results[student].points, results[student].max_points) == (
                points,
                worth,
            )


def test_removed_exercise_counts_for_its_last_points(root):
    path = Course(root).learner(LESSON)

    def release(text):
        path.write_text(text)
        Gradebook(Course(root)).open_lesson(LESSON)

    original = path.read_text()
    change_lesson(root, points={"softmax": SOFTMAX / 2})
    release(other := path.read_text())
    change_lesson(root, drop="softmax")
    release(without := path.read_text())
    release(original)
    hand_in(root, "amara")
    grade_class(root, {("amara", "softmax"): 2.0})
    release(without)
    grade_class(root, {("amara", "softmax"): 2.0})
    assert agreed(root) == {"amara": (ALL - 2, ALL)}
    release(other)
    release(without)
    result = grade_class(root, {("amara", "softmax"): 2.0})["amara"]
    half = ALL - SOFTMAX / 2 - 1, ALL - SOFTMAX / 2  # half of what it earned, and was
    assert (result.points, result.max_points) == half
    assert agreed(root) == {"amara": half}


def test_gradebook_of_earlier_points_goes_on_with_others(root):
    # As after a new rule for points.
    path, book = Course(root).learner(LESSON), Gradebook(Course(root))
    today = path.read_text()
    change_lesson(root, points=dict.fromkeys(EXERCISES, 8.0))
    hand_in(root, "amara")
    hand_in(root, "ben")
    hand_in(root, "unnamed", named=False)
    grade_class(root, {("ben", "softmax"): 2.0})
    most = 8.0 * len(EXERCISES)
    before = {name: (most, most) for name in ("amara", "unnamed")}
    assert agreed(root) == before | {"ben": (most - 2, most)}
    with sqlite3.connect(root / "gradebook.db") as connection:
        connection.execute(
            "UPDATE grade SET manual_score = 7 WHERE cell_id = "
            "(SELECT id FROM base_cell WHERE name = 'check_softmax') AND auto_score = 6"
        )
    path.write_text(today)
    (sentence,) = book.open_lesson(LESSON)
    assert f"softmax 8 → {SOFTMAX:g}" in sentence
    assert (
        "they count for everybody who has the exercise, once graded again" in sentence
    )
    assert book.worth(LESSON) == {name: load(name).points for name in EXERCISES}
    assert book.grades(LESSON)["amara"].points == most  # as long as nothing is graded
    hand_in(root, "zoe")
    grade_class(root, {("ben", "softmax"): 2.0})
    numbers = agreed(root)
    assert numbers.pop("ben") == (ALL - SOFTMAX + 7, ALL)
    assert numbers == dict.fromkeys(["amara", "unnamed", "zoe"], (ALL, ALL))


def test_canvas_file_names_who_was_graded_on_less(root):
    hand_in(root, "amara")
    grade_class(root)
    change_lesson(root, add=ADDED)
    hand_in(root, "ben")
    grade_class(root)
    notes = []
    path = export(Course(root), [LESSON], "canvas", on_warning=notes.append)
    assert read_csv(path)[0][LESSON] == f"{ALL + WORTH:g}"
    (note,) = notes
    assert note.startswith(f"{LESSON}: not everybody was graded on {ADDED}. ")
    assert f"'{LESSON} ({ALL:g} points)' has amara. " in note
    assert f"`autograder drop {ADDED}` lets it count for nobody" in note
    export(Course(root), [LESSON], "csv", on_warning=notes.append)
    assert len(notes) == 1


def test_drop_and_undo_keep_what_people_gave(root, capsys):
    course = Course(root)
    for student in ("amara", "ben"):
        hand_in(root, student)
    grade_class(root, {("ben", "softmax"): 3.0})
    with sqlite3.connect(root / "gradebook.db") as connection:
        connection.execute(
            "UPDATE grade SET manual_score = 2, extra_credit = 0.5 WHERE cell_id = "
            "(SELECT id FROM base_cell WHERE name = 'check_softmax') "
            "AND auto_score = ?",
            [SOFTMAX - 3],
        )
    by_hand = {"amara": (ALL, ALL), "ben": (ALL - SOFTMAX + 2.5, ALL)}
    assert agreed(root) == by_hand
    for _ in range(2):
        assert gradebook_commands.drop(course, "softmax", "", undo=False) == 0
        assert agreed(root) == dict.fromkeys(by_hand, (ALL - SOFTMAX, ALL - SOFTMAX))
        grade_class(root, {("ben", "softmax"): 3.0})
        assert agreed(root) == dict.fromkeys(by_hand, (ALL - SOFTMAX, ALL - SOFTMAX))
    assert gradebook_commands.drop(course, "softmax", "01", undo=True) == 0
    assert agreed(root) == by_hand
    results = grade_class(root, {("ben", "softmax"): 3.0})
    assert agreed(root) == by_hand
    assert results["ben"].max_points == ALL
    assert "no longer counts" in capsys.readouterr().out


@pytest.mark.parametrize("then_without", ["", "softmax"])
def test_undone_drop_has_the_points_of_the_last_release(root, capsys, then_without):
    hand_in(root, "amara")
    grade_class(root)
    gradebook_commands.drop(Course(root), "softmax", "01", undo=False)
    change_lesson(root, points={"softmax": SOFTMAX + 2})
    Gradebook(Course(root)).open_lesson(LESSON)
    if then_without:
        change_lesson(root, drop=then_without)
    gradebook_commands.drop(Course(root), "softmax", "01", undo=True)
    assert Gradebook(Course(root)).grades(LESSON)["amara"].max_points == ALL + 2
    capsys.readouterr()


def test_drop_without_a_journal_concerns_no_other_exercise(root, capsys):
    hand_in(root, "amara", without=["attention"])
    grade_class(root)
    grade_class(root, excuse=True)
    shutil.rmtree(root / "build")
    for undo in (False, True):
        assert gradebook_commands.drop(Course(root), "softmax", "01", undo=undo) == 0
        worth = ALL - ATTENTION - (0 if undo else SOFTMAX)
        grades = Gradebook(Course(root)).grades(LESSON)["amara"]
        assert (grades.points, grades.max_points) == (worth, worth)
    capsys.readouterr()


def test_undone_drop_names_who_is_to_be_graded_again(root, capsys):
    hand_in(root, "amara")
    grade_class(root)
    gradebook_commands.drop(Course(root), "softmax", "01", undo=False)
    hand_in(root, "ben")
    grade_class(root)
    shutil.rmtree(root / "build")
    gradebook_commands.drop(Course(root), "softmax", "01", undo=True)
    assert "no verdicts on 2 students (amara, ben)" in capsys.readouterr().err
    grades = Gradebook(Course(root)).grades(LESSON)
    assert grades["ben"].max_points == ALL - SOFTMAX
    grade_class(root)
    assert agreed(root) == dict.fromkeys(["amara", "ben"], (ALL, ALL))
    for undo in (False, True):
        gradebook_commands.drop(Course(root), "softmax", "01", undo=undo)
    assert capsys.readouterr().err == ""


def test_who_has_only_dropped_exercises_is_worth_nothing(root, capsys):
    hand_in(root, "amara", without=[each for each in EXERCISES if each != "softmax"])
    hand_in(root, "ben")
    grade_class(root, excuse=True)
    gradebook_commands.drop(Course(root), "softmax", "01", undo=False)
    grades = Gradebook(Course(root)).grades(LESSON)
    assert {name: each.max_points for name, each in grades.items()} == {
        "amara": 0.0,
        "ben": ALL - SOFTMAX,
    }
    capsys.readouterr()


def test_dropping_what_no_lesson_has_is_one_sentence(root):
    with pytest.raises(CourseError, match="no lesson has the exercise sofmax"):
        gradebook_commands.drop(Course(root), "sofmax", "", undo=False)


def test_excused_exercises_count_again_only_when_told(root):
    hand_in(root, "amara", without=["attention", "softmax"])
    hand_in(root, "ben")
    grade_class(root)
    assert agreed(root) == dict.fromkeys(["amara", "ben"], (ALL, ALL))
    for excuse in (True, None):
        grade_class(root, excuse=excuse)
        rest = ALL - ATTENTION - SOFTMAX
        excused = {"amara": (rest, rest), "ben": (ALL, ALL)}
        assert agreed(root) == excused
    change_lesson(root, drop="softmax", add=ADDED)
    grade_class(root)
    assert agreed(root) == excused
    grade_class(root, excuse=False)
    assert agreed(root) == dict.fromkeys(["amara", "ben"], (ALL, ALL))


def test_file_without_any_exercise_is_excused_from_nothing(root):
    hand_in(root, "amara", without=EXERCISES)
    (root / "submitted/ben" / LESSON).mkdir(parents=True)
    (root / "submitted/ben" / LESSON / f"{LESSON}.ipynb").write_text("{")
    grade_class(root, excuse=True)
    assert {worth for _, worth in agreed(root).values()} == {ALL}


def test_deleted_cells_gain_nothing(root):
    hand_in(root, "amara", without=["attention"])
    hand_in(root, "unnamed", without=["attention"], named=False)
    grade_class(root)
    assert {worth for _, worth in agreed(root).values()} == {ALL}
    change_lesson(root, add=ADDED)
    hand_in(root, "ben", without=[ADDED])
    assert grade_class(root)["ben"].max_points == ALL + WORTH


def test_removed_exercise_is_worth_nothing_to_who_is_missing(root):
    hand_in(root, "amara")
    grade_class(root)
    Gradebook(Course(root)).enter_people([Person("zoe")])
    change_lesson(root, drop="softmax", add=ADDED)
    hand_in(root, "ben")
    for _ in range(2):
        grade_class(root)
        rows = read_csv(export(Course(root), [LESSON], "csv"))
        worth = {row["student"]: float(row[f"{LESSON} max"]) for row in rows}
        assert worth == {"amara": ALL, "ben": ALL, "zoe": ALL}
        canvas = read_csv(export(Course(root), [LESSON], "canvas"))
        assert float(canvas[0][LESSON]) == ALL


def test_all_dropped_is_worth_nothing_to_who_is_missing(root, capsys):
    hand_in(root, "amara")
    grade_class(root)
    course = Course(root)
    Gradebook(course).enter_people([Person("zoe")])
    change_lesson(root, drop="softmax")
    grade_class(root)
    for name in EXERCISES:
        if name != "softmax":
            gradebook_commands.drop(course, name, "01", undo=False)
    plugin = plugins.CsvExportPlugin()
    plugin.to = str(root / "grades.csv")
    with NbgraderGradebook(f"sqlite:///{root}/gradebook.db", "attention") as book:
        plugin.export(book)
    for path in (export(course, [LESSON], "csv"), root / "grades.csv"):
        rows = read_csv(path)
        worth = {row["student"]: float(row[f"{LESSON} max"]) for row in rows}
        assert worth == {"amara": SOFTMAX, "zoe": 0.0}
    capsys.readouterr()
