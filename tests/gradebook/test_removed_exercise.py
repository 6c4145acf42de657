"""An exercise is taken out of a lesson mid-term: every number that was promised stays.

Who has a notebook of the earlier release is judged on it, whenever that is.
"""

import shutil

import pytest

from autograder.checking.registry import UnknownExercise, load
from autograder.commands import gradebook as gradebook_commands
from autograder.course import Course, CourseError
from autograder.course.releases import keep_release
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.sheets import several_maxima
from autograder.grading import release as release_module
from autograder.grading.journal import Journal
from autograder.notebooks.build import removed
from tests.gradebook.classes import agreed, grade_class, hand_in, read_csv
from tests.gradebook.opened import change_lesson
from tests.submissions import COURSE, EXERCISES, LESSON, MAX_POINTS

REMOVED = "bilinear_scores"
WORTH = load(REMOVED).points
ALL, REST = MAX_POINTS, MAX_POINTS - WORTH


def test_maximum_is_that_of_the_release_whenever_graded(root):
    for student in ("early", "late", "unnamed"):
        hand_in(root, student, named=student != "unnamed")
    for student in ("late", "unnamed"):
        (root / "submitted" / student).rename(root / student)
    grade_class(root)
    change_lesson(root, drop=REMOVED)
    for student in ("late", "unnamed"):
        (root / student).rename(root / "submitted" / student)
    results = grade_class(root)
    assert agreed(root) == dict.fromkeys(["early", "late", "unnamed"], (ALL, ALL))
    assert {each.max_points for each in results.values()} == {ALL}


def test_resubmission_of_an_earlier_release_loses_nothing(root):
    hand_in(root, "amara")
    grade_class(root)
    path = root / "submitted/amara" / LESSON / f"{LESSON}.ipynb"
    change_lesson(root, drop=REMOVED)
    path.write_text(path.read_text().replace("# amara", "# once more"))
    grade_class(root)
    assert agreed(root) == {"amara": (ALL, ALL)}
    shutil.rmtree(root / "build")  # without a journal neither
    grade_class(root)
    assert agreed(root) == {"amara": (ALL, ALL)}


@pytest.mark.parametrize("kind", ["canvas", "moodle"])
def test_file_for_a_system_says_each_ones_own_maximum(root, kind):
    hand_in(root, "amara")
    grade_class(root)
    change_lesson(root, drop=REMOVED)
    hand_in(root, "ben")
    grade_class(root)
    notes = []
    rows = read_csv(export(Course(root), [LESSON], kind, on_warning=notes.append))
    own, empty = f"{LESSON} ({REST:g} points)", {"canvas": "", "moodle": "-"}[kind]
    if kind == "canvas":
        possible = rows.pop(0)
        assert (possible[LESSON], possible[own]) == (f"{ALL:g}", f"{REST:g}")
    amara, ben = rows
    assert (amara[LESSON], amara[own]) == (f"{ALL:g}", empty)
    assert (ben[LESSON], ben[own]) == (empty, f"{REST:g}")
    (note,) = notes
    assert f"'{own}' has ben" in note
    assert "amara" not in note
    assert f"`autograder drop {REMOVED}`" in note


def test_submission_of_no_points_plays_no_part_in_what_to_drop():
    def handed_in(student, exercises):
        grades = (Grade(name, 2.0, auto=1.0) for name in exercises)
        return StudentGrades(student, tuple(grades), submitted=True)

    people = [handed_in("full", "abc"), handed_in("old", "ab"), handed_in("none", "")]
    (note,) = several_maxima({LESSON: {each.student: each for each in people}})
    assert f"{LESSON}: not everybody was graded on c." in note
    assert "For one column, `autograder drop c` lets it count" in note


def drop(root, exercise, *, undo=False, lesson="01"):
    assert gradebook_commands.drop(Course(root), exercise, lesson, undo=undo) == 0


def test_release_unknown_to_the_gradebook_is_entered_when_needed(root):
    hand_in(root, "amara")
    change_lesson(root, drop=REMOVED)
    book = Gradebook(Course(root))
    book.open_lesson(LESSON)  # nobody is graded: what is gone is gone
    assert REMOVED not in book.worth(LESSON)
    hand_in(root, "ben")
    for _ in range(2):
        grade_class(root, {("amara", REMOVED): 2.0})
        assert agreed(root) == {"amara": (ALL - 2, ALL), "ben": (REST, REST)}
    assert book.worth(LESSON)[REMOVED] == WORTH
    (sentence,) = book.open_lesson(LESSON)
    assert sentence.startswith(f"no longer in {LESSON}: {REMOVED}; ")


