"""Building the notebooks: what changes them, and what an interrupted build leaves."""

import errno
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from autograder import course
from autograder.commands import app as cli
from autograder.course import Course, CourseError, write_together
from autograder.notebooks import build as builder
from autograder.notebooks import execute
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.build import as_text, build, differences, learner_text
from autograder.notebooks.cells import SourceError
from autograder.notebooks.pictures import texts_path
from autograder.notebooks.source import LessonSource
from course_lib.figures.alternatives import digest
from tests.notebooks.one_lesson import HERE, TEXT, cell, files, notebooks
from tests.processes import InterruptibleProcess
from tests.synthetic import (
    DOUBLE,
    LESSON,
    TOP,
    TWICE_DOUBLE,
    exercise_cells,
    write_lesson,
)

FULL_DISK = OSError(errno.ENOSPC, "No space left on device")


def call(monkeypatch, capsys, *arguments):
    """Call the command line here: exit code, stdout, stderr."""
    monkeypatch.setattr(sys, "argv", ["autograder", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.run()
    code = caught.value.code
    return (code or 0, *capsys.readouterr())


# Alternative texts

DRAWN = """
# %%
from course_lib import figures

# %%
alt = "One bar of length two."
assert 1 < 2
figures.bars(["a"], {"b": [2.0]}, xlabel="c", alt=alt)
"""


def test_build_keeps_the_texts_of_the_pictures(folder, registry):
    write_lesson(folder.root, TEXT + DRAWN)
    build(folder, LESSON)
    teacher, learner = (each.cells[-1] for each in notebooks(folder))
    drawing = 'figures.bars(["a"], {"b": [2.0]}, xlabel="c")'
    assert learner.source == drawing and teacher.source == f"assert 1 < 2\n{drawing}"
    assert 'alt="One bar of length two."' in teacher.outputs[0].data["text/html"]
    file = texts_path(folder, LESSON)
    keys = [digest(each.source) for each in (teacher, learner)]
    expected = dict.fromkeys(keys, "One bar of length two.")
    assert json.loads(file.read_text()) == expected
    assert differences(folder, LESSON) == []
    file.write_text("{}")
    (difference,) = differences(folder, LESSON)
    assert "does not have the alternative texts" in difference


def test_lesson_without_pictures_any_more_has_no_texts(built):
    texts_path(built, LESSON).parent.mkdir(parents=True)
    texts_path(built, LESSON).write_text('{"90-0000": "Three words left."}')
    assert len(differences(built, LESSON)) == 1
    build(built, LESSON)
    assert json.loads(texts_path(built, LESSON).read_text()) == {}


# What an exercise changes


def test_change_of_points_reaches_both_notebooks(built, registry):
    exercise = registry.add(DOUBLE, "double", difficulty=3)
    (teacher, learner, release) = differences(built, LESSON)
    assert "solutions/" in teacher and "notebooks/" in learner
    assert release == f"releases.json does not have the release of {LESSON}"
    build(built, LESSON)
    for notebook in notebooks(built):
        assert (
            cell(notebook, "check-double").metadata.nbgrader.points == exercise.points
        )
        assert " min · ●" in (text := cell(notebook, "a-lesson-3").source)
        assert "points" not in text
    assert differences(built, LESSON) == []


def test_change_of_the_docstring_reaches_both_notebooks(built, registry):
    registry.add(DOUBLE.replace("any number", "any real number"), "double")
    assert len(differences(built, LESSON)) == 2
    build(built, LESSON)
    for notebook in notebooks(built):
        assert "any real number" in cell(notebook, "double").source


def test_change_of_the_body_alone_reaches_the_teacher_only(built, registry):
    registry.add(DOUBLE.replace("secret", "other"), "double")
    (only,) = differences(built, LESSON)
    assert only.startswith(f"solutions/{LESSON}")
    assert only.endswith("first in cell double")


def test_change_of_minutes_reaches_both_notebooks(built, registry):
    registry.add(DOUBLE, "double", minutes=25)
    assert len(differences(built, LESSON)) == 3  # its points, and so the release


def test_exercise_may_use_another_of_the_same_lesson(folder, registry, unexecuted):
    registry.add(TWICE_DOUBLE, "quadruple", uses=("double",))
    write_lesson(folder.root, TEXT + exercise_cells("quadruple"))
    build(folder, LESSON)
    assert "double(double" in cell(notebooks(folder)[0], "quadruple").source
    assert "double(double" not in cell(notebooks(folder)[1], "quadruple").source


# Running the cells


RUN = (
    TEXT
    + """
# %%
import os, time
import tempfile

print(os.environ.get("NBGRADER_EXECUTION"), hash("course"))
print("the course's folder:", os.path.exists("stub.py"), __name__, "leak" in globals())
time.sleep(0.3)
print("later")
double(4)
"""
)


@pytest.mark.thorough
def test_build_is_byte_identical(folder, registry, tmp_path, monkeypatch):
    write_lesson(folder.root, RUN)
    scratch = Path(tempfile.mkdtemp())  # short: a socket's path has 107 characters
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(folder.root)
    before = {*files(folder.root)}
    build(folder, LESSON)
    first = files(folder.root)
    # Again as somebody else, elsewhere: their settings must not reach the notebooks.
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "mine.py").write_text("leak = 1\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.chdir(folder.root / "solutions")
    environment = dict(os.environ)
    build(Course.here(), LESSON)
    assert os.environ == environment
    assert Path.cwd() == folder.root / "solutions"
    assert files(folder.root) == first
    made = {*first} - before - {*(folder.root / "__pycache__").glob("*")}
    releases = folder.root / "releases.json"
    assert made == {folder.teacher(LESSON), folder.learner(LESSON), releases}
    teacher, learner = notebooks(folder)
    _check_outputs(teacher)
    assert all(c.outputs == [] for c in learner.cells if c.cell_type == "code")
    assert differences(folder, LESSON) == []
    scratch.rmdir()  # nothing is left in it


def _check_outputs(teacher):
    assert cell(teacher, "check-double").outputs[0].text == "double checked\n"
    printed, result = cell(teacher, "a-lesson-4").outputs
    assert printed.text.startswith("None ")
    assert "the course's folder: True __main__ False\nlater\n" in printed.text
    assert result.data["text/plain"] == "8"
    text = as_text(teacher)
    for word in (
        '"version"',
        'execution"',
        "shell.execute",
        "T0",
        'language_info": {}',
    ):
        assert word not in text
    counts = [c.execution_count for c in teacher.cells if c.cell_type == "code"]
    assert counts == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "this cell fails\n[^\x1b]*ZeroDivisionError: division by zero$"),
        ("import sys\nprint('oh', file=sys.stderr)", "this cell writes to stderr: oh$"),
        ("import warnings\nwarnings.warn('old')", "writes to stderr: .*Warning: old"),
        ("import os\nos._exit(3)", "Python died while it ran this cell"),
        ("import time\ntime.sleep(60)", "this cell takes more than 1 seconds$"),
    ],
)
def test_failing_cell_is_refused_with_its_line(
    folder, registry, monkeypatch, code, message
):
    if "sleep" in code:
        monkeypatch.setattr(execute, "CELL_TIMEOUT", 1)
    folder.teacher(LESSON).write_text("the teacher's before")
    before = files(folder.root)
    write_lesson(folder.root, f"{TOP}\n# %%\nx = 1\n\n# %%\n{code}\n")
    with pytest.raises(SourceError) as caught:
        build(folder, LESSON)
    line = TOP.count("\n") + 5
    prefix = f"solutions/{LESSON}/{LESSON}.py:{line}: "
    assert str(caught.value).startswith(prefix)
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)
    before[folder.source(LESSON)] = folder.source(LESSON).read_bytes()
    assert files(folder.root) == before


