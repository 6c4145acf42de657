"""What the banks leave alive of the mutants is known, each with its reason."""

import pytest

from autograder.checking.registry import exercise_names, load
from tests.mutants import LIST, is_installed, listed, mutants, survives

needs_cosmic_ray = pytest.mark.skipif(
    not is_installed, reason="cosmic-ray is not installed: `make mutants` does that"
)


def test_survivors_in_the_list_have_reasons():
    rows = listed()
    for (exercise, line, becomes), (kind, why) in rows.items():
        assert exercise in exercise_names()
        assert line != becomes
        assert kind in ("equivalent", "missing")
        assert len(why.split()) >= 3
    assert len(rows) == len(LIST.read_text(encoding="utf-8").splitlines()) - 1


def test_survives_tells_mutants_from_references(monkeypatch):
    exercise = load("softmax")
    text = exercise.code.code
    endless = "def softmax(x, axis=-1):\n    while True:\n        pass"
    assert survives(exercise, text)
    assert not survives(exercise, text.replace("keepdims=True", "keepdims=False"))
    monkeypatch.setattr("tests.mutants.CALL_SECONDS", 0.1)
    assert not survives(exercise, endless)


@needs_cosmic_ray
def test_mutants_leave_annotations_and_messages_alone():
    lines = [each.line for each in mutants(load("luong_score"))]
    assert any(line.startswith("if ") for line in lines)
    assert not any(line.startswith(("raise", "w: Tensor | None")) for line in lines)
    assert not any(" is " in each.becomes for each in mutants(load("greedy_decode")))


@needs_cosmic_ray
def test_mutant_that_the_bank_has_is_named_and_killed():
    exercise = load("softmax")
    known = {each.misconception: each for each in mutants(exercise)}
    mutant = known["divided_by_the_largest_score"]
    (edit,) = (m for m in exercise.misconceptions if m.name == mutant.misconception)
    assert edit.code.source(edit.edits) == mutant.text
    assert not survives(exercise, mutant.text)


@needs_cosmic_ray
@pytest.mark.thorough  # thousands of mutants
@pytest.mark.parametrize("name", exercise_names())
def test_survivors_are_those_of_the_list(name):
    exercise = load(name)
    alive = {each.key for each in mutants(exercise) if survives(exercise, each.text)}
    known = {key for key in listed() if key[0] == name}
    assert alive - known == set(), "list it: equivalent, or missing?"
    assert known - alive == set(), "strike it from the list: it is killed, or not made"
