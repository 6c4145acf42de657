"""What the README shows is what the course does."""

import re

import numpy as np

from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.matrix import judge_function
from autograder.checking.registry import exercises_of, load
from autograder.course import Course
from autograder.messages.report import CheckReport
from course_lib.figures.cover import cover

ROOT = Course.here().root
README = (ROOT / "README.md").read_text(encoding="utf-8")


def message():
    exercise = load("scaled_scores")
    visible = [case for case in exercise.cases if case.visible]

    def scaled_scores(q, k):
        return q @ np.swapaxes(k, -1, -2)

    result = judge_function(exercise, scaled_scores, visible, NOTEBOOK_SEED)
    return str(CheckReport(exercise, result))


def test_the_message_in_the_readme_is_the_real_one():
    block = re.search(r"```text\n(.*?)```", README, re.DOTALL)[1]
    assert block == message() + "\n"


def without_numbers(svg):
    """Leave out glyphs' numbers: a system's own copy of the font has others."""
    return re.sub(r"DejaVuSans-[0-9a-f]+", "DejaVuSans", svg)


def test_the_cover_is_the_picture_that_the_course_draws():
    assert without_numbers((ROOT / "cover.svg").read_text("utf-8")) == without_numbers(
        cover().svg()
    )
    assert cover().alt in README


def test_the_table_of_lessons_counts_the_exercises():
    rows = dict(re.findall(r"^\| `(\d\d_\w+)` \|.*\| (\d+) \|$", README, re.MULTILINE))
    assert list(rows) == Course.here().lessons
    assert {name: int(n) for name, n in rows.items()} == {
        name: len(exercises_of(name)) for name in rows
    }


def test_every_make_target_that_the_readme_names_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:^|`)make (\w+)", README, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
