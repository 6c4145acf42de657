"""Classroom 50: an ``autograder.py`` with its bundle, for one assignment.

The contract is that of
https://github.com/foundation50/classroom50/wiki/Advanced-Autograding .
"""

import argparse
import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.adapters.editions import Files
from autograder.adapters.judging import Judged, Row, judge
from autograder.adapters.package import REQUIREMENTS, LaidOut, Package
from autograder.adapters.writing import (
    give_back,
    in_markdown,
    page_of,
    put,
    write_result,
)
from autograder.course import write_atomically
from autograder.grading.budget import Budget

KEEPS_SEED = False  # the bundle is published on GitHub Pages
SCHEMA = "classroom50/result/v1"
RESULT, BODY = "result.json", "release-body.md"
MAX_BUNDLE_BYTES = 10 << 20
UNITS = 4  # scores are whole numbers, and the course has quarters of a point
BUDGET = Budget(submission=120.0)  # tried twice
# Of the result, from the environment.
FIELDS = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
OR_ELSE = {"owner": "USERNAME", "review": "COMMIT_URL"}

AUTOGRADER = '''"""Judges {lesson}: installs the course beside this file, and calls it.

Classroom 50 runs it in the student's checkout. As root, by ``sudo``, a submission gets
namespaces of its own where an ordinary user may make none.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = HERE / "environment" / "bin" / "python"
PIP = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
sudo = []
if os.geteuid() and shutil.which("sudo"):
    can = subprocess.run(["sudo", "-n", "true"], check=False).returncode == 0
    sudo = ["sudo", "-n", "--preserve-env"] if can else []
if not shutil.which("bwrap"):
    subprocess.run([*sudo, "apt-get", "install", "--yes", "bubblewrap"], check=False)
if not PYTHON.exists():
    subprocess.run([sys.executable, "-m", "venv", HERE / "environment"], check=True)
    subprocess.run([*PIP, "--requirement", HERE / "{requirements}"], check=True)
    subprocess.run([*PIP, "--no-deps", HERE / "{wheel}"], check=True)
judge = [PYTHON, "-m", "autograder.adapters", "classroom50", "--package", HERE]
sys.exit(subprocess.run([*sudo, *judge], check=False).returncode)
'''


def files(package: Package, wheel: Files) -> Files:
    """Return the assignment's folder of autograders and the page."""
    text = AUTOGRADER.format(
        lesson=package.lesson, requirements=REQUIREMENTS, wheel=package.wheel
    )
    folder = f"autograders/{package.slug}"
    return {
        f"{folder}/autograder.py": text.encode(),
        **{f"{folder}/{name}": content for name, content in wheel.items()},
        "README.md": page_of(package, units=f"{package.points * UNITS:g}"),
    }


def lay_out(folder: Path, made: Path, notebooks: Sequence[Path]) -> LaidOut:
    """Put the bundle, and a checkout with a submission, side by side."""
    (bundle,) = (made / "autograders").iterdir()
    shutil.copytree(bundle, folder / "bundle")
    put(notebooks, folder / "checkout")
    paths = ["--package", f"{folder}/bundle", "--checkout", f"{folder}/checkout"]
    return LaidOut(paths, folder / "checkout" / RESULT)


def run(arguments: Sequence[str]) -> int:
    """Judge a checkout; return 1 for a fault that is not the student's."""
    parser = argparse.ArgumentParser("classroom50")
    parser.add_argument("--package", type=Path, required=True)
    parser.add_argument("--checkout", type=Path, default=Path())
    options = parser.parse_args(arguments)
    verdict = judge(options.package, options.checkout, options.checkout, BUDGET)
    code = write_result(options.checkout / RESULT, result(verdict, os.environ))
    write_atomically(options.checkout / BODY, in_markdown(verdict))
    give_back(options.checkout / BODY)
    print(verdict.problem or f"{verdict.required_points:g} of {verdict.out_of:g}")
    return code or int(verdict.is_fault)


def result(verdict: Judged, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return Classroom 50's result, where optional exercises are worth nothing."""
    tests = [*map(_test, verdict.rows)]
    if verdict.problem:
        most = round(verdict.out_of * UNITS)
        tests = [_entry("notebook", False, 0, most, verdict.text)]
    fields = {
        field: environment.get(name) or environment.get(OR_ELSE.get(field, ""), "")
        for field, name in FIELDS.items()
    }
    return {
        "schema": SCHEMA,
        **fields,
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def _test(row: Row) -> dict[str, Any]:
    if row.on_top:
        worth = f"{row.points:g} of {row.max_points:g} points"
        name = f"{row.name} (optional, {worth}, not counted)"
        return _entry(name, row.solved, 0, 0, row.report)
    most = round(row.max_points * UNITS)
    return _entry(row.name, row.solved, round(row.points * UNITS), most, row.report)


def _entry(
    name: str, passed: bool, score: int, most: int, report: str
) -> dict[str, Any]:
    return {
        "test-name": name,
        "passed": passed,
        "score": score,
        "max-score": most,
        "report": report,
    }
