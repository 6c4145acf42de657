"""What the demo is made of: its class, its table, its command, and failures."""

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
from rich.console import Console

from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.checking.result import CaseVerdict, ExerciseResult, Flag
from autograder.commands.app import run as run_command
from autograder.course import Course, CourseError
from autograder.demo import run as grading
from autograder.demo import sample_class as sample
from autograder.demo.diagnoses import (
    AnswerDiagnosis,
    diagnoses_of,
    in_words,
    print_term,
    rows_of,
)
from autograder.demo.sample_class import (
    LESSON,
    SampleStudent,
    answered_notebook,
    make_folder,
    submit,
    wrong_answer,
)
from autograder.demo.sample_term import (
    LESSONS,
    NAMES,
    ONE,
    TWO,
    people,
    submissions,
)
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.settings import database_path
from autograder.grading.result import SubmissionResult
from autograder.grading.sandbox import NoSandbox
from autograder.in_notebook.check import local_runner_factory
from tests.demo.expected import (
    CLASS,
    COURSE,
    EXERCISES,
    IN_LESSON_ORDER,
    LEARNER,
    MISCONCEPTIONS,
)
from tests.processes import InterruptibleProcess

pytestmark = pytest.mark.thorough


def answer(student, lesson, points, words):
    return AnswerDiagnosis(student, lesson, "softmax", points, 7.0, words)


def test_rows_of_has_a_column_for_each_lesson():
    def grades(student, points, **others):
        exercises = (Grade("softmax", 7.0, auto=points),)
        return StudentGrades(student, exercises, **others)

    term = {
        ONE: {
            "amara": grades("amara", 7.0, first_name="Amara"),
            "ben": grades("ben", 2.5),
        },
        TWO: {
            "amara": grades("amara", 5.0),
            "ben": StudentGrades("ben", (), 0.0, False),
        },
    }
    diagnoses = [
        answer("amara", ONE, 7.0, "softmax is to blame"),  # costs nothing
        answer("amara", TWO, 5.0, "no_scale"),
        answer("ben", ONE, 1.0, "broken file: [b] is empty"),
        answer("ben", ONE, 1.5, "broken file: [b] is empty"),
    ]
    assert [*rows_of(term, diagnoses)] == [
        ["Amara", "7", "5", "12", "no_scale"],
        ["ben", "2.5", "–", "2.5", "broken file"],
    ]
    out = StringIO()
    print_term(Console(file=out, width=60), term, [answer("ben", ONE, 0.0, "[b]")])
    assert max(map(len, out.getvalue().splitlines())) <= 60
    assert "[b]" in out.getvalue() and "/7" in out.getvalue()


def test_roster_and_ids_fit_together():
    ids = [person.id for person in people()]
    assert len({*ids}) == len(ids) == len(NAMES) and {*CLASS} < {*ids}
    for lesson in LESSONS:
        assert {each.name for each in submissions(lesson)} < {*ids}


def judged(*statuses, **parts):
    cases = [CaseVerdict(f"case_{s}", "A claim", s, 0.0, 1.0, True) for s in statuses]
    return ExerciseResult("attention", 0.0, len(cases), tuple(cases), **parts)


STOPPED = "attention: your `attention` stopped with KeyError: 3 (line 2: `q[3]`)."
FLAG = Flag("attention", "torch.softmax", "return torch.softmax(x)")


@pytest.mark.parametrize(
    ("exercise", "words"),
    [
        (judged("ok"), ""),
        (judged("ok", "wrong"), "no known misconception"),
        (judged("wrong", diagnosis="in_place"), "in_place"),
        (judged("ok", blamed=("a", "b")), "a and b are to blame"),
        (judged("ok", "wrong", blamed=("a",)), "a is to blame in part"),
        (judged("missing", "missing"), "not written yet"),
        (judged("wrong", "error", report=STOPPED), "stopped with KeyError"),
        (judged("ok", "timeout"), "takes too long"),
        (judged("ok", flags=(FLAG, FLAG)), "for review: it calls torch.softmax"),
        (judged("error", flags=(FLAG,)), "for review: it calls torch.softmax"),
        (
            judged("wrong", diagnosis="in_place", flags=(FLAG,)),
            "in_place; for review: it calls torch.softmax",
        ),
    ],
)
def test_in_words_names_the_diagnosis(exercise, words):
    assert in_words(exercise) == words


def test_diagnoses_of_a_broken_file_have_its_reason():
    exercises = judged("invalid"), judged("invalid")
    reason = f"{LESSON}.ipynb is empty."
    result = SubmissionResult("amara", LESSON, "invalid", exercises, reason)
    assert {f.diagnosis for f in diagnoses_of(result)} == {"broken file: is empty"}


