"""Releases: their names in the notebooks, what is kept of them, whose is whose."""

import json

import pytest

from autograder.course import Course, CourseError
from autograder.grading.release import load_release
from autograder.releases import (
    FILE,
    METADATA_KEY,
    keep_release,
    kept_releases,
    known_releases,
    own_release,
    release_name,
)
from tests.submissions import COURSE, EXERCISES, LESSON

OLD, NEW = {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0, "c": 3.0}
SHORT = {"a": 1.0}
RELEASES = {"old": OLD, "short": SHORT, "new": NEW}


def test_every_notebook_names_a_release_that_is_kept():
    by_lesson = kept_releases(COURSE)
    for lesson in COURSE.lessons:
        points = load_release(COURSE, lesson).points
        for path in (COURSE.teacher(lesson), COURSE.learner(lesson)):
            name = json.loads(path.read_text())["metadata"][METADATA_KEY]
            assert name == release_name(points)
            assert by_lesson[lesson][name] == points
    assert {*load_release(COURSE, LESSON).points} == {*EXERCISES}


@pytest.mark.parametrize(
    ("name", "contained", "own"),
    [
        ("old", "ab", "old"),
        ("old", "", "old"),  # its cells were deleted: nothing is gained
        ("old", "abc", "new"),  # more than it names
        ("new", "a", "new"),
        ("", "ab", "old"),
        ("", "a", "short"),
        ("", "b", "old"),
        ("", "abc", "new"),
        ("", "", "new"),  # nothing is recognised
        ("forged", "abc", "new"),
        ("", "abd", "new"),  # d is of no release
    ],
)
def test_own_release_is_a_known_one(name, contained, own):
    assert own_release(RELEASES, name, contained) == own


def test_keep_release_adds_and_forgets_nothing(tmp_path):
    course = Course(tmp_path)
    assert kept_releases(course) == {}
    keep_release(course, LESSON, OLD)
    keep_release(course, LESSON, NEW)
    keep_release(course, LESSON, OLD)
    keep_release(course, "02", OLD)
    assert [*kept_releases(course)[LESSON].values()] == [OLD, NEW]
    assert [*known_releases(course, LESSON, OLD).values()] == [NEW, OLD]
    assert [*known_releases(course, "03", NEW).values()] == [NEW]


@pytest.mark.parametrize("text", ["", "[]", '{"01": []}', '{"01": {"x": {"a": "b"}}}'])
def test_damaged_file_is_one_sentence(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(CourseError, match="is damaged: bring it back"):
        kept_releases(Course(tmp_path))
