"""The grades as files for a spreadsheet, Canvas and Moodle, and nbgrader's plugins."""

import csv
import errno
import logging
import os
import shutil
import subprocess
import sys
import warnings
from datetime import datetime
from pathlib import Path

import pytest

from autograder.checking.result import ExerciseResult
from autograder.course import Course, CourseError
from autograder.gradebook import export as export_module
from autograder.gradebook.export import export
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.sheets import export_file, format_number
from autograder.gradebook.spreadsheet_text import safe_text
from autograder.grading.reading import spelled_out
from autograder.grading.result import SubmissionResult

FIRST, SECOND = "01_first", "02_second"
EXERCISES = (("softmax", 2.0), ("scores", 3.5))
FULL_DISK = OSError(errno.ENOSPC, "No space left on device")


def grades(student, *points, hand=None, extra=None, **more):
    """Return a student's grades for the two exercises; none of ``points``: no grade."""
    auto = points or (None, None)
    exercises = [
        Grade(name, max_points, auto=score)
        for (name, max_points), score in zip(EXERCISES, auto, strict=True)
    ]
    name, max_points = EXERCISES[1]
    if hand is not None or extra is not None:
        exercises[1] = Grade(name, max_points, auto=auto[1], manual=hand, extra=extra)
    return StudentGrades(student, tuple(exercises), **more)


def absent(student, **more):
    return grades(student, submitted=False, **more)


def a_class(*students):
    return {each.student: each for each in students}


def awkward_class():
    """Return one of each: plain, quoted, umlauts, formula, by hand, late, absent."""
    asa = {"first_name": "Åsa", "last_name": "Müller, von", "email": "a@x.org"}
    dwayne = {"first_name": 'Dwayne "Rock"', "last_name": "=1+1"}
    return {
        FIRST: a_class(
            grades("zoe", 0.1 + 0.2, 3.5, timestamp="2026-03-02 09:30:00.123456"),
            grades("asa", 2.0, 1.0, hand=3.0, extra=0.25, late_penalty=1.0, **asa),
            grades("dwayne", 0.0, 0.0, lms_user_id="4711", **dwayne),
            grades("bo"),
            absent("nil", first_name="No\nBody", lms_user_id="S-99"),
        ),
        SECOND: a_class(
            absent("zoe"),
            absent("asa", **asa),
            grades("dwayne", 2.0, 3.5, lms_user_id="4711", **dwayne),
            absent("bo"),
            absent("nil", first_name="No\nBody", lms_user_id="S-99"),
        ),
    }


# --- what is in the files --------------------------------------------------------


def test_csv_has_exactly_these_bytes():
    assert (
        export_file("csv", awkward_class()).text.encode()
        == (
            "\ufeff"
            "student,last_name,first_name,email,"
            "01_first.softmax,01_first.scores,01_first points,01_first max,"
            "01_first late penalty,01_first by hand,01_first submitted (UTC),"
            "01_first extension (hours),"
            "02_second.softmax,02_second.scores,02_second points,02_second max,"
            "02_second late penalty,02_second by hand,02_second submitted (UTC),"
            "02_second extension (hours)\n"
            'asa,"Müller, von",Åsa,a@x.org,2,3.25,4.25,5.5,1,scores,,,,,,5.5,,,,\n'
            "bo,,,,,,,5.5,0,,,,,,,5.5,,,,\n"
            'dwayne,\'=1+1,"Dwayne ""Rock""",,0,0,0,5.5,0,,,,2,3.5,5.5,5.5,0,,,\n'
            "nil,,No Body,,,,,5.5,,,,,,,,5.5,,,,\n"
            "zoe,,,,0.3,3.5,3.8,5.5,0,,2026-03-02 09:30:00,,,,,5.5,,,,\n"
        ).encode()
    )


