"""Grade the honest corpus on a busy machine, again and again: is every result the same?

    python -m tests.honest [--busy 8] [--rounds 3]

Prints for each round how many submissions have full marks, and which results differ in
a byte from the first round's. Exits with 1 if one lacks a point or differs.
"""

import argparse
import contextlib
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.grading.engines import engine_of
from tests.honest import cases
from tests.submissions import COURSE, MAX_POINTS, Submission


def spin() -> None:
    """Keep a processor busy until killed."""
    while True:
        pass


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep processes running beside what follows."""
    processes = [
        multiprocessing.Process(target=spin, daemon=True) for _ in range(count)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()


def graded() -> dict[str, tuple[bool, bytes]]:
    """Return, by case, whether it has full marks and the bytes of its result."""
    results = {}
    with engine_of(COURSE) as engine, tempfile.TemporaryDirectory() as folder:
        for name, build in cases().items():
            submission = Submission()
            build(submission)
            own = Path(folder, name)
            own.mkdir()
            result, _ = engine.grade(submission.write(own, "honest"), "honest")
            is_full = result.status == "graded" and result.points == MAX_POINTS
            results[name] = is_full and not result.flags, result.as_json().encode()
    return results


def main() -> int:
    """Run what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.honest")
    parser.add_argument("--busy", type=int, default=8, help="processes beside it")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    first: dict[str, tuple[bool, bytes]] = {}
    wrong: set[str] = set()
    for number in range(1, arguments.rounds + 1):
        start = time.monotonic()
        with busy(arguments.busy):
            results = graded()
        seconds = time.monotonic() - start
        first = first or results
        short = [name for name, (is_full, _) in results.items() if not is_full]
        other = [name for name, result in results.items() if result != first[name]]
        wrong |= {*short, *other}
        print(
            f"round {number}: {len(results) - len(short)} of {len(results)} in full, "
            f"{len(other)} other results than in round 1, {seconds:.0f} s, "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        for name in dict.fromkeys([*short, *other]):
            print(f"  {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
