"""GitHub Classroom: a workflow whose result its own reporter takes.

The formats are those of
https://github.com/classroom-resources/autograding-grading-reporter and
https://docs.github.com/en/education/manage-coursework-with-github-classroom/teach-with-github-classroom/use-autograding .
"""  # noqa: E501 - an address

import argparse
import base64
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.adapters.editions import Files
from autograder.adapters.judging import Judged, Row, judge
from autograder.adapters.package import REQUIREMENTS, LaidOut, Package
from autograder.adapters.writing import in_markdown, page_of, put, shortened
from autograder.grading.budget import Budget

KEEPS_SEED = False  # the repository is the student's
WORKFLOW, HERE = ".github/workflows/classroom.yml", ".github/attention-course"
VERSION, STEP = 1, "judge"
MAX_REPORT = 4_000  # characters: an output of a step holds 1 MB in all
BUDGET = Budget(submission=120.0)  # tried twice

YAML = """name: Autograding Tests
on:
  - push
  - workflow_dispatch
  - repository_dispatch
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  run-autograding-tests:
    runs-on: ubuntu-latest
    if: github.actor != 'github-classroom[bot]'
    steps:
      - name: Checkout code
        uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install the judge of {lesson}
        run: |
          sudo apt-get install --yes bubblewrap || echo "without bubblewrap"
          python -m venv "$RUNNER_TEMP/environment"
          pip="$RUNNER_TEMP/environment/bin/python -m pip install --quiet"
          $pip --requirement {here}/{requirements}
          $pip --no-deps {here}/{wheel}
      - name: Judge the notebook
        id: {step}
        run: >-
          sudo --preserve-env=GITHUB_OUTPUT,GITHUB_STEP_SUMMARY
          "$RUNNER_TEMP/environment/bin/python" -m autograder.adapters github
      - name: Autograding Reporter
        uses: classroom-resources/autograding-grading-reporter@v1
        env:
          {variable}: "${{{{ steps.{step}.outputs.result }}}}"
        with:
          runners: {step}
"""


def files(package: Package, wheel: Files) -> Files:
    """Return what a template repository needs, and the page."""
    workflow = YAML.format(
        lesson=package.lesson,
        here=HERE,
        requirements=REQUIREMENTS,
        wheel=package.wheel,
        step=STEP,
        variable=f"{STEP.upper()}_RESULTS",
    )
    return {
        f"repository/{WORKFLOW}": workflow.encode(),
        **{f"repository/{HERE}/{name}": text for name, text in wheel.items()},
        "README.md": page_of(package),
    }


def lay_out(folder: Path, made: Path, notebooks: Sequence[Path]) -> LaidOut:
    """Make a checkout of a repository with a submission."""
    shutil.copytree(made / "repository", folder / "checkout")
    put(notebooks, folder / "checkout")
    output = folder / "output"
    paths = ["--checkout", f"{folder}/checkout", "--output", str(output)]
    return LaidOut(paths, output)


def run(arguments: Sequence[str]) -> int:
    """Judge a checkout; return 0 if there is a result, which the reporter reads."""
    parser = argparse.ArgumentParser("github")
    parser.add_argument("--checkout", type=Path, default=Path())
    parser.add_argument("--output", default=os.environ.get("GITHUB_OUTPUT", ""))
    options = parser.parse_args(arguments)
    checkout = options.checkout
    verdict = judge(checkout / HERE, checkout, checkout, BUDGET)
    page = in_markdown(verdict)
    print("\n".join(f"  {row}" for row in page.splitlines()))  # no row is a command
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        _append(Path(summary), page)
    if not options.output:
        print("GITHUB_OUTPUT names no file: the result is lost")
        return 1
    encoded = base64.b64encode(json.dumps(result(verdict)).encode()).decode()
    _append(Path(options.output), f"result={encoded}\n")
    return 0


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def result(verdict: Judged) -> dict[str, Any]:
    """Return the reporter's result; optional exercises are worth nothing in it."""
    if verdict.problem:
        sentence = shortened(verdict.text, MAX_REPORT)
        test = {
            "name": "notebook",
            "status": "error",
            "score": 0.0,
            "message": sentence,
        }
        test |= {"test_code": "", "line_no": 0}
        return _document("error", verdict.out_of, [test])
    status = "pass" if verdict.is_solved else "fail"
    return _document(status, verdict.max_points, [*map(_test, verdict.rows)])


def _document(status: str, most: float, tests: list[dict[str, Any]]) -> dict[str, Any]:
    return {"version": VERSION, "status": status, "max_score": most, "tests": tests}


def _test(row: Row) -> dict[str, Any]:
    worth = f" (optional, {row.points:g} of {row.max_points:g} points, not counted)"
    return {
        "name": f"{row.name}{worth if row.on_top else ''}",
        "status": "pass" if row.solved else "fail",
        "score": 0.0 if row.on_top else row.points,
        "message": shortened(row.report, MAX_REPORT),
        "test_code": f"check({row.name})",
        "line_no": 0,
    }
