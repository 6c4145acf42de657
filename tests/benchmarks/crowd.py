"""Classes of any size for the benchmarks: the same mix in each, no two answers alike.

Ten students of the demo's class hand in, over and over, each time with another name in
a comment: what is alike would be judged once.
"""

import json
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.demo.sample_class import LESSON, answered_notebook
from tests.benchmarks import sample

KINDS = 10
NAME = "student-number"  # stands in the text where the name is to be


def crowd_folder(course: Course, folder: Path, count: int, turn: int = 0) -> Course:
    """Make a course folder with so many submissions.

    turn : which of the ten students is the first; they are graded in this order
    """
    made = sample.class_folder(course, folder, [])
    learner = nbformat.read(course.learner(LESSON), as_version=4)
    kinds = [
        json.dumps(answered_notebook(learner, sample.named(student, NAME)), indent=1)
        for student in sample.once()[:KINDS]
    ]
    for number in range(count):
        name = f"s{number:05}"
        path = folder / "submitted" / name / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        text = kinds[(number + turn) % KINDS].replace(NAME, name)
        path.write_text(text, encoding="utf-8")
    return made
