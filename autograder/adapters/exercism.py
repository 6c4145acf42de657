"""Exercism: a test runner, an image that judges one exercise of a track.

The formats are those of
https://exercism.org/docs/building/tooling/test-runners/interface and
https://exercism.org/docs/building/tooling/test-runners/docker .
"""

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.adapters.editions import Files
from autograder.adapters.judging import Judged, Row, judge
from autograder.adapters.package import LaidOut, Package, installing
from autograder.adapters.writing import page_of, put, shortened, write_result
from autograder.course import CourseError
from autograder.grading.budget import Budget

KEEPS_SEED = False  # test runners are public
HERE = Path("/opt/test-runner")
RESULT, VERSION, DOCS = "results.json", 3, ".docs"
MAX_MESSAGE = 65_535  # of bytes: a fourth of it, in characters, is always less
MAX_OUTPUT = 500  # characters
# Of the 20 seconds some 5 go to the start; the rest is enough to try twice.
BUDGET = Budget(call=1.0, cell=2.0, cells=4.0, submission=6.0)

DOCKERFILE = """# Judges {lesson}. Inputs are drawn for each submission.
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap \\
    && rm -rf /var/lib/apt/lists/*
WORKDIR {here}
COPY . {here}
RUN python -m venv {here}/environment \\
    && {install}
ENTRYPOINT ["{here}/bin/run.sh"]
"""
RUN = """#!/bin/sh
exec {here}/environment/bin/python -m autograder.adapters exercism "$@"
"""


def files(package: Package, wheel: Files) -> Files:
    """Return the test runner, the exercise's instructions and the page."""
    here = HERE.as_posix()
    install = " \\\n    && ".join(installing(package, f"{here}/environment", here))
    dockerfile = DOCKERFILE.format(lesson=package.lesson, here=here, install=install)
    tasks = [f"## {n}. {name}" for n, name in enumerate(package.exercises, 1)]
    hand_in = f"Write these functions into `{package.lesson}.ipynb`, and hand it in."
    instructions = "\n\n".join(["# Instructions", hand_in, *tasks])
    exercise = f"exercises/practice/{package.slug}/{DOCS}/instructions.md"
    return {
        "test-runner/Dockerfile": dockerfile.encode(),
        "test-runner/bin/run.sh": RUN.format(here=here).encode(),
        **{f"test-runner/{name}": text for name, text in wheel.items()},
        exercise: f"{instructions}\n".encode(),
        "README.md": page_of(package),
    }


def lay_out(folder: Path, made: Path, notebooks: Sequence[Path]) -> LaidOut:
    """Put the test runner, a solution and an output folder side by side."""
    shutil.copytree(made / "test-runner", folder / "test-runner")
    put(notebooks, folder / "solution")
    (folder / "output").mkdir()
    slug = Package.read(folder / "test-runner").slug
    paths = [f"{folder}/solution/", f"{folder}/output/"]
    package = ["--package", str(folder / "test-runner")]
    return LaidOut([slug, *paths, *package], folder / "output" / RESULT)


def run(arguments: Sequence[str]) -> int:
    """Judge a solution; return 0 if a result is written, whatever it says."""
    parser = argparse.ArgumentParser("exercism")
    parser.add_argument("slug")
    parser.add_argument("solution", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--package", type=Path, default=HERE)
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    if other := _other_exercise(options.package, options.slug):
        verdict = Judged("", problem=other, is_fault=True)
    else:
        verdict = judge(options.package, options.solution, options.output, BUDGET)
    return write_result(options.output / RESULT, result(verdict))


def _other_exercise(folder: Path, slug: str) -> str:
    try:
        own = Package.read(folder).slug
    except CourseError:
        return ""  # said by the judge
    return "" if slug == own else f"This test runner judges {own}, and not {slug[:80]}."


def result(verdict: Judged) -> dict[str, Any]:
    """Return Exercism's result. It knows no points: an exercise is solved or not.

    What is optional stands in it once it is solved, since one test that fails would
    fail all of them.
    """
    if verdict.problem:
        sentence = shortened(verdict.text, MAX_MESSAGE // 4)
        return {"version": VERSION, "status": "error", "message": sentence, "tests": []}
    rows = [row for row in verdict.rows if row.solved or not row.on_top]
    failed = [index for index, row in enumerate(rows) if not row.solved]
    if failed and verdict.text:  # the first failure is what a student is shown
        first = rows[failed[0]]
        report = f"{first.report}\n\n{verdict.text}"
        rows[failed[0]] = replace(first, report=report)
    status = "pass" if verdict.is_solved else "fail"
    tests = [*map(_test, rows)]
    return {"version": VERSION, "status": status, "tests": tests}


def _test(row: Row) -> dict[str, Any]:
    test = {
        "name": row.name,
        "status": "pass" if row.solved else "fail",
        "message": None if row.solved else shortened(row.report, MAX_MESSAGE // 4),
        "test_code": f"check({row.name})",
        "task_id": row.number,
    }
    if row.open_fine_point:
        test["output"] = shortened(row.report, MAX_OUTPUT)
    return test
