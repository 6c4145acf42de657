"""How long a learner waits for ``check``, beside nbgrader's Validate.

Warm: median over 20 calls in one process, for a right and for a wrong answer, which
is also diagnosed. First: ``import autograder`` and one call, in a process of its own
where numpy is imported; median over 3. The peer of the warm call is one ``nbgrader
validate`` of the exercise's lesson, which is what a notebook without ``check`` offers a
learner; the peer of the first call is the course's own limit of one second.
"""

import contextlib
import io
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from autograder import CheckFailed, check
from autograder.checking.exercise import Exercise
from autograder.checking.registry import exercises_of
from autograder.course import Course
from tests.answers import Function, answers_to
from tests.benchmarks.figure import Figure, against

WARM_CALLS = 20
FIRST_CALLS = 3
FIRST_LIMIT = 1000.0  # ms

FIRST_CALL = """
import contextlib, io, time
from tests.answers import answers_to
{name} = next(iter(answers_to("{name}").right.values()))
start = time.perf_counter()
import autograder
with contextlib.redirect_stdout(io.StringIO()):
    autograder.check({name})
print((time.perf_counter() - start) * 1000)
"""


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    exercises = exercises_of()[: 1 if quick else None]
    lessons = {exercise.lesson for exercise in exercises}
    validate = {lesson: _validate(course, lesson) for lesson in sorted(lessons)}
    figures = []
    for exercise in exercises:
        peer = "nbgrader validate", validate[exercise.lesson]
        for kind, answers in (
            ("right", answers_to(exercise.name).right),
            ("wrong", answers_to(exercise.name).others),
        ):
            name = f"check {exercise.name}, {kind} answer"
            figures.append(against(name, _warm(exercise, answers), "ms", *peer))
        first = "limit", FIRST_LIMIT
        figures.append(
            against(f"first check {exercise.name}", _first(exercise), "ms", *first)
        )
    return figures


def _warm(exercise: Exercise, answers: dict[str, Function]) -> float:
    answer = next(iter(answers.values()))
    globals()[exercise.name] = answer  # check finds the exercise by this name
    times = []
    for _ in range(WARM_CALLS + 1):
        start = time.perf_counter()
        with (
            contextlib.suppress(CheckFailed),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            check(answer)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[1:])


def _first(exercise: Exercise) -> float:
    code = FIRST_CALL.format(name=exercise.name)
    return statistics.median(
        float(subprocess.run([sys.executable, "-c", code], **_QUIET).stdout)
        for _ in range(FIRST_CALLS)
    )


def _validate(course: Course, lesson: str) -> float:
    path = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    start = time.perf_counter()
    subprocess.run(
        [path / "nbgrader", "validate", course.teacher(lesson)],
        **_QUIET | {"cwd": course.root, "env": environment},
    )
    return (time.perf_counter() - start) * 1000


_QUIET = {"check": True, "capture_output": True, "text": True}
