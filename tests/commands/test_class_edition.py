"""``attention-course class-edition``: what is in it, what is not, and that it works."""

import ast
import json
import os
import subprocess
import sys
import venv
import zipfile
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from unittest.mock import Mock

import pytest
from packaging.version import Version
from typer.testing import CliRunner

from autograder.checking.own_answer import as_answer
from autograder.checking.registry import exercises_of, load
from autograder.commands import class_edition, start
from autograder.course import Course, CourseError

ROOT = Course.here().root
COURSE = Course(ROOT)
LEAST = 28  # characters of a line that is an answer's own
JUDGED = """
import contextlib, inspect, io, json, sys
import numpy as np
import autograder
from autograder import check
from autograder.checking.registry import exercise_names
from course_lib import attention, figures

def scaled_scores(q, k):
    return q @ np.swapaxes(k, -1, -2)

def reported(answer):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.suppress(AssertionError):
            check(answer)
    return out.getvalue()

wrong = reported(scaled_scores)

def scaled_scores(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])

right, own = reported(scaled_scores), reported(attention.scaled_scores)
try:
    source = inspect.getsource(attention.scaled_scores)
except OSError:
    source = ""
told = [wrong, right, own, source, inspect.getdoc(attention.scaled_scores)]
print(json.dumps([autograder.__file__, list(exercise_names()), *told]))
"""


def edition(lessons="00-01", closed="00", label="week1"):
    return class_edition.edition_of(COURSE, lessons, closed, label)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make an edition in each form; return the folder that holds them."""
    folder = tmp_path_factory.mktemp("editions")
    for form in ("wheel", "folder", "container"):
        class_edition.make_edition(folder / form, edition(), form, torch=False)
    return folder


@pytest.fixture(scope="module")
def unpacked(made, tmp_path_factory):
    """Return a folder with what pip would install."""
    (wheel,) = (made / "wheel").glob("*.whl")
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def texts(folder):
    return {
        path: path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".ipynb", ".whl")
    }


def lines_of_answer(exercise):
    """Return the long lines of a reference's body, as they are written."""
    answer = as_answer(exercise.reference)
    (function,) = ast.parse(answer).body
    first = function.body[1 if ast.get_docstring(function) else 0]
    rows = [row.strip() for row in answer.splitlines()[first.lineno - 1 :]]
    return [row for row in rows if len(row) >= LEAST]


@pytest.mark.parametrize("form", ["unpacked", "folder"])
def test_no_file_shows_an_answer_of_an_open_lesson(form, made, unpacked):
    content = texts(unpacked if form == "unpacked" else made / form)
    assert len(content) > 200
    rows = {
        row: each.name
        for each in exercises_of()
        if each.lesson[:2] in ("01", "02", "03", "04", "05", "06")
        for row in lines_of_answer(each)
    }
    assert len(rows) > 60
    together = "\n".join(content.values())
    assert {name for row, name in rows.items() if row in together} == set()


def test_answers_of_a_closed_lesson_can_be_read(unpacked):
    text = (unpacked / "course_lib" / "warm_up.py").read_text()
    assert text == (ROOT / "course_lib" / "warm_up.py").read_text()
    bank = "autograder/exercises/pairwise_sums.py"
    assert (unpacked / bank).read_text() == (ROOT / bank).read_text()


def test_what_learners_do_not_need_is_absent(unpacked):
    names = {path.relative_to(unpacked).as_posix() for path in texts(unpacked)}
    folders = {"/".join(name.split("/")[:2]) for name in names}
    left_out = {"grading", "dashboard", "demo", "book", "notebooks", "similarity"}
    assert not folders & {f"autograder/{each}" for each in left_out}
    assert not any("solutions/" in name or "tests/" in name for name in names)
    banks = {Path(name).stem for name in names if "/exercises/" in name}
    lessons = {load(name).lesson[:2] for name in banks - {"__init__", "makes_possible"}}
    assert lessons == {"00", "01"}
    (shared,) = unpacked.glob("*.data/data/share/attention-course")
    lessons = [path.stem for path in sorted(shared.glob("notebooks/*/*.ipynb"))]
    assert lessons == COURSE.built_lessons[:2]


def test_wheel_says_what_pip_reads(made, unpacked):
    (wheel,) = (made / "wheel").glob("*.whl")
    assert wheel.name == "attention_course-0.1.0+week1-py3-none-any.whl"
    (about,) = unpacked.glob("*.dist-info")
    metadata = message_from_bytes((about / "METADATA").read_bytes())
    assert (metadata["Name"], metadata["Version"]) == (
        "attention-course",
        "0.1.0+week1",
    )
    assert (about / "licenses" / "LICENSE").is_file()
    assert "attention-course = " in (about / "entry_points.txt").read_text()
    record = (about / "RECORD").read_text().splitlines()
    assert len(record) == len([p for p in unpacked.rglob("*") if p.is_file()])
    extension = "share/jupyter/labextensions/attention-course/package.json"
    assert list(unpacked.glob(f"*.data/data/{extension}"))


