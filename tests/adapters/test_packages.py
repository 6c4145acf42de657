"""``autograder package``: the points of ``judge``, in each system's own layout."""

import base64
import contextlib
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

import jsonschema
import pytest

from autograder.adapters import classroom50, exercism, gradescope, judging, prairielearn
from autograder.adapters.judging import Judged, NotJudged, Row, find_notebook
from autograder.adapters.package import Package
from autograder.adapters.systems import SYSTEMS
from autograder.commands.package import make_package, try_package
from autograder.course import CourseError
from autograder.grading.sandbox import NoSandbox
from autograder.releases import METADATA_KEY
from tests.grading.engines import SEED, engine_of
from tests.submissions import (
    COURSE,
    LESSON,
    MAX_POINTS,
    OPTIONAL_EXERCISES,
    REQUIRED_POINTS,
    Submission,
)

SCHEMAS = json.loads(
    (Path(__file__).parent / "results.schema.json").read_text(encoding="utf-8")
)
NAME = f"{LESSON}.ipynb"
ENGINE_FOR = judging.engine_for  # which most tests replace
ENVIRONMENT = {
    "CLASSROOM": "cs-principles",
    "ASSIGNMENT": "01-dot-product-attention",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "alice",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit/a1b2c3d",
    "RELEASE_URL": "https://example.org/releases/1",
}
WRONG = """def softmax(x, axis=-1):
    weights = np.exp(x - x.max())
    return weights / weights.sum(axis=0, keepdims=True)
"""
LIBRARY = """def softmax(x, axis=-1):
    import torch
    return torch.softmax(torch.as_tensor(x, dtype=torch.float64), axis).numpy()
"""
WRITES = """
import os, pathlib
for folder in (".", "/autograder/results", "/grade/results", "/output", {here!r}):
    for name in ("results.json", "result.json", "output", "seed"):
        try:
            pathlib.Path(folder, name).write_text('{{"score": 9999}}')
        except OSError:
            pass
read = []
for path in ({seed!r}, {bank!r}):
    try:
        read.append(open(path).read())
    except OSError:
        pass
"""
LOOPS = "def softmax(x, axis=-1):\n    while True:\n        pass\n"
DIES = "def softmax(x, axis=-1):\n    import os\n    os._exit(0)\n"
root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as in a container")


def answering(text):
    submission = Submission()
    submission.answer("softmax", text)
    return submission.text().encode()


def writing(here="/", seed="/seed", bank="/bank"):
    submission = Submission()
    code = WRITES.format(here=str(here), seed=str(seed), bank=str(bank))
    submission.own(code, above="softmax")
    submission.own("raise RuntimeError(str(read))", above="softmax")
    return submission.text().encode()


def untouched(lesson=LESSON):
    return COURSE.learner(lesson).read_bytes()


# What is handed in, and a part of the sentence if nothing of it is judged.
CASES = {
    "right": ({NAME: Submission().text().encode()}, ""),
    "wrong": ({NAME: answering(WRONG)}, ""),
    "by_the_library": ({NAME: answering(LIBRARY)}, ""),
    "writes_results": ({NAME: writing()}, ""),
    "ends_the_process": ({NAME: answering(DIES)}, ""),
    "loops": ({NAME: answering(LOOPS)}, ""),
    "untouched": ({NAME: untouched()}, ""),
    "renamed": ({"mine (2).ipynb": answering(WRONG)}, ""),
    "with_another": (
        {NAME: answering(WRONG), "scratch.ipynb": Submission().text().encode()},
        "",
    ),
    "two": ({"a.ipynb": answering(WRONG), "b.ipynb": untouched()}, "2 notebooks were"),
    "broken": ({NAME: b'{"cells": ['}, NAME),
    "other_lesson": (
        {"x.ipynb": untouched("02_self_attention")},
        "is the notebook of 02_self_attention",
    ),
    "none": ({"answers.py": b"x = 1\n"}, "No notebook was handed in: only answers.py"),
}


