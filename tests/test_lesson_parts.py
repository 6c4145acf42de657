"""The rules of a lesson's core and *Going further* can be broken."""

import re

import pytest

from autograder.notebooks.source import LessonSource, SourceError
from tests.lesson_parts import (
    minutes_of,
    names_of_others,
    uneven_answers,
    wrong_end,
    wrong_minutes,
)
from tests.synthetic import (
    DOUBLE,
    TWICE_DOUBLE,
    Registry,
    exercise_cells,
    write_lesson,
)

FIRST = """\
# %% [markdown]
# # A lesson
#
# **About {} minutes{}.** You need nothing.

# %%
import numpy as np
"""
MORE = ", and {} more in *Going further*"
SUMMARY = "\n# %% [markdown]\n# ## In three lines\n#\n# - One.\n"
FURTHER = "\n# %% [markdown]\n# ## Going further\n#\n# Skip it.\n"


def section(title, code):
    return f"\n# %% [markdown]\n# ## {title}\n\n# %%\n{code}\n"


def first(core=10, further=0):
    return FIRST.format(core, MORE.format(further) if further else "")


def prediction(right, n=3):
    marks = ["x" if index == right else " " for index in range(n)]
    rows = "".join(f"# - [{mark}] Option {i}.\n" for i, mark in enumerate(marks))
    return f"\n# %% [markdown]\n# **Predict:** which?\n#\n{rows}"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads a lesson's text; it has two exercises."""
    registry = Registry(tmp_path, monkeypatch)
    registry.add(DOUBLE, "double", minutes=7)
    registry.add(TWICE_DOUBLE, "quadruple", minutes=8, uses=("double",))
    return lambda *parts: LessonSource(write_lesson(tmp_path, "".join(parts)))


def test_first_cell_says_the_minutes_of_both_parts(read):
    assert minutes_of(read(first(35))) == (35, 0)
    assert minutes_of(read(first(70, 45))) == (70, 45)
    for text in ("**About 70 minutes, 45 more.**", "**About an hour.**"):
        with pytest.raises(AssertionError, match="the first cell says"):
            minutes_of(read(f"# %% [markdown]\n# # A lesson\n#\n# {text}\n"))


@pytest.mark.parametrize(
    ("core", "further", "complaint"),
    [
        (7, 8, ""),
        (6, 9, "exercises of the core take 7 minutes, it says 6"),
        (7, 7, r"all exercises take 15 minutes, it says 7 \+ 7"),
        (91, 8, "longer than 90"),
        (20, 0, "if and only if it exists"),
    ],
)
def test_minutes_cover_the_exercises_of_each_part(read, core, further, complaint):
    source = read(
        *(first(core, further), exercise_cells("double"), SUMMARY, FURTHER),
        exercise_cells("quadruple"),
    )
    assert source.optional == {"quadruple"}
    faults = [*wrong_minutes(source)]
    assert len(faults) == bool(complaint)
    assert all(re.search(complaint, each) for each in faults), faults


def test_minutes_of_a_part_that_does_not_exist_are_refused(read):
    (fault,) = wrong_minutes(read(first(20, 5), exercise_cells("double"), SUMMARY))
    assert "if and only if it exists" in fault


@pytest.mark.parametrize(
    ("parts", "n_faults"),
    [
        ([SUMMARY], 0),
        ([SUMMARY, FURTHER], 0),
        ([SUMMARY, FURTHER, section("More", "y = 1")], 0),
        ([], 1),
        ([FURTHER, SUMMARY], 1),
        ([SUMMARY, section("Between", "y = 1"), FURTHER], 1),
        ([SUMMARY, FURTHER, SUMMARY], 1),
        ([SUMMARY, FURTHER, FURTHER], 1),
        ([SUMMARY, FURTHER.replace("# ## G", "# Below.\n#\n# ## G")], 1),
    ],
)
def test_summary_stands_right_above_what_goes_further(read, parts, n_faults):
    source = read(first(), "\n# %%\nx = 1\n", *parts)
    assert len([*wrong_end(source)]) == n_faults


@pytest.mark.parametrize(
    ("core", "sections", "fault"),
    [
        ("x = np.ones(2)", ["x + 1", "x + 2"], ""),
        ("x = 1", ["y = x", "y = x + 1\ny"], ""),
        ("x = 1", ["y = x", "x + y"], "*Part 1* uses y, which *Part 0* binds"),
        ("x = 1", ["x = 2", "x + 1"], "*Part 1* uses x, which *Part 0* binds"),
        ("import math", ["import math", "math.pi"], ""),
        ("x = 1", ["import math", "math.pi"], "*Part 1* uses math, which neither"),
        ("x = 1", ["x + z"], "*Part 0* uses z, which neither"),
        ("y + 1", ["y = 1"], "the core uses y"),
        ("display(len([1]))", ["display(1)"], ""),
    ],
)
def test_parts_use_names_of_the_core_and_their_own(read, core, sections, fault):
    parts = [section(f"Part {n}", code) for n, code in enumerate(sections)]
    source = read(first(), section("Core", core), SUMMARY, FURTHER, *parts)
    faults = [*names_of_others(source)]
    assert len(faults) == bool(fault)
    assert all(fault in each for each in faults), faults


def test_optional_exercise_uses_no_other_section_either(read):
    parts = [first(20, 20), SUMMARY, FURTHER, section("One", "x = 1")]
    parts += [exercise_cells("double"), section("Two", "y = 1")]
    source = read(*parts, exercise_cells("quadruple"))
    (fault,) = names_of_others(source)
    assert "*Two* uses double, which *One* binds" in fault


def test_exercise_of_the_core_may_not_use_an_optional_one(read):
    with pytest.raises(SourceError, match="neither stands above it nor is imported"):
        read(first(20, 20), exercise_cells("quadruple"), SUMMARY, FURTHER)


@pytest.mark.parametrize(
    ("counts", "is_uneven"),
    [((9, 9, 9), False), ((11, 9, 7), False), ((14, 7, 6), True), ((2, 0, 0), False)],
)
def test_options_that_are_right_too_often_are_named(read, counts, is_uneven):
    text = "".join(prediction(right) * count for right, count in enumerate(counts))
    assert bool([*uneven_answers([read(first(), text)])]) == is_uneven
