"""Grades the honest corpus: every submission gets full marks."""

import pytest

from tests.grading.engines import engine_of, stray_processes
from tests.honest import cases
from tests.submissions import COURSE, MAX_POINTS, REQUIRED_POINTS, Submission

pytestmark = pytest.mark.sandbox

# Every second one is thorough.
CASES = [
    pytest.param(build, id=name, marks=pytest.mark.thorough if turn % 2 else ())
    for turn, (name, build) in enumerate(cases().items())
]


@pytest.fixture(scope="module")
def engine():
    with engine_of(COURSE) as started:
        yield started


@pytest.mark.parametrize("build", CASES)
def test_honest_submission_gets_full_marks(build, engine, tmp_path):
    submission = Submission()
    build(submission)
    result, _ = engine.grade(submission.write(tmp_path, "honest"), "honest")
    assert result.status == "graded", result.reason
    lost = [e.report for e in result.exercises if e.points < e.max_points]
    assert not lost, "\n".join(lost)
    assert (result.points, result.max_points) == (MAX_POINTS, REQUIRED_POINTS)
    assert result.flags == ()
    assert result.as_json().encode()
    assert stray_processes(engine) == []