def test_canvas_file_has_exactly_these_bytes():
    assert (
        export_file("canvas", awkward_class()).text.encode()
        == (
            "Student,ID,SIS User ID,SIS Login ID,Section,01_first,02_second\n"
            "    Points Possible,,,,,5.5,5.5\n"
            '"Müller, von, Åsa",,,asa,,4.25,\n'
            "bo,,,bo,,,\n"
            '"\'=1+1, Dwayne ""Rock""",4711,4711,dwayne,,0,5.5\n'
            "No Body,,S-99,nil,,,\n"
            "zoe,,,zoe,,3.8,\n"
        ).encode()
    )


@pytest.mark.parametrize(
    ("lms_user_id", "cells"),
    [
        ("4711", ["4711", "4711"]),  # Canvas's number, or an SIS id that looks like one
        ("0105", ["", "0105"]),  # Canvas would read 105, which may be another's number
        ("12b", ["", "12b"]),
        ("\u0661\u0662", ["", "\u0661\u0662"]),  # digits, but not Canvas's
        ("", ["", ""]),
    ],
)
def test_canvas_reads_only_its_own_numbers_as_id(lms_user_id, cells):
    book = {FIRST: a_class(grades("bo", 1.0, 1.0, lms_user_id=lms_user_id))}
    *_, row = csv.reader(export_file("canvas", book).text.splitlines())
    assert row[1:4] == [*cells, "bo"]


def test_moodle_file_has_exactly_these_bytes():
    assert (
        export_file("moodle", awkward_class()).text.encode()
        == (
            "Username,First name,Last name,01_first,02_second\n"
            'asa,Åsa,"Müller, von",4.25,-\n'
            "bo,,,-,-\n"
            'dwayne,"Dwayne ""Rock""",\'=1+1,0,5.5\n'
            "nil,No Body,,-,-\n"
            "zoe,,,3.8,-\n"
        ).encode()
    )


@pytest.mark.parametrize("kind", ["csv", "canvas", "moodle"])
def test_every_row_has_as_many_cells_as_the_header(kind):
    rows = list(csv.reader(export_file(kind, awkward_class()).text.splitlines()))
    assert len(rows) >= 6
    assert {len(row) for row in rows} == {len(rows[0])}


def test_missing_grade_is_zero_only_on_request():
    book = {FIRST: a_class(grades("bo"), absent("nil"), grades("zoe", 1.0, 1.0))}
    canvas = export_file("canvas", book, "zero").text.splitlines()
    assert canvas[2:] == ["bo,,,bo,,", "nil,,,nil,,0", "zoe,,,zoe,,2"]
    moodle = export_file("moodle", book, "zero").text.splitlines()
    assert moodle[1:] == ["bo,,,-", "nil,,,0", "zoe,,,2"]
    people = export_file("csv", book, "zero").text.splitlines()
    assert people[1:3] == ["bo,,,,,,,5.5,0,,,", "nil,,,,0,0,0,5.5,,,,"]


def test_student_of_only_one_lesson_has_a_row():
    book = {FIRST: a_class(grades("zoe", 1.0, 1.0)), SECOND: a_class()}
    assert export_file("moodle", book).text.splitlines()[1] == "zoe,,,2,-"
    assert (
        export_file("csv", book).text.splitlines()[1] == "zoe,,,,1,1,2,5.5,0,,,,,0,,,,"
    )


@pytest.mark.parametrize("kind", ["csv", "canvas", "moodle"])
def test_students_of_different_lessons_have_a_row_each(kind):
    book = {
        FIRST: a_class(grades("zoe", 1.0, 1.0)),
        SECOND: a_class(grades("asa", 1.0, 1.0)),
    }
    text = export_file(kind, book).text
    assert "asa" in text and "zoe" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7.1000000000001, "7.1"),
        (0.1 + 0.2, "0.3"),
        (10.0, "10"),
        (100.0, "100"),
        (1e-7, "0"),
        (-1e-7, "0"),
        (-0.5, "-0.5"),
        (1 / 3, "0.33"),
        (1.25, "1.25"),
        (12345678.0, "12345678"),
    ],
)
def test_format_number_has_no_exponent_or_rounding_error(value, text):
    assert format_number(value) == text


