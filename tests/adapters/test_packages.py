"""``autograder package``: the points of ``judge``, in each system's own layout."""

import json

import pytest

from autograder.adapters import classroom50, gradescope, judging
from autograder.adapters.judging import Judged, Row
from autograder.adapters.systems import SYSTEMS
from autograder.commands.package import try_package
from autograder.course.releases import METADATA_KEY
from tests.adapters.packages import (
    NAME,
    answering,
    check_points,
    check_problem,
    files_in,
    result_of,
    unpack,
    untouched,
    writing,
)
from tests.grading.engines import SEED
from tests.submissions import COURSE, LESSON, MAX_POINTS, Submission

pytestmark = pytest.mark.sandbox
WRONG = """def softmax(x, axis=-1):
    weights = np.exp(x - x.max())
    return weights / weights.sum(axis=0, keepdims=True)
"""
LIBRARY = """def softmax(x, axis=-1):
    import torch
    return torch.softmax(torch.as_tensor(x, dtype=torch.float64), axis).numpy()
"""
LOOPS = "def softmax(x, axis=-1):\n    while True:\n        pass\n"
DIES = "def softmax(x, axis=-1):\n    import os\n    os._exit(0)\n"

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


def test_notebook_of_a_newer_release_is_judged_and_named(made, graded, tmp_path):
    submission = Submission()
    submission.notebook.metadata[METADATA_KEY] = "f" * 12
    handed_in = {NAME: submission.text().encode()}
    _, data = result_of("gradescope", made, tmp_path, handed_in)
    assert data["score"] == MAX_POINTS
    assert f"release {'f' * 12} of the lesson" in data["output"]


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


def test_classroom50_body_has_reports_in_fences(made, graded, tmp_path):
    submission = Submission()
    submission.answer("softmax", "raise ValueError('````')")
    handed_in = {NAME: submission.text().encode()}
    result_of("classroom50", made, tmp_path, handed_in)
    body = (tmp_path / "system" / "checkout" / classroom50.BODY).read_text()
    assert body.startswith(f"### {LESSON}: ") and "| softmax | ✗ | 0 of 14 |" in body
    assert "`````text" in body


def test_large_file_and_link_are_not_read(made, graded, tmp_path):
    large = tmp_path / "large"
    large.mkdir()
    with (large / NAME).open("wb") as file:
        file.truncate(50 << 20)
    package = unpack(made, tmp_path / "x")
    verdict = judging.judge(package, large, tmp_path, gradescope.BUDGET)
    assert "50" in verdict.problem and not verdict.is_fault
    link = tmp_path / "link"
    link.mkdir()
    (link / NAME).symlink_to(COURSE.learner(LESSON))
    verdict = judging.judge(package, link, tmp_path, gradescope.BUDGET)
    assert "link" in verdict.problem and not verdict.is_fault


def test_package_is_tried_here(made, graded, tmp_path):
    (path,) = files_in(tmp_path / "x", {NAME: answering(WRONG)})
    text = try_package(made / "prairielearn", "prairielearn", [path])
    assert json.loads(text)["gradable"] is True
