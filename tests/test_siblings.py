"""The search for misconceptions that a sibling bank lacks."""

import copy

from autograder.checking.registry import load
from tests.siblings import entries, renamed, unnamed


def without(name, misconception):
    exercise = copy.copy(load(name))
    exercise.misconceptions = [
        each for each in exercise.misconceptions if each.name != misconception
    ]
    return exercise


def test_edits_are_read_as_the_bank_has_them():
    names = {each.name for each in entries("sliding_window_mask")}
    edits = {m.name for m in load("sliding_window_mask").misconceptions if m.edits}
    assert names == edits


def test_edit_that_a_sibling_does_not_name_is_listed():
    one = load("sliding_window_mask")
    missing = "chunks_that_do_not_slide"
    listed = [entry.name for entry, _ in unnamed(one, without(one.name, missing), {})]
    assert listed == [missing]


def test_edit_that_a_sibling_names_is_not_listed():
    one = load("sliding_window_mask")
    assert [*unnamed(one, one, {})] == []


def test_names_are_changed_as_whole_words():
    edits = ["np.max(x, axis=-1) -> y.max", "max_x = x"]
    assert renamed(edits, {"x": "scores", "max": "min"}) == [
        "np.max(scores, axis=-1) -> y.max",
        "max_x = scores",
    ]
