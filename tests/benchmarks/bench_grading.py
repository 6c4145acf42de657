"""How fast a class is graded, where the time goes, and plain nbgrader beside it.

The class is in ``sample``: 60 different submissions of lesson 01. Throughputs come from
rounds in which the engine, as the command ``autograder grade``, and nbgrader take
turns, so that whatever else the machine does hits both; what is told is the median of
the rounds. The engine grades the whole class each time, nbgrader a third of the class's
first copy: together these are the same mix. "With start-up" counts from the command's
start to its end; "under way" from as many results on as there are jobs.

Who imports torch: the engine's warm parent, once before any submission, whatever the
notebook does. In nbgrader's kernels the notebook does it: in the lesson as it is, a
demonstration; in the lesson with the engine's cells only, a line ``import torch`` above
the set-up cell's own. The last variant is without that line: nothing imports torch,
which is less than the engine offers and more than nbgrader may leave out.
"""

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from autograder.course import Course
from tests.benchmarks import class_run, sample, stages
from tests.benchmarks.figure import Figure, above, against
from tests.benchmarks.nbgrader_alone import nbgrader

ISOLATION_LIMIT = 15.0  # ms
SECOND = 1.8  # what two workers are to do of one's work
JOBS = (1, 2)
SMALL = 16  # a small class: what passes before and after grading weighs more


@dataclass(frozen=True)
class Graded:
    """Submissions per second of ``autograder grade``, round by round.

    whole : with start-up
    steady : under way
    small : with start-up, of a small class
    """

    whole: list[float]
    steady: list[float]
    small: list[float]


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    students = sample.once() if quick else sample.students()
    groups = sample.GROUPS[:1] if quick else sample.GROUPS
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        graded = sample.class_folder(course, folder / "class", students)
        small = sample.class_folder(course, folder / "small", students[:SMALL])
        measured = stages.measure(graded, 1 if quick else stages.ROUNDS)
        ours, theirs = _throughputs(course, [graded, small], folder, groups)
    return [*_of_stages(measured), *_of_throughputs(ours, theirs)]


def _of_stages(measured: stages.Stages) -> list[Figure]:
    calls = f"its {measured.call_count:.0f} calls of answers"
    early, last = f"after {stages.EARLY}", f"after {measured.submissions}"
    return [
        Figure("a submission: reading, rebuilding", measured.reading, "ms"),
        Figure("its child, forked and ended", measured.fork, "ms"),
        against("its isolation", measured.isolation, "ms", "limit", ISOLATION_LIMIT),
        Figure("its cells", measured.cells, "ms"),
        Figure(calls, measured.calls, "ms"),
        Figure("judging", measured.judging, "ms"),
        Figure("all of that", measured.whole, "ms"),
        against(
            f"engine's memory {last}",
            measured.memory[1],
            "MB",
            early,
            measured.memory[0],
        ),
        against(
            f"warm parent's {last}",
            measured.parent[1],
            "MB",
            early,
            measured.parent[0],
        ),
    ]


def _of_throughputs(
    ours: Mapping[int, Graded], theirs: Mapping[str, list[float]]
) -> list[Figure]:
    figures = []
    for (variant, throughputs), jobs in itertools.product(theirs.items(), ours):
        beside = f"nbgrader, {variant}", median(throughputs)
        whole, steady = median(ours[jobs].whole), median(ours[jobs].steady)
        small = median(ours[jobs].small)
        figures += [
            above(f"--jobs {jobs}, {SMALL} with start-up", small, "/s", *beside),
            above(f"--jobs {jobs}, with start-up", whole, "/s", *beside),
            above(f"--jobs {jobs}, under way", steady, "/s", *beside),
        ]
    first, second = (median(ours[jobs].steady) for jobs in JOBS)
    return [*figures, above("a second worker", second / first, "×", "target", SECOND)]


def _throughputs(
    course: Course, classes: Sequence[Course], folder: Path, groups: Sequence[str]
) -> tuple[dict[int, Graded], dict[str, list[float]]]:
    """Measure in turns; the first time that anything runs is not counted.

    classes : the class, and a small one
    """
    graded, small = classes
    variants = {
        "all cells": lambda notebook: notebook,
        "the engine's cells": sample.without_demonstrations(course, "import torch\n"),
        "those without torch": sample.without_demonstrations(course),
    }
    folders = {name: folder / f"nbgrader-{n}" for n, name in enumerate(variants)}
    ours = {jobs: Graded([], [], []) for jobs in JOBS}
    theirs: dict[str, list[float]] = {name: [] for name in variants}
    with nbgrader(folder / "nbgrader.log") as peer:
        for name, change in variants.items():
            peer.prepare(course, folders[name], change)
        _grade(graded, 1)
        for group in groups:
            for jobs, throughputs in ours.items():
                whole, steady = _grade(graded, jobs)
                throughputs.whole.append(whole)
                throughputs.steady.append(steady)
                throughputs.small.append(_grade(small, jobs)[0])
            for name, path in folders.items():
                theirs[name].append(peer.autograde(path, f"*-1{group}"))
    return ours, theirs


def _grade(graded: Course, jobs: int) -> tuple[float, float]:
    """Grade the class with the command; return two throughputs, the second warm."""
    class_run.forget(graded)
    count = len([*(graded.root / "submitted").iterdir()])
    run = class_run.grade(graded, count, jobs)
    return count / run.seconds, run.steady