@pytest.fixture(scope="module")
def seed_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("seed") / "seed"
    path.write_text(f"{SEED:032x}\n", encoding="ascii")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory, seed_file):
    """Make a package for each system; return their folders."""
    folder = tmp_path_factory.mktemp("packages")
    for name, system in SYSTEMS.items():
        seed = seed_file if system.KEEPS_SEED else None
        make_package(COURSE, "01", name, folder=folder / name, seed=seed)
    return folder


@pytest.fixture(scope="module")
def graded(made):
    """Grade in one engine, each file once; return what grades a file's bytes."""
    known = {}
    with engine_of(COURSE) as engine:
        grade = engine.grade

        def remembering(path, **options):
            key = path.is_symlink(), path.read_bytes()
            if key not in known:
                known[key] = grade(path, **options)
            return known[key]

        engine.grade = remembering

        @contextlib.contextmanager
        def engine_for(package, folder, results, budget, seed):
            if SYSTEMS[package.system].KEEPS_SEED:
                assert seed == SEED
            yield engine, "namespaces"

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(judging, "engine_for", engine_for)
            for name, value in ENVIRONMENT.items():
                patch.setenv(name, value)
            patch.delenv("GITHUB_STEP_SUMMARY", raising=False)
            yield remembering


def files_in(folder, handed_in):
    folder.mkdir(exist_ok=True)
    for name, content in handed_in.items():
        (folder / name).write_bytes(content)
    return sorted(folder.iterdir())


def result_of(system, made, folder, handed_in):
    """Run a package in its system's layout; return the exit code and the result."""
    paths = files_in(folder / "handed-in", handed_in)
    (folder / "system").mkdir()
    trial = SYSTEMS[system].lay_out(folder / "system", made / system, paths)
    code = SYSTEMS[system].run(trial.arguments)
    text = trial.result.read_text(encoding="ascii")
    if system == "github":
        assert text.startswith("result=") and text.count("\n") == 1
        text = base64.b64decode(text.removeprefix("result=")).decode()
    data = json.loads(text)
    schema = {"$defs": SCHEMAS["$defs"], "$ref": f"#/$defs/{system}"}
    jsonschema.Draft202012Validator(schema).validate(data)
    return code, data


def required(result):
    rows = [e for e in result.counted if e.exercise not in result.optional]
    return sum(e.points for e in rows), all(e.solved for e in rows)


def check_points(system, data, result):
    """Compare a system's result with the engine's."""
    points, solved = required(result)
    if system == "gradescope":
        assert data["score"] == pytest.approx(result.points)
        assert sum(e["score"] for e in data["tests"]) == pytest.approx(result.points)
        assert sum(e["max_score"] for e in data["tests"]) == REQUIRED_POINTS
    elif system == "prairielearn":
        assert data["gradable"] is True
        assert data["score"] == pytest.approx(points / REQUIRED_POINTS, abs=1e-6)
        assert sum(e.get("points", 0) for e in data["tests"]) == pytest.approx(points)
    elif system == "classroom50":
        assert data["score"] == 4 * points and data["max-score"] == 4 * REQUIRED_POINTS
        assert sum(e["score"] for e in data["tests"]) == data["score"]
    elif system == "github":
        assert sum(e["score"] for e in data["tests"]) == pytest.approx(points)
        assert data["max_score"] == REQUIRED_POINTS
        assert data["status"] == ("pass" if solved else "fail")
    else:
        assert data["status"] == ("pass" if solved else "fail")
        by_name = {e.exercise: e.solved for e in result.exercises}
        for test in data["tests"]:
            assert (test["status"] == "pass") == by_name[test["name"]]
            assert [*by_name][test["task_id"] - 1] == test["name"]


