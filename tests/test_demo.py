"""The sample class, graded by nbgrader: points, diagnoses, files, and failures.

The class of the tests is a part of the demo's, and one student more: what all others
wrote is judged without nbgrader.
"""

import csv
import html
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.check import make_runner_here
from autograder.cli import run as run_command
from autograder.course import Course, CourseError
from autograder.demo import typed
from autograder.demo.answers import mistaken
from autograder.demo.results import Result, diagnosis
from autograder.demo.run import grade_class, make_folder
from autograder.demo.students import LESSON, Student, sample_class
from autograder.demo.submissions import answered, submit
from autograder.demo.table import print_class, rows_of
from autograder.grading.engine import Engine
from autograder.judge import NOTEBOOK_SEED, judge
from autograder.registry import exercises_of, load
from autograder.report import DATA_TYPE

COURSE = Course.here()
CLASS = {student.name: student for student in sample_class()}
LEARNER = nbformat.read(COURSE.learner(LESSON), as_version=4)
GRADED = (
    *("amara", "farid", "hamid", "jomo", "kalea"),
    *("lior", "mirela", "nuru", "orla", "pavel"),
)
EXERCISES = {exercise.name for exercise in exercises_of(LESSON)}
MISTAKES = {
    "bjarne": {"scaled_scores": "no_scale"},
    "chiyo": {
        "scaled_scores": "divided_by_d_k",
        "attention_step_by_step": "softmax_of_unscaled",
    },
    "dario": {"softmax": "no_max_subtraction"},
    "elif": {"attention": "softmax_over_queries"},
    "farid": {
        "similarity_attention": "rows_of_x_mixed",
        "softmax_jacobian": "diagonal_only",
    },
    "gudrun": {"additive_scores": "no_tanh", "bilinear_scores": "w_transposed"},
    "hamid": {"softmax": "keepdims_missing_in_the_sum"},
}


def from_a_newer_nbgrader(text):
    """Give a file that nbgrader reads and then refuses: with it, a batch would end."""
    return text.replace('"schema_version": 3', '"schema_version": 99')


STRANGER = Student("quirin", {}, saved=from_a_newer_nbgrader)


