"""What a package holds: nothing secret, what runs it, and texts within the limits."""

import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

import pytest

from autograder.adapters import classroom50, exercism, gradescope, prairielearn
from autograder.adapters.judging import Judged, Row
from autograder.adapters.systems import SYSTEMS
from autograder.commands.package import make_package
from autograder.course import CourseError
from tests.adapters.packages import NAME, files_in, unpack, untouched, writing
from tests.submissions import (
    COURSE,
    LESSON,
    MAX_POINTS,
    OPTIONAL_EXERCISES,
    Submission,
)


def everything(folder):
    """Yield the names and contents of a package, within its archives, too."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        yield from _within(path.relative_to(folder).as_posix(), path.read_bytes())


def _within(name, content):
    yield name, content
    if name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for inner in archive.namelist():
                yield from _within(f"{name}/{inner}", archive.read(inner))


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_solutions_and_a_seed_only_where_it_is_kept(system, made):
    names = dict(everything(made / system))
    assert not [name for name in names if "solutions" in name or "/tests/test" in name]
    notebooks = [name for name in names if name.endswith(".ipynb")]
    assert [Path(name).name for name in notebooks] == [NAME]
    assert names[notebooks[0]] == untouched()
    seeds = [name for name in names if Path(name).name == "seed"]
    assert len(seeds) == SYSTEMS[system].KEEPS_SEED
    page = names["README.md"].decode()
    assert "What a student sees" in page and "A user of its own" in page
    assert "{" not in page.replace('{"runs-on": "ubuntu-latest", "python": "3.12"}', "")
    assert sum(path.stat().st_size for path in (made / system).rglob("*")) < 2_000_000


def test_bundle_is_small_enough_for_classroom50(made):
    (folder,) = (made / "classroom50" / "autograders").iterdir()
    assert (
        sum(p.stat().st_size for p in folder.iterdir()) < classroom50.MAX_BUNDLE_BYTES
    )
    compile((folder / "autograder.py").read_text(), "autograder.py", "exec")


def test_same_seed_gives_the_same_bytes(made, seed_file, tmp_path):
    make_package(COURSE, "01", "gradescope", folder=tmp_path / "x", seed=seed_file)
    assert dict(everything(tmp_path / "x")) == dict(everything(made / "gradescope"))
    make_package(COURSE, "01", "gradescope", folder=tmp_path / "y")
    assert dict(everything(tmp_path / "y")) != dict(everything(made / "gradescope"))


def test_scripts_can_be_executed(made):
    with zipfile.ZipFile(made / "gradescope" / gradescope.ZIP) as archive:
        modes = {i.filename: i.external_attr >> 16 & 0o111 for i in archive.infolist()}
        for name in ("setup.sh", "run_autograder"):
            assert modes[name] == 0o111
            subprocess.run(["bash", "-n"], input=archive.read(name), check=True)
    assert modes["seed"] == 0
    for path in ("exercism/test-runner/bin/run.sh",):
        assert (made / path).stat().st_mode & 0o111 == 0o111


def test_prairielearn_question_is_graded_outside(made):
    (question,) = (made / "prairielearn" / "questions").iterdir()
    info = json.loads((question / "info.json").read_text())
    options = info["externalGradingOptions"]
    assert options["entrypoint"] == "/grade/tests/judge.sh" and options["enabled"]
    assert options["timeout"] <= 600 and info["gradingMethod"] == "External"
    assert not options["enableNetworking"]
    assert not (made / "prairielearn" / "image" / "seed").exists()


@pytest.mark.parametrize(
    ("lesson", "system", "sentence"),
    [
        ("01", "moodle", "no package for 'moodle'; there are: gradescope, "),
        ("77", "github", "no lesson named '77'"),
    ],
)
def test_words_without_a_meaning_are_one_sentence(lesson, system, sentence, tmp_path):
    with pytest.raises(CourseError, match=sentence):
        make_package(COURSE, lesson, system, folder=tmp_path / "x")
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(CourseError, match="holds something already"):
        make_package(COURSE, "01", "github", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


# --- limits -------------------------------------------------------------------------


def long_verdict(text):
    rows = [Row(n, f"e{n}", 1.0, 2.0, n > 8, False, False, text) for n in range(1, 11)]
    return Judged(LESSON, 16.0, rows=tuple(rows))


def test_prairielearn_stays_below_a_megabyte():
    data = prairielearn.result(long_verdict("\u2192" * 100_000))
    assert len(json.dumps(data, indent=1)) < prairielearn.MAX_RESULT_BYTES
    short = prairielearn.result(long_verdict("x" * 5000))
    assert {len(test["output"]) for test in short["tests"]} == {5000}


def test_prairielearn_score_is_never_above_one():
    rows = (
        Row(1, "a", 2.0, 2.0, False, True, False, ""),
        Row(2, "b", 3.0, 3.0, True, True, False, ""),
    )
    data = prairielearn.result(Judged(LESSON, 2.0, rows=rows))
    assert data["score"] == 1.0 and "points" not in data["tests"][1]
    assert "3 of 3 points, not in the score" in data["tests"][1]["description"]
    assert gradescope.result(Judged(LESSON, 2.0, rows=rows))["score"] == 5.0


def test_exercism_texts_are_short_enough():
    data = exercism.result(long_verdict("\U0001f600" * 100_000))
    for test in data["tests"]:
        assert len(test["message"].encode()) <= exercism.MAX_MESSAGE
    assert len(data["tests"]) == 8, "optional ones are not solved"
    solved = Row(1, "a", 2.0, 2.0, False, True, True, "○ " * 1000)
    (test,) = exercism.result(Judged(LESSON, 2.0, rows=(solved,)))["tests"]
    assert test["status"] == "pass" and len(test["output"]) == exercism.MAX_OUTPUT


# --- the wheel ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def closed(made):
    """Make a container's folders, with the wheel's modules closed to other users.

    They are not pytest's, whose own folders are closed: only what we close counts.
    """
    with tempfile.TemporaryDirectory(prefix="container-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (wheel,) = unpack(made, folder / "source").glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")
        (shared,) = (folder / "site").glob("*.data/data/share/attention-course")
        for path in shared.iterdir():
            shutil.move(path, folder / "site")
        subprocess.run(["chmod", "-R", "go-rwx", folder / "site"], check=True)
        (folder / "results").mkdir()
        (folder / "results").chmod(0o777)
        yield folder


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as in a container")
@pytest.mark.sandbox
def test_wheel_judges_without_namespaces_and_nothing_is_forged(closed):
    here, bank = closed / "results", closed / "site/autograder/__init__.py"
    handed_in = {NAME: writing(here, closed / "source/seed", bank)}
    files_in(closed / "submission", handed_in)
    done = subprocess.run(
        [sys.executable, "-m", "autograder.adapters", "gradescope", "--root", closed],
        cwd=closed,
        env={"PYTHONPATH": str(closed / "site"), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "as a user of its own" in done.stdout
    assert [path.name for path in here.iterdir()] == ["results.json"]
    data = json.loads((here / "results.json").read_text())
    assert data["score"] == MAX_POINTS
    assert "RuntimeError: []" in data["output"], "seed or bank was read"
    assert len((closed / "source/seed").read_text().strip()) == 32
    assert here.stat().st_mode & 0o022 == 0


@pytest.mark.thorough
@pytest.mark.sandbox
def test_package_is_installed_by_its_own_commands(made, tmp_path):
    unpack(made, tmp_path / "source")
    venv.create(tmp_path / "environment", with_pip=True)
    setup = (tmp_path / "source/setup.sh").read_text()
    install = setup[setup.index("fi\n/autograder/") + 3 :]
    requirements, *commands = [
        row
        for row in install.replace("/autograder/", f"{tmp_path}/").splitlines()
        if row
    ]
    assert "--requirement" in requirements and len(commands) == 3
    # Not from a checkout: its modules would be those of the folder that it starts in.
    call = functools.partial(
        subprocess.run,
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    done = call(["bash", "-c", requirements])
    if done.returncode:
        pytest.skip(f"the packages cannot be had: {done.stderr[-200:]}")
    call(["bash", "-ec", "\n".join(commands)], check=True)
    files_in(tmp_path / "submission", {NAME: Submission().text().encode()})
    run = (tmp_path / "source/run_autograder").read_text()
    run = run.replace("/autograder/", f"{tmp_path}/").strip()
    done = call(["bash", "-c", f"{run} --root {tmp_path}"])
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "results" / "results.json").read_text())
    assert data["score"] == MAX_POINTS, data["output"]
    assert OPTIONAL_EXERCISES
