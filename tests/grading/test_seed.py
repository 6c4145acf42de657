"""The course's seed: made once, for its owner's eyes, whole at every moment."""

import os
import stat
import subprocess
import sys

import pytest

from autograder.course import Course, CourseError
from autograder.grading.identity import (
    SEED_BEFORE,
    SEED_FILE,
    course_seed,
    renew_seed,
)


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_seed_is_made_once(course):
    first = course_seed(course)
    assert course_seed(course) == first
    assert first.bit_length() > 64
    assert names(course.root) == [SEED_FILE]


def test_two_courses_have_different_seeds(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    assert len({course_seed(Course(folder)) for folder in folders}) == 2


def test_only_the_owner_can_read_the_seed_with_any_umask(course):
    before = os.umask(0)
    try:
        course_seed(course)
    finally:
        os.umask(before)
    assert stat.S_IMODE((course.root / SEED_FILE).stat().st_mode) == 0o600


def test_renewed_seed_differs_and_the_earlier_one_stays(course):
    seeds = [course_seed(course)]
    for _ in range(3):
        before = (course.root / SEED_FILE).read_text()
        renew_seed(course)
        seeds.append(course_seed(course))
        assert (course.root / SEED_BEFORE).read_text() == before
    assert len({*seeds}) == 4
    assert {*names(course.root)} == {SEED_FILE, SEED_BEFORE}
    for path in course.root.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_damaged_seed_is_not_renewed(course):
    (course.root / SEED_FILE).write_text("no seed")
    with pytest.raises(CourseError, match="holds no seed"):
        renew_seed(course)
    assert names(course.root) == [SEED_FILE]


def test_concurrent_processes_agree_on_the_seed(tmp_path):
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
    outputs = [each.communicate(timeout=60)[0] for each in both]
    assert outputs[0] == outputs[1] == f"{course_seed(Course(tmp_path))}\n"
    assert names(tmp_path) == [SEED_FILE]


def test_seed_of_a_faster_process_is_used(course, monkeypatch):
    # Another process makes the file after we have seen that there is none.
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
def test_damaged_seed_is_refused_and_left_unchanged(course, text):
    # A part of a seed is damaged, too: other inputs, other grades.
    path = course.root / SEED_FILE
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=r"holds no seed.*backup") as caught:
        course_seed(course)
    assert "\n" not in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


def test_folder_instead_of_the_seed_file_is_refused(course):
    (course.root / SEED_FILE).mkdir()
    with pytest.raises(CourseError, match=f"{SEED_FILE} cannot be read"):
        course_seed(course)


def test_dangling_link_is_refused_and_not_followed(course):
    (course.root / SEED_FILE).symlink_to(course.root / "elsewhere")
    with pytest.raises(CourseError, match=f"{SEED_FILE} cannot be read"):
        course_seed(course)
    assert not (course.root / "elsewhere").exists()


def test_full_disk_is_reported_and_leaves_no_file(course, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(CourseError, match=r"cannot be made \(No space left"):
        course_seed(course)
    assert names(course.root) == []
