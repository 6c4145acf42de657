"""What learners get of code: no assertions, but those of a test that they read."""

import pytest

from autograder.course.shown_code import (
    held_claims,
    same_for_learners,
    without_assertions,
)

WITH_AND_WITHOUT = {
    "above other code": ("x = 1\nassert x\ny = 2", "x = 1\ny = 2"),
    "in rows": ("x = 1\nassert all(\n    each == ')'\n    for each in x\n)", "x = 1"),
    "continued": ("x = 1\nassert x and \\\n    y\nz = 2", "x = 1\nz = 2"),
    "with comments": ("x = 1\n# Why\n# so.\nassert x  # (1\ny = 2", "x = 1\ny = 2"),
    "between blank rows": ("x = 1\n\nassert x\n\ny = 2", "x = 1\n\ny = 2"),
    "in a loop": (
        "for x in y:\n    print(x)\n    # So.\n    assert x\nz = 1",
        "for x in y:\n    print(x)\nz = 1",
    ),
    "alone": ("# So it is.\nassert 1", ""),
}
UNCHANGED = [
    "def test(\n    f,\n):\n    assert f(1) == 1\n\n    assert f(2) == 2",
    "class Test:\n    def test(self):\n        # So.\n        assert self",
    "assertion = 1\n# assert nothing",
]


@pytest.mark.parametrize("name", WITH_AND_WITHOUT)
def test_assertions_go(name):
    code, without = WITH_AND_WITHOUT[name]
    assert without_assertions(code) == without
    assert same_for_learners(code, without)


@pytest.mark.parametrize("code", UNCHANGED)
def test_assertions_of_functions_stay(code):
    assert without_assertions(code) == code
    assert without_assertions(f"{code}\n\nassert test") == code


def test_other_changes_are_changes():
    for one, other in [("x = 1", "x = 2"), ("if x:\n  y", "if x:\ny"), ("x", "")]:
        assert not same_for_learners(one, other)


def test_alternative_text_may_stand_above_its_call_or_be_named():
    above = 'alt = "Three dots."\naxes = {}\nfigures.curves(x, **axes, alt=alt)'
    named = 'axes = {}\nfigures.curves(\n    x, **axes, alt="01-3f2a"\n)'
    assert same_for_learners(above, named)
    assert not same_for_learners(above, named.replace("x,", "y,"))


def test_cell_of_claims_is_known_by_its_id_and_text():
    assert held_claims("loop-3-claims", "# So.\nassert 1")
    assert not held_claims("loop-3", "assert 1")
    assert not held_claims("loop-3-claims", "assert 1\nmine = 2")
