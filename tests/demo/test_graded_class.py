"""The sample term, graded by the engine: points, diagnoses, messages and files."""

import csv
import html
import json
import re
import subprocess
import sys
from email import message_from_bytes
from email.policy import default
from io import StringIO

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.checking.points import format_number, format_number_of
from autograder.checking.registry import load
from autograder.demo.run import grade_term
from autograder.demo.sample_class import (
    LESSON,
    right_answer,
)
from autograder.demo.sample_term import (
    BROKEN,
    LESSONS,
    NAMES,
    NOT_HANDED_IN,
    ONE,
    THREE,
    TWO,
    submissions,
)
from autograder.grading.release import load_release
from autograder.system import find_browser
from tests.browser import page_of
from tests.demo.expected import (
    CLASS,
    COURSE,
    EXERCISES,
    IN_LESSON_ORDER,
    MISCONCEPTIONS,
)

pytestmark = pytest.mark.thorough

HANDED_IN = sorted(each.name for each in submissions(LESSON))
OPTIONAL = {  # their points are on top
    lesson: load_release(COURSE, lesson).points.optional for lesson in LESSONS
}


class GradedClass:
    """The course folder after the demo, and how to look into it."""

    def __init__(self, folder, diagnoses, grades):
        self.folder = folder
        self.diagnoses = diagnoses
        self.grades = grades
        self.data = json.loads((folder / "class.json").read_text(encoding="utf-8"))

    def of(self, student, lesson=LESSON):
        rows = (
            r for r in self.data if (r["student"], r["lesson"]) == (student, lesson)
        )
        return {row["exercise"]: row for row in rows}

    def notebook(self, step, student):
        return self.folder / step / student / LESSON / f"{LESSON}.ipynb"

    def page(self, student):
        path = self.notebook("feedback", student).with_suffix(".html")
        return path.read_text(encoding="utf-8")

    def table(self, name):
        path = self.folder / "build" / "export" / name
        return [*csv.DictReader(StringIO(path.read_text(encoding="utf-8-sig")))]

    def message(self, student, lesson=LESSON):
        path = self.folder / "build" / "summaries" / lesson / f"{student}.eml"
        message = message_from_bytes(path.read_bytes(), policy=default)
        return " ".join(message.get_content().split())


def belongings(root):
    """Return what the demo must leave alone in the repository, with its times."""
    names = ("gradebook.db", "gradebook.seed", "submitted", "autograded", "feedback")
    names += ("build/grading", "build/export", "build/report")
    paths = [p for name in names for p in (root / name, *(root / name).rglob("*"))]
    return {path: path.stat().st_mtime_ns for path in paths if path.exists()}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "a class"
    folder.mkdir()
    (folder / "of-an-earlier-demo").touch()
    before = belongings(COURSE.root)
    diagnoses, grades = grade_term(COURSE, folder, Console(file=StringIO()))
    assert belongings(COURSE.root) == before
    assert not (folder / "of-an-earlier-demo").exists()
    return GradedClass(folder, diagnoses, grades)


@pytest.mark.sandbox
def test_every_student_has_every_exercise_once(graded):
    rows = [row for row in graded.data if row["lesson"] == LESSON]
    assert [(row["student"], row["exercise"]) for row in rows] == [
        (student, exercise) for student in HANDED_IN for exercise in IN_LESSON_ORDER
    ]
    assert {*IN_LESSON_ORDER} == EXERCISES
    keys = {"student", "lesson", "exercise", "points", "max_points", "diagnosis"}
    assert all({*row} == keys for row in graded.data)


@pytest.mark.sandbox
@pytest.mark.parametrize("student", ["amara", "lior", "mirela", "nuru"])
def test_right_answers_get_full_marks_and_no_diagnosis(graded, student):
    for name, row in graded.of(student).items():
        assert row["points"] == row["max_points"] == load(name).points
        assert row["diagnosis"] is None


@pytest.mark.sandbox
@pytest.mark.parametrize("student", sorted(MISCONCEPTIONS))
def test_each_misconception_costs_points_and_is_named(graded, student):
    rows = graded.of(student)
    named = {n: r["diagnosis"] for n, r in rows.items() if r["points"] < load(n).points}
    assert named == MISCONCEPTIONS[student]


@pytest.mark.sandbox
def test_right_answer_that_calls_a_wrong_one_gets_credit(graded):
    row = graded.of("hamid")["attention"]
    assert row["points"] == load("attention").points
    assert row["diagnosis"] == "softmax is to blame"


@pytest.mark.sandbox
def test_unwritten_answer_gets_no_points_and_says_so(graded):
    rows = graded.of("jomo").values()
    assert {(r["points"], r["diagnosis"]) for r in rows} == {(0.0, "not written yet")}
    for name, row in graded.of("ines").items():
        written = name in CLASS["ines"].answers
        assert row["diagnosis"] == (None if written else "not written yet")