def check_problem(system, data, sentence):
    """Look for the sentence where the system shows one; nothing is earned."""
    if system == "gradescope":
        message, points = data["output"], data["score"]
    elif system == "prairielearn":
        message, points = data["message"], data.get("score", 0)
        assert data["gradable"] is False and data["format_errors"] == [message]
    elif system == "classroom50":
        message, points = data["tests"][0]["report"], data["score"]
        assert data["max-score"] == 4 * REQUIRED_POINTS
    elif system == "exercism":
        message, points = data["message"], 0
        assert data["status"] == "error"
    else:
        message, points = data["tests"][0]["message"], data["tests"][0]["score"]
        assert data["status"] == "error"
    assert sentence in message and "Traceback" not in message
    assert points == 0


@pytest.mark.sandbox
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_points_are_those_of_judge(system, case, made, graded, tmp_path):
    handed_in, sentence = CASES[case]
    code, data = result_of(system, made, tmp_path, handed_in)
    assert code == 0
    text = json.dumps(data)
    assert f"{SEED:x}" not in text and str(SEED) not in text
    if sentence:
        return check_problem(system, data, sentence)
    chosen = NAME if NAME in handed_in else next(iter(handed_in))
    result, _ = graded(tmp_path / "handed-in" / chosen)
    check_points(system, data, result)
    if case in ("right", "writes_results"):
        assert result.points == MAX_POINTS
    if case == "untouched":
        assert result.points == 0
    if case == "wrong":  # the misconception and its question
        assert "Which sum does a weight of a table need" in text


@pytest.mark.sandbox
@pytest.mark.parametrize("system", SYSTEMS)
def test_notebook_of_50_mb_gets_a_result_that_says_it(system, made, graded, tmp_path):
    submission = Submission()
    output = {"output_type": "stream", "name": "stdout", "text": "x" * (50 << 20)}
    submission.own("print(x)", below="softmax").outputs = [output]
    large, right = submission.text().encode(), Submission().text().encode()
    for name in ("large", "other"):
        (tmp_path / name).mkdir()
    code, data = result_of(system, made, tmp_path / "large", {NAME: large})
    assert code == 0
    words = "has 50.1 MiB, more than the 32 MiB that are read: clear the outputs"
    check_problem(system, data, words)
    # One that is there beside it loses nothing.
    handed_in = {NAME: right, "other.ipynb": large}
    _, data = result_of(system, made, tmp_path / "other", handed_in)
    result, _ = graded(tmp_path / "other/handed-in" / NAME)
    assert result.points == MAX_POINTS
    check_points(system, data, result)


@pytest.mark.sandbox
def test_what_is_for_instructors_is_in_no_students_part(made, graded, tmp_path, capsys):
    handed_in, _ = CASES["by_the_library"]
    for system in SYSTEMS:
        folder = tmp_path / system
        folder.mkdir()
        _, data = result_of(system, made, folder, handed_in)
        printed = capsys.readouterr().out
        assert "torch.softmax" not in json.dumps(data)
        assert ("torch.softmax" in printed) == (system == "gradescope")
    assert gradescope.result(Judged(LESSON))["stdout_visibility"] == "hidden"


@pytest.mark.sandbox
def test_notebook_of_a_newer_release_is_judged_and_named(made, graded, tmp_path):
    submission = Submission()
    submission.notebook.metadata[METADATA_KEY] = "f" * 12
    handed_in = {NAME: submission.text().encode()}
    _, data = result_of("gradescope", made, tmp_path, handed_in)
    assert data["score"] == MAX_POINTS
    assert f"release {'f' * 12} of the lesson" in data["output"]


@pytest.mark.sandbox
def test_gradescope_compares_the_assignments_points(made, graded, tmp_path, capsys):
    handed_in = {NAME: untouched()}
    result_of("gradescope", made, tmp_path, handed_in)
    assert "does not say how many points" in capsys.readouterr().out
    path = tmp_path / gradescope.METADATA
    verdict = Judged(LESSON, rows=(Row(1, "a", 1.0, 52.0, False, False, False, ""),))
    for total, message in (
        ("20.0", "has 20 points, and the lesson 52"),
        ("52.0", None),
    ):
        path.write_text(json.dumps({"assignment": {"total_points": total}}))
        notes = gradescope.about_points(path, verdict)
        assert notes == [] if message is None else message in notes[0]
    path.write_text('{"assignment": []}')
    assert "does not say" in gradescope.about_points(path, verdict)[0]


