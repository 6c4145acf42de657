"""Whatever a file holds, grading ends in a verdict: never in a traceback or a hang."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.grading.engines import stray_processes
from tests.grading.mangled import files
from tests.submissions import EXERCISES, LESSON, MAX_POINTS, REQUIRED_POINTS

pytestmark = [pytest.mark.thorough, pytest.mark.sandbox]

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))  # the benchmark asks for 10,000
n_files = {"graded": 0, "invalid": 0}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz") / LESSON
    folder.mkdir()
    return folder / f"{LESSON}.ipynb"


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    suppress_health_check=[*HealthCheck],
)
@given(raw=files())
def test_any_file_ends_in_a_verdict(engine, path, raw):
    path.write_bytes(raw)
    result, _ = engine.grade(path, "anybody")
    data = json.loads(result.as_json())
    n_files[result.status] += 1
    assert 0.0 <= result.points <= MAX_POINTS
    # What it names may be a release in which all was required.
    assert result.max_points in (REQUIRED_POINTS, MAX_POINTS)
    assert {each["exercise"] for each in data["exercises"]} == {*EXERCISES}
    assert (result.status == "invalid") == (result.reason != "")
    if result.status == "invalid":
        assert result.points == 0.0


def test_fuzz_has_files_of_both_kinds_and_leaves_no_process(engine):
    assert min(n_files.values()) > EXAMPLES / 50
    assert stray_processes(engine) == []