def test_infinite_grade_is_refused_with_the_student():
    book = {FIRST: a_class(grades("zoe", float("inf"), 0.0))}
    with pytest.raises(CourseError, match=r"zoe's grade for 01_first is no number"):
        export_file("csv", book)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("=1+1", "'=1+1"),
        ("\t+1", "'+1"),
        ("\r\n@SUM(A1)", "'@SUM(A1)"),
        (" -1", "'-1"),
        ("＝1", "'＝1"),
        ("\x00=1", "'=1"),
        ("a;=1", "a,=1"),
        ("a\r\nb\u2028c", "a b c"),
        ("half \ud800", "half"),
        ('a\\"b', 'a/"b'),
        ("Anne-Marie +1", "Anne-Marie +1"),
        ("می‌خواهم", "می‌خواهم"),
    ],
)
def test_untrusted_text_is_no_formula_or_second_line(text, line):
    assert safe_text(text) == line


@pytest.mark.parametrize("bad", ["=cmd|' /C calc'!A1", "@a", "+4", "a;b", "a\nb"])
@pytest.mark.parametrize("kind", ["canvas", "moodle"])
def test_unsafe_id_is_left_out_and_named(kind, bad):
    book = {FIRST: a_class(grades(bad, 2.0, 2.0), grades("zoe", 1.0, 1.0))}
    made = export_file(kind, book)
    assert len(made.left_out) == 1
    assert made.left_out[0].startswith(f"{spelled_out(bad)!r} is left out")
    assert "\n" not in made.left_out[0]
    assert bad not in made.text
    assert "zoe" in made.text


def test_unsafe_lms_user_id_leaves_its_student_out():
    book = {FIRST: a_class(grades("zoe", 1.0, 1.0, lms_user_id="=1"))}
    made = export_file("canvas", book)
    assert "'zoe' is left out: the id '=1'" in made.left_out[0]
    assert made.text.count("\n") == 2


def test_unsafe_id_is_quoted_in_csv():
    made = export_file("csv", {FIRST: a_class(grades("=1+1", 1.0, 1.0))})
    assert made.left_out == ()
    assert made.text.splitlines()[1].startswith("'=1+1,")


def test_canvas_name_is_never_points_possible():
    book = {FIRST: a_class(grades("zoe", 1.0, 1.0, last_name="Points Possible"))}
    assert export_file("canvas", book).text.splitlines()[2] == ",,,zoe,,2"


def test_moodle_id_column_needs_a_value_for_everybody():
    ann = {"email": "ann@example.org", "lms_user_id": "7"}
    bob = {"email": "bob@example.org", "lms_user_id": "8"}
    book = {FIRST: a_class(grades("a", 1.0, 1.0, **ann), grades("b", 0.0, 1.0, **bob))}
    assert export_file("moodle", book).text.splitlines() == [
        "Username,First name,Last name,ID number,Email address,01_first",
        "a,,,7,ann@example.org,2",
        "b,,,8,bob@example.org,1",
    ]
    for value in ({"email": ""}, {"lms_user_id": "0"}):
        book[FIRST]["b"] = grades("b", 0.0, 1.0, **(bob | value))
        header = export_file("moodle", book).text.splitlines()[0]
        assert ("Email address" in header) == ("email" not in value)
        assert ("ID number" in header) == ("lms_user_id" not in value)


def test_moodle_leaves_out_the_id_0():
    book = {FIRST: a_class(grades("0", 1.0, 1.0), grades("zoe", 1.0, 1.0))}
    made = export_file("moodle", book)
    assert made.text.splitlines()[1:] == ["zoe,,,2"]
    assert made.left_out[0].startswith("'0' is left out")
    assert export_file("canvas", book).left_out == ()


