"""What a submission and a class cost in two checkouts of the course, side by side.

    git worktree add ../before v0.1
    python -m tests.benchmarks.two_checkouts ../before [--rounds 3] [--count 60]

Compared are this checkout and another one, in turns, so that both have the same machine
at nearly the same moments: ``autograder judge`` of a right notebook of lesson 01, and
``autograder grade --anew`` of a class, by wall clock and in processor time of the
command with all its processes. Each checkout grades the class of its own demo.
"""

import argparse
import contextlib
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
JOBS = 2
PR_SET_CHILD_SUBREAPER = 36
MAKE_CLASS = """
import sys
from pathlib import Path
import autograder
from autograder.course import Course
from tests.benchmarks.crowd import crowd_folder
root, folder, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
assert Path(autograder.__file__).is_relative_to(root), autograder.__file__
crowd_folder(Course(root), folder, count)
"""


@dataclass(frozen=True)
class Cost:
    """Seconds of a command: by the clock, and of all processors."""

    wall: float
    processor: float


def cost_of(checkout: Path, folder: Path, *arguments: str) -> Cost:
    """Run a command of a checkout in a folder; raises ``RuntimeError`` if it fails.

    What it leaves behind, such as a sandbox that was ended, is waited for here, so that
    its processor time counts.
    """
    before, start = _processor_seconds(), time.perf_counter()
    command = [sys.executable, *arguments]
    env = os.environ | {"PYTHONPATH": str(checkout)}
    ended = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    if ended.returncode:
        raise RuntimeError(f"{checkout}: exit code {ended.returncode}: {arguments}")
    return Cost(wall, _processor_seconds() - before)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(before: Path, rounds: int, count: int) -> dict[str, list[list[Cost]]]:
    """Return the costs of each command in each round, before and after."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    costs = defaultdict(list)
    with tempfile.TemporaryDirectory() as both:
        folders = {}
        for name, checkout in (("before", before), ("after", HERE)):
            folder = folders[checkout] = Path(both, name)
            paths = str(checkout), str(folder), str(count)
            cost_of(checkout, checkout, "-c", MAKE_CLASS, *paths)
        (one,) = (folders[HERE] / "submitted" / "s00000").rglob("*.ipynb")
        lesson = one.stem
        for number in range(rounds + 1):  # the first one warms both up, and is short
            for checkout, folder in folders.items():
                path = folder / one.relative_to(folders[HERE])
                start = "-m", "autograder"
                made = {
                    "one submission": ("judge", str(path)),
                    f"a class of {count}": (
                        *("grade", lesson, "--anew", "--jobs", str(JOBS)),
                    ),
                }
                for what, command in [*made.items()][: 2 if number else 1]:
                    cost = cost_of(checkout, folder, *start, *command)
                    if number:
                        costs[what, checkout].append(cost)
                        print(number, checkout.name, what, cost, file=sys.stderr)
    whats = dict.fromkeys(what for what, _ in costs)
    return {what: [costs[what, before], costs[what, HERE]] for what in whats}


def lines(costs: dict[str, list[list[Cost]]]) -> list[str]:
    """Return the medians of each command, and their ratios."""
    text = []
    for what, both in costs.items():
        for kind in ("wall", "processor"):
            before, after = (
                statistics.median(getattr(cost, kind) for cost in each) for each in both
            )
            text.append(
                f"{what:16} {kind:10} before {before:7.2f} s   after {after:7.2f} s   "
                f"ratio {after / before:.2f}"
            )
    return text


def main(arguments: Sequence[str]) -> None:
    """Measure as the command line says, and print the table."""
    parser = argparse.ArgumentParser(description="Two checkouts, side by side")
    parser.add_argument("before", type=Path, help="the other checkout's folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=60, help="submissions of a class")
    options = parser.parse_args(arguments)
    load = os.getloadavg()
    costs = measure(options.before.resolve(), options.rounds, options.count)
    print("\n".join(lines(costs)))
    print(
        f"Medians of {options.rounds} rounds in turns, {JOBS} jobs. Load before and "
        f"after: {load[0]:.1f}, {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