def test_ctrl_c_stops_the_kernel_and_changes_nothing(folder):
    write_lesson(
        folder.root,
        TOP + "\n# %%\nimport os, time, pathlib\n"
        'pathlib.Path("pid").write_text(f"{os.getpid()}.")\ntime.sleep(60)\n',
    )
    folder.teacher(LESSON).write_text("the teacher's before")
    before = files(folder.root)
    command = [sys.executable, "-m", "autograder", "build"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.root)}
    pid = folder.root / "pid"
    end = time.monotonic() + 60
    with InterruptibleProcess(
        command, cwd=folder.root, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (pid.exists() and pid.read_text().endswith(".")):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert errors == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text().rstrip(".")), 0)
    pid.unlink()
    after = {
        p: b for p, b in files(folder.root).items() if "__pycache__" not in p.parts
    }
    assert after == before


# What an error leaves


def _fail_at(monkeypatch, target, name, number, error):
    """Let the call of that number (counted from 1) fail."""
    real, calls = getattr(target, name), []

    def counted(*arguments, **keywords):
        calls.append(arguments)
        if len(calls) == number:
            raise error
        return real(*arguments, **keywords)

    monkeypatch.setattr(target, name, counted)


FAILURES = [
    pytest.param(os, "fsync", 1, FULL_DISK, id="disk-full-at-the-first"),
    pytest.param(os, "fsync", 2, FULL_DISK, id="disk-full-at-the-second"),
    pytest.param(shutil, "copy2", 1, FULL_DISK, id="disk-full-at-the-copy"),
    pytest.param(Path, "replace", 1, FULL_DISK, id="no-first-name"),
    pytest.param(Path, "replace", 2, FULL_DISK, id="no-second-name"),
    pytest.param(Path, "replace", 2, KeyboardInterrupt(), id="ctrl-c-in-between"),
]


