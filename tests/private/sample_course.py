"""A course folder with the sample of a private lesson, and what is secret in it."""

import shutil
from pathlib import Path

from autograder.checking.registry import load
from autograder.course import Course

HERE = Course.here()
SAMPLE = Path(__file__).with_name("sample")
LESSON, NAME = "90_exam", "distance_scores"
MARKERS = "marker-of-the-bank", "marker-of-the-reference"
RIGHT = f"""def {NAME}(q, k):
    return -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)
"""
WRONG = RIGHT.replace("return -(", "return (")


def make_course(root: Path) -> Course:
    """Make a course folder that has the private lesson, not yet built."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copytree(SAMPLE, root / "private")
    shutil.copy(HERE.root / "nbgrader_config.py", root)
    shutil.copy(HERE.root / "releases.json", root)
    (root / "tests").symlink_to(HERE.root / "tests")
    return Course(root)


def secrets() -> list[str]:
    """Return what no learner may read of the exercise: texts of bank and reference."""
    exercise = load(NAME)
    texts = [*MARKERS, "course_lib.private", "(difference**2)"]
    texts += [text for case in exercise.cases for text in (case.name, case.claim)]
    for each in exercise.misconceptions:
        texts += [each.name, each.diagnosis, each.question, each.why]
    return texts
