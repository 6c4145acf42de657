"""The page on private exercises: every command of it, top to bottom, in a clone.

What an author fills in is the sample; Amara's submission is right, Bea's wrong, Cem's
hostile. Afterwards what learners get is searched for what is private.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime

import nbformat
import pytest

from autograder.course import Course, private
from course_lib.corpora import download
from tests.documented import blocks, clone_of_course, lines_of
from tests.gradebook.archives import Learner, canvas_name, write_zip
from tests.private.sample_course import (
    HERE,
    LESSON,
    MARKERS,
    NAME,
    RIGHT,
    SAMPLE,
    WRONG,
)

PAGE = HERE.root / "docs" / "private-exercises.md"
TEXT = PAGE.read_text(encoding="utf-8")
ZOE = Learner("zoe", "Zoë", "Bauer", 1042)
ROSTER = "id,first_name,last_name,email,lms_user_id,section\n"
PROGRAMS = {  # as the clone has them
    "autograder": "autograder",
    "attention-course": "autograder.commands.start",
    "nbgrader": "nbgrader",
}
HOSTILE = f"""def {NAME}(q, k):
    raise ValueError(open({{path!r}}).read())
"""


class Instructor:
    """An instructor's clone, and what each command has printed there."""

    def __init__(self, folder):
        self.root = clone_of_course(folder / "attention-course")
        self.course = Course(self.root)
        self.printed = {}
        exchange = folder / "exchange"
        exchange.mkdir(mode=0o777)
        exchange.chmod(0o777)
        with (self.root / "nbgrader_config.py").open("a") as file:
            file.write(f"\nc.Exchange.root = {str(exchange)!r}\n")
        scripts = folder / "bin"
        scripts.mkdir()
        for name, module in PROGRAMS.items():
            program = scripts / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
            program.chmod(0o755)
        self.environment = os.environ | {
            "ATTENTION_COURSE_DATA": str(download.folder()),
            "HOME": str(folder),
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.root),
        }

    def call(self, line):
        run = subprocess.run(
            ["bash", "-c", line],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.printed[line] = run.stdout
        assert run.returncode == 0, f"{line}\n{run.stdout}{run.stderr}"

    def prepare(self, line):
        """Do what a person does before a command of the page."""
        if line.startswith("autograder check-bank"):
            shutil.copytree(SAMPLE, self.root / "private", dirs_exist_ok=True)
        elif line.startswith("nbgrader db"):
            rows = "".join(f"{each},,,,,\n" for each in ("amara", "bea", "cem"))
            zoe = f"zoe,Zoë,Bauer,zoe@example.org,{ZOE.number},B\n"
            (self.root / "students.csv").write_text(ROSTER + rows + zoe)
            self.call("autograder roster students.csv")
        elif line.startswith("autograder collect"):
            name = canvas_name(ZOE, 77).rpartition("_77_")[0]
            sent = f"{name}_77_{LESSON}.ipynb", self.answered(RIGHT)
            time = datetime(2027, 2, 1, tzinfo=UTC)
            write_zip(self.root / "canvas.zip", [(*sent, time)])
            reads = self.root / "private" / "references" / "exam.py"
            answers = RIGHT, WRONG, HOSTILE.format(path=str(reads))
            for student, answer in zip(("amara", "bea", "cem"), answers, strict=True):
                folder = self.root / "submitted" / student / LESSON
                folder.mkdir(parents=True)
                (folder / f"{LESSON}.ipynb").write_bytes(self.answered(answer))

    def answered(self, answer):
        """Return the learner's notebook with an answer, as a file's bytes."""
        notebook = nbformat.read(self.course.learner(LESSON), as_version=4)
        for cell in notebook.cells:
            if cell.id == NAME:
                cell.source = answer
        return nbformat.writes(notebook).encode()


@pytest.fixture(scope="module")
def instructor(tmp_path_factory):
    made = Instructor(tmp_path_factory.mktemp("instructor"))
    for language, code in blocks(TEXT):
        assert language == "console"
        for line in lines_of(code):
            made.prepare(line)
            made.call(line)
    private.use(made.root)
    return made


def texts_of(content, name=""):
    """Yield all texts of a file or archive, with archives in it unpacked."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for each in archive.namelist():
                yield each, each.encode()
                yield from texts_of(archive.read(each), each)
    else:
        yield name, content


def private_texts(content):
    """Return what of an archive is private: the exercise's name and what is secret."""
    words = [each.encode() for each in (NAME, LESSON, *MARKERS)]
    return {
        (name, word)
        for name, text in texts_of(content)
        for word in words  # the command line's help has the lesson's as an example
        if word in text and (word != LESSON.encode() or not name.endswith(".py"))
    }


@pytest.mark.thorough
@pytest.mark.sandbox
def test_page_can_be_followed_and_all_are_graded(instructor):
    printed = instructor.printed
    grades = printed["autograder grade 90"]
    for row in ("amara .* 14 of 14", "bea .* 0 of 14 .* positive", "zoe .* 14 of 14"):
        assert re.search(row, grades), grades
    assert "FileNotFoundError" in (
        instructor.root / "feedback" / "cem" / LESSON / f"{LESSON}.html"
    ).read_text(encoding="utf-8")
    (line,) = (each for each in printed if each.endswith("--json"))
    (exercise,) = json.loads(printed[line])["exercises"]
    assert (exercise["exercise"], exercise["points"]) == (NAME, 14)


@pytest.mark.thorough
@pytest.mark.sandbox
def test_git_does_not_see_private_files(instructor):
    run = ["git", "-C", str(instructor.root), "add", "--all", "--dry-run"]
    added = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert "private/" not in added.replace("tests/private/", "")
    assert LESSON not in added


@pytest.mark.thorough
@pytest.mark.sandbox
def test_what_learners_get_has_nothing_private(instructor, tmp_path):
    shutil.copytree(
        instructor.root, tmp_path / "copy", ignore=shutil.ignore_patterns("build")
    )
    wheel = f"{sys.executable} -m pip wheel -q --no-deps --no-build-isolation"
    instructor.call(f"{wheel} -w {tmp_path / 'wheel'} {tmp_path / 'copy'}")
    instructor.call(f"attention-course class-edition {tmp_path / 'edition'}")
    files = [*(tmp_path / "wheel").iterdir(), *(tmp_path / "edition").glob("*.whl")]
    assert len(files) == 2
    for file in files:
        assert private_texts(file.read_bytes()) == set(), file
    package = instructor.root / "build" / "packages" / f"{LESSON}-gradescope"
    in_package = private_texts((package / "autograder.zip").read_bytes())
    assert in_package, "the search finds what is there"
