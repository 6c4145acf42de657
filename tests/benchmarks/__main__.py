"""``make bench``: run all benchmarks, print the table, write build/bench.json."""

import json
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from autograder.course import Course, write_atomically
from tests.benchmarks import bench_check


def main() -> None:
    course = Course.here()
    figures = bench_check.measure(course)
    path = course.root / "build" / "bench.json"
    write_atomically(path, json.dumps([asdict(f) for f in figures], indent=1) + "\n")
    table = Table("figure", "value", "unit", "beside", "its value", "ratio")
    for f in figures:
        numbers = f"{f.value:.3g}", f.unit, f.peer, f"{f.peer_value:.4g}"
        table.add_row(f.name, *numbers, f"{f.ratio:.3g}")
    Console().print(table)
    print(f"written: {course.relative(path)}")


if __name__ == "__main__":
    main()
