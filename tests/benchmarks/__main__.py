"""``make bench``: run the benchmarks, print their tables, write build/bench.json.

``python -m tests.benchmarks grading`` runs one of them alone. The file holds the
figures of one run, whatever was run. With ``--quick`` all sizes are small: that shows
in two minutes whether everything runs, and its figures are worth nothing, so none are
written.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Protocol

from rich.console import Console
from rich.table import Table

from autograder.course import Course, write_atomically
from tests.benchmarks import (
    bench_bpe,
    bench_check,
    bench_flash,
    bench_gradebook,
    bench_grading,
    bench_layers,
    bench_models,
    bench_nbgrader,
    bench_nn,
    bench_page,
    bench_readers,
    bench_scale,
    bench_term,
    bench_views,
)
from tests.benchmarks.figure import Figure


class Measure(Protocol):
    """One benchmark."""

    def __call__(self, course: Course, *, quick: bool) -> list[Figure]:
        """Measure; quick: with small sizes."""


BENCHMARKS: dict[str, Measure] = {
    "check": bench_check.measure,
    "grading": bench_grading.measure,
    "nbgrader": bench_nbgrader.measure,
    "gradebook": bench_gradebook.measure,
    "scale": bench_scale.measure,
    "term": bench_term.measure,
    "bpe": bench_bpe.measure,
    "nn": bench_nn.measure,
    "layers": bench_layers.measure,
    "flash": bench_flash.measure,
    "views": bench_views.measure,
    "models": bench_models.measure,
    "page": bench_page.measure,
    "readers": bench_readers.measure,
}
QUICK = "--quick"
WIDTH = 110  # of the tables where no terminal says it


def main(arguments: Sequence[str]) -> None:
    quick = QUICK in arguments
    names = [each for each in arguments if each != QUICK]
    if unknown := {*names} - {*BENCHMARKS}:
        known = ", ".join(BENCHMARKS)
        raise SystemExit(f"no benchmark {min(unknown)!r}; there are {known}")
    course = Course.here()
    path = course.root / "build" / "bench.json"
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    written = []
    for name in names or BENCHMARKS:
        figures = _measured(course, name, quick)
        console.print(_table(name, figures))
        written += [{"benchmark": name} | asdict(figure) for figure in figures]
        if not quick:
            text = json.dumps(written, indent=1, ensure_ascii=False)
            write_atomically(path, text + "\n")
    print("quick: nothing written" if quick else f"written: {course.relative(path)}")


def _measured(course: Course, name: str, quick: bool) -> list[Figure]:
    before = Figure("load of the machine before", os.getloadavg()[0], "")
    start = perf_counter()
    figures = BENCHMARKS[name](course, quick=quick)
    took = Figure("seconds that this took", perf_counter() - start, "s")
    return [before, *figures, took]


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
