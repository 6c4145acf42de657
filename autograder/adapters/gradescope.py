"""Gradescope: a zip file with ``setup.sh`` and ``run_autograder``.

The formats are those of https://gradescope-autograders.readthedocs.io/en/latest/specs/
and https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/ .
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.adapters.editions import Files, zip_of
from autograder.adapters.judging import Judged, judge_below
from autograder.adapters.package import LaidOut, Package, installing
from autograder.adapters.writing import page_of, put, write_result
from autograder.grading.budget import Budget

KEEPS_SEED = True
ROOT = Path("/autograder")
SOURCE, SUBMISSION, RESULTS = "source", "submission", "results"
RESULT, METADATA, ZIP = "results.json", "submission_metadata.json", "autograder.zip"
MAX_METADATA_BYTES = 10_000_000  # it holds the results of earlier submissions
BUDGET = Budget(submission=120.0)  # tried twice, within the 10 minutes of a container

SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the container's image.
set -euo pipefail
apt-get install -y bubblewrap || echo "without bubblewrap"
python=
for name in python3.13 python3.12 python3.11 python3; do
    if "$name" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'; then
        python=$name
        break
    fi
done 2>/dev/null
if [ -n "$python" ]; then
    "$python" -m venv {root}/environment
else  # the image's Python is older than the course's: get one for all users to read
    python3 -m pip install uv
    export UV_PYTHON_INSTALL_DIR=/opt/python
    python3 -m uv venv --seed --python 3.12 {root}/environment
fi
{install}
chmod -R go-rwx {root}/source
"""
RUN = """#!/usr/bin/env bash
exec {root}/environment/bin/python -m autograder.adapters gradescope
"""
ON_TOP = "come on top: a score may be above the assignment's points"


def files(package: Package, wheel: Files) -> Files:
    """Return the zip file and the page."""
    root = ROOT.as_posix()
    install = "\n".join(installing(package, f"{root}/environment", f"{root}/source"))
    setup = SETUP.format(root=root, install=install)
    parts = {
        "setup.sh": setup.encode(),
        "run_autograder": RUN.format(root=root).encode(),
    }
    on_top = package.optional == "extra"
    words = {"optional": ON_TOP} if on_top else {}
    return {ZIP: zip_of({**parts, **wheel}), "README.md": page_of(package, **words)}


def lay_out(folder: Path, made: Path, notebooks: Sequence[Path]) -> LaidOut:
    """Unpack the zip file into ``source``, as Gradescope does."""
    shutil.unpack_archive(made / ZIP, folder / SOURCE)
    put(notebooks, folder / SUBMISSION)
    (folder / RESULTS).mkdir()
    return LaidOut(["--root", str(folder)], folder / RESULTS / RESULT)


def run(arguments: Sequence[str]) -> int:
    """Judge what lies below the root; return 0 if a result is written."""
    folders = SOURCE, SUBMISSION, RESULTS
    root, verdict = judge_below(ROOT, folders, arguments, BUDGET)
    code = write_result(root / RESULTS / RESULT, result(verdict))
    notes = [*verdict.notes, *about_points(root / METADATA, verdict)]
    print("\n".join(["For instructors:", *notes] if notes else ["Nothing to look at."]))
    return code


def result(verdict: Judged) -> dict[str, Any]:
    """Return Gradescope's result.

    Points on top are extra credit: the exercise's maximum is 0 then.
    """
    return {
        "score": verdict.points,
        "execution_time": verdict.seconds,
        "output": verdict.text,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": f"{row.name} (optional, on top)" if row.on_top else row.name,
                "score": row.points,
                "max_score": 0.0 if row.on_top else row.max_points,
                "status": "passed" if row.solved else "failed",
                "output": row.report,
                "visibility": "visible",
            }
            for row in verdict.rows
        ],
    }


def about_points(path: Path, verdict: Judged) -> list[str]:
    """Return what the assignment's settings, which Gradescope hands over, should be."""
    try:
        if path.stat().st_size > MAX_METADATA_BYTES:
            raise ValueError
        data = json.loads(path.read_text(encoding="utf-8"))
        total = float(data["assignment"]["total_points"])
    except (OSError, ValueError, LookupError, TypeError):
        return [f"{METADATA} does not say how many points the assignment has."]
    if verdict.problem or total == verdict.max_points:
        return []
    return [
        f"The assignment has {total:g} points, and the lesson {verdict.max_points:g}: "
        "set the assignment's."
    ]
