"""Remembering the first letter with a plain and with a gated unit (lesson 08)."""

import pytest

from course_lib.lessons.first_letter import share_right


def test_both_units_remember_over_one_letter():
    assert min(share_right(unit, 1, steps=150) for unit in ("plain", "gated")) > 0.95


def test_only_the_gated_unit_remembers_over_ten_letters():
    assert share_right("plain", 10) < 0.2
    assert share_right("gated", 10) > 0.9


def test_other_units_are_refused():
    with pytest.raises(ValueError, match="must be"):
        share_right("lstm", 3)
