"""Totals without the lowest lessons: which, and what is left."""

import csv

import pytest

from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.sheets import export_file
from autograder.gradebook.totals import course_total

LESSONS = {"01_a": 10.0, "02_b": 40.0, "03_c": 20.0}


def graded(student, lesson, points, **more):
    exercise = Grade("softmax", LESSONS[lesson], auto=points)
    handed_in = points is not None
    return StudentGrades(student, (exercise,), submitted=handed_in, **more)


def a_class(**points):
    """Return the grades of students: points by lesson, None for not handed in."""
    return {
        lesson: {
            student: graded(student, lesson, scores[index])
            for student, scores in points.items()
        }
        for index, lesson in enumerate(LESSONS)
    }


def total(scores, n_drop, missing_is_zero=False):
    lessons = a_class(amara=scores)
    grades = {lesson: lessons[lesson]["amara"] for lesson in LESSONS}
    return course_total(grades, LESSONS, n_drop, missing_is_zero=missing_is_zero)


@pytest.mark.parametrize(
    ("scores", "n_drop", "dropped", "points", "max_points"),
    [
        ((9, 20, 18), 1, ("02_b",), 27, 30),  # half of 40 is less than 9 of 10
        ((1, 20, 18), 1, ("01_a",), 38, 60),
        ((1, 20, 18), 2, ("01_a", "02_b"), 18, 20),
        ((5, 20, 10), 1, ("01_a",), 30, 60),  # all alike: the first
        ((0, 20, None), 1, ("03_c",), 20, 50),
        ((9, None, None), 2, ("02_b", "03_c"), 9, 10),
        ((9, None, None), 1, ("02_b",), None, 30),
    ],
)
def test_lowest_share_is_dropped(scores, n_drop, dropped, points, max_points):
    result = total(scores, n_drop)
    assert (result.dropped, result.points, result.max_points) == (
        dropped,
        points,
        max_points,
    )
    assert result.percentage == (None if points is None else 100 * points / max_points)


def test_missing_lesson_that_counts_is_zero_on_request():
    result = total((9, None, None), 1, missing_is_zero=True)
    assert (result.dropped, result.points, result.max_points) == (("02_b",), 9, 30)


def test_total_is_unknown_while_something_is_not_graded():
    lessons = a_class(amara=(9, 20, 18))
    grades = {lesson: lessons[lesson]["amara"] for lesson in LESSONS}
    grades["03_c"] = StudentGrades("amara", (Grade("softmax", 20.0),))
    result = course_total(grades, LESSONS, 1, missing_is_zero=True)
    assert (result.dropped, result.points) == ((), None)


def rows(file):
    return [*csv.reader(file.text.lstrip("\ufeff").splitlines())]


CLASS = {"amara": (9, 20, 18), "bjarne": (1, 40, 20), "cem": (9, None, None)}


def test_files_agree_on_the_totals():
    course = a_class(**CLASS)
    plain = export_file("csv", course, n_drop=1)
    header, *students = rows(plain)
    assert header[-4:] == ["dropped", "total", "total max", "total (%)"]
    assert [row[-4:] for row in students] == [
        ["02_b", "27", "30", "90"],
        ["01_a", "60", "60", "100"],
        ["02_b", "", "30", ""],
    ]
    canvas = rows(export_file("canvas", course, n_drop=1))
    moodle = rows(export_file("moodle", course, n_drop=1))
    name = "Total without the lowest 1 (%)"
    assert [row[-1] for row in canvas] == [name, "100", "90", "100", ""]
    assert [row[-1] for row in moodle] == [name, "90", "100", "-"]
    for kind, table in (("canvas", canvas), ("moodle", moodle)):
        without = rows(export_file(kind, course))
        assert [row[:-1] for row in table] == without, kind
    assert plain.notes == (
        "Dropped, by number of students: 01_a of 1, 02_b of 2. The columns of the "
        "lessons are as they were; csv has a column that names what was dropped.",
        "1 of 3 students have no total: a lesson that counts is not graded yet, or not "
        "handed in (--missing-as-zero: 0).",
    )


def test_late_penalty_decides_what_is_lowest():
    course = a_class(amara=(9, 40, 20))
    course["03_c"]["amara"] = graded("amara", "03_c", 20, late_penalty=15)
    assert rows(export_file("csv", course, n_drop=1))[1][-4] == "03_c"


def test_total_is_of_what_each_student_could_earn():
    course = a_class(amara=(10, 20, 10), bjarne=(10, 20, 10))
    added = Grade("attention", 20.0, auto=5.0)
    bjarne = course["01_a"]["bjarne"]
    both = (*bjarne.exercises, added)
    course["01_a"]["bjarne"] = StudentGrades("bjarne", both)
    _, *students = rows(export_file("csv", course, n_drop=1))
    assert students[0][-4:] == ["02_b", "20", "30", f"{200 / 3:.2f}"]
    assert students[1][-4:] == ["01_a", "30", "60", "50"]


def test_lesson_in_which_nothing_counts_is_none():
    course = a_class(amara=(0, 10, 18))
    course["01_a"]["amara"] = StudentGrades("amara", ())
    _, student = rows(export_file("csv", course, n_drop=1))
    assert student[-4:] == ["02_b", "18", "20", "90"]


def test_one_lesson_is_left_however_many_are_to_go():
    file = export_file("csv", a_class(**CLASS), n_drop=3)
    assert file.text == export_file("csv", a_class(**CLASS), n_drop=2).text
    without = "The totals are without the lowest 2 lessons, not 3: one must be left"
    assert file.notes[0].startswith(without)
    one = {"01_a": a_class(**CLASS)["01_a"]}
    file = export_file("csv", one, n_drop=1)
    assert rows(file)[1][-4:] == ["", "9", "10", "90"]
    canvas = rows(export_file("canvas", one, n_drop=1))
    assert canvas[0][-1] == "Total (%)"
    assert file.notes == (
        "No lesson is dropped until another one is graded: one must be left.",
    )


def test_student_who_is_left_out_has_no_total():
    course = a_class(**{"=1+1": (9, 20, 18), "amara": (9, 20, 18)})
    file = export_file("canvas", course, n_drop=1)
    assert [row[3] for row in rows(file)[2:]] == ["amara"]
    assert len(file.left_out) == 1
