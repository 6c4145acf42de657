"""What a submission costs in classes of 10 to 5,000, and what the second time costs.

Each class is graded by ``autograder grade --jobs 2`` in a folder of its own. A small
class is graded several times, each time with another student first; its figure is that
of all these runs together, so that each of the ten kinds of submission counts alike.
The largest classes are then graded again, with nothing changed.

Memory is the most that a process has held in a run. On two processors the main
process's own work is taken from the two workers: they do twice one's work only if it is
small beside theirs, both in seconds of a processor.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.course import Course
from tests.benchmarks import class_run
from tests.benchmarks.class_run import Run
from tests.benchmarks.crowd import KINDS, crowd_folder
from tests.benchmarks.figure import Figure, above, against

JOBS = 2
SIZES = {10: 5, 100: 2, 1000: 1, 5000: 1}  # of the class, to how often it is graded
QUICK = {10: 1, 30: 1}
REGRADED = 1000  # and larger: classes that are graded again
FLAT = 1.2  # times the cheapest size may the dearest cost
SECOND = 1.8  # what two workers are to do of one's work
REGRADE = 100.0  # how much faster the second time is to be


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    first: dict[int, list[Run]] = {}
    regraded: dict[int, Run] = {}
    sizes = QUICK if quick else SIZES
    for size, times in sizes.items():
        first[size] = []
        for turn in range(times):
            with tempfile.TemporaryDirectory(prefix="bench-") as name:
                folder = Path(name) / "class"
                crowd = crowd_folder(course, folder, size, turn * JOBS % KINDS)
                first[size].append(class_run.grade(crowd, size, JOBS))
                if size >= min(REGRADED, max(sizes)):
                    regraded[size] = _regrade(crowd, size)
    return [
        *_of_cost(first),
        *_of_memory(first),
        *(
            figure
            for size in regraded
            for figure in _of_regrading(first[size][-1], regraded[size])
        ),
    ]


def _regrade(crowd: Course, size: int) -> Run:
    run = class_run.grade(crowd, size, JOBS)
    if f" {size} of them as before" not in run.closing:
        raise RuntimeError(f"not everything was known already: {run.closing}")
    return run


def _of_cost(runs: Mapping[int, Sequence[Run]]) -> list[Figure]:
    costs = {size: _cost(those) for size, those in runs.items()}
    least = min(costs)
    figures = [
        against(f"a submission of {size}", cost, "ms", f"of {least}", costs[least])
        for size, cost in costs.items()
    ]
    spread = max(costs.values()) / min(costs.values())
    figures.append(against("dearest beside cheapest", spread, "×", "limit", FLAT))
    run = runs[max(runs)][-1]
    # Two processors share all the work; one worker alone has one of them for itself.
    limit = (JOBS / SECOND - 1) * run.workers_work
    name = f"of {run.count}: main process's own work"
    beside = f"limit for {SECOND}×"
    own = against(name, 1000 * run.own_work, "ms", beside, 1000 * limit)
    return [*figures, own]


def _cost(runs: Sequence[Run]) -> float:
    counts, seconds = zip(*(run.judging for run in runs), strict=True)
    return 1000 * sum(seconds) / sum(counts)


def _of_memory(runs: Mapping[int, Sequence[Run]]) -> list[Figure]:
    peaks = {
        (size, name): max(run.memory.get(name, 0.0) for run in those)
        for size, those in runs.items()
        for name in class_run.PROCESSES
    }
    least = min(runs)
    return [
        against(f"of {size}: {name}", peak, "MB", f"of {least}", peaks[least, name])
        for (size, name), peak in peaks.items()
        if size != least
    ]


def _of_regrading(first: Run, regraded: Run) -> list[Figure]:
    name = f"{first.count} again"
    return [
        against(
            f"{name}, whole command", regraded.seconds, "s", "first", first.seconds
        ),
        against(
            f"{name}, a submission under way",
            1000 * regraded.to_the_end,
            "ms",
            "first",
            1000 * first.to_the_end,
        ),
        above(
            f"{name}, ratio under way",
            first.to_the_end / regraded.to_the_end,
            "×",
            "target",
            REGRADE,
        ),
    ]