class GradedClass:
    """The course folder after the demo, and how to look into it."""

    def __init__(self, folder, results):
        self.folder = folder
        self.results = results
        self.data = json.loads((folder / "class.json").read_text(encoding="utf-8"))

    def of(self, student):
        return {r["exercise"]: r for r in self.data if r["student"] == student}

    def notebook(self, step, student):
        return self.folder / step / student / LESSON / f"{LESSON}.ipynb"

    def autograded(self, student):
        return nbformat.read(self.notebook("autograded", student), as_version=4)

    def page(self, student):
        path = self.notebook("feedback", student).with_suffix(".html")
        return path.read_text(encoding="utf-8")

    def grades(self):
        with (self.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student_id"]: row for row in csv.DictReader(file)}


def belongings(root):
    """Give what the demo must leave alone in the repository, with its times."""
    names = ("gradebook.db", "submitted", "autograded", "feedback")
    paths = [p for name in names for p in (root / name, *(root / name).rglob("*"))]
    return {path: path.stat().st_mtime_ns for path in paths if path.exists()}


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "class"
    folder.mkdir()
    (folder / "of-an-earlier-demo").touch()
    before = belongings(COURSE.root)
    students = [*(CLASS[name] for name in GRADED), STRANGER]
    results = grade_class(COURSE, folder, students, Console(file=StringIO()))
    assert belongings(COURSE.root) == before
    assert not (folder / "of-an-earlier-demo").exists()
    return GradedClass(folder, results)


def test_every_student_has_every_exercise_once(graded):
    pairs = [(row["student"], row["exercise"]) for row in graded.data]
    in_order = [cell.metadata.nbgrader.grade_id for cell in LEARNER.cells if _of(cell)]
    assert pairs == [(s, e) for s in (*GRADED, "quirin") for e in in_order]
    assert {*in_order} == EXERCISES
    keys = {"student", "exercise", "points", "max_points", "diagnosis"}
    assert all({*row} == keys for row in graded.data)


def _of(cell):
    return cell.metadata.get("nbgrader", {}).get("solution")


@pytest.mark.parametrize("student", ["amara", "lior", "mirela", "nuru"])
def test_right_answers_get_full_marks_and_no_diagnosis(graded, student):
    for name, row in graded.of(student).items():
        assert row["points"] == row["max_points"] == load(name).points
        assert row["diagnosis"] is None


@pytest.mark.sandbox
def test_the_engine_gives_the_points_that_nbgrader_gives(graded):
    with Engine(COURSE, LESSON, seed=NOTEBOOK_SEED) as engine:
        for student in GRADED:
            path = graded.notebook("submitted", student)
            result, _ = engine.grade(path, student)
            ours = {each.exercise: each.points for each in result.exercises}
            theirs = {name: row["points"] for name, row in graded.of(student).items()}
            assert ours == theirs, student


@pytest.mark.parametrize("student", [name for name in GRADED if name in MISTAKES])
def test_each_mistake_costs_points_and_is_named(graded, student):
    rows = graded.of(student)
    named = {n: r["diagnosis"] for n, r in rows.items() if r["points"] < load(n).points}
    assert named == MISTAKES[student]


def test_right_answer_that_calls_a_wrong_one_gets_credit(graded):
    row = graded.of("hamid")["attention"]
    assert row["points"] == load("attention").points
    assert row["diagnosis"] == "softmax is to blame"


def test_untouched_notebook_gets_nothing_and_is_told_so(graded):
    rows = graded.of("jomo").values()
    assert {(r["points"], r["diagnosis"]) for r in rows} == {(0.0, "not written yet")}


def test_exception_costs_the_answer_it_is_in_and_no_other(graded):
    lost = {n: r["diagnosis"] for n, r in graded.of("kalea").items() if r["diagnosis"]}
    assert lost == {
        "bilinear_scores": "stopped with ValueError",
        "additive_scores": "stopped with SyntaxError",
    }
    kept = {n for n, r in graded.of("kalea").items() if r["points"] == load(n).points}
    assert kept == EXERCISES - {*lost}


def test_course_version_gets_nothing_and_is_noted(graded):
    row = graded.of("orla")["attention"]
    assert row["points"] == 0
    assert row["diagnosis"] == "this is the course's own version"


def test_warnings_of_a_right_answer_stay_out_of_the_graded_cells(graded):
    """To nbgrader one line on stderr in a graded cell means 0 points."""
    noisy = {
        bool(cell.metadata.get("nbgrader", {}).get("grade"))
        for cell in graded.autograded("lior").cells
        for output in cell.get("outputs", [])
        if output.get("name") == "stderr" and "still trying" in output.text
    }
    assert noisy == {False}


def test_windows_line_ends_are_in_the_file_and_in_its_cells(graded):
    text = graded.notebook("submitted", "nuru").read_bytes()
    assert text.count(b"\r\n") == text.count(b"\n") > 1000
    cells = json.loads(text)["cells"]
    assert any("\r\n" in line for cell in cells for line in cell["source"])


def test_broken_file_costs_its_owner_everything_and_nobody_else(graded):
    with pytest.raises(ValueError):
        json.loads(graded.notebook("submitted", "pavel").read_text(encoding="utf-8"))
    for row in graded.of("pavel").values():
        assert row["points"] == 0 and row["max_points"] == load(row["exercise"]).points
        assert row["diagnosis"].startswith("broken file: ")
    done = {s for s in GRADED if graded.notebook("autograded", s).is_file()}
    assert done == {*GRADED} - {"pavel"}


def test_file_that_nbgrader_refuses_costs_its_owner_only_and_says_why(graded):
    rows = graded.of("quirin").values()
    (reason,) = {row["diagnosis"] for row in rows}
    assert reason.startswith("not graded: ") and "newer version" in reason
    assert {row["points"] for row in rows} == {0.0}


def test_grades_have_every_student_and_the_same_totals(graded):
    grades = graded.grades()
    assert [*grades] == [*GRADED, "quirin"]
    for student, row in grades.items():
        rows = graded.of(student).values()
        assert float(row["score"]) == sum(r["points"] for r in rows)
        assert float(row["max_score"]) == sum(r["max_points"] for r in rows)
    assert grades["pavel"]["remark"].startswith("broken file: ")
    assert grades["farid"]["remark"] == "rows_of_x_mixed; diagonal_only"
    assert grades["amara"]["remark"] == ""


def test_gradebook_agrees_with_what_check_found(graded):
    database = f"sqlite:///{graded.folder / 'gradebook.db'}"
    with Gradebook(database, "attention") as gradebook:
        for row in graded.data:
            name, student = row["exercise"], row["student"]
            grade = gradebook.find_grade(f"check_{name}", LESSON, LESSON, student)
            assert (grade.score, grade.max_score) == (row["points"], row["max_points"])
            assert grade.max_score == load(name).points
            assert not grade.needs_manual_grade
            if student not in ("pavel", "quirin", "orla"):
                _agrees(graded.autograded(student), name, grade)


def _agrees(notebook, name, grade):
    ids = {c.metadata.get("nbgrader", {}).get("grade_id"): c for c in notebook.cells}
    cell = ids[f"check_{name}"]
    if cell.outputs[0].output_type == "error":  # the answer does not parse
        assert grade.score == 0
        return
    report, points = (output.data for output in cell.outputs)
    assert report[DATA_TYPE]["points"] == float(points["text/plain"]) == grade.score
    assert report[DATA_TYPE]["max_points"] == grade.max_score


def test_feedback_pages_show_the_diagnosis(graded):
    for student in GRADED:
        for name, misconception in MISTAKES.get(student, {}).items():
            bank = {m.name: m for m in load(name).misconceptions}
            finding = html.escape(bank[misconception].finding.split("`")[0])
            assert len(finding) > 20 and finding in graded.page(student)
    assert "is not written yet" in graded.page("jomo")
    assert "all 8 claims hold" in graded.page("amara")


def test_feedback_pages_of_ungraded_files_give_the_reason(graded):
    for student in ("pavel", "quirin"):
        reason = graded.grades()[student]["remark"]
        assert html.escape(reason) in graded.page(student)


def test_table_names_every_mistake_and_fits_80_columns(graded):
    out = StringIO()
    print_class(Console(file=out, width=80), "The class", graded.results)
    lines = out.getvalue().splitlines()
    assert max(len(line) for line in lines) <= 80
    for row in graded.data:
        if row["diagnosis"] and "_" in row["diagnosis"]:
            assert any(row["diagnosis"] in line for line in lines)
    first = [line.split()[0] for line in lines if line.strip()]
    assert [word for word in first if word in CLASS] == [*GRADED]


def test_rows_of_the_table_leave_out_what_is_right():
    def result(name, points, words):
        return Result("amara", name, points, 7.0, words)

    assert rows_of([result("a", 7.0, None), result("b", 7.0, None)]) == [
        ("14/14", "all", "14/14", "right")
    ]
    mixed = [
        result("a", 7.0, None),
        result("b", 2.5, "no_scale"),
        result("c", 0.0, "not written yet"),
        result("d", 0.0, "not written yet"),
    ]
    assert rows_of(mixed) == [
        ("9.5/28", "b", "2.5/7", "no_scale"),
        ("", "2 exercises", "0/14", "not written yet"),
    ]


@pytest.mark.parametrize("student", sorted(MISTAKES))
def test_mistakes_of_the_class_are_named_without_nbgrader_too(student):
    names = {"np": np}
    found = {}
    for name in (e.name for e in in_lesson_order()):
        exec(CLASS[student].answers[name], names)
        judgement = judge(load(name), make_runner_here(names[name]))
        if judgement.points < load(name).points:
            found[name] = getattr(judgement.misconception, "name", None)
    assert found == MISTAKES[student]


def in_lesson_order():
    cells = [c.metadata.nbgrader.grade_id for c in LEARNER.cells if _of(c)]
    return [load(name) for name in cells]


def test_class_has_each_kind_of_submission():
    assert len(CLASS) >= 14
    assert len({w for wrong in MISTAKES.values() for w in wrong.values()}) >= 8
    assert 0 < len(CLASS["ines"].answers) < len(EXERCISES)
    assert CLASS["jomo"].answers == {}
    assert CLASS["mirela"].own_cells == {"scaled_scores": typed.HELPER}


def test_mistaken_answer_brings_along_what_it_calls():
    source = mistaken("softmax_jacobian", "diagonal_only")
    names = {"np": np}
    exec(source, names)
    p = np.array([0.5, 0.3, 0.2])
    expected = np.diag([0.25, 0.21, 0.16])
    np.testing.assert_allclose(names["softmax_jacobian"](p), expected)
    assert "import math" in mistaken("bilinear_scores", "divided_by_root_of_d_k")


def test_mistake_that_no_exercise_has_is_refused():
    with pytest.raises(LookupError, match="scaled_scores has no misconception 'none'"):
        mistaken("scaled_scores", "none")


def test_submission_keeps_the_learners_notebook_and_adds_own_cells(tmp_path):
    before = nbformat.writes(LEARNER)
    notebook = answered(LEARNER, CLASS["mirela"])
    place = [cell.id for cell in notebook.cells].index("scaled_scores")
    assert notebook.cells[place - 1].source == typed.HELPER
    assert "nbgrader" not in notebook.cells[place - 1].metadata
    path = submit(tmp_path, LESSON, LEARNER, CLASS["jomo"])
    assert path.read_text(encoding="utf-8") == nbformat.writes(LEARNER) == before


def test_answer_to_an_exercise_that_the_notebook_lacks_is_refused():
    with pytest.raises(LookupError, match="no exercise softmin"):
        answered(LEARNER, Student("rosa", {"softmin": "pass"}))


def notebook_with(*outputs, source="check(softmax)"):
    cell = nbformat.v4.new_code_cell(source, outputs=list(outputs))
    cell.metadata["nbgrader"] = {"grade_id": "check_softmax", "grade": True}
    return nbformat.v4.new_notebook(cells=[cell])


def report(**data):
    whole = {"cases": {"a": "ok"}, "diagnosis": None, "blamed": [], **data}
    shown = {DATA_TYPE: whole, "text/plain": "softmax: 1 of 2 claims hold"}
    return nbformat.v4.new_output("display_data", data=shown)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ([report()], None),
        ([report(cases={"a": "ok", "b": "wrong"})], "no known mistake"),
        ([report(cases={"a": "wrong"}, diagnosis="in_place")], "in_place"),
        ([report(blamed=["a", "b"])], "a and b are to blame"),
        ([report(cases={"a": "wrong"}, blamed=["a"])], "a is to blame in part"),
        ([report(cases=None)], "what its check left cannot be read"),
        ([], "the check says nothing"),
    ],
)
def test_diagnosis_says_what_the_report_says(outputs, words):
    assert diagnosis(notebook_with(*outputs), "softmax") == words