@pytest.mark.parametrize("graded_first", [True, False])
def test_removed_exercise_is_dropped_and_restored(root, capsys, graded_first):
    hand_in(root, "amara")
    if graded_first:
        grade_class(root)
    change_lesson(root, drop=REMOVED)
    hand_in(root, "ben")
    drop(root, REMOVED)
    grade_class(root)
    assert agreed(root) == dict.fromkeys(["amara", "ben"], (REST, REST))
    notes = []
    rows = read_csv(export(Course(root), [LESSON], "canvas", on_warning=notes.append))
    assert [row[LESSON] for row in rows] == [f"{REST:g}"] * 3
    assert notes == []
    drop(root, REMOVED, undo=True)
    grade_class(root)
    assert agreed(root) == {"amara": (ALL, ALL), "ben": (REST, REST)}
    capsys.readouterr()


def test_exercise_added_and_removed_counts_for_who_had_it(root):
    hand_in(root, "before")
    change_lesson(root, add="pairwise_sums")
    hand_in(root, "with-it")
    worth = load("pairwise_sums").points
    change_lesson(root, points={"pairwise_sums": worth})
    hand_in(root, "with-it")
    Gradebook(Course(root)).open_lesson(LESSON)
    change_lesson(root, drop="pairwise_sums")
    hand_in(root, "after")
    for _ in range(2):
        grade_class(root)
        assert agreed(root) == {
            "before": (ALL, ALL),
            "with-it": (ALL + worth, ALL + worth),
            "after": (ALL, ALL),
        }


def test_points_changed_after_a_removal_count_for_everybody(root):
    hand_in(root, "amara")
    grade_class(root)
    change_lesson(root, drop=REMOVED, points={"attention": 20.0})
    hand_in(root, "ben")
    grade_class(root)
    more = 20.0 - load("attention").points
    assert agreed(root) == {
        "amara": (ALL + more, ALL + more),
        "ben": (REST + more, REST + more),
    }


def test_exercise_of_two_lessons_is_dropped_in_the_named_one(root, capsys):
    hand_in(root, "amara")
    change_lesson(root, drop=REMOVED)
    keep_release(Course(root), "00_start_here", {REMOVED: WORTH})
    with pytest.raises(CourseError, match="say which with --lesson"):
        gradebook_commands.drop(Course(root), REMOVED, "", undo=False)
    drop(root, REMOVED)
    grade_class(root)
    assert agreed(root) == {"amara": (REST, REST)}
    capsys.readouterr()


def lose_bank(monkeypatch, name):
    """Let an exercise be one whose bank somebody has removed, or renamed."""

    def loaded(each):
        if each == name:
            raise UnknownExercise(name)
        return load(each)

    monkeypatch.setattr(release_module, "load", loaded)


def test_removed_bank_is_named_and_costs_nobody_else(root, monkeypatch, capsys):
    hand_in(root, "amara")
    change_lesson(root, drop=REMOVED)
    hand_in(root, "ben")
    lose_bank(monkeypatch, REMOVED)
    results = grade_class(root)
    assert Gradebook(Course(root)).grades(LESSON)["ben"].max_points == REST
    reason = results["amara"].reason
    assert reason.startswith(f"its release of {LESSON} had {REMOVED}, which the course")
    assert f"autograder/exercises/{REMOVED}.py" in reason
    assert f"`autograder drop {REMOVED}`" in reason
    drop(root, REMOVED)
    grade_class(root)
    assert agreed(root) == dict.fromkeys(["amara", "ben"], (REST, REST))
    capsys.readouterr()


def test_verdict_from_before_its_bank_was_removed_still_counts(root, monkeypatch):
    hand_in(root, "amara")
    grade_class(root, {("amara", REMOVED): 3.0})
    change_lesson(root, drop=REMOVED)
    lose_bank(monkeypatch, REMOVED)
    for _ in range(2):
        grade_class(root)
        assert agreed(root) == {"amara": (ALL - 3, ALL)}
    hand_in(root, "ben")
    grade_class(root)
    with Journal(Course(root)) as journal:
        assert {each.student: each.reason for each in journal.results(LESSON)} == {
            "amara": "",
            "ben": "",
        }


def test_build_says_what_a_lesson_no_longer_has(tmp_path):
    course = Course(tmp_path)
    source = course.source(LESSON)
    source.parent.mkdir(parents=True)
    shutil.copy(COURSE.source(LESSON), source)
    points = {name: load(name).points for name in EXERCISES}
    keep_release(course, LESSON, points)
    assert removed(course, LESSON) == []
    keep_release(course, LESSON, points | {"bleu": 3.0})
    (sentence,) = removed(course, LESSON)
    assert sentence.startswith(f"{LESSON} no longer has bleu. ")
    assert "keep autograder/exercises/bleu.py" in sentence
    assert "`autograder drop bleu` lets it count for nobody" in sentence
