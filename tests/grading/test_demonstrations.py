"""A lesson's demonstrations find all they need in the copy that a submission sees."""

from dataclasses import replace

import pytest

from autograder.demo.sample_class import right_answer
from autograder.grading.budget import Budget
from autograder.grading.engine import Engine
from tests.grading.engines import SEED, process_number
from tests.grading.sessions import session_of, solution
from tests.grading.test_every_lesson import QUICK, lessons
from tests.submissions import COURSE

pytestmark = pytest.mark.sandbox
# Lesson 15 lets the judge score a test; a submission never sees the judge.
OF_THE_JUDGE = "from autograder.checking.registry import load"
LONG = Budget(cell=15.0, cells=60.0)


@pytest.mark.parametrize("lesson", lessons(QUICK[:1]))
def test_no_demonstration_misses_a_module_or_a_function(lesson):
    with Engine(COURSE, lesson, seed=SEED, worker=process_number()) as engine:
        answers = {name: right_answer(name) for name in engine.release.exercises}
        cells = [
            solution(cell.exercise, answers[cell.exercise])
            if cell.role == "solution"
            else replace(cell, role="own" if cell.role == "demo" else cell.role)
            for cell in engine.release.cells
            if cell.is_code
        ]
        with session_of(engine.sandbox, *cells, budget=LONG) as session:
            troubles = session.report.troubles.values()
            killed = session.skipped.endings
    withheld = "cannot be called while this lesson is graded"
    missing = [
        (each.types[0], each.message, each.line)
        for each in troubles
        if ("ImportError" in each.types or withheld in each.message)
        and each.line != OF_THE_JUDGE
    ]
    assert missing == []
    assert "crashed" not in killed.values()