def test_csv_has_a_column_of_misconceptions():
    book = {FIRST: a_class(grades("zoe", 0.0, 0.0), absent("nil"))}
    exercises = tuple(
        ExerciseResult(name, 0.0, 1.0, (), diagnosis=diagnosis)
        for name, diagnosis in (("a", "no_scale"), ("b", ""), ("c", "off_by_one"))
    )
    results = {FIRST: [SubmissionResult("zoe", FIRST, "graded", exercises)]}
    header, nil, zoe = csv.reader(
        export_file("csv", book, "empty", results).text.split("\n")[:3]
    )
    assert header[-1] == "01_first misconceptions"
    assert (nil[-1], zoe[-1]) == ("", "no_scale, off_by_one")


# --- the command ------------------------------------------------------------------


@pytest.fixture
def course(tmp_path):
    """Return a course of three lessons; the gradebook knows the first two."""
    for lesson in (FIRST, SECOND, "03_third"):
        path = tmp_path / "course" / "notebooks" / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    return Course(tmp_path / "course")


@pytest.fixture
def book(monkeypatch):
    """Return what the gradebook answers, free to change."""
    book = awkward_class()

    class Fake:
        def __init__(self, course):
            pass

        def settled_grades(self, lesson):
            if lesson not in book:
                raise CourseError(f"{lesson} is not in the gradebook yet")
            return book[lesson]

    monkeypatch.setattr(export_module, "Gradebook", Fake)
    monkeypatch.setattr(export_module, "opened_lessons", lambda _: sorted(book))
    return book


@pytest.mark.parametrize("kind", ["csv", "canvas", "moodle"])
def test_all_lessons_go_into_one_file_with_the_same_bytes(course, book, kind):
    path = export(course, [], kind)
    assert path == course.root / f"build/export/{kind}.csv"
    first = path.read_bytes()
    assert first == export_file(kind, book).text.encode()
    assert export(course, [], kind).read_bytes() == first


def test_lesson_without_submissions_is_exported_by_name_only(course, book):
    book[SECOND] = a_class(absent("zoe"))
    assert SECOND not in export(course, [], "canvas").read_text(encoding="utf-8")
    both = export(course, ["02", "01", "02_second"], "canvas")
    header = both.read_text(encoding="utf-8").split("\n")[0]
    assert header.endswith(",Section,02_second,01_first")


def test_left_out_student_is_named_and_the_file_written(course, book, capsys):
    book[FIRST]["=1"] = grades("=1", 1.0, 1.0)
    assert export(course, ["01"], "canvas").is_file()
    err = capsys.readouterr().err
    assert err.startswith("'=1' is left out")
    assert err.count("\n") == 1


def refusal(course, *arguments, **more):
    with pytest.raises(CourseError) as raised:
        export(course, *arguments, **more)
    sentence = str(raised.value)
    assert "\n" not in sentence
    return sentence


def test_export_refuses_unknown_kinds_and_lessons(course, book):
    assert "'blackboard'; there are: csv, canvas, moodle" in refusal(
        course, [], "blackboard"
    )
    assert "no lesson named '09'" in refusal(course, ["09"], "csv")
    assert "03_third is not in the gradebook" in refusal(course, ["03"], "csv")
    book[FIRST] = a_class(absent("zoe"))
    assert "no submission for 01_first" in refusal(course, ["01"], "csv")
    book.clear()
    assert "no submission for any lesson" in refusal(course, [], "csv")
    assert not (course.root / "build").exists()


def test_course_without_a_gradebook_must_grade_first(course):
    assert "no submission for any lesson: grade" in refusal(course, [], "csv")
    (course.root / "gradebook.db").touch()
    assert "no submission for any lesson: grade" in refusal(course, [], "csv")
    (course.root / "gradebook.db").write_text("not a database, whatever it is called")
    assert "is no database" in refusal(course, [], "csv")


def test_unwritable_file_keeps_its_content(course, book, tmp_path, monkeypatch):
    path = tmp_path / "old.csv"
    path.write_text("old")

    def full(*_):
        raise FULL_DISK

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "No space left on device" in refusal(course, [], "csv", path)
    assert path.read_text() == "old"
    assert list(tmp_path.glob(".old*")) == []
    assert "is a folder" in refusal(course, [], "csv", tmp_path)
    below = path / "grades.csv"
    assert "could not be written" in refusal(course, [], "csv", below)
    os.mkfifo(tmp_path / "pipe")
    assert "no ordinary file" in refusal(course, [], "csv", tmp_path / "pipe")
    assert path.read_text() == "old"


