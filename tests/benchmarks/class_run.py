"""One run of the command ``autograder grade``, watched from outside.

When each student's row came, and how large the command's processes have been. Watching
costs next to nothing: one reading when the class is nearly done, one at the end.
"""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from autograder.course import Course
from autograder.demo.sample_class import LESSON

MAIN, WORKER, PARENT = PROCESSES = ("main process", "a worker", "its warm parent")
SAME_MOMENT = 0.002  # s: rows closer than that were printed together
PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass
class Run:
    """What was seen; seconds count from the command's start.

    seconds : until its end
    rows : until each line of its output, a row for each student and the closing one
    own_work : processor seconds of the main process for a submission, under way
    workers_work : those of the workers and their sandboxes
    closing : the last line
    memory : MB that each of ``PROCESSES`` has held at most
    """

    count: int
    jobs: int
    seconds: float = 0.0
    rows: list[float] = field(default_factory=list)
    own_work: float = 0.0
    workers_work: float = 0.0
    closing: str = ""
    memory: dict[str, float] = field(default_factory=dict)

    @property
    def judging(self) -> tuple[int, float]:
        """Submissions under way, and their seconds: from as many rows on as jobs."""
        count, jobs = self.count, self.jobs
        return count - jobs, self.rows[count - 1] - self.rows[jobs - 1]

    @property
    def steady(self) -> float:
        """Submissions per second under way."""
        count, seconds = self.judging
        return count / seconds

    @property
    def to_the_end(self) -> float:
        """Seconds for a submission, from the first row to the closing one.

        Rows may come many at a time: what came with the first is not counted.
        """
        first = self.rows[0]
        later = sum(row > first + SAME_MOMENT for row in self.rows[: self.count])
        return (self.rows[-1] - first) / max(1, later)


def grade(course: Course, count: int, jobs: int) -> Run:
    """Grade a class of so many; raises ``RuntimeError`` if the command fails."""
    run = Run(count, jobs)
    program = Path(sys.executable).with_name("autograder")
    command = [str(program), "grade", LESSON, "--jobs", str(jobs)]
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=course.root, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        watch = _watch(run, psutil.Process(process.pid))
        for line in process.stdout:
            run.closing = line
            run.rows.append(time.perf_counter() - start)
            next(watch, None)
    run.seconds = time.perf_counter() - start
    if process.returncode or len(run.rows) != count + 1:
        raise RuntimeError(f"autograder grade ended with {process.returncode}")
    return run


def forget(course: Course) -> None:
    """Remove what the engine remembers of a class."""
    for name in ("build", "autograded"):
        shutil.rmtree(course.root / name, ignore_errors=True)
    (course.root / "gradebook.db").unlink(missing_ok=True)


def _watch(run: Run, main: psutil.Process) -> Iterator[None]:
    """Look at the processes when it is time; is gone on with at each row."""
    while len(run.rows) < run.count // 4:  # both workers have started by then
        yield
    early, count = _work(main), len(run.rows)
    while len(run.rows) < run.count - run.jobs:
        yield
    late, rows = _work(main), max(1, len(run.rows) - count)
    run.own_work = (late[0] - early[0]) / rows
    run.workers_work = (late[1] - early[1]) / rows
    workers, behind = _family(main)
    run.memory[WORKER] = max(map(_peak, workers), default=0.0)
    run.memory[PARENT] = max(map(_peak, behind), default=0.0)
    while True:
        run.memory[MAIN] = max(_peak(main), run.memory.get(MAIN, 0.0))
        yield


def _family(main: psutil.Process) -> tuple[list[psutil.Process], list[psutil.Process]]:
    """Return the workers, and what runs behind them."""
    try:
        workers = main.children()
        behind = {*main.children(recursive=True)} - {*workers}
    except psutil.Error:  # the last rows come when it has ended
        return [], []
    return workers, [*behind]


def _work(main: psutil.Process) -> tuple[float, float]:
    """Return the processor seconds so far: its own and its descendants'."""
    workers, behind = _family(main)
    others = sum(sum(_seconds(each)) for each in [*workers, *behind])
    return _seconds(main)[0], others


def _seconds(process: psutil.Process) -> tuple[float, float]:
    """Return the processor seconds of a process and of its ended children."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0, 0.0
    ended = times.children_user + times.children_system
    return times.user + times.system, ended


def _peak(process: psutil.Process) -> float:
    """Return the MB that a process has held at most; 0 if it is gone."""
    try:
        peak = PEAK.search(Path(f"/proc/{process.pid}/status").read_text())
    except OSError:
        return 0.0
    return int(peak[1]) / 1024 if peak else 0.0