def test_diagnosis_of_a_notebook_without_its_check_says_so():
    words = "the cell of its check is missing"
    assert diagnosis(notebook_with(), "attention") == words


def empty_course(root, *lessons):
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    for path in lessons:
        target = root / path.relative_to(COURSE.root)
        target.parent.mkdir(parents=True)
        shutil.copy(path, target)
    return Course(root)


def test_missing_notebook_ends_in_one_sentence(tmp_path, monkeypatch, capsys):
    empty_course(tmp_path, COURSE.teacher(LESSON))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["autograder", "demo"])
    with pytest.raises(SystemExit) as stopped:
        run_command()
    assert stopped.value.code == 1
    sentence = capsys.readouterr().err
    assert sentence.startswith(f"notebooks/{LESSON}/{LESSON}.ipynb is missing: run ")
    assert sentence.count("\n") == 1
    assert not (tmp_path / "build").exists()


def test_folder_that_cannot_be_made_ends_in_one_sentence(tmp_path):
    (tmp_path / "build").touch()
    with pytest.raises(CourseError, match="cannot be written or replaced"):
        make_folder(COURSE, tmp_path / "build" / "demo", [])


def test_ctrl_c_ends_the_demo_with_one_line(tmp_path):
    empty_course(tmp_path, COURSE.teacher(LESSON), COURSE.learner(LESSON))
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "demo"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        _wait_for(tmp_path / "build" / "demo" / "autograded", process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said, _ = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 130
    assert said.splitlines()[1:] == [
        "Stopped: call it again, and the demo starts over."
    ]
    assert not [*Path(tmp_path).rglob("class.json")]


def _wait_for(path, process):
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