def test_link_stays_a_link_and_its_target_is_written(course, book, tmp_path):
    (tmp_path / "link.csv").symlink_to("grades.csv")
    export(course, [], "csv", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "grades.csv").read_text(encoding="utf-8-sig").startswith("stud")


# --- nbgrader's export plugins ----------------------------------------------------


@pytest.fixture(scope="module")
def with_gradebook(tmp_path_factory):
    """Return a course folder whose gradebook was made with nbgrader's own functions."""
    from nbgrader.api import Gradebook

    root = tmp_path_factory.mktemp("nbgrader")
    shutil.copy(Course.here().root / "nbgrader_config.py", root)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("c.LatePolicy.late = '1.5 points'\n")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # add_submission makes SQLAlchemy warn
        patch.setenv("PATH", path_with_scripts())  # nbgrader calls alembic by name
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "attention") as gradebook:
            fill(gradebook)
    return root


def path_with_scripts():
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def fill(gradebook):
    """Enter ``entered_class`` as nbgrader does, and a lesson that nobody hands in."""
    gradebook.add_student("zoe", first_name="Zoë", last_name="Ånger", email="z@x.org")
    gradebook.add_student("asa", lms_user_id="17")
    gradebook.add_student("nil", last_name="=1+1")
    for lesson in (SECOND, FIRST):
        gradebook.add_assignment(lesson, duedate=datetime(2026, 3, 3))
        gradebook.add_notebook(lesson, lesson)
        for name, most in EXERCISES:
            gradebook.add_solution_cell(name, lesson, lesson)
            gradebook.add_grade_cell(
                f"check_{name}", lesson, lesson, max_score=most, cell_type="code"
            )
    gradebook.add_assignment("ps1")
    for notebook in ("a", "b"):
        gradebook.add_notebook(notebook, "ps1")
        cell = {"max_score": 1, "cell_type": "code"}
        gradebook.add_grade_cell("one", notebook, "ps1", **cell)
    moment = datetime(2026, 3, 2, 9, 30, 0, 123456)
    gradebook.add_submission(FIRST, "zoe", timestamp=moment)
    gradebook.add_submission(FIRST, "asa", timestamp=datetime(2026, 3, 4))
    gradebook.add_submission(SECOND, "asa")
    for student, name, scores in (
        ("zoe", "softmax", {"auto_score": 0.1 + 0.2}),
        ("zoe", "scores", {"auto_score": 3.5}),
        ("asa", "softmax", {"auto_score": 2.0}),
        ("asa", "scores", {"auto_score": 0.0, "manual_score": 3.0, "extra_credit": 1}),
    ):
        grade = gradebook.find_grade(f"check_{name}", FIRST, FIRST, student)
        for score, value in scores.items():
            setattr(grade, score, value)
    late = gradebook.find_submission_notebook(FIRST, FIRST, "asa")
    late.late_submission_penalty = 1.5
    gradebook.db.commit()


def entered_class():
    zoe = {"first_name": "Zoë", "last_name": "Ånger", "email": "z@x.org"}
    asa, nil = {"lms_user_id": "17"}, {"last_name": "=1+1"}
    late = {"late_penalty": 1.5, "timestamp": "2026-03-04 00:00:00"}
    moment = "2026-03-02 09:30:00.123456"
    return {
        FIRST: a_class(
            grades("zoe", 0.1 + 0.2, 3.5, timestamp=moment, **zoe),
            grades("asa", 2.0, 0.0, hand=3.0, extra=1.0, **late, **asa),
            absent("nil", **nil),
        ),
        SECOND: a_class(
            absent("zoe", **zoe), grades("asa", **asa), absent("nil", **nil)
        ),
    }


