"""What is handed in to packages, and what their results are compared with."""

import base64
import json
import zipfile
from pathlib import Path

import jsonschema
import pytest

from autograder.adapters import gradescope
from autograder.adapters.systems import SYSTEMS
from tests.submissions import COURSE, LESSON, REQUIRED_POINTS, Submission

SCHEMAS = json.loads(
    (Path(__file__).parent / "results.schema.json").read_text(encoding="utf-8")
)
NAME = f"{LESSON}.ipynb"
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


def files_in(folder, handed_in):
    folder.mkdir(exist_ok=True)
    for name, content in handed_in.items():
        (folder / name).write_bytes(content)
    return sorted(folder.iterdir())


def unpack(made, folder):
    """Unpack Gradescope's package; return its folder."""
    with zipfile.ZipFile(made / "gradescope" / gradescope.ZIP) as archive:
        archive.extractall(folder)
    return folder


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
