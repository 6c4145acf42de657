"""An exercise is taken out of a lesson mid-term: every number that was promised stays.

Who has a notebook of the earlier release is judged on it, whenever that is.
"""

import json
import shutil

import pytest

from autograder.checking.registry import load
from autograder.course import Course
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from tests.gradebook.classes import agreed, grade_class, hand_in, read_csv
from tests.gradebook.opened import change_lesson
from tests.submissions import LESSON, MAX_POINTS, open_course

REMOVED = "bilinear_scores"
WORTH = load(REMOVED).points
ALL, REST = MAX_POINTS, MAX_POINTS - WORTH


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return open_course(tmp_path_factory.mktemp("original") / "course")


@pytest.fixture
def root(original, tmp_path):
    return shutil.copytree(original, tmp_path / "course")


def test_maximum_is_that_of_the_release_whenever_graded(root):
    for student in ("early", "late", "unnamed"):
        hand_in(root, student, named=student != "unnamed")
    for student in ("late", "unnamed"):
        (root / "submitted" / student).rename(root / student)
    grade_class(root)
    change_lesson(root, drop=REMOVED)
    for student in ("late", "unnamed"):
        (root / student).rename(root / "submitted" / student)
    results = grade_class(root)
    assert agreed(root) == dict.fromkeys(["early", "late", "unnamed"], (ALL, ALL))
    assert {each.max_points for each in results.values()} == {ALL}


def test_resubmission_of_an_earlier_release_loses_nothing(root):
    hand_in(root, "amara")
    grade_class(root)
    path = root / "submitted/amara" / LESSON / f"{LESSON}.ipynb"
    change_lesson(root, drop=REMOVED)
    path.write_text(path.read_text().replace("# amara", "# once more"))
    grade_class(root)
    assert agreed(root) == {"amara": (ALL, ALL)}
    shutil.rmtree(root / "build")  # without a journal neither
    grade_class(root)
    assert agreed(root) == {"amara": (ALL, ALL)}


@pytest.mark.parametrize("kind", ["canvas", "moodle"])
def test_file_for_a_system_says_each_ones_own_maximum(root, kind):
    hand_in(root, "amara")
    grade_class(root)
    change_lesson(root, drop=REMOVED)
    hand_in(root, "ben")
    grade_class(root)
    notes = []
    rows = read_csv(export(Course(root), [LESSON], kind, on_warning=notes.append))
    own, empty = f"{LESSON} ({REST:g} points)", {"canvas": "", "moodle": "-"}[kind]
    if kind == "canvas":
        possible = rows.pop(0)
        assert (possible[LESSON], possible[own]) == (f"{ALL:g}", f"{REST:g}")
    amara, ben = rows
    assert (amara[LESSON], amara[own]) == (f"{ALL:g}", empty)
    assert (ben[LESSON], ben[own]) == (empty, f"{REST:g}")
    (note,) = notes
    assert f"'{own}' has ben" in note
    assert "amara" not in note
    assert f"`autograder drop {REMOVED}`" in note
