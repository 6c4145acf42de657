"""An assignment with a lesson's former name: it is taken over, and loses nothing."""

import shutil

import pytest

from autograder.commands import gradebook as gradebook_commands
from autograder.course import Course
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.grades import Person
from tests.gradebook.classes import grade_class, hand_in, read_csv
from tests.gradebook.opened import DUE, change, rows
from tests.submissions import EXERCISES, LESSON, MAX_POINTS

FORMER, OTHER = "00_both_lessons", "02_self_attention"
HOUR = 3600


@pytest.fixture
def renamed(monkeypatch):
    monkeypatch.setattr("autograder.course.releases.SUCCESSORS", {FORMER: (LESSON,)})


@pytest.fixture
def split(monkeypatch):
    monkeypatch.setattr(
        "autograder.course.releases.SUCCESSORS", {FORMER: (LESSON, OTHER)}
    )


@pytest.fixture
def due(root):
    """Return a course whose assignment has a due date, and the former name."""
    change(root, "UPDATE assignment SET duedate = ?", f"{DUE:%Y-%m-%d %H:%M:%S}")
    gradebook = Gradebook(Course(root))
    gradebook.enter_people([Person("amara"), Person("ben")])
    gradebook.extend(LESSON, "ben", 5 * HOUR)
    return call_it(root, FORMER)


def call_it(root, name):
    """Rename the lesson's assignment, and the folders of what was handed in."""
    change(root, "UPDATE assignment SET name = ? WHERE name = ?", name, LESSON)
    change(root, "UPDATE notebook SET name = ? WHERE name = ?", name, LESSON)
    for folder in root.glob(f"submitted/*/{LESSON}"):
        (folder / f"{LESSON}.ipynb").rename(folder / f"{name}.ipynb")
        folder.rename(folder.with_name(name))
    return root


def open_twice(root, lesson):
    """Open a lesson; return what is said. To open it again says and changes nothing."""
    sentences = Gradebook(Course(root)).open_lesson(lesson)
    before = dump(root)
    assert Gradebook(Course(root)).open_lesson(lesson) == []
    assert dump(root) == before
    return sentences


def dump(root):
    tables = ("assignment", "notebook", "base_cell", "grade_cells", "source_cell")
    return [rows(root, f"SELECT * FROM {table} ORDER BY rowid") for table in tables]


def names(root):
    return [name for (name,) in rows(root, "SELECT name FROM assignment ORDER BY name")]


def test_assignment_without_grades_is_renamed(due, renamed):
    before = rows(due, "SELECT id, duedate FROM assignment")
    cells = rows(due, "SELECT id, name FROM base_cell")
    (sentence,) = open_twice(due, LESSON)
    assert sentence == (
        f"{FORMER} has become {LESSON}: its assignment is called {LESSON} now, and "
        "keeps its due date"
    )
    assert names(due) == [LESSON]
    assert rows(due, "SELECT id, duedate FROM assignment") == before
    assert sorted(rows(due, "SELECT id, name FROM base_cell")) == sorted(cells)
    assert rows(due, "SELECT name FROM notebook") == [(LESSON,)]


def test_renamed_assignment_keeps_extensions(due, renamed):
    open_twice(due, LESSON)
    dates = Gradebook(Course(due)).due_dates(LESSON, ["amara", "ben"])
    assert (dates["ben"] - dates["amara"]).total_seconds() == 5 * HOUR


def test_assignment_with_grades_stays_and_keeps_them(root, renamed):
    for student in ("amara", "ben"):
        hand_in(root, student)
    grade_class(root, {("ben", "softmax"): 3.0})
    call_it(root, FORMER)
    before = rows(root, "SELECT * FROM grade ORDER BY id")
    (sentence,) = open_twice(root, LESSON)
    assert sentence.startswith(
        f"{FORMER} has become {LESSON}: {FORMER} has been handed in by amara, ben, and "
        "stays in the gradebook with all grades"
    )
    assert names(root) == [FORMER, LESSON]
    assert rows(root, "SELECT * FROM grade ORDER BY id") == before
    hand_in(root, "amara")
    grade_class(root)
    columns = read_csv(export(Course(root), [], "csv"))[0].keys()
    assert {f"{FORMER} max", f"{LESSON} max"} <= columns
    grades = Gradebook(Course(root)).grades(FORMER)
    assert grades["amara"].points == grades["ben"].points + 3 == MAX_POINTS
    assert Gradebook(Course(root)).grades(LESSON)["amara"].points == MAX_POINTS


