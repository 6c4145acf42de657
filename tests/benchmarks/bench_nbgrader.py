"""How fast nbgrader's own commands and formgrader's button are with the engine in them.

Beside them stands nbgrader as it is, on the same submissions of lesson 01, all cells,
in turns. Both grade in a process that is warm: nbgrader is imported and has graded one
student. What starts with the first click, or with the command, has figures of its own.

The command grades a class that nobody has graded, the engine twenty students at a time
and nbgrader five, the same mix. A click grades one student; each is another.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from autograder.course import Course
from autograder.demo.sample_class import LESSON, SampleStudent
from tests.benchmarks import sample
from tests.benchmarks.figure import Figure, above, against
from tests.benchmarks.nbgrader_alone import FIRST
from tests.benchmarks.warm_nbgrader import (
    WarmNbgrader,
    by_itself,
    open_lesson,
    warm_nbgrader,
)


@dataclass(frozen=True)
class Times:
    """Seconds for a submission, round by round and click by click."""

    engine: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    groups = sample.GROUPS[:1] if quick else sample.GROUPS
    students = [each for each in sample.students() if each.name[-1] in groups]
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        whole = _whole_command(_folder(course, folder / "whole", students))
        with warm_nbgrader(folder / "nbgrader.log") as nbgrader:
            engine = _folder(course, folder / "engine", students)
            alone = _folder(course, folder / "alone", students)
            by_itself(alone)
            first = nbgrader.click(engine, FIRST)
            nbgrader.click(alone, FIRST)
            clicks = _clicks(nbgrader, engine, alone, groups)
            commands = _commands(nbgrader, engine, alone, groups)
            nbgrader.close(engine)
    return _figures(whole, first, clicks, commands)


def _folder(course: Course, folder: Path, students: Sequence[SampleStudent]) -> Course:
    """Make a course folder with a class of whom nobody is graded yet."""
    first = replace(students[0], name=FIRST)
    made = sample.class_folder(course, folder, [first, *students])
    open_lesson(made)
    return made


def _clicks(
    nbgrader: WarmNbgrader, engine: Course, alone: Course, groups: Sequence[str]
) -> Times:
    """Click on the first copy of every student, in both folders in turns."""
    times = Times()
    for student in sample.once():
        if student.name[-1] in groups:
            times.engine.append(nbgrader.click(engine, student.name))
            times.alone.append(nbgrader.click(alone, student.name))
    return times


def _commands(
    nbgrader: WarmNbgrader, engine: Course, alone: Course, groups: Sequence[str]
) -> Times:
    """Grade the other copies, a group at a time."""
    times = Times()
    for group in groups:
        for course, copies, taken in (
            (engine, "[2-9]", times.engine),
            (alone, "2", times.alone),
        ):
            names = f"*-{copies}{group}"
            count = len([*(course.root / "submitted").glob(names)])
            taken.append(nbgrader.autograde(course, names) / count)
    return times


def _whole_command(course: Course) -> float:
    """Return the seconds for a submission of ``nbgrader autograde``, start and all."""
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    start = time.perf_counter()
    subprocess.run(
        [scripts / "nbgrader", "autograde", LESSON],
        cwd=course.root,
        env=environment,
        check=True,
        capture_output=True,
    )
    graded = len([*(course.root / "autograded").glob(f"*/{LESSON}/{LESSON}.ipynb")])
    if graded != len([*(course.root / "submitted").iterdir()]):
        raise RuntimeError(f"nbgrader autograde graded {graded} of the class")
    return (time.perf_counter() - start) / graded


def _figures(
    whole: float, first: float, clicks: Times, commands: Times
) -> list[Figure]:
    alone, click = median(commands.alone), median(clicks.alone)
    beside = "nbgrader alone, warm"
    under_way = 1 / median(commands.engine)
    return [
        above("nbgrader autograde, with start-up", 1 / whole, "/s", beside, 1 / alone),
        above("nbgrader autograde, warm", under_way, "/s", beside, 1 / alone),
        against("a click", 1000 * median(clicks.engine), "ms", beside, 1000 * click),
        against(
            "the slowest click", 1000 * max(clicks.engine), "ms", beside, 1000 * click
        ),
        against("the first click", 1000 * first, "ms", beside, 1000 * click),
    ]
