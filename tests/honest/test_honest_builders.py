"""The honest corpus is what it says it is: readable files, all different, and honest.

Whether each case gets full marks from the engine is asked where the engine is tested;
``python -m tests.honest.in_order`` asks it of all cases without the engine.
"""

import functools
import json
import os
import subprocess
import sys

import pytest

from autograder.course import Course
from tests.honest import OUT_OF_ORDER, cases
from tests.honest.in_order import code_of
from tests.submissions import EXERCISES, Submission

CASES = cases()
# One of each kind; the others are run in order by hand.
RUN_IN_ORDER = ("await_at_the_top", "colab", "own_cache_and_counter", "torch_inside")
NEED_ANOTHER_ORDER = ("helper_in_the_last_cell",)


@functools.cache
def built(name: str) -> bytes:
    submission = Submission()
    CASES[name](submission)
    return submission.raw or submission.text().encode()


@pytest.mark.parametrize("name", CASES)
def test_case_is_json_and_the_same_each_time(name):
    raw = built(name)
    assert json.loads(raw)["nbformat"] in (3, 4)
    assert raw == built.__wrapped__(name)


def test_no_two_cases_are_the_same_file():
    files: dict[bytes, str] = {}
    twins = [
        (name, files[raw])
        for name in CASES
        if files.setdefault(raw := built(name), name) != name
    ]
    assert twins == []


def test_case_keeps_checks_and_answers_every_exercise():
    for name in CASES:
        cells = [cell.strip() for cell in code_of(built(name))]
        text = "\n".join(cells)
        for exercise in EXERCISES:
            assert f"check({exercise})" in cells, (name, exercise)
            assert f"def {exercise}" in text or f"{exercise} = " in text, (
                name,
                exercise,
            )


def test_corpus_has_150_cases():
    assert len(CASES) >= 150
    assert set(CASES) > OUT_OF_ORDER


@pytest.mark.thorough
def test_cells_run_in_order_give_full_marks_unless_marked():
    command = [sys.executable, "-m", "tests.honest.in_order"]
    ran = subprocess.run(
        [*command, *RUN_IN_ORDER, *NEED_ANOTHER_ORDER],
        cwd=Course.here().root,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    lost = {
        k: v for line in ran.stdout.splitlines() for k, v in json.loads(line).items()
    }
    assert {name for name, exercises in lost.items() if exercises != []} == set(
        NEED_ANOTHER_ORDER
    )
    assert set(lost) == {*RUN_IN_ORDER, *NEED_ANOTHER_ORDER}
    assert set(NEED_ANOTHER_ORDER) <= OUT_OF_ORDER