@pytest.mark.parametrize("student", sorted(MISCONCEPTIONS))
def test_judge_names_the_misconceptions_of_the_class(student):
    names = {"np": np}
    diagnoses = {}
    for name in (e.name for e in in_lesson_order()):
        exec(CLASS[student].answers[name], names)
        result = judge(load(name), local_runner_factory(names[name]))
        if result.points < load(name).points:
            diagnoses[name] = result.diagnosis or None
    assert diagnoses == MISCONCEPTIONS[student]


def in_lesson_order():
    return [load(name) for name in IN_LESSON_ORDER]


def test_sample_class_has_each_kind_of_submission():
    assert len(CLASS) >= 14
    assert len({w for wrong in MISCONCEPTIONS.values() for w in wrong.values()}) >= 8
    assert 0 < len(CLASS["ines"].answers) < len(EXERCISES)
    assert CLASS["jomo"].answers == {}
    assert CLASS["mirela"].own_cells == {"scaled_scores": sample.HELPER}


def test_wrong_answer_includes_what_it_calls():
    source = wrong_answer("softmax_jacobian", "diagonal_only")
    names = {"np": np}
    exec(source, names)
    p = np.array([0.5, 0.3, 0.2])
    expected = np.diag([0.25, 0.21, 0.16])
    np.testing.assert_allclose(names["softmax_jacobian"](p), expected)
    assert "import math" in wrong_answer("bilinear_scores", "divided_by_root_of_d_k")


def test_wrong_answer_refuses_an_unknown_misconception():
    with pytest.raises(LookupError, match="scaled_scores has no misconception 'none'"):
        wrong_answer("scaled_scores", "none")


def test_answered_notebook_adds_own_cells_to_the_learners(tmp_path):
    before = nbformat.writes(LEARNER)
    notebook = answered_notebook(LEARNER, CLASS["mirela"])
    index = [cell.id for cell in notebook.cells].index("scaled_scores")
    assert notebook.cells[index - 1].source == sample.HELPER
    assert "nbgrader" not in notebook.cells[index - 1].metadata
    path = submit(tmp_path, LESSON, LEARNER, CLASS["jomo"])
    assert path.read_text(encoding="utf-8") == nbformat.writes(LEARNER) == before


def test_answer_to_an_unknown_exercise_is_refused():
    with pytest.raises(LookupError, match="no exercise softmin"):
        answered_notebook(LEARNER, SampleStudent("rosa", {"softmin": "pass"}))


def empty_course(root, *lessons):
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    for path in lessons:
        target = root / path.relative_to(COURSE.root)
        target.parent.mkdir(parents=True)
        shutil.copy(path, target)
    return Course(root)


def test_demo_ignores_the_configured_gradebook(tmp_path):
    course = empty_course(tmp_path, COURSE.teacher(LESSON), COURSE.learner(LESSON))
    config = tmp_path / "nbgrader_config.py"
    real = "c.CourseDirectory.db_url = 'sqlite:////of/the/institute.db'\n"
    config.write_text(config.read_text() + real)
    make_folder(course, tmp_path / "demo", [])
    assert database_path(course) == Path("/of/the/institute.db")
    own = tmp_path / "demo" / "gradebook.db"
    assert database_path(Course(tmp_path / "demo")) == own


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


def test_folder_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    (tmp_path / "demo").symlink_to(tmp_path / "mine")
    with pytest.raises(CourseError, match="demo cannot be written or replaced"):
        make_folder(COURSE, tmp_path / "demo", [])
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_demo_without_a_sandbox_grades_and_says_so(monkeypatch):
    tried = []

    def grade(course, lesson, console, *, isolated=True):
        tried.append(isolated)
        if isolated:
            raise NoSandbox("submissions cannot be isolated on this machine")
        return ["graded"]

    monkeypatch.setattr(grading, "_grade", grade)
    out = StringIO()
    graded = {lesson: ["graded"] for lesson in LESSONS}
    assert grading.grade(COURSE, Console(file=out, width=200)) == graded
    assert tried == [True, False, False, False]
    assert out.getvalue().startswith("There is no sandbox here")
    assert out.getvalue().count("\n") == 1


@pytest.mark.sandbox
def test_ctrl_c_ends_the_demo_with_one_line(tmp_path):
    homes = (COURSE.teacher, COURSE.learner)
    empty_course(tmp_path, *(home(lesson) for lesson in LESSONS for home in homes))
    with InterruptibleProcess(
        [sys.executable, "-m", "autograder", "demo"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        journal = tmp_path / "build" / "demo" / "build" / "grading" / "journal.db"
        _wait_for(journal, process)  # then the workers start
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert output.splitlines()[1:] == [
        "Stopped: call it again, and the demo starts over."
    ]
    assert not [*Path(tmp_path).rglob("class.json")]


def _wait_for(path, process):
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
