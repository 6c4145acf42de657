"""``python -m tests.benchmarks.bench_load``: the same results on a machine under load.

50 honest submissions, and 50 in which each exercise has one misconception, are graded
30 times each; beside as many graders as there are processors, as many processes
compute without end. A submission is to have one result, byte for byte. This takes
about ten minutes, so ``make bench`` leaves it out. A number may be given instead of 30.
"""

import multiprocessing
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from autograder.checking.registry import load
from autograder.demo.sample_class import LESSON, written_misconceptions, wrong_answer
from autograder.grading.engine import Engine
from tests.honest import cases
from tests.submissions import COURSE, EXERCISES, Submission

ROUNDS = 30
COUNT = 50  # right ones, and as many wrong ones
SEED = 20_170_612


def main(rounds: int) -> int:
    """Grade all so often; return 0 if each submission has had one result."""
    processors = len(os.sched_getaffinity(0))
    context = multiprocessing.get_context("spawn")
    beside = [context.Process(target=_compute, daemon=True) for _ in range(processors)]
    results: dict[str, set[str]] = defaultdict(set)
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        ProcessPoolExecutor(processors, context) as pool,
    ):
        paths = [*_submissions(Path(folder))]
        for process in beside:
            process.start()
        start = time.perf_counter()
        shares = [(paths * rounds)[number::processors] for number in range(processors)]
        for number_results in pool.map(_graded, shares, range(processors)):
            for student, line in number_results:
                results[student].add(line)
        seconds = time.perf_counter() - start
    for process in beside:
        process.kill()
    several = sorted(name for name, lines in results.items() if len(lines) > 1)
    print(
        f"{len(results)} submissions, {rounds} times each, in {seconds:.0f} s: "
        f"{len(several)} with more than one result {several or ''}"
    )
    return int(bool(several))


def _graded(paths: Sequence[Path], number: int) -> list[tuple[str, str]]:
    """Grade some submissions in a process of their own: student, and the result."""
    with Engine(COURSE, LESSON, seed=SEED, worker=number) as engine:
        students = [path.parents[1].name for path in paths]
        pairs = zip(paths, students, strict=True)
        return [(name, engine.grade(path, name)[0].as_json()) for path, name in pairs]


def _submissions(folder: Path) -> Iterator[Path]:
    """Write the submissions: some of the honest corpus, and wrong ones."""
    honest = sorted(cases().items())
    for name, build in honest[:: len(honest) // COUNT][:COUNT]:
        right = Submission()
        build(right)
        yield right.write(folder, f"right-{name}")
    for number in range(COUNT):
        wrong = Submission()
        for exercise in EXERCISES:
            names = sorted(each.name for each in written_misconceptions(load(exercise)))
            name = names[number % len(names)]
            wrong.answer(exercise, wrong_answer(exercise, name))
        yield wrong.write(folder, f"wrong-{number}")


def _compute() -> None:
    while True:
        sum(range(10_000))


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