def judged(python, folder, *paths):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    if paths:
        environment["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    done = subprocess.run(
        [python, "-c", JUDGED],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_checks_in_an_edition_name_the_misconception(made, tmp_path):
    result = judged(sys.executable, tmp_path, made / "folder")
    package, names, wrong, right, own, source, docstring = result
    assert Path(package).is_relative_to(made)
    assert "softmax" in names and "causal_mask" not in names
    assert "→ Your dot products are not divided." in wrong
    assert right.startswith("scaled_scores: solved, all 5 claims hold")
    assert "this is the course's own version" in own
    assert source == "" and docstring.startswith("Score how well each query matches")


@pytest.mark.thorough
def test_edition_is_installed_with_pip(made, tmp_path):
    (wheel,) = (made / "wheel").glob("*.whl")
    venv.create(tmp_path / "v", with_pip=True)
    python = tmp_path / "v" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--no-deps", wheel]
    subprocess.run(pip, check=True)
    # Other packages come from here; this environment's own course must not.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (folder,) = (tmp_path / "v" / "lib").glob("python*/site-packages")
    (folder / "zz_others.pth").write_text("\n".join(here))
    package, _, wrong, *_ = judged(python, tmp_path)
    assert Path(package).is_relative_to(tmp_path)
    assert "→ Your dot products are not divided." in wrong
    opened = "from pathlib import Path; from autograder.workspace.installed import *\n"
    opened += "print(open_folder(Path('c')).course.built_lessons, version())"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", opened],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{COURSE.built_lessons[:2]} 0.1.0+week1\n"


@pytest.mark.thorough
def test_every_packed_module_is_what_it_was():
    every = class_edition.edition_of(COURSE, "", "", "all")
    for path in class_edition.packed_modules(every):
        content = (ROOT / path).read_bytes()
        text = class_edition.packed(path, content).decode()
        code = b"".join(
            node.value
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Constant) and isinstance(node.value, bytes)
        )
        unpack = class_edition.zlib.decompress, class_edition.base64.b85decode
        assert unpack[0](unpack[1](code)) == content


def test_container_runs_the_wheel(made):
    folder = made / "container"
    (wheel,) = folder.glob("*.whl")
    text = (folder / "Dockerfile").read_text()
    assert f"COPY {wheel.name} /tmp/" in text and "[torch]" not in text
    assert "USER learner" in text
    assert "docker build" in (folder / "README.md").read_text()


def test_same_edition_is_the_same_bytes(made, tmp_path):
    class_edition.make_edition(tmp_path / "w", edition(), "wheel", torch=True)
    (first,), (second,) = (made / "wheel").glob("*.whl"), (tmp_path / "w").glob("*.whl")
    assert first.read_bytes() == second.read_bytes()


def test_learners_settings_hold_the_class_and_nothing_else(tmp_path):
    course = Course(tmp_path / "course")
    course.root.mkdir()
    for name in ("notebooks", "releases.json"):
        (course.root / name).symlink_to(ROOT / name)
    settings = "c.CourseDirectory.course_id = 'spring-27'\nc.LatePolicy.late = '1 %'\n"
    (course.root / "nbgrader_config.py").write_text(settings)
    made = class_edition.edition_of(course, "00", "00", "x")
    class_edition.make_edition(tmp_path / "e", made, "folder", torch=True)
    text = (tmp_path / "e" / "nbgrader_config.py").read_text()
    assert "course_id = 'spring-27'" in text and "LatePolicy" not in text


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("", ""),
        ("3", "03"),
        ("00-02,05", "00 01 02 05"),
        ("1 14-15", "01 14 15"),
    ],
)
def test_lessons_are_chosen_by_words(words, numbers):
    names = class_edition.chosen_lessons(COURSE, words)
    assert [name[:2] for name in names] == numbers.split()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"lessons": "05-03"}, "begins after its end: write 03-05"),
        ({"lessons": "77"}, "no lesson named '77'"),
        ({"closed": "77"}, "no lesson named '77'"),
        ({"label": "Week 1"}, "--label 'Week 1' cannot be part of a version"),
    ],
)
def test_words_without_a_meaning_are_one_sentence(changed, sentence):
    with pytest.raises(CourseError, match=sentence):
        edition(**changed)


def test_later_edition_of_one_day_is_a_newer_version(monkeypatch):
    def now(minute):
        moment = datetime(2026, 11, 29, 9, minute, tzinfo=UTC)
        monkeypatch.setattr(class_edition, "datetime", Mock(now=lambda _: moment))
        return Version(edition(label="").version)

    assert now(5) < now(6)
    assert str(now(5)) == "0.1.0+class.202611290905"


def test_folder_that_holds_something_is_left(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CourseError, match="holds something already"):
        class_edition.make_edition(tmp_path, edition(), "wheel", torch=True)
    with pytest.raises(CourseError, match="there is no edition as 'zip'"):
        class_edition.make_edition(tmp_path / "x", edition(), "zip", torch=True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(CourseError, match=r"No space left on device\): nothing "):
        class_edition.make_edition(tmp_path / "e", edition(), "wheel", torch=True)
    assert list(tmp_path.iterdir()) == []


def test_command_says_what_is_packed_and_that_it_is_no_secret(tmp_path):
    arguments = ["class-edition", str(tmp_path / "e"), "--lessons", "00-02"]
    arguments += ["--closed", "00", "--label", "w2"]
    out = CliRunner().invoke(start.app, arguments, catch_exceptions=False).output
    text = " ".join(out.split())
    assert "an edition of 3 lessons for learners, as wheel, version 0.1.0+w2" in text
    assert "those of 01, 02 are packed. Packed is not secret" in text
