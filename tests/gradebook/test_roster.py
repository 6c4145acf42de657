"""``autograder roster``: the files that it understands, and what it enters."""

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.commands import gradebook as commands
from autograder.course import Course, CourseError
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.plugins import CanvasExportPlugin, CsvExportPlugin
from autograder.gradebook.roster import Person, read_roster
from autograder.gradebook.writing import GradebookEntry
from tests.submissions import COURSE, LESSON

AMARA = Person("amara", "Amara", "Okafor", "a@x.org", "17", "Monday")
NBGRADER = """id,first_name,last_name,email,lms_user_id,unknown
amara,Amara,Okafor,a@x.org,17,?
"""
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,ps1 (3)
,,,,,Manual Posting
    Points Possible,,,,,3
"Okafor, Amara",17,s-17,amara,Monday,2
"Student, Test",99,,abc0,Monday,
"""
MOODLE = """\ufeff"First name",Surname,"ID number",Username,"Email address",Groups
Amara,Okafor,17,amara,a@x.org,"Monday, Tuesday"

"""


@pytest.fixture
def root(tmp_path):
    shutil.copy(COURSE.root / "nbgrader_config.py", tmp_path)
    shutil.copytree(COURSE.root / "notebooks", tmp_path / "notebooks")
    return tmp_path


def written(folder, text, encoding="utf-8"):
    path = folder / "students.csv"
    path.write_bytes(text.encode(encoding))
    return path


def students(root):
    with closing(sqlite3.connect(root / "gradebook.db")) as connection:
        return connection.execute("SELECT * FROM student ORDER BY id").fetchall()


@pytest.mark.parametrize(
    ("text", "email", "section"),
    [
        (NBGRADER, "a@x.org", ""),
        (NBGRADER.replace("unknown", "section"), "a@x.org", "?"),
        (CANVAS, "", "Monday"),
        (MOODLE, "a@x.org", "Monday, Tuesday"),
        (MOODLE.replace(",", ";"), "a@x.org", "Monday; Tuesday"),
    ],
)
def test_known_files_give_the_same_person(tmp_path, text, email, section):
    (person,) = read_roster(written(tmp_path, text))
    assert person == Person("amara", "Amara", "Okafor", email, "17", section)


def test_ids_may_be_in_another_column(tmp_path):
    path = written(
        tmp_path, "Surname;Matriculation;Email address\nOkafor;a17;a@x.org\n"
    )
    with pytest.raises(CourseError, match=r"has no column of ids .* with --id"):
        read_roster(path)
    (person,) = read_roster(path, "matriculation")
    assert person == Person("a17", "", "Okafor", "a@x.org")


def test_each_bad_row_is_named_and_nothing_is_entered(root):
    Gradebook(Course(root)).enter_people([AMARA])
    before = students(root)
    path = written(
        root,
        "id,first_name,email\nzoe,Zoë,z@x.org\n,Nobody,\nben,<b>,\nben2,Ben,ben\n"
        "a/b,Ann,\nzoe,Zoe,\ncy,Cy,c@x.org,more\n",
    )
    with pytest.raises(CourseError) as fault:
        commands.roster(Course(root), path, "")
    lines = str(fault.value).splitlines()
    assert [line.split(" ", 2)[:2] for line in lines[:-1]] == [
        ["line", str(number)] for number in (3, 4, 5, 6, 7, 8)
    ]
    for line, words in zip(
        lines,
        (
            "no id",
            "'<' in first_name",
            "that is none: ben",
            "holds /",
            "zoe",
            "4 cells",
        ),
        strict=False,
    ):
        assert words in line
    assert lines[-1].endswith("mend these rows; nothing was entered")
    assert students(root) == before


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "has no column of ids"),
        (b"id,first_name\n", "names nobody"),
        (b"PK\x03\x04", "is no CSV file"),
        (b"id,first_name\namara,Am\xe9\n", "not in UTF-8"),
        (b'id,first_name\namara,"' + b"a" * 200_000 + b'"\n', "is no CSV"),
    ],
)
def test_file_that_is_no_roster_is_refused_in_one_sentence(tmp_path, raw, words):
    path = tmp_path / "students.csv"
    path.write_bytes(raw)
    with pytest.raises(CourseError, match=words) as fault:
        read_roster(path)
    assert "\n" not in str(fault.value)
    with pytest.raises(CourseError, match="is no file"):
        read_roster(tmp_path)


def test_empty_cells_change_nothing_and_nobody_is_removed(root, capsys):
    course = Course(root)
    text = "id,first_name,email\namara,,new@x.org\nzoe,Zoë,\n"
    Gradebook(course).enter_people([AMARA, Person("ben", "Ben")])
    assert commands.roster(course, written(root, text), "") == 0
    assert students(root) == [
        ("amara", "Amara", "Okafor", "new@x.org", "17"),
        ("ben", "Ben", None, None, None),
        ("zoe", "Zoë", None, None, None),
    ]
    out = capsys.readouterr().out
    assert "2 students in" in out
    assert "1 new, 1 changed" in out
    assert "1 in the gradebook and not in the file stay: ben" in out


def test_sections_stay_and_are_in_all_exports(root):
    course = Course(root)
    gradebook = Gradebook(course)
    gradebook.open_lesson(LESSON)
    gradebook.enter_people([AMARA, Person("ben")])
    assert gradebook.enter_people([Person("amara")]).changed == 0
    assert gradebook.enter_people([Person("amara", section="Friday")]).changed == 1
    gradebook.enter(LESSON, [GradebookEntry("amara", {}), GradebookEntry("ben", {})])
    for kind, plugin, column in (
        ("csv", CsvExportPlugin, "section"),
        ("canvas", CanvasExportPlugin, "Section"),
    ):
        export(course, [LESSON], kind, root / "ours.csv")
        with NbgraderGradebook(f"sqlite:///{gradebook.path}", "attention") as book:
            plugin(to=str(root / "theirs.csv"), assignment=[LESSON]).export(book)
        text = (root / "ours.csv").read_text(encoding="utf-8-sig")
        sections = [row[column] for row in csv.DictReader(io.StringIO(text))]
        assert sections[-2:] == ["Friday", ""]
        assert (root / "ours.csv").read_bytes() == (root / "theirs.csv").read_bytes()


@pytest.mark.thorough
def test_import_of_nbgrader_without_its_environment_is_mended(root, tmp_path):
    # nbgrader calls ``alembic`` by name.
    path = written(tmp_path, NBGRADER)
    command = [sys.executable, "-m", "nbgrader", "db", "student", "import", path.name]
    environment = os.environ | {"PATH": "/usr/bin:/bin"}
    for _ in range(2):  # the second one enters people into what the first has left
        subprocess.run(
            command, cwd=root, env=environment, capture_output=True, timeout=300
        )
    assert students(root) == [("amara", "Amara", "Okafor", "a@x.org", "17")]
    course = Course(root)
    assert Gradebook(course).open_lesson(LESSON) == []
    assert Gradebook(course).grades(LESSON)["amara"].first_name == "Amara"
    assert not shutil.which("alembic", path="/usr/bin:/bin")
    done = subprocess.run(command, cwd=root, env=environment, timeout=300)
    assert done.returncode == 0
    assert Path(root / "gradebook.db").exists()