@pytest.mark.sandbox
def test_classroom50_body_has_reports_in_fences(made, graded, tmp_path):
    submission = Submission()
    submission.answer("softmax", "raise ValueError('````')")
    handed_in = {NAME: submission.text().encode()}
    result_of("classroom50", made, tmp_path, handed_in)
    body = (tmp_path / "system" / "checkout" / classroom50.BODY).read_text()
    assert body.startswith(f"### {LESSON}: ") and "| softmax | ✗ | 0 of 14 |" in body
    assert "`````text" in body


# --- which notebook -----------------------------------------------------------------


def test_notebook_is_found_below_and_beside_leftovers(tmp_path):
    for name in (".ipynb_checkpoints", "__MACOSX", "week 1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(untouched())
    (tmp_path / "._x.ipynb").write_bytes(b"")
    assert find_notebook(tmp_path, LESSON) == (tmp_path / "week 1" / NAME, [])


def test_only_notebook_of_the_lesson_is_taken(tmp_path):
    (tmp_path / "a.ipynb").write_bytes(untouched())
    (tmp_path / "b.ipynb").write_bytes(untouched("02_self_attention"))
    path, words = find_notebook(tmp_path, LESSON)
    assert path.name == "a.ipynb" and words == ["a.ipynb was judged, not b.ipynb."]


def test_two_of_the_right_name_are_none(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(untouched())
    with pytest.raises(NotJudged, match="2 notebooks were handed in"):
        find_notebook(tmp_path, LESSON)
    with pytest.raises(
        NotJudged, match=rf"^No notebook was handed in\. Hand in {NAME}"
    ):
        find_notebook(tmp_path / "nothing", LESSON)


@pytest.mark.sandbox
def test_large_file_and_link_are_not_read(made, graded, tmp_path):
    large = tmp_path / "large"
    large.mkdir()
    with (large / NAME).open("wb") as file:
        file.truncate(50 << 20)
    package = tmp_path / "x"
    with zipfile.ZipFile(made / "gradescope" / gradescope.ZIP) as archive:
        archive.extractall(package)
    verdict = judging.judge(package, large, tmp_path, gradescope.BUDGET)
    assert "50" in verdict.problem and not verdict.is_fault
    link = tmp_path / "link"
    link.mkdir()
    (link / NAME).symlink_to(COURSE.learner(LESSON))
    verdict = judging.judge(package, link, tmp_path, gradescope.BUDGET)
    assert "link" in verdict.problem and not verdict.is_fault


# --- faults that are not the student's ----------------------------------------------


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("package.json", '{"format": "attention-course/package"}', "make the package"),
        ("package.json", None, "make the package again"),
        ("seed", "12", "holds no seed"),
    ],
)
def test_damaged_package_is_a_sentence(file, text, sentence, made, tmp_path):
    with zipfile.ZipFile(made / "gradescope" / gradescope.ZIP) as archive:
        archive.extractall(tmp_path / "source")
    path = tmp_path / "source" / file
    path.unlink() if text is None else path.write_text(text)
    files_in(tmp_path / "submission", {NAME: untouched()})
    assert gradescope.run(["--root", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "results" / "results.json").read_text())
    check_problem("gradescope", data, sentence)
    assert "no fault of yours: tell your instructor" in data["output"]


def test_newer_package_is_refused(made):
    package = Package.read(made / "exercism" / "test-runner")
    assert package.points == REQUIRED_POINTS and package.slug == LESSON.replace(
        "_", "-"
    )
    newer = json.loads(package.as_json()) | {"version": 2}
    (made / "package.json").write_text(json.dumps(newer))
    with pytest.raises(CourseError, match="of a newer version"):
        Package.read(made)


