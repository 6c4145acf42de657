"""Private banks and references are found, and what is wrong with them is said."""

import re
import shutil

import pytest

from autograder.checking import registry
from autograder.course import CourseError, private
from tests.private.sample_course import LESSON, NAME, make_course


def test_private_exercise_is_known_beside_the_public_ones(course):
    public = registry.public_names()
    assert registry.exercise_names() == tuple(sorted([*public, NAME]))
    exercise = registry.load(NAME)
    assert exercise.reference.__module__ == "course_lib.private.exam"
    assert registry.exercises_of(LESSON) == [exercise]
    assert registry.is_private(NAME) and not registry.is_private("softmax")


def test_course_as_a_whole_has_no_private_exercise(course):
    assert [each.name for each in registry.exercises_of()] == [*registry.public_names()]


def test_private_exercise_is_unknown_in_a_course_without_it(course, tmp_path):
    registry.load(NAME)
    (tmp_path / "other").mkdir()
    private.use(tmp_path / "other")
    with pytest.raises(registry.UnknownExercise, match=NAME):
        registry.load(NAME)


def test_exercise_of_another_course_is_read_anew(course, tmp_path):
    one = registry.load(NAME)
    other = make_course(tmp_path / "other")
    bank = other.root / registry.PRIVATE_BANKS / f"{NAME}.py"
    bank.write_text(bank.read_text().replace("minutes=10", "minutes=20"))
    private.use(other.root)
    assert (one.minutes, registry.load(NAME).minutes) == (10, 20)


def test_private_bank_may_import_a_public_one(course):
    bank = course.private / "exercises" / f"{NAME}.py"
    line = "from autograder.exercises.scaled_scores import exercise as other\n"
    bank.write_text(bank.read_text().replace("import numpy", f"{line}import numpy", 1))
    assert registry.load(NAME).name == NAME


BANK, REFERENCE = f"exercises/{NAME}.py", "references/exam.py"
END = '"""\n)\n'
FAULTS = {
    "broken bank": (
        (BANK, "exercise = Exercise(", "exercise = = Exercise("),
        rf"private/{BANK}:8: cannot be imported: SyntaxError: .*",
    ),
    "bank that stops": (
        (BANK, "@exercise.usual", "@exercise.usually"),
        rf"private/{BANK}:23: cannot be imported: AttributeError: .*",
    ),
    "broken reference": (
        (REFERENCE, "import numpy", "import import numpy"),
        rf"private/{REFERENCE}:3: cannot be imported: SyntaxError: .*",
    ),
    "reference that stops": (
        (REFERENCE, "import numpy as np", "import numpy as np\n\nnone_such"),
        rf"private/{REFERENCE}:5: cannot be imported: NameError: .*",
    ),
    "no such function": (
        (REFERENCE, f"def {NAME}", "def another"),
        rf"private/{BANK}:6: cannot be imported: ImportError: cannot import name .*",
    ),
    "edit that cannot be made": (
        (BANK, "positive: return -(", "positive: return +("),
        rf"private/{BANK}:47: cannot be imported: EditError: .*",
    ),
    "no exercise": (
        (BANK, END, f"{END}exercise = None\n"),
        rf"private/{BANK}:1: it must define `exercise`, .* called {NAME}",
    ),
    "lesson of the course": (
        (BANK, 'lesson="90_exam"', 'lesson="01_dot_product_attention"'),
        rf"private/{BANK}:8: '01_dot_product_attention' is no private lesson: .*",
    ),
}


@pytest.mark.parametrize("change, sentence", FAULTS.values(), ids=FAULTS)
def test_fault_is_one_sentence_with_file_and_line(course, change, sentence):
    file, old, new = change
    path = course.private / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CourseError) as caught:
        registry.load(NAME)
    assert re.fullmatch(sentence, str(caught.value), re.DOTALL), str(caught.value)


def test_missing_reference_says_where_to_write_it(course):
    (course.private / REFERENCE).unlink()
    with pytest.raises(CourseError) as caught:
        registry.load(NAME)
    assert str(caught.value) == (
        f"private/{BANK}:6: cannot be imported: ModuleNotFoundError: No module named "
        "'course_lib.private.exam': write it in private/references/exam.py"
    )


def test_name_of_a_public_exercise_is_refused(course):
    shutil.copy(course.private / BANK, course.private / "exercises" / "softmax.py")
    with pytest.raises(CourseError) as caught:
        registry.load("softmax")
    assert str(caught.value) == (
        "private/exercises/softmax.py:1: the course has an exercise 'softmax' too, in "
        "autograder/exercises/softmax.py: give yours another name"
    )
    assert registry.load(NAME).name == NAME


def test_link_that_leads_nowhere_is_said(course, tmp_path):
    course.private.rename(tmp_path / "moved")
    course.private.symlink_to(tmp_path / "gone")
    private.use(course.root)
    with pytest.raises(CourseError, match=r"private leads to .*gone, and no folder"):
        registry.exercise_names()


def test_folder_elsewhere_is_used_through_a_link(course, tmp_path):
    course.private.rename(tmp_path / "moved")
    course.private.symlink_to(tmp_path / "moved")
    private.use(course.root)
    assert registry.load(NAME).name == NAME
    (tmp_path / "moved" / REFERENCE).write_text("import import")
    private.use(make_course(tmp_path / "other").root)
    registry.load(NAME)
    private.use(course.root)
    with pytest.raises(CourseError, match=rf"^private/{REFERENCE}:1: "):
        registry.load(NAME)


@pytest.mark.parametrize("name", ["16_exam", "9_exam", "90"])
def test_number_of_a_private_lesson_is_90_or_more(course, name):
    folder = course.private / "solutions"
    (folder / LESSON).rename(folder / name)
    (folder / name / f"{LESSON}.py").rename(folder / name / f"{name}.py")
    with pytest.raises(CourseError, match=rf"^private/solutions/{name}/{name}.py:1: "):
        course.lessons  # noqa: B018 - a property


def test_lesson_that_the_course_has_too_is_refused(course):
    shutil.copytree(course.private / "solutions", course.root / "solutions")
    with pytest.raises(CourseError, match="the course has a lesson 90_exam too"):
        course.find_lesson("90")


def test_course_folder_may_be_called_private(tmp_path):
    course = make_course(tmp_path / "private")
    assert course.source(LESSON) == course.private / f"solutions/{LESSON}/{LESSON}.py"
