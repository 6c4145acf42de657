"""``autograder judge --json``: what the schema says, and nothing secret."""

import copy
import json
from dataclasses import replace

import jsonschema
import pytest

from autograder.adapters.document import document, status_of
from autograder.checking.registry import exercise_names, exercises_of
from autograder.checking.result import ExerciseResult
from autograder.course import Course
from autograder.course.releases import release_name
from autograder.gradebook.database import Gradebook
from autograder.grading.identity import SEED_FILE
from autograder.grading.journal import Journal
from autograder.grading.judging import no_answer
from autograder.grading.release import load_release
from autograder.grading.result import SubmissionResult
from tests.grading.engines import SEED
from tests.submissions import COURSE, LESSON, MAX_POINTS, REQUIRED_POINTS, Submission

SCHEMA = json.loads(
    (COURSE.root / "docs/judgement.schema.json").read_text(encoding="utf-8")
)
COLUMNS = """def softmax(x, axis=-1):
    weights = np.exp(x - x.max())
    return weights / weights.sum(axis=0, keepdims=True)
"""
PEEKS = "def softmax(x, axis=-1):\n    raise ValueError(f'x was {x.tolist()}')\n"
LIBRARY = """def softmax(x, axis=-1):
    import torch
    return torch.softmax(torch.as_tensor(x, dtype=torch.float64), axis).numpy()
"""


def closed(schema):
    """Return the schema without room for fields that it does not name."""
    schema = copy.deepcopy(schema)
    todo = [schema]
    while todo:
        each = todo.pop()
        if isinstance(each, dict):
            if "properties" in each:
                each["additionalProperties"] = False
            todo += each.values()
        elif isinstance(each, list):
            todo += each
    return schema


def validated(line):
    data = json.loads(line)
    jsonschema.Draft202012Validator(closed(SCHEMA)).validate(data)
    return data


def exercise(data, name):
    (result,) = (each for each in data["exercises"] if each["exercise"] == name)
    return result


@pytest.fixture(scope="module")
def seed_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("seed") / "seed"
    path.write_text(f"{SEED:032x}\n", encoding="ascii")
    return path


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Be in a folder without a course, with a notebook."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, answer="", name=f"{LESSON}.ipynb"):
    submission = Submission()
    if answer:
        submission.answer("softmax", answer)
    path = folder / name
    path.write_text(submission.text(), encoding="utf-8")
    return path


def test_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.sandbox
def test_wrong_answer_without_a_course_folder(outside, call, seed_file):
    path, own_seed = write(outside, COLUMNS), COURSE.root / SEED_FILE
    had_seed = own_seed.exists()
    code, out, err = call("judge", path, "--json", "--seed", seed_file)
    (line,) = out.splitlines()
    data = validated(line)
    assert (code, err) == (0, "")
    assert data["points"] < MAX_POINTS and data["max_points"] == REQUIRED_POINTS
    assert data["release"] == release_name(load_release(COURSE, LESSON).points)
    softmax = exercise(data, "softmax")
    assert softmax["status"] == "not_solved"
    names = [each["name"] for each in softmax["diagnosis"]]
    assert names == ["first_axis_fixed"], names
    assert softmax["diagnosis"][0]["question"].endswith("?")
    failed = [each for each in softmax["claims"] if each["status"] == "wrong"]
    assert any("your `softmax` returned" in each["why"] for each in failed)
    assert [*outside.iterdir()] == [path], "something was written"
    assert own_seed.exists() == had_seed


@pytest.mark.sandbox
def test_several_files_of_which_one_is_damaged(outside, call, seed_file):
    good = write(outside, LIBRARY)
    bad = outside / "renamed.ipynb"
    bad.write_text('{"cells": [', encoding="utf-8")
    options = ("--lesson", "01", "--json", "--seed", seed_file)
    code, out, _ = call("judge", bad, good, *options)
    first, second = map(validated, out.splitlines())
    assert code == 1
    assert (first["status"], first["file"], first["points"]) == (
        "invalid",
        "renamed.ipynb",
        0.0,
    )
    assert first["reason"] and {e["status"] for e in first["exercises"]} == {
        "not_judged"
    }
    assert (second["status"], second["points"]) == ("graded", MAX_POINTS)
    (flag,) = exercise(second, "softmax")["for_instructors"]["flags"]
    assert flag["calls"] == "torch.softmax" and flag["by"] == "answer"


