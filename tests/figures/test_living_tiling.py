"""The view of attention by tiles in a real browser: its numbers, steps and keys."""

import dataclasses

import numpy as np
import pytest

from course_lib import figures
from course_lib.attention import softmax
from course_lib.lessons.tile_steps import record_tiles
from tests.figures.living import assert_accessible, opened, page_text

pytestmark = pytest.mark.thorough  # attention, softmax, steps and heads stand for all

SCORES = np.array(
    [[1.0, 0.0, 3.0, 2.0, -1.0], [0.5, -2.0, 0.0, 0.25, 4.0], [1, 1, 1, 1, 1]]
)
VALUES = np.arange(10.0).reshape(5, 2)
QUERIES, KEYS = ["q1", "<b>q2", "שלום"], [f"k{j}" for j in range(5)]
ALT = "Tile by tile, what is known of each query grows."
RUNS = {
    "2 × 2": record_tiles(SCORES, VALUES, 2, 2),
    "3 × 3": record_tiles(SCORES, VALUES, 3, 3),
}


@pytest.fixture(scope="module")
def figure():
    return figures.tiling(SCORES, QUERIES, KEYS, RUNS, alt=ALT)


def on_page(page):
    """Return the numbers beside the table: a row for each query, None for none yet."""
    rows = page.eval_on_selector_all(
        "tr.beside",
        "all => all.map(row => [...row.querySelectorAll('.known')].map("
        "cell => cell.dataset.value))",
    )
    return [[float(each) if each else None for each in row] for row in rows]


def known(step):
    rows = zip(step.maximum, step.total, step.output, strict=True)
    return [
        [round(float(each), 4) for each in (maximum, total, *output)]
        if np.isfinite(maximum)
        else [None] * 4
        for maximum, total, output in rows
    ]


def test_numbers_are_those_of_each_step(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="next").focus()
        for step in RUNS["2 × 2"]:
            assert on_page(page) == known(step)
            page.keyboard.press("Enter")
        assert on_page(page) == known(RUNS["2 × 2"][-1])  # the last one stays
        page.get_by_label("tiles").select_option("3 × 3")
        assert on_page(page) == known(RUNS["3 × 3"][0])


def test_only_the_present_tile_has_scores(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="next").click()
        assert page.locator(".lv-cell.present").all_inner_texts() == [
            *("3.00", "2.00", "0.00", "0.25")
        ]
        assert page.locator(".lv-cell.past").count() == 4
        assert page.locator(".lv-cell.future").count() == 7
        assert page.locator("output").inner_text() == "2 of 6"


def test_keys_go_through_tiles_and_queries(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_label("tile", exact=True).focus()
        page.keyboard.press("ArrowRight")
        line = page.locator(".said")
        assert line.inner_text() == (
            "4 of 15 scores are there: q1 to <b>q2, k2 to k3. q1: the maximum grows "
            "from 1.00 to 3.00. The sum and the output so far shrink by e to the power "
            "of 1.00 − 3.00 = 0.135. Output ÷ sum: 4.06, 5.06."
        )
        page.get_by_role("button", name="q1").focus()
        page.keyboard.press("ArrowDown")
        assert "<b>q2: the maximum stays 0.50, nothing is" in line.inner_text()
        page.keyboard.press("End")
        assert line.inner_text().endswith("שלום: nothing is known yet.")
        page.get_by_label("tile", exact=True).focus()
        page.keyboard.press("End")
        assert "שלום: the maximum stays 1.00" in line.inner_text()
        page.get_by_role("button", name="q1").focus()
        assert "q1 is done. Output ÷ sum: " in line.inner_text()


def test_steps_end_in_attention():
    for steps in RUNS.values():
        output = steps[-1].output / steps[-1].total[:, np.newaxis]
        np.testing.assert_allclose(output, softmax(SCORES) @ VALUES, rtol=1e-12)


def test_each_step_is_attention_to_the_keys_so_far():
    for step in RUNS["2 × 2"]:
        rows, end = slice(*step.queries), step.keys[1]
        output = step.output[rows] / step.total[rows, np.newaxis]
        right = softmax(SCORES[rows, :end]) @ VALUES[:end]
        np.testing.assert_allclose(output, right, rtol=1e-12)


def test_tiling_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


def test_largest_table_is_accessible(tmp_path):
    scores = np.random.default_rng(0).normal(scale=9, size=(8, 8))
    runs = {"3": record_tiles(scores, scores[:, :2] * 9, 3, 3)}
    names = [f"row {i}" for i in range(8)]
    keys = [f"k{i}" for i in range(8)]
    assert_accessible(tmp_path, figures.tiling(scores, names, keys, runs, alt=ALT))


def test_token_of_html_stays_as_it_is(figure):
    assert "<b>q2" not in page_text(figure)


def test_static_picture_is_the_middle_of_the_first_run(figure):
    words = [each.get_text() for each in figure.figure.axes[0].texts]
    assert words.count("maximum") == 1 and "3.00" in words
    step = RUNS["2 × 2"][3]
    present = SCORES[slice(*step.queries), slice(*step.keys)]
    assert {f"{each:.2f}" for each in present.flat} <= {*words}


def test_tiles_that_cannot_be_drawn_are_refused():
    def refused(message, scores=SCORES, queries=QUERIES, keys=KEYS, runs=RUNS):
        with pytest.raises(ValueError, match=message):
            figures.tiling(scores, queries, keys, runs, alt=ALT)

    refused("nothing to draw", runs={})
    refused("nothing to draw", runs={"a": []})
    refused("do not fit", queries=QUERIES[:2])
    refused("finite", scores=np.where(SCORES == 4, np.inf, SCORES))
    names = [*"abcdefghi"]
    refused("too large", scores=np.ones((9, 1)), queries=names, keys=["a"])
    step = RUNS["2 × 2"][0]
    wide = dataclasses.replace(step, output=np.ones((3, 3)))
    refused("at most 2 numbers", runs={"a": [wide]})
    with pytest.raises(ValueError, match="alt="):
        figures.tiling(SCORES, QUERIES, KEYS, RUNS, alt="tiles")
