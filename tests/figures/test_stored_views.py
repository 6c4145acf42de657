"""The lessons' stored outputs have the scripts of today."""

import json

import pytest

from autograder.course import Course
from tests.figures.stored_views import of_today, outputs

COURSE = Course.here()


@pytest.mark.parametrize("lesson", COURSE.built_lessons)
def test_stored_figures_have_the_scripts_of_today(lesson):
    notebook = json.loads(COURSE.teacher(lesson).read_text(encoding="utf-8"))
    stored = ["".join(data["text/html"]) for data in outputs(notebook)]
    older = [html[:80] for html in stored if html != of_today(html)]
    assert older == [], "run python -m tests.figures.stored_views"
