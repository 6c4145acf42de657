"""A whole submission through the engine: verdicts, words, and nothing left behind."""

import dataclasses
import json
import re

import psutil
import pytest

from autograder.checking.registry import load
from autograder.course import Course, CourseError
from autograder.demo.sample_class import right_answer
from autograder.grading import judging
from autograder.grading.budget import Budget, TimedOutOnce
from autograder.grading.engine import Engine
from autograder.grading.identity import course_seed
from autograder.grading.submission import Submission as HandedIn
from tests.grading.engines import SEED, engine_of, processes_of
from tests.submissions import (
    COURSE,
    EXERCISES,
    LESSON,
    MAX_POINTS,
    OPTIONAL_EXERCISES,
    REQUIRED_POINTS,
    Submission,
)

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]


QUICK = Budget(call=0.5, cell=3.0, cells=6.0)


@pytest.fixture(scope="module")
def engine():
    with engine_of(COURSE, budget=QUICK) as started:
        yield started


@pytest.fixture
def grade(engine, tmp_path):
    """Grade a submission that a function has changed."""

    def graded(change=lambda submission: None, **options):
        submission = Submission()
        change(submission)
        path = submission.write(tmp_path, "amara")
        if options:
            handed_in = HandedIn(engine.release, "amara", path)
            return handed_in.result(engine.judge(handed_in.code_cells, **options)[0])
        return engine.grade(path, "amara")[0]

    return graded


def exercise(result, name):
    (exercise_result,) = (each for each in result.exercises if each.exercise == name)
    return exercise_result


def statuses(result, name):
    return {case.status for case in exercise(result, name).cases}


def full(result, *but):
    """Return which exercises have lost points though they should not."""
    return [
        e.exercise
        for e in result.exercises
        if e.points < e.max_points and e.exercise not in but
    ]


def test_right_answers_get_full_marks_and_no_remarks(grade):
    result = grade()
    assert (result.status, full(result)) == ("graded", [])
    assert (result.points, result.max_points) == (MAX_POINTS, REQUIRED_POINTS)
    assert {*result.optional} == OPTIONAL_EXERCISES
    assert (result.reason, result.repairs, result.troubles) == ("", (), ())
    assert result.flags == ()
    assert {each.exercise for each in result.exercises} == {*EXERCISES}


def test_points_are_those_of_the_exercises(grade):
    result = grade()
    for each in result.exercises:
        assert each.max_points == load(each.exercise).points
        assert sum(case.max_points for case in each.cases) == each.max_points
        assert sum(case.points for case in each.cases) == each.points


def test_released_notebook_is_missing_everywhere(engine, tmp_path):
    path = COURSE.learner(LESSON)
    result, _ = engine.grade(path, "nobody")
    assert result.points == 0
    for name in EXERCISES:
        assert statuses(result, name) == {"missing"}
        report = exercise(result, name).report
        assert "is not written yet" in report or "cannot be checked yet" in report
    assert result.troubles == ()


def test_misconception_is_named(grade):
    from autograder.demo.sample_class import written_misconceptions, wrong_answer

    wrong = written_misconceptions(load("softmax"))[0].name
    result = grade(lambda s: s.answer("softmax", wrong_answer("softmax", wrong)))
    assert exercise(result, "softmax").diagnosis == wrong
    assert statuses(result, "softmax") >= {"wrong"}
    assert full(result, "softmax") == []


def test_hostile_softmax_costs_softmax_alone(grade):
    bad = "import os\ndef softmax(x, axis=-1):\n    os._exit(0)"
    result = grade(lambda s: s.answer("softmax", bad))
    assert statuses(result, "softmax") == {"crashed"}
    assert full(result, "softmax") == []
    assert exercise(result, "attention").blamed == ("softmax",)
    assert "Your own `softmax` is what failed" in exercise(result, "attention").report


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("while True: pass", "timeout"),
        ("return np.ones(1 << 40)", "memory"),
        ("return 'x' * (5 << 20)", "output"),
        ("import os; os._exit(1)", "crashed"),
        ("raise ValueError('0x7f0123456789')", "error"),
        ("return None", "wrong"),
        ("return [w]", "wrong"),
        ("raise NotImplementedError", "missing"),
    ],
)
def test_answer_that_ends_badly_gets_its_status_and_words(grade, body, status):
    text = f"def softmax_jacobian(w):\n    {body}"
    result = grade(lambda s: s.answer("softmax_jacobian", text))
    assert statuses(result, "softmax_jacobian") - {"ok"} == {status}
    assert exercise(result, "softmax_jacobian").points == 0
    assert full(result, "softmax_jacobian") == []
    assert "0x7f" not in result.as_json()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("softmax_jacobian = 3", "no function at its check, but int"),
        ("class softmax_jacobian: pass", "no function at its check, but class"),
        ("def softmax_jacobian(w:", "stopped with SyntaxError"),
        ("1 / 0\ndef softmax_jacobian(w): pass", "ZeroDivisionError: division by zero"),
        ("import os; os._exit(0)", "ended the whole Python process and was left out"),
    ],
)
def test_answer_that_is_no_function_is_reported(grade, text, reason):
    result = grade(lambda s: s.answer("softmax_jacobian", text))
    assert exercise(result, "softmax_jacobian").points == 0
    assert full(result, "softmax_jacobian") == []
    assert any(reason in trouble for trouble in result.troubles), result.troubles


