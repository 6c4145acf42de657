"""A course folder: which lesson a name means."""

import pytest

from autograder.course import Course, CourseError

LESSONS = [
    "00_start_here",
    "01_dot_product_attention",
    "01_dot_product_again",
    "12_end",
]


@pytest.fixture
def course(tmp_path):
    course = Course(tmp_path)
    for lesson in LESSONS:
        for path in (course.source(lesson), course.learner(lesson)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    (tmp_path / "notebooks" / "13_no_notebook").mkdir()
    return course


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize(
    ("name", "lesson"),
    [
        ("0", "00_start_here"),
        ("00", "00_start_here"),
        ("00_st", "00_start_here"),
        ("12", "12_end"),
        ("01_dot_product_at", "01_dot_product_attention"),
        ("01_dot_product_again", "01_dot_product_again"),
    ],
)
def test_number_beginning_or_whole_name_finds_lesson(course, name, lesson, built):
    assert course.find_lesson(name, built=built) == lesson


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("name", ["7", "2", "13", "", "99_none"])
def test_unknown_lesson_is_refused_with_the_known_ones(course, name, built):
    with pytest.raises(CourseError) as caught:
        course.find_lesson(name, built=built)
    known = ", ".join(sorted(LESSONS))
    assert str(caught.value) == f"no lesson named {name!r}; there are: {known}"


@pytest.mark.parametrize("name", ["00_start_her_2", "01_start_here"])
def test_former_or_misspelt_name_is_answered_with_the_likely_one(course, name):
    with pytest.raises(CourseError) as caught:
        course.find_lesson(name)
    assert f"named {name!r} (do you mean 00_start_here?); there are: " in str(
        caught.value
    )


@pytest.mark.parametrize("name", ["1", "01", "01_dot"])
def test_name_of_two_lessons_is_refused_with_both(course, name):
    with pytest.raises(CourseError) as caught:
        course.find_lesson(name)
    assert str(caught.value) == (
        f"{name!r} may be 01_dot_product_again or 01_dot_product_attention: write "
        "more of the name"
    )


def test_whole_name_that_begins_another_finds_its_lesson(course):
    course.source("00").parent.mkdir()
    course.source("00").touch()
    assert course.find_lesson("00") == "00"


@pytest.mark.parametrize(("built", "remedy"), [(True, "make build"), (False, "write")])
def test_course_without_lessons_says_what_to_do(tmp_path, built, remedy):
    with pytest.raises(CourseError, match=f"there is no lesson.*{remedy}"):
        Course(tmp_path).find_lesson("01", built=built)


@pytest.mark.parametrize("folder", ["submitted", "autograded", "feedback"])
def test_folder_that_a_student_hands_in_is_no_course(tmp_path, folder):
    theirs = tmp_path / folder / "amara" / "01"
    theirs.mkdir(parents=True)
    for root in (tmp_path, theirs):
        (root / "nbgrader_config.py").touch()
    assert Course.here(theirs).root == tmp_path
    (tmp_path / "nbgrader_config.py").unlink()
    assert Course.here(theirs).root == theirs