def refusing(tried, allowed):
    class FakeEngine:
        def __init__(self, *_, isolation, **__):
            self.isolation = isolation

        def __enter__(self):
            tried.append(self.isolation)
            if self.isolation not in allowed:
                raise NoSandbox("no sandbox here (no namespaces): change this")
            return self

        def __exit__(self, *_):
            pass

    return FakeEngine


@pytest.mark.parametrize(
    ("allowed", "unsafe", "used"),
    [
        ({"namespaces", "user", "none"}, True, "namespaces"),
        ({"user", "none"}, True, "user"),
        ({"none"}, True, "none"),
        ({"none"}, False, None),
    ],
)
def test_layers_are_tried_in_order(allowed, unsafe, used, made, monkeypatch, tmp_path):
    tried = []
    monkeypatch.setattr(judging, "engine_for", ENGINE_FOR)
    monkeypatch.setattr(judging, "Engine", refusing(tried, allowed))
    monkeypatch.setattr(judging, "close", lambda *_: None)
    settings = json.loads(Package.read(made / "exercism/test-runner").as_json())
    (tmp_path / "package.json").write_text(json.dumps(settings | {"unsafe": unsafe}))
    package = Package.read(tmp_path)
    arguments = package, tmp_path, tmp_path, gradescope.BUDGET, 1
    if used is None:
        files_in(tmp_path / "handed-in", {NAME: untouched()})
        verdict = judging.judge(
            tmp_path, tmp_path / "handed-in", tmp_path, gradescope.BUDGET
        )
        assert "cannot be kept apart from the judge here" in verdict.problem
        assert verdict.is_fault and verdict.points == 0
        assert tried == ["namespaces", "user"]
        return
    with judging.engine_for(*arguments) as (_, isolation):
        assert isolation == used
    assert tried == ["namespaces", "user", "none"][: len(tried)]
    assert bool(judging.LOST[isolation]) == (used != "namespaces")


@root
def test_package_and_results_are_closed(tmp_path):
    for name in ("source", "results"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    (tmp_path / "source" / "seed").write_text("1")
    judging.close(tmp_path / "source", tmp_path / "results")
    assert (tmp_path / "source").stat().st_mode & 0o077 == 0
    assert (tmp_path / "source" / "seed").stat().st_mode & 0o077 == 0
    assert (tmp_path / "results").stat().st_mode & 0o022 == 0


def test_exercise_of_another_slug_is_an_error(made, tmp_path):
    arguments = ["two-fer", f"{tmp_path}/", f"{tmp_path}/out/", "--package"]
    assert exercism.run([*arguments, str(made / "exercism" / "test-runner")]) == 0
    data = json.loads((tmp_path / "out" / "results.json").read_text())
    assert data["status"] == "error" and "not two-fer" in data["message"]


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


# --- what is in it ------------------------------------------------------------------


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


@pytest.mark.sandbox
def test_package_is_tried_here(made, graded, tmp_path):
    (path,) = files_in(tmp_path / "x", {NAME: answering(WRONG)})
    text = try_package(made / "prairielearn", "prairielearn", [path])
    assert json.loads(text)["gradable"] is True


# --- the wheel ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def closed(made):
    """Make a container's folders, with the wheel's modules closed to other users.

    They are not pytest's, whose own folders are closed: only what we close counts.
    """
    with tempfile.TemporaryDirectory(prefix="container-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with zipfile.ZipFile(made / "gradescope" / gradescope.ZIP) as archive:
            archive.extractall(folder / "source")
        (wheel,) = (folder / "source").glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")
        (shared,) = (folder / "site").glob("*.data/data/share/attention-course")
        for path in shared.iterdir():
            shutil.move(path, folder / "site")
        subprocess.run(["chmod", "-R", "go-rwx", folder / "site"], check=True)
        (folder / "results").mkdir()
        (folder / "results").chmod(0o777)
        yield folder


@root
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
    with zipfile.ZipFile(made / "gradescope" / gradescope.ZIP) as archive:
        archive.extractall(tmp_path / "source")
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
