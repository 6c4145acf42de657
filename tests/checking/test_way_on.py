"""How a learner goes on: each exercise says what it makes possible."""

import pytest

from autograder.checking.registry import exercise_names, load
from autograder.checking.way_on import course_version, makes_possible
from autograder.course import Course


@pytest.mark.parametrize("name", exercise_names())
def test_exercise_says_in_one_sentence_what_it_makes_possible(name):
    sentence = makes_possible(name)
    assert sentence, f"write a sentence for {name} in makes_possible.toml"
    assert sentence.startswith("You ") and sentence.endswith(".")
    assert sentence.count(". ") == 0 and len(sentence) <= 110


def test_sentences_are_of_exercises_and_all_different():
    from autograder.checking.way_on import _sentences

    assert {*_sentences()} == {*exercise_names()}
    assert len({*_sentences().values()}) == len(_sentences())


def test_line_of_the_course_version_imports_the_reference():
    variables = {}
    exec(course_version(load("softmax")), variables)
    assert variables["softmax"] is load("softmax").reference


def test_unknown_exercise_makes_nothing_possible():
    assert makes_possible("no_exercise") == ""


def test_sentences_are_part_of_the_distribution():
    pyproject = (Course.here().root / "pyproject.toml").read_text(encoding="utf-8")
    assert '"exercises/*.toml"' in pyproject
