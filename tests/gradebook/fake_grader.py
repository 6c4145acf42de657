"""A grader that runs nothing, for nbgrader's commands in a process of their own.

It records each request; a student called ``fault`` it does not grade.
"""

import json
from dataclasses import replace
from pathlib import Path

from autograder.course import CourseError
from autograder.gradebook.autograded import autograded_notebook
from autograder.gradebook.exporters import AutogradeExporter
from tests.gradebook.untrusted import SENTENCE, graded

ASKED = "asked.jsonl"


class FakeGrader:
    def __init__(self, course):
        self.course = course

    def autograded(self, lesson, student, expected):
        folder = self.course.root / "autograded" / student / lesson
        left = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        with (self.course.root / ASKED).open("a") as file:
            file.write(json.dumps([student, list(expected), left]) + "\n")
        if student == "fault":
            raise CourseError("the sandbox cannot start")
        cells, result, outputs = graded(SENTENCE, SENTENCE)
        result = replace(result, student=student)
        return autograded_notebook(self.course, cells, result, outputs)


class FakeExporter(AutogradeExporter):
    def grader(self, course):
        return FakeGrader(course)


def asked(root: Path):
    """Return the requests: student, expected, what was in the folder."""
    return [json.loads(line) for line in (root / ASKED).read_text().splitlines()]