def nbgrader_export(root, plugin, *arguments):
    """Call the real command in the course folder."""
    exporter = f"--exporter=autograder.gradebook.plugins.{plugin}"
    command = [sys.executable, "-m", "nbgrader", "export", exporter, *arguments]
    env = os.environ | {"PATH": path_with_scripts()}
    return subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def gradebook(with_gradebook):
    from nbgrader.api import Gradebook

    with Gradebook(
        f"sqlite:///{with_gradebook / 'gradebook.db'}", "attention"
    ) as gradebook:
        yield gradebook


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["csv", "canvas", "moodle"])
def test_plugin_writes_the_bytes_of_the_command(
    with_gradebook, gradebook, kind, tmp_path
):
    from autograder.gradebook import plugins

    path = tmp_path / "out.csv"
    plugin = getattr(plugins, f"{kind.title()}ExportPlugin")(to=str(path))
    plugin.export(gradebook)
    assert path.read_bytes().decode() == export_file(kind, entered_class()).text
    same = export(Course(with_gradebook), [], kind, tmp_path / "same.csv")
    assert same.read_bytes() == path.read_bytes()


def test_plugin_drops_the_lowest_too(with_gradebook, gradebook, tmp_path):
    from autograder.gradebook.plugins import MoodleExportPlugin

    path = tmp_path / "out.csv"
    MoodleExportPlugin(to=str(path), drop_lowest=1).export(gradebook)
    ours = export(Course(with_gradebook), [], "moodle", tmp_path / "b.csv", n_drop=1)
    assert ours.read_bytes() == path.read_bytes()
    assert b"Total without the lowest 1 (%)" in ours.read_bytes()


def test_nbgrader_export_runs_the_plugin(with_gradebook):
    done = nbgrader_export(with_gradebook, "MoodleExportPlugin", "--to=out.csv")
    assert done.returncode == 0, done.stderr
    text = (with_gradebook / "out.csv").read_bytes().decode()
    assert text == export_file("moodle", entered_class()).text


@pytest.mark.thorough
def test_nbgrader_export_restricts_lessons_and_students(with_gradebook):
    done = nbgrader_export(
        with_gradebook,
        "CanvasExportPlugin",
        f"--assignment={FIRST}",
        "--student=['asa','nil']",
        "--CanvasExportPlugin.missing_as_zero=True",
    )
    assert done.returncode == 0, done.stderr
    assert (with_gradebook / "canvas.csv").read_text(encoding="utf-8") == (
        "Student,ID,SIS User ID,SIS Login ID,Section,01_first\n"
        "    Points Possible,,,,,5.5\n"
        "asa,17,17,asa,,4.5\n"
        "'=1+1,,,nil,,0\n"
    )


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"student": ["nobody"]}, "the gradebook has no student named 'nobody'"),
        ({"assignment": ["ps9"]}, "the gradebook has no assignment named 'ps9'"),
        ({"student": ["nil"]}, "the gradebook has no submission for"),
    ],
)
def test_plugin_refuses_in_a_line_and_keeps_the_old_file(
    gradebook, tmp_path, caplog, named, sentence
):
    from autograder.gradebook.plugins import MoodleExportPlugin

    path = tmp_path / "old.csv"
    path.write_text("old")
    plugin = MoodleExportPlugin(to=str(path), log=logging.getLogger("here"), **named)
    with pytest.raises(SystemExit) as end:
        plugin.export(gradebook)
    assert end.value.code == 1
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert caplog.messages[0].startswith(sentence)
    assert path.read_text() == "old"


def test_two_notebooks_keep_their_exercises_apart(gradebook, tmp_path):
    from autograder.gradebook.plugins import CsvExportPlugin

    path = tmp_path / "out.csv"
    CsvExportPlugin(to=str(path), assignment=["ps1", FIRST]).export(gradebook)
    header = path.read_text(encoding="utf-8").split("\n")[0]
    assert ",email,ps1.a.one,ps1.b.one,ps1 points,ps1 max," in header
