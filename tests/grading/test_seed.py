"""The course's seed: made once, for its owner's eyes, whole at every moment."""

import os
import stat
import subprocess
import sys

import pytest

from autograder.course import Course, CourseError
from autograder.grading.identity import SEED_FILE, course_seed


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_the_seed_is_made_once_and_stays(course):
    first = course_seed(course)
    assert course_seed(course) == first
    assert first.bit_length() > 64
    assert names(course.root) == [SEED_FILE]


def test_two_courses_have_different_seeds(tmp_path):
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
    assert len({course_seed(Course(place)) for place in places}) == 2


def test_only_the_owner_can_read_the_seed_whatever_the_umask_is(course):
    before = os.umask(0)
    try:
        course_seed(course)
    finally:
        os.umask(before)
    assert stat.S_IMODE((course.root / SEED_FILE).stat().st_mode) == 0o600


def test_two_processes_that_make_it_at_once_agree(tmp_path):
    script = (
        "import sys, pathlib, time\n"
        "from autograder.course import Course\n"
        "from autograder.grading.identity import course_seed\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print(course_seed(Course(pathlib.Path(sys.argv[1]))))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    assert [each.stdout.readline() for each in both] == ["ready\n"] * 2
    for each in both:
        each.stdin.write("\n")
        each.stdin.flush()
    told = [each.communicate(timeout=60)[0] for each in both]
    assert told[0] == told[1] == f"{course_seed(Course(tmp_path))}\n"
    assert names(tmp_path) == [SEED_FILE]


def test_the_seed_of_a_quicker_process_stands(course, monkeypatch):
    """Another process makes the file between our look and our link."""
    link = os.link

    def late(name, path):
        (course.root / SEED_FILE).write_text(f"{255:032x}\n")
        link(name, path)

    monkeypatch.setattr(os, "link", late)
    assert course_seed(course) == 255
    assert names(course.root) == [SEED_FILE]


@pytest.mark.parametrize(
    "text",
    ["", "\n", "no seed", "12 34", "é", "\x00", "-5", "0x" + "0" * 30, "ab", "a" * 33],
)
def test_a_damaged_seed_is_refused_and_left_as_it_is(course, text):
    """A part of a seed is damaged, too: other inputs, other grades."""
    path = course.root / SEED_FILE
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=r"holds no seed.*backup") as caught:
        course_seed(course)
    assert "\n" not in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


def test_a_folder_in_its_place_is_refused(course):
    (course.root / SEED_FILE).mkdir()
    with pytest.raises(CourseError, match=f"{SEED_FILE} cannot be read"):
        course_seed(course)


def test_a_link_that_leads_nowhere_is_refused_and_not_followed(course):
    (course.root / SEED_FILE).symlink_to(course.root / "elsewhere")
    with pytest.raises(CourseError, match=f"{SEED_FILE} cannot be read"):
        course_seed(course)
    assert not (course.root / "elsewhere").exists()


def test_a_folder_that_takes_no_file_is_named_and_nothing_is_left(course, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(CourseError, match=r"cannot be made \(No space left"):
        course_seed(course)
    assert names(course.root) == []