def test_assignment_that_waits_for_grading_stays(root, renamed):
    hand_in(root, "amara")
    call_it(root, FORMER)
    (sentence,) = open_twice(root, LESSON)
    assert f"{FORMER} has been handed in by amara, and stays" in sentence
    assert names(root) == [FORMER, LESSON]
    assert (root / f"submitted/amara/{FORMER}/{FORMER}.ipynb").exists()


def test_parts_of_a_split_lesson_share_the_due_date(due, split):
    (old,) = rows(due, "SELECT id, duedate FROM assignment")
    (first,) = open_twice(due, LESSON)
    assert first == (
        f"{FORMER} has become {LESSON} and {OTHER}: {LESSON} gets its due date; the "
        f"old assignment stays until {OTHER} is open, too"
    )
    assert names(due) == [FORMER, LESSON]
    (second,) = open_twice(due, OTHER)
    assert second == (
        f"{FORMER} has become {LESSON} and {OTHER}: its assignment is called {OTHER} "
        "now, and keeps its due date"
    )
    assert names(due) == [LESSON, OTHER]
    assert {date for (date,) in rows(due, "SELECT duedate FROM assignment")} == {old[1]}
    assert rows(due, "SELECT id FROM assignment WHERE name = ?", OTHER) == [(old[0],)]
    gradebook = Gradebook(Course(due))
    for lesson in (LESSON, OTHER):
        dates = gradebook.due_dates(lesson, ["amara", "ben"])
        assert (dates["ben"] - dates["amara"]).total_seconds() == 5 * HOUR


def test_parts_have_their_own_exercises(due, split):
    for lesson in (LESSON, OTHER):
        open_twice(due, lesson)
    gradebook = Gradebook(Course(due))
    assert {*gradebook.worth(LESSON)} == {*EXERCISES}
    assert not {*gradebook.worth(OTHER)} & {*EXERCISES}


def test_split_lesson_with_grades_stays(root, split):
    hand_in(root, "amara")
    grade_class(root)
    call_it(root, FORMER)
    before = rows(root, "SELECT * FROM grade ORDER BY id")
    for lesson in (LESSON, OTHER):
        (sentence,) = open_twice(root, lesson)
        assert "stays in the gradebook with all grades" in sentence
    assert names(root) == [FORMER, LESSON, OTHER]
    assert rows(root, "SELECT * FROM grade ORDER BY id") == before


def test_dropped_exercise_stays_dropped_in_its_part(root, split, capsys):
    gradebook_commands.drop(Course(root), "softmax", "01", undo=False)
    call_it(root, FORMER)
    for lesson in (LESSON, OTHER):
        open_twice(root, lesson)
    gradebook = Gradebook(Course(root))
    assert gradebook.dropped(LESSON) == {"softmax"}
    assert gradebook.dropped(OTHER) == frozenset()
    capsys.readouterr()


def test_assignment_of_both_names_changes_neither(due, renamed):
    change(
        due,
        "INSERT INTO assignment (id, name, course_id) "
        "SELECT 'made-in-formgrader', ?, course_id FROM assignment",
        LESSON,
    )
    (sentence,) = open_twice(due, LESSON)
    assert f"both {FORMER} and {LESSON} are in the gradebook" in sentence
    assert names(due) == [FORMER, LESSON]
    assert rows(due, "SELECT duedate FROM assignment WHERE name = ?", FORMER)[0][0]


def test_lesson_of_the_course_is_no_former_name(root, monkeypatch):
    monkeypatch.setattr("autograder.course.releases.SUCCESSORS", {LESSON: (OTHER,)})
    assert open_twice(root, OTHER) == []
    assert names(root) == [LESSON, OTHER]


def test_open_command_says_what_became_of_it(due, split, capsys):
    shutil.rmtree(due / "build", ignore_errors=True)
    assert gradebook_commands.open_lesson(Course(due), "01") == 0
    output = capsys.readouterr()
    assert f"{FORMER} has become {LESSON} and {OTHER}" in output.err
    assert f"{LESSON} is open in" in output.out
