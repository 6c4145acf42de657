"""The benchmarks' classes: what is measured is what it is said to be."""

from autograder.course import Course
from autograder.grading import classroom
from autograder.grading.release import load_release
from autograder.grading.submission import Submission
from tests.benchmarks import sample
from tests.benchmarks.crowd import KINDS, crowd_folder
from tests.submissions import COURSE, LESSON


def code_of(course: Course) -> list[object]:
    release = load_release(course, LESSON)
    paths = {
        student: classroom.submission_path(course, LESSON, student)
        for student in classroom.chosen_students(course, LESSON)
    }
    return [
        Submission(release, student, path).code_cells for student, path in paths.items()
    ]


def test_no_two_of_a_class_have_written_the_same_code(tmp_path):
    """Equal submissions would be judged once, and the figures would be too good."""
    small = sample.class_folder(COURSE, tmp_path / "small", sample.students())
    large = crowd_folder(COURSE, tmp_path / "large", 2 * KINDS)
    for course in (small, large):
        code = code_of(course)
        assert None not in code
        assert len({*code}) == len(code) >= 2 * KINDS


def test_the_same_kinds_are_in_every_turn_of_a_crowd(tmp_path):
    def kinds(folder, turn):
        code = code_of(crowd_folder(COURSE, tmp_path / folder, KINDS, turn))
        return [
            str(cells).replace(f"s{n:05}", "the name") for n, cells in enumerate(code)
        ]

    first, later = kinds("first", 0), kinds("later", 4)
    assert later == first[4:] + first[:4]
    assert len({*first}) == KINDS