@pytest.mark.sandbox
def test_input_of_a_hidden_case_is_in_no_document(outside, call, seed_file):
    path = write(outside, PEEKS)
    _, out, _ = call("judge", path, "--json", "--seed", seed_file)
    softmax = exercise(validated(out), "softmax")
    hidden = [each for each in softmax["claims"] if each["hidden"]]
    assert hidden and all(each["status"] == "error" for each in hidden)
    assert not any("x was" in each["why"] for each in hidden)
    assert f"{SEED:x}" not in out and str(SEED) not in out


@pytest.mark.sandbox
def test_class_from_the_journal(tmp_path, monkeypatch, call):
    root = tmp_path / "course"
    root.mkdir()
    for part in ("notebooks", "solutions"):
        (root / part).symlink_to(COURSE.root / part)
    settings = (COURSE.root / "nbgrader_config.py").read_text(encoding="utf-8")
    (root / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(root)
    course = Course(root)
    assert Gradebook(course).open_lesson(LESSON) == []
    submission = Submission()
    submission.answer("softmax", COLUMNS)
    path = submission.write(root, "ada")
    code, _, err = call("judge", "--recorded", "01", "--json")
    assert code == 1 and "nothing of 01_dot_product_attention is graded yet" in err
    assert call("grade", "01", "--jobs", "1")[0] == 0
    code, out, _ = call("judge", "--recorded", "01", "--json")
    recorded = validated(out)
    assert code == 0 and recorded["student"] == "ada" and recorded["seconds"] > 0
    now = validated(call("judge", path, "--json")[1])
    for each in (recorded, now):  # how long it took, and under which name it came
        del each["seconds"], each["file"]
    assert recorded == now
    words = call("judge", "--recorded", "01")[1]
    assert words.startswith("ada\n") and "softmax: 2 of 7 claims hold" in words
    with Journal(course) as journal:
        assert journal.results(LESSON)[0].release == recorded["release"]


@pytest.mark.parametrize("arguments", [[], ["a.ipynb", "--recorded", "01"]])
def test_files_or_a_class(arguments, call):
    code, _, err = call("judge", *arguments, "--json")
    assert code == 2 and "--recorded" in err


def test_seed_that_is_none_is_named(outside, call):
    path = write(outside)
    (outside / "seed").write_text("12", encoding="ascii")
    code, out, err = call("judge", path, "--json", "--seed", "seed")
    assert (code, out) == (1, "") and "seed holds no seed" in err


def test_every_exercise_has_a_document():
    """Of a class's file that was invalid, before anything else is known."""
    for lesson in COURSE.built_lessons:
        exercises = [each for each in exercises_of(lesson)]
        if not exercises:
            continue
        result = SubmissionResult(
            "ada", lesson, "invalid", tuple(map(no_answer, exercises)), "Not read."
        )
        data = validated(json.dumps(document(result)))
        assert [each["exercise"] for each in data["exercises"]] == [
            each.name for each in exercises
        ]
        assert {status_of(result, each) for each in result.exercises} == {"not_judged"}


def test_result_of_a_removed_exercise_still_has_a_document():
    assert "gone" not in exercise_names()
    gone = ExerciseResult("gone", 0.0, 2.0, (), diagnosis="some_idea")
    result = SubmissionResult("ada", LESSON, "graded", (gone,), excused=("gone",))
    data = validated(json.dumps(document(replace(result, release="49012246de7c"))))
    assert exercise(data, "gone")["diagnosis"] == []
    assert exercise(data, "gone")["counts"] == "excused"