@pytest.mark.sandbox
def test_exception_costs_only_its_own_answer(graded):
    lost = {n: r["diagnosis"] for n, r in graded.of("kalea").items() if r["diagnosis"]}
    assert lost == {
        "bilinear_scores": "stopped with ValueError",
        "additive_scores": "stopped with SyntaxError",
    }
    full_marks = {
        n for n, r in graded.of("kalea").items() if r["points"] == load(n).points
    }
    assert full_marks == EXERCISES - {*lost}


@pytest.mark.sandbox
def test_course_version_gets_no_points_and_a_review(graded):
    row = graded.of("orla")["attention"]
    assert row["points"] == 0
    assert row["diagnosis"] == "for review: it calls course_lib.attention.attention"


@pytest.mark.sandbox
def test_pasted_solutions_are_marked_for_the_instructor_alone(graded):
    report = graded.folder / "build" / "report" / f"{LESSON}.html"
    assert "As in the solutions (1)" in report.read_text(encoding="utf-8")
    assert "as in the solutions" not in graded.page("nuru")
    assert "as in the solutions" in graded.notebook("autograded", "nuru").read_text()


@pytest.mark.sandbox
def test_windows_line_ends_are_in_the_file_and_in_its_cells(graded):
    text = graded.notebook("submitted", "nuru").read_bytes()
    assert text.count(b"\r\n") == text.count(b"\n") > 1000
    cells = json.loads(text)["cells"]
    assert any("\r\n" in line for cell in cells for line in cell["source"])


@pytest.mark.sandbox
def test_broken_file_costs_only_its_owner(graded):
    with pytest.raises(ValueError):
        json.loads(graded.notebook("submitted", "pavel").read_text(encoding="utf-8"))
    for row in graded.of("pavel").values():
        assert row["points"] == 0 and row["max_points"] == load(row["exercise"]).points
        assert row["diagnosis"].startswith("broken file: ends in the middle")
    assert all(graded.notebook("autograded", student).is_file() for student in CLASS)


@pytest.mark.sandbox
def test_grades_csv_has_totals_and_misconceptions(graded):
    rows = [row for row in graded.table("csv.csv") if row["student"] in CLASS]
    assert [row["student"] for row in rows] == [*CLASS]
    for row in rows:
        rows_of_student = graded.of(row["student"]).values()
        assert float(row[f"{LESSON} points"]) == sum(
            r["points"] for r in rows_of_student
        )
        assert float(row[f"{LESSON} max"]) == sum(
            r["max_points"]
            for r in rows_of_student
            if r["exercise"] not in OPTIONAL[LESSON]
        )
        named = {*row[f"{LESSON} misconceptions"].split(", ")} - {""}
        assert named == {*MISCONCEPTIONS.get(row["student"], {}).values()}


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("file", "student"),
    [("canvas.csv", "SIS Login ID"), ("moodle.csv", "Username")],
)
def test_lms_files_have_the_totals(graded, file, student):
    rows = [row for row in graded.table(file) if row[student] in CLASS]
    totals = {row[student]: float(row[LESSON]) for row in rows}
    points = {name: [r["points"] for r in graded.of(name).values()] for name in CLASS}
    assert totals == {name: sum(each) for name, each in points.items()}


@pytest.mark.sandbox
def test_gradebook_agrees_with_the_diagnoses(graded):
    database = f"sqlite:///{graded.folder / 'gradebook.db'}"
    with Gradebook(database, "attention") as gradebook:
        for row in graded.data:
            name, student = row["exercise"], row["student"]
            lesson = row["lesson"]
            is_optional = name in OPTIONAL[lesson]
            cell = f"optional_{name}" if is_optional else f"check_{name}"
            grade = gradebook.find_grade(cell, lesson, lesson, student)
            assert grade.score == row["points"]
            assert row["max_points"] == load(name).points
            assert grade.max_score == (0 if is_optional else row["max_points"])
            review = "for review" in (row["diagnosis"] or "")
            assert grade.needs_manual_grade == review


@pytest.mark.sandbox
def test_feedback_pages_show_the_diagnosis(graded):
    for student in CLASS:
        for name, misconception in MISCONCEPTIONS.get(student, {}).items():
            assert diagnosis_of(name, misconception) in graded.page(student)
    assert "not written yet" in graded.page("jomo")
    assert "all claims hold" in graded.page("amara")
    assert "ends in the middle" in graded.page("pavel")


@pytest.mark.sandbox
def test_feedback_pages_repeat_no_docstring(graded):
    assert "Goodfellow" in right_answer("softmax")
    for student in ("amara", "gudrun", "nuru"):
        assert "Goodfellow" not in graded.page(student)
    assert graded.page("amara").count("the lesson&#39;s docstring") == len(EXERCISES)