def test_own_cell_that_ends_the_process_costs_nothing(grade):
    def change(submission):
        submission.own("import os\nos._exit(0)", above="softmax")
        submission.own("raise SystemExit", below="softmax")
        submission.own("1 / 0")

    result = grade(change)
    assert full(result) == []
    assert len(result.troubles) == 3
    assert "the cell `import os` ended the whole Python process" in result.troubles[0]


def test_answer_below_the_check_of_its_stub_counts(grade):
    stub = "def softmax(x, axis=-1):\n    raise NotImplementedError"

    def change(submission):
        submission.answer("softmax", stub)
        submission.own(right_answer("softmax"))

    assert full(grade(change)) == []


def test_name_bound_again_after_its_check_costs_nothing(grade):
    result = grade(lambda s: s.own("softmax = scaled_scores = None"))
    assert full(result) == []


def test_last_definition_of_a_cell_is_judged(grade):
    wrong = "def softmax(x, axis=-1):\n    return x * 1.0"
    submission = Submission()
    right = submission.cell("softmax").source
    result = grade(
        lambda submission: submission.answer("softmax", f"{right}\n\n\n{wrong}")
    )
    assert exercise(result, "softmax").points == 0
    result = grade(
        lambda submission: submission.answer("softmax", f"{wrong}\n\n\n{right}")
    )
    assert full(result) == []


def test_definition_below_the_line_that_stops_a_cell_is_told_of(grade):
    wrong = "def softmax(x, axis=-1):\n    return x\n\n\nassert not softmax(1)"
    result = grade(
        lambda submission: submission.answer(
            "softmax", f"{wrong}\n\n\n{submission.cell('softmax').source}"
        )
    )
    assert exercise(result, "softmax").points == 0
    assert result.troubles == (
        "the cell of softmax stopped with AssertionError (nothing below line 5 ran)",
    )


def test_library_answers_keep_points_and_are_flagged(grade):
    text = (
        "import torch\ndef softmax(x, axis=-1):\n"
        "    y = torch.as_tensor(np.asarray(x, dtype=float))\n"
        "    return torch.softmax(y, axis).numpy()"
    )
    result = grade(lambda s: s.answer("softmax", text))
    assert full(result) == []
    assert [(f.exercise, f.what, f.line) for f in result.flags] == [
        ("softmax", "torch.softmax", "return torch.softmax(y, axis).numpy()")
    ]


def test_course_lib_answer_is_an_error_and_flagged(grade):
    text = "from course_lib.attention import softmax"
    result = grade(lambda s: s.answer("softmax", text))
    assert statuses(result, "softmax") == {"error"}
    (flag,) = (f for f in result.flags if f.exercise == "softmax")
    assert flag.line == text
    assert flag.what == f"{load('softmax').reference.__module__}.softmax"
    assert full(result, "softmax") == []


def test_same_submission_gives_the_same_bytes(grade):
    def change(submission):
        submission.answer(
            "softmax",
            "import numpy as np, random\n"
            "print(object(), id(np))\n"
            "def softmax(x, axis=-1):\n"
            "    raise ValueError(f'{object()} {random.random()} {hash(\"a\")} '\n"
            "                     f'{set(\"attention\")} {id(x)}' [:90])",
        )
        submission.own("raise KeyError(object())")

    first, second = grade(change).as_json(), grade(change).as_json()
    assert first == second
    assert not re.search(r"0x[0-9a-f]{8}", first)


def test_other_engine_gives_the_same_bytes(engine, tmp_path):
    submission = Submission()
    submission.answer(
        "softmax",
        "def softmax(x, axis=-1):\n"
        "    words = [*{'query', 'key', 'value', 'mask', 'score', 'weight'}]\n"
        "    raise ValueError(str(words) + str(np.random.rand()))",
    )
    path = submission.write(tmp_path, "amara")
    with engine_of(COURSE, budget=QUICK, worker=3) as another:
        assert another.grade(path)[0].as_json() == engine.grade(path)[0].as_json()


def test_other_seed_gives_other_inputs_and_the_same_marks(
    engine, tmp_path, monkeypatch
):
    text = "def softmax(x, axis=-1):\n    raise ValueError(str(x))"
    submission = Submission()
    submission.answer("softmax", text)
    path = submission.write(tmp_path, "amara")
    one = engine.grade(path)[0]
    monkeypatch.setattr(engine, "seed", SEED + 1)
    other = engine.grade(path)[0]
    assert one.as_json() != other.as_json()
    assert one.points == other.points


def test_engine_without_a_seed_takes_the_one_of_the_course(root):
    engine = Engine(Course(root), LESSON)
    engine.__exit__()
    assert engine.seed == course_seed(Course(root))