@pytest.mark.parametrize(("target", "name", "number", "error"), FAILURES)
def test_files_are_written_together_or_not_at_all(
    tmp_path, monkeypatch, target, name, number, error
):
    one, two, new = (tmp_path / part for part in ("1.txt", "2.txt", "3.txt"))
    for path in (one, two):
        path.write_text(f"old {path.name}")
    before = files(tmp_path)
    _fail_at(monkeypatch, target, name, number, error)
    with pytest.raises(type(error)):
        write_together({one: "new 1", two: "new 2", new: "new 3"})
    assert files(tmp_path) == before


@pytest.mark.parametrize(("target", "name", "number", "error"), FAILURES)
def test_error_while_writing_changes_neither_notebook(
    built, registry, monkeypatch, target, name, number, error
):
    before = files(built.root)
    registry.add(DOUBLE.replace("any number", "another number"), "double")
    if target in (os, Path):
        number += 1  # the first is of the temporary folder
    _fail_at(monkeypatch, target, name, number, error)
    with pytest.raises((CourseError, KeyboardInterrupt)) as caught:
        build(built, LESSON)
    assert isinstance(caught.value, CourseError) is (error is FULL_DISK)
    if error is FULL_DISK:
        message = str(caught.value)
        assert message.startswith(f"{LESSON}: ")
        assert "No space left on device" in message
        assert message.endswith("Its notebooks are as they were")
    assert files(built.root) == before


def test_written_files_are_whole_and_readable_by_others(tmp_path):
    path = tmp_path / "deep" / "er" / "file"
    write_together({path: "a\r\nü"})
    assert path.read_bytes() == "a\r\nü".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SourceError(Path("a"), 1, "b")])
def test_error_while_cells_run_changes_nothing(built, registry, monkeypatch, error):
    before = files(built.root)
    registry.add(DOUBLE, "double", minutes=6)

    def fail(notebook, source, root):
        raise error

    monkeypatch.setattr(builder, "execute", fail)
    with pytest.raises(type(error)):
        build(built, LESSON)
    assert files(built.root) == before


def test_full_disk_for_temporary_files_is_one_sentence(built, monkeypatch):
    before = files(built.root)
    _fail_at(monkeypatch, tempfile, "mkdtemp", 1, FULL_DISK)
    with pytest.raises(
        CourseError, match=r"^90_test: .*No space left on device.*were$"
    ):
        build(built, LESSON)
    assert files(built.root) == before


def test_what_nbgrader_refuses_is_one_sentence(folder, registry, capfd, monkeypatch):
    teacher = teacher_notebook(LessonSource(folder.source(LESSON)))
    cell(teacher, "check-double").metadata.nbgrader.grade_id = "no id!"
    log = logging.getLogger("traitlets")
    before = log.propagate, log.level, [*log.handlers]
    with pytest.raises(CourseError) as caught:
        learner_text(folder.root, LESSON, teacher)
    assert re.fullmatch(
        r"90_test: nbgrader refuses it: \w.*no id!.*", str(caught.value)
    )
    assert (log.propagate, log.level, [*log.handlers]) == before
    assert capfd.readouterr() == ("", "")


