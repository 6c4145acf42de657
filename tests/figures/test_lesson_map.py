"""The small map that opens a lesson."""

import pytest

from course_lib import figures
from course_lib.figures.lesson_map import PARTS_OF_LESSONS, PARTS_WRITTEN_ANEW
from course_lib.figures.transformer import LESSONS

ALT = "Nothing but a test."


def states(lesson):
    boxes = figures.lesson_map(lesson, alt=ALT).data["boxes"]
    return {box["part"]: box["state"] for column in boxes.values() for box in column}


@pytest.mark.parametrize("lesson", PARTS_OF_LESSONS)
def test_a_lessons_parts_are_current(lesson):
    current = {part for part, state in states(lesson).items() if state == "current"}
    assert current == {*PARTS_OF_LESSONS[lesson]}


def test_parts_are_done_once_the_last_lesson_is_behind():
    assert states("01")["cross-attention"] == "current"
    assert states("04")["self-attention"] == "done"
    assert states("04")["causal attention"] == "current"
    assert states("02")["causal attention"] == "to come"  # lessons 03 and 04 are ahead
    assert set(states("09").values()) == {"done", "current"}


@pytest.mark.parametrize("lesson", PARTS_WRITTEN_ANEW)
def test_parts_that_are_written_anew_are_current(lesson):
    by_state = {part for part, state in states(lesson).items() if state == "current"}
    assert by_state == {*PARTS_WRITTEN_ANEW[lesson]}
    assert {*states(lesson).values()} - {"left out"} == {"done", "current"}
    assert states("09")["softmax"] == "done"  # not lit before its time


def test_a_language_model_leaves_out_what_reads_a_source():
    boxes = figures.lesson_map("12", alt=ALT).data["boxes"]
    assert {box["state"] for box in boxes["encoder"]} == {"left out"}
    gone = [box["name"] for box in boxes["decoder"] if box["state"] == "left out"]
    assert gone == ["cross-attention", "add & norm"]
    assert "left out" not in states("16").values()


def test_lessons_write_every_part():
    assert {part for names in PARTS_OF_LESSONS.values() for part in names} == {*LESSONS}


def test_lesson_without_a_part_is_refused():
    with pytest.raises(ValueError, match="lesson='08' writes no part"):
        figures.lesson_map("08", alt=ALT)


def test_sections_are_named_at_the_boxes():
    boxes = figures.lesson_map("09", alt=ALT, sections={"norm": "Norms"}).data["boxes"]
    lessons = {box["lesson"] for column in boxes.values() for box in column}
    assert {"09 The Transformer, section “Norms”", "09 The Transformer"} <= lessons
