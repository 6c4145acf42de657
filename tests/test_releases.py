"""Releases: their names in the notebooks, what is kept of them, whose is whose."""

import json

import pytest

from autograder.course import Course, CourseError
from autograder.course.releases import (
    FILE,
    METADATA_KEY,
    Points,
    cell_digest,
    keep_release,
    kept_cells,
    kept_releases,
    known_releases,
    own_release,
    release_name,
    with_release,
)
from autograder.grading.release import load_release
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


def test_cells_of_all_releases_are_kept(tmp_path):
    course = Course(tmp_path)
    for texts in (["x = 1"], ["x = 2", "Text."], ["x = 1\n"]):
        text = with_release(course, LESSON, OLD, texts)
        (tmp_path / FILE).write_text(text)
    keep_release(course, LESSON, NEW)
    assert kept_cells(course) == {*map(cell_digest, ["x = 1", "x = 2", "Text."])}
    assert [*kept_releases(course)] == [LESSON]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"cells": 1}', '{"01": []}', '{"01": {"x": {"a": "b"}}}']
)
def test_damaged_file_is_one_sentence(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(CourseError, match="is damaged: bring it back"):
        kept_releases(Course(tmp_path))


def test_release_with_other_optional_exercises_is_another(tmp_path):
    course = Course(tmp_path)
    before = '{\n "01": {\n  "old": {\n   "a": 1.0\n  }\n }\n}\n'
    (tmp_path / FILE).write_text(before)
    assert kept_releases(course)["01"]["old"].optional == frozenset()
    some = Points(OLD, ["b"])
    for points in (OLD, some, Points(OLD, ["a", "b"]), some):
        keep_release(course, "01", points)
    entries = json.loads((tmp_path / FILE).read_text())["01"]
    assert [*entries.values()] == [
        {"a": 1.0},
        {"a": 1.0, "b": 2.0},
        {"a": 1.0, "b": {"points": 2.0, "optional": True}},
        {
            "a": {"points": 1.0, "optional": True},
            "b": {"points": 2.0, "optional": True},
        },
    ]
    read = kept_releases(course)["01"]
    assert read[release_name(some)] == some != read[release_name(OLD)] == OLD
    assert [each.optional for each in known_releases(course, "01", some).values()][
        -1
    ] == {"b"}


def test_names_of_earlier_releases_are_as_they_were():
    points = {"softmax_by_hand": 5, "normalise_rows": 5.0, "pairwise_sums": 5}
    assert release_name(points) == "5e0a98bc6020"


@pytest.mark.parametrize(
    ("marked", "own"),
    [
        ({}, "newest"),  # as programs save it that leave our metadata out
        ({"a": False, "b": False}, "old"),
        ({"a": False, "b": True}, "newest"),
        ({"a": True, "b": True}, "both"),
        ({"b": False}, "old"),
        ({"a": True, "b": False}, "newest"),  # no release says so
        ({"b": True, "d": True}, "newest"),  # d is of no release
    ],
)
def test_own_release_without_a_name_is_what_its_checks_say(marked, own):
    optional = {"old": "", "both": "ab", "newest": "b"}
    releases = {name: Points(OLD, each) for name, each in optional.items()}
    assert own_release(releases, "", "ab", marked) == own
    for name in releases:
        assert own_release(releases, name, "ab", marked) == name
