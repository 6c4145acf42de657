"""The attention view in a real browser: its numbers, pointing, keys, both forms."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.general import attention_view
from course_lib.figures.living import numbers
from tests.figures.living import assert_accessible, opened, page_text

QUERIES, KEYS = ["it", "was", "<b>tired</b>"], ["the", "animal", "was", "שלום"]
WEIGHTS = np.array([[0.1, 0.7, 0.2, 0.0], [0.25] * 4, [0.0, 0.5, 0.125, 0.375]])
ALT = "The word it attends to animal."


@pytest.fixture
def lines():
    return figures.attention_lines(WEIGHTS, QUERIES, KEYS, alt=ALT)


def values(page, selector):
    return page.eval_on_selector_all(
        selector, "all => all.map(e => [e.dataset.i, e.dataset.j, e.dataset.value])"
    )


def test_values_on_the_page_are_those_of_the_array(lines, tmp_path):
    with opened(tmp_path, lines) as page:
        drawn = {(int(i), int(j)): float(v) for i, j, v in values(page, "line")}
        expected = {index: v for index, v in np.ndenumerate(WEIGHTS) if v}
        assert drawn == expected
        page.get_by_role("button", name="table").click()
        drawn = {(int(i), int(j)): float(v) for i, j, v in values(page, "td[data-i]")}
        assert drawn == dict(np.ndenumerate(WEIGHTS))


def test_every_token_is_reached_by_arrow_keys_and_told(lines, tmp_path):
    with opened(tmp_path, lines) as page:
        page.locator(".queries button").first.focus()
        state = page.locator(".said")
        assert (
            state.inner_text()
            == "it attends to animal 0.70, was 0.20, the 0.10, שלום 0.00"
        )
        page.keyboard.press("End")
        assert state.inner_text().startswith("<b>tired</b> attends to animal 0.50")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        assert state.inner_text().startswith("animal is attended to by it 0.70")
        page.keyboard.press("Escape")
        assert state.inner_text().startswith("Point at a token")


def test_pointing_leaves_the_lines_of_one_token(lines, tmp_path):
    with opened(tmp_path, lines) as page:
        page.locator(".keys button").nth(1).hover()
        faint = page.eval_on_selector_all(
            "line",
            "all => all.filter(e => e.getAttribute('opacity') < 0.1).map("
            "e => e.dataset.j)",
        )
        assert faint and "1" not in faint
        shown_numbers = page.locator(".queries .weight").all_inner_texts()
        assert shown_numbers == ["0.70", "0.25", "0.50"]


def test_cells_are_reached_by_arrow_keys(tmp_path):
    figure = figures.attention_weights(WEIGHTS, QUERIES, KEYS, alt=ALT)
    with opened(tmp_path, figure) as page:
        page.locator("td[data-i]").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        assert page.locator(".said").inner_text() == "was attends to animal: 0.250"


def test_layers_and_heads_are_chosen(lines, tmp_path):
    weights = np.stack([np.stack([WEIGHTS, WEIGHTS[::-1]]), np.stack([WEIGHTS] * 2)])
    names = {"heads": ["head 0", "head 1"], "layers": ["first", "last"]}
    figure = attention_view(
        lines.figure, ALT, weights, QUERIES, KEYS, form="lines", **names
    )
    with opened(tmp_path, figure) as page:
        page.get_by_label("head").select_option("head 1")
        drawn = {(int(i), int(j)): float(v) for i, j, v in values(page, "line")}
        assert drawn == {index: v for index, v in np.ndenumerate(WEIGHTS[::-1]) if v}


@pytest.mark.thorough
def test_view_is_accessible(lines, tmp_path):
    assert_accessible(tmp_path, lines)


def test_token_of_html_stays_text(lines):
    assert "<b>tired" not in page_text(lines)


def test_picture_stays_where_no_script_runs(lines):
    html = lines._repr_mimebundle_()["text/html"]
    assert html.startswith('<figure class="living"') and f'<img alt="{ALT}"' in html


def test_what_a_view_cannot_show_is_refused(lines):
    with pytest.raises(ValueError, match="finite"):
        numbers(np.array([1.0, np.nan]))
    many = [str(i) for i in range(300)]
    with pytest.raises(ValueError, match="at most 256 tokens"):
        attention_view(
            lines.figure, ALT, np.full((1, 300), 1 / 300), ["a"], many, form="lines"
        )
    with pytest.raises(ValueError, match=r"weights of shape \(3, 4\)"):
        attention_view(lines.figure, ALT, WEIGHTS, QUERIES, KEYS[:2], form="lines")


def test_sentences_are_chosen(tmp_path):
    sentences = {
        "first": (WEIGHTS, QUERIES, KEYS),
        "second": (np.array([[0.25, 0.75]]), ["it"], ["the", "cat"]),
    }
    figure = figures.attention_in_sentences(sentences, alt=ALT)
    with opened(tmp_path, figure) as page:
        page.get_by_label("sentence").select_option("second")
        values = page.locator("line[data-value]").evaluate_all(
            "lines => lines.map((line) => Number(line.dataset.value))"
        )
        assert values == [0.25, 0.75]
        assert "cat" in page.locator(".living-view").inner_text()


def test_no_sentences_are_refused():
    with pytest.raises(ValueError, match="nothing to draw"):
        figures.attention_in_sentences({}, alt=ALT)