@pytest.mark.sandbox
def test_feedback_pages_have_own_cells_folded(graded):
    assert "My own helper: every row" in graded.page("mirela")
    assert "Your own cells" not in graded.page("amara")


@pytest.mark.sandbox
def test_dashboard_names_misconceptions_and_reviews(graded):
    path = graded.folder / "build" / "report" / f"{LESSON}.html"
    text = path.read_text(encoding="utf-8")
    page = re.sub(r"<[^>]*>", "", text)
    for wrong in MISCONCEPTIONS.values():
        for name, misconception in wrong.items():
            assert misconception in page and diagnosis_of(name, misconception) in page
    assert "no_scale" in page
    assert "course_lib.attention.attention" in page and "ends in the middle" in page


def diagnosis_of(exercise, misconception):
    """Return the beginning of a misconception's diagnosis as a page has it."""
    bank = {each.name: each for each in load(exercise).misconceptions}
    diagnosis = html.escape(bank[misconception].diagnosis.split("`")[0])
    assert len(diagnosis) > 20
    return diagnosis


@pytest.mark.sandbox
def test_autograder_grade_knows_the_demo_as_graded(graded):
    command = [sys.executable, "-m", "autograder", "grade", "01"]
    done = subprocess.run(command, cwd=graded.folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(HANDED_IN)} of them as before" in done.stdout


@pytest.mark.sandbox
def test_wrong_answers_of_the_term_are_all_named(graded):
    words = {row["diagnosis"] for row in graded.data if row["points"] == 0}
    assert not {"no known misconception", "stopped with NameError"} & words


@pytest.mark.sandbox
def test_term_has_each_kind_of_submission(graded):
    grades = graded.grades
    assert [*grades] == [*LESSONS] and all(
        len(e) == len(NAMES) for e in grades.values()
    )
    for lesson in LESSONS:
        missing = {s for s, each in grades[lesson].items() if not each.submitted}
        assert missing == {s for s, of_lesson in NOT_HANDED_IN if of_lesson == lesson}
    late = {(s, lesson) for lesson in LESSONS for s in grades[lesson]}
    late = {pair for pair in late if grades[pair[1]][pair[0]].late_penalty}
    assert late == {("kalea", TWO), ("dario", THREE)}
    assert grades[TWO]["elif"].extension_hours == 48
    renamed = grades[TWO]["pavel"]
    without_misconceptions = sum(load(e.exercise).points for e in renamed.exercises)
    assert 0 < renamed.points < without_misconceptions
    (broken,) = BROKEN
    assert grades[broken[1]][broken[0]].points == 0
    amara = grades[ONE]["amara"]
    assert (amara.first_name, amara.last_name) == ("Amara", "Okafor")
    assert amara.email == "amara@students.example.org" and amara.section == "Monday"


@pytest.mark.sandbox
def test_everybody_gets_a_message(graded):
    for lesson in LESSONS:
        folder = graded.folder / "build" / "summaries" / lesson
        assert {path.stem for path in folder.iterdir()} == {*graded.grades[lesson]}
    assert "Hello Bjarne," in graded.message("bjarne")
    (wrong,) = (
        each
        for each in graded.grades[ONE]["bjarne"].exercises
        if each.points < each.max_points
    )
    words = format_number_of(wrong.points, wrong.max_points)
    words += " scaled_scores: Your dot products are not"
    assert words in graded.message("bjarne")
    penalty = format_number(graded.grades[TWO]["kalea"].late_penalty)
    assert f"{penalty} points are taken off" in graded.message("kalea", TWO)
    assert "nothing has come in from you" in graded.message("ines", TWO)
    assert "decide about attention" in graded.message("orla")
    assert "could not be graded yet" in graded.message("pavel")


@pytest.mark.sandbox
def test_total_without_the_lowest_lesson_is_exported(graded):
    rows = {row["student"]: row for row in graded.table("csv.csv")}
    assert "02_self_attention" in "".join(rows["ines"].values())


@pytest.mark.sandbox
@pytest.mark.browser
@pytest.mark.skipif(not find_browser(), reason="neither Chromium nor Chrome is here")
@pytest.mark.parametrize("student", ["amara", "gudrun", "kalea", "jomo", "pavel"])
def test_feedback_fits_on_one_sheet_of_paper(graded, student):
    path = graded.notebook("feedback", student).with_suffix(".html")
    with page_of(path.as_uri()) as tab:
        sheets = re.findall(rb"/Type\s*/Page\b", tab.pdf(format="A4"))
        assert len(sheets) == 1
        for width in (360, 1280):
            tab.set_viewport_size({"width": width, "height": 900})
            tab.evaluate(
                "document.querySelectorAll('details').forEach(d => d.open = 1)"
            )
            assert not tab.evaluate("document.documentElement.scrollWidth > innerWidth")