def test_nbgrader_leaves_nothing_behind(folder, registry, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(scratch)
    before = files(tmp_path)
    teacher = teacher_notebook(LessonSource(folder.source(LESSON)))
    learner_text(folder.root, LESSON, teacher)
    assert files(tmp_path) == before
    assert Path.cwd() == scratch and [*scratch.iterdir()] == []


# The command


def test_unknown_lesson_is_one_sentence(built, monkeypatch, capsys):
    monkeypatch.chdir(built.root)
    code, out, err = call(monkeypatch, capsys, "build", "91_none")
    assert (code, out) == (1, "")
    assert err == f"no lesson named '91_none'; there are: {LESSON}\n"


def test_build_outside_a_course_folder_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments in (["build"], ["build", "--check"]):
        code, out, err = call(monkeypatch, capsys, *arguments)
        assert (code, out) == (1, "")
        assert err.startswith(f"{tmp_path} is not inside a course folder")
        assert err.count("\n") == 1


def test_syntax_error_is_one_line_and_exit_code_1(built, monkeypatch, capsys):
    monkeypatch.chdir(built.root)
    write_lesson(built.root, TEXT + "\n# %%\nx = (\n")
    before = files(built.root)
    for arguments in (["build", LESSON], ["build", "--check"]):
        code, _, err = call(monkeypatch, capsys, *arguments)
        assert code == 1
        assert re.fullmatch(rf"solutions/{LESSON}/{LESSON}\.py:\d+: syntax .*\n", err)
    assert files(built.root) == before


def test_check_fails_until_the_lesson_is_built(built, registry, monkeypatch, capsys):
    monkeypatch.chdir(built.learner(LESSON).parent)
    assert call(monkeypatch, capsys, "build", "--check")[0] == 0
    registry.add(DOUBLE, "double", minutes=6)
    code, out, err = call(monkeypatch, capsys, "build", "--check", LESSON)
    assert (code, out) == (1, "")
    assert [row.split()[0] for row in err.splitlines()[:2]] == [
        f"solutions/{LESSON}/{LESSON}.ipynb",
        f"notebooks/{LESSON}/{LESSON}.ipynb",
    ]
    assert call(monkeypatch, capsys, "build")[0] == 0
    assert call(monkeypatch, capsys, "build", "--check")[0] == 0


def test_build_of_one_lesson_leaves_the_others_untouched(
    built, registry, monkeypatch, capsys
):
    other = write_lesson(built.root, TOP, "91_other").stem
    build(built, other)
    registry.add(DOUBLE, "double", minutes=6)
    write_lesson(built.root, f"{TOP}\n# %%\nchanged = 1\n", other)
    paths = [built.source(other), built.teacher(other), built.learner(other)]

    def state():
        return [(path.stat().st_mtime_ns, path.read_bytes()) for path in paths]

    before = state()
    monkeypatch.chdir(built.root)
    code, out, err = call(monkeypatch, capsys, "build", "90")
    assert (code, out.splitlines()[-1], err) == (0, f"{LESSON}: built", "")
    assert differences(built, LESSON) == []
    assert state() == before
    assert call(monkeypatch, capsys, "build", "--check", "90")[0] == 0
    assert call(monkeypatch, capsys, "build", "--check")[0] == 1


IMPORTS_OF_DATA = {
    "from course_lib.corpora.plays import plays": True,
    "from course_lib.corpora import plays": True,
    "import course_lib.corpora.plays as shakespeare": True,
    "if True:\n    from course_lib.corpora.plays import plays": True,
    "from course_lib.corpora.generated import dates": False,
    "from course_lib import corpora": False,
}


@pytest.mark.parametrize(("code", "needs_data"), IMPORTS_OF_DATA.items())
def test_lesson_without_its_data_is_refused_before_any_is_built(
    built, monkeypatch, capsys, code, needs_data
):
    write_lesson(built.root, f"{TEXT}\n# %%\nnew = 1\n")
    write_lesson(built.root, f"{TOP}\n# %%\n{code}\n", "91_data")
    monkeypatch.chdir(built.root)
    monkeypatch.setenv("ATTENTION_COURSE_DATA", str(built.root / "no data"))
    before = files(built.root)
    status, out, err = call(monkeypatch, capsys, "build")
    assert status == needs_data
    if needs_data:
        assert (out, files(built.root)) == ("", before)
        assert re.fullmatch(r"nothing is built.*91_data: .*`make data`.*\n", err)
        assert call(monkeypatch, capsys, "build", "--check", "90")[0] == 1
        assert call(monkeypatch, capsys, "build", "90")[0] == 0


def test_lessons_with_real_data_are_known():
    from autograder.notebooks.build import _corpora

    loaders = {
        lesson: {
            module
            for cell in LessonSource(HERE.source(lesson)).cells
            for module in _corpora(cell)
        }
        for lesson in HERE.lessons
    }
    assert not any(modules for lesson, modules in loaders.items() if lesson < "06")
    assert "course_lib.corpora.translations" in loaders["06_byte_pair_encoding"]


def test_misnamed_source_is_refused(built):
    wrong = built.root / "solutions" / "91_new" / "new.py"
    wrong.parent.mkdir()
    wrong.write_text("x = 1\n")
    with pytest.raises(CourseError, match=r"^solutions/91_new/new\.py is no lesson's"):
        built.find_lesson("91_new")
    wrong.rename(wrong.with_name("91_new.py"))
    (wrong.parent / "helper.py").write_text("x = 1\n")
    assert built.lessons == [LESSON, "91_new"]
    assert course.Course.here(wrong.parent) == built