def test_results_are_plain_json_without_times(grade):
    data = json.loads(grade().as_json())
    assert data["points"] > data["max_points"] > 0
    assert "seconds" not in grade().as_json()


def test_timeout_counts_only_at_the_last_try(grade):
    text = "import time\ndef softmax_jacobian(w):\n    time.sleep(60)"

    def change(submission):
        submission.answer("softmax_jacobian", text)

    with pytest.raises(TimedOutOnce):
        grade(change, last_try=False)
    result = grade(change, last_try=True)
    assert statuses(result, "softmax_jacobian") == {"timeout"}
    assert full(result, "softmax_jacobian") == []


def test_judging_that_takes_too_long_ends_in_verdicts(grade, monkeypatch):
    monkeypatch.setattr(judging, "JUDGING_SECONDS", 0.0)
    with pytest.raises(TimedOutOnce):
        grade(last_try=False)
    result = grade()
    assert result.points == 0
    assert {status for name in EXERCISES for status in statuses(result, name)} == {
        "output"
    }
    assert exercise(result, "softmax").report == judging.TOO_LONG


def test_time_in_the_sandbox_is_not_the_judges(grade, monkeypatch):
    monkeypatch.setattr(judging, "JUDGING_SECONDS", 1.0)
    slow = f"""
import time
{right_answer("softmax_jacobian")}
quick = softmax_jacobian
def softmax_jacobian(p):
    return time.sleep(0.3) or quick(p)
"""
    assert full(grade(lambda s: s.answer("softmax_jacobian", slow))) == []


@pytest.mark.parametrize(
    "busy", [Budget(call=1.0, cell=0.0001), Budget(call=1.0, submission=0.05)]
)
def test_submission_slow_only_at_first_loses_nothing(engine, grade, monkeypatch, busy):
    tried = []
    once = Engine.judge

    def slow_at_first(self, cells, *, last_try=False):
        tried.append(last_try)
        if not last_try:
            monkeypatch.setattr(self, "budget", busy)
        else:
            monkeypatch.setattr(self, "budget", QUICK)
        return once(self, cells, last_try=last_try)

    monkeypatch.setattr(Engine, "judge", slow_at_first)
    assert full(grade()) == []
    assert tried == [False, True]


def test_page_says_that_a_whole_submission_takes_too_long(engine, grade, monkeypatch):
    budget = Budget(call=1.0, cell=3.0, submission=2.0)
    monkeypatch.setattr(engine, "budget", budget)

    def change(submission):
        submission.own("import time")
        for name in EXERCISES:
            text = f"def {name}(*given, **named):\n    time.sleep(0.3)"
            submission.answer(name, text)

    result = grade(change, last_try=True)
    assert [
        "grading the whole notebook takes longer than 2 seconds: what was left by then "
        "counts as a timeout"
    ] == [each for each in result.troubles if "whole" in each]
    last = result.exercises[-1]
    assert {case.status for case in last.cases} == {"timeout"}
    assert "was not called: the notebook had used up what one may take" in last.report


def test_empty_submission_is_invalid_and_gets_no_points(engine, tmp_path):
    result, times = engine.grade(tmp_path / "nothing.ipynb", "amara")
    assert (result.status, result.points) == ("invalid", 0.0)
    assert {*times} == {"reading", "all"}
    assert result.reason
    assert {c.status for e in result.exercises for c in e.cases} == {"invalid"}


def test_every_case_is_timed(engine, tmp_path):
    _, times = engine.grade(Submission().write(tmp_path, "amara"))
    cases = {f"{e.name}.{c.name}" for e in engine.exercises for c in e.cases}
    assert {*times} == cases | {"reading", "cells", "all"}
    assert all(seconds >= 0 for seconds in times.values())


def test_engine_leaves_no_process_and_no_file(engine, grade):
    before = psutil.Process().num_fds()
    lasting = "import os, time\nif os.fork() == 0:\n    time.sleep(60)\n    os._exit(0)"
    for _ in range(3):
        grade(lambda s: s.own(lasting))
    assert len(processes_of(engine)) == 3
    assert psutil.Process().num_fds() == before


def test_result_cannot_be_changed(grade):
    result = grade()
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.status = "invalid"


def test_lesson_without_a_built_notebook_is_refused(tmp_path):
    with pytest.raises(CourseError, match="run `make build`"):
        Engine(Course(tmp_path), LESSON, seed=SEED)


def test_hidden_cases_name_few_kinds_of_exceptions(engine, tmp_path):
    kinds = "KeyError IndexError OSError TypeError EOFError NameError AttributeError"
    submission = Submission()
    for name, kind in zip(EXERCISES, kinds.split(), strict=False):
        submission.answer(name, f"def {name}(*given, **named):\n    raise {kind}")
    result, _ = engine.grade(submission.write(tmp_path, "amara"), "amara")
    hidden = [c.why for e in result.exercises for c in e.cases if not c.visible]
    named = {why for why in hidden if "stopped with" in why}
    assert len(named) == 3
    assert "Your function stopped with an exception on a hidden input." in named
