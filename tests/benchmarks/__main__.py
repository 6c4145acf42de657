"""``make bench``: run the benchmarks, print their tables, write build/bench.json.

``python -m tests.benchmarks grading`` runs one of them alone. The file holds the
figures of one run, whatever was run.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from autograder.course import Course, write_atomically
from tests.benchmarks import bench_check, bench_grading
from tests.benchmarks.figure import Figure

BENCHMARKS: dict[str, Callable[[Course], list[Figure]]] = {
    "check": bench_check.measure,
    "grading": bench_grading.measure,
}
WIDTH = 110  # of the tables where no terminal says it


def main(names: Sequence[str]) -> None:
    if unknown := {*names} - {*BENCHMARKS}:
        known = ", ".join(BENCHMARKS)
        raise SystemExit(f"no benchmark {min(unknown)!r}; there are {known}")
    course = Course.here()
    path = course.root / "build" / "bench.json"
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    written = []
    for name in names or BENCHMARKS:
        before = Figure("load of the machine before", _load(), "")
        figures = [before, *BENCHMARKS[name](course)]
        console.print(_table(name, figures))
        written += [{"benchmark": name} | asdict(figure) for figure in figures]
        write_atomically(path, json.dumps(written, indent=1, ensure_ascii=False) + "\n")
    print(f"written: {course.relative(path)}")


def _load() -> float:
    return os.getloadavg()[0]


def _table(name: str, figures: Sequence[Figure]) -> Table:
    table = Table("figure", "value", "unit", "beside", "its value", "ratio", title=name)
    for f in figures:
        numbers = _short(f.value), f.unit, f.peer, _short(f.peer_value)
        table.add_row(f.name, *numbers, _short(f.ratio))
    return table


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.3g}"


if __name__ == "__main__":
    main(sys.argv[1:])
