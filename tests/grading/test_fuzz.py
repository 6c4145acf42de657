"""Whatever a file holds, grading ends in a verdict: never in a traceback or a hang."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.grading.engines import engine_of, strays
from tests.grading.mangled import files
from tests.submissions import COURSE, EXERCISES, LESSON

pytestmark = [pytest.mark.thorough, pytest.mark.sandbox]

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))  # the benchmark asks for 10,000
seen = {"graded": 0, "invalid": 0}


@pytest.fixture(scope="module")
def engine():
    with engine_of(COURSE) as started:
        yield started


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz") / LESSON
    folder.mkdir()
    return folder / f"{LESSON}.ipynb"


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    suppress_health_check=[*HealthCheck],
)
@given(raw=files())
def test_any_file_ends_in_a_verdict(engine, path, raw):
    path.write_bytes(raw)
    result, _ = engine.grade(path, "anybody")
    told = json.loads(result.as_json())
    seen[result.status] += 1
    assert 0.0 <= result.points <= result.max_points == 60.0
    assert {each["exercise"] for each in told["exercises"]} == {*EXERCISES}
    assert (result.status == "invalid") == (result.reason != "")
    if result.status == "invalid":
        assert result.points == 0.0


def test_the_fuzz_has_made_files_of_both_kinds_and_left_no_process(engine):
    assert min(seen.values()) > EXAMPLES / 50
    assert strays(engine) == []
