"""PrairieLearn: a question that is graded externally, and the image that grades it.

The formats are those of https://prairielearn.readthedocs.io/en/latest/externalGrading/
and https://prairielearn.readthedocs.io/en/latest/question/ .
"""

import json
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.adapters.editions import Files
from autograder.adapters.judging import Judged, judge_below
from autograder.adapters.package import (
    REQUIREMENTS,
    LaidOut,
    Package,
    installing,
)
from autograder.adapters.writing import page_of, put, shortened, write_result
from autograder.grading.budget import Budget

KEEPS_SEED = True  # /grade/tests is on no student's page
ROOT = Path("/grade")
TESTS, STUDENT, RESULTS, RESULT = "tests", "student", "results", "results.json"
MAX_RESULT_BYTES = 1_000_000  # "limited to 1 MB"
MAX_TEXT = 3_000  # characters of a report, where the result would be larger than that
TIMEOUT = 300  # seconds; PrairieLearn allows 600
BUDGET = Budget(submission=100.0)  # tried twice
ENVIRONMENT, HERE = "/opt/attention/environment", "/opt/attention/package"

DOCKERFILE = """# Grades {lesson} in PrairieLearn; the seed of the inputs is not in it.
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap \\
    && rm -rf /var/lib/apt/lists/*
COPY {wheel} {requirements} {here}/
RUN python -m venv {environment} \\
    && {install}
"""
JUDGE = """#!/bin/sh
exec {environment}/bin/python -m autograder.adapters prairielearn
"""
QUESTION = """<pl-question-panel>
  <p>Hand in <code>{lesson}.ipynb</code>, the notebook that you have worked in.</p>
  <pl-file-upload file-names="{lesson}.ipynb"></pl-file-upload>
</pl-question-panel>
<pl-submission-panel>
  <pl-external-grader-results></pl-external-grader-results>
</pl-submission-panel>
"""


def files(package: Package, wheel: Files) -> Files:
    """Return the question, the image's folder and the page."""
    install = " \\\n    && ".join(installing(package, ENVIRONMENT, HERE))
    dockerfile = DOCKERFILE.format(
        lesson=package.lesson,
        wheel=package.wheel,
        requirements=REQUIREMENTS,
        here=HERE,
        environment=ENVIRONMENT,
        install=install,
    )
    in_image = {name: wheel[name] for name in (package.wheel, REQUIREMENTS)}
    tests = {name: text for name, text in wheel.items() if name not in in_image}
    tests["judge.sh"] = JUDGE.format(environment=ENVIRONMENT).encode()
    question = f"questions/{package.slug}"
    return {
        "image/Dockerfile": dockerfile.encode(),
        **{f"image/{name}": text for name, text in in_image.items()},
        f"{question}/info.json": f"{json.dumps(info(package), indent=2)}\n".encode(),
        f"{question}/question.html": QUESTION.format(lesson=package.lesson).encode(),
        **{f"{question}/{TESTS}/{name}": text for name, text in tests.items()},
        "README.md": page_of(package, image=image(package)),
    }


def info(package: Package) -> dict[str, Any]:
    """Return the question's settings."""
    name = f"urn:attention-course:{package.lesson}:{package.release}"
    return {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "title": package.title,
        "topic": "Attention and Transformers",
        "type": "v3",
        "gradingMethod": "External",
        "singleVariant": True,
        "externalGradingOptions": {
            "enabled": True,
            "image": image(package),
            "entrypoint": f"{ROOT}/{TESTS}/judge.sh",
            "timeout": TIMEOUT,
            "enableNetworking": False,
        },
    }


def image(package: Package) -> str:
    """Return the image's name, which an instructor replaces by a registry's."""
    return f"attention-course-{package.lesson[:2]}"


def lay_out(folder: Path, made: Path, notebooks: Sequence[Path]) -> LaidOut:
    """Put the question's tests and the student's files below the root."""
    (question,) = (made / "questions").iterdir()
    shutil.copytree(question / TESTS, folder / TESTS)
    put(notebooks, folder / STUDENT)
    return LaidOut(["--root", str(folder)], folder / RESULTS / RESULT)


def run(arguments: Sequence[str]) -> int:
    """Judge what lies below the root; return 0 if a result is written."""
    folders = TESTS, STUDENT, RESULTS
    root, verdict = judge_below(ROOT, folders, arguments, BUDGET)
    return write_result(root / RESULTS / RESULT, result(verdict))


def result(verdict: Judged) -> dict[str, Any]:
    """Return PrairieLearn's result, which is never too large for it."""
    whole = _result(verdict, None)
    is_small = len(json.dumps(whole, indent=1)) < MAX_RESULT_BYTES
    return whole if is_small else _result(verdict, MAX_TEXT)


def _result(verdict: Judged, limit: int | None) -> dict[str, Any]:
    def text(words: str) -> str:
        return words if limit is None else shortened(words, limit)

    if verdict.problem:  # costs no attempt
        sentence = text(verdict.text)
        return {"gradable": False, "message": sentence, "format_errors": [sentence]}
    share = verdict.required_points / verdict.max_points if verdict.max_points else 0.0
    tests: list[dict[str, Any]] = []
    for row in verdict.rows:
        test: dict[str, Any] = {"name": row.name, "output": text(row.report)}
        if row.on_top:
            worth = f"{row.points:g} of {row.max_points:g} points, not in the score"
            test |= {"description": f"Optional: {worth}"}
        else:
            test |= {"points": row.points, "max_points": row.max_points}
        tests.append(test)
    return {
        "gradable": True,
        "score": min(1.0, round(share, 6)),
        "message": text(verdict.text),
        "tests": tests,
    }
